"""Reading a course from its folder reads only what is requested."""

from pathlib import Path

import pytest

from autograder.course.course import Course
from autograder.course.course_location import EXERCISES, SHIPPED
from autograder.errors import ExerciseError, UnknownExercise

EXERCISE = '''
from autograder.exercises.exercise import Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe

doubles = Requirement("doubles", make_call_probe())


@exercise(tier="core", hints=("Twice.",))
def double(draw):
    """Double."""
    yield doubles(draw.normal(2))
'''


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """Return a course with one readable and one broken exercise."""
    folder = tmp_path / EXERCISES / "week_one"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").touch()
    (folder / "__init__.py").touch()
    (folder / "double.py").write_text(EXERCISE)
    (folder / "broken.py").write_text("raise RuntimeError\n")
    (tmp_path / SHIPPED).mkdir()
    (tmp_path / SHIPPED / "week_one.hints.json").write_text('{"double": ["Twice."]}')
    return Course(tmp_path)


def test_nothing_is_read_but_the_exercise_that_is_looked_for(course: Course) -> None:
    """A broken exercise does not prevent finding another one."""
    assert "double" == course.find("double").name
    with pytest.raises(ExerciseError, match=r"broken\.py:1: RuntimeError"):
        course.exercises("week_one")


@pytest.mark.parametrize("name", ["duoble", None])
def test_an_exercise_that_is_not_there(course: Course, name: object) -> None:
    """An unknown exercise raises an error with the known names."""
    with pytest.raises(UnknownExercise, match="double"):
        course.find(name)


def test_hints_are_read_once(course: Course) -> None:
    """Hints are cached, because each recorded submission needs them."""
    once = course.hints("week_one")
    (course.folder / SHIPPED / "week_one.hints.json").unlink()

    assert {"double": ("Twice.",)} == once == course.hints("week_one")
