# %% [markdown] name="opening"
# # Chapter 3a: Modules
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *What is a layer, and who keeps its numbers?*
#
# The ten pictures of chapter 2 were one tensor, and you handed it from function to function.
# A network has many steps, called **layers**, and each layer has a few such tensors.
# Something has to keep them all, and find every one of them for each training step.
# A **module** does that. Here you learn to
#
# 1. write a module
# 2. spot what it overlooks
# 3. give a model numbers that do not learn
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import copy
import math
import torch
import torch.nn.functional as F
from torch import nn
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch03 as figures
from course.instruments import show_digits

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("3a")

# %% [markdown]
# Here is the model that you build:

# %% name="first-page" figure=true
figures.two_layers(32, 10)

# %% [markdown] name="module"
# ## 1 Who keeps the numbers?
#
# *{minutes} minutes*
#
# In chapter 2 ten pictures, one for each digit, read 94 of 100 digits: the picture that fitted best was the answer.

# %% name="the-digits"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
show_digits(ink[:10])

# %% [markdown]
# But one picture has to fit every four, leaning or upright, open or closed. Fours share only smaller pieces: a bar here, a corner there.
# So a better model first looks for such pieces, and then decides.
# Give it 32 pictures to look for, and ten judges, one for each digit. A judge does not see the pixels: it sees how well each of the 32 pictures fitted, and weighs these 32 numbers. The drawing at the top shows this model.
#
# In numbers these are four tensors. The weights begin as small random numbers.

# %% name="by-hand"
w1, b1 = 0.1 * torch.randn(64, 32), torch.zeros(32)  # 32 pictures, and a bias for each
w2, b2 = 0.1 * torch.randn(32, 10), torch.zeros(10)  # ten judges, and a bias for each
for tensor in (w1, b1, w2, b2):
    tensor.requires_grad_()
print([tuple(tensor.shape) for tensor in (w1, b1, w2, b2)])

# %% [markdown]
# Take one step of gradient descent, by hand as in chapter 2.
# Between the two layers stands `relu`, which sets every negative number to zero: a picture that does not fit counts as not found.
# `F.cross_entropy` is the loss of chapter 2. It takes *scores* and class numbers, and does softmax and logarithm itself.

# %% name="one-step-by-hand"
found = torch.relu(ink @ w1 + b1)
loss = F.cross_entropy(found @ w2 + b2, labels)
loss.backward()
with torch.no_grad():
    w1 -= 0.5 * w1.grad
    b1 -= 0.5 * b1.grad
    w2 -= 0.5 * w2.grad
    b2 -= 0.5 * b2.grad
after = F.cross_entropy(torch.relu(ink @ w1 + b1) @ w2 + b2, labels)
print(f"loss before the step: {loss.item():.2f}, and after it: {after.item():.2f}")

# %% claim=true
assert F.cross_entropy(torch.relu(ink @ w1 + b1) @ w2 + b2, labels) < loss
assert torch.relu(torch.tensor([-2.0, 0.5, 3.0])).tolist() == [0.0, 0.5, 3.0]

# %% [markdown]
# Four lines change four tensors, and with fifty layers there would be a hundred. If you forget one, torch reports no error: the loss goes down all the same, and that tensor never learns.
#
# So let each layer keep its own two tensors.
# torch has such layers: `nn.Linear(64, 32)` takes 64 numbers and gives 32, each of them a weighted sum of the 64, plus a bias. You call it like a function.
# The tensors that training changes are **parameters**.
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
assert {_name: tuple(_p.shape) for _name, _p in look.named_parameters()} == {
    "weight": (32, 64),
    "bias": (32,),
}

# %% [markdown]
# The weight has a row for each of the 32 pictures, with a number for each pixel, so `look.weight[3]` is picture 3. (`w1` had the pictures as columns; a layer computes with `weight.T`.) Both tensors require grad already, since a layer is there to learn.

# %% [markdown] name="own-module"
# ## 2 A module of your own
#
# *{minutes} minutes*
#
# The model has two layers. If nothing keeps them, you again list all names by hand.
# A **module** keeps them, and knows all parameters in its parts. (A layer is a module too.)
#
# A module of your own is a class made from `nn.Module`, in which you write two methods.
# `__init__` makes the parts and assigns them to `self`; `forward` says how to compute with them.
# Here is the pattern, on a model that you know: the ten pictures of chapter 2, now with a bias for each. They need a single layer.

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
assert ten(ink[:5]).shape == (5, 10) and ten(ink[:5]).grad_fn is not None
assert list(ten._modules) == ["judge"]

# %% [markdown]
# Nobody told it which parameters it has. It found the two of its layer `judge` by itself.
# So a step of gradient descent is now two lines, and stays two lines however many layers there are.

# %% name="step-by-hand"
def train(model, steps, rate=0.5, inputs=ink):
    """Gradient descent on all digits."""
    for _ in range(steps):
        model.zero_grad()  # clears the gradients of all parameters
        F.cross_entropy(model(inputs), labels).backward()
        with torch.no_grad():
            for p in model.parameters():  # the step: these two lines
                p -= rate * p.grad


def accuracy(model, inputs=ink):
    """The share of the digits that a model reads correctly."""
    says = model(inputs).argmax(dim=1)
    return (says == labels).float().mean().item()

# %% [markdown]
# Here are the ten pictures, before and after:

# %% name="ten-learn"
print(f"before: {accuracy(ten):.0%}")
train(ten, 200)
print(f"after 200 steps: {accuracy(ten):.0%}")
show_digits(ten.judge.weight, says=range(10))

# %% claim=true
assert accuracy(ten) > 0.9

# %% [markdown]
# There they are: red where ink speaks for a digit, blue where it speaks against it. (These are digits that they learned from; chapter 4 tests on new ones.)
# But `train` knows nothing of pictures: it asks a model for its parameters, and moves them. So it can train any model that turns 64 pixels into ten scores.
#
# ### Exercise: `TwoLayerMLP`
#
# *{minutes} minutes*
#
# Make a module of the model at the top: one layer that looks, then `relu`, then one layer that judges.
# Such a model is an **MLP**, short for multi-layer perceptron, and the function between its layers is its **activation**.
# (fc is short for "fully connected". `nn.Sequential`, which is not allowed here, comes in chapter 3b.)
# By hand you computed the model like this.

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
#     - Without nn.Sequential.
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
    - Without nn.Sequential.
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
    row = nn.Sequential()
    row.fc1, row.relu, row.fc2 = nn.Linear(pixels, looks), nn.ReLU(), nn.Linear(looks, answers)
    return row


MyTwoLayerMLP = mine("TwoLayerMLP", plain_two_layers)

# %% [markdown]
# Now `train` can train it. (`MyTwoLayerMLP` is your class; until its check has passed, a plain model stands in for it.)

# %% name="reader-learns"
reader = MyTwoLayerMLP(64, 32, 10)
train(reader, 200)
print(f"ten pictures: {accuracy(ten):.1%}")
print(f"32, and ten that judge: {accuracy(reader):.1%}")

# %% claim=true
assert accuracy(reader) > 0.95
assert 1 - accuracy(reader) < 0.75 * (1 - accuracy(ten))

# %% [markdown]
# About half as many mistakes are left. And what do the 32 pictures find? Let the model read this four. A picture speaks for a four by the product of two numbers: how well it fits, and its weight for the judge of the fours. Here are the four pictures that speak most.

# %% name="pictures-that-speak"
found = torch.relu(reader.fc1(ink[4:5]))[0]  # how well each of the 32 fits this four
votes = found * reader.fc2.weight[4]  # what each of them says to the judge of the fours
best = votes.topk(4).indices
words = ["a four", *(f"picture {n}" for n in best.tolist())]
show_digits([ink[4], *reader.fc1.weight[best].detach()], says=words)

# %% claim=true
assert labels[4] == 4 and (votes[best] > 0.5).all()
assert (reader.fc1.weight[best] @ ink[4] > 0).all()  # red lies on its strokes

# %% [markdown]
# Each has red on some strokes of this four, and none is a whole four: they are pieces. Nobody drew them; `train` found them, because they help to decide.

# %% [markdown] side=true
# #### Are modules nodes of the graph?
#
# *{minutes} minutes*
#
# No: autograd sees the steps that `forward` runs, and knows nothing of modules.
# So everything that you know from chapter 2 holds.
#
# *Predict.* `nn.Linear` is one module. How many nodes does one call of it make in the graph? (Count the leaves that require grad too.)

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
# There are two steps: the transpose of the weight (T), and product plus bias in one (Addmm). And there are two leaves, the weight and the bias.
#
# All that autograd meets are tensors: weights, outputs, the loss, the derivatives.

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
# #### What does a second loop over `parameters()` meet?
#
# *{minutes} minutes*
#
# *Predict.* `params = reader.parameters()`; a first loop over `params` meets 4 tensors. How many does a second loop over the same `params` meet?

# %% predict=true
guess = 0  # a number

# %% name="generator"
params = reader.parameters()
print("the first loop:", sum(1 for _ in params))
reveal(guess, sum(1 for _ in params))

# %% [markdown]
# `parameters()` gives an iterator: once used, it is empty.
# Call it again, or keep `list(reader.parameters())`.

# %% [markdown] name="three-kinds-text"
# ## 3 What gets overlooked
#
# *{minutes} minutes*
#
# A module finds its parameters by itself. Does it find every tensor that should learn?
#
# How does a module search? Print a model, and it tells you the parts that it knows.

# %% name="printed-model"
print(reader)

# %% claim=true
assert {_name for _name, _ in reader.named_parameters()} == {
    *("fc1.weight", "fc1.bias"),
    *("fc2.weight", "fc2.bias"),
}
assert "fc1" in str(reader) and "fc2" in str(reader)

# %% [markdown]
# You made no list of these parts. The module did: it watches what you assign to `self`, and enters each layer in a **registry**.
# (`super().__init__()` makes the empty registry, so it comes first.)
#
# And if you assign a tensor of your own? Suppose that a model should learn two more tensors: `times`, by which it multiplies its scores, and `plus`, which it adds to them.

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
# `times` is missing, although it requires grad. A model may hold tensors of many kinds (tables, masks, counts), and the module does not guess which of them learn. You say so: wrap these in `nn.Parameter`.

# %% [markdown] side=true
# #### What if `super().__init__()` is missing?
#
# *{minutes} minutes*
#
# Then there is no registry that could hold a layer, and the first assignment says so.

# %% name="super-init"
class Forgetful(nn.Module):
    """A module that does not begin with super().__init__()."""

    def __init__(self):
        self.layer = nn.Linear(1, 1)


with shows_error(AttributeError, match="before Module.__init__() call"):
    Forgetful()

# %% [markdown]
# ### Exercise: `Linear`
#
# *{minutes} minutes*
#
# If you can build a layer from two parameters, you can also build layers that torch does not have.
# A linear layer is one line of code, here with the numbers of `reader.fc1`.

# %% name="linear-layer"
by_hand = ink[:5] @ reader.fc1.weight.T + reader.fc1.bias
print("the same as the layer:", torch.allclose(reader.fc1(ink[:5]), by_hand, atol=1e-4))

# %% claim=true
assert torch.allclose(reader.fc1(ink[:5]), by_hand, atol=1e-4)
assert reader.fc1.weight.shape == (32, 64)

# %% [markdown]
# Its numbers begin at random between two bounds. With 64 inputs the bounds are -1/8 and 1/8, since 8 is the root of 64: the more inputs a sum has, the less each may count.
#
# Draw first and wrap last, because whatever you compute from a parameter is a plain tensor again.

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
#     - All numbers begin at random, each drawn on its own, uniform between
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
    - All numbers begin at random, each drawn on its own, uniform between
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
# Put your layer into a new model, in the place of torch's, and train it.

# %% name="linear-used"
with_yours = MyTwoLayerMLP(64, 32, 10)
with_yours.fc1 = MyLinear(64, 32)
train(with_yours, 200)
print(f"torch's layer: {accuracy(reader):.1%}, and yours: {accuracy(with_yours):.1%}")

# %% claim=true
assert accuracy(with_yours) > 0.95

# %% [markdown] side=true
# #### How do I put new numbers into a parameter?
#
# *{minutes} minutes*
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
# ## 4 Buffers: kept, not learned
#
# *{minutes} minutes*
#
# In chapter 1 you standardized pixels. Does a model learn sooner from standardized digits?
# (In the pictures red is more ink than the average digit has there, and blue is less.)

# %% name="standardized-by-hand"
mean, spread = ink.mean(dim=0), ink.std(dim=0) + 0.1  # some deviations are 0
standard_ink = (ink - mean) / spread
plain, sooner = MyTwoLayerMLP(64, 32, 10), MyTwoLayerMLP(64, 32, 10)
train(plain, 50)
train(sooner, 50, inputs=standard_ink)
print(f"50 steps: {accuracy(plain):.0%}, standardized: {accuracy(sooner, standard_ink):.0%}")
show_digits(standard_ink[:5])

# %% claim=true
assert accuracy(sooner, standard_ink) > accuracy(plain) + 0.02
_pixels, _after = ink.std(dim=0), standard_ink.std(dim=0)
assert _after.max() / _after.median() < _pixels.max() / _pixels.median()  # more alike

# %% [markdown]
# It does. Before, some pixels varied far more than others, and none was below zero. Now all lie around zero and vary by more similar amounts, so one learning rate suits more of their weights.
#
# But a new digit must be standardized with *these* 64 means and deviations. So the model's file has to hold them; but parameters would change with each training step.
# So they are **buffers**, for which the registry has a place too.
# (`state_dict()` returns all that goes into the file; chapter 3d writes one.)

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

# %% [markdown]
# *Predict.* You call `kinds.to(torch.float64)`. Which dtype does `kinds.note` have afterwards?

# %% predict=true
guess = torch.float32  # torch.float32 or torch.float64

# %% name="left-behind"
kinds.to(torch.float64)
print(kinds.slope.dtype, kinds.center.dtype)
reveal(guess, kinds.note.dtype)

# %% claim=true
assert kinds.center.dtype == kinds.slope.dtype == torch.float64

# %% [markdown] name="kinds-table"
# It still has float32, because the module does not know of it.
# Move such a model to a graphics card, and one part of it stays behind.
#
# | kind | learns | is saved | follows `.to` |
# |---|---|---|---|
# | parameter | yes | yes | yes |
# | buffer | no | yes | yes |
# | plain attribute | no | no | no |

# %% [markdown] side=true
# #### Must every buffer be saved?
#
# *{minutes} minutes*
#
# No. You need not save a buffer that you can compute again: with `persistent=False` it follows `.to`, and stays out of the file.
# (In most programs you will read `self.register_buffer("table", ...)`, which is older than `nn.Buffer` and does the same.)

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
# ### Exercise: `Standardizer`
#
# *{minutes} minutes*
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
# Put your layer in front of a new model:

# %% name="standardizer-used"
# nn.Sequential runs one part after the other
standard = nn.Sequential(MyStandardizer(mean, spread), MyTwoLayerMLP(64, 32, 10))
print("learn:", len(list(standard.parameters())), " in the file:", len(standard.state_dict()))
train(standard, 50)
print(f"after 50 steps: {accuracy(standard):.0%}")

# %% claim=true
assert len(list(standard.parameters())) == 4 and len(standard.state_dict()) == 6
assert accuracy(standard) > accuracy(plain) + 0.02

# %% [markdown]
# Four tensors learn, and the file holds all six. You give this model plain ink: it standardizes each digit itself.

# %% [markdown] side=true
# #### What else reaches all parts?
#
# *{minutes} minutes*
#
# `.to` keeps the same parameters and changes their dtype or device.
# `eval()` sets a flag in every part (chapter 3c says what for).
# And since modules hold modules to any depth, the names become paths.

# %% name="standard-methods"
held = MyTwoLayerMLP(64, 32, 10)
first_weight = held.fc1.weight
held.to(torch.float64).eval()
print("the same object:", held.fc1.weight is first_weight, first_weight.dtype)
print("in training:", held.training, held.fc1.training)
print(list(held.state_dict()))

# %% claim=true
assert held.fc1.weight is first_weight and first_weight.dtype == torch.float64
assert not held.training and not held.fc1.training

# %% name="nested-names"
net = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Sequential(nn.Linear(3, 1)))  # ReLU has none
print([name for name, _ in net.named_parameters()])

# %% claim=true
_names = [_name for _name, _ in net.named_parameters()]
assert _names == ["0.weight", "0.bias", "2.0.weight", "2.0.bias"]
assert net[2][0].bias is net.get_parameter("2.0.bias") and list(net[1].parameters()) == []

# %% [markdown] name="checklist"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can write a module, and say of each tensor in it whether it learns, is saved and moves along.
# When a model does not learn, or does not move, look here:
#
# | you see | look at |
# |---|---|
# | `parameters()` is too short, or one tensor never changes | a plain tensor: wrap it in `nn.Parameter` (print the names of `named_parameters()`) |
# | an error of dtype or device | a plain attribute that should be a buffer |
# | "before Module.\_\_init\_\_() call" | `super().__init__()` is not the first line |

# %% name="progress"
progress(3)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions-1-2"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Which tensors of a model follow `.to`, and which of them learn?
# 2. How does a module know its parameters?
#
# <details><summary>Answers</summary>
#
# 1. Parameters and buffers follow; only parameters learn.
# 2. It watches what is assigned to `self`, and enters parameters, buffers and other modules in its registry.
#
# </details>

# %% [markdown]
# Next comes *Chapter 3b: Layers*: more of them, some that hide from training, and one that looks at pictures as you do.
