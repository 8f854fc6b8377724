"""Run the attacks on the teacher against stock nbgrader, and write their table of docs/attacks.md.

    python -m tests.attacks.teacher_on_stock             # as root, on Linux: run, and write teacher_on_stock.json
    python -m tests.attacks.teacher_on_stock NAME ...    # only these, as files/no_notebook; the other rows stay
    python -m tests.attacks.teacher_on_stock --table     # print the table from teacher_on_stock.json

As in `on_stock`, two students hand in, in a throw-away machine. After `nbgrader autograde`, `generate_feedback` and
`export` the program searches the course for files with a secret of the teacher's and for pages that run what the
attacker wrote.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from runpy import run_path
from typing import Any

import nbformat
from nbformat.v4 import new_markdown_cell

from tests.attacks import on_stock
from tests.attacks.on_stock import COURSE, POINTS, STEM, Row
from tests.pages import Running, formgraders_view

FOLDER = on_stock.FOLDER / "teacher"
RESULTS = on_stock.FOLDER / "teacher_on_stock.json"
OUTSIDE, SECRET = COURSE.parent / "outside", "what only the teacher may know"
SECONDS = 300
FAMILIES = {"notebooks": "Notebooks made for who opens them", "files": "What lies beside a notebook, or in its place"}
STEPS = (f"autograde {STEM}", f"generate_feedback {STEM}", "export")
_COMMANDS = f"cd {COURSE}; " + "; ".join(f"python -m nbgrader {step}" for step in STEPS)


def attacks() -> dict[str, Path]:
    """Return every attack on the teacher, by `notebooks/name` and `files/name`."""
    return {f"{path.parent.name}/{path.stem}": path for path in sorted(FOLDER.glob("*/*.py"))}


# --- one run


def run(course: Path, attack: Path, honest: bytes) -> Row:
    """Grade a class of two, generate its feedback and export its scores."""
    with on_stock.class_of_two(course, _handing_in(attack, honest)) as (machine, there):
        outside = machine.inside(OUTSIDE)
        outside.mkdir()
        (outside / "secret.txt").write_text(SECRET)
        for name in ("secret.ipynb", f"{STEM}.ipynb"):
            (outside / name).write_bytes(honest.replace(b"import torch", f"import torch  # {SECRET}".encode(), 1))
        machine.give(OUTSIDE)
        for path in outside.iterdir():
            path.chmod(0o666)
        before = _texts(outside)
        ran = machine.run(["sh", "-c", _COMMANDS], on_stock.environment(), SECONDS)
        return {
            "ended": ran.code,
            "seconds": ran.seconds,
            "scores": on_stock.scores(there / "gradebook.db"),
            "outside": sorted(name for name, text in before.items() if _texts(outside).get(name) != text),
            "copied": sorted(_holding_the_secret(there)),
            "runs": _running(there),
            "brought": sorted(_brought(there)),
            "feedback": sorted(path.parent.parent.name for path in there.glob(f"feedback/*/{STEM}/{STEM}.html")),
        }


def _handing_in(attack: Path, honest: bytes) -> Callable[[Path], None]:
    made = run_path(str(attack))

    def hand_in(folder: Path) -> None:
        if "hand_in" in made:
            made["hand_in"](folder, honest, OUTSIDE)
        else:
            (folder / f"{STEM}.ipynb").write_bytes(made["handed_in"](honest))

    return hand_in


def _texts(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _holding_the_secret(course: Path) -> Iterator[str]:
    """Yield the files that nbgrader made and that contain the teacher's secret."""
    for step in ("autograded", "feedback"):
        for folder, _, names in os.walk(course / step):
            for path in (Path(folder, name) for name in names):
                small = path.is_file() and not path.is_symlink() and path.stat().st_size < 1e8
                if small and SECRET.encode() in path.read_bytes():
                    yield str(path.relative_to(course))


def _brought(course: Path) -> Iterator[str]:
    """Yield the pages in nbgrader's results that the attacker handed in."""
    for step in ("autograded", "feedback"):
        for path in (course / step / "attacker").rglob("*.*htm*"):
            if path.relative_to(course) != Path(f"feedback/attacker/{STEM}/{STEM}.html"):
                yield str(path.relative_to(course))


def _running(course: Path) -> list[str]:
    """Return the pages that run or open what the attacker wrote: "feedback", "formgrader"."""
    feedback = course / f"feedback/attacker/{STEM}/{STEM}.html"
    graded = course / f"autograded/attacker/{STEM}/{STEM}.ipynb"
    found = ["feedback"] if feedback.is_file() and Running(feedback.read_text(errors="replace")).bad else []
    if graded.is_file():
        try:
            found += ["formgrader"] if Running(formgraders_view(graded)).bad else []
        except Exception as error:  # a notebook may break the page in any way
            found.append(f"formgrader fails with {type(error).__name__}")
    return found


# --- the table


def harm(row: Row) -> list[str]:
    """Return what an attack did that no submission may do, in words."""
    points = {who: sum(score for name, score in row["scores"].items() if name.startswith(who)) for who in _STUDENTS}
    words = []
    if points["attacker"] > sum(POINTS.values()):
        words.append(f"{points['attacker']:g} of {sum(POINTS.values())} points")
    words += [f"`{name}` of the teacher's changed" for name in row["outside"][:1]]
    words += [f"a file of the teacher's is in `{re.sub('/.*', '', name)}/`" for name in row["copied"][:1]]
    words += [f"a page that it brought is in `{re.sub('/.*', '', name)}/`" for name in row["brought"][-1:]]
    shown = [page for page in row["runs"] if " " not in page]
    words += [f"what it wrote runs in {' and '.join(shown)}"] if shown else []
    words += [page for page in row["runs"] if " " in page]
    if row["ended"] is None:
        words.append(f"still running after {SECONDS} s, and stopped from outside")
    if points["honest"] != sum(POINTS.values()):
        words.append("the next student is not graded")
    elif "honest" not in row["feedback"]:
        words.append("the next student gets no feedback")
    return words


_STUDENTS = ("attacker", "honest")


def outcome(row: Row) -> str:
    """Return the result of an attack, in words."""
    words = harm(row)
    if words:
        return "; ".join(words)
    return "fails" if any(name.startswith("attacker") for name in row["scores"]) else "fails; its student is not graded"


def here(keys: dict[str, str]) -> str:
    """Return what tests/test_attacks_on_teacher.py requires of our engine, in words."""
    told = f'; told "{keys["says"]}"' if "says" in keys else ""
    return {"0": "fails; no points", "1": "fails; the answers get their points"}.get(keys["share"], "fails") + told


def table(results: dict[str, Any]) -> str:
    """Return the figures and the tables as Markdown."""
    texts = {name: path.read_text() for name, path in attacks().items()}
    fared = {name: outcome(results["attacks"][name]) for name in texts}
    count = sum(not each.startswith("fails") for each in fared.values())
    day = results["about"]["date"]
    lines = [f"{len(texts)} notebooks and folders, run on {day}: {count} do harm on stock nbgrader, none here."]
    for family, title in FAMILIES.items():
        head = f"| `teacher/{family}/` | tries to | stock nbgrader | here |"
        lines += ["", f"### {title}", "", head, "|---|---|---|---|"]
        lines += [_row(name, texts[name], fared[name]) for name in texts if name.startswith(family)]
    return "\n".join(lines) + "\n"


def _row(name: str, text: str, fared: str) -> str:
    keys = on_stock.told(text)
    return f"| {Path(name).name} | {keys['Tries'].removeprefix('to ').rstrip('.')} | {fared} | {here(keys)} |"


# --- the command


def run_all(names: Iterable[str]) -> Iterator[tuple[str, Row]]:
    """Run attacks one after the other, and yield each name with its result."""
    book = on_stock.notebook(on_stock.solutions())
    book.cells.insert(0, new_markdown_cell("# Two exercises\n\nWith a word of the student's.", id="word"))
    honest = str(nbformat.writes(book)).encode()
    with tempfile.TemporaryDirectory() as folder:
        course = Path(folder) / "course"
        on_stock.make_course(course)
        for name in names:
            yield name, run(course, attacks()[name], honest)


if __name__ == "__main__":
    on_stock.command(sys.argv[1:], RESULTS, attacks(), run_all, table)
