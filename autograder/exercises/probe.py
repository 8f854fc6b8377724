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

from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case, Probe
from autograder.exercises.leaked_dispatch_modes import active_mode_count, exit_modes
from autograder.exercises.observation import (
    MAX_ELEMENTS,
    MOST_DIMS,
    ExceptionSnapshot,
    Observation,
    OtherValue,
    Plain,
    TensorSnapshot,
    dtype_without_module,
)

Answer = Callable[..., Any]
ObservationFunction = Callable[[Answer, Case], Observation]

MAX_SNAPSHOT_CHARACTERS = 300
_DEEPEST = 20
_INT_BITS = 4096  # longer ones are slow to write as text, and Python refuses the longest


def snapshot_value(value: object, depth: int = 0) -> Plain:  # noqa: PLR0911 (one return for each kind of value)
    """Turn a value into plain data: a `TensorSnapshot`, a container item by item, or `OtherValue` for other objects."""
    if isinstance(value, torch.Tensor):
        if value.dim() > MOST_DIMS:  # more than an observation may hold
            return OtherValue(f"tensor of {value.dim()} dims", "(values not read)")
        return _see_tensor(value)
    if value is None or type(value) in (bool, float, torch.dtype, torch.device, torch.Size):
        return value
    if type(value) is int and value.bit_length() > _INT_BITS:
        return OtherValue("int", f"a number of {value.bit_length()} bits")
    if type(value) is int:
        return value
    if type(value) is str:
        return value if len(value) <= 100 * MAX_SNAPSHOT_CHARACTERS else value[: 100 * MAX_SNAPSHOT_CHARACTERS]
    if type(value) in (list, tuple) and depth < _DEEPEST:
        return type(value)(snapshot_value(item, depth + 1) for item in value)  # type: ignore[attr-defined,call-arg]
    if type(value) is dict and depth < _DEEPEST:
        return {dict_key_as_plain_data(key): snapshot_value(item, depth + 1) for key, item in value.items()}
    return OtherValue(type(value).__name__[:MAX_SNAPSHOT_CHARACTERS], _short_text(value))


def snapshot_without_requires_grad(result: object) -> Plain:
    """Return a result as plain data, without the `requires_grad` of a tensor.

    For exercises in which another requirement observes that.
    """
    seen = snapshot_value(result)
    return replace(seen, requires_grad=False) if isinstance(seen, TensorSnapshot) else seen


def snapshot_with_int_as_float(value: object) -> Plain:
    """Return a value as plain data, with an int as a float: 4 counts as 4.0."""
    seen = snapshot_value(value)
    return float(seen) if type(seen) is int else seen


def snapshot_without_values(value: object) -> Plain:
    """Return a tensor as `TensorSnapshot` without its values; any other value as `snapshot_value` does."""
    seen = snapshot_value(value)
    return replace(seen, values=None) if isinstance(seen, TensorSnapshot) else seen


def dict_key_as_plain_data(key: object) -> str | int:
    """Return a key of a dict as plain data: a str or an int unchanged, anything else as a short text."""
    return key if type(key) in (str, int) else f"{type(key).__name__} {_short_text(key)}"  # type: ignore[return-value]


def _short_text(value: object) -> str:
    try:
        return repr(value)[:MAX_SNAPSHOT_CHARACTERS]
    except Exception as error:  # a student's __repr__ may raise anything
        return f"(its repr raised {type(error).__name__})"


def _see_tensor(tensor: torch.Tensor) -> Plain:
    if tensor.layout != torch.strided or tensor.is_quantized or tensor.is_nested:
        layout = "torch.nested" if tensor.is_nested else tensor.layout
        return OtherValue("Tensor", f"tensor with layout {layout}")
    # A Parameter or another subclass is recorded as a plain tensor: what matters is what it holds.
    readable = tensor.device.type != "meta" and tensor.numel() <= MAX_ELEMENTS
    values = _values(tensor) if readable else None
    return TensorSnapshot(
        values, tuple(tensor.shape), dtype_without_module(tensor.dtype), tensor.device.type, tensor.requires_grad
    )


def _values(tensor: torch.Tensor) -> torch.Tensor:
    values = tensor.detach().to("cpu").resolve_neg().resolve_conj()
    if values.is_complex():  # as pairs of real numbers: safetensors does not hold every complex dtype
        values = torch.view_as_real(values.to(torch.complex128))
    return values.contiguous().clone()


def copy_case_data(value: Any) -> Any:
    """Return a deep copy of a case's plain data that keeps each tensor's stride order."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if type(value) in (list, tuple):
        return type(value)(copy_case_data(item) for item in value)
    if type(value) is dict:
        return {key: copy_case_data(item) for key, item in value.items()}
    return value


def snapshot_exception(error: BaseException) -> ExceptionSnapshot:
    """Record an exception: its type, its message, and the innermost line of the student's code in its traceback."""
    return ExceptionSnapshot(
        type(error).__name__[:MAX_SNAPSHOT_CHARACTERS], str(error)[:MAX_SNAPSHOT_CHARACTERS], _student_line(error)
    )


_PYTHON = (f"{sysconfig.get_path('stdlib')}{os.sep}", "<frozen")  # where Python's own modules come from


def _student_line(error: BaseException) -> str:
    lines = [
        linecache.getline(frame.f_code.co_filename, line, frame.f_globals)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if not frame.f_code.co_filename.startswith(_PYTHON)
        and "site-packages" not in frame.f_code.co_filename
        and not _is_ours(frame)
    ]
    return lines[-1].strip()[:MAX_SNAPSHOT_CHARACTERS] if lines else ""


def _is_ours(frame: FrameType) -> bool:
    """Return whether a frame runs code of this package or of a course, or of the import system."""
    module = str(frame.f_globals.get("__name__", ""))
    return module.startswith("autograder") or "importlib" in frame.f_code.co_filename


def call_recording_exception(call: Callable[[], Observation]) -> Observation:
    """Run code of a probe that calls student code; record an exception, except KeyboardInterrupt, as `raised`."""
    modes = active_mode_count()
    try:
        return call()
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too: exit() in an answer must not end the notebook
        return {"raised": snapshot_exception(error)}
    finally:
        exit_modes(above=modes)


def names_of_changed_values(before: Mapping[str, Plain], after: Mapping[str, Plain]) -> list[str]:
    """Return the names whose values differ between `before` and `after`, compared without tolerance."""
    exact = Tolerance(0.0, 0.0)
    return [name for name in before if first_difference(before[name], after[name], exact) is not None]


def arguments_by_label(args: Iterable[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Map a name to each argument of a call: "argument 1", "argument 2", ..., or the keyword."""
    return {f"argument {place}": arg for place, arg in enumerate(args, 1)} | dict(kwargs)


def observe_changed_arguments(
    case: Case, args: Iterable[Any], kwargs: Mapping[str, Any], tracked: bool = False
) -> list[str]:
    """Return what a call changed about its arguments: those with other values or shapes, and changed flags of tensors.

    A shape is told as "shape of argument 1", and a flag as "requires_grad of argument 1" or ".grad of argument 1": a
    float tensor should require grad exactly if `tracked`, and no leaf should have a `.grad`.
    """
    after = arguments_by_label(args, kwargs)
    before = arguments_by_label(case.args, case.kwargs)
    values = [
        f"shape of {name}" if _has_another_shape(before[name], after[name]) else name
        for name in names_of_changed_values(before, after)
    ]
    return values + [f"{flag} of {name}" for name, arg in after.items() for flag in _new_flags(arg, tracked)]


def _has_another_shape(before: object, after: object) -> bool:
    both = isinstance(before, torch.Tensor) and isinstance(after, torch.Tensor)
    return both and before.shape != after.shape  # type: ignore[attr-defined]


def _new_flags(arg: object, tracked: bool) -> Iterator[str]:
    """Yield "requires_grad" and ".grad" if a tensor's flag differs from the one that it was passed with."""
    if isinstance(arg, torch.Tensor) and arg.requires_grad != (tracked and arg.is_floating_point()):
        yield "requires_grad"
    if isinstance(arg, torch.Tensor) and arg.is_leaf and arg.grad is not None:
        yield ".grad"


def make_probe_recording_exceptions(look: ObservationFunction, *kept: str) -> Probe:
    """Make a probe of `look`: record an exception of the student's code as `raised`, and keep the facets in `kept`.

    All facets are kept if none is named, or if `look` returned without some of them, as it may do for a result of an
    unexpected form.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        seen = call_recording_exception(lambda: look(answer, case))
        return {facet: seen[facet] for facet in kept} if kept and set(kept) <= set(seen) else seen

    return probe


def select_facets(probe: Probe, *kept: str) -> Probe:
    """Return a probe that keeps some facets of another's observation, with None for a missing one."""

    def narrowed(answer: Answer, case: Case) -> Observation:
        seen = probe(answer, case)
        return seen if "raised" in seen else {facet: seen.get(facet) for facet in kept}

    return narrowed


def combine_probes_in_order(*in_order: Probe) -> Probe:
    """Return a probe that runs several probes in order, each with a new call of the answer.

    Each facet holds the list of the values that the probes recorded for it. If a call raises, only its exception is
    recorded, and no further probe runs.
    """

    def probe(answer: Answer, case: Case) -> Observation:
        seen: Observation = {}
        for one in in_order:
            for facet, value in one(answer, case).items():
                seen[facet] = [*seen.get(facet, []), value] if facet != "raised" else value
            if "raised" in seen:
                return {"raised": seen["raised"]}
        return seen

    return probe
