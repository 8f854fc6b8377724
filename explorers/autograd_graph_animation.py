"""The film of the autograd stepper: values forward, gradients back, and bars for each leaf's `.grad`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from autograder.notebook.html_markup import Html, join, tag
from explorers.autograd_graph_data import Node
from explorers.autograd_graph_labels import tensor_in_brief
from explorers.autograd_stepper_state import AutogradStepperState
from explorers.autograd_stepper_view import LEGEND, arrows_between_rows, render_row_box
from explorers.draw_autograd_graph import HEIGHT, LINES, SPACE, WIDTH, Layout, draw_film, lay_out_in_bands
from explorers.group_graph_steps_by_module import GraphRow
from explorers.recorded_animation import PartValues, RecordedRun
from explorers.tensor_values_as_plain_data import TensorDescription

MOST_FILMED = 550  # a graph with more rows is not filmed
MOST_AT_ONCE = 40  # rows one below the other, in a graph that is filmed
MOST_TOWERS = 8  # leaves whose .grad is drawn as bars
_TALL, _WIDE = 90, 110  # the height and width of one leaf's bars, in pixels
_NAME, _VALUE = 13, 17  # most letters of a leaf's name and of its value
_GROUND = 24  # pixels above the bars, for their title

Numbers = Sequence[float]


def fits_one_picture(story: AutogradStepperState) -> bool:
    """Return whether a graph has few enough rows to be drawn in one picture."""
    if not 0 < len(story.rows) <= MOST_FILMED:
        return False
    layout = lay_out_in_bands(len(story.rows), _arrows(story))
    return layout.size[1] <= MOST_AT_ONCE * (HEIGHT + SPACE)


@dataclass(frozen=True)
class GraphFilm:
    """Records a film with a frame for each step of `story`, no matter at which step the reader is."""

    story: AutogradStepperState

    def recorded(self, told: Sequence[str]) -> RecordedRun:
        """Return the recording of all steps; `told` has the sentence for each."""
        frames = [self._frame(at, words) for at, words in enumerate(told)]
        return RecordedRun({}, frames, range(1, len(frames) + 1))

    def picture(self, values: PartValues) -> Html:
        """Return the graph and the gradient bars, with the values of one frame."""
        boxes = [render_row_box(self.story, row) for row in self.story.rows]
        marked = [
            (f"n{place}", values[f"n{place}.class"], [values[f"n{place}l{line}.text"] for line in range(LINES)])
            for place in range(len(boxes))
        ]
        words = "The graph: a box for each step, its value and the gradient that arrives. Below, each moment is told."
        here = {key.partition(".")[2]: value for key, value in values.items() if key.startswith("here.")}
        graph = draw_film(self._layout, [box.value for box in boxes], marked, here, values["fore.visibility"], words)
        return join(graph, self._towers_drawn(values), tag("p", LEGEND, class_="x-small"))

    def _frame(self, at: int, words: str) -> PartValues:
        """Return the values of the boxes and gradient bars that changed since the previous step."""
        story = replace(self.story, at=at)
        now, values = story.moments[at], dict[str, str]()
        for row in story.rows if at == 0 else (story.moments[at - 1].row, now.row):
            place, box = self._place[row], render_row_box(story, row)
            values[f"n{place}.class"] = f"x-box {box.kind}"
            values |= {f"n{place}l{n}.text": text for n, text in enumerate((*box.lines, "", "")[:LINES])}
        x, y = self._layout.middle[self._place[now.row]]
        is_back = now.phase == "back"
        values["here.transform"] = f"translate({x - WIDTH / 2:.1f},{y - HEIGHT / 2:.1f})"
        values["fore.visibility"], values["back.visibility"] = _seen(not is_back), _seen(is_back)
        for place, (node_at, node) in enumerate(self._leaves):
            row = self._row_of[node_at]
            is_added = story.told("back", row)
            assert node.added is not None
            shown = node.added.after if is_added else node.added.before
            values[f"t{place}.points"] = self._tower(place, shown)
            values[f"t{place}v.text"] = _cut(tensor_in_brief(shown, "None"), _VALUE)
        return {**values, "said.text": words}

    # --- the graph

    @cached_property
    def _layout(self) -> Layout:
        return lay_out_in_bands(len(self.story.rows), _arrows(self.story))

    @cached_property
    def _place(self) -> dict[GraphRow, int]:
        return {row: place for place, row in enumerate(self.story.rows)}

    @cached_property
    def _row_of(self) -> dict[int, GraphRow]:
        return {node: row for row in self.story.rows for node in row.nodes}

    # --- the towers

    @cached_property
    def _leaves(self) -> list[tuple[int, Node]]:
        nodes = enumerate(self.story.graph.nodes)
        return [(at, node) for at, node in nodes if node.added is not None][:MOST_TOWERS]

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """Return the lowest and the highest number of all bars; 0 is between them."""
        told = [each for _, node in self._leaves if node.added for each in (node.added.before, node.added.after)]
        found = [number for values in told for number in _numbers(values)]
        return min([0.0, *found]), max([0.0, *found])

    def _height(self, number: float) -> float:
        low, high = self._reach
        return round(_GROUND + _TALL * (high - number) / ((high - low) or 1.0), 1)

    def _tower(self, place: int, values: TensorDescription | None) -> str:
        """Return a tensor's numbers as bars side by side, as the points of a polygon on the line of 0.

        Without a tensor (a `.grad` of None), the bars have height 0 and the width that they have later.
        """
        added = self._leaves[place][1].added
        count = max(len(_numbers(each)) for each in (added.before, added.after)) if added else 0
        numbers = _numbers(values) or [0.0] * count
        wide = min(26.0, (_WIDE - 14) / max(count, 1))
        left = place * _WIDE + (_WIDE - wide * count) / 2
        zero, points = self._height(0.0), []
        for n, number in enumerate(numbers):
            near, far = round(left + wide * n, 1), round(left + wide * (n + 0.85), 1)
            points += [(near, zero), (near, self._height(number)), (far, self._height(number)), (far, zero)]
        return " ".join(f"{x:g},{y:g}" for x, y in points)

    def _towers_drawn(self, values: PartValues) -> Html:
        """Return the bars of each leaf in a row, with its name and its numbers as text."""
        if not self._leaves:
            return Html("")
        names = [node.results[0].name or f"leaf {at + 1}" for at, node in self._leaves]
        wide, zero = _WIDE * len(names), self._height(0.0)
        parts = [
            tag("path", d=f"M0 {zero:g}H{wide}", class_="x-film-axes"),
            _text(".grad of each leaf", 2, 12, "start"),
        ]
        for place, name in enumerate(names):
            added = self._leaves[place][1].added
            middle, below = _WIDE * (place + 0.5), _GROUND + _TALL
            before = self._tower(place, added.before) if added and added.before else ""
            parts += [
                tag("polygon", data_part=f"t{place}", points=values[f"t{place}.points"], class_="x-tower"),
                tag("polygon", points=before, class_="x-tower-before"),
                _text(_cut(name, _NAME), middle, below + 17, "middle"),
                tag("text", values[f"t{place}v.text"], data_part=f"t{place}v", **_at(middle, below + 33, "middle")),
            ]
        more = sum(node.added is not None for node in self.story.graph.nodes) - len(names)
        words = "Towers: what each leaf's .grad holds. An outline is what was there before; 0 is the line."
        note = tag("p", f"{more} more leaves have no tower here.", class_="x-small") if more else Html("")
        size = {"width": str(wide), "viewBox": f"0 0 {wide} {_GROUND + _TALL + 40}"}
        return join(tag("svg", *parts, role="img", aria_label=words, class_="x-towers", **size), note)


def _arrows(story: AutogradStepperState) -> list[tuple[int, int]]:
    number = {row: place for place, row in enumerate(story.rows)}
    return [(number[start], number[end]) for start, end in arrows_between_rows(story)]


def _numbers(values: TensorDescription | None) -> list[float]:
    """Return the numbers of a short tensor, none of a long one; NaN and infinity have the height 0."""
    if values is None:
        return []
    flat = _flat(values.numbers)
    return [float(each) if isinstance(each, int | float) and math.isfinite(each) else 0.0 for each in flat]


def _flat(numbers: Any) -> list[Any]:
    if isinstance(numbers, list):
        return [each for part in numbers for each in _flat(part)]
    return [] if numbers is None else [numbers]


def _seen(there: bool) -> str:
    return "visible" if there else "hidden"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _at(x: float, y: float, anchor: str) -> dict[str, str]:
    return {"x": f"{x:g}", "y": f"{y:g}", "text_anchor": anchor}


def _text(words: str, x: float, y: float, anchor: str) -> Html:
    return tag("text", words, **_at(x, y, anchor))
