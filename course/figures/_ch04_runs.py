"""Short training runs behind the figures of chapter 4: real losses, drawn anew each time, from seeds of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn
from torch.nn import functional

from .digits import known_digits

Losses = list[float]
Loop = Callable[[nn.Module, Tensor, Tensor, int], Losses]
STEPS = 150

# letter of a loop of the bug hunt -> which fault its run has; the chapter shows the letters alone
FAULTS = {
    "a": "keeps gradients",
    "b": "clears before step",
    "c": "huge rate",
    "d": "trains a twin",
    "e": "broadcasts",
    "f": "new optimizer",
    "g": "shuffles inputs",
    "h": "decays each step",
}


@dataclass
class Run:
    """A regression to learn: a model, its data, and an optimizer."""

    model: nn.Module
    x: Tensor
    y: Tensor
    lr: float = 0.1
    kind: type[torch.optim.Optimizer] = torch.optim.SGD

    def optimizer(self) -> torch.optim.Optimizer:
        """A fresh optimizer of this run's model."""
        return self.kind(self.model.parameters(), lr=self.lr)  # type: ignore[call-arg]


def regression(seed: int = 0, *, rows: int = 64, noise: float = 0.0) -> Run:
    """A small regression, the same for the same seed; leaves the global generator alone."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
        x = torch.rand(rows, 2) * 2 - 1
        y = 1.5 + torch.sin(2 * x[:, 0]) - x[:, 1] + noise * torch.randn(rows)
    return Run(model, x, y)


def train(run: Run, fault: str = "", steps: int = STEPS) -> Losses:
    """Train by full batches, with one of the faults of the bug hunt or none, and return the losses."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return _train(run, fault, steps)


def _train(run: Run, fault: str, steps: int) -> Losses:
    if fault == "huge rate":
        run.lr = 10.0
    if fault == "new optimizer":
        run.lr, run.kind = 0.03, torch.optim.Adam
    moved = regression(9) if fault == "trains a twin" else run
    optimizer = moved.optimizer()
    decay = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
    losses = []
    for _ in range(steps):
        if fault == "new optimizer":
            optimizer = run.optimizer()
        if fault != "keeps gradients":
            optimizer.zero_grad()
        loss = _loss(run, fault)
        torch.autograd.backward(loss)
        if fault == "clears before step":
            optimizer.zero_grad()
        optimizer.step()
        if fault == "decays each step":
            decay.step()
        losses.append(loss.item())
    return losses


def _loss(run: Run, fault: str) -> Tensor:
    if fault == "broadcasts":
        errors: Tensor = run.model(run.x) - run.y
        return (errors**2).mean()
    x = run.x[torch.randperm(len(run.x))] if fault == "shuffles inputs" else run.x
    return functional.mse_loss(run.model(x).squeeze(1), run.y)


def train_by(loop: Loop) -> Losses:
    """Train by a reader's loop, and return its losses."""
    run = regression()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return loop(run.model, run.x, run.y, STEPS)


def rate(lr: float, steps: int = STEPS) -> Losses:
    """A correct loop at some learning rate."""
    run = regression()
    run.lr = lr
    return train(run, steps=steps)


def adam(steps: int = STEPS) -> Losses:
    """A correct loop with Adam."""
    run = regression()
    run.lr, run.kind = 0.03, torch.optim.Adam
    return train(run, steps=steps)


def overfit(steps: int = 300) -> tuple[Losses, Losses]:
    """Twelve noisy rows learned by heart: the training losses, and those on rows never seen."""
    few, unseen = regression(2, rows=12, noise=0.5), regression(3, noise=0.5)
    few.kind, few.lr = torch.optim.Adam, 0.03
    return _watched(few, steps, lambda model: functional.mse_loss(model(unseen.x).squeeze(1), unseen.y))


def in_train_mode(steps: int = STEPS) -> tuple[Losses, Losses]:
    """A model with dropout: the losses measured in train mode, and in eval mode."""
    run = regression()
    run.model = nn.Sequential(*list(run.model)[:2], nn.Dropout(0.3), *list(run.model)[2:])  # type: ignore[call-overload]

    def measured(model: nn.Module) -> Tensor:
        model.eval()
        loss = functional.mse_loss(model(run.x).squeeze(1), run.y)
        model.train()
        return loss

    return _watched(run, steps, measured)


def _watched(run: Run, steps: int, measure: Callable[[nn.Module], Tensor]) -> tuple[Losses, Losses]:
    """Train, and measure something else after each step."""
    optimizer = run.optimizer()
    losses, watched = [], []
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for _ in range(steps):
            optimizer.zero_grad()
            loss = _loss(run, "")
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(loss.item())
            with torch.no_grad():
                watched.append(measure(run.model).item())
    return losses, watched


def wild_batch(steps: int = STEPS) -> Losses:
    """One batch in the middle has targets a thousand times too large."""
    run = regression()
    sound = run.y
    losses = []
    optimizer = run.optimizer()
    for step in range(steps):
        run.y = sound * 1000 if step == steps // 2 else sound
        optimizer.zero_grad()
        torch.autograd.backward(_loss(run, ""))
        optimizer.step()
        run.y = sound
        losses.append(_loss(run, "").item())
    return losses


Seen = tuple[
    float, float, float
]  # the loss on what is learned from, the loss on the rest, the share of it that is read


def on_digits(epochs: int = 20) -> tuple[list[Seen], list[tuple[Tensor, int, int]]]:
    """A network that learns 1,400 digits: what was seen before the first epoch and after each, and three misread."""
    ink, labels = known_digits()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        order = torch.randperm(len(ink))
        model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
        known, unseen = order[:1400], order[1400:]
        seen = [_seen(model, ink, labels, known, unseen)]
        for _ in range(epochs):
            for batch in known[torch.randperm(len(known))].split(64):
                optimizer.zero_grad()
                torch.autograd.backward(functional.cross_entropy(model(ink[batch] / 16), labels[batch]))
                optimizer.step()
            seen.append(_seen(model, ink, labels, known, unseen))
        says = model(ink[unseen] / 16).argmax(dim=1)
    wrong = [place for place, answer in zip(unseen, says, strict=True) if answer != labels[place]][:3]
    answers = {int(place): int(answer) for place, answer in zip(unseen, says, strict=True)}
    return seen, [(ink[place].reshape(8, 8), answers[int(place)], int(labels[place])) for place in wrong]


def _seen(model: nn.Module, ink: Tensor, labels: Tensor, known: Tensor, unseen: Tensor) -> Seen:
    with torch.no_grad():
        logits = model(ink / 16)
        losses = [functional.cross_entropy(logits[rows], labels[rows]).item() for rows in (known, unseen)]
        share = (logits[unseen].argmax(dim=1) == labels[unseen]).float().mean().item()
    return losses[0], losses[1], share


def path(kind: type[torch.optim.Optimizer], steps: int, **settings: float) -> list[tuple[float, float]]:
    """The points that an optimizer visits on the long bowl a ** 2 / 2 + 10 * b ** 2, from (-4, 1)."""
    point = torch.tensor([-4.0, 1.0], requires_grad=True)
    optimizer = kind([point], **settings)  # type: ignore[arg-type]
    visited = []
    for _ in range(steps + 1):
        a, b = point.tolist()
        visited.append((a, b))
        optimizer.zero_grad()
        torch.autograd.backward(point[0] ** 2 / 2 + 10 * point[1] ** 2)
        optimizer.step()
    return visited


def course_of(losses: Sequence[float], high: float) -> str:
    """How a loss goes, in a few words, for who cannot see the curve."""
    if not losses[-1] < high:
        return "explodes"
    late = losses[len(losses) // 2 :]
    if max(losses) > 10 * losses[0]:
        before = losses[losses.index(max(losses)) - 1]
        return f"falls to {before:.2g}, jumps up once, and is at {losses[-1]:.2g} in the end"
    if max(late) > 2 * min(late) and sum(b > a for a, b in pairwise(late)) > len(late) / 4:
        return f"swings between {min(late):.2g} and {max(late):.2g}"
    return f"from {losses[0]:.2g} to {losses[-1]:.2g}"


def sin_runs(
    kind: Callable[..., torch.optim.Optimizer], lr: float, steps: int, count: int, x: Tensor
) -> tuple[Tensor, Tensor]:
    """Train `count` networks 1-16-1 on sin at once; return their losses (steps, count) and fits (count, len(x))."""
    bounds = ((1.0, 16), (1.0, 16), (0.25, 16), (0.25, 1))
    params = [torch.empty(count, n, 1).uniform_(-bound, bound).requires_grad_() for bound, n in bounds]
    w1, b1, w2, b2 = params
    optimizer = kind(params, lr=lr)
    losses = []
    for _ in range(steps):
        fits = (w2 * torch.relu(w1 * x + b1)).sum(dim=1) + b2[:, 0]
        each = ((fits - torch.sin(x)) ** 2).mean(dim=1)  # (count,)
        optimizer.zero_grad()
        each.sum().backward()  # the runs share nothing, so each gets its own gradient
        optimizer.step()
        losses.append(each.detach())
    return torch.stack(losses), fits.detach()
