"""Score the two forms of a test (a measure), and make an anonymous table."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from autograder.errors import CourseError, WorkFailed
from autograder.questions.question import LETTERS
from autograder.reports.parallel_test_forms import FORM_NAMES, ParallelTestForms

SCORES_TABLE_FILE = "measure.csv"
_SEPARATORS = ",;\t"


class UnreadableAnswerTable(CourseError):
    """A table of answers that cannot be read; nothing was written."""


@dataclass(frozen=True)
class ScoredPerson:
    """Which answers of one person were right, by form; a form that was not handed in is missing."""

    right: Mapping[str, tuple[bool, ...]]

    @property
    def is_paired(self) -> bool:
        """Return whether both forms were handed in."""
        return len(self.right) == len(FORM_NAMES)


def score_answer_table(path: Path, measure: ParallelTestForms) -> list[ScoredPerson]:
    """Score a CSV table: who signed, which form, and a letter for each question (empty: none was chosen).

    Raises UnreadableAnswerTable, with the line, for anything else.
    """
    found: dict[str, dict[str, tuple[bool, ...]]] = {}
    for number, cells in _lines(path):
        where = f"{path}, line {number}"
        who, form, letters = _row(where, cells, measure)
        if form in found.setdefault(who, {}):
            raise UnreadableAnswerTable(f"{where}: {who!r} has handed in the form {form!r} twice. Keep one line.")
        right = measure.right_letters(form)
        found[who][form] = tuple(one == other for one, other in zip(letters, right, strict=True))
    if not found:
        raise UnreadableAnswerTable(
            f"{path} has no answers. Below its first line, write a line for each form handed in."
        )
    return [ScoredPerson(right) for right in found.values()]


def _lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines below the first that are not empty, each with its number."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise WorkFailed(f"cannot read {path}: {error.strerror}. Name the table with --answers.") from None
    except UnicodeDecodeError:
        raise UnreadableAnswerTable(
            f"{path} is not UTF-8 text. Save it as `CSV UTF-8` in the spreadsheet, then again."
        ) from None
    separator = max(_SEPARATORS, key=text.split("\n", 1)[0].count)
    for number, cells in enumerate(csv.reader(io.StringIO(text), delimiter=separator), start=1):
        if number > 1 and any(cell.strip() for cell in cells):
            yield number, [cell.strip() for cell in cells]


def _row(where: str, cells: Sequence[str], measure: ParallelTestForms) -> tuple[str, str, list[str]]:
    """Return who signed, the form, and the letters of one line; raise UnreadableAnswerTable."""
    count = len(measure.kinds)
    who, form, *letters = [*cells, *[""] * (count + 2 - len(cells))]
    if not who or form.casefold() not in FORM_NAMES:
        raise UnreadableAnswerTable(
            f"{where}: expected a word and one of {' and '.join(FORM_NAMES)}, found {who!r} and {form!r}."
        )
    if any(letters[count:]):
        raise UnreadableAnswerTable(f"{where}: expected {count} letters, found {len(letters)}.")
    choices = LETTERS[: len(measure.forms[FORM_NAMES[0]][0].choices) + 1]
    for place, letter in enumerate(letters[:count], start=1):
        if letter and letter.casefold() not in choices:
            raise UnreadableAnswerTable(
                f"{where}, question {place}: expected a letter of {choices}, or nothing, found {letter!r}."
            )
    return who.casefold(), form.casefold(), [letter.casefold() for letter in letters[:count]]


def anonymous_rows(people: Sequence[ScoredPerson], measure: ParallelTestForms) -> list[tuple[object, ...]]:
    """Return the scores without names: persons numbered in random order, both scores, and 1 or 0 per question."""
    count = len(measure.kinds)
    head = [f"{form} {number}" for form in FORM_NAMES for number in range(1, count + 1)]
    rows: list[tuple[object, ...]] = [("person", *FORM_NAMES, *head)]
    for number, person in enumerate(Random().sample(list(people), len(people)), start=1):
        scores = [sum(person.right[form]) if form in person.right else "" for form in FORM_NAMES]
        marks = [mark for form in FORM_NAMES for mark in _marks(person.right.get(form), count)]
        rows.append((number, *scores, *marks))
    return rows


def _marks(right: Sequence[bool] | None, count: int) -> list[object]:
    return [int(each) for each in right] if right else [""] * count


def summary_lines(people: Sequence[ScoredPerson], measure: ParallelTestForms) -> list[str]:
    """Return what to print: how many handed in, and of those with both forms the mean scores and shares by question."""
    paired = [each for each in people if each.is_paired]
    lines = [f"{sum(form in each.right for each in people)} handed in {form} the course" for form in FORM_NAMES]
    if not paired:
        return [*lines, "nobody signed both forms with the same word, so there is nothing to compare"]
    count = len(measure.kinds)
    means = [sum(sum(each.right[form]) for each in paired) / len(paired) for form in FORM_NAMES]
    lines.append(f"{len(paired)} handed in both: {means[0]:.1f} of {count} right before, {means[1]:.1f} after")
    for place, kind in enumerate(measure.kinds):
        shares = [sum(each.right[form][place] for each in paired) / len(paired) for form in FORM_NAMES]
        lines.append(f"  {place + 1:2} {kind:32} {shares[0]:4.0%} {shares[1]:4.0%}")
    return lines
