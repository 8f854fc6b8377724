"""List which mistakes' sentences the mutants of the worked solution and of each wrong answer get.

An author reads the list, to find sentences that are false for the code that gets them. A mutant of a wrong answer may
get that answer's sentence, and those that its `also` names; every other sentence is listed with the change that was
made. A sentence is certainly false if its mistake's pattern `unless` matches the mutant ("denied").
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
from autograder.authoring.surviving_mutants import limit_cpu_time
from autograder.course.answer_bank import KnownAnswer
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis.verdict import Report
from autograder.ipython_syntax import remove_comments

MAX_SECONDS_PER_MUTANT = 5.0  # limit of processor time for one mutant on all visible cases
SOLUTION = "the solution"
KINDS = ("passes", "own sentence", "also", "another's", "no known mistake", "denied", "stopped")


@dataclass(frozen=True)
class JudgedMutant:
    """A mutant, and the known mistakes that its report names.

    `parent` is the tag of the wrong answer that was changed, or SOLUTION. `kind` is one of KINDS; "denied" means that
    the pattern `unless` of a named mistake matches the mutant's code.
    """

    parent: str
    change: str
    kind: str
    mistakes: tuple[str, ...] = ()


def judge_mutants(course: Path, stem: str, name: str) -> Iterator[JudgedMutant]:
    """Judge every mutant of an exercise on the visible cases, and yield which mistakes its report names."""
    here = Judge(course, stem, only=name)
    prelude: dict[str, Any] = {}
    exec(here.chapter.prelude, prelude)
    wrong = {answer.tag: answer for answer in here.banks[name] if not answer.is_right}
    texts = {SOLUTION: here.chapter.solution(name)} | {tag: answer.source for tag, answer in wrong.items()}
    for parent, text in texts.items():
        for mutant in mutants(text):
            report = _report(here, name, mutant, prelude)
            kind, mistakes = _kind(report, mutant, parent, wrong), report.mistakes if report else ()
            yield JudgedMutant(parent, mutant.change, kind, mistakes)


def _report(here: Judge, name: str, mutant: Mutant, prelude: Mapping[str, Any]) -> Report | None:
    """Return the report on a mutant; None if its code raises when it is defined, or runs for more than SECONDS."""
    namespace, key = dict(prelude), here.keys.full_key(name, VISIBLE_SEED)
    try:
        with warnings.catch_warnings(), limit_cpu_time(MAX_SECONDS_PER_MUTANT):
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
    code, named = remove_comments(mutant.source), set(report.mistakes)
    if any(wrong[tag].unless and re.search(wrong[tag].unless, code) for tag in named):
        return "denied"
    if not named:
        return "passes" if report.passed else "no known mistake"
    if named <= {parent}:
        return "own sentence"
    return "also" if parent in wrong and named <= {parent, *wrong[parent].also} else "another's"


def mutant_report_lines(name: str, results: list[JudgedMutant]) -> list[str]:
    """Return a line of counts, then a line for each mutant whose message an author should read."""
    counts = Counter(each.kind for each in results)
    lines = [f"{name}: {len(results)} mutants; " + ", ".join(f"{kind} {counts[kind]}" for kind in KINDS)]
    for each in results:
        if each.kind in ("another's", "denied"):
            named = ", ".join(tag for tag in each.mistakes if tag != each.parent)
            lines.append(f"  {each.kind}: {named}, to `{each.change}` in {each.parent}")
    return lines
