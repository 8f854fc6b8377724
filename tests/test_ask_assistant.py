"""`ask_assistant`: what a student gives to an assistant, and what is never in it."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from IPython.utils.capture import capture_output

from autograder.course.chapter_reader import read_chapter
from autograder.diagnosis.judge_answer import judge
from autograder.errors import UnknownExercise
from autograder.notebook import check_and_hint
from autograder.notebook.assistant_prompt import sentences_of_possible_mistakes, text_for_assistant
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.test_check_and_grading import shell

__all__ = ["shell"]

STEM, NAME = "ch04a_training_loop", "train_step"
CHECK, ASK = f'check("{NAME}", {NAME})', f'ask_assistant("{NAME}")'
HEAD = f"def {NAME}(model, optimizer, criterion, x_batch, y_batch):\n"
LATE = f"""{HEAD}    loss = criterion(model(x_batch), y_batch)
    optimizer.zero_grad()
    optimizer.step()
    return 3.0"""
SETUP = read_chapter(COURSE.folder / "chapters" / f"{STEM}.py").prelude + "\nfrom autograder import ask_assistant"
LONG = 17  # characters of a line of a solution that says more than `return x`


@pytest.fixture
def run(shell: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that runs cells below the chapter's setup, and returns what the last one prints."""
    monkeypatch.setattr(check_and_hint, "LAST_REPORTS", reports := {})
    monkeypatch.setattr("autograder.notebook.assistant_prompt.LAST_REPORTS", reports)
    monkeypatch.setattr(check_and_hint, "_hints_given", {})
    shell.run_cell(SETUP, store_history=True).raise_error()

    def run_cells(*cells: str) -> str:
        for cell in cells:
            with capture_output() as shown:
                shell.run_cell(cell, store_history=True).raise_error()
        return str(shown.stdout)

    return run_cells


def test_what_an_assistant_is_given(run: Any) -> None:
    """The text has the rules, the exercise, what the check says now, and the answer; no hint that was not asked for."""
    text = run(LATE, CHECK, ASK)

    assert "Do not write the function, and no line that I could copy into it." in text
    assert f"The exercise: {NAME}\n{COURSE.find(NAME).goal}" in text
    assert f"What the check says\n{NAME}: 0 of " in text and "✗" in text
    assert f"My answer\n```python\n{LATE}\n```" in text
    assert "hint" not in text.lower()


def test_hints_so_far(run: Any) -> None:
    """The hints that `hint` has shown are told, and no others, however often it is called."""
    first, second, *_ = COURSE.find(NAME).hints
    once = run(LATE, CHECK, f'hint("{NAME}")', ASK)
    often = run(*[f'hint("{NAME}")'] * 9, ASK)

    assert f"The hints that I have had\n1. {first}\n" in once and second not in once
    assert f"\n2. {second}\n" in often and first in often


def test_the_check_comes_first(run: Any) -> None:
    """Without a check, or with an answer that has changed since, a line says to run it."""
    assert 'Run `check("train_step", train_step)` first' in run(LATE, ASK)
    assert "has changed since its check" in run(CHECK, LATE.replace("3.0", "4.0"), ASK)
    assert "return 4.0" in run(CHECK, ASK)


def test_nothing_written_yet(run: Any) -> None:
    """Of an answer that is not begun, the assistant is told so."""
    text = run(f"{HEAD}    raise NotImplementedError()", CHECK, ASK)

    assert "not begun yet" in text and "Ask me what the exercise wants" in text


def test_a_wrong_name() -> None:
    """A name that is none, or the function in its place, is an error that says what to write."""
    from autograder import ask_assistant

    with pytest.raises(UnknownExercise, match="train_step"):
        ask_assistant("train_stepp")
    with pytest.raises(UnknownExercise, match="The name comes first, in quotes"):
        ask_assistant(test_a_wrong_name)  # type: ignore[arg-type]


def test_known_mistakes_near_it() -> None:
    """An unforeseen mistake is told with the sentences of those that fail where it fails; a known one has its own."""
    exercise, key = COURSE.find(NAME), COURSE.keys(STEM)[NAME]
    reports = {mistake.tag: judge(exercise, key, mistake.observations, "") for mistake in key.mistakes}
    known = next(each for each in key.mistakes if each.tag in reports[each.tag].mistakes)
    unforeseen = replace(key, mistakes=tuple(each for each in key.mistakes if each.sentence != known.sentence))
    near = sentences_of_possible_mistakes(exercise, unforeseen, judge(exercise, unforeseen, known.observations, ""))

    assert 1 <= len(near) <= 3 and known.sentence not in near
    assert set(near) < {each.sentence for each in key.mistakes}
    assert [] == sentences_of_possible_mistakes(exercise, key, reports[known.tag])
    assert [] == sentences_of_possible_mistakes(exercise, key, judge(exercise, key, key.reference, ""))


@pytest.mark.parametrize("stem", COURSE.stems)
def test_the_solution_is_never_in_it(stem: str) -> None:
    """For known and unforeseen mistakes, at most one line of the solution stands in the text, of a sentence shown."""
    chapter = read_chapter(COURSE.folder / "chapters" / f"{stem}.py")
    for exercise in COURSE.exercises(stem):
        name, key = exercise.name, COURSE.keys(stem)[exercise.name]
        given = chapter.starter(name)
        solution = {line.strip() for line in chapter.solution(name).splitlines() if line.strip() not in given}
        for mistake in key.mistakes[:6]:
            unforeseen = replace(key, mistakes=tuple(each for each in key.mistakes if each is not mistake))
            for known in (key, unforeseen):
                text = text_for_assistant(exercise, known, judge(exercise, known, mistake.observations, ""), "")

                assert len([line for line in solution if len(line) >= LONG and line in text]) <= 1, text


def test_the_page_for_teachers() -> None:
    """The page on assistants is short, names its sources, and both entrances lead to it."""
    page, index, guide = (
        (PROJECT / "docs" / name).read_text(encoding="utf-8") for name in ("ai_in_class.md", "index.md", "teachers.md")
    )

    assert "`ask_assistant(" in page and len(page.split()) <= 500
    assert {*re.findall(r"\[(\d)\]", page)} == {*re.findall(r"^(\d)\. .*", page, re.MULTILINE)} == {"1", "2", "3", "4"}
    assert "](ai_in_class)" in index and "](ai_in_class.md)" in guide
