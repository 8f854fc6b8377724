"""Answers to `accumulate`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("accumulate")


bank.wrong(
    "mean-of-means",
    "Each batch weighs the same in your mean, one of a single row as much as a large one. Count rows.",
    change={
        "sum(len(batch) for batch in batches)": "len(batches)",
        "loss_fn(batch) * len(batch) / total": "loss_fn(batch) / total",
    },
)

bank.wrong(
    "no-scale",
    "You add up the gradients of the mean losses as they are: with more batches, the result grows. Scale each loss.",
    change={
        "total = sum(len(batch) for batch in batches)": "",
        "loss_fn(batch) * len(batch) / total": "loss_fn(batch)",
    },
)

bank.wrong(
    "sum-over-rows",
    "You turn each mean loss into a sum over rows, and never divide by the number of all rows.",
    change={
        "total = sum(len(batch) for batch in batches)": "",
        "loss_fn(batch) * len(batch) / total": "loss_fn(batch) * len(batch)",
    },
)

bank.wrong(
    "zero-each",
    "Of several batches only the last one counts, as where the gradients are cleared before each. Clear once, "
    "then let them add up.",
    change={
        "for p in params:\n    p.grad = None\nfor batch in batches:": "for batch in batches:\n    for p in params:\n        p.grad = None"
    },
)

bank.wrong(
    "never-zero",
    "You never clear .grad: what stood there before your first backward counts too.",
    also=("adds-to-the-old-grad",),
    unless=r"zero_grad|\.grad = None|zero_\(",
    change={"for p in params:\n    p.grad = None": ""},
)

bank.wrong(
    "zeroes-what-it-returns",
    "You return the tensors in .grad and then fill them with zeros: both names stand for the same memory.",
    change={
        "return [p.grad for p in params]": "grads = [p.grad for p in params]\nfor p in params:\n    p.grad.zero_()\nreturn grads"
    },
)


@bank.wrong(
    "one-big-batch",
    "You glue all batches together and call `loss_fn` once. The point is that they need not fit into memory at once.",
)
def accumulate(loss_fn, batches, params):
    for p in params:
        p.grad = None
    loss_fn(torch.cat(batches)).backward()
    return [p.grad for p in params]


bank.wrong(
    "grad-not-filled",
    "You return gradients, but .grad of the parameters does not hold them: `torch.autograd.grad` stores nothing.",
    change={"for p, total in zip(params, totals):\n    p.grad = total": ""},
    of="grad-fn",
)

bank.wrong(
    "first-batch-counts",
    "You divide by the rows of the first batch times the number of batches. The others have other sizes.",
    change={"sum(len(batch) for batch in batches)": "len(batches[0]) * len(batches)"},
)

bank.wrong(
    "rows-of-all-alone",
    "You divide each mean loss by the number of all rows. A mean over rows must first be multiplied by its rows.",
    change={"loss_fn(batch) * len(batch) / total": "loss_fn(batch) / total"},
)

bank.wrong(
    "divides-the-list-alone",
    "You divide what you return, and .grad still holds the sum over all rows.",
    change={
        "loss_fn(batch) * len(batch) / total": "loss_fn(batch) * len(batch)",
        "[p.grad for p in params]": "[p.grad / total for p in params]",
    },
)

bank.wrong(
    "returns-the-losses",
    "You return the losses. The gradients, one per parameter, are asked for.",
    change={
        "for batch in batches:": "losses = []\nfor batch in batches:",
        "loss.backward()": "loss.backward()\nlosses.append(loss)",
        "[p.grad for p in params]": "losses",
    },
)

bank.wrong(
    "adds-to-the-old-grad",
    "You add to what was in .grad before, so that it still counts there. .grad is to hold the gradient of these batches alone.",
    change={"p.grad = g": "p.grad = g if p.grad is None else p.grad + g"},
    of="one-backward-at-the-end",
)


@bank.right("a-tuple-of-them")
def accumulate(loss_fn, batches, params):
    total = sum(len(batch) for batch in batches)
    for p in params:
        p.grad = None
    for batch in batches:
        (loss_fn(batch) * len(batch) / total).backward()
    return tuple(p.grad for p in params)


@bank.right("grad-fn")
def accumulate(loss_fn, batches, params):
    n = sum(b.shape[0] for b in batches)
    totals = [torch.zeros_like(p) for p in params]
    for b in batches:
        for total, g in zip(totals, torch.autograd.grad(loss_fn(b), params)):
            total += g * (b.shape[0] / n)
    for p, total in zip(params, totals):
        p.grad = total
    return totals


@bank.right("one-backward-at-the-end")
def accumulate(loss_fn, batches, params):
    rows = [batch.shape[0] for batch in batches]
    loss = sum(n * loss_fn(batch) for n, batch in zip(rows, batches)) / sum(rows)
    grads = torch.autograd.grad(loss, params)
    for p, g in zip(params, grads):
        p.grad = g
    return list(grads)


@bank.right("zero-and-scale-afterwards")
def accumulate(loss_fn, batches, params):
    for p in params:
        if p.grad is not None:
            p.grad.zero_()
    rows = 0
    for batch in batches:
        rows += len(batch)
        (len(batch) * loss_fn(batch)).backward()
    for p in params:
        p.grad /= rows
    return [p.grad.clone() for p in params]


@bank.right("gradient-argument")
def accumulate(loss_fn, batches, params):
    total = sum(batch.numel() for batch in batches)
    for p in params:
        p.grad = torch.zeros_like(p)
    for batch in batches:
        loss = loss_fn(batch)
        loss.backward(torch.full_like(loss, batch.numel() / total))
    return [p.grad for p in params]


bank.wrong(
    "divides-each-by-its-rows",
    "You divide each loss by its own rows. It is a mean over them already: its share is its rows of all rows.",
    change={
        "total = sum(len(batch) for batch in batches)": "",
        "loss_fn(batch) * len(batch) / total": "loss_fn(batch) / len(batch)",
    },
)

bank.wrong(
    "zeroes-what-is-none",
    "A .grad may be None, as before the first backward, and None has no `zero_`. Set .grad to None to clear it.",
    change={"p.grad = None": "p.grad.zero_()"},
)


bank.survives(
    {
        "loss_fn(batch) * len(batch) -> len(batch) * loss_fn(batch)": "Numbers multiply in any order.",
    }
)


bank.wrong(
    "takes-a-step",
    "You move the parameters, as a step of training does. They are to stay where they are: only gradients are asked for.",
    change={
        "return [p.grad for p in params]": "with torch.no_grad():\n    for p in params:\n        p -= 0.1 * p.grad\nreturn [p.grad for p in params]"
    },
)

bank.wrong(
    "running-total",
    "You call backward on the sum so far, in each round: the earlier batches count again each time.",
    change={
        "for batch in batches:\n    loss = loss_fn(batch)": "loss = 0\nfor batch in batches:\n    loss = loss + loss_fn(batch)",
        "loss.backward()": "loss.backward(retain_graph=True)",
    },
)

bank.wrong(
    "scales-what-is-there",
    "You multiply .grad by the share of a batch after each backward. What the earlier batches have left there is multiplied "
    "again each time.",
    change={
        "loss_fn(batch) * len(batch) / total": "loss_fn(batch)",
        "loss.backward()": "loss.backward()\nfor p in params:\n    p.grad *= len(batch) / total",
    },
)

bank.wrong(
    "share-upside-down",
    "Your weights are upside down: they divide all rows by those of the batch, and a small batch counts more than a large one.",
    change={"len(batch) / total": "total / len(batch)"},
)
