import os
import subprocess
import sys
from pathlib import Path

import pytest

from autograder.errors import WorkFailed
from autograder.files import write_all

# Write a small and a big file with a limit of 64 kB per file, which simulates a full disk.
NO_ROOM = """
import resource, signal, sys
from pathlib import Path
from autograder.errors import WorkFailed
from autograder.files import write_all

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (65_536, 65_536))
try:
    write_all({Path("small"): b"new", Path("big"): b"n" * 100_000})
except WorkFailed as error:
    print(error)
"""


def test_written(tmp_path: Path) -> None:
    """Files and the folders above them are created."""
    write_all({tmp_path / "a" / "b": b"1", tmp_path / "c": b"2"})

    assert (b"1", b"2") == ((tmp_path / "a" / "b").read_bytes(), (tmp_path / "c").read_bytes())


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_no_room(tmp_path: Path) -> None:
    """Without room, every old file stays, no temporary file is left, and the error is one line."""
    for name in ("small", "big"):
        (tmp_path / name).write_text("old")
    python = [sys.executable, "-c", NO_ROOM]
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(python, cwd=tmp_path, capture_output=True, text=True, check=True, env=env)

    assert {"small": "old", "big": "old"} == {path.name: path.read_text() for path in tmp_path.iterdir()}
    assert done.stdout.startswith("cannot write ")
    assert done.stdout.endswith("Make room or give permission, then run the command again.\n")
    assert done.stdout.count("\n") == 1


def test_folder_in_the_way(tmp_path: Path) -> None:
    """A file in place of a folder raises an error and is not changed."""
    (tmp_path / "a").write_text("old")
    with pytest.raises(WorkFailed, match="no old file was lost"):
        write_all({tmp_path / "c": b"new", tmp_path / "a" / "b": b"new"})

    assert ["a"] == [path.name for path in tmp_path.iterdir()]


def test_in_one_step(tmp_path: Path) -> None:
    """A file is replaced atomically, so that an open old file keeps its content."""
    path = tmp_path / "file"
    path.write_text("old")
    os.link(path, tmp_path / "reader")
    write_all({path: b"new"})

    assert ("new", "old") == (path.read_text(), (tmp_path / "reader").read_text())
