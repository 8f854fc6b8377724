"""Write tensors in the safetensors format, byte for byte as `safetensors.torch.save` does.

The library's own function is slow for observations, which have many small tensors.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from safetensors.torch import save

# The usual dtypes in the order in which the format sorts them: by the size of a number, largest first.
_KINDS = {
    torch.int64: "I64",
    torch.float64: "F64",
    torch.float32: "F32",
    torch.int32: "I32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint8: "U8",
    torch.bool: "BOOL",
}
_RANK = {dtype: rank for rank, dtype in enumerate(_KINDS)}
_ALIGNED = 8  # bytes: the header is padded with spaces to a multiple of this


@dataclass(frozen=True)
class NamedTensorBytes:
    """A contiguous tensor with its name and the bytes of its numbers."""

    name: str
    tensor: torch.Tensor
    data: bytes


def safetensors_bytes(tensors: Sequence[NamedTensorBytes]) -> bytes:
    """Return the bytes that `safetensors.torch.save` writes for these tensors."""
    if sys.byteorder != "little" or not all(each.tensor.dtype in _KINDS for each in tensors):
        return save({each.name: each.tensor.clone() for each in tensors})
    head, place = {}, 0
    ordered = sorted(tensors, key=lambda each: (_RANK[each.tensor.dtype], each.name))
    for each in ordered:
        kind, shape = _KINDS[each.tensor.dtype], list(each.tensor.shape)
        head[each.name] = {"dtype": kind, "shape": shape, "data_offsets": [place, place + len(each.data)]}
        place += len(each.data)
    text = json.dumps(head, separators=(",", ":")).encode()
    text += b" " * (-len(text) % _ALIGNED)
    return b"".join([len(text).to_bytes(8, "little"), text, *(each.data for each in ordered)])
