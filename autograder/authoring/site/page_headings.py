"""The headings of a page: one title, no level left out, and side paths marked."""

from __future__ import annotations

from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.authoring.chapter_notebooks import FOLDED
from autograder.course.markdown_text import Excerpt, Heading, excerpts
from autograder.course.outline import exercise_in_heading, section_id


def fit_headings(cells: Iterable[NotebookNode]) -> None:
    """Give the headings of a chapter the levels that a page wants.

    Sittings, which are of the title's level, go below it. A side path's heading goes right below what it belongs to,
    and its section gets the class `side-path`. An exercise can be linked to by its name, as in `#relu`, and a section
    of the main path by what `place_of` says.
    """
    above: list[int] = []  # the levels of the headings of the main path that a text is below, the title's as 0
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = "".join(
                _fitting(excerpt, above, FOLDED in cell.metadata) for excerpt in excerpts(cell.source)
            )


def _fitting(excerpt: Excerpt, above: list[int], is_side: bool) -> str:
    heading = excerpt.heading
    if heading is None:
        return excerpt.text
    name = exercise_in_heading(heading) or (
        section_id(heading.text) if above and not is_side else ""
    )  # nothing above the title
    place = f'\n<span class="place" id="{name}"></span>\n\n' if name else ""  # Sphinx spells ids in its own way
    if is_side:
        return place + "{.side-path}\n" + _at(len(above) + 1, heading, excerpt.text)
    while above and above[-1] >= heading.level:
        above.pop()
    above.append(heading.level if above else 0)
    return place + _at(len(above), heading, excerpt.text)


def _at(level: int, heading: Heading, text: str) -> str:
    """A excerpt with its heading at another level."""
    return "#" * level + " " + text[heading.text_start - heading.start :]
