"""`pick_device`: choose a device, where torch says by turns that other ones are there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.probes.devices import simulate_accelerators
from autograder.exercises.seeded_draw import Draw


@make_probe_recording_exceptions
def picked(answer: Answer, case: Case) -> Observation:
    """What is chosen with these accelerators there, each time; whether as a name, and whether torch's default stays.

    `in_turn` has the same in the order of the calls: who answers without asking does not know that order.
    """
    prefer, situations = case.args
    chosen: dict[str, list[Plain]] = {there: [] for there in situations}
    in_turn: list[Plain] = []
    kept = []
    with _default_put_back() as is_kept:
        for there in situations:
            with simulate_accelerators(answer, there):
                in_turn.append(_first_of_kind(answer() if prefer is None else answer(prefer), prefer))
                chosen[there].append(in_turn[-1])
            kept.append(is_kept())
    seen = {"named": any(isinstance(one, str) for one in in_turn), "returned": {**chosen}}
    return seen | {"default_kept": all(kept), "in_turn": in_turn}


@contextmanager
def _default_put_back() -> Iterator[Callable[[], bool]]:
    """Put torch's default device back after a block; the function that is given tells whether it is still the same."""
    before = torch.empty(0).device  # torch 2.6 cannot tell its default once one was taken back

    def is_kept() -> bool:
        try:
            return torch.empty(0).device == before
        except (AssertionError, RuntimeError):  # it is one that is not there
            return False

    try:
        yield is_kept
    finally:
        torch.set_default_device(None if before.type == "cpu" else before)


def _first_of_kind(device: object, prefer: str | None) -> Plain:
    """`cuda:0` is `cuda` where no number was asked for."""
    if isinstance(device, torch.device) and prefer is None and device.index == 0:
        return torch.device(device.type)
    return snapshot_value(device)


def _spelled(name: str, case: Case) -> str:
    """The device that is asked for, and what is there; where it is asked several times, one situation after another."""
    prefer, situations = case.args
    call = call_from_parts(name) if prefer is None else call_from_parts(name, repr(prefer))
    return f"{call}, with {', then with '.join(situations)}"


DEFAULT = {
    "named": "You return the name of a device, a str. A torch.device is asked for.",
    "default_kept": "Your function sets torch's default device. Return a device, and set nothing.",
    "in_turn": "Called in one situation after another, your function does not return the device of each.",
}
BOTH, NONE = "cuda and mps there", "only the CPU there"


def rule(said: str) -> dict[str, str]:
    """What is told of another device, with the situation in which it was returned."""
    there = ("cuda there", "mps there", BOTH, NONE)
    return DEFAULT | {f"returned.{each}": f"With {each}, you do not return the right device. {said}" for each in there}


cuda = Requirement(
    "takes cuda where it is there, and the CPU where there is nothing else",
    picked,
    rule("Where torch.cuda.is_available() says yes it is cuda, and where no card is there the CPU."),
)
mps = Requirement(
    "takes mps where there is no cuda",
    picked,
    rule("Without cuda it is mps where torch.backends.mps.is_available() says so, else the CPU."),
)
first = Requirement("takes cuda before mps", picked, rule("Where both are there, cuda comes first."), needs=(mps,))
asked = Requirement(
    "takes the device that it is asked for",
    picked,
    rule("Who names a device gets that one, number and all, whether torch sees one or not."),
)
anew = Requirement(
    "asks torch anew at each call",
    picked,
    rule("What is there may change between two calls: each of them has to ask torch."),
    needs=(mps, first),
)


@exercise(
    tier="warm-up",
    hints=(
        "Who decides where `prefer` is given? And in which order are the others asked where it is not?",
        "`torch.device(prefer)` makes a device of a name. Then an `if` each for cuda and mps; the CPU is always there.",
    ),
    spelled=_spelled,
)
def pick_device(draw: Draw) -> Iterator[Case]:
    """Choose a device."""

    def in_some_order(*situations: str) -> list[str]:
        """Who answers without asking cannot know it."""
        left = [*situations, *situations]
        return [left.pop(draw.whole(0, len(left) - 1)) for _ in list(left)]

    yield cuda(None, in_some_order("cuda there", NONE, NONE))
    yield mps(None, in_some_order("mps there", "mps there", NONE))
    yield first(None, in_some_order(BOTH, "mps there", "cuda there"))
    for name in ("cpu", "cuda:1", f"cuda:{draw.whole(1, 99)}", draw.choice(["cuda", "mps"])):
        yield asked(name, [BOTH, "mps there", NONE])
    yield anew(None, in_some_order(BOTH, NONE, "mps there"))
