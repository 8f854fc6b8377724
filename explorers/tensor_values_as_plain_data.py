"""A tensor's numbers as plain data: all of them if there are few, else their range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from explorers.apply_operation import MOST_VALUES

MOST_RANGED = 10**7  # in a larger tensor, finding the range would take too long


@dataclass(frozen=True)
class TensorDescription:
    """The description of a tensor: `numbers` is a nested list, or None for more than MOST_VALUES numbers.

    Then `least` and `greatest` describe it; these are None if the numbers have no order (complex), if the tensor is
    sparse or has none (on the meta device), or if it is larger than MOST_RANGED.
    """

    shape: tuple[int, ...]
    dtype: str
    numbers: Any = None
    least: float | None = None
    greatest: float | None = None


def describe_tensor_values(tensor: Tensor) -> TensorDescription:
    """Return the numbers of a tensor as they are now, without keeping the tensor."""
    tensor = tensor.detach()
    bare = TensorDescription(tuple(tensor.shape), short_dtype_name(tensor.dtype))
    if tensor.is_meta or tensor.numel() > MOST_RANGED:
        return bare
    if tensor.numel() <= MOST_VALUES:
        return TensorDescription(
            bare.shape, bare.dtype, tensor.to_dense().tolist() if _is_sparse(tensor) else tensor.tolist()
        )
    if tensor.is_complex() or _is_sparse(tensor):
        return bare
    return TensorDescription(bare.shape, bare.dtype, None, tensor.min().item(), tensor.max().item())


def short_dtype_name(dtype: torch.dtype) -> str:
    """Return a dtype's name without `torch.`."""
    return str(dtype).removeprefix("torch.")


def _is_sparse(tensor: Tensor) -> bool:
    return tensor.layout != torch.strided
