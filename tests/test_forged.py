"""Forged observations of any form and size cost only their own exercise."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from safetensors.torch import save

from autograder.course.chapter_judge import Judge
from autograder.diagnosis import judge_answer
from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.verdict import Report, Status
from autograder.errors import DamagedData, TooMuchText, WorkFailed
from autograder.exercises.observation import (
    ExceptionSnapshot,
    Observation,
    OtherValue,
    TensorSnapshot,
    decode_plain_data,
    encode_plain_data,
)
from autograder.grading.judge_untrusted_observations import (
    FORGED_OBSERVATION_MESSAGE,
    judge_untrusted_observations,
    unjudgeable_lines,
)
from autograder.pipe_messages import Frame
from autograder.sandbox.execution.run_specification import LIMITS
from autograder.sandbox.execution.submission_runner import outcome_from_frame
from autograder.untrusted_data_cpu_limit import CpuTimeExceeded, limit_cpu_seconds
from course.exercises.ch04b_when_it_fails.broken_loops import broken_loops
from tests import made


def sent(node: object, tensors: bytes) -> Frame:
    """Return a message as a child process could write it."""
    text = json.dumps(node).encode()
    return Frame({}, len(text).to_bytes(8, "big") + text + tensors)


def returned(*values: object) -> dict[str, object]:
    """Return an observation for each of these values, as JSON."""
    return {"t": "list", "v": [{"t": "dict", "v": [["returned", value]]} for value in values]}


# --- reading messages


@pytest.mark.parametrize(
    "order", [{}, {"0": 1}, 5, "ab", None, [0, 0], [0, 5], [0, 1, 2], [0.0, 1], [True, False], [[0], [1]], [-1, 0]]
)
def test_tensor_lies_in_no_other_order_than_one_of_its_dims(order: object) -> None:
    """An invalid order of a tensor's dimensions raises DamagedData."""
    with pytest.raises(DamagedData):
        outcome_from_frame(sent(returned({"t": "tensor", "k": "a", "order": order}), save({"a": torch.ones(2, 3)})))


def test_names_of_tensors_are_text() -> None:
    """The header of the tensors counts toward the limit of text, before it is read."""
    head = json.dumps(
        {f"{n:07}": {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]} for n in range(20_000)}
    ).encode()

    with pytest.raises(TooMuchText):
        outcome_from_frame(sent(returned(), struct.pack("<Q", len(head)) + head), LIMITS.text_bytes)
    with pytest.raises(TooMuchText):
        outcome_from_frame(sent(returned(), struct.pack("<Q", 2**63)), LIMITS.text_bytes)


def test_one_tensor_is_not_told_thousands_of_times() -> None:
    """A tensor that is referenced too often raises TooMuchText."""
    body = save({"a": torch.ones(100_000)})
    whole = {"t": "seen", "k": "a", "v": [[100_000], "float32", "cpu", False]}

    with pytest.raises(TooMuchText):
        outcome_from_frame(sent(returned(*[whole] * 1000), body), LIMITS.text_bytes)
    assert 5 == len(outcome_from_frame(sent(returned(*[whole] * 5), body), LIMITS.text_bytes).observations or ())


def test_no_tensor_is_larger_than_probes_read() -> None:
    """A tensor larger than probes record raises DamagedData, because it is forged."""
    body = save({"a": torch.zeros(3_000_000)})

    with pytest.raises(DamagedData):
        outcome_from_frame(sent(returned({"t": "seen", "k": "a", "v": [[3_000_000], "float32", "cpu", False]}), body))


BRACKETS = json.dumps(
    {"a": {"dtype": "U8", "shape": [1] * 100_000, "data_offsets": [0, 1]}}, separators=(",", ":")
).encode()
PRIME = 2**61 - 1  # all multiples have the same hash in Python
SMALL = save({"a": torch.ones(1)})
ONE = {"t": "seen", "k": "a", "v": [[1], "float32", "cpu", False]}
# Small messages that once took a minute, or all memory, to read.
MUCH_WORK: dict[str, tuple[object, bytes]] = {
    "dims in an order": (
        {"t": "tensor", "k": "a", "order": list(range(100_000))},
        struct.pack("<Q", len(BRACKETS)) + BRACKETS + b"\0",
    ),
    "numbers of one hash": ({"t": "dict", "v": [[k * PRIME, 1] for k in range(30_000)]}, SMALL),
    "tuples of one hash": (
        {"t": "dict", "v": [[{"t": "tuple", "v": [-1 - (k >> bit & 1) for bit in range(13)]}, 1] for k in range(8192)]},
        SMALL,
    ),
    "a part of torch to import": ({"t": "dtype", "v": "onnx"}, SMALL),
    "dims to multiply": ({"t": "seen", "k": None, "v": [[2**62] * 40_000, "float32", "cpu", False]}, SMALL),
    "sizes to multiply": ({"t": "size", "v": [2**62] * 40_000}, SMALL),
    "thousands of tensors": ({"t": "list", "v": [ONE] * 14_000}, SMALL),
    "lists in lists": (json.loads('{"t":"list","v":[' * 200 + "1" + "]}" * 200), SMALL),
    "numbers of many digits": ({"t": "list", "v": [10**4000] * 200}, SMALL),
}


@pytest.mark.parametrize("what", MUCH_WORK)
def test_little_is_read_and_judged_soon(what: str) -> None:
    """Each of these messages is refused, or read and judged within seconds."""
    exercise, begun = made.exercise(), time.process_time()
    try:
        seen = (
            outcome_from_frame(sent(returned(MUCH_WORK[what][0]), MUCH_WORK[what][1]), LIMITS.text_bytes).observations
            or ()
        )
    except (DamagedData, TooMuchText):
        seen = ()
    if seen:
        report = judge_untrusted_observations(one_exercise(exercise, {"returned": 1.0}), exercise.name, 0, seen, "")
        assert not report.passed
    assert time.process_time() - begun < 4


def test_honest_dicts_are_read() -> None:
    """Dictionaries with keys of any kind survive, even with equal hashes."""
    honest = [{"returned": {k: str(k) for k in range(-5000, 5000)} | {(1, -1): 0, (1, -2): 1, None: 2, "a": 3}}]

    assert honest == decode_plain_data(encode_plain_data(honest))


def raises_in_time(work: Callable[[], object]) -> float:
    """Return the time that a piece of work computes until its time budget is used up."""
    begun = time.process_time()
    with pytest.raises(CpuTimeExceeded), limit_cpu_seconds(0.5):
        work()
    return time.process_time() - begun


def endless() -> None:
    """Compute without end, and swallow the first exception."""
    swallowed = 0
    while True:
        try:
            while True:
                pass
        except CpuTimeExceeded:
            swallowed += 1
            if swallowed == 2:
                raise


def test_work_without_end_ends() -> None:
    """A time budget ends endless work in any thread."""
    found: list[float] = []
    thread = threading.Thread(target=lambda: found.append(raises_in_time(endless)))
    thread.start()
    thread.join()
    found.append(raises_in_time(endless))
    with limit_cpu_seconds(60):
        found.append(0.5)

    assert len(found) == 3 and all(0.5 <= seconds < 10 for seconds in found)


def test_a_budget_that_was_kept_leaves_nothing_behind() -> None:
    """After a time budget, tracing works without errors."""
    code = "import sys; from autograder.untrusted_data_cpu_limit import limit_cpu_seconds\n"
    code += "with limit_cpu_seconds(60):\n    pass\nsys.settrace(lambda *_: None)\n(lambda: print('went on'))()"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)

    assert ("went on\n", "") == (ran.stdout, ran.stderr)


def test_message_that_takes_too_long_costs_its_exercise(monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow comparison fails the exercise, and the reference gets its own time."""

    def compare(_expected: Observation, seen: Observation, _tolerance: object) -> None:
        while "slow" in seen:
            pass

    monkeypatch.setattr(
        "autograder.grading.judge_untrusted_observations.limit_cpu_seconds", partial(limit_cpu_seconds, 0.5)
    )
    judge = one_exercise(comparing(compare), {"returned": 1})

    assert (
        FORGED_OBSERVATION_MESSAGE
        == judge_untrusted_observations(judge, made.exercise().name, 0, [{"slow": 1}], "").verdicts[0].sentence
    )


# --- judging observations

ODD: dict[str, object] = {
    "nothing": None,
    "a text": "x",
    "an empty list": [],
    "a list of lists": [[[]]],
    "a dict": {"a": 1},
    "keys of every kind": {(): 1, None: 2, 1: 3},
    "a tensor": TensorSnapshot(torch.ones(3), (3,), "float32", "cpu"),
    "a tensor without values": TensorSnapshot(None, (2**62, 2**62), "float32", "meta"),
    "a bare tensor": torch.ones(3),
    "an error": ExceptionSnapshot("E", "m"),
    "something foreign": OtherValue("ndarray", "x"),
    "a huge number": 10**4000,
    "nan": float("nan"),
    "marks": "{got.__class__} %s %n `<b>` \x1b[2J",
}


class OneExercise:
    """A stand-in for a judge and its keys with one exercise."""

    def __init__(self, exercise: Any, reference: Sequence[Observation]) -> None:
        self.exercises, self.keys = {exercise.name: exercise}, self
        self._key = ExpectedObservations(exercise.name, exercise.cases(0)[: len(reference)], tuple(reference), ())

    def full_key(self, _name: str, _seed: int) -> ExpectedObservations:
        """Return the key."""
        return self._key

    reference_key = full_key

    def cases(self, _name: str, _seed: int) -> Any:
        """Return the cases."""
        return self._key.cases

    def judge(self, name: str, _seed: int, seen: Sequence[Observation], source: str) -> Report:
        """Return the report on the observations."""
        return judge_answer.judge(self.exercises[name], self._key, seen, source)


def one_exercise(exercise: Any, *reference: Observation) -> Judge:
    """Return a judge of one exercise with this reference."""
    return cast(Judge, OneExercise(exercise, reference))


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("facet", ["left", "losses", "optimizers", "rates"])
def test_odd_forms_fail(facet: str, odd: str) -> None:
    """An observation that no probe writes fails, even in an exercise with its own comparison."""
    honest: Observation = {"losses": [1.0, 0.1], "left": 0.1, "weights": [], "optimizers": ["SGD"], "rates": [0.1]}
    judge = one_exercise(broken_loops, honest)
    forged = decode_plain_data(encode_plain_data([honest | {facet: ODD[odd]}]))

    first = judge_untrusted_observations(judge, "broken_loops", 0, forged, "").verdicts[0]

    assert first.status in (Status.FAIL, Status.ERROR) and len(first.sentence) <= 1000


@pytest.mark.parametrize("shape", [(300, 300, 300, 0), (2**40, 2**20, 0), (1000, 1000)])
def test_a_tensor_in_a_number_s_place_is_told_at_once(shape: tuple[int, ...]) -> None:
    """A huge tensor in place of a number is described without making lists of it."""
    exercise = made.exercise()
    judge, begun = one_exercise(exercise, {"returned": 1.0}), time.process_time()

    first = judge_untrusted_observations(
        judge, exercise.name, 0, [{"returned": TensorSnapshot(torch.empty(shape), shape, "float32", "cpu")}], ""
    )

    assert "got a tensor" in first.verdicts[0].sentence and time.process_time() - begun < 0.5


def comparing(compare: Callable[..., object]) -> Any:
    """Return an exercise with its own comparison."""
    own = SimpleNamespace(
        **{name: getattr(made.exercise(), name) for name in ("name", "requirements", "rules", "notes")}
    )
    own.cases, own.compare, own.tolerance, own.spelled = made.exercise().cases, compare, None, None
    return own


def test_what_cannot_be_judged_fails_and_is_named() -> None:
    """A comparison that raises fails the exercise, and adds a line for the teacher."""

    def compare(_expected: Observation, seen: Observation, _tolerance: object) -> None:
        assert "returned" in seen

    judge = one_exercise(comparing(compare), {"returned": 1})
    report = judge_untrusted_observations(judge, made.exercise().name, 0, [{"other": 1}], "")

    assert (Status.FAIL, FORGED_OBSERVATION_MESSAGE) == (
        report.verdicts[0].status,
        report.verdicts[0].sentence,
    ) and report.score == 0
    assert (f"{made.exercise().name}: {FORGED_OBSERVATION_MESSAGE}",) == unjudgeable_lines([report])


@pytest.mark.parametrize("error", [KeyError("ours"), WorkFailed("no room")])
def test_fault_of_ours_is_told_as_ours(error: Exception) -> None:
    """If the reference cannot be compared either, the error is raised, and no student is blamed."""

    def compare(*_: object) -> None:
        raise error

    with pytest.raises(type(error)):
        judge_untrusted_observations(
            one_exercise(comparing(compare), {"returned": 1}), made.exercise().name, 0, [{"returned": 1}], ""
        )


@pytest.mark.skipif(sys.platform != "linux", reason="the bound is Linux's")
def test_judging_takes_no_more_memory_than_it_may() -> None:
    """A comparison that needs too much memory fails, and the grader continues."""

    def compare(_expected: Observation, seen: Observation, _tolerance: object) -> None:
        long = torch.ones(seen["returned"])
        assert bool((long[:, None] * long[None]).any())

    judge = one_exercise(comparing(compare), {"returned": 1})

    assert (
        FORGED_OBSERVATION_MESSAGE
        == judge_untrusted_observations(judge, made.exercise().name, 0, [{"returned": 50_000}], "").verdicts[0].sentence
    )
    assert torch.ones(1000, 1000).sum() == 1e6
