"""Films as tests read them: the values of all parts, frame by frame."""

from __future__ import annotations

from typing import Any


def frames(film: dict[str, Any], *options: str) -> list[dict[str, str]]:
    """Each frame of the run that these options belong to; the page is told only what changes."""
    values: dict[str, str] = {}
    found = []
    for frame in film["runs"]["|".join(options)]["frames"]:
        told = frame.split("\t")
        values |= {film["parts"][int(part)]: value for part, value in zip(told[::2], told[1::2], strict=True)}
        found.append(dict(values))
    return found
