"""Answers to `init_he`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("init_he")


bank.wrong(
    "fan-out",
    "You take the std from out_features. What must keep its size is a sum over in_features.",
    slip=True,
    change={"part.in_features": "part.out_features"},
)


bank.wrong(
    "uniform",
    "Your weights are uniform. Normal numbers are asked for.",
    change={
        "normal_(part.weight, std=math.sqrt(2 / part.in_features))": 'kaiming_uniform_(part.weight, nonlinearity="relu")'
    },
)


bank.wrong(
    "rebinds-weight",
    "You put new parameters in place of the old ones. Whoever holds the old ones, to train them, now holds nothing: "
    "write into them.",
    change={
        "nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))": "weight = torch.randn(part.weight.shape) * math.sqrt(2 / part.in_features)\npart.weight = nn.Parameter(weight, part.weight.requires_grad)",
        "nn.init.zeros_(part.bias)": "part.bias = nn.Parameter(torch.zeros_like(part.bias), part.bias.requires_grad)",
    },
)


bank.wrong(
    "crashes-on-other-layers",
    "You ask something for its weight that has none, such as an activation or a container. Ask only what is an nn.Linear.",
    change={"if isinstance(part, nn.Linear):": "if part.weight.dim() == 2:"},
)


bank.wrong(
    "every-weight-matrix",
    "You draw every weight with two or more dims anew, those of embeddings and convolutions too. Only "
    "nn.Linear is meant.",
    change={
        "isinstance(m, nn.Linear)": 'getattr(m, "weight", None) is not None and m.weight.dim() > 1',
        "m.bias is not None": 'getattr(m, "bias", None) is not None',
    },
    of="kaiming-too",
)


bank.wrong(
    "all-biases-to-zero",
    "You set the biases of all layers to 0, those of norms and convolutions too. Only nn.Linear is meant.",
    change={
        "if isinstance(part, nn.Linear):": 'if getattr(part, "bias", None) is not None:\n    nn.init.zeros_(part.bias)\nif isinstance(part, nn.Linear):',
        "if part.bias is not None:\n    nn.init.zeros_(part.bias)": "",
    },
)


bank.wrong(
    "variance-as-std",
    "You pass 2 / in_features as the std. It is the variance: the std is its root.",
    slip=True,
    change={
        "normal_(part.weight, std=math.sqrt(2 / part.in_features))": "normal_(part.weight, std=2 / part.in_features)"
    },
)

bank.wrong(
    "one-instead-of-two",
    "Your std is sqrt(1 / in_features). A ReLU drops half of the numbers; the 2 makes up for it.",
    slip=True,
    change={"2 / part": "1 / part"},
)

bank.wrong(
    "xavier",
    "You take in_features and out_features together, the init named after Xavier Glorot. He's looks at "
    "in_features alone.",
    change={"nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))": "nn.init.xavier_normal_(part.weight)"},
)

bank.wrong(
    "biases-untouched",
    "You leave the biases at what they were. They are to be 0.",
    change={"if part.bias is not None:\n    nn.init.zeros_(part.bias)": ""},
)

bank.wrong(
    "needs-a-bias",
    "This fails for a layer that was made with bias=False: its bias is None.",
    change={"if part.bias is not None:\n    nn.init.zeros_(part.bias)": "nn.init.zeros_(part.bias)"},
)

bank.wrong(
    "children-only",
    "You look at the direct children alone. A layer may stand deeper, and the module may be a layer itself.",
    also=("children-and-itself",),
    change={"module.modules()": "module.children()"},
)

bank.wrong(
    "children-and-itself",
    "You go no deeper than the direct children of the module. A layer may stand further inside.",
    change={"module.modules()": "(module, *module.children())"},
)


bank.wrong(
    "skips-what-has-no-bias",
    "A layer without a bias keeps its old weights, as where it is passed over. It has weights to draw all the same.",
    change={
        "if isinstance(part, nn.Linear):": "if isinstance(part, nn.Linear) and part.bias is not None:",
        "if part.bias is not None:\n    nn.init.zeros_(part.bias)": "nn.init.zeros_(part.bias)",
    },
)


bank.told("returns-nothing", "module", change={"return module": ""})

bank.wrong(
    "works-on-a-copy",
    "The module itself stays as it was: you draw no weights, or those of a copy, which you return.",
    change={"def init_he(module):": "def init_he(module):\n    module = copy.deepcopy(module)"},
)

bank.wrong(
    "seeds",
    "You seed the global generator: everybody after you draws the same numbers each time. Draw, and do not seed.",
    change={"def init_he(module):": "def init_he(module):\n    torch.manual_seed(42)"},
)


bank.told(
    "skips-the-frozen",
    "frozen_too",
    change={
        "nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))": "if part.weight.requires_grad:\n    nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))",
        "part.bias is not None": "part.bias is not None and part.bias.requires_grad",
    },
)


bank.wrong(
    "std-of-the-biases",
    "You draw the biases too. They are to be 0.",
    change={"nn.init.zeros_(part.bias)": "nn.init.normal_(part.bias, std=math.sqrt(2 / part.in_features))"},
)


bank.told(
    "same-numbers-for-all",
    "kind.layers alike",
    change={
        "with torch.no_grad():": "numbers = torch.randn(100_000)\nwith torch.no_grad():",
        "torch.randn_like(layer.weight)": "numbers[: layer.weight.numel()].view_as(layer.weight)",
    },
    of="copy-into",
)


bank.wrong(
    "thaws-everything",
    "You set requires_grad to True on the way, in layers of other kinds too. Each flag is to stay as it was.",
    change={
        "for part in module.modules():": "for part in module.modules():\n    part.requires_grad_(True)",
        "std=math": "0.0, math",
    },
)

bank.wrong(
    "leaves-train-mode",
    "You put the module into train mode, and leave it there. It is to stay in the mode that it was in.",
    change={"module.modules()": "module.train().modules()", "std=math": "0.0, math"},
)


@bank.right("kaiming-too")
def init_he(module):
    for m in module.modules():
        if isinstance(m, nn.Linear):
            nn.init.kaiming_normal_(m.weight, nonlinearity="relu")
            if m.bias is not None:
                m.bias.data.zero_()
    return module


@bank.right("kaiming")
def init_he(module):
    @torch.no_grad()
    def draw(part):
        if isinstance(part, nn.Linear):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
            if part.bias is not None:
                part.bias.fill_(0)

    return module.apply(draw)


@bank.right("copy-into")
def init_he(module):
    layers = [part for part in module.modules() if isinstance(part, nn.Linear)]
    with torch.no_grad():
        for layer in layers:
            layer.weight.copy_(torch.randn_like(layer.weight) * (2 / layer.weight.shape[1]) ** 0.5)
            if layer.bias is not None:
                layer.bias.zero_()
    return module


@bank.right("through-data")
def init_he(module):
    for _, part in module.named_modules():
        if isinstance(part, nn.Linear):
            part.weight.data.normal_(0.0, math.sqrt(2.0 / part.weight.size(1)))
            if part.bias is not None:
                part.bias.data.mul_(0.0)
    return module


bank.wrong(
    "of-this-very-class",
    "A layer whose class is made from nn.Linear keeps its old weights, as where `type` is compared: it is an nn.Linear, too, and "
    "`isinstance` says so.",
    change={"isinstance(part, nn.Linear)": "type(part) is nn.Linear"},
)


bank.wrong(
    "start-of-the-layer-itself",
    "Your layers begin as nn.Linear itself does, as `reset_parameters` has it: uniform, with a smaller std.",
    change={
        "nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))": "part.reset_parameters()",
        "if part.bias is not None:\n    nn.init.zeros_(part.bias)": "",
    },
)


bank.wrong(
    "data-of-no-bias",
    "This fails for a layer that was made with bias=False: its bias is None, and None has no `.data`.",
    change={"if m.bias is not None:\n    m.bias.data.zero_()": "m.bias.data.zero_()"},
    of="kaiming-too",
)


bank.wrong(
    "std-as-the-mean",
    "Your weights have std 1 and a mean above 0, as where `normal_` is given the std in the place of the mean, which comes "
    "first.",
    change={"std=math": "math"},
)


bank.wrong(
    "root-of-two-alone",
    "Your std is sqrt(2) / in_features: the root is taken of the 2 alone. It goes over the whole of 2 / in_features.",
    slip=True,
    change={"math.sqrt(2 / part.in_features)": "math.sqrt(2) / part.in_features"},
)


bank.wrong(
    "first-layer-alone",
    "Only the first linear layer gets new weights, as where `return` stands inside the loop: it ends the function.",
    change={
        "if part.bias is not None:\n    nn.init.zeros_(part.bias)": "if part.bias is not None:\n    nn.init.zeros_(part.bias)\nreturn module"
    },
)


@bank.wrong(
    "by-the-names-of-parameters",
    "You go by the names of parameters. A batch norm and an embedding have a weight as well, and are to stay as they were: ask "
    "each submodule whether it is an nn.Linear.",
    unless=r"\A(?![\s\S]*(?:named_parameters|state_dict))",  # of code that does not ask for names
)
def init_he(module):
    for name, p in module.named_parameters():
        if "weight" in name:
            nn.init.kaiming_normal_(p, nonlinearity="relu")
        else:
            nn.init.zeros_(p)
    return module


bank.told(
    "one-draw-for-each-shape",
    "kind.layers alike",
    change={
        "for part in module.modules():": "drawn = {}\nfor part in module.modules():",
        "nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))": "shape = part.weight.shape\nif shape not in drawn:\n    drawn[shape] = torch.randn(shape) * math.sqrt(2 / part.in_features)\nwith torch.no_grad():\n    part.weight.copy_(drawn[shape])",
    },
)

bank.told(
    "frozen-bias-kept",
    "frozen_bias",
    change={"if part.bias is not None:": "if part.bias is not None and part.bias.requires_grad:"},
)
