"""Record the loop stepper's animation at several learning rates: fitted line, loss by weight, and loss by step."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor, nn

from autograder.notebook.html_markup import Html, join, tag
from explorers.copy_training_objects import IsolatedRandomState, TrainingObjects
from explorers.explorer_markup import short_number_text
from explorers.loop_line_executor import LINES, LoopLineExecutor
from explorers.recorded_animation import PartValues, PlotAxes, RecordedRun, moving_dot, records_all_choices
from explorers.training_loop_state import RIGHT_ORDER, Line

STEPS = 30
SECONDS = 1.5  # of computing time for one run, not counting the first step, in which torch still loads code
FACTORS = (0.03, 0.1, 0.3, 1, 2, 3, 5, 8, 10, 12, 20)  # the rates to choose from, as multiples of the reader's own
MOST_POINTS = 300  # a larger data set is not drawn in full
_PLACES = 21  # at which a curve is computed

Curve = list[tuple[float, float]]


@dataclass(frozen=True)
class FrameContent:
    """The content of a frame: the fitted line, the loss over the weight, the present weight and the present loss."""

    fit: Curve
    valley: Curve
    weight: tuple[float, float] | None
    loss: float | None
    parameters: str


def offered_learning_rates(optimizer: Any) -> tuple[float, ...]:
    """Return the learning rates to choose from, including the optimizer's own; none if that is no number."""
    own = optimizer_rate(optimizer)
    return () if own is None else tuple(float(f"{own * factor:.2g}") if factor != 1 else own for factor in FACTORS)


def optimizer_rate(optimizer: Any) -> float | None:
    """Return the learning rate of the first parameter group; None if it is no positive number (a tensor, say)."""
    groups = getattr(optimizer, "param_groups", None) or [{}]
    found = groups[0].get("lr")
    is_number = isinstance(found, int | float) and not isinstance(found, bool) and 0 < found < math.inf
    return float(found) if is_number else None


class LoopFilm:
    """Records runs of a loop, all from the same start and with the same axes."""

    def __init__(self, parts: TrainingObjects, seed: int) -> None:
        self._parts, self._seed = parts, seed
        self._weight = _only_number(parts.model)

    def recorded(self, lines: Sequence[Line], rate: float | None) -> RecordedRun:
        """Run these lines at a learning rate for STEPS steps, or up to an error, and return the recording."""
        looks, error = self._run(lines, rate, self._window)
        fit, valley, losses = self._panels
        frames = [self._frame(count, look, fit, valley, losses) for count, look in enumerate(looks)]
        told = [(count, look.loss) for count, look in enumerate(looks) if look.loss is not None]
        return RecordedRun({"curve.points": losses.line(told)}, frames, range(len(frames)), error)

    def picture(self, values: PartValues) -> Html:
        """Return the panels with the values of one frame."""
        fit, valley, losses = self._panels
        shown = [_drawn_fit(fit, self._dots(fit), values)] if self._points else []
        shown += [_drawn_valley(valley, values)] if self._weight else []
        return join(*shown, _drawn_losses(losses, values))

    # --- a run

    def _run(
        self, lines: Sequence[Line], rate: float | None, window: tuple[float, float] | None
    ) -> tuple[list[FrameContent], str]:
        """Return a `FrameContent` for the state before each step, and the message that ended the run."""
        run, end = LoopLineExecutor(self._parts, self._seed, rate), math.inf
        looks: list[FrameContent] = []
        for step in range(STEPS + 1):
            with IsolatedRandomState(self._seed).drawn():
                look = self._look(run.parts, window)
            error = next(_errors(run, lines, step), "")
            if error:
                return [*looks, look], f"Step {step + 1} stopped at {error}"
            looks.append(replace(look, loss=run.loss()))
            if time.thread_time() > end:
                return looks, f"These steps take long: only the first {step} of {STEPS} are shown."
            if step == 0 and not records_all_choices():
                end = time.thread_time() + SECONDS
        return looks, ""

    def _look(self, parts: TrainingObjects, window: tuple[float, float] | None) -> FrameContent:
        """Return everything but the loss, computed on a copy so that the run itself is not changed."""
        if not self._weight and not self._points:
            return FrameContent([], [], None, None, "")
        model = copy.deepcopy(parts.model)
        with torch.no_grad():
            told = _numbers_of(model)
            here = dict(model.named_parameters())[self._weight].item() if self._weight else math.nan
            valley, place = self._over_weight(model, parts, here, window) if self._weight else ([], None)
            return FrameContent(self._fitted(model), valley, place, None, told)

    def _over_weight(self, model: nn.Module, parts: TrainingObjects, here: float, window: Any) -> tuple[Curve, Any]:
        low, high = window or (here, here)
        wanted = [*torch.linspace(low, high, _PLACES if window else 1).tolist(), here]
        weight = dict(model.named_parameters())[self._weight]
        found: Curve = []
        for value in wanted:
            weight.fill_(value)
            found.append((value, _loss(model, parts)))
        weight.fill_(here)
        return found[:-1], found[-1]

    def _fitted(self, model: nn.Module) -> Curve:
        if not self._points:
            return []
        across = [x for x, _ in self._points]
        places = torch.linspace(min(across), max(across), _PLACES, dtype=self._parts.x.dtype)
        try:
            heights = model.eval()(places.reshape(-1, 1)).flatten().tolist()
        except Exception:  # the reader's model may raise anything; the loop itself reports it
            return []
        line = list(zip(places.tolist(), heights, strict=False))
        return [line[0], line[-1]] if isinstance(model, nn.Linear) else line

    # --- what all runs share

    @cached_property
    def _points(self) -> Curve:
        """Return the data if each sample is one number in and one out, else an empty curve."""
        x, y = self._parts.x, self._parts.y
        if not isinstance(x, Tensor) or not isinstance(y, Tensor) or not x.is_floating_point() or y.is_complex():
            return []
        if x.dim() != 2 or x.shape[1] != 1 or y.numel() != x.numel():
            return []
        across, up = x.flatten().cpu(), y.flatten().cpu()
        told = (across.isfinite() & up.isfinite()).nonzero().flatten()[:MOST_POINTS]  # before `tolist`
        return list(zip(across[told].tolist(), up[told].tolist(), strict=True))

    @cached_property
    def _reference(self) -> list[FrameContent]:
        return self._run(RIGHT_ORDER, None, None)[0]

    @cached_property
    def _window(self) -> tuple[float, float] | None:
        """Return the range of weights to show: symmetric around the weight where the right order ends."""
        places = [look.weight[0] for look in self._reference if look.weight and math.isfinite(look.weight[0])]
        if not self._weight or not places:
            return None
        end = places[-1] if abs(places[-1]) < 10 * (1 + abs(places[0])) else places[0]
        reach = max(0.5, 1.25 * min(max(abs(each - end) for each in places), 10 * (1 + abs(end))))
        return end - reach, end + reach

    @cached_property
    def _panels(self) -> tuple[PlotAxes, PlotAxes, PlotAxes]:
        (left, right), (low, high) = (_span([point[axis] for point in self._points]) for axis in (0, 1))
        fit = PlotAxes(left, right, low, high)
        left, right = self._window or (0.0, 1.0)
        with IsolatedRandomState(self._seed).drawn():
            first = self._look(self._parts, self._window).valley
        known = [look.loss for look in self._reference if look.loss is not None and math.isfinite(look.loss)]
        valley = PlotAxes(left, right, *_span([*(loss for _, loss in first), *known]))
        is_log = bool(known) and min(known) > 0
        low, high = (min(known) / 3, max(known) * 10) if is_log else _span(known)
        return fit, valley, PlotAxes(0, STEPS, low, high, is_log)

    def _frame(self, count: int, look: FrameContent, fit: PlotAxes, valley: PlotAxes, losses: PlotAxes) -> PartValues:
        values: dict[str, str] = {}
        if self._points:
            values["fit.points"] = fit.line(look.fit)
        if self._weight:
            values["valley.points"] = valley.line(look.valley)
            values |= valley.mark("weight", *(look.weight or (math.nan, math.nan)))
        values |= losses.mark("loss", count, math.nan if look.loss is None else look.loss)
        told = "no loss yet" if look.loss is None else f"loss in step {count + 1}: {short_number_text(look.loss)}"
        after = f"After {count} step{'' if count == 1 else 's'}: "
        return {**values, "said.text": after + ", ".join(filter(None, (look.parameters, told))) + "."}

    def _dots(self, fit: PlotAxes) -> str:
        return "".join(f"M{x:g} {y:g}h0" for x, y in (fit.place(*point) for point in self._points))


def _errors(run: LoopLineExecutor, lines: Sequence[Line], step: int) -> Iterator[str]:
    """Run the lines of one step, and yield the message of each error."""
    for line in lines:
        if line.when == "every" or (line.when == "first" and step == 0):
            outcome = run.execute(line.name)
            if outcome.error:
                yield f"{LINES[line.name]}: {outcome.error}"


def _loss(model: nn.Module, parts: TrainingObjects) -> float:
    try:
        return float(parts.criterion(model(parts.x), parts.y))
    except Exception:  # the reader's model and criterion may raise anything; the loop itself reports it
        return math.nan


def _only_number(model: nn.Module) -> str:
    """Return the name of the first parameter if it is a single number, else an empty string."""
    name, first = next(iter(model.named_parameters()), ("", None))
    return name if first is not None and first.numel() == 1 and first.is_floating_point() else ""


def _numbers_of(model: nn.Module) -> str:
    """Return the first few parameters that are single numbers, as text."""
    single = [(name, each) for name, each in model.named_parameters() if each.numel() == 1]
    return ", ".join(f"{name} {short_number_text(float(each))}" for name, each in single[:3])


def _span(values: Sequence[float]) -> tuple[float, float]:
    """Return the smallest and the largest number, with a margin."""
    there = [each for each in values if math.isfinite(each)] or [0.0, 1.0]
    low, high = min(there), max(there)
    more = 0.06 * (high - low) or 0.5
    return (0.0 if 0 <= low < more else low - more), high + more  # no axis below 0 for positive numbers


# --- drawings


def _drawn_fit(panel: PlotAxes, dots: str, values: PartValues) -> Html:
    line = tag("polyline", data_part="fit", points=values.get("fit.points", ""), class_="x-film-line")
    words = "The data as dots, and the line that the model fits through them now"
    return panel.drawn(words, ("x", "y"), [tag("path", d=dots, class_="x-film-dots"), line])


def _drawn_valley(panel: PlotAxes, values: PartValues) -> Html:
    curve = tag("polyline", data_part="valley", points=values.get("valley.points", ""), class_="x-film-curve")
    words = "The loss over the weight, all else as it is now, and a ball where the weight is"
    return panel.drawn(words, ("weight", "loss"), [curve], [moving_dot("weight", 6, values)])


def _drawn_losses(panel: PlotAxes, values: PartValues) -> Html:
    curve = tag("polyline", data_part="curve", points=values.get("curve.points", ""), class_="x-film-curve")
    kind = "loss (logarithmic)" if panel.log else "loss"
    words = "The loss over the steps, and a ball at this one"
    return panel.drawn(words, ("steps", kind), [curve], [moving_dot("loss", 5, values)])
