"""The base class of all explorers: a widget that shows a picture made in Python and reacts to choices."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
from traitlets import Dict, Int, List, Unicode

from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from explorers.explorer_controls import Control, InvalidChoice
from explorers.explorer_markup import static_picture
from explorers.recorded_animation import Film

STATIC = Path(__file__).parent / "static"
# JupyterLab may deliver the first choices in a kernel's main thread and later ones in another one. Without a lock, one
# choice would overwrite the state that the other is about to show.
_TURN = threading.RLock()


def join_files(*names: str) -> str:
    """Return files of `static/` as one text, in this order; later ones may use names of earlier ones."""
    return "\n".join((STATIC / name).read_text(encoding="utf-8") for name in names)


def script_module(*more: str) -> str:
    """Return the JavaScript module that every explorer has, followed by more files."""
    return join_files("moving.js", "explorer.js", *more)


class Explorer(anywidget.AnyWidget):
    """Shows `draw()` and the controls of `offer()`; the reader's choices arrive at `choose`.

    A subclass calls `super().__init__(title)`, sets its own state and then calls `show()`. What the page sends is
    checked against `offer()` before `choose` gets it.
    """

    _esm = script_module()
    _css: Path | str = STATIC / "explorer.css"
    _ipython_display_ = None  # the method of ipywidgets 7 takes precedence over the MIME bundle, and has no picture

    title = Unicode().tag(sync=True)
    picture = Unicode().tag(sync=True)
    film = Dict().tag(sync=True)
    controls = List(Dict()).tag(sync=True)
    said = Unicode().tag(sync=True)
    heard = Int().tag(sync=True)  # counts answered messages, so that the page can detect a dead kernel

    def __init__(self, title: str) -> None:
        super().__init__(title=title)
        self._offered: dict[str, Control] = {}
        self.on_msg(self._hear)

    @abstractmethod
    def draw(self) -> Html:
        """Return the picture of the present state."""

    @abstractmethod
    def offer(self) -> Sequence[Control]:
        """Return the controls in the order of the page, and the parts of the picture."""

    @abstractmethod
    def tell(self) -> str:
        """Return the present state in one or two sentences.

        Screen readers read it aloud after each change, and it replaces the widget where HTML cannot be shown.
        """

    @abstractmethod
    def choose(self, name: str, value: Any) -> None:
        """Change the state; `value` is one that the control `name` can have.

        Raises Refused, without changing the state.
        """

    def moving(self) -> Film | None:
        """Return the film beside the picture, or None."""
        return None

    def show(self, note: str = "") -> None:
        """Send the page everything that changed; `note` appears above the picture."""
        with _TURN, self.hold_sync():
            offered, film = list(self.offer()), self.moving()
            self._offered = {control.name: control for control in offered}
            self.picture = join(tag("p", sentence_to_html(note), class_="x-note") if note else Html(""), self.draw())
            self.film = {**film.data(), "picture": film.picture} if film else {}
            self.controls = [control.plain() for control in offered if control.kind != "part"]
            self.said = note or self.tell()

    def _hear(self, _: object, content: object, _buffers: object) -> None:
        """Answer a message from the page, even an invalid one."""
        with _TURN, self.hold_sync():
            try:
                self._apply(content)
            except InvalidChoice as error:
                self.show(note=str(error))
            except Exception as error:  # the reader's own model may raise anything, and the page must not stay silent
                self.show(note=f"That could not be shown: {type(error).__name__}: {error}")
            self.heard += 1

    def _apply(self, content: object) -> None:
        name = content.get("choose") if isinstance(content, dict) else None
        if not isinstance(content, dict) or not isinstance(name, str) or name not in self._offered:
            raise InvalidChoice("The page asked for something that is not here: run the cell again.")
        self.choose(name, self._offered[name].check(content.get("value")))
        self.show()

    def set_state(self, sync_data: dict[str, Any]) -> None:
        """Ignore the page's state: the page sends messages, and never sets a value itself."""

    # IPython calls it with `include` and `exclude`.
    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the widget, and for pages without a kernel the picture as HTML and the state in words."""
        bundle = super()._repr_mimebundle_()
        assert bundle is not None  # None only for a widget without a view
        data, metadata = bundle
        with _TURN:
            return {**data, "text/plain": f"{self.title}. {self.tell()}", "text/html": self.page()}, metadata

    def at_rest(self) -> Html:
        """Return the picture for a page that cannot react."""
        return static_picture(self.draw())

    def page(self) -> Html:
        """Return the present picture as HTML that needs no kernel and no script, and is readable without its style."""
        style = tag("style", Html(join_files("explorer.css")))
        film = self.moving()
        moved = film.page() if film else Html("")
        shown = [moved, self.at_rest()] if film and film.is_first else [self.at_rest(), moved]
        return join(style, tag("div", tag("p", self.title, class_="x-title"), *shown, class_="explorer"))
