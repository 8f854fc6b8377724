"""Lines to put in order: no order is handed out, one is right, and a wrong one is told what its mistake is."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import pytest
import torch
from IPython.core.interactiveshell import InteractiveShell
from torch import nn
from torch.nn import functional

from autograder.course.answer_bank import AnswerBank, load_bank
from autograder.course.chapter_reader import read_chapter
from autograder.course.course_location import bank_path
from autograder.errors import UnknownExercise
from autograder.notebook.progress_log import LOGBOOK
from explorers import arrange
from explorers.controls import Refused
from explorers.line_puzzle import DEEPEST, GAP, LONGEST, Pieces, arrangement_of, pieces_of, puzzle_names
from explorers.line_puzzle_widget import Arranger
from tests import leaks
from tests.arranged_programs import PROGRAMS
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_explorer_widget import bundle, sent

FOLDER = PROJECT / "course" / "arranged"
DISTRACTORS = 2


@pytest.fixture(autouse=True)
def notebook(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names that the chapters' setup cells give."""
    shell = InteractiveShell.instance()
    for name, value in {"torch": torch, "nn": nn, "F": functional, "math": math}.items():
        monkeypatch.setitem(shell.user_ns, name, value)
    return shell.user_ns


def matching(line: str) -> re.Pattern[str]:
    """What a line may become when its gaps are filled."""
    return re.compile("(.+)".join(map(re.escape, line.split(GAP))))


def solved(pieces: Pieces) -> tuple[list[tuple[int, int]], dict[int, list[str]]]:
    """The order and the filling that give the right program."""
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
    return load_bank(bank_path(PROJECT / "course", COURSE.find(name).chapter, name))


def put(*lines: str, name: str = "train_step", **filled: str) -> Arranger:
    """An arrangement of these lines, each with what comes in place of its gap."""
    pieces = pieces_of(name, 0)
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


class TestLines:
    """What is handed out."""

    def test_there_are_eight(self) -> None:
        """And for each a right program, which the tests alone have."""
        assert 8 == len(puzzle_names()) and set(PROGRAMS) == set(puzzle_names())

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_order_in_the_file_says_nothing(self, name: str) -> None:
        """It is that of the alphabet; no line stands there twice, none is indented, and gaps are marked."""
        head, *lines = COURSE.arranged(name).splitlines()
        assert sorted(lines) == lines == [line.strip() for line in lines] and len(set(lines)) == len(lines)
        assert head.startswith(f"def {name}(") and any(GAP in line for line in lines)

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_no_line_is_the_reference_solutions(self, name: str) -> None:
        """Unless the chapter shows it to everybody."""
        stem = COURSE.find(name).chapter
        path = PROJECT / "course" / "chapters" / f"{stem}.py"
        secret = leaks.secrets({path: ""}) & leaks.telling(read_chapter(path).exercise(name).source)
        assert secret and [] == leaks.find(secret, {name: COURSE.arranged(name)})

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_distractors_are_the_banks(self, name: str) -> None:
        """Two lines are left when the program is right, and each is one that learners really write."""
        pieces = pieces_of(name, 0)
        used = {number for number, _ in solved(pieces)[0]}
        left = [line for number, line in enumerate(pieces.lines, 1) if number not in used]
        wrong = {line.strip() for answer in _bank(name) if not answer.is_right for line in answer.source.splitlines()}
        assert DISTRACTORS == len(left) and set(left) <= wrong

    def test_solutions_would_be_found(self, tmp_path: Path) -> None:
        """A line of the reference that somebody hands out is a leak still."""
        path = PROJECT / "course/chapters" / f"{COURSE.find('descend').chapter}.py"
        line = "x = x0.detach().clone().requires_grad_()"
        assert leaks.find(leaks.secrets({path: ""}, handed_out=line), {"arranged": line})


class TestOrder:
    @pytest.mark.parametrize("name", PROGRAMS)
    def test_one_is_right(self, name: str) -> None:
        """It passes as an answer does; nothing of it is noted as passed."""
        before = LOGBOOK.read()
        order, fill = solved(pieces_of(name, 0))
        made = arrange(name, order=order, fill=fill, seed=0)
        assert made.text == PROGRAMS[name]
        assert "checks passed" in made.said and f"{name}: all" in made.said and before == LOGBOOK.read()

    @pytest.mark.parametrize("name", PROGRAMS)
    def test_levels_may_be_left_out_going_down(self, name: str) -> None:
        """After a colon a line stands deeper by itself."""
        order, fill = solved(pieces_of(name, 0))
        text = arrangement_of(pieces_of(name, 0), [number for number, _ in order], fill).text(pieces_of(name, 0))
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
        """Those that the check has for the same mistake."""
        fills = {f"gap{lines.index(LOSS)}": "model(x_batch)", f"gap{lines.index(GIVE)}": "item()"}
        (known,) = [each for each in _bank("train_step") if each.tag == tag]
        assert known.sentence in repr(put(*lines, **fills))

    def test_same_for_the_same_reader(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """And another one for the neighbor."""
        orders = []
        for user in ("ada", "ada", "grace"):
            monkeypatch.setenv("JUPYTERHUB_USER", user)
            orders.append(pieces_of("evaluate").lines)
        assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == sorted(orders[2])

    def test_notebook_keeps_its_names(self, notebook: dict[str, Any]) -> None:
        """The program is run beside them, not among them."""
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
        """Expected, found."""
        with pytest.raises(ValueError, match=told):
            arrange("train_step", order=order)

    def test_exercise_without_lines(self) -> None:
        """One line says which there are."""
        with pytest.raises(UnknownExercise, match="There are some for accumulate, "):
            arrange("train")

    def test_open_gap(self) -> None:
        """It names the line."""
        with pytest.raises(Refused, match=re.escape("Fill the gap in `loss = criterion(___, y_batch)`")):
            put(CLEAR, LOSS)

    @pytest.mark.parametrize(
        ("fill", "told"),
        [("(", "Python cannot read this"), ("model(x_batch)) + (1", "train_step: ")],
        ids=["no Python", "some Python"],
    )
    def test_gap_with_anything(self, fill: str, told: str) -> None:
        """What is no program is said so; what is one is judged."""
        try:
            said = repr(put(CLEAR, LOSS, gap1=fill))
        except Refused as error:
            said = str(error)
        assert told in said

    def test_program_that_cannot_be_defined(self) -> None:
        """What goes wrong is told in a line, above what was there."""
        pieces = pieces_of("train_step", 0)
        place = pieces.lines.index(CLEAR) + 1
        made = Arranger(
            Pieces("train_step", "def train_step(a=1 / 0):", pieces.lines), arrangement_of(pieces, [place], {})
        )
        sent(made, {"choose": "check"})
        assert "This program cannot be run: ZeroDivisionError: division by zero" in made.picture


class TestPage:
    def test_message_is_taken(self) -> None:
        """Order, levels and gaps; then the check."""
        made = arrange("train_step", seed=0)
        order, fill = solved(pieces_of("train_step", 0))
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
        """They are told, and the order stays."""
        made = arrange("train_step", seed=0)
        sent(made, {"choose": "arrange", "value": value})
        assert "x-note" in made.picture and made.text.count("\n") == 1

    def test_empty_program_is_refused(self) -> None:
        """In words, above what was there."""
        made = arrange("train_step")
        sent(made, {"choose": "check"})
        assert "Your program is empty" in made.picture

    def test_without_a_page(self) -> None:
        """All lines with their numbers, and how to say an order; as HTML a list."""
        made = arrange("evaluate", seed=0)
        data = bundle(made)
        lines = pieces_of("evaluate", 0).lines
        assert all(f"{number:3}  {line}" in data["text/plain"] for number, line in enumerate(lines, 1))
        assert 'arrange("evaluate", order=[' in data["text/plain"] and repr(made) == data["text/plain"]
        assert len(lines) == data["text/html"].count("<li>") and "<button" not in data["text/html"]
