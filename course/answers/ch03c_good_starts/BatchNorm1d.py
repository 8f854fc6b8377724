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


@bank.wrong(
    "eval-updates",
    "You update the running values in eval mode, too. There they are read, and stay as they are.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean.clone(), self.running_var.clone()
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
        with torch.no_grad():
            self.running_mean.lerp_(x.mean(0), 0.1)
            self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "graph-in-buffers",
    "Your running values are made from tensors that require grad: they drag the graph of each batch along. Use torch.no_grad().",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean
            self.running_var = 0.9 * self.running_var + 0.1 * x.var(0)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


bank.wrong(
    "biased-running-var",
    "Your running_var takes the variance with correction=0. That one standardizes; running_var takes correction=1.",
    change={"x.var(0)": "var"},
)

bank.wrong(
    "unbiased-everywhere",
    "You standardize with the variance with correction=1. That one is for running_var; the batch takes correction=0.",
    slip=True,
    change={"0, correction=0": "0", "x.var(0)": "var"},
)

bank.wrong(
    "momentum-swapped",
    "You keep 0.1 of the running value and take 0.9 of the batch. It is the other way: one batch changes little.",
    change={"mean, 0.1": "mean, 0.9", "x.var(0), 0.1": "x.var(0), 0.9"},
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


@bank.wrong(
    "running-values-in-training",
    "You standardize with the running values in training, too. There the mean and variance of the batch count.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.running_mean.lerp_(x.mean(0), 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - self.running_mean) / torch.sqrt(self.running_var + 1e-5) + self.bias


@bank.wrong(
    "plain-attributes",
    "Your running values are plain tensors: they are not saved, and `.to` leaves them behind. Register them "
    "as buffers.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.running_mean, self.running_var = torch.zeros(n), torch.ones(n)

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean.to(self.running_mean.dtype), 0.1)
                self.running_var.lerp_(x.var(0).to(self.running_var.dtype), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


bank.wrong(
    "statistics-over-features",
    "You take mean and variance over the features of each row. They belong to each feature, over the batch: dim 0.",
    change={
        "x.mean(0)": "x.mean(1, keepdim=True)",
        "0, correction=0": "1, correction=0, keepdim=True",
        "mean, 0.1": "x.mean(0), 0.1",
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


@bank.wrong(
    "eval-mode-for-good",
    "After eval mode your module never goes back to training: the mean and variance of the batch are not used any more. "
    "`self.training` says in which mode it is.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))
        self.by_batch = True

    def eval(self):
        self.by_batch = False
        return super().eval()

    def forward(self, x):
        if self.by_batch:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.mul_(0.9).add_(0.1 * mean)
                self.running_var.mul_(0.9).add_(0.1 * x.var(0))
        else:
            mean, var = self.running_mean, self.running_var
        return self.weight * (x - mean) / (var + 1e-5).sqrt() + self.bias


@bank.wrong(
    "last-batch-in-eval",
    "In eval mode you standardize by the last batch of the training. The running values are for that: they have seen all.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))
        self.last = None

    def forward(self, x):
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.mul_(0.9).add_(0.1 * mean)
                self.running_var.mul_(0.9).add_(0.1 * x.var(0))
            self.last = mean.detach(), var.detach()
        else:
            mean, var = self.last or (self.running_mean, self.running_var)
        return self.weight * (x - mean) / (var + 1e-5).sqrt() + self.bias


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


@bank.wrong(
    "no-eps", "You leave out the 1e-5 under the root: where a feature hardly varies, it is blown up.", slip=True
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean.detach()
            self.running_var = 0.9 * self.running_var + 0.1 * x.var(0).detach()
        return self.weight * (x - mean) / torch.sqrt(var) + self.bias


@bank.wrong(
    "bias-not-added", "You never add the bias: with the zeros that it begins with, nothing shows, but it cannot learn."
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean.detach()
            self.running_var = 0.9 * self.running_var + 0.1 * x.var(0).detach()
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5)


@bank.wrong(
    "variance-for-std-in-eval",
    "In eval mode you divide by the running variance. Its root, with the 1e-5 under it, is asked for there, too.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if not self.training:
            return self.weight * (x - self.running_mean) / self.running_var + self.bias
        mean, var = x.mean(0), x.var(0, correction=0)
        with torch.no_grad():
            self.running_mean.mul_(0.9).add_(0.1 * mean)
            self.running_var.mul_(0.9).add_(0.1 * x.var(0))
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong("running-var-forgotten", "Your running_var never moves: in eval mode you divide as if the variance were 1.")
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
            mean, var = x.mean(dim=0), x.var(dim=0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "average-of-all-batches",
    "Your running values begin as those of the first batch, as in a plain average of all batches. Each takes 0.9 of what it "
    "was, the first time too.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))
        self.batches = 0

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(dim=0), x.var(dim=0, correction=0)
            self.batches += 1
            with torch.no_grad():
                self.running_mean.lerp_(mean, 1 / self.batches)
                self.running_var.lerp_(x.var(dim=0), 1 / self.batches)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.told("weight-and-bias-in-training-alone", "in_eval")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if not self.training:
            return (x - self.running_mean) / torch.sqrt(self.running_var + 1e-5)
        mean, var = x.mean(0), x.var(0, correction=0)
        with torch.no_grad():
            self.running_mean.mul_(0.9).add_(0.1 * mean)
            self.running_var.mul_(0.9).add_(0.1 * x.var(0))
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "no-eps-in-eval",
    "In eval mode you leave out the 1e-5 under the root. It belongs there in both modes.",
    slip=True,
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if not self.training:
            return self.weight * (x - self.running_mean) / torch.sqrt(self.running_var) + self.bias
        mean, var = x.mean(0), x.var(0, correction=0)
        with torch.no_grad():
            self.running_mean.mul_(0.9).add_(0.1 * mean)
            self.running_var.mul_(0.9).add_(0.1 * x.var(0))
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


bank.survives(
    {
        "self.weight * (x - mean) / torch.sqrt(var + 1e-05) + self.bias -> self.bias + self.weight * (x - mean) / torch.sqrt(var + 1e-05)": "Addition does not mind the order.",
        "self.weight * (x - mean) -> (x - mean) * self.weight": "Numbers multiply in any order.",
        "var + 1e-05 -> 1e-05 + var": "Addition does not mind the order.",
    }
)


@bank.wrong(
    "one-mean-for-all",
    "You take one mean and one variance of the whole batch. Each feature, a column, has its own.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(), x.var(correction=0)
            with torch.no_grad():
                self.running_mean.mul_(0.9).add_(0.1 * x.mean(dim=0))
                self.running_var.mul_(0.9).add_(0.1 * x.var(dim=0, correction=1))
        else:
            mean, var = self.running_mean, self.running_var
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "no-running-average",
    "Your running values are those of the last batch. Each keeps 0.9 of what it was, and takes 0.1 of the batch's.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(dim=0), x.var(dim=0, correction=0)
            with torch.no_grad():
                self.running_mean.copy_(mean)
                self.running_var.copy_(x.var(dim=0, correction=1))
        else:
            mean, var = self.running_mean, self.running_var
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias
