"""Explanations of errors: the messages of the installed torch are recognized."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from autograder.diagnosis.error_meanings import error_meaning


def leaf(*shape: int) -> Tensor:
    """Return a tensor of ones that requires grad."""
    return torch.ones(*shape, requires_grad=True)


def twice() -> None:
    """Call backward twice on one graph."""
    square = leaf(2).square().sum()
    square.backward()
    square.backward()


def saved_changed() -> None:
    """Change in place a tensor that exp saved."""
    result = leaf(2).exp()
    result += 1
    result.sum().backward()


class OneForTwo(torch.autograd.Function):
    """A function whose backward returns one gradient for two inputs."""

    @staticmethod
    def forward(ctx: object, x: Tensor, factor: float) -> Tensor:
        """Return the product."""
        return x * factor

    @staticmethod
    def backward(ctx: object, grad_out: Tensor) -> Tensor:
        """Return too few gradients."""
        return grad_out


def overflown() -> Tensor:
    """Return a leaf with an infinite gradient."""
    made = leaf(2)
    made.grad = torch.tensor([1.0, torch.inf])
    return made


def twice_unscaled() -> None:
    """Unscale the gradients of one optimizer twice in one round."""
    made, scaler = overflown(), torch.amp.GradScaler("cpu")
    optimizer = torch.optim.SGD([made], lr=0.1)
    scaler.scale(made.sum()).backward()
    scaler.unscale_(optimizer)
    scaler.unscale_(optimizer)


class Bare(nn.Module):
    """A module whose constructor does not call `super().__init__()`."""

    def __init__(self) -> None:
        """Do nothing."""


ERRORS: dict[str, Callable[[], object]] = {
    "requires grad": lambda: torch.ones(2).sum().backward(),
    "with respect to a tensor": lambda: torch.autograd.grad(leaf(2).sum(), torch.ones(2)),
    "was not computed from that very tensor": lambda: torch.autograd.grad(leaf(2).sum(), leaf(2)),
    "starts from one number": lambda: (2 * leaf(2)).backward(),
    "gone back through already": twice,
    "changed in place": saved_changed,
    "only where no graph is built": lambda: leaf(2).add_(1),
    "stop requiring grad": lambda: (2 * leaf(2)).requires_grad_(False),
    "do not fit": lambda: torch.ones(2) + torch.ones(3),
    "two inner lengths": lambda: torch.ones(2, 3) @ torch.ones(2, 3),
    "another number of elements": lambda: torch.ones(6).reshape(4, 2),
    "never copies": lambda: torch.ones(2, 3).T.view(6),
    "fewer axes": lambda: torch.ones(2).sum(3),
    "letter of its own": lambda: torch.einsum("i,j->ii", torch.ones(2), torch.ones(2)),
    "A place is asked for": lambda: torch.ones(2)[5],
    "one element at least": lambda: torch.cat([]),
    "keeps its dtype": lambda: torch.ones(2, dtype=torch.int64).add_(0.5),
    "one thing back for each input": lambda: OneForTwo.apply(leaf(2), 2.0).sum().backward(),  # type: ignore[no-untyped-call]
    "One True or False": lambda: bool(torch.ones(2) > 0),
    "as many axes": lambda: torch.zeros(2, 3).scatter(1, torch.tensor([0, 1]), 1.0),
    "another dtype than the tensor": lambda: torch.zeros(2).__setitem__(torch.ones(2) > 0, torch.ones(2).double()),
    "two batches of matrices": lambda: torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 3)),
    "axes of length 1 are repeated": lambda: torch.ones(3, 1).expand(2, 3),
    "NumPy builds no graph": lambda: leaf(2).numpy(),
    "one number for each number": lambda: torch.autograd.grad(leaf(2).sum(), leaf(2), torch.ones(2)),
    "under another name": lambda: torch.ones(2).__getattribute__("copy"),
    "Two dtypes": lambda: torch.ones(2, 2).double() @ torch.ones(2, 2),
    "in place of a tensor": lambda: nn.Linear(2, 2)(nn.ReLU(torch.ones(2))),  # type: ignore[arg-type]
    "does not begin with `super": lambda: Bare()(torch.ones(2)),
    "has parameters for": lambda: twice(1),  # type: ignore[call-arg]
    "nothing to bring to another device": lambda: torch.ones(2, device="meta").cpu(),
    "nothing to go through": lambda: list(torch.ones(())),
    "numbers of this dtype": lambda: functional.unfold(torch.ones(1, 1, 2, 2, dtype=torch.uint8), 1),
    "unscaled once": twice_unscaled,
    "clipping was told": lambda: nn.utils.clip_grad_norm_([overflown()], 1.0, error_if_nonfinite=True),
    "copied into the parameter": lambda: setattr(nn.Linear(1, 1), "weight", torch.ones(1, 1)),
}


@pytest.mark.parametrize("sense", ERRORS)
def test_an_error_of_this_torch_is_explained(sense: str) -> None:
    """Each error of the installed torch gets its explanation."""
    with pytest.raises((RuntimeError, IndexError, ValueError, AttributeError, TypeError)) as caught:
        ERRORS[sense]()

    assert sense in error_meaning(f"{caught.type.__name__}: {caught.value}")


def test_an_error_of_an_older_torch_is_explained() -> None:
    """A message from before torch 2.13 gets the same explanation."""
    older = "RuntimeError: One of the differentiated Tensors appears to not have been used in the graph."

    assert "was not computed from that very tensor" in error_meaning(older)


def test_what_is_not_known_is_not_explained() -> None:
    """An unknown error gets no explanation."""
    assert error_meaning("ValueError: no") == ""
