"""The list of all steps of the autograd stepper: a table for the forward pass, one for the backward pass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from autograder.notebook.html_markup import Html, join, table, tag
from explorers.autograd_graph_data import Graph
from explorers.autograd_graph_labels import (
    incoming_gradients_text,
    node_numbers,
    operand_origin,
    outgoing_gradients,
    row_label,
    tensor_in_brief,
)
from explorers.autograd_stepper_state import AutogradStepperState, Phase, row_id
from explorers.explorer_markup import choice_button
from explorers.group_graph_steps_by_module import GraphRow
from explorers.saved_tensors import SavedForBackward
from explorers.tensor_values_as_plain_data import TensorDescription
from explorers.traverse_autograd_graph import ResultPlace

MOST_LISTED = 15  # rows around the present step
MAX_LISTED_AT_END = 60  # rows of a page that shows all steps at once
HEADS = {"forward": ("step", "made from", "result", "saved"), "back": ("step", "gradient that arrives", "sends on")}
CAPTIONS = {"forward": "Forward pass, first step on top", "back": "Backward pass, the result on top"}


def step_list(story: AutogradStepperState, phase: Phase) -> Html:
    """Return one pass as a table: the steps around the present one; at the end, the first MAX_LISTED_AT_END steps."""
    rows = [moment.row for moment in story.moments if moment.phase == phase]
    shown, before, after = _window(rows, story.now.row if story.now else None)
    line = _forward_line if phase == "forward" else _back_line
    drawn = table(CAPTIONS[phase], HEADS[phase], [line(story, row) for row in shown], class_="x-steps")
    return tag("div", _left_out(before, "earlier"), drawn, _left_out(after, "more"), class_="x-scroll", data_keep=phase)


def _left_out(count: int, which: str) -> Html:
    rows = "row is" if count == 1 else "rows are"
    return tag("p", f"{count:,} {which} {rows} not listed.", class_="x-small") if count else Html("")


def _window(rows: list[GraphRow], here: GraphRow | None) -> tuple[list[GraphRow], int, int]:
    """Return the rows around the present one, and the numbers of rows before and after them."""
    most = MOST_LISTED if here else MAX_LISTED_AT_END
    middle = rows.index(here) if here else 0
    first = max(0, min(middle - most // 2, len(rows) - most))
    return rows[first : first + most], first, max(0, len(rows) - first - most)


def _label(story: AutogradStepperState, row: GraphRow) -> Html:
    now = bool(story.now and story.now.row == row)
    text = f"{'▶ ' if now else ''}{node_numbers(row)} {row_label(story.graph, row)}"
    marks = {"class_": "x-row x-now", "aria_current": "step"} if now else {"class_": "x-row"}
    return choice_button("row", row_id(row), text, **marks)


def _forward_line(story: AutogradStepperState, row: GraphRow) -> list[str]:
    graph, label = story.graph, _label(story, row)
    if not story.told("forward", row):
        return [label, "", "", ""]
    if row.module:
        leaves = sum(graph.nodes[at].is_leaf for at in row.nodes)
        return [label, f"{len(row.nodes) - leaves} steps, {leaves} parameters, folded", "", ""]
    node = graph.nodes[row.nodes[0]]
    if node.is_leaf:
        return [label, "a leaf", tensor_in_brief(node.results[0].values), ""]
    made = ", ".join(operand_origin(graph, place) for place in node.operands)
    results = [tensor_in_brief(result.values, f"{result.shape}, not kept") for result in node.results]
    return [label, made, _lines(results), _lines([_saved(each) for each in node.saved] or ["nothing"])]


def _saved(saved: SavedForBackward) -> str:
    if saved.error:
        return f"{saved.name}: freed" if saved.then is None else f"{saved.name}: changed in place since"
    version = "" if saved.now is None else f", version {saved.now}"
    return f"{saved.name} = {saved.setting or tensor_in_brief(saved.values)}{version}"


def _back_line(story: AutogradStepperState, row: GraphRow) -> list[str]:
    graph, label = story.graph, _label(story, row)
    if not story.told("back", row):
        return [label, "", ""]
    if row.module:
        inside = set(row.nodes)
        sent = [
            (place, each)
            for at in row.nodes
            for place, each in outgoing_gradients(graph.nodes[at])
            if place[0] not in inside
        ]
        arrived = [incoming_gradients_text(graph.nodes[at]) for at in row.nodes if _used_outside(graph, at, inside)]
        added = sum(bool(graph.nodes[at].added) for at in row.nodes)
        return [label, _lines(arrived), _lines([*_destinations(graph, sent), f"adds to {added} .grad"])]
    node = graph.nodes[row.nodes[0]]
    if node.added:
        before, after = (tensor_in_brief(values, "None") for values in (node.added.before, node.added.after))
        changes = node.added.incoming and node.added.tracked
        return [
            label,
            incoming_gradients_text(node),
            f".grad: {before} becomes {after}" if changes else ".grad stays as it is",
        ]
    if node.passage and not node.passage.sent:
        return [label, incoming_gradients_text(node), "the backward pass stops here"]
    return [label, incoming_gradients_text(node), _lines(_destinations(graph, outgoing_gradients(node)))]


def _destinations(graph: Graph, sent: Iterable[tuple[ResultPlace, TensorDescription]]) -> list[str]:
    return [f"{tensor_in_brief(each)} to {operand_origin(graph, place)}" for place, each in sent]


def _lines(parts: Sequence[str]) -> Html:
    """Return the parts of a table cell, one below the other."""
    return join(*(tag("div", part) for part in parts))


def _used_outside(graph: Graph, at: int, inside: set[int]) -> bool:
    users = (node for node, places in enumerate(graph.links) for place in places if place and place[0] == at)
    return graph.root[0] == at or any(node not in inside for node in users)
