"""Due dates, extensions and what lateness costs: the file, the command, the arithmetic, and nbgrader's gradebook."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbgrader.api import Gradebook

from autograder.__main__ import main
from autograder.errors import WorkFailed
from autograder.nbgrader_plugin import deadlines
from autograder.nbgrader_plugin.deadlines import SETTINGS, Deadlines, Lateness, as_nbgrader, to_datetime
from autograder.nbgrader_plugin.due_dates import set_dates, set_time

BERLIN = timezone(timedelta(hours=1))
EVENING = datetime(2026, 11, 30, 18, tzinfo=BERLIN)


def written(course: Path, text: str) -> Deadlines:
    """What a file with this text says."""
    (course / SETTINGS).write_text(text)
    return deadlines.read_deadlines(course)


class TestMoments:
    """Points in time as teachers write them."""

    @pytest.mark.parametrize(
        ("text", "when"),
        [
            ("2026-11-30 18:00+01:00", EVENING),
            ("2026-11-30T17:00:00Z", EVENING),
            ("+2 days", EVENING + timedelta(days=2)),
            ("+36h", EVENING + timedelta(hours=36)),
            ("+ 1 day", EVENING + timedelta(days=1)),
        ],
    )
    def test_forms(self, text: str, when: datetime) -> None:
        """A zone, or a time after another one."""
        assert when == to_datetime(text, EVENING)

    def test_a_day_ends_at_midnight_here(self) -> None:
        """Whoever hands in at 23:59 of that day is in time."""
        assert to_datetime("2026-11-30") == datetime(2026, 12, 1).astimezone()
        assert to_datetime("2026-11-30 18:00") == datetime(2026, 11, 30, 18).astimezone()

    @pytest.mark.parametrize("wrong", ["soon", "30.11.2026", "2026-13-01", "+2", 7, None, "", "18:00"])
    def test_what_is_none(self, wrong: object) -> None:
        """Nothing is guessed."""
        with pytest.raises(ValueError, match=r"\w"):
            to_datetime(wrong, EVENING)

    @given(
        st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),
        st.integers(-12, 14),
        st.integers(-12, 14),
    )
    def test_zones_change_no_moment(self, when: datetime, one: int, other: int) -> None:
        """Told in any zone, it is the same for nbgrader."""
        first = when.replace(tzinfo=timezone(timedelta(hours=one)))
        second = first.astimezone(timezone(timedelta(hours=other)))

        assert as_nbgrader(first) == as_nbgrader(second) == first.astimezone(UTC).replace(tzinfo=None)
        assert to_datetime(first.isoformat()) == second


class TestPenalty:
    """What lateness costs."""

    @pytest.mark.parametrize(
        ("hours", "points"), [(0, 0), (0.9, 0), (1, 0), (1.1, 2), (23.9, 2), (24, 2), (24.1, 4), (49, 6)]
    )
    def test_days_that_have_begun(self, hours: float, points: float) -> None:
        """After the hours of grace, from the due date on."""
        assert points == Lateness(2, 1).penalty(hours * 3600)

    @given(st.floats(0, 1e7), st.floats(0, 1e7), st.floats(0, 100), st.floats(0, 100))
    def test_later_is_never_cheaper(self, one: float, other: float, points: float, grace: float) -> None:
        """And an extension never dearer."""
        rule = Lateness(points, grace)

        assert 0 <= rule.penalty(min(one, other)) <= rule.penalty(max(one, other))

    def test_no_rule_costs_nothing(self) -> None:
        """Grace alone takes nothing off."""
        assert 0 == Lateness(grace_hours=2).penalty(1e6)


class TestFile:
    """`teacher.toml`."""

    def test_no_file_decides_nothing(self, tmp_path: Path) -> None:
        """nbgrader's own settings hold."""
        assert Deadlines() == deadlines.read_deadlines(tmp_path)

    def test_all_of_it(self, tmp_path: Path) -> None:
        """TOML's own dates are read as well."""
        found = written(
            tmp_path,
            '[due]\nweek = "2026-11-30 18:00+01:00"\n[extended.week]\nada = 2026-12-02T18:00:00+01:00\n'
            "[late]\npoints_per_day = 2\n",
        )

        assert EVENING == found.due["week"] and Lateness(2, 0) == found.late
        assert timedelta(days=2) == found.extension("week", "ada")
        assert found.extension("week", "bob") is None is found.extension("other", "ada")

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("[due", "cannot be read"),
            ("[dew]\n", "there is no setting 'dew'. Did you mean due?"),
            ('[due]\nweek = "soon"\n', "for week, found 'soon'. Correct it."),
            ("due = 3\n", r"expected a table \[due\], found 3"),
            ("[late]\npoints = 2\n", "there is no setting 'points'. Did you mean points_per_day?"),
            ("[late]\npoints_per_day = -2\n", "expected a number from 0 on for points_per_day, found -2"),
            ("[late]\npoints_per_day = true\n", "found True"),
            ("[late]\ngrace_hours = inf\n", "found inf"),
            ('[extended.week]\nada = "2026-12-02"\n', "week is extended and has no due date"),
            ("[nbgrader]\nExecute = 3\n", r"expected a table \[Execute\], found 3"),
        ],
    )
    def test_bad_input_is_one_line(self, tmp_path: Path, text: str, told: str) -> None:
        """With the file's name, and what to do."""
        with pytest.raises(WorkFailed, match=told) as caught:
            written(tmp_path, text)

        assert SETTINGS in str(caught.value) and "\n" not in str(caught.value).split(" (")[0]


@pytest.fixture
def due(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """The command, in a course with chapters and an own assignment; returns its status and what it prints."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(f"get_config().CourseDirectory.root = {str(tmp_path)!r}\n")
    for stem in ("week", "later"):
        (tmp_path / "chapters" / f"{stem}.py").touch()
    (tmp_path / "source" / "own").mkdir(parents=True)

    def run(*arguments: str) -> tuple[int, str]:
        status = main(["--root", str(tmp_path), "due", *arguments])
        told = capsys.readouterr()
        return status, told.out + told.err

    return run


class TestCommand:
    """`autograder due`."""

    def test_it_writes_what_it_shows(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """A teacher's own comment in the file stays."""
        (tmp_path / SETTINGS).write_text("# mine\n")
        assert 0 == due("week", "2026-11-30 18:00+01:00")[0]
        assert (0, True) == (due("week", "+2 days", "--student", "ada")[0], not (tmp_path / "gradebook.db").exists())
        status, told = due("--points-per-day", "2", "--grace-hours", "1")
        found = deadlines.read_deadlines(tmp_path)

        assert 0 == status and "  ada: until " in told and "2 points for each day that has begun" in told
        assert EVENING == found.due["week"] and timedelta(days=2) == found.extension("week", "ada")
        assert Lateness(2, 1) == found.late and "# mine" in (tmp_path / SETTINGS).read_text()

    def test_a_name_that_nobody_has_is_told(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """It stands in the file all the same, since the roster may come later."""
        due("week", "2026-11-30")
        with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
            gradebook.add_student("ada")
        known, stranger = (due("week", "+2 days", "--student", who)[1] for who in ("ada", "adda"))

        assert "adda is not in the gradebook" in stranger and "not in the gradebook" not in known
        assert {"ada", "adda"} == set(deadlines.read_deadlines(tmp_path).extended["week"])

    def test_an_own_assignment_has_a_due_date(self, due: Callable[..., tuple[int, str]]) -> None:
        """It stands in `source/`, without a chapter."""
        assert (0, True) == (due("own", "2026-11-30")[0], "own: due " in due()[1])

    def test_none_takes_it_back(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """The chapter's empty table stays: it says that nobody has an extension."""
        for arguments in (("week", "2026-11-30"), ("week", "+1 day", "--student", "ada")):
            due(*arguments)
        due("week", "none", "--student", "ada")

        assert {"week": {}} == deadlines.read_deadlines(tmp_path).extended

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (("weak", "2026-11-30"), "found no 'weak'. There are: later, own, week."),
            (("week", "soon"), "found 'soon'. Nothing was changed."),
            (("week", "+2 days", "--student", "ada"), "week has no due date to extend."),
            (("--points-per-day", "-1"), "expected a number from 0 on"),
        ],
    )
    def test_bad_input_changes_nothing(
        self, tmp_path: Path, due: Callable[..., tuple[int, str]], arguments: tuple[str, ...], told: str
    ) -> None:
        """One line says what was expected."""
        (tmp_path / SETTINGS).write_text("# mine\n")
        status, said = due(*arguments)

        assert 1 == status and told in said
        assert "# mine\n" == (tmp_path / SETTINGS).read_text()

    def test_a_due_date_that_is_extended_stays(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """Else the extension would hang in the air, and every grading would stop."""
        for arguments in (("week", "2026-11-30"), ("week", "+1 day", "--student", "ada")):
            due(*arguments)
        before = (tmp_path / SETTINGS).read_text()
        status, told = due("week", "none")

        assert 1 == status and "is extended and has no due date" in told
        assert before == (tmp_path / SETTINGS).read_text()


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-11-21 23:10:00 UTC", datetime(2026, 11, 21, 23, 10)),
        ("2026-11-21 23:10:00 Europe/Berlin\n", datetime(2026, 11, 21, 22, 10)),
        ("", None),
        ("yesterday", datetime(2026, 1, 1)),
        ("2026-11-21" * 20, datetime(2026, 1, 1)),
        (None, datetime(2026, 1, 1)),
    ],
)
def test_a_time_that_was_written_later_counts(tmp_path: Path, text: str | None, time: datetime | None) -> None:
    """As in the student's folder; an empty file takes a time back, no file or what is no time leaves it."""
    folder = tmp_path / "submitted" / "ada" / "ch"
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "timestamp.txt").write_text(text)
    submission = SimpleNamespace(student_id="ada", timestamp=datetime(2026, 1, 1))
    set_time(submission, tmp_path, "ch")

    assert time == submission.timestamp


HOURS = st.integers(-72, 72).map(lambda hours: timedelta(hours=hours))
ZONES = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
DECISIONS = st.just(Deadlines()) | st.builds(
    lambda moved, extended, zone: Deadlines(
        {"week": (EVENING + moved).astimezone(zone)},
        {"week": {} if extended is None else {"ada": (EVENING + extended).astimezone(zone)}},
    ),
    HOURS,
    st.none() | HOURS,
    ZONES,
)


@pytest.fixture(scope="module")
def gradebook() -> Iterator[Gradebook]:
    """One submission, handed in on that evening."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
        with Gradebook("sqlite:///:memory:") as made:
            made.add_assignment("week")
            made.add_notebook("week", "week")
            made.add_student("ada")
            made.add_submission("week", "ada").timestamp = as_nbgrader(EVENING)
            yield made


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
class TestTheLastDecisionCounts:
    """Whatever was decided before: a moved due date, an extension, a zone, something taken back, in any order."""

    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(st.lists(DECISIONS, min_size=1, max_size=4), st.integers(0, 5), st.integers(0, 30))
    def test_in_any_order(self, gradebook: Gradebook, history: list[Deadlines], points: int, grace: int) -> None:
        """As late, and as dear, as from the start."""
        with tempfile.TemporaryDirectory() as folder:
            for decision in history:
                decided(gradebook, Path(folder), decision)
            last, submission = history[-1], gradebook.find_submission("week", "ada")

            assert (submission.extension is not None) == ("ada" in last.extended.get("week", {}))
            assert (gradebook.find_assignment("week").duedate is not None) == ("week" in last.due)
            until = last.extended.get("week", {}).get("ada", last.due.get("week", EVENING))
            late = max(0.0, (EVENING - until).total_seconds())
            assert late == submission.total_seconds_late
            assert Lateness(points, grace).penalty(late) == Lateness(points, grace).penalty(
                submission.total_seconds_late
            )
            decided(gradebook, Path(folder), Deadlines())

    def test_what_formgrader_was_told_stays(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """A file that says nothing of a chapter takes back what came from it, and nothing else."""
        gradebook.find_assignment("week").duedate = datetime(2026, 1, 1)
        gradebook.find_submission("week", "ada").extension = timedelta(days=3)
        decided(gradebook, tmp_path, Deadlines())

        assert datetime(2026, 1, 1) == gradebook.find_assignment("week").duedate
        assert timedelta(days=3) == gradebook.find_submission("week", "ada").extension


def decided(gradebook: Gradebook, course: Path, found: Deadlines) -> None:
    """Let the teacher's file say this, and apply it."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(deadlines, "read_deadlines", lambda _: found)
        set_dates(gradebook, course, "week")
