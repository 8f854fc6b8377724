"""What the tests spare torch is seen by nobody."""

import torch

from tests.asked import THOROUGH
from tests.lean_torch import spare_notes


def step() -> list[str]:
    """Take a step under a profiler; returns what it was told."""
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=0.1)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        optimizer.zero_grad()
        optimizer.step()
    return [event.key for event in profile.key_averages()]


def test_a_profiler_is_told_all() -> None:
    """Where one runs, what optimizers tell it comes to it; where none does, nothing is told, and a block ends well."""
    if not THOROUGH:
        spare_notes()

    assert {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"} <= set(step())
    with torch.profiler.record_function("alone") as block:
        assert block.record is None or THOROUGH
    assert "alone" not in step()


def test_a_seed_is_noted_without_a_traceback() -> None:
    """A card that begins later still hears of it."""
    if not THOROUGH:
        spare_notes()
    torch.manual_seed(3)

    seeded, where = torch.cuda._lazy_seed_tracker.manual_seed_all_cb
    assert callable(seeded) and (where == []) is not THOROUGH
