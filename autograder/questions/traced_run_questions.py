"""Describe one traced run of a student's program in words, and build questions about it with wrong choices."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any

from autograder.questions.agreed_run import Run
from autograder.questions.computed_question import CHOICES, distinct_choices, in_words
from autograder.questions.question import Question, shuffled_question
from autograder.questions.student_program import OwnCode
from autograder.questions.traced_run import Event
from autograder.questions.value_facts import Fact

DTYPES = ("float32", "int64", "float64", "bool", "float16", "bfloat16")
DrawnQuestions = Iterator[Question | None]  # None where too few choices differ
_OF_ARGUMENT = re.compile(
    r"(\w+)(?:\.(?:shape(?:\[-?\d+\])?|size\(-?\d*\)|ndim|dtype)|(\[-?\d+\]))|len\((\w+)(?:\[-?\d+\])*\)"
)
_ARITHMETIC = (
    ast.Expression,
    ast.BinOp,
    ast.UnaryOp,
    ast.operator,
    ast.unaryop,
    ast.Name,
    ast.Load,
    ast.Constant,
    ast.List,
    ast.Tuple,
)
_LIKELY = 2  # shapes of other tensors among the wrong choices
_NUMBER = re.compile(r"-?\d[\d.]*")
_TENSOR = re.compile(r"(\w+) of shape (\([\d, ]*\))")


@dataclass(frozen=True)
class LocatedFact:
    """What is known of a value in a run; `name` is its variable or expression, `where` the place in words.

    `where` completes a question, as in `after line 3`.
    """

    name: str
    where: str
    line: int
    fact: Fact


@dataclass(frozen=True)
class AskedRun:
    """A traced run about which questions are asked; `random` draws what is asked, and the order of the choices."""

    code: OwnCode
    run: Run
    random: Random

    def question(
        self, kind: str, asked: str, right: str, wrong: Iterable[str], because: str, *, shows_call: bool = True
    ) -> Question | None:
        """Return a question about the run with shuffled choices; None if too few wrong choices surely differ."""
        choices = distinct_choices(right, wrong)
        if len(choices) < CHOICES:
            return None
        prompt = f"{self.call_words}\n{asked}" if shows_call else asked
        question = Question(kind, self.code.exercise.name, prompt, tuple(choices), 0, because, self.code.text)
        return shuffled_question(question, self.random)

    @property
    def call_words(self) -> str:
        """Return the run in words: which function is called with which arguments."""
        first, *more = self.run.entered
        made = first.what == "__init__"
        begin = f"`{self.code.name}` is made" if made else f"`{first.what}` is called"
        rest = [f"; then `{event.what}` is called{_arguments(event)}" for event in more]
        return f"{begin}{_arguments(first)}{''.join(rest)}."

    @property
    def is_visible(self) -> bool:
        """Return whether the words of the run show exactly all that it depends on: an object may hold more."""
        facts = [fact for event in self.run.entered for fact in event.facts.values()]
        is_method = any("self" in event.facts for event in self.run.entered)
        return not is_method and all(fact.value and fact.whole for fact in facts)

    def told(self) -> list[LocatedFact]:
        """Return the facts of names after lines, and of expressions in lines, in an order drawn at random.

        What the call or the line itself shows is left out, and so is what is returned: it has a question of its own.
        """
        told = [each for event in self.run.events if event.kind in ("after", "part") for each in self._told(event)]
        found = [each for each in told if each.name not in self.returned and not self._is_plain(each)]
        return self.random.sample(found, len(found))

    def _is_plain(self, each: LocatedFact) -> bool:
        """Return whether the call shows a fact, as it does sizes of arguments, or the line, as it does a constant."""
        statement = self.statement_of(each.line)
        bound = statement.value if isinstance(statement, ast.Assign) else None
        texts = [each.name] if bound is None or each.where.startswith("in ") else [each.name, ast.unparse(bound)]
        found = [match for text in texts if (match := _OF_ARGUMENT.fullmatch(text))]
        is_number = each.fact.shape is None
        return (is_number and any(map(self._is_arithmetic, texts))) or any(
            (match[1] or match[3]) in self._given - self.rebound and (is_number or not match[2]) for match in found
        )

    def _is_arithmetic(self, text: str) -> bool:
        """Return whether an expression does no more than to reckon with arguments and constants."""
        nodes = [*ast.walk(ast.parse(text, mode="eval"))]
        names = {each.id for each in nodes if isinstance(each, ast.Name)}
        return all(isinstance(each, _ARITHMETIC) for each in nodes) and names <= self._given - self.rebound

    @cached_property
    def _given(self) -> set[str]:
        """Return the names of the arguments that the call shows."""
        return {name for event in self.run.entered for name in event.facts}

    @cached_property
    def rebound(self) -> set[str]:
        """Return the names of arguments that the program binds anew."""
        stored = (each for each in ast.walk(self.code.tree) if isinstance(each, ast.Name))
        return self._given & {each.id for each in stored if isinstance(each.ctx, ast.Store)}

    @cached_property
    def returned(self) -> set[str]:
        """Return the expressions behind `return`, as text."""
        nodes = ast.walk(self.code.tree)
        return {ast.unparse(each.value) for each in nodes if isinstance(each, ast.Return) and each.value is not None}

    def _told(self, event: Event) -> Iterator[LocatedFact]:
        node = self.statement_of(event.line)
        if node is None or (event.kind == "part" and self.code.lines[event.line - 1].count(event.what) != 1):
            return
        place = f"in line {event.line}" if event.kind == "part" else f"after {line_range_text(node)}"
        for name, fact in event.facts.items():
            yield LocatedFact(name, place + self.first_time(node, event.kind), event.line, fact)

    def first_time(self, node: ast.stmt, kind: str) -> str:
        """Return words for the first of several runs of a statement; "" if it runs once."""
        often = self.run.counts.get(node.lineno, 0) > 1
        return often * (", the first time that it is computed" if kind == "part" else " has run for the first time")

    @cached_property
    def facts(self) -> list[Fact]:
        """Return all facts of the run, in order."""
        return [fact for event in self.run.events for fact in event.facts.values()]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of all tensors in the run, in order, each once."""
        return list(dict.fromkeys(fact.shape for fact in self.facts if fact.shape is not None))

    def sizes(self) -> set[str]:
        """Return the sizes of all tensors and the numbers of items in the run, which a reader can work out."""
        return {
            size for fact in self.facts for size in re.findall(r"\d+", str(fact.shape) if fact.shape else fact.form)
        }

    def statement_of(self, line: int) -> ast.stmt | None:
        """Return the innermost statement that a line belongs to; None if several share the line."""
        around = [each for each in self.code.single_statements if each.lineno <= line <= (each.end_lineno or 0)]
        return max(around, key=lambda each: each.lineno, default=None)


def _arguments(event: Event) -> str:
    facts = {name: fact for name, fact in event.facts.items() if name != "self" and name[:5] != "self."}
    return f" with {'; '.join(f'`{name}`: {fact.told()}' for name, fact in facts.items())}" if facts else ""


def line_range_text(node: ast.stmt) -> str:
    """Return where a statement stands, as text: `line 3`, or `lines 3 to 5`."""
    last = node.end_lineno or node.lineno
    return f"line {node.lineno}" if last == node.lineno else f"lines {node.lineno} to {last}"


def shape_distractors(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return shapes that are taken for this one by mistake, likely ones first."""
    found = [shape[::-1], shape[:-1], (*shape, 1), (1, *shape), shape[1:]]
    found += [(*shape[:-1], 1), (1, *shape[1:]), (*shape[:-1], shape[-1] + 1)] if shape else [(1,), (1, 1), (2,)]
    return [each for each in dict.fromkeys(found) if each != shape]


def form_distractors(form: str, shapes: Iterable[tuple[int, ...]]) -> list[str]:
    """Return wrong choices for a form such as `float32 of shape (2, 3)`: one tensor has another shape or dtype.

    `shapes` are those that a reader may take for it: two of them come first.
    """
    found = []
    for match in _TENSOR.finditer(form):
        dtype, shape = match[1], ast.literal_eval(match[2])
        others = [each for each in shapes if each != shape][:_LIKELY]
        new = [f"{dtype} of shape {each}" for each in (*others, *shape_distractors(shape)[:3])]
        new += [f"{each} of shape {shape}" for each in DTYPES[:3] if each != dtype]
        found += [form[: match.start()] + each + form[match.end() :] for each in new]
    return found


def value_distractors(text: str, given: str = "") -> list[str]:
    """Return values in words that are like this one and differ from it; none if it cannot be read.

    Where all its numbers stand in `given`, a call in words, others in another order come first.
    """
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return []
    is_rearranged = isinstance(value, list) and set(_NUMBER.findall(text)) <= {"0", *_NUMBER.findall(given)}
    others = [*(_rearranged(value) if is_rearranged else ()), *_others(value)]
    return [each for each in dict.fromkeys(in_words(other, quoted=True) for other in others) if each != text]


def _rearranged(value: list[Any]) -> list[Any]:
    """Return a table or a row with its entries in other orders: by columns, from the end, moved by one place."""
    if value and all(isinstance(each, list) for each in value):
        columns = [[list(each) for each in zip(*value, strict=True)]] if len({*map(len, value)}) == 1 else []
        return [*columns, [each[::-1] for each in value], value[::-1], [*value[1:], value[0]]]
    return [value[::-1], [*value[1:], *value[:1]], [*value[-1:], *value[:-1]]]


def _with_each(value: Any, how: Callable[[Any], Any]) -> Any:
    """Return a value with each number in it changed, and each bool turned round."""
    if isinstance(value, list | tuple):
        return type(value)(_with_each(each, how) for each in value)
    if isinstance(value, bool):
        return not value
    return how(value) if isinstance(value, int | float) else value


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1, 2 * value, value + 2]
    if isinstance(value, float):
        return [2 * value, value / 2, -value, value + 1]
    if isinstance(value, list | tuple):
        kind, is_flat = type(value), not any(isinstance(each, list | tuple) for each in value)
        is_row = kind is list and value and all(isinstance(each, int | float) for each in value)
        lengths = [value[:-1], [*value, value[-1]]] if is_row else []
        twice, half = _with_each(value, lambda one: 2 * one), _with_each(value, lambda one: one / 2)
        negative = _with_each(value, lambda one: -one)
        changed = [kind([*value[:i], new, *value[i + 1 :]]) for i, old in enumerate(value) for new in _others(old)]
        if is_flat:
            next_ones = _with_each(value, lambda one: one + 1)
            return [next_ones, *lengths, twice, kind(reversed(value)), half, negative, *changed]
        return [twice, half, *changed[:1], kind(reversed(value)), negative, *changed]
    if isinstance(value, dict):
        return [{**value, key: new} for key, old in value.items() for new in _others(old)]
    return []
