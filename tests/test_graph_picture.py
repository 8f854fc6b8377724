"""The picture and the widget of the autograd stepper at each step."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from explorers import autograd_stepper
from explorers.autograd_graph_data import read_graph
from explorers.autograd_step_list import MAX_LISTED_AT_END, MOST_LISTED
from explorers.autograd_stepper_state import AutogradStepperState, initial_stepper_state, row_id
from explorers.autograd_stepper_view import autograd_stepper_view
from explorers.autograd_widget import AutogradStepper
from tests.test_autograd_graph import Block, worked


def text(markup: str) -> str:
    """Return the text of markup, with cells and lines separated."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " | ", markup)).replace("| |", "|")


def rows(markup: str, caption: str) -> list[list[str]]:
    """Return the cells of the table with this caption, row by row, without the marker of the present one."""
    (table,) = (each for each in re.findall(r"<table.*?</table>", markup) if f"<caption>{caption}" in each)
    cells = (re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr>.*?</tr>", table))
    return [[re.sub(r"(<[^>]*>)+", " ", cell).replace("▶ ", "").strip() for cell in row] for row in cells]


def small() -> AutogradStepperState:
    """Return the chapter's example at its first step."""
    names, loss = worked()
    return initial_stepper_state(read_graph(loss, {**names, "loss": loss}))


def large() -> AutogradStepperState:
    """Return the graph of a model with several hundred nodes, at its first step."""
    model = nn.Sequential(*(Block() for _ in range(30)))
    return initial_stepper_state(read_graph(model(torch.ones(2, 8)).mean(), dict(model.named_parameters())))


class TestPicture:
    """The drawing and the tables."""

    def test_the_whole_story(self) -> None:
        """At the end, both passes are tables with values, saved tensors and gradients."""
        drawn = autograd_stepper_view(replace(small(), at=None))

        forward, back = rows(drawn, "Forward pass")[1:], rows(drawn, "Backward pass")[1:]
        assert forward[2] == ["3 Mul", "x, y", "(), not kept", "other = 3, version 0 self = 2, version 0"]
        assert forward[4] == ["5 Pow → loss", "Add (step 4)", "64", "exponent = 2 self = 8, version 0"]
        assert back[1:3] == [["4 Add", "16", "16 to Mul (step 3) 16 to x"], ["3 Mul", "16", "48 to x 32 to y"]]
        assert {"1 x", "2 y"} == {row[0] for row in back[3:]} and ".grad: None becomes 64" in text(drawn)

    def test_nothing_is_told_before_its_moment(self) -> None:
        """The first step shows no later value and no gradient."""
        drawn = autograd_stepper_view(small())

        assert "64" not in text(drawn) and "gradient 16" not in text(drawn)
        present, *later = rows(drawn, "Forward pass")[1:]
        assert present == ["1 x", "a leaf", "2", ""] and [row[1:] for row in later] == [["", "", ""]] * 4

    def test_the_walk_reaches_a_leaf(self) -> None:
        """At a leaf, the picture shows the gradients that arrive, their sum, and `.grad` before and after."""
        story = small()
        at = next(
            number for number, each in enumerate(story.moments) if each.phase == "back" and each.row.nodes == (0,)
        )
        told = autograd_stepper_view(replace(story, at=at))

        assert [row[1] for row in rows(told, "Several gradients")[1:]] == ["48", "16"]
        assert rows(told, "What backward would add")[1] == ["x", "None", "64", "64"]

    def test_the_present_row_is_marked_by_more_than_color(self) -> None:
        """The present row and box have a marker, and the row is the current step for a screen reader."""
        drawn = autograd_stepper_view(small().moved(3))

        (label,) = re.findall(r'aria-current="step"[^>]*>([^<]*)<', drawn)
        assert label == "▶ 4 Add" and re.findall(r"<text[^>]*>(▶[^<]*)<", drawn) == ["▶ Add"]

    def test_names_are_text(self) -> None:
        """Markup in a name is escaped."""
        x = torch.ones((), requires_grad=True)
        drawn = autograd_stepper_view(initial_stepper_state(read_graph(x * 2, {"<b>&": x})))

        assert "<b>" not in drawn and "&lt;b&gt;&amp;" in drawn

    def test_refusals_are_told(self) -> None:
        """An error shows torch's message, and the step at which the pass stops."""
        x = torch.ones(1, requires_grad=True)
        y = x.exp()
        y += 1
        changed = text(autograd_stepper_view(replace(initial_stepper_state(read_graph(y.sum(), {"x": x})), at=None)))

        assert "This tensor does not come from a graph" in text(
            autograd_stepper_view(initial_stepper_state(read_graph(torch.ones(()))))
        )
        assert "backward would stop at step 2 (Exp)" in changed and "is at version 1; expected version 0" in changed
        assert "result: changed in place since" in changed and "the backward pass stops here" in changed

    def test_a_large_graph_stays_small(self) -> None:
        """A large graph is folded and shown in part, and the rest is counted."""
        story = large().moved(20)
        drawn = autograd_stepper_view(story)

        assert len(story.graph.nodes) > 300 and len(story.rows) < 70
        assert len(rows(drawn, "Forward pass")) == MOST_LISTED + 1
        assert re.search(r"\d+ earlier rows are not listed", drawn) and re.search(r"\d+ more rows are not", drawn)
        assert len(drawn) < 40_000

    def test_a_large_graph_without_modules(self) -> None:
        """At the end of a long graph, the lists are cut and say so."""
        x = torch.ones((), requires_grad=True)
        y = x
        for _ in range(300):
            y = y * 1.01
        drawn = autograd_stepper_view(replace(initial_stepper_state(read_graph(y, {"x": x})), at=None))

        assert len(rows(drawn, "Backward pass")) == MAX_LISTED_AT_END + 1 and "241 more rows are not listed" in drawn
        assert "These 301 rows are too many for one picture." in drawn

    def test_a_folded_module(self) -> None:
        """A folded module shows the gradients that leave it and those of its parameters."""
        story = large()
        drawn = autograd_stepper_view(story.to("back", next(row for row in story.rows if row.module == "5")))

        assert [row[0] for row in rows(drawn, "Added to .grad")[1:]][:2] == ["5.norm.weight", "5.norm.bias"]
        assert len(rows(drawn, "Gradients that leave")) == 2

    def test_broadcasting_is_explained(self) -> None:
        """A broadcast operand has an explanation of the sum over its copies."""
        x, row = torch.ones(4, 3, requires_grad=True), torch.ones(3, requires_grad=True)
        story = initial_stepper_state(read_graph((x + row).sum(), {"row": row}))
        add = next(each for each in story.rows if story.graph.nodes[each.nodes[0]].operation == "Add")

        assert "row has the shape (3,) and was broadcast" in text(autograd_stepper_view(story.to("back", add)))


class TestStory:
    """Moving between steps."""

    def test_forward_and_back(self) -> None:
        """The steps are the forward pass, then the backward pass in the engine's order, and end there."""
        story = small()

        assert [moment.row.nodes[0] for moment in story.moments[:5]] == [0, 1, 2, 3, 4]
        assert tuple(moment.row.nodes[0] for moment in story.moments[5:]) == story.graph.backward
        assert story.moved(-1).at == 0 and story.moved(99).at == 9

    def test_unfolding_stays_at_the_place(self) -> None:
        """Unfolding goes to the module's first step, and folding back to the module."""
        story = large()
        module = story.to("forward", next(row for row in story.rows if row.module == "3"))
        opened = module.with_unfolded(frozenset({"3"}))

        assert opened.now and opened.now.row.module == "3.norm"
        assert opened.with_unfolded(frozenset()).now == module.now


def press(stepper: AutogradStepper, name: str, value: Any = None) -> None:
    """Send a choice as the page would."""
    stepper._hear(None, {"choose": name, "value": value}, None)


@pytest.fixture
def stepper() -> AutogradStepper:
    """Return a stepper on the chapter's example."""
    names, loss = worked()
    return autograd_stepper(loss, loss=loss, **names)


class TestWidget:
    """The choices of the page and their results."""

    def test_steps(self, stepper: AutogradStepper) -> None:
        """Next goes through both passes with a sentence each, and the last press gives a note."""
        said = [stepper.said]
        for _ in range(10):
            press(stepper, "next")
            said.append(stepper.said)

        assert said[3] == "Forward pass, 4 of 5: Add. Result: 8."
        assert said[5] == "Backward pass, 1 of 5: Pow → loss. Arrives: 1."
        assert "x. Arrives: 64. .grad would be 64." in " ".join(said)
        assert said[10] == "This is the end of the backward pass." and "x-note" in stepper.picture

    def test_jumps(self, stepper: AutogradStepper) -> None:
        """A row of the list, a box, and the other pass can be chosen."""
        press(stepper, "row", "step 4")
        assert stepper.said.startswith("Forward pass, 4 of 5")
        press(stepper, "pass", "backward pass")
        assert stepper.said.startswith("Backward pass, 2 of 5: Add")
        press(stepper, "point", "step 3")
        assert stepper.said.startswith("Backward pass, 3 of 5: Mul")

    def test_all_that_can_be_pressed_is_offered(self) -> None:
        """Each button in the picture at each step is a valid choice."""
        model = nn.Sequential(Block(), Block())
        stepper = autograd_stepper(model(torch.ones(2, 8)).mean(), model=model)
        for name in ("unfold all", "fold all"):
            press(stepper, name)
            for _ in stepper._story.moments:
                press(stepper, "next")
                for choice, value in re.findall(r'data-choose="([^"]*)" data-value="([^"]*)"', stepper.picture):
                    assert value in stepper._offered[choice].options

    def test_folding(self) -> None:
        """Modules are folded and unfolded, one or all, at the same place."""
        model = nn.Sequential(Block(), Block(), Block())
        stepper = autograd_stepper(model(torch.ones(2, 8)).mean(), model=model)
        assert stepper.said.startswith("Forward pass, 1 of 7: module 0")
        press(stepper, "unfold", "0")
        assert stepper.said.startswith("Forward pass, 1 of 10: module 0.norm")
        press(stepper, "unfold all")
        assert stepper.said.startswith("Forward pass, 1 of 37: 0.norm.weight")
        press(stepper, "fold", "0")
        assert stepper.said.startswith("Forward pass, 1 of 27: module 0")

    @pytest.mark.parametrize(("name", "value"), [("row", "step 99"), ("row", 3), ("fold", "0"), ("delete", None)])
    def test_untrusted_messages(self, stepper: AutogradStepper, name: str, value: Any) -> None:
        """An invalid choice changes nothing and gives a note."""
        before = stepper._story
        press(stepper, name, value)

        assert stepper._story is before and "x-note" in stepper.picture

    def test_without_a_kernel(self, stepper: AutogradStepper) -> None:
        """The page without a kernel shows all steps without buttons, and the stepper keeps its step."""
        press(stepper, "next")
        page = stepper.page()

        assert "<button" not in page and ".grad: None becomes 64" in text(page) and "48 to x" in text(page)
        assert stepper.said.startswith("Forward pass, 2 of 5")

    def test_gradients_by_name(self, stepper: AutogradStepper) -> None:
        """`grads` returns the gradients of named leaves."""
        assert stepper.grads() == {"x": 64.0, "y": 32.0}

    def test_names_of_a_model(self) -> None:
        """Parameters and buffers have the model's names, besides the names given."""
        model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
        data = torch.randn(3, 2)
        stepper = autograd_stepper(model(data).sum(), model=model, data=data)

        assert list(stepper.grads()) == ["0.weight", "0.bias", "1.weight", "1.bias"]
        whose = {each.of for node in stepper._story.graph.nodes for each in node.saved}
        assert {"data", "1.running_mean"} <= whose

    def test_any_name_will_do(self) -> None:
        """Tensors may be named `result` and `self`."""
        x = torch.ones((), requires_grad=True)
        result = x * 2

        assert "Mul → result" in autograd_stepper(result, result=result, self=x).page()

    def test_untracked(self) -> None:
        """A tensor without a graph has no controls, and the reason is shown."""
        stepper = autograd_stepper(torch.ones(()))

        assert stepper.controls == [] and "This tensor does not come from a graph" in stepper.tell()

    @pytest.mark.parametrize(
        "given", [{"result": 3.0}, {"result": torch.ones(()), "x": 3}, {"result": torch.ones(()), "model": 3}]
    )
    def test_wrong_arguments(self, given: dict[str, Any]) -> None:
        """An argument that is no tensor or module raises TypeError."""
        result: Tensor = given.pop("result")
        with pytest.raises(TypeError, match="expected"):
            autograd_stepper(result, **given)


def test_each_row_has_a_name_of_its_own() -> None:
    """Row ids are unique, even with a module called 3 and a third step."""
    story = large()

    assert len({row_id(row) for row in story.rows}) == len(story.rows)
