"""Fork Jupyter kernels from a process that has already imported torch and matplotlib, to save start time.

    python -m tests.forked_kernels SOCKET [MODULE ...]

`make test` runs twelve notebooks in its ordinary mode, and the unit tests run many reports, which are notebooks too.
Each kernel would take seconds for the same imports. The fork runs ipykernel's own kernel, in the folder and with the
environment that the client asked for. Only modules that the first cells of every chapter import, and the named modules,
are imported before. The nightly run (THOROUGH) does not use this; there, kernels start from nothing.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import os
import runpy
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).with_name("forked_kernel.py")
WATCHED = Path(__file__).with_name("watched") / "sitecustomize.py"
REPORTS = "nbgrader.api"  # the slowest import of the notebooks of a report
PLACE = "PYTEST_KERNELS"  # the variable with the kernel folder that all processes of a test run share


@contextlib.contextmanager
def forked_kernels(*more: str) -> Iterator[dict[str, str]]:
    """Yield environment variables with which `python3` names a forked kernel, until the block ends.

    `more` names modules to import before forking: third-party modules only, because the project's own are under test.
    """
    folder = Path(tempfile.mkdtemp(prefix="kernels-"))
    place = folder / "socket"
    spec = {"argv": [sys.executable, "-IS", str(CLIENT), str(place), "-f", "{connection_file}"]}
    (folder / "kernels" / "python3").mkdir(parents=True)
    (folder / "kernels" / "python3" / "kernel.json").write_text(
        json.dumps(spec | {"display_name": "Python 3, forked", "language": "python"})
    )
    command = [sys.executable, "-m", "tests.forked_kernels", str(place), *more]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=Path(__file__).parent.parent)
    assert process.stdout is not None
    try:
        assert process.stdout.readline(), "no kernels can be forked"
        yield {"JUPYTER_PATH": os.pathsep.join(filter(None, [str(folder), os.environ.get("JUPYTER_PATH")]))}
    finally:
        process.terminate()
        process.stdout.close()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)


@cache
def kernels_of_tests() -> str:
    """Return the folder that names forked kernels for a process of the unit tests.

    `make test` provides one in the environment; without it, each process starts its own.
    """
    if PLACE not in os.environ:
        stack = contextlib.ExitStack()
        os.environ[PLACE] = stack.enter_context(forked_kernels(REPORTS))["JUPYTER_PATH"]
        atexit.register(stack.close)
    return os.environ[PLACE]


def main(place: str, *more: str) -> None:
    """Fork a kernel for each client, until SIGTERM; then kill the kernels that are left."""
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as ipykernel sets it
    os.environ["OMP_NUM_THREADS"] = "1"
    import matplotlib.pyplot  # noqa: F401
    import torch  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp  # noqa: F401

    from tests.lean_torch import spare_notes

    spare_notes()
    for module in more:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no process waits for the kernels
    kernels: list[int] = []

    def end(*_: object) -> None:
        for kernel in kernels:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(kernel, signal.SIGKILL)
        os._exit(0)

    listening = socket.socket(socket.AF_UNIX)
    listening.bind(place)
    listening.listen()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGTERM, end)
    print("ready", flush=True)
    while True:
        line, _ = listening.accept()
        with line, line.makefile() as asked:
            start = json.loads(asked.readline())
            kernel = os.fork()
            if kernel == 0:
                listening.close()
                _be_a_kernel(line, start)
            kernels.append(kernel)
            line.sendall(b"%d\n" % kernel)


def _be_a_kernel(line: socket.socket, start: dict[str, Any]) -> None:
    """Run ipykernel's kernel in this process until it ends.

    The client waits until `line` closes, which only this process holds open.
    """
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    os.chdir(start["cwd"])
    os.environ.clear()
    os.environ.update(start["environment"])
    os.environ.pop("JPY_PARENT_PID", None)  # this process is no child of that parent
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    sys.path[:] = ["", *sys.path[1:]]
    if "PYTEST_WATCHED" in os.environ:
        runpy.run_path(str(WATCHED))
    kept = os.dup(line.fileno())
    try:
        IPKernelApp.launch_instance(argv=start["arguments"])
    except BaseException:
        traceback.print_exc()
    finally:
        os.close(kept)
        os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
