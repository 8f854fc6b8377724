"""What docstrings show and promise is asked for: an answer that is right but there does not have full marks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograder.authoring.judge import VISIBLE_SEED
from autograder.watching.difference import first_difference
from autograder.watching.probe import see
from tests.test_bank import CHAPTER_OF, judge_of

tensor = torch.tensor
EXAMPLES: dict[str, tuple[Any, ...]] = {
    "describe": (torch.zeros(2, 3),),
    "first_and_rest": (tensor([[1.0, 2.0], [3.0, 4.0]]),),
    "add_bias": (torch.zeros(1, 2, 3), tensor([10.0, 20.0])),
    "predict_layout": ([("slice", 3, 4)],),
    "standardize": (tensor([[1.0, 3.0]]),),
    "masked_mean": (tensor([[1.0, 3.0, 9.0]]), tensor([[True, True, False]])),
    "one_hot": (tensor([2, 0]), 3),
    "pairwise_sq_dists": (tensor([[0.0, 0.0]]), tensor([[3.0, 4.0], [0.0, 1.0]])),
    "precision_lab": (0.5, 0.5, 3, 1),
    "linear_mse": (tensor([[1.0], [3.0]]), tensor([[2.0]]), tensor([-2.0, 2.0])),
    "softmax_stable": (tensor([1000.0, 1000.0]),),
    "grad_by_hand": (2.0, 3.0, 4.0),
    "mean_square_grad": (tensor([3.0, 6.0, 9.0]),),
    "safe_log_where": (tensor([1.0, 0.0, -2.0]),),
    "predict_grad_state": (("once", 3.0),),
    "stop_gradient_loss": (tensor([1.0, 2.0]), tensor([1.0, 4.0])),
    "collate_pad": ([tensor([5, 6]), tensor([7])],),
}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_docstrings_example_is_a_case(name: str, seed: int) -> None:
    """Who fails it, and nothing else, loses points, on what `check` shows and on what is drawn to grade."""
    judge, example = judge_of(CHAPTER_OF[name]), see(EXAMPLES[name])
    right, exercise = judge.reference(name), judge.exercises[name]

    def wrong_there(*args: Any, **kwargs: Any) -> Any:
        given = see(tuple(_cut_off(each) for each in args[: len(EXAMPLES[name])]))
        return None if first_difference(example, given, exercise.tolerance) is None else right(*args, **kwargs)

    cases = exercise.cases(seed)
    both = zip(exercise.observe(right, cases), exercise.observe(wrong_there, cases), strict=True)

    assert any(exercise.compare(found, seen, exercise.tolerance) for found, seen in both)


KEEP_THE_DTYPE = ("first_and_rest", "flatten_images", "add_bias", "standardize", "masked_mean", "pairwise_sq_dists")


@pytest.mark.parametrize("name", [*KEEP_THE_DTYPE, "make_batch", "linear_mse", "softmax_stable"])
def test_a_hard_cast_is_refused(name: str) -> None:
    """Whose result is float32 whatever comes in loses points."""
    judge = judge_of("ch01_tensors")
    key, right, exercise = judge.key(name, VISIBLE_SEED), judge.reference(name), judge.exercises[name]

    def cast(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        return tuple(map(_to_float32, result)) if isinstance(result, tuple) else _to_float32(result)

    both = zip(key.reference, exercise.observe(cast, key.cases), strict=True)

    assert any(exercise.compare(found, seen, exercise.tolerance) for found, seen in both)


def _to_float32(value: torch.Tensor) -> torch.Tensor:
    return value.float() if value.is_floating_point() else value


def _cut_off(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value
