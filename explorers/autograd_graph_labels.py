"""The labels of the autograd stepper: names of steps and modules, numbers, descriptions of backward rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from explorers.autograd_graph_data import Graph, Node
from explorers.explorer_markup import short_number_text
from explorers.group_graph_steps_by_module import GraphRow
from explorers.tensor_values_as_plain_data import TensorDescription
from explorers.traverse_autograd_graph import ResultPlace

FEW = 4  # a tensor with at most this many numbers is written out in a line

# For frequent operations, what the backward rule does with the incoming gradient.
RULES = {
    "Add": "A sum passes on what arrives, to each operand.",
    "Sub": "A difference passes on what arrives; for what was taken away, with the sign turned.",
    "Mul": "A product sends to each operand what arrives, times the other one.",
    "Div": "A quotient divides what arrives; this is what goes to the operand above the line.",
    "Neg": "The sign is turned.",
    "Pow": "A power n sends on what arrives, times n, times the operand to the power n - 1.",
    "Exp": "The exponential is its own derivative: what arrives, times the result.",
    "Log": "The logarithm sends on what arrives, divided by the operand.",
    "Sqrt": "The root sends on what arrives, divided by twice the result.",
    "Tanh": "What arrives, times 1 - result ** 2.",
    "Sigmoid": "What arrives, times result * (1 - result).",
    "Relu": "What arrives goes on where the result is above 0; elsewhere, 0.",
    "Sin": "What arrives, times the cosine of the operand.",
    "Cos": "What arrives, times minus the sine of the operand.",
    "Sum": "Each number that was summed gets all of what arrives.",
    "Mean": "Each number gets what arrives, divided by how many there were.",
    "Mm": "Matrix product: what arrives, times the other matrix turned over.",
    "Addmm": "A matrix product and a sum: each factor gets what arrives, times the other one turned over; "
    "what was added gets what arrives.",
    "T": "What arrives is turned over again.",
    "View": "What arrives, in the old shape.",
    "Expand": "A broadcast was written out: what arrives is summed over the stretched axes.",
    "AccumulateGrad": "The end of the walk: what arrives is added to the leaf's .grad.",
}


def row_label(graph: Graph, row: GraphRow) -> str:
    """Return the label of a row: a module, a leaf, or a step with the reader's name for its result."""
    if row.module:
        return f"module {row.module}"
    at = row.nodes[0]
    node = graph.nodes[at]
    names = [result.name for result in node.results if result.name]
    if node.is_leaf:
        return names[0] if names else f"leaf without a name, shape {node.results[0].shape}"
    return f"{node.operation} → {', '.join(names)}" if names else node.operation


def node_numbers(row: GraphRow) -> str:
    """Return the numbers of a row's nodes, counted from 1 along the forward pass."""
    first, last = row.nodes[0] + 1, row.nodes[-1] + 1
    if first == last:
        return str(first)
    return f"{first} to {last}" if last - first < len(row.nodes) else f"{len(row.nodes)} steps,"


def operand_origin(graph: Graph, place: ResultPlace | None) -> str:
    """Return in words where an operand came from."""
    if place is None:
        return "needs no gradient"
    at, slot = place
    node = graph.nodes[at]
    name = node.results[slot].name
    if node.is_leaf:
        return name or f"leaf {at + 1}"
    which = f", result {slot + 1}" if len(node.results) > 1 else ""
    return f"{name or node.operation} (step {at + 1}{which})"


def tensor_in_brief(values: TensorDescription | None, nothing: str = "not kept") -> str:
    """Return a tensor in a few words: its numbers if there are few, else its shape and its range."""
    if values is None:
        return nothing
    flat = _flat(values.numbers)
    if values.numbers is not None and len(flat) <= FEW:
        return _line(values.numbers)
    if flat and not any(isinstance(each, complex) for each in flat):
        return _range(values.shape, min(flat), max(flat))
    if values.least is None or values.greatest is None:
        return f"{values.shape}"
    return _range(values.shape, values.least, values.greatest)


def _range(shape: tuple[int, ...], least: Any, greatest: Any) -> str:
    if least == greatest:
        return f"{shape}, all {short_number_text(least)}"
    return f"{shape}, {short_number_text(least)} to {short_number_text(greatest)}"


def _flat(numbers: Any) -> list[Any]:
    if isinstance(numbers, list):
        return [each for part in numbers for each in _flat(part)]
    return [] if numbers is None else [numbers]


def _line(numbers: Any) -> str:
    return f"[{', '.join(map(_line, numbers))}]" if isinstance(numbers, list) else short_number_text(numbers)


def outgoing_gradients(node: Node) -> Iterator[tuple[ResultPlace, TensorDescription]]:
    """Yield the gradients that a node sends on, each with its destination."""
    sent = node.passage.sent if node.passage else ()
    return ((place, each) for place, each in zip(node.operands, sent, strict=False) if place and each)


def incoming_gradients_text(node: Node) -> str:
    """Return in a few words the gradients that arrive at a node's results."""
    if node.passage is None:
        return "none"
    return "; ".join(tensor_in_brief(values, "none") for values in node.passage.arrived)
