"""Attempts of code inside the sandbox against the machine: one real run makes all of them.

The system call numbers are those of x86-64; on other processors, the attempts that need them are left out.
"""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from autograder.sandbox.execution.fork_server_client import ForkServerPool
from autograder.sandbox.execution.submission_runner import run_program
from tests import attempts, made
from tests.attacks import attempts_on_stock
from tests.conftest import needs_confinement
from tests.made_programs import program
from tests.small_chapter import PROJECT
from tests.walls import LANDLOCK, WALLS, stand_behind

pytestmark = pytest.mark.xdist_group("confinement")

CASES = made.exercise().cases(3)[:1]
KNOWN = [name for name, (text, _) in attempts.ATTEMPTS.items() if platform.machine() == "x86_64" or "call(" not in text]


@pytest.fixture(scope="module", params=WALLS)
def tried(request: pytest.FixtureRequest) -> dict[str, str]:
    """Run all attempts behind a wall, and return the outcome of each."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        stand_behind(request.param, monkeypatch)
        times = [os.stat(path).st_mtime_ns for path in (os.__file__, "/dev/null")]
        monkeypatch.setenv("THE_TEACHERS_SECRET", "4242")
        text = Path(attempts.__file__).read_text(encoding="utf-8").replace("from __future__ import annotations", "")
        answer = f"{text}\nimport json\nTRIED = json.dumps(all_tried())\n\ndef one(x, plus):\n    return TRIED\n"
        found = run_program(program({"one": answer}, CASES), children=ForkServerPool())["one"]
    assert found.observations is not None, found
    assert times == [os.stat(path).st_mtime_ns for path in (os.__file__, "/dev/null")]
    seen: dict[str, str] = json.loads(str(found.observations[0]["returned"]))
    return seen | {"wall": request.param}


@needs_confinement
@pytest.mark.parametrize("attempt", KNOWN)
def test_attempt_is_refused(attempt: str, tried: dict[str, str]) -> None:
    """The outcome of each attempt is a refusal, or shows that it found nothing."""
    allowed = attempts.ATTEMPTS[attempt][1]
    if tried["wall"] == LANDLOCK:
        allowed, _ = attempts.BEHIND_LANDLOCK.get(attempt, (allowed, ""))
    assert tried[attempt].startswith(allowed), tried[attempt]


def test_documents_hold_the_table() -> None:
    """docs/attacks.md contains the table of the last measurement of the attempts on stock nbgrader."""
    table = attempts_on_stock.table(json.loads(attempts_on_stock.RESULTS.read_text(encoding="utf-8")))

    assert table in (PROJECT / "docs" / "attacks.md").read_text(encoding="utf-8")
