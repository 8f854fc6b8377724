"""Jupyter kernels that begin warm, for whole notebooks: forked from one process that has imported torch and matplotlib.

    python -m tests.forked_kernels SOCKET [MODULE ...]

`make test` runs twelve notebooks by day, and each kernel begins with the same imports, which take seconds.
What is forked is ipykernel's own kernel, in the folder and with the environment that it was asked for with; no other
module is there than those that every chapter's first cells import, and those that are named.
At night kernels begin from nothing.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CLIENT = Path(__file__).with_name("forked_kernel.py")


@contextlib.contextmanager
def forked_kernels(*more: str) -> Iterator[dict[str, str]]:
    """The variables with which `python3` names a kernel that is forked, as long as the block lasts.

    `more` names modules that are there too: other people's, never the project's own, which are what is tested.
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


def main(place: str, *more: str) -> None:
    """Fork a kernel for each that asks, until this process is ended; then end those that are left."""
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")  # as ipykernel sets it
    os.environ["OMP_NUM_THREADS"] = "1"
    import matplotlib.pyplot  # noqa: F401
    import torch  # noqa: F401
    from ipykernel.kernelapp import IPKernelApp  # noqa: F401

    from tests.lean_torch import spare_notes

    spare_notes()
    for module in more:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for a kernel
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
    """Be one as long as it lasts; whoever asked waits until the line closes, which nobody else holds."""
    from ipykernel.kernelapp import IPKernelApp

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    os.setsid()
    os.chdir(start["cwd"])
    os.environ.clear()
    os.environ.update(start["environment"])
    os.environ.pop("JPY_PARENT_PID", None)  # it has another parent
    os.environ.setdefault("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    sys.path[:] = ["", *sys.path[1:]]
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
