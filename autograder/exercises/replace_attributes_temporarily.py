"""Replace an attribute (`time.perf_counter`, `Tensor.item`) while a block runs, wherever an answer has bound it."""

from __future__ import annotations

import functools
import inspect
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import CellType, FunctionType, MethodType, ModuleType, SimpleNamespace
from typing import Any

from autograder.find_student_modules import find_student_module_file

_DEEPEST = 20  # nested decorators of a function that are followed
_MOST = 10_000  # objects to look into; no honest answer comes near
_PLAIN = frozenset({str, bytes, int, float, bool, type(None)})  # they hold no function
# Nor do these; by name, since who grades a class imports no torch.
_PLAIN_IN_TORCH = frozenset({("torch", "Tensor"), ("torch.nn.parameter", "Parameter")})
_LARGEST = 1_000  # entries of a list or dict: what is longer holds data


@contextmanager
def replace_attribute(owner: Any, name: str, stand_in: object) -> Iterator[None]:
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
def replace_attribute_in_answer(answer: Any, owner: Any, name: str, stand_in: Callable[..., Any]) -> Iterator[None]:
    """Replace `owner.name`, and rebind every name in the answer's code that refers to that object.

    `from time import perf_counter` makes a name that `replace_attribute` leaves alone. Such names are searched in the
    answer's namespace and in the student's own modules, and there in closures, defaults, attributes of classes and
    objects, lists, tuples, dicts and partials. After the block they refer to the original again, including names that
    the answer has bound inside the block.
    """
    original = getattr(owner, name)
    # As an attribute of a class, a builtin function does not take self, and a Python function would.
    other = stand_in if hasattr(original, "__get__") else _Unbound(stand_in)
    with replace_attribute(owner, name, other):
        try:
            _rebind(answer, original, other, _MOST)
            yield
        finally:
            _rebind(answer, other, original, 2 * _MOST)  # the answer may hold more by now


class _Unbound:
    """A callable that does not become a bound method when it is looked up on an instance."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the wrapped function."""
        return self._call(*args, **kwargs)


_Put = Callable[[Any], None]  # puts another object into a place
_Slot = tuple[Any, _Put]


def _rebind(answer: Any, old: object, new: Any, most: int) -> None:
    """Put `new` into each place of `old` among the objects that the answer's code refers to, near ones first."""
    spaces = _Spaces(_namespace_of(answer))
    seen: dict[int, Any] = {}  # the objects too: an id is another's as soon as its object is gone
    waiting = deque[_Slot]([(answer, _nowhere), *_entries(spaces.first)])
    while waiting and len(seen) < most:
        one, put = waiting.popleft()
        if one is old:
            put(new)
        elif not _is_plain(type(one)) and id(one) not in seen:
            seen[id(one)] = one
            waiting += _held(one, put, old, new, spaces, is_answer=one is answer)


def _is_plain(kind: type) -> bool:
    return kind in _PLAIN or (kind.__module__, kind.__name__) in _PLAIN_IN_TORCH


class _Spaces:
    """The namespaces of an answer's code: that of its notebook, and those of the student's own modules."""

    def __init__(self, first: dict[str, Any]) -> None:
        self.first = first
        self._known = {id(first): first}
        self._names = {first.get("__name__")}

    def has(self, kind: type) -> bool:
        """Return whether a class is defined in one of them."""
        return vars(kind).get("__module__") in self._names

    def holds(self, namespace: dict[str, Any]) -> bool:
        """Return whether code with these globals is the answer's: a known namespace, or a student's own module."""
        return id(namespace) in self._known or find_student_module_file(str(namespace.get("__name__"))) is not None

    def new(self, namespace: dict[str, Any]) -> list[_Slot]:
        """Return the places of a namespace at its first visit, and none later."""
        if id(namespace) in self._known:
            return []
        self._known[id(namespace)] = namespace
        self._names.add(namespace.get("__name__"))
        return _entries(namespace)


def _held(one: Any, put: _Put, old: object, new: Any, spaces: _Spaces, is_answer: bool) -> Iterable[_Slot]:
    """Return what an object refers to, each with its place, without running methods that the answer may define."""
    kind = type(one)
    if issubclass(kind, type):
        return _of_class(one) if is_answer or spaces.has(one) else ()
    if kind is FunctionType:
        return _of_function(one, spaces)
    if issubclass(kind, dict):
        return _entries(one) if dict.__len__(one) <= _LARGEST else ()
    if issubclass(kind, list):
        entries = enumerate(list.__iter__(one)) if list.__len__(one) <= _LARGEST else ()
        return [(value, functools.partial(list.__setitem__, one, place)) for place, value in entries]
    if issubclass(kind, tuple):
        return _of_tuple(one, put, old, new)
    if kind is ModuleType:
        return spaces.new(vars(one)) if spaces.holds(vars(one)) else ()
    return _of_holder(one, put, spaces)


def _nowhere(_new: Any) -> None:
    """Put nothing: the answer itself is in no place, and a wrapped function is left as it is."""


def _entries(values: dict[str, Any]) -> list[_Slot]:
    """Return the places of a dict, without the builtins."""
    pairs = [(name, value) for name, value in dict.items(values) if name != "__builtins__"]
    return [(value, functools.partial(dict.__setitem__, values, name)) for name, value in pairs]


def _of_class(own: type) -> list[_Slot]:
    return [(value, functools.partial(type.__setattr__, own, name)) for name, value in list(vars(own).items())]


def _of_function(one: FunctionType, spaces: _Spaces) -> list[_Slot]:
    """Return what a function of the answer refers to; for a library's function, only the function that it wraps."""
    inner: list[_Slot] = [(vars(one).get("__wrapped__"), _nowhere)]
    if not spaces.holds(one.__globals__):
        return inner
    cells = [(_content(cell), functools.partial(setattr, cell, "cell_contents")) for cell in one.__closure__ or ()]
    defaults: list[_Slot] = [(one.__defaults__, functools.partial(setattr, one, "__defaults__"))]
    return [*inner, *cells, *defaults, *_entries(one.__kwdefaults__ or {}), *spaces.new(one.__globals__)]


def _of_tuple(one: tuple[Any, ...], put: _Put, old: object, new: Any) -> list[_Slot]:
    """Return what a tuple refers to; a tuple that holds the object itself is replaced by a new one of its class."""
    if tuple.__len__(one) > _LARGEST:
        return []
    values = list(tuple.__iter__(one))
    if any(value is old for value in values):
        values = [new if value is old else value for value in values]
        put(tuple.__new__(type(one), values))
    return [(value, _nowhere) for value in values]


def _of_holder(one: Any, put: _Put, spaces: _Spaces) -> list[_Slot]:
    """Return what a method, a property, a partial or an object of the answer's own class refers to."""
    match type(one):
        case kind if kind in (staticmethod, classmethod):
            return [(one.__func__, lambda new: put(kind(new)))]
        case kind if kind is MethodType:
            return [(one.__func__, _nowhere), (one.__self__, _nowhere)]
        case kind if kind is property:
            return [(each, _nowhere) for each in (one.fget, one.fset, one.fdel)]
        case kind if kind is functools.partial:
            return _of_partial(one)
        case kind if kind is SimpleNamespace or (spaces.has(kind) and kind.__dictoffset__):
            return [*_entries(object.__getattribute__(one, "__dict__")), (kind, _nowhere)]
        case kind:
            inner = inspect.getattr_static(one, "__wrapped__", None) if callable(one) else None  # that of `lru_cache`
            return [(inner, _nowhere), *([(kind, _nowhere)] if spaces.has(kind) else ())]


def _of_partial(one: functools.partial[Any]) -> list[_Slot]:
    """Return what a partial refers to. Its attributes are read-only, but for `__setstate__`, which pickle uses."""

    def put(func: Any = None, args: Any = None) -> None:
        one.__setstate__((func or one.func, one.args if args is None else args, one.keywords, vars(one)))  # type: ignore[attr-defined]

    return [(one.func, put), (one.args, lambda new: put(args=new)), *_entries(one.keywords)]


def _within(value: Any) -> Any:
    """Return the function wrapped by a decorator, method, property or partial, or None."""
    if holder := _HOLDERS.get(type(value)):
        return getattr(value, holder)
    # Neither lookup runs code of the answer; the first is fast.
    is_function = type(value) is FunctionType
    inner = vars(value).get("__wrapped__") if is_function else inspect.getattr_static(value, "__wrapped__", None)
    return inner if isinstance(inner, FunctionType) else None


_HOLDERS = {
    property: "fget",
    staticmethod: "__func__",
    classmethod: "__func__",
    MethodType: "__func__",
    functools.partial: "func",
}


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
