"""A second course for the tests, whose folder, chapter, exercise and cells all have names of their own."""

from __future__ import annotations

import os
from pathlib import Path
from shutil import copy

from autograder.sandbox.require_confinement import UNCONFINED_VARIABLE
from tests.small_chapter import PROJECT

COURSE = "lessons"
CHAPTER = "week_ends"
EXERCISE = "swap_ends"

_CHAPTER_TEXT = '''\
# %% [markdown] name="opening"
# # Ends
#
# Both ends of a row.

# %% parameters=true name="parameters"
seed = 0

# %% setup=true
import torch

from autograder import check

# %% [markdown]
# Let the first number and the last one change places.

# %% exercise="swap_ends"
def swap_ends(row):
    """Return a new row in which the first number and the last one have changed places."""
    ### BEGIN SOLUTION
    order = torch.arange(len(row))
    order[0], order[-1] = len(row) - 1, 0
    return row[order]
    ### END SOLUTION

# %% check="swap_ends" points=2
check("swap_ends", swap_ends)
'''

_EXERCISE_TEXT = '''\
"""`swap_ends`: the ends of a row change places."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.seeded_draw import Draw
from autograder.exercises.exercise import Case, Requirement, exercise

from ._watching import untouched

ends = Requirement("swaps the ends", untouched())
between = Requirement("leaves what is between", untouched(), tells={"inputs": "You write into the row itself."})


@exercise(tier="warm-up", hints=("Which numbers stay?", "`row.clone()` may be written into."), seconds=3)
def swap_ends(draw: Draw) -> Iterator[Case]:
    """Let both ends change places."""
    yield ends(draw.normal(2))
    yield between(draw.normal(draw.whole(4, 7)))
'''

_WATCHING_TEXT = '''\
"""What this course watches."""

from autograder.exercises.exercise import Probe
from autograder.exercises.probes.tensor_functions import make_call_probe


def untouched() -> Probe:
    """What comes back, and whether the row is as it was."""
    return make_call_probe()
'''

_ANSWERS_TEXT = '''\
"""Answers to `swap_ends`."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("swap_ends")


@bank.wrong("turned-round", "You turn the whole row round. Only its two ends change places.")
def swap_ends(row):
    return row.flip(0)


@bank.right("pieces")
def swap_ends(row):
    return torch.cat([row[-1:], row[1:-1], row[:1]])
'''

_SIDE_PATH = """\
# %% [markdown] side=true name="one"
# #### What of a row of one? ({minutes} minutes)
#
# Its ends are one.

# %% name="one-number"
torch.ones(1)[[-1]]

# %% [markdown]
# ### Exercise: `swap_ends` ({minutes} minutes)
#
"""

TURNED_ROUND = "def swap_ends(row):\n    return row.flip(0)\n"
SENTENCE = "You turn the whole row round. Only its two ends change places."


def environment() -> dict[str, str]:
    """Return the environment for commands of this course, without the settings that would lead to ours.

    The permission to run students' code unconfined stays, because it concerns the machine: where nothing can be
    confined, as in most containers, grading would refuse.
    """
    ours = {name for name in os.environ if name.startswith("PYTORCH_BASICS")} - {UNCONFINED_VARIABLE}
    return {name: value for name, value in os.environ.items() if name not in ours}


def make_second_course(folder: Path) -> Path:
    """Write the project of that course, and return its folder."""
    course = folder / COURSE
    texts = {
        folder / "pyproject.toml": f'[tool.pytorch-basics]\ncourse = "{COURSE}"\naddress = ""\n',
        course / "chapters" / f"{CHAPTER}.py": _CHAPTER_TEXT,
        course / "exercises" / CHAPTER / f"{EXERCISE}.py": _EXERCISE_TEXT,
        course / "exercises" / CHAPTER / "_watching.py": _WATCHING_TEXT,
        course / "answers" / CHAPTER / f"{EXERCISE}.py": _ANSWERS_TEXT,
        **{course / name / "__init__.py": "" for name in ("exercises", f"exercises/{CHAPTER}")},
    }
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    copy(PROJECT / "course" / "nbgrader_config.py", course)
    return folder


def with_side_path(project: Path) -> Path:
    """Add a side path and headings with minutes to the course's chapter, and return the project's folder."""
    path = project / COURSE / "chapters" / f"{CHAPTER}.py"
    begin, task, end = path.read_text(encoding="utf-8").partition("# Let the first number")
    begin = begin.replace("# # Ends\n", "# # Ends ({minutes} minutes)\n").removesuffix("# %% [markdown]\n")
    path.write_text(begin + _SIDE_PATH + task + end, encoding="utf-8")
    return project
