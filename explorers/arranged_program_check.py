"""Run a program that was arranged from shuffled lines, and judge it with the exercise's visible check."""

from __future__ import annotations

import io
import linecache
from contextlib import redirect_stdout
from typing import Any

from IPython import get_ipython
from IPython.utils.capture import capture_output

from autograder.diagnosis.verdict import Report
from autograder.notebook.check_and_hint import LAST_REPORTS, report_on_visible_cases
from explorers.explorer_controls import InvalidChoice
from explorers.parsons_problem import GAP, Arrangement, Pieces


def mistakes_just_shown(name: str) -> tuple[str, ...]:
    """Return the tags of the known mistakes that the last check of an exercise in this kernel has named."""
    report = LAST_REPORTS.get(name)
    return report.mistakes if report is not None else ()


def judge_arrangement(pieces: Pieces, arrangement: Arrangement) -> Report:
    """Return the report on an arrangement; raise Refused if Python cannot run it yet.

    The program runs with the names of the notebook, and adds none there. Passing does not count as progress; only the
    check of the answer cell does.
    """
    if not arrangement.places:
        raise InvalidChoice("Your program is empty: put some lines into it first.")
    if open_lines := arrangement.open_lines(pieces):
        raise InvalidChoice(f"Fill the gap in `{open_lines[0]}` first: write what belongs in place of `{GAP}`.")
    text = arrangement.text(pieces)
    with redirect_stdout(io.StringIO()), capture_output(stdout=False, stderr=False):  # the page cannot show output
        return report_on_visible_cases(pieces.name, _made(pieces.name, text), text)


def _made(name: str, text: str) -> object:
    """Run a program and return the function that it defines; raise Refused if it cannot be run."""
    shell = get_ipython()
    names: dict[str, Any] = dict(shell.user_ns) if shell is not None else {}
    place = f"<arranged {name}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)  # for tracebacks, which quote it
    try:
        exec(compile(text, place, "exec"), names)
    except SyntaxError as error:
        line = (error.text or "").strip()
        where = f", at `{line}`" if line else ""
        raise InvalidChoice(
            f"Python cannot read this program: {error.msg}{where}. Look at order and indentation."
        ) from None
    except Exception as error:
        raise InvalidChoice(f"This program cannot be run: {type(error).__name__}: {error}") from None
    return names[name]
