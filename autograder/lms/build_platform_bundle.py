"""Build the bundle with which a grading platform grades a chapter: scripts, the package's wheel, and course files.

What the judge reads (the chapter with its solutions, the answer bank, the exercises, the released notebook) is in the
bundle's folder `course`, apart from the interpreter and the installed packages. The sandbox lets students' code read
those, but not the solutions. The documentation of the platforms is named in `platform_bundle_scripts.py` and in the
modules of their results.
"""

from __future__ import annotations

import io
import json
import uuid
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path

from autograder.course.borrowed_exercises import select_by_exact_type
from autograder.course.course import course_in
from autograder.errors import UnknownExercise, WorkFailed
from autograder.grading.assignment import Assignment, read_assignment, release_path, released_or_committed_path
from autograder.grading.own_code_questions_as_exercises import OwnCodeQuestionsExercise
from autograder.ipython_syntax import CHECK
from autograder.lms import platform_bundle_scripts
from autograder.lms.student_package_wheel import StudentWheel
from autograder.submission.read_released_cells import grade_id, has_nbgrader_flag

BundleFiles = Mapping[str, bytes]
_SECONDS = 600  # the most that PrairieLearn allows; an answer that never ends may take nearly as long
_EXECUTABLE = ("setup.sh", "run_autograder")
_MOST = 10 * 2**20  # bytes of a bundle that the runner of Classroom 50 fetches
_RUNTIME = {"python": "3.12"}


@dataclass(frozen=True)
class BundledSitting:
    """A sitting to pack: its stem and title, and the files of the course that grading it needs, by path."""

    stem: str
    title: str
    course: BundleFiles

    @property
    def slug(self) -> str:
        """The name of the assignment in Classroom 50, which takes no underscores."""
        return self.stem.lower().replace("_", "-")


def read_bundled_sitting(course: Path, stem: str) -> BundledSitting:
    """Read a sitting; raise UnknownExercise for an unknown one, and WorkFailed for what only nbgrader can grade."""
    stems = course_in(course).stems
    if stem not in stems:
        raise UnknownExercise(stem, stems, f"there is no sitting {stem!r}. They are: {', '.join(stems)}.")
    given = released_or_committed_path(course, stem)
    assignment = read_assignment(course, stem, unconfined=False, given=given)
    _check_nothing_else(course, assignment)
    files = {path: zlib.decompress(text) for path, text in assignment.texts.items()}
    released = {release_path(Path(), stem).as_posix(): given.read_bytes()}
    (title,) = (chapter.title for chapter in assignment.listed if chapter.stem == stem)
    return BundledSitting(stem, title, files | released)


def _check_nothing_else(course: Path, assignment: Assignment) -> None:
    """Raise WorkFailed for points that a person may have to give, and for files beside the notebook."""
    asked = {each.name for each in select_by_exact_type(assignment.lent, OwnCodeQuestionsExercise)}
    stem, checks = assignment.stem, {CHECK + name for name in assignment.chapter().exercises if name not in asked}
    scored = [
        cell
        for cell in assignment.released().cells
        if has_nbgrader_flag(cell, "grade") or has_nbgrader_flag(cell, "task")
    ]
    others = sorted({grade_id(cell) for cell in scored} - checks)
    if others:
        raise WorkFailed(
            f"{stem} has cells with points that are no exercises of the course: {', '.join(others)}. "
            "nbgrader scores these, and it is on no platform: grade this sitting with `autograder grade`."
        )
    beside = sorted(path.name for path in (course / "source" / stem).glob("[!.]*") if path.suffix != ".ipynb")
    if beside:
        raise WorkFailed(
            f"{stem} has files beside its notebook, which no bundle holds: {', '.join(beside)}. "
            f"Move them out of {course / 'source' / stem}, or grade this sitting with `autograder grade`."
        )


def _gradescope(sitting: BundledSitting, wheel: StudentWheel) -> BundleFiles:
    inside = {
        "setup.sh": platform_bundle_scripts.gradescope_setup_script().encode(),
        "run_autograder": platform_bundle_scripts.gradescope_run_script(sitting.stem).encode(),
        wheel.name: wheel.data,
        **_below("course", sitting.course),
    }
    return {f"{sitting.stem}.zip": _zipped(inside)}


def _prairielearn(sitting: BundledSitting, wheel: StudentWheel) -> BundleFiles:
    question, image = sitting.stem, f"{sitting.stem}-image"
    return {
        f"{question}/info.json": _info(sitting),
        f"{question}/question.html": _question(sitting).encode(),
        f"{question}/tests/run.sh": platform_bundle_scripts.prairielearn_run_script(sitting.stem).encode(),
        **_below(f"{question}/tests/course", sitting.course),
        f"{image}/Dockerfile": platform_bundle_scripts.prairielearn_dockerfile().encode(),
        f"{image}/{wheel.name}": wheel.data,
    }


def _info(sitting: BundledSitting) -> bytes:
    options = {
        "enabled": True,
        "image": platform_bundle_scripts.IMAGE,
        "entrypoint": platform_bundle_scripts.ENTRYPOINT,
        "timeout": _SECONDS,
    }
    known = {
        "uuid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"pytorch-basics/{sitting.stem}")),
        "title": sitting.title,
        "topic": "PyTorch",
        "type": "v3",
        "singleVariant": True,
        "gradingMethod": "External",
        "externalGradingOptions": options,
    }
    return (json.dumps(known, indent=2, ensure_ascii=False) + "\n").encode()


def _question(sitting: BundledSitting) -> str:
    notebook = f"{sitting.stem}.ipynb"
    return f"""<pl-question-panel>
  <p>{escape(sitting.title)}: hand in your notebook, <code>{notebook}</code>.</p>
  <pl-file-upload file-names="{notebook}"></pl-file-upload>
</pl-question-panel>

<pl-submission-panel>
  <pl-external-grader-results></pl-external-grader-results>
</pl-submission-panel>
"""


def _classroom50(sitting: BundledSitting, wheel: StudentWheel) -> BundleFiles:
    inside = {
        "autograder.py": platform_bundle_scripts.classroom50_autograder_script(sitting.stem).encode(),
        wheel.name: wheel.data,
        **_below("course", sitting.course),
    }
    if len(_zipped(inside)) > _MOST:
        raise WorkFailed(f"the bundle of {sitting.stem} is larger than the {_MOST} bytes that Classroom 50 fetches.")
    files = _below(sitting.slug, inside)
    return {**files, f"{sitting.slug}-runtime.json": (json.dumps(_RUNTIME) + "\n").encode()}


BUNDLE_BUILDERS: dict[str, Callable[[BundledSitting, StudentWheel], BundleFiles]] = {
    "gradescope": _gradescope,
    "prairielearn": _prairielearn,
    "classroom50": _classroom50,
}


def _below(folder: str, files: BundleFiles) -> dict[str, bytes]:
    return {f"{folder}/{path}": data for path, data in files.items()}


def _zipped(files: BundleFiles) -> bytes:
    """Return a zip archive of the files, the same for the same files; the scripts in it may be run."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o755 if path in _EXECUTABLE else 0o644) << 16
            archive.writestr(entry, data)
    return written.getvalue()
