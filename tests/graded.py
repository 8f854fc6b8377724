"""The example class, graded once for all tests that look at it, whichever process runs them."""

from __future__ import annotations

import fcntl
import pickle
from pathlib import Path

import pytest

from autograder.example import example_class
from autograder.example.example_class import ExampleClass
from autograder.grading import classroom
from tests.small_chapter import PROJECT

STEM = "ch01_tensors"
SEED = 20_250_101


def example(base: Path, monkeypatch: pytest.MonkeyPatch) -> ExampleClass:
    """The graded class; the first process that asks makes it, the others wait."""
    monkeypatch.setenv(classroom.SEED_VARIABLE, str(SEED))
    folder, kept = base / "example-class", base / "example-class.pickle"
    with (base / "example-class.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            made = example_class.run(PROJECT, example_class.empty_folder(folder), STEM)
            kept.write_bytes(pickle.dumps(made))
        made = pickle.loads(kept.read_bytes())
    assert isinstance(made, ExampleClass)
    return made


def shared_folder(factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of one pytest run share."""
    base = factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base
