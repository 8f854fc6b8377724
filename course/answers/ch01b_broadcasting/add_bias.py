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

bank.wrong(
    "batch-axis",
    "Your bias has one new dim too many behind it and meets the batch. It is the middle dim that holds the channels.",
    change={"None": "None, None"},
)


bank.wrong(
    "mutates-input",
    "You write into the caller's `x`: `+=` and methods that end in `_` work in place, and `y = x` is only "
    "a second name.",
    change={"return x + bias[:, None]": "x += bias[:, None]\nreturn x"},
)


bank.wrong(
    "one-number",
    "You add the sum of the biases to every number. Each channel is to get its own.",
    change={"bias[:, None]": "bias.sum()"},
)

bank.wrong(
    "hardcoded-channels",
    "Three channels stand in your code. Take their number from `bias`, or let `-1` find it.",
    change={"bias[:, None]": "bias.view(1, 3, 1)"},
)


@bank.wrong("casts-to-float32", "Your result is float32 whatever dtype comes in. Keep the dtype of what you are given.")
def add_bias(x, bias):
    return x.float() + bias.float()[:, None]


bank.wrong(
    "itself-without-bias",
    "Where all biases are 0 you give `x` itself back. A new tensor is asked for, also there.",
    change={"return x + bias[:, None]": "if not bias.any():\n    return x\nreturn x + bias[:, None]"},
)


bank.wrong("multiplies", "You multiply by the biases. Add them.", change={"+ bias[:, None]": "* bias[:, None]"})


@bank.wrong("no-return", "Your function gives None back, as one does without `return`. The caller is to get the sum.")
def add_bias(x, bias):
    x + bias[:, None]


bank.wrong("subtracts", "You subtract the biases. Add them.", change={"+ bias[:, None]": "- bias[:, None]"})


@bank.wrong("last-bias-for-all", "You add the last bias to every channel. Each has its own.")
def add_bias(x, bias):
    return x + bias[-1]


bank.wrong("divides", "You divide by the biases. Add them.", change={"x + bias[:, None]": "x / bias[:, None]"})


bank.wrong(
    "repeated-in-another-order",
    "Your biases are laid out in the wrong order: one channel's numbers get several biases. Give the bias a "
    "dim of size 1 instead of repeating it.",
    change={"return x + bias[:, None]": "n, c, l = x.shape\nreturn x + bias.repeat(l).reshape(c, l)"},
)


@bank.right("einsum-of-ones")
def add_bias(x, bias):
    return x + bias.expand(x.shape[0], x.shape[2], -1).mT


@bank.right("view")
def add_bias(x, bias):
    return x + bias.view(1, -1, 1)


@bank.right("move-the-channels")
def add_bias(x, bias):
    return (x.transpose(1, 2) + bias).transpose(1, 2)


@bank.right("expand")
def add_bias(x, bias):
    return torch.add(x, bias.reshape(-1, 1).expand_as(x))


@bank.wrong("mean-of-the-biases", "You add the mean of the biases to every number. Each channel is to get its own.")
def add_bias(x, bias):
    return x + bias.mean()


bank.wrong(
    "first-sample-only",
    "You add the biases to the first sample of the batch. All of them get theirs.",
    change={"return x + bias[:, None]": "out = x.clone()\nout[0] += bias[:, None]\nreturn out"},
)


bank.survives(
    {
        "x + bias[:, None] -> bias[:, None] + x": "Addition does not mind the order.",
    }
)
