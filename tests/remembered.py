"""What passed before, remembered by content: a test that nothing has changed for is not run again.

What a test depends on is every file of the project but those of chapters that it is not about: which these are, says
`ABOUT`, the group of tests that share a chapter's class, or the chapter that it is run with (`UP_TO`); and but the
banks, and what is shipped of them, that it does not read (`EVERY_BANK`).
Change one of these files, Python or torch, and it runs. `THOROUGH=1` remembers nothing.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from subprocess import run

from autograder.files import digest_of
from tests.asked import THOROUGH
from tests.small_chapter import PROJECT

FOLDER = PROJECT / "build" / "proved" / "tests"
SECONDS = 0.5  # what is quicker is not worth a file
GROUP = "class of "  # begins the name of a group of tests that share the class of a chapter
# Of these test modules, the chapters whose text, exercises or answers they look at. Every other is about all of them.
ABOUT: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("runner", "second_course", "stubs", "probe", "probes", "submission"), ()),
    **dict.fromkeys(("collect_names", "collect_matching", "collect_zip", "collect_placing", "columns"), ()),
    **dict.fromkeys(("autograd_graph", "graph_picture", "loop_picture", "loop_state"), ()),
    **dict.fromkeys(("shape_explorer", "shape_picture", "explorer_widget"), ()),
    **dict.fromkeys(("whole_runs", "learn", "attacks", "attacks_on_teacher", "other_cells"), ("ch01_tensors",)),
    **dict.fromkeys(("class_run", "progress_travels", "leaning_live", "confinement"), ("ch01_tensors",)),
    **dict.fromkeys(("bench", "collect_whole", "reporting"), ("ch01_tensors",)),
    **dict.fromkeys(("gradebook", "exports"), ("ch01_tensors", "ch02_autograd")),
}
# Tests of these modules that are run with a chapter are about this one and those before it.
UP_TO = ("cheating", "ledger", "mine_in_chapters")
BANKS = ("course/answers/", "course/shipped/")
# These test modules look at the banks of all chapters that they are about, or at what is shipped of them. Every other,
# with what it starts, reads at most that of the chapter that the tests grade; one that opens another is told so.
EVERY_BANK = frozenset({
    *("agreement", "arrange", "bank", "ch06_hunt", "colab", "graded_banks", "judge", "leaks", "mutation", "names"),
    *("other_processors", "other_torch", "own_lines", "packed", "parity", "reporting_equal", "rules", "setup"),
    *("site_taken", "sync", "tally", "worth_a_look"),
})  # fmt: skip
GRADED = "ch01_tensors"
# These draw anew in each run.
DRAWN = ("fuzz",)


def stems() -> list[str]:
    """The chapters of this project."""
    return sorted(path.stem for path in (PROJECT / "course" / "chapters").glob("*.py"))


@cache
def content(about: tuple[str, ...], banks: tuple[str, ...]) -> str:
    """The digest of all files but those of other chapters, and other chapters' banks, and of what runs them."""
    others = [stem for stem in stems() if stem not in about]
    listed = run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=PROJECT, capture_output=True, text=True, check=False
    )
    unread = (*others, ".md") if others else ()  # what is about some chapters reads no documents
    names = [name for name in sorted(listed.stdout.splitlines()) if not any(part in name for part in unread)]
    closed = tuple(f"{folder}{stem}" for folder in BANKS for stem in stems() if stem not in banks)
    names = [name for name in names if not name.startswith(closed)]
    files = [PROJECT / name for name in names if (PROJECT / name).is_file()]
    if listed.returncode or not files:
        return ""
    return digest_of(sys.version, version("torch"), *names, *(file.read_bytes() for file in files))


def about(module: str, groups: Iterable[str], name: str = "") -> tuple[str, ...]:
    """The chapters that a test is about: by the group that it is in, by the chapter in its name, else by its module."""
    for group in groups:
        if group.startswith(GROUP):
            return (group.removeprefix(GROUP),)
    known, every = module.removeprefix("test_"), tuple(stems())
    place = next((place for place, stem in enumerate(every) if known in UP_TO and stem in name), len(every))
    return ABOUT.get(known, every[: place + 1])


def banks(module: str, chapters: tuple[str, ...]) -> tuple[str, ...]:
    """The chapters whose banks a test of this module reads, which is about these chapters."""
    known = module.removeprefix("test_")
    return chapters if len(chapters) == 1 or known in EVERY_BANK or known in UP_TO else (GRADED,)


def watch_banks(project: Path = PROJECT) -> Callable[[str, tuple[str, ...]], None]:
    """From now on, let no test open a bank that it is said not to read; returns what tells which test module runs, and
    the chapters whose banks it reads.
    """
    folders = tuple(f"{project / folder}/" for folder in BANKS)
    running: list[str] = ["", ""]

    def refuse(event: str, args: tuple[object, ...]) -> None:
        if event == "open" and isinstance(args[0], str) and args[0].startswith(folders) and running[0]:
            stem = re.split(r"[/.]", args[0].removeprefix(str(project / "course")))[2]
            if stem.startswith("ch") and stem not in running[1:]:
                raise AssertionError(f"{args[0]} is opened: add {running[0]!r} to EVERY_BANK in tests/remembered.py")

    def run_of(module: str, read: tuple[str, ...]) -> None:
        running[:] = [module.removeprefix("test_"), *read]

    sys.addaudithook(refuse)
    return run_of


def place(name: str, chapters: tuple[str, ...], banks: tuple[str, ...]) -> Path | None:
    """The file that stands for a test that passed, as everything is now; None where nothing can be remembered."""
    known = "" if THOROUGH or any(f"test_{module}" in name for module in DRAWN) else content(chapters, banks)
    return FOLDER / digest_of(name, known) if known else None


def worth_it(module: str, groups: Iterable[str], seconds: float) -> bool:
    """Whether a test is to be remembered: a slow one, and all that share what is slow to make."""
    known = module.removeprefix("test_")
    return seconds > SECONDS or bool(list(groups)) or known in ABOUT or known not in EVERY_BANK
