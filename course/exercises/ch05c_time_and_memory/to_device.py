"""`to_device`: move a nest of tensors; the cases name the nests, since a named tuple is no plain data."""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn

from autograder.diagnosis.difference_messages import call_from_parts
from autograder.exercises.exercise import Case, Requirement, exercise
from autograder.exercises.observation import Observation
from autograder.exercises.probe import Answer, copy_case_data, make_probe_recording_exceptions
from autograder.exercises.probes.devices import describe_containers, find_lists_and_dicts
from autograder.exercises.seeded_draw import Draw

from .._ch05_models import eighths


def moved(answer: Answer, case: Case) -> Observation:
    """One call.

    Facets: `returned` (types and devices), `tracked` (a tensor that comes back requires grad), `left` (obj is as
    before), `new` (so are all containers).
    """
    name, x, y, device = copy_case_data(case.args)
    obj = NESTS[name](x, y)
    before, inside = describe_containers(obj, ANYTHING), find_lists_and_dicts(obj)
    result = answer(obj, device)
    seen: Observation = {
        "returned": describe_containers(result, ANYTHING),
        "left": describe_containers(obj, ANYTHING) == before,
    }
    seen["tracked"] = isinstance(result, Tensor) and result.requires_grad
    return seen | {"new": not {id(one) for one in inside} & {id(one) for one in find_lists_and_dicts(result)}}


def _spelled(name: str, case: Case) -> str:
    """The nest that is moved, with its tensors x and y by name."""
    nest, x, y, device = case.args
    if nest == "w":
        return f"{call_from_parts(name, nest, repr(device))}, where w has shape {tuple(x.shape)} and requires grad"
    shapes = f"where x has shape {tuple(x.shape)}, y {tuple(y.shape)}" + NOTES.get(nest, "")
    return f"{call_from_parts(name, 'x' if nest == 'a tensor' else nest, repr(device))}, {shapes}"


def _told(sentence: str) -> dict[str, str]:
    """What is told of a result, also where it is of another kind: what is seen of it is no tensor and no container."""
    return {"returned": sentence, "returned:type": f"{sentence} Yours is of another kind, or None."}


returned = make_probe_recording_exceptions(moved, "returned")
tensor = Requirement("moves a tensor", returned, _told("A tensor comes back as a tensor, on the device."))
sequences = Requirement(
    "moves what is in lists and tuples",
    returned,
    _told("A list comes back as a list and a tuple as a tuple, in the same order, with its tensors moved."),
)
dicts = Requirement(
    "moves what is in dicts, and keeps their type and order",
    returned,
    _told("A dict comes back as one of its own type, with its keys in their order, and its tensors moved."),
)
deep = Requirement(
    "goes down to any depth",
    returned,
    _told("However deep it lies, each tensor is moved, and each container on the way keeps its type."),
)
named = Requirement(
    "keeps named tuples",
    returned,
    _told("A named tuple comes back as one of its own type, with what it holds moved, at any depth."),
)
others = Requirement(
    "keeps everything else as it is, a tensor's graph too",
    make_probe_recording_exceptions(moved, "returned", "tracked"),
    _told("Tensors are moved; texts, numbers, sets, None and all else come back as what they were, and not as copies.")
    | {
        "tracked": "What you return is cut off from the tensor that was given. `.to` keeps its graph.",
    },
)
new = Requirement(
    "leaves obj as it was, and makes new containers",
    make_probe_recording_exceptions(moved, "left", "new"),
    {
        "left": "After your function, obj itself is not what it was.",
        "new": "A list or dict in your result is one of those that obj holds: whoever changes one changes the other.",
    },
)

Point = namedtuple("Point", "place label")  # a named tuple as students meet it


class Pixel(Point):
    """A named tuple whose class is made from another one."""


class Ticket:
    """An object that is no tensor and has a method `to`."""

    def to(self, place: object) -> str:
        """Return a text: whoever calls it has not asked what the object is."""
        return f"a ticket to {place}"

    def __repr__(self) -> str:
        """Return the same text for each."""
        return "Ticket()"


OTHERS = {"name": "ab", "flag": True, "rate": 0.5}
ANYTHING = {1, 2}  # neither a tensor nor one of the containers that are named
PLACES: dict[Requirement, dict[str, Callable[[Tensor, Tensor], Any]]] = {
    tensor: {"a tensor": lambda x, y: x, "nn.Parameter(x)": lambda x, y: nn.Parameter(x)},
    sequences: {"[x, y]": lambda x, y: [x, y], "(x, y)": lambda x, y: (x, y), "(x,)": lambda x, y: (x,)},
    dicts: {
        "{'y': y, 'a': x}": lambda x, y: {"y": y, "a": x},
        "{2: x, 1: y}": lambda x, y: {2: x, 1: y},
        "OrderedDict(y=y, a=x)": lambda x, y: OrderedDict(y=y, a=x),
    },
    deep: {
        "[{'x': x}, (y, [x])]": lambda x, y: [{"x": x}, (y, [x])],
        "{'a': {'b': {'c': [x, (y,)]}}}": lambda x, y: {"a": {"b": {"c": [x, (y,)]}}},
    },
    named: {
        "Point(place=x, label=y)": lambda x, y: Point(x, y),
        "[Point(place=[x], label=y)]": lambda x, y: [Point([x], y)],
        "Pixel(place=x, label=y)": lambda x, y: Pixel(x, y),
    },
    others: {
        "{'x': x, 'name': 'a'}": lambda x, y: {"x": x, "name": "a"},
        "{'x': x, 'name': 'ab', 'flag': True, 'rate': 0.5}": lambda x, y: {"x": x, **OTHERS},
        "[x, 'text', None, 3, {1, 2}]": lambda x, y: [x, "text", None, 3, ANYTHING],
        "{'x': [], 'y': (), 'z': {}}": lambda x, y: {"x": [], "y": (), "z": {}},
        "{1, 2}": lambda x, y: ANYTHING,
        "[x, Ticket()]": lambda x, y: [x, Ticket()],
        "{'x': x, 'rows': range(3)}": lambda x, y: {"x": x, "rows": range(3)},
        "w": lambda x, y: x.requires_grad_(),
    },
}
NESTS = {name: nest for nests in PLACES.values() for name, nest in nests.items()}
NOTES = {
    "Pixel(place=x, label=y)": "; Pixel is a class made from the named tuple Point",
    "[x, Ticket()]": "; a Ticket is no tensor and has a method `to`",
}
RENEWED = (
    "[x, y]",
    "{'x': [], 'y': (), 'z': {}}",
    "{'y': y, 'a': x}",
    "{'a': {'b': {'c': [x, (y,)]}}}",
    "[{'x': x}, (y, [x])]",
)


@exercise(
    tier="core",
    hints=(
        "What is `obj`? A tensor, a dict, a list or tuple, or anything else: four cases, one answer to each.",
        "The function may call itself on each value in a container. Build a new container of `type(obj)`.",
        "A named tuple is made from its values one by one, `type(obj)(*values)`; a plain tuple from one list of them.",
    ),
    spelled=_spelled,
)
def to_device(draw: Draw) -> Iterator[Case]:
    """Move a nest of tensors."""
    for requirement, names in [*PLACES.items(), (new, RENEWED)]:
        for name in names:
            n, d = draw.sizes(2, 1, 12)
            yield requirement(name, draw.ints(0, 24, n, d).float(), draw.ints(0, 9, n), "meta")
    x, y = eighths(draw, 2), draw.ints(0, 9, 3)
    for requirement in (others, new):
        yield requirement("{'x': x, 'name': 'a'}", torch.ones(2), y, "meta")
    yield tensor("a tensor", x, y, torch.device("meta"))
    yield sequences("(x, y)", x, y, torch.device("cpu"))
