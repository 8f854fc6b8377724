"""Finds packages of other authors that are installed into the same folders as this one, and whose files mix with it."""

from __future__ import annotations

from importlib.metadata import distributions
from pathlib import Path

_NAMES = ("autograder", "explorers")  # the folders of this package; the index has packages of these names
_PLACE = Path(__file__).parent.parent


def package_collision(place: Path = _PLACE) -> str | None:
    """Return a line that names the packages that are mixed with this one in `place`, and the way out; None for none."""
    names = [name for name in _NAMES for found in distributions(name=name) if found.locate_file("") == place]
    if not names:
        return None
    return (
        f"Another package, {' and '.join(names)}, is installed into the same folders as this course, and their files "
        f"are mixed. Run `pip uninstall {' '.join(names)}`, and then install the course again."
    )
