"""`autograder measure`: two parallel forms, and their scores without names."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import pytest

from autograder.__main__ import main
from autograder.course.course import course_in
from autograder.course.course_location import chapter_id
from autograder.errors import ExerciseError
from autograder.questions.computed_question import run_and_describe
from autograder.reports.parallel_test_forms import (
    FORM_NAMES,
    ParallelTestForms,
    draw_parallel_test_forms,
    read_parallel_test_forms,
)
from tests.small_chapter import PROJECT

SIGNS = ("rabbit", "Owl", "fox")


def measure(capsys: pytest.CaptureFixture[str], folder: Path, action: str, *options: str) -> tuple[int, str]:
    """Run the command, and return its status and what it printed."""
    status = main(["--root", str(PROJECT), "measure", action, "--folder", str(folder), *options])
    told = capsys.readouterr()
    return status, told.out + told.err


@pytest.fixture(scope="module")
def forms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with both forms."""
    folder = tmp_path_factory.mktemp("forms")
    assert main(["--root", str(PROJECT), "measure", "write", "--folder", str(folder)]) == 0
    return folder


@pytest.fixture
def folder(forms: Path, tmp_path: Path) -> Path:
    """Return a folder with the key of both forms, and no answers."""
    (tmp_path / "key.json").write_bytes((forms / "key.json").read_bytes())
    return tmp_path


def right(folder: Path, form: str) -> list[str]:
    """Return the right letters of a form."""
    return read_parallel_test_forms(folder).right_letters(form)


def enter(folder: Path, *rows: list[str], separator: str = ",") -> None:
    """Write the table of answers."""
    lines = [["who", "form", *map(str, range(1, 13))], *rows]
    (folder / "answers.csv").write_text("".join(f"{separator.join(line)}\n" for line in lines), encoding="utf-8-sig")


def test_twelve_parallel_questions(forms: Path) -> None:
    """Two of each chapter; both forms differ in numbers alone, and running the program gives the right choice."""
    found = read_parallel_test_forms(forms)
    chapters = [chapter_id(each.about) for each in found.forms["before"]]
    assert chapters == sorted(chapters) and [chapters.count(each) for each in set(chapters)] == [2] * 6

    for one, other in zip(*found.forms.values(), strict=True):
        assert one.kind == other.kind and one.code != other.code
        assert re.sub(r"\d+", "#", one.code + one.prompt) == re.sub(r"\d+", "#", other.code + other.prompt)
        assert [run_and_describe(each.code, each.expression)[0] for each in (one, other)] == [
            one.right_choice,
            other.right_choice,
        ]


@pytest.mark.parametrize("form", FORM_NAMES)
def test_a_page_for_each_form(forms: Path, form: str) -> None:
    """A page shows twelve questions with five choices, and no explanation; it needs no script and no network."""
    page = (forms / f"{form}.html").read_text()

    assert page.count("I do not know") == 12 and page.count("<li") == 12 * 6
    assert f"12 questions, {form} the course" in page
    assert not any(each.explanation.split("`")[-1] in page for each in read_parallel_test_forms(forms).forms[form])
    assert "<script" not in page and "src=" not in page


def test_the_same_forms_again(capsys: pytest.CaptureFixture[str], forms: Path, tmp_path: Path) -> None:
    """Forms that may be handed out are not overwritten; the same seed gives the same, another one others."""
    before = (forms / "key.json").read_bytes()
    status, told = measure(capsys, forms, "write")
    assert status == 1 and "its forms may have been handed out" in told
    assert (forms / "key.json").read_bytes() == before

    assert measure(capsys, tmp_path, "write", "--seed", "7")[0] == 0
    assert (tmp_path / "key.json").read_bytes() != before
    assert draw_parallel_test_forms(course_in(PROJECT / "course"), 7) == read_parallel_test_forms(tmp_path)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_scores(capsys: pytest.CaptureFixture[str], folder: Path, separator: str) -> None:
    """Right letters count, in either case; the table has a number for each person and no word of theirs."""
    first, last = right(folder, "before"), right(folder, "after")
    wrong = ["e"] * 12
    enter(
        folder,
        ["rabbit", "before", *first[:3], *wrong[3:]],
        ["Owl", "before", *wrong[:11]],
        ["RABBIT", "After", *map(str.upper, last)],
        ["owl", "after", *last[:6], *[""] * 6],
        ["fox", "after", *wrong],
        separator=separator,
    )
    status, told = measure(capsys, folder, "score")
    rows = list(csv.DictReader((folder / "measure.csv").read_text().splitlines()))

    assert status == 0 and "2 handed in before the course\n3 handed in after the course" in told
    assert "2 handed in both: 1.5 of 12 right before, 9.0 after" in told
    assert re.search(r" 1 write_after_reshape +50% 100%", told) and re.search(r"12 cell_of_confusion +0%  50%", told)
    assert sorted((row["before"], row["after"]) for row in rows) == [("", "0"), ("0", "6"), ("3", "12")]
    assert sorted(row["person"] for row in rows) == ["1", "2", "3"]
    paired = next(row for row in rows if row["after"] == "6")
    assert [paired[f"after {number}"] for number in range(1, 13)] == ["1"] * 6 + ["0"] * 6
    assert not any(sign.casefold() in (folder / "measure.csv").read_text().casefold() for sign in SIGNS)


BAD: dict[str, tuple[list[list[str]], str]] = {
    "no answers": ([], "has no answers"),
    "another form": (
        [["owl", "middle", "a"]],
        "line 2: expected a word and one of before and after, found 'owl' and 'middle'",
    ),
    "no word": ([["", "before", "a"]], "line 2: expected a word"),
    "another letter": (
        [["owl", "before", "a", "f"]],
        "line 2, question 2: expected a letter of abcde, or nothing, found 'f'",
    ),
    "too many": ([["owl", "after", *"abcdabcdabcda"]], "line 2: expected 12 letters, found 13"),
    "twice": ([["owl", "after", "a"], ["OWL", "after", "b"]], "line 3: 'owl' has handed in the form 'after' twice"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_table_that_cannot_be_read(capsys: pytest.CaptureFixture[str], folder: Path, name: str) -> None:
    """What is wrong is named with its line, and no table is written."""
    rows, told = BAD[name]
    enter(folder, *rows)
    status, printed = measure(capsys, folder, "score")

    assert status == 1 and told in printed and printed.count("\n") == 1
    assert not (folder / "measure.csv").exists()


def test_files_that_are_missing(capsys: pytest.CaptureFixture[str], tmp_path: Path, folder: Path) -> None:
    """Without forms, or without answers, the next step is named; a damaged key is said."""
    assert "Name the table with --answers" in measure(capsys, folder, "score")[1]
    (folder / "key.json").write_text(json.dumps({"before": []}))
    assert "take it from a backup" in measure(capsys, folder, "score")[1]
    (folder / "key.json").unlink()
    assert "Run `autograder measure write` first" in measure(capsys, folder, "score")[1]


@pytest.mark.parametrize(
    ("text", "told"), [(None, "found none"), ("# only\n", "found none"), ("x\n", "no generator called x")]
)
def test_a_course_that_names_no_questions(tmp_path: Path, text: str | None, told: str) -> None:
    """Which file is expected, with what in it."""
    (tmp_path / "review_questions").mkdir()
    if text is not None:
        (tmp_path / "review_questions" / "measure.txt").write_text(text)

    with pytest.raises(ExerciseError, match=f"measure.txt: expected names of question generators.*{told}"):
        draw_parallel_test_forms(course_in(tmp_path), 1)


def test_nobody_in_both(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """If no word is on two sheets there is nothing to compare, and the table is written all the same."""
    enter(folder, ["owl", "before", "a"], ["fox", "after", "a"])
    status, told = measure(capsys, folder, "score")

    assert status == 0 and "nothing to compare" in told and (folder / "measure.csv").is_file()
    assert isinstance(read_parallel_test_forms(folder), ParallelTestForms)
