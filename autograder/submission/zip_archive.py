"""A zip archive with notebooks: read in memory and with bounds, never unpacked to the disk."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import PurePosixPath

from autograder.submission.unreadable_files import UnreadableError, no_notebook

MAX_ENTRIES = 1000
MAX_NOTEBOOKS = 10
_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
_ENTRY = b"PK\x01\x02"  # stands before each entry of the list at the archive's end
_BESIDE = ("__MACOSX", ".ipynb_checkpoints")
_SHOWN, _LONGEST = 5, 80
_HAND_IN = "Hand in the .ipynb file itself."


@dataclass(frozen=True)
class Packed:
    """A notebook in an archive: its path there, its bytes, when it was changed last (seconds, as files say it)."""

    name: str
    data: bytes
    changed: float


def is_archive(data: bytes) -> bool:
    """Whether a file is a zip archive, whatever its name."""
    return data.startswith(_SIGNATURES)


def notebooks(data: bytes, most: int) -> list[Packed]:
    """The notebooks in an archive, none larger than `most`; raises UnreadableError where there are none.

    Sizes are those that come out, not those that the archive declares.
    """
    if data.count(_ENTRY) > MAX_ENTRIES:
        raise no_notebook(f"it is a zip archive of more than {MAX_ENTRIES} files, which is not read. {_HAND_IN}")
    try:
        with zipfile.ZipFile(BytesIO(data)) as opened:
            names = [each.filename for each in opened.infolist() if not each.is_dir()]
            found = list(_unpacked(opened, most))
    except UnreadableError:
        raise
    except Exception as error:  # zipfile has many ways to give up on an archive that is damaged
        raise no_notebook(f"it is a zip archive that cannot be opened ({type(error).__name__}). {_HAND_IN}") from None
    if not found:
        raise no_notebook(f"it is a zip archive without a notebook (found: {shown(names) or 'nothing'}). {_HAND_IN}")
    return found


def shown(names: Sequence[str]) -> str:
    """The first of some names, each shortened: within an archive, names may be very long."""
    parts = [repr(name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…") for name in names[:_SHOWN]]
    return ", ".join(parts) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _unpacked(opened: zipfile.ZipFile, most: int) -> Iterator[Packed]:
    left = 2 * most
    wanted = [entry for entry in opened.infolist() if is_notebook(entry.filename)]
    if len(wanted) > MAX_NOTEBOOKS:
        raise no_notebook(
            f"it is a zip archive of {len(wanted)} notebooks; more than {MAX_NOTEBOOKS} are not read. "
            "Hand in the one that counts."
        )
    for entry in wanted:
        if entry.flag_bits & 1:
            raise no_notebook(f"it is a zip archive with a password. {_HAND_IN}")
        if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise no_notebook(f"it is a zip archive packed in a rare way. {_HAND_IN}")
        with opened.open(entry) as file:
            data = file.read(min(most, left) + 1)
        left -= len(data)
        if len(data) > most or left < 0:
            raise no_notebook(
                f"it is a zip archive with more than {most >> 20} MB of notebooks, which is not read. "
                "Clear all outputs, save, and hand it in again."
            )
        yield Packed(entry.filename, data, _changed(entry))


def is_notebook(name: str) -> bool:
    """Whether a path within an archive or a folder is that of a notebook, also with another ending behind its own."""
    path = PurePosixPath(name)
    endings = [ending.lower() for ending in path.suffixes[-2:]]
    hidden = path.name.startswith(".") or any(part in _BESIDE for part in path.parts)
    return not hidden and ".ipynb" in endings


def _changed(entry: zipfile.ZipInfo) -> float:
    with suppress(ValueError, OverflowError):  # an archive may say any day of any month
        return time.mktime((*entry.date_time, 0, 0, -1))
    return 0.0
