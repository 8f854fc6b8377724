"""The steps that a reader goes through: the forward pass row by row, then the backward pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

from explorers.autograd_graph_data import Graph
from explorers.group_graph_steps_by_module import GraphRow, group_nodes_into_rows, sort_topologically

Phase = Literal["forward", "back"]
FOLDED_FROM = 16  # nodes; a smaller graph starts with all modules unfolded


@dataclass(frozen=True)
class ReaderStep:
    """One step of the reader: the pass, and the row of the graph that it shows."""

    phase: Phase
    row: GraphRow


@dataclass(frozen=True)
class AutogradStepperState:
    """A graph with some modules unfolded, its rows in forward order, and the reader's position in it.

    `moments` are the reader's steps in order, and `at` is the position of the present one; None is the end, where
    everything is shown.
    """

    graph: Graph
    unfolded: frozenset[str]
    rows: tuple[GraphRow, ...]
    moments: tuple[ReaderStep, ...]
    at: int | None = 0

    @property
    def now(self) -> ReaderStep | None:
        """Return the present step; None at the end, or if nothing is recorded."""
        return None if self.at is None or not self.moments else self.moments[self.at]

    def told(self, phase: Phase, row: GraphRow) -> bool:
        """Return whether the reader has reached this row in this pass."""
        return self.at is None or self.turn[phase, row] <= self.at

    @cached_property
    def turn(self) -> Mapping[tuple[Phase, GraphRow], int]:
        """Map each phase and row to the position of its step in `moments`."""
        return {(moment.phase, moment.row): turn for turn, moment in enumerate(self.moments)}

    def moved(self, steps: int) -> AutogradStepperState:
        """Return the graph a number of steps later (or earlier, if negative), limited to its ends."""
        return replace(self, at=min(max((self.at or 0) + steps, 0), len(self.moments) - 1))

    def to(self, phase: Phase, row: GraphRow) -> AutogradStepperState:
        """Return the graph at the step of a row."""
        return replace(self, at=self.turn[phase, row])

    def with_unfolded(self, unfolded: frozenset[str]) -> AutogradStepperState:
        """Return the graph with these modules unfolded, in the same pass and at the same node."""
        changed = _told(self.graph, unfolded)
        if self.now is None:
            return replace(changed, at=self.at)
        node = self.now.row.nodes[0 if self.now.phase == "forward" else -1]
        row = next(row for row in changed.rows if node in row.nodes)
        return changed.to(self.now.phase, row)


def row_id(row: GraphRow) -> str:
    """Return the id that the page uses for a row."""
    return row.module or f"step {row.nodes[0] + 1}"


def initial_stepper_state(graph: Graph) -> AutogradStepperState:
    """Return a graph at its first step; the modules of a large graph are folded."""
    return _told(graph, frozenset() if len(graph.nodes) >= FOLDED_FROM else frozenset(graph.modules.folds))


def _told(graph: Graph, unfolded: frozenset[str]) -> AutogradStepperState:
    rows = group_nodes_into_rows(graph.links, graph.modules.folds, unfolded)
    turn = {node: number for number, node in enumerate(graph.backward)}
    back = sort_topologically(rows, graph.links, lambda row: min(turn[node] for node in row.nodes), back=True)
    moments = [ReaderStep("forward", row) for row in rows] + [ReaderStep("back", row) for row in back]
    return AutogradStepperState(graph, unfolded, rows, tuple(moments))
