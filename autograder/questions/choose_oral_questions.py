"""Choose the questions of a talk about somebody's answers, and what to ask next after each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from autograder.questions.question import Question

MOST_ASKED, MOST_NEXT = 5, 2
_NEED_CHOICES = ("runs", "which_argument")  # kinds of questions that have several right answers without their choices


@dataclass(frozen=True)
class TalkQuestion:
    """A question of a talk, and others about the same answer that can be asked next, without their choices."""

    question: Question
    following: tuple[Question, ...] = ()


def choose_oral_exam_questions(answers: Sequence[Sequence[Question]]) -> list[TalkQuestion]:
    """Return up to five questions, each with up to two to ask next; those about one answer come together.

    `answers` holds the questions about each answer, the most important answer first. Each answer has its turn before
    any has a second one, and kinds of questions that were asked less often come first.
    """
    left = [list(questions) for questions in answers]
    asked: list[list[Question]] = [[] for _ in answers]
    count = Counter[str]()
    while count.total() < MOST_ASKED and any(left):
        for chosen, questions in zip(asked, left, strict=True):
            if questions and count.total() < MOST_ASKED:
                chosen.append(_taken(questions, lambda each: (count[each.kind],)))
                count[chosen[-1].kind] += 1
    pairs = zip(asked, left, strict=True)
    return [talk for chosen, questions in pairs for talk in _with_following(chosen, questions)]


def _with_following(chosen: Sequence[Question], left: Sequence[Question]) -> list[TalkQuestion]:
    spoken = [each for each in left if each.kind not in _NEED_CHOICES]
    following: list[list[Question]] = [[] for _ in chosen]
    for _ in range(MOST_NEXT):
        for question, found in zip(chosen, following, strict=True):
            found += [_next_after([question, *found], spoken)] if spoken else []
    return [TalkQuestion(*pair) for pair in zip(chosen, map(tuple, following), strict=True)]


def _next_after(before: Sequence[Question], left: list[Question]) -> Question:
    """Take what to ask after these questions: about the call of the first one, and of another kind, if there is one."""
    calls, kinds = ("", call_line_of_prompt(before[0])), [each.kind for each in before]
    return _taken(left, lambda each: (call_line_of_prompt(each) not in calls, each.kind in kinds))


def _taken(questions: list[Question], rank: Callable[[Question], tuple[object, ...]]) -> Question:
    """Remove the first of the questions with the lowest rank, and return it."""
    found = min(questions, key=rank)
    questions.remove(found)
    return found


def call_line_of_prompt(question: Question) -> str:
    """Return the line of a prompt that says how the answer is called; "" if the question is about no one call."""
    return question.prompt.partition("\n")[0] if "\n" in question.prompt else ""


def prompt_without_line(question: Question) -> str:
    """Return a prompt without that line."""
    return question.prompt.removeprefix(f"{call_line_of_prompt(question)}\n")
