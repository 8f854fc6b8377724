"""Other packages on the index with the same folder names are detected when installed in the same place."""

import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

import autograder
from autograder.__main__ import main
from autograder.authoring.make_chapter_notebooks import INSTALL_ID
from autograder.errors import PackageCollision
from autograder.package_name_collisions import collision_message
from tests.small_chapter import PROJECT, SAMPLE


def install(folder: Path, name: str) -> None:
    """Write the metadata of an installed package."""
    about = folder / f"{name}-3.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.1\n")


@pytest.mark.parametrize("search", [("here",), ("here", "there"), ("there", "here"), ("there",)])
def test_another_package_that_python_would_take_is_named(tmp_path: Path, search: tuple[str, ...]) -> None:
    """Packages of these names are named where they lie in the course's folder, or before it; others are not."""
    here, there = tmp_path / "here", tmp_path / "there"  # the course lies here
    folders = [str(tmp_path / each) for each in search]
    for folder in (here, there):
        install(folder, "otter")
    assert collision_message(folders, here) is None
    install(there, "autograder")
    assert (collision_message(folders, here) is None) is (search[0] == "here")
    install(here, "explorers")
    names = [name for name, place in (("autograder", "there"), ("explorers", "here")) if place in search]
    if search == ("here", "there"):
        names = ["explorers"]

    assert f"Run `pip uninstall {' '.join(names)}`" in (collision_message(folders, here) or "")


def test_commands_and_notebooks_refuse_to_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With such a package, commands fail with one line, and so does importing `check` into a notebook."""
    install(tmp_path, "autograder")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(PackageCollision, match=r"^Another package, autograder, .* install the course again") as found:
        _ = autograder.check
    assert 1 == len(found.value._render_traceback_())

    monkeypatch.syspath_prepend(PROJECT)  # as `python -m autograder` in the project's folder: only the command has it
    assert 1 == main(["doctor"])
    assert capsys.readouterr().err.startswith("error: Another package, autograder, is installed")


@pytest.mark.parametrize("hidden", [False, True])
def test_the_first_cell_names_the_package_in_one_error(tmp_path: Path, hidden: bool) -> None:
    """A notebook's first cell says so, whether the course's files are all hidden or mixed with the other's."""
    install(tmp_path, "autograder")
    if hidden:
        (tmp_path / "autograder").mkdir()
        (tmp_path / "autograder" / "__init__.py").touch()
    notebook = nbformat.read(SAMPLE / "notebooks" / "ch01_sample.ipynb", as_version=4)
    (cell,) = (cell.source for cell in notebook.cells if cell.get("id") == INSTALL_ID)
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", cell], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )

    assert 1 == ran.returncode and "`pip uninstall autograder" in ran.stderr.splitlines()[-1]
