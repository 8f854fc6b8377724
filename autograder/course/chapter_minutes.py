"""Compute how many minutes a chapter takes, and replace the placeholders of `PLACEHOLDERS` in its text.

A placeholder stands for the section of the nearest heading above it in its cell. {minutes} is the time of the section's
main path without exercises or, if the heading is that of an exercise or a side path, the time of that. {exercises} and
{side} are the times of the section's exercises and side paths. A chapter ends with its cell `hunt()`: the exercises of
a section that come after it are {later}. Sums are rounded once.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.classify_chapter_sections import ChapterOutline, TextPiece, exercise_in_heading
from autograder.course.course import course_in
from autograder.course.lint_chapter import raise_format_error
from autograder.course.markdown_headings_and_word_counts import (
    count_nonblank_lines,
    fenced_line_count,
    headings,
    mask_code,
    word_count,
)

# The assumed speed of a reader. Nobody was timed: whoever times a class should change these numbers.
# Adults read English non-fiction silently at 238 words a minute (Brysbaert, Journal of Memory and Language 109, 2019);
# a lesson is read to be understood. The tier alone said 5 minutes of a table that took a reader 15, so points and lines
# count too: they are known of each exercise, and the most of the three holds.
WORDS_PER_MINUTE = 150  # of prose, a minute
CODE_LINES_PER_MINUTE = 10  # of code, a minute
MINUTES_PER_PREDICTION = 25 / 60  # minutes
EXERCISE = {"warm-up": 3, "core": 5, "stretch": 10}  # minutes at least, by tier
MINUTES_PER_POINT = 3  # minutes at least, for each point that an exercise is worth
MINUTES_PER_WRITTEN_LINE = 1  # line of an answer, a minute

PLACEHOLDERS = ("minutes", "exercises", "later", "side")
_EXERCISES = ("exercises", "later")
_WORD = re.compile(r"(?<![\w\\^}$])\{(?P<word>\s*[A-Za-z_]{3,}\s*)\}")  # `\text{side}` in a formula is no placeholder
_UNIT = re.compile(r"\A(\s+minute)s\b")
_AT_THE_END = re.compile(r"\s*\([^()]*(?:\bminutes?\b|\{side\}|\{exercises\}|\{later\})[^()]*\)\s*$")

TierOf = Callable[[str], str]


def tier_lookup(course: Path, chapter: Chapter) -> TierOf:
    """Return a function from an exercise's name to its tier, read from the exercise's file; it raises ExerciseError."""

    @cache
    def tier_of(name: str) -> str:
        from autograder.course.missing_exercise_parts import check_parts  # imports what answer banks need

        check_parts(course, chapter, name)
        return course_in(course).exercise(chapter.stem, name).tier

    return tier_of


def fill_minutes_from_course(course: Path, chapter: Chapter) -> Chapter:
    """Return a chapter of a course with its placeholders replaced by minutes; raise ExerciseError."""
    return replace_minute_placeholders(chapter, tier_lookup(course, chapter))


def replace_minute_placeholders(chapter: Chapter, tier_of: TierOf) -> Chapter:
    """Return the chapter with its placeholders replaced by minutes."""
    outline = ChapterOutline(chapter)
    cells = [
        replace(cell, source=_filled(outline, place, cell, tier_of)) if cell.kind is CellKind.MARKDOWN else cell
        for place, cell in enumerate(chapter.cells)
    ]
    return replace(chapter, cells=tuple(cells))


def _filled(outline: ChapterOutline, place: int, cell: Cell, tier_of: TierOf) -> str:
    source = cell.source
    for found in reversed(list(_WORD.finditer(mask_code(source)))):
        minutes = _minutes(outline, _above(outline, place, found.start()), found["word"], tier_of)
        source = source[: found.start()] + _counting(whole_minutes(minutes), source[found.end() :])
    return source


def _counting(number: int, rest: str) -> str:
    """Return a number followed by `rest`, with "minute" in the singular after 1."""
    return str(number) + (_UNIT.sub(r"\1", rest) if number == 1 else rest)


def whole_minutes(minutes: float) -> int:
    """Return minutes as a whole number, at least 1."""
    return max(1, int(minutes + 0.5))


def _above(outline: ChapterOutline, place: int, offset: int) -> int:
    """Return the index of the piece with the nearest heading above an offset in a cell's text."""
    return [n for n in outline.headings if outline.pieces[n].place == place and _start(outline.pieces[n]) <= offset][-1]


def _start(piece: TextPiece) -> int:
    return piece.heading.start if piece.heading else 0


def _minutes(outline: ChapterOutline, number: int, word: str, tier_of: TierOf) -> float:
    """Return the minutes that a placeholder stands for in the section of a heading."""
    below = outline.section(number)
    if word in _EXERCISES:
        return sum(exercise_minutes(outline.chapter, name, tier_of) for name in _counted(outline, number, word))
    name = exercise_in_heading(outline.pieces[number].heading)
    if word == "minutes" and name:
        return exercise_minutes(outline.chapter, name, tier_of)
    on_side = word == "side" or number in outline.side
    return sum(
        reading_minutes(outline.pieces[n])
        for n in below
        if n not in outline.exercise and (n in outline.side) == on_side
    )


def _counted(outline: ChapterOutline, number: int, word: str) -> list[str]:
    """Return the exercises with points in a heading's section; "later": those that the chapter's end parts from it."""
    cells, heading = outline.chapter.cells, outline.pieces[number].place
    end = next((place for place, cell in enumerate(cells) if cell.source.strip() == "hunt()"), len(cells))
    there = [each for each in outline.section(number) if each in outline.exercise]
    wanted = [each for each in there if (heading < end < outline.pieces[each].place) == (word == "later")]
    found = dict.fromkeys(outline.exercise[each] for each in wanted)
    return [name for name in found if outline.chapter.points(name)]


def reading_minutes(piece: TextPiece) -> float:
    """Return the minutes to read a piece or to guess; 0 for code that is hidden or folded."""
    kind = piece.cell.kind
    if kind is CellKind.MARKDOWN:
        return word_count(piece.text) / WORDS_PER_MINUTE + fenced_line_count(piece.text) / CODE_LINES_PER_MINUTE
    if kind is CellKind.PREDICT:
        return MINUTES_PER_PREDICTION
    return count_nonblank_lines(piece.text) / CODE_LINES_PER_MINUTE if kind is CellKind.LESSON else 0


def exercise_minutes(chapter: Chapter, name: str, tier_of: TierOf) -> float:
    """Return the minutes for an exercise: the maximum of the estimates from its tier, points and lines to write."""
    return max(
        EXERCISE[tier_of(name)],
        MINUTES_PER_POINT * chapter.points(name),
        _written(chapter, name) / MINUTES_PER_WRITTEN_LINE,
    )


def _written(chapter: Chapter, name: str) -> int:
    """Return how many lines of the solution are not in the starter: those that a student writes or changes."""
    solved, given = (
        Counter(filter(None, map(str.strip, source.split("\n"))))
        for source in (chapter.solution(name), chapter.starter(name))
    )
    return (solved - given).total()


# --- rules


def check_minute_placeholders(chapter: Chapter) -> None:
    """Raise ChapterFormatError if a placeholder for minutes is unknown, lacks its heading, or is in the title."""
    outline = ChapterOutline(chapter)
    for place, cell in enumerate(chapter.cells):
        for found in _WORD.finditer(mask_code(cell.source)) if cell.kind is CellKind.MARKDOWN else ():
            _check_word(outline, place, cell, found)
    if any(found["word"] in PLACEHOLDERS for found in _WORD.finditer(chapter_title(chapter))):
        raise_format_error(
            chapter.where,
            chapter.cells[0].line,
            f"the title `{chapter_title(chapter)}` is listed without minutes; put them in parentheses at its end.",
        )


def _check_word(outline: ChapterOutline, place: int, cell: Cell, found: re.Match[str]) -> None:
    where, word = outline.chapter.where, found["word"]
    if word not in PLACEHOLDERS:
        close = difflib.get_close_matches(word.strip().lower(), PLACEHOLDERS, n=1) or ["minutes"]
        raise_format_error(where, cell.line, f"there is no {{{word}}}; write {{{close[0]}}}, or put code in backticks.")
    if not any(heading.start <= found.start() for heading in headings(cell.source)):
        raise_format_error(
            where,
            cell.line,
            f"{{{word}}} stands in a cell without a heading above it; begin the cell with its heading.",
        )
    number = _above(outline, place, found.start())
    if word in _EXERCISES and not _counted(outline, number, word):
        raise_format_error(
            where, cell.line, f"{{{word}}} stands where no exercise with points is below the heading; take it out."
        )
    if word == "side" and not outline.side.intersection(outline.section(number)):
        raise_format_error(where, cell.line, "{side} stands where no side path is below the heading; take it out.")


def chapter_title(chapter: Chapter) -> str:
    """Return the chapter's first heading, without minutes."""
    heading = chapter.cells[0].source.partition("\n")[0]
    return _AT_THE_END.sub("", heading.lstrip("# "))


# --- what a chapter takes


@dataclass(frozen=True)
class PartLength:
    """The minutes and the number of cells of one part of a chapter."""

    minutes: float = 0
    cells: int = 0

    def __add__(self, other: PartLength) -> PartLength:
        return PartLength(self.minutes + other.minutes, self.cells + other.cells)

    def __str__(self) -> str:
        return (
            f"{whole_minutes(self.minutes)} min, {self.cells} cell{'s' * (self.cells != 1)}" if self.cells else "none"
        )


def minutes_of_parts(chapter: Chapter, tier_of: TierOf) -> dict[str, PartLength]:
    """Return the minutes and cells of each part of a chapter, claims left out.

    A markdown cell counts once, for the part of its first piece.
    """
    outline, seen = ChapterOutline(chapter), set[int]()
    found = dict.fromkeys(("main path", "exercises", "stretch exercises", "side paths"), PartLength())
    for number, piece in enumerate(outline.pieces):
        if piece.cell.kind is not CellKind.CLAIM:
            name = outline.exercise.get(number)
            part = _exercises(chapter, name) if name else "side paths" if number in outline.side else "main path"
            found[part] += PartLength(0 if name else reading_minutes(piece), piece.place not in seen)
            seen.add(piece.place)
    for name in chapter.exercises:
        found[_exercises(chapter, name)] += PartLength(exercise_minutes(chapter, name, tier_of))
    return found


def _exercises(chapter: Chapter, name: str) -> str:
    return "exercises" if chapter.points(name) else "stretch exercises"
