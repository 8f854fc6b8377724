"""Feedback: a report as text and as HTML. Everything that comes from an answer is escaped."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from autograder.judging.verdict import Picture, Report, Status, Verdict
from autograder.telling.markup import prose

_MARKS = {
    Status.PASS: ("✓", ""),
    Status.FAIL: ("✗", " (not yet)"),
    Status.ERROR: ("✗", " (stopped with an error)"),
    Status.TIMEOUT: ("✗", " (took too long)"),
    Status.SKIPPED: ("–", " (waits for the first check)"),
    Status.NOT_ATTEMPTED: ("○", ""),
}
# Green and red that differ in lightness too, and read on light and dark pages.
_ROW = "background:transparent;vertical-align:baseline"  # else JupyterLab stripes the tables
_GREEN, _RED, _GREY = "#1a7f5a", "#c4442f", "#7a7a7a"


@dataclass(frozen=True)
class Feedback:
    """A report ready to be shown: a notebook takes the HTML, a terminal the text."""

    report: Report
    hints: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return text(self.report, self.hints)

    def _repr_html_(self) -> str:
        return html(self.report, self.hints)


def headline(report: Report) -> str:
    """One line: the exercise and how far it is."""
    done = sum(verdict.status is Status.PASS for verdict in report.verdicts)
    if report.passed:
        return f"{report.exercise}: all {done} checks passed"
    if report.verdicts[0].status is Status.NOT_ATTEMPTED:
        return f"{report.exercise}: not written yet"
    return f"{report.exercise}: {done} of {len(report.verdicts)} checks passed"


def text(report: Report, hints: tuple[str, ...] = ()) -> str:
    """The report as plain text."""
    lines = [headline(report)]
    told: set[str] = set()
    for verdict in report.verdicts:
        mark, word = _MARKS[verdict.status]
        lines.append(f"  {mark} {verdict.requirement}{word}")
        lines += [f"      {line}" for line in _details(verdict, told)]
    lines += [f"  Note: {note}" for note in report.notes]
    if hints and not report.passed:
        lines.append(f'  For a hint, run hint("{report.exercise}") in a new cell.')
    return "\n".join(lines)


def _details(verdict: Verdict, told: set[str]) -> list[str]:
    """Sentence, call and values; a sentence that was told already is not repeated."""
    lines = [_once(verdict.sentence, told)] if verdict.sentence else []
    rows = [("call", verdict.call), ("expected", verdict.expected), ("got", verdict.got)]
    return lines + [f"{name:<9} {value}" for name, value in rows if value]


def _once(sentence: str, told: set[str]) -> str:
    if sentence in told:
        return "As above."
    told.add(sentence)
    return sentence


def html(report: Report, hints: tuple[str, ...] = ()) -> str:
    """The report as HTML with inline styles, for any front end, light or dark."""
    color = _GREEN if report.passed else _GREY if report.first is None or _untouched(report) else _RED
    told: set[str] = set()
    rows = "".join(_html_verdict(verdict, told) for verdict in report.verdicts)
    notes = "".join(f"<div>Note: {prose(note)}</div>" for note in report.notes)
    return (
        f'<div style="border-left:4px solid {color};padding:0.4em 0.9em;margin:0.3em 0;line-height:1.5">'
        f'<div style="font-weight:600">{escape(headline(report))}</div>'
        f'<ul style="list-style:none;margin:0.3em 0;padding:0">{rows}</ul>{notes}{_html_hints(report, hints)}</div>'
    )


def _untouched(report: Report) -> bool:
    return report.verdicts[0].status is Status.NOT_ATTEMPTED


def _html_verdict(verdict: Verdict, told: set[str]) -> str:
    mark, word = _MARKS[verdict.status]
    color = {Status.PASS: _GREEN, Status.SKIPPED: _GREY, Status.NOT_ATTEMPTED: _GREY}.get(verdict.status, _RED)
    note = f'<span style="opacity:0.75">{word}</span>' if word else ""
    sentence = prose(_once(verdict.sentence, told)) if verdict.sentence else ""
    body = f'<div style="margin:0.2em 0 0.3em 1.5em">{sentence}</div>' if sentence else ""
    return (
        f'<li style="margin:0.15em 0"><span style="color:{color};font-weight:700" aria-hidden="true">{mark}</span> '
        f"{prose(verdict.requirement)}{note}{body}{_html_values(verdict)}</li>"
    )


def _html_values(verdict: Verdict) -> str:
    rows = [("call", verdict.call), ("expected", verdict.expected), ("got", verdict.got)]
    if verdict.picture:
        rows = rows[:1]
    cells = "".join(
        f'<tr style="{_ROW}"><td style="text-align:left;opacity:0.75;padding:0 0.8em 0 0">{name}</td>'
        f'<td style="text-align:left"><code style="white-space:pre-wrap">{escape(value)}</code></td></tr>'
        for name, value in rows
        if value
    )
    table = f'<table style="margin:0 0 0.3em 1.5em;border:none">{cells}</table>' if cells else ""
    return table + (_html_picture(verdict) if verdict.picture else "")


def _html_picture(verdict: Verdict) -> str:
    """Expected and got side by side; cells that differ have a frame and bold text, so that color is not needed."""
    assert verdict.picture is not None
    picture = verdict.picture
    grids = (("expected", verdict.expected, picture.expected), ("yours", verdict.got, picture.got))
    drawn = "".join(
        f'<div><div style="opacity:0.75">{title}: {escape(value.partition(":")[0])}</div>{_grid(picture, cells)}</div>'
        for title, value, cells in grids
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;margin:0.3em 0 0.5em 1.5em">{drawn}</div>'


def _grid(picture: Picture, cells: tuple[tuple[str, ...], ...]) -> str:
    rows = "".join(
        f'<tr style="{_ROW}">' + "".join(_cell(value, same) for value, same in zip(row, agrees, strict=True)) + "</tr>"
        for row, agrees in zip(cells, picture.agrees, strict=True)
    )
    return f'<table style="border-collapse:collapse;font-family:monospace">{rows}</table>'


def _cell(value: str, same: bool) -> str:
    mark = f"border:1px solid {_GREY}66" if same else f"border:2px solid {_RED};font-weight:700"
    return f'<td style="{mark};padding:0.15em 0.5em;text-align:right">{escape(value)}</td>'


def _html_hints(report: Report, hints: tuple[str, ...]) -> str:
    if report.passed or not hints:
        return ""
    folded = "".join(
        f'<details style="margin-left:{level}em"><summary style="cursor:pointer;display:list-item">'
        f"{'Hint' if level == 0 else 'Another hint'}</summary>{prose(hint)}"
        for level, hint in enumerate(hints)
    )
    return folded + "</details>" * len(hints)
