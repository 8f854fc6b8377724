"""A loss that is detached from the parameters gets its own message, in each exercise that trains."""

import re
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from autograder.course.compute_expected_observations import VISIBLE_SEED
from autograder.diagnosis.judge_answer import judge
from autograder.exercises.exercise import Case
from autograder.exercises.probes.training_steps import make_training_step_probe
from autograder.exercises.probes.wrongly_detached_loss import (
    DETACHED_FROM_X_MESSAGES,
    DETACHED_LOSS_MESSAGES,
    record_backward_calls,
    with_detached_loss_facet,
)
from tests.our_course import COURSE, answer_in, judge_of

OF_A_LOSS = (
    *("accumulate", "running_loss", "train_step", "fit", "fit_resumable", "sin_fit", "house_prices"),
    *("compare_optimizers", "broken_loops", "train_step_on", "amp_train_step"),
    *("train", "train_amp", "resume_training", "fix_trainer"),
)
FROM_X = ("descend", "mean_square_grad", "grad_of")
_SENTENCES = DETACHED_LOSS_MESSAGES["cut_loss"], DETACHED_FROM_X_MESSAGES["cut_loss"]
# Worked solutions that call backward on an unnamed value: the same with a name.
_NAMED = {
    "descend": ("f(x).backward()", "loss = f(x)\n        loss.backward()"),
    "mean_square_grad": ("(copy**2).mean().backward()", "loss = (copy**2).mean()\n    loss.backward()"),
    "grad_of": (
        "return torch.autograd.grad(f(copy).sum(), copy)[0]",
        "loss = f(copy).sum()\n    loss.backward()\n    return copy.grad",
    ),
}
WAYS: dict[str, str] = {
    "requires_grad_": "loss.detach().requires_grad_()",
    "Variable": "torch.autograd.Variable(loss.data, requires_grad=True)",
    "item": "torch.tensor(loss.item(), requires_grad=True)",
    "NumPy": "torch.from_numpy(loss.detach().numpy()).requires_grad_()",
}
# Ways of detaching after which nothing requires grad, so that torch's backward raises.
STOPS: dict[str, str] = {
    "detach and stop": "loss.detach()",
    "Variable and stop": "torch.autograd.Variable(loss.data)",
    "item and stop": "torch.tensor(loss.item())",
    "NumPy and stop": "torch.from_numpy(loss.detach().numpy())",
}


def cut(name: str, way: str) -> str:
    """Return an exercise's worked solution with its loss detached in this way."""
    text = judge_of(name).chapter.solution(name).replace(*_NAMED.get(name, ("", "")))
    if way in WAYS | STOPS:
        return re.sub(r"\bloss(?=\)?\.backward)", (WAYS | STOPS)[way], text)
    if way == "no_grad":
        return re.sub(r"( *)(loss = .*)", r"\1with torch.no_grad():\n\1    \2\n\1loss.requires_grad_()", text)
    return re.sub(r"(= .*model\((?:[^()]|\([^()]*\))*\))", r"\1.detach().requires_grad_()", text)


def ways_of(name: str) -> tuple[str, ...]:
    """Return the ways of detaching that an exercise's solution allows."""
    if name == "running_loss":
        return tuple(WAYS)
    no_model = ("accumulate", "house_prices", *FROM_X)
    return (*WAYS, "no_grad") if name in no_model else (*WAYS, "no_grad", "prediction")


CUTS = [(name, way) for name in (*OF_A_LOSS, *FROM_X) for way in ways_of(name)]
STOPPED = [(name, way) for name in (*OF_A_LOSS, "descend") for way in STOPS]


@pytest.mark.parametrize(("name", "way"), [*CUTS, *STOPPED], ids=lambda part: part)
@pytest.mark.night
def test_a_cut_loss_is_told(name: str, way: str) -> None:
    """On the shipped cases, the first message of a report says that the loss is detached."""
    text = cut(name, way)
    key = COURSE.keys(COURSE.find(name).chapter)[name]

    report = judge(COURSE.find(name), key, COURSE.find(name).observe(answer_in(name, text), key.cases), text)

    assert report.failed_verdicts[0].sentence.startswith(_SENTENCES)


@pytest.mark.parametrize(("name", "way"), CUTS, ids=lambda part: part)
@pytest.mark.night
def test_a_cut_loss_is_seen_on_fresh_cases(name: str, way: str) -> None:
    """On fresh cases, some observation records a detached loss."""
    exercise = COURSE.find(name)

    seen = exercise.observe(answer_in(name, cut(name, way)), exercise.cases(5101))

    assert any(each.get("cut_loss") for each in seen)


@pytest.mark.parametrize("name", [*OF_A_LOSS, *FROM_X])
@pytest.mark.night
def test_no_right_answer_is_seen_as_cut(name: str) -> None:
    """No right answer is observed to have a detached loss."""
    found = judge_of(name)
    exercise, cases = found.exercises[name], found.exercises[name].cases(VISIBLE_SEED)
    right = [answer.function for answer in found.banks[name] if answer.is_right]

    for answer in (found.solutions[name], *right):
        assert not any(seen.get("cut_loss") for seen in exercise.observe(answer, cases))


@pytest.mark.parametrize("name", ["descend", "house_prices"])
def test_what_never_required_grad_is_not_told_as_cut(name: str) -> None:
    """If the answer only forgot requires_grad, the message does not say that its loss is detached."""
    text = re.sub(r"\.requires_grad_\(\)|, requires_grad=True", "", judge_of(name).chapter.solution(name))
    key = COURSE.keys(COURSE.find(name).chapter)[name]

    report = judge(COURSE.find(name), key, COURSE.find(name).observe(answer_in(name, text), key.cases), text)

    assert not report.failed_verdicts[0].sentence.startswith(_SENTENCES)


MODEL = Case("", "linear", "SGD", torch.ones(2, 3, dtype=torch.float64), torch.zeros(2, 1, dtype=torch.float64))


def never_backward(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> None:
    """A step without backward."""
    criterion(model(x), y)
    optimizer.step()


def by_copies(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> None:
    """A step with gradients computed for copies of the parameters."""
    copies = {name: param.detach().clone().requires_grad_() for name, param in model.named_parameters()}
    criterion(torch.func.functional_call(model, copies, (x,)), y).backward()
    for name, param in model.named_parameters():
        param.grad = copies[name].grad
    optimizer.step()


def by_grad(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> None:
    """A step with gradients from torch.autograd.grad."""
    params = list(model.parameters())
    for param, grad in zip(params, torch.autograd.grad(criterion(model(x), y), params), strict=True):
        param.grad = grad
    optimizer.step()


def by_closure(model: nn.Module, optimizer: Any, criterion: Any, x: Tensor, y: Tensor) -> None:
    """A step with a closure that calls backward."""

    def closure() -> Tensor:
        loss: Tensor = criterion(model(x), y)
        torch.autograd.backward([loss.sum()])
        return loss

    optimizer.step(closure)


@pytest.mark.parametrize("answer", [never_backward, by_copies, by_grad, by_closure])
def test_what_is_not_cut_is_not_seen_as_cut(answer: Callable[..., Any]) -> None:
    """An answer without backward, or with gradients assigned otherwise, has no detached loss."""
    assert not with_detached_loss_facet(make_training_step_probe("held"))(answer, MODEL)["cut_loss"]


def test_backward_is_as_before_outside_of_the_block() -> None:
    """torch.autograd.backward is restored after the block, even after an error."""
    usual = torch.autograd.backward
    with pytest.raises(RuntimeError), record_backward_calls(lambda: None) as backwards:
        torch.ones(()).backward()

    assert usual is torch.autograd.backward
    assert backwards.cut
