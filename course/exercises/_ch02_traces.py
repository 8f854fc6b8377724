"""What several exercises require alike of the traces that an answer leaves."""

from __future__ import annotations

from autograder.exercises.exercise import Case, Requirement
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, in_turn

from ._ch02_functions import on_function

CHANGED = "A tensor that you were given is no longer as it was: look at shape, values, requires_grad and .grad."
TRACKED = (
    "Your result requires grad: it is a leaf that does, or hangs on a graph, such as `create_graph=True` makes, or "
    "computing with a tensor that requires grad. A tensor without is asked for."
)
WARM = "Where the tensors that come in require grad and hold a .grad from before, your result is not the right one."

_given = in_turn(on_function("left", "returned"), on_function("left", "returned", tracked=True))
_computed = on_function("left", computed=True)


def left_behind(answer: Answer, case: Case) -> Observation:
    """What became of leaves; where nothing did, what became of computed tensors and of those `behind` them."""
    seen = _given(answer, case)
    if "raised" in seen or any(any(changes) for changes in seen["left"]):
        return seen if "raised" in seen else seen | {"behind": []}
    behind = _computed(answer, case)
    return behind if "raised" in behind else seen | {"behind": [name for names in behind["left"] for name in names]}


left = Requirement(
    "leaves what it is given as it was",
    left_behind,
    tells={
        "left": CHANGED,
        "behind": "Here what you were given was computed from another tensor. Afterwards its graph is cut off, or the "
        ".grad of that other tensor has changed.",
    },
    given=("returned",),
)
again = Requirement(
    "does not mind an old .grad, nor a second call",
    on_function("returned", "again", tracked=True, times=2),
    tells={
        "returned": WARM,
        "again": "A second call on the same tensor gives something else: the first one left something behind.",
    },
)
untracked = Requirement(
    "returns a tensor that does not require grad",
    on_function("tracked", "returned", tracked=True),
    tells={"tracked": TRACKED, "returned:values": WARM},
    given=("returned",),
)
