"""The shipped keys on other processors than the one they were made on: nobody is told something else."""

import os
import subprocess
import sys

import pytest

from tests.small_chapter import PROJECT

# What makes this processor compute as another one does, as far as it can. Threads that wait do not count as work.
_COMPATIBLE = {"MKL_CBWR": "COMPATIBLE", "OMP_WAIT_POLICY": "PASSIVE"}
_OLDER = {"MKL_CBWR": "AVX2", "ATEN_CPU_CAPABILITY": "default", "ONEDNN_MAX_CPU_ISA": "SSE41"}
SETTINGS: dict[str, tuple[dict[str, str], list[str]]] = {
    "a processor of another make with two threads": (_COMPATIBLE, ["--threads", "2"]),
    "an older processor": (_OLDER, []),
    "one with other last bits": ({}, ["--last-bits"]),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_every_answer_is_told_the_same(setting: str) -> None:
    """Every right answer has full points by the shipped keys, every wrong one its own sentence."""
    variables, options = SETTINGS[setting]
    command = [sys.executable, "-m", "tests.other_processors", *options]
    run = subprocess.run(command, cwd=PROJECT, env=os.environ | variables, capture_output=True, text=True, timeout=900)

    assert run.returncode == 0, f"computed as {setting} does:\n{run.stdout}{run.stderr}"
