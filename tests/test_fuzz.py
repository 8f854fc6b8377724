"""What comes from outside may be anything: property tests over generated data, with the seed printed on failure."""

import json
from contextlib import suppress
from typing import Any

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from autograder.difference import Tolerance, first_difference
from autograder.errors import DamagedData
from autograder.grading.submission import read
from autograder.observation import from_bytes, to_bytes
from tests.small_chapter import PROJECT

SCALARS = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(max_size=8)
PLAIN = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=4) | st.integers(0, 9), inner, max_size=3)
    ),
    max_leaves=12,
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
TAGS = ("tensor", "seen", "list", "tuple", "dict", "size", "dtype", "device", "raised", "foreign", "odd")
JUNK = st.sampled_from(
    ["", "zzz", "float32", "cpu", "nn", 3, -1, 2.5, None, True, 10**30, [], [1], ["a"], [10**30], ["a", "b", "c"], {}]
)
SEEN = st.just([[2], "float32", "cpu", False]) | st.just([["a"], 3, 4, 5])
TAGGED = st.recursive(
    JUNK | SEEN,
    lambda inner: st.fixed_dictionaries(
        {"t": st.sampled_from(TAGS)},
        optional={"v": inner | st.lists(inner, max_size=4), "k": inner, "order": inner},
    ),
    max_leaves=8,
)
CELLS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "cell_type": st.sampled_from(["code", "markdown", "raw", "odd", 3]),
            "source": st.text(max_size=30) | st.lists(st.text(max_size=9) | st.integers(), max_size=3) | JSON,
            "metadata": JSON | st.fixed_dictionaries({"nbgrader": JSON | st.fixed_dictionaries({"grade_id": JSON})}),
            "id": JSON,
            "outputs": JSON,
        },
    ),
    max_size=5,
)
gentle = settings(deadline=None, max_examples=300, suppress_health_check=[HealthCheck.too_slow])


@pytest.fixture(scope="module")
def release() -> Any:
    """The released notebook of chapter 1."""
    return nbformat.read(PROJECT / "notebooks" / "ch01_tensors.ipynb", as_version=4)


@gentle
@given(PLAIN)
def test_plain_data_survives_the_journey(value: Any) -> None:
    """Whatever a probe may see comes back as it was."""
    assert first_difference(value, from_bytes(to_bytes(value)), Tolerance(0, 0)) is None


@gentle
@given(st.binary(max_size=60))
def test_any_bytes_are_data_or_damaged(data: bytes) -> None:
    """Bytes from a student's process give plain data, or DamagedData and nothing else."""
    with suppress(DamagedData):
        from_bytes(data)


@gentle
@given(TAGGED)
def test_any_json_is_an_observation_or_damaged(node: Any) -> None:
    """So does any JSON in front of an empty set of tensors."""
    text = json.dumps(node).encode()
    with suppress(DamagedData):
        value = from_bytes(len(text).to_bytes(8, "big") + text + (2).to_bytes(8, "little") + b"{}")
        assert first_difference(value, from_bytes(to_bytes(value)), Tolerance(0, 0)) is None


@gentle
@given(CELLS)
def test_any_cells_make_a_sound_submission(release: Any, cells: list[dict[str, Any]]) -> None:
    """Whatever the cells are, every exercise has an answer to run and the notebook is valid."""
    submission = read(json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}).encode(), release)
    names = {
        cell.metadata.nbgrader.grade_id for cell in release.cells if cell.metadata.get("nbgrader", {}).get("solution")
    }

    nbformat.validate(submission.notebook)
    assert submission.trouble is not None or names == set(submission.answers)


@gentle
@given(st.binary(max_size=80) | JSON.map(lambda node: json.dumps(node).encode()))
def test_any_file_is_read_or_named(release: Any, data: bytes) -> None:
    """A file that is no notebook at all gives a reason in words."""
    submission = read(data, release)

    assert submission.trouble
