"""The probes of chapter 3's functions on modules: what they return, and what they leave behind on the module."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import copy_of, see

from ._ch03_probes import Answer, hooks, left_on, modes, state, watched
from ._ch03_zoo import Note, Spy, build

# --- count_params


@watched
def counted(answer: Answer, case: Case) -> Observation:
    """The number that is returned."""
    (name, *sizes), kwargs = case.args, case.kwargs
    return {"returned": see(answer(build(name, *sizes), **kwargs))}


@watched
def counting_leaves(answer: Answer, case: Case) -> Observation:
    """What about the module is no longer as it was after two calls."""
    module = build(*case.args)
    before = state(module)
    answer(module)
    return {"left": left_on(before, module), "again": see(answer(module, **case.kwargs))}


# --- call_counts


def _called(answer: Answer, case: Case) -> tuple[nn.Module, Tensor]:
    *named, x = copy_of(case.args)
    return build(*named), x


def _counts(result: object) -> Plain:
    return dict(sorted(result.items())) if isinstance(result, dict) else see(result)


@watched
def calls_counted(answer: Answer, case: Case) -> Observation:
    """The counts by name."""
    return {"returned": _counts(answer(*_called(answer, case)))}


@watched
def called_once(answer: Answer, case: Case) -> Observation:
    """How often the module's own hooks ran, and how often a layer in it did."""
    module, x = _called(answer, case)
    ran: list[str] = []
    module.register_forward_hook(lambda *_: ran.append("module"))
    assert isinstance(module, nn.Sequential)
    module.append(Spy(lambda _: ran.append("layer")))
    answer(module, x)
    return {"ran": ran}


@watched
def hooks_gone(answer: Answer, case: Case) -> Observation:
    """What the function leaves behind, the hooks of others included; and the counts after another call."""
    module, x = _called(answer, case)
    next(module.children()).register_forward_hook(lambda *_: None)
    module.register_forward_pre_hook(lambda *_: None)
    before = state(module)
    result = answer(module, x)
    seen: Observation = {"left": left_on(before, module), "hooks": hooks(module)}
    module(x)
    return seen | {"afterwards": _counts(result)}


@watched
def hooks_gone_after_error(answer: Answer, case: Case) -> Observation:
    """Whether the error of a layer goes on, and what is left behind then."""
    module, x = _called(answer, case)
    before = state(module)
    seen = "nothing"
    try:
        answer(module, x)
    except ValueError as error:
        seen = type(error).__name__
    return {"error": seen, "left": left_on(before, module)}


# --- freeze_all_but


def _to_freeze(case: Case) -> tuple[nn.Module, str]:
    *named, pattern = case.args
    return build(*named), pattern


def _flags(module: nn.Module) -> dict[str, bool]:
    return {name: p.requires_grad for name, p in module.named_parameters()}


@watched
def frozen(answer: Answer, case: Case) -> Observation:
    """The flag of each parameter afterwards."""
    module, pattern = _to_freeze(case)
    answer(module, pattern)
    return {"flags": _flags(module)}


@watched
def thawed(answer: Answer, case: Case) -> Observation:
    """The flags afterwards, where all parameters were frozen before."""
    module, pattern = _to_freeze(case)
    module.requires_grad_(False)
    answer(module, pattern)
    return {"flags": _flags(module)}


@watched
def names_told(answer: Answer, case: Case) -> Observation:
    """The names that are returned."""
    return {"returned": see(answer(*_to_freeze(case)))}


@watched
def at_rest(answer: Answer, case: Case) -> Observation:
    """Which modules that hold something frozen, and nothing else, are still in training mode; and the others' mode."""
    module, pattern = _to_freeze(case)
    answer(module, pattern)
    return {"modes": modes(module)}


@watched
def statistics_still(answer: Answer, case: Case) -> Observation:
    """Which running statistics move in a training step after a call."""
    *named, pattern, x = copy_of(case.args)
    module = build(*named)
    module.train()
    answer(module, pattern)
    before = {name: buffer.clone() for name, buffer in module.named_buffers()}
    module(x)
    return {"moved": [name for name, buffer in module.named_buffers() if not torch.equal(before[name], buffer)]}


@watched
def calm_stays(answer: Answer, case: Case) -> Observation:
    """The modes afterwards, where the module was in eval mode before."""
    module, pattern = _to_freeze(case)
    module.eval()
    answer(module, pattern)
    return {"modes": modes(module)}


@watched
def freezing_leaves(answer: Answer, case: Case) -> Observation:
    """What besides flags and modes is no longer as it was, and which parameters are others than before."""
    module, pattern = _to_freeze(case)
    for param in module.parameters():
        param.grad = torch.full_like(param, 7.0)
    objects, before = dict(module.named_parameters()), state(module)
    answer(module, pattern)
    now = dict(module.named_parameters())
    left = [what for what in left_on(before, module) if what not in ("flags", "mode")]
    return {"left": left, "replaced": [name for name in objects if now.get(name) is not objects[name]]}


# --- shape_trace


def _traced(case: Case, *notes: Note) -> tuple[nn.Module, tuple[int, ...]]:
    """A module with a spy behind it for each note, and the shape of its input."""
    *named, shape = case.args
    module = build(*named)
    return (nn.Sequential(module, *map(Spy, notes)) if notes else module), tuple(shape)


def _pairs(result: object) -> Plain:
    """A list of pairs; lists, tuples and sizes count alike."""
    if isinstance(result, list | tuple):
        return [_pairs(item) for item in result]
    return see(result)


@watched
def traced(answer: Answer, case: Case) -> Observation:
    """The names and shapes."""
    return {"returned": _pairs(answer(*_traced(case)))}


@watched
def traced_on(answer: Answer, case: Case) -> Observation:
    """The device and dtype of what a layer meets, each time it runs."""
    met: list[str] = []
    module, shape = _traced(case, lambda x: met.append(f"{x.dtype} on {x.device.type}"))
    result = answer(module, shape)
    return {"met": met, "returned": _pairs(result)}


@watched
def tracing_leaves(answer: Answer, case: Case) -> Observation:
    """What about the module is no longer as it was, where some of it is in eval mode; and a second result."""
    module, shape = _traced(case)
    next(module.children()).eval()
    before = state(module)
    answer(module, shape)
    return {"left": left_on(before, module), "again": _pairs(answer(module, shape))}
