"""Explaining: which known mistake an answer makes, if any. A sentence that is false of it is worse than none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from autograder.diagnosis.answer_text import Text
from autograder.diagnosis.expected import Key, Mistake
from autograder.exercises.difference import Difference, differences, first_difference
from autograder.exercises.exercise import Exercise
from autograder.exercises.observation import Observation


def explanation(
    exercise: Exercise, key: Key, seen: Sequence[Observation], text: Text, wrong: Sequence[int]
) -> Mistake | None:
    """The known mistake that explains why these cases of one requirement went wrong.

    It shows the same on the first of them and on at least half, nothing refutes it on any case of the exercise, and
    more than one bool speaks for it, and the code does not hold what would prove its sentence false. Of several, it is
    the one that agrees on more cases than any other.
    """
    ranked: list[tuple[int, Mistake]] = []
    for place, mistake in enumerate(key.mistakes):
        if not mistake.sentence or place in text.disproved:
            continue
        # Most mistakes show something else on the first: the other cases are looked at only for those that do not.
        if not same(exercise, mistake.observations[wrong[0]], seen[wrong[0]]):
            continue
        agrees = [same(exercise, *pair) for pair in zip(mistake.observations, seen, strict=True)]
        if 2 * sum(agrees[i] for i in wrong) < len(wrong) or _refuted(exercise, key, mistake, seen):
            continue
        if not _by_one_bool(exercise, key, seen, agrees):
            ranked.append((sum(agrees), mistake))
    ranked.sort(key=lambda pair: -pair[0])
    if not ranked or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def shows(exercise: Exercise, mistake: Mistake, seen: Sequence[Observation]) -> bool:
    """Whether an answer shows on every case what this mistake shows."""
    return all(same(exercise, *pair) for pair in zip(mistake.observations, seen, strict=True))


def same(exercise: Exercise, known: Observation, mine: Observation) -> bool:
    """Whether two observations are one, by the exercise's own comparison."""
    return exercise.compare(known, mine, exercise.tolerance) is None


def _refuted(exercise: Exercise, key: Key, mistake: Mistake, seen: Sequence[Observation]) -> bool:
    """Whether the mistake goes wrong somewhere in a way in which this answer does not."""
    cases = cases_wrong(exercise, key, mistake)
    return any(_denies(exercise, key.reference[i], mistake.observations[i], seen[i]) for i in cases)


@lru_cache(maxsize=1024)  # asked for every answer, and the key stays as it is
def cases_wrong(exercise: Exercise, key: Key, mistake: Mistake) -> tuple[int, ...]:
    """The cases on which a known mistake goes wrong."""
    pairs = zip(key.reference, mistake.observations, strict=True)
    return tuple(i for i, (right, known) in enumerate(pairs) if not same(exercise, right, known))


def _denies(exercise: Exercise, right: Observation, known: Observation, mine: Observation) -> bool:
    """Whether a case on which a mistake goes wrong refutes it: in such a facet, the answer shows something else.

    An answer that raises on this case, for another reason, shows nothing of it.
    """
    if same(exercise, known, mine):
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


def _by_one_bool(exercise: Exercise, key: Key, seen: Sequence[Observation], agrees: Sequence[bool]) -> bool:
    """Whether all that speaks for a mistake is one bool: too little, as so much else may turn it.

    The same bool counts as more where it is wrong on several cases and right on another.
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
    """All that differs, where anything does that counts."""
    if exercise.compare(right, mine, exercise.tolerance) is not None:
        yield from differences(right, mine, exercise.tolerance)


def _holds(observation: Observation, path: tuple[str | int, ...]) -> bool:
    """Whether something stands at this place."""
    value = observation
    for step in path:
        try:
            value = value[step]  # type: ignore[index]
        except (KeyError, IndexError, TypeError):
            return False
    return True
