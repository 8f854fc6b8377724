"""Observations: plain data in which a probe records a call of an answer; encoding to bytes and decoding.

An observation is a dict of facets ("returned", "raised", "inputs", ...) whose values are plain: None, bool, int, float,
str, list, tuple, dict, dtypes, devices, sizes, `TensorSnapshot`, `ExceptionSnapshot` and `OtherValue`. It travels as
JSON plus safetensors, never as pickle: reading it can build data and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load

from autograder.errors import DamagedData, TooMuchText
from autograder.exercises.write_safetensors import NamedTensorBytes, safetensors_bytes

MAX_ELEMENTS = 1_000_000  # of a tensor; the values of larger ones are not recorded
MOST_DIMS = 64  # of a tensor; torch itself permutes no more
_MOST_ALIKE = 100  # keys of one dict that may share their hash with another key
# A table, and not `getattr(torch, name)`: for some names that would import large parts of torch.
_DTYPES = {name: kind for name, kind in vars(torch).items() if isinstance(kind, torch.dtype)}
Plain = Any
Observation = dict[str, Plain]


@dataclass(frozen=True, eq=False)
class TensorSnapshot:
    """A snapshot of a tensor: values, shape, dtype name, device type and `requires_grad`.

    `values` is None if the tensor is too large or on the meta device. The values of a complex tensor are pairs of real
    numbers, in an additional last dim of size 2.
    """

    values: torch.Tensor | None
    shape: tuple[int, ...]
    dtype: str
    device: str
    requires_grad: bool = False

    @cached_property
    def ends(self) -> tuple[float, ...]:
        """Return the first and the last number of a floating point tensor, else ().

        Most tensors that differ do so there, so that comparing these two first is fast.
        """
        if self.values is None or not self.values.is_floating_point() or not self.values.numel():
            return ()
        flat = self.values.reshape(-1)
        return float(flat[0]), float(flat[-1])


@dataclass(frozen=True)
class ExceptionSnapshot:
    """An exception: its type's name, its message, and the line of the student's code that raised it."""

    type: str
    message: str
    line: str = ""


@dataclass(frozen=True)
class OtherValue:
    """A value that is not plain data: the name of its type and a short text, such as its repr."""

    type: str
    text: str


# --- to bytes and back


def encode_as_json_and_tensors(value: Plain) -> tuple[Any, bytes]:
    """Encode plain data as two parts: a value that JSON can hold, and the tensors as safetensors."""
    kept = _Kept()
    node = _encode(value, kept)
    return node, safetensors_bytes(kept.tensors)


def encode_plain_data(value: Plain) -> bytes:
    """Encode plain data as bytes: the length of the JSON in 8 bytes, the JSON, then safetensors."""
    node, tensors = encode_as_json_and_tensors(value)
    text = json.dumps(node, separators=(",", ":")).encode()
    return len(text).to_bytes(8, "big") + text + tensors


def decode_plain_data(data: bytes, text_limit: int | None = None) -> Plain:
    """Decode the bytes of `encode_plain_data`; raise DamagedData for anything else.

    With `text_limit`, raise TooMuchText if the JSON, that of safetensors included, has more bytes.
    """
    size = int.from_bytes(data[:8], "big")
    if size > len(data) - 8:
        raise DamagedData("expected an encoded observation, found bytes that are none (they end too soon)")
    head = int.from_bytes(data[8 + size : 16 + size], "little")  # of the tensors: JSON as well
    if text_limit is not None and size + head > text_limit:
        raise TooMuchText(f"expected at most {text_limit} bytes of text in an observation, found {size + head}")
    try:
        node = json.loads(data[8 : 8 + size])
    except (ValueError, RecursionError) as error:
        raise DamagedData(f"expected an encoded observation, found bytes that are none ({error})") from error
    return decode_json_and_tensors(node, data[8 + size :], None if text_limit is None else _OFTEN * len(data))


def decode_json_and_tensors(node: Any, tensors: bytes, most: int | None = None) -> Plain:
    """Decode the two parts of `encode_as_json_and_tensors`; raise DamagedData for anything else.

    Raise TooMuchText if the tensors, each counted as often as it occurs, have more than `most` bytes.
    """
    try:
        return _decode(node, load(tensors) if most is None else _Counted(load(tensors), most))
    except _NO_OBSERVATION as error:
        raise DamagedData(f"expected an encoded observation, found bytes that are none ({error})") from error


_NO_OBSERVATION = (ValueError, LookupError, TypeError, ArithmeticError, RuntimeError, AttributeError, SafetensorError)
_OFTEN = 8  # how often each byte of the tensors may occur in an observation, on average


class _Counted(dict[str, torch.Tensor]):
    """The tensors of untrusted data, with a limit on the bytes that are looked up.

    Such data may refer to one large tensor thousands of times, and later steps would process each reference.
    """

    def __init__(self, tensors: dict[str, torch.Tensor], most: int) -> None:
        super().__init__(tensors)
        self._left = most

    def __getitem__(self, key: str) -> torch.Tensor:
        found = super().__getitem__(key)
        self._left -= found.nbytes
        if self._left < 0:
            raise TooMuchText("expected each tensor to occur a few times in an observation, found one very often")
        return found


class _Kept:
    """Collect the tensors of an observation during encoding: each distinct one is stored once, under a key."""

    def __init__(self) -> None:
        self._known: dict[tuple[torch.dtype, torch.Size, bytes], NamedTensorBytes] = {}

    @property
    def tensors(self) -> tuple[NamedTensorBytes, ...]:
        """Return the collected tensors, in the order of their keys."""
        return tuple(self._known.values())

    def key(self, tensor: torch.Tensor, order: list[int]) -> str:
        """Store a tensor with its dims in the given order, from the largest stride on, and return its key.

        Tensors of the same dtype and shape whose bytes are equal share a key.
        """
        plain = tensor.detach()
        if not plain.is_contiguous():
            plain = plain.permute(order).contiguous()
        bits = _row(plain).view(torch.uint8).numpy().tobytes()
        alike = (plain.dtype, plain.shape, bits)
        if alike not in self._known:
            self._known[alike] = NamedTensorBytes(f"{len(self._known):05d}", plain, bits)
        return self._known[alike].name


def _encode(value: Plain, kept: _Kept) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, torch.Tensor):
        order = _stride_order(value)
        return {"t": "tensor", "k": kept.key(value, order), "order": order}
    if isinstance(value, TensorSnapshot):
        key = None if value.values is None else kept.key(value.values, _stride_order(value.values))
        return {
            "t": "seen",
            "k": key,
            "v": [list(value.shape), value.dtype, value.device, value.requires_grad],
        }
    for tag, kind, pack, _ in _TAGGED:
        if type(value) is kind:
            return {"t": tag, "v": pack(value, kept)}
    raise TypeError(f"an observation holds plain data; found {type(value).__name__}")


def _decode(node: Any, tensors: dict[str, torch.Tensor]) -> Plain:
    if not isinstance(node, dict):
        if isinstance(node, list):
            raise ValueError("an untagged list")
        return replace_surrogates(node) if isinstance(node, str) else node
    if node["t"] == "tensor":
        return _with_stride_order(tensors[node["k"]], node["order"])
    if node["t"] == "seen":
        return _seen(None if node["k"] is None else tensors[node["k"]], *node["v"])
    for tag, _, _, unpack in _TAGGED:
        if node["t"] == tag:
            return unpack(node["v"], tensors)
    raise ValueError(f"unknown tag {node['t']!r}")


def _seen(values: torch.Tensor | None, shape: list[int], dtype: str, device: str, tracked: bool) -> TensorSnapshot:
    """Return a tensor snapshot from decoded fields; raise ValueError if they contradict each other.

    The fields may come from a student's process.
    """
    kind, size = _dtype_named(dtype), _size(shape)
    if values is not None:
        form = (size, kind) if not kind.is_complex else (torch.Size([*size, 2]), torch.float64)
        if (values.shape, values.dtype) != form:
            raise ValueError(f"expected values of shape {form[0]} and dtype {form[1]}, found others")
        if values.numel() > 2 * MAX_ELEMENTS:
            raise ValueError(f"expected no more than {MAX_ELEMENTS} numbers of a tensor, found {size}")
    return TensorSnapshot(values, tuple(size), dtype, _text(device), bool(tracked))


def _row(tensor: torch.Tensor) -> torch.Tensor:
    """Return a contiguous tensor as one row with stride 1.

    `reshape(-1)` would keep the arbitrary stride of a single element, and then `view(torch.uint8)` fails.
    """
    return tensor.as_strided((tensor.numel(),), (1,))


def _stride_order(tensor: torch.Tensor) -> list[int]:
    """Return the dims from the largest stride to the smallest: [0, 1, ...] for a contiguous tensor."""
    if tensor.is_contiguous():
        return list(range(tensor.dim()))
    return sorted(range(tensor.dim()), key=tensor.stride, reverse=True)


def _with_stride_order(stored: torch.Tensor, order: Any) -> torch.Tensor:
    is_order = isinstance(order, list) and len(order) <= MOST_DIMS and all(type(dim) is int for dim in order)
    if not is_order or sorted(order) != list(range(stored.dim())):
        raise ValueError(f"expected the dims of a tensor in some order, found {order!r:.80}")
    return stored.permute([order.index(dim) for dim in range(len(order))])


def _items(value: Any, kept: _Kept) -> list[Any]:
    return [_encode(item, kept) for item in value]


def _dtype_named(name: str) -> torch.dtype:
    if _text(name) not in _DTYPES:
        raise ValueError(f"{name!r:.80} is no dtype")
    return _DTYPES[name]


def _size(dims: Any) -> torch.Size:
    if len(dims) > MOST_DIMS:
        raise ValueError(f"expected no more than {MOST_DIMS} dims, found {len(dims)}")
    return torch.Size(dims)


def _dict(pairs: list[Any], tensors: dict[str, torch.Tensor]) -> dict[Any, Any]:
    """Decode a dict from its pairs; raise ValueError if too many keys share a hash.

    An attacker can choose numbers with equal hashes, so that Python compares each key with every other one.
    """
    read = [(_decode(key, tensors), item) for key, item in pairs]
    hashes = {hash(key) for key, _ in read}
    if len(read) - len(hashes) > _MOST_ALIKE:
        raise ValueError(f"expected keys that differ, found {len(read)} that give {len(hashes)} hashes")
    return {key: _decode(item, tensors) for key, item in read}


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"expected a text, found {value!r}")
    return replace_surrogates(value)


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which JSON can hold and UTF-8 cannot, by question marks."""
    return text.encode("utf-8", "replace").decode()


def dtype_without_module(dtype: torch.dtype) -> str:
    """Return a dtype's name without its module: "float32" for `torch.float32`."""
    return str(dtype).removeprefix("torch.")


def _exception(fields: list[object]) -> ExceptionSnapshot:
    return ExceptionSnapshot(*map(_text, fields))


_Pack = Callable[[Any, _Kept], Any]
_Unpack = Callable[[Any, dict[str, torch.Tensor]], Any]
_TAGGED: tuple[tuple[str, type, _Pack, _Unpack], ...] = (
    ("list", list, _items, lambda v, t: [_decode(item, t) for item in v]),
    ("tuple", tuple, _items, lambda v, t: tuple(_decode(item, t) for item in v)),
    ("dict", dict, lambda v, kept: [[_encode(key, kept), _encode(item, kept)] for key, item in v.items()], _dict),
    ("size", torch.Size, lambda v, t: list(v), lambda v, t: _size(v)),
    ("dtype", torch.dtype, lambda v, t: dtype_without_module(v), lambda v, t: _dtype_named(v)),
    ("device", torch.device, lambda v, t: str(v), lambda v, t: torch.device(v)),
    ("raised", ExceptionSnapshot, lambda v, t: [v.type, v.message, v.line], lambda v, t: _exception(v)),
    ("foreign", OtherValue, lambda v, t: [v.type, v.text], lambda v, t: OtherValue(*map(_text, v))),
)
