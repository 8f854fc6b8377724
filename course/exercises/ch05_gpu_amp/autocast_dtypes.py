"""`autocast_dtypes`: predict the dtypes of operations under autocast, by their names."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.probes.tensors import result_only
from autograder.watching.rules import avoids

OPERATIONS = {
    Requirement("lowers products", result_only): ("linear", "matmul"),
    Requirement("lets relu follow its input", result_only): ("relu", "relu_of_input"),
    Requirement("adds bfloat16 and float32", result_only): ("add",),
    Requirement("knows softmax on the CPU", result_only): ("softmax",),
    Requirement("keeps losses in float32", result_only): ("mse_loss", "cross_entropy"),
    Requirement("knows the dtype of weight and gradient", result_only): ("weight", "grad"),
}


@exercise(
    tier="core",
    hints=(
        "Sort the names: products; losses; what just follows the dtype of its input; what is no operation at all.",
        "A sum of bfloat16 and float32 is float32, as in chapter 1. The weight stays as it was made; so does its grad.",
        "On the CPU softmax is on none of the lists: it follows its input, and h is a product.",
    ),
    rules=(
        avoids(
            "autocast",
            requirement="works by the rule, without autocast",
            sentence="You ask torch. Predict instead: an operation is lowered, kept in float32, or follows its inputs.",
        ),
    ),
)
def autocast_dtypes(draw: Draw) -> Iterator[Case]:
    """Predict the dtypes under autocast."""
    for requirement, names in OPERATIONS.items():
        for name in names:
            yield requirement([name], "cpu")
        yield requirement([draw.choice(names) for _ in range(draw.whole(2, 5))], "cpu")
