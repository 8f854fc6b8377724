"""Resolve names and expressions in a cell to the dotted path of a module or of something in one, such as `torch.nn`.

Aliases are followed as a human reader would: imports, `t = torch`, `getattr(torch, "nn")`. Nothing is run. Names that
are bound in any other way resolve to nothing: a path that is found is right, but well hidden uses are not found.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

_DEPTH = 6  # levels of nested expressions, as in `getattr(getattr(...), ...)`
_SHARED_MODULES = ("builtins", "ctypes", "gc", "inspect", "sys")  # `anything.sys` is the module `sys`
IMPORTING_FUNCTIONS = ("importlib.import_module", "importlib.__import__", "builtins.__import__")


class Scope:
    """The names bound in a function, a class or a whole notebook, and the scope around it."""

    def __init__(self, around: Scope | None = None) -> None:
        self._around, self._paths = around, dict[str, str]()

    def bind(self, name: str, path: str = "") -> None:
        """Bind a name to a path; without a path, to something unknown."""
        self._paths[name] = path

    def bind_imports(self, node: ast.Import | ast.ImportFrom) -> None:
        """Bind the names that an import binds."""
        for alias, path in imported_paths(node):
            if isinstance(node, ast.Import) and not alias.asname:
                path = path.split(".")[0]
            self.bind(alias.asname or alias.name.split(".")[0], path)

    def meaning(self, name: str) -> str:
        """Return the path that a name is bound to, "" if unknown; a name that is not bound is looked up in builtins."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._paths:
                return scope._paths[name]
            scope = scope._around
        if name == "__builtins__":
            return "builtins"
        return f"builtins.{name}" if hasattr(builtins, name) else ""

    def path(self, node: ast.AST, depth: int = _DEPTH) -> str:
        """Return the path that an expression evaluates to; "" if that cannot be determined."""
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
            base, name = self.path(node.value, depth), string_constant(node.slice)
            if base == "sys.modules":
                return name
            return _joined(base.removesuffix(".__dict__"), [name]) if base.endswith(".__dict__") and name else ""
        return ""

    def _called(self, node: ast.Call, depth: int) -> str:
        """Return the path that a call such as `import_module`, `getattr` or `vars` returns; "" for other calls."""
        function, given = self.path(node.func, depth), node.args
        if function in IMPORTING_FUNCTIONS and given:
            name = string_constant(given[0])
            return name.split(".")[0] if function.endswith("__import__") else name
        base = self.path(given[0], depth) if given and function in ("builtins.getattr", "builtins.vars") else ""
        if base and function == "builtins.vars":
            return f"{base}.__dict__"
        name = string_constant(given[1]) if base and len(given) > 1 else ""
        return _joined(base, [name]) if name else ""


def imported_paths(node: ast.Import | ast.ImportFrom) -> list[tuple[ast.alias, str]]:
    """Return the aliases in an import statement, each with the path that it imports."""
    start = f"{node.module}." if isinstance(node, ast.ImportFrom) and node.module else ""
    return [(alias, f"{start}{alias.name}") for alias in node.names]


def string_constant(node: ast.AST) -> str:
    """Return the value of a string constant; "" for any other expression."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def is_under(path: str, roots: Iterable[str]) -> bool:
    """Return whether a path equals one of the roots or lies below one."""
    return any(path == root or path.startswith(f"{root}.") for root in roots)


def _joined(root: str, names: Iterable[str]) -> str:
    for name in names:
        root = name if name in _SHARED_MODULES else f"{root}.{name}"
    return root
