"""The card at the end of a chapter: never before all points are earned, and with what the reader wrote."""

from __future__ import annotations

import base64
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest
import torch
from torch import Tensor

from autograder import check, progress
from autograder.course.exercise_index import IndexedChapter
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.notebook import completion_card, last_check, progress_log
from autograder.notebook.last_check import CHECKED, LastCheck
from autograder.notebook.progress_log import LOGBOOK
from autograder.notebook.progress_overview import card_after
from tests.our_course import COURSE
from tests.test_checking import flatten_images

FIRST = COURSE.listed[0]
WITH_POINTS = [name for name, worth in FIRST.exercises.items() if worth.points]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The names of a notebook whose kernel started in an empty folder."""
    shell = SimpleNamespace(kernel=object(), starting_dir=str(tmp_path), user_ns={}, history_manager=None)
    for module in (progress_log, last_check):
        monkeypatch.setattr(module, "get_ipython", lambda: shell)
    monkeypatch.setattr(LOGBOOK, "_own", {})
    for name in list(CHECKED):
        monkeypatch.delitem(CHECKED, name)
    return shell.user_ns


def passes(*exercises: str) -> None:
    """The last check of each has passed."""
    for name in exercises:
        LOGBOOK.note(Report(name, (Verdict("all", Status.PASS),)))


def fails(name: str) -> None:
    """The last check of one has not."""
    LOGBOOK.note(Report(name, (Verdict("all", Status.FAIL),)))


def made() -> completion_card.Card:
    """The card of chapter 1."""
    found = progress(1).card
    assert found is not None
    return found


@pytest.mark.usefixtures("names")
class TestWhen:
    def test_not_before_the_last_point(self) -> None:
        """One exercise is open, or was broken again."""
        assert progress(1).card is None
        passes(*WITH_POINTS[:-1])
        assert progress(1).card is None
        passes(WITH_POINTS[-1])
        assert progress(1).card is not None
        fails(WITH_POINTS[2])
        assert progress(1).card is None

    def test_extra_credit_is_not_asked_for(self) -> None:
        """It alone earns no card."""
        passes(*set(FIRST.exercises) - set(WITH_POINTS))
        assert progress(1).card is None

    def test_once_after_the_pass_that_was_missing(self) -> None:
        """Whoever runs the cell again finds it below `progress`."""
        passes(*WITH_POINTS[1:])
        before, _ = LOGBOOK.read()
        passes(WITH_POINTS[0])
        after, _ = LOGBOOK.read()

        assert card_after(WITH_POINTS[0], before) is not None
        assert card_after(WITH_POINTS[0], after) is None

    def test_check_shows_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Below the feedback on the last exercise that was open."""
        passes(*set(WITH_POINTS) - {"flatten_images"})
        check("flatten_images", lambda x: x)
        assert "You can now" not in capsys.readouterr().out
        check("flatten_images", flatten_images)
        assert "You can now" in capsys.readouterr().out

    def test_where_no_reader_works_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """In grading, and in our own runs."""
        monkeypatch.setenv(progress_log.OFF, "off")
        assert progress(1).card is None
        monkeypatch.setattr(progress_log, "get_ipython", lambda: None)
        assert completion_card.card_of(FIRST) is None


class TestPicture:
    def answer(self, names: dict[str, Any], answer: Any, passed: bool = True) -> None:
        """One that this kernel has checked."""
        passes(*WITH_POINTS)
        names["pairwise_sq_dists"] = answer
        CHECKED["pairwise_sq_dists"] = LastCheck(answer, "pairwise_sq_dists", passed)

    def test_with_the_readers_own(self, names: dict[str, Any]) -> None:
        """It runs, and the words say so."""
        calls = []

        def own(a: Tensor, b: Tensor) -> Tensor:
            calls.append(len(b))
            return ((a[:, None] - b) ** 2).sum(dim=2)

        self.answer(names, own)
        assert "With your `pairwise_sq_dists` they read 90%" in made().words and [10] == calls

    @pytest.mark.parametrize("kind", ["not passed", "written anew", "raises"])
    def test_else_without(self, names: dict[str, Any], kind: str) -> None:
        """What was not passed is not said to be the reader's; whatever an answer does, there is a picture."""
        self.answer(names, lambda a, b: 1 / 0, passed=kind != "not passed")
        if kind == "written anew":
            names["pairwise_sq_dists"] = None
        assert "With the lesson's distances" in made().words and made().svg.startswith("<svg")

    def test_dice_are_not_disturbed(self, names: dict[str, Any]) -> None:
        """What the reader draws next is as it would have been."""
        self.answer(names, lambda a, b: torch.cdist(a, b + 0 * torch.rand(1)))
        torch.manual_seed(3)
        expected = torch.rand(2).tolist()
        torch.manual_seed(3)
        made()
        assert expected == torch.rand(2).tolist()


@pytest.mark.usefixtures("names")
class TestShown:
    def test_text_says_all(self) -> None:
        """The chapter, what the reader can do, and what the picture shows."""
        passes(*WITH_POINTS)
        told, lines = str(progress(1)), COURSE.card(FIRST.stem).CAN_NOW  # type: ignore[union-attr]
        assert f"{FIRST.title}: all exercises with points have passed. You can now" in told
        assert all(f"  ✓ {line}" in told for line in lines) and told.endswith(made().words)

    def test_image_is_whole(self) -> None:
        """Well-formed, on paper, with words of its own and the picture inside; nothing is fetched."""
        passes(*WITH_POINTS)
        (encoded,) = re.findall(
            r'href="data:image/svg\+xml;base64,([^"]+)" download="(?:\w+)\.svg"', made()._repr_html_()
        )
        image = ElementTree.fromstring(base64.b64decode(encoded))
        texts = [each.text for each in image.iter("{http://www.w3.org/2000/svg}text")]
        assert FIRST.title in texts and image.get("role") == "img" and "You can now" in image.get("aria-label", "")
        assert not re.search(r'(href|src)="http', made().image())

    def test_page_takes_its_ink(self) -> None:
        """Light or dark."""
        passes(*WITH_POINTS)
        assert "currentColor" in made().svg and "#222222" not in made().svg


@pytest.mark.parametrize("chapter", COURSE.listed, ids=lambda each: each.stem)
def test_every_chapter_has_one(chapter: IndexedChapter) -> None:
    """Three or four short lines that go on from "You can now"."""
    module = COURSE.card(chapter.stem)
    assert module is not None and module.__doc__ and 3 <= len(module.CAN_NOW) <= 4
    assert all(len(line) <= 80 and line[0].islower() and line[-1] not in ".," for line in module.CAN_NOW)


def test_a_course_without_cards_has_none(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Its progress is as it was."""
    monkeypatch.setattr("autograder.course.course.CARDS", "no_such_folder")
    passes(*WITH_POINTS)
    assert progress(1).card is None
