"""The probes of `train`: one whole training, one that is stopped and gone on with, one on another device."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation
from autograder.watching.probe import attempt, see

from ._ch06_models import OPTIMIZERS, Answer, make_images, model_of, outputs_of, random_from


class _Run:
    """A model, its optimizer and its images, as a case names them."""

    def __init__(self, case: Case, first_weights: int, device: str = "cpu") -> None:
        name, optimizer = case.args
        given = dict(case.kwargs)
        images, drawn = given.pop("images"), given.pop("drawn")
        self.epochs = given.pop("epochs")
        self.model = model_of(name, first_weights).to(device)
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())
        self.sets = make_images(images, drawn), make_images(7, drawn + 1)
        self.options = given

    def train(self, answer: Answer, epochs: int, checkpoint: Any = None) -> Any:
        """Call the answer; None is a checkpoint that is left out."""
        rest = {} if checkpoint is None else {"checkpoint": checkpoint}
        return answer(self.model, self.optimizer, *self.sets, epochs, **self.options, **rest)


def trained(*kept: str) -> Probe:
    """One training from the beginning.

    Facets: `outputs` (what the model says in the end), `losses`, `accuracies`, `modes` (of all modules, in each call of
    the model: train or eval) and `tracked` (whether a call in eval mode recorded a graph).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        run = _Run(case, 11)
        watch = _Watch(run.model)
        with random_from(5):
            checkpoint = run.train(answer, run.epochs)
        seen: Observation = {"modes": sorted(watch.modes), "tracked": watch.tracked, "outputs": outputs_of(run.model)}
        seen |= _history(checkpoint)
        return {facet: seen[facet] for facet in kept}

    return probe


class _Watch:
    """Notes the modes in which a model is called, and whether a call in eval mode is tracked."""

    def __init__(self, model: nn.Module) -> None:
        self.modes: set[str] = set()
        self.tracked = False
        model.register_forward_hook(self._note)

    def _note(self, model: nn.Module, _: Any, output: Tensor) -> None:
        modes = {"train" if module.training else "eval" for module in model.modules()}
        self.modes.add(" and ".join(sorted(modes)))
        self.tracked |= not model.training and output.requires_grad


def _history(checkpoint: Any) -> Observation:
    known = checkpoint if isinstance(checkpoint, dict) else {}
    return {name: see(known.get(name)) for name in ("losses", "accuracies")}


# --- stopped, and gone on with


def resumed(saved: bool = False, reused: bool = False) -> Probe:
    """A training that is stopped and gone on with, by a new model, beside one that is not stopped.

    `saved` sends the checkpoint through torch.save and torch.load; `reused` trains on before that. Facets:
    `same` (weights, losses and accuracies equal the whole training's, bit for bit), `losses` and `outputs` at the end.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        stop, epochs = _Run(case, 11).epochs
        with random_from(5):
            whole = _Run(case, 11)
            expected = _history(whole.train(answer, epochs))
        with random_from(5):
            second, got = _in_two_parts(answer, case, stop, epochs, _between(saved, reused))
        same = {"weights": _equal(whole.model, second.model)} | {name: expected[name] == got[name] for name in got}
        return {"same": same, "losses": got["losses"], "outputs": outputs_of(second.model)}

    return probe


Between = Callable[[Answer, _Run, Any, int], Any]


def _in_two_parts(answer: Answer, case: Case, stop: int, epochs: int, between: Between) -> tuple[_Run, Observation]:
    first = _Run(case, 11)
    checkpoint = between(answer, first, first.train(answer, stop), epochs)
    torch.default_generator.manual_seed(6)
    second = _Run(case, 12)
    return second, _history(second.train(answer, epochs, checkpoint))


def _between(saved: bool, reused: bool) -> Between:
    """What happens to the checkpoint before it is gone on with."""

    def change(answer: Answer, run: _Run, checkpoint: Any, epochs: int) -> Any:
        if reused:
            run.train(answer, 1)  # the model and the optimizer train on, and then they do so from the checkpoint
            run.train(answer, epochs + 1, checkpoint)
        return _through_a_file(checkpoint) if saved else checkpoint

    return change


def _through_a_file(checkpoint: Any) -> Any:
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    return torch.load(file)


def _equal(one: nn.Module, other: nn.Module) -> bool:
    pairs = zip(one.state_dict().values(), other.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


# --- another device


class _Zeros(TorchDispatchMode):
    """Lets the meta device, which computes nothing, give zeros to whoever brings its tensors back to the CPU."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Called for each operation: reading one number, and copying, are answered here."""
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


def elsewhere(answer: Answer, case: Case) -> Observation:
    """One training of a model on the meta device, from images on the CPU: where its inputs were, and its steps."""

    def look() -> Observation:
        run = _Run(case, 11, device="meta")
        places: set[str] = set()
        steps: list[None] = []
        run.model.register_forward_pre_hook(lambda _, args: places.add(args[0].device.type))
        run.optimizer.register_step_post_hook(lambda *_: steps.append(None))
        with _Zeros(), random_from(5):  # type: ignore[no-untyped-call]
            run.train(answer, run.epochs)
        return {"places": sorted(places), "steps": len(steps)}

    return attempt(look)
