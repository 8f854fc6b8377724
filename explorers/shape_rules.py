"""The operations that the shape explorer knows: how each is written, its rule, and how the sizes meet."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from torch import Tensor

from explorers.typed import flag, index, integer, integers

Arguments = Mapping[str, str]


@dataclass(frozen=True)
class Meeting:
    """One dimension of the result: the sizes that meet there (None: there is none), what comes of them, and why."""

    sizes: tuple[int | None, ...]
    result: int | None
    why: str
    fits: bool = True


@dataclass(frozen=True)
class Operation:
    """An operation: how it is written, what it is given beside tensors, its rule, and how its sizes meet.

    `arguments` holds for each argument what stands there at first.
    """

    name: str
    tensors: int
    arguments: Mapping[str, str]
    code: Callable[[Sequence[str], Arguments], str]
    apply: Callable[[Sequence[Tensor], Arguments], Tensor]
    rule: str
    rows: Callable[[Sequence[Tensor], Arguments], tuple[Meeting, ...]]


# --- how sizes meet


def _broadcast_rows(tensors: Sequence[Tensor], _: Arguments) -> tuple[Meeting, ...]:
    return _broadcast(*(tuple(tensor.shape) for tensor in tensors))


def _broadcast(first: tuple[int, ...], second: tuple[int, ...]) -> tuple[Meeting, ...]:
    """Two shapes, aligned at the right."""
    pairs = list(zip_longest(reversed(first), reversed(second)))
    return tuple(_meeting(pair) for pair in reversed(pairs))


def _meeting(sizes: tuple[int | None, ...]) -> Meeting:
    """Two sizes, one above the other, as broadcasting sees them."""
    there = [size for size in sizes if size is not None]
    if len(there) < len(sizes):
        return Meeting(sizes, there[0], "missing: stretched")
    if len(set(there)) == 1:
        return Meeting(sizes, there[0], "equal")
    if 1 in there:
        other = next(size for size in there if size != 1)
        return Meeting(sizes, other, "1 is stretched" if other else "1 meets 0: nothing is left")
    return Meeting(sizes, None, "neither equal nor 1", fits=False)


def _matmul_rows(tensors: Sequence[Tensor], _: Arguments) -> tuple[Meeting, ...]:
    first, second = (tuple(tensor.shape) for tensor in tensors)
    if not first or not second:
        return ()
    left, right = (first if len(first) > 1 else (1, *first)), (second if len(second) > 1 else (*second, 1))
    rows = list(_broadcast(left[:-2], right[:-2]))
    if len(first) > 1:
        rows.append(Meeting((left[-2], None), left[-2], "the rows of the first"))
    if len(second) > 1:
        rows.append(Meeting((None, right[-1]), right[-1], "the columns of the second"))
    same = left[-1] == right[-2]
    why = "summed over, and gone" if same else "these two must be equal"
    return (*rows, Meeting((left[-1], right[-2]), None, why, fits=same))


def _reduced_rows(tensors: Sequence[Tensor], arguments: Arguments) -> tuple[Meeting, ...]:
    (tensor,), keeps = tensors, flag(arguments["keepdim"])
    gone = {dim % tensor.dim() for dim in integers(arguments["dim"])}
    return tuple(
        Meeting((size,), (1 if keeps else None) if dim in gone else size, _reduced(dim in gone, keeps))
        for dim, size in enumerate(tensor.shape)
    )


def _reduced(is_reduced: bool, keeps: bool) -> str:
    if not is_reduced:
        return "stays"
    return "reduced, and kept as 1" if keeps else "reduced, and gone"


def _moved_rows(order: Sequence[int], tensor: Tensor) -> tuple[Meeting, ...]:
    order = [dim % tensor.dim() for dim in order]
    return tuple(Meeting((tensor.shape[dim],), tensor.shape[dim], f"was axis {dim}") for dim in order)


def _transposed(tensor: Tensor, arguments: Arguments) -> list[int]:
    order = list(range(tensor.dim()))
    first, second = integer(arguments["dim0"]), integer(arguments["dim1"])
    order[first], order[second] = order[second], order[first]
    return order


def _expanded_rows(tensors: Sequence[Tensor], arguments: Arguments) -> tuple[Meeting, ...]:
    wanted, shape = integers(arguments["sizes"]), tuple(tensors[0].shape)
    had = (None,) * (len(wanted) - len(shape)) + shape
    rows = []
    for size, want in zip(had, wanted, strict=True):
        fits = want in (-1, size) or size in (1, None)
        why = "stays" if want in (-1, size) else "stretched, with stride 0" if fits else "only a 1 can be stretched"
        rows.append(Meeting((size,), (size if want == -1 else want) if fits else None, why, fits))
    return tuple(rows)


def _squeezed_rows(tensors: Sequence[Tensor], arguments: Arguments) -> tuple[Meeting, ...]:
    (tensor,) = tensors
    asked = {dim % tensor.dim() for dim in integers(arguments["dim"])} or set(range(tensor.dim()))
    return tuple(
        Meeting((size,), None if size == 1 and dim in asked else size, _squeezed(size, dim in asked))
        for dim, size in enumerate(tensor.shape)
    )


def _squeezed(size: int, is_asked: bool) -> str:
    if not is_asked:
        return "not asked for"
    return "a 1, and gone" if size == 1 else "not 1: it stays"


def _unsqueezed_rows(tensors: Sequence[Tensor], arguments: Arguments) -> tuple[Meeting, ...]:
    (tensor,) = tensors
    place = integer(arguments["dim"]) % (tensor.dim() + 1)
    rows = [Meeting((size,), size, "stays") for size in tensor.shape]
    return (*rows[:place], Meeting((None,), 1, "new"), *rows[place:])


def _no_rows(_tensors: Sequence[Tensor], _arguments: Arguments) -> tuple[Meeting, ...]:
    return ()


# --- the operations


def _method(name: str, *arguments: str) -> Callable[[Sequence[str], Arguments], str]:
    """How a method is written: `x.view(2, -1)`."""

    def code(names: Sequence[str], given: Arguments) -> str:
        told = [f"{each}={given[each]}" if each == "keepdim" else _spelled(name, given[each]) for each in arguments]
        return f"{names[0]}.{name}({', '.join(filter(None, told))})"

    return code


def _spelled(name: str, text: str) -> str:
    """Several dimensions of a reduction stand in brackets."""
    return f"({text})" if name in ("sum", "mean", "amax") and "," in text else text


def _reduction(name: str) -> Operation:
    return Operation(
        name,
        1,
        {"dim": "0", "keepdim": "False"},
        _method(name, "dim", "keepdim"),
        lambda tensors, given: getattr(tensors[0], name)(integers(given["dim"]), keepdim=flag(given["keepdim"])),
        "The axes that are reduced go away; with `keepdim=True` they stay, with length 1.",
        _reduced_rows,
    )


_COUNT = "The same numbers in the same order, cut differently: the lengths must multiply to the count of numbers."
_ALL = (
    Operation(
        "matmul",
        2,
        {},
        lambda names, _: f"{names[0]} @ {names[1]}",
        lambda tensors, _: tensors[0] @ tensors[1],
        "The last length of the first meets the second to last of the second: they must be equal, and are summed over. "
        "What stands before them is broadcast.",
        _matmul_rows,
    ),
    Operation(
        "add",
        2,
        {},
        lambda names, _: f"{names[0]} + {names[1]}",
        lambda tensors, _: tensors[0] + tensors[1],
        "Shapes line up at the right: lengths fit where they are equal, where one is 1, or where one is missing.",
        _broadcast_rows,
    ),
    Operation(
        "view",
        1,
        {"sizes": "-1"},
        _method("view", "sizes"),
        lambda tensors, given: tensors[0].view(integers(given["sizes"])),
        _COUNT + " `view` never copies: where the strides do not allow it, it fails.",
        _no_rows,
    ),
    Operation(
        "reshape",
        1,
        {"sizes": "-1"},
        _method("reshape", "sizes"),
        lambda tensors, given: tensors[0].reshape(integers(given["sizes"])),
        _COUNT + " `reshape` gives a view where it can, else a copy.",
        _no_rows,
    ),
    Operation(
        "transpose",
        1,
        {"dim0": "0", "dim1": "1"},
        _method("transpose", "dim0", "dim1"),
        lambda tensors, given: tensors[0].transpose(integer(given["dim0"]), integer(given["dim1"])),
        "Two axes change places, and so do their strides; no number moves.",
        lambda tensors, given: _moved_rows(_transposed(tensors[0], given), tensors[0]),
    ),
    Operation(
        "permute",
        1,
        {"dims": "1, 0"},
        _method("permute", "dims"),
        lambda tensors, given: tensors[0].permute(integers(given["dims"])),
        "The axes stand in the order that is asked for, each with its stride; no number moves.",
        lambda tensors, given: _moved_rows(integers(given["dims"]), tensors[0]),
    ),
    _reduction("sum"),
    _reduction("mean"),
    _reduction("amax"),
    Operation(
        "squeeze",
        1,
        {"dim": ""},
        _method("squeeze", "dim"),
        lambda tensors, given: (
            tensors[0].squeeze(tuple(integers(given["dim"]))) if given["dim"].strip() else tensors[0].squeeze()
        ),
        "Axes of length 1 go away: all of them, or those that are asked for.",
        _squeezed_rows,
    ),
    Operation(
        "unsqueeze",
        1,
        {"dim": "0"},
        _method("unsqueeze", "dim"),
        lambda tensors, given: tensors[0].unsqueeze(integer(given["dim"])),
        "An axis of length 1 is put in.",
        _unsqueezed_rows,
    ),
    Operation(
        "expand",
        1,
        {"sizes": "-1, -1"},
        _method("expand", "sizes"),
        lambda tensors, given: tensors[0].expand(integers(given["sizes"])),
        "Axes of length 1 are stretched without a copy: their stride becomes 0. `-1` leaves a length as it is.",
        _expanded_rows,
    ),
    Operation(
        "index",
        1,
        {"index": "0"},
        lambda names, given: f"{names[0]}[{given['index']}]",
        lambda tensors, given: tensors[0][index(given["index"])],
        "A whole number takes its axis away, a slice keeps it, `None` puts one in, a list picks, and copies.",
        _no_rows,
    ),
)
OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _ALL}
