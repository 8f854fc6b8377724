"""Functions of a course that draw questions, and the registry in which a decorator enters them by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from autograder.course.course import Course
from autograder.errors import ExerciseError
from autograder.questions.computed_question import Draft, finish_question
from autograder.questions.question import Question

DrawDraft = Callable[[Random], Draft]
_MOST_DRAWS = 100


@dataclass(frozen=True)
class QuestionGenerator:
    """Draws questions about some facts of the course, which may be asked once a sitting has been read.

    `facts` are ids of core facts in the course's ledger, `also` ids of other facts that the questions touch. The
    questions of an optional sitting are only for readers who have checked an exercise of it.
    """

    name: str
    sitting: str
    facts: tuple[str, ...]
    also: tuple[str, ...]
    optional: bool
    draw: DrawDraft

    def question(self, random: Random) -> Question:
        """Return a question; the same state of `random` gives the same. Draws again where two choices are equal."""
        for _ in range(_MOST_DRAWS):
            question = finish_question(self.draw(random), self.name, self.sitting, random)
            if question is not None:
                return question
        raise ExerciseError(f"expected the generator {self.name} to give a question with different choices, got none.")


class QuestionGenerators:
    """The generators of one chapter, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, QuestionGenerator] = {}

    def from_sitting(self, sitting: str, *, optional: bool = False) -> Callable[..., Callable[[DrawDraft], DrawDraft]]:
        """Return a decorator for the generators of a sitting: `@tensors("fact", also=("another",))`."""

        def about(*facts: str, also: tuple[str, ...] = ()) -> Callable[[DrawDraft], DrawDraft]:
            def enter(draw: DrawDraft) -> DrawDraft:
                name = draw.__name__
                if not facts or name in self.by_name:
                    raise ExerciseError(f"expected a fact and a name of its own for the generator {name}.")
                self.by_name[name] = QuestionGenerator(name, sitting, facts, also, optional, draw)
                return draw

            return enter

        return about


def question_generators(course: Course) -> dict[str, QuestionGenerator]:
    """Return all generators of a course by name; empty if it has none. Raises ExerciseError if a name stands twice."""
    found: dict[str, QuestionGenerator] = {}
    for each in _all(course):
        if each.name in found:
            raise ExerciseError(f"expected each generator to have a name of its own, found {each.name} twice.")
        found[each.name] = each
    return found


def _all(course: Course) -> Iterator[QuestionGenerator]:
    for module in course.review_questions():
        yield from module.questions.by_name.values()
