"""A program in pieces: its shuffled lines, some with gaps, and the reader's arrangement of them.

A course writes the lines of an exercise in `arranged/NAME.txt`: first the line with `def` or `class`, then the others
in alphabetical order, including distractors. Below an empty line stand more distractors, as `TAG: LINE`: each comes in
for a reader whose last check showed this mistake. The file holds no solution; the exercise's own check judges an
arrangement.
"""

from __future__ import annotations

import getpass
import os
import random
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from autograder.course.course import current_course
from autograder.errors import UnknownExercise

GAP = "___"
INDENT = "    "
DEEPEST = 5  # levels of indentation below that of the function's body
LONGEST = 80  # characters in a gap


@dataclass(frozen=True)
class Pieces:
    """The lines of an exercise in the order in which this reader gets them; `head` is the line that begins it."""

    name: str
    head: str
    lines: tuple[str, ...]

    def gaps(self, number: int) -> int:
        """Return the number of gaps in a line; lines are counted from 1."""
        return self.lines[number - 1].count(GAP)


@dataclass(frozen=True)
class Place:
    """A line of an arrangement: its number, and its indentation level (0 is the function's body)."""

    number: int
    level: int


@dataclass(frozen=True)
class Arrangement:
    """The reader's arrangement: the lines in order, and the texts in the gaps, by line number."""

    places: tuple[Place, ...] = ()
    fills: Mapping[int, tuple[str, ...]] = field(default_factory=dict)

    def line(self, pieces: Pieces, number: int) -> str:
        """Return a line with its gaps filled; a gap without text stays `GAP`."""
        fills = self.fills.get(number, ())
        filled, *rest = pieces.lines[number - 1].split(GAP)
        for place, part in enumerate(rest):
            filled += (_fill(fills, place) or GAP) + part
        return filled

    def text(self, pieces: Pieces) -> str:
        """Return the program."""
        body = (INDENT * (1 + each.level) + self.line(pieces, each.number) for each in self.places)
        return "\n".join([pieces.head, *body]) + "\n"

    def open_lines(self, pieces: Pieces) -> list[str]:
        """Return the lines of the program that still have a gap."""
        lines = (self.line(pieces, each.number) for each in self.places)
        return [line for line in lines if GAP in line]


def _fill(fills: Sequence[str], place: int) -> str:
    return fills[place].strip() if place < len(fills) else ""


def puzzle_names() -> list[str]:
    """Return the exercises of this course that have lines to arrange."""
    return current_course().arranged_names


def shuffled_pieces(name: str, seed: object = None, mistakes: Collection[str] = ()) -> Pieces:
    """Return the lines of an exercise, in an order that depends on the reader, or on `seed`.

    `mistakes` are tags of known mistakes; a wrong line for each is mixed in, if the course's file has one. Raises
    UnknownExercise if the exercise has no lines to arrange.
    """
    known = puzzle_names()
    if name not in known:
        advice = f"there are no lines to arrange for {name!r}. There are some for {', '.join(known) or 'no exercise'}."
        raise UnknownExercise(name, known, advice)
    head, lines, of_mistakes = parse_puzzle_file(current_course().arranged(name))
    lines += [line for tag, line in of_mistakes.items() if tag in mistakes]
    chance = random.Random(f"{name} {_reader() if seed is None else seed}")
    chance.shuffle(lines)
    return Pieces(name, head, tuple(lines))


def parse_puzzle_file(text: str) -> tuple[str, list[str], dict[str, str]]:
    """Return the head, the lines for every reader, and the lines of known mistakes by tag, of a course's file."""
    for_all, _, of_mistakes = text.partition("\n\n")
    head, *lines = for_all.splitlines()
    return head, lines, dict(row.split(": ", 1) for row in of_mistakes.splitlines())


def _reader() -> str:
    """Return the user's name, so that neighbors get different orders."""
    try:
        return os.environ.get("JUPYTERHUB_USER") or getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name
        return ""


def arrangement_from_call(
    pieces: Pieces, order: Sequence[object], fill: Mapping[int, str | Sequence[str]]
) -> Arrangement:
    """Return the arrangement that a call describes; an item of `order` is a line, or a line and its level.

    A line without a level is one level deeper than the line before if that ends with a colon, else on the same level.
    Raises ValueError for a line that does not exist or that occurs twice.
    """
    made = Arrangement(fills={_number(pieces, number): _texts(text) for number, text in fill.items()})
    for item in order:
        number, level = item if isinstance(item, tuple) and len(item) == 2 else (item, None)
        number = _number(pieces, number)
        if number in {each.number for each in made.places}:
            raise ValueError(f"line {number} stands in the order twice: each line can be used once.")
        level = indent_for_appended_line(pieces, made.places) if level is None else level
        if type(level) is not int or not 0 <= level <= DEEPEST:
            raise ValueError(f"expected a level from 0 to {DEEPEST} for line {number}, found {level!r}.")
        made = replace(made, places=(*made.places, Place(number, level)))
    return made


def indent_for_appended_line(pieces: Pieces, places: Sequence[Place]) -> int:
    """Return the level of a line that is appended to these."""
    if not places:
        return 0
    deeper = pieces.lines[places[-1].number - 1].endswith(":")
    return min(DEEPEST, places[-1].level + deeper)


def _texts(given: str | Sequence[str]) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(map(str, given))


def _number(pieces: Pieces, number: object) -> int:
    if type(number) is not int or not 1 <= number <= len(pieces.lines):
        raise ValueError(f"expected the number of a line, from 1 to {len(pieces.lines)}, found {number!r}.")
    return number
