"""`evaluate`: the loss and the accuracy of a model, which is left as it was.

An accuracy in percent costs the line about the form of the results, and no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Literal

from torch import Tensor, float64

from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, select_facets
from autograder.exercises.probes.repeated_calls import STATE_BETWEEN_CALLS_MESSAGES, with_second_call
from autograder.exercises.probes.training_fixtures import FROZEN_BATCH_NORM_SUFFIX, IN_EVAL_SUFFIX
from autograder.exercises.probes.training_steps import make_evaluation_probe
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded, is_rounded
from autograder.exercises.seeded_draw import Draw


def in_shares(probe: Probe) -> Probe:
    """The probe, where an accuracy in percent counts as the share that it is; `share` is False where one was."""

    def look(answer: Answer, case: Case) -> Observation:
        seen = probe(answer, case)
        if "returned" not in seen:
            return seen
        found, samples = seen["returned"], len(case.args[1])
        sizes = (samples, len(range(0, samples, 2)))  # of the whole, and of the part that a sampler takes
        if isinstance(found, list):
            shares: Plain = [share_of(*pair) for pair in zip(found, sizes, strict=False)]
        else:
            shares = share_of(found, samples)
        results = shares if isinstance(shares, list) else [shares]
        rounded = any(map(_rounds, results, sizes))
        return seen | {"rounded": rounded, "returned": shares, "share": shares == found}

    return look


def _rounds(result: Plain, samples: int) -> bool:
    """Whether the loss of a result has few decimals, or its accuracy is a share of the samples that was rounded."""
    if not isinstance(result, dict):
        return False
    accuracy = result.get("accuracy")
    right = round(accuracy * samples) if type(accuracy) is float and isfinite(accuracy) else 0
    return are_rounded([result.get("loss")]) or is_rounded(accuracy, right / samples)


def share_of(result: Plain, samples: int) -> Plain:
    """A result with its accuracy as a share, where it is the percentage of a count of samples."""
    accuracy = result.get("accuracy") if isinstance(result, dict) else None
    if type(accuracy) is not float or not 1 < accuracy <= 100:
        return result
    count = accuracy * samples / 100
    return result | {"accuracy": accuracy / 100} if abs(count - round(count)) < 1e-4 else result


def measured(*kept: str, loader: Literal["whole", "sampled"] = "whole") -> Probe:
    """One evaluation, or two; whether the accuracy is a share is not looked at."""
    rounded = ("rounded",) if "returned" in kept else ()
    return select_facets(in_shares(make_evaluation_probe(*kept, loader=loader)), *rounded, *kept)


one_batch = Requirement(
    "gives the loss and accuracy of one batch",
    with_second_call(measured("returned")),
    tells=STATE_BETWEEN_CALLS_MESSAGES
    | {
        "rounded": ROUNDED_MESSAGE,
        "returned.loss": "The loss of one batch is what the criterion says of its logits and labels, as a mean over "
        "samples.",
        "returned.accuracy": "The accuracy is not the share of rows whose largest logit stands at the label. A row of "
        "the logits, (batch, k), holds the k logits of one sample.",
    },
)
unequal = Requirement(
    "counts each sample once when the last batch is smaller",
    measured("returned"),
    tells={
        "returned.loss": "The loss is not the mean over all samples: what the criterion says of a batch counts as "
        "often as the batch has samples, and the sum is divided by all samples that came.",
        "returned.accuracy": "The accuracy is not the share of all samples that are right: count both over all "
        "batches, and divide once.",
    },
)
floats = Requirement(
    "returns plain floats, the accuracy as a share from 0 to 1",
    in_shares(make_evaluation_probe("types", "returned")),
    tells={
        "types": "Both values should be plain floats.",
        "share": "Your accuracy is in percent. A share is asked for, between 0 and 1.",
    },
    given=("rounded", "returned"),
)
in_eval_mode = Requirement(
    "evaluates in eval mode, and changes no parameter, buffer or gradient",
    measured("returned", "left"),
    tells={
        "left": "This is no longer as it was before your call: evaluation should change nothing.",
        "returned": "Of a model with dropout and batch norm, your results are not those in eval mode.",
    },
    needs=(unequal,),
)
any_loader = Requirement(
    "takes any loader that gives batches: a list, or a part of a dataset",
    measured("returned", loader="sampled"),
    tells={
        "returned": "For a list of batches, or for a loader that takes a part of its dataset, your results are not "
        "the means over the samples that come.",
    },
    needs=(unequal,),
)
modes_back = Requirement(
    "puts every submodule back into its mode",
    measured("modes", "returned"),
    tells={
        "modes": "These modules are in train mode after your call, and they are not the same as before it. Each has a "
        "mode of its own, which may not be that of the model around it.",
    },
    given=("rounded", "returned"),
)
no_graph = Requirement(
    "builds no graph",
    measured("tracked", "returned"),
    tells={
        "tracked": "The model's predictions require grad where the model gives them: a graph of each batch is "
        "built that nobody needs."
    },
    given=("rounded", "returned"),
)


def evaluating(name: str, case: Case) -> str:
    """The call, with a model and a loader."""
    model, x, _, size = case.args
    return f"{name}(<{model}>, <loader: {len(x)} samples, batches of {size}>, <smoothed cross-entropy>)"


@exercise(
    tier="core",
    hints=(
        "Take care of three things: the mode of the model, the graph, and the number of rows in each batch.",
        "The criterion gives the mean over a batch, which stands for as many rows as the batch has. A mean of means "
        "counts the rows of a small batch too much.",
        "A submodule may be in another mode than the model: note `training` of each of `model.modules()` first, and "
        "set it back at the end.",
    ),
    spelled=evaluating,
)
def evaluate(draw: Draw) -> Iterator[Case]:
    """Measure a model."""

    def samples(n: int, batch_size: int) -> tuple[Tensor, Tensor, int]:
        return 2 * draw.normal(n, 3, dtype=float64), draw.ints(0, 3, n), batch_size

    yield one_batch("linear", *samples(7, 7))
    yield one_batch("two layers", *samples(8, 8))
    yield unequal("linear", *samples(draw.choice([7, 10, 13]), 3))
    yield unequal("two layers", *samples(draw.choice([11, 15]), 4))
    yield any_loader("linear", *samples(draw.choice([7, 10, 13]), 3))
    yield floats("linear", *samples(24, 8))  # of so many, hardly ever none is right
    yield in_eval_mode("dropout and batch norm", *samples(8, 4))
    for mode in ("", IN_EVAL_SUFFIX, FROZEN_BATCH_NORM_SUFFIX):
        yield modes_back(f"dropout and batch norm{mode}", *samples(6, 3))
    yield modes_back(f"batch norm in a block{FROZEN_BATCH_NORM_SUFFIX}", *samples(6, 3))
    yield no_graph("two layers", *samples(6, 3))
    yield unequal("linear", *samples(4, 3))
