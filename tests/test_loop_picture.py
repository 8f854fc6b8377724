"""The picture and the widget of the loop stepper, without a browser."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from html.parser import HTMLParser
from typing import Any

import pytest
import torch
from torch import nn

from explorers import loop_stepper, loop_stepper_widget
from explorers.explorer_markup import short_number_text
from explorers.loop_line_executor import LINES
from explorers.loop_stepper_widget import LoopStepper
from explorers.loss_curve_beside_right_order import loss_curves_html
from explorers.run_loop_by_line import Loop
from explorers.training_loop_html import in_words, loop_picture
from tests.loops import lines, made


class Reader(HTMLParser):
    """A parser that collects the cells of tables, row by row, and fails on unclosed tags."""

    def __init__(self, markup: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.open: list[str] = []
        self.feed(markup)
        assert self.open == [], "a tag is not closed"

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += data


def one(weight: float = 1.0) -> tuple[nn.Module, Any, nn.Module, torch.Tensor, torch.Tensor]:
    """Return parts with prediction = weight * 2 and target 6."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, weight)
    return (
        model,
        torch.optim.SGD(model.parameters(), lr=0.1),
        nn.MSELoss(),
        torch.tensor([[2.0]]),
        torch.tensor([[6.0]]),
    )


def press(widget: LoopStepper, *names: str, value: Any = None) -> LoopStepper:
    """Send these choices as the page would, and return the widget."""
    for name in names:
        widget._hear(widget, {"choose": name, "value": value}, [])
    return widget


def test_still_picture_is_the_whole_step_as_a_table() -> None:
    """The still picture has a table with what each line of a whole step changed."""
    page = loop_stepper(*one()).page()
    rows = Reader(page).rows[:7]

    assert rows == [
        ["line", "prediction", "loss", ".grad", "parameters"],
        ["before this step", "none yet", "none yet", "None", "weight: 1"],
        ["optimizer.zero_grad()", "–", "–", "–", "–"],
        ["prediction = model(x)", "2", "–", "–", "–"],
        ["loss = criterion(prediction, y)", "–", "16", "–", "–"],
        ["loss.backward()", "–", "–", "weight: -16", "–"],
        ["optimizer.step()", "–", "–", "–", "weight: 2.6"],
    ]
    assert "<button" not in page and "change the loop" not in page


def test_widget_starts_before_the_first_line() -> None:
    """Making the still picture runs no line of the widget's own loop."""
    widget = loop_stepper(*one())
    before = widget.picture
    data, _ = widget._repr_mimebundle_()

    assert widget.picture == before and "▶" in before and "weight: </span><span" in before and "2.6" not in before
    assert "2.6" in data["text/html"]
    assert data["text/plain"] == "Loop stepper. Before step 1. Next: optimizer.zero_grad()."


def test_each_press_of_next_is_one_line() -> None:
    """Each press of Next runs one line and gives a sentence."""
    widget = loop_stepper(*one())
    told = [press(widget, "next").said for _ in range(5)]

    assert told == [
        "Step 1: optimizer.zero_grad() changed nothing.",
        "Step 1: prediction = model(x) changed prediction.",
        "Step 1: loss = criterion(prediction, y) changed loss.",
        "Step 1: loss.backward() changed .grad.",
        "Step 1: optimizer.step() changed parameters. The step is finished; its loss: 16.",
    ]


def test_cell_may_run_steps_itself() -> None:
    """`run` finishes steps before the page is shown."""
    widget = loop_stepper(*one())
    widget.run(1)

    assert widget.said.endswith("The step is finished; its loss: 16.") and "weight: </span><span" in widget.picture


def test_moved_lines_begin_at_the_start() -> None:
    """Moving a line goes back to the start, and moving it back restores the right order."""
    widget = press(loop_stepper(*one()), "run 10")
    press(widget, "down", value="zero_grad")

    assert [line.name for line in widget._loop.state.lines][:2] == ["forward", "zero_grad"]
    assert widget.said == "Before step 1. Next: prediction = model(x)."
    press(widget, "up", value="zero_grad")
    assert [line.name for line in widget._loop.state.lines] == list(LINES)


def test_line_at_the_edge_stays_there() -> None:
    """Moving the first line up gives a note."""
    widget = press(loop_stepper(*one()), "up", value="zero_grad")

    assert widget.said == "`optimizer.zero_grad()` is the first line already." and "x-note" in widget.picture


def test_line_is_left_out_and_put_back() -> None:
    """The button that leaves a line out is a switch, and pressing it again restores the line."""
    widget = press(loop_stepper(*one()), "never", value="backward")

    assert "<del><code>loss.backward()</code></del>" in widget.picture
    assert widget.picture.count('aria-pressed="true"') == 1
    assert "No parameter changed: every <code>.grad</code> is None." in press(widget, "run 1").picture
    press(widget, "never", value="backward")
    assert "<del>" not in widget.picture and 'aria-pressed="true"' not in widget.picture


def test_line_that_runs_only_once_shows_torchs_error() -> None:
    """An error stops the loop with torch's message, and the right order starts again."""
    widget = press(loop_stepper(*one()), "first", value="forward")
    press(widget, "run 10")

    assert "Trying to backward through the graph a second time" in widget.picture and "x-error" in widget.picture
    assert "Step 2 stopped at loss.backward(): RuntimeError" in widget.said
    assert "go back to the start" in press(widget, "next").said
    assert press(widget, "right").said == "Before step 1. Next: optimizer.zero_grad()."


def test_steps_that_take_long_have_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Slow steps stop early, with a note."""
    monkeypatch.setattr(loop_stepper_widget, "SECONDS", 0.0)

    assert "it stopped after 1 of 100" in press(loop_stepper(*one()), "run 100").said


@pytest.mark.parametrize(
    "message", [{"choose": "never", "value": "os"}, {"choose": "up", "value": 7}, {"choose": "exec"}, "next", None]
)
def test_wrong_message_changes_nothing(message: object) -> None:
    """An invalid message changes nothing and gives a note."""
    widget = loop_stepper(*one())
    state = widget._loop.state
    widget._hear(widget, message, [])

    assert widget._loop.state == state and "x-note" in widget.picture


def test_what_a_reader_named_is_escaped() -> None:
    """Markup in a module's name or an error is escaped."""

    class Odd(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.add_module("<b>", nn.Linear(1, 1))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError("<script>alert(1)</script>")

    model = Odd()
    picture = press(LoopStepper(Loop(model, torch.optim.SGD(model.parameters(), lr=0.1), *one()[2:])), "run 1").picture

    assert "<b>" not in picture and "<script" not in picture and "&lt;script&gt;" in picture


def test_many_tensors_are_told_by_one_norm() -> None:
    """Many tensors are summarized by one norm in the lines, and listed in the table of all parameters."""
    parts = made("norm", "Adam")
    loop = Loop(*parts)
    loop.run(1)
    loop.run(1)
    picture = loop_picture(loop.state)
    parameters = [seen for seen in loop.state.now if seen.key.place == "parameters"]
    squares = [
        (seen.norm if seen.norm is not None else math.hypot(*torch.tensor(seen.values).flatten().tolist()))
        for seen in parameters
    ]

    assert f'6 tensors: </span><span class="x-code">norm {short_number_text(math.hypot(*squares))}' in picture
    assert 'step, 6 tensors: </span><span class="x-code">2<' in picture
    assert "Each parameter (6)" in picture and "the root of the sum of their squares" in picture
    assert ["exp_avg" in row and "step" in row for row in Reader(picture).rows].count(True) == 1


def test_every_picture_is_sound_html() -> None:
    """In every state, all tags are closed."""
    for words in ("zero_grad forward loss backward step", "forward1 loss backward step", "step backward"):
        loop = Loop(*made("norm", "Adam"))
        loop.restart(lines(words))
        for _ in range(12):
            Reader(loop_picture(loop.state))
            assert in_words(loop.state)
            loop.next_line()


# --- the curve


def points(markup: str) -> list[list[tuple[float, float]]]:
    """Return the points of each curve."""
    found = re.findall(r'points="([^"]*)"', markup)
    return [[tuple(map(float, pair.split(","))) for pair in one.split()] for one in found]  # type: ignore[misc]


def test_curve_goes_down_where_the_loss_does() -> None:
    """Both curves follow their losses, and the right order is dashed."""
    right, own = points(loss_curves_html([4.0, 4.0, 5.0], [4.0, 2.0, 1.0]))

    assert [y for _, y in right] == sorted(y for _, y in right) and own[0][1] == own[1][1] > own[2][1]
    assert [x for x, _ in right] == [x for x, _ in own] and len(own) == 3
    assert loss_curves_html([4.0, 4.0], [4.0, 2.0]).count("stroke-dasharray") == 1


def test_curve_of_the_right_order_is_drawn_once() -> None:
    """The right order's own curve is drawn only once, with a sentence."""
    drawn = loss_curves_html([4.0, 2.0], [4.0, 2.0])

    assert len(points(drawn)) == 1 and "That is the curve of the right order." in drawn


def test_curve_with_gaps_and_without_numbers() -> None:
    """Losses that are missing or not finite are only in the table."""
    drawn = loss_curves_html([4.0, math.nan, None, math.inf], [4.0, 3.0, 2.0, 1.0])

    assert len(points(drawn)[1]) == 1 and {"nan", "none", "inf"} <= {row[1] for row in Reader(drawn).rows}
    assert points(loss_curves_html([None, None], [])) == [] and "there is none" in loss_curves_html([None, None], [])


def test_curve_has_its_numbers_as_text() -> None:
    """The drawing has a text alternative, and a table with the first and the last step."""
    own = [float(step) for step in range(50, 0, -1)]
    drawn = loss_curves_html(own, own)
    rows = Reader(drawn).rows

    assert 'role="img"' in drawn and 'aria-label="The loss over 50 steps' in drawn
    assert rows[1] == ["step 1", "50", "50"] and rows[-1] == ["step 50", "1", "1"] and len(rows) == 9


@pytest.mark.night
def test_explorers_are_imported_when_they_are_asked_for() -> None:
    """Importing `explorers` imports neither torch nor widgets."""
    heavy = "assert not {'torch', 'anywidget', 'ipywidgets'} & set(sys.modules)"
    program = f"import explorers, sys; {heavy}; explorers.loop_stepper"

    assert 0 == subprocess.run([sys.executable, "-c", program], check=False).returncode
