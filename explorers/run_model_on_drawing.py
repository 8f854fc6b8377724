"""Run the reader's model on a drawing: its 8 x 8 input and its ten class probabilities, or an error message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

SMALL = 5  # pixels: a drawing that is no larger is a dot
SEEN = (8, 8)
DIGITS = 10
EMPTY = "Nothing is drawn yet. Draw a digit, and the model reads it while you draw."
DOT = "So far this is a dot, too small to be a digit. Draw on."

Prepare = Callable[[Tensor], Any]
Predict = Callable[[Tensor], Any]


@dataclass(frozen=True)
class DigitPrediction:
    """The result of running a model on a drawing, or a sentence that says why there is none.

    `seen` are the 8 x 8 numbers that went into the model; `shares` are ten numbers, each digit's share of 1. Each is
    empty if an error came before it. `told` is one sentence: why the model was not run (then `asked` is False), or what
    went wrong; "" if all is well. `by_softmax` is True if the model's output was no probabilities, and `shares` is its
    softmax.
    """

    seen: tuple[tuple[float, ...], ...] = ()
    shares: tuple[float, ...] = ()
    by_softmax: bool = False
    told: str = ""
    asked: bool = True

    @property
    def digit(self) -> int | None:
        """Return the digit with the largest share, the first if several are equal; None without shares."""
        return self.shares.index(max(self.shares)) if self.shares else None


class _Amiss(ValueError):
    """Raised when the reader's function returns something unusable; the message is one sentence."""


def shrink_to_8x8(drawing: Tensor) -> Tensor:
    """Return the drawing shrunk to (8, 8): the number of black pixels in each block of 4 x 4."""
    return drawing.reshape(8, 4, 8, 4).sum((1, 3))


def predict_drawing(drawing: Tensor, predict: Predict, prepare: Prepare = shrink_to_8x8) -> DigitPrediction:
    """Run `predict` on a drawing (32, 32). Its errors become sentences; the notebook's random state is kept."""
    extent = max((int(places.max() - places.min()) + 1 for places in drawing.nonzero().T if len(places)), default=0)
    if extent <= SMALL:
        return DigitPrediction(told=DOT if extent else EMPTY, asked=False)
    seen = None
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        try:
            seen = _seen(_asked("prepare", prepare, drawing))
            shares, by_softmax = _shares(_asked("predict", predict, seen))
        except _Amiss as error:
            return DigitPrediction(seen=_rows(seen), told=str(error))
    return DigitPrediction(_rows(seen), shares, by_softmax)


def _asked(name: str, function: Callable[[Tensor], Any], given: Tensor) -> Any:
    """Call a function of the reader's with a copy of its argument, and return the result."""
    try:
        return function(given.clone())
    except Exception as error:  # the reader's function may raise anything, and the drawing must not be lost
        raise _Amiss(f"`{name}` stopped with {type(error).__name__}: {_line(error)}") from error


def _line(error: Exception) -> str:
    """Return an error's message on one line, shortened."""
    text = " ".join(str(error).split()) or "no message"
    return text if len(text) <= 200 else f"{text[:200]} …"


def _seen(found: Any) -> Tensor:
    if not isinstance(found, Tensor):
        raise _Amiss(f"`prepare` must return a tensor of the shape (8, 8); it returned {_kind(found)}.")
    if found.shape != SEEN:
        raise _Amiss(f"`prepare` must return the shape (8, 8); it returned {tuple(found.shape)}.")
    if found.is_complex() or not found.isfinite().all():
        raise _Amiss("`prepare` must return 64 numbers; it returned some that are nan, infinite or complex.")
    return found.detach()


def _shares(found: Any) -> tuple[tuple[float, ...], bool]:
    """Return the numbers if they can be probabilities, else their softmax; and whether softmax was applied."""
    values = _ten(found)
    if bool((values >= 0).all()) and abs(float(values.sum()) - 1) < 1e-3:
        return tuple(values.tolist()), False
    shares = values.softmax(0)
    if not shares.isfinite().all():
        places = (values.isnan() | values.isposinf()).nonzero().flatten().tolist() or range(DIGITS)
        where = ", ".join(map(str, places))
        raise _Amiss(f"`predict` must return ten numbers; it returned nan or infinity for {where}.")
    return tuple(shares.tolist()), True


def _ten(found: Any) -> Tensor:
    try:
        values = found if isinstance(found, Tensor) else torch.as_tensor(found)
    except Exception:
        raise _Amiss(f"`predict` must return ten numbers; it returned {_kind(found)}.") from None
    if values.shape != (DIGITS,):
        hint = " Take its only row: `[0]`." if values.shape == (1, DIGITS) else ""
        raise _Amiss(f"`predict` must return ten numbers, the shape (10,); it returned {tuple(values.shape)}.{hint}")
    if values.is_complex() or values.is_meta:
        raise _Amiss(f"`predict` must return ten numbers; it returned {values.dtype} on {values.device}.")
    return values.detach().to("cpu", torch.float64)


def _kind(found: Any) -> str:
    return "None" if found is None else f"a {type(found).__name__}"


def _rows(seen: Tensor | None) -> tuple[tuple[float, ...], ...]:
    return () if seen is None else tuple(tuple(row) for row in seen.tolist())
