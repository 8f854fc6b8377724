"""Runs code that is in no file, so that errors and `inspect.getsource` show its lines all the same."""

from __future__ import annotations

import linecache
from typing import Any


def run_source_with_linecache(text: str, place: str, names: dict[str, Any]) -> None:
    """Run a text in a namespace; `place` stands for its file name, such as "<solution of NAME>"."""
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    exec(compile(text, place, "exec", dont_inherit=True), names)
