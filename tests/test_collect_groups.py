"""A class in groups, by the commands: roster, list of groups, zip, and the letters to those who sent no notebook."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.grading.class_text_table import class_rows
from autograder.reports.class_results import ClassResults
from autograder.reports.report_side_files import letters_about_unreadable_files
from tests.made_downloads import canvas_link, write_zip
from tests.small_chapter import STEM, make_project

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

ROSTER = """\
Student,ID,SIS User ID,SIS Login ID,Section
"Lovelace, Ada",41,S1,ada,A
"Ng, Bob",42,S2,bob,A
"Day, Cleo",43,S3,cleo,B
"Åström, Eve",44,S4,eve,B
"""
GROUPS = """\
name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id
Ada Lovelace,41,S1,ada,A,Team 1,7
Bob Ng,42,S2,bob,A,Team 1,7
Eve Åström,44,S4,eve,B,,
"""
NOTEBOOK = b'{"cells": []}'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a course of one chapter, whose students are in the gradebook."""
    monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
    project = make_project(tmp_path / "project")
    (project / "students.csv").write_text(ROSTER, encoding="utf-8")
    assert 0 == main(["--root", str(project), "roster", str(project / "students.csv")])
    return project


def test_from_a_list_of_groups_to_each_member(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A group's file lies in each member's folder, and who sent a link in its place is told in the letters."""
    course = project / "course"
    (project / "groups.csv").write_text(GROUPS, encoding="utf-8")
    assert 0 == main(["--root", str(project), "roster", str(project / "groups.csv")])
    sent = {
        "team1_42_507_our work.ipynb": NOTEBOOK,
        "daycleo_43_508_hw.ipynb": NOTEBOOK,
        "åströmeve_44_link.html": canvas_link("https://x.example.org/nb"),
    }
    path = write_zip(project / "submissions.zip", sent)
    capsys.readouterr()

    assert 1 == main(["--root", str(project), "collect", str(path), STEM])
    told = capsys.readouterr().out
    assert "students: 3 new\n" in told and "the group Team 1: one submission for ada, bob\n" in told
    assert "eve: a link in place of a file: https://x.example.org/nb." in told and "missing" not in told
    for student in ("ada", "bob", "cleo"):
        assert NOTEBOOK == (course / "submitted" / student / STEM / f"{STEM}.ipynb").read_bytes()
    letters = letters_about_unreadable_files(
        [ClassResults(course, STEM, "Small", tuple(class_rows(course, STEM)))]
    ).decode()
    assert "To: eve\n" in letters and "there is no notebook in it (found: 'link.html')" in letters


def test_without_the_list_the_number_decides_and_it_is_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A group that the roster does not know counts for the one who uploaded its file, with a line."""
    path = write_zip(project / "submissions.zip", {"team1_42_507_hw.ipynb": NOTEBOOK})
    capsys.readouterr()

    assert 0 == main(["--root", str(project), "collect", str(path), STEM])
    told = capsys.readouterr().out
    assert (
        "look at: team1_42_507_hw.ipynb: the number is that of bob, so it counts for bob; the name is another." in told
    )
    assert "If it is a group's, read the groups, then collect again." in told


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "login_id,group_name\nada,Team 1\n,Team 2\n",
            "line 3: the group 'Team 2' has no members. Nothing was changed.",
        ),
        ("login_id,group_name\nzoe,Team 1\n", "names 'zoe', who is not in the gradebook"),
        ("id,lms_user_id\nada,41\nada,42\n", "line 3: 'ada' is there twice, with the numbers 41 and 42."),
        ("id\nADA\n", "'ada' and 'ADA' differ in capitals only"),
    ],
)
def test_lists_that_are_refused(project: Path, text: str, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wrong list has one line, and changes nothing."""
    before = {path: path.read_bytes() for path in (project / "course").rglob("*.json")}
    (project / "groups.csv").write_text(text)
    capsys.readouterr()

    assert 1 == main(["--root", str(project), "roster", str(project / "groups.csv")])
    heard = capsys.readouterr()
    assert ("", 1) == (heard.out, heard.err.count("\n")) and told in heard.err
    assert before == {path: path.read_bytes() for path in (project / "course").rglob("*.json")}
