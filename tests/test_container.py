"""In a container, where nothing can be confined, tests run unconfined or are skipped with a reason, and are green."""

import subprocess
import sys

import pytest

from tests.conftest import needs_confinement
from tests.small_chapter import PROJECT

# What grades, runs and confines students' code, from within and by commands.
MODULES = ("confinement", "example_class", "runner", "second_course", "serve")


@pytest.mark.night
@needs_confinement
def test_what_runs_students_code_is_green_in_a_container() -> None:
    """And the report says that student code is not confined, and why."""
    tests = [f"tests/test_{name}.py" for name in MODULES]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-m", "", *tests]
    command = [sys.executable, "-m", "tests.container", *command]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "nothing can be confined here: " in ran.stdout
