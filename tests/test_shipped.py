"""The files of shipped observations."""

from pathlib import Path

import pytest

from autograder.course import shipped_observations
from autograder.course.course import course_in
from autograder.diagnosis.judge_answer import judge
from autograder.errors import DamagedData
from tests import made


def test_a_key_survives_the_files() -> None:
    """A key gives the same report after it was written and read."""
    back = shipped_observations.decode(shipped_observations.encode({"double": made.key()}))["double"]
    seen = made.exercise().observe(made.forgets, back.cases)

    assert made.report(made.forgets) == judge(made.exercise(), back, seen, "")


def test_encoding_is_reproducible() -> None:
    """The same key gives the same bytes."""
    assert shipped_observations.encode({"double": made.key()}) == shipped_observations.encode({"double": made.key()})


def test_missing_files_say_what_to_do(tmp_path: Path) -> None:
    """Missing files raise an error that names the command."""
    with pytest.raises(DamagedData, match="make build"):
        course_in(tmp_path).keys("ch98_missing")


def test_damaged_files_are_named() -> None:
    """Damaged files raise DamagedData."""
    with pytest.raises(DamagedData):
        shipped_observations.decode({".json": b"[1, 2", ".safetensors": b""})
