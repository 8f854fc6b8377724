"""An import finder for folders that Landlock lets code read but not list, where Python's own finder fails.

Python lists a folder before it imports from it, and again whenever the folder has changed. Landlock permits reading the
course's modules but not listing their folder. As soon as grading writes a file there, Python would list it again, be
refused, and no longer find the modules.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import ModuleType


class UnlistedFolderImporter:
    """An importer that finds a module by opening its file, because Python's own importers list the folder first.

    Landlock hides the list of some folders. This importer comes after Python's own.
    """

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, _: ModuleType | None = None) -> ModuleSpec | None:
        """Return where a package or module lies, or None if none of this name can be read."""
        for folder in sys.path if path is None else path:
            place = os.path.join(folder, name.rpartition(".")[2])
            for file, inner in ((f"{place}/__init__.py", [place]), (f"{place}.py", None)):
                try:
                    os.close(os.open(file, os.O_RDONLY))
                except OSError:
                    continue
                return spec_from_file_location(name, file, submodule_search_locations=inner)
        return None
