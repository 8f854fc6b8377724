import subprocess
from pathlib import Path

import pytest

from autograder.authoring.project_address_setting import origin_address, read_address, remote_as_https, write_address
from autograder.errors import WorkFailed
from tests.small_chapter import PROJECT, make_project


@pytest.mark.parametrize(
    ("remote", "expected"),
    [
        ("https://github.com/someone/course.git", "https://github.com/someone/course"),
        ("https://github.com/someone/course/", "https://github.com/someone/course"),
        ("https://user:secret@github.com/someone/course.git", "https://github.com/someone/course"),
        ("git@github.com:someone/course.git", "https://github.com/someone/course"),
        ("ssh://git@GitHub.com:22/someone/course.git", "https://github.com/someone/course"),
        ("http://github.com/someone/course", None),
        ("git://github.com/someone/course", None),
        ("file:///srv/course.git", None),
        ("/srv/course.git", None),
        ("../course", None),
        ("https://localhost/course.git", None),
        ("", None),
    ],
)
def test_normalized(remote: str, expected: str | None) -> None:
    """Hosted https and ssh remotes become plain https addresses without secrets; others become None."""
    assert expected == remote_as_https(remote)


def test_origin(tmp_path: Path) -> None:
    """The address comes from the remote `origin`; without that remote it is None."""
    git = ["git", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    before = origin_address(tmp_path)
    subprocess.run([*git, "remote", "add", "origin", "git@github.com:someone/course.git"], check=True)

    assert before is None
    assert origin_address(tmp_path) == "https://github.com/someone/course"


def test_write(tmp_path: Path) -> None:
    """Writing the address changes only its line, and writing it again changes nothing."""
    project = make_project(tmp_path)
    address = "https://github.com/someone/course"
    before = (project / "pyproject.toml").read_text()

    assert [True, False] == [write_address(project, address), write_address(project, address)]
    assert address == read_address(project)
    assert before.replace('""', f'"{address}"') == (project / "pyproject.toml").read_text()


def test_write_into_this_project(tmp_path: Path) -> None:
    """This project's pyproject.toml has the setting, so that `write_address` can set it."""
    (tmp_path / "pyproject.toml").write_text((PROJECT / "pyproject.toml").read_text())
    write_address(tmp_path, "https://example.org/a/b")

    assert read_address(tmp_path) == "https://example.org/a/b"


def test_no_setting(tmp_path: Path) -> None:
    """Without the setting, writing fails with one line that says what to add."""
    (tmp_path / "pyproject.toml").write_text("[tool.other]\naddress = 'x'\n")
    with pytest.raises(WorkFailed, match=r'expected one `address = "..."` under \[tool.pytorch-basics\]'):
        write_address(tmp_path, "https://example.org/a/b")


def test_no_pyproject(tmp_path: Path) -> None:
    """A folder without a pyproject.toml has no address."""
    assert read_address(tmp_path) == ""
