"""Running student code in a child process."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Protocol

import pytest

from autograder import pipe_messages
from autograder.diagnosis.mistake_matching import same_observation
from autograder.errors import WorkFailed
from autograder.grading.execution_plan import ExerciseTask, plan_run
from autograder.pipe_messages import Frame, FrameError
from autograder.sandbox.confinement_self_test import confinement_problem
from autograder.sandbox.execution.child_process_management import child_environment
from autograder.sandbox.execution.fork_server_client import ForkServerPool
from autograder.sandbox.execution.run_specification import ChildProvider, ExerciseOutcome, SharedSetup
from autograder.sandbox.execution.submission_runner import run_program
from autograder.sandbox.execution.unconfined_process import unconfined_process
from autograder.submission.order_repaired_cells import CellInRun, CellRole
from tests import made
from tests.conftest import needs_confinement
from tests.made_programs import MADE_COURSE, NAMES, program

pytestmark = pytest.mark.xdist_group("runner")  # one process, which starts each way of running once

CASES = made.exercise().cases(3)
RIGHT = "def {}(x, plus):\n    return 2 * x + plus"


class Run(Protocol):
    """The type of `run_all`."""

    def __call__(self, *sources: str, helpers: str = "", seconds: float = 20.0) -> list[ExerciseOutcome]:
        """Run answers to made exercises in one program."""


def run_in(
    children: ChildProvider, *sources: str, helpers: str = "", seconds: float = 20.0, setup: str = "import torch"
) -> list[ExerciseOutcome]:
    """Run answers to made exercises in one program; `{}` in a source stands for the exercise's name."""
    answers = {name: source.replace("{}", name) for name, source in zip(NAMES, sources, strict=False)}
    outcomes = run_program(program(answers, CASES, own=helpers, setup=setup, seconds=seconds), children=children)
    return [outcomes[name] for name in answers]


@pytest.fixture(
    scope="module", params=["forked and confined", pytest.param("in a process of its own", marks=pytest.mark.night)]
)
def children(request: pytest.FixtureRequest) -> Iterator[ChildProvider]:
    """Each way to run a program."""
    if request.param.startswith("in"):
        yield unconfined_process
    elif reason := confinement_problem():
        pytest.skip(f"nothing can be confined here: {reason}")
    else:
        yield ForkServerPool()


@pytest.fixture
def run_all(children: ChildProvider) -> Run:
    """Return a function that runs answers in one of the ways."""
    return partial(run_in, children)


def returned(found: ExerciseOutcome) -> bool:
    """Return whether the answer was observed on every case and always returned."""
    seen = found.observations or ()
    return len(seen) == len(CASES) and all("returned" in each for each in seen)


def test_probe_sees_what_it_sees_in_this_process(run_all: Run) -> None:
    """The child's observations equal those made in this process."""
    (found,) = run_all(RIGHT)
    key = made.key(3)

    assert found.observations is not None
    for expected, seen in zip(key.reference, found.observations, strict=True):
        assert made.exercise().compare(expected, seen, made.exercise().tolerance) is None


def test_each_class_has_its_own_cases(children: ChildProvider) -> None:
    """A warm process observes each class on its own cases."""
    for seed in (3, 4, 3, 5):
        key = made.key(seed)
        answers = {"one": RIGHT.replace("{}", "one")}
        found = run_program(program(answers, key.cases), children=children)["one"]

        assert found.observations is not None
        assert all(
            same_observation(made.exercise(), *pair) for pair in zip(key.reference, found.observations, strict=True)
        )


@pytest.mark.night
def test_a_fresh_process_is_started_again_where_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh process has its own environment, and is replaced after an answer ends it."""
    monkeypatch.setenv("TEACHERS_TOKEN", "x")
    before, ending, after = run_in(
        unconfined_process, RIGHT, "import os\nos._exit('TEACHERS_TOKEN' in os.environ)", RIGHT
    )

    assert returned(before) and returned(after) and ending.raised is not None
    assert "exit code 0" in ending.raised.message


def test_cell_that_stops_costs_only_its_exercise(run_all: Run) -> None:
    """A cell that raises records the error with message and line, and the others are observed."""
    sources = ("def {}(x, plus)\n    return x", "a = 1\nb = a / 0", "x = '\x00'", "def t(): pass", RIGHT)

    *stopped, right = run_all(*sources)
    with pytest.raises((SyntaxError, ValueError)) as null_byte:  # ValueError before Python 3.11.4
        compile(sources[2], "cell", "exec")

    assert returned(right)
    assert [
        ("SyntaxError", "expected ':'", "def one(x, plus)"),
        ("ZeroDivisionError", "division by zero", "b = a / 0"),
        (null_byte.type.__name__, "source code string cannot contain null bytes", ""),
        ("NameError", "name 'four' is not defined", ""),
    ] == [(found.raised.type, found.raised.message, found.raised.line) for found in stopped if found.raised]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ("import os\nos._exit(0)", "exit code 0"),
        ("def {}(x, plus):\n    import os, signal\n    os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
        ("def {}(x, plus):\n    import os\n    os.kill(os.getpid(), 40)", "signal 40"),
    ],
)
def test_cell_that_ends_the_process_costs_only_its_exercise(run_all: Run, bad: str, told: str) -> None:
    """If a cell ends the process, the other exercises are observed, and can use each other's cells."""
    before, ending, after = run_all(RIGHT, bad, "def {}(x, plus):\n    return one(x, plus)")

    assert returned(before) and returned(after) and ending.raised is not None
    assert "ended the Python process" in ending.raised.message and told in ending.raised.message


@pytest.mark.parametrize("two", [RIGHT, "def {}(x, plus):\n    raise NotImplementedError"], ids=["right", "open"])
@pytest.mark.night
def test_no_answer_leans_on_another_by_mine(children: ChildProvider, two: str) -> None:
    """`mine` always returns the lesson's version, wherever it is imported."""
    lesson = "step = mine('one', lambda x: 2 * x)"
    right = "def {}(x, plus):\n    return step(x) + plus"
    setup = "import torch\nfrom autograder import check, mine"
    found = run_in(children, two, right, f"from autograder import mine\n{lesson}\n{right}", helpers=lesson, setup=setup)

    for outcome in found[1:]:
        assert outcome.observations is not None
        pairs = zip(made.key(3).reference, outcome.observations, strict=True)
        assert not any(made.exercise().compare(wanted, seen, made.exercise().tolerance) for wanted, seen in pairs)


@pytest.mark.night
def test_endless_loop_costs_only_its_exercise(run_all: Run) -> None:
    """An endless answer is stopped, even if it ignores interrupts."""
    endless = "def {}(x, plus):\n  while True:\n    try:\n      pass\n    except BaseException:\n      pass"

    found, after = run_all(endless, RIGHT, seconds=1.0)

    assert found.timed_out and found.observations is None and returned(after)


@pytest.mark.night
def test_result_that_is_too_large_is_named(run_all: Run) -> None:
    """A result that is too large is recorded as an error."""
    found, after = run_all("def {}(x, plus):\n    return list(range(400_000))", RIGHT)

    assert found.raised is not None and found.raised.type == "ResultTooLarge" and returned(after)
    assert "more than 64 MB of tensors, or 1 MB of anything else" in found.raised.message


def test_interrupt_and_exit_are_told_as_raised(run_all: Run) -> None:
    """KeyboardInterrupt and SystemExit in an answer are recorded as errors."""
    interrupted, left, right = run_all(
        "def {}(x, plus):\n    raise KeyboardInterrupt", "def {}(x, plus):\n    exit()", RIGHT
    )

    assert returned(right) and left.observations is not None
    assert interrupted.raised is not None and "KeyboardInterrupt" == interrupted.raised.type


def test_helpers_are_there_for_answers(run_all: Run) -> None:
    """Helpers can be used, and a failing one costs only the answers that need it."""
    helpers = "import no_such_module\n\ndef plus_one(x):\n    return x + 1"
    uses = "def {}(x, plus):\n    return plus_one(2 * x + plus) - 1"

    found, missed = run_all(uses, "def {}(x, plus):\n    return no_such_module.f(x)", helpers=helpers)

    assert returned(found) and not returned(missed)


def test_helpers_that_end_the_process_are_left_out(run_all: Run) -> None:
    """Helpers that end the process are skipped."""
    assert returned(run_all(RIGHT, helpers="class A:\n    import os\n    os._exit(1)")[0])


def test_notebook_habits_work(run_all: Run) -> None:
    """Magics, `inspect.getsource`, printing, warnings and input do not stop an answer."""
    found = run_all(
        "%matplotlib inline\n" + RIGHT,
        "%%time\n" + RIGHT,
        "import inspect\n" + RIGHT + "\nassert 'return' in inspect.getsource({})",
        "import sys, warnings\nprint('a' * 10**6); print('b', file=sys.stderr); warnings.warn('c')\n" + RIGHT,
        "try:\n    input()\nexcept EOFError:\n    pass\n" + RIGHT,
    )

    assert [True] * 5 == [returned(each) for each in found]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("print(1 / 0)", "division by zero"),
        ("import torch; torch.load('mine.pt')", "No such file"),
        ("input()", "EOF"),
        ("raise SystemExit", ""),
    ],
)
def test_cell_that_stops_below_its_answer_is_probed(run_all: Run, line: str, told: str) -> None:
    """A cell that fails below its answer costs nothing; its error is recorded, and later lines run."""
    (found,) = run_all(RIGHT.replace("return", "return other() +") + f"\n{line}\ndef other():\n    return 0")

    assert returned(found)
    assert found.cell is not None and found.cell.raised is not None and told in found.cell.raised.message


@pytest.mark.parametrize("magic", ["%%time", "%%capture", "%%capture out\n%%time", "%%prun"])
def test_cell_that_stops_above_its_answer_is_probed(run_all: Run, magic: str) -> None:
    """Also where a magic hides the error: a file that was not handed in costs nothing."""
    (found,) = run_all(f"{magic}\ntable = open('mine.txt').read()\n{RIGHT}")

    assert returned(found)
    assert found.cell is not None and found.cell.raised is not None and "No such file" in found.cell.raised.message


@pytest.mark.parametrize("line", ["while True: pass", "import os; os._exit(1)"])
def test_cell_that_hangs_below_its_answer_is_probed(run_all: Run, line: str) -> None:
    """If a cell hangs or ends the process below its answer, the answer runs without that line."""
    found, after = run_all(f"{RIGHT}\n{line}", RIGHT, seconds=1.0)

    assert returned(found) and returned(after)
    assert found.cell is not None and (found.cell.timed_out or "exit code 1" in str(found.cell.raised))


def test_lines_for_another_machine_do_nothing(run_all: Run) -> None:
    """Shell commands and unknown magics do nothing."""
    found = run_all(*(f"{line}\n{RIGHT}" for line in ("!nvidia-smi", "%pip install x", "%no_magic", "files = !ls")))

    assert [(True, None)] * 4 == [(returned(each), each.cell) for each in found]


def test_what_stands_below_a_check_undoes_nothing(children: ChildProvider) -> None:
    """An answer is observed at its check, so that later cells cannot change it."""
    below = "one = torch = None"

    found = run_program(program({"one": RIGHT.format("one")}, CASES, below=below), children=children)["one"]

    assert returned(found) and found.later is None


def test_what_stands_below_a_check_may_help(children: ChildProvider) -> None:
    """An answer that needs a later cell is observed again after it."""
    answer, below = "def one(x, plus):\n    return helper(2 * x + plus)", "def helper(x):\n    return x"

    found = run_program(program({"one": answer}, CASES, below=below), children=children)["one"]

    assert not returned(found) and found.later is not None and returned(found.later)


@pytest.mark.parametrize(
    "own",
    [
        "def begin():\n    WITH['by'] = 2\n\nbegin()",
        "def begin(into=WITH):\n    WITH.update(by=2)\n\nbegin()",
        "def begin():\n    global WITH\n    WITH = {'by': 2}\n\nif True:\n    begin()",
        "def first():\n    WITH['by'] = 2\n\ndef begin():\n    first()\n\nbegin()",
    ],
)
def test_what_a_call_sets_for_an_answer_is_set(children: ChildProvider, own: str) -> None:
    """A call that sets what an answer uses is run."""
    answer = "def one(x, plus):\n    return WITH['by'] * x + plus if WITH else x.nothing"

    found = run_program(program({"one": answer}, CASES, own=f"WITH = {{}}\n{own}"), children=children)["one"]

    assert returned(found)


@pytest.mark.parametrize(
    "answer",
    [
        "@timed\ndef one(x, plus):\n    return 2 * x + plus",
        "class one(Base):\n    def __new__(cls, x, plus):\n        return 2 * x + plus",
        "def one(x, plus, by=FACTOR):\n    return by * x + plus",
        "one = timed(lambda x, plus: 2 * x + plus)",
    ],
)
def test_what_an_answer_is_made_with_may_stand_below(children: ChildProvider, answer: str) -> None:
    """An answer whose decorator, base or default is defined below is defined again there."""
    below = "FACTOR = 2\ndef timed(f):\n    return f\n\nclass Base:\n    pass"

    found = run_program(program({"one": answer}, CASES, below=below), children=children)["one"]

    assert not returned(found) and found.later is not None and returned(found.later)


@pytest.mark.night
def test_an_answer_for_a_compiler_runs_without_one(run_all: Run) -> None:
    """`torch.compile` does nothing, because compiling would take too long."""
    found = run_all("@torch.compile\n" + RIGHT, "{} = torch.compile(lambda x, plus: 2 * x + plus, fullgraph=True)")

    assert all(map(returned, found))


@pytest.mark.parametrize("added", ["one.made = made", "setattr(one, 'made', made)"])
def test_what_is_added_to_an_answer_above_its_check_is_there(children: ChildProvider, added: str) -> None:
    """A method that a cell above the check adds to a class is available."""
    answer = "class one:\n    def __new__(cls, x, plus):\n        return cls.made(x, plus)"
    made_by = f"def made(x, plus):\n    return 2 * x + plus\n\n{added}"
    ground = SharedSetup(str(MADE_COURSE), ("ch98_many",), "import torch")

    def outcome(*parts: CellInRun) -> ExerciseOutcome:
        return run_program(plan_run(parts, [ExerciseTask("one", CASES, 20.0)], ground).program, children=children)[
            "one"
        ]

    own, answers, check = (
        CellInRun(CellRole.OWN, made_by),
        CellInRun(CellRole.ANSWER, answer, ("one",)),
        CellInRun(CellRole.CHECK, "", ("one",)),
    )
    assert returned(outcome(answers, own, check)) and not returned(outcome(answers, check, own))


def test_a_line_that_ends_the_notebook_stops_nothing(run_all: Run) -> None:
    """Lines after `exit()` run, as in a notebook."""
    found = run_all("exit()\n" + RIGHT, RIGHT + "\nquit()")

    assert [(True, None)] * 2 == [(returned(each), each.cell) for each in found]


def test_environment_holds_nothing_of_the_teachers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The child's environment has only the variables that find libraries."""
    monkeypatch.setenv("TEACHERS_TOKEN", "secret")

    assert "TEACHERS_TOKEN" not in child_environment(tmp_path)


def test_everything_started_is_dead_at_the_end(run_all: Run) -> None:
    """A process that an answer starts is killed at the end."""
    seconds = f"600.{os.getpid()}"

    (found,) = run_all(f"import subprocess\nsubprocess.Popen(['sleep', '{seconds}'])\n" + RIGHT)

    assert returned(found) and not _alive(seconds)


def _alive(word: str) -> bool:
    for _ in range(50):  # a killed process takes a moment to vanish
        if not any(word in _command(path) for path in Path("/proc").glob("[0-9]*")):
            return False
        time.sleep(0.1)
    return True


def _command(path: Path) -> str:
    try:
        return (path / "cmdline").read_text()
    except OSError:
        return ""


@pytest.mark.night
def test_broken_setup_is_our_fault(children: ChildProvider) -> None:
    """A failing setup cell raises WorkFailed."""
    with pytest.raises(WorkFailed, match="setup cell raised NameError"):
        run_in(children, RIGHT, setup="not_there")


@pytest.mark.parametrize(
    ("way", "told"),
    [
        (unconfined_process, r"did not start.*autograder\.sandbox\.execution\.unconfined_process_child --try"),
        pytest.param(ForkServerPool(), r"did not start.*autograder doctor", marks=needs_confinement),
    ],
)
def test_child_that_does_not_start_is_our_fault(monkeypatch: pytest.MonkeyPatch, way: ChildProvider, told: str) -> None:
    """A child that cannot start raises WorkFailed, which says how to see more."""
    monkeypatch.setattr("sys.executable", "/bin/false")

    with pytest.raises(WorkFailed, match=told):
        run_in(way, RIGHT)


@needs_confinement
@pytest.mark.night
def test_dawdling_again_and_again_does_not_add_up() -> None:
    """Slow cells that run again take no more than the time of all exercises."""
    servers = ForkServerPool()
    run_in(servers, RIGHT)  # start the warm process
    begun = time.monotonic()
    dawdle = "import time\ntime.sleep(0.8)\n" + RIGHT
    outcomes = run_in(servers, *[dawdle] * 2, *["import time\ntime.sleep(99)"] * 4, seconds=0.25)

    assert all(outcome.timed_out for outcome in outcomes[2:])
    assert time.monotonic() - begun < 6 + 2  # without that limit, 10.4


class TestFrames:
    """Messages through a pipe."""

    def test_frame_comes_out_as_it_went_in(self) -> None:
        """A frame survives the pipe."""
        source, sink = os.pipe()
        pipe_messages.send_frame(sink, Frame({"a": [1, None]}, b"\x00\xff"))

        assert Frame({"a": [1, None]}, b"\x00\xff") == pipe_messages.receive_frame(source)

    def test_closed_pipe_is_no_frame(self) -> None:
        """A closed pipe gives None."""
        source, sink = os.pipe()
        os.close(sink)

        assert pipe_messages.receive_frame(source) is None

    @pytest.mark.parametrize(
        "data",
        [b"\x00", b"\x00\x00\x00\x02\x00\x00\x00\x00[]", b"\x00\x00\x00\x05\x00\x00\x00\x00{", b"\xff" * 8],
        ids=["cut off", "no object", "cut off in the text", "too long"],
    )
    def test_what_is_no_frame_is_refused(self, data: bytes) -> None:
        """A damaged, truncated or oversized message raises FrameError."""
        source, sink = os.pipe()
        os.write(sink, data)
        os.close(sink)

        with pytest.raises(FrameError):
            pipe_messages.receive_frame(source)

    def test_silence_ends_at_the_deadline(self) -> None:
        """Waiting raises TimeoutError at the deadline."""
        source, _ = os.pipe()

        with pytest.raises(TimeoutError):
            pipe_messages.receive_frame(source, deadline=time.monotonic())
