"""Run the attempts of `tests/attempts.py` within stock nbgrader, for a column beside their results in our sandbox.

    python -m tests.attacks.attempts_on_stock            # as root, on Linux: run, and write attempts_on_stock.json
    python -m tests.attacks.attempts_on_stock --table    # print the table from it

One cell of a notebook makes all attempts; one `nbgrader autograde` executes it in the throw-away machine of `bench`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat

from tests import attempts
from tests.attacks import bench, on_stock

RESULTS = Path(__file__).parent / "attempts_on_stock.json"
_ERROR = re.compile(r"\w+Error: (?:\[Errno \d+\] )?([^:]*)")
# Attempts whose result comes from the machine of the bench and not from nbgrader.
BY_THE_BENCH = {
    **dict.fromkeys(
        (
            "crashes for the system's own program",
            "the same, by a limit of none",
            "a map of everything",
            "more memory than that",
            "more processes than those",
        ),
        "a limit of the bench",
    ),
    **dict.fromkeys(
        ("the teacher's secrets in the environment", "the devices' own folders", "groups of processes"),
        "not measured: the bench has none",
    ),
    "pairs of every other family": "left to the kernel",
}


def measured() -> dict[str, Any]:
    """Return the result of each attempt, in the attempt's own words."""
    text = Path(attempts.__file__).read_text(encoding="utf-8").replace("from __future__ import annotations", "")
    answers = on_stock.solutions()
    last = f"{text}\nimport json\nprint(json.dumps(all_tried()))"
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        on_stock.make_course(course)
        book, path = on_stock.notebook(answers, last), f"{on_stock.STEM}.ipynb"
        with on_stock.class_of_two(course, lambda place: nbformat.write(book, place / path)) as (machine, there):
            command = ["sh", "-c", f"cd {on_stock.COURSE} && exec python -m nbgrader autograde {on_stock.STEM}"]
            machine.run(command, on_stock.environment(), on_stock.SECONDS)
            graded = nbformat.read(there / "autograded" / "attacker" / on_stock.STEM / path, as_version=4)
    printed = "".join(each.text for each in graded.cells[-1].outputs if each.get("name") == "stdout")
    return {"about": on_stock.about(), "seen": json.loads(printed)}


def fared(name: str, seen: str) -> str:
    """Return the result of an attempt, in words."""
    error = _ERROR.match(seen)
    if name in BY_THE_BENCH:
        return BY_THE_BENCH[name]
    if seen.startswith(attempts.ATTEMPTS[name][1]):
        return "refused"
    return f"fails: {error[1]}" if error else "goes through"


def behind_landlock(name: str) -> str:
    """Return what tests/test_attempts.py requires of an attempt behind Landlock, in words."""
    return attempts.BEHIND_LANDLOCK.get(name, ("", "refused"))[1]


def table(results: dict[str, Any]) -> str:
    """Return the figures and the rows as Markdown."""
    seen, about = results["seen"], results["about"]
    words = {name: fared(name, seen[name]) for name in attempts.ATTEMPTS}
    through = sum(word == "goes through" for word in words.values())
    lines = [
        f"{len(words)} attempts, made on {about['date']} on {about['machine']}:",
        f"{through} go through within stock nbgrader, none here.",
        "",
        "| to reach | stock nbgrader | here | here, in a container |",
        "|---|---|---|---|",
        *(f"| {name} | {word} | refused | {behind_landlock(name)} |" for name, word in words.items()),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1:] == ["--table"]:
        print(table(json.loads(RESULTS.read_text(encoding="utf-8"))), end="")
    else:
        bench.alone()
        RESULTS.write_text(json.dumps(measured(), indent=1) + "\n", encoding="utf-8")
