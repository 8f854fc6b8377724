"""Mutants of the worked solutions; `test_bank.py` proves that each fails or is listed as right."""

import pytest

from autograder.authoring.mutation import mutants
from autograder.authoring.surviving_mutants import MIN_MUTANTS, limit_cpu_time
from tests.our_course import COURSE
from tests.test_bank import judge_of


class TestMutants:
    @pytest.mark.parametrize("name", ["standardize", "Value", "fit", "fit_resumable"])
    def test_there_are_many(self, name: str) -> None:
        """A solution has at least ten mutants, with distinct descriptions."""
        made = list(mutants(judge_of(COURSE.find(name).chapter).chapter.solution(name)))

        assert len(made) >= MIN_MUTANTS
        assert len({mutant.change for mutant in made}) == len({mutant.source for mutant in made}) == len(made)

    @pytest.mark.parametrize(
        "change",
        [
            "x.mean(dim=dim, keepdim=True) -> x.mean(dim=dim)",
            "x.mean -> x.sum",
            "x - mean -> x + mean",
            "x - mean -> x.sub_(mean)",
            "True -> False",
            "1 -> 2",
            "x[1:].clone() -> x[1:]",
            "1: -> :",
            "mean > 0 -> mean >= 0",
            "mean = x.mean(dim=dim, keepdim=True) -> pass",
            "return (x - mean, x[1:].clone(), mean > 0) -> return",
        ],
    )
    def test_they_are_what_learners_do(self, change: str) -> None:
        """Mutants are typical mistakes: dropped keywords and copies, swapped operators, shifted numbers."""
        cell = (
            "def f(x, dim):\n    mean = x.mean(dim=dim, keepdim=True)\n    return x - mean, x[1:].clone(), mean > 0\n"
        )

        assert change in {mutant.change for mutant in mutants(cell)}

    def test_signature_and_docstring_stay(self) -> None:
        """Signature and docstring are not mutated."""
        head = 'def f(x, k=3):\n    """Add 3."""\n'

        assert all(mutant.source.startswith(head) for mutant in mutants(f"{head}    return x + k\n"))


class TestTimeLimit:
    def test_an_endless_mutant_is_stopped(self) -> None:
        """An endless mutant raises TimeoutError."""
        with pytest.raises(TimeoutError), limit_cpu_time(0.05):
            _run_forever()


def _run_forever() -> None:
    while True:
        pass
