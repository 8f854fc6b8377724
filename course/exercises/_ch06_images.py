"""What the exercises of chapter 6 share: how a model's end is looked at, and how the calls are spelled."""

from __future__ import annotations

import torch
from torch import nn

from autograder.exercises.exercise import Case
from autograder.exercises.observation import Plain
from autograder.exercises.probe import snapshot_value
from autograder.exercises.probes.training_fixtures import labeled_images


def outputs_of(model: nn.Module) -> Plain:
    """What a model says of four images in eval mode, (4, 3): every weight and buffer has its part in it."""
    dtype = next(model.parameters()).dtype
    with torch.no_grad():
        return snapshot_value(model.eval()(labeled_images(4, 1, dtype)[0]))


def named(case: Case) -> list[str]:
    """The model and the optimizer of a call, in brackets."""
    model, optimizer = case.args
    model = f"model with {model}" if " and " in model else f"{model} model"
    return [f"<{model}>", f"<{optimizer}>"]
