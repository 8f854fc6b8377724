"""`check` and `hint` in a student's notebook, on the shipped cases."""

import pytest
import torch

from autograder import check, hint
from autograder.diagnosis.verdict import Status
from autograder.errors import CheckFailed, UnknownExercise
from autograder.notebook.check_and_hint import report_on_visible_cases
from tests.sample_course import COURSE

pytestmark = pytest.mark.usefixtures("in_the_sample")


def flatten_images(x: torch.Tensor) -> torch.Tensor:
    """A right answer."""
    n, c = x.shape[:2]
    return x.reshape(n, c, -1).transpose(1, 2)


def stub(x: torch.Tensor) -> torch.Tensor:
    """An unwritten answer."""
    raise NotImplementedError


class TestCheck:
    def test_a_right_answer_is_shown_as_passed(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A right answer displays that all checks passed."""
        check("flatten_images", flatten_images)

        assert "checks passed" in capsys.readouterr().out

    def test_a_wrong_answer_does_not_stop_the_notebook(self, capsys: pytest.CaptureFixture[str]) -> None:
        """A failed check raises nothing, so that Run All continues."""
        check("flatten_images", stub)

        assert "not begun yet" in capsys.readouterr().out

    def test_under_nbgrader_a_wrong_answer_is_an_error(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Under nbgrader a failed check raises CheckFailed, because nbgrader gives 0 points only for errors."""
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")

        with pytest.raises(CheckFailed, match="not begun yet"):
            check("flatten_images", stub)

    def test_under_nbgrader_the_error_says_why(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Under nbgrader the error contains the message, because Validate shows nothing else."""
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")

        with pytest.raises(CheckFailed, match=r"0 of \d+ checks passed\nExpected the result to be a tensor"):
            check("flatten_images", len)

    def test_under_nbgrader_a_right_answer_passes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A solved exercise raises nothing."""
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")

        check("flatten_images", flatten_images)

    def test_an_unknown_name_is_one_line(self) -> None:
        """A misspelt name raises an error that suggests the nearest one."""
        with pytest.raises(UnknownExercise, match="Did you mean 'flatten_images'"):
            check("flaten_images", flatten_images)

    def test_a_swapped_call_is_explained(self) -> None:
        """A call with the function first, or without a name, raises an error that shows the right call."""
        for wrong in ((flatten_images, "flatten_images"), (flatten_images,)):
            with pytest.raises(UnknownExercise, match="The name comes first, in quotes"):
                check(*wrong)  # type: ignore[arg-type]

    def test_another_exercises_function_is_named(self) -> None:
        """A function of another exercise gets a message that names it."""

        def add_bias(x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            return x

        first = report_on_visible_cases("flatten_images", add_bias).first

        assert first is not None
        assert "This is `add_bias`" in first.sentence

    @pytest.mark.parametrize("answer", [3, None, torch.zeros(2), "flatten_images"], ids=str)
    def test_a_result_in_place_of_the_function_is_explained(self, answer: object) -> None:
        """A result in place of the function gets a message with the right call."""
        first = report_on_visible_cases("flatten_images", answer).first  # type: ignore[arg-type]

        assert first is not None
        assert 'Write `check("flatten_images", flatten_images)`' in first.sentence

    @pytest.mark.parametrize("answer", [lambda: 1, lambda x, y, z: 1], ids=["none", "three"])
    def test_a_wrong_number_of_parameters_is_an_error_verdict(self, answer: object) -> None:
        """A wrong number of parameters gives an error verdict with Python's own message."""
        first = report_on_visible_cases("flatten_images", answer).first  # type: ignore[arg-type]

        assert first is not None
        assert Status.ERROR is first.status
        assert "argument" in first.sentence

    def test_another_device_is_told(self) -> None:
        """A result on another device gets a message about the device."""
        first = report_on_visible_cases("flatten_images", lambda x: flatten_images(x).to("meta")).first

        assert first is not None
        assert "device cpu, got meta" in first.sentence


class TestHint:
    def test_hints_come_one_at_a_time_and_start_again(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Each call prints the next hint, and after the last one the first."""
        count = len(COURSE.find("flatten_images").hints)
        given = []
        for _ in range(count + 1):
            hint("flatten_images")
            given.append(capsys.readouterr().out)

        assert given[0] == given[-1]
        assert count == len(set(given))

    def test_an_unknown_name_is_one_line(self) -> None:
        """A hint for an unknown exercise raises UnknownExercise."""
        with pytest.raises(UnknownExercise):
            hint("flaten")
