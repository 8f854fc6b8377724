"""The probes for what modules register."""

import torch
from torch import Tensor, nn

from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case
from autograder.exercises.probes.module_classes import make_registered_tensors_probe

NOT_COMPUTED = {"loaded": None, "copied": None, "as_float64": None}


class Loose(nn.Linear):
    """A layer whose bias is a plain tensor."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__(inputs, outputs)
        del self.bias
        self.bias = torch.zeros(outputs)


LAYERS = (nn.Linear, Loose)


class Scaled(nn.Module):
    """A module whose weight is computed from a parameter, and therefore is none."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.rand(1, width)) * 0.5

    def forward(self, x: Tensor) -> Tensor:
        """Return one number for each row."""
        return x @ self.weight.T


def test_a_tensor_with_a_history_is_no_crash() -> None:
    """An attribute that is a result is recorded as left behind, and raises nothing when copied."""
    seen = make_registered_tensors_probe("weight")(Scaled, Case("registers", 3, x=torch.ones(2, 3)))

    assert {
        "parameters": {},
        "state_dict": {},
        "leaves": True,
        "stays_behind": ["weight (a result)"],
    } | NOT_COMPUTED == seen


class Transposed(nn.Linear):
    """A layer that keeps its transposed weight, which torch cannot copy."""

    def __init__(self, width: int, outputs: int) -> None:
        super().__init__(width, outputs)
        self.across = self.weight.T

    def forward(self, x: Tensor) -> Tensor:
        """Return the layer's result."""
        return x @ self.across + self.bias


def test_a_result_that_is_kept_is_told_as_such() -> None:
    """A result under another name is recorded as left behind, and copying it raises nothing."""
    seen = make_registered_tensors_probe("weight", "bias")(Transposed, Case("registers", 3, 2, x=torch.ones(4, 3)))

    assert ["across (a result)"] == seen["stays_behind"] and "raised" not in seen


def test_a_tensor_that_stays_behind_is_named() -> None:
    """The first difference is the plain tensor, and not the form of the result."""
    right, seen = (
        make_registered_tensors_probe("weight", "bias")(made, Case("registers", 3, 2, x=torch.ones(4, 3)))
        for made in LAYERS
    )

    difference = first_difference(right, seen, Tolerance())
    assert difference is not None
    assert (("stays_behind",), [], ["bias"]) == (difference.path, difference.expected, difference.got)


def test_a_parameter_goes_along() -> None:
    """A layer of torch's is copied, loaded and converted with the same result."""
    seen = make_registered_tensors_probe("weight", "bias")(nn.Linear, Case("registers", 3, 2, x=torch.ones(4, 3)))

    assert {"weight", "bias"} == set(seen["parameters"])
    assert torch.equal(seen["copied"].values, seen["loaded"].values)
