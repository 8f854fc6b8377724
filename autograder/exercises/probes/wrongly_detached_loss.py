"""Detect losses that are detached from the parameters: observe where the graphs of `backward` calls end.

A detached loss gives no gradient, and its steps change nothing. An answer that clears gradients too late, or never
calls backward, shows the same effects. Therefore the calls of backward themselves are observed here.
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
from autograder.exercises.probe import Answer
from autograder.exercises.probes.training_steps import record_before_each_step
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer

_CUTS = "`item()`, `detach()`, `.data`, NumPy, `torch.tensor` and `no_grad`"
DETACHED_LOSS_MESSAGES = {
    "cut_loss": f"Your loss hangs on no parameter: you cut its graph, as {_CUTS} do. To set requires_grad afterwards "
    "joins nothing, and no gradient comes back."
}
DETACHED_FROM_X_MESSAGES = {
    "cut_loss": f"What you call backward on does not hang on x: you cut its graph, as {_CUTS} do. To set requires_grad "
    "afterwards joins nothing."
}


class BackwardCalls:
    """A record of the backward calls in a block, and of the leaves at which their graphs end.

    The tensors to be trained are the nn.Parameters. With `chosen`, the answer itself chooses them, and any leaf may be
    one. Then a loss counts as detached only if it is itself a leaf in every call, or if an optimizer steps whose
    parameters have no gradient.
    """

    def __init__(self, *, chosen: bool) -> None:
        self._chosen = chosen
        self._calls = self._from_leaves = self._steps = 0
        self._joined = False

    @property
    def cut(self) -> bool:
        """Return whether backward was called, and no call reached a tensor to be trained."""
        if not self._calls or self._joined:
            return False
        return not self._chosen or self._steps > 0 or self._from_leaves == self._calls

    def note(self, roots: Iterable[Tensor]) -> None:
        """Record a backward call on these tensors, and whether their graphs reach a parameter."""
        self._calls += 1
        for root in () if self._joined else roots:  # searched once, as backward runs often
            # A root without requires_grad does not count: the answer may not have chosen anything to be trained.
            self._from_leaves += root.grad_fn is None and root.requires_grad
            self._joined = self._joined or any(isinstance(leaf, nn.Parameter) for leaf in _leaves(root))

    def record_step(self, optimizer: Optimizer) -> None:
        """Record an optimizer step, and whether its parameters have gradients other than 0.

        Parameters may have gradients although no graph reaches them: computed for copies, and then assigned.
        """
        self._steps += 1
        if not self._joined:
            params = (param for group in optimizer.param_groups for param in group["params"])
            self._joined = any(param.grad is not None and _is_something(param.grad) for param in params)


def _is_something(grad: Tensor) -> bool:
    return grad.is_meta or bool(grad.any())


def _leaves(root: Tensor) -> Iterator[Tensor]:
    """Yield the leaves of a tensor's graph: the tensors whose `.grad` backward writes."""
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
def record_backward_calls(answer: Answer, *, chosen: bool = False) -> Iterator[BackwardCalls]:
    """Record the backward calls and optimizer steps in a block."""
    backwards, run = BackwardCalls(chosen=chosen), torch.autograd.backward

    def noted(tensors: Any, *args: Any, **kwargs: Any) -> None:
        backwards.note([tensors] if isinstance(tensors, Tensor) else list(tensors))
        run(tensors, *args, **kwargs)

    # Tensor.backward looks the function up in torch.autograd at each call.
    with (
        replace_attribute_in_answer(answer, torch.autograd, "backward", noted),
        record_before_each_step(backwards.record_step),
    ):
        yield backwards


def with_detached_loss_facet(probe: Probe, *, chosen: bool = False, always: bool = True) -> Probe:
    """Add a first facet `cut_loss` to a probe: whether backward ran, but reached no tensor that is to be trained.

    That is so if the answer detached the loss. Such an answer may also raise, for example in backward if the loss
    has no graph, or in a scaler that finds no gradient; then both `cut_loss` and `raised` are recorded. Without
    `always`, the facet is recorded only for answers that raise.
    """

    def look(answer: Answer, case: Case) -> Observation:
        with record_backward_calls(answer, chosen=chosen) as backwards:
            seen = probe(answer, case)
        tells = backwards.cut if "raised" in seen else always
        return {"cut_loss": backwards.cut} | seen if tells else seen

    return look
