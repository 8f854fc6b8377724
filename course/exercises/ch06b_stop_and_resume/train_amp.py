"""`train_amp`: one epoch in mixed precision, in groups of batches. The model that is given stands in eval mode."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain, dtype_without_module
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.autocast_usage import RecordingGradScaler, active_autocast_dtype
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_fixtures import image_model, labeled_images, optimizer_by_name
from autograder.exercises.probes.training_steps import (
    fill_gradients,
    record_after_each_step,
    record_at_each_call,
    record_at_each_gradient,
)
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Rule

from .._ch06_images import named, outputs_of

CLOSE = 0.01  # how far a loss in bfloat16 may be from the one in float32, as a part of it
_DEVICES = {"cpu", "cuda", "mps", "xpu"}

names_no_device = Rule(
    "names_no_device",
    "names no device",
    "Your code names a device, and so belongs to that one. The images know where they are: `x.device.type`.",
    lambda tree: any(isinstance(node, ast.Constant) and node.value in _DEVICES for node in ast.walk(tree)),
)

# --- what is watched


def _epoch(answer: Answer, case: Case, **changed: Any) -> tuple[Observation, nn.Module]:
    """What there is to see of one call, and the model."""
    name, optimizer_name = case.args
    given = dict(case.kwargs)
    sizes, drawn, factor = (given.pop(key) for key in ("sizes", "drawn", "factor"))
    broken, old = given.pop("broken", None), given.pop("old", False)
    model = image_model(name, dtype=torch.float32).eval()
    optimizer, scaler = optimizer_by_name(optimizer_name, model.parameters(), 0.05), RecordingGradScaler(factor)
    batches = _batches(sizes, drawn, broken)
    if old:
        fill_gradients(model, 3.0)
    forward, backward = record_at_each_call(model, lambda *_: _precision()), record_at_each_gradient(model, _precision)
    steps = record_after_each_step(optimizer, _precision)
    with temporarily_seeded(5), _autocast_from(torch.float16):
        losses = answer(model, optimizer, scaler, batches, **given | changed)
    seen: Observation = {"forward": sorted(set(forward)), "backward": sorted(set(backward)), "step": sorted(set(steps))}
    seen |= {"calls": len(forward), "losses": snapshot_value(losses), "factor": scaler.get_scale(), "steps": len(steps)}
    seen["given"] = len(batches) == len(sizes)
    seen |= {
        "loss_dtype": sorted(map(dtype_without_module, scaler.dtypes)),
        "weights": sorted({dtype_without_module(p.dtype) for p in model.parameters()}),
    }
    return seen, model


def _precision() -> str:
    dtype = active_autocast_dtype()
    return "no autocast" if dtype is None else f"autocast to {dtype_without_module(dtype)}"


@contextmanager
def _autocast_from(dtype: torch.dtype) -> Iterator[None]:
    """Give autocast on the CPU this dtype to lower to if it is told none: float16 is what a GPU has."""
    before = torch.get_autocast_dtype("cpu")
    torch.set_autocast_dtype("cpu", dtype)
    try:
        yield
    finally:
        torch.set_autocast_dtype("cpu", before)


def _batches(sizes: list[int], drawn: int, broken: int | None) -> list[tuple[Tensor, Tensor]]:
    """Batches of these sizes; in the broken one, a pixel is infinite."""
    images, labels = labeled_images(sum(sizes), drawn, torch.float32)
    batches = list(zip(images.split(sizes), labels.split(sizes), strict=True))
    if broken is not None:
        batches[broken][0][0, 0, 4, 4] = float("inf")
    return batches


def epoch(*kept: str) -> Probe:
    """One epoch.

    Facets: `outputs` (what the model says afterwards, if it was trained in float32), `losses`, `factor` (the scaler's),
    `steps` (of the optimizer), `calls` (of the model),
    `forward`, `backward`, `step` (the precision there), `loss_dtype`, `weights` (dtypes), `given` (the list of batches
    is as long as before).
    """

    def look(answer: Answer, case: Case) -> Observation:
        seen, model = _epoch(answer, case)
        if "outputs" not in kept:
            return seen
        # What comes of products in 16 bits differs between processors: of it, only where it was computed is kept.
        full = seen["forward"] == ["no autocast"]
        return seen | {"outputs": outputs_of(model) if full else "of products in 16 bits"}

    return make_probe_recording_exceptions(look, *kept)


@make_probe_recording_exceptions
def close_to_float32(answer: Answer, case: Case) -> Observation:
    """The same epoch in mixed precision and without: whether every loss is close to float32's; and the latter."""
    mixed, full = (_epoch(answer, case, amp=amp)[0]["losses"] for amp in (True, False))
    return {"rounded": are_rounded(full), "losses": full, "close": _all_close(mixed, full)}


def _all_close(mixed: Plain, full: Plain) -> bool:
    if not all(type(losses) is list and all(type(loss) is float for loss in losses) for losses in (mixed, full)):
        return False
    return len(mixed) == len(full) and all(abs(m - f) <= CLOSE * abs(f) for m, f in zip(mixed, full, strict=True))


# --- what is asked

_FORWARD = {"forward": "The model is to run under autocast to bfloat16 if `amp` is true, and without it if not."}
_OUTPUTS = _FORWARD | {
    "outputs": "After your epoch, the model gives other outputs than it should: its weights are not right.",
}

each_batch = Requirement(
    "trains on each batch, in train mode",
    with_detached_loss_facet(epoch("forward", "given", "outputs")),
    DETACHED_LOSS_MESSAGES
    | _FORWARD
    | {
        "given": "Your epoch takes batches out of the list, which belongs to the caller: the next one would find none.",
        "outputs": "In the end the weights are not those of a step for each batch, in train mode, on its mean loss "
        "and its gradient alone, which a max_norm as large as here leaves as it is.",
    },
)
groups = Requirement(
    "adds up a group, whatever the sizes of its batches",
    epoch("forward", "steps", "calls", "outputs"),
    tells=_OUTPUTS
    | {
        "outputs": "In the end the weights are not those of one step for each group, on the mean over all its images: "
        "the sum of their losses, divided by their number.",
        "steps": "The optimizer took another number of steps: one for each group, also for a smaller last one.",
        "calls": "The model ran another number of times: once for each batch, as a group may not fit into memory.",
    },
)
clips = Requirement(
    "clips the true gradients once for each step",
    epoch("forward", "outputs"),
    _FORWARD
    | {
        "outputs": "In the end the weights are not those of steps along clipped gradients: of the whole group, of all "
        "parameters together, and without the scaler's factor.",
    },
)
region = Requirement(
    "runs model and loss under autocast, and nothing else",
    with_detached_loss_facet(epoch("forward", "backward", "step", "loss_dtype", "weights")),
    tells=DETACHED_LOSS_MESSAGES
    | _FORWARD
    | {
        "backward": "A backward ran under autocast; leave the region first.",
        "step": "A step of the optimizer ran under autocast; leave the region first.",
        "loss_dtype": "The losses that the scaler is given are to be float32, as autocast makes them.",
        "weights": "The weights of the model are to stay in float32; autocast lowers copies of them.",
    },
)
skips = Requirement(
    "lets the scaler skip a step that overflows",
    epoch("forward", "outputs", "factor"),
    tells=_FORWARD
    | {
        "outputs": "In the end the weights are not those of a step for each group whose gradients are finite, and of "
        "none for the others.",
        "factor": "After your epoch, the scaler's factor is not what one update for each step makes of it.",
    },
)
losses_close = Requirement(
    f"gives a loss for each step, in bfloat16 within {100 * CLOSE:.0f} % of float32",
    close_to_float32,
    tells={
        "rounded": ROUNDED_MESSAGE,
        "losses": "Asked for is a float for each step: the mean of the losses of all images of its group.",
        "close": "In mixed precision, a loss of yours is not near the same one in float32.",
    },
    needs=(groups,),
)


def spelled(name: str, case: Case) -> str:
    """An epoch in mixed precision, or without."""
    sizes, broken = case.kwargs["sizes"], case.kwargs.get("broken")
    batches = f"<batches of {', '.join(map(str, sizes))} images"
    batches += ">" if broken is None else f", an inf in batches[{broken}]>"
    factor = case.kwargs["factor"]
    scaler = "<scaler with enabled=False>" if factor is None else f"<scaler with the factor {factor:g}>"
    options = {key: case.kwargs[key] for key in ("accumulate", "max_norm", "amp")}
    return call_from_parts(name, *named(case), scaler, batches, **options)


_SOME = 1e6  # a norm that no gradient has


@exercise(
    tier="core",
    hints=(
        "There are two loops, one in the other: groups, and the batches of a group. What belongs to which?",
        "Clearing, unscaling, clipping, step and update: once for each group. Forward and backward: for each batch.",
        'The sum of the losses of a batch (reduction="sum"), divided by the number of images in the whole group.',
    ),
    rules=(names_no_device,),
    seconds=60.0,
    spelled=spelled,
)
def train_amp(draw: Draw) -> Iterator[Case]:
    """Train in mixed precision, in groups of batches."""

    def case(
        requirement: Requirement, model: str, sizes: list[int], accumulate: int, clip: float = _SOME, **more: Any
    ) -> Case:
        optimizer = more.pop("optimizer", "SGD with momentum")
        given = {"sizes": sizes, "drawn": draw.whole(0, 9999), "factor": 2.0 ** draw.whole(4, 9)} | more
        given |= {"accumulate": accumulate, "max_norm": clip, "amp": requirement in (region, losses_close)}
        return requirement(model, optimizer, **given)

    def unequal() -> list[int]:
        return [draw.whole(4, 5), 2, 6, draw.whole(2, 3)]

    yield case(each_batch, "linear", [4, 4], 1)
    yield case(each_batch, "dropout and batch norm", [6, 6], 1)
    yield case(each_batch, "conv", [4, 4], 1, old=True)
    yield case(groups, "conv", unequal(), 2)
    yield case(groups, "linear", [*unequal(), draw.whole(4, 6)], 2)
    yield case(groups, "linear", [3, *unequal(), 2, 3], 3)
    for more in ({}, {"factor": None}):
        yield case(clips, "linear", [3, 3, 3, 3], 2, draw.choice([0.25, 0.5]), **more)
    for optimizer in ("SGD with momentum", "SGD with a group for each parameter"):
        yield case(clips, "conv", [4, 4], 2, draw.choice([0.125, 0.25]), optimizer=optimizer)
    yield case(region, "linear", [3, 2, 4], 2)
    yield case(region, "linear", [3, 2], 1, factor=None)
    yield case(region, "conv", [4, 3], 1)
    yield case(skips, "linear", [3, 3, 4, 4], 2, broken=1)
    yield case(skips, "conv", [3, 4, 5], 1, broken=2)
    yield case(losses_close, "conv", unequal(), 2)
    yield case(losses_close, "linear", unequal(), 3)
