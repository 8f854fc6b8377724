"""What stands in for a notebook's own tools where nobody reads: they tell nothing, and no answer leans on another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def say_nothing(*_args: object, **_kwargs: object) -> None:
    """Stand in for `check` and its like: what they tell is for a reader."""


def the_lessons(_name: object = None, otherwise: object = None, *_args: object, **_kwargs: object) -> object:
    """Stand in for `mine`: the lesson's own version, so that no answer's points depend on another answer."""
    return otherwise


STAND_INS: dict[str, Callable[..., Any]] = {
    "check": say_nothing,
    "hint": say_nothing,
    "mine": the_lessons,
    "progress": say_nothing,
}
