"""Cases contain what the exercises' docstrings show and promise, so that failing there costs points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case
from autograder.exercises.probe import snapshot_value
from tests.test_bank import CHAPTER_OF, judge_of

tensor = torch.tensor
# The arguments of the example in a docstring; three dots stand for any function.
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
    "conv2d": (tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), tensor([[1.0, 0.0], [0.0, 10.0]])),
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
# For examples with a module or a class, the arguments of the corresponding case.
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
    "underflow_report": ([tensor([1e-9, 1e-3, 0.0])], [1.0, 1024.0]),
    "count_syncs": ("x.sum().item()", torch.ones(2)),
    "bench": ("synchronous", [1.0, 1.0, 2.0, 9.0, 1.0], 0, 5),
    "call_counts": ("a linear layer and a ReLU", 2, 3),
    "shape_trace": ("a linear layer and a ReLU", 2, 3, [5, 2]),
    "freeze_all_but": ("two linear layers", 2, 3, 1, "1.*"),
    "init_he": ("a linear layer", 200, 50),
    "train_step": ("linear, weight 2 and bias 0", "SGD", tensor([[1.0]]), tensor([[5.0]])),
    "train_step_on": ("cpu", "linear, weight 2 and bias 0", "SGD, lr=0.1", tensor([[1.0]]), tensor([[5.0]])),
    "LossScaler": (tensor(0.5),),
    "to_device": ("{'x': x, 'name': 'a'}", torch.ones(2)),
}
# The results that a docstring states for such an example, by facet.
SAID: dict[tuple[str, str], Any] = {
    ("call_counts", "returned"): {"0": 1, "1": 1},
    ("shape_trace", "returned"): [["0", [5, 3]], ["1", [5, 3]]],
    ("freeze_all_but", "returned"): ["1.weight", "1.bias"],
    ("init_he", "spread"): ["sqrt(2 / in_features)"],
    ("train_step", "returned"): 9.0,
    ("train_step", "held"): {"weight": tensor([[2.6]]), "bias": tensor([0.6])},
    ("train_step_on", "returned"): tensor(9.0),
    ("train_step_on", "held"): {"weight": tensor([[2.6]]), "bias": tensor([0.6])},
    ("LossScaler", "scaled"): tensor(2.0),
    ("to_device", "returned"): ["dict", [["x", "torch.float32 tensor (2,) on meta"], ["name", "a"]]],
}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize("name", EXAMPLES)
def test_the_docstrings_example_is_a_case(name: str, seed: int) -> None:
    """An answer that fails only at the docstring's example fails, on visible and on fresh cases."""
    judge, example = judge_of(CHAPTER_OF[name]), EXAMPLES[name]
    right, exercise = judge.solutions[name], judge.exercises[name]

    def wrong_there(*args: Any, **kwargs: Any) -> Any:
        return None if _begin_alike(args, example, exercise.tolerance) else right(*args, **kwargs)

    cases = exercise.cases(seed)
    both = zip(exercise.observe(right, cases), exercise.observe(wrong_there, cases), strict=True)

    assert any(exercise.compare(found, seen, exercise.tolerance) for found, seen in both)


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize("name", SHOWN)
def test_what_the_docstring_shows_is_a_case(name: str, seed: int) -> None:
    """If the example has a module, class or program, some case corresponds to it."""
    exercise = judge_of(CHAPTER_OF[name]).exercises[name]

    assert any(_begin_alike(case.args, SHOWN[name], exercise.tolerance) for case in exercise.cases(seed))


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize(("name", "facet"), SAID)
def test_what_the_docstring_says_of_its_example_is_watched(name: str, facet: str, seed: int) -> None:
    """The worked solution's observation at the example is the result that the docstring states."""
    judge = judge_of(CHAPTER_OF[name])
    right, exercise = judge.solutions[name], judge.exercises[name]
    shown = [case for case in exercise.cases(seed) if _begin_alike(case.args, SHOWN[name], exercise.tolerance)]
    seen = [each[facet] for each in exercise.observe(right, shown) if facet in each]

    assert seen and all(
        first_difference(snapshot_value(SAID[name, facet]), one, exercise.tolerance) is None for one in seen
    )


def _shapes(case: Case) -> list[tuple[int, ...]]:
    return [tuple(arg.shape) for arg in (*case.args, *case.kwargs.values()) if isinstance(arg, torch.Tensor)]


_PLAN = ("linear", [(4, 3)], "adam", torch.float32)
# For examples that give only sizes and names, the condition that a case must meet.
TOLD: dict[str, Callable[[Case], bool]] = {
    "batched_einsum": lambda case: [(2, 3, 4), (2, 4, 5), (2, 4)] == _shapes(case),
    "flatten_images": lambda case: [(5, 3, 8, 8)] == _shapes(case),
    "accumulate": lambda case: [1, 3] == [len(batch) for batch in case.args[0]],
    "evaluate": lambda case: (len(case.args[1]), case.args[3]) == (4, 3),
    "overfit_one_batch": lambda case: "sound" in case.args,
    "memory_plan": lambda case: (case.args[0], _shapes(case), *case.args[2:]) == _PLAN,
    "mixed_region": lambda case: case.args[0] == "a product" and case.args[1].dtype == torch.float32,
}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize("name", TOLD)
def test_sizes_of_the_docstrings_example_are_a_case(name: str, seed: int) -> None:
    """If the example gives only sizes and names, some case has them."""
    assert any(map(TOLD[name], judge_of(CHAPTER_OF[name]).exercises[name].cases(seed)))


# The kinds of input that a docstring promises: shapes, dtypes and layouts of the first tensor.
KINDS: dict[str, Callable[[torch.Tensor], bool]] = {
    "a number": lambda x: x.dim() == 0,
    "a row": lambda x: x.dim() == 1,
    "three dims": lambda x: x.dim() == 3,
    "columns that lie apart": lambda x: not x.is_contiguous(),
    "float64": lambda x: x.dtype == torch.float64,
    "16 bits": lambda x: x.dtype in (torch.bfloat16, torch.float16),
    "whole numbers": lambda x: x.dtype == torch.int64,
    "one column": lambda x: x.dim() == 2 and x.shape[1] == 1,
    "one row": lambda x: x.dim() == 2 and x.shape[0] == 1,
    "no rows": lambda x: x.shape[:1] == (0,),
}
TAKES = {
    "describe": ("a number", "no rows", "columns that lie apart", "float64", "16 bits", "whole numbers"),
    "first_and_rest": ("one row", "float64", "columns that lie apart"),
    "flatten_images": ("float64", "columns that lie apart"),
    "add_bias": ("float64", "whole numbers", "columns that lie apart"),
    "masked_mean": ("float64", "three dims", "columns that lie apart"),
    "one_hot": ("no rows",),
    "standardize": ("float64", "three dims", "columns that lie apart"),
    "softmax_stable": ("float64", "a row"),
    "pairwise_sq_dists": ("float64", "one row", "one column", "columns that lie apart"),
    "mean_square_grad": ("a number", "a row", "three dims", "float64", "16 bits", "columns that lie apart"),
    "safe_log_where": ("a number", "a row", "three dims", "float64"),
    "stop_gradient_loss": ("float64",),
}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize(("name", "kind"), [(name, kind) for name, kinds in TAKES.items() for kind in kinds])
def test_who_stumbles_over_a_promised_input_loses_points(name: str, kind: str, seed: int) -> None:
    """An answer that fails only for a promised kind of input fails."""
    judge = judge_of(CHAPTER_OF[name])
    key, right, exercise = judge.keys.full_key(name, seed), judge.solutions[name], judge.exercises[name]

    def stumbles(x: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        return None if KINDS[kind](x) else right(x, *args, **kwargs)

    both = zip(key.reference, exercise.observe(stumbles, key.cases), strict=True)

    assert any(exercise.compare(found, seen, exercise.tolerance) for found, seen in both)


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
def test_a_table_without_any_entry_to_keep_is_a_case(seed: int) -> None:
    """Some case of `masked_mean` keeps no entry, for which it promises 0."""
    assert any(
        not case.args[1].any() for case in judge_of(CHAPTER_OF["masked_mean"]).exercises["masked_mean"].cases(seed)
    )


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
@pytest.mark.parametrize(("name", "dims"), [("Dropout", {1, 2, 3}), ("Standardizer", {1, 2, 3}), ("Linear", {1, 2, 3})])
def test_modules_meet_every_number_of_axes_that_they_promise(name: str, dims: set[int], seed: int) -> None:
    """The inputs of these modules have every promised number of axes."""
    given = [case.kwargs["x"] for case in judge_of(CHAPTER_OF[name]).exercises[name].cases(seed) if "x" in case.kwargs]

    assert dims <= {x.dim() if isinstance(x, torch.Tensor) else len(x) for x in given}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
def test_each_step_of_the_docstrings_schedule_is_a_case(seed: int) -> None:
    """The cases of `lr_at` contain steps 0 to 6 of the docstring's schedule."""
    schedule = {"base_lr": 1.0, "min_lr": 0.0, "warmup_steps": 2, "total_steps": 6}
    cases = judge_of(CHAPTER_OF["lr_at"]).exercises["lr_at"].cases(seed)

    assert set(range(7)) <= {case.args[0] for case in cases if case.kwargs == schedule}


@pytest.mark.parametrize("seed", [VISIBLE_SEED, 7])
def test_the_counts_of_the_capstones_docstrings_are_cases(seed: int) -> None:
    """The cases of `train` and `train_amp` contain the sizes in their docstrings."""
    train, train_amp = (
        [case.kwargs for case in judge_of(CHAPTER_OF[name]).exercises[name].cases(seed)]
        for name in ("train", "train_amp")
    )

    assert any((given["images"], given["batch_size"]) == (10, 4) for given in train)
    assert any((len(given["sizes"]), given["accumulate"]) == (7, 3) for given in train_amp)


def _begin_alike(args: tuple[Any, ...], example: tuple[Any, ...], tolerance: Tolerance) -> bool:
    """Return whether a call begins with the arguments of an example."""
    pairs = [(one, other) for one, other in zip(args, example, strict=False) if other is not ...]
    return len(args) >= len(example) and all(
        first_difference(snapshot_value(_cut_off(other)), snapshot_value(_cut_off(one)), tolerance) is None
        for one, other in pairs
    )


KEEP_THE_DTYPE = ("first_and_rest", "flatten_images", "add_bias", "standardize", "masked_mean", "pairwise_sq_dists")


@pytest.mark.parametrize("name", [*KEEP_THE_DTYPE, "make_batch", "linear_mse", "softmax_stable"])
def test_a_hard_cast_is_refused(name: str) -> None:
    """An answer whose result is always float32 fails."""
    judge = judge_of(CHAPTER_OF[name])
    key, right, exercise = judge.keys.full_key(name, VISIBLE_SEED), judge.solutions[name], judge.exercises[name]

    def cast(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        return tuple(map(_to_float32, result)) if isinstance(result, tuple) else _to_float32(result)

    both = zip(key.reference, exercise.observe(cast, key.cases), strict=True)

    assert any(exercise.compare(found, seen, exercise.tolerance) for found, seen in both)


def _to_float32(value: torch.Tensor) -> torch.Tensor:
    return value.float() if value.is_floating_point() else value


def _cut_off(value: Any) -> Any:
    return value.detach() if isinstance(value, torch.Tensor) else value
