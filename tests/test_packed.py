"""A notebook with the embedded course runs where the course is not installed, and is graded like any other."""

import ast
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from IPython.core.inputtransformer2 import TransformerManager

from autograder.__main__ import main
from autograder.authoring.chapter_notebooks import INSTALL_ID, Notebook
from autograder.errors import WorkFailed
from autograder.workspace import embedded_package
from autograder.workspace.embedded_package import embed_package, packed_cell
from tests.colab import runtime
from tests.colab.notebook import colab_copy
from tests.mine_in_chapters import SHORT
from tests.our_course import COURSE as OURS
from tests.small_chapter import PROJECT

COURSE = PROJECT / "course"
STEM = "ch06c_six_faults"
MOST = 540_000  # the limit of the cell's size in bytes
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
        assert program(source) == program(embedded_package._bare(source)), path
    kept = b'"""Gone."""\ndef shown():  # gone\n    """Kept."""\n    return "# kept"\ndef _own():\n    """Gone."""\n'

    assert embedded_package._bare(kept).split() == kept.replace(b'"""Gone."""', b"''").replace(b"# gone", b"").split()


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
    opened.cells.append(nbformat.v4.new_code_cell('hint("train"); progress()'))
    for each in opened.cells:  # shorter training
        each.source = each.source.replace(*SHORT)
    (tmp_path / "run").mkdir()
    done = runtime.run(colab_copy(opened, keeps_format=True), tmp_path / "run", nothing)

    told = str([output for each in done.cells for output in each.get("outputs", [])])
    assert f"{tmp_path / 'temporary'}/pytorch-basics-{stem}-" in told and str(PROJECT) not in told
    assert told.count("not begun yet") and "Hint 1 of" in told and "Chapter 6" in told
    assert "course 0." in told


@pytest.mark.parametrize("stem", [pytest.param(stem, marks=pytest.mark.night) for stem in OURS.stems[:-1]] + [STEM])
def test_it_is_small_and_holds_no_answers(stem: str, tmp_path: Path) -> None:
    """The cell is below half a megabyte, and contains no answers or teachers' modules."""
    text = packed_cell(COURSE, stem)
    assert len(text) < MOST and text == packed_cell(COURSE, stem)
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
