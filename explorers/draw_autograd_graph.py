"""Draw an autograd graph as SVG, time from left to right; a box is one node, or all nodes of a folded module."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import sqrt

from autograder.notebook.html_markup import Html, tag

WIDTH, HEIGHT = 126, 62  # of a box, in pixels
GAP, SPACE = 34, 16  # between columns, and between boxes of a column, in pixels
LINES = 3  # lines of text in a box of a film
SWEEPS = 4  # passes of `_heights` that move each box to the mean height of its neighbors
MOST_COLUMNS = 12  # a graph with more columns is drawn in several bands
LONGEST = 6  # columns; in bands, an arrow up to this length bends around boxes, and a longer one passes below them

Arrow = tuple[int, int]
Spot = tuple[float, float]


@dataclass(frozen=True)
class Box:
    """The content of a box: a few short lines. A click on it chooses `value`; `kind` is its CSS class."""

    lines: tuple[str, ...]
    value: str
    kind: str = ""


def draw_boxes(
    boxes: Sequence[Box], arrows: Sequence[Arrow], words: str, bold: Callable[[Arrow], bool], back: bool = False
) -> Html:
    """Return the boxes and the arrows between them as SVG; `words` is the text alternative.

    An arrow is a pair of box numbers, the earlier box first. `bold` selects the arrows to draw bold. `back` puts the
    arrowheads at the earlier box, since a gradient goes from the later box to the earlier one.
    """
    layout = lay_out_in_columns(len(boxes), arrows)
    paths = [_line(points, bold(arrow), back) for arrow, points in layout.ways.items()]
    return _svg(layout, words, *paths, *(_box(box, *layout.middle[number]) for number, box in enumerate(boxes)))


@dataclass(frozen=True)
class Layout:
    """The center of each box, the points that each arrow passes through, and the number of bands."""

    middle: Sequence[Spot]
    ways: Mapping[Arrow, Sequence[Spot]]
    bands: int = 1

    @property
    def size(self) -> tuple[float, float]:
        """Return the width and the height of the drawing."""
        places = [*self.middle, *(point for way in self.ways.values() for point in way)]
        return max(x for x, _ in places) + WIDTH / 2 + 4, max(y for _, y in places) + HEIGHT / 2 + 4


def lay_out_in_columns(count: int, arrows: Sequence[Arrow]) -> Layout:
    """Place `count` boxes in columns, each to the right of the boxes that it is made from."""
    columns = _columns(count, arrows)
    chains = _chains(columns, arrows)
    return _placed(count, columns, chains, _heights(columns, chains))


def lay_out_in_bands(count: int, arrows: Sequence[Arrow]) -> Layout:
    """Place boxes as `laid_out` does, but wrap a long graph into bands, so that it fits on one screen.

    The bands follow each other from top to bottom, like lines of text.
    """
    columns = _columns(count, arrows, late=True)
    length = max(columns.values()) + 1
    if length <= MOST_COLUMNS:
        return lay_out_in_columns(count, arrows)
    chains = _chains(columns, arrows, LONGEST)
    heights = _heights(columns, chains)
    # A screen is 1.6 times as wide as high; a column needs about twice the height of its boxes, for their gaps.
    tall = (2 * count / length) * (HEIGHT + SPACE) / (WIDTH + GAP)
    width = max(MOST_COLUMNS, round(sqrt(1.6 * length * tall)))
    band = {point: column // width for point, column in columns.items()}
    top, lowered = 0.0, dict[Point, float]()
    for number in range(max(band.values()) + 1):
        inside = {point: heights[point] for point in band if band[point] == number}
        first = min(inside.values())
        lowered |= {point: height - first + top for point, height in inside.items()}
        top = max(lowered[point] for point in inside) + 1.5
    return _placed(count, {point: column % width for point, column in columns.items()}, chains, lowered, number + 1)


def _placed(
    count: int,
    columns: Mapping[Point, int],
    chains: Mapping[Arrow, list[Point]],
    heights: Mapping[Point, float],
    bands: int = 1,
) -> Layout:
    ways = {arrow: [_middle(point, columns, heights) for point in chain] for arrow, chain in chains.items()}
    return Layout([_middle(number, columns, heights) for number in range(count)], ways, bands)


def draw_film(
    layout: Layout,
    values: Sequence[str],
    boxes: Sequence[tuple[str, str, Sequence[str]]],
    here: Mapping[str, str],
    fore: str,
    words: str,
) -> Html:
    """Return the picture of a film as SVG: movable boxes, arrows, and a frame around the present box.

    `values` are what a click on each box chooses; `boxes` has the part name, the class and the lines of each box.
    `here` are the attributes of the frame. `fore` is the visibility of the forward arrowheads; the backward ones have
    the opposite.
    """
    lines = [
        tag("path", d=_way(points), fill="none", stroke="currentColor", class_="x-far" if _is_far(points) else None)
        for points in layout.ways.values()
    ]
    heads = [_heads(layout, back, (fore == "visible") is not back) for back in (False, True)]
    boxed = [
        _moving_box(value, *box, *layout.middle[number])
        for number, (value, box) in enumerate(zip(values, boxes, strict=True))
    ]
    frame = tag("rect", data_part="here", width=WIDTH, height=HEIGHT, rx=7, class_="x-here", **here)
    wide = f"min-width: min({layout.size[0]:.0f}px, 38rem)"  # otherwise a phone shrinks its letters too much
    return _svg(layout, words, tag("g", *lines, class_="x-thin"), *heads, *boxed, frame, style=wide)


def _is_far(points: Sequence[Spot]) -> bool:
    """Return whether an arrow passes straight below boxes, because it is too long to bend around them."""
    return abs(points[1][0] - points[0][0]) > LONGEST * WIDTH


def _heads(layout: Layout, back: bool, is_seen: bool) -> Html:
    paths = (_head(points, back) for points in layout.ways.values())
    head = tag("path", d="".join(paths), fill="none", stroke="currentColor")
    return tag("g", head, data_part="back" if back else "fore", visibility="visible" if is_seen else "hidden")


def _moving_box(value: str, name: str, kind: str, lines: Sequence[str], x: float, y: float) -> Html:
    first = y - (LINES - 1) * 8.5 + 4.5
    places = [{"x": f"{x:.0f}", "y": f"{first + 17 * number:.1f}", "text_anchor": "middle"} for number in range(LINES)]
    texts = (
        tag("text", line, data_part=f"{name}l{number}", class_=f"x-line-{number}", **place)
        for number, (line, place) in enumerate(zip(lines, places, strict=True))
    )
    return tag("g", *_frames(x, y), *texts, data_part=name, data_choose="point", data_value=value, class_=kind)


def _svg(layout: Layout, words: str, *children: Html, **more: str) -> Html:
    right, bottom = layout.size
    size = {"width": str(round(right)), "height": str(round(bottom)), "viewBox": f"0 0 {right:.0f} {bottom:.0f}"}
    return tag("svg", *children, role="img", aria_label=words, class_="x-graph", **size, **more)


Point = int | tuple[Arrow, int]  # a box, or the place where an arrow crosses a column: (arrow, column)


def _columns(count: int, arrows: Sequence[Arrow], late: bool = False) -> dict[Point, int]:
    """Return each box's column: right of its operands; a box without operands is just left of its first user.

    With `late`, every box moves right until just before its first user. Otherwise the steps that each layer applies to
    its weight (such as a transpose) would all be in one column, far from the layer.
    """
    before: list[list[int]] = [[] for _ in range(count)]
    behind: list[list[int]] = [[] for _ in range(count)]
    for start, end in arrows:
        before[end].append(start)
        behind[start].append(end)
    columns = [0] * count
    for number in range(count):
        columns[number] = max((columns[start] + 1 for start in before[number]), default=0)
    for number in reversed(range(count)):
        if behind[number] and (late or not before[number]):
            columns[number] = min(columns[end] - 1 for end in behind[number])
    return dict(enumerate(columns))


def _chains(
    columns: dict[Point, int], arrows: Sequence[Arrow], longest: float = float("inf")
) -> dict[Arrow, list[Point]]:
    """Return the points that each arrow passes: a bend in every column on its way, none if it exceeds `longest`.

    This also enters the bends into `columns`.
    """
    chains: dict[Arrow, list[Point]] = {}
    for arrow in dict.fromkeys(arrows):
        start, end = arrow
        between = range(columns[start] + 1, columns[end]) if columns[end] - columns[start] <= longest else range(0)
        bends: list[Point] = [(arrow, column) for column in between]
        columns.update(zip(bends, between, strict=True))
        chains[arrow] = [start, *bends, end]
    return chains


def _heights(columns: Mapping[Point, int], chains: Mapping[Arrow, list[Point]]) -> dict[Point, float]:
    """Return the height of each point, in box heights; repeated averaging over neighbors avoids crossings."""
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
    """Return the places of the points of a column: as wanted, but at least one box's height apart."""
    placed: dict[Point, float] = {}
    last = float("-inf")
    for point in stack:
        last = placed[point] = max(wanted[point], last + 1)
    shift = _mean([wanted[point] - placed[point] for point in stack], 0.0)
    return {point: height + shift for point, height in placed.items()}


def _middle(point: Point, columns: Mapping[Point, int], heights: Mapping[Point, float]) -> tuple[float, float]:
    x = 4 + WIDTH / 2 + columns[point] * (WIDTH + GAP)
    return x, 4 + HEIGHT / 2 + heights[point] * (HEIGHT + SPACE)


def _line(points: Sequence[Spot], bold: bool, back: bool) -> Html:
    """Return an arrow as a path from the right side of its first box to the left side of its last one."""
    path = _way(points) + _head(points, back)
    return tag("path", d=path, fill="none", stroke="currentColor", class_="x-bold" if bold else "x-thin")


def _way(points: Sequence[Spot]) -> str:
    half = WIDTH / 2
    path = f"M{points[0][0] + half:.0f} {points[0][1]:.1f}"
    for (left, before), (right, after) in pairwise(points):
        path += f"C{left + half + GAP / 2:.0f} {before:.1f} {right - half - GAP / 2:.0f} {after:.1f}"
        path += f" {right - half:.0f} {after:.1f}H{right + half:.0f}"
    return path.rpartition("H")[0]


def _head(points: Sequence[Spot], back: bool) -> str:
    (x, y), tail = (points[0], 7) if back else (points[-1], -7)
    x += WIDTH / 2 if back else -WIDTH / 2
    return f"M{x + tail:.0f} {y - 4:.1f}L{x:.0f} {y:.1f}L{x + tail:.0f} {y + 4:.1f}"


def _box(box: Box, x: float, y: float) -> Html:
    first = y - (len(box.lines) - 1) * 8.5 + 4.5
    texts = (
        tag("text", line, x=f"{x:.0f}", y=f"{first + 17 * number:.1f}", text_anchor="middle", class_=f"x-line-{number}")
        for number, line in enumerate(box.lines)
    )
    kind = f"x-box {box.kind}".strip()
    return tag("g", *_frames(x, y), *texts, data_choose="point", data_value=box.value, class_=kind)


def _frames(x: float, y: float) -> tuple[Html, Html]:
    left, top = f"{x - WIDTH / 2:.0f}", f"{y - HEIGHT / 2:.1f}"
    place = {"x": left, "y": top, "width": str(WIDTH), "height": str(HEIGHT), "rx": "7"}
    return tag("rect", class_="x-frame", **place), tag("rect", class_="x-tint", **place)
