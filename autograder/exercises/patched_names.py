"""Replace an attribute (`time.perf_counter`, `Tensor.item`) while a block runs, wherever an answer has bound it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType
from typing import Any

_DEEPEST = 20  # decorators around a function


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


@contextmanager
def replaced_for(answer: Any, owner: Any, name: str, stand_in: Callable[..., Any]) -> Iterator[None]:
    """Replace `owner.name` as `replaced` does, and rebind each name in the answer's code that stands for that object.

    `from time import perf_counter`, in whichever cell, makes a name that `replaced` does not reach. Such names stand in
    the answer's namespace, and in the closures, default arguments and class attributes of what is defined in it.
    After the block they are bound to the original again, those that the answer has bound within it, too.
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
    """A callable that stays as it is when it is looked up through an instance."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call what was given."""
        return self._call(*args, **kwargs)


def _rebind(answer: Any, old: object, new: Any) -> None:
    """Bind each name in the answer's code to `new` that is bound to `old`."""
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
    """The functions and classes that are defined in a namespace, also those in closures, classes and decorators."""
    found: dict[int, FunctionType | type] = {}
    waiting = [answer, *namespace.values()]
    while waiting:
        one = waiting.pop()
        if (not callable(one) and type(one) not in _HOLDERS) or id(one) in found:
            continue
        if type(one) is FunctionType and one.__globals__ is namespace:
            found[id(one)] = one
            waiting += map(_content, one.__closure__ or ())
        elif issubclass(type(one), type):  # isinstance would ask an object of the answer's for its __class__
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
    """The function in a decorator's, a method, a property or a partial; None where there is none."""
    if holder := _HOLDERS.get(type(value)):
        return getattr(value, holder)
    # Both run no code of the answer's; the first is fast.
    is_function = type(value) is FunctionType
    inner = vars(value).get("__wrapped__") if is_function else inspect.getattr_static(value, "__wrapped__", None)
    return inner if isinstance(inner, FunctionType) else None


def _namespace_of(answer: Any) -> dict[str, Any]:
    """The globals of a function, or of a class's methods; of any other object, those of its class."""
    for _ in range(_DEEPEST):  # a function may say that it wraps itself
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
