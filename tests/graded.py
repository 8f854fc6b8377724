"""Example classes for the tests, each graded only once per run."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns

import pytest
from _pytest.mark import ParameterSet

from autograder.authoring import example_class
from autograder.authoring.example_class import ExampleClass
from autograder.authoring.example_students import ExampleStudent
from autograder.course.chapter_judge import Judge
from autograder.grading import verdict_store
from autograder.grading.grading_executors import WorkerOptions
from autograder.grading.submission_verdict import SubmissionVerdict
from tests.conftest import UNCONFINED
from tests.our_course import COURSE
from tests.sample_course import STEM
from tests.small_chapter import PROJECT, SAMPLE

SEED = 20_250_101
WHOLE = STEM  # what happens to files and processes does not depend on the chapter: tried in that of the sample
ONE = WorkerOptions(count=1, stays=True)  # the tests run side by side as it is


def group(stem: str) -> pytest.MarkDecorator:
    """Return the mark that keeps the tests of a chapter's class in one process (`--dist loadgroup`)."""
    return pytest.mark.xdist_group(f"class of {stem}")


def of_class(stem: str, *more: str) -> ParameterSet:
    """The parameters of a test of a chapter's class: the sample's is graded by day, the others at night."""
    return pytest.param(stem, *more, marks=[group(stem), *([] if stem == WHOLE else [pytest.mark.night])])


def graded_class(stem: str, request: pytest.FixtureRequest) -> ExampleClass:
    """The class of a chapter after nbgrader's cycle; mishaps in the sample's only."""
    factory: pytest.TempPathFactory = request.getfixturevalue("tmp_path_factory")
    return _graded_class(stem, factory.getbasetemp() / "classes" / stem)


@cache
def _graded_class(stem: str, folder: Path) -> ExampleClass:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(verdict_store.SEED_VARIABLE, str(SEED))
        empty, is_sample = example_class.recreate_folder(folder), stem == WHOLE
        return example_class.run_example_class(
            SAMPLE if is_sample else _with_one_chapter(stem, folder.with_name(f"{stem}-project")),
            empty,
            stem,
            mishaps=is_sample,
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


def share(judge: Judge, student: ExampleStudent, exercise: str) -> float:
    """What share of an exercise's points a student must earn; for a known mistake, from calling the answer here."""
    if exercise in student.expected.solved:
        return 1.0
    tag = student.expected.mistakes.get(exercise)
    return 0.0 if tag is None else _bank_share(judge, exercise, tag)


@cache
def _bank_share(judge: Judge, exercise: str, tag: str) -> float:
    (answer,) = [a for a in judge.banks[exercise] if a.tag == tag]
    (seen,) = [mistake.observations for mistake in judge.keys.full_key(exercise, SEED).mistakes if mistake.tag == tag]
    return judge.judge(exercise, SEED, seen, answer.source).score
