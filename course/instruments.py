"""Tools that the lessons use and the reader need not read: pictures of digits, and what to look at memory with.

    from course.instruments import same_memory, show_digits

Each is one line in a lesson. What the reader is meant to copy stands in the lesson itself.
"""

from __future__ import annotations

import io
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from timeit import Timer
from typing import Any

import numpy as np
import torch
from IPython.display import display
from torch import Tensor, nn

from autograder.telling.markup import Html, join, picture, tag
from autograder.watching.probes.devices import Operations
from autograder.watching.probes.memory import same_memory as same_memory

_SIDE = 64  # pixels on the screen, of a small picture
_FULL = 16.0  # the ink of a digit goes from 0 to this
_RED, _BLUE = np.array([178, 24, 43]), np.array([33, 102, 172])


def show_digits(
    pictures: Any,
    says: Sequence[Any] | Tensor | None = None,
    is_: Sequence[Any] | Tensor | None = None,
    per_row: int = 10,
) -> None:
    """Show small pictures in rows: numbers from 0 (paper) to 16 (ink), or to 1 where none is larger; blue to
    red where some are negative.

    `pictures` is one picture (h, w), or several: a tensor (n, h, w) or (n, 64), or a list of any of these. Below each
    stand what is said of it, and what it is. Pictures of one size and kind share one scale. A nan is left empty.
    """
    display(Pictures(_apart(pictures), _words(says), _words(is_), per_row))


def drawn_four() -> Tensor:
    """A four as somebody might draw it, (32, 32), 1 for ink and 0 for paper."""
    down, across = torch.meshgrid(torch.arange(32.0), torch.arange(32.0), indexing="ij")
    strokes = (((4, 18), (18, 7)), ((18, 7), (18, 25)), ((9, 19), (28, 17)))  # from (row, column) to (row, column)
    return torch.stack([_distance(down, across, *stroke) < 1.7 for stroke in strokes]).any(dim=0).float()


def _distance(down: Tensor, across: Tensor, start: tuple[int, int], end: tuple[int, int]) -> Tensor:
    """How far each place is from the line between two places."""
    along, over = end[0] - start[0], end[1] - start[1]
    share = ((down - start[0]) * along + (across - start[1]) * over) / (along**2 + over**2)
    share = share.clamp(0, 1)
    return torch.hypot(down - start[0] - share * along, across - start[1] - share * over)


def milliseconds(action: Callable[[], Any], rounds: int = 7) -> float:
    """How long it takes at best: the round that was least disturbed. For comparisons in one run, on the CPU."""
    timer = Timer(action)
    timer.timeit(1)  # the first call may be slower than all others
    calls = max(1, round(0.005 / max(timer.timeit(1), 1e-7)))
    return 1000 * min(timer.timeit(calls) for _ in range(rounds)) / calls


def runs(action: Callable[[], Any]) -> bool:
    """Whether torch does it; where it refuses, its message is printed."""
    try:
        action()
    except RuntimeError as error:
        print("RuntimeError:", " ".join(str(error).split()))
        return False
    return True


def run_lines(order: str, x: Tensor, y: Tensor, steps: int = 100, lr: float = 0.1) -> tuple[list[float], float]:
    """Learn y = w * x from w = 0 by these lines, in this order, `steps` times; return the losses and the last w.

    order: the lines of a training step, as words: "zero", "forward", "backward" and "step".
    """
    w, loss = torch.zeros(1, requires_grad=True), torch.zeros(())
    optimizer = torch.optim.SGD([w], lr=lr)
    losses = []
    for word in order.split() * steps:
        if word == "zero":
            optimizer.zero_grad()
        elif word == "forward":
            loss = ((w * x - y) ** 2).mean()
            losses.append(loss.item())
        elif word == "backward":
            torch.autograd.backward(loss)
        elif word == "step":
            optimizer.step()
        else:
            raise ValueError(f"expected the words zero, forward, backward and step, found {word!r}")
    return losses, w.item()


class _Kept:
    """A wrapper around one tensor that a graph has saved."""

    def __init__(self, tensor: Tensor) -> None:
        # The values only: with its graph, it would hold the graph that holds it.
        self.tensor = tensor.detach()


def show_graph(result: Tensor, **leaves: Tensor) -> None:
    """Print the nodes behind a result, the last step first; a node leads to those indented below it.

    leaves: names for tensors at which the graph begins, such as `x=x`.
    """
    print(*_lines(result.grad_fn, 0, leaves), sep="\n")


def _lines(node: Any, depth: int, leaves: dict[str, Tensor]) -> list[str]:
    """A line for a node, and those of all that it leads to; one that several lead to stands there several times."""
    if node is None:
        return []
    name = node.name().split("::")[-1]  # torch::autograd::AccumulateGrad
    leaf = getattr(node, "variable", None)
    of = [f" of {known}" for known, tensor in leaves.items() if tensor is leaf]
    below = [line for each, _ in node.next_functions for line in _lines(each, depth + 1, leaves)]
    return ["   " * depth + name + "".join(of[:1]), *below]


@contextmanager
def saved_tensors() -> Iterator[weakref.WeakSet[Any]]:
    """Collect what the graphs built in this block have saved and still hold: `len` says how many tensors that is."""
    alive: weakref.WeakSet[Any] = weakref.WeakSet()

    def pack(tensor: Tensor) -> _Kept:
        kept = _Kept(tensor)
        alive.add(kept)
        return kept

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept.tensor):
        yield alive


def saved_bytes(action: Callable[[], Any]) -> int:
    """Run it, and count the bytes that its graph holds on to: what it saved, each memory once."""
    held: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        return held.setdefault(tensor.untyped_storage().data_ptr(), tensor.detach())

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        _result = action()  # as long as it lives, so does its graph
    return sum(tensor.nbytes for tensor in held.values())


def saved_shapes(action: Callable[[], Any]) -> list[tuple[int, ...]]:
    """Run it, and list the shapes of what its graph saves, in the order in which it does."""
    shapes: list[tuple[int, ...]] = []

    def pack(tensor: Tensor) -> Tensor:
        shapes.append(tuple(tensor.shape))
        return tensor.detach()

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        action()
    return shapes


def operations(action: Callable[[], Any]) -> list[str]:
    """Run it, and list the operations of torch that ran, without a graph: "addmm" for a Linear, for example."""
    names: list[str] = []
    with torch.no_grad(), Operations(lambda name, _: names.append(name.removeprefix("aten."))):
        action()
    return names


def two_switches(model: nn.Module, x: Tensor) -> None:
    """Print whether two calls of a model agree, and whether the result requires grad: in both modes, with a graph and
    without. It ends in eval mode.
    """
    print(f"{'':20} two calls agree   requires grad")
    for training, mode in ((True, "train()"), (False, "eval()")):
        model.train(training)
        for graph, added in ((True, ""), (False, " and no_grad")):
            with torch.set_grad_enabled(graph):
                first, second = model(x), model(x)
            print(f"{mode + added:20} {torch.equal(first, second)!s:17} {first.requires_grad}")


class ToyDevice:
    """A device with a queue, in invented time: what it is handed is done later, one piece after another."""

    def __init__(self) -> None:
        self.host = 0  # the host's clock
        self._done = 0  # when the last piece in the queue ends

    def launch(self, cost: int) -> None:
        """Put a piece of work into the queue, which takes the host 1 ms; the device begins it when it is free."""
        self.host += 1
        self._done = max(self.host, self._done) + cost

    def wait(self) -> None:
        """Wait until the queue is empty."""
        self.host = max(self.host, self._done)


class Pictures:
    """Small pictures in rows, with words below them, for pages light and dark; in plain text what they are."""

    def __init__(self, pictures: list[np.ndarray], says: list[str], is_: list[str], per_row: int) -> None:
        self._pictures, self._says, self._is, self._per_row = pictures, says, is_, per_row
        self._scales = {kind: _scale([one for one in pictures if _kind(one) == kind]) for kind in map(_kind, pictures)}
        for name, words in (("says", says), ("is_", is_)):
            if words and len(words) != len(pictures):
                raise ValueError(
                    f"expected {len(pictures)} entries in {name}, one for each picture; found {len(words)}"
                )

    def __repr__(self) -> str:
        sizes = sorted({f"{picture.shape[0]} by {picture.shape[1]}" for picture in self._pictures})
        told = [word for word in map(self._word, range(len(self._pictures))) if word]
        many = "1 picture" if len(self._pictures) == 1 else f"{len(self._pictures)} pictures"
        return f"{many} of {' and '.join(sizes)} numbers" + (f": {'; '.join(told)}" if told else "")

    def _repr_html_(self) -> str:
        cells = [self._cell(index) for index in range(len(self._pictures))]
        rows = [cells[start : start + self._per_row] for start in range(0, len(cells), self._per_row)]
        style = "display:flex;gap:8px;margin-bottom:6px;align-items:flex-start"
        return tag("div", *(tag("div", *row, style=style) for row in rows), role="group", aria_label=repr(self))

    def _cell(self, index: int) -> Html:
        numbers, word = self._pictures[index], self._word(index)
        side = _SIDE if max(numbers.shape) < 2 * 8 else 2 * _SIDE
        width = round(side * numbers.shape[1] / max(numbers.shape))
        shown = picture(
            _png(numbers, self._scales[_kind(numbers)]),
            f"{word or f'picture {index + 1}'}: {_seen(numbers)}",
            style=f"width:{width}px;image-rendering:pixelated;border:1px solid #888;margin:0;max-width:none",
        )
        caption = tag("div", word, style=f"width:{max(width, side)}px;font-size:12px;line-height:1.3;text-align:center")
        return tag("div", shown, caption if self._says or self._is else join())

    def _word(self, index: int) -> str:
        says = self._says[index] if self._says else ""
        truth = self._is[index] if self._is else ""
        if says and truth:
            return f"{says} \u2713" if says == truth else f"{says} \u2717 is {truth}"
        return says or truth


def _apart(pictures: Any) -> list[np.ndarray]:
    """The pictures one by one, each (h, w)."""
    if isinstance(pictures, list | tuple):
        return [one for picture in pictures for one in _apart(picture)]
    numbers = torch.as_tensor(pictures).detach().cpu().to(torch.float64).numpy()
    if numbers.shape[-1] == 64 and numbers.ndim < 3:
        numbers = numbers.reshape(-1, 8, 8)
    if numbers.ndim == 4 and numbers.shape[1] == 1:  # as a convolution wants them
        numbers = numbers[:, 0]
    if numbers.ndim not in (2, 3):
        raise ValueError(f"expected pictures of shape (h, w), (n, h, w) or (n, 64), found {tuple(numbers.shape)}")
    return list(numbers.reshape(-1, *numbers.shape[-2:]))


def _words(words: Sequence[Any] | Tensor | None) -> list[str]:
    return [] if words is None else [str(word) for word in (words.tolist() if isinstance(words, Tensor) else words)]


def _signed(picture: np.ndarray) -> bool:
    return bool((picture < 0).any())


def _kind(picture: np.ndarray) -> tuple[tuple[int, ...], bool]:
    """Pictures of one kind share a scale: of one size, and with negative numbers or without."""
    return picture.shape, _signed(picture)


def _scale(alike: list[np.ndarray]) -> float:
    """The largest number of pictures of one kind, and at least full ink where none is negative.

    Pixels from 0 to 1 are a usual scale too; on that of the digits they would all be white.
    """
    largest = max(float(np.nanmax(np.abs(picture), initial=0.0)) for picture in alike)
    return (largest or 1.0) if _signed(alike[0]) else max(largest, _FULL if largest > 1 else 1.0)


def _seen(picture: np.ndarray) -> str:
    """What a picture shows, for who cannot see it."""
    kind = "red where positive, blue where negative" if _signed(picture) else "dark where there is ink"
    return f"{picture.shape[0]} by {picture.shape[1]} numbers, {kind}"


def _png(numbers: np.ndarray, scale: float) -> bytes:
    from matplotlib.image import imsave  # not needed where a lesson is only graded

    share = np.nan_to_num(np.clip(np.abs(numbers) / scale, 0, 1))[..., None]
    full = np.where(numbers[..., None] < 0, _BLUE, _RED) if _signed(numbers) else np.zeros(3)
    colors = (255 + (full - 255) * share).round().astype(np.uint8)
    file = io.BytesIO()
    imsave(file, colors, format="png")
    return file.getvalue()
