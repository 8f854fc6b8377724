"""Render a report as text and as HTML. The HTML escapes everything that comes from an answer."""

from __future__ import annotations

from dataclasses import dataclass

from autograder.diagnosis.verdict import NOT_GRADED, GridPair, Report, Status, Verdict
from autograder.notebook.colors import FAILED, FAILED_MARK, OPEN, OPEN_MARK, PASSED, PASSED_MARK
from autograder.notebook.html_markup import ROW, Html, join, panel, sentence_to_html, sign, tag
from autograder.questions.own_code_question_part import A_PERSON, is_about_own_code, waits_for_person

_MARKS = {
    Status.PASS: (PASSED_MARK, ""),
    Status.FAIL: (FAILED_MARK, " (not yet)"),
    Status.ERROR: (FAILED_MARK, " (stopped with an error)"),
    Status.TIMEOUT: (FAILED_MARK, " (took too long)"),
    Status.SKIPPED: ("–", " (waits for {after})"),
    Status.NOT_ATTEMPTED: (OPEN_MARK, ""),
}


@dataclass(frozen=True)
class Feedback:
    """A report to display with hints: a notebook shows the HTML, a terminal the text."""

    report: Report
    hints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return text(self.report, self.hints)

    def _repr_html_(self) -> str:
        return report_as_html(self.report, self.hints)


def report_headline(report: Report) -> str:
    """Return one line with the exercise and the number of its passed checks, or of its questions answered right."""
    done, what = len(report.passed_checks), "questions right" if is_about_own_code(report) else "checks passed"
    if report.passed:
        return f"{report.exercise}: all {done} {what}"
    if waits_for_person(report):
        return f"{report.exercise}: waits for {A_PERSON}"
    if report.verdicts[0].status is Status.NOT_ATTEMPTED:
        unread = report.verdicts[0].sentence.startswith(NOT_GRADED)
        open_ = "nothing counts yet" if is_about_own_code(report) else "not begun yet"
        return f"{report.exercise}: {'not graded' if unread else open_}"
    return f"{report.exercise}: {done} of {len(report.verdicts)} {what}"


def text(report: Report, hints: tuple[str, ...] = ()) -> str:
    """Return the report as plain text."""
    lines = [report_headline(report)]
    shown: set[str] = set()
    for verdict in report.verdicts:
        mark, word = _mark(verdict, report)
        lines.append(f"  {mark} {verdict.requirement}{word}")
        lines += [f"      {line}" for line in _details(verdict, shown)]
    lines += [f"  Note: {note}" for note in report.notes]
    if hints and not report.passed:
        lines.append(f'  For a hint, run hint("{report.exercise}") in a new cell.')
    return "\n".join(lines)


def _mark(verdict: Verdict, report: Report) -> tuple[str, str]:
    """Return the mark of a verdict, and the words that follow its requirement."""
    sign_, word = _MARKS[verdict.status]
    if verdict.after == A_PERSON:
        return sign_, word.format(after=A_PERSON)
    first = verdict.after in ("", report.verdicts[0].requirement)
    return sign_, word.format(after="the first check" if first else f"“{verdict.after}”")


def _details(verdict: Verdict, shown: set[str]) -> list[str]:
    """Return the lines below a requirement: the sentence, unless it is in `shown` already, the call and the values."""
    lines = [_once(verdict.sentence, shown)] if verdict.sentence else []
    rows = [("call", verdict.call), ("expected", verdict.expected), ("got", verdict.got)]
    rows += [("compared", verdict.picture.told)] if verdict.picture else []
    return lines + [f"{name:<9} {value}" for name, value in rows if value]


def _once(sentence: str, shown: set[str]) -> str:
    if sentence in shown:
        return "As above."
    shown.add(sentence)
    return sentence


def report_as_html(report: Report, hints: tuple[str, ...] = ()) -> Html:
    """Return the report as HTML with inline styles, for any front end, light or dark."""
    is_open = report.first is None or _untouched(report) or waits_for_person(report)
    color = PASSED if report.passed else OPEN if is_open else FAILED
    shown: set[str] = set()
    rows = tag(
        "ul",
        *(_html_verdict(verdict, report, shown) for verdict in report.verdicts),
        style="list-style:none;margin:0.3em 0;padding:0",
    )
    notes = (tag("div", "Note: ", sentence_to_html(note)) for note in report.notes)
    return panel(
        color, tag("div", report_headline(report), style="font-weight:600"), rows, *notes, _html_hints(report, hints)
    )


def _untouched(report: Report) -> bool:
    return report.verdicts[0].status is Status.NOT_ATTEMPTED


def _html_verdict(verdict: Verdict, report: Report, shown: set[str]) -> Html:
    mark, word = _mark(verdict, report)
    color = {Status.PASS: PASSED, Status.SKIPPED: OPEN, Status.NOT_ATTEMPTED: OPEN}.get(verdict.status, FAILED)
    note = tag("span", word, style="opacity:0.75") if word else ""
    sentence = sentence_to_html(_once(verdict.sentence, shown)) if verdict.sentence else ""
    body = tag("div", sentence, style="margin:0.2em 0 0.3em 1.5em") if sentence else ""
    parts = (sentence_to_html(verdict.requirement), note, body, _html_values(verdict))
    return tag("li", sign(mark, color), " ", *parts, style="margin:0.15em 0")


def _html_values(verdict: Verdict) -> Html:
    rows = [("call", verdict.call), ("expected", verdict.expected), ("got", verdict.got)]
    if verdict.picture:
        rows = rows[:1]
    cells = [_value_row(name, value) for name, value in rows if value]
    table = tag("table", *cells, style="margin:0 0 0.3em 1.5em;border:none") if cells else ""
    return join(table, _html_picture(verdict) if verdict.picture else "")


def _value_row(name: str, value: str) -> Html:
    code = tag("code", value, style="white-space:pre-wrap")
    called = tag("td", name, style="text-align:left;opacity:0.75;padding:0 0.8em 0 0")
    return tag("tr", called, tag("td", code, style="text-align:left"), style=ROW)


def _html_picture(verdict: Verdict) -> Html:
    """Return both grids side by side; numbers that differ have a frame and bold text, and not only another color."""
    assert verdict.picture is not None
    picture = verdict.picture
    grids = (("expected", verdict.expected, picture.expected), ("yours", verdict.got, picture.got))
    drawn = (
        tag(
            "div",
            tag("div", f"{title}: {value.partition(':')[0]}", style="opacity:0.75"),
            _scrollable_grid(title, picture, cells),
            style="min-width:0",
        )
        for title, value, cells in grids
    )
    side_by_side = tag("div", *drawn, style="display:flex;flex-wrap:wrap;gap:1.5em")
    caption = tag("div", picture.told, style="opacity:0.75") if picture.told else ""
    return tag("div", side_by_side, caption, style="margin:0.3em 0 0.5em 1.5em")


def _scrollable_grid(title: str, picture: GridPair, cells: tuple[tuple[str, ...], ...]) -> Html:
    """Return a grid in a block that scrolls by touch or with arrow keys on a narrow screen."""
    name = f"{title}, as a grid"
    return tag("div", _grid(picture, cells), style="overflow-x:auto", tabindex="0", role="group", aria_label=name)


def _grid(picture: GridPair, cells: tuple[tuple[str, ...], ...]) -> Html:
    """Return a table of numbers with row and column indices; the first number that differs has a double frame."""
    above = tag("tr", tag("td", style=_INDEX) if picture.rows else "", *map(_index, picture.columns), style=ROW)
    rows = (
        tag("tr", _index(picture.rows[i]) if picture.rows else "", *_cells(picture, i, row), style=ROW)
        for i, row in enumerate(cells)
    )
    return tag("table", above, *rows, style="border-collapse:collapse;font-family:monospace")


_INDEX = "border:none;padding:0.1em 0.5em;font-size:85%;font-weight:400;opacity:0.75;text-align:right"


def _index(place: int) -> Html:
    return tag("th", str(place), style=_INDEX)


def _cells(picture: GridPair, at: int, row: tuple[str, ...]) -> list[Html]:
    return [
        _cell(value, same, (at, column) == picture.first)
        for column, (value, same) in enumerate(zip(row, picture.agrees[at], strict=True))
    ]


def _cell(value: str, same: bool, first: bool) -> Html:
    line = "4px double" if first else "2px solid"
    mark = f"border:1px solid {OPEN}66" if same else f"border:{line} {FAILED};font-weight:700"
    return tag("td", value, style=f"{mark};padding:0.15em 0.5em;text-align:right")


def _html_hints(report: Report, hints: tuple[str, ...]) -> Html:
    """Return the hints, each folded away inside the one before it; nothing for a report that passed."""
    folded = Html("")
    for level, hint in reversed(list(enumerate(hints))):
        head = tag("summary", "Another hint" if level else "Hint", style="cursor:pointer;display:list-item")
        folded = tag("details", head, sentence_to_html(hint), folded, style=f"margin-left:{level}em")
    return Html("") if report.passed else folded
