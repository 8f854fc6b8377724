"""One multiple-choice question as a value with a JSON form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from random import Random
from typing import Any

LETTERS = "abcdef"


@dataclass(frozen=True)
class Question:
    """One question: a sentence, perhaps a program, and choices of which exactly one is right.

    Texts may hold code between backticks. `code` is shown with line numbers, which the sentence may name.
    `explanation` says why the right choice is right, with values that running the program has given; readers see it
    once they have chosen. `kind` names what is asked for (such as `line_at_fault`), `about` the exercise or topic.
    `expression`, if it is there, is code whose value after running `code` is the right choice.
    Raises ValueError if two choices are equal, or if there is no choice at `right`.
    """

    kind: str
    about: str
    prompt: str
    choices: tuple[str, ...]
    right: int
    explanation: str
    code: str = ""
    expression: str = ""

    def __post_init__(self) -> None:
        if not 2 <= len(self.choices) <= len(LETTERS):
            raise ValueError(f"expected 2 to {len(LETTERS)} choices, got {len(self.choices)}: {self.prompt!r}")
        if len(set(self.choices)) < len(self.choices):
            raise ValueError(f"two choices are equal: {self.choices!r}")
        if not 0 <= self.right < len(self.choices):
            raise ValueError(f"expected the index of a choice, got {self.right}")

    @property
    def right_choice(self) -> str:
        """Return the text of the right choice."""
        return self.choices[self.right]

    def verdict(self, chosen: int) -> str:
        """Return whether the choice at this index is right, which one is, and why."""
        is_right = chosen == self.right
        verdict = "Right." if is_right else f"Not {LETTERS[chosen]}. It is {LETTERS[self.right]}."
        return f"{verdict} {self.explanation}".strip()

    def to_json(self) -> dict[str, Any]:
        """Return the question as plain data."""
        return asdict(self) | {"choices": list(self.choices)}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Question:
        """Return the question that `to_json` has written."""
        return cls(**{**data, "choices": tuple(data["choices"])})


def shuffled_question(question: Question, random: Random) -> Question:
    """Return the question with its choices in an order drawn from `random`."""
    order = random.sample(range(len(question.choices)), len(question.choices))
    return Question.from_json(
        question.to_json()
        | {"choices": [question.choices[place] for place in order], "right": order.index(question.right)}
    )


def numbered_code(code: str) -> list[str]:
    """Return the lines of a program, each with its number."""
    lines = code.strip("\n").splitlines()
    width = len(str(len(lines)))
    return [f"{number:{width}}  {line}" for number, line in enumerate(lines, start=1)]


def question_as_text(question: Question, *, answered: bool = False) -> str:
    """Return the question as text, its choices lettered; with the right choice and the explanation if `answered`."""
    choices = [f"  {letter}) {choice}" for letter, choice in zip(LETTERS, question.choices, strict=False)]
    answer = [f"Right: {LETTERS[question.right]}. {question.explanation}"] if answered else []
    return "\n".join([question.prompt, *_indented(numbered_code(question.code)), *choices, *answer])


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]
