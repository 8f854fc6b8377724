"""The requirements that a common mistake fails: those that it violates, and no others."""

from collections.abc import Callable

import pytest
import torch

from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.verdict import Status, Verdict
from autograder.exercises.exercise import FACETS_WITH_MESSAGES, Case, Exercise, Requirement
from autograder.exercises.observation import Observation, Plain, TensorSnapshot
from autograder.exercises.probe import snapshot_value
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE
from tests.our_course import COURSE as OURS
from tests.our_course import judge_of

# Exercise, tag of a wrong answer, the requirements that fail, and those that wait.
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


@pytest.mark.parametrize(
    ("name", "tag", "crossed", "waiting"), COSTS, ids=lambda value: value if type(value) is str else ""
)
def test_a_mistake_costs_its_own_lines(name: str, tag: str, crossed: list[str], waiting: list[str]) -> None:
    """A mistake fails its own requirements; those that cannot be judged wait, and the others pass."""
    here = judge_of(name)
    answer, seen = next((answer, seen) for answer, seen in here.keys.bank_observations(name) if answer.tag == tag)

    verdicts = here.judge(name, VISIBLE_SEED, seen, answer.source).verdicts

    assert crossed == [each.requirement for each in verdicts if each.status in (Status.FAIL, Status.ERROR)]
    assert waiting == [each.requirement for each in verdicts if each.status is Status.SKIPPED]


def spoiled(value: Plain) -> Plain:
    """Return another value of the same kind."""
    match value:
        case TensorSnapshot(values=torch.Tensor() as values):
            return snapshot_value(~values if values.dtype == torch.bool else 2 * values + 3)
        case bool():
            return not value
        case int() | float():
            return 2 * value + 3
        case str():
            return f"not {value}"
        case torch.Size():
            return torch.Size([*value, 1])
        case list() | tuple() if value:
            return type(value)([spoiled(value[0]), *value[1:]])
        case dict():
            return {key: spoiled(each) for key, each in value.items()}
    return "nothing of the kind"


def judged(exercise: Exercise, spoils: Callable[[Case, Observation], Observation]) -> dict[str, Verdict]:
    """Return the verdicts by requirement on the reference's observations, changed by `spoils`."""
    key = OURS.keys(exercise.chapter)[exercise.name]
    seen = [spoils(case, right) for case, right in zip(key.cases, key.reference, strict=True)]
    return {verdict.requirement: verdict for verdict in judge(exercise, key, seen, "").verdicts}


def _given(exercise: Exercise) -> list[str]:
    """Return the facets on which lines of an exercise stand."""
    return sorted({facet for requirement in exercise.requirements.values() for facet in requirement.given})


EVERY = list(OURS.all_exercises())
# Rounding is a slip of form: it costs the line about it, and the lines that stand on it are judged as if it were right.
GATED = [(each, facet) for each in EVERY for facet in _given(each) if not facet.endswith("rounded")]
NEEDED = [(each, r, other) for each in EVERY for r in each.requirements.values() for other in r.needs]


@pytest.mark.parametrize(("exercise", "facet"), GATED, ids=[f"{each.name}-{facet}" for each, facet in GATED])
def test_a_line_waits_for_what_it_stands_on_or_says_what_that_should_be(exercise: Exercise, facet: str) -> None:
    """If only a facet that others depend on is wrong, each waits for it, or fails with a written message."""
    verdicts = judged(exercise, lambda case, seen: seen | {facet: spoiled(seen[facet])} if facet in seen else seen)

    for requirement in (each for each in exercise.requirements.values() if facet in each.given):
        verdict, tells = verdicts[requirement.sentence], exercise.tells(requirement.sentence)
        written = any(verdict.sentence.startswith(words) for words in tells.values())
        assert verdict.status is Status.SKIPPED or (
            verdict.status is Status.FAIL and (written or facet in FACETS_WITH_MESSAGES)
        )


ROUNDING = [(each, facet) for each in EVERY for facet in _given(each) if facet.endswith("rounded")]


@pytest.mark.parametrize(("exercise", "facet"), ROUNDING, ids=[f"{each.name}-{facet}" for each, facet in ROUNDING])
def test_rounding_costs_the_line_about_it(exercise: Exercise, facet: str) -> None:
    """If numbers are only rounded, the line about them says so, and no line fails for another reason."""
    verdicts = judged(exercise, lambda case, seen: seen | {facet: True} if facet in seen else seen)
    lines = [verdicts[sentence] for sentence in exercise.requirements]
    failed = [verdict.sentence for verdict in lines if verdict.status is Status.FAIL]

    assert failed and all(sentence.startswith(ROUNDED_MESSAGE) for sentence in failed)


@pytest.mark.parametrize(
    ("exercise", "requirement", "needed"), NEEDED, ids=[f"{each.name}-{r.sentence}" for each, r, _ in NEEDED]
)
def test_a_line_waits_for_a_line_that_it_needs(
    exercise: Exercise, requirement: Requirement, needed: Requirement
) -> None:
    """If a needed requirement fails, the one that needs it waits for it."""

    def spoils(case: Case, seen: Observation) -> Observation:
        wrong = {facet: spoiled(value) for facet, value in seen.items() if facet not in needed.given}
        return seen | wrong if case.requirement == needed.sentence else seen

    verdicts = judged(exercise, spoils)

    assert verdicts[requirement.sentence].status is Status.SKIPPED
    assert verdicts[verdicts[requirement.sentence].after].status is not Status.PASS
