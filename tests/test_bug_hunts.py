"""Bug hunts: the committed ones are true, and `hunt` and `mend` show and judge them."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

import explorers.bug_hunt_quiz as hunting
from autograder import hunt, mend
from autograder.authoring.match_program_to_mistake import ProgramMistakeMatcher
from autograder.authoring.write_hunts import read_hunts
from autograder.course.chapter_judge import Judge
from autograder.course.course import course_in
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.mistake_matching import cases_showing_mistake
from autograder.diagnosis.verdict import Status
from autograder.errors import DamagedData, UnknownExercise
from autograder.notebook import progress_log
from autograder.notebook.last_checked_answer import LastCheck
from autograder.notebook.progress_log import PROGRESS_LOG, LoggedCheck
from autograder.questions.bug_hunt_file import BugHunt, ExerciseHunts, decode_hunts, encode_hunts
from autograder.questions.hunt_questions import ask_for_faulty_line, ask_for_true_sentence, first_failed_verdict
from tests.small_chapter import PROJECT

# A time limit may come where the interpreter tidies up, which can only report it.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

COURSE = course_in(PROJECT / "course")
STEMS = COURSE.stems
HUNTS = {name: hunts for stem in STEMS for name, hunts in read_hunts(COURSE.folder, stem).items() if hunts.hunts}
ENOUGH = 1000


def key_of(name: str) -> ExpectedObservations:
    """Return the shipped key of an exercise."""
    return COURSE.keys(COURSE.find(name).chapter)[name]


class TestCommitted:
    """The committed hunts of this course."""

    def test_there_are_enough_and_they_are_small(self) -> None:
        """A thousand hunts take less than a megabyte."""
        size = sum(path.stat().st_size for path in (COURSE.folder / "hunts").glob("*.json"))

        assert sum(len(each.hunts) for each in HUNTS.values()) >= ENOUGH and size < 1_000_000

    def test_who_has_none(self) -> None:
        """Without hunts are an exercise of one line, and two in which a long program with bugs is given."""
        every = {name for stem in STEMS for name in read_hunts(COURSE.folder, stem)}

        assert every == {each.name for each in COURSE.all_exercises()}
        assert every - HUNTS.keys() == {"first_and_rest", "broken_loops", "make_agnostic"}

    @pytest.mark.parametrize("name", HUNTS)
    def test_questions(self, name: str) -> None:
        """Each hunt gives a question about its line and one about its sentence, with three choices at least."""
        exercise, key = COURSE.find(name), key_of(name)
        for each in HUNTS[name].hunts:
            line = ask_for_faulty_line(each, exercise, key)
            told = ask_for_true_sentence(each, HUNTS[name].false[each.mistake], exercise, key, Random(0))

            assert f"line {each.line}: " in line.right_choice and min(len(line.choices), len(told.choices)) >= 3
            assert len(each.code.splitlines()) >= max(each.line, *each.others)
            assert re.search(rf"^(def|class) {each.name}\b", each.code, re.MULTILINE)
            assert first_failed_verdict(each, exercise, key).status in (Status.FAIL, Status.ERROR)
            assert "#" not in each.code and name not in re.findall(r"(?<![.\w])\w+", each.code)

    @pytest.mark.parametrize("name", HUNTS)
    def test_other_sentences_are_false(self, name: str) -> None:
        """Each false sentence is of a mistake that fails on a case on which the program is right."""
        exercise, key = COURSE.find(name), key_of(name)
        mistakes = {mistake.tag: mistake for mistake in key.mistakes}
        for tag, others in HUNTS[name].false.items():
            mine = set(cases_showing_mistake(exercise, key, mistakes[tag]))
            for other in others:
                assert mistakes[other].sentence not in ("", mistakes[tag].sentence)
                assert set(cases_showing_mistake(exercise, key, mistakes[other])) - mine

    @pytest.mark.night
    @pytest.mark.parametrize("stem", STEMS)
    def test_each_shows_its_mistake(self, stem: str) -> None:
        """Each program shows exactly what its mistake shows, and so does not pass."""
        judge = Judge(COURSE.folder, stem)
        for name in [name for name in judge.names if name in HUNTS]:
            runs = ProgramMistakeMatcher(judge, name)
            wrong = [each for each in HUNTS[name].hunts if not runs.shows_as(each.mistake, each.code)]

            assert [] == wrong
            assert not any(runs.passes(each.code) for each in HUNTS[name].hunts)

    def test_each_of_one_exercise_shows_its_mistake(self) -> None:
        """By day, one exercise stands for all."""
        name = "standardize"
        runs = ProgramMistakeMatcher(Judge(COURSE.folder, COURSE.find(name).chapter, only=name), name)

        assert [] == [each for each in HUNTS[name].hunts if not runs.shows_as(each.mistake, each.code)]


def test_hunts_come_back_from_their_file() -> None:
    """What is written is read again, and nobody reads a program in it in passing."""
    one = BugHunt("double", "halves", "def their_double(x):\n    return x / 2\n", "change", 2, (1,))
    chapter = {"double": ExerciseHunts("abc", {"halves": ("adds",)}, (one,))}
    data = encode_hunts(chapter)

    assert decode_hunts(data) == chapter and b"return" not in data
    for damaged in (b"", b"[]", b'{"double": "?"}', data.replace(b'": "', b'": "x')):
        with pytest.raises(DamagedData, match="install the course again"):
            decode_hunts(damaged)


class Folder:
    """A reader's folder with what has passed there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
        self._patch, self.path = monkeypatch, path
        monkeypatch.setattr(PROGRESS_LOG, "_own", {})
        monkeypatch.setattr(hunting, "_had", [])
        monkeypatch.setattr(hunting, "progress_folder", lambda: path)
        monkeypatch.setattr(hunting, "_RANDOM", Random(5))
        assert progress_log.progress_folder() is None

    def passed(self, *names: str) -> None:
        """Note that exercises have passed."""
        PROGRESS_LOG._own.update({name: LoggedCheck(3, 3) for name in names})


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Folder:
    """Return an empty folder of a reader."""
    monkeypatch.chdir(PROJECT)
    return Folder(monkeypatch, tmp_path)


def said(capsys: pytest.CaptureFixture[str]) -> str:
    """Return what was printed, in one line."""
    return " ".join(capsys.readouterr().out.split())


class TestHunt:
    """`hunt` shows another program each time, of an exercise that has passed."""

    def test_nothing_has_passed(self, folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
        """Before anything has passed it says one sentence; a check that failed changes nothing."""
        PROGRESS_LOG._own["describe"] = LoggedCheck(2, 3)

        assert hunt() is None
        assert said(capsys) == "Nothing to hunt yet. Hunts come from exercises that you have passed."

    def test_an_exercise_that_has_not_passed(self, folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
        """The programs are nearly answers: who has not passed the exercise is offered those that have passed."""
        folder.passed("describe")

        assert hunt("train_step") is None
        assert "Pass the check of `train_step` first" in (told := said(capsys)) and told.endswith("in `describe`.")

    def test_an_exercise_without_hunts(
        self, folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Of an exercise that has none, those that have some are named."""
        monkeypatch.setattr(hunting, "read_hunts", lambda _, stem: {n: h for n, h in HUNTS.items() if n == "describe"})

        assert hunt("train_step") is None
        assert said(capsys) == "`train_step` has no hunts. These have: `describe`."

    def test_a_name_that_is_none(self, folder: Folder) -> None:
        """An unknown name is refused as `check` refuses it."""
        with pytest.raises(UnknownExercise, match="Did you mean 'train_step'"):
            hunt("train_stap")

    def test_each_call_brings_another_one(self, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
        """None comes twice, also in a new kernel, before all have come; then they come again."""
        folder.passed("describe")
        there = len(HUNTS["describe"].hunts)
        seen = set()
        for number in range(there):
            if number % 5 == 0:
                monkeypatch.setattr(hunting, "_had", [])
            assert hunt() is not None
            seen.add(hunting._had[-1].code)

        assert len(seen) == there
        assert hunt("describe") is not None

    def test_easy_ones_of_the_latest_sitting_first(self, folder: Folder) -> None:
        """The first hunt is an easy one of the latest exercise that has passed, and the next one is of another."""
        folder.passed("standardize", "train_step")
        for name in ("train_step", "standardize"):
            hunt()
            given, there = hunting._had[-1], sorted(len(each.code.splitlines()) for each in HUNTS[name].hunts)

            assert name == given.exercise and len(given.code.splitlines()) <= there[min(12, len(there) - 1)]

    def test_of_this_notebook_first(self, folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
        """An exercise that was checked in this kernel comes before those of later sittings."""
        folder.passed("standardize", "train_step")
        monkeypatch.setitem(hunting.LAST_CHECKS, "standardize", LastCheck(None, "", passed=True))
        hunt()

        assert "standardize" == hunting._had[-1].exercise

    def test_questions_and_what_follows(self, folder: Folder, capsys: pytest.CaptureFixture[str]) -> None:
        """Once both questions are answered, the reader is told how to mend the program."""
        folder.passed("describe")
        quiz = hunt("describe")
        assert quiz is not None and "mend" not in quiz.picture
        quiz.answer("a")
        quiz.answer("a")

        assert "`mend()` prints the program" in said(capsys)
        assert list(quiz.answers) == [0, 1]


class TestMend:
    """`mend` judges what the reader has made of the program."""

    def run(self, code: str) -> Any:
        """Return the answer that a program defines."""
        names: dict[str, Any] = {}
        exec("import torch\n" + code, names)
        return names["their_describe"]

    def test_the_program_is_judged_and_does_not_count(
        self, folder: Folder, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The program as it is fails, a right one passes, and neither changes the reader's progress."""
        monkeypatch.setattr(hunting, "display", print)
        folder.passed("describe")
        hunt()
        before = dict(PROGRESS_LOG._own)
        mend()
        code = hunting._had[-1].code
        assert capsys.readouterr().out == f"{code}\nmend(their_describe)\n"
        mend(self.run(code))
        assert re.search("describe: [0-6] of 7 checks passed", said(capsys))
        right = '{"shape": tuple(x.shape), "dtype": x.dtype, "device": x.device.type, "bytes": x.nbytes}'
        mend(self.run(f"def their_describe(x):\n    return {right} | {{'requires_grad': x.requires_grad}}"))
        assert "all 7 checks passed" in (told := said(capsys)) and "Mended." in told
        assert before == PROGRESS_LOG._own

    @pytest.mark.parametrize("other", [3, len, "their_describe"])
    def test_something_else(self, folder: Folder, capsys: pytest.CaptureFixture[str], other: object) -> None:
        """What is no program of a hunt is refused, with the name of the one that was shown."""
        mend()
        assert said(capsys) == "Run `hunt()` first: it shows a program to mend."
        folder.passed("describe")
        hunt()
        mend(other)
        assert "Expected the function `their_describe`, mended, got" in said(capsys)
