"""Questions about the answers of one submission, drawn where they run: in the sandbox, as in grading."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from autograder.course.chapter_model import Chapter
from autograder.course.course import Course, course_in
from autograder.grading.assignment import Assignment
from autograder.grading.execution_plan import ExerciseTask, ProgramToRun, plan_run
from autograder.grading.find_exercises_of_other_chapters import setup_cells_text
from autograder.questions.question import Question
from autograder.questions.student_program_runs import NoQuestions, shown_text
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.questions_about_answer import read_questions_from_observations
from autograder.sandbox.execution.run_specification import (
    LIMITS,
    ExerciseOutcome,
    Limits,
    ProbeStep,
    QuestionStep,
    Runner,
    SharedSetup,
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


def draw_questions_about_answers(
    assignment: Assignment, chapter: Chapter, submission: Submission, names: Collection[str], draw: str
) -> list[AnswerQuestions]:
    """Return what can be asked about a submission's answers to these exercises, in their order.

    The same `draw` gives the same questions, as far as the machine is as fast. Raises WorkFailed if students' code
    cannot be run here.
    """
    plan = _plan(assignment, chapter, submission)
    run = make_submission_runner(Path(assignment.course), assignment.unconfined)
    outcomes = run_question_steps(plan, {name: f"{draw} {name}" for name in names}, run)
    return [_about(name, outcomes.get(name), plan) for name in names]


def run_question_steps(
    plan: ProgramToRun, draws: Mapping[str, str | int], run: Runner, limits: Limits = LIMITS
) -> Mapping[str, ExerciseOutcome]:
    """Run a submission again and ask about the answers to these exercises, with these draws, where grading probes them.

    Returns the outcome for each of them that is in the plan.
    """
    steps = tuple(_step(step, plan, draws) for step in plan.program.steps)
    return run(replace(plan.program, steps=steps), limits) if any(isinstance(s, QuestionStep) for s in steps) else {}


def select_course_exercises(course: Course, chapter: Chapter) -> list[str]:
    """Return the exercises of an assignment's chapter that are the course's: hunts and questions are not."""
    known = set(course.exercise_names)
    return [name for name in chapter.exercises if name in known]


def _plan(assignment: Assignment, chapter: Chapter, submission: Submission) -> ProgramToRun:
    course = course_in(Path(assignment.course))
    homes = tuple(dict.fromkeys([*([assignment.place] if assignment.is_chapter else []), *assignment.homes.values()]))
    for stem in homes:
        course.keys(stem)  # the sandbox needs them: here, what is missing is one line
    tasks = [ExerciseTask(name, (), course.find(name).seconds) for name in select_course_exercises(course, chapter)]
    setup = chapter.prelude if assignment.is_chapter else setup_cells_text(submission.release)
    ground = SharedSetup(str(Path(assignment.course).resolve()), homes, setup, asks=True)
    return plan_run(submission.parts, tasks, ground, submission.files)


def _step(step: Step, plan: ProgramToRun, draws: Mapping[str, str | int]) -> Step:
    """Return a step that asks in place of one that probes; where nothing is asked, one that does nothing."""
    if not isinstance(step, ProbeStep):
        return step
    if step.exercise not in draws:
        return StatementsStep(())
    text = (plan.later_sources if step.again else plan.sources).get(step.exercise, "")
    fields = {**vars(step), "seconds": step.seconds + _SPARE_SECONDS}
    return QuestionStep(**fields, text=text, draw=draws[step.exercise])


def _about(name: str, outcome: ExerciseOutcome | None, plan: ProgramToRun) -> AnswerQuestions:
    """Return the questions about the answer as of its check, else as of the end of the notebook, else the reason."""
    try:
        return AnswerQuestions(name, read_drawn_questions(name, outcome, plan)[0])
    except NoQuestions as reason:
        return AnswerQuestions(name, reason=str(reason))


def read_drawn_questions(name: str, outcome: ExerciseOutcome | None, plan: ProgramToRun) -> list[tuple[Question, ...]]:
    """Return the questions in what asking has given: about the answer as of its check, and as of the notebook's end.

    Raises NoQuestions, with the reason, if there are none about either.
    """
    if outcome is None:
        raise NoQuestions("no cell answers it")
    called = {step.exercise: step.called for step in plan.program.probings}.get(name, name)
    found, reason = [], NoQuestions()
    for seen, sources in ((outcome, plan.sources), (outcome.later, plan.later_sources)):
        try:
            found += [tuple(_questions(seen, name, called, sources))] if seen is not None else []
        except NoQuestions as why:
            reason = why
    if not found:
        raise reason
    return found


def _questions(outcome: ExerciseOutcome, name: str, called: str, sources: Mapping[str, str]) -> list[Question]:
    if outcome.observations is None:
        raised = f"it stops with {outcome.raised.type}" if outcome.raised else "running it takes long"
        raise NoQuestions(raised)
    return read_questions_from_observations(outcome.observations, name, shown_text(sources[name], called))
