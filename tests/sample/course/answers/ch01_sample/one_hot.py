"""Answers to `one_hot`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("one_hot")


@bank.wrong(
    "k-from-max",
    "You count the classes by the largest label present. A class nobody has still needs its column: use `k`.",
)
def one_hot(labels, k):
    return torch.eye(int(labels.max()) + 1)[labels]


@bank.wrong("bool-result", "Your result holds True and False. Numbers of dtype float32 are asked for.", slip=True)
def one_hot(labels, k):
    return labels[:, None] == torch.arange(k)


@bank.wrong("counts-from-one", "You count classes from 1. Label 0 belongs to the first column.", slip=True)
def one_hot(labels, k):
    return (labels[:, None] == torch.arange(1, k + 1)).float()


@bank.wrong(
    "transposed",
    "Your classes run down the rows. One row for each label, one column for each class.",
)
def one_hot(labels, k):
    return (torch.arange(k)[:, None] == labels).float()


@bank.right("rows-of-eye")
def one_hot(labels, k):
    return torch.eye(k)[labels]


@bank.right("scatter")
def one_hot(labels, k):
    return torch.zeros(labels.shape[0], k).scatter_(1, labels.unsqueeze(1), 1.0)
