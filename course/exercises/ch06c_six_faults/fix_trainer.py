"""`fix_trainer`: six faults in a trainer, each of which is watched alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.optim.optimizer import Optimizer

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.random_results import temporarily_seeded
from autograder.exercises.probes.training_fixtures import KINDS, SIDE, labeled_images
from autograder.exercises.probes.training_steps import record_before_each_step
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, are_rounded, are_rounded_shares
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import max_changed_lines

# --- the limit on changed lines

MOST_LINES = 8
GIVEN = """\
optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
losses, accuracies, best = ([], [], None)
for epoch in range(epochs):
model.train()
total = 0.0
for x, y in batches:
loss = F.cross_entropy(model(x).softmax(dim=1), y)
loss.backward()
optimizer.step()
scheduler.step()
total += loss.item()
losses.append(total / len(batches))
correct, count = (0, 0)
with torch.no_grad():
for x, y in val_batches:
correct += (model(x).argmax(dim=0) == y).sum().item()
count += len(y)
accuracies.append(correct / count)
if accuracies[-1] == max(accuracies):
best = model.state_dict()
model.load_state_dict(best)
return {'losses': losses, 'accuracies': accuracies}
""".splitlines()

few = max_changed_lines(
    MOST_LINES,
    {"fix_trainer": GIVEN},
    f"changes at most {MOST_LINES} lines",
    f"Your trainer differs from the given one in more than {MOST_LINES} lines. The six faults need one line each.",
)

# --- the trainer at work

_BATCH, _VAL = 4, (6, 5)  # images in a batch: fewer for training than for validation, and none is KINDS


class _Scripted(nn.Module):
    """A linear model that learns; but on images of validation it says what a script says, whatever it has learned.

    So each fault can be seen alone. `rights` holds for each epoch how many validation images it gets right. A buffer
    counts the batches of training, as that of batch norm does: no parameter, and yet a part of what is best.
    """

    trained: Tensor

    def __init__(self, rights: list[int], labels: Tensor) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(SIDE**2, KINDS)).double()
        self.register_buffer("trained", torch.zeros(1, dtype=torch.float64))
        self._rights, self._labels, self._shown = rights, labels, 0
        self._validated = False
        self.goes_on = True
        self.modes: set[str] = set()
        self.snapshots: list[Tensor] = []

    def forward(self, x: Tensor) -> Tensor:
        """(n, 1, 8, 8) to (n, 3)."""
        validates = len(x) in _VAL
        self.modes.add(f"{'validation' if validates else 'training'} in {'train' if self.training else 'eval'} mode")
        if self._validated and not validates:
            self.goes_on = self.goes_on and torch.equal(self.weights(), self.snapshots[-1])
        self._validated = validates
        if not validates:
            self.trained += 1
        logits: Tensor = self.layers(x)
        return self._script(len(x)) if validates else logits

    def weights(self) -> Tensor:
        """All weights and the buffer, copied, in one row."""
        return torch.cat([tensor.detach().flatten() for tensor in self.state_dict().values()])

    def _script(self, n: int) -> Tensor:
        epoch, first = divmod(self._shown, len(self._labels))
        self._shown += n
        if first == 0:
            self.snapshots.append(self.weights())
        rows = torch.arange(first, first + n)
        said = (
            torch.where(
                rows < self._rights[min(epoch, len(self._rights) - 1)], self._labels[rows], self._labels[rows] + 1
            )
            % KINDS
        )
        return nn.functional.one_hot(said, KINDS).double()

    def kept(self) -> str:
        """Whose weights it holds by now."""
        best = [epoch for epoch, right in enumerate(self._rights) if right == max(self._rights)]
        names = {best[-1]: "those of the best epoch", len(self._rights) - 1: "those of the last epoch"}
        names |= {best[0]: "those of an earlier epoch that is as good"} if len(best) > 1 else {}
        now, learned = self.weights(), sum(param.numel() for param in self.parameters())
        for place, name in names.items():
            if torch.equal(self.snapshots[place][:learned], now[:learned]):
                return name if torch.equal(self.snapshots[place], now) else f"{name}, without their buffers"
        return "others"


def _about_to_step(model: nn.Module) -> Callable[[Optimizer], tuple[str, float, str]]:
    """What to say before a step: is .grad the gradient of the last backward alone? and the rate, the optimizer."""
    last: dict[Tensor, Tensor] = {}
    for param in model.parameters():
        param.register_hook(lambda grad, param=param: last.update({param: grad.clone()}))

    def look(optimizer: Optimizer) -> tuple[str, float, str]:
        fresh = [param.grad is not None and torch.equal(param.grad, grad) for param, grad in last.items()]
        gradient = "of this batch" if all(fresh) else "of several batches"
        if not last or any(param.grad is None or not param.grad.any() for param in model.parameters()):
            gradient = "none"
        group = optimizer.param_groups[0]
        return gradient, float(group["lr"]), f"{type(optimizer).__name__} with momentum {group.get('momentum')}"

    return look


def hunted(*kept: str) -> Probe:
    """One training by the mended trainer, of a model whose accuracies follow a script.

    Facets: `accuracies`, `losses`, `accuracies_rounded`, `losses_rounded`, `gradients` (at each step), `modes`,
    `rates`, `optimizers`, `goes_on` (each epoch begins with the weights that the one before it left), and `kept` (the
    weights in the end: those of the best epoch, of an earlier one as good, of the last one, or others).
    """

    def look(answer: Answer, case: Case) -> Observation:
        images, drawn, rights, lr = (case.kwargs[key] for key in ("images", "drawn", "rights", "lr"))
        x, y = labeled_images(images, drawn)
        val_x, val_y = labeled_images(sum(_VAL), drawn + 1)
        with temporarily_seeded(drawn):
            model = _Scripted(rights, val_y)
        batches = list(zip(x.split(_BATCH), y.split(_BATCH), strict=True))
        val_batches = list(zip(val_x.split(list(_VAL)), val_y.split(list(_VAL)), strict=True))
        with record_before_each_step(_about_to_step(model)) as steps:
            result = answer(model, batches, val_batches, len(rights), lr)
        known = result if isinstance(result, dict) else {}
        gradients, rates, optimizers = map(list, zip(*steps, strict=True)) if steps else ([], [], [])
        names = ("losses", "accuracies")
        seen: Observation = {"losses_rounded": are_rounded(known.get("losses"))}
        seen["accuracies_rounded"] = are_rounded_shares(known.get("accuracies"), sum(_VAL))
        seen |= {name: snapshot_value(known.get(name)) for name in names}
        seen |= {"gradients": gradients, "rates": rates, "optimizers": sorted(set(optimizers))}
        return seen | {"modes": sorted(model.modes), "goes_on": model.goes_on, "kept": model.kept()}

    return make_probe_recording_exceptions(look, *kept)


# --- what is asked

runs = Requirement(
    "runs to its end, and counts what is right",
    with_detached_loss_facet(hunted("accuracies_rounded", "accuracies"), always=False),
    tells=DETACHED_LOSS_MESSAGES
    | {
        "accuracies_rounded": ROUNDED_MESSAGE,
        "accuracies": "An accuracy is the share that is right of all labels of all val_batches together.",
    },
)
logits = Requirement(
    "reports the losses of the docstring",
    hunted("losses_rounded", "losses"),
    tells={
        "losses_rounded": ROUNDED_MESSAGE,
        "losses": "The losses are not the cross-entropy of the model's outputs, averaged over the batches.",
    },
)
clean = Requirement(
    "takes the steps of the docstring",
    with_detached_loss_facet(hunted("gradients", "accuracies_rounded", "accuracies")),
    tells=DETACHED_LOSS_MESSAGES
    | {"gradients": "At a step, .grad should hold the gradient of this batch, and nothing of another."},
    given=("accuracies_rounded", "accuracies"),
)
modes = Requirement(
    "trains and measures as the docstring says",
    hunted("modes", "accuracies_rounded", "accuracies"),
    tells={"modes": "In each epoch, the model should train in train mode, and be measured in eval mode."},
    given=("accuracies_rounded", "accuracies"),
)
rate = Requirement(
    "has the learning rates of the docstring",
    hunted("rates", "optimizers"),
    tells={
        "rates": "These are the learning rates, step by step: they should be halved after each epoch.",
        "optimizers": "The optimizer is not the one that was given: SGD with a momentum of 0.9.",
    },
)
best = Requirement(
    "leaves the model of the docstring",
    hunted("kept", "goes_on", "accuracies_rounded", "accuracies"),
    tells={
        "kept": "In the end, the model should hold the weights and buffers of its best epoch: the one with the highest "
        "accuracy, the latest if there are several.",
        "goes_on": "An epoch began with other weights than the epoch before it had left. Load the best after the last.",
    },
    given=("accuracies_rounded", "accuracies"),
)


def mended(name: str, case: Case) -> str:
    """A training of a model whose accuracies follow a script."""
    rights, images = case.kwargs["rights"], case.kwargs["images"]
    model = f"<model that gets {', '.join(map(str, rights))} of 11 right>"
    batches = [f"<{images} images in batches of 4>", "<11 images, 6 and 5 in a batch>"]
    return call_from_parts(name, model, *batches, epochs=len(rights), lr=case.kwargs["lr"])


@exercise(
    tier="core",
    hints=(
        "Run it: the first fault tells you its line. The other five are silent. Read with the five lines of training "
        "in mind.",
        "What does cross-entropy take? What is cleared when? Who is called after each batch, who after each epoch?",
        "What does `state_dict` return, numbers or the live tensors? And what must happen before you measure?",
    ),
    rules=(few,),
    seconds=60.0,
    spelled=mended,
)
def fix_trainer(draw: Draw) -> Iterator[Case]:
    """Find six faults in a trainer."""

    def case(requirement: Requirement, images: int, *rights: int, lr: float = 0.1) -> Case:
        return requirement(images=images, drawn=draw.whole(0, 9999), rights=list(rights), lr=lr)

    yield case(runs, 4, draw.whole(2, 8))
    yield case(runs, 8, 3, draw.whole(4, 9), 1)
    yield case(logits, 8, 5, lr=0.0)  # nothing moves: what else is wrong does not show
    yield case(logits, 10, 3, 6, lr=0.0)  # the last batch is smaller
    yield case(clean, 8, draw.whole(1, 9), draw.whole(1, 9))
    yield case(modes, 8, draw.whole(1, 9), draw.whole(1, 9))
    yield case(rate, 12, 2, 4, 6, lr=round(draw.real(0.05, 0.2), 3))
    yield case(best, 8, draw.whole(1, 5), draw.whole(7, 9), draw.whole(2, 6))
    yield case(best, 8, draw.whole(7, 9), draw.whole(1, 3), draw.whole(4, 6))
    yield case(best, 8, draw.whole(1, 6), 8, 8, draw.whole(3, 6))
