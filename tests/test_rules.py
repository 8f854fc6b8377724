"""Rules on the syntax tree of an answer."""

import ast

import pytest

from autograder.exercises.source_rules import (
    broken_rules,
    forbid_names,
    max_changed_lines,
    no_loops,
    normalized_function_lines,
)
from course.exercises.ch04b_when_it_fails import broken_loops
from course.exercises.ch06c_six_faults import fix_trainer
from tests.test_bank import judge_of

NO_TORCH = forbid_names("torch", requirement="uses no torch", sentence="No torch here.")


@pytest.mark.parametrize(
    "body",
    [
        "for i in x: pass",
        "while x: pass",
        "[i for i in x]",
        "sum(i for i in x)",
        "{i: 1 for i in x}",
        "list(map(f, x))",
    ],
)
def test_every_kind_of_loop_counts(body: str) -> None:
    """Loop statements, comprehensions and map break the rule against loops."""
    assert (no_loops,) == broken_rules((no_loops,), f"def f(x):\n    {body}\n", "f")


@pytest.mark.parametrize("body", ['"""for each row"""', "return x.sum(0)", "return x * 4"])
def test_words_in_a_docstring_are_no_loop(body: str) -> None:
    """Words in a docstring, and vectorized code, break no rule."""
    assert () == broken_rules((no_loops,), f"def f(x):\n    {body}\n", "f")


def test_names_and_attributes_are_found() -> None:
    """A forbidden name is found as a variable and as an attribute."""
    assert (NO_TORCH,) == broken_rules((NO_TORCH,), "def f(x): return torch.ones(1)", "f")
    assert () == broken_rules((NO_TORCH,), "def f(x): return (x, 'torch')", "f")


TRIED_BELOW = """
def f(x):
    return helper(x)

def helper(x):
    return x * factor

factor = 2
for size in (2, 3):
    print(f(size))
"""


def test_trying_an_answer_out_breaks_no_rule() -> None:
    """A loop below the function that only calls it breaks no rule."""
    assert () == broken_rules((no_loops,), TRIED_BELOW, "f")


def test_a_helper_counts() -> None:
    """A loop in a helper, or in a value that the function uses, breaks the rule."""
    assert (no_loops,) == broken_rules(
        (no_loops,), TRIED_BELOW.replace("factor = 2", "factor = sum(i for i in (1, 1))"), "f"
    )


def test_what_is_added_counts() -> None:
    """A method that is added to a class from outside counts."""
    added = "class F:\n    pass\n\ndef call(self, x):\n    for i in x: pass\n\nF.__call__ = call"

    assert (no_loops,) == broken_rules((no_loops,), added, "F")


def test_an_indented_source_is_read() -> None:
    """An indented source is read."""
    assert (no_loops,) == broken_rules((no_loops,), "    def f(x):\n        for i in x: pass\n", "f")


def test_a_text_that_does_not_parse_breaks_no_rule() -> None:
    """A text that does not parse breaks no rule, because the verdict reports the error."""
    assert () == broken_rules((no_loops,), "def f(x:", "f")


@pytest.mark.parametrize("value", ["+".join(["1"] * 2500), "0x" + "f" * 9000], ids=["deep", "long"])
def test_a_text_that_cannot_be_looked_into_breaks_the_rule(value: str) -> None:
    """A text that Python cannot analyze breaks the rule."""
    rule = max_changed_lines(5, {"f": ["return 1"]}, "", "")

    assert (rule,) == broken_rules((rule,), f"def f():\n    return {value}", "f")


@pytest.mark.parametrize(
    ("now", "changed"),
    [("abcd", 0), ("abxd", 1), ("abcxd", 1), ("abd", 1), ("acbd", 1), ("dabc", 1), ("xycd", 2), ("dcba", 3), ("", 4)],
)
def test_a_changed_line_counts_once(now: str, changed: int) -> None:
    """A changed, added, removed or moved line counts once."""
    source = "def f():\n    " + "; ".join(now) if now else ""
    exact, strict = (max_changed_lines(most, {"f": "abcd"}, "", "") for most in (changed, changed - 1))

    assert () == broken_rules((exact,), source, "f")
    assert (strict,) == broken_rules((strict,), source, "f")


def test_spelling_is_no_change() -> None:
    """Comments, docstrings, quotes and spaces are no changes."""
    rule = max_changed_lines(0, {"f": ["return g('x', 1)"]}, "", "")

    assert () == broken_rules((rule,), 'def f():\n    """Doc."""\n    # why\n    return g( "x",1 )\n', "f")


@pytest.mark.parametrize(
    ("stem", "exercise", "given"),
    [
        ("ch04b_when_it_fails", "broken_loops", broken_loops.GIVEN),
        ("ch06c_six_faults", "fix_trainer", {"fix_trainer": fix_trainer.GIVEN}),
    ],
)
def test_the_given_lines_are_the_starter(stem: str, exercise: str, given: dict[str, tuple[str, ...]]) -> None:
    """The lines that a bug hunt compares with are those of the starter."""
    starter = ast.parse(judge_of(stem).chapter.starter(exercise))

    assert {name: list(lines) for name, lines in given.items()} == {
        name: normalized_function_lines(starter, name) for name in given
    }
