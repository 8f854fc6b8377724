"""The class report: its numbers and names, and that students' texts never become markup."""

from __future__ import annotations

import contextlib
import re
import shutil
import sqlite3
from collections import Counter
from dataclasses import replace
from functools import partial
from html import unescape
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.__main__ import main
from autograder.authoring.example_class import ExampleClass
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import CourseNotFound
from autograder.grading import class_text_table
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.gradebook_scores import AssignmentScore, GradebookStudent, MarkedAssignment
from autograder.nbgrader_plugin.open_nbgrader import open_gradebook
from autograder.notebook.colors import BLUE, ORANGE, WHITE
from autograder.notebook.html_markup import tag
from autograder.reports import chapter_page_sections as chapter_sections
from autograder.reports import course_page_sections as course_sections
from autograder.reports import write_reports
from autograder.reports.class_results import ClassResults
from autograder.reports.example_answers import ExamplePicker
from autograder.reports.item_analysis import analyse_items, correlation
from autograder.reports.misunderstandings import find_misunderstandings, unexplained_answers
from autograder.reports.notebook_to_offline_html import page_from_notebook
from tests.graded import WHOLE, graded_class

PASS = Verdict("works", Status.PASS)
STUB = Verdict("works", Status.NOT_ATTEMPTED, "Not written.")
KNOWN = Verdict("works", Status.FAIL, "You forgot `dim`.", "no-dim", "f(1)", "2", "3")
LOOSE = Verdict("works", Status.FAIL, "", None, "f(1)", "2", "7")
HUNG = Verdict("works", Status.TIMEOUT, "Still running.")
WHO = GradebookStudent("s", "", "", "", "")
EVIL = "<script>alert('x')</script>"
CHAPTER = (
    chapter_sections.overview_section,
    chapter_sections.misunderstandings_section,
    chapter_sections.unexplained_answers_table,
    chapter_sections.submissions_to_review_section,
    chapter_sections.repairs_section,
)
COURSE = (
    course_sections.chapters_section,
    course_sections.costliest_misunderstandings_section,
    course_sections.missing_submissions_section,
)


def verdict(*first: Verdict, worth: int = 2) -> SubmissionVerdict:
    """Return a verdict on exercises a, b, ..., each with one requirement."""
    names = "abcdefgh"[: len(first)]
    reports = tuple(Report(name, (each,)) for name, each in zip(names, first, strict=True))
    return SubmissionVerdict("ch", 1, "", reports, dict.fromkeys(names, worth), dict.fromkeys(names, 0))


def results(
    *verdicts: SubmissionVerdict | None, task: MarkedAssignment | None = None, **people: GradebookStudent
) -> ClassResults:
    """Return the results of students s0, s1, ...; None stands for one who could not be graded."""
    rows = tuple(StudentRow(f"s{n}", each, "" if each else "it is a link.") for n, each in enumerate(verdicts))
    return ClassResults(Path("/nowhere"), "ch", "A chapter", rows, task, people)


class TestCounting:
    """The numbers of the page."""

    def test_passed_wrong_and_not_attempted(self) -> None:
        """Each readable submission counts once per exercise."""
        (item,) = analyse_items(results(verdict(PASS), verdict(KNOWN), verdict(HUNG), verdict(STUB), None))

        assert (1, 2, 1, 4) == (item.passed, item.wrong, item.not_attempted, item.total)

    def test_separation(self) -> None:
        """Separation is near 1 or -1 for agreement or disagreement with other exercises, and None for few students."""
        strong, weak = verdict(PASS, PASS, KNOWN), verdict(KNOWN, KNOWN, PASS)
        found = [item.separation for item in analyse_items(results(*[strong] * 6, *[weak] * 6))]

        assert [None] * 3 == [item.separation for item in analyse_items(results(strong, weak))]
        assert found[2] == pytest.approx(-1) and found[0] is None
        balanced = [verdict(PASS, PASS), verdict(KNOWN, KNOWN)] * 6
        assert analyse_items(results(*balanced))[0].separation == pytest.approx(1)

    def test_those_who_answered_nothing_do_not_make_exercises_separate(self) -> None:
        """Students without any attempt do not influence the separation."""
        alike = [verdict(PASS, KNOWN), verdict(KNOWN, PASS)] * 5
        told = analyse_items(results(*alike, *[verdict(STUB, STUB)] * 50))[0].separation

        assert told == pytest.approx(-1)

    @given(st.lists(st.tuples(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3)), min_size=2))
    def test_correlation_is_between_minus_one_and_one(self, pairs: list[tuple[float, float]]) -> None:
        """The correlation is symmetric and between -1 and 1, or None without variation."""
        x, y = zip(*pairs, strict=True)
        told = correlation(x, y)

        assert told is None or -1.000001 <= told <= 1.000001
        assert told == (None if told is None else pytest.approx(correlation(y, x)))

    def test_a_student_counts_once_for_a_mistake(self) -> None:
        """A student counts once for a mistake, however many requirements show it."""
        twice = SubmissionVerdict("ch", 1, "", (Report("a", (KNOWN, KNOWN)),), {"a": 1}, {"a": 0})
        (found,) = find_misunderstandings(results(twice, verdict(KNOWN), verdict(PASS)))

        assert ("a", "no-dim", "You forgot `dim`.", ("s0", "s1"), (1, 2)) == tuple(vars(found).values())

    def test_unexplained_answers_are_grouped_by_what_they_show(self) -> None:
        """Unexplained answers are grouped by equal observations, without known mistakes, timeouts and starters."""
        other = Verdict("works", Status.ERROR, "It raised.", None, "f(1)", "2", "ValueError")
        found = unexplained_answers(results(*map(verdict, (LOOSE, LOOSE, other, KNOWN, HUNG, STUB, PASS))))

        assert [("s0", "s1"), ("s2",)] == [group.students for group in found]

    def test_a_folder_without_a_notebook_is_nothing_handed_in(self) -> None:
        """A folder without a notebook counts as missing, with its reason."""
        empty = StudentRow("s9", None, "there is no notebook in the submission.", is_empty=True)
        class_ = results(verdict(PASS), None, s0=WHO, s9=WHO)
        class_ = replace(class_, rows=(*class_.rows, empty))

        assert '<th scope="row">handed in</th><td>2 of 2 in the gradebook</td>' in chapter_sections.overview_section(
            class_
        )
        assert "s9" in course_sections.missing_submissions_section(
            [class_]
        ) and "s0" not in course_sections.missing_submissions_section([class_])

    def test_scores_are_the_gradebooks(self) -> None:
        """Scores are the gradebook's if it has them, else the verdict's."""
        task = MarkedAssignment("ch", None, 2.0, {"s0": AssignmentScore(True, None, raw=1.5, penalty=1.0)})

        assert {"s0": 0.5, "s1": 2.0} == results(verdict(PASS), verdict(PASS), task=task).scores


def test_a_locked_gradebook_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`report` under a gradebook that another program holds says so in one line, and so does every other reader."""
    (tmp_path / "nbgrader_config.py").write_text(f"get_config().CourseDirectory.root = {str(tmp_path)!r}\n")
    (tmp_path / "submitted" / "ada" / "own").mkdir(parents=True)
    (tmp_path / "source" / "own").mkdir(parents=True)
    (tmp_path / "chapters").mkdir()
    with open_gradebook(tmp_path):
        pass
    with contextlib.closing(sqlite3.connect(tmp_path / "gradebook.db", isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        monkeypatch.setattr("sqlite3.dbapi2.connect", partial(sqlite3.connect, timeout=0))  # waiting changes nothing
        for command in ("report", "summary"):
            assert 1 == main(["--root", str(tmp_path), command, "own"])
            told = capsys.readouterr().err
            assert (
                "is locked by another program. No grade was lost." in told
                and told.count("\n") == 1
                and "our fault" not in told
            )


def test_the_bars_differ_without_color() -> None:
    """The parts of a bar differ in gray."""
    grey = sorted(
        0.299 * int(color[1:3], 16) + 0.587 * int(color[3:5], 16) + 0.114 * int(color[5:], 16)
        for color in (BLUE, ORANGE, WHITE)
    )

    assert min(light - dark for dark, light in pairwise(grey)) > 60


class TestPage:
    """The HTML pages."""

    def test_nothing_of_a_students_is_markup(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Students' answers, messages, values and names are escaped."""
        monkeypatch.setattr(ExamplePicker, "of", lambda *_: EVIL)
        wild = Verdict(EVIL, Status.FAIL, EVIL, None, EVIL, EVIL, EVIL)
        told = Verdict(EVIL, Status.FAIL, EVIL, "known", EVIL, EVIL, EVIL)
        mended = replace(verdict(told), repairs=(EVIL,), eye=(EVIL,))
        rows = (StudentRow(EVIL, verdict(wild)), StudentRow("x" + EVIL, None, EVIL), StudentRow("y" + EVIL, mended))
        evil = ClassResults(Path("/nowhere"), "ch", EVIL, rows)
        drawn = [part(evil) for part in CHAPTER] + [part([evil]) for part in COURSE]

        assert all("&lt;script&gt;" in part for part in drawn[1:-1]) and "<script" not in "".join(drawn)

    def test_a_page_may_load_and_run_nothing(self) -> None:
        """The page's own security policy forbids scripts and requests."""
        told = page_from_notebook(nbformat.v4.new_notebook(), EVIL, {}).decode()

        assert "<script" not in told and "default-src &#x27;none&#x27;" in told

    def test_who_needs_a_person(self) -> None:
        """The review list has students who were not graded, not read or timed out, or have outdated manual scores."""
        marks = {
            "s2": AssignmentScore(True, has_older_score=True),
            "s0": AssignmentScore(True, unscored=2),
        }
        class_ = results(verdict(PASS), None, verdict(PASS), verdict(HUNG), task=MarkedAssignment("ch", None, 2, marks))
        told = chapter_sections.submissions_to_review_section(class_)

        assert ["s1", "s2", "s3"] == re.findall(r'<th scope="row">(s\d)</th>', told)
        assert "a: Still running." in told and "it is a link." in told and "is older than the last grading" in told
        waits = "Not scored yet: 2 parts of 1 student, in formgrader: s0 (2)."  # one line, since this may be everybody
        assert waits in told and waits in chapter_sections.overview_section(class_)
        assert "median of what is scored" in chapter_sections.overview_section(class_)
        assert "of 2 (of what is scored)" in course_sections.chapters_section([class_])

    def test_what_may_have_cost_points_is_no_repair(self) -> None:
        """A note that may concern points is in the review list, and not among the repairs."""
        class_ = results(replace(verdict(PASS), repairs=("renamed.",), eye=("breaks off.",)), verdict(PASS))

        assert "breaks off." in chapter_sections.submissions_to_review_section(
            class_
        ) and "breaks off." not in chapter_sections.repairs_section(class_)
        assert "renamed." in chapter_sections.repairs_section(
            class_
        ) and "renamed." not in chapter_sections.submissions_to_review_section(class_)
        assert "worth a person's eye: s0\n" in class_text_table.class_table(class_.rows)

    def test_a_class_in_which_nothing_could_be_read(self) -> None:
        """Without a readable submission, the page says so without drawings."""
        nobody = results(None, None)
        drawn = [
            part(nobody)
            for part in (
                chapter_sections.overview_section,
                chapter_sections.exercises_section,
                chapter_sections.misunderstandings_section,
            )
        ]
        told = "".join(
            [*drawn, course_sections.chapters_section([nobody]), course_sections.hardest_exercises_table([nobody])]
        )

        assert "No submission could be read." in told and "<img" not in told


def parts(path: Path) -> dict[str, str]:
    """Return the text of a page's sections, by heading."""
    found = {}
    for section in re.split(r"<h2[^>]*>", path.read_text(encoding="utf-8"))[1:]:
        heading, text = (re.sub(r"<[^>]*>", "", part) for part in section.split("</h2>"))
        found[heading.strip("¶ ")] = unescape(text)
    return found


@pytest.fixture(scope="module")
def graded(request: pytest.FixtureRequest) -> ExampleClass:
    """Return the class after nbgrader's cycle."""
    return graded_class(WHOLE, request)


@pytest.fixture(scope="module")
def written(graded: ExampleClass, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of its course folder with the report."""
    course = tmp_path_factory.mktemp("reported") / "course"
    shutil.copytree(graded.course, course)
    paths = write_reports.write_reports(course)

    assert [course / "reports" / f"{name}.html" for name in (WHOLE, "index")] == paths
    return course


@pytest.mark.xdist_group(f"class of {WHOLE}")
class TestWholeClass:
    """The example class with its mishaps."""

    def test_counts_are_those_that_the_class_was_made_with(self, graded: ExampleClass, written: Path) -> None:
        """Each misunderstanding has its true count and exercise, sorted by lost points, with an example."""
        made = Counter((name, tag) for s in graded.students for name, tag in s.expected.mistakes.items())
        counts = {(str(count), name) for (name, _), count in made.items()}
        told = parts(written / "reports" / f"{WHOLE}.html")

        text = told["What the class misunderstood"]
        names = "|".join(sorted({name for _, name in counts}, key=len, reverse=True))
        found = set(re.findall(rf"\b(\d+) of \d+ students in ({names})", text))
        assert found and found <= counts
        html = (written / "reports" / f"{WHOLE}.html").read_text(encoding="utf-8")
        costs = [float(cost) for cost in re.findall(r"<strong>([\d.]+) points?</strong> lost", html)]
        assert costs and costs == sorted(costs, reverse=True)
        assert "def " in text
        for student in ("broken-json", "endless-loop", "process-death", "syntax-error"):
            assert student in told["Submissions that need a person"]
        assert "renamed-file" in told["What was repaired"]

    def test_misunderstandings_name_nobody(self, graded: ExampleClass, written: Path) -> None:
        """The section on misunderstandings names no student, so that it can be shown in class."""
        told = parts(written / "reports" / f"{WHOLE}.html")

        assert not [s.name for s in graded.students if s.name in told["What the class misunderstood"]]

    def test_pages_stand_alone(self, written: Path) -> None:
        """The pages have no scripts or outside addresses, and a text alternative for each picture."""
        for name in (WHOLE, "index"):
            text = (written / "reports" / f"{name}.html").read_text(encoding="utf-8")
            pictures = re.findall(r'<img [^>]*alt="([^"]*)"', text)

            assert "<script" not in text and "<link" not in text
            assert not re.findall(r'(?:src|href)="(?!data:|#|[\w-]+\.html)', text)
            assert pictures and text.count("<img") == len(pictures) and all(len(words) > 20 for words in pictures)

    def test_questions_for_the_lecture_lie_beside(self, graded: ExampleClass, written: Path) -> None:
        """The page leads to one with questions about the class's mistakes, which names no student."""
        told = (written / "reports" / f"lecture-{WHOLE}.html").read_text(encoding="utf-8")

        assert 3 <= told.count('<section class="slide">') <= 6
        assert not [s.name for s in graded.students if s.name in told]
        assert f'href="lecture-{WHOLE}.html"' in (written / "reports" / f"{WHOLE}.html").read_text(encoding="utf-8")

    def test_the_notebook_lies_beside(self, written: Path) -> None:
        """The report's notebook is beside its page; one kernel, whose cells count on, has run all of them."""
        notebook, index = (
            nbformat.read(written / "reports" / f"{name}.ipynb", as_version=4) for name in (WHOLE, "index")
        )
        last = max(cell.execution_count for cell in notebook.cells if cell.cell_type == "code")

        assert any("sections.misunderstandings_section" in cell.source for cell in notebook.cells)
        assert last < min(cell.execution_count for cell in index.cells if cell.cell_type == "code")


def test_a_chapter_of_which_nothing_was_handed_in(tmp_path: Path) -> None:
    """A chapter without submissions raises an error that lists those with some."""
    (tmp_path / "submitted" / "ada" / WHOLE).mkdir(parents=True)
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / f"{WHOLE}.py").touch()

    with pytest.raises(CourseNotFound, match=f"nothing of 'ch09' was handed in. What has submissions: {WHOLE}"):
        write_reports.write_reports(tmp_path, ["ch09"])


def test_nothing_handed_in(tmp_path: Path) -> None:
    """Without any submission, the error names the next step."""
    with pytest.raises(CourseNotFound, match=r"`nbgrader collect` first, or `autograder collect F"):
        write_reports.write_reports(tmp_path)


@pytest.mark.parametrize(("count", "told"), [(11, "1 more group<"), (13, "3 more groups<")])
def test_the_rest_of_a_long_list_is_folded(count: int, told: str) -> None:
    """The rest of a long list is folded and counted, in singular or plural."""
    folded = chapter_sections._folded([tag("li", str(number)) for number in range(count)], "more group")

    assert told in folded and count == folded.count("<li>")
