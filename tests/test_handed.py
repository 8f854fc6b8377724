"""Reading one submitted file: any saved, packed or exported form, or a helpful reason."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from functools import cache
from typing import Any

import nbformat
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import NotebookNode

from autograder.submission.extract_submitted_cells import (
    MAX_CELL_CHARACTERS,
    MAX_NOTEBOOK_BYTES,
    read_notebook_contents,
)
from autograder.submission.read_submission import read_submission
from autograder.submission.submission import Submission
from autograder.submission.unreadable_notebook_messages import UnreadableError
from tests.our_course import COURSE
from tests.small_chapter import PROJECT

STEM = "ch01b_broadcasting"


def solved(stem: str = STEM) -> bytes:
    """Return the solved notebook of a chapter."""
    return (PROJECT / "solutions" / f"{stem}.ipynb").read_bytes()


@cache
def release() -> NotebookNode:
    """Return the released notebook."""
    found: NotebookNode = nbformat.read(PROJECT / "notebooks" / f"{STEM}.ipynb", as_version=4)
    return found


@cache
def plain() -> Submission:
    """Return the submission read from the plain file."""
    return read_submission(solved(), release())


def packed(**files: bytes) -> bytes:
    """Return a zip archive of these files, with the additions of macOS and JupyterLab."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ({"__MACOSX/._a": b"", "w/.ipynb_checkpoints/a": b"{}"} | files).items():
            archive.writestr(f"{name}.ipynb", data)
    return made.getvalue()


def changed(change: Callable[[Any], Any]) -> bytes:
    """Return the solved notebook after a change to its JSON."""
    notebook = json.loads(solved())
    return json.dumps(change(notebook) or notebook).encode()


def old(notebook: Any) -> Any:
    """Return the notebook in format 3."""
    cells = [cell | {"input": cell["source"]} for cell in notebook["cells"]]
    for cell in cells:
        del cell["source" if cell["cell_type"] == "code" else "input"]
    return {"nbformat": 3, "worksheets": [{"cells": cells[:9]}, {"cells": cells[9:]}], "metadata": {}}


def without_ends(notebook: Any) -> None:
    """Make each cell's text a list of lines without newlines."""
    for cell in notebook["cells"]:
        cell["source"] = "".join(cell["source"]).split("\n")


def script(mark: str, stem: str = STEM) -> bytes:
    """Return the notebook as a script with this mark before each code cell."""
    cells = json.loads(solved(stem))["cells"]
    pieces = [f"{mark}\n\n{''.join(cell['source'])}\n\n" for cell in cells if cell["cell_type"] == "code"]
    return ("#!/usr/bin/env python\n# coding: utf-8\n\n" + "".join(pieces)).encode()


def of_databricks(data: bytes) -> bytes:
    """Return the script with Databricks's marks between cells."""
    return b"# Databricks notebook source\n" + data.replace(b"# MARK", b"# COMMAND ----------")


def counted_twice() -> bytes:
    """Return a notebook with merge conflicts in its execution counts."""
    lines = json.dumps(json.loads(solved()), indent=1).split("\n")
    for place in [place for place, line in enumerate(lines) if "execution_count" in line][:4:-7]:
        told = [lines[place].replace("null", number) for number in ("3", "7")]
        lines[place : place + 1] = ["<<<<<<< HEAD", told[0], "||||||| base", "=======", told[1], ">>>>>>> b"]
    return "\n".join(lines).encode()


def in_one_cell(notebook: Any) -> None:
    """Put all answers into one cell, whose docstrings have lines that end with a question mark."""
    cells = [each for each in notebook["cells"] if each["metadata"].get("nbgrader", {}).get("solution")]
    text = "\n\n".join("".join(each["source"]) for each in cells)
    assert len(text) < MAX_CELL_CHARACTERS and text.count("?\n") >= 1
    for each in cells:
        notebook["cells"].remove(each)
    notebook["cells"].append(cells[0] | {"source": f"{text}\n\n# {'much is said of it. ' * 200}"})


READ = {
    "a trailing comma": (solved().replace(b"\n  }\n ],", b"\n  },\n ],"), "a comma stands before a closing bracket in"),
    "an end of line in quotes": (solved().replace(b"\\n", b"\n", 1), "ends within quotes"),
    "a JSON string": (json.dumps(solved().decode()).encode(), "packed into a JSON string"),
    "format 3": (changed(old), "old format 3"),
    "no format": (changed(lambda notebook: {"cells": notebook["cells"]}), ""),
    "lines without their ends": (changed(without_ends), "lines had lost their ends, which were put back"),
    "two marks of UTF-8": (b"\xef\xbb\xbf" * 2 + solved(), ""),
    "no end": (solved()[: solved().index(b'"nbformat"')], "breaks off behind its last cell"),
    "a script of JupyterLab's": (script("# In[3]:"), "handed in as a Python script"),
    "a script of jupytext's": (script("# %%"), "handed in as a Python script"),
    "a script of PyCharm's": (script("#%%"), "handed in as a Python script"),
    "a script of Databricks's": (of_databricks(script("# MARK")), "handed in as a Python script"),
    "a script of Windows": (script("# In[3]:").replace(b"\n", b"\r\n"), "handed in as a Python script"),
    "conflicts in what is not read": (counted_twice(), "both versions have the same cells"),
    "a format in quotes": (solved().replace(b'"nbformat": 4', b'"nbformat": "4"'), ""),
}


@pytest.mark.parametrize(("data", "told"), READ.values(), ids=READ.keys())
def test_what_leaves_no_doubt_is_read(data: bytes, told: str) -> None:
    """The answers are those of the plain file, and repairs are listed."""
    submission = read_submission(data, release())

    assert (plain().answers, None, ()) == (submission.answers, submission.trouble, submission.eye)
    assert told in " ".join(submission.repairs)


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252")


def test_conflicts_in_what_is_read_are_not_decided_here() -> None:
    """A merge conflict within a cell's source makes the file unreadable, with its line."""
    data = counted_twice()
    lines = data.split(b"\n")
    place = next(place for place, line in enumerate(lines) if b"def add_bias" in line)
    other = lines[place].replace(b"(x", b"(y")
    lines[place : place + 1] = [b"<<<<<<< a", lines[place], b"=======", other, b">>>>>>> b"]

    for each in (b"\n".join(lines), data.replace(b"\n=======", b"", 1)):
        assert "a merge conflict in it, from line" in str(read_submission(each, release()).trouble)


def test_everything_in_one_cell_is_read() -> None:
    """A docstring's line that ends with a question mark is not taken for IPython's help."""
    submission = read_submission(changed(in_one_cell), release())

    assert submission.trouble is None and len(set(submission.answers.values())) == 1


def test_an_ending_in_capitals_is_one() -> None:
    """An ending in capitals is recognized."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("work/CH01.IPYNB", solved())

    assert plain().answers == read_submission(made.getvalue(), release()).answers


@settings(deadline=None, max_examples=100)
@given(
    words=st.text("éüßñø ", min_size=1),
    encoding=st.sampled_from(ENCODINGS),
    indent=st.none() | st.integers(0, 3),
    commas=st.sets(st.integers(0, 200)),
    in_archive=st.booleans(),
)
@pytest.mark.night
def test_any_encoding_and_packing_is_read(
    words: str, encoding: str, indent: int | None, commas: set[int], in_archive: bool
) -> None:
    """Any encoding, indentation, extra commas and packing give the same answers."""
    notebook = json.loads(solved())
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": words})
    lines = json.dumps(notebook, ensure_ascii=False, indent=indent).split("\n")
    for n in sorted(n for n in commas if n + 1 < len(lines)):
        if lines[n + 1].lstrip()[:1] in ("]", "}") and lines[n][-1:] not in ("[", "{"):
            lines[n] += ","
    data = "\n".join(lines).encode(encoding, errors="replace")  # the arrows of side paths are in no 8-bit encoding
    submission = read_submission(packed(mine=data) if in_archive else data, release())

    assert (plain().answers, None, ()) == (submission.answers, submission.trouble, submission.eye)
    assert ("UTF-16" in " ".join(submission.repairs)) == ("utf-16" in encoding)
    assert in_archive == ("'mine.ipynb'" in " ".join(submission.repairs))


@settings(deadline=None, max_examples=100)
@given(share=st.floats(0.01, 0.99))
@pytest.mark.night
def test_any_beginning_is_read_as_far_as_it_goes(share: float) -> None:
    """In a truncated file, each answer is the student's or the starter, and the teacher is notified."""
    submission = read_submission(solved()[: int(len(solved()) * share)], release())
    untouched = read_submission(nbformat.writes(release()).encode(), release()).answers

    if submission.trouble is not None:
        assert "breaks off in line" in submission.trouble
    else:
        assert all(text in (plain().answers[name], untouched[name]) for name, text in submission.answers.items())
        assert "breaks off after cell" in submission.eye[0] or "behind its last cell" in " ".join(submission.repairs)


def test_a_few_damaged_letters_cost_themselves() -> None:
    """A file with a broken UTF-8 byte is still read as UTF-8."""
    data = changed(lambda notebook: notebook["cells"][0].update(source="é" * 9)).replace(b"\\u00e9", "é".encode())

    submission = read_submission(data.replace("é".encode(), b"\xc3", 1), release())

    assert "damaged letters in the file: 1;" in submission.eye[0]
    assert "é" * 8 in submission.notebook.cells[0].source


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_file_cut_off_within_a_letter_is_read_so_far(encoding: str) -> None:
    """A file truncated within a letter keeps its encoding, without damaged letters."""
    text = changed(lambda notebook: notebook.update(zzz="")).decode()[:-2] + "é"
    submission = read_submission(text.encode(encoding)[:-1], release())

    assert plain().answers == submission.answers and () == submission.eye
    assert "Latin-1" not in " ".join(submission.repairs)


def test_what_goes_on_behind_the_end_is_told() -> None:
    """Data after the notebook's end is reported to the teacher."""
    submission = read_submission(solved() + b"\n{}", release())

    assert plain().answers == submission.answers
    assert "goes on behind the end of the notebook" in submission.eye[0]


def in_line(number: int, text: bytes) -> bytes:
    """Return the solved notebook with a line inserted before line `number`, counted from 1."""
    lines = solved().split(b"\n")
    return b"\n".join([*lines[: number - 1], text, *lines[number - 1 :]])


def conflict(*places: int) -> bytes:
    """Return the solved notebook with merge conflicts at these lines."""
    data = solved()
    for place in sorted(places, reverse=True):
        lines = data.split(b"\n")
        marks = (b"<<<<<<< HEAD", b"x", b"||||||| base", b"=======", b"y", b"z", b">>>>>>> b")
        data = b"\n".join([*lines[: place - 1], *marks, *lines[place - 1 :]])
    return data


UNREADABLE = {
    "a merge conflict": (conflict(214), "from line 214 to line 220", "keep one of the two versions"),
    "two of them": (conflict(20, 90), "from line 20 to line 26", "There is 1 more further down"),
    "a stray word": (in_line(9, b"oops"), "line 9, column 1 wants", "`oops`", "Open With, Editor", "mend that line"),
    "single quotes": (str(json.loads(solved())).encode(), "line 1, column 2, has `'`", "Python printed it"),
    "a web page": (b"<!DOCTYPE html>\n<html><body>Chapter 1", "it is a web page", "Download raw file"),
    "a script without marks": (b"import torch\n\ndef f(x):\n    return x", "a Python script without marks", "Download"),
    "a PDF": (b"%PDF-1.7\n%\xe2\xe3", "it is a PDF", "File > Download"),
    "nothing": (b"", "the file is empty", "again"),
    "zeros": (b"\0" * 5000, "the file is empty", "again"),
    "a mark of UTF-8 alone": (b"\xef\xbb\xbf", "the file is empty", "again"),
    "a pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\n", "Git LFS pointer", "git lfs pull"),
    "a shortcut": (
        b'{"url": "https://colab.example/x", "doc_id": "1"}',
        "shortcut to Google Drive",
        "Open it in Colab",
    ),
    "what macOS keeps": (b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X", "macOS keeps beside", "without `._`"),
    "no cells": (b'{"nbformat": 4, "cells": []}', "no cells", "the notebook that you worked in"),
    "a list": (b'[{"cell_type": "code"}]', "found a list", "File > Download"),
    "other JSON": (b'{"name": "ada"}', "has no list of cells", "File > Download"),
    "an essay": (b"My essay.", "begins with `My essay.`", "File > Download"),
    "a picture": (b"\x89PNG\r\n\x1a\n", "it is a picture", "File > Download"),
    "an archive of notes": (packed(), "without a notebook", "Hand in the .ipynb"),
    "two notebooks": (packed(a=b"{}", b=b"{}"), "2 notebooks ('a.ipynb', 'b.ipynb')", "the one that counts"),
    "half an archive": (packed(a=b"{}")[:60], "cannot be opened (BadZipFile)", "Hand in the .ipynb"),
    "an archive that unfolds": (packed(a=b" " * (MAX_NOTEBOOK_BYTES + 1)), "32 MB of notebooks", "not read"),
    "an archive of very many": (packed(**{f"d{n}": b"" for n in range(1001)}), "more than 1000 files", "Hand in"),
    "an archive of many": (packed(**{f"d{n}": b"" for n in range(11)}), "11 notebooks; more than 10", "not read"),
    "chapter 6": (
        solved("ch06a_your_handwriting"),
        f"(ch06a_your_handwriting), handed in for {STEM}",
        "assignment here",
    ),
}


@pytest.mark.parametrize(("data", "told"), [(row[0], row[1:]) for row in UNREADABLE.values()], ids=UNREADABLE.keys())
def test_what_cannot_be_read_is_told_with_advice(data: bytes, told: tuple[str, ...]) -> None:
    """The reason for an unreadable file has a line and advice, in at most 500 printable characters."""
    submission = read_submission(data, release(), COURSE.listed)

    assert submission.trouble is not None and all(part in submission.trouble for part in told), submission.trouble
    assert submission.trouble.isprintable() and len(submission.trouble) < 500


def test_an_archive_with_a_password_is_told() -> None:
    """An archive with a password raises UnreadableError."""
    data = bytearray(packed(a=b"{}"))
    entry = data.rindex(b"PK\x01\x02")  # the last entry is the notebook
    data[entry + 8] |= 1

    with pytest.raises(UnreadableError, match="zip archive with a password"):
        read_notebook_contents(bytes(data))


@pytest.mark.parametrize("other", ["ch01b_broadcasting", "ch02a_gradients", "ch04b_when_it_fails", "ch05a_devices"])
def test_each_chapter_is_told_from_the_others(other: str) -> None:
    """A notebook of another chapter is recognized without metadata."""
    notebook = json.loads(solved(other))
    for cell in notebook["cells"]:
        cell["metadata"] = {}
    training = nbformat.read(PROJECT / "notebooks" / "ch04a_training_loop.ipynb", as_version=4)

    submission = read_submission(json.dumps(notebook).encode(), training, COURSE.listed)

    assert f"({other}), handed in for ch04a_training_loop" in str(submission.trouble)
