"""What passed before is not run again, until something changes that it depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import remembered


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two chapters under git."""
    for name in ("course/chapters/ch01_a.py", "course/exercises/ch02_b/x.py", "course/chapters/ch02_b.py", "engine.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "README.md").write_text("Read me.")
    monkeypatch.setattr(remembered, "PROJECT", tmp_path)
    monkeypatch.setattr(remembered, "THOROUGH", False)
    remembered.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def places() -> list[Path | None]:
    """Where a test about both chapters, one about each, and one about none are remembered, as all is now."""
    remembered.content.cache_clear()
    chapters: list[tuple[str, ...]] = [("ch01_a", "ch02_b"), ("ch01_a",), ("ch02_b",), ()]
    return [remembered.place("test_x", about) for about in chapters]


@pytest.mark.parametrize(
    ("changed", "runs_again"),
    [
        ("engine.py", [True, True, True, True]),
        ("tests_new.py", [True, True, True, True]),
        ("course/chapters/ch01_a.py", [True, True, False, False]),
        ("course/exercises/ch02_b/x.py", [True, False, True, False]),
        ("README.md", [True, False, False, False]),
    ],
)
def test_what_has_changed_is_run_again(project: Path, changed: str, runs_again: list[bool]) -> None:
    """And nothing else: a test about one chapter does not mind another one."""
    before = places()
    (project / changed).write_text("Something else.")

    assert runs_again == [old != new for old, new in zip(before, places(), strict=True)]


def test_nothing_is_remembered_at_night_or_without_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then everything runs; so do, always, the tests that draw anew."""
    assert remembered.place("tests/test_fuzz.py::test_x", ()) is None
    monkeypatch.setattr(remembered, "THOROUGH", True)
    assert places() == [None] * 4
    monkeypatch.setattr(remembered, "THOROUGH", False)
    monkeypatch.setenv("GIT_DIR", str(project / "nowhere"))
    assert places() == [None] * 4


def test_a_class_is_about_its_chapter() -> None:
    """Whatever the module says."""
    assert remembered.about("test_whole_runs", ["class of ch03_modules"]) == ("ch03_modules",)
    assert remembered.about("test_whole_runs", []) == ("ch01_tensors",)
    assert len(remembered.about("test_ledger", [])) > 1


@pytest.mark.parametrize("module", remembered.ABOUT)
def test_who_is_about_some_chapters_names_no_other(module: str) -> None:
    """Nor the course as a whole."""
    text = (remembered.PROJECT / "tests" / f"test_{module}.py").read_text()

    assert "our_course" not in text
    assert [] == [stem for stem in remembered.stems() if stem in text and stem not in remembered.ABOUT[module]]
