"""The second course with a complete answer bank, so that its exercise can be proven."""

from pathlib import Path

from autograder.course.missing_exercise_parts import ExerciseParts
from tests.second_course import CHAPTER, COURSE, EXERCISE, make_second_course

MORE = """

@bank.wrong("first-only", "You move the first number and forget the last one.")
def swap_ends(row):
    return torch.cat([row[1:], row[:1]])


@bank.wrong("writes-into-row", "You write into the row that you were given. Make a new one.")
def swap_ends(row):
    first = row[0].clone()
    row[0] = row[-1]
    row[-1] = first
    return row


@bank.right("clone")
def swap_ends(row):
    out = row.clone()
    out[0], out[-1] = row[-1], row[0]
    return out


bank.survives({"row -> order (3)": "Both have as many numbers as the row, whatever these are."})
"""


def make_proven_course(folder: Path) -> ExerciseParts:
    """Write the project of that course, and return the parts of its exercise; nothing is built yet."""
    make_second_course(folder)
    parts = ExerciseParts(folder / COURSE, CHAPTER, EXERCISE)
    edit(parts.bank, "\n\n@bank.right(", MORE + "\n\n@bank.right(")
    return parts


def edit(path: Path, old: str, new: str) -> None:
    """Replace the first occurrence of a text in a file."""
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
