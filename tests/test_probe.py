"""The usual probe: its observations, and its protection against students' code."""

import contextlib
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.exercises.exercise import Case
from autograder.exercises.leaked_dispatch_modes import active_mode_count
from autograder.exercises.observation import ExceptionSnapshot, Observation, OtherValue, TensorSnapshot
from autograder.exercises.probe import snapshot_value
from autograder.exercises.probes.tensor_functions import make_call_probe

X = torch.arange(6.0).reshape(2, 3)


def observe(answer: object, *args: object, **options: bool | int) -> Observation:
    """Return the usual probe's observation of one call."""
    return make_call_probe(**options)(answer, Case("works", *(args or (X,))))  # type: ignore[arg-type]


class TestSee:
    def test_a_tensor_is_read_out(self) -> None:
        """A tensor becomes a snapshot of values, shape, dtype, device and tracking."""
        seen = snapshot_value(torch.ones(2, 3, dtype=torch.float64, requires_grad=True))

        assert isinstance(seen, TensorSnapshot)
        assert ((2, 3), "float64", "cpu", True) == (seen.shape, seen.dtype, seen.device, seen.requires_grad)

    def test_a_meta_tensor_has_no_values(self) -> None:
        """A snapshot of a meta tensor has no values."""
        seen = snapshot_value(torch.ones(2, device="meta"))

        assert isinstance(seen, TensorSnapshot)
        assert (None, "meta") == (seen.values, seen.device)

    @pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
    def test_a_nested_tensor_is_in_a_layout_of_its_own(self) -> None:
        """A nested tensor, which has no shape, is recorded as text."""
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])

        assert OtherValue("Tensor", "tensor with layout torch.nested") == snapshot_value(nested)

    def test_a_stranger_becomes_text(self) -> None:
        """An object of another kind becomes its type and a short text."""
        assert OtherValue("range", "range(0, 3)") == snapshot_value(range(3))

    def test_a_hostile_repr_is_survived(self) -> None:
        """An object whose repr raises is recorded."""

        class Hostile:
            def __repr__(self) -> str:
                raise RuntimeError

        assert OtherValue("Hostile", "(its repr raised RuntimeError)") == snapshot_value(Hostile())

    def test_a_list_within_itself_ends(self) -> None:
        """A structure that contains itself is cut off."""
        endless: list[object] = []
        endless.append(endless)

        assert isinstance(snapshot_value(endless), list)


class TestCalling:
    def test_a_crash_is_a_facet(self) -> None:
        """An exception is recorded with type, message and the student's line."""

        def answer(x: torch.Tensor) -> None:
            raise ValueError("no good")

        error = observe(answer)["raised"]

        assert ExceptionSnapshot("ValueError", "no good", 'raise ValueError("no good")') == error

    def test_exit_is_a_crash(self) -> None:
        """exit() in an answer is recorded as an exception."""
        assert "SystemExit" == observe(lambda x: sys.exit(3))["raised"].type

    def test_an_input_changed_in_place_is_named(self) -> None:
        """An argument changed in place is named."""
        assert ["argument 1"] == observe(lambda x: x.add_(1))["inputs"]
        assert ["shape of argument 1"] == observe(lambda x: x.unsqueeze_(0))["inputs"]
        assert [] == observe(lambda x: x + 1)["inputs"]

    def test_the_case_itself_stays_as_it_was(self) -> None:
        """The answer gets copies, so that it cannot change the case."""
        observe(lambda x: x.zero_())

        assert 15 == X.sum()

    def test_sharing_tells_view_from_copy(self) -> None:
        """For each returned tensor, the arguments with the same memory are recorded."""
        seen = observe(lambda x: (x[0].clone(), x[1:]), sharing=True)

        assert [[], ["argument 1"]] == seen["sharing"]

    def test_the_global_generator_is_watched(self) -> None:
        """Drawing from torch's global generator is recorded."""
        assert observe(lambda x: torch.rand(1), rng=True)["rng"] is False
        assert observe(lambda x: x + 1, rng=True)["rng"] is True

    def test_the_gradient_is_a_facet(self) -> None:
        """The gradient of a weighted sum is recorded, or None for a detached result."""
        seen = observe(lambda x: 2 * x, grad=True)["gradient"]["argument 1"]

        assert torch.equal(2 * torch.arange(1.0, 7.0).reshape(2, 3), seen.values)
        assert observe(lambda x: (2 * x).detach(), grad=True)["gradient"] is None

    def test_a_second_call_is_observed(self) -> None:
        """The results of later calls are recorded."""
        calls: list[int] = []
        seen = observe(lambda x: calls.append(1) or len(calls), times=2)  # type: ignore[func-returns-value]

        assert (1, [2]) == (seen["returned"], seen["again"])


class TestModes:
    """Dispatch modes that an answer leaves active."""

    @pytest.mark.parametrize("stopped", [None, ValueError, KeyboardInterrupt])
    def test_none_outlives_a_probe(self, stopped: type[BaseException] | None) -> None:
        """No mode stays active after the probe, even after an error or an interrupt."""

        def answer(x: torch.Tensor) -> torch.Tensor:
            for _ in range(2):
                TorchDispatchMode().__enter__()  # type: ignore[no-untyped-call]
            if stopped:
                raise stopped
            return x

        with contextlib.suppress(KeyboardInterrupt):
            observe(answer)

        assert 0 == active_mode_count()
