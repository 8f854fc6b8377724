"""Make a multiple-choice question from a short program, whose right choice is computed by running the program."""

from __future__ import annotations

import math
import re
import traceback
import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from random import Random
from typing import Any, TypeVar

import numpy as np
import torch
import torch.nn.functional as functional
from torch import nn

from autograder.questions.question import Question, shuffled_question

T = TypeVar("T")

RIGHT = "<the right choice>"  # stands in an explanation for the text of the right choice
NUMBER_OF_CHOICES = 4
_FILE = "<question>"
_POINT = re.compile(r"(?<=\d)\.0(?!\d)")  # of a whole number that is written as a float
_ROUNDED = re.compile(r"round\(.*, (\d)\)")  # an expression that says how many digits its value has
_WHOLE = re.compile(r"(?<![\w.])\d+(?![\w.])")
_CLOSEST = 0.01  # relative distance below which two numbers would look like one that is rounded differently


@dataclass(frozen=True)
class Draft:
    """What a generator draws: a program, an expression whose value is asked for, and results of misunderstandings.

    `wrong` holds values, likely ones first; they become choices where they differ from the right one and each
    other. `because` explains the right choice, which it names as RIGHT. Without a `prompt`, the question asks for
    the value of `expression` after the program.
    """

    code: str
    expression: str
    wrong: Sequence[object]
    because: str
    prompt: str = ""


def join_lines(*rows: str) -> str:
    """Return the rows as one program."""
    return "\n".join(rows)


def near_miss_tuples(right: Sequence[T], change: Callable[[T], T]) -> list[tuple[T, ...]]:
    """Return tuples that differ in the first place, in the second, and in both, so that no majority gives it away."""
    return [
        tuple(change(each) if n in places else each for n, each in enumerate(right)) for places in ({0}, {1}, {0, 1})
    ]


def error_choice(line: int) -> str:
    """Return the text of the choice `an error in line N`, for a program that stops there."""
    return f"an error in line {line}"


def value_as_choice_text(value: object, *, quoted: bool = False) -> str:
    """Return a value as the text of a choice: floats with four digits, tensors as lists, a shape as a tuple.

    A float has a point, as in Python; the numbers of a tensor need none.
    Texts have no quotes, since generators also write dtypes and the like as texts; with `quoted` they have.
    """
    if isinstance(value, torch.Tensor):
        return _POINT.sub("", value_as_choice_text(value.detach().tolist()))
    if isinstance(value, dict):
        return (
            "{"
            + ", ".join(f"{key!r}: {value_as_choice_text(item, quoted=quoted)}" for key, item in value.items())
            + "}"
        )
    if isinstance(value, tuple | list):
        inner = ", ".join(value_as_choice_text(each, quoted=quoted) for each in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, float):
        text = f"{value + 0.0:.4g}"  # no -0
        return f"{text}.0" if text.lstrip("-").isdecimal() else text
    return repr(value) if quoted and isinstance(value, str) else str(value)


def run_and_describe(code: str, expression: str) -> tuple[str, bool]:
    """Run a program; return an expression's value in words (or the line with an error), and whether it is of floats.

    What the program prints, warns of and draws at random has no effect here.
    """
    scope: dict[str, Any] = {"torch": torch, "nn": nn, "F": functional, "math": math, "np": np}
    with torch.random.fork_rng(devices=[]), warnings.catch_warnings(), redirect_stdout(StringIO()), torch.enable_grad():
        warnings.simplefilter("ignore")
        torch.default_generator.manual_seed(0)
        try:
            exec(compile(code, _FILE, "exec"), scope)
        except Exception as error:
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == _FILE]
            # Of the program's own lines, not of a function that it calls.
            return error_choice(frames[0].lineno or 0), False
        value = eval(expression, scope)
        return value_as_choice_text(value), are_floats(value)


def are_floats(value: object) -> bool:
    """Return whether a value is a float, or a list or tuple of nothing else."""
    return isinstance(value, float) or (isinstance(value, list | tuple) and all(map(are_floats, value)))


def integers_as_floats(has_points: bool, text: str) -> str:
    """Return a wrong choice with its whole numbers written as floats, or as the numbers of a tensor."""
    if not has_points:
        return _POINT.sub("", text)
    return _WHOLE.sub(r"\g<0>.0", text) if text[:1] in "-[(0123456789" else text


def finish_question(draft: Draft, kind: str, about: str, random: Random) -> Question | None:
    """Return the question of a draft with its choices shuffled; None if too few wrong choices differ surely."""
    right, has_points = run_and_describe(draft.code, draft.expression)
    digits = _ROUNDED.fullmatch(draft.expression)
    wrong = [round(each, int(digits[1])) if digits and isinstance(each, float) else each for each in draft.wrong]
    choices = distinct_choices(right, (integers_as_floats(has_points, value_as_choice_text(each)) for each in wrong))
    if len(choices) < NUMBER_OF_CHOICES:
        return None
    prompt = draft.prompt or f"What is `{draft.expression}` after these lines?"
    because = draft.because.replace(RIGHT, right)
    return shuffled_question(
        Question(kind, about, prompt, tuple(choices), 0, because, draft.code, draft.expression), random
    )


def distinct_choices(right: str, wrong: Iterable[str]) -> list[str]:
    """Return the right choice, and the first wrong ones that surely differ from it and from each other; four at most.

    Empty texts are left out.
    """
    choices = [right]
    for text in wrong:
        if len(choices) < NUMBER_OF_CHOICES and text and not any(_look_alike(text, other) for other in choices):
            choices.append(text)
    return choices


def _look_alike(text: str, other: str) -> bool:
    """Return whether two choices are equal, or numbers that differ by rounding."""
    try:
        one, two = float(text), float(other)
    except ValueError:
        return text == other
    are_whole = one == round(one) and two == round(two) if math.isfinite(one) and math.isfinite(two) else True
    return text == other or (not are_whole and math.isclose(one, two, rel_tol=_CLOSEST))
