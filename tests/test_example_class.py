"""The example class in nbgrader's cycle: damaged files, killed processes, and a teacher's own marks."""

from __future__ import annotations

import csv
import hashlib
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.authoring import example_class
from autograder.authoring.example_class import ExampleClass
from autograder.errors import CourseNotFound
from autograder.grading import class_text_table, verdict_store
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.graded import SEED, WHOLE, graded_class, group, verdict_of

STEM = WHOLE
CRUEL = ("broken-json", "endless-loop", "process-death", "syntax-error")

pytestmark = group(STEM)


@pytest.fixture(scope="module")
def graded(request: pytest.FixtureRequest) -> ExampleClass:
    """Return the class after the whole cycle, with all mishaps."""
    return graded_class(STEM, request)


@pytest.fixture(scope="module")
def gradebook(graded: ExampleClass) -> Iterator[Gradebook]:
    """Yield nbgrader's database of the class."""
    with Gradebook(f"sqlite:///{graded.course / 'gradebook.db'}", "pytorch_basics") as opened:
        yield opened


def test_class_is_large_and_mixed(graded: ExampleClass) -> None:
    """Students hand in every kind of bad file, and good ones."""
    assert 12 <= len(graded.students) and {*CRUEL, "perfect", "untouched"} <= {s.name for s in graded.students}


def test_summary_names_what_went_wrong(graded: ExampleClass) -> None:
    """The summary has a reason for every bad or repaired submission."""
    notes = {
        row.student: " ".join(row.notes) for row in class_text_table.class_rows(graded.course, STEM, graded.failures)
    }

    for student in graded.students:
        assert student.expected.told in notes[student.name]
        assert bool(student.expected.told) == bool(notes[student.name]), student.name
    assert "not read or not graded: broken-json" in graded.summary()


def test_nobody_is_left_out(graded: ExampleClass) -> None:
    """Bad submissions stop neither grading nor feedback of the class."""
    assert {} == graded.failures


def test_submissions_stay_as_they_were_handed_in(graded: ExampleClass) -> None:
    """Grading changes no submitted file."""
    for student in graded.students:
        folder = graded.course / "submitted" / student.name / STEM
        data = (folder / student.filename).read_bytes()

        assert hashlib.sha256(student.data).digest() == hashlib.sha256(data).digest()


def test_feedback_of_an_unread_file_tells_the_reason(graded: ExampleClass) -> None:
    """The feedback on an unreadable file says why it earned nothing."""
    page = (graded.course / "feedback" / "broken-json" / STEM / f"{STEM}.html").read_text()

    assert "was not graded" in page


def test_export_has_a_line_for_each_student(graded: ExampleClass, gradebook: Gradebook) -> None:
    """The CSV export has the gradebook's scores."""
    with graded.grades.open() as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    scores = {s.name: gradebook.find_submission(STEM, s.name).score for s in graded.students}
    assert scores == pytest.approx(exported, abs=1e-4)


def test_verdict_files_hold_the_seed_and_the_file(graded: ExampleClass) -> None:
    """A verdict has the seed and the digest of the files, including those beside a notebook."""
    for student in graded.students:
        verdict, alone = verdict_of(graded, student.name), hashlib.sha256(student.data).hexdigest()

        assert SEED == verdict.seed and (alone == verdict.digest) == student.filename.endswith(".ipynb")


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_teachers_own_marks_survive(graded: ExampleClass, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Manual scores, comments and extra credit stay when a submission is regraded."""
    monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED + 1))
    course = Path(shutil.copytree(graded.course, tmp_path / "course"))
    where = (STEM, STEM, "untouched")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as book:
        book.find_grade("check_standardize", *where).manual_score = 1.5
        book.find_grade("check_softmax_stable", *where).extra_credit = 7.0
        book.find_comment("standardize", *where).manual_comment = "Well begun."
        book.db.commit()

    assert {} == NbgraderCycle(course, STEM).autograde(["untouched"], how=GradingOptions(unconfined=UNCONFINED))

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as book:
        assert (8.5, 7.0, "Well begun.") == (
            book.find_submission(STEM, "untouched").score,
            book.find_grade("check_softmax_stable", *where).extra_credit,
            book.find_comment("standardize", *where).manual_comment,
        )


def test_missing_course_is_told_in_one_line(tmp_path: Path) -> None:
    """Outside a project, the example class raises an error that mentions --root."""
    with pytest.raises(CourseNotFound, match="--root"):
        example_class.run_example_class(tmp_path / "nowhere", tmp_path / "class", STEM)
