"""Pack the cases of all exercises into bytes for the children that probe answers, once for a whole class."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.exercises.exercise import Case
from autograder.exercises.observation import decode_plain_data, encode_plain_data

Cases = dict[str, tuple[Case, ...]]  # by exercise


def unpack_cases(data: bytes) -> Cases:
    """Return the cases in packed bytes; raises DamagedData."""
    return {name: tuple(map(Case.from_plain, row)) for name, row in decode_plain_data(data).items()}


class _LastCases:
    """Remembers the last packed cases: all submissions of a class get the same ones."""

    def __init__(self) -> None:
        self._last: tuple[Cases, bytes] = ({}, encode_plain_data({}))

    def packed(self, cases: Mapping[str, tuple[Case, ...]]) -> bytes:
        """Return the cases as bytes: the same bytes object as last time if the cases are the same objects."""
        last, data = self._last
        if last.keys() != cases.keys() or any(last[name] is not cases[name] for name in cases):
            plain = {name: [each.to_plain() for each in row] for name, row in cases.items()}
            data = encode_plain_data(plain)
            self._last = dict(cases), data
        return data


pack_cases = _LastCases().packed
