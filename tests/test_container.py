"""In a container, tests run behind Landlock; on an old kernel unconfined or not at all. They are green in both."""

import subprocess
import sys

import pytest

from tests.conftest import needs_confinement
from tests.container import OLD_KERNEL
from tests.small_chapter import PROJECT

# What grades, runs and confines students' code, from within and by commands.
MODULES = ("confinement", "example_class", "runner", "second_course", "serve")


@pytest.mark.night
@needs_confinement
@pytest.mark.parametrize(
    ("kernel", "said"), [((), "student code is confined"), ((OLD_KERNEL,), "nothing can be confined here: ")]
)
def test_what_runs_students_code_is_green_in_a_container(kernel: tuple[str, ...], said: str) -> None:
    """And the report says whether student code is confined, and if not, why."""
    tests = [f"tests/test_{name}.py" for name in MODULES]
    command = [sys.executable, "-m", "pytest", "-x", "-rs", "-p", "no:cacheprovider", "-m", "", *tests]
    command = [sys.executable, "-m", "tests.container", *kernel, *command]
    ran = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)

    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert said in ran.stdout
