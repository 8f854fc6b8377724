"""Compare a reader's prediction of a shape with torch's answer."""

from __future__ import annotations

from explorers.apply_operation import Exploration
from explorers.parse_typed_arguments import ArgumentError, parse_integers

EXPECTED_FORM_MESSAGE = "Write a shape, such as (3, 4) or (), or the word error."
PREDICTION_HOLDS = "Your prediction holds."


def judge_prediction(guess: str, found: Exploration) -> str:
    """Return a sentence that compares the reader's `guess` (a shape, `error`, or nothing) with what torch says."""
    if found.unread:
        return found.note
    actual = "an error" if found.shape is None else str(found.shape)
    if not guess.strip():
        return f"torch says {actual}."
    try:
        predicted = _shape(guess)
    except ArgumentError:
        return f"torch says {actual}. {guess.strip()!r} could not be compared with it. {EXPECTED_FORM_MESSAGE}"
    told = "an error" if predicted is None else str(predicted)
    ending = PREDICTION_HOLDS if predicted == found.shape else "Not what you expected? Read on."
    return f"You predicted {told}; torch says {actual}. {ending}"


def _shape(guess: str) -> tuple[int, ...] | None:
    """Parse `(3, 4)`, `3, 4`, `[3, 4]` or `torch.Size([3, 4])`; return None for `error`."""
    bare = guess.strip().lower().removeprefix("torch.size")
    if bare in ("error", "an error"):
        return None
    return tuple(parse_integers(bare.strip("()[] ")))
