"""Run the solved chapters from top to bottom, and cache each result until a file changes that it depends on."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import explorers
from autograder.course.course_location import ANSWERS, CHAPTERS
from autograder.files import write_all
from autograder.grading.assignment import grader_digest
from autograder.run_with_papermill import run_notebook

_UNREAD = (ANSWERS, CHAPTERS, "ledger")  # folders of a course that no notebook reads


def execute_chapters(
    solutions: Sequence[Path], course: Path, cache: Path, stems: Collection[str]
) -> dict[str, NotebookNode]:
    """Return the solution notebooks by stem, those of `stems` executed in parallel; raise WorkFailed if a cell fails.

    Another notebook has the outputs that are cached for it, or none.
    """
    kept = {each: cache / f"{each.stem}-{chapter_digest(each, course)}.ipynb" for each in solutions}
    missing = [(each, to) for each, to in kept.items() if each.stem in stems and not to.is_file()]
    if missing:
        # In processes: papermill changes the folder that its process is in.
        with ProcessPoolExecutor(min(len(missing), os.cpu_count() or 1)) as pool:
            list(pool.map(_run, *zip(*missing, strict=True)))
    return {each.stem: nbformat.read(to if to.is_file() else each, as_version=4) for each, to in kept.items()}


def _run(solution: Path, to: Path) -> None:
    """Run a notebook, write it to the cache, and remove its older versions there."""
    worked = nbformat.read(solution, as_version=4)
    advice = "No page was written. Run `make nbval` to see where."
    made = run_notebook(worked, f"{solution.name} does not run", advice)
    write_all({to: (nbformat.writes(made) + "\n").encode()})
    for old in to.parent.glob(f"{solution.stem}-*.ipynb"):
        if old != to:
            old.unlink()


def chapter_digest(solution: Path, course: Path) -> str:
    """Return a digest of a solved notebook, of the code that it calls, and of the course files that it can read."""
    others = [other.stem for other in solution.parent.glob("*.ipynb") if other != solution]
    whole = hashlib.sha256(solution.read_bytes() + grader_digest().encode())
    for path in (*_files(Path(explorers.__file__).parent), *_read_by(course, others)):
        whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


def _read_by(course: Path, others: Sequence[str]) -> Iterator[Path]:
    """Yield the course files that a chapter's cells can read: figures, cards and exercises, not other chapters'."""
    for path in _files(course):
        within = path.relative_to(course).as_posix()
        if not within.startswith(_UNREAD) and not any(stem in within for stem in others):
            yield path


def _files(folder: Path) -> list[Path]:
    kinds = (".py", ".js", ".css", ".json", ".safetensors")
    return [path for path in sorted(folder.rglob("*.*")) if path.suffix in kinds]
