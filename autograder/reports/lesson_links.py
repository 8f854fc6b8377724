"""Where an exercise's matter is taught: the section above it, and its place on the course's site."""

from __future__ import annotations

import os
import re
from pathlib import Path

from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.course.course_location import chapter_path
from autograder.course.outline import Outline, section_id
from autograder.errors import CourseError
from autograder.notebook.html_markup import Html, join, tag

SITE = Path("build", "site", "html", "notebooks")  # in the project's folder, where `make site` has made it
_FILLED = re.compile(r"\s*\([^()]*\{\w+\}[^()]*\)")


def section(course: Path, stem: str, exercise: str) -> Html:
    """The section in which the matter of an exercise is taught, as a link where the site is there to lead to.

    "" for what is no exercise of the course, or stands in a chapter that cannot be read.
    """
    try:
        homes = (each.stem for each in course_in(course).listed if exercise in each.exercises)
        home = next(homes, stem)
        found = _heading(course, home, exercise)
    except CourseError:  # a report does without it
        return Html("")
    page, told = course.resolve().parent / SITE / f"{home}.html", _FILLED.sub("", found).replace("`", "")
    if not found or not page.is_file():
        return join(told)
    way = Path(os.path.relpath(page, course.resolve() / "reports")).as_posix()
    return tag("a", told, href=f"{way}#{section_id(found)}")


def _heading(course: Path, stem: str, exercise: str) -> str:
    """The nearest heading of the main path above an exercise; "" where it has none."""
    outline = Outline(read_chapter(chapter_path(course, stem)))
    places = [number for number, name in outline.exercise.items() if name == exercise]
    above = (number for number in reversed(outline.headings) if places and number < places[0])
    ours = (number for number in above if number not in outline.exercise and number not in outline.side)
    heading = next((outline.pieces[number].heading for number in ours), None)
    return heading.text if heading else ""
