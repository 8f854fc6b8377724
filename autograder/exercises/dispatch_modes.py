"""Dispatch modes of torch that are on, and how those are ended that should not be."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack


def modes_on() -> int:
    """How many modes see each operation now."""
    return len(_get_current_dispatch_mode_stack())


def end_modes(above: int) -> None:
    """End the modes that are on above so many.

    An answer may switch one on and never off, and one that is stopped may be stopped between the two: all that the
    process computes later would go through it.
    """
    for mode in _get_current_dispatch_mode_stack()[above:][::-1]:
        TorchDispatchMode.__exit__(mode, None, None, None)
