"""Pictures attached to an answer, and files beside it, reach the graded notebook and the feedback."""

from __future__ import annotations

import base64
import io
import json
import struct
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_markdown_cell, new_notebook
from PIL import Image

from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.sandbox.execution.notebook_runner import validated_outputs
from autograder.submission import attached_pictures
from autograder.submission.count_picture_pixels import picture_pixels
from autograder.submission.extract_submitted_cells import read_notebook_contents
from autograder.submission.repair_teacher_assignment_submission import repair_teacher_assignment_submission
from tests.conftest import UNCONFINED
from tests.own_assignments import Own, answer, by_hand, graded, hand_in, write_source
from tests.own_examples import PICTURE
from tests.sample_course import make_course

JPEG = base64.b64encode(b"\xff\xd8\xff\xe0" + b"x" * 20).decode()
SVG = base64.b64encode(b"<svg onload='alert(1)'/>").decode()
PNG = {"image/png": PICTURE}


def read(*cells: Any, release: tuple[Any, ...] = ()) -> tuple[list[Any], tuple[str, ...]]:
    """Return the cells as shown, and the notes for the teacher."""
    found = read_notebook_contents(json.dumps({**new_notebook(), "cells": list(cells)}).encode())
    made = repair_teacher_assignment_submission(found.cells, new_notebook(cells=list(release)))
    nbformat.validate(made.notebook)
    return made.notebook.cells, found.eye


def text(source: str, **attached: dict[str, Any]) -> Any:
    """Return a text cell with these attachments."""
    cell = new_markdown_cell(source)
    cell["attachments"] = {name.replace("_", "."): bundle for name, bundle in attached.items()}
    return cell


def test_a_picture_is_shown_where_it_stood() -> None:
    """A picture gets a new name and is shown at its place, with its lines of base64 joined."""
    ((cell,), _) = read(text("See ![plot](attachment:my%20plot.png) here.", **{"my plot_png": {"image/png": PICTURE}}))
    ((other,), _) = read(text("![](attachment:a.jpg)", a_jpg={"image/jpeg": [JPEG[:8] + "\n", JPEG[8:]]}))

    assert ("See ![plot](attachment:picture-1) here.", {"picture-1": PNG}) == (cell.source, cell.attachments)
    assert {"picture-1": {"image/jpeg": JPEG}} == other.attachments


def test_pictures_that_colab_keeps_in_the_text() -> None:
    """Colab's inline pictures become attachments if they are real pictures."""
    ((cell,), _) = read(text(f"Look: ![image.png](data:image/png;base64,{PICTURE})"))
    ((bad,), _) = read(text(f"![image.png](data:image/png;base64,{SVG})"))

    assert "Look: ![image.png](attachment:picture-1)" == cell.source and {"picture-1": PNG} == cell.attachments
    assert bad.source.startswith("```") and "attachments" not in bad


@pytest.mark.parametrize(
    "bundle",
    [{"image/svg+xml": SVG}, {"image/png": SVG}, {"text/html": SVG}, {"image/png": "<script>"}, {"image/png": 3}, []],
)
def test_what_is_no_picture_is_not_kept(bundle: Any) -> None:
    """An attachment that is no picture is removed, and its text shown as typed."""
    ((cell,), _) = read(text("![x](attachment:x)", x=bundle))

    assert "attachments" not in cell and "```\n![x](attachment:x)\n```" == cell.source


def _drawn(size: tuple[int, int], kind: str, **how: Any) -> bytes:
    """Return a picture of one color."""
    data = io.BytesIO()
    Image.new("RGB", size).save(data, kind, **how)
    return data.getvalue()


@pytest.mark.parametrize(
    ("kind", "how"),
    [
        ("png", {}),
        ("gif", {}),
        ("jpeg", {}),
        ("jpeg", {"progressive": True, "comment": b"an afternoon"}),
        ("webp", {}),
        ("webp", {"lossless": True}),
        ("webp", {"exif": b"Exif\0\0"}),
    ],
)
def test_its_size_is_known_before_it_is_shown(kind: str, how: dict[str, Any]) -> None:
    """The number of pixels is read from each format's header."""
    assert 41 * 30 == picture_pixels(f"image/{kind}", _drawn((41, 30), kind, **how))
    assert 0 == picture_pixels(f"image/{kind}", _drawn((41, 30), kind, **how)[:6])


def test_a_picture_that_unfolds_to_gigabytes_is_not_kept() -> None:
    """A picture with too many pixels is removed."""
    small = bytearray(base64.b64decode(PICTURE))
    for side, kept in ((7_000, True), (60_000, False)):
        small[16:24] = struct.pack(">II", side, side)
        picture = {"image/png": base64.b64encode(small).decode()}

        ((cell,), _) = read(text("![x](attachment:x)", x=picture))

        assert kept == ("attachments" in cell)


def test_a_drawing_that_unfolds_to_gigabytes_is_not_kept() -> None:
    """An output picture with too many pixels is replaced by its text, or by a note."""
    small, shown = bytearray(base64.b64decode(PICTURE)), {}
    for side in (7_000, 60_000):
        small[16:24] = struct.pack(">II", side, side)
        drawn = {"image/png": base64.b64encode(small).decode()}
        told = [{"output_type": "display_data", "data": {**text, **drawn}} for text in ({}, {"text/plain": "<Figure>"})]
        shown[side] = [each["data"] for each in validated_outputs(json.dumps(told).encode())]

    assert [{"image/png"}, {"image/png", "text/plain"}] == [set(each) for each in shown[7_000]]
    assert [
        {"text/plain": "(a picture of more than 50 million pixels, which is not shown)"},
        {"text/plain": "<Figure>"},
    ] == shown[60_000]


def test_text_that_is_more_than_text_stands_as_typed_above_its_picture() -> None:
    """A text with HTML or dangerous links is shown as code above its picture."""
    for told in ("<b>x</b>", "[![x](attachment:a.png)](javascript:y)", "![web](https://x.org/a.png)"):
        ((cell,), _) = read(text(f"{told} ![x](attachment:a.png)", a_png=PNG))

        assert f"```\n{told} ![x](attachment:a.png)\n```\n\n![picture-1](attachment:picture-1)" == cell.source


def test_a_missing_picture_is_no_picture() -> None:
    """A text that refers to a missing picture is shown as code."""
    ((cell,), _) = read(text("![a](attachment:a.png) ![b](attachment:b.png)", a_png=PNG))

    assert cell.source.startswith("```\n") and cell.source.endswith("![picture-1](attachment:picture-1)")


def test_the_teachers_picture_can_be_shown_again() -> None:
    """An answer can show the question's own picture."""
    question = by_hand("essay", "![q](attachment:q.png)")
    question["attachments"] = {"q.png": PNG}
    mine = by_hand("essay", "![q](attachment:q.png) ![a](attachment:a.jpg)")
    mine["attachments"] = {"a.jpg": {"image/jpeg": JPEG}}
    ((cell,), _) = read(mine, release=(question,))
    ((same,), _) = read(question, release=(question,))

    assert "![q](attachment:q.png) ![a](attachment:picture-1)" == cell.source
    assert {"q.png": PNG, "picture-1": {"image/jpeg": JPEG}} == cell.attachments
    assert {"q.png": PNG} == same.attachments


def test_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures beyond the size limit are left out, and the teacher is notified."""
    monkeypatch.setattr(attached_pictures, "MAX_PICTURE_CHARACTERS", 2 * len(PICTURE))
    cells, eye = read(*(text("![a](attachment:a.png)", a_png=PNG) for _ in range(3)))

    assert [True, True, False] == ["attachments" in cell for cell in cells]
    assert ("1 of its 3 pictures are too many or too large, and are not shown",) == eye


ESSAY = Own(
    cells=(answer("f"), graded("t", "assert f(1) == 1"), by_hand("essay")),
    students={"ada": {"f": "def f(x): return x", "essay": "See ![it](attachment:dot.png)."}},
    changes={"ada": lambda cells: cells[2].update(attachments={"dot.png": PNG})},
)


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
@pytest.mark.night
def test_pictures_and_files_reach_the_feedback(tmp_path: Path) -> None:
    """Plain files are in both result folders, byte for byte, and a student's HTML page in neither."""
    course = make_course(tmp_path / "course")
    write_source(course, "hw", ESSAY)
    cycle = NbgraderCycle(course, "hw")
    cycle.generate()
    hand_in(course, "hw", ESSAY)
    beside = {"data/rows.csv": b"1,2\n", "plot.png": base64.b64decode(PICTURE), "notes.txt": b"\xe9 no UTF-8"}
    for name, data in {**beside, "page.html": b"<script>alert(1)</script>"}.items():
        path = course / "submitted" / "ada" / "hw" / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    assert {} == cycle.autograde(["ada"], how=GradingOptions(unconfined=UNCONFINED))
    assert {} == cycle.feedback(["ada"])

    for step in ("autograded", "feedback"):
        folder = course / step / "ada" / "hw"
        assert beside == {name: (folder / name).read_bytes() for name in beside}
        assert not (folder / "page.html").exists()
    page = (course / "feedback" / "ada" / "hw" / "hw.html").read_text(encoding="utf-8")
    assert f'src="data:image/png;base64,{PICTURE}" alt="it"' in page
