"""Explorers: widgets that show shapes, graphs and training loops on the reader's own tensors.

Each begins in its widget: `shape_widget.py` (how shapes combine), `autograd_widget.py` (a graph, step by step),
`loop_stepper_widget.py` (the lines of a training step), `playground_widget.py` (training on points in a plane),
`drawing_pad_widget.py` (a model reads a drawn digit) and `parsons_problem_widget.py` (put a program's lines in order).
`quiz_widget.py` asks questions. All are built on `explorer_base_widget.py` and `explorer_controls.py`;
`recorded_animation.py` records films for pages that have no kernel.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from explorers.autograd_widget import autograd_stepper
    from explorers.drawing_pad_widget import digit_pad
    from explorers.loop_stepper_widget import loop_stepper
    from explorers.parsons_problem_widget import arrange
    from explorers.playground_widget import playground
    from explorers.shape_widget import shape_explorer

__all__ = ["arrange", "autograd_stepper", "digit_pad", "loop_stepper", "playground", "shape_explorer"]
_HOMES = {
    "arrange": "parsons_problem_widget",
    "autograd_stepper": "autograd_widget",
    "digit_pad": "drawing_pad_widget",
    "loop_stepper": "loop_stepper_widget",
    "playground": "playground_widget",
    "shape_explorer": "shape_widget",
}


def __getattr__(name: str) -> Any:
    """Import an explorer on first use, so that a notebook that opens none loads no widgets."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if find_spec(f"explorers.{_HOMES[name]}") is None:
        raise ImportError(f"{name} is not packed into this notebook, which carries the explorers that it opens.")
    return getattr(import_module(f"explorers.{_HOMES[name]}"), name)
