"""Find packages of other authors that have the names of this one's folders, and hide its files or mix with them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.metadata import distributions
from pathlib import Path

from autograder.errors import PackageCollision

_NAMES = ("autograder", "explorers")  # the folders of this package; the index has packages of these names
_PLACE = Path(__file__).resolve().parent.parent


def refuse_other_packages() -> None:
    """Raise PackageCollision if Python finds another author's package under a name of this one; notebooks call it."""
    if mixed := collision_message(sys.path):
        raise PackageCollision(mixed)


def collision_message(search: Iterable[str], place: Path = _PLACE) -> str | None:
    """Return a line that names the packages that hide the one in `place` or mix with it, and the way out; else None.

    `search` are the folders in which Python looks for modules, in order. Packages in earlier folders hide the one
    in `place`; those in `place` itself mix with it. If `place` is not in `search` (an editable install), Python
    tries it last, so that a package in any folder hides it.
    """
    folders = [Path(each).resolve() for each in search]
    ahead = folders[: folders.index(place) + 1] if place in folders else folders
    names = [name for name in _NAMES if any(distributions(name=name, path=list(map(str, ahead))))]
    if not names:
        return None
    return (
        f"Another package, {' and '.join(names)}, is installed here under a name of the course's own folders, "
        "and Python takes its files for the course's. "
        f"Run `pip uninstall {' '.join(names)}`, and then install the course again."
    )
