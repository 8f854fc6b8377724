"""Plan the run of a submission: which statements to run, in which order, and when to probe each answer.

A run executes the student's functions, classes and imports in their places. It executes any other statement, and
everything that the lesson defines, only if an answer depends on it: running a whole lesson for every student is slow.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType

from autograder.exercises.exercise import Case
from autograder.name_bindings import names_used_when_run, select_definitions_needed
from autograder.sandbox.execution.run_specification import (
    CellStep,
    ProbeStep,
    Program,
    SharedSetup,
    StatementsStep,
    Step,
)
from autograder.submission.extract_answer_statements import (
    Statement,
    answer_text,
    globals_set_by_calls,
    is_extension_of_answer,
    statements,
    variable_names,
    without_magic_on_top,
)
from autograder.submission.order_repaired_cells import CellInRun, CellRole

_BUILTINS = frozenset(vars(builtins))
_OURS = ("autograder", "explorers")  # packages whose imports a run leaves out: it defines silent stand-ins itself


@dataclass(frozen=True)
class ExerciseTask:
    """An exercise to grade: its fresh cases, and the time limit of its answer in seconds."""

    exercise: str
    cases: tuple[Case, ...]
    seconds: float


@dataclass(frozen=True)
class ProgramToRun:
    """The program to run, and the source text of each answer for rules that read it.

    `sources` has the text as of the exercise's check, `later_sources` as of the end of the notebook, for the exercises
    that are probed there again. `given` are all names that a cell of the notebook binds.
    """

    program: Program
    sources: Mapping[str, str]
    later_sources: Mapping[str, str]
    given: frozenset[str]


def plan_run(
    parts: Sequence[CellInRun],
    tasks: Sequence[ExerciseTask],
    ground: SharedSetup,
    files: Mapping[str, bytes] = MappingProxyType({}),
) -> ProgramToRun:
    """Return the plan for the cells of a submission.

    The answer to an exercise without a task counts as a cell of the student's own. `files` are the contents of the
    files beside the notebook, by name.
    """
    parts = list(_for_tasks(parts, {task.exercise for task in tasks}))
    layout = _Layout(parts, ground.setup)
    made = _Steps(layout, {task.exercise: task for task in tasks})
    sources = {name: layout.source(name, place, layout.checks[name]) for name, place in layout.first.items()}
    later = {name: layout.source(name, layout.last[name], layout.end) for name in made.again}
    program = Program(ground, tuple(made.steps), {task.exercise: task.cases for task in tasks}, files)
    return ProgramToRun(program, sources, later, layout.given)


def _for_tasks(parts: Sequence[CellInRun], names: Set[str]) -> Iterator[CellInRun]:
    for part in parts:
        known = tuple(name for name in part.exercises if name in names)
        if known or not part.exercises:
            yield replace(part, exercises=known)
        elif part.role is CellRole.ANSWER:
            yield CellInRun(CellRole.OWN, part.source)


class _Layout:
    """The places of answers and checks among the cells, and the names that each cell binds.

    A place is the index of a cell. `first` and `last` map each exercise to the first and the last cell that answers it.
    """

    def __init__(self, parts: Sequence[CellInRun], setup: str) -> None:
        self.parts, self._setup = parts, statements(setup) or ()
        answers = [(name, place) for place in self._places_with(CellRole.ANSWER) for name in parts[place].exercises]
        self.first, self.last = dict(reversed(answers)), dict(answers)
        self.checks = {parts[place].exercises[0]: place for place in self._places_with(CellRole.CHECK)}
        self.called = {name: parts[place].called or name for name, place in self.checks.items()}
        self._known = [(place, each) for place in range(len(parts)) for each in self.of(place)]
        self.values = variable_names(each for _, each in self._known)
        self._set_by = globals_set_by_calls([each for _, each in self._known])
        # A name that the setup cell binds and the lesson binds again, such as `device`, is looked for in the lesson.
        lesson = (each for place in self._places_with(CellRole.GIVEN) for each in self.of(place) if not each.is_import)
        self._available = (_bound_by(setup) | _BUILTINS).difference(*(each.names.bound for each in lesson))

    @property
    def given(self) -> frozenset[str]:
        """Return the names that any cell binds."""
        return frozenset().union(*(each.names.bound for _, each in self._known))

    def _places_with(self, *roles: CellRole) -> list[int]:
        return [place for place, part in enumerate(self.parts) if part.role in roles]

    def of(self, place: int) -> tuple[Statement, ...]:
        """Return the statements of a cell that a run may need."""
        return _needed(self.parts[place].source)

    def answer(self, exercise: str, place: int) -> list[Statement]:
        """Return the statements of a cell that define an answer, with those in the cell that they depend on."""
        return self._with_dependencies(self.of(place), {self.called.get(exercise, exercise)})

    def unbound(self, exercise: str, place: int) -> frozenset[str]:
        """Return the names that an answer uses and that its cell does not bind."""
        own = self.answer(exercise, place)
        used: frozenset[str] = frozenset().union(*(each.names.used for each in own))
        return used - frozenset().union(*(each.names.bound for each in own))

    def wanted(self, exercise: str, place: int, end: int) -> list[tuple[int, Statement]]:
        """Return the statements before the place `end` on which an answer depends, directly or through others."""
        added = self.added(exercise, place, end)
        used = (each.names.used for _, each in added)
        missing = self.unbound(exercise, place).union(*used) - self._available - {self.called.get(exercise, exercise)}
        above = [each for each in self._known if each[0] < end] if missing else []
        return added + select_definitions_needed(
            above, missing, lambda each: self._gives(each[1]), lambda each: each[1].names.used
        )

    def added(self, exercise: str, place: int, end: int) -> list[tuple[int, Statement]]:
        """Return the statements after an answer's cell that extend it, such as `Net.forward = forward`."""
        called = self.called.get(exercise, exercise)
        return [each for each in self._between(place, end) if is_extension_of_answer(called, each[1])]

    def _between(self, place: int, end: int) -> list[tuple[int, Statement]]:
        return [each for each in self._known if place < each[0] < end]

    def source(self, exercise: str, place: int, end: int) -> str:
        """Return the source text of an answer with its extensions and its helpers, for rules that read it."""
        called, behind = self.called.get(exercise, exercise), (each for _, each in self._between(place, end))
        # Search all cells: a helper's cell may pass for the answer to another exercise whose own cell is lost.
        known = (*self._setup, *(each for _, each in self._known))
        return answer_text(called, self.parts[place].source, behind, known, self.first, _of_module)

    def only_below(self, exercise: str, place: int) -> frozenset[str]:
        """Return the names that an answer depends on and that cells bind only below its check."""
        check = self.checks[exercise]
        found = self.wanted(exercise, place, self.end)
        above = frozenset().union(*(each.names.bound for at, each in found if at < check)) | self._available
        return frozenset().union(*(each.names.bound for at, each in found if at > check)) - above

    def to_run_again(self, exercise: str, place: int) -> tuple[str, ...]:
        """Return the statements of an answer to run again at the end of the notebook.

        There are some only if its cell cannot run in its place, because a name that it needs at once, such as a
        decorator, is bound only further down.
        """
        below = self.only_below(exercise, place)
        answer = self.answer(exercise, place)
        if not any(names_used_when_run(each.node) & below for each in answer):
            return ()
        added = [each for _, each in self.added(exercise, place, self.end)]
        return tuple(each.text for each in (*answer, *added) if each.text)

    @property
    def end(self) -> int:
        """Return the place after the last cell."""
        return len(self.parts)

    def _with_dependencies(self, known: Sequence[Statement], wanted: Iterable[str]) -> list[Statement]:
        return select_definitions_needed(known, wanted, self._gives, lambda each: each.names.used)

    def _gives(self, statement: Statement) -> frozenset[str]:
        """Return the names that a statement binds or changes, also through a call of a function of the student."""
        calls = (self._set_by.get(name, frozenset()) for name in statement.names.called)
        return frozenset(statement.names_bound_or_changed(self.values)).union(*calls)


class _Steps:
    """The steps of a program in the order of the notebook; the exercises that are probed again come last."""

    def __init__(self, layout: _Layout, tasks: Mapping[str, ExerciseTask]) -> None:
        self._layout, self._tasks = layout, tasks
        self.steps: list[Step] = []
        self.again = [name for name, place in layout.last.items() if self._may_differ_at_end(name, place)]
        looks = [(name, place, layout.checks[name]) for name, place in layout.first.items()]
        looks += [(name, layout.last[name], layout.end) for name in self.again]
        self._wanted = {id(each) for look in looks for _, each in layout.wanted(*look)}
        self._at: dict[int, int] = {}  # the index of the step that runs an answer's cell, by the cell's place
        for place, part in enumerate(layout.parts):
            self._add(place, part)
        for name in self.again:
            defined = layout.to_run_again(name, layout.last[name])
            self.steps += [StatementsStep(defined)] if defined else []
            self.steps.append(self._probing(name, self._at[layout.last[name]], again=True))

    def _add(self, place: int, part: CellInRun) -> None:
        if part.role is CellRole.CHECK:
            self._add_check(part.exercises[0])
        elif part.role is CellRole.ANSWER:
            self._at[place] = len(self.steps)
            self.steps.append(self._cell(place, part))
        else:
            kept = tuple(each.text for each in self._layout.of(place) if self._counts(each, part.role) and each.text)
            self.steps += [StatementsStep(kept)] if kept else []

    def _add_check(self, name: str) -> None:
        cell = self._at.get(self._layout.first[name]) if name in self._layout.first else None
        self.steps.append(self._probing(name, cell))

    def _probing(self, name: str, cell: int | None, again: bool = False) -> ProbeStep:
        return ProbeStep(name, self._layout.called[name], cell, again, self._tasks[name].seconds)

    def _cell(self, place: int, part: CellInRun) -> CellStep:
        found = [self._layout.answer(name, place) for name in part.exercises]
        needed = {id(each): each for answer in found for each in answer}
        written = tuple((each.last_line, each.text) for each in self._layout.of(place) if id(each) in needed)
        # `%%capture` would hide the error that stops the cell, after which what is needed below it still runs.
        source = without_magic_on_top(part.source)
        return CellStep(source, written, max(self._tasks[name].seconds for name in part.exercises))

    def _counts(self, statement: Statement, role: CellRole) -> bool:
        return id(statement) in self._wanted or (role is CellRole.OWN and (statement.defines or statement.is_import))

    def _may_differ_at_end(self, name: str, last: int) -> bool:
        """Return whether an exercise's result at the end of the notebook may differ from that at its check."""
        return last != self._layout.first[name] or bool(self._layout.only_below(name, last))


@lru_cache(maxsize=512)  # called many times per submission, and most cells are the same in all of them
def _needed(source: str) -> tuple[Statement, ...]:
    return tuple(each for each in statements(source) or () if not _imports_own_package(each))


def _imports_own_package(statement: Statement) -> bool:
    """Return whether a statement imports from this project's packages; a run defines silent stand-ins for these."""
    node = statement.node
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").split(".")[0] in _OURS
    return isinstance(node, ast.Import) and any(alias.name.split(".")[0] in _OURS for alias in node.names)


@lru_cache(maxsize=512)
def _of_module(name: str) -> str | None:
    """Return None for a module that is installed here, and "" for any other, such as a student's own file.

    "" is its source text as far as the grader can know it: a submission contains no modules.
    """
    top = name.partition(".")[0]
    return None if top in sys.modules or importlib.util.find_spec(top) is not None else ""


@lru_cache(maxsize=8)
def _bound_by(setup: str) -> frozenset[str]:
    return frozenset().union(*(each.names.bound for each in statements(setup) or ()))
