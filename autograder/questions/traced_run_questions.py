"""Describe one traced run of a student's program in words, and build questions about it with wrong choices."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from random import Random

import torch

from autograder.questions.computed_question import NUMBER_OF_CHOICES, distinct_choices
from autograder.questions.question import Question, shuffled_question
from autograder.questions.reproducible_run import ReproducibleRun
from autograder.questions.student_program_runs import PreparedAnswer
from autograder.questions.traced_run import Event
from autograder.questions.value_facts import ValueDescription

DrawnQuestions = Iterator[Question | None]  # None where too few choices differ
_OF_ARGUMENT = re.compile(
    r"(\w+)(?:(?:\[-?\d+\])*\.(?:shape(?:\[-?\d+\])?|size\(-?\d*\)|ndim|dtype)|(\[-?\d+\]))|len\((\w+)(?:\[-?\d+\])*\)"
)
_PLAIN_CALLS = {"max", "min", "abs", "int", "float", "round"}
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
    ast.Call,
)


@dataclass(frozen=True)
class LocatedFact:
    """What is known of a value in a run; `name` is its variable or expression, `where` the place in words.

    `where` completes a question, as in `after line 3`. `is_part` says that it is an expression in the line.
    """

    name: str
    where: str
    line: int
    fact: ValueDescription
    is_part: bool


@dataclass(frozen=True)
class AskedRun:
    """A traced run about which questions are asked; `random` draws what is asked, and the order of the choices."""

    code: PreparedAnswer
    run: ReproducibleRun
    random: Random

    def question(
        self, kind: str, asked: str, right: str, wrong: Iterable[str], because: str, *, shows_call: bool = True
    ) -> Question | None:
        """Return a question about the run with shuffled choices; None if too few wrong choices surely differ."""
        choices = distinct_choices(right, wrong)
        if len(choices) < NUMBER_OF_CHOICES:
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
        return f"{begin}{_arguments(first)}{''.join(rest)}.{_devices() * ('is_available' in self.code.text)}"

    @property
    def is_visible(self) -> bool:
        """Return whether the words of the run show exactly all that it depends on.

        An object holds what its making gave it, where that is shown; else it may hold anything.
        """
        facts = [fact for event in self.run.entered for name, fact in event.facts.items() if name != "self"]
        is_known = self.run.entered[0].what == "__init__" or "self" not in self.run.entered[0].facts
        # The context that torch hands to a `torch.autograd.Function` is new: it holds nothing yet.
        return is_known and all((fact.value and fact.whole) or fact.form.endswith("Backward") for fact in facts)

    def told(self) -> list[LocatedFact]:
        """Return the facts of names after lines, and of expressions in lines, in an order drawn at random.

        What the call or the line itself shows is left out, and so is what is returned: it has a question of its own.
        """
        told = [each for event in self.run.events if event.kind in ("after", "part") for each in self._told(event)]
        found = [each for each in told if not self._is_told_elsewhere(each) and not self._is_plain(each)]
        return self.random.sample(found, len(found))

    def text_of(self, each: LocatedFact) -> str:
        """Return the expression that gives a fact, as text; "" where a name is bound without one."""
        if each.is_part:
            return each.name
        match self.statement_of(each.line):
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(names) == len(values):
                pairs = zip(map(ast.unparse, names), map(ast.unparse, values), strict=True)
                return dict(pairs).get(each.name, "")
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                return ast.unparse(value)
        return ""

    def picks_by_mask(self, text: str) -> bool:
        """Return whether the length of what an expression gives depends on numbers, as in `x[x > 0]`."""
        masks = {name for event in self.run.events for name, fact in event.facts.items() if fact.dtype == "bool"}
        chosen = [ast.unparse(each.slice) for each in ast.walk(ast.parse(text)) if isinstance(each, ast.Subscript)]
        return not masks.isdisjoint(chosen) or re.search(r"masked_select|nonzero|unique", text) is not None

    def _is_told_elsewhere(self, each: LocatedFact) -> bool:
        """Return whether a fact is that of what is returned, or of a name that its line binds."""
        if not each.is_part:
            return each.name in self.returned
        name = ast.unparse(ast.parse(each.name, mode="eval"))
        match self.statement_of(each.line):
            case ast.Assign(targets=[ast.Name() | ast.Attribute()], value=value) if ast.unparse(value) == name:
                return True
        return name in self.returned

    def _is_plain(self, each: LocatedFact) -> bool:
        """Return whether the call shows a fact, as it does sizes of arguments, or the line, as it does a constant."""
        text = self.text_of(each)
        texts = [each.name, *filter(None, [text])]
        if each.fact.is_given or re.fullmatch(r"\w+|self\.\w+", text):
            return True
        found = [match for text in texts if (match := _OF_ARGUMENT.fullmatch(text))]
        is_number = each.fact.shape is None
        return (is_number and any(map(self._is_arithmetic, texts))) or any(
            (match[1] or match[3]) in self._given - self.rebound and (is_number or not match[2]) for match in found
        )

    def _is_arithmetic(self, text: str) -> bool:
        """Return whether an expression does no more than to reckon with arguments and constants."""
        nodes = [*ast.walk(ast.parse(text, mode="eval"))]
        names = {each.id for each in nodes if isinstance(each, ast.Name)}
        called = {each.func.id for each in nodes if isinstance(each, ast.Call) and isinstance(each.func, ast.Name)}
        known = (self._given - self.rebound) | (called & _PLAIN_CALLS)
        return all(isinstance(each, _ARITHMETIC) for each in nodes) and names <= known

    @cached_property
    def arguments(self) -> set[str]:
        """Return the names and expressions that are always tensors of the call, whatever they are called."""
        facts = [(name, fact.is_given) for event in self.run.events for name, fact in event.facts.items()]
        return {name for name, is_given in facts if is_given} - {name for name, is_given in facts if not is_given}

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
            where = place + self.first_time(node, event.kind)
            yield LocatedFact(name, where, event.line, fact, event.kind == "part")

    def first_time(self, node: ast.stmt, kind: str) -> str:
        """Return words for the first of several runs of a statement; "" if it runs once."""
        often = self.run.counts.get(node.lineno, 0) > 1
        return often * (", the first time that it is computed" if kind == "part" else " has run for the first time")

    @cached_property
    def facts(self) -> list[ValueDescription]:
        """Return all facts of the run, in order."""
        return [fact for event in self.run.events for fact in event.facts.values()]

    @cached_property
    def shapes(self) -> list[tuple[int, ...]]:
        """Return the shapes of all tensors in the run, in order, each once."""
        return list(dict.fromkeys(fact.shape for fact in self.facts if fact.shape is not None))

    @cached_property
    def shown_sizes(self) -> list[int]:
        """Return the sizes of tensors and layers in the words of the call, each once."""
        shapes = re.findall(r"of shape \(([\d, ]+)\)|_features=(\d+)", self.call_words)
        return list(dict.fromkeys(int(size) for pair in shapes for size in re.findall(r"\d+", " ".join(pair))))

    def sizes(self) -> set[str]:
        """Return the sizes of all tensors and the numbers of items in the run, which a reader can work out."""
        return {
            size for fact in self.facts for size in re.findall(r"\d+", str(fact.shape) if fact.shape else fact.form)
        }

    def statement_of(self, line: int) -> ast.stmt | None:
        """Return the innermost statement that a line belongs to; None if several share the line."""
        around = [each for each in self.code.single_statements if each.lineno <= line <= (each.end_lineno or 0)]
        return max(around, key=lambda each: each.lineno, default=None)


def _devices() -> str:
    """Return which devices this machine has, in words."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    words = (f"`{name}` is {'' if is_there else 'not '}available" for name, is_there in there.items())
    return f" Here {', '.join(words)}."


def _arguments(event: Event) -> str:
    facts = {name: fact for name, fact in event.facts.items() if name != "self" and name[:5] != "self."}
    return f" with {'; '.join(f'`{name}`: {fact.told()}' for name, fact in facts.items())}" if facts else ""


def line_range_text(node: ast.stmt) -> str:
    """Return where a statement stands, as text: `line 3`, or `lines 3 to 5`."""
    last = node.end_lineno or node.lineno
    return f"line {node.lineno}" if last == node.lineno else f"lines {node.lineno} to {last}"
