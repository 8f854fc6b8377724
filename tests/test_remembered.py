"""What passed before is not run again, until something changes that it depends on."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import remembered
from tests.reads import ANSWERS, DOCUMENTS, EVERYTHING, EXERCISE, OWN, READS, SO_FAR, TESTS
from tests.small_chapter import PROJECT

FIRST, FOURTH = "ch01_tensors", "ch04_training"
CACHED = (remembered.stems, remembered.part_of, remembered.content, remembered.imported)
CACHED += (remembered._digests, remembered._exercises, remembered._of_exercise)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    """Look at the files again, before and after."""
    for cached in CACHED:
        cached.cache_clear()
    yield
    for cached in CACHED:
        cached.cache_clear()


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project of two chapters under git."""
    parts = {"chapters": ".py", "cards": ".py", "figures": ".py", "shipped": ".hints.json"}
    for stem in ("ch01_a", "ch02_b"):
        names = [f"course/{folder}/{stem}{ending}" for folder, ending in parts.items()]
        names += [f"course/exercises/{stem}/x.py", f"course/answers/{stem}/x.py", f"notebooks/{stem}.ipynb"]
        for name in (*names, "course/figures/_ch02_more.py", "course/shipped/points.json", "engine.py"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(name)
    (tmp_path / "README.md").write_text("Read me.")
    (tmp_path / "tests").mkdir()
    for name, text in {"test_x": "from tests import helping\n", "helping": "", "test_y": "", "conftest": ""}.items():
        (tmp_path / "tests" / f"{name}.py").write_text(text)
    monkeypatch.setattr(remembered, "PROJECT", tmp_path)
    monkeypatch.setattr(remembered, "FOLDER", tmp_path / "build" / "proved" / "tests")
    monkeypatch.setattr(remembered, "_waiting", [])
    monkeypatch.setattr(remembered, "THOROUGH", False)
    monkeypatch.setitem(READS, "x", ("answers/ch02_b", "lessons"))
    monkeypatch.setitem(READS, "y", EVERYTHING)
    remembered.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    return tmp_path


def places() -> list[Path | None]:
    """Where tests of two modules are remembered as all is now: one that reads little, and one that reads everything."""
    for cached in CACHED:
        cached.cache_clear()
    return [remembered.place("a test", remembered.reads(module)) for module in ("test_x", "test_y")]


CHANGES = [
    ("engine.py", [True, True]),
    ("engine_new.py", [True, True]),
    ("course/chapters/ch01_a.py", [True, True]),
    ("course/cards/ch02_b.py", [True, True]),
    ("notebooks/ch02_b.ipynb", [True, True]),
    ("course/exercises/ch02_b/x.py", [False, True]),
    ("course/exercises/ch02_b/new.py", [True, True]),  # which files there are, every test may see
    ("course/answers/ch01_a/x.py", [False, True]),
    ("course/answers/ch02_b/x.py", [True, True]),
    ("course/shipped/ch02_b.hints.json", [False, True]),
    ("course/shipped/points.json", [True, True]),
    ("course/figures/_ch02_more.py", [False, True]),
    ("README.md", [False, True]),
    ("tests/test_x.py", [True, True]),
    ("tests/helping.py", [True, True]),
    ("tests/conftest.py", [True, True]),
    ("tests/test_y.py", [False, True]),
    ("tests/test_new.py", [False, True]),
]


@pytest.mark.parametrize(("changed", "runs_again"), CHANGES)
def test_what_has_changed_is_run_again(project: Path, changed: str, runs_again: list[bool]) -> None:
    """And nothing else: not a test that does not read it."""
    before = places()
    (project / changed).write_text("a = 'something else'")

    assert runs_again == [old != new for old, new in zip(before, places(), strict=True)]


@pytest.mark.parametrize(("changed", "runs_again"), CHANGES)
def test_what_is_written_while_tests_run_is_not_remembered(
    project: Path, changed: str, runs_again: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test may have read the old content or the new; those that read nothing of it are remembered."""
    monkeypatch.setattr(remembered, "STARTED_AT", time.time())
    before = places()
    (project / changed).write_text("a = 'something else'")
    os.utime(project / changed, (time.time() + 60,) * 2)

    assert [not again for again in runs_again] == passed(before)


def test_what_goes_while_tests_run_is_not_remembered(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which files there are, every test may see."""
    monkeypatch.setattr(remembered, "STARTED_AT", time.time())
    before = places()
    (project / "course" / "answers" / "ch01_a" / "x.py").unlink()

    assert [False, False] == passed(before)


def test_of_an_exercise_all_that_stands_around_it_may_have_been_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its chapter's lesson, too, which holds its cells."""
    monkeypatch.setattr(remembered, "STARTED_AT", time.time())
    monkeypatch.setattr(remembered, "_of_exercise", str)
    place = remembered.place("a test", (f"{EXERCISE}/ch01_a/x",))
    other = remembered.place("a test", (f"{EXERCISE}/ch02_b/x",))
    os.utime(project / "course" / "chapters" / "ch01_a.py", (time.time() + 60,) * 2)
    for each, stem in ((place, "ch01_a"), (other, "ch02_b")):
        remembered.keep(each, (f"{EXERCISE}/{stem}/x",))
    remembered.settle()

    assert place is not None and not place.is_file() and other is not None and other.is_file()


def test_it_is_remembered_from_time_to_time(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that is cut off loses little."""
    monkeypatch.setattr(remembered, "STARTED_AT", time.time())
    place, _ = places()
    assert place is not None
    remembered.keep(place, ())
    assert not place.is_file()
    monkeypatch.setattr(remembered, "PAUSE", -1.0)
    remembered.keep(None, ())

    assert place.is_file()


def passed(before: list[Path | None]) -> list[bool]:
    """Let both tests pass, and look which of them is remembered."""
    for place, module in zip(before, ("test_x", "test_y"), strict=True):
        remembered.keep(place, remembered.reads(module))
    remembered.settle()
    return [place is not None and place.is_file() for place in before]


def test_what_it_says_to_read_counts_too(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test whose line of the table changes runs again, and no other does."""
    before = places()
    monkeypatch.setitem(READS, "x", ("answers",))

    assert [True, False] == [old != new for old, new in zip(before, places(), strict=True)]


def test_who_is_driven_in_a_browser_depends_on_what_it_imports(project: Path) -> None:
    """A helper that a module below tests/browser imports, and one that the browser's own fixtures do."""
    folder = project / "tests" / "browser"
    folder.mkdir()
    (folder / "test_z.py").write_text("from tests import helping\n")
    (folder / "conftest.py").write_text("from tests import test_y\n")

    assert {"tests/helping", "tests/test_y"} == remembered.imported("test_z")


def test_nothing_is_remembered_at_night_or_without_git(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then everything runs; so do, always, the tests that draw anew."""
    assert remembered.place("tests/test_fuzz.py::test_x", ()) is None
    monkeypatch.setattr(remembered, "THOROUGH", True)
    assert places() == [None] * 2
    monkeypatch.setattr(remembered, "THOROUGH", False)
    monkeypatch.setenv("GIT_DIR", str(project / "nowhere"))
    assert places() == [None] * 2


def of_the_course(module: str, *groups: str, name: str = "") -> set[str]:
    """What a test reads beside modules of the tests."""
    return {part for part in remembered.reads(module, groups, name) if not part.startswith(f"{TESTS}/")}


def test_own_is_the_chapter_of_the_class_or_of_the_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """Or that of the exercise in the name; where there is none, each."""
    monkeypatch.setitem(READS, "x", (f"{ANSWERS}/{OWN}", DOCUMENTS))
    fourth = {f"{ANSWERS}/{FOURTH}", DOCUMENTS}

    assert fourth == of_the_course("test_x", f"class of {FOURTH}")
    assert fourth == of_the_course("test_x", name=f"test_a[{FOURTH}]") == of_the_course("test_x", name="test_a[fit-2]")
    assert {DOCUMENTS} == of_the_course("test_x", "class of ch01_sample")
    assert {DOCUMENTS, *(f"{ANSWERS}/{stem}" for stem in remembered.stems())} == of_the_course("test_x", name="test_a")


def test_so_far_is_the_chapter_and_those_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what builds on earlier chapters."""
    monkeypatch.setitem(READS, "x", (f"{ANSWERS}/{SO_FAR}",))

    both = {f"{ANSWERS}/{stem}" for stem in (FIRST, "ch02_autograd")}
    assert both == of_the_course("test_x", name="test_a[ch02_autograd]")


def test_who_is_not_named_reads_nothing_of_the_course() -> None:
    """What it imports it reads all the same."""
    assert set() == of_the_course("test_whole_runs")
    assert {f"{TESTS}/test_whole_runs", f"{TESTS}/sample_course"} < set(remembered.reads("test_whole_runs"))


@pytest.mark.parametrize(
    ("changed", "runs_again"),
    [
        (f"course/answers/{FIRST}/standardize.py", {"proof", "class"}),
        (f"course/exercises/{FIRST}/standardize.py", {"proof", "class"}),
        (f"course/answers/{FOURTH}/fit.py", {"proof of the fourth"}),
        ("README.md", set()),
        ("tests/sample/course/answers/ch01_sample/standardize.py", {*"1234"}),
    ],
)
def test_a_change_runs_its_own_tests_again(changed: str, runs_again: set[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the changed exercise's chapter, and not those of another one, nor what is about the grader."""
    tests = {
        "proof": remembered.reads("test_bank", name="test_it_is_proven[standardize]"),
        "proof of the fourth": remembered.reads("test_bank", name="test_it_is_proven[fit]"),
        "class": remembered.reads("test_graded_banks", [f"class of {FIRST}"]),
        "grader": remembered.reads("test_whole_runs"),
    }
    before = {name: remembered.content(told) for name, told in tests.items()}
    known = remembered._digests()
    assert changed in known
    remembered.content.cache_clear()
    monkeypatch.setattr(remembered, "_digests", lambda: known | {changed: "another"})

    again = {name for name, told in tests.items() if before[name] != remembered.content(told)}
    assert (set(tests) if "sample" in changed else runs_again) == again


def test_an_exercise_is_what_belongs_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not its neighbors, though their files are opened on the way; where none is named, all of the chapter's."""
    monkeypatch.setitem(READS, "x", (EXERCISE,))
    group, (part,) = f"class of {FOURTH}", of_the_course("test_x", f"class of {FOURTH}", name="test_a[fit]")
    before = remembered.content((part,))

    assert {f"{kind}/{FOURTH}" for kind in ("answers", "exercises", "shipped")} == of_the_course("test_x", group)
    assert part == f"{EXERCISE}/{FOURTH}/fit" and set() == of_the_course("test_x", "class of ch01_sample", name="[fit]")
    read = Path.read_bytes
    for name, runs_again in {"fit": True, "train_step": False}.items():
        bank = PROJECT / "course" / "answers" / FOURTH / f"{name}.py"
        monkeypatch.setattr(Path, "read_bytes", lambda path, bank=bank: read(path) + b"#" * (path == bank))
        remembered.content.cache_clear()
        remembered._of_exercise.cache_clear()

        assert runs_again is (before != remembered.content((part,)))


def test_the_table_is_well_formed() -> None:
    """Its modules are there, and so is what they read."""
    known = {*READS, *remembered.ANEW}
    parts = {part for told in READS.values() for part in told} - {EXERCISE}
    stems = (*remembered.stems(), OWN, SO_FAR)

    assert known <= {path.stem.removeprefix("test_") for path in (PROJECT / "tests").rglob("test_*.py")}
    assert set() == {part for part in parts if part not in EVERYTHING and part.split("/")[1] not in stems}
    assert all(part.split("/")[0] in EVERYTHING for part in parts)
