"""Questions on a run of a student's program: shapes, dtypes and values, shared memory, how often lines run."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from math import prod

from autograder.questions.expressions_with_argument_shape import has_shape_of_argument
from autograder.questions.make_distractors import (
    DTYPE_DISTRACTORS,
    dtype_and_shape_distractors,
    shape_distractors,
    value_distractors,
)
from autograder.questions.question import Question
from autograder.questions.traced_run import RESULT_IN_WORDS, Event
from autograder.questions.traced_run_questions import AskedRun, DrawnQuestions, LocatedFact, line_range_text
from autograder.questions.value_facts import ValueDescription

_SIZE = re.compile(r"len\(|shape|size|numel|ndim|dim\(|features|range|//")  # of an expression that gives a size
_BRANCHES = (ast.If, ast.For, ast.While, ast.Match, ast.Try)
_LONGEST_FORM = 150  # characters of what is returned, in words
_MOST_OFTEN = 200  # runs of a line that a reader may still count
# Of the result of any other method or attribute, nobody would ask whether it has memory of its own.
_MAY_COPY = re.compile(r"clone|copy|contiguous|reshape|flatten|to|float|double|detach|expand|view|data")
_MOVES = re.compile(r"\.(cpu|cuda)\(|\.to\((\w+\.)?device")  # between devices, which no call shows
_INNER_STEPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)
_GIVES_ITSELF = re.compile(r"torch\.(ones|zeros|full)(_like)?\(|['\"].*\.split\(")
_CASTS = {"float32": "float", "float64": "double", "float16": "half", "int64": "long"}  # methods that say a dtype


def shape_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask for the shape of a name or of an expression."""
    told = [each for each in asked.told() if each.fact.shape is not None]
    for each in told:
        text = asked.text_of(each)
        if str(each.fact.shape) in text or "rng_state" in text:
            continue
        if text and has_shape_of_argument(text, asked.arguments):
            continue
        if not asked.is_visible and asked.picks_by_mask(text):
            continue  # so many as there are
        others = {str(other.fact.shape): other for other in told if other.fact.shape != each.fact.shape}
        sizes = asked.random.sample(asked.shown_sizes, len(asked.shown_sizes))
        wrong = [*list(others)[:2], *map(str, shape_distractors(each.fact.shape or (), sizes)), *others]
        yield _asked(asked, "shape", each, str(each.fact.shape), wrong, others)


def dtype_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask for the dtype of a name or an expression; not in a run in which all tensors have one dtype.

    Nor where the line says it, by its name or by a comparison.
    """
    told = [each for each in asked.told() if each.fact.dtype and not _says_dtype(asked, each)]
    for each in told:
        others = {other.fact.dtype: other for other in told if other.fact.dtype != each.fact.dtype}
        if others:
            named = [dtype for dtype in DTYPE_DISTRACTORS if re.search(rf"\b{dtype}\b", asked.code.text)]
            yield _asked(asked, "dtype", each, each.fact.dtype, [*others, *named, *DTYPE_DISTRACTORS], others)


def _says_dtype(asked: AskedRun, each: LocatedFact) -> bool:
    text, dtype = asked.text_of(each), each.fact.dtype
    is_comparison = text and isinstance(ast.parse(text, mode="eval").body, ast.Compare)
    return bool(is_comparison or re.search(rf"\b{dtype}\b|\.{_CASTS.get(dtype, dtype)}\(", text))


def value_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask for a value: an int that equals a size; any other only if the call shows all arguments exactly."""
    told, sizes = [each for each in asked.told() if each.fact.value and each.fact.whole], asked.sizes()
    for each in told:
        text, value = asked.text_of(each), each.fact.value
        is_size = each.fact.form == "an int" and value in sizes and _SIZE.search(text) is not None
        if re.search(rf"(?<![\w.]){re.escape(value)}(\.0*)?(?![\w.])", text) or _is_obvious(text, value):
            continue
        if each.fact.form in ("a bool", "None", "a str", "a dtype") or not (is_size or asked.is_visible):
            continue
        others = {other.fact.value: other for other in told if other.fact.form == each.fact.form}
        others.pop(value, None)
        more = asked.random.sample(sorted(sizes), len(sizes)) if is_size else []
        wrong = [*list(others)[:2], *more[:2], *value_distractors(value, asked.call_words, _is_float(each.fact))]
        yield _asked(asked, "value", each, value, wrong, others)


def _is_float(fact: ValueDescription) -> bool:
    return "float" in fact.dtype


def _is_obvious(text: str, value: str) -> bool:
    """Return whether nobody has to work out the value of an expression: 0 times something, or a mask of all entries."""
    items = value.strip("[]").split(", ")
    is_uniform = len(items) > 1 and {*items} in ({"True"}, {"False"})
    return is_uniform or (value == "0" and "*" in text) or _GIVES_ITSELF.match(text) is not None


def _asked(
    asked: AskedRun, kind: str, each: LocatedFact, right: str, wrong: list[str], others: dict[str, LocatedFact]
) -> Question | None:
    shown = list(dict.fromkeys(each for each in wrong if each != right))[:3]
    known = [f"{text} is the {kind} of `{others[text].name}` {others[text].where}." for text in shown if text in others]
    because = " ".join([f"Running it: `{each.name}` has the {kind} {right}.", *known])
    return asked.question(kind, f"What is the {kind} of `{each.name}` {each.where}?", right, wrong, because)


def result_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask what the call returns: its value where the reader sees every argument, else its form."""
    fact = asked.run.result
    if fact is None or "rng_state" in asked.code.text:  # whose size is torch's own affair
        return
    if fact.value and fact.whole and asked.is_visible:
        because = f"Running it returns {fact.value}."
        others = (each.value for each in asked.facts if each.form == fact.form and each.value not in ("", fact.value))
        wrong = [next(others, ""), *value_distractors(fact.value, asked.call_words, _is_float(fact))]
        yield asked.question("result", "What does it return?", fact.value, wrong, because)
    if len(fact.form) > _LONGEST_FORM:
        return
    because = f"Running it returns {fact.form}."
    yield asked.question(
        "result", "What does it return?", fact.form, dtype_and_shape_distractors(fact.form, asked.shapes), because
    )


def changed_argument_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask what an argument that the call has changed in place holds afterwards: its numbers, or its gradients."""
    left = next((event.facts for event in reversed(asked.run.events) if event.kind == "left"), {})
    given = {name: fact for event in asked.run.entered for name, fact in event.facts.items()}
    for name in asked.random.sample(list(left), len(left)) if asked.is_visible else ():
        was, now = given.get(name, left[name]), left[name]
        if was.value != now.value and now.value and now.whole:
            what, before, right = "value", was.value, now.value
        elif was.grads != now.grads and now.grads and now.whole:
            what, before, right = "`grad`", was.grads, now.grads
        else:
            continue
        wrong = [before, *value_distractors(right, asked.call_words, True)]
        because = f"Running it: the {what} of `{name}` is then {right}."
        yield asked.question("changed", f"What is the {what} of `{name}` after the call?", right, wrong, because)


def shared_memory_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask whether a tensor is the same object as another, shares its memory, or has its own; sharing pairs first."""
    events = asked.random.sample(asked.run.events, len(asked.run.events))
    for shares in (True, False):
        for event in events:
            node = asked.statement_of(event.line)
            if event.kind not in ("after", "return") or node is None or _MOVES.search(ast.unparse(node)):
                continue
            place = "" if event.kind == "return" else f" after {line_range_text(node)}"
            often = asked.first_time(node, "after") if place else ""
            for name in event.facts:
                for other in event.owners if name in event.memory else ():
                    if (name == RESULT_IN_WORDS and other in asked.returned) or other in asked.rebound:
                        continue  # it is what the line says, or a name that is no longer what the call shows
                    if asked.text_of(LocatedFact(name, place, event.line, event.facts[name], False)) == other:
                        continue  # `a, b = x, y` says it as well
                    if other in (name, RESULT_IN_WORDS) or (event.memory[name] == event.memory[other]) is not shares:
                        continue
                    # Of two that share nothing, some are not even alike: nobody takes one for the other.
                    if shares or (_may_copy(node, event, other) and _may_be_part(asked, event, name, other)):
                        yield _memory(asked, event, name, other, f"{place}{often}")


def _may_copy(node: ast.stmt, event: Event, other: str) -> bool:
    """Return whether a statement's value is made of a tensor, or of another in its memory, by what may copy or not."""
    value, found = getattr(node, "value", None), False
    while True:
        match value:
            case ast.Call(func=ast.Attribute(value=inner, attr=name)):
                found = found or _MAY_COPY.fullmatch(name) is not None
            case ast.Attribute(value=inner, attr="data" | "T" | "mT" as name):
                found = found or name == "data"
            case ast.Subscript(value=inner):
                found = True
            case _:
                break
        value = inner
    return found and value is not None and event.memory.get(ast.unparse(value)) == event.memory[other]


def _latest(asked: AskedRun, event: Event, name: str) -> ValueDescription | None:
    """Return the fact of a name that was noted last, up to an event."""
    before = asked.run.events[: asked.run.events.index(event) + 1]
    return next((each.facts[name] for each in reversed(before) if name in each.facts), None)


def _may_be_part(asked: AskedRun, event: Event, name: str, other: str) -> bool:
    """Return whether a tensor could be another one or a part of it, by dtype and size, as far as these are known."""
    part, whole = event.facts.get(name), _latest(asked, event, other)
    if part is None or whole is None or part.shape is None or whole.shape is None:
        return True
    is_alike = part.dtype == whole.dtype and bool(part.shape) == bool(whole.shape)
    return is_alike and prod(part.shape) <= prod(whole.shape)


def _memory(asked: AskedRun, event: Event, name: str, other: str, place: str) -> Question | None:
    one = name if name == RESULT_IN_WORDS else f"`{name}`"
    choices = [
        f"the object `{other}` itself",
        f"another tensor, in the memory of `{other}`",
        f"a tensor with memory apart from that of `{other}`",
        f"a tensor that changes when `{other}` does, while changes to it leave `{other}` alone",
    ]
    shares, same = event.memory[name] == event.memory[other], event.same[name] == event.same[other]
    right = choices[0 if same else 1 if shares else 2]
    storage = "the storage of both begins at one address" if shares else "their storages are not the same"
    because = f"Running it: `is` says {same} of the two objects, and {storage}."
    wrong = [each for each in choices if each != right]
    return asked.question("memory", f"Compare {one} with `{other}`{place}: {one} is ...", right, wrong, because)


def how_often_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask how often a line runs, which of four lines is the only one that runs, or the only one that does not."""
    counts = _counts(asked)
    others, call = {count for count in counts.values() if count > 1}, asked.call_words
    often = [node for node, count in counts.items() if 1 < count <= _MOST_OFTEN and not _has_inner_steps(node)]
    if len(others) < 2:  # one loop: a number that stands in the call tells how often it goes round
        often = [node for node in often if not re.search(rf"`{counts[node]}`", call)]
    for node in asked.random.sample(often, len(often)):
        count = counts[node]
        wrong = [str(each) for each in (*counts.values(), count + 1, count - 1, 2 * count, 1) if each]
        text = asked.code.lines[node.lineno - 1].strip()
        because = f"Running it: it runs {count} times."
        place = line_range_text(node)
        do = "does" if place.startswith("line ") else "do"
        yield asked.question("count", f"How often {do} {place} run, `{text}`?", str(count), wrong, because)
    yield from _which_runs(asked, counts)


def _has_inner_steps(node: ast.stmt) -> bool:
    """Return whether a part of a line runs more often than the line."""
    return any(isinstance(each, _INNER_STEPS) for each in ast.walk(node))


def _which_runs(asked: AskedRun, counts: Mapping[ast.stmt, int]) -> DrawnQuestions:
    """Ask which line is the only one that runs, or that does not; lines that always run tell nothing."""
    branches = [node for node in ast.walk(asked.code.tree) if isinstance(node, _BRANCHES)]
    inside = {each for node in branches for each in ast.walk(node) if each is not node}
    for ran, verb in ((False, "does not run"), (True, "runs")):
        right = [node for node, count in counts.items() if bool(count) is ran and node in inside]
        wrong = [node for node, count in counts.items() if bool(count) is not ran]
        for one in asked.random.sample(right, len(right)):
            others = sorted(asked.random.sample(wrong, len(wrong)), key=lambda each: each not in inside)
            if others and others[0] in inside:
                place = line_range_text(one)
                because = f"Running it: of these, only {place} {verb}."
                yield asked.question(
                    "runs", f"Which of these {verb} there?", place, map(line_range_text, others), because
                )


def _counts(asked: AskedRun) -> dict[ast.stmt, int]:
    """Return how often each line ran, for the functions that were called."""
    entered = {event.line for event in asked.run.events if event.kind in ("enter", "inner")}
    functions = [each for each in ast.walk(asked.code.tree) if isinstance(each, ast.FunctionDef)]
    found: dict[ast.stmt, int] = {}
    for function in functions:
        if function.lineno in entered:
            found |= {node: asked.run.counts.get(node.lineno, 0) for node in asked.code.counted(function)}
    return found
