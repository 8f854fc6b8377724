"""Build a JupyterLite: the notebooks with a Python that runs in the reader's browser, as files for any web server.

The caller names the wheel of torch, since no official one is made for browsers. It is put beside the notebooks, in an
index with its digest, which the browser checks. Nothing from there is a grade: a reader can change what runs.
"""

from __future__ import annotations

import hashlib
import html
import importlib.util
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.authoring.make_chapter_notebooks import INSTALL_ID, Notebook, to_bytes
from autograder.errors import WorkFailed
from autograder.lms.student_package_wheel import StudentWheel, build_or_read_wheel

_EXTENSIONS = ("@jupyterlite/pyodide-kernel-extension", "@jupyter-widgets/jupyterlab-manager", "anywidget")
_WHEEL = re.compile(r"torch-(?P<version>[^-]+)(-\d[^-]*)?-(?P<python>cp\d+)-[^-]+-\w+_wasm32\.whl")
_NOTE = """\
This notebook runs in your browser, with an unofficial build of torch ({version}).
The next cell fetches it: {megabytes} MB. Grades never come from here; save your work with File, Download."""
_PAGE = """\
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<body style="font: 1rem/1.5 system-ui, sans-serif; max-width: 40rem; margin: 2rem auto; padding: 0 1rem">
<h1>{title}</h1>
<p>Nothing is installed, and what you write stays in this browser. The first notebook fetches {megabytes} MB, and more
from Pyodide's servers.</p>
<ul>
{links}
</ul>
<p>torch is the file <code>{wheel}</code>, version {version}, SHA-256 <code>{digest}</code>.
It is an unofficial build: the authors of PyTorch have not made it, nor tested it.</p>
<p>Grades never come from here. Download your notebook and hand it in; it is run and graded elsewhere.</p>
"""


@dataclass(frozen=True)
class TorchWheel:
    """A wheel of torch for browsers: its file, its version, and its SHA-256 digest."""

    path: Path
    version: str
    digest: str

    @property
    def megabytes(self) -> int:
        """Return the size of the file in millions of bytes, rounded up."""
        return -(-self.path.stat().st_size // 10**6)


def read_torch_wheel(path: Path) -> TorchWheel:
    """Return the wheel at a path; raise WorkFailed unless it is torch for the Python that JupyterLite brings."""
    if importlib.util.find_spec("jupyterlite_pyodide_kernel") is None:
        raise WorkFailed("expected JupyterLite and its Pyodide kernel, found none. Run `pip install '.[lite]'`.")
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    python = f"cp{PYODIDE_VERSION.split('.')[0]}"
    match = _WHEEL.fullmatch(path.name)
    if not match or match["python"] != python or not path.is_file():
        raise WorkFailed(
            f"expected a wheel of torch for Pyodide {PYODIDE_VERSION}, torch-VERSION-{python}-{python}-..._wasm32.whl, "
            f"found {path}. Name one that is built for this Pyodide with --torch-wheel FILE."
        )
    return TorchWheel(path, match["version"], hashlib.sha256(path.read_bytes()).hexdigest())


def build_lite(project: Path, torch: TorchWheel, target: Path) -> Path:
    """Build the JupyterLite of a project in the folder `target`, and return the path of its first page.

    Raises WorkFailed if there are no notebooks, or JupyterLite stops. An older one is replaced by a complete new one.
    """
    originals = sorted((project / "notebooks").glob("*.ipynb"))
    if not originals:
        raise WorkFailed(f"expected notebooks in {project / 'notebooks'}, found none. Run `make build`.")
    with tempfile.TemporaryDirectory() as name:
        place, student = Path(name), build_or_read_wheel(None)
        (place / student.name).write_bytes(student.data)
        (place / "contents").mkdir()
        titles = {}
        for path in originals:
            notebook = nbformat.read(path, as_version=4)
            titles[path.name] = notebook.cells[0].source.split("\n")[0].lstrip("# ")
            (place / "contents" / path.name).write_bytes(to_bytes(_for_browser(notebook, torch, student)))
        _run_jupyterlite(place, [place / student.name, torch.path.resolve()])
        megabytes = torch.megabytes + -(-_download(place / "out") // 10**6)
        (place / "out" / "index.html").write_text(_page(titles, torch, megabytes), encoding="utf-8")
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(place / "out", target)
    return target / "index.html"


def _for_browser(notebook: Notebook, torch: TorchWheel, student: StudentWheel) -> Notebook:
    """Put two cells before the install cell: what this torch is, and the one that installs it and the course."""
    place = next(number for number, cell in enumerate(notebook.cells) if cell.get("id") == INSTALL_ID)
    course, version = student.name.split("-")[:2]
    note = _NOTE.format(version=torch.version, megabytes=torch.megabytes)
    install = f"%pip install --quiet torch=={torch.version} {course.replace('_', '-')}=={version}"
    notebook.cells[place:place] = [new_markdown_cell(note, id="browser"), new_code_cell(install, id="browser-install")]
    return notebook


def _run_jupyterlite(place: Path, wheels: Iterable[Path]) -> None:
    """Build place/out from place/contents and these wheels, with the extensions of widgets alone."""
    extensions = Path(sys.prefix, "share", "jupyter", "labextensions")
    build = {
        "contents": ["contents"],
        "output_dir": "out",
        "apps": ["lab"],
        "no_sourcemaps": True,
        "ignore_sys_prefix": ["federated_extensions"],  # nbgrader's are for teachers
        "federated_extensions": [str(extensions / name) for name in _EXTENSIONS],
    }
    config = {"LiteBuildConfig": build, "PipliteAddon": {"piplite_urls": list(map(str, wheels))}}
    (place / "jupyter_lite_config.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "jupyterlite_core", "build"]
    ran = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    if ran.returncode:
        said = ([line.strip() for line in (ran.stdout + ran.stderr).splitlines() if line.strip()] or ["nothing"])[-1]
        raise WorkFailed(f"JupyterLite could not be built; its last line is: {said}")


def _download(site: Path) -> int:
    """Return the bytes that a browser fetches at most of this site, the wheel of torch not counted."""
    return sum(path.stat().st_size for path in site.rglob("*") if path.is_file() and not _WHEEL.fullmatch(path.name))


def _page(titles: dict[str, str], torch: TorchWheel, megabytes: int) -> str:
    links = (
        f'<li><a href="lab/index.html?path={quote(name)}">{html.escape(title)}</a></li>'
        for name, title in titles.items()
    )
    return _PAGE.format(
        title="The notebooks in your browser",
        links="\n".join(links),
        megabytes=megabytes,
        wheel=html.escape(torch.path.name),
        version=html.escape(torch.version),
        digest=torch.digest,
    )
