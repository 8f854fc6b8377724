"""Find the files of a project that a Python file needs: the modules that it imports, directly or through others."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import count
from pathlib import Path


def import_closure(starts: Iterable[Path], roots: Sequence[Path]) -> set[Path]:
    """Return these files (of a folder, its modules) and all modules below the roots that they import, transitively.

    Roots are folders of `sys.path`; the first that contains a file gives the file its dotted name. What is imported
    for types only is left out.
    """
    return set(import_distances(starts, roots))


def import_distances(starts: Iterable[Path], roots: Sequence[Path]) -> dict[Path, int]:
    """Return the files of `import_closure`, each with its distance: 0 for a start, 1 for what a start imports."""
    waiting = {path for start in starts for path in ([start] if start.is_file() else start.rglob("*.py"))}
    found: dict[Path, int] = {}
    distances = count()
    while waiting:
        found |= dict.fromkeys(waiting, next(distances))
        needed = (each for path in waiting for each in _needed(path, tuple(roots), path.stat().st_mtime_ns))
        waiting = {path for path in needed if path not in found}
    return found


@lru_cache(maxsize=2048)
def _needed(path: Path, roots: tuple[Path, ...], _written: int) -> frozenset[Path]:
    """Return the files that importing a file needs at once."""
    root = next(each for each in roots if each in path.parents)
    files = (file for name in imported_names(path, root) for file in find_module(name, roots))
    return frozenset([*_above(path, root), *files])


def imported_names(path: Path, root: Path) -> frozenset[str]:
    """Return the dotted names that a file imports; a name may be that of a module, or of an object in one."""
    return frozenset(_names(ast.parse(path.read_bytes()), path.relative_to(root).parent.parts))


def _names(tree: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            yield from (base, *(f"{base}.{alias.name}" for alias in node.names))
        elif not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from _names(node, package)


def find_module(name: str, roots: Sequence[Path]) -> Iterator[Path]:
    """Yield the file of a dotted module name, if it is below a root."""
    for root in roots:
        path = root.joinpath(*name.split("."))
        yield from (each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file())


def _above(path: Path, root: Path) -> Iterator[Path]:
    """Yield the `__init__.py` of each package that encloses a module, which Python imports before the module."""
    for folder in path.parents:
        if folder == root:
            return
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"
