"""The text of cells: what it defines, and which of a student's own definitions an answer may lean on.

Everything here reads text from students and runs none of it; a text that cannot be parsed defines nothing.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable
from functools import lru_cache

from IPython.core.inputtransformer2 import TransformerManager

from autograder.rules import reached

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_CALL = "get_ipython().run_line_magic('', '')"  # what a line becomes, and is read as from then on
_SIGNS = (*"%!?,;/", ">>>", "In [")  # a line that begins so is IPython's own
_ASSIGNED = re.compile(r"=[ \t]*[%!]")  # and so is `files = !ls`


def plain_python(source: str) -> str:
    """The cell with IPython's own syntax (`%magic`, `!command`, `thing?`) turned into Python calls.

    What is Python already stays as it is: IPython reads a text again for each line that it changes.
    """
    try:
        _tree(source)
    except (SyntaxError, ValueError):
        return _transformed(source)
    except (RecursionError, MemoryError):  # no change makes it less deep
        return source
    return source


def parsed(source: str) -> ast.Module | None:
    """The syntax tree of a cell, None where there is none."""
    for text in (str, _transformed):
        try:
            return _tree(text(source))
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError):
            return None
    return None


def _tree(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


@lru_cache(maxsize=256)
def _transformed(source: str) -> str:
    if not magic_work(source):
        return source
    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # the tokenizer has many ways to give up on a text that is no code
        return source


def magic_work(source: str) -> int:
    """How many characters IPython may have to read to change this cell: all of it, once for each line of its own."""
    lines = sum(map(_is_magic, source.splitlines())) + source.lstrip("\n")[:1].isspace()
    return lines * (len(source) + lines * len(_CALL))


def _is_magic(line: str) -> bool:
    bare = line.strip()
    if bare.startswith("#"):
        return False
    return bare.startswith(_SIGNS) or bare.endswith("?") or _ASSIGNED.search(bare) is not None


def defines(source: str, name: str) -> bool:
    """Whether a cell gives a value to this name at its top level; one that does not parse is searched."""
    names = _top_names(source)
    if names is None:
        return re.search(rf"^(async\s+def|def|class)\s+{re.escape(name)}\b", source, re.MULTILINE) is not None
    return name in names


@lru_cache(maxsize=1024)  # asked for every exercise and every student, and most cells are the lesson's own
def _top_names(source: str) -> frozenset[str] | None:
    """The names that a cell gives a value to at its top level; None for one that does not parse."""
    tree = parsed(source)
    return None if tree is None else frozenset().union(*map(_bound, tree.body))


def helpers(sources: Iterable[str], answers: Iterable[str] = ()) -> str:
    """What some cells define, as one text without the rest.

    Imports, functions, classes and literal values are kept; another value only where an answer uses its name, itself
    or through what is kept: it may take long to compute.
    """
    trees = [tree for tree in map(parsed, sources) if tree]
    nodes = [node for tree in trees for node in tree.body]
    kept = [node for node in nodes if _is_helper(node)]
    values = [node for node in nodes if isinstance(node, ast.Assign | ast.AnnAssign)]
    used = set().union(*(_used(tree) for tree in map(parsed, answers) if tree), *map(_used, kept))
    wanted = {id(node) for node in (*kept, *reached(values, used, _bound, _used))}
    return "\n\n".join(text for text in (_written(node) for node in nodes if id(node) in wanted) if text)


def with_helpers(source: str, helper_text: str) -> str:
    """An answer as plain Python, together with those helpers that it uses, directly or through another.

    With all of them where they cannot be parsed: what is behind an answer must not be out of a rule's sight.
    """
    tree, helper_tree = parsed(source), parsed(helper_text)
    text = plain_python(source)
    if tree is None or helper_tree is None:
        return "\n\n".join(part for part in (helper_text, text) if part)
    own = {name for node in tree.body for name in _bound(node)}
    definitions = [node for node in helper_tree.body if isinstance(node, _DEFINITIONS) and node.name not in own]
    parts = [_written(node) for node in reached(definitions, _used(tree), _bound, _used)]
    return "\n\n".join([*parts, text])


def _is_helper(node: ast.stmt) -> bool:
    if isinstance(node, ast.ImportFrom) and node.module == "__future__":
        return False
    return isinstance(node, (*_DEFINITIONS, *_IMPORTS)) or _is_literal(node)


def _is_literal(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
        return False
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    if not all(isinstance(target, ast.Name) for target in targets):
        return False
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return False
    return True


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement gives a value to."""
    if isinstance(node, _DEFINITIONS):
        return {node.name}
    if isinstance(node, _IMPORTS):
        return {(alias.asname or alias.name).split(".")[0] for alias in node.names}
    if isinstance(node, ast.Assign):
        return {target.id for target in node.targets if isinstance(target, ast.Name)}
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return {node.target.id}
    return set()


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _written(node: ast.stmt) -> str:
    try:
        return ast.unparse(node)
    except (RecursionError, ValueError):
        return ""
