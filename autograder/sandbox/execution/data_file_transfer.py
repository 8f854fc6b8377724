"""Send the data files beside a notebook into the process that runs it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

FileSizes = list[tuple[str, int]]  # the name and the size of each file


def pack_files(files: Mapping[str, bytes]) -> tuple[FileSizes, bytes]:
    """Return the name and size of each file, and the bytes of all files, one after the other."""
    items = sorted(files.items())
    return [(name, len(data)) for name, data in items], b"".join(data for _, data in items)


def unpack_files(listed: Iterable[tuple[str, int]], data: bytes) -> None:
    """Write files into the working folder; `listed` are their names and sizes, and `data` all their bytes."""
    start = 0
    for name, size in listed:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[start : start + size])
        start += size
