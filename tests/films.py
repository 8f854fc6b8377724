"""Read films in tests: the values of all parts, frame by frame."""

from __future__ import annotations

from typing import Any


def frames(film: dict[str, Any], *options: str) -> list[dict[str, str]]:
    """Return each frame of the run with these options, complete; the page gets only the changes."""
    values: dict[str, str] = {}
    found = []
    for frame in film["runs"]["|".join(options)]["frames"]:
        told = frame.split("\t")
        values |= {film["parts"][int(part)]: value for part, value in zip(told[::2], told[1::2], strict=True)}
        found.append(dict(values))
    return found
