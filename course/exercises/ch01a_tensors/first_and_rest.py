"""`first_and_rest`: take row 0 as a copy and the other rows as a view."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.probe import select_facets
from autograder.exercises.probes.memory_sharing import observe_copy_and_view
from autograder.exercises.seeded_draw import Draw

rows = Requirement(
    "returns row 0 and the other rows",
    select_facets(observe_copy_and_view, "returned", "inputs"),
    tells={
        "returned:shape": "One of the two has another shape: the copy is a single row, (d,), and the view all rows "
        "behind it, (n - 1, d).",
        "returned:values": "One of the two holds other numbers: the copy is row 0, and the view all rows from 1 to the "
        "end.",
    },
)
own_memory = Requirement(
    "puts the copy into memory of its own",
    select_facets(observe_copy_and_view, "copy_follows", "detached", "returned"),
    tells={
        "copy_follows": "When `x` changes afterwards, so does your copy: it lives in the memory of `x`, as what plain "
        "indexing, `reshape`, `contiguous`, `detach` or `from_numpy` gives may do.",
        "detached": "Your copy is cut off from autograd, and still lives in the memory of `x`.",
    },
    given=("returned",),
)
shared_memory = Requirement(
    "keeps the view in the memory of x",
    select_facets(observe_copy_and_view, "view_follows", "returned"),
    tells={"view_follows": "When `x` changes afterwards, your view stays as it was: it has memory of its own."},
    given=("returned",),
)

single_row = Requirement(
    "works for a single row, behind which none is left",
    select_facets(observe_copy_and_view, "returned", "inputs"),
    needs=(rows,),
)


@exercise(
    tier="core",
    hints=(
        "Which kinds of indexing give a view, which a copy? A number and a slice are of one kind.",
        "Take row 0 and the other rows by plain indexing, then ask which of the two needs something more.",
        "One method of a tensor gives it memory of its own. `detach` is not it.",
    ),
)
def first_and_rest(draw: Draw) -> Iterator[Case]:
    """Take row 0 as a copy and the other rows as a view."""
    n, d = draw.sizes(2, 3, 7)
    yield rows(draw.counting(n, d))
    for shape in ((d, n), (2, d)):
        yield rows(draw.normal(*shape))
    yield rows(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    yield rows(draw.normal(n, d, dtype=torch.float64))
    yield rows(draw.normal(d, n).T)
    yield rows(draw.ints(-9, 9, d, n))
    yield own_memory(draw.normal(n, d))
    yield shared_memory(draw.normal(d, n))
    yield shared_memory(draw.normal(d, n).T)
    yield single_row(draw.normal(1, d))
