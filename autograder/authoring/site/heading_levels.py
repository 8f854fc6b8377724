"""Adjust the headings of a chapter for a page: one title, no level skipped, and side paths marked."""

from __future__ import annotations

from collections.abc import Iterable

from nbformat import NotebookNode

from autograder.authoring.make_chapter_notebooks import FOLDED_METADATA_KEY
from autograder.course.classify_chapter_sections import exercise_in_heading, section_id
from autograder.course.markdown_headings_and_word_counts import HeadedText, Heading, split_at_headings


def fit_headings(cells: Iterable[NotebookNode]) -> None:
    """Set the levels of a chapter's headings for a page, and give its sections ids.

    Sittings, which have the title's level in the notebook, go below the title. A side path's heading goes one level
    below the section that it belongs to, and its section gets the class `side-path`. The id of an exercise is its name,
    as in `#relu`, and that of a section of the main path comes from `classify_chapter_sections.section_id`.
    """
    above: list[int] = []  # original levels of the main path's headings that enclose the current text; the title's is 0
    for cell in cells:
        if cell.cell_type == "markdown":
            cell.source = "".join(
                _fitting(excerpt, above, FOLDED_METADATA_KEY in cell.metadata)
                for excerpt in split_at_headings(cell.source)
            )


def _fitting(excerpt: HeadedText, above: list[int], is_side: bool) -> str:
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
    """Return the text of an excerpt with its heading at another level."""
    return "#" * level + " " + text[heading.text_start - heading.start :]
