"""What several exercises require alike of the traces that an answer leaves."""

from __future__ import annotations

from autograder.watching.exercise import Requirement
from autograder.watching.probe import in_turn

from ._functions import on_function

CHANGED = (
    "The result is right, but a tensor that you were given is no longer as it was: look at values, "
    "requires_grad and .grad."
)
TRACKED = "Your result requires grad: it still hangs on the graph that made it. A tensor without one is asked for."

left = Requirement(
    "leaves what it is given as it was",
    in_turn(on_function("left"), on_function("left", tracked=True)),
    tells={"left": CHANGED},
)
again = Requirement(
    "does not mind an old .grad, nor a second call",
    on_function("returned", "again", tracked=True, times=2),
    tells={"again": "A second call on the same tensor gives something else: the first one left something behind."},
)
untracked = Requirement(
    "returns a tensor that does not require grad",
    on_function("tracked", tracked=True),
    tells={"tracked": TRACKED},
)
