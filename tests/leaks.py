"""Search handed-out files for secrets: lines of solutions, of hidden tests and of the answer bank.

The lines to arrange (`course/arranged/`) are handed out, and the distractors among them come from bank answers, so they
are not searched here. `test_arrange.py` proves that none is a line of the exercise's own reference.

Lines are compared without comments and spaces, so that neither indentation nor a comment hides a leak. Short lines
(`return x`) reveal nothing and are ignored, and so is every line that a chapter shows to students, in its text or in
the message about a mistake.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

import nbformat

from autograder.course import marked_regions
from autograder.course.chapter_model import CellKind, blank_guess
from autograder.course.chapter_reader import Chapter, read_chapter

SHORTEST = 14
MARKERS = ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "### BEGIN STARTER")


def secrets(course: dict[Path, str]) -> set[str]:
    """Return the telling lines of the chapters' solutions and hidden tests, and of their answer banks.

    `course` maps each chapter's path to the text of its bank.
    """
    written, banks, shown = [], [], []
    for path, bank in course.items():
        chapter = read_chapter(path)
        written += [
            marked_regions.region_text(cell.source, marked_regions.SOLUTION)
            for cell in chapter.of_kind(CellKind.EXERCISE)
        ]
        written += [f'check("{name}", {name}, fresh=True)' for name in chapter.exercises]
        banks += _answers(bank)
        shown += [*_shown(chapter), *_sentences(bank)]
    public = squeezed("\n".join(shown))
    told = {line for text in written for line in telling(text)}
    told |= {line for text in banks for line in telling(text)}
    return {line for line in told if line not in public}


def _answers(bank: str) -> list[str]:
    """Return the functions and classes of a bank without decorators, whose messages are meant for students."""
    lines = bank.split("\n")
    return ["\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in _definitions(bank)]


def _sentences(bank: str) -> list[str]:
    """Return every string in the decorators of a bank."""
    decorators = [decorator for node in _definitions(bank) for decorator in node.decorator_list]
    inner = [node for decorator in decorators for node in ast.walk(decorator)]
    return [node.value for node in inner if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _definitions(bank: str) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in ast.parse(bank).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def _shown(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.cells:
        if cell.kind is CellKind.EXERCISE:
            yield marked_regions.starter_cell(cell.source)
        else:
            yield blank_guess(cell.source) if cell.kind is CellKind.PREDICT else cell.source


def telling(text: str) -> set[str]:
    """Return the lines of a program that reveal something, each squeezed; no docstrings and comments."""
    lines = (squeezed(line) for line in _code(text).split("\n"))
    return {line for line in lines if len(line) >= SHORTEST and any(sign in line for sign in "(=[")}


def _code(text: str) -> str:
    """Return a program without comments and docstrings, or the text itself if it is no program."""
    body = "if True:\n" + text if text[:1].isspace() else text
    rows = body.split("\n")
    try:
        tokens = list(tokenize.generate_tokens(io.StringIO(body).readline))
    except (tokenize.TokenError, IndentationError):
        return text
    previous = tokenize.NEWLINE
    for token in tokens:
        if token.type == tokenize.COMMENT:
            rows[token.start[0] - 1] = rows[token.start[0] - 1][: token.start[1]]
        starts = previous in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)
        if token.type == tokenize.STRING and starts:
            rows[token.start[0] - 1 : token.end[0]] = [""] * (token.end[0] - token.start[0] + 1)
        previous = token.type
    return "\n".join(rows)


def squeezed(text: str) -> str:
    """Return a text without spaces in its lines, with one kind of quotes and without JSON's escapes."""
    plain = text.replace('\\"', '"').replace("\\n", "\n").replace("'", '"')
    return "\n".join("".join(line.split()) for line in plain.split("\n"))


def find(secret: Iterable[str], texts: dict[str, str]) -> list[str]:
    """Return each secret line that a text contains, as `where: line`."""
    found = []
    for where, text in texts.items():
        small = squeezed(text)
        found += [f"{where}: {line}" for line in sorted(secret) if line in small and _as_a_word(line, small)]
    return found


def _as_a_word(line: str, text: str) -> bool:
    """Return whether the text contains the line and no longer word in place of its first one."""
    return re.search(r"(?<!\w)" + re.escape(line), text) is not None


def find_markers(texts: dict[str, str]) -> list[str]:
    """Return each region marker that a text contains, as `where: marker`."""
    return [f"{where}: {marker}" for where, text in texts.items() for marker in MARKERS if marker in text]


def of_notebooks(folder: Path) -> dict[str, str]:
    """Return the whole text of every notebook below a folder: sources, outputs and metadata."""
    texts = {}
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        sources = "\n".join(cell.source for cell in notebook.cells)
        texts[f"{folder.name}/{path.name}"] = sources + "\n" + path.read_text(encoding="utf-8")
    return texts


def of_wheel(wheel: Path) -> dict[str, str]:
    """Return the content of every file of a wheel as text; invalid bytes are replaced."""
    with ZipFile(wheel) as archive:
        return {name: archive.read(name).decode("utf-8", errors="replace") for name in archive.namelist()}
