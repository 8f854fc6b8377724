"""`mixed_region`: a block that stays in float32, within autocast to bfloat16 and without; the cases name the block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import argument_text
from autograder.exercises.compare_observations import Difference, Tolerance, first_difference
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_requires_grad,
)
from autograder.exercises.probes.autocast_usage import collect_autocast_devices
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import eighths


def _fails(_: nn.Linear, x: Tensor) -> Tensor:
    raise ValueError(f"a block that fails, with {len(x)} rows")


BLOCKS: dict[str, Callable[[nn.Linear, Tensor], Tensor]] = {
    "a product": lambda layer, x: x @ x.T,
    "a layer": lambda layer, x: layer(x),
    "an argmax": lambda layer, x: (x @ x.T).argmax(dim=1),
    "a sum in float64": lambda layer, x: (x @ x.T).sum(dim=1, dtype=torch.float64),
    "a failure": _fails,
}


class _Block(nn.Module):
    """A block that counts its calls."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)
        with torch.no_grad():
            self.layer.weight.copy_(torch.arange(9.0).reshape(3, 3) / 7.0)
            self.layer.bias.fill_(1 / 3)
        self.kind = kind
        self.calls = 0
        self.result: Tensor | None = None  # of the last call

    def forward(self, x: Tensor) -> Tensor:
        """What the kind of block makes of x (n, 3)."""
        self.calls += 1
        self.result = BLOCKS[self.kind](self.layer, x)
        return self.result


def region(*kept: str, within: bool = True) -> Probe:
    """Two calls of the function that `mixed_region` returns, within autocast to bfloat16 or without, as a case may say.

    Facets: `made` (what `mixed_region` returns: where it is no function, nothing is called), `returned`, `calls` (of
    the block), `gradient` (of x, and of the block's weights), `early` (calls before the first), `itself` (what came
    back last is what the block returned), `still_on` (autocast, once safe is made and after each call) and always
    `entered`: the device types of the autocast blocks that were entered while safe was made, and while it ran; see
    `compare_regions`.
    """

    def look(answer: Answer, case: Case) -> Observation:
        kind, x = copy_case_data(case.args)
        block = _Block(kind)
        seen: Observation = {}
        around = _lower() if case.kwargs.get("within", within) else nullcontext()
        made_in = nullcontext() if case.kwargs.get("made_outside") else around
        with _left_as_it_was(), made_in, collect_autocast_devices(answer) as making:
            safe = answer(block)
            seen["made"] = "a function" if callable(safe) else type(safe).__name__
            seen["early"], seen["still_on"] = block.calls, [torch.is_autocast_enabled("cpu")]
        if not callable(safe):
            return seen | dict.fromkeys(("itself", "returned", "calls", "gradient", "entered"))
        with _left_as_it_was(), around:
            with collect_autocast_devices(answer) as running:
                first = _quietly(safe, x)
                seen["still_on"].append(torch.is_autocast_enabled("cpu"))
                second = _quietly(safe, x.requires_grad_())
                seen["still_on"].append(torch.is_autocast_enabled("cpu"))
            seen["itself"] = second is block.result
        seen |= {"returned": list(map(snapshot_without_requires_grad, (first, second))), "calls": block.calls}
        seen["gradient"] = {"x": _gradient(second, x), "weights": snapshot_value(block.layer.weight.grad)}
        return seen | {"entered": [sorted(making), sorted(running)]}

    return make_probe_recording_exceptions(look, *kept, "entered")


def _lower() -> torch.autocast:
    """Autocast to bfloat16 on the CPU."""
    return torch.autocast("cpu", dtype=torch.bfloat16)


@contextmanager
def _left_as_it_was() -> Iterator[None]:
    """Whatever an answer leaves on or off, the next one finds autocast as it was."""
    before = torch.is_autocast_enabled("cpu")
    try:
        yield
    finally:
        torch.set_autocast_enabled("cpu", before)


def _class_on(kind: str) -> type[Tensor]:
    """Return a class of tensors on the CPU that say they are on another device."""
    return type("Tensor", (Tensor,), {"device": property(lambda _: torch.device(kind))})


# Autocast for an Intel GPU has a switch of its own on any machine; on a GPU of NVIDIA autocast to float32 is on.
_ELSEWHERE = {kind: _class_on(kind) for kind in ("xpu", "cuda")}


@make_probe_recording_exceptions
def region_elsewhere(answer: Answer, case: Case) -> Observation:
    """One call with x on another device, where autocast is on: is it on while the block runs? and what comes back.

    How often the block runs is another requirement's.
    """
    on: set[str] = set()
    kind = case.kwargs.get("kind", "xpu")

    def block(x: Tensor) -> Tensor:
        on.add("on" if torch.is_autocast_enabled(kind) else "off")
        return x + x

    before = torch.is_autocast_enabled(kind)
    torch.set_autocast_enabled(kind, True)
    try:
        with patch("torch.cuda.amp.common.amp_definitely_not_available", return_value=False):  # as where there is one
            result = answer(block)(copy_case_data(case.args)[1].as_subclass(_ELSEWHERE[kind]))
    finally:
        torch.set_autocast_enabled(kind, before)
    return {
        "on" if kind == "xpu" else "on_gpu": ", then ".join(sorted(on)),
        "returned": [snapshot_value(result.as_subclass(Tensor) if isinstance(result, Tensor) else result)],
    }


def _quietly(safe: Callable[[Tensor], Any], x: Tensor) -> Any:
    """What comes back; a block that is made to fail may fail."""
    try:
        return safe(x)
    except ValueError as error:
        return str(error)


def _gradient(result: Any, x: Tensor) -> Plain:
    if not isinstance(result, Tensor) or not result.requires_grad or x.grad_fn is not None:
        return None
    result.sum().backward()
    return snapshot_value(x.grad)


def compare_regions(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """The usual comparison; how autocast was switched off matters only where it did not help.

    A right answer may do it in any way. Of two answers that leave autocast on, it tells which mistake was made.
    """
    plain = [{facet: value for facet, value in seen.items() if facet != "entered"} for seen in (expected, got)]
    difference = first_difference(plain[0], plain[1], tolerance)
    lowered = any(getattr(one, "dtype", "") == "bfloat16" for one in expected.get("returned") or [])
    return first_difference(expected, got, tolerance) if lowered and not difference else difference


def _spelled(name: str, case: Case) -> str:
    """The function that comes back is called with x; it may have been made outside of the autocast block."""
    block, x = case.args
    if case.requirement == there.sentence:
        return f"{name}(<x + x>)(<x on a GPU, of shape {tuple(x.shape)}>)"
    outside = ", where safe was made outside of the autocast block" if case.kwargs.get("made_outside") else ""
    return f"{name}(<{block}>)({argument_text(x)}){outside}"


computes = Requirement(
    "computes in float32 under autocast",
    region("made", "returned"),
    {
        "made": "`mixed_region` returns no function. What it returns is to be called later, with an x.",
        "returned": "Under autocast, what comes back is not what `block` returns for this x, in float32, without "
        "autocast.",
    },
)
OTHER_DTYPE = {"returned": "For an x of this dtype, what comes back is not what `block` returns for `x.float()`."}
by_float = Requirement("turns a 16-bit or 64-bit input to float32", region("returned"), OTHER_DTYPE)
outside = Requirement("does so outside of autocast too", region("returned", within=False), OTHER_DTYPE)
flows = Requirement(
    "lets the gradient flow to x",
    region("gradient"),
    {
        "gradient.x": "The gradient that arrives at x is not right; where it is None, the way back to x is cut.",
        "gradient.weights": "The gradient that arrives at the weights of block is not right; where it is None, the "
        "way back to them is cut.",
    },
)
there = Requirement(
    "switches autocast off for the device that x is on",
    region_elsewhere,
    {
        "on": "x is on another device than the CPU, and autocast for that one is not off while the block runs.",
        "on_gpu": "x is on a GPU, and autocast for it is not off while the block runs: there, "
        "autocast to float32 is on too.",
    },
)
as_is = Requirement(
    "returns what block returns, as it is",
    region("returned", "itself"),
    {
        "returned": "What comes back is not what `block` returns: it has another dtype, or other numbers.",
        "itself": "What comes back holds what `block` returns, but is another tensor. Return that one itself.",
    },
)
on_again = Requirement(
    "calls block once each time, and leaves autocast as it was",
    region("early", "calls", "still_on"),
    {
        "early": "`mixed_region` itself calls the block; only `safe` is to call it.",
        "calls": "Each call of `safe` is to call the block once: after two calls of `safe` it has run this many times.",
        "still_on": "After `mixed_region`, or a call of `safe`, autocast is not as it was: off where it was on, or on "
        "where it was off.",
    },
)


@exercise(
    tier="core",
    hints=(
        "Two things are needed: that autocast is off, and that what comes in is float32. One does not bring the other.",
        "`torch.autocast(device_type, enabled=False)` switches it off. Return a function; do not call block yet.",
    ),
    compare=compare_regions,
    spelled=_spelled,
)
def mixed_region(draw: Draw) -> Iterator[Case]:
    """Keep a fragile part in float32."""

    def x(dtype: torch.dtype = torch.float32) -> Tensor:
        return eighths(draw, draw.whole(2, 5), 3).to(dtype)

    yield computes("a product", x())
    yield computes("a layer", x())
    yield by_float("a product", x(torch.bfloat16))
    yield by_float("a layer", x(torch.float16))
    yield by_float("a product", x(torch.float64))
    yield outside("a layer", x(torch.bfloat16))
    yield outside("a product", x(torch.float16))
    yield flows("a layer", x())
    yield flows("a product", x(torch.bfloat16))
    yield there("a sum", x())
    yield there("a sum", x(), kind="cuda")
    yield as_is("an argmax", x())
    yield as_is("a sum in float64", x())
    yield on_again("a product", x())
    yield on_again("a failure", x())
    yield on_again("a product", x(), within=False)
    yield on_again("a product", x(), made_outside=True)
