"""Answers to `BatchNorm1d`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("BatchNorm1d")


bank.wrong(
    "detached-statistics",
    "You cut mean and variance off from the graph. They depend on x too, and their part of the gradient is missing.",
    change={
        "mean, var = x.mean(0), x.var(0, correction=0)": "",
        "with torch.no_grad():": "with torch.no_grad():\n    mean, var = x.mean(0), x.var(0, correction=0)",
    },
)

bank.wrong(
    "eval-updates",
    "You update the running values in eval mode, too. There they are read, and stay as they are.",
    change={
        "return self.standardize(x, self.running_mean, self.running_var)": "y = self.standardize(x, self.running_mean, self.running_var)\nself.track(x.detach())\nreturn y"
    },
    of="counts-batches-too",
)

bank.wrong(
    "graph-in-buffers",
    "Your running values are made from tensors that require grad: they drag the graph of each batch along. Use torch.no_grad().",
    change={"mean.detach()": "mean", "var.detach()": "var"},
    of="rebound-buffers",
)

bank.wrong(
    "biased-running-var",
    "Your running_var takes the variance with correction=0. That one standardizes; running_var takes correction=1.",
    change={"x.var(0)": "var"},
)

bank.wrong(
    "unbiased-everywhere",
    "You standardize with the variance with correction=1. That one is for running_var; the batch takes correction=0.",
    slip=True,
    change={"x.var(0, correction=0)": "x.var(0)"},
)

bank.wrong(
    "momentum-swapped",
    "You keep 0.1 of the running value and take 0.9 of the batch. It is the other way: one batch changes little.",
    change={
        "self.running_mean.lerp_(mean, 0.1)": "self.running_mean.lerp_(mean, 0.9)",
        "self.running_var.lerp_(x.var(0), 0.1)": "self.running_var.lerp_(x.var(0), 0.9)",
    },
)

bank.wrong(
    "eps-outside-the-root",
    "You add 1e-5 after the root. It belongs under the root, to the variance.",
    slip=True,
    change={"torch.sqrt(var + 1e-5)": "(torch.sqrt(var) + 1e-5)"},
)

bank.wrong(
    "always-the-batch",
    "You standardize with the batch in eval mode, too. There the running values count, so that one row is enough.",
    change={
        "self.running_mean, self.running_var": "x.mean(0), x.var(0, correction=0)",
        "mean, var = x.mean(0), x.var(0, correction=0)": "",
    },
)

bank.wrong(
    "running-values-in-training",
    "You standardize with the running values in training, too. There the mean and variance of the batch count.",
    change={
        "mean, var = x.mean(0), x.var(0, correction=0)": "",
        "self.running_mean.lerp_(mean, 0.1)": "self.running_mean.lerp_(x.mean(0), 0.1)",
    },
)

bank.wrong(
    "plain-attributes",
    "Your running values are plain tensors: they are not saved, and `.to` leaves them behind. Register them "
    "as buffers.",
    change={"nn.Buffer(torch.zeros(n)), nn.Buffer(torch.ones(n))": "torch.zeros(n), torch.ones(n)"},
    of="moments",
)

bank.wrong(
    "statistics-over-features",
    "You take mean and variance over the features of each row. They belong to each feature, over the batch: dim 0.",
    change={
        "x.mean(0), x.var(0, correction=0)": "x.mean(1, keepdim=True), x.var(1, correction=0, keepdim=True)",
        "self.running_mean.lerp_(mean, 0.1)": "self.running_mean.lerp_(x.mean(0), 0.1)",
    },
)

bank.wrong(
    "no-weight-and-bias",
    "Your module standardizes, but has no weight and bias to learn.",
    change={
        "self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))": "",
        "self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias": "(x - mean) / torch.sqrt(var + 1e-5)",
    },
)


@bank.wrong(
    "uses-batch-norm",
    "It works, since torch's own batch norm does the work. Write the formula down yourself.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        return nn.functional.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, training=self.training
        )


bank.wrong(
    "eval-mode-for-good",
    "After eval mode your module never goes back to training: the mean and variance of the batch are not used any more. "
    "`self.training` says in which mode it is.",
    change={
        "super().__init__()": "super().__init__()\nself.by_batch = True",
        "def forward(self, x):": "def eval(self):\n    self.by_batch = False\n    return super().eval()\n\ndef forward(self, x):",
        "if self.training:": "if self.by_batch:",
    },
)

bank.wrong(
    "last-batch-in-eval",
    "In eval mode you standardize by the last batch of the training. The running values are for that: they have seen all.",
    change={
        "super().__init__()": "super().__init__()\nself.last = None",
        "mean, var = self.running_mean, self.running_var": "mean, var = self.last or (self.running_mean, self.running_var)",
        "mean, var = x.mean(0), x.var(0, correction=0)": "mean, var = x.mean(0), x.var(0, correction=0)\nself.last = mean.detach(), var.detach()",
    },
)


@bank.right("lerp")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            var, mean = torch.var_mean(x, dim=0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(x.var(dim=0), 0.1)
        return torch.addcmul(self.bias, (x - mean) * torch.rsqrt(var + 1e-5), self.weight)


@bank.right("rebound-buffers")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(n))
        self.weight = nn.Parameter(torch.ones(n))
        self.register_buffer("running_var", torch.ones(n))
        self.register_buffer("running_mean", torch.zeros(n))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(dim=0), ((x - x.mean(dim=0)) ** 2).mean(dim=0)
            unbiased = var.detach() * len(x) / (len(x) - 1)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean.detach()
            self.running_var = 0.9 * self.running_var + 0.1 * unbiased
        else:
            mean, var = self.running_mean, self.running_var
        return (x - mean) * torch.rsqrt(var + 1e-5) * self.weight + self.bias


@bank.right("counts-batches-too")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        for name, value in {"running_mean": torch.zeros(n), "running_var": torch.ones(n)}.items():
            self.register_buffer(name, value)
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        if not self.training:
            return self.standardize(x, self.running_mean, self.running_var)
        self.num_batches_tracked += 1
        var, mean = torch.var_mean(x, dim=0, correction=0)
        self.track(x.detach())
        return self.standardize(x, mean, var)

    def track(self, x):
        self.running_mean.mul_(0.9).add_(0.1 * x.mean(0))
        self.running_var.mul_(0.9).add_(0.1 * x.var(0, correction=1))

    def standardize(self, x, mean, var):
        return torch.addcmul(self.bias, self.weight, (x - mean) / (var + 1e-5).sqrt())


@bank.right("moments")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.running_mean, self.running_var = nn.Buffer(torch.zeros(n)), nn.Buffer(torch.ones(n))

    def forward(self, x):
        if self.training:
            batch = x.shape[0]
            mean = x.sum(0, keepdim=True) / batch
            centered = x - mean
            var = centered.square().sum(0) / batch
            self.running_mean.data += 0.1 * (mean.data[0] - self.running_mean)
            self.running_var.data += 0.1 * (centered.data.square().sum(0) / (batch - 1) - self.running_var)
        else:
            centered, var = x - self.running_mean, self.running_var
        return self.bias + self.weight * centered / (var + 1e-5) ** 0.5


bank.wrong(
    "no-eps",
    "You leave out the 1e-5 under the root: where a feature hardly varies, it is blown up.",
    slip=True,
    change={"torch.sqrt(var + 1e-5)": "torch.sqrt(var)"},
)

bank.wrong(
    "variance-for-std",
    "You divide by the variance, in both modes. Its root, with the 1e-5 under it, is what the numbers spread by.",
    change={"torch.sqrt(var + 1e-5)": "(var + 1e-5)"},
)

bank.wrong(
    "weight-and-bias-unused",
    "You have a weight and a bias, and what you return does not depend on them. What is standardized is multiplied by the one, "
    "and the other is added.",
    change={"self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias": "(x - mean) / torch.sqrt(var + 1e-5)"},
)

bank.wrong(
    "weight-and-bias-as-plain-tensors",
    "Your weight and bias are plain tensors: no optimizer finds them, and no gradient arrives at them. Make them parameters.",
    change={"nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))": "torch.ones(n), torch.zeros(n)"},
)

bank.wrong(
    "no-running-values-kept",
    "Your running values never move: in eval mode you compute with the zeros and ones that they begin with.",
    change={"self.running_mean.lerp_(mean, 0.1)": "pass", "self.running_var.lerp_(x.var(0), 0.1)": "pass"},
)

bank.wrong(
    "bias-not-added",
    "You never add the bias: with the zeros that it begins with, nothing shows, but it cannot learn.",
    change={"torch.sqrt(var + 1e-5) + self.bias": "torch.sqrt(var + 1e-5)"},
)

bank.wrong(
    "variance-for-std-in-eval",
    "In eval mode you divide by the running variance. Its root, with the 1e-5 under it, is asked for there, too.",
    change={
        "self.standardize(x, self.running_mean, self.running_var)": "self.weight * (x - self.running_mean) / self.running_var + self.bias"
    },
    of="counts-batches-too",
)

bank.wrong(
    "running-var-forgotten",
    "Your running_var never moves: in eval mode you divide as if the variance were 1.",
    change={"self.running_var.lerp_(x.var(0), 0.1)": ""},
)

bank.wrong(
    "average-of-all-batches",
    "Your running values begin as those of the first batch, as in a plain average of all batches. Each takes 0.9 of what it "
    "was, the first time too.",
    change={
        "self.running_mean.mul_(0.9).add_(0.1 * x.mean(0))": "self.running_mean += (x.mean(0) - self.running_mean) / self.num_batches_tracked",
        "self.running_var.mul_(0.9).add_(0.1 * x.var(0, correction=1))": "self.running_var += (x.var(0) - self.running_var) / self.num_batches_tracked",
    },
    of="counts-batches-too",
)

bank.told(
    "weight-and-bias-in-training-alone",
    "in_eval",
    change={
        "self.standardize(x, self.running_mean, self.running_var)": "(x - self.running_mean) / (self.running_var + 1e-5).sqrt()"
    },
    of="counts-batches-too",
)

bank.wrong(
    "no-eps-in-eval",
    "In eval mode you leave out the 1e-5 under the root. It belongs there in both modes.",
    slip=True,
    change={
        "self.standardize(x, self.running_mean, self.running_var)": "self.weight * (x - self.running_mean) / self.running_var.sqrt() + self.bias"
    },
    of="counts-batches-too",
)


bank.survives(
    {
        "self.weight * (x - mean) / torch.sqrt(var + 1e-05) + self.bias -> self.bias + self.weight * (x - mean) / torch.sqrt(var + 1e-05)": "Addition does not mind the order.",
        "self.weight * (x - mean) -> (x - mean) * self.weight": "Numbers multiply in any order.",
        "var + 1e-05 -> 1e-05 + var": "Addition does not mind the order.",
    }
)

bank.wrong(
    "one-mean-for-all",
    "You take one mean and one variance of the whole batch. Each feature, a column, has its own.",
    change={
        "x.mean(0), x.var(0, correction=0)": "x.mean(), x.var(correction=0)",
        "self.running_mean.lerp_(mean, 0.1)": "self.running_mean.lerp_(x.mean(0), 0.1)",
    },
)

bank.wrong(
    "no-running-average",
    "Your running values are those of the last batch. Each keeps 0.9 of what it was, and takes 0.1 of the batch's.",
    change={
        "self.running_mean.lerp_(mean, 0.1)": "self.running_mean.copy_(mean)",
        "self.running_var.lerp_(x.var(0), 0.1)": "self.running_var.copy_(x.var(0))",
    },
)
