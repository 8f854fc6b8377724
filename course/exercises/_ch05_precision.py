"""The probes of chapter 5 for 16-bit numbers: a float32 region, gradients that vanish, a step in mixed precision."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from autograder.watching.difference import Difference, Tolerance, first_difference
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, copy_of, see

from ._ch05_models import Answer, grads_of, held_by, model_of, optimizer_of

# --- a region in float32


class Watched(nn.Module):
    """A block that notes the dtype it is called with."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        with torch.no_grad():
            self.layer.weight.copy_(torch.arange(9.0).reshape(3, 3) / 7.0)
            self.layer.bias.fill_(1 / 3)
        self.kind = kind
        self.met: list[torch.dtype] = []

    def forward(self, x: Tensor) -> Tensor:
        """What the kind of block makes of x (n, 3)."""
        self.met.append(x.dtype)
        return BLOCKS[self.kind](self.layer, x)


def _fails(_: nn.Linear, x: Tensor) -> Tensor:
    raise ValueError(f"a block that fails, with {len(x)} rows")


BLOCKS: dict[str, Callable[[nn.Linear, Tensor], Tensor]] = {
    "a product": lambda layer, x: x @ x.T,
    "a layer": lambda layer, x: layer(x),
    "an argmax": lambda layer, x: (x @ x.T).argmax(dim=1),
    "a sum in float64": lambda layer, x: (x @ x.T).sum(dim=1, dtype=torch.float64),
    "a failure": _fails,
}


def region(*kept: str, within: bool = True) -> Probe:
    """Two calls of the function that `mixed_region` returns, within autocast to bfloat16 or without.

    Facets: `returned`, `calls` (of the block), `gradient` (of x, and of the block's weights), `early` (calls before the
    first), `still_on` (autocast, after the second call) and always `entered`: the device types of the autocast blocks
    that were entered while safe was made, and while it ran; see `compare_regions`.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        kind, x = copy_of(case.args)
        block = Watched(kind)
        seen: Observation = {}
        with torch.autocast("cpu", dtype=torch.bfloat16) if within else nullcontext():
            with _entered() as making:
                safe = answer(block)
            seen["early"] = len(block.met)
            with _entered() as running:
                first, second = _quietly(safe, x), _quietly(safe, x.requires_grad_())
            seen["still_on"] = torch.is_autocast_enabled("cpu")
        seen |= {"returned": [_untracked(first), _untracked(second)], "calls": len(block.met)}
        seen["gradient"] = {"x": _gradient(second, x), "weights": see(block.layer.weight.grad)}
        return {facet: seen[facet] for facet in kept} | {"entered": [sorted(making), sorted(running)]}

    return probe


@contextmanager
def _entered() -> Iterator[set[str]]:
    """The device types of the autocast blocks that are entered."""
    types: set[str] = set()
    enter = torch.autocast.__enter__

    def note(self: torch.autocast) -> Any:
        types.add(self.device)
        return enter(self)  # type: ignore[no-untyped-call]

    with patch.object(torch.autocast, "__enter__", note):
        yield types


def compare_regions(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """The usual comparison; how autocast was switched off matters only where it did not help.

    A right answer may do it in any way. Of two answers that leave autocast on, it tells which mistake was made.
    """
    plain = [{facet: value for facet, value in seen.items() if facet != "entered"} for seen in (expected, got)]
    difference = first_difference(plain[0], plain[1], tolerance)
    lowered = any(getattr(one, "dtype", "") == "bfloat16" for one in expected.get("returned", []))
    return first_difference(expected, got, tolerance) if lowered and not difference else difference


def _quietly(safe: Callable[[Tensor], Any], x: Tensor) -> Any:
    """What comes back; a block that is made to fail may fail."""
    try:
        return safe(x)
    except ValueError as error:
        return str(error)


def _untracked(value: Any) -> Plain:
    return see(value.detach() if isinstance(value, Tensor) else value)


def _gradient(result: Any, x: Tensor) -> Plain:
    if not isinstance(result, Tensor) or not result.requires_grad or x.grad_fn is not None:
        return None
    result.sum().backward()
    return see(x.grad)


# --- gradients that vanish


def reported(*kept: str) -> Probe:
    """One call of `underflow_report`, for a loss whose gradients are those of the case (None: it has no part in it).

    Facets: `returned`, and `grads_kept`: whether each .grad is what it was, the same tensor.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        wanted, scales = copy_of(case.args)
        params = [torch.ones(3) if slope is None else torch.ones_like(slope) for slope in wanted]
        olds = [torch.full_like(param, 7.0) for param in params]
        for param, old in zip(params, olds, strict=True):
            param.requires_grad_().grad = old

        def loss_fn() -> tuple[Tensor, list[Tensor]]:
            parts = [(param * slope).sum() for param, slope in zip(params, wanted, strict=True) if slope is not None]
            return torch.stack(parts).sum() + 1.5, params

        result = answer(loss_fn, scales)
        kept_all = all(p.grad is old and bool((old == 7.0).all()) for p, old in zip(params, olds, strict=True))
        seen: Observation = {"returned": see(result), "grads_kept": kept_all}
        return {facet: seen[facet] for facet in kept}

    return probe


# --- a step in mixed precision


class NotedScaler(torch.amp.GradScaler):
    """torch's scaler for the CPU, which notes the calls that it gets, and whether autocast is on then."""

    def __init__(self, scale: float) -> None:
        super().__init__("cpu", init_scale=scale, growth_interval=3)
        self.calls: list[tuple[str, bool]] = []

    def step(self, optimizer: torch.optim.Optimizer, *args: Any, **kwargs: Any) -> float | None:
        """As GradScaler's."""
        self.calls.append(("step", torch.is_autocast_enabled("cpu")))
        return super().step(optimizer, *args, **kwargs)


class _Notes:
    """What autocast was, each time the model ran, forward and backward."""

    def __init__(self, model: nn.Module) -> None:
        self.forward: list[str] = []
        self.backward: set[bool] = set()
        model.register_forward_pre_hook(self._note)
        for param in model.parameters():
            param.register_hook(self._note_backward)

    def _note(self, *_: object) -> None:
        on = torch.is_autocast_enabled("cpu")
        self.forward.append(str(torch.get_autocast_dtype("cpu")) if on else "no autocast")

    def _note_backward(self, _: Tensor) -> None:
        self.backward.add(torch.is_autocast_enabled("cpu"))


def amp_step(*kept: str, warm: bool = False) -> Probe:
    """One or two calls of `amp_train_step`. Facets: `held`, `grads`, `scale`, `clean_steps`, `returned`, `forward`,
    `backward` and `step` (autocast then).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        name, kind, scale, x, y = copy_of(case.args)
        model = model_of(name, x.shape[1])
        optimizer = optimizer_of(kind, model.parameters(), 0.125)
        if warm:
            ((model(x) - y - 2.0) ** 2).mean().backward()
        scaler, notes = NotedScaler(scale), _Notes(model)
        result = answer(model, optimizer, scaler, x, y, **case.kwargs)
        state = scaler.state_dict()
        seen: Observation = {"held": held_by(model), "grads": grads_of(model), "returned": see(result)}
        seen |= {"scale": state["scale"], "clean_steps": state["_growth_tracker"], "forward": notes.forward}
        seen |= {"backward": sorted(notes.backward), "step": sorted({on for _, on in scaler.calls})}
        return {facet: seen[facet] for facet in kept}

    return probe
