"""Check that the graded hunts of chapters have programs for students to mend."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from autograder.course.chapter_model import CellKind, Chapter
from autograder.course.lint_chapter import raise_format_error
from autograder.questions.bug_hunt_file import read_hunts


def check_graded_hunts(course: Path, whole: Iterable[Chapter], chosen: Iterable[Chapter]) -> None:
    """Raise ChapterFormatError for a hunt, in a chosen chapter, of an exercise that has no program to mend."""
    homes = {name: chapter.stem for chapter in whole for name in chapter.exercises}
    for chapter in chosen:
        for cell in chapter.of_kind(CellKind.HUNT):
            name = cell.keys["hunt"]
            known = read_hunts(course, homes[name]).get(name) if name in homes else None
            if known is None or not known.hunts_for_graded_tasks:
                advice = f"Run `autograder hunts {name}`, or choose another" if name in homes else "Correct the name"
                raise_format_error(
                    chapter.where, cell.line, f"{name!r} has no program to mend in a graded hunt. {advice}."
                )
