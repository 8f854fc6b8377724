"""Tools that the lessons use and the reader need not read: pictures of digits, and what to look at memory with.

    from course.instruments import same_memory, show_digits

Each is one line in a lesson. What the reader is meant to copy stands in the lesson itself.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from timeit import Timer
from typing import Any

import torch
from IPython.display import display
from torch import Tensor, nn

from autograder.exercises.probes.devices import OperationCallbackMode
from autograder.exercises.probes.memory_sharing import same_memory as same_memory
from autograder.notebook.reveal_and_shows_error import wrap_message

from .figures.tiles import Pictures as Pictures
from .figures.tiles import apart, words


def show_digits(
    pictures: Any,
    says: Sequence[Any] | Tensor | None = None,
    is_: Sequence[Any] | Tensor | None = None,
    per_row: int = 10,
    *,
    as_ink: bool = False,
) -> None:
    """Show small pictures in rows: numbers from 0 (paper) to 16 (ink), or to 1 where none is larger; blue to
    red where some are negative, or with `as_ink` blue only where there is less than no ink.

    `pictures` is one picture (h, w), or several: a tensor (n, h, w) or (n, 64), or a list of any of these. Below each
    stand what is said of it, and what it is. Pictures of one size and kind share one scale. A nan is left empty.
    """
    display(Pictures(apart(pictures), words(says), words(is_), per_row, as_ink=as_ink))


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
        print(wrap_message("RuntimeError: " + str(error)))
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


def saved_bytes(action: Callable[[], Any], without: Iterable[Tensor] = ()) -> int:
    """Run it, and count the bytes that its graph holds on to: what it saved, each memory once, `without` apart."""
    there_anyway = {tensor.untyped_storage().data_ptr() for tensor in without}
    held: dict[int, Tensor] = {}

    def pack(tensor: Tensor) -> Tensor:
        return held.setdefault(tensor.untyped_storage().data_ptr(), tensor.detach())

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda kept: kept):
        _result = action()  # as long as it lives, so does its graph
    return sum(tensor.nbytes for memory, tensor in held.items() if memory not in there_anyway)


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
    with torch.no_grad(), OperationCallbackMode(lambda name, _: names.append(name.removeprefix("aten."))):
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
