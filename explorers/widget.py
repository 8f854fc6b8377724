"""The base class of all explorers: a widget that shows a picture made in Python and reacts to the reader's choices."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict, Int, List, Unicode

from autograder.notebook.html_markup import Html, join, prose, tag
from explorers.animation import Animation
from explorers.controls import Control, Refused
from explorers.tensor_markup import still

STATIC = Path(__file__).parent / "static"
# JupyterLab may send the first choices to a kernel's main thread and later ones to another one. Side by side, one would
# lose what the other was about to show, so they come one after the other.
_TURN = threading.RLock()


def join_files(*names: str) -> str:
    """Return files of `static/` as one text, in this order; later ones may use names of earlier ones."""
    return "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


def script_module(*more: str) -> str:
    """Return the JavaScript module that every explorer has, followed by more files."""
    return join_files("moving.js", "explorer.js", *more)


class Explorer(anywidget.AnyWidget):
    """Shows `draw()` and the controls of `offer()`; what the reader does arrives at `choose`.

    A subclass keeps its state in attributes of its own, calls `super().__init__(title)` and, when its state stands,
    `show()`. What the page sends is checked against `offer()` before `choose` sees it.
    """

    _esm = script_module()
    _css: Path | str = STATIC / "explorer.css"
    _ipython_display_ = None  # ipywidgets 7 has one, which would come before the MIME bundle and leave out the picture

    title = Unicode().tag(sync=True)
    picture = Unicode().tag(sync=True)
    film = Dict().tag(sync=True)
    controls = List(Dict()).tag(sync=True)
    said = Unicode().tag(sync=True)
    heard = Int().tag(sync=True)  # counts the messages that were answered, so that the page knows of a silent kernel

    def __init__(self, title: str) -> None:
        super().__init__(title=title)
        self._offered: dict[str, Control] = {}
        self.on_msg(self._hear)

    @abstractmethod
    def draw(self) -> Html:
        """The picture of the present state."""

    @abstractmethod
    def offer(self) -> Sequence[Control]:
        """The controls, in the order in which they stand; parts of the picture among them."""

    @abstractmethod
    def tell(self) -> str:
        """The present state in one or two sentences: read aloud after each change, and shown where there is no HTML."""

    @abstractmethod
    def choose(self, name: str, value: Any) -> None:
        """Change the state: `value` is one that the control `name` can have. Raises Refused, the state unchanged."""

    def moving(self) -> Animation | None:
        """Return the film that is shown below the picture, if there is one."""
        return None

    def show(self, note: str = "") -> None:
        """Send the page what has changed; `note` is told above the picture."""
        with _TURN, self.hold_sync():
            offered, film = list(self.offer()), self.moving()
            self._offered = {control.name: control for control in offered}
            self.picture = join(tag("p", prose(note), class_="x-note") if note else Html(""), self.draw())
            self.film = {**film.data(), "picture": film.picture} if film else {}
            self.controls = [control.plain() for control in offered if control.kind != "part"]
            self.said = note or self.tell()

    def _hear(self, _: object, content: object, _buffers: object) -> None:
        """Answer a message from the page, whatever it holds."""
        with _TURN, self.hold_sync():
            try:
                self._apply(content)
            except Refused as error:
                self.show(note=str(error))
            except Exception as error:  # the reader's own model may raise anything; a page that stays silent is worse
                self.show(note=f"That could not be shown: {type(error).__name__}: {error}")
            self.heard += 1

    def _apply(self, content: object) -> None:
        name = content.get("choose") if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(name, str) or name not in self._offered:
            raise Refused("The page asked for something that is not here: run the cell again.")
        self.choose(name, self._offered[name].check(content.get("value")))
        self.show()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """The page asks, and sets nothing by itself."""

    # IPython calls it with what it would leave out and take in.
    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and for pages without a kernel the picture as HTML and the state in words."""
        bundle = super()._repr_mimebundle_()
        assert bundle is not None  # only a widget without a view has none
        data, metadata = bundle
        with _TURN:
            return {**data, "text/plain": f"{self.title}. {self.tell()}", "text/html": self.page()}, metadata

    def at_rest(self) -> Html:
        """Return the picture for a page that cannot react."""
        return still(self.draw())

    def page(self) -> Html:
        """The present picture as HTML that needs no kernel and no script, and can be read without its style."""
        style = tag("style", Html(join_files("explorer.css")))
        film = self.moving()
        moved = film.page() if film else Html("")
        shown = [moved, self.at_rest()] if film and film.is_first else [self.at_rest(), moved]
        return join(style, tag("div", tag("p", self.title, class_="x-title"), *shown, class_="explorer"))
