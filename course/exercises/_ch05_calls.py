"""How a report spells the calls of chapter 5: what a case names (a model, an optimizer, a loss) stands in brackets."""

from __future__ import annotations

import torch
from torch import Tensor

from autograder.judging.words import argument, call_of, number, shorten, sized
from autograder.watching.exercise import Case


def picking(name: str, case: Case) -> str:
    """The device that is asked for, and what is there; where it is asked several times, one situation after another."""
    prefer, situations = case.args
    call = call_of(name) if prefer is None else call_of(name, repr(prefer))
    return f"{call}, with {', then with '.join(situations)}"


def moving(name: str, case: Case) -> str:
    """The nest that is moved, with its tensors x and y by name."""
    nest, x, y, device = case.args
    shapes = f"where x has shape {tuple(x.shape)}, y {tuple(y.shape)}"
    return f"{call_of(name, 'x' if nest == 'a tensor' else nest, repr(device))}, {shapes}"


def stepping(name: str, case: Case) -> str:
    """A step with a model and an optimizer; parts of the batch may be on the device already."""
    device, model, optimizer, *rest = case.args
    there = rest[0] if isinstance(rest[0], list) else []
    x, y = (
        sized(f"{side}_batch", part, ", there already" if side in there else "")
        for side, part in zip("xy", rest[-2:], strict=True)
    )
    return call_of(name, repr(device), f"<{model}>", f"<{optimizer}>", "criterion", x, y)


def timing(name: str, case: Case) -> str:
    """A function that is timed, with the seconds that each of its calls takes."""
    kind, takes, warmup, iters = case.args
    at_once = "; fn returns before the work is done" if kind == "asynchronous" else ""
    seconds = ", ".join(map(number, takes))
    return f"{call_of(name, 'fn', str(warmup), str(iters), 'sync')}, where calls of fn take {seconds} seconds{at_once}"


def planning(name: str, case: Case) -> str:
    """A plan for a model and a batch."""
    model, batch, optimizer, dtype = case.args
    return call_of(name, f"<{model}>", sized("batch", batch), repr(optimizer), repr(dtype))


def watching(name: str, case: Case) -> str:
    """What the function does that is watched."""
    doing, x = case.args
    return f"{name}(fn), where fn does: {doing}; x has shape {tuple(x.shape)}"


def in_region(name: str, case: Case) -> str:
    """The function that comes back is called with x."""
    block, x = case.args
    return f"{name}(<{block}>)({argument(x)})"


def reporting(name: str, case: Case) -> str:
    """The gradients of a loss, one list for each parameter."""
    wanted, scales = case.args
    slopes = ["None" if one is None else f"[{', '.join(map(number, one.tolist()))}]" for one in wanted]
    return f"{call_of(name, 'loss_fn', repr(scales))}, with gradients {shorten(', '.join(slopes))}"


def scaling(name: str, case: Case) -> str:
    """A scaler, and what the gradients of each round are."""
    (rounds,) = case.args
    return f"{call_of(name, **case.kwargs)}, then rounds with gradients: {', '.join(map(_finite, rounds))}"


def _finite(grads: list[Tensor | None]) -> str:
    there = [grad for grad in grads if grad is not None]
    words = "finite" if all(bool(torch.isfinite(grad).all()) for grad in there) else "not finite"
    return words if len(there) == len(grads) else f"{words} (one is None)"


def stepping_mixed(name: str, case: Case) -> str:
    """A step with a model, an optimizer and a scaler."""
    model, optimizer, scale, x, y = case.args
    parts = (f"<{model}>", f"<{optimizer}>", f"<scaler, factor {scale:g}>", sized("x", x), sized("y", y))
    return call_of(name, *parts, **case.kwargs)


def hunting(name: str, case: Case) -> str:
    """The part of the hunt that a requirement is about, and how it is called."""
    x, *rest = case.args
    width, given = x.shape[-1], sized("x", x)
    if "AddPlaces" in case.requirement:
        return f"AddPlaces({width})({given})"
    if "KeepColumns" in case.requirement:
        return f"KeepColumns({width}, {rest[0]})({given})"
    if "Stack" in case.requirement:
        return f"Stack({[width, *rest[0]]})({given})"
    if "start" in case.requirement:
        return f"start(<model>, {rest[0]}, device)"
    if "epoch" in case.requirement:
        return f"epoch(<model>, <SGD>, <batches of {rest[1]} of {len(x)} rows>, device)"
    return f"{name}(), then each of the five"
