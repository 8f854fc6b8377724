import json
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from tests.colab import Notebook, colab_copy
from tests.small_chapter import PROJECT
from tests.wheel import build_wheel

STUDENT = sorted((PROJECT / "notebooks").glob("ch*.ipynb"))
WHERE = "import autograder, importlib.util\nprint('package', autograder.__file__)"

# Runs a notebook of any minor format from top to bottom, in this folder, and saves it with its outputs.
RUN = """
import sys, nbformat
from nbclient import NotebookClient
notebook = nbformat.read("chapter.ipynb", as_version=nbformat.NO_CONVERT)
NotebookClient(notebook, kernel_name="python3", timeout=120).execute()
nbformat.write(notebook, "run.ipynb")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the built wheel and nothing else."""
    folder = tmp_path_factory.mktemp("library")
    wheel = build_wheel(tmp_path_factory.mktemp("wheel"))
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-index", "--target", str(folder)]
    subprocess.run([*pip, str(wheel)], check=True)
    return folder


def run(notebook: Notebook, folder: Path, library: Path) -> Notebook:
    """Run a notebook in an empty folder, where the package comes from the wheel."""
    (folder / "chapter.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment |= {"PYTHONPATH": str(library), "IPYTHONDIR": str(folder / ".ipython")}
    done = subprocess.run(
        [sys.executable, "-c", RUN], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return nbformat.read(folder / "run.ipynb", as_version=nbformat.NO_CONVERT)


def printed(notebook: Notebook) -> str:
    """All that was printed."""
    return "".join(
        output.text for cell in notebook.cells for output in cell.get("outputs", []) if output.output_type == "stream"
    )


@pytest.mark.parametrize("path", STUDENT, ids=lambda path: path.stem)
def test_student_notebook_runs_on_colab(path: Path, tmp_path: Path, library: Path) -> None:
    """A student's notebook, changed as Colab does, runs from top to bottom with nothing but the wheel."""
    copy = colab_copy(nbformat.read(path, as_version=4))
    probe = {"cell_type": "code", "metadata": {}, "source": WHERE, "outputs": [], "execution_count": None}
    copy.cells.append(nbformat.from_dict(probe))
    done = run(copy, tmp_path, library)

    assert f"package {library / 'autograder' / '__init__.py'}" in printed(done)
    assert "| torch" in printed(done)


class TestCopy:
    @pytest.fixture
    def notebook(self) -> Notebook:
        """A student's notebook, as it was handed out."""
        return nbformat.read(STUDENT[0], as_version=4)

    @staticmethod
    def grade_ids(notebook: Notebook) -> list[str]:
        """The grade ids that are left, in order."""
        return [cell.metadata.nbgrader.grade_id for cell in notebook.cells if "nbgrader" in cell.metadata]

    def test_form(self, notebook: Notebook) -> None:
        """The copy is valid, in format 4.0, without cell ids and without the kernel's language."""
        copy = colab_copy(notebook)
        nbformat.validate(copy)

        assert (4, 0) == (copy.nbformat, copy.nbformat_minor)
        assert not any("id" in cell for cell in copy.cells)
        assert "language" not in copy.metadata.kernelspec

    def test_content(self, notebook: Notebook) -> None:
        """What the cells hold is kept, and the notebook that was copied is not changed."""
        before = json.dumps(notebook)
        copy = colab_copy(notebook)
        nbformat.v4.rwbase.rejoin_lines(copy)

        assert [cell.source for cell in notebook.cells] == [cell.source for cell in copy.cells[1:]]
        assert self.grade_ids(notebook) == self.grade_ids(copy)
        assert before == json.dumps(notebook)

    def test_accidents(self, notebook: Notebook) -> None:
        """Cells lose their metadata, stand twice or are gone, as the test asks."""
        ids = self.grade_ids(notebook)
        copy = colab_copy(notebook, lost=[ids[1]], copied=[ids[2]], deleted=[ids[3]])

        assert [ids[0], ids[2], ids[2], *ids[4:]] == self.grade_ids(copy)
        assert len(copy.cells) == len(notebook.cells) + 1

    def test_outputs(self, notebook: Notebook) -> None:
        """Outputs are kept, with Colab's notes on them."""
        cell = next(cell for cell in notebook.cells if cell.cell_type == "code")
        cell.outputs = [nbformat.v4.new_output("stream", text="hello")]
        saved = next(each for each in colab_copy(notebook).cells if each.get("outputs"))

        assert saved.outputs[0].text == "hello"
        assert {"outputId", "colab", "executionInfo", "id"} <= set(saved.metadata)
