"""What torch says in other words from version to version, in one wording: errors, and the text of a module.

What is shipped was seen with one torch, and answers run with another. Whoever makes a known mistake is to be known all
the same.
"""

from __future__ import annotations

import re

_WORDINGS = (
    # "output 0 of ExpBackward0" up to torch 2.12, "output 0 of Exp" in 2.13
    (re.compile(r"(?<=output )(\d+ of \w+?)Backward\d*\b"), r"\1"),
    # torch 2.13 says which one it is
    (re.compile(r"One of the differentiated Tensors|The differentiated Tensor at index \d+"), "What is differentiated"),
    # a long message is cut off somewhere in its hint: where, depends on the words before
    (re.compile(r" Hint: .*", re.DOTALL), ""),
    # a batch norm tells of its bias since torch 2.13
    (re.compile(r"(?<=affine=)(True|False), bias=(?:True|False)"), r"\1"),
)


def in_one_wording(text: str) -> str:
    """A text of torch's in the words that stand here for those of every version."""
    for pattern, words in _WORDINGS:
        text = pattern.sub(words, text)
    return text
