"""The completion card of a chapter: it appears only when all points are earned, and uses the reader's answer."""

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
from autograder.course.points_and_hints import IndexedChapter
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.notebook import last_checked_answer, progress_log, skills_card
from autograder.notebook.last_checked_answer import LAST_CHECKS, LastCheck
from autograder.notebook.progress_log import PROGRESS_LOG
from autograder.notebook.progress_overview import merge_sittings, next_exercise_message
from tests.our_course import COURSE
from tests.test_checking import flatten_images

FIRST = merge_sittings(COURSE.listed, COURSE.listed[0])
WITH_POINTS = [
    name
    for sitting in COURSE.listed
    if sitting.number == FIRST.number and not sitting.is_excursion
    for name, worth in sitting.exercises.items()
    if worth.points
]


@pytest.fixture
def names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Return the namespace of a notebook whose kernel started in an empty folder."""
    shell = SimpleNamespace(kernel=object(), starting_dir=str(tmp_path), user_ns={}, history_manager=None)
    for module in (progress_log, last_checked_answer):
        monkeypatch.setattr(module, "get_ipython", lambda: shell)
    monkeypatch.setattr(PROGRESS_LOG, "_own", {})
    for name in list(LAST_CHECKS):
        monkeypatch.delitem(LAST_CHECKS, name)
    return shell.user_ns


def passes(*exercises: str) -> None:
    """Log a passed check of each exercise."""
    for name in exercises:
        PROGRESS_LOG.note(Report(name, (Verdict("all", Status.PASS),)))


def fails(name: str) -> None:
    """Log a failed check of an exercise."""
    PROGRESS_LOG.note(Report(name, (Verdict("all", Status.FAIL),)))


def made() -> skills_card.Card:
    """Return the card of chapter 1."""
    found = progress(1).card
    assert found is not None
    return found


@pytest.mark.usefixtures("names")
class TestWhen:
    def test_not_before_the_last_point(self) -> None:
        """There is no card while an exercise with points is open, or after one fails again."""
        assert progress(1).card is None
        passes(*WITH_POINTS[:-1])
        assert progress(1).card is None
        passes(WITH_POINTS[-1])
        assert progress(1).card is not None
        fails(WITH_POINTS[2])
        assert progress(1).card is None

    def test_extra_credit_is_not_asked_for(self) -> None:
        """Passing only the extra-credit exercises gives no card."""
        passes(*set(FIRST.exercises) - set(WITH_POINTS))
        assert progress(1).card is None

    def test_an_excursion_is_not_asked_for(self) -> None:
        """Whoever leaves out a sitting that can be left out has the card all the same."""
        excursion = next(each for each in COURSE.listed if each.number == 1 and each.is_excursion)
        assert any(worth.points for worth in excursion.exercises.values())
        passes(*WITH_POINTS)
        assert progress(1).card is not None

    def test_told_once_after_the_pass_that_was_missing(self) -> None:
        """The check that completes the chapter says where the card is, and no later check does."""
        passes(*WITH_POINTS[1:])
        before, _ = PROGRESS_LOG.read()
        passes(WITH_POINTS[0])
        after, _ = PROGRESS_LOG.read()

        assert "`progress(1)` shows your card" in next_exercise_message(WITH_POINTS[0], before)
        assert "" == next_exercise_message(WITH_POINTS[0], after)

    def test_check_says_it(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The check that completes the chapter says so below its report, and the card does not cut into the text."""
        passes(*set(WITH_POINTS) - {"flatten_images"})
        check("flatten_images", lambda x: x)
        assert "is done" not in capsys.readouterr().out
        check("flatten_images", flatten_images)
        told = " ".join(capsys.readouterr().out.split())
        assert "Chapter 1 is done: `progress(1)` shows your card." in told and "You can now" not in told

    def test_where_no_reader_works_there_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """There is no card when progress is off, or outside a notebook."""
        monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
        assert progress(1).card is None
        monkeypatch.setattr(progress_log, "get_ipython", lambda: None)
        assert skills_card.make_skills_card(FIRST) is None


class TestPicture:
    def answer(self, names: dict[str, Any], answer: Any, passed: bool = True) -> None:
        """Log an answer that this kernel has checked."""
        passes(*WITH_POINTS)
        names["pairwise_sq_dists"] = answer
        LAST_CHECKS["pairwise_sq_dists"] = LastCheck(answer, "pairwise_sq_dists", passed)

    def test_with_the_readers_own(self, names: dict[str, Any]) -> None:
        """The picture uses the reader's own answer, and its words say so."""
        calls = []

        def own(a: Tensor, b: Tensor) -> Tensor:
            calls.append(len(b))
            return ((a[:, None] - b) ** 2).sum(dim=2)

        self.answer(names, own)
        assert "With your `pairwise_sq_dists` they read 90%" in made().words and [10] == calls

    @pytest.mark.parametrize("kind", ["not passed", "written anew", "raises"])
    def test_else_without(self, names: dict[str, Any], kind: str) -> None:
        """If the reader's answer has not passed, was replaced, or raises, the lesson's function is used."""
        self.answer(names, lambda a, b: 1 / 0, passed=kind != "not passed")
        if kind == "written anew":
            names["pairwise_sq_dists"] = None
        assert "With the lesson's distances" in made().words and made().svg.startswith("<svg")

    def test_dice_are_not_disturbed(self, names: dict[str, Any]) -> None:
        """Drawing the card does not change the state of torch's generator."""
        self.answer(names, lambda a, b: torch.cdist(a, b + 0 * torch.rand(1)))
        torch.manual_seed(3)
        expected = torch.rand(2).tolist()
        torch.manual_seed(3)
        made()
        assert expected == torch.rand(2).tolist()


@pytest.mark.usefixtures("names")
class TestShown:
    def test_text_says_all(self) -> None:
        """The text has the chapter, what the reader can do, and the words of the picture."""
        passes(*WITH_POINTS)
        told, lines = str(progress(1)), COURSE.card(FIRST.stem).CAN_NOW  # type: ignore[union-attr]
        assert f"{FIRST.title} is done. You can now" in told
        assert all(f"  ✓ {line}" in told for line in lines) and told.endswith(made().words)

    def test_image_is_whole(self) -> None:
        """The downloadable image is well-formed SVG with a title and a description, and loads nothing."""
        passes(*WITH_POINTS)
        (encoded,) = re.findall(
            r'href="data:image/svg\+xml;base64,([^"]+)" download="(?:\w+)\.svg"', made()._repr_html_()
        )
        image = ElementTree.fromstring(base64.b64decode(encoded))
        texts = [each.text for each in image.iter("{http://www.w3.org/2000/svg}text")]
        assert FIRST.title in texts and image.get("role") == "img" and "You can now" in image.get("aria-label", "")
        assert not re.search(r'(href|src)="http', made().image())

    def test_page_takes_its_ink(self) -> None:
        """The picture on the page uses the page's own text color."""
        passes(*WITH_POINTS)
        assert "currentColor" in made().svg and "#222222" not in made().svg


@pytest.mark.parametrize("chapter", COURSE.listed, ids=lambda each: each.stem)
def test_every_chapter_has_one(chapter: IndexedChapter) -> None:
    """Each chapter has three or four short lines that continue "You can now"."""
    module = COURSE.card(chapter.stem)
    assert module is not None and module.__doc__ and 3 <= len(module.CAN_NOW) <= 4
    assert all(len(line) <= 80 and line[0].islower() and line[-1] not in ".," for line in module.CAN_NOW)


def test_a_course_without_cards_has_none(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A course without cards shows its progress without one."""
    monkeypatch.setattr("autograder.course.course.CARDS", "no_such_folder")
    passes(*WITH_POINTS)
    assert progress(1).card is None
