"""The autograd stepper: a widget that steps forward and back through the graph of the reader's tensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from torch import Tensor, nn

from autograder.notebook.html_markup import Html
from explorers.autograd_graph_animation import GraphFilm, fits_one_picture
from explorers.autograd_graph_data import Graph, read_graph
from explorers.autograd_graph_labels import incoming_gradients_text, tensor_in_brief
from explorers.autograd_stepper_state import AutogradStepperState, initial_stepper_state, row_id
from explorers.autograd_stepper_view import autograd_stepper_view, step_heading
from explorers.explorer_base_widget import Explorer
from explorers.explorer_controls import Control, InvalidChoice
from explorers.recorded_animation import Film

PACE = 1.5
TITLE = "Values come in forward, gradients go back, and each leaf's .grad grows"
PASSES = {"forward pass": "forward", "backward pass": "back"}


def autograd_stepper(
    result: Tensor, /, *, model: nn.Module | None = None, gradient: Tensor | None = None, **names: Tensor
) -> AutogradStepper:
    """Step through the graph behind a tensor: `autograd_stepper(loss, w=w, b=b)`.

    Keyword arguments name tensors; `model=model` names the parameters and buffers of a model. `gradient` is the
    argument that `backward` would need for a result of more than one element. No tensor and no `.grad` changes, but the
    hooks that you put on tensors run once. Raises TypeError if an argument is no tensor, or `model` is no module.
    """
    for name, tensor in {"the result": result, **names}.items():
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected tensors, found {type(tensor).__name__} for {name}.")
    if model is not None and not isinstance(model, nn.Module):
        raise TypeError(f"expected a module for model, found {type(model).__name__}.")
    parameters = dict(model.named_parameters(remove_duplicate=False)) if model is not None else {}
    buffers = dict(model.named_buffers()) if model is not None else {}
    return AutogradStepper(read_graph(result, {**parameters, **buffers, **names}, gradient))


class AutogradStepper(Explorer):
    """The widget that `autograd_stepper` returns.

    It reads the graph once, when it is made; later changes to the tensors do not appear.
    """

    def __init__(self, graph: Graph) -> None:
        super().__init__("Autograd stepper")
        self._story = initial_stepper_state(graph)
        self._films: dict[frozenset[str], Film | None] = {}
        self.show()

    def grads(self) -> dict[str, Any]:
        """Return what `backward` would leave in each named leaf's `.grad`, as `tolist` gives it.

        The value is None if there are too many numbers to write out, or if no gradient arrives and `.grad` was None
        before.
        """
        leaves = [(node.results[0].name, node.added) for node in self._story.graph.nodes if node.added]
        return {name: added.after.numbers if added.after else None for name, added in leaves if name}

    def draw(self) -> Html:
        """Return the present step and the list of steps, and the graph if no film shows it."""
        return autograd_stepper_view(self._story, is_filmed=self._film is not None)

    def moving(self) -> Film | None:
        """Return the film of all steps with the present folding, or None if the graph is too large.

        On a page without a kernel, the film shows its last frame.
        """
        film, at = self._film, self._story.at
        if film is None:
            return None
        if at is not None:
            return replace(film, seek=at)
        run = film.runs[()]
        last = len(run.frames) - 1
        return replace(film, seek=last, picture=GraphFilm(self._story).picture(run.at(last)))

    @property
    def _film(self) -> Film | None:
        story = self._story
        if story.unfolded not in self._films:
            self._films[story.unfolded] = _filmed(story) if fits_one_picture(story) else None
        return self._films[story.unfolded]

    def page(self) -> Html:
        """Return all steps at once as HTML, because a page without a kernel cannot step."""
        present = self._story
        self._story = replace(present, at=None)
        try:
            return super().page()
        finally:
            self._story = present

    def tell(self) -> str:
        """Return the present step in a sentence."""
        return _told(self._story)

    def offer(self) -> Sequence[Control]:
        """Return the controls: previous and next, the pass, folding, and the rows in the picture."""
        story = self._story
        if not story.moments or story.now is None:
            return []
        folds = tuple(story.graph.modules.folds)
        rows = tuple(map(row_id, story.rows))
        phase = next(name for name, phase in PASSES.items() if phase == story.now.phase)
        controls = [
            Control("button", "previous", "◀ Previous"),
            Control("button", "next", "Next ▶"),
            Control("choice", "pass", "Pass", phase, tuple(PASSES)),
            Control("part", "row", "Step", options=rows),
            Control("part", "point", "Step", options=rows),
        ]
        if not folds:
            return controls
        return [
            *controls,
            Control("button", "fold all", "Fold modules", disabled=not story.unfolded),
            Control("button", "unfold all", "Unfold modules", disabled=set(folds) <= story.unfolded),
            Control("part", "fold", "Fold", options=folds),
            Control("part", "unfold", "Unfold", options=folds),
        ]

    def choose(self, name: str, value: Any) -> None:
        """Step, jump to a row, change the pass, fold or unfold."""
        self._story = _chosen(self._story, name, value)


def _filmed(story: AutogradStepperState) -> Film:
    film = GraphFilm(story)
    run = film.recorded([_told(replace(story, at=at)) for at in range(len(story.moments))])
    about = " ".join(sorted(story.unfolded))
    return Film(TITLE, [], {(): run}, film.picture(run.at(0)), about=about, is_first=True, pace=PACE)


def _chosen(story: AutogradStepperState, name: str, value: str) -> AutogradStepperState:
    now = story.now
    assert now is not None
    if name in ("next", "previous"):
        moved = story.moved(1 if name == "next" else -1)
        if moved.at == story.at:
            raise InvalidChoice(
                "This is the end of the backward pass." if name == "next" else "This is the first step."
            )
        return moved
    if name == "pass":
        return story.to("forward" if PASSES[value] == "forward" else "back", now.row)
    if name in ("row", "point"):
        return story.to(now.phase, next(row for row in story.rows if row_id(row) == value))
    folds = frozenset(story.graph.modules.folds)
    unfolded = {
        "fold": story.unfolded - {value},
        "unfold": story.unfolded | {value},
        "fold all": frozenset[str](),
        "unfold all": folds,
    }
    return story.with_unfolded(unfolded[name])


def _told(story: AutogradStepperState) -> str:
    graph, now = story.graph, story.now
    if not graph.nodes:
        return f"{graph.note} {graph.error}".strip()
    if now is None or now.row.module:
        return f"{step_heading(story)}."
    node = graph.nodes[now.row.nodes[0]]
    if now.phase == "forward":
        return f"{step_heading(story)}. Result: {'; '.join(tensor_in_brief(result.values) for result in node.results)}."
    after = f" .grad would be {tensor_in_brief(node.added.after, 'None')}." if node.added else ""
    return f"{step_heading(story)}. Arrives: {incoming_gradients_text(node)}.{after}"
