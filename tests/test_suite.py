"""`make test` and `make quick`: what they run, what they leave out, and what they say at the end."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from threading import Barrier, Event

import pytest

from tests import belonging, quick, suite
from tests.small_chapter import PROJECT, TEXT
from tests.suite import Done, Part

PARTS = (Part("lint", ("style",)), Part("unit", ("unit",)), Part("nbval", ("nbval",)))


class TestTable:
    """`make test`, at its end."""

    def test_parts_and_their_sum(self) -> None:
        """Tests and seconds of each part; style has no tests, and what was not run no seconds."""
        done = [Done("lint", 0, 1.4), Done("unit", 2, 321.2, 7093), Done("nbval")]

        assert [
            "part        tests  seconds",
            "lint                     1",
            "unit        7,093      321  failed",
            "nbval                       not run",
            "total       7,093      322",
        ] == suite.table(done, 322.0).split("\n")

    def test_nothing_runs_after_a_part_that_failed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The table names what was not run, and the exit status is that of the part."""
        monkeypatch.setattr(suite, "run", lambda part: Done(part.name, 2 if part.name == "unit" else 0))
        monkeypatch.setattr(suite, "parts", lambda _: PARTS)
        monkeypatch.setattr(suite, "compiled", nullcontext)

        assert [0, 2, None] == [each.status for each in suite.in_lanes(PARTS)]
        assert 2 == suite.main()

    @pytest.mark.parametrize("fails", ["types", "unit"])
    def test_two_lanes(self, monkeypatch: pytest.MonkeyPatch, fails: str) -> None:
        """What is beside runs beside the others; where a part of either lane fails, the other lane begins no more."""
        both, failed = Barrier(2, timeout=10), Event()

        def run(part: Part) -> Done:
            if part.name in ("types", "unit"):
                both.wait()  # each waits until the other runs, too
                failed.wait(0 if part.name == fails else 10)
                return Done(part.name, int(part.name == fails))
            return Done(part.name, 0)

        monkeypatch.setattr(suite, "run", run)
        monkeypatch.setattr(suite, "Event", lambda: failed)
        monkeypatch.setattr(suite, "compiled", nullcontext)
        parts = (Part("lint", ()), Part("types", (), None, True), Part("unit", ()), Part("nbval", (), None, True))
        done = suite.in_lanes((*parts, Part("more", ())))

        assert ["lint", "types", "unit", "nbval", "more"] == [each.name for each in done]
        assert [0, None, None] == [done[place].status for place in (0, 3, 4)]

    def test_what_is_beside_is_heard_in_one_piece(self, capfd: pytest.CaptureFixture[str]) -> None:
        """So that two lanes do not talk at once; errors, and letters of no encoding, too."""
        code = r"import sys; print('one', flush=True); sys.stderr.buffer.write(b'tw\xff'); sys.exit(3)"

        assert 3 == suite.heard([sys.executable, "-c", code], dict(os.environ), at_the_end=True)
        assert "\none\ntw\ufffd\n" == capfd.readouterr().out

    def test_whole_run_ends_well(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where every part did, the exit status is 0."""
        monkeypatch.setattr(suite, "run", lambda part: Done(part.name, 0))
        monkeypatch.setattr(suite, "compiled", nullcontext)

        assert 0 == suite.main()

    def test_skipped_tests_do_not_count(self, tmp_path: Path) -> None:
        """pytest's report says how many there were."""
        (tmp_path / "x.xml").write_text('<testsuites><testsuite tests="12" skipped="2"/></testsuites>')

        assert (10, None) == (suite.counted(tmp_path / "x.xml"), suite.counted(tmp_path / "none.xml"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose tests import a room, one of them through a helper."""
    texts = {
        "test_near.py": "from autograder.sandbox.root_filesystem import RootFilesystem",
        "test_room.py": "from autograder.sandbox import unconfined",
        "test_far.py": "from tests import helper",
        "test_text.py": 'TEXT = ROOT / "README.md"',
        "test_other.py": "from autograder.authoring.site import build_site",
        "helper.py": "import autograder.sandbox.root_filesystem",
    }
    (tmp_path / "tests").mkdir()
    for name, text in texts.items():
        (tmp_path / "tests" / name).write_text(text)
    return tmp_path


class TestBelonging:
    """Which tests belong to a changed file."""

    @pytest.mark.parametrize(
        ("changed", "expected"),
        [
            ("autograder/sandbox/root_filesystem.py", {"near": 1, "room": 2, "far": 3}),
            ("autograder/sandbox/new.py", {"near": 2, "room": 2, "far": 3}),
            ("autograder/authoring/site/__init__.py", {"other": 1}),
            ("tests/helper.py", {"far": 1}),
            ("tests/test_other.py", {"other": 0}),
            ("README.md", {"text": 2}),
            ("docs/decisions.md", {}),
        ],
    )
    def test_nearest_first(self, project: Path, changed: str, expected: dict[str, int]) -> None:
        """What has changed itself, imports it, imports from its room, does so through a helper."""
        tests = sorted((project / "tests").glob("test_*.py"))
        far = {test.stem.removeprefix("test_"): belonging.distance(project, test, [changed]) for test in tests}

        assert expected == {name: number for name, number in far.items() if number is not None}

    def test_exercises(self, tmp_path: Path) -> None:
        """An exercise has a file and a bank; a file that several share stands for all of its chapter."""
        for name in ("double", "hunt", "_shared"):
            (tmp_path / "course/exercises/ch07_small").mkdir(parents=True, exist_ok=True)
            (tmp_path / f"course/exercises/ch07_small/{name}.py").touch()

        assert {"hunt"} == belonging.exercises(tmp_path, ["course/answers/ch07_small/hunt.py", "autograder/errors.py"])
        assert {"double", "hunt"} == belonging.exercises(tmp_path, ["course/exercises/ch07_small/_shared.py"])

    def test_cells(self) -> None:
        """Of a chapter's text, the cells of its exercises."""
        found = belonging.cells(TEXT)

        assert ["double", "hunt"] == list(found) and "twice_of_it" in found["double"] and "check(" not in found["hunt"]


class TestQuick:
    """`make quick`."""

    def test_slow_modules_are_there(self) -> None:
        """What is left out is not misspelt."""
        assert [] == [name for name in quick.SLOW if not (PROJECT / "tests" / f"test_{name}.py").is_file()]

    def test_slow_modules_are_left_out_unless_they_changed(self) -> None:
        """And what proves every exercise runs for those that have changed."""
        far = {"tests/test_parity.py": 0, "tests/test_bank.py": 1, "tests/test_walls.py": 2, "tests/test_site.py": 2}

        assert (["tests/test_parity.py", "tests/test_walls.py"], ["tests/test_bank.py", "tests/test_site.py"]) == (
            quick.parted(far, proved=False)
        )
        assert ["tests/test_site.py"] == quick.parted(far, proved=True)[1]

    def test_style_and_types_come_first(self) -> None:
        """Then the proof of the exercises, then the tests."""
        lint, proof, tests = quick.commands(["double", "hunt"], ["tests/test_walls.py"])

        assert "lint" == lint[-1] and ["-k", "double or hunt"] == proof[-2:] and "tests/test_walls.py" == tests[-1]
        assert [lint] == list(quick.commands([], []))
