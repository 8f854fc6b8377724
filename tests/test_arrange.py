"""The line puzzle: exactly one order is right, no file reveals it, and a wrong order gets its message of the bank."""

from __future__ import annotations

import copy
import fnmatch
import keyword
import math
import re
import statistics
import time
from collections.abc import Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn
from torch.nn import functional
from torch.utils.data import Dataset

from autograder import check
from autograder.authoring.proof import Proof
from autograder.course import marked_regions
from autograder.course.answer_bank import AnswerBank, load_bank
from autograder.course.answer_bank_replacements import bare
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_reader import read_chapter
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.course_location import bank_file
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.diagnosis.judge_answer import UNTOUCHED_TAG
from autograder.errors import ChapterFormatError, UnknownExercise
from autograder.notebook import call_answer_on_cases, check_and_hint
from autograder.notebook.progress_log import PROGRESS_LOG
from explorers import arrange, arranged_program_check
from explorers.explorer_controls import InvalidChoice
from explorers.parsons_problem import (
    DEEPEST,
    GAP,
    LONGEST,
    Pieces,
    arrangement_from_call,
    parse_puzzle_file,
    puzzle_names,
    shuffled_pieces,
)
from explorers.parsons_problem_widget import Arranger
from tests import leaks
from tests.arranged_programs import PROGRAMS
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_explorer_widget import bundle, sent

FOLDER = PROJECT / "course" / "arranged"
DISTRACTORS = 2


@pytest.fixture(autouse=True)
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return a notebook's namespace with the names of the chapters' setup cells."""
    shell = InteractiveShell.instance()
    monkeypatch.setattr(check_and_hint, "LAST_REPORTS", {})  # a new kernel has checked nothing
    monkeypatch.setattr(arranged_program_check, "LAST_REPORTS", check_and_hint.LAST_REPORTS)
    monkeypatch.setattr(call_answer_on_cases, "_LEAST", 600.0)  # for a busy machine
    monkeypatch.setattr(call_answer_on_cases, "_MOST", 600.0)
    modules = {each.__name__: each for each in (copy, fnmatch, math, statistics, time, torch)}
    names = {**modules, "nn": nn, "F": functional, "Dataset": Dataset}
    for name, value in names.items():
        monkeypatch.setitem(shell.user_ns, name, value)
    return shell.user_ns


def matching(line: str) -> re.Pattern[str]:
    """Return a pattern for a line whose gaps are filled."""
    return re.compile("(.+)".join(map(re.escape, line.split(GAP))))


def solved(pieces: Pieces) -> tuple[list[tuple[int, int]], dict[int, list[str]]]:
    """Return the order and the texts for the gaps that give the right program."""
    order, fill = [], {}
    for line in PROGRAMS[pieces.name].splitlines()[1:]:
        level = (len(line) - len(line.lstrip())) // 4 - 1
        fits = [n for n, piece in enumerate(pieces.lines, 1) if matching(piece).fullmatch(line.strip())]
        (number,) = [n for n in fits if n not in fill and not any(n == used for used, _ in order)][:1]
        order.append((number, level))
        if found := matching(pieces.lines[number - 1]).fullmatch(line.strip()).groups():  # type: ignore[union-attr]
            fill[number] = list(found)
    return order, fill


def _bank(name: str) -> AnswerBank:
    return load_bank(bank_file(PROJECT / "course", COURSE.find(name).chapter, name))


def _rights(name: str) -> list[str]:
    return [answer.source for answer in _bank(name) if answer.is_right]


def put(*lines: str, name: str = "train_step", **filled: str) -> Arranger:
    """Arrange these lines, with texts for their gaps."""
    pieces = shuffled_pieces(name, 0)
    order = [pieces.lines.index(line) + 1 for line in lines]
    fill = {
        pieces.lines.index(line) + 1: filled[f"gap{place}"]
        for place, line in enumerate(lines)
        if f"gap{place}" in filled
    }
    return arrange(name, order=order, fill=fill, seed=0)


CLEAR, LOSS, BACK, STEP = (
    "optimizer.zero_grad()",
    f"loss = criterion({GAP}, y_batch)",
    "loss.backward()",
    "optimizer.step()",
)
GIVE = f"return loss.{GAP}"


# The core exercises that have no lines to arrange, by the reason.
WITHOUT = {
    "one line or two say it": {"first_and_rest", "flatten_images", "pairwise_sq_dists"},
    "a program is given, to be mended where it is wrong": {
        *("HouseNet", "broken_loops", "fix_inplace", "fix_trainer", "house_prices"),
        *("loss_inputs", "make_agnostic"),
    },
    "facts are asked, of which none comes before another": {
        *("autocast_dtypes", "batched_einsum", "memory_plan", "precision_lab"),
        *("predict_grad_state", "predict_layout"),
    },
    "two definitions are asked": {"compare_optimizers", "sin_fit"},
    "more than twenty lines": {"resume_training"},
}


DEFINED = re.compile(r"^(?:def|class) ", re.MULTILINE)


def size(text: str) -> int:
    """Return the number of lines of a program below its first one, without comments and docstrings."""
    return sum(bool(line.strip()) for line in bare(text).splitlines()) - 1


def names_aside(line: str) -> str:
    """Return a line with `_` for each variable, since the bank's answers have other names than the arranged program."""
    return _VARIABLE.sub(lambda match: match[0] if keyword.iskeyword(match[0]) else "_", line.strip())


_VARIABLE = re.compile(r"""(?<![\w."'])[A-Za-z_]\w*\b(?!\s*\(|["'])""")


def _lines_of(source: str) -> set[str]:
    return {names_aside(line) for line in source.splitlines()}


def mistakes_with(name: str, line: str) -> Iterator[set[str]]:
    """Yield the tags told of the right program with a line in place of another one, or beside it; likely ones first."""
    stem = COURSE.find(name).chapter
    course = PROJECT / "course"
    proof = Proof(ExerciseParts(course, stem, name), Judge(course, stem, only=name))
    for text in _programs_with(PROGRAMS[name].splitlines(), line):
        try:
            report = proof.report(text, VISIBLE_SEED)
        except (SyntaxError, ChapterFormatError):
            continue
        yield {verdict.mistake for verdict in report.verdicts if verdict.mistake}


def _programs_with(rows: list[str], line: str) -> Iterator[str]:
    likely = sorted(range(1, len(rows)), key=lambda row: -SequenceMatcher(None, rows[row].strip(), line).ratio())
    for takes_away in (1, 0):
        for row in likely:
            indent = rows[row][: len(rows[row]) - len(rows[row].lstrip())]
            yield "\n".join([*rows[:row], indent + line, *rows[row + takes_away :], ""])


class TestLines:
    """The files of lines in `course/arranged/`."""

    def test_there_are_many(self) -> None:
        """Three dozen exercises have lines, and the tests have a right program for each."""
        assert 37 == len(puzzle_names()) and set(PROGRAMS) == set(puzzle_names())

    def test_who_has_none_and_why(self) -> None:
        """Every other core exercise has lines; those that are short, long or given as a program are so indeed."""
        core = {each.name: each.chapter for each in COURSE.all_exercises() if each.tier == "core"}
        short, given, facts, two, long = WITHOUT.values()
        cells = {name: read_chapter(PROJECT / "course/chapters" / f"{core[name]}.py").exercise(name) for name in core}
        solved = {name: marked_regions.solution_cell(cell.source) for name, cell in cells.items()}

        assert core.keys() - set(PROGRAMS) == short | given | facts | two | long
        assert short == {n for n in core if min(size(t) for t in [solved[n], *_rights(n)]) <= 2} - set(PROGRAMS) - facts
        assert given == {n for n in core if any(each.tag == UNTOUCHED_TAG for each in _bank(n))} - set(PROGRAMS)
        assert two == {n for n in core if len(DEFINED.findall(bare(solved[n]))) > 1} - given - set(PROGRAMS)
        assert long == {n for n in core if size(solved[n]) > 20} - given - two

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_order_in_the_file_says_nothing(self, name: str) -> None:
        """The lines are sorted and not indented, none occurs twice, and at least one has a gap."""
        head, lines, _ = parse_puzzle_file(COURSE.arranged(name))
        assert sorted(lines) == lines == [line.strip() for line in lines] and len(set(lines)) == len(lines)
        assert head.startswith((f"def {name}(", f"class {name}(")) and any(GAP in line for line in lines)

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_no_line_is_the_reference_solutions(self, name: str) -> None:
        """No line is a secret line of the reference solution."""
        stem = COURSE.find(name).chapter
        path = PROJECT / "course" / "chapters" / f"{stem}.py"
        secret = leaks.secrets({path: ""}) & leaks.telling(read_chapter(path).exercise(name).source)
        assert secret and [] == leaks.find(secret, {name: COURSE.arranged(name)})

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_distractors_are_mistakes(self, name: str) -> None:
        """The right program leaves out two lines: each stands in a wrong answer of the bank, or makes its mistake."""
        pieces = shuffled_pieces(name, 0)
        used = {number for number, _ in solved(pieces)[0]}
        left = [line for number, line in enumerate(pieces.lines, 1) if number not in used]
        wrong = {line for answer in _bank(name) if not answer.is_right for line in _lines_of(answer.source)}
        assert DISTRACTORS == len(left)
        assert [] == [line for line in left if names_aside(line) not in wrong and not any(mistakes_with(name, line))]

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_lines_of_mistakes_are_so(self, name: str) -> None:
        """Each line of a mistake stands in the bank's answer with that tag, or makes that mistake, and stands once."""
        _, lines, of_mistakes = parse_puzzle_file(COURSE.arranged(name))
        bank = {each.tag: _lines_of(each.source) for each in _bank(name)}
        assert of_mistakes and list(of_mistakes) == sorted(of_mistakes)
        assert not set(of_mistakes.values()) & set(lines)
        other = {tag: line for tag, line in of_mistakes.items() if names_aside(line) not in bank[tag]}
        assert [] == [tag for tag, line in other.items() if all(tag not in told for told in mistakes_with(name, line))]

    def test_a_line_of_the_mistake_just_shown(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """After a check that names a mistake, a line of it is among those to arrange, and the right ones still are."""
        monkeypatch.setattr(check_and_hint, "LAST_REPORTS", reports := {})
        monkeypatch.setattr(arranged_program_check, "LAST_REPORTS", reports)
        before = arrange("running_loss", seed=0)
        names: dict[str, Any] = {}
        exec(
            "def running_loss(losses):\n    for loss in losses:\n        loss.backward()\n    return loss.item()", names
        )
        check("running_loss", names["running_loss"])
        _, lines, of_mistakes = parse_puzzle_file(COURSE.arranged("running_loss"))
        after = arrange("running_loss", seed=0)
        assert of_mistakes["last-loss-only"] in repr(after) and of_mistakes["last-loss-only"] not in repr(before)
        assert of_mistakes["list-first"] not in repr(after) and all(line in repr(after) for line in lines)

    def test_solutions_would_be_found(self, tmp_path: Path) -> None:
        """The search finds a line of the reference."""
        path = PROJECT / "course/chapters" / f"{COURSE.find('descend').chapter}.py"
        line = "f(x).backward()"
        assert leaks.find(leaks.secrets({path: ""}), {"arranged": line})


class TestOrder:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_one_is_right(self, name: str) -> None:
        """The right order passes the check, and the progress log does not change."""
        before = PROGRESS_LOG.read()
        order, fill = solved(shuffled_pieces(name, 0))
        made = arrange(name, order=order, fill=fill, seed=0)
        assert made.text == PROGRAMS[name]
        assert "checks passed" in made.said and f"{name}: all" in made.said and before == PROGRESS_LOG.read()

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_levels_may_be_left_out_going_down(self, name: str) -> None:
        """Without a level, a line after a colon is indented one level more."""
        order, fill = solved(shuffled_pieces(name, 0))
        text = arrangement_from_call(shuffled_pieces(name, 0), [number for number, _ in order], fill).text(
            shuffled_pieces(name, 0)
        )
        assert text.splitlines()[:3] == PROGRAMS[name].splitlines()[:3]

    @pytest.mark.parametrize(
        ("lines", "tag"),
        [
            ((LOSS, BACK, CLEAR, STEP, GIVE), "zero-after-backward"),
            ((LOSS, BACK, STEP, CLEAR, GIVE), "clears-at-the-end"),
            ((CLEAR, LOSS, BACK, GIVE), "no-step"),
            (("model.train()", CLEAR, LOSS, BACK, STEP, GIVE), "sets-train-mode"),
        ],
    )
    def test_wrong_orders_get_the_banks_sentences(self, lines: tuple[str, ...], tag: str) -> None:
        """A wrong order gets the message that the check has for the same mistake."""
        fills = {f"gap{lines.index(LOSS)}": "model(x_batch)", f"gap{lines.index(GIVE)}": "item()"}
        (known,) = [each for each in _bank("train_step") if each.tag == tag]
        assert known.sentence in repr(put(*lines, **fills))

    def test_same_for_the_same_reader(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A user always gets the same order of lines, and another user gets another one."""
        orders = []
        for user in ("ada", "ada", "grace"):
            monkeypatch.setenv("JUPYTERHUB_USER", user)
            orders.append(shuffled_pieces("evaluate").lines)
        assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == sorted(orders[2])

    def test_notebook_keeps_its_names(self, notebook: dict[str, Any]) -> None:
        """The program runs in a copy of the notebook's namespace, and adds no name to it."""
        put(CLEAR, GIVE, gap1="item()")
        assert "train_step" not in notebook


class TestTrouble:
    @pytest.mark.parametrize(
        ("order", "told"),
        [
            ([99], "the number of a line"),
            ([1, 1], "twice"),
            ([(1, 9)], "a level from 0"),
            (["1"], "the number of a line"),
        ],
    )
    def test_order_of_other_lines(self, order: list[object], told: str) -> None:
        """An order with unknown or repeated lines or levels raises ValueError."""
        with pytest.raises(ValueError, match=told):
            arrange("train_step", order=order)

    def test_exercise_without_lines(self) -> None:
        """For an exercise without lines, the error lists the exercises that have some."""
        with pytest.raises(UnknownExercise, match="There are some for Linear, MLP, "):
            arrange("sin_fit")

    def test_open_gap(self) -> None:
        """A check of a program with an open gap is refused, and the message quotes the line."""
        with pytest.raises(InvalidChoice, match=re.escape("Fill the gap in `loss = criterion(___, y_batch)`")):
            put(CLEAR, LOSS)

    @pytest.mark.parametrize(
        ("fill", "told"),
        [("(", "Python cannot read this"), ("model(x_batch)) + (1", "train_step: ")],
        ids=["no Python", "some Python"],
    )
    def test_gap_with_anything(self, fill: str, told: str) -> None:
        """A gap that makes the program invalid is refused; a valid program is judged."""
        try:
            said = repr(put(CLEAR, LOSS, gap1=fill))
        except InvalidChoice as error:
            said = str(error)
        assert told in said

    def test_program_that_cannot_be_defined(self) -> None:
        """If the definition itself raises, the page shows the error in one line."""
        pieces = shuffled_pieces("train_step", 0)
        place = pieces.lines.index(CLEAR) + 1
        made = Arranger(
            Pieces("train_step", "def train_step(a=1 / 0):", pieces.lines), arrangement_from_call(pieces, [place], {})
        )
        sent(made, {"choose": "check"})
        assert "This program cannot be run: ZeroDivisionError: division by zero" in made.picture


class TestPage:
    def test_message_is_taken(self) -> None:
        """The page's message sets order, levels and gaps; a check then judges them."""
        made = arrange("train_step", seed=0)
        order, fill = solved(shuffled_pieces("train_step", 0))
        sent(
            made,
            {
                "choose": "arrange",
                "value": {"placed": [list(pair) for pair in order], "fills": {str(n): t for n, t in fill.items()}},
            },
        )
        assert made.text == PROGRAMS["train_step"] and made.said == "5 of 7 lines are in your program."
        sent(made, {"choose": "check"})
        assert "What counts is your answer cell" in made.picture
        sent(made, {"choose": "arrange", "value": {"placed": [], "fills": {}}})
        assert "the order that you checked last" in made.picture and "What counts" not in made.picture

    @pytest.mark.parametrize(
        "value",
        [
            None,
            [],
            {"placed": [[1, 0]]},
            {"placed": [[1, 0], [1, 0]], "fills": {}},
            {"placed": [[0, 0]], "fills": {}},
            {"placed": [[8, 0]], "fills": {}},
            {"placed": [[1, DEEPEST + 1]], "fills": {}},
            {"placed": [[True, 0]], "fills": {}},
            {"placed": [["1", 0]], "fills": {}},
            {"placed": [], "fills": {"9": ["x"]}},
            {"placed": [], "fills": {"1": "x"}},
            {"placed": [], "fills": {"1": ["x" * (LONGEST + 1)]}},
            {"placed": [], "fills": {"1": ["x\nimport os"]}},
        ],
        ids=range(13),
    )
    def test_other_messages_change_nothing(self, value: object) -> None:
        """An invalid message shows a note, and the order does not change."""
        made = arrange("train_step", seed=0)
        sent(made, {"choose": "arrange", "value": value})
        assert "x-note" in made.picture and made.text.count("\n") == 1

    def test_empty_program_is_refused(self) -> None:
        """A check of an empty program shows a note."""
        made = arrange("train_step")
        sent(made, {"choose": "check"})
        assert "Your program is empty" in made.picture

    def test_without_a_page(self) -> None:
        """The text version has all numbered lines and an example call; the HTML version is a list without buttons."""
        made = arrange("evaluate", seed=0)
        data = bundle(made)
        lines = shuffled_pieces("evaluate", 0).lines
        assert all(f"{number:3}  {line}" in data["text/plain"] for number, line in enumerate(lines, 1))
        assert 'arrange("evaluate", order=[' in data["text/plain"] and repr(made) == data["text/plain"]
        assert len(lines) == data["text/html"].count("<li>") and "<button" not in data["text/html"]
