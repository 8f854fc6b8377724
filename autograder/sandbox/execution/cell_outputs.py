"""What a cell gives while it runs, in the words of the notebook format, and no more of it than a page can show."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping
from typing import Any

Output = dict[str, Any]

MOST_TEXT = 300_000  # characters that a cell prints on each stream, and of an error's lines
MOST_SHOWN = 4 * 2**20  # characters of all that a cell shows, pictures included
_CUT = "\n... the rest is left out ...\n"
# What a page shows and does not run: a student's output is looked at by a teacher with all of a teacher's rights.
KINDS = ("text/plain", "image/png", "image/jpeg")


class Given:
    """The outputs of the cell that runs now."""

    def __init__(self) -> None:
        self.kept: list[Output] = []
        self._printed = {"stdout": 0, "stderr": 0}
        self._shown = 0
        self._places: dict[str, list[Output]] = {}  # of a display that may change later
        self._clears_next = False

    def begin(self) -> None:
        """Begin a cell."""
        self.kept, self._shown, self._places = [], 0, {}
        self._printed = dict.fromkeys(self._printed, 0)
        self._clears_next = False

    def clear(self, wait: bool = False) -> None:
        """Take back what the cell has given so far; with `wait`, as soon as it gives something else."""
        if wait:
            self._clears_next = True
        else:
            self.kept, self._shown, self._clears_next = [], 0, False

    def stream(self, name: str, text: str) -> None:
        """Keep what was printed."""
        room = MOST_TEXT - self._printed[name]
        if not text or room <= 0:
            return
        self._printed[name] += len(text)
        if len(text) > room:
            text = text[:room] + _CUT
        last = None if self._clears_next or not self.kept else self.kept[-1]
        if last is not None and last["output_type"] == "stream" and last["name"] == name:
            last["text"] += text
        else:
            self._add({"output_type": "stream", "name": name, "text": text})

    def display(self, data: Mapping[str, Any], display_id: str = "", update: bool = False) -> None:
        """Keep what was shown; an `update` changes what was shown under the same id."""
        shown = self._data(data)
        if update:
            for output in self._places.get(display_id, ()):
                output["data"] = shown
        elif shown:
            output = {"output_type": "display_data", "metadata": {}, "data": shown}
            self._add(output)
            self._places.setdefault(display_id, []).append(output)

    def result(self, data: Mapping[str, Any], count: int) -> None:
        """Keep the value of the cell's last line."""
        shown = {"text/plain": "", **self._data(data)}
        self._add({"output_type": "execute_result", "metadata": {}, "data": shown, "execution_count": count})

    def error(self, name: str, message: str, lines: list[str]) -> None:
        """Keep an error."""
        message, told = message[:MOST_TEXT], "\n".join(lines)[:MOST_TEXT].split("\n")
        self._add({"output_type": "error", "ename": name, "evalue": message, "traceback": told})

    def _add(self, output: Output) -> None:
        if self._clears_next:
            self.clear()
        self.kept.append(output)

    def _data(self, data: Mapping[str, Any]) -> dict[str, str]:
        shown = {}
        for kind in KINDS:
            if kind in data:
                value = data[kind]
                text = base64.b64encode(value).decode() if isinstance(value, bytes) else str(value)
                if self._shown + len(text) > MOST_SHOWN:
                    text = "... too much to show ..." if kind == "text/plain" else ""
                self._shown += len(text)
                if text or kind == "text/plain":
                    shown[kind] = text
        return shown


class GivenStream(io.TextIOBase):
    """A stream that ends in a cell's outputs."""

    encoding = "utf-8"

    def __init__(self, outputs: Given, name: str) -> None:
        self._outputs, self.name = outputs, f"<{name}>"
        self._to = name

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Keep a text."""
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        self._outputs.stream(self._to, text)
        return len(text)


def error(name: str, message: str) -> Output:
    """The output of a cell that did not come to its end for a reason of which it could tell nothing itself."""
    return {"output_type": "error", "ename": name, "evalue": message, "traceback": [f"{name}: {message}"]}
