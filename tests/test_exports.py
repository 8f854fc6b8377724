"""Exports of grades: plain CSV, and the files that Canvas and Moodle import."""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nbgrader.api import Gradebook
from nbgrader.plugins import CsvExportPlugin, ExportPlugin

from autograder.errors import WorkFailed
from autograder.grading import verdict_store
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin import csv_escaping
from autograder.nbgrader_plugin.export_plugins import Canvas, Moodle, PlainGrades

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")

ADA = {"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.org", "lms_user_id": "41"}
CHANDRA = {"first_name": "चन्द्र", "last_name": "रमन"}
FORMULA = {"first_name": "=1+1", "last_name": "@SUM(A1)", "email": "+1@example.org"}


@pytest.fixture
def gradebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Gradebook]:
    """Yield a gradebook with two assignments, a late score, extra credit, and a missing submission."""
    monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        for name, most in (("ch01a_tensors", 5), ("ch01b_broadcasting", 3)):
            book.add_assignment(name)
            book.add_notebook(name, name)
            book.add_grade_cell("check", name, name, max_score=most, cell_type="code")
        book.add_student("ada", **ADA)
        book.add_student("chandra", **CHANDRA)
        book.add_student("formula", **FORMULA)
        mark(book, "ch01a_tensors", "ada", score=4, penalty=1.5)
        mark(book, "ch01b_broadcasting", "ada", score=3, extra=2)
        mark(book, "ch01a_tensors", "chandra", score=0.5, penalty=1)
        yield book


def mark(book: Gradebook, assignment: str, student: str, score: float, penalty: float = 0, extra: float = 0) -> None:
    """Record a score as autograding and a teacher would."""
    book.add_submission(assignment, student)
    book.find_submission_notebook(assignment, assignment, student).late_submission_penalty = penalty
    grade = book.find_grade("check", assignment, assignment, student)
    grade.auto_score, grade.extra_credit, grade.needs_manual_grade = score, extra, False
    book.db.commit()


def exported(plugin: ExportPlugin, gradebook: Gradebook, path: Path) -> list[list[str]]:
    """Return the rows of the file that an export plug-in writes."""
    plugin.to = str(path)
    plugin.export(gradebook)
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def by(rows: list[list[str]], column: str) -> dict[str, dict[str, str]]:
    """Return the rows as dictionaries, by one column."""
    return {row[rows[0].index(column)]: dict(zip(rows[0], row, strict=True)) for row in rows[1:]}


class TestPlain:
    """nbgrader's own CSV file, without formulas."""

    def test_holds_what_nbgraders_own_file_holds(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """All values are those of nbgrader's export; only formulas are quoted."""
        ours = exported(PlainGrades(), gradebook, tmp_path / "ours.csv")
        theirs = exported(CsvExportPlugin(), gradebook, tmp_path / "theirs.csv")

        def plain(rows: list[list[str]]) -> list[list[str]]:
            return sorted([cell.removeprefix("'").removesuffix(".0") for cell in row] for row in rows)

        assert plain(theirs) == plain(ours)

    def test_a_penalty_takes_no_more_than_there_is(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """A penalty never makes a score negative."""
        rows = exported(PlainGrades(), gradebook, tmp_path / "grades.csv")

        assert [["0.5", "1.0", "0.0"]] == [row[7:10] for row in rows if row[:4:3] == ["ch01a_tensors", "chandra"]]

    def test_chooses(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """nbgrader's options select assignments and students."""
        rows = exported(
            PlainGrades(assignment=["ch01b_broadcasting"], student=["ada"]), gradebook, tmp_path / "grades.csv"
        )

        assert [["ch01b_broadcasting", "ada"]] == [[row[0], row[3]] for row in rows[1:]]

    def test_names_the_file_that_cannot_be_written(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """A file that cannot be written raises a one-line error."""
        with pytest.raises(WorkFailed, match=r"cannot write .*: Is a directory"):
            exported(PlainGrades(), gradebook, tmp_path)


class TestCanvas:
    """The file that Canvas's gradebook imports."""

    def test_head_is_what_canvas_looks_for(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """The header has the columns that Canvas's importer needs, with assignments after `Section`."""
        head, full, *_ = exported(Canvas(), gradebook, tmp_path / "canvas.csv")

        assert [
            "Student",
            "ID",
            "SIS User ID",
            "SIS Login ID",
            "Section",
            "ch01a_tensors",
            "ch01b_broadcasting",
        ] == head
        assert ["Points Possible", "", "", "", "", "5.0", "3.0"] == full

    def test_students_by_number_login_and_name(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """Students have number, login and name, and a missing grade is an empty cell."""
        rows = exported(Canvas(), gradebook, tmp_path / "canvas.csv")

        assert [
            ["Lovelace, Ada", "41", "", "ada", "", "2.5", "5.0"],
            ["रमन, चन्द्र", "", "", "chandra", "", "0.0", ""],
        ] == [row for row in rows[2:] if row[3] in ("ada", "chandra")]


class TestMoodle:
    """The file that Moodle's gradebook imports."""

    def test_students_and_grades(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """There is a column for each way to identify a user, and a missing grade is a dash."""
        found = by(exported(Moodle(), gradebook, tmp_path / "moodle.csv"), "Username")

        assert ("Ada", "Lovelace", "41", "ada@example.org") == tuple(
            found["ada"][name] for name in ("First name", "Last name", "ID number", "Email address")
        )
        assert ["2.5", "5.0", "0.0", "-"] == [
            found[who][name] for who in ("ada", "chandra") for name in ("ch01a_tensors", "ch01b_broadcasting")
        ]


@pytest.mark.parametrize(("plugin", "who", "nothing"), [(Canvas, "SIS Login ID", ""), (Moodle, "Username", "-")])
def test_what_nobody_could_read_is_no_grade(
    plugin: type[ExportPlugin],
    who: str,
    nothing: str,
    gradebook: Gradebook,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """An unreadable submission has no grade until a person scores it; a read one without points has 0."""
    for student, trouble in (("ada", "it is a picture."), ("formula", "it is a picture."), ("chandra", None)):
        verdict_store.store_unrecorded_verdict(
            tmp_path, student, SubmissionVerdict("ch01b_broadcasting", 1, "", (), {}, {}, trouble=trouble)
        )
    mark(gradebook, "ch01b_broadcasting", "formula", score=0)
    mark(gradebook, "ch01b_broadcasting", "chandra", score=0)
    monkeypatch.setattr(plugin, "_course", lambda _: tmp_path)

    found = by(exported(plugin(), gradebook, tmp_path / "out.csv"), who)

    assert ["5.0", nothing, "0.0"] == [found[each]["ch01b_broadcasting"] for each in ("ada", "formula", "chandra")]


@pytest.mark.parametrize("plugin", [PlainGrades, Canvas, Moodle])
def test_what_nobody_handed_in_is_not_there(plugin: type[ExportPlugin], gradebook: Gradebook, tmp_path: Path) -> None:
    """An assignment without a submission, which may not be released yet, is in no file, unless it is asked for."""
    gradebook.add_assignment("moving_average")
    cells = [cell for row in exported(plugin(), gradebook, tmp_path / "out.csv") for cell in row]
    asked = exported(plugin(assignment=["moving_average"]), gradebook, tmp_path / "out.csv")

    assert "ch01b_broadcasting" in cells and "moving_average" not in cells
    assert "moving_average" in [cell for row in asked for cell in row]


@pytest.mark.parametrize(("plugin", "nothing"), [(PlainGrades, ""), (Canvas, ""), (Moodle, "-")])
def test_no_grade_goes_out_half_scored(
    plugin: type[ExportPlugin], nothing: str, gradebook: Gradebook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Whose part waits for a score by hand has no grade in the file, and is named, unless the teacher wants it so."""
    grade = gradebook.find_grade("check", "ch01b_broadcasting", "ch01b_broadcasting", "ada")
    grade.needs_manual_grade = True
    gradebook.db.commit()

    def of_ada(**options: object) -> str:
        caplog.clear()
        rows = exported(plugin(log=logging.getLogger(), **options), gradebook, tmp_path / "out.csv")
        column = -2 if plugin is PlainGrades else -1  # the score stands before the full marks
        return next(row[column] for row in rows if "ada" in row and row[0] != "ch01a_tensors")

    assert nothing == of_ada()
    waits = "ch01b_broadcasting: Not scored yet: 1 part of 1 student, in formgrader: ada (1). These grades are"
    assert len(caplog.messages) == 1 and caplog.messages[0].startswith(f"{waits} left out")
    assert "5.0" == of_ada(with_unscored=True) and caplog.messages[0].startswith(f"{waits} exported")
    grade.manual_score = 1.0  # scored once and graded again since: formgrader asks to look, and the score counts
    gradebook.db.commit()
    assert "3.0" == of_ada() and not caplog.messages


def test_who_is_not_asked_for_is_not_named(
    gradebook: Gradebook, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Where only some students are exported, nothing is said of others whose parts wait for a score."""
    gradebook.find_grade("check", "ch01a_tensors", "ch01a_tensors", "chandra").needs_manual_grade = True
    gradebook.db.commit()
    plugin = PlainGrades(log=logging.getLogger(), assignment=["ch01a_tensors"], student=["ada"])

    assert [["2.5", "ada"]] == [[row[-2], row[3]] for row in exported(plugin, gradebook, tmp_path / "out.csv")[1:]]
    assert not caplog.messages


@pytest.mark.parametrize("plugin", [PlainGrades, Canvas, Moodle])
def test_no_cell_is_a_formula(plugin: type[ExportPlugin], gradebook: Gradebook, tmp_path: Path) -> None:
    """A student's name cannot be a formula."""
    rows = exported(plugin(), gradebook, tmp_path / "file.csv")

    assert any("=1+1" in cell for row in rows for cell in row)
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "@"))]


@given(st.lists(st.text(), min_size=1))
def test_any_text_stays_one_cell(texts: list[str]) -> None:
    """Escaping removes every formula and loses no text."""
    for text, cell in zip(texts, csv_escaping.escape_row(texts), strict=True):
        assert text.encode("utf-8", "replace").decode() == (cell if cell == text else cell.removeprefix("'"))
        assert cell == "-" or not cell.lstrip(" \u00a0").startswith(("=", "+", "-", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize("text", ["=1", " =1", "\u00a0@x", "\t=1", "\uff1dA1", "-1+2", "%x", "|x"])
def test_what_spreadsheets_compute(text: str) -> None:
    """Formulas after a space, and in wide letters, are quoted too."""
    assert [f"'{text}"] == csv_escaping.escape_row([text])


def test_numbers_stay_numbers() -> None:
    """Numbers, including negative ones, are not quoted."""
    assert ["-0.5", "3", ""] == csv_escaping.escape_row([-0.5, 3, None])
