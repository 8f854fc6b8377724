"""The exercises of chapter 6, the capstone: a trainer that resumes, one in mixed precision, and a broken one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, ExerciseSet
from autograder.watching.probe import in_part

from . import _ch06_amp as amp
from . import _ch06_calls as calls
from . import _ch06_hunt as hunt
from . import _ch06_runs as runs
from ._ch06_hints import HINTS

EXERCISES = ExerciseSet("ch06_capstone")
_LAYERED = "dropout and batch norm"

_ORDER, _MEAN = "draws a new order for each epoch, from its seed", "gives the mean loss over the images of an epoch"
_ACCURACY, _RESUME = "measures in eval mode, trains in train mode", "goes on bit for bit, with another model"
_CHECKPOINT, _DEVICE = "gives a checkpoint that keeps", "trains where the model is"


@EXERCISES.add(
    "train",
    tier="core",
    hints=HINTS["train"],
    probe=in_part(
        {
            _MEAN: runs.trained("losses"),
            _ACCURACY: runs.trained("accuracies", "modes", "tracked"),
            _RESUME: runs.resumed(),
            _CHECKPOINT: runs.resumed(saved=True, reused=True),
            _DEVICE: runs.elsewhere,
        },
        otherwise=runs.trained("outputs"),
    ),
    tells={
        "outputs": "After your training, the model gives other outputs than it should: its weights are not right.",
        "modes": "The model was called in other modes: it should train in train mode, and be measured in eval mode.",
        "tracked": "While you measured, a graph was recorded that nobody needs.",
        "same": "The training that was stopped and gone on with is not, bit for bit, the one that was not stopped.",
        "places": "The model is on the meta device; your images came to it from somewhere else.",
        "steps": "On another device, your optimizer took another number of steps.",
    },
    spelled=calls.training,
    seconds=60.0,
)
def train(draw: Draw) -> Iterator[Case]:
    """Train, stop, and go on."""

    def case(requirement: str, model: str, optimizer: str, images: int, epochs: Any, batch_size: int = 4) -> Case:
        given = {"images": images, "drawn": draw.whole(0, 9999), "epochs": epochs}
        return Case(requirement, model, optimizer, **given, batch_size=batch_size, seed=draw.whole(0, 9999))

    yield case("trains on every batch of an epoch", "linear", "SGD", 8, 1)
    yield case("trains on every batch of an epoch", "conv", "SGD with momentum", draw.choice([9, 10, 11]), 1)
    yield case(_ORDER, "conv", "SGD with momentum", 8, draw.whole(3, 4))
    yield case(_MEAN, "linear", "SGD with momentum", draw.choice([9, 10]), 2)
    yield case(_ACCURACY, _LAYERED, "SGD with momentum", 12, 3)
    yield case(_RESUME, "conv", "Adam", 6, [1, 3])
    yield case(_RESUME, _LAYERED, "SGD with momentum", 8, [1, 2])
    yield case(_CHECKPOINT, "conv", "Adam", 6, [1, 2])
    yield case(_DEVICE, "linear", "SGD", draw.choice([7, 10]), 2)


_GROUPS, _CLIP = "adds up a group, whatever the sizes of its batches", "clips the true gradients once for each step"
_REGION, _SKIP = "runs model and loss under autocast, and nothing else", "lets the scaler skip a step that overflows"
_LOSSES = f"gives a loss for each step, in bfloat16 within {100 * amp.CLOSE:.0f} % of float32"
_SOME = 1e6  # a norm that no gradient has


@EXERCISES.add(
    "train_amp",
    tier="core",
    hints=HINTS["train_amp"],
    probe=in_part(
        {
            _GROUPS: amp.epoch("outputs", "forward", "steps"),
            _REGION: amp.epoch("forward", "backward", "step", "loss_dtype", "weights"),
            _SKIP: amp.epoch("outputs", "forward", "factor"),
            _LOSSES: amp.close_to_float32,
        },
        otherwise=amp.epoch("outputs", "forward"),
    ),
    compare=amp.compare_epochs,
    rules=(amp.names_no_device,),
    tells={
        "outputs": "After your epoch, the model gives other outputs than it should: its weights are not right.",
        "steps": "The optimizer took another number of steps: one for each group, also for a smaller last one.",
        "forward": "The model is to run under autocast to bfloat16 if `amp` is true, and without it if not.",
        "backward": "A backward ran under autocast; leave the region first.",
        "step": "A step of the optimizer ran under autocast; leave the region first.",
        "loss_dtype": "The loss that you scale should be in float32, as autocast makes it.",
        "weights": "The weights of the model are to stay in float32; autocast lowers copies of them.",
        "factor": "After your epoch, the scaler's factor is not what one update for each step makes of it.",
        "close": "In mixed precision, a loss of yours is not near the same one in float32.",
    },
    spelled=calls.epoch,
    seconds=60.0,
)
def train_amp(draw: Draw) -> Iterator[Case]:
    """Train in mixed precision, in groups of batches."""

    def case(requirement: str, model: str, sizes: list[int], accumulate: int, clip: float = _SOME, **more: Any) -> Case:
        given = {"sizes": sizes, "drawn": draw.whole(0, 9999), "factor": 2.0 ** draw.whole(4, 9)} | more
        given |= {"accumulate": accumulate, "max_norm": clip, "amp": requirement in (_REGION, _LOSSES)}
        return Case(requirement, model, "SGD with momentum", **given)

    def unequal() -> list[int]:
        return [draw.whole(4, 5), 2, 6, draw.whole(2, 3)]

    yield case("trains on each batch, in train mode", "linear", [4, 4], 1)
    yield case("trains on each batch, in train mode", "dropout and batch norm", [6, 6], 1)
    yield case("trains on each batch, in train mode", "conv", [4, 4], 1, old=True)
    yield case(_GROUPS, "conv", unequal(), 2)
    yield case(_GROUPS, "linear", [*unequal(), draw.whole(4, 6)], 2)
    yield case(_GROUPS, "linear", [3, *unequal()], 3)
    yield case(_CLIP, "linear", [4, 2, 4, 3], 2, draw.choice([0.25, 0.5]))
    yield case(_CLIP, "conv", [4, 4, 2], 2, draw.choice([0.125, 0.25]))
    yield case(_REGION, "linear", [3, 2, 4], 2)
    yield case(_REGION, "conv", [4, 3], 1)
    yield case(_SKIP, "linear", [3, 3, 4, 4], 2, broken=1)
    yield case(_SKIP, "conv", [3, 4, 5], 1, broken=2)
    yield case(_LOSSES, "conv", unequal(), 2)
    yield case(_LOSSES, "linear", unequal(), 3)


_LOGITS, _CLEAN = "takes the loss of the logits", "steps along the gradient of one batch"
_MODES, _RATE = "measures in eval mode, trains in train mode", "halves the learning rate after each epoch"
_BEST = "leaves the weights of the best epoch in the model"


@EXERCISES.add(
    "fix_trainer",
    tier="core",
    hints=HINTS["fix_trainer"],
    probe=in_part(
        {
            _LOGITS: hunt.hunted("losses"),
            _CLEAN: hunt.hunted("gradients"),
            _MODES: hunt.hunted("modes"),
            _RATE: hunt.hunted("rates", "optimizers"),
            _BEST: hunt.hunted("kept"),
        },
        otherwise=hunt.hunted("accuracies"),
    ),
    rules=(hunt.few,),
    tells={
        "losses": "The losses are not the cross-entropy of the model's outputs, averaged over the batches.",
        "gradients": "At a step, .grad should hold the gradient of this batch, and nothing of another.",
        "modes": "In each epoch, the model should train in train mode, and be measured in eval mode.",
        "rates": "These are the learning rates, step by step: they should be halved after each epoch.",
        "optimizers": "The optimizer is not the one that was given: SGD with a momentum of 0.9.",
        "kept": "In the end, the model should hold the weights of its best epoch, the latest if there are several.",
    },
    spelled=calls.mended,
    seconds=60.0,
)
def fix_trainer(draw: Draw) -> Iterator[Case]:
    """Find six faults in a trainer."""

    def case(requirement: str, images: int, *rights: int, lr: float = 0.1) -> Case:
        return Case(requirement, images=images, drawn=draw.whole(0, 9999), rights=list(rights), lr=lr)

    yield case("runs to its end, and counts what is right", 4, draw.whole(2, 8))
    yield case("runs to its end, and counts what is right", 8, 3, draw.whole(4, 9), 1)
    yield case(_LOGITS, 8, 5, lr=0.0)  # nothing moves: what else is wrong does not show
    yield case(_LOGITS, 10, 3, 6, lr=0.0)  # the last batch is smaller
    yield case(_CLEAN, 8, 5, 6)
    yield case(_MODES, 8, 4, 6)
    yield case(_RATE, 8, 2, 4, 6, lr=round(draw.real(0.05, 0.2), 3))
    yield case(_BEST, 8, 4, draw.whole(7, 9), 5)
    yield case(_BEST, 8, draw.whole(7, 9), 3, 6)
    yield case(_BEST, 8, 5, 8, 8, draw.whole(3, 6))
