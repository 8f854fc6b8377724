"""Find which names a statement binds, which it may change, and which global names it uses.

Everything is read from the syntax tree, and nothing is run. For a tree that is too deeply nested to be analyzed, the
result says only that it uses every name in it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

# Functions that do not change their arguments.
_PURE_CALLS = frozenset({"print", "display", "len", "type", "repr", "str", "isinstance"})
_PURE_CALLS |= {"check", "hint", "mine", "reveal"}
# Methods that add items to lists, dicts and sets, or remove them.
_ITEM_METHODS = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear"})
_ATTRIBUTE_SETTERS = frozenset({"setattr", "delattr"})


@dataclass
class UsedAndBoundNames:
    """The names in some statements, by what the statements do with them.

    - `bound`: names that get a value when the statements run.
    - `used`: names that are looked up, at once or as globals when a function is called later.
    - `changed`: names that are deleted, or whose value gets an attribute or item, as `model` in `model.rate = 1`.
    - `perhaps_changed`: names whose value a call may change, as `model` in `model.eval()` and in `init(model)`.
    - `filled`: those of them on which a method for items is called, as `seen` in `seen.append(1)`.
    - `declared_global`: names in `global` statements.
    - `called`: names of functions that are called at once.
    - `set_later`: global names that a function in these statements changes when it is called.
    - `called_later`: names of functions that such a function calls.
    """

    bound: set[str] = field(default_factory=set)
    used: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    perhaps_changed: set[str] = field(default_factory=set)
    declared_global: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    called: set[str] = field(default_factory=set)
    set_later: set[str] = field(default_factory=set)
    called_later: set[str] = field(default_factory=set)


def find_used_and_bound_names(nodes: Iterable[ast.AST]) -> UsedAndBoundNames:
    """Return the names in these statements, by what the statements do with them."""
    nodes = list(nodes)
    try:
        return _scan(nodes)
    except RecursionError:
        every = (each for node in nodes for each in ast.walk(node))
        return UsedAndBoundNames(used={each.id for each in every if isinstance(each, ast.Name)})


def names_used_when_run(node: ast.AST) -> set[str]:
    """Return the names that a statement looks up when it runs, without those that a function looks up when called.

    A definition looks up its decorators, defaults, annotations and base classes, and a class also what its body uses.
    """
    waiting, nodes = [node], list[ast.AST]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            nodes += _function_head(each)
        elif isinstance(each, ast.ClassDef):
            nodes += _class_head(each)
            waiting += each.body
        else:
            nodes.append(each)
    return find_used_and_bound_names(nodes).used


def find_names_declared_global(tree: ast.AST) -> frozenset[str]:
    """Return all names that functions in this tree declare `global`: calling the functions may bind them."""
    return frozenset(name for part in ast.walk(tree) if isinstance(part, ast.Global) for name in part.names)


def select_definitions_needed(
    items: Sequence[T],
    wanted: Iterable[str],
    gives: Callable[[T], Collection[str]],
    uses: Callable[[T], Collection[str]],
) -> list[T]:
    """Return the items that bind a wanted name, or, transitively, a name that such an item uses; in their order.

    `gives(item)` are the names that an item binds, and `uses(item)` those that it uses.
    """
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


def _scan(nodes: Iterable[ast.AST]) -> UsedAndBoundNames:
    """Return the names of one scope. Each node is visited once; an inner scope gets a scan of its own."""
    found, waiting = UsedAndBoundNames(), list(nodes)
    while waiting:
        node = waiting.pop()
        waiting += _VISITORS.get(type(node), _visit_children)(node, found)
    return found


# --- One function for each kind of node: it records names, and returns the child nodes that belong to the same scope.


def _visit_children(node: ast.AST, _found: UsedAndBoundNames) -> Iterable[ast.AST]:
    """Return the children of a node that binds no name itself. (ast.iter_child_nodes takes several times as long.)"""
    parts: list[ast.AST] = []
    for name in node._fields:
        part = getattr(node, name, None)
        if isinstance(part, list):
            parts += [each for each in part if isinstance(each, ast.AST)]
        elif isinstance(part, ast.expr | ast.stmt | ast.arguments | ast.pattern):
            parts.append(part)
    return parts


def _skip(_node: ast.AST, _found: UsedAndBoundNames) -> Iterable[ast.AST]:
    return ()


def _name(node: ast.Name, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    if isinstance(node.ctx, ast.Load):
        found.used.add(node.id)
    else:
        (found.bound if isinstance(node.ctx, ast.Store) else found.changed).add(node.id)
    return ()


def _augmented(node: ast.AugAssign, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    if isinstance(node.target, ast.Name):  # `x += 1` reads x before it binds x
        found.used.add(node.target.id)
    return (node.target, node.value)


def _imported(node: ast.Import | ast.ImportFrom, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    found.bound.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return ()


def _visit_capture(node: Any, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    """Record the name of `except E as name`, or the one that a pattern captures."""
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    found.bound.update([name] if name else [])
    return _visit_children(node, found)


def _global(node: ast.Global, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    found.declared_global.update(node.names)
    return ()


def _visit_attribute_or_item(node: ast.Attribute | ast.Subscript, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    if not isinstance(node.ctx, ast.Load):
        root = _root(node)
        found.changed.update([root] if root else [])
    return (node.value, node.slice) if isinstance(node, ast.Subscript) else (node.value,)


def _call(node: ast.Call, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    given = [*node.args, *(each.value for each in node.keywords)]
    found.called.update([node.func.id] if isinstance(node.func, ast.Name) else ())
    if isinstance(node.func, ast.Name) and node.func.id in _ATTRIBUTE_SETTERS and node.args:
        found.changed.update(filter(None, [_root(node.args[0])]))
    roots = [_root(node.func.value)] if isinstance(node.func, ast.Attribute) else []
    if isinstance(node.func, ast.Attribute) and node.func.attr in _ITEM_METHODS:
        found.filled.update(filter(None, roots))
    if not (isinstance(node.func, ast.Name) and node.func.id in _PURE_CALLS):
        roots += map(_root, given)
    found.perhaps_changed.update(filter(None, roots))
    return [node.func, *given]


def _root(node: ast.AST) -> str | None:
    """Return `x` for `x`, `x.weight` and `x[0].weight`; None if the expression does not begin with a name."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


# --- scopes


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    found.bound.add(node.name)
    parameters = _parameters(node.args)
    inside = _scan(node.body)
    own = inside.bound.union(each.arg for each in parameters) - inside.declared_global
    found.used |= inside.used - own
    found.set_later |= ((inside.changed | inside.filled) - own) | (inside.bound & inside.declared_global)
    found.called_later |= inside.called - own
    return _function_head(node)


def _lambda(node: ast.Lambda, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    inside = _scan([node.body])
    found.used |= inside.used - inside.bound - {each.arg for each in _parameters(node.args)}
    return _defaults(node.args)


def _class(node: ast.ClassDef, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    found.bound.add(node.name)
    # Methods do not see names that the class body binds, and the body may read a global name before it binds it: so
    # names that the body binds are not removed from `used`.
    found.used |= _scan(node.body).used
    return _class_head(node)


def _comprehension(node: Any, found: UsedAndBoundNames) -> Iterable[ast.AST]:
    made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    inside = _scan([*made, *(part for each in node.generators for part in (each.target, *each.ifs))])
    targets = _scan(each.target for each in node.generators).bound
    later = _scan(each.iter for each in node.generators[1:])
    found.used |= (inside.used | later.used) - targets
    found.bound |= inside.bound - targets  # `:=` binds in the scope around
    return [node.generators[0].iter]


def _parameters(args: ast.arguments) -> list[ast.arg]:
    return [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]


def _function_head(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.AST]:
    """Return the expressions that Python evaluates when it defines a function: decorators, defaults, annotations."""
    written = [*(each.annotation for each in _parameters(node.args)), node.returns]
    return [*node.decorator_list, *_defaults(node.args), *(each for each in written if each is not None)]


def _class_head(node: ast.ClassDef) -> list[ast.AST]:
    """Return the expressions, beside the body, that Python evaluates when it defines a class."""
    return [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)]


def _defaults(args: ast.arguments) -> list[ast.AST]:
    return [*args.defaults, *filter(None, args.kw_defaults)]


_VISITORS: dict[type, Callable[[Any, UsedAndBoundNames], Iterable[ast.AST]]] = {
    ast.Name: _name,
    ast.Constant: _skip,
    ast.AugAssign: _augmented,
    ast.Import: _imported,
    ast.ImportFrom: _imported,
    ast.ExceptHandler: _visit_capture,
    ast.MatchAs: _visit_capture,
    ast.MatchStar: _visit_capture,
    ast.MatchMapping: _visit_capture,
    ast.Global: _global,
    ast.Attribute: _visit_attribute_or_item,
    ast.Subscript: _visit_attribute_or_item,
    ast.Call: _call,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _comprehension),
}
