"""The bug hunt of chapter 6: the trainer as it is given, a limit on changed lines, and a probe for each fault alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer, register_optimizer_step_pre_hook

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import attempt, see
from autograder.watching.rules import few_lines

from ._ch06_models import KINDS, SIDE, Answer, make_images, random_from

# --- the limit on changed lines

MOST_LINES = 8
GIVEN = """\
optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
losses, accuracies, best = ([], [], None)
for epoch in range(epochs):
model.train()
total = 0.0
for x, y in batches:
loss = F.cross_entropy(model(x).softmax(dim=1), y)
loss.backward()
optimizer.step()
scheduler.step()
total += loss.item()
losses.append(total / len(batches))
correct, count = (0, 0)
with torch.no_grad():
for x, y in val_batches:
correct += (model(x).argmax(dim=0) == y).sum().item()
count += len(y)
accuracies.append(correct / count)
if accuracies[-1] == max(accuracies):
best = model.state_dict()
model.load_state_dict(best)
return {'losses': losses, 'accuracies': accuracies}
""".splitlines()


few = few_lines(
    MOST_LINES,
    {"fix_trainer": GIVEN},
    f"changes at most {MOST_LINES} lines",
    f"Your trainer differs from the given one in more than {MOST_LINES} lines. The six faults need one line each.",
)

# --- the trainer at work

_BATCH, _VAL = 4, 5  # images in a batch: fewer for training than for validation, and neither is KINDS


class _Scripted(nn.Module):
    """A linear model that learns; but on images of validation it says what a script says, whatever it has learned.

    So each fault can be seen alone. `rights` holds for each epoch how many validation images it gets right.
    """

    def __init__(self, rights: list[int], labels: Tensor) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(SIDE**2, KINDS)).double()
        self._rights, self._labels, self._shown = rights, labels, 0
        self.modes: list[str] = []
        self.snapshots: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """(n, 1, 8, 8) to (n, 3)."""
        validates = len(x) == _VAL
        mode = f"{'validation' if validates else 'training'} in {'train' if self.training else 'eval'} mode"
        self.modes = sorted({*self.modes, mode})
        logits: Tensor = self.layers(x)
        return self._script(len(x)) if validates else logits

    def weights(self) -> Tensor:
        """All weights, copied, in one row."""
        return torch.cat([param.detach().flatten() for param in self.parameters()])

    def _script(self, n: int) -> Tensor:
        epoch, first = divmod(self._shown, len(self._labels))
        self._shown += n
        if first == 0:
            self.snapshots.append(self.weights())
        rows = torch.arange(first, first + n)
        said = torch.where(rows < self._rights[epoch], self._labels[rows], self._labels[rows] + 1) % KINDS
        return nn.functional.one_hot(said, KINDS).double()


class _Steps:
    """Notes at each step the learning rate, and whether .grad holds the gradient of the last backward alone."""

    def __init__(self, model: nn.Module) -> None:
        self.rates: list[float] = []
        self.gradients: list[str] = []
        self.optimizers: set[str] = set()
        self._params = list(model.parameters())
        self._last: dict[int, Tensor] = {}
        for index, param in enumerate(self._params):
            param.register_hook(lambda grad, index=index: self._last.update({index: grad.clone()}))

    def note(self, optimizer: Optimizer, *_: Any) -> None:
        """To be called before each step."""
        group = optimizer.param_groups[0]
        self.rates.append(float(group["lr"]))
        self.optimizers.add(f"{type(optimizer).__name__} with momentum {group.get('momentum')}")
        self.gradients.append(self._gradient())

    def _gradient(self) -> str:
        held = [param.grad for param in self._params]
        if not self._last or any(grad is None or not grad.any() for grad in held):
            return "none"
        fresh = all(grad is not None and torch.equal(grad, self._last[i]) for i, grad in enumerate(held))
        return "of this batch" if fresh else "of several batches"


def hunted(*kept: str) -> Probe:
    """One training by the mended trainer, of a model whose accuracies follow a script.

    Facets: `accuracies`, `losses`, `gradients` (at each step), `modes`, `rates`, `optimizers`, and `kept` (the weights
    in the end: those of the best epoch, of an earlier one as good, of the last one, or others).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, **case.kwargs))

    def look(answer: Answer, images: int, drawn: int, rights: list[int], lr: float) -> Observation:
        x, y = make_images(images, drawn)
        val_x, val_y = make_images(2 * _VAL, drawn + 1)
        with random_from(drawn):
            model = _Scripted(rights, val_y)
        steps = _Steps(model)
        batches = list(zip(x.split(_BATCH), y.split(_BATCH), strict=True))
        val_batches = list(zip(val_x.split(_VAL), val_y.split(_VAL), strict=True))
        handle = register_optimizer_step_pre_hook(steps.note)
        try:
            result = answer(model, batches, val_batches, len(rights), lr)
        finally:
            handle.remove()
        known = result if isinstance(result, dict) else {}
        seen: Observation = {name: see(known.get(name)) for name in ("losses", "accuracies")}
        seen |= {"gradients": steps.gradients, "rates": steps.rates, "modes": model.modes}
        seen |= {"optimizers": sorted(steps.optimizers), "kept": _kept(model, rights)}
        return {facet: seen[facet] for facet in kept}

    return probe


def _kept(model: _Scripted, rights: list[int]) -> Plain:
    best = [epoch for epoch, right in enumerate(rights) if right == max(rights)]
    names = {best[-1]: "those of the best epoch", len(rights) - 1: "those of the last epoch"}
    names |= {best[0]: "those of an earlier epoch that is as good"} if len(best) > 1 else {}
    now = model.weights()
    same = (name for place, name in names.items() if torch.equal(model.snapshots[place], now))
    return next(same, "others")
