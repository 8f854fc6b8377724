"""Check that `check` in a notebook and grading from a file read the same source text of an answer.

The first takes the text from the cells that the kernel has run, the second from the submitted file.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis.source_inspection import SourceFindings
from autograder.errors import ChapterFormatError
from autograder.exec_with_linecache import run_source_with_linecache
from autograder.notebook.kernel_answer_text import answer_text_in_kernel
from autograder.submission.extract_answer_statements import answer_text, statements


def run_as_cell(cell: str, name: str, namespace: dict[str, Any]) -> Callable[..., Any]:
    """Run the text of a cell and return the object that it binds to `name`.

    Like a notebook, it registers the text in `linecache`, so that `inspect` can find the source. Raises
    ChapterFormatError if the cell raises.
    """
    try:
        run_source_with_linecache(cell, f"<ipython-input of {name}>", namespace)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise ChapterFormatError(f"cannot be run below the setup cell ({what}); use what that cell imports") from error
    answer: Callable[..., Any] = namespace[name]
    return answer


def answer_text_from_file(judge: Judge, name: str, cell: str) -> str:
    """Return the text of an answer as grading reads it from a file that holds the setup cell and this cell."""
    known = [each for text in (judge.chapter.prelude, cell) for each in statements(text) or ()]
    return answer_text(name, cell, (), known, judge.names)


def kernel_and_file_agree(judge: Judge, name: str, cell: str, answer: Callable[..., Any]) -> bool:
    """Return whether `check` in a kernel that ran this cell, and grading from a file with it, find the same text.

    "The same" means equal broken rules, ruled-out mistakes and notes. Both then give the same report on the same
    observations.
    """
    ran = SimpleNamespace(input_hist_raw=[judge.chapter.prelude, cell])
    kernel = SimpleNamespace(user_ns={name: answer}, history_manager=ran)
    texts = (answer_text_from_file(judge, name, cell), answer_text_in_kernel(name, answer, judge.names, shell=kernel))
    exercise, key = judge.exercises[name], judge.keys.full_key(name, VISIBLE_SEED)
    return len({SourceFindings.read(exercise, key, text) for text in texts}) == 1
