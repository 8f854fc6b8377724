"""Find pairs of students whose answers share a structure that is rare in the class.

A pair is a reason to read both answers, and no evidence of copying.
"""

from __future__ import annotations

import ast
import math
import random
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from autograder.submission.extract_answer_statements import parse_cell_as_python

FLOOR, LONG = 30, 200  # nodes of a syntax tree: shorter answers are often equal by chance, longer ones hardly ever
_RARE = 6  # a form counts only if at most one student in six has it
_MIN_WEIGHT = 4.0  # least sum of weights of a pair that is reported
_LARGE = 10  # students; in a smaller class, one equal answer alone is never reported
_DEALS = 20  # random permutations over which `pairs_expected_by_chance` averages
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DROPPED = {"annotation", "returns", "ctx", "kind", "type_comment", "type_params", "type_ignores", "simple"}
_NAMING = {"name", "names", "id", "rest"}


@dataclass(frozen=True)
class AnswerStructure:
    """The structure of an answer as text, and the number of its syntax nodes."""

    text: str
    size: int


@dataclass(frozen=True)
class ExerciseInSameForm:
    """An exercise that two students answered in the same form.

    `holders` is the number of students with that form, `size` its number of nodes, `weight` how unlikely it is.
    """

    stem: str
    exercise: str
    holders: int
    size: int
    weight: float


@dataclass(frozen=True)
class SimilarStudents:
    """Two students, and the exercises in which their answers share a rare form."""

    first: str
    second: str
    alike: tuple[ExerciseInSameForm, ...]

    @property
    def weight(self) -> float:
        """The sum of the weights: how unlikely it is that both students chose these forms independently."""
        return round(math.fsum(each.weight for each in self.alike), 6)


@dataclass(frozen=True)
class ExerciseStructures:
    """The forms of the answers to one exercise by student, in a class of `size`.

    `common` are the forms of the starter and of known right answers, which are ignored.
    """

    stem: str
    exercise: str
    size: int
    forms: Mapping[str, AnswerStructure]
    common: frozenset[str] = frozenset()


# --- forms


def answer_structure(source: str) -> AnswerStructure | None:
    """Return the structure of an answer; None if it cannot be parsed.

    Names that the answer binds are numbered by their first occurrence. Docstrings, annotations, comments, and imports
    and bare expressions at the top level are left out. Attributes, imported names and all other names stay.
    """
    tree = parse_cell_as_python(source)[1]
    if tree is None:
        return None
    body = [node for node in tree.body if not isinstance(node, ast.Expr | ast.Import | ast.ImportFrom)]
    written = _Forms(tree)
    try:
        parts = [part for node in body for part in written.of(node)]
    except (RecursionError, MemoryError, ValueError):  # nested too deeply, or an integer too long for `repr`
        return None
    return AnswerStructure(" ".join(parts), sum(part.startswith("(") for part in parts))


class _Forms:
    """Serializes syntax nodes; the names that the answer binds become numbers."""

    def __init__(self, tree: ast.Module) -> None:
        methods = {id(each) for node in ast.walk(tree) if isinstance(node, ast.ClassDef) for each in node.body}
        nodes = list(ast.walk(tree))
        imported = {(each.asname or each.name).split(".")[0] for each in nodes if isinstance(each, ast.alias)}
        bound = {name for node in nodes if id(node) not in methods for name in _bound(node)}
        self._own, self._methods, self._numbers = bound - imported, methods, dict[str, int]()

    def of(self, node: ast.AST) -> Iterator[str]:
        if isinstance(node, ast.AnnAssign):
            if node.value is None:
                return
            node = ast.Assign([node.target], node.value)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return
        yield f"({type(node).__name__}"
        for field, value in ast.iter_fields(node):
            if field not in _DROPPED:
                yield from self._value(node, field, value)
        yield ")"

    def _value(self, node: ast.AST, field: str, value: object) -> Iterator[str]:
        if isinstance(value, ast.AST):
            yield from self.of(value)
        elif isinstance(value, list):
            yield "["
            for each in value:
                yield from self._value(node, field, each)
            yield "]"
        elif isinstance(value, str) and (field in _NAMING or isinstance(node, ast.arg)) and self._is_own(node, value):
            yield f"#{self._numbers.setdefault(value, len(self._numbers))}"
        else:
            yield f"={value!r}"

    def _is_own(self, node: ast.AST, name: str) -> bool:
        return name in self._own and id(node) not in self._methods and not isinstance(node, ast.alias)


def _bound(node: ast.AST) -> Sequence[str]:
    if isinstance(node, ast.Name):
        return [] if isinstance(node.ctx, ast.Load) else [node.id]
    if isinstance(node, ast.arg):
        return [node.arg]
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return []


# --- pairs


def similar_pairs(answered: Sequence[ExerciseStructures]) -> list[SimilarStudents]:
    """Return the pairs of students worth reporting, the least likely to arise by chance first.

    The weight of a form is log(size of the class / number of students who have it).
    """
    found: dict[tuple[str, str], list[ExerciseInSameForm]] = defaultdict(list)
    for each in answered:
        for students, alike in _shared(each):
            for pair in combinations(students, 2):
                found[pair].append(alike)
    sizes = {(each.stem, each.exercise): each.size for each in answered}
    candidates = [SimilarStudents(*pair, tuple(alike)) for pair, alike in found.items()]
    reported = [pair for pair in candidates if _is_reported(pair, sizes)]
    return sorted(reported, key=lambda pair: (-pair.weight, pair.first, pair.second))


def _shared(answered: ExerciseStructures) -> Iterator[tuple[list[str], ExerciseInSameForm]]:
    """Yield each rare form that several students have, with those students."""
    students: dict[AnswerStructure, list[str]] = defaultdict(list)
    for student in sorted(answered.forms):
        students[answered.forms[student]].append(student)
    for shape, who in students.items():
        if shape.size >= FLOOR and shape.text not in answered.common and 2 <= len(who) <= max(2, answered.size / _RARE):
            weight = math.log(answered.size / len(who))
            yield who, ExerciseInSameForm(answered.stem, answered.exercise, len(who), shape.size, weight)


def _is_reported(pair: SimilarStudents, sizes: Mapping[tuple[str, str], int]) -> bool:
    """Whether several exercises together weigh enough, or the pair alone shares one long form in a large class."""
    if len(pair.alike) > 1 and pair.weight >= _MIN_WEIGHT:
        return True
    return any(
        each.holders == 2 and each.size >= LONG and sizes[each.stem, each.exercise] >= _LARGE for each in pair.alike
    )


def pairs_expected_by_chance(answered: Sequence[ExerciseStructures]) -> float:
    """Return how many pairs would share several exercises if answers were assigned to the students at random.

    The result is the mean over `_DEALS` permutations of each exercise's answers, with a fixed seed.
    """
    deal = random.Random(0)
    counts = [
        sum(len(pair.alike) > 1 for pair in similar_pairs([_dealt(each, deal) for each in answered]))
        for _ in range(_DEALS)
    ]
    return sum(counts) / _DEALS


def _dealt(answered: ExerciseStructures, deal: random.Random) -> ExerciseStructures:
    students = sorted(answered.forms)
    forms = [answered.forms[student] for student in students]
    deal.shuffle(forms)
    return replace(answered, forms=dict(zip(students, forms, strict=True)))
