"""The shipped keys on other processors than the one they were made on: every answer gets the same sentences."""

import os
import subprocess
import sys

import pytest

from tests import other_processors
from tests.small_chapter import PROJECT

# Settings that simulate other processors. OpenMP threads wait passively, so that waiting takes no processor time.
_COMPATIBLE = {"MKL_CBWR": "COMPATIBLE", "OMP_WAIT_POLICY": "PASSIVE"}
_OLDER = {"MKL_CBWR": "AVX2", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
SETTINGS: dict[str, tuple[dict[str, str], list[str]]] = {
    "a processor of another make with two threads": (_COMPATIBLE, ["--threads", "2"]),
    "an older processor": (_OLDER, []),
    "one with other last bits": ({}, ["--last-bits"]),
}


@pytest.mark.night
@pytest.mark.parametrize("setting", SETTINGS)
def test_every_answer_gets_the_same_sentence(setting: str) -> None:
    """Every right answer has full points by the shipped keys, every wrong one its own sentence."""
    variables, options = SETTINGS[setting]
    command = [sys.executable, "-m", "tests.other_processors", *options]
    run = subprocess.run(command, cwd=PROJECT, env=os.environ | variables, capture_output=True, text=True, timeout=1800)

    assert run.returncode == 0, f"computed as {setting} does:\n{run.stdout}{run.stderr}"


def test_that_all_is_well_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """If all is well, the command prints one line."""
    monkeypatch.setattr(sys, "argv", ["other_processors", "add_bias", "rank"])
    monkeypatch.setattr(other_processors, "strays", lambda *_: iter(()))

    assert 0 == other_processors.main()
    assert "2 exercises: every answer is told what it should be told.\n" == capsys.readouterr().out
