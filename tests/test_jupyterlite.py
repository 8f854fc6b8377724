"""Notebooks for the browser: the built JupyterLite has the course and one torch, by its digest, and says what it is.

A real Pyodide in Node imports the package if PYTEST_PYODIDE names its folder: `npm install pyodide@314.0.6`, then
`PYTEST_PYODIDE=node_modules/pyodide pytest tests/test_jupyterlite.py -m ""`.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.__main__ import main
from autograder.authoring.make_chapter_notebooks import INSTALL_ID
from tests.small_chapter import PROJECT, SAMPLE

pytest.importorskip("jupyterlite_pyodide_kernel", reason="the extra `lite` is not installed")
ABOUT = "torch-2.13.0.dist-info"
NAME = "torch-2.13.0-cp314-cp314-pyemscripten_2026_0_wasm32.whl"
PYODIDE = os.environ.get("PYTEST_PYODIDE", "")
pytestmark = pytest.mark.xdist_group("jupyterlite")  # one process, which builds the site once
IN_A_BROWSER = """\
import { readFileSync } from "node:fs";
import { loadPyodide } from "PYODIDE/pyodide.mjs";
const python = await loadPyodide();
python.unpackArchive(new Uint8Array(readFileSync(process.argv[2])), "wheel");
console.log(python.runPython(readFileSync(process.argv[3], "utf8")));
"""
IMPORTS = """\
import importlib, json, pkgutil
import autograder, course, explorers
from autograder import can_start_threads, install_missing_packages, package_name_collisions
missing = {}
for package in map(importlib.import_module, ("autograder.notebook", "course", "explorers")):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            missing.setdefault(error.name, []).append(module.name)
package_name_collisions.refuse_other_packages()
json.dumps({
    "lacks": sorted(missing),
    "needs": install_missing_packages.missing_packages(),
    "starts": [can_start_threads.can_start_threads(), can_start_threads.can_start_processes()],
})
"""


def make_wheel(folder: Path, name: str = NAME) -> Path:
    """Write a wheel of this name that says it is torch and holds nothing."""
    with zipfile.ZipFile(folder / name, "w") as wheel:
        wheel.writestr(f"{ABOUT}/METADATA", "Metadata-Version: 2.1\nName: torch\nVersion: 2.13.0\n")
        wheel.writestr(f"{ABOUT}/WHEEL", "Wheel-Version: 1.0\nTag: cp314-cp314-pyemscripten_2026_0_wasm32\n")
        wheel.writestr(f"{ABOUT}/RECORD", "")
    return folder / name


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the JupyterLite of the tests' own course with the command, and return its folder."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(SAMPLE / "notebooks", folder / "notebooks")
    assert 0 == main(["--root", str(folder), "site", "--lite", "--torch-wheel", str(make_wheel(folder))])
    return folder / "build" / "site" / "lite"


def settings(site: Path) -> dict[str, Any]:
    """Return the settings that the page of the JupyterLite reads."""
    return dict(json.loads((site / "jupyter-lite.json").read_text())["jupyter-config-data"])


@pytest.mark.night
class TestBuilt:
    def test_the_wheels_are_there_with_their_digests(self, site: Path) -> None:
        """The index that the browser reads has the course and torch, each with the digest of its file."""
        index = json.loads((site / "pypi" / "all.json").read_text())
        files = {name: next(iter(found["releases"].values()))[0] for name, found in index.items()}

        assert {"pytorch-basics", "torch"} == set(files)
        for file in files.values():
            data = (site / "pypi" / file["filename"]).read_bytes()
            assert hashlib.sha256(data).hexdigest() == file["digests"]["sha256"]
        (setting,) = settings(site)["litePluginSettings"].values()
        digest = hashlib.sha256((site / "pypi" / "all.json").read_bytes()).hexdigest()
        assert f"./pypi/all.json?sha256={digest}" in setting["pipliteUrls"]

    def test_the_course_holds_no_solution(self, site: Path) -> None:
        """What students get in the browser has no answer bank and no chapter."""
        (wheel,) = (site / "pypi").glob("pytorch_basics-*.whl")
        names = zipfile.ZipFile(wheel).namelist()

        assert "autograder/notebook/own_answer_or_fallback.py" in names
        assert not [name for name in names if name.startswith(("course/answers/", "course/chapters/"))]

    def test_a_notebook_installs_both_first(self, site: Path) -> None:
        """Before its own first cell a notebook says what torch it uses, and installs exactly that."""
        notebook = nbformat.read(site / "files" / "ch01_sample.ipynb", as_version=4)
        handed_out = nbformat.read(SAMPLE / "notebooks" / "ch01_sample.ipynb", as_version=4)
        place = [cell.id for cell in notebook.cells].index(INSTALL_ID)
        note, install = notebook.cells[place - 2 : place]

        assert "unofficial build of torch (2.13.0)" in note.source and "Grades never come from here" in note.source
        assert "%pip install --quiet torch==2.13.0 pytorch-basics==0.1.0" == install.source
        assert handed_out.cells == [cell for cell in notebook.cells if cell not in (note, install)]

    def test_the_page_says_what_it_is(self, site: Path) -> None:
        """The first page names the build of torch, its digest and its standing, and opens each notebook."""
        page = (site / "index.html").read_text(encoding="utf-8")
        digest = hashlib.sha256((site / "pypi" / NAME).read_bytes()).hexdigest()

        assert f"<code>{NAME}</code>, version 2.13.0, SHA-256 <code>{digest}</code>" in page
        assert "an unofficial build" in page and "Grades never come from here." in page
        assert '<a href="lab/index.html?path=ch01_sample.ipynb">' in page
        assert (site / "lab" / "index.html").is_file()

    def test_it_is_small_and_has_no_teachers_tools(self, site: Path) -> None:
        """Without torch a browser fetches at most 25 MB of it; nbgrader's extensions are not in it."""
        extensions = {each["name"] for each in settings(site)["federated_extensions"]}

        assert {
            "@jupyter-widgets/jupyterlab-manager",
            "@jupyterlite/pyodide-kernel-extension",
            "anywidget",
        } == extensions
        assert sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) < 25_000_000

    @pytest.mark.skipif(not PYODIDE, reason="PYTEST_PYODIDE names no folder of Pyodide's package for Node")
    def test_the_course_imports_in_pyodide(self, site: Path, tmp_path: Path) -> None:
        """In Pyodide the course starts nothing, and what a notebook imports lacks only packages that it asks for."""
        (wheel,) = (site / "pypi").glob("pytorch_basics-*.whl")
        (tmp_path / "run.mjs").write_text(IN_A_BROWSER.replace("PYODIDE", str(Path(PYODIDE).resolve())))
        (tmp_path / "imports.py").write_text(IMPORTS)
        command = ["node", "run.mjs", str(wheel), "imports.py"]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        found = json.loads(ran.stdout.splitlines()[-1])

        assert [False, False] == found["starts"]
        assert {"torch", "numpy", "anywidget"} < {each.partition(">")[0] for each in found["needs"]}
        assert set(found["lacks"]) <= {"IPython", "anywidget", "contourpy", "numpy", "torch", "traitlets"}


@pytest.mark.parametrize("name", ["torch-2.13.0-cp314-cp314-manylinux_2_28_x86_64.whl", "numpy-2.4.6.whl", NAME[::-1]])
def test_another_wheel_is_refused(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A wheel of another package, or for another system, is refused in one line, and nothing is built."""
    wheel = make_wheel(tmp_path, name)

    assert 1 == main(["--root", str(tmp_path), "site", "--lite", "--torch-wheel", str(wheel)])
    assert "expected a wheel of torch for Pyodide 314" in capsys.readouterr().err
    assert not (tmp_path / "build").exists()


def test_an_older_python_s_wheel_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wheel for another Pyodide's Python, and one that is not there, are refused."""
    for path in (make_wheel(tmp_path, NAME.replace("cp314", "cp313")), tmp_path / NAME):
        assert 1 == main(["--root", str(PROJECT), "site", "--lite", "--torch-wheel", str(path)])
        assert f"found {path}" in capsys.readouterr().err


def test_no_wheel_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a wheel, one line says that there is no official one."""
    assert 1 == main(["site", "--lite"])
    assert "there is no official one: --torch-wheel FILE" in capsys.readouterr().err


def test_chapters_are_not_for_it(capsys: pytest.CaptureFixture[str]) -> None:
    """It takes all notebooks: chapters beside `--lite` are refused in one line."""
    assert 1 == main(["site", "ch01a_tensors", "--lite"])
    assert "--lite takes all notebooks. Leave ch01a_tensors out." in capsys.readouterr().err
