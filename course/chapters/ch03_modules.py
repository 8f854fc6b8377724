# %% [markdown] name="opening"
# # Chapter 3: Modules
#
# A network has hundreds of tensors that learn; a module keeps them together.
# After this chapter you can
#
# 1. write a module, and say what it registers
# 2. choose between parameter, buffer and plain attribute
# 3. watch a model with hooks, and say why you call `model(x)`
# 4. put layers into containers, and spot layers that are hidden
# 5. choose the first weights so that a deep network gets going
# 6. use `train`, `eval` and `no_grad`, each for its own purpose
# 7. save a model, load it, and load a part of it
# 8. freeze parameters, and share them
# 9. trace shapes through a model
# 10. build a model without memory, on the meta device
#
# Plan 75 minutes, without the stretch exercises; sections 3 and 5 are good places for a break.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them

# %% setup=true
import copy
import fnmatch
import math
import warnings
import torch
from torch import nn
from autograder import check, hint, progress, reveal, shows_error
from course.figures import ch03_modules as figures

_ = torch.manual_seed(seed)

# %% [markdown] name="registry"
# ## 1 A module is a registry (12 minutes)
#
# In chapter 2 you kept w and b in variables and passed them from hand to hand.
# A **module** is an object that holds such tensors and computes with them.
# A small one is ready-made: `nn.Linear(1, 1)`, one input, one output.
#
# *Predict.* It computes w * x + b. How many tracked tensors does it hold?

# %% predict=true
guess = 2  # a number

# %% name="linear-one-one"
layer = nn.Linear(1, 1)
held = {name: (tuple(p.shape), p.requires_grad) for name, p in layer.named_parameters()}
print(held)
assert held == {"weight": ((1, 1), True), "bias": ((1,), True)}
x = torch.tensor([[3.0]])
assert torch.allclose(layer(x), x * layer.weight + layer.bias)
reveal(guess, len(held))

# %% [markdown]
# A weight and a bias, both tracked, and nobody wrote `requires_grad=True`.
# In general, `nn.Linear(n, m)` has a weight of shape (m, n) and computes `x @ weight.T + bias`, for each row of a batch.
#
# For a model of your own you write a class, a subclass of `nn.Module`.
# Its `__init__` makes the parts, its `forward` computes.

# %% name="line-module"
class Line(nn.Module):
    """A straight line: (batch, 1) gives (batch, 1)."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(1, 1)

    def forward(self, x):
        return self.layer(x)


model = Line()
y = model(torch.ones(5, 1))  # runs forward
assert y.shape == (5, 1) and y.grad_fn is not None
assert [name for name, _ in model.named_parameters()] == ["layer.weight", "layer.bias"]
print(tuple(y.shape), y.grad_fn.name())

# %% [markdown]
# Calling the model runs `forward`, and the graph is built on the way, as ever.
# (`Addmm` is a matrix product with a sum.)
#
# How did `model` come to know `layer.weight`?
# By the assignment: a module watches what is assigned to `self`, and enters parameters and modules in a **registry**.
# `super().__init__()` makes the empty registry, so it comes first.

# %% name="super-init"
class Forgetful(nn.Module):
    """A module that does not begin with super().__init__()."""

    def __init__(self):
        self.layer = nn.Linear(1, 1)


with shows_error(AttributeError, match="before Module.__init__() call"):
    Forgetful()
assert list(model._modules) == ["layer"]  # the registry of the model of the last cell,
assert list(model.layer._parameters) == ["weight", "bias"]  # and that of its layer

# %% [markdown]
# The rule: an attribute goes into the registry if it is an `nn.Parameter`, an `nn.Buffer` (section 2) or a module.
# An `nn.Parameter` is a tensor made to learn: it is tracked, and it asks to be registered.
#
# *Predict.* Four attributes, below. How many tensors are in `parameters()`?

# %% predict=true
guess = 3  # a number

# %% name="four-attributes"
class FourAttributes(nn.Module):
    """Which of these are registered?"""

    def __init__(self):
        super().__init__()
        self.first = nn.Parameter(torch.ones(2))
        self.second = torch.ones(2, requires_grad=True)
        self.third = nn.Linear(2, 2)
        self.fourth = [nn.Linear(2, 2)]


names = [name for name, _ in FourAttributes().named_parameters()]
assert names == ["first", "third.weight", "third.bias"]
reveal(guess, len(names))

# %% [markdown]
# `second` is tracked, but it is a plain tensor, and `fourth` is a list: ordinary attributes of a Python object.
# Both will come back as bugs.
#
# Modules hold modules, to any depth, and `parameters()` collects through all of them.
# The names are paths.
# (`nn.Sequential` runs its parts one after another; section 4.)

# %% name="nested-names"
net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1)))
names = [name for name, _ in net.named_parameters()]
assert names == ["0.weight", "0.bias", "1.0.weight", "1.0.bias"]
assert net[1][0].bias is net.get_parameter("1.0.bias")
print(names)

# %% [markdown]
# *Predict.* `params = net.parameters()`; a first loop over `params` meets 4 tensors. How many does a second loop over the same `params` meet?

# %% predict=true
guess = 0  # a number

# %% name="generator"
params = net.parameters()
assert sum(1 for _ in params) == 4
reveal(guess, sum(1 for _ in params))

# %% [markdown]
# `parameters()` is a generator: once used, it is empty.
# Call it again, or keep `list(net.parameters())`.
#
# Whoever trains the model gets this list.
# In chapter 4 that is an optimizer; here, a step by hand, as in `descend` of chapter 2.

# %% name="step-by-hand"
x = torch.linspace(-1, 1, 20).unsqueeze(1)  # (20, 1)


def line_loss():
    return ((model(x) - (5 * x + 1)) ** 2).mean()


before = line_loss()
before.backward()
with torch.no_grad():
    for p in model.parameters():
        p -= 0.1 * p.grad
after = line_loss()
assert after < before
print(before.item(), after.item())

# %% [markdown]
# The loop does not know what the model is made of.
# That is the use of a registry: everything that must reach all parts has one method.

# %% name="standard-methods"
first = model.layer.weight
model.to(torch.float64)  # all numbers change their dtype, in place
assert model.layer.weight is first and first.dtype == torch.float64
model.eval()  # a flag in every part; section 6
assert not model.training and not model.layer.training
assert list(model.state_dict()) == ["layer.weight", "layer.bias"]  # section 7
model.train().to(torch.float32)
print(model)

# %% [markdown]
# "Each module makes parameters and defines `forward`", you may read.
# Some have no parameters, and some hold tensors that do not learn, called *buffers* (section 2).

# %% name="modules-without-parameters"
assert list(nn.ReLU().parameters()) == []
buffers = [name for name, _ in nn.BatchNorm1d(3).named_buffers()]
assert buffers == ["running_mean", "running_var", "num_batches_tracked"]
print(buffers)

# %% [markdown] name="why-a-bend"
# ### Why a bend between layers
#
# `torch.relu` sets negative numbers to zero; as a layer, it is `nn.ReLU()`.
#
# *Predict.* Two linear layers in a row, `second(first(x))`, with 16 numbers in between. Is there a single linear layer that computes the same?

# %% predict=true
guess = True  # True or False

# %% name="collapse"
first, second, single = nn.Linear(2, 16), nn.Linear(16, 1), nn.Linear(2, 1)
with torch.no_grad():
    single.weight.copy_(second.weight @ first.weight)  # second(first(x)), multiplied out
    single.bias.copy_(second.weight @ first.bias + second.bias)
x = torch.randn(100, 2)
assert torch.relu(torch.tensor([-2.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 3.0]
assert not torch.allclose(second(torch.relu(first(x))), single(x), atol=1e-4)
reveal(guess, torch.allclose(second(first(x)), single(x), atol=1e-5))

# %% [markdown]
# Multiplied out, two straight maps are one: without something between them, depth brings nothing.
# A bend such as ReLU, or `tanh` in chapter 2, ends that.
# Such a function is called an **activation**.
#
# ### Exercise: `TwoLayerMLP`
#
# Linear, bend, linear: the smallest network that can learn a curve.
# (MLP stands for multi-layer perceptron.)

# %% exercise="TwoLayerMLP"
### BEGIN STARTER
# class TwoLayerMLP(nn.Module):
#     """Two linear layers, in_features to hidden to out_features, with a ReLU between them.
#
#     The layers are nn.Linear and have the names fc1 and fc2. x has shape
#     (..., in_features), with any axes in front; the result (..., out_features). There is
#     no activation after fc2. nn.Sequential is not allowed.
#
#     TwoLayerMLP(8, 16, 1)(torch.ones(5, 8)) has shape (5, 1).
#     """
#
#     def __init__(self, in_features, hidden, out_features):
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
### END STARTER
class TwoLayerMLP(nn.Module):
    """Two linear layers, in_features to hidden to out_features, with a ReLU between them.

    The layers are nn.Linear and have the names fc1 and fc2. x has shape
    (..., in_features), with any axes in front; the result (..., out_features). There is
    no activation after fc2. nn.Sequential is not allowed.

    TwoLayerMLP(8, 16, 1)(torch.ones(5, 8)) has shape (5, 1).
    """

    ### BEGIN SOLUTION
    def __init__(self, in_features, hidden, out_features):
        super().__init__()
        self.fc1 = nn.Linear(in_features, hidden)
        self.fc2 = nn.Linear(hidden, out_features)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
    ### END SOLUTION

# %% check="TwoLayerMLP" points=1
check("TwoLayerMLP", TwoLayerMLP)

# %% [markdown]
# *Predict.* A network 2-8-1 has 2 inputs, 8 hidden numbers and 1 output. How many numbers does it learn, biases included?

# %% predict=true
guess = 33  # a number

# %% name="mlp-count"
classifier = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
assert classifier(torch.randn(32, 2)).shape == (32, 1)
reveal(guess, sum(p.numel() for p in classifier.parameters()))

# %% [markdown]
# 2 * 8 + 8 into the hidden layer, 8 + 1 out of it.
# The same sum for two smaller models:

# %% name="tiny-models"
for tiny, expected in (
    (nn.Linear(4, 1), 5),
    (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)), 21),
):
    inputs = torch.randn(8, next(tiny.parameters()).shape[1])  # as wide as the first weight
    assert tiny(inputs).shape == (8, 1)
    assert sum(p.numel() for p in tiny.parameters()) == expected
    print(expected)

# %% [markdown]
# ### Exercise: `count_params`
#
# Take care: a parameter may stand in two places and is still one (section 8 says what for).
# `parameters()` knows that; `state_dict()` lists it under both names.

# %% exercise="count_params"
def count_params(module, trainable_only=False):
    """Return how many numbers the parameters of a module hold, submodules included.

    A parameter that stands in several places counts once. Buffers do not count. With
    trainable_only=True, only parameters with requires_grad count. The result is an int.

    count_params(nn.Linear(3, 2)) gives 8.
    """
    ### BEGIN SOLUTION
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not trainable_only)
    ### END SOLUTION

# %% check="count_params" points=2
check("count_params", count_params)

# %% [markdown] name="three-kinds-text"
# ## 2 Parameter, buffer, plain attribute (8 minutes)
#
# Not every tensor of a model learns.
# The mean that inputs are centered with is computed once; a mask is fixed.
# They belong to the model, but no training step may touch them.
# Such a tensor is a **buffer**; `register_buffer` takes its name and the tensor.

# %% name="three-kinds"
class Kinds(nn.Module):
    """One tensor of each kind, and a layer."""

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(2))
        self.register_buffer("center", torch.zeros(2))
        self.note = torch.zeros(2)
        self.layer = nn.Linear(2, 1)


kinds = Kinds()
learned = [name for name, _ in kinds.named_parameters()]
assert learned == ["slope", "layer.weight", "layer.bias"]
assert [name for name, _ in kinds.named_buffers()] == ["center"]
assert list(kinds.state_dict()) == ["slope", "center", "layer.weight", "layer.bias"]
print(list(kinds.state_dict()))

# %% figure=true
figures.tree(kinds)

# %% [markdown]
# `note` is in neither list: the module does not know it.
#
# *Predict.* `kinds.to(torch.float64)`. Which dtype does `kinds.note` have afterwards?

# %% predict=true
guess = torch.float32  # torch.float32 or torch.float64

# %% name="left-behind"
slope = kinds.slope
kinds.to(torch.float64)
assert kinds.center.dtype == torch.float64
assert kinds.slope is slope and slope.dtype == torch.float64  # the same object
reveal(guess, kinds.note.dtype)

# %% [markdown]
# A common mistake: a fixed table kept as a plain tensor.
# It works, until somebody converts the model, or moves it to a GPU (chapter 5): the table stays behind.

# %% name="plain-table"
class Projection(nn.Module):
    """Multiply by a fixed table."""

    def __init__(self):
        super().__init__()
        self.table = torch.randn(3, 2)

    def forward(self, x):
        return x @ self.table


x = torch.ones(1, 3)
assert Projection()(x).shape == (1, 2)
with shows_error(RuntimeError, match="same dtype"):
    Projection().to(torch.float64)(x.double())

# %% [markdown] name="kinds-table"
# The fix is one line: `self.register_buffer("table", torch.randn(3, 2))`.
#
# | kind | in `parameters()` | in `state_dict()` | follows `.to` | for |
# |---|---|---|---|---|
# | parameter | yes | yes | yes | what learns |
# | buffer | no | yes | yes | statistics, fixed tables |
# | buffer, `persistent=False` | no | no | yes | what can be computed again |
# | plain attribute | no | no | no | numbers, names, settings |

# %% name="non-persistent"
holder = nn.Module()  # an empty module, to put things into
holder.register_buffer("table", torch.ones(3, 2))
holder.register_buffer("steps", torch.arange(4.0), persistent=False)
assert list(holder.state_dict()) == ["table"]
holder.to(torch.float64)
assert holder.table.dtype == holder.steps.dtype == torch.float64
assert list(holder.parameters()) == [] and not holder.table.requires_grad
print(list(holder.state_dict()))

# %% [markdown]
# ### Exercise: `Standardizer`
#
# Chapter 1 standardized with the numbers of the batch.
# A trained model must use those of its training data, always the same ones.

# %% exercise="Standardizer"
### BEGIN STARTER
# class Standardizer(nn.Module):
#     """Compute (x - mean) / std; mean and std belong to the model but do not learn.
#
#     mean, std: float tensors of shape (features,), which become buffers with these names:
#     no parameters, part of the state_dict, changed by .to. The module keeps copies; what
#     happens later to the tensors it was given does not change it. x has shape
#     (..., features), and so has the result.
#
#     With mean = torch.tensor([1.0]) and std = torch.tensor([2.0]),
#     Standardizer(mean, std)(torch.tensor([[5.0]])) gives [[2.0]].
#     """
#
#     def __init__(self, mean, std):
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
### END STARTER
class Standardizer(nn.Module):
    """Compute (x - mean) / std; mean and std belong to the model but do not learn.

    mean, std: float tensors of shape (features,), which become buffers with these names:
    no parameters, part of the state_dict, changed by .to. The module keeps copies; what
    happens later to the tensors it was given does not change it. x has shape
    (..., features), and so has the result.

    With mean = torch.tensor([1.0]) and std = torch.tensor([2.0]),
    Standardizer(mean, std)(torch.tensor([[5.0]])) gives [[2.0]].
    """

    ### BEGIN SOLUTION
    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean.detach().clone())
        self.register_buffer("std", std.detach().clone())

    def forward(self, x):
        return (x - self.mean) / self.std
    ### END SOLUTION

# %% check="Standardizer" points=2
check("Standardizer", Standardizer)

# %% [markdown]
# Section 4 of chapter 2 had a trap: a leaf times 0.1 is no leaf.
# It waits here again.
#
# *Predict.* A module has one line, `self.weight = nn.Parameter(torch.randn(3)) * 0.1`. How many parameters does it have?

# %% predict=true
guess = 0  # a number

# %% name="scaled-parameter"
scaled = nn.Module()
scaled.weight = nn.Parameter(torch.randn(3)) * 0.1  # a result, not a Parameter
assert scaled.weight.requires_grad and not scaled.weight.is_leaf
right = nn.Module()
right.weight = nn.Parameter(torch.randn(3) * 0.1)  # first compute, then wrap
assert len(list(right.parameters())) == 1
reveal(guess, len(list(scaled.parameters())))

# %% [markdown]
# Nothing complains here.
# Once a name is registered, the module watches it: a plain tensor is refused.
# To put new numbers into a parameter, copy them in.

# %% name="assign-refused"
layer = nn.Linear(2, 1)
with shows_error(TypeError, match="cannot assign"):
    layer.weight = torch.zeros(1, 2)
with torch.no_grad():
    layer.weight.copy_(torch.zeros(1, 2))
assert layer.weight.tolist() == [[0.0, 0.0]] and layer.weight.requires_grad

# %% [markdown]
# ### Exercise: `Linear`
#
# The layer itself, from two parameters.
# `torch.empty(2, 3).uniform_(-0.5, 0.5)` draws uniform numbers; section 5 is about their size.
# Without a bias, the attribute is there all the same: `self.bias = None`.

# %% exercise="Linear"
### BEGIN STARTER
# class Linear(nn.Module):
#     """A linear layer made from nn.Parameter: x @ weight.T + bias.
#
#     weight has shape (out_features, in_features), bias (out_features,); with bias=False,
#     bias is None and nothing is added. All numbers start at random, independent, uniform
#     between -1 / sqrt(in_features) and 1 / sqrt(in_features). x has shape
#     (..., in_features), with any axes in front; the result (..., out_features).
#     nn.Linear is not allowed.
#
#     Linear(4, 2)(torch.ones(5, 3, 4)) has shape (5, 3, 2).
#     """
#
#     def __init__(self, in_features, out_features, bias=True):
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
### END STARTER
class Linear(nn.Module):
    """A linear layer made from nn.Parameter: x @ weight.T + bias.

    weight has shape (out_features, in_features), bias (out_features,); with bias=False,
    bias is None and nothing is added. All numbers start at random, independent, uniform
    between -1 / sqrt(in_features) and 1 / sqrt(in_features). x has shape
    (..., in_features), with any axes in front; the result (..., out_features).
    nn.Linear is not allowed.

    Linear(4, 2)(torch.ones(5, 3, 4)) has shape (5, 3, 2).
    """

    ### BEGIN SOLUTION
    def __init__(self, in_features, out_features, bias=True):
        super().__init__()
        bound = 1 / math.sqrt(in_features)
        self.weight = nn.Parameter(torch.empty(out_features, in_features).uniform_(-bound, bound))
        self.bias = None
        if bias:
            self.bias = nn.Parameter(torch.empty(out_features).uniform_(-bound, bound))

    def forward(self, x):
        result = x @ self.weight.T
        return result if self.bias is None else result + self.bias
    ### END SOLUTION

# %% check="Linear" points=3
check("Linear", Linear)

# %% [markdown] name="call-text"
# ## 3 `forward`, `__call__`, hooks (6 minutes)
#
# A **hook** is a function that a module calls after its `forward`, with itself, the inputs and the output.
# With one you look into a model without changing it.
#
# *Predict.* A hook is set; then `model(x)` and `model.forward(x)` run, once each. How often does the hook run?

# %% predict=true
guess = 1  # a number

# %% name="call-not-forward"
model, x = nn.Linear(3, 2), torch.randn(5, 3)
seen = []
note = lambda module, args, output: seen.append(tuple(output.shape))
handle = model.register_forward_hook(note)
by_call = model(x)
assert seen == [(5, 2)]
by_forward = model.forward(x)
assert torch.equal(by_call, by_forward)  # the same numbers
reveal(guess, len(seen))

# %% [markdown]
# `model(x)` runs `__call__`, which runs `forward` *and* the hooks; `model.forward(x)` skips them.
# The result is the same, so nothing tells you that a hook was skipped.
# Write `forward`, call the model.
#
# A hook stays until you remove it.
# Set in a function that is called twice, it runs twice.

# %% name="hook-stays"
def watch(module):
    return module.register_forward_hook(lambda *_: seen.append("watched"))


seen.clear()
handle.remove()  # the hook of the last cell
handles = [watch(model), watch(model)]
model(x)
assert seen == ["watched", "watched"]
for handle in handles:
    handle.remove()
model(x)
assert len(seen) == 2  # nobody watches any more
print(seen)

# %% [markdown]
# Put `handle.remove()` into the `finally` block of a `try`: it runs also when the model raises an error.
#
# What a hook returns, if anything, replaces the output.
# So a hook that watches returns None.

# %% name="hook-replaces"
handle = model.register_forward_hook(lambda module, args, output: output * 0)
try:
    assert (model(x) == 0).all()
finally:
    handle.remove()
assert not (model(x) == 0).all()
print(model(x)[0])

# %% [markdown]
# One trap of Python, for hooks made in a loop.
# A function looks up a variable when it runs, not when it is made.

# %% name="late-names"
late = [lambda: name for name in ("a", "b")]
bound = [lambda name=name: name for name in ("a", "b")]  # keeps the value of its own round
assert [f() for f in late] == ["b", "b"] and [f() for f in bound] == ["a", "b"]
print([f() for f in late], [f() for f in bound])

# %% [markdown]
# Do hooks, or modules, appear in the graph?
# No: autograd records the steps that `forward` runs and knows nothing of modules.
#
# *Predict.* `nn.Linear` is one module. How many nodes does the graph of one call have, with one for each tracked leaf? (x is not tracked; the weight is transposed on the way.)

# %% predict=true
guess = 4  # a number

# %% name="what-the-graph-sees"
def nodes(node):
    """The names of a node and of all that it leads to."""
    names = [node.name().split("::")[-1]]
    for below, _ in node.next_functions:
        names += nodes(below) if below else []  # None: an untracked operand
    return names


found = nodes(nn.Linear(3, 2)(x).grad_fn)
assert sorted(found) == 2 * ["AccumulateGrad"] + ["AddmmBackward0", "TBackward0"]
print(found)
reveal(guess, len(found))

# %% [markdown]
# ### Exercise: `call_counts`
#
# Which parts of a model run, and how often?
# Use hooks, and leave none behind.
# `named_modules()` gives pairs of name and module: first the module itself, under the name `""`, then all that is in it.

# %% exercise="call_counts"
def call_counts(module, x):
    """Return how often each submodule runs in one call of module(x): a dict, name to count.

    The names are those of module.named_modules(), without the module itself; a
    submodule that does not run is not in the dict. module(x) is called once. Afterwards
    the hooks of this function are gone, also when module(x) raises an error, which goes
    on to the caller; hooks of others stay.

    For nn.Sequential(nn.Linear(2, 3), nn.ReLU()) the result is {"0": 1, "1": 1}.
    """
    ### BEGIN SOLUTION
    ran, handles = [], []
    for name, part in module.named_modules():
        if name:
            note = lambda part, args, out, name=name: ran.append(name)
            handles.append(part.register_forward_hook(note))
    try:
        module(x)
    finally:
        for handle in handles:
            handle.remove()
    return {name: ran.count(name) for name in ran}
    ### END SOLUTION

# %% check="call_counts" points=3
check("call_counts", call_counts)

# %% [markdown] name="containers"
# ## 4 Containers, and layers that hide (12 minutes)
#
# `nn.Sequential` is a module whose `forward` is known: each part gets what the one before returned.
# You have used it already; here is a network for house prices, with its printout.

# %% name="house-net"
house = nn.Sequential(
    nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)
)
print(house)
assert len(str(house).splitlines()) == 2 + 5  # one line for each part
assert "(0): Linear(in_features=3, out_features=16, bias=True)" in str(house)
assert house(torch.randn(2, 3)).shape == (2, 1)  # without a forward of our own
count = sum(p.numel() for p in house.parameters())
assert count == (3 * 16 + 16) + (16 * 8 + 8) + (8 + 1) == 209

# %% [markdown]
# The printout shows the registry, part by part.
#
# Eighty houses give predictions of shape (80, 1); prices come as (80,).
#
# *Predict.* You take the mean squared difference of the two, without looking. Over how many numbers is that mean? (Chapter 1, broadcasting.)

# %% predict=true
guess = 6400  # a number

# %% name="squeeze"
houses = torch.randn(80, 3)
prices = house(houses).squeeze(1).detach()  # (80,): the model is right about every house
with warnings.catch_warnings(record=True) as caught:  # torch warns, and goes on
    warnings.simplefilter("always")
    wrong = nn.MSELoss()(house(houses), prices)  # the mean squared difference
assert "different to the input size" in str(caught[0].message)
right = nn.MSELoss()(house(houses).squeeze(1), prices)
assert prices.shape == (80,) and right == 0 and wrong > 0
print("loss of a perfect model:", right.item(), "and with the wrong shape:", wrong.item())
reveal(guess, (house(houses) - prices).numel())

# %% [markdown]
# Each prediction was compared with the prices of all houses.
# `squeeze(1)` takes the axis of length 1 away; put it at the end of `forward`, so that predictions have the shape of the targets.
# (The 1 matters: a bare `squeeze()` would also take away a batch of one row.)
#
# The autograd stepper of chapter 2 takes models too: `model=` tells it the names of the parameters.
# By these it folds each layer into one row; "Unfold modules" shows every node.

# %% name="stepper-on-a-model"
from explorers import autograd_stepper

loss = nn.MSELoss()(house(houses).squeeze(1), houses.sum(dim=1))
stepper = autograd_stepper(loss, model=house, loss=loss)
loss.backward()
found = stepper.grads()
assert list(found) == [name for name, _ in house.named_parameters()]
assert found["0.weight"] == house[0].weight.grad.tolist()
stepper

# %% [markdown]
# If the number of layers is a setting, a list comes to mind.
#
# *Predict.* Below, three layers of 4 * 4 + 4 numbers in a Python list. How many numbers does `parameters()` find?

# %% predict=true
guess = 0  # a number

# %% name="list-hides"
class Hidden(nn.Module):
    """Three layers in a Python list."""

    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(4, 4) for _ in range(3)]

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


hidden = Hidden()
assert hidden(torch.ones(2, 4)).shape == (2, 4)  # it runs
reveal(guess, sum(p.numel() for p in hidden.parameters()))

# %% figure=true
figures.tree(hidden)

# %% [markdown]
# The registry holds no list.
# The model runs, and `backward` even fills in gradients; but whoever asks the model for its parts gets none.

# %% name="what-is-hidden"
hidden(torch.ones(2, 4)).sum().backward()
assert hidden.layers[0].weight.grad is not None  # the graph knows them ...
assert list(hidden.parameters()) == []  # ... training does not,
assert hidden.state_dict() == {}  # nor does saving,
hidden.to(torch.float64).eval()
assert hidden.layers[0].weight.dtype == torch.float32  # nor .to,
assert hidden.layers[0].training  # nor eval
print(hidden)  # an empty printout is the quickest sign

# %% [markdown]
# `nn.ModuleList` is a list that is a module; `nn.ModuleDict` is a dict that is one.
# They hold layers, and leave the computing to your `forward`.

# %% name="module-list"
layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
layers.append(nn.Linear(4, 1))
assert len(list(layers.parameters())) == 8 and layers[3].out_features == 1
heads = nn.ModuleDict({"price": nn.Linear(4, 1), "rooms": nn.Linear(4, 6)})
assert [name for name, _ in heads.named_parameters()][:2] == ["price.weight", "price.bias"]
with shows_error(NotImplementedError, match="forward"):
    layers(torch.ones(2, 4))  # no Sequential: it does not know the order

# %% [markdown]
# *Predict.* `nn.ModuleList([nn.Linear(4, 4)] * 3)` looks like three layers. How many tensors does `parameters()` give?

# %% predict=true
guess = 2  # a number

# %% name="times-three"
one_layer = nn.ModuleList([nn.Linear(4, 4)] * 3)
assert len(one_layer) == 3 and one_layer[0] is one_layer[2]
reveal(guess, len(list(one_layer.parameters())))

# %% [markdown]
# `*` repeats the reference, not the layer: one weight and one bias, used three times.
#
# ### Exercise: `MLP`
#
# Any number of layers, any activation.
# `activation` is a class; `activation()` makes one.

# %% exercise="MLP"
### BEGIN STARTER
# class MLP(nn.Module):
#     """Linear layers of the given sizes, with an activation after each one but the last.
#
#     sizes: a list of at least two widths, from the input to the output. activation: a
#     class of module such as nn.Tanh; each hidden layer gets one of its own,
#     activation(). parameters() lists everything that learns, in order from input to
#     output. x has shape (..., sizes[0]), the result (..., sizes[-1]). The names of the
#     parts are up to you.
#
#     MLP([3, 8, 8, 1], nn.Tanh) has three linear layers and two activations.
#     """
#
#     def __init__(self, sizes, activation):
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
### END STARTER
class MLP(nn.Module):
    """Linear layers of the given sizes, with an activation after each one but the last.

    sizes: a list of at least two widths, from the input to the output. activation: a
    class of module such as nn.Tanh; each hidden layer gets one of its own,
    activation(). parameters() lists everything that learns, in order from input to
    output. x has shape (..., sizes[0]), the result (..., sizes[-1]). The names of the
    parts are up to you.

    MLP([3, 8, 8, 1], nn.Tanh) has three linear layers and two activations.
    """

    ### BEGIN SOLUTION
    def __init__(self, sizes, activation):
        super().__init__()
        parts = []
        for before, after in zip(sizes, sizes[1:]):
            parts += [nn.Linear(before, after), activation()]
        self.parts = nn.ModuleList(parts[:-1])  # no activation after the last

    def forward(self, x):
        for part in self.parts:
            x = part(x)
        return x
    ### END SOLUTION

# %% check="MLP" points=3
check("MLP", MLP)

# %% [markdown] name="losses"
# ### The last layer and its loss
#
# A loss is a module too, most often one without parameters.
# What the last layer gives must be what the loss expects:
#
# | you predict | last layer gives | loss |
# |---|---|---|
# | a number | that number | `nn.MSELoss` |
# | yes or no | one logit | `nn.BCEWithLogitsLoss` |
# | one of k classes | k logits | `nn.CrossEntropyLoss` |
#
# A **logit** is a score without limits.
# `torch.sigmoid` turns it into a probability, and 0 into one half; `softmax` turns k of them into k probabilities with sum 1.
# The last two losses do that themselves, and give -log(p), where p is the probability of the right answer.
# The right answer is 0.0 or 1.0 for a yes or no, and the number of the class for one of k.

# %% name="loss-menu"
mse = nn.MSELoss()(torch.tensor([1.0, 3.0]), torch.zeros(2))
yes_no = nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
classes = nn.CrossEntropyLoss()(torch.zeros(1, 3), torch.tensor([2]))
assert mse == 5 and math.isclose(yes_no.item(), math.log(2), rel_tol=1e-5)
assert math.isclose(classes.item(), math.log(3), rel_tol=1e-5)  # equal scores: p is 1/3
print(mse.item(), yes_no.item(), classes.item())

# %% [markdown]
# A common mistake: a sigmoid at the end of the model, *and* the loss that has its own.
# It runs, and the loss goes down, to a point.
# Where the right answer is 1, the loss is -log(sigmoid(logit)), so a large logit brings it to 0.
# But what comes out of a sigmoid lies between 0 and 1, and sigmoid(1) is about 0.73.
#
# *Predict.* The right answer is 1, and the model may choose any number. With a sigmoid too many, how small can the loss get: 0, about 0.3, or about 0.7?

# %% predict=true
guess = 0.3  # 0, 0.3 or 0.7

# %% name="double-sigmoid"
logits = torch.linspace(-50, 50, 1001)
loss_of = nn.BCEWithLogitsLoss(reduction="none")  # one loss for each logit, no mean
best = {}
for label in (0.0, 1.0):
    target = torch.full_like(logits, label)
    assert loss_of(logits, target).min() < 1e-6  # logits as they are: no floor
    best[label] = loss_of(torch.sigmoid(logits), target).min().item()
assert math.isclose(best[0.0], math.log(2), rel_tol=1e-3)  # where 0 is right: about 0.69
print(best)
reveal(guess, round(best[1.0], 1))

# %% [markdown]
# The sigmoid leaves only scores from 0 to 1, and the loss takes them for logits: the model can no longer say that it is certain.
# A softmax before `nn.CrossEntropyLoss` does the same.
# So the model ends with logits; make probabilities of them only to look at.

# %% name="double-softmax"
scores = torch.tensor([[100.0, 0.0, 0.0]])  # as certain as can be, and right
label, loss_of = torch.tensor([0]), nn.CrossEntropyLoss()
floor = loss_of(torch.softmax(scores, dim=1), label).item()
assert loss_of(scores, label) < 1e-6 and 0.5 < floor < 0.6
print("without softmax:", loss_of(scores, label).item(), "with:", floor)

# %% [markdown]
# "Numerically unstable" is said of this mistake; the floor is the harm.
# Stability is why the losses take logits in the first place: a probability of exactly 1 has forgotten how large its logit was.

# %% name="why-logits"
logit, label = torch.tensor([200.0]), torch.tensor([0.0])  # very sure, and wrong
from_logit = nn.BCEWithLogitsLoss()(logit, label)
from_probability = nn.BCELoss()(torch.sigmoid(logit), label)  # takes a probability
assert from_logit == 200 and from_probability == 100  # cut off: log(0) would be infinite
print(from_logit.item(), from_probability.item())

# %% [markdown] name="bug-hunt"
# ## Bug hunt (5 minutes)
#
# Somebody hands you a model whose `parameters()` is empty.
# It runs, it gives prices, it does not learn.
# There are three reasons, one in each place where a tensor is made.
#
# ### Exercise: `HouseNet`
#
# Run the cell, look at `HouseNet(3)`, and call it twice on the same input.
# Change as little as you can.

# %% exercise="HouseNet"
### BEGIN STARTER
# class HouseNet(nn.Module):
#     """Predict the prices of houses: x of shape (batch, features) gives shape (batch,).
#
#     Two hidden layers of 16 and 8 units, each with a ReLU after it, then one output,
#     times a scale that begins at 100.0. All of it learns: parameters() lists weight and
#     bias of the three nn.Linear layers, and `scale`, a scalar; seven tensors. Calling
#     the model again with the same x gives the same prices.
#
#     HouseNet(3)(torch.ones(5, 3)) has shape (5,).
#     """
#
#     def __init__(self, features):
#         super().__init__()
#         self.hidden = [nn.Linear(features, 16), nn.Linear(16, 8)]
#         self.scale = torch.tensor(100.0)
#
#     def forward(self, x):
#         for layer in self.hidden:
#             x = torch.relu(layer(x))
#         out = nn.Linear(8, 1)
#         return (out(x) * self.scale).squeeze(1)
### END STARTER
class HouseNet(nn.Module):
    """Predict the prices of houses: x of shape (batch, features) gives shape (batch,).

    Two hidden layers of 16 and 8 units, each with a ReLU after it, then one output,
    times a scale that begins at 100.0. All of it learns: parameters() lists weight and
    bias of the three nn.Linear layers, and `scale`, a scalar; seven tensors. Calling
    the model again with the same x gives the same prices.

    HouseNet(3)(torch.ones(5, 3)) has shape (5,).
    """

    ### BEGIN SOLUTION
    def __init__(self, features):
        super().__init__()
        self.hidden = nn.ModuleList([nn.Linear(features, 16), nn.Linear(16, 8)])
        self.out = nn.Linear(8, 1)
        self.scale = nn.Parameter(torch.tensor(100.0))

    def forward(self, x):
        for layer in self.hidden:
            x = torch.relu(layer(x))
        return (self.out(x) * self.scale).squeeze(1)
    ### END SOLUTION

# %% check="HouseNet" points=3
check("HouseNet", HouseNet)

# %% [markdown] name="init"
# ## 5 The first weights (8 minutes)
#
# Training changes weights step by step; where do they begin?
# `nn.Linear` draws them uniformly, between plus and minus 1 / sqrt(inputs).

# %% name="default-start"
layer = nn.Linear(100, 200)
bound = 1 / math.sqrt(100)
assert layer.weight.abs().max() <= bound and layer.bias.abs().max() <= bound
spread = layer.weight.std().item()
assert abs(spread - bound / math.sqrt(3)) < 0.01  # the std of uniform numbers
print(layer.weight.min().item(), layer.weight.max().item())

# %% [markdown]
# Random means: different each time.
# Clean code does not make a model repeatable; a seed does.

# %% name="same-seed"
assert not torch.equal(nn.Linear(2, 1).weight, nn.Linear(2, 1).weight)
torch.manual_seed(seed)
first = nn.Linear(2, 1)
torch.manual_seed(seed)
again = nn.Linear(2, 1)
assert torch.equal(first.weight, again.weight)
print(first.weight.tolist(), again.weight.tolist())

# %% [markdown]
# Why random at all?
# Let all weights of a layer be equal.
#
# *Predict.* The 8 hidden units of a 2-8-1 network begin with equal weights. After `backward`, do all 8 have the same gradient?

# %% predict=true
guess = True  # True or False

# %% name="symmetry"
equal = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
for p in equal.parameters():
    nn.init.constant_(p, 0.5)
x = torch.randn(32, 2)
((equal(x) - x[:, :1]) ** 2).mean().backward()
gradients = equal[0].weight.grad  # (8, 2): one row for each hidden unit
reveal(guess, torch.allclose(gradients, gradients[:1].expand(8, 2)))

# %% [markdown]
# Equal weights get equal gradients and stay equal, step after step: eight units do the work of one.
# Random numbers tell them apart.
#
# How large should they be?
# Ten layers of 100 units with ReLU, and weights of std 0.01.
#
# *Predict.* Inputs have a size of about 1. How large are the numbers after ten layers?

# %% predict=true
guess = "below 1e-6"  # "about 1", "about 0.01" or "below 1e-6"

# %% name="through-depth"
def size_after_ten(std):
    """The size (root of the mean square) of the numbers after ten layers."""
    x = torch.randn(500, 100)
    for _ in range(10):
        x = torch.relu(x @ (torch.randn(100, 100) * std))
    return x.square().mean().sqrt().item()


small, good, large = (size_after_ten(std) for std in (0.01, math.sqrt(2 / 100), 1.0))
assert 0.03 < good < 30 and large > 1e4
print(f"std 0.01: {small:.1g}, sqrt(2 / 100): {good:.1g}, 1: {large:.1g}")
size = "below 1e-6" if small < 1e-6 else "about 0.01" if small < 0.1 else "about 1"
reveal(guess, size)

# %% figure=true
figures.activations(10)

# %% [markdown] name="he-text"
# Too small, and every layer shrinks the numbers until nothing is left; too large, and they explode.
# (In an empty picture, nearly all numbers are beyond its edges.)
#
# A sum of n products of size-1 numbers with weights has a mean square of n * std ** 2.
# ReLU sets half of the sums to zero: n * std ** 2 / 2 is left.
# That is 1 for a std of sqrt(2 / n).
# This is **He initialization**, after Kaiming He; torch calls it `kaiming_normal_`.
# n is the number of inputs, the *fan-in*.
# The weights that `nn.Linear` draws itself (second row) are smaller: fine for a few layers with ReLU, too small for many.

# %% name="he-rule"
x = torch.randn(500, 1000)
layer = nn.Linear(1000, 400, bias=False)
nn.init.normal_(layer.weight, std=math.sqrt(2 / 1000))
kept = torch.relu(layer(x)).square().mean() / x.square().mean()
assert 0.85 < kept < 1.15
nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
assert abs(layer.weight.std().item() - math.sqrt(2 / 1000)) < 1e-3
print(kept.item())

# %% [markdown]
# Is normalization needed to keep numbers from shrinking or exploding, as you may read?
# Ten layers above kept the size of their numbers without it.
# It is another remedy: `nn.LayerNorm` brings each row to mean 0 and std 1, whatever the weights are.

# %% name="layer-norm"
norm = nn.LayerNorm(100)
x = torch.randn(500, 100)
for _ in range(10):
    x = torch.relu(norm(x @ (torch.randn(100, 100) * 0.01)))  # the std that was too small
rows = norm(x)
assert rows.mean(dim=1).abs().max() < 1e-4
assert (rows.std(dim=1, correction=0) - 1).abs().max() < 1e-2
print(x.square().mean().sqrt().item())

# %% [markdown]
# The functions in `nn.init` end in an underscore: they write into the parameter that is there, without a record.
# A new parameter under the old name is something else: whoever got the old one trains a tensor that nobody uses.

# %% name="rebound-weight"
layer = nn.Linear(3, 2)
to_train = list(layer.parameters())
nn.init.zeros_(layer.weight)
assert layer.weight is to_train[0]  # new numbers, the same parameter
layer.weight = nn.Parameter(torch.zeros(2, 3))
assert layer.weight is not to_train[0]
layer(torch.ones(1, 3)).sum().backward()
assert to_train[0].grad is None and layer.weight.grad is not None
print(to_train[0].grad)

# %% [markdown]
# ### Exercise: `init_he`
#
# `module.modules()` gives the module itself and all that is in it; `isinstance(part, nn.Linear)` tells which to treat.

# %% exercise="init_he"
def init_he(module):
    """Draw new weights for every nn.Linear in a module, at any depth; return the module.

    The weights become normal numbers with mean 0 and std sqrt(2 / in_features), the
    biases 0. The module itself may be an nn.Linear, and a layer may have no bias. The
    numbers are written into the parameters that are there; requires_grad and all other
    layers stay as they were. The numbers come from torch's global generator, which is
    not seeded here.

    init_he(nn.Linear(8, 2)).weight has a std of about 0.5.
    """
    ### BEGIN SOLUTION
    for part in module.modules():
        if isinstance(part, nn.Linear):
            nn.init.normal_(part.weight, std=math.sqrt(2 / part.in_features))
            if part.bias is not None:
                nn.init.zeros_(part.bias)
    return module
    ### END SOLUTION

# %% check="init_he" points=3
check("init_he", init_he)

# %% [markdown] name="modes"
# ## 6 Train and eval (8 minutes)
#
# Some layers do one thing while the model learns and another when it is used.
# `nn.Dropout(0.5)` sets each number to 0 with probability one half, so that a network does not rely on any single one.
#
# *Predict.* Which two numbers stand in the result for an input of 1000 ones?

# %% predict=true
guess = [0, 2]  # a list of two numbers, the smaller first

# %% name="dropout"
drop, ones = nn.Dropout(0.5), torch.ones(1000)
first, second = drop(ones), drop(ones)
assert not torch.equal(first, second)  # a new draw at each call
assert 0.7 < first.mean() < 1.3
drop.eval()
assert torch.equal(drop(ones), ones)
reveal(guess, first.unique())

# %% [markdown]
# The survivors are divided by 1 - p, so that the mean stays where it was.
# In eval mode nothing is dropped.
#
# The mode is a flag, `training`; `train()` and `eval()` set it in a module and everything registered inside.
# A new module is in train mode.

# %% name="flag-reaches-children"
def small_net():
    """A network with BatchNorm and Dropout: (batch, 4) gives (batch, 1)."""
    middle = nn.Sequential(nn.BatchNorm1d(8), nn.Dropout(0.5))
    return nn.Sequential(nn.Linear(4, 8), middle, nn.Linear(8, 1))


model = small_net()
assert all(part.training for part in model.modules())
model.eval()
assert not any(part.training for part in model.modules())
model.train()
print(sum(part.training for part in model.modules()), "parts in train mode")

# %% [markdown]
# `nn.BatchNorm1d` standardizes each feature.
# In train mode it uses the mean and variance of the batch, and moves its buffers `running_mean` and `running_var` a tenth of the way toward them.
# In eval mode it uses the buffers.
#
# *Predict.* A batch has mean 5 in each feature; the running mean begins at 0. Where does it stand after one call in train mode?

# %% predict=true
guess = 0.5  # a number

# %% name="batch-norm"
norm = nn.BatchNorm1d(3)
batch = torch.randn(64, 3)
batch = batch - batch.mean(dim=0) + 5
trained = norm(batch)
assert trained.mean(dim=0).abs().max() < 1e-4  # its own mean is gone
moved = norm.running_mean.clone()
norm.eval()
evaluated = norm(batch)
assert torch.equal(norm.running_mean, moved)  # eval does not touch it
assert evaluated.mean() > 3  # and uses it: 5 - 0.5 remains
reveal(guess, moved.mean().item())

# %% figure=true
figures.modes()

# %% [markdown]
# In train mode a row's result depends on the other rows of its batch.
# With one row there is nothing to compare.
# A common mistake: using a model, in train mode, on a single example.

# %% name="batch-of-one"
norm.train()
row = batch[:1]
assert not torch.allclose(norm(batch)[0], norm(batch[:2])[0])  # one row, other neighbors
with shows_error(ValueError, match="more than 1 value"):
    norm(row)
norm.eval()
assert torch.allclose(norm(row), norm(batch)[:1], atol=1e-5)  # eval: each row by itself

# %% [markdown] name="two-switches-text"
# ### Two switches
#
# `eval()` and `no_grad()` are often written together, and often mixed up.
#
# *Predict.* After `model.eval()`, outside `no_grad`: is `model(x)` tracked?

# %% predict=true
guess = True  # True or False

# %% name="eval-records"
x = torch.randn(16, 4) + 1
model.eval()
out = model(x)
out.sum().backward()
assert all(p.grad is not None for p in model.parameters())
reveal(guess, out.requires_grad)

# %% [markdown]
# *Predict.* And in train mode, inside `no_grad`: does BatchNorm's running mean move?

# %% predict=true
guess = True  # True or False

# %% name="no-grad-trains-statistics"
model.train()
norm = model[1][0]
before = norm.running_mean.clone()
with torch.no_grad():
    out = model(x)
assert not out.requires_grad
reveal(guess, not torch.equal(before, norm.running_mean))

# %% [markdown]
# The mode changes what layers compute; `no_grad` changes what is recorded.
# Neither does the other's work.

# %% name="two-switches"
for training in (True, False):
    for recording in (True, False):
        model.train(training)
        with torch.set_grad_enabled(recording):
            first, second = model(x), model(x)
        assert torch.equal(first, second) is not training
        assert first.requires_grad is recording
        print(f"{training=!s:<6} {recording=!s:<6} repeatable: {torch.equal(first, second)}")

# %% [markdown] name="noisy-text"
# ### A question from interviews
#
# The training loss falls smoothly; the validation loss, on data kept aside, jumps up and down.
# What is a likely cause in PyTorch, and how do you confirm it?
#
# A model left in train mode: dropout draws anew at each evaluation.
# To confirm, evaluate twice, with the same weights on the same data: in eval mode, both give the same number.

# %% name="twenty-evaluations"
targets = torch.randn(16, 1)
spread = {}
for training in (True, False):
    model.train(training)
    with torch.no_grad():
        losses = [nn.MSELoss()(model(x), targets).item() for _ in range(20)]
    spread[training] = max(losses) - min(losses)
assert spread[True] > 0 and spread[False] == 0
print("20 losses differ by", spread[True], "in train mode,", spread[False], "in eval mode")

# %% [markdown]
# So: `model.train()` before training, `model.eval()` and `no_grad` for an evaluation, `model.train()` again after it.
#
# ### Exercise: `Dropout` (stretch, extra credit)
#
# `self.training` tells the mode; `torch.rand_like(x)` draws uniform numbers from 0 to 1 in the shape of x.

# %% exercise="Dropout"
### BEGIN STARTER
# class Dropout(nn.Module):
#     """In training, set each number to 0 with probability p and divide the others by 1 - p.
#
#     Each number of x is dropped independently of all others, with a new draw at each call
#     from torch's global generator, which is never seeded here. In eval mode the result
#     is x. x: floats of any shape; 0 <= p < 1. nn.Dropout and the functions named dropout
#     are not allowed.
#
#     Dropout(0.5)(torch.ones(4)) may give [0.0, 2.0, 2.0, 0.0].
#     """
#
#     def __init__(self, p):
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
### END STARTER
class Dropout(nn.Module):
    """In training, set each number to 0 with probability p and divide the others by 1 - p.

    Each number of x is dropped independently of all others, with a new draw at each call
    from torch's global generator, which is never seeded here. In eval mode the result
    is x. x: floats of any shape; 0 <= p < 1. nn.Dropout and the functions named dropout
    are not allowed.

    Dropout(0.5)(torch.ones(4)) may give [0.0, 2.0, 2.0, 0.0].
    """

    ### BEGIN SOLUTION
    def __init__(self, p):
        super().__init__()
        self.p = p

    def forward(self, x):
        if not self.training:
            return x
        keep = torch.rand_like(x) >= self.p
        return x * keep / (1 - self.p)
    ### END SOLUTION

# %% check="Dropout" extra=2
check("Dropout", Dropout)

# %% [markdown]
# ### Exercise: `BatchNorm1d` (stretch, extra credit)
#
# Mean and variance of the batch are computed from x: the gradient flows through them.
# The running values only report; they keep no graph (`no_grad`, and a change in place).

# %% exercise="BatchNorm1d"
### BEGIN STARTER
# class BatchNorm1d(nn.Module):
#     """Standardize n features: over the batch in training, by running values in eval mode.
#
#     Parameters weight (ones) and bias (zeros), buffers running_mean (zeros) and
#     running_var (ones), all of shape (n,). x: (batch, n), at least two rows in training.
#     Training: weight * (x - mean) / sqrt(var + 1e-5) + bias, with the mean and the
#     variance (correction=0) of the batch, through which the gradient flows too. Each
#     running value becomes 0.9 times itself plus 0.1 times that of the batch, where
#     running_var takes the variance with correction=1; they keep no graph.
#     Eval mode: the same formula with the running values, which stay as they are.
#     nn.BatchNorm1d and the functions named batch_norm are not allowed.
#
#     BatchNorm1d(1)(torch.tensor([[1.0], [3.0]])) gives about [[-1.0], [1.0]].
#     """
#
#     def __init__(self, n):
#         raise NotImplementedError()
#
#     def forward(self, x):
#         raise NotImplementedError()
### END STARTER
class BatchNorm1d(nn.Module):
    """Standardize n features: over the batch in training, by running values in eval mode.

    Parameters weight (ones) and bias (zeros), buffers running_mean (zeros) and
    running_var (ones), all of shape (n,). x: (batch, n), at least two rows in training.
    Training: weight * (x - mean) / sqrt(var + 1e-5) + bias, with the mean and the
    variance (correction=0) of the batch, through which the gradient flows too. Each
    running value becomes 0.9 times itself plus 0.1 times that of the batch, where
    running_var takes the variance with correction=1; they keep no graph.
    Eval mode: the same formula with the running values, which stay as they are.
    nn.BatchNorm1d and the functions named batch_norm are not allowed.

    BatchNorm1d(1)(torch.tensor([[1.0], [3.0]])) gives about [[-1.0], [1.0]].
    """

    ### BEGIN SOLUTION
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
        return self.weight * (x - mean) / torch.sqrt(var + 1e-5) + self.bias
    ### END SOLUTION

# %% check="BatchNorm1d" extra=3
check("BatchNorm1d", BatchNorm1d)

# %% [markdown] name="state"
# ## 7 Saving and loading (6 minutes)
#
# `state_dict()` gives all parameters and persistent buffers, under their names.
# It is what you save: numbers, no code.
#
# *Predict.* `state = layer.state_dict()`; then all weights are set to 7. What does `state["weight"]` hold?

# %% predict=true
guess = [[7, 7]]  # a list with one row of two numbers

# %% name="state-is-live"
layer = nn.Linear(2, 1)
nn.init.ones_(layer.weight)
state = layer.state_dict()
shallow, deep = dict(state), copy.deepcopy(state)
nn.init.constant_(layer.weight, 7.0)
assert state["weight"].data_ptr() == layer.weight.data_ptr()  # the same memory
assert shallow["weight"].tolist() == [[7.0, 7.0]]  # a new dict, the old tensors
assert deep["weight"].tolist() == [[1.0, 1.0]]
reveal(guess, state["weight"])

# %% [markdown]
# The dict shows the live memory.
# "The best weights so far", kept this way, are the last ones.
# Copy the tensors, with `clone` or `copy.deepcopy`.
#
# A file is a copy too.

# %% name="save-and-load"
import io

file = io.BytesIO()  # a file in memory; a path such as "model.pt" does as well
model.eval()
torch.save(model.state_dict(), file)
file.seek(0)
other = small_net()
parts = list(other.parameters())
other.load_state_dict(torch.load(file, weights_only=True))
assert all(a is b for a, b in zip(parts, other.parameters()))  # copied into what was there
assert torch.equal(other.eval()(x), model(x))
print(list(model.state_dict()))

# %% [markdown]
# The code that makes the model must be there already; the file has the numbers only, and not the mode.
# `weights_only=True` reads tensors and runs no code from the file.
#
# Names and shapes must fit, all of them.
# But the error comes last: a model that refused a state may hold a part of it.

# %% name="load-errors"
with shows_error(RuntimeError, match="Missing key"):
    layer.load_state_dict({"weight": torch.zeros(1, 2)})  # and no bias
with shows_error(RuntimeError, match="Unexpected key"):
    layer.load_state_dict({**layer.state_dict(), "scale": torch.ones(1)})
with shows_error(RuntimeError, match="size mismatch"):
    layer.load_state_dict({"weight": torch.zeros(1, 3), "bias": torch.zeros(1)})
assert layer.weight.tolist() == [[0.0, 0.0]]  # not 7: the first call copied, then failed

# %% [markdown]
# For a model that shares only a part with the saved one, there is `strict=False`.
#
# *Predict.* Does `strict=False` also skip an entry of the wrong shape, without an error?

# %% predict=true
guess = False  # True or False

# %% name="strict-false"
def runs(action):
    """Does calling this work, or does torch refuse?"""
    try:
        action()
    except RuntimeError as error:
        print("RuntimeError:", " ".join(str(error).split()))
        return False
    return True


nn.init.constant_(layer.weight, 7.0)
slip = {"wieght": torch.zeros(1, 2), "bias": torch.zeros(1)}
told = layer.load_state_dict(slip, strict=False)
assert told.missing_keys == ["weight"] and told.unexpected_keys == ["wieght"]
assert layer.weight.tolist() == [[7.0, 7.0]]  # a slip in a name: not loaded, and no error
wide = {"weight": torch.zeros(1, 3)}
reveal(guess, runs(lambda: layer.load_state_dict(wide, strict=False)))

# %% [markdown]
# It forgives names, not shapes.
# And it forgives too much: read what it returns, or you train from random weights and think they were loaded.
#
# ### Exercise: `save_best`
#
# The lowest loss does not always come last, so the state of that moment is kept.
# Whoever trains calls this after each evaluation: `best = save_best(model, best, loss)`.

# %% exercise="save_best"
def save_best(module, best, loss):
    """Return {"loss": loss, "state": snapshot} if loss is lower than that of best, else best.

    best: what an earlier call returned, or None at the first call, when any loss is
    saved. loss: a float. If loss is not lower, the result is the object best itself.
    The snapshot holds a copy of every tensor in module.state_dict(), under the same
    names; it does not change when the module does, and module.load_state_dict(snapshot)
    brings the module back. Neither module nor best is changed.

    save_best(nn.Linear(2, 1), None, 0.5)["loss"] is 0.5.
    """
    ### BEGIN SOLUTION
    if best is not None and loss >= best["loss"]:
        return best
    snapshot = {name: value.clone() for name, value in module.state_dict().items()}
    return {"loss": loss, "state": snapshot}
    ### END SOLUTION

# %% check="save_best" points=2
check("save_best", save_best)

# %% [markdown]
# ### Exercise: `load_partial`
#
# A new head for an old body: take what fits, and say what did not.

# %% exercise="load_partial"
def load_partial(module, state):
    """Copy what fits from a state into a module; return the sorted names not loaded.

    state: a dict from names to tensors, such as the state_dict of another model. An
    entry fits if module.state_dict() has its name, with the same shape. Not loaded are
    names that only one of the two has, and names with unequal shapes. Parameters and
    buffers of the module get new values and stay the same objects, with their dtype;
    state is not changed.

    For nn.Linear(2, 1) and {"weight": torch.ones(1, 2), "bias": torch.ones(9)} the
    result is ["bias"].
    """
    ### BEGIN SOLUTION
    own = module.state_dict()
    fits = {}
    for name, value in state.items():
        if name in own and own[name].shape == value.shape:
            fits[name] = value
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys())
    ### END SOLUTION

# %% check="load_partial" points=3
check("load_partial", load_partial)

# %% [markdown] name="freeze-text"
# ## 8 Freezing and sharing (6 minutes)
#
# To **freeze** a parameter is to switch its `requires_grad` off: it gets no gradient.
# A model trained on much data keeps its body, and a new head learns.
#
# *Predict.* `body.requires_grad = False`, on the module. How many of its 2 parameters are still tracked?

# %% predict=true
guess = 2  # a number

# %% name="requires-grad-on-module"
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
body.requires_grad = False  # a new attribute of a Python object, nothing else
tracked = sum(p.requires_grad for p in body.parameters())
del body.requires_grad  # away with it: it looks right and does nothing
body.requires_grad_(False)  # the method, with an underscore
assert not any(p.requires_grad for p in body.parameters())
head(torch.relu(body(x))).sum().backward()  # x is still that of section 6, (16, 4)
assert body.weight.grad is None and head.weight.grad is not None
reveal(guess, tracked)

# %% [markdown]
# A frozen parameter can still change.
# An old `.grad` stays where it is, and a step by hand uses it.
# So hand on only what shall be trained.

# %% name="old-gradient"
layer = nn.Linear(2, 1)
layer(torch.ones(1, 2)).sum().backward()
layer.requires_grad_(False)  # frozen too late: .grad is there
before = layer.weight.clone()
with torch.no_grad():
    for p in layer.parameters():
        p -= 0.1 * p.grad
assert not torch.equal(layer.weight, before)
whole = nn.Sequential(layer, nn.Linear(1, 1))
to_train = [p for p in whole.parameters() if p.requires_grad]
assert len(to_train) == 2  # the frozen two are not among them
print(len(to_train))

# %% [markdown]
# *Predict.* A BatchNorm layer is frozen by `requires_grad_(False)` and runs in train mode. Does its running mean move?

# %% predict=true
guess = True  # True or False

# %% name="frozen-statistics"
norm = nn.BatchNorm1d(4).requires_grad_(False)
norm(x)
moved = norm.running_mean.abs().max().item() > 0
norm.eval()
before = norm.running_mean.clone()
norm(x)
assert torch.equal(norm.running_mean, before)  # eval mode holds it
nn.Sequential(norm, nn.Linear(4, 1)).train()  # train() of a model around it undoes that
assert norm.training
reveal(guess, moved)

# %% [markdown]
# Buffers have no gradients; the mode decides about them.
# A frozen body needs both switches, and after each `model.train()` again `body.eval()`.
#
# ### Sharing
#
# A parameter may serve in two places, such as a table that turns words into vectors and back.
# Assign it twice: it is one parameter, with one gradient, to which both uses add.

# %% name="tied"
tied = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Tanh(), nn.Linear(3, 3, bias=False))
tied[2].weight = tied[0].weight
assert [name for name, _ in tied.named_parameters()] == ["0.weight"]  # once
assert list(tied.state_dict()) == ["0.weight", "2.weight"]  # under both names
twin = copy.deepcopy(tied)
assert twin[0].weight is twin[2].weight  # a copy shares within itself,
assert twin[0].weight is not tied[0].weight  # not with the original
print(sum(p.numel() for p in tied.parameters()))

# %% name="tied-gradient"
apart = copy.deepcopy(tied)
apart[2].weight = nn.Parameter(tied[2].weight.detach().clone())
y = torch.randn(6, 3)
for net in (tied, apart):
    (net(y) ** 2).mean().backward()
both = apart[0].weight.grad + apart[2].weight.grad
assert torch.allclose(tied[0].weight.grad, both, atol=1e-6)
print(tied[0].weight.grad)

# %% [markdown]
# ### Exercise: `freeze_all_but`
#
# Which parameters learn is told by a pattern, as for file names: `*` stands for any text.
#
# Mind the modes too.
# A frozen body goes into eval mode as a whole; a Dropout in a head that learns stays as it is.

# %% name="patterns"
names = ["body.0.weight", "body.0.bias", "head.weight", "head.bias"]
assert [name for name in names if fnmatch.fnmatch(name, "head.*")] == names[2:]
assert [name for name in names if fnmatch.fnmatch(name, "*bias")] == [names[1], names[3]]
print(fnmatch.filter(names, "head.*"))

# %% exercise="freeze_all_but"
def freeze_all_but(module, pattern):
    """Freeze all parameters whose name does not fit a pattern; return the trainable names.

    A name fits if fnmatch.fnmatch(name, pattern) says so: "head.*" fits "head.weight".
    Parameters that fit get requires_grad True, all others False. The names come in the
    order of module.named_parameters().

    Then the modes, so that frozen statistics stand still. Look at the module itself and
    at every submodule. One that holds parameters or buffers, itself or further inside,
    but no trainable parameter, goes into eval mode with everything inside it. All others
    keep their mode.

    For nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)) and "1.*" the result is
    ["1.weight", "1.bias"].
    """
    ### BEGIN SOLUTION
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]
    ### END SOLUTION

# %% check="freeze_all_but" points=4
check("freeze_all_but", freeze_all_but)

# %% [markdown] name="tracing"
# ## 9 Tracing shapes (2 minutes)
#
# The most common error with layers is a width that does not fit.
# `nn.Flatten()` makes one row of each example.
#
# *Predict.* A batch of 5 pictures has the shape (5, 1, 28, 28). What shape does it have after `nn.Flatten()`?

# %% predict=true
guess = (5, 784)  # a tuple

# %% name="flatten"
pictures = torch.randn(5, 1, 28, 28)
reveal(guess, nn.Flatten()(pictures).shape)

# %% name="wrong-width"
broken = nn.Sequential(nn.Flatten(), nn.Linear(784, 32), nn.ReLU(), nn.Linear(64, 10))
with shows_error(RuntimeError, match="5x32 and 64x10"):
    broken(pictures)

# %% [markdown]
# Read it from the left: what came in is (5, 32), and the layer wants 64.
# The message does not say which layer.
# Hooks do: the last entry below is the last part that worked.
# `named_children()` gives the direct parts, with their names.

# %% name="shapes-by-hook"
ran, handles = [], []  # what ran, and the hooks
for name, part in broken.named_children():
    note = lambda part, args, out, name=name: ran.append((name, str(part), tuple(out.shape)))
    handles.append(part.register_forward_hook(note))
try:
    assert not runs(lambda: broken(pictures))
finally:
    for handle in handles:
        handle.remove()
for entry in ran:
    print(*entry)
assert ran[-1] == ("2", "ReLU()", (5, 32))  # so part 3 is to blame

# %% [markdown] name="meta"
# ## 10 The meta device (2 minutes)
#
# Shapes need no numbers.
# A tensor on the device `"meta"` has a shape and a dtype, and no memory.
#
# *Predict.* A million times a million float32 numbers would take 4 terabytes. Does `torch.empty(10**6, 10**6, device="meta")` run?

# %% predict=true
guess = True  # True or False

# %% name="meta-tensor"
def huge():
    return torch.empty(10**6, 10**6, device="meta")


assert (huge() @ huge()).shape == (10**6, 10**6)  # "computed" at once
with shows_error(RuntimeError, match="meta"):
    huge().sum().item()  # no numbers, no sum
reveal(guess, runs(huge))

# %% [markdown]
# A model can be made there too.
# Here is a stack of layers with more than 70 billion parameters, made and counted in a moment.

# %% name="seventy-billion"
with torch.device("meta"):  # everything made in this block is made there
    giant = nn.Sequential(*[nn.Linear(30_000, 30_000) for _ in range(80)])
    out = giant(torch.empty(2, 30_000))
count = sum(p.numel() for p in giant.parameters())
assert count > 70e9 and out.shape == (2, 30_000)
print(f"{count / 1e9:.1f} billion parameters, {4 * count / 1e9:.0f} GB as float32")

# %% [markdown]
# To be used, such a model needs memory.
# `.to` refuses, because there is nothing to copy; `to_empty` gives memory with any numbers in it, and then a state is loaded.

# %% name="to-empty"
with torch.device("meta"):
    ghost = nn.Linear(4, 8)
with shows_error(NotImplementedError, match="no data"):
    ghost.to("cpu")
ghost.to_empty(device="cpu")
ghost.load_state_dict(body.state_dict())
assert torch.equal(ghost(x), body(x))

# %% [markdown]
# ### Exercise: `shape_trace` (stretch, extra credit)
#
# Sections 9 and 10 together: trace a copy, on the meta device.

# %% exercise="shape_trace"
def shape_trace(module, input_shape):
    """Return (name, output shape) of each leaf, in the order they run; compute no numbers.

    A leaf is a submodule without submodules; its name is that of module.named_modules()
    ("" if the module itself is one), its shape a tuple. One that runs twice stands there
    twice. The module is copied to the meta device and called once, there, on a float32
    input of that shape. The module itself stays as it was: values, device, mode, hooks.

    shape_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), (5, 2)) gives
    [("0", (5, 3)), ("1", (5, 3))].
    """
    ### BEGIN SOLUTION
    shapes = []
    ghost = copy.deepcopy(module).to("meta")  # the hooks go away with the copy
    for name, part in ghost.named_modules():
        if not list(part.children()):
            note = lambda part, args, out, name=name: shapes.append((name, tuple(out.shape)))
            part.register_forward_hook(note)
    ghost(torch.empty(input_shape, device="meta"))
    return shapes
    ### END SOLUTION

# %% check="shape_trace" extra=3
check("shape_trace", shape_trace)

# %% [markdown] name="checklist"
# ## Recap
#
# When a model does not behave, ask in this order.
#
# | you see | look at |
# |---|---|
# | `parameters()` is empty or too short | `print(model)`: a list, a plain tensor, a layer made in `forward` |
# | "before Module.\_\_init\_\_() call" | `super().__init__()` comes first |
# | "same dtype", or two devices | a plain attribute that should be a buffer |
# | "shapes cannot be multiplied" | left: what came in; right: the layer's (in, out) |
# | a warning about "size" from the loss | (n, 1) against (n,): `squeeze(1)` |
# | the loss stops at a floor | sigmoid or softmax before a loss that takes logits |
# | two evaluations differ | `model.eval()` |
# | "Expected more than 1 value" | a single row in train mode |
# | the best model is the last one | a state without copies |
# | a frozen part still changes | running statistics; an old `.grad` |

# %% [markdown] name="progress-text"
# What have you passed, what is open, and what is it worth? `progress(3)` tells it for this chapter, from your last check of each exercise; `progress()` shows all chapters.

# %% name="progress"
progress(3)

# %% [markdown] name="questions-1-5"
# ### You can now: 1 to 5
#
# Answer aloud, then unfold.
#
# 1. Can you write a module? Why does `super().__init__()` come first?
# 2. Can you choose between parameter, buffer and plain attribute? Which follow `.to`?
# 3. Can you watch a model with hooks? What does `model.forward(x)` leave out?
# 4. Can you spot hidden layers? What does a list hide?
# 5. Can you choose the first weights? Why not all equal?
#
# <details><summary>Answers</summary>
#
# 1. It makes the registry.
# 2. Parameters and buffers.
# 3. The hooks.
# 4. Its layers: from training, saving, `.to` and `eval`.
# 5. Equal units get equal gradients and stay equal.
#
# </details>

# %% [markdown] name="questions-6-10"
# ### You can now: 6 to 10
#
# 6. Can you use `train`, `eval` and `no_grad`? Which of them stops recording?
# 7. Can you save and load? What does `strict=False` forgive?
# 8. Can you freeze and share? What still moves in a frozen BatchNorm?
# 9. Can you trace shapes? How do you find the layer that does not fit?
# 10. Can you build a model without memory? What can it not tell you?
#
# <details><summary>Answers</summary>
#
# 6. Only `no_grad`.
# 7. Names, not shapes.
# 8. The running statistics, in train mode.
# 9. By hooks: the one after the last that ran.
# 10. Any number.
#
# </details>

# %% [markdown] name="faq"
# ### Questions people ask
#
# <details><summary>Sequential or a class of my own?</summary>
#
# Sequential, while each part takes what the one before gave. A class, as soon as something branches, repeats or is looked at.
#
# </details>
#
# <details><summary>Do I need <code>nn.ReLU()</code> or <code>torch.relu</code>?</summary>
#
# They compute the same. The module fits into a Sequential and can have hooks; the function fits into `forward`.
#
# </details>
#
# <details><summary>May I use one ReLU in two places?</summary>
#
# Yes: it holds nothing. A layer with parameters, used twice, is shared.
#
# </details>
#
# <details><summary>Why not save the whole model object?</summary>
#
# The file would depend on your classes and where they stand, and loading it runs code. A state is names and numbers.
#
# </details>

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "Modules" and "Saving and loading models";
# He and others, "Delving Deep into Rectifiers" (2015);
# Ioffe and Szegedy, "Batch Normalization" (2015);
# Srivastava and others, "Dropout" (2014).
#
# Next is chapter 4: training, where data, model and steps come together.
