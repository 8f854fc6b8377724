"""The command line: `autograder COMMAND`. Each module of `cli/` is one command."""

from __future__ import annotations

import argparse
import errno
import importlib
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
from autograder.faster_startup import block_slow_imports, collect_garbage_rarely
from autograder.package_name_collisions import collision_message
from autograder.terminal_text import escape_unencodable, replace_unprintable

_RESEND_SECONDS = 0.05
_REFUSALS = (errno.EACCES, errno.EPERM, errno.EROFS)
_NO_HOME = (
    "expected a home folder, found none: HOME is not set, and this user has no entry in the system's list. "
    "Run `export HOME=FOLDER` with a folder in which you may write, and then the command again."
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status.

    The status is 1 after an error that was reported in one line, 130 after Ctrl-C, and 141 if the reader of the output
    closed the pipe, as `| head` does.
    """
    try:
        escape_unencodable()
        try:
            return _run(arguments)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
    except BrokenPipeError:
        if not _discard_unread_output():
            raise
        return 141


def _run(arguments: Sequence[str] | None) -> int:
    collect_garbage_rarely()
    block_slow_imports()
    args = _parser().parse_args(arguments)
    try:
        if os.path.expanduser("~") == "~":
            raise WorkFailed(_NO_HOME)
        # The first entry is the folder that `python -m` runs in; notebooks and child processes do not look there.
        if mixed := collision_message(sys.path[1:]):
            raise WorkFailed(mixed)
        return int(args.run(args))
    except CourseError as error:
        print(replace_unprintable(f"error: {error}"), file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno not in _REFUSALS or not error.filename:
            raise
        line = f"error: {error.filename}: {error.strerror}. Give permission, and then run the command again."
        print(replace_unprintable(line), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        # If Ctrl-C interrupted an `exec`, such as the one that creates a dataclass, Python remembers that and still
        # ends `python -m` by the signal. Another `exec` makes it forget.
        exec("")
        print("stopped", file=sys.stderr)
        return 130


def _resend_interrupt(lost: sys.UnraisableHookArgs) -> None:
    """Send Ctrl-C again if it arrived in a destructor, where Python prints the KeyboardInterrupt and drops it."""
    if lost.exc_type is KeyboardInterrupt:
        # As a signal to this thread: it also interrupts a system call in which the thread waits by then.
        again = (threading.get_ident(), signal.SIGINT)
        threading.Timer(_RESEND_SECONDS, signal.pthread_kill, again).start()
    else:
        sys.__unraisablehook__(lost)


def _discard_unread_output() -> bool:
    """Redirect stdout and stderr to the null device if nobody reads them; return whether either was redirected.

    Otherwise Python would report the unwritten rest when it exits. A BrokenPipeError may also come from a pipe that the
    command itself uses, which is an error: so this function asks the two streams.
    """
    unread = [fd for fd in (sys.stdout.fileno(), sys.stderr.fileno()) if _is_unread(fd)]
    for fd in unread:
        os.dup2(os.open(os.devnull, os.O_WRONLY), fd)
    return bool(unread)


def _is_unread(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, 0)  # poll reports errors and hang-ups even if no event is requested
    return bool(poll.poll(0))


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
    sys.unraisablehook = _resend_interrupt
    return main()


if __name__ == "__main__":
    sys.exit(console())
