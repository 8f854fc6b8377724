"""A receipt says that an exercise was proven as it is now: whatever a proof depends on changes it."""

import argparse
import os
import subprocess
import time
from pathlib import Path

import pytest

from autograder.authoring import proof_receipts
from autograder.authoring.build_course import build, shipped_observations_and_hints
from autograder.authoring.proof_receipts import (
    RECEIPTS_FILE,
    compute_receipt,
    exercises_to_prove,
    is_unchanged_since_read,
    read_committed_receipts,
    write_receipts,
)
from autograder.cli import prove
from autograder.course import shipped_observations
from autograder.course.compute_expected_observations import AnswerKeys
from autograder.course.course import course_in
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.errors import ChapterFormatError, CourseError
from tests.proven_course import edit, make_proven_course


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ExerciseParts:
    """An exercise, built, as a process finds it that begins to read the course now."""
    parts = make_proven_course(tmp_path)
    build(tmp_path)
    monkeypatch.setattr(course_in(parts.course), "begun", time.time())
    return parts


def edit_later(path: Path, old: str, new: str) -> None:
    """Replace a text in a file, which is then new to any clock."""
    edit(path, old, new)
    later = time.time() + 60
    os.utime(path, (later, later))


def prove_it(parts: ExerciseParts, names: tuple[str, ...] = (), anew: bool = False) -> int:
    """Run `autograder prove` with these names, or `--all`; return its exit status."""
    return prove.run(argparse.Namespace(root=parts.course.parent, names=list(names), all=not names, anew=anew))


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("chapters/week_ends.py", "order[0], order[-1] = len(row) - 1, 0", "order[-1], order[0] = 0, len(row) - 1"),
        ("chapters/week_ends.py", "import torch\n", "import torch\nimport math\n"),
        ("chapters/week_ends.py", '"""Return a new row', '"""Return another row'),
        ("exercises/week_ends/swap_ends.py", "draw.whole(4, 7)", "draw.whole(4, 8)"),
        ("exercises/week_ends/_watching.py", "make_call_probe()", "make_call_probe(rng=True)"),
        ("answers/week_ends/swap_ends.py", "You turn the whole row round.", "You turn the row round."),
        ("shipped/week_ends.json", "You turn the whole row round.", "You turn the row round."),
        ("shipped/week_ends.hints.json", "Which numbers", "What numbers"),
    ],
)
def test_a_receipt_depends_on(parts: ExerciseParts, place: str, old: str, new: str) -> None:
    """Solution, starter, setup cell, cases, helpers, answers, and what is shipped."""
    before = compute_receipt(parts)
    edit(parts.course / place, old, new)

    assert before != compute_receipt(parts)


def test_a_receipt_does_not_depend_on(parts: ExerciseParts) -> None:
    """The prose of the chapter, and another exercise."""
    before = compute_receipt(parts)
    edit(parts.chapter, "# Both ends of a row.", "# The two ends of a row.")
    (parts.exercise.with_name("other.py")).write_text("")

    assert before == compute_receipt(parts)


def test_another_exercise_that_is_imported_counts(parts: ExerciseParts) -> None:
    """What a file takes from its neighbour is part of it."""
    other = parts.exercise.with_name("other.py")
    other.write_text("ONE = 1\n")
    edit(parts.exercise, "from ._watching import", "from .other import ONE\nfrom ._watching import")
    before = compute_receipt(parts)
    other.write_text("ONE = 2\n")

    assert before != compute_receipt(parts)


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        *(
            ("exercises/probe", True),
            ("exercises/probes/tensor_functions", True),
            ("diagnosis/judge_answer", True),
        ),
        *(("exercises/probes/devices", False), ("cli/grade", False), ("notebook/check_and_hint", False)),
    ],
)
def test_the_code_of_a_proof_counts(
    parts: ExerciseParts, name: str, counts: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The modules that the proof, the exercise and its helpers import, and no other ones."""
    _, code = proof_receipts._files(parts)
    before = compute_receipt(parts)
    monkeypatch.setattr(proof_receipts, "_code", lambda path, _: "new" if path.match(f"autograder/{name}.py") else "")
    edited = compute_receipt(parts)
    monkeypatch.setattr(proof_receipts, "_code", lambda path, _: "")

    assert counts is any(path.match(f"autograder/{name}.py") for path in code)
    assert counts is (edited != compute_receipt(parts)) and before != edited


def test_comments_and_docstrings_of_the_package_do_not_count(tmp_path: Path) -> None:
    """They change no verdict."""
    one, other = tmp_path / "one.py", tmp_path / "other.py"
    one.write_text('"""One."""\n\n\ndef f(x):\n    """Say."""\n    return x  # why\n')
    other.write_text('"""Other."""\n\n\ndef f(x):\n    """Tell it."""\n    return x\n')

    assert proof_receipts._code(one, 0) == proof_receipts._code(other, 0)


def test_prove_writes_receipts(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """One name, then all that are due; a receipt that holds is not asked for again."""
    assert [parts] == exercises_to_prove(parts.course)
    assert 0 == prove_it(parts, (parts.name,)) and {parts.name: compute_receipt(parts)} == read_committed_receipts(
        parts.course
    )
    assert "swap_ends: proven in" in capsys.readouterr().out

    assert 0 == prove_it(parts) and [] == exercises_to_prove(parts.course)
    assert capsys.readouterr().out == "1 of 1 exercises have a valid receipt.\n"
    assert 0 == prove_it(parts, anew=True) and "swap_ends: proven in" in capsys.readouterr().out


def test_prove_builds_what_is_due(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """The receipt is of what the build wrote, which the proof saw."""
    edit(parts.bank, "You turn the whole row round.", "You turn the row round.")

    assert 0 == prove_it(parts, (parts.name,)) and {parts.name: compute_receipt(parts)} == read_committed_receipts(
        parts.course
    )
    assert "wrote lessons/shipped/week_ends.json\n" in capsys.readouterr().out


def test_what_is_not_proven_gets_no_receipt(parts: ExerciseParts, capsys: pytest.CaptureFixture[str]) -> None:
    """And an older one does not hold."""
    write_receipts(parts.course, [(parts.name, compute_receipt(parts))])
    edit(parts.bank, "You turn the whole row round.", "TO WRITE: say what it does.")

    assert 1 == prove_it(parts) and [parts] == exercises_to_prove(parts.course)
    assert "missing." in capsys.readouterr().err


def test_what_was_edited_during_a_proof_gets_no_receipt(
    parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And the author is told so."""
    from autograder.authoring import proof

    def proven(*_: object) -> list[str]:
        edit_later(parts.bank, "You turn the whole row round.", "You turn the row round.")
        return []

    monkeypatch.setattr(proof, "prove", proven)

    assert 0 == prove_it(parts, (parts.name,)) and {} == read_committed_receipts(parts.course)
    assert "prove it once more" in capsys.readouterr().out


def test_prove_asks_for_a_name_or_for_all(parts: ExerciseParts) -> None:
    """Nothing is neither, and both are contradictory."""
    for names, every in (([], False), ([parts.name], True)):
        with pytest.raises(CourseError, match="expected the name of an exercise, or --all"):
            prove.run(argparse.Namespace(root=parts.course.parent, names=names, all=every, anew=False))


def test_two_people_prove_neighbours(tmp_path: Path) -> None:
    """git merges the receipts of two exercises that follow each other."""
    sides = {"base": ("1", "1"), "ours": ("2", "1"), "theirs": ("1", "2")}
    for name, (one, other) in sides.items():
        (tmp_path / name).write_text(f"first\n  {one}\nsecond\n  {other}\n")
    command = ["git", "merge-file", "-p", "ours", "base", "theirs"]
    merged = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout

    assert merged == "first\n  2\nsecond\n  2\n"


@pytest.mark.parametrize("text", [None, "", "swap_ends", "swap_ends\n", "\xff\n\x00", "a\nb\nc\n"])
def test_a_file_that_makes_no_sense_holds_no_receipt(parts: ExerciseParts, text: str | None) -> None:
    """Then every exercise is due."""
    if text is not None:
        (parts.course / RECEIPTS_FILE).write_text(text, encoding="latin-1")

    assert [parts] == exercises_to_prove(parts.course)


def test_what_is_shipped_is_computed_once(parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build with the same content trusts its memory, or a receipt; one of other content, or anew, computes it."""
    project, stem = parts.course.parent, parts.stem
    committed = {
        suffix: (parts.course / "shipped" / f"{stem}{suffix}").read_bytes()
        for suffix in shipped_observations.SHIPPED_FILE_SUFFIXES
    }
    assert [] == build(project)
    remembered = [path for path in (project / "build" / "proved").rglob("*") if path.is_file()]

    def computes(*_: object) -> ExpectedObservations:
        raise ChapterFormatError("it computes")

    monkeypatch.setattr(AnswerKeys, "_compute_full", computes)
    assert [] == build(project)
    remembered[0].unlink()
    with pytest.raises(ChapterFormatError, match="it computes"):
        build(project)
    write_receipts(parts.course, [(parts.name, compute_receipt(parts))])
    assert [] == build(project)
    with pytest.raises(ChapterFormatError, match="it computes"):
        shipped_observations_and_hints(parts.course, stem, committed, anew=True)
    edit(parts.bank, "You turn the whole row round.", "You turn the row round.")
    with pytest.raises(ChapterFormatError, match="it computes"):
        build(project)


def test_what_was_edited_during_a_build_is_not_remembered(
    parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The build looked at the old answers, and the digest is of the new ones."""

    def holds(*_: object) -> bool:
        edit_later(parts.bank, "You turn the whole row round.", "You turn the row round.")
        return True

    monkeypatch.setattr(proof_receipts, "is_observation_file_current", holds)
    build(parts.course.parent)

    assert [] == [path for path in (parts.course.parent / "build" / "proved").rglob("*") if path.is_file()]


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
    assert is_unchanged_since_read(parts)
    later = time.time() + 60
    os.utime(parts.course / place, (later, later))

    assert not is_unchanged_since_read(parts)


def test_a_proof_is_of_the_code_that_was_loaded(parts: ExerciseParts, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of this package that was written since then may not be what has judged."""
    _, code = proof_receipts._files(parts)
    monkeypatch.setattr(proof_receipts, "STARTED_AT", max(path.stat().st_mtime for path in code))

    assert not is_unchanged_since_read(parts)
