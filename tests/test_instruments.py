"""The tools of the lessons: their output and their measurements."""

import base64
import io
import re
from time import sleep

import pytest
import torch
from matplotlib.image import imread
from torch import nn

from course.instruments import (
    Pictures,
    ToyDevice,
    drawn_four,
    milliseconds,
    operations,
    run_lines,
    runs,
    same_memory,
    saved_bytes,
    saved_shapes,
    saved_tensors,
    show_digits,
    show_graph,
    two_switches,
)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    """Return the printed output."""
    return capsys.readouterr().out


def test_pictures_say_what_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """The text version of pictures has predictions and labels."""
    show_digits(torch.zeros(3, 64), says=torch.tensor([1, 2, 3]), is_=[1, 2, 8])

    assert "3 pictures of 8 by 8 numbers: 1 ✓; 2 ✓; 3 ✗ is 8\n" == shown(capsys)


@pytest.mark.parametrize(
    ("pictures", "told"),
    [
        (torch.ones(8, 8), "1 picture of 8 by 8 numbers"),
        (torch.ones(64, requires_grad=True), "1 picture of 8 by 8 numbers"),
        (torch.ones(2, 6, 5), "2 pictures of 6 by 5 numbers"),
        (torch.ones(2, 1, 6, 5), "2 pictures of 6 by 5 numbers"),
        ([torch.ones(8, 8), torch.ones(2, 3, 3)], "3 pictures of 3 by 3 and 8 by 8 numbers"),
    ],
)
def test_shapes(pictures: object, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A picture, several, a list of both, and rows of 64 numbers are accepted."""
    show_digits(pictures)

    assert f"{told}\n" == shown(capsys)


def test_pictures_in_html() -> None:
    """Each picture is an image with a text alternative, in rows; signed numbers are red and blue."""
    signed = torch.tensor([[-1.0, 0.0, 1.0]])
    html = Pictures([torch.zeros(8, 8).numpy(), signed.numpy(), torch.eye(8).numpy()], ["a", "b", "c"], [], 2)
    told = re.findall(r'alt="(.*?)"', html._repr_html_())

    assert ["a: 8 by 8 numbers, dark where there is ink", "c: 8 by 8 numbers, dark where there is ink"] == told[::2]
    assert "b: 1 by 3 numbers, red where positive, blue where negative" == told[1]
    assert 3 == html._repr_html_().count("image/png") and 2 == html._repr_html_().count("display:flex")


@pytest.mark.parametrize(("full", "paper"), [(16, 0.5), (1, 0.5), (0.5, 0.75), (32, 0.5), (8, 0.75)])
def test_scale_of_ink(full: float, paper: float) -> None:
    """Gray follows the scale 0 to 16 or 0 to 1, or a wider one for larger numbers."""
    pictures = [torch.full((1, 1), full).numpy(), torch.full((1, 1), full / 2).numpy()]
    half = re.findall(r"base64,([^\"]+)", Pictures(pictures, [], [], 10)._repr_html_())[1]

    assert paper == pytest.approx(imread(io.BytesIO(base64.b64decode(half)))[0, 0, 0], abs=0.01)


def test_less_than_no_ink() -> None:
    """With `as_ink`, all pictures share one scale, and negative numbers are blue."""
    pictures = [torch.tensor([[0.0, 1.0]]).numpy(), torch.tensor([[-2.0, 1.0]]).numpy()]
    markup = Pictures(pictures, [], [], 10, as_ink=True)._repr_html_()
    first, second = (imread(io.BytesIO(base64.b64decode(one)))[0] for one in re.findall(r"base64,([^\"]+)", markup))

    assert "dark where there is ink, blue where negative" in markup and "red" not in markup
    assert first[1].tolist() == pytest.approx(second[1].tolist()) and first[1][0] == first[1][2] == pytest.approx(
        0.5, abs=0.01
    )
    assert second[0][2] > second[0][0]


@pytest.mark.parametrize(("many", "wide"), [(1, 150), (3, 150), (10, 86), (25, 86)])
def test_a_row_is_filled(many: int, wide: int) -> None:
    """A few pictures are large, and ten fill a row."""
    markup = Pictures([torch.zeros(8, 8).numpy()] * many, [], [], 10)._repr_html_()

    assert many == markup.count(f"flex:0 1 {wide}px")


def test_what_cannot_be_shown_is_told() -> None:
    """A wrong number of labels, or a wrong shape, raises ValueError."""
    with pytest.raises(ValueError, match="expected 2 entries in says, one for each picture; found 1"):
        show_digits(torch.zeros(2, 64), says=["a"])
    with pytest.raises(ValueError, match=r"found \(5,\)"):
        show_digits(torch.zeros(5))


def test_drawn_four() -> None:
    """The drawing is black and white, with enough ink."""
    four = drawn_four()

    assert (32, 32) == four.shape and {0.0, 1.0} == set(four.unique().tolist())
    assert 60 < four.sum() < 250


def test_same_memory() -> None:
    """A view shares memory, and a copy does not."""
    x = torch.ones(4)

    assert same_memory(x, x[1:]) and not same_memory(x, x.clone())


def test_milliseconds() -> None:
    """The result is the time of one call in the fastest round."""
    assert 1.9 < milliseconds(lambda: sleep(0.002), rounds=3) < 20
    assert milliseconds(lambda: None) < 0.1


def test_a_slow_first_call_is_not_counted() -> None:
    """A slow first call is not measured."""
    calls: list[int] = []

    def slow_once() -> None:
        calls.append(1)
        if len(calls) == 1:
            sleep(0.05)

    assert milliseconds(slow_once) < 0.1 and len(calls) > 1000


def test_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """`runs` returns whether a call succeeds, and prints torch's error if not."""
    assert runs(lambda: torch.ones(2)) and not shown(capsys)
    assert not runs(lambda: torch.ones(2) + torch.ones(3)) and shown(capsys).startswith("RuntimeError: The size")


def test_lines_run_as_they_are_named() -> None:
    """All lines in order find the slope, a missing line leaves it at 0, and an unknown word raises ValueError."""
    x = torch.linspace(-1.5, 1.5, 20).unsqueeze(1)
    losses, weight = run_lines("zero forward backward step", x, 2 * x)

    assert 100 == len(losses) and losses[-1] < 1e-6 < losses[0] and 2 == pytest.approx(weight)
    assert 0 == run_lines("zero forward backward", x, 2 * x)[1] == run_lines("zero forward step", x, 2 * x)[1]
    assert [losses[0]] * 7 == run_lines("zero forward backward step", x, 2 * x, steps=7, lr=0.0)[0]
    with pytest.raises(ValueError, match="expected the words zero, forward, backward and step, found 'clear'"):
        run_lines("clear forward backward step", x, 2 * x)


def test_what_graphs_hold() -> None:
    """The tools count saved tensors and their bytes, and see them freed by backward."""
    x = torch.ones(8, requires_grad=True)
    with saved_tensors() as alive:
        y = x.exp()
        assert 1 == len(alive)
        y.sum().backward()
        assert 0 == len(alive)

    assert 32 == saved_bytes(lambda: x.exp()) and 0 == saved_bytes(lambda: x + 1)
    assert 64 == saved_bytes(lambda: x.exp() * x) and 32 == saved_bytes(lambda: x.exp() * x, without=[x])
    assert [(8,)] == saved_shapes(lambda: x.exp()) and [] == saved_shapes(lambda: x + 1)


def test_a_graph_is_shown_from_its_end(capsys: pytest.CaptureFixture[str]) -> None:
    """A graph is printed from its result, indented, with the names of leaves."""
    x, y = torch.ones((), requires_grad=True), torch.ones((), requires_grad=True)
    show_graph((x * 2 + y) ** 2, x=x)

    assert shown(capsys).split("\n")[:-1] == [
        "PowBackward0",
        "   AddBackward0",
        "      MulBackward0",
        "         AccumulateGrad of x",
        "      AccumulateGrad",
    ]


def test_operations() -> None:
    """The result lists torch's operations in order."""
    layer = torch.nn.Linear(3, 2)

    assert ["t", "addmm", "relu", "relu"] == operations(lambda: layer(torch.eye(3)).relu().relu())[-4:]


def test_two_switches(capsys: pytest.CaptureFixture[str]) -> None:
    """The table shows that the mode changes results, and no_grad whether they require grad."""
    two_switches(nn.Sequential(nn.Linear(3, 50), nn.Dropout(0.5)), torch.ones(4, 3))

    rows = [line.split() for line in shown(capsys).splitlines()[1:]]
    assert ["train()", "False", "True"] == rows[0]
    assert ["train()", "and", "no_grad", "False", "False"] == rows[1]
    assert ["eval()", "True", "True"] == rows[2]
    assert ["eval()", "and", "no_grad", "True", "False"] == rows[3]


def test_toy_device() -> None:
    """Launching returns at once, pieces run one after the other, and waiting ends both."""
    toy = ToyDevice()
    toy.launch(4)
    toy.launch(4)
    free = toy.host
    toy.wait()
    toy.wait()
    together = toy.host
    toy.launch(1)
    toy.wait()

    assert (2, 9, 11) == (free, together, toy.host)
