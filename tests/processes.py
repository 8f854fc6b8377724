"""Find the processes of a test by their working folder, which is inside the test's temporary folder."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from tests.small_chapter import PROJECT

# For child processes: this project, and a sitecustomize that records for the tests which files they open.
PYTHONPATH = os.pathsep.join(map(str, (PROJECT / "tests" / "watched", PROJECT)))


def living_in(folder: Path) -> list[int]:
    """Return the ids of the processes whose working folder is inside `folder`."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder in Path(os.readlink(path / "cwd")).parents:
                found.append(int(path.name))
    return found


def all_end(folder: Path) -> bool:
    """Return whether these processes end within a minute; a killed process may take a moment to vanish."""
    end = time.monotonic() + 60
    while living_in(folder) and time.monotonic() < end:
        time.sleep(0.02)
    return not living_in(folder)
