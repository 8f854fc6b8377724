"""A throw-away machine for programs that may harm the machine they run on; it needs Linux and root.

Its files are those of this machine under an overlay in memory, so that it discards every change. It has its own
processes, network and shared memory. Programs run in it as an ordinary user with limits, and the bench kills them from
outside after a time limit.

The bench shows what a program does without a grader's walls. It is for known attacks, not for code of unknown authors.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

USER, HOME = 64123, "/home/teacher"
MEGABYTES, ENTRIES, PROCESSES, MEMORY_GB = 300, 100_000, 200, 8
# The machine's first process: mounts file systems, runs the command as the user, prints its exit code, and waits.
_FIRST = f"""
set -eu
cd "$1"; shift
mount -t proc -o nosuid,nodev,noexec proc proc
mount -t tmpfs -o mode=755,size=1m tmpfs dev
mkdir dev/shm
mount -t tmpfs -o mode=1777,size=64m tmpfs dev/shm
for name in null zero full random urandom; do : > dev/$name; mount --bind /dev/$name dev/$name; done
ln -s /proc/self/fd dev/fd
ip link set lo up
echo 0 > proc/sys/net/ipv4/ip_unprivileged_port_start
mkdir -p old
pivot_root . old
umount -l /old
cd {HOME}
set +e
prlimit --core=0 --nproc={PROCESSES} --as={MEMORY_GB << 30} \\
    setpriv --reuid {USER} --regid {USER} --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all \\
    "$@" < /dev/null > {HOME}/log 2>&1
echo $?
read _
"""


@dataclass
class Ran:
    """The exit code of a command (None if the bench stopped it at the time limit), and what it left behind."""

    code: int | None
    seconds: float
    left: list[str] = field(default_factory=list)


@contextmanager
def machine() -> Iterator[Machine]:
    """Yield a machine, and discard the changes to its files at the end of the block."""
    place = Path(_in_memory())
    try:
        yield Machine(place)
    finally:
        for folder in (place / "root", place):
            subprocess.run(["umount", "-l", str(folder)], check=True)
        place.rmdir()


def _in_memory() -> str:
    made = subprocess.run(["mktemp", "-d"], check=True, capture_output=True, text=True).stdout.strip()
    options = f"size={MEGABYTES}m,nr_inodes={ENTRIES},mode=755"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", made], check=True)
    layers = {name: Path(made) / name for name in ("upper", "work", "root")}
    for folder in layers.values():
        folder.mkdir()
    options = f"lowerdir=/,upperdir={layers['upper']},workdir={layers['work']}"
    subprocess.run(["mount", "-t", "overlay", "-o", options, "overlay", str(layers["root"])], check=True)
    return made


class Machine:
    """A throw-away machine, as seen from outside before, while and after a command runs in it."""

    def __init__(self, place: Path) -> None:
        self._place, self.root = place, place / "root"
        with (self.root / "etc/passwd").open("a") as file:
            file.write(f"teacher:x:{USER}:{USER}::{HOME}:/bin/sh\n")
        (self.root / HOME.strip("/")).mkdir(parents=True)
        self.give(Path(HOME))

    def inside(self, path: Path) -> Path:
        """Return the path outside of the machine for a path in it."""
        return self.root / path.relative_to("/")

    def open_way(self, folder: Path) -> None:
        """Make all folders above a folder accessible to the user."""
        for path in self.inside(folder).parents:
            if path.is_relative_to(self.root):
                path.chmod(path.stat().st_mode | 0o111)

    def give(self, folder: Path) -> None:
        """Make the user the owner of a folder and of all folders below it, but not of the files in them."""
        self.open_way(folder)
        for path, _, _ in os.walk(self.inside(folder)):
            os.chown(path, USER, USER)

    def run(self, command: list[str], environment: dict[str, str], seconds: float) -> Ran:
        """Run a command as the user; when the method returns, no process of the command is left."""
        words = ["env", "-i", f"HOME={HOME}", "USER=teacher", *(f"{key}={value}" for key, value in environment.items())]
        unshare = ["unshare", "--mount", "--pid", "--net", "--ipc", "--uts", "--kill-child", "sh", "-c", _FIRST, "sh"]
        begun = time.monotonic()
        process = subprocess.Popen(
            [*unshare, str(self.root), *words, *command], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        assert process.stdout
        try:
            told = select.select([process.stdout], [], [], seconds)[0] and process.stdout.readline()
            ran = Ran(int(told) if told else None, round(time.monotonic() - begun, 1))
            time.sleep(1)
            ran.left = _commands_below(process.pid)
        finally:
            process.kill()
            process.communicate()
        return ran

    def changed(self) -> dict[str, str]:
        """Return {path: "written" or "deleted"} for the files that differ from those of the real machine."""
        upper, told = self._place / "upper", {}
        for folder, _, files in os.walk(upper):
            for name in files:
                path = Path(folder, name)
                deleted = path.is_char_device() and path.stat().st_rdev == 0
                told[f"/{path.relative_to(upper)}"] = "deleted" if deleted else "written"
        return told


def _commands_below(pid: int) -> list[str]:
    """Return the commands of all processes in the machine except its first one."""
    first = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    if not first:
        return []
    world = os.readlink(f"/proc/{first[0]}/ns/pid")
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(folder / "ns/pid") == world and folder.name != first[0]:
                found.append((folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip())
        except OSError:  # it has ended in the meantime
            continue
    return sorted(found)


def alone() -> None:
    """Restart this program in a mount namespace of its own, so that no mount outlives it, however it ends."""
    if os.environ.get("_ALONE"):
        return
    if os.geteuid() != 0:
        sys.exit("expected to be root: the bench mounts and makes users. Run it as root, best in a virtual machine.")
    command = ["unshare", "--mount", "--propagation", "private", sys.executable, *sys.orig_argv[1:]]
    os.execvpe(command[0], command, os.environ | {"_ALONE": "1"})
