"""The drawing pad in a notebook: draw a digit, and see live what a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from autograder.telling.markup import Html, join, tag
from explorers.controls import Control, Refused
from explorers.pad import BRUSHES, SIDE, Pad, PenStroke, Surface, drawing_of
from explorers.pad_picture import Sample, in_words, pad_picture, still_picture
from explorers.pad_reading import DIGITS, Predict, Prepare, blocks, read
from explorers.strokes import sample
from explorers.widget import STATIC, Explorer

UNKNOWN = "?"
HOW = "With mouse, finger or pen; or with the arrow keys: Space puts the pen down and lifts it."

Labeled = tuple[Tensor, Tensor]


class DigitPad(Explorer):
    """The widget; `digit_pad` makes one."""

    # One module for the page: the pad's part comes after what all explorers share, and uses it.
    _esm = "\n".join((STATIC / name).read_text(encoding="utf-8") for name in ("explorer.js", "pad.js"))

    def __init__(self, predict: Predict, prepare: Prepare | None, samples: Labeled) -> None:
        super().__init__("Drawing pad")
        self._predict, self._prepare, self._samples = predict, prepare or blocks, samples
        self._pad, self._brush, self._digit = Pad(), "medium", UNKNOWN
        self._is_growing, self._is_still, self._news = False, False, ""
        self._reading = read(self.drawing, self._predict, self._prepare)
        self.show()

    @property
    def drawing(self) -> Tensor:
        """What stands on the pad, a float tensor (32, 32): 1 where there is ink, 0 elsewhere."""
        return drawing_of(self._pad.strokes)

    @property
    def kept(self) -> Labeled:
        """The saved drawings, floats (n, 32, 32), and the digits that they are, int64 (n,)."""
        drawings = [drawing_of(each.strokes) for each in self._pad.kept]
        labels = torch.tensor([each.digit for each in self._pad.kept], dtype=torch.int64)
        return torch.stack(drawings) if drawings else torch.zeros(0, SIDE, SIDE), labels

    def use(self, predict: Predict, prepare: Prepare | None = None) -> DigitPad:
        """Read with another function from now on; what is drawn and kept stays. Returns the pad itself."""
        _callables(predict, prepare)
        self._predict, self._prepare = predict, prepare or blocks
        self._look("")
        self.show()
        return self

    def _look(self, news: str) -> None:
        """Read the drawing as it is now."""
        self._news = news
        self._reading = read(self.drawing, self._predict, self._prepare)

    # --- what the page shows

    def draw(self) -> Html:
        """What the model sees and says; where nobody can draw, also of drawings that somebody else made."""
        if self._is_still:
            samples = zip(*self._samples, strict=True)
            read_samples = [
                Sample(drawing, int(digit), read(drawing, self._predict, self._prepare)) for drawing, digit in samples
            ]
            return still_picture(self.drawing, self._reading, self._shown(), read_samples)
        news = tag("p", self._news, class_="x-right") if self._news else Html("")
        return join(news, pad_picture(self.drawing, self._reading, self._shown()))

    def page(self) -> Html:
        """The still picture, with sample drawings."""
        self._is_still = True
        try:
            return super().page()
        finally:
            self._is_still = False

    def _shown(self) -> list[tuple[Tensor, int]]:
        return [(drawing_of(each.strokes), each.digit) for each in self._pad.kept]

    def tell(self) -> str:
        """What the model reads; while a stroke is being drawn, only that: it would be read aloud all the time."""
        if self._is_growing:
            return "Drawing."
        return f"{self._news} {in_words(self._reading)}".strip()

    def offer(self) -> Sequence[Control]:
        """The pad, then what can be done with it."""
        digits = (UNKNOWN, *map(str, range(DIGITS)))
        back = [Control("button", "back", "Take the last one back")] if self._pad.kept else []
        surface = Surface(
            "strokes", "draw", "Draw a digit", hint=HOW, strokes=self._pad.strokes, width=BRUSHES[self._brush]
        )
        return [
            surface,
            Control("choice", "brush", "Brush", self._brush, tuple(BRUSHES)),
            Control("button", "undo", "Undo"),
            Control("button", "clear", "Clear"),
            Control("choice", "digit", "This is a", self._digit, digits),
            Control("button", "save", "Save this drawing"),
            *back,
        ]

    # --- what the reader does

    def choose(self, name: str, value: Any) -> None:
        """Draw, undo, clear, save; the drawing is read after each."""
        if name == "brush":
            self._brush = value
        elif name == "digit":
            self._digit = value
        elif name == "draw":
            self._draw(*value)
        else:
            news = {"undo": self._undo, "clear": self._clear, "save": self._save, "back": self._take_back}[name]()
            self._is_growing = False
            self._look(news)

    def _draw(self, stroke: PenStroke, ended: bool) -> None:
        self._pad = self._pad.drawn(stroke)
        self._is_growing = not ended
        self._look("")

    def _undo(self) -> str:
        self._pad = self._pad.undone()
        return ""

    def _clear(self) -> str:
        self._pad = self._pad.emptied()
        return ""

    def _save(self) -> str:
        if not self._reading.asked:
            raise Refused(self._reading.told)
        if self._digit == UNKNOWN:
            raise Refused("Choose which digit it is, then save it: a model learns from the label too.")
        saved = self._digit
        self._pad = self._pad.saved(int(saved))
        self._digit = UNKNOWN
        return f"Kept as {'an' if saved == '8' else 'a'} {saved}. The pad is free for the next one."

    def _take_back(self) -> str:
        last = self._pad.kept[-1:]
        self._pad = self._pad.taken_back()
        self._digit = str(last[0].digit)
        return "The drawing that was kept last is on the pad again, and no longer kept."


def digit_pad(predict: Predict, prepare: Prepare | None = None, samples: Labeled | None = None) -> DigitPad:
    """Draw a digit with mouse, finger or keys, and see live what `predict` reads.

    `predict` takes what the model sees, a float tensor (8, 8), and returns ten numbers, as a tensor or a list. Ten
    numbers that are not negative and sum to 1 are shown as they are; else the bars show the softmax of them.
    `prepare` makes (8, 8) of the drawing, a float tensor (32, 32) of 0 and 1; without one, the black pixels of each
    block of 4 x 4 are counted, 0 to 16: `drawing.reshape(8, 4, 8, 4).sum((1, 3))`.
    `samples`, drawings (n, 32, 32) and their digits (n,), stand in the picture for a page where nobody can draw;
    without them, ten that a program drew.

    `pad.drawing` is the present drawing, `pad.kept` are those that were saved, and their digits; `pad.use(predict,
    prepare)` lets another function read the same pad.
    Raises TypeError or ValueError for what is no function, or no drawings.
    """
    _callables(predict, prepare)
    return DigitPad(predict, prepare, _ten_samples() if samples is None else _labeled(samples))


def _callables(predict: object, prepare: object) -> None:
    if not callable(predict):
        raise TypeError(f"expected a function from an (8, 8) tensor to ten numbers, found {type(predict).__name__}.")
    if prepare is not None and not callable(prepare):
        raise TypeError(f"expected a function from a (32, 32) tensor to an (8, 8) one, found {type(prepare).__name__}.")


def _ten_samples() -> Labeled:
    return torch.stack([sample(digit) for digit in range(DIGITS)]), torch.arange(DIGITS)


def _labeled(samples: Labeled) -> Labeled:
    expected = "expected samples as (drawings, labels), tensors of the shapes (n, 32, 32) and (n,)"
    if not isinstance(samples, tuple) or len(samples) != 2 or not all(isinstance(each, Tensor) for each in samples):
        raise TypeError(f"{expected}, found {type(samples).__name__}.")
    drawings, labels = samples
    if drawings.shape != (len(labels), SIDE, SIDE) or labels.ndim != 1 or labels.is_floating_point():
        raise ValueError(f"{expected}, found {tuple(drawings.shape)} and {tuple(labels.shape)}, {labels.dtype}.")
    return drawings.detach().float(), labels
