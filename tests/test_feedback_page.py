"""The feedback page: its summary, its folded parts, and the whole page after nbgrader's cycle."""

import re
from typing import Any

import pytest
from nbconvert.filters import Highlight2HTML
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from traitlets.config import Config

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.feedback_page import (
    MAX_CACHED_TEXTS,
    PROSE,
    CachedHighlighter,
    FeedbackExporter,
    mark_lesson_cells,
    summary,
)
from tests.graded import WHOLE, graded_class, group, verdict_of


def marked(**about: Any) -> dict[str, Any]:
    """Return a cell's metadata after scoring."""
    return {"nbgrader": {"grade": False, "solution": False, "task": False, "schema_version": 3, **about}}


def page(comment: str = "No response.", score: float = 1.0) -> NotebookNode:
    """Return a notebook with a lesson cell, two exercises, and the student's own cell."""
    cells = [
        new_markdown_cell("# The lesson"),
        new_code_cell("answer", metadata=marked(solution=True, grade_id="halve", comment=comment)),
        new_code_cell("check", metadata=marked(grade=True, grade_id="check_halve", score=score, points=3)),
        new_code_cell("my own"),
        new_markdown_cell("More of it"),
        new_markdown_cell("and more"),
        new_code_cell("check", metadata=marked(grade=True, grade_id="check_more", score=0, points=0)),
    ]
    return new_notebook(cells=cells)


ABOUT: dict[str, Any] = {"score": 1.23456, "max_score": 3.0, "late_penalty": 0}
CODE = "%matplotlib inline\nfor x in range(3):\n    print('<', x)"
REPORTS = (
    Report("halve", (Verdict("halves", Status.PASS), Verdict("keeps", Status.FAIL, "You <b>change</b> `x`."))),
    Report("more", (Verdict("does more", Status.PASS),)),
)


def verdict(**more: Any) -> SubmissionVerdict:
    """Return a verdict."""
    return SubmissionVerdict("week", 1, "", REPORTS, {"halve": 3, "more": 0}, {"halve": 0, "more": 2}, **more)


def text(html: str) -> str:
    """Return the text of HTML."""
    return " ".join(re.sub(r"<[^>]*>", " ", html).split())


class TestSummary:
    """The summary at the top of the page."""

    def test_each_exercise_has_its_line(self) -> None:
        """Each exercise has a line with link, points, checks and message, and students' text is escaped."""
        told = summary(page(), "Week 1", ABOUT, verdict())

        assert text(told).startswith("Week 1: 1.23 of 3 points")
        assert 'href="#check_halve"' in told and "&lt;b&gt;change&lt;/b&gt; <code>x</code>" in told
        assert "✗ halve 1 of 3 1 of 2 checks passed. You" in text(told)
        assert "✓ more 2 of 2 extra all 1 checks passed" in text(told)

    def test_why_a_file_was_not_read_comes_first(self) -> None:
        """The reason for an unreadable file comes before the exercises."""
        told = text(summary(page(), "Week 1", ABOUT, verdict(trouble="The file ends in line 3.")))

        assert told.index("points") < told.index("The file ends in line 3.") < told.index("halve")
        assert "checks passed" not in told

    def test_what_a_teacher_should_look_at_is_for_teachers(self) -> None:
        """Notes for the teacher are not on the page."""
        assert "Look here." not in summary(page(), "Week 1", ABOUT, verdict(eye=("Look here.",)))

    def test_a_teachers_comment_has_a_link_and_lateness_is_told(self) -> None:
        """A teacher's comment is linked, nbgrader's automatic one is not, and a late penalty is listed."""
        assert "#comment-halve" in summary(page("Well tried."), "Week 1", ABOUT, verdict())
        assert "#comment" not in summary(page(), "Week 1", ABOUT, verdict())
        assert "2 taken off for lateness" in summary(page(), "Week 1", ABOUT | {"late_penalty": 2.0}, verdict())

    def test_the_score_is_the_gradebooks(self) -> None:
        """Scores are the gradebook's, even without a verdict."""
        assert "halve 2.5 of 3" in text(summary(page(score=2.5), "Week 1", ABOUT, verdict()))
        assert "halve 1 of 3" in text(summary(page(), "Week 1", ABOUT, None))


def test_what_the_lesson_says_is_folded() -> None:
    """Lesson cells are folded; answers, checks and own cells are not."""
    told = page()
    mark_lesson_cells(told, frozenset({"# The lesson", "More of it", "and more"}))

    assert [1, None, None, None, 2, None, None] == [cell.metadata.get("folded_from") for cell in told.cells]
    assert [True, None, None, None, None, True, None] == [cell.metadata.get("folded_to") for cell in told.cells]


class TestRemembered:
    """Caches of what several pages show."""

    def test_code_is_colored_as_nbconvert_colors_it(self) -> None:
        """Cached highlighting equals nbconvert's, for each language."""
        theirs, ours = Highlight2HTML(pygments_lexer="ipython3"), CachedHighlighter()
        for about in ((CODE,), (CODE, "python"), (CODE, None, {"magics_language": "html"}), (CODE,)):
            assert theirs(*about) == ours(*about)

    def test_a_picture_of_ones_own_is_not_anothers(self) -> None:
        """Equal texts with different attachments are not mixed up."""
        one, other = ({"cell": {"attachments": {"a.png": {"image/png": data}}}} for data in ("AAAA", "BBBB"))
        page = FeedbackExporter(config=Config())

        shown = [page.markdown2html(about, "![seen](attachment:a.png)") for about in (one, other)]  # type: ignore[arg-type]

        assert "AAAA" in shown[0] and "BBBB" in shown[1]
        assert page.markdown2html({}, "*so*") == page.markdown2html({}, "*so*") == "<p><em>so</em></p>\n"  # type: ignore[arg-type]

    def test_no_more_is_kept_than_is_said(self) -> None:
        """The cache has a fixed size."""
        page = FeedbackExporter(config=Config())
        for number in range(MAX_CACHED_TEXTS + 5):
            page.markdown2html({}, f"text {number}")  # type: ignore[arg-type]

        assert MAX_CACHED_TEXTS == len(PROSE)


@pytest.mark.parametrize("student", ["wrong-01", pytest.param("broken-json")])
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
class TestWholePath:
    """The page after release, submission and grading."""

    pytestmark = group(WHOLE)

    def test_the_page(self, student: str, request: pytest.FixtureRequest) -> None:
        """The page has reason or messages at the top, valid links, and balanced folds."""
        graded = graded_class(WHOLE, request)
        found = verdict_of(graded, student)
        html = (graded.course / "feedback" / student / WHOLE / f"{WHOLE}.html").read_text()
        top, _, rest = html.partition('<div id="notebook"')

        assert "Chapter 1: A sample: " in top
        assert all(f'href="#check_{report.exercise}"' in top for report in found.reports)
        assert all(f'name="check_{report.exercise}"' in rest for report in found.reports)
        if found.trouble:
            assert found.trouble.split("`")[0][:40] in text(top)
        assert html.count("<details") == html.count("</details>") and "The lesson, " in rest
        assert "fresh=True" not in html
