"""Display a line while a check takes longer than two seconds; the result of the check replaces it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from typing import Any
from uuid import uuid4

from IPython.display import display, update_display

from autograder.can_start_threads import join_thread, start_thread
from autograder.notebook.progress_log import interactive_notebook_shell, progress_folder

_AFTER = 2.0  # seconds until the line appears
_NOTHING = {"text/plain": ""}


@contextmanager
def display_while_check_is_slow(name: str) -> Iterator[Callable[[object], None]]:
    """Display that `name` is being checked if the block takes long; yield a function that displays the result instead.

    There is no line outside of a reader's notebook, so that outputs under nbval, papermill and nbgrader do not depend
    on the time.
    """
    line = _Line(f"Still checking `{name}` …")
    line.start()
    try:
        yield line.replace
    finally:
        line.end()


class _Line:
    """The line, as a display with an id: a later display with this id replaces it, on the page and in the saved file.

    `clear_output` would also remove what the cell has printed before.
    """

    def __init__(self, words: str) -> None:
        self._words, self._name, self._is_shown = words, uuid4().hex, False
        # Take the publisher now: while an answer runs, displays are captured. The context belongs to the running cell.
        self._page: Any = getattr(interactive_notebook_shell(), "display_pub", None)
        self._clock = threading.Timer(_AFTER, copy_context().run, (self._show,))

    def start(self) -> None:
        """Start the timer, in a reader's notebook."""
        if self._page and progress_folder() is not None:
            start_thread(self._clock)  # without threads there is no line

    def replace(self, result: object) -> None:
        """Display a result, in place of the line if that is shown."""
        self._stop()
        if self._is_shown:
            self._is_shown = False
            update_display(result, display_id=self._name)
        else:
            display(result)

    def end(self) -> None:
        """Stop the timer, and empty the line if no result has replaced it."""
        self._stop()
        if self._is_shown:
            update_display(_NOTHING, raw=True, display_id=self._name)

    def _stop(self) -> None:
        self._clock.cancel()
        join_thread(self._clock)

    def _show(self) -> None:
        self._page.publish({"text/plain": self._words}, transient={"display_id": self._name})
        self._is_shown = True
