"""Asks for a kernel that `tests.forked_kernels` forks, and lives as long as it does.

python -IS forked_kernel.py SOCKET ARGUMENT...
"""

import json
import os
import signal
import socket
import sys


def main(place: str, *arguments: str) -> None:
    """Hand on Ctrl-C, and what ends this process."""
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
        answers.read()  # ends with the kernel


if __name__ == "__main__":
    main(*sys.argv[1:])
