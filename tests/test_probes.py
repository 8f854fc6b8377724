"""The library of probes, applied to answers to no exercise."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.exercises.exercise import Case
from autograder.exercises.observation import ExceptionSnapshot, Observation, TensorSnapshot
from autograder.exercises.probe import Answer, combine_probes_in_order, make_probe_recording_exceptions, select_facets
from autograder.exercises.probes.gradients import make_tensor_arguments_probe
from autograder.exercises.probes.memory_sharing import observe_copy_and_view
from autograder.exercises.probes.random_results import (
    SEED,
    distribution_facts,
    make_seeded_probe,
    observe_seeded_batch,
    randomness_facts,
    temporarily_seeded,
)
from autograder.exercises.probes.repeated_calls import with_second_call
from autograder.exercises.probes.tensor_functions import make_call_probe, make_returned_dict_entries_probe

X = torch.arange(6.0).reshape(2, 3)


def look(answer: Answer, case: Case) -> Observation:
    """Return two facets for a number, and one for anything else."""
    result = answer(*case.args)
    return {"half": result / 2, "double": result * 2} if isinstance(result, int) else {"returned": result}


def case(*args: object, **kwargs: object) -> Case:
    """Return a case of some requirement."""
    return Case("works", *args, **kwargs)


class TestCalling:
    @pytest.mark.parametrize(
        ("answer", "left"),
        [
            (lambda x: x * 2, []),
            (lambda x: x.add_(1), ["argument 1"]),
            (lambda x: x.requires_grad_(), ["requires_grad of argument 1"]),
            (
                lambda x: (x.requires_grad_() * 2).sum().backward(),
                ["requires_grad of argument 1", ".grad of argument 1"],
            ),
        ],
    )
    def test_it_tells_what_became_of_its_arguments(self, answer: Answer, left: list[str]) -> None:
        """Changes of an argument's values, flags and `.grad` are recorded."""
        assert left == make_call_probe()(answer, case(X))["inputs"]

    def test_arguments_that_were_tracked_stay_so(self) -> None:
        """Tracking by the probe itself is no change, but ending it is."""
        assert [] == make_call_probe(grad=True)(lambda x: x * 2, case(X))["inputs"]
        assert ["requires_grad of argument 1"] == make_call_probe(grad=True)(
            lambda x: x.requires_grad_(False), case(X)
        )["inputs"]


class TestWatched:
    def test_some_facets_are_kept(self) -> None:
        """Only the named facets are recorded."""
        assert {"double": 8} == make_probe_recording_exceptions(look, "double")(lambda: 4, case())

    def test_another_form_is_kept_as_it_is(self) -> None:
        """If the named facet is missing, all facets are recorded; `select_facets` records None."""
        assert {"returned": "4"} == make_probe_recording_exceptions(look, "double")(lambda: "4", case())
        assert {"double": None} == select_facets(make_probe_recording_exceptions(look), "double")(lambda: "4", case())

    def test_a_crash_is_a_facet(self) -> None:
        """An exception is recorded whatever facets are named."""
        seen = make_probe_recording_exceptions(look, "double")(lambda: 1 // 0, case())

        assert ["raised"] == list(seen)
        assert isinstance(seen["raised"], ExceptionSnapshot)

    def test_probes_take_turns(self) -> None:
        """With probes in turn, each facet is the list of what each probe recorded."""
        assert {"half": [2.0], "double": [8, 8]} == combine_probes_in_order(
            make_probe_recording_exceptions(look), make_probe_recording_exceptions(look, "double")
        )(lambda: 4, case())

    def test_what_is_kept_between_two_calls_is_noticed(self) -> None:
        """An answer that keeps state has the facet `afresh` False."""
        calls = count()

        assert {"afresh": True, "double": 8} == with_second_call(make_probe_recording_exceptions(look, "double"))(
            lambda: 4, case()
        )
        assert {"afresh": False, "double": 0} == with_second_call(make_probe_recording_exceptions(look, "double"))(
            lambda: next(calls), case()
        )
        assert "raised" in with_second_call(make_probe_recording_exceptions(look))(lambda: 1 // 0, case())
        assert "raised" in with_second_call(make_probe_recording_exceptions(look))(
            [4].pop, case()
        )  # raises at the second call


class TestEntries:
    def test_only_some_are_looked_at(self) -> None:
        """Only the named entries are recorded."""
        assert {"returned": {"a": 1}} == make_returned_dict_entries_probe("a")(lambda: {"a": 1, "b": "?"}, case())

    def test_a_whole_number_may_count_as_a_float(self) -> None:
        """For entries in `floats`, 256 counts as 256.0."""
        seen = make_returned_dict_entries_probe("a", "b", floats=("a",))(lambda: {"a": 256, "b": 256}, case())

        assert {"a": "float", "b": "int"} == {key: type(value).__name__ for key, value in seen["returned"].items()}


class TestMemory:
    @pytest.mark.parametrize(
        ("answer", "follows"),
        [
            (lambda x: (x[0].clone(), x[1:]), (False, True, False)),
            (lambda x: (x[0], x[1:].clone()), (True, False, False)),
            (lambda x: (x[0].detach(), x[1:]), (True, True, True)),
            (lambda x: (torch.from_numpy(x[0].numpy()), x[1:]), (True, True, False)),
        ],
    )
    def test_it_tells_what_follows(self, answer: Answer, follows: tuple[bool, ...]) -> None:
        """A view changes with x, a copy does not, and detaching does not copy."""
        seen = observe_copy_and_view(answer, case(X))

        assert follows == (seen["copy_follows"], seen["view_follows"], seen["detached"])


class TestGradients:
    def test_it_tells_what_is_left_behind(self) -> None:
        """Changed tracking and `.grad` of the arguments are recorded."""

        def untidy(x: Tensor) -> Tensor:
            x.requires_grad_()
            (x**2).sum().backward()
            assert x.grad is not None
            return x.grad

        seen = make_tensor_arguments_probe("tracked", "left")(untidy, case(X))

        assert {"tracked": False, "left": [["requires_grad", ".grad"]]} == seen

    def test_what_is_behind_a_result_may_be_left_as_it_was(self) -> None:
        """For computed tensors, detaching and gradients behind them are recorded."""
        seen = make_tensor_arguments_probe("left", computed=True)
        assert {"left": [[], []]} == seen(lambda x: x * 2, case(X))
        assert {"left": [[], ["requires_grad", "leaf"]]} == seen(lambda x: x.detach_(), case(X))
        assert {"left": [[".grad"], []]} == seen(lambda x: (x * 2).sum().backward(), case(X))

    def test_a_text_stands_for_a_function(self) -> None:
        """A text in a case becomes the function that it names."""
        twice: dict[str, Callable[[Tensor], Tensor]] = {"twice": lambda x: 2 * x}
        seen = make_tensor_arguments_probe("returned", functions=twice)(lambda f, x: f(x), case("twice", X))

        assert isinstance(seen["returned"], TensorSnapshot)
        assert torch.equal(2 * X, seen["returned"].values)


class TestChance:
    @pytest.mark.parametrize("kind", ["uniform", "normal"])
    def test_it_knows_a_distribution(self, kind: Any) -> None:
        """Numbers are recognized as those of their own distribution only."""
        with temporarily_seeded(SEED):
            drawn = torch.randn(5000) if kind == "normal" else (torch.rand(5000) - 0.5) * 12**0.5
        told = {name: distribution_facts(drawn, name, 1.0)["distribution"] for name in ("uniform", "normal")}  # type: ignore[arg-type]

        assert {"uniform": kind == "uniform", "normal": kind == "normal"} == told

    def test_a_probe_leaves_the_generators_alone(self) -> None:
        """A probe does not change the global generator."""
        with temporarily_seeded(1):
            expected = torch.rand(3)
        with temporarily_seeded(1):
            make_seeded_probe(lambda answer, _: {"drawn": answer().tolist()})(lambda: torch.rand(2), case())
            observe_seeded_batch(lambda n, seed=0: torch.randn(n), case(5))
            after = torch.rand(3)

        assert torch.equal(expected, after)

    @pytest.mark.parametrize(
        ("seeded", "told"),
        [
            (False, {"anew": True, "global": True, "untouched": True}),
            (True, {"anew": False, "global": True, "untouched": False}),
        ],
    )
    def test_it_tells_a_seed_that_is_set(self, seeded: bool, told: dict[str, bool]) -> None:
        """A function that seeds the global generator is recognized."""

        def draw() -> Tensor:
            if seeded:
                torch.default_generator.manual_seed(3)
            return torch.rand(3)

        with temporarily_seeded(1):
            assert told == randomness_facts(draw)
