"""Messages about differences."""

import json

import pytest
import torch

from autograder.course.chapter_judge import Judge
from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis import difference_messages, value_format
from autograder.exercises.compare_observations import Tolerance, first_difference
from autograder.exercises.exercise import Case
from autograder.exercises.observation import ExceptionSnapshot
from autograder.exercises.probe import snapshot_value
from course.exercises.ch04a_training_loop import train_step
from course.exercises.ch04b_when_it_fails import broken_loops
from course.exercises.ch04c_rates_and_optimizers import sin_fit
from course.exercises.ch04x_more_tools import fit_resumable
from course.exercises.ch04x_more_tools._optimizing import optimizing
from tests import made
from tests.our_course import COURSE
from tests.sample_course import STEM
from tests.small_chapter import SAMPLE


def sentence(answer: object) -> str:
    """Return the first message on an answer to the made exercise."""
    first = made.report(answer).first  # type: ignore[arg-type]
    assert first is not None
    return first.sentence


def spelled(name: str, case: Case) -> str:
    """Return a call of an exercise as reports write it."""
    spell = COURSE.find(name).spelled
    assert spell is not None
    return spell(name, case)


def test_a_missing_return_is_guessed() -> None:
    """None in place of a tensor gets a message about a forgotten `return`."""
    assert "Did you forget `return`?" in sentence(lambda x, plus: None)


def test_a_sentence_about_values_is_not_about_another_type() -> None:
    """A requirement's message about values does not appear for another type."""
    tells, right = {"returned": "Twice each number."}, torch.ones(2)

    assert "Twice each number." == told(tells, right, torch.zeros(2))
    assert "Did you forget `return`?" in told(tells, right, None)


def test_a_missing_entry_is_told_as_missing() -> None:
    """A missing entry gets a message that it is missing, and none about its value."""
    here = Judge(SAMPLE / "course", STEM, only="describe")
    seen = here.exercises["describe"].observe(
        lambda x: {"shape": tuple(x.shape)}, here.keys.cases("describe", VISIBLE_SEED)
    )
    told = {verdict.sentence for verdict in here.judge("describe", VISIBLE_SEED, seen, "").verdicts}

    assert "The result has no entry 'dtype'." in told
    assert not any("your entry says" in each or "got []" in each for each in told)


def test_wrong_parameters_are_explained() -> None:
    """A function with other parameters gets a message to keep the starter's."""

    def double(x: torch.Tensor) -> torch.Tensor:
        return 2 * x

    assert "Keep the parameters of `double`" in sentence(double)


def test_a_call_without_end_is_explained() -> None:
    """Endless recursion gets an explanation besides Python's message."""

    def again(x: torch.Tensor, plus: int) -> torch.Tensor:
        return again(x, plus)

    assert "never comes to an end" in sentence(again)


def test_another_device_is_named() -> None:
    """A result on another device gets a message with both devices."""
    told = sentence(lambda x, plus: (2 * x + plus).to("meta"))

    assert "device cpu, got meta" in told


def test_small_tensors_stand_in_the_call() -> None:
    """A call with small tensors is written as code that can be run."""
    text = difference_messages.case_call_text("f", Case("r", torch.tensor([1, 2]), torch.zeros(100), dim=-1))

    assert "f(torch.tensor([1, 2]), <tensor (100,) float32>, dim=-1)" == text


def test_different_numbers_of_a_call_are_told_apart() -> None:
    """Numbers of a call that differ only in last digits get enough digits."""
    assert "f(torch.tensor([536870913.0, 536870915.0], dtype=torch.float64))" == difference_messages.case_call_text(
        "f", Case("r", torch.tensor([2.0**29 + 1, 2.0**29 + 3], dtype=torch.float64))
    )
    assert "f(torch.tensor([0.5, 0.5, 0.1235]), torch.tensor([]))" == difference_messages.case_call_text(
        "f", Case("r", torch.tensor([0.5, 0.5, 0.123456]), torch.zeros(0))
    )


def test_a_tensor_that_counts_is_spelled_so() -> None:
    """A tensor of consecutive numbers is written as `torch.arange`, whatever its size."""
    x = torch.arange(60.0).reshape(3, 4, 5)

    assert "f(torch.arange(60.0).reshape(3, 4, 5))" == difference_messages.case_call_text("f", Case("r", x))
    assert "f(torch.arange(8.0, dtype=torch.float64).reshape(2, 4))" == difference_messages.case_call_text(
        "f", Case("r", torch.arange(8.0, dtype=torch.float64).reshape(2, 4))
    )
    assert "f(torch.arange(6).reshape(2, 3), 1)" == difference_messages.case_call_text(
        "f", Case("r", torch.arange(6).reshape(2, 3), 1)
    )
    assert "f(<tensor (5, 3, 4) float32>)" == difference_messages.case_call_text(
        "f", Case("r", x.reshape(5, 3, 4).flip(0))
    )


def test_small_matrices_get_a_picture() -> None:
    """Differing matrices get a grid that marks where they agree."""
    first = made.report(lambda x, plus: (2 * x + plus) * (torch.arange(x.shape[-1]) > 0)).first

    assert first is not None
    assert first.picture is not None
    assert ((False, True, True), (False, True, True)) == first.picture.agrees


def test_nan_is_pointed_out() -> None:
    """Unexpected NaN gets a message with the number of places."""
    told = sentence(lambda x, plus: (2 * x + plus).masked_fill(torch.arange(x.shape[-1]) == 0, torch.nan))

    assert "nan in 2 of 6 places" in told


def test_a_numpy_array_is_called_so() -> None:
    """An ndarray is called a NumPy array."""
    assert "got a NumPy array. `torch.from_numpy`" in sentence(lambda x, plus: (2 * x + plus).numpy())


def told(tells: dict[str, str], expected: object, got: object) -> str:
    """Return the message about another result, for an exercise without its own messages."""
    right, mine = {"returned": snapshot_value(expected)}, {"returned": snapshot_value(got)}
    difference = first_difference(right, mine, Tolerance())
    assert difference is not None
    return difference_messages.difference_message(made.double, tells, difference, right, mine).sentence


def test_what_is_told_of_a_result_is_about_its_values() -> None:
    """A message about values does not appear for None, another shape or a missing entry."""
    tells = {"returned": "Look at the sign."}

    assert told(tells, torch.ones(2), -torch.ones(2)) == "Look at the sign."
    assert "Did you forget `return`?" in told(tells, torch.ones(2), None)
    assert "shape (2,), got (3,)" in told(tells, torch.ones(2), torch.ones(3))
    assert "has no entry 'b'" in told(tells, {"a": 1, "b": 2}, {"a": 1})
    assert "nan in 1 of 2 places" in told(tells, torch.ones(2), torch.tensor([1.0, float("nan")]))


def test_an_entry_is_shown_with_its_place() -> None:
    """If a message concerns several entries, the differing one is shown with its place."""
    for right, mine, place in (({"a": 1, "b": 2}, {"a": 1, "b": 3}, "['b']"), ((True, False), (True, True), "[1]")):
        one, other = {"returned": snapshot_value(right)}, {"returned": snapshot_value(mine)}
        difference = first_difference(one, other, Tolerance())
        assert difference is not None
        shown = difference_messages.difference_message(
            made.double, {"returned": "Look at the rule."}, difference, one, other
        )

        assert (f"{place} = {difference.expected}", f"{place} = {difference.got}") == (shown.expected, shown.got)


def test_another_kind_is_told_beside_a_sentence() -> None:
    """An entry of another type gets its requirement's message, and a sentence about the type."""
    tells = {"returned": "Look at the sign."}

    assert "Look at the sign. Yours is a tensor where a float is asked for. `.item()`" in told(
        tells, {"a": 1.0}, {"a": torch.ones(())}
    )
    assert told(tells, [torch.device("cpu")], ["cpu"]).endswith("sign. Yours is a str where a device is asked for.")
    assert told(tells, {"a": 1.0}, {"a": None}).endswith("sign. Yours is None where a float is asked for.")
    assert told(tells, {"a": 1.0}, {"a": 2}) == told(tells, {"a": "a fact"}, {"a": None}) == "Look at the sign."
    assert told(tells | {"returned:type": "A number."}, {"a": 1.0}, {"a": None}) == "A number."


def test_the_most_telling_sentence_is_told() -> None:
    """The message for the expected value is preferred to that of the entry, and that to the general one."""
    tells = {
        "returned": "Something.",
        "returned.a": "This entry.",
        "returned=ok": "All is well.",
        "returned:shape": "Axes.",
    }

    assert told(tells, {"a": "ok"}, {"a": "no"}) == "All is well."
    assert told(tells, {"a": "no"}, {"a": "ok"}) == "This entry."
    assert told(tells, {"b": 1.0}, {"b": 2.0}) == "Something."
    assert told(tells, torch.ones(2), torch.ones(3)) == "Axes."


@pytest.mark.parametrize("differs", [True, False])
def test_a_wrong_fact_is_shown_by_the_result(differs: bool) -> None:
    """A wrong fact is described in words, with both results if they differ."""
    right, mine = (
        {"level": level, "returned": snapshot_value(torch.tensor([x, 1.0]))} for level, x in ((True, 0.0), (False, 2.0))
    )
    mine = mine if differs else {**right, "level": False}
    difference = first_difference(right, mine, Tolerance())
    assert difference is not None
    told = difference_messages.difference_message(made.double, {"level": "It is not level."}, difference, right, mine)

    assert told.sentence == "It is not level."
    assert ("[0.0, 1.0]" in told.expected, "[2.0, 1.0]" in told.got) == (differs, differs)


def test_an_error_is_a_sentence() -> None:
    """An error is a sentence with type, message and line."""
    told = sentence(lambda x, plus: {}["k"])

    assert told.startswith("Your code raised KeyError: 'k'. It happened at: ")


def test_an_error_is_told_at_a_line_of_theirs() -> None:
    """An error within Python's own modules is located at the student's line."""
    assert "It happened at: `" in (told := sentence(lambda x, plus: json.loads("[")))
    assert "json.loads" in told


@pytest.mark.parametrize(("line", "told"), [("", "Your `double` has no attribute `mean`."), ("x.mean", "Your code")])
def test_a_missing_attribute_is_no_error_of_their_code(line: str, told: str) -> None:
    """An attribute that only the probe reads is reported as missing; at a student's line it is an error."""
    raised = {"raised": ExceptionSnapshot("AttributeError", "'double' object has no attribute 'mean'", line)}
    difference = first_difference({}, raised, Tolerance())

    assert difference is not None
    assert difference_messages.difference_message(made.double, {}, difference, {}, raised).sentence.startswith(told)


def test_a_requirement_tells_of_one_aspect() -> None:
    """A message about a shape appears only for another shape, and one about a result only for other values."""
    tells = {"returned:shape": "Another shape.", "returned": "Something else."}
    expected = torch.zeros(2, 3)

    assert told(tells, expected, torch.zeros(3, 2)) == "Another shape."
    assert told(tells, expected, torch.ones(2, 3)) == "Something else."
    assert "dtype float32" in told(tells, expected, torch.zeros(2, 3).double())


def test_where_float32_comes_from_is_told() -> None:
    """float32 in place of another dtype gets an explanation, and other dtypes do not."""
    single, double, whole = (torch.zeros(2, dtype=dtype) for dtype in (torch.float32, torch.float64, torch.int64))

    assert "without a `dtype`" in told({}, double, single)
    assert "without a `dtype`" not in told({}, single, whole)


def test_what_torch_says_is_explained() -> None:
    """A frequent error gets an explanation, and an unknown one does not."""

    def told(x: torch.Tensor, plus: float) -> torch.Tensor:
        raise ValueError("nobody knows this one")

    assert sentence(lambda x, plus: x + torch.zeros(7)).endswith("with their right ends together.")
    assert "cuts a graph off" in sentence(lambda x, plus: x.sum().backward())
    assert "Something there is None" in sentence(lambda x, plus: x + x.grad)
    assert "Tensors on two devices meet" in sentence(lambda x, plus: x.to("meta") + x)
    assert sentence(lambda x, plus: {}["k"]).endswith("a key that it does not hold.")
    assert sentence(told).endswith('raise ValueError("nobody knows this one")`')


def test_an_exercise_may_spell_its_calls() -> None:
    """An exercise whose case is no plain call writes the real call."""
    x = torch.zeros(9, 5)
    assert spelled("MLP", Case("", [5, 2], "nn.Tanh", x=x)) == "MLP([5, 2], nn.Tanh)(<tensor (9, 5) float32>)"
    batches = spelled("BatchNorm1d", Case("", 5, batches=[x, x[:2]]))
    assert batches == "BatchNorm1d(5)(batch), for batches of 9, 2 rows"
    assert spelled("init_he", Case("", "a linear layer", 3, 2)) == "init_he(<a linear layer, sizes 3, 2>)"
    later = spelled("save_best", Case("", "a linear layer", 3, 2, 0.7, 0.5))
    assert later == "save_best(<a linear layer, sizes 3, 2>, <a record with loss 0.7>, 0.5)"
    frozen = spelled("freeze_all_but", Case("", "two layers", 3, "head.*", x))
    assert frozen == "freeze_all_but(<two layers, sizes 3>, 'head.*')"


def test_a_list_of_tensors_stands_in_the_call_as_code() -> None:
    """Tensors in a list are written as code."""
    assert difference_messages.argument_text([torch.tensor([1, 2]), None]) == "[torch.tensor([1, 2]), None]"


def test_a_result_of_another_form_is_not_called_a_missing_error() -> None:
    """The message is about the form if the probe cannot look into the result, and about a missing error otherwise."""
    exercise, seen = COURSE.find("collate_pad"), {"returned": None}
    parts = {"padded": [1]}, {"raised": snapshot_value(1)}
    told = []
    for expected in parts:
        difference = first_difference(expected, seen, Tolerance())
        assert difference is not None
        told.append(difference_messages.difference_message(exercise, {}, difference, expected, seen).sentence)

    assert "not of the form" in told[0]
    assert "Did you forget `return`?" in told[0]
    assert told[1] == "Expected this call to raise an error; it returned a value."


def test_calls_of_training_name_what_they_train() -> None:
    """A training call shows models, optimizers and loaders by name."""
    x, y = torch.zeros(6, 4), torch.zeros(6, 1)
    step = train_step.stepping("train_step", Case("", "linear", "SGD", x, y))
    assert step == "train_step(<linear>, <SGD>, criterion, <x_batch (6, 4)>, <y_batch (6, 1)>)"
    assert broken_loops.looping("broken_loops", Case("", "a", x, y, 9)).startswith('broken_loops()["a"](model, ')
    assert sin_fit.fitting("sin_fit", Case("", "weights of its own")) == "sin_fit(steps=0)"
    stopped = fit_resumable.resuming("fit_resumable", Case("goes on", "linear", "SGD", 0.5, "in order", x, y, 1, 3))
    assert stopped.endswith(", 1), then fit_resumable(..., 3, checkpoint)")
    assert optimizing("AdamW", Case("", [x, y], [[x, y]] * 2, lr=0.1)).endswith("then step() 2 times")


def test_thousands_of_dims_are_told_by_their_number() -> None:
    """A tensor with thousands of dimensions is described by their number."""
    seen = snapshot_value(torch.zeros([1] * 10_000))
    found = sentence(lambda x, plus: torch.zeros([1] * 10_000))

    assert value_format.value_text(seen) == "tensor of 10000 dims: (values not read)"
    assert "tensor of 10000 dims" in found and len(found) <= difference_messages.MAX_MESSAGE_LENGTH
