"""Search a cell's syntax tree for code that replaces shared functions (of torch, say) or inspects the grader.

What is found is only reported to a person (`report_suspicious_lines.py`); nothing here protects the grader.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

import autograder
from autograder.submission.extract_answer_statements import parse_cell_as_python
from autograder.submission.resolve_dotted_names import (
    IMPORTING_FUNCTIONS,
    Scope,
    imported_paths,
    is_under,
    string_constant,
)

GRADER_PACKAGE = "autograder"
# The package conflicts are what the first cell of each notebook asks about.
NAMES_FOR_STUDENTS = (*autograder.__all__, "__version__", "*", "package_name_collisions")
# Packages that the grader itself uses, and modules of Python's library by which it draws questions.
_DRAWING = ("ast", "collections", "contextlib", "copy", "dataclasses", "functools", "inspect", "random", "re")
SHARED_MODULES = ("torch", "safetensors", "json", "builtins", "explorers", GRADER_PACKAGE, *_DRAWING)
_PATH = re.compile(r"[\w.:]+")
_SETTINGS = re.compile(r"\.(?:backends|config)\.")  # attributes below these are meant to be assigned
_READS = {
    "sys.modules": "looks at all modules that are loaded (sys.modules)",
    "gc.get_objects": "looks through everything in memory (gc)",
    "gc.get_referrers": "looks through everything in memory (gc)",
    "gc.get_referents": "looks through everything in memory (gc)",
    "gc.callbacks": "looks through everything in memory (gc)",
    "ctypes": "calls C past Python's own checks (ctypes)",
    "_ctypes": "calls C past Python's own checks (ctypes)",
    "inspect.getmodule": "looks for the module that something comes from (getmodule)",
}
_FRAMES = "looks at the functions that called it (frames)"
_FOLLOWS = "watches each call that any function makes (tracing)"
_READS |= dict.fromkeys(("sys._getframe", "sys._current_frames", "traceback.walk_stack", "traceback.walk_tb"), _FRAMES)
_READS |= {f"inspect.{name}": _FRAMES for name in ("stack", "trace", "currentframe", "getouterframes")}
_READS |= {f"{of}.{name}": _FOLLOWS for of in ("sys", "threading") for name in ("settrace", "setprofile")}
_READS |= {"sys.monitoring": _FOLLOWS, "sys.addaudithook": _FOLLOWS}
_READS |= dict.fromkeys(("os.write", "os.writev", "os.fdopen", "os.dup2"), "writes into files by number (os)")
_READ_ROOTS = frozenset(path.partition(".")[0] for path in _READS)
_OF_FRAMES = frozenset({"f_back", "f_locals", "f_globals", "f_builtins", "tb_frame", "gi_frame", "cr_frame"})
_INSIDES = dict.fromkeys(_OF_FRAMES, _FRAMES) | {
    "__globals__": "looks at what a function of others works with (__globals__)",
    "__builtins__": "looks at what a function of others works with (__builtins__)",
    "__subclasses__": "looks through all classes that are loaded (__subclasses__)",
}
_SETTERS = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "setitem", "delitem"})
_CHANGERS = frozenset({"update", "setdefault", "pop", "clear", "popitem"})
_RUNNERS = ("builtins.exec", "builtins.eval")
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True)
class _Binding:
    """A binding of a name to a path. It waits in the queue behind the assigned expression, which is searched first."""

    name: str
    path: str


class SuspiciousCodeSearch:
    """One search through a cell, in the order of its lines; function bodies come last, since they run when called.

    `roots` are the packages of which replacing an attribute is reported, and `allowed` the paths of the grader that the
    released notebook imports. `is_text` marks a search through a string that the cell runs with exec.
    """

    def __init__(self, around: Scope, roots: Set[str], allowed: Set[str], *, is_text: bool = False) -> None:
        self._around, self._roots, self._allowed, self._is_text = around, roots, allowed, is_text
        self._waiting: list[tuple[ast.AST | _Binding, Scope]] = []
        self._later: list[tuple[ast.AST, Scope]] = []
        self._found: dict[int, str] = {}

    def through(self, tree: ast.Module) -> list[tuple[int, str]]:
        """Search a cell; return the numbers of the lines to look at, each with what the line does, sorted."""
        self._waiting = [(node, self._around) for node in reversed(tree.body)]
        while self._waiting or self._later:
            if not self._waiting:
                self._waiting = [self._later.pop()]
            node, scope = self._waiting.pop()
            if isinstance(node, _Binding):
                scope.bind(node.name, node.path)
            else:
                _VISITS.get(type(node), SuspiciousCodeSearch._any)(self, node, scope)
        return sorted(self._found.items())

    def _report(self, node: Any, what: str) -> None:
        """Record what a line does: one finding for each line; setting something is preferred to reading something."""
        if node.lineno not in self._found or (what.startswith("sets") > self._found[node.lineno].startswith("sets")):
            self._found[node.lineno] = what

    def _push(self, scope: Scope, *nodes: ast.AST | _Binding | None) -> None:
        """Search these nodes next, in their order."""
        self._waiting += [(node, scope) for node in reversed(nodes) if node is not None]

    # --- one method for each kind of node

    def _any(self, node: ast.AST, scope: Scope) -> None:
        self._push(scope, *ast.iter_child_nodes(node))

    def _import(self, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
        scope.bind_imports(node)
        for _, path in imported_paths(node):
            self._read(node, path)

    def _name(self, node: ast.Name, scope: Scope) -> None:
        if isinstance(node.ctx, ast.Load):
            self._read(node, scope.meaning(node.id))
        else:
            scope.bind(node.id)

    def _attribute(self, node: ast.Attribute, scope: Scope) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._replaced(node, f"{scope.path(node.value)}.{node.attr}")
        else:
            self._read(node, scope.path(node))
        part: ast.AST = node
        while isinstance(part, ast.Attribute):
            self._inside(part, part.attr)
            part = part.value
        self._push(scope, part)

    def _subscript(self, node: ast.Subscript, scope: Scope) -> None:
        base = scope.path(node.value)
        if isinstance(node.ctx, ast.Load):
            self._read(node, scope.path(node))
        elif base.endswith(".__dict__") or base == "builtins":
            self._replaced(node, f"{base.removesuffix('.__dict__')}.{string_constant(node.slice) or '...'}")
        elif base == "sys.modules":
            self._replaced(node, string_constant(node.slice) or "...")
        self._any(node, scope)

    def _call(self, node: ast.Call, scope: Scope) -> None:
        function = scope.path(node.func)
        name = node.func.attr if isinstance(node.func, ast.Attribute) else function.rpartition(".")[2]
        text = string_constant(node.args[1]) if len(node.args) > 1 else ""
        if name in _SETTERS or is_under(function, ("unittest.mock.patch", "mock.patch")):
            self._replaced(node, _replaced_path(node, text, scope))
        elif name in _CHANGERS and isinstance(node.func, ast.Attribute):
            base = scope.path(node.func.value)
            self._replaced(node, f"{base.removesuffix('.__dict__')}.{name}" if base.endswith(".__dict__") else "")
        elif function in _RUNNERS and node.args:
            self._run(node, string_constant(node.args[0]), scope)
        elif function in IMPORTING_FUNCTIONS and node.args and not string_constant(node.args[0]):
            self._report(node, "imports a module whose name nobody can read here")
        if function:
            self._read(node, scope.path(node))
        self._any(node, scope)

    def _run(self, node: ast.Call, text: str, scope: Scope) -> None:
        """Search code in a string constant as if it were in the cell; report other strings, which cannot be read."""
        tree = parse_cell_as_python(text)[1] if text and not self._is_text else None
        if tree is None:
            self._report(node, "runs code out of a text, which nobody can read here")
            return
        for _, what in SuspiciousCodeSearch(scope, self._roots, self._allowed, is_text=True).through(tree):
            self._report(node, what)

    def _assign(self, node: ast.Assign | ast.AnnAssign | ast.NamedExpr, scope: Scope) -> None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        bindings = [_Binding(*each) for target in targets for each in _bindings(target, node.value, scope)]
        others = [each for each in targets if not isinstance(each, ast.Name)]
        self._push(scope, node.value, *others, *bindings)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
        inside, args = Scope(scope), node.args
        for each in [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]:
            if each is not None:
                inside.bind(each.arg)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        self._later += [(each, inside) for each in reversed(body)]
        if not isinstance(node, ast.Lambda):
            scope.bind(node.name)
            self._push(scope, *node.decorator_list)
        self._push(scope, *args.defaults, *args.kw_defaults)

    def _class(self, node: ast.ClassDef, scope: Scope) -> None:
        scope.bind(node.name)
        methods = [each for each in node.body if isinstance(each, _FUNCTIONS)]
        inside = Scope(scope)
        others = [each for each in node.body if each not in methods]
        self._push(inside, *others)
        self._push(scope, *node.decorator_list, *node.bases, *node.keywords, *methods)

    def _compare(self, node: ast.Compare, scope: Scope) -> None:
        """Do not report `"google.colab" in sys.modules`: it only asks where the code runs."""
        asks = [isinstance(each, ast.In | ast.NotIn) and string_constant(node.left) for each in node.ops]
        is_asked = all(asks) and all(scope.path(each) == "sys.modules" for each in node.comparators)
        self._push(scope, *([node.left] if is_asked else [node.left, *node.comparators]))

    def _comprehension(self, node: Any, scope: Scope) -> None:
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._push(scope, *node.generators, *made)

    def _constant(self, node: ast.Constant, scope: Scope) -> None:
        """Look at a text that may be a path, for `attrgetter("a.__globals__")` or `resolve_name("autograder.x:y")`."""
        text = string_constant(node)
        if _PATH.fullmatch(text):
            self._inside(node, *re.split("[.:]", text))
            self._read(node, text.replace(":", ".") if "." in text else "")

    def _pattern(self, node: ast.MatchClass, scope: Scope) -> None:
        self._inside(node, *node.kwd_attrs)
        self._any(node, scope)

    # --- findings

    def _inside(self, node: ast.AST, *names: str) -> None:
        for name in filter(_INSIDES.get, names):
            self._report(node, _INSIDES[name])

    def _replaced(self, node: ast.AST, path: str) -> None:
        root, _, inside = path.partition(".")
        is_shared = root in self._roots and not _SETTINGS.search(path)
        # `input.size = 3` resolves to builtins.input.size, but `input` is most likely a name from the lesson.
        if is_shared and (root != "builtins" or "." not in inside):
            self._report(node, f"sets {path}")

    def _read(self, node: ast.AST, path: str) -> None:
        root, _, inside = path.partition(".")
        if root in _READ_ROOTS:
            what = next((what for known, what in _READS.items() if is_under(path, (known,))), "")
            if what:
                self._report(node, what)
        if (
            root == GRADER_PACKAGE
            and inside
            and not is_under(inside, NAMES_FOR_STUDENTS)
            and not is_under(path, self._allowed)
        ):
            self._report(node, f"uses the grader's own code ({path})")


def _replaced_path(node: ast.Call, name: str, scope: Scope) -> str:
    """Return the path that a call such as `setattr(torch, "relu", ...)` or `patch("torch.relu", ...)` replaces."""
    first: ast.AST = node.args[0] if node.args else node
    written = string_constant(first)
    path = "" if written else scope.path(first)
    return f"{path}.{name or '...'}" if path else written if "." in written else ""


def _bindings(target: ast.expr, value: ast.expr | None, scope: Scope) -> list[tuple[str, str]]:
    """Return the names that an assignment binds, each with the path of its value."""
    if isinstance(target, ast.Name):
        return [(target.id, scope.path(value) if value is not None else "")]
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        return [each for pair in zip(target.elts, value.elts, strict=True) for each in _bindings(*pair, scope)]
    return []


_VISITS: dict[type, Any] = {
    ast.Import: SuspiciousCodeSearch._import,
    ast.ImportFrom: SuspiciousCodeSearch._import,
    ast.Name: SuspiciousCodeSearch._name,
    ast.Attribute: SuspiciousCodeSearch._attribute,
    ast.Subscript: SuspiciousCodeSearch._subscript,
    ast.Call: SuspiciousCodeSearch._call,
    ast.Assign: SuspiciousCodeSearch._assign,
    ast.AnnAssign: SuspiciousCodeSearch._assign,
    ast.NamedExpr: SuspiciousCodeSearch._assign,
    ast.ClassDef: SuspiciousCodeSearch._class,
    ast.Compare: SuspiciousCodeSearch._compare,
    ast.Constant: SuspiciousCodeSearch._constant,
    ast.MatchClass: SuspiciousCodeSearch._pattern,
    **dict.fromkeys(_FUNCTIONS, SuspiciousCodeSearch._function),
    **dict.fromkeys(_COMPREHENSIONS, SuspiciousCodeSearch._comprehension),
}
