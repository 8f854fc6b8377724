"""Answers to `add_bias`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("add_bias")


@bank.wrong(
    "loop",
    "There is a Python loop in your function. Broadcasting does all channels at once.",
)
def add_bias(x, bias):
    out = x.clone()
    for channel in range(len(bias)):
        out[:, channel] = x[:, channel] + bias[channel]
    return out


bank.wrong(
    "wrong-axis",
    "Broadcasting lines up the last dims: your bias meets the length, not the channels. Where both have "
    "one size nothing warns you.",
    change={"bias[:, None]": "bias"},
)


@bank.wrong(
    "mutates-input",
    "You write into the caller's `x`: `+=` and methods that end in `_` work in place, and `y = x` is only "
    "a second name.",
)
def add_bias(x, bias):
    x += bias[:, None]
    return x


bank.wrong(
    "hardcoded-channels",
    "Three channels stand in your code. Take their number from `bias`, or let `-1` find it.",
    change={"bias[:, None]": "bias.view(1, 3, 1)"},
)


@bank.right("view")
def add_bias(x, bias):
    return x + bias.view(1, -1, 1)


@bank.right("expand")
def add_bias(x, bias):
    return torch.add(x, bias.reshape(-1, 1).expand_as(x))
