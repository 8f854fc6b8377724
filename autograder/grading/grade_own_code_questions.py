"""Grade the parts of a submission that ask about the student's own answers.

The sandbox runs the submission once more, and draws the questions again where the student's code runs, which could
forge them. So a part waits for a person where grading comes to other questions than the notebook did, where it comes to
none, and where a line of the notebook is worth a look. Past that, forging gains nothing that honest means do not give:
whoever runs the own code knows what it does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from autograder.diagnosis.verdict import NOT_GRADED, Report
from autograder.errors import DamagedData
from autograder.grading.draw_own_code_questions import read_drawn_questions, run_question_steps
from autograder.grading.execution_plan import ProgramToRun
from autograder.questions.ast_instrumentation import TRACE
from autograder.questions.own_code_question_part import (
    WrittenAnswers,
    asked_exercise,
    digest_of_questions,
    manual_score_report,
    part_name,
    report_on_answers,
    unanswered_report,
    waits_for_person,
    written_answers,
)
from autograder.questions.question import Question
from autograder.questions.student_program_runs import NoQuestions
from autograder.sandbox.execution.run_specification import ExerciseOutcome, Limits, Runner
from autograder.submission.report_suspicious_lines import WORTH_A_LOOK_PREFIX
from autograder.submission.submission import Submission

_OTHERS = (
    "Grading came to other questions than those that you answered: your code has changed since, or it does not do the "
    "same everywhere."
)
_NONE = "Your notebook found no question to ask about your code, and grading found some."
_IN_NOTEBOOK = "Your answer passes its check on the cases of the notebook, and not on those of grading."


class GradedQuestionParts:
    """The parts of one submission; `every` names the exercises and parts of its assignment, `judged` the exercises.

    `plan` is None for a submission that cannot be read.
    """

    def __init__(
        self, submission: Submission, plan: ProgramToRun | None, every: Iterable[str], judged: Sequence[str]
    ) -> None:
        self._submission, self._plan = submission, plan
        self._asked = {name: asked for name in every if (asked := asked_exercise(name, judged))}
        self._written = {name: _written(submission, name) for name in self._asked}

    def outcomes(self, run: Runner, limits: Limits) -> dict[str, ExerciseOutcome]:
        """Draw the questions of the answered parts again, and return the outcome of each part."""
        draws = {
            self._asked[name]: each.draw for name, each in self._written.items() if isinstance(each, WrittenAnswers)
        }
        found = run_question_steps(self._plan, draws, run, limits) if self._plan is not None and draws else {}
        return {part_name(asked): outcome for asked, outcome in found.items() if asked in draws}

    def report(self, name: str, judged: Mapping[str, Report], outcomes: Mapping[str, ExerciseOutcome]) -> Report:
        """Return the report on a part; `judged` are those on the exercises."""
        asked, written = self._asked[name], self._written[name]
        if self._plan is None:
            return unanswered_report(name, f"{NOT_GRADED}: {self._submission.trouble}")
        if not judged[asked].passed:
            with suppress(NoQuestions):
                if isinstance(written, WrittenAnswers) and self._same(name, written, outcomes):
                    return manual_score_report(name, _IN_NOTEBOOK)
            return unanswered_report(name, f"Answers here count once `{asked}` passes its check.")
        if written is None:
            return unanswered_report(name, f'No question is answered: `about("{asked}", graded=True)` prints them.')
        if isinstance(written, DamagedData):
            return manual_score_report(name, f"The answers cannot be read: {written}.")
        if _may_reach_questions(self._submission):
            return manual_score_report(name, "")  # why is for the teacher alone, as all that is worth a look
        return self._scored(name, written, outcomes)

    def _scored(self, name: str, written: WrittenAnswers, outcomes: Mapping[str, ExerciseOutcome]) -> Report:
        try:
            same = self._same(name, written, outcomes)
        except NoQuestions as reason:
            return manual_score_report(name, f"Grading found no question to ask about your code: {reason}.")
        if same is not None:
            return report_on_answers(name, same, written.chosen)
        return manual_score_report(name, _NONE if written.digest == digest_of_questions([]) else _OTHERS)

    def _same(
        self, name: str, written: WrittenAnswers, outcomes: Mapping[str, ExerciseOutcome]
    ) -> Sequence[Question] | None:
        """Return the questions that the student answered, as grading drew them; None if it drew others.

        Raises NoQuestions, with the reason, if it drew none.
        """
        drawn = (
            read_drawn_questions(self._asked[name], outcomes.get(name), self._plan) if self._plan is not None else []
        )
        return next((each for each in drawn if digest_of_questions(each) == written.digest), None)


def _may_reach_questions(submission: Submission) -> bool:
    """Return whether the text of a submission may reach what draws the questions, as far as a text shows that."""
    is_flagged = any(line.startswith(WORTH_A_LOOK_PREFIX) for line in submission.eye)
    return is_flagged or any(TRACE in part.source for part in submission.parts)


def _written(submission: Submission, name: str) -> WrittenAnswers | DamagedData | None:
    try:
        return written_answers(submission.answers.get(name, ""), name, (part.source for part in submission.parts))
    except DamagedData as error:
        return error


def waiting_lines(reports: Iterable[Report]) -> tuple[str, ...]:
    """Return a line for the teacher about each part that waits for a score, with what the student reads."""
    waiting = (each for each in reports if waits_for_person(each))
    return tuple(
        f"{each.exercise}: waits for your score. Feedback says: {each.verdicts[0].sentence}" for each in waiting
    )
