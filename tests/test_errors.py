"""The package's errors: one line each, with a next step."""

from autograder.errors import CourseError, UnknownExercise


class TestUnknownExercise:
    def test_suggests_the_nearest_name(self) -> None:
        """For a misspelt exercise, the message suggests the nearest name."""
        error = UnknownExercise("standardise", ["describe", "standardize"])

        assert "Did you mean 'standardize'?" in str(error)

    def test_lists_all_names_when_none_is_near(self) -> None:
        """If no name is near, the message lists all names."""
        error = UnknownExercise("zzz", ["describe", "standardize"])

        assert "describe, standardize" in str(error)


def test_a_notebook_shows_one_line() -> None:
    """In IPython, the traceback of such an error is a single line."""
    assert ["CourseError: no disk"] == CourseError("no disk")._render_traceback_()
