"""The errors: one line each, with a next step."""

from autograder.errors import CourseError, UnknownExercise


class TestUnknownExercise:
    def test_suggests_the_nearest_name(self) -> None:
        """A misspelt exercise is answered with the name that was probably meant."""
        error = UnknownExercise("standardise", ["describe", "standardize"])

        assert "Did you mean 'standardize'?" in str(error)

    def test_lists_all_names_when_none_is_near(self) -> None:
        """A name like no other is answered with the whole list."""
        error = UnknownExercise("zzz", ["describe", "standardize"])

        assert "describe, standardize" in str(error)


def test_a_notebook_shows_one_line() -> None:
    """IPython asks the error for its traceback and gets a single line."""
    assert ["CourseError: no disk"] == CourseError("no disk")._render_traceback_()
