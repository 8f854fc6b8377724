"""The table of what the banks know: as the banks are."""

from pathlib import Path

from autograder.authoring.bank import bank_path, load_bank
from autograder.authoring.tally import HEADS, KNOWN, table, tallies
from tests.asked import THOROUGH
from tests.our_course import COURSE

ROOT = Path(__file__).parent.parent
ROWS = [line for line in (ROOT / "docs" / "answers.md").read_text(encoding="utf-8").splitlines() if line[:1] == "|"]
EVERY = {exercise.name: exercise.chapter for exercise in COURSE.every()}


def test_the_table_has_each_exercise_as_its_bank_is() -> None:
    """How many answers there are of each kind; `python -m autograder answers` prints the table anew."""
    found = {name: list(load_bank(bank_path(ROOT / "course", stem, name))) for name, stem in EVERY.items()}
    rows = [[cell.strip(" `") for cell in row.strip("|").split("|")] for row in ROWS[2:-1]]

    assert list(HEADS) == [cell.strip() for cell in ROWS[0].strip("|").split("|")]
    assert sorted(EVERY) == sorted(row[0] for row in rows)
    for row in rows:
        wrong = [answer for answer in found[row[0]] if not answer.is_right]
        facet = sum(bool(answer.facet) for answer in wrong)
        slips = sum(answer.slip for answer in wrong)

        assert [len(found[row[0]]) - len(wrong), len(wrong), len(wrong) - facet, facet, slips] == list(
            map(int, row[1:KNOWN])
        ), row[0]


def test_unknown_answers_are_counted_once() -> None:
    """The three columns of what unknown answers are told add up to the wrong ones."""
    for row in ROWS[2:]:
        cells = [cell.strip() for cell in row.strip("|").split("|")]

        assert int(cells[2]) == sum(map(int, cells[KNOWN:])), row


def test_what_unknown_answers_are_told_is_as_it_says() -> None:
    """One chapter by day, all of them at night."""
    stems = list(dict.fromkeys(EVERY.values()))
    made = table(tallies(ROOT / "course", stems if THOROUGH else stems[:1]))

    assert made[2:-1] == ROWS[2 : len(made) - 1]
