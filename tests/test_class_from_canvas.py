"""A class of forty from Canvas, a third of it in groups and ten of its files odd, is graded in a container."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.authoring.example_class import ExampleClass, copy_files_for_grading
from autograder.grading.verdict_store import SEED_VARIABLE
from tests.conftest import needs_confinement
from tests.graded import SEED, WHOLE, graded_class, group
from tests.made_downloads import canvas_link, canvas_name, write_zip
from tests.small_chapter import PROJECT, SAMPLE
from tests.walls import LANDLOCK, starter

STEM = WHOLE
pytestmark = [pytest.mark.night, group(STEM), needs_confinement]

TEAMS = {f"Team {n}": range(29 + 3 * n, 32 + 3 * n) for n in range(4)}  # the numbers of the last twelve students
# What each team handed in, of the example class; one of them an answer that does not compile.
OF_TEAMS = dict(zip(TEAMS, ("perfect", "wrong-01", "syntax-error", "right-01"), strict=True))
# Ten odd submissions: what is handed in for it, of the example class, and under which name.
ODD = {
    1: ("broken-json", "hw.ipynb"),
    2: ("cut-off", "hw.ipynb"),
    3: ("renamed-file", "Copy of hw (1).ipynb"),
    4: ("zipped", "homework.zip"),
    5: ("endless-loop", "hw.ipynb"),
    6: ("process-death", "hw.ipynb"),
    7: ("", "answers.pdf"),
    8: ("", "link.html"),
    9: ("wrong-02", "hw-1.ipynb"),  # the second attempt, and late
    10: ("", ""),  # nothing
}
EVERYDAY = ("untouched", "right-02", "wrong-03", "wrong-04", "missing-checks", "from-colab", "stripped-metadata")


def handed_in(number: int) -> str:
    """Return which student of the example class handed in what this student did; "" if it was no notebook."""
    team = next((team for team, members in TEAMS.items() if number in members), None)
    if team:
        return OF_TEAMS[team]
    return ODD[number][0] if number in ODD else EVERYDAY[number % len(EVERYDAY)]


def name_of(number: int) -> tuple[str, str]:
    """Return the last and first name; two students have the same."""
    return ("Müller", "Ida") if number in (11, 12) else (f"Last{number:02}", f"First{number:02}")


def download(graded: ExampleClass) -> dict[str, bytes]:
    """Return the files of Canvas's zip."""
    data = {student.name: student.data for student in graded.students} | {"": b"%PDF-1.4"}
    files = {canvas_name("Guest", "A", 999, 700): data["perfect"], canvas_name("Last09", "First09", 9, 601): b"{}"}
    for number in range(1, 29):
        kind, name = ODD.get(number, ("", "hw.ipynb"))
        if name == "link.html":
            files[f"last08first08_{number}_link.html"] = canvas_link("https://x.example.org/nb")
        elif name:
            sent = canvas_name(*name_of(number), number, 601 + number, name, is_late=number == 9)
            files[sent] = data[kind if number in ODD else handed_in(number)]
    for team, members in TEAMS.items():
        files[f"{team.lower().replace(' ', '')}_{members[1]}_{800 + members[0]}_ours.ipynb"] = data[OF_TEAMS[team]]
    return files


def test_a_class_of_forty_in_groups_from_zip_to_grades(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    """Each student, alone or of a team, gets in Canvas's file what the same file earned otherwise, or no grade."""
    graded = graded_class(STEM, request)
    project, course = tmp_path / "project", tmp_path / "project" / "course"
    copy_files_for_grading(SAMPLE, course, STEM)
    shutil.copyfile(SAMPLE / "pyproject.toml", project / "pyproject.toml")
    roster = [f'"{last}, {first}",{n},S{n},s{n:02},A' for n in range(1, 41) for last, first in [name_of(n)]]
    (project / "students.csv").write_text("Student,ID,SIS User ID,SIS Login ID,Section\n" + "\n".join(roster) + "\n")
    members = [f"x,{n},S{n},s{n:02},A,{team},{team[-1]}" for team, numbers in TEAMS.items() for n in numbers]
    head = "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id\n"
    (project / "groups.csv").write_text(head + "\n".join(members) + "\n")
    write_zip(project / "submissions.zip", download(graded))

    def run(*words: str, status: int = 0) -> str:
        env = {**os.environ, SEED_VARIABLE: str(SEED), "PYTHONPATH": str(PROJECT)}
        command = [*starter(LANDLOCK), sys.executable, "-m", *words]
        ran = subprocess.run(command, cwd=course, env=env, capture_output=True, text=True, check=False)
        assert ran.returncode == status, ran.stdout + ran.stderr
        return ran.stdout

    assert "Landlock" in run("autograder", "doctor")
    run("nbgrader", "generate_assignment", STEM)
    run("autograder", "roster", "../students.csv")
    run("autograder", "roster", "../groups.csv")
    told = run("autograder", "collect", "../submissions.zip", STEM, status=1)
    assert "the group Team 3: one submission for s38, s39, s40" in told and "LATE (1): s09" in told
    assert "missing (1): s10" in told and "s08: a link in place of a file: https://x.example.org/nb." in told
    assert "left: guesta_999_700_hw.ipynb" in told
    run("autograder", "grade", STEM, status=1)
    run("nbgrader", "export", "--exporter", "autograder.nbgrader_plugin.export_plugins.Canvas", "--to", "out.csv")

    with graded.grades.open(encoding="utf-8") as file:
        earned = {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
    with (course / "out.csv").open(newline="", encoding="utf-8") as file:
        found = {int(row["ID"]): row[STEM] for row in csv.DictReader(file) if row["ID"]}
    unread = {"", "broken-json"}
    wanted = {n: None if handed_in(n) in unread else earned[handed_in(n)] for n in range(1, 41)}
    assert wanted == {number: float(score) if score else None for number, score in found.items()}
    assert 4 == sum(score is None for score in wanted.values()) and len(set(wanted.values())) > 5
