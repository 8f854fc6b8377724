"""The paths of verdict files. This module has no large imports, for callers that need only file names."""

from __future__ import annotations

from pathlib import Path


def verdict_path(course: Path, stem: str, student: str) -> Path:
    """Return the path of a student's verdict file."""
    return course / "verdicts" / stem / f"{student}.json"


def answer_keys_folder(course: Path, stem: str) -> Path:
    """Return the folder of the answer keys of a round of grading.

    Its name begins with a dot, so that it is not taken for a student's verdict beside it.
    """
    return course / "verdicts" / stem / ".keys"


def ungraded_students(course: Path, stem: str) -> set[str]:
    """Return the students who have a submission and no verdict file."""
    students = {path.parent.name for path in course.glob(f"submitted/*/{stem}")}
    return {student for student in students if not verdict_path(course, stem, student).is_file()}
