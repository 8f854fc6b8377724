"""Judge a graded hunt: an answer that must be somebody's faulty program, mended in a line or two.

Each student gets one of the proven programs of an exercise's hunts. Its number, in a comment on its first line, says
which one an answer mends. The exercise's own cases judge whether it is right; it counts as a whole or not at all, since
the faulty program meets most requirements already.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from difflib import SequenceMatcher

from autograder.course.faulty_program_names import faulty_program_name
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.exercises.exercise import Exercise
from autograder.exercises.source_rules import Rule
from autograder.questions.bug_hunt_file import MENDED_REQUIREMENT, BugHunt, ExerciseHunts

MOST_CHANGED = 2  # lines: each hunt is mended by one edit of one line, which may make two of it
_NUMBER = re.compile(r"#[ \t]*program[ \t]+(\w{1,20})")
_UNKNOWN = 'There is no program {number} among the hunts of `{name}`. `mend("{name}")` prints yours.'
_UNKNOWN_TO_GRADER = (
    "{name} names a program that is not among the hunts here. If it comes from another version of the course, put that "
    "version's file of hunts/ back, and grade again"
)


@dataclass(frozen=True, eq=False)
class MendingExercise(Exercise):
    """An exercise whose answer must be one of these programs, mended; `hunted` is the exercise that they answer."""

    hunted: str = ""
    hunts: tuple[BugHunt, ...] = ()

    def as_mend(self, report: Report, text: str) -> Report:
        """Return the report on an answer as one check, which tells no cause: finding it is the task.

        `text` is the answer's source with its helpers; "" if it is unknown, which then says nothing against it.
        """
        if report.verdicts[0].status is Status.NOT_ATTEMPTED:
            return self._of(Verdict(MENDED_REQUIREMENT, Status.NOT_ATTEMPTED, self._not_begun), report)
        if text and (complaint := self._complaint(text)):
            return self._of(complaint, report)
        if (first := report.first) is None:
            return self._of(Verdict(MENDED_REQUIREMENT, Status.PASS), report)
        if not first.call:  # no case shows it: the cell stopped, or the text breaks a rule
            return self._of(Verdict(MENDED_REQUIREMENT, first.status, first.sentence), report)
        sentence = f"Not yet: {first.requirement}."
        shown = (first.call, first.expected, first.got, first.picture)
        return self._of(Verdict(MENDED_REQUIREMENT, first.status, sentence, None, *shown, case=first.case), report)

    def _of(self, verdict: Verdict, report: Report) -> Report:
        return Report(self.name, (verdict,), report.notes)

    @property
    def _not_begun(self) -> str:
        return f'`{self.name}` is not there yet. `mend("{self.hunted}")` prints the program to mend.'

    def _complaint(self, text: str) -> Verdict | None:
        """Return the verdict on a text that is no mend of one of the programs; None if it is one."""
        if not re.search(rf"^(def|class) {self.name}\b", text, re.MULTILINE):
            return Verdict(MENDED_REQUIREMENT, Status.NOT_ATTEMPTED, self._not_begun)
        found = _NUMBER.search(text)
        if found is None:
            return self._refused(
                f"The number of the program is missing. Its first line ends in a comment, `# program ...`, as "
                f'`mend("{self.hunted}")` prints it: copy that line again.'
            )
        hunt = next((each for each in self.hunts if each.number == found[1]), None)
        if hunt is None:
            return self._refused(_UNKNOWN.format(number=found[1], name=self.hunted))
        given, now = _lines(hunt.code), _lines(text)
        if now == given:
            return Verdict(
                MENDED_REQUIREMENT, Status.NOT_ATTEMPTED, f"This is program {hunt.number} as it was given: mend it."
            )
        if _changed(given, now) > MOST_CHANGED:
            return self._refused(
                f"This differs from program {hunt.number} in more than {MOST_CHANGED} lines. One line of the program "
                "is at fault: mend that one, and leave the others as they are."
            )
        return None

    def _refused(self, sentence: str) -> Verdict:
        return Verdict(MENDED_REQUIREMENT, Status.FAIL, sentence)


def mending_exercise(exercise: Exercise, known: ExerciseHunts | None) -> MendingExercise:
    """Return the task to mend programs that answer an exercise: its cases and rules, under somebody's name."""
    same = {each.name: getattr(exercise, each.name) for each in fields(Exercise)}
    own = {
        "name": faulty_program_name(exercise.name),
        "rules": tuple(_of_somebodys(rule, exercise.name) for rule in exercise.rules),
        "hunts": known.hunts_for_graded_tasks if known else (),
    }
    return MendingExercise(**same | own, hunted=exercise.name)


def _of_somebodys(rule: Rule, name: str) -> Rule:
    """Return a rule on somebody's answer to an exercise; the exercise's own may look for the function by its name."""
    called = re.compile(rf"\b{faulty_program_name(name)}\b")
    return replace(rule, breaks=lambda tree: rule.breaks(ast.parse(called.sub(name, ast.unparse(tree)))))


def warnings_about_unknown_programs(reports: Iterable[Report]) -> tuple[str, ...]:
    """Return a line for the teacher for each report on a program that is not among the hunts."""
    begin, firsts = _UNKNOWN.partition("{")[0], ((each.exercise, each.verdicts[0]) for each in reports)
    found = (
        name for name, first in firsts if first.requirement == MENDED_REQUIREMENT and first.sentence.startswith(begin)
    )
    return tuple(_UNKNOWN_TO_GRADER.format(name=name) for name in found)


def _lines(text: str) -> list[str]:
    """Return the lines of a text as `ast.unparse` writes them, without imports and docstrings.

    A text that cannot be read has one line, which is none of a program.
    """
    try:
        tree = ast.parse(text)
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) and len(node.body) > 1:
                del node.body[0]
        body = (each for each in tree.body if not isinstance(each, ast.Import | ast.ImportFrom))
        return [line for statement in body for line in ast.unparse(statement).splitlines() if line.strip()]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [""]


def _changed(given: Sequence[str], now: Sequence[str]) -> int:
    """Return how many lines were added, removed, rewritten or moved; of texts of unlike length, by how many at least.

    Only texts of nearly one length are compared line by line, which takes long for long ones.
    """
    longer, apart = max(len(given), len(now)), abs(len(given) - len(now))
    if apart > MOST_CHANGED:
        return apart
    blocks = SequenceMatcher(None, given, now, autojunk=False).get_matching_blocks()
    return longer - sum(block.size for block in blocks)
