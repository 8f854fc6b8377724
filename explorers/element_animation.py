"""Record the shape explorer's animation: each element of the result, its operands, and its place in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, permutations
from math import prod

from torch import Tensor

from autograder.notebook.html_markup import Html, tag
from explorers.apply_operation import Exploration, explore_operation
from explorers.element_provenance import OperationProvenance, TensorElements, cell_name, trace_elements
from explorers.recorded_animation import PartValues, RecordedRun
from explorers.shape_operation_catalog import Arguments

MOST_CASES = 24  # films on a page without a kernel
_TALL, _SMALL = 24, 14  # pixels: a cell's height, and the side of a place in memory
_GAP = 30  # pixels between tensors
_LETTER = 8
_TOP = 22  # pixels above the cells, for the names

# The operations on one tensor that a page shows, and the tensor: the first one that is a matrix without an axis of
# length 1 ("matrix"), a matrix with one ("thin"), or has a single axis ("flat").
_CASES: tuple[tuple[str, str, Arguments], ...] = (
    ("view", "matrix", {"sizes": "-1"}),
    ("reshape", "matrix", {"sizes": "2, -1"}),
    ("transpose", "matrix", {}),
    ("sum", "matrix", {"dim": "0"}),
    ("sum", "matrix", {"dim": "1", "keepdim": "True"}),
    ("mean", "matrix", {"dim": "1"}),
    ("amax", "matrix", {"dim": "0"}),
    ("index", "matrix", {"index": "1"}),
    ("index", "matrix", {"index": ":, 1"}),
    ("index", "matrix", {"index": "[0, 2]"}),
    ("squeeze", "thin", {}),
    ("expand", "thin", {"sizes": "-1, 4"}),
    ("unsqueeze", "flat", {"dim": "0"}),
)

ShapeCase = tuple[str, tuple[str, ...], Arguments]


def cases_for_static_page(tensors: Mapping[str, Tensor]) -> list[ShapeCase]:
    """Return the questions that a page without a kernel shows for these tensors."""
    sorts = {
        "matrix": next((name for name, each in tensors.items() if each.dim() == 2 and 1 not in each.shape), None),
        "thin": next((name for name, each in tensors.items() if each.dim() == 2 and 1 in each.shape), None),
        "flat": next((name for name, each in tensors.items() if each.dim() == 1), None),
    }
    asked: list[ShapeCase] = [("add", pair, {}) for pair in combinations(tensors, 2)]
    asked += [("matmul", pair, {}) for pair in permutations(tensors, 2)]
    asked += [(operation, (name,), given) for operation, sort, given in _CASES if (name := sorts[sort])]
    return asked


def record_element_animation(tensors: Mapping[str, Tensor], asked: ShapeCase) -> ShapeFilm | None:
    """Return the film of a question, or None if there is nothing to show."""
    operation, names, given = asked
    found = explore_operation(operation, [(name, tensors[name]) for name in names], given, tensors)
    cells = trace_elements(found, operation, [tensors[name] for name in names], given, tensors)
    return None if cells is None else ShapeFilm(found, cells)


@dataclass(frozen=True)
class ShapeFilm:
    """Records one exploration: a frame for each number of the result, then one for each number of the operands."""

    found: Exploration
    cells: OperationProvenance

    def recorded(self, place: int, count: int) -> RecordedRun:
        """Return the run as number `place` of `count` whose pictures are in one drawing."""
        seen = {f"case{n}.display": "inline" if n == place else "none" for n in range(count)}
        outcome = (
            f"torch refuses: {self.found.error}" if self.found.error else f"Shape of the result: {self.found.shape}"
        )
        width, height = self._size
        still = {
            **seen,
            "numbers.viewBox": f"0 0 {width:g} {height:g}",
            "numbers.width": f"{width:g}",
            "code.text": self.found.code,
            "outcome.text": outcome,
            "rule.text": self.found.rule.replace("`", ""),
        }
        frames = [*self._of_result(), *self._of_inputs()]
        return RecordedRun(still, frames, range(1, len(frames) + 1))

    def drawn(self, place: int, is_shown: bool) -> Html:
        """Return the tensors, and below each the memory that it views."""
        groups = (self._tensor(*each) for each in zip(self._blocks, self._first_frames, strict=False))
        return tag("g", *groups, data_part=f"case{place}", display="inline" if is_shown else "none")

    # --- frames

    def _of_result(self) -> Iterator[PartValues]:
        result = self.cells.result
        if result is None:
            return
        *operands, block = self._blocks
        for cell in range(len(result.numbers)):
            used = zip(operands, self.cells.made[cell], strict=True)
            lit = "".join(block.lit(at) for block, cells in used for at in cells)
            name = cell_name(result, cell)
            told = f"{name} = {self.cells.spelled(cell)} = {result.numbers[cell]}"
            yield {**_marks(lit, block, cell), "said.text": f"{told}{_where(result, cell)}."}

    def _of_inputs(self) -> Iterator[PartValues]:
        for block in self._blocks[: len(self.cells.inputs)]:
            for cell in range(len(block.cells.numbers)):
                told = f"{cell_name(block.cells, cell)} = {block.cells.numbers[cell]}{_where(block.cells, cell)}."
                yield {**_marks("", block, cell), "said.text": told}

    # --- the layout

    @cached_property
    def _blocks(self) -> list[TensorDrawing]:
        blocks: list[TensorDrawing] = []
        for cells in (*self.cells.inputs, *([self.cells.result] if self.cells.result else [])):
            blocks.append(TensorDrawing(cells, blocks[-1].left + blocks[-1].width + _GAP if blocks else 2.0))
        return blocks

    @property
    def _size(self) -> tuple[float, float]:
        last = self._blocks[-1]
        return last.left + last.width + 4, max(block.bottom for block in self._blocks) + 6

    @property
    def _first_frames(self) -> list[int]:
        """Return the frame of each block's first number; the result's frames come first."""
        counts = [len(cells.numbers) for cells in self.cells.inputs]
        before = len(self.cells.result.numbers) if self.cells.result else 0
        return [before + sum(counts[:place]) for place in range(len(counts))] + [0]

    def _tensor(self, block: TensorDrawing, first: int) -> Html:
        cells = block.cells
        kind = "x-cell x-of-result" if cells is self.cells.result else "x-cell"
        drawn = [_text(f"{cells.name} {cells.shape}", block.left, 14, "start")]
        for at, written in enumerate(cells.numbers):
            x, y = block.corner(at)
            box = tag("rect", **_box(x, y, block.wide, _TALL), class_=kind, data_frame=str(first + at))
            drawn += [box, _text(written, x + block.wide / 2, y + 16, "middle")]
        if cells.memory:
            owned = "memory" if cells.owner == cells.name else f"memory of {cells.owner}"
            drawn.append(_text(owned, block.left, block.strip - 5, "start"))
            frames = {place: first + at for at, place in reversed(list(enumerate(cells.places)))}
            drawn += [block.place(number, frames.get(number)) for number in range(cells.memory)]
        return tag("g", *drawn)


@dataclass(frozen=True)
class TensorDrawing:
    """A tensor in the drawing: its matrices beside each other, and its memory as a strip below."""

    cells: TensorElements
    left: float

    @cached_property
    def wide(self) -> float:
        """Return the width of a cell."""
        return max(26, _LETTER * max(map(len, self.cells.numbers)) + 8)

    @property
    def _rows(self) -> int:
        return self.cells.shape[-2] if len(self.cells.shape) > 1 else 1

    @property
    def _columns(self) -> int:
        return self.cells.shape[-1] if self.cells.shape else 1

    @property
    def width(self) -> float:
        """Return the width of the block: of its cells, memory or words, whichever is widest."""
        matrices = prod(self.cells.shape[:-2])
        cells = matrices * self._columns * self.wide + (matrices - 1) * 12
        words = f"{self.cells.name} {self.cells.shape}", f"memory of {self.cells.owner}"
        return max(cells, self.cells.memory * _SMALL, *(len(each) * 7 for each in words))

    @property
    def strip(self) -> float:
        """Return the vertical position of the memory."""
        return _TOP + self._rows * _TALL + 28

    @property
    def bottom(self) -> float:
        """Return the vertical position where the memory ends."""
        return self.strip + _SMALL

    def corner(self, at: int) -> tuple[float, float]:
        """Return the upper left corner of a number's cell."""
        matrix, inside = divmod(at, self._rows * self._columns)
        row, column = divmod(inside, self._columns)
        return self.left + matrix * (self._columns * self.wide + 12) + column * self.wide, _TOP + row * _TALL

    def place(self, number: int, frame: int | None) -> Html:
        """Return one place of memory, which may hold none of the tensor's numbers."""
        where = _box(self.left + number * _SMALL, self.strip, _SMALL, _SMALL)
        return tag("rect", **where, class_="x-cell", data_frame=None if frame is None else str(frame))

    def at_place(self, at: int) -> tuple[float, float]:
        """Return the upper left corner of a number's place in memory."""
        return self.left + self.cells.places[at] * _SMALL, self.strip

    def lit(self, at: int) -> str:
        """Return a path around a number's cell and its place in memory."""
        x, y = self.corner(at)
        path = _around(x, y, self.wide, _TALL)
        return path + (_around(*self.at_place(at), _SMALL, _SMALL) if self.cells.memory else "")


def combined_films_picture(films: Sequence[ShapeFilm], values: PartValues, place: int) -> Html:
    """Return all films in one drawing, one of them visible, with the values of a frame."""
    words = "The numbers of each tensor in cells, and below them its memory as a strip. What is lit is told below."
    marks = [tag("path", data_part="lit", d=values["lit.d"], class_="x-lit")]
    for name in ("now", "spot"):
        given = {key.partition(".")[2]: value for key, value in values.items() if key.startswith(f"{name}.")}
        marks.append(tag("rect", data_part=name, class_="x-now-cell", **given))
    drawn = (film.drawn(number, number == place) for number, film in enumerate(films))
    box = {"viewBox": values["numbers.viewBox"], "width": values["numbers.width"]}
    svg = tag("svg", *drawn, *marks, data_part="numbers", role="img", aria_label=words, class_="x-cells", **box)
    told = (
        tag("code", values["code.text"], data_part="code"),
        ". ",
        tag("span", values["outcome.text"], data_part="outcome"),
    )
    return tag("div", tag("p", *told), tag("p", values["rule.text"], data_part="rule", class_="x-small"), svg)


def _marks(lit: str, block: TensorDrawing, at: int) -> dict[str, str]:
    """Return the values that highlight the operands, and the number that the text is about."""
    (x, y), (place, strip) = block.corner(at), block.at_place(at)
    return {
        "lit.d": lit,
        "now.transform": f"translate({x:g},{y:g})",
        "now.width": f"{block.wide:g}",
        "now.height": str(_TALL),
        "spot.transform": f"translate({place:g},{strip:g})",
        "spot.width": str(_SMALL),
        "spot.height": str(_SMALL),
        "spot.visibility": "visible" if block.cells.memory else "hidden",
    }


def _where(cells: TensorElements, at: int) -> str:
    if not cells.memory:
        return ""
    whose = "its memory" if cells.owner == cells.name else f"the memory of {cells.owner}"
    return f", place {cells.places[at]} in {whose}"


def _box(x: float, y: float, width: float, height: float) -> dict[str, str]:
    return {"x": f"{x:g}", "y": f"{y:g}", "width": f"{width:g}", "height": f"{height:g}"}


def _around(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:g} {y:g}h{width:g}v{height:g}h-{width:g}z"


def _text(words: str, x: float, y: float, anchor: str) -> Html:
    return tag("text", words, x=f"{x:g}", y=f"{y:g}", text_anchor=anchor)
