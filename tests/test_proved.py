"""What was proven before is known by its content: whatever a proof depends on changes the name of its file."""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from autograder.authoring import proof, proof_receipts
from autograder.authoring.build_course import build, make_data_files
from autograder.authoring.proof_receipts import ROOMS, is_as_read, proof_path
from autograder.cli import prove
from autograder.course import shipped_observations
from autograder.course.answer_keys import AnswerKeys
from autograder.course.course import course_in
from autograder.course.exercise_parts import ExerciseParts
from autograder.diagnosis.expected import ExpectedObservations
from autograder.errors import ChapterError
from autograder.files import create_marker_file
from tests.proven_course import edit, make_proven_course
from tests.small_chapter import PROJECT


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExerciseParts:
    """An exercise, built, as it is found by who begins to read the course now."""
    parts = make_proven_course(tmp_path)
    build(tmp_path)
    monkeypatch.setattr(course_in(parts.course), "begun", time.time())
    return parts


def edit_later(path: Path, old: str, new: str) -> None:
    """Replace a text in a file, which is then new to any clock."""
    edit(path, old, new)
    later = time.time() + 60
    os.utime(path, (later, later))


def remembered(parts: ExerciseParts) -> list[Path]:
    """What is remembered of the project."""
    return [path for path in (parts.course.parent / "build" / "proved").rglob("*") if path.is_file()]


def test_it_lies_in_the_build_folder(parts: ExerciseParts) -> None:
    """Under the chapter and the exercise; the same content has the same name."""
    path = proof_path(parts)
    create_marker_file(path)

    assert path.parent == parts.course.parent / "build" / "proved" / "week_ends" / "swap_ends"
    assert path.is_file() and path == proof_path(parts)


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("chapters/week_ends.py", "order[0], order[-1] = len(row) - 1, 0", "order[-1], order[0] = 0, len(row) - 1"),
        ("chapters/week_ends.py", "import torch\n", "import torch\nimport math\n"),
        ("chapters/week_ends.py", '"""Return a new row', '"""Return another row'),
        ("exercises/week_ends/swap_ends.py", "draw.whole(4, 7)", "draw.whole(4, 8)"),
        ("exercises/week_ends/_watching.py", "calling()", "calling(rng=True)"),
        ("answers/week_ends/swap_ends.py", "You turn the whole row round.", "You turn the row round."),
        ("shipped/week_ends.json", "You turn the whole row round.", "You turn the row round."),
        ("shipped/week_ends.hints.json", "Which numbers", "What numbers"),
    ],
)
def test_what_a_proof_depends_on(parts: ExerciseParts, place: str, old: str, new: str) -> None:
    """Solution, starter, setup cell, cases, helpers, answers, and what is shipped."""
    before = proof_path(parts)
    edit(parts.course / place, old, new)

    assert before != proof_path(parts)


def test_what_it_does_not_depend_on(parts: ExerciseParts) -> None:
    """The prose of the chapter, and another exercise."""
    before = proof_path(parts)
    edit(parts.chapter, "# Both ends of a row.", "# The two ends of a row.")
    (parts.exercise.with_name("other.py")).write_text("")

    assert before == proof_path(parts)


def test_another_exercise_that_is_imported_counts(parts: ExerciseParts) -> None:
    """What a file takes from its neighbour is part of it."""
    other = parts.exercise.with_name("other.py")
    other.write_text("ONE = 1\n")
    edit(parts.exercise, "from ._watching import", "from .other import ONE\nfrom ._watching import")
    before = proof_path(parts)
    other.write_text("ONE = 2\n")

    assert before != proof_path(parts)


def test_another_machine_has_a_proof_of_its_own(parts: ExerciseParts) -> None:
    """What holds here need not hold on another processor."""
    assert proof_path(parts) != proof_path(parts, "an older processor")


def test_what_is_shipped_is_computed_once(parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build with the same content takes it from memory; one that looks anew, or at other content, computes it."""
    project, stem = parts.course.parent, parts.stem
    committed = {
        suffix: (parts.course / "shipped" / f"{stem}{suffix}").read_bytes() for suffix in shipped_observations.SUFFIXES
    }
    assert [] == build(project)
    assert remembered(parts)

    def computes(*_: object) -> ExpectedObservations:
        raise ChapterError("it computes")

    monkeypatch.setattr(AnswerKeys, "_compute_full", computes)
    assert [] == build(project)
    with pytest.raises(ChapterError, match="it computes"):
        make_data_files(parts.course, stem, committed, anew=True)
    edit(parts.bank, "You turn the whole row round.", "You turn the row round.")
    with pytest.raises(ChapterError, match="it computes"):
        build(project)


def test_what_was_edited_during_a_build_is_not_remembered(
    parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old answers were looked at, and the new ones would bear the name."""

    def holds(*_: object) -> bool:
        edit_later(parts.bank, "You turn the whole row round.", "You turn the row round.")
        return True

    monkeypatch.setattr(proof_receipts, "still_holds", holds)
    build(parts.course.parent)

    assert [] == remembered(parts)


@pytest.mark.parametrize("edited", [False, True])
def test_what_was_edited_during_a_proof_is_not_remembered(
    parts: ExerciseParts, edited: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the author is told so."""

    def proven(*_: object) -> list[str]:
        if edited:
            edit_later(parts.bank, "You turn the whole row round.", "You turn the row round.")
        return []

    monkeypatch.setattr(proof, "prove", proven)

    assert 0 == prove.run(argparse.Namespace(root=parts.course.parent, names=[parts.name]))
    assert ([] if edited else [proof_path(parts)]) == remembered(parts)
    assert edited is ("prove it once more" in capsys.readouterr().out)


@pytest.mark.parametrize(
    "place",
    [
        "chapters/week_ends.py",
        "exercises/week_ends/swap_ends.py",
        "exercises/week_ends/_watching.py",
        "answers/week_ends/swap_ends.py",
        "shipped/week_ends.json",
        "shipped/week_ends.hints.json",
    ],
)
def test_nobody_knows_what_was_read_of_a_file_that_is_new(parts: ExerciseParts, place: str) -> None:
    """Whichever of them it is, and though it says the same."""
    assert is_as_read(parts)
    later = time.time() + 60
    os.utime(parts.course / place, (later, later))

    assert not is_as_read(parts)


def test_a_proof_is_of_the_code_that_was_loaded(parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of this package that was written since then may not be what has judged."""
    newest = max(path.stat().st_mtime for path in proof_receipts._code_files())
    monkeypatch.setattr(proof_receipts, "STARTED_AT", newest)

    assert not is_as_read(parts)


def test_the_rooms_of_a_proof_are_all_named() -> None:
    """A proof imports no room that its name does not stand for."""
    code = (
        "import sys, autograder.authoring.proof\n"
        "print(*{name.split('.')[1] for name in sys.modules if name.startswith('autograder.') and name.count('.') > 1})"
    )
    told = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True).stdout

    assert set(told.split()) == set(ROOMS)
