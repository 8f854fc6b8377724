"""Render a student's feedback page: a summary of all exercises with points and sentences, then the notebook.

It is nbgrader's own page with a summary on top and the lesson's cells folded, so that students find their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import nbformat
from jinja2 import BytecodeCache, Environment, pass_context
from jinja2.bccache import Bucket
from jinja2.runtime import Context
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters import Highlight2HTML
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbformat import NotebookNode
from nbgrader.preprocessors import GetGrades, NbGraderPreprocessor
from nbgrader.server_extensions import formgrader
from nbgrader.utils import is_grade, is_solution, is_task
from traitlets import List, Unicode
from traitlets.config import Config

from autograder.course.course import course_in
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import CourseError
from autograder.grading import verdict_store
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.ipython_syntax import CHECK
from autograder.notebook.colors import FAILED, FAILED_MARK, OPEN, OPEN_MARK, PASSED, PASSED_MARK
from autograder.notebook.html_markup import Html, join, sentence_to_html, sign, tag
from autograder.notebook.report_rendering import report_headline
from autograder.questions.own_code_question_part import waits_for_person

_TEMPLATES = Path(__file__).parent / "templates"
_NBGRADERS = Path(formgrader.__file__).parent
_STYLES = Path("static", "node_modules", "bootstrap", "dist", "css")
MAX_CACHED_TEXTS = 2000  # rendered texts of cells in a cache: most pages show the same ones
WAITS_METADATA_KEY = "waits"  # key in a cell's nbgrader metadata: whether it waits for a score by hand
_CELL = "text-align:left;vertical-align:top;padding:0.3em 1.2em 0.3em 0"


class FeedbackExporter(HTMLExporter):
    """The HTML exporter of the feedback page; `course/nbgrader_config.py` names it."""

    def __init__(self, **kw: Any) -> None:
        own = Config()
        own.FeedbackExporter.template_name = "course_feedback"
        own.FeedbackExporter.extra_template_basedirs = [str(_TEMPLATES)]
        own.FeedbackExporter.extra_template_paths = [str(_NBGRADERS / "templates"), str(_NBGRADERS / _STYLES)]
        kw["config"].merge(own)
        super().__init__(**kw)  # type: ignore[no-untyped-call]

    def from_notebook_node(self, nb: NotebookNode, resources: Any = None, **kw: Any) -> Any:
        """Export the page as HTMLExporter does, without its last step.

        That step takes half of the time: it parses the whole page to add attributes that this template does not need.
        """
        found = self._init_resources(resources)  # type: ignore[no-untyped-call]
        types = WidgetsDataTypeFilter(notebook_metadata=self._nb_metadata, parent=self, resources=found)
        for name, each in (
            ("highlight_code", CachedHighlighter(parent=self)),
            ("filter_data_type", types),
        ):
            self.register_filter(name, each)  # type: ignore[no-untyped-call]
        return TemplateExporter.from_notebook_node(self, nb, found, **kw)

    @pass_context
    def markdown2html(self, context: Context, source: str) -> str:
        """Render Markdown as HTML, with a cache for cells without attachments."""
        if context.get("cell", {}).get("attachments"):
            return str(super().markdown2html(context, source))
        made = super().markdown2html
        return PROSE.of((source,), lambda: str(made(context, source)))

    def _create_environment(self) -> Environment:
        environment: Environment = super()._create_environment()  # type: ignore[no-untyped-call]
        environment.bytecode_cache = _COMPILED
        return environment


class TextCache:
    """A cache of rendered texts of cells that keeps the `most` newest entries."""

    def __init__(self, most: int = MAX_CACHED_TEXTS) -> None:
        self._most, self._kept = most, dict[tuple[str | None, ...], str]()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, what: tuple[str | None, ...], made: Callable[[], str]) -> str:
        """Return the cached text for a key; call `made` if there is none."""
        if what not in self._kept:
            self._kept[what] = made()
            if len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return self._kept[what]


PROSE, CODE = TextCache(), TextCache()


class TemplateCache(BytecodeCache):
    """A cache of Jinja's compiled templates for all pages: nbgrader creates an exporter for each student."""

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template's bytecode into a bucket if it is cached."""
        if bucket.key in self._kept:
            bucket.bytecode_from_string(self._kept[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Cache a template's bytecode."""
        self._kept[bucket.key] = bucket.bytecode_to_string()


_COMPILED = TemplateCache()


class CachedHighlighter(Highlight2HTML):  # type: ignore[misc,unused-ignore]
    """Highlights code, with a cache: nearly all of it is the lesson's and the same on each page."""

    def __init__(self, **kw: Any) -> None:
        super().__init__(pygments_lexer="ipython3", **kw)  # type: ignore[no-untyped-call]

    def __call__(self, source: str, language: str | None = None, metadata: Any = None) -> str:
        """Return the source as highlighted HTML."""
        if metadata and "magics_language" in metadata:
            return str(super().__call__(source, language, metadata))  # type: ignore[no-untyped-call]
        made = super().__call__
        return CODE.of((source, language), lambda: str(made(source, language)))  # type: ignore[no-untyped-call]


class ScorePreprocessor(GetGrades):  # type: ignore[misc,unused-ignore]
    """Writes the scores into the cells as nbgrader does, and marks the cells that wait for a score by hand."""

    def _get_score(self, cell: NotebookNode, resources: Any) -> None:
        about = cell.metadata.nbgrader
        grade = self.gradebook.find_grade(about["grade_id"], self.notebook_id, self.assignment_id, self.student_id)
        about["score"], about["points"] = grade.score, grade.max_score
        about[WAITS_METADATA_KEY] = bool(grade.needs_manual_grade and grade.manual_score is None)


class SummaryPreprocessor(NbGraderPreprocessor):  # type: ignore[misc]
    """Adds the summary to the page and marks the lesson's cells for folding; it runs after ScorePreprocessor."""

    # The HTML exporter sets this for every preprocessor; nbgrader's class complains where it cannot be set.
    display_data_priority = List(Unicode()).tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Add the summary to the resources of a notebook; its sources and outputs stay unchanged."""
        about, coursedir = resources["nbgrader"], self.parent.parent.coursedir
        course, stem = Path(coursedir.root), about["assignment"]
        verdict = _verdict(course, stem, about["student"])
        if verdict and verdict.notebooks:
            verdict = verdict.of_notebook(about["notebook"])
        title = next((each.title for each in course_in(course).listed if each.stem == stem), stem)
        title = title if about["notebook"] == stem else f"{title}, {about['notebook']}"
        about["summary"] = summary(nb, title, about, verdict)
        released = coursedir.format_path(coursedir.release_directory, ".", stem)
        mark_lesson_cells(nb, _sources(Path(released) / f"{about['notebook']}.ipynb"))
        return nb, resources


def _verdict(course: Path, stem: str, student: str) -> SubmissionVerdict | None:
    """Return the stored verdict; None if it is missing or damaged, and then the page shows only scores."""
    try:
        found = verdict_store.read_verdict_file(course, stem, student)
    except CourseError:
        return None
    return found.verdict if found else None


def _sources(released: Path) -> frozenset[str]:
    """Return the sources of the released cells; an empty set if the release cannot be read."""
    try:
        return frozenset(cell.source.strip() for cell in nbformat.read(released, as_version=4).cells)
    except (OSError, ValueError):
        return frozenset()


def mark_lesson_cells(nb: NotebookNode, released: frozenset[str]) -> None:
    """Mark consecutive cells that come unchanged from the lesson, so that the page can fold them.

    The first one's metadata gets `folded_from`, the number of cells; the last one's gets `folded_to`.
    """
    for is_lesson, run in groupby(nb.cells, lambda cell: _is_lessons(cell, released)):
        cells = list(run)
        if is_lesson:
            cells[0].metadata.folded_from = len(cells)
            cells[-1].metadata.folded_to = True


def _is_lessons(cell: NotebookNode, released: frozenset[str]) -> bool:
    return not (is_grade(cell) or is_solution(cell) or is_task(cell)) and cell.source.strip() in released


def summary(nb: NotebookNode, title: str, about: dict[str, Any], verdict: SubmissionVerdict | None) -> Html:
    """Return the summary: total points, an error about an unreadable file, and a row for each exercise."""
    late = about["late_penalty"]
    heading = f"{_number(about['score'])} of {_number(about['max_score'])} points"
    heading += f", {_number(late)} taken off for lateness" if late else ""
    waiting = sum(cell.metadata.nbgrader.points for cell in nb.cells if _waits(cell))
    heading += f", {_number(waiting)} not scored yet" if waiting else ""
    trouble = verdict.trouble if verdict else None
    comments = {cell.metadata.nbgrader.grade_id for cell in nb.cells if is_solution(cell) and _comment(cell)}
    rows = [_row(cell, verdict, comments) for cell in nb.cells if is_grade(cell) or is_task(cell)]
    return tag(
        "div",
        tag("h1", f"{title}: {heading}", style="font-size:170%"),
        tag("p", tag("strong", sentence_to_html(trouble))) if trouble else "",
        tag("table", *rows, style="border:none;margin:1em 0 2em"),
        style="line-height:1.5",
    )


def _waits(cell: NotebookNode) -> bool:
    """Whether a cell waits for a score by hand."""
    return bool(cell.metadata.get("nbgrader", {}).get(WAITS_METADATA_KEY))


def _comment(cell: NotebookNode) -> bool:
    """Whether the teacher commented on an answer; nbgrader itself writes "No response."."""
    return cell.metadata.nbgrader.get("comment") not in (None, "", "No response.")


def _row(cell: NotebookNode, verdict: SubmissionVerdict | None, comments: set[str]) -> Html:
    about = cell.metadata.nbgrader
    name = about.grade_id.removeprefix(CHECK)
    report = next((each for each in verdict.reports if each.exercise == name), None) if verdict else None
    link = tag("a", name, href=f"#{about.grade_id}")
    points = f"{_number(about.score)} of {_number(about.points)}" if about.points else _extra(name, verdict)
    points = f"not scored yet, of {_number(about.points)}" if _waits(cell) else points
    comment = (" ", tag("a", "Comment", href=f"#comment-{name}")) if name in comments else ()
    cells = (join(*_mark(report), link), points)
    is_scored = report is not None and waits_for_person(report) and not _waits(cell)
    told = ("scored by your teacher",) if is_scored else _advice(report) if not (verdict and verdict.trouble) else ()
    advice = tag("td", *told, *comment, style=_CELL)
    return tag("tr", *(tag("td", each, style=f"{_CELL};white-space:nowrap") for each in cells), advice)


def _number(points: float) -> str:
    return f"{round(points, 2):g}"


def _extra(name: str, verdict: SubmissionVerdict | None) -> str:
    most = verdict.extra.get(name, 0) if verdict else 0
    return f"{_number(verdict.earned_extra(name))} of {most} extra" if verdict and most else ""


def _mark(report: Report | None) -> Iterator[Html | str]:
    if report is None:
        return
    is_open = report.verdicts[0].status is Status.NOT_ATTEMPTED or waits_for_person(report)
    state = (PASSED_MARK, PASSED) if report.passed else (OPEN_MARK, OPEN) if is_open else (FAILED_MARK, FAILED)
    yield from (sign(*state), " ")


def _advice(report: Report | None) -> Iterator[Html | str]:
    """Yield the state of an exercise and the first sentence about what to mend."""
    if report is None:
        return
    yield report_headline(report).partition(": ")[2]
    first = next((each for each in report.failed_checks if each.sentence), None)
    if first is not None and first.status is not Status.NOT_ATTEMPTED:
        yield from (". ", sentence_to_html(first.sentence))
