"""`predict_layout`: predict shape, stride and sharing from the numbers alone."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.watching.draw import Draw
from autograder.watching.exercise import Case, Requirement, exercise
from autograder.watching.observation import Observation, Plain
from autograder.watching.probe import Answer, copy_of, see, watched
from autograder.watching.rules import Rule, imported, names_used

no_torch = Rule(
    "no_torch",
    "works from the numbers alone, without torch or NumPy",
    "`torch` or NumPy is used in `predict_layout`. Predict instead: work from the numbers alone.",
    lambda tree: bool((names_used(tree) | imported(tree)) & {"torch", "numpy", "np"}),
)


@watched
def layouts(answer: Answer, case: Case) -> Observation:
    """A list of tuples; lists and tuples count alike, in any place."""
    seen = _tuples(see(answer(*copy_of(case.args))))
    return {"returned": list(seen) if isinstance(seen, tuple) else seen}


def _tuples(value: Plain) -> Plain:
    return tuple(_tuples(item) for item in value) if isinstance(value, list | tuple) else value


operations = {
    "slice": Requirement("slice: x[:, 1:]", layouts),
    "transpose": Requirement("transpose: x.T", layouts),
    "expand": Requirement("expand: x[:1].expand(rows, cols)", layouts),
    "fancy": Requirement("fancy: x[[0, 1]]", layouts),
    "reshape": Requirement("reshape: x.T.reshape(-1)", layouts),
}


@exercise(
    tier="core",
    independent=True,
    rules=(no_torch,),
    hints=(
        "For each op, ask: does any number move in memory? If not, it is a view, and only shape and stride change.",
        "A contiguous (rows, cols) tensor has stride (cols, 1). A slice keeps it, a transpose swaps it, "
        "an expanded dim gets 0.",
        "A list of row numbers and a reshape that no stride can describe both copy; a copy is contiguous.",
    ),
)
def predict_layout(draw: Draw) -> Iterator[Case]:
    """Predict shape, stride and sharing from the numbers alone."""
    for name, predicted in operations.items():
        rows, cols, other = draw.sizes(3, 3, 9)
        yield predicted([(name, rows, cols)])
        yield predicted([(name, cols, other), (name, other, rows), (name, 2, cols)])
    yield operations["slice"]([("slice", 3, 4)])
