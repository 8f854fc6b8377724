"""What docstrings show and promise is asked for: an answer that is right but there does not have full marks."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from autograder.authoring.judge import VISIBLE_SEED
from autograder.watching.difference import Tolerance, first_difference
from autograder.watching.probe import see
from tests.test_bank import CHAPTER_OF, judge_of

tensor = torch.tensor
# What a function is called with; three dots stand for a function, which may be any.
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
    "make_batch": (2, 3),
    "fix_inplace": (tensor([0.0, 1.0]),),
    "descend": (..., tensor([1.0])),
    "grad_of": (..., torch.zeros(2)),
    "vjp": (..., tensor([1.0, 2.0]), tensor([1.0, 10.0])),
    "hessian_vector_product": (..., tensor([1.0, 2.0]), tensor([1.0, 10.0])),
    "pick_device": ("cuda:1",),
    "autocast_dtypes": (["linear"], "cpu"),
    "master_weights": (torch.ones(1).bfloat16(), torch.ones(1).bfloat16()),
}
# Where a module, a class or a function of the probe's own stands in the example: a case with these arguments.
SHOWN: dict[str, tuple[Any, ...]] = {
    "running_loss": ([1.0, 3.0],),
    "LeakyClamp": (tensor([0.5, 3.0]), 0.0, 1.0, tensor(0.1)),
    "Value": ("a * a", [3.0]),
    "Standardizer": (tensor([1.0]), tensor([2.0])),
    "count_params": ("a linear layer", 3, 2),
    "MLP": ([3, 8, 8, 1], "nn.Tanh"),
    "Linear": (4, 2),
    "HouseNet": (3,),
    "save_best": ("a linear layer", 2, 1, None, 0.5),
    "load_partial": ("a linear layer", 2, 1, {"weight": torch.ones(1, 2), "bias": torch.ones(9)}),
    "BatchNorm1d": (1,),
    "TwoLayerMLP": (8, 16, 1),
    "house_prices": (tensor([[50.0], [80.0], [120.0], [100.0]]), tensor([150.0, 240.0, 360.0, 300.0])),
    "PairDataset": (tensor([1.0, 2.0]), tensor([0, 1])),
    "clip_grad_norm": ([tensor([3.0]), tensor([4.0])], 1.0),
    "SGDMomentum": ([tensor([1.0])], [[tensor([2.0])], [tensor([2.0])]]),
    "AdamW": ([tensor([1.0])], [[tensor([2.0])]]),
    "lr_at": (6,),
    "underflow_report": ([tensor([1e-9, 1e-3, 0.0])], [1.0, 1024.0]),
    "count_syncs": ("x.sum().item()", torch.ones(2)),
    "bench": ("synchronous", [1.0, 1.0, 2.0, 9.0, 1.0], 0, 5),
}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_docstrings_example_is_a_case(name: str, seed: int) -> None:
    """Who fails it, and nothing else, loses points, on what `check` shows and on what is drawn to grade."""
    judge, example = judge_of(CHAPTER_OF[name]), EXAMPLES[name]
    right, exercise = judge.reference(name), judge.exercises[name]

    def wrong_there(*args: Any, **kwargs: Any) -> Any:
        return None if _begin_alike(args, example, exercise.tolerance) else right(*args, **kwargs)

    cases = exercise.cases(seed)
    both = zip(exercise.observe(right, cases), exercise.observe(wrong_there, cases), strict=True)

    assert any(exercise.compare(found, seen, exercise.tolerance) for found, seen in both)


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize("name", SHOWN)
def test_what_the_docstring_shows_is_a_case(name: str, seed: int) -> None:
    """Where the example has a module, a class or a program in it, a case is made from what the example says."""
    exercise = judge_of(CHAPTER_OF[name]).exercises[name]

    assert any(_begin_alike(case.args, SHOWN[name], exercise.tolerance) for case in exercise.cases(seed))


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
def test_the_counts_of_the_capstones_docstrings_are_cases(seed: int) -> None:
    """Ten images in batches of 4 for `train`, and seven batches in groups of 3 for `train_amp`."""
    train, train_amp = (
        [case.kwargs for case in judge_of("ch06_capstone").exercises[name].cases(seed)]
        for name in ("train", "train_amp")
    )

    assert any((given["images"], given["batch_size"]) == (10, 4) for given in train)
    assert any((len(given["sizes"]), given["accumulate"]) == (7, 3) for given in train_amp)


def _begin_alike(args: tuple[Any, ...], example: tuple[Any, ...], tolerance: Tolerance) -> bool:
    """Whether a call begins with the arguments of an example."""
    pairs = [(one, other) for one, other in zip(args, example, strict=False) if other is not ...]
    return len(args) >= len(example) and all(
        first_difference(see(_cut_off(other)), see(_cut_off(one)), tolerance) is None for one, other in pairs
    )


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
