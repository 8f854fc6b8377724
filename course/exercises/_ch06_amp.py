"""The probe of `train_amp`: one epoch of groups of batches, in mixed precision or without."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from autograder.watching.difference import Difference, Tolerance, first_difference
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain, dtype_name
from autograder.watching.probe import attempt, see
from autograder.watching.rules import Rule

from ._ch06_models import OPTIMIZERS, Answer, make_images, model_of, outputs_of, random_from

CLOSE = 0.01  # how far a loss in bfloat16 may be from the one in float32, as a part of it
_BFLOAT16 = Tolerance(relative=0.0, absolute=0.01)

_DEVICES = {"cpu", "cuda", "mps", "xpu"}

names_no_device = Rule(
    "names_no_device",
    "names no device",
    "Your code names a device, and so belongs to that one. The images know where they are: `x.device.type`.",
    lambda tree: any(isinstance(node, ast.Constant) and node.value in _DEVICES for node in ast.walk(tree)),
)


class _Scaler(torch.amp.GradScaler):
    """A loss scaler that notes the dtypes of the losses it is given."""

    def __init__(self, factor: float) -> None:
        super().__init__("cpu", init_scale=factor)
        self.dtypes: set[str] = set()

    def scale(self, outputs: Any) -> Any:
        """Multiply by the factor, and note the dtype."""
        self.dtypes.add(dtype_name(outputs.dtype))
        return super().scale(outputs)


class _Epoch:
    """A model, its optimizer, a scaler and batches, as a case names them; and what is noted of them."""

    def __init__(self, case: Case) -> None:
        name, optimizer = case.args
        given = dict(case.kwargs)
        sizes, drawn, factor = given.pop("sizes"), given.pop("drawn"), given.pop("factor")
        self.broken, self.old = given.pop("broken", None), given.pop("old", False)
        self.options = given
        self.model = model_of(name, dtype=torch.float32).eval()
        self.optimizer = OPTIMIZERS[optimizer](self.model.parameters())
        self.scaler = _Scaler(factor)
        self.batches = _batches(sizes, drawn, self.broken)
        self.notes: dict[str, set[str]] = {"forward": set(), "backward": set(), "step": set()}
        self.steps = 0

    def run(self, answer: Answer, **changed: Any) -> Any:
        """Call the answer, under watch."""
        if self.old:
            _give_gradients(self.model)
        self._watch()
        with random_from(5), _autocast_from(torch.float16):
            return answer(self.model, self.optimizer, self.scaler, self.batches, **self.options | changed)

    def _watch(self) -> None:
        self.model.register_forward_hook(lambda *_: self._note("forward"))
        for param in self.model.parameters():
            param.register_hook(lambda _: self._note("backward"))
        self.optimizer.register_step_post_hook(lambda *_: self._count())

    def _note(self, what: str) -> None:
        self.notes[what].add(_precision())

    def _count(self) -> None:
        self._note("step")
        self.steps += 1


@contextmanager
def _autocast_from(dtype: torch.dtype) -> Iterator[None]:
    """Give autocast on the CPU this dtype to lower to if it is told none: float16 is what a GPU has."""
    before = torch.get_autocast_dtype("cpu")
    torch.set_autocast_dtype("cpu", dtype)
    try:
        yield
    finally:
        torch.set_autocast_dtype("cpu", before)


def _precision() -> str:
    if not torch.is_autocast_enabled("cpu"):
        return "no autocast"
    return f"autocast to {dtype_name(torch.get_autocast_dtype('cpu'))}"


def _batches(sizes: list[int], drawn: int, broken: int | None) -> list[tuple[Tensor, Tensor]]:
    """Batches of these sizes; in the broken one, a pixel is infinite."""
    images, labels = make_images(sum(sizes), drawn, torch.float32)
    batches = list(zip(images.split(sizes), labels.split(sizes), strict=True))
    if broken is not None:
        batches[broken][0][0, 0, 4, 4] = float("inf")
    return batches


def _give_gradients(model: nn.Module) -> None:
    for param in model.parameters():
        param.grad = torch.full_like(param, 3.0)


def epoch(*kept: str) -> Probe:
    """One call of `train_amp` on a model that stands in eval mode.

    Facets: `outputs` (what the model says afterwards), `losses`, `factor` (the scaler's), `steps` (of the optimizer),
    `forward`, `backward`, `step` (the precision there), `loss_dtype`, `weights` (their dtypes).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        run = _Epoch(case)
        losses = run.run(answer)
        seen: Observation = {name: sorted(noted) for name, noted in run.notes.items()}
        seen |= {"losses": see(losses), "factor": run.scaler.get_scale(), "steps": run.steps}
        seen |= {"loss_dtype": sorted(run.scaler.dtypes), "weights": _dtypes(run.model)}
        seen["outputs"] = outputs_of(run.model) if "outputs" in kept else None
        return {facet: seen[facet] for facet in kept}

    return probe


def _dtypes(model: nn.Module) -> list[str]:
    return sorted({dtype_name(param.dtype) for param in model.parameters()})


def compare_epochs(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """Outputs after an epoch under autocast are as near as bfloat16 is on any two processors; others, as usual."""
    lowered = "outputs" in expected and expected["forward"] == got.get("forward") != ["no autocast"]
    return first_difference(expected, got, _BFLOAT16 if lowered else tolerance)


def close_to_float32(answer: Answer, case: Case) -> Observation:
    """The same epoch in mixed precision and without: whether every loss is close to float32's; and the latter."""

    def look() -> Observation:
        mixed, full = (see(_Epoch(case).run(answer, amp=amp)) for amp in (True, False))
        return {"losses": full, "close": _all_close(mixed, full)}

    return attempt(look)


def _all_close(mixed: Plain, full: Plain) -> bool:
    if not all(type(losses) is list and all(type(loss) is float for loss in losses) for losses in (mixed, full)):
        return False
    return len(mixed) == len(full) and all(abs(m - f) <= CLOSE * abs(f) for m, f in zip(mixed, full, strict=True))
