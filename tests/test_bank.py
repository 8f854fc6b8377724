"""The proof of the graders: every exercise against its starter, its solution, its answer bank, and its mutants.

By day the committed receipts stand for the proofs, and `test_check_and_grading` judges every answer on the visible
cases; at night every exercise is proven. One by hand: `autograder prove standardize`.
"""

from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest
import torch

from autograder.authoring.proof import Proof, prove
from autograder.authoring.proof_receipts import exercises_to_prove
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.diagnosis.verdict import Report, Status
from tests.our_course import COURSE as OURS

COURSE = Path(__file__).parent.parent / "course"
NOTED = {("fix_inplace", "clone-everywhere")}  # right, with something to say all the same
CHAPTER_OF = {path.stem: path.parent.name for path in sorted((COURSE / "exercises").glob("*/[!_]*.py"))}


@cache
def judge_of(stem: str) -> Judge:
    """The judge of a chapter, made once."""
    return Judge(COURSE, stem)


@cache
def proof_of(name: str) -> Proof:
    """The proof of an exercise, with what grades an answer to it."""
    stem = CHAPTER_OF[name]
    return Proof(ExerciseParts(COURSE, stem, name), judge_of(stem))


def grade(name: str, cell: str, seed: int) -> Report:
    """Grade the text of a solution cell on the cases of a seed, as a notebook would run it."""
    return proof_of(name).report(cell, seed)


@pytest.mark.slow  # `make quick` is about a change on its way: what it changes is proven when it is done
def test_every_exercise_has_a_receipt_for_what_it_is_now() -> None:
    """Whoever changes what a proof depends on proves the exercise anew, and commits the receipt."""
    assert [] == [parts.name for parts in exercises_to_prove(COURSE)], "run `autograder prove --all`"


# Where time runs out in the midst of a garbage collection, Python can only report it.
@pytest.mark.night
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", CHAPTER_OF)
def test_it_is_proven(name: str) -> None:
    """Nothing is missing: starter, solution, right, wrong and thoughtless answers, mutants, what is shipped."""
    assert [] == prove(ExerciseParts(COURSE, CHAPTER_OF[name], name))


@pytest.mark.parametrize("stem", OURS.stems)
def test_what_is_noted_of_right_answers(stem: str) -> None:
    """A right answer with something to say all the same is told so, no other one is."""
    names = [exercise.name for exercise in OURS.exercises(stem) if exercise.notes]
    right = [answer for name in names for answer in judge_of(stem).banks[name] if answer.is_right]

    assert {(each.exercise, each.tag) for each in right if grade(each.exercise, each.source, VISIBLE_SEED).notes} == {
        noted for noted in NOTED if CHAPTER_OF[noted[0]] == stem
    }


class TestReference:
    def test_predict_layout_agrees_with_torch(self) -> None:
        """What the rule of the reference says is what torch does."""
        predict = judge_of("ch01b_broadcasting").solutions["predict_layout"]
        ops = [(op, *sizes) for op in _LAYOUTS for sizes in product((2, 3, 5, 8), (2, 3, 4, 9))]

        assert [_layout(*op) for op in ops] == predict(ops)

    @pytest.mark.parametrize("line", ["np.zeros((2, 3)).strides", "import numpy as n; n.e", "torch.zeros(2).stride()"])
    def test_predict_layout_is_not_to_be_read_off(self, line: str) -> None:
        """Neither torch nor NumPy may do the prediction."""
        cell = judge_of("ch01b_broadcasting").chapter.solution("predict_layout")

        report = grade("predict_layout", cell.replace("    def layout", f"    {line}\n    def layout"), VISIBLE_SEED)

        assert report.verdicts[-1].status is Status.FAIL
        assert report.first is report.verdicts[-1]

    @pytest.mark.parametrize("exponent", range(-30, 0))
    def test_precision_lab_agrees_with_torch(self, exponent: int) -> None:
        """On both sides of every power of two, the reference says what rounding to 16 bits gives."""
        lab = judge_of("ch01x_einsum_and_precision").solutions["precision_lab"]
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
