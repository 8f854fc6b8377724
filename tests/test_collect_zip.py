"""Safety of the submitted zip: an entry that no system creates stops it, a file that is too large is skipped."""

from __future__ import annotations

import json
import stat
import struct
import tracemalloc
import zipfile
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from autograder.lms import untrusted_zip
from autograder.lms.untrusted_zip import BadEntry, BadZip, open_untrusted_zip
from autograder.submission.extract_submitted_cells import MAX_BYTES_WITH_OUTPUTS
from tests.made_downloads import write_zip


def refusal(path: Path) -> str:
    """Return the one-line error of a zip that is not unpacked."""
    with pytest.raises(BadZip) as told, open_untrusted_zip(path):
        pass
    assert "\n" not in str(told.value)
    return str(told.value)


def test_what_is_there(tmp_path: Path) -> None:
    """Entries are the files with their bytes, without folders and system files."""
    files = {"a.ipynb": b"{}", "d/": b"", "__MACOSX/._a.ipynb": b"x", "d/.DS_Store": b"x", "d/b.ipynb": b"[]"}
    with open_untrusted_zip(write_zip(tmp_path / "z.zip", files)) as found:
        assert {"a.ipynb": b"{}", "d/b.ipynb": b"[]"} == {each.path: found.read(each) for each in found.entries()}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("../up.ipynb", "leads out of the folder"),
        ("a/../../up.ipynb", "leads out of the folder"),
        ("a\\..\\up.ipynb", "leads out of the folder"),
        ("/etc/up.ipynb", "is an absolute path"),
        ("\\up.ipynb", "is an absolute path"),
        ("C:\\up.ipynb", "is an absolute path"),
    ],
)
def test_paths_that_climb(tmp_path: Path, name: str, told: str) -> None:
    """A path outside the folder raises an error, and nothing is unpacked."""
    assert told in refusal(write_zip(tmp_path / "z.zip", {"good.ipynb": b"{}", name: b"{}"}))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices(tmp_path: Path, kind: int) -> None:
    """A link or device file raises an error."""
    about = zipfile.ZipInfo("link.ipynb")
    about.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        archive.writestr(about, "/etc/passwd")

    assert "is a link or no plain file" in refusal(tmp_path / "z.zip")


@pytest.mark.parametrize(("place", "mark", "told"), [(8, 1, "is encrypted"), (10, 95, "cannot be unpacked here")])
def test_packed_in_another_way(tmp_path: Path, place: int, mark: int, told: str) -> None:
    """An encrypted file, or one with an unknown compression, raises BadEntry, and others are read."""
    path = write_zip(tmp_path / "z.zip", {"a.ipynb": b"{}", "b.ipynb": b"[]"})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + place] = mark
    path.write_bytes(data)
    with open_untrusted_zip(path) as found:
        first, second = found.entries()
        with pytest.raises(BadEntry, match=told):
            found.read(first)
        assert b"[]" == found.read(second)


@pytest.mark.parametrize("data", [b"", b"no zip", b"PK\x03\x04", b"PK\x05\x06" + bytes(3)])
def test_no_zip(tmp_path: Path, data: bytes) -> None:
    """A file that is no zip raises an error with what was expected."""
    (tmp_path / "z.zip").write_bytes(data)

    assert "expected a zip with submissions" in refusal(tmp_path / "z.zip")


def test_no_file(tmp_path: Path) -> None:
    """A missing file or a folder raises an error."""
    assert "found no file. Is the name right?" in refusal(tmp_path / "none.zip")
    assert "is no file" in refusal(tmp_path)


def test_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Too many entries raise an error."""
    monkeypatch.setattr(untrusted_zip, "_MOST", 1)

    assert "lists 2 files; expected at most 1" in refusal(write_zip(tmp_path / "z.zip", {"a": b"", "b": b""}))


def test_zeros_without_end(tmp_path: Path) -> None:
    """A file with a declared size of 4 GB is not unpacked, and the next one is read."""
    path = write_zip(tmp_path / "z.zip", {"zeros.ipynb": bytes(1000), "good.ipynb": b"{}"})
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 2**32 - 2)
    path.write_bytes(data)
    with open_untrusted_zip(path) as found:
        zeros, good = found.entries()
        with pytest.raises(BadEntry, match="expected at most 128 MB, found 4095"):
            found.read(zeros)
        assert b"{}" == found.read(good)


def test_more_than_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The size is checked while unpacking, even if the declared size is smaller."""
    with open_untrusted_zip(write_zip(tmp_path / "z.zip", {"a.ipynb": bytes(5000)})) as found:
        (entry,) = found.entries()
        monkeypatch.setattr(untrusted_zip, "MAX_BYTES_WITH_OUTPUTS", 4999)
        with pytest.raises(BadEntry, match="expected at most"):
            found.read(untrusted_zip.ZipEntry(entry.path, 10, entry.place))
        monkeypatch.setattr(untrusted_zip, "MAX_BYTES_WITH_OUTPUTS", 5000)
        assert bytes(5000) == found.read(entry)
    assert MAX_BYTES_WITH_OUTPUTS > 5000


@pytest.mark.parametrize("damage", [lambda byte: byte ^ 0xFF, lambda byte: 0, lambda byte: byte ^ 1])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damaged(tmp_path: Path, method: int, damage: Callable[[int], int]) -> None:
    """A file with a changed byte is either read whole or raises BadEntry, and the other file is read."""
    path, whole = tmp_path / "z.zip", json.dumps([[each, str(each * each)] for each in range(60)]).encode()
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.ipynb", whole)
        archive.writestr("b.ipynb", b"{}")
    sound = path.read_bytes()
    read, places = 0, range(0, sound.index(b"PK\x03\x04", 4), 3)
    for place in places:
        data = bytearray(sound)
        data[place] = damage(data[place])
        path.write_bytes(data)
        with open_untrusted_zip(path) as found:
            first, second = found.entries()
            with suppress(BadEntry):
                assert whole == found.read(first)  # the changed byte does not matter, such as one of the time
                read += 1
            assert b"{}" == found.read(second)
    assert read < len(places) // 2


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_packed_data_that_ends_too_early(tmp_path: Path, method: int) -> None:
    """Wrong sizes in the zip's directory raise BadEntry."""
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.ipynb", bytes(range(256)) * 9)
    sound = path.read_bytes()
    for field, amount in ((20, 7), (20, 40), (24, 9)):
        data = bytearray(sound)
        struct.pack_into("<I", data, data.index(b"PK\x01\x02") + field, amount)
        path.write_bytes(data)
        with open_untrusted_zip(path) as found:
            (entry,) = found.entries()
            with pytest.raises(BadEntry, match="it is damaged"):
                found.read(entry)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.night
def test_little_that_unfolds(tmp_path: Path, method: int) -> None:
    """A compressed file that unpacks to far more than declared raises BadEntry without much memory."""
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.ipynb", bytes(200 * 2**20))
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, data.index(b"PK\x01\x02") + 24, 1000)
    path.write_bytes(data)
    with open_untrusted_zip(path) as found:
        (entry,) = found.entries()
        tracemalloc.start()
        try:
            with pytest.raises(BadEntry):
                found.read(entry)
            assert tracemalloc.get_traced_memory()[1] < 150 * 2**20
        finally:
            tracemalloc.stop()


def test_names_whose_letters_are_not_told(tmp_path: Path) -> None:
    """Names without a UTF-8 flag are read as UTF-8 if valid, else in the old code page."""
    path = write_zip(tmp_path / "z.zip", {"\u00e5sa.ipynb": b"", "a.ipynb": b""})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x01\x02") + 9] &= 0xF7
    data[data.index(b"PK\x03\x04") + 7] &= 0xF7
    path.write_bytes(data)
    with open_untrusted_zip(path) as found:
        assert ["\u00e5sa.ipynb", "a.ipynb"] == [each.path for each in found.entries()]
        assert [b"", b""] == [found.read(each) for each in found.entries()]
    path.write_bytes(bytes(data).replace("\u00e5".encode(), b"\x86\x86"))
    with open_untrusted_zip(path) as found:
        assert "\u00e5\u00e5sa.ipynb" == found.entries()[0].path


def test_times(tmp_path: Path) -> None:
    """The time is the local clock in the given zone, or the exact time if stored, or None."""
    path = write_zip(tmp_path / "z.zip", {"a.ipynb": b""})
    with zipfile.ZipFile(path, "a") as archive:
        exact = zipfile.ZipInfo("b.ipynb", (2026, 1, 1, 0, 0, 0))
        exact.extra = struct.pack("<HHBi", 0x5455, 5, 1, 1_700_000_000)
        archive.writestr(exact, b"")
        archive.writestr(zipfile.ZipInfo("c.ipynb"), b"")
    with open_untrusted_zip(path) as found:
        times = [found.changed(each, ZoneInfo("Europe/Berlin")) for each in found.entries()]

    assert [
        datetime(2026, 11, 20, 21, 15, 30, tzinfo=UTC),
        datetime.fromtimestamp(1_700_000_000, UTC),
        None,
    ] == times
