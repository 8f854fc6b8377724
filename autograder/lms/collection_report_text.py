"""Render the result of a collection as the lines that `autograder collect` prints."""

from __future__ import annotations

from collections.abc import Iterator

from autograder.lms.collection_result import CollectionResult
from autograder.lms.save_collected_submission import PlacementAction
from autograder.terminal_text import replace_unprintable

_COUNTED = (
    PlacementAction.NEW,
    PlacementAction.NEWER,
    PlacementAction.SAME,
    PlacementAction.OLDER,
    PlacementAction.LEFT,
)


def collection_report_lines(done: CollectionResult, stem: str, is_dry: bool) -> Iterator[str]:
    """Yield the lines to print: the counts, the students by outcome, the files left, and what to do next."""
    counts = ", ".join(f"{len(done.outcomes[each])} {each.value}" for each in _COUNTED if done.outcomes[each])
    yield f"{done.files} files in the zip; students: {counts or 'none that could be found'}"
    for what, names in (
        (f"{PlacementAction.NEWER.value}", done.outcomes[PlacementAction.NEWER]),
        (f"{PlacementAction.OLDER.value}, so nothing was done", done.outcomes[PlacementAction.OLDER]),
        ("LATE", done.late),
        ("not in this zip, an earlier file is there", done.earlier),
        ("missing", done.missing),
    ):
        if names:
            yield f"{what} ({len(names)}): {', '.join(names)}"
    if done.late:
        yield (
            "Canvas does not say how late. For nbgrader's penalty, write the time into "
            f"submitted/STUDENT/{stem}/timestamp.txt, as in: 2026-11-20 23:10:00 UTC"
        )
    for group, members in sorted(done.groups.items()):
        yield replace_unprintable(f"the group {group}: one submission for {', '.join(members)}", kept="")
    for word, files in (("look at", done.noted), ("passed over", done.passed), ("left", done.left)):
        for name, reason in dict.fromkeys(files):
            yield replace_unprintable(f"{word}: {name}: {reason}", kept="")
    if is_dry:
        yield "Nothing was changed: this is what would be done without --dry-run."
    elif done.outcomes[PlacementAction.NEW] or done.outcomes[PlacementAction.NEWER]:
        yield f"`autograder grade {stem}` grades what has changed."
