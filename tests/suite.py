"""`make test` and `make test-all`: their parts in two lanes, and at the end a table of their tests and seconds.

    python -m tests.suite [--all | --sample COMMIT]

The parts are targets of the Makefile. What the second lane runs fills the time in which unit tests wait. Once a part
has failed no other begins; the table is printed all the same. By day papermill runs three sittings.
`--all` runs the others and what is marked `night` too; `--sample` the others and, of what is so marked, a tenth and
then the tests of what has changed within a day, both chosen by the commit, so that it can be repeated.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from xml.etree import ElementTree

from tests.small_chapter import PROJECT

REPORTS = PROJECT / "build" / "suite"


@dataclass(frozen=True)
class Part:
    """One part: a target of the Makefile with its variables. One that is beside runs in the second lane, and its output
    is printed when it has ended.
    """

    name: str
    command: tuple[str, ...]
    is_beside: bool = False


@dataclass(frozen=True)
class Done:
    """How a part ended: its exit status (None: it was not run), and how many tests it had (None: they do not count)."""

    name: str
    status: int | None = None
    seconds: float = 0.0
    tests: int | None = None


STEMS = sorted(path.stem for path in (PROJECT / "course" / "chapters").glob("*.py"))
BY_DAY = tuple(stem for stem in STEMS if stem.startswith(("ch01a", "ch04a", "ch05a")))  # tensors, training, devices


def papermill(stems: Iterable[str]) -> Part:
    """Return the part that runs these sittings, solved and with another seed."""
    return Part("papermill", ("proofs", f"CHAPTER={' '.join(stems)}"), True)


LINT, TYPES, PAPERMILL = Part("lint", ("style",)), Part("types", ("types",), True), papermill(STEMS)
DAY = (LINT, TYPES, Part("unit", ("unit",)), Part("nbval", ("nbval", "NOTEBOOKS=notebooks"), True), papermill(BY_DAY))
ALL = (LINT, TYPES, Part("unit", ("unit", "NIGHT=1")), Part("nbval", ("nbval",), True), PAPERMILL)


def run(part: Part) -> Done:
    """Run a part, with its output where it belongs."""
    report = REPORTS / f"{part.name}.xml"
    report.unlink(missing_ok=True)
    begun = time.monotonic()
    command = ["make", "--no-print-directory", *part.command, f"REPORT={report.relative_to(PROJECT)}"]
    status = run_command(command, part.is_beside)
    return Done(part.name, status, time.monotonic() - begun, counted(report))


def run_command(command: Sequence[str], at_the_end: bool) -> int:
    """Run a command and return its exit status; its output is printed as it comes or, at the end, in one piece."""
    if not at_the_end:
        return subprocess.run(command, cwd=PROJECT, check=False).returncode
    with tempfile.TemporaryFile() as output:
        done = subprocess.run(command, cwd=PROJECT, stdout=output, stderr=subprocess.STDOUT, check=False)
        output.seek(0)
        print(f"\n{output.read().decode(errors='replace')}", flush=True)
    return done.returncode


def counted(report: Path) -> int | None:
    """Return how many tests pytest reports of a part; None where it was not pytest that ran."""
    if not report.is_file():
        return None
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    return sum(int(suite.get("tests", 0)) - int(suite.get("skipped", 0)) for suite in suites)


def in_turn(wanted: Iterable[Part], failed: Event) -> list[Done]:
    """Run the parts of a lane up to the first that fails in either; those behind it are not run."""
    done: list[Done] = []
    for part in wanted:
        done.append(Done(part.name) if failed.is_set() else run(part))
        if done[-1].status:
            failed.set()
    return done


def in_lanes(wanted: Sequence[Part]) -> list[Done]:
    """Run the parts, those that are beside in a lane of their own; return how each ended, in the order of the parts."""
    failed = Event()
    with ThreadPoolExecutor(1) as other:
        others = other.submit(in_turn, [part for part in wanted if part.is_beside], failed)
        try:
            done = in_turn([part for part in wanted if not part.is_beside], failed)
        except KeyboardInterrupt:  # the terminal has sent it to the parts that run as well
            failed.set()
            raise
    ended = {each.name: each for each in (*done, *others.result())}
    return [ended[part.name] for part in wanted]


def table(done: Sequence[Done], seconds: float) -> str:
    """Return the parts with their tests and seconds, and all tests in the seconds of the whole, as lines."""
    whole = Done("total", 0, seconds, sum(each.tests or 0 for each in done))
    return "\n".join([f"{'part':<10}{'tests':>7}{'seconds':>9}", *map(_row, (*done, whole))])


def _row(done: Done) -> str:
    tests = "" if done.tests is None else f"{done.tests:,}"
    if done.status is None:
        return f"{done.name:<10}{tests:>7}{'':>9}  not run"
    return f"{done.name:<10}{tests:>7}{done.seconds:>9.0f}{'  failed' * bool(done.status)}"


def main(words: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for; return the exit status of the first that failed."""
    parser = argparse.ArgumentParser(description="Run the tests of the day, or all.")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--all", action="store_true", help="what is marked `night` too")
    what.add_argument("--sample", metavar="COMMIT", help="of what is marked `night`, what the commit chooses")
    asked = parser.parse_args(words)
    REPORTS.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    others = [stem for stem in STEMS if stem not in BY_DAY]
    sample = (Part("night", ("unit", "NIGHT=1", f"SAMPLE={asked.sample}")), papermill(others))
    try:
        done = in_lanes(sample if asked.sample else ALL if asked.all else DAY)
    except KeyboardInterrupt:
        print(f"\nstopped after {time.monotonic() - begun:.0f} s", file=sys.stderr)
        return 130  # as a shell reports it
    print(f"\n{table(done, time.monotonic() - begun)}", flush=True)
    return next((each.status for each in done if each.status), 0)


if __name__ == "__main__":
    sys.exit(main())
