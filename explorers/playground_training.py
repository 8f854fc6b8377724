"""Record a training run of the playground: the loss, and the regions of the plane where each class is predicted."""

from __future__ import annotations

import copy
import math
import sysconfig
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import contourpy  # a dependency of matplotlib
import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from explorers.copy_training_objects import IsolatedRandomState, copied_optimizer
from explorers.explorer_markup import short_number_text
from explorers.playground_points import POINTS, make_points
from explorers.recorded_animation import PartValues, PlotAxes, RecordedRun, records_all_choices

# The steps after which a picture is recorded; more at the start, where the model changes the most.
STEPS = (0, 1, 2, 3, 4, 6, 8, 11, 15, 20, 25, 30, 40, 50, 60, 75, 90, 110, 130, 150, 175, 200, 230, 260, 300, 350, 400)
SECONDS = 8.0  # for one run, not counting the first step, in which torch still loads code
REACH = 1.25  # the picture's range on each axis is -REACH to REACH
_GRID = 33  # the model is evaluated on a grid of _GRID x _GRID points
_PATHS = sysconfig.get_paths()
_NOT_THE_READERS = (str(Path(__file__).parent), *(_PATHS[name] for name in ("stdlib", "purelib", "platlib")))

MOST_KEPT = 20_000  # weights of larger models are not copied at each picture, so those runs cannot be continued

PLANE = PlotAxes(-REACH, REACH, -REACH, REACH, width=320, height=320)
LOSSES = PlotAxes(0, STEPS[-1], 0.001, 10, log=True, width=320, height=200)

_LEFT, _TOP, _RIGHT, _BOTTOM = PLANE.inside
_GROUND = f"M{_LEFT},{_TOP}H{_RIGHT}V{_BOTTOM}H{_LEFT}Z"

KeptParts = tuple[nn.Module, Any, IsolatedRandomState]


@dataclass(frozen=True)
class PlayMoment:
    """A training run after `step` steps: loss, values to draw, and (if kept) copies of model and optimizer."""

    step: int
    loss: float
    values: PartValues
    kept: KeptParts | None = None


@dataclass(frozen=True)
class Training:
    """A run, up to an error or the last step; `error` is the message of the error."""

    name: str
    moments: Sequence[PlayMoment]
    error: str = ""

    def can_go_on(self, at: int) -> bool:
        """Return whether a run can continue from this moment: weights are kept, and it is not the first or last."""
        return 0 < at < len(self.moments) - 1 and self.moments[at].kept is not None

    def recording(self) -> RecordedRun:
        """Return the run as a recording for a film."""
        points, labels = make_points(self.name)
        still = {"zeros.d": _dots(points[labels == 0]), "ones.d": _crosses(points[labels == 1])}
        still["curve.points"] = LOSSES.line([(each.step, each.loss) for each in self.moments])
        shown = [{**each.values, **LOSSES.mark("loss", each.step, each.loss)} for each in self.moments]
        nothing = {"ground.d": "", "region.d": "", "said.text": "There is nothing to show yet."}
        return RecordedRun(still, shown or [nothing], [each.step for each in self.moments] or [0], self.error)


@dataclass(frozen=True)
class ReaderTrainingSetup:
    """The reader's part: a function that makes a model, the training step, and an optimizer class."""

    make: Callable[[], nn.Module]
    step: Callable[..., Any]
    optimizer: Callable[..., Any]

    def recorded(self, name: str, rate: float) -> RecordedRun:
        """Train on a set of points, always from the same start, and return the recording."""
        return self.trained(name, rate).recording()

    def trained(self, name: str, rate: float, past: Sequence[PlayMoment] = ()) -> Training:
        """Train on a set of points, from the start or from the last moment of another run.

        The other run is not changed.
        """
        points, labels = make_points(name)
        found, error = list(past), ""
        try:
            for step, *parts in self._steps(points, labels, rate, past[-1] if past else None):
                loss, values = _look(parts[0], points, labels)
                values = {**values, "said.text": _said(step, values["said.text"])}
                found.append(PlayMoment(step, loss, values, _copied(*parts)))
        except _Stopped as stopped:
            error = str(stopped)
        return Training(name, found, error)

    def _steps(
        self, points: Tensor, labels: Tensor, rate: float, last: PlayMoment | None
    ) -> Iterator[tuple[int, nn.Module, Any, IsolatedRandomState]]:
        """Yield the step, the model, the optimizer and the random state after each of the remaining STEPS.

        Raises _Stopped if the reader's code raises, or takes too long.
        """
        model, optimizer, chance = self._begun(rate, last)
        if last is None:
            with _told("Asking the model"):
                _checked(model, points)
            yield 0, model, optimizer, chance
        begun, end = last.step if last else 0, math.inf
        for before, after in pairwise(each for each in STEPS if each >= begun):
            for step in range(before, after):
                with chance.drawn(), _told(f"Step {step + 1}"):
                    self.step(model, optimizer, cross_entropy, points.clone(), labels.clone())
                if time.monotonic() > end:
                    yield step + 1, model, optimizer, chance
                    raise _Stopped(f"These steps take long: only the first {step + 1} of {STEPS[-1]} are shown.")
            if before == begun and not records_all_choices():
                end = time.monotonic() + SECONDS
            yield after, model, optimizer, chance

    def _begun(self, rate: float, last: PlayMoment | None) -> KeptParts:
        """Return a model and its optimizer: new ones, or copies of a moment's with another learning rate."""
        if last is None or last.kept is None:
            chance = IsolatedRandomState(0)
            with chance.drawn(), _told("Making the model and the optimizer"):
                model = self.make()
                return model, self.optimizer(model.parameters(), lr=rate), chance
        with _told("Copying the model and the optimizer"):
            model, optimizer, chance = _copies(*last.kept)
            for group in optimizer.param_groups:
                group["lr"] = rate
        return model, optimizer, chance


def _copied(model: nn.Module, optimizer: Any, chance: IsolatedRandomState) -> KeptParts | None:
    """Return copies to continue from; None if none are needed, or copying fails."""
    if records_all_choices() or sum(each.numel() for each in model.parameters()) > MOST_KEPT:
        return None
    try:
        return _copies(model, optimizer, chance)
    except Exception:  # the reader's objects may not be copyable: another rate then starts a new run
        return None


def _copies(model: nn.Module, optimizer: Any, chance: IsolatedRandomState) -> KeptParts:
    memo: dict[int, Any] = {}
    return copy.deepcopy(model, memo), copied_optimizer(optimizer, memo), copy.deepcopy(chance)


class _Stopped(Exception):
    """Raised to end the run; the message tells the reader why."""


@contextmanager
def _told(doing: str) -> Iterator[None]:
    """Turn an error of the reader's code in this block into the end of the run, with the line that raised."""
    try:
        yield
    except _Stopped:
        raise
    except Exception as error:  # the reader's code may raise anything
        own = [
            frame
            for frame in traceback.extract_tb(error.__traceback__)
            if not frame.filename.startswith(_NOT_THE_READERS)
        ]
        where = f", in line {own[-1].lineno} of {own[-1].name}: {own[-1].line}" if own else ""
        raise _Stopped(f"{doing} raised {type(error).__name__}: {error}{where}") from error


def _checked(model: Any, points: Tensor) -> None:
    if not isinstance(model, nn.Module):
        raise _Stopped(f"Expected a model, an nn.Module; found {type(model).__name__}.")
    found = _asked(model, points)
    shape = tuple(found.shape) if isinstance(found, Tensor) else type(found).__name__
    if shape != (POINTS, 2):
        raise _Stopped(f"Expected two logits for each of {POINTS} points, a tensor ({POINTS}, 2); found {shape}.")


def _asked(model: nn.Module, points: Tensor) -> Any:
    """Return the output of a copy of the model in eval mode."""
    with torch.no_grad(), IsolatedRandomState(0).drawn():
        return copy.deepcopy(model).eval()(points.clone())


def _look(model: nn.Module, points: Tensor, labels: Tensor) -> tuple[float, PartValues]:
    """Return the loss on all points, and the picture's values: the region of class 1, and the points read correctly."""
    with _told("Asking the model"):
        logits = _asked(model, points)
        across = torch.linspace(-REACH, REACH, _GRID)
        places = torch.stack(torch.meshgrid(across, across, indexing="xy"), dim=-1).reshape(-1, 2)
        lead = _asked(model, places).double() @ torch.tensor([-1.0, 1.0], dtype=torch.float64)
    right = int((logits.argmax(dim=1) == labels).sum()) if logits.isfinite().all() else 0
    loss = float(cross_entropy(logits.double(), labels))
    heights = torch.sigmoid(lead).reshape(_GRID, _GRID).numpy()
    is_known = bool(lead.isfinite().all())
    return loss, {
        "ground.d": _GROUND if is_known else "",
        "region.d": _region(across.numpy(), heights),
        "said.text": f"loss {short_number_text(loss)}, {right} of {POINTS} right",
    }


def _said(step: int, told: str) -> str:
    return f"After {step} step{'' if step == 1 else 's'}: {told}."


def _region(across: Any, heights: Any) -> str:
    """Return the SVG path around all places where class 1 is more likely, leaving out NaN."""
    drawn: Any = contourpy.contour_generator(across, across, np.ma.masked_invalid(heights), fill_type="OuterOffset")
    polygons, offsets = drawn.filled(0.5, 2.0)
    rings = (polygon[a:b] for polygon, ends in zip(polygons, offsets, strict=True) for a, b in pairwise(ends))
    return "".join(_ring([PLANE.place(*point) for point in ring.tolist()]) for ring in rings)


def _ring(places: Sequence[tuple[float, float]]) -> str:
    """Return a closed path in whole pixels, without the points inside straight lines."""
    rounded = [(round(x), round(y)) for x, y in places]
    kept = rounded[:1]
    for here, after in pairwise(rounded[1:]):
        (x, y), (a, b) = kept[-1], here
        if (a - x) * (after[1] - y) != (b - y) * (after[0] - x):
            kept.append(here)
    return f"M{' '.join(f'{x},{y}' for x, y in kept)}Z" if len(kept) > 2 else ""


def _dots(points: Tensor) -> str:
    return "".join(f"M{x:.0f} {y:.0f}h0" for x, y in _placed(points))


def _crosses(points: Tensor) -> str:
    return "".join(f"M{x - 3:.0f} {y - 3:.0f}l6 6m0-6l-6 6" for x, y in _placed(points))


def _placed(points: Tensor) -> Iterator[tuple[float, float]]:
    return (PLANE.place(x, y) for x, y in points.tolist() if math.isfinite(x) and math.isfinite(y))
