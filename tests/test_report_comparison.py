"""`report --beside`: exercises and mistakes compared with an earlier report, with intervals for small classes."""

from __future__ import annotations

import math
import re
from datetime import date
from itertools import product
from pathlib import Path

import nbformat
import pytest

from autograder.__main__ import main
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reports import class_results, write_reports
from autograder.reports.class_results import ClassResults
from autograder.reports.share_difference import Share, ShareDifference
from tests.small_chapter import PROJECT

PASS = Verdict("works", Status.PASS)
DIM = Verdict("works", Status.FAIL, "You forgot `dim`.", "no-dim", "f(1)", "2", "3")
MEAN = Verdict("works", Status.FAIL, "You add and do not <divide>.", "no-mean", "f(1)", "2", "3")
NOVEMBER, DECEMBER = date(2026, 11, 30), date(2026, 12, 7)


# Newcombe's table II, method 10: the first and the second count and total, and the bounds of first minus second.
@pytest.mark.parametrize(
    ("first", "second", "bounds"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((0, 10), (0, 10), (-0.2775, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
        ((10, 10), (0, 10), (0.6075, 1.0)),
    ],
)
def test_intervals_are_those_that_newcombe_printed(
    first: tuple[int, int], second: tuple[int, int], bounds: tuple[float, float]
) -> None:
    """The interval agrees with the published one to its four digits, and the sign says whether 0 is in it."""
    difference = ShareDifference(Share(*second), Share(*first))

    assert bounds == pytest.approx(difference.interval, abs=6e-5)
    assert (bounds[0] > 0) == (difference.sign == 1)
    assert -difference.sign == ShareDifference(Share(*first), Share(*second)).sign


@pytest.mark.parametrize(("then", "now"), [(8, 8), (12, 30), (30, 30)])
def test_small_classes_are_told_the_truth(then: int, now: int) -> None:
    """Where nothing has changed, 5 % of classes on average, and 8 at most, are told of a difference."""
    outcomes = [
        (a, b, ShareDifference(Share(a, then), Share(b, now)).sign) for a, b in product(range(then + 1), range(now + 1))
    ]
    wrong = [
        math.fsum(_chance(a, then, p) * _chance(b, now, p) for a, b, sign in outcomes if sign)
        for p in (step / 20 for step in range(1, 20))
    ]
    assert max(wrong) < 0.08 and math.fsum(wrong) / len(wrong) < 0.05


def _chance(count: int, total: int, p: float) -> float:
    return math.comb(total, count) * p**count * (1 - p) ** (total - count)


def class_of(*answers: tuple[Verdict, int], stem: str = "ch", exercise: str = "a") -> ClassResults:
    """Return a class in which so many students have each of these verdicts on the exercise, and all pass `b`."""
    rows = [
        StudentRow(
            f"s{n}",
            SubmissionVerdict(
                stem,
                1,
                "",
                (Report(exercise, (each,)), Report("b", (PASS,))),
                {exercise: 2, "b": 1},
                {exercise: 0, "b": 0},
            ),
        )
        for n, each in enumerate(each for each, count in answers for _ in range(count))
    ]
    return ClassResults(Path("/nowhere"), stem, f"Chapter {stem}", tuple(rows))


class Course:
    """A course folder whose class is what the test says; its pages stay empty."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.classes = folder, list[ClassResults]()
        (folder / "chapters").mkdir(parents=True)
        (folder / "nbgrader_config.py").touch()
        monkeypatch.setattr(class_results, "assignments_with_results", lambda _: [each.stem for each in self.classes])
        monkeypatch.setattr(class_results, "read_all", lambda *_: self.classes)
        monkeypatch.setattr(class_results, "assignment_title", lambda _, stem: f"Chapter {stem}")
        monkeypatch.setattr(write_reports, "_run", lambda *_: nbformat.v4.new_notebook())
        monkeypatch.setattr("autograder.cli.summary.count_parts_without_score", lambda *_: {})

    def report(self, *classes: ClassResults, today: date = NOVEMBER, beside: Path | None = None) -> None:
        """Write the report of these classes on this day."""
        self.classes[:] = classes
        write_reports.write_reports(self.folder, (), beside, lambda: today)

    def lines(self) -> list[str]:
        """Return the rows and paragraphs of the comparison as text."""
        page = (self.folder / "reports" / "then-and-now.html").read_text(encoding="utf-8")
        parts = re.findall(r"<(?:tr|p|caption)\b.*?</(?:tr|p|caption)>", page)
        return [re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", part)).strip() for part in parts]


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Course:
    """Return an empty course."""
    return Course(tmp_path / "course", monkeypatch)


def test_before_and_after_teaching_again(course: Course) -> None:
    """Each exercise has both shares, the interval and words; mistakes that came or went are listed."""
    course.report(class_of((PASS, 4), (DIM, 15), (MEAN, 1)))
    course.report(
        class_of((PASS, 18), (MEAN, 2)), today=DECEMBER, beside=course.folder / "report-tables" / "2026-11-30"
    )
    told = course.lines()

    assert "a 4 of 20 (20%) 18 of 20 (90%) +70.0 (+40.5 to +83.9) percentage points solved more often" in told
    assert "b 20 of 20 (100%) 20 of 20 (100%) +0.0 (-16.1 to +16.1) percentage points no difference can be told" in told
    assert "Mistakes that have become rarer" in told and "Mistakes that have become more frequent" not in told
    assert "You forgot dim . a 15 of 20 (75%) 0 of 20 (0%) -75.0 (-88.8 to -47.8) percentage points" in told
    assert "Of 1 other known mistake no difference can be told." in told
    assert not any("divide" in line for line in told)
    assert 'href="then-and-now.html"' in (course.folder / "reports" / "index.html").read_text()


def test_an_earlier_term(course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its course or project is named; other exercises and assignments are said to be apart; the text is escaped."""
    last = Course(tmp_path / "last" / "course", monkeypatch)
    last.report(class_of((PASS, 20)), class_of((PASS, 3), stem="ch1", exercise="old"))
    for other in (tmp_path / "last", last.folder, last.folder / "reports"):
        again = Course(tmp_path / f"now-{other.name}", monkeypatch)
        now = class_of((PASS, 4), (MEAN, 16)), class_of((PASS, 3), stem="ch1", exercise="new"), class_of(stem="ch2")
        again.report(*now[:2], class_of((PASS, 2), stem="ch2"), beside=other)
        told = again.lines()

        assert "You add and do not &lt;divide&gt;. a 0 of 20 (0%) 16 of 20 (80%) " in "".join(told)
        assert any(line.startswith("a 20 of 20") and line.endswith("solved less often") for line in told)
        assert "Only then: old." in told and "Only now: new." in told
        assert "Not compared, since the earlier report has no such exercises: Chapter ch2." in told


def test_the_next_report_removes_the_page_and_keeps_the_days_tables(course: Course) -> None:
    """Without `--beside`, no old comparison stays; tables are kept for each day, name nobody, and git ignores them."""
    course.report(class_of((PASS, 4), (DIM, 15)))
    kept = course.folder / "report-tables" / "2026-11-30"
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    course.report(class_of((PASS, 18)), today=DECEMBER, beside=kept)
    assert (course.folder / "reports" / "then-and-now.html").is_file()
    course.report(class_of((PASS, 18)), today=DECEMBER)

    assert not (course.folder / "reports" / "then-and-now.html").exists()
    assert {"items-ch.csv", "mistakes-ch.csv"} == set(before)
    assert before == {path.name: path.read_bytes() for path in kept.iterdir()}
    assert not any(b"s0" in data for data in before.values())
    assert "/course/report-tables/" in (PROJECT / ".gitignore").read_text().splitlines()


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        (None, b"", "expected the tables of an earlier report, items-*.csv, in"),
        (
            "items-ch9.csv",
            b"exercise,passed,wrong,not attempted\nz,1,2,3\n",
            "expected exercises of ch in the tables in",
        ),
        (
            "items-ch.csv",
            b"exercise,passed,wrong,not attempted\nz,1,2,3\n",
            "expected exercises of ch in the tables in",
        ),
        ("items-ch.csv", b"", "it has those of no assignment. Name a report of the same assignments."),
        ("items-ch.csv", b"exercise;passed;wrong;not attempted\na;1;2;3\n", "is no table of a report"),
        ("items-ch.csv", b"exercise,passed,wrong,not attempted\na,1,2\n", "is no table of a report"),
        ("items-ch.csv", b"exercise,passed,wrong,not attempted\na,-1,2,3\n", "is no table of a report"),
        ("items-ch.csv", b"exercise,passed,wrong,not attempted\na,0,0,0\n", "is no table of a report"),
        ("items-ch.csv", b"\xff\xfe\0", "is no table of a report"),
        ("mistakes-ch.csv", b"exercise,mistake,what was read,students\na,no-dim,Dim.,99\n", "is no table of a report"),
        ("same", b"", "are those of now: nothing can be compared."),
    ],
)
def test_what_cannot_be_compared(
    course: Course, tmp_path: Path, name: str | None, data: bytes, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line says why, and no page or table is changed."""
    course.report(class_of((PASS, 4), (DIM, 15)))
    other = course.folder / "report-tables" / "2026-11-30"
    if name != "same":
        (other := tmp_path / "other").mkdir()
        if name == "mistakes-ch.csv":
            (other / "items-ch.csv").write_bytes((course.folder / "reports" / "items-ch.csv").read_bytes())
        if name:
            (other / name).write_bytes(data)
    before = {path: path.read_bytes() for path in course.folder.rglob("*") if path.is_file()}

    assert 1 == main(["--root", str(course.folder), "report", "--beside", str(other)])
    line = capsys.readouterr().err
    assert told in line and 1 == line.count("\n") and "our fault" not in line
    assert before == {path: path.read_bytes() for path in course.folder.rglob("*") if path.is_file()}
