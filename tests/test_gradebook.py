"""nbgrader's plug-ins on small data, and the errors that stop a run before it begins."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook
from nbgrader.utils import determine_grade

from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import CourseError, CourseNotFound, WorkFailed
from autograder.grading import assignment, verdict_store
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin import preflight_checks
from autograder.nbgrader_plugin.grade_cell_outputs import make_grade_cell_outputs
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from tests.small_chapter import SAMPLE

# Warnings of nbgrader's own database layer.
pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def verdict(*statuses: Status, points: int = 0, extra: int = 0) -> SubmissionVerdict:
    """Return a verdict on one exercise with these statuses."""
    told = tuple(Verdict(f"check {i}", status, "<b>No.</b>") for i, status in enumerate(statuses))
    return SubmissionVerdict("ch", 1, "", (Report("double", told),), {"double": points}, {"double": extra})


def grade_cell(outputs: list[Any], points: int) -> Any:
    """Return a grade cell with these outputs."""
    mark = {"grade": True, "solution": False, "locked": True, "points": points, "grade_id": "check_double"}
    return new_code_cell("check(...)", outputs=outputs, metadata={"nbgrader": mark})


@pytest.fixture
def gradebook(tmp_path: Path) -> Iterator[Gradebook]:
    """Yield a gradebook with one student's ungraded submission."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
        with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as made:
            made.add_assignment("ch")
            made.add_notebook("ch", "ch")
            made.add_grade_cell("check_double", "ch", "ch", max_score=0, cell_type="code")
            made.add_student("ada")
            made.add_submission("ch", "ada")
            yield made


def extra_credit(gradebook: Gradebook) -> float | None:
    """Return the student's extra credit."""
    found: float | None = gradebook.find_grade("check_double", "ch", "ch", "ada").extra_credit
    return found


class TestOutputs:
    """The outputs of grade cells."""

    @pytest.mark.parametrize(
        ("statuses", "score"),
        [((Status.PASS,) * 3, 3.0), ((Status.PASS, Status.FAIL, Status.PASS), 2.0), ((Status.ERROR,), 0.0)],
    )
    def test_nbgrader_reads_the_score(self, statuses: tuple[Status, ...], score: float) -> None:
        """nbgrader reads exactly the earned points from a grade cell's outputs."""
        cell = grade_cell(make_grade_cell_outputs(verdict(*statuses, points=3), "double"), 3)

        assert (score, 3.0) == determine_grade(cell)

    @pytest.mark.parametrize(("status", "hinted"), [(Status.FAIL, True), (Status.PASS, False)])
    def test_a_wrong_answer_comes_back_with_hints(self, status: Status, hinted: bool) -> None:
        """The outputs of a failed exercise have folded hints; those of a passed one have none."""
        told = (Report("describe", (Verdict("a check", status, "No."),)),)
        made = SubmissionVerdict("ch01a_tensors", 1, "", told, {"describe": 1}, {"describe": 0})
        page = make_grade_cell_outputs(made, "describe", ("Ask `x`.",))[1].data["text/html"]

        assert hinted == ("<details" in page and "Ask " in page)

    def test_thirds_stay_below_full_points(self) -> None:
        """A score that is no round number is accepted by nbgrader."""
        made = verdict(Status.PASS, Status.PASS, Status.FAIL, points=1)

        assert (
            pytest.approx(2 / 3, abs=1e-3) == determine_grade(grade_cell(make_grade_cell_outputs(made, "double"), 1))[0]
        )

    def test_stretch_exercises_score_nothing_in_the_cell(self) -> None:
        """A stretch exercise scores 0 in its cell of 0 points, and its output names the extra credit."""
        outputs = make_grade_cell_outputs(verdict(Status.PASS, extra=3), "double")

        assert (0.0, 0.0) == determine_grade(grade_cell(outputs, 0))
        assert "3 of 3 points of extra credit" in outputs[0].text

    def test_html_is_escaped(self) -> None:
        """Markup in a message is escaped."""
        page = make_grade_cell_outputs(verdict(Status.FAIL), "double")[1].data["text/html"]

        assert "<b>No" not in page and "&lt;b&gt;No" in page


class TestExtraCredit:
    """Extra credit for stretch exercises, besides a teacher's own."""

    @pytest.fixture
    def give(self, gradebook: Gradebook, tmp_path: Path) -> Callable[[SubmissionVerdict], float | None]:
        """Return a function that records a verdict as a run does, and returns the extra credit in the gradebook."""
        from autograder.nbgrader_plugin.extra_credit import record_extra_credit

        def given(made: SubmissionVerdict) -> float | None:
            verdict_store.store_unrecorded_verdict(tmp_path, "ada", made)
            found = verdict_store.read_verdict_file(tmp_path, "ch", "ada")
            assert found is not None
            record_extra_credit(gradebook, tmp_path, "ada", found)
            return extra_credit(gradebook)

        return given

    def test_it_is_given_and_corrected(self, give: Callable[[SubmissionVerdict], float | None]) -> None:
        """Each run replaces the extra credit of the run before."""
        half, full = verdict(Status.PASS, Status.FAIL, extra=3), verdict(Status.PASS, extra=3)

        assert [3.0, 1.5, 1.5, 3.0] == [give(each) for each in (full, half, half, full)]

    @pytest.mark.parametrize("by_hand", [0.0, 7.0])
    def test_what_a_teacher_wrote_stays(
        self, gradebook: Gradebook, give: Callable[[SubmissionVerdict], float | None], by_hand: float
    ) -> None:
        """A value changed by hand is not replaced."""
        give(verdict(Status.PASS, extra=3))
        gradebook.find_grade("check_double", "ch", "ch", "ada").extra_credit = by_hand
        gradebook.db.commit()

        assert by_hand == give(verdict(Status.PASS, Status.FAIL, extra=3))

    def test_what_a_teacher_wrote_stays_when_it_was_earned_in_between(
        self, gradebook: Gradebook, give: Callable[[SubmissionVerdict], float | None]
    ) -> None:
        """A value set by hand stays even after a run earned the same number."""
        nothing, all_of_it = verdict(Status.FAIL, extra=3), verdict(Status.PASS, extra=3)
        give(nothing)
        gradebook.find_grade("check_double", "ch", "ch", "ada").extra_credit = 3.0
        gradebook.db.commit()

        assert [3.0, 3.0] == [give(all_of_it), give(nothing)]

    def test_run_killed_before_the_gradebook_was_written_knows_its_own(
        self, gradebook: Gradebook, give: Callable[[SubmissionVerdict], float | None], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After a killed run, neither its old nor its new value counts as the teacher's."""
        give(verdict(Status.PASS, extra=3))
        with monkeypatch.context() as patch:
            patch.setattr(gradebook.db, "commit", lambda: pytest.fail("killed"))
            with pytest.raises(pytest.fail.Exception):
                give(verdict(Status.PASS, Status.FAIL, extra=3))
        gradebook.db.rollback()

        assert 1.0 == give(verdict(Status.PASS, Status.FAIL, Status.FAIL, extra=3))

    def test_core_exercises_are_left_alone(self, give: Callable[[SubmissionVerdict], float | None]) -> None:
        """A run never sets extra credit of an exercise with points."""
        assert give(verdict(Status.PASS, points=3)) is None


class TestPlugIns:
    """The classes that nbgrader calls."""

    def test_only_grade_cells_are_cleared(self) -> None:
        """Hidden tests are removed only from grade cells, and nbgrader's markers elsewhere raise no error."""
        from autograder.nbgrader_plugin.hide_tests_in_feedback import HideTests

        hidden = "check(1)\n### BEGIN HIDDEN TESTS\nsecret\n### END HIDDEN TESTS"
        loose = new_code_cell("### BEGIN HIDDEN TESTS\nnever ended")
        graded = grade_cell([], 1)
        graded.source = hidden
        notebook = new_notebook(cells=[loose, graded])

        cleared, _ = HideTests().preprocess(notebook, {})

        assert ["### BEGIN HIDDEN TESTS\nnever ended", "check(1)"] == [cell.source for cell in cleared.cells]

    def test_what_is_recorded_is_noted_for_the_student_of_the_path(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A recorded verdict is noted for the student in the path, because nbgrader may pass a pattern."""
        from autograder.nbgrader_plugin.autograde import note_recorded

        monkeypatch.chdir(tmp_path)
        for student in ("ada", "alan"):
            verdict_store.store_unrecorded_verdict(tmp_path, student, verdict(Status.PASS))
        note_recorded("ch", "a*", [str(tmp_path / "submitted" / "ada" / "ch" / "ch.ipynb")])

        found = {student: verdict_store.read_verdict_file(tmp_path, "ch", student) for student in ("ada", "alan")}
        assert {"ada": True, "alan": False} == {student: bool(k and k.recorded) for student, k in found.items()}

    def test_renamed_notebook_is_put_before_nbgrader(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """nbgrader's list of notebooks gets the released name for any submitted name."""
        from autograder.nbgrader_plugin.autograde import copy_to_released_name

        released = assignment.release_path(tmp_path, "ch01a_tensors")
        released.parent.mkdir(parents=True)
        nbformat.write(new_notebook(), released)
        monkeypatch.chdir(tmp_path)
        handed = tmp_path / "copy of ch01.ipynb"
        handed.write_text("{}")
        notebooks = [str(handed)]
        copy_to_released_name("ch01a_tensors", "ada", notebooks)

        assert [str(tmp_path / "ch01a_tensors.ipynb")] == notebooks and handed.exists()


class TestPreflight:
    """Problems that stop a run before it begins, with one line each."""

    @pytest.fixture
    def course(self, tmp_path: Path) -> Path:
        """Return a course folder with chapters and a gradebook."""
        (tmp_path / "chapters").mkdir()
        sqlite3.connect(tmp_path / "gradebook.db").execute("CREATE TABLE t (a)").connection.close()
        return tmp_path

    @staticmethod
    def check(course: Path) -> None:
        """Run the checks with a short timeout."""
        preflight_checks.check_that_grading_can_run(course, f"sqlite:///{course / 'gradebook.db'}", patience=0.1)

    def test_unknown_assignment_is_one_line(self) -> None:
        """An assignment that was never generated raises an error with the command that generates it."""
        with pytest.raises(CourseNotFound, match="nbgrader generate_assignment ch01a_tensors"):
            preflight_checks.check_assignment_is_known("ch01a_tensors", ["ch02a_gradients"])

    def test_fresh_clone_is_sent_to_a_command_that_works(self, course: Path) -> None:
        """Without a source, the error names the build command; with one, nbgrader's release command."""
        with pytest.raises(CourseNotFound, match="Run `autograder build ch01a_tensors` in the project folder"):
            preflight_checks.require_source_folder(course, "ch01a_tensors")
        with pytest.raises(CourseNotFound, match="Run `make build`"):
            assignment.released_starters(course, "ch01a_tensors")
        (course / "source" / "ch01a_tensors").mkdir(parents=True)
        preflight_checks.require_source_folder(course, "ch01a_tensors")

        with pytest.raises(CourseNotFound, match="Run `nbgrader generate_assignment ch01a_tensors`"):
            assignment.released_starters(course, "ch01a_tensors")

    def test_sound_course_passes(self, course: Path) -> None:
        """A course in order passes the checks."""
        self.check(course)

    def test_locked_gradebook_is_told(self, course: Path) -> None:
        """A locked gradebook raises a one-line error that says what to do."""
        holder = sqlite3.connect(course / "gradebook.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")

        with pytest.raises(WorkFailed, match=r"locked by another program.*Close") as caught:
            self.check(course)
        holder.close()

        assert "\n" not in str(caught.value)

    def test_damaged_gradebook_is_told(self, course: Path) -> None:
        """A gradebook that is no database raises an error."""
        (course / "gradebook.db").write_bytes(b"no database at all" * 100)

        with pytest.raises(WorkFailed, match="cannot be written"):
            self.check(course)

    def test_full_disk_is_told(self, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Too little disk space raises an error."""
        usage = replace_free(shutil.disk_usage(course), 1 << 20)
        monkeypatch.setattr("shutil.disk_usage", lambda _: usage)

        with pytest.raises(WorkFailed, match=r"1 MB left.*Make room"):
            self.check(course)

    def test_missing_course_is_told(self, tmp_path: Path) -> None:
        """A missing course folder raises an error."""
        with pytest.raises(CourseNotFound, match="own folder"):
            self.check(tmp_path / "nowhere")

    @pytest.mark.night
    def test_cycle_stops_at_a_locked_gradebook(self, course: Path) -> None:
        """The grading cycle raises the error of a locked gradebook."""
        for name in ("nbgrader_config.py", "chapters"):
            target = course / name
            target.rmdir() if target.is_dir() else None
            (shutil.copytree if (SAMPLE / "course" / name).is_dir() else shutil.copy)(SAMPLE / "course" / name, target)
        holder = sqlite3.connect(course / "gradebook.db", isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")

        with pytest.raises(CourseError, match="locked"):
            NbgraderCycle(course, "ch01_sample")
        holder.close()


def replace_free(usage: Any, free: int) -> Any:
    """Return disk usage with another amount of free space."""
    return type(usage)(usage.total, usage.total - free, free)


def test_verdicts_are_values() -> None:
    """Two verdicts with the same content are equal."""
    assert verdict(Status.PASS) == replace(verdict(Status.PASS))
