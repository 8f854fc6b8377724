"""Read an untrusted zip of submissions safely: validate every entry first, then read one file at a time, in memory.

Students choose the names and bytes of the files in it, and a zip that came by mail may be forged altogether. So paths
that leave the folder, links, encrypted files and files larger than `MAX_BYTES_WITH_OUTPUTS` are refused.
"""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from pathlib import Path

from autograder.errors import CourseError
from autograder.submission.extract_submitted_cells import MAX_BYTES_WITH_OUTPUTS

_MOST = 20_000  # entries of a zip
_CHUNK = 2**20
# These methods decompress everything that they are given at once (bzip2: about thirty bytes into 46 MB), so `read`
# gives them few bytes at a time.
_AT_ONCE, _FEW = (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA), 32
_LITTER = ("__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini", ".ipynb_checkpoints")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
_ADVICE = "Nothing was changed. Download the submissions again, and give the file as it came."
_ENCRYPTED, _IS_UTF8 = 0x1, 0x800  # flag bits of an entry
_TIMES, _OF_CHANGE = 0x5455, 1  # the extra field "extended timestamp", and its bit for the time of the last change


class BadZip(CourseError):
    """The zip as a whole cannot be read or trusted; nothing was changed."""


class BadEntry(CourseError):
    """One file in the zip cannot be read; the others can."""


@dataclass(frozen=True)
class ZipEntry:
    """A file in the zip: its path, its size in bytes as the zip claims it, and its index among the entries."""

    path: str
    size: int
    place: int


class UntrustedZip:
    """An open zip whose entries have been validated; the constructor raises BadZip for an unsafe one."""

    def __init__(self, opened: zipfile.ZipFile, path: Path) -> None:
        self._opened, self._infos = opened, opened.infolist()
        if len(self._infos) > _MOST:
            raise BadZip(f"{path} lists {len(self._infos)} files; expected at most {_MOST}. {_ADVICE}")
        for info in self._infos:
            if what := _unsafe(info):
                name = info.filename[:80]
                raise BadZip(f"{path}: expected plain files, found {name!r}, which {what}. {_ADVICE}")

    def entries(self) -> list[ZipEntry]:
        """Return the files, without folders and without what operating systems add (`.DS_Store`, `Thumbs.db`)."""
        return [
            ZipEntry(name, info.file_size, place)
            for place, info in enumerate(self._infos)
            if not info.is_dir() and not set((name := _name(info)).split("/")) & set(_LITTER)
        ]

    def read(self, entry: ZipEntry) -> bytes:
        """Return the bytes of a file; raise BadEntry if it cannot be unpacked or is too large."""
        if entry.size > MAX_BYTES_WITH_OUTPUTS:
            raise _too_large(entry.size)
        info = self._infos[entry.place]
        if what := _unreadable(info):
            raise BadEntry(f"it {what}. Ask for the .ipynb file itself.")
        parts, left = list[bytes](), MAX_BYTES_WITH_OUTPUTS
        try:
            with self._opened.open(info) as file:
                chunk = _CHUNK if info.compress_type not in _AT_ONCE else _FEW
                file.MIN_READ_SIZE = min(chunk, file.MIN_READ_SIZE)  # type: ignore[attr-defined,unused-ignore]
                while part := file.read(min(chunk, left + 1)):
                    left -= len(part)
                    if left < 0:
                        raise _too_large(MAX_BYTES_WITH_OUTPUTS + 1)
                    parts.append(part)
        except CourseError:
            raise
        except Exception as error:  # each method has errors of its own, and zipfile has others
            raise BadEntry(f"it is damaged ({type(error).__name__}). Download the submissions again.") from None
        return b"".join(parts)

    def changed(self, entry: ZipEntry, zone: tzinfo | None = None) -> datetime | None:
        """Return the time of a file's last change in UTC, or None if the zip has no valid time for it.

        Most zips store local time without its zone; `zone` is the zone to assume (None: this machine's).
        """
        info = self._infos[entry.place]
        exact = _exact(info.extra)
        if exact is not None or info.date_time <= (1980, 1, 1, 0, 0, 0):
            return exact
        try:
            return local_to_utc(datetime(*info.date_time), zone)
        except (ValueError, OverflowError):
            return None


def local_to_utc(local: datetime, zone: tzinfo | None) -> datetime:
    """Return a local time of this zone (None: of this machine's) in UTC."""
    return (local.replace(tzinfo=zone) if zone else local.astimezone()).astimezone(UTC)


@contextmanager
def open_untrusted_zip(path: Path) -> Iterator[UntrustedZip]:
    """Open the zip at `path`; raise BadZip if it is missing, unreadable or unsafe."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadZip(f"{path} is no file. Expected the zip with the submissions, as the learning system gives it.")
        archive = zipfile.ZipFile(path)
    except FileNotFoundError:
        raise BadZip(f"expected the zip with the submissions at {path}, found no file. Is the name right?") from None
    except CourseError:
        raise
    except Exception as error:
        raise BadZip(
            f"expected a zip with submissions, as Canvas, Moodle or Brightspace gives it; {path} is none that can be "
            f"read ({type(error).__name__}). {_ADVICE}"
        ) from None
    with archive:
        yield UntrustedZip(archive, path)


def _unsafe(info: zipfile.ZipInfo) -> str:
    """Return why an entry is unsafe, as a predicate for an error message; "" for a plain file or a folder."""
    parts = info.filename.replace("\\", "/").split("/")
    mode = info.external_attr >> 16
    if info.filename.startswith(("/", "\\")) or parts[0][1:2] == ":":
        return "is an absolute path"
    if ".." in parts:
        return "leads out of the folder"
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or no plain file"
    return ""


def _unreadable(info: zipfile.ZipInfo) -> str:
    """Return why a file cannot be unpacked, as a predicate for an error message; "" if it can."""
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    return "" if info.compress_type in _METHODS else "is packed in a way that cannot be unpacked here"


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name, decoded as UTF-8 if possible: some programs write UTF-8 without setting its flag."""
    if not info.flag_bits & _IS_UTF8:
        with suppress(UnicodeError):
            return info.filename.encode("cp437").decode("utf-8")
    return info.filename


def _too_large(size: int) -> BadEntry:
    most = MAX_BYTES_WITH_OUTPUTS >> 20
    return BadEntry(
        f"expected at most {most} MB, found {max(size >> 20, most + 1)}. "
        "Ask for it without outputs (Edit > Clear Outputs of All Cells)."
    )


def _exact(extra: bytes) -> datetime | None:
    """Return the time in UTC from the extra field "extended timestamp", or None if the entry has no such field."""
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _TIMES and len(field) >= 5 and field[0] & _OF_CHANGE:
            return datetime.fromtimestamp(struct.unpack("<i", field[1:5])[0], UTC)
    return None
