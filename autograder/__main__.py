"""The command line: `python -m autograder COMMAND`; the sub-commands are the modules of `commands`."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from collections.abc import Sequence
from pathlib import Path

from autograder import commands
from autograder.errors import CourseError
from autograder.startup import spare_grammar


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one sub-command; returns the exit status: 1 after an error told in one line, 130 after Ctrl-C."""
    spare_grammar()
    args = _parser().parse_args(arguments)
    try:
        return int(args.run(args))
    except CourseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m autograder", description="Build and grade PyTorch Basics.")
    parser.add_argument("--root", type=Path, default=Path(), help="the project folder (default: this folder)")
    names = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for info in pkgutil.iter_modules(commands.__path__):
        module = importlib.import_module(f"autograder.commands.{info.name}")
        text = (module.__doc__ or "").strip().split("\n")[0]
        sub = names.add_parser(info.name, help=text, description=text)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


if __name__ == "__main__":
    sys.exit(main())
