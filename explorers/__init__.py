"""Explorers: see shapes, the graph and the training loop on tensors of your own; draw what your model reads; put lines
in order before you write them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorers.autograd_widget import autograd_stepper
    from explorers.line_puzzle_widget import arrange
    from explorers.loop_widget import loop_stepper
    from explorers.pad_widget import digit_pad
    from explorers.playground_widget import playground
    from explorers.shape_widget import shape_explorer

__all__ = ["arrange", "autograd_stepper", "digit_pad", "loop_stepper", "playground", "shape_explorer"]
_HOMES = {
    "arrange": "line_puzzle_widget",
    "autograd_stepper": "autograd_widget",
    "digit_pad": "pad_widget",
    "loop_stepper": "loop_widget",
    "playground": "playground_widget",
    "shape_explorer": "shape_widget",
}


def __getattr__(name: str) -> Any:
    """Import what is asked for, when it is: a notebook that opens no explorer loads no widgets."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"explorers.{_HOMES[name]}"), name)
