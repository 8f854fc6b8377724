"""Submissions built from the released notebook of a chapter."""

from __future__ import annotations

import copy

import nbformat
from nbformat import NotebookNode

from autograder.authoring.make_chapter_notebooks import nbgrader_source_notebook
from autograder.course.chapter_judge import Judge


def released(judge: Judge) -> NotebookNode:
    """Return a chapter's notebook as students get it."""
    notebook = copy.deepcopy(nbgrader_source_notebook(judge.chapter, ""))
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        if mark.get("solution"):
            cell.source = judge.chapter.starter(mark["grade_id"])
    return notebook


def handed_in(release: NotebookNode, answers: dict[str, str]) -> bytes:
    """Return the released notebook with these answers, as bytes."""
    notebook = copy.deepcopy(release)
    for cell in notebook.cells:
        cell.source = answers.get(cell.metadata.get("nbgrader", {}).get("grade_id", ""), cell.source)
    return str(nbformat.writes(notebook)).encode()
