"""Make the two questions of a bug hunt: which line is at fault, and which of four sentences is true of the program."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random

from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.mistake_matching import cases_showing_mistake
from autograder.diagnosis.verdict import Verdict
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import ExceptionSnapshot
from autograder.questions.bug_hunt_file import BugHunt, FaultyProgram
from autograder.questions.question import LETTERS, Question

NUMBER_OF_FALSE_SENTENCES = 3  # beside the true one
_READABLE = 240  # characters of two values that an explanation shows
_TO_AUTHOR = re.compile(r"\byour?\b", re.IGNORECASE)
_FAULTS = {
    "change": "With another line in place of line {line}, the program passes every check.",
    "remove": "Without line {line}, the program passes every check.",
    "move": "With line {line} at another place, the program passes every check.",
    "add": "With one more line after line {line}, the program passes every check.",
}


def mistake_still_in_key(hunt: FaultyProgram, key: ExpectedObservations) -> bool:
    """Return whether the key of the exercise still has the mistake that a hunt shows."""
    return any(mistake.tag == hunt.mistake for mistake in key.mistakes)


def ask_for_faulty_line(hunt: BugHunt, exercise: Exercise, key: ExpectedObservations) -> Question:
    """Ask for the line at fault."""
    rows, lines = sorted((hunt.line, *hunt.others)), hunt.code.splitlines()
    is_missing = hunt.kind == "add"
    asked = "One line is missing. Where does it belong?" if is_missing else "Which line is at fault?"
    choices = tuple(f"{'after ' * is_missing}line {row}: `{lines[row - 1].strip()}`" for row in rows)
    others = _listed([f"line {row}" for row in sorted(hunt.others)])
    tried = f"No line that we tried after {others}" if is_missing else f"No change that we tried of {others}"
    explanation = f"{_FAULTS[hunt.kind].format(line=hunt.line)} {tried} does that."
    prompt = f"{_story(hunt)}\n{describe_visible_failure(hunt, exercise, key)}\n{asked}"
    return Question("line_at_fault", hunt.exercise, prompt, choices, rows.index(hunt.line), explanation, hunt.code)


def ask_for_true_sentence(
    hunt: FaultyProgram, false: Sequence[str], exercise: Exercise, key: ExpectedObservations, random: Random
) -> Question:
    """Ask which sentence is true of the program; `false` are the tags of mistakes that it does not make."""
    mistakes = {mistake.tag: mistake for mistake in key.mistakes}
    verdict = first_failed_verdict(hunt, exercise, key)
    true = mistakes[hunt.mistake].sentence or verdict.sentence
    wrong = [mistakes[tag] for tag in false if tag in mistakes and mistakes[tag].sentence != true]
    # A sentence that does not speak of a program may be true in itself.
    wrong = sorted(random.sample(wrong, len(wrong)), key=lambda each: _TO_AUTHOR.search(each.sentence) is None)
    wrong = wrong[:NUMBER_OF_FALSE_SENTENCES]
    choices = [true, *(mistake.sentence for mistake in wrong)]
    order = random.sample(range(len(choices)), len(choices))
    error = _error(hunt, key, verdict)
    short = verdict.call and (verdict.got or error) and len(verdict.got + verdict.expected + error) <= _READABLE
    found = _values(verdict) if verdict.got else f"it stops with `{inline_code_text(error)}`"
    shown = f"On `{inline_code_text(verdict.call)}`, {found}." if short else f"“{verdict.requirement}” fails."
    refuted = [_refuted(LETTERS[order.index(n)], each, hunt, exercise, key) for n, each in enumerate(wrong, 1)]
    return Question(
        "true_sentence",
        hunt.exercise,
        f"Which of these sentences is true of `{hunt.name}`? They speak to its author.",
        tuple(choices[place] for place in order),
        order.index(0),
        " ".join(filter(None, (shown, *sorted(refuted)))),
        hunt.code,
    )


def describe_visible_failure(hunt: FaultyProgram, exercise: Exercise, key: ExpectedObservations) -> str:
    """Return what `check` shows of the program, without the sentence that explains it: a line for each value."""
    verdict = first_failed_verdict(hunt, exercise, key)
    rows = [("call", verdict.call), ("expected", verdict.expected), ("got", verdict.got or _error(hunt, key, verdict))]
    values = [f"{name}: `{inline_code_text(value)}`" for name, value in rows if value]
    return "\n".join([f"Not yet: {verdict.requirement}.", *values])


def _story(hunt: BugHunt) -> str:
    lacks = "lacks one line" if hunt.kind == "add" else "is wrong in one line"
    return f"`{hunt.name}` is somebody's answer to `{hunt.exercise}`, and {lacks}. What `check` shows of it:"


def first_failed_verdict(hunt: FaultyProgram, exercise: Exercise, key: ExpectedObservations) -> Verdict:
    """Judge the program by the recorded observations of its known mistake; return the first failed verdict."""
    seen = _mistake(hunt, key).observations
    code = re.sub(rf"\b{hunt.name}\b", hunt.exercise, hunt.code)
    return judge(exercise, key, seen, code).failed_verdicts[0]


def _mistake(hunt: FaultyProgram, key: ExpectedObservations) -> KnownMistake:
    return next(mistake for mistake in key.mistakes if mistake.tag == hunt.mistake)


def _refuted(
    letter: str, other: KnownMistake, hunt: FaultyProgram, exercise: Exercise, key: ExpectedObservations
) -> str:
    """Return which requirement an answer with the other mistake fails and this one meets; "" if none is met whole."""
    mine, wrong = (cases_showing_mistake(exercise, key, each) for each in (_mistake(hunt, key), other))
    failed = {key.cases[case].requirement for case in mine}
    met = [key.cases[case].requirement for case in wrong if key.cases[case].requirement not in failed]
    return f"If {letter} were true, “{met[0]}” would fail, and it does not." if met else ""


def _error(hunt: FaultyProgram, key: ExpectedObservations, verdict: Verdict) -> str:
    """Return the error that a program raises on a verdict's case, as Python prints it; "" if it raises none."""
    raised = None if verdict.case is None else _mistake(hunt, key).observations[verdict.case].get("raised")
    return f"{raised.type}: {raised.message}" if isinstance(raised, ExceptionSnapshot) else ""


def _values(verdict: Verdict) -> str:
    got = f"`check` gets `{inline_code_text(verdict.got)}`"
    return f"{got} where `{inline_code_text(verdict.expected)}` is expected" if verdict.expected else got


def inline_code_text(value: str) -> str:
    """Return a value to stand between backticks: on one line, without backticks."""
    return " ".join(value.replace("`", "'").split())


def _listed(words: Sequence[str]) -> str:
    return " or ".join(filter(None, (", ".join(words[:-1]), words[-1])))
