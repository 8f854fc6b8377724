"""Answers to `house_prices`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank
from autograder.exercises.probes.wrongly_detached_loss import DETACHED_LOSS_MESSAGES

bank = AnswerBank("house_prices")


@bank.wrong(
    "untouched",
    "It does what it did when you found it: the loss still falls after the last step, as the rate that area can stand is far too small for the rest.",
)
def house_prices(x, y, new):
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=1e-7)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((x @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight, bias = weight.detach(), bias.detach()
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


# Torch's error is the same where no tensor was ever told to require grad, and where the first step makes new ones.
bank.wrong(
    "cut-and-stops",
    DETACHED_LOSS_MESSAGES["cut_loss"],
    unless=r"\b(\w+) = \(?\1 - |\A(?![\s\S]*(?:requires_grad(?:_\(|\s*=\s*True)|nn\.(?:Linear|Parameter)))",
    change={"loss.backward()": "loss = torch.tensor(loss.item())\nloss.backward()"},
)

bank.wrong(
    "rebinds-weights",
    "`weight = weight - ...` makes a new tensor. Made under `no_grad`, or detached, it does not require grad, and the next "
    "backward fails. Change the leaf in place, or make a new leaf.",
    unless=r"\A(?![\s\S]*\b(\w+) = \(?\1 - )",
    change={
        "optimizer = torch.optim.SGD([weight, bias], lr=0.1)": "",
        "optimizer.zero_grad()": "",
        "optimizer.step()": "with torch.no_grad():\n    weight = weight - 0.1 * weight.grad\n    bias = bias - 0.1 * bias.grad",
    },
)


@bank.wrong(
    "tiny-lr-forever",
    "You keep the tiny rate and take more steps. Area gets there; the bias would need millions more.",
)
def house_prices(x, y, new):
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=1e-7)
    for _ in range(800):
        optimizer.zero_grad()
        loss = ((x @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight, bias = weight.detach(), bias.detach()
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


bank.wrong(
    "larger-rate",
    "Your line ends at nan: print the first losses. Mostly the rate is too high for the widest column. While columns are of "
    "unlike sizes, one that suits the others overshoots along area.",
    change={
        "center, spread = x.mean(0), x.std(0)\ninputs = (x - center) / spread": "inputs = x",
        "weight.detach() / spread": "weight.detach()",
        "bias.detach() - center @ weight": "bias.detach()",
    },
)

bank.wrong(
    "divides-by-a-thousand",
    "You divide every column by the same number. The columns are as unequal as before; each needs its own scale.",
    change={
        "center, spread = x.mean(0), x.std(0)\ninputs = (x - center) / spread": "inputs = x / 1000",
        "weight.detach() / spread": "weight.detach() / 1000",
        "bias.detach() - center @ weight": "bias.detach()",
    },
)

bank.wrong(
    "weights-in-other-units",
    "Your weights are those of the standardized columns. The caller counts in the units of x: convert back.",
    change={
        "weight.detach() / spread": "weight.detach()",
        "bias.detach() - center @ weight": "bias.detach()",
        "new @ weight + bias": "((new - center) / spread) @ weight + bias",
    },
)

bank.wrong(
    "bias-not-converted",
    "You convert the weights back, but not the bias: it still belongs to columns with mean 0.",
    change={"bias.detach() - center @ weight": "bias.detach()"},
)

bank.wrong(
    "new-by-its-own-mean",
    "You standardize houses by the mean and the spread of the new ones. All must go through those of x.",
    change={
        "weight = weight.detach() / spread": "prices = ((new - new.mean(0)) / new.std(0)) @ weight.detach() + bias.detach()\nweight = weight.detach() / spread",
        "new @ weight + bias": "prices",
    },
)

bank.wrong(
    "mutates-x",
    "You standardize in place: the caller's x is changed. Make new tensors.",
    change={"inputs = (x - center) / spread": "x -= center\nx /= spread", "inputs @ weight": "x @ weight"},
)

bank.wrong(
    "still-with-a-graph",
    "Your results are right, but they still require grad, and hold on to the graph of the training. Detach them.",
    change={"weight.detach()": "weight", "bias.detach()": "bias"},
)

bank.wrong(
    "rate-still-tiny",
    "Your line hardly leaves 0, where it begins: a tiny rate does that, or no step, or a gradient of 0. For standardized "
    "columns 0.1 is a good rate.",
    change={"lr=0.1": "lr=1e-7"},
)

bank.wrong(
    "one-mean-for-the-table",
    "You take one mean and one spread of the whole table. Each column has a unit of its own, and so a mean and a spread of its own.",
    change={"x.mean(0), x.std(0)": "x.mean(), x.std()", "center @ weight": "center * weight.sum()"},
)

bank.wrong(
    "never-converted-back",
    "Your weights belong to the standardized columns, and meet houses in meters and years. Convert weights and bias back.",
    change={"weight.detach() / spread": "weight.detach()", "bias.detach() - center @ weight": "bias.detach()"},
)


@bank.wrong(
    "through-the-origin",
    "Your line goes through the origin: the bias is left at 0. Even a house without any area has its price.",
)
def house_prices(x, y, new):
    weight = torch.linalg.lstsq(x.double(), y.double().unsqueeze(1)).solution.flatten().float()
    return {"weight": weight, "bias": torch.zeros(()), "prices": new @ weight}


@bank.wrong(
    "bias-after-the-weights",
    "You fit the weights without a bias, and take the bias from what is left over. Those are other weights than the ones "
    "that are best together with a bias: fit both at once, or take away the means first.",
)
def house_prices(x, y, new):
    weight = torch.linalg.lstsq(x.double(), y.double().unsqueeze(1)).solution.flatten().float()
    bias = (y - x @ weight).mean()
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


bank.wrong(
    "bias-of-one-row",
    "Your bias has the shape (1,). It is to be a scalar tensor, of shape ().",
    change={"torch.zeros((), requires_grad=True)": "torch.zeros(1, requires_grad=True)"},
)

bank.wrong(
    "prices-in-mixed-units",
    "Your weights are in the units of x again, and the new houses that you price with them are standardized. Use them as they come.",
    change={"new @ weight + bias": "((new - center) / spread) @ weight + bias"},
)

bank.told(
    "weights-anew-in-each-step",
    "flat",
    change={"optimizer.zero_grad()": "weight = weight.detach().clone().requires_grad_()\noptimizer.zero_grad()"},
)

bank.told(
    "spread-without-the-mean",
    "finite",
    change={
        "center, spread = x.mean(0), x.std(0)": "spread = x.std(0)",
        "(x - center)": "x",
        "bias.detach() - center @ weight": "bias.detach()",
    },
)


@bank.right("pseudoinverse")
def house_prices(x, y, new):
    middle, spread = x.mean(dim=0), x.std(dim=0)
    table = torch.cat([(x - middle) / spread, torch.ones(len(x), 1)], dim=1)
    best = torch.linalg.pinv(table.double()) @ y.double()
    weight = (best[:-1] / spread).to(x.dtype)
    bias = best[-1].to(x.dtype) - middle @ weight
    return dict(weight=weight, bias=bias, prices=torch.addmv(bias, new, weight))


@bank.right("least-squares")
def house_prices(x, y, new):
    table = torch.cat([x, torch.ones(len(x), 1)], dim=1).double()
    best = torch.linalg.lstsq(table, y.double()[:, None]).solution[:, 0].to(x.dtype)
    return {"weight": best[:-1], "bias": best[-1], "prices": new @ best[:-1] + best[-1]}


@bank.right("x-alone-standardized")
def house_prices(x, y, new):
    mean, std = x.mean(0), x.std(0)
    inputs = (x - mean) / std
    layer = nn.Linear(x.shape[1], 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for _ in range(400):
        optimizer.zero_grad()
        F.mse_loss(layer(inputs).squeeze(1), y).backward()
        optimizer.step()
    weight = layer.weight.detach()[0] / std
    bias = layer.bias.detach()[0] - weight @ mean
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.right("by-hand-with-momentum")
def house_prices(x, y, new):
    low, high = x.amin(0), x.amax(0)
    inputs = 2 * (x - low) / (high - low) - 1
    table = torch.cat([inputs, torch.ones(len(x), 1)], dim=1)
    goal = (y - y.mean()) / y.std()
    w, v = torch.zeros(table.shape[1]), torch.zeros(table.shape[1])
    for _ in range(400):
        v = 0.9 * v + 2 * table.T @ (table @ w - goal) / len(x)
        w = w - 0.05 * v
    weight = 2 * w[:-1] * y.std() / (high - low)
    bias = y.mean() + (w[-1] - w[:-1].sum()) * y.std() - weight @ low
    return {"prices": new @ weight + bias, "bias": bias, "weight": weight}


@bank.right("adam-on-standardized")
def house_prices(x, y, new):
    def standard(t):
        return (t - x.mean(0)) / x.std(0)

    params = [torch.zeros(x.shape[1], requires_grad=True), torch.zeros(1, requires_grad=True)]
    optimizer = torch.optim.Adam(params, lr=0.05)
    for _ in range(500):
        optimizer.zero_grad()
        guess = standard(x) @ params[0] + params[1]
        F.mse_loss(guess, (y - y.mean()) / y.std()).backward()
        optimizer.step()
    slope, offset = (p.detach() * y.std() for p in params)
    prices = standard(new) @ slope + offset + y.mean()
    weight = slope / x.std(0)
    return {"weight": weight, "bias": (y.mean() + offset)[0] - (weight * x.mean(0)).sum(), "prices": prices}


bank.told("bias-as-number", "shapes", change={'"bias": bias': '"bias": bias.item()'})

bank.survives(
    {
        "torch.zeros -> torch.ones": "Training ends at the same line, wherever it begins.",
        "torch.zeros -> torch.ones (2)": "Training ends at the same line, wherever it begins.",
        "200 -> 201": "The line has long been reached: one step more changes nothing.",
        "200 -> 199": "The line has been reached before that: one step less changes nothing.",
        "center @ weight -> weight @ center": "The dot product of two vectors does not mind the order.",
        "new @ weight + bias -> bias + new @ weight": "Addition does not mind the order.",
        "x -> new (2)": "The mean of the new houses is near that of x: taken away, and given back, it leads to the same line.",
        "x -> new (4)": "The new houses have as many columns.",
        "x -> inputs (4)": "The standardized table has as many columns.",
        "inputs @ weight + bias - y -> y - (inputs @ weight + bias)": "The square forgets the sign of a difference.",
        "inputs @ weight + bias -> bias + inputs @ weight": "Addition does not mind the order.",
    }
)

bank.wrong(
    "mean-and-spread-of-new",
    "You take mean and spread from the houses that are to be priced. They are few, and one alone has no spread: take both from "
    "x, by which the line is found.",
    also=("new-by-its-own-mean",),
    change={"x.mean(0), x.std(0)": "new.mean(0), new.std(0)"},
)

bank.wrong(
    "multiplied-on-the-way-back",
    "On the way back you multiply each weight by the spread of its column. One more unit of a column is a small part of its "
    "spread: is its share of the price larger than that of a whole spread, or smaller?",
    change={"weight.detach() / spread": "weight.detach() * spread"},
)

bank.wrong(
    "y-converted-back-in-the-bias-alone",
    "You standardize y too, and give its mean back to the bias. The weights still belong to prices that have a spread of 1.",
    change={
        "inputs = (x - center) / spread": "inputs = (x - center) / spread\nmiddle, goal = y.mean(), (y - y.mean()) / y.std()",
        "+ bias - y)": "+ bias - goal)",
        "bias.detach() - center @ weight": "middle + bias.detach() - center @ weight",
    },
)

bank.wrong(
    "squeezed-price",
    "You squeeze the prices: for a single new house that takes its only axis away, and a number is left.",
    change={"new @ weight + bias": "(new @ weight + bias).squeeze()"},
)
