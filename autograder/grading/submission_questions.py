"""Questions about the answers of one submission, drawn where they run: in the sandbox, as in grading."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course.chapter_model import Chapter
from autograder.course.course import course_in
from autograder.grading.assignment import Assignment
from autograder.grading.execution_plan import ExerciseTask, RunPlan, plan_run
from autograder.grading.find_borrowed_exercises import setup_text
from autograder.questions.question import Question
from autograder.questions.student_program import NoQuestions, shown_text
from autograder.sandbox.execution.choose_runner import runner_for
from autograder.sandbox.execution.question_step import questions_in
from autograder.sandbox.execution.run_specification import (
    LIMITS,
    AssignmentSetup,
    ExerciseOutcome,
    ProbeStep,
    QuestionStep,
    StatementsStep,
    Step,
)
from autograder.submission.submission import Submission

_SPARE_SECONDS = 10.0  # of computing, for drawing questions once the answer has passed its check


@dataclass(frozen=True)
class AnswerQuestions:
    """The questions about the answer to one exercise; or none, and the reason."""

    exercise: str
    questions: tuple[Question, ...] = ()
    reason: str = ""


def ask_about_answers(
    assignment: Assignment, chapter: Chapter, submission: Submission, names: Collection[str], draw: str
) -> list[AnswerQuestions]:
    """Return what can be asked about a submission's answers to these exercises, in their order.

    The same `draw` gives the same questions, as far as the machine is as fast. Raises WorkFailed if students' code
    cannot be run here.
    """
    plan = _plan(assignment, chapter, submission)
    steps = tuple(_step(step, plan, names, draw) for step in plan.program.steps)
    run = runner_for(Path(assignment.course), assignment.unconfined)
    outcomes = (
        run(replace(plan.program, steps=steps), LIMITS) if any(isinstance(each, QuestionStep) for each in steps) else {}
    )
    called = {step.exercise: step.called for step in plan.program.probings}
    return [_about(name, called.get(name, name), outcomes.get(name), plan) for name in names]


def _plan(assignment: Assignment, chapter: Chapter, submission: Submission) -> RunPlan:
    homes = tuple(dict.fromkeys([*([assignment.place] if assignment.is_chapter else []), *assignment.homes.values()]))
    for stem in homes:
        course_in(Path(assignment.course)).keys(stem)  # the sandbox needs them: here, what is missing is one line
    tasks = [
        ExerciseTask(name, (), course_in(Path(assignment.course)).find(name).seconds) for name in chapter.exercises
    ]
    setup = chapter.prelude if assignment.is_chapter else setup_text(submission.release)
    ground = AssignmentSetup(str(Path(assignment.course).resolve()), homes, setup, asks=True)
    return plan_run(submission.parts, tasks, ground, submission.files)


def _step(step: Step, plan: RunPlan, names: Collection[str], draw: str) -> Step:
    """Return a step that asks in place of one that probes; where nothing is asked, one that does nothing."""
    if not isinstance(step, ProbeStep):
        return step
    if step.exercise not in names:
        return StatementsStep(())
    text = (plan.later_sources if step.again else plan.sources).get(step.exercise, "")
    fields = {**vars(step), "seconds": step.seconds + _SPARE_SECONDS}
    return QuestionStep(**fields, text=text, draw=f"{draw} {step.exercise}")


def _about(name: str, called: str, outcome: ExerciseOutcome | None, plan: RunPlan) -> AnswerQuestions:
    """Return the questions about the answer as of its check, else as of the end of the notebook, else the reason."""
    if outcome is None:
        return AnswerQuestions(name, reason="no cell answers it")
    reasons = []
    for seen, sources in ((outcome, plan.sources), (outcome.later, plan.later_sources)):
        if seen is not None:
            try:
                return AnswerQuestions(name, tuple(_questions(seen, name, called, sources)))
            except NoQuestions as reason:
                reasons.append(str(reason))
    return AnswerQuestions(name, reason=reasons[-1])


def _questions(outcome: ExerciseOutcome, name: str, called: str, sources: Mapping[str, str]) -> list[Question]:
    if outcome.observations is None:
        raised = f"it stops with {outcome.raised.type}" if outcome.raised else "running it takes long"
        raise NoQuestions(raised)
    return questions_in(outcome.observations, name, shown_text(sources[name], called))
