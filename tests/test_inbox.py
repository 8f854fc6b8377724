"""A student's folder: which of its files counts, notes on the others, and that none is lost."""

from __future__ import annotations

import copy
import json
import mimetypes
import os
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode

from autograder.errors import WorkFailed
from autograder.submission import read_student_folder as student_folder
from autograder.submission.extract_submitted_cells import MAX_BYTES_WITH_OUTPUTS, MAX_NOTEBOOK_BYTES
from autograder.submission.read_released_cells import starters
from autograder.submission.read_student_folder import read_student_folder
from autograder.submission.read_submission import submission_from_files
from autograder.submission.read_submitted_file_safely import without_outputs
from autograder.submission.submission import SubmittedFiles
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_handed import packed, script

STEM = "ch05c_time_and_memory"
NAME = f"{STEM}.ipynb"
Folder = dict[str, bytes]


@cache
def release() -> NotebookNode:
    """Return the released notebook."""
    found: NotebookNode = nbformat.read(PROJECT / "notebooks" / NAME, as_version=4)
    return found


@cache
def answering(count: int) -> bytes:
    """Return the released notebook with `count` exercises answered."""
    notebook = copy.deepcopy(release())
    names = list(starters(release()))[:count]
    for cell in notebook.cells:
        name = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = f"def {name}(*args):\n    return {count}" if name in names else cell.source
    return str(nbformat.writes(notebook)).encode()


def opened(folder: Path) -> SubmittedFiles:
    """Return what the grader reads from a folder."""
    return read_student_folder(folder, STEM, starters(release()))


def hand_in(folder: Path, **files: bytes) -> Path:
    """Write files into a submission, each a minute newer than the one before."""
    folder = folder / "ada" / STEM
    for minute, (name, data) in enumerate(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (60 * minute, 60 * minute))
    return folder


def answered(found: SubmittedFiles) -> int:
    """Return the number of answers in the graded notebook."""
    submission = submission_from_files(found, release())
    assert submission.trouble is None
    return sum(text != starters(release())[name] for name, text in submission.answers.items())


WHEREVER: dict[str, Callable[[bytes], Folder]] = {
    "a zip archive": lambda data: {"work.zip": packed(mine=data)},
    "a zip archive of that name": lambda data: {NAME: packed(mine=data)},
    "one folder down": lambda data: {f"my work/{NAME}": data},
    "folders in folders": lambda data: {f"Übung 1 (final)/work – copy/a/{STEM} (2).ipynb": data},
    "a text": lambda data: {f"{NAME}.txt": data},
    "JSON": lambda data: {f"{STEM}.json": data},
    "no ending": lambda data: {STEM: data},
    "a script": lambda _: {f"{STEM}.py": script("# %%", STEM)},
    "a mark of macOS beside it": lambda data: {f"._{NAME}": b"\x00\x05\x16\x07", NAME: data},
    "very many files beside it": lambda data: {f"x/{NAME}": data} | {f"x/{n}.csv": b"1" for n in range(120)},
}


@pytest.mark.parametrize("made", WHEREVER.values(), ids=WHEREVER.keys())
def test_notebook_is_found(tmp_path: Path, made: Callable[[bytes], Folder]) -> None:
    """A notebook of any name and place is copied to the released name, where nbgrader expects it."""
    folder = hand_in(tmp_path, **made(answering(7)))

    found = opened(folder)

    assert (7, ()) == (answered(found), found.eye)
    assert found.data == (folder / NAME).read_bytes()
    assert found == opened(folder)


MORE: dict[str, tuple[Folder, int, str]] = {
    "more answers": ({f"{STEM}-Copy1.ipynb": answering(6), NAME: answering(2)}, 6, "as-handed-in.ipynb' (2 exercises"),
    "a starter of that name": ({NAME: answering(0), "mine.ipynb": answering(6)}, 6, "as-handed-in.ipynb' (0 exercises"),
    "the newest": (
        {NAME: answering(3), "b.ipynb": answering(3).replace(b"return 3", b"return 4")},
        3,
        "in.ipynb' (3 exercises",
    ),
    "the newest, of that name": ({"b.ipynb": answering(3) + b" ", NAME: answering(3)}, 3, "'b.ipynb' (3 exercises"),
    "of this chapter": (
        {NAME: answering(0), "b.ipynb": b'{"nbformat": 4, "cells": [{}]}'},
        0,
        "'b.ipynb' (0 exercises",
    ),
    "the readable": ({"b.ipynb": answering(1), NAME: b"{"}, 1, "as-handed-in.ipynb' (it cannot be read: "),
    "in an archive": ({"a.zip": packed(a=answering(1), b=answering(5))}, 5, "'a.zip: a.ipynb' (1 exercises"),
    "in one of that name": ({NAME: packed(a=answering(1), b=answering(5))}, 5, "as-handed-in.ipynb: a.ipynb' (1 exer"),
    "before a script": ({NAME: answering(7), "a.py": script("# %%", STEM)}, 7, "'a.py' (7 exercises"),
}


@pytest.mark.parametrize(("files", "count", "told"), MORE.values(), ids=MORE.keys())
def test_of_several_the_best_counts(tmp_path: Path, files: Folder, count: int, told: str) -> None:
    """The notebook with most answers counts, then the newest; the teacher reads of the other, and files stay."""
    folder = hand_in(tmp_path, **files)

    found = opened(folder)

    assert count == answered(found) and 1 == len(found.eye) and told in found.eye[0]
    assert not any("not graded" in note for note in found.notes)
    assert found == opened(folder)
    assert set(files.values()) <= {path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_starter_that_is_no_stub_is_no_answer(tmp_path: Path) -> None:
    """The untouched starter of a bug hunt does not count as an answer."""
    chapter = "ch06c_six_faults"
    given_out = nbformat.read(PROJECT / "notebooks" / f"{chapter}.ipynb", as_version=4)
    assert any("NotImplementedError" not in starter for starter in starters(given_out).values())
    folder = hand_in(tmp_path, **{f"{chapter}.ipynb": b"{}", "b.ipynb": nbformat.writes(given_out).encode() + b" "})
    (folder / "a.ipynb").write_bytes(nbformat.writes(given_out).encode())
    os.utime(folder / "a.ipynb", (1, 1))

    found = read_student_folder(folder, chapter, starters(given_out))

    assert "'a.ipynb' (0 exercises answered)" in found.eye[0]


def test_what_is_handed_in_again_counts(tmp_path: Path) -> None:
    """Better work under the released name replaces the copy of another file."""
    folder = hand_in(tmp_path, **{NAME: answering(0), "b.ipynb": answering(5)})
    assert 5 == answered(opened(folder))
    (folder / NAME).write_bytes(answering(6))

    found = opened(folder)

    assert (6, ()) == (answered(found), found.notes)
    assert ["'b.ipynb' (5", f"'{STEM}-as-handed-in.ipynb' (0"] == [line.split(": ")[1][:-20] for line in found.eye]


STATES = st.lists(
    st.tuples(st.sampled_from([NAME, "b.ipynb", "c/d.ipynb", "e.zip"]), st.integers(0, 4), st.booleans()), max_size=5
)


@settings(deadline=None, max_examples=60)
@given(steps=STATES)
@pytest.mark.night
def test_nothing_that_was_handed_in_is_lost(steps: list[tuple[str, int, bool]]) -> None:
    """After any sequence of submissions and readings, every file is kept, and the best is graded."""
    with TemporaryDirectory() as place:
        folder = Path(place) / "ada" / STEM
        last: dict[str, bytes] = {}
        counts: dict[str, int] = {}
        for number, (name, count, is_looked_at) in enumerate(steps, start=1):
            last[name], counts[name] = answering(count) + b" " * number, count
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(packed(a=last[name]) if name == "e.zip" else last[name])
            if is_looked_at:
                opened(folder)
        if last:
            found = opened(folder)
            held = [path.read_bytes() for path in folder.rglob("*.ipynb")] + [last.get("e.zip")]

            assert answered(found) >= max(counts.values())
            assert set(last.values()) <= set(held) and found == opened(folder)


def test_without_a_notebook_the_files_are_named(tmp_path: Path) -> None:
    """Without a notebook, the error lists the files and says what to ask for."""
    folder = hand_in(tmp_path, **{"essay.txt": b"Mine.", "ch01.html": b"<html>", "timestamp.txt": b""})

    with pytest.raises(WorkFailed, match=r"no notebook .*'essay.txt', 'ch01.html'.*Ask for the .ipynb file itself"):
        opened(folder)


def test_more_than_are_looked_into_are_told(tmp_path: Path) -> None:
    """At most ten other files are read, and the teacher reads how many are left."""
    folder = hand_in(tmp_path, **{NAME: answering(3)}, **{f"{n}.ipynb": answering(1) for n in range(15)})

    assert "5 more notebooks were handed in, and not looked into" == opened(folder).eye[-1]


def test_ten_more_large_notebooks_are_not_all_read(tmp_path: Path) -> None:
    """At most two large other files are read, which takes seconds."""
    folder = hand_in(tmp_path, **{NAME: answering(3)})
    for number in range(10):
        with (folder / (f"{number}.ipynb" if number < 5 else f"{number}.txt")).open("wb") as file:
            file.truncate(26 * 2**20)
    begun = time.process_time()

    told = opened(folder).eye

    assert "3 more notebooks were handed in, and not looked into" == told[-1] and time.process_time() - begun < 10


@pytest.mark.parametrize("name", ["a.html", "b.XHT", "c.svgz", "d.rdf", "e.xsl", "f.atom", "g.wsdl"])
def test_what_a_browser_takes_for_a_page_is_put_aside(tmp_path: Path, name: str) -> None:
    """Files that a browser would run are moved to a hidden folder, because formgrader serves them."""
    mimetypes.add_type("application/rdf+xml", ".rdf")  # systems know different types
    mimetypes.add_type("application/atom+xml", ".atom")
    mimetypes.add_type("application/xhtml+xml", ".xht")
    mimetypes.add_type("application/wsdl+xml", ".wsdl")
    folder = hand_in(tmp_path, **{NAME: answering(1), name: b"<script/>", "data.csv": b"1"})

    assert f"set aside, for nbgrader must not copy it: {name!r}" in opened(folder).notes
    assert (folder / "data.csv").is_file() and not (folder / name).exists()


@pytest.mark.parametrize(("given", "mine"), [("data/numbers.csv", "data"), ("notes.txt", "notes.txt/mine.csv")])
def test_what_stands_in_the_way_of_the_assignments_files_is_put_aside(tmp_path: Path, given: str, mine: str) -> None:
    """A file in place of an assignment's folder, or the reverse, is moved to a hidden folder."""
    path = tmp_path / "course" / "source" / STEM / given
    path.parent.mkdir(parents=True)
    path.write_text("1")
    folder = hand_in(tmp_path / "course" / "submitted", **{NAME: answering(1), mine: b"2", "other.csv": b"3"})

    found = opened(folder)

    assert {"other.csv": b"3"} == found.files
    assert "set aside, for nbgrader must not copy it: " + repr(mine.split("/")[0]) in found.notes


def test_a_link_in_the_place_of_what_was_put_aside_is_not_followed(tmp_path: Path) -> None:
    """Links in place of the hidden folders are not followed."""
    (tmp_path / "secret" / "0").mkdir(parents=True)
    (tmp_path / "secret" / "0" / "secret.ipynb").write_bytes(answering(9))
    folder = hand_in(tmp_path, **{NAME: answering(1)})
    (folder / ".set-aside-x").symlink_to(tmp_path / "secret")
    (folder / ".set-aside-y").mkdir()
    (folder / ".set-aside-y" / "0").symlink_to(tmp_path / "secret" / "0")

    found = opened(folder)

    assert (1, (), ()) == (answered(found), found.notes, found.eye)


def test_notebook_of_another_chapter_is_one_sentence(tmp_path: Path) -> None:
    """A notebook of another chapter gives one reason, and no list of repairs."""
    folder = hand_in(tmp_path, **{NAME: (PROJECT / "solutions" / "ch06a_your_handwriting.ipynb").read_bytes()})

    submission = submission_from_files(opened(folder), release(), COURSE.listed)

    assert ((), ()) == (submission.repairs, submission.eye)
    assert f"(ch06a_your_handwriting), handed in for {STEM}: it holds 1 exercise " in str(submission.trouble)


def test_mark_is_ours(tmp_path: Path) -> None:
    """The mark beside the graded copy names the original file."""
    folder = hand_in(tmp_path, **{"b.ipynb": answering(1)})
    opened(folder)

    assert "b.ipynb" == json.loads((folder / ".graded-copy.json").read_text())["name"]


def test_what_is_gone_while_it_is_read_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that vanishes while it is read raises WorkFailed."""
    folder = tmp_path / "submitted" / "ada" / STEM
    folder.mkdir(parents=True)
    (folder / f"{STEM}.ipynb").write_bytes(b"{}")

    def read_and_gone(path: Path) -> tuple[bytes, str]:
        folder.rename(tmp_path / "elsewhere")
        return b"{}", ""

    monkeypatch.setattr(student_folder, "read_notebook_file", read_and_gone)

    with pytest.raises(WorkFailed, match="cannot be read"):
        student_folder.read_student_folder(folder, STEM, {})


# --- notebooks with large outputs

TRICKS = '"outputs": ["x", \\"outputs\\": [{'


def with_outputs(text: str) -> bytes:
    """Return a notebook with two answers, and outputs that contain this text."""
    notebook = json.loads(answering(2))
    output = {"output_type": "stream", "name": "stdout", "text": [text, TRICKS], "outputs": [[1, [2]], {}]}
    for cell in notebook["cells"]:
        cell["metadata"]["tricks"] = {"outputs": TRICKS, "other": [TRICKS, {"x": []}]}
        if cell["cell_type"] == "code":
            cell["outputs"] = [output] * (len(text) < 1000)
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    code[0]["outputs"] = code[-1]["outputs"] = [output]
    return json.dumps(notebook, indent=1).encode()


def test_outputs_are_taken_out_of_the_json_alone() -> None:
    """`without_outputs` empties all lists of outputs, and keeps everything else and its lines."""
    data = with_outputs("qqqq")
    expected = json.loads(data)
    for cell in expected["cells"]:
        if "outputs" in cell:
            cell["outputs"] = []
    left = without_outputs(data)

    assert expected == json.loads(left)
    assert data.count(b"\n") == left.count(b"\n") and b"qqqq" not in left


@pytest.mark.parametrize("sound", [True, False], ids=["sound", "broken off"])
def test_outputs_cost_nothing(tmp_path: Path, sound: bool) -> None:
    """A file with 60 MB of outputs is read as one without, even if truncated within them."""
    data = with_outputs("x" * 30_000_000)
    hand_in(tmp_path, **{NAME: data if sound else data[:-20_000_000]})
    found = submission_from_files(opened(tmp_path), release())

    assert found.trouble is None
    names = list(starters(release()))[:2]
    assert all("return 2" in found.answers[name] for name in names)


@pytest.mark.night
def test_too_large_without_outputs(tmp_path: Path) -> None:
    """A file that is too large without its outputs gives a reason, and is not read whole."""
    hand_in(tmp_path, **{NAME: answering(2).replace(b"return 2", b"return '" + b"x" * MAX_NOTEBOOK_BYTES + b"'")})
    found = opened(tmp_path)
    assert len(found.data) == MAX_NOTEBOOK_BYTES + 1 and "beside its outputs" in str(
        submission_from_files(found, release()).trouble
    )

    os.truncate(tmp_path / NAME, MAX_BYTES_WITH_OUTPUTS + 5)
    assert len(opened(tmp_path).data) == MAX_NOTEBOOK_BYTES + 1


@pytest.mark.parametrize("part", [b"[", b'{"outputs":[', b'"outputs":', b'{"outputs" : []},', b'"', b"\\", b'\\"'])
@pytest.mark.night
def test_outputs_are_looked_for_in_seconds(part: bytes) -> None:
    """Removing outputs takes seconds for any large file."""
    begun = time.process_time()
    without_outputs(part * (MAX_BYTES_WITH_OUTPUTS // 4 // len(part)))

    assert time.process_time() - begun < 10
