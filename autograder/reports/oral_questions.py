"""Make a page for a talk of two minutes: questions about one student's own answers, with the answers."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from autograder.course.chapter_model import Chapter
from autograder.course.course import course_in
from autograder.course.course_location import assignments_in
from autograder.errors import CourseNotFound, WorkFailed
from autograder.files import write_all
from autograder.grading import verdict_store
from autograder.grading.assignment import read_assignment
from autograder.grading.class_grading import read_student_files
from autograder.grading.draw_own_code_questions import draw_questions_about_answers, select_course_exercises
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from autograder.questions.choose_oral_questions import (
    MOST_ASKED,
    TalkQuestion,
    call_line_of_prompt,
    choose_oral_exam_questions,
    prompt_without_line,
)
from autograder.questions.question import LETTERS, Question, numbered_code
from autograder.reports.class_results import assignment_title
from autograder.reports.notebook_to_offline_html import complete_html_page
from autograder.reports.student_reports import student_page_file_name
from autograder.submission.submission import Submission

ORAL_PAGES_FOLDER = "oral"
_INTRO = (
    "Two questions are enough for two minutes. Each was computed by running the code above it. "
    "What to ask next, if there is time, needs no choices."
)


@dataclass(frozen=True)
class OralPage:
    """The page that was written, and why it has fewer questions than it could have; "" if it has all."""

    path: Path
    why_fewer: str


def write_oral_page(course: Path, student: str, stem: str, *, unconfined: bool) -> OralPage:
    """Write the page with five questions about a student's answers that have passed, and return where it is.

    The answers run as in grading. Raises CourseNotFound or WorkFailed, and writes nothing, if there is no such student
    or assignment, if the submission cannot be read, is not graded or passes nothing, and if no question can be made.
    """
    course = course.resolve()
    _check_assignment(course, stem)
    folder = _submitted(course, student, stem)
    assignment = read_assignment(course, stem, unconfined=unconfined)
    if assignment.parts or not assignment.has_exercises:
        raise WorkFailed(
            f"expected a chapter, or one notebook with exercises of the course, found {stem!r}, which is none. Name a "
            "chapter."
        )
    chapter, parcel = assignment.chapter(), read_student_files(assignment, folder)
    submission = assignment.read(parcel, assignment.released())
    verdict = _verdict(course, student, stem, submission, parcel.digest)
    names = _passed(course, student, stem, chapter, verdict)
    found = draw_questions_about_answers(assignment, chapter, submission, names, f"{student} {parcel.digest}")
    talk = choose_oral_exam_questions([each.questions for each in found])
    reasons = "; ".join(f"{each.exercise}: {each.reason}" for each in found if each.reason)
    if not talk:
        raise WorkFailed(
            f"expected questions about what {student!r} has passed in {stem}, found none ({reasons}). "
            "Ask with the code in front of you: why does each line stand there?"
        )
    why = "" if len(talk) == MOST_ASKED else _why_fewer(len(talk), len(names), reasons)
    path = course / "reports" / ORAL_PAGES_FOLDER / stem / student_page_file_name(student)
    title = f"Questions for {student}: {assignment_title(course, stem)}"
    write_all({path: complete_html_page(title, join(_head(submission.eye, why), _body(talk)), {})})
    return OralPage(path, why)


def _check_assignment(course: Path, stem: str) -> None:
    """Raise CourseNotFound if the course has no such assignment."""
    known = assignments_in(course)
    if stem not in known:
        close = difflib.get_close_matches(stem, known, n=1)
        advice = f"Did you mean {close[0]!r}?" if close else f"The course has {', '.join(known)}."
        raise CourseNotFound(f"expected a chapter or an assignment of the course, found {stem!r}. {advice}")


def _submitted(course: Path, student: str, stem: str) -> Path:
    """Return the student's folder; raise CourseNotFound if there is none: only a name that is listed is a student's."""
    handed_in = course / "submitted"
    students = sorted(path.name for path in handed_in.glob("[!.]*") if path.is_dir())
    if student not in students:
        close = difflib.get_close_matches(student, students, n=1)
        advice = f"Did you mean {close[0]!r}?" if close else f"`autograder collect FILE.zip {stem}` takes files in."
        raise CourseNotFound(f"expected the folder of {student!r} in {handed_in}, found none. {advice}")
    folder = handed_in / student / stem
    if not folder.is_dir():
        there = ", ".join(sorted(path.name for path in folder.parent.glob("[!.]*") if path.is_dir())) or "nothing"
        raise CourseNotFound(f"expected something of {student!r} for {stem}, found {there}. Name what is there.")
    return folder


def _verdict(course: Path, student: str, stem: str, submission: Submission, digest: str) -> SubmissionVerdict:
    """Return the verdict on what is handed in now; raise WorkFailed if there is none, or it cannot be read."""
    if submission.trouble:
        raise WorkFailed(
            f"expected a notebook of {student!r} for {stem}, found a file that cannot be read: {submission.trouble} "
            f"Ask for the .ipynb file itself, and grade it with `autograder grade {stem}`."
        )
    verdict = verdict_store.read_verdict(course, stem, student)
    if verdict is None or verdict.digest != digest:
        found = "none" if verdict is None else "one on an earlier file"
        raise WorkFailed(
            f"expected a verdict on what {student!r} has handed in for {stem}, found {found}. "
            f"Run `autograder grade {stem}` first."
        )
    return verdict


def _passed(course: Path, student: str, stem: str, chapter: Chapter, verdict: SubmissionVerdict) -> list[str]:
    """Return the exercises that the student has passed, those worth most first, and stretch exercises last."""
    known = select_course_exercises(course_in(course), chapter)
    passed = [each.exercise for each in verdict.reports if each.passed and each.exercise in known]
    if not passed:
        raise WorkFailed(
            f"expected an exercise that {student!r} has passed in {stem}, found none: questions are about answers "
            f"that pass. `autograder feedback {stem}` shows what each of them lacks."
        )
    return sorted(passed, key=lambda name: (-chapter.points(name), -chapter.extra(name)))


def _why_fewer(count: int, passed: int, reasons: str) -> str:
    exercises = f"{passed} exercise{'' if passed == 1 else 's'} passed"
    return f"{count} of {MOST_ASKED} questions: {exercises}{f', and no question about {reasons}' if reasons else ''}."


def _head(eye: Sequence[str], why_fewer: str) -> Html:
    """Return what stands above the questions: first what of this submission is worth a person's eye, if anything."""
    seen = join(tag("p", "Look at this first:"), tag("ul", *(tag("li", line) for line in eye)))
    return join(*(tag("p", line) for line in (_INTRO, why_fewer) if line), *([seen] if eye else []))


def _body(talk: Sequence[TalkQuestion]) -> Html:
    numbered = enumerate(talk, start=1)
    parts = groupby(numbered, key=lambda each: (each[1].question.about, each[1].question.code))
    return join(*(_answer(*about, list(questions)) for about, questions in parts))


def _answer(exercise: str, code: str, asked: Sequence[tuple[int, TalkQuestion]]) -> Html:
    """Return an answer's code, and the questions about it."""
    listed = tag("ol", *(tag("li", *_question(each)) for _, each in asked), start=asked[0][0])
    return tag(
        "section", tag("h2", tag("code", exercise)), tag("pre", "\n".join(numbered_code(code))), listed, class_="oral"
    )


def _question(talk: TalkQuestion) -> Iterator[Html]:
    question = talk.question
    yield tag("p", *_lines(question.prompt))
    yield tag("ol", *(tag("li", sentence_to_html(choice)) for choice in question.choices), type="a")
    right = tag(
        "p",
        tag("strong", f"{LETTERS[question.right]}) "),
        sentence_to_html(f"{question.right_choice}. {question.explanation}"),
    )
    following = [
        tag("p", tag("strong", "Next: "), *_next(each, call_line_of_prompt(question))) for each in talk.following
    ]
    yield tag("details", tag("summary", "Answer, and what to ask next"), right, *following)


def _next(question: Question, call: str) -> Iterator[Html]:
    """Yield a question that is asked next, without the call that both are about, and its answer."""
    yield from _lines(prompt_without_line(question) if call_line_of_prompt(question) == call else question.prompt)
    yield join(" ", tag("strong", "→ "), sentence_to_html(f"{question.right_choice}. {question.explanation}"))


def _lines(prompt: str) -> Iterator[Html]:
    for place, line in enumerate(prompt.split("\n")):
        yield join(tag("br") if place else Html(""), sentence_to_html(line))
