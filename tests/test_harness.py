"""What makes the tests themselves quick, and proves no less: kept keys, processes that begin warm, and the order."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from autograder.course.course import course_in
from autograder.course.judge import Judge
from autograder.exercises.difference import Tolerance, first_difference
from autograder.sandbox.execution import forked_children
from autograder.sandbox.execution.choose_runner import warm_modules
from autograder.sandbox.execution.forked_children import ForkServerPool
from autograder.sandbox.execution.program import LIMITS
from autograder.sandbox.execution.submission_runner import run_program
from tests import conftest, kept_keys, made
from tests.conftest import needs_confinement
from tests.forked_kernels import forked_kernels
from tests.made_programs import NAMES, program
from tests.proven_course import edit, make_proven_course
from tests.warm_child import warm_servers

EXACT = Tolerance(0.0, 0.0)


class TestKeys:
    @pytest.fixture
    def judge(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
        """A judge of a made course, where nothing is kept yet."""
        monkeypatch.setattr(kept_keys, "FOLDER", tmp_path / "keys")
        parts = make_proven_course(tmp_path)
        return Judge(parts.course, parts.stem)

    def test_one_that_is_kept_says_the_same(self, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
        """To the last bit, and nothing is computed for it."""
        (exercise,) = judge.exercises
        first = kept_keys.full_key(judge.keys, exercise, kept_keys.SEED)
        monkeypatch.setattr(kept_keys, "_computed", None)
        again = kept_keys.full_key(judge.keys, exercise, kept_keys.SEED)

        assert first.mistakes and first_difference(_seen(first), _seen(again), EXACT) is None
        assert [(each.tag, each.sentence, each.rules) for each in first.mistakes] == [
            (each.tag, each.sentence, each.rules) for each in again.mistakes
        ]

    def test_the_visible_cases_are_watched_anew(self, judge: Judge) -> None:
        """As are all drawings but one."""
        (exercise,) = judge.exercises
        for seed in (0, 7):
            kept_keys.full_key(judge.keys, exercise, seed)

        assert not kept_keys.FOLDER.exists()

    def test_one_that_is_kept_gives_the_reference_key(self, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is computed for the one is there for the other; the two agree on the cases and the reference."""
        (exercise,) = judge.exercises
        bare = kept_keys.reference_key(judge.keys, exercise, kept_keys.SEED)
        monkeypatch.setattr(kept_keys, "_computed", None)
        monkeypatch.setattr(kept_keys, "_computed_reference", None)
        whole = kept_keys.full_key(judge.keys, exercise, kept_keys.SEED)

        assert all(mistake.slip for mistake in bare.mistakes) and len(bare.mistakes) < len(whole.mistakes)
        assert first_difference(_seen(replace(bare, mistakes=())), _seen(replace(whole, mistakes=())), EXACT) is None

    def test_another_bank_has_another_key(self, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
        """What is kept is named by content, for who begins to read when all edits are done."""
        monkeypatch.setattr(course_in(judge.course), "begun", math.inf)
        (exercise,) = judge.exercises
        kept_keys.full_key(judge.keys, exercise, kept_keys.SEED)
        edit(judge.course / "answers" / judge.chapter.stem / f"{exercise.name}.py", "row[0].clone()", "row[:1].clone()")
        kept_keys.full_key(judge.keys, exercise, kept_keys.SEED)

        assert 2 == len(list(kept_keys.FOLDER.iterdir()))

    def test_of_a_bank_that_was_edited_no_key_is_kept(self, judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
        """The judge has read the old bank, or the new one: nobody knows."""
        (exercise,) = judge.exercises
        monkeypatch.setattr(course_in(judge.course), "begun", 0.0)
        for make in (kept_keys.full_key, kept_keys.reference_key):
            assert make(judge.keys, exercise, kept_keys.SEED).reference

        assert not kept_keys.FOLDER.exists()


def _seen(key: Any) -> list[Any]:
    return [key.reference, *(mistake.observations for mistake in key.mistakes)]


@needs_confinement
def test_a_warm_server_is_confined_as_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs an answer, keeps it from what lies outside, and is gone when it is closed."""
    monkeypatch.setattr(forked_children, "subprocess", warm_servers())
    cases = made.exercise().cases(3)
    reads = f"def {NAMES[0]}(x, plus):\n    open({__file__!r}).read()\n    return 2 * x + plus"
    right = f"def {NAMES[1]}(x, plus):\n    return 2 * x + plus"
    servers = ForkServerPool(warm_modules, (Path(__file__).parent,))
    runner = partial(run_program, children=servers)

    outcomes = runner(program({NAMES[0]: reads, NAMES[1]: right}, cases), LIMITS)

    assert all("raised" in seen for seen in outcomes[NAMES[0]].observations or ())
    assert all("returned" in seen for seen in outcomes[NAMES[1]].observations or ()) and outcomes[NAMES[1]].observations
    server = servers._idle.get_nowait()
    assert server.lives()
    server.close()
    assert not server.lives()


def test_a_forked_kernel_is_as_a_fresh_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs where it was asked for, with that environment; it has torch ready and nothing of ours; it ends."""
    cells = (
        "import os, sys; print(os.getcwd(), os.environ['ASKED'], os.environ['OMP_NUM_THREADS'])",
        "print('torch' in sys.modules, {name.split('.')[0] for name in sys.modules} & {'autograder', 'course'})",
        "print(os.getpid())",
    )
    monkeypatch.setenv("ASKED", "so")
    monkeypatch.chdir(tmp_path)
    with forked_kernels() as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
        NotebookClient(notebook, kernel_name="python3").execute()

    told = ["".join(output.text for output in cell.outputs).strip() for cell in notebook.cells]
    assert [f"{tmp_path} so 1", "True set()"] == told[:2]
    with pytest.raises(ProcessLookupError):
        os.kill(int(told[2]), 0)


def test_groups_and_what_is_slow_begin() -> None:
    """Where tests are shared between processes; else they stay in the order of their files."""

    def item(name: str, *groups: str) -> Any:
        marks = [SimpleNamespace(args=(group,)) for group in groups]
        return SimpleNamespace(path=Path(f"test_{name}.py"), iter_markers=lambda _: iter(marks))

    names = [("address", ()), ("bank", ()), ("colab", ("class of ch01",)), ("words", ()), ("site", ())]
    items = [item(name, *groups) for name, groups in names]
    alone: Any = SimpleNamespace()
    conftest.pytest_collection_modifyitems(alone, items)
    assert ["test_address", "test_bank", "test_colab", "test_words", "test_site"] == [each.path.stem for each in items]

    shared: Any = SimpleNamespace(workerinput={})
    conftest.pytest_collection_modifyitems(shared, items)
    assert ["test_colab", "test_bank", "test_site", "test_address", "test_words"] == [each.path.stem for each in items]
