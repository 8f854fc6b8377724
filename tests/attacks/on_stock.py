"""Run the attack bank against stock nbgrader, and write the tables of docs/attacks.md.

    python -m tests.attacks.on_stock             # as root, on Linux: run, and write on_stock.json
    python -m tests.attacks.on_stock NAME ...    # only these, as judge/forged_pass; the other rows stay
    python -m tests.attacks.on_stock --table     # print the tables from on_stock.json

Each attack has a course of its own with two students: the first hands in the attack, the second the worked solutions.
One `nbgrader autograde`, without any configuration, grades both in a throw-away machine (`bench`).
"""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from autograder.course.chapter_model import Chapter
from autograder.course.chapter_reader import read_chapter
from tests.attacks import bench
from tests.walls import LANDLOCK

PROJECT = Path(__file__).resolve().parents[2]
FOLDER = Path(__file__).parent
RESULTS = FOLDER / "on_stock.json"
STEM, TARGET, OTHER = "ch01_tensors", "standardize", "add_bias"  # an assignment made for this, of two exercises
FAMILIES = {
    "judge": "Points that are not earned",
    "others": "What is not the student's own: files, processes, the network, other students",
    "machine": "The run and the machine",
}
COURSE = Path("/srv/course")  # in the machine
SECONDS = 180
PACKAGES = ("nbgrader", "nbclient", "ipykernel", "torch")
POINTS = {TARGET: 3, OTHER: 1}
HIDDEN = {
    TARGET: """\
def reference(x, dim, eps):
    mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)


for shape, dim in (((3, 5), 0), ((3, 5), 1), ((2, 3, 4), -1), ((2, 3, 4), 1)):
    x = torch.randn(shape) + 2
    given = x.clone()
    result = standardize(given, dim, 1e-5)
    assert result.shape == x.shape
    assert torch.allclose(result, reference(x, dim, 1e-5), atol=1e-5)
    assert torch.equal(given, x)""",
    OTHER: """\
x, bias = torch.randn(2, 3, 5), torch.randn(3)
assert torch.equal(add_bias(x, bias), x + bias[:, None])
assert torch.equal(add_bias(torch.zeros(2, 3, 3), bias)[0, :, 0], bias)""",
}
# What an attack that leaves no trace shows to its student, whose feedback has the outputs of every cell.
WITNESS = {
    "others/bind_everywhere": "import socket\nsocket.socket().bind(('0.0.0.0', 8888))\nprint('a door is open')",
    "others/connect": "print('connected:', standardize(None, 0, 0).getpeername()[1])",
    "others/look_up_a_name": "print('looked up:', standardize(None, 0, 0))",
    "others/read_environment_of_all": "print('read:', len(standardize(None, 0, 0)))",
    "others/read_memory_of_the_first": "print('read:', len(standardize(None, 0, 0)))",
    "others/read_users": "print('read:', standardize(None, 0, 0)[:4], '...')",
    "others/trace_the_first": "import ctypes\nassert ctypes.CDLL(None).ptrace(16, 1, 0, 0) == 0\nprint('traced')",
    "machine/mount": "import ctypes\nassert ctypes.CDLL(None).mount(b'none', b'/usr', b'tmpfs', 0, None) == 0\n"
    "print('mounted')",
    "machine/new_namespace": "import os\nif os.fork() == 0:\n    import ctypes\n"
    "    os._exit(ctypes.CDLL(None).unshare(0x10000000) != 0)\n"
    "assert os.wait()[1] == 0\nprint('root in a namespace of its own')",
}
# Attacks that only the bench stopped, and the resource that it limits; without the bench they would continue.
UNBOUNDED = {
    "machine/disk": "the disk",
    "machine/large_file": "the disk",
    "machine/inodes": "the file system's entries",
    "machine/fork_bomb": "processes",
    "machine/thread_bomb": "threads",
    "machine/memory": "memory",
    "machine/memory_of_nobody": "memory",
    "others/look_up_a_name": "the network",
}
# Files that any grading writes, and files that an attack leaves in its own student's folder.
_EXPECTED = re.compile(
    rf"^{COURSE}/autograded/(attacker/|honest/{STEM}/{STEM}.ipynb$)|-journal$"
    rf"|^{bench.HOME}/(log$|\.local/share/jupyter/|\.jupyter/|\.ipython/|\.cache/)|^/tmp/tmp[^/]*$"
)
Row = dict[str, Any]


def attacks() -> dict[str, str]:
    """Return the text of every attack, by `family/name`."""
    paths = sorted(FOLDER.glob("*/*.py"))
    return {f"{path.parent.name}/{path.stem}": path.read_text(encoding="utf-8") for path in paths}


def told(text: str, wall: str = "") -> dict[str, str]:
    """Return the fields in an attack's first lines: what it tries, its share of the points, the expected sentence.

    A field with the name of a wall before it holds behind that wall alone.
    """
    fields = re.findall(r"^# (?:(\w+) )?(Tries|share|says|others):? (.*)$", text, re.MULTILINE)
    return {name: value for where, name, value in sorted(fields) if where in ("", wall)}


# --- the course


@functools.cache
def chapter_of(exercise: str) -> Chapter:
    """Return the chapter of one of the two exercises."""
    (path,) = (PROJECT / "course" / "exercises").glob(f"*/{exercise}.py")
    return read_chapter(PROJECT / "course" / "chapters" / f"{path.parent.name}.py")


def solutions() -> dict[str, str]:
    """Return the worked solutions of the two exercises."""
    return {name: chapter_of(name).solution(name) for name in POINTS}


def notebook(answers: dict[str, str], last: str = "") -> NotebookNode:
    """Return the assignment with these answers: setup, solution and test cells as in any nbgrader course."""
    cells = [new_code_cell(chapter_of(TARGET).prelude, id="setup")]
    for name, points in POINTS.items():
        about = {"schema_version": 3, "locked": False, "task": False}
        solution = about | {"grade_id": name, "grade": False, "solution": True}
        test = about | {"grade_id": f"check_{name}", "grade": True, "solution": False, "locked": True}
        hidden = f"### BEGIN HIDDEN TESTS\n{HIDDEN[name]}\n### END HIDDEN TESTS"
        cells += [
            new_code_cell(answers[name], id=name, metadata={"nbgrader": solution}),
            new_code_cell(hidden, id=f"check_{name}", metadata={"nbgrader": test | {"points": points}}),
        ]
    if last:
        cells.append(new_code_cell(last, id="last"))
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    made: NotebookNode = new_notebook(cells=cells, metadata=kernel)
    return made


def write(course: Path, where: str, book: NotebookNode) -> None:
    """Write a notebook to a folder of the course."""
    path = course / where / f"{STEM}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(book, path)


def make_course(course: Path) -> None:
    """Make a course folder without configuration, and let nbgrader generate its assignment."""
    right = solutions()
    write(course, f"source/{STEM}", notebook(right))
    write(course, f"submitted/honest/{STEM}", notebook(right))
    command = [sys.executable, "-m", "nbgrader", "generate_assignment", STEM]
    subprocess.run(command, cwd=course, env=environment() | {"HOME": str(course)}, check=True, capture_output=True)


def environment() -> dict[str, str]:
    """Return the environment variables that programs of the course need: PATH and PYTHONPATH."""
    path = f"{Path(sys.prefix) / 'bin'}:/usr/bin:/bin"
    return {"PATH": path, "PYTHONPATH": str(PROJECT), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}


# --- one run


@contextmanager
def class_of_two(course: Path, hand_in: Callable[[Path], None]) -> Iterator[tuple[bench.Machine, Path]]:
    """Yield a throw-away machine with the course, owned by the grader; `hand_in` fills the attacker's folder."""
    with bench.machine() as machine:
        there = machine.inside(COURSE)
        shutil.copytree(course, there)
        folder = there / "submitted" / "attacker" / STEM
        folder.mkdir(parents=True)
        hand_in(folder)
        for each in (Path(sys.prefix), COURSE, PROJECT / "autograder"):
            machine.give(each)
        # chown(1) also reaches files whose paths are too long for one system call.
        subprocess.run(["chown", "-Rh", f"{bench.USER}:{bench.USER}", str(there)], check=True)
        machine.open_way(Path(sys.base_prefix) / "bin")
        yield machine, there


def run(course: Path, answer: str, last: str = "") -> Row:
    """Grade two submissions in a throw-away machine: one with `answer`, the other with the worked solutions."""
    answers = solutions() | {TARGET: answer}
    book = notebook(answers, last)
    with class_of_two(course, lambda folder: nbformat.write(book, folder / f"{STEM}.ipynb")) as (machine, there):
        before = machine.changed()
        handed_in = _contents(there)
        command = ["sh", "-c", f"{_LISTENER} & cd {COURSE} && exec python -m nbgrader autograde {STEM}"]
        ran = machine.run(command, environment(), SECONDS)
        changed = {path: how for path, how in machine.changed().items() if before.get(path) != how}
        return {
            "ended": ran.code,
            "seconds": ran.seconds,
            "scores": scores(there / "gradebook.db"),
            "left": [_spelled(line) for line in ran.left if line and "create_server" not in line],
            "changed": sorted(
                [_spelled(f"{path} {how}") for path, how in changed.items() if not _EXPECTED.search(path)]
                + [f"{path} changed" for path, text in handed_in.items() if _contents(there).get(path) != text]
            ),
            "told": _last_output(there),
        }


# A local network service, for the attack that connects to one.
_LISTENER = (
    "python -c 'import socket, time\nline = socket.create_server((\"127.0.0.1\", 22))\ntime.sleep(600)' 2>/dev/null"
)


def _spelled(text: str) -> str:
    """Return a text with placeholders for the paths of this machine."""
    return text.replace(sys.prefix, "ENVIRONMENT").replace(str(PROJECT), "CLONE")


def _contents(course: Path) -> dict[str, bytes]:
    """Return the contents of the notebooks that exist before grading, by path."""
    paths = [path for part in ("source", "submitted") for path in (course / part).rglob("*.ipynb")]
    return {f"/{path.relative_to(course.parents[1])}": path.read_bytes() for path in paths}


def scores(database: Path) -> dict[str, float]:
    """Return the points in the gradebook, by student and exercise."""
    book = sqlite3.connect(database)
    try:
        rows = book.execute(
            "SELECT submitted_assignment.student_id, base_cell.name, grade.auto_score FROM grade"
            " JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id"
            " JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id"
            " JOIN base_cell ON base_cell.id = grade.cell_id WHERE grade.auto_score IS NOT NULL"
        )
        return {f"{student} {name.removeprefix('check_')}": score for student, name, score in rows}
    finally:
        book.close()


def _last_output(course: Path) -> str:
    """Return what the last cell of the attacker's notebook printed."""
    path = course / f"autograded/attacker/{STEM}/{STEM}.ipynb"
    if not path.is_file():
        return ""
    outputs = nbformat.read(path, as_version=4).cells[-1].get("outputs", [])
    return "".join(output.text for output in outputs if output.get("name") == "stdout").strip()[:100]


# --- the tables


def harm(name: str, row: Row, share: float) -> list[str]:
    """Return what an attack did that no submission may do, in words; [] if it did nothing of the kind."""
    scores = row["scores"]
    earned, honest = scores.get(f"attacker {TARGET}", 0), [scores.get(f"honest {each}") for each in POINTS]
    words = []
    if earned > share * POINTS[TARGET]:
        words.append(f"{earned:g} of {POINTS[TARGET]} points, not earned")
    if row["told"]:
        words.append(f"reached: `{row['told']}`")
    words += _listed(row["changed"])
    if row["ended"] is None:
        words.append(f"grading still ran after {SECONDS} s, and was stopped from outside")
    elif row["left"]:
        words.append(f"{len(row['left'])} of its processes ran on after grading")
    if honest == [None, None]:
        words.append("the next student is not graded")
    elif honest != list(POINTS.values()):
        words.append(f"the next student gets {sum(each or 0 for each in honest):g} of {sum(POINTS.values())} points")
    return words


def _listed(changed: list[str]) -> list[str]:
    shown = [f"`{path}` {how}" for path, how in (line.rsplit(" ", 1) for line in changed[:2])]
    return [*shown, f"and {len(changed) - 2} more"] if len(changed) > 2 else shown


def outcome(name: str, row: Row, share: float) -> tuple[str, str]:
    """Return the result of an attack as a word to count by and as a text."""
    words = harm(name, row, share)
    if name in UNBOUNDED:
        return "bench", "; ".join([f"only the bench limits {UNBOUNDED[name]}", *words])
    if words:
        return "succeeds", "; ".join(words)
    if not any(student.startswith("attacker") for student in row["scores"]):
        return "fails", "fails; its student gets nothing for the whole notebook"
    if row["scores"].get(f"attacker {OTHER}") != POINTS[OTHER]:
        return "fails", "fails; its student also loses the other exercise"
    return "fails", "fails"


def here(text: str, wall: str = "") -> str:
    """Return what tests/test_attacks.py requires of our engine for this attack behind a wall, in words."""
    keys = told(text, wall)
    if keys["share"] == "1":
        return "fails; the answer is right and gets its points"
    return f'fails; told "{keys["says"]}"' if "says" in keys else "fails; no points"


def in_a_container(text: str) -> str:
    """Return the same behind Landlock, as in a container; "the same" where nothing differs."""
    behind = here(text, LANDLOCK)
    return "the same" if behind == here(text) else behind


def table(results: dict[str, Any]) -> str:
    """Return the figures and the tables as Markdown."""
    texts, rows, about = attacks(), results["attacks"], results["about"]
    fared = {name: outcome(name, rows[name], float(told(texts[name])["share"])) for name in texts}
    count = {word: sum(each[0] == word for each in fared.values()) for word in ("succeeds", "bench", "fails")}
    told_of = ", ".join(f"{package} {about[package]}" for package in PACKAGES)
    lines = [
        f"{len(texts)} attacks, run on {about['date']} on {about['machine']} with {told_of}:",
        "",
        "| | stock nbgrader | here | here, in a container |",
        "|---|---|---|---|",
        f"| succeed | {count['succeeds']} | 0 | 0 |",
        f"| stopped only by the limits of the test bench | {count['bench']} | 0 | 0 |",
        f"| fail | {count['fails']} | {len(texts)} | {len(texts)} |",
    ]
    for family, title in FAMILIES.items():
        lines += ["", f"### {title}", ""]
        lines += [f"| `{family}/` | tries to | stock nbgrader | here | here, in a container |", "|---|---|---|---|---|"]
        lines += [
            f"| {name.removeprefix(f'{family}/')} | {told(text)['Tries'].removeprefix('to ').rstrip('.')}"
            f" | {fared[name][1]} | {here(text)} | {in_a_container(text)} |"
            for name, text in texts.items()
            if name.startswith(family)
        ]
    return "\n".join(lines) + "\n"


# --- the command


def about() -> dict[str, str]:
    """Return the date by this machine's clock, the machine and the versions that the figures belong to."""
    machine = f"Linux, {os.cpu_count()} cores, Python {sys.version.split()[0]}"
    return {"date": date.today().isoformat(), "machine": machine} | {name: version(name) for name in PACKAGES}


def run_all(names: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Run attacks one after the other, and yield each name with its result."""
    texts = attacks()
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        make_course(course)
        for name in names:
            yield name, run(course, texts[name], WITNESS.get(name, ""))


def command(
    words: list[str],
    results: Path,
    names: Collection[str],
    run: Callable[[Iterable[str]], Iterator[tuple[str, Row]]],
    show: Callable[[dict[str, Any]], str],
) -> None:
    """Run the whole bank, or some attacks, or print its tables; saves each row as soon as the row exists."""
    if words == ["--table"]:
        print(show(json.loads(results.read_text())), end="")
        return
    bench.alone()
    rows = json.loads(results.read_text())["attacks"] if words and results.is_file() else {}
    for name, row in run(words or names):
        rows[name] = row
        print(json.dumps({name: row}), flush=True)
        kept = {name: rows[name] for name in names if name in rows}
        results.write_text(json.dumps({"about": about(), "attacks": kept}, indent=1) + "\n")


if __name__ == "__main__":
    command(sys.argv[1:], RESULTS, attacks(), run_all, table)
