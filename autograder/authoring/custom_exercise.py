"""Create and prove a teacher's own exercise: one file, `own/NAME.py` in the course folder, that is an assignment.

The file begins with its cells, as in a chapter. Its requirements and hints follow `# %% cases`, and its wrong and right
answers follow `# %% answers`. `prove_and_install_custom_exercise` splits it into the usual files of an exercise and
proves them in a temporary project, under a time limit. If that succeeds, it copies the files into the course, where
build, check, grade and report find them as they find any other exercise.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from autograder import files
from autograder.course.course_location import COURSE_VARIABLE, EXERCISES
from autograder.course.missing_exercise_parts import ExerciseParts, exercises_with_any_part
from autograder.errors import ExerciseError

CUSTOM_EXERCISES_FOLDER = "own"  # the folder
_MADE = "# Made from {where} by `autograder prove {name}`: change it there."
_CUTS = re.compile(r"^# %% (cases|answers)[ \t]*$", re.MULTILINE)
_SECONDS = 120.0
# Both commands run in one process, since starting a process takes longer than either command.
_TRIAL = """
import sys
from autograder.__main__ import main
project, name = sys.argv[1:]
sys.exit(main(["--root", project, "build"]) or main(["--root", project, "prove", name]))
"""


def custom_exercise_path(course: Path, name: str) -> Path:
    """Return the path of the file of a teacher's own exercise."""
    return course / CUSTOM_EXERCISES_FOLDER / f"{name}.py"


def write_custom_exercise_template(course: Path, name: str) -> Path:
    """Write the template of an own exercise, which can be proven unchanged, and return its path.

    Raises ExerciseError if the name is not valid, or taken.
    """
    if not re.fullmatch(r"[a-z]\w*", name, re.ASCII):
        raise ExerciseError(f"expected a name such as moving_average, found {name!r}. Choose another name.")
    path = custom_exercise_path(course, name)
    if path.exists():
        raise ExerciseError(f"{path.relative_to(course.parent)} is there already. Change it, or choose another name.")
    _check_free(course, name)
    template = (Path(__file__).parent / "own_template.txt").read_text(encoding="utf-8")
    files.write_all({path: template.replace("NAME", name).encode()})
    return path


def prove_and_install_custom_exercise(course: Path, name: str, seconds: float = _SECONDS) -> list[str]:
    """Prove an own exercise in a temporary project, and copy its files into the course if nothing is wrong.

    Returns a line for each thing that is wrong; if there is one, the course is unchanged. `seconds` limits the time
    of the proof.
    """
    try:
        made = _unfolded(course, name)
    except ExerciseError as error:
        return [str(error)]
    with tempfile.TemporaryDirectory() as folder:
        trial = Path(folder).resolve() / course.name
        files.write_all({trial / path: text.encode() for path, text in made.items()})
        shutil.copy(course / "nbgrader_config.py", trial)
        (trial / EXERCISES / "__init__.py").touch()
        (trial.parent / "pyproject.toml").write_text(f'[tool.pytorch-basics]\ncourse = "{course.name}"\naddress = ""\n')
        lines = _tried(trial.parent, name, seconds)
    if lines:
        where = custom_exercise_path(course, name).relative_to(course.parent).as_posix()
        names = sorted((f"{course.name}/{path.as_posix()}" for path in made), key=len, reverse=True)
        return [_placed(line, [f"{trial.parent}/{each}" for each in names] + names, where) for line in lines]
    (course / EXERCISES).mkdir(exist_ok=True)
    files.write_all({course / path: text.encode() for path, text in made.items()})
    return []


def _unfolded(course: Path, name: str) -> dict[Path, str]:
    """Split an own exercise into the course's files, by path relative to the course folder; raises ExerciseError.

    Each line keeps its number, so that the line numbers in messages are those of the teacher's file.
    """
    path = custom_exercise_path(course, name)
    where = path.relative_to(course.parent).as_posix()
    _check_free(course, name)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeError) as error:
        raise ExerciseError(f"{where}: cannot be read ({error}). Save it as UTF-8.") from error
    cuts = list(_CUTS.finditer(text))
    if [cut[1] for cut in cuts] != ["cases", "answers"]:
        raise ExerciseError(f"{where}: expected one line `# %% cases` and below it one `# %% answers`. Write both.")
    points = re.search(
        rf'^# %% .*\bcheck="{name}"[^\n]*?\b(?:points|extra)=(\d+)', text[: cuts[0].start()], re.MULTILINE
    )
    if points is None or int(points[1]) == 0:
        raise ExerciseError(f'{where}: {name!r} has no points. Write `# %% check="{name}" points=2` over its check.')
    head = _MADE.format(where=where, name=name)
    cases, answers = (text.count("\n", 0, cut.start()) for cut in cuts)
    parts = ExerciseParts(course, name, name)
    return {
        parts.chapter.relative_to(course): text[: cuts[0].start()],
        parts.exercise.parent.relative_to(course) / "__init__.py": f"{head}\n",
        parts.exercise.relative_to(course): head + "\n" * (cases + 1) + text[cuts[0].end() + 1 : cuts[1].start()],
        parts.bank.relative_to(course): head + "\n" * (answers + 1) + text[cuts[1].end() + 1 :],
    }


def _check_free(course: Path, name: str) -> None:
    """Raise ExerciseError if another exercise or chapter of the course has this name."""
    mine = ExerciseParts(course, name, name)
    head = _MADE.format(where=custom_exercise_path(course, name).relative_to(course.parent).as_posix(), name=name)
    if mine.exercise.is_file() and mine.exercise.read_text(encoding="utf-8", errors="replace").startswith(head):
        return
    for parts in exercises_with_any_part(course):
        if name in (parts.name, parts.stem):
            raise ExerciseError(f"the name {name!r} is taken, in chapter {parts.stem}. Choose another name.")
    if mine.chapter.exists():
        raise ExerciseError(f"the name {name!r} is taken, by the chapter of that name. Choose another name.")


def _tried(project: Path, name: str, seconds: float) -> list[str]:
    """Build and prove the exercise in a child process, and return its complaints; kill it after `seconds`."""
    environment = {key: value for key, value in os.environ.items() if key != COURSE_VARIABLE}
    try:
        ran = subprocess.run(
            [sys.executable, "-c", _TRIAL, str(project), name],
            cwd=project,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return [f"{name}: has not ended after {seconds:g} s. Look for a loop that never ends, or make cases smaller."]
    if ran.returncode:
        return ran.stderr.strip().splitlines() or [f"{name}: the proof ended with status {ran.returncode}."]
    return []


def _placed(line: str, names: list[str], where: str) -> str:
    """Replace the names of the generated files in a message by that of the teacher's file."""
    for each in names:
        line = line.replace(each, where)
    return line
