"""Answers to `master_weights`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("master_weights")


bank.wrong(
    "both-in-bfloat16",
    "The master that you return is in bfloat16 too: small steps get lost there as well. What you return is to be float32 "
    "from the first step on.",
    change={"w16.float(), grad.float()": "w16.clone(), grad"},
)

bank.wrong(
    "float32-at-the-end",
    "Your master has the numbers of `alone`, turned to float32 after they were rounded. What rounding took in each step does "
    "not come back: turn to float32 before the first step.",
    change={"w16.float(), grad.float()": "w16.clone(), grad", "return alone, master": "return alone, master.float()"},
)


bank.wrong(
    "alone-rounds-at-the-end",
    "You do not round `alone` at each step: you take its steps in float32, or all of them at once. "
    "In 16 bits, each step is rounded.",
    change={
        "alone, master, slope = w16, w16": "master, slope = w16",
        "alone = alone - lr * grad": "",
        "return alone": "return master.to(w16.dtype)",
    },
)


bank.wrong(
    "step-in-bfloat16",
    "The master's step, lr times the gradient, is worked out in bfloat16. Turn the gradient to float32 as well.",
    change={
        "master, slope = w16, w16.float(), grad.float()": "master = w16, w16.float()",
        "lr * slope": "(lr * grad).float()",
    },
)

bank.wrong(
    "master-from-alone",
    "In each step you make the master from the 16-bit weights anew: what it had kept of small steps is lost.",
    change={"master - lr * slope": "w16 - lr * slope if steps == 1 else alone.float() - lr * slope"},
)


@bank.wrong(
    "one-step",
    "You do one step, however many are asked for.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.float(), grad.float()
    return alone - lr * grad, master - lr * slope


bank.wrong(
    "one-step-short",
    "You take one step too few, as `range(1, steps)` does.",
    change={
        "master, slope = w16, w16.float(), grad": "master = w16.clone(), w16",
        "range(steps)": "range(1, steps)",
        "* slope": "* grad.float()",
    },
)


bank.wrong(
    "one-step-more",
    "You take one step too many, as `range(steps + 1)` does.",
    change={
        "master, slope = w16, w16.float(), grad": "master = w16.clone(), w16",
        "range(steps)": "range(1 + steps)",
        "* slope": "* grad.float()",
    },
)


bank.wrong(
    "uphill",
    "You add the step. Against the gradient means minus.",
    change={"alone - lr": "alone + lr", "master - lr": "master + lr"},
)

bank.wrong(
    "swapped",
    "You return the master first. The pair is (alone, master).",
    change={"return alone, master": "return master, alone"},
)

bank.wrong(
    "in-place",
    "You change w16 itself. It is to stay as it was: `w = w - ...` makes a new tensor.",
    change={"alone = alone - lr": "alone -= lr"},
)


@bank.wrong(
    "master-after",
    "Your master begins where `alone` ends. Both begin at w16, and take the same steps beside each other.",
)
def master_weights(w16, grad, lr, steps):
    alone = w16.clone()
    for _ in range(steps):
        alone -= lr * grad
    master, slope = alone.float(), grad.float()
    for _ in range(steps):
        master -= lr * slope
    return alone, master


bank.wrong(
    "back-to-16",
    "You turn the master back to 16 bits at the end. What it has kept of small steps is lost then; it stays in float32.",
    change={"return alone, master": "return alone, master.to(w16.dtype)"},
)


bank.wrong(
    "master-rounded-each-step",
    "You turn the master to 16 bits at each step: it loses what it is there to keep. It stays in float32 from "
    "the first step to the last.",
    change={
        "alone, master, slope = w16, w16.float(), grad.float()": "alone = w16.clone()\nmaster = w16.float()",
        "master - lr * slope": "(master - lr * grad.float()).bfloat16().float()",
    },
)


@bank.right("folded")
def master_weights(w16, grad, lr, steps):
    from functools import reduce

    g32 = grad.to(torch.float32)
    alone = reduce(lambda w, _: w - lr * grad, range(steps), w16)
    master = reduce(lambda w, _: torch.sub(w, torch.mul(g32, lr)), range(steps), w16.type(torch.float32))
    return (alone, master)


@bank.right("in-place-on-copies")
def master_weights(w16, grad, lr, steps):
    alone, master = w16.clone(), w16.to(torch.float32, copy=True)
    for _ in range(steps):
        alone -= lr * grad
        master -= lr * grad.float()
    return alone, master


@bank.right("two-optimizers")
def master_weights(w16, grad, lr, steps):
    alone = nn.Parameter(w16.clone())
    master = nn.Parameter(w16.detach().float().clone())
    optimizer = torch.optim.SGD([alone, master], lr=lr, foreach=False)
    alone.grad, master.grad = grad.clone(), grad.float()
    for _ in range(steps):
        optimizer.step()
    return alone.detach(), master.detach()


@bank.right("one-loop-for-each")
def master_weights(w16, grad, lr, steps):
    def end(w, g):
        for _ in range(steps):
            w = torch.sub(w, torch.mul(g, lr))
        return w

    return tuple(end(w16.to(dtype), grad.to(dtype)) for dtype in (torch.bfloat16, torch.float32))


@bank.right("rounded-once-a-step")
def master_weights(w16, grad, lr, steps):
    alone, master = w16, w16.float()
    for _ in range(steps):
        alone = (alone.float() - lr * grad.float()).to(torch.bfloat16)
        master = master - lr * grad.float()
    return alone, master


bank.survives(
    {
        "master - lr * slope -> master.sub_(lr * slope)": "The float32 copy of bfloat16 weights is the answer's own.",
        "lr * grad -> grad * lr": "Numbers multiply in any order.",
        "lr * slope -> slope * lr": "Numbers multiply in any order.",
    }
)
