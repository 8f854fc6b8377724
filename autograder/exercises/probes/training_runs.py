"""Probes of whole training runs: from the beginning, resumed from a checkpoint, and on another device."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, catching_errors
from autograder.exercises.probes.functions_on_modules import changed_tensors
from autograder.exercises.probes.random_results import fixed_seed
from autograder.exercises.probes.training_steps import at_each_call, at_each_step
from autograder.exercises.type_slips import are_rounded

_FIRST, _OTHER = 11, 12  # seeds of first weights


class TrainingScenario(ABC):
    """One training run that a case describes. An exercise subclasses it: how to call the answer, what to record.

    `epochs` is the number of epochs, and `stop` the number after which a run that is resumed is stopped.
    """

    model: nn.Module
    optimizer: torch.optim.Optimizer
    stop: int
    epochs: int

    @abstractmethod
    def __init__(self, case: Case, seed: int, device: str = "cpu") -> None:
        """Build the model, data and optimizer that the case names, with initial weights from `seed`, on `device`."""

    @abstractmethod
    def train(self, answer: Answer, epochs: int, *checkpoint: Any) -> Any:
        """Call the answer, perhaps with a checkpoint to resume from; return the checkpoint that it returns."""

    def train_on(self, answer: Answer) -> None:
        """Train for one more epoch, without a checkpoint."""
        self.train(answer, 1)

    @abstractmethod
    def told(self, checkpoint: Any) -> Observation:
        """Return what to record of a checkpoint: `losses`, and perhaps more."""

    def places(self, x: Tensor) -> list[int] | None:
        """Return the index in the training data of each row of a model's input; None if that is not recorded."""
        return None

    @abstractmethod
    def left(self) -> Observation:
        """Return what to record of the model after the training."""


def observe_training(run_of: type[TrainingScenario], *kept: str) -> Probe:
    """One training from the beginning.

    Facets: what the run tells and leaves, `modes` (of all modules, in each call of the model: train or eval),
    `tracked` (whether a call in eval mode recorded a graph) and `batches` (the places of what came to the model
    with a graph before each step of the optimizer, where the run tells them; another facet tells of modes).
    """

    def look(answer: Answer, case: Case) -> Observation:
        run = run_of(case, _FIRST)
        calls = at_each_call(run.model, lambda _, output: (_modes(run.model), _tracked(run.model, output)))
        batches = _batches(run)
        with fixed_seed(5):
            checkpoint = run.train(answer, run.epochs)
        modes, tracked = zip(*calls, strict=True) if calls else ((), ())
        seen = {"modes": sorted(set(modes)), "tracked": any(tracked)}
        return batches | seen | run.left() | run.told(checkpoint)

    return catching_errors(look, *kept)


def _batches(run: TrainingScenario) -> Observation:
    """Record, from now on, the indices of the rows in graph-building calls of the model before each step, as texts."""
    batches: list[str] = []
    since: list[int] = []

    def learns(inputs: tuple[Any, ...], output: Tensor) -> None:
        if output.requires_grad and inputs:
            since.extend(run.places(inputs[0]) or [])

    def steps() -> None:
        batches.append(", ".join(map(str, since)))
        since.clear()

    if run.places(torch.zeros(0)) is None:
        return {}
    at_each_call(run.model, learns)
    at_each_step(run.optimizer, steps)
    return {"batches": batches}


def _modes(model: nn.Module) -> str:
    return " and ".join(sorted({"train" if module.training else "eval" for module in model.modules()}))


def _tracked(model: nn.Module, output: Tensor) -> bool:
    return not model.training and output.requires_grad


# --- stopped, and gone on with


def observe_resumed_training(run_of: type[TrainingScenario], *, saved: bool = False, reused: bool = False) -> Probe:
    """A training that is stopped and gone on with, by a new model, beside one that is not stopped.

    `saved` sends the checkpoint through torch.save and torch.load; `reused` trains on before that, without the
    checkpoint and then with it. Facets: `same` (the weights, and what is told, equal those of the whole training, bit
    for bit), `losses` at the end, whether they are `rounded`, `batches` of what was gone on with, as in `trained`, and
    what the run leaves.
    """

    def look(answer: Answer, case: Case) -> Observation:
        with fixed_seed(5):
            whole = run_of(case, _FIRST)
            expected = whole.told(whole.train(answer, whole.epochs))
        with fixed_seed(5):
            checkpoint = _checkpoint(answer, run_of(case, _FIRST), reused)
            torch.default_generator.manual_seed(6)
            second = run_of(case, _OTHER)
            batches = _batches(second)
            got = second.told(second.train(answer, second.epochs, _through_a_file(checkpoint) if saved else checkpoint))
        same = {"weights": not changed_tensors(whole.model.state_dict(), second.model.state_dict())}
        same |= {name: expected[name] == got[name] for name in got}
        seen = {"same": same, "rounded": are_rounded(got["losses"]), "losses": got["losses"]}
        return seen | batches | second.left()

    return catching_errors(look)


def _checkpoint(answer: Answer, run: TrainingScenario, reused: bool) -> Any:
    checkpoint = run.train(answer, run.stop)
    if reused:
        run.train_on(answer)
        run.train(answer, run.epochs + 1, checkpoint)
    return checkpoint


def _through_a_file(checkpoint: Any) -> Any:
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    return torch.load(file)


# --- another device


class _Zeros(TorchDispatchMode):
    """A dispatch mode in which values read or copied from the meta device are zeros; usually that raises an error."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return zeros for reading one number and for copying to the CPU; run any other operation."""
        options = kwargs or {}
        if func is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return torch.zeros((), dtype=args[0].dtype).item()
        if func is torch.ops.aten._to_copy.default and args[0].is_meta and _is_cpu(options.get("device")):
            return torch.zeros(args[0].shape, dtype=options.get("dtype") or args[0].dtype)
        with self:  # in inference mode, an operation made of others arrives whole: take it apart
            taken_apart = func.decompose(*args, **options)
        return func(*args, **options) if taken_apart is NotImplemented else taken_apart


def _is_cpu(device: torch.device | None) -> bool:
    return device is not None and device.type == "cpu"


def trained_on_meta(run_of: type[TrainingScenario]) -> Probe:
    """One training of a model on the meta device, from data on the CPU.

    Facets: `places` (where the model's inputs were) and `steps` (how many the optimizer took).
    """

    def look(answer: Answer, case: Case) -> Observation:
        run = run_of(case, _FIRST, "meta")
        places = at_each_call(run.model, lambda inputs, _: inputs[0].device.type)
        steps = at_each_step(run.optimizer)
        with _Zeros(), fixed_seed(5):  # type: ignore[no-untyped-call]
            run.train(answer, run.epochs)
        return {"places": sorted(set(places)), "steps": len(steps)}

    return catching_errors(look)
