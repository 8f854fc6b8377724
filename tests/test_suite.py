"""`make test` and `make quick`: what they run, what they leave out, and what they say at the end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from threading import Barrier, Event
from types import SimpleNamespace
from typing import cast

import pytest

from tests import conftest, quick, suite
from tests.small_chapter import TEXT
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
        monkeypatch.setattr(suite, "DAY", PARTS)

        assert [0, 2, None] == [each.status for each in suite.in_lanes(PARTS)]
        assert 2 == suite.main([])

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
        parts = (Part("lint", ()), Part("types", (), True), Part("unit", ()), Part("nbval", (), True))
        done = suite.in_lanes((*parts, Part("more", ())))

        assert ["lint", "types", "unit", "nbval", "more"] == [each.name for each in done]
        assert [0, None, None] == [done[place].status for place in (0, 3, 4)]

    def test_a_stopped_run_says_so_in_one_line(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """Nothing begins after an interrupt, and no traceback hides what was printed."""
        ran: list[str] = []

        def run(part: Part) -> Done:
            ran.append(part.name)
            if part.name == "unit":
                raise KeyboardInterrupt
            return Done(part.name, 0)

        monkeypatch.setattr(suite, "run", run)
        monkeypatch.setattr(suite, "DAY", PARTS)

        assert 130 == suite.main([])
        assert ["lint", "unit"] == ran and capsys.readouterr().err.startswith("\nstopped after 0 s")

    def test_what_is_beside_is_heard_in_one_piece(self, capfd: pytest.CaptureFixture[str]) -> None:
        """So that two lanes do not talk at once; errors, and letters of no encoding, too."""
        code = r"import sys; print('one', flush=True); sys.stderr.buffer.write(b'tw\xff'); sys.exit(3)"

        assert 3 == suite.run_command([sys.executable, "-c", code], at_the_end=True)
        assert "\none\ntw\ufffd\n" == capfd.readouterr().out

    def test_whole_run_ends_well(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Where every part did, the exit status is 0."""
        monkeypatch.setattr(suite, "run", lambda part: Done(part.name, 0))

        assert 0 == suite.main([])

    def test_skipped_tests_do_not_count(self, tmp_path: Path) -> None:
        """pytest's report says how many there were."""
        (tmp_path / "x.xml").write_text('<testsuites><testsuite tests="12" skipped="2"/></testsuites>')

        assert (10, None) == (suite.counted(tmp_path / "x.xml"), suite.counted(tmp_path / "none.xml"))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose tests import a room, one of them through a helper."""
    texts = {
        "tests/test_near.py": "from autograder.sandbox.root_filesystem import RootFilesystem",
        "tests/test_far.py": "from tests import helper",
        "tests/test_text.py": 'TEXT = ROOT / "README.md"',
        "tests/test_other.py": "from autograder.sandbox import namespace_confinement",
        "tests/helper.py": "import autograder.sandbox.namespace_confinement",
        "autograder/sandbox/namespace_confinement.py": "from autograder.sandbox.root_filesystem import RootFilesystem",
        "autograder/sandbox/root_filesystem.py": "class RootFilesystem: ...",
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


class TestSample:
    """`make test SAMPLE=COMMIT`."""

    def test_a_tenth_and_what_has_changed_within_a_day(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """First the tenth that the commit chooses, then what it may break, each once."""
        monkeypatch.setattr(conftest, "PROJECT", tmp_path)
        monkeypatch.setattr(conftest, "last_day", lambda _: ["autograder/errors.py"])
        items = [
            SimpleNamespace(nodeid=str(number), path=tmp_path / f"tests/test_{name}.py", iter_markers=lambda name: [])
            for number, name in enumerate(["near", "far"] * 100)
        ]

        def chosen(commit: str, near: list[str]) -> list[str]:
            monkeypatch.setattr(conftest, "tests_of", lambda *_, **__: near)
            selected = list(items)
            options = SimpleNamespace(option=SimpleNamespace(sample=commit))
            conftest.pytest_collection_modifyitems(cast(pytest.Config, options), cast(list[pytest.Item], selected))
            return [each.nodeid for each in selected]

        tenth = chosen("a" * 40, [])
        assert 5 <= len(tenth) <= 40
        assert tenth == chosen("a" * 40, []) != chosen("b" * 40, [])
        assert [*tenth, *(str(number) for number in range(0, 200, 2) if str(number) not in tenth)] == chosen(
            "a" * 40, ["tests/test_near.py"]
        )

    def test_last_day(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The commit's own files and those of the commits of the day before it; no older ones, and no later ones."""
        monkeypatch.setattr(quick, "PROJECT", tmp_path)
        monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
        git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run([*git, "init", "-q"], check=True)
        for name, day in (("old", "01T12:00"), ("near", "03T12:00"), ("own", "04T11:00"), ("later", "04T12:00")):
            (tmp_path / f"{name}.py").touch()
            monkeypatch.setenv("GIT_COMMITTER_DATE", f"2026-01-{day}:00Z")
            subprocess.run([*git, "add", "."], check=True)
            subprocess.run([*git, "commit", "-q", "-m", name], check=True)

        assert ["near.py", "own.py"] == quick.last_day("HEAD~1")
        assert [] == quick.last_day("0" * 40)


class TestQuick:
    """`make quick`."""

    @pytest.mark.parametrize(
        ("changed", "expected"),
        [
            ("autograder/sandbox/root_filesystem.py", ["near", "other", "far"]),
            ("autograder/sandbox/namespace_confinement.py", ["other", "far"]),
            ("tests/helper.py", ["far"]),
            ("tests/test_other.py", ["other"]),
            ("README.md", ["text"]),
            ("docs/decisions.md", []),
        ],
    )
    def test_nearest_first(self, project: Path, changed: str, expected: list[str]) -> None:
        """What has changed itself, imports it, names it, reaches it through others."""
        assert [f"tests/test_{name}.py" for name in expected] == quick.tests_of([changed], project, within=None)

    def test_what_a_change_is_likely_to_break(self, project: Path) -> None:
        """It is changed itself, imports a changed file or names it; what reaches one through others is left out."""
        changed = ["autograder/sandbox/namespace_confinement.py", "README.md"]

        assert ["tests/test_other.py", "tests/test_text.py"] == sorted(quick.tests_of(changed, project, within=1))

    def test_exercises(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """An exercise has a file, a bank, and a cell in a chapter; a file that several share stands for all of them."""
        monkeypatch.setattr(quick, "PROJECT", tmp_path)
        monkeypatch.setattr(quick, "git", lambda *_: TEXT.replace("twice_of_it", "twice"))
        for name in ("double", "hunt", "_shared"):
            (tmp_path / "course/exercises/ch07_small").mkdir(parents=True, exist_ok=True)
            (tmp_path / f"course/exercises/ch07_small/{name}.py").touch()
        (tmp_path / "course/chapters").mkdir()
        (tmp_path / "course/chapters/ch07_small.py").write_text(TEXT)

        assert ["hunt"] == quick.changed_exercises(["course/answers/ch07_small/hunt.py", "autograder/errors.py"], "")
        assert ["double", "hunt"] == quick.changed_exercises(["course/exercises/ch07_small/_shared.py"], "")
        assert ["double"] == quick.changed_exercises(["course/chapters/ch07_small.py"], "")

    def test_what_runs(self) -> None:
        """Changed notebooks by nbval, the answers and receipts of changed exercises, then test modules."""
        notebooks, answers, modules = quick.commands(["notebooks/a.ipynb"], ["linear_mse"], ["tests/test_errors.py"])

        assert "NOTEBOOKS=notebooks/a.ipynb" in notebooks
        assert "has_a_receipt or -linear_mse]" == answers[-1]  # alone, the second would be taken for an option
        assert "tests/test_errors.py" == modules[-1]
        assert [] == list(quick.commands(["README.md"], [], []))

    @pytest.mark.parametrize(
        ("files", "ran", "status"),
        [(["autograder/errors.py"], 0, 1), (["autograder/errors.py"], 3, 0), (["docs/index.md"], 0, 0), ([], 0, 0)],
    )
    def test_red_where_no_test_of_the_changes_ran(
        self, files: list[str], ran: int, status: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Green would say that somebody has looked."""
        monkeypatch.setattr(quick, "changed_files", lambda _: files)
        monkeypatch.setattr(quick, "tests_of", lambda *_, **__: ["tests/test_errors.py"] if files else [])
        monkeypatch.setattr(quick, "counted", lambda _: ran)
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: SimpleNamespace(returncode=0, stdout=""))

        assert status == quick.main()
