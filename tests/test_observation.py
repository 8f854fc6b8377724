"""Observations: serialization, and the first difference between two."""

import math

import pytest
import torch
from safetensors.torch import save

from autograder.errors import DamagedData
from autograder.exercises.compare_observations import Difference, Tolerance, first_difference
from autograder.exercises.observation import (
    ExceptionSnapshot,
    OtherValue,
    TensorSnapshot,
    decode_plain_data,
    encode_as_json_and_tensors,
    encode_plain_data,
)
from autograder.exercises.probe import snapshot_value

TOLERANCE = Tolerance()
_NORMS = (6, ""), (6, ", bias=True"), (7, ", bias=True")


def aspect(expected: object, got: object) -> str | None:
    """Return the aspect in which two values differ, or None."""
    difference = first_difference(snapshot_value(expected), snapshot_value(got), TOLERANCE)
    return difference.aspect if difference else None


PLAIN = [
    None,
    True,
    3,
    2.5,
    math.inf,
    "text",
    [1, [2]],
    (1, "a"),
    {"a": 1, 2: (3,)},
    torch.Size([2, 3]),
    torch.float16,
    torch.device("cpu"),
    ExceptionSnapshot("ValueError", "no", "x = 1"),
    OtherValue("Odd", "<odd>"),
]


class TestBytes:
    @pytest.mark.parametrize("value", PLAIN, ids=repr)
    def test_plain_data_survives_the_journey(self, value: object) -> None:
        """A value keeps its content and type."""
        back = decode_plain_data(encode_plain_data({"value": value}))["value"]

        assert value == back
        assert type(value) is type(back)

    @pytest.mark.parametrize(
        "dtype", [torch.complex128, torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool, torch.int8]
    )
    def test_tensors_survive_the_journey(self, dtype: torch.dtype) -> None:
        """A tensor snapshot keeps values, shape, dtype, device and tracking."""
        seen = snapshot_value(torch.tensor([[1, 0, 1]]).to(dtype))

        assert first_difference(seen, decode_plain_data(encode_plain_data(seen)), TOLERANCE) is None

    @pytest.mark.parametrize("also", [(), (torch.complex64,), (torch.float8_e4m3fn, torch.uint16)])
    def test_tensors_are_written_as_safetensors_writes_them(self, also: tuple[torch.dtype, ...]) -> None:
        """Tensors are serialized to the same bytes as safetensors writes."""
        whole = (torch.bool, torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64)
        dtypes = (*whole, torch.bfloat16, torch.float16, torch.float32, torch.float64, *also)
        tensors = [torch.arange(6).reshape(2, 3).to(dtype) for dtype in dtypes] + [torch.ones(()), torch.zeros(0, 3)]

        _, data = encode_as_json_and_tensors(tensors)

        assert save({f"{place:05d}": tensor for place, tensor in enumerate(tensors)}) == data

    def test_a_transposed_argument_stays_transposed(self) -> None:
        """A case's tensor keeps its strides, so that a probe can distinguish view and copy."""
        tensor = torch.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1)
        back = decode_plain_data(encode_plain_data(tensor))

        assert tensor.stride() == back.stride()
        assert torch.equal(tensor, back)

    def test_a_tensor_that_does_not_fit_its_label_is_refused(self) -> None:
        """Values of another shape or dtype than declared raise DamagedData."""
        for shape, dtype in (((3,), "float32"), ((2,), "float64"), ((2,), "nn")):
            with pytest.raises(DamagedData):
                decode_plain_data(encode_plain_data(TensorSnapshot(torch.zeros(2), shape, dtype, "cpu")))

    def test_an_empty_tensor_and_a_scalar_survive(self) -> None:
        """Tensors without elements or dimensions survive."""
        for tensor in (torch.empty(0, 3), torch.tensor(2.0)):
            assert torch.equal(tensor, decode_plain_data(encode_plain_data(tensor)))

    @pytest.mark.parametrize(
        "data", [b"", b"short", b"\0" * 40, b"\xff" * 100, encode_plain_data([1])[:-4], encode_plain_data([1])[3:]]
    )
    def test_damaged_bytes_are_named(self, data: bytes) -> None:
        """Damaged bytes raise DamagedData."""
        with pytest.raises(DamagedData):
            decode_plain_data(data)

    def test_a_thing_that_is_not_plain_is_refused(self) -> None:
        """A value that is not plain data raises TypeError."""
        with pytest.raises(TypeError, match="plain data"):
            encode_plain_data(object())

    def test_a_single_element_may_have_any_stride(self) -> None:
        """A tensor with one element may have any stride."""
        ones = [torch.arange(14.0).reshape(2, 7)[:1, :1], torch.zeros(3, 7)[:1, :1], torch.zeros(0, 7).T]
        seen = {"returned": [snapshot_value(one) for one in ones]}

        assert first_difference(seen, decode_plain_data(encode_plain_data(seen)), Tolerance(0.0, 0.0)) is None


class TestFirstDifference:
    def test_equal_tensors_do_not_differ(self) -> None:
        """Rounding below the tolerance is no difference, and NaN equals NaN."""
        one = torch.tensor([1.0, math.nan, math.inf])

        assert aspect(one, one + torch.tensor([1e-6, 0.0, 0.0])) is None

    @pytest.mark.parametrize(
        ("expected", "got", "what"),
        [
            (torch.zeros(2), [0.0, 0.0], "type"),
            (torch.zeros(2), torch.zeros(3), "shape"),
            (torch.zeros(2), torch.zeros(2, dtype=torch.float64), "dtype"),
            (torch.zeros(2), torch.zeros(2, device="meta"), "device"),
            (torch.zeros(2), torch.tensor([0.0, 1.0]), "values"),
            (torch.zeros(2), torch.zeros(2, requires_grad=True), "requires_grad"),
            (torch.zeros(1), torch.tensor([math.nan]), "values"),
            ((1, 2), [1, 2], "type"),
            ((2, 3), torch.Size([2, 3]), "type"),
            (1, True, "type"),
            (1, 1.0, "type"),
            ([1, 2], [1], "length"),
            ({"a": 1}, {"b": 1}, "keys"),
            ({"a": 1}, {"a": 2}, "values"),
            (math.inf, -math.inf, "values"),
            (math.nan, 1.0, "values"),
            ("a", "b", "values"),
        ],
    )
    def test_names_the_aspect(self, expected: object, got: object, what: str) -> None:
        """Aspects are compared in the order type, shape, dtype, device, values."""
        assert what == aspect(expected, got)

    def test_names_the_path(self) -> None:
        """The difference has its path inside containers."""
        difference = first_difference({"a": [1, (2, 3)]}, {"a": [1, (2, 4)]}, TOLERANCE)

        assert Difference(("a", 1, 1), "values", 3, 4) == difference

    def test_the_line_of_an_error_does_not_matter(self) -> None:
        """Errors are equal even if their source lines differ."""
        one, other = ExceptionSnapshot("ValueError", "no", "x = 1"), ExceptionSnapshot("ValueError", "no", "y = 2")

        assert first_difference(one, other, TOLERANCE) is None

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            (
                "[2, 2]], which is output 0 of Exp, is at version 1",
                "[2, 2]], which is output 0 of ExpBackward0, is at version 1",
            ),
            ("of Mul; expected version 0 instead. Hint: enable anom", "of Mul; expected version 0 instead. Hint: enab"),
            ("The differentiated Tensor at index 1 appears to not", "One of the differentiated Tensors appears to not"),
        ],
    )
    def test_an_error_is_the_same_in_the_words_of_another_torch(self, one: str, other: str) -> None:
        """An error is equal if only torch's wording differs between versions."""
        known, mine = ExceptionSnapshot("RuntimeError", one), ExceptionSnapshot("RuntimeError", other)

        assert first_difference(known, mine, TOLERANCE) is None

    def test_another_node_is_another_error(self) -> None:
        """An error that names another node is different."""
        one, other = (ExceptionSnapshot("RuntimeError", f"which is output 0 of {node}, is") for node in ("Exp", "Mul"))

        assert first_difference(one, other, TOLERANCE) is not None

    def test_a_module_is_the_same_in_the_words_of_another_torch(self) -> None:
        """A module's text is equal if only torch's wording differs, and different for another width."""
        texts = [f"BatchNorm1d({n}, affine=True{bias}, track_running_stats=True)" for n, bias in _NORMS]
        old, new, wider = (OtherValue("BatchNorm1d", text) for text in texts)

        assert first_difference(new, old, TOLERANCE) is None
        assert first_difference(new, wider, TOLERANCE) is not None

    def test_unread_values_differ_from_read_ones(self) -> None:
        """A tensor without recorded values differs from one with values."""
        unread = TensorSnapshot(None, (2,), "float32", "cpu")

        assert first_difference(snapshot_value(torch.zeros(2)), unread, TOLERANCE) is not None
