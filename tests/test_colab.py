"""Every chapter on a simulated Colab earns full marks: opened, solved, run, downloaded and handed in."""

import copy
import importlib
import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import nbformat
import pytest
from nbgrader.api import Gradebook
from packaging.requirements import Requirement

from autograder.authoring.example_class import ExampleClass
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.workspace.embed_package_in_notebook import embed_package
from tests.colab import runtime
from tests.colab.notebook import Notebook, colab_copy, copied_name
from tests.conftest import UNCONFINED
from tests.graded import ONE, graded_class, of_class
from tests.our_course import COURSE
from tests.small_chapter import PROJECT
from tests.wheel import PACKAGES, build_wheel

FIRST = PROJECT / "notebooks" / "ch01a_tensors.ipynb"
WHERE = """\
import sys, IPython, numpy, traitlets, autograder, course, explorers
for package in (autograder, course, explorers): print("package", package.__file__)
print("versions", IPython.__version__, numpy.__version__, traitlets.__version__)
print("widgets", sys.modules["google.colab.output"]._widgets._installed_url)
"""
SETTINGS = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel and nothing else."""
    folder = tmp_path_factory.mktemp("library")
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"), "answers")  # test_leaks: it has no answers anyway
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*pip, str(wheel)], check=True)
    return folder


def printed(notebook: Notebook) -> str:
    """Return the printed output of a notebook."""
    return "".join(
        output.text for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "stream"
    )


def solved(graded: ExampleClass) -> Notebook:
    """Return a student's notebook with right answers of the bank."""
    student = next(each for each in graded.students if each.name == "right-01")
    return nbformat.reads(student.data.decode(), as_version=4)


def with_accidents(notebook: Notebook) -> Notebook:
    """Return a copy in which cells lost their metadata, one was copied, and a check was deleted."""
    solutions = [cell.metadata.nbgrader.grade_id for cell in notebook.cells if is_solution(cell)]
    return colab_copy(notebook, lost=solutions[:2], copied=solutions[2:3], deleted=[f"check_{solutions[-1]}"])


def is_solution(cell: Notebook) -> bool:
    """Return whether nbgrader's metadata marks the cell as an answer cell."""
    return bool(cell.metadata.get("nbgrader", {}).get("solution"))


DOWNLOADS: dict[str, Callable[[Notebook], Notebook]] = {
    "format-4.0": colab_copy,
    "own-format": lambda notebook: colab_copy(notebook, keeps_format=True),
    "accidents": with_accidents,
}


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
@pytest.mark.parametrize("stem", [of_class(stem) for stem in COURSE.stems])
def test_chapter_done_on_colab_earns_everything(
    stem: str, tmp_path: Path, library: Path, request: pytest.FixtureRequest
) -> None:
    """A notebook with right answers earns every point after each kind of download from Colab."""
    graded = graded_class(stem, request)
    answers = solved(graded)
    opened = colab_copy(answers, keeps_format=True)
    opened.cells.append(nbformat.v4.new_code_cell(WHERE))
    (tmp_path / "colab").mkdir()
    done = runtime.run(opened, tmp_path / "colab", library)

    for package in PACKAGES:
        assert f"package {library / package / '__init__.py'}" in printed(done)
    assert "versions 7.34.0 2.0.2 5.7.1" in printed(done)
    assert "widgets https" in printed(done)  # a review or a hunt shows a widget, which has Colab's custom ones enabled

    run = nbformat.from_dict(json.loads(json.dumps(done)) | {"cells": done.cells[1:-1]})  # without badge and WHERE
    course = Path(shutil.copytree(graded.course, tmp_path / "course"))
    downloads = DOWNLOADS | {
        "packed": lambda notebook: colab_copy(embed_package(copy.deepcopy(notebook), COURSE.folder, stem))
    }
    for student, saved in downloads.items():
        folder = course / "submitted" / student / stem
        folder.mkdir(parents=True)
        (folder / copied_name(stem)).write_text(json.dumps(saved(run)), encoding="utf-8")

    assert {} == NbgraderCycle(course, stem).autograde(
        list(downloads), how=GradingOptions(workers=ONE, unconfined=UNCONFINED)
    )
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}", "pytorch_basics") as gradebook:
        most = gradebook.find_submission(stem, "perfect")
        full = (most.score, most.max_score)
        scores = {student: gradebook.find_submission(stem, student).score for student in downloads}
    assert dict.fromkeys(downloads, full[0]) == scores
    assert full[0] >= full[1] > 0


def test_install_replaces_nothing_on_colab() -> None:
    """Every requirement accepts Colab's preinstalled version, so that pip replaces none."""
    for line in SETTINGS["project"]["dependencies"]:
        needed = Requirement(line)

        assert needed.specifier.contains(runtime.PREINSTALLED[needed.name]), line


def test_every_habit_has_a_source_and_is_imitated() -> None:
    """Each of Colab's habits has a source, and a function in `tests.colab` that simulates it."""
    for habit in runtime.HABITS["habits"]:
        module, name = habit["imitated_by"].split(".")

        assert habit["source"].startswith("https://")
        assert hasattr(importlib.import_module(f"tests.colab.{module}"), name), habit["habit"]


class TestCopy:
    @pytest.fixture
    def notebook(self) -> Notebook:
        """Return a student's notebook as handed out."""
        return nbformat.read(FIRST, as_version=4)

    @staticmethod
    def grade_ids(notebook: Notebook) -> list[str]:
        """Return the remaining grade ids in order."""
        return [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]

    def test_form(self, notebook: Notebook) -> None:
        """The copy is valid in format 4.0, without cell ids and without the kernel's language."""
        copy = colab_copy(notebook)
        nbformat.validate(copy)

        assert (4, 0) == (copy.nbformat, copy.nbformat_minor)
        assert not any("id" in cell for cell in copy.cells)
        assert "language" not in copy.metadata.kernelspec

    def test_own_format(self, notebook: Notebook) -> None:
        """A copy in the notebook's own format is valid with ids, even if a cell is duplicated."""
        first = self.grade_ids(notebook)[0]
        copy = colab_copy(notebook, keeps_format=True, copied=[first])
        nbformat.validate(copy)

        assert notebook.nbformat_minor == copy.nbformat_minor >= 5
        assert {cell.id for cell in notebook.cells} < {cell.id for cell in copy.cells}
        assert 2 == self.grade_ids(copy).count(first)

    def test_content(self, notebook: Notebook) -> None:
        """The copy has the same sources and grade ids, and the original does not change."""
        before = json.dumps(notebook)
        copy = colab_copy(notebook)
        nbformat.v4.rwbase.rejoin_lines(copy)

        assert [cell.source for cell in notebook.cells] == [cell.source for cell in copy.cells[1:]]
        assert self.grade_ids(notebook) == self.grade_ids(copy)
        assert before == json.dumps(notebook)

    def test_accidents(self, notebook: Notebook) -> None:
        """The copy loses metadata, duplicates and deletes cells as requested."""
        ids = self.grade_ids(notebook)
        copy = colab_copy(notebook, lost=[ids[1]], copied=[ids[2]], deleted=[ids[3]])

        assert [ids[0], ids[2], ids[2], *ids[4:]] == self.grade_ids(copy)
        assert len(copy.cells) == len(notebook.cells) + 1

    def test_outputs(self, notebook: Notebook) -> None:
        """The copy keeps outputs, with Colab's metadata."""
        cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
        cell.outputs = [nbformat.v4.new_output("stream", text="hello")]
        saved = next(each for each in colab_copy(notebook).cells if each.get("outputs"))

        assert saved.outputs[0].text == "hello"
        assert {"outputId", "colab", "executionInfo", "id"} <= set(saved.metadata)
