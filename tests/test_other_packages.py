"""Other packages on the index with the same folder names are detected when installed in the same place."""

from pathlib import Path

import pytest

import autograder
from autograder import package_conflicts
from autograder.__main__ import main
from autograder.package_conflicts import package_collision


def install(folder: Path, name: str) -> None:
    """Write the metadata of an installed package."""
    about = folder / f"{name}-3.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 3.1\n")


def test_another_package_in_the_same_folders_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages with the same folders in the same place are named, and others are not."""
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "otter")
    assert package_collision(tmp_path) is None
    install(tmp_path, "autograder")
    assert package_collision(tmp_path / "elsewhere") is None
    assert "Another package, autograder, is" in (package_collision(tmp_path) or "")
    install(tmp_path, "explorers")
    assert "Run `pip uninstall autograder explorers`" in (package_collision(tmp_path) or "")


def test_commands_and_notebooks_refuse_to_mix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With such a package, commands fail with one line, and so does importing `check`."""
    monkeypatch.syspath_prepend(tmp_path)
    install(tmp_path, "autograder")
    monkeypatch.setattr(package_conflicts.package_collision, "__defaults__", (tmp_path,))

    assert 1 == main(["doctor"])
    assert capsys.readouterr().err.startswith("error: Another package, autograder, is installed")
    with pytest.raises(ImportError, match=r"^Another package, autograder, .* install the course again"):
        _ = autograder.check
