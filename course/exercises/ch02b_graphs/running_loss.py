"""`running_loss`: watch a loss without keeping its graph."""

from __future__ import annotations

import weakref
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Probe, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.repeated_calls import STATE_BETWEEN_CALLS_MESSAGES, with_second_call
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES, with_detached_loss_facet
from autograder.exercises.representation_mismatch import ROUNDED_MESSAGE, is_rounded
from autograder.exercises.seeded_draw import Draw


class _Mark:
    """Something that lives exactly as long as the graph node whose metadata holds it."""


def running(*kept: str, generator: bool = True) -> Probe:
    """The mean of losses, and what was seen each time the next one was asked for.

    Facets: `returned`, `rounded`, `gradient` (the sum that arrived at the parameter), `so_far` (the same, each time
    the next loss was asked for) and `kept` (how many graphs were still held then, besides the last one; at most).
    """

    def look(answer: Answer, case: Case) -> Observation:
        (levels,) = case.args
        param = nn.Parameter(torch.ones((), dtype=torch.float64))
        graphs: list[weakref.ref[_Mark]] = []
        so_far: list[float] = []
        held: list[int] = [0]

        def losses() -> Iterator[Tensor]:
            for level in levels:
                yield _marked_loss(param, level, graphs)
                so_far.append(_arrived(param))
                held.append(sum(graph() is not None for graph in graphs[:-1]))

        result = answer(losses() if generator else list(losses()))
        rounded = is_rounded(result, sum(levels) / len(levels))
        return {
            "rounded": rounded,
            "returned": snapshot_value(result),
            "gradient": _arrived(param),
            "so_far": so_far,
            "kept": max(held),
        }

    return make_probe_recording_exceptions(look, *kept)


def _marked_loss(param: Tensor, level: float, graphs: list[weakref.ref[_Mark]]) -> Tensor:
    loss = param * param * level
    mark = _Mark()
    graphs.append(weakref.ref(mark))
    assert loss.grad_fn is not None
    loss.grad_fn.metadata["mark"] = mark  # type: ignore[index]
    return loss


def _arrived(param: Tensor) -> float:
    return 0.0 if param.grad is None else float(param.grad)


def _levels(draw: Draw) -> list[float]:
    """Three or six losses whose mean has decimals without end: rounded, it is always another number."""
    hundredths = [draw.whole(50, 900) for _ in range(3 * draw.whole(1, 2))]
    hundredths[0] += sum(hundredths) % 3 == 0
    return [each / 100 for each in hundredths]


def spelled(name: str, case: Case) -> str:
    """Losses are told by their values."""
    return call_from_parts(name, f"<losses of {', '.join(map(str, case.args[0]))}>")


mean = Requirement(
    "returns the mean of the values as a float",
    with_detached_loss_facet(with_second_call(running("rounded", "returned", generator=False)), always=False),
    tells=DETACHED_LOSS_MESSAGES
    | STATE_BETWEEN_CALLS_MESSAGES
    | {
        "rounded": ROUNDED_MESSAGE,
        "returned:values": "This is not the mean of the values. In a mean each of them counts alike: they are added "
        "up, and the sum is divided once, by how many they are.",
    },
)
from_generator = Requirement("takes its losses from a generator too", running("rounded", "returned"))
backward = Requirement(
    "calls backward on each loss, before it asks for the next",
    with_detached_loss_facet(running("gradient", "so_far")),
    tells=DETACHED_LOSS_MESSAGES
    | {
        "gradient": "The gradients that arrived at the parameter are not those of one backward per loss.",
        "so_far": "When you asked for the next loss, the gradient of the one before had not arrived.",
    },
    needs=(from_generator,),
)
freed = Requirement(
    "keeps no graph of an earlier loss",
    running("kept"),
    tells={"kept": "When the next loss had come, the graph of an earlier one was still held."},
    needs=(from_generator,),
)


@exercise(
    tier="core",
    spelled=spelled,
    hints=(
        "What do you need of a loss after its backward? A number, not a tensor with a history.",
        "Take the value with `item()`, after `backward()`. A generator has no `len`: count as you go.",
    ),
)
def running_loss(draw: Draw) -> Iterator[Case]:
    """Watch a loss without keeping its graph."""
    yield mean([1.0, 3.0])
    yield mean([draw.whole(1, 9) + 0.5, 0.0, 2.0])  # a loss of 0 is one, too
    for requirement in (mean, from_generator, backward, freed):
        yield requirement(_levels(draw))
