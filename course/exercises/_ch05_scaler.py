"""The probe of chapter 5 for a loss scaler of one's own: rounds with given gradients."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, copy_of, see

from ._ch05_models import Answer


def rounds(*kept: str, how: str = "step") -> Probe:
    """Rounds of a LossScaler with an optimizer and given gradients.

    how: "step" (and nothing before it), "unscale_" (and then step), "unscale_ and look" (no step, no update).
    Facets: `scaled` (the loss of 0.75, before each round), `grads` (after unscale_, or after the round), `held`,
    `factors` and `clean_steps` (after each round), `attached` (a gradient comes through scale), `returned` nothing.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        given = copy_of(case.args[0])
        scaler = answer(**case.kwargs)
        params = [torch.ones_like(_last(given, i)).requires_grad_() for i in (0, 1)]
        groups = [{"params": params[:1]}, {"params": params[1:]}]
        optimizer = torch.optim.SGD(groups, lr=0.5, momentum=0.5)
        seen: Observation = {facet: [] for facet in ("scaled", "grads", "held", "factors", "clean_steps")}
        for grads in given:
            seen["scaled"].append(_scaled(scaler))
            _give(params, grads)
            _round(scaler, optimizer, how)
            seen["grads"].append([see(param.grad) for param in params])
            seen["held"].append([see(param.detach().clone()) for param in params])
            seen["factors"].append(_plain(scaler.factor))
            seen["clean_steps"].append(_plain(scaler.clean_steps))
        return {facet: seen[facet] for facet in kept}

    return probe


def _last(rounds: list[list[Tensor | None]], index: int) -> Tensor:
    """A gradient of this parameter; of the first one there may be none."""
    return next((grad for grads in rounds if (grad := grads[index]) is not None), torch.ones(3))


def _scaled(scaler: Any) -> Plain:
    loss = torch.tensor(0.75, requires_grad=True)
    scaled = scaler.scale(loss)
    if isinstance(scaled, Tensor) and scaled.requires_grad:
        scaled.backward()
    return {"loss": see(scaled), "gradient": see(loss.grad)}


def _give(params: list[Tensor], grads: list[Tensor | None]) -> None:
    for param, grad in zip(params, grads, strict=True):
        param.grad = grad


def _round(scaler: Any, optimizer: torch.optim.Optimizer, how: str) -> None:
    if how != "step":
        scaler.unscale_(optimizer)
    if how == "unscale_ and look":
        return
    scaler.step(optimizer)
    scaler.update()


def _plain(value: Any) -> Plain:
    """A number, also where it is held as a tensor or as a whole number."""
    seen = see(value.item() if isinstance(value, Tensor) and value.numel() == 1 else value)
    return float(seen) if type(seen) is int else seen
