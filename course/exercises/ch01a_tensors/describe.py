"""`describe`: tell what a tensor knows about itself."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer
from autograder.exercises.probes.tensor_functions import make_returned_dict_entries_probe
from autograder.exercises.seeded_draw import Draw


def bytes_of_a_part(answer: Answer, case: Case) -> Observation:
    """The entry `bytes`, where an x of one axis is the first half of a longer tensor."""

    def on_part(x: torch.Tensor) -> object:
        return answer(torch.cat([x, x])[: len(x)] if x.ndim == 1 else x)

    return make_returned_dict_entries_probe("bytes")(on_part, case)


def tracked_or_computed(answer: Answer, case: Case) -> Observation:
    """The entry `requires_grad` of an x that requires grad; one of one axis is computed from another, and no leaf."""

    def on_computed(x: torch.Tensor) -> object:
        return answer(2 * x if x.ndim == 1 else x)

    return make_returned_dict_entries_probe("requires_grad", tracked=True)(on_computed, case)


class _OnCard(torch.Tensor):
    """Says that it is on a second card with CUDA: where a device has a number, its text is more than its type."""

    device = torch.device("cuda", 1)
    is_cuda, is_cpu = True, False

    def get_device(self) -> int:
        """The number of the card."""
        return 1


def elsewhere_or_on_a_card(answer: Answer, case: Case) -> Observation:
    """The entry `device` of an x on the meta device; one of two axes says that it is on a second card."""
    if case.args[0].ndim != 2:
        return make_returned_dict_entries_probe("device", device="meta")(answer, case)
    return make_returned_dict_entries_probe("device")(lambda x: answer(x.as_subclass(_OnCard)), case)


# The lines that ask for a word stand on this one: words alone can be told without a look at x.
shape = Requirement("tells the shape, as a plain tuple", make_returned_dict_entries_probe("shape"))
dtype = Requirement("tells the dtype", make_returned_dict_entries_probe("dtype"), needs=(shape,))
device = Requirement("tells the device type, as a string", make_returned_dict_entries_probe("device"), needs=(shape,))
elsewhere = Requirement(
    "tells the type of another device, without its number",
    elsewhere_or_on_a_card,
    tells={
        "returned:values": "Here `x` is on another device, and your entry is not its type: that is one word, without "
        "a number, and comes from `x`."
    },
    needs=(shape,),
)
requires_grad = Requirement(
    "tells whether x requires grad", make_returned_dict_entries_probe("requires_grad"), needs=(shape,)
)
tracked = Requirement(
    "tells that an x which requires grad does so",
    tracked_or_computed,
    tells={"returned": "Here `x` requires grad, and your entry says something else. `x` itself knows."},
    needs=(shape,),
)
size = Requirement(
    "counts the bytes of all elements",
    bytes_of_a_part,
    tells={
        "returned:values": "These are not the bytes of the elements of `x`: count its own, each with the bytes of "
        "its dtype."
    },
)


@exercise(
    tier="warm-up",
    hints=(
        "Most of these facts are attributes of `x`. Make a tensor `x` in a new cell and print `x.dtype`; what else?",
        "`tuple(...)` turns a `torch.Size` into a plain tuple; a device has an attribute `type`.",
        "The bytes are the number of elements times the bytes of one: `numel` and `element_size`.",
    ),
    independent=True,
)
def describe(draw: Draw) -> Iterator[Case]:
    """Tell what a tensor knows about itself."""
    n, d, k = draw.sizes(3, 2, 12)
    kinds = (draw.normal(n, d), draw.normal(d, dtype=torch.float64), draw.ints(0, 9, d, k, n))
    for x in (torch.zeros(2, 3), *kinds, draw.bools(n, d), draw.normal(k, n).to(torch.float16)):
        yield dtype(x)
    for x in (*kinds, torch.tensor(draw.real(0, 1))):
        yield shape(x)
    yield device(kinds[0])
    yield elsewhere(kinds[2].float())
    yield elsewhere(kinds[0])
    yield requires_grad(kinds[2])
    yield tracked(kinds[0])
    yield tracked(kinds[1])
    for x in (*kinds, draw.bools(n, d), draw.normal(n, k).T, torch.zeros(0, k)):
        yield size(x)
