"""A notebook that was exported as a Python script, with a mark before each cell."""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import Any

from autograder.submission.notebook_json import Found

# `# In[3]:` is what JupyterLab's export writes, `# %%` what jupytext, VS Code and Spyder do, `#%%` PyCharm, and the
# last one Databricks.
_MARK = re.compile(r"^# ?(?:In ?\[[ \d*]{0,9}\]:?|%%(.*)|COMMAND -{5,20})$", re.MULTILINE)
_MARKDOWN = re.compile(r" *md\b|.*\[(?:md|markdown)\]")
_MOST = 2000  # more than are read of a notebook; what follows stays in the last cell
_TOLD = "handed in as a Python script, not as a notebook; its cells were read"


def cells(text: str) -> Found | None:
    """The cells of a script; None for a text that is none, or has no marks."""
    if text.lstrip()[:1] in ("{", "[", '"', "<"):
        return None
    text = text.replace("\r\n", "\n")  # as Windows writes it: no mark would be alone on its line
    marks = list(islice(_MARK.finditer(text), _MOST))
    if not marks:
        return None
    pieces = [(text[: marks[0].start()], "")]
    for mark, following in pairwise([*marks, None]):
        assert mark is not None
        pieces.append((text[mark.end() : following.start() if following else None], mark[1] or ""))
    return Found({"nbformat": 4, "cells": [_cell(*piece) for piece in pieces if piece[0].strip()]}, (_TOLD,))


def _cell(text: str, options: str) -> dict[str, Any]:
    if _MARKDOWN.match(options):
        lines = (line.removeprefix("#").removeprefix(" ") for line in text.strip().splitlines())
        return {"cell_type": "markdown", "source": "\n".join(lines)}
    return {"cell_type": "code", "source": text.strip("\n")}
