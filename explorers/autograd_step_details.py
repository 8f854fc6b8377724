"""Render the current step of the autograd stepper as HTML: its values, saved tensors and gradients."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from explorers.autograd_graph_data import Graph, Node, NodeOutput
from explorers.autograd_graph_labels import RULES, operand_origin, outgoing_gradients, row_label, tensor_in_brief
from explorers.autograd_stepper_state import Phase, ReaderStep
from explorers.backward_pass_recorder import LeafGradChange
from explorers.explorer_markup import choice_button, scrollable_table, values_as_tables
from explorers.group_graph_steps_by_module import GraphRow
from explorers.saved_tensors import SavedForBackward
from explorers.tensor_values_as_plain_data import TensorDescription

NOTHING = Html("")
LEAF = "A leaf: a tensor that requires grad and is not the result of a step. Here the backward pass ends."
UNKNOWN = "Its values cannot be told: no step keeps them as they were, and you gave it no name."
SELF = "`self` is torch's name for the first operand, `other` for the second, `result` for the step's own result."
ELEMENTWISE = {"Add", "Sub", "Mul", "Div", "Pow"}
OWN_NAMES = {"self", "other", "result"}
UNTOUCHED = "This is what `backward` would do; the explorer leaves your `.grad` as it is."
SUM = (".grad before", "arrives", ".grad after")


def step_html(graph: Graph, now: ReaderStep) -> Html:
    """Return the step as HTML: in the forward pass what it computed, in the backward pass its gradients."""
    if now.row.module:
        return _module(graph, now.row, now.phase)
    at = now.row.nodes[0]
    return _forward(graph, graph.nodes[at]) if now.phase == "forward" else _back(graph, at)


def small_paragraph(sentence: str) -> Html:
    """Return a remark as a small paragraph, or nothing if the sentence is empty."""
    return tag("p", sentence_to_html(sentence), class_="x-small") if sentence else NOTHING


def _module(graph: Graph, row: GraphRow, phase: Phase) -> Html:
    unfold = choice_button("unfold", row.module, "Unfold its steps")
    if phase == "forward":
        steps = ", ".join(graph.nodes[at].operation for at in row.nodes if not graph.nodes[at].is_leaf)
        return join(tag("p", f"Its steps: {steps}."), _leaves(graph, row, False), unfold)
    inside = set(row.nodes)
    lines = [
        [row_label(graph, GraphRow((at,))), tensor_in_brief(sent), operand_origin(graph, place)]
        for at in row.nodes
        for place, sent in outgoing_gradients(graph.nodes[at])
        if place[0] not in inside
    ]
    out = scrollable_table("Gradients that leave the module", ("by", "gradient", "to"), lines) if lines else NOTHING
    return join(out, _leaves(graph, row, True), unfold)


def _leaves(graph: Graph, row: GraphRow, back: bool) -> Html:
    leaves = [graph.nodes[at] for at in row.nodes if graph.nodes[at].is_leaf]
    if not back:
        shapes = [
            [leaf.results[0].name, str(leaf.results[0].shape), tensor_in_brief(leaf.results[0].values)]
            for leaf in leaves
        ]
        return scrollable_table("Its parameters", ("name", "shape", "values"), shapes)
    lines = [[leaf.results[0].name, *_sum(leaf.added)] for leaf in leaves if leaf.added]
    return scrollable_table("Added to .grad", ("name", *SUM), lines) if lines else NOTHING


def _forward(graph: Graph, node: Node) -> Html:
    if node.is_leaf:
        return join(tag("p", LEAF), _whole("its values", node.results[0].values))
    operands = ", ".join(operand_origin(graph, place) for place in node.operands) or "nothing that requires grad"
    results = [_result(result, number, node) for number, result in enumerate(node.results)]
    return join(
        tag("p", sentence_to_html(f"`{node.kind}`. Made from: {operands}.")), *results, _saved(graph, node.saved)
    )


def _result(result: NodeOutput, number: int, node: Node) -> Html:
    name = result.name or ("result" if len(node.results) == 1 else f"result {number + 1}")
    if result.values is None:
        return tag("p", f"{name}: shape {result.shape}, {result.dtype}. {UNKNOWN}")
    return join(_whole(name, result.values), small_paragraph(f"Known from: {result.source}."))


def _whole(caption: str, values: TensorDescription | None) -> Html:
    """Return all numbers of a tensor as a table, or its shape and range if there are too many."""
    if values is None:
        return tag("p", f"{caption}: none")
    if values.numbers is None:
        return tag("p", f"{caption}: {tensor_in_brief(values)}, too many numbers to write out")
    return tag("div", values_as_tables(caption, values.numbers), class_="x-scroll", data_keep=caption)


def _saved(graph: Graph, saved: Sequence[SavedForBackward]) -> Html:
    if not saved:
        return tag("p", "It saved nothing: its backward rule needs no numbers.")
    lines = [
        [each.name, _whose(graph, each), each.setting or (tensor_in_brief(each.values, "")), _version(each)]
        for each in saved
    ]
    errors = {each.error: None for each in saved if each.error and each.error != graph.error}
    told = join(*(tag("p", "torch says: ", tag("code", error), class_="x-error") for error in errors))
    names = small_paragraph(SELF) if OWN_NAMES.intersection(each.name for each in saved) else NOTHING
    return join(
        scrollable_table("Saved for the backward pass", ("name", "whose", "value", "version"), lines), names, told
    )


def _whose(graph: Graph, saved: SavedForBackward) -> str:
    if isinstance(saved.of, tuple):
        return operand_origin(graph, saved.of)
    return saved.of or ("a setting" if saved.setting else "needs no gradient" if saved.values else "")


def _version(saved: SavedForBackward) -> str:
    if saved.error:
        return "freed" if saved.then is None else f"{saved.then} when saved, {saved.now} now: changed in place"
    return "" if saved.now is None else f"{saved.then} when saved, {saved.now} now"


def _back(graph: Graph, at: int) -> Html:
    node, passage = graph.nodes[at], graph.nodes[at].passage
    if passage is None:
        return tag("p", "No gradient comes this far." if graph.error else "No gradient comes this way.")
    arrived = [_whole(_of(node, slot, "arrives"), values) for slot, values in enumerate(passage.arrived)]
    hook = tag("p", "A hook of yours changed it on its way.", class_="x-note") if passage.hooked else NOTHING
    came = join(_contributions(graph, at), *arrived, hook)
    rule = tag("p", RULES.get(node.operation, ""))
    if node.added:
        return join(came, rule, _adding(node.results[0].name, node.added))
    if not passage.sent:
        return join(came, tag("p", "Here the backward pass stops, with the error above.", class_="x-error"))
    sent = [_whole(f"sends to {operand_origin(graph, place)}", each) for place, each in outgoing_gradients(node)]
    return join(came, rule, tag("div", *sent, class_="x-parts"), _summed(graph, node), small_paragraph(_none(node)))


def _of(node: Node, slot: int, word: str) -> str:
    return word if len(node.results) == 1 else f"{word} at result {slot + 1}"


def _contributions(graph: Graph, at: int) -> Html:
    """Return a table of the gradients that were added at a node, if there was more than one."""
    lines = [
        [f"from step {other + 1} ({node.operation})", tensor_in_brief(sent)]
        for other, node in enumerate(graph.nodes)
        for place, sent in outgoing_gradients(node)
        if place[0] == at
    ]
    if graph.root[0] == at:
        return tag("p", "The backward pass starts here.")
    return (
        scrollable_table("Several gradients arrive and are added", ("", "gradient"), lines)
        if len(lines) > 1
        else NOTHING
    )


def _summed(graph: Graph, node: Node) -> Html:
    """Explain, for each operand that was broadcast, why its gradient is smaller than the one that arrives."""
    told = [
        f"{operand_origin(graph, place)} has the shape {each.shape} and was broadcast: "
        "what its copies get is summed, so that the gradient has its shape."
        for place, each in outgoing_gradients(node)
        if node.operation in ELEMENTWISE and each.shape != node.results[0].shape
    ]
    return join(*(tag("p", line) for line in told))


def _none(node: Node) -> str:
    told = "No gradient goes to operands that do not require one. " if None in node.operands else ""
    silent = len([place for place in node.operands if place]) > len(list(outgoing_gradients(node)))
    return told + ("An operand that requires grad gets none (None) from this rule." if silent else "")


def _sum(added: LeafGradChange) -> list[str]:
    return [
        tensor_in_brief(added.before, "None"),
        tensor_in_brief(added.incoming, "None"),
        tensor_in_brief(added.after, "None"),
    ]


def _adding(name: str, added: LeafGradChange) -> Html:
    told = scrollable_table("What backward would add", ("", *SUM), [[name or "this leaf", *_sum(added)]])
    if not added.tracked:
        return join(told, tag("p", "Its requires_grad is off now: nothing is added."))
    if added.incoming is None:
        return join(told, tag("p", "No gradient arrives, and .grad stays as it is."))
    return join(told, small_paragraph(UNTOUCHED))
