"""Probes for random results: they record facts in place of numbers, each with a known rate of false alarms.

A bound of six standard errors rejects fewer than one right answer in a hundred million. An exercise with up to thirty
such bounds rejects fewer than one right answer in a million.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn

from autograder.exercises.exercise import Case, Probe
from autograder.exercises.observation import Observation, Plain
from autograder.exercises.probe import (
    Answer,
    ObservationFunction,
    call_recording_exception,
    make_probe_recording_exceptions,
    snapshot_value,
    snapshot_without_values,
)
from autograder.exercises.replace_attributes_temporarily import replace_attribute_in_answer

SEED = 20_031  # with which probes seed the global generator, so that random numbers are the same in each run
MAX_STANDARD_ERRORS = 6.0  # the number of standard errors by which a statistic may be off

# --- the state of the generators


@contextmanager
def temporarily_seeded(seed: int) -> Iterator[None]:
    """Seed torch's global generator for a block, and restore its state afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)  # torch.manual_seed also seeds devices, which is slow
        yield


def reseed(step: int = 0) -> None:
    """Seed torch's global generator, with another number for each step."""
    torch.default_generator.manual_seed(SEED + step)


class SteadyDropout(nn.Dropout):
    """A dropout layer that drops the same numbers in every build of torch, once the global generator is seeded.

    `nn.Dropout` draws its mask with `bernoulli_`, whose numbers depend on the version of torch and on whether torch
    uses Intel's library; those of `torch.rand` do not.
    """

    def _get_name(self) -> str:
        return nn.Dropout.__name__  # as readers know it, where the module is shown

    def forward(self, x: Tensor) -> Tensor:
        """Return x, in training with zeros at random places and the rest scaled up."""
        if not self.training:
            return x
        kept = torch.rand(x.shape, dtype=torch.float32, device=x.device) >= self.p
        return x * kept / (1 - self.p)


def make_seeded_probe(look: ObservationFunction, *kept: str) -> Probe:
    """Make a probe as `make_probe_recording_exceptions` does; torch's global generator is seeded with `SEED`."""
    probe = make_probe_recording_exceptions(look, *kept)

    def seeded(answer: Answer, case: Case) -> Observation:
        with temporarily_seeded(SEED):
            return probe(answer, case)

    return seeded


@contextmanager
def _generators_kept() -> Iterator[None]:
    """Restore the state of the global generators of torch, NumPy and Python after a block."""
    states = np.random.get_state(), random.getstate()
    try:
        with torch.random.fork_rng(devices=[]):
            yield
    finally:
        np.random.set_state(states[0])
        random.setstate(states[1])


def _seed_everything(seed: int) -> None:
    torch.default_generator.manual_seed(seed)
    np.random.seed(seed)
    random.seed(seed)


def _global_numbers() -> list[float]:
    """Return the next number of each global generator, which shows whether it was used or seeded in between."""
    return [torch.rand(()).item(), np.random.rand(), random.random()]


def randomness_facts(draw: Callable[[], Tensor]) -> dict[str, Plain]:
    """Return three facts about a function that draws random numbers.

    `anew`: two calls give different numbers. `global`: they come from torch's global generator. `untouched`: the
    function does not seed that generator.
    """
    reseed(1)
    first, second, after = draw(), draw(), torch.rand(4)
    reseed(1)
    again = draw()
    reseed(2)
    _ = draw(), draw()
    return {
        "anew": not torch.equal(first, second),
        "global": torch.equal(first, again),
        "untouched": not torch.equal(after, torch.rand(4)),
    }


# --- the distribution of numbers

# For the std s of n numbers with fourth moment k * s**4, the standard error of the std is s * sqrt((k - 1) / 4 / n).
_FOURTH = {"uniform": 1.8, "normal": 3.0}
# The share of numbers that are within a given number of stds of the mean.
_SHARES: dict[str, Callable[[float], float]] = {
    "uniform": lambda within: within / 3**0.5,
    "normal": lambda within: math.erf(within / 2**0.5),
}


def distribution_facts(
    numbers: Tensor, kind: Literal["uniform", "normal"], std: float, *, within: float = 0.5
) -> dict[str, bool]:
    """Test whether numbers look independently drawn from a distribution of this kind, with mean 0 and this std.

    Facets: `mean`, `std`, `distribution` (whether the right share of numbers is less than `within` stds from 0) and
    `distinct` (whether more than half of the numbers are different).
    """
    flat = numbers.detach().double().flatten()
    error = MAX_STANDARD_ERRORS / max(flat.numel(), 1) ** 0.5
    near, share = float((flat.abs() < within * std).double().mean()), _SHARES[kind](within)
    return {
        "mean": abs(float(flat.mean())) < error * std,
        "std": abs(float(flat.std(correction=0)) - std) < error * std * ((_FOURTH[kind] - 1) / 4) ** 0.5,
        "distribution": abs(near - share) < error * (share * (1 - share)) ** 0.5,
        "distinct": flat.unique().numel() > flat.numel() / 2,
    }


def _kurtosis(numbers: Tensor) -> float:
    """Return the kurtosis: the fourth central moment divided by the squared variance."""
    centered = numbers.double() - numbers.double().mean()
    return float((centered**4).mean() / (centered**2).mean() ** 2)


def is_standardized(batches: list[Tensor]) -> bool:
    """Return whether the answer forced the mean of every batch to 0, or the std of every batch to 1.

    Freshly drawn numbers have neither so exactly (to 1e-4 and 2e-4).
    """
    numbers = [batch.double() for batch in batches]
    centered = all(abs(float(x.mean())) < 1e-4 for x in numbers)
    return centered or all(abs(float(x.std(correction=0)) - 1) < 2e-4 for x in numbers)


# --- an answer that draws


def observe_seeded_batch(answer: Answer, case: Case) -> Observation:
    """Observe facts about a batch that an answer draws from its argument `seed`; the numbers themselves are free.

    Facets: `returned` (shape and dtype), `varied` (few numbers are equal), `repeats` (the same seed gives the same
    batch), `default` (no seed gives the batch of seed 0), `own_memory` (a second call gives a new tensor),
    `seeds_differ`, `normal`, `uniform`, `as_drawn` (mean and std were not set exactly), `global_untouched` (the global
    generators of torch, NumPy and Python are in the same state afterwards) and `put_back` (they are because the answer
    seeded one or restored its state).
    """
    with _generators_kept():
        return call_recording_exception(lambda: _facts(answer, case))


def _facts(answer: Answer, case: Case) -> Observation:
    def draw(global_seed: int, **changed: Any) -> Any:
        _seed_everything(global_seed)
        return answer(*case.args, **(case.kwargs | changed))

    _seed_everything(1)
    with _seedings(answer) as seedings:
        batch = answer(*case.args, **case.kwargs)
    after = _global_numbers()
    _seed_everything(1)
    untouched = after == _global_numbers()
    seed = case.kwargs.get("seed", 0)
    again, others = draw(2), [draw(1, seed=seed + step) for step in range(1, 5)]
    if not all(isinstance(drawn, Tensor) for drawn in (batch, again, *others)):
        return {"returned": snapshot_value(batch)}
    normal = distribution_facts(batch, "normal", 1.0, within=1.0)
    return {
        "returned": snapshot_without_values(batch),
        "varied": normal["distinct"],
        "repeats": bool(torch.equal(batch, again)),
        "default": "seed" in case.kwargs or bool(torch.equal(batch, draw(1, seed=seed))),
        "own_memory": batch.data_ptr() != again.data_ptr() or not batch.numel(),
        "seeds_differ": not torch.equal(batch, others[0]),
        "normal": normal["mean"] and normal["std"] and normal["distribution"],
        "uniform": abs(_kurtosis(batch) - _FOURTH["uniform"]) < 0.2,
        "as_drawn": not is_standardized([batch, *others]),
        "global_untouched": untouched,
        "put_back": untouched and bool(seedings),
    }


# The functions that seed a global generator or set its state.
_SEED_GLOBALLY: tuple[tuple[Any, str], ...] = (
    *((module, name) for module in (torch, torch.random) for name in ("manual_seed", "seed", "set_rng_state")),
    *((np.random, name) for name in ("seed", "set_state")),
    *((random, name) for name in ("seed", "setstate")),
)


@contextmanager
def _seedings(answer: Answer) -> Iterator[list[str]]:
    """Collect the calls of an answer that seed a global generator or set its state, while the block runs.

    After such a call, an unchanged state does not prove that the answer left the generator alone.
    """
    called: list[str] = []

    def noting(name: str, usual: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: called.append(name) or usual(*args, **kwargs)  # type: ignore[func-returns-value]

    with ExitStack() as changed:
        for owner, name in _SEED_GLOBALLY:
            changed.enter_context(replace_attribute_in_answer(answer, owner, name, noting(name, getattr(owner, name))))
        yield called
