"""Find the global names of a notebook that an answer uses, directly or through other functions and classes.

Bytecode is inspected, never run. The search follows closures, defaults, methods, decorators and the values of global
names, as far as they were defined in the notebook.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType, MethodType
from typing import Any, TypeGuard

_MOST = 1000  # objects to inspect; ordinary answers need far fewer
_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})
_HOLDERS = (FunctionType, MethodType, staticmethod, classmethod, property, functools.partial, type)
_STORES = frozenset({"STORE_NAME", "DELETE_NAME"})


def transitive_names(answer: object, namespace: dict[str, Any]) -> dict[str, object]:
    """Map each global name that an answer uses, directly or not, to its value in `namespace`.

    Names that its own code binds with `global` are left out.
    """
    found: dict[str, object] = {}
    own: set[str] = set()
    waiting: list[object] = [answer]
    seen: dict[int, object] = {}  # it keeps the objects alive: otherwise a new object could get an old id
    while waiting and len(seen) < _MOST:
        value = waiting.pop()
        if id(value) in seen:
            continue
        seen[id(value)] = value
        waiting += _referents(value, namespace)
        for code in _codes(value, namespace):
            own |= _declared(code)
            new = [name for name in _looked_up(code) if name in namespace and name not in found]
            found |= {name: namespace[name] for name in new}
            waiting += [namespace[name] for name in new]
    return {name: value for name, value in found.items() if name not in own and not name.startswith("__")}


def code_object_of(value: object) -> CodeType | None:
    """Return the code of a function, or of the first method of a class; None for anything else."""
    if is_class(value):
        value = next((part for part in vars(value).values() if type(part) is FunctionType), None)
    return value.__code__ if type(value) is FunctionType else None


def is_class(value: object) -> TypeGuard[type]:
    """Return whether a value is a class; unlike `isinstance`, this never runs code of the value."""
    return issubclass(type(value), type)


def undecorated(value: object) -> object:
    """Return the innermost `__wrapped__` value, which is the function below its decorators."""
    for _ in range(_MOST):
        inner = inspect.getattr_static(value, "__wrapped__", None)
        if inner is None:
            break
        value = inner
    return value


def _referents(value: object, namespace: dict[str, Any]) -> Iterable[object]:
    """Return the objects that a value refers to other than by global names, such as defaults and methods."""
    if not issubclass(type(value), _HOLDERS):  # `isinstance` could run code of the value
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
            return [*value.__bases__, *vars(value).values()] if _is_of_notebook(value, namespace) else []
    return []


def _closure(function: FunctionType) -> Iterator[object]:
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the variable has no value yet
            continue


def _is_of_notebook(kind: type, namespace: dict[str, Any]) -> bool:
    return vars(kind).get("__module__") == namespace.get("__name__")


def _codes(value: object, namespace: dict[str, Any]) -> Iterator[CodeType]:
    """Yield the code of a function that the notebook defines, with nested functions; nothing of a library's."""
    if type(value) is FunctionType and value.__globals__ is namespace:
        yield from _nested(value.__code__)


def _nested(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _nested(constant)


def _looked_up(code: CodeType) -> list[str]:
    """Return the names that code looks up as globals, without those that a class body binds itself."""
    steps = [(step.opname, step.argval) for step in dis.get_instructions(code) if isinstance(step.argval, str)]
    given = {name for kind, name in steps if kind in _STORES}
    return [name for name in dict.fromkeys(name for kind, name in steps if kind in _LOADS) if name not in given]


def _declared(code: CodeType) -> set[str]:
    """Return the names that code declares `global` and binds."""
    return {str(step.argval) for step in dis.get_instructions(code) if step.opname == "STORE_GLOBAL"}
