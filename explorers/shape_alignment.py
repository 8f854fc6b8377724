"""The alignment of tensors' sizes in an operation: for each dimension the sizes, the result, and the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from torch import Tensor

ReadArguments = Mapping[str, Any]  # an operation's arguments other than tensors, as values


@dataclass(frozen=True)
class AlignedDimension:
    """One dimension of the result: the sizes that are combined (None: missing), the resulting size, and the reason."""

    sizes: tuple[int | None, ...]
    result: int | None
    why: str
    fits: bool = True


def align_broadcast(tensors: Sequence[Tensor], _: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Align two shapes at the right."""
    return _broadcast(*(tuple(tensor.shape) for tensor in tensors))


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[AlignedDimension, ...]:
    pairs = list(zip_longest(reversed(first), reversed(second)))
    return tuple(_meeting(pair) for pair in reversed(pairs))


def _meeting(sizes: tuple[int | None, ...]) -> AlignedDimension:
    """Combine two sizes by the rule of broadcasting."""
    there = [size for size in sizes if size is not None]
    if len(there) < len(sizes):
        return AlignedDimension(sizes, there[0], "missing: taken as 1" if there[0] == 1 else "missing: stretched")
    if len(set(there)) == 1:
        return AlignedDimension(sizes, there[0], "equal")
    if 1 in there:
        other = next(size for size in there if size != 1)
        return AlignedDimension(sizes, other, "1 is stretched" if other else "1 meets 0: nothing is left")
    return AlignedDimension(sizes, None, "neither equal nor 1", fits=False)


def align_matrix_product(tensors: Sequence[Tensor], _: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Combine rows with columns; the dimensions before the last two are broadcast."""
    first, second = (tuple(tensor.shape) for tensor in tensors)
    if not first or not second:
        return ()
    left, right = (first if len(first) > 1 else (1, *first)), (second if len(second) > 1 else (*second, 1))
    rows = list(_broadcast(left[:-2], right[:-2]))
    if len(first) > 1:
        rows.append(AlignedDimension((left[-2], None), left[-2], "the rows of the first"))
    same = left[-1] == right[-2]
    why = "summed over, and gone" if same else "these two must be equal"
    rows.append(
        AlignedDimension((left[-1], right[-2]), None, why, fits=same)
    )  # last of the first shape, second to last of the second
    if len(second) > 1:
        rows.append(AlignedDimension((None, right[-1]), right[-1], "the columns of the second"))
    return tuple(rows)


def align_reduction(tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Remove axes, or keep them with length 1."""
    (tensor,), keeps = tensors, values["keepdim"]
    # An empty `dim` means all dimensions.
    gone = {dim % tensor.dim() for dim in values["dim"] if tensor.dim()} or set(range(tensor.dim()))
    return tuple(
        AlignedDimension((size,), (1 if keeps else None) if dim in gone else size, _reduced(dim in gone, keeps))
        for dim, size in enumerate(tensor.shape)
    )


def _reduced(is_reduced: bool, keeps: bool) -> str:
    if not is_reduced:
        return "stays"
    return "reduced, and kept as 1" if keeps else "reduced, and gone"


def align_transpose(tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Swap two axes."""
    order = list(range(tensors[0].dim()))
    first, second = values["dim0"], values["dim1"]
    order[first], order[second] = order[second], order[first]
    return align_permute(tensors, {"dims": order})


def align_permute(tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Pair each size of the tensor with the size that `permute` puts in its place."""
    shape = tuple(tensors[0].shape)
    return tuple(
        AlignedDimension((size,), shape[dim], f"was axis {dim % len(shape)}")
        for size, dim in zip(shape, values["dims"], strict=True)
    )


def align_expand(tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Stretch axes of length 1, and put new axes before the others."""
    wanted, shape = values["sizes"], tuple(tensors[0].shape)
    had = (None,) * (len(wanted) - len(shape)) + shape
    return tuple(_expanded(size, want) for size, want in zip(had, wanted, strict=True))


def _expanded(size: int | None, want: int) -> AlignedDimension:
    if size is not None and want in (-1, size):
        return AlignedDimension((size,), size, "stays")
    if want < 0:
        return AlignedDimension((size,), None, "a new axis needs a length" if size is None else "no length", fits=False)
    if size in (1, None):
        return AlignedDimension((size,), want, "new" if size is None and want == 1 else "stretched, with stride 0")
    return AlignedDimension((size,), None, "only a 1 can be stretched", fits=False)


def align_squeeze(tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Remove axes of length 1."""
    (tensor,) = tensors
    asked = set(range(tensor.dim())) if values["dim"] is None else {dim % tensor.dim() for dim in values["dim"]}
    return tuple(
        AlignedDimension((size,), None if size == 1 and dim in asked else size, _squeezed(size, dim in asked))
        for dim, size in enumerate(tensor.shape)
    )


def _squeezed(size: int, is_asked: bool) -> str:
    if not is_asked:
        return "not asked for"
    return "a 1, and gone" if size == 1 else "not 1: it stays"


def align_unsqueeze(tensors: Sequence[Tensor], values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Insert an axis."""
    (tensor,) = tensors
    place = values["dim"] % (tensor.dim() + 1)
    rows = [AlignedDimension((size,), size, "stays") for size in tensor.shape]
    return (*rows[:place], AlignedDimension((None,), 1, "new"), *rows[place:])


def empty_alignment(_tensors: Sequence[Tensor], _values: ReadArguments) -> tuple[AlignedDimension, ...]:
    """Return no rows: the sizes are not combined one by one."""
    return ()
