"""Stubs for `check`, `hint`, `mine`, `progress` and other functions for readers while a submission is graded.

Nobody reads their output there, and no answer may depend on another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def say_nothing(*_args: object, **_kwargs: object) -> None:
    """Do nothing, in place of functions whose output is for a reader."""


def use_lesson_function(_name: object = None, otherwise: object = None, *_args: object, **_kwargs: object) -> object:
    """Return the lesson's own version, in place of `mine`, so that no answer's points depend on another answer."""
    return otherwise


STUBS: dict[str, Callable[..., Any]] = {
    "about": say_nothing,
    "ask_assistant": say_nothing,
    "check": say_nothing,
    "hint": say_nothing,
    "hunt": say_nothing,
    "keep_in_drive": say_nothing,
    "mend": say_nothing,
    "mine": use_lesson_function,
    "progress": say_nothing,
    "review": say_nothing,
}
