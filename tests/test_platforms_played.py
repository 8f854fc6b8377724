"""Each bundle, laid out and started as its platform does it, gives the points and sentences of our own grading."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.example_students import ExampleClassMaker
from autograder.files import write_all
from autograder.grading.assignment import read_assignment
from autograder.grading.class_grading import read_student_files
from autograder.grading.grading_executors import grade_one
from autograder.grading.submission_verdict import SubmissionVerdict
from autograder.lms.build_platform_bundle import BUNDLE_BUILDERS, read_bundled_sitting
from autograder.lms.exercise_rows import exercise_rows
from autograder.lms.grade_on_platform import GRADER_FAILED_MESSAGE
from autograder.lms.student_package_wheel import StudentWheel, build_or_read_wheel
from tests.asked import by_night
from tests.conftest import needs_confinement
from tests.container import OLD_KERNEL
from tests.made_submissions import handed_in
from tests.platform_containers import PLAYS, SEED, Platform, Played
from tests.sample_course import COURSE, NOTEBOOK, STEM, make_course, sample_judge
from tests.small_chapter import PROJECT
from tests.walls import AS_IN_A_CONTAINER, LANDLOCK, NAMESPACES, starter

pytestmark = [pytest.mark.xdist_group("platforms"), needs_confinement]
TARGET, FILE = "standardize", f"{STEM}.ipynb"
ATTACKS = PROJECT / "tests" / "attacks"
Files = Mapping[str, bytes]
Play = Callable[..., Played]
# What a student may lay beside the notebook to have it run in place of the grader.
_NAMES = ("autograder/__init__.py", "autograder.py", "json.py", "torch.py", "sitecustomize.py", "usercustomize.py")
IN_THE_WAY = dict.fromkeys(_NAMES, b"raise SystemExit('mine')")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample's bundle for each platform; the wheel in them is none, as nothing installs it."""
    folder, sitting = tmp_path_factory.mktemp("bundles"), read_bundled_sitting(COURSE.folder, STEM)
    for name, files in BUNDLE_BUILDERS.items():
        made = files(sitting, StudentWheel("course.whl", b"wheel"))
        write_all({folder / name / path: data for path, data in made.items()})
    return folder


@pytest.fixture
def play(bundles: Path, tmp_path: Path) -> Play:
    """Return a function that plays a platform in a folder of its own."""

    def played(platform: str, files: Files, *starts: str, at: str = "it", **more: object) -> Played:
        return PLAYS[platform](Platform(tmp_path / at, bundles / platform, starts, **more), files)  # type: ignore[arg-type]

    return played


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a course of the sample in which our own grading looks for the release."""
    made = make_course(tmp_path_factory.mktemp("ours") / "course")
    write_all({made / "release" / STEM / FILE: NOTEBOOK.read_bytes()})
    return made


def ours(course: Path, files: Files, at: str = "it") -> SubmissionVerdict:
    """Return the verdict of our own grading."""
    folder = course / "submitted" / at / STEM
    write_all({folder / name: data for name, data in files.items()})
    assignment = read_assignment(course, STEM, unconfined=False)
    return grade_one(assignment, read_student_files(assignment, folder), SEED)


def rows(verdict: SubmissionVerdict, platform: str) -> list[tuple[str, float, str]]:
    """Return the exercises of a verdict with points and report; in Classroom 50, no extra credit, and hundredths."""
    counted = [row for row in exercise_rows(verdict) if row.most or platform != "classroom50"]
    digits = 2 if platform == "classroom50" else 4
    return [(row.name, pytest.approx(row.earned, abs=0.51 * 10**-digits), row.text) for row in counted]


def answered(**answers: str) -> Files:
    """Return a submission with these answers and otherwise the worked solutions."""
    chapter = sample_judge().chapter
    known = {name: chapter.solution(name) for name in chapter.exercises}
    return {FILE: handed_in(nbformat.read(NOTEBOOK, as_version=4), known | answers)}


def mixed() -> Files:
    """Return a submission with right answers, wrong ones of the bank, and one exercise that nobody began."""
    judge = sample_judge()
    wrong = {name: next(each.source for each in judge.banks[name] if not each.is_right) for name in judge.names[:3]}
    last = judge.chapter.exercises[-1]
    return answered(**wrong, **{last: judge.chapter.starter(last)})


CASES: dict[str, Callable[[], Files]] = {
    "right": answered,
    "wrong": mixed,
    "untouched": lambda: {FILE: NOTEBOOK.read_bytes()},
    "attack": lambda: answered(**{TARGET: (ATTACKS / "judge" / "forged_pass.py").read_text()}),
}


BY_DAY = "gradescope"  # the other platforms' bundles differ from it in how results are written, which is tested by day


@pytest.mark.night
@pytest.mark.parametrize("platform", PLAYS)
def test_points_and_sentences_are_ours(platform: str, play: Play, course: Path) -> None:
    """Whatever else the student hands in: it is no part of the grader, and changes no points."""
    found = play(platform, {**mixed(), **IN_THE_WAY})

    assert 0 == found.status, found.log
    assert rows(ours(course, mixed()), platform) == found.tests


@pytest.mark.night
@pytest.mark.parametrize("wall", [NAMESPACES, LANDLOCK])
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("platform", PLAYS)
def test_behind_both_walls(platform: str, case: str, wall: str, play: Play, course: Path) -> None:
    """Also in a container that gives no namespaces, points and sentences are ours."""
    found = play(platform, CASES[case](), *starter(wall))

    assert 0 == found.status, found.log
    assert rows(ours(course, CASES[case](), case), platform) == found.tests


@pytest.mark.night
@pytest.mark.parametrize(
    "files", [{FILE: b"\xff\xfe\x00{"}, {"notes.txt": b"Later."}, {}], ids=["bytes", "other", "none"]
)
def test_what_cannot_be_read(files: Files, play: Play, tmp_path: Path) -> None:
    """Broken bytes, and a submission without a notebook, earn nothing, with the reason and the file to hand in."""
    found = play("gradescope", files)

    assert found.result is not None and 0 == found.status, found.log
    assert {0} == {points for _, points, _ in found.tests}
    assert found.result["output"].startswith("Your notebook was not graded: ")
    assert FILE in files or f"Hand in the file {FILE} itself." in found.result["output"]


REACHES = """
def standardize(x, dim, eps):
    for name in {places!r}:
        try:
            raise RuntimeError('found ' + open(name).read()[:200])
        except OSError:
            pass
    open({results!r}, 'w').write('mine')
"""


@pytest.mark.night
@pytest.mark.parametrize("wall", [NAMESPACES, LANDLOCK])
@pytest.mark.parametrize("platform", PLAYS)
def test_answers_do_not_reach_the_bundle(platform: str, wall: str, play: Play, tmp_path: Path) -> None:
    """An answer that knows where solutions, answer bank and result lie can read none of them, and write nothing."""
    root = tmp_path / "it"
    course = {
        "gradescope": root / "autograder" / "source" / "course",
        "prairielearn": root / "grade" / "tests" / "course",
        "classroom50": root / "runtime" / STEM.replace("_", "-") / "course",
    }[platform]
    results = {"gradescope": "autograder/results", "prairielearn": "grade/results", "classroom50": "checkout"}[platform]
    places = [str(course / "chapters" / f"{STEM}.py"), str(course / "answers" / STEM / f"{TARGET}.py")]
    answer = REACHES.format(places=places, results=str(root / results / "results.json"))

    found = play(platform, answered(**{TARGET: answer}), *starter(wall))

    assert all(Path(place).is_file() for place in places)
    (told,) = (report for name, _, report in found.tests if name == TARGET)
    assert "found " not in told and re.search("FileNotFoundError|PermissionError|ReadOnly|OSError", told), told
    assert [0] == [points for name, points, _ in found.tests if name == TARGET]


@pytest.mark.parametrize("platform", by_night(PLAYS, [BY_DAY]))
def test_without_a_wall_nothing_is_graded(platform: str, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing confines, the result says why, has no points, and does not look like a student's fault."""
    found = play(platform, answered(), *AS_IN_A_CONTAINER, OLD_KERNEL)
    told = "This submission was not graded, which is no fault of yours: the machine that grades cannot confine"

    assert told in found.log
    if platform == "classroom50":  # the runner reports an error, and leaves an earlier score as it is
        assert (1, None, "") == (found.status, found.result, found.body)
    else:
        assert 0 == found.status and found.result is not None
        assert told in found.result.get("output", "") + "".join(found.result.get("format_errors", ()))
        assert not found.result.get("tests") and "score" not in found.result


@pytest.mark.parametrize("platform", PLAYS)
def test_without_the_package_nothing_is_graded(platform: str, play: Play, bundles: Path) -> None:
    """Where the wheel is missing, one line says so; the result is that of a fault of the grader."""
    wheels = list(bundles.rglob("*.whl"))
    kept = {path: path.read_bytes() for path in wheels}
    for path in wheels:
        path.unlink()
    try:
        found = play(platform, answered(), python=str(Path(sys.base_prefix, "bin", "python3")))
    finally:
        write_all(kept)

    assert 1 == found.status and 1 == found.log.count("\n"), found.log
    if platform == "classroom50":
        assert found.result is None and found.log.startswith("error: expected the course's wheel in ")
    else:
        assert GRADER_FAILED_MESSAGE in str(found.result) and found.result and "score" not in found.result


@pytest.mark.night
@pytest.mark.parametrize("platform", ["gradescope", "prairielearn"])
def test_results_that_cannot_be_written(platform: str, play: Play, tmp_path: Path) -> None:
    """A file in place of the folder of results is one line, and stays as it was."""
    place = tmp_path / "it" / {"gradescope": "autograder", "prairielearn": "grade"}[platform] / "results"
    write_all({place: b"mine"})

    found = play(platform, answered())

    assert 1 == found.status and found.log.startswith(f"error: cannot write {place}"), found.log
    assert 1 == found.log.count("\n") and b"mine" == place.read_bytes()


@pytest.mark.night
def test_a_result_in_the_way(play: Play, tmp_path: Path) -> None:
    """Classroom 50's results go into the student's checkout: a folder of that name there is one line, and no result."""
    found = play("classroom50", {**answered(), "result.json/mine": b"mine"})

    assert 1 == found.status and found.log.startswith("error: cannot write "), found.log
    assert 1 == found.log.count("\n") and found.result is None
    assert b"mine" == (tmp_path / "it" / "checkout" / "result.json" / "mine").read_bytes()


@pytest.mark.night
@pytest.mark.parametrize("platform", ["gradescope", "prairielearn"])
def test_from_the_wheel_alone(platform: str, play: Play, course: Path, tmp_path: Path) -> None:
    """The modules of the wheel, without nbgrader and what else a bundle does not install, give the same result."""
    with zipfile.ZipFile(io.BytesIO(build_or_read_wheel(None).data)) as wheel:
        wheel.extractall(tmp_path / "wheel")

    found = play(platform, mixed(), wheel=tmp_path / "wheel")

    assert 0 == found.status, found.log
    assert rows(ours(course, mixed(), "wheel"), platform) == found.tests


@pytest.mark.night
@pytest.mark.parametrize("platform", PLAYS)
def test_a_class_of_forty(platform: str, play: Play, course: Path) -> None:
    """Students of the answer bank, damaged files and attacks get what our own grading gives, as in a container.

    Some attacks cost their own student other exercises in some runs and not in others, here as there: such as
    `late_message`, whose thread races with the checks. Of those it is certain that the attack earns nothing.
    """
    maker = ExampleClassMaker(sample_judge(), nbformat.read(NOTEBOOK, as_version=4))
    students, late = list(maker.students()), ATTACKS / "judge" / "late_message.py"
    there = [path for path in sorted(ATTACKS.glob("*/*.py")) if "# share: 0" in path.read_text() and path != late]
    wanted_attacks = 39 - len(students)
    attacks = [late, *there[:: len(there) // wanted_attacks][:wanted_attacks]]
    uncertain = {path.stem for path in attacks if "# others: any" in path.read_text()}
    handed: dict[str, Files] = {path.stem: answered(**{TARGET: path.read_text()}) for path in attacks}
    handed |= {student.name: {student.filename: student.data} for student in students}

    differ = {}
    for name, files in handed.items():
        found, wanted = play(platform, files, *starter(LANDLOCK), at=name), ours(course, files, name)
        if wanted.trouble and platform == "prairielearn":
            same = found.result is not None and not found.result["gradable"] and wanted.trouble in str(found.result)
        elif name in uncertain:
            pairs = (*rows(wanted, platform), *found.tests)
            same = [0, 0] == [points for exercise, points, _ in pairs if exercise == TARGET]
        else:
            same = rows(wanted, platform) == found.tests
        if not same:
            differ[name] = found.log or str(found.result)

    assert 40 == len(handed) and {} == differ
