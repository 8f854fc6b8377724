"""The example class's report on the site is reproducible, and contains invented students only."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from autograder.authoring import example_class
from autograder.authoring.build_course import build
from autograder.authoring.site.example_report import example_class_report, invented_student_ids
from autograder.errors import CourseNotFound, WorkFailed
from autograder.grading import grading_executors
from autograder.grading.verdict_store import SEED_VARIABLE
from tests.second_course import CHAPTER, EXERCISE, SENTENCE, make_second_course

pytestmark = [pytest.mark.xdist_group("class-report"), pytest.mark.night]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course of one exercise, built."""
    made = make_second_course(tmp_path_factory.mktemp("reported"))
    build(made)
    return made


@pytest.fixture(scope="module")
def folder(project: Path) -> Path:
    """Return the folder that keeps its report."""
    return project / "build" / "kept"


@pytest.fixture(scope="module")
def told(project: Path, folder: Path) -> str:
    """Return the report as part of a page."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv(SEED_VARIABLE, "1")
        monkeypatch.setattr(grading_executors, "usable_cores", lambda: 1)  # one worker, since the tests run in parallel
        return example_class_report(project, CHAPTER, folder)


def test_ids_are_names_and_all_different() -> None:
    """Student ids are distinct names, and the first ones do not depend on their number."""
    found = invented_student_ids(130)

    assert 130 == len(set(found)) and found[:2] == invented_student_ids(2)
    assert all(re.fullmatch(r"[a-z]+\d?", name) for name in found)


def test_the_report_is_a_part_of_a_page(told: str) -> None:
    """The report has headings, each followed by one block of HTML with the newlines of code kept."""
    headings = [line for line in told.split("\n") if line.startswith("## ")]
    blocks = [each for each in told.split("\n\n") if each.startswith("<div")]

    assert "## What the class misunderstood" in headings and 6 == len(headings) == len(blocks)
    assert all("\n" not in block and block.endswith("</div>") for block in blocks)
    assert SENTENCE in told and f"def {EXERCISE}(row):&#10;" in told and "data:image/png;base64," in told


def test_its_students_have_ids_and_no_place_on_this_machine(told: str, project: Path) -> None:
    """The report names no test students and no path of this machine."""
    assert not re.search(r"broken-json|endless-loop|wrong-\d\d|stripped-metadata", told)
    assert str(project) not in told and str(project.resolve()) not in told
    assert "<td>" in told and re.search(r"\b(ada|ravi|mei|tom|zoe|omar|lena|kofi)\b", told)


def test_it_is_made_once(told: str, project: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The report is kept until its chapter changes, and the graded class is deleted."""
    monkeypatch.delattr("autograder.authoring.example_class.run_example_class")

    assert told == example_class_report(project, CHAPTER, folder) and not (folder / "class").exists()
    chapter = next(project.glob(f"*/chapters/{CHAPTER}.py"))
    before = chapter.read_bytes()
    chapter.write_bytes(before + b"\n# Another word.\n")
    with pytest.raises(AttributeError):
        example_class_report(project, CHAPTER, folder)
    chapter.write_bytes(before)


def test_a_class_that_could_not_be_graded_is_no_report(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A class that could not be graded raises WorkFailed, so that no empty report is published."""
    made = example_class.ExampleClass(tmp_path, CHAPTER, (), {"ada": "the engine has changed since"})
    monkeypatch.setattr(example_class, "run_example_class", lambda *_, **__: made)

    with pytest.raises(WorkFailed, match=r"could not be graded; ada: the engine has changed since"):
        example_class_report(project, CHAPTER, tmp_path)
    assert not list(tmp_path.glob("*.ipynb"))


def test_the_same_report_again(told: str, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run with the same seed makes the same report."""
    monkeypatch.setenv(SEED_VARIABLE, "1")

    assert told == example_class_report(project, CHAPTER, tmp_path)


def test_outside_a_course(tmp_path: Path) -> None:
    """Outside a course, the report raises CourseNotFound."""
    with pytest.raises(CourseNotFound):
        example_class_report(tmp_path, CHAPTER, tmp_path / "kept")
