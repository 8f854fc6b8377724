"""A graded hunt: each student mends a faulty program of their own, and grading knows by its number which it was."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from html import unescape
from pathlib import Path
from random import Random

import nbformat
import pytest
from nbformat import NotebookNode

import explorers.bug_hunt_quiz as hunting
from autograder import check, mend
from autograder.__main__ import main
from autograder.authoring.build_course import build
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.course.faulty_program_names import exercise_of_faulty_program
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import ChapterFormatError, CheckFailed, ExerciseError
from autograder.exercises.exercise import Exercise
from autograder.grading import verdict_store
from autograder.grading.assignment import Assignment, read_assignment
from autograder.grading.assignment_grader import Grader
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts, encode_hunts, hunts_path, read_hunts
from autograder.questions.mending_exercise import MendingExercise, mending_exercise
from autograder.reports.answer_syntax_structures import read_answer_structures
from autograder.reports.class_results import read_results
from autograder.reports.misunderstandings import unexplained_answers
from autograder.submission.submission import SubmittedFiles
from tests.conftest import UNCONFINED
from tests.own_assignments import Own, answer, code, graded, hand_in, scores, write_source
from tests.sample_course import COURSE, NOTEBOOK, STEM, make_course, sample_judge
from tests.small_chapter import PROJECT, TEXT, make_project, observe
from tests.small_chapter import STEM as SMALL
from tests.test_bug_hunts import COURSE as WHOLE
from tests.test_bug_hunts import Folder, said

HUNTED, NAME, HW = "standardize", "their_standardize", "hw"

pytestmark = pytest.mark.xdist_group("graded-hunt")


def program(middle: str) -> BugHunt:
    """Return a program with this line in its middle, as the search for hunts makes them."""
    text = f"""\
def {NAME}(x, dim, eps):
    average = x.mean(dim=dim, keepdim=True)
    {middle}
    spread = torch.sqrt(variance + eps)
    return (x - average) / spread
"""
    return BugHunt(HUNTED, "unbiased-mismatch", text, "change", 3, (2, 5))


FAULTY = program("variance = x.var(dim=dim, keepdim=True)")
OTHER = program("variance = x.var(dim=0, keepdim=True, correction=0)")
SHORT = BugHunt(HUNTED, "no-eps", f"def {NAME}(x, dim, eps):\n    return x\n", "change", 2, (1,))
MENDED = FAULTY.text_with_number.replace("keepdim=True)\n    spread", "keepdim=True, correction=0)\n    spread")
NO_BETTER = FAULTY.text_with_number.replace("keepdim=True)\n    spread", "keepdim=True, correction=2)\n    spread")
PASTED = f"""\
def {NAME}(x, dim, eps):  # program {FAULTY.number}
    m = x.mean(dim, True)
    s = (x - m).pow(2).mean(dim, True).add(eps).sqrt()
    return (x - m) / s
"""
TWO_LINES = MENDED.replace("variance + eps)", "variance + eps)\n    print(spread)")
ANSWERS = {
    "ada": MENDED,
    "ben": FAULTY.text_with_number,
    "cyd": PASTED,
    "dan": MENDED.replace(f"  # program {FAULTY.number}", ""),
    "eve": MENDED.replace(FAULTY.number, "abc123"),
    "fay": "",
    "gil": NO_BETTER,
    "hal": MENDED.replace("x - average", "x - average + 0"),
    "ian": OTHER.text_with_number.replace("dim=0", "dim=dim"),
    "jay": f"{FAULTY.text_with_number}\n{NAME} = standardize\n",
    "kim": MENDED.replace("spread = ", "spread == "),
}
SENTENCES = {
    "ben": f"This is program {FAULTY.number} as it was given: mend it.",
    "cyd": f"This differs from program {FAULTY.number} in more than 2 lines.",
    "dan": "The number of the program is missing.",
    "eve": "There is no program abc123 among the hunts of `standardize`.",
    "fay": f'`{NAME}` is not there yet. `mend("{HUNTED}")` prints the program to mend.',
    "gil": "Not yet: standardizes along dim 0.",
    "jay": f"This differs from program {FAULTY.number} in more than 2 lines.",
    "kim": "Not yet: standardizes along dim 0.",
}
OWN = """\
def standardize(x, dim, eps):
    return (x - x.mean(dim, True)) / (x.var(dim, correction=0, keepdim=True) + eps).sqrt()
"""
CELLS = (
    code("import torch\n\nfrom autograder import check, mend"),
    code(OWN),
    code(f'mend("{HUNTED}")'),
    answer(NAME, "# Your program, mended:\n### BEGIN SOLUTION\npass\n### END SOLUTION"),
    graded(f"check_{NAME}", f'check("{NAME}", {NAME})', 2),
)
CLASS = Own(CELLS, students={who: {NAME: text} if text else {} for who, text in ANSWERS.items()})


def known(*hunts: BugHunt) -> ExerciseHunts:
    """Return what a file of hunts has of an exercise."""
    return ExerciseHunts("", {}, hunts)


def with_hunts(course: Path, *hunts: BugHunt) -> Path:
    """Write the file of hunts of the tests' course."""
    path = hunts_path(course, STEM)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(encode_hunts({HUNTED: known(*hunts)}))
    return course


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course whose teacher has set a graded hunt, released, handed in, graded by nbgrader and returned."""
    course = with_hunts(make_course(tmp_path_factory.mktemp("hunt") / "course"), FAULTY, OTHER, SHORT)
    write_source(course, HW, CLASS)
    cycle = NbgraderCycle(course, HW)
    cycle.generate()
    hand_in(course, HW, CLASS)
    words = [sys.executable, "-m", "nbgrader", "autograde", HW]
    ran = subprocess.run(words, cwd=course, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert {} == cycle.feedback(list(ANSWERS))
    return course


@pytest.mark.night
class TestWholeWay:
    """From the teacher's source to the gradebook and the pages that students get."""

    def test_a_mend_has_all_points_and_nothing_else_has_any(self, course: Path) -> None:
        """Whoever mends the program of the number in the cell has the points, also where two have one number."""
        found = {who: cells[f"check_{NAME}"][0] for who, cells in scores(course, HW).items()}

        assert {who: 0.0 if who in SENTENCES else 2.0 for who in ANSWERS} == found

    @pytest.mark.parametrize("who", SENTENCES)
    def test_each_reads_one_true_sentence(self, course: Path, who: str) -> None:
        """The verdict has one line, and the page of feedback has its sentence."""
        verdict = verdict_store.read_verdict(course, HW, who)
        page = unescape((course / "feedback" / who / HW / f"{HW}.html").read_text(encoding="utf-8"))

        assert verdict is not None and verdict.seed
        (line,) = verdict.report(NAME).verdicts
        assert line.sentence.startswith(SENTENCES[who]) and line.mistake is None
        assert SENTENCES[who].replace("`", "") in page.replace("<code>", "").replace("</code>", "").replace("`", "")

    def test_a_number_that_nobody_knows_is_for_a_persons_eye(self, course: Path) -> None:
        """It may be of another version of the course, which is no student's fault; of the others nothing is said."""
        eyes = {who: verdict.eye for who in ANSWERS if (verdict := verdict_store.read_verdict(course, HW, who))}

        assert ["eve"] == [who for who, lines in eyes.items() if any("another version" in line for line in lines)]

    def test_the_reports_compare_no_mends(self, course: Path) -> None:
        """Mends of one program are meant to be equal, and none is a mistake for the answer bank."""
        results = read_results(course, HW)

        assert [] == read_answer_structures([results]) and [] == unexplained_answers(results)

    def test_the_reports_page_names_the_hunt(self, course: Path) -> None:
        """The class report has the exercise, and advises nothing for the answer bank."""
        assert main(["--root", str(course), "report", HW]) == 0
        page = (course / "reports" / f"{HW}.html").read_text(encoding="utf-8")
        assert NAME in page and "autograder learn" not in page


def set_hunt(course: Path, *hunts: BugHunt) -> Assignment:
    """Return an assignment with a hunt among these programs; its source stands for the release."""
    with_hunts(course, *hunts)
    if not (course / "source" / HW).is_dir():
        write_source(course, HW, CLASS)
    return read_assignment(course, HW, unconfined=True, given=course / "source" / HW / f"{HW}.ipynb")


def test_an_exercise_without_a_long_program_is_refused(tmp_path: Path) -> None:
    """Grading says so before anybody is graded: nobody can have got a program."""
    assignment = set_hunt(make_course(tmp_path / "course"), SHORT)

    with pytest.raises(ExerciseError, match="standardize has no program to mend"):
        Grader(assignment)


def test_verdicts_are_outdated_by_other_programs(tmp_path: Path) -> None:
    """Where the file of hunts is put back, those whose number was not known are graded again."""
    course = make_course(tmp_path / "course")

    assert set_hunt(course, FAULTY).digest != set_hunt(course, FAULTY, OTHER).digest


def test_a_hunt_among_a_chapters_own_cells(tmp_path: Path) -> None:
    """In a chapter's source, a teacher's hunt of the chapter's own exercise is graded beside the exercises."""
    course = with_hunts(make_course(tmp_path / "course"), FAULTY)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells += [answer(NAME, "raise NotImplementedError()"), graded(f"check_{NAME}", CELLS[-1].source, 2)]
    release = tmp_path / "release.ipynb"
    nbformat.write(notebook, release)
    notebook.cells[-2].source = MENDED
    grader = Grader(read_assignment(course, STEM, unconfined=UNCONFINED, given=release))
    verdict = grader.grade(SubmittedFiles(nbformat.writes(notebook).encode()), seed=7)

    assert (2.0, 2.0) == (verdict.points[NAME], verdict.earned(NAME)) and 0 == verdict.earned(HUNTED)
    assert {*verdict.points} == {*read_chapter(course / "chapters" / f"{STEM}.py").exercises, NAME}


def mend_report(text: str, report: Report) -> Report:
    """Return the report on a text whose answer has this report."""
    return mending_exercise(sample_judge().exercises[HUNTED], known(FAULTY, OTHER, SHORT)).as_mend(report, text)


def all_passed() -> Report:
    """Return the report on a right answer."""
    judge = sample_judge()
    return judge.judge(HUNTED, 0, judge.keys.reference_key(HUNTED, 0).reference, "")


class TestText:
    """What counts as a mend, by the text alone."""

    @pytest.mark.parametrize(
        "text",
        [
            MENDED,
            MENDED.replace("    average", '    """Mine."""\n    # a remark\n    average'),
            MENDED.replace("(x - average) / spread", "((x - average)\n            / spread)"),
            f"import torch\n\n\n{MENDED}",
            TWO_LINES,
            "",
        ],
        ids=["one line", "comments", "layout", "import", "two lines", "unknown"],
    )
    def test_a_mend(self, text: str) -> None:
        """One or two lines may differ; comments, docstrings, layout and imports do not count."""
        assert mend_report(text, all_passed()).passed

    @pytest.mark.parametrize(
        "text",
        [
            f"{TWO_LINES}    print()\n",
            MENDED.replace("average", "mean"),
            MENDED.replace("return (x - average) / spread", "return helper(x)") + "\ndef helper(x):\n    return x\n",
            f"{MENDED}\n{NAME} = mine\nmore = mine\n",
            MENDED + "    " + "(" * 300 + "1" + ")" * 300,
        ],
        ids=["three lines", "other names", "helper", "bound again", "too deep"],
    )
    def test_no_mend(self, text: str) -> None:
        """More lines, other names and helpers are another program."""
        (line,) = mend_report(text, all_passed()).verdicts

        assert line.status is Status.FAIL and "in more than 2 lines" in line.sentence

    def test_a_short_program_is_given_to_nobody(self) -> None:
        """In a program of two lines a mend could be anything."""
        (line,) = mend_report(SHORT.text_with_number, all_passed()).verdicts

        assert "There is no program" in line.sentence

    def test_names(self) -> None:
        """An exercise of that very name is no hunt."""
        assert (
            exercise_of_faulty_program(NAME, [HUNTED]) == HUNTED
            and exercise_of_faulty_program("TheirMLP", ["MLP"]) == "MLP"
        )
        assert (
            exercise_of_faulty_program(NAME, [HUNTED, NAME]) is None
            and exercise_of_faulty_program("theirs", ["s"]) is None
        )

    def test_every_committed_program_has_a_number_of_its_own(self) -> None:
        """Numbers differ within an exercise, stand on the first line, and change no line of the program."""
        for stem in WHOLE.stems:
            for name, found in read_hunts(WHOLE.folder, stem).items():
                task = mending_exercise(WHOLE.find(name), found)
                assert len({each.number for each in found.hunts}) == len(found.hunts)
                for each in task.hunts:
                    (line,) = task.as_mend(passed(task), each.text_with_number).verdicts
                    assert line.status is Status.NOT_ATTEMPTED and each.number in line.sentence


def passed(task: Exercise) -> Report:
    """Return a report on a right answer to an exercise, made up."""
    return Report(task.name, all_passed().verdicts)


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Folder:
    """Return an empty folder of a reader, who has got no program yet."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.setattr(hunting, "_given", [])
    return Folder(monkeypatch, tmp_path)


class TestInTheNotebook:
    """`mend(NAME)` gives each reader a program, and `check` judges it as grading does."""

    def program(self, capsys: pytest.CaptureFixture[str], name: str = "train_step") -> str:
        """Return what `mend` prints."""
        mend(name)
        return capsys.readouterr().out

    def test_each_reader_keeps_a_program(
        self,
        folder: Folder,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """The same one comes in a new kernel of the folder; other folders get others."""
        first = self.program(capsys)
        monkeypatch.setattr(hunting, "_given", [])
        assert first == self.program(capsys) and "def their_train_step(" in first and "  # program " in first
        others = set()
        for number in range(8):
            monkeypatch.setattr(hunting, "_given", [])
            monkeypatch.setattr(hunting, "progress_folder", lambda: None)
            monkeypatch.setattr(hunting, "_RANDOM", Random(number))
            others.add(self.program(capsys))
        assert len(others) > 4

    def test_not_before_its_time(
        self,
        folder: Folder,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """Where the notebook has no such task, the programs are for those who have passed the exercise."""
        notebook = folder.path / "hw.ipynb"
        monkeypatch.setattr(hunting, "interactive_notebook_shell", lambda: notebook)
        monkeypatch.setattr(hunting, "path_of_notebook", lambda shell: shell)
        notebook.write_text('{"cells": []}')
        mend("train_step")
        assert said(capsys).startswith("Pass the check of `train_step` first, or run this in a notebook with a graded")
        notebook.write_text('"check_their_train_step"')
        assert "def their_train_step(" in self.program(capsys)
        notebook.write_text("")
        folder.passed("train_step")
        assert "def their_train_step(" in self.program(capsys)

    def test_check(
        self,
        folder: Folder,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        """`check` says what grading says, keeps it out of the progress, and stops a run of nbgrader."""
        from torch.nn import functional

        hunt = next(each for each in read_hunts(WHOLE.folder, "ch04a_training_loop")["train_step"].hunts)
        names: dict[str, object] = {"F": functional}
        exec("import torch\n" + hunt.code, names)
        given = names["their_train_step"]
        check("their_train_step", given)
        assert "0 of 1" in (told := said(capsys)) and "Not yet: " in told and "Stuck" not in told
        check("their_train_step", None)
        assert "0 of 1" in (told := said(capsys)) and "Expected the function `their_train_step` itself" in told
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
        with pytest.raises(CheckFailed):
            check("their_train_step", given)


def test_rules_that_look_for_a_function_by_its_name() -> None:
    """A rule that counts the lines that differ from a given program finds them in somebody's answer too."""
    (stem,) = (each for each in WHOLE.stems if "fix_trainer" in WHOLE.keys(each))
    task = mending_exercise(WHOLE.find("fix_trainer"), read_hunts(WHOLE.folder, stem)["fix_trainer"])
    hunt = task.hunts[0]
    longer = hunt.code + "    x = 1\n" * 20

    assert [] == [rule for rule in task.rules if rule.breaks(ast.parse(hunt.code))]
    assert [rule for rule in task.rules if rule.breaks(ast.parse(longer))]


def test_the_task_is_the_exercise_under_another_name() -> None:
    """Cases, requirements and limits are those of the exercise."""
    exercise = course_in(COURSE.folder).find(HUNTED)
    task = mending_exercise(exercise, known(FAULTY))

    assert isinstance(task, MendingExercise) and task.name == NAME and task.requirements == exercise.requirements
    assert (task.seconds, task.tolerance) == (exercise.seconds, exercise.tolerance)


LONG = "def their_double(x):\n    one = x\n    two = x\n    three = one - two\n    return three\n"
CELL = '\n\n# %% hunt="double" points=2\n# Mend it here.\n'


def built(folder: Path, cell: str = CELL, code: str = LONG) -> dict[str, NotebookNode]:
    """Return the cells by grade id of a released chapter with this cell at its end, and of its solved notebook."""
    project = make_project(folder, TEXT.rstrip("\n") + cell)
    hunts = ExerciseHunts("", {}, (BugHunt("double", "halves", code, "change", 4, (2, 3)),))
    path = hunts_path(project / "course", SMALL)
    path.parent.mkdir()
    path.write_bytes(encode_hunts({"double": hunts}))
    build(project, observe)
    solved = nbformat.read(project / "solutions" / f"{SMALL}.ipynb", as_version=4).cells
    assert not any("their_double" in cell.source or "mend" in cell.source for cell in solved)
    return {cell.id: cell for cell in nbformat.read(project / "notebooks" / f"{SMALL}.ipynb", as_version=4).cells}


class TestInAChapter:
    """A cell marked `hunt="NAME" points=2` in a chapter's text."""

    def test_three_cells_are_released(self, tmp_path: Path) -> None:
        """One prints the program, one is for the answer, and the check has the points; solved notebooks have none."""
        cells = built(tmp_path)
        program, answer, check = [*cells.values()][-3:]

        assert 'mend("double")' in program.source and "nbgrader" not in program.metadata
        assert answer.source == "# Mend it here.\n# YOUR CODE HERE\nraise NotImplementedError()"
        assert answer.metadata["nbgrader"]["solution"] and answer.metadata["nbgrader"]["grade_id"] == "their_double"
        assert check.source == 'check("their_double", their_double)' and check.id == "check_their_double"
        assert check.metadata["nbgrader"]["points"] == 2 and check.metadata["nbgrader"]["grade"]

    @pytest.mark.parametrize(
        ("cell", "code", "told"),
        [
            (CELL.replace(" points=2", ""), LONG, "the hunt of 'double' needs points="),
            (CELL + "x = 1\n", LONG, "expected only comments in a hunt, found `x = 1`"),
            (CELL.replace("double", "doubel"), LONG, "'doubel' has no program to mend in a graded hunt. Correct"),
            (
                CELL,
                "def their_double(x):\n    return x\n",
                "no program to mend in a graded hunt. Run `auto",
            ),
            (CELL + CELL, LONG, "the name 'check_their_double' stands on line"),
        ],
        ids=["no points", "code", "no exercise", "no program", "twice"],
    )
    def test_refused(self, tmp_path: Path, cell: str, code: str, told: str) -> None:
        """A hunt that nobody could be graded in stops the build, with file and line."""
        with pytest.raises(ChapterFormatError, match=re.escape(told)):
            built(tmp_path, cell, code)
