"""A teacher's own exercise: the guide's walkthrough, and errors about invalid ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from autograder.authoring.custom_exercise import (
    custom_exercise_path,
    prove_and_install_custom_exercise,
    write_custom_exercise_template,
)
from autograder.errors import ExerciseError
from tests.second_course import COURSE, EXERCISE, environment, make_second_course
from tests.small_chapter import PROJECT

NAME = "moving_average"
WRONG = "You add up the neighbors. A mean divides by how many they are."
SOLUTION = "return x.unfold(-1, k, 1).mean(dim=-1)\n    ### END"

pytestmark = pytest.mark.xdist_group("own")


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a course with the template of an own exercise."""
    course = make_second_course(tmp_path) / COURSE
    write_custom_exercise_template(course, NAME)
    return course


def _contents(course: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in course.rglob("*") if path.is_file()}


@pytest.mark.night  # a process for each of nbgrader's commands, half a minute: at night
def test_the_guides_walk_word_for_word(tmp_path: Path) -> None:
    """The guide's commands and code, in order, lead to a graded class of two."""
    guide = (PROJECT / "docs" / "teachers.md").read_text(encoding="utf-8")
    walk = guide.partition("## An exercise of your own, in twenty minutes")[2].partition("\n## ")[0]
    blocks = re.findall(r"^ *(?:\d\. )?```(bash|python)\n(.*?)^ *```", walk, re.MULTILINE | re.DOTALL)
    project = make_second_course(tmp_path)
    (project / COURSE).rename(project / "course")
    (project / "pyproject.toml").write_text('[tool.pytorch-basics]\ncourse = "course"\naddress = ""\n')
    (project / "course" / "chapters" / "week_ends.py").unlink()
    for kind in ("exercises", "answers"):
        (project / "course" / kind / "week_ends" / f"{EXERCISE}.py").unlink()
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for kind, text in blocks:
        if kind == "python":
            with custom_exercise_path(project / "course", NAME).open("a", encoding="utf-8") as file:
                file.write(dedent(text))
            continue
        command = ["bash", "-ec", dedent(text)]
        ran = subprocess.run(command, cwd=project, env={**environment(), "PATH": path}, capture_output=True, text=True)
        assert ran.returncode == 0, f"{text}{ran.stdout}{ran.stderr}"

    from nbgrader.api import Gradebook

    with Gradebook(f"sqlite:///{project / 'course' / 'gradebook.db'}") as gradebook:
        scores = {student: gradebook.find_submission(NAME, student).score for student in ("ada", "ben")}
    page = (project / "course" / "feedback" / "ben" / NAME / f"{NAME}.html").read_text(encoding="utf-8")
    report = (project / "course" / "reports" / f"{NAME}.html").read_text(encoding="utf-8")
    assert ["bash", "python"] == sorted({kind for kind, _ in blocks}) and 6 == len(blocks)
    assert {"ada": 2.0, "ben": 0.0} == scores
    assert WRONG in walk and WRONG in page and WRONG in report


@pytest.mark.parametrize(
    ("old", "new", "told", "seconds"),
    [
        (SOLUTION, "while True: pass\n    ### END", "has not ended after 5 s", 5),
        (SOLUTION, "return x.nothing()\n    ### END", "AttributeError", 120),
        (" points=2", "", "has no points", 1),
        (" points=2", " points=0", "has no points", 1),
        ("# %% answers", "# %% answer", "expected one line `# %% cases`", 1),
    ],
)
@pytest.mark.night
def test_no_good(course: Path, old: str, new: str, told: str, seconds: float) -> None:
    """An invalid exercise gives one line, and nothing is written."""
    path = custom_exercise_path(course, NAME)
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    before = _contents(course)

    (line,) = prove_and_install_custom_exercise(course, NAME, seconds=seconds)

    assert told in line and NAME in line
    assert before == _contents(course)


def test_name_is_taken(course: Path) -> None:
    """A name that is taken, or invalid, is refused."""
    before = _contents(course)
    for name, told in (
        (EXERCISE, "is taken"),
        ("week_ends", "is taken"),
        (NAME, "is there already"),
        ("a-b", "such as"),
    ):
        with pytest.raises(ExerciseError, match=told):
            write_custom_exercise_template(course, name)
    assert before == _contents(course)

    custom_exercise_path(course, NAME).rename(custom_exercise_path(course, EXERCISE))
    before = _contents(course)
    (line,) = prove_and_install_custom_exercise(course, EXERCISE)
    assert "is taken" in line and before == _contents(course)
