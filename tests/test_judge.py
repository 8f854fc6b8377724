"""The judge: reference and answer bank of a course folder, applied to cases."""

from dataclasses import replace
from pathlib import Path
from shutil import copytree

import pytest

from autograder.course.answer_bank import AnswerBank, load_bank
from autograder.course.chapter_judge import Judge
from autograder.course.course_location import bank_file
from autograder.errors import AnswerBankError, ChapterFormatError, CourseNotFound, ExerciseError
from autograder.exercises.observation import Observation
from autograder.grading.judge_untrusted_observations import judge_untrusted_observations
from tests.our_course import COURSE as OURS
from tests.sample_course import COURSE, STEM


@pytest.fixture(scope="module")
def judge() -> Judge:
    """Return the judge of the sample."""
    return Judge(COURSE.folder, STEM)


class TestJudge:
    def test_the_reference_passes_on_fresh_cases(self, judge: Judge) -> None:
        """A worked solution gets full marks on fresh cases."""
        seen = judge.exercises["standardize"].observe(
            judge.solutions["standardize"], judge.keys.cases("standardize", 41)
        )

        assert judge.judge("standardize", 41, seen, "").passed

    def test_a_key_is_computed_once(self, judge: Judge) -> None:
        """A key is cached, because a class needs it once for each student."""
        assert judge.keys.full_key("describe", 5) is judge.keys.full_key("describe", 5)

    def test_a_wrong_answer_is_judged_once(self, judge: Judge) -> None:
        """The report on a wrong answer is cached by observations, source and seed."""
        pairs = judge.keys.bank_observations("standardize")
        answer, seen = next(pair for pair in pairs if not pair[0].is_right)
        report = judge_untrusted_observations(judge, "standardize", 0, seen, answer.source, "digest")

        assert not report.passed and report is judge.reports.find("standardize", 0, "digest", answer.source)
        assert judge.reports.find("standardize", 1, "digest", answer.source) is None

    def test_what_is_shipped_covers_every_exercise(self, judge: Judge) -> None:
        """Each exercise of the chapter has a shipped key."""
        assert {exercise.name for exercise in judge.exercises} == set(COURSE.keys(STEM))

    def test_no_weights_of_a_whole_training_are_shipped(self) -> None:
        """Keys of whole trainings hold facts and no weights, whose digits differ between processors."""
        key = OURS.keys("ch04c_rates_and_optimizers")["sin_fit"]

        assert {"cut_loss", "shapes", "below", "relu_net", "fits"} == set(key.reference[-1])
        assert not any("outputs" in mistake.observations[-1] for mistake in key.mistakes)

    def test_facts_without_weights_earn_nothing(self) -> None:
        """The shipped facts of a training do not pass as an answer's observations."""
        exercise, facts = OURS.find("sin_fit"), OURS.keys("ch04c_rates_and_optimizers")["sin_fit"].reference[-1]

        assert exercise.compare(facts, dict(facts), exercise.tolerance) is not None

    def test_prices_are_compared_in_spreads_and_told_as_they_are(self) -> None:
        """A price may be off by a hundredth of the true spread, whatever spread the answer claims."""
        exercise, right = (
            OURS.find("house_prices"),
            OURS.keys("ch04c_rates_and_optimizers")["house_prices"].reference[0],
        )
        line, units = right["line"], right["units"]

        def off(by: float) -> Observation:
            claimed = {"units": units | {"spread": 1e9}} if by > 1 else {}
            return right | claimed | {"line": replace(line, values=line.values + by * units["spread"])}

        near, *far = (exercise.compare(right, off(by), exercise.tolerance) for by in (0.009, 0.02, 5.0))

        assert near is None
        assert all(difference and difference.expected is line for difference in far)

    def test_a_solution_that_fails_stops_everything(self, tmp_path: Path) -> None:
        """A worked solution that raises gives an error with file and line."""
        for name in ("answers", "exercises"):
            copytree(COURSE.folder / name, tmp_path / name)
        chapter = tmp_path / "chapters" / f"{STEM}.py"
        chapter.parent.mkdir()
        text = (COURSE.folder / "chapters" / f"{STEM}.py").read_text()
        chapter.write_text(text.replace("    ### BEGIN SOLUTION", "    ### BEGIN SOLUTION\n    return nope", 1))

        told = r"ch01_sample\.py:\d+: the solution of 'describe' raised NameError: name 'nope' is not defined, at desc"
        with pytest.raises(ChapterFormatError, match=told):
            Judge(tmp_path, STEM).keys.full_key("describe", 3)

    def test_a_missing_course_folder_is_named(self, tmp_path: Path) -> None:
        """A missing course folder raises CourseNotFound."""
        with pytest.raises(CourseNotFound):
            Judge(tmp_path, STEM)

    def test_an_exercise_without_answers_is_named(self, tmp_path: Path) -> None:
        """An exercise without answers, or answers without an exercise, raises an error with the files."""
        for name in ("answers", "exercises", "chapters"):
            copytree(COURSE.folder / name, tmp_path / name)
        bank = bank_file(tmp_path, STEM, "one_hot")
        bank.rename(bank.with_name("two_hot.py"))

        with pytest.raises(ExerciseError) as caught:
            Judge(tmp_path, STEM)

        told = str(caught.value)
        assert (
            "answers/ch01_sample/one_hot.py: not there (is two_hot.py meant for it?); write `bank = AnswerBank" in told
        )
        assert "answers/ch01_sample/two_hot.py: answers to 'two_hot', which is no exercise of" in told
        assert "(is it 'one_hot'?); rename or delete the file." in told

        bank.write_text(bank_text("one_hot"))
        bank.with_name("two_hot.py").unlink()
        bank.write_text(bank_text("two_hot"))
        with pytest.raises(AnswerBankError, match=r"one_hot\.py:\d+: expected `bank = .*, found the bank of 'two_hot'"):
            Judge(tmp_path, STEM)


def bank_text(name: str) -> str:
    """Return the text of an empty bank."""
    return f'from autograder.course.answer_bank import AnswerBank\n\nbank = AnswerBank("{name}")\n'


TWO_CLASSES = """
from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("Number")


@bank.wrong("one", "You add 1.")
class Number:
    def __init__(self, number):
        self.number = number

    def again(self):
        return Number(self.number + 1)


@bank.wrong("two", "You add 2.")
class Number:
    def __init__(self, number):
        self.number = number

    def again(self):
        return Number(self.number + 2)
"""


class TestBank:
    def test_a_source_comes_without_its_decorator(self) -> None:
        """The source of an answer has no decorator."""
        bank = AnswerBank("f")

        @bank.wrong("zero", "You return 0.")
        def f(x: int) -> int:
            return 0

        assert ["def f(x: int) -> int:\n    return 0\n"] == [answer.source for answer in bank]

    def test_each_of_several_classes_of_one_name_is_itself(self, tmp_path: Path) -> None:
        """Each class of a bank has its own source, and its name refers to itself."""
        (tmp_path / "Number.py").write_text(TWO_CLASSES)

        one, two = load_bank(tmp_path / "Number.py")

        assert (one.function(0).again().number, two.function(0).again().number) == (1, 2)
        assert one.source == "class Number:" + TWO_CLASSES.split("class Number:")[1].split("@bank")[0].rstrip() + "\n"

    def test_a_bank_is_taken_apart_once(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A bank is parsed once, and not once per answer, to find the sources without decorators."""
        plain = "@bank.right('one')\ndef f(x): return x\n\n"
        decorated = "import torch\n@bank.right('two')\n@torch.no_grad()\ndef f(x):\n    return (\n        x\n    )\n"
        (tmp_path / "f.py").write_text(f"{bank_text('f')}{plain}{decorated}# the end\n")
        monkeypatch.setattr("inspect.getsource", lambda _: pytest.fail("a search for one answer"))

        sources = [answer.source for answer in load_bank(tmp_path / "f.py")]

        assert ["def f(x): return x\n", "def f(x):\n    return (\n        x\n    )\n"] == sources

    def test_a_tag_is_given_once(self) -> None:
        """Two answers with one tag raise AnswerBankError."""
        bank = AnswerBank("lambda_like")
        bank.right("plain")(lambda_like)

        with pytest.raises(AnswerBankError, match="twice"):
            bank.right("plain")

    def test_an_answer_has_the_name_of_the_exercise(self) -> None:
        """An answer with another name than the exercise raises AnswerBankError."""
        with pytest.raises(AnswerBankError, match="expected an answer called 'f' under 'plain', found 'lambda_like'"):
            AnswerBank("f").right("plain")(lambda_like)

    @pytest.mark.parametrize(("tag", "sentence"), [("No Keepdim", "s"), ("ok", "  ")])
    def test_tags_and_sentences_have_a_form(self, tag: str, sentence: str) -> None:
        """A tag that is not lower case with hyphens, or an empty message, raises AnswerBankError."""
        with pytest.raises(AnswerBankError):
            AnswerBank("f").wrong(tag, sentence)

    def test_a_bank_that_cannot_run_is_named_with_its_line(self, tmp_path: Path) -> None:
        """A bank that raises gives an error with file and line."""
        broken = {"import math\nmath.nope\n": "AttributeError", bank_text("f") + 'bank.right("A")\n': "tag"}
        for text, told in broken.items():
            (tmp_path / "f.py").write_text(text)

            with pytest.raises(AnswerBankError, match=rf"f\.py:{text.count(chr(10))}: .*{told}"):
                load_bank(tmp_path / "f.py")

    def test_a_file_without_a_bank_is_named(self, tmp_path: Path) -> None:
        """A file that does not define `bank` for its own exercise raises AnswerBankError."""
        for text in ("banc = 1\n", bank_text("g")):
            (tmp_path / "ch99").mkdir(exist_ok=True)
            (tmp_path / "ch99" / "f.py").write_text(text)
            with pytest.raises(AnswerBankError, match=r'expected `bank = AnswerBank\("f"\)'):
                load_bank(tmp_path / "ch99" / "f.py")


def lambda_like(x: int) -> int:
    """An answer."""
    return x
