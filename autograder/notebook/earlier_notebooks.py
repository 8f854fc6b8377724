"""Find a passed answer to an exercise of another chapter in that chapter's notebook, beside the running one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from autograder.course.points_and_hints import IndexedChapter
from autograder.ipython_syntax import CHECK
from autograder.notebook.last_checked_answer import digest_of_answer
from autograder.notebook.progress_log import PROGRESS_LOG, LoggedCheck, progress_folder
from autograder.notebook.run_answer_of_other_notebook import AnswerRunError, SavedAnswer, rerun_answer
from autograder.submission.extract_submitted_cells import (
    MAX_CELLS,
    MAX_NOTEBOOK_BYTES,
    SubmittedCell,
    read_notebook_contents,
)
from autograder.submission.find_answers import CheckCall, find_answers_with_starters, find_last_checks_by_id
from autograder.submission.unreadable_notebook_messages import UnreadableError

UNTIL_YOURS_PASSES = ", until yours passes"
_MOST = 12  # notebooks of the folder to read
_given: dict[tuple[str, str], object] = {}


@dataclass(frozen=True)
class AnswerOrReason:
    """The reader's own answer; or, in `why`, the end of a sentence that says why the lesson's version is used."""

    answer: object = None
    why: str = ""


@dataclass(frozen=True)
class NotebookWithCheck:
    """A notebook that checks an exercise: its path, its code cells, and the place of the check."""

    path: Path
    code: tuple[SubmittedCell, ...]
    check: CheckCall


def answer_from_earlier_notebook(name: str, chapter: IndexedChapter, running: Path | None) -> AnswerOrReason:
    """Return the answer to an exercise of another chapter; the first call runs it from the notebook in this folder.

    The answer counts if its last check passed and the saved notebook still contains the text that passed.
    """
    folder, book = progress_folder(), _notebook_of(chapter)
    if folder is None:
        return AnswerOrReason(why=f": progress is not kept here, and {book} was not looked at")
    last = PROGRESS_LOG.read()[0].get(name)
    if last is not None and (name, last.answer) in _given:
        return AnswerOrReason(_given[name, last.answer])
    why = f": {book} is not in this folder"
    for path in _notebooks(folder, chapter.stem, running):
        try:
            holding = _holding(path, name, chapter.stem)
        except (OSError, UnreadableError):
            why = f": {path.name} cannot be read" if chapter.stem in path.name else why
            continue
        if holding is None:
            continue
        if last is None or last.passed < last.of:
            return AnswerOrReason(why=UNTIL_YOURS_PASSES)
        answer = _answer_that_passed(holding, name, last)
        if answer is not None:
            return _run_once(name, answer, last)
        why = f": {path.name}, as it was last saved, does not hold the one that passed; save it, or check yours again"
    return AnswerOrReason(why=why)


def _notebook_of(chapter: IndexedChapter) -> str:
    return f"your notebook “{chapter.title}”"


def _notebooks(folder: Path, stem: str, running: Path | None) -> list[Path]:
    """Return the notebooks of a folder except for the running one: those with the chapter's name first, then by age."""
    found = [path for path in folder.glob("*.ipynb") if path != running and path.is_file()]
    found.sort(key=lambda path: (path.stem != stem, stem not in path.name, -path.stat().st_mtime))
    return found[:_MOST]


def _holding(path: Path, name: str, stem: str) -> NotebookWithCheck | None:
    """Read a notebook if its name or a check in it shows that it has this exercise, else return None.

    Raises OSError or UnreadableError.
    """
    with path.open("rb") as file:
        cells = read_notebook_contents(file.read(MAX_NOTEBOOK_BYTES + 1)).cells
    code = tuple(cell for cell in cells if cell.kind == "code")
    nowhere = CheckCall(MAX_CELLS, name) if stem in path.name else None
    check = find_last_checks_by_id(code, {name: f"{CHECK}{name}"}).get(name, nowhere)
    return None if check is None else NotebookWithCheck(path, code, check)


def _answer_that_passed(holding: NotebookWithCheck, name: str, last: LoggedCheck) -> SavedAnswer | None:
    """Return the answer whose text is the one that passed; None if the notebook no longer contains it."""
    for called in dict.fromkeys((holding.check.called, name)):
        for cell in _answers(holding, name):
            if last.answer and digest_of_answer(cell.source, called) == last.answer:
                return SavedAnswer(name, called, holding.path.name, holding.code, cell.index, holding.check.place)
    return None


def _answers(holding: NotebookWithCheck, name: str) -> Iterator[SubmittedCell]:
    """Yield the cells that grading would take for the answer: the one that the check judges, and a later one."""
    find = find_answers_with_starters(holding.code, {name: ""}, (), {name: holding.check})[name]
    yield from (cell for cell in (find.cell, find.later) if cell is not None)


def _run_once(name: str, answer: SavedAnswer, last: LoggedCheck) -> AnswerOrReason:
    try:
        _given[name, last.answer] = rerun_answer(answer)
    except AnswerRunError as error:
        return AnswerOrReason(why=f": {error}")
    return AnswerOrReason(_given[name, last.answer])
