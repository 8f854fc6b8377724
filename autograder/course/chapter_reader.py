"""Read and check a chapter: the text file that an author writes.

`course/chapters/chNN_slug.py` is in jupytext's py:percent form. Each cell may carry keys on its marker
line, `# %% check="relu" points=2`; `lint_chapter` holds the closed list of keys.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Any

from autograder.course.cell_text_rules import CELL_RULES, check_width
from autograder.course.chapter_minutes import check_minute_placeholders
from autograder.course.chapter_model import Cell, Chapter
from autograder.course.classify_chapter_sections import check_exercise_headings
from autograder.course.course_location import CHAPTERS
from autograder.course.fast_percent_parser import PlainCell, cells_if_all_plain
from autograder.course.lint_chapter import cell_kind, check_rules_between_cells, find_cell_markers, raise_format_error
from autograder.course.side_paths import check_side_paths
from autograder.errors import ChapterFormatError, CourseNotFound
from autograder.exercises.replace_attributes_temporarily import replace_attribute

__all__ = ["Cell", "Chapter", "chapter_paths", "parse", "read_all_chapters", "read_chapter"]

STEM = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def chapter_paths(course: Path) -> tuple[Path, ...]:
    """Return the paths of a course folder's chapters; raise CourseNotFound if there are none."""
    folder = course / CHAPTERS
    paths = tuple(sorted(folder.glob("*.py"))) if folder.is_dir() else ()
    if not paths:
        raise CourseNotFound(
            f"expected the course's chapters in {folder}, found none. "
            "Run the command in the project folder, or name it with --root."
        )
    return paths


def read_chapter(path: Path) -> Chapter:
    """Read and check one chapter file; raise ChapterFormatError with `path:line: fault; next step`."""
    where = str(Path(*path.absolute().parts[-3:]))
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CourseNotFound(f"expected a chapter file at {path}, found none. Check its name.") from None
    except UnicodeDecodeError as error:
        raise ChapterFormatError(f"{where}:1: expected UTF-8 text ({error.reason}); save the file as UTF-8.") from None
    if not STEM.fullmatch(path.stem):
        raise ChapterFormatError(f"{where}:1: expected a file name such as ch99_slug.py; rename the file.")
    return _checked(path.stem, where, text)


@lru_cache(maxsize=8)
def _checked(stem: str, where: str, text: str) -> Chapter:
    """Return the checked chapter of a text; cached, so that the same text gives the same object."""
    chapter = Chapter(stem, where, parse(text, where))
    validate_chapter(chapter)
    return chapter


def read_all_chapters(course: Path) -> tuple[Chapter, ...]:
    """Read and check every chapter of a course folder, in order.

    Raise ChapterFormatError if two exercises of the course have the same name.
    """
    chapters = tuple(read_chapter(path) for path in chapter_paths(course))
    seen: dict[str, str] = {}
    for chapter in chapters:
        for name in chapter.exercises:
            line = chapter.exercise(name).line
            if name in seen:
                raise_format_error(
                    chapter.where, line, f"the exercise {name!r} stands in {seen[name]} too; give one another name."
                )
            seen[name] = f"{chapter.where}:{line}"
    return chapters


@lru_cache(maxsize=8)
def parse(text: str, where: str) -> tuple[Cell, ...]:
    """Split a chapter's text into cells, each with its line; raise ChapterFormatError for an unreadable marker."""
    lines = find_cell_markers(text, where)
    cells = cells_if_all_plain(text, lines) or _read_by_jupytext(text)
    if len(cells) != len(lines):
        raise ChapterFormatError(
            f"{where}:1: expected {len(lines)} cells, one for each `# %%` line, found {len(cells)}; "
            "take lines that begin with `# %%` out of strings."
        )
    return tuple(
        Cell(cell_kind(cell.cell_type, cell.keys, where, line), cell.keys, line, cell.source)
        for cell, line in zip(cells, lines, strict=True)
    )


def _read_by_jupytext(text: str) -> list[PlainCell]:
    import jupytext  # imported here: only teachers install these dependencies
    from nbformat.v4 import nbbase

    with replace_attribute(nbbase, "validate", lambda *_, **__: None):  # validating each cell takes half the time
        cells = jupytext.reads(text, fmt="py:percent").cells
    return [PlainCell(cell.cell_type, _keys(cell.metadata), cell.source) for cell in cells]


def _keys(metadata: dict[str, Any]) -> dict[str, Any]:
    # jupytext adds its own metadata about layout, which is no key of the author.
    return {key: value for key, value in metadata.items() if key != "lines_to_next_cell"}


def validate_chapter(chapter: Chapter) -> None:
    """Check a chapter against all rules; raise ChapterFormatError for the first broken one."""
    check_rules_between_cells(chapter)
    for index, cell in enumerate(chapter.cells):
        CELL_RULES[cell.kind](chapter, index, cell)
        check_width(chapter, cell)
    check_side_paths(chapter)
    check_exercise_headings(chapter)
    check_minute_placeholders(chapter)
