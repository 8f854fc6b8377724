"""Grading one submission: bytes in, a verdict out; a stand-in runner calls the answers in this process."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.course.chapter_judge import Judge
from autograder.course.course import course_in
from autograder.diagnosis.verdict import Status
from autograder.errors import WorkFailed
from autograder.exercises.observation import ExceptionSnapshot
from autograder.grading import class_text_table, verdict_store
from autograder.grading.grade_submission import grade
from autograder.grading.judge_untrusted_observations import judge_untrusted_observations
from autograder.grading.submission_verdict import SubmissionVerdict, new_seed
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.run_specification import CellStep, ExerciseOutcome, Limits, ProbeStep, Program
from autograder.submission import read_student_folder
from autograder.submission.read_released_cells import starters
from autograder.submission.read_submitted_file_safely import read_submitted_file as read_file
from tests.conftest import UNCONFINED
from tests.made_submissions import handed_in, released
from tests.our_course import judge_of
from tests.sample_course import NOTEBOOK, STEM, sample_judge
from tests.small_chapter import PROJECT

SEED = 11
STARTERS = starters(nbformat.read(NOTEBOOK, as_version=4))


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Return the judge of the sample chapter."""
    return sample_judge()


@pytest.fixture(scope="module")
def release(judge: Judge) -> NotebookNode:
    """Return a notebook as students get it."""
    return released(judge)


def runner(program: Program, _limits: Limits) -> dict[str, ExerciseOutcome]:
    """Run a program in this process, which is fast and sufficient for harmless answers."""
    namespace: dict[str, Any] = {}
    exec(program.ground.setup, namespace)
    known = course_in(Path(program.ground.course)).exercises(*program.ground.chapters)
    outcomes = {}
    for step in program.steps:
        if isinstance(step, ProbeStep):
            seen = known[step.exercise].observe(namespace[step.exercise], program.cases[step.exercise])
            outcomes[step.exercise] = ExerciseOutcome(seen)
        else:
            exec(step.source if isinstance(step, CellStep) else "\n".join(step.statements), namespace)
    return outcomes


@pytest.fixture(scope="module")
def solved(judge: Judge, release: NotebookNode) -> bytes:
    """Return a submission of the worked solutions."""
    return handed_in(release, {name: judge.chapter.solution(name) for name in judge.chapter.exercises})


def test_reference_is_worth_everything(judge: Judge, release: NotebookNode, solved: bytes) -> None:
    """The worked solutions earn every point and all extra credit."""
    verdict = grade(solved, release, judge, SEED, runner)

    assert (verdict.max_score, sum(verdict.extra.values())) == (verdict.score, verdict.extra_credit)


def test_untouched_notebook_is_worth_nothing(judge: Judge, release: NotebookNode) -> None:
    """The starters earn nothing."""
    verdict = grade(handed_in(release, {}), release, judge, SEED, runner)

    assert (0, 0) == (verdict.score, verdict.extra_credit)


def test_unreadable_file_is_worth_nothing_and_says_why(judge: Judge, release: NotebookNode) -> None:
    """An unreadable file gets a verdict with the reason in every report, and nothing is run."""
    verdict = grade(b"{", release, judge, SEED, lambda *_: pytest.fail("something was run"))

    assert 0 == verdict.score and verdict.trouble is not None
    assert all("was not graded" in report.verdicts[0].sentence for report in verdict.reports)


def test_starter_is_told_from_an_answer_that_shows_the_same() -> None:
    """An answer that shows what the starter shows was attempted if its text disproves that it is the starter."""
    judge = judge_of("fix_inplace")
    bank = {known.tag: (known.source, seen) for known, seen in judge.keys.bank_observations("fix_inplace")}
    (starter, seen), (other, same) = bank["untouched"], bank["added-in-place"]
    reports = [judge_untrusted_observations(judge, "fix_inplace", 0, seen, text, "same") for text in (starter, other)]

    assert seen == same and [(), ("added-in-place",)] == [each.mistakes for each in reports]
    assert [True, False] == [each.verdicts[0].status is Status.NOT_ATTEMPTED for each in reports]


def test_corridor_is_the_one_that_is_drawn(judge: Judge, release: NotebookNode, solved: bytes) -> None:
    """Grading enters the files that docs/architecture.md lists, in the listed order."""
    listed = re.findall(r"^\| \d+ `([\w/]+)` \|", (PROJECT / "docs" / "architecture.md").read_text(), re.MULTILINE)
    unseen = {"sandbox/execution/fork_server", "sandbox/execution/submission_child", "exercises/probe"}  # in the child
    unseen |= {"grading/submission_verdict"}  # a dataclass, whose constructor is no function of its file
    run = make_submission_runner(judge.course, UNCONFINED)
    wrong = [handed_in(release, {"one_hot": f"def one_hot(labels, classes):\n    return {each}"}) for each in (1, 2)]
    grade(wrong[0], release, judge, SEED, run)  # computes the key, for which the judge compares known mistakes
    entered = list[str]()

    def note(frame: FrameType, event: str, _argument: object) -> None:
        path = Path(frame.f_code.co_filename).with_suffix("")
        if event == "call" and path.is_relative_to(PROJECT / "autograder"):
            entered.append(path.relative_to(PROJECT / "autograder").as_posix())

    sys.setprofile(note)
    try:
        grade(wrong[1], release, judge, SEED, run)
    finally:
        sys.setprofile(None)

    assert 15 == len(listed) and all((PROJECT / "autograder" / f"{name}.py").is_file() for name in listed)
    seen = [name for name in listed if name not in unseen]
    assert seen == [name for name in dict.fromkeys(entered) if name in seen]


@pytest.mark.parametrize(
    ("outcome", "status", "told"),
    [
        (ExerciseOutcome(timed_out=True), Status.TIMEOUT, "still running"),
        (
            ExerciseOutcome(raised=ExceptionSnapshot("ZeroDivisionError", "division by zero", "1 / 0")),
            Status.ERROR,
            "`1 / 0`",
        ),
        (ExerciseOutcome(raised=ExceptionSnapshot("NotImplementedError", "")), Status.NOT_ATTEMPTED, ""),
        (ExerciseOutcome(observations=()), Status.ERROR, "did not all answer"),
    ],
)
def test_cell_that_was_not_probed_gets_its_status(
    judge: Judge, release: NotebookNode, solved: bytes, outcome: ExerciseOutcome, status: Status, told: str
) -> None:
    """A cell that times out, raises or is unwritten gets that status, and costs only its own exercise."""
    verdict = grade(solved, release, judge, SEED, lambda p, m: runner(p, m) | {"standardize": outcome})
    first = verdict.report("standardize").verdicts[0]

    assert status is first.status and told in first.sentence
    assert verdict.max_score - verdict.points["standardize"] == verdict.score


def test_runner_that_cannot_start_is_no_verdict(judge: Judge, release: NotebookNode, solved: bytes) -> None:
    """An error of the runner itself is raised, and never becomes a score."""

    def broken(*_: object) -> dict[str, ExerciseOutcome]:
        raise WorkFailed("no process")

    with pytest.raises(WorkFailed):
        grade(solved, release, judge, SEED, broken)


def test_loop_in_a_helper_breaks_the_rule(judge: Judge, release: NotebookNode) -> None:
    """A rule about the answer applies to its helpers too."""
    loop = "def all_of(x, b):\n    return torch.stack([r + b[:, None] for r in x])\n\n"
    answer = "def add_bias(x, bias):\n    return all_of(x, bias)"
    notebook = nbformat.reads(handed_in(release, {"add_bias": answer}).decode(), as_version=4)
    notebook.cells.insert(5, nbformat.v4.new_code_cell(loop))

    verdict = grade(nbformat.writes(notebook).encode(), release, judge, SEED, runner)

    assert [Status.PASS, Status.FAIL] == [verdict.report("add_bias").verdicts[index].status for index in (0, -1)]


def test_a_module_that_is_not_here_is_told(judge: Judge, release: NotebookNode) -> None:
    """The teacher reads which failing answer imports a missing module; a right answer gets no such note."""
    tried = "try:\n    from helpers_of_mine import all_of\nexcept ImportError:\n    all_of = {}\n\n"
    answer = "def add_bias(x, bias):\n    return all_of(x, bias)"
    eyes = []
    for instead in ("None", "lambda x, b: x + b[:, None]"):
        data = handed_in(release, {"add_bias": tried.format(instead) + answer})
        eyes.append(grade(data, release, judge, SEED, runner).eye)

    assert [True, False] == [any("add_bias imports" in line and "helpers_of_mine" in line for line in e) for e in eyes]


def test_verdict_survives_json(judge: Judge, release: NotebookNode, solved: bytes) -> None:
    """A verdict is equal after a round trip through JSON."""
    verdict = grade(solved, release, judge, SEED, runner)

    assert verdict == SubmissionVerdict.from_json(verdict.to_json())


def test_seed_is_never_the_visible_one() -> None:
    """A new seed is never that of the visible cases."""
    assert 0 not in {new_seed() for _ in range(1000)}


class TestVerdictFiles:
    """Verdict files, and the table made from them."""

    @pytest.fixture
    def verdict(self, judge: Judge, release: NotebookNode) -> SubmissionVerdict:
        """Return a verdict with trouble."""
        return grade(b"{", release, judge, SEED, runner)

    def test_stored_verdict_comes_back(self, tmp_path: Path, verdict: SubmissionVerdict) -> None:
        """A stored verdict is read back equal."""
        verdict_store.store_unrecorded_verdict(tmp_path, "ada", verdict)

        assert verdict == verdict_store.read_verdict(tmp_path, STEM, "ada")

    def test_full_disk_loses_no_verdict(
        self, tmp_path: Path, verdict: SubmissionVerdict, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A full disk raises an error, and the old verdict stays."""
        verdict_store.store_unrecorded_verdict(tmp_path, "ada", verdict)

        def full(_fd: int) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr("os.fsync", full)
        with pytest.raises(WorkFailed, match="No space left"):
            verdict_store.store_unrecorded_verdict(tmp_path, "ada", verdict)

        assert verdict == verdict_store.read_verdict(tmp_path, STEM, "ada")
        assert ["ada.json"] == [path.name for path in (tmp_path / "verdicts" / STEM).iterdir()]

    def test_table_names_who_is_missing(self, tmp_path: Path, verdict: SubmissionVerdict) -> None:
        """The table lists unread, ungraded and empty submissions with reasons, in printable text."""
        verdict_store.store_unrecorded_verdict(tmp_path, "ada", verdict)
        for student, name in (("bob", "notes.txt"), ("cy\x1b[2J", f"{STEM}.ipynb")):
            (tmp_path / "submitted" / student / STEM).mkdir(parents=True)
            (tmp_path / "submitted" / student / STEM / name).touch()

        text = class_text_table.class_table(class_text_table.class_rows(tmp_path, STEM))

        assert all(told in text for told in ("could not be read", "found: 'notes.txt'", "has not been graded"))
        assert "\x1b" not in text


class TestHandedIn:
    """Files as students hand them in."""

    def test_link_is_not_followed(self, tmp_path: Path) -> None:
        """A submitted link is not read."""
        (tmp_path / "secret").write_text("{}")
        (tmp_path / "link.ipynb").symlink_to(tmp_path / "secret")

        data, reason = read_file(tmp_path / "link.ipynb")

        assert b"" == data and "no plain file" in reason

    def test_link_of_our_copys_name_is_not_written_through(self, tmp_path: Path, solved: bytes) -> None:
        """A link with the name of the graded copy, or of its mark, is not written through."""
        (tmp_path / "config.py").write_text("the teacher's")
        handed = tmp_path / "handed"
        handed.mkdir()
        (handed / "mine.ipynb").write_bytes(solved)
        (handed / f"{STEM}.ipynb").symlink_to(tmp_path / "config.py")
        mark = {"name": "mine.ipynb", "sha256": hashlib.sha256(b"").hexdigest()}
        (handed / ".graded-copy.json").write_text(json.dumps(mark))
        read_student_folder.choose_and_place_notebook(handed, STEM, STARTERS)
        (handed / f"{STEM}.ipynb").unlink()
        (handed / ".graded-copy.json").unlink()
        (handed / ".graded-copy.json").symlink_to(tmp_path / "config.py")

        placed = read_student_folder.choose_and_place_notebook(handed, STEM, STARTERS)

        assert "the teacher's" == (tmp_path / "config.py").read_text()
        assert placed is not None and solved == placed.path.read_bytes() and not placed.path.is_symlink()

    def test_links_beside_the_notebook_are_set_aside(self, tmp_path: Path, solved: bytes) -> None:
        """Links and pipes are moved to a hidden folder, because nbgrader would copy their targets."""
        (tmp_path / f"{STEM}.ipynb").write_bytes(solved)
        (tmp_path / "more").mkdir()
        (tmp_path / "more/notes.html").symlink_to("/etc/hostname")
        os.mkfifo(tmp_path / "pipe")

        opened = read_student_folder.read_student_folder(tmp_path, STEM, STARTERS)

        assert sorted([f"{STEM}.ipynb", "more"]) == sorted(path.name for path in tmp_path.glob("[!.]*"))
        assert [] == list((tmp_path / "more").iterdir())
        assert ("set aside, for nbgrader must not copy it: 'notes.html', 'pipe'",) == opened.notes

    def test_folder_that_is_a_link_is_not_read(self, tmp_path: Path, solved: bytes) -> None:
        """A submission folder that is a link is not read."""
        (tmp_path / "ada").mkdir()
        (tmp_path / "ada" / f"{STEM}.ipynb").write_bytes(solved)
        (tmp_path / "eve").mkdir()
        (tmp_path / "eve" / STEM).symlink_to(tmp_path / "ada")

        with pytest.raises(WorkFailed, match=r"no notebook in the submission \(the folder is empty\)"):
            read_student_folder.read_student_folder(tmp_path / "eve" / STEM, STEM, STARTERS)

        assert solved == (tmp_path / "ada" / f"{STEM}.ipynb").read_bytes()

    @pytest.mark.parametrize("name", ["*", "a[d]a", "ad?", "link", " ada", "ada\u00a0", "ada\nbob"])
    def test_student_whom_nbgrader_would_take_for_others_is_not_graded(
        self, tmp_path: Path, solved: bytes, name: str
    ) -> None:
        """A student folder that is a link, a pattern or another name with spaces is refused."""
        (tmp_path / "ada" / STEM).mkdir(parents=True)
        (tmp_path / "ada" / STEM / f"{STEM}.ipynb").write_bytes(solved)
        if name == "link":
            (tmp_path / name).symlink_to(tmp_path / "ada")
        else:
            shutil.copytree(tmp_path / "ada", tmp_path / name)

        with pytest.raises(WorkFailed, match=r"was not graded\. Put a plain folder"):
            read_student_folder.read_student_folder(tmp_path / name / STEM, STEM, STARTERS)
        assert solved == read_student_folder.read_student_folder(tmp_path / "ada" / STEM, STEM, STARTERS).data

    def test_folder_and_absence_are_told(self, tmp_path: Path) -> None:
        """A folder in place of the file, or no file, gives a reason and raises nothing."""
        (tmp_path / "folder.ipynb").mkdir()

        assert all(read_file(tmp_path / name)[1] for name in ("folder.ipynb", "nothing.ipynb"))

    def test_other_name_is_copied_and_kept(self, tmp_path: Path, solved: bytes) -> None:
        """The best of several notebooks is copied to the released name, and all files stay."""
        (tmp_path / f"{STEM} (1).ipynb").write_bytes(solved)
        (tmp_path / "zzz.ipynb").write_text("{}")

        placed = read_student_folder.choose_and_place_notebook(tmp_path, STEM, STARTERS)

        assert placed is not None and solved == placed.path.read_bytes()
        assert 3 == len(list(tmp_path.glob("*.ipynb")))
        told = read_student_folder.read_student_folder(tmp_path, STEM, STARTERS)
        assert (f"handed in as '{STEM} (1).ipynb'; a copy under the released name was graded",) == told.notes
        assert 1 == len(told.eye) and "also handed in, and not graded: 'zzz.ipynb' (it cannot be read" in told.eye[0]

    def test_newer_work_replaces_our_copy(self, tmp_path: Path, solved: bytes) -> None:
        """A renamed notebook that is handed in again replaces the copy of its earlier version."""
        renamed = tmp_path / f"{STEM} (1).ipynb"
        renamed.write_bytes(b"{}")
        read_student_folder.choose_and_place_notebook(tmp_path, STEM, STARTERS)
        renamed.write_bytes(solved)

        placed = read_student_folder.choose_and_place_notebook(tmp_path, STEM, STARTERS)

        assert placed is not None and solved == placed.path.read_bytes()

    def test_work_counts_more_than_age(self, tmp_path: Path, solved: bytes) -> None:
        """An answered notebook is preferred to a newer untouched one."""
        (tmp_path / "mine.ipynb").write_bytes(solved)
        (tmp_path / "untouched.ipynb").write_bytes((NOTEBOOK).read_bytes())

        placed = read_student_folder.choose_and_place_notebook(tmp_path, STEM, STARTERS)

        assert placed is not None and solved == placed.path.read_bytes()
        assert "mine.ipynb" == placed.original.name
