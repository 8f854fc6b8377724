"""`oral`: a page with questions about a student's own answers, whose code runs in the sandbox and is never believed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from html import unescape
from pathlib import Path
from typing import Any

import nbformat
import pytest
import torch

from autograder.__main__ import main
from autograder.authoring.example_class import copy_files_for_grading
from autograder.grading.assignment import read_assignment, release_path
from autograder.grading.class_grading import grade_class
from autograder.questions.choose_oral_questions import choose_oral_exam_questions
from autograder.questions.question import Question
from autograder.questions.student_program_runs import NoQuestions
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.questions_about_answer import read_questions_from_observations
from tests.conftest import UNCONFINED, needs_confinement
from tests.graded import ONE
from tests.made_submissions import handed_in, released
from tests.sample_course import STEM, sample_judge
from tests.small_chapter import SAMPLE

pytestmark = pytest.mark.xdist_group("oral")  # one process, which grades the class once

NAME = "standardize"
RIGHT = sample_judge().chapter.solution(NAME)
WRONG = "def standardize(x, dim, eps):\n    return x\n"
EVIL = "<script>alert('x')</script>"
SHOUTED = f'''
def standardize(x, dim, eps, note="{EVIL}"):
    """{EVIL}"""
    told = note + "<b>"
    return (x - x.mean(dim, keepdim=True)) / (x.var(dim, correction=0, keepdim=True) + eps).sqrt()
'''
FORGED = f'''
import sys

PLACE = "PATH"

def forged(*_):
    try:
        open(PLACE, "w").write("found")
    except OSError:
        pass
    evil = "{EVIL}"
    return [{{"kind": evil, "prompt": evil, "explanation": evil, "choices": [evil, "<b>"], "right": 0}}]

sys.modules["autograder.sandbox.execution.submission_child"].observe_questions_about_answer = forged
{RIGHT}'''
ENDING = """
import os

def one_hot(labels, k):
    if "__trace__" in globals():
        os._exit(3)
    return (labels[:, None] == torch.arange(k)).float()
"""
CLASS: dict[str, dict[str, str]] = {
    "ada": {name: sample_judge().chapter.solution(name) for name in sample_judge().chapter.exercises},
    "bob": {NAME: SHOUTED},
    "eve": {NAME: FORGED},
    "gus": {"one_hot": ENDING},
    "hal": {NAME: WRONG},
    "lin": {
        NAME: "standardize = lambda x, dim, eps: (x - x.mean(dim, True)) / (x.var(dim, False, True) + eps) ** 0.5\n"
    },
    "mia": {NAME: WRONG},
}


@pytest.fixture(scope="module", autouse=True)
def _one_runner() -> Iterator[None]:
    """Start the runner of the course's answers only once for all tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(
            "autograder.grading.draw_own_code_questions.make_submission_runner", cache(make_submission_runner)
        )
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder with a class that is graded, a damaged file, and somebody who came later."""
    course = tmp_path_factory.mktemp("asked") / "course"
    copy_files_for_grading(SAMPLE, course, STEM)
    release_path(course, STEM).parent.mkdir(parents=True)
    nbformat.write(released(sample_judge()), release_path(course, STEM))
    for student, answers in CLASS.items():
        hand_in(course, student, handed_in(released(sample_judge()), with_place(course, answers)))
    later = nbformat.reads(path_of(course, "hal").read_text(), as_version=4)
    later.cells.append(nbformat.v4.new_code_cell(RIGHT))
    hand_in(course, "hal", nbformat.writes(later).encode())
    hand_in(course, "kim", b'{"cells": [')
    folders = {path.name: path / STEM for path in (course / "submitted").iterdir()}
    list(grade_class(read_assignment(course, STEM, unconfined=UNCONFINED), folders, ONE))
    hand_in(course, "new", path_of(course, "ada").read_bytes())
    (course / "submitted" / "zoe" / "ch02_other").mkdir(parents=True)
    return course


def with_place(course: Path, answers: Mapping[str, str]) -> dict[str, str]:
    """Return the answers with the path of a file that none of them may write."""
    return {name: text.replace("PATH", str(course / "found.txt")) for name, text in answers.items()}


def path_of(course: Path, student: str) -> Path:
    """Return the path of what a student has handed in."""
    return course / "submitted" / student / STEM / f"{STEM}.ipynb"


def hand_in(course: Path, student: str, data: bytes) -> None:
    """Write what a student hands in."""
    path_of(course, student).parent.mkdir(parents=True, exist_ok=True)
    path_of(course, student).write_bytes(data)


@pytest.fixture
def asked(course: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[str, str]]:
    """Return a function that runs the command: it returns what is printed, and the page ("" if there is none)."""

    def run(student: str, stem: str = STEM) -> tuple[str, str]:
        status = main(["--root", str(course), "oral", student, stem])
        told, path = capsys.readouterr(), course / "reports" / "oral" / stem / f"{student}.html"
        assert (status == 0) == path.is_file() == (not told.err)
        return told.out + told.err, path.read_text(encoding="utf-8") if status == 0 else ""

    return run


Asked = Callable[..., tuple[str, str]]


def parts(page: str) -> list[str]:
    """Return the markup of the questions, each with its answer."""
    return re.findall(r"<li><p>.*?</details></li>", page, re.DOTALL)


def words(markup: str) -> str:
    """Return a text without markup."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", markup)).split())


def test_five_questions_of_different_kinds(asked: Asked) -> None:
    """Five answers of worth are asked about, each with four choices, a folded answer, and two questions to ask next."""
    told, page = asked("ada")
    chapter = sample_judge().chapter
    names = re.findall(r"<h2><code>(\w+)</code></h2>", page)

    assert 1 == told.count("\n") and told.startswith("wrote ") and 5 == len(parts(page)) == len(names)
    assert sorted(map(chapter.points, chapter.exercises))[:-6:-1] == [chapter.points(name) for name in names]
    for each in parts(page):
        assert 4 == each.count("<li>") - 1 and 2 == each.count("<strong>Next: </strong>")
        assert re.search(r"<details><summary>Answer, .*?<strong>[a-d]\) </strong>", each)
    assert "<script" not in page


def test_lines_are_those_of_the_code_above(asked: Asked) -> None:
    """An expression in a line that a question names stands once in that line of the student's code."""
    page, found = asked("ada")[1], 0
    for section in re.findall(r'<section class="oral">.*?</section>', page, re.DOTALL):
        code = [unescape(row)[3:] for row in re.findall(r"<pre>(.*?)</pre>", section, re.DOTALL)[0].split("\n")]
        for text, line in re.findall(r"the \w+ of <code>([^<]*)</code> in line (\d+)", section):
            assert 1 == code[int(line) - 1].count(unescape(text))
            found += 1

    assert found > 3


def test_one_answer_gives_five(asked: Asked) -> None:
    """Where one exercise is passed, all are about it; a text of the student that is markup is shown as text."""
    _, page = asked("bob")

    assert 5 == len(parts(page)) and [NAME] == re.findall(r"<h2><code>(\w+)</code></h2>", page)
    assert "<script" not in page and "<b>" not in page and "&lt;script&gt;" in page
    assert 1 == words(page.partition("<ol")[0]).count("alert")  # the default value; the docstring is left out


@needs_confinement
def test_what_an_answer_forges_is_text(asked: Asked, course: Path) -> None:
    """An answer that puts its own questions in place of ours writes no file, and markup in them is shown as text."""
    told, page = asked("eve")

    assert not (course / "found.txt").exists()
    assert "1 of 5 questions: 1 exercise passed." in told and "1 of 5 questions" in page
    assert "<script" not in page and "<b>" not in page and EVIL in words(page)
    assert "sys.modules" in words(page.partition("<section")[0])  # the line that is worth a look comes first


def test_the_answer_that_counts(asked: Asked) -> None:
    """Where the answer below the check is the one that passes, questions are about that one."""
    _, page = asked("hal")

    assert 5 == len(parts(page)) and unescape(re.findall(r"<pre>(.*?)</pre>", page, re.DOTALL)[0]).count("var") > 0


@pytest.mark.parametrize(
    ("student", "stem", "told"),
    [
        ("nobody", STEM, "expected the folder of 'nobody' in .*, found none. `autograder collect"),
        ("../ada", STEM, "expected the folder of '../ada' in .*, found none. Did you mean 'ada'?"),
        ("../submitted/ada", STEM, "expected the folder of '../submitted/ada' in .*, found none."),
        ("ada", "ch01_simple", "expected a chapter .*, found 'ch01_simple'. Did you mean 'ch01_sample'?"),
        ("ada", "..", "expected a chapter .*, found '..'. The course has ch01_sample."),
        ("zoe", STEM, "expected something of 'zoe' for ch01_sample, found ch02_other. Name what is there."),
        ("kim", STEM, "expected a notebook of 'kim' .*, found a file that cannot be read: .* Ask for the .ipynb"),
        ("new", STEM, "expected a verdict on what 'new' has handed in .*, found none. Run `autograder grade"),
        (
            "mia",
            STEM,
            "expected an exercise that 'mia' has passed .*, found none: .* `autograder feedback ch01_sample`",
        ),
        ("lin", STEM, "expected questions .*, found none .*standardize: .* no cell defines it with `def`"),
        ("gus", STEM, "expected questions .*, found none .*one_hot: it stops with ProcessEnded"),
    ],
)
def test_bad_input(asked: Asked, student: str, stem: str, told: str) -> None:
    """It is one line that names what was expected, what was found, and the next step; nothing is written."""
    error, _ = asked(student, stem)

    assert 1 == error.count("\n") and re.match(f"error: {told}", error)


def test_a_newer_file_has_to_be_graded_first(asked: Asked, course: Path) -> None:
    """Where something else was handed in since the grading, nobody knows what of it passes."""
    before = path_of(course, "mia").read_bytes()
    hand_in(course, "mia", path_of(course, "bob").read_bytes())
    told, _ = asked("mia")
    hand_in(course, "mia", before)

    assert "found one on an earlier file. Run `autograder grade ch01_sample` first." in told


SENT: dict[str, Any] = {"kind": "shape", "prompt": "What?", "explanation": "So.", "choices": ["a", "b"], "right": 1}


@pytest.mark.parametrize(
    "sent",
    [
        {},
        {"none": torch.zeros(2)},
        {"none": "x" * 10_000},
        *({**SENT, name: wrong} for name in SENT for wrong in (None, "", 7, [], {}, torch.zeros(2), "x" * 10_000)),
        {**SENT, "choices": ["a", "a"]},
        {**SENT, "choices": ["a", torch.zeros(2)]},
        {**SENT, "choices": list("abcdefg")},
        {**SENT, "right": -1},
        {**SENT, "right": True},
    ],
)
def test_what_is_no_question_is_refused(sent: dict[str, Any]) -> None:
    """What an answer sends in place of a question is refused with our own words."""
    with pytest.raises(NoQuestions, match=r"^what came back is no question$"):
        read_questions_from_observations([sent], "one", "pass")


def test_what_is_sent_cannot_say_what_it_is_about() -> None:
    """The exercise and the code are those that were asked about, and only so many questions are read."""
    found = read_questions_from_observations([{**SENT, "about": "other", "code": "other"}] * 99, "one", "pass")

    assert 15 == len(found) and {("one", "pass", "b")} == {(each.about, each.code, each.right_choice) for each in found}
    with pytest.raises(NoQuestions, match=r"^it is long$"):
        read_questions_from_observations([{"none": "it is long"}], "one", "pass")
    with pytest.raises(NoQuestions):
        read_questions_from_observations([], "one", "pass")


def made(kind: str, about: str, call: str = "f is called.") -> Question:
    """Return a question."""
    return Question(kind, about, f"{call}\nAnd {kind}?" if call else f"And {kind}?", ("1", "2"), 0, "")


def test_each_answer_has_its_turn() -> None:
    """Five are chosen in the order of the answers, and a kind that was asked comes after one that was not."""
    answers = [[made(kind, about) for kind in ("shape", "value", "count")] for about in "abc"]
    talk = choose_oral_exam_questions([*answers, []])

    assert ["a", "a", "b", "b", "c"] == [each.question.about for each in talk]
    assert ["shape", "value", "value", "shape", "count"] == [each.question.kind for each in talk]
    assert [1, 0, 1, 0, 2] == [len(each.following) for each in talk]
    assert [] == choose_oral_exam_questions([]) == choose_oral_exam_questions([[]])


def test_what_is_asked_next() -> None:
    """It is about the same call first, of another kind, and has one right answer without the choices."""
    left = [
        made("runs", "a"),
        made("which_argument", "a"),
        made("dtype", "a", "f is called with 2."),
        made("shape", "a"),
    ]
    answers = [[made("shape", "a"), *left, made("requirement", "a", "")], *([made("value", about)] for about in "bcde")]
    first, *others = choose_oral_exam_questions(answers)

    assert ["requirement", "shape"] == [each.kind for each in first.following]
    assert [()] * 4 == [each.following for each in others]
