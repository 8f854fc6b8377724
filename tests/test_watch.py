"""`watch`: what arrives is graded on fresh cases, and the feedback goes back through nbgrader's exchange."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from autograder.__main__ import main
from autograder.cli import watch as watch_command
from autograder.errors import WorkFailed
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.nbgrader_plugin.nbgrader_cycle import GradingOptions, NbgraderCycle
from autograder.nbgrader_plugin.open_nbgrader import missing_exchange_folder, open_nbgrader_api
from autograder.nbgrader_plugin.watch_submissions import GradedSubmission, SubmissionWatcher
from tests.conftest import UNCONFINED
from tests.second_course import CHAPTER, COURSE, SENTENCE, TURNED_ROUND, environment, make_second_course
from tests.small_chapter import STEM, make_project

MONDAY, TUESDAY = date(2026, 11, 30), date(2026, 12, 1)


class FakeCycle:
    """A cycle that grades everybody it is given, and says what it was asked for."""

    def __init__(self, course: Path, exchange: Path) -> None:
        self.course, self.stem, self.asked = course, "hw", list[str]()
        self.api = SimpleNamespace(exchange_root=str(exchange), coursedir=SimpleNamespace(course_id="c"))

    def students(self) -> list[str]:
        """Return who handed in."""
        return sorted(path.parent.name for path in self.course.glob("submitted/*/hw"))

    def collect(self) -> None:
        """Note that the exchange was looked at."""
        self.asked.append("collect")

    def autograde(self, students: list[str], progress: Any, _how: object) -> dict[str, str]:
        """Grade everybody but zoe."""
        verdict = SubmissionVerdict("hw", 1, "", (), {}, {})
        graded = [each for each in students if each != "zoe"]
        self.asked += [
            f"grade {each}" for each in progress([(each, verdict) for each in graded], len(graded)) for each in each[:1]
        ]
        return {each: "her file cannot be read." for each in students if each == "zoe"}

    def page(self, _: str) -> str:
        """Write feedback."""
        return ""

    def release_feedback(self, student: str) -> str:
        """Note that feedback was returned."""
        self.asked.append(f"return {student}")
        return ""


def hand_in(course: Path, student: str, text: str, *, by_exchange: bool = True) -> None:
    """Write a submission as nbgrader's collect does."""
    folder = course / "submitted" / student / "hw"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hw.ipynb").write_text(text)
    if by_exchange:
        (folder / "submission_secret.txt").write_text("secret")


@pytest.fixture
def cycle(tmp_path: Path) -> FakeCycle:
    """Return a cycle of an empty course with an exchange."""
    (tmp_path / "exchange" / "c" / "inbound").mkdir(parents=True)
    return FakeCycle(tmp_path / "course", tmp_path / "exchange")


def watch_of(cycle: FakeCycle, today: date = MONDAY) -> SubmissionWatcher:
    """Return a watch of two tries a day."""
    return SubmissionWatcher(cycle, 2, today=lambda: today)  # type: ignore[arg-type]


def tries(watch: SubmissionWatcher) -> list[tuple[str, int, bool]]:
    """Look once; return each graded student with the try of today, and whether feedback was returned."""
    return [
        (each.student, each.tries, each.is_returned)
        for each in watch.grade(watch.collect_new())
        if isinstance(each, GradedSubmission)
    ]


def test_only_what_is_new_is_graded_and_returned(cycle: FakeCycle) -> None:
    """A look grades new and changed submissions; feedback is returned for those that came through the exchange."""
    watch = watch_of(cycle)
    assert tries(watch) == [] and cycle.asked == []
    (Path(cycle.api.exchange_root) / "c" / "inbound" / "ada+hw+2026-11-30 09:00:00 UTC+x").mkdir()
    hand_in(cycle.course, "ada", "one")
    hand_in(cycle.course, "bob", "one", by_exchange=False)

    assert tries(watch) == [("ada", 1, True), ("bob", 1, False)]
    assert cycle.asked == ["collect", "grade ada", "grade bob", "return ada"]
    assert tries(watch) == []
    hand_in(cycle.course, "ada", "another")
    assert tries(watch) == [("ada", 2, True)]


def test_whoever_has_no_try_left_waits_until_tomorrow(cycle: FakeCycle) -> None:
    """The count outlives the command; it is said once for each submission; the last one is graded the next day."""
    for text in ("one", "second"):
        hand_in(cycle.course, "ada", text)
        assert tries(watch_of(cycle))
    watch = watch_of(cycle)
    hand_in(cycle.course, "ada", "the third")

    assert ["ada"] == watch.out_of_tries(watch.collect_new())
    assert [] == watch.out_of_tries(watch.collect_new()) and tries(watch) == []
    assert tries(watch_of(cycle, TUESDAY)) == [("ada", 1, True)]


def test_a_failure_costs_no_try_and_is_said_once(cycle: FakeCycle) -> None:
    """A submission that cannot be graded waits for another one, and the others are graded."""
    hand_in(cycle.course, "ada", "one")
    hand_in(cycle.course, "zoe", "one")
    watch = watch_of(cycle)

    assert ("zoe", "her file cannot be read.") == next(watch.grade(watch.collect_new()))
    assert tries(watch) == []
    for text in ("two", "three", "four"):
        hand_in(cycle.course, "zoe", text)
        assert [("zoe", "her file cannot be read.")] == list(watch.grade(watch.collect_new()))


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"day": "2026-11-30", "tries": 7}', '{"day": "2026-11-30"}'])
def test_a_damaged_count_costs_nobody_a_try(cycle: FakeCycle, damage: str) -> None:
    """An unreadable file of counts is as none."""
    path = cycle.course / "verdicts" / "hw" / ".tries"
    path.parent.mkdir(parents=True)
    path.write_text(damage)
    hand_in(cycle.course, "ada", "one")

    assert tries(watch_of(cycle)) == [("ada", 1, True)]


def test_a_try_too_many_is_one_line(cycle: FakeCycle, capsys: pytest.CaptureFixture[str]) -> None:
    """The command names the student and when the submission is graded, and grades nothing."""
    for text in ("one", "second"):
        hand_in(cycle.course, "ada", text)
        assert tries(watch_of(cycle))
    hand_in(cycle.course, "ada", "the third")
    cycle.asked.clear()
    watch = watch_of(cycle)

    assert [None, None] == [watch_command._look(watch), watch_command._look(watch)]
    (line,) = capsys.readouterr().out.splitlines()
    assert line.endswith("  ada: no try left today; this submission is graded tomorrow.") and [] == cycle.asked


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a course of one chapter, on a machine whose Jupyter has settings in `jupyter`."""
    (tmp_path / "jupyter").mkdir()
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "jupyter"))
    return make_project(tmp_path / "project")


@pytest.mark.parametrize("place", ["jupyter", "project/course"])
def test_an_exchange_that_is_not_there_is_one_line(
    place: str, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`watch` names the folder of the settings and changes nothing, wherever the setting stands."""
    with (tmp_path / place / "nbgrader_config.py").open("a") as file:
        file.write(f"\nget_config().Exchange.root = {str(tmp_path / 'gone')!r}\n")
    before = {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}

    assert 1 == main(["--root", str(project), "watch", STEM, "--once"])
    told = capsys.readouterr()
    assert ("", 1) == (told.out, told.err.count("\n"))
    assert f"expected nbgrader's exchange in {tmp_path / 'gone'}, as c.Exchange.root says, found no folder." in told.err
    assert before == {path: path.read_bytes() for path in project.rglob("*") if path.is_file()}


def test_the_exchange_of_a_server_that_people_share(project: Path, tmp_path: Path) -> None:
    """Jupyter's folders say where it is, as for nbgrader's own commands; the course's own settings win."""
    (tmp_path / "jupyter" / "nbgrader_config.py").write_text(
        f"c = get_config()\nc.Exchange.root = {str(tmp_path)!r}\nc.Exchange.cache = 'kept'\n"
        "c.CourseDirectory.root = 'another course'\n"
    )
    api = open_nbgrader_api(project / "course")
    assert (str(tmp_path), "kept", "") == (api.exchange_root, api.config.Exchange.cache, missing_exchange_folder(api))
    assert str(project / "course") == api.coursedir.root
    with (project / "course" / "nbgrader_config.py").open("a") as file:
        file.write("\nget_config().Exchange.root = 'ours'\n")
    assert "ours" == open_nbgrader_api(project / "course").config.Exchange.root


def test_settings_of_jupyters_that_fail_are_one_line(project: Path, tmp_path: Path) -> None:
    """The line names the file."""
    (tmp_path / "jupyter" / "nbgrader_config.py").write_text("c = nothing()\n")
    with pytest.raises(WorkFailed, match=r"^.*jupyter/nbgrader_config\.py fails: NameError: .* Correct it\.$"):
        open_nbgrader_api(project / "course")


@pytest.mark.night
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
@pytest.mark.filterwarnings("ignore:unclosed file .*timestamp.txt:ResourceWarning")  # nbgrader's, as the next one
@pytest.mark.filterwarnings(
    "ignore:Passing unrecognized arguments to super.ExchangeReleaseFeedback.:DeprecationWarning"
)
def test_from_the_exchange_and_back(tmp_path: Path) -> None:
    """A wrong answer comes back with its sentence, a better one with full points, each graded on cases of its own."""
    course = make_second_course(tmp_path / "project") / COURSE
    (exchange := tmp_path / "exchange").mkdir(mode=0o777)
    exchange.chmod(0o777)
    subprocess.run([sys.executable, "-m", "autograder", "build"], cwd=course.parent, env=environment(), check=True)
    cycle = NbgraderCycle(course, CHAPTER, exchange)
    cycle.generate()
    cycle.release()
    watch = SubmissionWatcher(cycle, 3, GradingOptions(unconfined=UNCONFINED))
    assert watch.exchange == exchange / "pytorch_basics" and watch.collect_new() == []
    seeds, pages = [], []
    solved = nbformat.read(course.parent / "solutions" / f"{CHAPTER}.ipynb", as_version=4)
    right = next(each.source for each in solved.cells if each.metadata.get("nbgrader", {}).get("solution"))
    for answer in (TURNED_ROUND, right):
        notebook = nbformat.read(course / "release" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
        cell = next(each for each in notebook.cells if each.metadata.get("nbgrader", {}).get("solution"))
        cell.source = answer
        (homework := tmp_path / "home" / CHAPTER).mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, homework / f"{CHAPTER}.ipynb")
        cycle.submit("ada", homework.parent)
        (graded,) = watch.grade(watch.collect_new())
        assert isinstance(graded, GradedSubmission) and graded.is_returned, graded
        seeds.append(graded.verdict.seed)
        newest = max(
            (exchange / "pytorch_basics" / "feedback").glob("*.html"), key=lambda path: path.stat().st_mtime_ns
        )
        pages.append((graded.verdict.score, newest.read_text(encoding="utf-8")))

    assert [score for score, _ in pages] == [1.0, 2.0]
    assert SENTENCE in pages[0][1] and SENTENCE not in pages[1][1]
    assert len(set(seeds)) == 2
