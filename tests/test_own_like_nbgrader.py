"""A teacher's own assignments get the scores that nbgrader alone gives, cell by cell."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.grading.grading_executors import WorkerOptions
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from tests.conftest import UNCONFINED
from tests.own_assignments import Scores, scores
from tests.own_examples import EXAMPLES
from tests.stock_scores import course_of, graded_by_nbgrader, recorded

pytestmark = [
    pytest.mark.xdist_group("own like nbgrader"),  # one process, which makes the course once
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
    pytest.mark.night,
]

STOCK = recorded()


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Scores]:
    """Return the scores of each assignment as our engine grades it."""
    course = course_of(tmp_path_factory.mktemp("like nbgrader") / "course", EXAMPLES)
    for name in EXAMPLES:
        cycle = NbgraderCycle(course, name)
        assert {} == cycle.autograde(
            cycle.students(), how=GradingOptions(workers=WorkerOptions(count=1), unconfined=UNCONFINED)
        )
    return {name: scores(course, name) for name in EXAMPLES}


@pytest.mark.parametrize("name", EXAMPLES)
def test_same_scores(ours: dict[str, Scores], name: str) -> None:
    """Every cell's score, and whether it waits for a person, equals nbgrader's."""
    assert STOCK[name] == ours[name]


def test_recorded_scores_are_nbgraders(tmp_path: Path) -> None:
    """The recorded scores are those that nbgrader gives now."""
    assert STOCK == graded_by_nbgrader(course_of(tmp_path / "course", EXAMPLES), tmp_path / "exchange")
