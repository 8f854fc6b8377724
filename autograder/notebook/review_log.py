"""Store the questions of `review` and the reader's answers in a small file beside the notebook.

Each line is added in one write, and none is ever changed, so that a truncated line loses only itself. Without a folder,
and where the file cannot be written, the kernel remembers until it ends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from autograder.notebook.append_only_file import append_line, error_reason, read_lines
from autograder.notebook.progress_log import progress_folder
from autograder.questions.review_schedule import ReviewAnswer, memory_of_facts

REVIEW_FILE = ".pytorch-basics-review"  # nbgrader ignores files whose name begins with a dot
_MOST_BYTES = 2**20  # read at most so much, from the end of the file
_LATELY = 8  # reviews


@dataclass(frozen=True)
class ShownQuestions:
    """The questions of one review: the day, the sitting in which it was asked, and a digest of each question."""

    day: date
    sitting: str
    digests: tuple[str, ...]


ReviewLogEntry = ShownQuestions | ReviewAnswer


@dataclass(frozen=True)
class ReviewHistory:
    """All reviews so far, in order; `note` is a message for the reader if something of the file cannot be read."""

    shown: tuple[ShownQuestions, ...] = ()
    answers: tuple[ReviewAnswer, ...] = ()
    note: str = ""

    @property
    def digests(self) -> set[str]:
        """Return the digests of the questions that the reader has answered, and of those that were shown lately.

        Whoever runs a notebook from top to bottom again and again is shown many questions without looking at them.
        These may come again one day: a generator of few questions would soon have none left.
        """
        lately = {digest for each in self.shown[-_LATELY:] for digest in each.digests}
        return lately | {each.digest for each in self.answers}

    @property
    def remembered(self) -> str:
        """Return a sentence on what is remembered; "" before the first answer."""
        memory = memory_of_facts(self.answers).values()
        known = sum(each.is_remembered for each in memory)
        back = "" if known == len(memory) else " The others come back."
        facts = "fact" if len(memory) == 1 else "facts"
        return f"You remember {known} of the {len(memory)} {facts} that `review` has asked about.{back}" * bool(memory)


class ReviewLog:
    """The reviews in the folder's file, and those of this kernel that could not be written there."""

    def __init__(self) -> None:
        self._own: list[ReviewLogEntry] = []
        self._complained = False

    def note(self, entry: ReviewLogEntry) -> str:
        """Store an entry; return a message for the reader if the file cannot be written, once per kernel, else ""."""
        path = _file()
        try:
            if path is not None:
                append_line(path, json.dumps(_to_json(entry)))
                return ""
        except OSError as error:
            self._own.append(entry)
            return self._complaint(error)
        self._own.append(entry)
        return ""

    def _complaint(self, error: OSError) -> str:
        if self._complained:
            return ""
        self._complained = True
        return f"(This counts until the kernel ends: no writing to {REVIEW_FILE}, {error_reason(error)}.)"

    def read(self) -> ReviewHistory:
        """Return all that the file and the kernel remember; what cannot be read is left out, and the note says so."""
        path = _file()
        try:
            lines = read_lines(path, _MOST_BYTES) if path is not None else []
        except FileNotFoundError:
            lines = []
        except OSError as error:
            note = f"{REVIEW_FILE} cannot be read ({error_reason(error)}): what you have answered may be asked again."
            return replace(_history(self._own), note=note)
        entries = [entry for entry in map(_entry, lines) if entry is not None]
        lost = len(lines) - len(entries)
        rows = f"{lost} line{'s' if lost > 1 else ''}"
        note = f"{rows} of {REVIEW_FILE} cannot be read: what stood there may be asked again."
        return replace(_history([*entries, *self._own]), note=note if lost else "")


def _file() -> Path | None:
    folder = progress_folder()
    return folder / REVIEW_FILE if folder is not None else None


def _history(entries: Sequence[ReviewLogEntry]) -> ReviewHistory:
    shown = tuple(each for each in entries if isinstance(each, ShownQuestions))
    return ReviewHistory(shown, tuple(each for each in entries if isinstance(each, ReviewAnswer)))


def _to_json(entry: ReviewLogEntry) -> dict[str, object]:
    if isinstance(entry, ShownQuestions):
        return {"day": entry.day.isoformat(), "sitting": entry.sitting, "shown": list(entry.digests)}
    asked = {"question": entry.question, "digest": entry.digest, "facts": list(entry.facts)}
    return {"day": entry.day.isoformat(), **asked, "right": entry.right}


def _entry(line: str) -> ReviewLogEntry | None:
    """Parse a line of the file; return None if it is damaged."""
    try:
        item = json.loads(line)
        day = date.fromisoformat(item["day"])
        if "shown" in item:
            return ShownQuestions(day, _text(item["sitting"]), tuple(_texts(item["shown"])))
        if not isinstance(item["right"], bool):
            return None
        asked = _text(item["question"]), tuple(_texts(item["facts"]))
        return ReviewAnswer(day, *asked, item["right"], _text(item["digest"]))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _texts(value: object) -> Iterator[str]:
    if not isinstance(value, list):
        raise TypeError("expected a list")
    yield from map(_text, value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("expected a string")
    return value


REVIEW_LOG = ReviewLog()
