"""What Landlock leaves open, the filter on system calls and the scratch folder close, where there are no namespaces."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from autograder.sandbox.execution.fork_server_client import ForkServerPool
from autograder.sandbox.root_filesystem import RootFilesystem
from autograder.sandbox.scratch_folder import ScratchFolder
from tests.conftest import needs_confinement
from tests.small_chapter import PROJECT
from tests.test_confinement import outcome, told
from tests.walls import LANDLOCK, stand_behind, starter

pytestmark = pytest.mark.xdist_group("confinement")

ONE_FILE_MB = 2


@pytest.fixture(scope="module")
def servers() -> Iterator[ForkServerPool]:
    """Yield one warm process for all attempts."""
    with pytest.MonkeyPatch.context() as patch:
        stand_behind(LANDLOCK, patch)
        yield ForkServerPool()


@pytest.fixture
def scratch() -> Iterator[ScratchFolder]:
    """Yield a scratch folder that holds one megabyte, and remove it."""
    folder = ScratchFolder(most_mb=1, file_mb=ONE_FILE_MB)
    yield folder
    folder.remove()


def is_full(scratch: ScratchFolder) -> bool:
    """Return whether this process keeps too much in the folder."""
    return scratch.is_full(os.getpid(), os.geteuid())


@needs_confinement
class TestOthers:
    @pytest.mark.parametrize(
        "attempt",
        [
            "os.kill(os.getppid(), 0)",
            "os.kill(-1, 9)",
            "os.kill(0, 9)",
            "os.kill(1, 0)",
            "signal.pidfd_send_signal(os.pidfd_open(os.getppid()), 9)",
            "fcntl.fcntl(0, fcntl.F_SETOWN, os.getppid())",
            "fcntl.fcntl(0, 10, 9)",  # F_SETSIG
            "resource.prlimit(os.getppid(), resource.RLIMIT_CPU)",
            "os.sched_setaffinity(os.getppid(), [0])",
            "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
            "os.setpriority(os.PRIO_USER, 0, 19)",
            "open(f'/proc/{{os.getppid()}}/cmdline')",
            "os.readlink(f'/proc/{{os.getppid()}}/exe')",
            "os.listdir('/tmp')",
            "os.listdir('/dev/shm')",
            "open('/dev/shm/x', 'w')",
            "open('/proc/self/net/tcp')",
            "open('/proc/self/environ')",
            "open('/proc/self/oom_score_adj', 'w')",
            "os.execv(sys.executable, [sys.executable])",
        ],
    )
    def test_other_processes_are_out_of_reach(self, servers: ForkServerPool, attempt: str) -> None:
        """No call reaches another process, its settings or its files."""
        assert told(servers, "import fcntl, resource, signal", attempt).startswith(("PermissionError", "OSError"))

    @pytest.mark.parametrize(
        "call", ["prctl(1, 0, 0, 0, 0)", "prctl(4, 0, 0, 0, 0)", "shmat(0, 0, 0)", "mq_open(b'/x', 0)"]
    )
    def test_what_python_has_no_function_for(self, servers: ForkServerPool, call: str) -> None:
        """A process cannot outlive or hide from the one that waits, and reaches no memory and no queue of others."""
        lines = ("import ctypes", "libc = ctypes.CDLL(None, use_errno=True)", f"failed = libc.{call} == -1")

        assert "(True, 1)" == told(servers, *lines, "failed, ctypes.get_errno()")

    @pytest.mark.parametrize(
        "attempt",
        ["one.sendto(b'x', {!r})", "one.connect({!r})", "one.bind('y')", "one.sendmsg([b'x'], [], 0, {!r})"],
    )
    def test_a_pair_of_sockets_reaches_no_third(self, servers: ForkServerPool, tmp_path: Path, attempt: str) -> None:
        """Two connected sockets exchange messages, and neither reaches a named one."""
        pair = "one, two = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)"

        assert "b'x'" == told(servers, pair, "_ = one.send(b'x')", "two.recv(1)")
        assert "PermissionError" in told(servers, pair, attempt.format(str(tmp_path / "y")))

    @pytest.mark.parametrize(
        "attempt",
        ["os.fork()", "__import__('subprocess').run(['true'])", "os.posix_spawn('/bin/true', ['true'], dict())"],
    )
    def test_no_process_can_be_started(self, servers: ForkServerPool, attempt: str) -> None:
        """Every kind of fork fails as with a full table of processes; a thread can be started."""
        thread = ("import threading", "seen = []", "one = threading.Thread(target=seen.append, args=(7,))")

        assert "BlockingIOError" in told(servers, attempt)
        assert "[7]" == told(servers, *thread, "one.start() or one.join() or seen")

    def test_the_machine_has_no_name(self, servers: ForkServerPool) -> None:
        """The host name is hidden in Python, and the system call that tells it is denied."""
        names = "socket.gethostname(), os.uname().nodename, __import__('platform').node()"

        assert "('localhost', 'localhost', 'localhost')" == told(servers, names)
        assert "PermissionError" in told(servers, "__import__('posix').uname()")


@needs_confinement
class TestFiles:
    def test_modes_and_times_of_shown_files_stay(self, servers: ForkServerPool) -> None:
        """Setting modes and times has no effect, also through an open file: the files may be this user's own."""
        before = os.stat(pytest.__file__)
        file = f"open({pytest.__file__!r})"
        told(servers, f"file = {file}", "os.fchmod(file.fileno(), 0)", "os.utime(file.fileno(), (1, 1))")
        told(servers, f"os.chmod({pytest.__file__!r}, 0), os.utime({pytest.__file__!r}, (1, 1))")

        assert before == os.stat(pytest.__file__)

    @pytest.mark.parametrize("flags", ["os.O_RDONLY | os.O_TRUNC", "os.O_ACCMODE", "os.O_ACCMODE | os.O_TRUNC"])
    def test_shown_files_cannot_be_emptied(self, servers: ForkServerPool, flags: str) -> None:
        """No way of opening empties a file that cannot be written."""
        assert "PermissionError" in told(servers, f"os.open({pytest.__file__!r}, {flags})")
        assert "PermissionError" in told(servers, f"os.truncate({pytest.__file__!r}, 0)")

    def test_requests_about_open_files_are_denied(self, servers: ForkServerPool) -> None:
        """A request that changes properties of an open file (FS_IOC_SETFLAGS) fails."""
        seen = told(servers, "import fcntl", f"fcntl.ioctl(open({pytest.__file__!r}), 0x40086602, bytes(4))")

        assert "Inappropriate ioctl" in seen

    def test_no_link_leads_out(self, servers: ForkServerPool) -> None:
        """A symbolic link in the scratch folder opens nothing, and a shown file cannot be linked or moved into it."""
        assert "PermissionError" in told(servers, "os.symlink('/etc/passwd', 'x')", "open('x').read()")
        assert "Error" in told(servers, f"os.link({pytest.__file__!r}, 'y')")

    def test_many_files_end_the_process_and_nothing_is_left(self, servers: ForkServerPool) -> None:
        """A process that makes too many files is ended, and its folder is removed."""
        home = told(servers, "os.getcwd()")
        lines = ("for n in range(10**7):", "    os.mkdir('d'), os.chdir('d'), open('x', 'w').close()", "return 1")

        assert "SIGKILL" in str(outcome(servers, *lines))
        assert [] == list(Path(home).parents[1].glob("scratch-*"))

    def test_inner_process_ends_with_the_first(self) -> None:
        """If the first process is killed, the inner one ends too, although nobody kills it."""
        lines = (
            "import os, sys, time",
            "from pathlib import Path",
            "from autograder.sandbox.choose_confinement import choose_confinement",
            "from autograder.sandbox.root_filesystem import RootFilesystem",
            f"shown = RootFilesystem.for_this_interpreter(Path({str(PROJECT / 'autograder')!r}))",
            "walls = choose_confinement(shown).walls",
            "source, sink = os.pipe()",
            "first = walls.fork(lambda: os.write(sink, b'.') and time.sleep(60), sink, keep=(sink,))",
            "os.close(sink), os.read(source, 1)",
            "os.kill(first, 9)",
            "began = time.monotonic()",
            "sys.exit(os.read(source, 1) != b'' or time.monotonic() - began > 30)",  # nobody holds the pipe any more
        )
        command = [*starter(LANDLOCK), sys.executable, "-P", "-c", "\n".join(lines)]
        with tempfile.TemporaryDirectory() as scratch:  # in which the folder stays: `tmp_path` is closed to other users
            environment = {"PYTHONPATH": str(PROJECT), "TMPDIR": scratch}
            os.chmod(scratch, 0o711)
            ran = subprocess.run(command, cwd=PROJECT, env=environment, check=False)

        assert 0 == ran.returncode


class TestScratch:
    def test_one_file(self, scratch: ScratchFolder) -> None:
        """A folder is full when its files are larger than allowed, however many bytes are really on the disk."""
        with open(f"{scratch.path}/x", "wb") as file:
            assert not is_full(scratch)
            file.truncate(2**21)
            assert is_full(scratch)

    @pytest.mark.parametrize("mapped", [False, True])
    def test_removed_file_that_is_in_use(self, scratch: ScratchFolder, mapped: bool) -> None:
        """A removed file counts while it is open, and while it is mapped into memory."""
        import ctypes

        with open(f"{scratch.path}/x", "wb+") as file:
            file.truncate(2**20 + 1)
            os.unlink(file.name)
            assert is_full(scratch)
            libc = ctypes.CDLL(None)
            libc.mmap.restype, libc.mmap.argtypes = (
                ctypes.c_void_p,
                (ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long),
            )
            place = libc.mmap(None, 4096, 1, 1, file.fileno(), 0) if mapped else None
        assert mapped == is_full(scratch)
        if place:
            libc.munmap(ctypes.c_void_p(place), ctypes.c_size_t(4096))

    def test_what_is_too_deep_is_full_and_can_be_removed(self, scratch: ScratchFolder) -> None:
        """Folders too deep for any path count as too much; they are removed all the same, without rights too."""
        script = "import os\nfor n in range(3000): os.mkdir('d' * 99), os.chdir('d' * 99)\nos.mkdir('x', 0)"
        subprocess.run([sys.executable, "-c", script], cwd=scratch.path, check=True)

        assert is_full(scratch)
        scratch.remove()
        assert not os.path.exists(scratch.path)

    def test_hidden_folders_are_left_out(self, tmp_path: Path) -> None:
        """In place of a folder with a hidden one below it stand its other entries, and no links."""
        for name in ("a/b/hidden/shown", "a/b/c", "a/d"):
            (tmp_path / name).mkdir(parents=True)
        (tmp_path / "a" / "link").symlink_to("/etc")
        hidden = tmp_path / "a" / "b" / "hidden"
        room = RootFilesystem((tmp_path / "a", hidden / "shown"), (hidden,))

        wanted = [tmp_path / "a" / "b" / "c", tmp_path / "a" / "d", hidden / "shown"]
        assert sorted(map(str, wanted)) == sorted(room.readable_paths)
