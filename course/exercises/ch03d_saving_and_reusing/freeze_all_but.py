"""`freeze_all_but`: train the head alone, and keep the rest of a module still."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, combine_probes_in_order, names_of_changed_values, snapshot_value
from autograder.exercises.probes.functions_that_take_modules import (
    changed_tensors,
    detached_copies,
    make_module_after_call_probe,
    make_sample_module_probe,
    module_state,
    named_tensors,
    rebound_tensor_names,
    requires_grad_flags,
    training_modes,
)
from autograder.exercises.probes.training_steps import fill_gradients
from autograder.exercises.seeded_draw import Draw

from .._ch03_calls import on_module


def trainable(module: nn.Module) -> int:
    """How many numbers are to learn."""
    return sum(map(torch.numel, (tensor for tensor in named_tensors(module).values() if tensor.requires_grad)))


def at_rest_now(module: nn.Module) -> set[str]:
    """The names of the frozen parts: they hold parameters or buffers, none of them trainable; with all inside."""
    parts = dict(module.named_modules())
    frozen = [name for name, part in parts.items() if named_tensors(part) and not trainable(part)]
    return {inside for name in frozen for inside in parts if not name or f"{inside}.".startswith(f"{name}.")}


def trainable_names(module: nn.Module) -> Plain:
    """The names of the parameters that are to learn, in one text: where two of them differ, all are read."""
    return ", ".join(name for name, flag in requires_grad_flags(module).items() if flag) or "none"


def training_among(module: nn.Module, names: Iterable[str]) -> Plain:
    """Which of these parts are in training mode, in one text."""
    training = [name or "the module itself" for name, mode in training_modes(module).items() if mode and name in names]
    return ", ".join(training) or "none"


def frozen_in_training(module: nn.Module) -> Plain:
    """Which frozen parts, and which inside one, are in training mode."""
    return training_among(module, at_rest_now(module))


def others_in_training(module: nn.Module) -> Plain:
    """The same of all parts that are not to be touched."""
    return training_among(module, training_modes(module).keys() - at_rest_now(module))


@make_sample_module_probe
def names_and_count(answer: Answer, module: nn.Module, pattern: str) -> Observation:
    """The names that are returned, and how many numbers are to learn."""
    return {"returned": snapshot_value(answer(module, pattern)), "trainable": trainable(module)}


@make_sample_module_probe
def statistics(answer: Answer, module: nn.Module, pattern: str, x: Tensor) -> Observation:
    """Which running statistics of frozen parts move in a training step after a call, and which of others do not."""
    module.train()
    answer(module, pattern)
    before = detached_copies(dict(module.named_buffers()))
    module(x)
    movers, frozen = changed_tensors(before, dict(module.named_buffers())), at_rest_now(module)
    of_frozen = [name for name in before if name.rpartition(".")[0] in frozen]
    return {
        "moved": [name for name in movers if name in of_frozen],
        "stood": [name for name in before if name not in (*movers, *of_frozen)],
        "trainable": trainable(module),
    }


@make_sample_module_probe
def all_else(answer: Answer, module: nn.Module, pattern: str) -> Observation:
    """What besides flags and modes is no longer as it was, and which parameters are others than before."""
    fill_gradients(module, 7.0)
    objects, before = dict(module.named_parameters()), module_state(module)
    answer(module, pattern)
    left = [what for what in names_of_changed_values(before, module_state(module)) if what not in ("flags", "mode")]
    replaced = rebound_tensor_names(objects, dict(module.named_parameters()))
    return {"left": left, "replaced": replaced, "trainable": trainable(module)}


TRAINABLE = {"trainable": "After your call, other parameters have requires_grad=True than should: this many numbers."}
FLAGS = TRAINABLE | {
    "flags": "The parameters that have requires_grad=True after your call are not those for which "
    "fnmatch.fnmatch(name, pattern) is True, with the whole name of each."
}
FROZEN = TRAINABLE | {
    "frozen": "These frozen parts, or parts inside one, are still in training mode after your call. A frozen part goes "
    "into eval mode, with all that is inside."
}
OTHERS = TRAINABLE | {
    "others": "These are the parts in training mode after your call, frozen ones not counted, and they are not the "
    "same as before it. One that holds something trainable keeps its mode, and so does one that holds no parameter "
    "and no buffer, such as a dropout alone."
}

basic = Requirement(
    "freezes the parameters that do not fit",
    make_module_after_call_probe(flags=trainable_names, trainable=trainable),
    FLAGS,
)
thawed = Requirement(
    "makes the parameters that fit trainable again",
    make_module_after_call_probe(
        first=lambda module: module.requires_grad_(False), flags=trainable_names, trainable=trainable
    ),
    FLAGS,
)
told = Requirement(
    "returns the names left trainable, in order",
    names_and_count,
    TRAINABLE
    | {
        "returned:type": "A list of names is asked for, each of them a str.",
        "returned:length": "You return other names than those of the parameters that are left trainable, or not all.",
        "returned": "You return other names than those of the parameters that are left trainable, or return them in "
        "another order than that of named_parameters(). This is the first that differs.",
    },
    given=("trainable",),
)
at_rest = Requirement(
    "puts frozen parts into eval mode, with everything inside",
    make_module_after_call_probe(frozen=frozen_in_training, trainable=trainable),
    FROZEN,
    given=("trainable",),
)
still = Requirement(
    "keeps the statistics of frozen parts still",
    statistics,
    TRAINABLE
    | {
        "moved": "In a training step after your call, statistics of a frozen part have moved.",
        "stood": "In a training step after your call, statistics of a part that is not frozen stood still: it is no "
        "longer in training mode.",
    },
    given=("trainable",),
)
calm = Requirement(
    "leaves the mode of all other parts",
    combine_probes_in_order(
        make_module_after_call_probe(others=others_in_training, trainable=trainable),
        make_module_after_call_probe(
            first=lambda module: module.eval(), others=others_in_training, trainable=trainable
        ),
    ),
    OTHERS,
    given=("trainable",),
)
untouched = Requirement(
    "changes no numbers, no .grad and no objects",
    all_else,
    TRAINABLE
    | {
        "left": "More about the module has changed than flags and modes.",
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
    yield basic("a body and a head", a, b, c, "head")  # fits no name: it is only the beginning of two
    yield thawed("a body and a head", a, b, c, "head.*")
    yield thawed("nested layers", a, b, c, "encoder.[0-9].weight")
    yield told("two linear layers", 2, 3, 1, "1.*")
    yield told("nested layers", a, b, c, "*e*.weight")
    yield told("two linear layers", a, b, c, "[!1].?eight")
    yield told("a body and a head", a, b, c, "body.1.*")
    yield at_rest("a body and a head", a, b, c, "head.*")
    yield at_rest("a body and a head", a, b, c, "nothing")
    yield at_rest("many layers", a, 11, "10.*")  # one name is the beginning of another
    yield at_rest("odd parts and a head", a, b, "head.0.*")
    yield still("a body and a head", a, b, c, "head.*", draw.normal(n, a))
    yield still("a body and a head", a, b, c, "body.1.*", draw.normal(n, a))
    yield calm("a body and a head", a, b, c, "head.*")
    yield calm("a body and a head", a, b, c, "body.0.*")
    yield calm("odd parts and a head", a, b, "head.0.*")
    yield untouched("a body and a head", a, b, c, "head.*")
