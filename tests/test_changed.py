"""Bank answers given as a change of another answer behave as if they were written out."""

import inspect
from collections.abc import Mapping
from pathlib import Path

import pytest

from autograder.course.answer_bank import AnswerBank, KnownAnswer, load_bank
from autograder.course.answer_bank_replacements import apply_change, bare
from autograder.course.course_location import bank_file
from autograder.errors import AnswerBankError
from autograder.exercises.probe import snapshot_exception
from tests.sample_course import COURSE, STEM, sample_judge
from tests.small_chapter import STEM as SMALL
from tests.small_chapter import TEXT, make_project

LOOP = """\
def total(rows):
    found = 0
    for row in rows:
        row = row.copy()

        found += sum(row)
    return found
"""
CELL = '''\
class Number:  # a name for it
    """Holds a number."""

    def __init__(self, number):
        """Keep it."""
        self.number = number  # as it is

    # Twice as much.
    def double(self):
        text = "# no comment"
        return Number(2 * self.number)
'''


def bank_of(folder: Path, entries: str, exercise: str = "double") -> AnswerBank:
    """Return the bank with these entries, in the small course."""
    path = bank_file(make_project(folder) / "course", SMALL, exercise)
    path.parent.mkdir(parents=True)
    head = f'from autograder.course.answer_bank import AnswerBank\n\nbank = AnswerBank("{exercise}")\n\n\n'
    path.write_text(head + entries, encoding="utf-8")
    return load_bank(path)


SQUARES = 'bank.wrong("squares", "You square.", unless="sum", slip=True, change={"math.fsum([x, x])": "x**2"})\n'
OTHER = '@bank.right("sum")\ndef double(x):\n    return sum([x, x])  # right\n'


class TestChanges:
    def test_what_it_is_a_change_of(self) -> None:
        """Changes apply to the solution without its comments and docstrings."""
        assert (
            "class Number:\n    def __init__(self, number):\n        self.number = number\n\n    def double(self):\n"
            '        text = "# no comment"\n        return Number(2 * self.number)\n'
        ) == bare(CELL)

    @pytest.mark.parametrize(
        ("change", "made"),
        [
            ({"sum(row)": "max(row)"}, LOOP.replace("sum", "max")),
            ({"row = row.copy()": ""}, LOOP.replace("        row = row.copy()\n", "")),
            ({".copy()": ""}, LOOP.replace(".copy()", "")),
            (
                {"found =": "rows = list(rows)\nfound ="},
                LOOP.replace("    found =", "    rows = list(rows)\n    found ="),
            ),
            (
                {"row = row.copy()\n\nfound += sum(row)": "if row:\n    found += sum(row)"},
                LOOP.replace("        row = row.copy()\n\n        f", "        if row:\n            f"),
            ),
            (
                {"return found": "return 0", "found = 0": "found = 1"},
                LOOP.replace("n found", "n 0").replace("= 0", "= 1"),
            ),
        ],
    )
    def test_a_change(self, change: Mapping[str, str], made: str) -> None:
        """A change replaces part of a line, or whole lines with the right indentation, or deletes a line."""
        assert made == apply_change(LOOP, change)

    @pytest.mark.parametrize(
        ("change", "told"),
        [
            ({"count": ""}, "'count' stands nowhere in it"),
            ({"row": "x"}, "'row' stands 6 times in it"),
            ({"": "x"}, "stands .* times in it"),
            ({"for row in rows:\n    found": ""}, "stands nowhere"),
            ({"sum(row)": "1", "found += sum": "found -= sum"}, "two of its strings share a piece of it"),
        ],
    )
    def test_what_does_not_fit(self, change: Mapping[str, str], told: str) -> None:
        """A string that occurs more than once, or not at all, raises AnswerBankError."""
        with pytest.raises(AnswerBankError, match=told):
            apply_change(LOOP, change)


class TestBank:
    def test_it_is_as_written_out(self, tmp_path: Path) -> None:
        """A changed answer has the same text, function, options, source and error lines as a written one."""
        text = "def double(x):\n    twice_of_it = x**2\n    return twice_of_it\n"
        (known,) = bank_of(tmp_path, SQUARES)

        assert known == KnownAnswer("double", "squares", "You square.", known.function, text, unless="sum", slip=True)
        assert known.function(3) == 9 and text == inspect.getsource(known.function)
        assert known.function.__module__ == "answers_to_double"
        with pytest.raises(TypeError) as caught:
            known.function(None)
        assert "twice_of_it = x**2" == snapshot_exception(caught.value).line

    def test_names_mean_what_they_mean_below_the_setup_cell(self, tmp_path: Path) -> None:
        """A changed answer uses the names of the chapter's setup cell without importing them."""
        entry = 'bank.told("seven", "returned", also=("a",), change={"fsum([x, x])": "floor(7 * x)"})\n'
        (known,) = bank_of(tmp_path, entry)

        assert known.function(1) == 7 and (known.sentence, known.facet, known.also) == ("", "returned", ("a",))
        assert known.means_same_below({"math": __import__("math")}) and not known.means_same_below({})

    def test_of_a_right_answer(self, tmp_path: Path) -> None:
        """A change can apply to a right answer anywhere in the bank, and the order of answers stays."""
        one, other = bank_of(
            tmp_path, 'bank.wrong("one", "You leave one out.", of="sum", change={"x, x": "x"})\n' + OTHER
        )

        assert ("one", "sum") == (one.tag, other.tag) and one.function(3) == 3
        assert "def double(x):\n    return sum([x])\n" == one.source

    @pytest.mark.parametrize(
        ("entry", "told"),
        [
            (
                'bank.wrong(\n    "no", "S.", change={"cos": ""})',
                "7: the answer 'no' to 'double' changes the worked sol.*'cos'",
            ),
            (
                'bank.wrong("no", "S.", of="sun", change={"x": "y"})',
                "6: .* changes the right answer 'sun': there is no such",
            ),
            ('bank.wrong("no", "S.", change={"math": "("})', "6: .*'no'.* cannot be run \\(SyntaxError"),
            ('bank.wrong("no", "S.", change={"double": "twice"})', "6: .*'no'.* cannot be run \\(KeyError: 'double'"),
            (
                f'@bank.wrong("no", "S.", change={{"x, x": "x"}})\n{OTHER.split(chr(10), 1)[1]}',
                "6: .* a function and a change",
            ),
            (SQUARES + SQUARES, "7: .* twice"),
        ],
    )
    def test_what_is_refused(self, tmp_path: Path, entry: str, told: str) -> None:
        """An impossible change raises an error with file, line, exercise, tag and reason."""
        with pytest.raises(AnswerBankError, match=rf"(?s)answers/{SMALL}/double\.py:{told}"):
            bank_of(tmp_path, entry)

    def test_a_solution_that_is_written_anew_is_told_by_all_that_lean_on_it(self, tmp_path: Path) -> None:
        """After the solution changes, the error has a line for each answer that no longer fits."""
        bank_of(tmp_path, SQUARES + 'bank.wrong("thrice", "You triple.", change={"[x, x]": "[x, x, x]"})\n' + OTHER)
        chapter = tmp_path / "course" / "chapters" / f"{SMALL}.py"
        chapter.write_text(TEXT.replace("math.fsum([x, x])", "x + x"), encoding="utf-8")

        with pytest.raises(AnswerBankError) as caught:
            load_bank(bank_file(tmp_path / "course", SMALL, "double"))

        assert ["squares", "thrice"] == [line.split("'")[1] for line in str(caught.value).splitlines()]


def test_a_class_is_itself() -> None:
    """Methods of a changed class that create instances create instances of the changed class."""
    bank = AnswerBank("Number")
    for tag, factor in (("three", "3"), ("four", "4")):
        bank.wrong(tag, f"You take it times {factor}.", change={"2 *": f"{factor} *"})

    assert [] == list(bank.make_changed(CELL, ""))
    assert [3, 4] == [each.function(1).double().number for each in bank]
    assert [9, 16] == [each.function(1).double().double().number for each in bank]


def test_the_sample_s_are_judged_as_any_other() -> None:
    """The sample's changed answers are in the shipped keys, and one changes a right answer."""
    judge = sample_judge()
    known = [each for bank in judge.banks.values() for each in bank if each.tag in bank.changes]
    mistakes = {mistake.tag for name in judge.names for mistake in COURSE.keys(STEM)[name].mistakes}

    assert len(known) > 5 and {each.tag for each in known} <= mistakes
    assert {"", "max-values"} == {judge.banks[each.exercise].changes[each.tag][1] for each in known}
    assert all(each.source == inspect.getsource(each.function) for each in known)
