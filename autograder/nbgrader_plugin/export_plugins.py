"""nbgrader export plug-ins: grades as plain CSV, and with the columns that Canvas, Moodle and Brightspace import.

    nbgrader export                                                            # grades.csv
    nbgrader export --exporter autograder.nbgrader_plugin.export_plugins.Canvas --to canvas.csv
    nbgrader export --exporter autograder.nbgrader_plugin.export_plugins.Moodle --to moodle.csv
    nbgrader export --exporter autograder.nbgrader_plugin.export_plugins.Brightspace --to brightspace.csv

`--assignment` and `--student` select, as for nbgrader's own exporters. Where a part of a submission waits for a score
by hand, the student gets no grade; `--PlainGrades.with_unscored=True` (or `--Canvas.` and so on) exports it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from nbgrader.api import Gradebook
from nbgrader.plugins import ExportPlugin
from traitlets import Bool

from autograder.grading import verdict_store
from autograder.nbgrader_plugin import csv_escaping, kept_roster_columns
from autograder.nbgrader_plugin import gradebook_scores as marks
from autograder.nbgrader_plugin.gradebook_scores import AssignmentScore, GradebookStudent, MarkedAssignment
from autograder.nbgrader_plugin.kept_roster_columns import Columns, lms_student_number

CsvRow = Sequence[object]


class _Export(ExportPlugin):
    """An export plug-in that writes the rows of its subclass as CSV; `to` names the file."""

    filename = "grades.csv"
    with_unscored = Bool(False, help="also export grades of which a part waits for a score by hand").tag(config=True)

    def export(self, gradebook: Gradebook) -> None:
        """Write the marks of the selected students and assignments to the file.

        An assignment that nobody has handed in is left out, unless it is named: it may not be released yet, and Canvas
        and Moodle would make a column of it.
        """
        people = marks.read_students(gradebook, {str(each) for each in self.student})
        named = {str(each) for each in self.assignment}
        tasks = [task for task in marks.read_marked_assignments(gradebook, named) if named or task.marks]
        tasks = [self._whole(task) for task in tasks]
        path = Path(self.to or self.filename)
        self.log.info("Exporting %d students and %d assignments to %s", len(people), len(tasks), path)
        csv_escaping.write_csv(path, self.rows(people, tasks, self._kept()))

    def _whole(self, task: MarkedAssignment) -> MarkedAssignment:
        """Return the assignment, in which `unscored` marks whose grade is left out; log whose it is."""
        waiting = {who: mark.unscored for who, mark in task.marks.items() if mark.unscored and who in self._asked(task)}
        if not waiting:
            return task
        done = f"These grades are left out: score them, or add --{type(self).__name__}.with_unscored=True."
        if self.with_unscored:
            done = "These grades are exported without them."
            task = replace(task, marks={who: replace(mark, unscored=0) for who, mark in task.marks.items()})
        self.log.warning("%s: %s %s", task.name, marks.unscored_message(waiting), done)
        return task

    def _asked(self, task: MarkedAssignment) -> Collection[str]:
        return {str(each) for each in self.student} or task.marks

    def _kept(self) -> Columns:
        """Return the columns of the roster for which nbgrader has no field."""
        course = self._course()
        return kept_roster_columns.load_columns(course) if course else {}

    def _course(self) -> Path | None:
        """Return the course folder of the running command, or None."""
        about = getattr(self.parent, "coursedir", None)
        return Path(about.root) if about else None

    def _read(self, task: MarkedAssignment) -> MarkedAssignment:
        """Return the assignment without the marks of unreadable submissions: they get no grade, not zero."""
        course = self._course()

        def is_unread(student: str, mark: AssignmentScore) -> bool:
            found = None if course is None or mark.raw else verdict_store.read_verdict(course, task.name, student)
            return bool(found and found.trouble)

        return replace(task, marks={who: mark for who, mark in task.marks.items() if not is_unread(who, mark)})

    def rows(
        self, people: Sequence[GradebookStudent], tasks: Sequence[MarkedAssignment], kept: Columns
    ) -> Iterable[CsvRow]:
        """Return the rows of the file, header first."""
        raise NotImplementedError


class PlainGrades(_Export):
    """Exports a row for each assignment and student, with nbgrader's own columns."""

    def rows(
        self, people: Sequence[GradebookStudent], tasks: Sequence[MarkedAssignment], _kept: Columns
    ) -> Iterator[CsvRow]:
        """Yield the rows as nbgrader's own exporter writes them."""
        yield _PLAIN
        for task in tasks:
            for person in people:
                mark = task.of(person.id)
                who = (person.id, person.last_name, person.first_name, person.email)
                grade = (mark.raw, mark.penalty, mark.score) if not mark.unscored else ("", "", "")
                yield task.name, task.due, mark.handed_in, *who, *grade, task.max_score


_PLAIN = (
    "assignment",
    "duedate",
    "timestamp",
    "student_id",
    "last_name",
    "first_name",
    "email",
    "raw_score",
    "late_submission_penalty",
    "score",
    "max_score",
)


class Canvas(_Export):
    """Exports a row for each student and a column for each assignment, for import into Canvas's gradebook.

    Canvas finds a student by `ID` (its own number: nbgrader's `lms_user_id`), else by `SIS Login ID` (nbgrader's id),
    else by name; an assignment by its title. The row `Points Possible` gives the full marks of assignments that Canvas
    creates. Without a readable submission the cell is empty. Source: `lib/gradebook_importer.rb` in Canvas's
    repository; the steps are in "How do I import grades in the Gradebook?" of the
    Canvas Instructor Guide.
    """

    filename = "canvas.csv"

    def rows(
        self, people: Sequence[GradebookStudent], tasks: Sequence[MarkedAssignment], kept: Columns
    ) -> Iterator[CsvRow]:
        """Yield two header rows, then a row for each student."""
        tasks = [self._read(task) for task in tasks]
        others = kept_roster_columns.columns_present(
            kept, ("Integration ID", "Root Account")
        )  # between the login and the section
        names = ("SIS User ID", "SIS Login ID", *others, "Section")
        yield "Student", "ID", *names, *(task.name for task in tasks)
        yield "Points Possible", "", *("" for _ in names), *(task.max_score for task in tasks)
        for person in people:
            known = kept.get(person.id, {})
            login = {"SIS Login ID": "" if set(known) & set(kept_roster_columns.CANVAS) else person.id} | dict(known)
            number = lms_student_number(kept_roster_columns.CANVAS_NUMBER, known, person.lms_user_id)
            scores = (_score(task.of(person.id), "") for task in tasks)
            yield person.full_name, number, *(login.get(name, "") for name in names), *scores


class Moodle(_Export):
    """Exports a row for each student and a column for each assignment, for Moodle's "Import > CSV file".

    In Moodle, map one column to the user (`Username` is nbgrader's id, `ID number` its `lms_user_id`) and each
    assignment to a grade item or to "new grade item". Without a readable submission the cell is `-`, Moodle's sign for
    no grade. A single user that Moodle does not know stops its whole import. The columns are those of Moodle's own
    export. Source: `grade/import/csv/classes/load_data.php` in Moodle's repository, and the page "Grade import" of its
    manual.
    """

    filename = "moodle.csv"

    def rows(
        self, people: Sequence[GradebookStudent], tasks: Sequence[MarkedAssignment], kept: Columns
    ) -> Iterator[CsvRow]:
        """Yield a header row, then a row for each student."""
        tasks = [self._read(task) for task in tasks]
        others = kept_roster_columns.columns_present(
            kept, ("Institution", "Department", "Groups", kept_roster_columns.IDENTIFIER)
        )
        yield *_MOODLE, *others, *(task.name for task in tasks)
        for person in people:
            known = {"Username": person.id} | dict(kept.get(person.id, {}))
            number = lms_student_number(kept_roster_columns.MOODLE_NUMBER, known, person.lms_user_id)
            scores = (_score(task.of(person.id), csv_escaping.NO_GRADE) for task in tasks)
            who = (person.first_name, person.last_name, known["Username"], number, person.email)
            yield *who, *(known.get(name, "") for name in others), *scores


_MOODLE = ("First name", "Last name", "Username", "ID number", "Email address")


class Brightspace(_Export):
    """Exports a row for each student and a column for each assignment, for Brightspace's "Enter Grades > Import".

    Brightspace finds a student by `OrgDefinedId` or `Username` (nbgrader's id), and a grade item by its name before
    `Points Grade`. Without a readable submission the cell is empty. Every line ends with the sign `#`. Source:
    https://community.d2l.com/brightspace/kb/articles/3538-importing-grades
    """

    filename = "brightspace.csv"

    def rows(
        self, people: Sequence[GradebookStudent], tasks: Sequence[MarkedAssignment], kept: Columns
    ) -> Iterator[CsvRow]:
        """Yield a header row, then a row for each student."""
        tasks = [self._read(task) for task in tasks]
        numbers = kept_roster_columns.columns_present(kept, (kept_roster_columns.ORG_DEFINED_ID,))
        yield *numbers, "Username", *(f"{task.name} Points Grade" for task in tasks), "End-of-Line Indicator"
        for person in people:
            known = kept.get(person.id, {})
            scores = (_score(task.of(person.id), "") for task in tasks)
            yield *(known.get(name, "") for name in numbers), person.id, *scores, "#"


def _score(mark: AssignmentScore, nothing: str) -> object:
    return mark.score if mark.is_there and not mark.unscored else nothing
