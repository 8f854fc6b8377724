"""Describe the values in a run for questions: type in words, shape, dtype, and the value itself where it is short."""

from __future__ import annotations

import ast
import copy
import linecache
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.utils.data import DataLoader, TensorDataset

from autograder.exercises.leaked_dispatch_modes import active_mode_count
from autograder.exercises.observation import OtherValue, TensorSnapshot
from autograder.exercises.probe import snapshot_value
from autograder.questions.computed_question import value_as_choice_text

OBJECT_IN_WORDS = "an object"  # the form of what cannot be described
HIDDEN_PARAMETERS_IN_WORDS = ", with parameters that are frozen, shared or in no layer"  # behind the text of a module
VARIES_IN_WORDS = "not the same in each run"  # the form of what two runs do not agree on
_MOST_NUMBERS = 12  # of a tensor whose values are shown
_LONGEST = 100  # characters of a value that is shown
_LONGEST_MODULE = 300  # characters of a module, without whose layers a reader can work out nothing
_MOST_ITEMS = 6  # of a container whose items are described


@dataclass(frozen=True)
class ValueDescription:
    """What is known of a value: its form in words, and the value itself in words ("" if it is long or unknown).

    `shape` and `dtype` are those of a tensor, `grads` the gradients of leaves that learn, in words. `whole` says that
    `value` and `grads` show all there is, exactly: it is False for rounded numbers. `is_given` says that it is a tensor
    of the call, or a view of one with its shape.
    """

    form: str
    value: str = ""
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    whole: bool = False
    grads: str = ""
    is_given: bool = False

    def told(self) -> str:
        """Return the value with its form, or its form alone."""
        if not self.value:
            return self.form if self.shape is None else f"a tensor, {self.form}"
        grads = f", with `grad` `{self.grads}`" if self.grads else ""
        return f"`{self.value}` ({self.form}{grads})" if "of shape" in self.form else f"`{self.value}`{grads}"


def describe_value(value: object) -> ValueDescription:
    """Return what is known of a value."""
    try:
        return _fact(value)
    except Exception:  # a module that is not made yet cannot be written, a tensor in a transform cannot be read
        return ValueDescription(OBJECT_IN_WORDS)


def _fact(value: object) -> ValueDescription:
    if type(value) in (torch.Tensor, torch.nn.Parameter):
        return _tensor_fact(value)  # type: ignore[arg-type]
    if value is None or type(value) in (bool, int, float, str, torch.dtype, torch.Size):
        text = value_as_choice_text(value, quoted=True)
        whole = not isinstance(value, float) or float(text) == value
        return ValueDescription(_article(type(value).__name__), text if len(text) <= _LONGEST else "", whole=whole)
    if type(value) in (tuple, list, dict):
        return _items_fact(value)
    if isinstance(value, torch.nn.Module):
        text = re.sub(r"\n\s*", ", ", re.sub(r"(?<=\()\n\s*|\n\s*(?=\))", "", repr(value)))
        dtypes = {str(each.dtype).removeprefix("torch.") for each in value.parameters()} - {"float32"}
        of_dtype = f" with {'/'.join(sorted(dtypes))} parameters" if dtypes else ""
        hidden = HIDDEN_PARAMETERS_IN_WORDS if _hides_parameters(value) else ""
        return ValueDescription(
            f"`{text}`{of_dtype}{hidden}" if len(text) <= _LONGEST_MODULE else _article(type(value).__name__)
        )
    if type(value) is DataLoader:
        return _loader_fact(value)
    if type(value).__name__ in ("list_iterator", "tuple_iterator"):
        return ValueDescription(f"an iterator over {describe_value(list(copy.copy(value))).form}")  # type: ignore[call-overload]
    if text := _lambda_text(value):
        return ValueDescription("a function", text, whole=True)
    return ValueDescription(_known_name(value) or ("a function" if callable(value) else _article(type(value).__name__)))


def _hides_parameters(module: torch.nn.Module) -> bool:
    """Return whether parameters of a module are frozen, have two names, or belong to no layer that its text shows."""
    every = [param for _, param in module.named_parameters(remove_duplicate=False)]
    containers = (torch.nn.Sequential, torch.nn.ModuleList, torch.nn.ModuleDict)
    own = any(
        each._parameters and (isinstance(each, containers) or not type(each).__module__.startswith("torch.nn."))
        for each in module.modules()
    )
    return own or len({*map(id, every)}) < len(every) or not all(param.requires_grad for param in every)


def _lambda_text(value: object) -> str:
    """Return the text of a lambda that uses nothing but its arguments and torch; "" for anything else."""
    code = getattr(value, "__code__", None)
    if getattr(value, "__name__", "") != "<lambda>" or code is None or code.co_freevars:
        return ""
    line = linecache.getline(code.co_filename, code.co_firstlineno)
    _, word, after = line.partition("lambda")
    for end in range(len(after), 0, -1) if "lambda" not in after else ():
        with suppress(SyntaxError):
            node = ast.parse(f"{word}{after[:end]}".strip(), mode="eval").body
            if isinstance(node, ast.Lambda):
                names = {each.id for each in ast.walk(node.body) if isinstance(each, ast.Name)}
                return ast.unparse(node) if names <= {*code.co_varnames, "torch"} else ""
    return ""


def _loader_fact(loader: DataLoader[Any]) -> ValueDescription:
    dataset = loader.dataset
    if loader.batch_size is None or loader.drop_last or not isinstance(dataset, TensorDataset):
        return ValueDescription("a DataLoader")
    over = "; ".join(describe_value(each).form for each in dataset.tensors)
    return ValueDescription(f"a DataLoader in batches of {loader.batch_size}, over {over}")


def _known_name(value: object) -> str:
    """Return the name by which a course calls a function or class of torch; "" for anything else."""
    name = getattr(value, "__name__", None)
    among = (("torch", torch), ("nn", torch.nn), ("F", torch.nn.functional)) if isinstance(name, str) else ()
    return next((f"`{short}.{name}`" for short, module in among if getattr(module, str(name), None) is value), "")


def _tensor_fact(tensor: torch.Tensor) -> ValueDescription:
    shape, dtype = tuple(tensor.shape), str(tensor.dtype).removeprefix("torch.")
    value, whole, grads = "", False, ""
    if tensor.numel() <= _MOST_NUMBERS and tensor.device.type == "cpu" and not active_mode_count():
        seen = snapshot_value(tensor)
        numbers = seen.values if isinstance(seen, TensorSnapshot) else None
        value = "" if numbers is None or tensor.is_complex() else value_as_choice_text(numbers)
        value = value if len(value) <= _LONGEST else ""
        grad = (
            describe_value(tensor.grad)
            if tensor.is_leaf and (tensor.requires_grad or tensor.grad is not None)
            else None
        )
        grads = "" if grad is None else grad.value
        is_exact = bool(value) and numbers is not None and bool((4 * numbers % 1 == 0).all())
        whole = is_exact and (grad is None or (bool(grads) and grad.whole))
    there = "" if tensor.device.type == "cpu" else f" on {tensor.device.type}"
    return ValueDescription(f"{dtype} of shape {shape}{there}", value, shape, dtype, whole, grads if value else "")


def _items_fact(value: Any) -> ValueDescription:
    """Return what is known of a container, which names its items if they are few."""
    items = {key: describe_value(item) for key, item in (value.items() if type(value) is dict else enumerate(value))}
    kind, forms = type(value).__name__, [each.form for each in items.values()]
    known = 0 < len(items) <= _MOST_ITEMS and all(each.value for each in items.values())
    if kind == "dict":
        inside = "{" + ", ".join(f"{key!r}: {form}" for key, form in zip(items, forms, strict=True)) + "}"
        text = "{" + ", ".join(f"{key!r}: {each.value}" for key, each in items.items()) + "}"
    else:
        inside = f"of {len(items)}" + (f", each {forms[0]}" if len({*forms}) == 1 else f": {'; '.join(forms)}")
        text = ", ".join(each.value for each in items.values())
        text = f"[{text}]" if kind == "list" else f"({text}{',' * (len(items) == 1)})"
    form = f"a {kind} {inside}" if 0 < len(items) <= _MOST_ITEMS else f"a {kind} of {len(items)}"
    form = form if items else f"an empty {kind}"
    has_grads = known and len(text) <= _LONGEST and any(each.grads for each in items.values())
    grads = "[" + ", ".join(each.grads or "None" for each in items.values()) + "]" if has_grads else ""
    whole = all(each.whole for each in items.values())
    return ValueDescription(form, text if known and len(text) <= _LONGEST else "", whole=whole, grads=grads)


def _article(name: str) -> str:
    vowel = name[:1].lower() in "aeiou" or name[:2] == "SG"  # an SGD
    return "None" if name == "NoneType" else f"{'an' if vowel else 'a'} {name}"


def comparable_plain_data(value: object) -> Any:
    """Return a value as plain data without `requires_grad`; None if it holds something that is no plain data."""
    seen = snapshot_value(value)
    return None if _holds_other(seen) else _without_grad(seen)


def _holds_other(seen: Any) -> bool:
    if isinstance(seen, TensorSnapshot):
        return seen.values is None
    return isinstance(seen, OtherValue) or any(map(_holds_other, container_items(seen)))


def container_items(plain: Any) -> Collection[Any]:
    """Return the items of a container in plain data; nothing for anything else."""
    return plain.values() if isinstance(plain, dict) else plain if isinstance(plain, list | tuple) else ()


def _without_grad(seen: Any) -> Any:
    if isinstance(seen, TensorSnapshot):
        return replace(seen, requires_grad=False)
    if isinstance(seen, dict):
        return {key: _without_grad(item) for key, item in seen.items()}
    return type(seen)(map(_without_grad, seen)) if type(seen) in (list, tuple) else seen
