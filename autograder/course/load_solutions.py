"""Runs the worked solutions of a chapter, so that each can be called as a student's answer is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from autograder.course.chapter_model import Chapter
from autograder.errors import ChapterFormatError
from autograder.exec_with_linecache import run_source_with_linecache

Solution = Callable[..., Any]


def run_solutions(chapter: Chapter, names: Iterable[str]) -> dict[str, Solution]:
    """Run each worked solution after the chapter's prelude, and return them by name.

    Raises ChapterFormatError if one raises.
    """
    namespace: dict[str, Any] = {"__name__": f"solutions_{chapter.stem}"}
    exec(chapter.prelude, namespace)
    solutions: dict[str, Solution] = {}
    for name in names:
        try:
            # An error that the solution raises later names its line. One without a line was raised elsewhere.
            run_source_with_linecache(chapter.solution(name), f"<solution of {name}>", namespace)
            solutions[name] = namespace[name]
        except Exception as error:
            raise solution_error(chapter, name, f"{type(error).__name__}: {error}") from error
    return solutions


def solution_error(chapter: Chapter, name: str, raised: str) -> ChapterFormatError:
    """Return the error for a worked solution that raised, with the line of the chapter where its cell begins."""
    line = chapter.exercise(name).line
    return ChapterFormatError(f"{chapter.where}:{line}: the solution of {name!r} raised {raised}. Correct it.")
