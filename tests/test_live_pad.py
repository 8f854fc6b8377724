"""The pad of the site's first page, without a browser: rounded weights, the sample, and training only once."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import torch
from bs4 import BeautifulSoup
from torch import nn

from autograder.authoring.site import live_drawing_pad
from autograder.authoring.site.network_weights import quantize_weights
from autograder.errors import WorkFailed


def network() -> nn.Sequential:
    """Return an untrained network with a layer of each kind."""
    torch.manual_seed(0)
    maps = nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Dropout(0.3)
    return nn.Sequential(*maps, nn.Linear(4 * 4 * 4, 10))


def test_weights_are_rounded_to_eight_bits() -> None:
    """The network computes nearly the same, and with just the weights that the page gets."""
    exact, rounded = network().eval(), network().eval()
    layers = quantize_weights(rounded)
    pictures = torch.rand(20, 1, 8, 8)

    assert ["conv", "relu", "pool", "linear"] == [layer["kind"] for layer in layers]
    assert 0 < (exact(pictures) - rounded(pictures)).abs().max() < 0.02
    for layer, module in ((layers[0], rounded[0]), (layers[3], rounded[5])):
        whole = torch.frombuffer(bytearray(base64.b64decode(layer["weights"])), dtype=torch.int8)
        weight = whole.reshape(len(layer["steps"]), -1) * torch.tensor(layer["steps"])[:, None]
        assert torch.allclose(module.weight.flatten(1), weight, atol=1e-7)
        assert torch.allclose(module.bias, torch.tensor(layer["bias"]), atol=1e-7)


@pytest.mark.parametrize(
    "layer", [nn.Conv2d(1, 2, 3, stride=2), nn.Conv2d(1, 2, (3, 1)), nn.MaxPool2d(2, 1), nn.Tanh()]
)
def test_a_layer_that_the_page_cannot_run_stops_the_build(layer: nn.Module) -> None:
    """The error names the layer and the script that would have to run it."""
    with pytest.raises(WorkFailed, match=rf"handwriting\.js can run, found {type(layer).__name__}"):
        quantize_weights(nn.Sequential(layer))


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the cells up to which lessons were run; a run returns an untrained network."""
    ran: list[str] = []

    def run(_: Path, cell: str) -> dict[str, Any]:
        ran.append(cell)
        return {"model": network(), "shrunk": lambda drawing: drawing.reshape(8, 4, 8, 4).sum((1, 3))}

    monkeypatch.setattr(live_drawing_pad, "run_lesson_until", run)
    return ran


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a project of one solved chapter."""
    (tmp_path / "solutions").mkdir()
    (tmp_path / "course").mkdir()
    (tmp_path / "solutions" / "ch.ipynb").write_text("1")
    return tmp_path


def test_a_pad_is_made_again_only_when_its_lesson_changes(project: Path, trained: list[str]) -> None:
    """Training takes long, so that an unchanged lesson is not trained again."""
    asked = project, project / "cache", "ch", "last", "model", "shrunk", "7"
    first = live_drawing_pad.live_pad_of_chapter(*asked)
    assert first == live_drawing_pad.live_pad_of_chapter(*asked) and ["last"] == trained
    (project / "solutions" / "ch.ipynb").write_text("2")
    live_drawing_pad.live_pad_of_chapter(*asked)

    assert ["last", "last"] == trained


def test_the_picture_stands_without_scripts(project: Path, trained: list[str]) -> None:
    """The sample, what the network sees and its ten bars are in the page, and a sentence says why it stands still."""
    text = live_drawing_pad.live_pad_of_chapter(project, project / "cache", "ch", "last", "model", "shrunk", "7")
    page = BeautifulSoup(text, "html.parser")

    assert "still picture" in page.noscript.get_text() and "The model reads a" in page.get_text()
    assert 2 == len(page.select("svg[role=img][aria-label]")) and 10 == len(page.select(".x-bars tbody tr"))
    assert page.select(".x-pad-ink path") and 5 < len(page.select(".x-pixels rect")) <= 64
    assert {"layers", "largest", "pad"} <= json.loads(page.select_one("script[type]").get_text()).keys()
    assert ["_static/handwriting.js", "_static/pad.js"] == [script["src"] for script in page.select("script[src]")]


def test_a_lesson_without_that_network(project: Path, trained: list[str]) -> None:
    """A name that the lesson lacks is a KeyError, which names the mark's line where the page is filled in."""
    with pytest.raises(KeyError, match="other"):
        live_drawing_pad.live_pad_of_chapter(project, project / "cache", "ch", "last", "other", "shrunk", "7")
