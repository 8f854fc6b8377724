"""List what a node of an autograd graph saved for its backward rule, with the versions of saved tensors."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from explorers.tensor_values_as_plain_data import TensorDescription, describe_tensor_values

MOST_LETTERS = 60  # the length of a saved setting's text
PLAIN = (("alpha", 1), ("beta", 1))  # default factors of `add` and `addmm`, which are not worth showing
SIZES = ("_sym_sizes", "_sym_strides", "_sym_sizes_opt")  # suffixes of shapes that torch saves for itself


@dataclass(frozen=True)
class SavedForBackward:
    """One thing that a node saved: a tensor with its values, or a setting such as an exponent, as text.

    `now` is the tensor's version, `then` its version when it was saved. If they differ, or if the graph has been freed,
    `error` is the error that torch raises on access, and there are no values. `of` identifies the tensor: the position
    and output of a node, or the reader's name, or None.
    """

    name: str
    values: TensorDescription | None = None
    setting: str = ""
    now: int | None = None
    then: int | None = None
    error: str = ""
    of: tuple[int, int] | str | None = None


def list_saved_for_backward(node: Any) -> Iterator[tuple[SavedForBackward, Tensor | None]]:
    """Yield what the node saved, and the tensor itself if it is one.

    This runs the unpack hooks of `saved_tensors_hooks`, as backward would.
    """
    for name in dir(node):
        if name == "saved_tensors" or (name.startswith("_saved_") and not name.endswith(SIZES)):
            yield from _looked_at(node, name)


def _looked_at(node: Any, name: str) -> Iterator[tuple[SavedForBackward, Tensor | None]]:
    label = name.removeprefix("_saved_")
    try:
        found = getattr(node, name)
    except RuntimeError as error:
        yield _refused(label, str(error)), None
        return
    several = isinstance(found, tuple | list) and any(isinstance(each, Tensor) for each in found)
    for number, each in enumerate(found) if several else [(None, found)]:
        called = label if number is None else f"{label}[{number}]"
        if isinstance(each, Tensor):
            version = None if each.is_inference() else each._version
            yield (
                SavedForBackward(called, describe_tensor_values(each), now=version, then=version),
                each,
            )  # torch compared the versions
        elif each is not None and each != () and (called, each) not in PLAIN:  # None: this rule does not need it
            yield SavedForBackward(called, setting=_setting(each)), None


def _refused(name: str, error: str) -> SavedForBackward:
    versions = re.search(r"is at version (\d+); expected version (\d+)", error)
    now, then = map(int, versions.groups()) if versions else (None, None)
    return SavedForBackward(name, error=f"RuntimeError: {error}", now=now, then=then)


def _setting(value: Any) -> str:
    if type(value) is int and value >= 2**63:  # torch saves dim=-1 as an unsigned number
        value -= 2**64
    text = str(value)
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 2] + " …"
