"""Differences in words: the sentence, both values as text, the call, and the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from autograder.judging.error_meanings import meaning
from autograder.judging.grids import picture
from autograder.judging.kinds import note_of_kind, type_sentence
from autograder.judging.numbers import number
from autograder.judging.own_sentence import own_sentence
from autograder.judging.verdict import Picture
from autograder.watching.difference import Difference, Tolerance, first_difference
from autograder.watching.exercise import Case, Exercise
from autograder.watching.observation import Foreign, Observation, Plain, Raised, Seen, dtype_name

WIDTH = 240
LONGEST = 1000  # of a sentence, which may hold texts of its own
_SMALL = 24  # numbers shown in full


@dataclass(frozen=True)
class Told:
    """What to tell of one difference."""

    sentence: str
    expected: str = ""
    got: str = ""
    picture: Picture | None = None


def not_attempted(name: str) -> str:
    """For an answer that still holds the starter."""
    return (
        f"`{name}` is not written yet: replace `raise NotImplementedError()` by your code, run the cell, check again."
    )


def still_running(seconds: float) -> str:
    """For an answer that was stopped because it came to no end."""
    return f"Your code was still running after {seconds:g} seconds and was stopped."


def tell(
    exercise: Exercise, tells: Mapping[str, str], difference: Difference, right: Observation, seen: Observation
) -> Told:
    """Say what differs, in the order that helps: a crash, then type, shape, dtype, device, values, side effects."""
    told = _tell(exercise, tells, difference, right, seen)
    # A name, a key or a message of the student's may have a million letters.
    sentence, expected, got = (shorten(text, LONGEST) for text in (told.sentence, told.expected, told.got))
    return Told(sentence, expected, got, told.picture)


def _tell(
    exercise: Exercise, tells: Mapping[str, str], difference: Difference, right: Observation, seen: Observation
) -> Told:
    if "raised" in seen:
        return _tell_raised(exercise, seen["raised"])
    if difference.path == () and difference.aspect == "keys":
        return _tell_form(difference, seen)
    facet, *inner = difference.path
    spoken = own_sentence(tells, difference)
    if spoken and isinstance(difference.expected, bool):  # the sentence says it all, and another result shows it
        result = _of_result(right, seen, exercise.tolerance) if facet != "returned" else None
        return _with_values(spoken, result, exercise.tolerance) if result else Told(spoken)
    if spoken:
        kind_note = "" if f"{facet}:type" in tells else note_of_kind(difference)
        sentence = spoken + _nan_note(difference.expected, difference.got) + kind_note
        return _with_values(sentence, difference, exercise.tolerance)
    if facet in _FACETS:
        return Told(_FACETS[str(facet)].format(got=_names(difference.got)))
    return _tell_value(_place(str(facet), inner), difference, exercise.tolerance)


def _of_result(right: Observation, seen: Observation, tolerance: Tolerance) -> Difference | None:
    """Where the result differs; None where it does not, or was not looked at."""
    both = "returned" in right and "returned" in seen
    return first_difference(right["returned"], seen["returned"], tolerance) if both else None


def _with_values(sentence: str, difference: Difference, tolerance: Tolerance) -> Told:
    return Told(sentence, show(difference.expected), show(difference.got), picture(difference, tolerance))


def _tell_form(difference: Difference, seen: Observation) -> Told:
    """The probe could not look at what it expected: an error is missing, or the result has another form."""
    if "raised" in difference.expected:
        return Told("Expected this call to raise an error; it returned a value.")
    sentence = "What your code returns is not of the form that the docstring describes."
    if "returned" not in seen:
        return Told(sentence)
    advice = " Did you forget `return`?" if seen["returned"] is None else ""
    return Told(f"{sentence}{advice}", got=show(seen["returned"]))


_FACETS = {
    "inputs": "Your code changed what it was given ({got}). Make something new.",
    "rng": "Your code changed torch's global random state; other code that relies on it now gets other numbers.",
    "sharing": "What shares memory with the input differs from what is asked for.",
    "gradient": "The gradient that flows back through your result is not the one that the task asks for.",
}


def _names(value: Plain) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else "its input"


def _tell_raised(exercise: Exercise, error: Raised) -> Told:
    where = f" It happened at: `{error.line}`" if error.line else ""
    message = " ".join(error.message.split())
    signature = error.type == "TypeError" and f"{exercise.name}()" in error.message and "argument" in error.message
    advice = f" Keep the parameters of `{exercise.name}` as the starter has them." if signature else ""
    told = f"{error.type}: {message}" if message else error.type
    meant = meaning(told)
    return Told(f"Your code raised {told.rstrip('.')}.{where}{advice}{meant and ' '}{meant}")


def _place(facet: str, inner: list[str | int]) -> str:
    base = {"returned": "the result", "again": "the result of a second call"}.get(facet, facet.replace("_", " "))
    keys = "".join(f"[{key!r}]" for key in inner)
    return f"entry {keys} of {base}" if keys else base


def _tell_value(place: str, difference: Difference, tolerance: Tolerance) -> Told:
    expected, got = difference.expected, difference.got
    texts = (show(expected), show(got))
    if difference.aspect == "type":
        return Told(type_sentence(place, expected, got), *texts)
    if difference.aspect == "keys":
        return Told(_keys_sentence(place, expected, got))
    if difference.aspect == "length":
        items = "1 item" if len(expected) == 1 else f"{len(expected)} items"
        return Told(f"Expected {place} to have {items}, got {len(got)}.", *texts)
    if isinstance(expected, Seen):
        return Told(_tensor_sentence(place, difference), *texts, picture=picture(difference, tolerance))
    return Told(f"Expected {place} to be {texts[0]}, got {texts[1]}.", *texts)


def _keys_sentence(place: str, expected: list[str], got: list[str]) -> str:
    """What is missing, and what is too much; of the other entries nothing is said, as a probe may look at some only."""
    missing, beyond = [key for key in expected if key not in got], [key for key in got if key not in expected]
    lacks = f"has no entry {', '.join(map(repr, missing))}" if missing else ""
    holds = f"has an entry {', '.join(map(repr, beyond))}, which is not asked for" if beyond else ""
    told = " and ".join(filter(None, (lacks, holds)))
    return f"{place[:1].upper()}{place[1:]} {told}."


def _tensor_sentence(place: str, difference: Difference) -> str:
    expected, got = difference.expected, difference.got
    if difference.aspect == "values":
        return f"The shape and dtype of {place} are right; the values are not.{_nan_note(expected, got)}"
    if difference.aspect == "requires_grad":
        if expected.requires_grad:
            return f"Expected a gradient to flow back through {place}, but it is cut off from its input."
        return f"Expected {place} not to require gradients, but it does."
    one, other = getattr(expected, difference.aspect), getattr(got, difference.aspect)
    return f"Expected {place} to have {difference.aspect} {one}, got {other}.{_form_advice(difference.aspect, other)}"


def _form_advice(aspect: str, got: object) -> str:
    """Where another device or dtype than is asked for may come from."""
    if aspect == "device":
        return " Move every tensor to the device of the input."
    if (aspect, got) == ("dtype", "float32"):
        return " What `float()` gives is float32, and so is a new tensor of fractions, zeros or ones without a `dtype`."
    return ""


def _nan_note(expected: Plain, got: Plain) -> str:
    """What to add where a tensor holds nan and should hold numbers; nothing where it is not about two tensors."""
    if not (isinstance(expected, Seen) and isinstance(got, Seen)) or expected.shape != got.shape:
        return ""
    if expected.values is None or got.values is None:
        return ""
    count = int((got.values.isnan() & ~expected.values.isnan()).sum())
    return f" Yours has nan in {count} of {got.values.numel()} places where a number is expected." if count else ""


# --- values as text


_MOST_DIMS = 50  # from there on, numbers in as many brackets say nothing, and take long


def show(value: Plain, width: int = WIDTH) -> str:
    """A value as a short text; a tensor with its shape and dtype."""
    if isinstance(value, Seen):
        return f"tensor of shape {value.shape}, {value.dtype}{_beside(value)}: {_numbers(value, width)}"
    if isinstance(value, Foreign):
        return shorten(f"{value.type}: {' '.join(value.text.split())}", width)
    if isinstance(value, Raised):
        return shorten(f"{value.type}: {value.message}", width)
    if isinstance(value, list | tuple) and not isinstance(value, torch.Size):
        inside = ", ".join(show(item, width) for item in value)
        inside += "," if isinstance(value, tuple) and len(value) == 1 else ""
        return shorten(f"[{inside}]" if isinstance(value, list) else f"({inside})", width)
    if isinstance(value, dict):
        return shorten("{" + ", ".join(f"{key!r}: {show(item, width)}" for key, item in value.items()) + "}", width)
    return shorten(repr(value), width)


def shorten(text: str, width: int = WIDTH) -> str:
    """Cut the middle out of a long text."""
    half = (width - 3) // 2
    return text if len(text) <= width else f"{text[:half]} … {text[-half:]}"


def _beside(seen: Seen) -> str:
    return f", on {seen.device}" if seen.device != "cpu" else ""


def _numbers(seen: Seen, width: int) -> str:
    if seen.values is None:
        return "(values not read)"
    if seen.values.dim() > _MOST_DIMS:
        return f"({seen.values.dim()} dims, values not shown)"
    return shorten(_nested(_ends(seen.values, width).tolist()), width)


def _ends(values: torch.Tensor, width: int) -> torch.Tensor:
    """What of a tensor may be seen in a text of this width: of each dim both ends, where there is more between them."""
    each = 1  # numbers in one item of the dim
    for dim in reversed(range(values.dim())):
        size, kept = values.shape[dim], max(1, -(-width // max(1, each)))
        if size > 2 * kept:
            values = torch.cat((values.narrow(dim, 0, kept), values.narrow(dim, size - kept, kept)), dim)
        each *= max(1, values.shape[dim])  # brackets around nothing take room as well
    return values


def _nested(value: object) -> str:
    return f"[{', '.join(map(_nested, value))}]" if isinstance(value, list) else number(value)


# --- the call


def spelled(exercise: Exercise, case: Case) -> str:
    """The call that a case makes, as its exercise spells it."""
    return (exercise.spelled or call)(exercise.name, case)


def call(name: str, case: Case) -> str:
    """The call that a case makes, as code: small tensors in full, larger ones by shape."""
    return call_of(name, *map(argument, case.args), **case.kwargs)


def call_of(name: str, *parts: str, **options: object) -> str:
    """A call as code, of arguments that are spelled already and of options that are not."""
    return f"{name}({', '.join([*parts, *(f'{key}={argument(value)}' for key, value in options.items())])})"


def sized(name: str, tensor: torch.Tensor, more: str = "") -> str:
    """A tensor by its name and shape, and what else there is to say."""
    return f"<{name} {tuple(tensor.shape)}{more}>"


def argument(value: object) -> str:
    """An argument as code: a small tensor in full, a larger one by shape."""
    if type(value) is list:
        return shorten(f"[{', '.join(map(argument, value))}]")
    if not isinstance(value, torch.Tensor):
        return shorten(repr(value))
    unusual = value.dtype not in (torch.float32, torch.int64, torch.bool)
    dtype = f", dtype={value.dtype}" if unusual else ""
    if value.numel() <= _SMALL:
        return f"torch.tensor({_nested(value.tolist())}{dtype})"
    return f"<tensor {tuple(value.shape)} {dtype_name(value.dtype)}>"
