"""Answers to `lr_at`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("lr_at")

bank.wrong(
    "floor-in-the-warm-up",
    "In the warm-up you let no rate fall below min_lr. There it is base_lr * (step + 1) / warmup_steps, however small.",
    slip=True,
    change={
        "return base_lr * (step + 1) / warmup_steps": "return max(min_lr, base_lr * (step + 1) / warmup_steps)",
    },
)

bank.wrong(
    "rounds-the-rate",
    "You round the rate, and a small one loses its digits. Return it as it is.",
    slip=True,
    change={
        "return base_lr * (step + 1) / warmup_steps": "return round(base_lr * (step + 1) / warmup_steps, 6)",
    },
)

bank.wrong(
    "pi-of-three-digits",
    "You write 3.14 for pi, and the rates come out a little beside. `math.pi` has all its digits.",
    slip=True,
    change={"math.pi": "3.14"},
)

bank.wrong(
    "forgets-min-lr",
    "Your cosine goes down to 0. It should end at min_lr.",
    change={"min_lr + (base_lr - min_lr)": "base_lr"},
)

bank.wrong(
    "adds-min-lr",
    "You add min_lr on top of the whole base_lr: after the warm-up the rate is above base_lr.",
    change={"(base_lr - min_lr)": "base_lr"},
)

bank.wrong(
    "quadratic",
    "You come down along a parabola. Half a cosine is asked for: slow at both ends.",
    change={"(1 + math.cos(math.pi * t)) / 2": "(1 - t) ** 2"},
)

bank.wrong(
    "straight-down",
    "You come down along a straight line. Half a cosine is asked for.",
    change={"(1 + math.cos(math.pi * t)) / 2": "(1 - t)"},
)

bank.wrong(
    "off-by-one",
    "Your warm-up begins with a rate of 0: the first step is lost, and the last one falls short of base_lr.",
    change={"(step + 1)": "step"},
)

bank.wrong(
    "t-from-the-start",
    "Your t counts from step 0. The cosine begins after the warm-up, so the rate jumps there.",
    change={"min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))": "min(1.0, step / total_steps)"},
)

bank.wrong(
    "t-over-all-steps",
    "You divide by all steps, those of the warm-up included: at the end t is not 1 yet.",
    also=("t-over-all-steps-then-cut",),
    change={
        "min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))": "min(1.0, (step - warmup_steps) / total_steps)"
    },
)

bank.wrong(
    "t-over-all-steps-then-cut",
    "You divide by all steps, those of the warm-up included: right before the end your rate is still far above min_lr.",
    change={"(total_steps - warmup_steps)": "total_steps"},
    of="three-cases",
)

bank.wrong(
    "up-again",
    "Beyond the last step your cosine goes up again. From there on the rate is min_lr.",
    change={
        "min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))": "(step - warmup_steps) / (total_steps - warmup_steps)"
    },
)

bank.wrong(
    "degrees",
    "You give the cosine degrees. It counts in radians: half a turn is pi.",
    change={"math.pi": "180"},
)

bank.wrong(
    "whole-cosine",
    "You go through a whole turn of the cosine: the rate comes back up. Half a turn ends at the bottom.",
    change={"math.pi": "2 * math.pi"},
)

bank.wrong(
    "one-step-of-warm-up-too-many",
    "At step = warmup_steps you are still warming up, and go above base_lr.",
    change={"< warmup_steps": "<= warmup_steps and warmup_steps"},
)

bank.wrong(
    "warms-up-from-min-lr",
    "Your warm-up climbs from min_lr to base_lr. It goes up in equal parts of base_lr; min_lr is for the end.",
    change={"return base_lr": "return min_lr + (base_lr - min_lr)"},
)

bank.wrong(
    "down-one-step-early",
    "Your t is 1 one step too early. It gets there at step = total_steps, not at the step before.",
    slip=True,
    change={"total_steps - warmup_steps": "total_steps - 1 - warmup_steps"},
)

bank.told("divides-by-no-warm-up", "divides_by_0", change={"max(1, warmup_steps)": "warmup_steps"}, of="all-with-torch")

bank.wrong(
    "cut-off-at-min-lr",
    "You let the cosine go down to 0 and cut it off at min_lr. It comes down to min_lr itself: what it spans "
    "is base_lr - min_lr.",
    change={
        "min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2": "max(min_lr, base_lr * (1 + math.cos(math.pi * t)) / 2)"
    },
)

bank.wrong(
    "quarter-of-a-cosine",
    "You follow a quarter of a cosine, which ends steeply. Half a cosine, raised by 1 and halved, is flat at "
    "both ends.",
    change={"(1 + math.cos(math.pi * t)) / 2": "math.cos(math.pi * t / 2)"},
)

bank.wrong(
    "zero-at-the-end",
    "From total_steps on your rate is 0. It ends at min_lr, and stays there.",
    change={"float(min_lr)": "0.0"},
    of="three-cases",
)


@bank.right("all-with-torch")
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    up = (step + 1) / max(1, warmup_steps)
    t = torch.tensor((step - warmup_steps) / (total_steps - warmup_steps), dtype=torch.float64).clamp(0, 1)
    down = min_lr + (base_lr - min_lr) * 0.5 * (1 + torch.cos(torch.pi * t)).item()
    return base_lr * up if step < warmup_steps else down


@bank.right("three-cases")
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step >= total_steps:
        return float(min_lr)
    if step >= warmup_steps:
        angle = math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
        return (base_lr + min_lr) / 2 + (base_lr - min_lr) / 2 * math.cos(angle)
    return base_lr / warmup_steps * (step + 1)


@bank.right("cosine-of-half-the-angle")
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    left = max(0, total_steps - max(step, warmup_steps)) / (total_steps - warmup_steps)
    share = math.sin(math.pi / 2 * left) ** 2
    rate = share * base_lr + (1 - share) * min_lr
    return rate if step >= warmup_steps else rate * (step + 1) / warmup_steps


bank.survives(
    {
        "min(1.0, (step - warmup_steps) / (total_steps - warmup_steps)) -> min((step - warmup_steps) / (total_steps - warmup_steps), 1.0)": "The smaller of two numbers does not depend on their order.",
        "min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2 -> (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2 + min_lr": "Addition does not mind the order.",
        "base_lr * (step + 1) -> (step + 1) * base_lr": "Numbers multiply in any order.",
        "(base_lr - min_lr) * (1 + math.cos(math.pi * t)) -> (1 + math.cos(math.pi * t)) * (base_lr - min_lr)": "Numbers multiply in any order.",
        "step + 1 -> 1 + step": "Addition does not mind the order.",
        "1 + math.cos(math.pi * t) -> math.cos(math.pi * t) + 1": "Addition does not mind the order.",
        "math.pi * t -> t * math.pi": "Numbers multiply in any order.",
    }
)


bank.wrong(
    "cosine-upside-down",
    "Your cosine goes up: 1 - cos begins at 0. It comes down from base_lr with 1 + cos.",
    change={"+ (base_lr - min_lr) / 2 * math.cos(angle)": "- (base_lr - min_lr) / 2 * math.cos(angle)"},
    of="three-cases",
)

bank.wrong(
    "half-forgotten",
    "You do not halve 1 + cos, which begins at 2: the rate starts twice too far above min_lr.",
    change={"(1 + math.cos(math.pi * t)) / 2": "(1 + math.cos(math.pi * t))"},
)

bank.wrong(
    "pi-missing",
    "Your cosine ends at cos(1), which is about 0.54. It goes on to cos(pi), which is -1.",
    change={"math.pi * (step - warmup_steps)": "(step - warmup_steps)"},
    of="three-cases",
)
