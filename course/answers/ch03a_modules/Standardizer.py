"""Answers to `Standardizer`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("Standardizer")


bank.wrong(
    "attribute-tensor",
    "Your mean and std are plain attributes: `.to` does not move them, and the state_dict does not know them.",
    also=("non-persistent",),
    change={
        'self.register_buffer("mean", mean.detach().clone())': "self.mean = mean.clone()",
        'self.register_buffer("std", std.detach().clone())': "self.std = std.clone()",
    },
)


bank.wrong(
    "parameter-instead",
    "You make mean and std parameters: training would change them. They belong to the model, but do not learn.",
    change={
        'self.register_buffer("mean", mean.detach().clone())': "self.mean = nn.Parameter(mean.clone())",
        'self.register_buffer("std", std.detach().clone())': "self.std = nn.Parameter(std.clone())",
    },
)


bank.wrong(
    "non-persistent",
    "Your state_dict does not hold mean and std, as with persistent=False: a model that is loaded later has other numbers.",
    change={
        "mean.detach().clone()": "mean.clone(), persistent=False",
        "std.detach().clone()": "std.clone(), persistent=False",
    },
)

bank.wrong(
    "aliases-its-arguments",
    "What you register lies in the memory of the tensors that you were given. Whoever changes them changes your module.",
    change={'("mean", mean.detach().clone())': '("mean", mean)', '("std", std.detach().clone())': '("std", std)'},
)

bank.wrong(
    "changes-x",
    "You work on x in place: the caller's tensor is standardized as well. Make a new one.",
    change={
        "mean.detach().clone()": "mean.clone()",
        "std.detach().clone()": "std.clone()",
        "return (x - self.mean) / self.std": "x -= self.mean\nx /= self.std\nreturn x",
    },
)


bank.wrong(
    "statistics-of-x",
    "You standardize with the mean and std of x itself. The ones that the module was made with are asked for.",
    also=("statistics-of-x-in-training",),
    change={
        "mean.detach().clone()": "mean.clone()",
        "std.detach().clone()": "std.clone()",
        "(x - self.mean) / self.std": "(x - x.mean(0)) / x.std(0)",
    },
)


bank.wrong(
    "divides-first",
    "You divide x by std before you subtract the mean. The mean is measured in the unit of x: subtract it first.",
    change={
        "mean.detach().clone()": "mean.clone()",
        "std.detach().clone()": "std.clone()",
        "(x - self.mean) / self.std": "x / self.std - self.mean",
    },
)

bank.wrong(
    "std-squared",
    "You divide by the square of std. That would be right for its root; std is a standard deviation already.",
    slip=True,
    change={"mean.detach().clone()": "mean.clone()", "std.detach().clone()": "std.clone()", "self.std": "self.std**2"},
)


@bank.wrong(
    "frozen-parameters",
    "You make frozen parameters. They do not learn now, but anybody who unfreezes the model changes that: use buffers.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Parameter(mean.clone(), requires_grad=False)
        self.std = nn.Parameter(std.clone(), requires_grad=False)

    def forward(self, x):
        return (x - self.mean) / self.std


bank.wrong(
    "only-mean-registered",
    "The mean is a buffer, but std is a plain attribute: it stays behind when the module moves.",
    change={
        "mean.detach().clone()": "mean.clone()",
        'self.register_buffer("std", std.detach().clone())': "self.std = std.clone()",
    },
)

bank.wrong(
    "no-super-init",
    "A buffer needs a module that is ready for it: call `super().__init__()` first.",
    change={"super().__init__()": "", "mean.detach().clone()": "mean.clone()", "std.detach().clone()": "std.clone()"},
)

bank.wrong(
    "the-way-back",
    "You multiply by std and add the mean: that is the way back, from standardized numbers to those in the unit of x.",
    change={"(x - self.mean) / self.std": "x * self.std + self.mean"},
)

bank.wrong(
    "multiplies",
    "You multiply by std. Divide by it.",
    change={"mean.detach().clone()": "mean.clone()", "std.detach().clone()": "std.clone()", "/ self.std": "* self.std"},
)


@bank.wrong("adds-eps", "You add a small number to std. The formula has none.", slip=True)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        return (x - self.mean) / (self.std + 0.01)


bank.told(
    "through-a-list",
    "dtypes",
    change={
        '("mean", mean.detach().clone())': '("mean", torch.tensor(mean.tolist()))',
        '("std", std.detach().clone())': '("std", torch.tensor(std.tolist()))',
    },
)

bank.wrong(
    "in-training-alone",
    "In eval mode your module gives x back as it is. There, too, x has to be standardized, by the same numbers.",
    change={
        "mean.detach().clone()": "mean.clone()",
        "std.detach().clone()": "std.clone()",
        "self.std": "self.std if self.training else x",
    },
)


@bank.right("nnbuffer")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Buffer(mean.detach().clone())
        self.std = nn.Buffer(std.detach().clone())

    def forward(self, x):
        return x.sub(self.mean).div(self.std)


@bank.right("in-a-loop")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        for name, value in (("std", std), ("mean", mean)):
            self.register_buffer(name, torch.clone(value))

    def forward(self, x):
        return torch.div(torch.sub(x, self.mean), self.std)


@bank.right("buffer-class")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Buffer(mean.detach().clone())
        self.std = nn.Buffer(std.detach().clone())

    def forward(self, x):
        return (x - self.mean) * self.std.reciprocal()


@bank.right("deep-copies")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", copy.deepcopy(mean))
        self.register_buffer("std", copy.deepcopy(std))

    def forward(self, x):
        y = x.clone()
        y -= self.mean
        return y / self.std


bank.wrong(
    "keeps-one-over-std",
    "Your buffer `std` holds 1 / std. Under this name stands the standard deviation: who reads it, or loads another, counts on that.",
    change={
        "mean.detach().clone()": "mean.clone()",
        '("std", std.detach().clone())': '("std", 1 / std)',
        "/ self.std": "* self.std",
    },
)

bank.wrong(
    "root-of-std",
    "You divide by the root of std. The root is taken of a variance; std is the root already.",
    slip=True,
    change={
        "mean.detach().clone()": "mean.clone()",
        "std.detach().clone()": "std.clone()",
        "self.std": "torch.sqrt(self.std)",
    },
)

bank.wrong(
    "brackets-missing",
    "You divide only the mean: `/` binds tighter than `-`. Put the difference into brackets.",
    change={
        "mean.detach().clone()": "mean.clone()",
        "std.detach().clone()": "std.clone()",
        "(x - self.mean)": "x - self.mean",
    },
)


@bank.wrong(
    "statistics-of-x-in-training",
    "In training you put the mean and std of x in the place of those that the module was made with. These stay as they are "
    "in both modes.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        if self.training:
            self.mean, self.std = x.mean(0), x.std(0)
        return (x - self.mean) / self.std


bank.survives(
    {
        "mean.detach() -> mean": "It would matter for a mean that requires grad; what is given are plain numbers.",
        "mean.detach -> mean.clone": "It would matter for a mean that requires grad; what is given are plain numbers.",
        "mean.detach -> mean.contiguous": "It would matter for a mean that requires grad; what is given are plain numbers.",
        "std.detach() -> std": "It would matter for a std that requires grad; what is given are plain numbers.",
        "std.detach -> std.clone": "It would matter for a std that requires grad; what is given are plain numbers.",
        "std.detach -> std.contiguous": "It would matter for a std that requires grad; what is given are plain numbers.",
    }
)
