"""`forget`: everything of a student goes, everything of the others stays."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.nbgrader_plugin.gradebook_scores import read_students
from autograder.nbgrader_plugin.open_nbgrader import open_gradebook
from autograder.nbgrader_plugin.preflight_checks import gradebook_write_error
from autograder.nbgrader_plugin.teacher_settings import read_teacher_settings

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

TEACHER = """\
# mine
[due]
hw = 2026-11-30
[extended.hw]
zoe = 2026-12-02
bob = 2026-12-03
"""


@pytest.fixture(autouse=True)
def _no_alembic(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a new gradebook without the program that upgrades old ones, which takes seconds."""
    monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")


def made_course(course: Path) -> Path:
    """Make a course in which zoe and bob have something everywhere; no id of nbgrader's, in hex digits, reads zoe."""
    (course / "chapters").mkdir(parents=True)
    (course / "nbgrader_config.py").write_text(f"get_config().CourseDirectory.root = {str(course)!r}\n")
    (course / "teacher.toml").write_text(TEACHER)
    (course / "roster.json").write_text(json.dumps({"zoe": {"Section": "Zoe"}, "bob": {"Section": "Bob"}}))
    (course / ".nbgrader.log").write_text("graded zoe")
    for path in (
        "submitted/{}/hw/hw.ipynb",
        "autograded/{}/hw/hw.ipynb",
        "feedback/{}/hw/hw.html",
        "verdicts/hw/{}.json",
    ):
        for student in ("zoe", "bob"):
            (course / path.format(student)).parent.mkdir(parents=True, exist_ok=True)
            (course / path.format(student)).write_text(f"of {student}")
    (course / "reports" / "students").mkdir(parents=True)
    (course / "reports" / "students.html").write_text("zoe, bob")
    with open_gradebook(course) as book:
        book.add_assignment("hw")
        book.add_notebook("hw", "hw")
        book.add_grade_cell("check", "hw", "hw", max_score=3, cell_type="code")
        for student, name in (("zoe", "Lovelace"), ("bob", "Bobson")):
            book.add_student(student, last_name=name)
            book.add_submission("hw", student)
    return course


def files(course: Path) -> dict[str, bytes]:
    """Return the content of every file of a course."""
    found = (Path(folder) / name for folder, _, names in os.walk(course) for name in names)
    return {str(path.relative_to(course)): path.read_bytes() for path in found if path.name != ".at-work"}


def test_nothing_is_left_of_a_student(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With `--yes` no file names the student any more, and the others keep all; without it nothing changes."""
    course = made_course(tmp_path / "course")
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
        book.executescript("create table old (x); insert into old values (zeroblob(99999)); drop table old")
    before = files(course)

    assert 0 == main(["--root", str(course), "forget", "zoe"])
    told = capsys.readouterr().out
    assert before == files(course) and "Nothing was deleted: add --yes." in told
    for line in ("submitted/zoe", "autograded/zoe", "feedback/zoe", "verdicts/hw/zoe.json", "the extension of hw"):
        assert line in told
    assert "the gradebook: Lovelace, and scores and comments in hw" in told and "bob" not in told
    assert "Not reached: nbgrader's exchange" in told

    assert 0 == main(["--root", str(course), "forget", "zoe", "--yes"])
    after = files(course)
    assert not [name for name, data in after.items() if "zoe" in name or b"zoe" in data or b"Lovelace" in data]
    with contextlib.closing(sqlite3.connect(course / "gradebook.db")) as book:
        assert (0,) == book.execute("pragma freelist_count").fetchone()  # pages that still hold what was deleted
    own = {name for name in before if "bob" in name}
    assert own and {name: before[name] for name in own} == {name: after[name] for name in own}
    assert ["bob"] == list(read_teacher_settings(course).extended["hw"]) and after["teacher.toml"].startswith(
        b"# mine\n"
    )
    assert {"bob": {"Section": "Bob"}} == json.loads(after["roster.json"])
    with open_gradebook(course) as book:
        assert ["bob"] == [person.id for person in read_students(book)]
        assert ["bob"] == [each.student_id for each in book.assignment_submissions("hw")]
    assert 1 == main(["--root", str(course), "forget", "zoe", "--yes"])


def test_what_is_no_student_is_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A path or a pattern in place of an id deletes nothing."""
    course = made_course(tmp_path / "course")
    before = files(course)

    for name in ("..", ".", "", "../course", "b*", "bob/hw", ".at-work"):
        assert 1 == main(["--root", str(course), "forget", name, "--yes"])
        assert before == files(course) and "holds nothing of" in capsys.readouterr().err


def test_a_link_is_removed_and_not_followed(tmp_path: Path) -> None:
    """Where a link stands in place of a student's folder, only the link goes."""
    course = made_course(tmp_path / "course")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").touch()
    (course / "submitted" / "eve").symlink_to(tmp_path / "elsewhere")

    assert 0 == main(["--root", str(course), "forget", "eve", "--yes"])
    assert (tmp_path / "elsewhere" / "kept").is_file() and not (course / "submitted" / "eve").is_symlink()


def test_a_locked_gradebook_stops_it_before_anything_is_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be deleted as a whole is not begun."""
    course = made_course(tmp_path / "course")
    before = files(course)

    def locked(*_: object) -> None:
        raise gradebook_write_error(course, Exception("database is locked"))

    monkeypatch.setattr("nbgrader.api.Gradebook.remove_student", locked)

    assert 1 == main(["--root", str(course), "forget", "zoe", "--yes"])
    assert before == files(course)
