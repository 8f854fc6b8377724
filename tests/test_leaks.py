from pathlib import Path
from zipfile import ZipFile

import pytest

from autograder.authoring.build_course import build
from autograder.course.chapter_reader import chapter_paths
from tests import leaks
from tests.small_chapter import BANK, PROJECT, STEM, make_project, observe
from tests.wheel import PACKAGES, build_wheel

# One process, which builds the project once.
pytestmark = pytest.mark.xdist_group("leaks")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel that students install."""
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of this course, built."""
    project = tmp_path_factory.mktemp("project")
    for path in [
        *chapter_paths(PROJECT / "course"),
        *(path for part in ("exercises", "answers") for path in (PROJECT / "course" / part).rglob("*.py")),
        PROJECT / "course" / "nbgrader_config.py",
        PROJECT / "pyproject.toml",
    ]:
        copy = project / path.relative_to(PROJECT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(path.read_bytes())
    build(project, observe)
    return project


@pytest.fixture(scope="module")
def secret() -> set[str]:
    """Return every telling line of this course that students must not find."""
    banks = PROJECT / "course" / "answers"
    return leaks.secrets(
        {
            path: "".join(bank.read_text(encoding="utf-8") for bank in sorted((banks / path.stem).glob("*.py")))
            for path in chapter_paths(PROJECT / "course")
        }
    )


class TestThisCourse:
    @pytest.mark.night
    def test_there_are_secrets(self, secret: set[str]) -> None:
        """There are secrets to search for, among them hidden tests."""
        assert len(secret) > 50
        assert any("fresh=True" in line for line in secret)

    @pytest.mark.night
    def test_solutions_would_be_found(self, secret: set[str]) -> None:
        """The search finds secrets in the solved notebooks, where they must be."""
        assert leaks.find(secret, leaks.of_notebooks(PROJECT / "solutions"))

    @pytest.mark.night
    def test_notebooks(self, secret: set[str]) -> None:
        """No student notebook contains a line of a solution, a hidden test or a bank answer."""
        texts = leaks.of_notebooks(PROJECT / "notebooks")

        assert texts
        assert [] == leaks.find(secret, texts) + leaks.find_markers(texts)

    @pytest.mark.night
    def test_release(self, secret: set[str], released: Path) -> None:
        """nbgrader's release contains no secret."""
        texts = leaks.of_notebooks(released / "course" / "release")

        assert texts
        assert [] == leaks.find(secret, texts) + leaks.find_markers(texts)

    @pytest.mark.night
    def test_nothing_beside_the_release(self, released: Path) -> None:
        """The release contains only notebooks."""
        assert {".ipynb"} == {path.suffix for path in (released / "course/release").rglob("*") if path.is_file()}

    @pytest.mark.night
    def test_wheel(self, secret: set[str], wheel: Path) -> None:
        """The wheel contains no secret."""
        texts = leaks.of_wheel(wheel)
        searched = {name: text for name, text in texts.items() if not name.startswith("course/arranged/")}

        assert [] == leaks.find(secret, searched)

    def test_folders_of_the_wheel(self, wheel: Path) -> None:
        """The wheel contains the packages with their data, and only the student's parts of the course."""
        names = set(leaks.of_wheel(wheel))
        tops = {name.split("/")[0] for name in names}

        assert set(PACKAGES) == {top for top in tops if not top.endswith(".dist-info")}
        assert {"explorers/static/explorer.js", "explorers/static/explorer.css"} <= names
        of_course = {name.split("/")[1] for name in names if name.startswith("course/")}
        folders = {"arranged", "cards", "exercises", "figures", "hunts", "review_questions", "shipped"}
        assert {"__init__.py", "instruments.py", "nbgrader_config.py"} | folders == of_course
        for suffix in (".json", ".safetensors", ".hints.json"):
            assert {f"course/shipped/{path.stem}{suffix}" for path in chapter_paths(PROJECT / "course")} <= names


class TestPlanted:
    """Planted leaks are found."""

    @pytest.fixture
    def project(self, tmp_path: Path) -> Path:
        """Return a small project, built."""
        folder = make_project(tmp_path)
        build(folder, observe)
        return folder

    @pytest.fixture
    def small_secret(self, project: Path) -> set[str]:
        """Return the secrets of the small project."""
        return leaks.secrets({project / "course/chapters" / f"{STEM}.py": BANK})

    def test_clean(self, project: Path, small_secret: set[str]) -> None:
        """Without a planted leak, nothing is found."""
        assert [] == leaks.find(small_secret, leaks.of_notebooks(project / "notebooks"))

    @pytest.mark.parametrize(
        "line",
        [
            "twice_of_it = math.fsum([x, x])",
            "        twice_of_it   =  math.fsum( [x,x] )  # with other spaces and a comment",
            "    return math.fsum([x, 1])",
            "check('hunt', hunt, fresh=True)",
            "    squared_by_mistake = x ** 2",
        ],
    )
    def test_in_a_notebook(self, project: Path, small_secret: set[str], line: str) -> None:
        """A planted secret line is found, whatever its spaces."""
        path = project / "notebooks" / f"{STEM}.ipynb"
        path.write_text(path.read_text().replace("Forty-one and one?", line))

        assert len(leaks.find(small_secret, leaks.of_notebooks(project / "notebooks"))) == 1

    def test_in_metadata(self, project: Path, small_secret: set[str]) -> None:
        """A secret line in a notebook's metadata is found."""
        path = project / "notebooks" / f"{STEM}.ipynb"
        path.write_text(path.read_text().replace('"display_name": "', '"display_name": "return math.fsum([x, 1])'))

        assert leaks.find(small_secret, leaks.of_notebooks(project / "notebooks"))

    def test_marker(self, project: Path) -> None:
        """A region marker that nbgrader left is found."""
        assert leaks.find_markers(leaks.of_notebooks(project / "course" / "source"))

    @pytest.mark.night
    def test_in_the_wheel(self, wheel: Path, tmp_path: Path, secret: set[str]) -> None:
        """A solution in the wheel is found, even inside JSON."""
        longest = max(secret, key=len)
        copy = tmp_path / wheel.name
        copy.write_bytes(wheel.read_bytes())
        with ZipFile(copy, "a") as archive:
            archive.writestr("course/shipped/planted.json", '{"x": "' + longest.replace('"', '\\"') + '"}')

        shipped = {name: text for name, text in leaks.of_wheel(copy).items() if name.startswith("course/shipped/")}

        assert f"course/shipped/planted.json: {longest}" in leaks.find(secret, shipped)
