"""Make a process of this package start faster: collect garbage rarely, and skip slow imports that nothing needs."""

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

# When this process began to import this package: files that changed since may differ from the ones that it imported.
STARTED_AT = time()
_LAZY = "requests"
_GC_THRESHOLD = 100_000  # objects
# jsonschema imports these to validate formats such as dates and addresses, which validating a notebook does not need.
_FORMATS = (
    "rfc3987_syntax",
    "rfc3986_validator",
    "rfc3339_validator",
    "isoduration",
    "uri_template",
    "webcolors",
    "fqdn",
)


def collect_garbage_rarely() -> None:
    """Collect garbage rarely, and not at exit.

    Looking through all imported objects would take a sixth of a command's time.
    """
    gc.set_threshold(_GC_THRESHOLD)
    atexit.register(gc.freeze)


def block_slow_imports() -> None:
    """Make slow modules that no notebook needs look as if they were not installed, so that packages do not import them.

    If `rfc3987_syntax` is installed, as it is with JupyterLab, importing jsonschema takes seconds to build a grammar of
    web addresses; jsonschema also imports other modules for dates and addresses. jupytext imports Jupyter's server, for
    those who open text files as notebooks there.
    """
    modules: dict[str, Any] = sys.modules
    for name in (*_FORMATS, "jupytext.sync_contentsmanager", "jupytext.async_contentsmanager"):
        modules.setdefault(name, None)
    import_requests_lazily()


def import_requests_lazily() -> None:
    """Delay the import of `requests` until one of its attributes is used.

    nbgrader imports it to talk to JupyterHub, and torch for its reports of errors. Grading does neither.
    """
    if _LAZY not in sys.modules and (spec := find_spec(_LAZY)):
        sys.modules[_LAZY] = _LazyModule(spec)


class _LazyModule(ModuleType):
    """A placeholder that imports the real module when one of its attributes is first used.

    (The standard library's LazyLoader imports it as soon as a second module imports it.)
    """

    def __init__(self, spec: ModuleSpec) -> None:
        super().__init__(spec.name)
        self.__spec__, self.__file__ = spec, spec.origin  # `inspect` reads every module's `__file__`

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)
