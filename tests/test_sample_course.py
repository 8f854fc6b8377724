"""The tests' own course is built and has exercises of all kinds."""

from __future__ import annotations

from autograder.authoring.build_course import list_stale_generated_files
from tests.sample_course import COURSE, STEM, sample_judge
from tests.small_chapter import SAMPLE


def test_it_is_in_sync() -> None:
    """Its notebooks and shipped files are those that a build would write."""
    problems = [str(problem) for problem in list_stale_generated_files(SAMPLE)]

    assert [] == problems, "run `autograder --root tests/sample build`"


def test_it_has_exercises_of_all_kinds() -> None:
    """It has all tiers, independent parts, rules, extra credit, slips, and messages shared with mistakes or facets."""
    exercises, answers = list(COURSE.exercises(STEM)), [each for bank in sample_judge().banks.values() for each in bank]

    assert {"warm-up", "core", "stretch"} == {each.tier for each in exercises}
    assert any(each.independent for each in exercises) and any(each.rules for each in exercises)
    assert any(worth.extra for worth in COURSE.listed[0].exercises.values())
    assert any(each.slip for each in answers) and any(each.also for each in answers)
    assert any(each.facet for each in answers) and any(each.is_right for each in answers)
