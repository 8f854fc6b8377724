"""Decode each distinct message from a child once: many answers in a class send the same bytes."""

from __future__ import annotations

import hashlib

from autograder.errors import DamagedData
from autograder.exercises.observation import ExceptionSnapshot, Observation, decode_plain_data

_MAX_MESSAGES = 1024  # messages that are kept in the cache
_MAX_MESSAGE_BYTES = 2**16  # bytes; longer messages are not kept
Observations = tuple[Observation, ...]


class ObservationCache:
    """Observations by the digest of the bytes that they were read from. Callers must not change them."""

    def __init__(self) -> None:
        self._known: dict[str, Observations] = {}

    def read(self, body: bytes, text_bytes: int) -> tuple[Observations, str]:
        """Return the observations in a message and the digest that identifies them; raises DamagedData, TooMuchText.

        `text_bytes` limits the JSON in the message.
        """
        digest = hashlib.sha256(b"%d " % text_bytes + body).hexdigest()
        if digest not in self._known:
            found = _observations(body, text_bytes)
            if len(body) > _MAX_MESSAGE_BYTES:
                return found, digest
            if len(self._known) >= _MAX_MESSAGES:
                self._known.pop(next(iter(self._known)))
            self._known[digest] = found
        return self._known[digest], digest


def _observations(body: bytes, text_bytes: int) -> Observations:
    found = decode_plain_data(body, text_bytes)
    if not isinstance(found, list) or not all(map(_is_observation, found)):
        raise DamagedData("expected a list of observations")
    return tuple(found)


def _is_observation(item: object) -> bool:
    """Return whether an item has the form that the judge relies on."""
    return isinstance(item, dict) and all(isinstance(key, str) for key in item) and _has_valid_error(item)


def _has_valid_error(item: dict[str, object]) -> bool:
    return "raised" not in item or isinstance(item["raised"], ExceptionSnapshot)
