"""Edit a program by its lines: change, remove, add or move one line, to search for the edits that mend a wrong program.

An edit that leaves a variable without any use is skipped: it would bypass other lines instead of repairing one.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from autograder.authoring.mutation import mutants

_BUILTINS = frozenset(dir(builtins))
EditKind = Literal["change", "remove", "add", "move"]
_KEPT = re.compile(r"\s*(def |class |@|else:|try:|finally:|pass$|continue$|global |nonlocal |[\])}]+,?:?$)")
# What turns one tensor into another that learners confuse with it: appended to a variable, each may mend a line.
_SUFFIXES = (
    *(".detach()", ".clone()", ".float()", ".double()", ".item()", ".unsqueeze(0)", ".unsqueeze(-1)", ".T"),
    *(".squeeze()", ".abs()", ".sum()", ".mean()"),
)
_SILLY = re.compile(
    r"\w_\"|[+-] 0\b(?![.])|[*/] 1\b(?![.])|torch\.abs\(|\.double\(\)$|^\s*return \[|\bself\b(?!\.)"
)  # nobody writes this; and an object as an index into its own tensor recurses without an end, which torch hides
# A line that is one entry of a dictionary, or one argument of a call.
_ENTRY = re.compile(r'("\w+": |\w+=|)(.+?)(,?)')
_LIKELY = 24  # edits of one kind that are tried before those of other kinds


@dataclass(frozen=True)
class ProgramEdit:
    """One edit: the program's text after it, the kind of edit, and the number of the edited line, from 1.

    For the kind `add`, `line` is the line after which the new one stands.
    """

    text: str
    kind: EditKind
    line: int


def editable_lines(text: str) -> list[int]:
    """Return the numbers of the lines that say what a program does: no signature, no bare bracket, no `else:`."""
    heads = {
        row
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        for row in range(node.lineno, node.body[0].lineno)
    }
    lines = enumerate(text.splitlines(), 1)
    return [row for row, line in lines if row not in heads and line.strip() and not _KEPT.match(line)]


def removals(text: str, row: int) -> Iterator[ProgramEdit]:
    """Yield the program without a line."""
    lines = text.splitlines()
    yield from _sound(text, [*lines[: row - 1], *lines[row:]], "remove", row)


def moves(text: str, row: int) -> Iterator[ProgramEdit]:
    """Yield the programs in which a line stands at another place, indented as the line that it follows or precedes."""
    lines = text.splitlines()
    moved, rest = lines[row - 1], [*lines[: row - 1], *lines[row:]]
    for place in range(1, len(rest) + 1):
        for indent in _indents(rest, place):
            yield from _sound(text, [*rest[:place], indent + moved.strip(), *rest[place:]], "move", row)


def replacements(text: str, row: int, pool: Iterable[str]) -> Iterator[ProgramEdit]:
    """Yield the programs in which a line of the pool takes the place of a line."""
    lines = text.splitlines()
    indent, old = _indent(lines[row - 1]), lines[row - 1].strip()
    for other in pool:
        # A line that binds other names says something else; it would write around the one at fault.
        if other != old and other.endswith(":") == old.endswith(":") and _bound(other)[0] == _bound(old)[0]:
            yield from _sound(text, [*lines[: row - 1], indent + other, *lines[row:]], "change", row)


def additions(text: str, row: int, pool: Iterable[str]) -> Iterator[ProgramEdit]:
    """Yield the edits that insert a line of `pool` after line `row`.

    Lines that open a block are left out, and lines that bind a name of the program without reading it: they would
    overwrite what another line has computed.
    """
    lines = text.splitlines()
    known = {name for line in lines for name in _bound(line.strip())[0]}
    for other in pool:
        bound, read = _bound(other)
        if other.endswith(":") or (known & bound) - read:
            continue  # it would bind anew what another line has computed
        for indent in _indents(lines, row):
            yield from _sound(text, [*lines[:row], indent + other, *lines[row:]], "add", row)


def programs_with_call_appended(text: str, row: int) -> Iterator[ProgramEdit]:
    """Yield the programs in which a call such as `.detach()` follows one variable of a line."""
    lines = text.splitlines()
    line = lines[row - 1].strip()
    names = [node for node in _nodes(line) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)]
    for end in sorted({node.end_col_offset or 0 for node in names}):
        for suffix in _SUFFIXES:
            new = _indent(lines[row - 1]) + line[:end] + suffix + line[end:]
            yield from _sound(text, [*lines[: row - 1], new, *lines[row:]], "change", row)


def mutations(text: str, row: int) -> Iterator[ProgramEdit]:
    """Yield the programs in which a small change was made to the syntax of a line."""
    lines = text.splitlines()
    for new in _mutated(lines[row - 1].strip(), _variables(text)):
        line = _indent(lines[row - 1]) + new
        yield from _sound(text, [*lines[: row - 1], line, *lines[row:]], "change", row)


@lru_cache(maxsize=4096)
def _mutated(line: str, variables: tuple[str, ...]) -> tuple[str, ...]:
    """Return a line with each small change to its syntax that people might make; none for a piece of a statement."""
    if not _nodes(line):
        entry = _ENTRY.fullmatch(line)
        found = _mutated(entry[2], variables) if entry and _nodes(entry[2]) else ()
        return tuple(f"{entry[1]}{new}{entry[3]}" for new in found) if entry else ()
    program = f"def _({', '.join(variables)}):\n    {line}" + (" pass" if line.endswith(":") else "")
    try:
        (old, *_), made = ast.unparse(ast.parse(program)).splitlines()[1:], mutants(program)
        rows = [mutant.source.splitlines()[1].strip() for mutant in made]
    except SyntaxError:  # such as a `break`, which stands in a loop
        return ()
    written = (_as_written(line, old.strip(), new) for new in rows if new != "pass")
    return tuple(dict.fromkeys(new for new in written if new is not None and not _SILLY.search(new)))


def _as_written(line: str, old: str, new: str) -> str | None:
    """Make in a line the change that leads from `old` to `new`, two unparsed lines; None if its place is not sure."""
    old, new = (re.sub(r"'([^'\"\\]*)'", r'"\1"', each) for each in (old, new))
    start = _common(old, new)
    tail = _common(old[start:][::-1], new[start:][::-1])
    for more in range(24):
        first, last = max(0, start - more), max(0, tail - more)
        part, put = old[first : len(old) - last], new[first : len(new) - last]
        if part and line.count(part) == 1:
            return line.replace(part, put)
    return None


def _common(one: str, other: str) -> int:
    """Return how many characters two texts share at their beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))


def line_edits(text: str, row: int, pool: Iterable[str]) -> Iterator[ProgramEdit]:
    """Yield the edits of one line alone, likely ones first: removed, replaced by a similar line, mutated, moved."""
    words = _words(text.splitlines()[row - 1])
    likely = sorted(pool, key=lambda line: -len(words & _words(line)) / (1 + len(words | _words(line))))
    mutated = list(mutations(text, row))
    yield from removals(text, row)
    yield from replacements(text, row, likely[:_LIKELY])
    yield from mutated[:_LIKELY]
    yield from programs_with_call_appended(text, row)
    yield from moves(text, row)
    yield from replacements(text, row, likely[_LIKELY:])
    yield from mutated[_LIKELY:]


def program_edits(text: str, pool: Iterable[str]) -> Iterator[ProgramEdit]:
    """Yield the edits of one line of a program, those that change its meaning least first."""
    rows = editable_lines(text)
    yield from (edit for row in rows for edit in removals(text, row))
    yield from (edit for row in rows for edit in mutations(text, row))
    yield from (edit for row in rows for edit in replacements(text, row, pool))
    yield from (edit for row in rows for edit in additions(text, row, pool))
    yield from (edit for row in rows for edit in moves(text, row))


@lru_cache(maxsize=4096)
def _nodes(line: str) -> tuple[ast.AST, ...]:
    """Return the syntax nodes of a line; none for a piece of a statement."""
    try:
        return tuple(ast.walk(ast.parse(line + " pass" if line.endswith(":") else line)))
    except SyntaxError:
        return ()


@lru_cache(maxsize=4096)
def _bound(line: str) -> tuple[Set[str], Set[str]]:
    """Return the names and attributes that a line binds, and the names that it reads."""
    nodes = _nodes(line)
    if not nodes:  # a piece of a statement, such as one entry of a dictionary
        words = re.findall(r"(?<![\w.\"'])[A-Za-z_]\w*(?![\w\"']|\s*=[^=])", line)
        return frozenset(), frozenset(words) - frozenset(keyword.kwlist)
    names = [node for node in nodes if isinstance(node, ast.Name)]
    stored = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    stored |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    stored |= {
        ast.unparse(node) for node in nodes if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)
    }
    stored |= {node.name for node in nodes if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    return frozenset(stored), frozenset(node.id for node in names if isinstance(node.ctx, ast.Load))


@lru_cache(maxsize=64)
def _variables(text: str) -> tuple[str, ...]:
    """Return the parameters and variables of a program."""
    stored = (name for line in text.splitlines() for name in sorted(_bound(line.strip())[0]))
    heads = {
        line.strip().split()[1].partition("(")[0] for line in text.splitlines() if re.match(r"\s*(def|class) ", line)
    }
    return tuple(dict.fromkeys(name for name in stored if name not in heads))


def _words(line: str) -> set[str]:
    return set(re.findall(r"\w+", line))


def wrong_variants(right: str) -> Iterator[ProgramEdit]:
    """Yield programs that differ from the right one in one line; `kind` and `line` name the edit that repairs each."""
    lines = right.splitlines()
    for row in editable_lines(right):
        yield from mutations(right, row)
        for edit in removals(right, row):
            yield ProgramEdit(edit.text, "add", row - 1)
        after = lines[row] if row + 1 in editable_lines(right) else "return"
        if _indent(lines[row - 1]) == _indent(after) and not after.strip().startswith("return"):
            swapped = [*lines[: row - 1], after, lines[row - 1], *lines[row + 1 :]]
            yield from (ProgramEdit(edit.text, "move", row + 1) for edit in _sound(right, swapped, "move", row))


def _sound(before: str, lines: list[str], kind: EditKind, row: int) -> Iterator[ProgramEdit]:
    """Yield the edit if the program knows its names, and uses what was used before."""
    known, unused = _names(before)
    now, idle = _names_of(lines)
    if idle <= unused and now <= known | _BUILTINS:
        yield ProgramEdit("\n".join(lines) + "\n", kind, row)


@lru_cache(maxsize=64)
def _names(text: str) -> tuple[Set[str], Set[str]]:
    return _names_of(text.splitlines())


def _names_of(lines: Iterable[str]) -> tuple[Set[str], Set[str]]:
    """Return the names that a program uses and does not bind, and those that it binds and does not use."""
    pairs = [_bound(line.strip()) for line in lines]
    stored: Set[str] = frozenset().union(*(pair[0] for pair in pairs))
    loaded: Set[str] = frozenset().union(*(pair[1] for pair in pairs))
    return loaded - stored, stored - loaded


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _indents(lines: list[str], place: int) -> list[str]:
    """Return the indentations that a line between the lines `place` and `place + 1` can have."""
    before = lines[place - 1]
    found = [_indent(before) + ("    " if before.rstrip().endswith(":") else "")]
    found += [_indent(lines[place])] if place < len(lines) else []
    return list(dict.fromkeys(indent for indent in found if indent))
