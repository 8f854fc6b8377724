"""`autocast_dtypes`: predict the dtypes of operations under autocast, by their names."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import forbid_names


def told_of(*own: str) -> Probe:
    """The dtypes of some operations, and of what an answer tells among those and others that are asked for too."""

    def look(answer: Answer, case: Case) -> Observation:
        result = answer(*case.args)
        if not isinstance(result, dict):
            return {"returned": snapshot_value(result), "names": []}
        told, (asked, *_) = {str(name): snapshot_value(dtype) for name, dtype in result.items()}, case.args
        known = [name for name in own if name in told and name in asked]
        return {"returned": {name: told[name] for name in known}, "names": sorted(told)}

    return make_probe_recording_exceptions(look)


_FOLLOWS = "is on no list: what comes out has the dtype of what came in, and h is a product."
_NAMES = "The result has a place for each operation that is asked for, and for no other."


def _about(sentence: str, rule: str, *names: str) -> tuple[Requirement, tuple[str, ...]]:
    return Requirement(sentence, told_of(*names), {"names": _NAMES, "returned": rule}), names


OPERATIONS = dict(
    (
        _about(
            "lowers products",
            "A layer and `@` are products: on the CPU these come out as bfloat16.",
            "linear",
            "matmul",
        ),
        _about("lets relu follow its input", f"relu {_FOLLOWS}", "relu", "relu_of_input"),
        _about("adds bfloat16 and float32", "Where bfloat16 and float32 meet, the wider one comes out.", "add"),
        _about("knows softmax on the CPU", f"On the CPU softmax {_FOLLOWS}", "softmax"),
        _about("keeps losses in float32", "Both losses come out as float32.", "mse_loss", "cross_entropy"),
        _about(
            "knows the dtype of weight and gradient",
            "The block makes copies in 16 bits; the weight is float32 as before, and its gradient has its dtype.",
            "weight",
            "grad",
        ),
    )
)
EVERY = sorted(name for names in OPERATIONS.values() for name in names)


@exercise(
    tier="core",
    hints=(
        "Sort the names: products; losses; what just follows the dtype of its input; what is no operation at all.",
        "A sum of bfloat16 and float32 is float32, as in chapter 1. The weight stays as it was made; so does its grad.",
        "On the CPU softmax is on none of the lists: it follows its input, and h is a product.",
    ),
    rules=(
        forbid_names(
            "autocast",
            requirement="works by the rule, without autocast",
            sentence="You ask torch. Predict instead: an operation is lowered, kept in float32, or follows its inputs.",
        ),
    ),
)
def autocast_dtypes(draw: Draw) -> Iterator[Case]:
    """Predict the dtypes under autocast."""
    for requirement, names in OPERATIONS.items():
        if "linear" in names:
            yield requirement(["linear"], "cpu")
        for name in names:
            others = [other for other in EVERY if other not in names and draw.whole(0, 1)]
            place = draw.whole(0, len(others))
            yield requirement([*others[:place], name, *others[place:]], "cpu")
        yield requirement([draw.choice(names) for _ in range(draw.whole(2, 5))], "cpu")
