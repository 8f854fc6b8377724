"""The text of a notebook's cell as Python: IPython's own syntax (`%magic`, `!command`, `thing?`) turned into calls.

Nothing is run. A text may be anybody's, and mad: what it takes to read it can be told beforehand.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
import warnings
from functools import lru_cache

_CALL = "get_ipython().run_line_magic('', '')"  # what a line becomes, and is read as from then on
_SIGNS = (*"%!?,;/", ">>>", "In [")  # a line that begins so is IPython's own
_ASSIGNED = re.compile(r"=[ \t]*[%!]")  # and so is `files = !ls`

_LONGEST_LINE = 5_000  # characters

# How a line begins in the text of an answer, of which a part lies in a module that nobody can read here; its name
# follows. (A notebook has no parent from which it could import.)
UNREAD = "from . import "

CHECK, SETUP = "check_", "setup"  # what a cell is named that checks an exercise, and the one that imports


def as_python(source: str) -> tuple[str, ast.Module | None]:
    """A cell as Python, and its syntax tree; None where there is none.

    What is Python already stays as it is: IPython reads a text again for each line that it changes.
    """
    text = source
    for way in (str, _transformed):
        text = way(source)
        try:
            return text, _tree(text)
        except (SyntaxError, ValueError):
            continue
        except (RecursionError, MemoryError):  # no change makes it less deep
            break
    return text, None


@lru_cache(maxsize=64)  # asked for each thing that went wrong in an answer
def without_comments(source: str) -> str:
    """Code without its comments; of what is no Python, such as half a bracket, without the lines that are comments.

    So it is with a text that has a line longer than anybody writes, too: from Python 3.12 on, each token costs as much
    as its line is long.
    """
    lines = source.splitlines()
    if "#" not in source:
        return "\n".join(lines) + "\n"
    try:
        if max(map(len, lines)) > _LONGEST_LINE:
            raise ValueError("a line too long to look at")
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
    if not magic_work(source):
        return source
    from IPython.core.inputtransformer2 import TransformerManager  # which takes its time, and few cells need it

    try:
        return str(TransformerManager().transform_cell(source))
    except Exception:  # the tokenizer has many ways to give up on a text that is no code
        return source


@lru_cache(maxsize=1024)  # most cells of a class are the lesson's own
def magic_work(source: str) -> int:
    """How many characters IPython may have to read to change this cell: all of it, once for each line of its own.

    None of what is Python as it stands: there, such a line is part of a text.
    """
    lines = sum(map(_is_magic, source.splitlines())) + source.lstrip("\n")[:1].isspace()
    return 0 if lines and _is_python(source) else lines * (len(source) + lines * len(_CALL))


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
    return bare.startswith(_SIGNS) or bare.endswith("?") or _ASSIGNED.search(bare) is not None
