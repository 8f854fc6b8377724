import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

from autograder.__main__ import _parser, main
from autograder.errors import WorkFailed
from autograder.grading.assignment import ROOMS_THAT_JUDGE_NOTHING
from autograder.sandbox.require_confinement import UNCONFINED_VARIABLE
from tests.conftest import needs_confinement
from tests.small_chapter import PROJECT, make_project
from tests.walls import skip_where_root_reads_all


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    """The help lists the commands, each with a sentence."""
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])

    told = " ".join(capsys.readouterr().out.split())
    assert "Write notebooks, solutions and shipped observations from the chapters." in told
    assert "Set the project's public address from the git remote `origin`." in told


def test_the_guide_for_teachers_names_what_there_is() -> None:
    """The parser accepts every command line in docs/teachers.md, and in docs/speed.md, to which it points."""
    told = re.findall(r"(?m)(?:^ *|`)autograder ([^`#\n]*)", _guide("teachers"))
    more = re.findall(r"(?m)^autograder ([^#\n]*)", _guide("speed"))

    assert len(told) > 30 and more
    assert all(_parser().parse_args(shlex.split(line)).run for line in (*told, *more))


def test_the_guide_for_teachers_is_short_and_its_links_lead_somewhere() -> None:
    """It has at most 4,000 words, and each heading that it links to is there, in it or in a page beside it."""
    guide = _guide("teachers")
    headings = {path.name: _anchors(_guide(path.stem)) for path in (PROJECT / "docs").glob("*.md")}
    links = re.findall(r"\]\(([a-z-]*\.md|)#([^)]+)\)", guide)

    assert len(guide.split()) <= 4_000
    assert len(links) > 15
    assert [] == [link for link in links if link[1] not in headings[link[0] or "teachers.md"]]


def _guide(name: str) -> str:
    return (PROJECT / "docs" / f"{name}.md").read_text(encoding="utf-8")


def _anchors(page: str) -> set[str]:
    headings: list[str] = re.findall(r"(?m)^#+ (.*)$", page)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An error prints one line, and the status is 1."""
    status = main(["--root", str(tmp_path), "build"])
    told = capsys.readouterr()

    assert (1, "", 1) == (status, told.out, told.err.count("\n"))
    assert told.err.startswith("error: expected the course folder, ")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-8"])
def test_an_output_that_has_not_all_letters(encoding: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A letter that the output's encoding lacks is written as its number, and ends no command."""
    (tmp_path / "chapters").mkdir()
    (tmp_path / "nbgrader_config.py").write_text(f"get_config().CourseDirectory.root = {str(tmp_path)!r}\n")
    (tmp_path / "submitted" / "Łucja→\udcff" / "hw").mkdir(parents=True)
    data = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(data, encoding=encoding))

    assert 0 == main(["--root", str(tmp_path), "summary", "hw"])
    assert ("Łucja→" if encoding == "utf-8" else "\\u0141ucja\\u2192").encode() in data.getvalue()


def test_stopped(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends with one line and status 130."""

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("autograder.authoring.build_course.build", stop)

    assert main(["--root", str(tmp_path), "build"]) == 130
    assert capsys.readouterr().err == "stopped\n"


@pytest.mark.night
def test_stopped_in_the_midst_of_a_text_that_is_run(tmp_path: Path) -> None:
    """The status is 130 even if Ctrl-C comes during an `exec`, when Python would end by the signal."""
    (tmp_path / "stopping.py").write_text(
        "import sys\n"
        "from autograder import __main__\n"
        "from autograder.authoring import build_course\n"
        'build_course.build = lambda *_, **__: exec("raise KeyboardInterrupt")\n'
        'sys.exit(__main__.main(["build"]))\n'
    )
    words = [sys.executable, "-m", "stopping"]
    ran = subprocess.run(words, cwd=tmp_path, stderr=subprocess.PIPE, text=True, check=False)

    assert (130, "stopped\n") == (ran.returncode, ran.stderr)


@pytest.mark.parametrize(("command", "unbuffered"), [("doctor", ""), ("doctor", "1"), ("--help", "")])
def test_nobody_reads_on(command: str, unbuffered: str) -> None:
    """A command whose output pipe is closed prints nothing, and has the status of a closed pipe."""
    reader, writer = os.pipe()
    os.close(reader)
    words = [sys.executable, "-m", "autograder", command]
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    ran = subprocess.run(words, stdout=writer, stderr=subprocess.PIPE, env=environment, text=True, check=False)
    os.close(writer)

    assert (141, "") == (ran.returncode, ran.stderr)


def test_another_broken_pipe_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A BrokenPipeError of the command's own work is not suppressed."""

    def broken(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("autograder.authoring.build_course.build", broken)

    with pytest.raises(BrokenPipeError):
        main(["--root", str(tmp_path), "build"])


@pytest.mark.parametrize(
    ("imported", "spared"),
    [
        ("autograder", "torch, IPython"),
        ("autograder.sandbox.confinement_self_test", "torch, IPython"),
        ("autograder.nbgrader_plugin.nbgrader_cycle", "torch, rfc3987_syntax, requests.sessions, isoduration"),
        ("autograder.grading.grading_executors", "torch, nbgrader, rfc3987_syntax"),
        ("autograder.course.chapter_reader, jupytext", "torch, nbgrader, jupyter_server"),
        ("autograder.course.chapter_reader", "jupytext, IPython"),
        ("autograder.grading.assignment_grader", "torch, nbgrader"),
        ("autograder.grading.worker_initializer", "torch, nbgrader, nbformat"),
        ("autograder.sandbox.execution.fork_server", "torch, nbgrader"),
        ("autograder.grading.fork_server_for_workers", "torch, nbgrader"),  # it sets up garbage collection first
    ],
)
def test_slow_packages_are_left_to_who_needs_them(imported: str, spared: str) -> None:
    """Importing these modules does not import the slow packages, which take a second or more."""
    code = (
        "import sys; from autograder.faster_startup import block_slow_imports; block_slow_imports(); "
        f"import {imported}; print([name for name in {spared.split(', ')} if sys.modules.get(name)])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "[]\n"


@pytest.mark.parametrize(
    "asked",
    [
        "import requests; found = requests.Session",
        "from requests import Session as found",
        "import requests.sessions; found = requests.Session",
        "import nbgrader.auth.jupyterhub as hub; found = hub.requests.Session",
        "from importlib.util import find_spec; assert find_spec('requests'); from requests import Session as found",
    ],
)
def test_what_is_imported_later_is_there_for_who_asks(asked: str) -> None:
    """A lazily imported package is imported on first use, by any form of import."""
    spared = "from autograder.faster_startup import block_slow_imports; block_slow_imports()"
    code = f"{spared}; {asked}; print(found.__module__)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert ran.stdout == "requests.sessions\n"


@pytest.mark.night
def test_torch_does_not_import_what_it_only_names() -> None:
    """Importing torch does not trigger the lazy import of requests."""
    later = "from autograder.faster_startup import import_requests_lazily; import_requests_lazily()"
    code = f"import sys; {later}; import torch"
    ran = subprocess.run(
        [sys.executable, "-c", f"{code}; print('requests.sessions' in sys.modules)"], capture_output=True
    )

    assert ran.stdout == b"False\n", ran.stderr


@pytest.mark.parametrize(
    ("reason", "refused", "status", "words"),
    [
        (None, None, 0, "runs confined here"),
        ("no user namespaces", None, 1, "cannot be confined here: no user namespaces.\n"),
        (None, "the process did not start. Nothing was graded. Ask.", 1, "confined here: the process did not start.\n"),
    ],
)
def test_doctor(
    reason: str | None,
    refused: str | None,
    status: int,
    words: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """`doctor` says whether students' code is confined, and if not, why, with or without a course."""
    begins = raising(WorkFailed(refused)) if refused else lambda _: None
    monkeypatch.setattr("autograder.sandbox.confinement_self_test.confinement_problem", lambda: reason)
    monkeypatch.setattr("autograder.sandbox.execution.choose_runner.check_fork_server", begins)

    for root in (PROJECT, tmp_path):
        assert main(["--root", str(root), "doctor"]) == status
        assert words in capsys.readouterr().out


@needs_confinement
def test_doctor_tries_what_grading_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`doctor` reports lessons that the sandbox's user cannot read."""
    skip_where_root_reads_all()
    course = tmp_path / "course"
    (course / "chapters").mkdir(parents=True)
    (course / "nbgrader_config.py").touch()
    (course / "figures").mkdir(mode=0o700 if os.geteuid() == 0 else 0)

    status = main(["--root", str(course), "doctor"])
    (course / "figures").chmod(0o700)  # pytest cannot remove a folder that it cannot read
    assert 1 == status
    assert f"that user cannot read {course / 'figures'} (a umask" in capsys.readouterr().out


def test_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`address` takes the address from the remote, and says to build afterwards."""
    project = make_project(tmp_path)
    git = ["git", "-C", str(project)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "remote", "add", "origin", "git@github.com:someone/course.git"], check=True)
    status = main(["--root", str(project), "address"])

    assert status == 0
    assert "https://github.com/someone/course now. Run `make build`" in capsys.readouterr().out


def test_no_address(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a remote, `address` fails with one line that says how to add one."""
    assert main(["--root", str(make_project(tmp_path)), "address"]) == 1
    assert "found none; add the remote with `git remote add origin ADDRESS`" in capsys.readouterr().err


@pytest.mark.night
def test_no_verdict_depends_on_the_rooms_beside() -> None:
    """The modules that a worker imports include no package that the verdict's key leaves out."""
    running = ("fork_server", "submission_child", "submission_runner")  # the last two only for exercises
    late = ", ".join(f"autograder.sandbox.execution.{name}" for name in running)
    early = "autograder.grading.assignment_grader, autograder.grading.grade_submission"
    code = f"import sys, {early}, {late}; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    rooms = {name.split(".")[1] for name in ran.stdout.split() if name.startswith("autograder.")}

    assert {"grading", "course", "diagnosis"} <= rooms and not rooms.intersection(ROOMS_THAT_JUDGE_NOTHING)


@needs_confinement
@pytest.mark.parametrize(
    ("graded", "options", "begins"),
    [
        ([], [], True),
        (["ada"], [], True),
        (["ada", "bob"], [], False),
        (["ada"], ["--student", "ada"], False),
        (["ada", "bob"], ["--force"], True),
        ([], ["--unconfined"], False),
        ([], ["--dask-local", "1"], False),
    ],
)
def test_grading_begins_early_where_it_is_sure_to_be_needed(
    graded: list[str],
    options: list[str],
    begins: bool,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Grading starts torch early only if a selected student has no verdict yet."""
    monkeypatch.delenv(UNCONFINED_VARIABLE, raising=False)
    for path in ("nbgrader_config.py", "chapters/x.py", *(f"verdicts/x/{student}.json" for student in graded)):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    for student in ("ada", "bob"):
        (tmp_path / "submitted" / student / "x").mkdir(parents=True)
    monkeypatch.setattr(
        "autograder.grading.forked_worker_pool.start_shared_process_early", raising(WorkFailed("began early"))
    )
    monkeypatch.setattr("autograder.nbgrader_plugin.nbgrader_cycle.NbgraderCycle", raising(WorkFailed("went on")))

    assert 1 == main(["--root", str(tmp_path), "grade", "x", *options])
    assert f"error: {'began early' if begins else 'went on'}\n" == capsys.readouterr().err


def raising(error: Exception) -> Callable[..., NoReturn]:
    """Return a function that raises this error."""

    def raises(*_: object, **__: object) -> NoReturn:
        raise error

    return raises
