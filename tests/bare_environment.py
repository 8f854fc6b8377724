"""A Python with torch, numpy, matplotlib, scikit-learn and ipykernel, what these need, pip, and nothing else.

Its packages are links to those of this Python, so that nothing is fetched and a test has it in a second.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from nbclient import NotebookClient
from nbformat import NotebookNode
from packaging.requirements import Requirement

NAMES = ("torch", "numpy", "matplotlib", "scikit-learn", "ipykernel")
KERNEL = "bare"
_OWN = {"INSTALLER", "REQUESTED", "RECORD", "direct_url.json"}  # what pip writes of an install, and no wheel holds


def needed(names: Iterable[str]) -> dict[str, Distribution]:
    """Return the installed packages of these names, and those that they need."""
    found: dict[str, Distribution] = {}
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found:
            continue
        try:
            found[name] = distribution(name)
        except PackageNotFoundError:  # for another system
            continue
        for each in map(Requirement, found[name].requires or ()):
            if each.marker is None or each.marker.evaluate({"extra": ""}):
                waiting.append(each.name)
    return found


def make_environment(folder: Path, names: Iterable[str] = NAMES) -> Path:
    """Make the environment in a folder, and return its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    (packages,) = folder.glob("lib/python*/site-packages")
    for each in needed([*names, "pip"]).values():
        for top in {path.parts[0] for path in each.files or () if path.parts[0] not in ("..", "__pycache__")}:
            (packages / top).symlink_to(Path(str(each.locate_file(top))))
    return python


def make_wheel(name: str, folder: Path) -> None:
    """Pack an installed package as a wheel again."""
    found = distribution(name)
    about = next(path.parts[0] for path in found.files or () if path.parts[0].endswith(".dist-info"))
    tag = re.findall(r"^Tag: (\S+)", found.read_text("WHEEL") or "", re.MULTILINE)[0]
    paths = [p for p in found.files or () if p.parts[0] != ".." and p.suffix != ".pyc" and p.name not in _OWN]
    with zipfile.ZipFile(folder / f"{about.removesuffix('.dist-info')}-{tag}.whl", "w") as wheel:
        for path in paths:
            wheel.write(str(found.locate_file(path)), path.as_posix())
        names = [*(path.as_posix() for path in paths), f"{about}/RECORD"]
        wheel.writestr(names[-1], "".join(f"{name},,\n" for name in names))


def run(notebook: NotebookNode, python: Path, folder: Path, environment: dict[str, str]) -> NotebookNode:
    """Run a notebook in a folder with another Python's kernel; a cell that fails raises CellExecutionError."""
    kernel = folder / "kernels" / KERNEL
    kernel.mkdir(parents=True, exist_ok=True)
    argv = [str(python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": argv, "display_name": "Python 3", "language": "python"}))
    before = dict(os.environ)
    os.environ.update(environment, JUPYTER_PATH=str(folder), IPYTHONDIR=str(folder / ".ipython"))
    try:
        client = NotebookClient(
            notebook, kernel_name=KERNEL, timeout=600, resources={"metadata": {"path": str(folder)}}
        )
        return client.execute()
    finally:
        os.environ.clear()
        os.environ.update(before)
