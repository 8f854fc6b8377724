"""Observe devices: which ones an answer sees, where its tensors are, and whether it waits for a value.

The meta device stands in for an accelerator: a tensor on it has a shape and a dtype but no values, and torch raises an
error if an operation mixes it with a CPU tensor.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, snapshot_value
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer


@contextmanager
def simulate_accelerators(answer: Answer, there: str) -> Iterator[None]:
    """Simulate a machine with the accelerators that the text `there` names ("cuda", "mps"), while the block runs.

    `is_available` answers so for the answer's code. `is_built` returns True for both: an accelerator that torch is
    built for need not be available, and an answer that asks it instead is noticed.
    """
    with ExitStack() as stack:
        for module, built, name in ((torch.cuda, torch.backends.cuda, "cuda"), (*[torch.backends.mps] * 2, "mps")):
            stack.enter_context(
                replace_attribute_in_answer(answer, module, "is_available", lambda name=name: name in there)
            )
            stack.enter_context(replace_attribute_in_answer(answer, built, "is_built", lambda: True))
        yield


# --- where tensors are


def describe_containers(value: Any, known: object = None) -> Plain:
    """Describe nested containers as plain data: types and keys, and a text with dtype, shape, device for each tensor.

    The values of a tensor are included unless it is on the meta device. `known` is an object that is neither tensor nor
    container; the description says that it is this object.
    """
    if isinstance(value, Tensor):
        held = "" if value.device.type == "meta" else f" holding {value.tolist()}"
        return f"{value.dtype} tensor {tuple(value.shape)} on {value.device.type}{held}"
    if isinstance(value, dict):
        return [
            type(value).__name__,
            [[snapshot_value(key), describe_containers(item, known)] for key, item in value.items()],
        ]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [describe_containers(item, known) for item in value]]
    return "the very object that was given" if known is not None and value is known else snapshot_value(value)


def find_lists_and_dicts(value: Any) -> list[Any]:
    """Return the lists and dicts in an object, itself included; not the tuples, as all empty tuples are one object."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    own = [value] if isinstance(value, list | dict) else []
    return own + [one for item in items for one in find_lists_and_dicts(item)]


def observe_module_on_meta(module: nn.Module, x: Tensor) -> Observation:
    """Observe a module on the CPU, and after `.to` on the meta device.

    Facets: `learned` (the number of trainable numbers), `here` and `elsewhere` (the result on the CPU and on the meta
    device), `input_kept` (whether the input is unchanged), and `left_behind` (the shapes of tensors that did not move).
    """
    given = x.clone()
    seen: Observation = {"learned": sum(p.numel() for p in module.parameters() if p.requires_grad)}
    seen |= {"here": snapshot_value(module(given).detach()), "input_kept": torch.equal(given, x)}
    module.to("meta")
    tensors = [*module.parameters(), *module.buffers()]
    tensors += [value for inner in module.modules() for value in vars(inner).values() if isinstance(value, Tensor)]
    seen["left_behind"] = [tuple(t.shape) for t in tensors if t.device.type != "meta"]
    seen["elsewhere"] = snapshot_value(module(x.to("meta")).detach())
    return seen


# --- what waits for a device


class OperationCallbackMode(TorchDispatchMode):
    """A dispatch mode that calls `note(name, result)` for each operation, with a name such as `aten.mm`."""

    def __init__(self, note: Callable[[str, Any], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._note = note

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self._note(str(func.overloadpacket), result)
        return result


@contextmanager
def record_value_reads(answer: Answer) -> Iterator[list[str]]:
    """Collect each read of a tensor's values by the answer: `.item()` and the like, print, `tolist`, `numpy`.

    On a GPU, each of these waits for the device. A dispatch mode does not intercept the last three, so the methods are
    replaced; a tensor is printed without its values meanwhile.
    """
    asked: list[str] = []

    def note(name: str, _: Any) -> None:
        if name == "aten._local_scalar_dense":
            asked.append(name)

    def shown(*_: Any, **__: Any) -> str:
        asked.append("print")
        return "tensor(...)"

    def noted(name: str) -> Callable[..., Any]:
        give = getattr(Tensor, name)

        def given(tensor: Tensor, *args: Any, **kwargs: Any) -> Any:
            asked.append(name)
            return give(tensor, *args, **kwargs)

        return given

    lists, arrays = (replace_attribute_in_answer(answer, Tensor, name, noted(name)) for name in ("tolist", "numpy"))
    with replace_attribute_in_answer(answer, Tensor, "__repr__", shown), lists, arrays, OperationCallbackMode(note):
        yield asked


@contextmanager
def patch_reads_to_zero(answer: Answer) -> Iterator[None]:
    """Let `.item()` and `float()` of every tensor return 0.0 while the block runs, on the meta device too.

    So an answer that reads values can be observed there in all other respects.
    """
    item, as_float = (
        replace_attribute_in_answer(answer, Tensor, name, lambda _: 0.0) for name in ("item", "__float__")
    )
    with item, as_float:
        yield
