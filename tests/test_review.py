"""`review`: which questions come, what its file holds, and what `progress` says of it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

import explorers.review_quiz as reviewing
from autograder import progress, review
from autograder.errors import UnknownExercise
from autograder.notebook import progress_log
from autograder.notebook.progress_log import PROGRESS_LOG, LoggedCheck
from autograder.notebook.review_log import REVIEW_FILE, REVIEW_LOG, ReviewLog, ShownQuestions
from autograder.questions.computed_question import Draft
from autograder.questions.question import LETTERS
from autograder.questions.question_generator_registry import QuestionGenerator, question_generators
from autograder.questions.review_schedule import ReviewAnswer, choose_generators, memory_of_facts
from explorers.quiz_widget import Quiz
from tests.our_course import COURSE
from tests.small_chapter import PROJECT

DAY = date(2026, 11, 2)
GENERATORS = question_generators(COURSE)


def after(days: int) -> date:
    """Return the day so many days later."""
    return DAY + timedelta(days)


def asks(name: str, *facts: str) -> QuestionGenerator:
    """Return a generator that asks about some facts; nobody draws from it."""
    return QuestionGenerator(name, "ch01_made", facts, (), False, lambda _: Draft("", "", [], ""))


def answer(day: int, question: str, right: bool, *facts: str) -> ReviewAnswer:
    """Return an answer, given so many days after the first."""
    return ReviewAnswer(after(day), question, facts or (question,), right)


def names(chosen: Iterable[QuestionGenerator]) -> list[str]:
    """Return the names of generators."""
    return [each.name for each in chosen]


class TestSchedule:
    """What was wrong comes first, then what is new, then what was asked longest ago."""

    def test_intervals(self) -> None:
        """A fact is due a day after a wrong answer, and 3, 7 and 21 days after one, two and more right ones."""
        given: list[ReviewAnswer] = []
        due = []
        for day, right in ((0, False), (1, True), (4, True), (11, True), (32, True), (53, False)):
            given.append(answer(day, "a", right))
            due.append((memory_of_facts(given)["a"].due - after(day)).days)

        assert due == [1, 3, 7, 21, 21, 1]

    def test_one_step_a_day(self) -> None:
        """A second right answer on the same day is no second step, and after a wrong one none at all."""
        twice = memory_of_facts([answer(0, "a", True), answer(0, "a", True)])["a"]
        mended = memory_of_facts([answer(0, "a", False), answer(0, "a", True)])["a"]

        assert (twice.in_a_row, twice.days) == (1, 1)
        assert (mended.in_a_row, mended.is_remembered) == (0, False)

    def test_order(self) -> None:
        """Wrong before new, new before known; of known ones, those asked on one day, and then those due longest."""
        there = [asks(name, name) for name in ("soon", "late", "once", "new", "wrong")]
        known = [answer(day, name, True) for name, day in (("soon", 20), ("late", 1)) for day in (day - 1, day)]
        given = [*known, answer(25, "once", True), answer(26, "wrong", False)]

        assert names(choose_generators(there, given, after(27), 5)) == ["wrong", "new", "once", "late", "soon"]

    def test_not_on_the_same_day(self) -> None:
        """What was asked today comes only if there is nothing else."""
        there = [asks("wrong", "wrong"), asks("known", "known")]
        given = [answer(-1, "known", True), answer(0, "wrong", False)]

        assert names(choose_generators(there, given, DAY, 1)) == ["known"]
        assert names(choose_generators(there, given, after(1), 1)) == ["wrong"]
        assert names(choose_generators(there, given, DAY, 5)) == ["known", "wrong"]

        often = [answer(day, "known", True) for day in range(-9, 0)]
        assert names(choose_generators(there, [*often, answer(0, "wrong", False)], DAY, 2)) == ["known", "wrong"]

    def test_a_question_about_two(self) -> None:
        """One about two facts comes before one about one; of the same fact, the one that was wrong, or a new one."""
        there = [asks("one", "a"), asks("two", "b"), asks("both", "a", "b")]

        assert names(choose_generators(there, [], DAY, 1)) == ["both"]
        there = [asks("again", "a"), asks("other", "a")]
        assert names(choose_generators(there, [answer(0, "again", True, "a")], after(1), 1)) == ["other"]
        assert names(choose_generators(there, [answer(0, "again", False, "a")], after(1), 1)) == ["again"]

    def test_often_wrong(self) -> None:
        """A fact that was wrong on three days rests for some, then it comes first again."""
        there = [asks(name, name) for name in ("known", "wrong", "new")]
        given = [answer(day, "wrong", False) for day in range(3)]
        given += [answer(day, "known", True) for day in (1, 2)]

        assert names(choose_generators(there, given, after(3), 3)) == ["new", "wrong", "known"]
        assert names(choose_generators(there, given, after(5), 3)) == ["wrong", "new", "known"]


class Reader:
    """A reader with a folder, whose calendar the test turns."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._patch, self.folder, self.today = monkeypatch, folder, DAY
        shell = SimpleNamespace(kernel=object(), starting_dir=str(folder))
        monkeypatch.setattr(progress_log, "get_ipython", lambda: shell)
        monkeypatch.setattr(reviewing, "date", SimpleNamespace(today=lambda: self.today))
        self.new_kernel()

    def new_kernel(self) -> None:
        """Forget what the kernel remembers."""
        self._patch.setattr(PROGRESS_LOG, "_own", {})
        for log in (REVIEW_LOG, PROGRESS_LOG):
            self._patch.setattr(log, "_complained", False)
        self._patch.setattr(REVIEW_LOG, "_own", [])

    def checked(self, **passed: int) -> None:
        """Note the last checks of exercises, of three each."""
        PROGRESS_LOG._own.update({name: LoggedCheck(count, 3) for name, count in passed.items()})

    @property
    def lines(self) -> list[dict[str, object]]:
        """Return the lines of the file."""
        return [json.loads(line) for line in (self.folder / REVIEW_FILE).read_text().splitlines() if line]


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Reader:
    """Return a reader with an empty folder."""
    monkeypatch.chdir(PROJECT)
    monkeypatch.delenv(progress_log.PROGRESS_VARIABLE, raising=False)
    monkeypatch.delenv("NBGRADER_EXECUTION", raising=False)
    return Reader(monkeypatch, tmp_path)


def asked(sitting: str | None = None) -> Quiz:
    """Return the quiz of a review."""
    quiz = review(sitting)
    assert quiz is not None
    return quiz


def sittings(quiz: Quiz) -> set[str]:
    """Return the sittings that the questions of a quiz are from."""
    return {question.about for question in quiz._questions}


def answer_all(quiz: Quiz, right: bool = True) -> None:
    """Answer all questions of a quiz."""
    for question in quiz._questions:
        quiz.answer(LETTERS[(question.right + (not right)) % len(question.choices)])


class TestSittings:
    """The questions are from earlier sittings that the reader has begun."""

    def test_five_from_before(self, reader: Reader) -> None:
        """Of a reader of whom nothing is known it is taken that all before was read, but nothing that is optional."""
        quiz = asked("2b")

        assert len(quiz._questions) == 5
        begun = {"ch01a_tensors", "ch01b_broadcasting", "ch01c_reading_digits", "ch02a_gradients"}
        assert sittings(quiz) <= begun and len({question.kind for question in quiz._questions}) == 5

    def test_only_what_was_begun(self, reader: Reader) -> None:
        """Once a check was run or `review` was called in some sittings, only these count."""
        reader.checked(grad_of=0)
        for _ in range(4):
            assert sittings(asked("2c")) == {"ch02a_gradients"}
        asked("2b")
        found = set().union(*(sittings(asked("2c")) for _ in range(4)))
        assert found == {"ch02a_gradients", "ch02b_graphs"}

    @pytest.mark.parametrize(("count", "is_asked"), [(2, False), (3, True)])
    def test_optional_ones(self, reader: Reader, count: int, is_asked: bool) -> None:
        """An optional sitting is asked about once an exercise in it has passed."""
        reader.checked(precision_lab=count)
        quiz = asked("2a") if is_asked else review()

        assert (quiz is not None and "ch01x_einsum_and_precision" in sittings(quiz)) == is_asked

    def test_without_a_sitting(self, reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
        """`review()` asks about all that was begun, and says so where nothing was."""
        assert review() is None
        assert "Nothing to ask yet" in capsys.readouterr().out
        reader.checked(describe=3, load_partial=1)
        assert sittings(asked()) <= {"ch01a_tensors", "ch03d_saving_and_reusing"}

    def test_nothing_before_the_first(self, reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
        """Before the first sitting there is nothing to ask."""
        assert review("1a") is None
        assert "Nothing to ask yet" in capsys.readouterr().out

    @pytest.mark.parametrize("name", ["9a", "", "ch02b_graphs", 2])
    def test_no_such_sitting(self, reader: Reader, name: str) -> None:
        """A wrong name is refused with those that exist, and nothing is written."""
        with pytest.raises(UnknownExercise, match=re.escape("1a, 1b, 1c, 1x, 2a")):
            review(name)
        assert not (reader.folder / REVIEW_FILE).exists()


class TestDays:
    """What was answered decides what comes on a later day."""

    def test_what_was_wrong_comes_back(self, reader: Reader) -> None:
        """All that was wrong is asked the next day, with other numbers, and the reader is told where to look."""
        first = asked("1b")
        answer_all(first, right=False)
        wrong = {fact for question in first._questions for fact in GENERATORS[question.kind].facts}
        assert "It is explained in Chapter 1a: Tensors, and comes back with other numbers." in first.tell()
        reader.today = after(1)
        reader.new_kernel()
        second = asked("1c")

        assert wrong <= {fact for question in second._questions for fact in GENERATORS[question.kind].facts}

    def test_never_the_same_numbers(self, reader: Reader) -> None:
        """No question that was answered comes again."""
        seen = []
        for day in range(12):
            reader.today = after(day)
            reader.new_kernel()
            answer_all(quiz := asked("1b"))
            seen += [(question.code, question.expression) for question in quiz._questions]

        assert len(set(seen)) == len(seen) == 60

    def test_few_numbers(
        self, reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """A generator with three questions is asked three times, and then no more; what was only shown comes again."""
        few = asks("few", "fact")
        few = replace(
            few, sitting="ch01a_tensors", draw=lambda r: Draft(f"x = {r.choice('456')}", "x", [1, 2, 3], "So.")
        )
        monkeypatch.setattr(reviewing, "question_generators", lambda _: {"few": few})

        assert {asked("1b")._questions[0].code for _ in range(3)} == {"x = 4", "x = 5", "x = 6"}
        assert review("1b") is None and "You have seen every question" in capsys.readouterr().out
        for _ in range(7):
            review("1b")
        answered = asked("1b")
        answer_all(answered)
        for _ in range(20):
            quiz = review("1b")
            assert quiz is None or quiz._questions[0].code != answered._questions[0].code

    def test_the_file(self, reader: Reader) -> None:
        """A line for what was shown, and one for each answer: no code, no text of the reader's."""
        quiz = asked("1b")
        answer_all(quiz)
        shown, *answers = reader.lines

        assert set(shown) == {"day", "sitting", "shown"} and shown["sitting"] == "ch01b_broadcasting"
        assert [line["question"] for line in answers] == [question.kind for question in quiz._questions]
        assert {(line["day"], line["right"]) for line in answers} == {("2026-11-02", True)}
        assert os.listdir(reader.folder) == [REVIEW_FILE]

    def test_automatic_runs_are_alike(self, reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where no progress is kept, the same sitting has the same questions, and no file is written."""
        monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
        one = asked("3a")
        reader.new_kernel()

        assert one._questions == asked("3a")._questions
        assert os.listdir(reader.folder) == []


class TestDamage:
    """No state of the file stops a review, and nothing in it is lost."""

    def test_damaged_lines(self, reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
        """Lines that cannot be read are counted aloud and stay; all others count."""
        answer_all(asked("1b"))
        path, before = reader.folder / REVIEW_FILE, len(REVIEW_LOG.read().answers)
        damaged = path.read_bytes() + b'\n{"day": "2026-11-0\n[1]\n{"day": "2026-11-02", "question": "x", "right": 1}'
        path.write_bytes(damaged)
        capsys.readouterr()
        asked("1b")

        told = " ".join(capsys.readouterr().out.split())
        assert told == f"3 lines of {REVIEW_FILE} cannot be read: what stood there may be asked again."
        assert path.read_bytes().startswith(damaged) and len(REVIEW_LOG.read().answers) == before

    @pytest.mark.parametrize(
        "line", ['{"day": 3}', '{"day": "2026-11-02", "shown": "ab", "sitting": ""}', "\0", "[" * 9**5]
    )
    def test_other_lines(self, reader: Reader, line: str) -> None:
        """Whatever a line holds, it is left out."""
        (reader.folder / REVIEW_FILE).write_text(line)

        history = REVIEW_LOG.read()
        assert (history.answers, history.shown) == ((), ()) and "1 line of" in history.note

    def test_a_folder_in_its_place(self, reader: Reader, capsys: pytest.CaptureFixture[str]) -> None:
        """Where no file can be written, the kernel remembers, and says so once."""
        (reader.folder / REVIEW_FILE).mkdir()
        quiz = asked("1b")
        told = " ".join(capsys.readouterr().out.split())
        answer_all(quiz)

        assert "cannot be read" in told and told.count("This counts until the kernel ends") == 1
        assert "This counts" not in capsys.readouterr().out and len(REVIEW_LOG.read().answers) == 5

    def test_two_notebooks_at_once(self, reader: Reader) -> None:
        """Two kernels that write in turn lose nothing of each other."""
        logs = ReviewLog(), ReviewLog()
        for number in range(6):
            logs[number % 2].note(ShownQuestions(DAY, "", (str(number),)))

        assert REVIEW_LOG.read().digests == set("012345")


class TestProgress:
    """`progress` says what is remembered."""

    def test_what_is_remembered(self, reader: Reader) -> None:
        """Nothing before the first answer; then how many facts are remembered, as text and as HTML."""
        assert "remember" not in str(progress())
        REVIEW_LOG.note(answer(0, "a", True, "a", "b"))
        REVIEW_LOG.note(answer(0, "c", False))
        told = "You remember 2 of the 3 facts that `review` has asked about. The others come back."

        assert told in str(progress()) and told in progress(2)._repr_html_()
        REVIEW_LOG.note(answer(1, "c", True))
        assert str(progress()).endswith("You remember 3 of the 3 facts that `review` has asked about.")

    def test_damage_is_said(self, reader: Reader) -> None:
        """A damaged file is said there too."""
        (reader.folder / REVIEW_FILE).write_text("?")

        assert f"1 line of {REVIEW_FILE} cannot be read" in str(progress(1))


def test_names_of_sittings() -> None:
    """A sitting is called by its number and letter, whatever stands around it; any other stem by itself."""
    stems = {"ch02b_graphs": "2b", "ch12_last": "12", "ch02banana": "ch02banana", "week_ends": "week_ends", "3a": "3a"}

    assert {stem: reviewing.short_sitting_name(stem) for stem in stems} == stems


def test_a_course_without_questions(reader: Reader, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no generator is written, nothing is asked."""
    monkeypatch.setattr(reviewing, "question_generators", lambda _: {})

    assert review("2a") is None


def test_the_page_without_a_kernel(reader: Reader) -> None:
    """A page that nobody answers shows all five questions; what is said of a choice unfolds."""
    data, _ = asked("2a")._repr_mimebundle_()

    assert data["text/html"].count("<details") == 20 and "Question 1 of 5" in data["text/plain"]
