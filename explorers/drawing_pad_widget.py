"""The widget of the drawing pad: draw a digit, and see at once what a model reads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from explorers import saved_drawings_file
from explorers.drawing_pad_rendering import (
    MOST_SHOWN,
    LabeledDrawing,
    PadStage,
    count_right,
    pads_side_by_side,
    prediction_in_words,
    prediction_picture,
    samples_picture,
)
from explorers.drawing_pad_state import BRUSHES, SIDE, DrawingCanvas, KeptDrawing, Pad, rasterize_strokes
from explorers.explorer_base_widget import Explorer, script_module
from explorers.explorer_controls import Control, InvalidChoice
from explorers.explorer_markup import static_picture
from explorers.run_model_on_drawing import DIGITS, Predict, Prepare, predict_drawing, shrink_to_8x8
from explorers.synthetic_digits import drawn_digits

UNKNOWN = "?"
HOW = "With mouse, finger or pen; or with the arrow keys: Space puts the pen down and lifts it."

MOST_PADS = 6  # pads that share a drawing; each runs its model on every stroke
# What the first of several pads says where it reads all saved drawings, so that the reader sees it fail too.
HARDER = "Now draw one small, up in a corner."

Labeled = tuple[Tensor, Tensor]


@dataclass
class SharedPadState:
    """The state that several pads share: drawing, saved drawings, choices.

    `earlier` are the drawings in the file, from earlier kernels.
    """

    pad: Pad = field(default_factory=Pad)
    brush: str = "medium"
    digit: str = UNKNOWN
    is_growing: bool = False
    news: str = ""
    earlier: tuple[KeptDrawing, ...] = ()
    pads: list[DigitPad] = field(default_factory=list)

    @property
    def stages(self) -> list[DigitPad]:
        """Return the pads with a name, in the order in which the names were first used; for each name the latest."""
        return list({pad.stage: pad for pad in self.pads if pad.stage}.values())

    @property
    def offered(self) -> int:
        """Return the number of earlier drawings that are not saved here."""
        return len({each.key for each in self.earlier} - {each.key for each in self.pad.kept})

    def bring_back(self) -> None:
        """Save the earlier drawings here too."""
        before = len(self.pad.kept)
        self.pad = self.pad.brought_back(self.earlier)
        count = len(self.pad.kept) - before
        self.news = f"{_drawings(count)} of an earlier day {'is' if count == 1 else 'are'} in `pad.kept` again."


class DigitPad(Explorer):
    """The widget that `digit_pad` returns."""

    _esm = script_module("pad.js")

    def __init__(
        self, predict: Predict, prepare: Prepare | None, samples: Labeled, paper: SharedPadState, stage: str = ""
    ) -> None:
        super().__init__("Drawing pad" + (f": {stage}" if stage else ""))
        self._predict, self._prepare, self._samples = predict, prepare or shrink_to_8x8, samples
        self._paper, self.stage = paper, stage
        paper.pads = [*paper.pads[1 - MOST_PADS :], self]
        for pad in paper.stages if stage else [self]:
            pad._read()
            pad._read_kept()
        self.show()

    @property
    def drawing(self) -> Tensor:
        """Return the drawing as a float tensor (32, 32): 1 where there is ink, 0 elsewhere."""
        return rasterize_strokes(self._paper.pad.strokes)

    @property
    def kept(self) -> Labeled:
        """Return the saved drawings, floats (n, 32, 32), and their digits, int64 (n,)."""
        drawings = [rasterize_strokes(each.strokes) for each in self._paper.pad.kept]
        labels = torch.tensor([each.digit for each in self._paper.pad.kept], dtype=torch.int64)
        return torch.stack(drawings) if drawings else torch.zeros(0, SIDE, SIDE), labels

    def use(self, predict: Predict, prepare: Prepare | None = None, name: str = "") -> DigitPad:
        """Return a second pad for the same drawing with another function; both show every stroke.

        Each pad keeps its own function, and `kept` is the same for both. Pads with a `name` are shown side by side.
        """
        _callables(predict, prepare, name)
        return DigitPad(predict, prepare, self._samples, self._paper, name)

    def _read(self) -> None:
        """Run the model on the present drawing."""
        self._reading = predict_drawing(self.drawing, self._predict, self._prepare)

    def _read_kept(self) -> None:
        """Run the model on the latest saved drawings; it may have learned since it last read them."""
        self._kept_read = self._read_all(
            (rasterize_strokes(each.strokes), each.digit) for each in self._paper.pad.kept[-MOST_SHOWN:]
        )

    def _read_all(self, drawings: Iterable[tuple[Tensor, int]]) -> list[LabeledDrawing]:
        return [
            LabeledDrawing(drawing, digit, predict_drawing(drawing, self._predict, self._prepare))
            for drawing, digit in drawings
        ]

    # --- what the page shows

    def draw(self) -> Html:
        """Return the model's input and answer, the saved drawings, and the named pads side by side."""
        news = tag("p", sentence_to_html(self._paper.news), class_="x-right") if self._paper.news else Html("")
        stages = [PadStage(pad.stage, pad._reading, count_right(pad._kept_read)) for pad in self._paper.stages]
        is_compared = len(stages) > 1 and any(stage.reading.asked or stage.count for stage in stages)
        beside = pads_side_by_side(stages) if is_compared else Html("")
        picture = prediction_picture(self.drawing, self._reading, self._kept_read, self._told_of_kept())
        return join(news, picture, beside)

    def at_rest(self) -> Html:
        """Return the picture for a page without a kernel: the drawing, if there is one, and sample drawings."""
        samples = [(drawing, int(digit)) for drawing, digit in zip(*self._samples, strict=True)]
        stages = [PadStage(pad.stage, pad._reading, count_right(pad._read_all(samples))) for pad in self._paper.stages]
        own = static_picture(self.draw()) if self.drawing.any() or self._paper.pad.kept else Html("")
        return join(own, samples_picture(self._read_all(samples), stages if len(stages) > 1 else ()))

    def _told_of_kept(self) -> str:
        """Return where the saved drawings are, how many of them the model reads, and what to draw next."""
        kept, shown = len(self._paper.pad.kept), len(self._kept_read)
        if not kept:
            return ""
        last = f", the last {shown} of them below" if kept > shown else ""
        count = f"{kept} drawing{'' if kept == 1 else 's'}"
        return f"Kept in `pad.kept`: {count}{last}. {self._count()}".strip()

    def _count(self) -> str:
        count = count_right(self._kept_read)
        is_first = self is (self._paper.stages or self._paper.pads)[0]
        is_all = all(each.reading.digit == each.digit for each in self._kept_read)
        harder = HARDER if is_first and is_all and len(self._kept_read) >= DIGITS else ""
        return f"{count}. {harder}".strip() if count else ""

    def tell(self) -> str:
        """Return the model's answer in words, or "Drawing." during a stroke.

        A screen reader reads every change aloud, which would never stop during a stroke.
        """
        if self._paper.is_growing:
            return "Drawing."
        count = self._count() if self._paper.news else ""
        return " ".join(filter(None, (self._paper.news, count, prediction_in_words(self._reading))))

    def offer(self) -> Sequence[Control]:
        """Return the drawing surface, then the other controls."""
        paper, digits = self._paper, (UNKNOWN, *map(str, range(DIGITS)))
        back = [Control("button", "back", "Take the last one back")] if paper.pad.kept else []
        again = [Control("button", "again", f"Bring back {_drawings(paper.offered)}")] if paper.offered else []
        strokes, width = paper.pad.strokes, BRUSHES[paper.brush]
        return [
            DrawingCanvas("strokes", "draw", "Draw a digit", hint=HOW, strokes=strokes, width=width),
            Control("choice", "brush", "Brush", paper.brush, tuple(BRUSHES)),
            Control("button", "undo", "Undo"),
            Control("button", "clear", "Clear"),
            Control("choice", "digit", "This is a", paper.digit, digits),
            Control("button", "save", "Save this drawing"),
            *back,
            *again,
        ]

    # --- what the reader does

    def choose(self, name: str, value: Any) -> None:
        """Draw, undo, clear, save, and run the models; the other pads of the drawing follow when a stroke ends."""
        paper = self._paper
        if name == "brush":
            paper.brush = value
        elif name == "digit":
            paper.digit = value
        elif name == "draw":
            stroke, ended = value
            paper.pad, paper.is_growing, paper.news = paper.pad.drawn(stroke), not ended, ""
        else:
            doing = {"undo": self._undo, "clear": self._clear, "save": self._save}
            (doing | {"back": self._take_back, "again": paper.bring_back})[name]()
            paper.is_growing = False
        self._follow(is_kept_changed=name in ("save", "back", "again"))

    def _follow(self, *, is_kept_changed: bool) -> None:
        """Run the models of the pads that show the drawing, and show what they say."""
        paper = self._paper
        beside = [pad for pad in (paper.stages if paper.is_growing else paper.pads) if pad is not self]
        for pad in (self, *beside):
            pad._read()
            if is_kept_changed:
                pad._read_kept()
        self.show()
        for pad in beside if not paper.is_growing else ():
            pad.show()

    def _undo(self) -> None:
        self._paper.pad, self._paper.news = self._paper.pad.undone(), ""

    def _clear(self) -> None:
        self._paper.pad, self._paper.news = self._paper.pad.emptied(), ""

    def _save(self) -> None:
        paper = self._paper
        if not self._reading.asked:
            raise InvalidChoice(self._reading.told)
        if paper.digit == UNKNOWN:
            raise InvalidChoice("Choose which digit it is, then save it: a model learns from the label too.")
        paper.pad = paper.pad.saved(int(paper.digit))
        kept = f"Kept as {'an' if paper.digit == '8' else 'a'} {paper.digit}. The pad is free for the next one."
        paper.digit = UNKNOWN
        paper.news = f"{kept} {saved_drawings_file.save_drawing(paper.pad.kept[-1])}".strip()

    def _take_back(self) -> None:
        paper, last = self._paper, self._paper.pad.kept[-1:]
        paper.pad = paper.pad.taken_back()
        paper.digit = str(last[0].digit)
        paper.earlier = tuple(each for each in paper.earlier if each.key != last[0].key)
        told = "The drawing that was kept last is on the pad again, and no longer kept."
        paper.news = f"{told} {saved_drawings_file.record_removed_drawing(last[0])}".strip()


def _drawings(count: int) -> str:
    return f"{count} saved drawing{'' if count == 1 else 's'}"


def digit_pad(
    predict: Predict, prepare: Prepare | None = None, samples: Labeled | None = None, name: str = ""
) -> DigitPad:
    """Draw a digit with mouse, finger or keys, and see live what `predict` answers.

    `predict` takes the model's input, a float tensor (8, 8), and returns ten numbers, as a tensor or a list. Ten
    numbers that are not negative and sum to 1 are shown as they are; for others, the bars show their softmax. `prepare`
    turns the drawing, a float tensor (32, 32) of 0 and 1, into (8, 8). The default counts the black pixels of each
    block of 4 x 4, 0 to 16: `drawing.reshape(8, 4, 8, 4).sum((1, 3))`. `samples`, drawings (n, 32, 32) and their digits
    (n,), appear on a page without a kernel, where nobody can draw; the default is ten synthetic drawings.

    `pad.drawing` is the present drawing, `pad.kept` are the saved drawings and their digits. A file beside the notebook
    holds them too, and the next pad offers to bring them back. The pad counts how many of the latest the model reads.
    `pad.use(predict, prepare)` returns a second pad for the same drawing with another function; pads with a `name` are
    shown side by side. Raises TypeError or ValueError for what is no function, no drawings, or no name.
    """
    _callables(predict, prepare, name)
    chosen = _ten_samples() if samples is None else _labeled(samples)
    earlier, trouble = saved_drawings_file.saved_drawings()
    pad = DigitPad(predict, prepare, chosen, SharedPadState(earlier=earlier), name)
    if trouble:
        pad.show(note=trouble)
    return pad


def _callables(predict: object, prepare: object, name: object) -> None:
    if not callable(predict):
        raise TypeError(f"expected a function from an (8, 8) tensor to ten numbers, found {type(predict).__name__}.")
    if prepare is not None and not callable(prepare):
        raise TypeError(f"expected a function from a (32, 32) tensor to an (8, 8) one, found {type(prepare).__name__}.")
    if not isinstance(name, str):
        raise TypeError(f"expected a name for the pad, a string, found {type(name).__name__}.")


def _ten_samples() -> Labeled:
    """Return one synthetic drawing of each digit, about as hard for a model as the reader's own."""
    drawings, labels = drawn_digits(DIGITS, seed=0)
    return drawings[labels.argsort()], torch.arange(DIGITS)


def _labeled(samples: Labeled) -> Labeled:
    expected = "expected samples as (drawings, labels), tensors of the shapes (n, 32, 32) and (n,)"
    if not isinstance(samples, tuple) or len(samples) != 2 or not all(isinstance(each, Tensor) for each in samples):
        raise TypeError(f"{expected}, found {type(samples).__name__}.")
    drawings, labels = samples
    if drawings.shape != (len(labels), SIDE, SIDE) or labels.ndim != 1 or labels.is_floating_point():
        raise ValueError(f"{expected}, found {tuple(drawings.shape)} and {tuple(labels.shape)}, {labels.dtype}.")
    return drawings.detach().float(), labels
