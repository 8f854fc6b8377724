"""Where verdicts are kept, for whoever looks at names of files alone: this module imports nothing large."""

from __future__ import annotations

from pathlib import Path


def verdict_path(course: Path, stem: str, student: str) -> Path:
    """Where a student's verdict is kept."""
    return course / "verdicts" / stem / f"{student}.json"


def keys_path(course: Path, stem: str) -> Path:
    """Where the keys of a round are kept until it ends; no student's name begins with a dot."""
    return course / "verdicts" / stem / ".keys"


def without_verdict(course: Path, stem: str) -> set[str]:
    """The students of whom something lies there to grade, and no verdict."""
    students = {path.parent.name for path in course.glob(f"submitted/*/{stem}")}
    return {student for student in students if not verdict_path(course, stem, student).is_file()}
