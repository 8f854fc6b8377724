"""The generators of review questions: each question has one right choice, and each core fact of the ledger is asked."""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from random import Random

import pytest
import torch
import yaml

from autograder.course.chapter_model import CellKind
from autograder.course.chapter_reader import read_chapter
from autograder.course.course import course_in
from autograder.course.course_location import chapter_id, chapter_path
from autograder.errors import ExerciseError
from autograder.questions.computed_question import (
    NUMBER_OF_CHOICES,
    RIGHT,
    Draft,
    finish_question,
    run_and_describe,
    value_as_choice_text,
)
from autograder.questions.question_generator_registry import QuestionGenerators, question_generators
from autograder.questions.review_schedule import ReviewAnswer, choose_generators
from explorers.review_quiz import QUESTIONS, short_sitting_name
from tests.small_chapter import PROJECT

COURSE = course_in(PROJECT / "course")
GENERATORS = question_generators(COURSE)
CHAPTERS = sorted({chapter_id(each.sitting) for each in GENERATORS.values()})
ENOUGH, DIFFERENT = 15, 8  # generators of a chapter; questions of a generator


@cache
def ledger() -> dict[str, str]:
    """Return the sitting of each fact of the ledger; the core ones' names begin with `*`."""
    found: dict[str, str] = {}
    for path in sorted((COURSE.folder / "ledger").glob("*.yml")):
        for entry in yaml.safe_load(path.read_text(encoding="utf-8")):
            found[f"{'*' if entry.get('core') else ''}{entry['id']}"] = path.stem
    return found


def core_facts(chapter: str) -> set[str]:
    """Return the core facts of a chapter."""
    return {fact[1:] for fact, sitting in ledger().items() if fact[0] == "*" and chapter_id(sitting) == chapter}


def drawn(name: str, draws: int) -> None:
    """Draw questions of a generator, and run the program of each."""
    each, different, right = GENERATORS[name], set(), set()
    for seed in range(draws):
        question = each.question(Random(seed))
        different.add((question.code, question.expression))
        right.add(question.right_choice)
        again, _ = run_and_describe(question.code, question.expression)

        assert len(question.choices) == NUMBER_OF_CHOICES and question.right_choice == again
        assert again in question.explanation and RIGHT not in question.explanation + question.prompt
        assert question == each.question(Random(seed))
    assert len(different) >= min(DIFFERENT, draws // 3) and len(right) > 1


@pytest.mark.parametrize("name", GENERATORS)
def test_questions_are_right(name: str) -> None:
    """A few questions of each generator have four choices, of which running the program gives the one that is right."""
    drawn(name, 12)


@pytest.mark.night
@pytest.mark.parametrize("name", GENERATORS)
def test_many_questions_are_right(name: str) -> None:
    """At night, two hundred of each; then enough of them are different ones."""
    drawn(name, 200)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_chapter_has_enough(chapter: str) -> None:
    """Fifteen generators at least, and each sitting with core facts has some."""
    mine = [each for each in GENERATORS.values() if chapter_id(each.sitting) == chapter]

    assert len(mine) >= ENOUGH
    assert {each.sitting for each in mine} <= set(COURSE.stems)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_each_core_fact_is_asked(chapter: str) -> None:
    """Each core fact of a chapter with generators is asked in a sitting that nobody leaves out."""
    asked = {fact for each in GENERATORS.values() if not each.optional for fact in each.facts}

    assert core_facts(chapter) - asked == set()


def test_what_is_asked_stands_in_the_ledger() -> None:
    """A generator asks about core facts, and touches others; all of them are in the ledger."""
    known = {fact.lstrip("*") for fact in ledger()}
    core = {fact[1:] for fact in ledger() if fact[0] == "*"}

    assert {each.name: loose for each in GENERATORS.values() if (loose := set(each.facts) - core)} == {}
    assert {each.name: loose for each in GENERATORS.values() if (loose := set(each.also) - known)} == {}


@pytest.fixture(scope="module")
def sittings() -> list[str]:
    """Return the sittings that nobody leaves out, in order."""
    optional = {each.sitting for each in GENERATORS.values() if each.optional}
    return [each.stem for each in COURSE.listed if each.stem not in optional]


AFTERWARDS = (1, 3, 7, 21)  # days after the last sitting on which a reader comes back


def days_asked(sittings: list[str], days: float, share: float, seed: int) -> tuple[Counter[str], Counter[str]]:
    """Return on how many days each core fact is asked: by the last sitting, and by the last day afterwards.

    The reader begins a sitting every so many days, and answers this share of the questions right.
    """
    random, answers, begin = Random(seed), [], date(2026, 9, 1)
    asked: dict[str, set[date]] = {}

    def review(read: list[str], day: date) -> None:
        there = [each for each in GENERATORS.values() if each.sitting in read]
        for each in choose_generators(there, answers, day, QUESTIONS):
            answers.append(ReviewAnswer(day, each.name, each.facts, random.random() < share))
            for fact in each.facts:
                asked.setdefault(fact, set()).add(day)

    for place in range(1, len(sittings)):
        review(sittings[:place], begin + timedelta(int(place * days)))
    last = Counter({fact: len(found) for fact, found in asked.items()})
    for later in AFTERWARDS:
        review(sittings, begin + timedelta(int((len(sittings) - 1) * days) + later))
    return last, Counter({fact: len(found) for fact, found in asked.items()})


CORE = sorted(fact for chapter in CHAPTERS for fact in core_facts(chapter))


@pytest.mark.parametrize("days", [7 / 18, 6], ids=["a week", "a term"])
class TestReaders:
    """Simulated readers, who begin a sitting every so many days."""

    def test_who_is_always_right(self, sittings: list[str], days: float) -> None:
        """At the last sitting four of five core facts were asked on two days, and after a few days more all of them."""
        last, end = days_asked(sittings, days, 1.0, 0)

        assert sum(last[fact] >= 2 for fact in CORE) >= 0.8 * len(CORE)
        assert [fact for fact in CORE if end[fact] < 2] == []

    @pytest.mark.parametrize("seed", range(3))
    def test_who_is_wrong_in_one_of_five(self, sittings: list[str], days: float, seed: int) -> None:
        """With what comes back because it was wrong, all core facts but one at most are asked on two days."""
        _, end = days_asked(sittings, days, 0.8, seed)

        assert sum(end[fact] < 2 for fact in CORE) <= 1


@pytest.mark.parametrize("place", range(1, len(COURSE.listed)))
def test_each_sitting_begins_with_a_review(place: int) -> None:
    """From the second sitting on, a sentence and `review` with the sitting's own name stand below the set-up."""
    chapter = read_chapter(chapter_path(COURSE.folder, COURSE.listed[place].stem))
    kinds = [cell.kind for cell in chapter.cells]
    _, invitation, call = chapter.cells[kinds.index(CellKind.SETUP) :][:3]

    assert invitation.kind is CellKind.MARKDOWN and "five questions" in invitation.source
    assert call.source.strip() == f'review("{short_sitting_name(chapter.stem)}")'


def test_no_fact_is_asked_before_it_is_taught() -> None:
    """What a generator asks about stands in its own chapter or in an earlier one, but for what a later one sums up."""
    sums_up = {"first-losses", "group-by-examples"}  # of the last chapter, which returns to what chapter 4 has shown
    early = {
        (each.name, fact)
        for each in GENERATORS.values()
        for fact in each.facts
        if fact not in sums_up and chapter_id(ledger()[f"*{fact}"]) > chapter_id(each.sitting)
    }

    assert early == set()


def test_a_question_is_what_running_its_program_gives() -> None:
    """Floats have four digits, an error names its line, and what a program draws or prints has no effect here."""
    assert value_as_choice_text((2.0, [1 / 3], -0.0, (True,))) == "(2.0, [0.3333], 0.0, (True,))"
    assert value_as_choice_text(torch.tensor([[1.0, 2.5], [100.0, -0.0]])) == "[[1, 2.5], [100, 0]]"
    assert run_and_describe("x = torch.ones(2)\ny = x @ torch.ones(3)", "y") == ("an error in line 2", False)
    assert run_and_describe("print('no')\nx = torch.rand(1)", "x.item() == torch.rand(1).item()") == ("False", False)


def test_wrong_choices_have_the_digits_that_the_question_asks_for() -> None:
    """Where the expression rounds, a wrong choice with more digits would be known by them."""
    question = finish_question(Draft("x = 2 / 3", "round(x, 2)", [1.38629, 12.38629, 5.5], "So."), "k", "a", Random(0))

    assert question is not None and {"0.67", "1.39", "12.39", "5.5"} == {*question.choices}


def test_choices_that_look_alike_make_no_question() -> None:
    """Two numbers that one could take for a rounding of each other are not both offered."""
    draft = Draft("x = 1 / 3", "x", [0.3334, 1 / 3, "0.3333"], f"It is {RIGHT}.")
    assert finish_question(draft, "k", "a", Random(0)) is None
    draft = Draft("x = 1 / 3", "x", [0.3334, 0.5, 0.25, 3], f"It is {RIGHT}.")
    question = finish_question(draft, "k", "a", Random(0))
    assert question is not None and sorted(question.choices) == ["0.25", "0.3333", "0.5", "3.0"]
    assert question.explanation == "It is 0.3333."


def test_a_generator_that_cannot_ask_is_named() -> None:
    """A generator needs a fact, a name of its own, and four choices that differ."""
    generators = QuestionGenerators()
    about = generators.from_sitting("ch01_made")
    with pytest.raises(ExerciseError, match="expected a fact and a name of its own for the generator alike"):
        about()(alike)
    about("fact")(alike)
    with pytest.raises(ExerciseError, match="a name of its own for the generator alike"):
        about("fact")(alike)
    with pytest.raises(ExerciseError, match="expected the generator alike to give a question with different choices"):
        generators.by_name["alike"].question(Random(0))


def alike(_: Random) -> Draft:
    """Draw a question whose choices are all the same."""
    return Draft("x = 1", "x", [1, 1, 1], RIGHT)


def test_generators_have_different_names() -> None:
    """Over all chapters, no two are called alike: the log names them."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(Path(COURSE.folder).glob("review_questions/ch*.py"))]
    names = Counter(name for text in texts for name in re.findall(r"^def (\w+)\(random: Random\)", text, re.MULTILINE))

    assert {name for name, count in names.items() if count > 1} == set()
    assert len(GENERATORS) == names.total()
