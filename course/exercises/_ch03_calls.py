"""How a report spells the calls of chapter 3: a class is made, then called; a sample module stands in brackets."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from autograder.diagnosis.difference_messages import argument_text, call_from_parts
from autograder.exercises.exercise import Case
from autograder.exercises.probes.module_classes import INPUT_KEYWORDS
from autograder.exercises.probes.sample_modules import split_sample_case

REPEATS = {"repeats": "Called twice with the same x, your module gives two results: something in it draws by chance."}
CUT_OFF = {
    "cut_off": "No gradient arrives at these parameters: something cuts them off from the result, as `.detach()`, "
    "`.data` and `no_grad` do, or they are not used."
}
OWN_PARAMETERS = {
    "own_parameters": "Two modules made one after another have parameters in common: training one changes the other. "
    "Each `__init__` makes its own layers."
}
AXES = {"shape": "The last axis alone changes its length. The axes in front of it, however many, stay as they are."}


def made_and_called(name: str, case: Case) -> str:
    """A class is made with its arguments; then the module is called with x, or with one batch after another."""
    options = dict(case.kwargs)
    inputs = [options.pop(key) for key in INPUT_KEYWORDS if key in options]
    parts = [arg if isinstance(arg, str) else argument_text(arg) for arg in case.args]  # nn.Tanh travels as its name
    return call_from_parts(name, *parts, **options) + "".join(map(_input, inputs))


def _input(value: Any) -> str:
    if isinstance(value, list):
        return f"(batch), for batches of {', '.join(str(len(batch)) for batch in value)} rows"
    return f"({argument_text(value)})" if isinstance(value, Tensor) else f"(<tensor {value}>)"


def on_module(name: str, case: Case) -> str:
    """A function is called with a module, which the case names, with the sizes of its layers."""
    kind, sizes, given = split_sample_case(case)
    widths = f", sizes {', '.join(map(str, sizes))}" if sizes else ""
    return call_from_parts(name, f"<{kind}{widths}>", *map(_argument, given), **case.kwargs)


def _argument(value: Any) -> str:
    if isinstance(value, tuple):
        return str(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: <tensor {tuple(item.shape)}>" for key, item in value.items()) + "}"
    return argument_text(value)
