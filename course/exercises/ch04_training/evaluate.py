"""`evaluate`: the loss and the accuracy of a model, which is left as it was."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor, float64

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.probes.training import evaluated
from autograder.watching.probes.training_samples import FROZEN, IN_EVAL

one_batch = Requirement("gives the loss and accuracy of one batch", evaluated("returned"))
unequal = Requirement("counts each sample once when the last batch is smaller", evaluated("returned"))
floats = Requirement(
    "returns plain floats",
    evaluated("types", "returned"),
    tells={"types": "Both values should be plain floats."},
    given=("returned",),
)
in_eval_mode = Requirement(
    "evaluates in eval mode, and changes nothing",
    evaluated("returned", "left"),
    tells={"left": "Something of the model changed: evaluation should leave it as it is."},
)
any_loader = Requirement(
    "takes any loader that gives batches: a list, or a part of a dataset", evaluated("returned", loader="sampled")
)
modes_back = Requirement(
    "puts every submodule back into its mode",
    evaluated("modes", "returned"),
    tells={
        "modes": "Afterwards, a module is in another mode than before: train mode is True, eval mode False. Each has "
        "one of its own, which may not be that of the model around it.",
    },
    given=("returned",),
)
no_graph = Requirement(
    "builds no graph",
    evaluated("tracked", "returned"),
    tells={"tracked": "The model's predictions require grad: a graph of each batch was built that nobody needs."},
    given=("returned",),
)


def evaluating(name: str, case: Case) -> str:
    """The call, with a model and a loader."""
    model, x, _, size = case.args
    return f"{name}(<{model}>, <loader: {len(x)} samples, batches of {size}>, criterion)"


@exercise(
    tier="core",
    hints=(
        "Three things to set up and to undo: the mode, the graph, the counts.",
        "A batch's mean loss counts for as many samples as the batch has.",
        "A submodule may be in another mode than the model: write down the mode of each of `model.modules()`.",
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
    yield unequal("two layers", *samples(draw.choice([9, 13]), 4))
    yield any_loader("linear", *samples(draw.choice([7, 10, 13]), 3))
    yield floats("linear", *samples(8, 4))
    yield in_eval_mode("dropout and batch norm", *samples(8, 4))
    for mode in ("", IN_EVAL, FROZEN):
        yield modes_back(f"dropout and batch norm{mode}", *samples(6, 3))
    yield no_graph("two layers", *samples(6, 3))
