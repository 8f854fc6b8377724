"""Attacks on the grader's machine and reports: each file below `attacks/teacher/` makes a harmful submission.

The first lines of a file say what it tries, the `share` of all points that the student gets (0, 1, or `any` if that
does not matter), and `says` with a part of the message to the teacher. An attack by notebook changes the bytes of an
honest notebook; an attack by folder fills the student's folder itself.
"""

from __future__ import annotations

import csv
import hashlib
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from runpy import run_path
from typing import Any
from urllib.parse import unquote

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.__main__ import main
from autograder.course.chapter_judge import Judge
from autograder.course.course_location import COURSE_VARIABLE
from autograder.exercises.observation import ExceptionSnapshot
from autograder.grading import class_text_table, verdict_store
from autograder.grading.grade_submission import grade
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.collect_without_symlinks import CollectWithoutSymlinks
from autograder.nbgrader_plugin.export_plugins import Canvas, Moodle, PlainGrades
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.sandbox.execution.run_specification import ExerciseOutcome, Limits, Program
from autograder.submission.extract_submitted_cells import MAX_NOTEBOOK_BYTES
from tests.conftest import UNCONFINED
from tests.graded import ONE, SEED
from tests.made_programs import answers_of
from tests.made_submissions import handed_in, released
from tests.pages import Running, formgraders_view
from tests.sample_course import STEM, make_course

pytestmark = [
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.xdist_group("attacks on the teacher"),
    pytest.mark.night,
]

FOLDER = Path(__file__).parent / "attacks" / "teacher"
NOTEBOOKS, FILES = sorted(FOLDER.glob("notebooks/*.py")), sorted(FOLDER.glob("files/*.py"))
PAGES = [path for path in NOTEBOOKS if "4242" in path.read_text() or path.stem in ("slow_markdown", "half_letters")]
ALL_PAGES = "all pages"  # the student whose notebook combines all attacks on HTML pages
SECRET = "what only the teacher may know"
HONEST = '=honest, of "all"'  # a name that a spreadsheet would compute as a formula, with characters that need quotes

# Folder names as students or other file systems make them; nbgrader cannot grade some of them.
ODD = ("-rf", "tab\tx", "<b>'\"&", "a,b", "{student_id}", "\u202eevil", "\U0001f600")
NOT_NBGRADERS = (*map(os.fsdecode, (b"caf\xe9", b"caf\xff")), "two\nlines", "\x1b[31mred", "l" * 240)
LARGE = 1_000_000  # bytes; larger notebooks are only graded one by one, not in the class
# Feedback is the slowest part of the cycle, so only students whose attacks concern it get some.
GET_FEEDBACK = (ALL_PAGES, HONEST, "pages", "looks_graded", *(path.stem for path in FILES if "link" in path.stem))


def told(attack: Path) -> dict[str, str]:
    """Return the keys in the first lines of an attack."""
    return dict(re.findall(r"^# (share|says): (.*)$", attack.read_text(encoding="utf-8"), re.MULTILINE))


def fingerprint(*folders: Path) -> str:
    """Return a hash of the names and contents of all files in some folders, which no submission may change."""
    paths = [path for folder in folders for path in sorted(folder.rglob("*")) if "__pycache__" not in path.parts]
    parts = [str(path).encode() + (path.read_bytes() if path.is_file() else b"") for path in paths]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder with the exercises of the sample chapter."""
    return make_course(tmp_path_factory.mktemp("attacked") / "course")


@pytest.fixture(scope="module")
def judge(course: Path) -> Judge:
    """Return the judge of this chapter."""
    return Judge(course, STEM)


@pytest.fixture(scope="module")
def release(judge: Judge) -> NotebookNode:
    """Return a notebook as students get it."""
    return released(judge)


@pytest.fixture(scope="module")
def honest(judge: Judge, release: NotebookNode) -> bytes:
    """Return a submission of the worked solutions."""
    return handed_in(release, {name: judge.chapter.solution(name) for name in judge.chapter.exercises})


def test_there_are_many() -> None:
    """There are many attacks of each family, and each states its purpose and its share."""
    assert len(NOTEBOOKS) >= 50 and len(FILES) >= 25 and len(PAGES) >= 15
    for path in (*NOTEBOOKS, *FILES):
        assert path.read_text().startswith("# Tries to ") and told(path)["share"] in ("0", "1", "any"), path


@pytest.mark.parametrize("attack", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_graded_or_named(attack: Path, judge: Judge, release: NotebookNode, honest: bytes) -> None:
    """Each attacking notebook gets a verdict: the points of its answers, or none with a reason."""

    def runner(program: Program, _limits: Limits) -> dict[str, ExerciseOutcome]:
        solved = {name: ExerciseOutcome(judge.keys.full_key(name, SEED).reference) for name in judge.chapter.exercises}
        other = ExerciseOutcome(raised=ExceptionSnapshot("NotImplementedError", ""))
        rows = answers_of(program).items()
        return {name: solved[name] if text.startswith(judge.chapter.solution(name)) else other for name, text in rows}

    data = run_path(str(attack))["handed_in"](honest)[: MAX_NOTEBOOK_BYTES + 1]
    verdict = grade(data, release, judge, SEED, runner)

    check_share(verdict, told(attack))
    assert verdict == SubmissionVerdict.from_json(verdict.to_json())


def check_share(verdict: SubmissionVerdict, keys: dict[str, str]) -> None:
    """Assert that the verdict has the share and message of an attack, and a reason if it has no points."""
    notes = " ".join((verdict.trouble or "", *verdict.eye, *verdict.repairs))
    assert keys["share"] == "any" or verdict.score == float(keys["share"]) * verdict.max_score, notes
    assert keys.get("says", "") in notes and (verdict.trouble is not None) == (keys["share"] == "0"), notes


# --- a class of them


@dataclass(frozen=True)
class Attacked:
    """A class of attackers after the whole cycle of grading."""

    course: Path
    failures: dict[str, str]
    outside: tuple[str, str]  # fingerprints, before and after
    grades: str

    def verdict(self, student: str) -> SubmissionVerdict:
        """Return the stored verdict of one student."""
        found = verdict_store.read_verdict(self.course, STEM, student)
        assert found is not None, self.failures.get(student)
        return found


@pytest.fixture(scope="module")
def attacked(course: Path, honest: bytes) -> Iterator[Attacked]:
    """Yield a class of all attacks with an honest student behind them."""
    with pytest.MonkeyPatch.context() as monkeypatch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))
        yield run_class(course, honest)


def run_class(course: Path, honest: bytes) -> Attacked:
    """Write each attack directly into `submitted`, without collecting; then grade, write feedback, and export."""
    outside, grades = make_outside(course.parent, honest), course.parent / "grades.csv"
    cycle = NbgraderCycle(course, STEM)
    cycle.generate()
    page = reduce(lambda data, attack: run_path(str(attack))["handed_in"](data), PAGES, honest)
    (submitted(course, ALL_PAGES) / f"{STEM}.ipynb").write_bytes(page)
    for attack in FILES:
        run_path(str(attack))["hand_in"](submitted(course, attack.stem), honest, outside)
    for attack in NOTEBOOKS:
        data = run_path(str(attack))["handed_in"](honest)
        if len(data) < LARGE:
            (submitted(course, attack.stem) / f"{STEM}.ipynb").write_bytes(data)
    for student in (*ODD, *NOT_NBGRADERS, HONEST):
        (submitted(course, student) / f"{STEM}.ipynb").write_bytes(honest)
    untouchable = (outside, *(course / name for name in ("chapters", "answers", "source", "release")))
    before, students = fingerprint(*untouchable), sorted(cycle.students(), key=lambda name: (name == HONEST, name))
    failures = cycle.autograde(students, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
    failures |= cycle.feedback([student for student in students if student in GET_FEEDBACK])
    cycle.export(grades)
    return Attacked(course, failures, (before, fingerprint(*untouchable)), grades.read_text())


def make_outside(folder: Path, honest: bytes) -> Path:
    """Make files of the teacher's that attacks try to read or to overwrite."""
    outside = folder / "outside"
    outside.mkdir()
    (outside / "secret.txt").write_text(SECRET)
    (outside / "secret.ipynb").write_bytes(honest.replace(b"# ", f"# {SECRET} ".encode(), 1))
    (outside / f"{STEM}.ipynb").write_bytes((outside / "secret.ipynb").read_bytes())
    return outside


def submitted(course: Path, student: str) -> Path:
    """Return a student's empty folder."""
    folder = course / "submitted" / student / STEM
    folder.mkdir(parents=True)
    return folder


@pytest.mark.parametrize("attack", FILES, ids=lambda path: path.stem)
def test_submission_is_graded_or_named(attack: Path, attacked: Attacked) -> None:
    """The class table has a verdict or a reason for each attacker's folder."""
    rows = {row.student: row for row in class_text_table.class_rows(attacked.course, STEM, attacked.failures)}
    keys = told(attack)

    if rows[attack.stem].verdict is None:
        assert keys["share"] == "0" and "notebook" in " ".join(rows[attack.stem].notes)
    else:
        check_share(attacked.verdict(attack.stem), keys)


def test_class_goes_on(attacked: Attacked) -> None:
    """The honest student, who comes last, gets every point."""
    verdict = attacked.verdict(HONEST)

    assert verdict.max_score == verdict.score
    assert all((attacked.course / "feedback" / student / STEM).is_dir() for student in (HONEST, ALL_PAGES))


def test_nothing_outside_has_changed(attacked: Attacked) -> None:
    """No file of the teacher's or the course's changed, and no pickle was executed."""
    assert attacked.outside[0] == attacked.outside[1] and not Path("/tmp/pickled").exists()


def test_nothing_of_the_teachers_comes_back(attacked: Attacked) -> None:
    """Graded folders hold only plain files, and none contains the teacher's secret."""
    for step in ("autograded", "feedback", "verdicts"):
        for path in (attacked.course / step).rglob("*"):
            assert not path.is_symlink() and (path.is_dir() or path.is_file()), path
            assert path.is_dir() or SECRET.encode() not in path.read_bytes(), path


def test_feedback_holds_our_pages_only(attacked: Attacked) -> None:
    """The feedback contains no HTML page that a student handed in."""
    pages = [path for step in ("autograded", "feedback") for path in (attacked.course / step).rglob("*.*htm*")]

    assert {f"{STEM}.html"} == {path.name for path in pages}
    assert all(STEM in path.read_text() and path.parent.parent.parent.name == "feedback" for path in pages)


@pytest.mark.parametrize("student", [ALL_PAGES, "pages"])
def test_no_page_runs_what_a_student_wrote(student: str, attacked: Attacked) -> None:
    """Feedback, and formgrader's view of the autograded notebook, run nothing of a student's."""
    notebook = attacked.course / "autograded" / student / STEM / f"{STEM}.ipynb"
    feedback = attacked.course / "feedback" / student / STEM / f"{STEM}.html"

    assert [] == Running(feedback.read_text()).bad
    assert [] == Running(formgraders_view(notebook)).bad


def test_autograded_notebook_holds_our_outputs_only(attacked: Attacked) -> None:
    """The autograded notebook keeps no attachments, metadata or outputs of a student's."""
    notebook = nbformat.read(attacked.course / "autograded" / ALL_PAGES / STEM / f"{STEM}.ipynb", as_version=4)

    assert "4242" not in str(notebook.metadata)
    for cell in notebook.cells:
        mark = cell.metadata.get("nbgrader", {})
        assert "attachments" not in cell and cell.cell_type != "raw" and "4242" not in str((cell.metadata, cell.id))
        assert mark.get("grade") or not cell.get("outputs")
        for output in cell.get("outputs", ()):
            kinds = set(output.get("data", {"text/plain": ""}))
            assert kinds <= {"text/html", "text/plain"} and not Running(output.get("data", {}).get("text/html", "")).bad


def test_export_is_no_formula(attacked: Attacked) -> None:
    """In the exported grades, a name that a spreadsheet would compute is quoted as text."""
    rows = {row["student_id"]: row for row in csv.DictReader(io.StringIO(attacked.grades))}

    assert float(rows[f"'{HONEST}"]["score"]) > 0 and HONEST not in rows


# --- every command, on a terminal without UTF-8


@pytest.fixture
def typed(attacked: Attacked, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str]]:
    """Return a function that runs a command in the class's course, with its status and output as ASCII."""
    monkeypatch.setenv(COURSE_VARIABLE, str(attacked.course))

    def run(*words: str) -> tuple[int, str]:
        told = io.BytesIO()
        for name in ("stdout", "stderr"):
            monkeypatch.setattr(sys, name, io.TextIOWrapper(told, encoding="ascii", write_through=True))
        return main(words), told.getvalue().decode("ascii")

    return run


@pytest.mark.parametrize(("command", "status"), [("grade", 1), ("summary", 0)])
def test_class_is_told(command: str, status: int, attacked: Attacked, typed: Callable[..., tuple[int, str]]) -> None:
    """Commands list all students, whatever their folders' names, and a reason for those that cannot be graded."""
    found, told = typed(command, STEM)

    everybody = {each.parent.name for each in (attacked.course / "submitted").glob(f"*/{STEM}")}
    assert {*ODD, *NOT_NBGRADERS} <= everybody
    assert status == found and f"\n{len(everybody)} submissions; not read or not graded: " in told, told[-2000:]
    assert all(re.search(rf"^{re.escape(name)} +\d+/", told, re.MULTILINE) for name in ("-rf", "a,b", "\\U0001f600")), (
        told
    )


@pytest.mark.parametrize("student", [*ODD, *NOT_NBGRADERS])
def test_feedback_and_drafts(student: str, attacked: Attacked, typed: Callable[..., tuple[int, str]]) -> None:
    """For a student of any name, `feedback` and `learn` either succeed or print an error."""
    is_graded = student in ODD
    written = typed("feedback", STEM, f"--student={student}")
    learned = typed("learn", str(attacked.course / "submitted" / student / STEM), "add_bias")

    assert (not is_graded, not is_graded) == (bool(written[0]), bool(learned[0])), (written, learned)
    assert all("error: " in told and "Traceback" not in told for status, told in (written, learned) if status), learned
    if is_graded:
        (attacked.course / "feedback" / student / STEM / f"{STEM}.html").read_text(encoding="utf-8")


def test_report(attacked: Attacked, typed: Callable[..., tuple[int, str]]) -> None:
    """The report has one page for each student, and all its files are UTF-8."""
    status, told = typed("report")
    assert not status, told

    reports, everybody = attacked.course / "reports", class_text_table.class_rows(attacked.course, STEM)
    links = re.findall(r'href="(students/[^"]+)"', (reports / "students.html").read_text(encoding="utf-8"))
    assert len(everybody) == len(set(links)) == len(list((reports / "students").iterdir()))
    for path in (each for each in reports.rglob("*") if each.is_file()):
        assert path.read_bytes().decode("utf-8"), path
    for link in links:
        assert (reports / unquote(link)).is_file()


@pytest.mark.parametrize("exporter", [PlainGrades, Canvas, Moodle])
def test_exports(exporter: type[Any], attacked: Attacked, tmp_path: Path) -> None:
    """Each export lists every student of the gradebook."""
    cycle = NbgraderCycle(attacked.course, STEM)
    plugin = exporter(parent=cycle.api)
    plugin.to = str(tmp_path / "table.csv")
    with cycle.api.gradebook as gradebook:
        plugin.export(gradebook)
        known = [student.id for student in gradebook.students]

    table = (tmp_path / "table.csv").read_bytes().decode("utf-8")
    rows = ["".join(row) for row in csv.reader(io.StringIO(table))]
    assert set(ODD) <= set(known) and all(any(name in row for row in rows) for name in known)


# --- the exchange


@pytest.mark.parametrize("attack", FILES, ids=lambda path: path.stem)
def test_collecting_follows_no_link(
    attack: Path, course: Path, tmp_path: Path, honest: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """Collecting an attack copies no file behind a link, or logs that it was not collected."""
    outside, source, collected = make_outside(tmp_path, honest), tmp_path / "in" / STEM, tmp_path / "collected"
    source.mkdir(parents=True)
    run_path(str(attack))["hand_in"](source, honest, outside)
    before = fingerprint(outside)

    cycle = NbgraderCycle(course, STEM, tmp_path)
    CollectWithoutSymlinks(coursedir=cycle.api.coursedir, parent=cycle.api).do_copy(str(source), str(collected))

    plain = [path for path in collected.rglob("*") if not path.is_symlink()]
    assert all(path.is_file() or path.is_dir() for path in plain) and before == fingerprint(outside)
    assert not any(
        path.is_file() and SECRET.encode() in path.read_bytes() for path in plain if path.stat().st_size < 1e8
    )
    assert collected.is_dir() or "was not collected" in caplog.text
