"""Example classes for the tests, each graded only once per run."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns

import pytest

from autograder.authoring import example_class
from autograder.authoring.example_class import ExampleClass
from autograder.authoring.example_students import ExampleStudent
from autograder.authoring.proof import SEEDS
from autograder.course.judge import Judge
from autograder.diagnosis.judge_observations import UNTOUCHED
from autograder.grading import verdict_store
from autograder.grading.executors import WorkerChoice
from autograder.grading.submission_verdict import SubmissionVerdict
from tests.asked import THOROUGH
from tests.conftest import UNCONFINED, is_remembered
from tests.our_course import COURSE
from tests.sample_course import STEM
from tests.small_chapter import PROJECT, SAMPLE

# The ordinary run uses a seed of the proof, whose observations of the bank's answers are already stored.
SEED = 20_250_101 if THOROUGH else SEEDS[1]
WHOLE = STEM  # files and processes behave the same in every chapter, so only this one tests them
ONE = WorkerChoice(count=1, stays=True)  # one worker, because the tests themselves run in parallel
# The students with a feedback page: one with a known mistake in every exercise, and one with an unreadable file.
PAGES = None if THOROUGH else ("wrong-01", "broken-json")


def group(stem: str) -> pytest.MarkDecorator:
    """Return the mark that keeps the tests of a chapter's class in one process (`--dist loadgroup`)."""
    return pytest.mark.xdist_group(f"class of {stem}")


def graded_class(stem: str, request: pytest.FixtureRequest) -> ExampleClass:
    """Return the class of a chapter after nbgrader's cycle; only the sample's class has mishaps.

    In the nightly run, the students hand in every answer of the banks, and all get feedback. In the ordinary run, they
    hand in the whole bank only of exercises that a test in this run examines (`test_graded_banks`); of the others the
    first right and the first wrong answer.
    """
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    whole = None if stem == WHOLE or THOROUGH else looked_at(stem, request.session)
    return _graded_class(stem, factory.getbasetemp() / "classes" / stem, whole)


@cache
def looked_at(stem: str, session: pytest.Session) -> frozenset[str]:
    """Return the exercises of a chapter with a test of their own in this run that is not remembered."""
    tests = [(item, getattr(item, "callspec", None)) for item in session.items if item.path.stem == "test_graded_banks"]
    asked = [(item, call.params) for item, call in tests if call is not None and call.params.get("stem") == stem]
    return frozenset(params["exercise"] for item, params in asked if "exercise" in params and not is_remembered(item))


@cache
def _graded_class(stem: str, folder: Path, whole: frozenset[str] | None) -> ExampleClass:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))
        empty, is_sample = example_class.empty_folder(folder), stem == WHOLE
        return example_class.run_example_class(
            SAMPLE if is_sample else _with_one_chapter(stem, folder.with_name(f"{stem}-project")),
            empty,
            stem,
            mishaps=is_sample,
            repeats=is_sample or THOROUGH,
            whole=whole,
            pages=PAGES,
            workers=ONE,
            unconfined=UNCONFINED,
        )


def _with_one_chapter(stem: str, folder: Path) -> Path:
    """Copy this project with only one chapter of its course, because grading reads nothing of the others."""
    others = [other for other in COURSE.stems if other != stem]
    ignored = ignore_patterns("__pycache__", *others, *(f"{other}.*" for other in others))
    for name in ("chapters", "answers", "exercises", "shipped"):
        copytree(COURSE.folder / name, folder / "course" / name, ignore=ignored)
    for name in ("course/nbgrader_config.py", "pyproject.toml"):
        copyfile(PROJECT / name, folder / name)
    return folder


def verdict_of(graded: ExampleClass, student: str) -> SubmissionVerdict:
    """Return the stored verdict of one student."""
    found = verdict_store.read_verdict(graded.course, graded.stem, student)
    assert found is not None
    return found


def share(graded: ExampleClass, judge: Judge, student: ExampleStudent, exercise: str) -> float:
    """Return the share of an exercise's points that a student must earn.

    For a known mistake, the sample and the nightly run compute it from the answer's own observations. The ordinary run
    of other chapters takes it from the verdict, because computing takes as long as grading; it then asserts that the
    verdict names the mistake.
    """
    if exercise in student.expected.solved:
        return 1.0
    tag = student.expected.mistakes.get(exercise)
    if tag is None:
        return 0.0
    if THOROUGH or graded.stem == WHOLE:
        return _bank_share(judge, exercise, tag)
    report = verdict_of(graded, student.name).report(exercise)
    (answer,) = [answer for answer in judge.banks[exercise] if answer.tag == tag]
    assert report.mistakes == ((tag,) if answer.sentence and tag != UNTOUCHED else ())
    return report.score


@cache
def _bank_share(judge: Judge, exercise: str, tag: str) -> float:
    (answer,) = [a for a in judge.banks[exercise] if a.tag == tag]
    (seen,) = [mistake.observations for mistake in judge.keys.full_key(exercise, SEED).mistakes if mistake.tag == tag]
    return judge.judge(exercise, SEED, seen, answer.source).score
