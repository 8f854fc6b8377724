"""One small class, graded in every possible way and after every interruption, always has the same results."""

from __future__ import annotations

import errno
import hashlib
import logging
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from nbconvert.writers import FilesWriter
from sqlalchemy import text

from autograder.__main__ import main
from autograder.authoring.example_class import copy_files_for_grading
from autograder.authoring.example_students import ExampleClassMaker
from autograder.diagnosis.verdict import Status, Verdict
from autograder.errors import WorkFailed
from autograder.grading import class_text_table, verdict_store
from autograder.grading.assignment import read_assignment
from autograder.grading.assignment_grader import get_grader
from autograder.grading.grading_executors import WorkerOptions
from autograder.grading.merge_regraded_verdicts import RegradeOptions
from autograder.nbgrader_plugin.course_lock import LOCK_FILE
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.nbgrader_plugin.teacher_settings import SETTINGS
from tests.conftest import UNCONFINED, needs_confinement
from tests.processes import PYTHONPATH, all_end, living_in
from tests.sample_course import STEM
from tests.small_chapter import SAMPLE

SEED = 77
CLASS = ("perfect", "untouched", "wrong-01", "renamed-file", "zipped", "broken-json")
ONE = WorkerOptions(count=1, stays=True)

pytestmark = [
    pytest.mark.xdist_group("whole runs"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]


@pytest.fixture(autouse=True)
def _seed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))


@pytest.fixture(autouse=True)
def _interruptible() -> Iterator[None]:
    """Restore the handler of SIGINT, which a shell disables for background processes."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder with the submissions of six students."""
    course = tmp_path_factory.mktemp("whole") / "course"
    copy_files_for_grading(SAMPLE, course, STEM)
    NbgraderCycle(course, STEM).generate()
    made_from = get_grader(read_assignment(course, STEM, unconfined=UNCONFINED))
    for student in ExampleClassMaker(made_from.judge, made_from.release).students():
        if student.name in CLASS:
            folder = course / "submitted" / student.name / STEM
            folder.mkdir(parents=True)
            (folder / student.filename).write_bytes(student.data)
            (folder / "timestamp.txt").write_text("2026-01-01 12:00:00 UTC")
    return course


def copied(folder: Path) -> Path:
    """Return a copy of a course folder, always at the same place, so that this process's graders are reused."""
    copy = folder.with_name("copy")
    shutil.rmtree(copy, ignore_errors=True)
    return Path(shutil.copytree(folder, copy))


@pytest.fixture(scope="module")
def undisturbed(handed_in: Path) -> Path:
    """Return that folder after an undisturbed run in this process."""
    course = copied(handed_in)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))
        assert {} == NbgraderCycle(course, STEM).autograde(
            CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED)
        )
    return Path(shutil.copytree(course, course.with_name("undisturbed")))


@pytest.fixture(scope="module")
def expected(undisturbed: Path) -> dict[str, Any]:
    """Return the results of that run."""
    return results(undisturbed)


@pytest.fixture
def course(handed_in: Path, expected: dict[str, Any]) -> Path:
    """Return a copy without any grades."""
    return copied(handed_in)


@pytest.fixture
def graded(undisturbed: Path) -> Path:
    """Return a copy in which every student is graded, with unchanged file times."""
    return copied(undisturbed)


def results(course: Path) -> dict[str, Any]:
    """Return the students' rows of nbgrader's gradebook, and hashes of the files in `autograded/`."""
    with sqlite3.connect(course / "gradebook.db") as database:
        marks = database.execute(
            "select student_id, base_cell.name, auto_score, manual_score, extra_credit, needs_manual_grade"
            " from grade join base_cell on base_cell.id = grade.cell_id"
            " join submitted_notebook on submitted_notebook.id = grade.notebook_id"
            " join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id order by 1, 2"
        ).fetchall()
        comments = database.execute(
            "select student_id, base_cell.name, auto_comment, manual_comment"
            " from comment join base_cell on base_cell.id = comment.cell_id"
            " join submitted_notebook on submitted_notebook.id = comment.notebook_id"
            " join submitted_assignment on submitted_assignment.id = submitted_notebook.assignment_id order by 1, 2"
        ).fetchall()
        handed = database.execute(
            "select student_id, timestamp, late_submission_penalty from submitted_assignment join submitted_notebook"
            " on submitted_notebook.assignment_id = submitted_assignment.id order by 1"
        ).fetchall()
    files = sorted(path for path in (course / "autograded").rglob("*") if path.is_file())
    told = {str(path.relative_to(course)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    return {"marks": marks, "comments": comments, "handed": handed, "files": told}


def command(course: Path, *arguments: str) -> subprocess.Popen[str]:
    """Start a command in a course folder, with its temporary files beside it."""
    shutil.rmtree(temporary(course), ignore_errors=True)  # a killed command leaves files behind
    temporary(course).mkdir()
    return subprocess.Popen(
        [sys.executable, "-P", "-m", *arguments],
        cwd=course,
        env=dict(os.environ) | {"PYTHONPATH": PYTHONPATH, "TMPDIR": str(temporary(course))},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def temporary(course: Path) -> Path:
    """Return the folder for the temporary files of a course's commands."""
    return course.with_name(f"{course.name}-temporary")


def finished(run: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the exit status of a command, and its output."""
    told, _ = run.communicate(timeout=300)
    return run.returncode, told


def wait_for(is_so: Callable[[], bool]) -> None:
    """Wait until a condition is true, two minutes at most."""
    end = time.monotonic() + 120
    while not is_so() and time.monotonic() < end:
        time.sleep(0.02)


def wait_for_verdicts(course: Path, number: int) -> None:
    """Wait until this many verdict files exist."""
    folder = course / "verdicts" / STEM
    wait_for(lambda: len(list(folder.glob("[!.]*.json"))) >= number)


def all_gone(group: int) -> bool:
    """Return whether the processes of a process group end within a minute."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.1)
    return False


def test_run_is_worth_comparing(expected: dict[str, Any]) -> None:
    """The results contain full, partial and no points, extra credit, and a comment on an unanswered task."""
    scores = {name: sum(row[2] for row in expected["marks"] if row[0] == name) for name in CLASS}

    assert scores["perfect"] == scores["renamed-file"] == scores["zipped"]
    assert scores["perfect"] > scores["wrong-01"] > 0 == scores["untouched"]
    assert any(row[4] for row in expected["marks"]) and any(row[2] == "No response." for row in expected["comments"])
    assert all(row[1].startswith("2026-01-01") for row in expected["handed"])


@pytest.mark.parametrize("workers", [WorkerOptions(count=2), WorkerOptions(dask_local=1)], ids=["pool", "Dask"])
def test_workers_change_nothing(course: Path, expected: dict[str, Any], workers: WorkerOptions) -> None:
    """Two processes, or a Dask worker, give the same results."""
    assert {} == NbgraderCycle(course, STEM).autograde(
        CLASS, how=GradingOptions(workers=workers, unconfined=UNCONFINED)
    )
    assert expected == results(course)


def test_formgraders_button_changes_nothing(graded: Path, expected: dict[str, Any]) -> None:
    """Formgrader's button gives the same results."""
    assert NbgraderCycle(graded, STEM).api.autograde(STEM, "perfect", force=True)["success"]
    assert expected == results(graded)


LATE = """
[due]
{stem} = "2025-12-31 11:00Z"
[extended.{stem}]
{extended}
[late]
points_per_day = 2
"""


def penalties(course: Path) -> dict[str, float]:
    """Return the late penalty of each student."""
    return {student: penalty for student, _, penalty in results(course)["handed"] if penalty}


def test_deadlines_are_applied_whenever_they_are_decided(graded: Path, expected: dict[str, Any]) -> None:
    """Later changes of due dates and extensions change the penalties, and no verdicts."""
    before = {path: path.read_bytes() for path in (graded / "verdicts").rglob("[!.]*.json")}

    def decided(text: str) -> dict[str, float]:
        (graded / SETTINGS).write_text(text)
        cycle = NbgraderCycle(graded, STEM)
        assert {} == cycle.autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
        assert {each.student: each.penalty for each in cycle.late if each.penalty} == penalties(graded)
        return penalties(graded)

    score = {name: sum(row[2] for row in expected["marks"] if row[0] == name) for name in CLASS}
    everybody = {name: 4.0 for name in CLASS if score[name] >= 4}
    assert everybody == decided(LATE.format(stem=STEM, extended=""))
    soon = {**everybody, "zipped": 2.0}
    assert soon == decided(LATE.format(stem=STEM, extended='zipped = "2025-12-31 13:00Z"'))
    later = {name: points for name, points in everybody.items() if name != "zipped"}
    assert later == decided(LATE.format(stem=STEM, extended='zipped = "2026-01-03"'))
    assert {} == decided(f'[due]\n{STEM} = "2026-02-01"\n')
    assert everybody == decided(LATE.format(stem=STEM, extended="")) and {} == decided("[late]\npoints_per_day = 2\n")
    assert before == {path: path.read_bytes() for path in (graded / "verdicts").rglob("[!.]*.json")}


def test_formgraders_button_knows_the_deadlines(graded: Path) -> None:
    """Formgrader's button applies the deadlines."""
    (graded / SETTINGS).write_text(LATE.format(stem=STEM, extended='zipped = "2025-12-31 13:00Z"'))
    for student in ("zipped", "perfect"):
        assert NbgraderCycle(graded, STEM).api.autograde(STEM, student, force=True)["success"]

    assert {"zipped": 2.0, "perfect": 4.0} == penalties(graded)


def test_points_that_changed_are_told_before_anything_is_graded(graded: Path, expected: dict[str, Any]) -> None:
    """Changed points raise an error before grading, because the gradebook does not know them yet."""
    chapter = graded / "chapters" / f"{STEM}.py"
    chapter.write_text(chapter.read_text().replace('check="add_bias" points=1', 'check="add_bias" points=2'))

    with pytest.raises(
        WorkFailed, match=r"add_bias \(1 there, 2 in the chapter\)\. Nothing was graded\. Run `nbgrader"
    ):
        NbgraderCycle(graded, STEM).autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
    assert expected == results(graded)


def test_what_a_grading_would_change_is_told_first(graded: Path, expected: dict[str, Any]) -> None:
    """A preview lists changed points, and writes nothing."""
    chapter = graded / "chapters" / f"{STEM}.py"
    chapter.write_text(chapter.read_text().replace('check="add_bias" points=1', 'check="add_bias" points=2'))

    seen = NbgraderCycle(graded, STEM).preview(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))

    assert {"perfect": {"add_bias": (1, 2)}} == {
        each.student: each.points for each in seen.changes if each.student == "perfect"
    }
    assert not seen.failures and not any(each.is_first for each in seen.changes)
    assert expected == results(graded)


def test_one_exercise_is_graded_again_and_nobody_loses(graded: Path) -> None:
    """Regrading one exercise changes only that, and `never_lower` keeps better scores."""
    with_faults(graded, "perfect", Status.FAIL)
    with_faults(graded, "wrong-01", Status.PASS)
    cycle, one = NbgraderCycle(graded, STEM), RegradeOptions(only=frozenset({"add_bias"}))
    cycle.autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED, force=True, again=one))

    assert (1.0, 0.0) == (score(cycle, "perfect", "add_bias"), score(cycle, "perfect", "describe"))

    keep = RegradeOptions(never_lower=True)
    cycle.autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED, force=True, again=keep))

    assert (1.0, 1.0) == (score(cycle, "perfect", "add_bias"), score(cycle, "perfect", "describe"))
    kept = [row.notes for row in class_text_table.class_rows(graded, STEM) if row.student == "wrong-01"]
    assert any("the better score of an earlier grading counts: " in note for note in kept[0]), kept


def with_faults(course: Path, student: str, status: Status) -> None:
    """Replace the verdicts of a student in every exercise."""
    found = verdict_store.read_verdict_file(course, STEM, student)
    assert found is not None
    reports = [replace(each, verdicts=(Verdict("all", status, "No."),)) for each in found.verdict.reports]
    verdict_store.write_verdict_file(
        course, student, replace(found, verdict=replace(found.verdict, reports=tuple(reports)))
    )


def score(cycle: NbgraderCycle, student: str, exercise: str) -> float:
    """Return the share of an exercise's points in the gradebook."""
    with cycle.api.gradebook as gradebook:
        grade = gradebook.find_grade(f"check_{exercise}", STEM, STEM, student)
        return float(grade.auto_score / grade.max_score)


def test_a_score_by_hand_that_is_older_is_told(graded: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A manual score still counts, and is listed if the graded points have changed since.

    Grading one student lists only that student's.
    """
    cycle = NbgraderCycle(graded, STEM)
    with cycle.api.gradebook as gradebook:
        for name in ("check_add_bias", "check_describe"):
            gradebook.find_grade(name, STEM, STEM, "wrong-01").manual_score = 0.5
        gradebook.db.commit()
    cycle.autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
    assert {} == cycle.scored_before  # nothing changed since the manual score

    cycle.autograde(["wrong-01"], how=GradingOptions(workers=ONE, unconfined=UNCONFINED, force=True))
    assert {} == cycle.scored_before  # the same file has the same points

    with_faults(graded, "wrong-01", Status.PASS)
    one = RegradeOptions(only=frozenset({"add_bias"}))
    cycle.autograde(["wrong-01"], how=GradingOptions(workers=ONE, unconfined=UNCONFINED, force=True, again=one))
    assert {"wrong-01": ("check_add_bias",)} == cycle.scored_before

    unconfined = ["--unconfined"] if UNCONFINED else []
    for student in ("perfect", "wrong-01"):
        main(["--root", str(graded), "grade", STEM, "--workers", "1", "--student", student, *unconfined])
    one, other = capsys.readouterr().out.split("student ")[1:]
    assert "wrong-01" not in one and "perfect" not in other and "Scored by hand before this grading" in other


def test_killed_run_goes_on_where_it_was(course: Path, expected: dict[str, Any]) -> None:
    """A killed run leaves no process or file, and the next run gives the same results."""
    run = command(course, "autograder", "grade", STEM, "--workers", "2")
    wait_for_verdicts(course, 2)
    run.kill()
    finished(run)
    graded = len(list((course / "verdicts" / STEM).glob("[!.]*.json")))

    assert 2 <= graded and all_gone(run.pid) and all_end(temporary(course))
    wait_for(lambda: not any(temporary(course).iterdir()))
    assert [] == list(temporary(course).iterdir())
    assert {} == NbgraderCycle(course, STEM).autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
    assert expected == results(course)


def test_interrupted_run_stops_at_once_and_nbgraders_own_command_goes_on(
    course: Path, expected: dict[str, Any]
) -> None:
    """Ctrl-C stops a run at once without a traceback, and `nbgrader autograde` completes it.

    nbgrader's command records the same results, and lists the files of a submission without a notebook.
    """
    run = command(course, "autograder", "grade", STEM, "--workers", "2")
    wait_for_verdicts(course, 1)
    os.killpg(run.pid, signal.SIGINT)
    status, told = finished(run)

    assert 130 == status and "Traceback" not in told and "stopped" in told, told
    assert all_gone(run.pid) and all_end(temporary(course))

    (course / "submitted" / "essay" / STEM).mkdir(parents=True)
    (course / "submitted" / "essay" / STEM / "essay.txt").touch()
    status, told = finished(command(course, "nbgrader", "autograde", STEM))

    assert (0, expected) == (status, results(course)), told
    assert "checksum" not in told and "essay: there is no notebook in the submission (found: 'essay.txt')" in told


def test_question_that_is_left_in_its_midst_tells_nothing(graded: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Ctrl-C during a database query logs nothing, although its cursor cannot be closed."""
    logging.getLogger("sqlalchemy.pool").setLevel(logging.NOTSET)
    with NbgraderCycle(graded, STEM).api.gradebook as gradebook:
        connection = gradebook.db.connection()
        asked = connection.execute(text("select name from assignment"))
        cursor = mock.Mock(wraps=asked.cursor)
        cursor.close.side_effect = sqlite3.ProgrammingError("Cannot operate on a closed database.")
        connection._safe_close_cursor(cursor)
        asked.close()

    assert [] == [each for each in caplog.records if each.name.startswith("sqlalchemy")]


@needs_confinement
@pytest.mark.parametrize("moment", ["starts", "works"])
def test_run_stops_while_what_the_workers_share_begins(course: Path, moment: str) -> None:
    """Ctrl-C stops a run at once, even before the first worker or verdict."""
    run = command(course, "autograder", "grade", STEM, "--workers", "2")
    wait_for(lambda: len(living_in(temporary(course))) >= (1 if moment == "starts" else 3))
    os.killpg(run.pid, signal.SIGINT)
    status, told = finished(run)

    assert 130 == status and "Traceback" not in told and "stopped" in told, told
    assert all_end(temporary(course)) and [] == list(temporary(course).glob("fork-server-*"))


@needs_confinement
def test_death_of_what_the_workers_share_costs_nobody_anything(course: Path, expected: dict[str, Any]) -> None:
    """If the shared process is killed, it is restarted, and the results are the same."""
    run = command(course, "autograder", "grade", STEM, "--workers", "2")
    wait_for_verdicts(course, 1)
    begun = Path(f"/proc/{run.pid}/task/{run.pid}/children").read_text().split()
    (shared,) = set(living_in(temporary(course))) & set(map(int, begun))
    os.kill(shared, signal.SIGKILL)
    status, told = finished(run)

    assert 0 == status, told
    assert expected == results(course)


def test_disk_that_fills_up_while_nbgrader_writes_costs_nobody_points(
    course: Path, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk gives each student a reason, and the next run the same results."""
    write, written = FilesWriter.write, []

    def full(self: FilesWriter, output: str, *args: Any, **kwargs: Any) -> Any:
        written.append(output)
        if len(written) > 1:
            Path(self.build_directory, f"{STEM}.ipynb").write_text(output[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(self, output, *args, **kwargs)

    with monkeypatch.context() as disk:
        disk.setattr(FilesWriter, "write", full)
        failures = NbgraderCycle(course, STEM).autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))

    assert len(CLASS) - 1 == len(failures) and all("No space left on device" in reason for reason in failures.values())
    assert {} == NbgraderCycle(course, STEM).autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
    assert expected == results(course)


def test_half_written_result_is_made_again(graded: Path, expected: dict[str, Any]) -> None:
    """A result that the gradebook does not contain is made again, although its folder exists."""
    found = verdict_store.read_verdict_file(graded, STEM, "perfect")
    assert found is not None
    verdict_store.store_unrecorded_verdict(graded, "perfect", found.verdict)  # as if it were not recorded
    half = graded / "autograded" / "perfect" / STEM / f"{STEM}.ipynb"
    half.chmod(0o644)
    half.write_text("{")
    NbgraderCycle(graded, STEM).autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))

    assert expected == results(graded)


def test_second_run_changes_no_file(graded: Path) -> None:
    """A second run without changes writes no file."""

    def stamps() -> dict[str, int]:
        files = [*(graded / "verdicts").rglob("*"), *(graded / "autograded").rglob("*"), graded / "gradebook.db"]
        # The lock names the running command, which is no result.
        return {str(path): path.stat().st_mtime_ns for path in files if path.name != LOCK_FILE.name}

    before = stamps()
    assert {} == NbgraderCycle(graded, STEM).autograde(CLASS, how=GradingOptions(workers=ONE, unconfined=UNCONFINED))
    assert before == stamps()
