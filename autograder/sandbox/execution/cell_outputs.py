"""Collect the outputs of a running cell in nbformat's form, and limit their size to what a page can show."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any

Output = dict[str, Any]

MAX_STREAM_CHARACTERS = 300_000  # characters kept of each stream of a cell, and of an error's traceback
MAX_DISPLAY_CHARACTERS = 4 * 2**20  # characters kept of everything that a cell displays, pictures (in base64) included
_CUT = "\n... the rest is left out ...\n"
# MIME types that a page shows without running anything: teachers look at students' outputs with all their rights.
SHOWN_MIME_TYPES = ("text/plain", "image/png", "image/jpeg")


class RecordedOutputs:
    """The outputs of the cell that is running."""

    def __init__(self) -> None:
        self.kept: list[Output] = []
        self._printed = {"stdout": 0, "stderr": 0}
        self._shown = 0
        self._places: dict[str, list[Output]] = {}  # by display id: outputs that the cell may update later
        self._clears_next = False

    def begin_cell(self) -> None:
        """Forget all outputs: a new cell begins."""
        self.kept, self._shown, self._places = [], 0, {}
        self._printed = dict.fromkeys(self._printed, 0)
        self._clears_next = False

    def clear(self, wait: bool = False) -> None:
        """Remove the cell's outputs so far; with `wait`, only when the next output arrives."""
        if wait:
            self._clears_next = True
        else:
            self.kept, self._shown, self._clears_next = [], 0, False

    def add_stream_text(self, name: str, text: str) -> None:
        """Add text that the cell printed to the stream `name`."""
        left = MAX_STREAM_CHARACTERS - self._printed[name]
        if not text or left <= 0:
            return
        self._printed[name] += len(text)
        if len(text) > left:
            text = text[:left] + _CUT
        last = None if self._clears_next or not self.kept else self.kept[-1]
        if last is not None and last["output_type"] == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self._add({"output_type": "stream", "name": name, "text": text})

    def add_display(self, data: Mapping[str, Any], display_id: str = "", update: bool = False) -> None:
        """Add what the cell displayed; with `update`, change the earlier outputs with the same display id instead."""
        shown = self._data(data)
        if update:
            for output in self._places.get(display_id, ()):
                output["data"] = shown
        elif shown:
            output = {"output_type": "display_data", "metadata": {}, "data": shown}
            self._add(output)
            self._places.setdefault(display_id, []).append(output)

    def add_result(self, data: Mapping[str, Any], count: int) -> None:
        """Add the value of the cell's last expression."""
        shown = {"text/plain": "", **self._data(data)}
        self._add({"output_type": "execute_result", "metadata": {}, "data": shown, "execution_count": count})

    def add_error(self, name: str, message: str, lines: list[str]) -> None:
        """Add an error; `lines` are its traceback."""
        message, traceback = message[:MAX_STREAM_CHARACTERS], "\n".join(lines)[:MAX_STREAM_CHARACTERS].split("\n")
        self._add({"output_type": "error", "ename": name, "evalue": message, "traceback": traceback})

    def _add(self, output: Output) -> None:
        if self._clears_next:
            self.clear()
        self.kept.append(output)

    def _data(self, data: Mapping[str, Any]) -> dict[str, str]:
        shown = {}
        for kind in SHOWN_MIME_TYPES:
            if kind in data:
                value = data[kind]
                text = base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
                if self._shown + len(text) > MAX_DISPLAY_CHARACTERS:
                    text = "... too much to show ..." if kind == "text/plain" else ""
                self._shown += len(text)
                if text or kind == "text/plain":
                    shown[kind] = text
        return shown


class RecordingStream(io.TextIOBase):
    """A text stream that adds what is written to it to a cell's outputs."""

    encoding = "utf-8"

    def __init__(self, outputs: RecordedOutputs, name: str) -> None:
        self._outputs, self.name = outputs, f"<{name}>"
        self._stream_name = name

    def writable(self) -> bool:
        """Return True."""
        return True

    def write(self, text: str) -> int:
        """Add the text to the outputs; return its length."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.add_stream_text(self._stream_name, text)
        return len(text)


def error_output(name: str, message: str) -> Output:
    """Return an error output that the grader writes for a cell which could not report the error itself."""
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [f"{name}: {message}"]}
