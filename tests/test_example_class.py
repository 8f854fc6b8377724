"""nbgrader's whole cycle on the example class: every score is known beforehand."""

from __future__ import annotations

import csv
import hashlib
import json
import re
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.authoring.judge import Judge
from autograder.errors import CourseNotFound
from autograder.example import example_class
from autograder.example.example_class import ExampleClass
from autograder.example.made_students import Student
from autograder.grading import classroom, summary
from autograder.grading.cycle import Cycle
from autograder.grading.grade import SubmissionVerdict
from tests.graded import SEED, STEM, example, shared_folder

CRUEL = ("broken-json", "endless-loop", "process-death", "syntax-error")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ExampleClass]:
    """The class after the whole cycle."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield example(shared_folder(tmp_path_factory), monkeypatch)


@pytest.fixture(scope="module")
def judge(graded: ExampleClass) -> Judge:
    """A judge of the same course, to know beforehand what each answer earns."""
    return Judge(graded.course, STEM)


@pytest.fixture(scope="module")
def gradebook(graded: ExampleClass) -> Iterator[Gradebook]:
    """nbgrader's own database of the class."""
    with Gradebook(f"sqlite:///{graded.course / 'gradebook.db'}", "pytorch_basics") as opened:
        yield opened


def verdict_of(graded: ExampleClass, student: str) -> SubmissionVerdict:
    """The stored verdict of one student."""
    found = classroom.stored(graded.course, STEM, student)
    assert found is not None
    return found


def share(judge: Judge, student: Student, exercise: str) -> float:
    """What share of an exercise's points a student must earn, from calling the answer here and now."""
    if exercise in student.expected.solved:
        return 1.0
    tag = student.expected.mistakes.get(exercise)
    return bank_share(judge, exercise, tag) if tag else 0.0


@cache
def bank_share(judge: Judge, exercise: str, tag: str) -> float:
    """What share of the points a wrong answer of the bank earns."""
    (answer,) = [a for a in judge.bank.of(exercise) if a.tag == tag]
    seen = judge.exercises[exercise].observe(answer.function, judge.cases(exercise, SEED))
    return judge.judge(exercise, SEED, seen, answer.source).score


def test_class_is_large_and_mixed(graded: ExampleClass, judge: Judge) -> None:
    """Every answer of the bank is handed in by some student, and so is every kind of bad file."""
    handed = {(exercise, tag) for s in graded.students for exercise, tag in s.expected.mistakes.items()}
    right = [json.loads(s.data)["cells"] for s in graded.students if s.name.startswith("right")]
    texts = {"".join(cell["source"]).strip() for cells in right for cell in cells}

    assert {(answer.exercise, answer.tag) for answer in judge.bank if not answer.is_right} == handed
    assert {answer.source.strip() for answer in judge.bank if answer.is_right} <= texts
    assert 12 <= len(graded.students) and {*CRUEL, "perfect", "untouched"} <= {s.name for s in graded.students}


def test_gradebook_holds_the_expected_scores(graded: ExampleClass, gradebook: Gradebook, judge: Judge) -> None:
    """Each student's points in the gradebook are those known beforehand, exercise by exercise."""
    for student in graded.students:
        for exercise in judge.chapter.exercises:
            grade = gradebook.find_grade(f"check_{exercise}", STEM, STEM, student.name)
            earned = share(judge, student, exercise)

            assert (
                pytest.approx(earned * judge.chapter.points(exercise), abs=1e-3),
                pytest.approx(earned * judge.chapter.extra(exercise), abs=1e-3),
            ) == (grade.auto_score, grade.extra_credit or 0.0), f"{student.name}: {exercise}"


def test_perfect_is_full_and_untouched_is_nothing(graded: ExampleClass, gradebook: Gradebook) -> None:
    """The reference earns every point and the extra credit; the untouched notebook nothing."""
    perfect, untouched = (gradebook.find_submission(STEM, name) for name in ("perfect", "untouched"))

    assert (perfect.max_score + 3, 0) == (perfect.score, untouched.score)


@pytest.mark.parametrize("word", ["right", "perfect"])
def test_right_answers_earn_everything(graded: ExampleClass, word: str) -> None:
    """Every right alternative gets full points."""
    for student in graded.students:
        if student.name.startswith(word):
            assert all(report.passed for report in verdict_of(graded, student.name).reports), student.name


def test_wrong_answers_carry_their_own_sentence(graded: ExampleClass, judge: Judge) -> None:
    """The verdict on each wrong answer names its own mistake and no other, and costs points."""
    for student in graded.students:
        for exercise, tag in student.expected.mistakes.items():
            report = verdict_of(graded, student.name).report(exercise)
            (answer,) = [a for a in judge.bank.of(exercise) if a.tag == tag]

            assert (tag,) == report.mistakes, f"{student.name}: {exercise}"
            assert not report.passed and answer.sentence in [verdict.sentence for verdict in report.verdicts]


def test_summary_names_what_went_wrong(graded: ExampleClass) -> None:
    """Every bad or mended submission stands in the summary with its reason."""
    notes = {row.student: " ".join(row.notes) for row in summary.rows(graded.course, STEM, graded.failures)}

    for student in graded.students:
        assert student.expected.told in notes[student.name]
        assert bool(student.expected.told) == bool(notes[student.name]), student.name
    assert "not read or not graded: broken-json" in graded.summary()


def test_nobody_is_left_out(graded: ExampleClass) -> None:
    """Bad submissions stop neither grading nor feedback of the class."""
    assert {} == graded.failures


def test_submissions_stay_as_they_were_handed_in(graded: ExampleClass) -> None:
    """Grading changes no submitted file; a renamed one lies there under both names."""
    for student in graded.students:
        folder = graded.course / "submitted" / student.name / STEM
        data = (folder / student.filename).read_bytes()

        assert hashlib.sha256(student.data).digest() == hashlib.sha256(data).digest()


def test_feedback_shows_sentences_and_no_hidden_tests(graded: ExampleClass, judge: Judge) -> None:
    """Students read what the checks found; the hidden cell stays hidden."""
    for student in graded.students:
        page = (graded.course / "feedback" / student.name / STEM / f"{STEM}.html").read_text()
        teachers = (graded.course / "autograded" / student.name / STEM / f"{STEM}.ipynb").read_text()
        shown = re.sub("<[^>]+>", "", page)

        assert "HIDDEN TESTS" not in shown and "fresh=" not in shown
        assert "HIDDEN TESTS" in teachers and "fresh=" in teachers
        for exercise in student.expected.mistakes:
            first = verdict_of(graded, student.name).report(exercise).first
            assert first is not None and first.sentence.split("`")[0][:30].strip() in page


def test_feedback_of_an_unread_file_tells_the_reason(graded: ExampleClass) -> None:
    """The student of a damaged file learns why it earned nothing."""
    page = (graded.course / "feedback" / "broken-json" / STEM / f"{STEM}.html").read_text()

    assert "could not be read" in page


def test_export_has_a_line_for_each_student(graded: ExampleClass, gradebook: Gradebook) -> None:
    """The CSV export holds the gradebook's scores."""
    with graded.grades.open() as file:
        exported = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}

    assert {s.name: gradebook.find_submission(STEM, s.name).score for s in graded.students} == exported


def test_verdict_files_hold_the_seed_and_the_file(graded: ExampleClass) -> None:
    """A verdict says what was graded, and on which fresh cases."""
    for student in graded.students:
        verdict = verdict_of(graded, student.name)

        assert (SEED, hashlib.sha256(student.data).hexdigest()) == (verdict.seed, verdict.digest)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_teachers_own_marks_survive(graded: ExampleClass, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Manual scores, comments and extra credit by hand stay when a submission is graded again."""
    monkeypatch.setenv(classroom.SEED_VARIABLE, str(SEED + 1))
    course = Path(shutil.copytree(graded.course, tmp_path / "course"))
    where = (STEM, STEM, "untouched")
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as book:
        book.find_grade("check_standardize", *where).manual_score = 1.5
        book.find_grade("check_softmax_stable", *where).extra_credit = 7.0
        book.find_comment("standardize", *where).manual_comment = "Well begun."
        book.db.commit()

    assert {} == Cycle(course, STEM).autograde(["untouched"])

    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as book:
        assert (8.5, 7.0, "Well begun.") == (
            book.find_submission(STEM, "untouched").score,
            book.find_grade("check_softmax_stable", *where).extra_credit,
            book.find_comment("standardize", *where).manual_comment,
        )


def test_missing_course_is_told_in_one_line(tmp_path: Path) -> None:
    """Outside the project the example class says what it needs."""
    with pytest.raises(CourseNotFound, match="--root"):
        example_class.run(tmp_path / "nowhere", tmp_path / "class", STEM)
