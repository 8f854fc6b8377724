"""Tensors in safetensors' format, as its own `save` writes them, to the byte: that takes its time for each of many."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from safetensors.torch import save

# What most tensors hold, in the order in which the format has them: by the size of a number, largest first.
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
_ALIGNED = 8  # bytes: the head is filled up with spaces


@dataclass(frozen=True)
class Stored:
    """A contiguous tensor under its name, and the bytes of its numbers."""

    name: str
    tensor: torch.Tensor
    data: bytes


def saved(tensors: Sequence[Stored]) -> bytes:
    """What `safetensors.torch.save` gives for them."""
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
