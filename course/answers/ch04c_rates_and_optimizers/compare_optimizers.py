"""Answers to `compare_optimizers`: wrong ones that learners really give, and right ones that must pass."""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("compare_optimizers")

bank.wrong(
    "looks-after-the-step",
    "You take a step before you look at the loss. Where the first weights are below the goal already, the count is 0.",
    change={"if loss.item() < goal:": "if taken and loss.item() < goal:"},
)

bank.wrong(
    "different-init",
    "Adam begins at other first weights than SGD. You compare the weights' luck along with the optimizers.",
    change={"model, x, y = start(seed)": 'model, x, y = start(seed if name == "sgd" else seed + 1)'},
)

bank.wrong(
    "goes-on-from-sgd",
    "You divide by 0, as where no step of Adam is counted: nothing comes into its list, its loop ends at once, or it goes on "
    "with the model that SGD has trained, and finds the work done.",
    change={"for seed in seeds:": "for seed in seeds:\n    model, x, y = start(seed)", "model, x, y = start(seed)": ""},
)

bank.wrong(
    "one-seed",
    "You measure the first seed alone. One run is no evidence: the others may say something else.",
    change={"for seed in seeds:": "for seed in seeds[:1]:"},
)

bank.wrong(
    "same-seed-again",
    "You count the first seed again and again. Each of the seeds gives first weights of its own.",
    change={"model, x, y = start(seed)": "model, x, y = start(seeds[0])"},
)

bank.wrong(
    "ratio-upside-down",
    "Your ratio is Adam's steps by SGD's. The other way round is asked for.",
    change={'sum(counts["sgd"]) / sum(counts["adam"])': 'sum(counts["adam"]) / sum(counts["sgd"])'},
)

bank.wrong(
    "mean-of-ratios",
    "You average the ratios of the seeds. A seed with few steps then counts as much as one with many.",
    change={
        'sum(counts["sgd"]) / sum(counts["adam"])': 'sum(s / a for s, a in zip(counts["sgd"], counts["adam"])) / len(seeds)'
    },
)

bank.wrong(
    "counts-one-more",
    "Your counts are one too large. When the loss is first below the goal, only the steps before that look have been taken.",
    slip=True,
    change={"break": "taken += 1\nbreak"},
)

bank.wrong(
    "one-rate-for-both",
    "Adam trains at the rate that was meant for SGD. Each has a rate of its own.",
    change={"torch.optim.Adam, adam_lr": "torch.optim.Adam, sgd_lr"},
)

bank.wrong(
    "none-for-the-limit",
    "Where the goal is not reached you drop the seed from the list. Put the limit there.",
    change={
        "counts[name].append(taken)": "if taken < limit:\n    counts[name].append(taken)",
        'sum(counts["adam"])': 'max(1, sum(counts["adam"]))',
    },
)

bank.wrong(
    "ignores-limit",
    "Your training goes on beyond `limit`, to the goal or to a number of its own. After `limit` steps the count is `limit`.",
    change={"taken < limit": "taken < 1000"},
)

bank.wrong(
    "limit-minus-one",
    "Where the goal is not reached you give the last number of your loop, which is one less than the steps taken.",
    change={"taken = 0\nwhile taken < limit:": "for taken in range(limit):", "taken += 1": ""},
)

bank.wrong(
    "seeded-once",
    "You seed once for each seed and make two models: the second one begins at other first weights. Seed again before you make it.",
    change={"torch.manual_seed(seed)": "", "for seed in seeds:": "for seed in seeds:\n    torch.manual_seed(seed)"},
)

bank.wrong(
    "none-where-not-reached",
    "Where the goal is not reached you count None. Put the limit there.",
    change={
        "counts[name].append(taken)": "counts[name].append(taken if taken < limit else None)",
        'sum(counts["sgd"]) / sum(counts["adam"])': 'sum(n or 0 for n in counts["sgd"]) / max(1, sum(n or 0 for n in counts["adam"]))',
    },
)

bank.wrong(
    "rates-of-its-own",
    "You train at 0.1 and 0.001 whatever the caller says. Use sgd_lr and adam_lr.",
    slip=True,
    change={"torch.optim.SGD, sgd_lr": "torch.optim.SGD, 0.1", "torch.optim.Adam, adam_lr": "torch.optim.Adam, 0.001"},
)

bank.wrong(
    "rates-swapped",
    "SGD trains at the rate of Adam, and Adam at that of SGD.",
    change={
        "torch.optim.SGD, sgd_lr": "torch.optim.SGD, adam_lr",
        "torch.optim.Adam, adam_lr": "torch.optim.Adam, sgd_lr",
    },
)

bank.wrong(
    "places-as-seeds",
    "You seed with 0, 1, 2 and so on. The seeds are those that you are given.",
    change={"for seed in seeds:": "for seed in range(len(seeds)):"},
)

bank.wrong(
    "root-of-the-loss",
    "You hold the root of the loss against the goal. The loss itself is to come below it.",
    slip=True,
    change={"loss.item()": "loss.sqrt().item()"},
)

bank.wrong(
    "one-round-too-few",
    "You look at the loss one time too few: a goal that is reached one step before the limit counts as never reached.",
    change={
        "while taken < limit:": "while taken < limit - 1:",
        "counts[name].append(taken)": "else:\n    taken = limit\ncounts[name].append(taken)",
    },
)

bank.wrong(
    "adam-starts-where-sgd-ended",
    "Adam goes on with the weights that SGD has trained. Both begin at the same first weights: call `start` again.",
    change={
        "for seed in seeds:": "for seed in seeds:\n    model, x, y = start(seed)",
        "model, x, y = start(seed)": "",
        'sum(counts["adam"])': 'max(1, sum(counts["adam"]))',
    },
)


@bank.right("while-it-is-not-reached")
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(seed, kind, rate):
        model, x, y = start(seed)
        optimizer = kind(model.parameters(), lr=rate)
        taken = 0
        while taken < limit and not (loss := (model(x) - y).square().mean()) < goal:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            taken += 1
        return taken

    sgd = [count(seed, torch.optim.SGD, sgd_lr) for seed in seeds]
    adam = [count(seed, torch.optim.Adam, adam_lr) for seed in seeds]
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.right("losses-first")
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def steps_to_goal(seed, make):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64)[:, None]
        optimizer = make(model.parameters())
        losses = []
        while len(losses) < limit and (not losses or losses[-1] >= goal):
            loss = ((model(x) - torch.sin(x)) ** 2).mean()
            losses.append(loss.item())
            model.zero_grad()
            loss.backward()
            optimizer.step()
        return next((i for i, value in enumerate(losses) if value < goal), limit)

    sgd = [steps_to_goal(s, lambda params: torch.optim.SGD(params, lr=sgd_lr)) for s in seeds]
    adam = [steps_to_goal(s, lambda params: torch.optim.Adam(params, lr=adam_lr)) for s in seeds]
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.right("one-model-copied")
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    totals = {"sgd": [], "adam": []}
    for seed in seeds:
        first, x, y = start(seed)
        second = copy.deepcopy(first)
        runs = {
            "sgd": (first, torch.optim.SGD(first.parameters(), lr=sgd_lr)),
            "adam": (second, torch.optim.Adam(second.parameters(), lr=adam_lr)),
        }
        for name, (model, optimizer) in runs.items():
            steps = 0
            while steps < limit:
                loss = F.mse_loss(model(x), y)
                if loss < goal:
                    break
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                steps += 1
            totals[name].append(steps)
    totals["ratio"] = sum(totals["sgd"]) / sum(totals["adam"])
    return totals


@bank.right("weights-put-back")
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def count(model, x, optimizer, steps=0):
        loss = F.mse_loss(model(x), torch.sin(x))
        while not loss.item() < goal and steps < limit:
            grads = torch.autograd.grad(loss, list(model.parameters()))
            for p, g in zip(model.parameters(), grads):
                p.grad = g
            optimizer.step()
            steps, loss = steps + 1, F.mse_loss(model(x), torch.sin(x))
        return steps

    x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
    rows = []
    for seed in seeds:
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        weights = copy.deepcopy(model.state_dict())
        one = count(model, x, torch.optim.SGD(model.parameters(), lr=sgd_lr))
        model.load_state_dict(weights)
        rows.append((one, count(model, x, torch.optim.Adam(model.parameters(), lr=adam_lr))))
    sgd, adam = map(list, zip(*rows))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


bank.wrong(
    "never-clears",
    "Your rounds do not clear .grad: each step goes along the sum of all gradients so far, and no count is that of SGD or "
    "Adam.",
    unless=r"(?s)(while|range\().*zero_grad\(|\.grad = None",
    change={"optimizer.zero_grad()": ""},
)


@bank.wrong(
    "optimizers-for-all-seeds",
    "Your optimizers go on from seed to seed: Adam's averages still remember the seed before. Make new ones for each.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def weights_of(seed):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double().state_dict()

    x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
    model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
    sgd, adam = torch.optim.SGD(model.parameters(), lr=sgd_lr), torch.optim.Adam(model.parameters(), lr=adam_lr)
    counts = {sgd: [], adam: []}
    for seed in seeds:
        for optimizer in (sgd, adam):
            model.load_state_dict(weights_of(seed))
            taken = 0
            while taken < limit:
                loss = F.mse_loss(model(x), torch.sin(x))
                if loss.item() < goal:
                    break
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                taken += 1
            counts[optimizer].append(taken)
    return {"sgd": counts[sgd], "adam": counts[adam], "ratio": sum(counts[sgd]) / sum(counts[adam])}


bank.wrong(
    "ratio-of-those-that-arrived",
    "Your ratio leaves out the seeds for which the goal was not reached. Their steps, up to the limit, count too.",
    change={
        'sum(counts["sgd"])': 'sum(s for s, a in zip(counts["sgd"], counts["adam"]) if max(s, a) < limit)',
        'sum(counts["adam"])': '(sum(a for s, a in zip(counts["sgd"], counts["adam"]) if max(s, a) < limit) or math.nan)',
    },
)

bank.wrong(
    "nan-ends-the-count",
    "You count until the loss is nan, and give that number. nan is not below the goal (nor above it: both comparisons are "
    "False), so the goal is not reached, and limit is asked for.",
    change={"loss.item() < goal": "not loss.item() >= goal"},
)

bank.survives(
    {
        "(('sgd', torch.optim.SGD, sgd_lr), ('adam', torch.optim.Adam, adam_lr)) -> (('adam', torch.optim.Adam, adam_lr), ('sgd', torch.optim.SGD, sgd_lr))": "The two runs share nothing: which one comes first does not matter.",
        "torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64) -> torch.linspace(math.pi, -math.pi, 50, dtype=torch.float64)": "The same points in another order have the same mean.",
        "F.mse_loss(model(x), y) -> F.mse_loss(y, model(x))": "The square forgets the sign of a difference.",
        "50 -> 51": "The function is given. With one point more on the curve, the loss is so nearly the same that the counts are.",
        "loss.item() < goal -> loss.item() <= goal": "A computed loss never equals the goal to the last digit.",
        "loss.item() -> loss": "A tensor with one element compares like its number.",
        "optimizer -> model": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
    }
)

bank.wrong(
    "goal-of-the-default",
    "Your goal is 0.05 whatever `goal` says. That is only what it is where nobody gives one.",
    change={"loss.item() < goal": "loss.item() < 0.05"},
)

bank.wrong(
    "one-above-the-limit",
    "Where the goal is not reached you give limit + 1. The limit itself is asked for.",
    change={"taken < limit": "taken < limit + 1"},
)

bank.told(
    "ratio-rounded",
    "rounded",
    change={'sum(counts["sgd"]) / sum(counts["adam"])': 'round(sum(counts["sgd"]) / sum(counts["adam"]), 2)'},
)
