"""What Gradescope, PrairieLearn and Classroom 50 read of a verdict, by the documentation of each."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms.classroom50_results import classroom50_release_body, classroom50_result
from autograder.lms.gradescope_results import gradescope_failure_result, gradescope_results
from autograder.lms.prairielearn_results import prairielearn_failure_result, prairielearn_results
from autograder.notebook.report_rendering import text

# What a student may bring into a sentence: HTML, a link by escape sequences, the end of a code block, a heading.
NASTY = (
    "<img src=x onerror=alert(1)> \x1b]8;;https://a.example\x07me\x1b]8;;\x07 \x1b[2J `````\n\n# Full marks\r@teacher"
)
PASSED = Verdict("adds", Status.PASS)
FAILED = Verdict("adds any", Status.FAIL, f"You subtract: {NASTY}", "subtracts", "f(3)", "4", "2", case=7)
ABOUT = {
    "CLASSROOM": "torch-fall",
    "ASSIGNMENT": "ch01-sample",
    "SUBMISSION_TAG": "submit/2026-09-01T14-32-05Z-a1b2c3d",
    "COMMIT_URL": "https://github.com/o/r/commit/1",
    "RELEASE_URL": "https://github.com/o/r/releases/tag/1",
    "REVIEW_URL": "",
}
NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)


def verdict(**changes: Any) -> SubmissionVerdict:
    """Return a verdict on three exercises: two thirds of two points, one point, and two of extra credit."""
    reports = (
        Report("most_of_it", (PASSED, PASSED, FAILED)),
        Report("all_of_it", (PASSED,), ("Nice.",)),
        Report("bonus", (PASSED,)),
    )
    points, extra = {"most_of_it": 2, "all_of_it": 1, "bonus": 0}, {"most_of_it": 0, "all_of_it": 0, "bonus": 2}
    made = SubmissionVerdict("ch01_sample", 4711, "digest-of-it", reports, points, extra, eye=("sets torch.allclose",))
    return replace(made, key="key-of-it", **changes)


UNREAD = verdict(
    trouble="the file is no notebook",
    reports=tuple(
        Report(name, (Verdict("adds", Status.NOT_ATTEMPTED),)) for name in ("most_of_it", "all_of_it", "bonus")
    ),
)


def everything(made: SubmissionVerdict) -> dict[str, str]:
    """Return all texts that the platforms get, by platform."""
    return {
        "gradescope": json.dumps(gradescope_results(made)),
        "prairielearn": json.dumps(prairielearn_results(made)),
        "classroom50": json.dumps(classroom50_result(made, ABOUT, NOON)) + classroom50_release_body(made),
    }


def test_gradescope() -> None:
    """Each exercise is a test with its points, maximum, status and report; extra credit has the maximum 0."""
    made = gradescope_results(verdict())

    assert [("most_of_it", 1.3333, 2, "failed"), ("all_of_it", 1, 1, "passed"), ("bonus", 2, 0, "passed")] == [
        (test["name"], test["score"], test["max_score"], test["status"]) for test in made["tests"]
    ]
    assert text(verdict().reports[1]) == made["tests"][1]["output"]
    assert "score" not in made and "" == made["output"]


def test_gradescope_renders_nothing() -> None:
    """Every format is `text`, also that of the whole submission, which would be HTML; students do not see the log."""
    made = gradescope_results(verdict())
    formats = {name: each for name, each in made.items() if name.endswith("_format")}

    assert {"output_format": "text", "test_output_format": "text", "test_name_format": "text"} == formats
    assert "hidden" == made["stdout_visibility"]
    assert all("output_format" not in test for test in made["tests"])


def test_prairielearn() -> None:
    """The score is the share of all points, extra credit included, and 1 at most."""
    made, less = prairielearn_results(verdict()), verdict(extra={"most_of_it": 0, "all_of_it": 0, "bonus": 0})

    assert (True, 1.0) == (made["gradable"], made["score"])
    assert pytest.approx(2.3333 / 3, abs=1e-4) == prairielearn_results(less)["score"]
    assert [(1.3333, 2), (1, 1), (2, 0)] == [(test["points"], test["max_points"]) for test in made["tests"]]
    assert text(verdict().reports[1]) == made["tests"][1]["message"]


def test_prairielearn_escapes_html_itself() -> None:
    """HTML stays as it was typed, to be escaped there; no escape sequence is left, of which it would make links."""
    message = prairielearn_results(verdict())["tests"][0]["message"]

    assert "<img src=x onerror=alert(1)>" in message
    assert message.replace("\n", "").isprintable()


def test_an_unreadable_file_costs_no_attempt_in_prairielearn() -> None:
    """It is "invalid, not gradable", with the reason, and has no score."""
    made = prairielearn_results(UNREAD)

    assert {"gradable": False, "format_errors": ["Your notebook was not graded: the file is no notebook"]} == made


def test_an_unreadable_file_earns_nothing_elsewhere() -> None:
    """As in our own grading, it has 0 of all points, and the reason stands first."""
    made = gradescope_results(UNREAD)

    assert "Your notebook was not graded: the file is no notebook" == made["output"]
    assert {0} == {test["score"] for test in made["tests"]}
    assert (0, 300) == tuple(classroom50_result(UNREAD, ABOUT, NOON)[name] for name in ("score", "max-score"))
    assert "Your notebook was not graded: the file is no notebook" in classroom50_release_body(UNREAD)


def test_classroom50() -> None:
    """The scores are whole numbers, hundredths of points, none above its maximum; extra credit is in the text alone."""
    made = classroom50_result(verdict(), ABOUT, NOON)

    assert [("most_of_it", False, 133, 200), ("all_of_it", True, 100, 100)] == [
        (test["test-name"], test["passed"], test["score"], test["max-score"]) for test in made["tests"]
    ]
    assert (233, 300) == (made["score"], made["max-score"])
    assert "### 2.3333 of 3 points, and 2 of extra credit\n" in classroom50_release_body(verdict())


def test_classroom50_is_told_who_is_graded() -> None:
    """The identity is what the runner says; without a review, the commit stands for it."""
    made = classroom50_result(verdict(), ABOUT, NOON)
    told = {name: each for name, each in made.items() if isinstance(each, str)}

    assert told == {
        "schema": "classroom50/result/v1",
        "classroom": "torch-fall",
        "assignment": "ch01-sample",
        "submission": "submit/2026-09-01T14-32-05Z-a1b2c3d",
        "commit": "https://github.com/o/r/commit/1",
        "release": "https://github.com/o/r/releases/tag/1",
        "review": "https://github.com/o/r/commit/1",
        "datetime": "2026-09-01T12:00:00Z",
    }


def test_classroom50_shows_reports_as_text() -> None:
    """A report stands in a code block whose fence is longer than any run of backticks in it."""
    body = classroom50_release_body(verdict())
    fence, block = re.findall(r"^(`{3,})\n(most_of_it: .*?)\n\1$", body, re.MULTILINE | re.DOTALL)[0]

    assert 6 == len(fence) and "# Full marks" in block
    assert "# Full marks" not in body.replace(block, "")


@pytest.mark.parametrize("platform", ["gradescope", "prairielearn", "classroom50"])
def test_nothing_of_the_judges_gets_out(platform: str) -> None:
    """No tag of a mistake, no seed, no digest, and no line for a teacher's eye stands in a result."""
    told = everything(verdict())[platform]

    assert not re.search(r"subtracts|4711|digest-of-it|key-of-it|torch\.allclose", told)
    assert "You subtract: " in told


@pytest.mark.parametrize("platform", ["gradescope", "prairielearn", "classroom50"])
def test_no_control_characters(platform: str) -> None:
    """Nothing in a result moves a cursor or begins a link."""
    told = everything(verdict())[platform]

    assert not re.search(r"\\u001b|\\u0007|\\r|[\x00-\x08\x0b-\x1f]", told)


def test_a_fault_of_the_grader_has_no_score() -> None:
    """A message, no points and no test: what the grader did wrong never looks like a student's 0."""
    gradescope, prairielearn = gradescope_failure_result("Not graded."), prairielearn_failure_result("Not graded.")

    assert ("Not graded.", []) == (gradescope["output"], gradescope["tests"]) and "score" not in gradescope
    assert {"gradable": False, "format_errors": ["Not graded."]} == prairielearn
