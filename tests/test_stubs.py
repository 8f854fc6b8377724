"""The stubs of a new exercise: all or none are written, they build, and they list what to write."""

import re
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.authoring.build_course import build
from autograder.authoring.exercise_file_checks import MARK
from autograder.authoring.new_exercise import write_new_exercise
from autograder.authoring.proof import prove
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.errors import ChapterFormatError, CourseError
from tests.proven_course import edit, make_proven_course

CLOSING = """
# %% [markdown]
# Your progress:

# %% name="progress"
progress()

# %% [markdown]
# Good-bye.
"""


@pytest.fixture
def parts(tmp_path: Path) -> ExerciseParts:
    """Return an existing exercise in its course."""
    return make_proven_course(tmp_path)


@pytest.fixture
def fresh(parts: ExerciseParts) -> ExerciseParts:
    """Return a new exercise in that course."""
    write_new_exercise(parts.course, "row_range", parts.stem)
    return ExerciseParts(parts.course, parts.stem, "row_range")


def test_each_place_is_told(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """The command lists each written place and the next step."""
    assert main(["--root", str(parts.course.parent), "new", "row_range", "week_ends"]) == 0
    assert [
        "lessons/chapters/week_ends.py:34: the cells of row_range; move them to where it is taught",
        "lessons/exercises/week_ends/row_range.py: its requirements, cases and hints",
        "lessons/answers/week_ends/row_range.py: its wrong and right answers",
        "Write what is asked for behind TO WRITE; `autograder prove row_range` says what is missing.",
    ] == capsys.readouterr().out.splitlines()


def test_they_build(fresh: ExerciseParts) -> None:
    """The stubs build, so that an author can view the notebook."""
    build(fresh.course.parent)

    assert "row_range" in (fresh.course.parent / "notebooks" / "week_ends.ipynb").read_text()


def test_what_is_to_be_written_is_listed(fresh: ExerciseParts) -> None:
    """`prove` lists each mark with its file and line."""
    lines = prove(fresh)

    assert len(lines) == 11
    for line in lines:
        path, number, told = re.fullmatch(r"(.+?):(\d+): still to write: (.+)\.", line).groups()  # type: ignore[union-attr]
        row = (fresh.course.parent / path).read_text().splitlines()[int(number) - 1]
        assert f"{MARK}: {told}" in row


def test_once_written_there_is_more_to_say(fresh: ExerciseParts) -> None:
    """Without marks, `prove` runs the exercise and lists what is missing."""
    for path in (fresh.chapter, fresh.exercise, fresh.bank):
        path.write_text(path.read_text().replace(MARK, "written"))

    lines = prove(fresh)

    assert "lessons/answers/week_ends/row_range.py: no wrong answers, where a core exercise has at least 6" in lines[0]
    assert any("returning the first argument earns points" in line for line in lines)


def test_closing_cells_stay_last(parts: ExerciseParts) -> None:
    """The chapter's closing cells stay last."""
    edit(parts.chapter, "import check\n", "import check, progress\n")
    parts.chapter.write_text(parts.chapter.read_text() + CLOSING)
    before = parts.chapter.read_text()
    write_new_exercise(parts.course, "row_range", parts.stem)
    text = parts.chapter.read_text()

    assert text.endswith('check("row_range", row_range)\n' + CLOSING)
    assert before == text.replace(text[text.index("# %% [markdown]\n# ### Exercise") : text.index(CLOSING) + 1], "")


def test_a_chapter_without_exercises(parts: ExerciseParts) -> None:
    """The first exercise of a chapter creates the folder with its `__init__.py`."""
    other = parts.chapter.with_name("week_none.py")
    other.write_text(parts.chapter.read_text().split("# %% exercise=")[0])

    write_new_exercise(parts.course, "row_range", "week_none")

    assert ["__init__.py", "row_range.py"] == sorted(
        p.name for p in (parts.exercise.parents[1] / "week_none").iterdir()
    )


@pytest.mark.parametrize(
    ("name", "stem", "told"),
    [
        ("swap_ends", "week_ends", "there is an exercise 'swap_ends' in week_ends; choose another name."),
        ("Swap_Ends", "week_ends", "there is an exercise 'swap_ends' in week_ends; choose another name."),
        ("2nd", "week_ends", "expected a name such as column_range: letters, digits and underscores"),
        ("../x", "week_ends", "expected a name such as column_range: letters, digits and underscores"),
        ("class", "week_ends", "expected a name such as column_range: letters, digits and underscores"),
        ("torch", "week_ends", "'torch' is Python's own, or a name of the setup cell; choose another name."),
        ("sum", "week_ends", "'sum' is Python's own, or a name of the setup cell; choose another name."),
        ("row_range", "week_start", "there is no chapter 'week_start'; the chapters are: week_ends."),
    ],
)
def test_what_cannot_be_is_refused(parts: ExerciseParts, name: str, stem: str, told: str) -> None:
    """An invalid name or chapter raises a one-line error, and nothing is written."""
    before = {path: path.read_bytes() for path in parts.course.rglob("*") if path.is_file()}

    with pytest.raises(CourseError, match=re.escape(told)):
        write_new_exercise(parts.course, name, stem)
    assert before == {path: path.read_bytes() for path in parts.course.rglob("*") if path.is_file()}


def test_a_name_that_a_cell_has_is_refused(parts: ExerciseParts) -> None:
    """A name that a cell has raises ChapterFormatError, and nothing is written."""
    edit(parts.chapter, 'name="opening"', 'name="ends"')

    with pytest.raises(ChapterFormatError, match="the name 'ends' stands on line 1 too; choose another"):
        write_new_exercise(parts.course, "ends", parts.stem)
    assert not ExerciseParts(parts.course, parts.stem, "ends").exercise.exists()
