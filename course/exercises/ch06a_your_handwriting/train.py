"""`train`: the whole loop, on any device, which measures as it goes."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probes.training_runs import make_training_run_probe
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.seeded_draw import Draw

from .._ch06_training import (
    BATCHES,
    IN_ORDER,
    KEYS,
    MEAN,
    MODES,
    OUTPUTS,
    SHARE,
    Training,
    case_of,
    on_device,
    training,
)

every_batch = Requirement(
    "trains on every batch of an epoch",
    with_detached_loss_facet(make_training_run_probe(Training, "batches", "outputs")),
    DETACHED_LOSS_MESSAGES | BATCHES | IN_ORDER,
)
order = Requirement(
    "trains epoch after epoch, each in a new order from its seed",
    make_training_run_probe(Training, "batches", "outputs"),
    BATCHES | IN_ORDER,
)
mean = Requirement(
    "gives the mean loss over the images of an epoch",
    make_training_run_probe(Training, "keys", "losses_rounded", "losses"),
    KEYS | MEAN,
    needs=(order,),
)
modes = Requirement(
    "measures in eval mode, trains in train mode",
    make_training_run_probe(Training, "keys", "modes", "tracked", "accuracies_rounded", "accuracies"),
    KEYS | MODES | SHARE,
    needs=(order,),  # in another order the accuracies may agree or not, by chance
)
alone = Requirement(
    "leaves torch's global generator to the model",
    make_training_run_probe(Training, "outputs"),
    OUTPUTS,
    needs=(order, mean, modes),
)


@exercise(
    tier="core",
    hints=(
        "It is the loop of chapter 4 without a DataLoader. Write it for one epoch, and run that; then put the epochs "
        "around it.",
        "`torch.randperm(len(labels), generator=order).split(batch_size)` gives the rows of each batch. Make `order` "
        "once, before the epochs, and add up `loss.item() * len(rows)`.",
        "`device = next(model.parameters()).device`, and `.to(device)` for each batch. `model.train()` stands inside "
        "the loop over the epochs, as `model.eval()` does.",
    ),
    seconds=60.0,
    spelled=training,
)
def train(draw: Draw) -> Iterator[Case]:
    """Train, and measure after each epoch."""
    layered = "dropout and batch norm"
    yield case_of(draw, every_batch, "linear", "SGD", 8, 1)
    yield case_of(draw, every_batch, "conv", "SGD with momentum", 9, 1)  # 4, 4 and 1, not three of 3
    yield case_of(draw, order, "conv", "SGD with momentum", 8, draw.whole(3, 4))
    for optimizer in ("SGD with momentum", "SGD with maximize=True"):
        yield case_of(draw, order, "conv", optimizer, 8, 3, chosen=True)
    yield case_of(draw, mean, "linear", "SGD with momentum", draw.choice([5, 9]), 2)
    for _ in range(2):  # with one, a model that always names the same kind has the same accuracy after each epoch
        yield case_of(draw, modes, "batch norm", "SGD with momentum", 12, 3)
    yield case_of(draw, alone, layered, "SGD with momentum", 8, 2)
    yield case_of(draw, on_device, "linear", "SGD", 10, 2)
