"""Read notebooks from a zip archive in memory, within limits of number and size; nothing is unpacked to the disk."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath

from autograder.submission.unreadable_notebook_messages import UnreadableError, not_a_notebook_error

MAX_ENTRIES = 1000
MAX_NOTEBOOKS = 10
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
_ENTRY = b"PK\x01\x02"  # the signature of each entry in the central directory at the archive's end
_IGNORED_FOLDERS = ("__MACOSX", ".ipynb_checkpoints")
_SHOWN, _LONGEST = 5, 80
_HAND_IN = "Hand in the .ipynb file itself."


@dataclass(frozen=True)
class ArchivedNotebook:
    """A notebook in an archive: its path there, its bytes, and its time of modification (seconds, as `st_mtime`)."""

    name: str
    data: bytes
    changed: float


def is_archive(data: bytes) -> bool:
    """Return whether a file's bytes are a zip archive, whatever its name."""
    return data.startswith(_SIGNATURES)


def read_zipped_notebooks(data: bytes, most: int) -> list[ArchivedNotebook]:
    """Return the notebooks in an archive; raises UnreadableError if there are none, or if one exceeds `most` bytes.

    The unpacked bytes are counted, because the sizes that the archive declares may be wrong.
    """
    if data.count(_ENTRY) > MAX_ENTRIES:
        raise not_a_notebook_error(
            f"it is a zip archive of more than {MAX_ENTRIES} files, which is not read. {_HAND_IN}"
        )
    try:
        with zipfile.ZipFile(BytesIO(data)) as opened:
            names = [each.filename for each in opened.infolist() if not each.is_dir()]
            found = list(_unpacked(opened, most))
    except UnreadableError:
        raise
    except Exception as error:  # zipfile raises many kinds of errors for damaged archives
        raise not_a_notebook_error(
            f"it is a zip archive that cannot be opened ({type(error).__name__}). {_HAND_IN}"
        ) from None
    if not found:
        raise not_a_notebook_error(
            f"it is a zip archive without a notebook (found: {summarize_names(names) or 'nothing'}). {_HAND_IN}"
        )
    return found


def summarize_names(names: Sequence[str]) -> str:
    """Return the first few names as one text, each shortened: names in an archive may be very long."""
    parts = [repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…") for name in names[:_SHOWN]]
    return ", ".join(parts) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _unpacked(opened: zipfile.ZipFile, most: int) -> Iterator[ArchivedNotebook]:
    left = 2 * most
    wanted = [entry for entry in opened.infolist() if has_notebook_name(entry.filename)]
    if len(wanted) > MAX_NOTEBOOKS:
        raise not_a_notebook_error(
            f"it is a zip archive of {len(wanted)} notebooks; more than {MAX_NOTEBOOKS} are not read. "
            "Hand in the one that counts."
        )
    for entry in wanted:
        if entry.flag_bits & 1:
            raise not_a_notebook_error(f"it is a zip archive with a password. {_HAND_IN}")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise not_a_notebook_error(f"it is a zip archive packed in a rare way. {_HAND_IN}")
        with opened.open(entry) as file:
            data = file.read(min(most, left) + 1)
        left -= len(data)
        if len(data) > most or left < 0:
            raise not_a_notebook_error(
                f"it is a zip archive with more than {most >> 20} MB of notebooks, which is not read. "
                "Clear all outputs, save, and hand it in again."
            )
        yield ArchivedNotebook(entry.filename, data, _changed(entry))


def has_notebook_name(name: str) -> bool:
    """Return whether a path has a notebook's ending, perhaps followed by another one, and is not a hidden file."""
    path = PurePosixPath(name)
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    hidden = path.name.startswith(".") or any(part in _IGNORED_FOLDERS for part in path.parts)
    return not hidden and ".ipynb" in endings


def _changed(entry: zipfile.ZipInfo) -> float:
    with suppress(ValueError, OverflowError):  # an archive may contain invalid dates
        return time.mktime((*entry.date_time, 0, 0, -1))
    return 0.0
