"""`bench`: measure how long a call takes, on a device that works on its own."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.diagnosis.number_format import number_text
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.simulated_async_device import FakeDevice
from autograder.exercises.seeded_draw import Draw


def benched(answer: Answer, case: Case) -> Observation:
    """One call of `bench` on a fake device.

    Facets: `returned`, `calls` of fn, whether autograd is `tracked` in each, and `waits` (sync is called).
    """
    kind, takes, warmup, iters = copy_case_data(case.args)
    device = FakeDevice(takes, kind == "asynchronous", case.kwargs.get("left_over", 0.0))
    with device.clock(answer):
        result = answer(device.work, warmup, iters, device.sync)
    return {
        "returned": snapshot_value(result),
        "calls": device.calls,
        "tracked": all(device.tracked),
        "waits": device.waits,
    }


def _spelled(name: str, case: Case) -> str:
    """A function that is timed, with the seconds that each of its calls takes."""
    kind, takes, warmup, iters = case.args
    at_once = "; fn returns before the work is done" if kind == "asynchronous" else ""
    seconds = ", ".join(map(number_text, takes))
    before = f"; {number_text(case.kwargs['left_over'])} seconds of work are left from before" if case.kwargs else ""
    called = call_from_parts(name, "fn", str(warmup), str(iters), "sync")
    return f"{called}, where calls of fn take {seconds} seconds{at_once}{before}"


returned = make_probe_recording_exceptions(benched, "returned")
one = Requirement(
    "times one call", returned, {"returned": "Asked for are the seconds of a single call of fn, and nothing else."}
)
middle = Requirement(
    "gives the median of several calls",
    returned,
    {
        "returned": "Asked for is the median of `iters` times, one of each call after the warm-up: the middle one, or "
        "between two."
    },
)
warm = Requirement(
    "does not time the first calls, the warm-up",
    returned,
    {"returned": "The first `warmup` calls are slower here, and the median is that of the `iters` calls after them."},
    needs=(middle,),
)
done = Requirement(
    "waits until the work of a call is done",
    make_probe_recording_exceptions(benched, "waits", "returned"),
    {
        "waits": "You never call sync: nobody waits for the work.",
        "returned": "A time of a call goes from where nothing is left over to where its own work is done.",
    },
    needs=(middle,),
)
before = Requirement(
    "begins with no work left over",
    returned,
    {"returned": "Before the clock is read for a call, all earlier work has to be done, whoever gave it."},
    needs=(middle, warm),
)
calls = Requirement(
    "calls fn as often as asked for",
    make_probe_recording_exceptions(benched, "calls", "tracked"),
    {
        "calls": "fn is to be called `warmup` times, and then `iters` times.",
        "tracked": "fn runs without autograd here: what is timed is another call than the one asked for.",
    },
)


@exercise(
    tier="core",
    hints=(
        "When has the work of a call begun, and when is it done? At any other moment, the clock tells something else.",
        "Before the clock is read the first time, wait for what is left over; before it is read again, for this call.",
        "Collect one time for each call; `statistics.median` knows what to do with an even number of them.",
    ),
    spelled=_spelled,
)
def bench(draw: Draw) -> Iterator[Case]:
    """Measure how long a call takes."""

    def times(count: int, low: int = 1, high: int = 30) -> list[float]:
        """Different times, in quarters of a second, in no order."""
        return [quarters / 4 for quarters in draw.sizes(count, low, high)]

    def spread(count: int) -> list[float]:
        """Times of which one is much longer, so that their mean is not their median."""
        return [*times(count - 1), draw.whole(50, 90) * 1.0]

    yield one("synchronous", times(1, 1, 400), 0, 1)
    yield middle("synchronous", [1.0, 1.0, 2.0, 9.0, 1.0], 0, 5)
    yield middle("synchronous", spread(5), 0, 5)
    yield middle("synchronous", spread(4), 0, 4)
    for slow in (draw.whole(20, 40), draw.whole(20, 40)):
        yield warm("synchronous", [slow * 1.0] * 4 + spread(3), 4, 3)
    yield done("asynchronous", spread(3), 0, 3)
    yield done("asynchronous", spread(4), 0, 4)
    yield before("asynchronous", [draw.whole(20, 40) * 1.0] * 2 + times(1), 2, 1)
    yield before("asynchronous", [draw.whole(20, 40) * 1.0] * 3 + spread(2), 3, 2)
    yield before("asynchronous", times(1), 0, 1, left_over=draw.whole(20, 40) * 1.0)
    yield before("asynchronous", times(3), 0, 3, left_over=draw.whole(100, 200) * 1.0)
    yield calls("asynchronous", times(2), draw.whole(2, 5), draw.whole(6, 9))
