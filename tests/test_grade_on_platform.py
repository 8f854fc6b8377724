"""What a platform starts writes a result in any case, and tells students and teachers each what is theirs."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.files import write_all
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms import grade_on_platform
from autograder.lms.grade_on_platform import GRADER_FAILED_MESSAGE, PLATFORMS, grade_submitted_folder, main
from autograder.submission.submission import SubmittedFiles
from tests.sample_course import NOTEBOOK, STEM, make_course

EYE = "cell 3 (Łucja→\x1b[2J) sets torch.allclose"
REPORT = Report("add_up", (Verdict("adds", Status.PASS),))
VERDICT = SubmissionVerdict("ch01", 1, "", (REPORT,), {"add_up": 2}, {"add_up": 0}, eye=(EYE,))
IDENTITY = ("CLASSROOM", "ASSIGNMENT", "SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL")


def graded(patch: pytest.MonkeyPatch, outcome: SubmissionVerdict | Exception) -> None:
    """Let grading end with a verdict, or with an error."""

    def now(*_: object) -> SubmissionVerdict:
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    patch.setattr(grade_on_platform, "grade_submitted_folder", now)
    for name in IDENTITY:
        patch.setenv(name, f"submit/{name}")


def words(platform: str, folder: Path) -> list[str]:
    """Return the arguments with which a bundle's script starts."""
    return [platform, "ch01", "--course", ".", "--submission", ".", "--results", str(folder)]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_lines_for_a_teachers_eye(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are printed where only teachers read the log, without what would move a cursor: not in Classroom 50."""
    graded(monkeypatch, VERDICT)

    assert 0 == main(words(platform, tmp_path))
    shown = "" if platform == "classroom50" else "worth a look: cell 3 (Łucja→\ufffd[2J) sets torch.allclose\n"
    assert (shown, "") == capsys.readouterr()


def test_a_log_that_has_not_all_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter that the log's encoding lacks costs nobody the result."""
    graded(monkeypatch, VERDICT)
    log = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(log, encoding="ascii"))

    assert 0 == main(words("gradescope", tmp_path))
    assert 2.0 == json.loads((tmp_path / "results.json").read_text())["tests"][0]["score"]


@pytest.mark.parametrize("platform", ["gradescope", "prairielearn"])
def test_a_fault_is_no_score(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Students read that it is not their fault, and nothing else; what went wrong is in the log, in one line."""
    graded(monkeypatch, ZeroDivisionError("in /srv/secret\nof the key"))

    assert 0 == main(words(platform, tmp_path))
    told = (tmp_path / "results.json").read_text()
    assert GRADER_FAILED_MESSAGE in told and "secret" not in told and "score" not in json.loads(told)
    assert "error: ZeroDivisionError: in /srv/secret\ufffdof the key\n" == capsys.readouterr().err


def test_a_fault_in_classroom50_is_the_exit_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner then reports an error and leaves what was published; no result claims anything."""
    graded(monkeypatch, ZeroDivisionError())

    assert 1 == main(words("classroom50", tmp_path))
    assert [] == list(tmp_path.iterdir())


@pytest.mark.parametrize("platform", PLATFORMS)
def test_results_that_cannot_be_written(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file in place of the folder is one line, and stays as it was."""
    graded(monkeypatch, VERDICT)
    (tmp_path / "results").write_bytes(b"mine")

    assert 1 == main(words(platform, tmp_path / "results"))
    told = capsys.readouterr().err
    assert told.startswith(f"error: cannot write {tmp_path / 'results'}") and 1 == told.count("\n")
    assert b"mine" == (tmp_path / "results").read_bytes()


def read(folder: Path, monkeypatch: pytest.MonkeyPatch, files: dict[str, bytes]) -> SubmittedFiles:
    """Return what is graded of these files of a student's."""
    course = make_course(folder / "course")
    write_all({course / "release" / STEM / f"{STEM}.ipynb": NOTEBOOK.read_bytes()})
    (folder / "submission").mkdir()
    write_all({folder / "submission" / name: data for name, data in files.items()})
    taken: list[SubmittedFiles] = []
    monkeypatch.setattr(grade_on_platform, "confinement_problem", lambda: None)
    monkeypatch.setattr(grade_on_platform, "why_lesson_unreadable", lambda _: None)
    monkeypatch.setattr(grade_on_platform, "grade_one", lambda _, parcel, seed: taken.append(parcel))

    grade_submitted_folder(course, STEM, folder / "submission")
    return taken[0]


def test_a_students_files_stay_as_they_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy is read, with the data beside the notebook; a page that grading would set aside is still there."""
    files = {
        f"{STEM} (1).ipynb": NOTEBOOK.read_bytes(),
        "data.csv": b"1,2",
        "page.html": b"<p>",
        ".git/config": b"mine",
    }
    found = read(tmp_path, monkeypatch, files)
    place = tmp_path / "submission"

    assert (NOTEBOOK.read_bytes(), "", {"data.csv": b"1,2"}) == (found.data, found.trouble, dict(found.files))
    assert files == {str(p.relative_to(place)): p.read_bytes() for p in place.rglob("*") if p.is_file()}


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"notes.txt": b"Later."}, "found: 'notes.txt'"),
        ({}, "found no files"),
        ({"timestamp.txt": b"x"}, "found no files"),
    ],
)
def test_no_notebook(files: dict[str, bytes], found: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who hands in no notebook reads so, and which file is asked for; what only nbgrader reads is not looked at."""
    told = read(tmp_path, monkeypatch, files).trouble

    assert f"there is no notebook in what you handed in ({found}). Hand in the file {STEM}.ipynb itself." == told
