"""What grading a teacher's own assignments costs beside nbgrader alone: both in one run, as a ratio.

    python -m tests.bench.own_assignments_ratio [--students 10] [NAME ...]

The assignments are those of `tests.own_examples`; each student's work is handed in by several, under other names.
Both are timed as the commands that a teacher types, starting included: `nbgrader autograde`, `autograder grade`.
"""

from __future__ import annotations

import argparse
import itertools
import shutil
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.grading.grading_executors import usable_cores
from tests.bench import measure
from tests.bench.measure import Measured
from tests.own_assignments import Own
from tests.own_examples import EXAMPLES
from tests.stock_scores import SECONDS, course_of

_STOCK = f'c = get_config()\nc.CourseDirectory.course_id = "pytorch_basics"\nc.Execute.timeout = {SECONDS}\n'
Pair = tuple[Measured, Measured]  # nbgrader alone, and ours


def class_of(course: Path, name: str, size: int) -> None:
    """Replace the submissions of an assignment by `size` copies of them, in turn, under other names."""
    there = sorted((course / "submitted").glob(f"*/{name}"))
    for number, folder in zip(range(size), itertools.cycle(there), strict=False):
        shutil.copytree(folder, course / "submitted" / f"student-{number:04d}" / name)
    for folder in there:
        shutil.rmtree(folder)


def stock_copy(course: Path, folder: Path) -> Path:
    """Copy a course for nbgrader with no configuration but its name and the time limit of a cell."""
    for name in ("source", "release", "submitted"):
        shutil.copytree(course / name, folder / name)
    (folder / "nbgrader_config.py").write_text(_STOCK)
    return folder


def measured(examples: Mapping[str, Own], size: int) -> dict[str, Pair]:
    """Grade each assignment with nbgrader alone and then with our grader, and return both measurements by name."""
    found: dict[str, Pair] = {}
    with tempfile.TemporaryDirectory(prefix="bench-own-") as place:
        course = course_of(Path(place) / "course", examples)
        for name in examples:
            class_of(course, name, size)
        stock = stock_copy(course, Path(place) / "stock")
        for name in examples:
            measure.python(["nbgrader", "generate_assignment", name, "--force"], stock, 1)
            alone = measure.python(["nbgrader", "autograde", name], stock, size)
            ours = measure.python(["autograder", "grade", name], course, size)
            found[name] = alone, ours
            print(_line(name, [(alone, ours)]), file=sys.stderr, flush=True)
    return found


def _line(what: str, pairs: Sequence[Pair]) -> str:
    stock, ours = (sum(each.wall_seconds for each in runs) for runs in zip(*pairs, strict=True))
    stock_cpu, ours_cpu = (sum(each.cpu_seconds for each in runs) for runs in zip(*pairs, strict=True))
    wall, cpu = stock / ours, stock_cpu / ours_cpu
    return f"{what:<22}{stock:>10.1f}{ours:>10.1f}{wall:>8.1f}{stock_cpu:>12.1f}{ours_cpu:>10.1f}{cpu:>8.1f}"


def table(found: Mapping[str, Pair], size: int) -> str:
    """Return all runs as text, with the spread of their ratios."""
    ratios = sorted(stock.wall_seconds / ours.wall_seconds for stock, ours in found.values())
    return "\n".join(
        (
            f"{len(found)} assignments, {size} students each; {usable_cores()} cores",
            f"{'':<22}{'stock s':>10}{'ours s':>10}{'times':>8}{'stock CPU s':>12}{'ours':>10}{'times':>8}",
            _line("all together", list(found.values())),
            f"times in wall time: from {ratios[0]:.1f} to {ratios[-1]:.1f}, median {statistics.median(ratios):.1f}",
        )
    )


def main() -> None:
    """Measure and print the table; `measured` prints one line per assignment on stderr as soon as it has graded it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(EXAMPLES), metavar="NAME")
    parser.add_argument("--students", type=int, default=10)
    asked = parser.parse_args()
    examples = {name: EXAMPLES[name] for name in asked.names}
    print(table(measured(examples, asked.students), asked.students))


if __name__ == "__main__":
    main()
