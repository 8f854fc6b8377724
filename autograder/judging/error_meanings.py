"""What an error means, in a beginner's words: torch's own message names a place, and seldom the idea behind it.

Each of these sentences is true of every program that the message stops, whatever else is wrong with it.
"""

from __future__ import annotations

import re

_MEANINGS = (
    (
        r"element 0 of tensors does not require grad",
        "Nothing behind what is differentiated there requires grad: what comes in need not, and `detach`, `no_grad` or "
        "`item` cuts a graph off.",
    ),
    (
        r"One of the differentiated Tensors does not require grad",
        "A gradient is asked for with respect to a tensor that does not require grad.",
    ),
    (
        r"One of the differentiated Tensors appears to not have been used",
        "What is differentiated there was not computed from that very tensor: a copy or a part of it is another one.",
    ),
    (
        r"grad can be implicitly created only for scalar outputs",
        "A gradient starts from one number, and here there are several: say which number of them is meant.",
    ),
    (
        r"backward through the graph a second time",
        "That graph has been gone back through already, and has let go of what it had saved.",
    ),
    (
        r"leaf Variable that requires grad is being used in an in-place operation",
        "A leaf that requires grad may be changed in place only where no graph is built.",
    ),
    (
        r"modified by an inplace operation",
        "Something was changed in place that a node had saved for the way back.",
    ),
    (
        r"must match the size of tensor b",
        "Two shapes meet that do not fit: write them one below the other, with their right ends together.",
    ),
    (
        r"\bNoneType\b",
        "Something there is None, as a `.grad` is before the first backward and for a tensor that is no leaf, or the "
        "result of a function without `return`.",
    ),
)


def meaning(message: str) -> str:
    """What the message of an error means; "" where nothing is known of it."""
    return next((sentence for pattern, sentence in _MEANINGS if re.search(pattern, message)), "")
