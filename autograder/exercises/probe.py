"""Probes: call a student's answer on one case and write down what can be seen. A probe never decides anything."""

from __future__ import annotations

import linecache
import os
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from types import FrameType
from typing import Any

import torch

from autograder.exercises.difference import Tolerance, first_difference
from autograder.exercises.dispatch_modes import end_modes, modes_on
from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import (
    MAX_ELEMENTS,
    MOST_DIMS,
    Foreign,
    Observation,
    Plain,
    Raised,
    Seen,
    dtype_name,
)

Answer = Callable[..., Any]
Look = Callable[[Answer, Case], Observation]

MAX_TEXT = 300
_DEEPEST = 20
_INT_BITS = 4096  # longer ones are slow to write as text, and Python refuses the longest


def see(value: object, depth: int = 0) -> Plain:  # noqa: PLR0911 (one return for each kind of value)
    """Turn any value into plain data: tensors with what is known of them, containers item by item, the rest as text."""
    if isinstance(value, torch.Tensor):
        if value.dim() > MOST_DIMS:  # more than an observation may hold
            return Foreign(f"tensor of {value.dim()} dims", "(values not read)")
        return _see_tensor(value)
    if value is None or type(value) in (bool, float, torch.dtype, torch.device, torch.Size):
        return value
    if type(value) is int and value.bit_length() > _INT_BITS:
        return Foreign("int", f"a number of {value.bit_length()} bits")
    if type(value) is int:
        return value
    if type(value) is str:
        return value if len(value) <= 100 * MAX_TEXT else value[: 100 * MAX_TEXT]
    if type(value) in (list, tuple) and depth < _DEEPEST:
        return type(value)(see(item, depth + 1) for item in value)  # type: ignore[attr-defined,call-arg]
    if type(value) is dict and depth < _DEEPEST:
        return {plain_key(key): see(item, depth + 1) for key, item in value.items()}
    return Foreign(type(value).__name__[:MAX_TEXT], _short_text(value))


def values(result: object) -> Plain:
    """What a result holds, whether it is tracked or not; another requirement watches that."""
    seen = see(result)
    return replace(seen, requires_grad=False) if isinstance(seen, Seen) else seen


def number(value: object) -> Plain:
    """A plain number as a float: 4 counts as 4.0."""
    seen = see(value)
    return float(seen) if type(seen) is int else seen


def outline(value: object) -> Plain:
    """What is known of a tensor without its numbers; anything else as it is."""
    seen = see(value)
    return replace(seen, values=None) if isinstance(seen, Seen) else seen


def plain_key(key: object) -> str | int:
    """A key of a dict: a text or a number, or a short text of anything else."""
    return key if type(key) in (str, int) else f"{type(key).__name__} {_short_text(key)}"  # type: ignore[return-value]


def _short_text(value: object) -> str:
    try:
        return repr(value)[:MAX_TEXT]
    except Exception as error:  # a student's __repr__ may raise anything
        return f"(its repr raised {type(error).__name__})"


def _see_tensor(tensor: torch.Tensor) -> Plain:
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
        layout = "torch.nested" if tensor.is_nested else tensor.layout
        return Foreign("Tensor", f"tensor with layout {layout}")
    # What matters is what the tensor holds; a Parameter or another subclass is seen as a tensor.
    readable = tensor.device.type != "meta" and tensor.numel() <= MAX_ELEMENTS
    values = _values(tensor) if readable else None
    return Seen(values, tuple(tensor.shape), dtype_name(tensor.dtype), tensor.device.type, tensor.requires_grad)


def _values(tensor: torch.Tensor) -> torch.Tensor:
    values = tensor.detach().to("cpu").resolve_neg().resolve_conj()
    if values.is_complex():  # as pairs of real numbers: not every complex dtype can travel
        values = torch.view_as_real(values.to(torch.complex128))
    return values.contiguous().clone()


def copy_of(value: Any) -> Any:
    """A deep copy of a case's plain data that keeps each tensor's stride order."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(copy_of(item) for item in value)
    if type(value) is dict:
        return {key: copy_of(item) for key, item in value.items()}
    return value


def raised(error: BaseException) -> Raised:
    """What is worth telling of an exception: type, message, and the student's line that it came through last."""
    return Raised(type(error).__name__[:MAX_TEXT], str(error)[:MAX_TEXT], _student_line(error))


_PYTHON = (f"{sysconfig.get_path('stdlib')}{os.sep}", "<frozen")  # where Python's own modules come from


def _student_line(error: BaseException) -> str:
    lines = [
        linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(_PYTHON)
        and "site-packages" not in frame.f_code.co_filename
        and not _is_ours(frame)
    ]
    return lines[-1].strip()[:MAX_TEXT] if lines else ""


def _is_ours(frame: FrameType) -> bool:
    """Whether a frame runs code of this package, or of a course, which is imported under a name of its own."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith("autograder") or "importlib" in frame.f_code.co_filename


def attempt(call: Callable[[], Observation]) -> Observation:
    """Run part of a probe that enters student code; an exception there becomes the facet `raised`."""
    modes = modes_on()
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: exit() in an answer must not end the notebook
        return {"raised": raised(error)}
    finally:
        end_modes(above=modes)


def changed(before: Mapping[str, Plain], after: Mapping[str, Plain]) -> list[str]:
    """What is no longer as it was, to the last bit, by name."""
    exact = Tolerance(0.0, 0.0)
    return [what for what in before if first_difference(before[what], after[what], exact) is not None]


def named_arguments(args: Iterable[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a call by name: `argument 1`, or the keyword."""
    return {f"argument {place}": arg for place, arg in enumerate(args, 1)} | dict(kwargs)


def changed_inputs(case: Case, args: Iterable[Any], kwargs: Mapping[str, Any], tracked: bool = False) -> list[str]:
    """Return the names of the arguments that no longer hold what the case holds, and of what came to be on others.

    A tensor that a function was given without requires_grad has none afterwards, and no .grad; where its floats were
    `tracked`, they still are.
    """
    after = named_arguments(args, kwargs)
    values = changed(named_arguments(case.args, case.kwargs), after)
    return values + [f"{flag} of {name}" for name, arg in after.items() for flag in _new_flags(arg, tracked)]


def _new_flags(arg: object, tracked: bool) -> Iterator[str]:
    """Yield what a tensor has got, or lost, beside its values."""
    if isinstance(arg, torch.Tensor) and arg.requires_grad != (tracked and arg.is_floating_point()):
        yield "requires_grad"
    if isinstance(arg, torch.Tensor) and arg.is_leaf and arg.grad is not None:
        yield ".grad"


def watched(look: Look, *kept: str) -> Probe:
    """The probe that looks, whatever a student's code raises: of what is seen, the facets in `kept`, or else all.

    A look that sees another form of result than it expects may return that alone; it is kept as it is.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        seen = attempt(lambda: look(answer, case))
        return {facet: seen[facet] for facet in kept} if kept and set(kept) <= set(seen) else seen

    return probe


def facets(probe: Probe, *kept: str) -> Probe:
    """Keep some facets of what a probe sees; None stands for one that there is not."""

    def narrowed(answer: Answer, case: Case) -> Observation:
        seen = probe(answer, case)
        return seen if "raised" in seen else {facet: seen.get(facet) for facet in kept}

    return narrowed


def in_turn(*in_order: Probe) -> Probe:
    """Watch a case with several probes, each of which calls the answer anew; each facet is a list."""

    def probe(answer: Answer, case: Case) -> Observation:
        seen: Observation = {}
        for one in in_order:
            for facet, value in one(answer, case).items():
                seen[facet] = [*seen.get(facet, []), value] if facet != "raised" else value
            if "raised" in seen:
                return {"raised": seen["raised"]}
        return seen

    return probe
