import shutil
from functools import partial
from pathlib import Path

import nbformat
import pytest

from autograder.authoring.build_course import build, generate_files, list_stale_generated_files
from autograder.authoring.build_course import shipped_observations_and_hints as observed
from autograder.authoring.custom_exercise import write_custom_exercise_template
from autograder.course.points_and_hints import HINTS, ExercisePoints, IndexedChapter, read_index
from tests.asked import NIGHT
from tests.own_assignments import graded
from tests.small_chapter import PROJECT, STEM, TEXT, make_project, observe


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a small project, built."""
    folder = make_project(tmp_path)
    build(folder, observe)
    return folder


def problems(project: Path) -> list[str]:
    """Return the problems that the check finds."""
    return [str(problem) for problem in list_stale_generated_files(project, observe)]


def as_committed(course: Path, stem: str, committed: dict[str, bytes]) -> dict[str, bytes]:
    """Return the committed observations and the hints, instead of computing them."""
    return committed | {HINTS: (course / "shipped" / f"{stem}{HINTS}").read_bytes()}


def test_this_course_is_in_sync() -> None:
    """This project's notebooks, solutions and observations are those that a build would write.

    The proofs of the exercises cover the observations; the nightly run computes them again.
    """
    problems = list_stale_generated_files(PROJECT, partial(observed, anew=True) if NIGHT else as_committed)

    assert [] == [str(problem) for problem in problems], "run `make build`"


def test_in_sync(project: Path) -> None:
    """After a build there is no problem."""
    assert [] == problems(project)


def test_fresh_clone(project: Path) -> None:
    """nbgrader's own folders, which are not committed, may be missing."""
    shutil.rmtree(project / "course" / "source")
    shutil.rmtree(project / "course" / "release")

    assert [] == problems(project)


@pytest.mark.parametrize("folder", ["notebooks", "solutions"])
def test_stale(project: Path, folder: str) -> None:
    """A file changed by hand is reported as stale."""
    path = project / folder / f"{STEM}.ipynb"
    path.write_text(path.read_text() + " ")

    assert [f"stale: {folder}/{STEM}.ipynb"] == problems(project)


def test_stale_chapter(project: Path) -> None:
    """After a change of the chapter, both notebooks are stale."""
    chapter = project / "course" / "chapters" / f"{STEM}.py"
    chapter.write_text(TEXT.replace("for the tests", "for all tests"))

    assert [f"stale: notebooks/{STEM}.ipynb", f"stale: solutions/{STEM}.ipynb"] == problems(project)


def test_stale_observations(project: Path) -> None:
    """Outdated observations are stale."""
    (project / "course" / "shipped" / f"{STEM}.json").write_bytes(b"[]")
    found = problems(project)

    assert f"stale: course/shipped/{STEM}.json" in found


def test_points_are_listed(project: Path) -> None:
    """The file of points has each chapter's title and points, and is stale after they change."""
    (listed,) = read_index(project / "course" / "shipped" / "points.json")
    chapter = project / "course" / "chapters" / f"{STEM}.py"
    chapter.write_text(TEXT.replace("points=2", "points=3"))

    assert (
        IndexedChapter(STEM, "Chapter 7: Small", {"double": ExercisePoints(2, 0), "hunt": ExercisePoints(0, 1)})
        == listed
    )
    assert "stale: course/shipped/points.json" in problems(project)


def test_an_exercise_of_the_teachers_own_is_listed_apart(project: Path) -> None:
    """The project's file of points knows nothing of the teacher's own exercises, and readers find both."""
    points, of_own = (project / "course" / "shipped" / name for name in ("points.json", "own-points.json"))
    before = points.read_bytes()
    listed = read_index(points)
    text = write_custom_exercise_template(project / "course", "mine").read_text()
    (project / "course" / "chapters" / "mine.py").write_text(text.partition("# %% cases")[0])
    outputs = generate_files(project, lambda *_: {})

    assert before == outputs[points.relative_to(project)]
    of_own.write_bytes(outputs[of_own.relative_to(project)])
    assert [STEM, "mine"] == [each.stem for each in read_index(points)] and listed == read_index(points)[:1]


@pytest.mark.parametrize(
    "path",
    [
        f"notebooks/{STEM}.ipynb",
        f"solutions/{STEM}.ipynb",
        f"course/shipped/{STEM}.safetensors",
        "course/shipped/points.json",
    ],
)
def test_missing(project: Path, path: str) -> None:
    """A missing file is reported."""
    (project / path).unlink()

    assert f"missing: {path}" in problems(project)


@pytest.mark.parametrize(
    "path", ["notebooks/ch99_gone.ipynb", "solutions/ch99_gone.ipynb", "course/shipped/ch99_gone.json"]
)
def test_stray(project: Path, path: str) -> None:
    """A file without a chapter is reported, and a build moves it aside."""
    (project / path).write_text("{}")
    found = problems(project)
    told = build(project, observe)

    assert [f"stray: {path}"] == found
    assert [f"moved the stray {path} to build/aside/{path}"] == told
    assert [] == problems(project)
    assert (project / "build/aside" / path).read_text() == "{}"


def test_two_strays_of_one_name(project: Path) -> None:
    """Files moved aside never overwrite each other."""
    for text in ("one", "two"):
        (project / "notebooks" / "mine.ipynb").write_text(text)
        build(project, observe)
    kept = {path.name: path.read_text() for path in (project / "build/aside/notebooks").iterdir()}

    assert {"mine.ipynb": "one", "mine-2.ipynb": "two"} == kept


def test_repair(project: Path) -> None:
    """One build corrects stale, missing and stray files."""
    (project / "notebooks" / f"{STEM}.ipynb").write_text("{}")
    (project / "solutions" / f"{STEM}.ipynb").unlink()
    (project / "solutions" / "ch99_gone.ipynb").write_text("{}")
    build(project, observe)

    assert [] == problems(project)


def test_check_writes_nothing(project: Path) -> None:
    """The check changes no file."""
    (project / "notebooks" / f"{STEM}.ipynb").unlink()
    before = sorted(project.rglob("*"))
    list_stale_generated_files(project, observe)

    assert before == sorted(project.rglob("*"))


def test_work_is_kept(project: Path) -> None:
    """A notebook that was run is moved aside before the build replaces it."""
    path = project / "notebooks" / f"{STEM}.ipynb"
    worked = path.read_text().replace('"execution_count": null', '"execution_count": 3', 1)
    path.write_text(worked)

    assert f"moved your work in notebooks/{STEM}.ipynb to build/aside/notebooks/{STEM}.ipynb" in build(project, observe)
    assert worked == (project / "build" / "aside" / "notebooks" / f"{STEM}.ipynb").read_text()
    assert [] == problems(project)


def test_a_teachers_cells_are_kept(project: Path) -> None:
    """A source with a teacher's own graded cells is moved aside, and an outdated one is replaced."""
    inner = Path("course", "source", STEM, f"{STEM}.ipynb")
    notebook = nbformat.read(project / inner, as_version=4)
    notebook.cells[0].source += "\nAn older text."
    nbformat.write(notebook, project / inner)
    assert [f"wrote {inner.as_posix()}"] == build(project, observe)

    notebook.cells.append(graded("mine", "assert True"))
    nbformat.write(notebook, project / inner)
    assert f"moved your work in {inner.as_posix()} to build/aside/{inner.as_posix()}" in build(project, observe)
