"""Writing the feedback of a class in several processes: nbgrader's pages, for every student."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin import parallel_map
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.nbgrader_plugin.parallel_map import map_in_processes
from tests.conftest import UNCONFINED
from tests.own_assignments import Own, answer, by_hand, graded, hand_in, write_source
from tests.sample_course import make_course
from tests.which_process import dies_with, process_of

CLASS = ("ada", "ben", "cyd", "dan")
OWN = Own(
    (answer("f"), graded("two", "assert f() == 2", 2), by_hand("essay")),
    {student: {"f": f"def f(): return {number}"} for number, student in enumerate(CLASS)},
)

pytestmark = [
    pytest.mark.xdist_group("feedback run"),  # one process, which makes the course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course with a graded class of four."""
    folder = make_course(tmp_path_factory.mktemp("feedback") / "course")
    write_source(folder, "hw", OWN)
    cycle = NbgraderCycle(folder, "hw")
    cycle.generate()
    hand_in(folder, "hw", OWN)
    assert {} == cycle.autograde(
        cycle.students(), how=GradingOptions(workers=WorkerOptions(count=1), unconfined=UNCONFINED)
    )
    return folder


def pages(course: Path) -> dict[str, bytes]:
    """Return the written pages by student."""
    return {path.parents[1].name: path.read_bytes() for path in (course / "feedback").glob("*/hw/hw.html")}


def test_small_class_is_written_here() -> None:
    """A small class is written in this process and in order, since others would first import nbgrader."""
    told = list(map_in_processes(CLASS, process_of, process_of, 8))

    assert [(student, str(os.getpid())) for student in CLASS] == told


def test_large_class_is_shared_out() -> None:
    """A large class is written by other processes, each student once."""
    told = list(map_in_processes(CLASS, process_of, process_of, 2, worth=2))

    assert sorted(CLASS) == sorted(student for student, _ in told)
    assert str(os.getpid()) not in {where for _, where in told}


def test_nobody_is_left_out_where_a_process_dies() -> None:
    """If a process dies, this one writes the remaining pages."""
    told = dict(map_in_processes(CLASS, process_of, partial(dies_with, "ada"), 2, worth=1))

    assert set(CLASS) == set(told)
    assert str(os.getpid()) == told["ada"]


def test_pages_are_those_of_nbgraders_command(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte by byte, written by two processes."""
    monkeypatch.setattr(parallel_map, "map_in_processes", partial(map_in_processes, worth=1))
    command = [sys.executable, "-P", "-m", "nbgrader", "generate_feedback", "hw", "--force"]
    ran = subprocess.run(command, cwd=course, capture_output=True, text=True, check=False)
    assert 0 == ran.returncode, ran.stderr
    theirs = pages(course)
    assert 0 == main(["--root", str(course), "feedback", "hw", "--workers", "2"])

    assert set(CLASS) == set(theirs)
    assert theirs == pages(course)


def test_the_command_names_whom_it_could_not_write(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command names students without feedback, and writes the others' pages anew."""
    broken = course / "autograded" / "ben" / "hw" / "hw.ipynb"
    kept, mode = broken.read_bytes(), broken.stat().st_mode
    broken.chmod(0o644)
    broken.write_text("{ no notebook")
    stale = course / "feedback" / "ada" / "hw"
    stale.mkdir(parents=True, exist_ok=True)
    (stale / "hw.html").write_text("old")
    status = main(["--root", str(course), "feedback", "hw"])
    told = capsys.readouterr().out
    broken.write_bytes(kept)
    broken.chmod(mode)

    assert (1, {"ada", "cyd", "dan"}) == (status, set(pages(course)))
    assert b"old" != pages(course)["ada"]
    assert "Wrote 3 of 4" in told and "ben has no feedback: " in told
    assert 1 == main(["--root", str(course), "feedback", "hw", "--student", "eve"])
    assert "Run `autograder grade hw` first." in capsys.readouterr().err
