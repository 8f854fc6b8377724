"""Graded questions about own code, from `questions = true` in the teacher's settings to the page of feedback."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import nbformat
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode

from autograder import check
from autograder.__main__ import main
from autograder.authoring.make_chapter_notebooks import nbgrader_source_notebook, to_bytes
from autograder.course.chapter_minutes import fill_minutes_from_course
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.course.course_location import COURSE_VARIABLE, chapter_path
from autograder.diagnosis.verdict import NOT_GRADED
from autograder.errors import CheckFailed, DamagedData, WorkFailed
from autograder.grading import verdict_store
from autograder.grading.assignment import Assignment, read_assignment
from autograder.grading.assignment_grader import Grader
from autograder.grading.find_exercises_of_other_chapters import setup_cells_text
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms.build_platform_bundle import read_bundled_sitting
from autograder.nbgrader_plugin.nbgrader_cycle import NbgraderCycle
from autograder.nbgrader_plugin.teacher_settings import SETTINGS, release_asks_own_code_questions
from autograder.notebook.last_checked_answer import LAST_CHECKS
from autograder.questions.own_code_question_part import (
    answer_form_text,
    asked_exercise,
    parse_question_answers,
    written_answers,
)
from autograder.questions.own_code_questions import deterministic_questions
from autograder.questions.question import Question
from autograder.reports.answer_syntax_structures import read_answer_structures
from autograder.reports.class_results import read_results
from autograder.reports.misunderstandings import unexplained_answers
from autograder.submission.submission import SubmittedFiles
from tests.conftest import UNCONFINED
from tests.made_reader import new_kernel
from tests.own_assignments import Own, answer, code, graded, scores, write_source
from tests.sample_course import NOTEBOOK, STEM, make_course, sample_judge

NAME, PART = "flatten_images", "about_flatten_images"
CHECK_PART = f"check_{PART}"
ASKED = ["first_and_rest", "flatten_images", "one_hot", "standardize"]  # the core exercises of the sample
RIGHT = """\
def flatten_images(x):
    n, c = x.shape[:2]
    rows = x.reshape(n, c, -1)
    return rows.transpose(1, 2)
"""
# Another name, so that no question about it is one of those that were answered.
SINCE = RIGHT.replace("rows", "flat")
WRONG = RIGHT.replace("rows.transpose(1, 2)", "rows")
# Right on the cases of the notebook alone.
TUNED = RIGHT.replace(
    "    rows",
    """\
    known = [(n, c, 1, 4) for n in (1, 2, 3) for c in (1, 3, 5)] + [(2, 3, 1, 6), (2, 3, 6, 4)]
    if x.shape not in known:
        return x
    rows""",
    1,
)
GUESSED = f'{PART} = {{"draw": 7, "asked": "0123456789ab", 1: "(2, 3)", 2: "(2, 3)", 3: "3"}}'
FORGED = """\
import sys

def forged(*_):
    return [{"kind": "shape", "prompt": p, "explanation": "So.", "choices": ["a", "b"], "right": 0} for p in "123"]

sys.modules["autograder.sandbox.execution.submission_child"].observe_questions_about_answer = forged
"""
# The same questions as before, of which the first choices are said to be right.
TURNED = """\
import sys

place = sys.modules["autograder.sandbox.execution.submission_child"]
ask = place.observe_questions_about_answer
place.observe_questions_about_answer = lambda *given: [{**each, "right": 0} for each in ask(*given)]
"""
TRACING = """\
def look():
    return globals()["__trace__"]
"""

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("graded-questions")]


class Notebook:
    """A student's notebook, whose cells run in a kernel as the student would run them."""

    def __init__(self, released: Path) -> None:
        self.node = nbformat.read(released, as_version=4)

    def cell(self, name: str) -> NotebookNode:
        """Return the cell with this grade id, or this id."""
        named = (
            each for each in self.node.cells if name in (each.id, each.metadata.get("nbgrader", {}).get("grade_id"))
        )
        return next(named)

    def write(self, **sources: str) -> None:
        """Write into cells."""
        for name, source in sources.items():
            self.cell(name).source = source

    def printed(self, folder: Path, *names: str) -> str:
        """Run what comes before answers, and these cells, in a new kernel; return what the last one prints."""
        shell = new_kernel(folder)
        shell.run_cell(setup_cells_text(self.node), store_history=True).raise_error()
        out = ""
        for name in names:
            with capture_output() as shown:
                result = shell.run_cell(self.cell(name).source, store_history=True)
            result.raise_error()
            out = shown.stdout
        return out

    def asked(self, folder: Path) -> str:
        """Return the lines that the cell of the part prints for copying."""
        printed = self.printed(folder, NAME, f"check_{NAME}", f"ask-{PART}")
        assert "Take away the #" in printed
        return printed[printed.index(f"{PART} = {{") :].strip()


def drawn(lines: str, text: str = RIGHT) -> list[Question]:
    """Return the questions of printed lines, computed here."""
    judge, names = sample_judge(), dict[str, Any]()
    exec(f"import torch\n{text}", names)
    key = course_in(judge.course).keys(STEM)[NAME]
    draw = int(re.findall(r'"draw": (\d+)', lines)[0])
    return deterministic_questions(judge.exercises[NAME], key, text, NAME, names, draw)


def chosen(lines: str, *, wrong: int = 0) -> str:
    """Return the lines with a choice of each question: the right one, but for the question `wrong`."""
    for number, question in enumerate(drawn(lines), start=1):
        takes = question.choices[(question.right + 1) % 4] if number == wrong else question.right_choice
        assert lines.count(f"# {number}: {takes!r},") == 1
        lines = lines.replace(f"# {number}: {takes!r},", f"{number}: {takes!r},")
    return lines


def first_choices(lines: str) -> str:
    """Return the lines with the first choice of each question, and a wrong one among these."""
    for number, question in enumerate(drawn(lines), start=1):
        lines = lines.replace(f"# {number}: {question.choices[0]!r},", f"{number}: {question.choices[0]!r},")
    assert any(question.right for question in drawn(lines))
    return lines


def everybody(released: Path, folder: Path) -> Iterator[tuple[str, Notebook]]:
    """Yield each student with the notebook that is handed in."""
    sources: dict[str, Callable[[str], Mapping[str, str]]] = {
        "ada": lambda lines: {PART: chosen(lines)},
        "ben": lambda lines: {PART: chosen(lines, wrong=2)},
        "cyd": lambda lines: {PART: lines},
        "dan": lambda lines: {},
        "eve": lambda lines: {PART: chosen(lines), NAME: SINCE},
        "fay": lambda lines: {PART: chosen(lines), NAME: WRONG},
        "gil": lambda lines: {PART: chosen(lines, wrong=1), NAME: FORGED + RIGHT},
        "hal": lambda lines: {PART: GUESSED},
        "ivy": lambda lines: {PART: chosen(lines).replace('"asked"', "asked")},
        "jay": lambda lines: {PART: chosen(lines), NAME: f"{RIGHT}\n\nprint(flatten_images)  # a line more"},
        "kim": lambda lines: {PART: first_choices(lines), "four-each": TURNED},
        "lou": lambda lines: {PART: chosen(lines), "four-each": TRACING},
        "oda": lambda lines: {PART: answer_form_text(NAME, 7, [])},
        "ned": lambda lines: {PART: answer_form_text(NAME, 7, drawn('"draw": 7', TUNED)), NAME: TUNED},
        "mia": lambda lines: {PART: lines, "four-each": f"{PART}[1] = '(2, 3)'"},
    }
    for who, changed in sources.items():
        notebook = Notebook(released)
        notebook.write(**{NAME: RIGHT})
        notebook.write(**changed(notebook.asked(folder)))
        yield who, notebook


FULL = {"ada": 3.0, "ben": 2.0, "cyd": 0.0, "dan": 0.0, "fay": 0.0, "jay": 3.0}
WAITING = {"eve", "gil", "hal", "ivy", "kim", "lou", "mia", "ned", "oda"}


def run_nbgrader(course: Path, *words: str) -> str:
    """Run a command of nbgrader in a course folder; return what it logs."""
    # Without a seed the cases of grading are those of the notebook once in 24 runs.
    seeded = os.environ | {verdict_store.SEED_VARIABLE: "5"}
    command = [sys.executable, "-m", "nbgrader", *words]
    ran = subprocess.run(command, cwd=course, env=seeded, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    return ran.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course that asks, with a class that nbgrader's commands have graded, and its feedback."""
    folder = tmp_path_factory.mktemp("asking")
    course = make_course(folder / "course")
    (course / SETTINGS).write_text("questions = true\n")
    run_nbgrader(course, "generate_assignment", STEM)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(COURSE_VARIABLE, str(course))
        monkeypatch.setattr("explorers.own_code_quiz._RANDOM", Random(5))
        for who, notebook in everybody(course / "release" / STEM / f"{STEM}.ipynb", folder):
            path = course / "submitted" / who / STEM / f"{STEM}.ipynb"
            path.parent.mkdir(parents=True)
            nbformat.write(notebook.node, path)
        InteractiveShell.clear_instance()
        LAST_CHECKS.clear()
    run_nbgrader(course, "autograde", STEM)
    run_nbgrader(course, "generate_feedback", STEM)
    return course


def verdict_of(course: Path, who: str) -> SubmissionVerdict:
    """Return a student's verdict."""
    verdict = verdict_store.read_verdict(course, STEM, who)
    assert verdict is not None
    return verdict


def page(course: Path, who: str) -> str:
    """Return the words of a student's page of feedback."""
    text = (course / "feedback" / who / STEM / f"{STEM}.html").read_text(encoding="utf-8")
    return unescape(" ".join(re.sub(r"<[^>]+>", "", text).split()))


@pytest.mark.night
class TestWholeWay:
    """From the settings to the gradebook and the pages that students get."""

    def test_points(self, course: Path) -> None:
        """Right answers have a point each; what did not pass, is not answered or is wrong has none."""
        found = {who: cells[CHECK_PART] for who, cells in scores(course, STEM).items()}

        assert {who: (points, False) for who, points in FULL.items()} == {who: found[who] for who in FULL}

    def test_what_waits_for_a_person(self, course: Path) -> None:
        """Code that changed since, guesses, damaged lines and what may forge questions have no score but a person's."""
        found = {who: cells[CHECK_PART] for who, cells in scores(course, STEM).items()}

        assert dict.fromkeys(WAITING, (None, True)) == {who: found[who] for who in WAITING}
        assert all(
            "waits for a person" in page(course, who) and "not scored yet, of 3" in page(course, who) for who in WAITING
        )
        eyes = {who: [line for line in verdict_of(course, who).eye if line.startswith(PART)] for who in found}
        assert WAITING == {who for who, lines in eyes.items() if lines}

    @pytest.mark.parametrize(
        ("who", "sentence"),
        [
            ("dan", 'No question is answered: about("flatten_images", graded=True) prints them.'),
            ("eve", "Grading came to other questions than those that you answered: your code has changed since"),
            ("fay", "Answers here count once flatten_images passes its check."),
            ("gil", "Your teacher scores this part."),
            ("hal", "Grading came to other questions"),
            ("ivy", "The answers cannot be read: expected the lines that about has printed"),
            ("oda", "Your notebook found no question to ask about your code, and grading found some."),
            ("ned", "Your answer passes its check on the cases of the notebook, and not on those of grading."),
            ("mia", "expected all choices in the lines that about has printed, found another line that changes them"),
        ],
    )
    def test_each_reads_one_true_sentence(self, course: Path, who: str, sentence: str) -> None:
        """The page says why there are no points yet."""
        assert sentence in page(course, who).replace("`", "")

    def test_each_question_is_explained(self, course: Path) -> None:
        """The page says of each question whether it is right, what is right, and why."""
        (first, second, third) = verdict_of(course, "ben").report(PART).verdicts
        told = page(course, "ben").replace("`", "")

        assert all(each.sentence.startswith("Right: ") for each in (first, third))
        assert re.match(r"Your choice: .+\. Right: .+\. Running it", second.sentence)
        assert all(each.sentence.replace("`", "") in told for each in (first, second, third))
        assert f"2 of 3 questions right. {second.sentence}".replace("`", "") in told
        assert "Not answered. Right: " in page(course, "cyd")

    def test_a_score_by_hand_stays(self, course: Path) -> None:
        """A person's score of a waiting part counts, also after another grading."""
        from nbgrader.api import Gradebook

        with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
            grade = gradebook.find_grade(CHECK_PART, STEM, STEM, "eve")
            grade.manual_score, grade.needs_manual_grade = 2.5, False
            gradebook.db.commit()
        assert main(["--root", str(course), "grade", STEM, "--force", "--student", "eve"]) == 0
        with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
            grade = gradebook.find_grade(CHECK_PART, STEM, STEM, "eve")
            assert (2.5, False) == (grade.score, grade.needs_manual_grade)
        run_nbgrader(course, "generate_feedback", STEM, "--student", "eve", "--force")
        assert f"{PART}2.5 of 3scored by your teacher" in page(course, "eve")

    def test_other_commands(self, course: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The report takes no answer for a mistake or a copy, and a talk is about the exercises."""
        results = read_results(course, STEM)
        compared = {each.exercise for each in read_answer_structures([results])}

        assert PART not in {each.exercise for each in unexplained_answers(results)} | compared
        for words in (["report", STEM], ["oral", "ada", STEM], ["summary", STEM]):
            assert main(["--root", str(course), *words]) == 0, capsys.readouterr().err
        told = f"{PART}: waits for your score. Feedback says: Grading came to other questions"
        assert told in " ".join(capsys.readouterr().out.split())

    def test_core_exercises_are_asked_about(self, course: Path) -> None:
        """In the release each gets three cells below its check: what asks, the answers, and three points."""
        cells = nbformat.read(course / "release" / STEM / f"{STEM}.ipynb", as_version=4).cells
        ids = [cell.id for cell in cells]

        assert [f"ask-about_{name}" for name in ASKED] == [each for each in ids if each.startswith("ask-")]
        place = ids.index(f"check_{NAME}")
        assert [f"ask-{PART}", PART, CHECK_PART] == ids[place + 1 : place + 4]
        assert f"# Put the printed lines here.\n{PART} = {{}}" == cells[place + 2].source
        assert f'check("{PART}", {PART})' == cells[place + 3].source
        assert set(ASKED) == {part.asked for part in read_assignment(course, STEM, unconfined=True).lent}  # type: ignore[attr-defined]
        assert 3.0 == verdict_of(course, "ada").points[PART]


class TestRelease:
    """What other settings than `questions = true` do to a release."""

    @pytest.mark.night
    @pytest.mark.parametrize("settings", ["questions = false\n", None, '[due]\nx = "2026-11-30"\n'])
    def test_off_changes_nothing(self, tmp_path: Path, settings: str | None) -> None:
        """Without the setting, the release is what it was, to the byte."""
        course = make_course(tmp_path / "course")
        chapter = fill_minutes_from_course(course, read_chapter(chapter_path(course, STEM)))
        (course / "source" / STEM / f"{STEM}.ipynb").write_bytes(to_bytes(nbgrader_source_notebook(chapter, "")))
        if settings is not None:
            (course / SETTINGS).write_text(settings)
        run_nbgrader(course, "generate_assignment", STEM)

        assert NOTEBOOK.read_bytes() == (course / "release" / STEM / f"{STEM}.ipynb").read_bytes()

    @pytest.fixture
    def wrongly_set(self, tmp_path: Path) -> Path:
        """Return a course whose setting is neither true nor false."""
        course = make_course(tmp_path / "course")
        (course / SETTINGS).write_text("questions = 3\n")
        return course

    def test_a_wrong_setting_is_refused(self, wrongly_set: Path) -> None:
        """What is neither true nor false is named, with what was expected."""
        with pytest.raises(WorkFailed, match=r"expected true or false for questions, found 3\. Correct it\."):
            release_asks_own_code_questions(wrongly_set)

    @pytest.mark.night
    def test_a_wrong_setting_stops_the_release(self, wrongly_set: Path) -> None:
        """nbgrader's own command ends with the same line."""
        words = [sys.executable, "-m", "nbgrader", "generate_assignment", STEM]
        ran = subprocess.run(words, cwd=wrongly_set, capture_output=True, text=True)

        assert ran.returncode and "expected true or false for questions, found 3" in ran.stderr


class TestInTheNotebook:
    """What the reader sees of a part."""

    @pytest.fixture(autouse=True)
    def _reader(self, in_the_sample: None, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)

    def test_the_check_tells_no_more_than_how_many(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It counts the answers; where nbgrader runs it, it fails if there are none, and gives nobody points."""
        none_asked = ast.literal_eval(answer_form_text(NAME, 5, []).partition(" = ")[2])
        check(PART, {"draw": 1, "asked": "x", 1: "2", 3: "3"})
        assert f"{PART}: 2 answered. Feedback will tell which are right." in capsys.readouterr().out
        check(PART, {})
        assert "no question is answered. `about(" in capsys.readouterr().out
        check(PART, {"draw": 1, "asked": "x"})
        assert "no question is answered. Take away the # before one choice" in capsys.readouterr().out
        check(PART, none_asked)
        assert "Your teacher scores this part." in capsys.readouterr().out.replace("\n", " ")
        check(PART, [1])
        assert "found something that is none of them. Copy them again." in capsys.readouterr().out.replace("\n", " ")
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
        check(PART, none_asked)
        check(PART, {"draw": 1, "asked": "x", 1: "2"})
        with pytest.raises(CheckFailed, match="no question is answered"):
            check(PART, {})
        monkeypatch.setenv("NBGRADER_EXECUTION", "autograde")
        with pytest.raises(CheckFailed, match="1 answered"):
            check(PART, {"draw": 1, "asked": "x", 1: "2"})

    def test_lines_can_be_read_back(self) -> None:
        """Whatever stands in a prompt, a choice or the code, the lines are one statement that runs."""
        odd = ("'a'", 'b"""', "\\n", "{c}")
        question = Question("shape", NAME, "Say\n`it`\r# now", odd, 1, "So.", "def f():\n    return '\x0c}'")
        lines = answer_form_text(NAME, 5, [question, question])
        for choice in odd:
            one = lines.replace(f"# 1: {choice!r},", f"1: {choice!r},", 1)
            written = written_answers(one, PART)
            assert written is not None and (5, {1: choice}) == (written.draw, dict(written.chosen))
        assert written_answers(answer_form_text(NAME, 5, []), PART) is not None

    @pytest.mark.parametrize(
        "source",
        [
            f"{PART} = None",
            f"{PART} = {{'draw': 1}}",
            f"{PART} = {{'draw': -1, 'asked': ''}}",
            f"{PART} = {{'draw': 10**9, 'asked': ''}}",
            f"{PART} = {{'draw': 0x{'f' * 9000}, 'asked': ''}}",
            f"{PART} = {'[' * 90}{']' * 90}",
            f"def {PART}():\n    pass",
            f"{PART} = (",
            f"{PART}: dict",
            GUESSED.replace(PART, "about_one_hot"),
            GUESSED.replace("3: ", "2: "),
            f"{GUESSED}\n{PART}[1] = '3'",
            f"{GUESSED}\n{PART}.update({{1: '3'}})",
        ],
    )
    def test_other_texts_are_refused(self, source: str) -> None:
        """They are no answers, and nothing of them is run."""
        with pytest.raises(DamagedData, match="expected"):
            written_answers(source, PART)

    def test_nothing_is_no_answer(self) -> None:
        """The cell as it is released, or an empty one, says nothing."""
        assert (
            written_answers(f"{PART} = {{}}", PART) is written_answers("# ", PART) is parse_question_answers({}) is None
        )

    def test_what_no_file_can_hold_is_replaced(self) -> None:
        """A choice that is half a pair, or endless, becomes one that feedback can show."""
        written = written_answers(f'{PART} = {{"draw": 1, "asked": "", 1: "\\ud800", 2: "{"x" * 9_000}"}}', PART)

        assert written is not None and {1: "?", 2: "x" * 2_000} == dict(written.chosen)

    def test_names(self) -> None:
        """An exercise of that very name is no part."""
        assert NAME == asked_exercise(PART, [NAME]) and asked_exercise(PART, [NAME, PART]) is None
        assert asked_exercise("about_it", [NAME]) is None


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> tuple[Assignment, bytes]:
    """Return an assignment of a teacher's own with an exercise of the course, and right answers to it."""
    course = make_course(tmp_path_factory.mktemp("own") / "course")
    (course / SETTINGS).write_text("questions = true\n")
    cells = (
        code("import torch\n\nfrom autograder import check"),
        answer(NAME),
        graded(f"check_{NAME}", f'check("{NAME}", {NAME})', 2),
        answer("free"),
        graded("free-test", "assert free == 1", 1),
    )
    write_source(course, "hw", Own(cells))
    NbgraderCycle(course, "hw").generate()
    path = course / "release" / "hw" / "hw.ipynb"
    notebook = Notebook(path)
    lines = answer_form_text(NAME, 7, drawn('"draw": 7'))
    notebook.write(**{NAME: RIGHT, PART: chosen(lines)})
    return read_assignment(course, "hw", unconfined=UNCONFINED), nbformat.writes(notebook.node).encode()


@pytest.mark.night
class TestElsewhere:
    """Parts of assignments that are no chapter, and of machines without the course."""

    @pytest.mark.parametrize("is_here", [True, False])
    def test_an_exercise_in_it_is_asked_about(self, own: tuple[Assignment, bytes], is_here: bool) -> None:
        """Its part has points there too, also where a worker's machine has no course folder."""
        assignment, data = own
        if not is_here:
            assignment = replace(assignment, course=f"{assignment.course}-gone")
        verdict = Grader(assignment).grade(SubmittedFiles(data), seed=7)

        assert {NAME: 2.0, PART: 3.0} == {each.exercise: verdict.earned(each.exercise) for each in verdict.reports}

    def test_what_cannot_be_read_has_no_points(self, own: tuple[Assignment, bytes]) -> None:
        """The part says that the notebook was not graded."""
        verdict = Grader(own[0]).grade(SubmittedFiles(b"{"), seed=7)

        assert verdict.trouble and verdict.report(PART).verdicts[0].sentence.startswith(NOT_GRADED)

    def test_no_platform_takes_them(self, course: Path) -> None:
        """A bundle for a platform is refused: there, no person scores what waits."""
        with pytest.raises(WorkFailed, match=f"no exercises of the course: .*{CHECK_PART}"):
            read_bundled_sitting(course, STEM)
