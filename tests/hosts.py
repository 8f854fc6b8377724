"""Simulated hosts on this machine: each is a network namespace with an address and a cable that can be cut.

A bridge, in a namespace of its own, connects them. Each namespace exists only as long as the process that holds it, so
an interrupted test leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path

_NET = "10.77.0"
_SECONDS = 20  # timeout of short commands


@lru_cache(maxsize=1)
def no_hosts() -> str | None:
    """Return why hosts cannot be simulated here; None if they can."""
    if os.name != "posix" or os.geteuid() != 0:
        return "only root can make a network of its own"
    missing = [tool for tool in ("ip", "tc", "unshare", "nsenter") if shutil.which(tool) is None]
    if missing:
        return f"{', '.join(missing)} (iproute2, util-linux) is not installed"
    try:
        with network("one") as (host,):
            host.slow_down("1mbit")
    except subprocess.CalledProcessError as error:
        return f"`{' '.join(error.cmd[-6:])}` failed: {error.stderr.strip()}"
    return None


class Host:
    """A host whose commands see no network but this one; the folders in `hidden` are empty for them."""

    def __init__(self, name: str, number: int, hidden: Sequence[Path] = ()) -> None:
        self.name, self.address = name, f"{_NET}.{number}"
        self._started: list[subprocess.Popen[str]] = []
        # The shell prints a line when the namespaces exist, and holds them until its input ends.
        covered = "".join(f'mount -t tmpfs none "{folder}" && ' for folder in hidden)
        self._keeper = subprocess.Popen(
            ["unshare", "--net", "--mount", "sh", "-c", f"{covered}echo ready; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._keeper.stdout is not None
        if self._keeper.stdout.readline() != "ready\n":
            self._keeper.communicate()  # it has ended: its pipes and its exit status are taken
            raise subprocess.CalledProcessError(1, ["unshare", "--net", "--mount"], stderr="no namespace")

    @property
    def pid(self) -> int:
        """Return the id of the process that holds the host's namespaces."""
        return self._keeper.pid

    def do(self, *command: str) -> None:
        """Run a command to its end; raise CalledProcessError if it fails."""
        subprocess.run(self._inside(command), check=True, capture_output=True, text=True, timeout=_SECONDS)

    def start(self, command: Sequence[str], log: Path, cwd: Path, env: Mapping[str, str]) -> subprocess.Popen[str]:
        """Start a command in the background; its output is appended to `log`."""
        with log.open("a") as file:
            started = subprocess.Popen(
                self._inside(command),
                cwd=cwd,
                env=dict(os.environ) | env,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
        self._started.append(started)
        return started

    def die(self) -> None:
        """Kill all commands on the host at once, as a power failure would."""
        for each in self._started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(each.pid, signal.SIGKILL)
            each.wait(_SECONDS)
        self._started.clear()

    def cut_off(self) -> None:
        """Take the network interface down, as an unplugged cable; the other hosts are not notified."""
        self.do("ip", "link", "set", "eth0", "down")

    def slow_down(self, rate: str) -> None:
        """Limit the host's rate, in the notation of `tc`: 1mbit."""
        self.do("tc", "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", rate, "burst", "32kbit", "latency", "400ms")

    def close(self) -> None:
        """Kill the host's commands and release its namespaces."""
        self.die()
        self._keeper.communicate(timeout=_SECONDS)

    def _inside(self, command: Sequence[str]) -> list[str]:
        return ["nsenter", "--target", str(self.pid), "--net", "--mount", "--wd=.", "--", *command]


@contextlib.contextmanager
def network(*names: str, hidden: Mapping[str, Sequence[Path]] | None = None) -> Iterator[tuple[Host, ...]]:
    """Yield a host for each name, connected by a bridge; `hidden` names folders that are empty on a host."""
    with contextlib.ExitStack() as stack:

        def made(name: str, number: int) -> Host:
            host = Host(name, number, (hidden or {}).get(name, ()))
            stack.callback(host.close)
            return host

        switch = made("switch", 0)
        switch.do("ip", "link", "add", "br0", "type", "bridge")
        switch.do("ip", "link", "set", "br0", "up")
        hosts = tuple(made(name, number) for number, name in enumerate(names, start=1))
        for number, host in enumerate(hosts, start=1):
            port = f"port{number}"
            switch.do("ip", "link", "add", port, "type", "veth", "peer", "name", "eth0", "netns", str(host.pid))
            switch.do("ip", "link", "set", port, "master", "br0", "up")
            host.do("ip", "address", "add", f"{host.address}/24", "dev", "eth0")
            host.do("ip", "link", "set", "eth0", "up")
            host.do("ip", "link", "set", "lo", "up")
        yield hosts
