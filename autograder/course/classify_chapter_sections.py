"""The outline of a chapter: its text in pieces from heading to heading, and what each piece belongs to.

A piece belongs to the main path, to an exercise, or to a side path. An exercise has the pieces from its heading,
"Exercise: `name`", to its check; without such a heading, the text directly above its cell, the cell and the check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.lint_chapter import raise_format_error
from autograder.course.markdown_headings_and_word_counts import Heading, split_at_headings
from autograder.course.side_paths import side_path_cells

_PARENTHESES, _WORDS = re.compile(r"\s*\([^()]*\)"), re.compile(r"\w+")
_EXERCISE = re.compile(r"(?:[\w-]+ )?[Ee]xercise: `(?P<name>\w+)`")


@dataclass(frozen=True)
class TextPiece:
    """A code cell, or the text of a markdown cell from one heading to the next; `place` is the cell's index."""

    place: int
    cell: Cell
    heading: Heading | None
    text: str


class ChapterOutline:
    """A chapter's pieces in order, referred to by their index.

    `exercise` maps the pieces of exercises to the exercise's name; `side` is the set of pieces on side paths.
    """

    def __init__(self, chapter: Chapter) -> None:
        self.chapter = chapter
        self.pieces = [piece for place, cell in enumerate(chapter.cells) for piece in _pieces(place, cell)]
        off = side_path_cells(chapter)
        self.side = {number for number, piece in enumerate(self.pieces) if piece.place in off}
        self.exercise = {number: name for name in chapter.exercises for number in self._of_exercise(name)}

    @cached_property
    def headings(self) -> list[int]:
        """Return the indices of the pieces that begin with a heading."""
        return [number for number, piece in enumerate(self.pieces) if piece.heading]

    def section(self, number: int) -> range:
        """Return the pieces of a heading's section: from the heading to the next one of its level or a higher one.

        The section of a chapter's first heading is the whole chapter.
        """
        if number == self.headings[0]:
            return range(len(self.pieces))
        ends = (later for later in self.headings if later > number and self._level(later) <= self._level(number))
        return range(number, next(ends, len(self.pieces)))

    def _level(self, number: int) -> int:
        heading = self.pieces[number].heading
        return heading.level if heading else 0

    def _of_exercise(self, name: str) -> Iterator[int]:
        """Yield the indices of an exercise's pieces."""
        solution, check = self._cell(CellKind.EXERCISE, name), self._cell(CellKind.CHECK, name)
        begin = next((number for number in reversed(self.headings) if number < solution), 0)
        if exercise_in_heading(self.pieces[begin].heading) != name:
            begin = solution - (self.pieces[solution - 1].cell.kind is CellKind.MARKDOWN)
        end = next((number for number in self.headings if number > solution), check)
        yield from range(begin, min(end, check))
        yield check

    def _cell(self, kind: CellKind, name: str) -> int:
        found = (
            n for n, piece in enumerate(self.pieces) if piece.cell.kind is kind and piece.cell.keys[kind.value] == name
        )
        return next(found)


def section_id(text: str) -> str:
    """Return the HTML id of a section from its heading, without the minutes in parentheses."""
    bare = _PARENTHESES.sub("", text).replace("`", "").casefold()
    return "section-" + "-".join(_WORDS.findall(bare))


def exercise_in_heading(heading: Heading | None) -> str | None:
    """Return the exercise that a heading names: "relu" for "Exercise: `relu` (5 minutes)"; else None."""
    found = _EXERCISE.match(heading.text) if heading else None
    return found["name"] if found else None


def check_exercise_headings(chapter: Chapter) -> None:
    """Raise ChapterFormatError if an exercise's heading is not followed by its cell before the next heading."""
    outline = ChapterOutline(chapter)
    for number in outline.headings:
        piece = outline.pieces[number]
        name = exercise_in_heading(piece.heading)
        below = outline.pieces[number + 1 : next((n for n in outline.headings if n > number), None)]
        if name and not any(other.cell.keys.get("exercise") == name for other in below):
            raise_format_error(
                chapter.where,
                piece.cell.line,
                f"the exercise {name!r} does not stand below its heading; write its cells there, or correct the name.",
            )


def _pieces(place: int, cell: Cell) -> Iterator[TextPiece]:
    if cell.kind is not CellKind.MARKDOWN:
        yield TextPiece(place, cell, None, cell.source)
        return
    for excerpt in split_at_headings(cell.source):
        yield TextPiece(place, cell, excerpt.heading, excerpt.text)
