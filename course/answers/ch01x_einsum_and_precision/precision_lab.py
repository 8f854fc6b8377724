"""Answers to `precision_lab`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("precision_lab")


@bank.wrong(
    "float16-for-bfloat16",
    "You say that some steps move 1 which bfloat16 loses: it spends its bits on range, and has fewer left for digits "
    "than float16 or float32.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.float16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "python-floats",
    "You computed with more than 16 bits: Python's own floats, for one, have 64. The question is what is left in 16.",
    also=("bfloat16-for-float16", "counts-exactly", "every-step-moves"),
)
def precision_lab(step, tiny, count, n):
    return {"moves": 1 + step != 1, "survives": tiny != 0, "counted": float(count), "averaged": n * n}


@bank.wrong(
    "eps-is-the-limit",
    "You say that a step below `eps` is lost. The result is rounded to the nearest number: from where "
    "on is the next one nearer than 1?",
)
def precision_lab(step, tiny, count, n):
    return {
        "moves": step >= torch.finfo(torch.bfloat16).eps,
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "no-subnormals",
    "You say that all below the smallest normal number is 0. Below it come the subnormal numbers, with "
    "fewer digits: float16 has them.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": tiny >= torch.finfo(torch.float16).tiny,
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "bfloat16-for-float16",
    "You say that numbers survive which float16 turns to 0. bfloat16 and float32 reach further down; in float16 the "
    "exponent is shorter.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.bfloat16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "sum-at-once",
    "You round once, at the end. Add 1 to a bfloat16 number again and again.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": torch.ones(count, dtype=torch.bfloat16).sum().item(),
        "averaged": n * n,
    }


@bank.wrong(
    "counts-exactly",
    "You say that counting is exact. In bfloat16 there comes a number from which adding 1 no longer moves.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(count),
        "averaged": n * n,
    }


bank.wrong(
    "counts-in-float16",
    "You counted in float16, which gets to 2048. bfloat16 has three bits less for its digits, and stops earlier.",
    change={
        ".tensor(1.0, dtype=torch.bfloat16)": ".ones((), dtype=torch.bfloat16)",
        ".tensor(0.0, dtype=torch.bfloat16)": ".zeros((), dtype=torch.float16)",
        "(torch.zeros(n) - torch.zeros(n, 1)).numel()": "n * n",
    },
)


@bank.wrong(
    "averages-n",
    "You say that the loss averages n numbers. (n,) against (n, 1) broadcasts: each prediction meets each target.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n,
    }


@bank.wrong(
    "tensors-not-numbers",
    "Your entries are tensors. Python's bool, float and int are asked for: `.item()` takes a number out of a tensor.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    total = torch.zeros((), dtype=torch.bfloat16)
    for _ in range(count):
        total = total + 1
    return {
        "moves": one + step != one,
        "survives": torch.tensor(tiny, dtype=torch.float16) != 0,
        "counted": total,
        "averaged": torch.tensor(n * n),
    }


@bank.right("by-rule")
def precision_lab(step, tiny, count, n):
    return {
        "moves": step > 2**-8,
        "survives": tiny > 2**-25,
        "counted": min(float(count), 256.0),
        "averaged": n**2,
    }


@bank.right("by-experiment")
def precision_lab(step, tiny, count, n):
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    total = torch.tensor(0.0).bfloat16()
    for _ in range(count):
        total += 1
    return {
        "moves": (one + torch.tensor(step, dtype=torch.bfloat16)).item() != 1,
        "survives": torch.tensor([tiny]).half().item() != 0,
        "counted": total.item(),
        "averaged": (torch.zeros(n) - torch.zeros(n, 1)).numel(),
    }


@bank.right("stop-when-nothing-moves")
def precision_lab(step, tiny, count, n):
    total = torch.zeros(1, dtype=torch.bfloat16)
    while total < count and total + 1 != total:
        total = total + 1
    return {
        "moves": bool(torch.tensor(1 + step).to(torch.bfloat16) > 1),
        "survives": bool(torch.tensor(tiny).to(torch.float16)),
        "counted": int(total),
        "averaged": math.prod(torch.broadcast_shapes((n,), (n, 1))),
    }


@bank.wrong(
    "survives-beside-1",
    "Of a number that float16 loses beside 1 you say that it becomes 0. By itself it need not: near 0 the numbers of "
    "float16 lie much closer together.",
    also=("no-subnormals",),
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(1 + tiny, dtype=torch.float16) != 1),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


bank.told(
    "moves-upside-down",
    "returned:values",
    change={"step > 2**-8": "step < 2**-8"},
    of="by-rule",
)

bank.told(
    "survives-upside-down",
    "returned:values",
    change={"tiny > 2**-25": "tiny < 2**-25"},
    of="by-rule",
)

bank.wrong(
    "every-step-moves",
    "You say that every step above 0 moves 1. A step that 16 bits hold by itself can still be lost in 1 + step, which is "
    "rounded to bfloat16.",
    also=("float16-for-bfloat16",),
    change={"step > 2**-8": "bool(torch.tensor(step, dtype=torch.bfloat16) != 0)"},
    of="by-rule",
)

bank.wrong(
    "averages-two-n",
    "You say that the loss averages 2 * n numbers. Where (n,) meets (n, 1), the sizes are not added up: each prediction "
    "meets each target.",
    change={"n**2": "n + n"},
    of="by-rule",
)


bank.survives(
    {
        "total + 1 -> 1 + total": "Addition does not mind the order.",
        "total + 1 -> total.add_(1)": "The sum is a tensor of the answer's own; in place it is rounded as well.",
        "one + step != one -> one + step > one": "Steps are never negative, so what differs from 1 is larger.",
        "torch.tensor(tiny, dtype=torch.float16) != 0 -> torch.tensor(tiny, dtype=torch.float16) > 0": "The tiny numbers are never negative, so what is not 0 is larger.",
        "one + step -> step + one": "Addition does not mind the order.",
        "torch.zeros(n) - torch.zeros(n, 1) -> torch.zeros(n) + torch.zeros(n, 1)": "Only the shape is used, and every operator broadcasts alike.",
        "torch.zeros(n) - torch.zeros(n, 1) -> torch.zeros(n) * torch.zeros(n, 1)": "Only the shape is used, and every operator broadcasts alike.",
        "torch.zeros(n) - torch.zeros(n, 1) -> torch.zeros(n, 1) - torch.zeros(n)": "Only the shape is used, and it does not mind the order.",
        "torch.zeros -> torch.ones": "Only the shape is used, not the numbers.",
        "torch.zeros -> torch.ones (2)": "Only the shape is used, not the numbers.",
    }
)
