"""The generators of the course's review questions: each draw has one right choice, and each fact is in the ledger."""

from __future__ import annotations

from random import Random

import pytest
import yaml

from autograder.questions.computed_question import CHOICES, RIGHT, outcome
from autograder.questions.question_generators import QuestionGenerator, question_generators
from tests.our_course import COURSE

DRAWS = 50
FEWEST = 15  # generators of a chapter
GENERATORS = question_generators(COURSE)
LEDGER = sorted((COURSE.folder / "ledger").glob("*.yml"))
FACTS = {path.stem: {fact["id"] for fact in yaml.safe_load(path.read_text(encoding="utf-8"))} for path in LEDGER}


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_each_draw_has_one_right_choice(generator: QuestionGenerator) -> None:
    """Running the program gives the right choice again, and none of the three others."""
    for seed in range(DRAWS):
        question = generator.question(Random(seed))

        assert len(set(question.choices)) == CHOICES
        assert outcome(question.code, question.expression) == question.right_choice
        assert question.right_choice in question.explanation and RIGHT not in question.explanation


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_draws_differ_and_repeat(generator: QuestionGenerator) -> None:
    """Draws differ in program and right choice; the same state of `random` gives the same question."""
    drawn = [generator.question(Random(seed)) for seed in range(40)]

    assert len({question.code for question in drawn}) > 5
    assert len({question.right_choice for question in drawn}) > 1
    assert generator.question(Random(0)) == drawn[0]


@pytest.mark.parametrize("generator", GENERATORS.values(), ids=GENERATORS)
def test_facts_are_in_the_ledger(generator: QuestionGenerator) -> None:
    """Each fact that a generator names stands in the ledger; its first ones stand in that of its own chapter."""
    chapter = {fact for stem, facts in FACTS.items() if stem[:4] == generator.sitting[:4] for fact in facts}

    assert generator.sitting in FACTS
    assert set(generator.facts) <= chapter
    assert set(generator.also) <= set().union(*FACTS.values()) - set(generator.facts)


def test_each_chapter_has_enough_generators() -> None:
    """A chapter with generators has at least 15 of them."""
    chapters = [generator.sitting[:4] for generator in GENERATORS.values()]

    assert min(map(chapters.count, chapters)) >= FEWEST
