"""The process that Jupyter starts as a kernel: it asks `tests.forked_kernels` for a fork, and outlives it.

A kernel spec starts it as `python -IS forked_kernel.py SOCKET ARGUMENT...`, where the arguments are ipykernel's.
"""

import json
import os
import signal
import socket
import sys


def main(place: str, *arguments: str) -> None:
    """Ask for a kernel, pass signals on to it, and wait until it ends."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(place)
        start = {"arguments": arguments, "cwd": os.getcwd(), "environment": dict(os.environ)}
        line.sendall(json.dumps(start).encode() + b"\n")
        answers = line.makefile()
        kernel = int(answers.readline())

        def end(*_: object) -> None:
            os.killpg(kernel, signal.SIGKILL)
            os._exit(1)

        signal.signal(signal.SIGINT, lambda *_: os.kill(kernel, signal.SIGINT))
        signal.signal(signal.SIGTERM, end)
        answers.read()  # returns when the kernel ends


if __name__ == "__main__":
    main(*sys.argv[1:])
