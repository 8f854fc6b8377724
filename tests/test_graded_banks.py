"""The answer bank of every chapter through nbgrader's whole cycle: every score and sentence is known beforehand.

The sample's chapter is graded by day, those of the course at night; what is about one exercise is a test of its own.
"""

from __future__ import annotations

import html
import json
import re
from functools import cache
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.authoring.example_class import ExampleClass
from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.diagnosis.judge_answer import UNTOUCHED_TAG
from tests import sample_course
from tests.graded import graded_class, of_class, share, verdict_of
from tests.our_course import COURSE

EXERCISES = {each.stem: tuple(each.exercises) for each in (*sample_course.COURSE.listed, *COURSE.listed)}
of_each_class = pytest.mark.parametrize("stem", [of_class(stem) for stem in EXERCISES])
of_each_exercise = pytest.mark.parametrize(
    ("stem", "exercise"),
    [of_class(stem, name) for stem, names in EXERCISES.items() for name in names],
)


@pytest.fixture
def graded(stem: str, request: pytest.FixtureRequest) -> ExampleClass:
    """The class of a chapter, graded once."""
    return graded_class(stem, request)


@pytest.fixture
def judge(graded: ExampleClass) -> Judge:
    """A judge of the same course, to know beforehand what each answer earns."""
    return _judge(graded.course, graded.stem)


_judge = cache(Judge)


Scores = dict[tuple[str, str], tuple[float | None, float]]


@pytest.fixture
def scores(graded: ExampleClass) -> Scores:
    """What nbgrader's own database says of each student and exercise: points, and extra credit."""
    return _scores(graded.course, graded.stem)


@cache
def _scores(course: Path, stem: str) -> Scores:
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as opened:
        return {
            (submission.student.id, grade.name.removeprefix("check_")): (grade.auto_score, grade.extra_credit or 0.0)
            for submission in opened.assignment_submissions(stem)
            for notebook in submission.notebooks
            for grade in notebook.grades
        }


@of_each_exercise
def test_gradebook_holds_the_expected_scores(graded: ExampleClass, scores: Scores, judge: Judge, exercise: str) -> None:
    """Each student's points in the gradebook are those known beforehand."""
    for student in graded.students:
        earned = share(judge, student, exercise)

        assert (
            pytest.approx(earned * judge.chapter.points(exercise), abs=1e-3),
            pytest.approx(earned * judge.chapter.extra(exercise), abs=1e-3),
        ) == scores[student.name, exercise], student.name


@of_each_class
def test_perfect_is_full_and_untouched_is_nothing(graded: ExampleClass, judge: Judge) -> None:
    """The reference earns every point and the extra credit; the untouched notebook nothing."""
    with Gradebook(f"sqlite:///{graded.course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        perfect, untouched = (gradebook.find_submission(graded.stem, name) for name in ("perfect", "untouched"))
        extra = sum(map(judge.chapter.extra, judge.chapter.exercises))

        assert (perfect.max_score + extra, 0) == (perfect.score, untouched.score)


@of_each_exercise
def test_right_answers_earn_everything(graded: ExampleClass, judge: Judge, exercise: str) -> None:
    """The reference and every right alternative get full points."""
    right = [student for student in graded.students if exercise in student.expected.solved]

    assert len(right) > len([answer for answer in judge.banks[exercise] if answer.is_right])
    assert [] == [each.name for each in right if not verdict_of(graded, each.name).report(exercise).passed]


@of_each_exercise
def test_every_answer_is_handed_in(graded: ExampleClass, judge: Judge, exercise: str) -> None:
    """Each answer of the bank, wrong or right, stands in some student's notebook."""
    handed = {student.expected.mistakes.get(exercise) for student in graded.students} - {None}
    right = [json.loads(s.data)["cells"] for s in graded.students if s.name.startswith("right")]
    texts = {"".join(cell["source"]).strip() for cells in right for cell in cells}

    known = list(judge.banks[exercise])

    assert {answer.tag for answer in known if not answer.is_right} == handed
    assert {answer.source.strip() for answer in known if answer.is_right} <= texts


@of_each_exercise
def test_wrong_answers_carry_their_own_sentence(graded: ExampleClass, judge: Judge, exercise: str) -> None:
    """The verdict on each wrong answer names its own mistake and no other, and costs points."""
    mistaken = [student for student in graded.students if exercise in student.expected.mistakes]

    assert mistaken
    for student in mistaken:
        tag = student.expected.mistakes[exercise]
        report = verdict_of(graded, student.name).report(exercise)
        (answer,) = [a for a in judge.banks[exercise] if a.tag == tag]

        own = (tag,) if answer.sentence and tag != UNTOUCHED_TAG else ()
        assert own == report.mistakes, student.name
        assert not report.passed and told(answer, judge) & {verdict.sentence for verdict in report.verdicts}


def told(answer: KnownAnswer, judge: Judge) -> set[str | None]:
    """What the student of a wrong answer reads: its sentence, or what the requirements tell of its facet."""
    requirements = judge.exercises[answer.exercise].requirements.values()
    return {requirement.tells.get(answer.facet) for requirement in requirements} if answer.facet else {answer.sentence}


@of_each_class
def test_feedback_shows_sentences_and_no_hidden_tests(graded: ExampleClass) -> None:
    """Students read what the checks found; the hidden cell stays hidden."""
    stem = graded.stem
    folder = graded.course / "feedback"
    pages = [(student, folder / student.name / stem / f"{stem}.html") for student in graded.students]
    told = [(student, path.read_text()) for student, path in pages if path.is_file()]

    assert [student.name for student, _ in told if student.expected.mistakes]
    assert len(told) == len(graded.students)
    for student, page in told:
        teachers = (graded.course / "autograded" / student.name / stem / f"{stem}.ipynb").read_text()
        shown = html.unescape(re.sub("<[^>]+>", "", page))

        assert "HIDDEN TESTS" not in shown and "fresh=" not in shown
        assert "HIDDEN TESTS" in teachers and "fresh=" in teachers
        for exercise in student.expected.mistakes:
            first = verdict_of(graded, student.name).report(exercise).first
            assert first is not None and first.sentence.split("`")[0][:30].strip() in shown
