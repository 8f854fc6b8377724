"""Only one process at a time writes into a course; another fails with one line, and a killed one leaves no lock."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.course.course_location import COURSE_VARIABLE
from autograder.errors import WorkFailed
from autograder.nbgrader_plugin.course_lock import LOCK_FILE, lock_course
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from tests.sample_course import STEM, make_course
from tests.small_chapter import PROJECT

pytestmark = [pytest.mark.skipif(sys.platform == "win32", reason="nothing is locked there"), pytest.mark.night]

HOLDS = """
import sys, time
from pathlib import Path
from autograder.nbgrader_plugin.course_lock import lock_course
with lock_course(Path(sys.argv[1]), "grade ch01"):
    print("held", flush=True)
    time.sleep(600)
"""


def course_with_a_submission(folder: Path) -> Path:
    """Return a course in which ada has handed in a notebook without cells."""
    course = make_course(folder / "course")
    handed_in = course / "submitted" / "ada" / STEM
    handed_in.mkdir(parents=True)
    (handed_in / f"{STEM}.ipynb").write_bytes(b"{}")
    return course


@contextmanager
def held_elsewhere(course: Path) -> Iterator[subprocess.Popen[str]]:
    """Start another process that holds the lock of a course."""
    command = [sys.executable, "-c", HOLDS, str(course)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as other:
        assert other.stdout and "held\n" == other.stdout.readline()
        try:
            yield other
        finally:
            other.kill()


def test_second_one_is_told_of_the_first(tmp_path: Path) -> None:
    """A second command fails with one line that names the first; when the first has ended, it runs."""
    with held_elsewhere(tmp_path) as other:
        match = rf"^`grade ch01`, process {other.pid} on .*, is at work in "
        with pytest.raises(WorkFailed, match=match) as told, lock_course(tmp_path, "grade ch02"):
            pass
        assert "\n" not in str(told.value) and other.poll() is None
    with lock_course(tmp_path, "grade ch02"), lock_course(tmp_path, "feedback ch02"):
        assert "grade ch02" in (tmp_path / LOCK_FILE).read_text()


def test_killed_one_leaves_no_lock_and_no_file(tmp_path: Path) -> None:
    """The next command removes the temporary files of a killed one, and no other files."""
    verdicts, handed_in = tmp_path / "verdicts" / STEM, tmp_path / "submitted" / "ada" / STEM
    unfinished = [verdicts / ".ada.json.123.tmp", handed_in / f".{STEM}.ipynb.5.tmp"]
    others = [verdicts / "ada.json", handed_in / ".notes.tmp", handed_in / "data.1.tmp", tmp_path / ".x.1.tmp"]
    with held_elsewhere(tmp_path) as other:
        for path in (*unfinished, *others):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        os.kill(other.pid, signal.SIGKILL)
        other.wait()
    with lock_course(tmp_path, "grade"):
        assert not any(path.exists() for path in unfinished) and all(path.exists() for path in others)


def test_link_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    """Locking writes through no link, and removes nothing in a linked folder."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / LOCK_FILE).parent.mkdir()
    (tmp_path / LOCK_FILE).symlink_to(tmp_path / "mine")
    (tmp_path / "folder" / STEM).mkdir(parents=True)
    (tmp_path / "folder" / STEM / ".mine.1.tmp").touch()
    (tmp_path / "submitted").mkdir()
    (tmp_path / "submitted" / "ada").symlink_to(tmp_path / "folder")
    with lock_course(tmp_path, "grade"):
        assert "mine" == (tmp_path / "mine").read_text()
    (tmp_path / LOCK_FILE).unlink()
    with lock_course(tmp_path, "grade"):
        assert (tmp_path / "folder" / STEM / ".mine.1.tmp").exists()


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_commands_wait_for_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each command that writes fails at once with one line; one that only reads still runs."""
    course = course_with_a_submission(tmp_path)
    (people := tmp_path / "people.csv").write_text("id\nada\n")
    monkeypatch.setenv(COURSE_VARIABLE, str(course))
    with held_elsewhere(course):
        for command in (["grade", STEM], ["feedback", STEM], ["collect", "none.zip", STEM], ["roster", str(people)]):
            assert 1 == main(command)
            assert "is at work" in (told := capsys.readouterr().err) and 1 == told.count("\n"), told
        assert 0 == main(["summary", STEM])
        assert not (course / "gradebook.db").exists()


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_nbgraders_own_command_waits_for_nobody(tmp_path: Path) -> None:
    """nbgrader's own autograde logs which process holds the lock, and releases its own lock at the end."""
    course = course_with_a_submission(tmp_path)
    NbgraderCycle(course, STEM).generate()

    def autograde() -> str:
        command = [sys.executable, "-m", "nbgrader", "autograde", STEM]
        return subprocess.run(command, cwd=course, capture_output=True, text=True, check=False).stderr

    with held_elsewhere(course) as other:
        told = autograde()
        assert f"process {other.pid} on" in told and "Traceback" not in told
    assert "is at work" not in autograde()
    with lock_course(course, "grade"):
        pass


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_killed_while_it_generated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """If a killed process left no release, the next grading generates it again."""
    course = course_with_a_submission(tmp_path)
    monkeypatch.setenv(COURSE_VARIABLE, str(course))
    (cycle := NbgraderCycle(course, STEM)).generate()
    assert cycle.is_generated()
    shutil.rmtree(course / "release" / STEM)
    assert not cycle.is_generated()

    assert 0 == main(["grade", STEM]), capsys.readouterr().err
    assert cycle.is_generated() and "ada" in capsys.readouterr().out
