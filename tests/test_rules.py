"""Rules on the syntax tree of an answer."""

import pytest

from autograder.rules import avoids, broken, no_loops

NO_TORCH = avoids("torch", requirement="uses no torch", sentence="No torch here.")


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
    """Statements, comprehensions and map are loops."""
    assert (no_loops,) == broken((no_loops,), f"def f(x):\n    {body}\n", "f")


@pytest.mark.parametrize("body", ['"""for each row"""', "return x.sum(0)", "return x * 4"])
def test_words_in_a_docstring_are_no_loop(body: str) -> None:
    """Only code counts, not what the text of the answer says."""
    assert () == broken((no_loops,), f"def f(x):\n    {body}\n", "f")


def test_names_and_attributes_are_found() -> None:
    """A forbidden name counts as a variable and as an attribute."""
    assert (NO_TORCH,) == broken((NO_TORCH,), "def f(x): return torch.ones(1)", "f")
    assert () == broken((NO_TORCH,), "def f(x): return (x, 'torch')", "f")


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
    """A loop below the function that only calls it is not part of it."""
    assert () == broken((no_loops,), TRIED_BELOW, "f")


def test_a_helper_counts() -> None:
    """What the function reaches is part of it, directly or through another name."""
    assert (no_loops,) == broken((no_loops,), TRIED_BELOW.replace("factor = 2", "factor = sum(i for i in (1, 1))"), "f")


def test_an_indented_source_is_read() -> None:
    """The source of a nested function comes indented."""
    assert (no_loops,) == broken((no_loops,), "    def f(x):\n        for i in x: pass\n", "f")


def test_a_text_that_does_not_parse_breaks_no_rule() -> None:
    """A syntax error is told elsewhere, by the verdict on the answer itself."""
    assert () == broken((no_loops,), "def f(x:", "f")
