"""`make quick`: style and types, and the tests of what has changed, in less than a minute.

Changed is what git does not hold yet, and what no branch that is pushed holds. The nearest tests run first, and only
as long as there is time; what was left out is told, for `make test` to run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tests import belonging
from tests.asked import UNTIL
from tests.small_chapter import PROJECT

SECONDS = 45  # when they are over, no other test begins
PYTEST = (sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup")
PROOF = ("tests/test_bank.py",)  # proves every exercise, one by one
# Each of these takes ten seconds and more.
SLOW = (
    *("attacks", "attacks_on_teacher", "bank", "class_run", "colab", "example_class", "fuzz", "graded_banks", "leaks"),
    *("learn", "mutation", "other_cells", "other_processors", "parity", "progress_travels", "reporting", "setup"),
    *("check_and_grading", "collect_whole", "site", "whole_runs"),
)


def git(*words: str) -> str:
    """What git says; "" where it cannot."""
    done = subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def pushed() -> str:
    """The last commit that is on the branch's upstream too, or on origin's main branch; else the last there is."""
    for branch in ("@{upstream}", "origin/main"):
        if base := git("merge-base", "HEAD", branch).strip():
            return base
    return "HEAD"


def changed(base: str) -> list[str]:
    """The files that differ from a commit, deleted and new ones too."""
    told = git("diff", "--name-only", base) + git("ls-files", "--others", "--exclude-standard")
    return sorted(set(told.splitlines()))


def exercises(files: Iterable[str], base: str) -> list[str]:
    """The exercises that have changed: in their file, their bank, or their cell of the chapter."""
    found = belonging.exercises(PROJECT, files)
    for file in files:
        if file.startswith("course/chapters/"):
            before = belonging.cells(git("show", f"{base}:{file}"))
            after = belonging.cells((PROJECT / file).read_text()) if (PROJECT / file).is_file() else {}
            found |= {name for name, cell in after.items() if cell != before.get(name)}
    return sorted(found)


def near(files: Sequence[str]) -> dict[str, int]:
    """The test modules that belong to changed files, the nearest first, each with its distance."""
    known = sorted((PROJECT / "tests").glob("test_*.py"))
    far = {test.relative_to(PROJECT).as_posix(): belonging.distance(PROJECT, test, files) for test in known}
    return dict(sorted((each for each in far.items() if each[1] is not None), key=lambda each: each[1]))


def parted(far: dict[str, int], proved: bool) -> tuple[list[str], list[str]]:
    """The modules to run, and those to leave out: slow ones that have not changed themselves, and what is proved."""
    apart = PROOF if proved else ()
    left = [test for test in far if test not in apart and far[test] and Path(test).stem.removeprefix("test_") in SLOW]
    return [test for test in far if test not in (*left, *apart)], left


def commands(names: Sequence[str], tests: Sequence[str]) -> Iterator[list[str]]:
    """What is run, one after the other."""
    yield ["make", "--no-print-directory", "lint"]
    if names:
        yield [*PYTEST, *PROOF, "-k", " or ".join(names)]
    if tests:
        yield [*PYTEST, *tests]


def main() -> int:
    """Run what belongs to the changes; the exit status is the first that is not 0."""
    begun, base = time.time(), pushed()
    files = changed(base)
    names = exercises(files, base)
    tests, left = parted(near(files), proved=bool(names))
    environment = os.environ | {UNTIL: str(begun + SECONDS)}
    status = 0
    for command in commands(names, tests):
        print(" ".join(command))
        status = status or subprocess.run(command, cwd=PROJECT, env=environment, check=False).returncode
    print(f"{len(files)} changed files, {len(names)} exercises, {len(tests)} test modules: {time.time() - begun:.0f} s")
    if left:
        print(f"left out, for `make test` to run: {' '.join(left)}")
    return status


if __name__ == "__main__":
    sys.exit(main())
