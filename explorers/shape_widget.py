"""The widget of the shape explorer: choose an operation, tensors and arguments, and see the result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor

from autograder.notebook.html_markup import Html
from explorers.apply_operation import Exploration, explore_operation
from explorers.element_animation import (
    MOST_CASES,
    ShapeCase,
    ShapeFilm,
    cases_for_static_page,
    combined_films_picture,
    record_element_animation,
)
from explorers.explorer_base_widget import Explorer
from explorers.explorer_controls import Control
from explorers.recorded_animation import Film, FilmChoice, RecordedRun, records_all_choices
from explorers.shape_operation_catalog import OPERATIONS, Arguments
from explorers.shape_predictions import EXPECTED_FORM_MESSAGE, judge_prediction
from explorers.shape_rendering import exploration_html

TITLE = "Number by number: what made it, and its place in memory"
PACE = 2  # numbers a second
PLACES = ("first", "second")
HINTS = {
    "sizes": "with commas; torch works out a -1",
    "dims": "every axis once, in the new order",
    "dim": "one, or several with commas; -1 is the last",
}
TRUTHS = ("False", "True")


@dataclass(frozen=True)
class ShapeQuestion:
    """An operation on named tensors with arguments, and whether the reader predicts the shape first.

    `arguments` keeps the typed arguments of each operation. While `covered`, the answer is hidden.
    """

    operation: str
    names: tuple[str, str]
    arguments: Mapping[str, Arguments] = field(default_factory=dict)
    predicts: bool = False
    covered: bool = False
    guess: str = ""

    def arguments_for(self, axes: int) -> Arguments:
        """Return the arguments of the chosen operation for a tensor with this number of axes."""
        return {**OPERATIONS[self.operation].starts(axes), **self.arguments.get(self.operation, {})}

    def changed(self, name: str, value: Any) -> ShapeQuestion:
        """Return the question after the reader chose `value` for the control `name`."""
        if name == "show":
            return replace(self, covered=False)
        if name == "guess":
            return replace(self, guess=value)
        if name == "predict":
            return replace(self, predicts=value, covered=value, guess="")
        return replace(self._asking(name, value), covered=self.predicts, guess="")

    def _asking(self, name: str, value: str) -> ShapeQuestion:
        if name == "operation":
            return replace(self, operation=value)
        if name in PLACES:
            names = [value if place == name else old for place, old in zip(PLACES, self.names, strict=True)]
            return replace(self, names=(names[0], names[1]))
        given = {**self.arguments.get(self.operation, {}), name: value}
        return replace(self, arguments={**self.arguments, self.operation: given})


def shape_explorer(*unnamed: object, **tensors: Tensor) -> ShapeExplorer:
    """Explore what operations do to shapes: `shape_explorer()`, or with your tensors `shape_explorer(x=x, w=w)`.

    Raises TypeError for an argument that is no tensor or has no name, ValueError for a tensor that has no numbers (on
    the meta device) or no strides.
    """
    if unnamed:
        raise TypeError("expected a name for each tensor, found none. Write shape_explorer(x=x), with names of yours.")
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected tensors, found {type(tensor).__name__} for {name}. Try torch.tensor({name}).")
        if tensor.layout != torch.strided or tensor.device.type == "meta":
            raise ValueError(f"expected tensors with numbers and strides; {name} is {tensor.layout}, {tensor.device}.")
    return ShapeExplorer(tensors or example_tensors())


def example_tensors() -> dict[str, Tensor]:
    """Return small tensors whose sizes differ, so that no dimension is mistaken for another."""
    table = torch.arange(12.0).reshape(3, 4)
    return {
        "column": torch.tensor([[0.0], [10.0], [20.0]]),
        "row": torch.tensor([1.0, 2.0, 3.0, 4.0]),
        "table": table,
        "turned": table.T,
        "weights": torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [0.5, -1.0]]),
        "cube": torch.arange(24.0).reshape(2, 3, 4),
    }


class ShapeExplorer(Explorer):
    """The widget that `shape_explorer` returns. Its question stays in Python; the page gets only pictures."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        super().__init__("Shape explorer")
        self._tensors = dict(tensors)
        names = list(self._tensors)
        self._question = ShapeQuestion("add" if len(names) > 1 else "transpose", (names[0], names[len(names) > 1]))
        self._found = self._answer(self._question)
        self._is_page = False
        self.show()

    def choose(self, name: str, value: Any) -> None:
        """Change the question, and answer it."""
        question = self._question.changed(name, value)
        self._found, self._question = self._answer(question), question

    def _answer(self, question: ShapeQuestion) -> Exploration:
        operation, names, given = self._asked(question)
        return explore_operation(operation, [(name, self._tensors[name]) for name in names], given, self._tensors)

    def _asked(self, question: ShapeQuestion) -> ShapeCase:
        """Return the operation, its tensors and its arguments; the defaults fit the first tensor."""
        names = question.names[: OPERATIONS[question.operation].tensors]
        return question.operation, names, question.arguments_for(self._tensors[names[0]].dim())

    def draw(self) -> Html:
        """Return the sizes, the shape and the numbers; while covered, only the question."""
        asked = self._question
        verdict = (
            judge_prediction(asked.guess, self._found)
            if asked.predicts and not asked.covered and not self._found.unread
            else ""
        )
        # Some sites remove drawings from a page, so a page shows the numbers as text as well.
        is_filmed = not self._is_page and self.moving() is not None
        return exploration_html(self._found, covered=asked.covered, verdict=verdict, is_filmed=is_filmed)

    def page(self) -> Html:
        """Return the picture for a page without a kernel; on the site, its film answers other questions too."""
        self._is_page = True
        try:
            return super().page()
        finally:
            self._is_page = False

    def moving(self) -> Film | None:
        """Return the film of the numbers one by one; None if they are too many, or the answer is covered."""
        is_short = all(each.values is not None for each in self._found.inputs)
        is_covered = self._question.covered or not is_short
        here = None if is_covered else record_element_animation(self._tensors, self._asked(self._question))
        if here is None:
            return None
        films = [here]
        if self._is_page and records_all_choices():
            others = (record_element_animation(self._tensors, each) for each in cases_for_static_page(self._tensors))
            films += [each for each in others if each and each.found.code != here.found.code]
        return _film(films[:MOST_CASES])

    def tell(self) -> str:
        """Return the answer in words."""
        found, asked = self._found, self._question
        if found.unread:
            return found.note
        if asked.covered:
            return f"{found.code}: what is the shape of the result?"
        verdict = f" {judge_prediction(asked.guess, found)}" if asked.predicts else ""
        told = f"torch refuses: {found.error}" if found.error else f"shape {found.shape}"
        return f"{found.code}: {told}.{verdict}"

    def offer(self) -> Sequence[Control]:
        """Return the controls: operation, tensors and arguments, then the prediction."""
        return [
            Control("choice", "operation", "Operation", self._question.operation, tuple(OPERATIONS)),
            *self._tensor_choices(),
            *(_argument(name, text, self._question.names[0]) for name, text in self._asked(self._question)[2].items()),
            *self._prediction(),
        ]

    def _tensor_choices(self) -> list[Control]:
        count, options = OPERATIONS[self._question.operation].tensors, tuple(self._tensors)
        labels = ("First tensor", "Second tensor") if count > 1 else ("Tensor",)
        chosen = zip(PLACES, labels, self._question.names, strict=False)
        return [Control("choice", place, label, name, options) for place, label, name in chosen]

    def _prediction(self) -> list[Control]:
        asked = self._question
        switch = Control("switch", "predict", "Predict first", asked.predicts)
        if not asked.covered:
            return [switch]
        return [
            switch,
            Control(
                "text", "guess", "Your prediction of the shape", asked.guess, hint=EXPECTED_FORM_MESSAGE, submits="show"
            ),
            Control("button", "show", "Show what torch says"),
        ]


def _film(films: Sequence[ShapeFilm]) -> Film:
    runs = {film.found.code: film.recorded(place, len(films)) for place, film in enumerate(films)}
    codes = tuple(runs)
    choices = [FilmChoice("code", "Operation", codes, codes[0])] if len(films) > 1 else []
    keyed: dict[tuple[str, ...], RecordedRun] = {(code,) if choices else (): run for code, run in runs.items()}
    return Film(
        TITLE, choices, keyed, combined_films_picture(films, runs[codes[0]].at(0), 0), about=codes[0], pace=PACE
    )


def _argument(name: str, text: str, tensor: str) -> Control:
    if name == "keepdim":
        return Control("choice", name, name, text, TRUTHS)
    hint = f"between the brackets; also a mask, such as {tensor} > 2" if name == "index" else HINTS.get(name, "")
    return Control("text", name, name, text, hint=hint)
