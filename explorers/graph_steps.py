"""The moments that a reader steps through: the forward pass row by row, then the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from explorers.graph import Graph
from explorers.graph_modules import GraphRow, in_order, rows_of

Phase = Literal["forward", "back"]
FOLDED_FROM = 16  # nodes: a graph with fewer begins with no module folded


@dataclass(frozen=True)
class ReaderStep:
    """One step of the reader: the pass, and the row of the graph."""

    phase: Phase
    row: GraphRow


@dataclass(frozen=True)
class UnfoldedGraph:
    """A graph with some of its modules unfolded; `rows` has them in the order of the forward pass.

    `at` is the present moment; None means that everything has been told.
    """

    graph: Graph
    unfolded: frozenset[str]
    rows: tuple[GraphRow, ...]
    moments: tuple[ReaderStep, ...]
    at: int | None = 0

    @property
    def now(self) -> ReaderStep | None:
        """Return the present moment; None if the whole story has been told, or nothing is recorded."""
        return None if self.at is None or not self.moments else self.moments[self.at]

    def told(self, phase: Phase, row: GraphRow) -> bool:
        """Return whether the moment of this row has come."""
        return self.at is None or self.turn[phase, row] <= self.at

    @cached_property
    def turn(self) -> Mapping[tuple[Phase, GraphRow], int]:
        """Map each phase and row to the position of its moment."""
        return {(moment.phase, moment.row): turn for turn, moment in enumerate(self.moments)}

    def moved(self, steps: int) -> UnfoldedGraph:
        """Return the story some moments later (or earlier), but not beyond its ends."""
        return replace(self, at=min(max((self.at or 0) + steps, 0), len(self.moments) - 1))

    def to(self, phase: Phase, row: GraphRow) -> UnfoldedGraph:
        """Return the story at the moment of a row."""
        return replace(self, at=self.turn[phase, row])

    def with_unfolded(self, unfolded: frozenset[str]) -> UnfoldedGraph:
        """Return the story with these modules unfolded, in the same pass and at the same node."""
        changed = _told(self.graph, unfolded)
        if self.now is None:
            return replace(changed, at=self.at)
        node = self.now.row.nodes[0 if self.now.phase == "forward" else -1]
        row = next(row for row in changed.rows if node in row.nodes)
        return changed.to(self.now.phase, row)


def id_of(row: GraphRow) -> str:
    """Return the name of a row in the page."""
    return row.module or f"step {row.nodes[0] + 1}"


def story_of(graph: Graph) -> UnfoldedGraph:
    """Return the story at its beginning; the modules of a large graph are folded."""
    return _told(graph, frozenset() if len(graph.nodes) >= FOLDED_FROM else frozenset(graph.modules.folds))


def _told(graph: Graph, unfolded: frozenset[str]) -> UnfoldedGraph:
    rows = rows_of(graph.links, graph.modules.folds, unfolded)
    turn = {node: number for number, node in enumerate(graph.backward)}
    back = in_order(rows, graph.links, lambda row: min(turn[node] for node in row.nodes), back=True)
    moments = [ReaderStep("forward", row) for row in rows] + [ReaderStep("back", row) for row in back]
    return UnfoldedGraph(graph, unfolded, rows, tuple(moments))
