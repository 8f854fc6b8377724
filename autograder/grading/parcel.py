"""What a worker is sent of a submission."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Parcel:
    """What a student handed in: the notebook's bytes, else the `trouble` with the file; `notes` for the teacher."""

    data: bytes
    trouble: str = ""
    notes: tuple[str, ...] = ()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of the notebook."""
        return hashlib.sha256(self.data).hexdigest()
