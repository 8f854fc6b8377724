"""Answers to `TwoLayerMLP`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("TwoLayerMLP")


bank.wrong(
    "no-super-init",
    "You assign layers before the module is ready for them: `super().__init__()` comes first.",
    change={"super().__init__()": ""},
)


bank.wrong(
    "plain-attribute-tensor",
    "Your weights are plain tensors: the module does not list them, and nobody would train them. Use nn.Linear.",
    also=("layers-in-forward",),
    change={
        "self.fc1 = nn.Linear(in_features, hidden)": "self.w1 = torch.ones(in_features, hidden, requires_grad=True)",
        "self.fc2 = nn.Linear(hidden, out_features)": "self.w2 = torch.ones(hidden, out_features, requires_grad=True)",
        "return self.fc2(torch.relu(self.fc1(x)))": "return torch.relu(x @ self.w1) @ self.w2",
    },
)


bank.wrong(
    "no-activation",
    "What fc1 gives goes into fc2 as it is. Without a ReLU on the way, whose result goes on, two linear layers compute "
    "no more than one does.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "self.fc2(self.fc1(x))"},
)

bank.wrong(
    "uses-sequential",
    "It computes the right thing, but by nn.Sequential. Here you say in `forward` yourself what follows what.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "nn.Sequential(self.fc1, nn.ReLU(), self.fc2)(x)"},
)

bank.wrong(
    "activation-after-last",
    "You apply a ReLU after fc2 as well: the result can never be negative. It belongs between the layers.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "torch.relu(self.fc2(torch.relu(self.fc1(x))))"},
)


@bank.wrong(
    "layers-in-forward",
    "Your module lists no layers: it looks at no plain list and no plain tensor, and what `forward` makes is new at each call. Assign layers to self in `__init__`.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.sizes = in_features, hidden, out_features

    def forward(self, x):
        fc1, fc2 = nn.Linear(*self.sizes[:2]), nn.Linear(*self.sizes[1:])
        return fc2(torch.relu(fc1(x)))


bank.wrong(
    "other-names",
    "Your layers have other names than fc1 and fc2. Saved weights are found by name.",
    change={
        "self.fc1 =": "self.layer1 =",
        "self.fc2 =": "self.layer2 =",
        "self.fc2(torch.relu(self.fc1(x)))": "self.layer2(torch.relu(self.layer1(x)))",
    },
)

bank.wrong(
    "sigmoid-between",
    "You have a sigmoid between the layers. A ReLU is asked for.",
    change={"torch.relu": "torch.sigmoid"},
)

bank.wrong(
    "no-bias",
    "You switch the biases of the layers off. A layer here has a weight and a bias.",
    change={
        "nn.Linear(in_features, hidden)": "nn.Linear(in_features, hidden, bias=False)",
        "nn.Linear(hidden, out_features)": "nn.Linear(hidden, out_features, bias=False)",
    },
)

bank.wrong(
    "transposed-sizes",
    "Your layers have their sizes the wrong way round: nn.Linear takes first what comes in, then what goes out.",
    change={
        "nn.Linear(in_features, hidden)": "nn.Linear(hidden, in_features)",
        "nn.Linear(hidden, out_features)": "nn.Linear(out_features, hidden)",
    },
)

bank.wrong(
    "hidden-of-the-example",
    "Your hidden layer has 16 units whatever `hidden` says. That is the number of the example.",
    change={
        "nn.Linear(in_features, hidden)": "nn.Linear(in_features, 16)",
        "nn.Linear(hidden, out_features)": "nn.Linear(16, out_features)",
    },
)

bank.wrong(
    "stops-at-six",
    "Your activation cuts off large numbers too, as ReLU6 does above 6. A ReLU gives everything above 0 on as it is.",
    change={
        "nn.Linear(hidden, out_features)": "nn.Linear(hidden, out_features)\nself.act = nn.ReLU6()",
        "torch.relu": "self.act",
    },
)

bank.wrong(
    "one-layer-for-both",
    "There is no hidden layer of its own width: fc1 goes to `out_features` already.",
    change={
        "nn.Linear(in_features, hidden)": "nn.Linear(in_features, out_features)",
        "nn.Linear(hidden, out_features)": "nn.Linear(out_features, out_features)",
    },
)

bank.wrong(
    "squeezes-the-result",
    "Your result loses its last dim where out_features is 1. Shape (5, 8) gives (5, 1), as for any other out_features.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "self.fc2(torch.relu(self.fc1(x))).squeeze(-1)"},
)

bank.wrong(
    "relu-before-the-first-layer",
    "Your ReLU is applied to x, before fc1. It belongs between the two layers.",
    change={"torch.relu(self.fc1(x))": "self.fc1(F.relu(x))"},
)


@bank.right("functional-too")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        sizes = {"fc1": (in_features, hidden), "fc2": (hidden, out_features)}
        for name, (a, b) in sizes.items():
            self.add_module(name, nn.Linear(a, b))

    def forward(self, x):
        return self.fc2(self.fc1(x).clamp(min=0))


@bank.right("relu-module")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc2 = nn.Linear(hidden, out_features)
        self.act = nn.ReLU()
        self.fc1 = nn.Linear(in_features, hidden)

    def forward(self, x):
        h = self.act(self.fc1(x))
        return self.fc2(h)


@bank.right("clamp")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        nn.Module.__init__(self)
        for name, sizes in {"fc1": (in_features, hidden), "fc2": (hidden, out_features)}.items():
            self.add_module(name, nn.Linear(*sizes))

    def forward(self, x):
        return self.fc2(self.fc1(x).clamp(min=0))


@bank.right("functional")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(in_features, hidden), nn.Linear(hidden, out_features)

    def forward(self, x):
        x = nn.functional.linear(x, self.fc1.weight, self.fc1.bias)
        x = nn.functional.relu(x)
        return nn.functional.linear(x, self.fc2.weight, self.fc2.bias)


bank.wrong(
    "leaky-activation",
    "Your activation lets a hundredth of each negative number through. A ReLU makes them 0.",
    change={
        "nn.Linear(in_features, hidden)": "nn.Linear(in_features, hidden)\nself.act = nn.LeakyReLU()",
        "torch.relu": "self.act",
    },
)

bank.wrong(
    "flattens-each-row",
    "You make one long row of all that follows the first axis. The layers mind the last axis alone: leave x as it is.",
    change={"def forward(self, x):": "def forward(self, x):\n    x = x.reshape(x.shape[0], -1)"},
)

bank.wrong(
    "flattens-from-axis-one",
    "You make one long row of all that follows the first axis, and there may be no second one. The layers mind the last axis "
    "alone: leave x as it is.",
    change={"def forward(self, x):": "def forward(self, x):\n    x = x.flatten(start_dim=1)"},
)

bank.wrong(
    "rows-of-all-axes",
    "You make one axis of all that stand in front, and leave it so. The result keeps the axes of x, but for the last.",
    change={
        "def forward(self, x):": "def forward(self, x):\n    rows = x.reshape(-1, x.shape[-1])",
        "self.fc1(x)": "self.fc1(rows)",
    },
)

bank.wrong(
    "softmax-at-the-end",
    "Your scores go through a softmax: each row is positive, and adds up to 1. What fc2 gives is the result.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "torch.softmax(self.fc2(torch.relu(self.fc1(x))), dim=-1)"},
)

bank.told(
    "dropout-between",
    "repeats",
    change={
        "nn.Linear(hidden, out_features)": "nn.Linear(hidden, out_features)\nself.dropout = nn.Dropout(0.5)",
        "self.fc2(torch.relu(self.fc1(x)))": "self.fc2(self.dropout(self.fc1(x).relu()))",
    },
)

bank.wrong(
    "gelu-between",
    "You have a GELU between the layers, which lets a little of some negative numbers through.",
    change={"torch.relu": "F.gelu"},
)

bank.wrong(
    "log-softmax-at-the-end",
    "Your scores go through a log-softmax: none can be above 0. What fc2 gives is the result.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "F.log_softmax(self.fc2(F.relu(self.fc1(x))), dim=-1)"},
)

bank.wrong(
    "gives-x-to-fc2",
    "`fc2` gets x, and not what comes before it. A layer leaves x as it is and returns something new: keep that, and hand it on.",
    change={"return self.fc2(torch.relu(self.fc1(x)))": "self.fc1(x)\ntorch.relu(x)\nreturn self.fc2(x)"},
)

bank.wrong(
    "detaches-the-hidden-layer",
    "What comes before fc2 is cut off from it, as by `.detach()` or `no_grad`: no gradient goes back to fc1, which never learns.",
    change={"self.fc2(torch.relu(self.fc1(x)))": "self.fc2(torch.relu(self.fc1(x)).detach())"},
)

bank.told(
    "layers-made-once",
    "own_parameters",
    change={
        "def __init__(self, in_features, hidden, out_features):": "made = {}\n\ndef __init__(self, in_features, hidden, out_features):",
        "self.fc1 = nn.Linear(in_features, hidden)\nself.fc2 = nn.Linear(hidden, out_features)": "sizes = in_features, hidden, out_features\nif sizes not in self.made:\n    self.made[sizes] = nn.Linear(in_features, hidden), nn.Linear(hidden, out_features)\nself.fc1, self.fc2 = self.made[sizes]",
    },
)

bank.wrong(
    "relu-on-data",
    "You set the negative numbers to 0 in `.data`: autograd does not see that, and sends gradients back through units that are off. Use `torch.relu`.",
    change={"return self.fc2(torch.relu(self.fc1(x)))": "h = self.fc1(x)\nh.data.clamp_(min=0)\nreturn self.fc2(h)"},
)
