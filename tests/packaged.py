"""Use the notebooks in nbgrader's own package, from its documentation and tests, as assignments.

Left out are notebooks without a score of nbgrader's, without its metadata, with an older form of it, or with cells of
other types; and one that sleeps longer than a cell may run, to which we deliberately give more time (docs/teachers.md).

    python -m tests.packaged [NAME ...]

writes nbgrader's own scores for them to `packaged.json`. The ordinary test run reads the file; the nightly run compares
with nbgrader again.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbgrader

from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from tests.own_assignments import Scores
from tests.sample_course import make_course
from tests.stock_scores import SECONDS, graded_by_nbgrader, read_scores

RECORDED = Path(__file__).with_suffix(".json")
_PACKAGE = Path(nbgrader.__file__).parent
_GUIDE, _APPS, _STEPS = "docs/source/user_guide", "tests/apps/files", "tests/preprocessors/files"
_RELEASE = ""  # the released notebook, unchanged


@dataclass(frozen=True)
class Packaged:
    """An assignment: its notebooks and files, and each student's notebooks, as paths in nbgrader's package."""

    notebooks: Mapping[str, str]
    students: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    files: tuple[str, ...] = ()

    def write(self, course: Path, name: str) -> None:
        """Write the source version into a course folder."""
        folder = course / "source" / name
        folder.mkdir(parents=True)
        for notebook, place in self.notebooks.items():
            shutil.copy(_PACKAGE / place, folder / f"{notebook}.ipynb")
        for place in self.files:
            shutil.copy(_PACKAGE / place, folder)

    def hand_in(self, course: Path, name: str) -> None:
        """Write each student's notebooks into `submitted`, with the files of the release."""
        release = course / "release" / name
        for student, notebooks in self.students.items():
            folder = course / "submitted" / student / name
            shutil.copytree(release, folder)
            for notebook, place in notebooks.items():
                if place != _RELEASE:
                    shutil.copy(_PACKAGE / place, folder / f"{notebook}.ipynb")


def _one(name: str, place: str, *files: str, **students: str) -> Packaged:
    """Return an assignment of one notebook, handed in unchanged, as its author solved it, and as these students did."""
    handed_in = {"untouched": _RELEASE, "worked": place, **students}
    return Packaged({name: place}, {student: {name: each} for student, each in handed_in.items()}, files)


def _autotest(kind: str, *answers: str) -> Packaged:
    name, place = f"auto-{kind}", f"{_APPS}/autotest-{kind}"
    handed_in = {answer: f"{place}-{answer}.ipynb" for answer in answers}
    return Packaged({name: f"{place}.ipynb"}, {student: {name: each} for student, each in handed_in.items()})


_PS1 = ("problem1", "problem2")
PACKAGED = {
    "ps1": Packaged(
        {each: f"{_GUIDE}/source/ps1/{each}.ipynb" for each in _PS1},
        {
            "untouched": {},
            "worked": {each: f"{_GUIDE}/source/ps1/{each}.ipynb" for each in _PS1},
            **{
                student: {each: f"{_GUIDE}/submitted/{student}/ps1/{each}.ipynb" for each in _PS1}
                for student in ("bitdiddle", "hacker")
            },
        },
        (f"{_GUIDE}/source/ps1/jupyter.png",),
    ),
    "sets": _one(
        "sets",
        f"{_APPS}/submitted-unchanged.ipynb",
        changed=f"{_APPS}/submitted-changed.ipynb",
        cheat=f"{_APPS}/submitted-cheat-attempt.ipynb",
        other_cheat=f"{_APPS}/submitted-cheat-attempt-alternative.ipynb",
        grade_cell=f"{_APPS}/submitted-grade-cell-changed.ipynb",
        locked_cell=f"{_APPS}/submitted-locked-cell-changed.ipynb",
    ),
    "squares": _one("squares", f"{_APPS}/test.ipynb", f"{_APPS}/jupyter.png"),
    "hidden": _one("hidden", f"{_APPS}/test-hidden-tests.ipynb", f"{_APPS}/jupyter.png"),
    "with-output": _one("with-output", f"{_APPS}/test-with-output.ipynb", f"{_APPS}/jupyter.png"),
    "tasks": _one("tasks", f"{_STEPS}/test_taskcell.ipynb", f"{_APPS}/jupyter.png"),
    "by-person": _one("by-person", f"{_STEPS}/manually-graded-code-cell.ipynb"),
    "no-points": _one("no-points", f"{_APPS}/validation-zero-points.ipynb"),
    "variable": _one("variable", f"{_APPS}/validating-environment-variable.ipynb"),
    "a-file": _one("a-file", f"{_APPS}/open_relative_file.ipynb", f"{_APPS}/data.txt"),
    "auto-simple": _autotest("simple", "unchanged", "changed"),
    "auto-multi": _autotest("multi", "unchanged", "changed"),
    "auto-hashed": _autotest("hashed", "unchanged", "changed"),
    "auto-hidden": _autotest("hidden", "unchanged", "changed-right", "changed-wrong"),
}


def course_of(folder: Path, names: Mapping[str, Packaged] | None = None) -> Path:
    """Return the folder of a new course with these assignments, released and handed in."""
    course = make_course(folder)
    with (course / "nbgrader_config.py").open("a") as config:
        config.write(f"\nc.Execute.timeout = {SECONDS}\n")
    shutil.copy(_PACKAGE / _APPS / "autotests.yml", course)
    for name, each in (PACKAGED if names is None else names).items():
        each.write(course, name)
        NbgraderCycle(course, name).generate()
        each.hand_in(course, name)
    return course


def recorded() -> dict[str, Scores]:
    """Return the scores in `packaged.json`."""
    return read_scores(RECORDED)


def main() -> None:
    """Grade the named assignments, or all, with nbgrader alone, and write its scores."""
    wanted = {name: PACKAGED[name] for name in sys.argv[1:] or PACKAGED}
    os.environ["OMP_NUM_THREADS"] = "1"
    folder = Path(tempfile.mkdtemp(prefix="packaged-"))
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        found = graded_by_nbgrader(course_of(folder / "course", wanted), folder / "exchange", wanted)
    if sys.argv[1:]:
        found = json.loads(RECORDED.read_text()) | found
    RECORDED.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
