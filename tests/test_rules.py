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
    assert (no_loops,) == broken((no_loops,), f"def f(x):\n    {body}\n")


@pytest.mark.parametrize("body", ['"""for each row"""', "return x.sum(0)", "return x * 4"])
def test_words_in_a_docstring_are_no_loop(body: str) -> None:
    """Only code counts, not what the text of the answer says."""
    assert () == broken((no_loops,), f"def f(x):\n    {body}\n")


def test_names_and_attributes_are_found() -> None:
    """A forbidden name counts as a variable and as an attribute."""
    assert (NO_TORCH,) == broken((NO_TORCH,), "def f(x): return torch.ones(1)")
    assert () == broken((NO_TORCH,), "def f(x): return (x, 'torch')")


def test_an_indented_source_is_read() -> None:
    """The source of a nested function comes indented."""
    assert (no_loops,) == broken((no_loops,), "    def f(x):\n        for i in x: pass\n")


def test_a_text_that_does_not_parse_breaks_no_rule() -> None:
    """A syntax error is told elsewhere, by the verdict on the answer itself."""
    assert () == broken((no_loops,), "def f(x:")
