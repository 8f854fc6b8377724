"""Which of the sentences that a requirement has for what it watches is told of a difference."""

from __future__ import annotations

from collections.abc import Mapping

from autograder.exercises.difference import Difference

_FORM = ("type", "keys", "shape", "dtype", "device", "requires_grad")


def own_sentence(tells: Mapping[str, str], difference: Difference) -> str:
    """What is told of a difference, by the most telling name of it that stands there; "" where nothing is.

    A sentence about what a result holds is not about what it lacks, nor about a result of another form.
    """
    facet, *inner = difference.path
    names = [f"{facet}={difference.expected}"] if isinstance(difference.expected, str | int) else []
    names += [*(f"{facet}.{key}" for key in reversed(inner) if isinstance(key, str)), f"{facet}:{difference.aspect}"]
    of_form = difference.aspect == "keys" or (not inner and difference.aspect in _FORM)
    names += [str(facet)] if facet != "returned" or not of_form else []
    return next((tells[name] for name in names if name in tells), "")
