"""The state of the loop stepper: real steps on copies, and remarks that follow from the numbers."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from explorers import copy_training_objects
from explorers.loop_line_executor import LINES
from explorers.run_loop_by_line import MOST_STEPS, Loop
from explorers.training_loop_state import DisplayedTensor, Line, LoopState
from tests.loops import MODELS, OPTIMIZERS, lines, made

RIGHT = "zero_grad forward loss backward step"


def by_hand(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor, steps: int) -> list[float]:
    """Run the plain loop as chapter 4 writes it, and return its losses."""
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        prediction = model(x)
        loss = criterion(prediction, y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def looked_at(state: LoopState, place: str) -> dict[tuple[str, str], DisplayedTensor]:
    """Return the tensors in one place, by name and entry."""
    return {(seen.key.name, seen.key.entry): seen for seen in state.now if seen.key.place == place}


def agrees(seen: DisplayedTensor, tensor: Tensor) -> bool:
    """Return whether the shown tensor has these numbers."""
    if seen.values is None:
        return seen.shape == tuple(tensor.shape) and seen.norm == pytest.approx(tensor.norm().item(), rel=1e-5)
    return seen.values == tensor.tolist()


def told(state: LoopState) -> str:
    """Return all remarks on this step as one text."""
    return " ".join([remark for effect in state.effects for remark in effect.remarks] + list(state.remarks))


def after(words: str, steps: int, *parts: Any) -> LoopState:
    """Return the state after a number of steps of these lines."""
    loop = Loop(*(parts or made()))
    loop.restart(lines(words))
    loop.run(steps)
    return loop.state


@settings(deadline=None, max_examples=30)
@given(
    model=st.sampled_from(list(MODELS)),
    optimizer=st.sampled_from(list(OPTIMIZERS)),
    seed=st.integers(0, 9),
    early=st.integers(0, 2),
    steps=st.integers(1, 4),
)
def test_right_order_is_the_plain_loop(model: str, optimizer: str, seed: int, early: int, steps: int) -> None:
    """The right order equals the plain loop to the last bit, without remarks."""
    parts = made(model, optimizer, seed)
    by_hand(*parts, steps=early)
    loop = Loop(*parts, seed=seed)
    loop.run(steps)
    torch.manual_seed(seed)
    losses = by_hand(*parts, steps=steps)
    state = loop.state

    assert list(state.losses) == list(state.right) == losses and told(state) == ""
    for name, parameter in parts[0].named_parameters():
        assert agrees(looked_at(state, "parameters")[name, ""], parameter.detach())
        assert parameter.grad is not None and agrees(looked_at(state, ".grad")[name, ""], parameter.grad)
        for entry, value in parts[1].state[parameter].items():
            assert agrees(looked_at(state, "optimizer's state")[name, entry], torch.as_tensor(value))
    for name, buffer in parts[0].named_buffers():
        assert agrees(looked_at(state, "buffers")[name, ""], buffer)


@settings(deadline=None, max_examples=15)
@given(
    model=st.sampled_from(list(MODELS)), optimizer=st.sampled_from(list(OPTIMIZERS)), order=st.permutations(list(LINES))
)
def test_readers_own_objects_stay_untouched(model: str, optimizer: str, order: list[str]) -> None:
    """No order of lines changes the reader's objects or torch's generator, even with an error."""
    parts = made(model, optimizer)
    by_hand(*parts, steps=2)
    network, chosen, _, x, y = parts
    kept = copy.deepcopy([network.state_dict(), chosen.state_dict(), [p.grad for p in network.parameters()], x, y])
    chance = torch.get_rng_state()
    loop = Loop(*parts)
    loop.restart([Line(name) for name in order])
    loop.run(3)
    own = [network.state_dict(), chosen.state_dict(), [p.grad for p in network.parameters()], x, y]

    assert torch.equal(chance, torch.get_rng_state())
    torch.testing.assert_close(own, kept, rtol=0, atol=0)


def test_each_line_changes_what_it_says() -> None:
    """Each line changes exactly its own places."""
    loop = Loop(*made("norm", "Adam"))
    loop.run(1)
    loop.run(1)
    places = {effect.line.name: {seen.key.place for seen in effect.changed} for effect in loop.state.effects}

    assert places == {
        "zero_grad": {".grad"},
        "forward": {"prediction", "buffers"},
        "loss": {"loss"},
        "backward": {".grad"},
        "step": {"parameters", "optimizer's state"},
    }


def test_a_line_at_a_time() -> None:
    """Lines run one at a time, and after the last one the next step begins."""
    loop = Loop(*made())
    seen = []
    for _ in range(6):
        loop.next_line()
        seen.append((loop.state.step, [effect.status for effect in loop.state.effects].count("done")))

    assert seen == [(1, 1), (1, 2), (1, 3), (1, 4), (1, 5), (2, 1)]
    assert [effect.status for effect in loop.state.effects] == ["done", "next", *["waiting"] * 3]


def test_back_at_the_start_all_is_as_before() -> None:
    """A restart reproduces the state and the random numbers."""
    loop = Loop(*made("dropout", "Adam"))
    start = loop.state
    loop.run(3)
    first = loop.state
    loop.restart()

    assert loop.state == start
    loop.run(3)
    assert loop.state == first and first.losses[0] != first.losses[1]


@pytest.mark.parametrize("optimizer", ["SGD", "momentum"])
def test_gradients_that_nobody_clears_add_up(optimizer: str) -> None:
    """The remark on summed gradients has the steps and the numbers of the separately computed gradients."""
    parts = made("neuron", optimizer)
    loop = Loop(*parts)
    loop.restart(lines("forward loss backward step"))
    model, chosen, criterion, x, y = parts
    alone = []
    for _ in range(3):
        loop.run(1)
        alone.append(torch.autograd.grad(criterion(model(x), y), list(model.parameters())))
        criterion(model(x), y).backward()
        chosen.step()
    total = [sum(gradients) for gradients in zip(*alone, strict=True)]
    shown = looked_at(loop.state, ".grad")

    assert torch.tensor(shown["weight", ""].values) == pytest.approx(total[0], rel=1e-5)
    assert torch.tensor(shown["bias", ""].values) == pytest.approx(total[1], rel=1e-5)
    old, new = sum(each[0][0, 0].item() for each in alone[:2]), alone[2][0][0, 0].item()
    example = re.search(r"weight.grad`: (\S+) \+ (\S+) = (\S+)\.( |$)", told(loop.state))
    assert example is not None
    assert [float(number) for number in example.groups()[:3]] == pytest.approx([old, new, old + new], rel=2e-3)
    assert "added to the gradients of steps 1 and 2" in told(loop.state)
    assert "This used a sum: the gradients of steps 1 to 3" in told(loop.state)


@pytest.mark.parametrize(
    ("words", "symptom"),
    [
        ("zero_grad forward loss step", "No parameter changed: every `.grad` is None."),
        ("zero_grad forward loss step", "The loss is what it was in step 2."),
        ("zero_grad forward loss backward", "No parameter changed in this step."),
        ("zero_grad forward loss backward", "cleared before any `step()` has used them"),
        ("zero_grad forward loss step backward", "No parameter changed: every `.grad` is None."),
        ("forward loss backward zero_grad step", "cleared before any `step()` has used them"),
        ("forward loss step backward", "This used the gradients of steps 1 and 2: there is none of step 3 yet."),
        ("forward loss step zero_grad backward", "This used the gradient of step 2: there is none of step 3 yet."),
        ("zero_grad1 forward loss backward step", "added to the gradients of steps 1 and 2"),
        ("zero_grad forward loss1 step", "`loss` is still that of step 1."),
        ("zero_grad forward1 loss step", "This loss is computed from the prediction of step 1."),
    ],
)
def test_what_breaks_silently_is_said(words: str, symptom: str) -> None:
    """Each mistake without an error gets its remark."""
    state = after(words, 3)

    assert symptom in told(state) and state.step == 3 and not state.stopped


@pytest.mark.parametrize(
    "words",
    [
        "forward loss backward step zero_grad",
        "forward zero_grad loss backward step",
        RIGHT,
        "forward loss zero_grad backward step",
    ],
)
def test_sound_orders_are_the_same_and_get_no_remark(words: str) -> None:
    """Orders with zero_grad anywhere before backward, or last, are equal and get no remark."""
    state = after(words, 4)

    assert state.losses == state.right == after(RIGHT, 4).losses and told(state) == ""


@pytest.mark.parametrize(
    ("words", "step", "line", "error"),
    [
        ("zero_grad loss backward step", 1, "loss", "NameError: name 'prediction' is not defined"),
        ("zero_grad forward backward step", 1, "backward", "NameError: name 'loss' is not defined"),
        ("forward1 loss1 zero_grad backward step", 2, "backward", "second time"),
        ("zero_grad forward1 loss backward step", 2, "backward", "second time"),
    ],
)
def test_errors_are_pythons_and_torchs_own(words: str, step: int, line: str, error: str) -> None:
    """The loop stops at the line that raised, with the original error."""
    state = after(words, 5)
    (stopped,) = [effect for effect in state.effects if effect.status == "stopped"]

    assert state.step == step and stopped.line.name == line and error in stopped.error and len(state.losses) == step - 1


def test_error_is_told_word_for_word() -> None:
    """The message of an error is unchanged."""
    model, optimizer, criterion, x, y = made()
    model.requires_grad_(False)
    with pytest.raises(RuntimeError) as raised:
        criterion(model(x), y).backward()
    state = after(RIGHT, 1, model, optimizer, criterion, x, y)

    assert (
        state.effects[3].error == f"RuntimeError: {raised.value}" and "does not require grad" in state.effects[3].error
    )


def test_warning_of_torch_is_shown() -> None:
    """A warning of torch is attached to its line."""
    *others, y = made()
    state = after(RIGHT, 1, *others, y.flatten())

    assert "target size" in state.effects[2].warnings[0]


def test_optimizer_of_another_model_is_noticed() -> None:
    """An optimizer of another model gets remarks on unchanged parameters."""
    _, optimizer, *others = made()
    state = after(RIGHT, 2, nn.Linear(3, 1), optimizer, *others)

    assert "`weight` and `bias` are not changed: the optimizer does not hold them." in told(state)
    assert "`weight.grad` and `bias.grad` are not cleared: the optimizer does not hold them." in told(state)
    assert state.losses[0] == state.losses[1]


def test_parameter_that_the_loss_does_not_reach_is_named() -> None:
    """A parameter without a path to the loss gets a remark."""

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.idle = nn.Linear(3, 1), nn.Linear(3, 1)

        def forward(self, x: Tensor) -> Tensor:
            return self.used(x)

    model = Two()
    state = after(RIGHT, 1, model, torch.optim.SGD(model.parameters(), lr=0.1), *made()[2:])

    assert "`idle.weight.grad` and `idle.bias.grad` are still None: no path leads there" in told(state)


def test_gradient_left_over_from_before_is_named() -> None:
    """A `.grad` from before the loop is copied, and gets a remark if it is added to."""
    model, optimizer, criterion, x, y = made()
    criterion(model(x), y).backward()

    assert "added to what was left over from before the loop" in told(
        after("forward loss backward step", 1, model, optimizer, criterion, x, y)
    )
    assert told(after(RIGHT, 1, model, optimizer, criterion, x, y)) == ""


def test_gradients_of_zero_and_a_loss_of_nan_are_said() -> None:
    """Gradients of 0 and a loss of NaN get remarks."""
    model, _, _, x, y = made()
    flat = after(
        RIGHT, 1, model, torch.optim.SGD(model.parameters(), lr=0.1), lambda prediction, y: (0 * prediction).sum(), x, y
    )
    wild = after(RIGHT, 60, model, torch.optim.SGD(model.parameters(), lr=1e3), nn.MSELoss(), x, y)

    assert "Every gradient is 0." in told(flat) and "No parameter changed: every `.grad` is 0." in told(flat)
    assert "The loss is nan: no number to learn from." in told(wild)


@pytest.mark.parametrize(
    "name", ["Adagrad", "Adadelta", "Adamax", "NAdam", "RAdam", "RMSprop", "ASGD", "Rprop", "LBFGS"]
)
def test_optimizers_of_torch_can_be_stepped(name: str) -> None:
    """All of torch's optimizers work but LBFGS, which raises because it needs a closure."""
    model, _, *others = made()
    state = after(RIGHT, 2, model, getattr(torch.optim, name)(model.parameters()), *others)

    if name == "LBFGS":
        assert state.stopped and "closure" in state.effects[4].error
    else:
        assert state.finished and state.losses == state.right and looked_at(state, "optimizer's state")


def test_optimizer_of_the_readers_own_is_stepped() -> None:
    """The reader's own optimizer class needs only zero_grad and step, and is copied."""

    class Own:
        def __init__(self, held: Any) -> None:
            self.held, self.steps = list(held), 0

        def zero_grad(self) -> None:
            for parameter in self.held:
                parameter.grad = None

        def step(self) -> None:
            self.steps += 1
            for parameter in self.held:
                parameter.data -= 0.05 * parameter.grad

    model, _, *others = made()
    own = Own(model.parameters())

    assert after(RIGHT, 3, model, own, *others).losses == after(RIGHT, 3).losses and own.steps == 0


def test_schedule_on_the_optimizer_steps_nothing_of_the_readers() -> None:
    """A learning rate schedule, which wraps `step`, is not copied."""
    parts = made()
    torch.optim.lr_scheduler.StepLR(parts[1], 1)
    before = parts[0].weight.clone()
    state = after(RIGHT, 2, *parts)

    assert state.losses == after(RIGHT, 2).losses and torch.equal(parts[0].weight, before)


def test_what_a_subclass_of_an_optimizer_adds_is_copied() -> None:
    """Attributes that an optimizer's subclass adds are copied."""

    class Counting(torch.optim.SGD):
        def __init__(self, held: Any) -> None:
            super().__init__(held, lr=0.05)
            self.count = [0]

        def step(self, closure: Any = None) -> None:
            self.count[0] += 1
            super().step(closure)

    model, _, *others = made()
    counting = Counting(model.parameters())

    assert after(RIGHT, 2, model, counting, *others).losses == after(RIGHT, 2).losses and counting.count == [0]


def test_batch_may_be_the_result_of_something() -> None:
    """The copy of a batch has no graph behind it."""
    model, optimizer, criterion, x, y = made()
    w = torch.ones(3, requires_grad=True)

    assert after(RIGHT, 2, model, optimizer, criterion, x * w, y).losses == after(RIGHT, 2).losses and w.grad is None


def test_few_numbers_are_written_out_and_many_are_not() -> None:
    """Small tensors have their numbers, and large ones their norm."""
    parameters = looked_at(after(RIGHT, 0, *made("two layers")), "parameters")

    assert parameters["2.weight", ""].values is not None and parameters["2.weight", ""].norm is None
    assert parameters["0.weight", ""].values is None
    assert parameters["0.weight", ""].norm == pytest.approx(made("two layers")[0][0].weight.norm().item())


@pytest.mark.parametrize(
    ("words", "note"), [("", "nothing to run"), ("forward1 loss1", "No line runs after the first step")]
)
def test_loop_without_lines_says_so(words: str, note: str) -> None:
    """A loop without lines to run gives a note and counts no steps."""
    loop = Loop(*made())
    loop.restart([Line(name, "never") for name in LINES] if not words else lines(words))
    loop.run(3)

    assert note in loop.state.note and loop.state.step == 1


def test_run_has_an_end() -> None:
    """A run stops at the largest number of steps."""
    loop = Loop(*made())
    loop.restart(lines("zero_grad"))
    loop.run(MOST_STEPS + 5)

    assert loop.state.step == MOST_STEPS and "go back to the start" in loop.state.note


def _keeping() -> nn.Module:
    model = nn.Linear(3, 1)
    model.kept = model(torch.ones(3))  # type: ignore[assignment]
    return model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": lambda x: x}, "expected a model"),
        ({"optimizer": "SGD"}, "expected an optimizer with zero_grad"),
        ({"criterion": None}, "expected a criterion"),
        ({"model": nn.LazyLinear(1)}, "call it once"),
        ({"model": _keeping()}, "cannot be copied"),
    ],
)
def test_what_cannot_be_trained_is_named(change: dict[str, Any], message: str) -> None:
    """Parts that cannot be trained raise an error immediately."""
    parts = dict(zip(("model", "optimizer", "criterion", "x", "y"), made(), strict=True)) | change
    with pytest.raises((TypeError, ValueError), match=message):
        Loop(**parts)


def test_model_that_is_too_large_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with too many numbers raises ValueError."""
    monkeypatch.setattr(copy_training_objects, "MOST_NUMBERS", 3)
    with pytest.raises(ValueError, match="at most 3 numbers, found 4"):
        Loop(*made())


def test_lines_that_are_not_there_are_refused() -> None:
    """An unknown or repeated line raises ValueError."""
    loop = Loop(*made())
    for wrong in ("forward forward", "sleep"):
        with pytest.raises(ValueError, match="at most once"):
            loop.restart(lines(wrong))
