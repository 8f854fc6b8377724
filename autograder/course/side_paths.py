"""Side paths: optional parts of a chapter. Find them, and check that the main path does not depend on them.

A side path begins with a markdown cell with the key side=true and goes up to the next markdown cell that begins with a
heading. Notebooks fold it, up to the next heading of its level or a higher one; hence no deeper headings.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Set
from dataclasses import dataclass, replace
from itertools import takewhile

from autograder.course.chapter_model import Cell, CellKind, Chapter
from autograder.course.lint_chapter import raise_format_error
from autograder.course.markdown_headings_and_word_counts import headings, leading_heading, split_at_headings
from autograder.name_bindings import find_names_declared_global, find_used_and_bound_names

SIDE_PATH_HEADING_LEVEL = 4
_SIGNS = "#" * SIDE_PATH_HEADING_LEVEL
_TITLE = re.compile(r"(?P<question>.*\?)(\s*\([^()]*\))?")
_MAIN_ONLY = (CellKind.EXERCISE, CellKind.CHECK, CellKind.HUNT, CellKind.SETUP, CellKind.PARAMETERS)


@dataclass(frozen=True)
class SidePath:
    """One side path: the question that it answers, the line where it begins, and the indices of its cells."""

    question: str
    line: int
    places: range


def find_side_paths(chapter: Chapter) -> list[SidePath]:
    """Return the side paths of a chapter, in order."""
    return [_from(chapter, place) for place, cell in enumerate(chapter.cells) if cell.keys.get("side")]


def _from(chapter: Chapter, begin: int) -> SidePath:
    cell = chapter.cells[begin]
    heading = leading_heading(cell.source)
    title = _TITLE.fullmatch(heading.text) if heading else None
    following = takewhile(lambda other: not _begins_anew(other), chapter.cells[begin + 1 :])
    return SidePath(title["question"] if title else "", cell.line, range(begin, begin + 1 + sum(1 for _ in following)))


def _begins_anew(cell: Cell) -> bool:
    return cell.kind is CellKind.MARKDOWN and leading_heading(cell.source) is not None


def side_path_cells(chapter: Chapter) -> set[int]:
    """Return the indices of the cells that are on side paths."""
    return {place for path in find_side_paths(chapter) for place in path.places}


def main_path(chapter: Chapter) -> Chapter:
    """Return the chapter without its side paths."""
    off = side_path_cells(chapter)
    return replace(chapter, cells=tuple(cell for place, cell in enumerate(chapter.cells) if place not in off))


def check_side_paths(chapter: Chapter) -> None:
    """Raise ChapterFormatError if a side path is malformed, or if the main path uses a name that a side path sets.

    A reader may skip every side path, so the cells of the main path must run without them.
    """
    for cell in chapter.of_kind(CellKind.MARKDOWN):
        _check_headings(chapter, cell)
    for path in find_side_paths(chapter):
        _check_contents(chapter, path)
    for path in find_side_paths(chapter):
        _check_guesses(chapter, path)
    _check_names(chapter)


def _check_headings(chapter: Chapter, cell: Cell) -> None:
    """Check that a side path begins with a question as its heading, and that no other heading is as deep as that."""
    first, is_side = leading_heading(cell.source), bool(cell.keys.get("side"))
    if is_side and (first is None or first.level != SIDE_PATH_HEADING_LEVEL or not _TITLE.fullmatch(first.text)):
        found = cell.source.partition("\n")[0]
        raise_format_error(
            chapter.where,
            cell.line,
            f"expected a side path to begin with a question as its heading, such as `{_SIGNS} When does a view refuse? "
            f"({{minutes}} minutes)`, found `{found}`; write that.",
        )
    for heading in headings(cell.source)[is_side:]:
        if heading.level >= SIDE_PATH_HEADING_LEVEL:
            raise_format_error(
                chapter.where,
                cell.line,
                f"the heading `{'#' * heading.level} {heading.text}` is a side path's; begin a cell with it and give "
                f"that cell side=true, or write the heading with at most {SIDE_PATH_HEADING_LEVEL - 1} signs.",
            )


def _check_contents(chapter: Chapter, path: SidePath) -> None:
    cells = [chapter.cells[place] for place in path.places]
    for cell in cells:
        if cell.kind in _MAIN_ONLY:
            raise_format_error(
                chapter.where,
                cell.line,
                f"a side path holds no {cell.kind.value} cell, and this one is in {_told(path)}; "
                "put a heading of the main path above it.",
            )
        if cell.kind is CellKind.MARKDOWN and headings(cell.source)[cell is cells[0] :]:
            raise_format_error(
                chapter.where,
                cell.line,
                f"a heading stands in the midst of a cell of {_told(path)}; begin a new cell with it.",
            )
    opening = next(split_at_headings(cells[0].source)).text.strip().partition("\n")[2]
    if not opening.strip() and not any(cell.source.strip() for cell in cells[1:]):
        raise_format_error(chapter.where, path.line, f"{_told(path)} is empty; write its answer below the heading.")


def _check_guesses(chapter: Chapter, path: SidePath) -> None:
    """Check that a guess and its `reveal` are on the same path, so that a reader who skips one skips both."""
    for place, cell in enumerate(chapter.cells):
        if cell.kind is not CellKind.PREDICT:
            continue
        revealed = next(
            n for n in range(place + 1, len(chapter.cells)) if chapter.cells[n].kind is not CellKind.MARKDOWN
        )
        if (place in path.places) != (revealed in path.places):
            raise_format_error(
                chapter.where,
                cell.line,
                f"this guess is revealed across the border of {_told(path)}; put both cells on one side of it.",
            )


def _told(path: SidePath) -> str:
    return f"the side path {path.question!r} (line {path.line})"


# --- the names that the main path reads


def _check_names(chapter: Chapter) -> None:
    """Raise ChapterFormatError if a cell of the main path reads a name whose value was set on a side path."""
    on = {place: path for path in find_side_paths(chapter) for place in path.places}
    if not on:
        return
    code = {place: _statements(cell) for place, cell in enumerate(chapter.cells) if cell.kind is not CellKind.MARKDOWN}
    main = set(dir(builtins)).union(*(each.given for place in set(code) - set(on) for each in code[place]))
    # A name that only side paths bind is refused before them, too: a function may be called, and read it, later.
    side = {name: on[place] for place in on if place in code for each in code[place] for name in each.given - main}
    for place, said in code.items():
        for each in said:
            if place in on:
                side |= dict.fromkeys(each.given, on[place])
            else:
                _check_reads(chapter, chapter.cells[place], each, side)


def _check_reads(chapter: Chapter, cell: Cell, said: _Said, side: dict[str, SidePath]) -> None:
    """Check that a main path statement reads no name in `side`, and remove from `side` the names that it binds."""
    before = dict(side)
    for name in said.given:
        side.pop(name, None)
    # `x = f(x)` reads x before it binds it; a loop or a function binds its names first.
    held = before if said.reads_first else side
    for name in sorted(said.used & held.keys()):
        _refuse(chapter, cell, name, held[name])


def _refuse(chapter: Chapter, cell: Cell, name: str, path: SidePath) -> None:
    raise_format_error(
        chapter.where,
        cell.line,
        f"this cell of the main path reads {name!r}, which has its value from {_told(path)}; "
        f"give {name!r} a value on the main path, or put this cell on the side path.",
    )


@dataclass(frozen=True)
class _Said:
    """The names that a statement binds and reads, and whether it reads before it binds."""

    given: Set[str]
    used: Set[str]
    reads_first: bool

    @classmethod
    def by(cls, node: ast.stmt, text: str) -> _Said:
        """Return the names of a statement in a cell with this text.

        The tree is searched for `global` statements only if the text contains the word, which few do.
        """
        names = find_used_and_bound_names([node])
        reads_first = isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign)
        return cls(
            names.bound | (find_names_declared_global(node) if "global" in text else set()), names.used, reads_first
        )


def _statements(cell: Cell) -> list[_Said]:
    from autograder.ipython_syntax import parse_cell_text  # imports IPython, which most readers of chapters do not need

    _, tree = parse_cell_text(cell.source)
    return [_Said.by(each, cell.source) for each in tree.body] if tree else []
