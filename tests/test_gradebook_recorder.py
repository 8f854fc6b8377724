"""The recorder uses nbgrader's preprocessors again from one student to the next, and never a teacher's own."""

from __future__ import annotations

import pytest
from nbconvert.exporters import NotebookExporter
from nbconvert.preprocessors import Preprocessor
from nbgrader.preprocessors import DeduplicateIds

from autograder.nbgrader_plugin.gradebook_recorder import Recorder


class OfATeacher(Preprocessor):
    """A preprocessor of somebody's own, which may keep state between notebooks."""


@pytest.mark.parametrize(("steps", "kept"), [((DeduplicateIds,), True), ((DeduplicateIds, OfATeacher), False)])
def test_what_is_used_again(steps: tuple[type[Preprocessor], ...], kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second student gets the first one's objects, unless one of them is the teacher's own."""
    recorder = Recorder.__new__(Recorder)
    recorder._steps, recorder._sanitizing, recorder.exporter = {}, True, NotebookExporter()

    def made_anew(_: object) -> None:
        recorder.exporter._preprocessors = [step() for step in steps]

    monkeypatch.setattr("nbgrader.converters.autograde.Autograde._init_preprocessors", made_anew)
    recorder._init_preprocessors()
    first = list(recorder.exporter._preprocessors)
    recorder._init_preprocessors()

    assert kept is (first == recorder.exporter._preprocessors)
