"""Which processes are there: found by their working folder, which those of a run have in its temporary folder."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

from tests.small_chapter import PROJECT

# Where processes find this project, and what notes for the tests which of its files they open.
PYTHONPATH = os.pathsep.join(map(str, (PROJECT / "tests" / "watched", PROJECT)))


def living_in(folder: Path) -> list[int]:
    """The processes whose working folder lies in one."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if folder in Path(os.readlink(path / "cwd")).parents:
                found.append(int(path.name))
    return found


def all_end(folder: Path) -> bool:
    """Whether they end soon: who was killed may be gone a moment later."""
    end = time.monotonic() + 60
    while living_in(folder) and time.monotonic() < end:
        time.sleep(0.02)
    return not living_in(folder)
