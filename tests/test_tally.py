"""The table of the answer banks agrees with the banks."""

from pathlib import Path

from autograder.authoring.answer_bank_statistics import (
    NUMBER_OF_STATIC_COLUMNS,
    TABLE_COLUMNS,
    ExerciseCounts,
    count_bank_of_exercise,
    update_table,
)
from autograder.authoring.mutant_messages import KINDS, SOLUTION, judge_mutants, mutant_report_lines
from autograder.course.answer_bank import load_bank
from autograder.course.course_location import bank_file
from tests.asked import NIGHT
from tests.our_course import COURSE

ROOT = Path(__file__).parent.parent
DOCUMENT = (ROOT / "docs" / "answers.md").read_text(encoding="utf-8")
ROWS = [line for line in DOCUMENT.splitlines() if line[:1] == "|"]
EVERY = {name: chapter.stem for chapter in COURSE.listed for name in chapter.exercises}  # exercise: chapter


def test_the_table_has_each_exercise_as_its_bank_is() -> None:
    """The table has each bank's number of answers by kind (`autograder answers NAME` updates a row)."""
    found = {name: list(load_bank(bank_file(ROOT / "course", stem, name))) for name, stem in EVERY.items()}
    rows = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in ROWS[2:-1]]

    assert list(TABLE_COLUMNS) == [cell.strip() for cell in ROWS[0].strip("|").split("|")]
    assert sorted(EVERY) == sorted(row[0] for row in rows), "run `autograder answers NAME`"
    for row in rows:
        wrong = [answer for answer in found[row[0]] if not answer.is_right]
        facet = sum(bool(answer.facet) for answer in wrong)
        slips = sum(answer.slip for answer in wrong)

        assert [len(found[row[0]]) - len(wrong), len(wrong), len(wrong) - facet, facet, slips] == list(
            map(int, row[1:NUMBER_OF_STATIC_COLUMNS])
        ), f"run `autograder answers {row[0]}`"


def test_unknown_answers_are_counted_once() -> None:
    """The three columns on unknown answers add up to the wrong ones."""
    for row in ROWS[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]

        assert int(cells[2]) == sum(map(int, cells[NUMBER_OF_STATIC_COLUMNS:])), row


def test_what_unknown_answers_are_told_is_as_it_says() -> None:
    """The columns on unknown answers are correct, for one chapter, and for all in the nightly run."""
    first = next(iter(EVERY.values()))
    names = [name for name, stem in EVERY.items() if NIGHT or stem == first]

    assert DOCUMENT == update_table(
        DOCUMENT, list(EVERY), [count_bank_of_exercise(ROOT / "course", EVERY[name], name) for name in names]
    )


def test_a_row_is_written_anew() -> None:
    """Updating a row changes only it and the sums."""
    name = list(EVERY)[2]
    old = f"| `{name}` | {ROWS[4].split(' | ', 1)[1]}"
    damaged = DOCUMENT.replace(old, f"| `{name}` | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 |").replace(ROWS[-1], ROWS[0])
    counts = [int(cell) for cell in old.strip("| ").split(" | ")[1:]]

    assert ROWS[4] == old and DOCUMENT == update_table(damaged, list(EVERY), [ExerciseCounts(name, *counts)])
    assert DOCUMENT == update_table(DOCUMENT.replace(old + "\n", ""), list(EVERY), [ExerciseCounts(name, *counts)])
    assert DOCUMENT == update_table(
        DOCUMENT.replace(ROWS[3], f"{ROWS[3]}\n{ROWS[3].replace('`', '`gone_', 1)}"), list(EVERY), []
    )


def test_where_there_is_no_document_it_is_the_table() -> None:
    """Without a document, the result is only the table."""
    told = update_table("", ["one", "two"], [ExerciseCounts("one", 1, 2, 2, 0, 0, 0, 0, 2)]).splitlines()

    assert ["| `one` | 1 | 2 | 2 | 0 | 0 | 0 | 0 | 2 |", "| all | 1 | 2 | 2 | 0 | 0 | 0 | 0 | 2 |"] == told[2:]


def test_mutants_are_told_what_no_pattern_denies() -> None:
    """Each mutant is counted once, and one that gets a known mistake's message is listed."""
    heard = list(judge_mutants(ROOT / "course", "ch02a_gradients", "grad_by_hand"))
    head, *listed = mutant_report_lines("grad_by_hand", heard)

    assert {each.kind for each in heard} <= set(KINDS) - {"denied"}
    assert head.startswith(f"grad_by_hand: {len(heard)} mutants; ")
    assert any("by-z-the-product, to `x + y -> x * y`" in line and line.endswith(SOLUTION) for line in listed)
