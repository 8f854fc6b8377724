"""The drawing pad without a browser: strokes, pixels, undo, saving, the model's answer, and errors."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorers import digit_pad, drawing_pad_widget, saved_drawings_file
from explorers.drawing_pad_rendering import MOST_SHOWN
from explorers.drawing_pad_state import (
    BRUSHES,
    MOST_KEPT,
    MOST_POINTS,
    MOST_STROKES,
    SIDE,
    Pad,
    PenStroke,
    rasterize_strokes,
)
from explorers.drawing_pad_widget import MOST_PADS, DigitPad
from explorers.run_model_on_drawing import DOT, EMPTY, predict_drawing, shrink_to_8x8
from explorers.synthetic_digits import digit_strokes, draw_strokes
from tests.test_explorer_widget import bundle

THREE = draw_strokes(digit_strokes(3, 0))  # a tidy 3
DOWN = [[15.5, 4.5], [15.5, 27.5]]  # lines from top to bottom, and from left to right
ACROSS = [[4.5, 15.5], [27.5, 15.5]]


def rows_with_ink(seen: Tensor) -> Tensor:
    """A model that predicts the number of the 8 rows with ink, with probability 1."""
    return torch.nn.functional.one_hot((seen.sum(1) > 0).sum(), 10).float()


def send(pad: DigitPad, name: str, value: object = None) -> None:
    """Send a message as the page would."""
    pad._handle_custom_msg({"choose": name, "value": value}, [])


def message(points: Any = DOWN, key: Any = "a", width: Any = 3.0, ended: Any = True) -> dict[str, Any]:
    """Return a stroke as the page sends it."""
    return {"key": key, "points": points, "width": width, "ended": ended}


def drawn(*lines: Any, predict: Any = rows_with_ink, **options: Any) -> DigitPad:
    """Return a pad with these lines drawn."""
    pad = digit_pad(predict, **options)
    for place, points in enumerate(lines):
        send(pad, "draw", message(points, key=str(place)))
    return pad


def words(picture: str) -> str:
    """Return the text of some markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", picture, flags=re.S))).split())


def stroke(points: Any, width: float = 3.0, key: str = "a") -> PenStroke:
    """Return a PenStroke."""
    return PenStroke(key, tuple(map(tuple, points)), width)


class TestPixels:
    def test_line(self) -> None:
        """A brush of 3 pixels through pixel centers blackens three columns, and one pixel beyond both ends."""
        found = rasterize_strokes((stroke(DOWN),))
        expected = torch.zeros(SIDE, SIDE)
        expected[3:29, 14:17] = 1.0

        assert torch.float32 == found.dtype and torch.equal(expected, found)

    def test_x_goes_across(self) -> None:
        """The first coordinate is the column."""
        assert torch.equal(rasterize_strokes((stroke(ACROSS),)), rasterize_strokes((stroke(DOWN),)).T)

    @given(x=st.floats(0, 32), y=st.floats(0, 32), width=st.sampled_from(list(BRUSHES.values())))
    @settings(deadline=None)
    def test_point(self, x: float, y: float, width: float) -> None:
        """Every point on the pad leaves ink, and only within the brush."""
        row, column = rasterize_strokes((stroke([(x, y)], width),)).nonzero().double().T + 0.5

        assert len(row) and bool(((row - y).square() + (column - x).square() <= (width / 2 + 0.001) ** 2).all())

    def test_slant(self) -> None:
        """A slanted line has the same pixels if drawn in pieces or backwards."""
        whole = rasterize_strokes((stroke([(3, 5), (27, 17)]),))
        pieces = rasterize_strokes((stroke([(27, 17), (15, 11), (3, 5)]),))

        assert torch.equal(whole, pieces) and 60 < whole.sum() < 110

    def test_outside(self) -> None:
        """A line is cut off at the edge of the pad; outside, it leaves nothing."""
        assert rasterize_strokes((stroke([(16, 16), (60, 16)]),))[15:17, -1].all()
        assert 0 == rasterize_strokes((stroke([(50, 50), (60, 50)]),)).sum()

    def test_strokes_lie_over_each_other(self) -> None:
        """Crossing strokes give 1, and the tensor is a copy."""
        both = rasterize_strokes((stroke(DOWN), stroke(ACROSS)))
        assert {0.0, 1.0} == set(both.unique().tolist())

        both.zero_()
        assert rasterize_strokes((stroke(DOWN), stroke(ACROSS))).any()


class TestState:
    def test_stroke_grows(self) -> None:
        """A stroke with the same key replaces the last one; another key adds a stroke."""
        pad = Pad().drawn(stroke(DOWN[:1])).drawn(stroke(DOWN)).drawn(stroke(ACROSS, key="b"))

        assert ("a", "b") == tuple(each.key for each in pad.strokes) and 2 == len(pad.strokes[0].points)

    def test_undo_is_by_stroke(self) -> None:
        """Undo removes the last stroke, and is refused on an empty pad."""
        pad = drawn(DOWN, ACROSS)
        send(pad, "undo")
        assert torch.equal(rasterize_strokes((stroke(DOWN),)), pad.drawing)
        send(pad, "undo")
        send(pad, "undo")
        assert 0 == pad.drawing.sum() and "There is nothing to undo" in pad.said

    def test_undo_brings_back_what_was_cleared(self) -> None:
        """Undo restores the whole drawing after Clear, even if pressed twice."""
        pad = drawn(DOWN, ACROSS)
        before = pad.drawing
        send(pad, "clear")
        assert 0 == pad.drawing.sum() and EMPTY == pad.said
        send(pad, "clear")
        send(pad, "undo")
        assert torch.equal(before, pad.drawing)

    def test_brush(self) -> None:
        """The page gets the brush's width, and each stroke keeps its own."""
        pad = drawn(DOWN)
        before = pad.drawing.sum()
        send(pad, "brush", "thick")
        assert BRUSHES["thick"] == pad.controls[0]["width"] and before == pad.drawing.sum()

        send(pad, "clear")
        send(pad, "draw", message(width=BRUSHES["thick"]))
        assert pad.drawing.sum() > before

    def test_page_is_told_the_strokes(self) -> None:
        """The page gets all strokes as plain data, so that every view shows the same."""
        control = drawn(DOWN).controls[0]

        assert ("strokes", SIDE, MOST_POINTS) == (control["kind"], control["side"], control["most_points"])
        assert "a" != control["strokes"][0]["key"] and DOWN == list(map(list, control["strokes"][0]["points"]))

    def test_save(self) -> None:
        """Saving stores drawing and digit, and clears both."""
        pad = digit_pad(rows_with_ink)
        for digit, points in ((1, DOWN), (8, ACROSS)):
            send(pad, "draw", message(points, key=str(digit)))
            send(pad, "digit", str(digit))
            send(pad, "save")
        drawings, labels = pad.kept

        assert (2, 32, 32) == drawings.shape and torch.float32 == drawings.dtype and drawings[0, 10, 15] == 1
        assert [1, 8] == labels.tolist() and torch.int64 == labels.dtype and 0 == pad.drawing.sum()
        assert "Kept as an 8." in pad.said and "?" == pad.controls[4]["value"] and "2 drawings" in words(pad.picture)

    def test_nothing_kept(self) -> None:
        """Without saved drawings, `kept` is two empty tensors of the usual types."""
        drawings, labels = digit_pad(rows_with_ink).kept

        assert (0, 32, 32) == drawings.shape and (0,) == labels.shape and torch.int64 == labels.dtype

    @pytest.mark.parametrize(
        ("points", "digit", "told"), [([], "3", EMPTY), ([DOWN], "?", "Choose which digit"), ([DOWN[:1]], "3", DOT)]
    )
    def test_what_is_not_saved(self, points: list[Any], digit: str, told: str) -> None:
        """An empty pad, a dot, or a drawing without a digit is not saved, and the drawing stays."""
        pad = drawn(*points)
        before = pad.drawing
        send(pad, "digit", digit)
        send(pad, "save")

        assert told in pad.said and 0 == len(pad.kept[1]) and torch.equal(before, pad.drawing)

    def test_take_back(self) -> None:
        """Taking back the last saved drawing restores drawing and digit."""
        pad = drawn(DOWN)
        send(pad, "digit", "1")
        send(pad, "save")
        send(pad, "draw", message(ACROSS, key="new"))
        send(pad, "back")

        assert torch.equal(rasterize_strokes((stroke(DOWN),)), pad.drawing) and 0 == len(pad.kept[1])
        assert "1" == pad.controls[4]["value"] and "back" not in [each["name"] for each in pad.controls]

    def test_limits(self) -> None:
        """Too many strokes or saved drawings are refused."""
        pad = Pad()
        for number in range(MOST_STROKES):
            pad = pad.drawn(stroke(DOWN, key=str(number)))
        with pytest.raises(ValueError, match="100 strokes at most"):
            pad.drawn(stroke(DOWN, key="more"))
        assert MOST_STROKES == len(pad.drawn(stroke(ACROSS, key=str(MOST_STROKES - 1))).strokes)  # it may grow

        pad = Pad(kept=pad.saved(1).kept * MOST_KEPT)
        with pytest.raises(ValueError, match="1,000 drawings at most"):
            pad.saved(1)


BROKEN: list[Any] = [
    None,
    "a",
    {},
    message(ended=None),
    message(key=3),
    message(key="k" * 41),
    message(points=[]),
    message(points="12"),
    message(points=[[1, 2, 3]]),
    message(points=[[1, float("nan")]]),
    message(points=[[float("inf"), 1]]),
    message(points=[[1, "2"]]),
    message(points=[[True, 1]]),
    message(points=[[1, None]]),
    message(points=DOWN * MOST_POINTS),
    message(width=1000.0),
    message(width="3"),
    message(width=None),
    message(width=[3.0]),
]


@pytest.mark.parametrize("value", BROKEN, ids=lambda value: repr(value)[:60])
def test_page_that_sends_no_stroke(value: object) -> None:
    """An invalid stroke is ignored with one note, and the drawing stays."""
    pad = drawn(ACROSS)
    before, heard = pad.drawing, pad.heard
    send(pad, "draw", value)

    assert torch.equal(before, pad.drawing) and heard + 1 == pad.heard
    assert 1 == pad.picture.count('class="x-note"') and ("run the cell again" in pad.said or "1,000 points" in pad.said)


def test_huge_numbers_are_far_away() -> None:
    """A huge coordinate is limited and drawn toward."""
    pad = drawn([[15.5, 4.5], [15.5, 10**400]])

    assert "x-note" not in pad.picture and pad.drawing[31, 15] == 1


class TestReading:
    def test_model_sees_the_blocks(self) -> None:
        """Without `prepare`, the model gets the ink of each 4 x 4 block, 0 to 16."""
        seen: list[Tensor] = []
        pad = drawn(DOWN, predict=lambda x: seen.append(x) or rows_with_ink(x))

        assert (8, 8) == seen[-1].shape and torch.equal(shrink_to_8x8(pad.drawing), seen[-1])
        assert pad.drawing.sum() == seen[-1].sum() and seen[-1].max() <= 16
        assert "reads an 8 (100\u00a0%)" in pad.said

    def test_prepare(self) -> None:
        """With `prepare`, the model gets its result."""
        turned = drawn(DOWN, prepare=lambda drawing: shrink_to_8x8(drawing).T)

        assert "reads a 2 (" in turned.said

    @pytest.mark.parametrize(
        ("returned", "by_softmax"),
        [
            ([0.1] * 10, False),
            ([0.0] * 9 + [1.0], False),
            (torch.full((10,), 0.1, dtype=torch.float64), False),
            ([1.0] * 10, True),
            ([-0.1] * 5 + [0.3] * 5, True),
            (list(range(10)), True),
            (torch.tensor([float("-inf")] * 9 + [0.0]), True),
            (torch.arange(10, dtype=torch.float16), True),
            (torch.ones(10, requires_grad=True), True),
            ([torch.tensor(1.0)] * 10, True),
        ],
    )
    def test_what_the_bars_show(self, returned: Any, by_softmax: bool) -> None:
        """Ten probabilities are shown unchanged; the softmax is shown for other numbers."""
        reading = predict_drawing(THREE, lambda seen: returned)
        plain = returned if isinstance(returned, Tensor) else torch.tensor(returned)
        given = plain.detach().double()
        expected = given.softmax(0) if by_softmax else given

        assert by_softmax == reading.by_softmax and "" == reading.told
        assert torch.allclose(expected, torch.tensor(reading.shares, dtype=torch.float64))

    def test_caption_says_which(self) -> None:
        """The caption says whether the bars are probabilities or a softmax."""
        assert "What it says: its probabilities" in words(drawn(DOWN).picture)
        assert "the softmax of its scores" in words(drawn(DOWN, predict=lambda seen: range(10)).picture)

    def test_nothing_of_the_readers_changes(self) -> None:
        """Functions that write into their arguments or draw random numbers change nothing outside."""

        def noisy(x: Tensor) -> Tensor:
            x.zero_()
            return torch.rand(10)

        torch.manual_seed(0)
        expected = torch.rand(3)
        torch.manual_seed(0)
        drawing = THREE.clone()
        reading = predict_drawing(drawing, noisy, lambda given: shrink_to_8x8(given.zero_() + THREE))

        assert torch.equal(THREE, drawing) and sum(map(sum, reading.seen)) > 0
        assert torch.equal(expected, torch.rand(3))


class TestPicture:
    def test_pixels_are_those_of_the_drawing(self) -> None:
        """The path covers exactly the black pixels."""
        pad = drawn(DOWN, [[4.0, 8.0], [28.0, 20.0]])
        path = re.findall(r' d="([^"]*)"', pad.picture)[0]
        shown = torch.zeros(SIDE, SIDE)
        for row, parts in re.findall(r"M0 (\d+)([^M]*)", path):
            column = 0
            for kind, long in re.findall(r"([hm])(\d+)(?: 0|v1h-\d+v-1m\d+ 0)", parts):
                if kind == "h":
                    shown[int(row), column : column + int(long)] = 1.0
                column += int(long)

        assert torch.equal(pad.drawing, shown)

    def test_shades_and_numbers_are_what_the_model_sees(self) -> None:
        """Shades are sixteenths of the input, limited to 0 to 16; the table has the real numbers."""
        pad = drawn(DOWN, prepare=lambda drawing: torch.arange(64.0).reshape(8, 8) - 10)
        found = re.findall(r'<rect x="(\d)" y="(\d)"[^>]*fill-opacity="([\d.]+)"', pad.picture)
        shown = torch.zeros(8, 8)
        for x, y, opacity in found:
            shown[int(y), int(x)] = float(opacity)

        expected = (torch.arange(64.0).reshape(8, 8) - 10).clamp(0, 16) / 16
        assert torch.allclose(expected, shown, atol=0.001)
        assert "<td>-10</td>" in pad.picture and "<td>53</td>" in pad.picture

    def test_bars_are_as_long_as_their_shares(self) -> None:
        """Bars have the widths of their shares, and only the largest is marked."""
        shares = [0.25, 0.5, 0.25, *[0.0] * 7]
        pad = drawn(DOWN, predict=lambda seen: shares)

        assert ["25.0", "50.0", "25.0", *["0.0"] * 7] == re.findall(r'style="width:([\d.]+)%"', pad.picture)
        assert ["1"] == re.findall(r'class="x-largest"><th scope="row">(\d)', pad.picture)


def raising(given: object) -> Any:
    """A function that raises."""
    raise KeyError("<b>first\nsecond")


BAD_PREDICT: list[tuple[Any, str]] = [
    (raising, "`predict` stopped with KeyError: '<b>first\\nsecond'"),
    (lambda seen: None, "it returned None."),
    (lambda seen: "seven", "it returned a str."),
    (lambda seen: {1: 2}, "it returned a dict."),
    (lambda seen: 7, "it returned ()."),
    (lambda seen: torch.zeros(9), "it returned (9,)."),
    (lambda seen: torch.zeros(1, 10), "it returned (1, 10). Take its only row: `[0]`."),
    (lambda seen: [0.0] * 9 + [float("nan")], "nan or infinity for 9."),
    (lambda seen: [float("inf")] + [0.0] * 9, "nan or infinity for 0."),
    (lambda seen: [float("-inf")] * 10, "nan or infinity for 0, 1"),
    (lambda seen: torch.zeros(10, dtype=torch.complex64), "torch.complex64"),
    (lambda seen: torch.zeros(10, device="meta"), "on meta"),
]
BAD_PREPARE: list[tuple[Any, str]] = [
    (raising, "`prepare` stopped with KeyError"),
    (lambda drawing: drawing, "it returned (32, 32)."),
    (lambda drawing: shrink_to_8x8(drawing).flatten(), "it returned (64,)."),
    (lambda drawing: shrink_to_8x8(drawing).tolist(), "it returned a list."),
    (lambda drawing: None, "it returned None."),
    (lambda drawing: shrink_to_8x8(drawing) / 0, "nan, infinite or complex."),
]


@pytest.mark.parametrize(("predict", "told"), BAD_PREDICT, ids=[told[:40] for _, told in BAD_PREDICT])
def test_predict_that_is_wrong(predict: Callable[[Tensor], Any], told: str) -> None:
    """A wrong `predict` gives one sentence, and drawing and saving still work."""
    pad = drawn(DOWN, predict=predict)
    assert told in pad.said and 1 == pad.picture.count('class="x-error"') and "<b>" not in pad.picture
    assert "8 × 8" in pad.picture  # the model's input is shown nevertheless
    assert torch.equal(rasterize_strokes((stroke(DOWN),)), pad.drawing)

    send(pad, "digit", "1")
    send(pad, "save")
    assert 1 == len(pad.kept[1])


@pytest.mark.parametrize(("prepare", "told"), BAD_PREPARE, ids=[told[:40] for _, told in BAD_PREPARE])
def test_prepare_that_is_wrong(prepare: Callable[[Tensor], Any], told: str) -> None:
    """A wrong `prepare` gives one sentence, and the model is not called."""
    pad = drawn(DOWN, predict=lambda seen: pytest.fail("asked"), prepare=prepare)

    assert told in pad.said and "x-error" in pad.picture
    assert torch.equal(rasterize_strokes((stroke(DOWN),)), pad.drawing)


@pytest.mark.parametrize("width", BRUSHES.values())
def test_empty_pad_and_dot(width: float) -> None:
    """An empty pad and a dot are not passed to the model, and a sentence says what to do."""
    asked: list[Tensor] = []
    pad = digit_pad(lambda seen: asked.append(seen) or [0.1] * 10)
    assert EMPTY == pad.said and EMPTY in words(pad.picture)

    send(pad, "draw", message([[16, 16]], width=width))
    assert DOT == pad.said and [] == asked
    send(pad, "draw", message([[16, 16], [16, 28]], width=width))
    assert 1 == len(asked) and "reads a 0" in pad.said


def test_nothing_is_read_aloud_while_a_stroke_grows() -> None:
    """During a stroke, the spoken text is only "Drawing.", while the picture changes."""
    pad = digit_pad(rows_with_ink)
    send(pad, "draw", message(ended=False))
    assert "Drawing." == pad.said and "reads an 8" in words(pad.picture)

    send(pad, "draw", message())
    assert "reads an 8" in pad.said


def test_use_another_model() -> None:
    """Two pads share a drawing, and each runs its own function on it."""
    pad = drawn(DOWN)
    other = pad.use(rows_with_ink, lambda drawing: shrink_to_8x8(drawing).T)
    assert "reads an 8 (" in pad.said and "reads a 2 (" in other.said

    send(other, "clear")
    send(other, "draw", message(ACROSS, key="new", ended=False))
    assert "reads an 8" in words(other.picture) and EMPTY == pad.said  # the other pad follows when the stroke ends
    send(other, "draw", message(ACROSS, key="new"))
    assert "reads a 2 (" in pad.said and "reads an 8 (" in other.said and torch.equal(pad.drawing, other.drawing)

    send(pad, "digit", "7")
    send(pad, "save")
    assert [7] == other.kept[1].tolist() and "1 drawing." in words(other.picture)
    with pytest.raises(TypeError, match="found str"):
        pad.use("model")  # type: ignore[arg-type]


def save(pad: DigitPad, *drawings: tuple[int, Any]) -> None:
    """Draw and save lines, each with the digit that the reader says it is."""
    for number, (digit, points) in enumerate(drawings):
        send(pad, "draw", message(points, key=f"{digit} {number}"))
        send(pad, "digit", str(digit))
        send(pad, "save")


class TestCount:
    """The count of saved drawings that are read, and the named pads side by side."""

    def test_of_one_pad(self) -> None:
        """The pad counts the saved drawings that its model reads, aloud too, and shows what it takes the others for."""
        pad = digit_pad(rows_with_ink)
        save(pad, (8, DOWN), (3, ACROSS))
        shown = words(pad.picture)

        assert "2 drawings. 1 of 2 read." in shown and "1 of 2 read." in pad.said and "3 as 2" in shown
        send(pad, "back")
        assert "1 drawing. 1 of 1 read." in words(pad.picture)
        assert "Side by side" not in shown

    def test_side_by_side(self) -> None:
        """Each named pad shows what all of them see and say, in their order, with their counts."""
        pad = digit_pad(rows_with_ink, name="first")
        save(pad, (8, DOWN), (8, DOWN), (2, DOWN))
        other = pad.use(rows_with_ink, lambda drawing: shrink_to_8x8(drawing).T, name="<turned>")
        assert "first: 2 of 3 read <turned>: 1 of 3 read" in words(other.picture).partition("Side by side:")[2]

        send(pad, "draw", message(DOWN, ended=False))
        beside = "first: reads an 8 (100 %) 2 of 3 read <turned>: reads a 2 (100 %) 1 of 3 read"
        assert beside in words(pad.picture) and "reads an 8" not in words(other.picture)  # it follows at the end
        send(pad, "draw", message(DOWN))
        assert beside in words(pad.picture) and beside in words(other.picture)

    def test_cell_that_is_run_again(self) -> None:
        """Of two pads with one name, the latest takes the place of the first; one without a name is left out."""
        pad = drawn(DOWN, name="first")
        pad.use(rows_with_ink, name="second")
        pad.use(rows_with_ink)
        pad.use(lambda seen: torch.arange(10), name="first")
        last = pad.use(rows_with_ink, name="third")

        beside = words(last.picture).partition("Side by side:")[2]
        assert ["first: reads a 9", "second: reads an 8", "third: reads an 8"] == re.findall(
            r"\w+: reads an? \d", beside
        )

    def test_model_that_has_learned(self) -> None:
        """A count that is made anew asks the model as it is now."""
        shift = [0]
        pad = digit_pad(lambda seen: rows_with_ink(seen).roll(shift[0]), name="first")
        save(pad, (8, DOWN))
        shift[0] = 1
        last = pad.use(rows_with_ink, name="second")

        assert "first: 0 of 1 read second: 1 of 1 read" in words(last.picture)

    def test_all_ten_at_once(self) -> None:
        """Who has all of ten digits read by the first pad is told to draw a small one; nobody else is."""
        pad = digit_pad(rows_with_ink, name="first")
        save(pad, *9 * [(8, DOWN)])
        assert "in a corner" not in words(pad.picture)
        save(pad, (8, DOWN))
        assert "10 of 10 read. Now draw one small, up in a corner." in words(pad.picture)
        assert "in a corner" in pad.said

        assert "in a corner" not in words(pad.use(rows_with_ink, name="second").picture)
        save(pad, (3, DOWN))
        assert "10 of 11 read." in words(pad.picture) and "in a corner" not in words(pad.picture)

    def test_page_without_a_kernel(self) -> None:
        """The still picture of the last pad counts the sample drawings that each named pad reads."""
        drawings = rasterize_strokes((stroke(DOWN),))[None].repeat(2, 1, 1), torch.tensor([8, 2])
        pad = digit_pad(rows_with_ink, samples=drawings, name="first")
        page = words(pad.use(lambda seen: torch.arange(10), name="second").page())

        assert "Side by side: first, 1 of 2 read; second, 0 of 2 read." in page
        assert "Side by side" not in words(digit_pad(rows_with_ink, samples=drawings, name="first").page())


def test_many_pads_on_one_paper() -> None:
    """Only the latest pads follow a shared drawing; an older one catches up when it is used."""
    first = drawn(DOWN)
    for _ in range(MOST_PADS):
        last = first.use(rows_with_ink)
    send(last, "clear")
    assert MOST_PADS == len(first._paper.pads) and "reads an 8" in first.said

    send(first, "draw", message(ACROSS))
    assert "reads a 2" in first.said and "reads a 2" in last.said


class TestFile:
    """The file of saved drawings beside the notebook."""

    @pytest.fixture(autouse=True)
    def file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Return the path of the file for a notebook in its own folder."""
        monkeypatch.setattr(saved_drawings_file, "progress_folder", lambda: tmp_path)
        return tmp_path / saved_drawings_file.DRAWINGS_FILE

    @staticmethod
    def saved(*digits: int) -> DigitPad:
        """Return a pad on which these digits were saved, each a line with a different slant."""
        pad = digit_pad(rows_with_ink)
        for digit in digits:
            send(pad, "draw", message([[15.5, 4.5], [15.5 + digit, 27.5]], key=str(digit)))
            send(pad, "digit", str(digit))
            send(pad, "save")
        return pad

    @staticmethod
    def offer(pad: DigitPad) -> list[str]:
        """Return the labels of the button that brings drawings back."""
        return [each["label"] for each in pad.controls if each["name"] == "again"]

    def test_next_start(self) -> None:
        """The next pad offers the saved drawings, and keeps them only when the reader presses the button."""
        first, second = self.saved(1, 8), digit_pad(rows_with_ink)
        assert [] == self.offer(first) and ["Bring back 2 saved drawings"] == self.offer(second)
        assert 0 == len(second.kept[1])

        send(second, "draw", message(ACROSS))
        send(second, "digit", "7")
        send(second, "save")
        send(second, "again")
        assert [1, 8, 7] == second.kept[1].tolist() and [] == self.offer(second)
        assert (
            torch.equal(first.kept[0], second.kept[0][:2]) and "2 saved drawings of an earlier day are" in second.said
        )
        assert ["Bring back 3 saved drawings"] == self.offer(digit_pad(rows_with_ink))

    def test_taken_back(self, file: Path) -> None:
        """A drawing that was taken back is not offered again, and no line of the file is removed."""
        pad = self.saved(1, 8)
        send(pad, "back")
        second = digit_pad(rows_with_ink)
        assert ["Bring back 1 saved drawing"] == self.offer(second)

        send(second, "again")
        send(second, "back")
        assert [] == self.offer(second) == self.offer(digit_pad(rows_with_ink))
        assert 4 == len([json.loads(line) for line in file.read_text(encoding="utf-8").split("\n") if line])

    @pytest.mark.parametrize(
        "line",
        [
            "no JSON",
            "[]",
            "7",
            "{}",
            "[" * 100_000,
            '{"taken_back": []}',
            '{"drawing": "a", "digit": 10, "strokes": [{"points": [[1, 2]], "width": 3.0}]}',
            '{"drawing": "a", "digit": 1, "strokes": []}',
            '{"drawing": "a", "digit": 1, "strokes": [{"points": [[1, NaN]], "width": 3.0}]}',
            '{"drawing": "a", "digit": 1, "strokes": [{"points": [[1, 2]], "width": 99}]}',
            '{"drawing": 3, "digit": 1, "strokes": [{"points": [[1, 2]], "width": 3.0}]}',
            "\udcff",
        ],
        ids=lambda line: ascii(line[:40]),  # pytest-xdist sends the names between processes
    )
    def test_bad_line(self, file: Path, line: str) -> None:
        """A bad line of the file gives one sentence, and other drawings are still offered and saved."""
        self.saved(1)
        with file.open("ab") as opened:
            opened.write(b"\n" + line.encode("utf-8", "surrogateescape"))
        pad = digit_pad(rows_with_ink)

        told = "1 line of .pytorch-basics-drawings cannot be read: what stood there is not offered."
        assert told == pad.said and told in words(pad.picture)
        assert ["Bring back 1 saved drawing"] == self.offer(pad)
        self.saved(8)
        assert ["Bring back 2 saved drawings"] == self.offer(digit_pad(rows_with_ink))

    def test_no_file(self, file: Path) -> None:
        """If the file cannot be written, a sentence says so, and the drawing is kept in memory."""
        file.mkdir()
        pad = digit_pad(rows_with_ink)
        assert "cannot be read (it is no file): the drawings in it are not offered." in pad.said

        pad = self.saved(1)
        assert [1] == pad.kept[1].tolist() and "`pad.kept` has it until this kernel ends" in pad.said

        send(pad, "back")
        assert 0 == len(pad.kept[1]) and "the next pad offers it again" in pad.said

    def test_most(self, file: Path) -> None:
        """A full pad refuses saved drawings, and one with some room takes the latest."""
        first = self.saved(1, 8)
        pad = digit_pad(rows_with_ink)
        pad._paper.pad = Pad(kept=Pad((stroke(DOWN),)).saved(1).kept * MOST_KEPT)
        pad.show()
        send(pad, "again")
        assert "1,000 drawings at most" in pad.said

        pad._paper.pad = Pad(kept=pad._paper.pad.kept[1:])
        send(pad, "again")
        assert MOST_KEPT == len(pad.kept[1]) and torch.equal(first.kept[0][1], pad.kept[0][0])

    def test_where_no_reader_works(self, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Outside a notebook, and while grading, no file is written or read."""
        monkeypatch.undo()
        self.saved(1)

        assert not file.exists() and saved_drawings_file.progress_folder() is None and file.name.startswith(".")


class TestStillPicture:
    def test_samples_and_what_the_model_says(self) -> None:
        """The still picture has ten sample drawings with the model's answers."""
        told = words(digit_pad(rows_with_ink).page())

        assert "of 10 read right" in told
        assert [str(digit) for digit in range(10)] == re.findall(r"(\d): reads an? \d \(100\s%\)", told)

    def test_samples_are_drawn_as_people_do(self) -> None:
        """The samples differ in size and place, so that they are not easier than real drawings."""
        drawings, labels = drawing_pad_widget._ten_samples()
        edges = [drawing.any(dim=1).nonzero().flatten()[[0, -1]].tolist() for drawing in drawings]
        heights, middles = zip(*((low - high, (low + high) / 2) for high, low in edges), strict=True)

        assert list(range(10)) == labels.tolist() and max(heights) > 1.5 * min(heights)
        assert max(abs(middle - 15.5) for middle in middles) > 3

    def test_own_samples(self) -> None:
        """Drawings from `pad.kept` can be the samples."""
        pad = drawn(DOWN)
        send(pad, "digit", "8")
        send(pad, "save")
        page = digit_pad(rows_with_ink, samples=pad.kept).page()

        assert "1 of 1 read right" in words(page) and 1 == page.count("<figure")

    def test_own_drawing(self) -> None:
        """The still picture also shows the pad's own drawing."""
        page = words(drawn(DOWN, ACROSS).page())

        assert "The model reads an 8" in page and "of 10 read right" in page

    def test_nothing_to_press(self) -> None:
        """The still picture needs no kernel, script or network, and has a text version."""
        data = bundle(drawn(DOWN))
        shown = data["text/html"].partition("</style>")[2]

        assert not any(word in shown for word in ("<button", "<script", "<select", "data-choose", "http"))
        assert "Drawing pad. The model reads an 8 (100\u00a0%)." == data["text/plain"]

    def test_model_with_a_mistake(self) -> None:
        """If the model raises, the still picture shows the error once."""
        told = words(digit_pad(raising).page())

        assert 1 == told.count("stopped with KeyError") and re.search("0 *1 *2 *3 *4 *5 *6 *7 *8 *9", told)


def test_many_kept() -> None:
    """Only the last saved drawings are shown, with the number of all."""
    pad = digit_pad(rows_with_ink)
    pad._paper.pad = Pad(kept=Pad((stroke(DOWN),)).saved(8).kept * (MOST_SHOWN + 5))
    pad._read_kept()
    pad.show()

    told = f"{MOST_SHOWN + 5} drawings, the last {MOST_SHOWN} of them below. {MOST_SHOWN} of {MOST_SHOWN} read."
    assert told in words(pad.picture) and MOST_SHOWN == pad.picture.count("<figure")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"predict": 3}, "found int"),
        ({"predict": rows_with_ink, "prepare": 3}, "found int"),
        ({"predict": rows_with_ink, "name": 3}, "a string, found int"),
        ({"predict": rows_with_ink, "samples": torch.zeros(1, 32, 32)}, "found Tensor"),
        ({"predict": rows_with_ink, "samples": (torch.zeros(2, 32, 32), torch.zeros(1).long())}, r"\(2, 32, 32\)"),
        ({"predict": rows_with_ink, "samples": (torch.zeros(1, 8, 8), torch.zeros(1).long())}, r"\(1, 8, 8\)"),
        ({"predict": rows_with_ink, "samples": (torch.zeros(1, 32, 32), torch.zeros(1))}, "float32"),
    ],
)
def test_what_makes_no_pad(arguments: dict[str, Any], told: str) -> None:
    """Invalid arguments raise an error with the expected and the found type."""
    with pytest.raises((TypeError, ValueError), match=told):
        digit_pad(**arguments)


def test_page_needs_nothing_else() -> None:
    """The widget's script is one module without imports and addresses."""
    module = str(digit_pad(rows_with_ink)._esm)

    assert 1 == module.count("export default") and "FIELDS.strokes" in module
    assert not re.search(r"^\s*import\b|\bimport\(|https://|fetch\(", module, re.M)
