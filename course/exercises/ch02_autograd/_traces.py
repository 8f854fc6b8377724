"""What several exercises require alike of the traces that an answer leaves."""

from __future__ import annotations

from autograder.watching.exercise import Requirement
from autograder.watching.probe import in_turn

from ._functions import on_function

CHANGED = "A tensor that you were given is no longer as it was: look at values, requires_grad and .grad."
TRACKED = (
    "Your result requires grad: it is a leaf that does, or hangs on a graph, such as `create_graph=True` makes, or "
    "computing with a tensor that requires grad. A tensor without is asked for."
)
WARM = "Where the tensors that come in require grad and hold a .grad from before, your result is not the right one."

left = Requirement(
    "leaves what it is given as it was",
    in_turn(
        on_function("left", "returned"),
        on_function("left", "returned", tracked=True),
        on_function("left", "returned", computed=True),
    ),
    tells={"left": CHANGED},
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
