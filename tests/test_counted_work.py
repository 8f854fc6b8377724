"""The work that one more submission costs, as counts of operations instead of times."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbgrader.api import Gradebook
from nbgrader.preprocessors import SaveAutoGrades
from sqlalchemy import event
from sqlalchemy.engine import Engine

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import _observe
from autograder.diagnosis.judge_answer import judge_with_examined_source
from autograder.files import write_all
from autograder.grading import max_points_cache
from autograder.grading.assignment import read_assignment
from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin import apply_deadlines, caching_notebook_writer, gradebook_scores
from autograder.nbgrader_plugin.gradebook_recorder import ClassGradebook
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.pipe_messages import Frame
from autograder.sandbox.execution import decoded_observation_cache, submission_runner
from autograder.sandbox.execution.fork_server_client import _ForkServer
from autograder.submission import read_released_cells, read_submission
from tests.conftest import UNCONFINED, needs_confinement
from tests.made_submissions import handed_in
from tests.processes import PYTHONPATH, living_in
from tests.sample_course import STEM, make_course

STUDENTS = ("ada", "bob", "cy", "dan")
QUESTIONS = 12  # queries to the gradebook per submission; nbgrader itself queries for each cell

pytestmark = [
    needs_confinement,
    pytest.mark.xdist_group("counted work"),
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]


@pytest.fixture(scope="module")
def cycle(tmp_path_factory: pytest.TempPathFactory) -> NbgraderCycle:
    """Return a course in which everybody has handed in the solutions."""
    course = make_course(tmp_path_factory.mktemp("counted") / "course")
    cycle = NbgraderCycle(course, STEM)
    cycle.generate()
    for student in STUDENTS:
        (course / "submitted" / student / STEM).mkdir(parents=True)
        hand_in(cycle, student)
    return cycle


def hand_in(cycle: NbgraderCycle, student: str, *unsolved: str) -> None:
    """Hand in the solutions except for these exercises."""
    chapter = Judge(cycle.course, STEM).chapter
    answers = {name: chapter.solution(name) for name in chapter.exercises}
    answers |= {name: chapter.starter(name) for name in unsolved}
    release = read_assignment(cycle.course, STEM, unconfined=UNCONFINED).released()
    (cycle.course / "submitted" / student / STEM / f"{STEM}.ipynb").write_bytes(handed_in(release, answers))


@pytest.fixture(scope="module")
def counted(cycle: NbgraderCycle) -> list[Counter[str]]:
    """Return the counts of a first run, of a second one without changes, and of a third with one changed file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            submission_runner, "_CACHE", decoded_observation_cache.ObservationCache()
        )  # an empty cache, since other tests may have filled it
        runs = [work_of(cycle) for _ in range(2)]
        hand_in(cycle, "ada", "standardize")
        return [*runs, work_of(cycle)]


def work_of(cycle: NbgraderCycle) -> Counter[str]:
    """Return the counts of one run of the class."""
    done: Counter[str] = Counter()

    def counting(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            done[what] += 1
            return function(*args, **kwargs)

        return wrapped

    def validating(new: nbformat.NotebookNode, whole: nbformat.NotebookNode) -> bool:
        done["validated"] += len(new.cells)
        return is_valid(new, whole)

    def packing(*args: Any) -> Frame:
        frame = packed(*args)
        done["bytes of cases and files"] += len(frame.body)
        return frame

    is_valid, packed = caching_notebook_writer._is_valid, submission_runner._packed

    def asked(*_: object) -> None:
        done["asked"] += 1

    event.listen(Engine, "before_cursor_execute", asked)
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(caching_notebook_writer, "_is_valid", validating)
            patch.setattr(submission_runner, "_packed", packing)
            patch.setattr("os.memfd_create", counting("told the cases", os.memfd_create))
            patch.setattr(read_submission, "read_submission", counting("read", read_submission.read_submission))
            patch.setattr(
                read_released_cells.ReleasedCells,
                "__init__",
                counting("released", read_released_cells.ReleasedCells.__init__),
            )
            patch.setattr(
                "autograder.diagnosis.report_cache.judge_with_examined_source",
                counting("judged", judge_with_examined_source),
            )
            patch.setattr(
                "autograder.course.compute_expected_observations._observe", counting("known mistakes", _observe)
            )
            patch.setattr(
                decoded_observation_cache, "_observations", counting("decoded", decoded_observation_cache._observations)
            )
            patch.setattr(max_points_cache, "_points", counting("chapters", max_points_cache._points))
            patch.setattr("autograder.grading.verdict_store.write_all", counting("verdict files", write_all))
            patch.setattr(_ForkServer, "__init__", counting("started", _ForkServer.__init__))
            patch.setattr(_ForkServer, "child", counting("forked", _ForkServer.child))
            patch.setattr(ClassGradebook, "write", counting("committed", ClassGradebook.write))
            patch.setattr(SaveAutoGrades, "preprocess", counting("recorded", SaveAutoGrades.preprocess))
            assert {} == cycle.autograde(
                STUDENTS, how=GradingOptions(workers=WorkerOptions(count=1, stays=True), unconfined=UNCONFINED)
            )
    finally:
        event.remove(Engine, "before_cursor_execute", asked)
    return done


def test_each_submission_is_read_run_and_recorded_once(counted: list[Counter[str]]) -> None:
    """Each submission is read, forked and recorded once, by one warm process, with one commit each."""
    first = counted[0]

    assert len(STUDENTS) == first["read"] == first["forked"] == first["recorded"]
    assert 1 == first["started"] and len(STUDENTS) + 1 == first["committed"]


def test_answers_that_show_the_same_are_judged_once(cycle: NbgraderCycle, counted: list[Counter[str]]) -> None:
    """Equal observations are decoded and judged once per class, and not again without changes."""
    exercises = len(Judge(cycle.course, STEM).chapter.exercises)
    first, again, changed = counted

    assert exercises == first["judged"] == first["decoded"]
    assert 0 == again["judged"] == again["decoded"]
    assert exercises == changed["judged"] >= changed["decoded"] > 1  # some answers show the same on new cases


def test_right_and_open_answers_ask_for_no_known_mistakes(cycle: NbgraderCycle, counted: list[Counter[str]]) -> None:
    """For right and unwritten answers, no known mistakes are run except slips."""
    judge = Judge(cycle.course, STEM)
    slips = sum(answer.slip for name in judge.names for answer in judge.banks[name])

    assert [slips, 0, slips] == [each["known mistakes"] for each in counted]


def test_what_all_have_alike_is_looked_at_once(counted: list[Counter[str]]) -> None:
    """The released notebook is read at most twice per run, and the chapter's text once."""
    assert all(each["released"] <= 2 for each in counted)
    assert [1, 0, 0] == [each["chapters"] for each in counted]


def test_a_verdict_is_written_three_times(counted: list[Counter[str]]) -> None:
    """A verdict file is written when graded, before extra credit and when recorded; the seed once."""
    assert 3 * len(STUDENTS) + 1 == counted[0]["verdict files"]
    assert [0, 3] == [each["verdict files"] for each in counted[1:]]


def test_the_end_of_a_run_asks_once_for_all(cycle: NbgraderCycle, counted: list[Counter[str]]) -> None:
    """Due dates, penalties and scores by hand take as many queries for a class as for one student."""
    assert counted and asked_at_the_end(cycle, STUDENTS[:1]) == asked_at_the_end(cycle, STUDENTS)


def asked_at_the_end(cycle: NbgraderCycle, students: Iterable[str]) -> int:
    """Return the number of queries at the end of a run if the gradebook had only these students."""

    def end() -> None:
        apply_deadlines.apply_deadlines(cycle.api, gradebook, cycle.course, STEM)
        gradebook_scores.cells_with_outdated_manual_score(gradebook, STEM)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Gradebook, "assignment_submissions", _only(students))
        with Gradebook(cycle.api.coursedir.db_url, "") as gradebook:
            return questions(end)


def _only(students: Iterable[str]) -> Callable[[Gradebook, str], list[Any]]:
    whole = Gradebook.assignment_submissions

    def some(gradebook: Gradebook, assignment: str) -> list[Any]:
        return [each for each in whole(gradebook, assignment) if each.student_id in students]

    return some


def questions(work: Callable[[], None]) -> int:
    """Return the number of database queries of a piece of work."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    try:
        work()
    finally:
        event.remove(Engine, "before_cursor_execute", note)
    return len(asked)


def test_the_cases_of_a_class_are_told_once(counted: list[Counter[str]]) -> None:
    """The fork server gets the cases once per run, and a submission's message does not contain them."""
    assert [1, 0, 1] == [each["told the cases"] for each in counted]
    assert {0} == {each["bytes of cases and files"] for each in counted}


def test_what_has_not_changed_costs_nothing(counted: list[Counter[str]]) -> None:
    """An unchanged submission is not read, run or recorded; a changed one is, once."""
    again, changed = counted[1:]

    assert 0 == again["read"] == again["forked"] == again["recorded"]
    assert 1 == changed["read"] == changed["forked"] == changed["recorded"]


def test_the_gradebook_is_asked_little(counted: list[Counter[str]]) -> None:
    """One more submission costs at most a dozen queries."""
    first, again, changed = (each["asked"] for each in counted)

    assert changed - again <= QUESTIONS
    assert first - again <= len(STUDENTS) * QUESTIONS


def test_cells_that_everybody_has_are_validated_once(cycle: NbgraderCycle, counted: list[Counter[str]]) -> None:
    """Cells that earlier notebooks contain are not validated again."""
    release = read_assignment(cycle.course, STEM, unconfined=UNCONFINED).released()

    assert len(release.cells) <= counted[0]["validated"] < 2 * len(release.cells)
    assert 0 == counted[1]["validated"]


def test_workers_share_one_warm_process(cycle: NbgraderCycle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of workers shares one warm process, so that torch is imported once."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    seen: list[tuple[int, int]] = []

    def looking(done: Iterable[Any], _total: int) -> Iterator[Any]:
        for each in done:
            seen.append((len(list(tmp_path.rglob("fork-server-*"))), len(living_in(tmp_path))))
            yield each

    assert {} == cycle.autograde(STUDENTS, looking, GradingOptions(workers=WorkerOptions(count=2), force=True))

    folders, processes = zip(*seen, strict=True)
    # The minimum, because each submission's own process may also be counted before it ends.
    assert len(STUDENTS) == len(seen) and {1} == set(folders) and 3 == min(processes)


def test_what_is_recorded_is_written_as_nbformat_writes_it(cycle: NbgraderCycle, counted: list[Counter[str]]) -> None:
    """Autograded notebooks have the bytes that nbformat would write."""
    files = sorted((cycle.course / "autograded").rglob("*.ipynb"))

    assert len(STUDENTS) == len(files) and counted
    for path in files:
        assert path.read_text() == nbformat.writes(nbformat.read(path, as_version=4)) + "\n"


def test_who_grades_a_class_imports_no_torch(cycle: NbgraderCycle) -> None:
    """The process that grades a class never imports torch; its workers do."""
    code = (
        "import sys; from autograder.__main__ import main; "
        f"status = main(['grade', {STEM!r}, '--force', '--workers', '2']); print(status, 'torch' in sys.modules)"
    )
    environment = {**os.environ, "PYTHONPATH": PYTHONPATH}
    command = [sys.executable, "-P", "-c", code]
    ran = subprocess.run(command, cwd=cycle.course, env=environment, capture_output=True, text=True, check=True)

    assert "0 False" == ran.stdout.splitlines()[-1]
