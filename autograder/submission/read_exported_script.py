"""Read a notebook that was exported as a Python script with a marker line before each cell."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import Any

from autograder.submission.notebook_json import RepairedJson

# JupyterLab's export writes `# In[3]:`; jupytext, VS Code and Spyder write `# %%`; PyCharm writes `#%%`; Databricks
# writes `# COMMAND ----------`.
_MARK = re.compile(r"^# ?(?:In ?\[[ \d*]{0,9}\]:?|%%(.*)|COMMAND -{5,20})$", re.MULTILINE)
_MARKDOWN = re.compile(r" *md\b|.*\[(?:md|markdown)\]")
_MOST = 2000  # cells, more than a notebook may have; the rest of the text stays in the last one
_MESSAGE = "handed in as a Python script, not as a notebook; its cells were read"


def read_script_as_notebook(text: str) -> RepairedJson | None:
    """Return the cells of a script as a notebook; None for a text that is not a script or has no marker lines."""
    if text.lstrip()[:1] in ("{", "[", '"', "<"):
        return None
    text = text.replace("\r\n", "\n")  # otherwise no marker would match the end of its line
    marks = list(islice(_MARK.finditer(text), _MOST))
    if not marks:
        return None
    pieces = [(text[: marks[0].start()], "")]
    for mark, following in pairwise([*marks, None]):
        assert mark is not None
        pieces.append((text[mark.end() : following.start() if following else None], mark[1] or ""))
    return RepairedJson({"nbformat": 4, "cells": [_cell(*piece) for piece in pieces if piece[0].strip()]}, (_MESSAGE,))


def _cell(text: str, options: str) -> dict[str, Any]:
    if _MARKDOWN.match(options):
        lines = (line.removeprefix("#").removeprefix(" ") for line in text.strip().splitlines())
        return {"cell_type": "markdown", "source": "\n".join(lines)}
    return {"cell_type": "code", "source": text.strip("\n")}
