"""Choose the author's message for a wrong value: the entry of a requirement's `tells` whose key fits the difference."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.exercises.compare_observations import Difference

_FORM = ("type", "keys", "shape", "dtype", "device", "requires_grad")


def choose_author_message(tells: Mapping[str, str], difference: Difference) -> str:
    """Return the sentence in `tells` under the most specific key that fits the difference, or "".

    Keys are tried in the order "facet=value", "facet.key" (innermost first), "facet:aspect", "facet". The plain key
    "returned" is skipped if keys are missing or the form of the whole result differs: its sentence is about values.
    """
    facet, *inner = difference.path
    names = [f"{facet}={difference.expected}"] if isinstance(difference.expected, str | int) else []
    names += [*(f"{facet}.{key}" for key in reversed(inner) if isinstance(key, str)), f"{facet}:{difference.aspect}"]
    of_form = difference.aspect == "keys" or (not inner and difference.aspect in _FORM)
    names += [str(facet)] if facet != "returned" or not of_form else []
    return next((tells[name] for name in names if name in tells), "")
