"""Find the section of a chapter that teaches what an exercise asks for, and link to it on the course's site."""

from __future__ import annotations

import os
import re
from pathlib import Path

from autograder.course.chapter_reader import read_chapter
from autograder.course.classify_chapter_sections import ChapterOutline, section_id
from autograder.course.course import course_in
from autograder.course.course_location import chapter_path
from autograder.errors import CourseError
from autograder.notebook.html_markup import Html, join, tag

SITE = Path("build", "site", "html", "notebooks")  # in the project's folder, made by `make site`
_FILLED = re.compile(r"\s*\([^()]*\{\w+\}[^()]*\)")


def lesson_section_link(course: Path, stem: str, exercise: str) -> Html:
    """Return the heading of the section that teaches an exercise's subject, as a link if the site has been built.

    "" if the course has no such exercise, or its chapter cannot be read.
    """
    try:
        homes = (each.stem for each in course_in(course).listed if exercise in each.exercises)
        home = next(homes, stem)
        found = _heading(course, home, exercise)
    except CourseError:  # the report leaves the link out
        return Html("")
    page, title = course.resolve().parent / SITE / f"{home}.html", _FILLED.sub("", found).replace("`", "")
    if not found or not page.is_file():
        return join(title)
    way = Path(os.path.relpath(page, course.resolve() / "reports")).as_posix()
    return tag("a", title, href=f"{way}#{section_id(found)}")


def _heading(course: Path, stem: str, exercise: str) -> str:
    """Return the nearest heading above an exercise that is not an exercise's own or in a side section; "" if none."""
    outline = ChapterOutline(read_chapter(chapter_path(course, stem)))
    places = [number for number, name in outline.exercise.items() if name == exercise]
    above = (number for number in reversed(outline.headings) if places and number < places[0])
    lessons = (number for number in above if number not in outline.exercise and number not in outline.side)
    heading = next((outline.pieces[number].heading for number in lessons), None)
    return heading.text if heading else ""
