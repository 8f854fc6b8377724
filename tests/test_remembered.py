"""What passed before is not run again, until something changes that it depends on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import remembered
from tests.small_chapter import PROJECT


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two chapters under git."""
    names = ("course/chapters/ch01_a.py", "course/exercises/ch02_b/x.py", "course/answers/ch02_b/x.py", "engine.py")
    for name in (*names, "course/chapters/ch02_b.py", "course/shipped/ch02_b.json", "course/shipped/points.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "README.md").write_text("Read me.")
    monkeypatch.setattr(remembered, "PROJECT", tmp_path)
    monkeypatch.setattr(remembered, "THOROUGH", False)
    remembered.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def places() -> list[Path | None]:
    """Where tests are remembered as all is now: about both chapters, one, the other, none, and both but no answer."""
    remembered.content.cache_clear()
    chapters: list[tuple[str, ...]] = [("ch01_a", "ch02_b"), ("ch01_a",), ("ch02_b",), ()]
    return [*(remembered.place("test_x", about, about) for about in chapters), remembered.place("x", chapters[0], ())]


@pytest.mark.parametrize(
    ("changed", "runs_again"),
    [
        ("engine.py", [True, True, True, True, True]),
        ("tests_new.py", [True, True, True, True, True]),
        ("course/chapters/ch01_a.py", [True, True, False, False, True]),
        ("course/exercises/ch02_b/x.py", [True, False, True, False, True]),
        ("course/answers/ch02_b/x.py", [True, False, True, False, False]),
        ("course/shipped/ch02_b.json", [True, False, True, False, False]),
        ("course/shipped/points.json", [True, True, True, True, True]),
        ("README.md", [True, False, False, False, True]),
    ],
)
def test_what_has_changed_is_run_again(project: Path, changed: str, runs_again: list[bool]) -> None:
    """And nothing else: a test about one chapter does not mind another one."""
    before = places()
    (project / changed).write_text("Something else.")

    assert runs_again == [old != new for old, new in zip(before, places(), strict=True)]


def test_nothing_is_remembered_at_night_or_without_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then everything runs; so do, always, the tests that draw anew."""
    assert remembered.place("tests/test_fuzz.py::test_x", (), ()) is None
    monkeypatch.setattr(remembered, "THOROUGH", True)
    assert places() == [None] * 5
    monkeypatch.setattr(remembered, "THOROUGH", False)
    monkeypatch.setenv("GIT_DIR", str(project / "nowhere"))
    assert places() == [None] * 5


def test_a_class_is_about_its_chapter() -> None:
    """Whatever the module says."""
    assert remembered.about("test_whole_runs", ["class of ch03_modules"]) == ("ch03_modules",)
    assert remembered.about("test_whole_runs", []) == ("ch01_tensors",)
    assert len(remembered.about("test_ledger", [])) > 1


def test_what_is_run_with_a_chapter_is_about_it_and_those_before() -> None:
    """If its module says so; their banks are read, too."""
    name = "test_each_prediction_holds[ch02_autograd]"
    both = ("ch01_tensors", "ch02_autograd")

    assert both == remembered.about("test_ledger", [], name) == remembered.banks("test_ledger", both)
    assert remembered.about("test_ledger", [], "test_each_id_stands_once") == tuple(remembered.stems())
    assert remembered.about("test_rooms", [], name) == tuple(remembered.stems())


@pytest.mark.parametrize("module", remembered.ABOUT)
def test_who_is_about_some_chapters_names_no_other(module: str) -> None:
    """Nor the course as a whole."""
    text = (remembered.PROJECT / "tests" / f"test_{module}.py").read_text()

    assert "our_course" not in text
    assert [] == [stem for stem in remembered.stems() if stem in text and stem not in remembered.ABOUT[module]]


def test_who_reads_no_other_bank_is_held_to_it(tmp_path: Path) -> None:
    """What opens one all the same is told where to say so."""
    banks = [tmp_path / "course" / "answers" / stem / "x.py" for stem in ("ch01_a", "ch02_b")]
    for bank in banks:
        bank.parent.mkdir(parents=True)
        bank.touch()
    run_of = remembered.watch_banks(tmp_path)

    run_of("test_seeing", ("ch01_a", "ch02_b"))
    banks[1].read_bytes()
    run_of("test_blind", ("ch01_a",))
    banks[0].read_bytes()
    for closed in (banks[1], tmp_path / "course" / "shipped" / "ch02_b.json"):
        with pytest.raises(AssertionError, match="add 'blind' to EVERY_BANK"):
            closed.read_bytes()


def test_modules_are_there() -> None:
    """One that is gone is told nothing of."""
    told = {*remembered.ABOUT, *remembered.EVERY_BANK, *remembered.UP_TO, *remembered.DRAWN}

    assert set() == {name for name in told if not (PROJECT / "tests" / f"test_{name}.py").is_file()}


def test_who_reads_which_banks() -> None:
    """Those of its chapters, if it reads every bank or has one chapter; else that of the chapter that is graded."""
    both = ("ch01_tensors", "ch02_autograd")

    assert both == remembered.banks("test_bank", both)
    assert ("ch02_autograd",) == remembered.banks("test_whole_runs", ("ch02_autograd",))
    assert ("ch01_tensors",) == remembered.banks("test_rooms", both) == remembered.banks("test_rooms", ())
