"""Draws a graph as SVG: time runs from left to right, each box is a row of the story."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from autograder.telling.markup import Html, tag

WIDTH, HEIGHT = 126, 62  # of a box
GAP, SPACE = 34, 16  # between columns, between boxes
SWEEPS = 4  # how often the boxes of a column are put level with what they hang on

Arrow = tuple[int, int]


@dataclass(frozen=True)
class Box:
    """What a box tells: a few short lines. `value` is what a click on it chooses; `kind` is a class of the style."""

    lines: tuple[str, ...]
    value: str
    kind: str = ""


def drawing(
    boxes: Sequence[Box], arrows: Sequence[Arrow], words: str, bold: Callable[[Arrow], bool], back: bool = False
) -> Html:
    """The boxes and the arrows between them (by number, the earlier box first); `words` is the text alternative.

    `back` turns the arrowheads round: a gradient goes from the later box to the earlier one.
    """
    columns = _columns(len(boxes), arrows)
    chains = _chains(columns, arrows)
    heights = _heights(columns, chains)
    middle = {point: _middle(point, columns, heights) for point in [*range(len(boxes)), *_bends(chains)]}
    right = max(x for x, _ in middle.values()) + WIDTH / 2 + 4
    bottom = max(y for _, y in middle.values()) + HEIGHT / 2 + 4
    drawn = [_line([middle[point] for point in chains[arrow]], bold(arrow), back) for arrow in chains]
    drawn += [_box(box, *middle[number]) for number, box in enumerate(boxes)]
    size = {"width": str(round(right)), "height": str(round(bottom)), "viewBox": f"0 0 {right:.0f} {bottom:.0f}"}
    return tag("svg", *drawn, role="img", aria_label=words, class_="x-graph", **size)


Point = int | tuple[Arrow, int]  # a box, or where an arrow passes a column: (arrow, column)


def _columns(count: int, arrows: Sequence[Arrow]) -> dict[Point, int]:
    """How far right each box stands: after all it is made from; what is made from nothing, just before its use."""
    columns = [0] * count
    for number in range(count):
        columns[number] = max((columns[start] + 1 for start, end in arrows if end == number), default=0)
    for number in reversed(range(count)):
        if all(end != number for _, end in arrows):
            columns[number] = min((columns[end] - 1 for start, end in arrows if start == number), default=0)
    return dict(enumerate(columns))


def _chains(columns: dict[Point, int], arrows: Sequence[Arrow]) -> dict[Arrow, list[Point]]:
    """Each arrow as the points it goes through: a bend in every column on its way."""
    chains: dict[Arrow, list[Point]] = {}
    for arrow in dict.fromkeys(arrows):
        start, end = arrow
        bends: list[Point] = [(arrow, column) for column in range(columns[start] + 1, columns[end])]
        columns.update(zip(bends, range(columns[start] + 1, columns[end]), strict=True))
        chains[arrow] = [start, *bends, end]
    return chains


def _bends(chains: Mapping[Arrow, list[Point]]) -> list[Point]:
    return [point for chain in chains.values() for point in chain[1:-1]]


def _heights(columns: Mapping[Point, int], chains: Mapping[Arrow, list[Point]]) -> dict[Point, float]:
    """How far down each point stands, so that few arrows cross: again and again, level with its neighbors."""
    beside: dict[Point, list[Point]] = {point: [] for point in columns}
    for chain in chains.values():
        for left, right in pairwise(chain):
            beside[left].append(right)
            beside[right].append(left)
    stacks: dict[int, list[Point]] = {}
    for point, column in columns.items():
        stacks.setdefault(column, []).append(point)
    heights = {point: float(place) for stack in stacks.values() for place, point in enumerate(stack)}
    for sweep in range(SWEEPS):
        for column in sorted(stacks, reverse=bool(sweep % 2)):
            wanted = {
                point: _mean([heights[each] for each in beside[point]], heights[point]) for point in stacks[column]
            }
            heights.update(_apart(sorted(stacks[column], key=lambda point: wanted[point]), wanted))
    top = min(heights.values())
    return {point: height - top for point, height in heights.items()}


def _mean(heights: Sequence[float], otherwise: float) -> float:
    return sum(heights) / len(heights) if heights else otherwise


def _apart(stack: Sequence[Point], wanted: Mapping[Point, float]) -> dict[Point, float]:
    """Where the points of a column come to stand: as wanted, but one box's height from each other."""
    placed: dict[Point, float] = {}
    last = float("-inf")
    for point in stack:
        last = placed[point] = max(wanted[point], last + 1)
    shift = _mean([wanted[point] - placed[point] for point in stack], 0.0)
    return {point: height + shift for point, height in placed.items()}


def _middle(point: Point, columns: Mapping[Point, int], heights: Mapping[Point, float]) -> tuple[float, float]:
    x = 4 + WIDTH / 2 + columns[point] * (WIDTH + GAP)
    return x, 4 + HEIGHT / 2 + heights[point] * (HEIGHT + SPACE)


def _line(points: Sequence[tuple[float, float]], bold: bool, back: bool) -> Html:
    """From the right side of the first box to the left side of the last one, with an arrowhead."""
    half = WIDTH / 2
    x, y = points[0][0] + half, points[0][1]
    path = f"M{x:.0f} {y:.1f}"
    for (left, before), (right, after) in pairwise(points):
        path += f"C{left + half + GAP / 2:.0f} {before:.1f} {right - half - GAP / 2:.0f} {after:.1f}"
        path += f" {right - half:.0f} {after:.1f}H{right + half:.0f}"
    (x, y), tail = (points[0], 7) if back else (points[-1], -7)
    x += half if back else -half
    path = path.rpartition("H")[0] + f"M{x + tail:.0f} {y - 4:.1f}L{x:.0f} {y:.1f}L{x + tail:.0f} {y + 4:.1f}"
    return tag("path", d=path, fill="none", stroke="currentColor", class_="x-bold" if bold else "x-thin")


def _box(box: Box, x: float, y: float) -> Html:
    left, top = f"{x - WIDTH / 2:.0f}", f"{y - HEIGHT / 2:.1f}"
    frame = tag("rect", x=left, y=top, width=WIDTH, height=HEIGHT, rx=7, class_="x-frame")
    tint = tag("rect", x=left, y=top, width=WIDTH, height=HEIGHT, rx=7, class_="x-tint")
    first = y - (len(box.lines) - 1) * 8.5 + 4.5
    texts = (
        tag("text", line, x=f"{x:.0f}", y=f"{first + 17 * number:.1f}", text_anchor="middle", class_=f"x-line-{number}")
        for number, line in enumerate(box.lines)
    )
    kind = f"x-box {box.kind}".strip()
    return tag("g", frame, tint, *texts, data_choose="point", data_value=box.value, class_=kind)
