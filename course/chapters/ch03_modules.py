# %% [markdown] name="opening"
# # Chapter 3: Modules
#
# *What is a layer, and who keeps its numbers?*
#
# The ten pictures of chapter 2 were one tensor, and you handed it from function to function.
# A network has many such tensors, a few for each of its steps, and such a step is called a **layer**.
# Somebody has to keep them all, find them when they are to be trained, save them, and never forget one.
# That is what a **module** is for.
#
# You build the kinds of models that chapters 4 to 6 train, and learn to
#
# 1. write a module, and spot what it overlooks
# 2. work out a convolution by hand
# 3. choose the first weights
# 4. use `train`, `eval` and `no_grad`, each for its own purpose
# 5. save, load and freeze a model, and look inside while it runs
#
# There are two sittings: about {minutes} minutes of reading and running, and {exercises} for the exercises. Two excursions are for those who want more.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them

# %% setup=true
import copy
import fnmatch
import io
import math
import warnings
import torch
import torch.nn.functional as F
from torch import nn
from autograder import check, hint, mine, progress, reveal, shows_error
from course.figures import ch03_modules as figures
from course.instruments import runs, show_digits, two_switches

_ = torch.manual_seed(seed)

# %% [markdown]
# A digit, and what four small pictures see in it; section 7 shows how two of them come about:

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="sitting-1"
# # First sitting: building ({minutes} minutes, and {exercises} for the exercises)

# %% [markdown] name="module"
# ## 1 Who keeps the numbers? ({minutes} minutes)
#
# In chapter 2 ten pictures, one for each digit, read 94 of 100 digits: the one that fitted best was the answer.

# %% name="the-digits"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
show_digits(ink[:10])

# %% [markdown]
# But one picture has to serve all fours, the leaning and the upright, the open and the closed. What they all share is smaller than a digit: a bar here, a corner there.
# So a model that is to read more should first look for such pieces, and decide only then.
# Give it 32 pictures to look for, and ten judges, each of which weighs which of the 32 have been found.

# %% figure=true
figures.two_layers(32, 10)

# %% [markdown]
# In numbers these are four tensors: a weight and a bias for the 32, and a weight and a bias for the ten. The weights begin as small random numbers.

# %% name="by-hand"
w1, b1 = 0.1 * torch.randn(64, 32), torch.zeros(32)  # 32 pictures, and a bias for each
w2, b2 = 0.1 * torch.randn(32, 10), torch.zeros(10)  # ten judges, and a bias for each
for tensor in (w1, b1, w2, b2):
    tensor.requires_grad_()
print([tuple(tensor.shape) for tensor in (w1, b1, w2, b2)])

# %% [markdown]
# One step of gradient descent, by hand as in chapter 2, looks like this.
# Between the two layers stands `relu`, which makes zero of all that is below zero: a picture that does not fit counts as not found.
# `F.cross_entropy` is the loss of chapter 2. It takes *scores* and class numbers; softmax and logarithm are inside.

# %% name="one-step-by-hand"
found = torch.relu(ink @ w1 + b1)
loss = F.cross_entropy(found @ w2 + b2, labels)
loss.backward()
with torch.no_grad():
    w1 -= 0.5 * w1.grad
    b1 -= 0.5 * b1.grad
    w2 -= 0.5 * w2.grad
    b2 -= 0.5 * b2.grad
print(f"loss: {loss.item():.2f}")

# %% claim=true
assert F.cross_entropy(torch.relu(ink @ w1 + b1) @ w2 + b2, labels) < loss
assert torch.relu(torch.tensor([-2.0, 0.5, 3.0])).tolist() == [0.0, 0.5, 3.0]

# %% [markdown]
# That was one step. Look at its last lines: four tensors take four of them, and with fifty layers that is a hundred. Forget one, and nothing complains: that tensor never learns, and the loss may go down all the same.
#
# So let each layer keep its own two.
# torch has such layers ready: `nn.Linear(64, 32)` takes 64 numbers and gives 32, each of them a weighted sum of the 64, plus a bias. You call it like a function.
# The tensors that it keeps in order to learn are its **parameters**.
#
# *Predict.* What is the shape of its weight?

# %% predict=true
guess = (32, 64)  # a tuple

# %% name="named-parameters"
look = nn.Linear(64, 32)
print("five digits become", look(ink[:5]).shape)
for name, p in look.named_parameters():
    print(name, tuple(p.shape), "requires grad:", p.requires_grad)
reveal(guess, look.weight.shape)

# %% claim=true
assert look(ink[:5]).shape == (5, 32) and look(ink[:5]).grad_fn is not None
assert all(_p.requires_grad for _p in look.parameters())
assert list(look._parameters) == ["weight", "bias"]

# %% [markdown]
# A row for each of the 32 pictures, and in it a weight for each pixel: torch keeps them as rows, where `w1` had them as columns. They require grad already, since a layer is there to learn.

# %% [markdown] name="own-module"
# ## 2 A module of your own ({minutes} minutes)
#
# The model has two layers, and somebody has to keep those, or you are back at a list of names.
# That is what a **module** does: it keeps parts, and knows all parameters in them. (A layer is a module too.)
#
# A module of your own is a class made from `nn.Module`, in which you write two methods.
# `__init__` makes the parts and assigns them to `self`; `forward` says how to compute with them.
# To see the form alone, take the simplest model there is, the ten pictures of chapter 2, which need a single layer:

# %% name="one-layer-module"
class OneLayer(nn.Module):
    def __init__(self, pixels, answers):
        super().__init__()  # always first; section 3 says why
        self.judge = nn.Linear(pixels, answers)

    def forward(self, x):
        return self.judge(x)


ten = OneLayer(64, 10)
print(ten(ink[:5]).shape)  # you call the object, and it runs forward
print([name for name, _ in ten.named_parameters()])

# %% claim=true
assert ten(ink[:5]).shape == (5, 10)
assert list(ten._modules) == ["judge"]

# %% [markdown]
# Nobody told it which parameters it has; it found the two of its layer `judge` by itself.
# That is what you gain: a step of gradient descent is now two lines, and stays two however many layers there are.

# %% name="step-by-hand"
def train(model, steps, rate=0.5):
    """Gradient descent on all digits."""
    for _ in range(steps):
        model.zero_grad()  # clears the gradients of all parameters
        F.cross_entropy(model(ink), labels).backward()
        with torch.no_grad():
            for p in model.parameters():  # the step: these two lines
                p -= rate * p.grad


def accuracy(model, pictures=ink):
    """The share of the digits that a model reads correctly."""
    says = model(pictures).argmax(dim=1)
    return (says == labels).float().mean().item()

# %% [markdown]
# With these two functions the ten pictures fill themselves once more:

# %% name="ten-learn"
print(f"before: {accuracy(ten):.0%}")
train(ten, 200)
print(f"after 200 steps: {accuracy(ten):.0%}")
show_digits(ten.judge.weight, says=range(10))

# %% claim=true
assert accuracy(ten) > 0.9

# %% [markdown]
# There they are, as in chapter 2. (The score is for the digits that they learned from.) But `train` knows nothing of pictures: it asks a model for its parameters, and moves them. So it can train every model of this chapter, and the next one is yours.

# %% [markdown]
# ### Exercise: `TwoLayerMLP` ({minutes} minutes)
#
# Make a module of the model from the beginning: one layer that looks, then `relu`, then one layer that judges.
# Such a model is an **MLP**, short for multi-layer perceptron, and what stands between its layers is its **activation**.
# By hand it went this way. (fc is short for "fully connected".)

# %% name="two-layer-example"
found = torch.relu(ink[:5] @ w1 + b1)  # what fc1 and relu do
scores = found @ w2 + b2  # what fc2 does
print(tuple(ink[:5].shape), tuple(found.shape), tuple(scores.shape))

# %% exercise="TwoLayerMLP"
### BEGIN STARTER
# class TwoLayerMLP(nn.Module):
#     """Two linear layers, in_features to hidden to out_features, with a ReLU between them.
#
#     TwoLayerMLP(8, 16, 1)(torch.ones(5, 8)) has shape (5, 1).
#
#     - The layers are called fc1 and fc2, and have the parameters of an nn.Linear.
#     - There is no ReLU after fc2.
#     - x has shape (..., in_features), with any axes in front, the result (..., out_features).
#     - Without nn.Sequential, which comes in section 5.
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

    TwoLayerMLP(8, 16, 1)(torch.ones(5, 8)) has shape (5, 1).

    - The layers are called fc1 and fc2, and have the parameters of an nn.Linear.
    - There is no ReLU after fc2.
    - x has shape (..., in_features), with any axes in front, the result (..., out_features).
    - Without nn.Sequential, which comes in section 5.
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

# %% mine=true
def plain_two_layers(pixels, looks, answers):
    return nn.Sequential(nn.Linear(pixels, looks), nn.ReLU(), nn.Linear(looks, answers))


MyTwoLayerMLP = mine("TwoLayerMLP", plain_two_layers)

# %% [markdown]
# Now `train` can train it. (As before, `MyTwoLayerMLP` is yours once its check has passed, and a plain one until then.)

# %% name="reader-learns"
yours = MyTwoLayerMLP(64, 32, 10)
train(yours, 200)
print(f"ten pictures: {accuracy(ten):.0%}")
print(f"32, and ten that judge: {accuracy(yours):.0%}")

# %% claim=true
assert accuracy(yours) > 0.95
assert 1 - accuracy(yours) < 0.75 * (1 - accuracy(ten))

# %% [markdown]
# It pays to look for something in between: about half of the mistakes are gone.
# (Both are asked about digits that they learned from; chapter 4 will ask more strictly.)
#
# This is a good place for a break.

# %% [markdown] side=true
# #### Are modules nodes of the graph? ({minutes} minutes)
#
# No: autograd sees the steps that `forward` runs, and knows nothing of modules.
# So everything that you know from chapter 2 holds.
#
# *Predict.* `nn.Linear` is one module. How many nodes does the graph of one call have, with one for each leaf that requires grad? (x does not; the weight is transposed on the way.)

# %% predict=true
guess = 4  # a number

# %% name="what-the-graph-sees"
def nodes(node):
    """The names of a node and of all that it leads to."""
    names = [node.name().split("::")[-1]]
    for below, _ in node.next_functions:
        names += nodes(below) if below else []  # None: an operand that does not require grad
    return names


found = nodes(nn.Linear(3, 2)(torch.randn(5, 3)).grad_fn)
print(found)
reveal(guess, len(found))

# %% claim=true
assert sorted(found) == 2 * ["AccumulateGrad"] + ["AddmmBackward0", "TBackward0"]

# %% [markdown]
# And what goes in, the weights, what comes out, the loss and the derivatives are all tensors.

# %% name="all-tensors"
small = nn.Linear(3, 2)
output = small(torch.ones(4, 3))
loss = (output**2).mean()
loss.backward()
print([tuple(item.shape) for item in (small.weight, output, loss, small.weight.grad)])

# %% claim=true
_held = (small.weight, output, loss, small.weight.grad)
assert all(isinstance(_item, torch.Tensor) for _item in _held)

# %% [markdown] side=true
# #### Does every module have parameters, and can I loop over them twice? ({minutes} minutes)
#
# *Predict.* `params = yours.parameters()`; a first loop over `params` meets 4 tensors. How many does a second loop over the same `params` meet?

# %% predict=true
guess = 0  # a number

# %% name="generator"
params = yours.parameters()
print("the first loop:", sum(1 for _ in params))
reveal(guess, sum(1 for _ in params))

# %% [markdown]
# `parameters()` is a generator: once used, it is empty.
# Call it again, or keep `list(yours.parameters())`.

# %% [markdown]
# Not every module has parameters; and some hold tensors that do not learn.

# %% name="modules-without-parameters"
print("ReLU:", list(nn.ReLU().parameters()))
print("BatchNorm1d:", [name for name, _ in nn.BatchNorm1d(3).named_buffers()])

# %% claim=true
assert list(nn.ReLU().parameters()) == []
assert [_name for _name, _ in nn.BatchNorm1d(3).named_buffers()] == [
    *("running_mean", "running_var", "num_batches_tracked"),
]

# %% [markdown]
# The smallest model has one weight and one bias, the w and b of chapter 2: the same tensors, the same graph.

# %% name="linear-one-one"
layer = nn.Linear(1, 1)
print({name: (tuple(p.shape), p.requires_grad) for name, p in layer.named_parameters()})

# %% claim=true
assert {_name: (tuple(_p.shape), _p.requires_grad) for _name, _p in layer.named_parameters()} == {
    "weight": ((1, 1), True),
    "bias": ((1,), True),
}
assert torch.allclose(layer(torch.tensor([[3.0]])), 3.0 * layer.weight + layer.bias)

# %% name="tiny-models"
for tiny in (nn.Linear(4, 1), nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))):
    inputs = torch.randn(8, next(tiny.parameters()).shape[1])  # as wide as the first weight
    print(tuple(tiny(inputs).shape), sum(p.numel() for p in tiny.parameters()))

# %% claim=true
assert sum(_p.numel() for _p in nn.Linear(4, 1).parameters()) == 5
assert sum(_p.numel() for _p in tiny.parameters()) == 21 and tiny(inputs).shape == (8, 1)

# %% [markdown] name="three-kinds-text"
# ## 3 What a module keeps, and what it overlooks ({minutes} minutes)
#
# A module finds its parameters by itself, but now and then it overlooks one, without a word. Then you have to know how it looks.
#
# Here are the two layers of `yours` once more, under names that say what they do. Print it, and it tells you what it is made of.

# %% name="line-module"
class Reader(nn.Module):
    def __init__(self, pixels=64, looks=32, answers=10):
        super().__init__()
        self.look = nn.Linear(pixels, looks)
        self.judge = nn.Linear(looks, answers)

    def forward(self, x):
        return self.judge(self.look(x).relu())


model = Reader()
print(model)

# %% claim=true
assert [_name for _name, _ in model.named_parameters()] == [
    *("look.weight", "look.bias"),
    *("judge.weight", "judge.bias"),
]
assert model(ink[:5]).shape == (5, 10) and model(ink[:5]).grad_fn is not None
_reader = Reader()
train(_reader, 200)
assert accuracy(_reader) > 0.95

# %% [markdown]
# Nobody made a list of these parts. The module made it, by watching what you assign to `self`: each layer is entered in a **registry**.
# (`super().__init__()` makes the empty registry, so it comes first.)
#
# And if you assign a tensor of your own? Suppose a model should learn by how much to multiply its scores, and what to add to them.

# %% name="two-attributes"
class Scaled(nn.Module):  # its forward is left out here
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.times = torch.ones(2, requires_grad=True)
        self.plus = nn.Parameter(torch.zeros(2))

# %% [markdown]
# *Predict.* The layer has two tensors. How many does `parameters()` give in all?

# %% predict=true
guess = 3  # a number

# %% name="registered"
names = [name for name, _ in Scaled().named_parameters()]
print(names)
reveal(guess, len(names))

# %% claim=true
assert names == ["plus", "layer.weight", "layer.bias"]

# %% figure=true
figures.tree(Scaled())

# %% [markdown]
# `times` is missing, although it requires grad. A model may hold tensors of many kinds, tables, masks, counts, so it does not guess: `nn.Parameter` says which of them are numbers to learn, and a tensor that is not wrapped is overlooked.

# %% [markdown] side=true
# #### What if `super().__init__()` is missing, and why is a parameter overlooked that I wrapped? ({minutes} minutes)
#
# Without `super().__init__()` there is no registry that could hold a layer, and the first assignment says so.

# %% name="super-init"
class Forgetful(nn.Module):
    """A module that does not begin with super().__init__()."""

    def __init__(self):
        self.layer = nn.Linear(1, 1)


with shows_error(AttributeError, match="before Module.__init__() call"):
    Forgetful()

# %% [markdown]
# And if something that you wrapped is overlooked, look at what is assigned: here it is a product, and a product is a plain tensor.
# Compute before you wrap: `nn.Parameter(torch.ones(2) * 0.1)`.

# %% name="overlooked"
class Overlooked(nn.Module):
    def __init__(self):
        super().__init__()
        self.times = nn.Parameter(torch.ones(2)) * 0.1


print(list(Overlooked().parameters()))

# %% claim=true
_overlooked = Overlooked()
assert list(_overlooked.parameters()) == []
assert _overlooked.times.requires_grad and not _overlooked.times.is_leaf
_right = nn.Module()
_right.weight = nn.Parameter(torch.randn(3) * 0.1)  # first compute, then wrap
assert len(list(_right.parameters())) == 1

# %% [markdown]
# ### Exercise: `Linear` ({minutes} minutes)
#
# Build a layer from two parameters, and you can build layers that torch does not have.
# What a linear layer computes is one line, here with the numbers of `model.look`.

# %% name="linear-layer"
same = ink[:5] @ model.look.weight.T + model.look.bias
print("the same as by hand:", torch.allclose(model.look(ink[:5]), same, atol=1e-5))

# %% claim=true
assert torch.allclose(model.look(ink[:5]), same, atol=1e-5) and model.look.weight.shape == (32, 64)

# %% [markdown]
# Its numbers begin at random between two bounds. With 64 inputs these are -1/8 and 1/8, 8 being the root of 64: the more inputs are added up, the smaller each has to count.
#
# Draw first and wrap last, because what is computed from a parameter is a plain tensor again.

# %% name="draw-then-wrap"
numbers = torch.empty(2, 4).uniform_(-0.5, 0.5)  # empty makes the place, uniform_ fills it
print(nn.Parameter(numbers))
print("half of a parameter is a", type(nn.Parameter(numbers) / 2).__name__)

# %% claim=true
assert not isinstance(nn.Parameter(numbers) / 2, nn.Parameter)

# %% exercise="Linear"
### BEGIN STARTER
# class Linear(nn.Module):
#     """A linear layer made from nn.Parameter: x @ weight.T + bias.
#
#     Linear(4, 2)(torch.ones(5, 3, 4)) has shape (5, 3, 2).
#
#     - weight has shape (out_features, in_features), bias (out_features,).
#     - All numbers begin at random, each drawn for itself, uniform between
#       -1 / sqrt(in_features) and 1 / sqrt(in_features).
#     - With bias=False, self.bias is None, and nothing is added.
#     - x has shape (..., in_features), with any axes in front, the result (..., out_features).
#     - Without nn.Linear.
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

    Linear(4, 2)(torch.ones(5, 3, 4)) has shape (5, 3, 2).

    - weight has shape (out_features, in_features), bias (out_features,).
    - All numbers begin at random, each drawn for itself, uniform between
      -1 / sqrt(in_features) and 1 / sqrt(in_features).
    - With bias=False, self.bias is None, and nothing is added.
    - x has shape (..., in_features), with any axes in front, the result (..., out_features).
    - Without nn.Linear.
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

# %% mine=true
MyLinear = mine("Linear", nn.Linear)

# %% [markdown]
# Put your layer into a `Reader`, in the place of torch's, and train it.

# %% name="linear-used"
with_yours = Reader()
with_yours.look = MyLinear(64, 32)
train(with_yours, 200)
print(f"{accuracy(with_yours):.0%} are read correctly")

# %% claim=true
assert accuracy(with_yours) > 0.95

# %% [markdown] side=true
# #### How do I put new numbers into a parameter? ({minutes} minutes)
#
# Copy them in.
# Once a name is registered, the module watches it, and refuses a plain tensor under that name.

# %% name="assign-refused"
layer = nn.Linear(2, 1)
with shows_error(TypeError, match="cannot assign"):
    layer.weight = torch.zeros(1, 2)
with torch.no_grad():
    layer.weight.copy_(torch.zeros(1, 2))
print(layer.weight)

# %% claim=true
assert layer.weight.tolist() == [[0.0, 0.0]] and layer.weight.requires_grad

# %% [markdown] name="buffers-text"
# ## 4 What belongs to a model without learning ({minutes} minutes)
#
# A model that was trained on standardized pixels, as you made them in chapter 1, must standardize every new digit with exactly the same means and deviations.
# They belong to it and into its file, but no training step may touch them.
# Such a tensor is a **buffer**, and the registry has a place for it too.

# %% name="three-kinds"
class Kinds(nn.Module):
    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(2))  # learns
        self.center = nn.Buffer(torch.zeros(2))  # belongs to the model, does not learn
        self.note = torch.zeros(2)  # a plain attribute


kinds = Kinds()
print("learn:      ", [name for name, _ in kinds.named_parameters()])
print("in the file:", list(kinds.state_dict()))

# %% claim=true
assert [_name for _name, _ in kinds.named_parameters()] == ["slope"]
assert [_name for _name, _ in kinds.named_buffers()] == ["center"]
assert list(kinds.state_dict()) == ["slope", "center"]

# %% figure=true
figures.tree(kinds)

# %% [markdown]
# *Predict.* `kinds.to(torch.float64)`. Which dtype does `kinds.note` have afterwards?

# %% predict=true
guess = torch.float32  # torch.float32 or torch.float64

# %% name="left-behind"
kinds.to(torch.float64)
print(kinds.slope.dtype, kinds.center.dtype)
reveal(guess, kinds.note.dtype)

# %% claim=true
assert kinds.center.dtype == kinds.slope.dtype == torch.float64

# %% [markdown] name="kinds-table"
# It was left behind: the module does not know of it.
# Move such a model to a graphics card, and half of it is there and half is not.
#
# | kind | learns | is saved | follows `.to` |
# |---|---|---|---|
# | parameter | yes | yes | yes |
# | buffer | no | yes | yes |
# | plain attribute | no | no | no |

# %% [markdown] side=true
# #### What happens if a table is a plain attribute, and what is a buffer that is not saved? ({minutes} minutes)
#
# It works, until somebody converts the model.
# The remedy is `self.table = nn.Buffer(torch.randn(3, 2))`.
# In most programs you will read `self.register_buffer("table", torch.randn(3, 2))`, which is older and does the same.

# %% name="plain-table"
class Projection(nn.Module):
    """Multiply by a fixed table."""

    def __init__(self):
        super().__init__()
        self.table = torch.randn(3, 2)

    def forward(self, x):
        return x @ self.table


print(Projection()(torch.ones(1, 3)).shape)
with shows_error(RuntimeError, match="same dtype"):
    Projection().to(torch.float64)(torch.ones(1, 3).double())

# %% [markdown]
# A buffer that can be computed again need not be saved: with `persistent=False` it follows `.to`, and stays out of the file.

# %% name="non-persistent"
holder = nn.Module()
holder.register_buffer("table", torch.ones(3, 2))
holder.register_buffer("steps", torch.arange(4.0), persistent=False)
holder.to(torch.float64)
print(list(holder.state_dict()), holder.table.dtype, holder.steps.dtype)

# %% claim=true
assert list(holder.state_dict()) == ["table"] and list(holder.parameters()) == []
assert holder.table.dtype == holder.steps.dtype == torch.float64 and not holder.table.requires_grad

# %% [markdown]
# ### Exercise: `Standardizer` ({minutes} minutes)
#
# Give the digits a first layer that standardizes them and never learns.
# With mean 1 and standard deviation 2, a 5 becomes 2.

# %% name="standardizer-example"
print((torch.tensor([[5.0]]) - torch.tensor([1.0])) / torch.tensor([2.0]))

# %% exercise="Standardizer"
### BEGIN STARTER
# class Standardizer(nn.Module):
#     """Compute (x - mean) / std; mean and std belong to the model but do not learn.
#
#     With mean = torch.tensor([1.0]) and std = torch.tensor([2.0]),
#     Standardizer(mean, std)(torch.tensor([[5.0]])) gives [[2.0]].
#
#     mean, std: float tensors of shape (features,). They become buffers with these names,
#     so they are no parameters, stand in the state_dict and follow .to. The module keeps
#     copies: what happens later to the tensors it was given does not change it. x has shape
#     (..., features), and so has the result.
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

    With mean = torch.tensor([1.0]) and std = torch.tensor([2.0]),
    Standardizer(mean, std)(torch.tensor([[5.0]])) gives [[2.0]].

    mean, std: float tensors of shape (features,). They become buffers with these names,
    so they are no parameters, stand in the state_dict and follow .to. The module keeps
    copies: what happens later to the tensors it was given does not change it. x has shape
    (..., features), and so has the result.
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

# %% mine=true
class PlainStandardizer(nn.Module):
    def __init__(self, mean, std):
        super().__init__()
        self.mean, self.std = nn.Buffer(mean.clone()), nn.Buffer(std.clone())

    def forward(self, x):
        return x.sub(self.mean).div(self.std)


MyStandardizer = mine("Standardizer", PlainStandardizer)

# %% [markdown]
# Put it in front of a `Reader`: four tensors learn, and six go into the file.
# (`nn.Sequential` runs one after the other.)

# %% name="standardizer-used"
spread = ink.std(dim=0) + 0.1  # some pixels never change: nothing is divided by 0
first_layer = MyStandardizer(ink.mean(dim=0), spread)
standard = nn.Sequential(first_layer, Reader())
print("learn:", len(list(standard.parameters())), " in the file:", len(standard.state_dict()))
show_digits(first_layer(ink[:5]))

# %% claim=true
assert len(list(standard.parameters())) == 4 and len(standard.state_dict()) == 6

# %% [markdown] side=true
# #### What else reaches all parts? ({minutes} minutes)
#
# `.to` keeps the same parameters and changes their numbers.
# `eval()` sets a flag in every part (section 10).
# And since modules hold modules to any depth, the names become paths.

# %% name="standard-methods"
held = Reader()
first_weight = held.look.weight
held.to(torch.float64).eval()
print("the same object:", held.look.weight is first_weight, first_weight.dtype)
print("in training:", held.training, held.look.training)
print(list(held.state_dict()))

# %% claim=true
assert held.look.weight is first_weight and first_weight.dtype == torch.float64
assert not held.training and not held.look.training

# %% name="nested-names"
net = nn.Sequential(nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 1)))
print([name for name, _ in net.named_parameters()])

# %% claim=true
_names = [_name for _name, _ in net.named_parameters()]
assert _names == ["0.weight", "0.bias", "1.0.weight", "1.0.bias"]
assert net[1][0].bias is net.get_parameter("1.0.bias")

# %% [markdown] name="containers"
# ## 5 Layers in a row ({minutes} minutes)
#
# When each layer takes what the one before gave, you need not write a class. `nn.Sequential` goes through the parts that you give it.
# Here is a reader of digits with one layer more:

# %% name="in-a-row"
in_a_row = nn.Sequential(
    nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10)
)
train(in_a_row, 200)
print(f"{accuracy(in_a_row):.0%} are read correctly")

# %% claim=true
assert accuracy(in_a_row) > 0.85

# %% [markdown] name="why-a-bend"
# `nn.ReLU()` is `torch.relu` as a module; what is it there for?
#
# *Predict.* Leave it out. Is there a single linear layer that computes the same as two in a row?

# %% predict=true
guess = True  # True or False

# %% name="collapse"
first, second, single = nn.Linear(2, 16), nn.Linear(16, 1), nn.Linear(2, 1)
with torch.no_grad():
    single.weight.copy_(second.weight @ first.weight)  # second(first(x)), multiplied out
    single.bias.copy_(second.weight @ first.bias + second.bias)
x = torch.randn(100, 2)
reveal(guess, torch.allclose(second(first(x)), single(x), atol=1e-5))

# %% claim=true
assert torch.relu(torch.tensor([-2.0, 0.0, 3.0])).tolist() == [0.0, 0.0, 3.0]
assert not torch.allclose(second(torch.relu(first(x))), single(x), atol=1e-4)

# %% [markdown]
# There is one. Suppose the first layer computes 2x + 1, and the second triples it: 3 * (2x + 1) is 6x + 3, again a weight and a bias.
# Without something between them a hundred layers are no better than one. That is what an activation is for.
#
# ### Exercise: `count_params` ({minutes} minutes)
#
# "How large is it?" is the first thing people ask about a model; "and how much of it learns?" the second (section 13 freezes parts).
# `nn.Linear(3, 2)` has 6 weights and 2 biases, so 8.

# %% name="count-params-example"
print([p.numel() for p in nn.Linear(3, 2).parameters()])  # numel: how many numbers

# %% exercise="count_params"
def count_params(module, trainable_only=False):
    """Return how many numbers the parameters of a module hold, submodules included.

    count_params(nn.Linear(3, 2)) gives 8.

    A parameter that stands in several places counts once. Buffers do not count. With
    trainable_only=True, only parameters with requires_grad count. The result is an int.
    """
    ### BEGIN SOLUTION
    return sum(p.numel() for p in module.parameters() if p.requires_grad or not trainable_only)
    ### END SOLUTION


# %% check="count_params" points=2
check("count_params", count_params)

# %% mine=true
my_count_params = mine("count_params", lambda model: sum(p.numel() for p in model.parameters()))

# %% [markdown] side=true
# #### How many numbers does a network 2-8-1 learn? ({minutes} minutes)
#
# *Predict.* A network 2-8-1 has 2 inputs, 8 numbers between and 1 output. How many numbers does it learn, biases included?

# %% predict=true
guess = 33  # a number

# %% name="mlp-count"
reveal(guess, my_count_params(MyTwoLayerMLP(2, 8, 1)))

# %% claim=true
_tiny = Reader(2, 8, 1)
assert _tiny(torch.randn(32, 2)).shape == (32, 1) and my_count_params(_tiny) == 33
assert my_count_params(model) == 64 * 32 + 32 + 32 * 10 + 10 == 2410

# %% [markdown]
# 2 * 8 + 8 into the middle, and 8 + 1 out of it.

# %% [markdown] name="hiding"
# ## 6 Layers that hide ({minutes} minutes)
#
# A row of layers is often made by a loop, three of them or fifty, and what comes out of a loop is a list. So people write what looks natural, here for the two layers of `Reader`:

# %% name="layers-in-a-list"
class Hidden(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(64, 32), nn.Linear(32, 10)]

    def forward(self, x):
        return self.layers[1](torch.relu(self.layers[0](x)))

# %% [markdown]
# *Predict.* After 200 steps the two layers of section 2 read more than 95 in 100. Do these as well?

# %% predict=true
guess = False  # True or False

# %% name="list-hides"
hidden = Hidden()
before = accuracy(hidden)
train(hidden, 200)
print(f"before: {before:.0%}, after 200 steps: {accuracy(hidden):.0%}")
print(hidden)
reveal(guess, accuracy(hidden) > 0.95)

# %% claim=true
assert accuracy(hidden) == before
hidden(ink).sum().backward()
assert hidden.layers[0].weight.grad is not None  # the graph knows them ...
assert list(hidden.parameters()) == []  # ... training does not,
assert hidden.state_dict() == {}  # nor does saving,
assert Hidden().to(torch.float64).layers[0].weight.dtype == torch.float32  # nor .to,
assert Hidden().eval().layers[0].training  # nor eval

# %% figure=true
figures.tree(hidden)

# %% [markdown] name="what-is-hidden"
# `train` went round 200 times without an error. It asked for the parameters and got none.
# An empty printout is the quickest sign, so print your models.
#
# The remedy is a list that is itself a module, `nn.ModuleList`.
# It holds layers, and leaves the computing to your `forward`.

# %% name="module-list"
layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
layers.append(nn.Linear(4, 1))
print(len(list(layers.parameters())), "tensors")

# %% claim=true
assert len(list(layers.parameters())) == 8 and layers[3].out_features == 1
assert not runs(lambda: layers(torch.ones(2, 4)))  # it does not know the order
_heads = nn.ModuleDict({"price": nn.Linear(4, 1), "rooms": nn.Linear(4, 6)})
assert [_name for _name, _ in _heads.named_parameters()][:2] == ["price.weight", "price.bias"]

# %% [markdown] side=true
# #### What does `[nn.Linear(4, 4)] * 3` make? ({minutes} minutes)
#
# *Predict.* `nn.ModuleList([nn.Linear(4, 4)] * 3)` looks like three layers. How many tensors does `parameters()` give?

# %% predict=true
guess = 2  # a number

# %% name="times-three"
one_layer = nn.ModuleList([nn.Linear(4, 4)] * 3)
print(len(one_layer), "places, and the first is the last:", one_layer[0] is one_layer[2])
reveal(guess, len(list(one_layer.parameters())))

# %% [markdown]
# `*` repeats the reference, not the layer: one weight and one bias, used three times.

# %% [markdown]
# ### Exercise: `HouseNet` ({minutes} minutes)
#
# Of the ways to hide from `train` you have met two: a list, and a tensor that is not wrapped. There is a third.
# All three are in a colleague's model, which never learns the prices of houses.
# Look at `print(HouseNet(3))`, and call it twice on the same input: two different answers are a clue.
# Change as little as you can. Repaired, it is the model below, times a scale, since prices are in the hundreds.

# %% name="house-net"
house = nn.Sequential(
    nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 1)
)
print(house)
print(len(list(house.parameters())), "tensors learn, and the scale makes seven")

# %% claim=true
assert len(str(house).splitlines()) == 2 + 5  # one line for each part
assert "(0): Linear(in_features=3, out_features=16, bias=True)" in str(house)
assert house(torch.randn(2, 3)).shape == (2, 1)  # without a forward of our own
assert sum(_p.numel() for _p in house.parameters()) == (3 * 16 + 16) + (16 * 8 + 8) + (8 + 1) == 209

# %% exercise="HouseNet"
### BEGIN STARTER
# class HouseNet(nn.Module):
#     """Predict the prices of houses: x of shape (batch, features) gives shape (batch,).
#
#     HouseNet(3)(torch.ones(5, 3)) has shape (5,).
#
#     Two hidden layers of 16 and 8 units, each with a ReLU after it, then one output,
#     times a scale that begins at 100.0. All of it learns: parameters() lists weight and
#     bias of three linear layers, and `scale`, a scalar, before any call too. Calling
#     the model again with the same x gives the same prices.
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

    HouseNet(3)(torch.ones(5, 3)) has shape (5,).

    Two hidden layers of 16 and 8 units, each with a ReLU after it, then one output,
    times a scale that begins at 100.0. All of it learns: parameters() lists weight and
    bias of three linear layers, and `scale`, a scalar, before any call too. Calling
    the model again with the same x gives the same prices.
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

# %% [markdown] side=true
# #### Eighty predictions as a column: what does the loss average, and can I see the model in the stepper? ({minutes} minutes)
#
# The house network gives (80, 1), and prices come as (80,).
#
# *Predict.* You take the mean squared difference of the two, without looking. Over how many numbers is that mean? (You met this in chapter 1.)

# %% predict=true
guess = 6400  # a number

# %% name="squeeze"
houses = torch.randn(80, 3)
prices = house(houses).squeeze(1).detach()  # (80,): the model is right about every house
with warnings.catch_warnings():  # torch warns, and goes on
    warnings.simplefilter("ignore")
    wrong = F.mse_loss(house(houses), prices)
fine = F.mse_loss(house(houses).squeeze(1), prices)
print("wrong shape:", wrong.item(), " right shape:", fine.item())
reveal(guess, (house(houses) - prices).numel())

# %% claim=true
with warnings.catch_warnings(record=True) as _caught:
    warnings.simplefilter("always")
    nn.MSELoss()(house(houses), prices)
assert "different to the input size" in str(_caught[0].message)
assert F.mse_loss(house(houses).squeeze(1), prices) == 0 and wrong > 0

# %% [markdown]
# Put `squeeze(1)` at the end of `forward`, so that predictions have the shape of the targets.

# %% [markdown]
# In the stepper, `model=` tells the names of the parameters, and by these it folds each layer into one row.

# %% name="stepper-on-a-model"
from explorers import autograd_stepper

loss = F.mse_loss(house(houses).squeeze(1), houses.sum(dim=1))
autograd_stepper(loss, model=house, loss=loss)

# %% claim=true
_stepper = autograd_stepper(loss, model=house, loss=loss)
loss.backward()
assert list(_stepper.grads()) == [_name for _name, _ in house.named_parameters()]
assert _stepper.grads()["0.weight"] == house[0].weight.grad.tolist()
house.zero_grad()

# %% [markdown] name="losses" side=true
# #### What must the last layer give? ({minutes} minutes)
#
# What the loss expects, and a loss is a module too:
#
# | you predict | last layer gives | loss |
# |---|---|---|
# | a number | that number | `nn.MSELoss` |
# | yes or no | one logit | `nn.BCEWithLogitsLoss` |
# | one of k classes | k logits | `nn.CrossEntropyLoss` |
#
# A **logit** is a score without limits, like those of the ten pictures.
# The last two losses turn logits into probabilities themselves, and give minus the log of the right answer's.

# %% name="loss-menu"
mse = nn.MSELoss()(torch.tensor([1.0, 3.0]), torch.zeros(2))
yes_no = nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
classes = nn.CrossEntropyLoss()(torch.zeros(1, 3), torch.tensor([2]))
print(mse.item(), yes_no.item(), classes.item())

# %% claim=true
assert mse == 5 and math.isclose(yes_no.item(), math.log(2), rel_tol=1e-5)
assert math.isclose(classes.item(), math.log(3), rel_tol=1e-5)  # equal scores: p is 1/3

# %% [markdown]
# A common mistake is a sigmoid at the end of the model *and* the loss that has its own.
# It runs, and the loss goes down, but only so far.
# What comes out of a sigmoid lies between 0 and 1, and the loss takes it for a logit.
# Since sigmoid(1) is about 0.73, the model can no longer say that it is certain.
#
# *Predict.* The right answer is 1. With a sigmoid too many, how small can the loss get: 0, about 0.3, or about 0.7?

# %% predict=true
guess = 0.3  # 0, 0.3 or 0.7

# %% name="double-sigmoid"
logits = torch.linspace(-50, 50, 1001)
each = nn.BCEWithLogitsLoss(reduction="none")  # one loss for each logit, no mean
best = each(torch.sigmoid(logits), torch.ones(1001)).min().item()
print("without the sigmoid:", each(logits, torch.ones(1001)).min().item())
reveal(guess, round(best, 1))

# %% claim=true
assert each(logits, torch.ones(1001)).min() < 1e-6 and each(logits, torch.zeros(1001)).min() < 1e-6
_floor = each(torch.sigmoid(logits), torch.zeros(1001)).min().item()
assert math.isclose(_floor, math.log(2), rel_tol=1e-3)  # where 0 is right: about 0.69

# %% [markdown]
# The same happens with three classes and a softmax too many.

# %% name="double-softmax"
certain, label = torch.tensor([[100.0, 0.0, 0.0]]), torch.tensor([0])  # as certain as can be
floor = F.cross_entropy(torch.softmax(certain, dim=1), label).item()
print("without softmax:", F.cross_entropy(certain, label).item(), "with:", floor)

# %% claim=true
assert F.cross_entropy(certain, label) < 1e-6 and 0.5 < floor < 0.6

# %% [markdown]
# Why do these losses ask for logits at all?
# Because a probability very close to 1 is rounded to 1, and then its loss is wrong: below it should be 200.

# %% name="why-logits"
logit, label = torch.tensor([200.0]), torch.tensor([0.0])  # very sure, and wrong
print("from the logit:", nn.BCEWithLogitsLoss()(logit, label).item())
print("from its probability:", nn.BCELoss()(torch.sigmoid(logit), label).item())

# %% claim=true
assert nn.BCEWithLogitsLoss()(logit, label) == 200
assert nn.BCELoss()(torch.sigmoid(logit), label) == 100  # cut off: log(0) would be infinite

# %% [markdown]
# ### Exercise: `MLP` ({minutes} minutes)
#
# This is the model that you will train in chapter 4: any number of layers, any activation.
# `activation` is a class, and `activation()` makes one.
# Sizes 3, 8, 8, 1 mean three linear layers:

# %% name="mlp-example"
sizes = [3, 8, 8, 1]
for n in range(3):
    print(nn.Linear(sizes[n], sizes[n + 1]))

# %% exercise="MLP"
### BEGIN STARTER
# class MLP(nn.Module):
#     """Linear layers of the given sizes, with an activation after each one but the last.
#
#     MLP([3, 8, 8, 1], nn.Tanh) has three linear layers and two activations.
#
#     sizes: a list of at least two widths, from the input to the output; it stays as it is.
#     activation: a class of module such as nn.Tanh; each hidden layer gets one of its own,
#     activation(). parameters() lists everything that learns, in order from input to
#     output. x has shape (..., sizes[0]), the result (..., sizes[-1]). The names of the
#     parts are up to you.
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

    MLP([3, 8, 8, 1], nn.Tanh) has three linear layers and two activations.

    sizes: a list of at least two widths, from the input to the output; it stays as it is.
    activation: a class of module such as nn.Tanh; each hidden layer gets one of its own,
    activation(). parameters() lists everything that learns, in order from input to
    output. x has shape (..., sizes[0]), the result (..., sizes[-1]). The names of the
    parts are up to you.
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

# %% mine=true
def three_sizes(sizes, activation):
    return nn.Sequential(nn.Linear(sizes[0], sizes[1]), activation(), nn.Linear(sizes[1], sizes[2]))


MyMLP = mine("MLP", three_sizes)

# %% [markdown]
# Here are five of them on the digits, fresh from the factory.

# %% name="untrained"
for _ in range(5):
    network = MyMLP([64, 64, 10], nn.ReLU)
    print(f"{accuracy(network):.0%} are read correctly")
print(my_count_params(network), "numbers in each")

# %% claim=true
_all = [accuracy(MyMLP([64, 64, 10], nn.ReLU)) for _ in range(40)]
assert 0.07 < sum(_all) / 40 < 0.14 and my_count_params(network) == 4810

# %% [markdown]
# On average it is one in ten, which is what guessing does.
# In chapter 4 the same kind of network, with other values in its 4,810 places, reads about 96 in 100 digits that it has never seen.

# %% [markdown] name="convolution"
# ## 7 A layer that looks ({minutes} minutes)
#
# Your network of section 2, `yours`, lays 32 whole pictures over a digit, and reads more than 95 in 100.
#
# *Predict.* Move each digit by one pixel to the left. (The column that falls off is nearly always white, and comes in again at the right.) Does it still read 80 in 100?

# %% predict=true
guess = False  # True or False

# %% name="one-pixel"
moved_ink = ink.reshape(-1, 8, 8).roll(-1, dims=2).flatten(1)  # one pixel to the left
show_digits([ink[0], moved_ink[0]], says=["a zero", "moved"])
print(f"{accuracy(yours):.0%} of the digits, {accuracy(yours, moved_ink):.0%} of the moved ones")
reveal(guess, accuracy(yours, moved_ink) > 0.8)

# %% claim=true
assert accuracy(yours, moved_ink) < 0.5

# %% [markdown]
# About two in five, for a shift that you hardly notice. The reason is that each pixel has a weight of its own, and now the ink lies on the weights beside.
# You read both zeros alike, because you look for a stroke here and an edge there, wherever it is. Can a layer do that?
#
# Take a *small* picture, 3 by 3, and lay it on the digit at some place. How well does it fit there? As with the large pictures, multiply place by place and add up.
# This one has -1 on the left and 1 on the right, so it fits well where white paper is followed by ink.
# Here is a zero; lay it on the rows 1 to 3 and the columns 0 to 2, counted from 0.

# %% name="one-place"
digit = (ink[0] >= 0.5).float().reshape(8, 8)  # a zero in black and white: 1 and 0
kernel = torch.tensor([[-1.0, 0, 1], [-1, 0, 1], [-1, 0, 1]])

print(digit.int())
patch = digit[1:4, 0:3]
print("fits:", (patch * kernel).sum().item())

# %% claim=true
assert (patch * kernel).sum() == 1 + 1 + 1

# %% [markdown]
# There is ink in all three places on the right and none on the left, so it fits by 3, as well as it ever can: here an edge begins.
#
# *Predict.* Move it two places to the right, onto the columns 2, 3 and 4. How well does it fit there?

# %% predict=true
guess = -2  # a number

# %% name="two-places-on"
patch = digit[1:4, 2:5]
reveal(guess, (patch * kernel).sum().item())

# %% [markdown]
# The three on the left count -1 each, and only one on the right makes up for it. Below zero means that ink ends here.
#
# Nothing ties the small picture to these two places. Let it wander over the whole digit, and note at each place how well it fits: that is a **convolution**, and the small picture is its **kernel**.
# It has to stay inside, so there are 6 by 6 places for it.

# %% name="edge-by-hand"
def fits(picture, kernel):
    """Where a kernel of 3 by 3 fits a picture of 8 by 8."""
    result = torch.zeros(6, 6)
    for row in range(6):
        for column in range(6):
            patch = picture[row : row + 3, column : column + 3]
            result[row, column] = (patch * kernel).sum()
    return result


edges = fits(digit, kernel)

# %% claim=true
assert torch.equal(F.conv2d(digit[None, None], kernel[None, None])[0, 0], edges)
assert edges[5, 4] == -2 and edges[1, 0] == 3 and edges[1, 2] == -2

# %% [markdown]
# Before you look at the result, work out one place of it with a pencil: row 5, column 4, where the kernel lies on the rows 5 to 7 and the columns 4 to 6. The picture marks it.

# %% figure=true
figures.convolution(digit, kernel, 5, 4)

# %% [markdown]
# Red is where ink begins, and blue where it ends: the left and the right wall of the zero, each seen twice, from outside and from inside.
# The result is a **map**: it says where in the digit there is such an edge. Nine numbers made it, and they were the same nine at all 36 places.
#
# Another kernel looks for something else. Turn this one, -1 above and 1 below. Which walls of the zero will it find?

# %% name="turned-kernel"
turned = fits(digit, kernel.T)

# %% claim=true
assert turned[:, 2:4].abs().mean() > 2 * turned[2:4].abs().mean()
assert turned[1, 2:4].tolist() == [-2, -2] and turned[4, 2:4].tolist() == [1, 1]
assert edges[2].tolist() == [3, 0, -3, 3, 3, -3]  # each wall from outside and from inside
assert digit[0].any() and digit[7].any()  # it touches both edges
assert turned[1, 2] == -2

# %% figure=true
figures.convolution(digit, kernel.T, 1, 2)

# %% [markdown]
# The upper one, blue, where the ink ends, and the lower one, red, where it begins again.
# (This zero fills the paper from top to bottom, so in the middle the kernel sees these walls from inside only.)
#
# ### Eight kernels at once
#
# You could think of more kernels, for slanted strokes or corners. But the ten pictures of chapter 2 were not thought up either; they were learned, and so can kernels be.
# `nn.Conv2d(1, 8, 3)` is a module that lays eight kernels of 3 by 3 on each digit, and the kernels are its parameters.
# The 1 says that the digits have one channel (a color photo has three).

# %% name="conv-layer"
looking = nn.Conv2d(1, 8, 3)
pictures = ink.reshape(-1, 1, 8, 8)  # (batch, channels, height, width)
seen = looking(pictures)
print(tuple(pictures.shape), "becomes", tuple(seen.shape))
show_digits(looking.weight[:, 0], says=[f"kernel {n}" for n in range(8)])
maps = seen[0] - seen[0].mean(dim=(1, 2), keepdim=True)  # more or less than its own average
show_digits(maps, says=[f"{n} sees" for n in range(8)])

# %% claim=true
assert seen.shape == (1797, 8, 6, 6)
_kernels = looking.weight.shape
assert _kernels == (8, 1, 3, 3)

# %% [markdown]
# Each digit came out as eight maps of 6 by 6, one for each kernel. The kernels begin at random, and yet each sees something different in the zero.
#
# How much is there to learn? A linear layer that gives as many results, 8 * 36 = 288, needs 64 weights and a bias for each of them.
#
# *Predict.* That makes 18,720 numbers. How many does this layer have, with one bias for each kernel?

# %% predict=true
guess = 80  # a number

# %% name="conv-count"
print("linear:", my_count_params(nn.Linear(64, 288)))
reveal(guess, my_count_params(looking))

# %% claim=true
assert my_count_params(looking) == 80 and my_count_params(nn.Linear(64, 8 * 36)) == 18_720

# %% [markdown]
# Eight kernels of 9 weights and a bias: 80 numbers in place of 18,720, because an edge is an edge wherever it is, and need not be learned 36 times.

# %% [markdown] name="looking-text"
# ## 8 A network that looks ({minutes} minutes)
#
# The section before began with digits that moved by one pixel. Does such a layer help to read them?
# Put it into a network, here with sixteen kernels: first look, then judge by what was found.

# %% name="looking-learned"
looker = nn.Sequential(
    nn.Unflatten(1, (1, 8, 8)),  # each row of 64 becomes a picture with one channel
    nn.Conv2d(1, 16, 3),  # sixteen kernels look, at 36 places each
    nn.ReLU(),
    nn.Flatten(),  # what they found becomes one row again
    nn.Linear(16 * 36, 10),  # ten judges
)

train(looker, 200)  # as you trained `yours`
print(f"looks at whole pictures: {accuracy(yours):.1%}")
print(f"looks at small places:   {accuracy(looker):.1%}")
show_digits(looker[1].weight[:, 0], per_row=8)

# %% claim=true
assert looker(ink).shape == (1797, 10) and accuracy(looker) > 0.97
assert accuracy(looker) > accuracy(yours) - 0.005  # from one start they read as many

# %% [markdown]
# On the digits as they are it is a little better at most. But look at the kernels: nobody wrote a number into them.
#
# Now the moved digits. What a kernel sees moves along with the digit (here the first kernel of section 7), so the omens are good:

# %% name="shift"
moved = digit.roll(-1, dims=1)
both = [digit, edges, moved, fits(moved, kernel)]
show_digits(both, says=["a zero", "the kernel sees", "moved", "the kernel sees"])

# %% claim=true
assert torch.equal(fits(moved, kernel)[:, :-1], edges[:, 1:])

# %% [markdown]
# *Predict.* Does the network that looks still read nine of ten of the moved digits?

# %% predict=true
guess = False  # True or False

# %% name="moved-digits"
print(f"looks at whole pictures: {accuracy(yours, moved_ink):.0%} of the moved digits")
print(f"looks at small places:   {accuracy(looker, moved_ink):.0%}")
reveal(guess, accuracy(looker, moved_ink) > 0.9)

# %% claim=true
assert accuracy(looker, moved_ink) < 0.55 and accuracy(yours, moved_ink) < 0.5

# %% [markdown]
# Less than half! The strokes are found, but each judge still has a weight for each kernel at each of its 36 places, and looks for a stroke where it used to be.
#
# ### Less exactly where
#
# So tell the judges less exactly where a stroke is.
# `nn.MaxPool2d(3)` cuts the 6 by 6 places into four blocks of 3 by 3, and of each block it keeps only the largest number: "there was such a stroke, somewhere around here".
# This is called **pooling**. Here is what the kernel of section 7 saw, -1 on the left and 1 on the right, and what is left of it.

# %% name="four-blocks"
pooled = nn.MaxPool2d(3)(edges[None, None])[0, 0]  # a batch of one, with one channel

# %% claim=true
assert pooled.tolist() == [[3, 3], [3, 3]] and pooled[0, 1] == edges[:3, 3:].max()

# %% figure=true
figures.pooling(edges, 3)

# %% [markdown]
# In each quarter of the zero some ink begins. Where exactly is forgotten.
#
# One line is new in the network, and each judge gets four numbers from each kernel in place of 36.

# %% name="pooling"
pooler = nn.Sequential(
    nn.Unflatten(1, (1, 8, 8)),
    nn.Conv2d(1, 16, 3),
    nn.ReLU(),
    nn.MaxPool2d(3),  # new: (16, 6, 6) becomes (16, 2, 2)
    nn.Flatten(),
    nn.Linear(16 * 4, 10),
)
train(pooler, 200)
for name, each in (("whole pictures", yours), ("small places", looker), ("pooled", pooler)):
    reads = f"{accuracy(each):.0%} of the digits, {accuracy(each, moved_ink):.0%} of the moved ones"
    print(f"{name:14} {my_count_params(each):4} numbers read {reads}")

# %% claim=true
assert accuracy(pooler) > 0.93
assert [my_count_params(_each) for _each in (yours, looker, pooler)] == [2410, 5930, 810]
assert accuracy(pooler, moved_ink) > accuracy(looker, moved_ink) + 0.07

# %% [markdown]
# With 810 numbers, a third of what `yours` has to learn, it reads many more of the moved digits, although it has never seen one. The price is that it reads slightly fewer of those that were not moved.
#
# Look, then forget exactly where: many networks that read pictures are built of these two steps, taken several times over, and chapter 6 trains one.
#
# This is a good place for a break.

# %% [markdown] side=true
# #### Which shapes does a layer for pictures accept, and which does it give? ({minutes} minutes)
#
# A kernel of 3 by 3 makes 6 by 6 of 8 by 8. With `padding=1` torch first adds a rim of zeros, and 8 by 8 stays 8 by 8.

# %% name="rim"
print(nn.Conv2d(1, 8, 3)(torch.zeros(5, 1, 8, 8)).shape)
print(nn.Conv2d(1, 8, 3, padding=1)(torch.zeros(5, 1, 8, 8)).shape)

# %% claim=true
assert nn.Conv2d(1, 8, 3, padding=1)(torch.zeros(5, 1, 8, 8)).shape == (5, 8, 8, 8)

# %% [markdown]
# What goes in is (batch, channels, height, width), and three axes for one picture.
# Channels last, as many files have them, are refused, because the first axis is taken for the channels.

# %% name="image-axes"
colored = nn.Conv2d(3, 8, 3)
print(colored(torch.zeros(5, 3, 32, 32)).shape, colored(torch.zeros(3, 32, 32)).shape)
with shows_error(RuntimeError, match="channels"):
    colored(torch.zeros(32, 32, 3))  # (height, width, channels)

# %% claim=true
assert colored(torch.zeros(5, 3, 32, 32)).shape == (5, 8, 30, 30)
assert colored(torch.zeros(3, 32, 32)).shape == (8, 30, 30)

# %% [markdown]
# `nn.BatchNorm2d` insists on a batch, if only of one.

# %% name="batch-of-one"
norm = nn.BatchNorm2d(3)
with shows_error(ValueError, match="expected 4D input"):
    norm(torch.randn(3, 8, 8))
print(norm(torch.randn(3, 8, 8).unsqueeze(0)).shape)

# %% claim=true
assert norm(torch.randn(3, 8, 8).unsqueeze(0)).shape == (1, 3, 8, 8)

# %% [markdown] name="sitting-2"
# # Second sitting: living with a model ({minutes} minutes, and {exercises} for the exercises)

# %% [markdown] name="init"
# ## 9 A good start ({minutes} minutes)
#
# From some beginnings training never recovers: the first weights are all alike, or they have the wrong size.
#
# ### All alike
#
# The ten pictures of chapter 2 all began as zeros, and did well. Why not here?
#
# *Predict.* Every number of a `Reader` begins at 0.1. After ten steps of training, are its 32 units, the pictures that it looks for, still all alike?

# %% predict=true
guess = True  # True or False

# %% name="symmetry"
alike = Reader()
for p in alike.parameters():
    nn.init.constant_(p, 0.1)  # fills p
train(alike, 10)
units = alike.look.weight.detach()  # (32, 64): one row for each unit
show_digits(units[:8])
reveal(guess, torch.allclose(units, units[:1].expand(32, 64), atol=1e-4))

# %% claim=true
assert (units - 0.1).abs().max() > 1e-2  # they have moved
_inputs = torch.randn(6, 3)
for _number in (0.0, 0.5):
    _alike = _inputs @ torch.full((3, 4), _number)
    assert torch.allclose(_alike, _alike[:, :1].expand(6, 4), atol=1e-6)
_random = _inputs @ torch.randn(3, 4)
assert not torch.allclose(_random[:, 0], _random[:, 1])

# %% [markdown] name="zero-weights-text"
# They have moved, and all in the same way. Equal weights get equal gradients, and 32 units do the work of one.
# The ten pictures each had a label of their own. Units in the middle have none, so only chance can tell them apart: weights begin at random. (A bias may begin at 0.)
#
# ### The wrong size
#
# How large should the random numbers be?
# Send the digits through ten layers of 64 units with `relu`, and look at how large the numbers are on the way.
#
# *Predict.* The ink is about 0.5 in size, and the random weights have a standard deviation of 0.01. Are the numbers after ten layers larger than a millionth?

# %% predict=true
guess = False  # True or False

# %% name="through-depth"
def size_after(layers, std):
    """The typical size (root of the mean square) of the digits' numbers after some layers."""
    x = ink
    for _ in range(layers):
        x = torch.relu(x @ (torch.randn(64, 64) * std))
    return x.square().mean().sqrt().item()


for layers in (0, 1, 2, 3, 10):
    print(f"{layers:2} layers: {size_after(layers, 0.01):.2g}")
reveal(guess, size_after(10, 0.01) > 1e-6)

# %% claim=true
assert 0.3 < size_after(0, 0.01) < 0.7
assert 14 < (size_after(0, 0.01) / size_after(10, 0.01)) ** 0.1 < 22  # a layer

# %% [markdown]
# On average each layer makes the numbers about 18 times smaller (each line draws new weights), until every digit looks like nothing to the last layer. Try other sizes.

# %% name="other-sizes"
for std in (0.01, 0.1, 0.18, 0.25, 1):
    print(f"std {std}: {size_after(10, std):.2g} after ten layers")

# %% claim=true
assert 0.02 < size_after(10, math.sqrt(2 / 64)) < 10 and size_after(10, 1.0) > 1e5
assert size_after(10, 0.1) < 0.02 and size_after(10, 0.25) > 2
_layer = nn.Linear(1000, 400, bias=False)
nn.init.kaiming_normal_(_layer.weight, nonlinearity="relu")
assert abs(_layer.weight.std().item() - math.sqrt(2 / 1000)) < 1e-3
_x = torch.randn(500, 1000)
assert 0.85 < torch.relu(_layer(_x)).square().mean() / _x.square().mean() < 1.15

# %% figure=true
figures.activations(10)

# %% [markdown] name="he-text"
# With 1 the numbers explode: in the empty panels every number is too large to be drawn.
# With 0.18 they roughly keep their size. That is the square root of 2 / 64: each unit adds up 64 products, and `relu` throws half of the sums away.
#
# So where n numbers come in, begin with a standard deviation of the square root of 2 / n.
# This is **He initialization**; torch calls it `kaiming_normal_`.
# What `nn.Linear` draws by itself is smaller: fine for a few layers, too small for many.

# %% [markdown] side=true
# #### Where does the square root of 2 / n come from, and what does `nn.Linear` take instead? ({minutes} minutes)
#
# Begin with a smaller question: how large is a sum of 64 random numbers of size 1?
# They have either sign, and partly cancel.

# %% name="sum-of-64"
sums = torch.randn(10_000, 64).sum(dim=1)
print("the square of the sum, on average:", sums.square().mean().item())

# %% claim=true
assert 58 < sums.square().mean() < 70

# %% [markdown]
# About 64, so the sum has the size 8, and not 64: of random numbers it is the squares that add up.
# Now follow numbers of size 1 through a layer whose weights have size 0.01.
#
# - Each product has the size 0.01, and its square is 0.0001.
# - A unit adds up 64 of them, so the square of the sum is 64 * 0.0001 = 0.0064.
# - `relu` sets half of the sums to zero, which leaves 0.0032 on average, and that is the square of 0.057, about an eighteenth.
#
# To keep the size, 64 * std ** 2 / 2 has to be 1, and so std has to be the square root of 2 / 64.

# %% [markdown]
# The weights of `nn.Linear` begin uniform between plus and minus 1 / sqrt(inputs), and different each time; a seed makes them repeatable, nothing else does.

# %% name="default-start"
layer = nn.Linear(100, 200)
print(layer.weight.min().item(), layer.weight.max().item(), layer.weight.std().item())

# %% claim=true
assert layer.weight.abs().max() <= 0.1 and layer.bias.abs().max() <= 0.1
assert abs(layer.weight.std().item() - 0.1 / math.sqrt(3)) < 0.01  # the std of uniform numbers

# %% name="same-seed"
torch.manual_seed(seed)
first = nn.Linear(2, 1)
torch.manual_seed(seed)
again = nn.Linear(2, 1)
print(first.weight.tolist(), again.weight.tolist(), nn.Linear(2, 1).weight.tolist())

# %% claim=true
assert torch.equal(first.weight, again.weight)
assert not torch.equal(nn.Linear(2, 1).weight, nn.Linear(2, 1).weight)

# %% [markdown] side=true name="arrange-init-he"
# #### Next comes `init_he`: would you like its lines first, in disorder? ({minutes} minutes)
#
# The next exercise begins with a blank cell.
# Here is what may stand in it, line by line, with gaps and with two lines that are not needed.

# %%
from explorers import arrange

arrange("init_he")

# %% [markdown]
# ### Exercise: `init_he` ({minutes} minutes)
#
# Give the linear layers of any model this start, however deep they stand in it.
# `modules()` gives the module itself and all that is in it, and `isinstance` tells which parts to treat:

# %% name="modules-example"
for part in nn.Sequential(nn.Flatten(), Reader()).modules():
    print(type(part).__name__, isinstance(part, nn.Linear))

# %% [markdown]
# The functions in `nn.init` write into the parameter that is there. With 8 inputs the standard deviation is the root of 2 / 8, which is 0.5.

# %% name="init-he-example"
example = nn.Linear(8, 1000)
nn.init.normal_(example.weight, std=math.sqrt(2 / 8))
print(f"std: {example.weight.std().item():.2f}")

# %% exercise="init_he"
def init_he(module):
    """Draw new weights for every nn.Linear in a module, at any depth; return the module.

    init_he(nn.Linear(200, 50)).weight has a std of about 0.1.

    The weights become normal numbers with mean 0 and std sqrt(2 / in_features), the
    biases 0. The module itself may be an nn.Linear, and a layer may have no bias. The
    numbers are written into the parameters that are there; requires_grad and all other
    layers stay as they were. The numbers come from torch's global generator, which is
    not seeded here.
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

# %% mine=true
def plain_init(module):
    for p in module.parameters():
        if p.ndim == 2:
            nn.init.kaiming_normal_(p, nonlinearity="relu")
        else:
            nn.init.zeros_(p)
    return module


my_init_he = mine("init_he", plain_init)

# %% [markdown]
# Train a deep network twice, once as `nn.Linear` begins and once with your start.

# %% name="init-he-used"
def deep():
    layers = nn.Sequential()
    for _ in range(10):
        layers.append(nn.Linear(64, 64))
        layers.append(nn.ReLU())
    return layers.append(nn.Linear(64, 10))


as_it_comes, your_start = deep(), my_init_he(deep())
for model in (as_it_comes, your_start):
    train(model, 100, rate=0.05)
    loss = F.cross_entropy(model(ink), labels)
    print(f"loss {loss.item():.2f}, {accuracy(model):.0%} are read correctly")

# %% claim=true
assert accuracy(as_it_comes) < 0.3 and accuracy(your_start) > 0.5

# %% [markdown]
# The same layers, the same 100 steps. Without your start the network has hardly moved: its loss is that of guessing, 2.30.

# %% [markdown] side=true
# #### Is there a remedy that does not need the right start? ({minutes} minutes)
#
# Normalization: `nn.LayerNorm` brings each row to mean 0 and standard deviation 1, whatever the weights are.
# Both remedies are in use, often together.

# %% name="layer-norm"
norm = nn.LayerNorm(100)
x = torch.randn(500, 100)
for _ in range(10):
    x = torch.relu(norm(x @ (torch.randn(100, 100) * 0.01)))  # the std that was too small
print(x.square().mean().sqrt().item())

# %% claim=true
_rows = norm(x)
assert _rows.mean(dim=1).abs().max() < 1e-4
assert (_rows.std(dim=1, correction=0) - 1).abs().max() < 1e-2

# %% [markdown] side=true
# #### Why write into a parameter, and not put a new one there? ({minutes} minutes)
#
# Because the code that got the old one, to train it, then trains a tensor that nobody uses.

# %% name="rebound-weight"
layer = nn.Linear(3, 2)
to_train = list(layer.parameters())
nn.init.zeros_(layer.weight)
print("written into:", layer.weight is to_train[0])
layer.weight = nn.Parameter(torch.zeros(2, 3))
layer(torch.ones(1, 3)).sum().backward()
print("a new one:", layer.weight is to_train[0], " the old one's gradient:", to_train[0].grad)

# %% claim=true
assert to_train[0].grad is None and layer.weight.grad is not None

# %% [markdown] name="modes"
# ## 10 Learning and being used ({minutes} minutes)
#
# Some layers do one thing while the model learns, and another when it is used.
# Forget to tell them, and the same digit gets one answer now, and another a second later.
#
# While the model learns, `nn.Dropout(0.5)` sets each number to 0 with probability one half, so that the network cannot rely on any single one.
#
# *Predict.* Which two numbers are in the result for an input of 1000 ones?

# %% predict=true
guess = [0, 2]  # a list of two numbers, the smaller first

# %% name="dropout"
drop, ones = nn.Dropout(0.5), torch.ones(1000)
dropped = drop(ones)
print(f"mean: {dropped.mean().item():.2f}")
reveal(guess, dropped.unique())

# %% claim=true
assert not torch.equal(drop(ones), drop(ones)) and 0.7 < dropped.mean() < 1.3
assert torch.equal(nn.Dropout(0.5).eval()(ones), ones)

# %% [markdown]
# Those that stay are divided by one half, so that the mean stays where it was.
#
# A model has a flag for this, which `train()` and `eval()` set in all of its parts. A new one is in train mode.
# This one reads the same zero twelve times in each mode. It is untrained: do not ask whether the answers are right, but whether they agree.

# %% name="flag-reaches-children"
careful = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10))
print("learning:  ", [careful(ink[:1]).argmax().item() for _ in range(12)])
careful.eval()
print("being used:", [careful(ink[:1]).argmax().item() for _ in range(12)])

# %% claim=true
assert not any(_part.training for _part in careful.modules())
assert all(_part.training for _part in careful.train().modules())
careful.eval()

# %% [markdown]
# ### Batch norm
#
# A good start keeps the numbers at a good size only until training moves the weights.
# `nn.BatchNorm1d` puts them right at every call: it standardizes each feature, as you did with the pixels in chapter 1, and then applies a weight and a bias that it learns.
#
# While the model learns, it takes mean and deviation of the batch that is just passing through.
# When the model is used, there may be no batch but a single digit. For that it keeps a running average of both, in buffers.
#
# *Predict.* A batch has mean 5 in each feature. The running mean begins at 0, and moves a tenth of the way at each call in train mode. Where is it after the first?

# %% predict=true
guess = 0.5  # a number

# %% name="batch-norm-learns"
norm = nn.BatchNorm1d(3)
batch = torch.randn(64, 3)
batch = batch - batch.mean(dim=0) + 5  # mean 5 in each feature

result = norm(batch)
print(f"the result has mean {result.mean().abs():.1f}")
reveal(guess, round(norm.running_mean.mean().item(), 2))

# %% [markdown]
# Now use the layer, on the same batch. It subtracts the 0.5 that it has kept:

# %% name="batch-norm"
norm.eval()
print(f"the result has mean {norm(batch).mean():.1f}")

# %% claim=true
assert 4 < norm(batch).mean() < 5  # eval mode uses the buffers: 5 - 0.5 remains
_before = norm.running_mean.clone()
norm(batch)
assert torch.equal(norm.running_mean, _before)  # and does not touch them
norm.train()(batch)
assert not torch.equal(norm.running_mean, _before)

# %% figure=true
figures.modes()

# %% [markdown] name="two-switches-text"
# ### Two switches
#
# `eval()` and `no_grad()` are often written one below the other, and often mixed up.
#
# *Predict.* After `model.eval()`, outside `no_grad`: does the result of `model(x)` require grad?

# %% predict=true
guess = True  # True or False

# %% name="after-eval"
both = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
x = torch.randn(16, 4) + 1
both.eval()
reveal(guess, both(x).requires_grad)

# %% [markdown]
# It does, because `eval()` only sets a flag. Here are the two, on and off in all four ways.

# %% name="two-switches"
two_switches(both, x)

# %% claim=true
assert both(x).requires_grad and torch.equal(both(x), both(x))
for _training in (True, False):
    for _graphs in (True, False):
        both.train(_training)
        _before = both[1].running_mean.clone()
        with torch.set_grad_enabled(_graphs):
            _first, _second = both(x), both(x)
        assert torch.equal(_first, _second) is not _training and _first.requires_grad is _graphs
        assert torch.equal(_before, both[1].running_mean) is not _training

# %% [markdown] name="noisy-text"
# The mode changes what layers compute; `no_grad` changes whether a graph is built.
# So: `model.train()` before training, `model.eval()` *and* `no_grad` for an evaluation, and `model.train()` again after it.

# %% [markdown] side=true
# #### The validation loss jumps up and down: why? ({minutes} minutes)
#
# (A question from interviews: the training loss falls smoothly, the loss on data kept aside jumps.)
# A likely cause in PyTorch is a model left in train mode, where dropout draws anew at each evaluation.
# To confirm it, evaluate twice, with the same weights on the same data; in eval mode both give the same number.

# %% name="twenty-evaluations"
targets = torch.randn(16, 1)
spread = {}
for training in (True, False):
    both.train(training)
    with torch.no_grad():
        losses = [F.mse_loss(both(x), targets).item() for _ in range(20)]
    spread[training] = max(losses) - min(losses)
print("20 losses differ by", spread[True], "in train mode,", spread[False], "in eval mode")

# %% claim=true
assert spread[True] > 0 and spread[False] == 0

# %% [markdown] side=true
# #### Why does my model refuse a single example? ({minutes} minutes)
#
# It is in train mode, where what happens to one row depends on the other rows of its batch, and here there are none.
# In eval mode each row is on its own.

# %% name="one-row"
norm.train()
with shows_error(ValueError, match="more than 1 value"):
    norm(batch[:1])
print(norm.eval()(batch[:1]))

# %% claim=true
norm.train()
assert not torch.allclose(norm(batch)[0], norm(batch[:2])[0])  # one row, other neighbors
norm.eval()
assert torch.allclose(norm(batch[:1]), norm(batch)[:1], atol=1e-5)  # eval: each row by itself

# %% [markdown] name="call-text"
# ## 11 Looking inside while it runs ({minutes} minutes)
#
# A model fails. Which layer ran, and where did the shape go wrong?
# Hang a **hook** on each module: a function that it calls after its `forward`, with itself, the inputs and the output.

# %% name="shapes-by-hook"
broken = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(16, 10))


def watch(module, args, output):
    print(tuple(output.shape), "from", module)


handles = [part.register_forward_hook(watch) for part in broken]
with shows_error(RuntimeError, match="5x32 and 16x10"):
    broken(pictures[:5])
for handle in handles:
    handle.remove()

# %% [markdown] name="tracing"
# The message says what did not fit, and the hooks say where: the ReLU is the last that ran, so the layer after it is to blame.
# A hook stays until you remove it, hence the loop at the end. (`model.forward(x)` skips it, so call `model(x)`.)

# %% [markdown]
# ### Exercise: `call_counts` ({minutes} minutes)
#
# Which parts of somebody else's model run, and how often?
# Use hooks, and leave none behind, even if the model raises an error: the `finally` block of a `try` runs in any case.
# `named_modules()` gives pairs of name and module: first the module itself, under the name `""`, then all that is in it.

# %% name="named-modules"
print([name for name, _ in Reader().named_modules()])

# %% exercise="call_counts"
def call_counts(module, x):
    """Return how often each submodule runs in one call of module(x): a dict, name to count.

    For nn.Sequential(nn.Linear(2, 3), nn.ReLU()) the result is {"0": 1, "1": 1}.

    The names are those of module.named_modules(), without the module itself; a
    submodule that does not run is not in the dict. module(x) is called once. Afterwards
    the hooks of this function are gone, also when module(x) raises an error, which goes
    on to the caller; hooks of others stay.
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

# %% [markdown] side=true
# #### Does `model.forward(x)` run a hook, and can a hook change what a module gives? ({minutes} minutes)
#
# *Predict.* A hook is set; then `model(x)` and `model.forward(x)` run, once each. How often does the hook run?

# %% predict=true
guess = 1  # a number

# %% name="call-not-forward"
model, x = nn.Linear(4, 2), torch.randn(16, 4)
ran = []


def note(module, args, output):
    ran.append(tuple(output.shape))


handle = model.register_forward_hook(note)
print("the same numbers:", torch.equal(model(x), model.forward(x)))
handle.remove()
reveal(guess, len(ran))

# %% claim=true
assert ran == [(16, 2)] and torch.equal(model(x), model.forward(x))

# %% [markdown]
# Once. `model(x)` runs `forward` *and* the hooks, and `model.forward(x)` only itself.

# %% [markdown]
# A hook can change it: what it returns, if anything, replaces the output, so a hook that only watches returns None.

# %% name="hook-replaces"
handle = model.register_forward_hook(lambda module, args, output: output * 0)
print("with the hook:", model(x)[0])
handle.remove()
print("without it:", model(x)[0])

# %% claim=true
assert not (model(x) == 0).all()

# %% name="hook-stays"
ran = []
handles = [model.register_forward_hook(lambda *_: ran.append("watched")) for _ in range(2)]
model(x)
print("set twice:", ran)
for handle in handles:
    handle.remove()

# %% claim=true
model(x)
assert ran == ["watched", "watched"]  # nobody watches any more

# %% [markdown]
# If all hooks of a loop have the last name, it is a trap of Python: a function looks up a variable when it runs, not when it is made.

# %% name="late-names"
late = [lambda: name for name in ("a", "b")]
bound = [lambda name=name: name for name in ("a", "b")]  # keeps the value of its own round
print([f() for f in late], [f() for f in bound])

# %% claim=true
assert [_f() for _f in late] == ["b", "b"] and [_f() for _f in bound] == ["a", "b"]

# %% [markdown] side=true
# #### What does `nn.Flatten` do? ({minutes} minutes)
#
# It makes one row of each example, so that pictures can go into a linear layer.
#
# *Predict.* A batch of 5 pictures has the shape (5, 1, 28, 28). What shape does it have after `nn.Flatten()`?

# %% predict=true
guess = (5, 784)  # a tuple

# %% name="flatten"
reveal(guess, nn.Flatten()(torch.randn(5, 1, 28, 28)).shape)

# %% [markdown] name="state"
# ## 12 Into a file and back ({minutes} minutes)
#
# What `yours` has learned is 2,410 numbers, and tomorrow you want them back.
# `state_dict()` gives all parameters and buffers under their names. That is what you save: numbers, no code.

# %% name="save"
file = io.BytesIO()  # a file in memory; a path such as "model.pt" does as well
torch.save(yours.state_dict(), file)
print(list(yours.state_dict()))

# %% [markdown]
# Make a second model, which begins with other numbers, and fill it from the file.

# %% name="save-and-load"
other = MyTwoLayerMLP(64, 32, 10)
print(f"before: {accuracy(other):.0%} are read correctly")

file.seek(0)
other.load_state_dict(torch.load(file, weights_only=True))  # tensors only, no code is run
print(f"after:  {accuracy(other):.0%}")

# %% claim=true
assert torch.equal(other(ink), yours(ink)) and accuracy(other) > 0.95
_parts = list(other.parameters())
other.load_state_dict(yours.state_dict())
# copied into what was there
assert all(_a is _b for _a, _b in zip(_parts, other.parameters(), strict=True))

# %% [markdown]
# (With `weights_only=False`, code in the file would run; never load a stranger's file that way.)
#
# ### The best moment
#
# While a model trains, its loss goes up and down. Keep the numbers of the best moment.
#
# *Predict.* `state = layer.state_dict()`; then all weights are set to 7. What does `state["weight"]` hold?

# %% predict=true
guess = [[7, 7]]  # a list with one row of two numbers

# %% name="state-is-live"
layer = nn.Linear(2, 1)
nn.init.ones_(layer.weight)
state = layer.state_dict()
snapshot = copy.deepcopy(state)
nn.init.constant_(layer.weight, 7.0)
print("a deep copy:", snapshot["weight"].tolist())
reveal(guess, state["weight"])

# %% claim=true
assert state["weight"].data_ptr() == layer.weight.data_ptr()  # the same memory
assert dict(state)["weight"].tolist() == [[7.0, 7.0]]  # a new dict, the old tensors
assert snapshot["weight"].tolist() == [[1.0, 1.0]]

# %% [markdown]
# The state shares the memory of the model. "The best so far", kept this way, is always the last. Copy the tensors.
#
# ### Exercise: `save_best` ({minutes} minutes)
#
# A training loop calls this after each evaluation, `best = save_best(model, best, loss)`.
# If the best so far has a loss of 0.5, for example, then 0.3 replaces it, and 0.4 after that does not.

# %% name="save-best-example"
best = {"loss": 0.5, "state": snapshot}
print(best["loss"], best["state"]["weight"])

# %% exercise="save_best"
def save_best(module, best, loss):
    """Return {"loss": loss, "state": snapshot} if loss is lower than that of best, else best.

    best: what an earlier call returned, or None at the first call, when any loss is
    saved. loss: a float. If loss is not lower, the result is the object best itself.
    The snapshot holds a copy of every tensor in module.state_dict(), under the same
    names; it does not change when the module does, and module.load_state_dict(snapshot)
    brings the module back. Neither module nor best is changed. A loss of nan is not lower.

    save_best(nn.Linear(2, 1), None, 0.5)["loss"] is 0.5.
    """
    ### BEGIN SOLUTION
    if best is not None and not loss < best["loss"]:  # nan is not lower, and not higher
        return best
    snapshot = {name: value.clone() for name, value in module.state_dict().items()}
    return {"loss": loss, "state": snapshot}
    ### END SOLUTION


# %% check="save_best" points=2
check("save_best", save_best)

# %% [markdown]
# ### Exercise: `load_partial` ({minutes} minutes)
#
# A new task: is the number on the paper even or odd? Two scores are enough for that.
# But do not begin from nothing. `with_yours` of section 3 knows what strokes look like: its first layer fits, and its last does not.
# Take what fits, and say what did not.

# %% name="load-partial-example"
even_odd = Reader()
even_odd.judge = nn.Linear(32, 2)  # two scores instead of ten
for name, value in with_yours.state_dict().items():
    print(name, "fits:", value.shape == even_odd.state_dict()[name].shape)

# %% exercise="load_partial"
def load_partial(module, state):
    """Copy what fits from a state into a module; return the sorted names not loaded.

    For nn.Linear(2, 1) and {"weight": torch.ones(1, 2), "bias": torch.ones(9)} the
    result is ["bias"].

    state: a dict from names to tensors, such as the state_dict of another model. An
    entry fits if module.state_dict() has its name, with the same shape. Not loaded are
    names that only one of the two has, and names with unequal shapes. Parameters and
    buffers of the module get new values and stay the same objects, with their dtype;
    state is not changed.
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

# %% mine=true
def first_layer_only(module, state):
    module.look.load_state_dict({name: state[f"look.{name}"] for name in ("weight", "bias")})
    return ["judge.bias", "judge.weight"]


my_load_partial = mine("load_partial", first_layer_only)

# %% [markdown]
# Now the new reader begins with what the other has learned about strokes.

# %% name="load-partial-used"
left_out = my_load_partial(even_odd, with_yours.state_dict())
print("not loaded:", left_out)
print("the same strokes:", torch.equal(even_odd.look.weight, with_yours.look.weight))

# %% claim=true
assert left_out == ["judge.bias", "judge.weight"]
assert torch.equal(even_odd.look.weight, with_yours.look.weight)

# %% [markdown] side=true
# #### What if names or shapes do not fit? ({minutes} minutes)
#
# `load_state_dict` says so.
# But the error comes last: a model that refused a state may already have loaded a part of it.

# %% name="load-errors"
nn.init.constant_(layer.weight, 7.0)
with shows_error(RuntimeError, match="Missing key"):
    layer.load_state_dict({"weight": torch.zeros(1, 2)})  # and no bias
with shows_error(RuntimeError, match="Unexpected key"):
    layer.load_state_dict({**layer.state_dict(), "scale": torch.ones(1)})
with shows_error(RuntimeError, match="size mismatch"):
    layer.load_state_dict({"weight": torch.zeros(1, 3), "bias": torch.zeros(1)})
print(layer.weight)

# %% claim=true
assert layer.weight.tolist() == [[0.0, 0.0]]  # not 7: the first call copied, then failed

# %% [markdown]
# For a model that shares only a part with the saved one there is `strict=False`, which forgives names.
#
# *Predict.* Does it also skip an entry of the wrong shape, without an error?

# %% predict=true
guess = False  # True or False

# %% name="strict-false"
nn.init.constant_(layer.weight, 7.0)
slip = {"wieght": torch.zeros(1, 2), "bias": torch.zeros(1)}
print(layer.load_state_dict(slip, strict=False))
reveal(guess, runs(lambda: layer.load_state_dict({"weight": torch.zeros(1, 3)}, strict=False)))

# %% claim=true
assert layer.weight.tolist() == [[7.0, 7.0]]  # a slip in a name: not loaded, and no error

# %% [markdown]
# Names, not shapes; and it forgives too much.
# Read what it returns, or you train from random numbers and think that they were loaded.

# %% [markdown] name="freeze-text"
# ## 13 What you have can be used again ({minutes} minutes)
#
# Your reader of even and odd has a good first layer, and a last layer that still answers nonsense.
# The gradients that it sends back are nonsense too, and could ruin the good layer.
# So **freeze** that one: its parameters get no gradient, and only the new layer learns.

# %% name="frozen-body"
body, head = nn.Linear(4, 8), nn.Linear(8, 1)
body.requires_grad_(False)  # the method, with an underscore at its end
head(torch.relu(body(torch.randn(16, 4)))).sum().backward()
print("body:", body.weight.grad)
print("head:", head.weight.grad)

# %% claim=true
assert body.weight.grad is None and head.weight.grad is not None

# %% [markdown]
# And a frozen BatchNorm? Its running mean is a buffer, which no gradient moves; the mode decides about it.
# So what is frozen also goes into `eval()`, again after each `model.train()`.

# %% [markdown] side=true
# #### Does `layer.requires_grad = False` freeze a layer, and can a frozen one move? ({minutes} minutes)
#
# *Predict.* Somebody writes `layer.requires_grad = False` instead, without underscore and parentheses. How many of the layer's 2 parameters still require grad?

# %% predict=true
guess = 2  # a number

# %% name="requires-grad-on-module"
layer = nn.Linear(4, 8)
layer.requires_grad = False
reveal(guess, sum(p.requires_grad for p in layer.parameters()))

# %% [markdown]
# Both, because the line only gave a Python object a new attribute.
#
# *Predict.* A BatchNorm layer is frozen by `requires_grad_(False)` and runs in train mode. Does its running mean move?

# %% predict=true
guess = True  # True or False

# %% name="frozen-statistics"
norm = nn.BatchNorm1d(4).requires_grad_(False)
norm(torch.randn(16, 4) + 1)
reveal(guess, norm.running_mean.abs().max().item() > 0)

# %% claim=true
norm.eval()
_before = norm.running_mean.clone()
norm(torch.randn(16, 4))
assert torch.equal(norm.running_mean, _before)  # eval mode holds it
nn.Sequential(norm, nn.Linear(4, 1)).train()  # train() of a model around it undoes that
assert norm.training

# %% [markdown]
# It does, until `norm.eval()`.

# %% [markdown]
# ### Exercise: `freeze_all_but` ({minutes} minutes)
#
# To reuse a model, say in one line which of its parameters still learn, by a pattern as for file names: "judge.*" leaves only the last layer of a `Reader`.
# Mind the modes too. A module that has parameters or buffers, but no parameter that learns, goes into eval mode, with everything inside it. A Dropout has neither: inside a frozen module it goes along, and elsewhere it stays as it is.

# %% name="patterns"
names = [name for name, _ in Reader().named_parameters()]
print(fnmatch.filter(names, "judge.*"), fnmatch.filter(names, "*bias"))

# %% claim=true
assert [_name for _name in names if fnmatch.fnmatch(_name, "judge.*")] == names[2:]
assert [_name for _name in names if fnmatch.fnmatch(_name, "*bias")] == [names[1], names[3]]

# %% exercise="freeze_all_but"
def freeze_all_but(module, pattern):
    """Freeze all parameters whose name does not fit a pattern; return the trainable names.

    For nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1)) and "1.*" the result is
    ["1.weight", "1.bias"].

    A name fits if fnmatch.fnmatch(name, pattern) says so: "head.*" fits "head.weight".
    Parameters that fit get requires_grad True, all others False. The names come in the
    order of module.named_parameters().

    Then the modes, so that frozen statistics stand still. Look at the module itself and
    at every submodule. One that holds parameters or buffers, itself or further inside,
    but no trainable parameter, goes into eval mode with everything inside it. All others
    keep their mode.
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

# %% mine=true
def freeze_look(module, pattern):
    module.look.requires_grad_(False).eval()
    return ["judge.weight", "judge.bias"]


my_freeze_all_but = mine("freeze_all_but", freeze_look)

# %% [markdown]
# Freeze all but the last layer, and let those 66 numbers learn even and odd.

# %% name="freeze-used"
print("learn:", my_freeze_all_but(even_odd, "judge.*"))
odd = labels % 2  # 0 for even, 1 for odd


def right_about_odd():
    return (even_odd(ink).argmax(dim=1) == odd).float().mean().item()


print(f"before: {right_about_odd():.0%}")
for _ in range(200):
    even_odd.zero_grad()
    F.cross_entropy(even_odd(ink), odd).backward()
    with torch.no_grad():
        for p in even_odd.judge.parameters():
            p -= 0.2 * p.grad
print(f"after:  {right_about_odd():.0%}")

# %% claim=true
assert [_p.grad is None for _p in even_odd.parameters()] == [True, True, False, False]
assert right_about_odd() > 0.85 and torch.equal(even_odd.look.weight, with_yours.look.weight)

# %% [markdown]
# The new layer began with a guess, good or bad. Now it is right about nine digits in ten, with 66 numbers, on strokes that were learned for another task.

# %% [markdown] side=true
# #### Can a frozen parameter still change? ({minutes} minutes)
#
# Yes: an old `.grad` stays where it is, and a step by hand uses it.
# So pass on only what should be trained.

# %% name="old-gradient"
layer = nn.Linear(2, 1)
layer(torch.ones(1, 2)).sum().backward()
layer.requires_grad_(False)  # frozen too late: .grad is there
before = layer.weight.clone()
with torch.no_grad():
    for p in layer.parameters():
        p -= 0.1 * p.grad
print("unchanged:", torch.equal(layer.weight, before))
whole = nn.Sequential(layer, nn.Linear(1, 1))
print("to train:", len([p for p in whole.parameters() if p.requires_grad]))

# %% claim=true
assert not torch.equal(layer.weight, before)
assert len([_p for _p in whole.parameters() if _p.requires_grad]) == 2

# %% [markdown] side=true
# #### Can one parameter serve in two places? ({minutes} minutes)
#
# Yes, as in a table that turns words into vectors and back.
# Assign it twice, and it is one parameter with one gradient, to which both uses add.

# %% name="tied"
tied = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Tanh(), nn.Linear(3, 3, bias=False))
tied[2].weight = tied[0].weight
print([name for name, _ in tied.named_parameters()], "but in the file", list(tied.state_dict()))

# %% claim=true
_twin = copy.deepcopy(tied)
assert [_name for _name, _ in tied.named_parameters()] == ["0.weight"]
assert list(tied.state_dict()) == ["0.weight", "2.weight"]
assert _twin[0].weight is _twin[2].weight and _twin[0].weight is not tied[0].weight

# %% name="tied-gradient"
apart = copy.deepcopy(tied)
apart[2].weight = nn.Parameter(tied[2].weight.detach().clone())
y = torch.randn(6, 3)
for net in (tied, apart):
    (net(y) ** 2).mean().backward()
print(torch.allclose(tied[0].weight.grad, apart[0].weight.grad + apart[2].weight.grad, atol=1e-6))

# %% claim=true
assert torch.allclose(tied[0].weight.grad, apart[0].weight.grad + apart[2].weight.grad, atol=1e-6)

# %% [markdown] name="excursions"
# # Excursions, for those who want more ({minutes} minutes)
#
# Nothing later needs these. Each ends in an exercise for extra credit.

# %% [markdown] name="dropout-text"
# ## Two layers from scratch ({minutes} minutes)
#
# ### Exercise: `Dropout` (stretch, extra credit, {minutes} minutes)
#
# Write dropout yourself, and you know what the two modes are for.
# `self.training` tells the mode, and `torch.rand_like(x)` draws uniform numbers from 0 to 1 in the shape of x.

# %% name="dropout-example"
print(nn.Dropout(0.5)(torch.ones(4)))

# %% exercise="Dropout"
### BEGIN STARTER
# class Dropout(nn.Module):
#     """In training, set each number to 0 with probability p and divide the others by 1 - p.
#
#     Dropout(0.5)(torch.ones(4)) may give [0.0, 2.0, 2.0, 0.0].
#
#     Each number of x is dropped independently of all others, with a new draw at each call
#     from torch's global generator, which is never seeded here. In eval mode the result
#     is x. x: floats of any shape, whose dtype stays; 0 <= p < 1. nn.Dropout and the functions
#     named dropout are not allowed.
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

    Dropout(0.5)(torch.ones(4)) may give [0.0, 2.0, 2.0, 0.0].

    Each number of x is dropped independently of all others, with a new draw at each call
    from torch's global generator, which is never seeded here. In eval mode the result
    is x. x: floats of any shape, whose dtype stays; 0 <= p < 1. nn.Dropout and the functions
    named dropout are not allowed.
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
# ### Exercise: `BatchNorm1d` (stretch, extra credit, {minutes} minutes)
#
# Half parameter, half buffer, one thing in training and another in use: this layer is the whole chapter in one class.
# Mean and variance of the batch are computed from x, so that the gradient flows through them.
# The running values only report, and keep no graph (`no_grad`, and a change in place).

# %% name="batch-norm-example"
column = torch.tensor([[1.0], [3.0]])  # mean 2, variance 1
print(nn.BatchNorm1d(1)(column).tolist())

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

# %% [markdown] name="meta"
# ## A model without memory ({minutes} minutes)
#
# A tensor on the device `"meta"` has a shape and a dtype, and no memory.
# So you can try out on a laptop what would never fit into it.
#
# *Predict.* A million times a million float32 numbers would take 4 terabytes. Does `torch.empty(10**6, 10**6, device="meta")` run?

# %% predict=true
guess = True  # True or False

# %% name="meta-tensor"
def huge():
    return torch.empty(10**6, 10**6, device="meta")


print((huge() @ huge()).shape)
with shows_error(RuntimeError, match="meta"):
    huge().sum().item()  # no numbers, no sum
reveal(guess, runs(huge))

# %% claim=true
assert (huge() @ huge()).shape == (10**6, 10**6)

# %% [markdown]
# Here is a model with more than 70 billion parameters, made and counted in a moment.

# %% name="seventy-billion"
with torch.device("meta"):  # everything made in this block is made there
    giant = nn.Sequential(*[nn.Linear(30_000, 30_000) for _ in range(80)])
    out = giant(torch.empty(2, 30_000))
total = my_count_params(giant)
print(f"{total / 1e9:.1f} billion parameters, {4 * total / 1e9:.0f} GB as float32")

# %% claim=true
assert total > 70e9 and out.shape == (2, 30_000)

# %% [markdown]
# ### Exercise: `shape_trace` (stretch, extra credit, {minutes} minutes)
#
# Which shapes does a model give on the way, without computing a single number?
# `nn.Linear(2, 3)`, for example, turns (5, 2) into (5, 3).

# %% name="shape-trace-example"
with torch.device("meta"):
    print(nn.Linear(2, 3)(torch.empty(5, 2)).shape)

# %% exercise="shape_trace"
def shape_trace(module, input_shape):
    """Return (name, output shape) of each leaf, in the order they run; compute no numbers.

    shape_trace(nn.Sequential(nn.Linear(2, 3), nn.ReLU()), (5, 2)) gives
    [("0", (5, 3)), ("1", (5, 3))].

    A leaf is a submodule without submodules; its name is that of module.named_modules()
    ("" if the module itself is one), its shape a tuple or list. One that runs twice
    stands there twice. The module is copied to the meta device and called once, there, on a float32
    input of that shape. The module itself stays as it was: values, device, mode, hooks.
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

# %% [markdown] side=true
# #### How does a model without memory get its numbers? ({minutes} minutes)
#
# `.to` refuses, because there is nothing to copy; `to_empty` gives memory with any numbers in it, and then a state is loaded.

# %% name="to-empty"
with torch.device("meta"):
    ghost = nn.Linear(4, 8)
with shows_error(NotImplementedError, match="no data"):
    ghost.to("cpu")
ghost.to_empty(device="cpu")
ghost.load_state_dict(body.state_dict())
print(torch.equal(ghost(x), body(x)))

# %% claim=true
assert torch.equal(ghost(x), body(x))

# %% [markdown] name="checklist"
# # Recap ({minutes} minutes)
#
# When a model does not behave, ask in this order.
#
# | you see | look at |
# |---|---|
# | `parameters()` is empty or too short | `print(model)`: a list, a plain tensor, a layer made in `forward` |
# | "same dtype", or two devices | a plain attribute that should be a buffer |
# | "shapes cannot be multiplied" | left: what came in; right: the layer's (in, out) |
# | two evaluations differ | `model.eval()` |
# | the best model is the last one | a state without copies |
# | a frozen part still changes | running statistics: `eval()` |

# %% [markdown] name="progress-text"
# `progress(3)` shows what you have passed in this chapter, and `progress()` in all.

# %% name="progress"
progress(3)

# %% [markdown] name="questions-1-5"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Which tensors of a model follow `.to`, and which of them learn?
# 2. Why does a convolution have so few numbers?
# 3. Why do weights begin at random, and why not at any size?
# 4. What does `eval()` change, and what does `no_grad()`?
# 5. How do you find the layer whose shape does not fit?
#
# <details><summary>Answers</summary>
#
# 1. Parameters and buffers follow; only parameters learn.
# 2. The same kernel is used at every place.
# 3. Equal units get equal gradients and stay equal; and the numbers must neither vanish nor explode on their way through the layers.
# 4. What some layers compute; whether a graph is built.
# 5. By hooks: it is the one after the last that ran.
#
# </details>

# %% [markdown] side=true name="faq"
# #### Questions people ask: `Sequential` or a class, module or function, and what to save? ({minutes} minutes)
#
# **Sequential, or a class of my own?**
# Sequential, while each part takes what the one before gave. A class, as soon as something branches, repeats or is looked at.
#
# **Do I need `nn.ReLU()` or `torch.relu`?**
# They compute the same. The module fits into a Sequential and can have hooks; the function fits into `forward`.
#
# **Why not save the whole model object?**
# The file would depend on your classes and on where they are defined, and loading it runs code. A state is names and numbers.

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "Modules" and "Saving and loading models";
# He and others, "Delving Deep into Rectifiers" (2015);
# Ioffe and Szegedy, "Batch Normalization" (2015);
# Srivastava and others, "Dropout" (2014).
#
# Your `MLP` still reads one digit in ten. Chapter 4 teaches it.
