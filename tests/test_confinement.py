"""What confined code can see, reach and use up: an answer makes each attempt in a real run, behind each wall."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from ast import literal_eval
from dataclasses import replace
from functools import lru_cache, partial
from pathlib import Path
from sysconfig import get_path

import pytest

from autograder.errors import WorkFailed
from autograder.exercises.exercise import Case
from autograder.sandbox import confinement_self_test, require_confinement, try_confinement
from autograder.sandbox.execution import choose_runner
from autograder.sandbox.execution.fork_server_client import ForkServerPool
from autograder.sandbox.execution.run_specification import ExerciseOutcome, SharedSetup
from autograder.sandbox.execution.submission_runner import run_program
from autograder.sandbox.execution.unconfined_process import unconfined_process
from autograder.sandbox.linux_calls import SYS_ADMIN, Namespace, fork_into_namespaces, has_capability
from autograder.sandbox.root_filesystem import RootFilesystem
from tests import container, made
from tests.conftest import needs_confinement
from tests.made_programs import NAMES, program
from tests.small_chapter import PROJECT
from tests.walls import LANDLOCK, NAMESPACES, WALLS, skip_where_root_reads_all, stand_behind, starter

pytestmark = pytest.mark.xdist_group("confinement")  # one process, which starts the fork server once

# In a new user namespace, forbid all further namespaces.
NONE_MORE = "echo 0 > /proc/sys/user/max_user_namespaces"
ASKED = "from autograder.sandbox import require_confinement; require_confinement.check_confinement(unconfined=False)"
TRIAL = "autograder.sandbox.confinement_self_test"
CASES = made.exercise().cases(3)[:1]
SHOWN = RootFilesystem.for_this_interpreter(PROJECT / "autograder").shown
_pools: dict[str, ForkServerPool] = {}


@pytest.fixture(params=WALLS)
def wall(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return the name of the wall that processes started from now on stand behind."""
    stand_behind(request.param, monkeypatch)
    return str(request.param)


@pytest.fixture
def servers(wall: str) -> ForkServerPool:
    """Return one warm process for all attempts behind a wall."""
    return _pools.setdefault(wall, ForkServerPool())


def outcome(servers: ForkServerPool, *lines: str, name: str = "one") -> ExerciseOutcome:
    """Return the outcome of an answer with these lines as its body; `{}` stands for the project's folder."""
    body = "\n    ".join(line.format(PROJECT) for line in lines)
    answer = f"import os, socket, sys, torch\ndef {name}(x, plus):\n    {body}\n"
    return run_program(program({name: answer}, CASES), children=servers)[name]


def empty_environment(folder: Path) -> Path:
    """Create a virtual environment, and return its empty package folder."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    return next(folder.glob("lib/python*/site-packages"))


def trial_in(environment: Path) -> subprocess.CompletedProcess[str]:
    """Run the sandbox's self-test in an environment, with libseccomp's Python package from ours."""
    words = [str(environment / "bin" / "python"), "-m", TRIAL]
    paths = os.pathsep.join([str(PROJECT), get_path("purelib")])
    return subprocess.run(words, env={"PYTHONPATH": paths}, capture_output=True, text=True, check=False)


def told(servers: ForkServerPool, *lines: str) -> str:
    """Return the value of the last line as text, or its error."""
    *first, last = lines
    whole = ("try:", *(f"    {line}" for line in first), f"    return str(({last}))", "except BaseException as error:")
    found = outcome(servers, *whole, "    return f'{{type(error).__name__}}: {{error}}'")
    assert found.observations is not None, found
    return str(found.observations[0]["returned"])


@needs_confinement
class TestFiles:
    @pytest.mark.parametrize(
        "path",
        ["{}/course/chapters", "{}/README.md", "/etc/passwd", "/etc/shadow", str(Path.home()), "/proc/1/environ"],
    )
    def test_nothing_of_the_teachers_can_be_read(self, servers: ForkServerPool, path: str) -> None:
        """Course, system files, home folders and other processes cannot be read."""
        whole = Path(path.format(PROJECT))
        way = {place.relative_to(whole).parts[0] for place in SHOWN if place != whole and place.is_relative_to(whole)}
        seen = told(servers, f"path = {path!r}", "os.listdir(path) if os.path.isdir(path) else open(path).read()")

        # A folder that contains the interpreter shows only the path to it.
        assert seen.startswith(("FileNotFoundError", "PermissionError")) or set(literal_eval(seen)) <= way

    def test_no_card_is_shown(self, servers: ForkServerPool, wall: str) -> None:
        """Graphics cards are hidden, because grading runs on the CPU, and torch finds none.

        Torch must find none before confinement either: see `child_process_management.child_environment`.
        """
        cards = "[name for name in os.listdir('/dev') if name.startswith('nvidia') or name in ('dri', 'kfd')]"
        if wall == LANDLOCK:  # the names can be seen there
            cards = (
                "[name for name in ('nvidiactl', 'dri', 'kfd') if os.access(f'/dev/{{name}}', os.F_OK) and open(name)]"
            )
        hidden = "os.environ.get('CUDA_VISIBLE_DEVICES')"
        assert told(servers, f"{cards}, {hidden}, torch.cuda.device_count()") == "([], '', 0)"

    def test_no_disk_is_kept_busy(self, servers: ForkServerPool) -> None:
        """fsync and similar calls return at once without effect, even for an invalid descriptor."""
        seen = told(servers, "(os.fsync(999), os.fdatasync(999), os.posix_fadvise(999, 0, 0, 4))")

        assert "(None, None, None)" == seen

    def test_what_is_locked_is_locked_for_nobody(self, servers: ForkServerPool) -> None:
        """File locks have no effect, so that no other process waits for one."""
        locks = ("fcntl.flock({}, fcntl.LOCK_EX | fcntl.LOCK_NB)", "fcntl.fcntl({}, fcntl.F_OFD_SETLK, LOCK)")
        opened = ("os.open(os.__file__, os.O_RDONLY)", "os.open('/dev/null', os.O_RDWR)")
        twice = [[lock.format(place) for _ in range(2)] for lock, place in zip(locks, opened, strict=True)]
        seen = told(
            servers,
            "import fcntl, struct",
            "LOCK = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, 0, 0, 0)",
            f"len([{', '.join(each for pair in twice for each in pair)}])",
        )

        assert "4" == seen

    def test_a_database_in_a_file_works(self, servers: ForkServerPool) -> None:
        """SQLite works with a file, although locks and fsync have no effect."""
        lines = (
            "import sqlite3, tempfile",
            "made = sqlite3.connect(tempfile.mkdtemp() + '/one.db')",
            "_ = made.execute('create table kept (n)'), made.execute('insert into kept values (7)'), made.commit()",
        )

        assert "[(7,)]" == told(servers, *lines, "made.execute('select n from kept').fetchall()")

    @pytest.mark.night
    def test_a_lesson_can_load_the_digits(self, servers: ForkServerPool) -> None:
        """scikit-learn's digits can be loaded."""
        seen = told(servers, "from sklearn.datasets import load_digits", "load_digits().images.shape")

        assert "(1797, 8, 8)" == seen

    @pytest.mark.parametrize("wall", WALLS)
    def test_environment_that_is_a_link(self, tmp_path: Path, wall: str) -> None:
        """The packages of a `.venv` that is a link are available in the sandbox."""
        (tmp_path / "linked").symlink_to(sys.prefix)
        late = (
            "import importlib, os, sys",
            "from pathlib import Path",
            "from autograder.sandbox.choose_confinement import choose_confinement",
            "from autograder.sandbox.namespace_confinement import WAIT_STATUS_FORMAT",
            "from autograder.sandbox.root_filesystem import RootFilesystem",
            "source, sink = os.pipe()",
            "assert 'linked' in sys.prefix and 'jinja2' not in sys.modules",
            f"root = RootFilesystem.for_this_interpreter(Path({str(PROJECT / 'autograder')!r}))",
            "walls = choose_confinement(root).walls",
            "walls.fork(lambda: importlib.import_module('jinja2') and None, sink)",
            "sys.exit(os.read(source, WAIT_STATUS_FORMAT.size) != WAIT_STATUS_FORMAT.pack(0))",
        )
        command = [*starter(wall), tmp_path / "linked" / "bin" / "python", "-c", "\n".join(late)]
        ran = subprocess.run(command, env={"PYTHONPATH": str(PROJECT)}, check=False)

        assert 0 == ran.returncode

    @pytest.mark.parametrize("hidden", [(), (PROJECT / "course",)])
    @pytest.mark.night
    def test_what_lessons_import_can_be_imported(self, hidden: tuple[Path, ...], wall: str) -> None:
        """The course's tools and figures can be imported, and the rest is hidden."""
        of_course = (
            "from course.instruments import drawn_four, milliseconds",
            "from course.figures import ch01",
            "int(drawn_four().shape[0])",
        )
        servers = ForkServerPool(hidden=hidden)
        seen = told(servers, "sorted(name for name in os.listdir('{}/course') if name != '__init__.py')")

        assert "32" == told(servers, *of_course)
        assert seen == "['exercises', 'figures', 'instruments.py']" or (wall, seen[:15]) == (
            LANDLOCK,
            "PermissionError",
        )

    def test_hidden_folders_are_empty(self, wall: str) -> None:
        """A hidden folder is empty or closed, what lies beside it is not, and nbgrader's exchange is hidden."""
        hidden = ForkServerPool(hidden=(Path("/usr/bin"),))

        assert told(hidden, "os.listdir('/usr/bin')").startswith("[]" if wall == NAMESPACES else "PermissionError")
        assert "True" == told(hidden, "len(os.listdir('/usr/lib')) > 0")
        assert Path("/usr/local/share/nbgrader") in choose_runner.HIDDEN_FOLDERS

    @pytest.mark.parametrize("path", ["/usr/x", "/x", sys.prefix + "/x", "{}/autograder/x", "/dev/x", "/proc/x"])
    def test_nothing_can_be_written_but_scratch(self, servers: ForkServerPool, path: str) -> None:
        """System, interpreter and package cannot be written."""
        assert "Error" in told(servers, f"open({path!r}, 'w')")

    def test_scratch_is_empty_again_for_the_next(self, servers: ForkServerPool, wall: str) -> None:
        """Files that one submission writes are gone for the next one; shared memory is there only in namespaces."""
        writing, listing = "open('{}left', 'w').write('mine')", "os.listdir('{}')"

        assert "(4, ['left'])" == told(servers, f"{writing.format('')}, {listing.format('.')}")
        assert "[]" == told(servers, listing.format("."))
        wanted = ("4", "[]") if wall == NAMESPACES else ("PermissionError", "PermissionError")
        for line, begin in zip((writing.format("/dev/shm/"), listing.format("/dev/shm")), wanted, strict=True):
            assert told(servers, line).startswith(begin)

    def test_scratch_is_small(self, servers: ForkServerPool, wall: str) -> None:
        """Filling the scratch folder raises OSError; behind Landlock, the process is ended."""
        found = outcome(servers, "return all(open(f'f{{n}}', 'wb').write(bytes(2**24)) for n in range(400))")

        assert ("OSError" if wall == NAMESPACES else "ProcessEnded") in str(found)

    def test_descriptors_are_those_of_the_run(self, servers: ForkServerPool) -> None:
        """Only the run's own descriptors are open: three of /dev/null, and one pipe."""
        listing = (
            "sorted(os.readlink(f'/proc/self/fd/{{n}}') for n in range(99) if os.path.exists(f'/proc/self/fd/{{n}}'))"
        )

        seen = told(servers, listing)

        assert seen.count("/dev/null") == 3 and seen.count("pipe:") == 1 and "socket" not in seen


@needs_confinement
class TestReach:
    @pytest.mark.parametrize(
        "attempt",
        [
            "socket.create_connection(('127.0.0.1', 22), 2)",
            "socket.getaddrinfo('pytorch.org', 443)",
            "socket.socket(40, socket.SOCK_STREAM)",
            "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
            "socket.socket(socket.AF_PACKET, socket.SOCK_RAW)",
        ],
    )
    def test_no_network(self, servers: ForkServerPool, attempt: str) -> None:
        """No connection, name lookup or other socket family works."""
        assert "rror: [Errno" in told(servers, attempt)

    def test_an_abstract_socket_of_this_machine_is_out_of_reach(self, servers: ForkServerPool) -> None:
        """Abstract sockets of this machine are unreachable, because they belong to its network namespace."""
        name = f"\0course-{os.getpid()}"
        with socket.socket(socket.AF_UNIX) as line:
            line.bind(name)
            line.listen()
            seen = told(servers, "line = socket.socket(socket.AF_UNIX)", f"line.connect({name!r})")

        assert "ConnectionRefusedError" in seen or "unreachable" in seen

    def test_only_its_own_processes_are_there(self, servers: ForkServerPool, wall: str) -> None:
        """Only the submission's own process and process 1 are visible, and it cannot kill process 1."""
        if wall == LANDLOCK:
            assert "PermissionError" in told(servers, "os.listdir('/proc')")
            assert told(servers, "os.kill(os.getppid(), 9)").startswith("PermissionError")
            return
        assert "['1', '2']" == told(servers, "sorted(name for name in os.listdir('/proc') if name.isdigit())")
        # Another user's process gives an error; process 1 of the same user ignores the signal.
        assert told(servers, "os.kill(1, 9)", "os.getppid()").startswith(("PermissionError", "1"))

    def test_an_ordinary_user_without_rights(self, servers: ForkServerPool, wall: str) -> None:
        """The code runs as an ordinary user without capabilities, and cannot gain any."""
        status = told(servers, "open('/proc/self/status').read()")
        sets = [line.split()[1] for line in status.splitlines() if line.startswith("Cap")]

        assert "0" != told(servers, "os.getuid()")
        del sets[3 : 3 + (wall == LANDLOCK and os.geteuid() != 0)]  # an ordinary user cannot empty the bounding set
        assert {"0" * 16} == set(sets)
        assert "NoNewPrivs:\t1" in status and "Seccomp:\t2" in status

    @pytest.mark.parametrize(
        "attempt",
        [
            "unshare(Namespace.USER)",
            "unshare(Namespace.MOUNT)",
            "mount('tmpfs', '/tmp', 'tmpfs', Mount.NO_EXEC)",
            "pivot_root('/tmp', '.')",
            "make_process_dumpable() or open('/proc/1/mem', 'rb')",
        ],
    )
    def test_no_new_namespaces_and_mounts(self, servers: ForkServerPool, attempt: str) -> None:
        """The calls that set up the sandbox are refused inside it."""
        names = "Mount, Namespace, mount, pivot_root, make_process_dumpable, unshare"
        seen = told(servers, f"from autograder.sandbox.linux_calls import {names}", attempt)

        assert "PermissionError" in seen


@needs_confinement
class TestUse:
    def test_memory(self, servers: ForkServerPool) -> None:
        """Allocating four gigabytes raises an error."""
        assert "can't allocate memory" in told(servers, "torch.zeros(2**30).sum()")

    def test_processes(self, servers: ForkServerPool) -> None:
        """A fork bomb stops at its limit, and its processes end with the run."""
        bomb = ("import time", "while True:", "    if os.fork() == 0:", "        time.sleep(60)")

        assert "BlockingIOError" in told(servers, "exec({!r})".format("\n".join(bomb)), "1")

    @pytest.mark.night
    def test_computing_without_end(self, servers: ForkServerPool) -> None:
        """An endless loop that ignores signals is stopped."""
        deaf = "import signal\nfor n in range(1, 32):\n    n in (9, 19) or signal.signal(n, signal.SIG_IGN)\n"
        endless = program({"one": deaf + "while True: pass"}, CASES, setup="", seconds=1.0)

        assert run_program(endless, children=servers)["one"].timed_out

    @pytest.mark.night
    def test_training_works(self, servers: ForkServerPool) -> None:
        """In the sandbox, torch still trains, saves and loads."""
        training = (
            "layer = torch.nn.Linear(3, 1)",
            "optimizer = torch.optim.Adam(layer.parameters())",
            "layer(torch.ones(2, 3)).sum().backward()",
            "optimizer.step()",
            "torch.save(layer.state_dict(), 'w.pt')",
            "layer.load_state_dict(torch.load('w.pt'))",
        )

        assert "<All keys matched successfully>" == told(servers, *training)

    def test_there_is_a_user(self, servers: ForkServerPool) -> None:
        """The user has a name, although the system's list of users is hidden."""
        assert told(servers, "__import__('getpass').getuser()") == "student"

    @pytest.mark.night
    def test_sixteen_bits_work(self, wall: str) -> None:
        """A first computation in float16 works, although torch then asks the system for the processor.

        torch does not ask again in a process that has computed before, hence an exercise without tensors.
        """
        lines = (
            "import torch",
            "def half(n):",
            "    rows = torch.ones(2, n).half()",
            "    return float((rows @ rows.mT).sum())",
        )
        answers = {"half": "\n".join(lines) + "\n"}
        halving = program(answers, (Case("halves", 8),), chapter="ch97_numbers")

        (seen,) = run_program(halving, children=ForkServerPool())["half"].observations or ({},)

        assert 32.0 == seen.get("returned"), seen


@needs_confinement
@pytest.mark.night
def test_two_at_once_do_not_mix(servers: ForkServerPool) -> None:
    """Runs of several threads do not mix up their results."""
    seen: dict[str, ExerciseOutcome] = {}

    def answer(name: str, number: int) -> None:
        seen[name] = outcome(servers, f"return {number}", name=name)

    threads = [threading.Thread(target=answer, args=(name, number)) for number, name in enumerate(NAMES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {name: number for number, name in enumerate(NAMES)} == {
        name: (found.observations or ({},))[0].get("returned") for name, found in seen.items()
    }


def warm_processes() -> list[int]:
    """Return the ids of the fork servers that this process started."""
    mine = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in mine if "fork_server" in Path(f"/proc/{pid}/cmdline").read_text()]


@needs_confinement
def test_fork_is_refused_beside_another_thread() -> None:
    """Forking beside another thread raises an error, because a lock of that thread would stay locked."""
    ended = threading.Event()
    other = threading.Thread(target=ended.wait)
    other.start()
    try:
        with pytest.raises(OSError, match="expected one thread before a fork, found"):
            fork_into_namespaces(Namespace.NAMES)
    finally:
        ended.set()
        other.join()


@needs_confinement
class TestRights:
    """Submissions can read what they need whatever the grader's umask, and the self-test reports unreadable files.

    Behind Landlock, root's submissions read what only root can, if they must.
    """

    @pytest.mark.parametrize("umask", ["0027", "0077", "0777"])
    def test_trial_whatever_the_umask(self, umask: str) -> None:
        """The self-test succeeds with any umask."""
        ran = subprocess.run([sys.executable, "-m", TRIAL], umask=int(umask, 8), capture_output=True, check=False)

        assert (0, b"") == (ran.returncode, ran.stderr)

    @pytest.mark.night
    def test_submission_under_a_narrow_umask(self, wall: str) -> None:
        """Under a narrow umask, an answer runs, imports late, and writes files with usual permissions."""
        before = os.umask(0o077)
        try:
            late = "import wave, jinja2, stat"
            mode = "stat.filemode(os.stat('kept').st_mode)"
            seen = told(ForkServerPool(), late, "open('kept', 'w').close()", f"os.path.basename(os.getcwd()), {mode}")
        finally:
            os.umask(before)

        assert "('home', '-rw-r--r--')" == seen

    @pytest.mark.parametrize("name", ["whole/shut", "shut.py", "../../.."])
    def test_package_that_the_ordinary_user_cannot_read(self, tmp_path: Path, name: str) -> None:
        """An unreadable package is named, with the exact command that makes it readable."""
        skip_where_root_reads_all()
        if name == "../../.." and os.geteuid() != 0:
            pytest.skip("nobody but root starts a Python that its user cannot read")
        packages = empty_environment(tmp_path / "env")
        (packages / "whole" / "shut").mkdir(parents=True)
        (packages / "shut.py").touch()
        (packages / "gone.py").symlink_to(tmp_path / "nowhere")
        shut, fine = (packages / name).resolve(), trial_in(tmp_path / "env")
        mode = shut.stat().st_mode
        shut.chmod(0o700 if os.geteuid() == 0 else 0)
        ran = trial_in(tmp_path / "env")
        shut.chmod(mode)

        assert (0, "") == (fine.returncode, fine.stderr)
        assert 1 == ran.returncode and f"cannot read {shut} (a umask" in ran.stderr
        assert f"`chmod -R o+rX {shut}` lets everybody read it" in ran.stderr

    def test_several_are_opened_without_what_lies_beside_them(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """For several unreadable files, the command names their packages, and not the folder with submissions."""
        own, lib, lesson = (tmp_path / name for name in ("autograder", "lib", "lesson"))
        for folder in (own, lib, lesson):
            folder.mkdir()
        monkeypatch.setattr(try_confinement, "_PACKAGE", own)
        monkeypatch.setattr(sys, "path", [str(tmp_path), str(lib)])
        monkeypatch.setattr(try_confinement, "_unreadable", lambda path, _: iter([f"{path}/a.py", f"{path}/b.py"]))

        told = try_confinement._unreadable_modules([lesson])

        assert f"{own}/a.py and 5 more" in told and f"`chmod -R o+rX {own} {lesson} {lib}` lets" in told

    def test_lessons_that_cannot_be_read_are_named_before_a_submission_runs(self, tmp_path: Path) -> None:
        """A process that runs submissions refuses to start if lessons are unreadable, and names them."""
        skip_where_root_reads_all()
        lesson = tmp_path / "instruments.py"
        lesson.touch(0o600 if os.geteuid() == 0 else 0)
        one = program({"one": "def one(x, plus):\n    return x\n"}, CASES)
        elsewhere = replace(one, ground=SharedSetup(str(tmp_path), (), "", whole=True))

        with pytest.raises(WorkFailed, match=rf"did not start: .*cannot read {lesson} .*`chmod -R o\+rX {lesson}`"):
            run_program(elsewhere, children=ForkServerPool())


class TestChoice:
    def test_without_confinement_nothing_is_graded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Without confinement grading fails, and the error says why and how to allow it anyway."""
        monkeypatch.setattr(require_confinement, "confinement_problem", lambda: "no user namespaces")

        with pytest.raises(WorkFailed, match=r"no user namespaces.*Nothing was graded.*PYTORCH_BASICS_UNCONFINED=1"):
            require_confinement.check_confinement(unconfined=False)

    @needs_confinement
    def test_kernel_that_gives_no_namespaces_is_found_out(self) -> None:
        """On a kernel that gives no namespaces, Landlock stands, and the reason is the setting."""
        script = f"{NONE_MORE} && echo none more; {sys.executable} -m {TRIAL}"
        ran = subprocess.run(
            ["unshare", "-U", "-r", "sh", "-c", script], cwd=PROJECT, capture_output=True, text=True, check=False
        )
        if "none more" not in ran.stdout:
            pytest.skip(f"a kernel without namespaces cannot be played here: {ran.stderr}")

        assert "\nLandlock" in ran.stdout and "sysctl: user.max_user_namespaces is 0" in ran.stdout, ran

    def test_machine_without_any_wall_is_found_out(self) -> None:
        """Where there are neither namespaces nor Landlock, grading refuses before a student's code runs."""
        command = [sys.executable, "-m", "tests.container", container.OLD_KERNEL, sys.executable, "-c", ASKED]
        ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

        both = r"no namespaces \(seccomp: .*\), and no Landlock \(kernel: Linux has it from 5\.13 on\)"
        assert re.search(rf"WorkFailed: .*cannot here: {both}\. Nothing was graded", ran.stderr), ran.stderr

    @needs_confinement
    def test_root_that_may_not_administrate_tries_namespaces_first(self) -> None:
        """Root without CAP_SYS_ADMIN gets namespaces as an ordinary user does, where such a user can read Python."""
        closed = [path for path in Path(sys.base_prefix).parents if not path.stat().st_mode & 1]
        if os.geteuid() != 0 or not has_capability(SYS_ADMIN) or closed:
            pytest.skip(f"this is not root with all rights, or ordinary users cannot enter {closed}")
        late = (
            "import os, sys\nfrom autograder.sandbox.linux_calls import *\n"
            f"drop_from_capability_bounding_set({SYS_ADMIN})"
        )
        again = f"os.execv(sys.executable, [sys.executable, '-m', {TRIAL!r}])"
        ran = subprocess.run(
            [sys.executable, "-c", f"{late}; {again}"], cwd=PROJECT, capture_output=True, text=True, check=False
        )

        assert f"{NAMESPACES}\n\n" == ran.stdout

    @needs_confinement
    def test_child_that_cannot_be_confined_is_our_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """If a child cannot be confined, grading stops with the reason, and no student is blamed."""
        monkeypatch.setattr(
            "autograder.sandbox.execution.fork_server_client.receive_frame", lambda *_: None
        )  # it ended without a word

        with pytest.raises(WorkFailed, match=r"could not be confined.*Nothing was graded"):
            outcome(ForkServerPool(), "return x")

    @needs_confinement
    @pytest.mark.night
    def test_process_that_died_while_it_waited_is_replaced(self) -> None:
        """A warm process that was killed between two submissions is replaced."""
        servers = ForkServerPool()
        first = outcome(servers, "return os.getppid()")
        for pid in warm_processes():
            os.kill(pid, signal.SIGKILL)
            os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        second = outcome(servers, "return os.getppid()")

        assert first.observations and second.observations

    @needs_confinement
    def test_what_was_tried_early_is_not_tried_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The result of a self-test that was started early is used, and no second one is started."""
        started = confinement_self_test._started
        monkeypatch.setattr(
            confinement_self_test,
            "confinement_problem",
            lru_cache(confinement_self_test.confinement_problem.__wrapped__),
        )  # as in a new process, without a cached result
        confinement_self_test.start_self_test()
        monkeypatch.setattr(confinement_self_test, "_started", lambda: pytest.fail("a second trial"))
        assert (
            confinement_self_test.confinement_problem.__wrapped__() is None and [] == confinement_self_test._processes
        )

        monkeypatch.setattr(confinement_self_test, "_started", started)
        monkeypatch.setattr(sys, "executable", "/bin/false")
        confinement_self_test.start_self_test()
        assert confinement_self_test.confinement_problem.__wrapped__() == "a trial ended with exit code 1"

        confinement_self_test.confinement_problem()
        confinement_self_test.start_self_test()
        assert [] == confinement_self_test._processes  # the result is known, so none was started

    @pytest.mark.parametrize("said", ["", "1"])
    def test_environment_is_asked_at_the_door(self, monkeypatch: pytest.MonkeyPatch, said: str) -> None:
        """The environment variable allows unconfined grading, for nbgrader's own commands."""
        monkeypatch.setenv(require_confinement.UNCONFINED_VARIABLE, said)

        assert bool(said) == require_confinement.is_unconfined_allowed()

    def test_unconfined_on_demand(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """With `unconfined`, each run gets a fresh process."""
        monkeypatch.setattr(require_confinement, "confinement_problem", lambda: "no user namespaces")
        require_confinement.check_confinement(unconfined=True)
        chosen = choose_runner.make_submission_runner(tmp_path, unconfined=True)

        assert isinstance(chosen, partial) and chosen.keywords == {"children": unconfined_process}

    def test_other_systems(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """On other systems than Linux, confinement is unavailable for that reason."""
        monkeypatch.setattr(sys, "platform", "darwin")

        assert (
            confinement_self_test.confinement_problem.__wrapped__()
            == "confinement is written for Linux, and this is darwin"
        )
