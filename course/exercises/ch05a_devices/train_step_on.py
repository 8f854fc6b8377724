"""`train_step_on`: a step of training on any device: on the CPU, where numbers can be seen, and on the meta device."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from autograder.diagnosis.difference_messages import call_from_parts, tensor_placeholder
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, dtype_without_module
from autograder.exercises.probe import (
    Answer,
    call_recording_exception,
    copy_case_data,
    make_probe_recording_exceptions,
    observe_changed_arguments,
    snapshot_value,
)
from autograder.exercises.probes.devices import record_value_reads
from autograder.exercises.probes.training_steps import (
    BROADCAST_LOSS_MESSAGES,
    GRADIENTS_NOT_CLEARED_MESSAGES,
    grads_of,
    model_values,
)
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import EXAMPLE, eighths, model_of, optimizer_of


class _Step:
    """A step to be watched: a model there, its optimizer, and a criterion; both note what they are called with."""

    def __init__(self, device: Any, named: list[str], features: int) -> None:
        model, optimizer = named
        self.model = model_of(model, features).to(device)
        self.optimizer = optimizer_of(optimizer, self.model.parameters())
        self.inputs: list[str] = []
        self.devices: list[list[str]] = []
        self.rows: list[int] = []
        self.order: list[list[str]] = []
        self.dtypes: list[str] = []
        self.shapes: list[list[int]] = []
        self.spread = False
        self.predictions: list[Any] = []

    def taken(self, answer: Answer, device: Any, x: Tensor, y: Tensor) -> Any:
        """What the answer returns."""
        self.model.register_forward_pre_hook(lambda _, inputs: self.inputs.append(inputs[0].device.type))
        self.model.register_forward_hook(lambda *run: self.predictions.append(run[2]))
        return answer(device, self.model, self.optimizer, self.criterion, x, y)

    def criterion(self, prediction: Tensor, target: Tensor) -> Tensor:
        """The mean of the squares, whichever comes first."""
        self.devices.append(sorted({prediction.device.type, target.device.type}))
        self.rows.append(len(prediction) if prediction.dim() else 1)
        self.dtypes.append(dtype_without_module(target.dtype))
        self.shapes += [list(prediction.shape), list(target.shape)]
        self.order.append(["prediction" if self._is_predicted(one) else "target" for one in (prediction, target)])
        squares = (prediction - target) ** 2
        self.spread = self.spread or squares.numel() > max(prediction.numel(), target.numel())
        return squares.mean()

    def _is_predicted(self, tensor: Tensor) -> bool:
        """Whether a tensor is the model's; in `no_grad` it has no graph that would say so."""
        return tensor.requires_grad or any(tensor is each for each in self.predictions)


def one_step(*kept: str, warm: bool = False) -> Probe:
    """One step on the CPU, perhaps after one elsewhere that left gradients and a memory of the optimizer.

    Facets: `held`, `grads`, `returned`, `waits` (how often a value was asked for), `forwards`, `criterion` (what it was
    called with, each time), `spread` (broadcasting made more rows of that), `targets` (their dtype then), `shapes`
    (of both then), `inputs` (which part of the batch changed); where it is kept, `later` (`held` after a call with
    another batch).
    """

    def look(answer: Answer, case: Case) -> Observation:
        device, *named, x, y = args = copy_case_data(case.args)
        step = _Step(device, named, x.shape[1])
        if warm:
            ((step.model(x + 1.0) - y) ** 2).mean().backward()
            step.optimizer.step()
        with record_value_reads(answer) as asked:
            result = step.taken(answer, device, x, y)
        seen: Observation = {
            "held": model_values(step.model),
            "grads": grads_of(step.model),
            "returned": snapshot_value(result),
        }
        seen |= {"waits": len(asked), "forwards": len(step.inputs)}
        seen |= {"criterion": list(step.order), "targets": list(step.dtypes), "shapes": list(step.shapes)}
        seen |= {"inputs": observe_changed_arguments(case, args, {}), "spread": step.spread}
        if "later" in kept:
            answer(device, step.model, step.optimizer, step.criterion, x - 1.0, y)
            seen["later"] = model_values(step.model)
        return seen

    return make_probe_recording_exceptions(look, *kept)


def step_elsewhere(answer: Answer, case: Case) -> Observation:
    """One step on the meta device: where model and criterion met the batch, whatever happened afterwards."""
    device, *named, there, x, y = copy_case_data(case.args)
    step = _Step(device, named, x.shape[1])
    batch = [part.to("meta") if side in there else part for side, part in (("x", x), ("y", y))]

    def look() -> Observation:
        step.taken(answer, device, *batch)
        return {}

    failed = call_recording_exception(look)
    devices = _each_once(step.devices)
    met: Observation = {"model_met": _each_once(step.inputs), "criterion_met": devices, "rows": _each_once(step.rows)}
    return met if devices == [["meta"]] else met | failed


def _each_once(met: list[Any]) -> list[Any]:
    """What was met, however often: another requirement counts the calls."""
    return [each for place, each in enumerate(met) if each not in met[:place]]


@make_probe_recording_exceptions
def no_value_needed(answer: Answer, case: Case) -> Observation:
    """How often a value is asked for; where it never is, what comes back on the meta device, which has none."""
    seen = one_step("waits", "held")(answer, case)
    if seen.get("waits") == 0:
        *named, x, y = copy_case_data(case.args[1:])
        result = _Step("meta", named, x.shape[1]).taken(answer, "meta", x.to("meta"), y.to("meta"))
        seen["elsewhere"] = result.device.type if isinstance(result, Tensor) else snapshot_value(result)
    return seen


def _spelled(name: str, case: Case) -> str:
    """A step with a model and an optimizer; parts of the batch may be on the device already."""
    device, model, optimizer, *rest = case.args
    there = rest[0] if isinstance(rest[0], list) else []
    x, y = (
        tensor_placeholder(f"{side}_batch", part, ", there already" if side in there else "")
        for side, part in zip("xy", rest[-2:], strict=True)
    )
    return call_from_parts(name, repr(device), f"<{model}>", f"<{optimizer}>", "criterion", x, y)


HELD = {
    "held": "After your step, the parameters are not those of one step of the optimizer, along the gradient of this "
    "batch alone.",
}
against = Requirement(
    "moves the parameters against the gradient",
    with_detached_loss_facet(one_step("spread", "held")),
    DETACHED_LOSS_MESSAGES | BROADCAST_LOSS_MESSAGES | HELD,
)
elsewhere = Requirement(
    "moves both parts of the batch to the device",
    step_elsewhere,
    {
        "model_met": "The model was called with a tensor on another device than `device`, or never called.",
        "criterion_met": "The criterion met tensors that are not both on `device`, or was never called.",
        "rows": "The criterion met another number of rows than the batch has.",
    },
)
clears = Requirement(
    "clears old gradients, and leaves those of this batch",
    one_step("held", "grads", "later", warm=True),
    HELD
    | GRADIENTS_NOT_CLEARED_MESSAGES
    | {"grads": "After your step, .grad does not hold the gradient of this batch alone."},
)
loss = Requirement(
    "returns the loss from before the step, as a scalar tensor without a graph",
    one_step("returned"),
    {"returned": "Asked for is the loss of this batch, by the weights from before the step."},
)
waits = Requirement(
    "asks for no value",
    no_value_needed,
    {
        "waits": "Your step asks for the value of a tensor; a GPU would have to be waited for.",
        "elsewhere": "On the meta device, your step does not return a tensor on that device.",
    },
    given=("held",),
)
once = Requirement(
    "calls the model and the criterion once, prediction first",
    one_step("forwards", "criterion", "targets", "shapes", "inputs", "held"),
    {
        "forwards": "The model is to be called once: `model(x)`.",
        "criterion": "The criterion is to be called once, with the prediction and then the targets.",
        "targets": "The criterion is to meet the targets in the dtype that they have: move them, and no more.",
        "shapes": "The criterion is to meet the prediction and the targets in the shapes that they have: what it makes "
        "of them is its business.",
        "inputs": "Your step changes the batch itself.",
    },
    given=("held",),
)


@exercise(
    tier="core",
    hints=(
        "It is the step of chapter 4. Which two tensors may be on another device, and what does `.to` return?",
        "`.to` moves nothing in place: use its result. The prediction comes first in `criterion`.",
        "`loss.item()` waits for the value. `detach()` gives a tensor without a graph, and waits for nothing.",
    ),
    spelled=_spelled,
)
def train_step_on(draw: Draw) -> Iterator[Case]:
    """Do a step of training on any device."""
    n, d = draw.sizes(2, 3, 24)

    def batch() -> tuple[Tensor, Tensor]:
        return eighths(draw, n, d), eighths(draw, n, 1)

    example = "cpu", EXAMPLE, "SGD, lr=0.1", torch.tensor([[1.0]]), torch.tensor([[5.0]])
    yield against(*example)
    yield against("cpu", "linear", "SGD", *batch())
    yield against(torch.device("cpu"), "two layers", "SGD", *batch())
    for there_already in ([], ["x"], ["y"], ["x", "y"]):
        yield elsewhere("meta", "two layers", "SGD", there_already, *batch())
    yield elsewhere(torch.device("meta"), "linear", "SGD with momentum", [], *batch())
    yield clears("cpu", "two layers", "SGD with momentum", *batch())
    yield clears("cpu", "linear", "Adam", *batch())
    yield loss(*example)
    yield loss("cpu", "linear", "SGD", *batch())
    yield waits("cpu", "two layers", "SGD", *batch())
    yield once("cpu", "two layers", "SGD", *batch())
    yield once("cpu", "linear", "SGD", eighths(draw, n, d), draw.ints(0, 9, n, 1))
