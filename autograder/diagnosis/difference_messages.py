"""Write the message about a difference: the sentence, both values as text, the call as code, and the picture."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

import torch

from autograder.diagnosis.choose_message_for_difference import choose_author_message
from autograder.diagnosis.error_meanings import error_meaning
from autograder.diagnosis.number_format import number_text
from autograder.diagnosis.tensor_difference_grids import make_difference_grids
from autograder.diagnosis.value_format import (
    RESULT_FACETS,
    expected_and_got_texts,
    nested_list_text,
    shorten,
    value_text,
)
from autograder.diagnosis.value_kinds import wrong_type_message, wrong_type_note
from autograder.diagnosis.verdict import GridPair
from autograder.exercises.compare_observations import Difference, Tolerance, first_difference
from autograder.exercises.exercise import Case, Exercise
from autograder.exercises.observation import ExceptionSnapshot, Observation, Plain, TensorSnapshot, dtype_without_module

MAX_MESSAGE_LENGTH = 1000  # characters of a sentence, which may quote a student's text
_SMALL = 24  # a tensor with at most this many numbers is shown in full
_COUNTED = 6  # fewer numbers may be 0, 1, 2, ... by chance


@dataclass(frozen=True)
class DifferenceMessage:
    """The message about one difference: the sentence, both values as texts, and the picture."""

    sentence: str
    expected: str = ""
    got: str = ""
    picture: GridPair | None = None


def not_attempted_message(name: str) -> str:
    """Return the message for an answer that still is the starter."""
    return (
        f"`{name}` is not written yet: replace `raise NotImplementedError()` by your code, run the cell, check again."
    )


def time_limit_message(seconds: float) -> str:
    """Return the message for an answer that was stopped at its time limit."""
    return f"Your code was still running after {seconds:g} seconds and was stopped."


def difference_message(
    exercise: Exercise, tells: Mapping[str, str], difference: Difference, right: Observation, seen: Observation
) -> DifferenceMessage:
    """Return the message about a difference between the expected and the student's observation of one case.

    `right` is the expected observation and `seen` the student's. An exception comes first, then a missing facet, then
    the sentence of the exercise's author, then a sentence made from the two values.
    """
    told = _tell(exercise, tells, difference, right, seen)
    # A name, key or error message from the student's code may be a million characters long.
    sentence, expected, got = (shorten(text, MAX_MESSAGE_LENGTH) for text in (told.sentence, told.expected, told.got))
    return DifferenceMessage(sentence, expected, got, told.picture)


def _tell(
    exercise: Exercise, tells: Mapping[str, str], difference: Difference, right: Observation, seen: Observation
) -> DifferenceMessage:
    if "raised" in seen:
        return _tell_raised(exercise, seen["raised"], _wrong_fact(tells, right, seen))
    if difference.path == () and difference.aspect == "keys":
        return _tell_form(tells, difference, right, seen)
    facet, *inner = difference.path
    spoken = choose_author_message(tells, difference)
    by_probe = isinstance(difference.expected, bool) and (facet not in RESULT_FACETS or not inner)
    if spoken and by_probe:  # the sentence says it all; values help only if the result differs
        result = _of_result(right, seen, exercise.tolerance) if facet != "returned" else None
        return _with_values(spoken, result, exercise.tolerance) if result else DifferenceMessage(spoken)
    if spoken:
        kind_note = "" if f"{facet}:type" in tells else wrong_type_note(difference)
        sentence = spoken + _nan_note(difference.expected, difference.got) + kind_note
        return _with_values(sentence, difference, exercise.tolerance)
    if facet in _FACETS:
        return DifferenceMessage(_FACETS[str(facet)].format(got=_names(difference.got)))
    return _tell_value(_place(str(facet), inner), difference, exercise.tolerance)


def _of_result(right: Observation, seen: Observation, tolerance: Tolerance) -> Difference | None:
    """Return the first difference of the result; None if it is equal or the probe did not record it."""
    both = "returned" in right and "returned" in seen
    return first_difference(right["returned"], seen["returned"], tolerance) if both else None


def _with_values(sentence: str, difference: Difference, tolerance: Tolerance) -> DifferenceMessage:
    return DifferenceMessage(sentence, *_by_entry(difference, tolerance), make_difference_grids(difference, tolerance))


def _by_entry(difference: Difference, tolerance: Tolerance) -> tuple[str, str]:
    """Return both values as texts; for an entry of the result, with its keys in front: "['loss'] = 0.5"."""
    expected, got = expected_and_got_texts(difference, tolerance)
    facet, *inner = difference.path or ("",)
    if facet not in RESULT_FACETS or not inner:
        return expected, got
    place = "".join(f"[{key!r}]" for key in inner)
    return f"{place} = {expected}", f"{place} = {got}"


def _tell_form(
    tells: Mapping[str, str], difference: Difference, right: Observation, seen: Observation
) -> DifferenceMessage:
    """Return the message for missing facets: an expected error was not raised, or the result has another form.

    A fact that the probe recorded all the same may say which form.
    """
    if "raised" in difference.expected:
        return DifferenceMessage("Expected this call to raise an error; it returned a value.")
    form = "What your code returns is not of the form that the docstring describes."
    sentence = _wrong_fact(tells, right, seen) or form
    if "returned" not in seen:
        return DifferenceMessage(sentence)
    advice = " Did you forget `return`?" if seen["returned"] is None else ""
    return DifferenceMessage(f"{sentence}{advice}", got=value_text(seen["returned"]))


_FACETS = {
    "inputs": "Your code changed what it was given ({got}). Make something new.",
    "rng": "Your code changed torch's global random state; other code that relies on it now gets other numbers.",
    "sharing": "What shares memory with the input differs from what is asked for.",
    "gradient": "The gradient that flows back through your result is not the one that the task asks for.",
}


def _names(value: Plain) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) and value else "its input"


def _wrong_fact(tells: Mapping[str, str], right: Observation, seen: Observation) -> str:
    """Return the author's sentence on the first recorded bool that differs from the reference's; "" if none does."""
    wrong = (facet for facet in tells if type(seen.get(facet)) is bool and seen[facet] != right.get(facet))
    return next((tells[facet] for facet in wrong), "")


def _tell_raised(exercise: Exercise, error: ExceptionSnapshot, before: str) -> DifferenceMessage:
    where = f" It happened at: `{error.line}`" if error.line else ""
    message = " ".join(error.message.split())
    signature = error.type == "TypeError" and f"{exercise.name}()" in error.message and "argument" in error.message
    advice = f" Keep the parameters of `{exercise.name}` as the starter has them." if signature else ""
    told = f"{error.type}: {message}" if message else error.type
    lacks = re.fullmatch(rf"'{re.escape(exercise.name)}' object has no attribute '([^_]\w*)'", message)
    if lacks and not where and not before:  # what asked for it is no line of theirs
        return DifferenceMessage(f"Your `{exercise.name}` has no attribute `{lacks[1]}`.")
    meant = "" if before else error_meaning(told)
    return DifferenceMessage(
        f"{before}{before and ' '}Your code raised {told.rstrip('.')}.{where}{advice}{meant and ' '}{meant}"
    )


UNNAMED_FACET = "what this check looks at"  # stands for a facet for which the requirement has no sentence


def _place(facet: str, inner: list[str | int]) -> str:
    base = dict(zip(RESULT_FACETS, ("the result", "the result of a second call"), strict=True)).get(
        facet, UNNAMED_FACET
    )
    keys = "".join(f"[{key!r}]" for key in inner)
    return f"entry {keys} of {base}" if keys else base


def _tell_value(place: str, difference: Difference, tolerance: Tolerance) -> DifferenceMessage:
    expected, got = difference.expected, difference.got
    texts = expected_and_got_texts(difference, tolerance)
    told = _by_entry(difference, tolerance)
    if difference.aspect == "type":
        return DifferenceMessage(wrong_type_message(place, expected, got), *told)
    if difference.aspect == "keys":
        return DifferenceMessage(_keys_sentence(place, expected, got))
    if difference.aspect == "length":
        items = "1 item" if len(expected) == 1 else f"{len(expected)} items"
        return DifferenceMessage(f"Expected {place} to have {items}, got {len(got)}.", *told)
    if isinstance(expected, TensorSnapshot):
        return DifferenceMessage(
            _tensor_sentence(place, difference), *told, picture=make_difference_grids(difference, tolerance)
        )
    return DifferenceMessage(f"Expected {place} to be {texts[0]}, got {texts[1]}.", *told)


def _keys_sentence(place: str, expected: list[str], got: list[str]) -> str:
    """Return a sentence on the missing and the additional keys.

    It does not list the other keys, since a probe may record only some of them.
    """
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
    """Return where the unexpected device or dtype may come from, or ""."""
    if aspect == "device":
        return " Move every tensor to the device of the input."
    if (aspect, got) == ("dtype", "float32"):
        return " What `float()` gives is float32, and so is a new tensor of fractions, zeros or ones without a `dtype`."
    return ""


def _nan_note(expected: Plain, got: Plain) -> str:
    """Return how many numbers of a tensor are nan and should not be; "" if none, or for other values than tensors."""
    if not (isinstance(expected, TensorSnapshot) and isinstance(got, TensorSnapshot)) or expected.shape != got.shape:
        return ""
    if expected.values is None or got.values is None:
        return ""
    count = int((got.values.isnan() & ~expected.values.isnan()).sum())
    return f" Yours has nan in {count} of {got.values.numel()} places where a number is expected." if count else ""


# --- the call


def call_as_exercise_spells_it(exercise: Exercise, case: Case) -> str:
    """Return the call of a case as code, as its exercise spells it."""
    return (exercise.spelled or case_call_text)(exercise.name, case)


def case_call_text(name: str, case: Case) -> str:
    """Return the call of a case as code: small tensors in full, larger ones by shape."""
    return call_from_parts(name, *map(argument_text, case.args), **case.kwargs)


def call_from_parts(name: str, *parts: str, **options: object) -> str:
    """Return a call as code: `parts` are arguments as code already, `options` are keyword arguments as values."""
    return f"{name}({', '.join([*parts, *(f'{key}={argument_text(value)}' for key, value in options.items())])})"


def tensor_placeholder(name: str, tensor: torch.Tensor, more: str = "") -> str:
    """Return a short text for a tensor: its name, its shape and `more`, as in "<images (8, 1, 4, 4)>"."""
    return f"<{name} {tuple(tensor.shape)}{more}>"


def argument_text(value: object) -> str:
    """Return an argument as code: a small tensor in full, consecutive numbers as `torch.arange`, others by shape."""
    if type(value) is list:
        return shorten(f"[{', '.join(map(argument_text, value))}]")
    if not isinstance(value, torch.Tensor):
        return shorten(repr(value))
    usual = (torch.float32, torch.int64, torch.bool) if value.numel() else (torch.float32,)
    unusual = value.dtype not in usual
    dtype = f", dtype={value.dtype}" if unusual else ""
    if value.dim() > 1 and _counts(value):
        point = ".0" if value.is_floating_point() else ""
        return f"torch.arange({value.numel()}{point}{dtype}).reshape{tuple(value.shape)}"
    if value.numel() <= _SMALL:
        return f"torch.tensor({_numbers(value)}{dtype})"
    return f"<tensor {tuple(value.shape)} {dtype_without_module(value.dtype)}>"


def _numbers(tensor: torch.Tensor) -> str:
    """Return the numbers of a small tensor, with the usual digits where these keep different numbers apart."""
    values = set(tensor.reshape(-1).tolist())
    apart = len({number_text(value) for value in values}) == len(values)
    return nested_list_text(tensor.tolist(), number_text if apart else _exactly)


def _exactly(value: object) -> str:
    is_whole = isinstance(value, float) and value.is_integer()
    return f"{value:.1f}" if is_whole else f"{value:.9g}" if isinstance(value, float) else str(value)


def _counts(tensor: torch.Tensor) -> bool:
    """Return whether a tensor holds at least `_COUNTED` numbers, which are 0, 1, 2, ... in order."""
    few_or_other = tensor.numel() < _COUNTED or tensor.dtype in (torch.bool, torch.complex64)
    return not few_or_other and torch.equal(tensor.reshape(-1), torch.arange(tensor.numel(), dtype=tensor.dtype))
