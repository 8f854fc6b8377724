"""The proof of the graders: every exercise against its starter, its reference and its answer bank.

To look at one exercise: `pytest tests/test_bank.py -k standardize`.
"""

import ast
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from autograder.authoring.bank import KnownAnswer, load_banks
from autograder.authoring.judge import VISIBLE_SEED, Judge
from autograder.judging.verdict import Report, Status
from autograder.watching.exercise import Exercise
from tests.our_course import COURSE as OURS

COURSE = Path(__file__).parent.parent / "course"
SEEDS = (VISIBLE_SEED, 4101, 4102, 4103)
LEAST = {"warm-up": (3, 2), "core": (6, 3), "stretch": (6, 3)}  # wrong answers, right answers
EXERCISES = {exercise.name: exercise for exercise in OURS.every()}
ANSWERS = [answer for stem in OURS.stems for bank in load_banks(COURSE, stem).values() for answer in bank]
WRONG = [answer for answer in ANSWERS if not answer.is_right]
NOTED = {("fix_inplace", "clone-everywhere")}  # right, with something to say all the same
RIGHT = [answer for answer in ANSWERS if answer.is_right]

each_exercise = pytest.mark.parametrize("name", EXERCISES)
each_seed = pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: f"seed{seed}" if seed else "visible")


def each(answers: list[KnownAnswer]) -> pytest.MarkDecorator:
    """Parametrize a test over answers, with ids such as `standardize-no-eps`."""
    return pytest.mark.parametrize("answer", answers, ids=[f"{a.exercise}-{a.tag}" for a in answers])


@cache
def judge_of(stem: str) -> Judge:
    """The judge of a chapter, made once."""
    return Judge(COURSE, stem)


@cache
def prelude(stem: str) -> dict[str, Any]:
    """What a solution cell finds defined: the names of the chapter's setup cell."""
    namespace: dict[str, Any] = {}
    exec(judge_of(stem).chapter.prelude, namespace)
    return namespace


def grade(name: str, cell: str, seed: int) -> Report:
    """Grade the text of a solution cell on the cases of a seed, as a notebook would run it."""
    exercise = EXERCISES[name]
    namespace = dict(prelude(exercise.chapter))
    exec(cell, namespace)
    return grade_function(exercise, namespace[name], cell, seed)


def grade_function(exercise: Exercise, answer: Callable[..., Any], cell: str, seed: int) -> Report:
    """Grade a function on the cases of a seed."""
    judge = judge_of(exercise.chapter)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a warning in an answer is the student's to read
        seen = exercise.observe(answer, judge.cases(exercise.name, seed))
        return judge.judge(exercise.name, seed, seen, cell)


class TestStarter:
    @each_seed
    @each_exercise
    def test_untouched_it_earns_nothing(self, name: str, seed: int) -> None:
        """A starter scores 0: as not attempted, or in a bug hunt with the sentence of its own."""
        cell = judge_of(EXERCISES[name].chapter).chapter.starter(name)

        report = grade(name, cell, seed)

        is_stub = "raise NotImplementedError" in cell
        assert report.score == 0
        assert all(verdict.status is Status.NOT_ATTEMPTED for verdict in report.verdicts) == is_stub
        assert report.mistakes == (() if is_stub else ("untouched",))


class TestReference:
    @each_seed
    @each_exercise
    def test_it_earns_full_points(self, name: str, seed: int) -> None:
        """The worked solution of the chapter passes every check."""
        report = grade(name, judge_of(EXERCISES[name].chapter).chapter.solution(name), seed)

        assert report.passed, report.first

    def test_predict_layout_agrees_with_torch(self) -> None:
        """What the rule of the reference says is what torch does."""
        predict = judge_of("ch01_tensors").reference("predict_layout")
        ops = [(op, *sizes) for op in _LAYOUTS for sizes in product((2, 3, 5, 8), (2, 3, 4, 9))]

        assert [_layout(*op) for op in ops] == predict(ops)

    @pytest.mark.parametrize("line", ["np.zeros((2, 3)).strides", "import numpy as n; n.e", "torch.zeros(2).stride()"])
    def test_predict_layout_is_not_to_be_read_off(self, line: str) -> None:
        """Neither torch nor NumPy may do the prediction."""
        cell = judge_of("ch01_tensors").chapter.solution("predict_layout")

        report = grade("predict_layout", cell.replace("    def layout", f"    {line}\n    def layout"), VISIBLE_SEED)

        assert report.verdicts[-1].status is Status.FAIL
        assert report.first is report.verdicts[-1]

    @pytest.mark.parametrize("exponent", range(-30, 0))
    def test_precision_lab_agrees_with_torch(self, exponent: int) -> None:
        """On both sides of every power of two, the reference says what rounding to 16 bits gives."""
        lab = judge_of("ch01_tensors").reference("precision_lab")
        for factor in (0.9, 1.1):
            value = factor * 2.0**exponent
            facts = lab(value, value, count=30 - exponent * 10, n=-exponent)

            assert facts == {
                "moves": torch.tensor(1 + value, dtype=torch.float64).bfloat16().item() != 1,
                "survives": torch.tensor(value, dtype=torch.float64).half().item() != 0,
                "counted": _count_in_bfloat16(30 - exponent * 10),
                "averaged": (torch.ones(-exponent) + torch.ones(-exponent, 1)).numel(),
            }


_LAYOUTS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "slice": lambda x: x[:, 1:],
    "transpose": lambda x: x.T,
    "expand": lambda x: x[:1].expand(*x.shape),
    "fancy": lambda x: x[[0, 1]],
    "reshape": lambda x: x.T.reshape(-1),
}


def _layout(name: str, rows: int, cols: int) -> tuple[tuple[int, ...], tuple[int, ...], bool]:
    x = torch.zeros(rows, cols)
    y = _LAYOUTS[name](x)
    return tuple(y.shape), y.stride(), y.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()


def _count_in_bfloat16(count: int) -> float:
    total = 0.0
    for _ in range(count):
        total = torch.tensor(total + 1).bfloat16().item()
    return total


class TestAnswers:
    @each_seed
    @each(RIGHT)
    def test_a_right_answer_earns_full_points(self, answer: KnownAnswer, seed: int) -> None:
        """Whatever its structure, a right answer passes every check."""
        report = grade(answer.exercise, answer.source, seed)

        assert report.passed, report.first
        assert bool(report.notes) == ((answer.exercise, answer.tag) in NOTED)

    @each_seed
    @each(WRONG)
    def test_a_wrong_answer_gets_its_own_sentence(self, answer: KnownAnswer, seed: int) -> None:
        """A wrong answer misses points; each check that it fails names this misunderstanding, no other."""
        report = grade(answer.exercise, answer.source, seed)

        failed = [v for v in report.verdicts if v.status not in (Status.PASS, Status.SKIPPED)]
        assert report.score < 1, "the cases cannot see this mistake: add one that can"
        assert {(answer.tag, answer.sentence)} == {(v.mistake, v.sentence) for v in failed}, "told as another mistake"

    @each_seed
    @each_exercise
    def test_a_thoughtless_answer_earns_nothing(self, name: str, seed: int) -> None:
        """The first argument, the last one, None, a constant or an empty container: 0 points."""
        for answer in _thoughtless():
            assert grade_function(EXERCISES[name], answer, "", seed).score == 0


def _thoughtless() -> Iterator[Callable[..., Any]]:
    yield lambda *args, **kwargs: args[0]
    yield lambda *args, **kwargs: args[-1]
    constants: list[Any] = [None, 0, 1.0, True, "", (), [], {}, torch.zeros(()), torch.zeros(3, 3)]
    for constant in constants:
        yield lambda *args, constant=constant, **kwargs: constant


class TestBank:
    @each_exercise
    def test_it_holds_enough_answers(self, name: str) -> None:
        """A warm-up has three wrong and two right answers at least, any other exercise six and three."""
        least_wrong, least_right = LEAST[EXERCISES[name].tier]

        assert sum(answer.exercise == name for answer in WRONG) >= least_wrong
        assert sum(answer.exercise == name for answer in RIGHT) >= least_right

    @each_exercise
    def test_no_two_answers_are_alike(self, name: str) -> None:
        """Sentences differ, and so do programs; the reference is none of the right ones."""
        known = [answer for answer in ANSWERS if answer.exercise == name]
        sentences = [answer.sentence for answer in known if answer.sentence]
        cells = [answer.source for answer in known] + [judge_of(EXERCISES[name].chapter).chapter.solution(name)]

        assert len(set(sentences)) == len(sentences)
        assert len({_body(cell) for cell in cells}) == len(cells)

    @each(WRONG)
    def test_a_sentence_is_short(self, answer: KnownAnswer) -> None:
        """A student reads a few words that end in a full stop or a question, not a page."""
        assert answer.sentence is not None
        assert len(answer.sentence) <= 200
        assert answer.sentence[0].isupper() or answer.sentence[0] in "`("
        assert answer.sentence[-1] in ".?"


def _body(cell: str) -> str:
    """The body of a cell's function without its docstring."""
    function = ast.parse(cell).body[0]
    assert isinstance(function, ast.FunctionDef | ast.ClassDef)
    first = 1 if ast.get_docstring(function) else 0
    return "\n".join(ast.unparse(statement) for statement in function.body[first:])


class TestExercises:
    @each_exercise
    def test_hints_lead_on(self, name: str) -> None:
        """There are two or three hints, all different, none of them a page."""
        hints = EXERCISES[name].hints

        assert len(set(hints)) == len(hints)
        assert 2 <= len(hints) <= 3
        assert max(map(len, hints)) <= 200

    @each_exercise
    def test_fresh_cases_add_no_requirement(self, name: str) -> None:
        """Every seed draws cases for the same two to seven requirements, in the same order."""
        drawn = {tuple(dict.fromkeys(c.requirement for c in EXERCISES[name].cases(seed))) for seed in SEEDS}

        assert len(drawn) == 1
        assert 2 <= len(drawn.pop()) + len(EXERCISES[name].rules) <= 7

    @each_exercise
    def test_a_seed_draws_the_same_cases_again(self, name: str) -> None:
        """The cases come from the seed alone, whatever was drawn before; another seed draws others."""
        texts = [str([(c.args, c.kwargs) for c in EXERCISES[name].cases(seed)]) for seed in (7, 7, 8)]

        assert texts[0] == texts[1] != texts[2]

    @pytest.mark.parametrize("stem", OURS.stems)
    def test_all_have_answers(self, stem: str) -> None:
        """Every exercise of a chapter stands in its bank."""
        assert {exercise.name for exercise in OURS.exercises(stem)} == set(load_banks(COURSE, stem))
