# %% [markdown] name="opening"
# # Chapter 3b: Layers
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *What are large models made of?*
#
# In chapter 3a you wrote modules, and a module kept its own numbers. Most models are layers in a row, three or three hundred: one line of code each. Here you learn to
#
# 1. put layers in a row
# 2. keep layers in a list, so that training finds them
# 3. let a layer look for strokes, count what it learns, and write the convolution that it computes
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import copy
import math
import warnings
import torch
import torch.nn.functional as F
from torch import nn
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch03 as figures
from course.instruments import runs, show_digits

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("3b")

# %% [markdown]
# Here is a digit, and how well four small pictures (strokes, edges) fit at each place. Red means that the small picture fits there, and blue that its opposite does. In the second half a layer learns to look like this.

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="containers"
# ## 1 Layers in a row
#
# *{minutes} minutes*
#
# The folded cell below brings the digits, and two functions of chapter 3a: `train` trains a model, and `accuracy` says what share of the digits it reads. Run it, and go on.

# %% name="from-3a" known=true
# the digits; train(model, steps); accuracy(model)
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)


def train(model, steps, rate=0.5):
    """Gradient descent on all digits."""
    for _ in range(steps):
        model.zero_grad()
        F.cross_entropy(model(ink), labels).backward()
        with torch.no_grad():
            for p in model.parameters():
                p -= rate * p.grad


def accuracy(model, pictures=ink):
    """The share of the digits that a model reads correctly."""
    says = model(pictures).argmax(dim=1)
    return (says == labels).float().mean().item()

# %% [markdown]
# When each layer takes the result of the one before, you need not write a class. `nn.Sequential` runs the parts that you give it, one after the other.
# Here is a reader of digits with three layers:

# %% name="in-a-row"
in_a_row = nn.Sequential(
    nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 10)
)
train(in_a_row, 200)
print(f"{accuracy(in_a_row):.0%} are read correctly")

# %% claim=true
assert accuracy(in_a_row) > 0.85

# %% [markdown] name="why-a-bend"
# `nn.ReLU()` is `torch.relu` as a module, and stands between the layers as their **activation**. Why is it there?
#
# *Predict.* You leave it out. Is there a single linear layer that computes the same as two in a row?

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
# Without an activation between them, a hundred layers can do no more than one.

# %% [markdown] name="hiding"
# ## 2 Layers in a list
#
# *{minutes} minutes*
#
# People often keep a row of layers in a list, here the two of chapter 3a:

# %% name="layers-in-a-list"
class InAList(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.Linear(64, 32), nn.Linear(32, 10)]

    def forward(self, x):
        return self.layers[1](torch.relu(self.layers[0](x)))

# %% [markdown]
# *Predict.* In chapter 3a the two layers read more than 95 in 100 digits after 200 steps. Do these two as well?

# %% predict=true
guess = False  # True or False

# %% name="list-hides"
in_a_list = InAList()
before = accuracy(in_a_list)
train(in_a_list, 200)
print(f"before: {before:.0%}, after 200 steps: {accuracy(in_a_list):.0%}")
print(in_a_list)
reveal(guess, accuracy(in_a_list) > 0.95)

# %% claim=true
assert accuracy(in_a_list) == before
in_a_list(ink).sum().backward()
assert in_a_list.layers[0].weight.grad is not None  # the graph knows them ...
assert list(in_a_list.parameters()) == []  # ... training does not,
assert in_a_list.state_dict() == {}  # nor does saving,
assert InAList().to(torch.float64).layers[0].weight.dtype == torch.float32  # nor .to,
assert InAList().eval().layers[0].training  # nor eval

# %% figure=true
figures.tree(in_a_list)

# %% [markdown] name="what-is-hidden"
# `train` took 200 steps without an error, although it asked for the parameters and got none.
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
# #### What does `[nn.Linear(4, 4)] * 3` make?
#
# *{minutes} minutes*
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
# ### Exercise: `HouseNet`
#
# *{minutes} minutes*
#
# A colleague's model never learns the prices of houses, because its numbers hide from the training in three ways. You know two of them: a list, and (chapter 3a) a tensor that nobody wrapped. To find the third, call the model twice on the same input, and compare.
# The repaired model computes what `house` below does, times a scale, since prices are in the hundreds.

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
#     Two hidden layers that give 16 and 8 numbers, each with a ReLU after it, then one output,
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

    Two hidden layers that give 16 and 8 numbers, each with a ReLU after it, then one output,
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
# #### What if predictions are (80, 1) and targets (80,)?
#
# *{minutes} minutes*
#
# `house` gives one row for each of 80 houses, so its result is (80, 1). Their prices come in a plain row, (80,).
#
# *Predict.* You take the mean squared difference of the two. Over how many numbers is that mean? (You met this in chapter 1.)

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

# %% [markdown] side=true
# #### Can I see the model in the stepper?
#
# *{minutes} minutes*
#
# Yes: `model=` tells it the names of the parameters, so that it can fold each layer into one row.

# %% name="stepper-on-a-model"
from explorers import autograd_stepper

homes = torch.randn(80, 3)
loss = F.mse_loss(house(homes).squeeze(1), homes.sum(dim=1))
autograd_stepper(loss, model=house, loss=loss)

# %% claim=true
_stepper = autograd_stepper(loss, model=house, loss=loss)
loss.backward()
assert list(_stepper.grads()) == [_name for _name, _ in house.named_parameters()]
assert _stepper.grads()["0.weight"] == house[0].weight.grad.tolist()
house.zero_grad()

# %% [markdown]
# ### Exercise: `MLP`
#
# *{minutes} minutes*
#
# This is the model that you will train in chapter 4: any number of layers, any activation.
# `activation` is a class; `activation()` makes a layer.
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
#     - sizes: a list of at least two widths, from the input to the output; it stays as it is.
#     - activation: a class of module such as nn.Tanh; each hidden layer gets one of its own,
#       activation().
#     - x has shape (..., sizes[0]), the result (..., sizes[-1]).
#     - parameters() lists everything that learns, in order from input to output. The names of
#       the parts are up to you.
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

    - sizes: a list of at least two widths, from the input to the output; it stays as it is.
    - activation: a class of module such as nn.Tanh; each hidden layer gets one of its own,
      activation().
    - x has shape (..., sizes[0]), the result (..., sizes[-1]).
    - parameters() lists everything that learns, in order from input to output. The names of
      the parts are up to you.
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

# %% [markdown] name="losses" side=true
# #### What must the last layer give?
#
# *{minutes} minutes*
#
# It must give what the loss expects. (A loss is a module too.)
#
# | you predict | last layer gives | loss |
# |---|---|---|
# | a number | that number | `nn.MSELoss` |
# | yes or no | one logit | `nn.BCEWithLogitsLoss` |
# | one of k classes | k logits | `nn.CrossEntropyLoss` |
#
# A **logit** is a score without limits, like those of the ten pictures.
# The last two losses turn logits into probabilities themselves, and return minus the log of the right answer's probability.

# %% name="loss-menu"
mse = nn.MSELoss()(torch.tensor([1.0, 3.0]), torch.zeros(2))
yes_no = nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
classes = nn.CrossEntropyLoss()(torch.zeros(1, 3), torch.tensor([2]))
print(mse.item(), yes_no.item(), classes.item())

# %% claim=true
assert mse == 5 and math.isclose(yes_no.item(), math.log(2), rel_tol=1e-5)
assert math.isclose(classes.item(), math.log(3), rel_tol=1e-5)  # equal scores: p is 1/3

# %% [markdown]
# A common mistake is a sigmoid, which turns a logit into a number between 0 and 1, at the end of the model *and* inside the loss.
# It runs, and the loss goes down, but only to a certain point.
# The loss takes the model's number between 0 and 1 for a logit.
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

# %% [markdown] name="convolution"
# ## 3 A layer that looks
#
# *{minutes} minutes*
#
# (If it is late, this is a good place to stop for tonight: something new begins, which leads to the pictures at the top.)
#
# Give your `MLP` 32 numbers in the middle (**hidden units**), and train it. Each of the 32 has a picture as large as the digit, and lays it over the whole digit.

# %% name="whole-pictures"
yours = MyMLP([64, 32, 10], nn.ReLU)
train(yours, 200)
moved_ink = ink.reshape(-1, 8, 8).roll(-1, dims=2).flatten(1)  # one pixel to the left
show_digits([ink[0], moved_ink[0]], says=["a zero", "moved"])
print(f"{accuracy(yours):.0%} of the digits are read correctly")

# %% claim=true
assert accuracy(yours) > 0.95
assert sum(_p.numel() for _p in yours.parameters()) == 2410

# %% [markdown]
# *Predict.* You move each digit by one pixel to the left. (The column that falls off, nearly always white, comes in again at the right.) Does the model still read 80 in 100?

# %% predict=true
guess = False  # True or False

# %% name="one-pixel"
print(f"{accuracy(yours, moved_ink):.0%} of the moved digits are read correctly")
reveal(guess, accuracy(yours, moved_ink) > 0.8)

# %% claim=true
assert accuracy(yours, moved_ink) < 0.5

# %% [markdown]
# It reads less than half of the moved digits, after a shift that you hardly notice: each pixel has its own weight, and now the ink lies on its neighbors' weights.
# You read both zeros alike, because you look for a stroke here and an edge there, wherever they are. Can a layer do that?
#
# Take a *small* picture, 3 by 3, and lay it on the digit at some place. How well does it fit there? As with the large pictures, multiply place by place and add up.
# This one has -1 on the left and 1 on the right, so it fits well where ink follows white paper.
# Here is a zero. Lay the small picture on its rows 1 to 3 and its columns 0 to 2, counted from 0.

# %% name="one-place"
digit = (ink[0] >= 0.5).float().reshape(8, 8)  # a zero in black and white: 1 and 0
kernel = torch.tensor([[-1.0, 0, 1], [-1, 0, 1], [-1, 0, 1]])

print(digit.int())
patch = digit[1:4, 0:3]
print("fits:", (patch * kernel).sum().item())

# %% claim=true
assert (patch * kernel).sum() == 1 + 1 + 1

# %% [markdown]
# There is ink in all three places on the right and none on the left, so the fit is 3, the best there is: here ink begins.
#
# *Predict.* You move it two places to the right, onto the columns 2, 3 and 4. How well does it fit there?

# %% predict=true
guess = -2  # a number

# %% name="two-places-on"
patch = digit[1:4, 2:5]
reveal(guess, (patch * kernel).sum().item())

# %% [markdown]
# The three places on the left count -1 each, and only one on the right counts 1. A number below zero means that ink ends here.
#
# Let the small picture wander over the whole digit, and note at each place how well it fits: that is a **convolution**, and the small picture is its **kernel**.
# It has to stay inside the digit, so there are 6 by 6 places for it.

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
# Before you look at the result, work out one place with a pencil: row 5, column 4, where the kernel lies on the rows 5 to 7 and the columns 4 to 6. The picture marks this place.

# %% figure=true
figures.convolution(digit, kernel, 5, 4)

# %% [markdown]
# Red is where ink begins, and blue where it ends. Each wall of the zero shows twice, from outside and from inside.
# The result is a **map**: it says where in the digit there is such an edge. Nine numbers made it, and they were the same nine at all 36 places.

# %% [markdown] side=true
# #### What does the same kernel find when you turn it?
#
# *{minutes} minutes*
#
# Turn the kernel, so that -1 is above and 1 below. Which walls of the zero will it find?

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
# It finds the upper wall, blue, where the ink ends, and the lower one, red, where it begins again.
# (This zero fills the paper from top to bottom, so in the middle the kernel sees these walls from inside only.)

# %% [markdown]
# ### Eight kernels at once
#
# Nobody thought up the ten pictures of chapter 2: a program learned them, and it can learn kernels too.
# `nn.Conv2d(1, 8, 3)` is a module that lays eight kernels of 3 by 3 on each digit, and the kernels are its parameters.
# The 1 says that the digits have one **channel** (a color photo has three).

# %% name="conv-layer"
looking = nn.Conv2d(1, 8, 3)
pictures = ink.reshape(-1, 1, 8, 8)  # (batch, channels, height, width)
seen = looking(pictures)
print(tuple(pictures.shape), "becomes", tuple(seen.shape))
show_digits(looking.weight[:, 0], says=[f"kernel {n}" for n in range(8)])
maps = seen[0] - seen[0].mean(dim=(1, 2), keepdim=True)  # only for the drawing: red and blue
show_digits(maps, says=[f"{n} sees" for n in range(8)])

# %% claim=true
assert seen.shape == (1797, 8, 6, 6)
_kernels = looking.weight.shape
assert _kernels == (8, 1, 3, 3)

# %% [markdown]
# Each digit became eight maps of 6 by 6, one for each kernel. The kernels begin at random, so each sees something different in the zero.
#
# ### Exercise: `count_params`
#
# *{minutes} minutes*
#
# How much is there to learn in such a layer? Write a function that counts: how many numbers does a model hold, and how many of them learn?
# For example, `nn.Linear(3, 2)` has 6 weights and 2 biases, so 8.

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

# %% [markdown]
# A linear layer with as many results, 8 * 36 = 288, needs 64 weights and a bias for each of them.
#
# *Predict.* That makes 18,720 numbers. How many does the layer `looking` have, with one bias for each kernel?

# %% predict=true
guess = 80  # a number

# %% name="conv-count"
print("linear:", my_count_params(nn.Linear(64, 288)))
reveal(guess, my_count_params(looking))

# %% claim=true
assert my_count_params(looking) == 80 and my_count_params(nn.Linear(64, 8 * 36)) == 18_720

# %% [markdown]
# Eight kernels have 9 weights and a bias each. That makes 80 numbers in place of 18,720, for two reasons: a kernel looks at 9 pixels and not at 64, and an edge is an edge wherever it is, so the layer need not learn it 36 times.

# %% [markdown] side=true
# #### How many numbers does a network 2-8-1 learn?
#
# *{minutes} minutes*
#
# *Predict.* A network 2-8-1 has 2 inputs, 8 numbers in the middle and 1 output. How many numbers does it learn, biases included?

# %% predict=true
guess = 33  # a number

# %% name="mlp-count"
tiny = nn.Sequential(nn.Linear(2, 8), nn.ReLU(), nn.Linear(8, 1))
reveal(guess, my_count_params(tiny))

# %% claim=true
assert tiny(torch.randn(32, 2)).shape == (32, 1) and my_count_params(tiny) == 33
_single = nn.Linear(4, 1)
_network = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
assert my_count_params(_single) == 5 and my_count_params(_network) == 21
assert _single(torch.randn(8, 4)).shape == _network(torch.randn(8, 3)).shape == (8, 1)

# %% [markdown]
# The first layer has 2 * 8 weights and 8 biases, and the second has 8 weights and 1 bias.

# %% [markdown] side=true
# #### Can one parameter serve in two places?
#
# *{minutes} minutes*
#
# Yes. Assign it twice, and it is one parameter with one gradient, to which both uses add. In the file it has both names.

# %% name="tied"
tied = nn.Sequential(nn.Linear(3, 3, bias=False), nn.Tanh(), nn.Linear(3, 3, bias=False))
tied[2].weight = tied[0].weight
print([name for name, _ in tied.named_parameters()], "but in the file", list(tied.state_dict()))

# %% claim=true
assert [_name for _name, _ in tied.named_parameters()] == ["0.weight"]
assert list(tied.state_dict()) == ["0.weight", "2.weight"]

# %% [markdown] name="looking-text"
# ## 4 A network that looks
#
# *{minutes} minutes*
#
# Does such a layer help to read the moved digits?
# Put it into a network, here with sixteen kernels.

# %% name="looking-learned"
looker = nn.Sequential(
    nn.Unflatten(1, (1, 8, 8)),  # each row of 64 becomes a picture with one channel
    nn.Conv2d(1, 16, 3),  # sixteen kernels look, at 36 places each
    nn.ReLU(),
    nn.Flatten(),  # what they found becomes one row again
    nn.Linear(16 * 36, 10),  # ten judges
)

train(looker, 200)  # as before
print(f"looks at whole pictures: {accuracy(yours):.1%}")
print(f"looks at small places:   {accuracy(looker):.1%}")

# %% claim=true
assert looker(ink).shape == (1797, 10) and accuracy(looker) > 0.97
assert accuracy(looker) > accuracy(yours) - 0.005  # from one start they read as many

# %% [markdown]
# On digits that did not move, both read nearly all.
#
# Now to the moved ones. A kernel's map moves along with the digit (here section 3's kernel), which looks promising. (Its left column falls off, because the kernel has no place further left.)

# %% name="shift"
moved = digit.roll(-1, dims=1)
map1, map2 = fits(digit, kernel), fits(moved, kernel)
words = ["a zero", "the kernel sees", "moved", "the kernel sees"]
show_digits([digit, map1, moved, map2], says=words)

# %% claim=true
assert torch.equal(map2[:, :-1], map1[:, 1:])

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
# It reads about half! The kernels still find nearly all that they look for, but each judge has a weight for each kernel at each of its 36 places, and expects it where it used to be.
#
# ### Less exactly where
#
# So tell the judges less exactly where a stroke is.
# `nn.MaxPool2d(3)` cuts the 6 by 6 places into four blocks of 3 by 3, and keeps only the largest number of each block: "there was such a stroke, somewhere around here".
# This is called **pooling**. Here is a kernel that fits on strokes which rise to the right, its map of the zero, and the largest number of each block.

# %% name="four-blocks"
rising = torch.tensor([[-1.0, -1, 2], [-1, 2, -1], [2, -1, -1]])
strokes = fits(digit, rising)
pooled = nn.MaxPool2d(3)(strokes[None, None])[0, 0]  # a batch of one, with one channel

# %% claim=true
assert pooled.tolist() == [[3, 1], [1, 4]] and pooled[1, 1] == strokes[3:, 3:].max()

# %% figure=true
figures.pooling(strokes, 3)

# %% [markdown]
# The stroke of the zero rises at the upper left and at the lower right. The four numbers still say in which quarter, but no longer exactly where.
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
assert 0.93 < accuracy(pooler) < accuracy(looker)
assert [my_count_params(_each) for _each in (yours, looker, pooler)] == [2410, 5930, 810]
assert accuracy(pooler, moved_ink) > accuracy(looker, moved_ink) + 0.07

# %% [markdown]
# With 810 numbers, a third of what `yours` has to learn, it reads many more of the moved digits, although it has never seen one. Why not all of them? There are still four blocks, and a stroke near a border moves into the next one; and at the left rim some strokes leave the map. And there is a price: it reads fewer of the unmoved digits than the same network without pooling.
#
# Look, then forget exactly where: many networks for pictures repeat these two steps several times, and chapter 6 trains one.

# %% [markdown] side=true
# #### Which shapes does a layer for pictures accept?
#
# *{minutes} minutes*
#
# (batch, channels, height, width), and three axes for one picture.
# It refuses pictures with the channels last, as in many files, because it takes the first axis for the channels.

# %% name="image-axes"
colored = nn.Conv2d(3, 8, 3)
print(colored(torch.zeros(5, 3, 32, 32)).shape, colored(torch.zeros(3, 32, 32)).shape)
with shows_error(RuntimeError, match="channels"):
    colored(torch.zeros(32, 32, 3))  # (height, width, channels)

# %% claim=true
assert colored(torch.zeros(5, 3, 32, 32)).shape == (5, 8, 30, 30)
assert colored(torch.zeros(3, 32, 32)).shape == (8, 30, 30)

# %% [markdown] side=true name="faq"
# #### `Sequential` or a class, `nn.ReLU` or `torch.relu`?
#
# *{minutes} minutes*
#
# Take a Sequential while each part takes the result of the one before, and a class as soon as you branch, repeat or look at something.
#
# `nn.ReLU()` and `torch.relu` compute the same. The module fits into a Sequential and can have hooks (chapter 3c); the function fits into `forward`.

# %% [markdown] name="all-sizes"
# ## 5 All sizes, rims and steps
#
# *{minutes} minutes*
#
# Layers for pictures have two more options, which change how many places there are for a kernel. With `padding=1` torch first lays a rim of zeros around the digit. With `stride=2` the kernel takes steps of two places, to the right and down.
#
# *Predict.* The first kernel goes over this zero with both options. The map is as high as it is wide: how high?

# %% predict=true
guess = 4  # a number

# %% name="rim-and-steps"
# F.conv2d is torch's `fits`, for a batch of pictures with channels: two axes more in front
steps = F.conv2d(digit[None, None], kernel[None, None], padding=1, stride=2)[0, 0]
show_digits([digit, edges, steps], says=["the zero", "6 by 6", "rim, steps of two"])
reveal(guess, steps.shape[0])

# %% claim=true
_rim = F.conv2d(digit[None, None], kernel[None, None], padding=1)[0, 0]
assert _rim.shape == (8, 8) and torch.equal(_rim[1:-1, 1:-1], edges)
assert torch.equal(_rim[::2, ::2], steps)

# %% [markdown]
# The rim turns the 8 by 8 pixels into 10 by 10. There the kernel has 8 places in a row (the first of them for the column that fell off in section 4), and with steps of two it takes every second of these.
#
# ### Exercise: `conv2d`
#
# *{minutes} minutes*
#
# `fits` works for one size of picture and one size of kernel, without a rim, and with steps of one place. Write a function for all sizes, all rims and all steps. `nn.Conv2d` does the same, with many kernels at once. Where a picture has three channels, as colors have, each kernel has a sheet for each of them, and the three sums are added.
#
# For example, the kernel below takes a number, and adds ten times the number one row down and one column to the right. The cell prints the result for the first place. There are three more places: work out their results with a pencil, and compare them with the docstring.
#
# `F.pad` lays a rim around a picture. It takes four widths: left, right, above and below.

# %% name="conv2d-example"
small = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
ten_times = torch.tensor([[1.0, 0.0], [0.0, 10.0]])
print((small[0:2, 0:2] * ten_times).sum().item(), "at the first place")
print(F.pad(small, (1, 1, 1, 1)))

# %% exercise="conv2d"
def conv2d(image, kernel, stride=1, padding=0):
    """Return the map of a kernel on an image: how well it fits at each place, as a sum of
    products.

    With the image [[1, 2, 3], [4, 5, 6], [7, 8, 9]] and the kernel [[1, 0], [0, 10]], both
    of floats, the map is [[51, 62], [84, 95]].

    - image is (height, width) and kernel (rows, columns), both of one float dtype, which the
      map has too. Image and kernel stay as they are.
    - A rim of zeros, `padding` wide, is laid around all four sides of the image.
    - At its first place the kernel lies in the upper left corner of the rim. From one place
      to the next it moves on by `stride`, to the right and down, and it always lies whole on
      image and rim. There is room for at least one place.
    - The kernel is not turned around. Use no ready-made convolution.
    """
    ### BEGIN SOLUTION
    padded = F.pad(image, 4 * (padding,))
    rows, columns = kernel.shape
    high = (padded.shape[0] - rows) // stride + 1
    wide = (padded.shape[1] - columns) // stride + 1
    result = image.new_zeros(high, wide)
    for i in range(high):
        for j in range(wide):
            patch = padded[i * stride : i * stride + rows, j * stride : j * stride + columns]
            result[i, j] = (patch * kernel).sum()
    return result
    ### END SOLUTION

# %% check="conv2d" points=3
check("conv2d", conv2d)

# %% mine=true
def torch_conv2d(image, kernel, stride=1, padding=0):
    return F.conv2d(image[None, None], kernel[None, None], stride=stride, padding=padding)[0, 0]


my_conv2d = mine("conv2d", torch_conv2d)

# %% [markdown]
# Let your function compute what the first kernel of `pooler` sees in a zero.

# %% name="conv2d-used"
conv = pooler[1]
own = my_conv2d(pictures[0, 0], conv.weight[0, 0].detach()) + conv.bias[0]
print("as the layer does:", torch.allclose(own, conv(pictures[0])[0], atol=1e-4))

# %% claim=true
assert torch.allclose(own, conv(pictures[0])[0], atol=1e-4) and own.shape == (6, 6)

# %% [markdown] name="checklist"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can build a network of any depth, count what it learns, spot what training does not find, and write what a convolution computes.
# When a model does not behave, look here:
#
# | you see | look at |
# |---|---|
# | `parameters()` is empty or too short | `print(model)`: a list, a plain tensor, a layer made in `forward` |
# | two calls give two answers | a layer made in `forward` |
# | good on the digits, bad on moved ones | weights that belong to places: convolution, then pooling |

# %% name="progress"
progress(3)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions-1-3"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. What is an activation for?
# 2. Why does a convolution have so few numbers?
# 3. Without pooling, why does a network with a convolution misread moved digits?
#
# <details><summary>Answers</summary>
#
# 1. Without one, two linear layers in a row are no more than one.
# 2. It looks at a small patch, and uses the same kernel at every place.
# 3. Its kernels find the strokes, but each judge weighs them by their places.
#
# </details>

# %% [markdown]
# Next comes *Chapter 3c: Good starts*: your `MLP` begins with random numbers, and not all of them let it learn.
