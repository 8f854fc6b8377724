"""Record what happens in a run of a program whose syntax tree `ast_instrumentation` has added calls to.

Facts are recorded, and of live objects only the arguments of the shown calls are kept, so that all else is freed as
usual. A run ends at its limit, without threads and signals.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any

import torch

from autograder.exercises.leaked_dispatch_modes import active_mode_count
from autograder.questions.ast_instrumentation import FILE, TRACE
from autograder.questions.question_search_limit import SearchLimit
from autograder.questions.value_facts import ValueDescription, comparable_plain_data, describe_value

RESULT_IN_WORDS = "the result"  # the name of what a function returns


class TracedRunTimeout(BaseException):
    """Ends a program at its limit; no Exception, so that `except Exception` in the program lets it through."""


@dataclass(frozen=True)
class Event:
    """The values recorded the first time that a traced run reaches a place in the program.

    `kind` is "enter" for a call from outside, "inner" for one from the program itself, "after" a statement, "part"
    of one, "return", or "left" for what the arguments of all calls from outside hold once one of them is over. `what`
    is the function or the expression. `memory` gives tensors that share memory the same number, `same` gives names of
    one object the same number, and `owners` are tensors that fill their memory.
    """

    kind: str
    line: int
    what: str
    facts: Mapping[str, ValueDescription]
    memory: Mapping[str, int] = field(default_factory=dict)
    same: Mapping[str, int] = field(default_factory=dict)
    owners: tuple[str, ...] = ()


@dataclass(frozen=True)
class CallFromOutside:
    """A shown call from outside: the function's name, and copies of its arguments; None if there can be none."""

    what: str
    arguments: Mapping[str, Any] | None

    @classmethod
    def of(cls, what: str, values: Mapping[str, Any]) -> CallFromOutside:
        """Return the call with copies of these arguments, of which some may hold others."""
        given = {name: value for name, value in values.items() if name != "self"}
        try:
            # What a function refers to besides is no copy.
            return cls(what, None if any(map(_is_function, given.values())) else copy.deepcopy(given))
        except Exception:  # a generator, or a tensor with a graph
            return cls(what, None)


@dataclass
class RunRecorder:
    """The record of one run of a program: the events of the shown calls, and how often each line ran in them.

    Shown is the first call of one of the program's functions, and all that it calls; where that makes an object, the
    next call is shown as well if it is a method of that object. No step follows once `limit` is reached. With
    `turns_sets` the program goes through sets in the reverse order.
    """

    limit: SearchLimit
    record: bool = True
    turns_sets: bool = False
    events: list[Event] = field(default_factory=list)
    counts: Counter[int] = field(default_factory=Counter)
    returned: Any = None
    has_returned: bool = False
    left: Any = None  # what else the call leaves: whether its result requires grad, and the numbers of its modules
    failed_in: int = 0  # the line that ended the shown call with an error
    error: str = ""  # the type of that error
    stopped: bool = False
    calls: list[CallFromOutside] = field(default_factory=list)
    _depth: int = 0
    _calls: int = 0
    _shown: int = 1
    _made: int = 0
    _seen: set[tuple[str, int, str]] = field(default_factory=set)
    _given: set[tuple[int, tuple[int, ...]]] = field(default_factory=set)
    _modules: dict[str, torch.nn.Module] = field(default_factory=dict)
    _arguments: dict[str, Any] = field(default_factory=dict)

    def _is_shown(self) -> bool:
        if self.limit.is_over():
            self.stopped = True
            raise TracedRunTimeout
        return 0 < self._calls <= self._shown and self._depth > 0

    def _note(self, kind: str, line: int, what: str, values: Mapping[str, Any], bound: tuple[str, ...]) -> None:
        if not self.record or (kind, line, what) in self._seen:
            return
        self._seen.add((kind, line, what))
        if active_mode_count():  # a mode would see what is asked of a tensor here
            return
        values = dict(_with_attributes(values))
        facts = {name: self._fact(values[name]) for name in bound if name in values}
        own = {name: each for name, each in values.items() if _has_memory(each)}
        memory = _grouped({name: each.untyped_storage().data_ptr() for name, each in own.items()})
        same = _grouped({name: id(each) for name, each in own.items()})
        owners = tuple(name for name, each in own.items() if each.untyped_storage().nbytes() == each.nbytes)
        self.events.append(Event(kind, line, what, facts, memory, same, owners))

    def _fact(self, value: Any) -> ValueDescription:
        """Return what is known of a value, and whether it is a tensor of the call."""
        fact = describe_value(value)
        return replace(fact, is_given=True) if not self._given.isdisjoint(_places(value)) else fact

    def enter(self, what: str, line: int, /, **values: Any) -> None:
        """Note a call of a function with its arguments."""
        if self._depth == 0:
            self._calls += 1
            if self._calls == 1 and what == "__init__":
                self._made, self._shown = id(next(iter(values.values()), None)), 2
            elif self._calls == 2 and id(next(iter(values.values()), None)) != self._made:
                self._shown = 1
        kind = "inner" if self._depth else "enter"
        self._depth += 1
        if self._is_shown():
            if kind == "enter" and self.record:
                self._modules |= {name: each for name, each in values.items() if isinstance(each, torch.nn.Module)}
                self._arguments |= {name: value for name, value in values.items() if name != "self"}
                self.calls.append(CallFromOutside.of(what, values))
                self._given.update(place for each in values.values() for place in _places_in(each))
            self._note(kind, line, what, values, tuple(values))

    def in_turn(self, items: Any, /) -> Any:
        """Return what is gone through: of a set, its items in the order of this record."""
        return list(items)[::-1] if self.turns_sets and type(items) in (set, frozenset) else items

    def leave(self) -> None:
        """Note that a function ends, and after a call from outside what the arguments hold."""
        if self._depth == 1 and 0 < self._calls <= self._shown:
            self._note("left", 0, f"call {self._calls}", self._arguments, tuple(self._arguments))
        self._depth -= 1

    def failed(self, error: BaseException) -> None:
        """Note that a function ends with an error: the last line of the program in its traceback."""
        if self._depth != 1 or not 0 < self._calls <= self._shown:
            return
        self.error, trace = type(error).__name__, error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == FILE:
                self.failed_in = trace.tb_lineno
            trace = trace.tb_next

    def begin(self, line: int, /) -> None:
        """Note that a statement runs."""
        if self._is_shown():
            self.counts[line] += 1

    def after(self, line: int, bound: tuple[str, ...], /, **values: Any) -> None:
        """Note what the names that a statement bound hold after it."""
        if self._is_shown():
            self._note("after", line, "", values, bound)

    def part(self, line: int, what: str, value: Any, /) -> Any:
        """Note what an expression gives, and return it."""
        if self._is_shown():
            self._note("part", line, what, {what: value}, (what,))
        return value

    def result(self, line: int, value: Any, /, **values: Any) -> Any:
        """Note what a function returns, and return it."""
        if self._is_shown() and self._depth == 1:
            self.returned, self.has_returned = comparable_plain_data(value), True
            if self.record:
                held = {name: comparable_plain_data(dict(each.state_dict())) for name, each in self._modules.items()}
                self.left = [getattr(value, "requires_grad", None), held]
            self._note("return", line, "", {**values, RESULT_IN_WORDS: value}, (RESULT_IN_WORDS,))
        return value


def _places_in(value: Any) -> list[tuple[int, tuple[int, ...]]]:
    """Return the places of a tensor, or of those in a container."""
    items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return _places(value) + [place for each in items for place in _places_in(each)]


def _places(value: Any) -> list[tuple[int, tuple[int, ...]]]:
    """Return where a tensor's memory begins, and its shape; nothing for anything else."""
    return [(value.data_ptr(), tuple(value.shape))] if not active_mode_count() and _has_memory(value) else []


def _has_memory(value: Any) -> bool:
    """Return whether a value is a plain tensor whose numbers lie in the memory of the CPU; in a transform none is."""
    is_plain = type(value) in (torch.Tensor, torch.nn.Parameter) and value.device.type == "cpu" and value.numel() > 0
    return is_plain and not torch._C._functorch.is_functorch_wrapped_tensor(value)


def _with_attributes(values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield names with their values, and the attributes of `self` as names."""
    for name, value in values.items():
        yield name, value
        if name == "self":
            there = dict(vars(value)) if hasattr(value, "__dict__") else {}
            there |= there.get("_parameters", {}) | there.get("_buffers", {})
            yield from ((f"self.{each}", item) for each, item in there.items() if each[0] != "_")


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, torch.nn.Module | type)


def _grouped(keys: Mapping[str, int]) -> dict[str, int]:
    numbers: dict[int, int] = {}
    return {name: numbers.setdefault(key, len(numbers)) for name, key in keys.items()}


def run_definitions(code: CodeType, names: Mapping[str, Any], recorder: RunRecorder) -> dict[str, Any]:
    """Run traced definitions in a copy of a namespace, and return the copy."""
    scope = {**names, TRACE: recorder}
    exec(code, scope)
    return scope
