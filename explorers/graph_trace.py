"""Walks the graph behind a tensor: torch's own nodes and links, in the order in which its engine takes them."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.autograd.graph import get_gradient_edge

MOST_NODES = 25_000  # a graph with more of them is not read: with these it takes five seconds

ResultPlace = tuple[int, int]  # which node, and which of its results


class TooManyNodes(ValueError):
    """A graph with more than MOST_NODES nodes."""


@dataclass(frozen=True)
class Trace:
    """The live nodes of a graph, each after those it was made from; a node is known by its position here.

    `links` has one entry per operand of a node: where that came from, or None where it does not require grad.
    `backward` is the order in which the engine visits the nodes; `root` is where the walk starts. `leaves` has the
    leaf of each node that adds to a `.grad`.
    """

    nodes: tuple[Any, ...]
    links: tuple[tuple[ResultPlace | None, ...], ...]
    backward: tuple[int, ...]
    root: ResultPlace
    leaves: Mapping[int, Tensor] = field(init=False)
    _leaf_places: Mapping[int, ResultPlace] = field(init=False)
    _positions: Mapping[Any, int] = field(init=False)

    def __post_init__(self) -> None:
        leaves = {at: node.variable for at, node in enumerate(self.nodes) if is_leaf(node)}
        places = {id(leaf): (at, 0) for at, leaf in leaves.items()}
        object.__setattr__(self, "leaves", leaves)
        object.__setattr__(self, "_leaf_places", places)
        object.__setattr__(self, "_positions", {node: at for at, node in enumerate(self.nodes)})

    def place(self, tensor: Tensor) -> ResultPlace | None:
        """The node and the slot that a tensor came from, or a leaf's own node; None if it is not of this graph."""
        if tensor.grad_fn is None:
            return self._leaf_places.get(id(tensor))
        at = self._positions.get(tensor.grad_fn)
        return None if at is None else (at, tensor.output_nr)


def trace(result: Tensor) -> Trace:
    """The graph that leads to a tracked tensor; raises TooManyNodes."""
    node, slot = get_gradient_edge(result)[:2]
    backward = _as_the_engine_goes(node, _arrows(node))
    forward = _forward(backward)
    at = {node: number for number, node in enumerate(forward)}
    links = tuple(
        tuple(None if below is None else (at[below], number) for below, number in node.next_functions)
        for node in forward
    )
    return Trace(tuple(forward), links, tuple(at[node] for node in backward), (at[node], slot))


def is_leaf(node: Any) -> bool:
    """Is this a node that adds to the `.grad` of a leaf?"""
    return hasattr(node, "variable")


def _below(node: Any) -> list[Any]:
    return [below for below, _ in node.next_functions if below is not None]


def _arrows(root: Any) -> Counter[Any]:
    """Of each node, how many arrows lead to it."""
    arrows, waiting = Counter([root]), [root]
    while waiting:
        for below in _below(waiting.pop()):
            if below not in arrows:
                waiting.append(below)
            arrows[below] += 1
        if len(arrows) > MOST_NODES:
            raise TooManyNodes(
                f"expected a graph of at most {MOST_NODES:,} nodes, found more: nothing of it is shown. "
                "Take fewer steps, a smaller model, or a tensor from the middle."
            )
    return arrows


def _as_the_engine_goes(root: Any, arrows: Counter[Any]) -> list[Any]:
    """Of the nodes where all has arrived, the one made last comes first; leaves before all others."""
    order: list[Any] = []
    ready = [(0, 0, root)]
    while ready:
        *_, node = heapq.heappop(ready)
        order.append(node)
        for below in _below(node):
            arrows[below] -= 1
            if not arrows[below]:  # root aside, which no arrow leads to
                heapq.heappush(ready, (-below._sequence_nr(), len(order) * MOST_NODES + len(ready), below))
    return order


def _forward(backward: list[Any]) -> list[Any]:
    """The other way round; each leaf directly before its first use, in the order of the operands."""
    order: dict[Any, None] = {}
    for node in reversed(backward):
        if not is_leaf(node):
            order.update(dict.fromkeys(below for below in _below(node) if is_leaf(below)))
            order[node] = None
    return list(order) or backward
