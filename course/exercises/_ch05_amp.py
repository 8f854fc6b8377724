"""The exercises of chapter 5 about mixed precision: which dtype where, gradients that vanish, a whole step."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case
from autograder.watching.probe import facets, in_part
from autograder.watching.probes.tensors import calling
from autograder.watching.rules import avoids

from . import _ch05_calls as calls
from . import _ch05_precision as precision
from ._ch05_core import EXERCISES, eighths
from ._ch05_hints import HINTS

__all__ = ["EXERCISES"]

_OPS = {
    "lowers products": ("linear", "matmul"),
    "lets relu follow its input": ("relu", "relu_of_input"),
    "adds bfloat16 and float32": ("add",),
    "knows softmax on the CPU": ("softmax",),
    "keeps losses in float32": ("mse_loss", "cross_entropy"),
    "knows the dtype of weight and gradient": ("weight", "grad"),
}


@EXERCISES.add(
    "autocast_dtypes",
    tier="core",
    hints=HINTS["autocast_dtypes"],
    probe=facets(calling(), "returned"),
    rules=(
        avoids(
            "autocast",
            requirement="works by the rule, without autocast",
            sentence="You ask torch. Predict instead: an operation is lowered, kept in float32, or follows its inputs.",
        ),
    ),
)
def autocast_dtypes(draw: Draw) -> Iterator[Case]:
    """Predict the dtypes under autocast."""
    for requirement, names in _OPS.items():
        for name in names:
            yield Case(requirement, [name], "cpu")
        yield Case(requirement, [draw.choice(names) for _ in range(draw.whole(2, 5))], "cpu")


_BY_FLOAT, _OUTSIDE = "turns a 16-bit input to float32", "does so outside of autocast too"
_FLOWS, _AS_IS = "lets the gradient flow to x", "returns what block returns, as it is"
_ON_AGAIN = "calls block once each time, and leaves autocast as it was"
_REGION_PARTS = {
    _OUTSIDE: precision.region("returned", within=False),
    _FLOWS: precision.region("gradient"),
    _ON_AGAIN: precision.region("early", "calls", "still_on"),
}


@EXERCISES.add(
    "mixed_region",
    tier="core",
    hints=HINTS["mixed_region"],
    spelled=calls.in_region,
    probe=in_part(_REGION_PARTS, otherwise=precision.region("returned")),
    compare=precision.compare_regions,
    tells={
        "early": "`mixed_region` itself calls the block; only `safe` is to call it.",
        "calls": "Each call of `safe` is to call the block once.",
        "still_on": "After a call of `safe` under autocast, autocast is off.",
        "gradient": "The gradients that arrive at x and at the weights of block are not right, or none arrives.",
    },
)
def mixed_region(draw: Draw) -> Iterator[Case]:
    """Keep a fragile part in float32."""

    def x(dtype: torch.dtype = torch.float32) -> Tensor:
        return eighths(draw, draw.whole(2, 5), 3).to(dtype)

    yield Case("computes in float32 under autocast", "a product", x())
    yield Case("computes in float32 under autocast", "a layer", x())
    yield Case(_BY_FLOAT, "a product", x(torch.bfloat16))
    yield Case(_BY_FLOAT, "a layer", x(torch.float16))
    yield Case(_OUTSIDE, "a layer", x(torch.bfloat16))
    yield Case(_OUTSIDE, "a product", x(torch.float16))
    yield Case(_FLOWS, "a layer", x())
    yield Case(_FLOWS, "a product", x(torch.bfloat16))
    yield Case(_AS_IS, "an argmax", x())
    yield Case(_AS_IS, "a sum in float64", x())
    yield Case(_ON_AGAIN, "a product", x())
    yield Case(_ON_AGAIN, "a failure", x())


_EACH, _ALREADY = "gives a share for each scale", "leaves out what is 0 in float32 already"
_ALL, _UNUSED = "counts the entries of all parameters together", "leaves out a parameter without a gradient"
_EMPTY, _KEPT = "gives 0.0 where nothing is to be counted", "leaves .grad as it was"


@EXERCISES.add(
    "underflow_report",
    tier="core",
    hints=HINTS["underflow_report"],
    spelled=calls.reporting,
    probe=in_part({_KEPT: precision.reported("grads_kept")}, otherwise=precision.reported("returned")),
    tells={"grads_kept": "After your report, a .grad is not what it was."},
)
def underflow_report(draw: Draw) -> Iterator[Case]:
    """Count the gradients that float16 loses."""
    scales = [1.0, 2.0 ** draw.whole(5, 9), 2.0 ** draw.whole(14, 18)]
    yield Case("counts what float16 turns to 0", [_slopes(draw, _lost(2), _tiny(1), _fine(3))], [1.0])
    yield Case("counts what float16 turns to 0", [_slopes(draw, _lost(4), _tiny(4), _fine(1))], [1.0])
    yield Case(_EACH, [_slopes(draw, _lost(7), _tiny(2), _fine(2))], scales)
    yield Case(_EACH, [_slopes(draw, _lost(9))], scales[::-1])
    beyond = [_slopes(draw, (-14.0, -13.0, draw.whole(2, 4)), _lost(2), (0.5, 1.0, 3))]
    yield Case(_EACH, beyond, [1.0, 131072.0])  # of its gradients some are 0 and some inf then
    for some in (_slopes(draw, _lost(3), _fine(4)), _slopes(draw, _lost(2), _tiny(3))):
        yield Case(_ALREADY, [torch.cat([torch.zeros(draw.whole(1, 4)), some])], [1.0, scales[2]])
    yield Case(_ALL, [_slopes(draw, _lost(1), _fine(1)), _slopes(draw, _lost(3), _fine(2))], [1.0])
    yield Case(_ALL, [_slopes(draw, _fine(draw.whole(4, 6))), _slopes(draw, _lost(2)), _slopes(draw, _tiny(1))], scales)
    yield Case(_UNUSED, [_slopes(draw, _lost(1), _fine(draw.whole(2, 4))), None], [1.0])
    yield Case(_UNUSED, [None, _slopes(draw, _lost(2)), _slopes(draw, _fine(3))], [1.0, scales[1]])
    yield Case(_EMPTY, [torch.zeros(draw.whole(2, 5))], [1.0, scales[1]])
    yield Case(_KEPT, [_slopes(draw, _lost(2), _fine(2)), _slopes(draw, _fine(2))], [1.0, scales[1]])


def _lost(count: int) -> tuple[float, float, int]:
    """Gradients that are 0 in float16."""
    return -12.0, -8.0, count


def _tiny(count: int) -> tuple[float, float, int]:
    """Gradients that float16 holds with few digits, below its smallest normal number."""
    return -7.0, -4.5, count


def _fine(count: int) -> tuple[float, float, int]:
    """Gradients that float16 holds well."""
    return -4.0, -1.0, count


def _slopes(draw: Draw, *parts: tuple[float, float, int]) -> Tensor:
    """Gradients of both signs: between two powers of ten so many, between two others so many."""
    slopes = torch.cat([10 ** draw.uniform(count, low=low, high=high) for low, high, count in parts])
    return slopes * (draw.bools(len(slopes)).float() * 2 - 1)


_UNDER, _CLIPPED = "runs the model under autocast, backward and step outside", "clips the true gradients"
_SKIPS, _UPDATES = "lets the scaler skip a step after an overflow", "updates the scaler once"
_OLD, _RETURNS = "clears old gradients", "returns the unscaled loss in float32, without a record"
_AMP_PARTS = {
    _UNDER: precision.amp_step("forward", "backward", "step"),
    _CLIPPED: precision.amp_step("held", "grads"),
    _SKIPS: precision.amp_step("held"),
    _UPDATES: precision.amp_step("scale", "clean_steps"),
    _OLD: precision.amp_step("held", "grads", warm=True),
    _RETURNS: precision.amp_step("returned"),
}


@EXERCISES.add(
    "amp_train_step",
    tier="core",
    hints=HINTS["amp_train_step"],
    spelled=calls.stepping_mixed,
    probe=in_part(_AMP_PARTS, otherwise=precision.amp_step("held")),
    tells={
        "held": "After your step, the parameters are not what they should be.",
        "grads": "After your step, .grad does not hold the true gradients, clipped.",
        "scale": "After your step, the scaler's factor is not what one update makes of it.",
        "clean_steps": "After your step, the scaler's count of clean steps is not what one update makes of it.",
        "forward": "The model is to run once, under autocast with the `dtype` of the call.",
        "backward": "Your backward runs under autocast.",
        "step": "scaler.step is to run once, and outside of autocast.",
    },
)
def amp_train_step(draw: Draw) -> Iterator[Case]:
    """Do a step in mixed precision."""
    d = draw.whole(3, 5)

    def case(
        requirement: str, model: str, scale: float, dtype: torch.dtype, clip: float = 1e6, times: float = 1.0
    ) -> Case:
        x, y = eighths(draw, 4, d), times * eighths(draw, 4, 1)
        return Case(requirement, model, "SGD", scale, x, y, device_type="cpu", dtype=dtype, max_norm=clip)

    half, brain = torch.float16, torch.bfloat16
    yield case("moves the parameters", "linear", 1.0, brain)
    yield case("moves the parameters", "two layers", 1.0, brain)
    yield case(_UNDER, "two layers", 8.0, brain)
    yield case(_UNDER, "linear", 8.0, half)
    yield case(_CLIPPED, "linear", 2.0 ** draw.whole(7, 10), brain, clip=draw.choice([0.0625, 0.125]))
    yield case(_CLIPPED, "linear", 2.0 ** draw.whole(7, 10), brain, clip=64.0, times=2.0)
    yield case(_SKIPS, "linear", 65536.0, half, times=4096.0)
    yield case(_UPDATES, "linear", 2.0 ** draw.whole(3, 6), brain)
    yield case(_UPDATES, "linear", 65536.0, half, times=4096.0)
    yield case(_OLD, "linear", 16.0, brain)
    yield case(_RETURNS, "linear", 2.0 ** draw.whole(3, 6), brain)
