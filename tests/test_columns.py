"""Columns of imported rosters return in the exported grades."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.errors import CourseError
from autograder.nbgrader_plugin import export_plugins, kept_roster_columns
from autograder.nbgrader_plugin.open_nbgrader import open_nbgrader_api
from tests.small_chapter import make_project

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Integration ID,Section,Essay (7)
,,,,,,Manual Posting
    Points Possible,,,,,,10
"Lovelace, Ada",41,S1,ada,I1,Group 1,9.5
"Ng, Bob",42,S2,,I2,"Group 1 and Group 2",
"""
PLAIN_CANVAS = 'Student,ID,Section,Essay (7)\n    Points Possible,,,10\n"Lovelace, Ada",41,Group 1,9.5\n'
APART = "LastName,FirstName,ID,SIS User ID,SIS Login ID,Section\nLovelace,Ada,41,S1,ada,Group 1\n"
MOODLE = """\
First name,Last name,ID number,Institution,Department,Email address,Course total (Real)
Ada,Lovelace,S1,Our School,Maths,ada@example.org,7.00
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a course, for commands."""
    monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
    return make_project(tmp_path / "project")


def after(project: Path, *rosters: str, to: str) -> list[dict[str, str]]:
    """Return the exported rows after these rosters were imported in order."""
    for text in rosters:
        (project / "students.csv").write_text(text, encoding="utf-8")
        assert 0 == main(["--root", str(project), "roster", str(project / "students.csv"), "--replace"])
    plugin = getattr(export_plugins, to)(to=str(project / "out.csv"), parent=open_nbgrader_api(project / "course"))
    with Gradebook(f"sqlite:///{project / 'course' / 'gradebook.db'}", "pytorch_basics") as book:
        plugin.export(book)
    with (project / "out.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_two_systems_keep_their_numbers(project: Path) -> None:
    """Whichever roster comes last, each export has its own system's number; a number that has changed is changed."""
    of_canvas = 'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",41,ada,A\n'
    of_moodle = "Username,First name,Last name,ID number,Email address\nada,Ada,Lovelace,S1,ada@example.org\n"
    newer = of_moodle.replace("S1", "S2")
    for rosters, number in (
        ((of_canvas, of_moodle), "S1"),
        ((of_moodle, of_canvas), "S1"),
        ((newer, of_canvas), "S2"),
        ((of_moodle,), "S1"),
    ):
        (ada,) = after(project, *rosters, to="Moodle")
        assert ("ada", number) == (ada["Username"], ada["ID number"])
        assert "41" == after(project, to="Canvas")[-1]["ID"]


def test_three_systems_side_by_side(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rosters of three systems replace nothing of one another, and each export has its own system's number."""
    rosters = (
        "Username,ID number,Email address\nada,S1,ada@example.org\n",
        "OrgDefinedId,Username,Last Name,First Name,Email\n#B7,#ada,Lovelace,Ada,ada@example.org\n",
        'Student,ID,SIS Login ID,Section\n"Lovelace, Ada",41,ada,A\n',
    )
    for text in (*rosters, *rosters[::-1]):
        (project / "students.csv").write_text(text, encoding="utf-8")
        assert 0 == main(["--root", str(project), "roster", str(project / "students.csv")])
    numbers = {"Canvas": ("ID", "41"), "Moodle": ("ID number", "S1"), "Brightspace": ("OrgDefinedId", "B7")}

    for system, (column, number) in numbers.items():
        assert number == after(project, to=system)[-1][column]


def test_a_roster_that_would_replace_something_says_it_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without the option nothing is changed, and each value has a line, without signs that move the cursor."""
    after(project, "id,last_name,groups\nada,Love\x1b[2Jlace,Team 1\n", to="Canvas")
    before = (project / "course" / kept_roster_columns.ROSTER_FILE).read_bytes()
    capsys.readouterr()
    (project / "students.csv").write_text("id,last_name,groups\nada,King,Team 2\nbob,Ng,\n")
    assert 1 == main(["--root", str(project), "roster", str(project / "students.csv")])
    told = capsys.readouterr().out

    assert "ada: Groups 'Team 1' -> 'Team 2'\nNothing was changed" in told and "\x1b" not in told
    assert before == (project / "course" / kept_roster_columns.ROSTER_FILE).read_bytes()
    assert ["ada"] == [row["Username"] for row in after(project, to="Brightspace")]


def test_moodles_own_number_may_change(project: Path) -> None:
    """Without another system, Moodle's newest number counts, and Canvas is told none."""
    of_moodle = "Username,ID number,Email address\nada,S1,ada@example.org\n"
    assert "S2" == after(project, of_moodle, of_moodle.replace("S1", "S2"), to="Moodle")[-1]["ID number"]
    assert "" == after(project, to="Canvas")[-1]["ID"]


def test_canvas(project: Path) -> None:
    """Canvas's ids and sections return in the order that its importer needs."""
    _, ada, bob = after(project, CANVAS, to="Canvas")

    assert ["Student", "ID", "SIS User ID", "SIS Login ID", "Integration ID", "Section"] == list(ada)
    assert ["Lovelace, Ada", "41", "S1", "ada", "I1", "Group 1"] == list(ada.values())
    assert ["Ng, Bob", "42", "S2", "", "I2", "Group 1 and Group 2"] == list(bob.values())


@pytest.mark.parametrize(("text", "login"), [(PLAIN_CANVAS, ""), (APART, "ada")])
def test_other_forms_of_canvas(project: Path, text: str, login: str) -> None:
    """Rosters of Canvas without the restricted columns, or with separate name columns, work too."""
    _, ada = after(project, text, to="Canvas")

    assert ("Lovelace, Ada", "41", login, "Group 1") == (
        ada["Student"], ada["ID"], ada["SIS Login ID"], ada["Section"],
    )  # fmt: skip


def test_moodle(project: Path) -> None:
    """Moodle's columns return, except grades."""
    (ada,) = after(project, MOODLE, to="Moodle")

    assert {"ID number": "S1", "Institution": "Our School", "Department": "Maths"}.items() <= ada.items()
    assert ada["Email address"] == "ada@example.org" and "Course total (Real)" not in ada


def test_nothing_is_lost_by_less(project: Path) -> None:
    """A roster with fewer columns keeps the known values, and a changed value replaces them."""
    _, ada = after(project, CANVAS, "id\nada\n", CANVAS.replace("Group 1,9.5", "Group 9,9.5"), to="Canvas")[:2]

    assert ("S1", "Group 9") == (ada["SIS User ID"], ada["Section"])


def test_goes_round(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Importing an exported file changes nothing."""
    after(project, CANVAS, to="Canvas")
    before = (project / "course" / kept_roster_columns.ROSTER_FILE).read_bytes()
    capsys.readouterr()
    main(["--root", str(project), "roster", str(project / "out.csv")])

    assert "2 students: 0 new, 0 changed, 2 as they were\n" == capsys.readouterr().out
    assert before == (project / "course" / kept_roster_columns.ROSTER_FILE).read_bytes()


@pytest.mark.parametrize("text", ["", "[]", '{"ada": 1}'])
def test_damaged(tmp_path: Path, text: str) -> None:
    """A damaged file of columns raises an error that says what to do."""
    (tmp_path / kept_roster_columns.ROSTER_FILE).write_text(text, encoding="utf-8")

    with pytest.raises(CourseError, match="delete it, and import the roster again"):
        kept_roster_columns.load_columns(tmp_path)
