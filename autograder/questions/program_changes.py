"""Make small changes to a reader's program: a line is left out or moved, a part of a call or an operator replaced."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import ModuleType
from typing import Any

from autograder.questions.ast_instrumentation import FILE
from autograder.questions.student_program_runs import is_removable_statement
from autograder.questions.traced_run_questions import AskedRun, line_range_text

_Change = tuple[str, int, int, Callable[[Any], None]]  # in words, the line, the place of the node, and how
_SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr)
_OTHER_OPERATORS: dict[type[Any], type[Any]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt},
    **{ast.Add: ast.Sub, ast.Sub: ast.Add},
}


@dataclass(frozen=True)
class ProgramChange:
    """A small change, most often something that is left out: in words, the line, and the changed program."""

    told: str
    line: int
    tree: ast.Module


def program_changes(asked: AskedRun) -> Iterator[ProgramChange]:
    """Yield the changes, in an order drawn at random.

    Lines, keyword arguments and methods are left out, lines change places, and operators become others.
    """
    code, made = asked.code, _possible(asked)
    for told, line, place, how in asked.random.sample(made, len(made)):
        tree = copy.deepcopy(code.tree)
        if told.startswith("In") and code.lines[line - 1].count(told.split("`")[1]) != 1:
            continue  # the words do not say which
        how(list(ast.walk(tree))[place])
        if _is_python(tree):
            yield ProgramChange(told, line, tree)


def _possible(asked: AskedRun) -> list[_Change]:
    """Return all changes of what ran."""
    code, counts = asked.code, asked.run.counts
    single = {id(each) for each in code.single_statements if counts.get(each.lineno)}
    nodes = list(ast.walk(code.tree))
    blocks = [block for node in nodes for _, block in ast.iter_fields(node) if isinstance(block, list)]
    alone = {id(block[0]) for block in blocks if len(block) == 1}  # a block without a statement is no Python
    made: list[_Change] = []
    for place, node in enumerate(nodes):
        statement = asked.statement_of(getattr(node, "lineno", 0))
        if statement is None or not counts.get(statement.lineno):
            continue
        if (
            isinstance(node, ast.stmt)
            and id(node) in single
            and is_removable_statement(node)
            and not _binds_global_name(node, code.names)
        ):
            verb = "is" if line_range_text(node).startswith("line ") else "are"
            what = "replaced by `pass`" if id(node) in alone else "left out"
            made.append(
                (f"{line_range_text(node).capitalize()} {verb} {what}.", node.lineno, place, _without_statement)
            )
        if isinstance(node, ast.Call):
            made += [
                (f"In line {line}, `{text}` is left out.", line, place, how)
                for line, text, how in _cuts(node, code.names)
            ]
        if isinstance(node, ast.Compare | ast.BinOp):
            told = f"In line {node.lineno}, `{ast.unparse(node)}` becomes"
            made += [(f"{told} `{new}`.", node.lineno, place, how) for new, how in _replacements(node)]
    return [*made, *_swaps(nodes, single, counts)]


def _swaps(nodes: list[ast.AST], single: set[int], counts: Mapping[int, int]) -> Iterator[_Change]:
    """Yield the changes in which two lines, one below the other, change places."""
    for place, node in enumerate(nodes):
        for name, block in ast.iter_fields(node):
            for above, (one, two) in enumerate(pairwise(block if isinstance(block, list) else ())):
                if not isinstance(one, _SIMPLE) or not isinstance(two, _SIMPLE) or not {id(one), id(two)} <= single:
                    continue
                first = one.lineno
                is_below = (one.end_lineno, two.lineno, two.end_lineno) == (first, first + 1, first + 1)
                if is_below and counts.get(first) and counts.get(first + 1):
                    told = f"Lines {first} and {first + 1} change places."
                    yield told, first, place, partial(_swap, name=name, above=above)


def _swap(node: Any, name: str, above: int) -> None:
    block = getattr(node, name)
    block[above : above + 2] = block[above : above + 2][::-1]


def _replacements(node: ast.Compare | ast.BinOp) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Yield what may stand in place of a comparison, or of a sum or difference: the new text, and how it is made."""
    operators = node.ops if isinstance(node, ast.Compare) else [node.op]
    other = _OTHER_OPERATORS.get(type(operators[0]))
    if other is not None and len(operators) == 1:
        new = copy.deepcopy(node)
        _with_operator(new, other)
        yield ast.unparse(new), partial(_with_operator, other=other)


def _with_operator(node: Any, other: type[Any]) -> None:
    if isinstance(node, ast.Compare):
        node.ops = [other()]
    else:
        node.op = other()


def _binds_global_name(node: ast.AST, names: Mapping[str, Any]) -> bool:
    """Return whether a name that a statement binds has a value in the notebook, too, which is then found instead."""
    stored = (each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))
    return any(each in names for each in stored)


def _is_python(tree: ast.Module) -> bool:
    """Return whether a changed program can be compiled: a `nonlocal` needs the line that binds its name."""
    try:
        compile(tree, FILE, "exec", dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _without_statement(node: Any) -> None:
    """Turn a statement into `pass`."""
    passed = ast.copy_location(ast.Pass(), node)
    node.__class__ = ast.Pass
    node.__dict__ = vars(passed)


def _cuts(node: ast.Call, names: Mapping[str, Any]) -> Iterator[tuple[int, str, Callable[[Any], None]]]:
    """Yield what can be left out of a call, with its line: a keyword, a part of a model, a method without arguments."""
    for place, keyword in enumerate(node.keywords):
        if keyword.arg and ast.unparse(node.func) != "dict":  # an entry less, as anybody sees
            yield keyword.value.lineno, ast.unparse(keyword), partial(_without_keyword, place=place)
    if ast.unparse(node.func).endswith("Sequential") and len(node.args) > 1:
        for place, part in enumerate(node.args):
            yield part.lineno, ast.unparse(part), partial(_without_argument, place=place)
    if isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        root = ast.unparse(node.func.value).partition(".")[0]
        if (
            node.func.attr not in ("cpu", "cuda")
            and node.func.attr[:1].islower()
            and not isinstance(names.get(root), ModuleType)
        ):
            yield node.lineno, f".{node.func.attr}()", _without_method


def _without_keyword(call: Any, place: int) -> None:
    call.keywords.pop(place)


def _without_argument(call: Any, place: int) -> None:
    call.args.pop(place)


def _without_method(call: Any) -> None:
    inner = call.func.value
    call.__class__ = type(inner)
    call.__dict__ = vars(inner)
