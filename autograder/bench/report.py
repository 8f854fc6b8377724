"""All measurements in one run, as ratios that do not depend on the machine; a table, and JSON."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from autograder.bench import classes, latency, measure, probed
from autograder.bench.measure import Measured
from autograder.catalog.place import find_course
from autograder.example.example_class import first_chapter
from autograder.grading.executors import cores

_START = 4  # submissions of a run whose time is mostly starting
_FAST_ENOUGH = 0.1  # seconds for one check()

Say = Callable[[str], None]


def measured(project: Path, size: int, stock_size: int, growth: Sequence[int], say: Say) -> dict[str, Any]:
    """Measure everything on the first chapter; `say` is told what is being done, since it takes long."""
    stem = first_chapter(project)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        say(f"making a class of {size}")
        course = classes.course_with(project, folder / "course", stem, size)
        runs = _our_runs(course, stem, size, say)
        say(f"grading {stock_size} of them with nbgrader alone")
        stock = classes.stock_course(course, folder / "stock", stem, stock_size)
        measure.python(["nbgrader", "generate_assignment", stem, "--force"], stock, 1)
        runs["nbgrader alone"] = measure.python(["nbgrader", "autograde", stem], stock, stock_size)
        say("running the students' own code in a warm process alone")
        folders = sorted((course / "submitted").glob(f"*/{stem}"))
        own = statistics.mean(probed.seconds_of(course, stem, folders))
        for number in growth:
            say(f"grading a class of {number}")
            large = classes.course_with(project, folder / f"course-{number}", stem, number)
            runs[f"class of {number}"] = _ours(large, stem, cores(), number)
    say("timing check()")
    return _figures(runs, own, latency.seconds_of_checks(find_course(project)))


def _our_runs(course: Path, stem: str, size: int, say: Say) -> dict[str, Measured]:
    runs = {}
    say(f"starting only: {_START} submissions")
    few = sorted(path.name for path in (course / "submitted").iterdir())[:_START]
    runs["starting"] = _ours(_with_only(course, few), stem, 1, _START)
    for workers in (1, 2):
        say(f"grading {size} with {workers} worker{'s' if workers > 1 else ''}")
        runs[f"{workers} worker{'s' if workers > 1 else ''}"] = _ours(
            classes.ungraded(course, stem), stem, workers, size
        )
    say("the same again, nothing changed")
    runs["nothing changed"] = _ours(course, stem, 2, size)
    return runs


def _with_only(course: Path, students: Sequence[str]) -> Path:
    """A course folder beside this one with only these students."""
    small = course.with_name("few")
    shutil.copytree(course, small, ignore=shutil.ignore_patterns("submitted"))
    for student in students:
        shutil.copytree(course / "submitted" / student, small / "submitted" / student)
    return small


def _ours(course: Path, stem: str, workers: int, size: int) -> Measured:
    return measure.python(["autograder", "grade", stem, "--workers", str(workers)], course, size)


def _figures(runs: dict[str, Measured], own: float, checks: dict[str, list[float]]) -> dict[str, Any]:
    stock, one, two, start = (runs[name] for name in ("nbgrader alone", "1 worker", "2 workers", "starting"))
    # What one more submission costs, without what is paid once for the class.
    more = (one.cpu_seconds - start.cpu_seconds) / (one.size - start.size)
    waits = sorted(second for row in checks.values() for second in row)
    return {
        "machine": _machine(),
        "runs": {name: run.to_json() for name, run in runs.items()},
        "own_code_cpu_per_submission": round(own, 4),
        "marginal_cpu_per_submission": round(more, 4),
        "overhead_cpu_per_submission": round(more - own, 4),
        "share_of_own_code": round(own / more, 3),
        "cpu_over_own_code": round(more / own, 2),
        "speed_up_wall": {"1 worker": round(stock.wall / one.wall, 1), "2 workers": round(stock.wall / two.wall, 1)},
        "speed_up_cpu": {"1 worker": round(stock.cpu / one.cpu, 1), "2 workers": round(stock.cpu / two.cpu, 1)},
        "check_p50_seconds": round(_quantile(waits, 0.5), 4),
        "check_p95_seconds": round(_quantile(waits, 0.95), 4),
        "checks_over_a_tenth": sorted(name for name, row in checks.items() if statistics.median(row) > _FAST_ENOUGH),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _machine() -> dict[str, Any]:
    return {
        "cores": cores(),
        "load_at_the_end": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {name: version(name) for name in ("torch", "nbgrader")}


def table(figures: dict[str, Any]) -> str:
    """The figures as text; a goal that is missed says so."""
    lines = [f"{'':<18}{'size':>7}{'wall s':>10}{'CPU s':>10}{'wall/sub':>10}{'CPU/sub':>10}{'PSS MB':>9}"]
    for name, run in figures["runs"].items():
        lines.append(
            f"{name:<18}{run['size']:>7.0f}{run['wall_seconds']:>10.1f}{run['cpu_seconds']:>10.1f}"
            f"{run['wall_per_submission']:>10.3f}{run['cpu_per_submission']:>10.3f}{run['peak_pss_mb']:>9.0f}"
        )
    speed = max(figures["speed_up_wall"].values())
    own, more = figures["own_code_cpu_per_submission"], figures["marginal_cpu_per_submission"]
    most, again = 1.8 * own + 0.025, figures["runs"]["nothing changed"]["wall_seconds"]
    slow = figures["checks_over_a_tenth"]
    lines += [
        "",
        f"one submission more    {more:.3f} s of CPU, of which the student's own code {own:.3f} s "
        f"({figures['share_of_own_code']:.0%})",
        _goal("faster than nbgrader alone", f"{speed:.1f} times in wall time", "70 times", speed >= 70),
        _goal("one submission more", f"{more:.3f} s", f"{most:.3f} s, 1.8 times its own code and 25 ms", more <= most),
        _goal("nothing changed", f"{again:.1f} s", "1.5 s", again <= 1.5),
        _goal(
            "check()",
            f"p50 {figures['check_p50_seconds'] * 1000:.0f} ms, p95 {figures['check_p95_seconds'] * 1000:.0f} ms",
            "100 ms",
            figures["check_p95_seconds"] <= _FAST_ENOUGH,
        ),
        f"slower than 100 ms: {', '.join(slow) or 'none'}",
    ]
    return "\n".join(lines)


def _goal(what: str, found: str, wanted: str, reached: bool) -> str:
    return f"{what:<27} {found}; goal {wanted}: {'reached' if reached else 'MISSED'}"
