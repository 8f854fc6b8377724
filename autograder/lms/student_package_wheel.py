"""Get the wheel of the student's package, which holds no solution: build it from this clone, or check a given file."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from shutil import copy, copytree, ignore_patterns

from autograder.errors import WorkFailed

_PROJECT = Path(__file__).resolve().parents[2]
_PACKAGES = ("autograder", "course", "explorers")
_NOT_PACKED = (
    "__pycache__",
    "source",
    "release",
    "submitted",
    "autograded",
    "feedback",
    "verdicts",
    "reports",
    "*.db*",
)
_NEEDED = "autograder/lms/grade_on_platform.py"
_ASK = "Name one with --wheel FILE: `pip wheel --no-deps .` in the project folder builds it"


@dataclass(frozen=True)
class StudentWheel:
    """The wheel: the name of its file, which pip reads, and its bytes."""

    name: str
    data: bytes


def build_or_read_wheel(path: Path | None) -> StudentWheel:
    """Return the wheel at a path, or that of this clone where no path is given; raise WorkFailed."""
    return _built() if path is None else _checked(path)


def _checked(path: Path) -> StudentWheel:
    try:
        with zipfile.ZipFile(path) as wheel:
            is_ours = _NEEDED in wheel.namelist() and path.suffix == ".whl"
        data = path.read_bytes()
    except (OSError, zipfile.BadZipFile):
        is_ours, data = False, b""
    if not is_ours:
        raise WorkFailed(f"expected the wheel of the course's package at {path}, found none. {_ASK}.")
    return StudentWheel(path.name, data)


def _built() -> StudentWheel:
    """Build the wheel from a copy, since pip leaves files behind in the folder that it builds from."""
    if not (_PROJECT / "pyproject.toml").is_file():
        raise WorkFailed(
            f"expected a clone of the project to build the wheel from, found an installed package. {_ASK}."
        )
    with tempfile.TemporaryDirectory() as place:
        source, out = Path(place, "source"), Path(place, "out")
        for name in _PACKAGES:
            copytree(_PROJECT / name, source / name, ignore=ignore_patterns(*_NOT_PACKED))
        for path in (_PROJECT / "pyproject.toml", *_PROJECT.glob("README*"), *_PROJECT.glob("LICENSE*")):
            copy(path, source)
        command = ["wheel", "--quiet", "--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir"]
        ran = subprocess.run(
            [sys.executable, "-m", "pip", *command, str(out), str(source)], capture_output=True, text=True, check=False
        )
        built = list(out.glob("*.whl"))
        if not built:
            said = (ran.stderr.strip().splitlines() or ["pip did not say why"])[-1]
            raise WorkFailed(f"pip could not build the wheel: {said}. {_ASK}.")
        return _checked(built[0])
