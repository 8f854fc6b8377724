"""Tests grade confined where that can be had; where not, unconfined, and the report says so.

They run in an environment without the developer's own settings: what is set in a shell turns no test red. torch counts
with one thread, as where students' code runs.
"""

from __future__ import annotations

import gc
import os
import re
import secrets

import hypothesis
import pytest

from autograder.course.course_location import COURSE_VARIABLE
from autograder.faster_startup import block_slow_imports, collect_garbage_rarely
from autograder.files import sha256_of_texts
from autograder.sandbox.confinement_self_test import confinement_problem
from autograder.sandbox.require_confinement import UNCONFINED_VARIABLE
from tests.quick import last_day, tests_of
from tests.small_chapter import PROJECT, SAMPLE

# How long an example takes says how busy the machine is.
hypothesis.settings.register_profile("any machine", deadline=None)
hypothesis.settings.load_profile("any machine")

# What finds programs, libraries, folders, packages and devices; everything else is a setting of somebody's shell.
_FINDS = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_.*|TMP|TEMP|TMPDIR|PYTHONPATH|VIRTUAL_ENV|CONDA_.*|PYENV_.*|LD_.*|DYLD_.*"
    "|PYTEST_.*|PIP_.*|SSL_.*|.*_PROXY|CUDA_.*|NVIDIA_.*|PLAYWRIGHT_.*|SYSTEM.*|WINDIR|COMSPEC|PATHEXT|.*APPDATA|USERPROFILE"
    "|NIGHT|PARITY",  # what tests themselves are asked for
    re.IGNORECASE,
)
for name in [name for name in os.environ if not _FINDS.fullmatch(name)]:
    del os.environ[name]
# Tests run side by side: threads that wait for one another's processor take longer than one alone, many times over.
os.environ["OMP_NUM_THREADS"] = "1"
block_slow_imports()
collect_garbage_rarely()

collect_ignore = ["browser"]  # these need a browser: `make test-browser` names the folder


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options of `make quick` and of a sample of the night's tests."""
    parser.addoption("--cpu-seconds", type=float, help="let each process begin no test after so many of its seconds")
    parser.addoption(
        "--sample",
        metavar="COMMIT",
        help="a tenth of the selected tests, which a commit chooses, and what it may break",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let grading go on where nothing can be confined; draw the seed of the property tests, unless one is given."""
    if confinement_problem() is not None:
        os.environ[UNCONFINED_VARIABLE] = "1"
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Say what the run proves, and how to repeat what it draws."""
    reason, seed = confinement_problem(), config.option.hypothesis_seed
    return [
        "student code is confined" if reason is None else f"student code is NOT confined here: {reason}",
        f"drawn with seed {seed}; to repeat: pytest tests/test_fuzz.py --hypothesis-seed={seed}",
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where processes share the tests, begin with the groups and what is slow, so that all end together."""
    if commit := config.option.sample:
        near = set(tests_of(last_day(commit), PROJECT, within=1))
        drawn = [item for item in items if int(sha256_of_texts(commit, *_groups(item) or [item.nodeid]), 16) % 10 == 0]
        likely = [item for item in items if item.path.relative_to(PROJECT).as_posix() in near and item not in drawn]
        items[:] = [*drawn, *likely]
    if hasattr(config, "workerinput") and config.option.cpu_seconds is None:
        items.sort(key=lambda item: (not _groups(item), item.get_closest_marker("slow") is None))


def _groups(item: pytest.Item) -> list[str]:
    return [str(mark.args[0]) for mark in item.iter_markers("xdist_group") if mark.args]


def pytest_collection_finish() -> None:
    """Let no search for garbage go through what all tests have: modules, classes, the tests themselves."""
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Nor through what the tests of earlier files keep, such as answer banks: that took a tenth of the time."""
    if nextitem is None or nextitem.path != item.path:
        gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what `make quick`, or a sample of the night's tests, has no time for."""
    most = item.config.option.cpu_seconds
    if most is not None and sum(os.times()[:4]) > most:
        pytest.skip(f"left out, as its time was over: {item.path.name}")


@pytest.fixture
def in_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let notebooks find the tests' own course, as if it were installed."""
    monkeypatch.setenv(COURSE_VARIABLE, str(SAMPLE / "course"))


UNCONFINED = confinement_problem() is not None  # what a command asks of the environment, for tests that hand it down
needs_confinement = pytest.mark.skipif(
    confinement_problem() is not None, reason=f"nothing can be confined here: {confinement_problem()}"
)
