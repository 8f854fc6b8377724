"""Traverse the autograd graph of a tensor and record its nodes in torch's forward and backward order."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor
from torch.autograd.graph import get_gradient_edge

MOST_NODES = 25_000  # `trace` refuses larger graphs; one of this size takes it about five seconds

ResultPlace = tuple[int, int]  # a node's position in the trace, and the index of one of its outputs


class TooManyNodes(ValueError):
    """Raised when a graph has more than MOST_NODES nodes."""


@dataclass(frozen=True)
class OrderedGraph:
    """The nodes of an autograd graph in forward order: each node comes after the nodes that made its operands.

    The fields refer to a node by its position in `nodes`. `links` has, for each node, one entry per operand: the node
    and output that the operand came from, or None if the operand does not require grad. `backward` is the order in
    which torch's engine visits the nodes, and `root` is the node and output where it starts. `leaves` maps each
    AccumulateGrad node to its leaf tensor.
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
        """Return the node and output that `tensor` came from, or None if it is not in this graph.

        For a leaf tensor this is output 0 of its AccumulateGrad node.
        """
        if tensor.grad_fn is None:
            return self._leaf_places.get(id(tensor))
        at = self._positions.get(tensor.grad_fn)
        return None if at is None else (at, tensor.output_nr)


def trace_autograd_graph(result: Tensor) -> OrderedGraph:
    """Return the graph behind a tensor that requires grad; raise TooManyNodes if it is too large."""
    node, slot = get_gradient_edge(result)[:2]
    backward = _as_the_engine_goes(node, _arrows(node))
    forward = _forward(backward)
    at = {node: number for number, node in enumerate(forward)}
    links = tuple(
        tuple(None if below is None else (at[below], number) for below, number in node.next_functions)
        for node in forward
    )
    return OrderedGraph(tuple(forward), links, tuple(at[node] for node in backward), (at[node], slot))


def is_leaf(node: Any) -> bool:
    """Return whether a node is an AccumulateGrad node, which adds to the `.grad` of a leaf tensor."""
    return hasattr(node, "variable")


def _below(node: Any) -> list[Any]:
    return [below for below, _ in node.next_functions if below is not None]


def _arrows(root: Any) -> Counter[Any]:
    """Count, for each node, the links that lead to it from other nodes; the root counts one more."""
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
    """Return the nodes in the order in which torch's engine runs them.

    A node is ready when all its users have run. Of the ready nodes the engine takes leaves first, then the node that
    the forward pass made last. This consumes `arrows`.
    """
    order: list[Any] = []
    ready = [(0, 0, root)]
    while ready:
        *_, node = heapq.heappop(ready)
        order.append(node)
        for below in _below(node):
            arrows[below] -= 1
            if not arrows[below]:  # `_arrows` counts the root once, and no link takes that away
                heapq.heappush(ready, (-below._sequence_nr(), len(order) * MOST_NODES + len(ready), below))
    return order


def _forward(backward: list[Any]) -> list[Any]:
    """Reverse the backward order, and move each leaf directly before its first use, in operand order."""
    order: dict[Any, None] = {}
    for node in reversed(backward):
        if not is_leaf(node):
            order.update(dict.fromkeys(below for below in _below(node) if is_leaf(below)))
            order[node] = None
    return list(order) or backward
