"""Translate the text of a notebook cell into plain Python: `%magic`, `!command` and `thing?` become calls.

Nothing here runs the text. The text is untrusted, and translating it can take very long: `translation_cost` estimates
the cost beforehand.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from functools import lru_cache

_MAGIC_CALL = "get_ipython().run_line_magic('', '')"  # the shortest call that IPython puts in place of such a line
_LINE_STARTS = (*"%!?,;/", ">>>", "In [")  # a line that begins with one of these is IPython syntax
_MAGIC_ASSIGNMENT = re.compile(r"=[ \t]*[%!]")  # so is `files = !ls`

_LONGEST_LINE = 5_000  # characters

# How a line begins in the text of an answer, of which a part lies in a module that nobody can read here; its name
# follows. (A notebook has no parent from which it could import.)
UNPARSED_MARK = "from . import "

# nbgrader's names for cells of a chapter: "check_NAME" checks the exercise NAME, and "setup" holds the imports.
CHECK, SETUP = "check_", "setup"


def parse_cell_text(source: str) -> tuple[str, ast.Module | None]:
    """Return a cell as plain Python, and its syntax tree; the tree is None if the cell cannot be parsed.

    Text that already is Python stays unchanged, because IPython reads the whole text again for each line that it
    translates.
    """
    text = source
    for translate in (str, _transformed):
        text = translate(source)
        try:
            return text, _tree(text)
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError):  # translation does not make it less deeply nested
            break
    return text, None


@lru_cache(maxsize=64)  # called for each difference that is found in an answer
def remove_comments(source: str) -> str:
    """Return code without its comments. From code that has no valid tokens, only whole comment lines are removed.

    The same holds for code with an overlong line: since Python 3.12, the time for a token grows with the length of its
    line.
    """
    lines = source.splitlines()
    if "#" not in source:
        return "\n".join(lines) + "\n"
    try:
        if max(map(len, lines)) > _LONGEST_LINE:
            raise ValueError("expected shorter lines")
        tokens = list(tokenize.generate_tokens(io.StringIO(source).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return "\n".join(line for line in lines if not line.lstrip().startswith("#")) + "\n"
    for token in tokens:
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    return "\n".join(lines) + "\n"


def _tree(source: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source)


def _transformed(source: str) -> str:
    if not translation_cost(source):
        return source
    from IPython.core.inputtransformer2 import TransformerManager  # slow to import, and few cells need it

    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # the tokenizer raises many kinds of errors on text that is not code
        return source


@lru_cache(maxsize=1024)  # most cells of a class are the lesson's own
def translation_cost(source: str) -> int:
    """Estimate what it costs to translate a cell: how many characters IPython reads, at most.

    IPython reads the whole cell again for each line of IPython syntax. The cost is 0 if the cell is plain Python: a
    line that looks like a magic is then inside a string.
    """
    lines = sum(map(_is_magic, source.splitlines())) + source.lstrip("\n")[:1].isspace()
    return 0 if lines and _is_python(source) else lines * (len(source) + lines * len(_MAGIC_CALL))


def _is_python(source: str) -> bool:
    try:
        _tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _is_magic(line: str) -> bool:
    bare = line.strip()
    if bare.startswith("#"):
        return False
    return bare.startswith(_LINE_STARTS) or bare.endswith("?") or _MAGIC_ASSIGNMENT.search(bare) is not None
