"""Losses that are cut off from what they should train: where the graphs end on which an answer calls backward.

What a cut loss leaves behind (no gradient, no step that moves anything) looks like gradients that were cleared too late
and like a backward that never ran. Here the calls of backward themselves are watched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation
from autograder.exercises.patched_names import replaced_for
from autograder.exercises.probe import Answer
from autograder.exercises.probes.training_steps import before_any_step

_CUTS = "`item()`, `detach()`, `.data`, NumPy, `torch.tensor` and `no_grad`"
CUT = {
    "cut_loss": f"Your loss hangs on no parameter: you cut its graph, as {_CUTS} do. To set requires_grad afterwards "
    "joins nothing, and no gradient comes back."
}
CUT_FROM_X = {
    "cut_loss": f"What you call backward on does not hang on x: you cut its graph, as {_CUTS} do. To set requires_grad "
    "afterwards joins nothing."
}


class Backwards:
    """The calls of backward in a block, and what their graphs end at.

    What should be trained is every nn.Parameter. Where the answer chooses what it trains (`chosen`), a plain leaf may
    be just that, unless an optimizer steps, whose parameters then have no gradient.
    """

    def __init__(self, *, chosen: bool) -> None:
        self._chosen = chosen
        self._calls = self._from_leaves = self._steps = 0
        self._joined = False

    @property
    def cut(self) -> bool:
        """Whether backward was called, and each time on a loss that hangs on nothing that should be trained."""
        if not self._calls or self._joined:
            return False
        return not self._chosen or self._steps > 0 or self._from_leaves == self._calls

    def note(self, roots: Iterable[Tensor]) -> None:
        """Look at the graphs of the tensors that a backward is called on."""
        self._calls += 1
        for root in () if self._joined else roots:  # a training calls backward a thousand times
            # One that does not require grad tells nothing here: perhaps nothing was ever chosen to be trained.
            self._from_leaves += root.grad_fn is None and root.requires_grad
            self._joined = self._joined or any(isinstance(leaf, nn.Parameter) for leaf in _leaves(root))

    def note_step(self, optimizer: Optimizer) -> None:
        """Look at the gradients of a step: they may have been computed for copies of the parameters, and put there."""
        self._steps += 1
        if not self._joined:
            params = (param for group in optimizer.param_groups for param in group["params"])
            self._joined = any(param.grad is not None and _is_something(param.grad) for param in params)


def _is_something(grad: Tensor) -> bool:
    return grad.is_meta or bool(grad.any())


def _leaves(root: Tensor) -> Iterator[Tensor]:
    """The tensors at which the graph of a tensor ends: those that backward writes a .grad of."""
    nodes, known = [root.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in known:
            continue
        known.add(node)
        if node.name() == "torch::autograd::AccumulateGrad":
            yield node.variable  # type: ignore[attr-defined]
        nodes += [before for before, _ in node.next_functions]


@contextmanager
def backwards_watched(answer: Answer, *, chosen: bool = False) -> Iterator[Backwards]:
    """Watch in a block whether the losses that backward is called on hang on an nn.Parameter."""
    backwards, run = Backwards(chosen=chosen), torch.autograd.backward

    def noted(tensors: Any, *args: Any, **kwargs: Any) -> None:
        backwards.note([tensors] if isinstance(tensors, Tensor) else list(tensors))
        run(tensors, *args, **kwargs)

    # Tensor.backward looks the function up there, each time.
    with replaced_for(answer, torch.autograd, "backward", noted), before_any_step(backwards.note_step):
        yield backwards


def with_cuts(probe: Probe, *, chosen: bool = False, always: bool = True) -> Probe:
    """The probe, with one facet before all others: `cut_loss`, whether the answer trains by losses that are cut off.

    Where such an answer raises, as torch does where nothing is left to go back through, and a scaler that finds no
    gradient, the facet stands beside `raised`; unless `always`, it stands nowhere else.
    """

    def look(answer: Answer, case: Case) -> Observation:
        with backwards_watched(answer, chosen=chosen) as backwards:
            seen = probe(answer, case)
        tells = backwards.cut if "raised" in seen else always
        return {"cut_loss": backwards.cut} | seen if tells else seen

    return look
