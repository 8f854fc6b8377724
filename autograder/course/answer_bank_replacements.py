"""Make known answers of the bank by string replacements in another text: the worked solution, or a right answer."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

from autograder.errors import AnswerBankError
from autograder.exec_with_linecache import run_source_with_linecache
from autograder.ipython_syntax import remove_comments

_Documented = ast.Module | ast.FunctionDef | ast.ClassDef
_Span = tuple[int, int, str]  # start, end, and the text to put between them


@lru_cache(maxsize=8)
def bare(text: str) -> str:
    """Return code without comments and docstrings, which would be false for a wrong answer made from it."""
    rows, code = text.splitlines(), remove_comments(text).splitlines()
    documented = (node for node in ast.walk(ast.parse(text)) if isinstance(node, _Documented))
    skip = {row for node in documented for row in _docstring(node)}
    kept = (line for row, line in enumerate(code, 1) if row not in skip and (line.strip() or not rows[row - 1].strip()))
    return "\n".join(kept).strip("\n") + "\n"


def _docstring(node: _Documented) -> range:
    """Return the line numbers from the docstring to the next statement; none if the docstring is the whole body."""
    if ast.get_docstring(node) is None or len(node.body) == 1:
        return range(0)
    after = node.body[1]
    return range(node.body[0].lineno, min([after.lineno, *(d.lineno for d in getattr(after, "decorator_list", ()))]))


def apply_change(text: str, change: Mapping[str, str]) -> str:
    """Return the text with each old string replaced by its new one.

    The second and further lines of a string are indented as the line where the string begins. A line of which
    nothing is left is removed. Raises AnswerBankError unless each old string occurs exactly once.
    """
    spans = sorted(_span(text, old, new) for old, new in change.items())
    if any(one[1] > other[0] for one, other in pairwise(spans)):
        raise AnswerBankError("two of its strings share a piece of it; make one of both")
    for start, end, new in reversed(spans):
        text = text[:start] + new + text[end:]
    return text


def _span(text: str, old: str, new: str) -> _Span:
    found = list(_places(text, old, new))
    if len(found) != 1:
        raise AnswerBankError(
            f"{old!r} stands {f'{len(found)} times' if found else 'nowhere'} in it, and must stand once"
        )
    return found[0]


def _places(text: str, old: str, new: str) -> Iterator[_Span]:
    """Yield each occurrence of `old`, with the replacement indented for its place."""
    for match in re.finditer(f"(?={re.escape(old.partition(chr(10))[0])})", text):
        start, row = match.start(), text.rfind("\n", 0, match.start()) + 1
        indent = " " * (len(text[row:start]) - len(text[row:start].lstrip(" ")))
        wanted, given = (re.sub(r"\n(?=.)", f"\n{indent}", each) for each in (old, new))
        end = start + len(wanted)
        if text.startswith(wanted, start):
            is_whole = not given and not text[row:start].strip() and text[end : end + 1] == "\n"
            yield (row, end + 1, "") if is_whole else (start, end, given)


def define_answer(exercise: str, tag: str, text: str, prelude: str) -> Callable[..., Any]:
    """Run a text below the setup cell, as the worked solution is run, and return the answer that it defines.

    Raises AnswerBankError if the text raises.
    """
    namespace = _prepared(prelude) | {"__name__": f"answers_to_{exercise}"}
    try:
        run_source_with_linecache(text, f"<{tag!r}, an answer to {exercise}>", namespace)
        answer: Callable[..., Any] = namespace[exercise]
    except Exception as error:
        raise AnswerBankError(f"what it gives cannot be run ({type(error).__name__}: {error})") from error
    return answer


@lru_cache(maxsize=8)
def _prepared(prelude: str) -> dict[str, Any]:
    """Run a setup cell and return its namespace; cached, so that it runs once for all banks of a chapter."""
    namespace: dict[str, Any] = {}
    exec(prelude, namespace)
    return namespace
