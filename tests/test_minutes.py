"""The minutes that are computed from a chapter's text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.authoring.build_course import build
from autograder.course.chapter_minutes import chapter_title, minutes_of_parts, replace_minute_placeholders, tier_lookup
from autograder.course.chapter_model import CellKind
from autograder.course.chapter_reader import Chapter
from autograder.errors import ExerciseError
from tests.second_course import CHAPTER, COURSE, EXERCISE, make_second_course, with_side_path
from tests.side_chapter import STEM, TEXT, TIERS, read
from tests.small_chapter import refusal

TIER = TIERS.__getitem__
PLAIN = """\
# %% [markdown]
# # Plain

# %% setup=true
import math

# %% [markdown] name="here"
"""


def told(chapter: Chapter) -> list[str]:
    """Return the lines with numbers in a chapter's prose, with minutes filled in."""
    lines = [
        line
        for cell in replace_minute_placeholders(chapter, TIER).of_kind(CellKind.MARKDOWN)
        for line in cell.source.split("\n")
    ]
    return [line for line in lines if re.search(r"\d", line)]


def here(folder: Path, text: str) -> str:
    """Return the filled text of a cell below a plain chapter's setup."""
    chapter = read(folder, PLAIN + re.sub(r"(?m)^", "# ", text) + "\n")
    return replace_minute_placeholders(chapter, TIER).cells[2].source


class TestFilled:
    def test_each_heading(self, tmp_path: Path) -> None:
        """The title has the minutes of the main path, and each section, exercise and side path has its own."""
        assert told(read(tmp_path, TEXT)) == [
            "# Chapter 8: Sides (6 minutes)",
            "Side paths take 5 minutes, exercises 9.",
            "# First sitting: numbers (3 minutes, and 6 for the exercises)",
            "## 1 Sums (3 minutes)",
            "### Exercise: `double` (6 minutes)",
            "#### When is a sum exact? (2 minutes)",
            "# Second sitting: more numbers (1 minute; 3 for the side path, 3 for the exercise)",
            "### Exercise: `third` (3 minutes)",
            "### Stretch exercise: `hunt` (10 minutes)",
            "#### Why not `float16`? (2 minutes)",
        ]

    def test_after_the_end(self, tmp_path: Path) -> None:
        """Above the cell `hunt()` the exercises below it are counted apart, and a heading below it counts its own."""
        text = TEXT.replace("exercises {exercises}.", "exercises {exercises}, later {later}.")
        text = text.replace("# # Second sitting", "# The end.\n\n# %%\nhunt()\n\n# %% [markdown]\n# # Second sitting")
        lines = told(read(tmp_path, text))

        assert "Side paths take 5 minutes, exercises 6, later 3." in lines
        assert any(line.endswith("3 for the exercise)") for line in lines)

    @pytest.mark.parametrize(
        ("cells", "minutes"),
        [
            ("# %% [markdown]\n# " + "word " * 297, 2),
            ("# %% [markdown]\n# " + "-- | " * 297, 1),
            ("# %% [markdown]\n# ```\n" + "# x = 1\n#\n" * 30 + "# ```", 3),
            ("# %%\n" + "1\n\n" * 20, 2),
            ("# %%\n" + "1\n" * 24, 2),
            ("# %%\n" + "1\n" * 25, 3),
            ("# %%\n1\n\n# %% claim=true\nassert 1\n" + "assert 1\n" * 90, 1),
            ("# %% figure=true\n" + "1\n" * 90, 1),
            ('# %% mine=true\nmy_double = mine("double", abs)\n' + "1\n" * 90, 1),
            ("# %% known=true\n# pi\n" + "1\n" * 90, 1),
            ("# %% predict=true\nguess = 1  # one\n\n# %%\nreveal(guess, 1)\n" * 5, 3),
        ],
        ids=[
            *("words", "signs", "fence", "blank lines", "lines", "half a minute"),
            *("claim", "figure", "mine", "known", "guesses"),
        ],
    )
    def test_rates(self, tmp_path: Path, cells: str, minutes: int) -> None:
        """The rates are 150 words, 10 visible lines of code, and 25 seconds a prediction, rounded and at least 1."""
        text = f"{PLAIN}# ## Here: {{minutes}}\n\n{cells}\n\n# %% [markdown]\n# ## There\n#\n# {'word ' * 999}"

        assert f"## Here: {minutes}" == replace_minute_placeholders(read(tmp_path, text), TIER).cells[2].source

    def test_sums_are_rounded_once(self, tmp_path: Path) -> None:
        """A sum is rounded once, and not per section."""
        section = "# %% [markdown]\n# ## Next: {minutes}\n\n# %%\n" + "1\n" * 14 + "\n"
        lines = told(
            read(
                tmp_path, PLAIN.replace("Plain", "Plain ({minutes} minutes)") + section.partition("\n")[2] + section * 2
            )
        )

        assert ["# Plain (4 minutes)", *["## Next: 1"] * 3] == lines

    @pytest.mark.parametrize(
        "text",
        [
            "# So\n\nWrite `f'{minutes}'`, or ``{minuets} ` {side}``.",
            "# So\n\n```\n{minutes}\n# {side}\n```\n",
            "# So\n\n~~~python\nf'{minutes}'",
            r"# So"
            + "\n\n"
            + r"$\text{minutes}$, $x_{side}$, $\{exercises\}$, $\frac{loss}{batch}$, ${n}$, {}, {a, b}",
        ],
    )
    def test_code_and_formulas_stay(self, tmp_path: Path, text: str) -> None:
        """Braces in code and formulas are not replaced."""
        assert text.rstrip() == here(tmp_path, text).rstrip()

    def test_nearest_heading_in_the_cell(self, tmp_path: Path) -> None:
        """A cell may have several headings, and a `#` in a code block is none."""
        words = "word " * 298
        text = f"## A ({{minutes}})\n\n{words}\n\n### B ({{minutes}})\n\n```\n# no\n```\n\n{words} {{minutes}}"

        assert ["4", "2", "2"] == re.findall(r"\d+", here(tmp_path, text))

    def test_exercise_without_a_heading(self, tmp_path: Path) -> None:
        """Text directly above an exercise belongs to it, and text below its check to the main path."""
        text = TEXT.replace("# ### Exercise: `third` ({minutes} minutes)", f"# {'word ' * 900}")
        more = text.replace(
            "# %% [markdown]\n# ### Stretch", f"# %% [markdown]\n# {'word ' * 900}\n\n# %% [markdown]\n# ### Stretch"
        )

        assert "# Second sitting: more numbers (1 minute; " in "\n".join(told(read(tmp_path, text)))
        assert "# Second sitting: more numbers (7 minutes; " in "\n".join(told(read(tmp_path, more)))


# (right text, text with a mistake, part of the error message)
SLIPS = {
    "misspelt": (
        "{minutes} minutes)\n#\n# Side",
        "{minuets} minutes)\n#\n# Side",
        "no {minuets}; write {minutes}, or put code",
    ),
    "another number": ("{side} minutes", "{sides} minutes", "there is no {sides}; write {side}, or put code"),
    "capital": ("{side} minutes", "{Side} minutes", "there is no {Side}; write {side}"),
    "spaces": ("{side} minutes", "{ side } minutes", "there is no { side }; write {side}"),
    "no such thing": (
        "{side} minutes",
        "{loss} minutes",
        "there is no {loss}; write {minutes}, or put code in backticks",
    ),
    "no heading": (
        "# Nearly always.",
        "# In {minutes} minutes.",
        "{minutes} stands in a cell without a heading above it",
    ),
    "above the heading": (
        "# # First sitting",
        "# {minutes}\n#\n# # First sitting",
        "{minutes} stands in a cell without a heading above it",
    ),
    "no exercises": (
        "# ## The end",
        "# ## The end ({exercises})",
        "no exercise with points is below the heading; take it out",
    ),
    "only stretch": ("`hunt` ({minutes}", "`hunt` ({exercises}", "no exercise with points is below the heading"),
    "no side paths": ("# ## The end", "# ## The end ({side})", "no side path is below the heading; take it out"),
    "title": (
        "Sides ({minutes} minutes)",
        "{minutes} minutes",
        "`Chapter 8: {minutes} minutes` is listed without minutes; put",
    ),
    "exercise elsewhere": (
        "Exercise: `third`",
        "Exercise: `double`",
        "the exercise 'double' does not stand below its heading",
    ),
    "exercise misspelt": (
        "Exercise: `third`",
        "Exercise: `thrid`",
        "the exercise 'thrid' does not stand below its heading",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slips(tmp_path: Path, slip: str) -> None:
    """An author's mistake raises a one-line error with file, line and next step."""
    said = refusal(tmp_path, TEXT, SLIPS[slip], STEM)

    assert re.match(rf"course/chapters/{STEM}\.py:\d+: [^\n]*; [^\n]*$", said)
    assert SLIPS[slip][2] in said


@pytest.mark.parametrize(
    "heading",
    [
        "Ends ({minutes} minutes)",
        "Ends ({minutes} minutes; exercises: {exercises})",
        "Ends (75 minutes)",
        "Ends ({side})",
        "Ends",
    ],
)
def test_title_is_clean(tmp_path: Path, heading: str) -> None:
    """A chapter's title in lists has no minutes, but keeps other parentheses."""
    chapter = read(tmp_path, TEXT.replace("Chapter 8: Sides ({minutes} minutes)", heading))

    assert "Ends" == chapter_title(chapter)
    assert "Plain (and short)" == chapter_title(read(tmp_path, PLAIN.replace("Plain", "Plain (and short)") + "# So."))


TASK = 'def double(x):\n    """Return twice x."""\n    ### BEGIN SOLUTION\n'
LONG = "".join(f"    x += {n}\n" for n in range(19))
GIVEN = TASK.replace("    ### BEGIN SOLUTION\n", LONG) + "    return x"
STARTER = "".join(f"# {line}\n" for line in GIVEN.split("\n"))


@pytest.mark.parametrize(
    ("old", "new", "minutes"),
    [
        ("points=2", "points=1", 5),
        ("points=2", "points=5", 15),
        (TASK, TASK + LONG, 20),
        (TASK, f"### BEGIN STARTER\n{STARTER}### END STARTER\n{TASK}{LONG}", 6),
    ],
    ids=["tier", "points", "lines", "starter"],
)
def test_effort(tmp_path: Path, old: str, new: str, minutes: int) -> None:
    """An exercise takes its tier's minutes, 3 minutes a point, or a minute a line, whichever is most."""
    assert old in TEXT
    chapter = read(tmp_path, TEXT.replace(old, new, 1))

    assert f"### Exercise: `double` ({minutes} minutes)" in told(chapter)


class TestShares:
    def test_parts(self, tmp_path: Path) -> None:
        """Each cell belongs to one part, and the parts' minutes add up."""
        chapter = read(tmp_path, TEXT)
        found = {part: str(share) for part, share in minutes_of_parts(chapter, TIER).items()}

        assert found == {
            "main path": "6 min, 10 cells",
            "exercises": "9 min, 5 cells",
            "stretch exercises": "10 min, 3 cells",
            "side paths": "5 min, 5 cells",
        }
        assert len(chapter.reader_cells) == sum(share.cells for share in minutes_of_parts(chapter, TIER).values())

    def test_command(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """The command prints a line for each chapter."""
        assert 0 == main(["--root", str(with_side_path(make_second_course(tmp_path))), "minutes"])

        head, line = capsys.readouterr().out.splitlines()
        assert ["main path", "exercises", "stretch exercises", "side paths"] == re.split(r"  +", head.strip())
        assert [CHAPTER, "1 min, 3 cells", "6 min, 3 cells", "none", "1 min, 2 cells"] == re.split(r"  +", line.strip())


def test_exercise_that_is_not_written(tmp_path: Path) -> None:
    """A missing exercise file raises a one-line error, and nothing is built."""
    project = with_side_path(make_second_course(tmp_path))
    (project / COURSE / "exercises" / CHAPTER / f"{EXERCISE}.py").unlink()
    with pytest.raises(ExerciseError, match=rf"{EXERCISE}\.py: not there; write the requirements, cases and hints of"):
        build(project)

    assert not (project / "notebooks").exists()


def test_text_without_braces_needs_no_exercise(tmp_path: Path) -> None:
    """A text without placeholders does not change."""
    chapter = read(tmp_path, re.sub(r"\{(minutes|side|exercises)\}", "7", TEXT))

    assert chapter == replace_minute_placeholders(chapter, tier_lookup(tmp_path / "course", chapter))
