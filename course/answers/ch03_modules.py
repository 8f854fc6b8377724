"""The answer bank of chapter 3: wrong answers learners really give, and right ones that must pass.

Each entry is a whole answer and stands alone: it uses nothing but what the chapter's setup cell imports.
"""

import copy
import fnmatch
import math

import torch
from torch import nn

from autograder.authoring.bank import AnswerBank

bank = AnswerBank("ch03_modules")


# --- TwoLayerMLP --------------------------------------------------------------------------------------------


@bank.wrong(
    "TwoLayerMLP",
    "no-super-init",
    "You assign layers before the module is ready for them: `super().__init__()` comes first.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


@bank.wrong(
    "TwoLayerMLP",
    "plain-attribute-tensor",
    "Your weights are plain tensors: the module does not list them, and nobody would train them. Use nn.Linear.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.w1 = torch.ones(in_features, hidden, requires_grad=True)
        self.w2 = torch.ones(hidden, out_features, requires_grad=True)

    def forward(self, x):
        return torch.relu(x @ self.w1) @ self.w2


@bank.wrong(
    "TwoLayerMLP",
    "no-activation",
    "Nothing stands between your two layers. Without a ReLU, two linear layers compute no more than one does.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return self.fc2(self.fc1(x))


@bank.wrong(
    "TwoLayerMLP",
    "uses-sequential",
    "It computes the right thing, but by nn.Sequential. Here you say in `forward` yourself what follows what.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return nn.Sequential(self.fc1, nn.ReLU(), self.fc2)(x)


@bank.wrong(
    "TwoLayerMLP",
    "activation-after-last",
    "You apply a ReLU after fc2 as well: the result can never be negative. It belongs between the layers.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return torch.relu(self.fc2(torch.relu(self.fc1(x))))


@bank.wrong(
    "TwoLayerMLP",
    "layers-in-forward",
    "You make new layers in `forward`: each call has other weights, and the module lists none. Make them in "
    "`__init__`.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.sizes = in_features, hidden, out_features

    def forward(self, x):
        fc1, fc2 = nn.Linear(*self.sizes[:2]), nn.Linear(*self.sizes[1:])
        return fc2(torch.relu(fc1(x)))


@bank.wrong(
    "TwoLayerMLP",
    "other-names",
    "Your layers are right, but have other names than fc1 and fc2. Saved weights are found by name.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.layer1 = nn.Linear(in_features, hidden)
        self.layer2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return self.layer2(torch.relu(self.layer1(x)))


@bank.wrong(
    "TwoLayerMLP",
    "sigmoid-between",
    "You have a sigmoid between the layers. A ReLU is asked for.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return self.fc2(torch.sigmoid(self.fc1(x)))


@bank.wrong(
    "TwoLayerMLP",
    "no-bias",
    "You switch the biases of the layers off. A layer here has a weight and a bias.",
)
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden, bias=False)
        self.fc2 = nn.Linear(hidden, out_features, bias=False)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


@bank.right("TwoLayerMLP", "relu-module")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc2 = nn.Linear(hidden, out_features)
        self.act = nn.ReLU()
        self.fc1 = nn.Linear(in_features, hidden)

    def forward(self, x):
        h = self.act(self.fc1(x))
        return self.fc2(h)


@bank.right("TwoLayerMLP", "clamp")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        nn.Module.__init__(self)
        for name, sizes in {"fc1": (in_features, hidden), "fc2": (hidden, out_features)}.items():
            self.add_module(name, nn.Linear(*sizes))

    def forward(self, x):
        return self.fc2(self.fc1(x).clamp(min=0))


@bank.right("TwoLayerMLP", "functional")
class TwoLayerMLP(nn.Module):
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1, self.fc2 = nn.Linear(in_features, hidden), nn.Linear(hidden, out_features)

    def forward(self, x):
        x = nn.functional.linear(x, self.fc1.weight, self.fc1.bias)
        x = nn.functional.relu(x)
        return nn.functional.linear(x, self.fc2.weight, self.fc2.bias)


# --- count_params -------------------------------------------------------------------------------------------


@bank.wrong(
    "count_params",
    "double-count-tied",
    "You add up module by module, so a weight that two modules share counts twice. It is stored, and learned, once.",
)
def count_params(module, trainable_only=False):
    total = 0
    for part in module.modules():
        for p in part.parameters(recurse=False):
            if p.requires_grad or not trainable_only:
                total += p.numel()
    return total


@bank.wrong(
    "count_params",
    "buffers-counted",
    "You count buffers too, such as the running mean of a batch norm. They do not learn.",
)
def count_params(module, trainable_only=False):
    tensors = list(module.parameters())
    if not trainable_only:
        tensors += list(module.buffers())
    return sum(p.numel() for p in tensors if p.requires_grad or not trainable_only)


@bank.wrong(
    "count_params",
    "counts-the-state-dict",
    "You count what stands in the state_dict: buffers too, and a shared weight under each of its names.",
)
def count_params(module, trainable_only=False):
    frozen = {name for name, p in module.named_parameters() if not p.requires_grad}
    state = module.state_dict()
    return sum(v.numel() for name, v in state.items() if not (trainable_only and name in frozen))


@bank.wrong(
    "count_params",
    "flags-of-the-state-dict",
    "You go through the state_dict. It lists buffers too, and a shared weight twice; and its tensors are detached, "
    "so none of them has requires_grad.",
)
def count_params(module, trainable_only=False):
    state = module.state_dict().values()
    return sum(v.numel() for v in state if v.requires_grad or not trainable_only)


@bank.wrong(
    "count_params",
    "counts-tensors",
    "You count tensors: a weight of shape (2, 3) counts as one, but holds six numbers.",
)
def count_params(module, trainable_only=False):
    return len([p for p in module.parameters() if p.requires_grad or not trainable_only])


@bank.wrong(
    "count_params",
    "ignores-the-flag",
    "You count frozen parameters in any case. With trainable_only=True they do not count.",
)
def count_params(module, trainable_only=False):
    return sum(p.numel() for p in module.parameters())


@bank.wrong(
    "count_params",
    "always-trainable-only",
    "You never count frozen parameters. They are left out with trainable_only=True alone.",
)
def count_params(module, trainable_only=False):
    return sum(p.numel() for p in module.parameters() if p.requires_grad)


@bank.wrong(
    "count_params",
    "top-level-only",
    "You count what the module holds itself, and forget what its submodules hold.",
)
def count_params(module, trainable_only=False):
    own = module.parameters(recurse=False)
    return sum(p.numel() for p in own if p.requires_grad or not trainable_only)


@bank.wrong(
    "count_params",
    "weights-only",
    "You count weights and forget the biases. They learn as well.",
)
def count_params(module, trainable_only=False):
    named = module.named_parameters()
    return sum(p.numel() for name, p in named if name.endswith("weight") and (p.requires_grad or not trainable_only))


@bank.wrong(
    "count_params",
    "linear-layers-only",
    "You count nn.Linear layers, and miss every parameter that belongs to something else.",
)
def count_params(module, trainable_only=False):
    seen = {}
    for part in module.modules():
        if isinstance(part, nn.Linear):
            seen |= {id(p): p for p in part.parameters()}
    return sum(p.numel() for p in seen.values() if p.requires_grad or not trainable_only)


@bank.wrong(
    "count_params",
    "adds-the-sizes",
    "You add up the sizes of each shape. A weight of shape (2, 3) holds 2 times 3 numbers, not 2 plus 3.",
)
def count_params(module, trainable_only=False):
    return sum(sum(p.shape) for p in module.parameters() if p.requires_grad or not trainable_only)


@bank.wrong(
    "count_params",
    "returns-a-tensor",
    "Your count is right, but it is a tensor. An int is asked for.",
)
def count_params(module, trainable_only=False):
    return torch.tensor(sum(p.numel() for p in module.parameters() if p.requires_grad or not trainable_only))


@bank.wrong(
    "count_params",
    "freezes-on-the-way",
    "Counting changes the module: afterwards another requires_grad is set. Leave it alone.",
)
def count_params(module, trainable_only=False):
    total = 0
    for p in module.parameters():
        if p.requires_grad or not trainable_only:
            total += p.numel()
        p.requires_grad = True
    return total


@bank.right("count_params", "set-of-identities")
def count_params(module, trainable_only=False):
    seen, total = set(), 0
    for part in module.modules():
        for p in part._parameters.values():
            if p is None or id(p) in seen or (trainable_only and not p.requires_grad):
                continue
            seen.add(id(p))
            total += math.prod(p.shape)
    return total


@bank.right("count_params", "named-and-filtered")
def count_params(module, trainable_only=False):
    named = dict(module.named_parameters())
    if trainable_only:
        named = {name: p for name, p in named.items() if p.requires_grad}
    return sum(map(torch.numel, named.values()))


@bank.right("count_params", "flat-vector")
def count_params(module, trainable_only=False):
    kept = [p.detach().reshape(-1) for p in module.parameters() if not trainable_only or p.requires_grad]
    return len(torch.cat(kept)) if kept else 0


# --- Linear -------------------------------------------------------------------------------------------------


@bank.wrong(
    "Linear",
    "plain-tensor",
    "Your weight and bias are plain tensors: the module does not register them, and they stay behind everywhere.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = torch.empty(out_features, in_features).uniform_(-bound, bound).requires_grad_()
        self.bias = torch.empty(out_features).uniform_(-bound, bound).requires_grad_() if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "no-super-init",
    "You assign parameters before the module is ready for them: call `super().__init__()` first.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "non-leaf-parameter",
    "You compute with the nn.Parameter before you assign it. The result is a plain tensor with a history, "
    "no parameter.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.rand(out_features, in_features) * 2 - 1) * bound
        self.bias = nn.Parameter(torch.rand(out_features) * 2 - 1) * bound if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "2d-only",
    "This works for x of shape (batch, in_features) alone. Other axes may stand in front, or none.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = torch.mm(x, self.weight.T)
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "x-at-w",
    "You multiply by the weight as it lies. Its shape is (out_features, in_features): x needs its transpose.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "weight-lies-across",
    "You store the weight as (in_features, out_features). Weights saved elsewhere are (out_features, in_features).",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(in_features, out_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "standard-normal-start",
    "Your numbers start normal with std 1. That is far too large for wide layers; uniform in a small range "
    "is asked for.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(out_features, in_features))
        self.bias = nn.Parameter(torch.randn(out_features)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "positive-start",
    "`torch.rand` gives numbers from 0 to 1, so yours are never negative. The range reaches from -bound to bound.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.rand(out_features, in_features) * bound)
        self.bias = nn.Parameter(torch.rand(out_features) * bound) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "bound-from-out-features",
    "You take the range from out_features. What must not grow is a sum of in_features terms.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(out_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "no-root",
    "Your range is 1 / in_features: you forgot the square root.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / in_features
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "bias-starts-at-zero",
    "Your bias starts at 0. Here it starts in the same range as the weight.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.zeros(out_features)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "seeded-start",
    "You seed the generator in `__init__`: every layer starts with the same numbers.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        torch.manual_seed(42)
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias


@bank.wrong(
    "Linear",
    "ignores-bias-flag",
    "You make a bias whatever the flag says. With bias=False it is None, and nothing is added.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))

    def forward(self, x):
        return x @ self.weight.T + self.bias


@bank.wrong(
    "Linear",
    "no-attribute-bias",
    "With bias=False your layer has no attribute `bias` at all. Whoever asks for it should find None.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))

    def forward(self, x):
        result = x @ self.weight.T
        return result + self.bias if hasattr(self, "bias") else result


@bank.wrong(
    "Linear",
    "detached-weight",
    "You compute with `.data`, or with detached tensors: no gradient arrives at weight and bias.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound)) if bias else None

    def forward(self, x):
        result = x @ self.weight.data.T
        return result if self.bias is None else result + self.bias.data


@bank.wrong(
    "Linear",
    "uses-nn-linear",
    "It works, but nn.Linear does the work. The exercise is to make such a layer from nn.Parameter.",
)
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        made = nn.Linear(in_features, out_features, bias)
        self.weight, self.bias = made.weight, made.bias

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


@bank.right("Linear", "register-parameter")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self.register_parameter("bias", nn.Parameter(torch.empty(out_features)) if bias else None)
        self.register_parameter("weight", nn.Parameter(torch.empty(out_features, in_features)))
        with torch.no_grad():
            for p in self.parameters():
                p.uniform_(-(in_features**-0.5), in_features**-0.5)

    def forward(self, x):
        return nn.functional.linear(x, self.weight, self.bias)


@bank.right("Linear", "einsum")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        nn.Module.__init__(self)
        bound = in_features**-0.5
        self.weight = nn.Parameter((2 * torch.rand(out_features, in_features) - 1) * bound)
        if bias:
            self.bias = nn.Parameter((2 * torch.rand(out_features) - 1) * bound)
        else:
            self.bias = None

    def forward(self, x):
        y = torch.einsum("oi,...i->...o", self.weight, x)
        return y + self.bias if self.bias is not None else y


@bank.right("Linear", "by-init-and-broadcasting")
class Linear(nn.Module):
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / in_features**0.5
        self.weight = nn.Parameter(nn.init.uniform_(torch.empty(out_features, in_features), -bound, bound))
        self.bias = nn.Parameter(nn.init.uniform_(torch.empty(out_features), -bound, bound)) if bias else None

    def forward(self, x):
        y = (x.unsqueeze(-2) * self.weight).sum(-1)
        if self.bias is not None:
            y = y + self.bias
        return y


# --- Standardizer -------------------------------------------------------------------------------------------


@bank.wrong(
    "Standardizer",
    "attribute-tensor",
    "Your mean and std are plain attributes: `.to` does not move them, and the state_dict does not know them.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = mean.clone()
        self.std = std.clone()

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.wrong(
    "Standardizer",
    "parameter-instead",
    "You make mean and std parameters: training would change them. They belong to the model, but do not learn.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Parameter(mean.clone())
        self.std = nn.Parameter(std.clone())

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.wrong(
    "Standardizer",
    "non-persistent",
    "With persistent=False the buffers are not saved: a model that is loaded later standardizes with other numbers.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone(), persistent=False)
        self.register_buffer("std", std.clone(), persistent=False)

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.wrong(
    "Standardizer",
    "aliases-its-arguments",
    "You register the very tensors that you were given. Whoever changes them later changes your module.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.wrong(
    "Standardizer",
    "changes-x",
    "You work on x in place: the caller's tensor is standardized as well. Make a new one.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        x -= self.mean
        x /= self.std
        return x


@bank.wrong(
    "Standardizer",
    "statistics-of-x",
    "You standardize with the mean and std of x itself. The ones that the module was made with are asked for.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        return (x - x.mean(0)) / x.std(0)


@bank.wrong(
    "Standardizer",
    "divides-first",
    "You divide x by std before you subtract the mean. The mean is measured in the unit of x: subtract it first.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        return x / self.std - self.mean


@bank.wrong(
    "Standardizer",
    "std-squared",
    "You divide by the square of std. That would be right for its root; std is a standard deviation already.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        return (x - self.mean) / self.std**2


@bank.wrong(
    "Standardizer",
    "frozen-parameters",
    "You make frozen parameters. They do not learn now, but anybody who unfreezes the model changes that: use buffers.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Parameter(mean.clone(), requires_grad=False)
        self.std = nn.Parameter(std.clone(), requires_grad=False)

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.wrong(
    "Standardizer",
    "only-mean-registered",
    "The mean is a buffer, but std is a plain attribute: it stays behind when the module moves.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.clone())
        self.std = std.clone()

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.wrong(
    "Standardizer",
    "no-super-init",
    "A buffer needs a module that is ready for it: call `super().__init__()` first.",
)
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        self.register_buffer("mean", mean.clone())
        self.register_buffer("std", std.clone())

    def forward(self, x):
        return (x - self.mean) / self.std


@bank.right("Standardizer", "in-a-loop")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        for name, value in (("std", std), ("mean", mean)):
            self.register_buffer(name, torch.clone(value))

    def forward(self, x):
        return torch.div(torch.sub(x, self.mean), self.std)


@bank.right("Standardizer", "buffer-class")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean = nn.Buffer(mean.detach().clone())
        self.std = nn.Buffer(std.detach().clone())

    def forward(self, x):
        return (x - self.mean) * self.std.reciprocal()


@bank.right("Standardizer", "deep-copies")
class Standardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", copy.deepcopy(mean))
        self.register_buffer("std", copy.deepcopy(std))

    def forward(self, x):
        y = x.clone()
        y -= self.mean
        return y / self.std


# --- MLP ----------------------------------------------------------------------------------------------------


@bank.wrong(
    "MLP",
    "python-list-layers",
    "Your layers stand in a plain list. The module does not look into it, and lists no parameters: use nn.ModuleList.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.Linear(before, after), activation()]
        self.parts = parts[:-1]

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


@bank.wrong(
    "MLP",
    "activation-after-last",
    "An activation follows your last layer too. With nn.Tanh, no result could be larger than 1: leave it out.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.Linear(before, after), activation()]
        self.parts = nn.ModuleList(parts)

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


@bank.wrong(
    "MLP",
    "shared-layer",
    "Layers of the same size are one and the same object in your model: they share their weight. Make one for each.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        made = {}
        parts = []
        for pair in zip(sizes, sizes[1:]):
            if pair not in made:
                made[pair] = nn.Linear(*pair)
            parts += [made[pair], activation()]
        self.parts = nn.ModuleList(parts[:-1])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


@bank.wrong(
    "MLP",
    "shared-activation",
    "You make one activation and use it everywhere. One that learns, such as nn.PReLU, would be shared by all layers.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        act = activation()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.Linear(before, after), act]
        self.parts = nn.ModuleList(parts[:-1])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


@bank.wrong(
    "MLP",
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


@bank.wrong(
    "MLP",
    "no-activation",
    "There is no activation in your model: all its layers together compute no more than one would.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(before, after) for before, after in zip(sizes, sizes[1:])))

    def forward(self, x):
        return self.layers(x)


@bank.wrong(
    "MLP",
    "class-in-place-of-module",
    "You put the class itself into the model. `activation` has to be called first: `activation()` makes a module.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(before, after) for before, after in zip(sizes, sizes[1:]))
        self.activation = activation

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = self.activation(layer(x))
        return self.layers[-1](x)


@bank.wrong(
    "MLP",
    "always-relu",
    "You use a ReLU whatever `activation` says.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.Linear(before, after), nn.ReLU()]
        self.parts = nn.ModuleList(parts[:-1])

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x


@bank.wrong(
    "MLP",
    "one-hidden-layer",
    "You make two layers, whatever the length of `sizes`. Each pair of neighbors in it is a layer.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(sizes[0], sizes[1]), activation(), nn.Linear(sizes[1], sizes[-1]))

    def forward(self, x):
        return self.net(x)


@bank.wrong(
    "MLP",
    "one-layer-short",
    "Your last layer is missing: the result has the width of the last hidden layer. n sizes make n - 1 layers.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for i in range(len(sizes) - 2):
            parts += [nn.Linear(sizes[i], sizes[i + 1]), activation()]
        self.net = nn.Sequential(*parts)

    def forward(self, x):
        return self.net(x)


@bank.wrong(
    "MLP",
    "activation-before-each-layer",
    "Your activations stand before the layers: the first one is applied to the input itself.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [activation(), nn.Linear(before, after)]
        self.net = nn.Sequential(*parts)

    def forward(self, x):
        return self.net(x)


@bank.wrong(
    "MLP",
    "flattens-the-axes",
    "You flatten all axes but the first. Only the last axis is transformed; others may stand in front, or none.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        parts = [nn.Flatten()]
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.Linear(before, after), activation()]
        self.net = nn.Sequential(*parts[:-1])

    def forward(self, x):
        return self.net(x)


@bank.wrong(
    "MLP",
    "listed-from-the-end",
    "Your model computes the right thing, but registers its layers from output to input; so parameters() lists them.",
)
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        self.parts = nn.ModuleList()
        for i in range(len(sizes) - 1, 0, -1):
            self.parts.append(nn.Linear(sizes[i - 1], sizes[i]))
            if i > 1:
                self.parts.append(activation())

    def forward(self, x):
        for part in reversed(self.parts):
            x = part(x)
        return x


@bank.right("MLP", "sequential")
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


@bank.right("MLP", "by-name")
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


@bank.right("MLP", "first-hidden-last")
class MLP(nn.Module):
    def __init__(self, sizes, activation):
        super().__init__()
        *hidden, out = sizes
        blocks = [nn.Sequential(nn.Linear(a, b), activation()) for a, b in zip(hidden, hidden[1:])]
        self.hidden = nn.Sequential(*blocks)
        self.out = nn.Linear(hidden[-1], out)

    def forward(self, x):
        return self.out(self.hidden(x))


# --- HouseNet -----------------------------------------------------------------------------------------------


@bank.wrong(
    "HouseNet",
    "untouched",
    "This is the model as you found it: the hidden layers, the output layer and the scale are all missing "
    "from parameters().",
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


@bank.wrong(
    "HouseNet",
    "layers-still-in-a-list",
    "Output layer and scale learn now. The hidden layers stand in a plain list still, where the module does not look.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = [nn.Linear(features, 16), nn.Linear(16, 8)]
        self.out = nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "output-layer-still-new",
    "Hidden layers and scale learn now. The output layer is still made anew at each call: what it learns is lost.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        out = nn.Linear(8, 1)
        return (out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "scale-still-a-tensor",
    "All layers learn now. The scale is a plain tensor still, so nobody would train it.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.out = nn.Linear(8, 1)
        self.scale = torch.tensor(100.0)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "only-the-list-mended",
    "The hidden layers learn now. Output layer and scale are missing still: print the names in named_parameters().",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.scale = torch.tensor(100.0)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        out = nn.Linear(8, 1)
        return (out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "only-the-output-mended",
    "The output layer learns now. Hidden layers and scale are missing still: print the names in named_parameters().",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = [nn.Linear(features, 16), nn.Linear(16, 8)]
        self.out = nn.Linear(8, 1)
        self.scale = torch.tensor(100.0)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "only-the-scale-mended",
    "The scale learns now, and nothing else does: no layer stands in named_parameters().",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = [nn.Linear(features, 16), nn.Linear(16, 8)]
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        out = nn.Linear(8, 1)
        return (out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "scale-as-a-buffer",
    "You made the scale a buffer: it moves and is saved with the model, but it does not learn.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.out = nn.Linear(8, 1)
        self.register_buffer("scale", torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "tracked-scale",
    "`requires_grad=True` tracks the scale, but does not register it: a parameter is an nn.Parameter.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.out = nn.Linear(8, 1)
        self.scale = torch.tensor(100.0, requires_grad=True)

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "lost-the-relu",
    "All seven tensors learn, but the ReLU after the hidden layers got lost on the way.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.Sequential(nn.Linear(features, 16), nn.Linear(16, 8))
        self.out = nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        return (self.out(self.hidden(x)) * self.scale).squeeze(1)


@bank.wrong(
    "HouseNet",
    "reads-the-scale-out",
    "You multiply by `self.scale.item()`, a plain number: no gradient arrives at the scale.",
)
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.out = nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale.item()).squeeze(1)


@bank.right("HouseNet", "sequential")
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.scale = nn.Parameter(torch.full((), 100.0))
        self.net = nn.Sequential(
            nn.Linear(features, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1), nn.Flatten(0)
        )

    def forward(self, x):
        return self.scale * self.net(x)


@bank.right("HouseNet", "named-layers")
class HouseNet(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.first, self.second, self.last = nn.Linear(features, 16), nn.Linear(16, 8), nn.Linear(8, 1)
        self.register_parameter("scale", nn.Parameter(torch.tensor(100.0)))

    def forward(self, x):
        h = self.second(self.first(x).relu()).relu()
        return self.last(h)[:, 0] * self.scale


@bank.right("HouseNet", "registered-beside-the-list")
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


# --- call_counts --------------------------------------------------------------------------------------------


@bank.wrong(
    "call_counts",
    "hook-not-removed",
    "Your hooks stay on the module: the next call counts on, in a dict that nobody looks at. Remove them by "
    "their handles.",
)
def call_counts(module, x):
    counts = {}
    for name, part in module.named_modules():
        if name:
            part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
    module(x)
    return counts


@bank.wrong(
    "call_counts",
    "calls-forward-directly",
    "You call `module.forward(x)`. That skips the hooks of the module itself, which others may rely on: "
    "call the module.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name:
            handles.append(
                part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
            )
    try:
        module.forward(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "not-removed-after-an-error",
    "When the module raises, your function ends before it removes its hooks. A `finally` runs in any case.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name:
            handles.append(
                part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
            )
    module(x)
    for handle in handles:
        handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "swallows-the-error",
    "You catch the error that the module raises, and go on as if nothing had happened. Let it go on to the caller.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name:
            handles.append(
                part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
            )
    try:
        module(x)
    except Exception:
        pass
    for handle in handles:
        handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "counts-the-root",
    "You count the module itself too, under the name ''. Only its submodules are asked for.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        handles.append(part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1})))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "children-only",
    "You watch the direct children alone. Submodules inside them count as well.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_children():
        handles.append(part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1})))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "leaves-only",
    "You watch only submodules without submodules of their own. A container that runs counts as well.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name and not list(part.children()):
            handles.append(
                part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
            )
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "zeros-for-the-idle",
    "You begin with 0 for every submodule. One that does not run should not be in the dict.",
)
def call_counts(module, x):
    counts, handles = {name: 0 for name, _ in module.named_modules() if name}, []
    for name, part in module.named_modules():
        if name:
            handles.append(part.register_forward_hook(lambda *_, name=name: counts.update({name: counts[name] + 1})))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "notes-once",
    "You note that a submodule has run, not how often: each count is 1.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name:
            handles.append(part.register_forward_hook(lambda *_, name=name: counts.update({name: 1})))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "late-name",
    "All your hooks see the last name: a function made in a loop reads the loop's variable when it runs. "
    "Pass it as a default.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name:
            handles.append(part.register_forward_hook(lambda *_: counts.update({name: counts.get(name, 0) + 1})))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "runs-twice",
    "You call the module twice, so every count is twice as large.",
)
def call_counts(module, x):
    counts, handles = {}, []
    for name, part in module.named_modules():
        if name:
            handles.append(
                part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
            )
    try:
        module(x)
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.wrong(
    "call_counts",
    "clears-all-hooks",
    "You throw away every hook on the submodules, those of others too. Each handle removes its own hook.",
)
def call_counts(module, x):
    counts = {}
    for name, part in module.named_modules():
        if name:
            part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
    try:
        module(x)
    finally:
        for name, part in module.named_modules():
            if name:
                part._forward_hooks.clear()
    return counts


@bank.wrong(
    "call_counts",
    "names-of-classes",
    "You count by class, such as 'Linear'. Each submodule has a name of its own, that of named_modules().",
)
def call_counts(module, x):
    counts, handles = {}, []

    def count(part, args, out):
        name = type(part).__name__
        counts[name] = counts.get(name, 0) + 1

    for name, part in module.named_modules():
        if name:
            handles.append(part.register_forward_hook(count))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return counts


@bank.right("call_counts", "pre-hooks")
def call_counts(module, x):
    names = {part: name for name, part in module.named_modules() if part is not module}
    ran = []
    handles = [part.register_forward_pre_hook(lambda part, args: ran.append(names[part])) for part in names]
    try:
        module(x)
    finally:
        [handle.remove() for handle in handles]
    return {name: ran.count(name) for name in set(ran)}


@bank.right("call_counts", "recursive")
def call_counts(module, x):
    counts = {}

    def watch(parts):
        if not parts:
            module(x)
            return
        (name, part), *rest = parts

        def count(*_):
            counts[name] = counts.get(name, 0) + 1

        handle = part.register_forward_hook(count)
        try:
            watch(rest)
        finally:
            handle.remove()

    watch([(name, part) for name, part in module.named_modules() if name])
    return counts


@bank.right("call_counts", "one-global-hook")
def call_counts(module, x):
    names = {id(part): name for name, part in module.named_modules()}
    counts = {}

    def count(part, args, out):
        name = names.get(id(part))
        if name:
            counts[name] = counts.get(name, 0) + 1

    handle = nn.modules.module.register_module_forward_hook(count)
    try:
        module(x)
    finally:
        handle.remove()
    return counts


# --- init_he ------------------------------------------------------------------------------------------------


@bank.wrong(
    "init_he",
    "fan-out",
    "You take the std from out_features. What must keep its size is a sum over in_features.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "uniform",
    "Your weights have the right std, but are uniform. Normal numbers are asked for.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.kaiming_uniform_(part.weight, nonlinearity="relu")
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "rebinds-weight",
    "You put new parameters in place of the old ones. Whoever holds the old ones, to train them, now holds nothing: "
    "write into them.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            std = math.sqrt(2 / part.in_features)
            part.weight = nn.Parameter(torch.randn(part.weight.shape) * std, requires_grad=part.weight.requires_grad)
            if part.bias is not None:
                part.bias = nn.Parameter(torch.zeros_like(part.bias), requires_grad=part.bias.requires_grad)
    return module


@bank.wrong(
    "init_he",
    "crashes-on-other-layers",
    "You expect a weight in every submodule. An activation or a container has none: look at the type first.",
)
def init_he(module):
    for part in module.modules():
        nn.init.normal_(part.weight, std=math.sqrt(2 / part.weight.shape[1]))
        if part.bias is not None:
            nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "every-weight-matrix",
    "You draw every weight with two or more dims anew, those of embeddings and convolutions too. Only "
    "nn.Linear is meant.",
)
def init_he(module):
    for part in module.modules():
        weight = getattr(part, "weight", None)
        if weight is not None and weight.dim() > 1:
            nn.init.kaiming_normal_(weight, nonlinearity="relu")
            if getattr(part, "bias", None) is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "all-biases-to-zero",
    "You set the biases of all layers to 0, those of norms and convolutions too. Only nn.Linear is meant.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
        if getattr(part, "bias", None) is not None:
            nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "variance-as-std",
    "You pass 2 / in_features as the std. It is the variance: the std is its root.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=2 / part.in_features)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "one-instead-of-two",
    "Your std is sqrt(1 / in_features). A ReLU drops half of the numbers; the 2 makes up for it.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(1 / part.in_features))
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "xavier",
    "You take in_features and out_features together, the init named after Xavier Glorot. He's looks at "
    "in_features alone.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.xavier_normal_(part.weight)
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "biases-untouched",
    "You leave the biases at what they were. They are to be 0.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
    return module


@bank.wrong(
    "init_he",
    "needs-a-bias",
    "This fails for a layer that was made with bias=False: its bias is None.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "children-only",
    "You look at the direct children alone. A layer may stand deeper, and the module may be a layer itself.",
)
def init_he(module):
    for part in module.children():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "returns-nothing",
    "The weights are right, but your function returns None. Return the module.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            if part.bias is not None:
                nn.init.zeros_(part.bias)


@bank.wrong(
    "init_he",
    "works-on-a-copy",
    "You draw the weights of a copy, and return that. The module itself stays as it was.",
)
def init_he(module):
    module = copy.deepcopy(module)
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "seeds",
    "You seed the global generator: everybody after you draws the same numbers each time. Draw, and do not seed.",
)
def init_he(module):
    torch.manual_seed(42)
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module


@bank.wrong(
    "init_he",
    "skips-the-frozen",
    "You leave frozen parameters as they were. The flag stays, but the numbers are drawn in any case.",
)
def init_he(module):
    for part in module.modules():
        if isinstance(part, nn.Linear):
            if part.weight.requires_grad:
                nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            if part.bias is not None and part.bias.requires_grad:
                nn.init.zeros_(part.bias)
    return module


@bank.right("init_he", "kaiming")
def init_he(module):
    @torch.no_grad()
    def draw(part):
        if isinstance(part, nn.Linear):
            nn.init.kaiming_normal_(part.weight, nonlinearity="relu")
            if part.bias is not None:
                part.bias.fill_(0)

    return module.apply(draw)


@bank.right("init_he", "copy-into")
def init_he(module):
    layers = [part for part in module.modules() if isinstance(part, nn.Linear)]
    with torch.no_grad():
        for layer in layers:
            layer.weight.copy_(torch.randn_like(layer.weight) * (2 / layer.weight.shape[1]) ** 0.5)
            if layer.bias is not None:
                layer.bias.zero_()
    return module


@bank.right("init_he", "through-data")
def init_he(module):
    for _, part in module.named_modules():
        if type(part) is nn.Linear:
            part.weight.data.normal_(0.0, math.sqrt(2.0 / part.weight.size(1)))
            if part.bias is not None:
                part.bias.data.mul_(0.0)
    return module


# --- Dropout ------------------------------------------------------------------------------------------------


@bank.wrong(
    "Dropout",
    "per-row-mask",
    "You draw one number for each row, so that whole rows are dropped together. Each number has a draw of its own.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand(x.shape[0], 1) >= self.p
        return x * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "per-column-mask",
    "You draw one number for each column, so that a column is dropped in all rows at once. Draw one for each number.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand(x.shape[-1]) >= self.p
        return x * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "no-rescale",
    "The numbers that stay keep their size, so that a sum over them shrinks in training. Divide by 1 - p.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        return x * (torch.rand_like(x) >= self.p)


@bank.wrong(
    "Dropout",
    "ignores-eval",
    "You drop in eval mode, too: predictions would vary from call to call. `self.training` tells the mode.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        keep = torch.rand_like(x) >= self.p
        return x * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "reseeds",
    "You seed the generator at each call: the same numbers are dropped each time, and others draw the same "
    "numbers too.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        torch.manual_seed(42)
        keep = torch.rand_like(x) >= self.p
        return x * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "keeps-with-p",
    "You keep a number with probability p. It is to be dropped with probability p.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand_like(x) < self.p
        return x * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "divides-by-p",
    "You divide by p. A share of 1 - p stays: that is what to divide by.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand_like(x) >= self.p
        return x * keep / self.p


@bank.wrong(
    "Dropout",
    "rescales-in-eval",
    "You leave training as it is and multiply in eval mode. Here it is the other way: eval mode gives x itself.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x * (1 - self.p)
        return x * (torch.rand_like(x) >= self.p)


@bank.wrong(
    "Dropout",
    "mask-kept",
    "You draw the mask at the first call and keep it. Each call draws anew.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
        self.keep = None

    def forward(self, x):
        if not self.training:
            return x
        if self.keep is None:
            self.keep = torch.rand_like(x) >= self.p
        return x * self.keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "exact-share",
    "You drop an exact share at random places. Then the draws depend on each other; each number stands for itself.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.ones(x.numel(), dtype=torch.bool)
        keep[torch.randperm(x.numel())[: round(self.p * x.numel())]] = False
        return x * keep.reshape(x.shape) / (1 - self.p)


@bank.wrong(
    "Dropout",
    "in-place",
    "You change x in place: the caller's numbers are gone, in training. Make a new tensor.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand_like(x) >= self.p
        with torch.no_grad():
            x *= keep / (1 - self.p)
        return x * 1


@bank.wrong(
    "Dropout",
    "generator-of-its-own",
    "Your module draws from a generator of its own, with a fixed seed. Draw from torch's global one.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p
        self.generator = torch.Generator().manual_seed(0)

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand(x.shape, generator=self.generator) >= self.p
        return x * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "no-gradient",
    "You compute with `x.detach()`: no gradient flows back through your dropout.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand_like(x) >= self.p
        return x.detach() * keep / (1 - self.p)


@bank.wrong(
    "Dropout",
    "uses-functional-dropout",
    "It works, since torch's own dropout does the work. Draw the mask yourself.",
)
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        return nn.functional.dropout(x, self.p, self.training)


@bank.right("Dropout", "bernoulli")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.keep = 1 - p

    def forward(self, x):
        if self.training:
            mask = torch.bernoulli(torch.full_like(x, self.keep))
            return x * mask / self.keep
        return x


@bank.right("Dropout", "where")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.dropout = p

    def forward(self, x):
        dropped = torch.rand(x.shape) < self.dropout
        return torch.where(dropped, 0.0, x / (1 - self.dropout)) if self.training else x


@bank.right("Dropout", "masked-fill")
class Dropout(nn.Module):
    def __init__(self, p):
        super().__init__()
        self.register_buffer("p", torch.tensor(p), persistent=False)

    def forward(self, x):
        if not self.training:
            return x.clone()
        drop = torch.empty(x.shape).uniform_() < self.p
        return x.masked_fill(drop, 0).div(1 - float(self.p))


# --- BatchNorm1d --------------------------------------------------------------------------------------------


@bank.wrong(
    "BatchNorm1d",
    "detached-statistics",
    "You cut mean and variance off from the graph. They depend on x too, and their part of the gradient is missing.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            with torch.no_grad():
                mean, var = x.mean(0), x.var(0, correction=0)
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "eval-updates",
    "You update the running values in eval mode, too. There they are read, and stay as they are.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean.clone(), self.running_var.clone()
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
        with torch.no_grad():
            self.running_mean.lerp_(x.mean(0), 0.1)
            self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "graph-in-buffers",
    "Your running values are made from tracked tensors: they drag the graph of each batch along. Use torch.no_grad().",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean
            self.running_var = 0.9 * self.running_var + 0.1 * x.var(0)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "biased-running-var",
    "Your running_var takes the variance with correction=0. That one standardizes; running_var takes correction=1.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(var, 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "unbiased-everywhere",
    "You standardize with the variance with correction=1. That one is for running_var; the batch takes correction=0.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(var, 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "momentum-swapped",
    "You keep 0.1 of the running value and take 0.9 of the batch. It is the other way: one batch changes little.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.9)
                self.running_var.lerp_(x.var(0), 0.9)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "eps-outside-the-root",
    "You add 1e-5 after the root. It belongs under the root, to the variance.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - mean) / (torch.sqrt(var) + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "always-the-batch",
    "You standardize with the batch in eval mode, too. There the running values count, so that one row is enough.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = x.mean(0), x.var(0, correction=0)
        if self.training:
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "running-values-in-training",
    "You standardize with the running values in training, too. There the mean and variance of the batch count.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        if self.training:
            with torch.no_grad():
                self.running_mean.lerp_(x.mean(0), 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - self.running_mean) / torch.sqrt(self.running_var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "plain-attributes",
    "Your running values are plain tensors: they are not saved, and `.to` leaves them behind. Register them "
    "as buffers.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.running_mean, self.running_var = torch.zeros(n), torch.ones(n)

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean.to(self.running_mean.dtype), 0.1)
                self.running_var.lerp_(x.var(0).to(self.running_var.dtype), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "statistics-over-features",
    "You take mean and variance over the features of each row. They belong to each feature, over the batch: dim 0.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(1, keepdim=True), x.var(1, correction=0, keepdim=True)
            with torch.no_grad():
                self.running_mean.lerp_(x.mean(0), 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias


@bank.wrong(
    "BatchNorm1d",
    "no-weight-and-bias",
    "Your module standardizes, but has no weight and bias to learn.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        mean, var = self.running_mean, self.running_var
        if self.training:
            mean, var = x.mean(0), x.var(0, correction=0)
            with torch.no_grad():
                self.running_mean.lerp_(mean, 0.1)
                self.running_var.lerp_(x.var(0), 0.1)
        return (x - mean) / torch.sqrt(var + 1e-5)


@bank.wrong(
    "BatchNorm1d",
    "uses-batch-norm",
    "It works, since torch's own batch norm does the work. Write the formula down yourself.",
)
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.register_buffer("running_mean", torch.zeros(n))
        self.register_buffer("running_var", torch.ones(n))

    def forward(self, x):
        return nn.functional.batch_norm(
            x, self.running_mean, self.running_var, self.weight, self.bias, training=self.training
        )


@bank.right("BatchNorm1d", "rebound-buffers")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(n))
        self.weight = nn.Parameter(torch.ones(n))
        self.register_buffer("running_var", torch.ones(n))
        self.register_buffer("running_mean", torch.zeros(n))

    def forward(self, x):
        if self.training:
            mean, var = x.mean(dim=0), ((x - x.mean(dim=0)) ** 2).mean(dim=0)
            unbiased = var.detach() * len(x) / (len(x) - 1)
            self.running_mean = 0.9 * self.running_mean + 0.1 * mean.detach()
            self.running_var = 0.9 * self.running_var + 0.1 * unbiased
        else:
            mean, var = self.running_mean, self.running_var
        return (x - mean) * torch.rsqrt(var + 1e-5) * self.weight + self.bias


@bank.right("BatchNorm1d", "counts-batches-too")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(n))
        self.bias = nn.Parameter(torch.zeros(n))
        for name, value in {"running_mean": torch.zeros(n), "running_var": torch.ones(n)}.items():
            self.register_buffer(name, value)
        self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, x):
        if not self.training:
            return self.standardize(x, self.running_mean, self.running_var)
        self.num_batches_tracked += 1
        var, mean = torch.var_mean(x, dim=0, correction=0)
        self.track(x.detach())
        return self.standardize(x, mean, var)

    def track(self, x):
        self.running_mean.mul_(0.9).add_(0.1 * x.mean(0))
        self.running_var.mul_(0.9).add_(0.1 * x.var(0, correction=1))

    def standardize(self, x, mean, var):
        return torch.addcmul(self.bias, self.weight, (x - mean) / (var + 1e-5).sqrt())


@bank.right("BatchNorm1d", "moments")
class BatchNorm1d(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.ones(n)), nn.Parameter(torch.zeros(n))
        self.running_mean, self.running_var = nn.Buffer(torch.zeros(n)), nn.Buffer(torch.ones(n))

    def forward(self, x):
        if self.training:
            batch = x.shape[0]
            mean = x.sum(0, keepdim=True) / batch
            centered = x - mean
            var = centered.square().sum(0) / batch
            self.running_mean.data += 0.1 * (mean.data[0] - self.running_mean)
            self.running_var.data += 0.1 * (centered.data.square().sum(0) / (batch - 1) - self.running_var)
        else:
            centered, var = x - self.running_mean, self.running_var
        return self.bias + self.weight * centered / (var + 1e-5) ** 0.5


# --- save_best ----------------------------------------------------------------------------------------------


@bank.wrong(
    "save_best",
    "aliases-live-weights",
    "Your snapshot holds the module's own tensors, as `state_dict()` gives them: training changes them.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return best
    return {"loss": loss, "state": module.state_dict()}


@bank.wrong(
    "save_best",
    "detach-as-copy",
    "`detach` gives another tensor, but in the same memory: your snapshot changes with the module. Use `clone`.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return best
    buffers = {name: value.clone() for name, value in module.named_buffers()}
    return {"loss": loss, "state": {name: value.detach() for name, value in module.named_parameters()} | buffers}


@bank.wrong(
    "save_best",
    "parameters-only",
    "You save the parameters and forget the buffers, such as the running mean of a batch norm.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return best
    return {"loss": loss, "state": {name: p.detach().clone() for name, p in module.named_parameters()}}


@bank.wrong(
    "save_best",
    "higher-is-better",
    "You keep the higher loss. The lower one is better.",
)
def save_best(module, best, loss):
    if best is not None and loss <= best["loss"]:
        return best
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.wrong(
    "save_best",
    "takes-a-tie",
    "You take an equal loss for a better one. Only a lower loss replaces `best`.",
)
def save_best(module, best, loss):
    if best is not None and loss > best["loss"]:
        return best
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.wrong(
    "save_best",
    "updates-best-in-place",
    "You write the new record into `best`. Whoever holds the old one loses it: return a new dict.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return best
    best = {} if best is None else best
    best["loss"] = loss
    best["state"] = {name: value.clone() for name, value in module.state_dict().items()}
    return best


@bank.wrong(
    "save_best",
    "returns-a-copy-of-best",
    "When the loss is not lower, you return a copy of `best`. The very same dict is asked for.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return dict(best)
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.wrong(
    "save_best",
    "fails-without-best",
    "At the first call `best` is None, and None has no loss. Ask for that first.",
)
def save_best(module, best, loss):
    if loss >= best["loss"]:
        return best
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.wrong(
    "save_best",
    "zero-is-nothing",
    "A best loss of 0.0 counts as false in Python, and you take it for none. Compare with None.",
)
def save_best(module, best, loss):
    lowest = (best and best["loss"]) or float("inf")
    if loss >= lowest:
        return best
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.wrong(
    "save_best",
    "always-saves",
    "You save each time, whatever the loss. Only a lower loss replaces `best`.",
)
def save_best(module, best, loss):
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.wrong(
    "save_best",
    "saves-the-module",
    "Your snapshot is a copy of the whole module. What load_state_dict takes is a dict of names and tensors.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return best
    return {"loss": loss, "state": copy.deepcopy(module)}


@bank.wrong(
    "save_best",
    "leaves-eval-mode",
    "You put the module into eval mode on the way, and leave it there. Saving needs no mode.",
)
def save_best(module, best, loss):
    if best is not None and loss >= best["loss"]:
        return best
    module.eval()
    return {"loss": loss, "state": {name: value.clone() for name, value in module.state_dict().items()}}


@bank.right("save_best", "deep-copy")
def save_best(module, best, loss):
    if best is None or loss < best["loss"]:
        return {"state": copy.deepcopy(module.state_dict()), "loss": loss}
    return best


@bank.right("save_best", "state-of-a-copy")
def save_best(module, best, loss):
    lowest = math.inf if best is None else best["loss"]
    better = loss < lowest
    return dict(loss=loss, state=copy.deepcopy(module).state_dict()) if better else best


@bank.right("save_best", "filled-one-by-one")
def save_best(module, best, loss):
    if best is not None and not loss < best["loss"]:
        return best
    state = module.state_dict()
    for name in list(state):
        kept = torch.empty_like(state[name])
        kept.copy_(state[name])
        state[name] = kept
    return {"loss": loss, "state": state}


# --- load_partial -------------------------------------------------------------------------------------------


@bank.wrong(
    "load_partial",
    "strict-false-hides-shape",
    "`strict=False` forgives missing and unknown names, but an unequal shape raises an error. Compare shapes yourself.",
)
def load_partial(module, state):
    odd = module.load_state_dict(state, strict=False)
    return sorted([*odd.missing_keys, *odd.unexpected_keys])


@bank.wrong(
    "load_partial",
    "copy-broadcasts",
    "You do not compare shapes: `copy_` stretches a tensor of shape (1,) to any length, and fails on others.",
)
def load_partial(module, state):
    own = module.state_dict()
    both = own.keys() & state.keys()
    with torch.no_grad():
        for name in both:
            own[name].copy_(state[name])
    return sorted((own.keys() | state.keys()) - both)


@bank.wrong(
    "load_partial",
    "counts-numbers-only",
    "You load where the count of numbers fits. (2, 3) and (3, 2) hold as many, but in another order: compare shapes.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {n: v.reshape(own[n].shape) for n, v in state.items() if n in own and own[n].numel() == v.numel()}
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "load_partial",
    "forgets-the-missing",
    "You tell the names in state that were not loaded, but not those of the module that state does not have.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(state.keys() - fits.keys())


@bank.wrong(
    "load_partial",
    "forgets-the-unknown",
    "You tell the names of the module that were not loaded, but not those that only state has.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(own.keys() - fits.keys())


@bank.wrong(
    "load_partial",
    "tells-the-loaded",
    "You return the names that were loaded. Those that were not are asked for.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(fits)


@bank.wrong(
    "load_partial",
    "unsorted",
    "Your names are the right ones, but not sorted.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys(), reverse=True)


@bank.wrong(
    "load_partial",
    "parameters-only",
    "You load parameters and leave buffers out. The running values of a batch norm are part of a state as well.",
)
def load_partial(module, state):
    own = dict(module.named_parameters())
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted((module.state_dict().keys() | state.keys()) - fits.keys())


@bank.wrong(
    "load_partial",
    "takes-over-the-memory",
    "You assign to `.data`: the module then lives in the memory of state, with its dtype. Copy the numbers.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if name in fits:
            tensor.data = fits[name]
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "load_partial",
    "assigns-new-parameters",
    "With assign=True the module gets other parameters. Whoever holds the old ones, to train them, now holds nothing.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {n: v.clone() for n, v in state.items() if n in own and own[n].shape == v.shape}
    module.load_state_dict(fits, strict=False, assign=True)
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "load_partial",
    "all-or-nothing",
    "When something does not fit, you load nothing at all. Load the rest.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name for name, value in state.items() if name in own and own[name].shape == value.shape}
    if fits == own.keys() == state.keys():
        module.load_state_dict(state)
        return []
    return sorted((own.keys() | state.keys()) - fits)


@bank.wrong(
    "load_partial",
    "takes-out-of-state",
    "You remove entries from the state that you were given. It belongs to the caller: work on a dict of your own.",
)
def load_partial(module, state):
    own = module.state_dict()
    names = own.keys() | state.keys()
    for name in list(state):
        if name not in own or own[name].shape != state[name].shape:
            del state[name]
    module.load_state_dict(state, strict=False)
    return sorted(names - state.keys())


@bank.right("load_partial", "copy-in-place")
def load_partial(module, state):
    left = set(state)
    with torch.no_grad():
        for name, value in module.state_dict().items():
            if name in state and state[name].size() == value.size():
                value.copy_(state[name])
                left.discard(name)
            else:
                left.add(name)
    return sorted(left)


@bank.right("load_partial", "completed-state")
def load_partial(module, state):
    full = {name: value.clone() for name, value in module.state_dict().items()}
    skipped = [name for name in full if name not in state]
    for name in state:
        if name in full and full[name].shape == state[name].shape:
            full[name] = state[name].clone()
        else:
            skipped.append(name)
    module.load_state_dict(full)
    skipped.sort()
    return skipped


@bank.right("load_partial", "through-data")
def load_partial(module, state):
    own = dict(module.named_parameters()) | dict(module.named_buffers())
    loaded = [name for name in own if name in state and own[name].shape == state[name].shape]
    for name in loaded:
        own[name].data.copy_(state[name])
    return sorted(set(own) ^ set(state) | (set(own) & set(state)) - set(loaded))


# --- freeze_all_but -----------------------------------------------------------------------------------------


@bank.wrong(
    "freeze_all_but",
    "requires-grad-on-module",
    "You set `requires_grad` on the module. That makes a new attribute that nobody reads; the flag is the parameter's.",
)
def freeze_all_but(module, pattern):
    module.requires_grad = False
    names = [name for name, _ in module.named_parameters() if fnmatch.fnmatch(name, pattern)]
    return names


@bank.wrong(
    "freeze_all_but",
    "bn-statistics-still-move",
    "The parameters are frozen, but in training mode a batch norm goes on moving its statistics: put it "
    "into eval mode.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "optimizer-gets-frozen",
    "You return all names, those of frozen parameters too. Only what is left to be trained is asked for.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, _ in module.named_parameters()]


@bank.wrong(
    "freeze_all_but",
    "never-thaws",
    "You freeze, but do not switch the flag on where it was off. A parameter that fits is to be trainable.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        if not fnmatch.fnmatch(name, pattern):
            p.requires_grad_(False)
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "freezes-what-fits",
    "You freeze the parameters that fit, and train the others. It is the other way round.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(not fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "substring-for-pattern",
    "You look for the pattern's text in the name, stars included. `fnmatch.fnmatch` knows what a star means.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(pattern in name)
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "beginning-for-pattern",
    "You compare the beginning of the name with the text before the star. A pattern may have its star anywhere.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(name.startswith(pattern.split("*")[0]))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "whole-model-to-eval",
    "You put the whole module into eval mode. What is trained stays in the mode that it was in.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    module.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "all-back-to-train",
    "You put the module into training mode first. A part that was in eval mode was so for a reason: leave it.",
)
def freeze_all_but(module, pattern):
    module.train(True)
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "empty-parts-to-eval",
    "You put parts into eval mode that hold nothing at all, such as a dropout beside the head. They keep their mode.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        if not any(p.requires_grad for p in part.parameters()):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "batch-norm-alone-to-eval",
    "You put batch norms alone into eval mode. A frozen part goes there as a whole, its dropout too.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        if isinstance(part, nn.BatchNorm1d) and not any(p.requires_grad for p in part.parameters()):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "buffers-alone-forgotten",
    "You look at parameters alone. A batch norm with affine=False has none, and its statistics move all the same.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = list(part.parameters())
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "returns-parameters",
    "You return the parameters themselves. Their names are asked for.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [p for p in module.parameters() if p.requires_grad]


@bank.wrong(
    "freeze_all_but",
    "clears-old-gradients",
    "You clear the .grad of the frozen parameters. Nobody asked for that: set the flag, and no more.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
        if not p.requires_grad:
            p.grad = None
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.right("freeze_all_but", "recursive")
def freeze_all_but(module, pattern):
    left = []
    for name, p in module.named_parameters():
        p.requires_grad = fnmatch.fnmatch(name, pattern)
        left += [name] if p.requires_grad else []

    def rest(part):
        holds = len(part.state_dict()) > 0
        if holds and not [p for p in part.parameters() if p.requires_grad]:
            part.train(False)
        else:
            for child in part.children():
                rest(child)

    rest(module)
    return left


@bank.right("freeze_all_but", "filter-of-names")
def freeze_all_but(module, pattern):
    named = dict(module.named_parameters())
    trainable = [name for name in named if fnmatch.fnmatch(name, pattern)]
    for name in named:
        named[name].requires_grad_(False)
    for name in trainable:
        named[name].requires_grad_(True)
    for prefix, part in module.named_modules():
        inside = prefix + "." if prefix else ""
        holds = any(True for _ in part.parameters()) or any(True for _ in part.buffers())
        if holds and not any(name.startswith(inside) for name in trainable):
            part.eval()
    return trainable


@bank.right("freeze_all_but", "by-identity")
def freeze_all_but(module, pattern):
    names = fnmatch.filter([name for name, _ in module.named_parameters()], pattern)
    alive = {id(module.get_parameter(name)) for name in names}
    for p in module.parameters():
        p.requires_grad = id(p) in alive
    for part in module.modules():
        held = {id(tensor) for tensor in part.state_dict(keep_vars=True).values()}
        if held and not held & alive:
            part.eval()
    return names


# --- shape_trace --------------------------------------------------------------------------------------------


@bank.wrong(
    "shape_trace",
    "runs-real-data",
    "You run the layers on real numbers. For a large model that takes memory and time: the meta device needs neither.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module)
    for name, part in ghost.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
    ghost(torch.zeros(input_shape))
    return shapes


@bank.wrong(
    "shape_trace",
    "hook-not-removed",
    "You hang hooks on the module itself, copy it with them, and leave them there. Hang them on the copy.",
)
def shape_trace(module, input_shape):
    shapes = []
    for name, part in module.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
    ghost = copy.deepcopy(module).to("meta")
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "moves-the-module",
    "You move the module itself to the meta device. Its numbers are gone then, for good: move a copy.",
)
def shape_trace(module, input_shape):
    shapes, handles = [], []
    for name, part in module.named_modules():
        if not list(part.children()):
            handles.append(
                part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
            )
    module.to("meta")(torch.empty(input_shape, device="meta"))
    for handle in handles:
        handle.remove()
    return shapes


@bank.wrong(
    "shape_trace",
    "lists-containers",
    "You list every submodule, containers too. Only those without submodules of their own are asked for.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module).to("meta")
    for name, part in ghost.named_modules():
        if name or not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "order-of-writing",
    "You list each leaf once, in the order in which the module is written down. The order of running is asked for.",
)
def shape_trace(module, input_shape):
    shapes = {}
    ghost = copy.deepcopy(module).to("meta")
    leaves = [(name, part) for name, part in ghost.named_modules() if not list(part.children())]
    for name, part in leaves:
        part.register_forward_hook(lambda part, args, out, name=name: shapes.update({name: tuple(out.shape)}))
    ghost(torch.empty(input_shape, device="meta"))
    return [(name, shapes[name]) for name, _ in leaves if name in shapes]


@bank.wrong(
    "shape_trace",
    "once-each",
    "You note each leaf once. One that runs twice stands there twice.",
)
def shape_trace(module, input_shape):
    shapes = {}
    ghost = copy.deepcopy(module).to("meta")
    for name, part in ghost.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.update({name: tuple(out.shape)}))
    ghost(torch.empty(input_shape, device="meta"))
    return list(shapes.items())


@bank.wrong(
    "shape_trace",
    "input-shapes",
    "You note the shape that goes into each leaf. The shape that comes out is asked for.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module).to("meta")
    for name, part in ghost.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(args[0].shape))))
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "drops-the-batch",
    "You leave the first axis of each shape out. The whole shape is asked for.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module).to("meta")
    for name, part in ghost.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape[1:]))))
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "adds-a-batch",
    "You put a batch axis in front of input_shape. It is the whole shape already.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module).to("meta")
    for name, part in ghost.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
    ghost(torch.empty(1, *input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "names-of-classes",
    "You note the name of each leaf's class. Its name in named_modules() is asked for: two layers may have one class.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module).to("meta")
    for part in ghost.modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out: shapes.append((type(part).__name__, tuple(out.shape))))
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "children-only",
    "You look at the direct children alone. Leaves may stand deeper, and the module may be a leaf itself.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module).to("meta")
    for name, part in ghost.named_children():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.wrong(
    "shape_trace",
    "eval-mode-stays",
    "You put the module itself into eval mode, and leave it there. It is to stay as it was.",
)
def shape_trace(module, input_shape):
    shapes = []
    ghost = copy.deepcopy(module.eval()).to("meta")
    for name, part in ghost.named_modules():
        if not list(part.children()):
            part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
    ghost(torch.empty(input_shape, device="meta"))
    return shapes


@bank.right("shape_trace", "to-empty-with-names")
def shape_trace(module, input_shape):
    ghost = copy.deepcopy(module).to_empty(device="meta")
    names = {part: name for name, part in ghost.named_modules()}
    result = []

    def note(part, inputs, output):
        if not part._modules:
            result.append((names[part], tuple(output.size())))

    for part in names:
        part.register_forward_hook(note)
    with torch.no_grad(), torch.device("meta"):
        ghost(torch.ones(*input_shape))
    return result


@bank.right("shape_trace", "functional-call")
def shape_trace(module, input_shape):
    tensors = [*module.named_parameters(), *module.named_buffers()]
    ghosts = {name: torch.empty_like(tensor, device="meta") for name, tensor in tensors}
    shapes, handles = [], []
    for name, part in module.named_modules():
        if len(list(part.children())) == 0:
            handles.append(
                part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
            )
    try:
        torch.func.functional_call(module, ghosts, (torch.empty(input_shape, device="meta"),))
    finally:
        for handle in handles:
            handle.remove()
    return shapes


@bank.right("shape_trace", "one-global-hook")
def shape_trace(module, input_shape):
    ghost = copy.deepcopy(module).to(torch.device("meta"))
    names = {id(part): name for name, part in ghost.named_modules() if not list(part.modules())[1:]}
    shapes = []

    def note(part, args, out):
        if id(part) in names:
            shapes.append((names[id(part)], tuple(out.shape)))

    handle = nn.modules.module.register_module_forward_hook(note)
    try:
        ghost(torch.zeros(input_shape, device="meta"))
    finally:
        handle.remove()
    return shapes
