"""A notebook with the embedded course runs where the course is not installed, and is graded like any other."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager
from nbclient.exceptions import CellExecutionError

import explorers
from autograder import install_missing_packages
from autograder.__main__ import main
from autograder.authoring.make_chapter_notebooks import INSTALL_ID, Notebook, to_bytes
from autograder.errors import WorkFailed
from autograder.notebook.progress_log import PROGRESS_VARIABLE
from autograder.workspace import embed_package_in_notebook
from autograder.workspace.embed_package_in_notebook import embed_package, packed_cell
from tests import bare_environment
from tests.colab import runtime
from tests.colab.notebook import colab_copy
from tests.mine_in_chapters import SHORT
from tests.our_course import COURSE as OURS
from tests.small_chapter import PROJECT

COURSE = PROJECT / "course"
STEM = "ch06c_six_faults"
NEEDED = ("anywidget", "safetensors")
MOST = 400_000  # the limit of a shared notebook's size in bytes
# Colab's versions without the course: remove from the path what this project's setup added.
NOTHING_INSTALLED = """
import sys
sys.meta_path[:] = [each for each in sys.meta_path if "editable" not in str(each)]
sys.path[:] = [each for each in sys.path if each != {project!r}]
sys.path_hooks[:] = [each for each in sys.path_hooks if "editable" not in str(each)]
import google.colab.output
"""


def notebook(stem: str = STEM) -> Notebook:
    """Return a chapter as students get it."""
    return nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)


def program(source: bytes) -> str:
    """Return a module's syntax tree without docstrings, and its line numbers."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            node.body[0] = ast.Pass()
    return ast.dump(tree, include_attributes=False) + str([getattr(node, "lineno", 0) for node in ast.walk(tree)])


@pytest.mark.night
def test_what_is_left_out_of_the_package_is_no_program() -> None:
    """Only comments and private docstrings are removed, and every statement keeps its line."""
    for path in (PROJECT / "autograder").rglob("*.py"):
        source = path.read_bytes()
        assert program(source) == program(embed_package_in_notebook._bare(source)), path
    kept = b'"""Gone."""\ndef check():  # gone\n    """Kept."""\n    return "# kept"\ndef _own():\n    """Gone."""\n'
    kept += b'def shown():\n    """Gone."""\n'

    assert (
        embed_package_in_notebook._bare(kept).split()
        == kept.replace(b'"""Gone."""', b"''").replace(b"# gone", b"").split()
    )


@pytest.fixture
def nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that removes the course from the path of new processes."""
    (tmp_path / "nothing").mkdir()
    (tmp_path / "temporary").mkdir()
    (tmp_path / "nothing" / "sitecustomize.py").write_text(NOTHING_INSTALLED.format(project=str(PROJECT)))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    return tmp_path / "nothing"


@pytest.mark.parametrize("stem", [STEM])
@pytest.mark.night
def test_it_runs_where_the_course_is_not(nothing: Path, tmp_path: Path, stem: str) -> None:
    """The notebook runs without the course: figures, checks, hints, progress and an explorer."""
    opened = embed_package(notebook(), COURSE, stem)
    opened.cells.append(
        nbformat.v4.new_code_cell("import autograder, course; print(autograder.__file__, course.__file__)")
    )
    opened.cells.append(nbformat.v4.new_code_cell('hint("fix_trainer"); progress()'))
    for each in opened.cells:  # shorter training
        each.source = each.source.replace(*SHORT)
    (tmp_path / "run").mkdir()
    done = runtime.run(colab_copy(opened, keeps_format=True), tmp_path / "run", nothing)

    told = str([output for each in done.cells for output in each.get("outputs", [])])
    assert f"{tmp_path / 'temporary'}/pytorch-basics-{stem}-" in told and str(PROJECT) not in told
    checks = [each.outputs for each in done.cells if each.source.startswith("check(")]
    plain = [str(output.get("data", output).get("text/plain", output)) for outputs in checks for output in outputs]
    assert "not begun yet" in told, plain
    assert "Hint 1 of" in told and "Chapter 6" in told
    assert "course 0." in told


@pytest.mark.parametrize("stem", [pytest.param(stem, marks=pytest.mark.night) for stem in OURS.stems[:-1]] + [STEM])
def test_it_is_small_and_holds_no_answers(stem: str, tmp_path: Path) -> None:
    """The notebook is below 400 kB, and contains no answers or teachers' modules."""
    text = packed_cell(COURSE, stem)
    assert len(to_bytes(embed_package(notebook(stem), COURSE, stem))) < MOST and text == packed_cell(COURSE, stem)
    assert text == TransformerManager().transform_cell(text)  # IPython changes nothing in it

    script = text.replace('any(importlib.metadata.distributions(name="pytorch-basics"))', "False").replace(
        "tempfile.gettempdir()", repr(str(tmp_path))
    )
    subprocess.run([sys.executable, "-I", "-"], input=script.encode(), check=True)
    (place,) = tmp_path.glob(f"pytorch-basics-{stem}-*")
    names = {path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file()}
    hidden = ("course/answers", "course/chapters", "autograder/authoring")
    assert not {name for name in names if name.startswith(hidden)}
    assert {f"course/shipped/{stem}.safetensors", "autograder/notebook/check_and_hint.py"} < names
    asks_again = {"explorers/review_quiz.py", "course/review_questions/ch01.py"} <= names
    assert asks_again == (stem != OURS.stems[0])  # the first sitting has nothing to ask again


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with wheels of what the course needs besides."""
    folder = tmp_path_factory.mktemp("wheels")
    for name in bare_environment.needed(NEEDED).keys() - bare_environment.needed(bare_environment.NAMES):
        bare_environment.make_wheel(name, folder)
    return folder


class TestBareEnvironment:
    """Shared notebooks in a Python with torch, numpy, matplotlib, scikit-learn and ipykernel alone."""

    @pytest.fixture
    def python(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Return the Python of a bare environment, whose pip finds nothing unless it is told where."""
        for name in ("PYTHONPATH", "PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", PROGRESS_VARIABLE):
            monkeypatch.delenv(name, raising=False)
        for name in ("temporary", "run"):
            (tmp_path / name).mkdir()
        return bare_environment.make_environment(tmp_path / "environment")

    def run(self, opened: Notebook, python: Path, folder: Path, wheels: Path | None = None) -> Notebook:
        """Run a notebook; pip finds the wheels of a folder, or nothing."""
        places = {"PIP_FIND_LINKS": str(wheels)} if wheels else {}
        settings = {"PIP_NO_INDEX": "1", "PIP_CONFIG_FILE": os.devnull, "TMPDIR": str(folder / "temporary"), **places}
        return bare_environment.run(opened, python, folder / "run", settings)

    @pytest.mark.night
    @pytest.mark.parametrize("stem", OURS.stems)
    def test_it_installs_what_is_missing(self, stem: str, python: Path, tmp_path: Path, wheels: Path) -> None:
        """The first cell installs what is missing in one line, and no cell below fails."""
        opened = embed_package(notebook(stem), COURSE, stem)
        for each in opened.cells:  # shorter training
            each.source = each.source.replace(*SHORT)
        done = self.run(opened, python, tmp_path, wheels)

        first = next(each for each in done.cells if each.cell_type == "code")
        printed = "".join(each.text for each in first.outputs)
        assert printed.startswith("Installing anywidget, safetensors …\ncourse 0.") and 2 == printed.count("\n")
        told = str([output for each in done.cells for output in each.get("outputs", [])])
        assert f"{tmp_path / 'temporary'}/pytorch-basics-" not in told and "not begun yet" in told

    def test_it_names_what_cannot_be_installed(self, python: Path, tmp_path: Path) -> None:
        """Where pip finds nothing, the first cell fails with one line that names what is missing, and what to do."""
        with pytest.raises(CellExecutionError) as caught:
            self.run(embed_package(notebook(), COURSE, STEM), python, tmp_path)

        lines = str(caught.value).split("------------------\n")[-1].strip().splitlines()
        named = r"needs anywidget>=0\.9 and safetensors>=0\.4, which this Python does not have \(pip says: .*\)\. Run"
        assert any(re.search(rf"WorkFailed: this notebook {named} `%pip install \"anywidget", line) for line in lines)

    @pytest.mark.parametrize(
        ("version", "told"), [("0.1", "safetensors>=0.4 was installed now: restart the kernel"), ("9.0", "")]
    )
    def test_what_is_too_old_is_replaced(self, version: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """A package that is too old is installed anew, and the kernel must be restarted; torch is only named."""
        found = {"safetensors": version, "torch": "2.13.0+cpu"}
        monkeypatch.setattr(install_missing_packages, "version", lambda name: found.get(name, "99"))
        monkeypatch.setattr(install_missing_packages, "_install", lambda each: found.update(safetensors="0.5") or "")
        if told:
            with pytest.raises(WorkFailed, match=told):
                install_missing_packages.install_missing_packages()
        assert [] == install_missing_packages.missing_packages()

        install_missing_packages.install_missing_packages()
        found["torch"] = "2.5"
        with pytest.raises(WorkFailed, match=r"needs torch>=2\.6, which this Python does not have\. Run"):
            install_missing_packages.install_missing_packages()

    def test_an_older_python_is_named(self) -> None:
        """In a Python that is too old the cell says so before anything else."""
        text = packed_cell(COURSE, STEM).replace(
            "import base64", "import sys; sys.version_info = (3, 9, 1)\nimport base64", 1
        )
        ran = subprocess.run([sys.executable, "-I", "-"], input=text.encode(), capture_output=True, check=False)

        assert ran.stderr.decode().endswith("ImportError: This notebook needs Python 3.11 or newer, and this is 3.9.\n")


def test_an_explorer_that_is_not_packed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A notebook carries the explorers that it opens; another one is named where a reader imports it."""
    names = set(dict(embed_package_in_notebook._files(COURSE, STEM)))
    assert "explorers/shape_widget.py" not in names
    monkeypatch.setattr(explorers, "find_spec", lambda _: None)
    with pytest.raises(ImportError, match="shape_explorer is not packed into this notebook"):
        _ = explorers.shape_explorer


def test_where_the_course_is_installed_nothing_is_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the course is installed, the cell unpacks nothing."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    ran: dict[str, object] = {}
    exec(compile(ast.parse(packed_cell(COURSE, STEM)), "<cell>", "exec"), ran)

    assert [] == list(tmp_path.iterdir()) and "packed" not in ran


def test_a_notebook_without_the_cell_is_told() -> None:
    """A notebook without the install cell raises an error that says to build."""
    old = notebook()
    old.cells = [each for each in old.cells if each.id != INSTALL_ID]

    with pytest.raises(WorkFailed, match="Run `make build`"):
        embed_package(old, COURSE, STEM)


def test_the_command_names_an_unknown_chapter(capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown chapter gives an error with the known ones."""
    assert 1 == main(["--root", str(PROJECT), "colab", "ch07"])
    assert "there is no chapter 'ch07'. The chapters are: ch01a_tensors, " in capsys.readouterr().err
