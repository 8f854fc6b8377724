"""Whatever passes check() also passes grading: generated notebooks, run in a real kernel and graded.

The ordinary run draws 36 notebooks, the nightly run 216. A failure is reduced to the edits that matter. To try more:
`PARITY=2000 pytest tests/test_parity.py`.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

import nbformat
import pytest
from nbformat import NotebookNode

from autograder.authoring.proof import PROOF_SEEDS
from autograder.course.chapter_judge import Judge
from autograder.grading.grade_submission import grade
from autograder.sandbox.execution.choose_runner import make_submission_runner
from autograder.sandbox.execution.run_specification import Runner
from tests.conftest import UNCONFINED, needs_confinement
from tests.graded import of_class
from tests.our_course import COURSE
from tests.parity.edits import EDITS
from tests.parity.kernels import Kernels
from tests.parity.notebooks import Draft, as_notebook, fresh
from tests.small_chapter import PROJECT
from tests.test_bank import judge_of

T = TypeVar("T")

SEED = PROOF_SEEDS[1]  # as in the bank's tests, whose keys on these cases are there already
NOTEBOOKS = int(os.environ.get("PARITY", "216")) // len(COURSE.stems)
# Names that the lessons give, and the cells that do.
LESSON_NAMES = {
    "ch01b_broadcasting": {"features": ("house-sizes",)},
    "ch01c_reading_digits": {"few_labels": ("compare-all",)},
    "ch02a_gradients": {"power": ("control-flow",), "network_loss": ("two-layers",)},
    "ch02c_broken_gradients": {"Cube": ("own-function",)},
    "ch03a_modules": {"Reader": ("line-module",), "kinds": ("three-kinds",)},
    "ch04b_when_it_fails": {"Trial": ("by-heart",)},
    "ch04c_rates_and_optimizers": {"walk_down": ("descent-by-hand",), "price": ("house-raw",)},
    "ch05a_devices": {"device.type": ("choose-device",)},
    "ch05b_mixed_precision": {"square_distances": ("forward-loses",)},
    "ch05c_time_and_memory": {"Tell": ("dispatch-mode",)},
    "ch06a_your_handwriting": {"make_model": ("make-model",), "images.shape": ("digits",)},
}
TRAINING = {
    "sin_fit",
    "compare_optimizers",
    "house_prices",
    "broken_loops",
    "fit",
    "fit_resumable",
    "train_amp",
    "overfit_one_batch",
}


@dataclass
class Chapter:
    """Everything needed to run and to grade notebooks of one chapter."""

    judge: Judge
    release: NotebookNode
    kernels: Kernels
    runner: Runner
    passed: set[str] = field(default_factory=set)  # the exercises that passed in the last notebook

    def lost(self, draft: Draft) -> dict[str, str]:
        """Return the exercises that passed in the kernel without full marks in grading, with grading's message."""
        notebook = as_notebook(draft.cells)
        self.passed = self.kernels.passed([cell.source for cell in draft.cells if cell.kind == "code"])
        verdict = grade(nbformat.writes(notebook).encode(), self.release, self.judge, SEED, self.runner)
        reports = {name: verdict.report(name) for name in self.passed}
        return {name: report.first.sentence for name, report in reports.items() if report.first}


@pytest.fixture(scope="module", params=[of_class(stem) for stem in COURSE.stems])
def chapter(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Chapter:
    """Return each chapter."""
    stem = request.param
    release = nbformat.read(PROJECT / "notebooks" / f"{stem}.ipynb", as_version=4)
    kernels = Kernels(stem, tmp_path_factory.mktemp(stem))
    return Chapter(judge_of(stem), release, kernels, make_submission_runner(PROJECT / "course", UNCONFINED))


def drawn(chapter: Chapter, seed: int) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Draw the exercises of a notebook with their answers, and the edits of it."""
    chance = random.Random(seed)
    stem, names = chapter.judge.chapter.stem, list(chapter.judge.chapter.exercises)
    quick = [name for name in names if name not in TRAINING] or names
    chosen = chance.sample(quick, min(3, len(quick)))
    answers = {name: _answer(chapter.judge, name, chance) for name in names if name in chosen}
    # The first edit cycles through all edits; the others are drawn.
    turn = list(EDITS)[(seed * len(COURSE.stems) + COURSE.stems.index(stem)) % len(EDITS)]
    edits = [turn, *chance.choices(list(EDITS), k=chance.randint(1, 4))]
    return answers, [(edit, chance.choice(chosen)) for edit in edits]


def _answer(judge: Judge, name: str, chance: random.Random) -> str:
    """Draw the worked solution, a right answer of the bank, or seldom a wrong one or none."""
    known = judge.banks[name]
    right, wrong = ([each.source for each in known if each.is_right is first] for first in (True, False))
    kinds = [judge.chapter.solution(name), chance.choice(right), chance.choice(wrong), judge.chapter.starter(name)]
    return str(chance.choices(kinds, weights=[6, 4, 1, 1])[0])


def made(chapter: Chapter, answers: dict[str, str], edits: Sequence[tuple[str, str]], seed: int) -> Draft:
    """Return the notebook after these edits."""
    stem = chapter.judge.chapter.stem
    draft = fresh(stem, chapter.release, answers, LESSON_NAMES.get(stem, {}))
    for edit, exercise in edits:
        draft.chance = random.Random(f"{seed} {edit} {exercise}")  # independent of the other edits
        try:
            EDITS[edit](draft, exercise)
        except StopIteration:  # an earlier edit removed the cell
            continue
    return draft


def shrunk(chapter: Chapter, answers: dict[str, str], edits: list[tuple[str, str]], seed: int) -> Draft:
    """Return the notebook with as few edits, and then as few cells, as still fail."""
    edits = fewest(edits, lambda left: bool(chapter.lost(made(chapter, answers, left, seed))))
    draft = made(chapter, answers, edits, seed)
    draft.cells = fewest(draft.cells, lambda left: bool(chapter.lost(replace(draft, cells=left))))
    return draft


def fewest(items: list[T], still: Callable[[list[T]], bool]) -> list[T]:
    """Return the items that remain after removing each one that is not needed."""
    for place in reversed(range(len(items))):
        left = [*items[:place], *items[place + 1 :]]
        items = left if still(left) else items
    return items


@needs_confinement
def test_what_passes_in_a_kernel_has_full_marks(chapter: Chapter) -> None:
    """Each exercise that passes in a generated notebook gets full marks."""
    passed = 0
    for seed in range(NOTEBOOKS):
        answers, edits = drawn(chapter, seed)
        draft = made(chapter, answers, edits, seed)
        lost = chapter.lost(draft)
        passed += len(chapter.passed)
        if lost:
            cells = shrunk(chapter, answers, edits, seed).cells
            told = "\n\n".join(f"--- {cell.role} {cell.mark} ({cell.kind})\n{cell.source}" for cell in cells)
            pytest.fail(f"notebook {seed} of {draft.stem}, after {edits}, lost {lost}:\n\n{told}", pytrace=False)

    assert passed >= NOTEBOOKS / 2, "so few exercises pass in the made notebooks that little is proved"


def test_shrinking_keeps_what_matters() -> None:
    """Reducing keeps exactly what the failure needs."""
    assert [3, 5] == fewest(list(range(9)), lambda left: 3 in left and 5 in left)
