"""A notebook as the text of its file."""

from __future__ import annotations

import json

import nbformat
from nbformat import NotebookNode, ValidationError
from nbformat.v4.nbjson import BytesEncoder
from nbformat.v4.rwbase import split_lines, strip_transient
from traitlets.log import get_logger


def written(notebook: NotebookNode) -> str:
    """What `nbformat.writes` gives, for a notebook that nobody needs afterwards: it would copy it first.

    That is a third of its time, for each submission of a class. What is not valid is told, and written all the same.
    """
    try:
        nbformat.validate(notebook)
    except ValidationError as error:
        get_logger().error("Notebook JSON is invalid: %s", error)
    plain = strip_transient(split_lines(notebook))
    return json.dumps(plain, cls=BytesEncoder, indent=1, sort_keys=True, separators=(",", ": "), ensure_ascii=False)
