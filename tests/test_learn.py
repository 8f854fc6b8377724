"""`learn`: the checks' results on one answer, and a draft for the bank."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path

import nbformat
import pytest

from autograder.__main__ import main
from autograder.authoring import draft_answer_bank_entry
from autograder.authoring.analyze_student_answer import AnswerAnalysis, draft_entry_from_answer
from autograder.authoring.example_class import copy_files_for_grading
from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.course_location import bank_file
from autograder.errors import WorkFailed
from autograder.grading.assignment import release_path
from autograder.sandbox.execution.choose_runner import make_submission_runner
from tests.conftest import UNCONFINED
from tests.made_submissions import handed_in, released
from tests.sample_course import NOTEBOOK, STEM, sample_judge
from tests.small_chapter import SAMPLE

pytestmark = pytest.mark.xdist_group("learn")  # one process, which makes the course once

NAME = "standardize"
# A wrong answer that the bank does not have: it divides by the square.
STRANGE = """
# by Ada
def spread(x, dim, eps):
    return x.var(dim, correction=0, keepdim=True) + eps

def standardize(x, dim, eps):
    "Ada's own."
    return (x - x.mean(dim, keepdim=True)) / spread(x, dim, eps).square()
"""


@pytest.fixture(scope="module", autouse=True)
def _one_runner() -> Iterator[None]:
    """Start the runner of the course's answers only once for all tests."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(
            "autograder.authoring.analyze_student_answer.make_submission_runner", cache(make_submission_runner)
        )
        yield


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course folder with a released chapter."""
    course = tmp_path_factory.mktemp("learning") / "course"
    copy_files_for_grading(SAMPLE, course, STEM)
    path = release_path(course, STEM)
    path.parent.mkdir(parents=True)
    nbformat.write(released(sample_judge()), path)
    return course


def learned(course: Path, source: str, student: str = "ada") -> AnswerAnalysis:
    """Return the result of `draft_entry_from_answer` on a student's folder with this answer."""
    folder = course / "submitted" / student / STEM
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{STEM}.ipynb").write_bytes(handed_in(released(sample_judge()), {NAME: source}))
    return draft_entry_from_answer(course, folder, NAME, [student], unconfined=UNCONFINED)


@pytest.mark.night
def test_a_new_mistake_becomes_an_entry_that_explains_it(course: Path, tmp_path: Path) -> None:
    """With a tag and a message, the draft at its place makes the judge recognize the mistake."""
    found = learned(course, STRANGE)

    assert "No known mistake explains it" in found.advice and not found.visible.passed
    assert "Ada" not in found.entry and "ada" not in found.entry
    copy = tmp_path / "course"
    shutil.copytree(course, copy)
    bank = bank_file(copy, STEM, NAME)
    lines = bank.read_text(encoding="utf-8").splitlines(keepends=True)
    entry = found.entry.replace(draft_answer_bank_entry.TAG_PLACEHOLDER, "squared-spread").replace(
        draft_answer_bank_entry.SENTENCE_PLACEHOLDER, "You divide by the square."
    )
    bank.write_text("".join([*lines[: found.line], "\n\n", entry, *lines[found.line :]]), encoding="utf-8")
    judge = Judge(copy, STEM)
    (answer,) = [each for each in judge.banks[NAME] if each.tag == "squared-spread"]
    seen = judge.exercises[NAME].observe(answer.function, judge.keys.cases(NAME, VISIBLE_SEED))

    assert ("squared-spread",) == judge.judge(NAME, VISIBLE_SEED, seen, answer.source).mistakes


@pytest.mark.night
def test_a_known_mistake_is_named(course: Path) -> None:
    """For a known mistake, the advice gives its tag."""
    (known,) = [each for each in sample_judge().banks[NAME] if each.tag == "hardcoded-eps"]
    found = learned(course, known.source)

    assert "names 'hardcoded-eps'" in found.advice and found.near[0].tag == "hardcoded-eps"


def test_a_right_answer_is_drafted_as_one(course: Path) -> None:
    """A right answer gets a draft of a right answer."""
    found = learned(course, sample_judge().chapter.solution(NAME))

    assert found.visible.passed and found.entry.startswith("@bank.right(")


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("", "was not attempted"),
        ("import os\ndef standardize(x, dim, eps):\n    os._exit(1)\n", "did not get as far"),
        ("standardize = lambda x, dim, eps: x\n", "expected `def standardize`"),
    ],
)
@pytest.mark.night
def test_what_the_bank_cannot_hold(course: Path, source: str, told: str) -> None:
    """If no draft is possible, the advice says why."""
    found = learned(course, source or sample_judge().chapter.starter(NAME))

    assert found.entry == "" and told in found.advice


def test_an_answer_that_leans_on_other_cells_is_told(course: Path) -> None:
    """The advice says if the answer depends on other cells."""
    leaning = "def standardize(x, dim, eps):\n    return x * describe(x)['bytes']\n"
    folder = course / "submitted" / "leaning" / STEM
    folder.mkdir(parents=True)
    answers = {NAME: leaning, "describe": sample_judge().chapter.solution("describe")}
    (folder / f"{STEM}.ipynb").write_bytes(handed_in(released(sample_judge()), answers))
    found = draft_entry_from_answer(course, folder, NAME, unconfined=UNCONFINED)

    assert "depends on other cells" in found.advice and "describe(x)" in found.entry


def test_the_command_tells_it_all(course: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command prints checks, draft, place and next steps, without the student's name."""
    learned(course, STRANGE)

    assert 0 == main(["--root", str(course), "learn", str(course / "submitted" / "ada" / STEM), NAME])
    told = capsys.readouterr().out
    assert f"A draft for {bank_file(course, STEM, NAME)}, after line" in told
    assert "✗" in told and "make build" in told and "Ada" not in told.split("A draft")[1]


def test_the_command_does_not_speak_to_the_terminal(
    course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control characters of an answer are not printed."""
    evil = replace(
        learned(course, STRANGE), entry="def f():\n    '\x1b]0;mine\x07 \x9b2J \u202e \r'\n", advice="\x1b[2J"
    )
    monkeypatch.setattr("autograder.authoring.analyze_student_answer.draft_entry_from_answer", lambda *_, **__: evil)
    main(["--root", str(course), "learn", str(course / "submitted" / "ada" / STEM), NAME])
    main(["--root", str(course), "learn", "no\x1b[2Jbody", NAME])

    told = "".join(capsys.readouterr())
    assert "def f():\n    '" in told and not set(told) & set("\x1b\x07\x9b\u202e\r")


@pytest.mark.parametrize("name", ["nobody", "broken.ipynb"])
def test_what_cannot_be_read(course: Path, name: str) -> None:
    """A missing file, or one that is no notebook, raises WorkFailed."""
    (course / "broken.ipynb").write_text("{")

    with pytest.raises(WorkFailed, match=r"found no .*nobody|could not be read"):
        draft_entry_from_answer(course, course / name, NAME)


@pytest.mark.night
def test_a_fresh_clone_is_enough(course: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a release, the committed notebook is used."""
    for name in ("chapters", "answers", "exercises", "shipped", "submitted", "nbgrader_config.py"):
        (tmp_path / "course").mkdir(exist_ok=True)
        (tmp_path / "course" / name).symlink_to(course / name)
    committed = tmp_path / "notebooks" / f"{STEM}.ipynb"
    committed.parent.mkdir()
    (tmp_path / "pyproject.toml").write_text('[tool.pytorch-basics]\ncourse = "course"\n')
    shutil.copyfile(NOTEBOOK, committed)
    learned(course, STRANGE)
    command = [
        "--root",
        str(tmp_path),
        "learn",
        str(tmp_path / "course" / "submitted" / "ada" / STEM),
        NAME,
    ]

    assert 0 == main(command) and "No known mistake explains it" in capsys.readouterr().out
    committed.unlink()
    assert 1 == main(command) and "Run `make build`." in capsys.readouterr().err
