"""The capstone's bug hunt: each fault that is left gets its own message, whatever others are left."""

from itertools import chain, combinations

import pytest

from tests.test_bank import grade, judge_of

# tag of the wrong answer: pairs of the solution's text and the starter's text
FAULTS = {
    "softmax-twice": [("F.cross_entropy(model(x), y)", "F.cross_entropy(model(x).softmax(dim=1), y)")],
    "gradients-pile-up": [("            optimizer.zero_grad()\n", "")],
    "measures-in-train-mode": [("        model.eval()\n", "")],
    "rate-halved-each-batch": [
        ("        scheduler.step()\n        losses", "        losses"),
        ("            optimizer.step()\n", "            optimizer.step()\n            scheduler.step()\n"),
    ],
    "best-is-alive": [("copy.deepcopy(model.state_dict())", "model.state_dict()")],
}
SUBSETS = list(chain.from_iterable(combinations(FAULTS, count) for count in range(len(FAULTS) + 1)))


@pytest.mark.parametrize("left", SUBSETS, ids=lambda left: " and ".join(left) or "none")
def test_each_fault_that_is_left_is_told(left: tuple[str, ...]) -> None:
    """A trainer with some faults left fails one check for each, with that fault's own message."""
    cell = judge_of("ch06c_six_faults").chapter.solution("fix_trainer")
    for old, new in chain.from_iterable(FAULTS[tag] for tag in left):
        assert cell.count(old) == 1
        cell = cell.replace(old, new)

    report = grade("fix_trainer", cell, 4101)

    assert sorted(left) == sorted(each.mistake or "" for each in report.failed_verdicts)
