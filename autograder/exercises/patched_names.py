"""Replace an attribute (`time.perf_counter`, `Tensor.item`) while a block runs, wherever an answer has bound it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType
from typing import Any

_DEEPEST = 20  # nested decorators of a function that are followed


@contextmanager
def replaced(owner: Any, name: str, stand_in: object) -> Iterator[None]:
    """Replace `owner.name`, such as a method or a module's function, while a block runs, and restore it afterwards.

    If the owner inherited the name from a base class, the replacement is deleted.
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


@contextmanager
def replaced_for(answer: Any, owner: Any, name: str, stand_in: Callable[..., Any]) -> Iterator[None]:
    """Replace `owner.name` as `replaced` does, and rebind every name in the answer's code that refers to that object.

    `from time import perf_counter` makes a name that `replaced` does not change. Such names are searched in the
    answer's namespace, and in the closures, default arguments and class attributes of everything defined in it. After
    the block they refer to the original again, including names that the answer has bound inside the block.
    """
    original = getattr(owner, name)
    # As an attribute of a class, a builtin function does not take self, and a Python function would.
    other = stand_in if hasattr(original, "__get__") else _Unbound(stand_in)
    with replaced(owner, name, other):
        try:
            _rebind(answer, original, other)
            yield
        finally:
            _rebind(answer, other, original)


class _Unbound:
    """A callable that does not become a bound method when it is looked up on an instance."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the wrapped function."""
        return self._call(*args, **kwargs)


def _rebind(answer: Any, old: object, new: Any) -> None:
    """Rebind to `new` every name in the answer's code that is bound to `old`."""
    namespace = _namespace_of(answer)
    for name in [name for name, value in namespace.items() if value is old]:
        namespace[name] = new
    for part in _own_code(answer, namespace):
        if isinstance(part, type):
            _rebind_attributes(part, old, new)
        else:
            _rebind_in_function(part, old, new)


def _rebind_attributes(own: type, old: object, new: Any) -> None:
    for name, value in list(vars(own).items()):
        if value is old:
            setattr(own, name, new)
        elif isinstance(value, staticmethod) and value.__func__ is old:
            setattr(own, name, staticmethod(new))


def _rebind_in_function(own: FunctionType, old: object, new: Any) -> None:
    for cell in own.__closure__ or ():
        if _content(cell) is old:
            cell.cell_contents = new
    if any(value is old for value in own.__defaults__ or ()):
        own.__defaults__ = tuple(new if value is old else value for value in own.__defaults__ or ())
    by_keyword = own.__kwdefaults__ or {}
    for name in [name for name, value in by_keyword.items() if value is old]:
        by_keyword[name] = new


def _own_code(answer: Any, namespace: dict[str, Any]) -> Iterable[FunctionType | type]:
    """Return the functions and classes defined in a namespace, and those inside closures, classes and decorators."""
    found: dict[int, FunctionType | type] = {}
    waiting = [answer, *namespace.values()]
    while waiting:
        one = waiting.pop()
        if (not callable(one) and type(one) not in _HOLDERS) or id(one) in found:
            continue
        if type(one) is FunctionType and one.__globals__ is namespace:
            found[id(one)] = one
            waiting += map(_content, one.__closure__ or ())
        elif issubclass(type(one), type):  # isinstance would call the answer's own __class__
            if one is answer or one.__module__ == namespace.get("__name__"):
                found[id(one)] = one
                waiting += vars(one).values()
        elif (inner := _within(one)) is not None:
            waiting.append(inner)
    return found.values()


_HOLDERS = {
    property: "fget",
    staticmethod: "__func__",
    classmethod: "__func__",
    MethodType: "__func__",
    functools.partial: "func",
}


def _within(value: Any) -> Any:
    """Return the function wrapped by a decorator, method, property or partial, or None."""
    if holder := _HOLDERS.get(type(value)):
        return getattr(value, holder)
    # Neither lookup runs code of the answer; the first is fast.
    is_function = type(value) is FunctionType
    inner = vars(value).get("__wrapped__") if is_function else inspect.getattr_static(value, "__wrapped__", None)
    return inner if isinstance(inner, FunctionType) else None


def _namespace_of(answer: Any) -> dict[str, Any]:
    """Return the globals of a function, or of a class's methods; for any other object, those of its class."""
    for _ in range(_DEEPEST):  # bounded: a function's `__wrapped__` may be itself
        if not isinstance(answer, type) and (inner := _within(answer)) is not None:
            answer = inner
    if isinstance(answer, FunctionType):
        return answer.__globals__
    own = answer if isinstance(answer, type) else type(answer)
    members = [_within(value) or value for value in vars(own).values()]
    found = next((value.__globals__ for value in members if isinstance(value, FunctionType)), None)
    return vars(sys.modules[own.__module__]) if found is None else found


def _content(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # a name that has no value yet
        return None
