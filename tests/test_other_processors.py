"""The shipped keys give the same messages on other processors than the one that made them.

If several slow exercises have changed, the ordinary run draws one of them, and leaves the others to the nightly run;
they are then remembered as proven, so that no later run computes them until they change again.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.authoring.proof_receipts import proof_path, remember_proof
from autograder.course.exercise_parts import ExerciseParts
from autograder.files import digest_of
from tests import other_processors
from tests.asked import THOROUGH
from tests.other_processors import COURSE, EXERCISES
from tests.small_chapter import PROJECT

# Settings that simulate other processors. OpenMP threads wait passively, so that waiting takes no processor time.
_COMPATIBLE = {"MKL_CBWR": "COMPATIBLE", "OMP_WAIT_POLICY": "PASSIVE"}
_OLDER = {"MKL_CBWR": "AVX2", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
SETTINGS: dict[str, tuple[dict[str, str], list[str]]] = {
    "a processor of another make with two threads": (_COMPATIBLE, ["--threads", "2"]),
    "an older processor": (_OLDER, []),
    "one with other last bits": ({}, ["--last-bits"]),
}

# With every operation intercepted, these take two thirds of the time of all exercises.
LONG = {
    *("broken_loops", "fit", "fit_resumable", "house_prices", "overfit_one_batch"),
    *("resume_training", "sin_fit", "train", "train_amp"),
}


# The ordinary run uses only other last bits, which cover any processor; the nightly run all settings.
@pytest.mark.parametrize("setting", SETTINGS if THOROUGH else ["one with other last bits"])
def test_every_answer_is_told_the_same(setting: str, record_property: Callable[[str, object], None]) -> None:
    """Every right answer gets full points, and every wrong one its own message."""
    variables, options = SETTINGS[setting]
    parts = {name: ExerciseParts(COURSE, each.chapter, name) for name, each in EXERCISES.items()}
    due = [name for name, each in parts.items() if THOROUGH or not proof_path(each, _where(setting)).is_file()]
    open_ones = due if THOROUGH else _with_one_of(LONG, due)
    record_property("proved before", len(parts) - len(open_ones))
    if not open_ones:
        return
    command = [sys.executable, "-m", "tests.other_processors", *options, *open_ones]
    run = subprocess.run(command, cwd=PROJECT, env=os.environ | variables, capture_output=True, text=True, timeout=900)

    assert run.returncode == 0, f"computed as {setting} does:\n{run.stdout}{run.stderr}"
    for name in due:
        remember_proof(parts[name], _where(setting))


def _with_one_of(some: set[str], names: list[str]) -> list[str]:
    """Return the names, with only one drawn of those in `some`."""
    drawn = random.choice([name for name in names if name in some] or [""])
    return [name for name in names if name == drawn or name not in some]


def test_long_ones_are_drawn_one_at_a_time() -> None:
    """All fast exercises are kept, and one slow one."""
    left = _with_one_of(LONG, list(EXERCISES))

    assert LONG < set(EXERCISES) and 1 == len(LONG.intersection(left)) and set(EXERCISES) - LONG < set(left)
    assert ["fit_resumable"] == _with_one_of(LONG, ["fit_resumable"]) and [] == _with_one_of(LONG, [])


def test_what_is_left_out_is_left_to_the_night(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run computes none of the slow exercises that were left out, unless they change."""
    ran: list[set[str]] = []

    def run(command: list[str], **_: object) -> SimpleNamespace:
        ran.append(set(command) & set(EXERCISES))
        return SimpleNamespace(returncode=0)

    here = sys.modules[__name__]
    monkeypatch.setattr(here, "THOROUGH", False)
    monkeypatch.setattr(here, "proof_path", lambda parts, _: tmp_path / parts.name)
    monkeypatch.setattr(here, "remember_proof", lambda parts, _: (tmp_path / parts.name).touch())
    monkeypatch.setattr(subprocess, "run", run)
    for _ in range(2):
        test_every_answer_is_told_the_same("one with other last bits", lambda *_: None)
    (tmp_path / "fit").unlink()
    test_every_answer_is_told_the_same("one with other last bits", lambda *_: None)

    assert 2 == len(ran) and 1 == len(ran[0] & LONG) and {"fit"} == ran[1]


def test_that_all_is_well_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """If all is well, the command prints one line."""
    monkeypatch.setattr(sys, "argv", ["other_processors", "add_bias", "rank"])
    monkeypatch.setattr(other_processors, "strays", lambda *_: iter(()))

    assert 0 == other_processors.main()
    assert "2 exercises: every answer is told what it should be told.\n" == capsys.readouterr().out


def _where(setting: str) -> str:
    """Return a digest of a setting and of the modules that simulate it."""
    texts = ((PROJECT / "tests" / f"{name}.py").read_text() for name in ("other_processors", "last_bits"))
    return digest_of(repr(SETTINGS[setting]), *texts)
