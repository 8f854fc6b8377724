"""`make test`: its parts in two lanes, and at the end a table of how many tests each had and how long it took.

The parts are targets of the Makefile. What the second lane runs fills the time in which unit tests wait.
Once a part has failed no other begins; the table is printed all the same.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from xml.etree import ElementTree

from tests import remembered
from tests.asked import THOROUGH
from tests.forked_kernels import PLACE, forked_kernels
from tests.forked_kernels import REPORTS as OF_REPORTS
from tests.small_chapter import PROJECT

REPORTS = PROJECT / "build" / "suite"


@dataclass(frozen=True)
class Part:
    """One part: a target of the Makefile and what it is given; of one that runs chapters' notebooks, these chapters.

    One that is beside runs in the second lane, and is heard when it has ended.
    """

    name: str
    command: tuple[str, ...]
    chapters: tuple[str, ...] | None = None
    is_beside: bool = False


@dataclass(frozen=True)
class Done:
    """How a part ended: its exit status (None: it was not run), and how many tests it had (None: they do not count)."""

    name: str
    status: int | None = None
    seconds: float = 0.0
    tests: int | None = None


def parts(thorough: bool) -> tuple[Part, ...]:
    """What is run; what is thorough takes the solutions through nbval too, with the seed that they are written with."""
    handed_out, solved = open_chapters("nbval"), open_chapters("papermill")
    notebooks = " ".join(f"notebooks/{stem}.ipynb" for stem in handed_out)
    return (
        Part("lint", ("style",)),
        Part("types", ("types",), None, True),
        Part("unit", ("unit",)),
        Part("nbval", ("nbval",) if thorough else ("nbval", f"NOTEBOOKS={notebooks}"), handed_out, True),
        Part("papermill", ("proofs", f"CHAPTER={' '.join(solved)}"), solved, True),
    )


def open_chapters(part: str) -> tuple[str, ...]:
    """The chapters whose notebooks a part has not run yet as they are now."""
    places = {stem: remembered.place(f"{part} {stem}", remembered.notebook_reads(stem)) for stem in remembered.stems()}
    return tuple(stem for stem, place in places.items() if place is None or not place.is_file())


def compiling_once() -> dict[str, str]:
    """The environment, in which nothing is compiled again in each process, whatever a shell has set."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextmanager
def compiled() -> Iterator[None]:
    """Beside what the block runs, compile the tests: else each process of the unit tests would, for six seconds."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-qq", "-p", "no:cacheprovider"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, cwd=PROJECT, env=compiling_once(), stdout=quiet, stderr=quiet):
        yield


def run(part: Part) -> Done:
    """Run a part, with its output where it belongs."""
    report = REPORTS / f"{part.name}.xml"
    report.unlink(missing_ok=True)
    begun = time.monotonic()
    if part.chapters == ():
        return Done(part.name, 0, 0.0, 0)
    command = ["make", "--no-print-directory", *part.command, f"REPORT={report.relative_to(PROJECT)}"]
    with ExitStack() as stack:
        environment = compiling_once()
        if not THOROUGH and sys.platform == "linux":  # elsewhere, what imports much does not fork well
            environment |= _kernels(part, stack)
        status = heard(command, environment, part.is_beside)
    for stem in part.chapters or () if status == 0 else ():
        reads = remembered.notebook_reads(stem)
        remembered.keep(remembered.place(f"{part.name} {stem}", reads), reads)
    remembered.settle()
    tests = counted(report) if part.name != "papermill" else len(part.chapters or ())
    return Done(part.name, status, time.monotonic() - begun, tests)


def _kernels(part: Part, stack: ExitStack) -> dict[str, str]:
    """The variables by which a part has its kernels forked, as long as the stack lasts."""
    if part.chapters:
        return stack.enter_context(forked_kernels())
    return {PLACE: stack.enter_context(forked_kernels(OF_REPORTS))["JUPYTER_PATH"]} if part.name == "unit" else {}


def heard(command: Sequence[str], environment: dict[str, str], at_the_end: bool) -> int:
    """Run a command; what it says is printed as it comes, or, at the end, in one piece. Returns its exit status."""
    if not at_the_end:
        return subprocess.run(command, cwd=PROJECT, env=environment, check=False).returncode
    with tempfile.TemporaryFile() as said:
        done = subprocess.run(command, cwd=PROJECT, env=environment, stdout=said, stderr=subprocess.STDOUT, check=False)
        said.seek(0)
        print(f"\n{said.read().decode(errors='replace')}", flush=True)
    return done.returncode


def counted(report: Path) -> int | None:
    """How many tests pytest reports of a part; None where it was not pytest that ran."""
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
    """Run the parts, those that are beside in a lane of their own; how each ended, in the order of the parts."""
    failed = Event()
    lanes = [[part for part in wanted if part.is_beside is beside] for beside in (True, False)]
    with ThreadPoolExecutor(1) as other:
        others = other.submit(in_turn, lanes[0], failed)
        with compiled():
            done = in_turn(lanes[1][:1], failed)
        done += in_turn(lanes[1][1:], failed)
    ended = {each.name: each for each in (*done, *others.result())}
    return [ended[part.name] for part in wanted]


def table(done: Sequence[Done], seconds: float) -> str:
    """The parts with their tests and seconds, and all tests in the seconds of the whole."""
    whole = Done("total", 0, seconds, sum(each.tests or 0 for each in done))
    return "\n".join([f"{'part':<10}{'tests':>7}{'seconds':>9}", *map(_row, (*done, whole))])


def _row(done: Done) -> str:
    tests = "" if done.tests is None else f"{done.tests:,}"
    seconds, told = (
        ("", "  not run") if done.status is None else (f"{done.seconds:.0f}", "  failed" * bool(done.status))
    )
    return f"{done.name:<10}{tests:>7}{seconds:>9}{told}"


def main() -> int:
    """Run everything; the exit status is that of the first part that failed."""
    REPORTS.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()
    done = in_lanes(parts(THOROUGH))
    print(f"\n{table(done, time.monotonic() - begun)}", flush=True)
    return next((each.status for each in done if each.status), 0)


if __name__ == "__main__":
    sys.exit(main())
