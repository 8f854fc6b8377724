"""Values as short texts: expected and found value never look the same, and contain no names of the engine."""

import re
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest
import torch

from autograder.diagnosis.difference_messages import UNNAMED_FACET
from autograder.diagnosis.judge_answer import judge
from autograder.diagnosis.number_format import number_text
from autograder.diagnosis.tensor_difference_grids import make_difference_grids
from autograder.diagnosis.value_format import (
    MAX_TEXT_WIDTH,
    expected_and_got_texts,
    nested_list_text,
    shorten,
    value_text,
)
from autograder.diagnosis.verdict import Verdict
from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.observation import TensorSnapshot
from autograder.exercises.probe import snapshot_value
from tests.our_course import COURSE


def both(expected: object, got: object, facet: str = "returned", exact: bool = False) -> tuple[str, str]:
    """Return the two texts of a report for a differing facet."""
    tolerance = Tolerance(0.0, 0.0) if exact else Tolerance()
    difference = first_difference({facet: snapshot_value(expected)}, {facet: snapshot_value(got)}, tolerance)
    assert difference is not None
    return expected_and_got_texts(difference, tolerance)


def test_numbers_that_differ_are_written_with_the_digits_in_which_they_do() -> None:
    """Differing numbers have as many digits as needed, equally many in both."""
    assert ("1.0001", "1.0004") == both(1.00011, 1.00041)
    assert ("1.00000", "1.00001") == both(1.0, 1.00001, exact=True)
    assert ("100000.0", "100000.4") == both(100000.0, 100000.4, exact=True)
    assert ("1234567.0", "1234568.0") == both(1234567.0, 1234568.0, exact=True)
    assert ("0.4525", "-3.0") == both(0.45253434, -3.0)
    assert ("3", "4") == both(3, 4) and ("nan", "1.0") == both(float("nan"), 1.0)


def test_tensors_that_differ_show_where() -> None:
    """Tensors show the first difference with enough digits, and its index if it is left out."""
    texts = both(torch.tensor([0.5, 0.957253]), torch.tensor([0.5, 0.957296]), exact=True)
    assert ("[0.50000, 0.95725]", "[0.50000, 0.95730]") == tuple(text.split(": ")[1] for text in texts)

    x = torch.zeros(20, 30)
    x[10, 2] = 0.5
    assert both(torch.zeros(20, 30), x)[0].endswith(", with 0.0 at [10, 2]")
    assert both(torch.zeros(20, 30), x)[1].endswith(", with 0.5 at [10, 2]")


def test_a_grid_writes_numbers_that_agree_with_the_usual_digits() -> None:
    """In a grid, only differing numbers have more digits."""
    expected, got = torch.full((2, 3), 1.00011), torch.full((2, 3), 1.000111)
    got[1, 2] = 1.0004
    difference = first_difference(snapshot_value(expected), snapshot_value(got), Tolerance())
    assert difference is not None
    drawn = make_difference_grids(difference, Tolerance())

    assert drawn is not None
    assert (("1.0",) * 3, ("1.0", "1.0", "1.0001")) == drawn.expected
    assert (("1.0",) * 3, ("1.0", "1.0", "1.0004")) == drawn.got


def test_what_differs_in_tracking_says_so() -> None:
    """Tensors that differ only in requires_grad show it."""
    one, other = both(torch.ones(2), torch.ones(2, requires_grad=True))

    assert "requires_grad=False: [1.0, 1.0]" in one and "requires_grad=True: [1.0, 1.0]" in other


@pytest.mark.parametrize(
    ("one", "other"),
    [("a" * 500 + "b" + "a" * 500, "a" * 1001), ([0] * 500, [0] * 501), ("a" * 900, "a" * 901)],
)
def test_long_values_differ_in_what_is_shown_of_them(one: object, other: object) -> None:
    """Long values that differ in the middle have different texts."""
    expected, got = both(one, other)

    assert expected != got


def test_a_probe_s_own_words_stand_without_quotes() -> None:
    """Returned values are written as code, and a probe's own facts as words."""
    assert ("nothing was changed", "changed: argument 1") == both([], ["argument 1"], "inputs")
    assert ("none", "0.bias, 2.bias") == both([], ["0.bias", "2.bias"], "moved")
    assert ("none", "0.bias") == both({"meta": []}, {"meta": ["0.bias"]}, "left")
    assert ("1, 3; 4, 2", "none") == both(["1, 3", "4, 2"], [], "batches")
    assert ("eval", "''") == both("eval", "", "mode")
    assert ("[]", "['a']") == both([], ["a"]) and ("'eval'", "'train'") == both("eval", "train")
    assert ("[]", "[1]") == both([], [1], "shape") and ("[]", "float") == both([], "float", "shape")


def test_a_float_is_never_written_as_an_int() -> None:
    """A float always has a decimal point or an exponent."""
    assert ["1.0", "1.0", "6.0", "0.5", "1e-05"] == [
        number_text(x) for x in (1.0, 0.99999, 5.999999999999999, 0.5, 1e-05)
    ]


def test_long_values_are_cut_in_the_middle() -> None:
    """A long value keeps its beginning and its end."""
    text = value_text(snapshot_value(torch.arange(1000)))

    assert len(text) < 2 * MAX_TEXT_WIDTH
    assert "[0, 1, 2" in text
    assert "998, 999]" in text


def test_a_tuple_of_one_keeps_its_comma() -> None:
    """A tuple of one value has its comma."""
    assert "(28,)" == value_text((28,))


def test_long_tensors_are_written_as_if_in_full() -> None:
    """A large tensor has the same text as if written in full and cut, but only its ends are read."""
    for shape in ((5000,), (700, 3), (3, 700), (40, 40), (2, 0, 3), (30, 1, 30), (2, 2, 2, 300), (), (24,), (241,)):
        tensor = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
        whole = shorten(nested_list_text(tensor.tolist()))

        assert value_text(snapshot_value(tensor)).endswith(f": {whole}"), shape

    begun = time.process_time()
    for shape in ((3000, 3000), (300, 300, 300, 0), (2**40, 2**20, 0)):
        value_text(TensorSnapshot(torch.empty(shape), shape, "float32", "cpu"))
    assert time.process_time() - begun < 0.5


def verdicts(stem: str) -> Iterator[tuple[str, Verdict]]:
    """Yield the verdicts on each shipped wrong answer of a chapter, as if its mistake were unknown."""
    for name, key in COURSE.keys(stem).items():
        for mistake in key.mistakes:
            report = judge(COURSE.find(name), replace(key, mistakes=()), mistake.observations, "")
            yield from ((f"{name}, {mistake.tag}", verdict) for verdict in report.verdicts if verdict.sentence)


@pytest.mark.parametrize("stem", COURSE.stems)
def test_no_report_shows_two_texts_that_are_alike_or_a_probe_s_own_name(stem: str) -> None:
    """No report on a wrong answer has equal texts, unnamed facets, or names of the engine's classes."""
    alike = [(where, each.expected) for where, each in verdicts(stem) if each.expected and each.expected == each.got]
    bare = [(where, each.sentence) for where, each in verdicts(stem) if UNNAMED_FACET in each.sentence]
    raw = [(where, each.got) for where, each in verdicts(stem) if re.search(r"Seen\(|Foreign\(|Raised\(", each.got)]

    assert (alike, bare, raw) == ([], [], [])
