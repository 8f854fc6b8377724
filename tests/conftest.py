"""Tests grade confined where that can be had; where not, unconfined, and the report says so.

They run in an environment without the developer's own settings: what is set in a shell turns no test red. torch counts
with one thread, as where students' code runs.
"""

from __future__ import annotations

import gc
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Generator
from functools import cache
from pathlib import Path

import pytest

from autograder.course.course_location import COURSE_VARIABLE
from autograder.process_startup import block_slow_imports
from autograder.sandbox.confinement_policy import UNCONFINED_VARIABLE
from autograder.sandbox.self_test import confinement_problem
from tests import remembered
from tests.asked import THOROUGH, UNTIL
from tests.quick import SLOW
from tests.small_chapter import SAMPLE
from tests.watch import WATCH, unsaid

# What finds programs, libraries, folders, packages and devices; everything else is a setting of somebody's shell.
_FINDS = re.compile(
    "PATH|HOME|USER|LOGNAME|SHELL|TERM|LANG|LC_.*|TMP|TEMP|TMPDIR|PYTHONPATH|VIRTUAL_ENV|CONDA_.*|PYENV_.*|LD_.*|DYLD_.*"
    "|PYTEST_.*|PIP_.*|SSL_.*|.*_PROXY|CUDA_.*|NVIDIA_.*|PLAYWRIGHT_.*|SYSTEM.*|WINDIR|COMSPEC|PATHEXT|.*APPDATA|USERPROFILE"
    "|THOROUGH|PARITY",  # what tests themselves are asked for
    re.IGNORECASE,
)
for name in [name for name in os.environ if not _FINDS.fullmatch(name)]:
    del os.environ[name]
# Tests run side by side: threads that wait for one another's processor take longer than one alone, many times over.
os.environ["OMP_NUM_THREADS"] = "1"
block_slow_imports()
WATCH.begin()

# In these test modules, what runs submissions is forked from a warm process, by day.
FORKED = (
    "attacks_on_teacher",
    "class_report",
    "cluster_hosts",
    "colab",
    "collect_whole",
    "example_class",
    "feedback_run",
    "fuzz",
    "graded_banks",
    "learn",
    "lent",
    "other_cells",
    "own_cells",
    "own_like_nbgrader",
    "packaged",
    "parity",
    "second_course",
    "several_notebooks",
)

# In these, notebooks (those of reports) run in kernels that are forked from a warm process, by day.
WITH_KERNELS = (
    "class_report",
    "lent",
    "own_cells",
    "reporting",
    "second_course",
    "several_notebooks",
)

_IS_KEPT = pytest.StashKey[bool]()
_UNSAID = "read, and not said"
collect_ignore = ["browser"]  # these need a browser: `make test-browser` names the folder


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let grading go on where nothing can be confined; draw the seed of the property tests, unless one is given."""
    if confinement_problem() is not None:
        os.environ[UNCONFINED_VARIABLE] = "1"
    if config.option.hypothesis_seed is None:
        config.option.hypothesis_seed = str(secrets.randbelow(2**32))


def pytest_report_header(config: pytest.Config) -> list[str]:
    """What the run proves, and how to repeat what it draws."""
    reason, seed = confinement_problem(), config.option.hypothesis_seed
    return [
        "student code is confined" if reason is None else f"student code is NOT confined here: {reason}",
        f"drawn with seed {seed}; to repeat: pytest tests/test_fuzz.py --hypothesis-seed={seed}",
    ]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where processes share the tests, begin with the groups and what is slow, so that all end together."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (not _groups(item), item.path.stem.removeprefix("test_") not in SLOW))


def pytest_collection_finish() -> None:
    """Let no search for garbage go through what all tests have: modules, classes, the tests themselves."""
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Leave out what passed before with the same content, and what `make quick` has no time for."""
    WATCH.start()
    if is_remembered(item):
        pytest.skip("passed before, with the same content (build/proved/)")
    if time.time() > float(os.environ.get(UNTIL, "inf")):
        pytest.skip(f"left out, for `make test` to run: {item.path.name}")
    _ask_alembic_here()
    _keep_keys()
    _spare_notes()
    module = item.path.stem.removeprefix("test_")
    _start_warm(module in FORKED)
    _fork_kernels(module in WITH_KERNELS)


def _start_warm(wanted: bool) -> None:
    """Let the fork servers of some tests begin warm: what these tests look at begins behind the start."""
    if wanted and not UNCONFINED:
        pass
    if "autograder.sandbox.execution.forked_children" in sys.modules:
        from tests.warm_child import warm_servers

        is_warm = wanted and not THOROUGH
        vars(sys.modules["autograder.sandbox.execution.forked_children"])["subprocess"] = (
            warm_servers() if is_warm else subprocess
        )


def _fork_kernels(wanted: bool) -> None:
    """Let the kernels of some tests be forked."""
    os.environ.pop("JUPYTER_PATH", None)
    if wanted and not THOROUGH and sys.platform == "linux":
        from tests.forked_kernels import kernels_of_tests

        os.environ["JUPYTER_PATH"] = kernels_of_tests()


def _keep_keys() -> None:
    """Let judges share what they compute on the one drawing of fresh cases that the tests look at by day."""
    answer_keys = sys.modules.get("autograder.course.answer_keys")
    if answer_keys is not None and not THOROUGH:
        from tests import kept_keys

        keys = answer_keys.AnswerKeys
        keys._compute_full, keys._compute_reference = kept_keys.full_key, kept_keys.reference_key


def _spare_notes() -> None:
    """Let torch, where a test uses it, note nothing down for profilers and cards that are not there."""
    if "torch" in sys.modules and not THOROUGH:
        from tests.lean_torch import spare_notes

        spare_notes()


def _ask_alembic_here() -> None:
    """Tell a new gradebook the version of its tables from this process: nbgrader asks another, which takes seconds."""
    api = sys.modules.get("nbgrader.api")
    if api is not None and not THOROUGH:
        vars(api).update(get_alembic_version=alembic_version)


@cache
def alembic_version() -> str:
    """The last version that nbgrader has of the gradebook's tables."""
    import nbgrader
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(nbgrader.__file__).parent / "alembic"))
    return str(ScriptDirectory.from_config(config).get_current_head())


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Remember a test that passed, where it is worth it, once it has put back what it replaced (a full disk, say).

    One that read what its module does not say is not remembered, and told at the end.
    """
    report = yield
    if report.when == "call":
        worth = remembered.worth_it(item.path.stem, _groups(item), call.duration)
        item.stash[_IS_KEPT] = report.passed and worth
    elif report.when == "teardown" and (told := _unsaid(item)):
        report.user_properties.append((_UNSAID, told))
    elif report.when == "teardown" and report.passed and item.stash.get(_IS_KEPT, False):
        remembered.keep(_place(item), _reads(item))
    return report


def pytest_sessionfinish() -> None:
    """Remember what has passed since that was last done."""
    remembered.settle()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what modules of tests read beyond what they say: they run each time, until it is written down."""
    ended = [report for reports in terminalreporter.stats.values() for report in reports]
    told = {text for report in ended for name, text in getattr(report, "user_properties", ()) if name == _UNSAID}
    if told:
        terminalreporter.section("not remembered")
        terminalreporter.write_line("\n".join(sorted(told)))


def pytest_unconfigure() -> None:
    """Leave nothing behind."""
    WATCH.end()


def _unsaid(item: pytest.Item) -> str:
    """What a test has read and does not say, in words; at night, when more is read and nothing remembered, nothing."""
    read = WATCH.read_by(item.path)
    return "" if THOROUGH else unsaid(item.path.stem, read, _reads(item))


def _groups(item: pytest.Item) -> list[str]:
    return [str(mark.args[0]) for mark in item.iter_markers("xdist_group") if mark.args]


def is_remembered(item: pytest.Item) -> bool:
    """Whether it passed before, with everything as it is now."""
    remembered_at = _place(item)
    return remembered_at is not None and remembered_at.is_file()


def _place(item: pytest.Item) -> Path | None:
    """The file that says that a test passed before, with everything as it is now."""
    return remembered.place(item.nodeid, _reads(item))


def _reads(item: pytest.Item) -> tuple[str, ...]:
    return remembered.reads(item.path.stem, _groups(item), item.name)


@pytest.fixture
def in_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let notebooks find the tests' own course, as if it were installed."""
    monkeypatch.setenv(COURSE_VARIABLE, str(SAMPLE / "course"))


UNCONFINED = confinement_problem() is not None  # what a command asks of the environment, for tests that hand it down
needs_confinement = pytest.mark.skipif(
    confinement_problem() is not None, reason=f"nothing can be confined here: {confinement_problem()}"
)
