"""What a name or an expression of a cell stands for: the path of a module, or of something in one, as `torch.nn`.

Aliases are followed as a reader would follow them: imports, `t = torch`, `getattr(torch, "nn")`. Nothing is run, and
what is bound in any other way stands for nothing: what is found is there, and what is hidden well is not found.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

_DEPTH = 6  # parts of an expression within parts, as in `getattr(getattr(...), ...)`
_EVERYWHERE = ("builtins", "ctypes", "gc", "inspect", "sys")  # `anything.sys` is the one `sys`
_IMPORTING = ("importlib.import_module", "importlib.__import__", "builtins.__import__")


class Scope:
    """The names of a function, a class or a whole notebook, within those around it."""

    def __init__(self, around: Scope | None = None) -> None:
        self._around, self._paths = around, dict[str, str]()

    def bind(self, name: str, path: str = "") -> None:
        """Have a name stand for a path; for nothing that is known, without one."""
        self._paths[name] = path

    def bind_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind what an import binds."""
        for alias, path in imported(node):
            if isinstance(node, ast.Import) and not alias.asname:
                path = path.split(".")[0]
            self.bind(alias.asname or alias.name.split(".")[0], path)

    def meaning(self, name: str) -> str:
        """The path that a name stands for; a name that nobody gave is Python's own."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._paths:
                return scope._paths[name]
            scope = scope._around
        if name == "__builtins__":
            return "builtins"
        return f"builtins.{name}" if hasattr(builtins, name) else ""

    def path(self, node: ast.AST, depth: int = _DEPTH) -> str:
        """The path that an expression stands for; "" where that cannot be seen."""
        names: list[str] = []
        while isinstance(node, ast.Attribute):
            names.append(node.attr)
            node = node.value
        root = self._root(node, depth - 1) if depth else ""
        return _joined(root, reversed(names)) if root else ""

    def _root(self, node: ast.AST, depth: int) -> str:
        if isinstance(node, ast.Name):
            return self.meaning(node.id)
        if isinstance(node, ast.NamedExpr):
            return self.path(node.value, depth)
        if isinstance(node, ast.Call):
            return self._called(node, depth)
        if isinstance(node, ast.Subscript):
            base, name = self.path(node.value, depth), text_of(node.slice)
            if base == "sys.modules":
                return name
            return _joined(base.removesuffix(".__dict__"), [name]) if base.endswith(".__dict__") and name else ""
        return ""

    def _called(self, node: ast.Call, depth: int) -> str:
        """What a call gives back that reaches for a module, or into one."""
        function, given = self.path(node.func, depth), node.args
        if function in _IMPORTING and given:
            name = text_of(given[0])
            return name.split(".")[0] if function.endswith("__import__") else name
        base = self.path(given[0], depth) if given and function in ("builtins.getattr", "builtins.vars") else ""
        if base and function == "builtins.vars":
            return f"{base}.__dict__"
        name = text_of(given[1]) if base and len(given) > 1 else ""
        return _joined(base, [name]) if name else ""


def imported(node: ast.Import | ast.ImportFrom) -> list[tuple[ast.alias, str]]:
    """What an import names, each with its path."""
    start = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    return [(alias, f"{start}{alias.name}") for alias in node.names]


def text_of(node: ast.AST) -> str:
    """A text that is written out; "" for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_under(path: str, roots: Iterable[str]) -> bool:
    """Whether a path is one of these, or leads through one."""
    return any(path == root or path.startswith(f"{root}.") for root in roots)


def _joined(root: str, names: Iterable[str]) -> str:
    for name in names:
        root = name if name in _EVERYWHERE else f"{root}.{name}"
    return root
