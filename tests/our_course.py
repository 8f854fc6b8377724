"""This project's own course, for the tests that concern its exercises."""

from collections.abc import Callable
from functools import cache
from typing import Any

from autograder.course.chapter_judge import Judge
from autograder.course.course import course_in
from tests.small_chapter import PROJECT

COURSE = course_in(PROJECT / "course")


@cache
def judge_of(name: str) -> Judge:
    """Return the judge of one exercise."""
    return Judge(COURSE.folder, COURSE.find(name).chapter, only=name)


def answer_in(name: str, text: str) -> Callable[..., Any]:
    """Return the answer that a cell defines, run below the setup cell of its chapter."""
    namespace: dict[str, Any] = {"__name__": "student"}
    exec(judge_of(name).chapter.prelude + "\n" + text, namespace)
    answer: Callable[..., Any] = namespace[name]
    return answer
