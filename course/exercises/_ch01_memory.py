"""The exercises of chapter 1 about what a tensor is and how it lies in memory: cases, probes, hints."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, ExerciseSet
from autograder.watching.probe import calling, facets, in_part

from . import _ch01_probes as probes
from ._ch01_cases import labels_with_all
from ._ch01_hints import HINTS

EXERCISES = ExerciseSet("ch01_tensors")

_FACTS = {
    "tells the shape, as a plain tuple": probes.entry("shape"),
    "tells the device type, as a string": probes.entry("device"),
    "tells whether x requires grad": probes.entry("requires_grad"),
    "tells that an x which requires grad does so": probes.entry("requires_grad", grad=True),
    "counts the bytes of all elements": probes.entry("bytes"),
}


@EXERCISES.add(
    "describe",
    tier="warm-up",
    hints=HINTS["describe"],
    probe=in_part(_FACTS, otherwise=probes.entry("dtype")),
)
def describe(draw: Draw) -> Iterator[Case]:
    """Tell what a tensor knows about itself."""
    shape, device, grad, tracked, size = _FACTS
    n, d, k = draw.sizes(3)
    kinds = (draw.normal(n, d), draw.normal(d, dtype=torch.float64), draw.ints(0, 9, d, k, n))
    for x in (*kinds, draw.bools(n, d), draw.normal(k, n).to(torch.float16)):
        yield Case("tells the dtype", x)
    for x in kinds:
        yield Case(shape, x)
    yield Case(device, kinds[0])
    yield Case(grad, kinds[2])
    yield Case(tracked, kinds[0])
    for x in (*kinds, draw.bools(n, d)):
        yield Case(size, x)


_REPEATS = "gives the same numbers for the same seed, others for another"
_NORMAL = "draws standard normal numbers"
_ALONE = "leaves the global random numbers alone"


@EXERCISES.add(
    "make_batch",
    tier="core",
    hints=HINTS["make_batch"],
    probe=in_part(
        {
            _REPEATS: facets(probes.batch_facts, "repeats", "seeds_differ"),
            _NORMAL: facets(probes.batch_facts, "normal", "uniform", "as_drawn"),
            _ALONE: facets(probes.batch_facts, "global_untouched"),
        },
        otherwise=facets(probes.batch_facts, "returned", "varied"),
    ),
    tells={
        "varied": "Many of your numbers are the same: each is to be drawn on its own.",
        "repeats": "Two calls with one seed gave different numbers. Do you draw from your own generator?",
        "seeds_differ": "Two different seeds gave the same numbers. Does `seed` reach your generator?",
        "normal": "These are no standard normal numbers. Look at their mean and their spread.",
        "as_drawn": "Whatever the seed, your batch has mean 0 or spread 1 exactly. Leave the numbers as drawn.",
        "global_untouched": "Your call changed a global generator: you drew from it, or seeded it.",
    },
)
def make_batch(draw: Draw) -> Iterator[Case]:
    """Draw a batch that can be repeated, without touching the global random numbers."""
    n, d = draw.sizes(2, 4, 9)
    basic = "draws an (n, d) batch of the given dtype"
    yield Case(basic, n, d)
    yield Case(basic, d, n, seed=draw.whole(1, 9999))
    yield Case(basic, n + 1, d, dtype=torch.float64, seed=draw.whole(1, 9999))
    yield Case(basic, d, n + 2, dtype=torch.float16, seed=draw.whole(1, 9999))
    yield Case(_REPEATS, n, d, seed=draw.whole(1, 9999))
    yield Case(_REPEATS, d, n, dtype=torch.float64)
    yield Case(_NORMAL, 60 + n, 50 + d, seed=draw.whole(1, 9999))
    yield Case(_ALONE, n, d, seed=draw.whole(1, 9999))


_OWN_MEMORY = "puts the copy into memory of its own"
_SHARED_MEMORY = "keeps the view in the memory of x"


@EXERCISES.add(
    "first_and_rest",
    tier="core",
    hints=HINTS["first_and_rest"],
    probe=in_part(
        {
            _OWN_MEMORY: facets(probes.copy_and_view, "copy_follows", "detached"),
            _SHARED_MEMORY: facets(probes.copy_and_view, "view_follows"),
        },
        otherwise=facets(probes.copy_and_view, "returned", "inputs"),
    ),
    tells={
        "copy_follows": "When `x` changes afterwards, so does your copy: it lives in the memory of `x`.",
        "view_follows": "When `x` changes afterwards, your view stays as it was: it has memory of its own.",
    },
)
def first_and_rest(draw: Draw) -> Iterator[Case]:
    """Take row 0 as a copy and the other rows as a view."""
    n, d = draw.sizes(2, 3, 7)
    for shape in ((n, d), (d, n), (2, d)):
        yield Case("returns row 0 and the other rows", draw.normal(*shape))
    yield Case(_OWN_MEMORY, draw.normal(n, d))
    yield Case(_SHARED_MEMORY, draw.normal(d, n))


@EXERCISES.add("flatten_images", tier="core", hints=HINTS["flatten_images"], probe=calling())
def flatten_images(draw: Draw) -> Iterator[Case]:
    """Turn images into rows of pixels."""
    h, w, n = draw.sizes(3, 3, 6)
    # Images of one row first: there, taking the pixels column by column does no harm.
    yield Case("puts the channel values of each pixel side by side", draw.normal(2, 3, 1, w))
    yield Case("puts the channel values of each pixel side by side", draw.normal(2, 3, 1, w + 2))
    yield Case("keeps the pixels in reading order", draw.normal(2, 3, h, w))
    yield Case("works for any batch size", draw.normal(n, 3, h, w))
    yield Case("works for any batch size", draw.normal(1, 3, h, w))
    yield Case("works for any number of channels", draw.normal(2, 5, w, h))
    yield Case("works for any number of channels", draw.normal(2, 1, h, w))


@EXERCISES.add("one_hot", tier="core", hints=HINTS["one_hot"], probe=calling())
def one_hot(draw: Draw) -> Iterator[Case]:
    """Turn labels into rows with a single 1."""
    k = draw.whole(3, 6)
    yield Case("puts a 1 into the column of each label", labels_with_all(draw, k), k)
    yield Case("has k columns, whichever labels occur", labels_with_all(draw, k), k + draw.whole(1, 3))
    yield Case("works for fewer labels than classes", draw.ints(2, k + 3, 2), k + 3)
    yield Case("works for fewer labels than classes", draw.ints(2, k, 1), k)


_LAYOUTS = {
    "slice": "slice: x[:, 1:]",
    "transpose": "transpose: x.T",
    "expand": "expand: x[:1].expand(rows, cols)",
    "fancy": "fancy: x[[0, 1]]",
    "reshape": "reshape: x.T.reshape(-1)",
}


@EXERCISES.add(
    "predict_layout",
    tier="core",
    hints=HINTS["predict_layout"],
    probe=probes.layouts,
    rules=(probes.no_torch,),
)
def predict_layout(draw: Draw) -> Iterator[Case]:
    """Predict shape, stride and sharing from the numbers alone."""
    for name, requirement in _LAYOUTS.items():
        rows, cols, other = draw.sizes(3, 3, 9)
        yield Case(requirement, [(name, rows, cols)])
        yield Case(requirement, [(name, cols, other), (name, other, rows), (name, 2, cols)])
