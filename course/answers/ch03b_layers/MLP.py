"""Answers to `MLP`: wrong ones that learners really give, and right ones that must pass."""

from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("MLP")

bank.wrong(
    "last-by-its-width",
    "You know the last layer by its width. A hidden layer may be as wide: go by the place in the list.",
    change={
        "parts += [nn.Linear(before, after), activation()]": "parts += [nn.Linear(before, after)]\nif after != sizes[-1]:\n    parts += [activation()]",
        "parts[:-1]": "parts",
    },
)

bank.wrong(
    "python-list-layers",
    "Your layers stand in a plain list, tuple or dict. The module does not look into it, and lists no "
    "parameters: use nn.ModuleList.",
    change={"nn.ModuleList(parts[:-1])": "parts[:-1]"},
)

bank.wrong(
    "activation-after-last",
    "An activation follows your last layer too. With nn.Tanh, no result could be larger than 1: leave it out.",
    change={"parts[:-1]": "parts"},
)

bank.wrong(
    "shared-layer",
    "Layers of the same size are one object in your model, or one takes the place of another: make and keep one for each.",
    change={
        "parts = []": "parts, made = [], {}",
        "nn.Linear(before, after)": "made.setdefault((before, after), nn.Linear(before, after))",
    },
)

bank.wrong(
    "shared-activation",
    "There is one activation in the whole module. Each hidden layer gets one of its own: what one learns, as in nn.PReLU, "
    "is not for the others.",
    slip=True,
    change={"parts = []": "act = activation()\nparts = []", "activation()": "act"},
)


@bank.wrong(
    "layers-then-activations",
    "You list all layers first, then all activations. One that learns, such as nn.PReLU, then comes too late in "
    "`parameters()`: register them in turn.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.activations = nn.ModuleList(activation() for _ in sizes[2:])

    def forward(self, x):
        for layer, act in zip(self.layers, self.activations):
            x = act(layer(x))
        return self.layers[-1](x)


bank.wrong(
    "activations-not-registered",
    "The module does not know your activations: `forward` makes them, or they stand in a plain list. What one learns, as "
    "in nn.PReLU, stays behind.",
    unless=r"(?s)\A(?!.*activation\(\))",  # of code that never calls it
    change={
        "super().__init__()": "super().__init__()\nself.activation = activation",
        'if i < self.depth - 1:\n    setattr(self, f"act{i}", activation())': "",
        'getattr(self, f"act{i}")(x)': "self.activation()(x)",
    },
    of="by-name",
)

bank.wrong(
    "takes-out-of-sizes",
    "You take widths out of the caller's list, as `pop` does. Read `sizes`, or work on a list of your own.",
    change={
        "parts = []": "before, parts = sizes.pop(0), []",
        "for before, after in zip(sizes, sizes[1:]):": "while sizes:",
        "parts += [nn.Linear(before, after), activation()]": "parts += [nn.Linear(before, sizes[0]), activation()]\nbefore = sizes.pop(0)",
    },
)

bank.wrong(
    "no-activation",
    "There is no activation in your model: all its layers together compute no more than one would.",
    change={"[nn.Linear(before, after), activation()]": "[nn.Linear(before, after)]", "parts[:-1]": "parts"},
)

bank.wrong(
    "class-in-place-of-module",
    "You put the class itself into the model. `activation` has to be called first: `activation()` makes a module.",
    change={"activation()": "activation"},
    of="by-name",
)

bank.wrong(
    "always-relu",
    "You use a ReLU whatever `activation` says.",
    change={"activation()": "nn.ReLU()"},
)

bank.wrong(
    "one-hidden-layer",
    "You make two layers, whatever the length of `sizes`. Each pair of neighbors in it is a layer.",
    change={"zip(sizes, sizes[1:])": "[(sizes[0], sizes[1]), (sizes[1], sizes[-1])]"},
)

bank.wrong(
    "one-layer-short",
    "Your last layer is missing: the result has the width of the last hidden layer. n sizes make n - 1 layers.",
    change={"zip(sizes, sizes[1:])": "zip(sizes, sizes[1:-1])", "parts[:-1]": "parts"},
)

bank.wrong(
    "activation-before-each-layer",
    "Your activations stand before the layers: the first one is applied to the input itself.",
    change={
        "[nn.Linear(before, after), activation()]": "[activation(), nn.Linear(before, after)]",
        "parts[:-1]": "parts",
    },
)

bank.wrong(
    "flattens-the-axes",
    "You flatten all axes but the first. Only the last axis is transformed; others may stand in front, or none.",
    change={"parts = []": "parts = [nn.Flatten()]"},
)

bank.wrong(
    "listed-from-the-end",
    "You register your layers from output to input, and in this order parameters() lists them.",
    change={
        "nn.ModuleList(parts[:-1])": "nn.ModuleList(reversed(parts[:-1]))",
        "for part in self.parts:": "for part in reversed(self.parts):",
    },
)

bank.told(
    "dropout-between",
    "repeats",
    change={
        "[nn.Linear(before, after), activation()]": "[nn.Linear(before, after), nn.Dropout(0.5), activation()]",
        "parts[:-1]": "parts[:-2]",
    },
)

bank.wrong(
    "no-biases",
    "Your layers have no biases. nn.Linear brings them along unless it is told not to.",
    change={"nn.Linear(before, after)": "nn.Linear(before, after, bias=False)"},
)

bank.wrong(
    "hidden-layers-without-bias",
    "Your hidden layers have no bias. `nn.Linear` has one unless it is told otherwise.",
    change={"nn.Linear(sizes[i], sizes[i + 1])": "nn.Linear(sizes[i], sizes[i + 1], bias=i == len(sizes) - 2)"},
    of="sequential",
)


@bank.right("sequential")
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.net = nn.Sequential()
        for i in range(len(sizes) - 1):
            if i:
                self.net.append(activation())
            self.net.append(nn.Linear(sizes[i], sizes[i + 1]))

    def forward(self, x):
        return self.net(x)


@bank.right("by-name")
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.depth = len(sizes) - 1
        for i in range(self.depth):
            setattr(self, f"layer{i}", nn.Linear(sizes[i], sizes[i + 1]))
            if i < self.depth - 1:
                setattr(self, f"act{i}", activation())

    def forward(self, x):
        for i in range(self.depth):
            x = getattr(self, f"layer{i}")(x)
            if i < self.depth - 1:
                x = getattr(self, f"act{i}")(x)
        return x


@bank.right("first-hidden-last")
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        *hidden, out = sizes
        blocks = [nn.Sequential(nn.Linear(a, b), activation()) for a, b in zip(hidden, hidden[1:])]
        self.hidden = nn.Sequential(*blocks)
        self.out = nn.Linear(hidden[-1], out)

    def forward(self, x):
        return self.out(self.hidden(x))


bank.wrong(
    "first-activation-alone",
    "An activation stands after the first layer alone. It belongs after each one but the last.",
    also=("shared-activation",),
    change={"if i:": "if i == 1:"},
    of="sequential",
)

bank.wrong(
    "three-layers-always",
    "You read beyond the end of a list. `sizes` may hold two widths or many, and n of them make n - 1 layers: go through "
    "the neighbors in it.",
    change={"range(len(sizes) - 1)": "range(3)"},
    of="sequential",
)

bank.wrong(
    "class-in-a-sequential",
    "A container takes modules, and you give it the class itself. `activation()`, a call, makes a module.",
    change={"activation()": "activation"},
    of="sequential",
)

bank.wrong(
    "detaches-on-the-way",
    "The layers before the last are cut off from the result, as by `.detach()` or `no_grad`: no gradient goes back to them.",
    change={"part(x)": "part(x.detach())"},
)


@bank.wrong(
    "one-name-for-all-layers",
    "Your input goes into the last layer at once. A name of self holds one layer: what a loop assigns to it takes the "
    "place of what stood there.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        for before, after in zip(sizes, sizes[1:]):
            self.layer = nn.Linear(before, after)
            self.activation = activation()

    def forward(self, x):
        return self.layer(x)


bank.wrong(
    "last-layer-without-bias",
    "Your last layer has no bias. `nn.Linear` has one unless it is told otherwise.",
    change={"nn.Linear(sizes[i], sizes[i + 1])": "nn.Linear(sizes[i], sizes[i + 1], bias=i < len(sizes) - 2)"},
    of="sequential",
)


@bank.wrong(
    "last-layer-never-runs",
    "Your last layer never runs, as where `zip` goes through layers and activations, of which there is one less.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in zip(sizes, sizes[1:]))
        self.activations = nn.ModuleList(activation() for _ in sizes[1:-1])

    def forward(self, x):
        for layer, act in zip(self.layers, self.activations):
            x = act(layer(x))
        return x


@bank.wrong(
    "shared-activation-after-the-layers",
    "One activation serves all hidden layers, and `parameters()` lists it after the last of them. Each hidden layer gets an "
    "activation of its own, registered right after it.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(a, b) for a, b in zip(sizes, sizes[1:]))
        self.activation = activation()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


bank.wrong(
    "shared-activation-before-the-layers",
    "All your hidden layers share one activation, and with nn.PReLU also what it learns. Each of them gets one of its own, "
    "registered right after it.",
    change={
        "super().__init__()": "super().__init__()\nself.activation = activation()",
        'if i < self.depth - 1:\n    setattr(self, f"act{i}", activation())': "",
        'getattr(self, f"act{i}")(x)': "self.activation(x)",
    },
    of="by-name",
)

bank.wrong(
    "after-each-layer-but-the-first",
    "An activation stands after each layer but the first. It belongs after each one but the last.",
    change={
        "if i:\n    self.net.append(activation())\nself.net.append(nn.Linear(sizes[i], sizes[i + 1]))": "self.net.append(nn.Linear(sizes[i], sizes[i + 1]))\nif i:\n    self.net.append(activation())"
    },
    of="sequential",
)

bank.wrong(
    "squeezed-at-the-end",
    "You squeeze the last axis: where the last size is 1, it is gone. The result has the shape (..., sizes[-1]), also with a 1.",
    change={"return x": "return x.squeeze(-1)"},
)
