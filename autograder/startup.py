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


def spare_imports() -> None:
    """Keep packages from importing what takes long and what no notebook needs: to Python it is not to be had.

    jsonschema builds a grammar of web addresses, for seconds, as soon as it is imported where `rfc3987_syntax` is
    installed, as it is with JupyterLab; jupytext imports Jupyter's server, for whoever opens texts with that.
    """
    modules: dict[str, Any] = sys.modules
    for name in ("rfc3987_syntax", "jupytext.sync_contentsmanager", "jupytext.async_contentsmanager"):
        modules.setdefault(name, None)
