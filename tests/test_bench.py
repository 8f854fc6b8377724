"""The benchmarks: that they measure what they name; the measured times themselves are not tested."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import create_autospec

import pytest
import torch

from autograder.course.chapter_judge import Judge
from autograder.errors import WorkFailed
from tests.bench import classes, latency, measure, measurements
from tests.bench.measure import Measured
from tests.sample_course import STEM
from tests.small_chapter import SAMPLE

_BUSY = """
import subprocess, sys, time
def burn(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
if len(sys.argv) == 1:
    subprocess.run([sys.executable, __file__, "child"], check=True)
else:
    held = bytearray(150 * 2**20)
    burn(1.5)
"""


@pytest.mark.night
def test_time_and_memory_of_descendants_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A measurement includes the time and memory of descendant processes."""
    (tmp_path / "busy.py").write_text(_BUSY)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = measure.python(["busy"], tmp_path, 10)

    assert 1.4 < found.cpu_seconds < 10 and found.cpu == found.cpu_seconds / 10
    assert 150 < found.peak_pss_mb < 500 and found.wall_seconds > 1.4


@pytest.mark.night
def test_the_first_file_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time of the first matching file is recorded; without a pattern it is 0."""
    writes = "import pathlib, time; time.sleep(1); pathlib.Path('a.txt').touch(); time.sleep(1)"
    (tmp_path / "writes.py").write_text(writes)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    found = measure.python(["writes"], tmp_path, 1, "*.txt")

    assert 1 <= found.first_seconds <= found.wall_seconds - 0.9
    assert 0 == measure.python(["writes"], tmp_path, 1).first_seconds


def test_command_that_fails_is_told(tmp_path: Path) -> None:
    """A failing command raises WorkFailed."""
    with pytest.raises(WorkFailed, match="no_such_module"):
        measure.python(["no_such_module"], tmp_path, 1)


def figures(stock_wall: float) -> dict[str, object]:
    """Return the figures of invented runs, in which a submission costs 0.1 s, half of it in its own code."""
    runs = {
        "starting": Measured(4, 10.0, 10.0, 500.0),
        "1 worker": Measured(104, 20.0, 20.0, 500.0),
        "2 workers": Measured(104, 13.0, 26.0, 900.0, 2.5),
        "nothing changed": Measured(104, 2.0, 2.0, 300.0),
        "class of 1000": Measured(1000, 100.0, 150.0, 500.0),
        "distinct, starting": Measured(4, 10.0, 10.0, 500.0),
        "distinct": Measured(24, 14.0, 14.0, 500.0),
        "nbgrader alone": Measured(10, 10 * stock_wall, 10 * stock_wall, 400.0),
    }
    checks = {"double": [0.01, 0.02], "slow": [0.01, 0.11, 0.12], "train": [0.3, 0.4]}
    return measurements._figures(runs, {"own": 0.05, "distinct": 0.06}, checks, {"train"})


def test_ratios_follow_from_the_runs() -> None:
    """Speed-up, overhead and shares have values computed by hand, and all figures are JSON."""
    found = json.loads(json.dumps(figures(12.5)))

    assert {"1 worker": 65.0, "2 workers": 100.0} == found["speed_up_wall"]
    assert (0.1, 0.05, 0.5) == tuple(
        found[f"{name}"] for name in ("marginal_cpu_per_submission", "overhead_cpu_per_submission", "share_of_own_code")
    )
    assert ["slow", "train"] == found["checks_too_slow"] and ["train"] == found["checks_that_train"]
    assert 0.12 == found["check_p95_seconds"] and 0.2 == found["distinct"]["marginal_cpu_per_submission"]
    assert {"class of 1000": 125.0} == found["speed_up_wall_large"]


def test_goals_that_are_missed_are_told() -> None:
    """The table says for each goal whether it was reached."""
    good, bad = measurements.table(figures(12.5)), measurements.table(figures(1.0))

    assert "100.0 times in wall time; goal 70 times: reached" in good
    assert "goal 70 times: MISSED" in bad and "slower than 50 ms: slow, train" in bad
    assert "faster, class of 1000       125.0 times; goal 110 times: reached" in good
    assert "the same, all distinct      0.200 s; goal 0.133 s, 1.8 times its own code and 25 ms: MISSED" in good
    assert "the first verdict           2.5 s; goal 3 s: reached" in good
    assert "memory, 2 workers           900 MB; goal 900 MB: reached" in good
    assert "p50 20 ms, p95 120 ms, without the 1 that train; goal 50 ms: MISSED" in good
    assert "one submission more         0.100 s; goal 0.115 s, 1.8 times its own code and 25 ms: reached" in good
    assert "nothing changed             2.0 s; goal 1.5 s: MISSED" in good


def test_checks_in_which_an_optimizer_steps_train(monkeypatch: pytest.MonkeyPatch) -> None:
    """`trains` detects an optimizer step within the check, and ignores earlier steps."""
    optimizer = torch.optim.SGD([torch.zeros(2, requires_grad=True)])
    monkeypatch.setattr(latency, "check", lambda _name, answer: answer())
    judge = create_autospec(Judge, instance=True)
    judge.solutions = {"steps": optimizer.step, "looks": lambda: None}

    assert latency.trains("steps", judge) and not latency.trains("looks", judge)


@pytest.mark.night
def test_stock_class_is_the_same_work(tmp_path: Path) -> None:
    """The class for stock nbgrader has the same submissions, none of our configuration, and visible checks."""
    course = classes.course_with(SAMPLE, tmp_path / "course", STEM, 3)
    stock = classes.stock_course(course, tmp_path / "stock", STEM, 2)
    name = f"{STEM}/{STEM}.ipynb"
    source = (stock / "source" / name).read_text()

    assert ["student-00000", "student-00001"] == sorted(path.name for path in (stock / "submitted").iterdir())
    assert (course / "submitted/student-00001" / name).read_bytes() == (
        stock / "submitted/student-00001" / name
    ).read_bytes()
    assert "HIDDEN" not in source and "fresh=True" not in source and 'check(\\"standardize\\"' in source
    assert "preprocessors" not in (stock / "nbgrader_config.py").read_text()
