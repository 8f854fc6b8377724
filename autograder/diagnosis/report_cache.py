"""Cache reports, so that answers of a class with equal observations and equal findings in the text are judged once."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.diagnosis.expected_observations import ExpectedObservations
from autograder.diagnosis.judge_answer import judge_with_examined_source, known_mistakes_irrelevant
from autograder.diagnosis.source_inspection import SourceFindings
from autograder.diagnosis.verdict import Report
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation
from autograder.files import sha256_of_texts

_MOST = 4096  # reports that are remembered


class ReportCache:
    """Keeps reports, so that answers with the same observations and the same text are judged once.

    Each is kept under exercise, seed and the digest of the observations, once with the findings in the text
    (SourceFindings) and whether they were read by the full key, and once with the text's digest, which is found without
    inspecting the text.
    """

    def __init__(self) -> None:
        self._reports: dict[tuple[str, int, str, tuple[SourceFindings, bool] | str], Report] = {}

    def find(self, name: str, seed: int, digest: str, source: str) -> Report | None:
        """Return the report on an answer with the same text that showed the same; None where there is none yet."""
        return self._reports.get((name, seed, digest, sha256_of_texts(source)))

    def judge(
        self,
        exercise: Exercise,
        key: ExpectedObservations,
        seed: int,
        observations: Sequence[Observation],
        source: str,
        digest: str,
        is_full_key: bool,
    ) -> Report:
        """Return the report by this key, and remember it for `digest`, which stands for the observations.

        A report by the reference key stands for the text only where the full key would give the same. The findings by
        it disprove no known mistake, as it has none, so that they say less than equal ones by the full key.
        """
        name, findings = exercise.name, SourceFindings.read(exercise, key, source)
        place = name, seed, digest, (findings, is_full_key)
        report = self._reports.get(place) or judge_with_examined_source(exercise, key, observations, findings)
        self._remember(place, report)
        if is_full_key or known_mistakes_irrelevant(report):
            self._remember((name, seed, digest, sha256_of_texts(source)), report)
        return report

    def _remember(self, place: tuple[str, int, str, tuple[SourceFindings, bool] | str], report: Report) -> None:
        if len(self._reports) >= _MOST:
            self._reports.pop(next(iter(self._reports)))
        self._reports[place] = report
