"""The picture of the shape explorer agrees with torch for every operation."""

from __future__ import annotations

import re
from itertools import product

import pytest
import torch
from bs4 import BeautifulSoup, Tag
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from explorers import shape_explorer
from explorers.apply_operation import MOST_VALUES, explore_operation
from explorers.element_animation import record_element_animation
from explorers.explorer_markup import short_number_text
from explorers.shape_operation_catalog import OPERATIONS
from explorers.shape_rendering import exploration_html

pytestmark = pytest.mark.night

DRAWN = settings(max_examples=200, deadline=None)
SIZES = st.sampled_from([0, 1, 1, 2, 3])
SHAPES = st.lists(SIZES, max_size=4)
DISTINCT = (2, 3, 5, 7)
MASKS = ("x > 2", "~(x > 2)", "(x > 0) & (x < 3)", "x % 2 == 0", "x != 1", "keep", "x[..., 0] > 1", "x > keep")
REFUSED = (
    "0 < x < 3",
    "x > 1 and x < 3",
    "not x",
    "keep or x > 1",
)  # masks that need the truth value of several numbers

Arguments = dict[str, str]


@st.composite
def tensors(draw: st.DrawFn, shapes: st.SearchStrategy[list[int]] = SHAPES) -> Tensor:
    """Draw a tensor of small numbers, perhaps transposed."""
    made = torch.tensor(draw(st.integers(-2, 3))) + torch.arange(torch.Size(shape := draw(shapes)).numel()).reshape(
        shape
    )
    turned = made.permute(tuple(range(made.dim()))[::-1]) if draw(st.booleans()) else made
    return turned.to(draw(st.sampled_from([torch.float32, torch.float32, torch.int64, torch.bool])))


@st.composite
def written(draw: st.DrawFn, numbers: st.SearchStrategy[list[int]]) -> str:
    """Draw whole numbers as a reader types them, with or without brackets."""
    text = draw(st.sampled_from([", ", ","])).join(map(str, some := draw(numbers)))
    comma = "," if len(some) == 1 else ""
    return draw(st.sampled_from([text, text, f"({text}{comma})", f"[{text}]"]))


@st.composite
def arguments(draw: st.DrawFn, operation: str, x: Tensor) -> Arguments:
    """Draw arguments that usually fit the tensor."""
    near = st.integers(-x.dim() - 2, x.dim() + 1)
    fitting = st.lists(st.integers(-max(1, x.dim()), max(0, x.dim() - 1)), max_size=3)
    dims = written(fitting | st.lists(near, min_size=1, max_size=2))
    wanted = [st.sampled_from([-1, size, size, 4]) for size in x.shape]
    before = draw(st.lists(st.sampled_from([1, 2, -1]), max_size=2))
    sizes = {
        "expand": st.tuples(*map(st.just, before), *wanted).map(list),
        "view": st.permutations(list(x.shape)) | st.sampled_from([[-1], [2, -1], [-1, 1, 2], [x.numel()], [3, -2]]),
    }
    match operation:
        case "add" | "matmul":
            return {}
        case "transpose":
            return {name: str(draw(near)) for name in ("dim0", "dim1")}
        case "unsqueeze":
            return {"dim": str(draw(near))}
        case "permute":
            return {"dims": draw(written(st.permutations(range(x.dim())) | fitting))}
        case "view" | "reshape" | "expand":
            return {"sizes": draw(written(sizes.get(operation, sizes["view"])))}
        case "index":
            parts = st.sampled_from(
                ["0", "-1", ":", "1:", "::2", "None", "...", "[0, 1]", "[True, False]", "5", *MASKS]
            )
            return {
                "index": ", ".join(draw(st.lists(parts, min_size=1, max_size=3)))
                if draw(st.booleans())
                else draw(parts)
            }
    return {"dim": draw(dims), **({"keepdim": str(draw(st.booleans()))} if operation != "squeeze" else {})}


@st.composite
def questions(draw: st.DrawFn, operation: str) -> tuple[dict[str, Tensor], Arguments]:
    """Draw the tensors x and y, `keep`, a mask of x, and arguments; y often has the sizes and the dtype that fit x."""
    x = draw(tensors())
    fitting = st.sampled_from([[*x.shape[-1:]], [*x.shape[-1:], 2]]).flatmap(lambda shape: tensors(st.just(shape)))
    y = draw(st.one_of(tensors(), fitting.map(lambda other: other.to(x.dtype))))
    return {"x": x, "y": y, "keep": x % 2 == 0}, draw(arguments(operation, x))


# --- parsing the picture


def sizes_of(row: Tag) -> list[str]:
    """Return the sizes in a row, without dashes for missing axes and without the count."""
    return [cell.text for cell in row.find_all("td", class_="x-size") if cell.text != "–"]


def rows_of(picture: BeautifulSoup, kind: str) -> dict[str, list[Tag]]:
    """Return the rows of a table by their first cells."""
    found: dict[str, list[Tag]] = {}
    for row in picture.select(f"table.{kind} tr"):
        found.setdefault(row.find(["th", "td"]).text, []).append(row)
    return found


def assert_values(picture: BeautifulSoup, name: str, tensor: Tensor) -> None:
    """Assert that each matrix has its index, and each number its place."""
    if tensor.numel() > MOST_VALUES:
        assert f"{name}: {tensor.numel():,} numbers, too many to write out" in picture.text
        return
    tables = [each for each in picture.select("table.x-numbers") if each.caption.text.partition("[")[0] == name]
    if tensor.numel():
        labels = [name + "".join(f"[{i}]" for i in index) for index in product(*map(range, tensor.shape[:-2]))]
        assert labels == [each.caption.text for each in tables][: len(labels)]
    shown = [cell.text for table in tables for cell in table.find_all("td") if cell.text != "no numbers"]
    found = [short_number_text(each) for each in tensor.flatten().tolist()]

    assert found == shown


def assert_label(picture: BeautifulSoup, name: str, tensor: Tensor) -> None:
    """Assert that the label has shape, stride and dtype."""
    dtype = str(tensor.dtype).removeprefix("torch.")
    for row in rows_of(picture, "x-facts")[name]:
        assert [str(tuple(tensor.shape)), str(tensor.stride()), dtype] == [cell.text for cell in row.find_all("code")]


def done(code: str, known: dict[str, Tensor]) -> Tensor | str:
    """Return the result of a line of code, or its error."""
    try:
        result: Tensor = eval(code, dict(known))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return result


# --- the expected labels below the sizes, computed with torch


def axes_from(code: str, x: Tensor) -> list[int]:
    """Return, for each axis of a result, the axis of x that it is."""
    return [DISTINCT.index(size) for size in eval(code, {"x": torch.empty(DISTINCT[: x.dim()])}).shape]


def met(first: torch.Size, second: torch.Size) -> list[str]:
    """Return the reasons for each size when torch broadcasts two shapes."""
    result = torch.broadcast_shapes(first, second)
    rows = zip(result, *[[None] * (len(result) - len(each)) + list(each) for each in (first, second)], strict=True)
    return [
        ("missing: stretched" if size != 1 else "missing: taken as 1")
        if None in sizes
        else "equal"
        if set(sizes) == {size}
        else "1 is stretched"
        if size
        else "1 meets 0: nothing is left"
        for size, *sizes in rows
    ]


def reasons(operation: str, code: str, x: Tensor, y: Tensor) -> list[str] | None:
    """Return the labels computed with torch; None if they are not compared."""
    marked = torch.empty(DISTINCT[: x.dim()])
    match operation:
        case "add":
            return met(x.shape, y.shape)
        case "matmul":
            rows, columns = ["the rows of the first"][: x.dim() - 1], ["the columns of the second"][: y.dim() - 1]
            return [*met(x.shape[:-2], y.shape[:-2]), *rows, "summed over, and gone", *columns]
        case "transpose" | "permute":
            return [f"was axis {axis}" for axis in axes_from(code, x)]
        case "sum" | "mean" | "amax":
            kept = eval(re.sub("keepdim=False", "keepdim=True", code), {"x": marked}).shape
            gone = "reduced, and kept as 1" if "keepdim=True" in code else "reduced, and gone"
            return ["stays" if size > 1 else gone for size in kept]
        case "squeeze":
            asked = [
                eval(code, {"x": marked.new_empty((*marked.shape[:i], 1, *marked.shape[i + 1 :]))})
                for i in range(x.dim())
            ]
            told = {True: "a 1, and gone", False: "not 1: it stays"}
            return [
                told[s == 1] if each.dim() < x.dim() else "not asked for"
                for s, each in zip(x.shape, asked, strict=True)
            ]
        case "unsqueeze":
            return ["new" if size == 1 else "stays" for size in eval(code, {"x": marked}).shape]
        case "expand":
            found = eval(code, {"x": x})
            had = [None] * (found.dim() - x.dim()) + list(x.shape)
            stretched = [size != (old or 1) if old != 0 else False for size, old in zip(found.shape, had, strict=True)]
            assert all(step == 0 for step, is_so in zip(found.stride(), stretched, strict=True) if is_so)
            kept = ["new" if old is None else "stays" for old in had]
            return ["stretched, with stride 0" if so else told for so, told in zip(stretched, kept, strict=True)]
    return None


@pytest.mark.parametrize("operation", OPERATIONS)
def test_the_picture_is_what_torch_does(operation: str) -> None:
    """Sizes, labels, shape, values, strides, shared memory and errors are torch's."""

    @DRAWN
    @given(questions(operation))
    def compare(case: tuple[dict[str, Tensor], Arguments]) -> None:
        known, typed = case
        names = ["x", "y"][: OPERATIONS[operation].tensors]
        found = explore_operation(operation, [(name, known[name]) for name in names], typed, known)
        picture = BeautifulSoup(exploration_html(found), "html.parser")
        sizes = rows_of(picture, "x-sizes")
        for name in names:
            assert all(sizes_of(row) == list(map(str, known[name].shape)) for row in sizes[name])
            assert_values(picture, name, known[name])
            assert_label(picture, name, known[name])
        expected = done(found.code, known)
        if isinstance(expected, str):
            outcomes["refused"] += 1
            assert f"torch refuses: {expected}" in picture.text
            assert not picture.select(".x-result, .x-of-result, .x-memory") and "known before" not in picture.text
            assert not found.rows or picture.select("td[title='does not fit']")
            return
        outcomes["right"] += 1
        assert not picture.select(".x-error, td[title='does not fit']")
        assert f"known before any number is: {tuple(expected.shape)}" in picture.text
        assert list(map(str, expected.shape)) == sizes_of(sizes["result"][0])
        assert_values(picture, "result", expected)
        assert_label(picture, "result", expected)
        memory = {each.untyped_storage().data_ptr() for each in (known[name] for name in names) if each.numel()}
        if expected.numel():  # the page makes no claim about the memory of an empty result
            assert (expected.untyped_storage().data_ptr() in memory) == ("is a view" in picture.text)
        why = reasons(operation, found.code, known["x"], known["y"])
        if why is not None and found.rows:
            assert why == [cell.text for cell in picture.select("td.x-why")]

    outcomes = {"right": 0, "refused": 0}
    compare()
    assert outcomes["right"] > 20 and (outcomes["refused"] > 5 or operation in ("squeeze", "sum"))


def test_no_first_state_shows_a_refusal_beside_a_result() -> None:
    """Each operation's initial state shows either a result or an error, and never an error for a single tensor."""
    explorer = shape_explorer(**{f"x{axes}": torch.ones(DISTINCT[:axes]) for axes in range(1, 5)})
    for operation, first, second in product(OPERATIONS, *[[f"x{axes}" for axes in range(1, 5)]] * 2):
        for name, value in (("operation", operation), ("first", first), ("second", second)):
            explorer.choose(name, value)
        explorer.show()
        refused = "x-error" in explorer.picture or "x-note" in explorer.picture

        assert not (refused and "x-result" in explorer.picture) and refused != ("known before" in explorer.picture)
        assert not refused or OPERATIONS[operation].tensors == 2


@pytest.mark.parametrize(
    ("operation", "argument", "text", "then"),
    [("permute", "dims", "1, 0", "cube"), ("sum", "dim", "2", "flat"), ("unsqueeze", "dim", "3", "flat")],
)
def test_a_refusal_after_a_change_of_tensors_shows_no_result(
    operation: str, argument: str, text: str, then: str
) -> None:
    """Arguments that no longer fit after a change of tensors give an error without a result."""
    explorer = shape_explorer(flat=torch.ones(2, 3), cube=torch.ones(2, 3, 5))
    for name, value in (("operation", operation), (argument, text), ("first", then)):
        explorer.choose(name, value)
    explorer.show()

    assert "x-error" in explorer.picture and "x-result" not in explorer.picture


@pytest.mark.parametrize("index", [*MASKS, "keep, :1", "x[:, 1] > 2, 0"])
def test_a_mask_is_filmed(index: str) -> None:
    """With a mask, each number of the result is traced to its source."""
    x = torch.arange(12.0).reshape(3, 4)
    known = {"x": x, "keep": x % 2 == 0} if index != "keep, :1" else {"x": x, "keep": torch.tensor([True, False, True])}
    film = record_element_animation(known, ("index", ("x",), {"index": index}))

    assert film is not None and film.cells.result is not None
    assert [short_number_text(float(each)) for each in eval(f"x[{index}]", dict(known)).flatten()] == list(
        film.cells.result.numbers
    )
    for cell, written in enumerate(film.cells.result.numbers):
        assert written == short_number_text(float(eval(film.cells.spelled(cell), dict(known))))


@pytest.mark.parametrize("text", [*REFUSED, "keep[0]", "x * 0.5", "~x"])
def test_a_mask_that_torch_refuses(text: str) -> None:
    """A mask that torch refuses gives torch's error."""
    known = {"x": torch.ones(3, 4), "keep": torch.ones(3, 4) > 2}

    assert (
        done(f"x[{text}]", known) == explore_operation("index", [("x", known["x"])], {"index": text}, known).error != ""
    )


@pytest.mark.parametrize(
    "text", ["y > 2", "x.any()", "(lambda: 1)()", "x > '2'", "1 / 0 > x", "1 > 2", "x if x else 1"]
)
def test_a_mask_of_what_is_not_here_is_not_run(text: str) -> None:
    """An index with unknown names, or that is no comparison, is not evaluated."""
    found = explore_operation("index", [("x", torch.ones(3, 4))], {"index": text})

    assert found.note.startswith("expected an index such as 0, :, 1:3 or None, or a mask such as x > 2; found ")


def test_a_large_mask_is_not_computed() -> None:
    """A mask that would be too large is not computed."""
    x = torch.ones(2000)

    assert "1,000,000" in explore_operation("index", [("x", x)], {"index": "x[:, None] > x"}).note
