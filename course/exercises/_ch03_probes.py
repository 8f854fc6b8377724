"""What the probes of chapter 3 share: a module made by an answer, its state and hooks, known chance; and a rule."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as registry

from autograder.watching.difference import Tolerance, first_difference
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain, Seen
from autograder.watching.probe import attempt, see, values
from autograder.watching.rules import Rule

Answer = Callable[..., Any]
Look = Callable[[Answer, Case], Observation]
SEED = 20_031  # of the global generator, in a probe: what is drawn by chance repeats itself


def watched(look: Look) -> Probe:
    """A probe: what enters student code runs under a known state of the global generator, and may raise."""

    def probe(answer: Answer, case: Case) -> Observation:
        with known_chance():
            return attempt(lambda: look(answer, case))

    return probe


@contextmanager
def known_chance() -> Iterator[None]:
    """Seed the global generator, and put it back afterwards."""
    before = torch.get_rng_state()
    reseed()
    try:
        yield
    finally:
        torch.set_rng_state(before)


def reseed(step: int = 0) -> None:
    """Seed the global generator of the CPU."""
    torch.default_generator.manual_seed(SEED + step)


def make(answer: Answer, *args: Any, **kwargs: Any) -> Any:
    """Call an answer that is to be a class of modules."""
    made = answer(*args, **kwargs)
    if not isinstance(made, nn.Module):
        raise TypeError(f"expected an nn.Module, found {type(made).__name__}")
    return made


def outline(result: object) -> Plain:
    """Shape, dtype and tracking of a result, without its numbers."""
    seen = see(result)
    return replace(seen, values=None) if isinstance(seen, Seen) else seen


def shapes(named: Any) -> dict[str, Plain]:
    """Names and shapes, of what `named_parameters()` or `state_dict().items()` gives."""
    return {name: tuple(tensor.shape) for name, tensor in named}


def weighted(result: Tensor) -> Tensor:
    """One number in which each entry of a result counts with another weight."""
    weights = torch.arange(1, result.numel() + 1, dtype=result.dtype).reshape(result.shape)
    return (weights * result).sum()


def grad_of(tensor: Tensor) -> Tensor | None:
    """The `.grad` of a tensor, without the warning that torch gives where it is no leaf."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tensor.grad


# --- the state of a module


def state(module: nn.Module) -> dict[str, Plain]:
    """All that a function could leave behind on a module: tensors, flags, modes, hooks, attributes."""
    held = [*module.named_parameters(), *module.named_buffers()]
    return {
        "values": {name: values(tensor) for name, tensor in held},
        "flags": {name: tensor.requires_grad for name, tensor in held},
        ".grad": {name: see(tensor.grad) for name, tensor in held},
        "mode": modes(module),
        "hooks": hooks(module),
        "attributes": {name: sorted(vars(part)) for name, part in module.named_modules()},
    }


def modes(module: nn.Module) -> dict[str, bool]:
    """For each module, by name, whether it is in training mode."""
    return {name: part.training for name, part in module.named_modules()}


def hooks(module: nn.Module) -> int:
    """The number of hooks on a module, its submodules, and all modules together."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    own = sum(len(getattr(part, kind)) for part in module.modules() for kind in kinds)
    return own + sum(len(getattr(registry, f"_global{kind}")) for kind in kinds)


def left_on(before: dict[str, Plain], module: nn.Module) -> list[str]:
    """What about a module is no longer as it was."""
    after, exact = state(module), Tolerance(0.0, 0.0)
    return [what for what in before if first_difference(before[what], after[what], exact) is not None]


# --- a rule


def ready_made(*names: str, requirement: str, sentence: str) -> Rule:
    """A rule that forbids to take some names from torch; an own class or an attribute of self may have them."""

    def breaks(tree: ast.AST) -> bool:
        nodes = list(ast.walk(tree))
        taken = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
        taken |= {node.attr for node in nodes if isinstance(node, ast.Attribute) and not _on_self(node)}
        return bool(set(names) & taken)

    return Rule(f"ready_made_{names[0]}", requirement, sentence, breaks)


def _on_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id == "self"
