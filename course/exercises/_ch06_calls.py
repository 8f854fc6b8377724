"""How a report spells the calls of chapter 6: models, optimizers and images stand in brackets."""

from __future__ import annotations

from autograder.judging.words import argument
from autograder.watching.exercise import Case

_MODELS = {"dropout and batch norm": "model with dropout and batch norm"}


def training(name: str, case: Case) -> str:
    """A training; one that is stopped goes on from a checkpoint."""
    epochs = case.kwargs["epochs"]
    stop, end = epochs if isinstance(epochs, list) else (None, epochs)
    images = [f"<{case.kwargs['images']} images>", "<7 images>"]
    options = {"epochs": end} | {key: case.kwargs[key] for key in ("batch_size", "seed")}
    resumed = [] if stop is None else [f"checkpoint=<of epoch {stop}>"]
    return f"{name}({', '.join([*_model(case), *images, *_options(options), *resumed])})"


def epoch(name: str, case: Case) -> str:
    """An epoch in mixed precision, or without."""
    sizes, broken = case.kwargs["sizes"], case.kwargs.get("broken")
    batches = f"<batches of {', '.join(map(str, sizes))} images"
    batches += ">" if broken is None else f", an inf in batches[{broken}]>"
    scaler = f"<scaler with the factor {case.kwargs['factor']:g}>"
    options = {key: case.kwargs[key] for key in ("accumulate", "max_norm", "amp")}
    return f"{name}({', '.join([*_model(case), scaler, batches, *_options(options)])})"


def mended(name: str, case: Case) -> str:
    """A training of a model whose accuracies follow a script."""
    rights, images = case.kwargs["rights"], case.kwargs["images"]
    model = f"<model that gets {', '.join(map(str, rights))} of 10 right>"
    batches = [f"<{images} images in batches of 4>", "<10 images in batches of 5>"]
    options = {"epochs": len(rights), "lr": case.kwargs["lr"]}
    return f"{name}({', '.join([model, *batches, *_options(options)])})"


def _model(case: Case) -> list[str]:
    model, optimizer = case.args
    return [f"<{_MODELS.get(model, f'{model} model')}>", f"<{optimizer}>"]


def _options(options: dict[str, object]) -> list[str]:
    return [f"{key}={argument(value)}" for key, value in options.items()]
