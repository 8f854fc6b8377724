"""The operations that the shape explorer offers: the code of each, its rule in words, and its initial arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from explorers.parse_typed_arguments import parse_flag, parse_index, parse_integer, parse_integers
from explorers.shape_alignment import (
    AlignedDimension,
    ReadArguments,
    align_broadcast,
    align_expand,
    align_matrix_product,
    align_permute,
    align_reduction,
    align_squeeze,
    align_transpose,
    align_unsqueeze,
    empty_alignment,
)

Arguments = Mapping[str, str]  # as the reader types them


@dataclass(frozen=True)
class ArgumentField:
    """An argument of an operation: its initial text for a number of axes, and the parser of its text.

    `read` takes a text and the tensors that it may name, and raises ArgumentError.
    """

    start: Callable[[int], str]
    read: Callable[[str, Mapping[str, Tensor]], Any]


@dataclass(frozen=True)
class Operation:
    """An operation: its notation, its call, its rule, the alignment of sizes, and its arguments."""

    name: str
    tensors: int
    code: Callable[[Sequence[str], Arguments], str]
    apply: Callable[[Sequence[Tensor], ReadArguments], Tensor]
    rule: str
    rows: Callable[[Sequence[Tensor], ReadArguments], tuple[AlignedDimension, ...]]
    arguments: Mapping[str, ArgumentField] = field(default_factory=dict)

    def starts(self, axes: int) -> Arguments:
        """Return initial arguments that fit a tensor with this number of axes."""
        return {name: argument.start(axes) for name, argument in self.arguments.items()}

    def read(self, given: Arguments, tensors: Mapping[str, Tensor]) -> ReadArguments:
        """Parse typed arguments, which may name these tensors; raise ArgumentError."""
        return {name: argument.read(given[name], tensors) for name, argument in self.arguments.items()}


# --- the operations


def _method(name: str, *arguments: str) -> Callable[[Sequence[str], Arguments], str]:
    """Return a function that writes a method call, such as `x.view(2, -1)`."""

    def code(names: Sequence[str], given: Arguments) -> str:
        told = [f"{each}={given[each]}" if each == "keepdim" else _spelled(name, given[each]) for each in arguments]
        return f"{names[0]}.{name}({', '.join(filter(None, told))})"

    return code


def _spelled(name: str, text: str) -> str:
    """Return the axes of a reduction as written: several in brackets, none as `()` (but `squeeze` needs none)."""
    bare = text.strip()
    if not bare:
        return "" if name == "squeeze" else "()"
    return f"({bare})" if name in ("sum", "mean", "amax", "squeeze") and "," in bare and bare[0] not in "([" else bare


def _one(start: Callable[[int], int]) -> ArgumentField:
    return ArgumentField(lambda axes: str(start(axes)), lambda text, _: parse_integer(text))


def _some(start: Callable[[int], Sequence[int]]) -> ArgumentField:
    return ArgumentField(lambda axes: ", ".join(map(str, start(axes))), lambda text, _: parse_integers(text))


_SIZES = _some(lambda axes: [-1])
_COUNT = "The same numbers in the same order, cut differently: the lengths must multiply to the count of numbers."


def _reduction(name: str) -> Operation:
    return Operation(
        name,
        1,
        _method(name, "dim", "keepdim"),
        lambda tensors, given: getattr(tensors[0], name)(given["dim"], keepdim=given["keepdim"]),
        "The axes that are reduced go away; with `keepdim=True` they stay, with length 1.",
        align_reduction,
        {
            "dim": _some(lambda axes: [0]),
            "keepdim": ArgumentField(lambda axes: "False", lambda text, _: parse_flag(text)),
        },
    )


_ALL = (
    Operation(
        "matmul",
        2,
        lambda names, _: f"{names[0]} @ {names[1]}",
        lambda tensors, _: tensors[0] @ tensors[1],
        "The last length of the first meets the second to last of the second: they must be equal, and are summed over. "
        "What stands before them is broadcast.",
        align_matrix_product,
    ),
    Operation(
        "add",
        2,
        lambda names, _: f"{names[0]} + {names[1]}",
        lambda tensors, _: tensors[0] + tensors[1],
        "Shapes line up at the right: lengths fit where they are equal, where one is 1, or where one is missing.",
        align_broadcast,
    ),
    Operation(
        "view",
        1,
        _method("view", "sizes"),
        lambda tensors, given: tensors[0].view(given["sizes"]),
        _COUNT + " `view` never copies: where the strides do not allow it, it fails.",
        empty_alignment,
        {"sizes": _SIZES},
    ),
    Operation(
        "reshape",
        1,
        _method("reshape", "sizes"),
        lambda tensors, given: tensors[0].reshape(given["sizes"]),
        _COUNT + " `reshape` gives a view where it can, else a copy.",
        empty_alignment,
        {"sizes": _SIZES},
    ),
    Operation(
        "transpose",
        1,
        _method("transpose", "dim0", "dim1"),
        lambda tensors, given: tensors[0].transpose(given["dim0"], given["dim1"]),
        "Two axes change places, and so do their strides; no number moves.",
        align_transpose,
        {"dim0": _one(lambda axes: 0), "dim1": _one(lambda axes: min(1, max(0, axes - 1)))},
    ),
    Operation(
        "permute",
        1,
        _method("permute", "dims"),
        lambda tensors, given: tensors[0].permute(given["dims"]),
        "The axes stand in the order that is asked for, each with its stride; no number moves.",
        align_permute,
        {"dims": _some(lambda axes: range(axes)[::-1])},
    ),
    _reduction("sum"),
    _reduction("mean"),
    _reduction("amax"),
    Operation(
        "squeeze",
        1,
        _method("squeeze", "dim"),
        lambda tensors, given: tensors[0].squeeze() if given["dim"] is None else tensors[0].squeeze(given["dim"]),
        "Axes of length 1 go away: all of them, or those that are asked for.",
        align_squeeze,
        {"dim": ArgumentField(lambda axes: "", lambda text, _: tuple(parse_integers(text)) if text.strip() else None)},
    ),
    Operation(
        "unsqueeze",
        1,
        _method("unsqueeze", "dim"),
        lambda tensors, given: tensors[0].unsqueeze(given["dim"]),
        "An axis of length 1 is put in.",
        align_unsqueeze,
        {"dim": _one(lambda axes: 0)},
    ),
    Operation(
        "expand",
        1,
        _method("expand", "sizes"),
        lambda tensors, given: tensors[0].expand(given["sizes"]),
        "Axes of length 1 are stretched without a copy: their stride becomes 0. `-1` leaves a length as it is.",
        align_expand,
        {"sizes": _some(lambda axes: [-1] * axes)},
    ),
    Operation(
        "index",
        1,
        lambda names, given: f"{names[0]}[{given['index']}]",
        lambda tensors, given: tensors[0][given["index"]],
        "A whole number takes its axis away, a slice keeps it, `None` puts one in; a list picks, a mask picks where it "
        "is True, and both copy.",
        empty_alignment,
        {"index": ArgumentField(lambda axes: "0" if axes else "...", parse_index)},
    ),
)
OPERATIONS: dict[str, Operation] = {operation.name: operation for operation in _ALL}
