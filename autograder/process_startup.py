"""What a process of ours does before it imports anything large."""

from __future__ import annotations

import atexit
import gc
import sys
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from time import time
from types import ModuleType
from typing import Any

# When this process began to read files of ours: those that were written since may be others than it has read.
BEGUN = time()
_NAMED = "requests"
_MANY = 100_000  # objects
# What jsonschema checks formats with, where somebody asks for that: who reads notebooks does not.
_FORMATS = (
    "rfc3987_syntax",
    "rfc3986_validator",
    "rfc3339_validator",
    "isoduration",
    "uri_template",
    "webcolors",
    "fqdn",
)


def collect_rarely() -> None:
    """Look for garbage rarely, and not at the end: to look through all that is imported takes a sixth of a command."""
    gc.set_threshold(_MANY)
    atexit.register(gc.freeze)


def spare_imports() -> None:
    """Keep packages from importing what takes long and what no notebook needs: to Python it is not to be had.

    jsonschema builds a grammar of web addresses, for seconds, as soon as it is imported where `rfc3987_syntax` is
    installed, as it is with JupyterLab, and imports what else there is for dates and addresses; jupytext imports
    Jupyter's server, for whoever opens texts with that.
    """
    modules: dict[str, Any] = sys.modules
    for name in (*_FORMATS, "jupytext.sync_contentsmanager", "jupytext.async_contentsmanager"):
        modules.setdefault(name, None)
    import_later()


def import_later() -> None:
    """Keep packages from importing at once what they only name, nbgrader for who asks JupyterHub, torch for its files
    of errors: it is imported when something of it is asked for.
    """
    if _NAMED not in sys.modules and (spec := find_spec(_NAMED)):
        sys.modules[_NAMED] = _Later(spec)


class _Later(ModuleType):
    """Stands for a module that is imported when something of it is asked for.

    (The standard library's LazyLoader imports it as soon as a second module names it.)
    """

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__file__ = spec, spec.origin  # `inspect` asks every module for its file

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)
