# %% [markdown] name="opening"
# # Chapter 3c: Good starts
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Why does one deep network learn, and its twin not?*
#
# In chapter 3b you put layers in a row. Their numbers begin at random, and from some starts a network hardly learns at all. Here you learn to
#
# 1. choose the first weights
# 2. use `train`, `eval` and `no_grad`, each for its own purpose
# 3. look inside a model while it runs
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises. Two more exercises come after the end, for extra credit. Side paths, folded under a question, are optional.
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
from course.instruments import show_digits, two_switches

torch.set_num_threads(1)  # for models this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("3c")

# %% [markdown]
# Here is a handwritten zero after 1, 4, 7 and 10 layers with random weights, each time as 8 x 8 numbers. In the upper row the weights are too small (their standard deviation is 0.1), and soon nothing is left of the zero. In the lower row it is scrambled, but the numbers keep their size, so there is still something to learn from.

# %% name="first-page" figure=true
figures.fading(10)

# %% [markdown] name="init"
# ## 1 A good start
#
# *{minutes} minutes*
#
# Why do weights begin at random? The ten pictures of chapter 2 began as zeros, and did well. But a network can begin badly in two ways: with weights that are all alike, or of the wrong size.
# The folded cell below brings the digits, and `train` and `accuracy` of chapter 3a. Run it, and go on.

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
# ### All alike
#
# With two layers, zeros would not do at all: every hidden number is 0, so no weight gets a gradient, and only the last bias moves. But perhaps another number will do?
#
# *Predict.* Every number of a model begins at 0.1. It has 32 hidden units, each with 64 weights that can be drawn as a picture. After twenty steps, are the 32 pictures still all alike?

# %% predict=true
guess = True  # True or False

# %% name="symmetry"
alike = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
for p in alike.parameters():
    nn.init.constant_(p, 0.1)  # fills p
train(alike, 20)
units = alike[0].weight.detach()  # (32, 64): one row for each unit
show_digits(units[:8])
print(f"{accuracy(alike):.0%} are read correctly")
reveal(guess, torch.allclose(units, units[:1].expand(32, 64), atol=1e-4))

# %% claim=true
assert (units - 0.1).abs().max() > 1e-2  # they have moved
assert accuracy(alike) < 0.3
_zeros = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
for _p in _zeros.parameters():
    nn.init.zeros_(_p)
F.cross_entropy(_zeros(ink), labels).backward()
assert [bool(_p.grad.any()) for _p in _zeros.parameters()] == [False, False, False, True]
_inputs = torch.randn(6, 3)
for _number in (0.0, 0.5):
    _alike = _inputs @ torch.full((3, 4), _number)
    assert torch.allclose(_alike, _alike[:, :1].expand(6, 4), atol=1e-6)
_random = _inputs @ torch.randn(3, 4)
assert not torch.allclose(_random[:, 0], _random[:, 1])

# %% [markdown] name="zero-weights-text"
# They have moved, but all in the same way, because equal units get equal gradients: each has the same weights to and from it, so a change of one would help exactly as much as a change of another. The 32 units do the work of one.
# In chapter 2 each picture had a label of its own, which made it different. A hidden unit has none, so it must begin different: that is why weights are random.
#
# ### The wrong size
#
# How large should the random numbers be?
# Send the digits through ten layers of 64 units with `relu`, and look at how large the numbers are on the way.
#
# *Predict.* The ink is about 0.5 in size, and the random weights have a standard deviation of 0.01. About how large are the numbers after ten layers: around 0.1, around 0.001, or below a millionth?

# %% predict=true
guess = "below"  # "0.1", "0.001" or "below"

# %% name="through-depth"
def sizes(std):
    """About how large the digits' numbers are, at first and after each of ten layers."""
    x, found = ink, []
    for _ in range(11):
        found.append(x.square().mean().sqrt().item())  # the root of their mean square
        x = torch.relu(x @ (torch.randn(64, 64) * std))
    return found


found = sizes(0.01)
for layers in (0, 1, 2, 3, 10):
    print(f"layers: {layers:2}   size: {found[layers]:.2g}")
reveal(guess, "below" if found[10] < 1e-6 else "0.001" if found[10] < 0.01 else "0.1")

# %% claim=true
assert 0.3 < found[0] < 0.7
assert 14 < (found[0] / found[10]) ** 0.1 < 22  # a layer
assert 0.02 < sizes(math.sqrt(2 / 64))[10] < 10 and sizes(1.0)[10] > 1e5
assert sizes(0.1)[10] < 0.02 and sizes(0.25)[10] > 2
_layer = nn.Linear(1000, 400, bias=False)
nn.init.kaiming_normal_(_layer.weight, nonlinearity="relu")
assert abs(_layer.weight.std().item() - math.sqrt(2 / 1000)) < 1e-3
_x = torch.randn(500, 1000)
assert 0.85 < torch.relu(_layer(_x)).square().mean() / _x.square().mean() < 1.15

# %% [markdown]
# Each layer makes the numbers about twenty times smaller, until nothing of a digit is left. Here is the same for four sizes of weights, one in each row: the bars show how many numbers lie where, after more and more layers.

# %% figure=true
figures.activations(10)

# %% [markdown] name="he-text"
# With a standard deviation of 1 the numbers explode: where you see no bars, all numbers are too large to draw.
# With 0.18 they roughly keep their size. Why 0.18? Each unit adds up 64 products. If all were positive, the sum would be 64 times as large as one of them. But positive and negative ones partly cancel, and about 8 times is left, the root of 64 (the first side path shows why). Weights of size 1/8 make up for that.
# Then `relu` throws half of the sums away, and for that the weights have to be larger by the root of 2. Together that is `math.sqrt(2 / 64)`, which is 0.18.
#
# So for a layer with n inputs, begin with the standard deviation `math.sqrt(2 / n)`.
# This is **He initialization**, after Kaiming He. (torch has it as `kaiming_normal_`; in the exercise below you do it by hand.)
# What `nn.Linear` draws by itself is smaller, here 0.07: fine for a few layers, too small for ten, as you will see.

# %% [markdown] side=true
# #### Where does the square root of 2 / n come from?
#
# *{minutes} minutes*
#
# Begin with a smaller question: how large is a sum of 64 random numbers of size 1?

# %% name="sum-of-64"
sums = torch.randn(10_000, 64).sum(dim=1)
print(f"the square of the sum, on average: {sums.square().mean().item():.1f}")

# %% claim=true
assert 58 < sums.square().mean() < 70

# %% [markdown]
# It is about 64, so the sum has the size 8, and not 64: for random numbers the squares add up.
# Now follow numbers of size 1 through a layer whose weights have size 0.01.
#
# - Each product has the size 0.01, and its square is 0.0001.
# - A unit adds up 64 of them, so the square of the sum is 64 * 0.0001 = 0.0064.
# - `relu` sets half of the sums to zero, which leaves 0.0032 on average, and that is the square of 0.057, about an eighteenth.
#
# To keep the size, 64 * std ** 2 / 2 has to be 1, and so std has to be the square root of 2 / 64.

# %% [markdown] side=true
# #### What does `nn.Linear` draw, and is it repeatable?
#
# *{minutes} minutes*
#
# As in chapter 3a: uniform numbers between plus and minus 1 / sqrt(inputs), different ones each time. Only a seed makes them repeatable.

# %% name="default-start"
layer = nn.Linear(100, 200)
drawn = layer.weight.detach()
print(f"from {drawn.min():.3f} to {drawn.max():.3f}, standard deviation {drawn.std():.3f}")

# %% claim=true
assert layer.weight.abs().max() <= 0.1 and layer.bias.abs().max() <= 0.1
assert abs(layer.weight.std().item() - 0.1 / math.sqrt(3)) < 0.01  # the std of uniform numbers

# %% name="same-seed"
torch.manual_seed(seed)
first = nn.Linear(2, 1)
torch.manual_seed(seed)
again = nn.Linear(2, 1)
for name, one in (("seeded:", first), ("seeded again:", again), ("not seeded:", nn.Linear(2, 1))):
    print(name, [round(number, 3) for number in one.weight[0].tolist()])

# %% claim=true
assert torch.equal(first.weight, again.weight)
assert not torch.equal(nn.Linear(2, 1).weight, nn.Linear(2, 1).weight)

# %% [markdown] side=true name="arrange-init-he"
# #### Would you like the lines of `init_he`, shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell.
# Here are the lines that may stand in it, with gaps, and with two lines that it does not need.

# %%
from explorers import arrange

arrange("init_he")

# %% [markdown]
# ### Exercise: `init_he`
#
# *{minutes} minutes*
#
# Give this start to every linear layer of a model, at any depth.
# `modules()` gives the module itself and all parts inside it, and `isinstance` tells which of them are linear layers:

# %% name="modules-example"
for part in nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(8, 4), nn.ReLU())).modules():
    print(type(part).__name__, isinstance(part, nn.Linear))

# %% [markdown]
# The functions in `nn.init` change a parameter in place. With 8 inputs the standard deviation should be the root of 2 / 8, which is 0.5.

# %% name="init-he-example"
example = nn.Linear(8, 1000)
nn.init.normal_(example.weight, std=math.sqrt(2 / 8))
print(f"std: {example.weight.std().item():.2f}")

# %% exercise="init_he"
def init_he(module):
    """Draw new weights for every nn.Linear in a module, at any depth; return the module.

    init_he(nn.Linear(200, 50)).weight has a std of about 0.1.

    - The weights become normal numbers with mean 0 and std sqrt(2 / in_features), the biases 0.
    - The module itself may be an nn.Linear, and a layer may have no bias.
    - The numbers are written into the parameters that are there; requires_grad and all other
      layers stay as they were.
    - The numbers come from torch's global generator, which is not seeded here.
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


def ten_hidden(sizes, activation):
    row = nn.Sequential()
    for _ in sizes[2:]:
        row.append(nn.Linear(64, 64))
        row.append(activation())
    return row.append(nn.Linear(64, 10))


my_init_he = mine("init_he", plain_init)
MyMLP = mine("MLP", ten_hidden)

# %% [markdown]
# Make a deep network twice, as an `MLP` of chapter 3b with ten hidden layers. One twin keeps the weights that `nn.Linear` draws, and the other gets your start.

# %% name="init-he-used"
widths = [64] * 11 + [10]
as_it_comes, your_start = MyMLP(widths, nn.ReLU), my_init_he(MyMLP(widths, nn.ReLU))
for name, model in (("as it comes", as_it_comes), ("your start ", your_start)):
    train(model, 100, rate=0.05)  # at 0.5, as before, a step is too large for ten layers
    loss = F.cross_entropy(model(ink), labels)
    print(f"{name}: loss {loss.item():.2f}, {accuracy(model):.0%} are read correctly")

# %% claim=true
assert accuracy(as_it_comes) < 0.3 and accuracy(your_start) > 0.5
assert abs(F.cross_entropy(as_it_comes(ink), labels).item() - math.log(10)) < 0.01

# %% [markdown]
# Without your start the loss has hardly moved: 2.30 is that of guessing. Ten layers of such small weights leave hardly any difference between a three and an eight (see the second row of bars), so the last layer cannot tell them apart; and the gradients shrink in the same way on their way back.

# %% [markdown]
# ### A remedy at each layer
#
# A good start keeps the numbers at a good size only until training moves the weights. `nn.BatchNorm1d` gives them a good size at each call: it standardizes each feature, as you did with pixels in chapter 1. (Then it applies a weight and a bias, which it learns.)
#
# *Predict.* The twin that guesses gets a sister: the same layers as they come, with a batch norm behind each but the last. After the same 100 steps, does she read more digits than the twin with your start?

# %% predict=true
guess = True  # True or False

# %% name="batch-norm-helps"
layers = []
for _ in range(10):
    layers += [nn.Linear(64, 64), nn.BatchNorm1d(64), nn.ReLU()]
sister = nn.Sequential(*layers, nn.Linear(64, 10))
train(sister, 100, rate=0.05)
print(f"batch norm: {accuracy(sister):.1%} are read correctly")
reveal(guess, accuracy(sister) > accuracy(your_start))

# %% claim=true
assert accuracy(sister) > 0.97 > accuracy(your_start) + 0.05

# %% [markdown]
# She does, although her weights began too small: ten times on the way the numbers get a good size again. So with batch norm the start matters less.
# It has its price. Batch norm looks at a whole batch, and so the answer for one digit depends on the others beside it, unless you tell the model that training is over. How to tell it comes next.

# %% [markdown] side=true
# #### Why write into a parameter, and not put a new one there?
#
# *{minutes} minutes*
#
# Because the code that trains the model may hold the old one. Then it trains a tensor that nobody uses.

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
# ## 2 Train mode and eval mode
#
# *{minutes} minutes*
#
# Some layers do one thing while the model learns, and another when you use it.
# If you forget to switch them over, the same digit gets one answer now, and another a second later.
#
# While the model learns, `nn.Dropout(0.5)` sets each number to 0 with probability one half, so that the network cannot rely on any single one: it has to find several signs of a four.
#
# *Predict.* The input is 1000 ones. Which two numbers does the result contain?

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
# `nn.Dropout(0.5)` doubles the numbers that it keeps, so that the mean stays about the same: the next layer meets numbers of the same size later, when nothing is dropped.
#
# Every module has a flag for its mode, which its methods `train()` and `eval()` set in all parts of a model. A new model is in train mode. (`model.train()` trains nothing: it only sets the flag.)
# The model below reads the same zero twelve times in each mode. It is untrained, so do not ask whether the answers are right, but whether they agree.

# %% name="flag-reaches-children"
careful = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Dropout(0.5), nn.Linear(32, 10))
print("train mode:", [careful(ink[:1]).argmax().item() for _ in range(12)])
careful.eval()
print("eval mode: ", [careful(ink[:1]).argmax().item() for _ in range(12)])

# %% claim=true
assert not any(_part.training for _part in careful.modules())
assert all(_part.training for _part in careful.train().modules())
careful.eval()

# %% [markdown]
# Batch norm has two modes, too. While the model learns, the layer takes the mean and the standard deviation of the current batch.
# In use there may be a single digit, and no batch. For that the layer keeps a running mean and a running variance, in buffers.
#
# *Predict.* A batch has mean 5 in each feature. The running mean begins at 0, and each call in train mode moves it a tenth of the way to the batch's mean. Where is it after the first call?

# %% predict=true
guess = 0.5  # a number

# %% name="batch-norm"
norm = nn.BatchNorm1d(3)
batch = torch.randn(64, 3)
batch = batch - batch.mean(dim=0) + 5  # mean 5 in each feature

print(f"train mode: the result has mean {norm(batch).mean().abs():.1f}")
norm.eval()
print(f"eval mode:  the result has mean {norm(batch).mean():.1f}")
reveal(guess, round(norm.running_mean.mean().item(), 2))

# %% claim=true
assert 4 < norm(batch).mean() < 5  # eval mode uses the buffers: 5 - 0.5 remains
_before = norm.running_mean.clone()
norm(batch)
assert torch.equal(norm.running_mean, _before)  # and does not touch them
norm.train()(batch)
assert not torch.equal(norm.running_mean, _before)

# %% [markdown]
# In eval mode the layer subtracts the 0.5 that it has kept, so 4.5 is left of the 5. Here are dropout and batch norm in both modes.

# %% figure=true
figures.modes()

# %% [markdown]
# One call was too few. The sister of section 1 had a hundred, so she reads as well in eval mode:

# %% name="sister-in-eval"
in_training = accuracy(sister)
sister.eval()
print(f"train mode: {in_training:.1%} are read correctly, eval mode: {accuracy(sister):.1%}")

# %% claim=true
assert abs(accuracy(sister) - in_training) < 0.01
assert accuracy(sister) > 0.97 and not sister.training
_x = ink
for _part in sister[:-1]:
    if isinstance(_part, nn.BatchNorm1d):
        assert (_part.running_mean - _x.mean(dim=0)).abs().max() < 0.2
    _x = _part(_x)

# %% [markdown] side=true
# #### And if there is no batch?
#
# *{minutes} minutes*
#
# `nn.LayerNorm` brings each *row* to mean 0 and standard deviation 1, so it needs no batch, and does the same in both modes.
# Here it follows each of ten layers whose weights are too small:

# %% name="layer-norm"
by_row = nn.LayerNorm(100)
x = torch.randn(500, 100)
for _ in range(10):
    x = torch.relu(by_row(x @ (torch.randn(100, 100) * 0.01)))
print(f"size after ten layers: {x.square().mean().sqrt().item():.2f}")

# %% claim=true
_rows = by_row(x)
assert _rows.mean(dim=1).abs().max() < 1e-4
assert (_rows.std(dim=1, correction=0) - 1).abs().max() < 1e-2
assert 0.5 < x.square().mean().sqrt() < 1

# %% [markdown] name="two-switches-text"
# ### Two switches
#
# `eval()` and `no_grad()` often stand one below the other, like two words for the same thing. Here are both, on and off in all four ways. (`two_switches` calls the model twice each time, and compares.)
#
# *Predict.* After `model.eval()`, outside `no_grad`: does the result of `model(x)` require grad?

# %% predict=true
guess = True  # True or False

# %% name="two-switches"
both = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.5), nn.Linear(8, 1))
x = torch.randn(16, 4) + 1
two_switches(both, x)
reveal(guess, both.eval()(x).requires_grad)

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
# It does: the mode changes what layers compute, and only `no_grad` keeps torch from building a graph.
# So evaluate with `model.eval()` *and* `no_grad`, and afterwards restore the mode that the model had.
#
# The function `accuracy` of section 1 does none of this. So it tests the model with dropout in train mode: its result changes from call to call, and is too low. Here it is as it should be:

# %% name="fair-accuracy"
careful.train()  # sets the flag, and trains nothing
train(careful, 200)  # the function of section 1: 200 steps of training
print("before:", [f"{accuracy(careful):.2%}" for _ in range(5)])


def accuracy(model, pictures=ink):
    """The share of the digits that a model reads correctly, in eval mode."""
    was_training = model.training
    model.eval()
    with torch.no_grad():
        says = model(pictures).argmax(dim=1)
    model.train(was_training)  # the mode that it had
    return (says == labels).float().mean().item()


print("now:   ", [f"{accuracy(careful):.2%}" for _ in range(5)])

# %% claim=true
assert len({accuracy(careful) for _ in range(3)}) == 1
assert careful.training and accuracy(careful.eval()) and not careful.training
careful.train()

# %% [markdown] side=true
# #### The validation loss jumps up and down: why?
#
# *{minutes} minutes*
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
print(f"20 losses differ by {spread[True]:.2f} in train mode, {spread[False]:.2f} in eval mode")

# %% claim=true
assert spread[True] > 0 and spread[False] == 0

# %% [markdown] side=true
# #### Why does my model refuse a single example?
#
# *{minutes} minutes*
#
# It is in train mode, where the result for one row depends on the other rows of its batch, and here there are none.
# In eval mode each row counts by itself.

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

# %% [markdown]
# `nn.BatchNorm2d`, the same for pictures with channels, wants the axis of the batch in both modes.

# %% name="batch-of-one"
for_pictures = nn.BatchNorm2d(3)
with shows_error(ValueError, match="expected 4D input"):
    for_pictures(torch.randn(3, 8, 8))
print(for_pictures(torch.randn(3, 8, 8).unsqueeze(0)).shape)

# %% claim=true
assert for_pictures(torch.randn(3, 8, 8).unsqueeze(0)).shape == (1, 3, 8, 8)
for_pictures.eval()
with shows_error(ValueError, match="expected 4D input"):
    for_pictures(torch.randn(3, 8, 8))

# %% [markdown] name="call-text"
# ## 3 Looking inside
#
# *{minutes} minutes*
#
# (If it is late, this is a good place to stop for tonight.)
#
# How do you look inside a model yourself? Take one that fails: which layers ran, and where did the shape go wrong?
# Hang a **hook** on each module: a function that runs after its `forward`, and gets the module, its inputs and its output. `register_forward_hook` returns a handle, with which you remove the hook.

# %% name="shapes-by-hook"
broken = nn.Sequential(nn.Flatten(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(16, 10))
pictures = ink.reshape(-1, 1, 8, 8)  # Flatten makes a row of each


def watch(module, args, output):
    print(tuple(output.shape), "from", module)


handles = [part.register_forward_hook(watch) for part in broken]
with shows_error(RuntimeError, match="5x32 and 16x10"):
    broken(pictures[:5])
for handle in handles:
    handle.remove()

# %% [markdown] name="tracing"
# The message says which shapes did not fit, and the hooks say where: the ReLU was the last to run, so the next layer failed.
# A hook stays until you remove it, hence the loop at the end.
#
# ### Exercise: `call_counts`
#
# *{minutes} minutes*
#
# Which parts of somebody else's model run, and how often?
# `named_modules()` gives pairs of name and module: first the module itself, under the name `""`, then all parts inside it.

# %% name="named-modules"
nested = nn.Sequential(nn.Flatten(), nn.Sequential(nn.Linear(8, 4), nn.ReLU()))
print([name for name, _ in nested.named_modules()])

# %% [markdown]
# Set one hook on each part, made inside the loop as `def hook(module, args, output, name=name):`. There `name=name` keeps the name of this round; without it all hooks would use the last name.
# Leave no hook behind, even if the model raises an error: the `finally` block of a `try` runs in any case.

# %% exercise="call_counts"
def call_counts(module, x):
    """Return how often each submodule runs in one call of module(x): a dict, name to count.

    For nn.Sequential(nn.Linear(2, 3), nn.ReLU()) the result is {"0": 1, "1": 1}.

    The names are those of module.named_modules(), without the module itself; a
    submodule that does not run is not in the dict. module(x) is called once. Afterwards
    the hooks that you added are removed, and no others, also when module(x) raises an
    error, which goes on to the caller.
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

# %% mine=true
def plain_call_counts(module, x):
    names = {part: name for name, part in module.named_modules()}
    ran = []
    listen = nn.modules.module.register_module_forward_hook  # for all modules at once
    with listen(lambda part, args, output: ran.append(names.get(part))):
        module(x)
    return {name: ran.count(name) for name in ran if name}


my_call_counts = mine("call_counts", plain_call_counts)

# %% [markdown]
# A colleague swears that this model uses dropout. Ask it.

# %% name="call-counts-used"
class Colleagues(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(64, 64), nn.Linear(64, 10)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
        for _ in range(3):
            x = torch.relu(self.hidden(x))
        return self.out(x)


print(my_call_counts(Colleagues(), torch.randn(5, 64)))

# %% claim=true
assert my_call_counts(Colleagues(), torch.randn(5, 64)) == {"hidden": 3, "out": 1}

# %% [markdown]
# `drop` is missing: it was made and never called. And `hidden` ran three times: it is one layer, used three times.

# %% [markdown] side=true
# #### Does `model.forward(x)` run a hook?
#
# *{minutes} minutes*
#
# *Predict.* You set a hook, and then call `model(x)` and `model.forward(x)`, once each. How often does the hook run?

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
# Once. `model(x)` runs `forward` *and* the hooks, and `model.forward(x)` runs only `forward`.

# %% [markdown] side=true
# #### Can a hook change what a module gives?
#
# *{minutes} minutes*
#
# Yes. If a hook returns something, that replaces the output. So a hook that only watches returns None.

# %% name="hook-replaces"
model, x = nn.Linear(4, 2), torch.randn(16, 4)
handle = model.register_forward_hook(lambda module, args, output: output * 0)
print("with the hook:", model(x)[0])
handle.remove()
print("without it:", model(x)[0])

# %% claim=true
assert not (model(x) == 0).all()

# %% [markdown] name="checklist"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can start a deep network so that it learns, put it into the right mode, and find the layer that fails.
#
# | you see | look at |
# |---|---|
# | the loss of a deep network stays at that of guessing, log(10) | its first weights |
# | two evaluations differ | dropout or batch norm in train mode: `model.eval()`; or a layer made in `forward` (chapter 3b) |
# | "shapes cannot be multiplied" | left: what came in; right: the layer's (in, out) |

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
# 1. Why are the first weights random, and how large should they be?
# 2. What does `eval()` change, and what does `no_grad()`?
# 3. How do you find the layer whose shape does not fit?
#
# <details><summary>Answers</summary>
#
# 1. Equal units get equal gradients and stay equal. And the numbers must neither vanish nor explode on their way through the layers.
# 2. `eval()` changes what some layers compute, and `no_grad()` whether torch builds a graph.
# 3. With hooks: it is the layer after the last one that ran.
#
# </details>

# %% [markdown]
# Further reading: He and others, "Delving Deep into Rectifiers" (2015); Ioffe and Szegedy, "Batch Normalization" (2015); Srivastava and others, "Dropout" (2014).
#
# Next comes *Chapter 3d: Save and reuse*: you keep what a model has learned in a file, and use it for another task.
#
# Here the sitting ends. What follows can wait for another evening: nothing later needs it.

# %% [markdown] name="dropout-text"
# ## 4 Layers from scratch
#
# *{minutes} minutes*
#
# Two layers that you know, written by hand.
#
# ### Exercise: `Dropout`
#
# *Stretch, extra credit, {minutes} minutes*
#
# When you have written dropout yourself, you will not forget the two modes.
# `self.training` tells the mode, and `torch.rand_like(x)` draws uniform numbers from 0 to 1 in the shape of x.

# %% name="dropout-example"
print(nn.Dropout(0.5)(torch.ones(8)))

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
# ### Exercise: `BatchNorm1d`
#
# *Stretch, extra credit, {minutes} minutes*
#
# This layer has parameters and buffers, and does one thing in training and another in use: all of chapter 3 so far comes together in it.
# Compute mean and variance of the batch from x, so that the gradient flows through them.
# The running values are not in the graph: change them in place, under `no_grad`.

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
