"""Read the autograd graph behind a tensor as plain data, for the autograd stepper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from explorers.backward_pass_recorder import BackwardPass, LeafGradChange, NodeGradients, record_backward_pass
from explorers.group_graph_steps_by_module import FoldableModules, find_foldable_modules
from explorers.saved_tensors import SavedForBackward, list_saved_for_backward
from explorers.tensor_values_as_plain_data import TensorDescription, describe_tensor_values, short_dtype_name
from explorers.traverse_autograd_graph import OrderedGraph, ResultPlace, TooManyNodes, is_leaf, trace_autograd_graph

NamedTensors = Mapping[str, Tensor]


@dataclass(frozen=True)
class NodeOutput:
    """One output of a recorded step, or a leaf tensor.

    torch does not keep the outputs of steps. `values` is what can be recovered from saved tensors, leaves and the
    reader's named tensors, and `source` says from which; both are empty if nothing can. `name` is the reader's name for
    the tensor.
    """

    shape: tuple[int, ...]
    dtype: str
    name: str = ""
    values: TensorDescription | None = None
    source: str = ""


@dataclass(frozen=True)
class Node:
    """A node of the graph: a recorded step (`MulBackward0`), or `AccumulateGrad`, which adds to a leaf's `.grad`.

    `operands` are the node and output that each operand came from, or None if it does not require grad. `passage` is
    None if no gradient reached the node; only leaves have `added`.
    """

    kind: str
    operands: tuple[ResultPlace | None, ...]
    results: tuple[NodeOutput, ...]
    saved: tuple[SavedForBackward, ...] = ()
    passage: NodeGradients | None = None
    added: LeafGradChange | None = None

    @property
    def operation(self) -> str:
        """Return the name of the operation, without the `Backward0` that torch appends."""
        return self.kind.rstrip("0123456789").removesuffix("Backward")

    @property
    def is_leaf(self) -> bool:
        """Return whether the node stands for a leaf."""
        return self.kind == LEAF


LEAF = "AccumulateGrad"


@dataclass(frozen=True)
class Graph:
    """The nodes of a graph in forward order, and the backward pass through them.

    A node is identified by its position in `nodes`. `backward` is the order in which the engine visits the nodes,
    beginning at `root`. `error` is the message that torch's backward would raise now; `note` is the explorer's own
    remark. A graph without nodes records nothing, or is too large to be shown.
    """

    nodes: tuple[Node, ...] = ()
    backward: tuple[int, ...] = ()
    root: ResultPlace = (0, 0)
    modules: FoldableModules = field(default_factory=lambda: FoldableModules({}, {}))
    error: str = ""
    note: str = ""

    @cached_property
    def links(self) -> tuple[tuple[ResultPlace | None, ...], ...]:
        """Return the operands of each node."""
        return tuple(node.operands for node in self.nodes)

    @cached_property
    def used(self) -> Mapping[int, int]:
        """Map each node to the first of its outputs that another node consumes."""
        first: dict[int, int] = {}
        for at, slot in (place for places in self.links for place in places if place):
            first[at] = min(first.get(at, slot), slot)
        return first


def read_graph(result: Tensor, names: NamedTensors | None = None, gradient: Tensor | None = None) -> Graph:
    """Read the graph behind a tensor, and record what `result.backward(gradient)` would do now.

    No `.grad` and no tensor changes, but the reader's hooks run once.

    `names` are the reader's names for tensors; names with dots, as in `named_parameters()`, assign steps to modules.
    """
    names = dict(names or {})
    if not result.requires_grad:
        return Graph(error=_refusal(result, gradient), note=_NO_GRAPH)
    try:
        traced = trace_autograd_graph(result)
    except TooManyNodes as error:
        return Graph(note=str(error))
    with torch.no_grad():
        nodes = _with_saved(traced, [_bare(node) for node in traced.nodes], names)
        nodes = _with_held(traced, nodes, {**names, **_result_name(result, names)})
    walk = record_backward_pass(traced, result, gradient)
    passed = [replace(node, passage=walk.passages.get(at), added=walk.added.get(at)) for at, node in enumerate(nodes)]
    return Graph(tuple(passed), traced.backward, traced.root, _modules(traced, nodes, names), walk.error, _note(walk))


_NO_GRAPH = "This tensor does not come from a graph."


def _note(walk: BackwardPass) -> str:
    hooked = any(passage.hooked for passage in walk.passages.values())
    return "A hook of yours changes a gradient on its way." if hooked else ""


def _refusal(result: Tensor, gradient: Tensor | None) -> str:
    try:
        torch.autograd.grad(result, [torch.zeros((), requires_grad=True)], gradient, allow_unused=True)
    except RuntimeError as error:
        return f"RuntimeError: {error}"
    raise AssertionError("torch goes back from a tensor that does not require grad")


def _result_name(result: Tensor, names: NamedTensors) -> dict[str, Tensor]:
    return {} if any(each is result for each in names.values()) else {"your tensor": result}


def _bare(node: Any) -> Node:
    if is_leaf(node):
        return Node(LEAF, (), (NodeOutput(tuple(node.variable.shape), short_dtype_name(node.variable.dtype)),))
    results = tuple(NodeOutput(tuple(each.shape), short_dtype_name(each.dtype)) for each in node._input_metadata)
    return Node(node.name().split("::")[-1], (), results)


def _with_saved(traced: OrderedGraph, nodes: list[Node], names: NamedTensors) -> list[Node]:
    """Return the nodes with their saved tensors; a saved tensor also reveals the values of the output it is."""
    known: dict[ResultPlace, tuple[TensorDescription, str]] = {}
    saved: list[tuple[SavedForBackward, ...]] = []
    labels = {_memory(tensor): name for name, tensor in reversed(list(names.items()))}
    for at, node in enumerate(traced.nodes):
        saved.append(())
        for each, tensor in list_saved_for_backward(node):
            of = None if tensor is None else traced.place(tensor)
            if isinstance(of, tuple) and each.values is not None:
                known.setdefault(of, (each.values, f"saved by step {at + 1} as {each.name}"))
            label = labels.get(_memory(tensor)) if tensor is not None and of is None else None
            saved[at] += (replace(each, of=of or label),)
    nodes = [replace(node, operands=traced.links[at], saved=saved[at]) for at, node in enumerate(nodes)]
    for (at, slot), (values, source) in known.items():
        nodes[at] = _valued(nodes[at], slot, values, source)
    return nodes


def _with_held(traced: OrderedGraph, nodes: list[Node], names: NamedTensors) -> list[Node]:
    """Return the nodes with the reader's names for their outputs, and the values of leaves and named tensors."""
    for at, leaf in traced.leaves.items():
        nodes[at] = _valued(nodes[at], 0, describe_tensor_values(leaf), "the leaf itself")
    called: dict[ResultPlace, list[str]] = {}
    for name, tensor in names.items():
        place = traced.place(tensor)
        if place is None:
            continue
        called.setdefault(place, []).append(name)
        at, slot = place
        nodes[at] = _with(nodes[at], slot, replace(nodes[at].results[slot], name=" = ".join(called[place])))
        if nodes[at].results[slot].values is None:
            nodes[at] = _valued(nodes[at], slot, describe_tensor_values(tensor), f"what {name} holds now")
    return nodes


def _valued(node: Node, slot: int, values: TensorDescription, source: str) -> Node:
    return _with(node, slot, replace(node.results[slot], values=values, source=source))


def _with(node: Node, slot: int, result: NodeOutput) -> Node:
    return replace(node, results=(*node.results[:slot], result, *node.results[slot + 1 :]))


def _memory(tensor: Tensor) -> tuple[Any, ...]:
    """Return a key that differs for tensors that view different memory, or the same memory in another way."""
    return id(tensor) if tensor.is_meta else tensor.data_ptr(), tensor.shape, tensor.stride(), tensor.dtype


def _modules(traced: OrderedGraph, nodes: list[Node], names: NamedTensors) -> FoldableModules:
    owners: dict[int, set[str]] = {}
    for at, leaf in traced.leaves.items():
        paths = {name.rpartition(".")[0] for name in _names_of(leaf, names) if "." in name}
        if paths:
            owners[at] = paths
    return find_foldable_modules(traced.links, [node.operation for node in nodes], owners)


def _names_of(tensor: Tensor, names: NamedTensors) -> Iterator[str]:
    return (name for name, each in names.items() if each is tensor)
