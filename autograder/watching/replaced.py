"""Something of torch's stands for something else, for as long as an answer is watched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def replaced(owner: Any, name: str, stand_in: object) -> Iterator[None]:
    """Let `owner.name` be another object in a block: a class's method, a module's function. Then all is as before, also
    where the owner had the name only from a base class.
    """
    missing = object()
    own = vars(owner).get(name, missing)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        if own is missing:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
