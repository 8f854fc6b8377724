"""Find the known mistake that explains a failed requirement, if any. A false explanation is worse than none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from autograder.diagnosis.expected_observations import ExpectedObservations, KnownMistake
from autograder.diagnosis.source_inspection import SourceFindings
from autograder.exercises.compare_observations import Difference, differences, first_difference
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation


def find_explaining_mistake(
    exercise: Exercise,
    key: ExpectedObservations,
    seen: Sequence[Observation],
    text: SourceFindings,
    wrong: Sequence[int],
) -> KnownMistake | None:
    """Return the known mistake that explains why the answer fails on the cases `wrong` of one requirement, or None.

    The mistake has the answer's observation on the first of these cases and on at least half of them; on no case
    does it fail in a way in which the answer does not; more than one equal bool is evidence for it; and `text` does
    not rule it out. Of several such mistakes, it is the one that agrees on most cases; None if two tie.
    """
    ranked: list[tuple[int, KnownMistake]] = []
    for place, mistake in enumerate(key.mistakes):
        if not mistake.sentence or place in text.disproved:
            continue
        # Most mistakes differ on the first case already, which is cheap to find out.
        if not same_observation(exercise, mistake.observations[wrong[0]], seen[wrong[0]]):
            continue
        agrees = [same_observation(exercise, *pair) for pair in zip(mistake.observations, seen, strict=True)]
        if 2 * sum(agrees[i] for i in wrong) < len(wrong) or _refuted(exercise, key, mistake, seen):
            continue
        if not _by_one_bool(exercise, key, seen, agrees):
            ranked.append((sum(agrees), mistake))
    ranked.sort(key=lambda pair: -pair[0])
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def matches_mistake(exercise: Exercise, mistake: KnownMistake, seen: Sequence[Observation]) -> bool:
    """Return whether an answer's observations equal the mistake's on every case."""
    return all(same_observation(exercise, *pair) for pair in zip(mistake.observations, seen, strict=True))


def same_observation(exercise: Exercise, known: Observation, mine: Observation) -> bool:
    """Return whether two observations are equal by the exercise's own comparison and tolerance."""
    return exercise.compare(known, mine, exercise.tolerance) is None


def _refuted(exercise: Exercise, key: ExpectedObservations, mistake: KnownMistake, seen: Sequence[Observation]) -> bool:
    """Return whether the mistake fails on some case in a way in which this answer does not."""
    cases = cases_showing_mistake(exercise, key, mistake)
    return any(_denies(exercise, key.reference[i], mistake.observations[i], seen[i]) for i in cases)


@lru_cache(maxsize=1024)  # needed for every answer, and a key does not change
def cases_showing_mistake(exercise: Exercise, key: ExpectedObservations, mistake: KnownMistake) -> tuple[int, ...]:
    """Return the indices of the cases on which a known mistake differs from the reference."""
    pairs = zip(key.reference, mistake.observations, strict=True)
    return tuple(i for i, (right, known) in enumerate(pairs) if not same_observation(exercise, right, known))


def _denies(exercise: Exercise, right: Observation, known: Observation, mine: Observation) -> bool:
    """Return whether a case on which a mistake fails refutes it: the answer differs from it in a facet that is wrong.

    An answer that raises on this case, where the mistake does not, refutes nothing.
    """
    if same_observation(exercise, known, mine):
        return False
    if exercise.compare is not first_difference:
        return True
    if "raised" in mine and "raised" not in known:
        return False
    if set(known) != set(mine):
        return True
    return any(
        first_difference(right.get(facet), known[facet], exercise.tolerance) is not None
        and first_difference(known[facet], mine[facet], exercise.tolerance) is not None
        for facet in known
    )


def _by_one_bool(
    exercise: Exercise, key: ExpectedObservations, seen: Sequence[Observation], agrees: Sequence[bool]
) -> bool:
    """Return whether one bool is the only evidence for a mistake, which is too little: many faults may flip a bool.

    The same bool is enough if it is wrong on several cases and right on another one.
    """
    found = [
        list(_parts(exercise, right, mine)) if agreed else []
        for right, mine, agreed in zip(key.reference, seen, agrees, strict=True)
    ]
    every = [difference for of_case in found for difference in of_case]
    paths = {difference.path for difference in every}
    if len(paths) != 1 or not all(type(each.expected) is type(each.got) is bool for each in every):
        return False
    wrong = sum(map(bool, found))
    watched = sum(_holds(right, *paths) for right in key.reference)
    return wrong < 2 or wrong == watched


def _parts(exercise: Exercise, right: Observation, mine: Observation) -> Iterator[Difference]:
    """Yield every difference if the exercise's own comparison finds any."""
    if exercise.compare(right, mine, exercise.tolerance) is not None:
        yield from differences(right, mine, exercise.tolerance)


def _holds(observation: Observation, path: tuple[str | int, ...]) -> bool:
    """Return whether the observation has a value at this path."""
    value = observation
    for step in path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return False
    return True
