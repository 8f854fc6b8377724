"""Small pictures in rows, as `show_digits` shows them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from autograder.notebook.html_markup import Html, join, picture, tag

_WIDE, _LEAST, _MOST, _GAP = 940, 64, 150, 8  # pixels on the screen: of a row, of a small picture, between two
_FULL = 16.0  # the ink of a digit goes from 0 to this
_RED, _BLUE = np.array([178, 24, 43]), np.array([33, 102, 172])


class Pictures:
    """Small pictures in rows, with words below them, for pages light and dark; in plain text what they are."""

    def __init__(
        self, pictures: list[np.ndarray], says: list[str], is_: list[str], per_row: int, *, as_ink: bool = False
    ) -> None:
        self._pictures, self._says, self._is, self._per_row, self._as_ink = pictures, says, is_, per_row, as_ink
        alike: dict[Any, list[np.ndarray]] = {}
        for one in pictures:
            alike.setdefault(self._kind(one), []).append(one)
        self._scales = {kind: _scale(ones, self._signed(ones[0])) for kind, ones in alike.items()}
        for name, words in (("says", says), ("is_", is_)):
            if words and len(words) != len(pictures):
                raise ValueError(
                    f"expected {len(pictures)} entries in {name}, one for each picture; found {len(words)}"
                )

    def __repr__(self) -> str:
        sizes = sorted({f"{picture.shape[0]} by {picture.shape[1]}" for picture in self._pictures})
        told = [word for word in map(self._word, range(len(self._pictures))) if word]
        many = "1 picture" if len(self._pictures) == 1 else f"{len(self._pictures)} pictures"
        return f"{many} of {' and '.join(sizes)} numbers" + (f": {'; '.join(told)}" if told else "")

    def _repr_html_(self) -> str:
        cells = [self._cell(index) for index in range(len(self._pictures))]
        rows = [cells[start : start + self._per_row] for start in range(0, len(cells), self._per_row)]
        style = f"display:flex;gap:{_GAP}px;margin:6px 0;align-items:flex-start"
        return tag("div", *(tag("div", *row, style=style) for row in rows), role="group", aria_label=repr(self))

    def _signed(self, numbers: np.ndarray) -> bool:
        """Whether red and blue show it."""
        return not self._as_ink and _negative(numbers)

    def _kind(self, numbers: np.ndarray) -> tuple[tuple[int, ...], bool]:
        """Pictures of one kind share a scale: of one size, and shown in red and blue or not."""
        return numbers.shape, self._signed(numbers)

    def _width(self) -> str:
        """How wide a picture is on the screen: ten fill a row, one or two are large; a narrow page shrinks all."""
        many = max(min(self._per_row, len(self._pictures)), 1)
        side = max(_LEAST, min(_MOST, (_WIDE + _GAP) // many - _GAP))
        return f"flex:0 1 {side}px;min-width:0;max-width:calc((100% - {(many - 1) * _GAP}px) / {many})"

    def _cell(self, index: int) -> Html:
        numbers, word = self._pictures[index], self._word(index)
        share = numbers.shape[1] / max(numbers.shape)
        signed = self._signed(numbers)
        shown = picture(
            _png(numbers, self._scales[self._kind(numbers)], _RED if signed else np.zeros(3)),
            f"{word or f'picture {index + 1}'}: {_seen(numbers, signed)}",
            style=f"width:{share:.0%};box-sizing:border-box;image-rendering:pixelated;border:1px solid #888;margin:0;"
            "max-width:none;display:block",
        )
        caption = tag("div", word, style="font-size:12px;line-height:1.3;text-align:center")
        return tag("div", shown, caption if self._says or self._is else join(), style=self._width())

    def _word(self, index: int) -> str:
        says = self._says[index] if self._says else ""
        truth = self._is[index] if self._is else ""
        if says and truth:
            return f"{says} \u2713" if says == truth else f"{says} \u2717 is {truth}"
        return says or truth


def apart(pictures: Any) -> list[np.ndarray]:
    """The pictures one by one, each (h, w)."""
    if isinstance(pictures, list | tuple):
        return [one for picture in pictures for one in apart(picture)]
    numbers = torch.as_tensor(pictures).detach().cpu().to(torch.float64).numpy()
    if numbers.shape[-1] == 64 and numbers.ndim < 3:
        numbers = numbers.reshape(-1, 8, 8)
    if numbers.ndim == 4 and numbers.shape[1] == 1:  # as a convolution wants them
        numbers = numbers[:, 0]
    if numbers.ndim not in (2, 3):
        raise ValueError(f"expected pictures of shape (h, w), (n, h, w) or (n, 64), found {tuple(numbers.shape)}")
    return list(numbers.reshape(-1, *numbers.shape[-2:]))


def words(said: Sequence[Any] | Tensor | None) -> list[str]:
    """What is said of the pictures, one string for each; none where nothing is."""
    return [] if said is None else [str(word) for word in (said.tolist() if isinstance(said, Tensor) else said)]


def _negative(picture: np.ndarray) -> bool:
    return bool((picture < 0).any())


def _scale(alike: list[np.ndarray], signed: bool) -> float:
    """The largest number of pictures of one kind, and at least full ink where they are shown as ink.

    Pixels from 0 to 1 are a usual scale too; on that of the digits they would all be white.
    """
    largest = max(float(np.nanmax(np.abs(picture), initial=0.0)) for picture in alike)
    if signed:
        return largest or 1.0
    in_shares = largest <= 1 or any(_negative(picture) for picture in alike)  # digits changed by a descent
    return max(largest, 1.0 if in_shares else _FULL)


def _seen(picture: np.ndarray, signed: bool) -> str:
    """What a picture shows, for who cannot see it."""
    kind = "dark where there is ink"
    if signed or _negative(picture):
        kind = f"{'red where positive' if signed else kind}, blue where negative"
    return f"{picture.shape[0]} by {picture.shape[1]} numbers, {kind}"


def _png(numbers: np.ndarray, scale: float, above: np.ndarray) -> bytes:
    """A picture's numbers as pixels, from white to the color `above` for those above 0, to blue for those below."""
    from matplotlib.image import imsave  # not needed where a lesson is only graded

    share = np.nan_to_num(np.clip(np.abs(numbers) / scale, 0, 1))[..., None]
    full = np.where(numbers[..., None] < 0, _BLUE, above)
    colors = (255 + (full - 255) * share).round().astype(np.uint8)
    file = io.BytesIO()
    imsave(file, colors, format="png")
    return file.getvalue()
