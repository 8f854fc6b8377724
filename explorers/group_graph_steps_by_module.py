"""Assign the steps of an autograd graph to the modules whose parameters they use.

A graph holds no modules, only tensors; but the reader's names for its parameters, such as `layers.0.weight`, contain
the module's path. The steps of `layers.0` are the steps that use one of its parameters, and all steps on a path from
one of these to another. Therefore a layer without parameters belongs to a module only if it lies on such a path.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from explorers.traverse_autograd_graph import ResultPlace

# Operations that only reshape or convert a parameter: a step that uses their result counts as a user of the parameter.
LAYOUT_OPERATIONS = ("T", "Transpose", "Permute", "View", "ReshapeAlias", "UnsafeView", "Unsqueeze", "Expand", "ToCopy")

Links = Sequence[Sequence[ResultPlace | None]]


@dataclass(frozen=True)
class FoldableModules:
    """The modules that can be folded into one row, with their nodes, and the reason why others cannot.

    `folds` maps a module's path to the positions of its nodes; `refused` maps a path to the reason.
    """

    folds: Mapping[str, tuple[int, ...]]
    refused: Mapping[str, str]


@dataclass(frozen=True)
class GraphRow:
    """One row of the displayed graph: a single node, or all nodes of a folded module."""

    nodes: tuple[int, ...]
    module: str = ""


def find_foldable_modules(
    links: Links, operations: Sequence[str], owners: Mapping[int, Collection[str]]
) -> FoldableModules:
    """Find the modules in a graph. `owners` maps a leaf's position to the paths of the modules that own it.

    A parameter that several modules share is assigned to none of them.
    """
    single = {leaf: next(iter(modules)) for leaf, modules in owners.items() if len(modules) == 1}
    uses = _uses(links, operations, single)
    leaves = _by_module(single.items())
    folds: dict[str, tuple[int, ...]] = {}
    refused: dict[str, str] = {}
    for module, users in sorted(_by_module((node, path) for node, paths in uses.items() for path in paths).items()):
        steps = _between(links, users)
        others = sorted({path for step in steps for path in uses.get(step, ()) if not _inside(path, module)})
        if others:
            refused[module] = f"steps of {', '.join(others)} lie between its own"
        else:
            folds[module] = tuple(sorted(steps | leaves[module]))
    return FoldableModules(folds, refused)


def _by_module(nodes: Iterable[tuple[int, str]]) -> dict[str, set[int]]:
    """Group nodes by module path; a node also belongs to every module that contains its own module."""
    found: dict[str, set[int]] = {}
    for node, path in nodes:
        for module in _with_parents(path):
            found.setdefault(module, set()).add(node)
    return found


def group_nodes_into_rows(
    links: Links, folds: Mapping[str, tuple[int, ...]], unfolded: Collection[str]
) -> tuple[GraphRow, ...]:
    """Return the rows of a graph in forward order; every module outside `unfolded` is folded into one row.

    Two modules cannot both be one row if each needs a part of the other first. Then the first of them is unfolded.
    """
    shown = _outermost(folds, unfolded)
    taken = {node for module in shown for node in folds[module]}
    rows = [GraphRow(folds[module], module) for module in shown]
    rows += [GraphRow((node,)) for node in range(len(links)) if node not in taken]
    ordered = sort_topologically(rows, links, lambda row: row.nodes[-1])
    if len(ordered) == len(rows):
        return ordered
    left = next(row.module for row in rows if row.module and row not in ordered)
    return group_nodes_into_rows(links, folds, {*unfolded, left})


def sort_topologically(
    rows: Sequence[GraphRow], links: Links, rank: Callable[[GraphRow], int], back: bool = False
) -> tuple[GraphRow, ...]:
    """Sort rows topologically: each after the rows that it was made from (with `back`: before them), ties by `rank`.

    Rows in a cycle, and rows that come after one, are left out.
    """
    row_of = {node: number for number, row in enumerate(rows) for node in row.nodes}
    pairs = {(row_of[place[0]], row_of[node]) for node, places in enumerate(links) for place in places if place}
    arrows = [(end, start) if back else (start, end) for start, end in pairs if start != end]
    waits = [0] * len(rows)
    then: list[list[int]] = [[] for _ in rows]
    for start, end in arrows:
        waits[end] += 1
        then[start].append(end)
    ready = [(rank(row), number) for number, row in enumerate(rows) if not waits[number]]
    heapq.heapify(ready)
    order = []
    while ready:
        _, number = heapq.heappop(ready)
        order.append(rows[number])
        for end in then[number]:
            waits[end] -= 1
            if not waits[end]:
                heapq.heappush(ready, (rank(rows[end]), end))
    return tuple(order)


def _with_parents(path: str) -> list[str]:
    parts = path.split(".")
    return [".".join(parts[: length + 1]) for length in range(len(parts))]


def _inside(path: str, module: str) -> bool:
    return path == module or path.startswith(module + ".")


def _uses(links: Links, operations: Sequence[str], owners: Mapping[int, str]) -> dict[int, set[str]]:
    """Map each node to the modules whose parameters it uses."""
    laid_out: dict[int, str] = dict(owners)
    uses: dict[int, set[str]] = {}
    for node, places in enumerate(links):
        below = [place[0] for place in places if place]
        found = {laid_out[each] for each in below if each in laid_out}
        if found:
            uses[node] = found
        if len(found) == 1 == len(below) and operations[node] in LAYOUT_OPERATIONS:
            laid_out[node] = found.copy().pop()
    return uses


def _between(links: Links, ends: Collection[int]) -> set[int]:
    """Return `ends` and all nodes on paths from one of them to another."""
    if not ends:
        return set()
    span = range(min(ends), max(ends) + 1)
    after, before = set(ends), set(ends)
    for node in span:
        if any(place and place[0] in after for place in links[node]):
            after.add(node)
    for node in reversed(span):
        if node in before:
            before.update(place[0] for place in links[node] if place and place[0] in span)
    return after & before


def _outermost(folds: Mapping[str, tuple[int, ...]], unfolded: Collection[str]) -> list[str]:
    """Return the modules to show as one row: never a module inside a shown one, and no node in two."""
    shown: list[str] = []
    taken: set[int] = set()
    for module in sorted(folds):
        if module not in unfolded and taken.isdisjoint(folds[module]):
            shown.append(module)
            taken.update(folds[module])
    return shown
