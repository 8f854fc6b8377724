"""Says that a check is still running, once it has taken two seconds; the check's result takes the place of the line."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import copy_context
from typing import Any
from uuid import uuid4

from IPython.display import display, update_display

from autograder.notebook.progress_log import folder_of_notebook, shell_of_reader

_AFTER = 2.0  # seconds
_NOTHING = {"text/plain": ""}


@contextmanager
def still_checking(name: str) -> Iterator[Callable[[object], None]]:
    """Say that `name` is being checked where the block takes longer; yields what shows the result in place of that.

    Nothing is said where no reader works: what nbval, papermill and nbgrader run has the same outputs each time.
    """
    line = _Line(f"Still checking `{name}` …")
    line.start()
    try:
        yield line.give_way
    finally:
        line.end()


class _Line:
    """The line: a display with a name, which another display of this name replaces, in the page and in its file.

    `clear_output` would take away what the cell has printed before; an emptied display would stay in the saved file.
    """

    def __init__(self, words: str) -> None:
        self._words, self._name, self._is_shown = words, uuid4().hex, False
        # Taken now: while an answer runs, what is displayed is kept back. The context says to which cell it belongs.
        self._page: Any = getattr(shell_of_reader(), "display_pub", None)
        self._clock = threading.Timer(_AFTER, copy_context().run, (self._show,))

    def start(self) -> None:
        """Begin to wait."""
        if self._page and folder_of_notebook() is not None:
            with suppress(RuntimeError):  # a Python without threads, in a browser: then nothing is said
                self._clock.start()

    def give_way(self, result: object) -> None:
        """Show a result: in place of the line, where it is shown."""
        self._stop()
        if self._is_shown:
            self._is_shown = False
            update_display(result, display_id=self._name)
        else:
            display(result)

    def end(self) -> None:
        """Take the line away where no result came."""
        self._stop()
        if self._is_shown:
            update_display(_NOTHING, raw=True, display_id=self._name)

    def _stop(self) -> None:
        self._clock.cancel()
        if self._clock.ident is not None:
            self._clock.join()

    def _show(self) -> None:
        self._page.publish({"text/plain": self._words}, transient={"display_id": self._name})
        self._is_shown = True
