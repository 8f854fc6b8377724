"""The answer bank of chapter 4: wrong answers learners really give, and right ones that must pass.

Each entry is a whole answer and stands alone: it uses nothing but what the chapter's setup cell imports.
"""

import copy
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset, TensorDataset

from autograder.authoring.bank import AnswerBank

bank = AnswerBank("ch04_training")


# --- train_step ---------------------------------------------------------------------------------------------


@bank.wrong(
    "train_step",
    "no-zero",
    "You never clear the gradients: those of earlier batches are still in .grad, and take part in this step.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "zero-after-backward",
    "You clear the gradients after backward has filled them. The step then has nothing to go by.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.zero_grad()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "clears-at-the-end",
    "You clear after the step: the first call still meets old gradients, and .grad is empty afterwards.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@bank.wrong(
    "train_step",
    "clears-twice",
    "The clearing before backward is right; the one at the end throws away the gradients that should stay in .grad.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.item()


@bank.wrong(
    "train_step",
    "returns-tensor",
    "You return the loss as a tensor, which keeps its whole graph alive. A plain float is asked for.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss


@bank.wrong(
    "train_step",
    "steps-twice",
    "You call `optimizer.step()` twice: the same gradient moves the parameters twice.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "no-step",
    "No parameter moves: either `optimizer.step()` is missing, or it comes before backward, when .grad is still empty.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    return loss.item()


@bank.wrong(
    "train_step",
    "no-backward",
    "You never call backward: .grad stays empty, and the step moves nothing.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "calls-forward",
    "You call `model.forward` yourself. Hooks run only when the model is called like a function.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model.forward(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "criterion-the-wrong-way-round",
    "You give the criterion y_batch first. Most losses mind the order: the prediction comes first.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(y_batch, model(x_batch))
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "loss-after-the-step",
    "You compute the loss anew after the step. That is another number, and another run of the model.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    criterion(model(x_batch), y_batch).backward()
    optimizer.step()
    return criterion(model(x_batch), y_batch).item()


@bank.wrong(
    "train_step",
    "sets-train-mode",
    "You call `model.train()`: layers that somebody had put into eval mode are in train mode now.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    model.train()
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "loss-of-its-own",
    "You compute a mean squared error of your own. The caller chose the criterion: use that one.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = ((model(x_batch) - y_batch) ** 2).mean()
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "sets-eval-mode",
    "You call `model.eval()`: dropout and batch norm, which should take part in training, are at rest.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    model.eval()
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step",
    "optimizer-of-its-own",
    "You make an optimizer of your own. The caller chose one, with its rate and its memory: use that one.",
)
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.right("train_step", "detached-targets")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad(set_to_none=False)
    loss = criterion(model(x_batch), y_batch.detach().clone())
    loss.backward()
    optimizer.step()
    return loss.detach().numpy().item()


@bank.right("train_step", "zero-right-before-backward")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch), y_batch)
    model.zero_grad()
    loss.backward()
    optimizer.step()
    return float(loss)


@bank.right("train_step", "closure")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x_batch), y_batch)
        loss.backward()
        return loss

    return optimizer.step(closure).item()


@bank.right("train_step", "zeros-and-autograd-grad")
def train_step(model, optimizer, criterion, x_batch, y_batch):
    params = list(model.parameters())
    value = criterion(model(x_batch), y_batch)
    for p, g in zip(params, torch.autograd.grad(value, params)):
        p.grad = g
    optimizer.step()
    return value.detach().item()


# --- house_prices -------------------------------------------------------------------------------------------


@bank.wrong(
    "house_prices",
    "untouched",
    "As given, the loss still falls after the last step: the rate that area can stand is far too small for the rest.",
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


@bank.wrong(
    "house_prices",
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


@bank.wrong(
    "house_prices",
    "larger-rate",
    "You raise the rate and leave the columns as they are: along area each step overshoots more, up to nan.",
)
def house_prices(x, y, new):
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((x @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight, bias = weight.detach(), bias.detach()
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.wrong(
    "house_prices",
    "divides-by-a-thousand",
    "You divide every column by the same number. The columns are as unequal as before; each needs its own scale.",
)
def house_prices(x, y, new):
    small = x / 1000
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((small @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight, bias = weight.detach() / 1000, bias.detach()
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.wrong(
    "house_prices",
    "weights-in-other-units",
    "Your weights are those of the standardized columns. The caller has square meters and years: convert back.",
)
def house_prices(x, y, new):
    mean, std = x.mean(0), x.std(0)
    inputs = (x - mean) / std
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((inputs @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight, bias = weight.detach(), bias.detach()
    return {"weight": weight, "bias": bias, "prices": ((new - mean) / std) @ weight + bias}


@bank.wrong(
    "house_prices",
    "bias-not-converted",
    "You convert the weights back, but not the bias: it still belongs to columns with mean 0.",
)
def house_prices(x, y, new):
    mean, std = x.mean(0), x.std(0)
    inputs = (x - mean) / std
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((inputs @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight, bias = weight.detach() / std, bias.detach()
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.wrong(
    "house_prices",
    "new-by-its-own-mean",
    "You standardize the new houses by their own mean and spread. They must go through the same numbers as x.",
)
def house_prices(x, y, new):
    mean, std = x.mean(0), x.std(0)
    inputs = (x - mean) / std
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((inputs @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    prices = ((new - new.mean(0)) / new.std(0)) @ weight.detach() + bias.detach()
    weight = weight.detach() / std
    return {"weight": weight, "bias": bias.detach() - mean @ weight, "prices": prices}


@bank.wrong(
    "house_prices",
    "mutates-x",
    "You standardize in place: the caller's x is changed. Make new tensors.",
)
def house_prices(x, y, new):
    mean, std = x.mean(0), x.std(0)
    x -= mean
    x /= std
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((x @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight = weight.detach() / std
    bias = bias.detach() - mean @ weight
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.wrong(
    "house_prices",
    "still-tracked",
    "Your results are right, but still tracked: they hang on to the training. Detach them.",
)
def house_prices(x, y, new):
    mean, std = x.mean(0), x.std(0)
    inputs = (x - mean) / std
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=0.1)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((inputs @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight = weight / std
    bias = bias - mean @ weight
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.wrong(
    "house_prices",
    "rate-still-tiny",
    "You standardize, and keep the tiny rate. There is no reason for it any more: in 200 steps it gets nowhere.",
)
def house_prices(x, y, new):
    center, spread = x.mean(0), x.std(0)
    inputs = (x - center) / spread
    weight = torch.zeros(x.shape[1], requires_grad=True)
    bias = torch.zeros((), requires_grad=True)
    optimizer = torch.optim.SGD([weight, bias], lr=1e-7)
    for _ in range(200):
        optimizer.zero_grad()
        loss = ((inputs @ weight + bias - y) ** 2).mean()
        loss.backward()
        optimizer.step()
    weight = weight.detach() / spread
    bias = bias.detach() - center @ weight
    return {"weight": weight, "bias": bias, "prices": new @ weight + bias}


@bank.right("house_prices", "x-alone-standardized")
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


@bank.right("house_prices", "by-hand-with-momentum")
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


@bank.right("house_prices", "adam-on-standardized")
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


# --- sin_fit ------------------------------------------------------------------------------------------------


@bank.wrong(
    "sin_fit",
    "returns-untrained",
    "You train a copy, and return the model with its first weights.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    trained = copy.deepcopy(model)
    chosen = kind(trained.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(trained(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "wrong-range",
    "Your x go from 0 to pi: the model has never seen the left half of the curve.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(0, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "no-nonlinearity",
    "Without a ReLU between them, two linear layers make one straight line, however long you train.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(self.hidden(x))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "relu-at-the-end",
    "Your ReLU comes after the last layer: the model can give no negative number, and sin needs them.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return torch.relu(self.out(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "tanh-instead",
    "There is a tanh between the layers. It would fit as well, but a ReLU is asked for.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.tanh(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "normalises-target",
    "You divide the sines by their spread. The model then learns a curve that is too high.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x) / torch.sin(x).std()
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "flat-target",
    "Your targets are (200,) and the predictions (200, 1): each prediction meets every target, and learns their mean.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x).squeeze(1)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "never-clears",
    "The gradients are never cleared: each step goes by all the gradients so far.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "rate-of-its-own",
    "Your learning rate is always 0.1. The caller's `lr` is not used.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=0.1)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "always-sgd",
    "You train by SGD whatever `optimizer` says.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    chosen = torch.optim.SGD(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "always-a-new-model",
    "You make a new model even where one is given: the caller's stays as it was.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP()
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "one-step-too-few",
    "You take one step less than asked for.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps - 1):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "sum-not-mean",
    "You add up the squared errors of 200 points: a step is 200 times as long as with the mean.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y, reduction="sum")
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "no-bias",
    "Your hidden layer has no bias: all the bends are at 0.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(1, 16, bias=False)
            self.out = nn.Linear(16, 1)

        def forward(self, x):
            return self.out(torch.relu(self.hidden(x)))

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "uses-sequential",
    "You let `nn.Sequential` put the layers in order. That is for you to write: __init__ and forward.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1))

        def forward(self, x):
            return self.layers(x)

    model = SinMLP() if model is None else model
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    chosen = kind(model.parameters(), lr=lr)
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    y = torch.sin(x)
    for _ in range(steps):
        chosen.zero_grad()
        loss = F.mse_loss(model(x), y)
        loss.backward()
        chosen.step()
    return model


@bank.wrong(
    "sin_fit",
    "end-left-out",
    "Your last x comes one place before pi. 200 points with both ends leave 199 gaps: `torch.linspace` counts so.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(1, 16)
            self.second = nn.Linear(16, 1)

        def forward(self, x):
            return self.second(F.relu(self.first(x)))

    model = model or SinMLP()
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    stepper = kind(model.parameters(), lr=lr)
    x = (torch.arange(200) / 200 * 2 * math.pi - math.pi).unsqueeze(1)
    for _ in range(steps):
        stepper.zero_grad()
        loss = F.mse_loss(model(x), torch.sin(x))
        loss.backward()
        stepper.step()
    return model


@bank.wrong(
    "sin_fit",
    "new-optimizer-each-step",
    "You make the optimizer anew in every step. SGD does not mind; Adam forgets its averages each time.",
)
def sin_fit(model=None, steps=1000, lr=0.1, optimizer="sgd"):
    class SinMLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Linear(1, 16)
            self.second = nn.Linear(16, 1)

        def forward(self, x):
            return self.second(F.relu(self.first(x)))

    model = model or SinMLP()
    kind = torch.optim.SGD if optimizer == "sgd" else torch.optim.Adam
    x = torch.linspace(-math.pi, math.pi, 200).unsqueeze(1)
    for _ in range(steps):
        stepper = kind(model.parameters(), lr=lr)
        stepper.zero_grad()
        loss = F.mse_loss(model(x), torch.sin(x))
        loss.backward()
        stepper.step()
    return model


@bank.right("sin_fit", "last-layer-first")
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


@bank.right("sin_fit", "layers-in-a-list")
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


@bank.right("sin_fit", "moves-the-weights-itself")
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


# --- compare_optimizers -------------------------------------------------------------------------------------


@bank.wrong(
    "compare_optimizers",
    "different-init",
    "Adam begins at other first weights than SGD. You compare the weights' luck along with the optimizers.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed + 1)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "goes-on-from-sgd",
    "Adam goes on with the model that SGD has trained: it finds the work done.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "one-seed",
    "You measure the first seed alone. One run is no evidence: the others may say something else.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds[:1]:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "same-seed-again",
    "You count the first seed again and again. Each of the seeds gives first weights of its own.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seeds[0])
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seeds[0])
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "ratio-upside-down",
    "Your ratio is Adam's steps by SGD's. The other way round is asked for.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(adam) / sum(sgd)}


@bank.wrong(
    "compare_optimizers",
    "mean-of-ratios",
    "You average the ratios of the seeds. A seed with few steps then counts as much as one with many.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(s / a for s, a in zip(sgd, adam)) / len(sgd)}


@bank.wrong(
    "compare_optimizers",
    "counts-one-more",
    "You count the look at the loss as a step: your counts are one too large.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken + 1
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "one-rate-for-both",
    "Adam trains at the rate that was meant for SGD. Each has a rate of its own.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return limit

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=sgd_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "none-for-the-limit",
    "Where the goal is not reached you drop the seed from the list. Put the limit there.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(limit):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return None

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    sgd, adam = ([n for n in counts if n is not None] for counts in (sgd, adam))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / max(1, sum(adam))}


@bank.wrong(
    "compare_optimizers",
    "ignores-limit",
    "You stop after 1000 steps whatever `limit` says.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    def count(model, x, y, optimizer):
        for taken in range(1000):
            loss = F.mse_loss(model(x), y)
            if loss.item() < goal:
                return taken
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return 1000

    sgd, adam = [], []
    for seed in seeds:
        model, x, y = start(seed)
        sgd.append(count(model, x, y, torch.optim.SGD(model.parameters(), lr=sgd_lr)))
        model, x, y = start(seed)
        adam.append(count(model, x, y, torch.optim.Adam(model.parameters(), lr=adam_lr)))
    return {"sgd": sgd, "adam": adam, "ratio": sum(sgd) / sum(adam)}


@bank.wrong(
    "compare_optimizers",
    "limit-minus-one",
    "Where the goal is not reached you give the last number of your loop, which is one less than the steps taken.",
)
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def start(seed):
        torch.manual_seed(seed)
        model = nn.Sequential(nn.Linear(1, 16), nn.ReLU(), nn.Linear(16, 1)).double()
        x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float64).unsqueeze(1)
        return model, x, torch.sin(x)

    counts = {"sgd": [], "adam": []}
    for seed in seeds:
        for name, kind, lr in (("sgd", torch.optim.SGD, sgd_lr), ("adam", torch.optim.Adam, adam_lr)):
            model, x, y = start(seed)
            optimizer = kind(model.parameters(), lr=lr)
            for step in range(limit):
                loss = F.mse_loss(model(x), y)
                if loss.item() < goal:
                    break
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            counts[name].append(step)
    return {**counts, "ratio": sum(counts["sgd"]) / sum(counts["adam"])}


@bank.right("compare_optimizers", "losses-first")
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


@bank.right("compare_optimizers", "one-model-copied")
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


@bank.right("compare_optimizers", "weights-put-back")
def compare_optimizers(seeds, sgd_lr=0.1, adam_lr=0.001, goal=0.05, limit=1000):
    def count(model, x, optimizer, steps=0):
        loss = F.mse_loss(model(x), torch.sin(x))
        while loss.item() >= goal and steps < limit:
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


# --- PairDataset --------------------------------------------------------------------------------------------


@bank.wrong(
    "PairDataset",
    "off-by-one-len",
    "Your `len` is one too small: the last pair is never used. Places are counted from 0, lengths from 1.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x) - 1

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@bank.wrong(
    "PairDataset",
    "counts-entries",
    "Your `len` is the number of entries of x. One row of x is one sample, however many features it has.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return self.x.numel()

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@bank.wrong(
    "PairDataset",
    "list-not-tuple",
    "An item is a list in your data set. A pair of input and target is asked for: a tuple.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return [self.x[i], self.y[i]]


@bank.wrong(
    "PairDataset",
    "swapped",
    "Your pairs hold the target first. The input comes first, then the target.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.y[i], self.x[i]


@bank.wrong(
    "PairDataset",
    "lengths-unchecked",
    "You take x and y of different lengths without a word. Some inputs would have no target: raise a ValueError.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@bank.wrong(
    "PairDataset",
    "assert-for-lengths",
    "You check the lengths by `assert`, which is an AssertionError and can be switched off. Raise a ValueError.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        assert len(x) == len(y)
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@bank.wrong(
    "PairDataset",
    "wraps-around",
    "You wrap places around with `%`: whoever goes through the data set never meets its end.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i % len(self.x)], self.y[i % len(self.x)]


@bank.wrong(
    "PairDataset",
    "no-negative-places",
    "You refuse negative places. They count from the end here, as in any Python sequence.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        if not 0 <= i < len(self.x):
            raise IndexError(i)
        return self.x[i], self.y[i]


@bank.wrong(
    "PairDataset",
    "target-of-the-first-row",
    "Each input comes with the target of row 0. Use the place for both.",
)
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("x and y differ in length")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.y[0]


@bank.right("PairDataset", "keeps-both-tensors")
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("every input needs its target")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@bank.right("PairDataset", "around-a-tensor-dataset")
class PairDataset(Dataset):
    def __init__(self, x, y):
        if x.shape[0] != y.shape[0]:
            raise ValueError(f"expected as many targets as inputs, found {y.shape[0]} for {x.shape[0]}")
        self.data = TensorDataset(x, y)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]


@bank.right("PairDataset", "checks-places-itself")
class PairDataset(Dataset):
    def __init__(self, x, y):
        if not len(x) == len(y):
            raise ValueError("every input needs a target")
        self.x, self.y, self.count = x, y, x.size(0)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        place = i + self.count if i < 0 else i
        if place not in range(self.count):
            raise IndexError(f"no item {i} among {self.count}")
        return tuple(t.select(0, place) for t in (self.x, self.y))


# --- collate_pad --------------------------------------------------------------------------------------------


@bank.wrong(
    "collate_pad",
    "wrong-pad-value",
    "You fill up with 0 whatever `pad` says. Where 0 is a real entry, nobody could tell the two apart.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.zeros(len(batch), max(lengths), dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, lengths


@bank.wrong(
    "collate_pad",
    "pads-in-front",
    "You put the filling in front of the entries. Each row begins with its entries; the filling comes after.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.full((len(batch), max(lengths)), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, max(lengths) - len(row) :] = row
    return padded, lengths


@bank.wrong(
    "collate_pad",
    "always-float",
    "Your table is float32 whatever comes in. Labels or words would be floats now: keep the dtype of the rows.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.full((len(batch), max(lengths)), float(pad))
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, lengths


@bank.wrong(
    "collate_pad",
    "dtype-of-the-pad",
    "The dtype of your table comes from `pad`: a whole number makes int64, and cuts the fractions off.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.full((len(batch), max(lengths)), pad)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row.to(padded.dtype)
    return padded, lengths


@bank.wrong(
    "collate_pad",
    "lengths-as-tensor",
    "Your lengths are a tensor. A list of ints is asked for.",
)
def collate_pad(batch, pad=0):
    lengths = torch.tensor([len(row) for row in batch])
    padded = torch.full((len(batch), int(lengths.max())), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, lengths


@bank.wrong(
    "collate_pad",
    "lengths-after",
    "Your lengths are those of the padded rows, all alike. The lengths before are what gets lost otherwise.",
)
def collate_pad(batch, pad=0):
    longest = max(len(row) for row in batch)
    padded = torch.full((len(batch), longest), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, [longest] * len(batch)


@bank.wrong(
    "collate_pad",
    "as-long-as-the-first",
    "Your table is as wide as the first row. A longer one comes later.",
)
def collate_pad(batch, pad=0):
    padded = torch.full((len(batch), len(batch[0])), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, [len(row) for row in batch]


@bank.wrong(
    "collate_pad",
    "cuts-off",
    "You cut every row to the shortest one. Nothing of a row may get lost.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    return torch.stack([row[: min(lengths)] for row in batch]), lengths


@bank.wrong(
    "collate_pad",
    "sorts-the-rows",
    "You put the longest row first. The rows should stay in the order in which they come.",
)
def collate_pad(batch, pad=0):
    batch = sorted(batch, key=len, reverse=True)
    lengths = [len(row) for row in batch]
    padded = torch.full((len(batch), max(lengths)), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, lengths


@bank.wrong(
    "collate_pad",
    "zeros-become-pad",
    "You fill up with 0, and then turn every 0 into `pad`: the zeros that are data are lost.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.zeros(len(batch), max(lengths), dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    padded[padded == 0] = pad
    return padded, lengths


@bank.right("collate_pad", "pad-sequence")
def collate_pad(batch, pad=0):
    padded = nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=pad)
    return padded, [row.shape[0] for row in batch]


@bank.right("collate_pad", "f-pad-and-stack")
def collate_pad(batch, pad=0):
    longest = max(map(len, batch))
    return torch.stack([F.pad(row, (0, longest - len(row)), value=pad) for row in batch]), list(map(len, batch))


@bank.right("collate_pad", "cat-with-filling")
def collate_pad(batch, pad=0):
    lengths = [row.numel() for row in batch]
    rows = [torch.cat([row, row.new_full((max(lengths) - n,), pad)]) for row, n in zip(batch, lengths)]
    return torch.stack(rows), lengths


@bank.right("collate_pad", "masked-assignment")
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    padded = batch[0].new_full(real.shape, pad)
    padded[real] = torch.cat(batch)
    return padded, lengths


# --- loss_inputs --------------------------------------------------------------------------------------------


@bank.wrong(
    "loss_inputs",
    "untouched",
    "As given, the first head runs through softmax twice: `cross_entropy` applies it to logits by itself.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output.softmax(dim=1), target)
    if head == "marked":
        return F.cross_entropy(output, target)
    if head == "letters":
        return F.mse_loss(output.argmax(dim=2).float(), target.float())
    if head == "spam":
        return F.binary_cross_entropy_with_logits(torch.sigmoid(output), target)
    return F.mse_loss(output, target)


@bank.wrong(
    "loss_inputs",
    "double-softmax",
    "The other heads are mended; the digits still run through softmax twice. `cross_entropy` takes logits.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output.softmax(dim=1), target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "nll-of-probabilities",
    "`nll_loss` takes logs of probabilities, and you give it probabilities. A loss below 0 should make you suspicious.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.nll_loss(output.softmax(dim=1), target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "one-hot-int",
    "The marked targets are whole numbers still. As probabilities they must be floats, like the logits.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target)
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "marked-by-argmin",
    "You look for the label where the row is smallest. The label is where the 1 stands.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.argmin(dim=1))
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "argmax-before-loss",
    "You choose a letter by argmax first. Nothing flows back through it: the model would never learn.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.mse_loss(output.argmax(dim=2).float(), target.float())
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "letters-in-dim-1",
    "You reshape where the dims should trade places: the classes of different letters get mixed up.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.reshape(output.shape[0], output.shape[2], -1), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "first-letter-only",
    "You look at the first letter of each row alone. All of them count.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output[:, 0], target[:, 0])
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "sum-over-letters",
    "You add up over the letters. The mean over all of them is asked for.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target, reduction="none").sum(dim=1).mean()
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "sigmoid-then-bce-logits",
    "The spam logits run through a sigmoid, and then through the one in the loss. Give it the logits.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(torch.sigmoid(output), target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "n-by-1-broadcast",
    "(n, 1) predictions meet (n,) prices: every prediction is compared with every price. Make the shapes alike.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output, target)


@bank.wrong(
    "loss_inputs",
    "summed-prices",
    "You add the squared errors up. The mean squared error is asked for.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target, reduction="sum")


@bank.wrong(
    "loss_inputs",
    "returns-floats",
    "You return a float. Backward has nothing to start from.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target).item()
    if head == "marked":
        return F.cross_entropy(output, target.float()).item()
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target).item()
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target).item()
    return F.mse_loss(output.squeeze(1), target).item()


@bank.wrong(
    "loss_inputs",
    "marked-softmax",
    "The marked logits run through softmax twice: `cross_entropy` takes logits here, too.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output.softmax(dim=1), target.float())
    if head == "letters":
        return F.cross_entropy(output.transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.wrong(
    "loss_inputs",
    "letters-softmax",
    "The letters' logits run through softmax twice: `cross_entropy` takes logits here, too.",
)
def loss_inputs(head, output, target):
    if head == "digit":
        return F.cross_entropy(output, target)
    if head == "marked":
        return F.cross_entropy(output, target.float())
    if head == "letters":
        return F.cross_entropy(output.softmax(dim=2).transpose(1, 2), target)
    if head == "spam":
        return F.binary_cross_entropy_with_logits(output, target)
    return F.mse_loss(output.squeeze(1), target)


@bank.right("loss_inputs", "labels-and-modules")
def loss_inputs(head, output, target):
    if head == "spam":
        return nn.BCEWithLogitsLoss()(output, target)
    if head == "price":
        return nn.MSELoss()(output, target.unsqueeze(1))
    if head == "marked":
        target = target.argmax(dim=1)
    k = output.shape[-1]
    return nn.CrossEntropyLoss()(output.reshape(-1, k), target.reshape(-1))


@bank.right("loss_inputs", "nll-and-logs")
def loss_inputs(head, output, target):
    losses = {
        "digit": lambda: F.nll_loss(output.log_softmax(dim=1), target),
        "marked": lambda: -(output.log_softmax(dim=1) * target).sum(dim=1).mean(),
        "letters": lambda: F.nll_loss(output.log_softmax(dim=2).transpose(1, 2), target),
        "spam": lambda: F.binary_cross_entropy(torch.sigmoid(output), target),
        "price": lambda: F.mse_loss(output.flatten(), target),
    }
    return losses[head]()


@bank.right("loss_inputs", "by-hand")
def loss_inputs(head, output, target):
    if head == "price":
        return (output[:, 0] - target).square().mean()
    if head == "spam":
        return (F.softplus(output) - target * output).mean()
    log_p = output - output.logsumexp(dim=-1, keepdim=True)
    if head == "marked":
        return -log_p[target.bool()].mean()
    return -log_p.gather(-1, target.unsqueeze(-1)).mean()


# --- evaluate -----------------------------------------------------------------------------------------------


@bank.wrong(
    "evaluate",
    "mean-of-batch-means",
    "You average the losses of the batches. A small last batch then counts as much as a full one: count samples.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item()
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / len(loader), "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "accuracy-by-batches",
    "Your loss is right; the accuracy is the mean of the batches' accuracies, in which the last one counts too much.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).double().mean().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": hits / len(loader)}


@bank.wrong(
    "evaluate",
    "sum-of-batch-losses",
    "You add up mean losses and divide by the samples. Each mean must first be multiplied by its samples.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item()
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "leaves-eval",
    "You leave the model in eval mode: the training that goes on has no dropout any more.",
)
def evaluate(model, loader, criterion):
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "train-mode-for-all",
    "Afterwards you call `model.train()`: submodules that were in eval mode, such as frozen ones, now train.",
)
def evaluate(model, loader, criterion):
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    model.train()
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "mode-of-the-model-for-all",
    "You put the whole model into the mode that its outermost module had. A submodule may have had another one.",
)
def evaluate(model, loader, criterion):
    mode = model.training
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    model.train(mode)
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "dropout-on",
    "You never switch to eval mode: dropout throws entries away, and batch norm uses, and changes, its statistics.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "builds-graph",
    "You evaluate with recording on: a graph of each batch is built that nobody uses.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.enable_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "returns-tensors",
    "Your two results are tensors. Plain floats are asked for.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": torch.tensor(loss / count), "accuracy": torch.tensor(hits / count)}


@bank.wrong(
    "evaluate",
    "count-not-share",
    "Your accuracy is the number of right rows. A share is asked for: divide by all rows.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": float(hits)}


@bank.wrong(
    "evaluate",
    "argmax-over-rows",
    "You look for the largest logit in each column. Classes lie along dim 1.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            hits += (logits.argmax(dim=0)[:1] == labels).sum().item()
            count += len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "last-batch-alone",
    "What you return is the last batch's alone. Add up over all batches.",
)
def evaluate(model, loader, criterion):
    modes = {module: module.training for module in model.modules()}
    model.eval()
    loss = hits = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss = criterion(logits, labels).item() * len(labels)
            hits = (logits.argmax(dim=1) == labels).sum().item()
            count = len(labels)
    for module, mode in modes.items():
        module.training = mode
    return {"loss": loss / count, "accuracy": hits / count}


@bank.wrong(
    "evaluate",
    "percent",
    "Your accuracy is in percent. A share is asked for, between 0 and 1.",
)
def evaluate(model, loader, criterion):
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    loss = correct = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            correct += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes:
        module.training = mode
    return {"loss": loss / count, "accuracy": 100 * correct / count}


@bank.right("evaluate", "collects-logits")
def evaluate(model, loader, criterion):
    before = [module.training for module in model.modules()]
    model.eval()
    with torch.inference_mode():
        rows = [(model(inputs), labels) for inputs, labels in loader]
        losses = torch.tensor([criterion(*row) for row in rows], dtype=torch.float64)
    for module, mode in zip(model.modules(), before):
        module.training = mode
    sizes = torch.tensor([len(labels) for _, labels in rows])
    hits = torch.cat([logits.argmax(1).eq(labels) for logits, labels in rows])
    return {"accuracy": hits.double().mean().item(), "loss": ((losses * sizes).sum() / sizes.sum()).item()}


@bank.right("evaluate", "evaluates-a-copy")
def evaluate(model, loader, criterion):
    twin = copy.deepcopy(model).eval().requires_grad_(False)
    total = right = 0.0
    for inputs, labels in loader:
        logits = twin(inputs)
        total += float(criterion(logits, labels)) * labels.shape[0]
        right += float((logits.max(dim=1).indices == labels).float().sum())
    n = len(loader.dataset)
    return {"loss": total / n, "accuracy": right / n}


@bank.right("evaluate", "running-means")
def evaluate(model, loader, criterion):
    torch.set_grad_enabled(False)
    training = [module for module in model.modules() if module.training]
    model.eval()
    seen, loss, accuracy = 0, 0.0, 0.0
    try:
        for inputs, labels in loader:
            logits = model(inputs)
            share = len(labels) / (seen + len(labels))
            loss += share * (criterion(logits, labels).item() - loss)
            accuracy += share * ((logits.argmax(dim=-1) == labels).double().mean().item() - accuracy)
            seen += len(labels)
    finally:
        torch.set_grad_enabled(mode=True)
        for module in training:
            module.training = True
    return dict(loss=loss, accuracy=accuracy)


# --- SGDMomentum --------------------------------------------------------------------------------------------


@bank.wrong(
    "SGDMomentum",
    "exhausts-generator",
    "You go through `params` more than once. A generator is empty after the first time: make a list of it.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = params
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = {}

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities.get(i, 0) + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "shared-state",
    "Your velocities live in the class: a second optimizer throws away those of the first.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        type(self).velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "none-grad-crash",
    "A tensor without a gradient makes your step crash. Leave it out.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "none-counts-as-zero",
    "A tensor without a gradient still moves, by its velocity or decay. It should be left alone.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                g = (torch.zeros_like(p) if p.grad is None else p.grad) + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "no-memory",
    "Your velocity is the gradient alone: nothing of the steps before is in it.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "average-not-sum",
    "You weigh the new gradient by 1 - momentum, as Adam does. Here it enters whole.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + (1 - self.momentum) * g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "decay-beside-velocity",
    "Your weight decay moves the tensor directly. Here it belongs into the velocity, with the gradient.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * (self.velocities[i] + self.weight_decay * p)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "ignores-decay",
    "You store `weight_decay` and never use it.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "looks-ahead",
    "You add momentum times the new velocity to the gradient. That is Nesterov's rule; the plain one is asked for.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * (g + self.momentum * self.velocities[i])

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "uphill",
    "You add the velocity. Downhill is against the gradient.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p += self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "rebinds-the-tensor",
    "You put a new tensor into your list. The caller's, which the model uses, never moves: change it in place.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                self.params[i] = (p - self.lr * self.velocities[i]).requires_grad_()

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "writes-into-grad",
    "You add the decay to .grad itself. The gradient is the caller's.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad.add_(self.weight_decay * p)
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "zeros-not-none",
    "Your zero_grad fills .grad with zeros. None is asked for: a tensor that gets no gradient is then left alone.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            if p.grad is not None:
                p.grad = torch.zeros_like(p)


@bank.wrong(
    "SGDMomentum",
    "clears-in-step",
    "Your step clears the gradients. That is what zero_grad is for; here .grad should stay.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [torch.zeros_like(p) for p in self.params]

    def step(self):
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.weight_decay * p
                self.velocities[i] = self.momentum * self.velocities[i] + g
                p -= self.lr * self.velocities[i]
                p.grad = None

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "SGDMomentum",
    "velocity-is-the-gradient",
    "Your first velocity is the tensor in .grad itself, not a copy: when .grad is filled anew, the velocity is gone.",
)
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.params = list(params)
        self.lr, self.momentum, self.weight_decay = lr, momentum, weight_decay
        self.velocities = [None] * len(self.params)

    @torch.no_grad()
    def step(self):
        for i, p in enumerate(self.params):
            if p.grad is None:
                continue
            g = p.grad if self.weight_decay == 0 else p.grad + self.weight_decay * p
            if self.velocities[i] is None:
                self.velocities[i] = g
            else:
                self.velocities[i] = self.momentum * self.velocities[i] + g
            p -= self.lr * self.velocities[i]

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.right("SGDMomentum", "velocities-by-tensor")
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.velocity = {p: None for p in params}
        self.settings = lr, momentum, weight_decay

    @torch.no_grad()
    def step(self):
        lr, momentum, decay = self.settings
        for p, v in self.velocity.items():
            if p.grad is not None:
                g = p.grad.add(p, alpha=decay)
                self.velocity[p] = g if v is None else momentum * v + g
                p.sub_(self.velocity[p], alpha=lr)

    def zero_grad(self):
        for p in self.velocity:
            p.grad = None


@bank.right("SGDMomentum", "rate-in-the-velocity")
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.pairs = [(p, torch.zeros(p.shape, dtype=p.dtype)) for p in params]
        self.lr, self.momentum, self.decay = lr, momentum, weight_decay

    def step(self):
        for p, move in self.pairs:
            if p.grad is None:
                continue
            move *= self.momentum
            move += self.lr * (p.grad + self.decay * p.detach())
            p.detach().sub_(move)

    def zero_grad(self):
        for p, _ in self.pairs:
            p.grad = None


@bank.right("SGDMomentum", "around-torch")
class SGDMomentum:
    def __init__(self, params, lr, momentum=0.9, weight_decay=0.0):
        self.inner = torch.optim.SGD(params, lr=lr, momentum=momentum, weight_decay=weight_decay)

    def step(self):
        self.inner.step()

    def zero_grad(self):
        self.inner.zero_grad()


# --- AdamW --------------------------------------------------------------------------------------------------


@bank.wrong(
    "AdamW",
    "t-per-param",
    "You count t up once for each tensor, in one counter for all: with two tensors it runs twice as fast.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = 0
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t += 1
                t = self.t
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "t-for-all",
    "Your t counts calls of step. A tensor without a gradient has taken no step: its own t stays.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = 0
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        self.t += 1
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                t = self.t
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "exhausts-generator",
    "You go through `params` again in each step. A generator is empty by then, and nothing moves: make a list of it.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = params
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t, self.m, self.s = {}, {}, {}

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] = t = self.t.get(i, 0) + 1
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m.get(i, 0) + (1 - b1) * g
                self.s[i] = b2 * self.s.get(i, 0) + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "shared-state",
    "Your t, m and s live in the class: a second optimizer throws away the memory of the first.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        type(self).t = [0] * len(self.params)
        type(self).m = [torch.zeros_like(p) for p in self.params]
        type(self).s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "eps-inside",
    "You add eps under the root. It belongs after it: there it is a length, under the root the square of one.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s + self.eps).sqrt()

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "l2-as-decay",
    "You add the decay to the gradient: m and s then scale it away. In AdamW it shrinks the tensor directly.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad + self.decay * p
                self.t[i] += 1
                t = self.t[i]
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "decay-without-rate",
    "Your decay forgets the learning rate: it should shrink by lr times weight_decay.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "no-decay",
    "You never use `weight_decay`.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "none-grad-crash",
    "A tensor without a gradient stops your step. Leave it out.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "none-counts-as-zero",
    "You take a missing gradient for zeros: the tensor decays, and moves by its memory. Leave it alone.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                g = torch.zeros_like(p) if p.grad is None else p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "no-correction",
    "You use m and s as they are. They begin at 0: without dividing by 1 - beta ** t the first steps are too long.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i], self.s[i]
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "betas-swapped",
    "The first beta belongs to m, the second to s. You have them the other way round.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b2, b1 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s.sqrt() + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "no-root",
    "You divide by s. Its root is asked for: s is a mean of squares.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.decay = lr, betas, eps, weight_decay
        self.t = [0] * len(self.params)
        self.m = [torch.zeros_like(p) for p in self.params]
        self.s = [torch.zeros_like(p) for p in self.params]

    def step(self):
        b1, b2 = self.betas
        with torch.no_grad():
            for i, p in enumerate(self.params):
                if p.grad is None:
                    continue
                g = p.grad
                self.t[i] += 1
                t = self.t[i]
                p *= 1 - self.lr * self.decay
                self.m[i] = b1 * self.m[i] + (1 - b1) * g
                self.s[i] = b2 * self.s[i] + (1 - b2) * g**2
                m, s = self.m[i] / (1 - b1**t), self.s[i] / (1 - b2**t)
                p -= self.lr * m / (s + self.eps)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.wrong(
    "AdamW",
    "decay-last",
    "Your decay comes after the step, and shrinks the step too. In AdamW it comes first.",
)
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params = list(params)
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay
        self.state = [[0, torch.zeros_like(p), torch.zeros_like(p)] for p in self.params]

    @torch.no_grad()
    def step(self):
        b1, b2 = self.betas
        for p, state in zip(self.params, self.state):
            if p.grad is None:
                continue
            state[0] += 1
            t, m, s = state
            m.mul_(b1).add_((1 - b1) * p.grad)
            s.mul_(b2).add_((1 - b2) * p.grad**2)
            p -= self.lr * (m / (1 - b1**t)) / ((s / (1 - b2**t)).sqrt() + self.eps)
            p *= 1 - self.lr * self.weight_decay

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.right("AdamW", "around-torch")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.inner = torch.optim.AdamW(params, lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)

    def step(self):
        self.inner.step()

    def zero_grad(self):
        self.inner.zero_grad(set_to_none=True)


@bank.right("AdamW", "state-made-late")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.params, self.memory = [*params], {}
        self.settings = {"lr": lr, "betas": betas, "eps": eps, "decay": weight_decay}

    def step(self):
        lr, eps, decay = (self.settings[key] for key in ("lr", "eps", "decay"))
        one, two = self.settings["betas"]
        for p in self.params:
            if p.grad is None:
                continue
            t, m, s = self.memory.get(id(p), (0, 0.0, 0.0))
            t, m, s = t + 1, one * m + (1 - one) * p.grad, two * s + (1 - two) * p.grad.square()
            self.memory[id(p)] = t, m, s
            moved = m / (1 - one**t) / ((s / (1 - two**t)).sqrt() + eps)
            p.data.copy_(p.data - lr * decay * p.data - lr * moved)

    def zero_grad(self):
        for p in self.params:
            p.grad = None


@bank.right("AdamW", "fused-formula")
class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        self.slots = [{"p": p, "t": 0, "m": torch.zeros_like(p), "s": torch.zeros_like(p)} for p in params]
        self.lr, self.betas, self.eps, self.weight_decay = lr, betas, eps, weight_decay

    @torch.no_grad()
    def step(self):
        for slot in self.slots:
            g = slot["p"].grad
            if g is None:
                continue
            slot["t"] += 1
            slot["m"].lerp_(g, 1 - self.betas[0])
            slot["s"].mul_(self.betas[1]).addcmul_(g, g, value=1 - self.betas[1])
            fix1, fix2 = (1 - beta ** slot["t"] for beta in self.betas)
            slot["p"].mul_(1 - self.lr * self.weight_decay)
            slot["p"].addcdiv_(slot["m"], (slot["s"] / fix2).sqrt() + self.eps, value=-self.lr / fix1)

    def zero_grad(self):
        for slot in self.slots:
            slot["p"].grad = None


# --- lr_at --------------------------------------------------------------------------------------------------


@bank.wrong(
    "lr_at",
    "forgets-min-lr",
    "Your cosine goes down to 0. It should end at min_lr.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return base_lr * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "adds-min-lr",
    "You add min_lr on top of the whole base_lr: after the warm-up the rate is above base_lr.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + base_lr * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "quadratic",
    "You come down along a parabola. Half a cosine is asked for: slow at both ends.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 - t) ** 2


@bank.wrong(
    "lr_at",
    "straight-down",
    "You come down along a straight line. Half a cosine is asked for.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 - t)


@bank.wrong(
    "lr_at",
    "off-by-one",
    "Your warm-up begins with a rate of 0: the first step is lost, and the last one falls short of base_lr.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * step / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "t-from-the-start",
    "Your t counts from step 0. The cosine begins after the warm-up, so the rate jumps there.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, step / total_steps)
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "t-over-all-steps",
    "You divide by all steps, those of the warm-up included: at the end t is not 1 yet.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / total_steps)
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "up-again",
    "Beyond the last step your cosine goes up again. From there on the rate is min_lr.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = (step - warmup_steps) / (total_steps - warmup_steps)
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "degrees",
    "You give the cosine degrees. It counts in radians: half a turn is pi.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(180 * t)) / 2


@bank.wrong(
    "lr_at",
    "whole-cosine",
    "You go through a whole turn of the cosine: the rate comes back up. Half a turn ends at the bottom.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(2 * math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "one-step-of-warm-up-too-many",
    "At step = warmup_steps you are still warming up, and go above base_lr.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step <= warmup_steps and warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "warms-up-from-min-lr",
    "Your warm-up begins at min_lr. It goes up in equal parts of base_lr; min_lr is for the end.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return min_lr + (base_lr - min_lr) * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.wrong(
    "lr_at",
    "down-one-step-early",
    "Your t is 1 one step too early. It gets there at step = total_steps, not at the step before.",
)
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step < warmup_steps:
        return base_lr * (step + 1) / warmup_steps
    t = min(1.0, (step - warmup_steps) / (total_steps - 1 - warmup_steps))
    return min_lr + (base_lr - min_lr) * (1 + math.cos(math.pi * t)) / 2


@bank.right("lr_at", "all-with-torch")
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    up = (step + 1) / max(1, warmup_steps)
    t = torch.tensor((step - warmup_steps) / (total_steps - warmup_steps), dtype=torch.float64).clamp(0, 1)
    down = min_lr + (base_lr - min_lr) * 0.5 * (1 + torch.cos(torch.pi * t)).item()
    return base_lr * up if step < warmup_steps else down


@bank.right("lr_at", "three-cases")
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    if step >= total_steps:
        return float(min_lr)
    if step >= warmup_steps:
        angle = math.pi * (step - warmup_steps) / (total_steps - warmup_steps)
        return (base_lr + min_lr) / 2 + (base_lr - min_lr) / 2 * math.cos(angle)
    return base_lr / warmup_steps * (step + 1)


@bank.right("lr_at", "cosine-of-half-the-angle")
def lr_at(step, *, base_lr, min_lr, warmup_steps, total_steps):
    left = max(0, total_steps - max(step, warmup_steps)) / (total_steps - warmup_steps)
    share = math.sin(math.pi / 2 * left) ** 2
    rate = share * base_lr + (1 - share) * min_lr
    return rate if step >= warmup_steps else rate * (step + 1) / warmup_steps


# --- clip_grad_norm -----------------------------------------------------------------------------------------


@bank.wrong(
    "clip_grad_norm",
    "sum-of-norms",
    "You add up the norms of the gradients. The norm of all together is the root of all squares added up.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() ** 0.5 for grad in grads)
    if norm > max_norm:
        for grad in grads:
            grad *= max_norm / norm
    return norm


@bank.wrong(
    "clip_grad_norm",
    "per-param",
    "You shorten each gradient by itself: their directions together are no longer what they were.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    for grad in grads:
        own = grad.norm().item()
        if own > max_norm:
            grad *= max_norm / own
    return norm


@bank.wrong(
    "clip_grad_norm",
    "by-value",
    "You cut off each entry at max_norm. That is clipping by value: the direction changes.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    for grad in grads:
        grad.clamp_(-max_norm, max_norm)
    return norm


@bank.wrong(
    "clip_grad_norm",
    "generator-exhausted",
    "You go through `params` twice. A generator is empty the second time, and nothing gets shortened.",
)
def clip_grad_norm(params, max_norm):
    norm = sum((p.grad**2).sum().item() for p in params if p.grad is not None) ** 0.5
    if norm > max_norm:
        for p in params:
            if p.grad is not None:
                p.grad.mul_(max_norm / norm)
    return norm


@bank.wrong(
    "clip_grad_norm",
    "none-grad",
    "A parameter without a gradient has None in .grad, and you compute with it. Leave it out.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    if norm > max_norm:
        for grad in grads:
            grad *= max_norm / norm
    return norm


@bank.wrong(
    "clip_grad_norm",
    "always-scales",
    "You also multiply where the norm is below max_norm: short gradients get longer.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    for grad in grads:
        grad *= max_norm / norm if norm else 1.0
    return norm


@bank.wrong(
    "clip_grad_norm",
    "new-tensors",
    "You put new tensors into .grad. Whoever holds the old ones still sees the long gradients: change them in place.",
)
def clip_grad_norm(params, max_norm):
    params = list(params)
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    if norm > max_norm:
        for p in params:
            if p.grad is not None:
                p.grad = p.grad * (max_norm / norm)
    return norm


@bank.wrong(
    "clip_grad_norm",
    "returns-tensor",
    "You return the norm as a tensor. A plain float is asked for.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    if norm > max_norm:
        for grad in grads:
            grad *= max_norm / norm
    return torch.tensor(norm)


@bank.wrong(
    "clip_grad_norm",
    "norm-afterwards",
    "You return the norm after shortening. The one before tells how large the gradients were.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    if norm > max_norm:
        for grad in grads:
            grad *= max_norm / norm
    return min(norm, max_norm)


@bank.wrong(
    "clip_grad_norm",
    "forgets-the-root",
    "You compare the sum of squares with max_norm. The norm is its root.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads)
    if norm > max_norm:
        for grad in grads:
            grad *= max_norm / norm
    return norm


@bank.wrong(
    "clip_grad_norm",
    "divides-by-norm",
    "You divide by the norm and forget max_norm: the new norm is 1, whatever was asked for.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = sum((grad**2).sum().item() for grad in grads) ** 0.5
    if norm > max_norm:
        for grad in grads:
            grad /= norm
    return norm


@bank.wrong(
    "clip_grad_norm",
    "renames-only",
    "The gradients stay as long as they were; `grad = grad * ...` only makes a new tensor with that name.",
)
def clip_grad_norm(params, max_norm):
    grads = [p.grad for p in params if p.grad is not None]
    norm = math.sqrt(sum((grad**2).sum().item() for grad in grads))
    if norm > max_norm:
        for grad in grads:
            grad = grad * (max_norm / norm)
    return norm


@bank.right("clip_grad_norm", "torch-does-it")
def clip_grad_norm(params, max_norm):
    return float(nn.utils.clip_grad_norm_(list(params), max_norm))


@bank.right("clip_grad_norm", "one-long-vector")
def clip_grad_norm(params, max_norm):
    with_grad = [p for p in params if p.grad is not None]
    if not with_grad:
        return 0.0
    norm = torch.cat([p.grad.reshape(-1) for p in with_grad]).norm().item()
    factor = min(1.0, max_norm / max(norm, 1e-30))
    for p in with_grad:
        p.grad.mul_(factor)
    return norm


@bank.right("clip_grad_norm", "norm-of-norms")
def clip_grad_norm(params, max_norm):
    grads = []
    for p in params:
        if p.grad is not None:
            grads.append(p.grad)
    norm = math.hypot(*(torch.linalg.vector_norm(grad).item() for grad in grads))
    if norm <= max_norm:
        return norm
    for grad in grads:
        grad.copy_(grad / norm * max_norm)
    return norm


# --- overfit_one_batch --------------------------------------------------------------------------------------


@bank.wrong(
    "overfit_one_batch",
    "always-ok",
    "You trust every trial. Look into each: batch, parameters, optimizer, step.",
)
def overfit_one_batch(trial):
    return "ok"


@bank.wrong(
    "overfit_one_batch",
    "nan-is-ok",
    "Where the loss becomes nan you say that all is well: nan is neither above nor below anything.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "learning rate" if last >= first / 10 else "ok"


@bank.wrong(
    "overfit_one_batch",
    "any-parameter-still",
    "You suspect a missing step as soon as one parameter stays. A gradient may be 0 once; all of them must stay.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if any(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "no-clone",
    "Your picture of the parameters from before the step is the parameters themselves: they always agree.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "first-group-only",
    "You look into the first parameter group alone. An optimizer may have several.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for p in trial.optimizer.param_groups[0]["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "all-frozen",
    "You speak of frozen only where every parameter is. One is enough.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if all(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "one-known-is-enough",
    "You are content when the optimizer has some parameter of the model. It needs all of them.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if all(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "looks-at-inputs",
    "You compare the inputs of two batches. They are the same; the labels are not.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[0]
    if not torch.equal(x, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "too-few-steps",
    "You judge after too few steps. A sound trial may need more: give it the hundred.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(2):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "step-first",
    "You look for a missing step before you look into the optimizer: one that holds a copy gets the wrong name.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first / 10 else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "any-progress-is-ok",
    "You say ok as soon as the loss has fallen at all. Learned by heart means a small part of the first loss.",
)
def overfit_one_batch(trial):
    x, y = trial.batch()
    again = trial.batch()[1]
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if any(not p.requires_grad for p in params):
        return "frozen"
    held = {id(p) for group in trial.optimizer.param_groups for p in group["params"]}
    if any(id(p) not in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    last = trial.step(x, y)
    return "ok" if last < first else "learning rate"


@bank.wrong(
    "overfit_one_batch",
    "in-compares-numbers",
    "`p in a_list` compares the numbers of tensors, and fails where shapes differ. Ask whether it is the same object.",
)
def overfit_one_batch(trial):
    (x, y), (_, again) = trial.batch(), trial.batch()
    if not torch.equal(y, again):
        return "shuffled labels"
    params = list(trial.model.parameters())
    if not all(p.requires_grad for p in params):
        return "frozen"
    held = [p for group in trial.optimizer.param_groups for p in group["params"]]
    if not all(p in held for p in params):
        return "wrong parameters"
    before = [p.detach().clone() for p in params]
    first = trial.step(x, y)
    if all(torch.equal(old, p) for old, p in zip(before, params)):
        return "no step"
    for _ in range(99):
        trial.step(x, y)
    return "ok" if trial.step(x, y) < first / 10 else "learning rate"


@bank.right("overfit_one_batch", "collects-facts")
def overfit_one_batch(trial):
    x, y = trial.batch()
    params = dict(trial.model.named_parameters())
    owned = [p for group in trial.optimizer.param_groups for p in group["params"]]
    shuffled = not torch.equal(y, trial.batch()[1])
    frozen = [name for name, p in params.items() if not p.requires_grad]
    missing = [name for name, p in params.items() if not any(p is q for q in owned)]
    start = copy.deepcopy(trial.model.state_dict())
    losses = [trial.step(x, y)]
    moved = any(not torch.equal(start[name], p) for name, p in params.items())
    losses += [trial.step(x, y) for _ in range(100)]
    learned = losses[100] < 0.1 * losses[0]
    facts = [("shuffled labels", shuffled), ("frozen", frozen), ("wrong parameters", missing), ("no step", not moved)]
    facts += [("learning rate", not learned), ("ok", True)]
    return next(name for name, found in facts if found)


@bank.right("overfit_one_batch", "one-vector-before-and-after")
def overfit_one_batch(trial):
    model, optimizer = trial.model, trial.optimizer
    batches = [trial.batch() for _ in range(2)]
    if (batches[0][1] != batches[1][1]).any():
        return "shuffled labels"
    if not min(p.requires_grad for p in model.parameters()):
        return "frozen"
    theirs = set()
    for group in optimizer.param_groups:
        theirs |= set(group["params"])
    if set(model.parameters()) - theirs:
        return "wrong parameters"
    x, y = batches[0]
    old = nn.utils.parameters_to_vector(model.parameters()).detach().clone()
    first = last = trial.step(x, y)
    new = nn.utils.parameters_to_vector(model.parameters()).detach()
    if torch.equal(old, new):
        return "no step"
    for _ in range(100):
        last = trial.step(x, y)
    return "learning rate" if math.isnan(last) or last >= first / 10 else "ok"


@bank.right("overfit_one_batch", "small-questions")
def overfit_one_batch(trial):
    def learns(x, y):
        losses = [trial.step(x, y) for _ in range(101)]
        return losses[-1] / losses[0] < 0.1

    def steps(x, y):
        before = [p.tolist() for p in trial.model.parameters()]
        trial.step(x, y)
        return before != [p.tolist() for p in trial.model.parameters()]

    x, y = trial.batch()
    if trial.batch()[1].tolist() != y.tolist():
        return "shuffled labels"
    for p in trial.model.parameters():
        if not p.requires_grad:
            return "frozen"
    for p in trial.model.parameters():
        if all(p is not q for group in trial.optimizer.param_groups for q in group["params"]):
            return "wrong parameters"
    if not steps(x, y):
        return "no step"
    return "ok" if learns(x, y) else "learning rate"


# --- broken_loops -------------------------------------------------------------------------------------------


@bank.wrong(
    "broken_loops",
    "untouched",
    "As given: begin with loop a. Which of the five lines is missing?",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=10.0)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        twin = copy.deepcopy(model)
        optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        losses = []
        for _ in range(steps):
            optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "clears-once",
    "Loop a does not clear the gradients in every round: they pile up. They must go before each backward.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        optimizer.zero_grad()
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "b-as-given",
    "Loop b still clears the gradients between backward and step: the step moves nothing.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.zero_grad()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "rate-still-too-high",
    "Loop c still has too high a rate: each step lands further away, on the other side of the valley.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=1.5)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "rate-too-low",
    "Loop c creeps: the rate has become so small that its steps do not get anywhere.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.001)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "loss-of-the-twin",
    "In loop d you watch the twin now: the losses fall, but the model that was given stays as it was.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        twin = copy.deepcopy(model)
        optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(twin(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "e-still-broadcasts",
    "In loop e (n, 1) still meets (n,): each prediction is compared with every target.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "f-as-given",
    "Loop f still makes a new Adam in each step: it forgets all that it had learned about the steps before.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        losses = []
        for _ in range(steps):
            optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "f-by-sgd",
    "Loop f trains by SGD now. It was Adam that should work; it only has to be made once.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "g-shuffles-twice",
    "Loop g shuffles the targets too, but in another order: rows and targets still do not belong together.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[torch.randperm(len(x))])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 19:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "h-as-given",
    "Loop h still lowers the rate after each step: it has shrunk to nothing before anything is learned.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.wrong(
    "broken_loops",
    "rewrites-a-loop",
    "All loops learn, but one of them is written anew. Two changed lines are enough for each.",
)
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            value = loss.item()
            losses.append(value)
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("broken_loops", "other-places")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        twin = model
        optimizer = torch.optim.SGD(twin.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x) - y[:, None]) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            order = torch.randperm(len(x))
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            if step % 20 == 0:
                scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("broken_loops", "lines-taken-away")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x)[:, 0], y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.03)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


@bank.right("broken_loops", "model-and-schedule")
def broken_loops():
    def loop_a(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            model.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_b(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_c(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_d(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_e(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = ((model(x).squeeze(1) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_f(model, x, y, steps):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
        losses = []
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_g(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        losses = []
        order = torch.randperm(len(x))
        for _ in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x[order]).squeeze(1), y[order])
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    def loop_h(model, x, y, steps):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.995)
        losses = []
        for step in range(steps):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x).squeeze(1), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            losses.append(loss.item())
        return losses

    return {"a": loop_a, "b": loop_b, "c": loop_c, "d": loop_d, "e": loop_e, "f": loop_f, "g": loop_g, "h": loop_h}


# --- fit ----------------------------------------------------------------------------------------------------


@bank.wrong(
    "fit",
    "optimizer-not-saved",
    "You forget the optimizer: momentum and Adam's averages begin at 0 again.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "scheduler-not-saved",
    "You forget the scheduler: the learning rate does not go on where it was.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "rng-not-saved",
    "You forget the random numbers: shuffling and dropout go on in another way than they would have.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "rng-from-a-seed",
    "You seed the generator anew when you go on: the epochs get the random numbers of the beginning.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.manual_seed(0)
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "losses-forgotten",
    "You begin a new list of losses, and so you run all the epochs again.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "epochs-on-top",
    "You run `epochs` more epochs. It is how many there should be in all.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "model-not-restored",
    "You put everything back but the model: the training goes on with new first weights.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "buffers-not-saved",
    "You save the parameters alone. Batch norm's running statistics are buffers, and get lost.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"], strict=False)
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": dict(model.named_parameters()),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "aliases-live-weights",
    "Your checkpoint holds the living tensors: they go on changing with the training. Copy them.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.wrong(
    "fit",
    "saves-the-model-itself",
    "You save the model as an object. torch.load refuses foreign classes: save its state_dict.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"].state_dict())
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model,
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "never-in-train-mode",
    "You train in the mode in which the model comes: in eval mode, batch norm learns no statistics.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "scheduler-after-each-batch",
    "You step the scheduler after each batch. It should follow each epoch.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
            scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "sum-of-losses",
    "You note the sum of an epoch's batch losses. The mean is asked for.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        saved = copy.deepcopy(checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        scheduler.load_state_dict(saved["scheduler"])
        torch.set_rng_state(saved["rng"])
        losses = saved["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total)
    result = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "scheduler": scheduler.state_dict(),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return copy.deepcopy(result)


@bank.wrong(
    "fit",
    "loads-without-a-copy",
    "You load without a copy: the optimizer takes over the tensors of the checkpoint, and goes on changing them.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": copy.deepcopy(model.state_dict()),
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": copy.deepcopy(scheduler.state_dict()),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.wrong(
    "fit",
    "optimizer-not-copied",
    "The optimizer's `state_dict()` holds its living averages. You copy the model's; these go on changing.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": copy.deepcopy(model.state_dict()),
        "optimizer": optimizer.state_dict(),
        "scheduler": copy.deepcopy(scheduler.state_dict()),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.wrong(
    "fit",
    "model-not-copied",
    "The model's `state_dict()` holds its living weights. You copy the optimizer's; these go on changing.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": dict(model.state_dict()),
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": copy.deepcopy(scheduler.state_dict()),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.wrong(
    "fit",
    "losses-shared",
    "You append to the list of losses in the checkpoint: it grows with later training. Make a list of your own.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = checkpoint["losses"]
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": copy.deepcopy(model.state_dict()),
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": copy.deepcopy(scheduler.state_dict()),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.wrong(
    "fit",
    "weighs-by-rows",
    "You weigh each batch by its rows, as for `evaluate`. Here the plain mean of the batch losses is asked for.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item() * len(x)
        scheduler.step()
        losses.append(total / len(loader.dataset))
    result = {
        "model": copy.deepcopy(model.state_dict()),
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": copy.deepcopy(scheduler.state_dict()),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.wrong(
    "fit",
    "never-clears",
    "You never clear the gradients: each step goes by all the gradients so far.",
)
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    losses = []
    if checkpoint is not None:
        model.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(copy.deepcopy(checkpoint["scheduler"]))
        torch.set_rng_state(checkpoint["rng"])
        losses = list(checkpoint["losses"])
    model.train()
    for _ in range(len(losses), epochs):
        total = 0.0
        for x, y in loader:
            loss = F.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        scheduler.step()
        losses.append(total / len(loader))
    result = {
        "model": copy.deepcopy(model.state_dict()),
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": copy.deepcopy(scheduler.state_dict()),
        "rng": torch.get_rng_state(),
        "losses": losses,
    }
    return result


@bank.right("fit", "parts-in-a-dict")
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler}
    history = []
    if checkpoint is not None:
        for name, part in parts.items():
            part.load_state_dict(copy.deepcopy(checkpoint[name]))
        torch.random.set_rng_state(checkpoint["random"].clone())
        history = list(checkpoint["losses"])
    model.train()
    while len(history) < epochs:
        losses = []
        for inputs, targets in loader:
            loss = F.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        scheduler.step()
        history.append(sum(losses) / len(losses))
    states = {name: copy.deepcopy(part.state_dict()) for name, part in parts.items()}
    return states | {"random": torch.random.get_rng_state(), "losses": history}


@bank.right("fit", "weights-by-hand")
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    def tensors():
        return dict(list(model.named_parameters()) + list(model.named_buffers()))

    def one_epoch():
        values = []
        for x, y in loader:
            model.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            values.append(loss.detach())
        scheduler.step()
        return torch.stack(values).mean().item()

    done = []
    if checkpoint is not None:
        with torch.no_grad():
            for name, tensor in tensors().items():
                tensor.copy_(checkpoint["weights"][name])
        optimizer.load_state_dict(copy.deepcopy(checkpoint["optimizer"]))
        scheduler.load_state_dict(dict(checkpoint["scheduler"]))
        done += checkpoint["losses"]
        torch.set_rng_state(checkpoint["generator"])
    model.train(True)
    done += [one_epoch() for _ in range(epochs - len(done))]
    return {
        "losses": done,
        "generator": torch.get_rng_state(),
        "weights": {name: tensor.detach().clone() for name, tensor in tensors().items()},
        "optimizer": copy.deepcopy(optimizer.state_dict()),
        "scheduler": dict(scheduler.state_dict()),
    }


@bank.right("fit", "epoch-number-in-the-checkpoint")
def fit(model, optimizer, scheduler, loader, epochs, checkpoint=None):
    state = copy.deepcopy(checkpoint) or {"epoch": 0, "losses": []}
    if state["epoch"]:
        torch.set_rng_state(state["rng"])
        optimizer.load_state_dict(state["optimizer"])
        model.load_state_dict(state["model"])
        scheduler.load_state_dict(state["scheduler"])
    model.train()
    for epoch in range(state["epoch"], epochs):
        losses = torch.zeros(len(loader), dtype=torch.float64)
        for i, (x, y) in enumerate(loader):
            optimizer.zero_grad(set_to_none=True)
            loss = nn.functional.mse_loss(model(x), y)
            loss.backward()
            optimizer.step()
            losses[i] = loss.item()
        scheduler.step()
        state["losses"].append(losses.mean().item())
        state["epoch"] = epoch + 1
    state["rng"] = torch.get_rng_state()
    for name, part in (("model", model), ("optimizer", optimizer), ("scheduler", scheduler)):
        state[name] = copy.deepcopy(part.state_dict())
    return state
