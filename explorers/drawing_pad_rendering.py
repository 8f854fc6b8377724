"""The picture of the drawing pad: the drawing, the model's input, and the model's answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from torch import Tensor

from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from explorers.drawing_pad_state import SIDE
from explorers.explorer_markup import values_as_tables
from explorers.run_model_on_drawing import DigitPrediction

MOST_SHOWN = 40  # the number of saved drawings in the picture
NOTHING = Html("")


@dataclass(frozen=True)
class LabeledDrawing:
    """A drawing, saved by the reader or a sample, its digit, and the model's reading of it."""

    drawing: Tensor
    digit: int
    reading: DigitPrediction


@dataclass(frozen=True)
class PadStage:
    """One of several named pads that share a drawing: its model's answer, and how many drawings it reads correctly.

    `count` is a text as `count_right` returns it.
    """

    name: str
    reading: DigitPrediction
    count: str


def prediction_picture(
    drawing: Tensor, reading: DigitPrediction, kept: Sequence[LabeledDrawing] = (), told: str = ""
) -> Html:
    """Return the model's input and answer for the drawing, and the saved drawings under the sentence about them."""
    return tag("div", _read(drawing, reading), _kept(kept, told), class_="x-pad-picture")


def pads_side_by_side(stages: Sequence[PadStage]) -> Html:
    """Return the pads of a drawing side by side: what each model sees, what it says, and how many it reads."""
    shown = [_stage(stage) for stage in stages if stage.reading.asked or stage.count]
    return tag("div", tag("p", "Side by side:"), tag("div", *shown, class_="x-pad-row"), class_="x-pad-stages")


def samples_picture(samples: Sequence[LabeledDrawing], stages: Sequence[PadStage] = ()) -> Html:
    """Return sample drawings for a page without a kernel, each with the model's input and answer."""
    return tag("div", _samples(samples, stages), class_="x-pad-still") if samples else NOTHING


def count_right(drawings: Sequence[LabeledDrawing]) -> str:
    """Return how many of the drawings the model reads right, as "7 of 10 read"; nothing if there is no drawing."""
    right = sum(each.reading.digit == each.digit for each in drawings)
    return f"{right} of {len(drawings)} read" if drawings else ""


def prediction_in_words(reading: DigitPrediction) -> str:
    """Return the model's answer as a sentence."""
    if reading.told or reading.digit is None:
        return reading.told
    return f"The model reads {_a(reading.digit)} ({_percent(max(reading.shares))})."


def _a(digit: int) -> str:
    return f"{'an' if digit == 8 else 'a'} {digit}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f}\u00a0%"


# --- one drawing


def _read(drawing: Tensor, reading: DigitPrediction) -> Html:
    if not reading.asked:
        return tag("p", reading.told, class_="x-pad-verdict")
    words = prediction_in_words(reading)
    verdict = tag("p", sentence_to_html(words), class_="x-error" if reading.told else "x-pad-verdict")
    drawn = _figure("Your drawing, 32\u00a0×\u00a032", _ink(drawing, "Your drawing in 32 by 32 pixels"))
    if not reading.seen:
        return join(verdict, tag("div", drawn, class_="x-pad-seen"))
    seen = tag(
        "div", drawn, _figure("What the model sees, 8\u00a0×\u00a08", pixel_shades(reading)), class_="x-pad-seen"
    )
    parts = tag("div", seen, probability_bars(reading), class_="x-parts")
    table = values_as_tables("Black pixels of each block: 0 to 16", [list(row) for row in reading.seen])
    scroll = tag("div", table, class_="x-scroll", data_keep="seen")
    return join(verdict, parts, tag("details", tag("summary", "The 8 × 8 numbers"), scroll, data_keep="numbers"))


def _figure(caption: str, drawn: Html) -> Html:
    return tag("figure", drawn, tag("figcaption", caption))


def probability_bars(reading: DigitPrediction) -> Html:
    """Return a table of the model's answer with a row for each digit: a bar, and a percentage."""
    if not reading.shares:
        return NOTHING
    caption = "What it says: the softmax of its scores" if reading.by_softmax else "What it says: its probabilities"
    rows = (_bar(digit, share, digit == reading.digit) for digit, share in enumerate(reading.shares))
    return tag("table", tag("caption", caption), tag("tbody", *rows), class_="x-bars")


def _bar(digit: int, share: float, is_largest: bool) -> Html:
    bar = tag("div", class_="x-bar", style=f"width:{100 * min(share, 1.0):.1f}%", aria_hidden="true")
    told = tag("td", _percent(share), class_="x-share")
    name = tag("th", str(digit), scope="row")
    return tag("tr", name, tag("td", bar, class_="x-track"), told, class_="x-largest" if is_largest else None)


# --- pixels


def _ink(drawing: Tensor, label: str) -> Html:
    """Return the black pixels, in the page's own text color."""
    rows = (f"M0 {row}{_runs(line)}" for row, line in enumerate(drawing.tolist()) if any(line))
    path = "".join(rows)
    return _square(SIDE, label, tag("path", d=path, fill="currentColor"))


def _runs(row: list[float]) -> str:
    """Return a row of the SVG path: one rectangle for each run of black pixels."""
    runs = [(bool(ink), len(list(same))) for ink, same in groupby(row)]
    return "".join(f"h{long}v1h-{long}v-1m{long} 0" if ink else f"m{long} 0" for ink, long in runs)


def pixel_shades(reading: DigitPrediction) -> Html:
    """Return the 8 x 8 numbers of the model's input as shades from 0 to 16; others are drawn as the nearer end."""
    cells = (
        tag("rect", x=column, y=row, width=1, height=1, fill="currentColor", fill_opacity=f"{_shade(value):.3f}")
        for row, line in enumerate(reading.seen)
        for column, value in enumerate(line)
        if value > 0
    )
    return _square(len(reading.seen), "What the model sees: 8 by 8 numbers, 0 to 16, as shades", *cells)


def _shade(value: float) -> float:
    return min(max(value / 16, 0.0), 1.0)


def _square(side: int, label: str, *drawn: Html) -> Html:
    box = f"0 0 {side} {side}"
    return tag(
        "svg", *drawn, viewBox=box, role="img", aria_label=label, class_="x-pixels", shape_rendering="crispEdges"
    )


# --- many drawings


def _stage(stage: PadStage) -> Html:
    seen = pixel_shades(stage.reading) if stage.reading.seen else NOTHING
    says = [tag("div", _short(stage.reading))] if stage.reading.asked else []
    count = [tag("div", tag("strong", stage.count))] if stage.count else []
    return tag("figure", seen, tag("figcaption", tag("div", f"{stage.name}:"), *says, *count))


def _kept(kept: Sequence[LabeledDrawing], told: str) -> Html:
    if not kept:
        return NOTHING
    drawn = (
        _figure(_kept_caption(each), _ink(each.drawing, f"A drawing kept as {_a(each.digit)}"))
        for each in kept[-MOST_SHOWN:]
    )
    return tag("div", tag("p", sentence_to_html(told)), tag("div", *drawn, class_="x-pad-row"), class_="x-pad-kept")


def _kept_caption(each: LabeledDrawing) -> str:
    """Return the digit, and the one that the model takes it for."""
    said = each.reading.digit
    return str(each.digit) if said is None or said == each.digit else f"{each.digit} as {said}"


def _samples(samples: Sequence[LabeledDrawing], stages: Sequence[PadStage]) -> Html:
    """Return each sample with the model's input and answer."""
    told = f"Sample drawings, and what the model says: {count_right(samples)} right."
    beside = "; ".join(f"{stage.name}, {stage.count}" for stage in stages)
    compared = [tag("p", f"Side by side: {beside}.")] if beside else []
    how = "With a running notebook, you draw here yourself."
    wrong = {sample.reading.told for sample in samples}
    error = wrong.pop() if len(wrong) == 1 else ""  # an error that all samples share is shown once
    shown = (_sample(sample, is_told=not error) for sample in samples)
    alike = tag("p", sentence_to_html(f"For each of them: {error}"), class_="x-error") if error else NOTHING
    return join(tag("p", told), *compared, alike, tag("div", *shown, class_="x-pad-row"), tag("p", how))


def _sample(sample: LabeledDrawing, *, is_told: bool) -> Html:
    reading, label = sample.reading, f"A drawing of {_a(sample.digit)}"
    seen = pixel_shades(reading) if reading.seen else NOTHING
    is_right = reading.digit == sample.digit
    words = _short(reading)
    verdict = tag("span", words) if is_right else tag("strong", words)
    caption = (f"{sample.digit}: ", verdict) if is_told else (str(sample.digit),)
    return tag("figure", _ink(sample.drawing, label), seen, tag("figcaption", *caption))


def _short(reading: DigitPrediction) -> str:
    if reading.digit is None:
        return reading.told.replace("`", "")
    return f"reads {_a(reading.digit)} ({_percent(max(reading.shares))})"
