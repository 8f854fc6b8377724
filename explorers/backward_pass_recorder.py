"""Run a graph's backward pass with torch's own engine, and record the gradients that arrive and leave.

The reader's graph is not freed, and no `.grad` changes. The reader's hooks run as in any backward pass, because the
gradients that they return are a part of the result; hooks that wait for a `.grad`
(`register_post_accumulate_grad_hook`) do not run.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.autograd.graph import GradientEdge

from explorers.apply_operation import MOST_VALUES
from explorers.tensor_values_as_plain_data import TensorDescription, describe_tensor_values
from explorers.traverse_autograd_graph import OrderedGraph, ResultPlace, is_leaf


@dataclass(frozen=True)
class NodeGradients:
    """The gradients at a node in the backward pass: `arrived` (one per output) and `sent` (one per operand).

    None stands for no gradient. `hooked` lists the outputs whose gradient is not the sum of the gradients sent there,
    because a hook changed it.
    """

    arrived: tuple[TensorDescription | None, ...]
    sent: tuple[TensorDescription | None, ...] = ()
    hooked: tuple[int, ...] = ()


@dataclass(frozen=True)
class LeafGradChange:
    """The effect of a backward pass on a leaf's `.grad`: the value before, the gradient added, the value after.

    Each is None if there is no such tensor. `tracked` is False if the leaf no longer requires grad.
    """

    before: TensorDescription | None
    incoming: TensorDescription | None
    after: TensorDescription | None
    tracked: bool = True


@dataclass(frozen=True)
class BackwardPass:
    """A backward pass: the gradients at each node, the change of each leaf's `.grad`, and torch's error.

    After an error, `passages` ends at the node that failed, which has sent nothing.
    """

    passages: Mapping[int, NodeGradients]
    added: Mapping[int, LeafGradChange]
    error: str = ""


def record_backward_pass(traced: OrderedGraph, result: Tensor, gradient: Tensor | None = None) -> BackwardPass:
    """Run and record the backward pass from a tensor; more than one element needs a `gradient`, as in `backward`."""
    notes = _Notes(traced)
    leaves = traced.leaves
    edges = [GradientEdge(traced.nodes[at], 0) for at in leaves]
    try:
        with _grads_kept(traced), notes.taken():
            found = torch.autograd.grad(result, edges, gradient, retain_graph=True, allow_unused=True)
    except Exception as error:  # the reader's own backward rules and hooks may raise anything
        return BackwardPass(notes.passages(), {}, f"{type(error).__name__}: {error}")
    added = {at: _added(leaf, incoming) for (at, leaf), incoming in zip(leaves.items(), found, strict=True)}
    for at, incoming in zip(leaves, found, strict=True):
        notes.begin(at, (incoming,))  # `autograd.grad` returns the gradient and does not run the leaf's node
    start = torch.ones_like(result) if gradient is None else gradient
    return BackwardPass(notes.passages(start.detach()), added)


def _added(leaf: Tensor, incoming: Tensor | None) -> LeafGradChange:
    before = leaf.grad
    shown = None if before is None else describe_tensor_values(before)
    if incoming is None or not leaf.requires_grad:
        return LeafGradChange(
            shown, None if incoming is None else describe_tensor_values(incoming), shown, leaf.requires_grad
        )
    after = incoming if before is None else before.detach() + incoming.detach()
    return LeafGradChange(shown, describe_tensor_values(incoming), describe_tensor_values(after))


@contextmanager
def _grads_kept(traced: OrderedGraph) -> Iterator[None]:
    """Restore the `.grad` of intermediate tensors (`retain_grad`) after this block, which may replace it.

    A node holds no reference to its output, so this searches all live objects for the outputs. Their types are looked
    through first: there are hundreds, and a million objects.
    """
    objects = gc.get_objects()
    tensors = {kind for kind in set(map(type, objects)) if issubclass(kind, Tensor)}
    held = [each for each in objects if type(each) in tensors and each.retains_grad]
    del objects
    before = [(each, each.grad) for each in held if traced.place(each) is not None]
    try:
        yield
    finally:
        for each, grad in before:
            each.grad = grad


class _Notes:
    """Records, through hooks, the gradients that torch's engine passes to each node; keeps only short tensors."""

    def __init__(self, traced: OrderedGraph) -> None:
        self._traced = traced
        self._arrived: dict[int, tuple[TensorDescription | None, ...]] = {}
        self._sent: dict[int, tuple[TensorDescription | None, ...]] = {}
        self._short: dict[ResultPlace, Tensor] = {}  # the gradients that arrived
        self._sums: dict[ResultPlace, Tensor] = {}  # the sums of the gradients that were sent there

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Record every node that runs inside this block; the hooks are removed afterwards."""
        with ExitStack() as hooks:
            for at, node in enumerate(self._traced.nodes):
                if not is_leaf(node):
                    hooks.callback(node.register_prehook(partial(self.begin, at)).remove)
                    hooks.callback(node.register_hook(partial(self._end, at)).remove)
            yield

    def passages(self, start: Tensor | None = None) -> dict[int, NodeGradients]:
        """Return the passages so far; after a complete pass, `start` is the gradient that it began with."""
        hooked = frozenset[ResultPlace]()
        if start is not None:
            self._send(self._traced.root, start)
            hooked = frozenset(place for place, grad in self._short.items() if _differ(self._sums.get(place), grad))
        return {
            at: NodeGradients(
                arrived, self._sent.get(at, ()), tuple(slot for slot in range(len(arrived)) if (at, slot) in hooked)
            )
            for at, arrived in self._arrived.items()
        }

    def begin(self, at: int, grads: tuple[Tensor | None, ...]) -> None:
        """Record the gradients that arrived at a node."""
        self._arrived[at] = tuple(None if grad is None else describe_tensor_values(grad) for grad in grads)
        for slot, grad in enumerate(grads):
            if grad is not None and grad.numel() <= MOST_VALUES:
                self._short[at, slot] = grad.detach()

    def _end(self, at: int, sent: tuple[Tensor | None, ...], _arrived: object) -> None:
        """Record the gradients that a node sent on, which torch has summed over the axes that were broadcast."""
        places = self._traced.links[at]
        self._sent[at] = tuple(None if grad is None else describe_tensor_values(grad) for grad in sent)
        for place, grad in zip(places, sent, strict=False):
            if place is not None and grad is not None:
                self._send(place, grad.detach())

    def _send(self, place: ResultPlace, grad: Tensor) -> None:
        if grad.numel() <= MOST_VALUES:
            self._sums[place] = self._sums[place] + grad if place in self._sums else grad


def _differ(sent: Tensor | None, arrived: Tensor | None) -> bool:
    if sent is None or arrived is None or sent.layout != arrived.layout or sent.layout != torch.strided:
        return False
    return not torch.allclose(sent, arrived.to(sent.dtype), equal_nan=True)
