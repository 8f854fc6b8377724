"""Names in a program's text: what a statement binds, what it may change, and which global names it uses.

Read from the syntax tree; nothing is run. A tree that is too deep to be walked with care is said to use every name in
it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, *_COMPREHENSIONS)
_LOOKING = frozenset({"print", "display", "len", "type", "repr", "str", "isinstance", "check", "hint", "reveal"})


def bound(node: ast.stmt) -> frozenset[str]:
    """The names that a statement gives a value to, or takes one from, also below `for`, `with` and `if`."""
    found = {name for each in _own_nodes(node) for name in _names_bound(each)}
    return frozenset(found | _walrus_names(node))


def given_attributes(node: ast.stmt) -> frozenset[str]:
    """The names whose attributes or items a statement sets: `model` in `model.rate = 1` and in `model.rates[0] = 1`."""
    targets = (each for each in _own_nodes(node) if isinstance(each, ast.Attribute | ast.Subscript))
    return frozenset(filter(None, (_root(each) for each in targets if not isinstance(each.ctx, ast.Load))))


def perhaps_changed(node: ast.stmt) -> frozenset[str]:
    """The names whose values a call in the statement may change: `model` in `model.eval()` and in `init(model)`."""
    found: set[str | None] = set()
    for call in (each for each in _own_nodes(node) if isinstance(each, ast.Call)):
        if isinstance(call.func, ast.Attribute):
            found.add(_root(call.func.value))
        if not (isinstance(call.func, ast.Name) and call.func.id in _LOOKING):
            found.update(_root(value) for value in (*call.args, *(each.value for each in call.keywords)))
    return frozenset(filter(None, found))


def used(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The global names that these statements look up, when they run or when what they define is called."""
    nodes = list(nodes)
    try:
        return frozenset().union(*map(_free, nodes))
    except RecursionError:
        return frozenset(each.id for node in nodes for each in ast.walk(node) if isinstance(each, ast.Name))


def reached(
    items: Sequence[T],
    wanted: Iterable[str],
    gives: Callable[[T], Collection[str]],
    uses: Callable[[T], Collection[str]],
) -> list[T]:
    """The items that give a value to a wanted name, or to a name that such an item uses."""
    giving: dict[str, list[int]] = defaultdict(list)
    for place, item in enumerate(items):
        for name in gives(item):
            giving[name].append(place)
    waiting, found = list(wanted), set[int]()
    while waiting:
        for place in giving.pop(waiting.pop(), ()):
            waiting += uses(items[place]) if place not in found else ()
            found.add(place)
    return [items[place] for place in sorted(found)]


# --- what runs where the statement stands


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """A statement's nodes without the insides of functions, classes and comprehensions: they have their own."""
    waiting = [node]
    while waiting:
        each = waiting.pop()
        yield each
        waiting += _around(each) if isinstance(each, _SCOPES) else ast.iter_child_nodes(each)


def _around(scope: ast.AST) -> list[ast.AST]:
    """The parts of a function, class or comprehension that run outside it: decorators, defaults, the first iterable."""
    if isinstance(scope, ast.Lambda):
        return _defaults(scope.args)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return [*scope.decorator_list, *_defaults(scope.args), *_annotations(scope)]
    if isinstance(scope, ast.ClassDef):
        return [*scope.decorator_list, *scope.bases, *(each.value for each in scope.keywords)]
    assert isinstance(scope, _COMPREHENSIONS)
    return [scope.generators[0].iter]


def _defaults(args: ast.arguments) -> list[ast.AST]:
    return [*args.defaults, *filter(None, args.kw_defaults)]


def _parameters(args: ast.arguments) -> list[ast.arg]:
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]


def _annotations(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    written = [each.annotation for each in _parameters(function.args)] + [function.returns]
    return [each for each in written if each is not None]


def _names_bound(node: ast.AST) -> set[str]:
    """The names that this one node binds."""
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Load) else {node.id}
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
        return {node.name} if node.name else set()
    if isinstance(node, ast.MatchMapping):
        return {node.rest} if node.rest else set()
    return set()


def _walrus_names(node: ast.stmt) -> set[str]:
    """What `:=` binds in a comprehension belongs to the scope around it."""
    inside = (part for each in _own_nodes(node) if isinstance(each, _COMPREHENSIONS) for part in ast.walk(each))
    return {each.target.id for each in inside if isinstance(each, ast.NamedExpr) and isinstance(each.target, ast.Name)}


def _root(node: ast.AST) -> str | None:
    """`x` for `x`, `x.weight`, `x[0].weight`; None where no name stands in front."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


# --- what is looked up


def _free(node: ast.AST) -> frozenset[str]:
    """The names that a node looks up and that no function around them binds."""
    names: set[str] = set()
    for each in _own_nodes(node):
        if isinstance(each, ast.Name):
            # A name that is read where it is bound, as in `n += 1`, may be read before.
            names.add(each.id) if isinstance(each.ctx, ast.Load) else None
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            names.add(each.target.id)
        if isinstance(each, _SCOPES):
            names |= _free_inside(each)
    return frozenset(names)


def _free_inside(scope: ast.AST) -> frozenset[str]:
    """The names that a function, class or comprehension takes from around it."""
    if isinstance(scope, ast.ClassDef):
        # Its methods do not see what its body binds, and its body may read a name before it binds it.
        return frozenset().union(*map(_free, scope.body))
    if isinstance(scope, ast.Lambda):
        return _free(scope.body) - {each.arg for each in _parameters(scope.args)}
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        own = {each.arg for each in _parameters(scope.args)} | frozenset().union(*map(bound, scope.body))
        return frozenset().union(*map(_free, scope.body)) - (own - _declared_global(scope.body))
    assert isinstance(scope, _COMPREHENSIONS)
    own = {name for each in scope.generators for part in ast.walk(each.target) for name in _names_bound(part)}
    return frozenset().union(*map(_free, _inside(scope))) - own


def _inside(scope: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> list[ast.AST]:
    made = [scope.key, scope.value] if isinstance(scope, ast.DictComp) else [scope.elt]
    later = [each.iter for each in scope.generators[1:]]
    return [*made, *later, *(test for each in scope.generators for test in each.ifs)]


def _declared_global(body: list[ast.stmt]) -> set[str]:
    nodes = (each for node in body for each in _own_nodes(node))
    return {name for each in nodes if isinstance(each, ast.Global) for name in each.names}
