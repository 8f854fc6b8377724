"""Questions on a run of a student's program: shapes, dtypes and values, shared memory, how often lines run."""

from __future__ import annotations

import ast
import re
from math import prod

from autograder.questions.question import Question
from autograder.questions.traced_run import RESULT, Event
from autograder.questions.traced_run_questions import (
    DTYPES,
    AskedRun,
    DrawnQuestions,
    LocatedFact,
    form_distractors,
    line_range_text,
    shape_distractors,
    value_distractors,
)
from autograder.questions.value_facts import Fact

_MOST_OFTEN = 200  # runs of a line that a reader may still count
# Of a statement with none of these, nobody would ask whether its result has memory of its own.
_MAY_COPY = re.compile(r"\.(clone|copy|contiguous|reshape|flatten|to|float|double|detach|expand|view|data)\b|\[")


def shape_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask for the shape of a name or of an expression."""
    told = [each for each in asked.told() if each.fact.shape is not None]
    for each in told:
        others = {str(other.fact.shape): other for other in told if other.fact.shape != each.fact.shape}
        wrong = [*list(others)[:2], *map(str, shape_distractors(each.fact.shape or ())), *others]
        yield _asked(asked, "shape", each, str(each.fact.shape), wrong, others)


def dtype_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask for the dtype of a name or an expression; not in a run in which all tensors have one dtype."""
    told = [each for each in asked.told() if each.fact.dtype]
    for each in told:
        others = {other.fact.dtype: other for other in told if other.fact.dtype != each.fact.dtype}
        if others:
            yield _asked(asked, "dtype", each, each.fact.dtype, [*others, *DTYPES], others)


def value_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask for a value: an int that equals a size; any other only if the call shows all arguments exactly."""
    told, sizes = [each for each in asked.told() if each.fact.value and each.fact.whole], asked.sizes()
    for each in told:
        is_size = each.fact.form == "an int" and each.fact.value in sizes
        if each.fact.form in ("a bool", "None", "a str", "a dtype") or not (is_size or asked.is_visible):
            continue
        others = {other.fact.value: other for other in told if other.fact.form == each.fact.form}
        others.pop(each.fact.value, None)
        wrong = [*list(others)[:2], *value_distractors(each.fact.value)]
        yield _asked(asked, "value", each, each.fact.value, wrong, others)


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
    if fact is None:
        return
    if fact.value and fact.whole and asked.is_visible:
        because = f"Running it returns {fact.value}."
        yield asked.question("result", "What does it return?", fact.value, value_distractors(fact.value), because)
    because = f"Running it returns {fact.form}."
    yield asked.question("result", "What does it return?", fact.form, form_distractors(fact.form), because)


def memory_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask whether a tensor is the same object as another, shares its memory, or has its own; sharing pairs first."""
    events = asked.random.sample(asked.run.events, len(asked.run.events))
    for shares in (True, False):
        for event in events:
            node = asked.statement_of(event.line)
            if event.kind not in ("after", "return") or node is None:
                continue
            if not shares and not _MAY_COPY.search(ast.unparse(node)):
                continue
            place = "" if event.kind == "return" else f" after {line_range_text(node)}"
            often = asked.first_time(node, "after") if place else ""
            for name in event.facts:
                for other in event.owners if name in event.memory else ():
                    if (name == RESULT and other in asked.returned) or other in asked.rebound:
                        continue  # it is what the line says, or a name that is no longer what the call shows
                    if other in (name, RESULT) or (event.memory[name] == event.memory[other]) is not shares:
                        continue
                    # Of two that share nothing, some are not even alike: nobody takes one for the other.
                    if shares or _may_be_part(event.facts.get(name), _latest(asked, event, other)):
                        yield _memory(asked, event, name, other, f"{place}{often}")


def _latest(asked: AskedRun, event: Event, name: str) -> Fact | None:
    """Return the fact of a name that was noted last, up to an event."""
    before = asked.run.events[: asked.run.events.index(event) + 1]
    return next((each.facts[name] for each in reversed(before) if name in each.facts), None)


def _may_be_part(one: Fact | None, other: Fact | None) -> bool:
    """Return whether a tensor could be another one or a part of it, by dtype and size, as far as these are known."""
    if one is None or other is None or one.shape is None or other.shape is None:
        return True
    is_alike = one.dtype == other.dtype and bool(one.shape) == bool(other.shape)
    return is_alike and prod(one.shape) <= prod(other.shape)


def _memory(asked: AskedRun, event: Event, name: str, other: str, place: str) -> Question | None:
    one = name if name == RESULT else f"`{name}`"
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


def count_questions(asked: AskedRun) -> DrawnQuestions:
    """Ask how often a line runs, which of four lines is the only one that runs, or the only one that does not."""
    counts = _counts(asked)
    often = [node for node, count in counts.items() if 1 < count <= _MOST_OFTEN]
    for node in asked.random.sample(often, len(often)):
        count = counts[node]
        wrong = [str(each) for each in (*counts.values(), count + 1, count - 1, 2 * count, 1) if each]
        text = ast.unparse(node).splitlines()[0]
        because = f"Running it: it runs {count} times."
        yield asked.question(
            "count", f"How often does {line_range_text(node)} run, `{text}`?", str(count), wrong, because
        )
    for ran, verb in ((False, "does not run"), (True, "runs")):
        right = [line_range_text(node) for node, count in counts.items() if bool(count) is ran]
        wrong = [line_range_text(node) for node, count in counts.items() if bool(count) is not ran]
        for one in asked.random.sample(right, len(right)):
            others = asked.random.sample(wrong, len(wrong))
            because = f"Running it: of these, only {one} {verb}."
            yield asked.question("runs", f"Which of these {verb} there?", one, others, because)


def _counts(asked: AskedRun) -> dict[ast.stmt, int]:
    """Return how often each line ran, for the functions that were called."""
    entered = {event.line for event in asked.run.events if event.kind in ("enter", "inner")}
    functions = [each for each in ast.walk(asked.code.tree) if isinstance(each, ast.FunctionDef)]
    found: dict[ast.stmt, int] = {}
    for function in functions:
        if function.lineno in entered:
            found |= {node: asked.run.counts.get(node.lineno, 0) for node in asked.code.counted(function)}
    return found
