"""A chapter without its lessons: the setup cell, the exercises and the checks, which is what grading looks at."""

from __future__ import annotations

import re
from pathlib import Path
from shutil import copyfile, copytree, ignore_patterns

from autograder.authoring.chapter import read_chapter
from autograder.authoring.notebook import source_notebook, to_bytes
from tests.small_chapter import PROJECT

_KEPT = re.compile(r"# %% .*\b(exercise|check|setup|parameters)=")


def make_course(folder: Path, stem: str) -> Path:
    """Write a course folder of one such chapter; returns it."""
    for name in ("chapters", f"source/{stem}"):
        (folder / name).mkdir(parents=True)
    others = [f"{path.stem}.*" for path in (PROJECT / "course" / "chapters").glob("*.py") if path.stem != stem]
    for name in (f"answers/{stem}", "exercises", "shipped"):  # of exercises, chapters lend to one another
        copytree(PROJECT / "course" / name, folder / name, ignore=ignore_patterns("__pycache__", *others))
    copyfile(PROJECT / "course" / "nbgrader_config.py", folder / "nbgrader_config.py")
    text = (PROJECT / "course" / "chapters" / f"{stem}.py").read_text()
    cells = [cell for cell in re.split(r"(?m)^(?=# %%)", text) if _KEPT.match(cell)]
    chapter = folder / "chapters" / f"{stem}.py"
    chapter.write_text("".join(['# %% [markdown] name="opening"\n# # A short chapter\n\n', *cells]))
    (folder / "source" / stem / f"{stem}.ipynb").write_bytes(to_bytes(source_notebook(read_chapter(chapter), "")))
    return folder
