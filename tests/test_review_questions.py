"""The generators of review questions: each question has one right choice, and each core fact of the ledger is asked."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import pytest
import yaml

from autograder.course.course import course_in
from autograder.course.course_location import chapter_code
from autograder.errors import ExerciseError
from autograder.questions.computed_question import CHOICES, RIGHT, Draft, finished_question, in_words, outcome
from autograder.questions.question_generators import QuestionGenerators, question_generators
from tests.small_chapter import PROJECT

COURSE = course_in(PROJECT / "course")
GENERATORS = question_generators(COURSE)
CHAPTERS = sorted({chapter_code(each.sitting) for each in GENERATORS.values()})
ENOUGH, DIFFERENT = 15, 25  # generators of a chapter; questions of a generator


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
    return {fact[1:] for fact, sitting in ledger().items() if fact[0] == "*" and chapter_code(sitting) == chapter}


def drawn(name: str, draws: int) -> None:
    """Draw questions of a generator, and run the program of each."""
    each, different, right = GENERATORS[name], set(), set()
    for seed in range(draws):
        question = each.question(Random(seed))
        different.add((question.code, question.expression))
        right.add(question.right_choice)
        again = outcome(question.code, question.expression)

        assert len(question.choices) == CHOICES and question.right_choice == again
        assert again in question.explanation and RIGHT not in question.explanation + question.prompt
        assert question == each.question(Random(seed))
    assert len(different) >= min(DIFFERENT, draws // 2) and len(right) > 1


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
    mine = [each for each in GENERATORS.values() if chapter_code(each.sitting) == chapter]

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


def test_no_fact_is_asked_before_it_is_taught() -> None:
    """What a generator asks about stands in its own chapter or in an earlier one, but for what a later one sums up."""
    sums_up = {"first-losses", "group-by-examples"}  # of the last chapter, which returns to what chapter 4 has shown
    early = {
        (each.name, fact)
        for each in GENERATORS.values()
        for fact in each.facts
        if fact not in sums_up and chapter_code(ledger()[f"*{fact}"]) > chapter_code(each.sitting)
    }

    assert early == set()


def test_a_question_is_what_running_its_program_gives() -> None:
    """Floats have four digits, an error names its line, and what a program draws or prints has no effect here."""
    assert in_words((2.0, [1 / 3], -0.0, (True,))) == "(2, [0.3333], 0, (True,))"
    assert outcome("x = torch.ones(2)\ny = x @ torch.ones(3)", "y") == "an error in line 2"
    assert outcome("print('no')\nx = torch.rand(1)", "x.item() == torch.rand(1).item()") == "False"


def test_choices_that_look_alike_make_no_question() -> None:
    """Two numbers that one could take for a rounding of each other are not both offered."""
    draft = Draft("x = 1 / 3", "x", [0.3334, 1 / 3, "0.3333"], f"It is {RIGHT}.")
    assert finished_question(draft, "k", "a", Random(0)) is None
    draft = Draft("x = 1 / 3", "x", [0.3334, 0.5, 0.25, 3], f"It is {RIGHT}.")
    question = finished_question(draft, "k", "a", Random(0))
    assert question is not None and sorted(question.choices) == ["0.25", "0.3333", "0.5", "3"]
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
