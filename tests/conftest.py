"""Tests grade confined where that can be had; where not, unconfined, and the report says so.

They run in an environment without the developer's own settings: what is set in a shell turns no test red.
"""

from __future__ import annotations

import os
import re
import secrets
import time

import pytest

from autograder.walls.consent import UNCONFINED_VARIABLE
from autograder.walls.trial import missing
from tests.asked import UNTIL

# What finds programs, libraries, folders, packages and devices; everything else is a setting of somebody's shell.
_FINDS = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_.*|TMP|TEMP|TMPDIR|PYTHONPATH|VIRTUAL_ENV|CONDA_.*|PYENV_.*|LD_.*|DYLD_.*"
    "|PYTEST_.*|PIP_.*|SSL_.*|.*_PROXY|CUDA_.*|NVIDIA_.*|PLAYWRIGHT_.*|SYSTEM.*|WINDIR|COMSPEC|PATHEXT|.*APPDATA|USERPROFILE"
    "|THOROUGH|PARITY",  # what tests themselves are asked for
    re.IGNORECASE,
)
for name in [name for name in os.environ if not _FINDS.fullmatch(name)]:
    del os.environ[name]

collect_ignore = ["browser"]  # these need a browser: `make test-browser` names the folder


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let grading go on where nothing can be confined; draw the seed of the property tests, unless one is given."""
    if missing() is not None:
        os.environ[UNCONFINED_VARIABLE] = "1"
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What the run proves, and how to repeat what it draws."""
    reason, seed = missing(), config.option.hypothesis_seed
    return [
        "student code is confined" if reason is None else f"student code is NOT confined here: {reason}",
        f"drawn with seed {seed}; to repeat: pytest tests/test_fuzz.py --hypothesis-seed={seed}",
    ]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what `make quick` has no time for."""
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip(f"left out, for `make test` to run: {item.path.name}")


UNCONFINED = missing() is not None  # what a command asks of the environment, for tests that hand it down
needs_confinement = pytest.mark.skipif(missing() is not None, reason=f"nothing can be confined here: {missing()}")
