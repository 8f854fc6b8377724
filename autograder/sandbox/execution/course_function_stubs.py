"""Stubs for `check`, `hint`, `mine`, `progress` and other functions for readers while a submission is graded.

Nobody reads their output there, and no answer may depend on another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def do_nothing(*_args: object, **_kwargs: object) -> None:
    """Do nothing, in place of functions whose output is for a reader."""


def return_lesson_version(_name: object = None, otherwise: object = None, *_args: object, **_kwargs: object) -> object:
    """Return the lesson's own version, in place of `mine`, so that no answer's points depend on another answer."""
    return otherwise


STUBS: dict[str, Callable[..., Any]] = {
    "about": do_nothing,
    "ask_assistant": do_nothing,
    "check": do_nothing,
    "hint": do_nothing,
    "hunt": do_nothing,
    "keep_in_drive": do_nothing,
    "mend": do_nothing,
    "mine": return_lesson_version,
    "progress": do_nothing,
    "review": do_nothing,
}
