"""Take all measurements in one run, as ratios that do not depend on the machine, and return a table or JSON."""

from __future__ import annotations

import os
import platform
import shutil
import statistics
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from autograder.authoring.example_class import first_chapter_stem
from autograder.course.course_location import find_course
from autograder.grading.grading_executors import usable_cores
from tests.bench import classes, latency, measure, probed
from tests.bench.measure import Measured

_START = 4  # submissions of a run that spends most of its time on starting
_FAST_ENOUGH = 0.05  # seconds for one check(), except for exercises that train
_LARGE = 1000  # submissions from which on another goal applies
_SHARED = 1.8, 0.025  # factor on the student's own code, and seconds of our own

Say = Callable[[str], None]


def measured(project: Path, size: int, stock_size: int, growth: Sequence[int], say: Say) -> dict[str, Any]:
    """Measure everything on the first chapter, which takes long; calls `say` with the name of each part."""
    stem = first_chapter_stem(project)
    with tempfile.TemporaryDirectory(prefix="bench-") as name:
        folder = Path(name)
        say(f"making a class of {size}")
        course = classes.course_with(project, folder / "course", stem, size)
        runs = _our_runs(course, stem, size, say)
        say(f"grading {stock_size} of them with nbgrader alone")
        stock = classes.stock_course(course, folder / "stock", stem, stock_size)
        measure.python(["nbgrader", "generate_assignment", stem, "--force"], stock, 1)
        runs["nbgrader alone"] = measure.python(["nbgrader", "autograde", stem], stock, stock_size)
        own = {"own": _own(course, stem, say)}
        say("grading a class in which nobody hands in an answer of another's")
        distinct = classes.course_with(project, folder / "distinct", stem)
        own["distinct"] = _own(distinct, stem, say)
        runs |= _distinct_runs(distinct, stem)
        for number in growth:
            say(f"grading a class of {number}")
            large = classes.course_with(project, folder / f"course-{number}", stem, number)
            runs[f"class of {number}"] = _ours(large, stem, usable_cores(), number)
    say("timing check()")
    course = find_course(project)
    return _figures(runs, own, latency.seconds_of_checks(course), latency.training(course))


def _own(course: Path, stem: str, say: Say) -> float:
    """Return the mean CPU seconds of the students' own code."""
    say("running the students' own code in a warm process alone")
    return statistics.mean(probed.seconds_of(course, stem, sorted((course / "submitted").glob(f"*/{stem}"))))


def _distinct_runs(course: Path, stem: str) -> dict[str, Measured]:
    students = sorted(path.name for path in (course / "submitted").iterdir())
    few = _with_only(course, students[:_START])
    return {"distinct, starting": _ours(few, stem, 1, _START), "distinct": _ours(course, stem, 1, len(students))}


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
    """Copy a course to a folder beside it, with only these students."""
    small = course.with_name(f"few-of-{course.name}")
    shutil.copytree(course, small, ignore=shutil.ignore_patterns("submitted"))
    for student in students:
        shutil.copytree(course / "submitted" / student, small / "submitted" / student)
    return small


def _ours(course: Path, stem: str, workers: int, size: int) -> Measured:
    command = ["autograder", "grade", stem, "--workers", str(workers)]
    verdicts = f"verdicts/{stem}/[!.]*.json"
    is_new = not any(course.glob(verdicts))
    return measure.python(command, course, size, verdicts if is_new else "")


def _figures(
    runs: dict[str, Measured], own: dict[str, float], checks: dict[str, list[float]], training: Collection[str] = ()
) -> dict[str, Any]:
    stock, one, two = (runs[name] for name in ("nbgrader alone", "1 worker", "2 workers"))
    waits = sorted(second for name, row in checks.items() for second in row if name not in training)
    large = {name: stock.wall / run.wall for name, run in runs.items() if name.startswith("class of ")}
    return {
        "machine": _machine(),
        "runs": {name: run.to_json() for name, run in runs.items()},
        **_one_more(own["own"], runs["starting"], one),
        "distinct": _one_more(own["distinct"], runs["distinct, starting"], runs["distinct"]),
        "speed_up_wall": {"1 worker": round(stock.wall / one.wall, 1), "2 workers": round(stock.wall / two.wall, 1)},
        "speed_up_cpu": {"1 worker": round(stock.cpu / one.cpu, 1), "2 workers": round(stock.cpu / two.cpu, 1)},
        "speed_up_wall_large": {name: round(times, 1) for name, times in large.items()},
        "check_p50_seconds": round(_quantile(waits, 0.5), 4),
        "check_p95_seconds": round(_quantile(waits, 0.95), 4),
        "checks_that_train": sorted(training),
        "checks_too_slow": sorted(name for name, row in checks.items() if statistics.median(row) > _FAST_ENOUGH),
    }


def _one_more(own: float, start: Measured, whole: Measured) -> dict[str, float]:
    """Return the cost of one more submission, without the costs that occur once per class."""
    more = (whole.cpu_seconds - start.cpu_seconds) / (whole.size - start.size)
    return {
        "own_code_cpu_per_submission": round(own, 4),
        "marginal_cpu_per_submission": round(more, 4),
        "overhead_cpu_per_submission": round(more - own, 4),
        "share_of_own_code": round(own / more, 3),
        "cpu_over_own_code": round(more / own, 2),
    }


def _quantile(ordered: Sequence[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def _machine() -> dict[str, Any]:
    return {
        "cores": usable_cores(),
        "load_at_the_end": round(os.getloadavg()[0], 1),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    } | {name: version(name) for name in ("torch", "nbgrader")}


def table(figures: dict[str, Any]) -> str:
    """Return the figures as text, with a line for each goal that they miss."""
    lines = [f"{'':<18}{'size':>7}{'wall s':>10}{'CPU s':>10}{'wall/sub':>10}{'CPU/sub':>10}{'PSS MB':>9}"]
    for name, run in figures["runs"].items():
        lines.append(
            f"{name:<18}{run['size']:>7.0f}{run['wall_seconds']:>10.1f}{run['cpu_seconds']:>10.1f}"
            f"{run['wall_per_submission']:>10.3f}{run['cpu_per_submission']:>10.3f}{run['peak_pss_mb']:>9.0f}"
        )
    own, more = figures["own_code_cpu_per_submission"], figures["marginal_cpu_per_submission"]
    lines += [
        "",
        f"one submission more    {more:.3f} s of CPU, of which the student's own code {own:.3f} s "
        f"({figures['share_of_own_code']:.0%})",
        *_goals(figures),
        f"slower than {_FAST_ENOUGH * 1000:.0f} ms: {', '.join(figures['checks_too_slow']) or 'none'}",
    ]
    return "\n".join(lines)


def _goals(figures: dict[str, Any]) -> Iterator[str]:
    runs, speed = figures["runs"], max(figures["speed_up_wall"].values())
    yield _goal("faster than nbgrader alone", f"{speed:.1f} times in wall time", "70 times", speed >= 70)
    for name, times in figures["speed_up_wall_large"].items():
        wanted = 110 if runs[name]["size"] >= _LARGE else 70
        yield _goal(f"faster, {name}", f"{times:.1f} times", f"{wanted} times", times >= wanted)
    for what, cost in (("one submission more", figures), ("the same, all distinct", figures["distinct"])):
        own, more = cost["own_code_cpu_per_submission"], cost["marginal_cpu_per_submission"]
        most = _SHARED[0] * own + _SHARED[1]
        yield _goal(what, f"{more:.3f} s", f"{most:.3f} s, 1.8 times its own code and 25 ms", more <= most)
    again, two = runs["nothing changed"]["wall_seconds"], runs["2 workers"]
    yield _goal("nothing changed", f"{again:.1f} s", "1.5 s", again <= 1.5)
    yield _goal("the first verdict", f"{two['first_seconds']:.1f} s", "3 s", 0 < two["first_seconds"] <= 3)
    yield _goal("memory, 2 workers", f"{two['peak_pss_mb']:.0f} MB", "900 MB", two["peak_pss_mb"] <= 900)
    p50, p95 = figures["check_p50_seconds"], figures["check_p95_seconds"]
    found = (
        f"p50 {p50 * 1000:.0f} ms, p95 {p95 * 1000:.0f} ms, without the {len(figures['checks_that_train'])} that train"
    )
    yield _goal("check()", found, f"{_FAST_ENOUGH * 1000:.0f} ms", p95 <= _FAST_ENOUGH)


def _goal(what: str, found: str, wanted: str, reached: bool) -> str:
    return f"{what:<27} {found}; goal {wanted}: {'reached' if reached else 'MISSED'}"
