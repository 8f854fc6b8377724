"""File names in Canvas's and Moodle's downloads: the parser recovers their parts for any content."""

from __future__ import annotations

from datetime import datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from autograder.lms.parse_submission_filenames import (
    BRIGHTSPACE,
    CANVAS,
    MOODLE,
    ParsedSubmissionFilename,
    may_be_notebook,
    name_without_copy_marks,
    parse_submission_path,
    safe_name,
)
from tests.made_downloads import brightspace_name, canvas_name, moodle_name, moodle_text_name

NUMBERS = st.integers(0, 10**17)
WORDS = st.text("abcdefgåéłßयार王'-. 12_", min_size=1, max_size=12)
ORIGINALS = st.text("abcDEF 0129_-().é", min_size=1, max_size=20).map(lambda text: f"{text}.ipynb")


@given(WORDS, WORDS, NUMBERS, NUMBERS, ORIGINALS, st.booleans())
def test_canvas(last: str, first: str, user: int, upload: int, original: str, is_late: bool) -> None:
    """Number, lateness and the student's own file name are recovered for any sender's name."""
    last, first = (name.rstrip("0123456789_ '-.") or "x" for name in (last, first))
    found = parse_submission_path(canvas_name(last, first, user, upload, original, is_late))

    assert found is not None
    assert (CANVAS, str(user), original, is_late) == (found.system, found.number, found.original, found.is_late)
    assert upload == found.upload and not found.is_anonymous


@given(WORDS, NUMBERS, ORIGINALS, st.sampled_from(["/", "_/", "_", "/folder/in/"]), st.sampled_from(["", "down/"]))
def test_moodle(name: str, participant: int, original: str, tie: str, around: str) -> None:
    """Sender, number and file name are recovered with or without folders."""
    original = original.lstrip("_ ") if tie in ("_", "/") else original
    found = parse_submission_path(around + moodle_name(name, participant, original, tie))

    assert found is not None
    assert (MOODLE, str(participant), original) == (found.system, found.number, found.original)
    assert found.sender == name.replace("_", " ").strip() and not found.is_late


@given(WORDS, NUMBERS, ORIGINALS, st.sampled_from(["/", " - ", "/folder/in/"]), st.sampled_from(["", "down/"]))
def test_brightspace(name: str, user: int, original: str, tie: str, around: str) -> None:
    """Sender, number, file name and time are recovered with or without folders."""
    name = name.strip(" -") or "x"
    found = parse_submission_path(around + brightspace_name(name, user, original, "905 AM", tie))

    assert found is not None
    assert (BRIGHTSPACE, str(user), original) == (found.system, found.number, found.original)
    assert (name, datetime(2026, 11, 20, 9, 5)) == (found.sender, found.at)


@pytest.mark.parametrize(
    ("time", "at"),
    [
        ("Nov 20, 2026 1215 AM", datetime(2026, 11, 20, 0, 15)),
        ("November 20, 2026 115 PM", datetime(2026, 11, 20, 13, 15)),
        ("Feb 30, 2026 115 PM", None),
        ("20 nov. 2026 2215", None),
    ],
)
def test_times_of_brightspace(time: str, at: datetime | None) -> None:
    """A time that is not English, or no time at all, costs only the time."""
    found = parse_submission_path(f"7-8 - Ada Lovelace - {time}/hw.ipynb")

    assert found is not None and (at, "Ada Lovelace", "hw.ipynb") == (found.at, found.sender, found.original)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("lovelaceada_41_text.html", ("lovelaceada", "41", "text.html", False)),
        ("lovelaceada_LATE_41_link.html", ("lovelaceada", "41", "link.html", True)),
        ("lovelaceada_41_507_link.html", ("lovelaceada", "41", "link.html", False)),  # an upload of that name
        (moodle_text_name("Ada Lovelace", 101), ("Ada Lovelace", "101", "onlinetext.html", False)),
        ("Default group_assignsubmission_file/hw.ipynb", ("Default group", "", "hw.ipynb", False)),
        ("lovelaceada_41_507_hw.ipynb", ("lovelaceada", "41", "hw.ipynb", False)),
        ("lovelaceada_LATE_41_507_hw-1.ipynb", ("lovelaceada", "41", "hw-1.ipynb", True)),
        ("lovelaceada_late_41_507_hw.ipynb", ("lovelaceada", "41", "hw.ipynb", True)),
        ("anon_aB3xY_507_hw.ipynb", ("", "anon_aB3xY", "hw.ipynb", False)),
        ("LATE_anon_aB3xY_507_hw.ipynb", ("", "anon_aB3xY", "hw.ipynb", True)),
        ("submissions/lovelaceada_41_507_12_34_hw.ipynb", ("lovelaceada", "41", "12_34_hw.ipynb", False)),
        (
            "Ada Lovelace_101_assignsubmission_file_/a_assignsubmission_file_b.ipynb",
            ("Ada Lovelace", "101", "a_assignsubmission_file_b.ipynb", False),
        ),
    ],
)
def test_what_is_told(path: str, told: tuple[str, str, str, bool]) -> None:
    """These names of both systems, including older forms, are parsed as given."""
    found = parse_submission_path(path)

    assert found is not None and told == (found.sender, found.number, found.original, found.is_late)


@pytest.mark.parametrize(
    "path", ["hw.ipynb", "ada/hw.ipynb", "index.html", "41 - Ada - Nov 20, 2026 1015 PM/hw.ipynb", "", "/"]
)
def test_other_names_say_nothing(path: str) -> None:
    """A name that neither system makes is parsed as None."""
    assert parse_submission_path(path) is None


@given(st.text())
def test_any_name(path: str) -> None:
    """No name raises an error."""
    found = parse_submission_path(path)

    assert found is None or isinstance(found, ParsedSubmissionFilename)


@pytest.mark.parametrize(
    "name",
    [
        "ch01.ipynb",
        "ch01-1.ipynb",
        "ch01 (2).ipynb",
        "Copy of ch01.ipynb",
        "Copy of Copy of ch01 (3).ipynb",
        "ch01-Copy1.ipynb",
        "CH01 - Copy.ipynb",
    ],
)
def test_attempts_at_one_file(name: str) -> None:
    """Marks of copies are removed from a name."""
    assert name_without_copy_marks("ch01.ipynb") == name_without_copy_marks(name)


def test_other_files_are_others() -> None:
    """Names with another stem or ending stay different."""
    assert len({name_without_copy_marks(name) for name in ("ch01.ipynb", "ch02.ipynb", "ch01.zip", "notes.ipynb")}) == 4


@given(st.text())
@example(f"{'a' * 119} b")
def test_safe_names(name: str) -> None:
    """A safe name has no path, is printable, not hidden, at most 120 bytes, and unchanged if made safe again."""
    found = safe_name(name)

    assert found == safe_name(found)
    assert found.isprintable() and not set(found) & set("/\\") and not found.startswith((".", " "))
    assert 0 < len(found.encode()) <= 120


@pytest.mark.parametrize("name", ["hw.ipynb", "Copy of ch01 (2).ipynb", "Übung 1.ipynb"])
def test_plain_names_stay(name: str) -> None:
    """A harmless name does not change."""
    assert name == safe_name(name)


def test_what_may_be_a_notebook() -> None:
    """The endings of possible notebooks are those that grading searches for."""
    names = ("a.ipynb", "a.IPYNB", "a.ipynb.txt", "a.zip", "a.py", "a.pdf", "text.html")

    assert [True, True, True, True, True, False, False] == [may_be_notebook(name) for name in names]
