"""Apply one operation to real tensors, and return its shapes, result and error as plain data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from explorers.parse_typed_arguments import MOST_COMPUTED, ArgumentError
from explorers.shape_alignment import AlignedDimension, ReadArguments
from explorers.shape_operation_catalog import OPERATIONS, Arguments, Operation

MOST_VALUES = 60  # a tensor with more numbers is not written out
OPERATION_ERRORS = (RuntimeError, IndexError, TypeError, ValueError)  # torch's errors for an invalid operation


@dataclass(frozen=True)
class TensorData:
    """A tensor as plain data: `values` is a nested list, or None if there are too many."""

    name: str
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: str
    values: Any = None


@dataclass(frozen=True)
class Exploration:
    """One operation: inputs and rule, the shape computed without numbers, and the result or the error.

    `shares` names the inputs whose memory the result views; `error` is torch's own message, `note` is the explorer's.
    """

    code: str
    inputs: tuple[TensorData, ...]
    rule: str
    rows: tuple[AlignedDimension, ...] = ()
    shape: tuple[int, ...] | None = None
    result: TensorData | None = None
    shares: tuple[str, ...] = ()
    error: str = ""
    note: str = ""

    @property
    def unread(self) -> bool:
        """Return whether an argument could not be read, so that torch was not called; `note` says what was expected."""
        return self.shape is None and not self.error


def explore_operation(
    operation: str,
    tensors: Sequence[tuple[str, Tensor]],
    arguments: Arguments | None = None,
    known: Mapping[str, Tensor] | None = None,
) -> Exploration:
    """Apply an operation to named tensors; `arguments` are texts as the reader types them.

    The same tensor may occur twice. An index may name these tensors, and the others in `known`.

    Raises ValueError for an operation that is not among OPERATIONS, or for the wrong number of tensors.
    """
    chosen = _operation(operation, len(tensors))
    given = {**chosen.starts(tensors[0][1].dim()), **(arguments or {})}
    names, values = [name for name, _ in tensors], [tensor.detach() for _, tensor in tensors]
    inputs = tuple(_shown(name, tensor) for name, tensor in zip(names, values, strict=True))
    found = Exploration(chosen.code(names, given), inputs, chosen.rule)
    try:
        read = chosen.read(given, {**dict(tensors), **(known or {})})
    except ArgumentError as error:
        return replace(found, note=str(error))
    except OPERATION_ERRORS as error:  # parsing a mask computes it, which may fail
        return replace(found, error=_told(error))
    return _found(found, chosen, values, read)


def _found(found: Exploration, chosen: Operation, tensors: Sequence[Tensor], read: ReadArguments) -> Exploration:
    """Return an exploration whose arguments have been read, with torch's result."""
    planned, rows = _planned(chosen, tensors, read), _rows(chosen, tensors, read)
    if planned is not None and planned.numel() > MOST_COMPUTED:
        return replace(found, rows=rows, shape=tuple(planned.shape), note=_TOO_LARGE)
    try:
        result = chosen.apply(tensors, read)
    except OPERATION_ERRORS as error:
        # If all sizes fit, torch refuses for another reason; showing them would suggest a result.
        return replace(found, rows=() if all(row.fits for row in rows) else rows, error=_told(error))
    names = [each.name for each in found.inputs]
    shares = tuple(dict.fromkeys(n for n, tensor in zip(names, tensors, strict=True) if _share(tensor, result)))
    shown = _shown("result", result)
    return replace(found, rows=rows, shape=tuple(result.shape), result=shown, shares=shares)


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


_TOO_LARGE = f"The shape is known without arithmetic; more than {MOST_COMPUTED:,} numbers are not computed here."


def _operation(name: str, count: int) -> Operation:
    if name not in OPERATIONS:
        raise ValueError(f"expected one of {', '.join(OPERATIONS)}, found {name!r}.")
    chosen = OPERATIONS[name]
    if count != chosen.tensors:
        raise ValueError(f"{name} takes {chosen.tensors} tensor{'s' if chosen.tensors > 1 else ''}, found {count}.")
    return chosen


def _planned(operation: Operation, tensors: Sequence[Tensor], values: ReadArguments) -> Tensor | None:
    """Return the result on the meta device (shape and strides, no numbers); None if that fails."""
    bare = [torch.empty_strided(each.shape, each.stride(), dtype=each.dtype, device="meta") for each in tensors]
    try:
        return operation.apply(bare, values)
    except OPERATION_ERRORS:  # the reader sees the error of the real tensors
        return None


def _rows(operation: Operation, tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    try:
        return operation.rows(tensors, values)
    except (*OPERATION_ERRORS, ZeroDivisionError):  # the arguments fit no rule, and torch's own error says why
        return ()


def _share(tensor: Tensor, result: Tensor) -> bool:
    """Return whether both view one block of memory; empty blocks all have the address 0, and share nothing."""
    address = tensor.untyped_storage().data_ptr()
    return address != 0 and address == result.untyped_storage().data_ptr()


def _shown(name: str, tensor: Tensor) -> TensorData:
    values = tensor.tolist() if tensor.numel() <= MOST_VALUES else None
    return TensorData(name, tuple(tensor.shape), tensor.stride(), str(tensor.dtype).removeprefix("torch."), values)
