"""The loss curve beside the curve of the right order, as a drawing and as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from autograder.notebook.html_markup import Html, join, table, tag
from explorers.explorer_markup import short_number_text

Losses = Sequence[float | None]

WIDTH, HEIGHT = 560, 180
LEFT, RIGHT, TOP, BOTTOM = 62, 96, 26, 30
MOST_POINTS = 200
MOST_ROWS = 8


def loss_curves_html(own: Losses, right: Losses, right_error: str = "") -> Html:
    """Return both curves, or a sentence if there is nothing to draw."""
    if len(own) < 2:
        return tag("p", "After two steps, the curve of the loss stands here.")
    same = list(own) == list(right)
    error = tag("p", "The right order stops too: ", tag("code", right_error)) if right_error else Html("")
    drawn = [] if same else [("right order", right, True)]
    drawn = [*drawn, ("these lines, which are the right order" if same else "these lines", own, False)]
    return join(
        tag("p", _summary(own, right, same)),
        _drawing([each for each in drawn if any(map(_finite, each[1]))]),
        error,
        tag("details", tag("summary", "The losses in numbers"), _numbers(own, right), data_keep="losses"),
    )


def _finite(loss: float | None) -> bool:
    return loss is not None and math.isfinite(loss)


def _summary(own: Losses, right: Losses, same: bool) -> str:
    # "In step n", as below the film: a step computes its loss before it changes the parameters, so that "after n steps"
    # could be this loss or the next one.
    told = f"The loss: {_told(own)}."
    if same:
        return f"{told} That is the curve of the right order."
    return f"{told} In the right order, from the same start: {_told(right)}."


def _told(losses: Losses) -> str:
    if not any(loss is not None for loss in losses):
        return "there is none"
    return f"{_word(losses[0])} in step 1, {_word(losses[-1])} in step {len(losses)}"


def _word(loss: float | None) -> str:
    return "none" if loss is None else short_number_text(loss)


@dataclass(frozen=True)
class _Scale:
    """The place of a step and its loss in the picture; logarithmic if the losses differ much."""

    low: float
    high: float
    log: bool
    count: int

    @classmethod
    def of(cls, curves: Sequence[tuple[str, Losses, bool]]) -> _Scale | None:
        """Return the scale that contains all curves; None if none has a number."""
        values = [loss for _, losses, _ in curves for loss in losses if loss is not None and math.isfinite(loss)]
        if not values:
            return None
        log = min(values) > 0 and max(values) > 100 * min(values)
        scaled = [math.log10(each) if log else each for each in values]
        low, high = min(scaled), max(scaled)
        if low == high:
            low, high = low - 0.5, high + 0.5
        return cls(low, high, log, max(len(losses) for _, losses, _ in curves))

    def place(self, step: int, loss: float) -> tuple[float, float]:
        """Return the point of one step."""
        height = ((math.log10(loss) if self.log else loss) - self.low) / (self.high - self.low)
        x = LEFT + (WIDTH - LEFT - RIGHT) * step / max(1, self.count - 1)
        return round(x, 1), round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * height, 1)


def _drawing(curves: Sequence[tuple[str, Losses, bool]]) -> Html:
    """Return the curves over the steps; the right order is dashed, and each curve has its name at its end."""
    scale = _Scale.of(curves)
    if scale is None:
        return Html("")
    parts = [_axes(scale.low, scale.high, scale.log, scale.count)]
    taken: list[float] = []
    for name, losses, dashed in curves:
        where = [scale.place(step, loss) for step, loss in _points(losses)]
        x, y = where[-1]
        taken.append(_beside(taken, y))
        parts += [_line(where, dashed), _label(name.partition(",")[0], x + 6, taken[-1] + 4)]
    described = " and ".join(f"{name}{' (dashed)' if dashed else ''}" for name, _, dashed in curves)
    label = f"The loss over {scale.count} steps: {described}. The numbers are in the table below."
    return tag(
        "svg", *parts, viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, role="img", aria_label=label, class_="x-loop-curve"
    )


def _beside(taken: Sequence[float], y: float) -> float:
    """Return the height of a second name, moved away from the first if the two would overlap."""
    if taken and abs(taken[0] - y) < 14:
        return taken[0] + (14 if y >= taken[0] else -14)
    return y


def _line(where: Sequence[tuple[float, float]], dashed: bool) -> Html:
    path = " ".join(f"{x},{y}" for x, y in where)
    dashes = "6 4" if dashed else None
    return tag("polyline", points=path, fill="none", stroke="currentColor", stroke_width=2, stroke_dasharray=dashes)


def _points(losses: Losses) -> list[tuple[int, float]]:
    """Return the steps whose loss is a number, at most MOST_POINTS of them, always with the last one."""
    found = [(step, loss) for step, loss in enumerate(losses) if loss is not None and math.isfinite(loss)]
    stride = math.ceil(len(found) / MOST_POINTS)
    return [*found[:-1:stride], found[-1]]


def _axes(low: float, high: float, log: bool, count: int) -> Html:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    ends = [(10**each if log else each) for each in (low, high)]
    return join(
        tag("path", d=f"M{LEFT} {TOP} V{bottom} H{right}", fill="none", stroke="currentColor", stroke_opacity="0.5"),
        _label("loss (logarithmic)" if log else "loss", LEFT - 6, TOP - 12),
        _label(f"{ends[1]:.3g}", LEFT - 6, TOP + 4, "end"),
        _label(f"{ends[0]:.3g}", LEFT - 6, bottom, "end"),
        _label("1", LEFT, bottom + 16, "middle"),
        _label("step", (LEFT + right) / 2, bottom + 16, "middle"),
        _label(str(count), right, bottom + 16, "middle"),
    )


def _label(words: str, x: float, y: float, anchor: str = "start") -> Html:
    place = {"x": f"{x:g}", "y": f"{y:g}"}
    return tag("text", words, **place, text_anchor=anchor, fill="currentColor", font_size=12)


def _numbers(own: Losses, right: Losses) -> Html:
    """Return a table of some steps, including the first and the last."""
    last = len(own) - 1
    chosen = sorted({round(last * part / (MOST_ROWS - 1)) for part in range(MOST_ROWS)})
    rows = [[f"step {step + 1}", _word(own[step]), _word(right[step]) if step < len(right) else "–"] for step in chosen]
    return table("The loss in each of these steps", ["", "these lines", "right order"], rows)
