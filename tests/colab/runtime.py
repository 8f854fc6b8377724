"""Colab's side of a notebook: its preinstalled packages, the `google.colab` module, and a kernel with both."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
import yaml

from tests.small_chapter import PROJECT

HABITS: dict[str, Any] = yaml.safe_load((Path(__file__).parent / "habits.yml").read_text(encoding="utf-8"))
PREINSTALLED: dict[str, str] = HABITS["preinstalled"]
ENVIRONMENT = {"COLAB_RELEASE_TAG": "release-colab_imitated", "COLAB_GPU": ""}

# Runs a notebook of any minor format from top to bottom, in this folder, and saves it with its outputs.
_RUN = """
import nbformat
from nbclient import NotebookClient
notebook = nbformat.read("opened.ipynb", as_version=nbformat.NO_CONVERT)
NotebookClient(notebook, kernel_name="colab", timeout=300).execute()
nbformat.write(notebook, "run.ipynb")
"""
_OUTPUT = """
from types import SimpleNamespace

_widgets = SimpleNamespace(_installed_url=None)


def enable_custom_widget_manager():
    _widgets._installed_url = "https://ssl.gstatic.com/imitated/manager.min.js"
"""


def installed() -> Path:
    """Return a folder with Colab's versions of the packages that students' notebooks import; pip fills it once.

    Kernels have it first on their path.
    """
    if sys.version_info >= (3, 13):
        # Colab runs 3.12. pip would compile its numpy, and then its scipy, for a quarter of an hour.
        pytest.skip("Colab's versions come built for Python up to 3.12")
    text = json.dumps([PREINSTALLED, sys.version])
    folder = PROJECT / "build" / "colab" / hashlib.sha256(text.encode()).hexdigest()[:12]
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        half = Path(tempfile.mkdtemp(dir=folder.parent))
        _install(half)
        _pretend(half)
        try:
            half.rename(folder)
        except OSError:  # another process has made it already
            shutil.rmtree(half)
    return folder


def _install(folder: Path) -> None:
    exact = [f"{name}=={version}" for name, version in PREINSTALLED.items()]
    pip = [sys.executable, "-m", "pip", "install", "-qq", "--no-deps", "--no-compile", "--target", str(folder), *exact]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"Colab's versions could not be installed; is there a package registry?\n{done.stderr}"


def _pretend(folder: Path) -> None:
    """Write a `google.colab` with the functions that widgets use; Python imports it at its start."""
    package = folder / "google" / "colab"
    package.mkdir(parents=True)
    (package.parent / "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "output.py").write_text(_OUTPUT, encoding="utf-8")
    (folder / "sitecustomize.py").write_text("import google.colab.output\n", encoding="utf-8")


def pretend_drive(patch: pytest.MonkeyPatch, refuses: str = "") -> None:
    """Let this process be on Colab, with a Drive that is mounted as an empty folder, or refused for a reason."""

    def mount(place: str) -> None:
        if refuses:
            raise ValueError(refuses)
        Path(place, "MyDrive").mkdir(parents=True, exist_ok=True)

    colab = SimpleNamespace(drive=SimpleNamespace(mount=mount))
    patch.setitem(sys.modules, "google.colab", colab)


def run(notebook: nbformat.NotebookNode, folder: Path, library: Path) -> nbformat.NotebookNode:
    """Run a notebook in an empty folder as Colab does, and return it with its outputs.

    The course's package comes from `library`. Fails with the error of the cell where a cell raises.
    """
    (folder / "opened.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
    kernel = folder / "kernels" / "colab"
    kernel.mkdir(parents=True)
    specification = {
        "argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
        "display_name": "Python 3",
        "env": ENVIRONMENT | {"PYTHONPATH": f"{library}{os.pathsep}{installed()}"},
    }
    (kernel / "kernel.json").write_text(json.dumps(specification), encoding="utf-8")
    here_alone = ("PYTHON", "PYTORCH_BASICS", "NBGRADER")  # what a test before this one may have set
    environment = {name: value for name, value in os.environ.items() if not name.startswith(here_alone)}
    environment |= {"JUPYTER_PATH": str(folder), "IPYTHONDIR": str(folder / ".ipython")}
    done = subprocess.run(
        [sys.executable, "-c", _RUN], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return nbformat.read(folder / "run.ipynb", as_version=nbformat.NO_CONVERT)
