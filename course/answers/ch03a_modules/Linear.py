"""Answers to `Linear`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("Linear")


bank.wrong(
    "plain-tensor",
    "Your weight, if not your bias too, is a plain tensor: the module does not register it, and it stays behind "
    "everywhere.",
    change={
        "nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))": "torch.empty(out_features, in_features).uniform_(-bound, bound).requires_grad_()",
        "nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))": "torch.empty(out_features).uniform_(-bound, bound).requires_grad_()",
    },
)

bank.wrong(
    "no-super-init",
    "You assign parameters before the module is ready for them: call `super().__init__()` first.",
    change={"super().__init__()": ""},
    of="as-most-begin",
)

bank.wrong(
    "non-leaf-parameter",
    "You compute with an nn.Parameter before you assign it: what you assign is a plain tensor with a history, and no "
    "parameter.",
    also=("detached-weight",),
    change={
        "nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * bound)": "nn.Parameter(2 * torch.rand(out_features, in_features) - 1) * bound",
        "nn.Parameter((2 * torch.rand(out_features) - 1) * bound)": "nn.Parameter(2 * torch.rand(out_features) - 1) * bound",
    },
    of="einsum",
)

bank.wrong(
    "non-leaf-weight",
    "You compute with the nn.Parameter of your weight before you assign it: what you assign is a plain tensor with a "
    "history, and no parameter.",
    change={
        "nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * bound)": "(2 * nn.Parameter(torch.rand(out_features, in_features)) - 1) * bound"
    },
    of="einsum",
)

bank.wrong(
    "2d-only",
    "This works for x of shape (batch, in_features) alone. Other axes may stand in front, or none.",
    change={"x @ self.weight.T": "torch.mm(x, self.weight.T)"},
    of="as-most-begin",
)

bank.wrong(
    "x-at-w",
    "The axes of x and of your weight do not meet. A weight of shape (out_features, in_features) is multiplied as"
    " its transpose.",
    change={"self.weight.T": "self.weight"},
    of="as-most-begin",
)

bank.wrong(
    "weight-lies-across",
    "You store the weight as (in_features, out_features). Weights saved elsewhere are (out_features, in_features).",
    change={"out_features, in_features": "in_features, out_features", "self.weight.T": "self.weight"},
    of="as-most-begin",
)

bank.wrong(
    "standard-normal-start",
    "Neither weight nor bias starts uniform over the whole range between the two bounds. `torch.randn`, for one, "
    "gives normal numbers, far too large for wide layers.",
    change={
        "torch.empty(out_features, in_features).uniform_(-bound, bound)": "torch.randn(out_features, in_features)",
        "torch.empty(out_features).uniform_(-bound, bound)": "torch.randn(out_features)",
    },
)

bank.wrong(
    "positive-start",
    "None of your numbers is negative, as where `torch.rand`, which gives numbers from 0 to 1, is only scaled. "
    "The range reaches from -bound to bound.",
    change={
        "torch.empty(out_features, in_features).uniform_(-bound, bound)": "torch.rand(out_features, in_features) * bound",
        "torch.empty(out_features).uniform_(-bound, bound)": "torch.rand(out_features) * bound",
    },
)

bank.wrong(
    "bound-from-out-features",
    "You take the range from out_features. What must not grow is a sum of in_features terms.",
    change={"math.sqrt(in_features)": "math.sqrt(out_features)"},
    of="as-most-begin",
)

bank.wrong(
    "no-root",
    "Your range is 1 / in_features: you forgot the square root.",
    change={"math.sqrt(in_features)": "in_features"},
    of="as-most-begin",
)

bank.wrong(
    "bias-starts-at-zero",
    "Your bias starts at 0. Here it starts in the same range as the weight.",
    change={"torch.empty(out_features).uniform_(-bound, bound)": "torch.zeros(out_features)"},
    of="as-most-begin",
)

bank.told(
    "seeded-start",
    "others",
    change={"super().__init__()": "super().__init__()\ntorch.manual_seed(42)"},
    of="as-most-begin",
)

bank.told(
    "bias-from-weight",
    "apart",
    change={"torch.empty(out_features).uniform_(-bound, bound)": "self.weight[:, 0].detach().clone()"},
    of="as-most-begin",
)

bank.wrong(
    "ignores-bias-flag",
    "You make a bias whatever the flag says. With bias=False it is None, and nothing is added.",
    change={
        "nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None": "nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))"
    },
    of="as-most-begin",
)

bank.wrong(
    "no-attribute-bias",
    "With bias=False your layer has no attribute `bias` at all. Whoever asks for it should find None.",
    change={
        "self.bias = None": "",
        "result if self.bias is None else result + self.bias": 'result + self.bias if hasattr(self, "bias") else result',
    },
)

bank.wrong(
    "detached-weight",
    "No gradient arrives at weight and bias: what you compute with is cut off from them, as by `.data`, or they are no leaves that require grad.",
    change={"self.weight.T": "self.weight.data.T", "+ self.bias": "+ self.bias.data"},
    of="as-most-begin",
)


@bank.wrong(
    "uses-nn-linear",
    "It works, but nn.Linear does the work. The exercise is to make such a layer from nn.Parameter.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        made = nn.Linear(in_features, out_features, bias)
        self.weight, self.bias = made.weight, made.bias

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


bank.wrong(
    "relu-at-the-end",
    "Your layer ends in an activation: what is below 0 comes out as 0.",
    change={
        "result if self.bias is None else result + self.bias": "torch.relu(result if self.bias is None else result + self.bias)"
    },
)

bank.wrong(
    "subtracts-the-bias",
    "You subtract the bias. It is added.",
    slip=True,
    change={"result + self.bias": "result - self.bias"},
)


@bank.right("register-parameter")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.register_parameter("bias", nn.Parameter(torch.empty(out_features)) if bias else None)
        self.register_parameter("weight", nn.Parameter(torch.empty(out_features, in_features)))
        with torch.no_grad():
            for p in self.parameters():
                p.uniform_(-(in_features**-0.5), in_features**-0.5)

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


@bank.right("einsum")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        nn.Module.__init__(self)
        bound = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * bound)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * bound)
        else:
            self.bias = None

    def forward(self, x):
        y = torch.einsum("oi,...i->...o", self.weight, x)
        return y + self.bias if self.bias is not None else y


@bank.right("by-init-and-broadcasting")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / in_features**0.5
        self.weight = nn.Parameter(nn.init.uniform_(torch.empty(out_features, in_features), -bound, bound))
        self.bias = nn.Parameter(nn.init.uniform_(torch.empty(out_features), -bound, bound)) if bias else None

    def forward(self, x):
        y = (x.unsqueeze(-2) * self.weight).sum(-1)
        if self.bias is not None:
            y = y + self.bias
        return y


@bank.right("as-most-begin")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


bank.wrong(
    "transposes-x",
    "You transpose x, which turns all of its axes around. That is right for two axes alone: leave x as it is.",
    change={"x @ self.weight.T": "(self.weight @ x.T).T"},
)

bank.wrong(
    "negative-start",
    "None of your numbers is positive, as where a range from 0 to the bound is moved down by the bound. The range reaches "
    "from -bound to bound.",
    change={
        "torch.empty(out_features, in_features).uniform_(-bound, bound)": "torch.rand(out_features, in_features) * bound - bound",
        "torch.empty(out_features).uniform_(-bound, bound)": "torch.rand(out_features) * bound - bound",
    },
)

bank.wrong(
    "one-number-as-bias",
    "Your bias holds one number for all outputs. Each has its own: the shape is (out_features,).",
    change={"torch.empty(out_features)": "torch.empty(1)"},
)

bank.survives(
    {
        "result + self.bias -> result.add_(self.bias)": "The product is the answer's own tensor, and no backward rule saved it.",
        "result + self.bias -> self.bias + result": "Addition does not mind the order.",
    }
)

bank.wrong(
    "bias-bound-from-out-features",
    "The range of your bias comes from out_features. It is the range of the weight: that of in_features.",
    change={
        "torch.empty(out_features).uniform_(-bound, bound)": "torch.empty(out_features).uniform_(-(out_features**-0.5), out_features**-0.5)"
    },
)
