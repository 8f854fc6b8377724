"""Figures of chapter 6: a drawing read in two ways, a run resumed in three, two precisions, a card; and a folder."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from autograder.notebook.colors import BLUE, GREEN, GREY, INK, VERMILION

from ._ch06_openings import five_trainers as five_trainers
from ._ch06_openings import stopped as stopped
from .digits import known_digits
from .drawing import new_figure, paper, told, write_numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Maker = Callable[[int], nn.Module]
_STOP, _EPOCHS, _BATCH = 2, 6, 16


def first_page() -> Figure:
    """Draw a digit that a trained network misreads as drawn, and reads once it is cut to its box."""
    drawing, truth, both = _misread()
    fig, row = new_figure(1, 5, figsize=(9.5, 2.6), width_ratios=(1.2, 0.8, 1, 0.8, 1))
    paper(row[0], drawing, "drawn")
    answers = []
    for (picture, shares), ax, bars, words in zip(both, row[1::2], row[2::2], ("as it is", "prepared"), strict=True):
        answers.append(int(shares.argmax()))
        paper(ax, picture, words)
        colors = [GREEN if k == truth else VERMILION if k == answers[-1] else GREY for k in range(10)]
        bars.bar(range(10), shares.tolist(), color=colors)
        bars.set(xticks=range(10), ylim=(0, 1.05), yticks=[])
        bars.set_title(f'"{answers[-1]}"', fontsize=11, color=INK)
    return told(
        fig,
        f"A drawn {truth}. Beside it what the model sees of the drawing as it is, with ten bars, the highest at "
        f"{answers[0]}; and what it sees of the drawing when it is prepared, with the highest bar at {answers[1]}.",
    )


def _misread() -> tuple[Tensor, int, list[tuple[Tensor, Tensor]]]:
    """A drawing, what it is, and for two ways of preparing it what a network sees and says."""
    from explorers.synthetic_digits import drawn_digits

    data, labels = known_digits()
    net = _reader(data.reshape(-1, 1, 8, 8) / 16, labels)
    drawings, truths = drawn_digits(60, 7)
    ways = [torch.stack([_blocks(each) for each in some]) for some in (drawings, [_box(d) for d in drawings])]
    with torch.no_grad():
        plain, boxed = (net(way[:, None] / 16).softmax(dim=1) for way in ways)
    is_shown = (plain.argmax(1) != truths) & (boxed.argmax(1) == truths)
    which = int((boxed.max(1).values * is_shown).argmax())
    return drawings[which], int(truths[which]), [(ways[0][which], plain[which]), (ways[1][which], boxed[which])]


def _reader(pictures: Tensor, labels: Tensor) -> nn.Module:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(288, 10))
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        for rows in torch.randperm(5 * len(labels)).remainder(len(labels)).split(64):
            optimizer.zero_grad()
            cross_entropy(net(pictures[rows]), labels[rows]).backward()
            optimizer.step()
    return net


def _blocks(drawing: Tensor) -> Tensor:
    return drawing.reshape(8, 4, 8, 4).sum((1, 3))


def _box(drawing: Tensor) -> Tensor:
    """The drawing cut to the box around its ink, and enlarged to 30 by 30 with a rim, as the lesson does it."""
    rows, columns = drawing.nonzero().T
    box = drawing[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    side = max(box.shape)
    top, left = (side - box.shape[0]) // 2, (side - box.shape[1]) // 2
    around = (left, side - box.shape[1] - left, top, side - box.shape[0] - top)
    enlarged = nn.functional.interpolate(nn.functional.pad(box, around)[None, None], size=(30, 30))[0, 0]
    return nn.functional.pad(enlarged, (1, 1, 1, 1))


def card(shares: list[float], confusion: Tensor, drawings: Tensor, says: Tensor, labels: Tensor) -> Figure:
    """Draw what a reader can show: the curve, the confusion matrix, and up to twelve drawings with what is said."""
    fig, axes = new_figure(3, 6, figsize=(9.5, 6.4), height_ratios=(1.7, 1, 1))
    for ax in axes[0]:
        ax.remove()
    whole = axes[0, 0].get_gridspec()
    curve, matrix = fig.add_subplot(whole[0, :3]), fig.add_subplot(whole[0, 3:])
    epochs = range(1, len(shares) + 1)
    curve.plot(epochs, [100 * each for each in shares], "o-", color=BLUE)
    curve.set(xlabel="epoch", ylabel="% right, of digits never seen", xticks=epochs)
    fig.suptitle("A model that I wrote reads handwriting", color=INK)
    matrix.imshow(confusion.tolist(), cmap="Blues")
    matrix.set(xticks=range(10), yticks=range(10), xlabel="what it says", ylabel="what it is")
    write_numbers(matrix, confusion, 8, zeros=False)
    shown = list(zip(drawings, says.tolist(), labels.tolist(), strict=True))
    for ax in axes[1:].flat[len(shown) :]:
        ax.remove()
    for ax, (drawing, said, truth) in zip(axes[1:].flat, shown, strict=False):
        paper(ax, drawing, "")
        ax.set_title(f"says {said}" if said == truth else f"says {said}, is {truth}", fontsize=11, color=INK)
    said_of = ", ".join(str(said) for said in says.tolist())
    right = f"from {shares[0]:.0%} in the first epoch to {shares[-1]:.0%} in the last"
    return told(
        fig,
        f"Above, a curve of the share of unseen digits that are read, {right}, and a table of what each digit is taken "
        f"for, with most of the numbers on its diagonal. Below, drawings; of them the model says {said_of}.",
    )


def folder_of_digits(images: Tensor, labels: Tensor) -> Path:
    """Make a folder as people have them: in it one for each of three digits, and in that two pictures, 8 by 8."""
    from matplotlib.image import imsave

    folder = Path(tempfile.mkdtemp())
    for k in range(3):
        (folder / f"class {k}").mkdir()
        for place, picture in enumerate(images[labels == k][:2, 0]):
            imsave(folder / f"class {k}" / f"{place}.png", picture.numpy(), cmap="gray")
    return folder


# --- one run, resumed in three ways


class _Run:
    """A model in training, with all that has a memory."""

    def __init__(self, make_model: Maker, images: Tensor, labels: Tensor, seed: int) -> None:
        self.model = make_model(seed)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
        self.order = torch.Generator().manual_seed(seed)
        self.images, self.labels = images, labels

    def epoch(self) -> float:
        """Train for an epoch; returns the mean of its losses."""
        total, groups = 0.0, torch.randperm(len(self.labels), generator=self.order).split(_BATCH)
        for rows in groups:
            self.optimizer.zero_grad()
            loss = cross_entropy(self.model(self.images[rows]), self.labels[rows])
            loss.backward()
            self.optimizer.step()
            total += loss.item()
        return total / len(groups)


def resumed(make_model: Maker, images: Tensor, labels: Tensor, seed: int) -> Figure:
    """Draw the losses of an unbroken run, and of three that go on from its second epoch with more or less memory."""
    fig, ax = new_figure(figsize=(8.0, 3.6))
    curves = {words: _losses(make_model, images, labels, seed, memory) for words, memory in _MEMORIES.items()}
    whole = curves.pop("unbroken")
    ax.plot(range(1, _EPOCHS + 1), whole, color=GREY, linewidth=6, label="unbroken")
    for (words, losses), (color, style) in zip(curves.items(), _STYLES, strict=True):
        epochs = range(_STOP + 1, _EPOCHS + 1)
        ax.plot(epochs, losses[_STOP:], style, color=color, label=f"resumed with {words}")
    ax.axvline(_STOP + 0.5, color=INK, linewidth=1, linestyle=":")
    ax.set(xlabel="epoch", ylabel="mean loss", xticks=range(1, _EPOCHS + 1))
    ax.legend(fontsize=9)
    return told(
        fig,
        f"The loss of each of {_EPOCHS} epochs. A wide gray line runs unbroken; three thin ones begin after epoch "
        f"{_STOP}. That which is resumed with all that remembers lies on the wide line; the other two do not.",
    )


# What is carried over to the new run; None: there is no new run.
_MEMORIES: dict[str, tuple[str, ...] | None] = {
    "unbroken": None,
    "weights alone": (),
    "weights and optimizer": ("optimizer",),
    "all that remembers": ("optimizer", "order", "dropout"),
}
_STYLES = ((VERMILION, "^--"), (BLUE, "s--"), (GREEN, "o-"))


def _losses(
    make_model: Maker, images: Tensor, labels: Tensor, seed: int, memory: tuple[str, ...] | None
) -> list[float]:
    with torch.random.fork_rng(devices=[]):
        run = _Run(make_model, images, labels, seed)
        losses = [run.epoch() for _ in range(_STOP)]
        if memory is not None:
            run = _next_run(run, _Run, make_model, seed, memory)
        return losses + [run.epoch() for _ in range(_EPOCHS - _STOP)]


def _next_run(old: _Run, kind: type[_Run], make_model: Maker, seed: int, memory: tuple[str, ...]) -> _Run:
    state = torch.get_rng_state()
    new = kind(make_model, old.images, old.labels, seed)  # torch's generator begins anew, from the seed
    new.model.load_state_dict(old.model.state_dict())
    if "optimizer" in memory:
        new.optimizer.load_state_dict(old.optimizer.state_dict())
    if "order" in memory:
        new.order.set_state(old.order.get_state())
    if "dropout" in memory:
        torch.set_rng_state(state)
    return new


# --- two precisions


def precision(make_model: Maker, images: Tensor, labels: Tensor, seed: int) -> Figure:
    """Draw the losses of the same steps in float32 and in bfloat16, and how far they are apart in percent."""
    full, mixed = (_steps(make_model, images, labels, seed, amp) for amp in (False, True))
    gaps = [100 * abs(m - f) / f for m, f in zip(mixed, full, strict=True)]
    fig, axes = new_figure(1, 2, figsize=(9.0, 3.2))
    axes[0].plot(full, color=GREY, linewidth=5, label="float32")
    axes[0].plot(mixed, color=VERMILION, label="mixed, bfloat16")
    axes[0].set(xlabel="step", ylabel="loss")
    axes[0].legend(fontsize=9)
    axes[1].bar(range(len(gaps)), gaps, color=VERMILION)
    axes[1].axhline(1.0, color=INK, linewidth=1, linestyle=":")
    axes[1].text(0, 1.15, "what the check allows", fontsize=9, color=INK)
    axes[1].set(xlabel="step", ylabel="apart, in percent of the loss", yscale="log", ylim=(1e-4, 5.0))
    return told(
        fig,
        "Left, the loss of each step in float32, a wide gray line, and in mixed precision, a thin one that lies on it. "
        f"Right, a bar for each step: how far they are apart, at most {max(gaps):.1g} percent of the loss.",
    )


def _steps(make_model: Maker, images: Tensor, labels: Tensor, seed: int, amp: bool) -> list[float]:
    """The losses of three epochs, each batch a step."""
    with torch.random.fork_rng(devices=[]):
        run = _Run(make_model, images, labels, seed)
        losses = []
        for x, y in 3 * list(zip(images.split(_BATCH), labels.split(_BATCH), strict=True)):
            run.optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=amp):
                loss = cross_entropy(run.model(x), y)
            loss.backward()
            run.optimizer.step()
            losses.append(loss.item())
        return losses
