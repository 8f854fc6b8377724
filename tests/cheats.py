"""Measure how many points each exercise gives for replayed and for constant results, as a table.

`python -m tests.cheats [NAME ...]` tries 40 new seeds for each exercise, 12 in chapters that train, and prints the
worst of them. It tries the named exercises, or all. It takes some minutes, and exits with 1 if a cheat earns points.
"""

from __future__ import annotations

import secrets
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from autograder.course.chapter_judge import Judge
from autograder.course.replay_attack import (
    MAX_SHARE_OF_CONSTANTS,
    judge_partly_honest_replay,
    judge_replayed_observations,
    judge_shape_aware_replay,
    share_passed_by_replay,
)
from tests.our_course import COURSE

MANY, FEW = 40, 12
# Here correct shapes and facts earn more than constants may, because the numbers are free (docs/security.md).
FACTS_ALONE = ("make_batch", "fix_inplace", "HouseNet", "MLP", "Dropout")
TRAINING = ("ch04", "ch06")


@dataclass(frozen=True)
class Row:
    """The points that cheats earn at one exercise, as shares of 1.

    `replay` is for repeating the shipped observations, `constants` for constant results after an honest first check.
    `again` is the share of seeds whose cases were drawn again, because one of these would have earned too much.
    `shapes` is for a replay with correct shapes, as an answer could forge that replaces a probe.
    """

    name: str
    replay: float
    constants: float
    again: float
    shapes: float

    @property
    def is_well(self) -> bool:
        """Return whether no cheat earns points."""
        return self.replay == 0 and self.constants <= MAX_SHARE_OF_CONSTANTS

    def __str__(self) -> str:
        mark = "" if self.is_well else "  <-- points for nothing"
        return f"{self.name:24} {self.replay:6.2f} {self.constants:9.2f} {self.again:11.0%} {self.shapes:6.2f}{mark}"


def rows(judge: Judge, seeds: Sequence[int], names: Iterable[str] = ()) -> Iterator[Row]:
    """Yield a row for each exercise of a chapter, or for the named ones."""
    for name in names or judge.names:
        exercise, shipped = judge.exercises[name], judge.keys.shipped_reference(name)
        replays, constants, shapes, again = [], [], [], 0
        for seed in seeds:
            key = judge.keys.reference_key(name, seed)
            replays.append(judge_replayed_observations(exercise, shipped, key).score)
            constants.append(share_passed_by_replay(judge_partly_honest_replay(exercise, shipped, key)))
            shapes.append(judge_shape_aware_replay(exercise, shipped, key).score)
            again += judge.keys.drawn[name, seed] != seed
        yield Row(name, max(replays), max(constants), again / len(seeds), max(shapes))


def table(found: Iterable[Row]) -> str:
    """Return the rows below a heading."""
    heading = f"{'exercise':24} {'replay':>6} {'constants':>9} {'drawn again':>11} {'shapes':>6}"
    return "\n".join((heading, *map(str, found)))


def new_seeds(stem: str) -> list[int]:
    """Return random seeds, fewer for chapters whose exercises train."""
    return [1 + secrets.randbelow(2**31 - 2) for _ in range(FEW if stem.startswith(TRAINING) else MANY)]


def main(names: Sequence[str]) -> int:
    """Print the table of these exercises, or of all; return 1 if a cheat earns points."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # the solutions' warnings appear where students run them
    found: list[Row] = []
    for stem in COURSE.stems:
        wanted = [exercise.name for exercise in COURSE.exercises(stem) if exercise.name in names or not names]
        if wanted:
            seeds = new_seeds(stem)
            print(f"{stem}, seeds {' '.join(map(str, seeds))}", flush=True)
            found += rows(Judge(COURSE.folder, stem), seeds, wanted)
    print(table(found))
    return 0 if all(row.is_well for row in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
