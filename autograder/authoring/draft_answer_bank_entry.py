"""Draft an entry of the answer bank from a student's answer, and find the line where it belongs."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from pathlib import Path

from autograder.errors import CourseError
from autograder.submission.anonymize_answer import remove_author_from_answer, unparse_with_long_integers

_ANSWERS = (ast.FunctionDef, ast.ClassDef)
# The bank refuses this tag, so that a draft is not forgotten half done.
TAG_PLACEHOLDER = "GIVE-IT-A-TAG"
SENTENCE_PLACEHOLDER = (
    "Say what the answer does, why that is wrong, and where to look, without giving the solution away."
)


class CannotDraftEntry(CourseError):
    """An answer that the bank cannot hold."""


def anonymous_answer(exercise: str, source: str, names: Iterable[str] = (), given: Collection[str] = ()) -> str:
    """Return the answer as a single function or class, without names or comments that identify its author.

    `source` is the answer with its helpers, as plain Python. The helpers are moved into the function's body. Names of
    `given` stay, whoever the author is. Raises CannotDraftEntry if the answer cannot be written in this form.
    """
    try:
        tree = ast.parse(remove_author_from_answer(source, names, {exercise, *given}))
    except SyntaxError as error:
        raise CannotDraftEntry(
            f"the answer is no Python (line {error.lineno}: {error.msg}): the bank cannot hold it."
        ) from None
    answers = [node for node in tree.body if isinstance(node, _ANSWERS) and node.name == exercise]
    if not answers:
        raise CannotDraftEntry(f"expected `def {exercise}` or `class {exercise}` in the answer: write it so, by hand.")
    answer = answers[-1]
    others = [node for node in tree.body if node not in answers and not _is_known(node)]
    if others and isinstance(answer, ast.ClassDef):
        raise CannotDraftEntry(
            f"the class {exercise} depends on code beside it, and an entry stands alone: put that code into the class."
        )
    answer.body = [*others, *answer.body]
    try:
        return unparse_with_long_integers(ast.fix_missing_locations(answer))
    except (RecursionError, MemoryError, ValueError):
        raise CannotDraftEntry("the answer is too deep to be written anew: the bank cannot hold it.") from None


def _is_known(node: ast.stmt) -> bool:
    """Return whether the entry can do without a statement: an import that every bank has, or a bare expression."""
    if isinstance(node, ast.Import):
        return ast.unparse(node) in ("import torch", "import math")
    return isinstance(node, ast.Expr)


def draft_entry(answer: str, is_right: bool) -> str:
    """Return the entry: the answer under a decorator whose tag and sentence the author still has to write."""
    if is_right:
        return f'@bank.right("{TAG_PLACEHOLDER}")\n{answer}'
    return f'@bank.wrong(\n    "{TAG_PLACEHOLDER}",\n    "{SENTENCE_PLACEHOLDER}",\n)\n{answer}'


def insertion_line(bank: Path) -> int:
    """Return the number of the line after which an entry belongs: the last line of the bank's last answer."""
    tree = ast.parse(bank.read_text(encoding="utf-8"))
    return max((node.end_lineno or 0 for node in tree.body if isinstance(node, _ANSWERS)), default=0) or (
        tree.body[-1].end_lineno or 0
    )
