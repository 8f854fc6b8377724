"""A test that reads what it does not say is not remembered."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis.internal import constants_ast

from tests import remembered
from tests.reads import ANSWERS
from tests.small_chapter import PROJECT
from tests.watch import Watch, unsaid

TEXT = f"""
import os, subprocess, sys
from pathlib import Path

PROJECT = Path({str(PROJECT)!r})
COURSE = PROJECT / "course"


def test_nothing():
    assert PROJECT.is_dir() and sorted(COURSE.glob("*.py"))

def test_an_answer():
    (COURSE / "answers" / "ch01_tensors" / "standardize.py").read_bytes()

def test_a_document_by_its_place_in_the_working_folder():
    os.chdir(PROJECT)
    Path("README.md").read_text()

def test_in_another_process():
    code = "from pathlib import Path; Path('notebooks/ch05_gpu_amp.ipynb').read_text()"
    subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=True)

def test_in_a_process_that_is_forked():
    process = os.fork()
    if not process:
        (COURSE / "answers" / "ch03_modules" / "MLP.py").read_bytes()
        os._exit(0)
    os.waitpid(process, 0)

def test_by_the_course():
    from autograder.course.course import course_in
    course_in(COURSE).hints("ch06_capstone")

def test_by_the_course_that_has_read_it_before():
    from autograder.course.course import course_in
    course_in(COURSE).hints("ch06_capstone")
"""


def run(folder: Path) -> str:
    """What pytest says of these tests, with this project's hooks."""
    (folder / "test_reading_more.py").write_text(TEXT)
    words = ("-q", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c", str(PROJECT / "pyproject.toml"))
    command = [sys.executable, "-m", "pytest", *words, "--rootdir", str(folder), str(folder)]
    by_day = {name: value for name, value in os.environ.items() if name != "THOROUGH"}
    ran = subprocess.run(command, cwd=PROJECT, env=by_day, capture_output=True, text=True, check=False)
    return ran.stdout


def test_who_reads_and_does_not_say_so_is_not_remembered(tmp_path: Path) -> None:
    """In this process, in another one, and where the course gives again what it has read; what to write is said."""
    told = run(tmp_path)
    again = run(tmp_path)

    line = r"^test_reading_more reads ([^:\n]+): add it to what tests/reads\.py says of 'reading_more'"
    found = re.findall(line, told, re.M)
    assert [
        "answers/ch01_tensors",
        "answers/ch03_modules",
        "documents",
        "lessons/ch05_gpu_amp",
        "shipped/ch06_capstone",
    ] == found, told
    assert "failed" not in told and "6 passed, 1 skipped" in again


def test_what_a_module_reads_while_it_is_imported_counts_for_all_its_tests() -> None:
    """And for no other module's."""
    watch = Watch()
    module = compile("note(path)", __file__, "exec")
    exec(module, {"note": watch.note, "path": str(PROJECT / "course" / "answers" / "ch02_autograd" / "vjp.py")})
    watch.start()

    for _ in range(2):
        assert "answers/ch02_autograd" in watch.read_by(Path(__file__))
    assert "answers/ch02_autograd" not in watch.read_by(PROJECT / "tests" / "test_grids.py")


@pytest.mark.parametrize("asking", [constants_ast, remembered])
def test_what_others_look_into_counts_for_nobody(asking: ModuleType) -> None:
    """hypothesis reads each module that is there; who asks what another test depends on reads that test."""
    watch = Watch()
    watch.start()
    path = str(PROJECT / "course" / "answers" / "ch02_autograd" / "vjp.py")
    exec(compile("note(path)", str(asking.__file__), "exec"), {"note": watch.note, "path": path})

    assert "answers/ch02_autograd" not in watch.read_by(Path(__file__))


def test_who_reads_an_exercise_may_open_what_stands_around_it() -> None:
    """Its chapter's files, and no other chapter's; nor the lesson."""
    reads = ("exercise/ch02_autograd/vjp",)

    assert "" == unsaid("test_x", {"answers/ch02_autograd", "shipped/ch02_autograd"}, reads)
    assert unsaid("test_x", {"answers/ch03_modules"}, reads) and unsaid("test_x", {"lessons/ch02_autograd"}, reads)


def test_a_kind_alone_is_that_of_every_chapter() -> None:
    """Who reads all answers may read those of one chapter."""
    assert "" == unsaid("test_x", {"answers/ch02_autograd"}, (ANSWERS,))
    assert unsaid("test_x", {"answers/ch02_autograd"}, ("answers/ch01_tensors",)).endswith(
        "what tests/reads.py says of 'x'"
    )
