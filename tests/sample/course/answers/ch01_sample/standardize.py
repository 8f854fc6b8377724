"""Answers to `standardize`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("standardize")


@bank.wrong("dim-0-always", "You reduce over dim 0 whatever `dim` says: use the argument.")
def standardize(x, dim, eps):
    mean = x.mean(0, keepdim=True)
    var = x.var(0, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "no-keepdim",
    "The mean loses the dim it was taken over, and then lines up with another one. Keep that dim, with size 1.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim)
    var = x.var(dim, correction=0)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "unbiased-mismatch",
    "Your variance divides by n - 1, torch's default. The population variance divides by n: look at `correction`.",
    slip=True,
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "no-eps",
    "You leave `eps` out: where all numbers are equal the variance is 0, and 0 / 0 is nan.",
    also=("hardcoded-eps",),
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / std


@bank.wrong(
    "hardcoded-eps",
    "The `eps` of the call changes nothing in your result. Add it to the variance, and no number of your own.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-5)


@bank.wrong(
    "eps-outside-the-root",
    "You add `eps` to the standard deviation. The formula adds it to the variance, under the root.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / (std + eps)


@bank.wrong(
    "mutates-input",
    "You work in place, so the caller's `x` is changed too. Make a new tensor.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    x -= mean
    x /= torch.sqrt(var + eps)
    return x


@bank.wrong(
    "whole-tensor",
    "You take one mean and one variance of the whole tensor. Each slice along `dim` has its own.",
)
def standardize(x, dim, eps):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps)


@bank.right("by-hand")
def standardize(x, dim, eps):
    centered = x - x.sum(dim, keepdim=True) / x.shape[dim]
    return centered / ((centered**2).mean(dim, keepdim=True) + eps) ** 0.5


@bank.right("var-mean-and-rsqrt")
def standardize(x, dim, eps):
    var, mean = torch.var_mean(x, dim, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps)
