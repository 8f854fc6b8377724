"""The probes of chapter 2 that watch an answer at work: its calls, the graphs it keeps, what it costs."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from autograder.watching.difference import Difference, Tolerance, first_difference
from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation, Plain, Seen
from autograder.watching.probe import attempt, copy_of, see, values

from ._ch02_functions import FUNCTIONS, mean_loss
from ._ch02_probes import OLD_GRAD, Answer, left_on, state, warm

# --- gradient descent


def steps_of(answer: Answer, case: Case) -> Observation:
    """Whether each call of the function meets a leaf, and whether the result is free and has its own memory."""

    def look() -> Observation:
        name, x0, *rest = copy_of(case.args)
        leaves: list[bool] = []

        def f(x: Tensor) -> Tensor:
            leaves.append(x.is_leaf)
            return FUNCTIONS[name](x)

        result = answer(f, x0, *rest, **case.kwargs)
        mine = isinstance(result, Tensor) and result.data_ptr() != x0.data_ptr()
        return {"returned": values(result), "tracked": bool(getattr(result, "requires_grad", False))} | {
            "on_leaves": all(leaves),
            "own_memory": mine,
        }

    return attempt(look)


# --- accumulating gradients


def accumulated(*kept: str, old: bool = False, times: int = 1) -> Probe:
    """The gradients that are returned, those left in .grad, what became of the parameters, the calls of the loss."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        batches, params = copy_of(case.args)
        for param in params:
            warm(param) if old else param.requires_grad_()
        start = [values(param) for param in params]
        loss = mean_loss(params)
        calls: list[int] = []

        def loss_fn(batch: Tensor) -> Tensor:
            calls.append(len(batch))
            return loss(batch)

        results = [_as_list(answer(loss_fn, batches, params)) for _ in range(times)]
        seen: Observation = {"returned": results[0], "again": results[1:]}
        seen["in_grad"] = [see(param.grad) for param in params]
        seen["called_with"] = sorted(calls)
        seen["moved"] = first_difference(start, [values(param) for param in params], Tolerance(0.0, 0.0)) is not None
        return {facet: seen[facet] for facet in kept}

    return probe


def _as_list(result: object) -> Plain:
    seen = see(result)
    return list(seen) if isinstance(seen, tuple) else seen


# --- losses one after another


class _Mark:
    """Something that lives exactly as long as the graph node whose metadata holds it."""


def running(*kept: str, generator: bool = True) -> Probe:
    """The mean of losses, and what was seen each time the next one was asked for.

    Facets: `returned`, `gradient` (the sum that arrived at the parameter), `so_far` (the same, each time the next
    loss was asked for) and `kept` (how many graphs were still held then, besides the last one; at most).
    """

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        (levels,) = case.args
        param = torch.ones((), dtype=torch.float64, requires_grad=True)
        graphs: list[weakref.ref[_Mark]] = []
        so_far: list[float] = []
        held: list[int] = [0]

        def losses() -> Iterator[Tensor]:
            for level in levels:
                yield _marked_loss(param, level, graphs)
                so_far.append(_arrived(param))
                held.append(sum(graph() is not None for graph in graphs[:-1]))

        result = answer(losses() if generator else list(losses()))
        seen: Observation = {"returned": see(result), "gradient": _arrived(param)}
        seen |= {"so_far": so_far, "kept": max(held)}
        return {facet: seen[facet] for facet in kept}

    return probe


def _marked_loss(param: Tensor, level: float, graphs: list[weakref.ref[_Mark]]) -> Tensor:
    loss = param * param * level
    mark = _Mark()
    graphs.append(weakref.ref(mark))
    assert loss.grad_fn is not None
    loss.grad_fn.metadata["mark"] = mark  # type: ignore[index]
    return loss


def _arrived(param: Tensor) -> float:
    return 0.0 if param.grad is None else float(param.grad)


# --- a gradient that stops


class _WatchRecording(TorchFunctionMode):
    """Note whether anything is computed while recording is off."""

    off = False

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.off = self.off or not torch.is_grad_enabled()
        return func(*args, **(kwargs or {}))


def stopped(*kept: str, leaves: bool = False) -> Probe:
    """The loss of two tracked tensors, the gradients that arrive behind each, and what became of the two."""

    def probe(answer: Answer, case: Case) -> Observation:
        return attempt(lambda: look(answer, case))

    def look(answer: Answer, case: Case) -> Observation:
        sources = copy_of(case.args)
        warm(*sources)
        a, b = sources if leaves else (source * 1 for source in sources)
        before = state(a), state(b)
        with _WatchRecording() as watch:
            loss = answer(a, b)
        tracked = bool(getattr(loss, "requires_grad", False))
        seen: Observation = {
            "returned": values(loss),
            "tracked": tracked,
            "left": [left_on(before[0], a), left_on(before[1], b)],
        }
        if isinstance(loss, Tensor) and loss.requires_grad and loss.numel() == 1:
            loss.sum().backward()
        seen["to_a"], seen["to_b"] = (see(source.grad - OLD_GRAD) for source in sources)
        seen["recording_off"] = watch.off
        return {facet: seen[facet] for facet in kept}

    return probe


def compare_stopped(expected: Observation, got: Observation, tolerance: Tolerance) -> Difference | None:
    """The usual comparison, but how the gradient was stopped matters only where none arrives at all.

    A right answer may switch recording off for a copy of b. Of two answers that lose the gradient of a, it tells
    which mistake was made.
    """
    seen = [{facet: value for facet, value in one.items() if facet != "recording_off"} for one in (expected, got)]
    difference = first_difference(seen[0], seen[1], tolerance)
    arrives = isinstance(expected.get("to_a"), Seen) and bool(expected["to_a"].values.any())
    return difference if difference or arrives else first_difference(expected, got, tolerance)


# --- the cost of a Hessian


class _Count(TorchDispatchMode):
    """Count the operations, and find the largest tensor that one of them makes."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations = 0
        self.largest = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        sizes = [leaf.numel() for leaf in tree_leaves(result) if isinstance(leaf, Tensor)]
        self.operations += 1
        self.largest = max([self.largest, *sizes])
        return result


def hessian_cost(answer: Answer, case: Case) -> Observation:
    """Whether a tensor with as many entries as the Hessian is made, and whether a backward pass per entry of x is."""

    def look() -> Observation:
        name, x, v = copy_of(case.args)
        with _Count() as count:
            result = answer(FUNCTIONS[name], x, v)
        # The fewest operations of a loop over x are some ten per entry; two passes need far fewer, whatever x is.
        many = count.operations > 8 * x.numel()
        return {"returned": values(result), "full_hessian": count.largest >= x.numel() ** 2, "many_passes": many}

    return attempt(look)
