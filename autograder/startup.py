"""What a process of ours does before it imports anything large."""

from __future__ import annotations

import atexit
import gc
import sys
from typing import Any

_MANY = 100_000  # objects


def collect_rarely() -> None:
    """Look for garbage rarely, and not at the end: to look through all that is imported takes a sixth of a command."""
    gc.set_threshold(_MANY)
    atexit.register(gc.freeze)


def spare_grammar() -> None:
    """Keep jsonschema from building a grammar of web addresses, which takes seconds and which no notebook needs.

    It builds one as soon as it is imported where `rfc3987_syntax` is installed, as it is with JupyterLab.
    """
    modules: dict[str, Any] = sys.modules
    modules.setdefault("rfc3987_syntax", None)  # to Python: not to be had
