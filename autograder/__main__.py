"""The command line: `autograder COMMAND`; the sub-commands are the modules of `cli`."""

from __future__ import annotations

import argparse
import importlib
import io
import os
import pkgutil
import select
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from autograder import cli
from autograder.errors import CourseError, WorkFailed
from autograder.other_packages import mixed_packages
from autograder.process_startup import collect_rarely, spare_imports
from autograder.terminal_text import printable

_SOON = 0.05  # seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; returns the exit status.

    It is 1 after an error told in one line, 130 after Ctrl-C, and 141 where nobody reads on, as in `| head`.
    """
    try:
        _write_all_letters()
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    except BrokenPipeError:
        if not _drop_unread():
            raise
        return 141


def _run(arguments: Sequence[str] | None) -> int:
    collect_rarely()
    spare_imports()
    args = _parser().parse_args(arguments)
    try:
        if mixed := mixed_packages():
            raise WorkFailed(mixed)
        return int(args.run(args))
    except CourseError as error:
        print(printable(f"error: {error}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # Where Ctrl-C came during an `exec` of a text, as in the making of a dataclass, Python remembers it and ends
        # `python -m` by the signal all the same, until another text is run.
        exec("")
        print("stopped", file=sys.stderr)
        return 130


def _write_all_letters() -> None:
    """Let a letter that the output's encoding does not have be written as `\\u2192`: that ends no command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a test may have put something else there
            stream.reconfigure(errors="backslashreplace")


def _told_again(lost: sys.UnraisableHookArgs) -> None:
    """Let Ctrl-C come once more where it came while Python cleared memory away, where it is told and forgotten."""
    if lost.exc_type is KeyboardInterrupt:
        # As a signal to this very thread, which may be waiting by then.
        again = (threading.get_ident(), signal.SIGINT)
        threading.Timer(_SOON, signal.pthread_kill, again).start()
    else:
        sys.__unraisablehook__(lost)


def _drop_unread() -> bool:
    """Drop what is still to be written where nobody reads: Python would complain at its end. False if all is read.

    A pipe of a command's own work may break as well, and that is an error: so the pipes are asked.
    """
    unread = [fd for fd in (sys.stdout.fileno(), sys.stderr.fileno()) if _is_unread(fd)]
    for fd in unread:
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
    return bool(unread)


def _is_unread(fd: int) -> bool:
    asked = select.poll()
    asked.register(fd, 0)  # errors and hang-ups are always told
    return bool(asked.poll(0))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="autograder", description="Build and grade PyTorch Basics.")
    parser.add_argument("--root", type=Path, default=Path(), help="the project folder (default: this folder)")
    names = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for info in pkgutil.iter_modules(cli.__path__):
        module = importlib.import_module(f"autograder.cli.{info.name}")
        text = (module.__doc__ or "").strip().split("\n")[0]
        sub = names.add_parser(info.name, help=text, description=text)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def console() -> int:
    """Run the command `autograder`, as it is installed; `python -m autograder` is the same."""
    sys.unraisablehook = _told_again
    return main()


if __name__ == "__main__":
    sys.exit(console())
