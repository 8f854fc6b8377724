"""Make the page of a chapter: the solved chapter's outputs, with unsolved exercises and the answers folded away."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from html import escape

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.authoring.site.heading_levels import fit_headings
from autograder.course.chapter_model import CellKind
from autograder.course.course import current_course
from autograder.course.lint_chapter import RESERVED_CELL_NAMES
from autograder.errors import WorkFailed

_STYLE = re.compile(r"<style>.*?</style>", re.DOTALL)  # an explorer's style sheet, which every page already has
_WIDGET = "application/vnd.jupyter.widget-view+json"  # needs a kernel, and scripts from the network
_FIGURE = re.compile(r"^figures\.(\w+)\(", re.MULTILINE)
# A comment after a guess names the possible values, as in `guess = ...  # 1, 2 or "none"`.
_SORT = re.compile(r"=\s*\.\.\.\s*#\s*(?P<sort>.+)$", re.MULTILINE)
_CHOICE = re.compile(r"""(?:"[^"]*"|-?\d[\d.]*(?:e-?\d+)?|True|False)""")
# The output that repeats the solved chapter's guess, which is not the reader's.
_PREDICTED = re.compile(
    r"You predicted .*?; the (answer is .*?\.) (?:Your prediction holds\.|Not what you expected\? Read on\.)"
)
# The reason why a `mine` cell used the lesson's answer: true for the build of the page, but not for its reader.
_BUILT = re.compile(r": progress is not kept here, and [^\n]*? was not looked at")
# What the page folds away, by the tag of the cell.
_TAGGED = {CellKind.MINE.value: "what stands in until yours passes", CellKind.KNOWN.value: "what you know"}
_STILL = "*This picture answers to mouse and keys in the notebook; here it stands still.*"
_MOVES = "*In the notebook this answers to what you wrote; here it plays what was recorded.*"
_PLOT = "A plot, made by the code above it."


def chapter_page(stem: str, student: NotebookNode, executed: NotebookNode) -> NotebookNode:
    """Return the page of a chapter, made from the students' notebook and the executed solved notebook.

    Raises WorkFailed if the two do not come from the same build.
    """
    if len(student.cells) != len(executed.cells):
        raise WorkFailed(f"notebooks/{stem}.ipynb and solutions/{stem}.ipynb do not match. Run `make build`.")
    page = copy.deepcopy(executed)
    page.metadata.pop("widgets", None)
    page.cells = list(_cells(stem, student.cells, page.cells))
    fit_headings(page.cells)
    for number, cell in enumerate(page.cells):
        cell.id = f"cell-{number}"
    return page


def _cells(stem: str, student: list[NotebookNode], executed: list[NotebookNode]) -> Iterator[NotebookNode]:
    asked = False  # whether the reader has just been asked for a guess
    for untouched, worked in zip(student, executed, strict=True):
        if worked.cell_type != "code":
            yield worked
            continue
        mark, is_folded = worked.metadata.get("nbgrader", {}), _is_folded(worked)
        tagged = next((_TAGGED[tag] for tag in worked.metadata.get("tags", ()) if tag in _TAGGED), "")
        worked.metadata = {}
        if mark.get("solution"):
            yield new_code_cell(untouched.source)
            yield _folded(worked, "hide-input", "a solution")
        elif untouched.source != worked.source:
            yield new_code_cell(untouched.source)
            yield new_markdown_cell(_question(untouched.source))
            asked = True
            continue
        elif mark.get("grade"):
            yield _folded(worked, "hide-output", "what the check says of the solution")
        elif asked:
            _replace(worked, _PREDICTED, r"The \1")
            yield _folded(worked, "hide-output", "what comes out")
        elif is_folded and worked.id in RESERVED_CELL_NAMES:
            yield _folded(worked, "hide-input", "what is imported")
        elif tagged:
            _replace(worked, _BUILT, "")
            yield _folded(worked, "hide-input", tagged)
        else:
            yield _shown(stem, worked, is_folded)
        asked = False
        if _leave_out_widgets(worked):
            yield new_markdown_cell(_MOVES if _has_film(worked) else _STILL)


def _is_folded(cell: NotebookNode) -> bool:
    """Return whether the notebook folds a cell's code away, as for figures, imports, and `mine` and `known` cells."""
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def _folded(cell: NotebookNode, tag: str, what: str) -> NotebookNode:
    prompts = {"code_prompt_show": f"Show {what}", "code_prompt_hide": f"Hide {what}"}
    cell.metadata = {"tags": [tag], "mystnb": prompts}
    return cell


def _shown(stem: str, cell: NotebookNode, is_drawn: bool) -> NotebookNode:
    if is_drawn:
        cell.metadata["tags"] = ["remove-input"]
    if any("image/png" in output.get("data", {}) for output in cell.outputs):
        cell.metadata["mystnb"] = {"image": {"alt": _alternative(stem, cell.source)}}
    return cell


def _alternative(stem: str, source: str) -> str:
    """Return the alternative text of a figure: the first line of the docstring of the function that draws it."""
    found = _FIGURE.search(source)
    if found is None:
        return _PLOT
    drawing = getattr(current_course().figures(stem), found[1])
    return (drawing.__doc__ or _PLOT).strip().splitlines()[0]


def _leave_out_widgets(cell: NotebookNode) -> bool:
    """Remove the widgets from a cell's outputs and keep their HTML pictures; return whether there were any."""
    shown = [output.data for output in cell.outputs if output.get("data", {}).pop(_WIDGET, None) is not None]
    for data in shown:
        data["text/html"] = _STYLE.sub("", data["text/html"], count=1)
    return bool(shown)


def _has_film(cell: NotebookNode) -> bool:
    return any("data-film=" in output.get("data", {}).get("text/html", "") for output in cell.outputs)


def _replace(cell: NotebookNode, found: re.Pattern[str], by: str) -> None:
    """Replace the matches of a pattern in the text and HTML outputs of a cell."""
    for output in cell.outputs:
        data = output.get("data", {})
        for kind in {"text/plain", "text/html"}.intersection(data):
            data[kind] = found.sub(by, data[kind])


def _question(source: str) -> str:
    """Return the HTML element in which the page's script asks for a guess.

    It offers the choices if the cell's comment lists them, and a text field otherwise.
    """
    found = _SORT.search(source)
    sort = found["sort"].strip() if found else ""
    choices = _CHOICE.findall(sort)
    left = _CHOICE.sub("", sort).replace(" or ", "").replace(",", "").strip()
    offered = "|".join(each.strip('"') for each in choices) if len(choices) > 1 and not left else ""
    return f'<div class="asks" data-sort="{escape(sort)}" data-choices="{escape(offered)}"></div>'
