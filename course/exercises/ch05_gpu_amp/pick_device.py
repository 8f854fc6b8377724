"""`pick_device`: choose a device, where torch says by turns that other ones are there."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.judging.words import call_of
from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import Answer, see, watched
from autograder.watching.probes.devices import accelerators


@watched
def picked(answer: Answer, case: Case) -> Observation:
    """What is chosen with these accelerators there, one situation after another."""
    prefer, situations = case.args
    chosen = []
    for there in situations:
        with accelerators(there):
            chosen.append(_first_of_kind(answer() if prefer is None else answer(prefer), prefer))
    return {"returned": chosen}


def _first_of_kind(device: object, prefer: str | None) -> Plain:
    """`cuda:0` is `cuda` where no number was asked for."""
    if isinstance(device, torch.device) and prefer is None and device.index == 0:
        return torch.device(device.type)
    return see(device)


def _spelled(name: str, case: Case) -> str:
    """The device that is asked for, and what is there; where it is asked several times, one situation after another."""
    prefer, situations = case.args
    call = call_of(name) if prefer is None else call_of(name, repr(prefer))
    return f"{call}, with {', then with '.join(situations)}"


cuda = Requirement("takes cuda where it is there, and the CPU where there is nothing else", picked)
mps = Requirement("takes mps where there is no cuda", picked)
first = Requirement("takes cuda before mps", picked)
asked = Requirement("takes the device that it is asked for", picked)
anew = Requirement("asks torch anew at each call", picked)

BOTH, NONE = "cuda and mps there", "only the CPU there"


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
    for name in ("cpu", f"cuda:{draw.whole(1, 99)}"):
        yield asked(name, [BOTH, NONE])
    yield anew(None, in_some_order(BOTH, NONE, "mps there"))
