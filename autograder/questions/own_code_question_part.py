"""A graded part of a notebook that asks about the student's own answer: its names, its cell, and the report on it.

The part of the exercise NAME is called `about_NAME`. The questions are drawn in the student's notebook, and again in
grading. What the student copies into the cell holds the number of the draw, a digest of the questions, and the texts of
the choices. Where grading does not come to the same questions, or cannot believe what it came to, no computation gives
points or takes them: the part waits for a person.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import DamagedData
from autograder.files import sha256_of_texts
from autograder.questions.question import Question, numbered_code
from autograder.submission.extract_answer_statements import statements

POINTS = 3  # of a part: one for each question, as many as are asked at most
NUMBER_OF_DRAWS = 10**6
_WIDTH, _LONGEST = 90, 2_000  # characters of a line, and of a choice
A_PERSON = "a person"  # what a check waits for that nothing computes
_QUESTIONS = "Questions about your own code"
_BEGIN = "about_"
_UNREADABLE = "expected the lines that `about` has printed, found something that is none of them"
_SEVERAL = "expected one choice of each question, found several of one"
_CHANGED = "expected all choices in the lines that `about` has printed, found another line that changes them"


def part_name(exercise: str) -> str:
    """Return the name of the part that asks about an exercise, and of the variable that holds its answers."""
    return f"{_BEGIN}{exercise}"


def asked_exercise(name: str, exercises: Iterable[str]) -> str | None:
    """Return the exercise that a part of this name asks about; None if it is no part, or is an exercise itself."""
    known = tuple(exercises) if name.startswith(_BEGIN) else ()
    asked = name.removeprefix(_BEGIN)
    return asked if asked in known and name not in known else None


@dataclass(frozen=True)
class WrittenAnswers:
    """The answers of a student: the number of the draw, the digest of the questions, and the choices by number."""

    draw: int
    digest: str
    chosen: Mapping[int, str]


def written_answers(source: str, name: str, others: Iterable[str] = ()) -> WrittenAnswers | None:
    """Return what a cell's text says in answer; None if nothing. Raises DamagedData for what cannot be read.

    The text is read and never run. So neither is a line there, or in the texts of `others`, that changes the answers.
    """
    known = statements(source)
    if known is None:
        raise DamagedData("expected Python, found text that Python cannot read")
    every = [*known, *(each for text in others if name in text for each in statements(text) or ())]
    if any(name in each.names.changed | each.names.perhaps_changed for each in every):
        raise DamagedData(_CHANGED)
    nodes = [each.node for each in known if name in each.names.bound]
    value = getattr(next(reversed(nodes), None), "value", None) if known else ast.Dict([], [])
    keys = [key.value for key in getattr(value, "keys", ()) if isinstance(key, ast.Constant)]
    if len(set(keys)) < len(keys):
        raise DamagedData(_SEVERAL)
    try:
        return (
            parse_question_answers(ast.literal_eval(value))
            if isinstance(value, ast.expr)
            else parse_question_answers(value)
        )
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        raise DamagedData(_UNREADABLE) from None


def parse_question_answers(value: object) -> WrittenAnswers | None:
    """Return the answers in a value; None if it is an empty dict. Raises DamagedData for any other value."""
    match value:
        case {"draw": int(draw), "asked": str(digest), **chosen} if 0 <= draw < NUMBER_OF_DRAWS:
            texts = {key: text for key, text in chosen.items() if isinstance(key, int) and isinstance(text, str)}
            return WrittenAnswers(draw, digest, {key: _writable(text) for key, text in texts.items()})
        case {} if not value:
            return None
    raise DamagedData(_UNREADABLE)


def _writable(text: str) -> str:
    """Return a text of at most 2,000 characters, none of which is half a pair: no file can hold that."""
    return text[:_LONGEST].encode("utf-8", "replace").decode()


def answer_form_text(exercise: str, draw: int, questions: Sequence[Question]) -> str:
    """Return the statement that holds the answers, each choice as a comment; the student takes `#` away from some."""
    rows = [*numbered_code(questions[0].code)] if questions else []
    for number, question in enumerate(questions, start=1):
        rows += ["", *_wrapped(f"{number}. {question.prompt}")]
        rows += [f"{number}: {choice!r}," for choice in question.choices]
    about = f'"draw": {draw}, "asked": "{digest_of_questions(questions)}",'
    inside = [about, *(f"# {row}".rstrip() for row in rows)]
    return "\n".join([f"{part_name(exercise)} = {{", *(f"    {row}" for row in inside), "}"])


def _wrapped(prompt: str) -> list[str]:
    """Return the lines of a prompt, none much longer than those of a notebook's code."""
    return [row for line in prompt.splitlines() for row in textwrap.wrap(line, _WIDTH, break_long_words=False)]


def digest_of_questions(questions: Sequence[Question]) -> str:
    """Return a digest of what is asked, with the choices in any order; the code and the right choices are not in it."""
    return sha256_of_texts(*(text for each in questions for text in (each.prompt, *sorted(each.choices))))[:12]


def unanswered_report(name: str, sentence: str) -> Report:
    """Return the report on a part for which nothing counts yet."""
    return Report(name, (Verdict(_QUESTIONS, Status.NOT_ATTEMPTED, sentence),))


def manual_score_report(name: str, why: str) -> Report:
    """Return the report on a part that a person has to score."""
    sentence = f"{why} Your teacher scores this part.".strip()
    return Report(name, (Verdict(_QUESTIONS, Status.SKIPPED, sentence, after=A_PERSON),))


def report_on_answers(name: str, questions: Sequence[Question], chosen: Mapping[int, str]) -> Report:
    """Return the report on a part: each question with whether it is answered right, the right choice, and why."""
    verdicts = tuple(_verdict(number, each, chosen.get(number)) for number, each in enumerate(questions, start=1))
    fewer = f"Your code gives {len(questions)} of {POINTS} questions here; they count for all points."
    return Report(name, verdicts, (fewer,) if len(questions) < POINTS else ())


def _verdict(number: int, question: Question, chosen: str | None) -> Verdict:
    asked = f"Question {number}: {' '.join(question.prompt.split())}"
    if chosen == question.right_choice:
        return Verdict(asked, Status.PASS, f"Right: {chosen}. {question.explanation}")
    given = "Not answered." if chosen is None else f"Your choice: {chosen}."
    return Verdict(asked, Status.FAIL, f"{given} Right: {question.right_choice}. {question.explanation}")


def is_about_own_code(report: Report) -> bool:
    """Return whether a report is one on such a part."""
    return report.exercise.startswith(_BEGIN) and report.verdicts[0].requirement.startswith((_QUESTIONS, "Question "))


def waits_for_person(report: Report) -> bool:
    """Return whether a person has to score what a report is on."""
    return any(verdict.after == A_PERSON for verdict in report.verdicts)
