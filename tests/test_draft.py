"""Answers without their authors, and drafts of bank entries made from them."""

from __future__ import annotations

import pytest

from autograder.authoring import bank_entry_draft
from autograder.authoring.bank_entry_draft import NoDraft
from autograder.course.course_location import bank_path
from autograder.submission.anonymize import without_author
from tests.sample_course import COURSE, STEM


class TestAnonymous:
    """What must not stay of an author."""

    def test_comments_docstrings_and_layout(self) -> None:
        """Nothing but the code is left."""
        source = (
            '# by Ada Lovelace, group 4\ndef double(x):\n    """Ada\'s."""\n    y  =  2 * x  # mine\n\n    return y\n'
        )

        assert without_author(source) == "def double(x):\n    y = 2 * x\n    return y\n"

    def test_a_function_that_is_all_docstring_stays_one(self) -> None:
        """What is left can be parsed."""
        assert without_author('def double(x):\n    """Nothing yet."""\n') == "def double(x):\n    pass\n"

    def test_names_of_the_author(self) -> None:
        """In strings and in identifiers, in any case; no part of another word, and nothing short."""
        source = "def ada_double(x):\n    print('ADA Lovelace', 'adapter', 'of')\n    return x\n"
        told = without_author(source, ["ada.lovelace", "Ada", "of"])

        assert told == "def student_double(x):\n    print('student student', 'adapter', 'of')\n    return x\n"

    def test_a_number_too_long_to_be_written_as_usual(self) -> None:
        """It stands as it was typed, in sixteens, and nothing else of the author's comes with it."""
        source = f'# Ada\ndef double(x):\n    """Ada."""\n    return 0x{"f" * 6000} * x\n'
        told = f"def double(x):\n    return 0x{'f' * 6000} * x\n"

        assert told == without_author(source)
        assert told == bank_entry_draft.answer_alone("double", source)

    @pytest.mark.parametrize("source", ["%timeit f(x)  # Ada\n# Ada\n", "def f(x:  # Ada\n# Ada\n", "x = '\n# Ada\n"])
    def test_what_is_no_python_loses_its_comments(self, source: str) -> None:
        """Half a bracket and a line of IPython's: whole lines of comment go at least."""
        assert "# Ada\n" not in without_author(source).replace("x)  # Ada\n", "").replace("x:  # Ada\n", "")


class TestDraft:
    """An entry stands alone."""

    def test_helpers_and_imports_move_inside(self) -> None:
        """What the answer needs beside stands in it; torch and math every bank has."""
        source = "import torch\nimport itertools\n\ndef add(a, b):\n    return a + b\n"
        alone = bank_entry_draft.answer_alone("double", source + "def double(x):\n    return add(x, x)\n")

        assert (
            "def double(x):\n    import itertools\n\n    def add(a, b):\n        return a + b\n    return add(x, x)\n"
            == alone
        )

    def test_the_last_definition_counts(self) -> None:
        """As in a notebook."""
        assert (
            bank_entry_draft.answer_alone("f", "def f():\n    return 1\n\ndef f():\n    return 2\n").count("return 2")
            == 1
        )

    @pytest.mark.parametrize(
        ("source", "told"),
        [
            ("double = lambda x: 2 * x\n", "expected `def double` or `class double`"),
            ("def double(x:\n", "is no Python"),
            ("def helper():\n    pass\n\nclass double:\n    x = helper()\n", "an entry stands alone"),
        ],
    )
    def test_what_the_bank_cannot_hold(self, source: str, told: str) -> None:
        """The reason is told."""
        with pytest.raises(NoDraft, match=told):
            bank_entry_draft.answer_alone("double", source)

    def test_place_is_after_the_last_answer(self) -> None:
        """What follows is no answer: the mutants that survive, or nothing."""
        bank = bank_path(COURSE.folder, STEM, "standardize")
        line = bank_entry_draft.line_for_entry(bank)
        lines = bank.read_text(encoding="utf-8").splitlines()

        assert not any("def standardize" in text for text in lines[line:])
        assert any("def standardize" in text for text in lines[line - 20 : line])
