"""Torch without notes that nobody reads: they are a tenth of what it takes to train a model as small as ours.

Each step of an optimizer is told to a profiler, which is not there; each seed is noted down with a traceback for a card
that has not begun yet, or is none. By day the tests, and what is forked for them, do without. Where a profiler runs, it
is told everything.
"""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace
from typing import Any


@cache
def spare_notes() -> None:
    """Let torch do without in this process, and in what is forked from it."""
    import torch

    record = torch.autograd.profiler.record_function
    begin, end, is_on = record.__enter__, record.__exit__, torch._C._autograd._profiler_enabled

    def enter(self: Any) -> Any:
        return begin(self) if is_on() else self

    def leave(self: Any, *error: Any) -> None:
        if self.record is not None:
            end(self, *error)

    record.__enter__, record.__exit__ = enter, leave  # type: ignore[method-assign]
    for cards in (torch.cuda, torch.xpu):
        vars(cards)["traceback"] = SimpleNamespace(format_stack=list)
