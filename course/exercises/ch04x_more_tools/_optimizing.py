"""What the optimizers of this chapter share: tensors with their gradients, how a call is spelled, what is told."""

from __future__ import annotations

from typing import Any

from torch import Tensor, float64

from autograder.diagnosis.difference_messages import argument_text
from autograder.exercises.exercise import Case
from autograder.exercises.seeded_draw import Draw

_OTHERS = {
    "grads": "After your step, .grad is not what it was before. It belongs to the caller.",
    "cleared": "After zero_grad, each .grad should be None.",
    "later": "A step that follows a zero_grad does not lead where it should. zero_grad is about .grad alone: what the "
    "optimizer remembers goes on.",
    "in_place": "The tensors hold the right numbers, but in other memory than before: a view of one, from before the "
    "steps, still holds the old ones. Write into the tensor that is there.",
}


def path(said: str) -> dict[str, str]:
    """What is told where the tensors end elsewhere, and what where something about .grad is wrong."""
    return {"path": f"The tensors are not where they should be after these steps. {said}".rstrip(), **_OTHERS}


def steps(draw: Draw, count: int, missing: bool = False) -> tuple[list[Tensor], list[list[Any]]]:
    """Three tensors, two of them of one shape, and their gradients for some steps; perhaps some of them missing.

    No gradient is near 0: there the place of AdamW's eps would show in every line, however small it is.
    """
    n, d = draw.sizes(2, 1, 2)

    def tensors() -> list[Any]:
        return [draw.normal(*shape, dtype=float64) for shape in ((n, d), (d,), (d,))]

    grads: list[list[Any]] = [[grad + grad.sign() / 2 for grad in tensors()] for _ in range(count)]
    if missing:
        grads[0][0] = grads[1][1] = None
    return tensors(), grads


def optimizing(name: str, case: Case) -> str:
    """An optimizer of some tensors, and how many steps follow."""
    tensors, steps = case.args
    settings = "".join(f", {key}={argument_text(value)}" for key, value in case.kwargs.items())
    held = "generator" if "generator" in case.requirement else "list"
    times = "" if len(steps) == 1 else f" {len(steps)} times"
    return f"{name}(<{held} of {len(tensors)} tensors>{settings}), then step(){times}"
