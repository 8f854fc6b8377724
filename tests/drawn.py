"""Draw every figure of the course for the tests, with the chapter's arguments or smaller ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from matplotlib.figure import Figure
from torch import Tensor, nn

from course.figures import ch01, ch02, ch03, ch04, ch05, ch06
from course.figures.digits import known_digits
from course.instruments import drawn_four

TABLE = torch.arange(12).reshape(3, 4)


class Held(nn.Module):
    """A module with a parameter, a buffer, and a layer in a list (which nn.Module does not register)."""

    def __init__(self) -> None:
        super().__init__()
        self.slope = nn.Parameter(torch.ones(2))
        self.register_buffer("center", torch.ones(2))
        self.hidden = [nn.Linear(2, 2)]


def _descend(rate: float) -> list[float]:
    places = [0.0]
    for _ in range(8):
        places.append(places[-1] - rate * 2 * (places[-1] - 3))
    return places


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, criterion: Any, x: Tensor, y: Tensor) -> None:
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()


def _deep_loss() -> tuple[Tensor, list[Tensor]]:
    """Return the loss and the weights of a network with eight sigmoids, whose gradients differ between layers."""
    layers = [layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.Sigmoid())]
    model = nn.Sequential(*layers, nn.Linear(64, 10))
    return nn.functional.cross_entropy(model(torch.rand(64, 64)), torch.arange(64) % 10), list(model.parameters())


def _small_model(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Flatten(), nn.Linear(64, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 10))


def _pictures() -> tuple[Tensor, Tensor]:
    return torch.rand(32, 1, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(32) % 10


FIGURES: dict[str, Callable[[], Figure]] = {
    "ch01 first_page": ch01.first_page,
    "ch01 view_or_copy": lambda: ch01.view_or_copy(TABLE, TABLE[1], TABLE[[0, 2]]),
    "ch01 strides": lambda: ch01.strides(TABLE.T),
    "ch01 broadcasting": lambda: ch01.broadcasting((3, 1, 5), (4, 1)),
    "ch01 broadcasting of what does not fit": lambda: ch01.broadcasting((3, 2), (4,)),
    "ch01 stretched": lambda: ch01.stretched(torch.tensor([[0], [10]]), torch.tensor([1, 2, 3])),
    "ch01 reductions": lambda: ch01.reductions(TABLE),
    "ch01 shrink": lambda: ch01.shrink(drawn_four()),
    "ch01 matrix_product": lambda: ch01.matrix_product(torch.ones(3, 2), torch.ones(2, 3)),
    "ch01 matrix_product with letters": lambda: ch01.matrix_product(torch.ones(3, 2), torch.ones(2, 3), letters="ijk"),
    "ch01 number_line": ch01.number_line,
    "ch01 float_spacing": ch01.float_spacing,
    "ch01 nearest": ch01.nearest,
    "ch02 first_page": ch02.first_page,
    "ch02 graph": lambda: ch02.graph(4.0, 2.0),
    "ch02 cost_of_a_share": ch02.cost_of_a_share,
    "ch02 accumulation": lambda: ch02.accumulation(4),
    "ch02 saved_bytes": lambda: ch02.saved_bytes(256),
    "ch02 life": ch02.life,
    "ch02 kept_graphs": lambda: ch02.kept_graphs(4),
    "ch02 saved_by": ch02.saved_by,
    "ch02 versions": ch02.versions,
    "ch02 nan_at_zero": ch02.nan_at_zero,
    "ch02 relus": ch02.relus,
    "ch03 first_page": ch03.first_page,
    "ch03 two_layers": lambda: ch03.two_layers(32, 10),
    "ch03 pooling": lambda: ch03.pooling(torch.arange(-18.0, 18).reshape(6, 6), 3),
    "ch03 tree": lambda: ch03.tree(Held()),
    "ch03 convolution": lambda: ch03.convolution(known_digits()[0][0].reshape(8, 8), torch.eye(3) * 3 - 1, 1, 2),
    "ch03 activations": lambda: ch03.activations(10),
    "ch03 fading": lambda: ch03.fading(10),
    "ch03 modes": ch03.modes,
    "ch04 first_page": ch04.first_page,
    "ch04 parabola": lambda: ch04.parabola(_descend, (0.02, 0.3, 1.05)),
    "ch04 stepper": ch04.stepper,
    "ch04 call_order": lambda: ch04.call_order(_step),
    "ch04 curves": lambda: ch04.curves(
        {"a rate that is right": [1.0, 0.5, 0.2], "one that is too large": [1.0, 50.0, 900.0]}
    ),
    "ch04 museum": ch04.museum,
    "ch04 symptoms": ch04.symptoms,
    "ch04 fit_of": lambda: ch04.fit_of(nn.Linear(1, 1)),
    "ch04 fits_of": lambda: ch04.fits_of([nn.Linear(1, 1), nn.Linear(1, 1)], says=["at first", "later"]),
    "ch04 many_fits": lambda: ch04.many_fits(
        torch.linspace(-3, 3, 9), torch.rand(5, 9), torch.logspace(-4, -2, 5), bar=0.02
    ),
    "ch04 ten_points": ch04.ten_points,
    "ch04 ten_points new": lambda: ch04.ten_points(new=True),
    "ch04 surface": ch04.surface,
    "ch04 rates": lambda: ch04.rates([0.5, 1.0, 0.5]),
    "ch04 clipped": lambda: ch04.clipped((3.0, 4.0), 1.0),
    "ch05 first_page": ch05.first_page,
    "ch05 places": ch05.places,
    "ch05 scaled_cycle": ch05.scaled_cycle,
    "ch05 timelines": lambda: ch05.timelines(steps=4, launches=3),
    "ch05 memory": lambda: ch05.memory((64, 512, 512, 10), batches=(16, 256, 1024, 4096)),
    "ch05 time_by_batch": lambda: ch05.time_by_batch([1, 16, 256], [2e-5, 2.5e-5, 2e-4]),
    "ch05 dtype_flow": ch05.dtype_flow,
    "ch05 gradients": lambda: ch05.gradients(*_deep_loss(), scales=(1.0, 2.0**16, 2.0**26)),
    "ch05 scaler_search": lambda: ch05.scaler_search(steps=60),
    "ch06 first_page": ch06.first_page,
    "ch06 stopped": ch06.stopped,
    "ch06 five_trainers": ch06.five_trainers,
    "ch06 resumed": lambda: ch06.resumed(_small_model, *_pictures(), seed=0),
    "ch06 precision": lambda: ch06.precision(_small_model, *_pictures(), seed=0),
    "ch06 card": lambda: ch06.card(
        [0.5, 0.9],
        10 * torch.eye(10).long(),
        torch.eye(32).expand(12, 32, 32),
        torch.arange(12) % 10,
        torch.arange(12) % 9,
    ),
}


@cache
def drawn(name: str) -> Figure:
    """One of them, drawn once in a run of the tests."""
    return FIGURES[name]()
