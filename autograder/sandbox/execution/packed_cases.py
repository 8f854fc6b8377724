"""The cases of a class on their way to those who run its submissions: packed once, and read once by who forks them."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.exercises.exercise import Case
from autograder.exercises.observation import from_bytes, to_bytes

Cases = dict[str, tuple[Case, ...]]  # of each exercise


def unpacked(data: bytes) -> Cases:
    """The cases that `packed` made these bytes of; raises DamagedData."""
    return {name: tuple(map(Case.from_plain, row)) for name, row in from_bytes(data).items()}


class _LastCases:
    """The bytes of the cases that were sent last: the submissions of a class all get the same."""

    def __init__(self) -> None:
        self._last: tuple[Cases, bytes] = ({}, to_bytes({}))

    def packed(self, cases: Mapping[str, tuple[Case, ...]]) -> bytes:
        """The cases as bytes; made anew unless those of every exercise are the very ones of the last time."""
        known, data = self._last
        if known.keys() != cases.keys() or any(known[name] is not cases[name] for name in cases):
            plain = {name: [each.to_plain() for each in row] for name, row in cases.items()}
            data = to_bytes(plain)
            self._last = dict(cases), data
        return data


packed = _LastCases().packed
