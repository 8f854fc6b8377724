"""An answer of an earlier chapter: the notebook beside this one that holds what passed its check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course.exercise_index import IndexedChapter
from autograder.ipython_syntax import CHECK
from autograder.notebook.last_check import digest_of_answer
from autograder.notebook.progress_log import LOGBOOK, Entry, folder_of_notebook
from autograder.notebook.rerun_answer import StoppedError, Written, rerun
from autograder.submission.find_answers import CheckCall, find_answers_among, find_checks_by_id
from autograder.submission.submitted_cells import MAX_BYTES, MAX_CELLS, SubmittedCell, read_notebook_contents
from autograder.submission.unreadable_files import UnreadableError

UNTIL = ", until yours passes"
_MOST = 12  # notebooks that are looked into
_given: dict[tuple[str, str], object] = {}


@dataclass(frozen=True)
class Choice:
    """The reader's own answer; else why it is not taken, in words that follow upon its name."""

    answer: object = None
    why: str = ""


@dataclass(frozen=True)
class Holding:
    """A notebook that checks an exercise: the cells that hold code, and where it is checked."""

    path: Path
    code: tuple[SubmittedCell, ...]
    check: CheckCall


def beside(name: str, chapter: IndexedChapter, running: Path | None) -> Choice:
    """The answer to an exercise of another chapter, from that one's notebook in this folder, run once.

    It counts where its last check passed and the notebook, as it was saved, still holds the text that passed.
    """
    folder, book = folder_of_notebook(), _book(chapter)
    if folder is None:
        return Choice(why=f": progress is not kept here, and {book} was not looked at")
    last = LOGBOOK.read()[0].get(name)
    if last is not None and (name, last.answer) in _given:
        return Choice(_given[name, last.answer])
    why = f": {book} with yours is not in this folder"
    for path in _notebooks(folder, chapter.stem, running):
        try:
            holding = _holding(path, name, chapter.stem)
        except (OSError, UnreadableError):
            why = f": {path.name} cannot be read" if chapter.stem in path.name else why
            continue
        if holding is None:
            continue
        if last is None or last.passed < last.of:
            return Choice(why=UNTIL)
        answer = _passed(holding, name, last)
        if answer is not None:
            return _taken(name, answer, last)
        why = f": {path.name}, as it was last saved, does not hold the one that passed; save it, or check yours again"
    return Choice(why=why)


def _book(chapter: IndexedChapter) -> str:
    return f"chapter {chapter.number}'s notebook" if chapter.number else f"the notebook “{chapter.title}”"


def _notebooks(folder: Path, stem: str, running: Path | None) -> list[Path]:
    """The notebooks of a folder but the one that runs: the chapter's by name first, then the newest."""
    found = [path for path in folder.glob("*.ipynb") if path != running and path.is_file()]
    found.sort(key=lambda path: (path.stem != stem, stem not in path.name, -path.stat().st_mtime))
    return found[:_MOST]


def _holding(path: Path, name: str, stem: str) -> Holding | None:
    """The chapter's notebook, by its name or by what it checks; None for any other. Raises OSError, UnreadableError."""
    with path.open("rb") as file:
        cells = read_notebook_contents(file.read(MAX_BYTES + 1)).cells
    code = tuple(cell for cell in cells if cell.kind == "code")
    nowhere = CheckCall(MAX_CELLS, name) if stem in path.name else None
    check = find_checks_by_id(code, {name: f"{CHECK}{name}"}).get(name, nowhere)
    return None if check is None else Holding(path, code, check)


def _passed(holding: Holding, name: str, last: Entry) -> Written | None:
    """The answer whose text is the one that passed; None where the notebook does not hold it any more."""
    for called in dict.fromkeys((holding.check.called, name)):
        for cell in _answers(holding, name):
            if last.answer and digest_of_answer(cell.source, called) == last.answer:
                return Written(name, called, holding.path.name, holding.code, cell.index, holding.check.place)
    return None


def _answers(holding: Holding, name: str) -> Iterator[SubmittedCell]:
    """The cells that answer an exercise, found as grading finds them: what the check looked at, and what came later."""
    find = find_answers_among(holding.code, {name: ""}, (), {name: holding.check})[name]
    yield from (cell for cell in (find.cell, find.later) if cell is not None)


def _taken(name: str, answer: Written, last: Entry) -> Choice:
    try:
        _given[name, last.answer] = rerun(answer)
    except StoppedError as error:
        return Choice(why=f": {error}")
    return Choice(_given[name, last.answer])
