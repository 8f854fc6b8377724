"""The calls of an answer in a notebook: captured prints are shown once, and endless calls are stopped."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
import torch
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from autograder import check
from autograder.diagnosis.verdict import Status
from autograder.notebook import call_answer_on_cases
from autograder.notebook import time_limit as deadline_module
from autograder.notebook.check_and_hint import report_on_visible_cases
from autograder.notebook.time_limit import TimeLimitReached, interrupt_after
from tests.sample_course import COURSE
from tests.test_progress_travels import ran

pytestmark = pytest.mark.usefixtures("in_the_sample")
NAME = "flatten_images"


def right(x: torch.Tensor) -> torch.Tensor:
    """A right answer that prints."""
    print("x has shape", tuple(x.shape))
    n, c = x.shape[:2]
    return x.reshape(n, c, -1).transpose(1, 2)


def only_floats(x: torch.Tensor) -> torch.Tensor:
    """An answer that fails only the last requirement, because it returns floats."""
    print("dtype", x.dtype)
    return right(x).float()


class TestPrinted:
    """The output of an answer's prints."""

    def test_the_first_call_that_is_not_right_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Only the output of the first wrong call is shown, under a line that names the call."""
        check(NAME, only_floats)
        told = capsys.readouterr().out

        assert 1 == told.count("Your code printed in the first call that is not right, flatten_images(")
        assert (
            1 == told.count("    dtype torch.") == told.count("    x has shape") and "dtype torch.float32\n" not in told
        )

    def test_of_a_right_answer_the_first_call(self, capsys: pytest.CaptureFixture[str]) -> None:
        """For a right answer, only the output of the first call is shown, and the check passes."""
        check(NAME, right)
        told = capsys.readouterr().out

        assert told.startswith("Your code printed in the first call, flatten_images(torch.tensor(")
        assert 1 == told.count("x has shape") and "all 5 checks passed" in told

    def test_a_silent_answer_has_no_such_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Without prints, the report does not mention any."""
        check(NAME, lambda x: x)

        assert "printed" not in capsys.readouterr().out

    def test_what_is_printed_before_an_error_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Output before an error is shown."""

        def answer(x: torch.Tensor) -> torch.Tensor:
            print("so far")
            return x[0, 0, 0, 0, 0]

        check(NAME, answer)

        assert "    so far\n" in capsys.readouterr().out

    def test_much_is_cut(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Many lines, long lines and large outputs are cut."""

        def lines(x: torch.Tensor) -> None:
            for line in range(100):
                print(line)

        def long(x: torch.Tensor) -> None:
            print("a" * 1000)

        def endless(x: torch.Tensor) -> None:
            for _ in range(1000):
                print("b" * 100)

        told = []
        for answer in (lines, long, endless):
            check(NAME, answer)
            told.append(capsys.readouterr().out)

        assert "    29\n    … and 70 lines more\n" in told[0]
        assert f"    {'a' * 120} …\n" in told[1]
        assert "lines more, and more after them" in told[2] and len(told[2]) < 10_000

    def test_output_is_as_before_afterwards(self) -> None:
        """sys.stdout is restored, even if an answer exits."""
        before = sys.stdout
        check(NAME, lambda x: sys.exit(1))

        assert before is sys.stdout


def loops(x: torch.Tensor) -> torch.Tensor:
    """An answer that never ends."""
    while x.numel():
        time.sleep(0.001)
    return x


def catches_all(x: torch.Tensor) -> torch.Tensor:
    """An answer that ends only if it is interrupted twice."""
    try:
        loops(x)
    except:  # noqa: E722  # this is the point
        loops(x)
    return x


class TestNoEnd:
    """Answers that never end."""

    @pytest.fixture(autouse=True)
    def impatient(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Set the time limit to 0.2 seconds."""
        monkeypatch.setattr(call_answer_on_cases, "_MOST", 0.2)

    @pytest.mark.parametrize("answer", [loops, catches_all, lambda x: time.sleep(60)], ids=["loop", "caught", "sleep"])
    def test_it_is_stopped_with_a_sentence(self, answer: object) -> None:
        """An endless answer is stopped; the message has time, line and call, and later checks are skipped."""
        first, *rest = report_on_visible_cases(NAME, answer).verdicts

        assert Status.TIMEOUT is first.status
        assert first.sentence.startswith("Your code was still running after 0.2 seconds and was stopped. It was at: `")
        assert "sleep(" in first.sentence or "while x.numel():" in first.sentence
        assert first.call.startswith("flatten_images(torch.tensor(") and 0 == first.case
        assert all(Status.SKIPPED is each.status for each in rest)

    def test_what_it_printed_is_shown(self, capsys: pytest.CaptureFixture[str]) -> None:
        """The output of a stopped answer is shown."""

        def answer(x: torch.Tensor) -> torch.Tensor:
            print("round and round")
            return loops(x)

        check(NAME, answer)

        assert "    round and round\n" in capsys.readouterr().out

    def test_interrupts_are_as_before_afterwards(self) -> None:
        """The handler of SIGINT is restored, and no thread of the deadline is left."""
        before = signal.getsignal(signal.SIGINT)
        report_on_visible_cases(NAME, loops)

        assert before is signal.getsignal(signal.SIGINT)
        assert threading.active_count() == sum(thread.name != "deadline" for thread in threading.enumerate())


@pytest.mark.parametrize(("takes", "seconds"), [(0.001, 3), (0.3, 3), (1.0, 10), (1.5, 15), (5.0, 20)])
def test_an_answer_has_ten_times_what_the_worked_solution_takes(takes: float, seconds: float) -> None:
    """The time limit is ten times the solution's time, between 3 and 20 seconds."""
    assert seconds == pytest.approx(call_answer_on_cases.time_limit_of(replace(COURSE.find(NAME), takes=takes)))


LATE = "import time\nseen = []\ntry:\n    time.sleep({})\nfinally:\n    seen.append('ended')"
ITSELF = (
    f"import time\nfrom {interrupt_after.__module__} import interrupt_after\n"
    "with interrupt_after(0.1):\n    time.sleep(3)"
)


def loaded_within(seconds: float, name: str, then: float = 0.0) -> None:
    """Import a module and sleep, within a deadline."""
    with interrupt_after(seconds):
        import_module(name)
        time.sleep(then)


class TestDeadline:
    """The time limit itself."""

    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Return an importable folder, and let the deadline look a hundred times a second."""
        monkeypatch.syspath_prepend(tmp_path)
        monkeypatch.setattr(deadline_module, "_LOOK", 0.01)
        return tmp_path

    def test_imports_do_not_count(self, folder: Path) -> None:
        """The time of an import does not count toward the limit, but the code after it does."""
        (folder / "loads_slowly.py").write_text(LATE.format(0.6))
        begun = time.monotonic()
        with pytest.raises(TimeLimitReached):
            loaded_within(0.3, "loads_slowly", then=60)

        assert ["ended"] == sys.modules["loads_slowly"].seen and 0.8 < time.monotonic() - begun < 10

    def test_an_import_that_does_not_end_is_stopped(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An endless import is stopped after its own limit."""
        monkeypatch.setattr(deadline_module, "_LOADING", 0.3)
        (folder / "loads_forever.py").write_text(LATE.format(60))
        with pytest.raises(TimeLimitReached):
            loaded_within(0.1, "loads_forever")

    def test_what_runs_within_an_import_counts(self, folder: Path) -> None:
        """A check called while a module is imported has the usual limit."""
        (folder / "checks_itself.py").write_text(ITSELF)
        begun = time.monotonic()
        with pytest.raises(TimeLimitReached):
            import_module("checks_itself")

        assert time.monotonic() - begun < 2

    @pytest.mark.skipif(sys.platform != "linux", reason="no clock of a thread's CPU time")
    def test_waiting_for_a_busy_machine_counts_a_third(self, folder: Path) -> None:
        """A block that hardly runs may take longer than its limit, but not three times as long."""
        with interrupt_after(1.0):
            time.sleep(1.5)
        with pytest.raises(TimeLimitReached), interrupt_after(0.2):
            time.sleep(60)

    def test_what_ends_in_time_is_left_alone(self) -> None:
        """A block that ends near its limit raises OutOfTime within the block or not at all."""
        late = 0
        for _ in range(60):
            try:
                with interrupt_after(0.002):
                    time.sleep(0.002)
            except TimeLimitReached:
                late += 1

        assert 0 <= late <= 60  # each block ended or was stopped inside, and no interrupt came later

    def test_in_another_thread_it_says_that_it_cannot_stop(self, capsys: pytest.CaptureFixture[str]) -> None:
        """In another thread a message says that it cannot stop the code, as Python interrupts only the main one."""

        def block() -> None:
            with interrupt_after(0.01):
                time.sleep(0.1)

        thread = threading.Thread(target=block)
        thread.start()
        thread.join()

        assert "It cannot be stopped from here: interrupt it." in capsys.readouterr().out

    def test_a_reader_s_interrupt_is_handed_on(self) -> None:
        """The reader's interrupt goes to the previous handler, or is ignored if it was ignored before."""
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            with pytest.raises(KeyboardInterrupt) as caught, interrupt_after(60):
                signal.raise_signal(signal.SIGINT)
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            with interrupt_after(60):
                signal.raise_signal(signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, before)

        assert not isinstance(caught.value, TimeLimitReached)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[BlockingKernelClient]:
    """Yield the client of a real kernel."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "IPYTHONDIR": str(tmp_path / "i")}
    manager, client = start_new_kernel(cwd=str(tmp_path), env=environment)
    yield client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def test_a_replaced_clock_does_not_end_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit reads the real clock while a probe lets an answer read another one."""
    with interrupt_after(60.0), monkeypatch.context() as patched:
        patched.setattr(time, "monotonic", lambda: 1e9)
        threading.Event().wait(3 * deadline_module._LOOK)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # from pyzmq, about an unencrypted connection
def test_in_a_real_kernel(client: BlockingKernelClient) -> None:
    """A real kernel survives an endless check, and shows a reader's interrupt as one line."""
    ran(client, "from autograder import check\nfrom autograder.notebook import call_answer_on_cases")
    ran(client, "call_answer_on_cases._MOST = 0.2")
    ran(client, "def flatten_images(x):\n    print('here')\n    while True:\n        pass")
    told = ran(client, 'check("flatten_images", flatten_images)')

    assert "still running after 0.2 seconds" in told and "    here" in told
    assert "42" in ran(client, "print(6 * 7)")

    ran(client, "import _thread, threading\ncall_answer_on_cases._MOST = 20")
    ran(client, "stop = threading.Timer(0.3, _thread.interrupt_main)")
    shown: list[dict[str, object]] = []
    client.execute_interactive(
        'stop.start()\ncheck("flatten_images", flatten_images)',
        output_hook=lambda message: shown.append(message["content"]),
        timeout=60,
    )

    told = "KeyboardInterrupt: you stopped the check of `flatten_images`. It was at: `while True:`."
    assert [[told]] == [each["traceback"] for each in shown if "traceback" in each]
