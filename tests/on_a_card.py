"""Measure the numbers that chapter 5 and docs/gpu.md give for a graphics card.

    python -m tests.on_a_card [DEVICE]

DEVICE is "cuda" by default. On "cpu" all sizes are small, which only shows that the program runs.
"""

from __future__ import annotations

import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn
from torch.nn import functional

from course.figures.digits import known_digits

MEBIBYTE = 2**20


def seconds(action: Callable[[], object], wait: Callable[[], None], calls: int = 15, warmup: int = 5) -> float:
    """Return the median time of one call in seconds, waiting for the device before and after it."""
    times = []
    for call in range(warmup + calls):
        wait()
        begun = time.perf_counter()
        action()
        wait()
        times += [time.perf_counter() - begun] if call >= warmup else []
    return statistics.median(times)


def reader(width: int, layers: int) -> nn.Module:
    """Return a network with 64 inputs, `layers` layers of `width` units, and 10 scores."""
    parts: list[nn.Module] = [nn.Linear(64, width), nn.ReLU()]
    for _ in range(layers - 1):
        parts += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*parts, nn.Linear(width, 10))


def convolutions(width: int) -> nn.Module:
    """Return a network of five convolutions over images with three channels, with ten scores."""
    sizes = [3, width, width, 2 * width, 2 * width, 4 * width]
    parts: list[nn.Module] = []
    for place, (n, m) in enumerate(itertools.pairwise(sizes)):
        parts += [nn.Conv2d(n, m, 3, padding=1), nn.ReLU()]
        parts += [nn.MaxPool2d(2)] if place in (1, 3) else []
    return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4 * width, 10))


def step_of(model: nn.Module, x: Tensor, dtype: torch.dtype) -> Callable[[], Tensor]:
    """Return a function that takes one training step with SGD, in float32 or in mixed precision."""
    device, low = x.device.type, dtype != torch.float32
    y = torch.randint(0, 10, x.shape[:1], device=x.device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device, enabled=dtype == torch.float16)

    def step() -> Tensor:
        optimizer.zero_grad()
        with torch.autocast(device, dtype=dtype if low else torch.bfloat16, enabled=low):
            loss = functional.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


def steps_in_three_formats(device: str, wait: Callable[[], None]) -> Iterator[str]:
    """Yield the lines of the table of section 5, and float32 with "high" precision."""
    large = device != "cpu"
    networks: list[tuple[str, Callable[[], nn.Module], tuple[int, ...]]] = [
        ("the reader", lambda: reader(256, 1), (64, 64)),
        ("four layers", lambda: reader(4096 if large else 64, 4), (32768 if large else 64, 64)),
        ("convolutions", lambda: convolutions(64 if large else 4), (256, 3, 128, 128) if large else (4, 3, 16, 16)),
    ]
    for words, make, shape in networks:
        for dtype, precision in (
            (torch.float32, "highest"),
            (torch.float32, "high"),
            (torch.bfloat16, "highest"),
            (torch.float16, "highest"),
        ):
            torch.set_float32_matmul_precision(precision)
            torch.manual_seed(0)
            before = torch.cuda.memory_allocated() if device == "cuda" else 0
            step = step_of(make().to(device), torch.rand(shape, device=device), dtype)
            step()
            if device == "cuda":
                torch.cuda.reset_peak_memory_stats()
            took = seconds(step, wait)
            held = (torch.cuda.max_memory_allocated() - before) / MEBIBYTE if device == "cuda" else float("nan")
            yield f"{words:13} {dtype} {precision:8} {took * 1e3:8.2f} ms {held:8.1f} MiB"
    torch.set_float32_matmul_precision("highest")


def epochs_here_and_there(device: str, wait: Callable[[], None]) -> Iterator[str]:
    """Yield the time of an epoch on one CPU thread and on the card (section 2).

    The epoch has 1,400 digits in batches of 64.
    """
    rows, labels = known_digits()
    rows = rows[:1400] / 16
    for width, layers in ((256, 1), (4096, 3)) if device != "cpu" else ((256, 1),):
        for place in ("cpu", device):
            model = reader(width, layers).to(place)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

            def epoch(model: nn.Module = model, optimizer: torch.optim.SGD = optimizer, place: str = place) -> None:
                for x, y in zip(rows.split(64), labels[:1400].split(64), strict=True):
                    optimizer.zero_grad()
                    functional.cross_entropy(model(x.to(place)), y.to(place)).backward()
                    optimizer.step()

            took = seconds(epoch, wait, calls=3, warmup=1)
            yield f"an epoch, {layers} of {width} units, on {place}: {took * 1e3:.1f} ms"


def waits(device: str, wait: Callable[[], None]) -> Iterator[str]:
    """Yield the time of a product until the call returns and until it is done (section 11), and of a step (section 3).

    Each step also works on the host; it is measured with and without reading a value.
    """
    side = 4096 if device != "cpu" else 128
    a = torch.randn(side, side, device=device)
    for _ in range(3):  # the last measurement counts
        wait()
        begun = time.perf_counter()
        _ = a @ a
        handed = time.perf_counter() - begun
        wait()
        done = time.perf_counter() - begun
    yield f"a product of {side}: handed over in {handed * 1e3:.3f} ms, done after {done * 1e3:.3f}"
    for look in (False, True):

        def loop(look: bool = look) -> None:
            for _ in range(20):
                product = a @ a @ a @ a
                if look:
                    product[0, 0].item()
                busy_until = time.perf_counter() + 3 * done
                while time.perf_counter() < busy_until:
                    pass

        yield f"a step {'with' if look else 'without'} a look: {seconds(loop, wait, 3, 1) / 20 * 1e3:.2f} ms"


def main(device: str) -> None:
    """Print all measurements."""
    torch.set_num_threads(1)
    wait = torch.cuda.synchronize if device == "cuda" else lambda: None
    print(torch.cuda.get_device_name() if device == "cuda" else device, torch.__version__)
    for part in (steps_in_three_formats, epochs_here_and_there, waits):
        for line in part(device, wait):
            print(line, flush=True)


if __name__ == "__main__":
    main(*(sys.argv[1:] or ["cuda"]))
