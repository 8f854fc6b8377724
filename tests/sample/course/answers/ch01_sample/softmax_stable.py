"""Answers to `softmax_stable`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("softmax_stable")


@bank.wrong("ignores-dim", "You always work along the last dim. Use the argument `dim`.")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@bank.wrong(
    "no-max",
    "`exp` of a large number is inf, and inf / inf is nan. Shift the numbers before `exp`: softmax does "
    "not change by that.",
)
def softmax_stable(x, dim):
    e = torch.exp(x)
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "detached",
    "The values are right, but the result is cut off from autograd: no gradient reaches `x`.",
)
def softmax_stable(x, dim):
    x = x.detach()
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "built-in",
    "You call the softmax that torch brings along. Here you build it yourself, from `exp`, a maximum and a sum.",
)
def softmax_stable(x, dim):
    return torch.softmax(x, dim)


bank.wrong(
    "global-max",
    "You subtract the largest number of the whole tensor: slices far below it turn into zeros, and 0 / "
    "0 is nan. Each slice along `dim` has its own maximum.",
    change={"x.max(dim, keepdim=True).values": "x.max()"},
    of="max-values",
)


@bank.right("max-values")
def softmax_stable(x, dim):
    e = torch.exp(x - x.max(dim, keepdim=True).values)
    return e / e.sum(dim, keepdim=True)


@bank.right("logsumexp")
def softmax_stable(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))
