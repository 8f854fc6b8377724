"""A small course, as text, for all tests that read or build one."""

from pathlib import Path
from shutil import copy

import pytest

from autograder.course.chapter_reader import Chapter, read_chapter
from autograder.errors import ChapterFormatError

PROJECT = Path(__file__).resolve().parent.parent
SAMPLE = PROJECT / "tests" / "sample"  # the project of the tests' own course: `tests/sample_course.py`
STEM = "ch07_small"

TEXT = '''\
# %% [markdown] name="opening"
# # Chapter 7: Small
#
# A chapter for the tests.

# %% parameters=true name="parameters"
seed = 0

# %% setup=true
import math

from autograder import check, reveal

# %% [markdown]
# Forty-one and one?

# %% predict=true name="guess-the-sum"
guess = (1 + 41)  # what is the sum?

# %% name="the-sum"
reveal(guess, sum([41, 1]))

# %% claim=true
assert sum([41, 1]) == 42 - 0 * seed, "out of the reader's sight"

# %% figure=true
math.pi

# %% [markdown]
# The same text twice.

# %% exercise="double"
def double(x):
    """Return twice x: double(2) gives 4."""
    ### BEGIN SOLUTION
    twice_of_it = math.fsum([x, x])
    return twice_of_it
    ### END SOLUTION

# %% check="double" points=2
check("double", double)

# %% [markdown]
# The same text twice.

# %% exercise="hunt"
### BEGIN STARTER
# def hunt(x):
#     """Return x plus one."""
#
#     return x - 1
### END STARTER
def hunt(x):
    """Return x plus one."""
    ### BEGIN SOLUTION
    return math.fsum([x, 1])
    ### END SOLUTION

# %% check="hunt" extra=1
check("hunt", hunt)
'''

BANK = '''\
from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("double")


@bank.wrong("squares", "You square: look at x = 3.")
def double(x):
    """Return twice x: double(2) gives 4."""
    squared_by_mistake = x ** 2
    return squared_by_mistake
'''


def read(folder: Path, text: str, stem: str = STEM) -> Chapter:
    """Write a chapter with this text, and return it."""
    path = folder / "course" / "chapters" / f"{stem}.py"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return read_chapter(path)


def refusal(folder: Path, text: str, slip: tuple[str, str, str], stem: str = STEM) -> str:
    """Return the error for a chapter's text with a mistake: `slip` is the right text, the wrong one, and the error."""
    old, new, _ = slip
    assert old in text
    with pytest.raises(ChapterFormatError) as told:
        read(folder, text.replace(old, new, 1), stem)
    return str(told.value)


def make_project(folder: Path, text: str = TEXT, address: str = "") -> Path:
    """Write a project of one chapter, and return its folder."""
    chapters = folder / "course" / "chapters"
    chapters.mkdir(parents=True)
    (chapters / f"{STEM}.py").write_text(text, encoding="utf-8")
    copy(PROJECT / "course" / "nbgrader_config.py", folder / "course")
    (folder / "pyproject.toml").write_text(
        f'[tool.pytorch-basics]\ncourse = "course"\n# a comment\naddress = "{address}"\n'
    )
    return folder


def observe(_course: Path, _stem: str, _committed: dict[str, bytes]) -> dict[str, bytes]:
    """Return empty files in place of the shipped observations, which these tests do not use."""
    return {".json": b"{}", ".safetensors": b""}
