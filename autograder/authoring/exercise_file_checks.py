"""Check the form of an exercise's files before any answer is run: hints, requirements, messages, the answer bank.

Each function yields a line for each thing that is wrong: the file, what was found, and what to write.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

from autograder.course.answer_bank import AnswerBank, KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.course.chapter_model import CellKind, Chapter
from autograder.course.missing_exercise_parts import ExerciseParts, display_path
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.errors import ExerciseError
from autograder.exercises.compare_observations import first_difference
from autograder.exercises.exercise import FACETS_WITH_MESSAGES, Exercise, Requirement, facet_of_message_key

# Marks each place in the stubs of a new exercise where the author has something to write.
MARK = "TO WRITE"
# The minimum numbers of wrong and of right answers, by tier.
MIN_ANSWERS_IN_BANK = {"warm-up": (3, 2), "core": (6, 3), "stretch": (6, 3)}
_LONGEST = 200  # characters of a sentence or a hint
_SHORTEST_REASON = 15


def unfilled_placeholders(parts: ExerciseParts, chapter: Chapter) -> Iterator[str]:
    """Yield a line for each MARK that is left in the cells or files of a new exercise."""
    for number, row in _cell_rows(chapter, parts.name):
        if MARK in row:
            yield f"{display_path(parts, parts.chapter)}:{number}: {_asked(row)}"
    for path in (parts.exercise, parts.bank):
        for number, row in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if MARK in row:
                yield f"{display_path(parts, path)}:{number}: {_asked(row)}"


def _cell_rows(chapter: Chapter, name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of an exercise's cell and of the text cell above it, each with its line number."""
    index = chapter.cells.index(chapter.exercise(name))
    for cell in chapter.cells[max(index - 1, 0) : index + 1]:
        if cell.kind in (CellKind.MARKDOWN, CellKind.EXERCISE):
            yield from enumerate(cell.source.splitlines(), cell.line + 1)


def _asked(row: str) -> str:
    """Return what a marked line asks for: the text after MARK, up to the closing quote if it is in a string."""
    before, _, asked = row.partition(MARK)
    in_string = '"' in before and "#" not in before
    return "still to write: " + (asked.partition('"')[0] if in_string else asked).strip(" :.") + "."


def check_requirements_have_cases(course: Path, judge: Judge) -> None:
    """Raise ExerciseError if one of a chapter's exercises has a requirement without a case.

    The message has a line for each such requirement.
    """
    stem = judge.chapter.stem
    found = [
        line
        for each in judge.exercises
        for line in requirements_without_case(ExerciseParts(course, stem, each.name), each)
    ]
    if found:
        raise ExerciseError("\n".join(found))


def requirements_without_case(parts: ExerciseParts, exercise: Exercise) -> Iterator[str]:
    """Yield a line for each requirement in an exercise's file that no case shows; may raise ExerciseError."""
    known = list(exercise.requirements.values())
    variables = getattr(exercise.draw_cases, "__globals__", {})
    for variable, value in variables.items():
        for requirement in _requirements(value):
            if requirement not in known:
                yield (
                    f"{display_path(parts, parts.exercise)}: no case shows the requirement {requirement.sentence!r} "
                    f"({variable}); yield one, or take the requirement out."
                )


def _requirements(value: object) -> Iterator[Requirement]:
    """Yield the requirements that a variable holds: its value, or the items of its dict, list or tuple."""
    if isinstance(value, dict):
        value = tuple(value.values())
    for item in value if isinstance(value, list | tuple) else (value,):
        if isinstance(item, Requirement):
            yield item


def hint_and_requirement_faults(parts: ExerciseParts, exercise: Exercise) -> Iterator[str]:
    """Yield a line for each thing that is wrong with the hints of an exercise or the number of its requirements."""
    where, hints = display_path(parts, parts.exercise), exercise.hints
    if not 2 <= len(hints) <= 3:
        yield f"{where}: {_count(len(hints), 'hint')}; write two or three, from a nudge to nearly there."
    if len(set(hints)) < len(hints):
        yield f"{where}: two hints are alike; let each lead on from the one before."
    if any(len(hint) > _LONGEST for hint in hints):
        yield f"{where}: a hint of more than {_LONGEST} characters; shorten it."
    asked = len(exercise.requirements) + len(exercise.rules)
    if not 2 <= asked <= 7:
        yield f"{where}: {_count(asked, 'requirement')}, rules among them; let there be two to seven."


def facet_message_faults(parts: ExerciseParts, exercise: Exercise, key: ExpectedObservations) -> Iterator[str]:
    """Yield a line for each message whose facet no probe records, and for each recorded facet without a message.

    Without a message, a student would read the name of the facet, which means nothing outside of the probe.
    """
    if exercise.compare is not first_difference:
        return  # an exercise's own comparison may name facets that it derives from several observed ones
    where = display_path(parts, parts.exercise)
    by_cases = [key.reference, *(mistake.observations for mistake in key.mistakes)]
    seen = {facet for observations in by_cases for observation in observations for facet in observation}
    watched: dict[str, set[str]] = {}
    for case, observation in zip(key.cases, key.reference, strict=True):
        watched.setdefault(case.requirement, set()).update(observation)
    for sentence, requirement in exercise.requirements.items():
        for facet in sorted({*map(facet_of_message_key, requirement.tells)} - seen):
            unseen = f"{sentence!r} has a message for {facet!r}, which no probe observes"
            yield f"{where}: {unseen}; the observed facets are: {', '.join(sorted(seen))}."
        for facet in sorted(
            watched[sentence] - FACETS_WITH_MESSAGES - {*map(facet_of_message_key, exercise.tells(sentence))}
        ):
            yield f"{where}: {sentence!r} observes {facet!r} without a message for it; say in `tells` what should hold."


def bank_faults(parts: ExerciseParts, exercise: Exercise, bank: AnswerBank, solution: str) -> Iterator[str]:
    """Yield a line for each thing that is wrong with the form of an exercise's answer bank."""
    where = display_path(parts, parts.bank)
    kinds = {"wrong": [each for each in bank if not each.is_right], "right": [each for each in bank if each.is_right]}
    forms = {"wrong": '@bank.wrong("tag", "sentence")', "right": '@bank.right("tag")'}
    for (kind, found), least in zip(kinds.items(), MIN_ANSWERS_IN_BANK[exercise.tier], strict=True):
        if len(found) < least:
            yield (
                f"{where}: {_count(len(found), f'{kind} answer')}, where a {exercise.tier} exercise has at least "
                f"{least}; write {least - len(found)} more, each under `{forms[kind]}`."
            )
    yield from (f"{where}: {line}" for answer in kinds["wrong"] for line in _wrong(answer, exercise, kinds["wrong"]))
    yield from (f"{where}: {line}" for line in _alike(bank, solution))
    for change, reason in bank.survivors.items():
        if len(reason) <= _SHORTEST_REASON or not reason.endswith("."):
            yield f"{where}: the survivor {change!r} has the reason {reason!r}; write a sentence that says why it may."


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'' if number == 1 else 's'}"


def _wrong(answer: KnownAnswer, exercise: Exercise, every: Iterable[KnownAnswer]) -> Iterator[str]:
    """Yield what is wrong with the sentence, the facet or the `also` of a wrong answer."""
    if answer.facet:
        facets = sorted({facet for requirement in exercise.requirements.values() for facet in requirement.tells})
        if answer.facet not in facets:
            yield f"{answer.tag!r} has the facet {answer.facet!r}; the facets with a message are: {facets}."
    else:
        yield from (f"the sentence of {answer.tag!r} {wrong}" for wrong in _sentence(answer.sentence or ""))
    for tag in sorted(set(answer.also) - {each.tag for each in every if each.tag != answer.tag}):
        yield f"{answer.tag!r} names {tag!r} in `also`, which is no other wrong answer; take it out."


def _sentence(text: str) -> Iterator[str]:
    if len(text) > _LONGEST:
        yield f"has {len(text)} characters; shorten it to {_LONGEST}."
    if not (text[0].isupper() or text[0] in "`("):
        yield f"begins with {text[0]!r}; begin with a capital letter or with code."
    if text[-1] not in ".?":
        yield f"ends in {text[-1]!r}; end it with a full stop or a question mark."


def _alike(bank: Iterable[KnownAnswer], solution: str) -> Iterator[str]:
    """Yield a line for each two answers, the worked solution among them, with the same sentence or the same program."""
    sentences: dict[str, str] = {}
    programs = {_body(solution): "the worked solution"}
    for answer in bank:
        name = repr(answer.tag)
        if answer.sentence and (other := sentences.setdefault(answer.sentence, name)) != name:
            yield f"{name} and {other} have the same sentence; they are one mistake, or say what differs."
        if (other := programs.setdefault(_body(answer.source), name)) != name:
            yield f"{name} is the same program as {other}; take it out."


def _body(cell: str) -> str:
    """Return the statements of a cell, with functions and classes replaced by their bodies without docstrings."""
    statements: list[ast.stmt] = []
    for node in ast.parse(cell).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            statements += node.body[1:] if ast.get_docstring(node) else node.body
        else:
            statements.append(node)
    return "\n".join(map(ast.unparse, statements))
