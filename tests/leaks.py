"""What no student may find in what we hand out: lines of solutions, of hidden tests and of the answer bank.

The lines that are handed out to be put in order (`course/arranged/`) may be lines of bank answers: that is where the
distractors come from. They may be no lines of the reference, unless the chapter shows them anyway.

A line counts by its code alone: comments and spaces are taken out, so that neither another indentation nor a
comment hides it. Short lines (`return x`) say nothing and are let go, and so is every line that a chapter
shows to students anyway, in its text or in the sentence about a mistake.
"""

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path
from zipfile import ZipFile

import nbformat

from autograder.course import solution_regions
from autograder.course.chapter_cells import CellKind, without_answer
from autograder.course.chapter_reader import Chapter, read_chapter

SHORTEST = 14
MARKERS = ("### BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "### BEGIN STARTER")


def secrets(course: dict[Path, str], handed_out: str = "") -> set[str]:
    """The telling lines of the chapters' solutions and hidden tests, and of their answer banks.

    `course` gives for each chapter's path the text of its bank; of a bank, the lines that are handed out are no secret.
    """
    written, banks, shown = [], [], []
    for path, bank in course.items():
        chapter = read_chapter(path)
        written += [
            solution_regions.region_lines(cell.source, solution_regions.SOLUTION)
            for cell in chapter.of_kind(CellKind.EXERCISE)
        ]
        written += [f'check("{name}", {name}, fresh=True)' for name in chapter.exercises]
        banks += _answers(bank)
        shown += [*_shown(chapter), *_sentences(bank)]
    public = squeezed("\n".join(shown))
    told = {line for text in written for line in telling(text)}
    told |= {line for text in banks for line in telling(text)} - set(squeezed(handed_out).split("\n"))
    return {line for line in told if line not in public}


def _answers(bank: str) -> list[str]:
    """The functions and classes of a bank, without decorators: the sentences in those are for students."""
    lines = bank.split("\n")
    return ["\n".join(lines[node.lineno - 1 : node.end_lineno]) for node in _definitions(bank)]


def _sentences(bank: str) -> list[str]:
    """Every string in the decorators of a bank."""
    decorators = [decorator for node in _definitions(bank) for decorator in node.decorator_list]
    inner = [node for decorator in decorators for node in ast.walk(decorator)]
    return [node.value for node in inner if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def _definitions(bank: str) -> list[ast.FunctionDef | ast.ClassDef]:
    return [node for node in ast.parse(bank).body if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def _shown(chapter: Chapter) -> Iterator[str]:
    for cell in chapter.cells:
        if cell.kind is CellKind.EXERCISE:
            yield solution_regions.starter_cell(cell.source)
        else:
            yield without_answer(cell.source) if cell.kind is CellKind.PREDICT else cell.source


def telling(text: str) -> set[str]:
    """The lines of a program that say something, each squeezed; docstrings and comments say nothing."""
    lines = (squeezed(line) for line in _code(text).split("\n"))
    return {line for line in lines if len(line) >= SHORTEST and any(sign in line for sign in "(=[")}


def _code(text: str) -> str:
    """The program without comments and docstrings; the text itself where it is no program."""
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
    """The text without spaces in its lines, quotes of one kind, JSON's escapes undone."""
    plain = text.replace('\\"', '"').replace("\\n", "\n").replace("'", '"')
    return "\n".join("".join(line.split()) for line in plain.split("\n"))


def find(secret: Iterable[str], texts: dict[str, str]) -> list[str]:
    """Name each secret line that stands in a text: `where: line`."""
    found = []
    for where, text in texts.items():
        small = squeezed(text)
        found += [f"{where}: {line}" for line in sorted(secret) if line in small and _as_a_word(line, small)]
    return found


def _as_a_word(line: str, text: str) -> bool:
    """Whether the line stands there by itself: a longer name that ends in its first word is another name."""
    return re.search(r"(?<!\w)" + re.escape(line), text) is not None


def find_markers(texts: dict[str, str]) -> list[str]:
    """Name each region marker that stands in a text."""
    return [f"{where}: {marker}" for where, text in texts.items() for marker in MARKERS if marker in text]


def of_notebooks(folder: Path) -> dict[str, str]:
    """The whole text of every notebook below a folder: sources, outputs and metadata."""
    texts = {}
    for path in sorted(folder.rglob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        sources = "\n".join(cell.source for cell in notebook.cells)
        texts[f"{folder.name}/{path.name}"] = sources + "\n" + path.read_text(encoding="utf-8")
    return texts


def of_wheel(wheel: Path) -> dict[str, str]:
    """The text of every file of a wheel; what is no text is read as if it were."""
    with ZipFile(wheel) as archive:
        return {name: archive.read(name).decode("utf-8", errors="replace") for name in archive.namelist()}
