"""`predict_layout`: predict shape, stride and sharing from the numbers alone."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions, snapshot_value
from autograder.exercises.seeded_draw import Draw
from autograder.exercises.source_rules import Rule, imported_names, names_used

no_torch = Rule(
    "no_torch",
    "works from the numbers alone, without torch or NumPy",
    "`torch` or NumPy is used in `predict_layout`. Predict instead: work from the numbers alone.",
    lambda tree: bool((names_used(tree) | imported_names(tree)) & {"torch", "numpy", "np"}),
)


@make_probe_recording_exceptions
def layouts(answer: Answer, case: Case) -> Observation:
    """How many layouts there are; of the first op's kind their shapes, their strides, and what shares memory, in order.

    Ops of another kind stand between them, and are left out where the answer cannot do them alone, since a line of
    their own tells that. Lists and tuples count alike in any place; what is no sequence of triples is told by its form.
    """
    (given,) = copy_case_data(case.args)
    kind = given[0][0]
    ops = [op for op in given if op[0] == kind or _is_known(answer, op)]
    seen = _tuples(snapshot_value(answer(list(ops))))
    form = {"is_list": isinstance(seen, tuple), "has_triples": isinstance(seen, tuple) and all(map(_is_triple, seen))}
    if not isinstance(seen, tuple) or not form["has_triples"]:
        return {**form, "returned": list(seen) if isinstance(seen, tuple) else seen}
    own = [layout for layout, op in zip(seen, ops, strict=False) if op[0] == kind]
    shapes, strides = ([_whole(layout[place]) for layout in own] for place in range(2))
    entries = len(seen) + len(given) - len(ops)
    return {**form, "entries": entries, "shapes": shapes, "strides": strides, "shares": [layout[2] for layout in own]}


def _is_known(answer: Answer, op: tuple[str, int, int]) -> bool:
    try:
        seen = _tuples(snapshot_value(answer([op])))
    except Exception:
        return False
    return isinstance(seen, tuple) and len(seen) == 1 and _is_triple(seen[0])


def _is_triple(layout: Plain) -> bool:
    return isinstance(layout, tuple) and len(layout) == 3


def _whole(lengths: Plain) -> Plain:
    """A tuple of ints as a text, so that a report shows all of it; anything else as it is."""
    is_tuple = isinstance(lengths, tuple) and all(type(length) is int for length in lengths)
    return str(lengths) if is_tuple else lengths


def _tuples(value: Plain) -> Plain:
    return tuple(_tuples(item) for item in value) if isinstance(value, list | tuple) else value


def predicted(name: str, sentence: str, shape: str, stride: str, shares: str) -> Requirement:
    """One operation, and what to say of its shape, its stride and its memory; other forms are told as anywhere."""
    tells = {
        "is_list": "You return no list. Asked for is a list with one entry, (shape, stride, shares_storage), for each "
        "op.",
        "has_triples": "Each entry of your list is to hold three things together: (shape, stride, shares_storage). One "
        "of yours does not.",
        "entries": "Your list has not one entry for each op: does it return before the last, keep less than all, or "
        "more than those of this call?",
        "shapes:type": "A shape is a tuple, also where it has one number: `(6,)`, with a comma.",
        "strides:type": "A stride is a tuple, also where it has one number: `(1,)`, with a comma.",
        "shapes:values": shape,
        "strides:values": stride,
        "shares:values": shares,
        "shares:type": "The last of the three is to be `True` or `False` itself, a bool. Yours is of another type.",
    }
    return Requirement(f"{name}: {sentence}", layouts, tells)


operations = {
    "slice": predicted(
        "slice",
        "x[:, 1:]",
        "This is not the shape of the slice. The first place in its brackets stands for the rows, the second for the "
        "columns.",
        "This is not the stride of the slice. It is read in the memory of `x`: how far is it there to the next row, "
        "and to the next column?",
        "A slice is a view: whether it uses the memory of `x` is the other way round.",
    ),
    "transpose": predicted(
        "transpose",
        "x.T",
        "This is not the shape of the transpose. Its rows are the columns of `x`.",
        "This is not the stride of the transpose. It is read in the memory of `x`: one row further is one column "
        "further there.",
        "No number moves for a transpose: whether it uses the memory of `x` is the other way round.",
    ),
    "expand": predicted(
        "expand",
        "x[:1].expand(rows, cols)",
        "This is not the shape of the expanded row: `expand` is told which it is to be.",
        "This is not the stride of the expanded row. The step to the next row leads to the same row again; the one "
        "within the row is that of `x`.",
        "`expand` repeats nothing in memory: whether it uses the memory of `x` is the other way round.",
    ),
    "fancy": predicted(
        "fancy",
        "x[[0, 1]]",
        "This is not the shape of what the list picks: whole rows, as many as it has numbers.",
        "This is not the stride of what the list picks, which has memory of its own, as a new tensor of its shape has.",
        "A list always copies, whichever rows it names: whether it uses the memory of `x` is the other way round.",
    ),
    "reshape": predicted(
        "reshape",
        "x.T.reshape(-1)",
        "This is not the shape of the one long row.",
        "This is not the stride of the one long row. In memory of its own, each number is next to the one before.",
        "In the order of the transpose the memory of `x` cannot be read in equal steps: whether the row uses it is "
        "the other way round.",
    ),
}


# What stands between the ops of a kind, so that the place of an entry and what an earlier op left behind are seen.
OTHERS = (("reshape", "fancy"), ("fancy", "reshape"), ("reshape", "fancy"), ("transpose", "slice"), ("slice", "expand"))


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
    for (name, operation), others in zip(operations.items(), OTHERS, strict=True):
        rows, cols, other = draw.sizes(3, 3, 9)
        yield operation([(name, rows, cols)])
        between = [(another, other, cols) for another in others]
        mixed = [(name, cols, other), between[0], (name, other, rows), between[1], (name, 2, cols), (name, cols, other)]
        yield operation(mixed)
    yield operations["slice"]([("slice", 3, 4)])
