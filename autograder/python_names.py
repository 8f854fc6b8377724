"""Names in a program's text: what a statement binds, what it may change, and which global names it uses.

Read from the syntax tree; nothing is run. A tree that is too deep to be walked with care is said to use every name in
it.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")

# Calls that look at their arguments and leave them as they are.
_LOOKING = frozenset({"print", "display", "len", "type", "repr", "str", "isinstance"})
_LOOKING |= {"check", "hint", "mine", "reveal"}
# Methods by which lists, dicts and sets are filled and emptied.
_FILLING = frozenset({"append", "extend", "insert", "add", "update", "setdefault", "pop", "remove", "clear"})
_SETTING = frozenset({"setattr", "delattr"})


@dataclass
class Names:
    """The names of some statements: what they bind where they stand, what they look up there or later as globals.

    `changed` are the names that are deleted, or get an attribute or item, as `model` in `model.rate = 1`;
    `perhaps_changed` those whose values a call may change, as `model` in `model.eval()` and in `init(model)`.
    `filled` are those of them that get an item, as `seen` in `seen.append(1)`.
    `called` are those of functions that are called; `set_later` are the globals that a function changes when it is
    called, and `called_later` the functions that it calls.
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


def names_of(nodes: Iterable[ast.AST]) -> Names:
    """The names of some statements."""
    nodes = list(nodes)
    try:
        return _scan(nodes)
    except RecursionError:
        every = (each for node in nodes for each in ast.walk(node))
        return Names(used={each.id for each in every if isinstance(each, ast.Name)})


def used_at_once(node: ast.AST) -> set[str]:
    """The names that a statement looks up where it stands, and not when what it defines is called later.

    Those of a decorator, of a default, of a base class and of a class's body; of any other statement all that it uses.
    """
    waiting, parts = [node], list[ast.AST]()
    while waiting:
        each = waiting.pop()
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef):
            parts += _function_head(each)
        elif isinstance(each, ast.ClassDef):
            parts += _class_head(each)
            waiting += each.body
        else:
            parts.append(each)
    return names_of(parts).used


def declared_global(tree: ast.AST) -> frozenset[str]:
    """The names that functions declare global, however deep in the text: calling these may give them a value."""
    return frozenset(name for part in ast.walk(tree) if isinstance(part, ast.Global) for name in part.names)


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


def _scan(nodes: Iterable[ast.AST]) -> Names:
    """One scope's names: each node is looked at once, those of inner scopes by a scan of their own."""
    found, waiting = Names(), list(nodes)
    while waiting:
        node = waiting.pop()
        waiting += _LOOKS.get(type(node), _any)(node, found)
    return found


# --- what one node says, and which of its parts belong to the same scope


def _any(node: ast.AST, _found: Names) -> Iterable[ast.AST]:
    """A node that says nothing itself. (ast.iter_child_nodes does the same at several times the cost.)"""
    parts: list[ast.AST] = []
    for name in node._fields:
        part = getattr(node, name, None)
        if isinstance(part, list):
            parts += [each for each in part if isinstance(each, ast.AST)]
        elif isinstance(part, ast.expr | ast.stmt | ast.arguments | ast.pattern):
            parts.append(part)
    return parts


def _nothing(_node: ast.AST, _found: Names) -> Iterable[ast.AST]:
    return ()


def _name(node: ast.Name, found: Names) -> Iterable[ast.AST]:
    if isinstance(node.ctx, ast.Load):
        found.used.add(node.id)
    else:
        (found.bound if isinstance(node.ctx, ast.Store) else found.changed).add(node.id)
    return ()


def _augmented(node: ast.AugAssign, found: Names) -> Iterable[ast.AST]:
    if isinstance(node.target, ast.Name):  # it is read before it is bound
        found.used.add(node.target.id)
    return (node.target, node.value)


def _imported(node: ast.Import | ast.ImportFrom, found: Names) -> Iterable[ast.AST]:
    found.bound.update((alias.asname or alias.name).split(".")[0] for alias in node.names)
    return ()


def _named(node: Any, found: Names) -> Iterable[ast.AST]:
    """`except E as name`, and what patterns capture."""
    name = node.rest if isinstance(node, ast.MatchMapping) else node.name
    found.bound.update([name] if name else [])
    return _any(node, found)


def _global(node: ast.Global, found: Names) -> Iterable[ast.AST]:
    found.declared_global.update(node.names)
    return ()


def _part(node: ast.Attribute | ast.Subscript, found: Names) -> Iterable[ast.AST]:
    if not isinstance(node.ctx, ast.Load):
        root = _root(node)
        found.changed.update([root] if root else [])
    return (node.value, node.slice) if isinstance(node, ast.Subscript) else (node.value,)


def _call(node: ast.Call, found: Names) -> Iterable[ast.AST]:
    given = [*node.args, *(each.value for each in node.keywords)]
    found.called.update([node.func.id] if isinstance(node.func, ast.Name) else ())
    if isinstance(node.func, ast.Name) and node.func.id in _SETTING and node.args:
        found.changed.update(filter(None, [_root(node.args[0])]))
    roots = [_root(node.func.value)] if isinstance(node.func, ast.Attribute) else []
    if isinstance(node.func, ast.Attribute) and node.func.attr in _FILLING:
        found.filled.update(filter(None, roots))
    if not (isinstance(node.func, ast.Name) and node.func.id in _LOOKING):
        roots += map(_root, given)
    found.perhaps_changed.update(filter(None, roots))
    return [node.func, *given]


def _root(node: ast.AST) -> str | None:
    """`x` for `x`, `x.weight`, `x[0].weight`; None where no name stands in front."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Starred)):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


# --- scopes


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, found: Names) -> Iterable[ast.AST]:
    found.bound.add(node.name)
    parameters = _parameters(node.args)
    inside = _scan(node.body)
    own = inside.bound.union(each.arg for each in parameters) - inside.declared_global
    found.used |= inside.used - own
    found.set_later |= ((inside.changed | inside.filled) - own) | (inside.bound & inside.declared_global)
    found.called_later |= inside.called - own
    return _function_head(node)


def _lambda(node: ast.Lambda, found: Names) -> Iterable[ast.AST]:
    inside = _scan([node.body])
    found.used |= inside.used - inside.bound - {each.arg for each in _parameters(node.args)}
    return _defaults(node.args)


def _class(node: ast.ClassDef, found: Names) -> Iterable[ast.AST]:
    found.bound.add(node.name)
    # Its methods do not see what its body binds, and its body may read a name before it binds it.
    found.used |= _scan(node.body).used
    return _class_head(node)


def _comprehension(node: Any, found: Names) -> Iterable[ast.AST]:
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
    """What is looked up where a function is defined: decorators, defaults, annotations."""
    written = [*(each.annotation for each in _parameters(node.args)), node.returns]
    return [*node.decorator_list, *_defaults(node.args), *(each for each in written if each is not None)]


def _class_head(node: ast.ClassDef) -> list[ast.AST]:
    """What is looked up where a class is defined, beside its body: decorators, bases, keywords."""
    return [*node.decorator_list, *node.bases, *(each.value for each in node.keywords)]


def _defaults(args: ast.arguments) -> list[ast.AST]:
    return [*args.defaults, *filter(None, args.kw_defaults)]


_LOOKS: dict[type, Callable[[Any, Names], Iterable[ast.AST]]] = {
    ast.Name: _name,
    ast.Constant: _nothing,
    ast.AugAssign: _augmented,
    ast.Import: _imported,
    ast.ImportFrom: _imported,
    ast.ExceptHandler: _named,
    ast.MatchAs: _named,
    ast.MatchStar: _named,
    ast.MatchMapping: _named,
    ast.Global: _global,
    ast.Attribute: _part,
    ast.Subscript: _part,
    ast.Call: _call,
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.Lambda: _lambda,
    ast.ClassDef: _class,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), _comprehension),
}
