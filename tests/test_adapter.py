"""`autograder adapter` writes a bundle that has the form which each platform takes, or one line and nothing."""

from __future__ import annotations

import ast
import io
import json
import re
import subprocess
import tomllib
import zipfile
from pathlib import Path
from shutil import which

import nbformat
import pytest

from autograder.__main__ import main
from autograder.errors import WorkFailed
from autograder.lms import build_platform_bundle
from autograder.lms.build_platform_bundle import BUNDLE_BUILDERS, BundledSitting, read_bundled_sitting
from autograder.lms.student_package_wheel import StudentWheel, build_or_read_wheel
from tests.sample_course import COURSE, NOTEBOOK, STEM, make_course
from tests.small_chapter import PROJECT, SAMPLE

PLATFORMS = sorted(BUNDLE_BUILDERS)


def made_wheel(folder: Path) -> Path:
    """Return a file that passes for the wheel: whether it is one does not matter to the form of a bundle."""
    path = folder / "pytorch_basics-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("autograder/lms/grade_on_platform.py", "")
    return path


@pytest.fixture(scope="module")
def sitting() -> BundledSitting:
    """Return the sample's sitting."""
    return read_bundled_sitting(COURSE.folder, STEM)


def bundle(platform: str, sitting: BundledSitting) -> dict[str, bytes]:
    """Return the files of a bundle."""
    return dict(BUNDLE_BUILDERS[platform](sitting, StudentWheel("course.whl", b"wheel")))


def in_zip(data: bytes) -> dict[str, tuple[bytes, int]]:
    """Return the content and the rights of each file in a zip."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {each.filename: (archive.read(each), each.external_attr >> 16 & 0o777) for each in archive.infolist()}


def required() -> set[str]:
    """Return what pyproject.toml says of the packages that grading needs beside a student's."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    return {each.partition(";")[0].strip() for each in project["optional-dependencies"]["teach"]}


def test_gradescope(sitting: BundledSitting) -> None:
    """At the root of the zip stand both scripts, which may be run, and the wheel; bash can read the scripts."""
    found = in_zip(bundle("gradescope", sitting)[f"{STEM}.zip"])

    assert {"setup.sh", "run_autograder", "course.whl"} == {name for name in found if "/" not in name}
    for name in ("setup.sh", "run_autograder"):
        script, rights = found[name]
        assert 0o755 == rights and script.startswith(b"#!/usr/bin/env bash\n")
        assert 0 == subprocess.run(["bash", "-n"], input=script, check=False).returncode


def test_setup_installs_the_wheel(sitting: BundledSitting) -> None:
    """pip gets the wheel, torch in this version for a machine without a GPU, and what pyproject.toml asks for."""
    script = in_zip(bundle("gradescope", sitting)[f"{STEM}.zip"])["setup.sh"][0].decode()
    (line,) = (line for line in script.splitlines() if " pip install " in line)
    words = {word.strip("'\"") for word in line.split()}

    assert line.endswith('"$source"/*.whl')
    assert any(re.fullmatch(r"torch==[\d.]+\+cpu", word) for word in words)
    assert {"nbformat", "pyseccomp"} == {re.split("[>=]", word)[0] for word in words & required()}


def test_setup_ends_without_a_wheel(sitting: BundledSitting, tmp_path: Path) -> None:
    """A bundle whose wheel is missing is one line, before anything is installed."""
    script = in_zip(bundle("gradescope", sitting)[f"{STEM}.zip"])["setup.sh"][0].decode()
    there = script.replace("/autograder/source", str(tmp_path))
    # It finds `ls` alone: a script that went on would ask the system's package manager of this machine.
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "ls").symlink_to(str(which("ls")))
    path = {"PATH": str(tmp_path / "bin")}
    ran = subprocess.run([str(which("bash")), "-c", there], capture_output=True, text=True, env=path, check=False)

    assert (1, "") == (ran.returncode, ran.stdout)
    assert f"error: expected the course's wheel in {tmp_path}, found none. Make the bundle again.\n" == ran.stderr


def test_prairielearn(sitting: BundledSitting) -> None:
    """The question is graded externally by its entrypoint, without network, and takes the notebook by its name."""
    found = bundle("prairielearn", sitting)
    info = json.loads(found[f"{STEM}/info.json"])
    options = info["externalGradingOptions"]

    assert ("v3", "External", True) == (info["type"], info["gradingMethod"], options["enabled"])
    assert options["timeout"] <= 600 and "enableNetworking" not in options
    assert f"{STEM}/tests/{Path(options['entrypoint']).relative_to('/grade/tests')}" in found
    assert f'<pl-file-upload file-names="{STEM}.ipynb">' in found[f"{STEM}/question.html"].decode()
    assert {"Dockerfile", "course.whl"} == {name.partition("-image/")[2] for name in found if "-image/" in name}


def test_prairielearn_knows_a_question_again(sitting: BundledSitting) -> None:
    """A bundle made anew has the same uuid; another sitting's has another one."""
    uuids = [
        json.loads(bundle("prairielearn", each)[f"{each.stem}/info.json"])["uuid"]
        for each in (sitting, sitting, BundledSitting("other", "Other", {}))
    ]

    assert uuids[0] == uuids[1] != uuids[2]


def test_classroom50(sitting: BundledSitting) -> None:
    """The folder has the name of a slug and holds autograder.py, the wheel and the course; the runtime names Python."""
    found = bundle("classroom50", sitting)
    (slug,) = {name.partition("/")[0] for name in found if "/" in name}

    assert re.fullmatch(r"[a-z0-9][a-z0-9-]{1,38}", slug)
    assert {"autograder.py", "course.whl"} == {name.partition("/")[2] for name in found if name.count("/") == 1}
    assert ast.parse(found[f"{slug}/autograder.py"])
    assert {"python": "3.12"} == json.loads(found[f"{slug}-runtime.json"])


def test_classroom50_fetches_ten_megabytes(sitting: BundledSitting, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bundle that is larger is refused here, not in each student's run."""
    monkeypatch.setattr(build_platform_bundle, "_MOST", 1000)

    with pytest.raises(WorkFailed, match="is larger than the 1000 bytes that Classroom 50 fetches"):
        bundle("classroom50", sitting)


def test_the_judges_files_stand_apart(sitting: BundledSitting) -> None:
    """Solutions and the answer bank are in the course's folder; the student's wheel has none of them."""
    assert {"chapters", "answers", "exercises", "shipped", "release"} == {name.split("/")[0] for name in sitting.course}
    assert NOTEBOOK.read_bytes() == sitting.course[f"release/{STEM}/{STEM}.ipynb"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_written(platform: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command writes the files of the bundle and says what to do with them; it overwrites none."""
    words = ["--root", str(SAMPLE), "adapter", platform, STEM, "--out", str(tmp_path / "out")]
    words += ["--wheel", str(made_wheel(tmp_path))]

    assert 0 == main(words)
    written = {str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*") if path.is_file()}
    assert capsys.readouterr().out.startswith(f"Wrote {len(written)} files below {tmp_path / 'out'}.\n")

    assert 1 == main(words)
    assert re.fullmatch(r"error: .* exists\. Move it away, or name another .*\n", capsys.readouterr().err)


def test_classroom50_is_told_to_be_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Who makes a bundle for Classroom 50 reads that its folder is published."""
    wheel = str(made_wheel(tmp_path))
    main(["--root", str(SAMPLE), "adapter", "classroom50", STEM, "--out", str(tmp_path / "out"), "--wheel", wheel])

    assert "publishes that folder: whoever finds its address reads the solutions" in capsys.readouterr().out


def refused(words: list[str], out: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Return the one line with which the command ends, after which nothing is written."""
    assert 1 == main([*words, "--out", str(out)])
    told = capsys.readouterr()
    assert ("", 1) == (told.out, told.err.count("\n")) and not out.exists()
    return told.err


def test_an_unknown_sitting(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It is named, with those that there are."""
    words = ["--root", str(SAMPLE), "adapter", "gradescope", "ch99_none"]

    assert f"error: there is no sitting 'ch99_none'. They are: {STEM}.\n" == refused(words, tmp_path / "out", capsys)


@pytest.mark.parametrize("content", [None, b"no zip", b"PK\x05\x06" + bytes(18)])
def test_a_missing_wheel(content: bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A wheel that is not there, is none, or is another package's is named, with the command that builds one."""
    path = tmp_path / "other.whl"
    if content is not None:
        path.write_bytes(content)
    words = ["--root", str(SAMPLE), "adapter", "gradescope", STEM, "--wheel", str(path)]

    told = refused(words, tmp_path / "out", capsys)
    assert f"error: expected the wheel of the course's package at {path}, found none. Name one with --wheel" in told


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in the way of the folder is named, and stays as it was."""
    in_the_way = tmp_path / "file"
    in_the_way.write_text("mine")
    words = ["--root", str(SAMPLE), "adapter", "gradescope", STEM, "--wheel", str(made_wheel(tmp_path))]

    assert "error: cannot write " in refused(words, in_the_way / "out", capsys)
    assert "mine" == in_the_way.read_text()


def test_cells_that_nbgrader_scores(tmp_path: Path) -> None:
    """A release with a teacher's own test or a cell for a person is refused: no platform would give points for it."""
    course = make_course(tmp_path / "course")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    mark = {"grade": True, "solution": False, "locked": True, "points": 1, "schema_version": 3, "cell_type": "code"}
    notebook.cells.append(nbformat.v4.new_code_cell("assert x", metadata={"nbgrader": mark | {"grade_id": "my-test"}}))
    (course / "release" / STEM).mkdir(parents=True)
    nbformat.write(notebook, course / "release" / STEM / f"{STEM}.ipynb")

    with pytest.raises(WorkFailed, match=r"no exercises of the course: my-test\. nbgrader scores"):
        read_bundled_sitting(course, STEM)


def test_files_beside_the_notebook(tmp_path: Path) -> None:
    """Data that a teacher releases with the notebook is refused: answers would not find it on a platform."""
    course = make_course(tmp_path / "course")
    (course / "release" / STEM).mkdir(parents=True)
    (course / "release" / STEM / f"{STEM}.ipynb").write_bytes(NOTEBOOK.read_bytes())
    (course / "source" / STEM / "houses.csv").write_text("1,2")

    with pytest.raises(WorkFailed, match=r"files beside its notebook, .*: houses\.csv\. Move them"):
        read_bundled_sitting(course, STEM)


@pytest.mark.slow
def test_the_wheel_of_this_clone(tmp_path: Path) -> None:
    """It has the student's packages and the course's data, and no chapter and no answer."""
    found = build_or_read_wheel(None)
    with zipfile.ZipFile(io.BytesIO(found.data)) as wheel:
        names = wheel.namelist()

    assert found.name.startswith("pytorch_basics-") and found.name.endswith(".whl")
    assert {"autograder/lms/grade_on_platform.py", "course/shipped/points.json", "explorers/__init__.py"} <= set(names)
    assert not [name for name in names if name.startswith(("course/chapters", "course/answers", "tests", "solutions"))]
