"""What mutants are told, those of the worked solution and those of each wrong answer: the sentences of which mistakes.

Nobody has said which sentences are true of a mutant. Of a wrong answer's mutant, its own are, and those in its `also`;
any other is listed, to be read beside the change. None is told where the pattern `unless` of its mistake denies it.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from autograder.authoring.mutation import Mutant, mutants
from autograder.authoring.surviving_mutants import time_limit
from autograder.course.answer_bank import KnownAnswer
from autograder.course.answer_keys import VISIBLE_SEED
from autograder.course.judge import Judge
from autograder.diagnosis.verdict import Report
from autograder.ipython_syntax import without_comments

SECONDS = 5.0  # of the processor, for one mutant on all visible cases
SOLUTION = "the solution"
KINDS = ("passes", "own sentence", "also", "another's", "no known mistake", "denied", "stopped")


@dataclass(frozen=True)
class MutantTold:
    """A mutant of the solution, or of a wrong answer that is told by its tag, and the mistakes that its report names.

    `kind` is one of KINDS; it is "denied" where the pattern of a named mistake says that it was not made.
    """

    parent: str
    change: str
    kind: str
    mistakes: tuple[str, ...] = ()


def told(course: Path, stem: str, name: str) -> Iterator[MutantTold]:
    """What each mutant of an exercise is told on the visible cases."""
    here = Judge(course, stem, only=name)
    prelude: dict[str, Any] = {}
    exec(here.chapter.prelude, prelude)
    wrong = {answer.tag: answer for answer in here.banks[name] if not answer.is_right}
    texts = {SOLUTION: here.chapter.solution(name)} | {tag: answer.source for tag, answer in wrong.items()}
    for parent, text in texts.items():
        for mutant in mutants(text):
            report = _report(here, name, mutant, prelude)
            kind, mistakes = _kind(report, mutant, parent, wrong), report.mistakes if report else ()
            yield MutantTold(parent, mutant.change, kind, mistakes)


def _report(here: Judge, name: str, mutant: Mutant, prelude: Mapping[str, Any]) -> Report | None:
    """The report on a mutant; None where it cannot be defined, or computes for too long."""
    namespace, key = dict(prelude), here.keys.full_key(name, VISIBLE_SEED)
    try:
        with warnings.catch_warnings(), time_limit(SECONDS):
            warnings.simplefilter("ignore")
            exec(mutant.source, namespace)
            seen = here.exercises[name].observe(namespace[name], key.cases)
    except Exception:
        return None
    if any(getattr(each.get("raised"), "type", "") == "TimeoutError" for each in seen):
        return None
    return here.judge(name, VISIBLE_SEED, seen, mutant.source)


def _kind(report: Report | None, mutant: Mutant, parent: str, wrong: Mapping[str, KnownAnswer]) -> str:
    if report is None:
        return "stopped"
    code, named = without_comments(mutant.source), set(report.mistakes)
    if any(wrong[tag].unless and re.search(wrong[tag].unless, code) for tag in named):
        return "denied"
    if not named:
        return "passes" if report.passed else "no known mistake"
    if named <= {parent}:
        return "own sentence"
    return "also" if parent in wrong and named <= {parent, *wrong[parent].also} else "another's"


def summary(name: str, heard: list[MutantTold]) -> list[str]:
    """A line of counts, then one for each sentence to read: what was changed, in which answer, and what is told."""
    counts = Counter(each.kind for each in heard)
    lines = [f"{name}: {len(heard)} mutants; " + ", ".join(f"{kind} {counts[kind]}" for kind in KINDS)]
    for each in heard:
        if each.kind in ("another's", "denied"):
            named = ", ".join(tag for tag in each.mistakes if tag != each.parent)
            lines.append(f"  {each.kind}: {named}, to `{each.change}` in {each.parent}")
    return lines
