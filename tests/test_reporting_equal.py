"""Similar answers: the structure of an answer, the parts that do not count, and the pairs that are reported."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.course.answer_bank import load_bank
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.grading.class_text_table import StudentRow
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.reports import answer_syntax_structures, report_side_files
from autograder.reports import course_page_sections as course_sections
from autograder.reports.class_results import ClassResults
from autograder.reports.example_answers import ExamplePicker
from autograder.reports.similar_answers import (
    FLOOR,
    LONG,
    AnswerStructure,
    ExerciseStructures,
    answer_structure,
    pairs_expected_by_chance,
    similar_pairs,
)

ONE = '''
import torch.nn.functional as F

def scaled(x: torch.Tensor, dim: int = 0) -> torch.Tensor:
    """Scale."""
    mean = x.mean(dim, keepdim=True)  # along dim
    return F.relu(x - mean)

print(scaled(x))
'''
RENAMED = """
import torch.nn.functional as F
def scaled(data, axis=0):
    middle: object = data.mean(axis, keepdim=True)
    return F.relu(data - middle)
"""


def test_names_talk_and_types_do_not_make_a_form() -> None:
    """Names, docstrings, types and calls below the answer do not change its structure."""
    assert answer_structure(ONE) == answer_structure(RENAMED) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [("mean(", "sum("), ("F.relu", "G.relu"), ("=0", "=1"), ("data - middle", "middle - data"), ("keepdim", "keep")],
)
def test_attributes_and_what_comes_from_elsewhere_do(old: str, new: str) -> None:
    """Attributes, numbers, keywords and order change the structure."""
    assert answer_structure(RENAMED.replace(old, new)) != answer_structure(RENAMED)


def test_methods_keep_their_names() -> None:
    """The names of methods are part of the structure."""
    text = "class A:\n    def {}(self, x):\n        return self.a(x)\n"

    assert answer_structure(text.format("a")) != answer_structure(text.format("b"))


@pytest.mark.parametrize("text", ["def f(:", "x = " + "-" * 5000 + "1", "x = " + "9" * 5000])
def test_what_cannot_be_read_has_no_form(text: str) -> None:
    """A text that cannot be parsed raises nothing."""
    assert answer_structure(text) is None or isinstance(answer_structure(text), AnswerStructure)


def answered(name: str, *groups: int, size: int = 40, nodes: int = FLOOR, shift: int = 0) -> ExerciseStructures:
    """Return an exercise of a class in which groups of these sizes share a structure."""
    forms, student = {}, shift
    for number, group in enumerate([*groups, *[1] * (size - sum(groups))]):
        for _ in range(group):
            forms[f"s{student % size:03}"] = AnswerStructure(f"{name}{number}", nodes)
            student += 1
    return ExerciseStructures("ch", name, size, forms)


def test_two_exercises_make_a_pair() -> None:
    """Students who share structures in two exercises are a pair, weighted by rarity; one exercise does not suffice."""
    (pair,) = similar_pairs([answered("a", 2), answered("b", 2)])

    assert ("s000", "s001") == (pair.first, pair.second) and pair.weight == pytest.approx(2 * math.log(20), abs=1e-5)
    assert not similar_pairs([answered("a", 2)]) and not similar_pairs([answered("a", 2), answered("b", 2, shift=2)])


def test_what_counts_for_nothing() -> None:
    """Short answers, common structures and those of the course do not count."""
    whole = answered("b", 2)
    known = ExerciseStructures("ch", "a", 40, answered("a", 2).forms, frozenset({"a0"}))

    assert not similar_pairs([known, whole]) and not similar_pairs([answered("a", 2, nodes=FLOOR - 1), whole])
    assert not similar_pairs([answered("a", 20), answered("b", 20), answered("c", 20), whole])


def test_one_long_form_of_two_students_alone() -> None:
    """One long structure of exactly two students suffices in a large class."""
    assert len(similar_pairs([answered("a", 2, nodes=LONG)])) == 1
    assert not similar_pairs([answered("a", 3, nodes=LONG)]) and not similar_pairs(
        [answered("a", 2, nodes=LONG, size=8)]
    )


def test_a_small_class_says_little() -> None:
    """In a small class, two exercises do not suffice."""
    assert not similar_pairs([answered(name, 2, size=6) for name in "ab"])


def test_chance() -> None:
    """Students who share all structures stand out from a reproducible random assignment."""
    class_ = [answered(name, 2) for name in "abcd"]

    assert (
        len(similar_pairs(class_)) == 1 and pairs_expected_by_chance(class_) == pairs_expected_by_chance(class_) < 0.3
    )
    assert pairs_expected_by_chance([answered(name, *[5] * 8) for name in "abcdefghij"]) > 10


def test_the_page_names_nobody_and_the_table_does() -> None:
    """The page has only the number of pairs, and the CSV file their names."""
    found = similar_pairs([answered("a", 2), answered("b", 2)])
    page = course_sections.similar_pairs_section(len(found), 0.25)

    assert "1 pair of students has" in page and "about 0.2 pairs" in page and "a hint to look" in page
    assert "s000" not in page and "s000,s001,5.99,ch,a,2,30" in report_side_files.similar_pairs_table(found).decode()
    assert not report_side_files.similar_pairs_table([]) and "No two students" in course_sections.similar_pairs_section(
        0, 0
    )


def test_the_course_s_own_answers_count_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starter, solution and right answers of the bank do not count."""
    course = Path(__file__).parents[1] / "course"
    path = max(
        (course / "answers").glob("*/*.py"), key=lambda each: len(answer_syntax_structures.right_answers_in_bank(each))
    )
    right, exercise, stem = answer_syntax_structures.right_answers_in_bank(path), path.stem, path.parent.name
    report = Report(exercise, (Verdict("works", Status.PASS),))
    judged = SubmissionVerdict(stem, 1, "", (report,), {exercise: 1}, {exercise: 0})
    rows = tuple(StudentRow(name, judged) for name in ("ada", "bob"))
    monkeypatch.setattr(ExamplePicker, "answers", lambda _, student: {exercise: right[0] + f"# {student}"})
    (found,) = answer_syntax_structures.read_answer_structures([ClassResults(course, stem, "", rows)])

    assert (
        len(right) > 1
        and {answer_structure(text) for text in right if answer_structure(text)}
        and found.size == len(found.forms) == 2
    )
    assert {each.text for each in found.forms.values()} <= found.common and len(found.common) > 2


@pytest.mark.night
def test_right_answers_are_read_and_not_run(tmp_path: Path) -> None:
    """The bank's right answers are parsed without running the bank or importing torch."""
    banks = sorted((Path(__file__).parents[1] / "course" / "answers").glob("*/[!_]*.py"))[::5]
    found = {path: [answer.source for answer in load_bank(path) if answer.is_right] for path in banks}

    assert found == {path: answer_syntax_structures.right_answers_in_bank(path) for path in banks}
    assert any(text.startswith("class") for texts in found.values() for text in texts)

    (tmp_path / "no_text.py").write_bytes(b"\xff")
    assert (
        []
        == answer_syntax_structures.right_answers_in_bank(tmp_path / "no_text.py")
        == answer_syntax_structures.right_answers_in_bank(tmp_path / "none.py")
    )
    code = (
        "import sys; from pathlib import Path; from autograder.reports import answer_syntax_structures; "
        f"print(len(answer_syntax_structures.right_answers_in_bank(Path({str(banks[0])!r}))), 'torch' in sys.modules)"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"{len(found[banks[0]])} False\n" == ran.stdout


def test_a_chapter_that_has_changed_stops_no_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A missing exercise, or an unreadable or missing chapter, gives no answers and no error."""
    judged = SubmissionVerdict(
        "ch", 1, "", (Report("gone", (Verdict("works", Status.PASS),)),), {"gone": 1}, {"gone": 0}
    )
    monkeypatch.setattr(ExamplePicker, "answers", lambda *_: {})
    course = Path(__file__).parents[1] / "course"
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "ch01_bad.py").write_text("# %% check=")
    places = [(course, next((course / "chapters").glob("*.py")).stem), (tmp_path, "ch01_bad"), (tmp_path, "own")]

    assert not answer_syntax_structures.read_answer_structures(
        [ClassResults(*place, "", (StudentRow("ada", judged),)) for place in places]
    )
