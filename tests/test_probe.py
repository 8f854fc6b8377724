"""The usual probe: what it writes down, and that student code cannot break it."""

import contextlib
import sys

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.exercises.dispatch_modes import active_mode_count
from autograder.exercises.exercise import Case
from autograder.exercises.observation import ExceptionSnapshot, Observation, OtherValue, TensorSnapshot
from autograder.exercises.probe import see
from autograder.exercises.probes.tensors import calling

X = torch.arange(6.0).reshape(2, 3)


def observe(answer: object, *args: object, **options: bool | int) -> Observation:
    """What the usual probe sees of one call."""
    return calling(**options)(answer, Case("works", *(args or (X,))))  # type: ignore[arg-type]


class TestSee:
    def test_a_tensor_is_read_out(self) -> None:
        """A tensor becomes its values with shape, dtype, device and tracking."""
        seen = see(torch.ones(2, 3, dtype=torch.float64, requires_grad=True))

        assert isinstance(seen, TensorSnapshot)
        assert ((2, 3), "float64", "cpu", True) == (seen.shape, seen.dtype, seen.device, seen.requires_grad)

    def test_a_meta_tensor_has_no_values(self) -> None:
        """A tensor without memory is seen without values, on its own device."""
        seen = see(torch.ones(2, device="meta"))

        assert isinstance(seen, TensorSnapshot)
        assert (None, "meta") == (seen.values, seen.device)

    @pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
    def test_a_nested_tensor_is_in_a_layout_of_its_own(self) -> None:
        """It has no shape: to ask for one is an error, of which its student would be told."""
        nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])

        assert OtherValue("Tensor", "tensor with layout torch.nested") == see(nested)

    def test_a_stranger_becomes_text(self) -> None:
        """An object of another kind is written down as its type and a short text."""
        assert OtherValue("range", "range(0, 3)") == see(range(3))

    def test_a_hostile_repr_is_survived(self) -> None:
        """An object whose repr raises is seen all the same."""

        class Hostile:
            def __repr__(self) -> str:
                raise RuntimeError

        assert OtherValue("Hostile", "(its repr raised RuntimeError)") == see(Hostile())

    def test_a_list_within_itself_ends(self) -> None:
        """A structure that contains itself is cut off."""
        endless: list[object] = []
        endless.append(endless)

        assert isinstance(see(endless), list)


class TestCalling:
    def test_a_crash_is_a_facet(self) -> None:
        """An exception is written down with type, message and the student's line."""

        def answer(x: torch.Tensor) -> None:
            raise ValueError("no good")

        error = observe(answer)["raised"]

        assert ExceptionSnapshot("ValueError", "no good", 'raise ValueError("no good")') == error

    def test_exit_is_a_crash(self) -> None:
        """exit() in an answer does not end the process."""
        assert "SystemExit" == observe(lambda x: sys.exit(3))["raised"].type

    def test_an_input_changed_in_place_is_named(self) -> None:
        """The probe says which argument no longer holds what the case holds."""
        assert ["argument 1"] == observe(lambda x: x.add_(1))["inputs"]
        assert [] == observe(lambda x: x + 1)["inputs"]

    def test_the_case_itself_stays_as_it_was(self) -> None:
        """Students get copies: one answer cannot spoil the case for the next."""
        observe(lambda x: x.zero_())

        assert 15 == X.sum()

    def test_sharing_tells_view_from_copy(self) -> None:
        """For each tensor returned, the arguments whose memory it uses."""
        seen = observe(lambda x: (x[0].clone(), x[1:]), sharing=True)

        assert [[], ["argument 1"]] == seen["sharing"]

    def test_the_global_generator_is_watched(self) -> None:
        """Drawing from torch's global generator shows."""
        assert observe(lambda x: torch.rand(1), rng=True)["rng"] is False
        assert observe(lambda x: x + 1, rng=True)["rng"] is True

    def test_the_gradient_is_a_facet(self) -> None:
        """The gradient of a weighted sum of the result tells a tracked answer from a detached one."""
        seen = observe(lambda x: 2 * x, grad=True)["gradient"]["argument 1"]

        assert torch.equal(2 * torch.arange(1.0, 7.0).reshape(2, 3), seen.values)
        assert observe(lambda x: (2 * x).detach(), grad=True)["gradient"] is None

    def test_a_second_call_is_observed(self) -> None:
        """An answer that remembers its first call shows it in the second."""
        calls: list[int] = []
        seen = observe(lambda x: calls.append(1) or len(calls), times=2)  # type: ignore[func-returns-value]

        assert (1, [2]) == (seen["returned"], seen["again"])


class TestModes:
    """A dispatch mode that an answer leaves on would see whatever is computed later."""

    @pytest.mark.parametrize("stopped", [None, ValueError, KeyboardInterrupt])
    def test_none_outlives_a_probe(self, stopped: type[BaseException] | None) -> None:
        """Whether the answer returns, raises, or is interrupted."""

        def answer(x: torch.Tensor) -> torch.Tensor:
            for _ in range(2):
                TorchDispatchMode().__enter__()  # type: ignore[no-untyped-call]
            if stopped:
                raise stopped
            return x

        with contextlib.suppress(KeyboardInterrupt):
            observe(answer)

        assert 0 == active_mode_count()
