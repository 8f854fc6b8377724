"""`python -m tests.other_torch`, with which the nightly run tests the oldest supported torch."""

from pathlib import Path

import pytest

from tests import other_torch

SOLVED = other_torch.SOLUTIONS / "ch02a_gradients.ipynb"


def test_refused_solution_is_named(tmp_path: Path) -> None:
    """Only a solution that fails its check has a line, with the requirement."""
    spoilt = tmp_path / SOLVED.name
    text = SOLVED.read_text(encoding="utf-8")
    spoilt.write_text(text.replace("into_sum * 1.0, into_sum", "into_sum * 2.0, into_sum"), encoding="utf-8")

    (line,) = other_torch.refused(spoilt)

    assert line.startswith("ch02a_gradients, grad_by_hand: refused, by ")


def test_that_all_is_well_is_said(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """If all is well, the command prints one line with the version."""
    monkeypatch.setattr(other_torch, "refused", lambda _: iter(()))

    assert 0 == other_torch.main()
    assert "every worked solution passes" in capsys.readouterr().out
