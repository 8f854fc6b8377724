"""Side paths: their form, their content, and that the main path does not need them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.authoring.make_chapter_notebooks import notebook_with_claims
from autograder.course.chapter_reader import Chapter, read_chapter
from autograder.course.side_paths import find_side_paths, main_path
from autograder.errors import ChapterFormatError, WorkFailed
from autograder.notebook import progress_log
from autograder.run_with_papermill import run_notebook
from tests.side_chapter import STEM, TEXT, read
from tests.small_chapter import PROJECT, refusal

EXACT = "#### When is a sum exact? ({minutes} minutes)"
CHAPTERS = sorted((PROJECT / "course" / "chapters").glob("*.py"))
WITH_SIDE_PATHS = [path for path in CHAPTERS if "side=true" in path.read_text(encoding="utf-8")]


def run(chapter: Chapter, advice: str) -> None:
    """Run a solved chapter with its claims and without its side paths."""
    run_notebook(notebook_with_claims(main_path(chapter), ""), f"the main path of {chapter.stem} alone", advice)


def test_what_is_a_side_path(tmp_path: Path) -> None:
    """A side path ends before the next cell that begins with a heading."""
    chapter = read(tmp_path, TEXT)
    paths = find_side_paths(chapter)
    names = [[chapter.cells[place].keys.get("name") for place in path.places] for path in paths]

    assert ["When is a sum exact?", "Why not `float16`?"] == [path.question for path in paths]
    assert [["when", "exact", "between"], [None, "half"]] == names
    assert len(chapter.cells) - 5 == len(main_path(chapter).cells)
    assert [] == find_side_paths(main_path(chapter))


# (right text, text with a mistake, part of the error message)
SLIPS = {
    "no heading": (
        EXACT,
        "When is a sum exact?",
        "as its heading, such as `#### When does a view refuse? ({minutes} min",
    ),
    "other level": (EXACT, EXACT[1:], "found `### When is a sum exact? ({minutes} minutes)`; write that"),
    "no question": (EXACT, "#### Exact sums ({minutes} minutes)", "to begin with a question as its heading"),
    "not marked": (
        " side=true name",
        " name",
        "exact? ({minutes} minutes)` is a side path's; begin a cell with it and",
    ),
    "on code": ('name="exact"', "side=true", "a plain code cell takes no side="),
    "false": ("side=true", "side=false", "expected side=true, found side=False"),
    "marked further down": (
        "# Nearly always.",
        "# Nearly.\n#\n# #### Always?",
        "the heading `#### Always?` is a side path's",
    ),
    "deeper": ("# ## The end", "# ##### The end", "the heading `##### The end` is a side path's"),
    "heading further down": (
        "# Nearly always.",
        "# Nearly.\n#\n# ## 2 Products",
        "in the midst of a cell of the side path 'When is a sum exact?' (line ",
    ),
    "exercise": (
        "# ### Exercise: `third` ({minutes} minutes)",
        "# Nothing.\n\n# %% [markdown] side=true\n# #### Why?\n#\n# So.",
        "a side path holds no exercise cell, and this one is in the side path 'Why?' (line ",
    ),
    "empty": (
        "# ## The end",
        "# ## The end\n\n# %% [markdown] side=true\n# #### Why?",
        "the side path 'Why?' (line ",
    ),
    "guess on the border": (
        "# Nearly always.",
        "# Nearly.\n\n# %% predict=true\nguess = 1  # one\n\n# %% [markdown]\n# # So\n\n# %%\nreveal(guess, 1)",
        "revealed across the border of the side path 'When is a sum exact?'",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips(tmp_path: Path, slip: str) -> None:
    """An author's mistake raises a one-line error with file, line and next step."""
    told = refusal(tmp_path, TEXT, SLIPS[slip], STEM)

    assert re.match(rf"course/chapters/{STEM}\.py:\d+: [^\n]*; [^\n]*$", told)
    assert SLIPS[slip][2] in told


# Cells of the main path that read a side path's name, and the name.
READS = {
    "a name": ("# %%\nprint(exact)", "exact"),
    "in a function": ("# %%\ndef f():\n    return half", "half"),
    "before it has its own value": ("# %%\nexact = exact + 1", "exact"),
    "added to": ("# %%\nexact += 1", "exact"),
    "changed on the way": ("# %%\nprint(total)", "total"),
    "a function of Python's": ("# %%\nprint(sum([1]))", "sum"),
    "in a claim": ("# %%\n1\n\n# %% claim=true\nassert half", "half"),
    "beside magic": ("# %%\n%time exact\nexact", "exact"),
}
TAKEN = TEXT.replace("half = 0.5", "half = 0.5\ntotal, sum = 3, 4")


@pytest.mark.parametrize("case", READS)
def test_main_path_reads_nothing_of_a_side_path(tmp_path: Path, case: str) -> None:
    """A main path cell that reads a side path's name raises a one-line error with cell, name and side path."""
    cells, name = READS[case]
    path = "When is a sum exact?" if name == "exact" else "Why not `float16`?"
    with pytest.raises(ChapterFormatError) as told:
        read(tmp_path, f"{TAKEN}\n{cells}\n")

    line = (TAKEN + cells).count("\n", 0, len(TAKEN) + cells.rindex("# %%")) + 2
    begins = f"course/chapters/{STEM}.py:{line}: this cell of the main path reads {name!r}, which has its value from "
    assert str(told.value).startswith(begins + f"the side path {path!r} (line ")
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["exact", "half"])
def test_solution_reads_nothing_of_a_side_path(tmp_path: Path, name: str) -> None:
    """A solution, which is on the main path, must not read a side path's name."""
    begin, _, end = TEXT.rpartition("return x + x")
    with pytest.raises(ChapterFormatError, match=f"this cell of the main path reads '{name}'"):
        read(tmp_path, f"{begin}return {name}{end}")


@pytest.mark.parametrize(
    "cells",
    [
        "# %%\nexact = 1\nprint(exact)",
        "# %%\nfor half in [1, 2]:\n    print(half)",
        "# %%\nprint([half for half in (1, 2)], max(1, 2))",
        "# %% [markdown] side=true\n# #### Where else?\n#\n# Here.\n\n# %%\nprint(half, exact)",
    ],
    ids=["given first", "loop", "comprehension", "side path"],
)
def test_what_may_be_read(tmp_path: Path, cells: str) -> None:
    """The main path may read names that it binds itself, and a side path may read all names."""
    assert len(read(tmp_path, f"{TEXT}\n{cells}\n").cells) > len(read(tmp_path / "without", TEXT).cells)


# --- the main path alone, in a kernel

CHANGES = """\
# %% [markdown]
# # Changes

# %% setup=true
table = {}

# %% [markdown] side=true
# #### What is a half?
#
# This.

# %%
table["half"] = 0.5

# %% [markdown]
# ## Back

# %%
table["half"]
"""


@pytest.mark.night  # at night
@pytest.mark.parametrize("path", WITH_SIDE_PATHS, ids=lambda path: path.stem)
def test_main_path_runs_alone(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each chapter with side paths runs without them."""
    monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
    run(read_chapter(path), "A cell of the main path needs a side path.")


@pytest.mark.night
def test_what_names_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A side path that changes a value of the main path is detected when the main path runs alone."""
    monkeypatch.setenv(progress_log.PROGRESS_VARIABLE, "off")
    with pytest.raises(WorkFailed, match="the main path of ch08_sides alone: KeyError: 'half'"):
        run(read(tmp_path, CHANGES), "")
