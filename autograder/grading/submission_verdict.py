"""The verdict on a submission: what a verdict file holds, and nbgrader's gradebook is told."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from autograder.diagnosis.verdict import Report
from autograder.ipython_syntax import CHECK
from autograder.sandbox.execution.cell_outputs import Output
from autograder.submission.repaired_notebook import PlacedCell

VERSION = 3


@dataclass(frozen=True)
class SubmissionVerdict:
    """The outcome of one submission: a report per exercise, the points each is worth, what is told of the file.

    `seed` drew the fresh cases; `digest` is the SHA-256 of what was handed in, and `key` stands for all that the
    verdict depends on beside the seed. `trouble` says why a file could not be read; `repairs` what was mended and cost
    no points; `eye` what a person should look at, for it may have cost points, or may say how some came about. Points
    are nbgrader's; extra credit is what stretch exercises earn on top.

    `tests` are the test cells that are no exercises, each with the points earned and those that it is worth; `by_hand`
    are the cells that a person scores, and the most points of each; `outputs`
    what the notebook's cells gave, where it was run whole: by `key_of` of a cell. `cells` lay out the repaired
    notebook, for the one who records the verdict at once; no file keeps them. Where there are several notebooks, the
    names of `tests` and `outputs` are those of `in_notebook`, there are no `cells`, and `notebooks` says where each
    exercise is.
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
        """The report on one exercise."""
        return next(report for report in self.reports if report.exercise == exercise)

    def earned(self, exercise: str) -> float:
        """The points earned in one exercise."""
        return round(self.report(exercise).score * self.points[exercise], 4)

    def earned_extra(self, exercise: str) -> float:
        """The extra credit earned in one exercise."""
        return round(self.report(exercise).score * self.extra[exercise], 4)

    def of_notebook(self, notebook: str) -> SubmissionVerdict:
        """What it says of one of several notebooks, under the names that cells have there."""
        begin = in_notebook(notebook, "")
        tests = {name.removeprefix(begin): each for name, each in self.tests.items() if name.startswith(begin)}
        outputs = {key.removeprefix(begin): each for key, each in self.outputs.items() if key.startswith(begin)}
        reports = tuple(each for each in self.reports if self.notebooks[each.exercise] == notebook)
        points = {each.exercise: self.points[each.exercise] for each in reports}
        extra = {each.exercise: self.extra[each.exercise] for each in reports}
        return replace(self, reports=reports, points=points, extra=extra, tests=tests, outputs=outputs)

    def check_of(self, exercise: str) -> str:
        """What the cell is called that checks an exercise."""
        check = CHECK + exercise
        return in_notebook(self.notebooks[exercise], check) if exercise in self.notebooks else check

    @property
    def score(self) -> float:
        """The points earned in all, without extra credit."""
        tests = sum(earned for earned, _ in self.tests.values())
        return round(sum(self.earned(report.exercise) for report in self.reports) + tests, 4)

    @property
    def max_score(self) -> float:
        """Full points, without extra credit and what is scored by hand."""
        return sum(self.points.values()) + sum(most for _, most in self.tests.values())

    @property
    def extra_credit(self) -> float:
        """The extra credit earned in all."""
        return round(sum(self.earned_extra(report.exercise) for report in self.reports), 4)

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
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
        """Read what `to_json` wrote; raises ValueError for another version."""
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


def key_of(place: int, name: str, tests: Collection[str]) -> str:
    """What a cell's outputs stand under: the name of a test cell, the place in the notebook of any other."""
    return name if name in tests else f"#{place}"


def in_notebook(notebook: str, name: str) -> str:
    """What a cell, or what stands for it, is called where an assignment has several notebooks."""
    return f"{notebook}/{name}"


def names_in(notebook: str, names: Iterable[str] | None) -> tuple[str, ...] | None:
    """Of what `in_notebook` calls cells, those of one notebook, by their own names; None for nothing known."""
    begin = in_notebook(notebook, "")
    return None if names is None else tuple(each.removeprefix(begin) for each in names if each.startswith(begin))


def new_seed() -> int:
    """The seed of a grading run's fresh cases; never 0, which draws the visible ones."""
    return 1 + secrets.randbelow(2**31 - 2)
