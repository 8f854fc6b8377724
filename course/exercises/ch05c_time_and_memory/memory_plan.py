"""`memory_plan`: plan the memory of a training step, for models that save, share or own their tensors in other ways."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import call_from_parts, tensor_placeholder
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import (
    Answer,
    copy_case_data,
    make_probe_recording_exceptions,
    observe_changed_arguments,
    snapshot_value,
)
from autograder.exercises.probes.functions_that_take_modules import count_hooks, requires_grad_flags
from autograder.exercises.probes.training_steps import fill_gradients, grads_of, model_values
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import LAYERS, eighths, made


class _Doing(nn.Module):
    """A layer without parameters, which does what a function says of the layer and x (n, d)."""

    def __init__(self, does: Callable[[nn.Module, Tensor], Tensor]) -> None:
        super().__init__()
        self.does = does  # no lambda: an answer may copy the model in any way
        self.register_buffer("factor", torch.linspace(0.5, 2.0, 5) if does is _scaled else None)

    def forward(self, x: Tensor) -> Tensor:
        """Of shape (n, d), or fewer columns."""
        return self.does(self, x)


def _scaled(layer: nn.Module, x: Tensor) -> Tensor:
    """x times a part of a buffer, which is saved for backward and is no activation."""
    return x * layer.get_buffer("factor")[1:]


def _squared(_: nn.Module, x: Tensor) -> Tensor:
    return x * x  # x is saved twice


def _views(_: nn.Module, x: Tensor) -> Tensor:
    return x[:, :3] * x[:, 1:]  # both look at one piece of memory, and have columns in common


def _gate(layer: nn.Module, x: Tensor) -> Tensor:
    return x.exp().sin() if layer.training else x


def _between(does: Callable[[nn.Module, Tensor], Tensor], left: int = 4) -> Callable[[int, int], nn.Module]:
    """A layer that does this between two linear ones; of 4 columns it leaves so many."""
    return lambda d, k: nn.Sequential(nn.Linear(d, 4), _Doing(does), nn.Linear(left, k))


def _tied(d: int, k: int) -> nn.Module:
    first, second = nn.Linear(d, d), nn.Linear(d, d)
    second.weight = first.weight
    return nn.Sequential(first, second, nn.Linear(d, k))


def _frozen(d: int, k: int) -> nn.Module:
    model = LAYERS["two layers"](d, k)
    next(model.children()).requires_grad_(False)
    return model


def _frozen_within(d: int, k: int) -> nn.Module:
    """The weight of the frozen layer is saved, since gradients go through it; it has more columns than a batch rows."""
    frozen = nn.Linear(8, 5).requires_grad_(False)
    return nn.Sequential(nn.Linear(d, 8), nn.Tanh(), frozen, nn.Tanh(), nn.Linear(5, k))


TRAIN, EVAL = "with sin(exp(x)) in train mode", "with sin(exp(x)) in train mode, in eval mode"
MODELS: dict[str, Callable[[int, int], nn.Module]] = LAYERS | {
    "three layers": lambda d, k: nn.Sequential(nn.Linear(d, 4), nn.Tanh(), nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, k)),
    # Without the tensors that were saved, torch would use one piece of memory again and again.
    "eight times tanh": lambda d, k: nn.Sequential(
        nn.Linear(d, 512), *(nn.Tanh() for _ in range(8)), nn.Linear(512, k)
    ),
    "first layer frozen": _frozen,
    "second of three layers frozen": _frozen_within,
    "one weight in two layers": _tied,
    "with a buffer": _between(_scaled),
    "with squares": _between(_squared),
    "with two views": _between(_views, left=3),
    TRAIN: _between(_gate),
    EVAL: lambda d, k: _between(_gate)(d, k).eval(),
}


def _used(name: str, batch: Tensor) -> nn.Module:
    """A model with gradients of an earlier step."""
    model = made(lambda: MODELS[name](batch.shape[1], 2))
    fill_gradients(model, 7.0)
    return model


def planned(entry: str) -> Probe:
    """An entry of the plan, and the plan's keys; the model that it is made for has a past."""

    def look(answer: Answer, case: Case) -> Observation:
        name, batch, *rest = copy_case_data(case.args)
        plan = answer(_used(name, batch), batch, *rest)
        if not isinstance(plan, dict):
            return {"returned": snapshot_value(plan)}
        return {"keys": sorted(map(str, plan)), entry: snapshot_value(plan.get(entry))}

    return make_probe_recording_exceptions(look)


@make_probe_recording_exceptions
def plan_left(answer: Answer, case: Case) -> Observation:
    """What became of the model and the batch."""
    name, batch, *rest = args = copy_case_data(case.args)
    model = _used(name, batch)
    with torch.no_grad():
        for param in model.parameters():
            param.div_(3.0)  # 16 bits do not hold these: who turns the model to them and back leaves other ones
    answer(model, batch, *rest)
    return {
        "model": model_values(model),
        "grads": grads_of(model),
        "mode": [module.training for module in model.modules()],
        "flags": ", ".join(name for name, flag in requires_grad_flags(model).items() if flag) or "none",
        "hooks": count_hooks(model),
        "inputs": observe_changed_arguments(case, args, {}),
    }


def _spelled(name: str, case: Case) -> str:
    """A plan for a model and a batch."""
    model, batch, optimizer, dtype = case.args
    return call_from_parts(name, f"<{model}>", tensor_placeholder("batch", batch), repr(optimizer), repr(dtype))


parameters = Requirement(
    "counts each parameter once",
    planned("parameters"),
    {
        "keys": "The plan is a dict with the four keys that the docstring names, and no others.",
        "parameters": "Each parameter counts once, frozen or not, with the bytes that it has in `dtype`; no buffer "
        "does.",
    },
)
gradients = Requirement(
    "counts gradients of what is trained",
    planned("gradients"),
    {"gradients": "A gradient has the bytes of its parameter, in `dtype`; a frozen parameter has none."},
)
state = Requirement(
    "knows the state of each optimizer",
    planned("optimizer"),
    {"optimizer": "For each weight that is not frozen: nothing of sgd, a number of momentum, two of adam, in `dtype`."},
)
saved = Requirement(
    "counts what the model saves for backward",
    planned("activations"),
    {
        "activations": "Counted is what forward saves for backward, in `dtype` and in the model's mode; under no_grad "
        "that is nothing."
    },
)
one_piece = Requirement(
    "counts each piece of memory once, and whole",
    planned("activations"),
    {"activations": "A piece of memory counts once and whole, however many saved tensors look at a part of it."},
    needs=(saved,),
)
own = Requirement(
    "leaves parameters and buffers out of the activations",
    planned("activations"),
    {"activations": "Of what is saved, parameters and buffers do not count, nor what looks at a part of them."},
    needs=(saved,),
)
as_it_was = Requirement(
    "leaves model and batch as they were",
    plan_left,
    {
        "model": "After your plan, a parameter or buffer of the model is not what it was.",
        "grads": "After your plan, a .grad of the model is not what it was.",
        "mode": "After your plan, the model is in another mode: train mode is True, eval mode is False.",
        "flags": "After your plan, the parameters of the model with requires_grad=True are not the same as before.",
        "hooks": "After your plan, the model has another number of hooks than before.",
        "inputs": "Your plan changes the batch itself.",
    },
)


@exercise(
    tier="core",
    hints=(
        "Three of the four are numbers of parameters times `dtype.itemsize`. Only the activations need a forward "
        "pass, of a copy of the model.",
        "Inside `with torch.autograd.graph.saved_tensors_hooks(pack, unpack):` torch calls `pack` with each saved "
        "tensor. Which of them share memory?",
        "`tensor.untyped_storage()` is a tensor's memory: `data_ptr()` is its address, `nbytes()` its size. A dict "
        "from address to size counts each piece once.",
    ),
    spelled=_spelled,
)
def memory_plan(draw: Draw) -> Iterator[Case]:
    """Plan the memory of a training step."""
    half, single, double = torch.bfloat16, torch.float32, torch.float64

    def case(requirement: Requirement, model: str, optimizer: str, dtype: torch.dtype) -> Case:
        n, d = draw.sizes(2, 3, 7)
        return requirement(model, eighths(draw, n, d), optimizer, dtype)

    for entry in (parameters, gradients, state, saved):
        yield entry("linear", eighths(draw, 4, 3), "adam", single)
    yield case(parameters, "linear", "sgd", single)
    yield case(parameters, "first layer frozen", "adam", half)
    yield case(parameters, "one weight in two layers", "sgd", double)
    yield case(parameters, "with a buffer", "momentum", single)
    yield case(gradients, "linear", "sgd", half)
    yield case(gradients, "first layer frozen", "sgd", double)
    yield case(state, "two layers", "adam", single)
    yield case(state, "linear", "momentum", half)
    yield case(state, "linear", "sgd", double)
    yield case(state, "first layer frozen", "adam", half)
    yield case(saved, "three layers", "sgd", single)
    yield case(saved, "three layers", "adam", half)
    yield case(saved, "eight times tanh", "sgd", single)
    yield case(saved, TRAIN, "sgd", double)
    yield case(saved, EVAL, "sgd", single)
    yield case(saved, "first layer frozen", "momentum", half)
    yield case(one_piece, "with squares", "sgd", double)
    yield case(one_piece, "with two views", "sgd", single)
    yield case(own, "with a buffer", "sgd", half)
    yield case(own, "one weight in two layers", "sgd", single)
    yield case(own, "second of three layers frozen", "sgd", double)
    yield case(as_it_was, "two layers", "sgd", half)
    yield case(as_it_was, "first layer frozen", "sgd", half)
    yield case(as_it_was, EVAL, "sgd", single)
