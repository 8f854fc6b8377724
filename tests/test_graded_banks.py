"""The answer bank of every chapter through nbgrader's whole cycle: every score and sentence is known beforehand."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator

import pytest
from nbgrader.api import Gradebook

from autograder.authoring.bank import KnownAnswer
from autograder.authoring.judge import Judge
from autograder.example.example_class import ExampleClass
from autograder.judging.judgement import UNTOUCHED
from tests.graded import PAGES, WHOLE, graded_class, group, share, verdict_of
from tests.our_course import COURSE


@pytest.fixture(scope="module", params=[pytest.param(stem, marks=group(stem)) for stem in (WHOLE, *COURSE.stems)])
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> ExampleClass:
    """The class of a chapter."""
    return graded_class(request.param, tmp_path_factory)


@pytest.fixture(scope="module")
def judge(graded: ExampleClass) -> Judge:
    """A judge of the same course, to know beforehand what each answer earns."""
    return Judge(graded.course, graded.stem)


@pytest.fixture(scope="module")
def gradebook(graded: ExampleClass) -> Iterator[Gradebook]:
    """nbgrader's own database of the class."""
    with Gradebook(f"sqlite:///{graded.course / 'gradebook.db'}", "pytorch_basics") as opened:
        yield opened


def test_gradebook_holds_the_expected_scores(graded: ExampleClass, gradebook: Gradebook, judge: Judge) -> None:
    """Each student's points in the gradebook are those known beforehand, exercise by exercise."""
    stem = graded.stem
    for student in graded.students:
        for exercise in judge.chapter.exercises:
            grade = gradebook.find_grade(f"check_{exercise}", stem, stem, student.name)
            earned = share(graded, judge, student, exercise)

            assert (
                pytest.approx(earned * judge.chapter.points(exercise), abs=1e-3),
                pytest.approx(earned * judge.chapter.extra(exercise), abs=1e-3),
            ) == (grade.auto_score, grade.extra_credit or 0.0), f"{student.name}: {exercise}"


def test_perfect_is_full_and_untouched_is_nothing(graded: ExampleClass, gradebook: Gradebook, judge: Judge) -> None:
    """The reference earns every point and the extra credit; the untouched notebook nothing."""
    perfect, untouched = (gradebook.find_submission(graded.stem, name) for name in ("perfect", "untouched"))

    extra = sum(map(judge.chapter.extra, judge.chapter.exercises))

    assert (perfect.max_score + extra, 0) == (perfect.score, untouched.score)


def test_right_answers_earn_everything(graded: ExampleClass) -> None:
    """The reference and every right alternative get full points."""
    for student in graded.students:
        if student.name.startswith(("right", "perfect")):
            reports = verdict_of(graded, student.name).reports
            assert student.expected.solved <= {each.exercise for each in reports if each.passed}, student.name


def test_every_answer_is_handed_in(graded: ExampleClass, judge: Judge) -> None:
    """Each answer of the bank, wrong or right, stands in some student's notebook."""
    handed = {(exercise, tag) for s in graded.students for exercise, tag in s.expected.mistakes.items()}
    right = [json.loads(s.data)["cells"] for s in graded.students if s.name.startswith("right")]
    texts = {"".join(cell["source"]).strip() for cells in right for cell in cells}

    known = [answer for bank in judge.banks.values() for answer in bank]

    assert {(answer.exercise, answer.tag) for answer in known if not answer.is_right} == handed
    assert {answer.source.strip() for answer in known if answer.is_right} <= texts


def test_wrong_answers_carry_their_own_sentence(graded: ExampleClass, judge: Judge) -> None:
    """The verdict on each wrong answer names its own mistake and no other, and costs points."""
    for student in graded.students:
        for exercise, tag in student.expected.mistakes.items():
            report = verdict_of(graded, student.name).report(exercise)
            (answer,) = [a for a in judge.banks[exercise] if a.tag == tag]

            own = (tag,) if answer.sentence and tag != UNTOUCHED else ()
            assert own == report.mistakes, f"{student.name}: {exercise}"
            assert not report.passed and told(answer, judge) & {verdict.sentence for verdict in report.verdicts}


def told(answer: KnownAnswer, judge: Judge) -> set[str | None]:
    """What the student of a wrong answer reads: its sentence, or what the requirements tell of its facet."""
    requirements = judge.exercises[answer.exercise].requirements.values()
    return {requirement.tells.get(answer.facet) for requirement in requirements} if answer.facet else {answer.sentence}


def test_feedback_shows_sentences_and_no_hidden_tests(graded: ExampleClass, judge: Judge) -> None:
    """Students read what the checks found; the hidden cell stays hidden."""
    stem = graded.stem
    folder = graded.course / "feedback"
    pages = [(student, folder / student.name / stem / f"{stem}.html") for student in graded.students]
    told = [(student, path.read_text()) for student, path in pages if path.is_file()]

    assert [student.name for student, _ in told if student.expected.mistakes]
    assert len(told) == len([student for student in graded.students if PAGES is None or student.name in PAGES])
    for student, page in told:
        teachers = (graded.course / "autograded" / student.name / stem / f"{stem}.ipynb").read_text()
        shown = html.unescape(re.sub("<[^>]+>", "", page))

        assert "HIDDEN TESTS" not in shown and "fresh=" not in shown
        assert "HIDDEN TESTS" in teachers and "fresh=" in teachers
        for exercise in student.expected.mistakes:
            first = verdict_of(graded, student.name).report(exercise).first
            assert first is not None and first.sentence.split("`")[0][:30].strip() in shown
