"""Detect mistakes in a training loop that raise no error, and describe them in sentences.

Each sentence follows from numbers recorded before and after a line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from torch import Tensor

from explorers.loop_line_executor import (
    GRADIENT,
    LOSS,
    PARAMETER,
    PREDICTION,
    LoopLineExecutor,
    Snapshot,
    TensorKey,
    equal_numbers,
    is_empty_grad,
)

BEFORE = 0  # the step number of a gradient that was there before the loop


class TrainingLoopMistakeDetector:
    """Follows a run line by line, and returns remarks on mistakes. A correct loop gets none."""

    def __init__(self, run: LoopLineExecutor, start: Snapshot) -> None:
        self._run = run
        names = run.parts.names()
        held = {id(parameter) for parameter in run.parts.held()}
        self._trainable = [name for parameter, name in names.items() if parameter.requires_grad]
        # An optimizer class of the reader's own may have no parameter groups.
        self._says = hasattr(run.parts.optimizer, "param_groups")
        self._free = [n for p, n in names.items() if p.requires_grad and self._says and id(p) not in held]
        # For each parameter, the steps whose gradients its .grad contains.
        self._of = {name: [BEFORE] for name in self._trainable if not is_empty_grad(start[TensorKey(GRADIENT, name)])}
        self._unused = False  # whether a backward has run since the last step
        self._made = {PREDICTION: BEFORE, LOSS: BEFORE}  # the step that computed each of them
        self._losses: list[float | None] = []

    def remarks_on_line(self, step: int, line: str, before: Snapshot, after: Snapshot) -> tuple[str, ...]:
        """Return the remarks on one line that ran without an error, from snapshots before and after it."""
        told = {
            "zero_grad": self._cleared,
            "forward": self._predicted,
            "loss": self._lost,
            "backward": self._went_back,
            "step": self._stepped,
        }[line](step, before, after)
        for name in self._trainable:
            if is_empty_grad(after[TensorKey(GRADIENT, name)]):
                self._of.pop(name, None)
        return tuple(told)

    def finished(self, step: int, before: Snapshot, after: Snapshot) -> tuple[str, ...]:
        """Return the remarks on a whole step, from snapshots at its beginning and its end."""
        told = []
        for name, made in self._made.items():
            if BEFORE < made < step:
                told.append(f"`{name}` is still that of step {made}.")
        still = _unchanged(before, after)
        if still:
            told.append("No parameter changed in this step.")
        loss = self._run.loss() if self._made[LOSS] == step else None
        self._losses.append(loss)
        earlier = self._losses[-2] if len(self._losses) > 1 else None
        if still and loss is not None and loss == earlier:
            told.append(f"The loss is what it was in step {step - 1}.")
        return tuple(told)

    # --- the five lines

    def _cleared(self, step: int, before: Snapshot, after: Snapshot) -> Iterable[str]:
        if self._unused and any(_emptied(before, after, TensorKey(GRADIENT, name)) for name in self._trainable):
            yield "These gradients are cleared before any `step()` has used them."
        left = [name for name in self._trainable if not is_empty_grad(after[TensorKey(GRADIENT, name)])]
        if left:
            yield f"{_names(left, '.grad')} {_are(left)} not cleared{self._reason(left)}."
        self._unused = False

    def _predicted(self, step: int, before: Snapshot, after: Snapshot) -> Iterable[str]:
        self._made[PREDICTION] = step
        return ()

    def _lost(self, step: int, before: Snapshot, after: Snapshot) -> Iterable[str]:
        self._made[LOSS] = step
        if BEFORE < self._made[PREDICTION] < step:
            yield f"This loss is computed from the prediction of step {self._made[PREDICTION]}."
        loss = self._run.loss()
        if loss is not None and not math.isfinite(loss):
            yield f"The loss is {loss}: no number to learn from."

    def _went_back(self, step: int, before: Snapshot, after: Snapshot) -> Iterable[str]:
        self._unused = True
        added = []
        for name in self._trainable:
            key = TensorKey(GRADIENT, name)
            if equal_numbers(before[key], after[key]):
                continue
            if self._of.get(name):
                added.append(name)
            self._of.setdefault(name, []).append(step)
        if added:
            origin = _origin(self._of[added[0]][:-1])
            yield (
                f"{_names(added, '.grad')} {_were(added)} not empty: this gradient was added to {origin}."
                + _sum(added[0], before, after)
            )
        without = [name for name in self._trainable if after[TensorKey(GRADIENT, name)] is None]
        if without:
            yield f"{_names(without, '.grad')} {_are(without)} still None: no path leads there from the loss."
        there = [after[TensorKey(GRADIENT, name)] for name in self._trainable if name not in without]
        if there and all(is_empty_grad(gradient) for gradient in there):
            yield "Every gradient is 0."

    def _stepped(self, step: int, before: Snapshot, after: Snapshot) -> Iterable[str]:
        self._unused = False
        still = _unchanged(before, after)
        gradients = [before[TensorKey(GRADIENT, name)] for name in self._trainable]
        if all(gradient is None for gradient in gradients):
            yield _moved(still, "every `.grad` is None")
        elif all(is_empty_grad(gradient) for gradient in gradients):
            yield _moved(still, "every `.grad` is 0")
        elif still:
            yield "No parameter changed."
        else:
            yield from self._used(step)
        if self._free:
            yield f"{_names(self._free)} {_are(self._free)} not changed{self._reason(self._free)}."

    def _reason(self, names: Sequence[str]) -> str:
        if not set(names) <= set(self._free):
            return ""
        return f": the optimizer does not hold {'them' if len(names) > 1 else 'it'}"

    def _used(self, step: int) -> Iterable[str]:
        """Yield a remark if an optimizer step used gradients of other steps than this one."""
        stale = [steps for steps in self._of.values() if step not in steps]
        sums = [steps for steps in self._of.values() if len(steps) > 1]
        if stale:
            yield f"This used {_origin(stale[0])}: there is none of step {step} yet."
        elif sums:
            yield f"This used a sum: {_origin(sums[0])}, added up."


def _emptied(before: Snapshot, after: Snapshot, key: TensorKey) -> bool:
    return not is_empty_grad(before[key]) and is_empty_grad(after[key])


def _unchanged(before: Snapshot, after: Snapshot) -> bool:
    return all(equal_numbers(before[key], after[key]) for key in before if key.place == PARAMETER)


def _moved(still: bool, why: str) -> str:
    return f"No parameter changed: {why}." if still else f"The parameters changed although {why}."


def _origin(steps: Sequence[int]) -> str:
    """Return the name of some gradients: `the gradient of step 2`, `the gradients of steps 1 to 3`."""
    own = [step for step in steps if step != BEFORE]
    left = ["what was left over from before the loop"] if BEFORE in steps else []
    if not own:
        return left[0]
    if len(own) == 1:
        told = f"the gradient of step {own[0]}"
    elif own == list(range(own[0], own[-1] + 1)) and len(own) > 2:
        told = f"the gradients of steps {own[0]} to {own[-1]}"
    else:
        told = f"the gradients of steps {', '.join(map(str, own[:-1]))} and {own[-1]}"
    return " and ".join([*left, told])


def _sum(name: str, before: Snapshot, after: Snapshot) -> str:
    """Return a sentence with the sum for the first number of a gradient, as an example."""
    old, new = (_first(look[TensorKey(GRADIENT, name)]) for look in (before, after))
    if old is None or new is None:
        return ""
    return f" The first number of `{name}.grad`: {old:.4g} + {new - old:.4g} = {new:.4g}."


def _first(tensor: Tensor | None) -> float | None:
    if tensor is None or not tensor.numel() or tensor.is_complex():
        return None
    return float(tensor.flatten()[0])


def _names(names: Sequence[str], ending: str = "") -> str:
    """Return a list of names in words, shortened if there are more than three."""
    told = [f"`{name}{ending}`" for name in names]
    if len(told) > 3:
        return f"{told[0]}, {told[1]} and {len(told) - 2} more"
    return " and ".join([", ".join(told[:-1]), told[-1]] if len(told) > 1 else told)


def _are(names: Sequence[str]) -> str:
    return "are" if len(names) > 1 else "is"


def _were(names: Sequence[str]) -> str:
    return "were" if len(names) > 1 else "was"
