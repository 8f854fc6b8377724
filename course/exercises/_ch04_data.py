"""The probes of chapter 4 for data and small functions: a data set, a collate function, losses, clipping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.utils.data import DataLoader

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, changed_inputs, copy_of, see, values

Answer = Callable[..., Any]


def error_of(call: Callable[[], Any]) -> str:
    """The name of the error that a call raises, or what it returns instead."""
    try:
        return f"no error, but {type(call()).__name__}"
    except Exception as error:
        return type(error).__name__


# --- PairDataset

_LOOKS: dict[str, Callable[[Any, int], Plain]] = {
    "items": lambda made, n: [see(made[i]) for i in range(n)],
    "length": lambda made, n: see(len(made)),
    "from_end": lambda made, n: [see(made[-i]) for i in range(1, n + 1)],
    "beyond": lambda made, n: [error_of(lambda: made[n]), error_of(lambda: made[-n - 1])],
    "batches": lambda made, n: [see(batch) for batch in DataLoader(made, batch_size=2)],
}


def pairs(*kept: str) -> Probe:
    """A data set of pairs: its items, its length, its items from the end, errors beyond, batches of a DataLoader."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        x, y = copy_of(case.args)
        made = answer(x, y)
        return {facet: _LOOKS[facet](made, len(x)) for facet in kept}

    return probe


def unequal(answer: Answer, case: Case) -> Observation:
    """The error that inputs and targets of different length raise when the data set is made; and none where equal."""

    def look() -> Observation:
        x, y = copy_of(case.args)
        made = answer(x, y[: len(x)])
        return {"refused": [error_of(lambda: answer(x, y)), error_of(lambda: answer(y, x))], "first": see(made[0])}

    return attempt(look)


# --- collate_pad


def collated(part: int) -> Probe:
    """One of the two results, the table or the lengths, and which inputs changed."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        args, kwargs = copy_of(case.args), copy_of(case.kwargs)
        result = answer(*args, **kwargs)
        if not isinstance(result, tuple | list) or len(result) != 2:
            return {"returned": see(result)}
        return {("padded", "lengths")[part]: see(result[part]), "inputs": changed_inputs(case, args, kwargs)}

    return probe


# --- loss_inputs


def head_loss(answer: Answer, case: Case) -> Observation:
    """The loss of a head, and the gradient that arrives at the model's output."""

    def look() -> Observation:
        head, output, target = copy_of(case.args)
        loss = answer(head, output.requires_grad_(), target)
        if not isinstance(loss, Tensor):
            return {"returned": see(loss)}
        if loss.requires_grad and loss.numel() == 1:
            loss.sum().backward()
        return {"returned": values(loss), "gradient": see(output.grad), "inputs": changed_inputs(case, case.args, {})}

    return attempt(look)


# --- clip_grad_norm


def clipped(*kept: str, generator: bool = False) -> Probe:
    """Gradients after clipping: `returned`, `grads`, `in_place` (the old tensors hold the new numbers)."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        grads, max_norm = copy_of(case.args)
        params = [_with_grad(grad) for grad in grads]
        result = answer((p for p in params) if generator else params, max_norm)
        seen: Observation = {"returned": see(result), "grads": [see(p.grad) for p in params]}
        seen["in_place"] = all(p.grad is grad for p, grad in zip(params, grads, strict=True))
        return {facet: seen[facet] for facet in kept}

    return probe


def _with_grad(grad: Tensor | None) -> Tensor:
    param = Tensor([1.0, 2.0]) if grad is None else grad.detach().clone() + 1.0
    param.requires_grad_()
    param.grad = grad
    return param
