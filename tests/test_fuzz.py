"""Property tests with generated data: submissions, messages and observations may be anything.

Each run draws new data, the nightly run twice as many damaged notebooks, and prints its seed at the start; a failure
prints how to reproduce it.
"""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import Any

import nbformat
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbgrader.utils import determine_grade

from autograder.course.chapter_judge import Judge
from autograder.errors import DamagedData
from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.observation import (
    ExceptionSnapshot,
    OtherValue,
    TensorSnapshot,
    decode_plain_data,
    encode_plain_data,
)
from autograder.grading.grade_submission import SubmissionGrading
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.grade_cell_outputs import make_grade_cell_outputs
from autograder.notebook.report_rendering import report_as_html, text
from autograder.pipe_messages import Frame
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.run_specification import LIMITS, ExerciseOutcome, Limits, Program, Runner
from autograder.sandbox.execution.submission_runner import outcome_from_frame
from autograder.submission.read_submission import read_submission
from tests.asked import NIGHT
from tests.colab.notebook import colab_copy
from tests.conftest import UNCONFINED
from tests.made_submissions import handed_in, released
from tests.mutations import MUTATIONS, Mutation, damage
from tests.sample_course import COURSE, STEM, make_course

pytestmark = pytest.mark.xdist_group("fuzz")  # one process, which makes the chapter once

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=8)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=4) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=12,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TAGS = ("tensor", "seen", "list", "tuple", "dict", "size", "dtype", "device", "raised", "foreign", "odd")
JUNK = st.sampled_from(
    ["", "zzz", "float32", "cpu", "nn", 3, -1, 2.5, None, True, 10**30, [], [1], ["a"], [10**30], ["a", "b", "c"], {}]
)
SEEN = st.just([[2], "float32", "cpu", False]) | st.just([["a"], 3, 4, 5])
TAGGED = st.recursive(
    JUNK | SEEN,
    lambda inner: st.fixed_dictionaries(
        {"t": st.sampled_from(TAGS)},
        optional={"v": inner | st.lists(inner, max_size=4), "k": inner, "order": inner},
    ),
    max_leaves=8,
)
CELLS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "cell_type": st.sampled_from(["code", "markdown", "raw", "odd", 3]),
            "source": st.text(max_size=30) | st.lists(st.text(max_size=9) | st.integers(), max_size=3) | JSON,
            "metadata": JSON | st.fixed_dictionaries({"nbgrader": JSON | st.fixed_dictionaries({"grade_id": JSON})}),
            "id": JSON,
            "outputs": JSON,
        },
    ),
    max_size=5,
)
# In CI, hypothesis would use the same data each time by default.
gentle = settings(
    deadline=None,
    max_examples=300 if NIGHT else 60,
    derandomize=False,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def release(made: "Made") -> Any:
    """Return a released notebook."""
    return made.release


@gentle
@given(PLAIN)
def test_plain_data_survives_the_journey(value: Any) -> None:
    """Plain data survives serialization unchanged."""
    assert first_difference(value, decode_plain_data(encode_plain_data(value)), Tolerance(0, 0)) is None


@gentle
@given(st.binary(max_size=60))
def test_any_bytes_are_data_or_damaged(data: bytes) -> None:
    """Any bytes give plain data, or raise DamagedData."""
    with suppress(DamagedData):
        decode_plain_data(data)


@gentle
@given(TAGGED)
def test_any_json_is_an_observation_or_damaged(node: Any) -> None:
    """Any JSON gives plain data, or raises DamagedData."""
    text = json.dumps(node).encode()
    with suppress(DamagedData):
        value = decode_plain_data(len(text).to_bytes(8, "big") + text + (2).to_bytes(8, "little") + b"{}")
        assert first_difference(value, decode_plain_data(encode_plain_data(value)), Tolerance(0, 0)) is None


@gentle
@given(CELLS)
def test_any_cells_make_a_sound_submission(release: Any, cells: list[dict[str, Any]]) -> None:
    """For any cells, every exercise has an answer to run, and the notebook is valid."""
    submission = read_submission(json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}).encode(), release)
    names = {
        cell.metadata.nbgrader.grade_id for cell in release.cells if cell.metadata.get("nbgrader", {}).get("solution")
    }

    nbformat.validate(submission.notebook)
    assert submission.trouble is not None or names == set(submission.answers)


@gentle
@given(st.binary(max_size=80) | JSON.map(lambda node: json.dumps(node).encode()))
def test_any_file_is_read_or_named(release: Any, data: bytes) -> None:
    """A file that is no notebook has a reason in words."""
    submission = read_submission(data, release)

    assert submission.trouble


# --- whole submissions

SEED = 31
FACETS = ("returned", "raised", "inputs", "rng", "again", "sharing", "gradient", "values", "odd")
SEEN_VALUES = st.sampled_from(
    [
        TensorSnapshot(torch.zeros(2, 3), (2, 3), "float32", "cpu"),
        TensorSnapshot(torch.full((2, 2), float("nan")), (2, 2), "float32", "cpu", True),
        TensorSnapshot(None, (10**9,), "odd", "nowhere"),
        ExceptionSnapshot("<b>", "\x1b[2J" * 100, "`" * 9),
        ExceptionSnapshot("NotImplementedError", ""),
        OtherValue("", "x" * 3000),
    ]
)
ANY_OBSERVATION = st.dictionaries(st.sampled_from(FACETS), PLAIN | SEEN_VALUES, max_size=4)
# The ways in which an exercise can end, each a name and its data; `_outcome` makes the outcome.
ENDS = (
    st.tuples(st.sampled_from(["right", "none", "hangs", "few", "many", "stub"]), st.none())
    | st.tuples(st.just("mistake"), st.integers(0, 20))
    | st.tuples(
        st.just("raised"), st.builds(ExceptionSnapshot, st.text(max_size=9), st.text(max_size=30), st.text(max_size=9))
    )
    | st.tuples(st.just("odd"), st.lists(ANY_OBSERVATION, min_size=1, max_size=3))
)
CHAINS = st.lists(st.tuples(st.sampled_from(MUTATIONS), st.integers(0, 2**32)), min_size=1, max_size=6)


@dataclass(frozen=True, repr=False)
class Made:
    """A chapter, and honest submissions to it."""

    judge: Judge
    release: Any
    bases: tuple[bytes, ...]

    def mutated(self, base: int, chain: list[tuple[Mutation, int]], broken: int | None = None) -> bytes:
        """Return a submission after a chain of mutations, and perhaps damage to its bytes."""
        notebook = json.loads(self.bases[base % len(self.bases)])
        for mutation, seed in chain:
            mutation(notebook, Random(seed))
        data = json.dumps(notebook).encode()
        return data if broken is None else damage(data, Random(broken))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Return the sample chapter with submissions: solved, untouched, back from Colab, wrong."""
    judge = Judge(make_course(tmp_path_factory.mktemp("fuzz") / "course"), STEM)
    release = released(judge)
    names = judge.chapter.exercises
    solved = handed_in(release, {name: judge.chapter.solution(name) for name in names})
    wrong = handed_in(release, {name: next(iter(judge.banks[name])).source for name in names})
    notebook = nbformat.reads(solved.decode(), as_version=4)
    colab = colab_copy(notebook, lost=names[:4], copied=names[4:8], deleted=(*names[8:10], f"check_{names[0]}"))
    bases = (solved, handed_in(release, {}), wrong, json.dumps(colab).encode())
    return Made(judge, release, bases)


@settings(gentle, max_examples=1000 if NIGHT else 60)
@given(
    base=st.integers(0, 3),
    chain=CHAINS,
    broken=st.none() | st.none() | st.integers(0, 2**32),
    ends=st.lists(ENDS, min_size=1, max_size=6),
)
def test_any_mutated_submission_is_graded_or_named(
    made: Made, base: int, chain: list[tuple[Mutation, int]], broken: int | None, ends: list[Any]
) -> None:
    """A mutated notebook, whatever its code does, has a verdict that can be stored and shown."""
    grade_and_check(made, made.mutated(base, chain, broken), stand_in(made.judge, ends))


def stand_in(judge: Judge, ends: list[Any]) -> Runner:
    """Return a runner that runs nothing, and gives the exercises these outcomes in turn."""

    def run(program: Program, _limits: Limits) -> dict[str, ExerciseOutcome]:
        names = [step.exercise for step in program.probings]
        return {name: _outcome(judge, name, *ends[index % len(ends)]) for index, name in enumerate(names)}

    return run


def _outcome(judge: Judge, name: str, end: str, more: Any) -> ExerciseOutcome:
    key = judge.keys.full_key(name, SEED)
    kinds: dict[str, Callable[[], ExerciseOutcome]] = {
        "right": lambda: ExerciseOutcome(key.reference),
        "none": lambda: ExerciseOutcome(()),
        "hangs": lambda: ExerciseOutcome(timed_out=True),
        "few": lambda: ExerciseOutcome(key.reference[1:]),
        "many": lambda: ExerciseOutcome((*key.reference, *key.reference)),
        "stub": lambda: ExerciseOutcome(raised=ExceptionSnapshot("NotImplementedError", "")),
        "mistake": lambda: ExerciseOutcome(key.mistakes[more % len(key.mistakes)].observations),
        "raised": lambda: ExerciseOutcome(raised=more),
        "odd": lambda: received([more[index % len(more)] for index in range(len(key.cases))]),
    }
    return kinds[end]()


def received(observations: list[Any]) -> ExerciseOutcome:
    """Return the outcome that the grader reads from sent observations."""
    try:
        return outcome_from_frame(Frame({}, encode_plain_data(observations)))
    except DamagedData:
        return ExerciseOutcome(raised=ExceptionSnapshot("DamagedData", ""))


def grade_and_check(made: Made, data: bytes, runner: Runner, limits: Limits = LIMITS) -> None:
    """Grade a submission, and check every intermediate result."""
    submission = read_submission(data, made.release)
    nbformat.validate(submission.notebook)
    assert json.dumps(submission.notebook).encode()
    grading = SubmissionGrading(submission, made.judge, SEED)
    verdict = grading.verdict(hashlib.sha256(data).hexdigest(), grading.outcomes(runner, limits), limits)

    assert verdict == SubmissionVerdict.from_json(json.loads(json.dumps(verdict.to_json())))
    assert verdict.trouble is None or (verdict.trouble and verdict.score == 0)
    assert [report.exercise for report in verdict.reports] == list(made.judge.chapter.exercises)
    for report in verdict.reports:
        assert report_as_html(report) and text(report) and report.verdicts
        assert 0 <= verdict.earned(report.exercise) <= verdict.points[report.exercise]
    names = list(verdict.points)
    check_outputs(verdict, names[len(data) % len(names)])  # only one of them, because this is slow


def check_outputs(verdict: SubmissionVerdict, name: str) -> None:
    """Assert that a check's outputs are valid, can be written, and earn the verdict's points."""
    mark = {"grade": True, "solution": False, "points": verdict.points[name], "grade_id": f"check_{name}"}
    cell = nbformat.v4.new_code_cell(outputs=make_grade_cell_outputs(verdict, name), metadata={"nbgrader": mark})

    assert (verdict.earned(name), verdict.points[name]) == determine_grade(cell)
    assert json.dumps(cell).encode()


@pytest.fixture(scope="module")
def real_runner() -> Runner:
    """Return the runner that grades classes."""
    return make_submission_runner(COURSE.folder, UNCONFINED)


@settings(gentle, max_examples=30)
@given(base=st.sampled_from([0, 2, 3]), chain=CHAINS)
@pytest.mark.night
def test_any_mutated_code_runs_to_a_verdict(
    made: Made, real_runner: Runner, base: int, chain: list[tuple[Mutation, int]]
) -> None:
    """A mutated notebook that is really run has a verdict."""
    grade_and_check(made, made.mutated(base, chain), real_runner, Limits(time_factor=0.1))


@gentle
@given(JSON | st.lists(st.text(max_size=4), max_size=4), st.binary(max_size=20))
def test_any_message_is_an_outcome_or_damaged(raised: Any, body: bytes) -> None:
    """Any message from a student's process is an outcome, or raises DamagedData."""
    with suppress(DamagedData):
        assert isinstance(outcome_from_frame(Frame({"raised": raised}, body)), ExerciseOutcome)
