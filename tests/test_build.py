import stat
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.authoring.build_course import build, generate_files, list_stale_generated_files
from autograder.authoring.make_chapter_notebooks import notebook_with_claims
from autograder.course.chapter_reader import read_chapter
from autograder.errors import CourseError, CourseNotFound
from autograder.notebook import reveal_and_shows_error
from tests.small_chapter import STEM, TEXT, make_project, observe

OTHER = "ch99_other"
ADDRESS = "https://github.com/someone/pytorch-basics"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small project, built."""
    folder = make_project(tmp_path_factory.mktemp("project"))
    build(folder, observe)
    return folder


def cells(project: Path, folder: str) -> dict[str, Any]:
    """Return the cells of a built notebook by id."""
    inner = f"{folder}/{STEM}/{STEM}.ipynb" if folder.startswith("course") else f"{folder}/{STEM}.ipynb"
    notebook = nbformat.read(project / inner, as_version=4)
    return {cell.id: cell for cell in notebook.cells}


class TestNotebooks:
    def test_release_is_untouched(self, project: Path) -> None:
        """The students' notebook is nbgrader's release, byte for byte."""
        released = project / "course" / "release" / STEM / f"{STEM}.ipynb"

        assert released.read_bytes() == (project / "notebooks" / f"{STEM}.ipynb").read_bytes()

    @pytest.mark.parametrize("folder", ["notebooks", "solutions", "course/source"])
    def test_valid(self, project: Path, folder: str) -> None:
        """Every notebook is valid, with unique ids, no outputs, and metadata from a closed list."""
        found = cells(project, folder)
        keys = {key for cell in found.values() for key in cell.metadata}

        assert len(read_chapter(project / "course/chapters" / f"{STEM}.py").reader_cells) + 1 == len(found)
        assert keys <= {"nbgrader", "tags", "jupyter", "cellView", "deletable", "editable"}
        assert not any(cell.get("outputs") or cell.get("execution_count") for cell in found.values())

    def test_claims_are_out_of_sight(self, project: Path) -> None:
        """Only the proof notebook contains claims, each below the cell that it concerns."""
        claim = "out of the reader's sight"
        proof = notebook_with_claims(read_chapter(project / "course/chapters" / f"{STEM}.py"), "").cells
        place = next(place for place, cell in enumerate(proof) if claim in cell.source)

        assert proof[place - 1].id == "the-sum" and len(proof) == len(cells(project, "solutions")) + 2
        for folder in ("notebooks", "solutions", "course/source", "course/release"):
            assert not any(claim in cell.source for cell in cells(project, folder).values())

    def test_predictions_hold_in_a_proof(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """In a proof, a wrong prediction in the chapter's text stops the run."""
        monkeypatch.setattr(reveal_and_shows_error, "PredictionOutcome", reveal_and_shows_error.PredictionOutcome)
        proof = notebook_with_claims(read_chapter(project / "course/chapters" / f"{STEM}.py"), "").cells
        place = next(place for place, cell in enumerate(proof) if cell.id == "held")
        exec(proof[place].source, {})

        assert "setup" == proof[place - 1].id
        reveal_and_shows_error.reveal(3, 3)
        for guess in (4, ...):
            with pytest.raises(AssertionError, match="The right answer that stands in the chapter is none"):
                reveal_and_shows_error.reveal(guess, 3)

    def test_ids(self, project: Path) -> None:
        """Ids are names, grade ids, or hashes of the content; equal cells get different ids."""
        ids = list(cells(project, "notebooks"))
        drawn = [cell_id for cell_id in ids if cell_id.startswith("c-")]

        assert ids[:4] == ["opening", "install", "parameters", "setup"]
        assert {"guess-the-sum", "the-sum", "double", "check_double", "hunt", "check_hunt"} <= set(ids)
        assert drawn[2] + "-2" == drawn[3]

    def test_starter(self, project: Path) -> None:
        """The student gets nbgrader's stub, or exactly the starter of a bug hunt."""
        chapter = read_chapter(project / "course/chapters" / f"{STEM}.py")
        student = cells(project, "notebooks")

        assert chapter.starter("double") == student["double"].source
        assert chapter.starter("hunt") == student["hunt"].source

    def test_untouched_starter_counts_as_untouched(self, project: Path) -> None:
        """The stored checksum is that of the starter, so that nbgrader detects a student's changes."""
        from nbgrader.utils import compute_checksum

        hunt = cells(project, "notebooks")["hunt"]

        assert compute_checksum(hunt) == hunt.metadata.nbgrader.checksum

    def test_hidden_tests(self, project: Path) -> None:
        """Only nbgrader's source notebook contains the check of fresh cases."""
        source, student, solved = (
            cells(project, folder)["check_double"].source for folder in ("course/source", "notebooks", "solutions")
        )

        assert 'check("double", double)' == student == solved
        assert source.split("\n") == [
            'check("double", double)',
            "### BEGIN HIDDEN TESTS",
            'check("double", double, fresh=True)',
            "### END HIDDEN TESTS",
        ]

    def test_solutions(self, project: Path) -> None:
        """The solved notebook holds the worked solutions without markers."""
        chapter = read_chapter(project / "course/chapters" / f"{STEM}.py")
        solved = cells(project, "solutions")

        assert [chapter.solution("double"), chapter.solution("hunt")] == [
            solved["double"].source,
            solved["hunt"].source,
        ]

    def test_points(self, project: Path) -> None:
        """A check has its points in nbgrader's metadata; a stretch exercise has 0, since it earns extra credit."""
        student = cells(project, "notebooks")
        points = [student[name].metadata.nbgrader.points for name in ("check_double", "check_hunt")]

        assert [2, 0] == points

    def test_locks(self, project: Path) -> None:
        """Setup and checks cannot be edited, solution cells can."""
        student = cells(project, "notebooks")

        assert [False, False] == [student[name].metadata.editable for name in ("setup", "check_double")]
        assert "editable" not in student["double"].metadata

    def test_predict(self, project: Path) -> None:
        """In the student's notebook a prediction is open; the solved notebook has the answer."""
        assert cells(project, "notebooks")["guess-the-sum"].source == "guess = (...)  # what is the sum?"
        assert cells(project, "solutions")["guess-the-sum"].source == "guess = (1 + 41)  # what is the sum?"

    def test_special_cells(self, project: Path) -> None:
        """The parameters cell has papermill's tag; the cells before the lesson, and figures, are folded."""
        student = cells(project, "notebooks")
        folded = {"jupyter": {"source_hidden": True}, "cellView": "form"}

        assert {**folded, "tags": ["parameters"]} == student["parameters"].metadata
        drawn = [cell for cell in student.values() if "cellView" in cell.metadata]
        assert [{}, {}, {}, {}] == [
            {key: value for key, value in folded.items() if cell.metadata[key] != value} for cell in drawn
        ]
        assert {"install", "setup"} < {cell.id for cell in drawn}

    def test_mine(self, tmp_path: Path) -> None:
        """A `mine` cell is folded and tagged for the site in every notebook."""
        taken = '# %% mine=true name="own"\nmy_double = mine("double", abs)\n'
        build(make_project(tmp_path, f"{TEXT}\n{taken}"), observe)
        for folder in ("notebooks", "solutions", "course/source"):
            own = cells(tmp_path, folder)["own"]
            told, taken = own.source.split("\n")

            assert "# yours, or the lesson's until the check passes: my_double" == told
            assert 'my_double = mine("double", abs)' == taken
            assert {"jupyter": {"source_hidden": True}, "cellView": "form", "tags": ["mine"]} == own.metadata

    def test_known(self, tmp_path: Path) -> None:
        """A `known` cell is folded and tagged for the site."""
        text = f'{TEXT}\n# %% known=true name="again"\n# pi, as before\npi = math.pi\n'
        build(make_project(tmp_path, text), observe)
        again = cells(tmp_path, "notebooks")["again"]

        assert "# pi, as before\npi = math.pi" == again.source
        assert {"jupyter": {"source_hidden": True}, "cellView": "form", "tags": ["known"]} == again.metadata


class TestSidePaths:
    def test_cells(self, tmp_path: Path) -> None:
        """A side path has a marked heading that folds its text and code, which are separate cells."""
        side = '# %% [markdown] side=true name="why"\n# #### Why?  (1 minute)\n#\n# So.\n\n# %%\n1\n'
        build(make_project(tmp_path, f"{TEXT}\n{side}"), observe)
        for folder in ("notebooks", "solutions", "course/source"):
            *_, heading, said, code = cells(tmp_path, folder).values()

            assert ("#### ↳ Why?  (1 minute)", "So.", "1") == (heading.source, said.source, code.source)
            assert {"jp-MarkdownHeadingCollapsed": True, "id": "why"} == heading.metadata
            assert ({}, {}, "why_in") == (said.metadata, code.metadata, said.id)

    def test_notebook(self, project: Path, tmp_path: Path) -> None:
        """Notebook metadata lists the side paths for Colab to fold; without side paths it has no such entry."""
        build(make_project(tmp_path, f"{TEXT}\n# %% [markdown] side=true\n# #### Why?\n#\n# So.\n"), observe)
        folded, plain = (nbformat.read(each / f"notebooks/{STEM}.ipynb", as_version=4) for each in (tmp_path, project))

        assert {"collapsed_sections": [folded.cells[-2].id]} == folded.metadata.colab
        assert {"kernelspec", "language_info"} == set(plain.metadata)


class TestAddress:
    def test_none(self, project: Path) -> None:
        """Without an address there is no badge, and the install cell says how to install from a clone."""
        student = cells(project, "notebooks")

        assert "colab" not in student["opening"].source
        assert "run `pip install .` in its folder" in student["install"].source

    def test_set(self, tmp_path: Path) -> None:
        """With an address, the badge is below the title, and the install cell installs from the address."""
        build(make_project(tmp_path, address=ADDRESS), observe)
        student = cells(tmp_path, "notebooks")
        title, _, badge, *_ = student["opening"].source.split("\n")

        assert title == "# Chapter 7: Small"
        assert badge.endswith(f"/github/someone/pytorch-basics/blob/main/notebooks/{STEM}.ipynb)")
        assert f"    %pip install --quiet git+{ADDRESS}\n" in student["install"].source

    @pytest.mark.parametrize("address", ["", ADDRESS, "https://git.example.org/a/b"])
    def test_torch_is_never_installed(self, tmp_path: Path, address: str) -> None:
        """With any address, the install cell imports torch and never installs it."""
        build(make_project(tmp_path, address=address), observe)
        install = cells(tmp_path, "notebooks")["install"].source

        assert "import torch\n" in install
        assert not any("install" in line and "torch" in line.replace("pytorch", "") for line in install.split("\n"))

    def test_elsewhere(self, tmp_path: Path) -> None:
        """An address outside GitHub gets no Colab badge, because Colab opens notebooks only from GitHub."""
        build(make_project(tmp_path, address="https://git.example.org/a/b"), observe)

        assert "colab" not in cells(tmp_path, "notebooks")["opening"].source

    @pytest.mark.parametrize("address", ["http://a.b/c", "git@a.b:c", "https://a.b/c; rm -rf ~", "https://a.b/c d"])
    def test_refused(self, tmp_path: Path, address: str) -> None:
        """An address that is not plain https raises an error."""
        with pytest.raises(CourseError, match="expected an https address"):
            generate_files(make_project(tmp_path, address=address), observe)


class TestRebuild:
    def test_same_bytes(self, project: Path, tmp_path: Path) -> None:
        """The same chapter gives the same bytes in any folder."""
        assert generate_files(project, observe) == generate_files(make_project(tmp_path), observe)

    def test_nothing_to_do(self, project: Path) -> None:
        """A second build changes nothing and says so."""
        assert build(project, observe) == []

    def test_gradebook(self, project: Path) -> None:
        """Building creates no gradebook."""
        assert not list(project.rglob("gradebook.db*"))

    def test_readable(self, project: Path) -> None:
        """Built files have the permissions of any file that the user makes."""
        plain = project / "plain"
        plain.touch()
        modes = {stat.S_IMODE((project / name).stat().st_mode) for name in ("plain", f"notebooks/{STEM}.ipynb")}

        assert len(modes) == 1


class TestOneChapter:
    @pytest.fixture
    def two(self, tmp_path: Path) -> Path:
        """Return a project of two chapters, not built, with a file in a generated folder that belongs to neither."""
        project = make_project(tmp_path)
        chapters = project / "course" / "chapters"
        other = TEXT.replace("double", "triple").replace("hunt", "search")
        (chapters / f"{OTHER}.py").write_text(other, encoding="utf-8")
        (project / "notebooks").mkdir()
        (project / "notebooks" / "stray.ipynb").touch()
        return project

    def test_nothing_else_is_looked_at(self, two: Path) -> None:
        """Building one chapter observes and writes only that chapter, but the points of both."""
        observed = list[str]()
        told = build(two, lambda _, stem, __: observed.append(stem) or {}, only=STEM)

        assert [STEM] == observed and (two / "notebooks" / "stray.ipynb").is_file()
        assert {STEM, "stray"} == {path.stem for path in two.rglob("*.ipynb")}
        assert any(line == f"wrote course/source/{STEM}/{STEM}.ipynb" for line in told)
        assert all(stem in (two / "course" / "shipped" / "points.json").read_text() for stem in (STEM, OTHER))

    def test_as_when_all_are_built(self, two: Path) -> None:
        """Building one chapter writes the same bytes as building all."""
        every = generate_files(two, observe)

        one = generate_files(two, observe, only=STEM)
        assert one == {path: every[path] for path in one} and len(one) < len(every)

    def test_checked_alone(self, two: Path) -> None:
        """Checking one chapter reports only its own files."""
        build(two, observe, only=STEM)

        assert [] == list_stale_generated_files(two, observe, only=STEM) and list_stale_generated_files(two, observe)

    def test_unknown(self, two: Path) -> None:
        """An unknown chapter raises an error that lists the chapters."""
        with pytest.raises(CourseNotFound, match=f"expected one of the chapters {STEM}, {OTHER}, found 'ch09'"):
            build(two, observe, only="ch09")


class TestRefused:
    def test_nbgrader_says_no(self, tmp_path: Path) -> None:
        """An error of nbgrader's is reported in one line, and nothing is half built."""
        project = make_project(tmp_path, TEXT.replace("math.pi\n", "# BEGIN SOLUTION\n"))
        with pytest.raises(CourseError, match=f"nbgrader could not release {STEM}: .*solution") as told:
            build(project, observe)

        assert "\n" not in str(told.value)
        assert not (project / "notebooks").exists()

    def test_no_configuration(self, tmp_path: Path) -> None:
        """A course without nbgrader's configuration raises a one-line error."""
        project = make_project(tmp_path)
        (project / "course" / "nbgrader_config.py").unlink()
        with pytest.raises(CourseNotFound, match=r"the one with nbgrader_config\.py and chapters/; found none in"):
            build(project, observe)

    def test_no_course(self, tmp_path: Path) -> None:
        """A folder without a course raises a one-line error."""
        with pytest.raises(CourseNotFound, match="Run this in the course's clone"):
            build(tmp_path, observe)
