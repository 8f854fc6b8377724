"""Answers to `count_params`: wrong ones that learners really give, and right ones that must pass."""

import math

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("count_params")


bank.wrong(
    "double-count-tied",
    "A weight that stands in two places counts twice. It is stored, and learned, once.",
    change={"for p in module.parameters()": "for part in module.modules() for p in part.parameters(recurse=False)"},
)


bank.wrong(
    "buffers-counted",
    "You count buffers too, such as the running mean of a batch norm. They do not learn.",
    change={"module.parameters()": "[*module.parameters(), *module.buffers()]"},
)


@bank.wrong(
    "counts-the-state-dict",
    "You count what stands in the state_dict: buffers too, and a shared weight under each of its names.",
    also=("buffers-counted", "double-count-tied"),
)
def count_params(module, trainable_only=False):
    frozen = {name for name, p in module.named_parameters() if not p.requires_grad}
    state = module.state_dict()
    return sum(v.numel() for name, v in state.items() if not (trainable_only and name in frozen))


bank.wrong(
    "flags-of-the-state-dict",
    "You go through the state_dict. It lists buffers too, and a shared weight twice; and its tensors are detached, "
    "so none of them has requires_grad.",
    also=("counts-the-state-dict",),
    change={"module.parameters()": "module.state_dict().values()"},
)


bank.wrong(
    "counts-tensors",
    "You count tensors: a weight of shape (2, 3) counts as one, but holds six numbers.",
    change={"p.numel()": "1"},
)


bank.wrong(
    "ignores-the-flag",
    "With trainable_only=True you count frozen parameters too. Then they do not count.",
    change={"module.parameters() if p.requires_grad or not trainable_only": "module.parameters()"},
)


bank.wrong(
    "always-trainable-only",
    "You never count frozen parameters. They are left out with trainable_only=True alone.",
    change={"p.requires_grad or not trainable_only": "p.requires_grad"},
)


bank.wrong(
    "top-level-only",
    "You count what the module holds itself, and forget what its submodules hold.",
    change={"module.parameters()": "module.parameters(recurse=False)"},
)


bank.wrong(
    "weights-only",
    "You count weights and forget the biases. They learn as well.",
    unless=r"\.parameters\(",
    change={
        "dict(module.named_parameters())": '{name: p for name, p in module.named_parameters() if name.endswith("weight")}'
    },
    of="named-and-filtered",
)


bank.wrong(
    "linear-layers-only",
    "You count layers of some kinds, such as nn.Linear, and miss every parameter that belongs to something else.",
    change={"p is not None": "isinstance(part, nn.Linear) and p is not None"},
    of="own-parameters-by-identity",
)


bank.wrong(
    "adds-the-sizes",
    "You add up the sizes of each shape. A weight of shape (2, 3) holds 2 times 3 numbers, not 2 plus 3.",
    change={"p.numel()": "sum(p.shape)"},
)


bank.wrong(
    "returns-a-tensor",
    "Your count is a tensor. An int is asked for.",
    change={"sum(map(torch.numel, named.values()))": "torch.tensor(sum(map(torch.numel, named.values())))"},
    of="named-and-filtered",
)


bank.wrong(
    "freezes-on-the-way",
    "Counting changes the module: afterwards another requires_grad is set. Leave it alone.",
    change={"p.numel()": "p.requires_grad_(True).numel()"},
)


bank.wrong("counts-bytes", "You count bytes. Numbers are asked for.", slip=True, change={"p.numel()": "p.nbytes"})


bank.wrong(
    "only-what-has-a-gradient",
    "You count only parameters that have a .grad. A new module's have none yet.",
    unless=r"(?s)\A(?!.*\.grad\b)",  # of code that never asks for it
    change={"p.requires_grad or not trainable_only": "p.grad is not None"},
)


@bank.wrong("counts-modules", "You count modules. The numbers in their parameters are asked for.")
def count_params(module, trainable_only=False):
    return len(list(module.modules()))


bank.wrong("gradients-too", "You count each number twice, as if its gradient were one more.", change={"sum": "2 * sum"})


@bank.right("parameters-by-identity")
def count_params(module, trainable_only=False):
    seen = {}
    for m in module.modules():
        for p in m._parameters.values():
            if p is not None:
                seen[id(p)] = p
    return sum(p.numel() for p in seen.values() if p.requires_grad or not trainable_only)


@bank.right("set-of-identities")
def count_params(module, trainable_only=False):
    seen, total = set(), 0
    for part in module.modules():
        for p in part._parameters.values():
            if p is None or id(p) in seen or (trainable_only and not p.requires_grad):
                continue
            seen.add(id(p))
            total += math.prod(p.shape)
    return total


@bank.right("named-and-filtered")
def count_params(module, trainable_only=False):
    named = dict(module.named_parameters())
    if trainable_only:
        named = {name: p for name, p in named.items() if p.requires_grad}
    return sum(map(torch.numel, named.values()))


@bank.right("flat-vector")
def count_params(module, trainable_only=False):
    kept = [p.detach().reshape(-1) for p in module.parameters() if not trainable_only or p.requires_grad]
    return len(torch.cat(kept)) if kept else 0


bank.wrong(
    "flag-compared",
    "Without trainable_only you count the frozen parameters alone, as comparing requires_grad with the flag does. "
    "Then all of them count.",
    change={"or not trainable_only": "== trainable_only"},
)


@bank.right("own-parameters-by-identity")
def count_params(module, trainable_only=False):
    own = [p for part in module.modules() for p in part._parameters.values() if p is not None]
    return sum({id(p): p.numel() for p in own if p.requires_grad or not trainable_only}.values())


bank.wrong(
    "frozen-alone",
    "With trainable_only=True you count the frozen parameters alone. Those that require grad are asked for.",
    change={"p.requires_grad or not trainable_only": "not trainable_only or not p.requires_grad"},
)


bank.wrong(
    "each-level-again",
    "You ask each submodule for its `parameters()`, which lists all that is inside it: deep ones count several times.",
    change={"for p in module.parameters()": "for part in module.modules() for p in part.parameters()"},
)


bank.wrong(
    "one-of-each-shape",
    "Of parameters that look alike, by shape or by numbers, you count one. One parameter counts once; two alike are two.",
    change={"id(p): p.numel()": "p.shape: p.numel()"},
    of="own-parameters-by-identity",
)


bank.wrong(
    "equal-counts-once",
    "Of parameters with equally many numbers you count one, as where their counts go into a set: it holds each number once. Two "
    "parameters of one size are two.",
    change={
        "sum(p.numel() for p in module.parameters() if p.requires_grad or not trainable_only)": "sum({p.numel() for p in module.parameters() if p.requires_grad or not trainable_only})"
    },
)


bank.wrong(
    "weights-alone",
    "You count matrices alone. A bias has one dim, and its numbers are learned like the others.",
    change={"p.requires_grad or not trainable_only": "p.dim() > 1 and (p.requires_grad or not trainable_only)"},
)


bank.wrong(
    "children-alone",
    "You count what the children hold, and miss what the module holds itself: a single layer has no children.",
    change={"for p in module.parameters()": "for child in module.children() for p in child.parameters()"},
)


bank.wrong(
    "one-level-down",
    "You go one level down. A submodule may hold submodules of its own, and their parameters count as well.",
    change={"module.modules()": "(module, *module.children())"},
    of="own-parameters-by-identity",
)


bank.wrong(
    "two-sizes-alone",
    "You multiply the first two sizes of a weight. That of a convolution has three or four: multiply all of them.",
    change={"p.numel()": "math.prod(p.shape[:2])"},
)


bank.wrong(
    "first-parameter-alone",
    "Your count is that of the first parameter alone, as where `return` stands inside the loop: it ends the function.",
    change={"total += math.prod(p.shape)": "total += math.prod(p.shape)\nreturn total"},
    of="set-of-identities",
)


bank.wrong(
    "weight-and-bias-alone",
    "You miss what is called neither weight nor bias: a parameter may have any name. Which method lists them all?",
    change={"part._parameters.values()": '(getattr(part, "weight", None), getattr(part, "bias", None))'},
    of="own-parameters-by-identity",
)


bank.wrong(
    "tensors-whatever-the-flag",
    "You count tensors: a weight of shape (2, 3) counts as one, but holds six numbers. And trainable_only changes nothing.",
    change={"p.numel()": "1", "module.parameters() if p.requires_grad or not trainable_only": "module.parameters()"},
)


bank.wrong(
    "gradients-for-the-flag",
    "With trainable_only=True you count what has a .grad. A new module's parameters have none yet: `requires_grad` says "
    "which of them learn.",
    unless=r"(?s)\A(?!.*\.grad\b)",  # of code that never asks for it
    change={"p.requires_grad or not trainable_only": "not trainable_only or p.grad is not None"},
)


bank.wrong(
    "linear-layers-whatever-the-flag",
    "You count layers of some kinds, such as nn.Linear, and miss every parameter that belongs to something else. And "
    "trainable_only changes nothing.",
    change={
        "p is not None": "isinstance(part, nn.Linear) and p is not None",
        "own if p.requires_grad or not trainable_only": "own",
    },
    of="own-parameters-by-identity",
)


@bank.wrong(
    "linear-layers-with-a-bias",
    "You count nn.Linear layers, each with a bias, which some do not have. Every parameter that belongs to something else "
    "is missed.",
)
def count_params(module, trainable_only=False):
    total = 0
    for part in module.modules():
        if isinstance(part, nn.Linear) and (part.weight.requires_grad or not trainable_only):
            total += part.in_features * part.out_features + part.out_features
    return total


@bank.wrong(
    "linear-layers-by-their-sizes",
    "You count nn.Linear layers, each with a bias, which some do not have. Every parameter that belongs to something else "
    "is missed. And trainable_only changes nothing.",
)
def count_params(module, trainable_only=False):
    layers = [part for part in module.modules() if isinstance(part, nn.Linear)]
    return sum(layer.in_features * layer.out_features + layer.out_features for layer in layers)


bank.wrong(
    "first-size-for-three-dims",
    "You multiply the sizes of a matrix, and take the first size of everything else. The weight of a convolution has three "
    "or four dims: multiply all its sizes.",
    change={"p.numel()": "(p.shape[0] * p.shape[1] if p.dim() == 2 else p.shape[0])"},
)

bank.wrong(
    "second-size-of-a-bias",
    "You ask every parameter for a second size. A bias has one dim, and the weight of a convolution three or four: how many "
    "numbers are in a tensor, whatever its shape?",
    unless=r"\A(?![\s\S]*(?:shape\[1\]|size\(1\)|size\(\)\[1\]))",  # of code that does not ask for it
    change={"p.numel()": "p.shape[0] * p.shape[1]"},
)


bank.wrong(
    "own-beside-children",
    "Where a module has children, you count those alone. It may hold a parameter of its own beside them, such as a scale.",
    change={"p is not None": "not list(part.children()) and p is not None"},
    of="own-parameters-by-identity",
)


bank.wrong(
    "length-of-each",
    "You add up what `len` says of each parameter: its first size. A weight of shape (2, 3) has the length 2, and holds six "
    "numbers.",
    change={"p.numel()": "len(p)"},
)
