"""Consistency of an exercise's files at build time: each missing counterpart gives a line with the file."""

from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.course.missing_exercise_parts import ExerciseParts
from tests.proven_course import edit, make_proven_course

FILE = "exercises/week_ends/swap_ends.py"
BANK = "answers/week_ends/swap_ends.py"
CHAPTER = "chapters/week_ends.py"


@pytest.fixture
def parts(tmp_path: Path) -> ExerciseParts:
    """Return a complete exercise."""
    return make_proven_course(tmp_path)


def built(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the errors of a build that fails and writes nothing."""
    project = parts.course.parent

    assert main(["--root", str(project), "build"]) == 1
    assert not (project / "notebooks").exists()
    told = capsys.readouterr().err.removeprefix("error: ").replace(f"{parts.course}/", "")
    return told.replace("lessons/", "").replace(f"{project.name}/", "").splitlines()


def test_an_exercise_without_a_bank(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing bank is named."""
    parts.bank.unlink()

    assert [f'{BANK}: not there; write `bank = AnswerBank("swap_ends")`, wrong and right answers.'] == built(
        parts, capsys
    )


def test_an_exercise_without_a_file(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A missing exercise file is named."""
    parts.exercise.unlink()

    assert [f"{FILE}: not there; write the requirements, cases and hints of 'swap_ends'."] == built(parts, capsys)


def test_files_of_an_exercise_that_no_cell_has(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """Files of an unknown exercise are all named."""
    for path in (parts.exercise, parts.bank):
        text = path.read_text().replace("swap_ends", "swap_end")
        path.with_name("swap_end.py").write_text(text)

    assert [
        f"{FILE.replace('ends.py', 'end.py')}: {CHAPTER} has no exercise 'swap_end'; "
        'write its cells there, exercise="swap_end" and check="swap_end", or delete the file.',
        f"{BANK.replace('ends.py', 'end.py')}: answers to 'swap_end', which is no exercise of {CHAPTER} "
        "(is it 'swap_ends'?); rename or delete the file.",
    ] == built(parts, capsys)


@pytest.mark.parametrize("kind", ["exercises", "answers"])
def test_a_folder_of_no_chapter(parts: ExerciseParts, capsys: pytest.CaptureFixture[str], kind: str) -> None:
    """A folder without a chapter is named."""
    folder = parts.course / kind / "week_end"
    folder.mkdir()
    (folder / "swap_ends.py").write_text("")

    assert [
        f"{kind}/week_end: there is no chapter 'week_end'; write chapters/week_end.py, or rename the folder."
    ] == built(parts, capsys)


def test_two_exercises_of_one_name_in_two_chapters(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A name in two chapters is an error, and `prove` reports it too."""
    parts.chapter.with_name("week_starts.py").write_text(parts.chapter.read_text())

    assert [
        f"chapters/week_starts.py:17: the exercise 'swap_ends' stands in {CHAPTER}:17 too; give one another name."
    ] == built(parts, capsys)
    assert main(["--root", str(parts.course.parent), "prove", "swap_ends"]) == 1
    assert (
        "'swap_ends' stands in week_ends and in week_starts; give one of them another name." in capsys.readouterr().err
    )


def test_two_exercises_of_one_name_in_one_chapter(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A name used twice in a chapter gives the second line."""
    cells = parts.chapter.read_text().partition("# %% exercise=")
    parts.chapter.write_text(f"{''.join(cells)}\n{cells[1]}{cells[2]}")

    (line,) = built(parts, capsys)
    assert line.startswith(CHAPTER) and "the name 'swap_ends' stands on line 17 too; choose another." in line


def test_a_requirement_that_no_case_shows(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A requirement without a case is named."""
    edit(parts.exercise, "    yield between", "    return\n    yield between")

    assert [
        f"{FILE}: no case shows the requirement 'leaves what is between' (between); "
        "yield one, or take the requirement out."
    ] == built(parts, capsys)


def test_a_case_for_no_requirement(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A case without a requirement is named, with the correction."""
    edit(parts.exercise, "    yield between", '    yield Case("is new", draw.normal(3))\n    yield between')

    assert [
        f"{FILE}: expected each case to be made by a requirement, found 'is new'. "
        "Make a Requirement of that sentence, and yield what it gives when it is called."
    ] == built(parts, capsys)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            ', hints=("Which numbers stay?", "`row.clone()` may be written into.")',
            "",
            'expected at least one hint, found none. Write hints=("...",) in @exercise.',
        ),
        (
            "Which numbers stay?",
            " ",
            "expected hints that say something, found an empty one. Write it, or take it out.",
        ),
    ],
)
def test_no_hint(parts: ExerciseParts, capsys: pytest.CaptureFixture[str], old: str, new: str, line: str) -> None:
    """A missing hint is named."""
    edit(parts.exercise, old, new)

    assert [f"{FILE}: swap_ends: {line}"] == built(parts, capsys)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("import Draw\n", "import Draws\n", ":7: ImportError: cannot import name 'Draws'"),
        ("yield ends(", "yield end(", ":19: NameError: name 'end' is not defined. Correct it."),
        ("def swap_ends(", "def swap_ends", ":17: SyntaxError: "),
    ],
)  # fmt: skip
def test_a_slip(parts: ExerciseParts, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str) -> None:
    """An error in the exercise file is reported with file and line, without a traceback."""
    edit(parts.exercise, old, new)

    (line,) = built(parts, capsys)
    assert line.startswith(FILE + told)


def test_a_slip_in_a_probe(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """An error in a helper's probe is reported with its own line."""
    helper = parts.exercise.with_name("_watching.py")
    edit(helper, "return make_call_probe()", "return lambda answer, case: {'seen': case.argument}")

    (line,) = built(parts, capsys)
    assert line.startswith("exercises/week_ends/_watching.py:9: AttributeError: ")


def test_a_fault_of_a_probe_is_not_the_solutions(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A probe's own error is not attributed to the solution."""
    helper = parts.exercise.with_name("_watching.py")
    edit(
        helper,
        "return make_call_probe()",
        "return make_probe_recording_exceptions(lambda answer, case: {'seen': answer(*case.args) / 'two'})",
    )
    helper.write_text("from autograder.exercises.probe import make_probe_recording_exceptions\n" + helper.read_text())

    (line,) = built(parts, capsys)
    assert line.startswith(f"{FILE}: the probe of '") and "raised TypeError: unsupported operand" in line
    assert line.endswith("the solution had no part in it. Correct the probe, or the arguments that the case gives.")


def test_a_function_that_is_written_twice(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A function defined twice in a file is an error."""
    parts.exercise.write_text(parts.exercise.read_text() + "\n\ndef swap_ends(row):\n    return row\n")

    (line,) = built(parts, capsys)
    assert (
        line.endswith("keep one, and give what only helps another name.") and "`def swap_ends` stands on lines" in line
    )


def test_a_misspelt_cell_names_the_check(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """A misspelt exercise cell gives an error with the nearest check."""
    edit(parts.chapter, 'exercise="swap_ends"', 'exercise="swap_edns"')
    edit(parts.chapter, "def swap_ends(", "def swap_edns(")

    (line,) = built(parts, capsys)
    assert "the exercise 'swap_edns' has no check; the check on line " in line
    assert "is of 'swap_ends': give both one name, or add a cell check=\"swap_edns\" points=1." in line
