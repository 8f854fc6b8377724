"""`amp_train_step`: a step in mixed precision, with torch's own scaler for the CPU."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

from autograder.diagnosis.difference_messages import call_from_parts, tensor_placeholder
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.autocast_usage import (
    RecordingGradScaler,
    active_autocast_dtype,
    collect_autocast_devices,
)
from autograder.exercises.probes.training_steps import (
    GRADIENTS_NOT_CLEARED_MESSAGES,
    grads_of,
    model_values,
    record_after_each_step,
    record_at_each_call,
    record_at_each_gradient,
)
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import LAYERS, eighths, made, optimizer_of


def amp_step(*kept: str, warm: bool = False) -> Probe:
    """One step, perhaps with gradients of an earlier one.

    Facets: `held`, `grads`, `scale`, `clean_steps`, `returned`, `forward`, `backward` and `step` (autocast then),
    `other_device` (the only autocast was for another type), `updates` (steps of the optimizer) and `by_scaler` (the
    given scaler took all of these steps).
    """

    def look(answer: Answer, case: Case) -> Observation:
        name, kind, scale, x, y = copy_case_data(case.args)
        model = made(lambda: LAYERS[name](x.shape[1], y.shape[1]))
        optimizer = optimizer_of(kind, model.parameters())
        if warm:
            ((model(x) - y - 2.0) ** 2).mean().backward()
        scaler = RecordingGradScaler(scale, growth_interval=3)
        forward = record_at_each_call(model, lambda *_: _lowered_for(case.kwargs["device_type"]))
        backward = record_at_each_gradient(model, active_autocast_dtype)
        steps = record_after_each_step(optimizer, active_autocast_dtype)
        with collect_autocast_devices(answer) as entered:
            result = answer(model, optimizer, scaler, x, y, **case.kwargs)
        state = scaler.state_dict()
        seen: Observation = {"held": model_values(model), "grads": grads_of(model), "returned": snapshot_value(result)}
        seen |= {"scale": state.get("scale"), "clean_steps": state.get("_growth_tracker")}
        seen["forward"] = [str(dtype or "no autocast") for dtype in forward]
        seen["backward"] = sorted({dtype is not None for dtype in backward})
        seen |= {"other_device": bool(entered) and case.kwargs["device_type"] not in entered, "updates": len(steps)}
        seen["step"] = sorted({dtype is not None for dtype in steps})
        seen["by_scaler"] = len(steps) <= len(scaler.steps)
        if "later" in kept:
            answer(model, optimizer, scaler, x - 1.0, y, **case.kwargs)
            seen["later"] = model_values(model)
        return seen

    return make_probe_recording_exceptions(look, *kept)


def _lowered_for(device_type: str) -> torch.dtype | None:
    """The dtype that autocast for this type of device lowers to just now; None where it is off."""
    return torch.get_autocast_dtype(device_type) if torch.is_autocast_enabled(device_type) else None


def _spelled(name: str, case: Case) -> str:
    """A step with a model, an optimizer and a scaler."""
    model, optimizer, scale, x, y = case.args
    parts = (
        f"<{model}>",
        f"<{optimizer}>",
        "<scaler with enabled=False>" if scale is None else f"<scaler, factor {scale:g}>",
        tensor_placeholder("x", x),
        tensor_placeholder("y", y),
    )
    return call_from_parts(name, *parts, **case.kwargs)


HELD = {
    "held": "After your step, the parameters are not those of a step along the true gradients of this batch, clipped "
    "to max_norm all together.",
}
GRADS = {"grads": "After your step, .grad does not hold the true gradients, clipped."}
moves = Requirement(
    "moves the parameters",
    with_detached_loss_facet(amp_step("other_device", "updates", "held")),
    DETACHED_LOSS_MESSAGES
    | {
        "other_device": "Your autocast is for another type of device than the `device_type` of the call, and lowers "
        "nothing here. (`torch.cuda.amp.autocast` is always for CUDA.)",
        "updates": "The optimizer is to step once, and that is what `scaler.step(optimizer)` does.",
        "held": "After your step, the parameters are not those of one step along the true gradients, which a max_norm "
        "as large as here leaves as they are.",
    },
)
under = Requirement(
    "runs the model under autocast, backward and step outside",
    amp_step("forward", "backward", "step", "held"),
    {
        "forward": "The model is to run once, under autocast for the `device_type` and with the `dtype` of the call.",
        "backward": "Your backward runs under autocast.",
        "step": "The optimizer is to step, and outside of autocast.",
    },
    given=("held",),
)
clipped = Requirement("clips the true gradients", amp_step("held", "grads"), HELD | GRADS)
skips = Requirement(
    "lets the scaler skip a step after an overflow",
    amp_step("held", "by_scaler"),
    {
        "held": "With the factor 65536 the scaled gradients overflow: the scaler takes no step, and the parameters "
        "stay as they were. With the factor 1 it takes one.",
        "by_scaler": "Your optimizer steps without the scaler that you are given. The scaler's `step` takes the step, "
        "or skips it.",
    },
)
updates = Requirement(
    "updates the scaler once",
    amp_step("scale", "clean_steps"),
    {
        "scale": "After your step, the scaler's factor is not what one update makes of it.",
        "clean_steps": "After your step, the scaler's count of clean steps is not what one update makes of it.",
    },
)
old = Requirement(
    "clears old gradients",
    amp_step("held", "grads", "later", warm=True),
    HELD | GRADS | GRADIENTS_NOT_CLEARED_MESSAGES,
)
returns = Requirement(
    "returns the unscaled loss in float32, without a graph",
    amp_step("returned"),
    {"returned": "Asked for is the loss from before the step, a float32 scalar without the factor and without graph."},
)


@exercise(
    tier="core",
    hints=(
        "Under autocast: the model and the loss. Everything else is outside. When are the gradients true ones?",
        "The gradients are `scale` times too long until `scaler.unscale_(optimizer)`; clip after it, and call it once.",
        "The order: scale(loss).backward(), unscale_, clip, scaler.step, scaler.update. Clear old gradients before.",
    ),
    spelled=_spelled,
)
def amp_train_step(draw: Draw) -> Iterator[Case]:
    """Do a step in mixed precision."""
    d = draw.whole(3, 5)
    half, brain = torch.float16, torch.bfloat16

    def case(requirement: Requirement, model: str, scale: float | None, dtype: torch.dtype, **more: Any) -> Case:
        given: dict[str, Any] = {"clip": 1e6, "times": 1.0, "columns": 1, "on": "cpu", "optimizer": "SGD"} | more
        x, y = eighths(draw, 4, d), given["times"] * eighths(draw, 4, given["columns"])
        settings = {"device_type": given["on"], "dtype": dtype, "max_norm": given["clip"]}
        return requirement(model, given["optimizer"], scale, x, y, **settings)

    yield case(moves, "linear", 1.0, brain)
    yield case(moves, "two layers", 1.0, brain, columns=2)
    yield case(under, "two layers", 8.0, brain)
    yield case(under, "linear", 8.0, half)
    yield case(under, "linear", None, brain)
    yield case(under, "linear", 8.0, brain, on="xpu")  # of any machine, this autocast has a switch
    yield case(clipped, "linear", 2.0 ** draw.whole(7, 10), brain, clip=draw.choice([0.0625, 0.125]))
    yield case(clipped, "linear", 2.0 ** draw.whole(7, 10), brain, clip=64.0, times=2.0)
    yield case(clipped, "linear", None, brain, clip=0.125)
    yield case(clipped, "two layers", 128.0, brain, clip=0.125, optimizer="SGD with a group for each parameter")
    yield case(skips, "linear", 65536.0, half, times=4096.0, columns=draw.whole(1, 4))
    yield case(skips, "linear", 1.0, brain)
    yield case(updates, "linear", 2.0 ** draw.whole(1, 12), brain)
    yield case(updates, "linear", 65536.0, half, times=4096.0)
    yield case(updates, "linear", 16.0, half, times=2.0**68)  # the loss itself is inf
    yield case(old, "linear", 16.0, brain)
    yield case(returns, "linear", 2.0 ** draw.whole(3, 6), brain)
    yield case(returns, "linear", 4.0, brain, columns=2)
    yield case(returns, "linear", 4.0, brain, columns=2, times=37.3)  # 16 bits have no such targets
    yield case(returns, "linear", 65536.0, half, times=4096.0)  # the factor is another one after the update
