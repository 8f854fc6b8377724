"""Devices: which of them are there, where the tensors of an answer are, and whether anything waits for a value.

The meta device stands in for an accelerator: a tensor on it has a shape and a dtype, and refuses to meet the CPU.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.exercises.observation import Observation, Plain
from autograder.exercises.patched_names import replaced_for
from autograder.exercises.probe import Answer, see


@contextmanager
def accelerators(answer: Answer, there: str) -> Iterator[None]:
    """Let torch tell an answer that those accelerators are there which a text names: "cuda", "mps", both, none.

    It is built for both, on whatever machine that is: what is built in need not be there.
    """
    with ExitStack() as stack:
        for module, built, name in ((torch.cuda, torch.backends.cuda, "cuda"), (*[torch.backends.mps] * 2, "mps")):
            stack.enter_context(replaced_for(answer, module, "is_available", lambda name=name: name in there))
            stack.enter_context(replaced_for(answer, built, "is_built", lambda: True))
        yield


# --- where tensors are


def tree(value: Any, known: object = None) -> Plain:
    """Types, keys and devices, item by item; a tensor is told with its dtype, its shape and what it holds.

    `known` is an object that is neither tensor nor container: what is told of it is that it is this very one.
    """
    if isinstance(value, Tensor):
        held = "" if value.device.type == "meta" else f" holding {value.tolist()}"
        return f"{value.dtype} tensor {tuple(value.shape)} on {value.device.type}{held}"
    if isinstance(value, dict):
        return [type(value).__name__, [[see(key), tree(item, known)] for key, item in value.items()]]
    if isinstance(value, list | tuple):
        return [type(value).__name__, [tree(item, known) for item in value]]
    return "the very object that was given" if known is not None and value is known else see(value)


def containers(value: Any) -> list[Any]:
    """The lists and dicts in an object; no tuples, since an empty one is one and the same everywhere."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    own = [value] if isinstance(value, list | dict) else []
    return own + [one for item in items for one in containers(item)]


def module_elsewhere(module: nn.Module, x: Tensor) -> Observation:
    """A module on the CPU, and after `.to` on the meta device.

    Facets: `learned` (how many numbers), `here` and `elsewhere` (what comes out, on the CPU and on the meta device),
    `input_kept`, and `left_behind`: the shapes of the tensors that did not move.
    """
    given = x.clone()
    seen: Observation = {"learned": sum(p.numel() for p in module.parameters() if p.requires_grad)}
    seen |= {"here": see(module(given).detach()), "input_kept": torch.equal(given, x)}
    module.to("meta")
    tensors = [*module.parameters(), *module.buffers()]
    tensors += [value for inner in module.modules() for value in vars(inner).values() if isinstance(value, Tensor)]
    seen["left_behind"] = [tuple(t.shape) for t in tensors if t.device.type != "meta"]
    seen["elsewhere"] = see(module(x.to("meta")).detach())
    return seen


# --- what waits for a device


class Operations(TorchDispatchMode):
    """Tell a function of each operation that torch runs in a block: its name, such as `aten.mm`, and its result."""

    def __init__(self, note: Callable[[str, Any], None]) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._note = note

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self._note(str(func.overloadpacket), result)
        return result


@contextmanager
def values_asked_for(answer: Answer) -> Iterator[list[str]]:
    """Note each time that an answer asks for the value of a tensor: in its operation, a print, a list or an array.

    A GPU would have to be waited for then. No mode sees the last three; here, a tensor is not printed with its values.
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

    lists, arrays = (replaced_for(answer, Tensor, name, noted(name)) for name in ("tolist", "numpy"))
    with replaced_for(answer, Tensor, "__repr__", shown), lists, arrays, Operations(note):
        yield asked


@contextmanager
def zero_for_each_value(answer: Answer) -> Iterator[None]:
    """Let each tensor give 0.0 as its value, on the meta device too: for what is seen besides the waiting."""
    item, as_float = (replaced_for(answer, Tensor, name, lambda _: 0.0) for name in ("item", "__float__"))
    with item, as_float:
        yield
