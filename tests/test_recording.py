"""The process that runs notebooks starts with imports done, which the first cell cannot notice."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tests.small_chapter import PROJECT

LOOK = """
import json, sys
import matplotlib.pyplot
from IPython.core.ultratb import VerboseTB
from autograder.sandbox.execution.whole_notebook_child import PreparedShell
from autograder.sandbox.execution.recording_shell import RecordingShell, run_recorded

told, own = [], VerboseTB.structured_traceback
VerboseTB.structured_traceback = lambda *about, **more: told.append(1) or own(*about, **more)
ready = PreparedShell("", {})
before = sorted(RecordingShell.instance().user_ns), set(sys.modules)
if WARM:
    ready.warm_up()
names, modules = sorted(RecordingShell.instance().user_ns), set(sys.modules)
told.clear()
outputs = run_recorded(RecordingShell.instance(), "assert 1 == 2, 'off'", 5.0)
figures = matplotlib.pyplot.get_fignums()
print(json.dumps({
    "names": names == before[0],
    "imports": len(set(sys.modules) - modules),
    "told": len(told),
    "figures": figures,
    "error": outputs[0],
    "first": RecordingShell.instance().user_ns["In"][1],
}))
"""


def looked(warm: bool) -> dict[str, Any]:
    """Return the observations of a process that runs notebooks, with or without imports done before."""
    code = LOOK.replace("WARM", str(warm))
    ran = subprocess.run([sys.executable, "-P", "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True)
    found: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def warm() -> dict[str, Any]:
    """Return those with imports done."""
    return looked(True)


@pytest.mark.night
def test_nothing_is_left_of_warming_up(warm: dict[str, Any]) -> None:
    """No name or figure is left, and the first cell behaves as in a cold process."""
    cold = looked(False)

    assert warm["names"] and [] == warm["figures"]
    assert "assert 1 == 2, 'off'" == warm["first"] == cold["first"]
    assert cold["error"] == warm["error"] and "Cell In[1], line 1" in cold["error"]["traceback"]
    assert warm["imports"] < cold["imports"]


def test_an_error_is_told_once(warm: dict[str, Any]) -> None:
    """An error is kept once, with only its arrow and name in red."""
    lines = warm["error"]["traceback"]

    assert 1 == warm["told"]
    assert "\x1b[31m----> 1\x1b[39m assert 1 == 2, 'off'" in lines
    assert "\x1b[31mAssertionError\x1b[39m: off" == lines[-1]
