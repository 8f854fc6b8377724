"""Exercises: drawing their cases, observing answers, and checks of an author's mistakes."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from autograder.errors import ExerciseError, UnknownExercise
from autograder.exercises.compare_observations import first_difference
from autograder.exercises.exercise import Case, ExerciseSet, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe
from autograder.exercises.seeded_draw import Draw
from tests import made
from tests.our_course import COURSE


class TestDraw:
    def test_the_same_seed_draws_the_same(self) -> None:
        """The same seed gives the same cases, so that grading can be repeated."""
        one, other = Draw(7), Draw(7)

        assert torch.equal(one.normal(3, 4), other.normal(3, 4))
        assert (one.whole(0, 99), one.sizes(3)) == (other.whole(0, 99), other.sizes(3))

    def test_another_seed_draws_something_else(self) -> None:
        """Another seed gives other numbers."""
        assert not torch.equal(Draw(0).normal(3, 4), Draw(1).normal(3, 4))

    def test_sizes_are_all_different(self) -> None:
        """Drawn sizes differ, so that no square shape hides swapped dimensions."""
        assert all(3 == len(set(Draw(seed).sizes(3))) for seed in range(50))

    def test_counting_shows_the_order_on_the_visible_cases_alone(self) -> None:
        """`counting` gives 0, 1, 2, ... on visible cases, and the same numbers shuffled on others."""
        assert torch.equal(Draw(0).counting(3, 4), torch.arange(12.0).reshape(3, 4))
        assert not torch.equal(Draw(1).counting(3, 4), Draw(0).counting(3, 4))
        assert torch.equal(Draw(1).counting(3, 4).reshape(-1).sort().values, torch.arange(12.0))

    def test_the_global_generators_are_left_alone(self) -> None:
        """Drawing cases does not change torch's global generator."""
        torch.manual_seed(3)
        expected = torch.rand(1)
        torch.manual_seed(3)
        draw = Draw(0)
        draw.normal(2), draw.ints(0, 3, 2), draw.bools(4), draw.uniform(2)

        assert torch.equal(expected, torch.rand(1))


class TestExerciseSet:
    def test_cases_follow_the_seed(self) -> None:
        """Another seed gives other numbers for the same requirements."""
        one, other = made.exercise().cases(0), made.exercise().cases(1)

        assert [case.requirement for case in one] == [case.requirement for case in other]
        assert not torch.equal(one[0].args[0], other[0].args[0])

    @pytest.mark.parametrize("name", ["double", "compare_optimizers"])
    def test_cases_are_drawn_whatever_torch_is_set_to(self, name: str) -> None:
        """A default device or dtype set by the student changes neither cases nor requirements."""
        double = made.exercise() if name == "double" else replace(COURSE.find(name))
        usual = double.cases(0)
        try:
            torch.set_default_device("meta")
            torch.set_default_dtype(torch.float64)
            drawn, requirements = double.cases(0), double.requirements
        finally:
            torch.set_default_device(None)
            torch.set_default_dtype(torch.float32)

        assert str([(case.args, case.kwargs) for case in usual]) == str([(case.args, case.kwargs) for case in drawn])
        assert set(requirements) == {case.requirement for case in usual}

    def test_observing_is_repeatable(self) -> None:
        """Observing a deterministic answer twice gives the same."""
        double, cases = made.exercise(), made.exercise().cases(0)
        pairs = zip(double.observe(made.reference, cases), double.observe(made.reference, cases), strict=True)

        assert all(first_difference(one, other, double.tolerance) is None for one, other in pairs)

    def test_settings_left_behind_do_not_count(self) -> None:
        """A default dtype or grad mode set by an answer is restored after each call."""

        def careless(x: torch.Tensor, plus: float) -> torch.Tensor:
            usual = torch.get_default_dtype() is torch.float32 and torch.is_grad_enabled()
            torch.set_default_dtype(torch.float64)
            torch.set_grad_enabled(False)
            return 2 * x + plus if usual else x

        assert made.report(careless).passed
        assert torch.get_default_dtype() is torch.float32 and torch.is_grad_enabled()

    def test_an_unknown_name_is_told_the_known_ones(self) -> None:
        """An unknown name raises UnknownExercise with the known names."""
        with pytest.raises(UnknownExercise, match="double"):
            ExerciseSet("ch99", [made.exercise()])["treble"]

    def test_an_exercise_needs_a_goal_and_a_hint(self) -> None:
        """An exercise without a docstring or hints raises ExerciseError."""

        def cases(draw: Draw) -> Iterator[Case]:
            yield made.doubles(draw.normal(2), plus=0.0)

        with pytest.raises(ExerciseError, match="docstring"):
            exercise(tier="core", hints=("h",))(cases)
        cases.__doc__ = "Double."
        with pytest.raises(ExerciseError, match="hint"):
            exercise(tier="core", hints=())(cases)

    def test_a_case_needs_a_requirement(self) -> None:
        """A case without a Requirement raises ExerciseError."""

        def cases(draw: Draw) -> Iterator[Case]:
            """Double."""
            yield Case("doubles", draw.normal(2), plus=0.0)

        with pytest.raises(ExerciseError, match="found 'doubles'"):
            exercise(tier="core", hints=("h",))(cases).observe(made.reference, [Case("doubles", 1)])

    def test_a_probe_that_was_not_made_is_an_error(self) -> None:
        """A probe factory that was not called raises ExerciseError."""
        with pytest.raises(ExerciseError, match=r"found make_call_probe\. .* `make_call_probe\(\)`"):
            Requirement("doubles", make_call_probe)  # type: ignore[arg-type]

    def test_an_aspect_that_nothing_differs_in_is_an_error(self) -> None:
        """A message for an unknown aspect raises ExerciseError, because it would never appear."""
        Requirement("doubles", make_call_probe(), {"returned:shape": "Another shape."})
        with pytest.raises(ExerciseError, match=r"'returned:shap'.* shape, dtype"):
            Requirement("doubles", make_call_probe(), {"returned:shap": "Another shape."})

    def test_two_requirements_of_one_sentence_are_an_error(self) -> None:
        """Two requirements with one sentence raise ExerciseError."""

        def cases(draw: Draw) -> Iterator[Case]:
            """Double."""
            yield made.doubles(draw.normal(2), plus=0.0)
            yield Requirement("doubles", make_call_probe())(draw.normal(3), plus=0.0)

        with pytest.raises(ExerciseError, match="two for 'doubles'"):
            exercise(tier="core", hints=("h",))(cases).observe(made.reference, [Case("doubles", 1)])


def test_no_hint_asks_for_a_key() -> None:
    """No hint mentions a key, since keys differ between JupyterLab and Colab."""
    hints = [hint for each in COURSE.all_exercises() for hint in each.hints]

    assert len(hints) > 100
    assert [] == [hint for hint in hints if re.search(r"\b([Pp]ress|Tab|Ctrl|Shift|Enter)\b", hint)]
