"""Which lines a common mistake costs: those that it breaks, and no line that it fulfils."""

from functools import cache

import pytest

from autograder.authoring.judge import VISIBLE_SEED, Judge
from autograder.judging.verdict import Status
from tests.our_course import COURSE as OURS
from tests.small_chapter import PROJECT

# Exercise, wrong answer: the lines that are crossed, and those that wait.
COSTS = [
    (
        "hessian_vector_product",
        "v-after-the-sum",
        ["counts mixed second derivatives too"],
        [
            "returns a tensor that does not require grad",
            "leaves what it is given as it was",
            "does not mind an old .grad, nor a second call",
            "differentiates, at x alone",
            "never builds the full Hessian",
        ],
    ),
    ("grad_of", "tracked-gradient", ["returns a tensor that does not require grad"], []),
    ("Dropout", "in-place", ["keeps dtype, gradient and x as they should be"], []),
    ("Dropout", "mask-kept", ["draws anew at each call, and never seeds"], []),
    (
        "init_he",
        "children-only",
        ["finds layers at any depth, and the module itself"],
        ["sets the biases to 0, where there are any", "leaves all other layers as they were"],
    ),
    ("linear_mse", "sample-std", ["gives the loss of any data"], []),
    ("HouseNet", "scale-of-shape-one", ["learns its scale"], []),
    ("evaluate", "percent", ["returns plain floats, the accuracy as a share from 0 to 1"], []),
    ("lr_at", "off-by-one", ["warms up in equal parts"], []),
    ("lr_at", "one-step-of-warm-up-too-many", ["is at base_lr where the cosine begins"], []),
    ("lr_at", "divides-by-no-warm-up", ["does without a warm-up"], []),
    ("linear_mse", "broadcast-loss", ["compares each prediction with its own target"], ["gives the loss of any data"]),
]


@cache
def judge_of(name: str) -> Judge:
    """What judges answers to one exercise."""
    return Judge(PROJECT / "course", OURS.find(name).chapter, only=name)


@pytest.mark.parametrize(
    ("name", "tag", "crossed", "waiting"), COSTS, ids=lambda value: value if type(value) is str else ""
)
def test_a_mistake_costs_its_own_lines(name: str, tag: str, crossed: list[str], waiting: list[str]) -> None:
    """A line that cannot be judged because of another fault waits; one that is fulfilled counts."""
    judge = judge_of(name)
    answer, seen = next((answer, seen) for answer, seen in judge.shown(name) if answer.tag == tag)

    verdicts = judge.judge(name, VISIBLE_SEED, seen, answer.source).verdicts

    assert crossed == [each.requirement for each in verdicts if each.status in (Status.FAIL, Status.ERROR)]
    assert waiting == [each.requirement for each in verdicts if each.status is Status.SKIPPED]
