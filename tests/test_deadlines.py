"""Due dates, extensions and late penalties: the file, the command, the arithmetic, and nbgrader's gradebook."""

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
from autograder.nbgrader_plugin import teacher_settings
from autograder.nbgrader_plugin.apply_deadlines import set_submission_time, sync_due_dates
from autograder.nbgrader_plugin.teacher_settings import SETTINGS, LatePolicy, TeacherSettings, to_datetime, to_naive_utc

BERLIN = timezone(timedelta(hours=1))
EVENING = datetime(2026, 11, 30, 18, tzinfo=BERLIN)


def written(course: Path, text: str) -> TeacherSettings:
    """Return the deadlines in a file with this text."""
    (course / SETTINGS).write_text(text)
    return teacher_settings.read_teacher_settings(course)


class TestMoments:
    """Times as teachers write them."""

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
        """A time is absolute with a zone, or relative to another time."""
        assert when == to_datetime(text, EVENING)

    def test_a_day_ends_at_midnight_here(self) -> None:
        """A date without a time means midnight at its end, in local time."""
        assert to_datetime("2026-11-30") == datetime(2026, 12, 1).astimezone()
        assert to_datetime("2026-11-30 18:00") == datetime(2026, 11, 30, 18).astimezone()

    @pytest.mark.parametrize("wrong", ["soon", "30.11.2026", "2026-13-01", "+2", 7, None, "", "18:00"])
    def test_what_is_none(self, wrong: object) -> None:
        """Anything else raises ValueError."""
        with pytest.raises(ValueError, match=r"\w"):
            to_datetime(wrong, EVENING)

    @given(
        st.datetimes(datetime(2000, 1, 1), datetime(2100, 1, 1)),
        st.integers(-12, 14),
        st.integers(-12, 14),
    )
    def test_zones_change_no_moment(self, when: datetime, one: int, other: int) -> None:
        """The same moment in different zones is the same for nbgrader."""
        first = when.replace(tzinfo=timezone(timedelta(hours=one)))
        second = first.astimezone(timezone(timedelta(hours=other)))

        assert to_naive_utc(first) == to_naive_utc(second) == first.astimezone(UTC).replace(tzinfo=None)
        assert to_datetime(first.isoformat()) == second


class TestPenalty:
    """The penalty for lateness."""

    @pytest.mark.parametrize(
        ("hours", "points"), [(0, 0), (0.9, 0), (1, 0), (1.1, 2), (23.9, 2), (24, 2), (24.1, 4), (49, 6)]
    )
    def test_days_that_have_begun(self, hours: float, points: float) -> None:
        """After the grace period, each day begun since the due date costs its points."""
        assert points == LatePolicy(2, 1).penalty(hours * 3600)

    @given(st.floats(0, 1e7), st.floats(0, 1e7), st.floats(0, 100), st.floats(0, 100))
    def test_later_is_never_cheaper(self, one: float, other: float, points: float, grace: float) -> None:
        """The penalty never falls with more lateness."""
        rule = LatePolicy(points, grace)

        assert 0 <= rule.penalty(min(one, other)) <= rule.penalty(max(one, other))

    def test_no_rule_costs_nothing(self) -> None:
        """A grace period alone costs nothing."""
        assert 0 == LatePolicy(grace_hours=2).penalty(1e6)


class TestFile:
    """The file `teacher.toml`."""

    def test_no_file_decides_nothing(self, tmp_path: Path) -> None:
        """Without a file there are no deadlines, and nbgrader's own settings apply."""
        assert TeacherSettings() == teacher_settings.read_teacher_settings(tmp_path)

    def test_all_of_it(self, tmp_path: Path) -> None:
        """Due dates, extensions and penalties are read, including TOML's own dates."""
        found = written(
            tmp_path,
            '[due]\nweek = "2026-11-30 18:00+01:00"\n[extended.week]\nada = 2026-12-02T18:00:00+01:00\n'
            "[late]\npoints_per_day = 2\n",
        )

        assert EVENING == found.due["week"] and LatePolicy(2, 0) == found.late
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
            ("questions = 1\n", "expected true or false for questions, found 1"),
            ("[nbgrader]\nExecute = 3\n", r"expected a table \[Execute\], found 3"),
        ],
    )
    def test_bad_input_is_one_line(self, tmp_path: Path, text: str, told: str) -> None:
        """Invalid input raises a one-line error with the file's name and the correction."""
        with pytest.raises(WorkFailed, match=told) as caught:
            written(tmp_path, text)

        assert SETTINGS in str(caught.value) and "\n" not in str(caught.value).split(" (")[0]


@pytest.fixture
def due(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Return a function that runs the command in a course and returns status and output."""
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
    """The command `autograder due`."""

    def test_it_writes_what_it_shows(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """The command writes what it prints, and keeps comments of the file."""
        (tmp_path / SETTINGS).write_text("# mine\n")
        assert 0 == due("week", "2026-11-30 18:00+01:00")[0]
        assert (0, True) == (due("week", "+2 days", "--student", "ada")[0], not (tmp_path / "gradebook.db").exists())
        status, told = due("--points-per-day", "2", "--grace-hours", "1")
        found = teacher_settings.read_teacher_settings(tmp_path)

        assert 0 == status and "  ada: until " in told and "2 points for each day that has begun" in told
        assert EVENING == found.due["week"] and timedelta(days=2) == found.extension("week", "ada")
        assert LatePolicy(2, 1) == found.late and "# mine" in (tmp_path / SETTINGS).read_text()

    @pytest.mark.night
    def test_a_name_that_nobody_has_is_told(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """An unknown student gets a warning and is written, since the roster may come later."""
        due("week", "2026-11-30")
        with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as gradebook:
            gradebook.add_student("ada")
        known, stranger = (due("week", "+2 days", "--student", who)[1] for who in ("ada", "adda"))

        assert "adda is not in the gradebook" in stranger and "not in the gradebook" not in known
        assert {"ada", "adda"} == set(teacher_settings.read_teacher_settings(tmp_path).extended["week"])

    def test_an_own_assignment_has_a_due_date(self, due: Callable[..., tuple[int, str]]) -> None:
        """An assignment without a chapter can have a due date."""
        assert (0, True) == (due("own", "2026-11-30")[0], "own: due " in due()[1])

    def test_none_takes_it_back(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """`none` removes an extension and leaves the chapter's empty table, which means that nobody has one."""
        for arguments in (("week", "2026-11-30"), ("week", "+1 day", "--student", "ada")):
            due(*arguments)
        due("week", "none", "--student", "ada")

        assert {"week": {}} == teacher_settings.read_teacher_settings(tmp_path).extended

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
        """Invalid input prints one line and leaves the file unchanged."""
        (tmp_path / SETTINGS).write_text("# mine\n")
        status, said = due(*arguments)

        assert 1 == status and told in said
        assert "# mine\n" == (tmp_path / SETTINGS).read_text()

    def test_a_due_date_that_is_extended_stays(self, tmp_path: Path, due: Callable[..., tuple[int, str]]) -> None:
        """A due date with extensions cannot be removed."""
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
    """The time in the student's folder replaces the gradebook's; an empty file removes it."""
    folder = tmp_path / "submitted" / "ada" / "ch"
    folder.mkdir(parents=True)
    if text is not None:
        (folder / "timestamp.txt").write_text(text)
    submission = SimpleNamespace(student_id="ada", timestamp=datetime(2026, 1, 1))
    set_submission_time(submission, tmp_path, "ch")

    assert time == submission.timestamp


HOURS = st.integers(-72, 72).map(lambda hours: timedelta(hours=hours))
ZONES = st.integers(-12, 14).map(lambda hours: timezone(timedelta(hours=hours)))
DECISIONS = st.just(TeacherSettings()) | st.builds(
    lambda moved, extended, zone: TeacherSettings(
        {"week": (EVENING + moved).astimezone(zone)},
        {"week": {} if extended is None else {"ada": (EVENING + extended).astimezone(zone)}},
    ),
    HOURS,
    st.none() | HOURS,
    ZONES,
)


@pytest.fixture(scope="module")
def gradebook() -> Iterator[Gradebook]:
    """Yield a gradebook with one submission, handed in on that evening."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("nbgrader.api.get_alembic_version", lambda: "none")
        with Gradebook("sqlite:///:memory:") as made:
            made.add_assignment("week")
            made.add_notebook("week", "week")
            made.add_student("ada")
            made.add_submission("week", "ada").timestamp = to_naive_utc(EVENING)
            yield made


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
class TestTheLastDecisionCounts:
    """After any sequence of decisions, the gradebook is as if only the last one had been made."""

    @settings(max_examples=40, deadline=None, derandomize=True)
    @given(st.lists(DECISIONS, min_size=1, max_size=4), st.integers(0, 5), st.integers(0, 30))
    def test_in_any_order(self, gradebook: Gradebook, history: list[TeacherSettings], points: int, grace: int) -> None:
        """Lateness and penalty after any sequence of decisions are those of the last one."""
        with tempfile.TemporaryDirectory() as folder:
            for decision in history:
                decided(gradebook, Path(folder), decision)
            last, submission = history[-1], gradebook.find_submission("week", "ada")

            assert (submission.extension is not None) == ("ada" in last.extended.get("week", {}))
            assert (gradebook.find_assignment("week").duedate is not None) == ("week" in last.due)
            until = last.extended.get("week", {}).get("ada", last.due.get("week", EVENING))
            late = max(0.0, (EVENING - until).total_seconds())
            assert late == submission.total_seconds_late
            assert LatePolicy(points, grace).penalty(late) == LatePolicy(points, grace).penalty(
                submission.total_seconds_late
            )
            decided(gradebook, Path(folder), TeacherSettings())

    def test_what_formgrader_was_told_stays(self, gradebook: Gradebook, tmp_path: Path) -> None:
        """Dates set in formgrader stay, unless they came from the teacher's file."""
        gradebook.find_assignment("week").duedate = datetime(2026, 1, 1)
        gradebook.find_submission("week", "ada").extension = timedelta(days=3)
        decided(gradebook, tmp_path, TeacherSettings())

        assert datetime(2026, 1, 1) == gradebook.find_assignment("week").duedate
        assert timedelta(days=3) == gradebook.find_submission("week", "ada").extension


def decided(gradebook: Gradebook, course: Path, found: TeacherSettings) -> None:
    """Apply these deadlines, as if the teacher's file held them."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(teacher_settings, "read_teacher_settings", lambda _: found)
        sync_due_dates(gradebook, course, "week")
