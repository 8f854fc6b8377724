"""Build the wheel that students install, offline and outside the working tree."""

import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

from tests.small_chapter import PROJECT

PACKAGES = ("autograder", "course", "explorers")


def build_wheel(folder: Path, *without: str) -> Path:
    """Build the wheel from a copy of the packages, without files and folders of some names; return its path."""
    source = folder / "source"
    for package in PACKAGES:
        copytree(
            PROJECT / package,
            source / package,
            ignore=ignore_patterns("__pycache__", "submitted", "autograded", "feedback", *without),
        )
    for path in [PROJECT / "pyproject.toml", *PROJECT.glob("README*"), *PROJECT.glob("LICENSE*")]:
        (source / path.name).write_bytes(path.read_bytes())
    command = [
        sys.executable,
        "-m",
        "build",
        "--wheel",
        "--no-isolation",
        "--outdir",
        str(folder),
        str(source),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return next(folder.glob("*.whl"))
