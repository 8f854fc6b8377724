"""Grade one submission where a grading platform starts it, and write the result as that platform reads it.

    python -I -m autograder.lms.grade_on_platform PLATFORM SITTING --course FOLDER --submission FOLDER --results FOLDER

The scripts of a bundle (`platform_bundle_scripts.py`) run this. Students' code is always confined; where it cannot be,
or where the grader fails, the result says that nothing was graded and that the student is not to blame. `-I` keeps what
a student has handed in off Python's path.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from autograder.course.course_location import paths_readable_by_answers
from autograder.errors import CourseError, WorkFailed
from autograder.faster_startup import block_slow_imports, collect_garbage_rarely
from autograder.files import write_all
from autograder.grading.assignment import Assignment, read_assignment, released_starters
from autograder.grading.class_grading import read_student_files
from autograder.grading.grading_executors import grade_one
from autograder.grading.submission_verdict import SubmissionVerdict, new_seed
from autograder.grading.verdict_store import SEED_VARIABLE
from autograder.lms.classroom50_results import classroom50_release_body, classroom50_result
from autograder.lms.gradescope_results import gradescope_failure_result, gradescope_results
from autograder.lms.prairielearn_results import prairielearn_failure_result, prairielearn_results
from autograder.nbgrader_plugin.copy_untrusted_folder import copy_untrusted_folder
from autograder.sandbox.confinement_self_test import confinement_problem, why_lesson_unreadable
from autograder.submission.choose_submitted_notebook import NBGRADER_FILES, find_candidates, submitted_file_names
from autograder.submission.submission import SubmittedFiles
from autograder.submission.zip_archive import summarize_names
from autograder.terminal_text import escape_unencodable, replace_unprintable

GRADER_FAILED_MESSAGE = (
    "This submission was not graded. The grader failed, which is no fault of yours and says nothing about your work. "
    "Please tell your teacher, who can have it graded again."
)
_UNCONFINED = (
    "This submission was not graded, which is no fault of yours: the machine that grades cannot confine the code that "
    "it runs. Please show your teacher this reason: {}."
)


class CannotConfine(CourseError):
    """This machine cannot confine students' code. The message is for students, who show it to their teacher."""


@dataclass(frozen=True)
class PlatformResultFiles:
    """The result files that a platform expects, by name: for a verdict, and for a failure of the grader.

    A platform that expects no file for a failure learns of it by the exit status. `teachers_log` says that only
    teachers can read what the program prints.
    """

    results: Callable[[SubmissionVerdict], Mapping[str, str]]
    fault: Callable[[str], Mapping[str, str]]
    teachers_log: bool = True


def results_file_text(data: Mapping[str, Any]) -> str:
    """Return the text of a file of results."""
    return json.dumps(data, indent=1) + "\n"


def _of_classroom50(verdict: SubmissionVerdict) -> dict[str, str]:
    result = classroom50_result(verdict, os.environ, datetime.now(UTC))
    return {"result.json": results_file_text(result), "release-body.md": classroom50_release_body(verdict)}


_RESULTS = "results.json"
PLATFORMS = {
    "gradescope": PlatformResultFiles(
        lambda verdict: {_RESULTS: results_file_text(gradescope_results(verdict))},
        lambda message: {_RESULTS: results_file_text(gradescope_failure_result(message))},
    ),
    "prairielearn": PlatformResultFiles(
        lambda verdict: {_RESULTS: results_file_text(prairielearn_results(verdict))},
        lambda message: {_RESULTS: results_file_text(prairielearn_failure_result(message))},
    ),
    "classroom50": PlatformResultFiles(_of_classroom50, lambda message: {}, teachers_log=False),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Grade and write the result; return 1 if there is none, after one line that says why."""
    args = _parser().parse_args(arguments)
    escape_unencodable()
    collect_garbage_rarely()
    block_slow_imports()
    platform = PLATFORMS[args.platform]
    files = _graded(platform, args)
    try:
        write_all({args.results / name: text.encode() for name, text in files.items()})
    except WorkFailed as error:
        return _failed(error)
    return 0 if files else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="grade_on_platform", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("platform", choices=sorted(PLATFORMS))
    parser.add_argument("sitting")
    for name in ("course", "submission", "results"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    return parser


def _graded(platform: PlatformResultFiles, args: argparse.Namespace) -> Mapping[str, str]:
    """Return the files of the verdict; where there is none, print why, and return the files of the fault."""
    try:
        verdict = grade_submitted_folder(args.course, args.sitting, args.submission)
        for line in verdict.eye if platform.teachers_log else ():
            print(replace_unprintable(f"worth a look: {line}", kept=""))
        return platform.results(verdict)
    except CannotConfine as error:
        _failed(error)
        return platform.fault(str(error))
    except Exception as error:  # whatever the fault is: the platform must not take it for the student's
        _failed(error)
        return platform.fault(GRADER_FAILED_MESSAGE)


def _failed(error: Exception) -> int:
    message = str(error) if isinstance(error, CourseError) else f"{type(error).__name__}: {error}"
    print(replace_unprintable(f"error: {message}", kept=""), file=sys.stderr)
    return 1


def grade_submitted_folder(course: Path, stem: str, submitted: Path) -> SubmissionVerdict:
    """Grade the folder with a student's files, of which none is changed, on fresh cases.

    Raises CannotConfine, or another CourseError if this machine cannot grade.
    """
    course = course.resolve()
    reason = confinement_problem() or why_lesson_unreadable(paths_readable_by_answers(course))
    if reason is not None:
        raise CannotConfine(_UNCONFINED.format(reason))
    assignment = read_assignment(course, stem, unconfined=False)
    seed = int(os.environ.get(SEED_VARIABLE) or new_seed())
    return grade_one(assignment, _read_copy(assignment, submitted), seed)


def _read_copy(assignment: Assignment, submitted: Path) -> SubmittedFiles:
    """Read a copy of the student's files; raise WorkFailed if they cannot be read."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, assignment.stem)
        try:
            copy_untrusted_folder(submitted, folder, _left_out)
        except OSError as error:
            raise WorkFailed(f"cannot read the submission in {submitted}: {error.strerror or error}") from error
        starters = released_starters(Path(assignment.course), assignment.stem)
        if not find_candidates(folder, assignment.stem, starters)[0]:
            return SubmittedFiles(b"", trouble=_no_notebook(assignment.stem, submitted_file_names(folder)))
        return read_student_files(assignment, folder)


def _left_out(_folder: str, names: list[str]) -> set[str]:
    """Return the names that are no work of a student's, such as `.git`; and nbgrader's, which is not there to read."""
    return {name for name in names if name.startswith(".") or name in NBGRADER_FILES}


def _no_notebook(stem: str, names: Sequence[str]) -> str:
    found = f"found: {summarize_names(names)}" if names else "found no files"
    return f"there is no notebook in what you handed in ({found}). Hand in the file {stem}.ipynb itself."


if __name__ == "__main__":
    sys.exit(main())
