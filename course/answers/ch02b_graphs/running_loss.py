"""Answers to `running_loss`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("running_loss")


bank.wrong(
    "keeps-graph",
    "You keep tensors, in a sum or in a list. Each remembers how it was made, and so keeps the graph of its loss.",
    change={"total += loss.item()": "total = total + loss", "total / count": "(total / count).item()"},
)

bank.wrong(
    "returns-a-tracked-mean",
    "You return a tensor that drags the graphs of all losses along. A plain float is asked for.",
    also=("keeps-graph",),
    change={"total += loss.item()": "total = total + loss"},
)

bank.wrong(
    "item-before-backward",
    "You call backward on a plain number, as `item()` gives one. It has no graph: backward belongs to the tensor.",
    change={"loss.backward()": "loss = loss.item()\nloss.backward()", "loss.item()": "loss"},
)

bank.wrong(
    "returns-a-tensor",
    "What you return is a tensor. Make it a Python float.",
    change={"loss.item()": "loss.detach()"},
)


@bank.wrong(
    "no-backward",
    "You never call backward: no gradient arrives at the parameters.",
    unless=r"\.backward\(",
)
def running_loss(losses):
    values = [loss.item() for loss in losses]
    return sum(values) / len(values)


bank.wrong(
    "backward-of-the-last",
    "You call backward on the last loss alone: what the others bring never arrives at the parameters.",
    change={"loss.backward()": "", "return total / count": "loss.backward()\nreturn total / count"},
)

bank.wrong(
    "sum-not-mean",
    "You return the sum of the losses. Divide by their number.",
    slip=True,
    change={"total, count = 0.0, 0": "total = 0.0", "count += 1": "", "total / count": "total"},
)

bank.wrong(
    "len-of-a-generator",
    "You ask for the length of the losses. A generator has none: count while you go.",
    change={"total, count = 0.0, 0": "total = 0.0", "count += 1": "", "/ count": "/ len(losses)"},
)


@bank.wrong(
    "list-first",
    "You take all losses, into a list or a sum, before the first backward: every graph is in memory at the same time.",
    also=("keeps-graph",),
)
def running_loss(losses):
    losses = list(losses)
    for loss in losses:
        loss.backward()
    return sum(loss.item() for loss in losses) / len(losses)


@bank.wrong(
    "one-backward-for-all",
    "You put all losses together and call backward once, at the end: until then all graphs wait in memory.",
)
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        total = total + loss
        count += 1
    (total / count).backward()
    return (total / count).item()


@bank.wrong(
    "last-loss-only",
    "You return the last loss. The mean of all of them is asked for.",
)
def running_loss(losses):
    for loss in losses:
        loss.backward()
    return loss.item()


@bank.wrong("smoothed", "You smooth: each new loss counts a tenth. The plain mean is asked for.")
def running_loss(losses):
    total = None
    for loss in losses:
        loss.backward()
        total = loss.item() if total is None else 0.9 * total + 0.1 * loss.item()
    return total


bank.wrong(
    "divides-by-one-more", "You divide by one more than there are losses.", slip=True, change={"0.0, 0": "0.0, 1"}
)


@bank.right("retains-the-graph")
def running_loss(losses):
    total, count = 0.0, 0
    for loss in losses:
        loss.backward(retain_graph=True)
        total += loss.item()
        count += 1
    return total / count


@bank.right("list-of-numbers")
def running_loss(losses):
    values = []
    for loss in losses:
        loss.backward()
        values.append(loss.item())
    return sum(values) / len(values)


@bank.right("detached-sum")
def running_loss(losses):
    total = torch.zeros((), dtype=torch.float64)
    for count, loss in enumerate(losses, start=1):
        loss.backward()
        total += loss.detach()
    return float(total / count)


@bank.right("mean-that-moves")
def running_loss(losses):
    mean = 0.0
    for index, loss in enumerate(losses):
        value = float(loss.detach())
        loss.backward()
        mean += (value - mean) / (index + 1)
    return mean


@bank.wrong(
    "fading-average", "Your average forgets: a loss counts less, the longer ago it came. In a mean all count alike."
)
def running_loss(losses):
    mean = 0.0
    for loss in losses:
        loss.backward()
        mean = 0.9 * mean + 0.1 * loss.item()
    return mean


bank.wrong(
    "mean-of-two",
    "You take the mean of what you have and the new loss: the last one then counts half. In a mean all count alike.",
    change={
        "values = []": "mean = 0.0",
        "values.append(loss.item())": "mean = (mean + loss.item()) / 2",
        "sum(values) / len(values)": "mean",
    },
    of="list-of-numbers",
)


@bank.wrong(
    "divides-by-the-last-index",
    "You divide by one less than there are losses, as by the last number of `enumerate`, which counts from 0.",
)
def running_loss(losses):
    total = 0.0
    for index, loss in enumerate(losses):
        loss.backward()
        total += loss.item()
    return total / index


bank.survives(
    {
        "(0.0, 0) -> (0, 0.0)": "Both become a float on the way, and the quotient is one in any case.",
    }
)


bank.wrong(
    "mean-with-the-one-before",
    "You halve what you have with each new loss: the last one then counts half of all. In a mean all count alike.",
    change={
        "values = []": "mean = None",
        "values.append(loss.item())": "mean = loss.item() if mean is None else (mean + loss.item()) / 2",
        "sum(values) / len(values)": "mean",
    },
    of="list-of-numbers",
)


bank.told("rounded", "rounded", change={"total / count": "round(total / count, 4)"})
