"""The verdict on a submission, as verdict files store it and as nbgrader's gradebook receives it."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.diagnosis.verdict import Report
from autograder.ipython_syntax import CHECK
from autograder.questions.own_code_question_part import waits_for_person
from autograder.sandbox.execution.cell_outputs import Output
from autograder.submission.build_repaired_notebook import PlacedCell

VERSION = 3


@dataclass(frozen=True)
class SubmissionVerdict:
    """The outcome of one submission: a report per exercise, their points, and messages about the file.

    `seed` drew the fresh cases. `digest` is the SHA-256 of the submission, and `key` the digest of everything except
    for the seed on which the verdict depends. `trouble` says why the file could not be read. `repairs` lists repairs
    that cost no points; `eye` lists facts that a teacher should look at, because they may have cost points, or may
    explain how points were earned. `points` are nbgrader's; `extra` is the extra credit of stretch exercises.

    `tests` maps the test cells that are no exercises to their points earned and their maximum; `by_hand` maps the cells
    that a person scores to their maximum. `outputs` are the outputs of the notebook's cells by `output_key`, if the
    notebook was run as a whole. `cells` are those of the repaired notebook, for the caller that records the verdict
    immediately; no file stores them. With several notebooks, `tests` and `outputs` have names made by `qualified_name`,
    `cells` is empty, and `notebooks` maps each exercise to its notebook.
    """

    assignment: str
    seed: int
    digest: str
    reports: tuple[Report, ...]
    points: Mapping[str, float]
    extra: Mapping[str, int]
    repairs: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()
    trouble: str | None = None
    key: str = ""
    tests: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    by_hand: Mapping[str, float] = field(default_factory=dict)
    outputs: Mapping[str, list[Output]] = field(default_factory=dict, repr=False)
    cells: tuple[PlacedCell, ...] = field(default=(), repr=False, compare=False)
    notebooks: Mapping[str, str] = field(default_factory=dict)

    def report(self, exercise: str) -> Report:
        """Return the report on one exercise."""
        return next(report for report in self.reports if report.exercise == exercise)

    def earned(self, exercise: str) -> float:
        """Return the points earned in one exercise."""
        return round(self.report(exercise).score * self.points[exercise], 4)

    def earned_extra(self, exercise: str) -> float:
        """Return the extra credit earned in one exercise."""
        return round(self.report(exercise).score * self.extra[exercise], 4)

    def of_notebook(self, notebook: str) -> SubmissionVerdict:
        """Return the verdict on one of several notebooks, with the names that its cells have in that notebook."""
        begin = qualified_name(notebook, "")
        tests = {name.removeprefix(begin): each for name, each in self.tests.items() if name.startswith(begin)}
        outputs = {key.removeprefix(begin): each for key, each in self.outputs.items() if key.startswith(begin)}
        reports = tuple(each for each in self.reports if self.notebooks[each.exercise] == notebook)
        points = {each.exercise: self.points[each.exercise] for each in reports}
        extra = {each.exercise: self.extra[each.exercise] for each in reports}
        return replace(self, reports=reports, points=points, extra=extra, tests=tests, outputs=outputs)

    def check_cell_name(self, exercise: str) -> str:
        """Return the name of the cell that checks an exercise."""
        check = CHECK + exercise
        return qualified_name(self.notebooks[exercise], check) if exercise in self.notebooks else check

    @property
    def waiting(self) -> tuple[str, ...]:
        """Return the names of the check cells that a person has to score for this student, in one notebook."""
        return tuple(CHECK + report.exercise for report in self.reports if waits_for_person(report))

    @property
    def score(self) -> float:
        """Return the sum of the points earned, without extra credit."""
        tests = sum(earned for earned, _ in self.tests.values())
        return round(sum(self.earned(report.exercise) for report in self.reports) + tests, 4)

    @property
    def max_score(self) -> float:
        """Return the maximum of `score`: no extra credit, and no cells that a person scores."""
        return sum(self.points.values()) + sum(most for _, most in self.tests.values())

    @property
    def extra_credit(self) -> float:
        """Return the sum of the extra credit earned."""
        return round(sum(self.earned_extra(report.exercise) for report in self.reports), 4)

    def to_json(self) -> dict[str, Any]:
        """Return this verdict as data for a JSON file."""
        return {
            "version": VERSION,
            "assignment": self.assignment,
            "seed": self.seed,
            "digest": self.digest,
            "key": self.key,
            "score": self.score,
            "max_score": self.max_score,
            "extra_credit": self.extra_credit,
            "trouble": self.trouble,
            "repairs": list(self.repairs),
            "eye": list(self.eye),
            "points": dict(self.points),
            "extra": dict(self.extra),
            "reports": [report.to_json() for report in self.reports],
            "tests": {name: list(each) for name, each in self.tests.items()},
            "by_hand": dict(self.by_hand),
            "outputs": dict(self.outputs),
            "notebooks": dict(self.notebooks),
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> SubmissionVerdict:
        """Return the verdict that `to_json` wrote; raise ValueError for another version."""
        if data.get("version") != VERSION:
            raise ValueError(f"expected a verdict of version {VERSION}, found version {data.get('version')!r}")
        return cls(
            assignment=data["assignment"],
            seed=data["seed"],
            digest=data["digest"],
            reports=tuple(Report.from_json(report) for report in data["reports"]),
            points=data["points"],
            extra=data["extra"],
            repairs=tuple(data["repairs"]),
            eye=tuple(data["eye"]),
            trouble=data["trouble"],
            key=data["key"],
            tests={name: (earned, most) for name, (earned, most) in data.get("tests", {}).items()},
            by_hand=data.get("by_hand", {}),
            outputs=data.get("outputs", {}),
            notebooks=data.get("notebooks", {}),
        )


def output_key(place: int, name: str, tests: Collection[str]) -> str:
    """Return the key of a cell's outputs: the name of a test cell, or `#` and the place in the notebook."""
    return name if name in tests else f"#{place}"


def qualified_name(notebook: str, name: str) -> str:
    """Return the name of a cell, or its key, in an assignment with several notebooks: NOTEBOOK/NAME."""
    return f"{notebook}/{name}"


def unqualified_names(notebook: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    """Return the names of the cells of one notebook, without the prefix that `qualified_name` adds; None for None."""
    begin = qualified_name(notebook, "")
    return None if names is None else tuple(each.removeprefix(begin) for each in names if each.startswith(begin))


def new_seed() -> int:
    """Draw a seed for the fresh cases of a grading; never 0, which draws the visible cases."""
    return 1 + secrets.randbelow(2**31 - 2)
