"""The data of the shape explorer: its rules predict torch's shapes without arithmetic."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorers.apply_operation import Exploration, explore_operation
from explorers.parse_typed_arguments import MOST_COMPUTED

SIZES = st.sampled_from([0, 1, 1, 2, 3])
SHAPES = st.lists(SIZES, max_size=4)
WITH_RULES = ("sum", "mean", "amax", "transpose", "permute", "squeeze", "unsqueeze", "expand")


def counted(*shape: int) -> Tensor:
    """Return a tensor of this shape with the numbers 0, 1, 2, ..."""
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


def told(found: Exploration) -> tuple[int, ...]:
    """Return the shape that the rows give."""
    return tuple(row.result for row in found.rows if row.result is not None)


@pytest.mark.parametrize("operation", ["matmul", "add"])
@settings(deadline=None)
@given(first=SHAPES, second=SHAPES)
def test_two_shapes_meet_as_torch_lets_them(operation: str, first: list[int], second: list[int]) -> None:
    """The rows give torch's shape, or show where torch refuses."""
    found = explore_operation(operation, [("a", counted(*first)), ("b", counted(*second))])

    if found.result:
        assert told(found) == found.result.shape == found.shape and all(row.fits for row in found.rows)
    else:
        assert found.error.startswith("RuntimeError: ") and found.shape is None
        assert not found.rows or not all(row.fits for row in found.rows)


@st.composite
def asked(draw: st.DrawFn) -> tuple[str, list[int], dict[str, str]]:
    """Draw an operation on one tensor, its shape, and arguments that may not fit."""
    shape = draw(st.lists(SIZES, min_size=1, max_size=4))
    dims = st.integers(-len(shape), len(shape) - 1)
    name = draw(st.sampled_from(WITH_RULES))
    several = draw(st.lists(dims, min_size=1, max_size=len(shape), unique_by=lambda dim: dim % len(shape)))
    some = ", ".join(map(str, several))
    arguments = {
        "transpose": {"dim0": str(draw(dims)), "dim1": str(draw(dims))},
        "permute": {"dims": ", ".join(map(str, draw(st.permutations(range(len(shape))))))},
        "squeeze": {"dim": draw(st.sampled_from(["", some]))},
        "unsqueeze": {"dim": str(draw(st.integers(-len(shape) - 1, len(shape))))},
        "expand": {"sizes": ", ".join(str(draw(st.sampled_from([-1, size, 4]))) for size in shape)},
    }.get(name, {"dim": some, "keepdim": str(draw(st.booleans()))})
    return name, shape, arguments


@settings(deadline=None)
@given(case=asked())
def test_one_shape_becomes_what_its_rows_say(case: tuple[str, list[int], dict[str, str]]) -> None:
    """The rows of operations on one tensor give torch's shape, or show where torch refuses."""
    name, shape, arguments = case
    found = explore_operation(name, [("x", counted(*shape))], arguments)

    if found.result:
        assert told(found) == found.result.shape == found.shape
    else:
        assert found.error and (name == "amax" or not all(row.fits for row in found.rows))


@pytest.mark.parametrize(
    ("operation", "arguments", "right"),
    [
        ("view", {"sizes": "3, 2"}, lambda x: x.view(3, 2)),
        ("reshape", {"sizes": "-1"}, lambda x: x.reshape(-1)),
        ("transpose", {}, lambda x: x.T),
        ("permute", {"dims": "1, 0"}, lambda x: x.permute(1, 0)),
        ("sum", {"dim": "1", "keepdim": "True"}, lambda x: x.sum(1, keepdim=True)),
        ("mean", {"dim": "0, 1"}, lambda x: x.mean((0, 1))),
        ("unsqueeze", {"dim": "1"}, lambda x: x[:, None]),
        ("expand", {"sizes": "4, 2, 3"}, lambda x: x.expand(4, 2, 3)),
        ("index", {"index": "1, 1:"}, lambda x: x[1, 1:]),
        ("index", {"index": "..., None, [2, 0]"}, lambda x: x[..., None, [2, 0]]),
    ],
)
def test_result_is_torchs(operation: str, arguments: dict[str, str], right: Any) -> None:
    """Values, strides and shared memory are torch's."""
    x = counted(2, 3)
    found, expected = explore_operation(operation, [("x", x)], arguments), right(x)

    assert found.result is not None and found.result.values == expected.tolist()
    assert found.result.stride == expected.stride() and found.result.shape == tuple(expected.shape)
    assert bool(found.shares) == (expected.untyped_storage().data_ptr() == x.untyped_storage().data_ptr())


@pytest.mark.parametrize(
    ("operation", "arguments", "code"),
    [
        ("view", {"sizes": "3, 2"}, "x.view(3, 2)"),
        ("sum", {"dim": "0, 1", "keepdim": "True"}, "x.sum((0, 1), keepdim=True)"),
        ("squeeze", {}, "x.squeeze()"),
        ("index", {"index": "0, :"}, "x[0, :]"),
        ("transpose", {"dim0": "0", "dim1": "-1"}, "x.transpose(0, -1)"),
    ],
)
def test_code_is_what_a_reader_would_write(operation: str, arguments: dict[str, str], code: str) -> None:
    """The code is idiomatic, and gives the same result when run."""
    x = counted(2, 3)
    found = explore_operation(operation, [("x", x)], arguments)

    assert found.code == code and found.result is not None
    assert eval(code, {"x": x}).tolist() == found.result.values


def test_impossible_operation_shows_torchs_own_error() -> None:
    """The error has torch's exact message."""
    x = counted(2, 3).T
    with pytest.raises(RuntimeError) as raised:
        x.view(6)

    assert explore_operation("view", [("x", x)], {"sizes": "6"}).error == f"RuntimeError: {raised.value}"


@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("view", {"sizes": "two"}),
        ("sum", {"dim": "0", "keepdim": "yes"}),
        ("transpose", {"dim0": "0, 1"}),
        ("index", {"index": "__import__('os').getcwd()"}),
        ("index", {"index": "0]; x[0"}),
    ],
)
def test_what_cannot_be_read_is_named_and_not_run(operation: str, arguments: dict[str, str]) -> None:
    """An argument that cannot be parsed gives a note, and torch is not called."""
    found = explore_operation(operation, [("x", counted(2, 3))], arguments)

    assert found.note.startswith("expected ") and found.result is None and found.error == ""


def test_large_result_is_not_computed() -> None:
    """A large result has a shape and is not computed."""
    side = 2 * int(MOST_COMPUTED**0.5)
    found = explore_operation("add", [("a", torch.zeros(side, 1)), ("b", torch.zeros(side))])

    assert found.shape == (side, side) and found.result is None and "not computed" in found.note


def test_same_tensor_twice() -> None:
    """The same tensor may be both operands."""
    x = counted(2, 3)

    assert (2, 3) == explore_operation("add", [("x", x), ("x", x)]).shape
    assert explore_operation("matmul", [("x", x), ("x", x)]).error.startswith("RuntimeError: ")


def test_tensors_without_numbers_share_no_memory() -> None:
    """Empty tensors share no memory."""
    empty = torch.empty(0, 3)

    assert () == explore_operation("add", [("a", empty), ("b", counted(3))]).shares


@pytest.mark.parametrize(("operation", "count"), [("matmul", 1), ("view", 2), ("solve", 1)])
def test_wrong_call_says_what_is_expected(operation: str, count: int) -> None:
    """An unknown operation, or a wrong number of tensors, raises ValueError."""
    with pytest.raises(ValueError, match=r"expected one of|takes"):
        explore_operation(operation, [(name, counted(2)) for name in "ab"[:count]])
