"""Answers to `stop_gradient_loss`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("stop_gradient_loss")


bank.wrong(
    "no-grad-around-all",
    "Under `no_grad` there is no graph at all: no gradient reaches `a` either. Only `b` should stay out.",
    change={"return ((a - b.detach()) ** 2).mean()": "with torch.no_grad():\n    return ((a - b) ** 2).mean()"},
)


bank.wrong(
    "data-attribute",
    "`.data` gives the right numbers here, but a later change in place would go unnoticed. Use what is made for this.",
    change={"b.detach()": "b.data"},
)

bank.wrong(
    "detach-both",
    "You detach both tensors, or what you make of them: nothing is left to differentiate. `a` must keep its history.",
    change={"a - b.detach()": "a.detach() - b.detach()"},
)

bank.wrong(
    "no-detach",
    "A gradient flows into `b`, which counts as a constant. Cut `b` off before you subtract.",
    change={"b.detach()": "b"},
)

bank.wrong(
    "detach-the-wrong-one",
    "You cut off `a`: now the gradient reaches `b` only, the other way round.",
    also=("no-detach", "new-leaf-for-a"),
    change={"a - b.detach()": "a.detach() - b"},
)

bank.wrong(
    "detach-in-place",
    "`detach_`, with the underscore, cuts the caller's own `b` off for good. Make a new tensor instead.",
    change={"b.detach()": "b.detach_()"},
)


@bank.wrong(
    "switches-requires-grad-off",
    "You switch `requires_grad` of the caller's `b` off: it is not yours to change, and that fails where `b` is no leaf.",
)
def stop_gradient_loss(a, b):
    b.requires_grad_(False)
    return ((a - b) ** 2).mean()


@bank.wrong(
    "flag-on-the-result",
    "`requires_grad_()` on the loss silences the error and heals nothing: the loss is then a leaf without history.",
)
def stop_gradient_loss(a, b):
    with torch.no_grad():
        loss = ((a - b) ** 2).mean()
    return loss.requires_grad_().add(0)


bank.wrong(
    "sum-not-mean",
    "You add the squares up. The mean is asked for.",
    slip=True,
    change={"mean()": "sum()"},
)

bank.wrong(
    "divides-by-len",
    "You divide by the number of rows, as `len` gives it. The mean divides by the number of entries: `numel()`.",
    slip=True,
    change={"mean()": "sum() / len(a)"},
)


bank.wrong(
    "absolute-differences",
    "You take absolute differences. Squares are asked for, and their gradient is another one.",
    change={"((a - b.detach()) ** 2)": "(a - b.detach()).abs()"},
)


bank.wrong(
    "calls-backward",
    "You call backward yourself, and so use the graph up. Return the loss: going back is for whoever called.",
    change={
        "return ((a - b.detach()) ** 2).mean()": "loss = ((a - b.detach()) ** 2).mean()\nloss.backward()\nreturn loss"
    },
)


@bank.wrong(
    "halved", "Your loss is half of it: some books put 1/2 before the squares. Here stands the plain mean.", slip=True
)
def stop_gradient_loss(a, b):
    return ((a - b.detach()) ** 2).mean() / 2


bank.wrong(
    "square-of-the-mean",
    "You take the mean first and square it: differences of different sign cancel. Square first.",
    change={"return ((a - b.detach()) ** 2).mean()": "return (a - b.detach()).mean() ** 2"},
)


@bank.wrong("wrong-sign", "Your loss has the wrong sign: a step downhill would move `a` away.")
def stop_gradient_loss(a, b):
    return -((a - b.detach()) ** 2).mean()


@bank.wrong(
    "new-leaf-for-a",
    "No gradient reaches the caller's `a`: you cut it off, by `detach` or by a new leaf.",
)
def stop_gradient_loss(a, b):
    a = a.detach().requires_grad_()
    return ((a - b.detach()) ** 2).mean()


@bank.right("no-grad-clone")
def stop_gradient_loss(a, b):
    with torch.no_grad():
        fixed = b.clone()
    return torch.nn.functional.mse_loss(a, fixed)


@bank.right("functional-loss")
def stop_gradient_loss(a, b):
    return torch.nn.functional.mse_loss(a, b.detach())


@bank.right("copy-under-no-grad")
def stop_gradient_loss(a, b):
    with torch.no_grad():
        target = b.clone()
    difference = target - a
    return (difference * difference).mean()


@bank.right("sum-over-count")
def stop_gradient_loss(a, b):
    target = b.clone().detach()
    return torch.square(a - target).sum() / a.numel()


@bank.wrong("returns-a-number", "You return a Python number, which has no graph: backward cannot be called on it.")
def stop_gradient_loss(a, b):
    return ((a - b.detach()) ** 2).mean().item()


bank.survives(
    {
        "a - b.detach() -> b.detach() - a": "The square forgets the sign of a difference.",
    }
)

bank.wrong(
    "b-times-zero",
    "`b` is part of the graph, and zeros arrive behind it, as `0 * b` or a hook makes them: no gradient at all is to "
    "arrive there.",
    change={"b.detach()": "(b.detach() + 0 * b)"},
)
