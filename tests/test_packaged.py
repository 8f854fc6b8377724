"""The notebooks in nbgrader's own package get the scores that nbgrader alone gives."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.own_assignments import Scores, scores
from tests.packaged import PACKAGED, course_of, recorded
from tests.stock_scores import graded_by_nbgrader

pytestmark = [
    pytest.mark.xdist_group("own like nbgrader"),  # one process, which makes the course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    # nbgrader does not close the sockets of the kernel that makes its automatic tests.
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.night,
]

STOCK = recorded()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scores]:
    """Return the scores of each assignment as our engine grades it."""
    course = course_of(tmp_path_factory.mktemp("packaged") / "course")
    for name in PACKAGED:
        cycle = NbgraderCycle(course, name)
        assert {} == cycle.autograde(
            cycle.students(), how=GradingOptions(workers=WorkerOptions(count=1), unconfined=UNCONFINED)
        )
    return {name: scores(course, name) for name in PACKAGED}


@pytest.mark.parametrize("name", PACKAGED)
def test_same_scores(ours: dict[str, Scores], name: str) -> None:
    """Every cell's score, and whether it waits for a person, equals nbgrader's."""
    assert STOCK[name] == ours[name]


def test_recorded_scores_are_nbgraders(tmp_path: Path) -> None:
    """The recorded scores are those that nbgrader gives now."""
    assert STOCK == graded_by_nbgrader(course_of(tmp_path / "course"), tmp_path / "exchange", PACKAGED)
