"""A student's program for question generation: its text, its traced runs on cases, and runs of changed versions."""

from __future__ import annotations

import ast
import inspect
import random
import re
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import replace
from io import StringIO
from types import CodeType, ModuleType
from typing import Any

import numpy as np
import torch

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.leaked_dispatch_modes import active_mode_count, exit_modes
from autograder.exercises.observation import Observation
from autograder.exercises.probe import copy_case_data
from autograder.name_bindings import find_used_and_bound_names
from autograder.questions.ast_instrumentation import COUNTED, SIMPLE, traced_code
from autograder.questions.question_search_limit import SearchLimit
from autograder.questions.reproducible_run import ReproducibleRun, facts_common_to_runs, same_data
from autograder.questions.traced_run import CallFromOutside, RunRecorder, TracedRunTimeout, run_definitions

MOST_LINES = 120
# What may change files, or call on and on where a number is left out; and what changes torch for all that follows, or
# makes memory that nobody has filled.
_OUTSIDE = frozenset({"os", "shutil", "subprocess", "pathlib", "Path", "open", "timeit"})
_LASTING = re.compile(r"set_|register_module|use_|__enter__|__exit__|(new_)?empty")
_GLOBAL_HOOKS = [
    kept for name, kept in vars(torch.nn.modules.module).items() if name[:8] == "_global_" and isinstance(kept, dict)
]


class NoQuestions(Exception):
    """There is no question about a program; the message says why."""


def is_askable(text: str, called: str) -> bool:
    """Return whether there may be questions about a program: its text defines the name, and is not too long."""
    try:
        return len(shown_text(text, called).splitlines()) <= MOST_LINES
    except NoQuestions:
        return False


def shown_text(text: str, called: str) -> str:
    """Return the program as questions show it: without docstrings. Raises NoQuestions if it does not define the name.

    Nothing of the program runs.
    """
    return _without_docstrings(text, called)[0]


class PreparedAnswer:
    """A passing answer, prepared for questions.

    `name` is the function or class that it defines; `names` are the global names it can use, with their values, and
    `names[name]` is the answer itself. Raises NoQuestions if its text does not define `name`, is too long, or changes
    after its definition what it has defined. No run goes on once `limit` is reached.
    """

    def __init__(
        self,
        exercise: Exercise,
        key: ExpectedObservations,
        text: str,
        name: str,
        names: Mapping[str, Any],
        limit: SearchLimit,
    ) -> None:
        self.exercise, self.key, self.name, self.names, self.limit = exercise, key, name, names, limit
        self.text, self.tree = _without_docstrings(text, name)
        self.lines = self.text.splitlines()
        if len(self.lines) > MOST_LINES:
            raise NoQuestions(f"it has {len(self.lines)} lines, and questions are about {MOST_LINES} at most")
        if _is_changed_outside(self.tree):  # the definitions, which are what runs here, are then not the answer
            raise NoQuestions("a line outside its functions and classes changes one of them")
        self._code = traced_code(self.tree, self.text)

    @property
    def may_be_changed(self) -> bool:
        """Return whether changed versions may run: not where the program changes what outlives it, such as files."""
        nodes = list(ast.walk(self.tree))
        used = {each.id for each in nodes if isinstance(each, ast.Name)}
        attributes = {each.attr for each in nodes if isinstance(each, ast.Attribute)}
        stored = {each.value.id for each in nodes if _is_stored_attribute(each)}  # type: ignore[attr-defined]
        return not (
            used & _OUTSIDE
            or any(map(_LASTING.match, attributes))
            or any(isinstance(each, ast.Global) for each in nodes)
            or any(isinstance(self.names.get(name), ModuleType | type) for name in stored)
        )

    @property
    def single_statements(self) -> list[ast.stmt]:
        """Return the statements inside functions that share no line with another one."""
        functions = [each for each in ast.walk(self.tree) if isinstance(each, ast.FunctionDef)]
        inner = dict.fromkeys(each for node in functions for each in _inside(node))
        begun = Counter(each.lineno for each in ast.walk(self.tree) if isinstance(each, ast.stmt))
        return [each for each in inner if begun[each.lineno] == 1]

    def counted(self, function: ast.FunctionDef) -> list[ast.stmt]:
        """Return the statements of a function whose runs are counted, and which share no line with another one."""
        single = set(self.single_statements)
        return [
            each for each in _inside(function) if each in single and isinstance(each, COUNTED) and not _is_text(each)
        ]

    def answer(self, code: CodeType, recorder: RunRecorder) -> Callable[..., Any]:
        """Return the answer that traced code defines, whose runs report to a recorder."""
        found: Callable[..., Any] = run_definitions(code, self.names, recorder)[self.name]
        return found

    def run(self, case: Case) -> ReproducibleRun | None:
        """Return a run on a case; None if it raises, takes too long, or changes from run to run."""
        traced = [self._observed(case, self._code, seed) for seed in (1, 2)]
        if traced[0] is None or traced[1] is None:  # the answer itself, which nothing stops, does not run then
            return None
        (one, seen), (two, _) = traced[0], traced[1]
        if "raised" in seen or not same_data(self._of_answer(case), seen):
            return None
        run = facts_common_to_runs(ReproducibleRun(case, tuple(one.events), one.counts, one.returned, one.left), two)
        return run if run is None or (alone := self._alone(two.calls)) is None else facts_common_to_runs(run, alone)

    def _alone(self, calls: Sequence[CallFromOutside]) -> RunRecorder | None:
        """Return the record of the shown calls alone, without what a probe sets up around them.

        What is asked is then true of a call that somebody makes as the question tells it. None if these calls cannot be
        made again.
        """
        is_known = calls and calls[0].what in ("__init__", self.name)
        if not is_known or any(each.arguments is None for each in calls):
            return None
        recorder, made = RunRecorder(self.limit), None
        with seeded_and_silent(3), suppress(Exception):
            answer = self.answer(self._code, recorder)
            for call in calls:
                result = _called_with(answer if made is None else getattr(made, call.what), call.arguments or {})
                made = result if call.what == "__init__" else made
        return recorder

    def _of_answer(self, case: Case) -> Observation | None:
        """Return the observation of the answer itself, which the text may not show; None if it ends by itself."""
        seen: tuple[Observation, ...] = ()
        with seeded_and_silent(1):
            seen = self.exercise.observe(self.names[self.name], [case])
        return seen[0] if seen else None

    def _observed(self, case: Case, code: CodeType, seed: int) -> tuple[RunRecorder, Observation] | None:
        recorder = RunRecorder(self.limit, turns_sets=seed == 2)
        seen = self._seen(recorder, seed, code, [case])
        return None if seen is None else (recorder, seen[0])

    def _seen(
        self, recorder: RunRecorder, seed: int, code: CodeType, cases: Sequence[Case]
    ) -> tuple[Observation, ...] | None:
        """Return the observations of the answer that traced code defines; None if it takes too long."""
        seen: tuple[Observation, ...] | None = None
        with seeded_and_silent(seed):
            seen = self.exercise.observe(self.answer(code, recorder), cases)
        return None if recorder.stopped or self.limit.is_over() else seen

    def changed(self, tree: ast.Module, case: Case, seed: int) -> RunRecorder | None:
        """Return the record of a changed version's run on a case; None if it takes too long."""
        recorder = RunRecorder(self.limit, turns_sets=seed == 2)
        return None if self._seen(recorder, seed, traced_code(tree, self.text), [case]) is None else recorder

    def judged(self, tree: ast.Module, seed: int = 1) -> tuple[Report, Report] | None:
        """Return what `check` says of a changed version, and what it would say if it knew no mistake.

        None if it takes too long. (`check` forgives what follows from a known slip, which no reader can foresee.)
        """
        recorder = RunRecorder(self.limit, record=False)
        seen = self._seen(recorder, seed, traced_code(tree, self.text), self.key.cases)
        if seen is None:
            return None
        text, strict = ast.unparse(tree), replace(self.key, mistakes=())
        return judge(self.exercise, self.key, seen, text), judge(self.exercise, strict, seen, text)

    def called(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> RunRecorder | None:
        """Return the record of a plain call of the answer with copies of these arguments; None if it takes too long."""
        recorder = RunRecorder(self.limit)
        with seeded_and_silent(1):
            answer = self.answer(self._code, recorder)
            try:
                answer(*copy_case_data(tuple(args)), **copy_case_data(dict(kwargs)))
            except Exception as error:
                recorder.error = type(error).__name__
        return None if recorder.stopped else recorder


def _called_with(function: Callable[..., Any], arguments: Mapping[str, Any]) -> Any:
    """Call a function with its arguments by the names of its parameters."""
    parameters = inspect.signature(function).parameters
    bound = inspect.BoundArguments(inspect.signature(function), OrderedDict())
    bound.arguments.update({name: arguments[name] for name in parameters if name in arguments})
    return function(*bound.args, **bound.kwargs)


@contextmanager
def seeded_and_silent(seed: int) -> Iterator[None]:
    """Seed random numbers in a block, drop what it prints and warns of, and restore torch's state after it.

    TimeOver ends the block and goes no further.
    """
    before, numpy_before, modes = random.getstate(), np.random.get_state(), active_mode_count()
    hooks = [(kept, dict(kept)) for kept in _GLOBAL_HOOKS]
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(seed)
        random.seed(seed)
        np.random.seed(seed)
        try:
            with (
                suppress(TracedRunTimeout),
                redirect_stdout(StringIO()),
                redirect_stderr(StringIO()),
                torch.enable_grad(),
            ):
                yield
        finally:
            exit_modes(above=modes)
            for kept, earlier in hooks:
                kept.clear()
                kept.update(earlier)
            random.setstate(before)
            np.random.set_state(numpy_before)


def _without_docstrings(text: str, name: str) -> tuple[str, ast.Module]:
    """Return the program without docstrings, as text and as a tree; raise NoQuestions if it defines no such name."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise NoQuestions("its text cannot be read") from None
    if not any(isinstance(each, ast.FunctionDef | ast.ClassDef) and each.name == name for each in tree.body):
        raise NoQuestions("its text is not to be found: no cell defines it with `def` or `class`")
    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and len(node.body) > 1 and _is_text(node.body[0]):
            first, last = node.body[0].lineno, node.body[0].end_lineno or 0
            if node.lineno < first and node.body[1].lineno > last:
                lines[first - 1 : last] = [""] * (last - first + 1)
                blank = last < len(lines) and not lines[last].strip()
                lines[first - 1 : last + blank] = ["\0"] * (last - first + 1 + blank)
    shown = "\n".join(line for line in lines if line != "\0").strip("\n")
    return shown, ast.parse(shown)


def _is_changed_outside(tree: ast.Module) -> bool:
    """Return whether a statement such as `Net.forward = forward` or `f = wrap(f)` changes what a `def` has defined."""
    defined = {each.name for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)}
    others = find_used_and_bound_names(
        each for each in tree.body if not isinstance(each, ast.FunctionDef | ast.ClassDef)
    )
    return not defined.isdisjoint(others.bound | others.changed | others.perhaps_changed)


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _inside(node: ast.AST) -> Iterator[ast.stmt]:
    """Yield the statements of a function, without those of functions and classes in it."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from [each] if isinstance(each, ast.stmt) else ()
            yield from _inside(each)


def _is_stored_attribute(node: ast.AST) -> bool:
    """Return whether a node gives a value to an attribute of a name, as `torch.sum = other` does."""
    return isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)


def is_removable_statement(node: ast.stmt) -> bool:
    """Return whether a statement is a simple one that can be left out."""
    return isinstance(node, SIMPLE) and not _is_text(node)
