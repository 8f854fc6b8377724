# %% [markdown] name="opening"
# # Chapter 4a: Training loops
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *How does a model learn, and how do you know that it has?*
#
# A new `MLP` of chapter 3b, with 4,810 random numbers, reads about one digit in ten.
# Today it learns. It goes twenty times through 1,400 digits, in less than a second, and then it reads about 96 in 100 digits that it has never seen.
#
# The program that does this is short, and nearly every PyTorch project needs it. In this sitting you learn to
#
# - write one step of training, and say what breaks without each of its lines
# - measure a model on data that it has not learned from
# - put both into the whole loop, and read its two curves
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises. Side paths, folded under a question, are optional.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import copy
import math
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch04 as figures
from course.figures.plots import plots_take_the_ink_of_the_page
from course.instruments import saved_tensors, show_digits

torch.set_num_threads(1)  # for models this small, a second one costs more than it brings
_ = torch.manual_seed(seed)
plots_take_the_ink_of_the_page()

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("4a")

# %% [markdown]
# Here is where you will be at the end:

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="five-lines"
# ## 1 The five lines
#
# *{minutes} minutes*
#
# In chapter 3 you took the step by hand: `p -= rate * p.grad`, for every parameter.
# There are other rules for a step, and other losses, so PyTorch makes both into objects that you can exchange.
# An **optimizer** knows the parameters and takes the step; a **criterion** computes the loss, and a plain function such as `F.cross_entropy` will do too.
# The learning rate of chapter 2a is called `lr` here.
#
# Begin with a task that you can check: 100 points near y = 2 * x, and one neuron (weight and bias) to find the 2.
# The training is five lines, run 250 times:

# %% name="one-neuron"
x = torch.randn(100, 1)
y = 2 * x + 0.05 * torch.randn(100, 1)  # a line, and a little noise
model = nn.Linear(1, 1)
criterion = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

print(f"slope at first: {model.weight.item():.3f}")
for step in range(250):
    optimizer.zero_grad()  # 1 clear the old gradients
    prediction = model(x)  # 2 forward
    loss = criterion(prediction, y)  # 3 how wrong?
    loss.backward()  # 4 fill in .grad
    optimizer.step()  # 5 take the step
print(f"slope now: {model.weight.item():.3f}, loss: {loss.item():.4f}")

# %% claim=true
assert abs(model.weight.item() - 2) < 0.03 and abs(model.bias.item()) < 0.03
assert loss.item() < 0.005
_again = nn.Linear(1, 1)
_optimizer, _losses = torch.optim.SGD(_again.parameters(), lr=0.1), []
for _ in range(250):
    _optimizer.zero_grad()
    _loss = criterion(_again(x), y)
    _loss.backward()
    _optimizer.step()
    _losses.append(_loss.item())
# Down at the noise before step 60, and there it stays:
assert _losses[60] < 1.01 * _losses[-1] < 0.005

# %% [markdown]
# It has found the 2. The loss that is left comes from the noise, about 0.05 ** 2 = 0.0025.
#
# *Which one of the five lines changes the weights?* Say it before you look.
# Here is one step in numbers: input 2, target 7, a weight of 1, and lr = 0.1. In `.grad` a 5 is left over from an earlier step, which line 1 clears.

# %% name="five-lines-slowly" figure=true
figures.stepper()

# %% claim=true
_fresh = nn.Linear(1, 1)
_sgd, _at_first = torch.optim.SGD(_fresh.parameters(), lr=0.1), _fresh.weight.item()
_loss = criterion(_fresh(x), y)
assert _fresh.weight.grad is None  # up to here, no gradient
_loss.backward()
assert _fresh.weight.grad is not None and _fresh.bias.grad is not None
assert _fresh.weight.item() == _at_first
_sgd.step()
assert _fresh.weight.item() != _at_first

# %% [markdown]
# Only the last one. Line 4 adds the gradient to each parameter's `.grad`, which line 1 has cleared. Line 5 reads it: `SGD` subtracts lr times its gradient from each parameter.

# %% [markdown] side=true
# #### What exactly is learned?
#
# *{minutes} minutes*
#
# A network is a function of two things, its input and its weights.
# The code stays as it is, and learning changes the weights; with other weights it is another function.

# %% name="function-of-weights"
tiny = nn.Linear(1, 1)
for slope in (2.0, -1.0):
    nn.init.constant_(tiny.weight, slope)
    nn.init.zeros_(tiny.bias)
    print("weight", slope, ":", tiny(torch.tensor([[1.0], [2.0]])).flatten().tolist())

# %% claim=true
assert tiny(torch.tensor([[1.0], [2.0]])).flatten().tolist() == [-1.0, -2.0]
nn.init.constant_(tiny.weight, 2.0)
assert tiny(torch.tensor([[1.0], [2.0]])).flatten().tolist() == [2.0, 4.0]

# %% [markdown] side=true name="arrange-train-step"
# #### Would you like the lines of `train_step`, shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell.
# Here are its lines in a wrong order, with gaps, and with two lines that are not needed.

# %%
from explorers import arrange

arrange("train_step")

# %% [markdown]
# ### Exercise: `train_step`
#
# *{minutes} minutes*
#
# Whether a model learns a line, digits or a language, its training is nearly always these five lines. Put them into a function; later chapters call it.
# Use the optimizer that you are given, because some optimizers remember earlier steps, and a new one would not.

# %% name="train-step-example"
prediction = 2 * 1 + 0  # weight 2, input 1, bias 0; the target is 5
gradient = 2 * (prediction - 5) * 1  # with respect to the weight: -6
print("loss:", (prediction - 5) ** 2, "  weight after the step:", 2 - 0.1 * gradient)

# %% exercise="train_step"
def train_step(model, optimizer, criterion, x_batch, y_batch):
    """Do one step of training and return the loss of this batch, from before the step, as a float.

    For nn.Linear(1, 1) with weight 2 and bias 0, SGD with lr=0.1, nn.MSELoss(),
    x_batch = [[1.0]] and y_batch = [[5.0]] the result is 9.0, and the weight becomes 2.6.

    - Old gradients are cleared.
    - The model is called once on x_batch, and criterion(prediction, y_batch) is computed once.
    - backward fills .grad, and the optimizer steps once.
    - Afterwards each .grad holds the gradient of this batch alone, and the model is in the
      mode, train or eval, that it was in.
    """
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    prediction = model(x_batch)
    loss = criterion(prediction, y_batch)
    loss.backward()
    optimizer.step()
    return loss.item()
    ### END SOLUTION


# %% check="train_step" points=4
check("train_step", train_step)

# %% mine=true
def plain_step(model, optimizer, criterion, x, y):
    loss = criterion(model(x), y)
    optimizer.zero_grad()  # here, which is as good: section 3 shows why
    loss.backward()
    optimizer.step()
    return loss.item()


my_train_step = mine("train_step", plain_step)

# %% [markdown] side=true
# #### What does `step()` do, exactly?
#
# *{minutes} minutes*
#
# For `SGD`: p - lr * p.grad, for every parameter p. Written by hand, the loop gives the same weights.

# %% name="step-is-minus-lr-grad"
theirs = nn.Linear(1, 1)
by_hand = copy.deepcopy(theirs)
sgd = torch.optim.SGD(theirs.parameters(), lr=0.1)
for _ in range(100):
    my_train_step(theirs, sgd, criterion, x, y)
    by_hand.zero_grad()
    criterion(by_hand(x), y).backward()
    with torch.no_grad():
        for p in by_hand.parameters():
            p -= 0.1 * p.grad
print(theirs.weight.item(), by_hand.weight.item())

# %% claim=true
_pairs = zip(theirs.parameters(), by_hand.parameters(), strict=True)
assert all(torch.allclose(_p, _q, atol=1e-6) for _p, _q in _pairs)

# %% [markdown] side=true
# #### In which order do things really happen?
#
# *{minutes} minutes*
#
# Here every part of a small model is watched while `my_train_step` runs once: the backward pass fills in the last layer first.

# %% figure=true
figures.call_order(my_train_step)

# %% [markdown] side=true
# #### Why `loss.item()`, and not `loss`?
#
# *{minutes} minutes*
#
# Because a kept loss keeps its graph, with all that the forward pass saved, until `backward` frees it.
# A loop that only measures never calls `backward`, so there everything stays in memory.
# `saved_tensors` counts what graphs still hold.

# %% name="losses-append"
with saved_tensors() as held:
    losses = [criterion(model(x), y) for _ in range(20)]
    print("with 20 losses kept: ", len(held))
with saved_tensors() as held:
    losses = [criterion(model(x), y).item() for _ in range(20)]
    print("with 20 numbers kept:", len(held))

# %% claim=true
with saved_tensors() as _held:
    _losses = [criterion(model(x), y) for _ in range(20)]
    assert len(_held) >= 20
    for _loss in _losses:
        _loss.backward()
    assert len(_losses) == 20 and len(_held) == 0
with saved_tensors() as _held:
    _losses = [criterion(model(x), y).item() for _ in range(20)]
    assert len(_held) == 0

# %% [markdown] name="epoch-text"
# ## 2 One epoch
#
# *{minutes} minutes*
#
# With your `train_step` a model can learn to read digits. First decide how you will judge it.
# If you judge it by the digits that it learned from, a mere list of the 1,797 answers wins, although it cannot read one new digit.
# So put 397 digits into a drawer, as in chapter 2a, and let no model learn from those.

# %% name="split"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
order = torch.randperm(len(ink))
known, unseen = order[:1400], order[1400:]
drawer = [(ink[unseen], labels[unseen])]  # a list of one batch, which holds them all
print(len(known), "known,", len(unseen), "in the drawer")

# %% claim=true
assert len(known) == 1400 and len(unseen) == 397
assert set(known.tolist()).isdisjoint(unseen.tolist())

# %% [markdown]
# The 1,400 are the **training set**. The drawer is for **validation**: it tells whether the model **generalizes**, that is, whether it reads new digits too.
#
# Here are ten digits from the drawer, and what a new `MLP` of chapter 3b says of them.

# %% mine=true name="epoch-used"
def plain_mlp(sizes, activation):
    a, b, c = sizes
    return nn.Sequential(nn.Linear(a, b), activation(), nn.Linear(b, c))


MyMLP = mine("MLP", plain_mlp)

# %% name="ten-untrained"
fresh = MyMLP([64, 64, 10], nn.ReLU)
ten = unseen[:10]
show_digits(ink[ten], says=fresh(ink[ten]).argmax(dim=1), is_=labels[ten])

# %% [markdown] name="batch-text"
# It guesses. From how many digits should it learn in one step?
# If a step takes all 1,400, a whole pass through the data gives you one step. If it takes one digit alone, it follows the quirks of that digit.
# So you take a **batch** in between, here of 64 digits drawn at random: that is the S in `SGD`, stochastic gradient descent. When all batches have had their turn, an **epoch** is over.
#
# A **DataLoader** cuts the batches, and shuffles the rows before each epoch. It takes a `TensorDataset`, which ties each row to its label.
# Two epochs of ten rows, four at a time:

# %% name="ten-rows"
rows = TensorDataset(torch.arange(20.0).view(10, 2), torch.arange(10))  # inputs, labels
loader = DataLoader(rows, batch_size=4, shuffle=True)
for epoch in range(2):
    for inputs, targets in loader:
        print("epoch", epoch, "labels", targets.tolist())

# %% claim=true
assert [len(_targets) for _, _targets in loader] == [4, 4, 2]
_orders = [_targets for _, _targets in loader]
assert sorted(torch.cat(_orders).tolist()) == list(range(10))
assert all(torch.equal(_inputs[:, 0], 2.0 * _targets) for _inputs, _targets in loader)
assert len(DataLoader(rows, batch_size=4, drop_last=True)) == 2

# %% [markdown]
# Every row comes once in each epoch, in a new order and with its own label. The last batch holds the rows that are left.
#
# Now the 1,400 digits: at 64 a time they make 22 batches, each one call of your `train_step`.
# *Guessing reads ten in a hundred. How many will it read after 22 steps?* Write down a number.

# %% name="one-epoch"
loader = DataLoader(TensorDataset(ink[known], labels[known]), batch_size=64, shuffle=True)
_ = torch.manual_seed(seed)  # so that section 5 can begin with the same weights
reader = MyMLP([64, 64, 10], nn.ReLU)
optimizer = torch.optim.SGD(reader.parameters(), lr=0.5)
for inputs, targets in loader:
    my_train_step(reader, optimizer, F.cross_entropy, inputs, targets)
says = reader(ink[unseen]).argmax(dim=1)
print(f"{(says == labels[unseen]).float().mean():.0%} of the drawer")
show_digits(ink[ten], says=says[:10], is_=labels[ten])

# %% claim=true
assert len(loader) == 22 and (says == labels[unseen]).float().mean() > 0.45

# %% [markdown]
# After twenty-two steps most of the job is done. Training usually goes like this: at first nearly every digit pulls at the weights, later only the few hard ones.

# %% [markdown] name="left-out-text"
# ## 3 Leave a line out
#
# *{minutes} minutes*
#
# Before the digits go on: a list of five lines is soon forgotten; what goes wrong without one of them is not. So leave one out.
# `run_lines` takes the lines as words, in your order, and runs them a hundred times (`forward` is lines 2 and 3).
# It trains a single weight, from 0, on the 100 points of section 1, and returns the losses and the weight.
#
# *Predict.* You leave out `zero_grad`, `backward` or `step`, one at a time. In how many of the three cases does torch report an error?

# %% predict=true
guess = 0  # a number

# %% name="left-out-lines"
from course.instruments import run_lines  # twenty plain lines, in course/instruments.py

left_out = {
    "zero_grad": "forward backward step",
    "backward": "zero forward step",
    "step": "zero forward backward",
}
print("all of them:", run_lines("zero forward backward step", x, y)[1])
errors = 0
for name, lines in left_out.items():
    try:
        print(f"without {name}:", run_lines(lines, x, y)[1])
    except RuntimeError:
        errors += 1
reveal(guess, errors)

# %% claim=true
_sound, _weight = run_lines("zero forward backward step", x, y)
assert _sound[-1] < 0.005 and abs(_weight - 2) < 0.03
try:
    run_lines("forward backward step backward", x, y)
    _refused = False
except RuntimeError:
    _refused = True
assert _refused  # a side path shows it
assert run_lines("forward backward step", x, y)[1] != 0
assert run_lines("zero forward step", x, y)[1] == run_lines("zero forward backward", x, y)[1] == 0

# %% [markdown]
# In none. Without `backward` or `step` the weight stays at 0.
# Without `zero_grad` it does move; a plot below shows where to. Beside it stand four new orders of the lines:
#
# ```
# forward   backward  step      zero
# forward   zero      backward  step
# forward   backward  zero      step
# zero      forward   step      backward
# ```
#
# *Predict.* In how many of the four does the loss go all the way down?

# %% predict=true
guess = 2  # a number

# %% name="eight-orders"
new_orders = [
    "forward backward step zero",
    "forward zero backward step",
    "forward backward zero step",
    "zero forward step backward",
]
orders = ["zero forward backward step", *left_out.values(), *new_orders]
eight = {order: run_lines(order, x, y)[0] for order in orders}
reveal(guess, sum(eight[order][-1] < 0.005 for order in new_orders))

# %% claim=true
assert len(eight) == 8 and sum(_losses[-1] < 0.005 for _losses in eight.values()) == 3
assert run_lines(new_orders[0], x, y)[1] == run_lines(new_orders[1], x, y)[1] == _weight
_late = eight["forward backward step"][50:]
assert max(_late) > 20 * eight["zero forward backward step"][-1] and max(_late) > 1.5 * min(_late)

# %% figure=true
figures.curves(eight)

# %% [markdown]
# The second is the loop without `zero_grad`. `backward` adds to `.grad`, as in chapter 2a, so each step uses the sum of all gradients so far.
# The weight runs down into the valley, through it, up the other side and back, like a ball that nothing slows.
#
# Three orders arrive: with `zero` first, last, or right before `backward`. **What counts is that the gradients are cleared after `step`, and before the next `backward`.**
#
# Now you: the loop stepper shows what each line changes. Leave out `zero_grad`, or move it, and run ten steps.

# %% name="loop-stepper"
from explorers import loop_stepper

neuron = nn.Linear(1, 1)
nn.init.zeros_(neuron.weight)
nn.init.zeros_(neuron.bias)
optimizer = torch.optim.SGD(neuron.parameters(), lr=0.1)
stepper = loop_stepper(neuron, optimizer, nn.MSELoss(), x, y)
stepper.run(1)
stepper

# %% claim=true
assert neuron.weight.item() == 0  # the step was taken by the copy

# %% [markdown] side=true
# #### And if there is no new forward pass?
#
# *{minutes} minutes*
#
# Then torch does report an error: `backward` has used up the graph, and only a forward pass builds another.

# %% name="without-forward"
with shows_error(RuntimeError, match="second time"):
    run_lines("forward backward step backward", x, y)  # twice through one graph

# %% [markdown] side=true
# #### Where should `zero_grad` stand?
#
# *{minutes} minutes*
#
# Anywhere between `step` and the next `backward`, as you saw. (`model.zero_grad()` does it too, where all of the optimizer's parameters are in the model.)
# One thing speaks against last: if something is left over from before the loop, the first step would use it.
# Here are ten steps on p ** 2 from p = 2, with an 8 left over in `.grad`: the two results differ.

# %% name="left-over"
def ten_steps(clear_first):
    p = torch.tensor(2.0, requires_grad=True)
    p.grad = torch.tensor(8.0)
    optimizer = torch.optim.SGD([p], lr=0.01)
    for _ in range(10):
        if clear_first:
            optimizer.zero_grad()
        (p**2).backward()
        optimizer.step()
        optimizer.zero_grad()
    return p.item()


print(f"cleared first: {ten_steps(True):.4f}; only last: {ten_steps(False):.4f}")

# %% claim=true
assert abs(ten_steps(True) - 1.6341) < 1e-4 and abs(ten_steps(False) - 1.5674) < 1e-4
_held = nn.Linear(1, 1)
for _clear in (_held.zero_grad, torch.optim.SGD(_held.parameters(), lr=0.1).zero_grad):
    criterion(_held(x), y).backward()
    _clear()
    assert all(_p.grad is None for _p in _held.parameters())

# %% [markdown] side=true
# #### Do the five lines always work?
#
# *{minutes} minutes*
#
# No: at a learning rate of 1.5 all five are there, and each step throws the weight further out. Chapter 4c is about that.
# Nor are they always the same five. They change when you add up gradients over several batches, and with mixed precision (chapter 5b). And one optimizer, `LBFGS`, asks for the loss several times in one step, so you hand it a function:

# %% name="no-promise"
far, _ = run_lines("zero forward backward step", x, y, steps=250, lr=1.5)
print(far[0], far[10], far[-1])
with shows_error(TypeError, match="closure"):
    torch.optim.LBFGS(nn.Linear(1, 1).parameters()).step()

# %% claim=true
assert not math.isfinite(far[-1])

# %% [markdown] name="evaluate-text"
# ## 4 How good is it?
#
# *{minutes} minutes*
#
# After each epoch you will want to know how many digits of the drawer the model reads, and its loss there. So make a function that measures both.
# Measuring is a forward pass and a count, and yet one thing often goes wrong: the mode.
# Measure a model with batch norm and dropout (chapter 3c) four times on the same digits, always inside `torch.no_grad()`.

# %% name="modes"
dropping = nn.Sequential(nn.Linear(64, 32), nn.BatchNorm1d(32), nn.Dropout(), nn.Linear(32, 10))
inputs, targets = drawer[0]
with torch.no_grad():
    print(f"train mode: {F.cross_entropy(dropping(inputs), targets).item():.4f}")
    print(f"train mode: {F.cross_entropy(dropping(inputs), targets).item():.4f}")
    dropping.eval()
    print(f"eval mode:  {F.cross_entropy(dropping(inputs), targets).item():.4f}")
    print(f"eval mode:  {F.cross_entropy(dropping(inputs), targets).item():.4f}")

# %% claim=true
with torch.no_grad():
    assert F.cross_entropy(dropping(inputs), targets) == F.cross_entropy(dropping(inputs), targets)
    dropping.train()
    assert F.cross_entropy(dropping(inputs), targets) != F.cross_entropy(dropping(inputs), targets)
    dropping.eval()
assert dropping(ink[:4]).requires_grad  # eval mode alone builds a graph
with torch.no_grad():
    _before = dropping[1].running_mean.clone()
    dropping(ink[:4])
    assert torch.equal(_before, dropping[1].running_mean)
    dropping.train()(ink[:4])
    assert not torch.equal(_before, dropping[1].running_mean)  # it learned from what it measured

# %% [markdown]
# <details><summary>From chapter 3: no call built a graph. Why do the first two differ, and what else went wrong in them?</summary>
#
# `no_grad` only keeps autograd from building a graph.
# In train mode dropout goes on dropping, and batch norm even gathers its statistics from the drawer.
# So call `model.eval()` too, and `model.train()` before training goes on.
#
# </details>

# %% [markdown] side=true name="arrange-evaluate"
# #### Would you like the lines of `evaluate`, shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell.
# Here are its lines in a wrong order, with gaps, and with two lines that are not needed.

# %%
from explorers import arrange

arrange("evaluate")

# %% [markdown]
# ### Exercise: `evaluate`
#
# *{minutes} minutes*
#
# Your function returns two numbers: the loss, which training lowers, and the accuracy, which is what you want. A loader is anything that gives batches one after another, such as a list.
# Take the mean over rows, not over batches. And leave the model as you found it: a part of it may be in eval mode already, like a frozen one of chapter 3d, so note `module.training` for each of `model.modules()` before, and put it back after.
# (`module.training = mode` sets one flag; `module.train(mode)` sets every part inside too.)
# (**Logits** are the raw outputs, one for each class.)
#
# *Predict.* A batch of 3 rows has the mean loss 1.0, and a batch of 1 row has the loss 5.0. What is the mean loss per row?

# %% predict=true
guess = 2.0  # a number

# %% name="mean-over-rows"
print("mean of the two means:", (1.0 + 5.0) / 2)
reveal(guess, (3 * 1.0 + 1 * 5.0) / (3 + 1))

# %% [markdown]
# In the mean of the means, the single row counts three times as much as any other.
# The accuracy of three rows:

# %% name="evaluate-example"
logits = torch.tensor([[2.0, 0.1], [0.3, 0.9], [1.0, 0.8]])
right = logits.argmax(dim=1) == torch.tensor([0, 1, 1])
print(right.tolist(), " accuracy:", right.float().mean().item())

# %% exercise="evaluate"
def evaluate(model, loader, criterion):
    """Return {"loss": float, "accuracy": float} of a classifier over all samples of a loader.

    With batch losses 1.0 (3 samples) and 5.0 (1 sample), "loss" is 2.0.

    - loader gives batches (inputs, labels), the last one perhaps smaller; model(inputs) gives
      logits (batch, k); criterion(logits, labels) is the mean loss of a batch.
    - Both results are means over samples, each sample counting once. accuracy is the share of
      rows whose largest logit is at the label.
    - The model is in eval mode meanwhile, and no graph is built.
    - Afterwards every submodule is in the mode that it was in, and parameters, buffers and
      .grad are unchanged.
    """
    ### BEGIN SOLUTION
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    loss = correct = count = 0
    with torch.no_grad():
        for inputs, labels in loader:
            logits = model(inputs)
            loss += criterion(logits, labels).item() * len(labels)
            correct += (logits.argmax(dim=1) == labels).sum().item()
            count += len(labels)
    for module, mode in modes:
        module.training = mode
    return {"loss": loss / count, "accuracy": correct / count}
    ### END SOLUTION


# %% check="evaluate" points=4
check("evaluate", evaluate)

# %% mine=true name="evaluate-used"
def plain_evaluate(model, loader, criterion):
    [(inputs, targets)] = loader  # one batch, such as our drawer
    model.eval()
    with torch.no_grad():
        logits = model(inputs)
    model.train()
    right = (logits.argmax(dim=1) == targets).float()
    return {"loss": criterion(logits, targets).item(), "accuracy": right.mean().item()}


my_evaluate = mine("evaluate", plain_evaluate)

# %% [markdown]
# With it, measure the model that has learned nothing, and the one of section 2.

# %% name="untrained"
for name, model in (("new", fresh), ("after one epoch", reader)):
    measured = my_evaluate(model, drawer, F.cross_entropy)
    print(f"{name}: {measured['accuracy']:.0%} right, loss {measured['loss']:.2f}")
print(f"log(10): {math.log(10):.2f}")

# %% claim=true
_seen = my_evaluate(fresh, drawer, F.cross_entropy)
assert abs(_seen["loss"] - math.log(10)) < 0.2 and _seen["accuracy"] < 0.4
assert measured["loss"] < _seen["loss"] - 0.3

# %% [markdown]
# The new one guesses, and its loss agrees: a model that gives each of ten answers the same chance has the loss log(10), about 2.3.
# So look at your first loss. If it is not near log(k) for k classes, find out why before the first step: the scale of the inputs, the labels, or a loss that gets the wrong thing.

# %% [markdown] name="fit-text"
# ## 5 The whole loop
#
# *{minutes} minutes*
#
# One epoch brought the model most of the way. Now take twenty, with a measurement after each.
# Write the loop once, as a function.
#
# ### Exercise: `fit`
#
# *{minutes} minutes*
#
# Its parts are the last two functions: call your own `train_step` and `evaluate`, or write their lines anew.
# To see later how the training went, keep a row of three numbers for each epoch: the mean loss of its batches (the **training loss**), the loss in the drawer (the **validation loss**), and the share of the drawer that the model reads correctly.
# (For the training loss a mean over batches will do, because only the last batch is smaller.)
# One row, from an epoch of three batches:

# %% name="fit-example"
batch_losses, measured = [2.0, 1.5, 1.0], {"loss": 1.2, "accuracy": 0.78}
print((sum(batch_losses) / 3, measured["loss"], measured["accuracy"]))

# %% exercise="fit"
def fit(model, optimizer, criterion, loader, drawer, epochs):
    """Train a classifier; return a list with a row of three floats for each epoch.

    len(fit(model, optimizer, F.cross_entropy, loader, drawer, 2)) is 2.

    loader and drawer give batches (x, y). In each epoch:

    1. In train mode, take one step for each batch of loader, by criterion(model(x), y).
    2. In eval mode, and without a graph, measure on drawer.
    3. Note the row: the mean of the batch losses; the mean loss over all samples of
       drawer; the share of them whose largest logit is at the label.
    """
    ### BEGIN SOLUTION
    history = []
    for _ in range(epochs):
        model.train()
        losses = []
        for x, y in loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        total = right = count = 0
        with torch.no_grad():
            for x, y in drawer:
                logits = model(x)
                total += criterion(logits, y).item() * len(y)
                right += (logits.argmax(dim=1) == y).sum().item()
                count += len(y)
        history.append((sum(losses) / len(losses), total / count, right / count))
    return history
    ### END SOLUTION


# %% check="fit" points=4
check("fit", fit)

# %% mine=true name="fit-used"
def plain_fit(model, optimizer, criterion, loader, drawer, epochs):
    history = []
    for _ in range(epochs):
        model.train()
        losses = [my_train_step(model, optimizer, criterion, x, y) for x, y in loader]
        measured = my_evaluate(model, drawer, criterion)
        history.append((sum(losses) / len(losses), measured["loss"], measured["accuracy"]))
    return history


my_fit = mine("fit", plain_fit)

# %% [markdown]
# Now `reader` learns from the beginning, for twenty epochs.

# %% name="whole-loop"
_ = torch.manual_seed(seed)  # as before, so the first epoch is the same
reader = MyMLP([64, 64, 10], nn.ReLU)
optimizer = torch.optim.SGD(reader.parameters(), lr=0.5)
history = my_fit(reader, optimizer, F.cross_entropy, loader, drawer, 20)
for epoch in (0, 1, 4, 19):  # the first, the second, the fifth and the last
    loss, drawer_loss, share = history[epoch]
    print(f"epoch {epoch + 1:2}: loss {loss:.2f}, drawer {drawer_loss:.2f}, {share:.0%} of it read")

# %% claim=true
assert history[0][2] > 0.45 and history[-1][2] > 0.92 and history[-1][0] < 0.12
assert history[0][1] < history[0][0] and history[-1][1] > history[-1][0]

# %% [markdown]
# Now draw the two losses; copy these lines for your own runs.

# %% name="draw-history"
import matplotlib.pyplot as plt


def draw(history):
    losses, drawer_losses, shares = zip(*history)  # rows become columns
    epochs = range(1, len(history) + 1)
    plt.plot(epochs, losses, label="training loss")
    plt.plot(epochs, drawer_losses, label="validation loss (the drawer)")
    plt.gca().set(xlabel="epoch", ylabel="loss")
    plt.locator_params(axis="x", integer=True)  # only whole epochs
    plt.legend()
    plt.show()


draw(history)

# %% [markdown]
# At first the validation loss is lower, because `fit` measures it after the 22 steps, whereas the training loss is a mean over them.
# Later it is the other way round. Chapter 4b is about the gap that opens.
#
# ### Look at the mistakes
#
# An accuracy does not say where a model is wrong, so look at the digits.

# %% name="wrong-ones"
pictures, answers = ink[unseen], labels[unseen]  # the drawer
reader.eval()
with torch.no_grad():
    says = reader(pictures).argmax(dim=1)
wrong = says != answers
print(f"it misreads {wrong.sum()} of {len(answers)}")
show_digits(pictures[wrong])

# %% [markdown]
# *Which would you have read?* Write it down, then run the next cell.

# %% name="wrong-ones-told"
show_digits(pictures[wrong], says=says[wrong], is_=answers[wrong])

# %% claim=true
assert 1 <= wrong.sum() <= 32

# %% [markdown]
# Some of them are hardly legible at 8 by 8 pixels. Others are plain, and there the model has something left to learn.

# %% [markdown] name="shuffle-text"
# ## 6 Why shuffle?
#
# *{minutes} minutes*
#
# Suppose that the digits lie in order, as files in folders often do, and that nobody shuffles them.

# %% name="not-shuffled"
in_order = known[labels[known].argsort()]  # all zeros first, then all ones
not_shuffled = DataLoader(TensorDataset(ink[in_order], labels[in_order]), batch_size=64)
misled = MyMLP([64, 64, 10], nn.ReLU)
sgd = torch.optim.SGD(misled.parameters(), lr=0.5)
_, _, share = my_fit(misled, sgd, F.cross_entropy, not_shuffled, drawer, 5)[-1]  # the last row
answers = misled(ink[unseen]).argmax(dim=1)
print(f"{share:.0%} of the drawer are right")
plt.figure(figsize=(6, 2))
plt.bar(range(10), answers.bincount(minlength=10).tolist())
plt.gca().set(xticks=range(10), xlabel="digit that it says", ylabel="how often")
plt.show()

# %% claim=true
assert share < 0.35 and (answers == 9).float().mean() > 0.15

# %% [markdown]
# It reads far fewer than before, and torch said nothing.
# In a batch of sevens, the quickest way to a low loss is to call everything a seven, so the model learns to say seven.
# Then the eights come and undo that. The nines, at the end, have the last word.

# %% [markdown] name="recap"
# ## What you can do now
#
# - write the five lines of training, and say what goes wrong without each of them
# - measure a model in eval mode, without a graph, on a drawer that it never learned from
# - train a model with one line, and tell from its two curves how it went

# %% [markdown] name="interview"
# Tomorrow, before you open chapter 4b, write the five lines on paper from memory.

# %% name="progress"
progress(4)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Where may `zero_grad` stand, and where not?
# 2. What goes wrong if you measure in train mode?
# 3. Why shuffle?
#
# <details><summary>Answers</summary>
#
# 1. First, last, or right before `backward`; never between `backward` and `step`.
# 2. Dropout goes on dropping, so the loss is too high, and differs each time. And batch norm learns from the drawer.
# 3. Otherwise each step pulls the model toward the few classes in its batch, and the last one wins.
#
# </details>

# %% [markdown]
# Next comes *Chapter 4b: When it fails*: a model that learns the wrong thing, and eight loops with one fault each.
