"""Answers to `masked_mean`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("masked_mean")


bank.wrong(
    "mean-of-zeros",
    "You put zeros in for the masked entries, then average over all of them. Divide by the number of "
    "True entries only.",
    change={".where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)": ".where(mask, x, 0.0).mean(dim)"},
    of="nanmean",
)


@bank.wrong(
    "nan-row",
    "Where no entry is True you divide 0 by 0, and get nan. Such a mean is to be 0.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) / mask.sum(dim)


@bank.wrong(
    "int-division",
    "`//` rounds every mean down to a whole number. You want the other division.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) // mask.sum(dim).clamp(min=1)


@bank.wrong(
    "nan-leaks",
    "What is left out reaches your sums: nan times 0 is nan, and so is nan minus nan. Replace what is masked out "
    "before you add up.",
)
def masked_mean(x, mask, dim):
    return (x * mask).sum(dim) / mask.sum(dim).clamp(min=1)


@bank.wrong(
    "one-count-for-all",
    "You divide every sum by the count of True in the whole mask. Each slice has a count of its own.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) / mask.sum().clamp(min=1)


@bank.wrong(
    "count-plus-one",
    "You add 1 to the count against the division by 0: now every mean is too small.",
    slip=True,
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) / (mask.sum(dim) + 1)


bank.wrong(
    "whole-tensor",
    "You return one mean for all entries. Reduce along `dim`.",
    change={"return torch.where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)": "return x[mask].mean()"},
    of="nanmean",
)


@bank.wrong(
    "keeps-dim", "Your result keeps `dim` with size 1. As with `mean`, the reduced dim is to be gone.", slip=True
)
def masked_mean(x, mask, dim):
    count = mask.sum(dim, keepdim=True).clamp(min=1)
    return torch.where(mask, x, 0.0).sum(dim, keepdim=True) / count


@bank.wrong(
    "mask-inverted",
    "You average what the mask leaves out. True marks the entries which count.",
)
def masked_mean(x, mask, dim):
    return x.masked_fill(mask, 0.0).sum(dim) / (~mask).sum(dim).clamp(min=1)


@bank.wrong("mutates-input", "You write into the caller's `x`. Work on a new tensor.")
def masked_mean(x, mask, dim):
    x[~mask] = 0.0
    return x.sum(dim) / mask.sum(dim).clamp(min=1)


bank.wrong(
    "sum-not-mean",
    "You return sums. Divide each by the number of entries it added up.",
    change={".where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)": ".where(mask, x, 0.0).sum(dim)"},
    of="nanmean",
)


@bank.wrong("mask-ignored", "You average all entries: the mask is never used.")
def masked_mean(x, mask, dim):
    return x.mean(dim)


@bank.wrong(
    "last-dim-always",
    "You reduce over the last dim whatever `dim` says: use the argument.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(-1) / mask.sum(-1).clamp(min=1)


@bank.wrong("casts-to-float32", "Your result is float32 whatever dtype comes in. Keep the dtype of what you are given.")
def masked_mean(x, mask, dim):
    kept = torch.where(mask, x, 0.0).float()
    return kept.sum(dim) / mask.sum(dim).clamp(min=1)


@bank.wrong(
    "counts-what-is-not-zero",
    "You count the numbers that are not 0. An entry that is kept may be 0: count the True entries of the mask.",
)
def masked_mean(x, mask, dim):
    kept = torch.where(mask, x, 0.0)
    return kept.sum(dim) / (kept != 0).sum(dim).clamp(min=1)


@bank.wrong("ones-in-the-gaps", "You put ones where the mask leaves out, and add them up with the rest.")
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 1.0).sum(dim) / mask.sum(dim).clamp(min=1)


@bank.wrong("largest", "You take the largest of the entries that count. Their mean is asked for.")
def masked_mean(x, mask, dim):
    return torch.where(mask, x, -torch.inf).amax(dim)


@bank.wrong(
    "thousandth-in-the-count",
    "You add 0.001 to every count against the division by 0, and each mean is a little too small. `clamp(min=1)` "
    "changes no count but that of nothing.",
    slip=True,
)
def masked_mean(x, mask, dim):
    count = mask.sum(dim=dim) + 1e-3
    return x.masked_fill(~mask, 0.0).sum(dim=dim) / count


@bank.right("weights-as-floats")
def masked_mean(x, mask, dim):
    w = mask.to(x.dtype)
    total = torch.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0) * w
    return total.sum(dim) / torch.where(w.sum(dim) == 0, torch.ones_like(w.sum(dim)), w.sum(dim))


@bank.right("masked-fill")
def masked_mean(x, mask, dim):
    count = mask.float().sum(dim=dim)
    return x.masked_fill(~mask, 0).sum(dim=dim) / torch.maximum(count, torch.ones_like(count))


@bank.right("nanmean")
def masked_mean(x, mask, dim):
    return torch.where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)


@bank.right("where-afterwards")
def masked_mean(x, mask, dim):
    total = torch.where(mask, x, torch.zeros_like(x)).sum(dim)
    count = mask.sum(dim)
    return torch.where(count > 0, total / count, 0.0)


@bank.right("tiny-in-the-count")
def masked_mean(x, mask, dim):
    kept = x.clone()
    kept[~mask] = 0
    return kept.sum(dim) / (mask.sum(dim) + 1e-8)


bank.wrong(
    "indexed-by-the-mask",
    "`x[mask]` is one long row of the entries that count: the dims are gone, and nothing tells the slices apart.",
    change={"return torch.where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)": "return x[mask].mean(dim)"},
    of="nanmean",
)


@bank.wrong(
    "fills-what-counts",
    "You put 0 where the mask is True, and add up what it leaves out. `masked_fill` fills the places that are True, and "
    "`where` takes its second argument there.",
)
def masked_mean(x, mask, dim):
    return x.masked_fill(mask, 0).sum(dim) / mask.sum(dim).clamp(min=1)


bank.wrong(
    "nan-to-0-at-the-end",
    "You put 0 for nan when the means are made: by then what is left out has spoiled them, as nan times 0 is nan. Keep it out "
    "of the sums.",
    change={"torch.where(mask, x, torch.nan).nanmean(dim)": "((x * mask).sum(dim) / mask.sum(dim))"},
    of="nanmean",
)

bank.wrong(
    "sum-at-least-1",
    "You lift every sum that is below 1 to 1. It is the count that may not be 0.",
    change={
        "torch.where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)": "torch.where(mask, x, 0.0).sum(dim).clamp(min=1) / mask.sum(dim)"
    },
    of="nanmean",
)

bank.wrong(
    "dim-1-always",
    "You reduce over dim 1 whatever `dim` says: use the argument.",
    change={"nanmean(dim)": "nanmean(1)"},
    of="nanmean",
)
