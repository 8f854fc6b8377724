"""Find the names that a cell binds when it runs. The text of the cell is parsed, never run."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from functools import lru_cache

from autograder.ipython_syntax import parse_cell_text
from autograder.name_bindings import find_names_declared_global, find_used_and_bound_names

_LONGEST = 200_000  # characters; a longer cell is not parsed
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
# Cell magics whose body is Python of this kernel, and those whose body is not.
_PYTHON = frozenset({"time", "prun"})
_OTHER = frozenset({"bash", "sh", "html", "javascript", "js", "latex", "markdown", "svg", "timeit", "writefile"})
# Line magics that bind no name.
_HARMLESS = frozenset({"autoreload", "cd", "conda", "config", "env", "load_ext", "ls", "matplotlib", "mkdir", "pinfo"})
_HARMLESS |= {"pinfo2", "pip", "pwd", "reload_ext", "set_env", "timeit", "who", "whos", "xmode"}


def cell_binds(text: str, name: str) -> bool:
    """Return whether a cell binds this name; False if it cannot be parsed."""
    return (name in text and name in _names(text)) or ("import *" in text and name in _starred(text))


def may_bind_unseen(text: str) -> bool:
    """Return whether a cell may bind names that its text does not show, because it runs a file or cannot be parsed."""
    tree = _parsed(text)
    return tree is None or any(map(_may_bind_any, ast.walk(tree)))


@lru_cache(maxsize=1024)
def fails_before_defining(text: str, name: str) -> bool:
    """Return whether a cell certainly ends with a SyntaxError before any of it runs, or before it defines this name.

    IPython parses a cell as a whole, and then compiles one statement after the other. Errors that only the compiler
    finds, such as a `break` outside of a loop, are looked for in the first statement alone. The result is False for a
    cell with an unknown cell magic.
    """
    python = _python(text) if len(text) < _LONGEST else None
    if python is None:
        return False
    python, tree = parse_cell_text(python)
    if tree is None:
        return not _compiles(python)
    first, *rest = tree.body or [ast.Pass()]
    return (
        _defines(first, name)
        and name not in find_used_and_bound_names(rest).bound
        and not _compiles(ast.Module([first], []))
    )


def _compiles(python: str | ast.Module) -> bool:
    """Return whether Python compiles without a SyntaxError; any other error of the compiler counts as success."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(python, "<cell>", "exec", flags, dont_inherit=True)
    except SyntaxError:
        return False
    except (ValueError, RecursionError, MemoryError):
        pass
    return True


@lru_cache(maxsize=1024)
def definition_dump(text: str, name: str) -> str | None:
    """Return a dump of the function or class of this name in a cell, without comments and spaces; None without one."""
    tree = _parsed(text) if name in text else None
    found = [node for node in tree.body if _defines(node, name)] if tree else []
    return ast.dump(found[-1]) if found else None


@lru_cache(maxsize=1024)
def binding_dump(text: str, name: str) -> str | None:
    """Return a dump of a cell's statements that bind a name, independent of comments and spaces; None without one."""
    tree = _parsed(text) if name in text else None
    found = [ast.dump(node) for node in tree.body if name in find_used_and_bound_names([node]).bound] if tree else []
    return "\n".join(found) or None


def _defines(node: ast.stmt, name: str) -> bool:
    return isinstance(node, (*_FUNCTIONS, ast.ClassDef)) and node.name == name


@lru_cache(maxsize=1024)
def _names(text: str) -> frozenset[str]:
    tree = _parsed(text)
    return (
        frozenset(find_used_and_bound_names(tree.body).bound | find_names_declared_global(tree))
        if tree
        else frozenset()
    )


def _starred(text: str) -> set[str]:
    """Return the names that `from module import *` binds, for the modules that are loaded."""
    tree = _parsed(text)
    modules = map(_star, ast.walk(tree)) if tree else ()
    return {name for module in modules if module in sys.modules for name in _public(vars(sys.modules[module]))}


def _public(contents: dict[str, object]) -> list[str]:
    listed = contents.get("__all__")
    return list(map(str, listed)) if isinstance(listed, list | tuple) else [n for n in contents if n[:1] != "_"]


def _star(node: ast.AST) -> str | None:
    """Return the module of `from module import *`; None for any other node."""
    starred = isinstance(node, ast.ImportFrom) and any(alias.name == "*" for alias in node.names)
    return node.module or "." if starred and isinstance(node, ast.ImportFrom) else None


@lru_cache(maxsize=1024)
def _parsed(text: str) -> ast.Module | None:
    """Return the syntax tree of a cell, with IPython's syntax translated to Python; None if it cannot be parsed."""
    python = _python(text) if len(text) < _LONGEST else None
    return None if python is None else parse_cell_text(python)[1]


def _python(text: str) -> str | None:
    """Return the Python code of a cell, without a `%%magic` line; None if that magic is unknown and may do anything."""
    magic = re.match(r"\s*%%(\S*)[^\n]*\n?", text)
    if magic is None:
        return text
    if magic[1] in _PYTHON:
        return text[magic.end() :]
    return "" if magic[1] in _OTHER else None


def _may_bind_any(node: ast.AST) -> bool:
    """Return whether a node of a cell's syntax tree may bind names that the text does not contain."""
    if (module := _star(node)) is not None:
        return module not in sys.modules
    match node:
        case ast.Call(func=ast.Name(id="exec")) | ast.Call(func=ast.Name(id="globals" | "locals" | "vars"), args=[]):
            return True
        case ast.Call(func=ast.Attribute(attr="run_line_magic"), args=[ast.Constant(value=magic), argument, *_]):
            return magic not in _HARMLESS and not (magic == "time" and _gives_nothing(argument))
        case ast.Call(func=ast.Attribute(attr="run_cell_magic" | "run_cell" | "ex" | "push")):
            return True
    return False


def _gives_nothing(argument: ast.expr) -> bool:
    """Return whether the statement after `%time` binds no name."""
    text = argument.value if isinstance(argument, ast.Constant) else None
    return isinstance(text, str) and _parsed(text) is not None and not _names(text)
