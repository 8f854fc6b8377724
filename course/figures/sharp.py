"""A figure as notebooks show it: at twice the resolution, and with words for who cannot see it."""

from __future__ import annotations

import io

from IPython.display import display
from matplotlib.figure import Figure
from PIL import Image

from autograder.telling.markup import picture

_DOTS = 100  # to the inch, as wide as a page; drawn with twice as many


class Drawing(Figure):
    """A figure with an alternative text, which is its titles until somebody writes a better one."""

    alt = ""

    def words(self) -> str:
        """What the figure shows, in a sentence or two."""
        titles = [" ".join(ax.get_title(where).split()) for ax in self.axes for where in ("left", "center")]
        above = self.get_suptitle()
        return self.alt or "; ".join(filter(None, [above, *titles])) or "a figure"

    def _ipython_display_(self) -> None:
        png = self._png()
        width = int.from_bytes(png[16:20], "big") // 2  # where a PNG says how wide it is
        shown = picture(png, self.words(), width=width, style="max-width:100%;background:white")
        display({"text/html": shown, "text/plain": self.words()}, raw=True)

    def _png(self) -> bytes:
        """The picture in 256 colors, which no eye tells from all of them, in a third of the bytes."""
        drawn, kept = io.BytesIO(), io.BytesIO()
        self.savefig(drawn, format="png", dpi=2 * _DOTS, bbox_inches="tight", facecolor="white")
        colors = Image.open(drawn).convert("RGB").quantize(256, dither=Image.Dither.NONE)
        colors.save(kept, "png", optimize=True)
        return kept.getvalue()
