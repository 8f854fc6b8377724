"""The autograd stepper's picture: the graph, the present step, and the list of all steps."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.notebook.html_markup import Html, join, sentence_to_html, tag
from explorers.autograd_graph_data import Graph, Node
from explorers.autograd_graph_labels import row_label, tensor_in_brief
from explorers.autograd_step_details import small_paragraph, step_html
from explorers.autograd_step_list import step_list
from explorers.autograd_stepper_state import AutogradStepperState, Phase, row_id
from explorers.draw_autograd_graph import Box, draw_boxes
from explorers.explorer_markup import choice_button
from explorers.group_graph_steps_by_module import GraphRow
from explorers.tensor_values_as_plain_data import TensorDescription

MOST_DRAWN = 14  # a graph with at most this many boxes is drawn as a whole
MOST_COLUMNS = 6  # side by side, in a graph that is drawn as a whole
MOST_AROUND = 8  # boxes where only the neighborhood of the present row is drawn
TOO_LONG = "These {:,} rows are too many for one picture. Where a kernel runs, what lies around each step is drawn."
MOST_LETTERS = 16  # in a box
MOST_VALUE = 10  # letters of a value in a box
MOST_BUTTONS = 30  # for folding

NOTHING = Html("")
LEGEND = "In a box: what it is, its value and, on the backward pass, the gradient that arrives. Leaves are blue."
FOLDS = (
    "A graph does not know modules, it knows their parameters. A folded row holds the steps that use a module's "
    "parameters, and those between them; a layer without parameters stands by itself unless it lies between."
)


def autograd_stepper_view(story: AutogradStepperState, *, is_filmed: bool = False) -> Html:
    """Return the graph as HTML: at the present step or, at the end, with both passes.

    With `is_filmed`, the graph itself is left out, because a film beside it draws it.
    """
    graph = story.graph
    if not graph.nodes:
        return tag("div", _notes(graph), class_="x-autograd")
    now = story.now
    phases: tuple[Phase, ...] = (now.phase,) if now else ("forward", "back")
    return tag(
        "div",
        _notes(graph),
        NOTHING if is_filmed else _drawing(story),
        _present(story),
        *(step_list(story, phase) for phase in phases),
        _folding(story),
        class_="x-autograd",
    )


def step_heading(story: AutogradStepperState) -> str:
    """Return in words which step of which pass is shown."""
    now = story.now
    if now is None:
        return "Nothing to step through." if not story.graph.nodes else "The whole story."
    rows = [moment.row for moment in story.moments if moment.phase == now.phase]
    phase = "Forward pass" if now.phase == "forward" else "Backward pass"
    return f"{phase}, {rows.index(now.row) + 1} of {len(rows)}: {row_label(story.graph, now.row)}"


def _present(story: AutogradStepperState) -> Html:
    if story.now is None:
        return NOTHING
    return join(tag("p", tag("strong", step_heading(story)), class_="x-heading"), step_html(story.graph, story.now))


def _notes(graph: Graph) -> Html:
    where = f"backward would stop at {_stop(graph)}" if graph.nodes else "backward refuses"
    error = tag("p", f"{where}. torch says: ", tag("code", graph.error), class_="x-error") if graph.error else NOTHING
    return join(error, tag("p", sentence_to_html(graph.note), class_="x-note") if graph.note else NOTHING)


def _stop(graph: Graph) -> str:
    """Return a description of the step at which the backward pass fails; "its start" if it does not begin."""
    for at in graph.backward:
        node = graph.nodes[at]
        if node.passage and not node.passage.sent and not node.is_leaf:
            return f"step {at + 1} ({node.operation})"
    return "its start"


# --- the drawing


def _drawing(story: AutogradStepperState) -> Html:
    """Return the whole graph if it is small, else the rows around the present one."""
    pairs = arrows_between_rows(story)
    whole = len(story.rows) <= MOST_DRAWN and _length(pairs) <= MOST_COLUMNS
    if not whole and story.now is None:
        return small_paragraph(TOO_LONG.format(len(story.rows)))
    rows = list(story.rows) if whole or story.now is None else _around(story.rows, pairs, story.now.row)
    number = {row: place for place, row in enumerate(rows)}
    arrows = [(number[start], number[end]) for start, end in pairs if start in number and end in number]
    here = number[story.now.row] if story.now else -1
    back = bool(story.now and story.now.phase == "back")
    picture = draw_boxes(
        [render_row_box(story, row) for row in rows], arrows, _words(story, rows), lambda arrow: arrow[1] == here, back
    )
    hidden = len(story.rows) - len(rows)
    more = f" Drawn is what lies around the present step; {hidden:,} more rows are not." if hidden else ""
    return join(tag("div", picture, class_="x-scroll", data_keep="graph"), small_paragraph(LEGEND + more))


Pairs = Sequence[tuple[GraphRow, GraphRow]]


def arrows_between_rows(story: AutogradStepperState) -> Pairs:
    """Return the arrows between the rows, the earlier row first, in the order of the forward pass."""
    row_of = {node: row for row in story.rows for node in row.nodes}
    links = enumerate(story.graph.links)
    found = {(row_of[place[0]], row_of[node]): None for node, places in links for place in places if place}
    turn = {row: place for place, row in enumerate(story.rows)}
    return sorted((pair for pair in found if pair[0] != pair[1]), key=lambda pair: turn[pair[1]])


def _length(pairs: Pairs) -> int:
    """Return the number of rows on the longest path."""
    length: dict[GraphRow, int] = {}
    for start, end in pairs:
        length[end] = max(length.get(end, 1), length.get(start, 1) + 1)
    return max(length.values(), default=1)


def _around(rows: Sequence[GraphRow], pairs: Pairs, here: GraphRow) -> list[GraphRow]:
    """Return the rows one or two arrows from the present one, as many as are drawn."""
    near = {here: None}
    for _ in range(2):
        known = set(near)
        for start, end in pairs:
            if len(near) < MOST_AROUND and (start in known or end in known):
                near.update({start: None, end: None})
    return [row for row in rows if row in near]


def _words(story: AutogradStepperState, rows: Sequence[GraphRow]) -> str:
    return f"The graph: {'; '.join(row_label(story.graph, row) for row in rows)}. The list of steps tells the same."


def render_row_box(story: AutogradStepperState, row: GraphRow) -> Box:
    """Return the box of a row with its content at the present moment."""
    node = story.graph.nodes[row.nodes[0]]
    now = bool(story.now and story.now.row == row)
    lines = [("▶ " if now else "") + row_label(story.graph, row)]
    if row.module:
        lines.append(f"{len(row.nodes)} steps")
    elif story.told("forward", row):
        lines.append(_short(node.results[_slot(story.graph, row.nodes[0])].values))
    if story.told("back", row):
        lines.append("gradient passed" if row.module else f"gradient {_gradient(node)}")
    kind = "x-module" if row.module else "x-leaf" if node.is_leaf else "x-step"
    return Box(tuple(map(_cut, lines)), row_id(row), f"{kind} x-now" if now else kind)


def _slot(graph: Graph, at: int) -> int:
    """Return the result of a node that is shown: the first one that is used."""
    return graph.root[1] if graph.root[0] == at else graph.used.get(at, 0)


def _gradient(node: Node) -> str:
    arrived = node.passage.arrived if node.passage else ()
    return "; ".join(_short(values, "none") for values in arrived) or "none"


def _short(values: TensorDescription | None, nothing: str = "not kept") -> str:
    """Return a text that fits into a box: the tensor's numbers, or only its shape."""
    told = tensor_in_brief(values, nothing)
    return f"{values.shape}" if values and len(told) > MOST_VALUE else told


def _cut(text: str) -> str:
    return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"


# --- folding


def _folding(story: AutogradStepperState) -> Html:
    modules = story.graph.modules
    if not modules.folds and not modules.refused:
        return NOTHING
    unfolded = [module for module in modules.folds if module in story.unfolded]
    refused = [f"Module {module} cannot be folded: {why}." for module, why in modules.refused.items()]
    words = small_paragraph(" ".join([FOLDS, *refused[:5]]))
    if story.now is None or not unfolded:
        return words
    buttons = [choice_button("fold", module, f"Fold {module}") for module in unfolded[:MOST_BUTTONS]]
    return join(words, tag("div", *buttons, class_="x-parts"))
