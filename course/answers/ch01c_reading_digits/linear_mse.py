"""Answers to `linear_mse`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("linear_mse")


@bank.wrong(
    "untouched",
    "It still does what it did when you found it: all three bugs are in it. Follow the shapes with a "
    "small example, line by line.",
    also=("mutates-input", "wrong-dim-and-broadcast"),
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "wrong-dim",
    "You standardize each row. A feature is a column: over which dim do you reduce to get one mean per column?",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x = (x - mean) / std
    prediction = (x @ w).squeeze(1)
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "mutates-input",
    "After your call the caller's `x` is not what it was. Which line writes into it?",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=0, keepdim=True)
    std = x.std(dim=0, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = (x @ w).squeeze(1)
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "broadcast-loss",
    "A column (n, 1) minus (n,), which counts as a row, is (n, n): every prediction is compared with every target. Print "
    "the shape of the difference.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=0, keepdim=True)
    std = x.std(dim=0, correction=0, keepdim=True)
    x = (x - mean) / std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "wrong-dim-and-mutates",
    "Rows are standardized instead of columns, and the caller's `x` is overwritten.",
    also=("mutates-input", "wrong-dim"),
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = (x @ w).squeeze(1)
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "wrong-dim-and-broadcast",
    "Rows are standardized instead of columns, and the shapes of prediction and target do not match.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x = (x - mean) / std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "mutates-and-broadcast",
    "The caller's `x` is overwritten, and the shapes of prediction and target do not match.",
    also=("broadcast-loss", "mutates-input"),
)
def linear_mse(x, w, y):
    mean = x.mean(dim=0, keepdim=True)
    std = x.std(dim=0, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


bank.wrong(
    "sample-std",
    "Without `correction=0` the standard deviation divides by n - 1. The population's divides by n.",
    change={"0, correction=0": "0", "y.unsqueeze(1)": "y[:, None]"},
    of="target-as-column",
)

bank.wrong(
    "sum-not-mean",
    "You add up the squared errors. The mean of them is asked for.",
    change={"((x @ w - y.unsqueeze(1)) ** 2).mean()": "((x @ w - y[:, None]) ** 2).sum()"},
    of="target-as-column",
)


bank.wrong(
    "returns-a-number",
    "Your loss is a Python number: the way back to `w` is lost, and `backward` is no longer possible. "
    "Return the scalar tensor.",
    change={"return ((x @ w - y.unsqueeze(1)) ** 2).mean()": "return ((x @ w - y[:, None]) ** 2).mean().item()"},
    of="target-as-column",
)


bank.wrong(
    "one-loss-per-row",
    "You return one squared error for each row. Take their mean: one scalar.",
    change={"((x @ w - y.unsqueeze(1)) ** 2).mean()": "((x @ w).squeeze(1) - y) ** 2"},
    of="target-as-column",
)


bank.wrong(
    "absolute-errors",
    "You average absolute errors. The squared ones are asked for.",
    change={"((x @ w - y.unsqueeze(1)) ** 2)": "((x @ w).squeeze(1) - y).abs()"},
    of="target-as-column",
)


@bank.wrong(
    "targets-standardized-too",
    "You subtract the mean of the targets from them. Only the columns of `x` are standardized.",
)
def linear_mse(x, w, y):
    x = (x - x.mean(0)) / x.std(0, correction=0)
    y = y - y.mean()
    return ((x @ w - y[:, None]) ** 2).mean()


@bank.wrong(
    "targets-with-std-1",
    "You standardize the targets as well, and where all are equal you divide them by 0. Only the columns of `x` are "
    "standardized.",
)
def linear_mse(x, w, y):
    z = (x - x.mean(0)) / x.std(0, correction=0)
    targets = (y - y.mean()) / y.std(correction=0)
    return ((z @ w).squeeze(1) - targets).square().mean()


@bank.wrong("root-of-the-loss", "You take a root at the end. The mean of the squares is asked for.")
def linear_mse(x, w, y):
    x = (x - x.mean(0)) / x.std(0, correction=0)
    return ((x @ w - y[:, None]) ** 2).mean().sqrt()


@bank.wrong(
    "one-mean-for-the-table",
    "You take one mean and one spread for the whole table. Each column has a unit of its own: it needs its "
    "own mean and std.",
)
def linear_mse(x, w, y):
    z = (x - x.mean()) / x.std(correction=0)
    return (((z @ w).squeeze(1) - y) ** 2).mean()


@bank.wrong(
    "centered-only",
    "Your columns have mean 0, but each keeps its own spread. Divide each by its standard deviation.",
)
def linear_mse(x, w, y):
    z = x - x.mean(0)
    return (((z @ w).squeeze(1) - y) ** 2).mean()


@bank.wrong(
    "mean-of-rows",
    "You subtract the mean of each row. A feature is a column: its mean runs over the rows.",
)
def linear_mse(x, w, y):
    z = (x - x.mean(1, keepdim=True)) / x.std(0, correction=0)
    return (((z @ w).squeeze() - y) ** 2).mean()


@bank.wrong(
    "not-standardized", "The columns of `x` go into the product as they are. Each is to be standardized before."
)
def linear_mse(x, w, y):
    return ((x @ w - y[:, None]) ** 2).mean()


@bank.wrong(
    "small-number-under-the-root",
    "You add a small number to the variance. Where a column hardly varies, it is no longer standardized.",
    slip=True,
)
def linear_mse(x, w, y):
    variance = x.var(dim=0, correction=0)
    scaled = (x - x.mean(dim=0)) / torch.sqrt(variance + 1e-5)
    return (((scaled @ w).squeeze(1) - y) ** 2).mean()


@bank.wrong("by-the-variance", "You divide each column by its variance. The standard deviation is the root of that.")
def linear_mse(x, w, y):
    z = (x - x.mean(0)) / x.var(0, correction=0)
    return (((z @ w).squeeze(1) - y) ** 2).mean()


@bank.right("own-lines")
def linear_mse(x, w, y):
    centered = x - x.mean(0)
    scaled = centered / (centered**2).mean(0).sqrt()
    errors = torch.mv(scaled, w[:, 0]) - y
    return torch.dot(errors, errors) / len(errors)


@bank.right("target-as-column")
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    return ((x @ w - y.unsqueeze(1)) ** 2).mean()


@bank.right("clone-first")
def linear_mse(x, w, y):
    x = x.clone()
    x -= x.mean(dim=0, keepdim=True)
    x /= x.std(dim=0, correction=0, keepdim=True)
    return torch.nn.functional.mse_loss((x @ w).flatten(), y)


@bank.right("matrix-times-vector")
def linear_mse(x, w, y):
    var, mean = torch.var_mean(x, 0, correction=0)
    scaled = (x - mean) * var.rsqrt()
    return (scaled @ w[:, 0] - y).square().sum() / len(y)


bank.survives(
    {
        "(scaled @ w).squeeze(1) -> (scaled @ w).squeeze()": "The prediction (n, 1) has no other dim of size 1: one row alone has no spread to divide by.",
        "prediction - y -> y - prediction": "The square forgets the sign of a difference.",
        "prediction - y -> prediction.sub_(y)": "The prediction is a tensor of the answer's own; nobody else sees it change.",
    }
)


bank.wrong(
    "std-of-rows",
    "You divide by the standard deviation of each row. A feature is a column: its deviation runs over the rows, as its mean "
    "does.",
    change={"std(dim=0, correction=0)": "std(dim=1, correction=0, keepdim=True)"},
    of="target-as-column",
)

bank.wrong(
    "mean-before-square",
    "You square the mean of the errors: errors of different sign have canceled by then. Each error is squared by itself.",
    change={"((x @ w - y.unsqueeze(1)) ** 2).mean()": "(x @ w - y.unsqueeze(1)).mean() ** 2"},
    of="target-as-column",
)
