"""What an answer reaches: the names that its code looks up in the notebook's namespace, and what they stand for.

Code is read, never run: from the answer on through closures, defaults, methods and whatever the names stand for, as
long as it was defined in the notebook.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeGuard

_MOST = 1000  # objects to look into; no honest answer comes near
_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_HOLDERS = (FunctionType, MethodType, staticmethod, classmethod, property, functools.partial, type)
_STORES = frozenset({"STORE_NAME", "DELETE_NAME"})


def reached(answer: object, namespace: dict[str, Any]) -> dict[str, object]:
    """Each global name that an answer leans on, with its value; none that its own code gives a value to."""
    found: dict[str, object] = {}
    own: set[str] = set()
    waiting: list[object] = [answer]
    seen: dict[int, object] = {}  # the objects too: an id is another's as soon as its object is gone
    while waiting and len(seen) < _MOST:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        waiting += _parts(value, namespace)
        for code in _codes(value, namespace):
            own |= _declared(code)
            new = [name for name in _looked_up(code) if name in namespace and name not in found]
            found |= {name: namespace[name] for name in new}
            waiting += [namespace[name] for name in new]
    return {name: value for name, value in found.items() if name not in own and not name.startswith("__")}


def code_of(value: object) -> CodeType | None:
    """The code of a function, or of the first method of a class."""
    if is_class(value):
        value = next((part for part in vars(value).values() if type(part) is FunctionType), None)
    return value.__code__ if type(value) is FunctionType else None


def is_class(value: object) -> TypeGuard[type]:
    """Whether a value is a class, without asking the value."""
    return issubclass(type(value), type)


def unwrapped(value: object) -> object:
    """What decorators that say so were put around."""
    for _ in range(_MOST):
        inner = inspect.getattr_static(value, "__wrapped__", None)
        if inner is None:
            break
        value = inner
    return value


def _parts(value: object, namespace: dict[str, Any]) -> Iterable[object]:
    """What belongs to a value: the objects that its code holds without a name."""
    if not issubclass(type(value), _HOLDERS):  # looked at from outside: `isinstance` would ask the value itself
        return [type(value), inspect.getattr_static(value, "__wrapped__", None)]
    match value:
        case FunctionType():
            kept = [*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values(), *_closure(value)]
            return [*kept, inspect.getattr_static(value, "__wrapped__", None)]
        case MethodType() | staticmethod() | classmethod():
            return [value.__func__]
        case property():
            return [value.fget, value.fset, value.fdel]
        case functools.partial():
            return [value.func, *value.args, *value.keywords.values()]
        case type():
            return [*value.__bases__, *vars(value).values()] if _is_ours(value, namespace) else []
    return []


def _closure(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # a name that has no value yet
            continue


def _is_ours(kind: type, namespace: dict[str, Any]) -> bool:
    return vars(kind).get("__module__") == namespace.get("__name__")


def _codes(value: object, namespace: dict[str, Any]) -> Iterator[CodeType]:
    """A notebook's function's code, and all that stands in it; nothing of a library's."""
    if type(value) is FunctionType and value.__globals__ is namespace:
        yield from _nested(value.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _looked_up(code: CodeType) -> list[str]:
    """The names that code looks up among the globals: no attribute, and nothing that a class body has given itself."""
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code) if isinstance(step.argval, str)]
    given = {name for kind, name in steps if kind in _STORES}
    return [name for name in dict.fromkeys(name for kind, name in steps if kind in _LOADS) if name not in given]


def _declared(code: CodeType) -> set[str]:
    """The names that code declares `global` and gives a value to."""
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"}
