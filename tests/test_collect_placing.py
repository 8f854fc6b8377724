"""From a zip to the students' folders: nothing is duplicated or lost, and no newer file is overwritten."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from autograder.__main__ import main
from autograder.errors import CourseError
from autograder.lms import collection_report_text, save_collected_submission
from autograder.lms import import_submissions_zip as collecting
from autograder.lms.collection_result import CollectionResult, CollectOptions
from autograder.lms.import_submissions_zip import import_submissions
from autograder.lms.save_collected_submission import CollectedSubmission, PlacementAction, read_collection_note
from autograder.nbgrader_plugin.gradebook_scores import GradebookStudent
from autograder.nbgrader_plugin.roster_import import Roster
from tests.made_downloads import (
    CLOCK,
    brightspace_name,
    canvas_link,
    canvas_name,
    moodle_name,
    moodle_text_name,
    write_zip,
)
from tests.small_chapter import STEM, make_project

ADA = GradebookStudent("ada", "Ada", "Lovelace", "", "41")
BOB = GradebookStudent("bob", "Bob", "Ng", "", "42")
CLEO = GradebookStudent("cleo", "Cleo", "Day", "", "43")
FIRST, SECOND = b'{"cells": []}', b'{"cells": [], "metadata": {}}'
PLAIN = CollectOptions()
Files = dict[str, bytes]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """Return a course of one chapter."""
    return make_project(tmp_path / "project") / "course"


def ada(upload: int, original: str = "hw.ipynb", is_late: bool = False) -> str:
    """Return the name of Ada's file in Canvas's zip."""
    return canvas_name("Lovelace", "Ada", 41, upload, original, is_late)


def collected(
    course: Path,
    files: Files,
    wanted: CollectOptions = PLAIN,
    clock: tuple[int, ...] = CLOCK,
    columns: dict[str, dict[str, str]] | None = None,
) -> CollectionResult:
    """Collect a zip with these files in a class of three students."""
    path = write_zip(course.parent / "download.zip", files, clock)
    return import_submissions(course, STEM, path, Roster([ADA, BOB, CLEO], columns or {}), wanted)


def there(course: Path) -> Files:
    """Return the files in `submitted/` that are no notes."""
    root = course / "submitted"
    found = (path for path in root.rglob("*") if path.is_file() and not path.name.startswith("."))
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in found}


def outcomes(done: CollectionResult) -> dict[str, list[str]]:
    """Return the students by outcome."""
    return {each.value: who for each, who in done.outcomes.items() if who}


PLACE = f"ada/{STEM}/{STEM}.ipynb"


class TestFirstTime:
    """Collecting into an empty course."""

    @pytest.mark.parametrize("original", ["hw.ipynb", "Copy of ch01.ipynb", "ch01 (2).ipynb", "ch01-3.IPYNB"])
    def test_byte_for_byte_under_the_released_name(self, course: Path, original: str) -> None:
        """A notebook of any name is placed under the released name, and missing students are listed."""
        done = collected(course, {ada(5, original): FIRST, moodle_name("Ng Bob", 9, original): SECOND})

        assert {PLACE: FIRST, f"bob/{STEM}/{STEM}.ipynb": SECOND} == there(course)
        assert ({"new": ["ada", "bob"]}, ["cleo"], []) == (outcomes(done), done.missing, done.left)

    def test_data_comes_along(self, course: Path) -> None:
        """Data files are placed beside the notebook under their original names; times and essays are not."""
        sent = {ada(8, "hw-1.ipynb"): FIRST, ada(9, "data-1.csv"): b"1", ada(10, "set-2.csv"): b"2"}
        others = {ada(11, "timestamp-1.txt"): b"2000-01-01", ada(12, "essay.pdf"): b"4"}
        done = collected(course, {**sent, **others})

        beside = {f"ada/{STEM}/data.csv": b"1", f"ada/{STEM}/set-2.csv": b"2"}
        assert {PLACE: FIRST, **beside} == there(course)
        assert [(ada(12, "essay.pdf"), "ada: neither notebook nor data.")] == done.passed and not done.left

    def test_newest_attempt(self, course: Path) -> None:
        """The highest upload number counts, wherever it is in the zip, and older attempts are listed."""
        done = collected(course, {ada(8, "hw-1.ipynb"): SECOND, ada(7, "hw.ipynb"): FIRST})

        assert {PLACE: SECOND} == there(course)
        assert [(ada(7), "an older attempt; hw-1.ipynb counts.")] == done.passed and not done.left

    def test_several_files(self, course: Path) -> None:
        """Files with different names are all placed, since grading chooses."""
        collected(course, {ada(7, "a.ipynb"): FIRST, ada(8, "b.zip"): b"PK", ada(9, "c.pdf"): b"x"})

        assert {f"ada/{STEM}/a.ipynb": FIRST, f"ada/{STEM}/b.zip": b"PK"} == there(course)

    def test_released_name_is_left_to_grading(self, course: Path) -> None:
        """With several files, none gets the released name, to which grading copies the one that counts."""
        collected(course, {ada(7, f"{STEM}.ipynb"): FIRST, ada(8, "b.ipynb"): SECOND})

        assert {f"ada/{STEM}/handed-in-{STEM}.ipynb": FIRST, f"ada/{STEM}/b.ipynb": SECOND} == there(course)

    @pytest.mark.parametrize("step", ["source", "release"])
    def test_assignments_of_ones_own(self, course: Path, step: str) -> None:
        """Notebooks of a teacher's own assignment get their released names."""
        for name in ("part-1", "part-2"):
            (course / step / "hw").mkdir(parents=True, exist_ok=True)
            (course / step / "hw" / f"{name}.ipynb").write_text("{}")
        files = {ada(7, "part-1-1.ipynb"): FIRST, ada(8, "Copy of part-2.ipynb"): SECOND, ada(9, "c.ipynb"): FIRST}
        path = write_zip(course.parent / "download.zip", files)
        import_submissions(course, "hw", path, Roster([ADA], {}))

        assert {"ada/hw/part-1.ipynb": FIRST, "ada/hw/part-2.ipynb": SECOND, "ada/hw/c.ipynb": FIRST} == there(course)
        (course / step / "hw" / "part-2.ipynb").unlink()
        import_submissions(course, "hw", write_zip(path, {ada(10, "x.ipynb"): SECOND}), Roster([ADA], {}))
        assert {"ada/hw/part-1.ipynb": SECOND} == there(course)

    def test_no_notebook(self, course: Path) -> None:
        """A student who sent no notebook is listed with a reason, and is not missing."""
        done = collected(course, {ada(7, "hw.pdf"): b"x"})

        assert (["bob", "cleo"], {f"ada/{STEM}/hw.pdf": b"x"}) == (done.missing, there(course))
        assert [(ada(7, "hw.pdf"), "ada: no notebook. Ask for the .ipynb file itself.")] == done.left

    def test_a_notebook_replaces_another_kind_of_file_and_never_the_other_way(self, course: Path) -> None:
        """A file that is no notebook lies there until a notebook comes, and replaces none."""
        collected(course, {ada(7, "hw.pdf"): b"x"})
        collected(course, {ada(8): FIRST})
        assert {PLACE: FIRST} == there(course)
        collected(course, {ada(9, "hw.pdf"): b"x"})
        assert {PLACE: FIRST} == there(course)

    def test_text_and_links(self, course: Path) -> None:
        """What was entered in place of a file is named with its link, whose signs cannot reach the terminal."""
        sent = {
            "lovelaceada_41_link.html": canvas_link("https://colab.example.org/ada?a=1&amp;b=\x1b]0;x"),
            "ngbob_LATE_42_text.html": b"<p>I have no file.</p>",
            moodle_text_name("Cleo Day", 9): b'<p>See <a href="https://x.example.org/nb">this</a></p>',
        }
        done = collected(course, sent)

        advice = "Ask for the .ipynb file itself."
        assert [
            f"ada: a link in place of a file: https://colab.example.org/ada?a=1&b=\ufffd]0;x. {advice}",
            f"bob: text in place of a file. {advice}",
            f"cleo: a link in place of a file: https://x.example.org/nb. {advice}",
        ] == [reason for _, reason in done.left]
        assert [] == done.missing

    def test_group(self, course: Path) -> None:
        """One file is placed for each member of the group, and the line names them."""
        columns = {"ada": {"Groups": "Team 1"}, "bob": {"Groups": "Team 1"}}
        done = collected(course, {"team1_LATE_42_7_hw.ipynb": FIRST, "team1_LATE_42_8_data.csv": b"1"}, columns=columns)

        assert {f"{who}/{STEM}/{name}" for who in ("ada", "bob") for name in (f"{STEM}.ipynb", "data.csv")} == set(
            there(course)
        )
        assert (["ada", "bob"], ["cleo"], []) == (done.late, done.missing, done.left)
        assert "the group Team 1: one submission for ada, bob" in list(
            collection_report_text.collection_report_lines(done, STEM, False)
        )

    def test_number_of_another(self, course: Path) -> None:
        """A file whose number and name are those of two students has a line."""
        done = collected(course, {canvas_name("Ng", "Bob", 41, 7): FIRST})

        assert {PLACE: FIRST} == there(course)
        (line,) = [
            line
            for line in collection_report_text.collection_report_lines(done, STEM, False)
            if line.startswith("look at: ngbob_41_7_")
        ]
        assert "the number is that of ada, so it counts for ada; the name is that of bob." in line

    def test_brightspace(self, course: Path) -> None:
        """The newest attempt counts by the time in its name, and the system's own list of files is nobody's."""
        sent = {
            brightspace_name("Ada Lovelace", 7, time="1205 PM"): SECOND,
            brightspace_name("Ada Lovelace", 7, time="1155 AM"): FIRST,
            brightspace_name("Bob Ng", 8, tie=" - "): FIRST,
            "index.html": b"<html>",
        }
        done = collected(course, sent, CollectOptions(with_times=True, zone=ZoneInfo("America/Toronto")))

        assert SECOND == there(course)[PLACE] and FIRST == there(course)[f"bob/{STEM}/{STEM}.ipynb"]
        assert ([], ["cleo"]) == (done.left, done.missing)
        assert b"2026-11-20 17:05:00 UTC\n" == there(course)[f"ada/{STEM}/timestamp.txt"]

    def test_dry_run(self, course: Path) -> None:
        """A dry run reports the same and changes nothing."""
        files = {ada(7, is_late=True): FIRST, "x.ipynb": b""}
        before = sorted(course.rglob("*"))
        dry = collected(course, files, CollectOptions(is_dry=True))

        assert before == sorted(course.rglob("*"))
        assert dry == collected(course, files) and dry.outcomes[PlacementAction.NEW] == ["ada"]

    def test_times_and_zones(self, course: Path) -> None:
        """With times and a zone, nbgrader's timestamp file has the time in UTC."""
        collected(course, {ada(7): FIRST}, CollectOptions(with_times=True, zone=ZoneInfo("Europe/Berlin")))

        assert f"{datetime(2026, 11, 20, 21, 15, 30)} UTC\n" == (
            course / "submitted" / "ada" / STEM / "timestamp.txt"
        ).read_text(encoding="utf-8")

    def test_late(self, course: Path) -> None:
        """Canvas's mark of lateness is reported and noted, without a timestamp file."""
        done = collected(course, {ada(7, is_late=True): FIRST})
        note = read_collection_note(course / "submitted" / "ada" / STEM)

        assert ["ada"] == done.late and note is not None and note.is_late
        assert {PLACE: FIRST} == there(course)


class TestAgain:
    """Collecting into a course with earlier submissions."""

    def test_same(self, course: Path) -> None:
        """The same file again is not written."""
        collected(course, {ada(7): FIRST})
        file = course / "submitted" / PLACE
        os.utime(file, (1, 1))
        done = collected(course, {ada(7): FIRST})

        assert ({"as it was": ["ada"]}, 1.0) == (outcomes(done), file.stat().st_mtime)

    def test_newer_replaces_and_older_does_not(self, course: Path) -> None:
        """A newer attempt replaces an older one, and an older one does not replace a newer."""
        collected(course, {ada(7): FIRST}, CollectOptions(with_times=True))
        newer = collected(course, {ada(9): SECOND})
        left = {PLACE: SECOND, f"ada/{STEM}/timestamp.txt": b""}  # empty, or nbgrader would keep the older time
        assert (left, {"a newer attempt": ["ada"]}) == (there(course), outcomes(newer))

        older = collected(course, {ada(7): FIRST})
        assert (left, {"older than what is there": ["ada"]}) == (there(course), outcomes(older))

    def test_moodle_by_time(self, course: Path) -> None:
        """In Moodle the later download is newer; another file of the same time is left to the teacher."""
        later, earlier = (2026, 11, 21, 0, 0, 0), (2026, 11, 19, 0, 0, 0)
        name = moodle_name("Ada Lovelace", 101)
        collected(course, {name: FIRST})

        assert {"older than what is there": ["ada"]} == outcomes(collected(course, {name: SECOND}, clock=earlier))
        assert {"left for you": ["ada"]} == outcomes(collected(course, {name: SECOND}))
        assert {"a newer attempt": ["ada"]} == outcomes(collected(course, {name: SECOND}, clock=later))
        assert {"as it was": ["ada"]} == outcomes(collected(course, {name: SECOND}))

    def test_fewer_files(self, course: Path) -> None:
        """A newer attempt removes all files of the older one."""
        collected(course, {ada(7, "a.ipynb"): FIRST, ada(8, "b.zip"): b"PK"})
        collected(course, {ada(9): SECOND})

        assert {PLACE: SECOND} == there(course)

    def test_taken_away(self, course: Path) -> None:
        """A removed file is placed again."""
        collected(course, {ada(7): FIRST})
        (course / "submitted" / PLACE).unlink()

        assert {"new": ["ada"]} == outcomes(collected(course, {ada(7): FIRST}))
        assert {PLACE: FIRST} == there(course)

    def test_a_time_that_was_written_by_hand(self, course: Path) -> None:
        """A timestamp written by hand stays until a newer attempt arrives."""
        time = course / "submitted" / "ada" / STEM / "timestamp.txt"
        time.parent.mkdir(parents=True)
        time.write_bytes(b"2026-11-20 23:10:00 UTC")
        collected(course, {ada(7): FIRST})
        (course / "submitted" / PLACE).unlink()
        collected(course, {ada(7): FIRST})
        assert time.read_bytes() == b"2026-11-20 23:10:00 UTC"

        collected(course, {ada(8): SECOND})
        assert time.read_bytes() == b""

    def test_earlier_ones_are_not_missing(self, course: Path) -> None:
        """A student from an earlier zip is listed as earlier, and not as missing."""
        collected(course, {ada(7): FIRST})
        done = collected(course, {canvas_name("Ng", "Bob", 42, 8): FIRST})

        assert (["ada"], ["cleo"]) == (done.earlier, done.missing)

    def test_changed_by_hand(self, course: Path) -> None:
        """A file changed by the teacher stays, and a newer attempt is left with a reason."""
        collected(course, {ada(7): FIRST})
        (course / "submitted" / PLACE).write_bytes(b"repaired")

        assert {"as it was": ["ada"]} == outcomes(collected(course, {ada(7): FIRST}))
        done = collected(course, {ada(9): SECOND})
        assert ({"left for you": ["ada"]}, {PLACE: b"repaired"}) == (outcomes(done), there(course))
        assert "was changed since it was collected. Move it away" in done.left[0][1]

    def test_put_there_by_hand(self, course: Path) -> None:
        """A file that was not collected is kept; the same bytes count as unchanged."""
        folder = course / "submitted" / "ada" / STEM
        folder.mkdir(parents=True)
        (folder / f"{STEM}.ipynb").write_bytes(FIRST)

        assert {"left for you": ["ada"]} == outcomes(collected(course, {ada(9): SECOND}))
        assert {"as it was": ["ada"]} == outcomes(collected(course, {ada(9): FIRST}))
        assert {"a newer attempt": ["ada"]} == outcomes(collected(course, {ada(10): SECOND}))

    def test_links_are_not_followed(self, course: Path, tmp_path: Path) -> None:
        """A student's folder that is a link is left with a reason."""
        (tmp_path / "elsewhere").mkdir()
        (course / "submitted").mkdir()
        (course / "submitted" / "ada").symlink_to(tmp_path / "elsewhere")
        done = collected(course, {ada(7): FIRST})

        assert "is a link" in done.left[0][1] and [] == list((tmp_path / "elsewhere").iterdir())

    @pytest.mark.parametrize("note", ["", "[]", "{}", '{"files": {"../../x": ""}}', "[" * 9999])
    def test_notes_of_others(self, course: Path, note: str) -> None:
        """An invalid note file does not make collecting remove anything."""
        folder = course / "submitted" / "ada" / STEM
        folder.mkdir(parents=True)
        (folder / ".collected.json").write_text(note, encoding="utf-8")

        assert {"left for you": ["ada"]} == outcomes(collected(course, {ada(7): FIRST}))


def refused(course: Path, files: Files, stem: str = STEM, roster: tuple[GradebookStudent, ...] = (ADA,)) -> str:
    """Return the error of a collection that changes nothing."""
    before = sorted(course.rglob("*"))
    with pytest.raises(CourseError) as told_:
        import_submissions(course, stem, write_zip(course.parent / "z.zip", files), Roster(list(roster), {}))
    assert before == sorted(course.rglob("*")) and "\n" not in str(told_.value)
    return str(told_.value)


class TestRefusals:
    """Collections that fail with one line and change nothing."""

    def test_what_is_wrong(self, course: Path) -> None:
        """An empty zip, an unknown chapter, an empty roster or a path outside the folder raises an error."""
        assert "holds no file" in refused(course, {})
        assert f"found no 'ch99'. There are: {STEM}." in refused(course, {ada(7): FIRST}, "ch99")
        assert "Run `autograder roster" in refused(course, {ada(7): FIRST}, roster=())
        assert "leads out of" in refused(course, {ada(7): FIRST, "../x": b""})

    def test_no_room(self, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Too little disk space raises an error before anything is written."""
        monkeypatch.setattr(collecting, "_SPARE", 2**60)

        assert "Make room" in refused(course, {ada(7): FIRST})

    def test_too_large_costs_one(self, course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """A file that is too large is left with a reason, and the others are placed."""
        monkeypatch.setattr("autograder.lms.untrusted_zip.MAX_BYTES_WITH_OUTPUTS", 100)
        done = collected(course, {ada(7): bytes(101), canvas_name("Ng", "Bob", 42, 8): FIRST})

        assert {"new": ["bob"], "left for you": ["ada"]} == outcomes(done)
        assert "ada: expected at most" in done.left[0][1]


class TestCommand:
    """The command `collect`."""

    def test_lines(self, course: Path) -> None:
        """The report lists what was done, late and missing students, and left files without control characters."""
        done = collected(course, {ada(7, is_late=True): FIRST, "\x1b[2Jx\ny.ipynb": b""})
        lines = list(collection_report_text.collection_report_lines(done, STEM, is_dry=False))

        assert lines[:3] == ["2 files in the zip; students: 1 new", "LATE (1): ada", "missing (2): bob, cleo"]
        assert any(line.startswith("left: \N{REPLACEMENT CHARACTER}[2Jx") for line in lines)
        assert f"`autograder grade {STEM}` grades what has changed." == lines[-1]
        assert (
            "Nothing was changed" in list(collection_report_text.collection_report_lines(done, STEM, is_dry=True))[-1]
        )

    def test_without_a_gradebook(
        self, course: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Without a gradebook the command fails, and creates none."""
        monkeypatch.chdir(course)
        path = write_zip(course.parent / "z.zip", {ada(7): FIRST})
        status = main(["collect", str(path), STEM, "--dry-run"])

        assert (1, False) == (status, (course / "gradebook.db").exists())
        assert "found none. Run `autograder roster students.csv` first" in capsys.readouterr().err

    def test_zones(self, capsys: pytest.CaptureFixture[str]) -> None:
        """An invalid time zone is refused."""
        with pytest.raises(SystemExit):
            main(["collect", "z.zip", STEM, "--zone", "Nowhere/At_All"])
        assert "expected a time zone such as Europe/Berlin, found 'Nowhere/At_All'" in capsys.readouterr().err


@given(st.lists(st.tuples(st.integers(1, 5), st.booleans()), max_size=8))
def test_the_newest_stays(attempts: list[tuple[int, bool]]) -> None:
    """After any sequence of attempts, the newest one is there."""
    with TemporaryDirectory() as place_:
        folder = Path(place_) / "ada" / STEM
        for order, is_packed in attempts:
            name = "hw.zip" if is_packed else f"{STEM}.ipynb"
            attempt = CollectedSubmission("Canvas", 2 * order + is_packed, {name: f"{order}".encode()})
            outcome, _ = save_collected_submission.decide_placement(folder, attempt)
            if outcome in (PlacementAction.NEW, PlacementAction.NEWER):
                save_collected_submission.write_collected_submission(folder, STEM, attempt, {})
            assert outcome is not PlacementAction.LEFT
        newest, is_packed = max(attempts, default=(0, False))
        name = "hw.zip" if is_packed else f"{STEM}.ipynb"
        found = {path.name: path.read_bytes() for path in folder.glob("*") if not path.name.startswith(".")}

        assert found == ({name: f"{newest}".encode()} if attempts else {})


def test_stopped_in_between(course: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the note could not be written, the next run recognizes the placed files."""
    stopped: Callable[..., None] = lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)  # noqa: E731
    with monkeypatch.context() as patch:
        patch.setattr("autograder.lms.save_collected_submission._write_note", stopped)
        with pytest.raises(KeyboardInterrupt):
            collected(course, {ada(7): FIRST})

    assert {"as it was": ["ada"]} == outcomes(collected(course, {ada(7): FIRST}))
    with monkeypatch.context() as patch:
        patch.setattr("autograder.lms.save_collected_submission._write_note", stopped)
        with pytest.raises(KeyboardInterrupt):
            collected(course, {ada(8): SECOND})
    assert {"a newer attempt": ["ada"]} == outcomes(collected(course, {ada(8): SECOND}))
    assert {"as it was": ["ada"]} == outcomes(collected(course, {ada(8): SECOND}))
