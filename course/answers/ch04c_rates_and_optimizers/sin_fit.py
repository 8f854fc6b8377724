"""Answers to `sin_fit`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("sin_fit")


bank.wrong(
    "returns-untrained",
    "The model that you return has its first weights: a copy was trained, or no step was taken that changes it.",
    change={
        "chosen = kind(model.parameters(), lr=lr)": "trained = copy.deepcopy(model)\nchosen = kind(trained.parameters(), lr=lr)",
        "prediction = model(x)": "prediction = trained(x)",
    },
)

bank.wrong(
    "wrong-range",
    "Your x go from 0 to pi: the model has never seen the left half of the curve.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "-math.pi": "0",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "no-nonlinearity",
    "Without a ReLU between them, two linear layers make one straight line, however long you train.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(self.hidden(x))",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "relu-at-the-end",
    "Your ReLU comes after the last layer: the model can give no negative number, and sin needs them.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "torch.relu(self.out(self.hidden(x)))",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "tanh-instead",
    "There is a tanh between the layers. It would fit as well, but a ReLU is asked for.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.tanh(self.hidden(x)))",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "normalises-target",
    "You divide the sines by their spread. The model then learns a curve that is too high.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "torch.sin(x)": "torch.sin(x) / torch.sin(x).std()",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "flat-target",
    "Your targets are (200,) and the predictions (200, 1): each prediction meets every target, and learns their mean.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "torch.sin(x)": "torch.sin(x).squeeze(1)",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "never-clears",
    "The gradients are never cleared: each step goes by all the gradients so far.",
    unless=r"zero_grad|\.grad = None|zero_\(",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "chosen.zero_grad()\nloss = (model(x) - y).square().mean()": "loss = F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

# With 0.1, Adam's last steps leap about: whether the fit is good then hangs on the last bits of the first.
bank.told(
    "rate-of-its-own",
    "rate",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "lr=lr": "lr=0.05",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "always-sgd",
    'You train by SGD where `optimizer` says "adam". Does anything ask what it says, and the right way round?',
    change={'kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]': "kind = torch.optim.SGD"},
)

bank.told(
    "always-a-new-model",
    "in_place",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "SinMLP() if model is None else model": "SinMLP()",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "one-step-too-few",
    "Your model comes back as it was before the last step: one step less is taken than asked for, or earlier weights are put "
    "back.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "range(steps)": "range(steps - 1)",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "sum-not-mean",
    "You add up the squared errors of 200 points: a step is 200 times as long as with the mean.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "(model(x) - y).square().mean()": 'F.mse_loss(model(x), y, reduction="sum")',
    },
    of="clamps-and-squares",
)

bank.wrong(
    "no-bias",
    "Your hidden layer has no bias: all the bends are at 0.",
    change={
        "1, 16": "1, 16, bias=False",
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "uses-sequential",
    "You let `nn.Sequential` put the layers in order. That is for you to write: __init__ and forward.",
    change={
        "self.hidden = nn.Linear(1, 16)\nself.out = nn.Linear(16, 1)": "self.layers = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))",
        "self.out(torch.relu(self.hidden(x)))": "self.layers(x)",
    },
)

bank.wrong(
    "end-left-out",
    "Your last x comes one place before pi. 200 points with both ends leave 199 gaps: `torch.linspace` counts so.",
    change={"torch.linspace(-math.pi, math.pi, 200)": "(torch.arange(200) / 200 * 2 * math.pi - math.pi)"},
)

bank.wrong(
    "new-optimizer-each-step",
    "You make the optimizer anew in every step. SGD does not mind; Adam forgets its averages each time.",
    change={
        "chosen = kind(model.parameters(), lr=lr)": "",
        "chosen.zero_grad()": "chosen = kind(model.parameters(), lr=lr)\nchosen.zero_grad()",
    },
)

bank.wrong(
    "adam-at-its-own-rate",
    "Adam takes its steps at 0.001, its own rate: the caller's `lr` does not get to it.",
    change={
        'kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]': "params = model.parameters()",
        "chosen = kind(model.parameters(), lr=lr)": 'chosen = torch.optim.SGD(params, lr=lr) if optimizer == "sgd" else torch.optim.Adam(params)',
    },
)

bank.wrong(
    "absolute-errors",
    "Your loss is the mean of the absolute errors. The mean squared error is asked for.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "(model(x) - y).square().mean()": "F.l1_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "pi-by-two-digits",
    "Your x end at 3.14. They are to go to pi, which is math.pi.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "math.pi, math.pi": "3.14, 3.14",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "four-batches",
    "You take a step for each of several batches. A round is one step, on all 200 points.",
    change={"for _ in range(steps):": "batches = list(zip(x.split(50), y.split(50)))\nfor x, y in steps * batches:"},
)

bank.wrong(
    "one-step-too-many",
    "You take one step more than asked for.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "range(steps)": "range(1 + steps)",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "stops-when-good",
    "You stop as soon as the loss is small. How many rounds there are, `steps` says.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "(model(x) - y).square().mean()": "F.mse_loss(model(x), y)",
        "chosen.step()": "chosen.step()\nif loss.item() < 0.02:\n    break",
    },
    of="clamps-and-squares",
)

bank.told(
    "one-model-for-all",
    "another",
    change={
        'optimizer="sgd"': 'optimizer="sgd", kept=[]',
        "model = SinMLP() if model is None else model": "kept.append(SinMLP())\nmodel = kept[0] if model is None else model",
    },
)

bank.wrong(
    "clears-once",
    "You clear the gradients once, before the rounds. So each round adds its gradient to those of all rounds before.",
    change={
        "    for _ in range(steps):\n        chosen.zero_grad()\n": "    chosen.zero_grad()\n    for _ in range(steps):\n",
    },
)

bank.wrong(
    "clears-at-the-end",
    "You clear the gradients at the end of each round: the first one adds to what an earlier training left behind.",
    change={
        "        chosen.zero_grad()\n": "",
        "        chosen.step()\n": "        chosen.step()\n        chosen.zero_grad()\n",
    },
)


@bank.right("clamps-and-squares")
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(self.hidden(x).clamp(min=0))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = (model(x) - y).square().mean()
        loss.backward()
        chosen.step()
    return model


@bank.right("last-layer-first")
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.out = nn.Linear(16, 1)
            self.hidden = nn.Linear(1, 16)
            self.act = nn.ReLU()

        def forward(self, x):
            return self.out(self.act(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        loss = ((model(x) - y) ** 2).mean()
        chosen.zero_grad()
        loss.backward()
        chosen.step()
    return model


@bank.right("layers-in-a-list")
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(1, 16), nn.Linear(16, 1)])

        def forward(self, x):
            first, last = self.layers
            return last(first(x).clamp(min=0))

    net = model if model is not None else Net()
    if optimizer == "adam":
        stepper = torch.optim.Adam(net.parameters(), lr)
    else:
        stepper = torch.optim.SGD(net.parameters(), lr)
    x = torch.linspace(-math.pi, math.pi, 200).reshape(-1, 1)
    criterion = nn.MSELoss()
    done = 0
    while done < steps:
        stepper.zero_grad(set_to_none=False)
        criterion(net(x), x.sin()).backward()
        stepper.step()
        done += 1
    return net


@bank.right("moves-the-weights-itself")
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(1, 16), nn.Linear(16, 1)

        def forward(self, x):
            h = self.a(x)
            return self.b(torch.where(h > 0, h, torch.zeros_like(h)))

    model = model or SinMLP()
    params = list(model.parameters())
    adam = torch.optim.Adam(params, lr=lr) if optimizer == "adam" else None
    x = torch.linspace(-math.pi, math.pi, 200)[:, None]
    for _ in range(steps):
        grads = torch.autograd.grad(F.mse_loss(model(x), torch.sin(x)), params)
        with torch.no_grad():
            for p, g in zip(params, grads):
                p.grad = g
                if adam is None:
                    p -= lr * g
        if adam is not None:
            adam.step()
    return model


bank.survives(
    {
        "return self.out(torch.relu(self.hidden(x))) -> return self.out(torch.relu(self.hidden(x))).double()": "The numbers are the same, in a wider dtype; which one is not asked for.",
        "F.mse_loss(prediction, y) -> F.mse_loss(y, prediction)": "The square forgets the sign of a difference.",
        "torch.linspace(-math.pi, math.pi, 200) -> torch.linspace(math.pi, -math.pi, 200)": "The same points in another order have the same mean.",
        "chosen -> model": "The optimizer has all of the model's parameters, so either of them clears the same gradients.",
    }
)

bank.wrong(
    "always-adam",
    'You train by Adam where `optimizer` says "sgd". Does anything ask what it says, and the right way round?',
    change={'kind = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}[optimizer]': "kind = torch.optim.Adam"},
)

bank.wrong(
    "zero-to-two-pi",
    "Your x go from 0 to 2 pi. The wave asked for lies between -pi and pi.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "self.out(torch.relu(self.hidden(x)))",
        "-math.pi, math.pi": "0, 2 * math.pi",
        "loss = (model(x) - y).square().mean()\nloss.backward()": "F.mse_loss(model(x), y).backward()",
    },
    of="clamps-and-squares",
)

bank.wrong(
    "relu-after-both",
    "A ReLU follows your last layer as well: the model can give no negative number, and sin needs them.",
    change={
        "self.out(self.hidden(x).clamp(min=0))": "torch.relu(self.out(torch.relu(self.hidden(x))))",
        "loss = (model(x) - y).square().mean()\nloss.backward()": "F.mse_loss(model(x), y).backward()",
    },
    of="clamps-and-squares",
)
