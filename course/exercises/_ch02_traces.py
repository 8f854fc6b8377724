"""What several exercises require alike of the traces that an answer leaves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch import Tensor

from autograder.exercises.exercise import Case, Requirement
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, combine_probes_in_order
from autograder.exercises.probes.gradients import is_tensor_requiring_grad

from ._ch02_functions import on_function

CHANGED = "A tensor that you were given is no longer as it was: look at shape, values, requires_grad and .grad."
TRACKED = (
    "Your result requires grad: it is a leaf that does, or hangs on a graph, such as `create_graph=True` makes, or "
    "computing with a tensor that requires grad. A tensor without is asked for."
)
WARM = "Where the tensors that come in require grad and hold a .grad from before, your result is not the right one."
REQUIRED = "Where the tensors that come in require grad, your result is not the right one."

_given = combine_probes_in_order(on_function("left", "returned"), on_function("left", "returned", tracked=True))
_computed = on_function("left", computed=True)
_required = on_function("returned", tracked=True)


def tracking(answer: Answer, case: Case) -> Observation:
    """Whether the result requires grad, in words that a report shows; an old .grad is the matter of another line."""
    found: list[str] = []

    def without_old_grads(*args: Any, **kwargs: Any) -> object:
        for arg in args:
            if isinstance(arg, Tensor):
                arg.grad = None
        result = answer(*args, **kwargs)
        found.append(f"requires_grad={is_tensor_requiring_grad(result)}")
        return result

    seen = _required(without_old_grads, case)
    return seen if "raised" in seen else {"tracked": found[0]} | seen


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
    tracking,
    tells={"tracked": TRACKED, "returned:values": REQUIRED},
    given=("returned",),
)
_STATE_OF_TENSORS = {
    untracked.sentence: ", on tensors that require grad",
    left.sentence: ", also on tensors that require grad and hold a .grad, or were computed from such tensors",
    again.sentence: ", twice, on tensors that require grad and hold a .grad",
}


def with_state_of_tensors(spelled: Callable[[str, Case], str]) -> Callable[[str, Case], str]:
    """Make a function that spells a case's call and, where it matters, what state the call's tensors are in."""
    return lambda name, case: spelled(name, case) + _STATE_OF_TENSORS.get(case.requirement, "")
