"""`freeze_all_but`: train the head alone, and keep the rest of a module still."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import Answer, changed, in_turn, see
from autograder.watching.probes.given_modules import (
    copies,
    flags,
    makes,
    modes,
    moved,
    on_sample,
    replaced_in,
    state,
    tensors,
)

from ._calls import on_module


def trainable(module: nn.Module) -> int:
    """How many numbers are to learn."""
    return sum(map(torch.numel, (tensor for tensor in tensors(module).values() if tensor.requires_grad)))


def at_rest_now(module: nn.Module) -> set[str]:
    """The names of the frozen parts: they hold parameters or buffers, none of them trainable; with all inside."""
    parts = dict(module.named_modules())
    frozen = [name for name, part in parts.items() if tensors(part) and not trainable(part)]
    return {inside for name in frozen for inside in parts if not name or f"{inside}.".startswith(f"{name}.")}


def modes_of_frozen(module: nn.Module) -> dict[str, Plain]:
    """For each frozen part, and each inside one, whether it is in training mode."""
    return {name: mode for name, mode in modes(module).items() if name in at_rest_now(module)}


def modes_of_others(module: nn.Module) -> dict[str, Plain]:
    """The same for all parts that are not to be touched."""
    return {name: mode for name, mode in modes(module).items() if name not in at_rest_now(module)}


@on_sample
def names_and_count(answer: Answer, module: nn.Module, pattern: str) -> Observation:
    """The names that are returned, and how many numbers are to learn."""
    return {"returned": see(answer(module, pattern)), "trainable": trainable(module)}


@on_sample
def statistics(answer: Answer, module: nn.Module, pattern: str, x: Tensor) -> Observation:
    """Which running statistics move in a training step after a call."""
    module.train()
    answer(module, pattern)
    before = copies(dict(module.named_buffers()))
    module(x)
    return {"moved": moved(before, dict(module.named_buffers())), "trainable": trainable(module)}


@on_sample
def all_else(answer: Answer, module: nn.Module, pattern: str) -> Observation:
    """What besides flags and modes is no longer as it was, and which parameters are others than before."""
    for param in module.parameters():
        param.grad = torch.full_like(param, 7.0)
    objects, before = dict(module.named_parameters()), state(module)
    answer(module, pattern)
    left = [what for what in changed(before, state(module)) if what not in ("flags", "mode")]
    replaced = replaced_in(objects, dict(module.named_parameters()))
    return {"left": left, "replaced": replaced, "trainable": trainable(module)}


FLAGS = {
    "flags": "The requires_grad of some parameter is not what fnmatch.fnmatch(name, pattern) says of its whole name.",
    "trainable": "The number of weights left to learn is not what the pattern says: look at requires_grad.",
}
FROZEN = {
    "frozen": "Some frozen part is in another mode than it should be (True: training). It goes into eval mode, with "
    "all that is inside."
}
OTHERS = {
    "others": "Some part is no longer in the mode that it was in (True: training). One that holds something trainable "
    "keeps its mode, and so does one that holds no parameter and no buffer, such as a dropout alone."
}

basic = Requirement("freezes the parameters that do not fit", makes(flags=flags, trainable=trainable), FLAGS)
thawed = Requirement(
    "makes the parameters that fit trainable again",
    makes(first=lambda module: module.requires_grad_(False), flags=flags, trainable=trainable),
    FLAGS,
)
told = Requirement(
    "returns the names left trainable, in order",
    names_and_count,
    {"returned": "You do not return the names that fit, and these alone, in the order of named_parameters()."},
    given=("trainable",),
)
at_rest = Requirement(
    "puts frozen parts into eval mode, with everything inside",
    makes(frozen=modes_of_frozen, trainable=trainable),
    FROZEN,
    given=("trainable",),
)
still = Requirement(
    "keeps the statistics of frozen parts still",
    statistics,
    {"moved": "In a training step, the statistics of a frozen part have moved."},
    given=("trainable",),
)
calm = Requirement(
    "leaves the mode of all other parts",
    in_turn(
        makes(others=modes_of_others, trainable=trainable),
        makes(first=lambda module: module.eval(), others=modes_of_others, trainable=trainable),
    ),
    OTHERS,
    given=("trainable",),
)
untouched = Requirement(
    "changes no numbers, no .grad and no objects",
    all_else,
    {
        "left": "Something about the module has changed that should not.",
        "replaced": "A parameter is another object than before.",
    },
    given=("trainable",),
)


def spelled(name: str, case: Case) -> str:
    """The input of a later step of training is no part of the call."""
    return on_module(name, Case("", *(arg for arg in case.args if not isinstance(arg, Tensor))))


@exercise(
    tier="core",
    hints=(
        "`requires_grad` is a flag of each parameter, not of the module. `fnmatch.fnmatch(name, pattern)` decides.",
        "A batch norm in training mode moves its statistics, whatever its flags say: who has to go into eval mode?",
        "For each of `modules()`: it holds parameters or buffers, but nothing trainable? Then call its `eval()`.",
    ),
    spelled=spelled,
)
def freeze_all_but(draw: Draw) -> Iterator[Case]:
    """Train the head alone."""
    a, b, c, n = draw.sizes(4, 2, 40)
    yield basic("a body and a head", a, b, c, "head.weight")
    yield basic("a body and a head", a, b, c, "head.*")
    yield basic("two layers", a, b, c, "*.bias")
    yield thawed("a body and a head", a, b, c, "head.*")
    yield thawed("nested layers", a, b, c, "encoder.[0-9].weight")
    yield told("two linear layers", 2, 3, 1, "1.*")
    yield told("nested layers", a, b, c, "*e*.weight")
    yield told("a body and a head", a, b, c, "body.1.*")
    yield at_rest("a body and a head", a, b, c, "head.*")
    yield at_rest("a body and a head", a, b, c, "nothing")
    yield still("a body and a head", a, b, c, "head.*", draw.normal(n, a))
    yield still("a body and a head", a, b, c, "body.1.*", draw.normal(n, a))
    yield calm("a body and a head", a, b, c, "head.*")
    yield calm("a body and a head", a, b, c, "body.0.*")
    yield untouched("a body and a head", a, b, c, "head.*")
