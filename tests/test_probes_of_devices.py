"""The probes for devices, precision and time, applied to answers to no exercise."""

import time

import pytest
import torch
from torch import Tensor, nn

from autograder.exercises.probes.autocast_usage import (
    RecordingGradScaler,
    active_autocast_dtype,
    collect_autocast_devices,
)
from autograder.exercises.probes.devices import (
    OperationCallbackMode,
    describe_containers,
    find_lists_and_dicts,
    observe_module_on_meta,
    patch_reads_to_zero,
    record_value_reads,
    simulate_accelerators,
)
from autograder.exercises.probes.simulated_async_device import FakeDevice

X = torch.arange(6.0).reshape(2, 3)


def answer() -> None:
    """An answer that does nothing, since the tests run code themselves."""


class TestPlaces:
    @pytest.mark.parametrize(("there", "cuda", "mps"), [("cuda and mps", True, True), ("mps", False, True)])
    def test_accelerators_are_there_by_name(self, there: str, cuda: bool, mps: bool) -> None:
        """Within the block, torch reports exactly the named accelerators as available."""
        before = torch.cuda.is_available()
        with simulate_accelerators(answer, there):
            assert (cuda, mps) == (torch.cuda.is_available(), torch.backends.mps.is_available())
            assert torch.backends.cuda.is_built() and torch.backends.mps.is_built()

        assert before == torch.cuda.is_available()

    def test_a_tree_tells_types_and_devices(self) -> None:
        """The description has types and devices, no values of meta tensors, and the known object."""
        known = object()
        seen = describe_containers({"a": [X[0].to("meta"), (known,)]}, known)

        told = ["torch.float32 tensor (3,) on meta", ["tuple", ["the very object that was given"]]]
        assert ["dict", [["a", ["list", told]]]] == seen

    def test_containers_are_found_at_any_depth(self) -> None:
        """Lists and dicts are found at any depth, and tuples are not containers."""
        inner: list[int] = []
        outer = {"a": (inner, X)}

        assert [id(outer), id(inner)] == [id(one) for one in find_lists_and_dicts((outer, 3))]

    def test_what_does_not_move_is_told(self) -> None:
        """A tensor that is neither parameter nor buffer is recorded as left behind."""
        module = nn.Identity()
        module.lost = torch.ones(2)

        seen = observe_module_on_meta(module, X)
        assert ([(2,)], "meta", True) == (seen["left_behind"], seen["elsewhere"].device, seen["input_kept"])


class TestWaiting:
    def test_operations_are_told_in_order(self) -> None:
        """Each operation is recorded with its name and result, in order."""
        told: list[tuple[str, object]] = []
        with OperationCallbackMode(lambda name, result: told.append((name, type(result)))):
            (X + 1).sum()

        assert [("aten.add", Tensor), ("aten.sum", Tensor)] == told

    def test_each_value_is_noted(self) -> None:
        """Each read of a value is recorded: item, bool and print."""
        with record_value_reads(answer) as asked:
            text = f"{X.sum().item()} {bool(X[0, 0] > 0)} {X.sum()!r}"

        assert (3, True) == (len(asked), text.endswith("tensor(...)"))

    @pytest.mark.parametrize("name", ["tolist", "numpy"])
    def test_values_that_leave_torch_are_noted(self, name: str) -> None:
        """`tolist` and `numpy` are recorded, and return the values."""
        with record_value_reads(answer) as asked:
            values = getattr(X, name)()

        assert ([name], X.tolist()) == (asked, [list(map(float, row)) for row in values])

    def test_a_value_where_there_is_none(self) -> None:
        """Within the block, values read as 0, even on the meta device."""
        with patch_reads_to_zero(answer):
            assert 0.0 == X.to("meta").sum().item() == float(X.sum())

        assert 15.0 == X.sum().item()


@pytest.mark.parametrize(
    ("asynchronous", "waited", "seconds"), [(True, False, 1 / 64), (True, True, 3), (False, False, 3)]
)
def test_a_fake_device_has_the_only_clock(asynchronous: bool, waited: bool, seconds: float) -> None:
    """Asynchronous work that is not waited for takes only the time of launching."""
    device = FakeDevice([3.0], asynchronous)
    with device.clock(answer):
        begin = time.perf_counter()
        device.work()
        if waited:
            device.sync()
        assert seconds == time.perf_counter() - begin

    assert (1, waited) == (device.calls, device.waits)


def test_work_left_over_comes_first() -> None:
    """Waiting includes work that was queued before."""
    device = FakeDevice([3.0], asynchronous=True, left_over=10.0)
    with device.clock(answer):
        begin = time.perf_counter()
        device.work()
        device.sync()

        assert 13.0 == time.perf_counter() - begin


def test_precision_is_noted() -> None:
    """The entered autocast, and its dtype at each scaler step, are recorded."""
    weight = torch.ones(2, requires_grad=True)
    scaler, optimizer = RecordingGradScaler(8.0, growth_interval=3), torch.optim.SGD([weight], lr=0.5)
    with collect_autocast_devices(answer) as entered, torch.autocast("cpu", dtype=torch.bfloat16):
        scaler.scale(weight.sum()).backward()
        scaler.step(optimizer)

    assert ({"cpu"}, [torch.bfloat16], None) == (entered, scaler.steps, active_autocast_dtype())
