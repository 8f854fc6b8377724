"""The whole cycle with Canvas or Moodle: roster and zip in, file with grades out."""

from __future__ import annotations

import csv
import io
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.grading.verdict_store import SEED_VARIABLE
from tests.graded import SEED, WHOLE, graded_class, group
from tests.made_downloads import canvas_name, moodle_name, write_zip

STEM = WHOLE

pytestmark = [group(STEM), pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")]

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
    Points Possible,,,,
"Lovelace, Ada",41,S1,ada,Group 1
"Ng, Bob",42,S2,bob,Group 2
"Day, Cleo",43,S3,cleo,Group 1
"""
MOODLE = """\
First name,Last name,Username,ID number,Department,Email address
Dan,O'Neil,dan,S4,Maths,dan@example.org
Eve,Åström,eve,S5,Maths,eve@example.org
"""


def packed(data: bytes) -> bytes:
    """Return a zip archive with a notebook."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(zipfile.ZipInfo("folder/my work.ipynb"), data)
    return held.getvalue()


def exported(course: Path, system: str) -> dict[str, dict[str, str]]:
    """Return the rows that nbgrader's export command writes for a system, by the students' numbers there."""
    words = ["export", "--exporter", f"autograder.nbgrader_plugin.export_plugins.{system}", "--to", "out.csv"]
    code = "import sys; from nbgrader.apps.nbgraderapp import main; sys.exit(main())"
    subprocess.run([sys.executable, "-c", code, *words], cwd=course, check=True, capture_output=True)
    with (course / "out.csv").open(newline="", encoding="utf-8") as file:
        return {row["ID" if system == "Canvas" else "ID number"]: row for row in csv.DictReader(file)}


def test_from_zips_to_grades(
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Scores equal those from the exchange, in the columns of the imported rosters."""
    graded = graded_class(STEM, request)
    course = Path(shutil.copytree(graded.course, tmp_path / "course"))
    data = {student.name: student.data for student in graded.students}
    monkeypatch.setenv(SEED_VARIABLE, str(SEED))
    canvas = {
        canvas_name("Lovelace", "Ada", 41, 501, "Copy of ch01.ipynb"): data["perfect"],
        canvas_name("Ng", "Bob", 42, 502, "ch01 (2)-1.ipynb", is_late=True): data["wrong-01"],
        canvas_name("Guest", "A", 99, 503): data["perfect"],
    }
    moodle = {
        moodle_name("Dan ONeil", 101, "my work.zip"): packed(data["perfect"]),
        moodle_name("ASTROM Eve", 102, "ch01.ipynb", tie="_/"): data["untouched"],
    }

    def command(*words: str) -> tuple[int, str]:
        return main(["--root", str(course), *words]), capsys.readouterr().out

    for roster, files in ((CANVAS, canvas), (MOODLE, moodle)):
        (tmp_path / "students.csv").write_text(roster, encoding="utf-8")
        assert 0 == command("roster", str(tmp_path / "students.csv"))[0]
        status, told = command("collect", str(write_zip(tmp_path / "download.zip", files)), STEM)
        assert (status, "students: 2 new" in told) == (int(files is canvas), True)
        assert ("LATE (1): bob" in told) is (files is canvas)
    assert (course / "submitted" / "bob" / STEM / f"{STEM}.ipynb").read_bytes() == data["wrong-01"]
    assert (course / "submitted" / "dan" / STEM / "my work.zip").read_bytes() == packed(data["perfect"])
    (course / "submitted" / "cleo" / STEM).mkdir(parents=True)
    (course / "submitted" / "cleo" / STEM / "essay.txt").touch()
    status, told = command("grade", STEM, "--workers", "1")
    table = told[told.index("student ") : told.index("manual scores")]
    assert status == 1 and table in command("summary", STEM)[1]
    told = command("grade", STEM, "--workers", "1", "--student", "dan")[1]
    assert "\ndan " in told and "\neve " not in told and "\nbob " not in told

    with (graded.grades).open(encoding="utf-8") as file:
        earned = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    found = exported(course, "Canvas")
    assert [earned["perfect"], earned["wrong-01"], ""] == [
        row[STEM] and float(row[STEM]) for row in (found["41"], found["42"], found["43"])
    ]
    assert ("S2", "bob", "Group 2") == tuple(found["42"][name] for name in ("SIS User ID", "SIS Login ID", "Section"))
    found = exported(course, "Moodle")
    assert [earned["perfect"], earned["untouched"]] == [float(found[who][STEM]) for who in ("S4", "S5")]
    assert "Maths" == found["S4"]["Department"]
