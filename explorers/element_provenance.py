"""Compute which operand elements each element of a result was computed from, and its position in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

import torch
from torch import Tensor

from explorers.apply_operation import MOST_VALUES, Exploration
from explorers.explorer_markup import short_number_text
from explorers.shape_alignment import ReadArguments
from explorers.shape_operation_catalog import OPERATIONS, Arguments

Index = tuple[int, ...]
_SPELLED = 4  # a sum with more operands is shortened


@dataclass(frozen=True)
class TensorElements:
    """A tensor's numbers as text, in the order of their indices, and their places in memory.

    `places` has the position of each number in a memory of `memory` numbers; `memory` is 0 if that exceeds MOST_VALUES.
    `owner` names the tensor that the memory belongs to.
    """

    name: str
    shape: Index
    numbers: tuple[str, ...]
    places: tuple[int, ...]
    memory: int
    owner: str

    @property
    def indices(self) -> Iterator[Index]:
        """Return the index of each number."""
        return product(*map(range, self.shape))


@dataclass(frozen=True)
class OperationProvenance:
    """An operation number by number.

    `made[i][k]` are the places in operand k from which number i of the result was made. `result` is None if torch
    refuses the operation.
    """

    inputs: tuple[TensorElements, ...]
    result: TensorElements | None
    made: tuple[tuple[tuple[int, ...], ...], ...]
    operation: str

    def spelled(self, cell: int) -> str:
        """Return how a number of the result was computed: `base[0, 1] + row[1] = 1 + 10`."""
        assert self.result is not None
        used = [
            [operand.numbers[at] for at in cells] for operand, cells in zip(self.inputs, self.made[cell], strict=True)
        ]
        if self.operation in _SPELLING:
            return _SPELLING[self.operation](used)
        (source,), (operand,) = self.made[cell], self.inputs
        return " and ".join(cell_name(operand, at) for at in source)


def cell_name(cells: TensorElements, at: int) -> str:
    """Return the name of a number: `base[0, 1]`, or the tensor's name if it holds a single number."""
    index = list(cells.indices)[at]
    return f"{cells.name}[{', '.join(map(str, index))}]" if index else cells.name


def trace_elements(
    found: Exploration,
    operation: str,
    tensors: Sequence[Tensor],
    arguments: Arguments,
    known: Mapping[str, Tensor] | None = None,
) -> OperationProvenance | None:
    """Return an exploration cell by cell; None if a tensor is empty, or too large to be written out."""
    shown = [*found.inputs, *([found.result] if found.result else [])]
    if found.unread or any(each.values is None or not prod(each.shape) for each in shown) or _is_cut(found):
        return None
    values = [tensor.detach() for tensor in tensors]
    inputs = tuple(_cells(each.name, value, each.name) for each, value in zip(found.inputs, values, strict=True))
    if found.result is None:
        return OperationProvenance(inputs, None, (), operation)
    chosen = OPERATIONS[operation]
    named = {each.name: tensor for each, tensor in zip(found.inputs, tensors, strict=True)} | dict(known or {})
    read = chosen.read({**chosen.starts(tensors[0].dim()), **arguments}, named)
    result = _cells("result", chosen.apply(values, read), (*found.shares, "result")[0])
    return OperationProvenance(inputs, result, _made(operation, values, read), operation)


def _is_cut(found: Exploration) -> bool:
    """Return whether the result has a shape, but its numbers were not computed."""
    return found.shape is not None and found.result is None


def _cells(name: str, tensor: Tensor, owner: str) -> TensorElements:
    shape, stride = tuple(tensor.shape), tensor.stride()
    start = int(tensor.storage_offset())
    places = (
        start + sum(i * int(step) for i, step in zip(index, stride, strict=True))
        for index in product(*map(range, shape))
    )
    length = tensor.untyped_storage().nbytes() // tensor.element_size()
    numbers = tuple(short_number_text(each) for each in tensor.flatten().tolist())
    return TensorElements(name, shape, numbers, tuple(places), length if length <= MOST_VALUES else 0, owner)


def _made(operation: str, tensors: Sequence[Tensor], given: ReadArguments) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return, for each number of the result and each operand, the cells that influence it.

    A cell influences a number if the derivative of the operation is not 0, at random stand-in values.
    """
    reached = OPERATIONS["sum" if operation == "amax" else operation]  # a maximum compares all
    chance = torch.Generator().manual_seed(0)
    stand_ins = [1 + torch.rand(each.shape, dtype=torch.float64, generator=chance) for each in tensors]
    slopes = torch.autograd.functional.jacobian(lambda *given_: reached.apply(given_, given), tuple(stand_ins))
    flat = [slope.reshape(-1, stand_in.numel()) for slope, stand_in in zip(slopes, stand_ins, strict=True)]
    return tuple(
        tuple(tuple(row[cell].nonzero().flatten().tolist()) for row in flat) for cell in range(flat[0].shape[0])
    )


def _some(parts: Sequence[str], between: str) -> str:
    """Join the parts; of many, only the first few and the last one."""
    told = [*parts[: _SPELLED - 1], "…", parts[-1]] if len(parts) > _SPELLED + 1 else parts
    return between.join(told)


_SPELLING: dict[str, Callable[[list[list[str]]], str]] = {
    "add": lambda used: f"{used[0][0]} + {used[1][0]}",
    "matmul": lambda used: _some([f"{a} × {b}" for a, b in zip(*used, strict=True)], " + "),
    "sum": lambda used: _some(used[0], " + "),
    "mean": lambda used: f"({_some(used[0], ' + ')}) / {len(used[0])}",
    "amax": lambda used: f"the largest of {_some(used[0], ', ')}",
}
