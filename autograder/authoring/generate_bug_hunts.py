"""Search for bug hunts (programs with one faulty line) in bank answers and edited solutions; verify each by running it.

A program becomes a hunt if it shows exactly what a known mistake shows, on the visible cases and on fresh ones; if one
edit of one line makes it right; and if, for some other lines, none of the edits tried makes it right: they become the
wrong choices. Programs are the bank's wrong answers, and right answers with one changed line.
"""

from __future__ import annotations

import ast
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice, takewhile
from random import Random
from typing import TypeVar

from autograder.authoring import generate_single_line_edits
from autograder.authoring.generate_single_line_edits import EditKind, ProgramEdit
from autograder.authoring.match_program_to_mistake import ProgramMistakeMatcher
from autograder.authoring.rename_hunt_variables import rename_program, synonyms_for_variables
from autograder.authoring.split_return_expression import split_return_expression
from autograder.course.answer_bank_replacements import apply_change, bare
from autograder.errors import AnswerBankError
from autograder.questions.bug_hunt_file import BugHunt, difficulty_sort_key

T = TypeVar("T")

_PER_EXERCISE, _PER_MISTAKE = 40, 3
_LEAST_LINES, _MOST_LINES, _WIDEST = 3, 34, 100  # of a program, and characters of a line
_ALIAS = re.compile(r"(?!.*= (?:True|False|None)$)[a-z_]\w* = [a-z_]\w*", re.IGNORECASE)
_OTHERS = 3  # lines that are offered beside the one at fault; two are enough for a short program
# How many edits of one line are tried, and how many of a whole program, by whether the exercise takes long.
_TRIED = {False: (80, 500, 400), True: (24, 0, 60)}
_SLOW = 0.3  # seconds that an exercise declares; more is slow
_LONGEST = 80.0  # seconds of processor time for an exercise: where edits make loops without an end, each takes long
_UNTOUCHED = "untouched"


def find_hunts(runs: ProgramMistakeMatcher) -> tuple[BugHunt, ...]:
    """Return the proven hunts of an exercise, easy ones first."""
    return tuple(sorted(_Search(runs).hunts(), key=difficulty_sort_key))


def why_exercise_has_no_hunts(runs: ProgramMistakeMatcher) -> str:
    """Return why an exercise has no hunts, whichever the search has tried."""
    shortest = min(len(text.splitlines()) for text in _Search(runs).right)
    if shortest > _MOST_LINES:
        return f"its right programs have {shortest} lines and more, and a hunt has {_MOST_LINES} at most"
    return "a hunt needs a line at fault, two others that no edit mends, and two sentences that are false of it"


class _Search:
    """The search for hunts of one exercise."""

    def __init__(self, runs: ProgramMistakeMatcher) -> None:
        self.name, self.bank, self.runs = runs.exercise.name, runs.bank, runs
        self.right = [bare(runs.solution), *(bare(each.source) for each in self.bank if each.is_right)]
        self.right += [split_return_expression(text) for text in self.right]
        self.right = [text for text in dict.fromkeys(self.right) if self.runs.passes(text)]
        rows = (line.strip() for text in self.right for line in _lines_of(text))
        self.pool = tuple(dict.fromkeys(rows))
        self._end = time.process_time() + _LONGEST
        self.edits, self.search, self.variants = _TRIED[runs.exercise.takes > _SLOW]

    def hunts(self) -> Iterator[BugHunt]:
        """Yield hunts, at most so many of one mistake and one program, until there are enough."""
        found: set[str] = set()
        of_mistake: Counter[str] = Counter()
        for tag, edit, mend in self._in_time(self._candidates()):
            if of_mistake[tag] >= _PER_MISTAKE or edit.text in found or not _is_fit(edit.text):
                continue
            if _is_planted(edit.text.splitlines()[edit.line - 1]):
                continue
            hunt = self._proven(tag, edit, mend, of_mistake[tag])
            if hunt is not None:
                found.add(edit.text)
                of_mistake[tag] += 1
                yield hunt
            if len(found) == _PER_EXERCISE:
                return

    def _in_time(self, items: Iterable[T]) -> Iterator[T]:
        """Yield the items until the time for the search is over."""
        return takewhile(lambda _: time.process_time() < self._end, items)

    def _candidates(self) -> Iterator[tuple[str, ProgramEdit, str]]:
        """Yield the tag of a mistake, a program that shows it with the line at fault, and the mended program."""
        for answer in self.bank:
            if not answer.is_right and answer.tag != _UNTOUCHED and self.runs.shows(answer.tag):
                written = bare(answer.source)
                for text in dict.fromkeys((written, split_return_expression(written))):
                    if _is_fit(text) and (mended := self._mend(text)):
                        yield answer.tag, *mended
                        break
        yield from self._changed()
        yield from self._varied()

    def _mend(self, text: str) -> tuple[ProgramEdit, str] | None:
        """Return the line at fault and the mended program: the nearest right answer, else what a search finds."""
        for right in self.right:
            if (edit := single_line_difference(text, right)) is not None:
                return edit, right
        for edit in self._in_time(islice(generate_single_line_edits.program_edits(text, self.pool), self.search)):
            if self.runs.passes(edit.text):
                return ProgramEdit(text, edit.kind, edit.line), edit.text
        return None

    def _changed(self) -> Iterator[tuple[str, ProgramEdit, str]]:
        """Apply each change of the bank to the right answers that it was not written for."""
        for tag, (change, _) in self.bank.changes.items():
            for right in self.right:
                try:
                    text = apply_change(right, change)
                except AnswerBankError:
                    continue
                edit = single_line_difference(text, right)
                if edit is not None and self.runs.shows_as(tag, text):
                    yield tag, edit, right

    def _varied(self) -> Iterator[tuple[str, ProgramEdit, str]]:
        """Yield right answers with one edited line that show what a known mistake shows."""
        for right in self.right:
            made = [edit for edit in generate_single_line_edits.wrong_variants(right) if edit.line > 0]
            Random(f"{self.name} {right}").shuffle(made)
            for edit in self._in_time(made[: self.variants]):
                if _is_fit(edit.text) and (tag := self.runs.mistake_shown(edit.text)) not in (None, _UNTOUCHED):
                    yield str(tag), edit, right

    def _proven(self, tag: str, edit: ProgramEdit, mend: str, number: int) -> BugHunt | None:
        """Return the hunt, with other names, and lines that are not at fault; None if it cannot be proven.

        The names stay where the exercise has a rule that counts the lines which differ from a program given in it.
        """
        others = self._others(edit, mend)
        names = synonyms_for_variables((edit.text, mend), self.runs.prelude, number)
        for known in ((names, {}) if names else ({},)) if len(others) >= 2 else ():
            text, mended = (rename_program(each, known, self.name) for each in (edit.text, mend))
            if self.runs.shows_as(tag, text) and self.runs.passes(mended):
                return BugHunt(self.name, tag, text, edit.kind, edit.line, tuple(sorted(others)))
        return None

    def _others(self, edit: ProgramEdit, mend: str) -> list[int]:
        """Return up to three lines, the nearest first, of which no edit makes the program right."""
        text, lines = edit.text, edit.text.splitlines()
        rows = generate_single_line_edits.editable_lines(text)
        if edit.kind == "add":
            befores = (row - 1 for row in rows if row > 1 and lines[row - 2].strip())
            rows = sorted({*befores, *(row for row in rows if not lines[row - 1].strip().startswith("return "))})
            rows = [row for row in rows if row != edit.line]
        else:
            rows = [row for row in rows if row != edit.line and lines[row - 1] != lines[edit.line - 1]]
        rows.sort(key=lambda row: (lines[row - 1].strip().startswith("super()"), abs(row - edit.line)))
        sure: list[int] = []
        for row in rows[: _OTHERS + 2]:
            if len(sure) < _OTHERS and not self._is_at_fault(text, row, edit.kind, mend):
                sure.append(row)
        return sure

    def _is_at_fault(self, text: str, row: int, kind: EditKind, mend: str) -> bool:
        own = tuple(line.strip() for line in mend.splitlines())
        pool = tuple(dict.fromkeys((*own, *self.pool)))
        of_line = generate_single_line_edits.additions if kind == "add" else generate_single_line_edits.line_edits
        return any(self.runs.passes(edit.text) for edit in islice(of_line(text, row, pool), self.edits))


def single_line_difference(wrong: str, right: str) -> ProgramEdit | None:
    """Return how a program differs from a right one, if it does so in one line; None if in more."""
    old, new = wrong.splitlines(), right.splitlines()
    ops = [op for op in SequenceMatcher(None, old, new, autojunk=False).get_opcodes() if op[0] != "equal"]
    if len(ops) == 1:
        _, start, end, first, last = ops[0]
        if end - start == 1 and last - first >= 1 and last - first <= 2:
            return ProgramEdit(wrong, "change", end)
        if end - start == 1 and last == first:
            return ProgramEdit(wrong, "remove", end)
        if end == start and last - first == 1 and start > 0:
            return ProgramEdit(wrong, "add", start)
    if len(ops) == 2 and {op[0] for op in ops} == {"insert", "delete"}:
        gone, put = sorted(ops)  # "delete" comes before "insert"
        if gone[2] - gone[1] == 1 and [old[gone[1]].strip()] == [line.strip() for line in new[put[3] : put[4]]]:
            return ProgramEdit(wrong, "move", gone[2])
    return None


def _lines_of(text: str) -> list[str]:
    rows = text.splitlines()
    return [rows[row - 1] for row in generate_single_line_edits.editable_lines(text)]


def _is_planted(line: str) -> bool:
    """Return whether a line gives itself away: it only hands a value on, rounds, or holds two statements."""
    return ";" in line or "round(" in line or _ALIAS.fullmatch(line.strip()) is not None


def _is_fit(text: str) -> bool:
    """Return whether a program reads well: not too long or short, no overlong line, no statement without an effect."""
    rows = text.splitlines()
    if len(rows) > _MOST_LINES or max(map(len, rows)) > _WIDEST:
        return False
    try:
        tree = ast.parse(text)
    except SyntaxError:  # an edit of a piece of a statement
        return False
    idle = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    acts = all(isinstance(value, ast.Call | ast.Yield | ast.YieldFrom) for value in idle)
    return acts and len(generate_single_line_edits.editable_lines(text)) >= _LEAST_LINES
