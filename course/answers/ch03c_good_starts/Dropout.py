"""Answers to `Dropout`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("Dropout")


bank.told("per-row-mask", "rows_mixed", change={"torch.rand_like(x)": "torch.rand(x.shape[0], 1)"})

bank.told("per-column-mask", "columns_mixed", change={"torch.rand_like(x)": "torch.rand(x.shape[-1])"})

bank.wrong(
    "one-draw-for-all",
    "You draw one number for the whole of x: all of it is dropped, or none. Draw one for each number.",
    change={"torch.rand_like(x)": "torch.rand(1)"},
)

bank.wrong(
    "no-rescale",
    "The numbers that stay keep their size, so that a sum over them shrinks in training. Divide by 1 - p.",
    unless=r"/|\bdiv|\*\* *-",
    change={"x * keep / (1 - self.p)": "x * keep"},
)

bank.wrong(
    "ignores-eval",
    "You drop in eval mode, too: predictions would vary from call to call. `self.training` tells the mode.",
    change={"if not self.training:\n    return x": ""},
)

bank.wrong(
    "reseeds",
    "You seed the generator at each call: the same numbers are dropped each time, and others draw the same "
    "numbers too.",
    change={"if not self.training:\n    return x": "if not self.training:\n    return x\ntorch.manual_seed(42)"},
)

bank.wrong(
    "keeps-with-p",
    "You keep a number with probability p. It is to be dropped with probability p.",
    slip=True,
    change={"torch.rand_like(x) >= self.p": "torch.rand_like(x) < self.p"},
)

bank.wrong(
    "normal-numbers",
    "You compare normal numbers with p. Half of these lie below 0 already, so that more than half are dropped, whatever p is.",
    slip=True,
    change={"torch.rand_like(x)": "torch.randn_like(x)"},
)

bank.wrong(
    "half-whatever-p",
    "You drop one half of the numbers, whatever p is. Each is to be dropped with probability p.",
    slip=True,
    change={"torch.rand_like(x) >= self.p": "torch.randint(0, 2, x.shape)"},
)

bank.wrong(
    "multiplies-by-1-minus-p",
    "You multiply what stays by 1 - p. That makes it smaller still; it is to make up for what is dropped.",
    change={"/ (1 - self.p)": "* (1 - self.p)"},
)

bank.wrong(
    "divides-by-p",
    "You divide by p. A share of 1 - p stays: that is what to divide by.",
    change={"(1 - self.p)": "self.p"},
)

bank.wrong(
    "rescales-in-eval",
    "You leave training as it is and multiply in eval mode. Here it is the other way: eval mode gives x itself.",
    also=("no-rescale",),
    change={
        "if not self.training:\n    return x": "if not self.training:\n    return x * (1 - self.p)",
        "x * keep / (1 - self.p)": "x * keep",
    },
)

bank.told(
    "mask-kept",
    "anew",
    change={
        "self.p = p": "self.p = p\nself.keep = None",
        "keep = torch.rand_like(x) >= self.p": "if self.keep is None:\n    self.keep = torch.rand_like(x) >= self.p",
        "x * keep": "x * self.keep",
    },
)

bank.told(
    "exact-share",
    "count_varies",
    change={"torch.rand_like(x) >= self.p": "torch.randperm(x.numel()).reshape(x.shape) >= round(self.p * x.numel())"},
)

bank.wrong(
    "in-place",
    "You change x in place: the caller's numbers are gone, in training. Make a new tensor.",
    change={"return x * keep / (1 - self.p)": "with torch.no_grad():\n    x *= keep / (1 - self.p)\nreturn x * 1"},
)

bank.told(
    "writes-zeros-into-x",
    "unchanged",
    change={
        "keep = torch.rand_like(x) >= self.p": "x[torch.rand_like(x) < self.p] = 0",
        "x * keep / (1 - self.p)": "x / (1 - self.p)",
    },
)

bank.told(
    "detached-in-eval",
    "tracked",
    change={"if not self.training:\n    return x": "if not self.training:\n    return x.detach()"},
)

bank.told(
    "generator-of-its-own",
    "global",
    change={
        "self.p = p": "self.p = p\nself.generator = torch.Generator().manual_seed(0)",
        "torch.rand_like(x)": "torch.rand(x.shape, generator=self.generator)",
    },
)

bank.wrong(
    "no-gradient",
    "No gradient flows back through your dropout: what you return is computed without x, from `x.detach()`, or where nothing is tracked.",
    change={"x * keep": "x.detach() * keep"},
)

bank.wrong(
    "uses-functional-dropout",
    "It works, since torch's own dropout does the work. Draw the mask yourself.",
    change={"keep = torch.rand_like(x) >= self.p": "", "x * keep / (1 - self.p)": "nn.functional.dropout(x, self.p)"},
)

bank.told(
    "mask-in-float32", "dtypes", change={"torch.rand_like(x) >= self.p": "(torch.rand(x.shape) >= self.p).float()"}
)


@bank.wrong(
    "keeps-its-mask",
    "In eval mode your module drops what its last call in training dropped. In eval mode the result is x, whatever was before.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
        self.mask = None

    def forward(self, x):
        if self.training:
            self.mask = (torch.rand(x.shape) >= self.p).to(x.dtype) / (1 - self.p)
        return x if self.mask is None else x * self.mask


@bank.right("bernoulli-too")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.empty_like(x).bernoulli_(1 - self.p)
        return x * keep / (1 - self.p)


@bank.right("bernoulli")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.keep = 1 - p

    def forward(self, x):
        if self.training:
            mask = torch.bernoulli(torch.full_like(x, self.keep))
            return x * mask / self.keep
        return x


@bank.right("where")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.dropout = p

    def forward(self, x):
        dropped = torch.rand(x.shape) < self.dropout
        return torch.where(dropped, 0.0, x / (1 - self.dropout)) if self.training else x


@bank.right("masked-fill")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.register_buffer("p", torch.tensor(p), persistent=False)

    def forward(self, x):
        if not self.training:
            return x.clone()
        drop = torch.empty(x.shape).uniform_() < self.p
        return x.masked_fill(drop, 0).div(1 - float(self.p))


bank.wrong(
    "modes-swapped",
    "You drop in eval mode, and give x back in training. It is the other way round.",
    change={"not self.training": "self.training"},
)


bank.survives(
    {
        "x * keep -> keep * x": "Numbers multiply in any order.",
        "torch.rand_like(x) >= self.p -> torch.rand_like(x) > self.p": "A draw that is exactly p comes about once in sixteen million times.",
    }
)
