"""A run of a program as far as several runs agree on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from autograder.exercises.exercise import Case
from autograder.exercises.observation import encode_plain_data
from autograder.questions.traced_run import RESULT_IN_WORDS, Event, RunRecorder
from autograder.questions.value_facts import VARIES_IN_WORDS, ValueDescription


@dataclass(frozen=True)
class ReproducibleRun:
    """A run of the program on a case whose events were the same each time, with other random numbers."""

    case: Case
    events: tuple[Event, ...]
    counts: Mapping[int, int]
    returned: Any  # plain data; None if it cannot be compared
    left: Any  # what else the call leaves, as plain data; None if it is not the same each time

    @property
    def entered(self) -> list[Event]:
        """Return the calls from outside: one, or the making of an object and a call of its method."""
        return [event for event in self.events if event.kind == "enter"]

    @property
    def result(self) -> ValueDescription | None:
        """Return what is known of what the last of these calls returned; None if it returned nothing."""
        last = next((event for event in reversed(self.events) if event.kind in ("enter", "return")), None)
        return last.facts[RESULT_IN_WORDS] if last is not None and last.kind == "return" else None


def _place(event: Event) -> tuple[Any, ...]:
    return (
        event.kind,
        event.line,
        event.what,
        tuple(event.facts),
        tuple(event.memory.items()),
        tuple(event.same.items()),
    )


def facts_common_to_runs(one: ReproducibleRun, other: RunRecorder) -> ReproducibleRun | None:
    """Return what holds in a run and in another one; None if they do not come to the same places."""
    if one.counts != other.counts or list(map(_place, one.events)) != list(map(_place, other.events)):
        return None
    events = tuple(_agreed(*pair) for pair in zip(one.events, other.events, strict=True))
    returned, left = (
        mine if same_data(mine, theirs) else None
        for mine, theirs in ((one.returned, other.returned), (one.left, other.left))
    )
    return ReproducibleRun(one.case, events, one.counts, returned, left)


def _agreed(one: Event, two: Event) -> Event:
    """Return an event with the facts that hold in two runs."""
    pairs = {name: (fact, two.facts[name]) for name, fact in one.facts.items()}
    return replace(one, facts={name: _common(*pair) for name, pair in pairs.items()})


def _common(one: ValueDescription, two: ValueDescription) -> ValueDescription:
    if one == two:
        return one
    return replace(one, value="", whole=False, grads="") if one.form == two.form else ValueDescription(VARIES_IN_WORDS)


def same_data(one: Any, two: Any) -> bool:
    """Return whether two values, as plain data, are equal to the last bit."""
    return encode_plain_data(one) == encode_plain_data(two)
