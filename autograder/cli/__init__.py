"""The sub-commands of `autograder`, one module each.

A module `cli/NAME.py` is the sub-command NAME: its docstring is the help, `add_arguments(parser)` adds
its options, `run(args)` does the work and returns the exit status. `autograder/__main__.py` finds the modules.
Heavy imports belong inside `run`, so that `--help` is fast.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autograder.errors import UnknownExercise


def require_chapters(asked: Iterable[str], known: Sequence[str]) -> None:
    """Raise UnknownExercise for the first chapter that was asked for and is none of those that are known, by stem."""
    for stem in asked:
        if stem not in known:
            raise UnknownExercise(stem, known, f"there is no chapter {stem!r}. The chapters are: {', '.join(known)}.")
