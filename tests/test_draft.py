"""Anonymous answers of students, and drafts of bank entries made from them."""

from __future__ import annotations

import ast
import re

import pytest

from autograder.authoring import draft_answer_bank_entry
from autograder.authoring.draft_answer_bank_entry import CannotDraftEntry
from autograder.course.course_location import bank_file
from autograder.submission.anonymize_answer import remove_author_from_answer
from tests.sample_course import COURSE, STEM


class TestAnonymous:
    """Removing an author's traces from an answer."""

    def test_comments_docstrings_and_layout(self) -> None:
        """Comments, docstrings and layout are removed."""
        source = (
            '# by Ada Lovelace, group 4\ndef double(x):\n    """Ada\'s."""\n    y  =  2 * x  # mine\n\n    return y\n'
        )

        assert remove_author_from_answer(source) == "def double(x):\n    y = 2 * x\n    return y\n"

    def test_a_function_that_is_all_docstring_stays_one(self) -> None:
        """A function with only a docstring gets `pass`, so that the text stays valid."""
        assert remove_author_from_answer('def double(x):\n    """Nothing yet."""\n') == "def double(x):\n    pass\n"

    def test_names_of_the_author(self) -> None:
        """The author's names are replaced in strings and identifiers, but not within other words or if short."""
        source = "def ada_double(x):\n    print('ADA Lovelace', 'adapter', 'of')\n    return x\n"
        told = remove_author_from_answer(source, ["ada.lovelace", "Ada", "of"])

        assert told == "def student_double(x):\n    print('student student', 'adapter', 'of')\n    return x\n"

    @pytest.mark.parametrize("name", ["Min Kim", "Max", "Sum", "Dim", "Torch", "Eps", "Ones", "Scale Up"])
    def test_code_that_only_looks_like_the_author_stays(self, name: str) -> None:
        """Names that the answer does not bind, or that the course gives, stay as written, whoever the author is."""
        source = (
            "import torch\nfrom torch import ones\n\n"
            "def scale(x, dim, eps):\n"
            "    low = min(x.min(), 0) + sum([1]) + ones(3).sum(dim)\n"
            "    y = x.max(dim).values.clamp(min=1, max=2 * eps)\n"
            "    return loss(x, y, reduction='sum', torch=low) + getattr(x, 'max')\n"
        )

        assert remove_author_from_answer(source, [name], {"scale", "dim", "eps"}) == source
        assert draft_answer_bank_entry.anonymous_answer("scale", source, [name], {"dim", "eps"}).count("dim") == 3
        assert (
            remove_author_from_answer(f"{source}(", [name], {"scale", "dim", "eps"}) == f"{source}(\n"
        )  # without a tree

    def test_what_the_author_named_stays_one_thing(self) -> None:
        """A name that the answer binds is replaced wherever it is read; two of them, or one that is there, stay two."""
        source = (
            "import math as ada\nkim = student = 3\n\n"
            "def ada_kim(x, *, kim=1, **ada_s):\n"
            "    global student\n    kim_ada = kim ** ada.pi\n"
            "    try:\n        return ada_kim(x, kim=kim_ada)\n    except ValueError as Kim:\n"
            "        return [Kim for ada in ada_s]\n"
        )
        told = remove_author_from_answer(source, ["Ada Kim"])
        bare = ast.unparse(ast.parse(source))

        assert not re.search("ada|kim", told, re.IGNORECASE)
        assert _shape(told) == _shape(bare) and "global student\n" in told and "student_student(x, student_" in told

    def test_names_that_others_read_stay(self) -> None:
        """Attributes, methods and keywords of others' functions stay, since code outside of the answer reads them."""
        source = (
            "class Net(Base):\n    ada = 1\n\n    def ada_step(self, kim):\n        self.kim = partial(f, kim=kim)\n"
        )

        assert remove_author_from_answer(source, ["Ada Kim"]) == source

    def test_names_in_texts(self) -> None:
        """In an f-string the author's names are replaced, but not in the form of a number."""
        assert remove_author_from_answer("print(f'Ada: {x:ada}', 'max', 'Max')\n", ["Ada Max"]) == (
            "print(f'student: {x:ada}', 'max', 'student')\n"
        )

    def test_a_number_too_long_to_be_written_as_usual(self) -> None:
        """A very long number keeps its hexadecimal form."""
        source = f'# Ada\ndef double(x):\n    """Ada."""\n    return 0x{"f" * 6000} * x\n'
        told = f"def double(x):\n    return 0x{'f' * 6000} * x\n"

        assert told == remove_author_from_answer(source)
        assert told == draft_answer_bank_entry.anonymous_answer("double", source)

    @pytest.mark.parametrize("source", ["%timeit f(x)  # Ada\n# Ada\n", "def f(x:  # Ada\n# Ada\n", "x = '\n# Ada\n"])
    def test_what_is_no_python_loses_its_comments(self, source: str) -> None:
        """In a text that is no Python, whole-line comments are removed."""
        assert "# Ada\n" not in remove_author_from_answer(source).replace("x)  # Ada\n", "").replace("x:  # Ada\n", "")


def _shape(source: str) -> list[int]:
    """Return, for each name of a source, where the same name stood first."""
    words = re.findall(r"\w+", source)
    return [words.index(word) for word in words]


class TestDraft:
    """Drafts of bank entries, which are self-contained."""

    def test_helpers_and_imports_move_inside(self) -> None:
        """Helpers and imports move into the answer, except imports that every bank has."""
        source = "import torch\nimport itertools\n\ndef add(a, b):\n    return a + b\n"
        alone = draft_answer_bank_entry.anonymous_answer("double", source + "def double(x):\n    return add(x, x)\n")

        assert (
            "def double(x):\n    import itertools\n\n    def add(a, b):\n        return a + b\n    return add(x, x)\n"
            == alone
        )

    def test_the_last_definition_counts(self) -> None:
        """Of several definitions, the last one is used."""
        assert (
            draft_answer_bank_entry.anonymous_answer("f", "def f():\n    return 1\n\ndef f():\n    return 2\n").count(
                "return 2"
            )
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
        """An answer that cannot become an entry raises CannotDraftEntry with the reason."""
        with pytest.raises(CannotDraftEntry, match=told):
            draft_answer_bank_entry.anonymous_answer("double", source)

    def test_place_is_after_the_last_answer(self) -> None:
        """A draft is inserted after the last answer of the bank."""
        bank = bank_file(COURSE.folder, STEM, "standardize")
        line = draft_answer_bank_entry.insertion_line(bank)
        lines = bank.read_text(encoding="utf-8").splitlines()

        assert not any("def standardize" in text for text in lines[line:])
        assert any("def standardize" in text for text in lines[line - 20 : line])
