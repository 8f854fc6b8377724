"""Instrument a program: insert calls into its syntax tree that report each step to a recorder (`traced_run`).

`sys.settrace` is not used, because debuggers need it. Line numbers and results do not change.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from types import CodeType
from typing import Any, cast

FILE = "<the reader's program>"
TRACE = "__trace__"  # the recorder's name in the program
_LONGEST = 60  # characters of an expression whose value is recorded
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Expr, ast.Assert, ast.Pass, ast.Delete)
COUNTED = (*SIMPLE, ast.Return, ast.Break, ast.Continue, ast.Raise)  # whose runs are counted
_PARTS = (ast.Call, ast.BinOp, ast.Subscript, ast.Compare, ast.UnaryOp)
_GOING_THROUGH = {"list", "tuple", "iter", "enumerate", "zip", "map"}
_ATTRIBUTES = ("T", "mT", "grad", "shape", "dtype")
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
_APART = (*_SCOPES, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.NamedExpr)


def traced_code(tree: ast.Module, text: str) -> CodeType:
    """Return the compiled functions and classes of a program, which report to a recorder; the tree is not changed.

    `text` is the source of the program, of the original one if `tree` is a changed version. Generators and
    coroutines are not traced.
    """
    kept = [each for each in tree.body if isinstance(each, ast.FunctionDef | ast.ClassDef)]
    ordered = _OrderOfSets().visit(ast.Module(copy.deepcopy(kept), []))  # type: ignore[arg-type]
    copied = _Reporting(text.encode().splitlines()).visit(ordered)
    return compile(ast.fix_missing_locations(copied), FILE, "exec", dont_inherit=True)


def names_bound(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that an assignment binds, attributes of `self` included, as `self.NAME`; () for others."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return ()
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    found = [each for target in targets if target is not None for each in ast.walk(target)]
    return tuple(dict.fromkeys(filter(None, map(_stored, found))))


def _stored(node: ast.AST) -> str:
    match node:
        case ast.Name(ctx=ast.Store()):
            return node.id
        case ast.Attribute(value=ast.Name("self"), ctx=ast.Store()):
            return f"self.{node.attr}"
    return ""


class _Reporting(ast.NodeTransformer):
    """Adds the calls. `_known` holds the names that surely have a value at the present place."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._parts = _Parts(lines)
        self._known: list[str] = []
        self._deleted: set[str] = set()

    def visit_Lambda(self, node: ast.Lambda) -> ast.Lambda:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AsyncFunctionDef:
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if any(isinstance(each, ast.Yield | ast.YieldFrom) for each in _own_nodes(node)):
            return node
        before = self._known, self._deleted
        self._deleted = {each.id for each in ast.walk(node) if isinstance(each, ast.Name) and _is_del(each)}
        every = node.args
        args = [*every.posonlyargs, *every.args, *every.kwonlyargs, *filter(None, (every.vararg, every.kwarg))]
        self._known = [each.arg for each in args if each.arg not in self._deleted and each.arg[:2] != "__"]
        has_text = isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        text, body = (node.body[:1], node.body[1:]) if has_text else ([], node.body)
        entered = self._report("enter", ast.Constant(node.name), ast.Constant(node.lineno))
        guarded = ast.Try(self._block(body or [ast.Pass()]), [_on_error()], [], [_call_statement("leave")])
        node.body = [*text, entered, guarded]
        self._known, self._deleted = before
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        known, made = list(self._known), list[ast.stmt]()
        for each in body:
            made += self._statement(each)
        self._known = known
        return made

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        line = ast.Constant(node.lineno if hasattr(node, "lineno") else 0)
        if isinstance(node, SIMPLE):
            bound = names_bound(node)
            if isinstance(value := getattr(node, "value", None), ast.expr):
                node.value = self._parts.visit(value)  # type: ignore[union-attr]
            self._learn(bound)
            names = ast.Tuple([ast.Constant(name) for name in bound], ast.Load())
            return [_call_statement("begin", line), node, self._report("after", line, cast(Any, names))]
        if isinstance(node, ast.Return):
            value = ast.Constant(None) if node.value is None else self._parts.visit(node.value)
            node.value = self._report("result", line, value).value
        if isinstance(node, ast.Return | ast.Break | ast.Continue | ast.Raise):
            return [_call_statement("begin", line), node]
        return [self._compound(node)]

    def _compound(self, node: ast.stmt) -> ast.stmt:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            return cast(ast.stmt, self.visit(node))
        known = list(self._known)
        if isinstance(node, ast.For):
            self._learn(tuple(each.id for each in ast.walk(node.target) if isinstance(each, ast.Name)))
        if isinstance(node, ast.With):
            targets = (each.optional_vars for each in node.items if each.optional_vars is not None)
            self._learn(tuple(n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)))
        for name in ("body", "orelse", "finalbody"):
            if block := getattr(node, name, []):
                setattr(node, name, self._block(block))
            self._known = list(known)
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            part.body = self._block(part.body)
        return node

    def _learn(self, names: tuple[str, ...]) -> None:
        new = [name for name in names if name.isidentifier() and name[:2] != "__" and name not in self._deleted]
        self._known += [name for name in new if name not in self._known]

    def _report(self, kind: str, *args: ast.expr) -> ast.Expr:
        return _call_statement(kind, *args, names=self._known)


class _OrderOfSets(ast.NodeTransformer):
    """Lets the recorder choose the order in which sets are gone through: in Python another one in each process."""

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = _in_turn(node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _in_turn(node.iter)
        return node

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id in _GOING_THROUGH and node.args:
            node.args = [each if isinstance(each, ast.Starred) else _in_turn(each) for each in node.args]
        return node


def _in_turn(node: ast.expr) -> ast.expr:
    return ast.copy_location(_call_statement("in_turn", node).value, node)


class _Parts(ast.NodeTransformer):
    """Wraps the expressions whose values are recorded, from the inside out."""

    def __init__(self, lines: Sequence[bytes]) -> None:
        self._lines = lines

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _APART):
            return node
        text = self._text(node) if self._is_asked(node) else ""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            node.func.value = self.visit(node.func.value)
            node.args = [self.visit(each) for each in node.args]
            node.keywords = [self.visit(each) for each in node.keywords]
        else:
            self.generic_visit(node)
        if not text or len(text) > _LONGEST or "super()" in text:
            return node
        line = ast.Constant(node.lineno)  # type: ignore[attr-defined]
        wrapped = _call_statement("part", line, ast.Constant(text), cast(ast.expr, node)).value
        return ast.copy_location(wrapped, node)

    def _text(self, node: Any) -> str:
        """Return an expression as it is written; "" if it has several lines."""
        line = self._lines[node.lineno - 1] if node.lineno == node.end_lineno else b""
        return line[node.col_offset : node.end_col_offset].decode()

    def _is_asked(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Attribute):
            return isinstance(node.ctx, ast.Load) and node.attr in _ATTRIBUTES
        if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
            return False
        return isinstance(node, _PARTS) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)


def _call_statement(kind: str, *args: ast.expr, names: Sequence[str] = ()) -> ast.Expr:
    function = ast.Attribute(ast.Name(TRACE, ast.Load()), kind, ast.Load())
    keywords = [ast.keyword(name, ast.Name(name, ast.Load())) for name in names]
    return ast.Expr(ast.Call(function, list(args), keywords))


def _on_error() -> ast.ExceptHandler:
    """Return the handler that reports an error and lets it go on."""
    name = "__trace_error__"
    report = _call_statement("failed", ast.Name(name, ast.Load()))
    return ast.ExceptHandler(ast.Name("BaseException", ast.Load()), name, [report, ast.Raise(None, None)])


def _own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function without those of the functions in it."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, _SCOPES):
            left += ast.iter_child_nodes(node)


def _is_del(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Del)
