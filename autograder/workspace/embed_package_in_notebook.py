"""Pack the modules that students need into the first code cell of a notebook.

A teacher can then share a single file, which needs no address, no repository and no installation. The cell unpacks the
modules into the system's folder for temporary files, and does nothing if the course is installed.
"""

from __future__ import annotations

import ast
import base64
import io
import lzma
import re
import tarfile
import tokenize
from collections.abc import Iterable, Iterator
from importlib.metadata import metadata, requires, version
from pathlib import Path

import autograder
import explorers
from autograder.authoring.make_chapter_notebooks import INSTALL_ID, Notebook
from autograder.course import points_and_hints, shipped_observations
from autograder.course.course_location import (
    ARRANGED,
    CARDS,
    EXERCISES,
    FIGURES,
    INSTRUMENTS,
    REVIEW_QUESTIONS,
    SHIPPED,
    chapter_id,
    chapter_module_path,
    chapter_path,
)
from autograder.errors import WorkFailed
from autograder.files import sha256_of_texts
from autograder.import_closure import find_module, import_closure, imported_names
from autograder.questions.bug_hunt_file import hunts_path

_PACKAGE = "pytorch-basics"
_FRONT = (
    "autograder.notebook",
    "autograder.install_missing_packages",
)  # what students' cells and this one import, whole
_EXPLORERS = "explorers"  # of these, a notebook carries those that it opens
_DATA = ("static/*",)  # data files of `explorers`; those that no packed module names stay out
_LINE = 2000  # characters in a line of the packed text; a notebook's file has 14 more in each
# Half of the data are four-byte numbers; lp=2 lets LZMA predict by the position within four bytes, which saves 2 %.
_ASKED_FOR = {*autograder.__all__, *explorers.__all__}  # the names whose docstrings stay: `check?` prints one
_PACKED_BY = [{"id": lzma.FILTER_LZMA2, "preset": 9 | lzma.PRESET_EXTREME, "lc": 1, "lp": 2}]
_REST = "from importlib.metadata import version"  # the first line of the install cell that is kept below the new text

_CELL = '''\
# The course's package, packed into this cell; what it needs and this Python lacks is installed, or named.
import base64, importlib.metadata, importlib.util, io, lzma, pathlib, sys, tarfile, tempfile

if sys.version_info < {python}:
    raise ImportError("This notebook needs Python {oldest} or newer, and this is %d.%d." % sys.version_info[:2])
packed = """
{packed}
"""
is_here = any(importlib.metadata.distributions(name="pytorch-basics"))
if not is_here or importlib.util.find_spec("autograder") is None:
    place = pathlib.Path(tempfile.gettempdir(), "{name}")
    if not place.exists():
        half = pathlib.Path(tempfile.mkdtemp())
        with tarfile.open(fileobj=io.BytesIO(lzma.decompress(base64.b85decode("".join(packed.split()))))) as archive:
            archive.extractall(half, **({{"filter": "data"}} if hasattr(tarfile, "data_filter") else {{}}))
        half.rename(place)
    sys.path.insert(0, str(place))
del packed, is_here
from autograder.install_missing_packages import install_missing_packages

install_missing_packages()
del install_missing_packages
'''


def packed_cell(course: Path, stem: str) -> str:
    """Return the text of a cell with the packed modules and data for one chapter; the same course gives the same."""
    files = dict(sorted(_files(course, stem)))
    name = f"{_PACKAGE}-{stem}-{sha256_of_texts(*files, *files.values())[:12]}"
    # Base85 writes four bytes as five letters, none a quote or a backslash; base64 would take a fifteenth more.
    data = base64.b85encode(lzma.compress(_archive(files), filters=_PACKED_BY)).decode()
    lines = (data[start : start + _LINE] for start in range(0, len(data), _LINE))
    oldest = _oldest_python()
    return _CELL.format(packed="\n".join(lines), name=name, python=oldest, oldest=".".join(map(str, oldest)))


def _oldest_python() -> tuple[int, ...]:
    (oldest,) = re.findall(r">=([\d.]+)", metadata(_PACKAGE)["Requires-Python"])
    return tuple(map(int, oldest.split(".")))


def _archive(files: dict[str, bytes]) -> bytes:
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return written.getvalue()


def _files(course: Path, stem: str) -> Iterator[tuple[str, bytes]]:
    """Yield the path within the archive and the content of each file that a chapter's notebook needs."""
    project = course.parent
    own = [course / EXERCISES / stem, chapter_module_path(course, FIGURES, stem), course / INSTRUMENTS]
    own += [path for path in (chapter_module_path(course, CARDS, stem),) if path.is_file()]
    own += [
        path for name in imported_names(chapter_path(course, stem), project) for path in find_module(name, [project])
    ]
    front = [path for name in _FRONT for path in _package(project, name)] + [project / _EXPLORERS / "__init__.py"]
    modules = import_closure([*own, *front], [project])
    modules = import_closure([*modules, *_opened_explorers([*modules, chapter_path(course, stem)], project)], [project])
    drawn_by = "".join(path.read_text(encoding="utf-8") for path in modules if path.parent.name == _EXPLORERS)
    data = [path for pattern in _DATA for path in (project / _EXPLORERS).glob(pattern) if path.name in drawn_by]
    asked = {path.stem for path in (course / EXERCISES / stem).glob("*.py")}
    data += [path for path in (course / ARRANGED).glob("*.txt") if path.stem in asked]
    data += [path for path in (hunts_path(course, stem),) if path.is_file()]
    asked_before = (course / REVIEW_QUESTIONS).glob("*.py")
    data += [path for path in asked_before if path.stem <= chapter_id(stem)]
    keys = [
        course / SHIPPED / f"{stem}{suffix}"
        for suffix in (*shipped_observations.SHIPPED_FILE_SUFFIXES, points_and_hints.HINTS)
    ]
    keys += [course / SHIPPED / name for name in (points_and_hints.POINTS, "__init__.py")]
    keys += [path for path in (course / SHIPPED / points_and_hints.OWN_POINTS,) if path.is_file()]
    for path in {*modules, *data, *keys}:
        # Exercises are read as text, and students may ask for the docstrings of the instruments.
        is_bare = path.suffix == ".py" and not {path, *path.parents} & {course / EXERCISES, course / INSTRUMENTS}
        yield path.relative_to(project).as_posix(), _bare(path.read_bytes()) if is_bare else path.read_bytes()
    about = f"{_PACKAGE.replace('-', '_')}-{version(_PACKAGE)}.dist-info"
    yield f"{about}/METADATA", _metadata().encode()
    yield f"{about}/entry_points.txt", f"[autograder.courses]\n{_PACKAGE} = {course.name}\n".encode()


def _package(project: Path, name: str) -> Iterator[Path]:
    """Yield the folder of a package, or the file of a module."""
    folder = project.joinpath(*name.split("."))
    yield from [folder] if folder.is_dir() else find_module(name, [project])


def _opened_explorers(paths: Iterable[Path], project: Path) -> Iterator[Path]:
    """Yield the modules of the explorers that these files import from the front of `explorers` or of the engine."""
    names = {name for path in paths for name in imported_names(path, project)}
    homes = {f"{_EXPLORERS}.{name}": f"{_EXPLORERS}.{home}" for name, home in explorers._HOMES.items()}
    homes |= {f"autograder.{name}": home for name, home in autograder._HOMES.items() if home.startswith(_EXPLORERS)}
    for name in homes.keys() & names:
        yield from find_module(homes[name], [project])


def _metadata() -> str:
    """Return the metadata of the packed course: its name, its version, and what it requires besides."""
    lines = (line for line in requires(_PACKAGE) or () if "extra" not in line or line.startswith("torch"))
    needs = [f"Requires-Dist: {line}\n" for line in lines]
    return f"Metadata-Version: 2.1\nName: {_PACKAGE}\nVersion: {version(_PACKAGE)}\n{''.join(needs)}"


def _bare(source: bytes) -> bytes:
    """Return Python code without comments, and without the docstrings that no cell of a student asks for.

    They would make up a tenth of the cell. Each line keeps its number, so that tracebacks name the right line.
    """
    lines = source.decode().split("\n")
    for token in tokenize.tokenize(io.BytesIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            text = node.body[0]
            if isinstance(node, ast.Module) or node.name not in _ASKED_FOR:
                lines[text.lineno - 1] = f"{' ' * text.col_offset}''"
                lines[text.lineno : text.end_lineno] = [""] * ((text.end_lineno or text.lineno) - text.lineno)
    return "\n".join(lines).encode()


def embed_package(notebook: Notebook, course: Path, stem: str) -> Notebook:
    """Put the packed modules into the install cell of a student's notebook, and return the notebook.

    Raises WorkFailed if the notebook has no install cell.
    """
    found = [each for each in notebook.cells if each.get("id") == INSTALL_ID]
    if not found or _REST not in found[0].source:
        raise WorkFailed(f"expected a cell with the id {INSTALL_ID!r} in {stem}.ipynb, found none. Run `make build`.")
    _, rest, says = found[0].source.partition(_REST)
    found[0].source = packed_cell(course, stem) + rest + says
    return notebook
