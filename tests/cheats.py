"""What an exercise gives for nothing: a table of what replays and constants earn, the worst of some fresh seeds.

`python -m tests.cheats` looks at 40 new seeds for each exercise, 12 for those of the chapters that train; at the names
that follow only, where any do. It takes some minutes, and ends with 1 where something is earned.
"""

from __future__ import annotations

import secrets
import sys
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import torch

from autograder.course.judge import Judge
from autograder.course.replay_cheats import (
    MOST,
    after_an_honest_first,
    judge_replay,
    share_of_constants,
    with_right_shapes,
)
from tests.our_course import COURSE

MANY, FEW = 40, 12
# Where right shapes and facts earn more than constants may, as docs/security.md says: the numbers are free there.
FACTS_ALONE = ("make_batch", "fix_inplace", "HouseNet", "MLP", "Dropout")
TRAINING = ("ch04_training", "ch06_capstone")


@dataclass(frozen=True)
class Row:
    """What one exercise gives, as shares: to who repeats all, and to constants after an honest first check.

    `again` is the share of drawings on which one of both would have earned too much, so that cases were drawn again.
    `shapes` is what a replay gives where the shapes are right: facts, which who replaces a probe may report.
    """

    name: str
    replay: float
    constants: float
    again: float
    shapes: float

    @property
    def is_well(self) -> bool:
        """Whether nothing is earned for nothing."""
        return self.replay == 0 and self.constants <= MOST

    def __str__(self) -> str:
        mark = "" if self.is_well else "  <-- points for nothing"
        return f"{self.name:24} {self.replay:6.2f} {self.constants:9.2f} {self.again:11.0%} {self.shapes:6.2f}{mark}"


def rows(judge: Judge, seeds: Sequence[int], names: Iterable[str] = ()) -> Iterator[Row]:
    """A row for each exercise of a chapter, or for these."""
    for name in names or judge.names:
        exercise, shipped = judge.exercises[name], judge.keys.shipped_reference(name)
        replays, constants, shapes, again = [], [], [], 0
        for seed in seeds:
            key = judge.keys.reference_key(name, seed)
            replays.append(judge_replay(exercise, shipped, key).score)
            constants.append(share_of_constants(after_an_honest_first(exercise, shipped, key)))
            shapes.append(with_right_shapes(exercise, shipped, key).score)
            again += judge.keys.drawn[name, seed] != seed
        yield Row(name, max(replays), max(constants), again / len(seeds), max(shapes))


def table(found: Iterable[Row]) -> str:
    """The rows below a heading."""
    heading = f"{'exercise':24} {'replay':>6} {'constants':>9} {'drawn again':>11} {'shapes':>6}"
    return "\n".join((heading, *map(str, found)))


def new_seeds(stem: str) -> list[int]:
    """Seeds that nobody has looked at, fewer for exercises that train."""
    return [1 + secrets.randbelow(2**31 - 2) for _ in range(FEW if stem in TRAINING else MANY)]


def main(names: Sequence[str]) -> int:
    """Print the table of these exercises, of all where none is named."""
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")  # those of the solutions are shown where students run them
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
