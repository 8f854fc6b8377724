"""The widget of a quiz: one multiple-choice question after the other, each explained once it is answered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograder.files import sha256_of_texts
from autograder.notebook.html_markup import Html, join, sentence_to_html, sign, tag
from autograder.questions.question import LETTERS, Question, numbered_code, question_as_text
from explorers.explorer_base_widget import Explorer, join_files
from explorers.explorer_controls import Control, InvalidChoice
from explorers.explorer_markup import choice_button

OnAnswer = Callable[[Question, int], str | None]


def discard_answer(question: Question, chosen: int) -> None:
    """Keep no record of an answer."""


class Quiz(Explorer):
    """Shows questions one at a time; the reader's first choice counts, and is then explained.

    `on_answer` is called with each question and the index of the reader's first choice, once; what it returns, if
    anything, is added to the explanation. Without a page that reacts, `answer("b")` answers the present question.
    """

    _css = join_files("explorer.css", "quiz.css")

    def __init__(self, title: str, questions: Sequence[Question], on_answer: OnAnswer = discard_answer) -> None:
        super().__init__(title)
        if not questions:
            raise ValueError("a quiz needs a question")
        self._questions, self._on_answer = tuple(questions), on_answer
        self._place = 0
        self._chosen: dict[int, int] = {}
        self._notes: dict[int, str] = {}
        self.show()

    @property
    def answers(self) -> dict[int, int]:
        """Return the index of the reader's choice by the index of the question."""
        return dict(self._chosen)

    @property
    def right_answers(self) -> int:
        """Return how many questions have been answered right."""
        return sum(self._questions[place].right == chosen for place, chosen in self._chosen.items())

    def answer(self, letter: str) -> None:
        """Answer the present question with the letter of a choice, print what follows, and go to the next question."""
        if self._place in self._chosen and not self._is_last:
            self._place += 1
        letters = LETTERS[: len(self._question.choices)]
        if not isinstance(letter, str) or len(letter) != 1 or letter.lower() not in letters:
            raise InvalidChoice(f"Expected one letter of {letters[0]} to {letters[-1]}, got {letter!r}.")
        self._choose(letters.index(letter.lower()))
        self.show()
        print(self.tell())
        if not self._is_last:
            print(f"\n{self._head(self._place + 1)}\n{question_as_text(self._questions[self._place + 1])}")

    # --- what the page shows

    def draw(self) -> Html:
        """Return the present question, and once it is answered which choice is right and why."""
        question, chosen = self._question, self._chosen.get(self._place)
        choices = (self._choice(place, text, chosen) for place, text in enumerate(question.choices))
        return join(
            tag("p", self._head(self._place), class_="x-quiz-head"),
            _paragraphs(question.prompt),
            _listing(question.code),
            tag("ul", *(tag("li", choice) for choice in choices), class_="x-quiz-choices"),
            Html("") if chosen is None else self._explained(chosen),
        )

    def _choice(self, place: int, text: str, chosen: int | None) -> Html:
        label = join(tag("b", LETTERS[place]), " ", sentence_to_html(text))
        if chosen is None:
            return choice_button("answer", LETTERS[place], label, class_="x-quiz-choice")
        if place == self._question.right:
            return tag("span", sign("✓ ", "inherit"), label, class_="x-quiz-choice x-right")
        if place == chosen:
            return tag("span", sign("✗ ", "inherit"), label, class_="x-quiz-choice x-wrong")
        return tag("span", label, class_="x-quiz-choice")

    def _explained(self, chosen: int) -> Html:
        return tag("p", sentence_to_html(self._verdict(self._place, chosen)), class_="x-quiz-why")

    def _verdict(self, place: int, chosen: int) -> str:
        return f"{self._questions[place].verdict(chosen)} {self._notes.get(place, '')}".strip()

    def _head(self, place: int) -> str:
        return f"Question {place + 1} of {len(self._questions)}"

    def tell(self) -> str:
        """Return the explanation of an answered question; else the question and its choices in words."""
        chosen = self._chosen.get(self._place)
        if chosen is None:
            return f"{self._head(self._place)}. {question_as_text(self._question)}"
        score = f" {self.right_answers} of {len(self._questions)} were right." if self._is_last else ""
        return self._verdict(self._place, chosen) + score

    def offer(self) -> Sequence[Control]:
        """Return the choices of an open question, or the button for the next one."""
        if self._place not in self._chosen:
            letters = tuple(LETTERS[: len(self._question.choices)])
            return [Control("part", "answer", "Your choice", options=letters)]
        return [] if self._is_last else [Control("button", "next", "Next question")]

    def choose(self, name: str, value: Any) -> None:
        """Take the reader's choice, or go to the next question."""
        if name == "next":
            self._place += 1
        else:
            self._choose(LETTERS.index(value))

    def _choose(self, choice: int) -> None:
        if self._place in self._chosen:
            raise InvalidChoice("This question is answered; run the cell again for new ones.")
        self._chosen[self._place] = choice
        self._notes[self._place] = self._on_answer(self._question, choice) or ""

    @property
    def _question(self) -> Question:
        return self._questions[self._place]

    @property
    def _is_last(self) -> bool:
        return self._place == len(self._questions) - 1

    def __repr__(self) -> str:
        return f"{self.title}\n{self.tell()}"

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the bundle of every explorer, with the question as plain text."""
        data, metadata = super()._repr_mimebundle_(**options)
        return {**data, "text/plain": repr(self)}, metadata

    def at_rest(self) -> Html:
        """Return all questions for a page without a kernel: the choice that a reader unfolds is judged."""
        before = ["", *(question.code for question in self._questions)]
        return join(
            *(
                _folded(self._head(place), question, question.code if question.code != before[place] else "")
                for place, question in enumerate(self._questions)
            )
        )


def _folded(head: str, question: Question, code: str) -> Html:
    """Return a question with a program, whose choices unfold one at a time into what is said of each."""
    group = f"quiz-{sha256_of_texts(question.prompt, question.code)[:8]}"
    choices = (
        tag(
            "details",
            tag("summary", tag("b", LETTERS[place]), " ", sentence_to_html(choice)),
            tag(
                "p",
                sentence_to_html(question.verdict(place)),
                class_="x-right" if place == question.right else "x-wrong",
            ),
            name=group,
            class_="x-quiz-fold",
        )
        for place, choice in enumerate(question.choices)
    )
    return tag("div", tag("p", head, class_="x-quiz-head"), _paragraphs(question.prompt), _listing(code), *choices)


def _paragraphs(prompt: str) -> Html:
    return join(*(tag("p", sentence_to_html(line)) for line in prompt.split("\n")))


def _listing(code: str) -> Html:
    return tag("pre", "\n".join(numbered_code(code)), class_="x-code x-scroll") if code else Html("")
