"""Run candidate answers to an exercise: does one earn full points, or which single known mistake does it reproduce?"""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch._dynamo  # noqa: F401 - some programs make torch import it, and a time limit would leave half of it
from torch.utils._python_dispatch import _pop_mode

from autograder.authoring.mutation import Mutant
from autograder.authoring.surviving_mutants import limit_cpu_time, mutant_survives
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.faulty_program_names import faulty_program_name
from autograder.diagnosis.expected_observations import KnownMistake
from autograder.diagnosis.mistake_matching import cases_showing_mistake, same_observation
from autograder.exec_with_linecache import run_source_with_linecache
from autograder.exercises.leaked_dispatch_modes import active_mode_count, exit_modes
from autograder.exercises.observation import Observation
from autograder.exercises.source_rules import broken_rules

_FRESH = 4105
_MORE, _TIMES = 0.3, 4  # a program may take so many times as long as the solution, and so many seconds more


@contextmanager
def _without_its_modes() -> Iterator[None]:
    """End the modes in which a program leaves torch: everything that is computed later would pass through them."""
    before = active_mode_count()
    try:
        yield
    finally:
        try:
            exit_modes(before)
        except IndexError:  # the program has initialized its active mode again, which then does not know how to end
            for _ in range(active_mode_count() - before):
                _pop_mode()


class ProgramMistakeMatcher:
    """Runs programs that answer one exercise: which of them pass, and which known mistake do they show?

    A program may define its answer under the exercise's name or under `faulty_program_name`.
    """

    def __init__(self, judge: Judge, name: str) -> None:
        self.exercise, self.bank, self.solution = judge.exercises[name], judge.banks[name], judge.chapter.solution(name)
        self.key = judge.keys.full_key(name, VISIBLE_SEED)
        self.prelude: dict[str, Any] = {}
        exec(judge.chapter.prelude, self.prelude)
        self._fresh = self.exercise.cases(_FRESH)
        begun = time.process_time()
        seen = self.exercise.observe(judge.solutions[name], self._fresh)
        self._seconds = _MORE + _TIMES * 2 * (time.process_time() - begun)  # visible and fresh cases
        self._pairs = [*zip(self.key.cases, self.key.reference, strict=True), *zip(self._fresh, seen, strict=True)]
        self._mistakes = {each.tag: each for each in self.key.mistakes}
        self._on_fresh: dict[str, tuple[Observation, ...]] = {}
        self._passed: dict[str, bool] = {}

    def passes(self, text: str) -> bool:
        """Return whether a program gets full points on the visible cases and on fresh ones."""
        text = self._as_answer(text)
        if text not in self._passed:
            mutant = Mutant("", text, 0)
            try:
                with _without_its_modes():
                    passed = mutant_survives(self.exercise, mutant, self._pairs, self.prelude, self._seconds)
            except Exception:  # its text is no program
                passed = False
            self._passed[text] = passed
        return self._passed[text]

    def shows(self, tag: str) -> bool:
        """Return whether a mistake differs from the solution on some visible case: it may also break a rule alone."""
        return bool(cases_showing_mistake(self.exercise, self.key, self._mistakes[tag]))

    def shows_as(self, tag: str, text: str) -> bool:
        """Return whether a program shows what a mistake shows, on every visible and fresh case."""
        return self._matching(text, [self._mistakes[tag]]) == [tag] and self._on_fresh_too(tag, text)

    def mistake_shown(self, text: str) -> str | None:
        """Return the tag of the one mistake with a sentence that a program shows on every case; None if of none."""
        found = self._matching(text, [m for m in self.key.mistakes if m.sentence and self.shows(m.tag)])
        return found[0] if len(found) == 1 and self._on_fresh_too(found[0], text) else None

    def _matching(self, text: str, mistakes: list[KnownMistake]) -> list[str]:
        """Return the tags of the mistakes that agree with a program on each visible case, and in the rules broken."""
        code = self._as_answer(text)
        broken = tuple(rule.name for rule in broken_rules(self.exercise.rules, code, self.exercise.name))
        left = [m for m in mistakes if m.rules == broken and not (m.unless and re.search(m.unless, code))]
        answer = self._answer(text) if left else None
        for place, case in enumerate(self.key.cases):
            if not left or answer is None:
                return []
            if (seen := self._observe(answer, case)) is None:
                return []
            left = [m for m in left if same_observation(self.exercise, m.observations[place], seen)]
        return [m.tag for m in left]

    def _on_fresh_too(self, tag: str, text: str) -> bool:
        if tag not in self._on_fresh:
            known = next(each for each in self.bank if each.tag == tag)
            observed = (self._observe(known.function, case) for case in self._fresh)
            self._on_fresh[tag] = tuple(each or {} for each in observed)
        answer = self._answer(text)
        pairs = zip(self._fresh, self._on_fresh[tag], strict=True)
        return answer is not None and all(
            (seen := self._observe(answer, case)) is not None and same_observation(self.exercise, known, seen)
            for case, known in pairs
        )

    def _observe(self, answer: Any, case: Any) -> Observation | None:
        try:
            with warnings.catch_warnings(), _without_its_modes(), limit_cpu_time(self._seconds):
                warnings.simplefilter("ignore")
                return self.exercise.observe(answer, [case])[0]
        except (TimeoutError, IndexError):  # it was stopped, or has broken the end of its own mode
            return None

    def _answer(self, text: str) -> Any:
        names: dict[str, Any] = dict(self.prelude)
        try:
            run_source_with_linecache(text, f"<a program for {self.exercise.name}>", names)
        except Exception:
            return None
        return names.get(faulty_program_name(self.exercise.name), names.get(self.exercise.name))

    def _as_answer(self, text: str) -> str:
        return re.sub(rf"\b{faulty_program_name(self.exercise.name)}\b", self.exercise.name, text)
