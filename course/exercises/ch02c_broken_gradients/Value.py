"""`Value`: build a small autograd engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import Any

import torch

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_with_int_as_float
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer
from autograder.exercises.seeded_draw import Draw

# --- the expressions that cases name: each makes, from leaves, the results on which backward is called one after
# another, and the values in the middle that are worth a look

Values = list[Any]


def _middle_twice(a: Any, b: Any, c: Any) -> tuple[Values, Values]:
    h = a * b
    return [h * c + h], [h]


def _ladder(a: Any, b: Any) -> tuple[Values, Values]:
    h = a * b
    first = h
    for _ in range(4):
        h = h + h
    return [h], [first]


def _late_path(a: Any, b: Any) -> tuple[Values, Values]:
    """One of the paths from h to the result is longer than the other: h must wait for both."""
    h = a + b
    return [h * ((h * h) * a)], [h]


def _late_first(a: Any, b: Any) -> tuple[Values, Values]:
    h = a + b
    return [((h * h) * a) * h], [h]


def _shared_middle(a: Any, b: Any) -> tuple[Values, Values]:
    h = a * b
    return [h + b, h * h], [h]


def _used_elsewhere(a: Any, b: Any) -> tuple[Values, Values]:
    h = a * b
    unused = h * a
    return [h + b], [h, unused]


def _result_used(a: Any, b: Any) -> tuple[Values, Values]:
    h = a + b
    r = h * b
    unused = r * h
    return [r], [h, unused]


EXPRESSIONS: dict[str, Callable[..., tuple[Values, Values]]] = {
    "a + b": lambda a, b: ([a + b], []),
    "a * b": lambda a, b: ([a * b], []),
    "a.tanh()": lambda a: ([a.tanh()], []),
    "a * b + c": lambda a, b, c: ([a * b + c], []),
    "(a + b) * c": lambda a, b, c: ([(a + b) * c], []),
    "(a * b).tanh()": lambda a, b: ([(a * b).tanh()], []),
    "a.tanh().tanh() * b": lambda a, b: ([a.tanh().tanh() * b], []),
    "a + a": lambda a: ([a + a], []),
    "a * a": lambda a: ([a * a], []),
    "a * b + a": lambda a, b: ([a * b + a], []),
    "h = a * b; h * c + h": _middle_twice,
    "h = a * b; four times h = h + h": _ladder,
    "h = a + b; h * ((h * h) * a)": _late_path,
    "h = a + b; ((h * h) * a) * h": _late_first,
    "a * b, then a + a * a": lambda a, b: ([a * b, a + a * a], []),
    "h = a * b; h + b, then h * h": _shared_middle,
    "h = a * b; unused = h * a; h + b": _used_elsewhere,
    "h = a + b; r = h * b; unused = r * h; r": _result_used,
}

# --- what is watched


def expression(*kept: str) -> Probe:
    """An expression of Values, and backward on each of its results.

    Facets: `data` (of the results), and after each backward: `grads` (of the leaves), `middle` (of the Values on the
    way, and of those that lead elsewhere), `own` (of the result that went back).
    """

    def look(answer: Answer, case: Case) -> Observation:
        name, numbers = case.args
        leaves = [answer(one) for one in numbers]
        results, middle = EXPRESSIONS[name](*leaves)
        seen: Observation = {"data": [snapshot_with_int_as_float(result.data) for result in results]}
        seen |= {"own": [], "grads": [], "middle": []}
        for result in results if kept != ("data",) else ():
            result.backward()
            for facet, made in (("own", [result]), ("grads", leaves), ("middle", middle)):
                seen[facet].append([snapshot_with_int_as_float(value.grad) for value in made])
        return seen

    return make_probe_recording_exceptions(look, *kept)


def with_calls_of_torch(probe: Probe) -> Probe:
    """The probe, with a first facet `by_torch`: whether torch's own autograd went back meanwhile."""

    def look(answer: Answer, case: Case) -> Observation:
        calls: list[str] = []

        def noted(name: str) -> Callable[..., Any]:
            run = getattr(torch.autograd, name)

            def noting(*args: Any, **kwargs: Any) -> Any:
                calls.append(name)
                return run(*args, **kwargs)

            return noting

        backward, grad = (
            replace_attribute_in_answer(answer, torch.autograd, name, noted(name)) for name in ("backward", "grad")
        )
        with backward, grad:
            seen = probe(answer, case)
        return {"by_torch": bool(calls)} | seen

    return look


# --- what is required

_BY_PARTS = (
    "The values are right, and a gradient of the Values that you began with is not: a sum and a product pass on what "
    "arrives, times the derivative by that operand."
)
_BY_TANH = (
    "With tanh in it the expression has the right value, and a gradient of what you began with is not right: tanh "
    "passes on what arrives, times its own derivative."
)
_NO_NUMBER = (
    "`grad` is to be a Python number, as 0.0 is, and one of yours is another kind of thing, such as a tensor or None."
)
_KINDS = dict.fromkeys(("grads:type", "middle:type", "own:type"), _NO_NUMBER)
_OWN = _KINDS | {"grads": _BY_PARTS, "own": "After `result.backward()`, `result.grad` is to be 1.0."}
_ALL_USES = (
    "Where a Value is used more than once, its grad is not the sum of what each use brings; `a * a` uses a twice."
)
_ONCE = (
    "Where several paths lead to a Value on the way, what it and those behind it get is not right. It passes on all "
    "that arrives, once, when the last of it is there."
)
_ONE_AFTER_ANOTHER = (
    "Where several results go back one after another, a grad after one of these backwards is not the sum of what the "
    "results so far bring, each alone."
)
_ELSEWHERE = (
    "Here another expression uses the same Values, and backward is not called on it. Each grad is to be the "
    "derivative of the result on which backward is called, and one of yours is another number."
)
_BOTH = ("grads", "middle")

computes = Requirement(
    "computes sums, products and tanh",
    expression("data"),
    {
        "data:type": "`data` is to be a Python number, and one of yours is another kind of thing, such as a tensor: "
        "compute with the numbers themselves.",
        "data": "`data` of a result is not the sum, the product or the tanh that the expression asks for.",
    },
)
through_sums = Requirement(
    "passes gradients through + and *",
    with_calls_of_torch(expression("grads", "own")),
    {
        "by_torch": "Your class leaves the gradients to torch's autograd. Write the rules and the backward pass "
        "yourself, with Python's numbers."
    }
    | _OWN,
)
through_tanh = Requirement("passes gradients through tanh", expression("grads"), _KINDS | {"grads": _BY_TANH})
adds_up = Requirement("adds up what arrives on several paths", expression("grads"), _KINDS | {"grads": _ALL_USES})
passes_once = Requirement(
    "passes a Value on once, when all has arrived", expression(*_BOTH), _KINDS | dict.fromkeys(_BOTH, _ONCE)
)
in_sequence = Requirement(
    "serves several results one after another", expression(*_BOTH), _KINDS | dict.fromkeys(_BOTH, _ONE_AFTER_ANOTHER)
)
goes_nowhere = Requirement(
    "sends back from one result, whatever else was made",
    expression(*_BOTH),
    _KINDS | dict.fromkeys(_BOTH, _ELSEWHERE),
)
asked = {
    computes: ("a + b", "a * b", "a.tanh()", "h = a * b; h * c + h"),
    through_sums: ("a + b", "a * b", "a * b + c", "(a + b) * c"),
    through_tanh: ("a.tanh()", "(a * b).tanh()", "a.tanh().tanh() * b"),
    adds_up: ("a + a", "a * a", "a * b + a"),
    passes_once: (
        "h = a * b; h * c + h",
        "h = a * b; four times h = h + h",
        "h = a + b; h * ((h * h) * a)",
        "h = a + b; ((h * h) * a) * h",
    ),
    in_sequence: ("a * b, then a + a * a", "h = a * b; h + b, then h * h"),
    goes_nowhere: ("h = a * b; unused = h * a; h + b", "h = a + b; r = h * b; unused = r * h; r"),
}


def spelled(name: str, case: Case) -> str:
    """An expression of Values, after the lines that make them."""
    text, numbers = case.args
    made = [f"{leaf} = {name}({value})" for leaf, value in zip("abc", numbers, strict=False)]
    return "; ".join([*made, text])


@exercise(
    tier="stretch",
    spelled=spelled,
    hints=(
        "Each operation knows its parents and its derivative by each of them. Let it write both down.",
        "backward must not pass a Value on before all its contributions are in: order the Values first.",
        "Visit parents first and append a Value after them, each one once; then walk that list backwards.",
    ),
)
def Value(draw: Draw) -> Iterator[Case]:
    """Build a small autograd engine."""
    for requirement, names in asked.items():
        if requirement is adds_up:
            yield requirement("a * a", [3.0])
        for name in names:
            yield requirement(name, numbers(draw, len(signature(EXPRESSIONS[name]).parameters)))
    # Two Values may hold the same number, and are two all the same.
    yield through_sums("a * b", numbers(draw, 1) * 2)


def numbers(draw: Draw, count: int) -> list[float]:
    """A number for each leaf of an expression, away from 0 and 1."""
    return [round(draw.choice([-1.0, 1.0]) * draw.real(0.3, 0.9), 3) for _ in range(count)]
