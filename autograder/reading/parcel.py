"""What a worker is sent of a submission."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Parcel:
    """What a student handed in: the notebook's bytes, else the `trouble` with the file; and what is told of the files.

    `notes` cost no points; a person should look at `eye`.
    """

    data: bytes
    trouble: str = ""
    notes: tuple[str, ...] = ()
    eye: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the notebook."""
        return hashlib.sha256(self.data).hexdigest()
