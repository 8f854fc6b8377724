"""The picture and the widget of the shape explorer: all facts in order, with outside text escaped."""

from __future__ import annotations

import re
from html import unescape
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from explorers import shape_explorer
from explorers.apply_operation import Exploration, explore_operation
from explorers.shape_operation_catalog import OPERATIONS
from explorers.shape_predictions import judge_prediction
from explorers.shape_rendering import exploration_html
from explorers.shape_widget import ShapeExplorer, example_tensors


def counted(*shape: int) -> torch.Tensor:
    """Return a tensor of this shape with the numbers 0, 1, 2, ..."""
    return torch.arange(float(torch.Size(shape).numel())).reshape(shape)


def words(picture: str) -> str:
    """Return the text of a picture without markup."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", picture, flags=re.S))).split())


def added() -> Exploration:
    """Return the sum of a column and a row."""
    return explore_operation("add", [("column", counted(3, 1)), ("row", counted(4))])


def test_all_facts_in_order() -> None:
    """Sizes, shape, numbers, strides, dtype and memory are in order, and readable without style."""
    told = words(exploration_html(added()))
    facts = (
        "column + row",
        "column 3 1 row – 4 result 3 4 why missing: stretched 1 is stretched",
        "Shapes line up at the right",
        "known before any number is: (3, 4)",
        "column 0 1 2 row 0 1 2 3 result 0 1 2 3 1 2 3 4 2 3 4 5",
        "result (3, 4) (4, 1) float32",
        "The result has memory of its own",
    )
    places = [told.index(fact) for fact in facts]

    assert sorted(places) == places


@pytest.mark.parametrize("operation", OPERATIONS)
def test_same_facts_as_the_state(operation: str) -> None:
    """For each operation, the picture has the state's code, rule, shape, values and error."""
    tensors = list(example_tensors().items())[2 : 2 + OPERATIONS[operation].tensors]
    found = explore_operation(operation, tensors)
    told = words(exploration_html(found))

    assert found.code in told and found.rule.replace("`", "") in told.replace(" ,", ",").replace(" ;", ";")
    assert all(row.why in told for row in found.rows)
    if found.error:
        assert found.error in told
    else:
        assert found.result is not None
        assert f"number is: {found.shape}" in told and f"result {found.shape} {found.result.stride}" in told


def test_view_names_whose_memory() -> None:
    """A view has a sentence about the shared memory."""
    told = words(exploration_html(explore_operation("transpose", [("table", counted(2, 3))])))

    assert "The result is a view: it looks at the memory of table" in told


def test_nothing_is_shared_where_nothing_is() -> None:
    """An empty view has a sentence that nothing is shared."""
    told = words(exploration_html(explore_operation("transpose", [("table", torch.zeros(0, 3))])))

    assert "The result has no numbers: there is nothing that could be shared." in told and "of its own" not in told


def test_clash_is_marked_without_color() -> None:
    """Sizes that do not fit have a sign with a name, and torch's exact error."""
    found = explore_operation("add", [("a", counted(2, 3)), ("b", counted(4))])
    picture = exploration_html(found)

    assert 1 == picture.count('title="does not fit">✗</td>') and "no result" in picture
    assert found.error in words(picture) and "known before" not in picture


def test_large_tensor_is_counted() -> None:
    """A large tensor has its count in place of its numbers."""
    told = words(exploration_html(explore_operation("transpose", [("x", counted(30, 40))])))

    assert "x : 1,200 numbers, too many to write out" in told and "known before any number is: (40, 30)" in told


def test_covered_picture_tells_nothing_of_the_result() -> None:
    """A covered picture does not reveal shape, numbers or reasons."""
    told = words(exploration_html(added(), covered=True))

    assert "What is the shape of the result?" in told and "result ?" in told
    assert not any(word in told for word in ("(3, 4)", "stretched", "memory", "4 2 3 4 5"))


@given(name=st.text(min_size=1), typed=st.text())
@settings(deadline=None)
def test_names_and_arguments_are_text(name: str, typed: str) -> None:
    """Markup in names and arguments is escaped."""
    found = explore_operation("view", [(f"<x>{name}", counted(2, 3))], {"sizes": f"<b>{typed}"})

    assert set(re.findall(r"</?([^\s/>]+)", exploration_html(found))) <= {
        "div", "p", "code", "table", "caption", "thead", "tbody", "tr", "th", "td",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("guess", "ending"),
    [
        ("(3, 4)", "You predicted (3, 4); torch says (3, 4). Your prediction holds."),
        ("3,4", "Your prediction holds."),
        ("[3, 4]", "Your prediction holds."),
        ("torch.Size([3, 4])", "Your prediction holds."),
        ("(4, 3)", "You predicted (4, 3); torch says (3, 4). Not what you expected? Read on."),
        ("error", "You predicted an error; torch says (3, 4). Not what you expected? Read on."),
        ("()", "You predicted (); torch says (3, 4). Not what you expected? Read on."),
        ("", "torch says (3, 4)."),
        ("three", "Write a shape, such as (3, 4) or (), or the word error."),
    ],
)
def test_prediction(guess: str, ending: str) -> None:
    """A prediction is parsed in the usual notations and compared."""
    assert judge_prediction(guess, added()).endswith(ending)


def test_predicted_error() -> None:
    """An error and an empty shape can be predicted."""
    refused = explore_operation("add", [("a", counted(3)), ("b", counted(4))])
    total = explore_operation("sum", [("a", counted(3))])

    assert "Your prediction holds." in judge_prediction(
        " Error ", refused
    ) and "Your prediction holds." in judge_prediction("()", total)


def choose(explorer: ShapeExplorer, **chosen: Any) -> None:
    """Send these choices one after the other."""
    for name, value in chosen.items():
        explorer._handle_custom_msg({"choose": name, "value": value}, [])


def offered(explorer: ShapeExplorer) -> dict[str, Any]:
    """Return the values of the controls."""
    return {control["name"]: control["value"] for control in explorer.controls}


class TestWidget:
    def test_begins_with_a_broadcast(self) -> None:
        """Without tensors, the explorer starts with a broadcast of its examples."""
        explorer = shape_explorer()

        assert "column + row: shape (3, 4)." == explorer.tell()
        assert {"operation": "add", "first": "column", "second": "row", "predict": False} == offered(explorer)

    def test_own_tensors(self) -> None:
        """Only the given tensors are offered, and later changes to them appear."""
        x, w = counted(2, 5), counted(5, 3)
        explorer = shape_explorer(x=x, w=w)
        choose(explorer, operation="matmul")
        assert "x @ w: shape (2, 3)." == explorer.said and ["x", "w"] == explorer.controls[1]["options"]

        x.fill_(7.0)
        choose(explorer, first="x")
        assert ">7</text>" in explorer.film["picture"]

    def test_one_tensor(self) -> None:
        """A single tensor can be both operands."""
        explorer = shape_explorer(x=counted(2, 3))
        assert "x.transpose(0, 1): shape (3, 2)." == explorer.tell()

        choose(explorer, operation="add")
        assert "x + x: shape (2, 3)." == explorer.tell()

    def test_arguments_are_kept_for_each_operation(self) -> None:
        """Each operation remembers its typed arguments."""
        explorer = shape_explorer(x=counted(2, 3))
        choose(explorer, operation="view", sizes="3, 2")
        choose(explorer, operation="expand")
        assert "-1, -1" == offered(explorer)["sizes"]

        choose(explorer, operation="view")
        assert "3, 2" == offered(explorer)["sizes"] and "x.view(3, 2): shape (3, 2)." == explorer.said

    def test_what_cannot_be_read_stays_to_be_mended(self) -> None:
        """An invalid argument stays in its field, with a note."""
        explorer = shape_explorer(x=counted(2, 3))
        choose(explorer, operation="view", sizes="two")

        assert "two" == offered(explorer)["sizes"] and "expected whole numbers" in explorer.picture

    def test_prediction_first(self) -> None:
        """With predictions, each new question is covered until the reader asks, and then judged."""
        explorer = shape_explorer()
        choose(explorer, predict=True)
        assert "known before" not in explorer.picture and {"guess", "show"} < set(offered(explorer))
        assert "(3, 4)" not in explorer.said and "(3, 4)" not in words(explorer.page())

        choose(explorer, guess="(3, 4)", show=None)
        assert "Your prediction holds." in explorer.picture and "Your prediction holds." in explorer.said
        assert "guess" not in offered(explorer)

        choose(explorer, second="table")
        assert "known before" not in explorer.picture and "" == offered(explorer)["guess"]
        choose(explorer, predict=False)
        assert "known before" in explorer.picture and "x-right" not in explorer.picture

    def test_unreadable_argument_is_no_riddle(self) -> None:
        """An invalid argument gives its note even while covered."""
        explorer = shape_explorer(x=counted(2, 3))
        choose(explorer, operation="view", predict=True, sizes="two")

        assert "expected whole numbers" in explorer.picture and explorer.said.startswith("expected whole numbers")

    def test_tensors_have_names(self) -> None:
        """A tensor without a name raises TypeError."""
        with pytest.raises(TypeError, match=r"Write shape_explorer\(x=x\)"):
            shape_explorer(torch.ones(2))

    @pytest.mark.parametrize("made", [[1.0], None, "x"])
    def test_no_tensor(self, made: Any) -> None:
        """An argument that is no tensor raises TypeError."""
        with pytest.raises(TypeError, match=f"expected tensors, found {type(made).__name__} for x"):
            shape_explorer(x=made)

    @pytest.mark.parametrize("made", [torch.ones(2, 2).to_sparse(), torch.ones(2, device="meta")])
    def test_tensor_without_numbers_in_plain_memory(self, made: torch.Tensor) -> None:
        """A sparse or meta tensor raises ValueError."""
        with pytest.raises(ValueError, match="expected tensors with numbers and strides; x is torch"):
            shape_explorer(x=made)

    def test_tracked_tensor(self) -> None:
        """A tensor that requires grad can be explored."""
        explorer = shape_explorer(w=torch.nn.Parameter(counted(2, 3)))

        assert "w.transpose(0, 1): shape (3, 2)." == explorer.tell()

    def test_static_page_tells_what_the_picture_tells(self) -> None:
        """The page without a kernel has the title and the picture's content."""
        explorer = shape_explorer()

        still, numbers = words(explorer.page()), "column 0 10 20 row 1 2 3 4 result 1 2 3 4 11 12 13 14 21 22 23 24"
        before, after = words(explorer.picture).split(" Shape, stride, dtype")

        assert still.startswith(f"Shape explorer {before} {numbers} Shape, stride, dtype{after} column + row")
