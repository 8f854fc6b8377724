"""The student's part of the package, small enough to travel inside a notebook's first cell.

A teacher can share one file then: it needs no address, no repository and no installation. The cell unpacks the package
into a folder of the system's for temporary files, and does nothing where the course is installed.
"""

from __future__ import annotations

import ast
import base64
import io
import lzma
import tarfile
import tokenize
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

from autograder.authoring.chapter_notebooks import INSTALL_ID, Notebook
from autograder.course import exercise_index, shipped_observations
from autograder.course.course_location import ARRANGED, CARDS, EXERCISES, FIGURES, INSTRUMENTS, SHIPPED, chapter_path
from autograder.errors import WorkFailed
from autograder.files import digest_of

_PACKAGE = "pytorch-basics"
_FRONT = ("autograder.notebook", "explorers")  # what students' cells import, whole
_DATA = ("py.typed", "static/*")  # of the packages that are packed
_LINE = 120  # characters
# Half of it are numbers of four bytes, so a byte is guessed by its place among four: 2 % less.
_PACKED_BY = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 1, "lp": 2}]
_REST = "from importlib.metadata import version"  # where the cell goes on once the package is there

_CELL = '''\
# The course's package, packed into this cell: nothing is fetched, and nothing is installed.
import base64, importlib.metadata, io, lzma, pathlib, sys, tarfile, tempfile

packed = """
{packed}
"""
if not any(importlib.metadata.distributions(name="pytorch-basics")):
    place = pathlib.Path(tempfile.gettempdir(), "{name}")
    if not place.exists():
        half = pathlib.Path(tempfile.mkdtemp())
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(base64.b85decode("".join(packed.split()))))) as archive:
            archive.extractall(half, **({{"filter": "data"}} if hasattr(tarfile, "data_filter") else {{}}))
        half.rename(place)
    sys.path.insert(0, str(place))
del packed
'''


def cell(course: Path, stem: str) -> str:
    """The text of a cell that brings what one chapter's notebook needs; the same course gives the same text."""
    files = dict(sorted(_files(course, stem)))
    name = f"{_PACKAGE}-{stem}-{digest_of(*files, *files.values())[:12]}"
    # Five letters for four bytes, of which none is a quote or a backslash; base64 would take a fifteenth more.
    data = base64.b85encode(lzma.compress(_archive(files), filters=_PACKED_BY)).decode()
    lines = (data[start : start + _LINE] for start in range(0, len(data), _LINE))
    return _CELL.format(packed="\n".join(lines), name=name)


def _archive(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


def _files(course: Path, stem: str) -> Iterator[tuple[str, bytes]]:
    project = course.parent
    own = [course / EXERCISES / stem, course / FIGURES / f"{stem}.py", course / INSTRUMENTS]
    own += [path for path in (course / CARDS / f"{stem}.py",) if path.is_file()]
    own += [path for name in _imports(chapter_path(course, stem), project) for path in _module(project, name)]
    modules = _closure(project, [*own, *(project.joinpath(*name.split(".")) for name in _FRONT)])
    data = [path for pattern in _DATA for path in (project / "explorers").glob(pattern)]
    asked = {path.stem for path in (course / EXERCISES / stem).glob("*.py")}
    data += [path for path in (course / ARRANGED).glob("*.txt") if path.stem in asked]
    keys = [course / SHIPPED / f"{stem}{suffix}" for suffix in (*shipped_observations.SUFFIXES, exercise_index.HINTS)]
    for path in {*modules, *data, *keys, course / SHIPPED / exercise_index.POINTS, course / SHIPPED / "__init__.py"}:
        is_ours = path.suffix == ".py" and course not in path.parents
        yield path.relative_to(project).as_posix(), _bare(path.read_bytes()) if is_ours else path.read_bytes()
    about = f"{_PACKAGE.replace('-', '_')}-{version(_PACKAGE)}.dist-info"
    yield f"{about}/METADATA", f"Metadata-Version: 2.1\nName: {_PACKAGE}\nVersion: {version(_PACKAGE)}\n".encode()
    yield f"{about}/entry_points.txt", f"[autograder.courses]\n{_PACKAGE} = {course.name}\n".encode()


def _bare(source: bytes) -> bytes:
    """Python without what nobody can ask for in a notebook: comments, and docstrings of modules and of private names.

    A twentieth of the cell. Each line stays at its place, for tracebacks.
    """
    lines = source.decode().split("\n")
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            text = node.body[0]
            if isinstance(node, ast.Module) or node.name.startswith("_"):
                lines[text.lineno - 1] = f"{' ' * text.col_offset}''"
                lines[text.lineno : text.end_lineno] = [""] * ((text.end_lineno or text.lineno) - text.lineno)
    return "\n".join(lines).encode()


def _closure(project: Path, starts: list[Path]) -> set[Path]:
    """The modules in these files and folders, and all of the project's that they import, at the top or later."""
    found: set[Path] = set()
    waiting = [path for start in starts for path in ([start] if start.is_file() else start.rglob("*.py"))]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += _above(path, project)
        waiting += [module for name in _imports(path, project) for module in _module(project, name)]
    return found


def _above(path: Path, project: Path) -> Iterator[Path]:
    """The packages that a module lies in, which Python imports before it."""
    for folder in path.parents:
        if folder == project:
            return
        if (folder / "__init__.py").is_file():
            yield folder / "__init__.py"


def _imports(path: Path, project: Path) -> Iterator[str]:
    """The names that may be modules of the project, dotted."""
    package = path.relative_to(project).parent.parts
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *filter(None, [node.module])])
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def _module(project: Path, name: str) -> Iterator[Path]:
    path = project.joinpath(*name.split("."))
    yield from (each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file())


def shared(notebook: Notebook, course: Path, stem: str) -> Notebook:
    """A student's notebook whose first cell brings the package; raises WorkFailed where it has no such cell."""
    found = [each for each in notebook.cells if each.get("id") == INSTALL_ID]
    if not found or _REST not in found[0].source:
        raise WorkFailed(f"expected a cell with the id {INSTALL_ID!r} in {stem}.ipynb, found none. Run `make build`.")
    _, rest, says = found[0].source.partition(_REST)
    found[0].source = cell(course, stem) + rest + says
    return notebook
