"""Count torch's active TorchDispatchModes, and exit those that an answer entered and did not leave."""

from __future__ import annotations

from torch.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode_stack


def active_mode_count() -> int:
    """Return the number of active dispatch modes, each of which intercepts every operation."""
    return len(_get_current_dispatch_mode_stack())


def exit_modes(above: int) -> None:
    """End the active modes from the innermost out until `above` of them are left.

    An answer may enter a mode and never leave it, or may be stopped inside of it. Everything that the process computes
    later would pass through that mode.
    """
    for mode in _get_current_dispatch_mode_stack()[above:][::-1]:
        TorchDispatchMode.__exit__(mode, None, None, None)
