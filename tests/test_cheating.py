"""On fresh cases, replayed results earn no points, and constant results at most a quarter.

The exercises at which a replay with correct shapes earns more are listed in `FACTS_ALONE`.

The table of all exercises is printed: `pytest tests/test_cheating.py -s`. `NIGHT=1` draws more seeds, and new ones;
`python -m tests.cheats` does this for exercises by name.
"""

import warnings
from functools import cache
from pathlib import Path

import pytest

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.course.missing_exercise_parts import ExerciseParts
from autograder.course.replay_attack import MAX_SHARE_OF_CONSTANTS, cheat_earns_points
from tests.asked import NIGHT
from tests.cheats import FACTS_ALONE, new_seeds, rows, table
from tests.our_course import COURSE
from tests.proven_course import edit, make_proven_course

pytestmark = pytest.mark.night

SEEDS = (5201, 5202)
SELDOM = 0.25  # the largest share of seeds that may need another draw, which costs time when grading starts


_judge = cache(Judge)
EXERCISES = [
    pytest.param(each.stem, name, marks=pytest.mark.xdist_group(f"nothing in {each.stem}"))  # its judge is built once
    for each in COURSE.listed
    for name in each.exercises
]


@pytest.mark.parametrize(("stem", "name"), EXERCISES)
def test_nothing_for_nothing(stem: str, name: str) -> None:
    """No cheat earns points at this exercise, except by facts if it is in `FACTS_ALONE`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(rows(_judge(COURSE.folder, stem), new_seeds(stem) if NIGHT else SEEDS, [name]))
    print(f"\n{table(found)}")

    assert [] == [str(row) for row in found if not row.is_well]
    assert [] == [row.name for row in found if (row.shapes > MAX_SHARE_OF_CONSTANTS) != (row.name in FACTS_ALONE)]
    assert not NIGHT or [] == [str(row) for row in found if row.again > SELDOM]


@pytest.fixture
def parts(tmp_path: Path) -> ExerciseParts:
    """Return an exercise whose first case is drawn from two possible ones."""
    parts = make_proven_course(tmp_path)
    edit(parts.exercise, "ends(draw.normal(2))", "ends(torch.tensor([0.0, float(draw.whole(1, 2))]))")
    edit(
        parts.exercise, "from autograder.exercises.seeded_draw", "import torch\n\nfrom autograder.exercises.seeded_draw"
    )
    return parts


class TestCasesThatWouldPay:
    def test_they_are_drawn_again(self, parts: ExerciseParts) -> None:
        """A seed that draws a shipped case is drawn again, so that a replay earns no points."""
        judge = Judge(parts.course, parts.stem)
        exercise, shipped = judge.exercises[parts.name], judge.keys.shipped_reference(parts.name)
        seeds = range(1, 21)
        first = [exercise.cases(seed)[0].args[0].tolist() for seed in seeds]
        graded = [judge.keys.cases(parts.name, seed)[0].args[0].tolist() for seed in seeds]
        visible = exercise.cases(VISIBLE_SEED)[0].args[0].tolist()

        assert 3 < first.count(visible) < 17 and 0 == graded.count(visible)
        assert all(not cheat_earns_points(exercise, shipped, judge.keys.full_key(parts.name, seed)) for seed in seeds)

    def test_other_cases_stay(self, parts: ExerciseParts) -> None:
        """A seed whose cases give a cheat no points keeps them."""
        judge = Judge(parts.course, parts.stem)
        graded = {seed: str([case.args for case in judge.keys.cases(parts.name, seed)]) for seed in range(1, 21)}
        drawn = {seed: str([case.args for case in judge.exercises[parts.name].cases(seed)]) for seed in graded}

        assert [seed for seed in graded if graded[seed] == drawn[seed]] == [
            seed for seed in graded if judge.keys.drawn[parts.name, seed] == seed
        ]
