"""Make the page that compares a report with an earlier one: each exercise, and the mistakes that came or went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.errors import WorkFailed
from autograder.notebook.html_markup import Html, join, sentence_to_html, table, tag
from autograder.reports.notebook_to_offline_html import complete_html_page
from autograder.reports.report_snapshots import AssignmentCounts, find_earlier_tables, read_tables
from autograder.reports.share_difference import Share, ShareDifference

NAME, TITLE = "then-and-now", "Then and now"
PAGE = f"{NAME}.html"
_EXERCISES = {1: "solved more often", -1: "solved less often", 0: "no difference can be told"}
_MISTAKES = {-1: "Mistakes that have become rarer", 1: "Mistakes that have become more frequent"}
_HOW_TO_READ = (
    "Each share is of the submissions that could be read. The interval holds the true difference in about 95 of 100 "
    "such comparisons, so among twenty, one may show a difference by chance alone. It takes then and now for different "
    "students; where the same students have answered twice, it is wider than it needs to be."
)


def comparison_page(other: Path, tables: Mapping[str, bytes], titles: Mapping[str, str]) -> bytes:
    """Return the page that compares `tables`, those of this report by file name, with the earlier ones in `other`.

    `titles` maps assignments to their titles. Raises WorkFailed if `other` has no such tables, none with an exercise
    of this report, or the very same ones.
    """
    before, now = read_tables(find_earlier_tables(other), str(other)), read_tables(tables, "this report")
    pairs = {stem: (before[stem], now[stem]) for stem in now if stem in before and _both(before[stem], now[stem])}
    if not pairs:
        raise WorkFailed(
            f"expected exercises of {', '.join(now) or 'this report'} in the tables in {other}, found none: it has "
            f"those of {', '.join(before) or 'no assignment'}. Name a report of the same assignments."
        )
    if all(then == today for then, today in pairs.values()):
        raise WorkFailed(
            f"the tables in {other} are those of now: nothing can be compared. Name an earlier report, such as a "
            "folder in report-tables/."
        )
    parts = [part for stem, pair in pairs.items() for part in _assignment(titles[stem], *pair)]
    if left := [titles[stem] for stem in now if stem not in pairs]:
        parts.append(tag("p", f"Not compared, since the earlier report has no such exercises: {', '.join(left)}."))
    head = tag("p", "Then: ", tag("code", str(other)), f". {_HOW_TO_READ}")
    return complete_html_page(TITLE, join(head, *parts), {"The course": "index.html"})


def _both(then: AssignmentCounts, now: AssignmentCounts) -> list[str]:
    return [name for name in now.exercises if name in then.exercises]


def _assignment(title: str, then: AssignmentCounts, now: AssignmentCounts) -> Iterator[Html]:
    """Yield the section of one assignment."""
    both = _both(then, now)
    found = {name: ShareDifference(then.exercises[name], now.exercises[name]) for name in both}
    columns = ("exercise", "solved then", "solved now", "difference (95 % interval)", "")
    rows = [(name, *_shown(each), _EXERCISES[each.sign]) for name, each in found.items()]
    yield tag("h2", title)
    yield table("Solved then and now", columns, rows)
    for where, names in (("then", then.exercises), ("now", now.exercises)):
        if alone := [name for name in names if name not in both]:
            yield tag("p", f"Only {where}: {', '.join(alone)}.")
    yield from _mistakes(then, now, both)


def _mistakes(then: AssignmentCounts, now: AssignmentCounts, exercises: Sequence[str]) -> Iterator[Html]:
    """Yield tables of the known mistakes that became rarer or more frequent, and how many others there are."""
    keys = [key for key in dict.fromkeys([*now.mistakes, *then.mistakes]) if key[0] in exercises]
    found = {key: ShareDifference(*(_made(each, key) for each in (then, now))) for key in keys}
    columns = ("what was read", "exercise", "then", "now", "difference (95 % interval)")
    rest = len(keys)
    for sign, caption in _MISTAKES.items():
        changed = sorted((key for key in keys if found[key].sign == sign), key=lambda key: -abs(found[key].value))
        rows = [
            (sentence_to_html({**then.sentences, **now.sentences}[key]), key[0], *_shown(found[key])) for key in changed
        ]
        rest -= len(rows)
        if rows:
            yield table(caption, columns, rows)
    which = "" if rest == len(keys) else "other "
    yield tag("p", f"Of {rest} {which}known mistake{'' if rest == 1 else 's'} no difference can be told.")


def _made(side: AssignmentCounts, key: tuple[str, str]) -> Share:
    return side.mistakes.get(key, Share(0, side.exercises[key[0]].total))


def _shown(difference: ShareDifference) -> tuple[str, str, str]:
    then, now = (f"{each.count} of {each.total} ({each.value:.0%})" for each in (difference.then, difference.now))
    low, high = (f"{100 * bound:+.1f}" for bound in difference.interval)
    return then, now, f"{100 * difference.value:+.1f} ({low} to {high}) percentage points"
