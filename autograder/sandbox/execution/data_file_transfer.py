"""Files that lie beside a notebook, on their way into the process that runs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

Sizes = list[tuple[str, int]]  # the name and the size of each file


def packed(files: Mapping[str, bytes]) -> tuple[Sizes, bytes]:
    """The files by name and size, and all their bytes."""
    known = sorted(files.items())
    return [(name, len(data)) for name, data in known], b"".join(data for _, data in known)


def lay_out(listed: Iterable[tuple[str, int]], data: bytes) -> None:
    """Write what `packed` gave into the working folder."""
    place = 0
    for name, size in listed:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[place : place + size])
        place += size
