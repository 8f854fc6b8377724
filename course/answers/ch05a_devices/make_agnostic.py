"""Answers to `make_agnostic`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("make_agnostic")


@bank.wrong(
    "untouched",
    "All five do what they did when you found them. Begin with AddPlaces: on which device are the numbers that its forward makes?",
    also=(
        "epoch-as-it-came",
        "layers-in-a-list",
        "mask-is-no-buffer",
        "optimizer-first",
        "places-on-the-cpu",
    ),
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1])
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            self.mask = torch.zeros(width)
            self.mask[columns] = 1.0

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = [nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return optimizer

    def epoch(model, optimizer, batches, device):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


bank.wrong(
    "places-of-a-fixed-length",
    "AddPlaces has its places made beforehand, up to a fixed length, and a longer sequence stops it. Make as many as x has rows, "
    "in forward.",
    change={
        "self.slope = nn.Parameter(torch.ones(width))": 'self.slope = nn.Parameter(torch.ones(width))\nself.register_buffer("places", torch.arange(64))',
        "torch.arange(x.shape[1], device=x.device)": "self.places[: x.shape[1]]",
    },
)

bank.wrong(
    "places-on-the-cpu",
    "The numbers that AddPlaces adds in forward are not where x is. Make them there, in each call.",
    change={"torch.arange(x.shape[1], device=x.device)": "torch.arange(x.shape[1])"},
)

bank.wrong(
    "mask-is-no-buffer",
    "The mask of KeepColumns is a plain attribute: the `.to` of torch does not know it, and leaves it behind.",
    change={'self.register_buffer("mask", mask)': "self.mask = mask"},
)

bank.wrong(
    "layers-in-a-list",
    "The layers of Stack stand in a plain list. The module does not know them: they neither move nor learn.",
    change={
        "nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))": "[nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]"
    },
)

bank.wrong(
    "optimizer-first",
    "`start` makes the optimizer before the head is replaced: it holds the old head, and not the new one.",
    change={
        "model.head = nn.Linear(model.head.in_features, classes)": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nmodel.head = nn.Linear(model.head.in_features, classes)",
        "return torch.optim.SGD(model.parameters(), lr=0.1)": "return optimizer",
    },
)

bank.wrong(
    "optimizer-before-the-head",
    "`start` gives the optimizer the parameters from before the head is replaced: it holds the old head, and not the new one.",
    change={
        "model.head = nn.Linear(model.head.in_features, classes)\nmodel.to(device)\nreturn torch.optim.SGD(model.parameters(), lr=0.1)": "model.to(device)\noptimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nmodel.head = nn.Linear(model.head.in_features, classes).to(device)\nreturn optimizer"
    },
)

bank.wrong(
    "moves-too-early",
    "`start` moves the model before the head is replaced: the new head is not on the device. Move the model at the end.",
    change={
        "model.head = nn.Linear(model.head.in_features, classes)\nmodel.to(device)": "model.to(device)\nmodel.head = nn.Linear(model.head.in_features, classes)"
    },
)

bank.wrong(
    "targets-left-behind",
    "In `epoch` something of the batch stays behind, the targets, x or both: on another device, what is there meets what is "
    "still on the CPU.",
    change={"y.to(device)": "y"},
)

bank.wrong(
    "item-in-the-loop",
    "`epoch` looks at each loss, by item() or a print, and so waits for the device in each step. Add up tensors.",
    change={"loss.detach()": "loss.item()"},
)

bank.wrong(
    "item-at-the-end",
    "`epoch` returns a float: to make one, it waits for the device. Return the tensor; who prints it may wait.",
    change={"total / len(batches)": "(total / len(batches)).item()"},
)

bank.wrong(
    "epoch-as-it-came",
    "`epoch` is as it came: it has two faults. One batch part stays behind, and each step waits for a value.",
    also=("targets-left-behind",),
    change={
        "total = torch.zeros((), device=device)": "total = 0.0",
        "y.to(device)": "y",
        "loss.detach()": "loss.item()",
    },
)

bank.wrong(
    "mask-is-learned",
    "You made the mask a parameter: now it is learned, and after a step it masks no longer. A buffer moves, and stays.",
    change={'self.register_buffer("mask", mask)': "self.mask = nn.Parameter(mask)"},
)

bank.wrong(
    "mask-moved-in-forward",
    "You move the mask in each forward pass. The module itself still leaves it behind; a buffer moves once, with it.",
    change={'self.register_buffer("mask", mask)': "self.mask = mask", "x * self.mask": "x * self.mask.to(x.device)"},
)

bank.wrong(
    "layers-moved-in-forward",
    "You move the layers of Stack in forward. They move, but the module does not know them: nobody learns them.",
    change={
        "nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))": "[nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]",
        "layer(x)": "layer.to(x.device)(x)",
    },
)

bank.wrong(
    "optimizer-before-the-move",
    "`start` makes the optimizer before the model is moved. Where moving makes new parameters, it holds the old ones.",
    change={
        "model.to(device)\nreturn torch.optim.SGD(model.parameters(), lr=0.1)": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nmodel.to(device)\nreturn optimizer"
    },
)

bank.wrong(
    "head-alone",
    "Your optimizer holds the new head alone. The rest of the model is to be trained too.",
    change={"model.parameters()": "model.head.parameters()"},
)

bank.wrong(
    "adds-the-head",
    "You add the new head to the old optimizer. It still holds the old head, and the parameters from before the move.",
    change={
        "model.head = nn.Linear(model.head.in_features, classes)": "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\nmodel.head = nn.Linear(model.head.in_features, classes)",
        "return torch.optim.SGD(model.parameters(), lr=0.1)": 'optimizer.add_param_group({"params": model.head.parameters()})\nreturn optimizer',
    },
)

bank.wrong(
    "keeps-the-record",
    "`epoch` adds up losses with their graphs: until it ends, all of these stay. Detach each loss first.",
    change={"total += loss.detach()": "total = total + loss"},
)

bank.wrong(
    "sum-of-losses",
    "`epoch` returns the sum of the losses. Asked for is their mean.",
    change={"total / len(batches)": "total"},
)

bank.wrong(
    "mean-over-the-last-batch",
    "`epoch` divides by the rows of the last batch. Each loss is a mean already: divide by the number of batches.",
    change={"len(batches)": "len(x)"},
)

bank.wrong(
    "mean-over-rows",
    "`epoch` divides by the number of rows. Each loss is a mean already: divide by the number of batches.",
    change={"len(batches)": "sum(len(x) for x, _ in batches)"},
)

bank.wrong(
    "losses-to-the-cpu",
    "`epoch` brings each loss to the CPU, and the host waits for that in each step. Add them up where they are.",
    change={"torch.zeros((), device=device)": "torch.tensor(0.0)", "loss.detach()": "loss.detach().cpu()"},
)

bank.wrong(
    "learned-places",
    "You made a parameter of the row numbers: they move, but they are learned now too. Only slope is to be learned.",
    change={
        "self.slope = nn.Parameter(torch.ones(width))": "self.slope = nn.Parameter(torch.ones(width))\nself.places = nn.Parameter(torch.arange(100.0))",
        "torch.arange(x.shape[1], device=x.device)": "self.places[: x.shape[1]]",
    },
)

bank.wrong(
    "slope-is-detached",
    "You detach the slope in AddPlaces: no gradient arrives at it, and it is never learned.",
    change={"places[:, None] * self.slope": "places[:, None] * self.slope.detach()"},
)

bank.wrong(
    "as-many-as-columns",
    "In AddPlaces two shapes do not meet, as where it makes as many numbers as x has columns. It takes one for each row of a "
    "sequence, x.shape[1], and one below the other: places[:, None].",
    change={"torch.arange(x.shape[1], device=x.device)": "torch.arange(x.shape[-1], device=x.device)"},
)

bank.wrong(
    "another-rate",
    "`start` gives its optimizer another learning rate than the one that stood there.",
    change={"lr=0.1": "lr=0.01"},
)

bank.wrong(
    "loss-in-a-list",
    "`epoch` returns a tensor of shape (1,). A scalar has the shape (): torch.zeros(()) is one.",
    change={"torch.zeros((), device=device)": "torch.zeros(1, device=device)"},
)

bank.wrong(
    "float-and-back",
    "`epoch` makes a number of the loss and a tensor of the number. For the number it waits: stay with tensors.",
    change={
        "total = torch.zeros((), device=device)": "total = 0.0",
        "total / len(batches)": "torch.tensor(float(total) / len(batches), device=device)",
    },
)


@bank.right("moved-like-x")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1]).to(x)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])])

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    modules = {"places": AddPlaces, "keep": KeepColumns, "stack": Stack}
    return {**modules, "start": start, "epoch": epoch}


@bank.right("outer-and-sequential")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return x + torch.outer(x.new_tensor(range(x.shape[1])), self.slope)

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.Sequential(*map(nn.Linear, sizes[:-1], sizes[1:]))

        def forward(self, x):
            return self.layers(x)

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        losses = []
        for batch in batches:
            x, y = (part.to(device) for part in batch)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.right("made-on-the-spot")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return x + torch.ones_like(x).cumsum(dim=1).sub(1.0) * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.tensor([float(i in columns) for i in range(width)])
            self.mask = nn.Buffer(mask)

        def forward(self, x):
            return torch.where(self.mask > 0, x, 0.0)

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes, device=device)
        model = model.to(device)
        return torch.optim.SGD(list(model.parameters()), 0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.right("frozen-mask-and-setattr")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.mask = nn.Parameter(mask, requires_grad=False)

        def forward(self, x):
            return self.mask * x

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.count = len(sizes) - 1
            for i in range(self.count):
                setattr(self, f"layer{i}", nn.Linear(sizes[i], sizes[i + 1]))

        def forward(self, x):
            for i in range(self.count):
                x = getattr(self, f"layer{i}")(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total, count = None, 0
        for x, y in batches:
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                total = loss.clone() if total is None else total + loss
            count += 1
        return total / count

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.right("as-most-begin")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


bank.survives(
    {
        "total / len(batches) -> total.div_(len(batches))": "The total is the answer's own; nobody else holds it.",
        "x + places[:, None] * self.slope -> places[:, None] * self.slope + x": "Addition does not mind the order.",
        "x * self.mask -> self.mask * x": "Numbers multiply in any order.",
        "places[:, None] * self.slope -> self.slope * places[:, None]": "Numbers multiply in any order.",
        "optimizer -> model": "The model clears the gradients of the same parameters.",
        "device -> total (4)": "Moving x to where total is moves it to the device, and both are float32.",
    }
)

bank.wrong(
    "without-the-frozen",
    "You give the optimizer only parameters that require grad. A frozen one may be thawed later; the program gave it all that the model has.",
    change={
        "torch.optim.SGD(model.parameters(), lr=0.1)": "torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.1)"
    },
)
