"""Check the text of a cell against the rules of its kind; a broken rule raises ChapterFormatError."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from autograder.course import marked_regions
from autograder.course.chapter_model import Cell, CellKind, Chapter, guess_statement
from autograder.course.lint_chapter import raise_format_error
from autograder.name_bindings import find_used_and_bound_names

_SOLUTION_ONLY = [("BEGIN", marked_regions.SOLUTION), ("END", marked_regions.SOLUTION)]
_WIDTH = 100
_CODE_IN_SUMMARY = re.compile(r"<summary>[^<]*`([^`<]+)`")
_WITH_STARTER = [("BEGIN", marked_regions.STARTER), ("END", marked_regions.STARTER), *_SOLUTION_ONLY]


def _exercise(chapter: Chapter, _index: int, cell: Cell) -> None:
    name = cell.keys["exercise"]
    if marked_regions.region_markers(cell.source) not in (_SOLUTION_ONLY, _WITH_STARTER):
        raise_format_error(
            chapter.where,
            cell.line,
            f"expected one `### BEGIN SOLUTION` ... `### END SOLUTION` in the exercise {name!r} (a STARTER "
            f"region may stand before it), found {_told(cell.source)}; correct the markers.",
        )
    _check_starter_lines(chapter, cell)
    solved, given = (
        _checked_docstring(chapter, cell, what, text)
        for what, text in (
            ("solution", marked_regions.solution_cell(cell.source)),
            ("starter", marked_regions.starter_cell(cell.source)),
        )
    )
    if solved != given:
        raise_format_error(
            chapter.where,
            cell.line,
            f"solution and starter of {name!r} have different docstrings; copy one to the other.",
        )


def _told(source: str) -> str:
    found = [f"{edge} {name}" for edge, name in marked_regions.region_markers(source)]
    return ", ".join(found) or "no markers"


def _check_starter_lines(chapter: Chapter, cell: Cell) -> None:
    for line in marked_regions.region_text(cell.source, marked_regions.STARTER).split("\n"):
        if line and not line.startswith("#"):
            raise_format_error(
                chapter.where,
                cell.line,
                f"expected `# ` before each line of the starter, found `{line}`; add it.",
            )


def _checked_docstring(chapter: Chapter, cell: Cell, what: str, text: str) -> str:
    """Check that the solution or starter defines the exercise's name with a docstring, and return that."""
    name = cell.keys["exercise"]
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        row = (error.text or "").strip()
        raise_format_error(
            chapter.where,
            cell.line,
            f"the {what} of {name!r} is no Python ({error.msg}: {row}); correct it.",
        )
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name]
    if not found:
        raise_format_error(
            chapter.where, cell.line, f"the {what} of {name!r} defines no {name}; name its def or class so."
        )
    docstring = ast.get_docstring(found[0])
    if not docstring:
        raise_format_error(
            chapter.where,
            cell.line,
            f"the {what} of {name!r} has no docstring; say what it does, with an example.",
        )
    return docstring


def _check(chapter: Chapter, _index: int, cell: Cell) -> None:
    name = cell.keys["check"]
    expected = f'check("{name}", {name})'
    if cell.source.strip() != expected:
        raise_format_error(
            chapter.where,
            cell.line,
            f"expected `{expected}` and nothing else in the check of {name!r}; write that.",
        )
    if ("points" in cell.keys) == ("extra" in cell.keys):
        raise_format_error(
            chapter.where,
            cell.line,
            f"the check of {name!r} needs points= or extra=; give it one of the two.",
        )


def _hunt(chapter: Chapter, _index: int, cell: Cell) -> None:
    """Check that a hunt has points, and that its text is comments, which stand above the answer."""
    if "points" not in cell.keys:
        raise_format_error(chapter.where, cell.line, f"the hunt of {cell.keys['hunt']!r} needs points=; give it some.")
    for line in cell.source.split("\n"):
        if line.strip() and not line.startswith("#"):
            raise_format_error(
                chapter.where, cell.line, f"expected only comments in a hunt, found `{line}`; take it out."
            )


def _predict(chapter: Chapter, index: int, cell: Cell) -> None:
    guess = guess_statement(cell.source)
    if guess is None or "#" not in cell.source:
        raise_format_error(
            chapter.where,
            cell.line,
            "expected `guess = <the right answer>  # what to predict` in a predict cell, found something "
            "else; write that one line (the name may go on after `guess`).",
        )
    target = guess.targets[0]
    name = target.id if isinstance(target, ast.Name) else ""
    following = (later for later in chapter.cells[index + 1 :] if later.kind is not CellKind.MARKDOWN)
    reveal = next(following, None)
    if reveal is None or f"reveal({name}," not in reveal.source:
        raise_format_error(
            chapter.where,
            cell.line,
            f"expected `reveal({name}, ...)` in the next code cell, found none; add it.",
        )


def _parameters(chapter: Chapter, _index: int, cell: Cell) -> None:
    try:
        body = ast.parse(cell.source).body
    except SyntaxError as error:
        raise_format_error(chapter.where, cell.line, f"the parameters cell is no Python ({error.msg}); correct it.")
    for node in body:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            raise_format_error(
                chapter.where,
                cell.line,
                "expected lines such as `seed = 0` in the parameters cell; write only those.",
            )


def check_width(chapter: Chapter, cell: Cell) -> None:
    """Check that code lines fit a notebook without scrolling; prose is wrapped by the notebook."""
    for line in cell.source.split("\n") if cell.kind is not CellKind.MARKDOWN else ():
        shown = (
            line.removeprefix("# ") if line.startswith("#  ") else line
        )  # the build removes a starter line's comment sign
        if len(shown) > _WIDTH:
            raise_format_error(
                chapter.where,
                cell.line,
                f"expected lines of at most {_WIDTH} characters in code cells, found {len(shown)}: `{shown.strip()}`; "
                "break the line.",
            )


def _no_markers(chapter: Chapter, _index: int, cell: Cell) -> None:
    if marked_regions.region_markers(cell.source):
        found = _told(cell.source)
        raise_format_error(
            chapter.where, cell.line, f'found {found} outside an exercise; mark the cell with exercise="...".'
        )


def _prose(chapter: Chapter, index: int, cell: Cell) -> None:
    """Check that code in a `<summary>` is HTML: JupyterLab does not render Markdown there and shows the backticks."""
    _no_markers(chapter, index, cell)
    found = _CODE_IN_SUMMARY.search(cell.source)
    if found:
        code = found[1]
        raise_format_error(
            chapter.where, cell.line, f"expected <code>{code}</code> in a <summary>, found `{code}`; write HTML."
        )


def _lesson(chapter: Chapter, index: int, cell: Cell) -> None:
    """Check that a lesson cell does not call `mine`: readers copy lesson cells, and `mine` belongs in a folded cell."""
    _no_markers(chapter, index, cell)
    if re.search(r"\bmine\(", cell.source):
        raise_format_error(
            chapter.where, cell.line, "expected `mine(...)` in a cell of its own, folded away; mark it `mine=true`."
        )


def _known(chapter: Chapter, index: int, cell: Cell) -> None:
    """Check that a `known` cell begins with a comment: of a folded cell, JupyterLab shows the first line."""
    _lesson(chapter, index, cell)
    if not cell.source.startswith("# "):
        raise_format_error(
            chapter.where, cell.line, "expected a comment first in a cell with known=true; say what the cell brings."
        )


def _mine(chapter: Chapter, index: int, cell: Cell) -> None:
    """Check the assignments of a `mine` cell: `my_step = mine("step", ...)`, and `MyNet = mine("Net", ...)`."""
    _no_markers(chapter, index, cell)
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        raise_format_error(chapter.where, cell.line, f"the cell is no Python ({error.msg}); correct it.")
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == "mine"]
    if not calls:
        raise_format_error(
            chapter.where, cell.line, "expected `mine(...)` in a cell with mine=true, found none; take the key away."
        )
    lines = [node for node in tree.body if isinstance(node, ast.Assign)]
    given = {ast.unparse(node.value): ast.unparse(node.targets[0]) for node in lines}
    for call in calls:
        name = call.args[0].value if call.args and isinstance(call.args[0], ast.Constant) else None
        if not isinstance(name, str):
            what = f"expected the exercise's name in quotes, found `{ast.unparse(call)}`; write it."
            raise_format_error(chapter.where, cell.line, what)
        own = f"My{name}" if name[:1].isupper() else f"my_{name}"
        if given.get(ast.unparse(call)) != own:
            raise_format_error(
                chapter.where, cell.line, f'expected `{own} = mine("{name}", ...)` as a line; name it so.'
            )


def _claim(chapter: Chapter, index: int, cell: Cell) -> None:
    """Check that a claim follows a code cell, holds an assert, and binds only names that begin with `_`.

    Readers' notebooks do not have the claim, and so would not have its names.
    """
    _no_markers(chapter, index, cell)
    if chapter.cells[index - 1].kind is CellKind.MARKDOWN:
        raise_format_error(
            chapter.where, cell.line, "expected a claim right below the code that it is about; move it up."
        )
    try:
        tree = ast.parse(cell.source)
    except SyntaxError as error:
        raise_format_error(chapter.where, cell.line, f"the claim is no Python ({error.msg}); correct it.")
    if not any(isinstance(node, ast.Assert) for node in ast.walk(tree)):
        raise_format_error(
            chapter.where, cell.line, "expected an assert in a claim, found none; write what must be so."
        )
    given = sorted(name for name in find_used_and_bound_names(tree.body).bound if not name.startswith("_"))
    if given:
        raise_format_error(
            chapter.where,
            cell.line,
            f"a claim gives {given[0]!r} a value, which readers' notebooks would not have; let the name begin with _.",
        )


CELL_RULES: dict[CellKind, Callable[[Chapter, int, Cell], None]] = {
    CellKind.EXERCISE: _exercise,
    CellKind.CHECK: _check,
    CellKind.HUNT: _hunt,
    CellKind.PREDICT: _predict,
    CellKind.PARAMETERS: _parameters,
    CellKind.MARKDOWN: _prose,
    CellKind.LESSON: _lesson,
    CellKind.SETUP: _no_markers,
    CellKind.FIGURE: _no_markers,
    CellKind.MINE: _mine,
    CellKind.KNOWN: _known,
    CellKind.CLAIM: _claim,
}
