"""The probes of `fit`: one whole training, and the same one stopped and gone on with."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation
from autograder.watching.probe import attempt, copy_of, see

from ._ch04_models import held_by, model_of, optimizer_of, random_from

Answer = Callable[..., Any]
_PLAIN, _SHUFFLED = ("in order", "shuffled")


class _Run:
    """A model, its optimizer, scheduler and loader, as a case names them."""

    def __init__(self, case: Case, seed: int) -> None:
        name, optimizer, factor, order, x, y = copy_of(case.args[:6])
        self.model = model_of(name, x.shape[1], seed=seed)
        self.optimizer = optimizer_of(optimizer, self.model.parameters(), 0.05)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda epoch: factor**epoch)
        self.loader = DataLoader(TensorDataset(x, y), batch_size=3, shuffle=order == _SHUFFLED)

    def fit(self, answer: Answer, *rest: Any) -> Any:
        return answer(self.model, self.optimizer, self.scheduler, self.loader, *rest)

    def train_on(self) -> None:
        """One more epoch, by hand."""
        for x, y in self.loader:
            self.optimizer.zero_grad()
            ((self.model(x) - y) ** 2).mean().backward()
            self.optimizer.step()


def trained(answer: Answer, case: Case) -> Observation:
    """One training from the beginning: the losses of its epochs, parameters and buffers."""

    def look() -> Observation:
        with random_from(5):
            run = _Run(case, seed=11)
            checkpoint = run.fit(answer, case.args[-1])
        if not isinstance(checkpoint, dict) or "losses" not in checkpoint:
            return {"returned": see(checkpoint)}
        return {"losses": _losses(checkpoint), "held": held_by(run.model)}

    return attempt(look)


def resumed(saved: bool = False, reused: bool = False) -> Probe:
    """A training that is stopped and gone on with, by a new model, beside one that is not stopped.

    `saved` sends the checkpoint through torch.save and torch.load; `reused` trains on before that, without the
    checkpoint and then with it. Facets: `same` (weights and losses equal the whole training's, bit for bit), `losses`
    and `held` at the end.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        stop, epochs = case.args[-2:]
        with random_from(5):
            whole = _Run(case, seed=11)
            expected = _losses(whole.fit(answer, epochs))
        with random_from(5):
            first = _Run(case, seed=11)
            checkpoint = first.fit(answer, stop)
            if reused:
                first.train_on()
                first.fit(answer, epochs + 1, checkpoint)
            torch.default_generator.manual_seed(6)
            second = _Run(case, seed=12)
            losses = _losses(second.fit(answer, epochs, _through_a_file(checkpoint) if saved else checkpoint))
        same = {"weights": _equal(whole, second), "losses": expected == losses}
        return {"same": same, "losses": losses, "held": held_by(second.model)}

    return probe


def _losses(checkpoint: Any) -> Any:
    return see(checkpoint["losses"])


def _through_a_file(checkpoint: Any) -> Any:
    file = io.BytesIO()
    torch.save(checkpoint, file)
    file.seek(0)
    return torch.load(file)


def _equal(one: _Run, other: _Run) -> bool:
    pairs = zip(one.model.state_dict().values(), other.model.state_dict().values(), strict=True)
    return all(torch.equal(a, b) for a, b in pairs)


def batches(draw: Any) -> tuple[Tensor, Tensor]:
    """Samples of three features, with targets (n, 1); two or three batches, the last one smaller."""
    n = draw.choice([5, 8])
    return draw.normal(n, 3, dtype=torch.float64), draw.normal(n, 1, dtype=torch.float64)
