"""Names of the faulty programs that bug hunts show: `their_x` for the exercise `x`, whose name stays the reader's."""

from __future__ import annotations

from collections.abc import Iterable


def faulty_program_name(exercise: str) -> str:
    """Return a faulty program's name: `their_x` for `x`, so that running it does not replace the reader's `x`."""
    return f"Their{exercise}" if exercise[:1].isupper() else f"their_{exercise}"


def exercise_of_faulty_program(name: str, exercises: Iterable[str]) -> str | None:
    """Return the exercise whose faulty program has this name; None if there is none, or if `name` is an exercise."""
    known = tuple(exercises) if name.startswith(("their_", "Their")) else ()
    return None if name in known else next((each for each in known if faulty_program_name(each) == name), None)
