"""Recorded animations ("films"): Python computes the frames, and the page plays them, with or without a kernel."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from autograder.notebook.html_markup import Html, join, tag

RECORD = "PYTORCH_BASICS_RECORD"  # the site's build sets it, so that films hold every choice

PartValues = Mapping[str, str]  # by "part.attribute"; the attribute `text` is an element's content


def records_all_choices() -> bool:
    """Return whether films must hold the runs of all choices: the site's pages have no kernel to compute them."""
    return bool(os.environ.get(RECORD))


@dataclass(frozen=True)
class RecordedRun:
    """One run of a film: constant values, and one frame of changing values for each step.

    `still` holds the constant values and `frames` those of each frame; a frame may leave out the values that do not
    change. `steps` counts the steps taken at each frame. `error` is the message of the error that ended the run, and
    the frames end there.
    """

    still: PartValues
    frames: Sequence[PartValues]
    steps: Sequence[int]
    error: str = ""

    def at(self, frame: int) -> PartValues:
        """Return all values at a frame; those of the last frame if there are fewer frames."""
        return {key: value for values in (self.still, *self.frames[: frame + 1]) for key, value in values.items()}

    @property
    def changes(self) -> Iterator[PartValues]:
        """Yield, for each frame, the values that differ from the frame before."""
        before: dict[str, str] = {}
        for frame in self.frames:
            yield {part: value for part, value in frame.items() if before.get(part) != value}
            before |= frame


@dataclass(frozen=True)
class FilmChoice:
    """A control that chooses one of a film's runs: a list of options, or a slider for numbers."""

    name: str
    label: str
    options: tuple[str, ...]
    value: str
    kind: str = "choice"

    def plain(self) -> dict[str, Any]:
        """Return the choice as plain data for the page."""
        return {**vars(self), "options": list(self.options)}


@dataclass(frozen=True)
class Film:
    """A film: a picture with moving parts, and one recorded run for each combination of the options of its choices.

    `title` says what moves. `picture` holds the values of one frame, and `seek` is the frame to show. The page
    restarts the film when `about` changes. `is_first` puts the film above the rest of the explorer. `pace` is in
    frames per second. With `tells_place`, the page sends the frame that it shows (as `at`) before each choice.
    """

    title: str
    choices: Sequence[FilmChoice]
    runs: Mapping[tuple[str, ...], RecordedRun]
    picture: Html
    seek: int = 0
    about: str = ""
    is_first: bool = False
    pace: float = 8
    tells_place: bool = False
    parts: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        found = dict.fromkeys(part for run in self.runs.values() for frame in run.frames for part in frame)
        object.__setattr__(self, "parts", tuple(found))

    def data(self) -> dict[str, Any]:
        """Return everything but the picture, as plain data."""
        return {
            "title": self.title,
            "choices": [choice.plain() for choice in self.choices],
            "parts": list(self.parts),
            "runs": {"|".join(key): self._plain(run) for key, run in self.runs.items()},
            "seek": self.seek,
            "about": self.about,
            "isFirst": self.is_first,
            "pace": self.pace,
            "tellsPlace": self.tells_place,
        }

    def _plain(self, run: RecordedRun) -> dict[str, Any]:
        number = {part: str(place) for place, part in enumerate(self.parts)}
        told = [[(number[part], value) for part, value in changed.items()] for changed in run.changes]
        return {
            "still": dict(run.still),
            "frames": ["\t".join(chain.from_iterable(pairs)) for pairs in told],
            "steps": list(run.steps),
            "error": run.error,
        }

    def page(self) -> Html:
        """Return the film as HTML: the picture, its caption, and the data with which a script animates it.

        The error of a run is always shown, because without a script no reader reaches the frame at which the run
        stopped.
        """
        run = self.runs[tuple(choice.value for choice in self.choices)]
        words = tag("p", run.at(self.seek).get("said.text", ""), class_="x-film-said")
        error = tag("p", run.error, class_="x-error") if run.error else ""
        shown = join(tag("div", self.picture, class_="x-film-picture"), words, error)
        return tag("div", shown, class_="x-film", data_film=json.dumps(self.data(), separators=(",", ":")))


@dataclass(frozen=True)
class PlotAxes:
    """The axes of a plot: the range of its numbers, and its size in pixels. Points outside are drawn at the edge."""

    left: float
    right: float
    low: float
    high: float
    log: bool = False
    width: int = 260
    height: int = 190

    @property
    def inside(self) -> tuple[int, int, int, int]:
        """Return the left, upper, right and lower edge of the area inside the axes, in pixels."""
        return 46, 14, self.width - 10, self.height - 30

    def place(self, x: float, y: float, beyond: float = 0.03) -> tuple[float, float]:
        """Return the pixel of a point. A point outside is moved to `beyond`, a share of the picture, past the edge."""
        left, top, right, bottom = self.inside
        across = _share(x, self.left, self.right, beyond)
        up = _share(math.log10(max(y, 1e-300)) if self.log else y, *self._ends(), beyond)
        return round(left + (right - left) * across, 1), round(bottom - (bottom - top) * up, 1)

    def _ends(self) -> tuple[float, float]:
        return (math.log10(self.low), math.log10(self.high)) if self.log else (self.low, self.high)

    def line(self, points: Iterable[tuple[float, float]]) -> str:
        """Return the points of a polyline, leaving out those that are not finite."""
        there = [self.place(x, y, 9.0) for x, y in points if math.isfinite(x) and math.isfinite(y)]
        return " ".join(f"{x:g},{y:g}" for x, y in there)

    def moved(self, x: float, y: float) -> str:
        """Return the SVG transform that moves a mark to a point."""
        across, up = self.place(x, y)
        return f"translate({across:g},{up:g})"

    def mark(self, part: str, x: float, y: float) -> PartValues:
        """Return the values that move a mark to a point; a point that is NaN hides it."""
        is_seen = not math.isnan(x) and not math.isnan(y)
        return {f"{part}.transform": self.moved(x, y), f"{part}.visibility": "visible" if is_seen else "hidden"}

    def drawn(self, words: str, names: tuple[str, str], lines: Sequence[str], marks: Sequence[str] = ()) -> Html:
        """Return the axes with their names and ends, and in them `lines` and `marks`; `words` is the alt text.

        Lines are clipped at the axes, marks are not.
        """
        left, top, right, bottom = self.inside
        across, up = names
        axes = tag("path", d=f"M{left} {top}V{bottom}H{right}", class_="x-film-axes")
        ends = [(self.left, left, bottom + 13, "start"), (self.right, right, bottom + 13, "end")]
        ends += [(self.low, left - 4, bottom, "end"), (self.high, left - 4, top + 8, "end")]
        numbers = (_label(_short(value), x, y, anchor) for value, x, y, anchor in ends)
        labels = [_label(across, (left + right) / 2, bottom + 26, "middle"), _label(up, left, top - 5)]
        inner = tag("svg", *lines, **_box(left, top, right - left, bottom - top))
        view = f"0 0 {self.width} {self.height}"
        return tag("svg", axes, *numbers, *labels, inner, *marks, viewBox=view, role="img", aria_label=words)


def moving_dot(part: str, radius: int, values: PartValues) -> Html:
    """Return a round mark with the values of one frame; without values it is hidden."""
    seen = values.get(f"{part}.visibility", "hidden")
    place = values.get(f"{part}.transform")
    return tag("circle", data_part=part, r=radius, transform=place, visibility=seen, class_="x-film-ball")


def _box(left: float, top: float, width: float, height: float) -> dict[str, str]:
    view = f"{left:g} {top:g} {width:g} {height:g}"
    return {"x": f"{left:g}", "y": f"{top:g}", "width": f"{width:g}", "height": f"{height:g}", "viewBox": view}


def _share(value: float, low: float, high: float, beyond: float) -> float:
    """Return how far a value is on the way from low (0) to high (1), at most `beyond` outside of it."""
    if not math.isfinite(value):
        return -beyond if value == -math.inf else 1 + beyond
    return min(1 + beyond, max(-beyond, (value - low) / (high - low)))


def _short(value: float) -> str:
    """Return a number as the short label of an end of an axis."""
    if value == round(value) and abs(value) < 1e5:
        return f"{value:.0f}"
    return f"{value:.{1 if abs(value) < 0.01 else 2}g}"


def _label(words: str, x: float, y: float, anchor: str = "start") -> Html:
    return tag("text", words, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)
