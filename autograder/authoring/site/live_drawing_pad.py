"""Make the pad on which readers draw a digit on a page: a lesson's trained network, and a picture that stands alone.

The scripts docs/_static/handwriting.js and explorers/static/pad.js make it live, without a kernel. The network comes
out of the lesson's own training, which takes half a minute. It is cached until a file changes that it depends on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib
import torch
from torch import Tensor

from autograder.authoring.run_lesson_until import run_lesson_until
from autograder.authoring.site import network_weights
from autograder.authoring.site.executed_chapters import chapter_digest
from autograder.course.course_location import chapter_path
from autograder.files import sha256_of_texts, write_all
from autograder.notebook.html_markup import Html, tag
from explorers.drawing_pad_rendering import pixel_shades, prediction_in_words, probability_bars
from explorers.drawing_pad_state import BRUSHES, MOST_POINTS, PenStroke, rasterize_strokes
from explorers.drawing_pad_widget import HOW
from explorers.run_model_on_drawing import DOT, EMPTY, SMALL, DigitPrediction, predict_drawing
from explorers.synthetic_digits import SIDE, digit_strokes

_LARGEST = 16  # ink in a block of 4 x 4 pixels; the network wants it from 0 to 1
_SCRIPTS = ("handwriting.js", "pad.js")  # in this order
_HEIGHT, _WIDTH = 20.0, 12.0  # pixels of the sample
_STILL = "Without JavaScript this is a still picture: a program drew the digit, and the network read it."


def live_pad_of_chapter(project: Path, cache: Path, stem: str, cell: str, model: str, prepare: str, digit: str) -> str:
    """Return the HTML of a pad that is read by the network `model` of a chapter, as it is after the cell `cell`.

    `model` and `prepare`, a function from a drawing (32, 32) to an input (8, 8), are variables of the lesson. `digit`
    is the sample that the pad shows at first. Raises KeyError for what the lesson lacks.
    """
    digest = sha256_of_texts(
        chapter_digest(project / "solutions" / f"{stem}.ipynb", project / "course"), *_own_sources()
    )
    kept = cache / f"pad-{sha256_of_texts(digest, cell, model, prepare, digit)[:16]}.html"
    if not kept.is_file():
        matplotlib.use("agg")  # a lesson's plots would open windows
        lesson = run_lesson_until(chapter_path(project / "course", stem), cell)
        write_all({kept: render_live_pad(lesson, model, prepare, int(digit)).encode()})
    return kept.read_text(encoding="utf-8")


def _own_sources() -> list[bytes]:
    return [Path(source).read_bytes() for source in (__file__, network_weights.__file__)]


def render_live_pad(lesson: Mapping[str, Any], model: str, prepare: str, digit: int) -> Html:
    """Return the HTML of the pad from the variables of a lesson, and round the weights of its network in place."""
    network = lesson[model].eval()
    layers = network_weights.quantize_weights(network)
    strokes = sample_strokes(digit)

    def predict(picture: Tensor) -> Tensor:
        scores: Tensor = network(picture[None, None] / _LARGEST)
        return scores[0].softmax(0)

    return _markup(layers, strokes, predict_drawing(rasterize_strokes(strokes), predict, lesson[prepare]))


def sample_strokes(digit: int) -> tuple[PenStroke, ...]:
    """Return a digit in the middle of the pad, as the program writes it at its tidiest."""
    size, middle = torch.tensor([_WIDTH, _HEIGHT]), SIDE / 2
    return tuple(
        PenStroke(f"sample-{place}", tuple((round(x, 2), round(y, 2)) for x, y in points), BRUSHES["medium"])
        for place, stroke in enumerate(digit_strokes(digit, 0))
        for points in [((stroke - 0.5) * size + middle).tolist()]
    )


def _markup(layers: list[dict[str, Any]], strokes: tuple[PenStroke, ...], reading: DigitPrediction) -> Html:
    """Return the pad with a sample and what the network reads in it, and the data for the page's scripts."""
    clear = tag("div", tag("button", "Clear", type="button"), class_="x-control x-control-button")
    return tag(
        "div",
        tag("div", _paper(strokes, reading), clear, class_="x-controls"),
        _reading(reading),
        tag("noscript", tag("p", _STILL)),
        tag("p", role="status", class_="x-said"),
        tag("script", Html(_data(layers)), type="application/json"),
        *(tag("script", defer=True, src=f"_static/{name}") for name in _SCRIPTS),
        class_="explorer live-pad",
    )


def _data(layers: list[dict[str, Any]]) -> str:
    pad = {"side": SIDE, "width": BRUSHES["medium"], "most_points": MOST_POINTS, "label": "Draw a digit"}
    data = {"layers": layers, "largest": _LARGEST, "small": SMALL, "empty": EMPTY, "dot": DOT, "pad": pad}
    return json.dumps(data, separators=(",", ":"))


def _paper(strokes: tuple[PenStroke, ...], reading: DigitPrediction) -> Html:
    """Return the sample on its paper, which the script replaces by one to draw on."""
    paper = tag(
        "svg",
        tag("g", *map(_line, strokes), class_="x-pad-ink"),
        class_="x-pad",
        viewBox=f"0 0 {SIDE} {SIDE}",
        role="img",
        aria_label=f"A sample of a drawing: {reading.digit}",
    )
    asks = tag("p", "A sample. Draw your own digit over it.", class_="x-pad-asks")
    return tag("div", asks, paper, tag("span", HOW, class_="x-hint"), class_="x-control x-control-strokes")


def _reading(reading: DigitPrediction) -> Html:
    """Return what the network reads, what it sees, and its ten bars; the script replaces the values of each."""
    seen = tag("figure", pixel_shades(reading), tag("figcaption", "What the model sees, 8\u00a0×\u00a08"))
    verdict = tag("p", prediction_in_words(reading), class_="x-pad-verdict")
    parts = tag("div", tag("div", seen, class_="x-pad-seen"), probability_bars(reading), class_="x-parts")
    return tag("div", verdict, parts, class_="x-picture")


def _line(stroke: PenStroke) -> Html:
    path = "L".join(f"{x} {y}" for x, y in stroke.points)
    return tag("path", d=f"M{path}", stroke_width=f"{stroke.width:g}")
