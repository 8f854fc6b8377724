"""Answers to `HouseNet`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("HouseNet")


@bank.wrong(
    "untouched",
    "It still does what it did when you found it: print the names in named_parameters(), and count them.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = [nn.Linear(features, 16), nn.Linear(16, 8)]
        self.scale = torch.tensor(100.0)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        out = nn.Linear(8, 1)
        return (out(x) * self.scale).squeeze(1)


bank.told(
    "layers-still-in-a-list",
    "hidden",
    change={
        "nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])": "[nn.Linear(features, 16), nn.Linear(16, 8)]"
    },
)

bank.wrong(
    "output-layer-still-new",
    "The output layer is made anew at each call: what it learns is lost. Make it in `__init__`.",
    change={
        "self.out = nn.Linear(8, 1)": "",
        "return (self.out(x) * self.scale).squeeze(1)": "out = nn.Linear(8, 1)\nreturn (out(x) * self.scale).squeeze(1)",
    },
)

bank.told(
    "output-layer-made-at-the-first-call",
    "out",
    change={
        "self.out = nn.Linear(8, 1)": "",
        "for layer in self.hidden:": 'if not hasattr(self, "out"):\n    self.out = nn.Linear(8, 1)\nfor layer in self.hidden:',
    },
)

bank.wrong(
    "scale-still-a-tensor",
    "The scale is a plain tensor, so nobody would train it. Make it an nn.Parameter.",
    change={"nn.Parameter(torch.tensor(100.0))": "torch.tensor(100.0)"},
)

bank.wrong(
    "only-the-list-mended",
    "Output layer and scale are missing among what learns: print the names in named_parameters().",
    also=("output-layer-still-new", "scale-still-a-tensor"),
    change={
        "self.out = nn.Linear(8, 1)": "",
        "nn.Parameter(torch.tensor(100.0))": "torch.tensor(100.0)",
        "return (self.out(x) * self.scale).squeeze(1)": "out = nn.Linear(8, 1)\nreturn (out(x) * self.scale).squeeze(1)",
    },
)

bank.wrong(
    "only-the-output-mended",
    "Hidden layers and scale are missing among what learns: print the names in named_parameters().",
    also=("scale-still-a-tensor",),
    change={
        "nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])": "[nn.Linear(features, 16), nn.Linear(16, 8)]",
        "nn.Parameter(torch.tensor(100.0))": "torch.tensor(100.0)",
    },
)

bank.wrong(
    "only-the-scale-mended",
    "No layer stands in named_parameters(): neither those of the list nor the one that `forward` makes.",
    also=("output-layer-still-new",),
    change={
        "nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])": "[nn.Linear(features, 16), nn.Linear(16, 8)]",
        "self.out = nn.Linear(8, 1)": "",
        "return (self.out(x) * self.scale).squeeze(1)": "out = nn.Linear(8, 1)\nreturn (out(x) * self.scale).squeeze(1)",
    },
)

bank.wrong(
    "scale-as-a-buffer",
    "You made the scale a buffer: it moves and is saved with the model, but it does not learn.",
    change={"self.scale = nn.Parameter(torch.tensor(100.0))": 'self.register_buffer("scale", torch.tensor(100.0))'},
)

bank.wrong(
    "tracked-scale",
    "`requires_grad=True` tracks the scale, but does not register it: a parameter is an nn.Parameter.",
    change={"nn.Parameter(torch.tensor(100.0))": "torch.tensor(100.0, requires_grad=True)"},
)

bank.wrong(
    "lost-the-relu",
    "There is no ReLU after the hidden layers: it got lost on the way.",
    change={"torch.relu(layer(x))": "layer(x)"},
)

bank.wrong(
    "reads-the-scale-out",
    "No gradient arrives at the scale: you compute with what `.item()`, `.data` or `.detach()` takes out of it, or not with "
    "the scale at all.",
    change={"* self.scale": "* self.scale.item()"},
)

bank.wrong(
    "scale-of-shape-one",
    "Your scale has shape (1,), as a list of one number has. A scalar has no dims: `torch.tensor(100.0)`.",
    change={"torch.tensor(100.0)": "torch.full((1,), 100.0)"},
)

bank.wrong(
    "second-relu-missing",
    "One hidden layer has no ReLU after it. Each of the two has one.",
    change={"nn.Linear(16, 8), nn.ReLU()": "nn.Linear(16, 8)"},
    of="own-lines",
)

bank.wrong(
    "scale-begins-at-one",
    "Your first prices are those of a scale of 1. It begins at 100.0, and that was right.",
    change={"torch.tensor(100.0)": "torch.tensor(1.0)"},
)


@bank.right("own-lines")
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1))
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        return self.net(x)[:, 0] * self.scale


@bank.right("sequential")
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.full((), 100.0))
        self.net = nn.Sequential(
            nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0)
        )

    def forward(self, x):
        return self.scale * self.net(x)


@bank.right("named-layers")
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(features, 16), nn.Linear(16, 8), nn.Linear(8, 1)
        self.register_parameter("scale", nn.Parameter(torch.tensor(100.0)))

    def forward(self, x):
        h = self.second(self.first(x).relu()).relu()
        return self.last(h)[:, 0] * self.scale


@bank.right("registered-beside-the-list")
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = [nn.Linear(features, 16), nn.Linear(16, 8)]
        for i, layer in enumerate(self.hidden):
            self.add_module(f"hidden{i}", layer)
        self.out = nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).reshape(-1)


bank.wrong(
    "squeezes-every-dim",
    "A batch of one house loses its only dim: `squeeze()` without a number drops every dim of size 1. Name the one to drop.",
    change={"squeeze(1)": "squeeze()"},
)

bank.wrong(
    "relu-after-the-output",
    "A ReLU follows your last layer too: what it gives below 0 becomes 0, and learns nothing there. It follows the two hidden layers alone.",
    change={"self.out(x)": "torch.relu(self.out(x))"},
)

bank.wrong(
    "scale-not-used",
    "Nothing is multiplied by the scale: no price depends on it.",
    also=("reads-the-scale-out",),
    change={"(self.out(x) * self.scale).squeeze(1)": "self.out(x).squeeze(1)"},
)

bank.wrong(
    "frozen-scale",
    "Your scale is a parameter, but a frozen one, with requires_grad=False: it does not learn.",
    change={"torch.tensor(100.0)": "torch.tensor(100.0), requires_grad=False"},
)

bank.wrong(
    "scale-still-a-number",
    "Your scale is a plain number, and no training step can reach it. Make it an nn.Parameter.",
    change={"nn.Parameter(torch.tensor(100.0))": "100.0"},
)

bank.wrong(
    "first-relu-missing",
    "The first hidden layer has no ReLU after it, and each of the two has one.",
    change={"nn.Linear(features, 16), nn.ReLU()": "nn.Linear(features, 16)"},
    of="own-lines",
)

bank.told(
    "hidden-layers-without-a-graph",
    "reached",
    change={"x = torch.relu(layer(x))": "with torch.no_grad():\n    x = torch.relu(layer(x))"},
)

bank.wrong(
    "keeps-an-axis-of-one",
    "Your prices have shape (batch, 1), as the output layer gives them. One number for each house is asked for: (batch,).",
    change={"(self.out(x) * self.scale).squeeze(1)": "self.out(x) * self.scale"},
)

bank.wrong(
    "scale-from-a-product",
    "Your scale is a result, computed from something that requires grad, and a result is a plain tensor: nobody would "
    "train it. Compute first, and wrap last.",
    change={"nn.Parameter(torch.tensor(100.0))": "nn.Parameter(torch.tensor(1.0)) * 100"},
)

bank.wrong(
    "scale-made-by-forward",
    "`forward` makes your scale, so that parameters() does not list it before a call, and no optimizer would be given it. "
    "Make it in `__init__`.",
    change={
        "self.scale = nn.Parameter(torch.tensor(100.0))": "",
        "for layer in self.hidden:": "self.scale = nn.Parameter(torch.tensor(100.0))\nfor layer in self.hidden:",
    },
)

bank.wrong(
    "relu-at-the-end-and-every-dim-squeezed",
    "A ReLU follows your last layer too: what it gives below 0 becomes 0. And `squeeze()` without a number drops every dim "
    "of size 1, also that of a batch of one house.",
    change={"(self.out(x) * self.scale).squeeze(1)": "(torch.relu(self.out(x)) * self.scale).squeeze()"},
)

bank.survives(
    {
        "self.out(x) * self.scale -> self.scale * self.out(x)": "Numbers multiply in any order.",
    }
)

bank.told(
    "output-of-the-class",
    "own_parameters",
    change={
        "def __init__(self, features):": "output = nn.Linear(8, 1)\n\ndef __init__(self, features):",
        "self.out = nn.Linear(8, 1)": "self.out = HouseNet.output",
    },
)
