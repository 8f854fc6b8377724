"""Answers to `softmax_stable`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("softmax_stable")


@bank.wrong("ignores-dim", "You always work along the last dim. Use the argument `dim`.")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@bank.wrong("dim-0-always", "You always work along dim 0. Use the argument `dim`.")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(0, keepdim=True))
    return e / e.sum(0, keepdim=True)


bank.wrong(
    "global-max",
    "You subtract a number far above the largest of some slice, such as the largest of the whole tensor: all its exps "
    "are 0 then, and 0 / 0 is nan. Each slice along `dim` has its own maximum.",
    change={"x.max(dim, keepdim=True).values": "x.max()"},
    of="max-values",
)


bank.wrong(
    "no-max",
    "`exp` of a large number is inf, and inf / inf is nan. Shift the numbers before `exp`: softmax does "
    "not change by that.",
    change={"x - x.max(dim, keepdim=True).values": "x"},
    of="max-values",
)


@bank.wrong(
    "detached",
    "Your result is cut off from autograd: no gradient reaches `x`.",
)
def softmax_stable(x, dim):
    x = x.detach()
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


bank.wrong(
    "no-keepdim",
    "Maximum and sum lose the dim they were taken over, and then line up with another one. Keep it, with size 1.",
    change={".max(dim, keepdim=True).values": ".amax(dim)", ".sum(dim, keepdim=True)": ".sum(dim)"},
    of="max-values",
)


bank.wrong(
    "max-returns-two",
    "Along a dim `max` returns a pair, values and indices, which cannot be subtracted. Take the values.",
    change={"x.max(dim, keepdim=True).values": "x.max(dim, keepdim=True)"},
    of="max-values",
)


bank.wrong(
    "sum-of-everything",
    "You divide by the sum over the whole tensor: the numbers along `dim` no longer add up to 1.",
    change={".max(dim, keepdim=True).values": ".amax(dim, keepdim=True)", ".sum(dim, keepdim=True)": ".sum()"},
    of="max-values",
)


bank.wrong(
    "subtracts-min",
    "You subtract a number far below the largest of a slice, such as its smallest: the largest is still large, and "
    "`exp` overflows.",
    change={"x.max(dim, keepdim=True).values": "x.amin(dim, keepdim=True)"},
    of="max-values",
)

bank.wrong(
    "clamped",
    "`clamp` stops the overflow by changing the numbers: two large ones of different size come out equal.",
    change={"x - x.max(dim, keepdim=True).values": "x.clamp(-80, 80)"},
    of="max-values",
)


@bank.wrong("not-normalized", "You shift and take `exp`, but never divide by the sum.")
def softmax_stable(x, dim):
    return torch.exp(x - x.amax(dim, keepdim=True))


@bank.wrong(
    "log-softmax",
    "You return the logarithm of the softmax. The numbers along `dim` are to be positive and add up to 1.",
)
def softmax_stable(x, dim):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


bank.wrong(
    "built-in",
    "You call a softmax or `logsumexp` that torch brings along. Here you build it yourself, from `exp`, a maximum and a sum.",
    change={"shifted - shifted.exp().sum(dim, keepdim=True).log()": "x - x.logsumexp(dim, keepdim=True)"},
    of="minus-log-of-sum",
)


bank.wrong(
    "mutates-input",
    "You subtract in place: the caller's `x` is changed, and where it requires grad torch refuses.",
    change={"e = torch.exp(x - x.max(dim, keepdim=True).values)": "x -= x.amax(dim, keepdim=True)\ne = torch.exp(x)"},
    of="max-values",
)


@bank.wrong("casts-to-float32", "Your result is float32 whatever dtype comes in. Keep the dtype of what you are given.")
def softmax_stable(x, dim):
    e = torch.exp(x.float() - x.float().amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@bank.wrong("powers-of-two", "You take powers of 2. The softmax takes powers of e: `exp`.", slip=True)
def softmax_stable(x, dim):
    e = torch.exp2(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


bank.wrong(
    "sigmoid",
    "You squash each number by itself. In a softmax the numbers along `dim` share what there is: they add up to 1.",
    change={
        "largest = x.amax(dim=dim, keepdim=True)\npowers = torch.exp(x - largest)": "powers = 1 / (1 + torch.exp(-x))",
        "powers / powers.sum(dim=dim, keepdim=True)": "powers",
    },
)


@bank.wrong("half-as-sharp", "You halve the numbers before `exp`. Take them as they are.", slip=True)
def softmax_stable(x, dim):
    e = torch.exp((x - x.amax(dim, keepdim=True)) / 2)
    return e / e.sum(dim, keepdim=True)


@bank.wrong("upside-down", "Your largest number gets the smallest share: a sign is the wrong way round.")
def softmax_stable(x, dim):
    e = torch.exp(x.amin(dim, keepdim=True) - x)
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "sum-without-keepdim",
    "Your sum loses the dim that it was taken over, and then lines up with another one. Give it `keepdim=True`.",
)
def softmax_stable(x, dim):
    top = torch.amax(x, dim=dim, keepdim=True)
    powers = (x - top).exp()
    return powers / powers.sum(dim=dim)


@bank.wrong(
    "neither-keepdim-nor-maximum",
    "Your sum loses the dim that it was taken over, and then lines up with another one: `keepdim=True`. And no maximum "
    "is subtracted, so that `exp` of a large number is inf.",
    also=("largest-of-all-and-sum-without-keepdim",),
)
def softmax_stable(x, dim):
    powers = x.exp()
    return powers / powers.sum(dim=dim)


bank.wrong(
    "clamped-above",
    "You cap what is large: numbers above the bound come out equal. And a row far below 0 is 0 / 0 all the same.",
    change={
        "largest = x.amax(dim=dim, keepdim=True)\npowers = torch.exp(x - largest)": "powers = x.clamp(max=80).exp()"
    },
)


bank.wrong(
    "maximum-without-keepdim",
    "Your maximum loses the dim that it was taken over, and then lines up with another one. Give it `keepdim=True`, as "
    "the sum has.",
    change={
        "largest = x.amax(dim=dim, keepdim=True)": "top = x.max(dim).values",
        "torch.exp(x - largest)": "(x - top).exp()",
    },
)


@bank.wrong(
    "largest-of-all-and-sum-without-keepdim",
    "Your sum loses the dim that it was taken over, and then lines up with another one: `keepdim=True`. And each slice "
    "needs a maximum of its own.",
)
def softmax_stable(x, dim):
    powers = (x - x.max()).exp()
    return powers / powers.sum(dim=dim)


@bank.wrong(
    "one-softmax-for-all",
    "Your numbers add up to 1 over the whole tensor. Those along `dim` are to add up to 1, in each slice.",
)
def softmax_stable(x, dim):
    shifted = (x - x.max()).exp()
    return shifted / shifted.sum()


@bank.right("slice-by-slice")
def softmax_stable(x, dim):
    rows = x.unbind(dim)
    top = rows[0]
    for row in rows[1:]:
        top = torch.maximum(top, row)
    powers = [torch.exp(row - top) for row in rows]
    total = sum(powers)
    return torch.stack([p / total for p in powers], dim=dim)


@bank.right("max-values")
def softmax_stable(x, dim):
    e = torch.exp(x - x.max(dim, keepdim=True).values)
    return e / e.sum(dim, keepdim=True)


@bank.right("detached-maximum")
def softmax_stable(x, dim):
    top = x.detach().max(dim=dim, keepdim=True)[0]
    weights = (x - top).exp()
    return weights.div(weights.sum(dim=dim, keepdim=True))


@bank.right("unsqueeze-afterwards")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(dim).unsqueeze(dim))
    return e * (1 / e.sum(dim).unsqueeze(dim))


bank.wrong(
    "subtracts-the-mean",
    "You shift by another number of each slice than its largest, such as its mean or its first. The largest may lie far "
    "above it, and its `exp` is inf all the same.",
    change={"x.max(dim, keepdim=True).values": "x.mean(dim, keepdim=True)"},
    of="max-values",
)


@bank.right("minus-log-of-sum")
def softmax_stable(x, dim):
    shifted = x - x.amax(dim, keepdim=True)
    return torch.exp(shifted - shifted.exp().sum(dim, keepdim=True).log())


@bank.wrong(
    "divides-by-the-maximum",
    "You divide by the largest number before `exp`. A softmax stays the same when a number is subtracted, not so when divided.",
)
def softmax_stable(x, dim):
    powers = torch.exp(x / x.amax(dim, keepdim=True))
    return powers / powers.sum(dim, keepdim=True)


@bank.wrong(
    "patches-the-nan",
    "You put a number in the place of each nan. What inf / inf should have been is lost by then: shift before `exp`.",
)
def softmax_stable(x, dim):
    powers = torch.exp(x)
    return torch.nan_to_num(powers / powers.sum(dim, keepdim=True), nan=1.0)


bank.told(
    "small-number-in-the-denominator",
    "digits",
    change={"powers / powers.sum(dim=dim, keepdim=True)": "powers / (powers.sum(dim=dim, keepdim=True) + 1e-6)"},
)

bank.wrong(
    "by-way-of-float32",
    "You compute in float32, whatever x is. For float64 this loses digits, and with them the differences of scores that lie close together.",
    change={
        "largest = x.amax(dim=dim, keepdim=True)": "kind, x = x.dtype, x.float()\nlargest = x.amax(dim=dim, keepdim=True)",
        "return powers / powers.sum(dim=dim, keepdim=True)": "return (powers / powers.sum(dim=dim, keepdim=True)).to(kind)",
    },
)


bank.wrong(
    "the-same-number-for-all",
    "You subtract the same large number whatever the scores are: of scores near 0 all exps become 0, and 0 / 0 is nan.",
    change={"largest = x.amax(dim=dim, keepdim=True)": "largest = 1000"},
)

bank.wrong(
    "sum-not-shifted",
    "The numbers that you divide are shifted, and those in the sum below them are not. The shift cancels only if both have it.",
    change={"powers.sum(": "x.exp().sum("},
)

bank.wrong(
    "adds-the-maximum",
    "You add the maximum, which makes large numbers larger still: `exp` overflows. The sign is the wrong way round.",
    change={"x - largest": "x + largest"},
)

bank.wrong(
    "maximum-along-dim-0",
    "Your maximum is taken along dim 0, whatever `dim` is: within a slice you then subtract unequal numbers, and that "
    "changes the shares.",
    change={"x.amax(dim=dim, keepdim=True)": "x.amax(dim=0, keepdim=True)"},
)
