"""Answers to `standardize`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("standardize")


@bank.wrong("dim-0-always", "You reduce over dim 0 whatever `dim` says: use the argument.")
def standardize(x, dim, eps):
    mean = x.mean(0, keepdim=True)
    var = x.var(0, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)


bank.wrong(
    "last-dim-always",
    "You reduce over the last dim whatever `dim` says: use the argument.",
    change={
        ".mean(dim=dim, keepdim=True)": ".mean(-1, keepdim=True)",
        "var = x.var(dim=dim, keepdim=True, correction=0)": "var = x.var(-1, correction=0, keepdim=True)",
    },
)


bank.wrong(
    "no-keepdim",
    "The mean loses the dim it was taken over, and then lines up with another one. Keep that dim, with size 1.",
    change={".mean(dim=dim, keepdim=True)": ".mean(dim)", "dim=dim, keepdim=True,": "dim,"},
)


bank.wrong(
    "unbiased-mismatch",
    "Your variance divides by n - 1, torch's default. The population variance divides by n: look at `correction`.",
    slip=True,
    change={"(x**2).mean(dim, keepdim=True) - mean**2": "x.var(dim, keepdim=True)"},
    of="mean-of-squares",
)


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
    "no-eps",
    "You leave `eps` out: where all numbers are equal the variance is 0, and 0 / 0 is nan.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / std


@bank.wrong(
    "eps-outside-the-root",
    "You add `eps` to the standard deviation. The formula adds it to the variance, under the root.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / (std + eps)


@bank.wrong(
    "hardcoded-eps",
    "The `eps` of the call changes nothing in your result. Add it to the variance, and no number of your own.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-5)


@bank.wrong(
    "no-root",
    "You divide by the variance. Its square root, the standard deviation, has the unit of `x`.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return (x - mean) / (var + eps)


@bank.wrong(
    "whole-tensor",
    "You take one mean and one variance of the whole tensor. Each slice along `dim` has its own.",
)
def standardize(x, dim, eps):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps)


@bank.wrong("not-centered", "You scale, but do not center: the mean of the result is to be 0.")
def standardize(x, dim, eps):
    return x / torch.sqrt(x.var(dim, correction=0, keepdim=True) + eps)


@bank.wrong("not-scaled", "You center, but do not scale: the result is to have variance 1.")
def standardize(x, dim, eps):
    return x - x.mean(dim, keepdim=True)


@bank.wrong(
    "brackets-missing",
    "You divide only the mean: `/` binds tighter than `-`. Put the difference into brackets.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return x - mean / torch.sqrt(var + eps)


@bank.wrong(
    "root-of-std",
    "You take a root twice: `std` is the root of the variance already. Under the root stands the variance.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(std + eps)


@bank.wrong("casts-to-float32", "Your result is float32 whatever dtype comes in. Keep the dtype of what you are given.")
def standardize(x, dim, eps):
    x = x.float()
    return (x - x.mean(dim, keepdim=True)) / torch.sqrt(x.var(dim, correction=0, keepdim=True) + eps)


@bank.wrong(
    "divides-by-the-norm",
    "You divide by the length of each slice. Its standard deviation is that length, divided by the root of n.",
)
def standardize(x, dim, eps):
    centered = x - x.mean(dim, keepdim=True)
    return centered / torch.sqrt((centered**2).sum(dim, keepdim=True) + eps)


@bank.wrong(
    "by-the-range", "You divide by the range, largest minus smallest. Divide by the root of the variance plus `eps`."
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    return (x - mean) / torch.sqrt((x.amax(dim, keepdim=True) - x.amin(dim, keepdim=True)) ** 2 + eps)


@bank.wrong(
    "mean-distance",
    "You divide by the mean distance from the mean. The standard deviation is the root of the mean square.",
)
def standardize(x, dim, eps):
    centered = x - x.mean(dim, keepdim=True)
    return centered / (centered.abs().mean(dim, keepdim=True) + eps)


@bank.wrong("from-the-median", "You subtract the median. The mean is asked for.")
def standardize(x, dim, eps):
    var = x.var(dim, correction=0, keepdim=True)
    return (x - x.median(dim, keepdim=True).values) / torch.sqrt(var + eps)


@bank.wrong(
    "sample-std-and-eps-outside",
    "Two slips: `std` divides by n - 1 unless you say `correction=0`, and `eps` belongs to the variance, under the root.",
)
def standardize(x, dim, eps):
    centered = x - x.mean(dim, keepdim=True)
    return centered / (x.std(dim, keepdim=True) + eps)


@bank.wrong(
    "one-variance-for-all",
    "You divide by the spread of the whole tensor. The variance, like the mean, is taken along `dim`.",
)
def standardize(x, dim, eps):
    return (x - x.mean(dim, keepdim=True)) / (x.var(correction=0) + eps).sqrt()


@bank.right("slice-by-slice")
def standardize(x, dim, eps):
    parts = x.movedim(dim, 0)
    m = sum(parts) / len(parts)
    v = sum((p - m) ** 2 for p in parts) / len(parts)
    return torch.stack([(p - m) / (v + eps).sqrt() for p in parts]).movedim(0, dim)


@bank.right("mean-of-squares")
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = (x**2).mean(dim, keepdim=True) - mean**2
    return (x - mean) / torch.sqrt(var + eps)


@bank.right("var-mean-and-rsqrt")
def standardize(x, dim, eps):
    var, mean = torch.var_mean(x, dim, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps)


@bank.right("by-hand")
def standardize(x, dim, eps):
    centered = x - x.sum(dim, keepdim=True) / x.shape[dim]
    return centered / ((centered**2).mean(dim, keepdim=True) + eps) ** 0.5


@bank.right("unsqueeze-afterwards")
def standardize(x, dim, eps):
    mean = x.mean(dim).unsqueeze(dim)
    std = torch.std(x, dim=dim, unbiased=False).unsqueeze(dim)
    return (x - mean).div((std.square() + eps).sqrt())


@bank.right("dim-to-the-end")
def standardize(x, dim, eps):
    moved = x.transpose(dim, -1)
    return torch.nn.functional.layer_norm(moved, moved.shape[-1:], eps=eps).transpose(dim, -1)


@bank.right("in-place-on-a-clone")
def standardize(x, dim, eps):
    out = x.clone()
    out -= x.mean(dim, keepdim=True)
    out /= torch.sqrt(x.var(dim, correction=0, keepdim=True) + eps)
    return out


@bank.wrong(
    "mean-square-for-variance",
    "Under the root stands the mean of the squares. The variance is that of the differences from the mean.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    squares = (x**2).mean(dim, keepdim=True)
    return (x - mean) / torch.sqrt(squares + eps)


@bank.wrong(
    "at-least-eps", "You lift the variance to `eps` where it is smaller. The formula adds `eps` to it, wherever it is."
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True).clamp(min=eps)
    return (x - mean) / var.sqrt()


bank.wrong(
    "divides-by-the-rows",
    "You divide the sum of the squares by the number of rows, whatever `dim` is. Divide by how many numbers there are along `dim`.",
    change={"(x**2).mean(dim, keepdim=True) - mean**2": "((x - mean) ** 2).sum(dim, keepdim=True) / len(x)"},
    of="mean-of-squares",
)

bank.wrong(
    "variance-of-everything",
    "Your means are taken along `dim`, but the mean of the squares goes over all numbers. It is taken along `dim` as well.",
    change={"(x**2).mean(dim, keepdim=True) - mean**2": "((x - mean) ** 2).mean()"},
    of="mean-of-squares",
)


bank.survives(
    {
        "var + eps -> eps + var": "Addition does not mind the order.",
        "var + eps -> var.add_(eps)": "The variance is a tensor of the answer's own; nobody else sees it change.",
    }
)


bank.wrong(
    "multiplies-by-the-deviation",
    "You multiply by the standard deviation: what is spread wide becomes wider still. To get variance 1 you divide.",
    change={"/ torch.sqrt": "* torch.sqrt"},
    of="mean-of-squares",
)
