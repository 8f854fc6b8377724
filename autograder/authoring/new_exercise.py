"""Write the stubs of a new exercise: its cells in a chapter, its file and its answer bank.

They build unchanged. `exercise_file_checks.MARK` marks each place where the author has something to write, and the
command `prove` lists these places.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from pathlib import Path
from string import Template

from autograder.authoring.exercise_file_checks import MARK
from autograder.course.chapter_model import CellKind, Chapter
from autograder.course.chapter_reader import chapter_paths, parse, read_chapter, validate_chapter
from autograder.course.lint_chapter import EXERCISE, RESERVED_CELL_NAMES
from autograder.course.missing_exercise_parts import ExerciseParts, display_path, exercises_with_any_part
from autograder.errors import CourseError
from autograder.files import write_all
from autograder.name_bindings import find_used_and_bound_names

_CELLS = f'''\
# %% [markdown]
# ### Exercise: `$name` ({{minutes}} minutes)
#
# {MARK}: the task, in a sentence or two.

# %% exercise="$name"
def $name(x):
    """{MARK}: what it returns, with shapes, and one example."""
    ### BEGIN SOLUTION
    return x  # {MARK}: the solution, two to eight lines
    ### END SOLUTION


# %% check="$name" points=2
check("$name", $name)

'''
_EXERCISE = f'''\
"""`$name`: its requirements, the cases that show them, and its hints."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.seeded_draw import Draw
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.tensor_functions import make_call_probe

basic = Requirement("{MARK}: the basic requirement, in lower case, as students read it", make_call_probe())
further = Requirement("{MARK}: another requirement; two to seven in all", make_call_probe())


@exercise(
    tier="core",
    hints=(
        "{MARK}: a hint that nudges",
        "{MARK}: a hint that is nearly the answer",
    ),
)
def $name(draw: Draw) -> Iterator[Case]:
    """{MARK}: the goal, in a sentence."""
    # {MARK}: the cases, each a call of the answer; all that is random comes from `draw`, and no shape is square
    yield basic(draw.normal(*draw.sizes(2)))
    yield further(draw.uniform(*draw.sizes(2), low=-9, high=-1))
'''
_BANK = f'''\
"""Answers to `$name`: wrong ones that learners really give, and right ones that must pass."""

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("$name")

# {MARK}: six wrong answers or more, each under @bank.wrong("a-tag", "What it does, and why that is wrong.")
# {MARK}: three right answers or more, built differently, each under @bank.right("another-tag")
'''
_INIT = '"""The exercises of $stem."""\n'


def write_new_exercise(course: Path, name: str, stem: str) -> list[str]:
    """Write the stubs of an exercise, all or none, and return a line for each file; raises CourseError."""
    chapter = read_chapter(_chapter_path(course, stem))
    parts = ExerciseParts(course, stem, name)
    _check_name(parts, chapter)
    cells = _with_cells(chapter, parts)
    init = parts.exercise.parent / "__init__.py"
    texts = {parts.chapter: cells, parts.exercise: _filled(_EXERCISE, parts), parts.bank: _filled(_BANK, parts)}
    if not init.is_file():
        texts[init] = _filled(_INIT, parts)
    write_all({path: text.encode() for path, text in texts.items()})
    line = read_chapter(parts.chapter).exercise(name).line
    return [
        f"{display_path(parts, parts.chapter)}:{line}: the cells of {name}; move them to where it is taught",
        f"{display_path(parts, parts.exercise)}: its requirements, cases and hints",
        f"{display_path(parts, parts.bank)}: its wrong and right answers",
    ]


def _chapter_path(course: Path, stem: str) -> Path:
    known = {path.stem: path for path in chapter_paths(course)}
    if stem not in known:
        raise CourseError(f"there is no chapter {stem!r}; the chapters are: {', '.join(known)}.")
    return known[stem]


def _check_name(parts: ExerciseParts, chapter: Chapter) -> None:
    """Raise CourseError if a name cannot be that of a new exercise."""
    name = parts.name
    if not re.fullmatch(EXERCISE, name) or keyword.iskeyword(name) or name in RESERVED_CELL_NAMES:
        raise CourseError(
            f"expected a name such as column_range: letters, digits and underscores, a letter first; found {name!r}."
        )
    if name in dir(builtins) or name in find_used_and_bound_names(ast.parse(chapter.prelude).body).bound:
        raise CourseError(f"{name!r} is Python's own, or a name of the setup cell; choose another name.")
    for other in exercises_with_any_part(parts.course):
        if other.name.casefold() == name.casefold():
            raise CourseError(f"there is an exercise {other.name!r} in {other.stem}; choose another name.")


def _with_cells(chapter: Chapter, parts: ExerciseParts) -> str:
    """Return the chapter's text with the new cells inserted; raise ChapterFormatError if that breaks the rules."""
    rows = parts.chapter.read_text(encoding="utf-8").splitlines(keepends=True)
    place = _closing_line(chapter) or len(rows) + 1
    before, after = "".join(rows[: place - 1]), "".join(rows[place - 1 :])
    text = before.rstrip("\n") + "\n\n" + _filled(_CELLS, parts) + after
    validate_chapter(Chapter(chapter.stem, chapter.where, parse(text, chapter.where)))
    return text if after else text.rstrip("\n") + "\n"


def _closing_line(chapter: Chapter) -> int | None:
    """Return the line before which new cells go, or None for the end of the chapter.

    It is that of the text before the first cell that calls `progress(`, or of the text after the last code cell.
    """
    cells = chapter.cells
    shows = (
        i for i, cell in enumerate(cells) if cell.kind is CellKind.LESSON and re.search(r"^progress\(", cell.source)
    )
    index = next(shows, len(cells))
    while index > 1 and cells[index - 1].kind is CellKind.MARKDOWN:
        index -= 1
    return cells[index].line if index < len(cells) else None


def _filled(text: str, parts: ExerciseParts) -> str:
    return Template(text).substitute(name=parts.name, stem=parts.stem)
