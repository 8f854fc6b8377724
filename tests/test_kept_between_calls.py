"""An answer that keeps state between its calls fails the first requirement."""

import pytest

from tests.our_course import COURSE, answer_in, judge_of

# For each exercise: a line of its solution, a replacement that keeps state, and code outside the function.
KEPT = {
    "descend": (
        "x = x0.detach().clone().requires_grad_()",
        "x = places.setdefault(x0.shape, x0.detach().clone().requires_grad_())",
        "places = {}",
    ),
    "running_loss": ("total, count = 0.0, 0", "global total, count", "total, count = 0.0, 0"),
    "evaluate": ("loss = correct = count = 0", "global loss, correct, count", "loss = correct = count = 0"),
    "compare_optimizers": ('counts = {"sgd": [], "adam": []}', "global counts", 'counts = {"sgd": [], "adam": []}'),
    "broken_loops": ("losses = []", "global losses", "losses = []"),
}


@pytest.mark.parametrize("name", KEPT)
def test_what_is_kept_is_seen(name: str) -> None:
    """An answer with state fails the first requirement by its second call, and the worked solution does not."""
    line, keeps, outside = KEPT[name]
    right = judge_of(name).chapter.solution(name)
    exercise = COURSE.find(name)
    cases = exercise.cases(5101)
    first = [case for case in cases if case.requirement == cases[0].requirement]
    expected = exercise.observe(answer_in(name, right), first)

    assert line in right
    seen = exercise.observe(answer_in(name, f"{outside}\n{right.replace(line, keeps)}"), first)

    differences = [exercise.compare(*pair, exercise.tolerance) for pair in zip(expected, seen, strict=True)]
    assert {("afresh",), ("length",)} & {difference.path for difference in differences if difference}
    assert all(each.get("afresh", True) for each in expected)
