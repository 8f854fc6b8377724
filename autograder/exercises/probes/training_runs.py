"""Probes of whole training runs: from the start, resumed from a checkpoint, and on another device."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions
from autograder.exercises.probes.functions_that_take_modules import changed_tensors
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_steps import record_after_each_step, record_at_each_call
from autograder.exercises.representation_mismatch import are_rounded

_FIRST, _OTHER = 11, 12  # seeds of the initial weights: of the first model, and of the one that resumes


class TrainingScenario(ABC):
    """One training run that a case describes; an exercise subclasses it.

    The subclass defines how to call the answer, and what to record. `epochs` is the number of epochs of a whole run,
    and `stop` the number after which a resumed run was stopped.
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
        """Call the answer, with a checkpoint if the run is resumed, and return its new checkpoint."""

    def train_one_more_epoch(self, answer: Answer) -> None:
        """Train for one more epoch, without a checkpoint."""
        self.train(answer, 1)

    @abstractmethod
    def checkpoint_facts(self, checkpoint: Any) -> Observation:
        """Return the facts to record about a checkpoint: `losses`, and perhaps others."""

    def training_row_indices(self, x: Tensor) -> list[int] | None:
        """Return the index in the training data of each row of a model's input; None to record none."""
        return None

    @abstractmethod
    def facts_after_training(self) -> Observation:
        """Return the facts to record about the model after the training."""


def make_training_run_probe(run_of: type[TrainingScenario], *kept: str) -> Probe:
    """Make a probe of one training run from the start.

    Facets: the scenario's `facts_after_training` and `checkpoint_facts`; `modes` (for each call of the model, whether
    its modules are in train or eval mode); `tracked` (whether a call in eval mode recorded a graph); `batches` (for
    each optimizer step, the training rows of the model calls before it that recorded a graph, if the scenario gives
    `training_row_indices`). `batches` ignores modes, because `modes` records them.
    """

    def look(answer: Answer, case: Case) -> Observation:
        run = run_of(case, _FIRST)
        calls = record_at_each_call(run.model, lambda _, output: (_modes(run.model), _tracked(run.model, output)))
        batches = _batches(run)
        with temporarily_seeded(5):
            checkpoint = run.train(answer, run.epochs)
        modes, tracked = zip(*calls, strict=True) if calls else ((), ())
        seen = {"modes": sorted(set(modes)), "tracked": any(tracked)}
        return batches | seen | run.facts_after_training() | run.checkpoint_facts(checkpoint)

    return make_probe_recording_exceptions(look, *kept)


def _batches(run: TrainingScenario) -> Observation:
    """Record the training rows that the model learns from before each optimizer step, as texts.

    Only calls that record a graph count. Return the growing list as the facet `batches`, or nothing if the scenario
    gives no places.
    """
    batches: list[str] = []
    since: list[int] = []

    def learns(inputs: tuple[Any, ...], output: Tensor) -> None:
        if output.requires_grad and inputs:
            since.extend(run.training_row_indices(inputs[0]) or [])

    def steps() -> None:
        batches.append(", ".join(map(str, since)))
        since.clear()

    if run.training_row_indices(torch.zeros(0)) is None:
        return {}
    record_at_each_call(run.model, learns)
    record_after_each_step(run.optimizer, steps)
    return {"batches": batches}


def _modes(model: nn.Module) -> str:
    return " and ".join(sorted({"train" if module.training else "eval" for module in model.modules()}))


def _tracked(model: nn.Module, output: Tensor) -> bool:
    return not model.training and output.requires_grad


# --- stopped and resumed


def make_resumed_training_probe(
    run_of: type[TrainingScenario], *, saved: bool = False, reused: bool = False, by_itself: bool = False
) -> Probe:
    """Make a probe that compares a stopped and resumed training run with an uninterrupted one.

    A new model with other initial weights resumes the run, or the first one if `by_itself`. With `saved`, the
    checkpoint goes through torch.save and torch.load. With `reused`, the first model trains on before that, once
    without the checkpoint and once with it, which must not change the checkpoint. Facets: `same` (for the weights and
    for each of the `checkpoint_facts`, whether both runs agree bit for bit), `losses` at the end, whether they are
    `rounded`, `batches` of the resumed part (see `make_training_run_probe`), and the scenario's `facts_after_training`.
    """

    def look(answer: Answer, case: Case) -> Observation:
        with temporarily_seeded(5):
            whole = run_of(case, _FIRST)
            expected = whole.checkpoint_facts(whole.train(answer, whole.epochs))
        with temporarily_seeded(5):
            first = run_of(case, _FIRST)
            checkpoint = _checkpoint(answer, first, reused)
            torch.default_generator.manual_seed(6)
            second = first if by_itself else run_of(case, _OTHER)
            batches = _batches(second)
            got = second.checkpoint_facts(
                second.train(answer, second.epochs, _through_a_file(checkpoint) if saved else checkpoint)
            )
        same = {"weights": not changed_tensors(whole.model.state_dict(), second.model.state_dict())}
        same |= {name: expected[name] == got[name] for name in got}
        seen = {"same": same, "rounded": are_rounded(got["losses"]), "losses": got["losses"]}
        return seen | batches | second.facts_after_training()

    return make_probe_recording_exceptions(look)


def _checkpoint(answer: Answer, run: TrainingScenario, reused: bool) -> Any:
    checkpoint = run.train(answer, run.stop)
    if reused:
        run.train_one_more_epoch(answer)
        run.train(answer, run.epochs + 1, checkpoint)
    return checkpoint


def _through_a_file(checkpoint: Any) -> Any:
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    return torch.load(file)


# --- another device


class _Zeros(TorchDispatchMode):
    """A dispatch mode that returns zeros for values read or copied from the meta device, where torch would raise."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Return zeros for reading one number and for copying to the CPU; run any other operation."""
        options = kwargs or {}
        if func is torch.ops.aten._local_scalar_dense.default and args[0].is_meta:
            return torch.zeros((), dtype=args[0].dtype).item()
        if func is torch.ops.aten._to_copy.default and args[0].is_meta and _is_cpu(options.get("device")):
            return torch.zeros(args[0].shape, dtype=options.get("dtype") or args[0].dtype)
        with self:  # inference mode does not decompose composite operations
            taken_apart = func.decompose(*args, **options)
        return func(*args, **options) if taken_apart is NotImplemented else taken_apart


def _is_cpu(device: torch.device | None) -> bool:
    return device is not None and device.type == "cpu"


def make_meta_device_training_probe(run_of: type[TrainingScenario]) -> Probe:
    """Make a probe of one training run of a model on the meta device, with data on the CPU.

    Facets: `places` (the device types of the model's inputs) and `steps` (the number of optimizer steps).
    """

    def look(answer: Answer, case: Case) -> Observation:
        run = run_of(case, _FIRST, "meta")
        places = record_at_each_call(run.model, lambda inputs, _: inputs[0].device.type)
        steps = record_after_each_step(run.optimizer)
        with _Zeros(), temporarily_seeded(5):  # type: ignore[no-untyped-call]
            run.train(answer, run.epochs)
        return {"places": sorted(set(places)), "steps": len(steps)}

    return make_probe_recording_exceptions(look)
