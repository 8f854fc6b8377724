"""Progress: the log that checks write beside the notebook, and `progress`; errors never stop a check."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autograder import check, progress
from autograder.course import points_and_hints
from autograder.course.points_and_hints import ExercisePoints, IndexedChapter
from autograder.diagnosis.verdict import Report, Status, Verdict
from autograder.errors import CheckFailed, DamagedData, UnknownExercise
from autograder.notebook import progress_log, progress_overview
from autograder.notebook.append_only_file import read_lines
from autograder.notebook.progress_log import PROGRESS_FILE, PROGRESS_LOG, LoggedCheck, ProgressLog
from autograder.notebook.progress_overview import ChapterProgress, ExerciseProgress
from tests.our_course import COURSE
from tests.test_checking import flatten_images, stub
from tests.test_loop_picture import Reader

FULL = Path("/dev/full")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder in which a new kernel started."""
    shell = SimpleNamespace(kernel=object(), starting_dir=str(tmp_path))
    monkeypatch.setattr(progress_log, "get_ipython", lambda: shell)
    monkeypatch.setattr(PROGRESS_LOG, "_own", {})
    monkeypatch.setattr(PROGRESS_LOG, "_complained", False)
    return tmp_path


def report(exercise: str, passed: int, of: int, rest: Status = Status.FAIL) -> Report:
    """Return a report on an exercise."""
    return Report(exercise, tuple(Verdict(str(n), Status.PASS if n < passed else rest) for n in range(of)))


def line(name: str) -> list[str]:
    """Return the row of `progress` for an exercise of chapter 1, as words."""
    (found,) = [row for row in str(progress(1)).splitlines() if f" {name} " in row]
    return found.split(maxsplit=2)


class TestFile:
    def test_last_check_counts(self, folder: Path) -> None:
        """The last check counts, better or worse."""
        book = ProgressLog()
        for passed in (2, 4, 3):
            assert book.note(report("standardize", passed, 4)) == ""

        assert book.read() == ({"standardize": LoggedCheck(3, 4)}, "")
        assert os.listdir(folder) == [PROGRESS_FILE]

    def test_next_kernel_knows_it(self, folder: Path) -> None:
        """Another logbook reads the same file."""
        ProgressLog().note(report("standardize", 4, 4))

        assert ProgressLog().read() == ({"standardize": LoggedCheck(4, 4)}, "")

    def test_untouched_starter_is_no_check(self, folder: Path) -> None:
        """A check of an untouched starter is not logged, so that Run All on a fresh copy forgets nothing."""
        book = ProgressLog()
        book.note(report("standardize", 4, 4))
        book.note(report("standardize", 0, 4, Status.NOT_ATTEMPTED))

        assert book.read()[0] == {"standardize": LoggedCheck(4, 4)}

    def test_answers_are_not_kept(self, folder: Path) -> None:
        """The log has only the exercise's name and two numbers."""
        ProgressLog().note(report("standardize", 3, 4))

        assert (folder / PROGRESS_FILE).read_text() == '\n{"exercise": "standardize", "passed": 3, "of": 4}'

    def test_of_what_passed_a_digest_is_kept(self, folder: Path) -> None:
        """A passed answer's digest is logged, so that a later chapter recognizes the answer."""
        book = ProgressLog()
        book.note(report("standardize", 4, 4), "0123abcd")

        assert (folder / PROGRESS_FILE).read_text().endswith('"passed": 4, "of": 4, "answer": "0123abcd"}')
        assert book.read()[0] == {"standardize": LoggedCheck(4, 4, "0123abcd")}

    @pytest.mark.parametrize("shell", [None, SimpleNamespace(starting_dir=".")], ids=["no IPython", "no kernel"])
    def test_outside_notebooks_nothing_is_kept(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, shell: object
    ) -> None:
        """Outside a notebook nothing is written."""
        monkeypatch.setattr(progress_log, "get_ipython", lambda: shell)
        monkeypatch.chdir(folder)

        assert ProgressLog().note(report("standardize", 4, 4)) == "" and os.listdir(folder) == []

    @pytest.mark.parametrize(
        ("variable", "value"), [("NBGRADER_EXECUTION", "autograde"), (progress_log.PROGRESS_VARIABLE, "off")]
    )
    def test_grading_and_our_own_runs_keep_nothing(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str
    ) -> None:
        """While grading, or with progress off, nothing is written."""
        monkeypatch.setenv(variable, value)

        assert ProgressLog().note(report("standardize", 4, 4)) == "" and os.listdir(folder) == []

    def test_two_notebooks_at_once(self, folder: Path) -> None:
        """Two processes that write at the same time lose no line."""
        program = (
            "import sys; from pathlib import Path\n"
            "from autograder.notebook.progress_log import LoggedCheck, _append, PROGRESS_FILE\n"
            "for n in range(2000): _append(Path(PROGRESS_FILE), f'{sys.argv[1]}{n}', LoggedCheck(1, 2))"
        )
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        runs = [subprocess.Popen([sys.executable, "-c", program, name], cwd=folder, env=environment) for name in "ab"]

        assert [run.wait(60) for run in runs] == [0, 0]
        assert len(ProgressLog().read()[0]) == 4000 and ProgressLog().read()[1] == ""


class TestTrouble:
    def test_lost_file_starts_anew(self, folder: Path) -> None:
        """Without a file there is no progress, and no message."""
        book = ProgressLog()
        book.note(report("standardize", 4, 4))
        (folder / PROGRESS_FILE).unlink()

        assert book.read() == ({}, "")

    @settings(deadline=None, max_examples=60)
    @given(rubbish=st.binary(min_size=1, max_size=200))
    def test_broken_file_starts_anew_with_a_word(
        self, rubbish: bytes, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        """After any bytes, later entries are still read."""
        path = tmp_path_factory.mktemp("broken") / PROGRESS_FILE
        path.write_bytes(rubbish)
        progress_log._append(path, "standardize", LoggedCheck(3, 4))
        entries = [progress_log._entry(text) for text in read_lines(path, 2**20)]

        assert entries[-1] == ("standardize", LoggedCheck(3, 4))
        assert entries[:-1] == [None] * (len(entries) - 1)

    @pytest.mark.parametrize(
        "text",
        [
            '{"exercise": "standardize", "passed": 4, "of": 4}'[:-9],
            '{"exercise": "standardize", "passed": 5, "of": 4}',
            '{"exercise": "standardize", "passed": 0, "of": 0}',
            '{"exercise": ["standardize"], "passed": 1, "of": 4}',
            '{"exercise": "standardize", "passed": true, "of": 4}',
            "[" * 100_000,
            "\x00\xff",
        ],
        ids=range(7),
    )
    def test_line_that_makes_no_sense_is_told(self, folder: Path, text: str) -> None:
        """An invalid line is ignored with a message, and others count."""
        (folder / PROGRESS_FILE).write_text(text)
        book = ProgressLog()
        book.note(report("tile_batch", 1, 2))

        assert book.read() == (
            {"tile_batch": LoggedCheck(1, 2)},
            f"1 line of {PROGRESS_FILE} cannot be read: run those checks again.",
        )

    def test_file_without_end_is_read_at_its_end(self, folder: Path) -> None:
        """Only the end of a very long file is read."""
        (folder / PROGRESS_FILE).write_bytes(b"\n" * 3_000_000)
        book = ProgressLog()
        book.note(report("standardize", 4, 4))

        assert book.read() == ({"standardize": LoggedCheck(4, 4)}, "")

    def _make_trouble(self, folder: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
        if kind == "a folder":
            (folder / PROGRESS_FILE).mkdir()
        elif kind == "a pipe":
            os.mkfifo(folder / PROGRESS_FILE)
        elif kind == "a link":
            (folder / PROGRESS_FILE).symlink_to(folder / "elsewhere")
        elif kind == "no folder":
            folder.rmdir()
        elif kind == "read-only":  # simulated, because root may write everywhere
            monkeypatch.setattr(progress_log.os, "open", self._refuse)
        elif kind == "a full disk":
            monkeypatch.setattr(progress_log.os, "write", lambda _file, data: len(data) - 5)

    @staticmethod
    def _refuse(path: object, *_: object, **__: object) -> int:
        raise PermissionError(13, "Permission denied", str(path))

    @pytest.mark.parametrize("kind", ["a folder", "a pipe", "a link", "no folder", "read-only", "a full disk"])
    def test_check_goes_on_and_progress_knows_it(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
    ) -> None:
        """If the file cannot be written, a message appears once, and the kernel remembers its checks."""
        self._make_trouble(folder, kind, monkeypatch)
        check("flatten_images", flatten_images)
        first = capsys.readouterr().out
        check("flatten_images", flatten_images)
        second = capsys.readouterr().out

        assert "all" in first and first.count("This check counts") == 1 and "This check counts" not in second
        assert line("flatten_images")[2].startswith("passed")

    @pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
    def test_disk_that_is_full_is_told(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """The message contains the system's reason."""
        monkeypatch.setattr(progress_log, "PROGRESS_FILE", str(FULL))

        assert "no space left on device" in ProgressLog().note(report("standardize", 4, 4))


class TestCheck:
    def test_check_is_remembered(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """A passed check is shown with its points."""
        before = line("flatten_images")
        check("flatten_images", flatten_images)
        most = worth("flatten_images")

        assert (before[0], before[2].split()) == ("○", ["open", "0", "of", str(most)])
        assert (line("flatten_images")[0], line("flatten_images")[2].split()) == (
            "✓",
            ["passed", *f"{most} of {most}".split()],
        )

    def test_check_that_is_not_passed_counts_by_its_share(self, folder: Path) -> None:
        """A partly passed check earns its share, rounded down, as in grading."""
        check("flatten_images", lambda x: x)
        PROGRESS_LOG.note(report("flatten_images", 2, 3))
        mark, _, rest = line("flatten_images")

        assert mark == "✗" and rest.startswith("2 of 3 checks")
        assert rest.endswith(f"{int(worth('flatten_images') * 200 / 3) / 100:g} of {worth('flatten_images')}")

    def test_nbgraders_own_runs_still_raise(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Under nbgrader a failed check raises, and nothing is written."""
        monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
        with pytest.raises(CheckFailed):
            check("flatten_images", stub)

        assert os.listdir(folder) == []


def worth(name: str) -> int:
    """Return an exercise's points in chapter 1."""
    return COURSE.listed[0].exercises[name].points


def shown(*exercises: ExerciseProgress) -> progress_overview.Progress:
    """Return the progress in a made chapter."""
    return progress_overview.Progress((ChapterProgress("Chapter 9: Made", exercises),))


MADE = (
    ExerciseProgress("first", ExercisePoints(3, 0), LoggedCheck(4, 4)),
    ExerciseProgress("second", ExercisePoints(2, 0), LoggedCheck(1, 3)),
    ExerciseProgress("third", ExercisePoints(4, 0), None),
    ExerciseProgress("more", ExercisePoints(0, 2), LoggedCheck(2, 2)),
)


class TestTable:
    def test_text(self) -> None:
        """The text has marks, words and points, with the sum on top."""
        assert str(shown(*MADE)).splitlines() == [
            "Chapter 9: Made: 3.66 of 9 points, and 2 of 2 extra",
            "  exercise  last check     points",
            "  ✓ first   passed         3 of 3",
            "  ✗ second  1 of 3 checks  0.66 of 2",
            "  ○ third   open           0 of 4",
            "  ✓ more    passed         2 of 2 extra",
            "From your last check of each exercise. Grading runs the same checks on other numbers.",
        ]

    def test_html_says_the_same(self) -> None:
        """The HTML table has the same cells, with headers and a caption."""
        html = shown(*MADE)._repr_html_()

        assert Reader(html).rows == [
            ["exercise", "last check", "points"],
            ["✓ first", "passed", "3 of 3"],
            ["✗ second", "1 of 3 checks", "0.66 of 2"],
            ["○ third", "open", "0 of 4"],
            ["✓ more", "passed", "2 of 2 extra"],
        ]
        assert html.count('scope="row"') == 4 and html.count('scope="col"') == 3 and "<caption" in html

    def test_what_stands_in_a_name_is_escaped(self) -> None:
        """Markup in a name is escaped."""
        assert "<script" not in shown(ExerciseProgress("<script>", ExercisePoints(1, 0), None))._repr_html_()

    def test_all_chapters(self, folder: Path) -> None:
        """Without a chapter, there is a line for each, with the sum of its points."""
        PROGRESS_LOG.note(report("flatten_images", 2, 2))
        rows = Reader(progress()._repr_html_()).rows
        first = COURSE.listed[0]

        assert [row[0] for row in rows[1:]] == [chapter.title for chapter in COURSE.listed]
        assert rows[1][1] == f"1 of {len(first.exercises)}"
        assert rows[1][2] == f"{worth('flatten_images')} of {sum(each.points for each in first.exercises.values())}"

    def test_chapters_without_a_number_are_not_one(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Sittings with one number are shown as one chapter; chapters without a number, a line each."""
        made = [
            IndexedChapter(stem, stem.title(), {name: ExercisePoints(1, 0)})
            for stem, name in (("ch01a_one", "first"), ("ch01b_two", "second"), ("own", "third"), ("mine", "fourth"))
        ]
        monkeypatch.setattr(progress_overview, "current_course", lambda: SimpleNamespace(listed=made))

        assert [["first", "second"]] == [[one.name for one in each.exercises] for each in progress(1).chapters]
        assert ["Own", "Mine"] == [each.title for each in progress(0).chapters]

    @pytest.mark.parametrize("wrong", [0, 7, "ch04", 4.5])
    def test_chapter_that_is_not_there(self, wrong: object) -> None:
        """An unknown chapter raises an error that lists the chapters."""
        with pytest.raises(UnknownExercise, match=r"one of 1, 2, 3, 4, 5, 6"):
            progress(wrong)  # type: ignore[arg-type]


class TestPoints:
    def test_points_survive_the_file(self, tmp_path: Path) -> None:
        """The file of points is read back as written."""
        made = (
            IndexedChapter(
                "ch07_made", "Chapter 7: Made", {"double": ExercisePoints(2, 0), "hunt": ExercisePoints(0, 1)}
            ),
        )
        (tmp_path / "points.json").write_bytes(points_and_hints.encode_index(list(made)))

        assert points_and_hints.read_index(tmp_path / "points.json") == made and made[0].number == 7

    def test_shipped_points_are_the_chapters(self) -> None:
        """The shipped file lists every exercise of every chapter."""
        assert [chapter.stem for chapter in COURSE.listed] == COURSE.stems
        for chapter in COURSE.listed:
            assert sorted(chapter.exercises) == sorted(exercise.name for exercise in COURSE.exercises(chapter.stem))
            assert all((worth.points == 0) != (worth.extra == 0) for worth in chapter.exercises.values())

    @pytest.mark.parametrize("data", [b"", b"[1]", b'{"ch01_x": {"title": "a"}}'])
    def test_damaged_list_is_one_line(self, tmp_path: Path, data: bytes) -> None:
        """A damaged file raises an error that says what to do."""
        (tmp_path / "points.json").write_bytes(data)
        with pytest.raises(DamagedData, match="install the course again"):
            points_and_hints.read_index(tmp_path / "points.json")


class TestNext:
    """The message when an exercise passes for the first time."""

    @pytest.fixture
    def names(self, folder: Path) -> list[str]:
        """Return the exercises of chapter 1 in order, none of them checked."""
        return list(COURSE.listed[0].exercises)

    def passes(self, *names: str) -> str:
        """Log passed checks, and return the message of the last one."""
        told = ""
        for name in names:
            before, _ = PROGRESS_LOG.read()
            PROGRESS_LOG.note(report(name, 4, 4))
            told = progress_overview.next_exercise_message(name, before)
        return told

    def test_the_next_one_with_points(self, names: list[str]) -> None:
        """The message names the next open exercise with points, and after the last one an earlier one."""
        assert f"1 of {len(names)} exercises of this notebook passed. Next: {names[1]}, " in self.passes(names[0])
        with_points = [name for name, worth in COURSE.listed[0].exercises.items() if worth.points]
        assert f"Next: {names[1]}, " in self.passes(with_points[-1])

    def test_once(self, names: list[str]) -> None:
        """The message appears only at the first pass."""
        assert "Next" in self.passes(names[0]) and "" == self.passes(names[0])

    @pytest.mark.usefixtures("names")
    def test_all_points_and_what_is_left(self) -> None:
        """When all points are earned, the message names the extra credit that is left and the next chapter."""
        place = next(n for n, each in enumerate(COURSE.listed) if {0} < {one.extra for one in each.exercises.values()})
        chapter = COURSE.listed[place]
        with_points = [name for name, worth in chapter.exercises.items() if worth.points]
        left = [name for name in chapter.exercises if name not in with_points]
        told = self.passes(*with_points)
        most = sum(worth.points for worth in chapter.exercises.values())
        done = f"You have all {most} points for the exercises of {chapter.title}."
        assert f"{done} Left for extra credit: {', '.join(left)}." in told
        assert told.endswith(f"Read on to the end of the notebook; then comes {COURSE.listed[place + 1].title}.")
        assert "points for" in (told := self.passes(*left)) and "Left for extra credit" not in told
        assert "then comes" not in self.passes(*COURSE.listed[-1].exercises)

    @pytest.mark.usefixtures("names")
    def test_an_excursion_is_not_what_comes_next(self) -> None:
        """After the sitting before an excursion comes the one behind it."""
        place = next(n for n, each in enumerate(COURSE.listed) if each.is_excursion)
        told = self.passes(*COURSE.listed[place - 1].exercises)

        assert f"then comes {COURSE.listed[place + 1].title}" in told

    def test_where_no_reader_works_nothing_is_said(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Outside a notebook there is no message."""
        monkeypatch.setattr(PROGRESS_LOG, "_own", {})

        assert "" == progress_overview.next_exercise_message("standardize", {})

    def test_check_says_it(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        """`check` prints the message after a pass, and not after a fail."""
        check("flatten_images", lambda x: x)
        assert "Next" not in capsys.readouterr().out
        check("flatten_images", flatten_images)
        assert "exercises of this notebook passed. Next: " in capsys.readouterr().out

    def test_check_says_it_in_lines_that_are_not_broken(
        self, folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The message is wrapped between words, because JupyterLab breaks long lines anywhere."""
        monkeypatch.setattr(
            "autograder.notebook.check_and_hint.next_exercise_message", lambda *_: "all that is left " * 20
        )
        check("flatten_images", flatten_images)

        assert "all that is left all that" in (told := capsys.readouterr().out)
        assert all(len(line) <= 88 for line in told.splitlines())


def test_a_bar_shows_the_share(folder: Path) -> None:
    """The HTML has a bar with the share of the points."""
    PROGRESS_LOG.note(report(next(iter(COURSE.listed[0].exercises)), 4, 4))

    assert 1 == progress(1)._repr_html_().count("width:8em") and len(COURSE.listed) == progress()._repr_html_().count(
        "8em"
    )
    assert "width:0.0%" in progress()._repr_html_() and "width:0.0%" not in progress(1)._repr_html_()
