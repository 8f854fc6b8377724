"""Record the scores that nbgrader alone gives for the assignments of `tests.own_examples`.

    python -m tests.stock_scores [NAME ...]

writes them to `stock_scores.json`. The ordinary test run reads the file; the nightly run compares with nbgrader again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Collection, Mapping
from pathlib import Path

from nbgrader.apps import NbGraderAPI
from traitlets.config import Config

from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from tests.own_assignments import Own, Scores, hand_in, scores, write_source
from tests.own_examples import EXAMPLES
from tests.sample_course import make_course

RECORDED = Path(__file__).with_suffix(".json")
SECONDS = 2  # a cell's time limit


def course_of(folder: Path, examples: Mapping[str, Own]) -> Path:
    """Return the folder of a new course with these assignments, released and handed in."""
    course = make_course(folder)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.Execute.timeout = {SECONDS}\n")
    for name, own in examples.items():
        write_source(course, name, own)
        NbgraderCycle(course, name).generate()
        hand_in(course, name, own)
    return course


def graded_by_nbgrader(course: Path, exchange: Path, names: Collection[str] = EXAMPLES) -> dict[str, Scores]:
    """The scores of nbgrader as it comes."""
    exchange.mkdir()
    config = Config()
    config.CourseDirectory.root, config.CourseDirectory.course_id = str(course), "pytorch_basics"
    config.Exchange.root = str(exchange)
    config.Execute.timeout, config.Execute.shutdown_kernel = SECONDS, "immediate"
    found: dict[str, Scores] = {}
    api = NbGraderAPI(config=config)
    for name in sorted(path.name for path in (course / "source").iterdir() if path.name in names):
        for student in sorted(path.parent.name for path in (course / "submitted").glob(f"*/{name}")):
            assert api.autograde(name, student, force=True)["success"], f"{name}: {student}"
        found[name] = scores(course, name)
    return found


def recorded() -> dict[str, Scores]:
    """Return the scores in `stock_scores.json`."""
    return read_scores(RECORDED)


def read_scores(path: Path) -> dict[str, Scores]:
    """Read scores from a file: for each assignment, by student and cell."""
    found = json.loads(path.read_text())
    return {
        name: {s: {c: tuple(two) for c, two in cells.items()} for s, cells in each.items()}
        for name, each in found.items()
    }


def main() -> None:
    """Grade the named assignments, or all, with nbgrader alone, and write its scores."""
    examples = {name: EXAMPLES[name] for name in sys.argv[1:] or EXAMPLES}
    os.environ["OMP_NUM_THREADS"] = "1"
    folder = Path(tempfile.mkdtemp(prefix="stock-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        found = graded_by_nbgrader(course_of(folder / "course", examples), folder / "exchange")
    if sys.argv[1:]:
        found = json.loads(RECORDED.read_text()) | found
    RECORDED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
