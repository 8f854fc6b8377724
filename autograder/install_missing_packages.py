"""Install missing packages for a notebook in which the course is embedded, or raise an error that names them.

pip installs these packages together with the course; an embedded copy of the course has no such step.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires, version

from autograder.can_start_threads import can_start_processes
from autograder.errors import WorkFailed

_PACKAGE = "pytorch-basics"
_NEVER_INSTALLED = "torch"  # which build fits depends on the machine, and on Colab one is there that must stay


def install_missing_packages() -> None:
    """Install the packages that the course needs; raise WorkFailed, which names them, if any is still missing then."""
    wanted = [each for each in missing_packages() if _name(each) != _NEVER_INSTALLED]
    older = [each for each in wanted if _version_of(each)]
    reason = _install(wanted) if wanted else ""
    if still := missing_packages():
        quoted = " ".join(f'"{each}"' for each in still)
        raise WorkFailed(
            f"this notebook needs {' and '.join(still)}, which this Python does not have{reason}. "
            f"Run `%pip install {quoted}` in a new cell, restart the kernel, and run all cells."
        )
    if older:  # the kernel may have imported what was there before
        raise WorkFailed(f"{' and '.join(older)} was installed now: restart the kernel, and run all cells.")


def missing_packages() -> list[str]:
    """Return the requirements of the course, such as `safetensors>=0.4`, that no installed package meets; torch too."""
    return [each for each in _requirements() if not _is_met(each)]


def _requirements() -> list[str]:
    """Return what the course's own metadata requires of a student's Python, and torch."""
    lines = [line.partition(";") for line in requires(_PACKAGE) or ()]
    return [
        needed.strip() for needed, _, marker in lines if "extra" not in marker or needed.startswith(_NEVER_INSTALLED)
    ]


def _is_met(requirement: str) -> bool:
    found, least = _version_of(requirement), requirement.partition(">=")[2]
    return bool(found) and _numbers(found) >= _numbers(least)


def _version_of(requirement: str) -> str:
    """Return the version of the installed package that a requirement names; "" if there is none."""
    try:
        return version(_name(requirement))
    except PackageNotFoundError:
        return ""


def _numbers(text: str) -> list[int]:
    """Return the numbers of a release: of `2.13.0+cpu` 2, 13, 0."""
    return [int(part) for part in re.findall(r"\d+", text.partition("+")[0])]


def _name(requirement: str) -> str:
    return requirement.partition(">=")[0].strip()


def _install(requirements: list[str]) -> str:
    """Install packages with pip; return what stopped it, as a part of a sentence, or ""."""
    if not can_start_processes():
        return " (no process can be started here to install it)"
    print("Installing", ", ".join(map(_name, requirements)), "…")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    importlib.invalidate_caches()
    lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return f" (pip says: {lines[-1].strip()})" if done.returncode and lines else ""
