"""The widget of a Parsons problem: order a program's shuffled lines by mouse, touch, keyboard or line numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from autograder.diagnosis.verdict import Report
from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from autograder.notebook.report_rendering import report_as_html, report_headline
from autograder.notebook.report_rendering import text as in_text
from explorers.arranged_program_check import judge_arrangement, mistakes_just_shown
from explorers.explorer_base_widget import Explorer, join_files, script_module
from explorers.explorer_controls import Control, InvalidChoice
from explorers.parsons_problem import (
    DEEPEST,
    LONGEST,
    Arrangement,
    Pieces,
    Place,
    arrangement_from_call,
    shuffled_pieces,
)

HOW = (
    "Click a line to use it, or drag it to its place. Some lines are not needed. With the keyboard: Enter uses a line, "
    "the arrow keys move and indent it, Delete takes it out."
)
_NOT_OURS = "The page sent something that is no order of these lines: run the cell again."
_PASSED = "It holds. What counts is your answer cell: put the text there, and run the cell and its check."


@dataclass(frozen=True)
class LinesControl(Control):
    """The control in which the reader puts lines in order; `placed` are pairs of a line number and a level."""

    head: str = ""
    lines: tuple[str, ...] = ()
    placed: tuple[tuple[int, int], ...] = ()
    fills: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    deepest: int = field(default=DEEPEST, init=False)
    longest: int = field(default=LONGEST, init=False)

    def check(self, value: object) -> Any:
        """Return the arrangement that the page sent; raise Refused if it describes none."""
        if not isinstance(value, dict) or not isinstance(value.get("placed"), list):
            raise InvalidChoice(_NOT_OURS)
        places = tuple(map(self._place, value["placed"]))
        if len({each.number for each in places}) < len(places) or not isinstance(value.get("fills"), dict):
            raise InvalidChoice(_NOT_OURS)
        return Arrangement(places, dict(self._fill(*each) for each in value["fills"].items()))

    def _place(self, pair: object) -> Place:
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(each) is int for each in pair):
            raise InvalidChoice(_NOT_OURS)
        if not (1 <= pair[0] <= len(self.lines) and 0 <= pair[1] <= DEEPEST):
            raise InvalidChoice(_NOT_OURS)
        return Place(*pair)

    def _fill(self, key: str, texts: object) -> tuple[int, tuple[str, ...]]:
        known = {str(number): number for number in range(1, len(self.lines) + 1)}
        if key not in known or not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
            raise InvalidChoice(_NOT_OURS)
        if any(len(each) > LONGEST or not each.isprintable() for each in texts):
            raise InvalidChoice(f"A gap takes at most {LONGEST} characters, in one line.")
        return known[key], tuple(texts[:9])


class Arranger(Explorer):
    """The widget that `arrange` returns."""

    # The page takes one script and one style per widget: this part follows what all explorers share, and uses it.
    _esm = script_module("arrange.js")
    _css = join_files("explorer.css", "arrange.css")

    def __init__(self, pieces: Pieces, arrangement: Arrangement) -> None:
        super().__init__(f"Lines to put in order: {pieces.name}")
        self._pieces, self._made = pieces, arrangement
        self._report: Report | None = None
        self._is_of_now = True
        self.show()

    @property
    def text(self) -> str:
        """Return the program in its present order."""
        return self._made.text(self._pieces)

    def check(self) -> None:
        """Judge the program as `check` would, and keep the report; raise Refused if it cannot be run yet."""
        self._report, self._is_of_now = judge_arrangement(self._pieces, self._made), True

    # --- what the page shows

    def draw(self) -> Html:
        """Return the report of the last check."""
        if self._report is None:
            return Html("")
        late = Html("") if self._is_of_now else tag("p", "This was said of the order that you checked last.")
        passed = tag("p", _PASSED, class_="x-right") if self._report.passed and self._is_of_now else Html("")
        return join(passed, late, tag("div", report_as_html(self._report), class_="x-scroll"))

    def tell(self) -> str:
        """Return in a sentence how much of the program is there, or the headline of its report."""
        if self._report is not None and self._is_of_now:
            return f"{report_headline(self._report)}."
        used, there = len(self._made.places), len(self._pieces.lines)
        return f"{used} of {there} lines are in your program."

    def offer(self) -> Sequence[Control]:
        """Return the lines, and the button that judges them."""
        placed = tuple((each.number, each.level) for each in self._made.places)
        fills = {str(number): texts for number, texts in self._made.fills.items()}
        head, lines = self._pieces.head, self._pieces.lines
        return [
            LinesControl(
                "lines",
                "arrange",
                "Lines to put in order",
                hint=HOW,
                head=head,
                lines=lines,
                placed=placed,
                fills=fills,
            ),
            Control("button", "check", "Check this order"),
        ]

    def choose(self, name: str, value: Any) -> None:
        """Take the order that the page sent, or judge it."""
        if name == "check":
            self.check()
        else:
            self._made, self._is_of_now = value, False

    def __repr__(self) -> str:
        numbered = (f"{number:3}  {line}" for number, line in enumerate(self._pieces.lines, start=1))
        name = self._pieces.name
        told = [f"{self.title}. Some are not needed, and a gap is written ___.", *numbered]
        if not self._made.places:
            order = f'arrange("{name}", order=[2, 1, (3, 1)], fill={{1: "text"}})'
            how = f"Without a page to move them on, say it so: {order}; (3, 1) is line 3, indented once."
            return "\n".join([*told, how])
        report = [in_text(self._report)] if self._report else []
        return "\n".join([*told, "", self.text, *report])

    def _repr_mimebundle_(self, **options: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the bundle of every explorer, with all lines and their numbers as plain text."""
        data, metadata = super()._repr_mimebundle_(**options)
        return {**data, "text/plain": repr(self)}, metadata

    def at_rest(self) -> Html:
        """Return the lines and their arrangement, for a page where the reader cannot move them."""
        return _still(self._pieces, self._made, self.draw())


def _still(pieces: Pieces, made: Arrangement, said: Html) -> Html:
    listed = tag("ol", *(tag("li", tag("code", line)) for line in pieces.lines))
    program = tag("pre", made.text(pieces), class_="x-code x-scroll") if made.places else Html("")
    return join(tag("p", sentence_to_html("Some are not needed, and `___` is a gap.")), listed, program, said)


def arrange(
    name: str,
    order: Sequence[object] = (),
    fill: Mapping[int, str | Sequence[str]] | None = None,
    seed: object = None,
) -> Arranger:
    """Put the lines of a program for exercise `name` in order, fill its gaps, and have it judged as `check` would.

    A line of the mistake that your last check showed is among them, if the course has one. Each reader finds the lines
    in a different order; `seed`, any number, gives another one. Without a page to move them
    on, `order` lists their numbers, `fill` maps a line number to the text in its gap, and the program is judged at
    once: `arrange("NAME", order=[2, 1, (3, 1)], fill={1: "text"})`. A pair is a line and its level; a line without a
    level is one level deeper than the line before if that ends with a colon, else on the same level. Passing here does
    not count; only the check of the answer cell does. Raises UnknownExercise if the exercise has no lines to arrange,
    ValueError if `order` or `fill` names other lines.
    """
    pieces = shuffled_pieces(name, seed, mistakes_just_shown(name))
    made = Arranger(pieces, arrangement_from_call(pieces, order, fill or {}))
    if order:
        made.check()
        made.show()
    return made
