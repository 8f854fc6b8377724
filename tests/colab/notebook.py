"""Change a notebook as Colab does when a reader opens it, runs it and saves it."""

import copy
import hashlib
from collections.abc import Collection
from typing import Any

import nbformat

Notebook = nbformat.NotebookNode

_USER = {"displayName": "A student", "userId": "01234567890123456789"}


def colab_copy(
    notebook: Notebook,
    *,
    keeps_format: bool = False,
    lost: Collection[str] = (),
    copied: Collection[str] = (),
    deleted: Collection[str] = (),
) -> Notebook:
    """Return a copy of the notebook as Colab saves it.

    The copy always has Colab's own metadata on notebook and cells, a kernelspec without language, and a cell with the
    badge on top. It keeps the outputs, with Colab's metadata about them. Its format is 4.0 without cell ids, or, with
    `keeps_format`, the notebook's own format with its ids.

    By grade id: cells in `lost` lose nbgrader's metadata, cells in `copied` occur twice with the same metadata, as
    after copy and paste, and cells in `deleted` are missing, since Colab ignores `deletable`.
    """
    keep_ids = keeps_format and notebook.nbformat_minor >= 5
    cells: list[Any] = [_badge() | ({"id": "view-in-github"} if keep_ids else {})]
    for index, cell in enumerate(notebook.cells):
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        if grade_id in deleted:
            continue
        saved = _saved(cell, index, keep=grade_id not in lost)
        again = copy.deepcopy(saved)
        if keep_ids:
            saved, again = saved | {"id": cell.id}, again | {"id": f"{cell.id[:60]}-2"}
        cells += [saved, again] if grade_id in copied else [saved]
    minor = notebook.nbformat_minor if keeps_format else 0
    return nbformat.from_dict({"cells": cells, "metadata": _metadata(), "nbformat": 4, "nbformat_minor": minor})


def copied_name(stem: str) -> str:
    """Return the name that Colab gives to a student's copy of a notebook."""
    return f"Copy of {stem}.ipynb"


def _metadata() -> dict[str, Any]:
    return {
        "colab": {"provenance": [{"file_id": "01234567890123456789", "timestamp": 1}], "name": "Copy of a chapter"},
        "kernelspec": {"name": "python3", "display_name": "Python 3"},
        "language_info": {"name": "python"},
    }


def _badge() -> dict[str, Any]:
    link = '<a href="" target="_parent"><img src="" alt="Open In Colab"/></a>'
    return {
        "cell_type": "markdown",
        "metadata": {"id": "view-in-github", "colab_type": "text"},
        "source": [link],
    }


def _saved(cell: Notebook, index: int, *, keep: bool) -> dict[str, Any]:
    name = hashlib.sha256(f"{index}{cell.source}".encode()).hexdigest()[:12]
    metadata = dict(copy.deepcopy(cell.metadata)) if keep else {}
    metadata.update({"id": name})
    saved = {"cell_type": cell.cell_type, "source": cell.source.splitlines(keepends=True)}
    if cell.cell_type != "code":
        return saved | {"metadata": metadata}
    if cell.outputs:
        metadata |= {"outputId": name[::-1], "colab": {"base_uri": "https://localhost:8080/", "height": 34}}
    metadata["executionInfo"] = {"status": "ok", "timestamp": 1, "user_tz": -60, "elapsed": 4, "user": _USER}
    outputs = [dict(copy.deepcopy(output)) for output in cell.outputs]
    return saved | {"metadata": metadata, "outputs": outputs, "execution_count": cell.execution_count}
