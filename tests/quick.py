"""`make quick`: style and types, and the tests of what has changed, within a minute of CPU time.

Changed is what git does not hold yet, and what no branch that is pushed holds. The bank of a changed exercise is
judged; of other files, the tests run that import them, the nearest first. The run is red where the engine, the
explorers, the course or the tests have changed and no test of these changes ran.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from autograder.import_closure import import_distances
from tests.small_chapter import PROJECT
from tests.suite import counted

SECONDS = 21.0  # of CPU time for each of two processes of tests; the time for style and types comes to that
_NOTEBOOKS = 2  # that are run at most; each takes some seconds
REPORT = PROJECT / "build" / "suite" / "quick.xml"
_CELL = re.compile(r'# %% .*\bexercise="(\w+)"')
_CODE = ("autograder/", "explorers/", "course/", "tests/")


def git(*words: str) -> str:
    """Return what git prints; "" where it fails."""
    done = subprocess.run(["git", *words], cwd=PROJECT, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def pushed() -> str:
    """Return the last commit that is on the branch's upstream too, or on origin's main branch; else the last."""
    for branch in ("@{upstream}", "origin/main"):
        if base := git("merge-base", "HEAD", branch).strip():
            return base
    return "HEAD"


def changed_files(base: str) -> list[str]:
    """Return the files that differ from a commit, deleted and new ones too."""
    return sorted(
        {*git("diff", "--name-only", base).splitlines(), *git("ls-files", "-o", "--exclude-standard").split()}
    )


def changed_exercises(files: Iterable[str], base: str) -> list[str]:
    """Return the exercises whose file, bank, or cell in a chapter has changed; a helper's are those of its chapter."""
    found: set[str] = set()
    for file in map(Path, files):
        if file.parts[:2] in (("course", "exercises"), ("course", "answers")) and file.suffix == ".py":
            shared = file.stem.startswith("_")
            found |= {path.stem for path in (PROJECT / file).parent.glob("[!_]*.py")} if shared else {file.stem}
        elif file.parts[:2] == ("course", "chapters") and (PROJECT / file).is_file():
            before, after = _cells(git("show", f"{base}:{file}")), _cells((PROJECT / file).read_text(encoding="utf-8"))
            found |= {name for name, cell in after.items() if cell != before.get(name)}
    return sorted(found)


def _cells(chapter: str) -> dict[str, str]:
    found = ((_CELL.match(cell), cell) for cell in re.split(r"(?m)^(?=# %%)", chapter))
    return {match[1]: cell for match, cell in found if match}


def last_day(commit: str) -> list[str]:
    """Return the files that commits changed in the day before this one, and by it: what no whole night has seen."""
    date = int(git("show", "--no-patch", "--format=%ct", commit) or 0)
    return sorted({*git("log", f"--since={date - 86_400}", "--name-only", "--format=", commit).split()})


def tests_of(files: Sequence[str], project: Path, within: int | None) -> list[str]:
    """Return the test modules that have changed, import a changed file or name it, or reach one; the nearest first.

    Unless `within` is None, only those that reach one by at most so many imports.
    """
    paths, names = {project / file for file in files}, {Path(file).name for file in files}
    ranks: dict[str, tuple[int, int]] = {}
    for test in sorted((project / "tests").glob("test_*.py")):
        reached = import_distances([test], [project])
        far = [distance for path, distance in reached.items() if path in paths]
        if any(f'"{name}"' in test.read_text(encoding="utf-8") for name in names):
            far.append(1)
        if far and (
            within is None or min(far) <= within
        ):  # of two that are as near, the one that imports less is about less
            ranks[test.relative_to(project).as_posix()] = min(far), len(reached)
    return sorted(ranks, key=lambda name: ranks[name])


def commands(files: Sequence[str], exercises: Sequence[str], tests: Sequence[str]) -> Iterator[list[str]]:
    """Yield the runs: changed notebooks, the answers and receipts of exercises, then test modules in this order."""
    if notebooks := [file for file in files if file.startswith("notebooks/")][:_NOTEBOOKS]:
        yield ["make", "--no-print-directory", "nbval", f"NOTEBOOKS={' '.join(notebooks)}", f"REPORT={REPORT}"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-n", "2", "--dist", "loadgroup", f"--junitxml={REPORT}"]
    pytest += ["--no-loadscope-reorder", "--cpu-seconds", str(SECONDS)]  # in this order, as long as there is time
    if exercises:
        wanted = " or ".join(["has_a_receipt", *(f"-{name}]" for name in exercises)])
        yield [*pytest, "tests/test_check_and_grading.py", "tests/test_bank.py", "-k", wanted]
    if tests:
        yield [*pytest, "-m", "not night and not slow", *tests]


def main() -> int:
    """Run what belongs to the changes; return the first exit status that is not 0."""
    begun, base = time.time(), pushed()
    files = changed_files(base)
    exercises, tests = changed_exercises(files, base), tests_of(files, PROJECT, within=None)
    REPORT.parent.mkdir(parents=True, exist_ok=True)
    status, ran = subprocess.run(["make", "--no-print-directory", "lint"], cwd=PROJECT, check=False).returncode, 0
    for command in commands([file for file in files if (PROJECT / file).is_file()], exercises, tests):
        REPORT.unlink(missing_ok=True)
        ended = 0 if status else subprocess.run(command, cwd=PROJECT, check=False).returncode
        status = status or (0 if ended == 5 else ended)  # 5: all of them are marked `slow` or `night`
        ran += counted(REPORT) or 0
    print(f"{len(files)} changed files, {len(exercises)} exercises: {ran} tests, {time.time() - begun:.0f} s")
    if status == 0 and ran == 0 and any(file.startswith(_CODE) for file in files):
        print("No test of these changes ran: `make test` runs them all.", file=sys.stderr)
        return 1
    return status


if __name__ == "__main__":
    sys.exit(main())
