# %% [markdown] name="opening"
# # Chapter 5: GPU and mixed precision
#
# *What must change so that the same training runs elsewhere, and in half the bits?*
#
# Your loop of chapter 4 learns to read digits in about a second. With a million photographs it may take days, and the memory may not do.
# There are two answers: another place to compute, and half the bits for each number.
# On a card made for it, a step of a large network took a twelfth of the time in half the bits, and little more than half the memory (section 5 has the figures).
#
# Both are a few lines of code. **The page to copy is section 9.** What takes a chapter is what goes wrong with them in silence.
# You need no card, because a second device, which every laptop has, stands in for it.
#
# There are two sittings, and a part for another day.
# Together they take about {minutes} minutes of reading and running, and {exercises} for the exercises.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import copy
import math
import statistics
import time
import timeit
import warnings
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, TensorDataset
from autograder import check, hint, mine, progress, reveal, shows_error
from course.figures import ch05_gpu_amp as figures
from course.instruments import ToyDevice, milliseconds, operations, runs, saved_bytes, saved_shapes

torch.set_num_threads(1)  # for work this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown]
# Here is the end of the chapter: the same training in 32 and in 16 bits.

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="sitting-1"
# # First sitting: another place ({minutes} minutes, and {exercises} for the exercises)

# %% [markdown] name="devices"
# ## 1 Where do the numbers live? ({minutes} minutes)
#
# Nearly all a network does is multiply matrices.
# How long does this processor (the **CPU**) take for one product, of 1000 by 1000 numbers?

# %% name="one-product"
a, b = torch.randn(1000, 1000), torch.randn(1000, 1000)
here = milliseconds(lambda: a @ b)
print(f"this CPU, one thread: {here:.1f} ms")

# %% claim=true
assert 0 < here < 10_000
assert round(2 * 1000**3 / 8.1e12 * 1000, 2) == 0.25  # a T4: 8.1 trillion operations a second

# %% [markdown]
# The graphics card that Colab lends, a T4, takes a quarter of a millisecond at best, by its maker's data sheet. (Above, one thread computed, so compare the orders of magnitude and not the digits.)
#
# A graphics card, or **GPU**, is so quick because it works on thousands of numbers at the same time. But it computes only with what lies in a memory of its own, so your CPU with its memory is one **device**, a card is another, and between the two there is a wire.

# %% figure=true
figures.places()

# %% [markdown] name="moving"
# ### What moves, and what stays ({minutes} minutes)
#
# To practice you need a second device, and torch has one on every laptop: `"meta"`, from chapter 3.
# A tensor there has a shape, a dtype and a device, and no numbers at all.

# %% name="on-meta"
print(torch.ones(3))
print(torch.ones(3, device="meta"))

# %% claim=true
assert torch.ones(3, device="meta").shape == (3,) and torch.ones(3).device.type == "cpu"

# %% [markdown]
# It will do, because the mistakes that people make with a card are about *where* a tensor is.
# And there `.to(device)` brings it.
#
# *Predict.* `x` is on the CPU, and then comes `y = x.to("meta")`. Where is x now?

# %% predict=true
guess = "cpu"  # "cpu" or "meta"

# %% name="moves"
x = torch.ones(3)
y = x.to("meta")
print("y is on", y.device)
reveal(guess, x.device.type)

# %% claim=true
assert y.device.type == "meta" and y is not x
assert x.to("cpu") is x  # it is there already: nothing to do

# %% [markdown]
# `.to` leaves the first tensor where it was made, and returns one that is there (the same one, if it was there already).
# So `x.to(device)` alone on a line does nothing that lasts; write `x = x.to(device)`.
#
# *Predict.* `layer = nn.Linear(3, 2)`, then `layer.to("meta")` alone on a line. Where is `layer.weight`?

# %% predict=true
guess = "meta"  # "cpu" or "meta"

# %% name="module-moves-in-place"
layer = nn.Linear(3, 2)
layer.to("meta")
reveal(guess, layer.weight.device.type)

# %% claim=true
assert layer.to("meta") is layer and layer.weight.device.type == "meta"

# %% [markdown]
# A module moves in place, with its parameters and buffers; a tensor does not.
#
# So `layer` is on meta by now. What if it meets a batch that nobody has moved?

# %% name="mismatch"
batch = torch.ones(1, 3)  # on the CPU
with shows_error(RuntimeError, match="not on the expected device"):
    layer(batch)
print("with the batch moved too:", layer(batch.to("meta")).device)

# %% claim=true
_away = torch.ones(1, 3, device="meta")
assert not runs(lambda: batch + _away)
assert (_away * torch.tensor(2.0)).device.type == "meta"  # a single number may come from the CPU

# %% [markdown]
# Read this message as "two devices met". On CUDA it begins "Expected all tensors to be on the same device".
#
# ### Choose once ({minutes} minutes)
#
# Tensors that meet have to be in one place, and its name differs from machine to machine: torch calls NVIDIA's cards `"cuda"`, and Apple's `"mps"`.
# Choose it once, at the top of a program, and write `device` from there on. (This cell looks for CUDA alone; your own function, below, will know Apple's cards too.)

# %% name="choose-device"
if device == "auto":  # set at the top of the chapter, where you can name another
    device = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device(device)
print("this notebook works on:", torch.ones(3, device=device).device)

# %% claim=true
assert torch.ones(3, device=device).device.type == device.type
assert torch.ones(3).device.type == "cpu"  # without device=

# %% [markdown]
# Without a GPU that prints `cpu`, and with one `cuda:0`, the first card.
#
# ### Exercise: `pick_device` ({minutes} minutes)
#
# Each of your programs can begin with this function. It takes the best that there is: CUDA before Apple's cards, and those before the CPU.

# %% name="pick-device-example"
print(torch.device("cpu"))  # a device by its name
print(torch.cuda.is_available(), torch.backends.mps.is_available())

# %% exercise="pick_device"
def pick_device(prefer=None):
    """Return the torch.device to work on.

    pick_device("cpu") gives torch.device("cpu"), and pick_device("cuda:1") the second card.

    With prefer=None it is the first that is available of "cuda", "mps" and "cpu", in this
    order. torch is asked at each call: torch.cuda.is_available() and
    torch.backends.mps.is_available(). torch's own default device stays what it is.
    """
    ### BEGIN SOLUTION
    if prefer is not None:
        return torch.device(prefer)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")
    ### END SOLUTION

# %% check="pick_device" points=1
check("pick_device", pick_device)

# %% mine=true
def plain_pick(prefer=None):
    return torch.device(prefer or ("cuda" if torch.cuda.is_available() else "cpu"))


my_pick_device = mine("pick_device", plain_pick)

# %% name="pick-device-used"
print("here:", my_pick_device(), " on request:", my_pick_device("meta"))

# %% [markdown] side=true
# #### What must hold for `torch.cuda.is_available()`? ({minutes} minutes)
#
# Three things: this torch is built for CUDA, the driver works, and a card can be seen.
# To have installed CUDA is not enough.
# Without a card, asking for `"cuda"` is an error and not a quiet return to the CPU.
# So is `.cuda()`, which is short for `.to("cuda")`; and so is the second card where there is only one.

# %% name="is-available"
print("built for CUDA:", torch.backends.cuda.is_built())
print("cards seen:", torch.cuda.device_count(), "available:", torch.cuda.is_available())
if torch.cuda.is_available():
    print(torch.cuda.get_device_name(0), torch.ones(1).cuda().device)
else:
    for ask in (torch.ones(1).cuda, lambda: torch.cuda.get_device_name(0)):
        with shows_error(Exception):  # which one depends on the build of torch
            ask()
    with shows_error(Exception):
        torch.ones(1, device="cuda:1")  # the second card

# %% claim=true
assert torch.cuda.device_count() > 0 or not torch.cuda.is_available()

# %% [markdown] side=true
# #### What is `torch.accelerator` for? ({minutes} minutes)
#
# `torch.cuda` belongs to one maker's cards, and for years code for any card was a chain of ifs.
# Newer versions of torch have `torch.accelerator`, which speaks to whatever card this torch was built for: CUDA, Apple's MPS, Intel's XPU and others.
# `current_accelerator()` names it, `synchronize()` waits for it, `device_count()` counts.
# A torch built for CUDA may sit on a machine without a card, so ask `is_available()` first.

# %% name="accelerator"
if hasattr(torch, "accelerator"):
    there = torch.accelerator.is_available()
    best = torch.accelerator.current_accelerator() if there else torch.device("cpu")
    print("an accelerator is here:", there, " so take:", best)
else:
    print("this torch is older; ask torch.cuda and torch.backends.mps")

# %% [markdown] name="agnostic"
# ## 2 The same training, anywhere ({minutes} minutes)
#
# How much of your loop of chapter 4 must be written anew for a card?
# The digits and their loader stay on the CPU, as larger data have to.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
order = torch.randperm(1797)
known, unseen = order[:1400], order[1400:]  # rows to learn from, rows for the drawer
loader = DataLoader(TensorDataset(ink[known], labels[known]), batch_size=64, shuffle=True)
print(len(loader), "batches, and the first is on", next(iter(loader))[0].device)

# %% claim=true
assert len(loader) == 22

# %% mine=true
def plain_mlp(sizes, activation):
    a, b, c = sizes
    return nn.Sequential(nn.Linear(a, b), activation(), nn.Linear(b, c))


def plain_step(model, optimizer, criterion, x, y):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


MyMLP = mine("MLP", plain_mlp)
my_train_step = mine("train_step", plain_step)

# %% [markdown]
# And here is the loop of chapter 4, as a function: with a wider model, a seed so that each call begins alike, and the `step` handed in, because this chapter tries several.
# Only the two lines marked `new` are for the device.

# %% name="same-training"
def train_digits(device, step, epochs=20, lr=0.5):
    """Learn to read; return the model, and the mean loss of each epoch."""
    torch.manual_seed(seed)
    model = MyMLP([64, 256, 10], nn.ReLU).to(device)  # new: the model moves, once
    optimizer = torch.optim.SGD(model.parameters(), lr)
    history = []
    for epoch in range(epochs):
        losses = []
        for x, y in loader:
            x, y = x.to(device), y.to(device)  # new: each batch moves
            losses.append(step(model, optimizer, F.cross_entropy, x, y))
        history.append(sum(losses) / len(losses))
    return model, history

# %% [markdown]
# Mind the order: **build the model, move it, build the optimizer.**
# An optimizer goes on changing the very parameters that it was given, and a move may put others in their place (on meta it does, on CUDA not). Where the optimizer comes last, it holds the right ones anywhere.

# %% name="train-on-device"
reader, history = train_digits(device, my_train_step)
print(f"on {device}: loss {history[0]:.2f}, then {history[-1]:.3f}")

# %% claim=true
assert history[-1] < 0.1 and next(reader.parameters()).device.type == device.type

# %% [markdown]
# Not one line of your `train_step` knows where it runs.
#
# Is it faster on a card? On an H200, an epoch of such a training took 23 ms, and on one thread of the processor beside it 12.
# So small a network is handed over in hundreds of tiny pieces of work, and to hand one over takes longer than to compute it.
# With three layers of 4,096 units it was 36 ms on the card, and 4,700 on the processor. A card is for large products.
#
# How well does it read? Its answers come out where the model is, and the labels are on the CPU.
# So the answers come back, by `.cpu()`, which is short for `.to("cpu")`; so does whatever you want to draw, or to hand to NumPy.

# %% name="share-right"
def share_right(model):
    """The share of the unseen digits that a model reads correctly."""
    with torch.no_grad():
        says = model(ink[unseen].to(device)).argmax(dim=1)
    right = says.cpu() == labels[unseen]
    return right.float().mean().item()


print(f"{share_right(reader):.0%} of the unseen digits are right")

# %% claim=true
assert share_right(reader) > 0.92
with torch.no_grad():
    _says = reader(ink[unseen].to(device)).argmax(dim=1)
assert _says.device.type == device.type and _says.cpu().device.type == "cpu"

# %% [markdown]
# ### A rehearsal ({minutes} minutes)
#
# You rent a card by the hour. Will your program run on it? Meta is as strict as a card about where things are, so rehearse there.
#
# *Predict.* Does this training run to its end on meta?

# %% predict=true
guess = False  # True or False

# %% name="train-on-meta"
reveal(guess, runs(lambda: train_digits("meta", my_train_step, epochs=1)))

# %% claim=true
assert not runs(lambda: train_digits("meta", my_train_step, epochs=1))

# %% [markdown]
# Forward, backward and update need only shapes, so they ran. It stopped at the last line of the step, `return loss.item()`: that asks the device for a number, and meta has none.
#
# ### Exercise: `train_step_on` ({minutes} minutes)
#
# New here: the step asks for no number, and gives the loss back as a tensor, `loss.detach()`. And it moves its batch itself, so that no caller can forget it.

# %% name="step-on-example"
w = torch.tensor(2.0, requires_grad=True)
loss = (w * 1.0 - 5.0) ** 2  # input 1, target 5: the prediction is 2
loss.backward()
print(loss.item(), "is a number of Python's;", loss.detach(), "is still on its device")

# %% exercise="train_step_on"
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    """Do one step of training on device, and return the loss from before the step.

    For nn.Linear(1, 1) with weight 2 and bias 0, SGD with lr=0.1, nn.MSELoss(),
    x_batch = [[1.0]] and y_batch = [[5.0]] the result is tensor(9.), the new weight 2.6.

    - The model is on device already; the batch may be anywhere, and is moved.
    - Old gradients are cleared.
    - model, criterion(prediction, y), backward and the optimizer each run once.
    - The loss comes back as a scalar tensor on device, without a graph. Nothing asks for
      its value, so the step runs on the meta device too.
    """
    ### BEGIN SOLUTION
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()
    ### END SOLUTION

# %% check="train_step_on" points=3
check("train_step_on", train_step_on)

# %% mine=true
def plain_step_on(device, model, optimizer, criterion, x, y):
    loss = criterion(model(x.to(device)), y.to(device))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()


my_train_step_on = mine("train_step_on", plain_step_on)

# %% [markdown]
# Once more the rehearsal, with your step.

# %% name="step-on-used"
far_model = MyMLP([64, 256, 10], nn.ReLU).to("meta")
optimizer = torch.optim.SGD(far_model.parameters(), lr=0.5)
for x, y in loader:
    loss = my_train_step_on("meta", far_model, optimizer, F.cross_entropy, x, y)
print(loss)

# %% claim=true
assert loss.device.type == "meta" and loss.shape == ()
_, _there = train_digits(device, lambda *given: my_train_step_on(device, *given))
assert _there[-1].device.type == device.type and abs(_there[-1].item() - history[-1]) < 0.02

# %% [markdown]
# That is a loss without a number, and it means success: a whole epoch has run, so every shape, device and dtype in it fits. (Values it cannot check, such as a label of 10.)

# %% [markdown] side=true
# #### And if the optimizer is built too early? ({minutes} minutes)
#
# Suppose you have a trained reader and give it a new last layer, for other classes.
#
# *Predict.* The optimizer was built before the new layer came. After a step, has the new layer's weight changed?

# %% predict=true
guess = False  # True or False

# %% name="optimizer-too-early"
body, head = nn.Linear(64, 32), nn.Linear(32, 10)
optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.5)
head = nn.Linear(32, 5)  # a new one
before = head.weight.detach().clone()
F.cross_entropy(head(torch.relu(body(ink[:64]))), labels[:64] % 5).backward()
optimizer.step()
reveal(guess, not torch.equal(head.weight, before))

# %% claim=true
assert head.weight.grad.abs().max() > 0
_layer = nn.Linear(3, 2)
_early = torch.optim.SGD(_layer.parameters(), lr=0.1)
_layer.to("meta")
_late = torch.optim.SGD(_layer.parameters(), lr=0.1)
assert _early.param_groups[0]["params"][0] is not _layer.weight
assert _late.param_groups[0]["params"][0] is _layer.weight

# %% [markdown]
# It has a gradient, and nobody uses it, because the optimizer still holds the parameters of the old layer.
# A move may replace parameters too (to `"meta"` it does, to CUDA not), which is why the order is worth a habit.

# %% [markdown] side=true
# #### What does the smallest training on a device look like? ({minutes} minutes)
#
# A line, y = 2 x + 1, with `.to(device)` for model and batch, and nothing else that is new.

# %% name="same-loop"
def fit_line(device, steps=250):
    """Learn y = 2 * x + 1 on a device; return the loss, the slope and the offset."""
    x = torch.linspace(-1, 1, 64).unsqueeze(1).to(device)
    y = 2 * x + 1
    model = nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(steps):
        loss = plain_step_on(device, model, optimizer, F.mse_loss, x, y)
    return loss.item(), model.weight.item(), model.bias.item()


loss, slope, offset = fit_line(device)
print(device, slope, offset)

# %% claim=true
assert loss < 1e-6 and abs(slope - 2) < 1e-3 and abs(offset - 1) < 1e-3

# %% [markdown] name="waiting"
# ## 3 What makes a device wait ({minutes} minutes)
#
# A fast card often idles, because the loop makes it wait.
# The card works *beside* the program, which runs on the CPU, the **host**.
# At `a @ b` the host only puts a piece of work into the device's queue, and goes on at once, before the product exists: it works **asynchronously**.
#
# Here is a toy device with an invented clock, so that you can count without a card. Handing over one piece of work takes the host 1 ms.
#
# *Predict.* The host hands over three pieces of work, of 3 ms each for the device, and does not wait. What does the host's clock say then?

# %% predict=true
guess = 3  # milliseconds

# %% name="no-wait"
toy = ToyDevice()
for _ in range(3):
    toy.launch(3)  # into the queue: work of 3 ms
handed_over = toy.host
toy.wait()  # until the queue is empty
print("all done at:", toy.host, "ms")
reveal(guess, handed_over)

# %% claim=true
assert toy.host == 10  # 1 for the first launch, then 3 * 3

# %% [markdown]
# After 3 ms the host is free, to prepare the next batch for example; after 10 ms the work is done.
#
# But some things need a number on the host: `loss.item()`, `.cpu()`, `print(loss)`, `if loss > 3`.
# There the host waits until the queue is empty, a **synchronization**, and afterwards the device has nothing to do, and waits for the host.
#
# *Predict.* Four steps, each of three pieces of work of 1 ms. With one look at the end, all is done after 13 ms. When is it done with a look after each step?

# %% predict=true
guess = 16  # milliseconds

# %% name="item-each-step"
toy = ToyDevice()
for _ in range(4):
    for _ in range(3):
        toy.launch(1)
    toy.wait()  # the look
reveal(guess, toy.host)

# %% claim=true
_free = ToyDevice()
for _ in range(12):
    _free.launch(1)
_free.wait()
assert (_free.host, toy.host) == (13, 16)

# %% figure=true
figures.timelines(steps=4, launches=3)

# %% [markdown]
# In the gaps of the second picture your card does nothing. On the H200, steps of three large products (8 ms), whose host had 8 ms of work of its own, took 8 ms without a look and 16 with one.
# So add up `loss.detach()` on the device, and look once in a hundred steps.

# %% [markdown] side=true
# #### Which words make a device wait? ({minutes} minutes)
#
# The meta device tells, because it refuses whatever needs a number.

# %% name="needs-a-number"
def needs_a_number(look):
    try:
        look(torch.ones(3, device="meta"))
        return False
    except RuntimeError:
        return True

# %% [markdown]
# *Predict.* How many of the six below need a number?

# %% predict=true
guess = 3  # a whole number

# %% name="what-waits"
looks = {
    "x.sum()": lambda x: x.sum(),
    "if x.sum() > 0": lambda x: bool(x.sum() > 0),
    "torch.where(x > 0, x, 0)": lambda x: torch.where(x > 0, x, 0.0),
    "x.cpu()": lambda x: x.cpu(),
    "x.shape[0] > 2": lambda x: x.shape[0] > 2,
    "x.nonzero()": lambda x: x.nonzero(),
}
waiting = [words for words, look in looks.items() if needs_a_number(look)]
print(waiting)
reveal(guess, len(waiting))

# %% claim=true
assert waiting == ["if x.sum() > 0", "x.cpu()", "x.nonzero()"]
assert needs_a_number(lambda x: x.tolist()) and needs_a_number(lambda x: x.sum().item())

# %% [markdown]
# Shapes and dtypes are known on the host, so asking for them waits for nothing.
# An `if` has to know; so does `x.cpu()`; and `nonzero` waits because the *shape* of its result depends on the numbers.

# %% [markdown] side=true
# #### Does the way to the card wait too? ({minutes} minutes)
#
# `x.to("cuda")` waits until the copy is done.
# **Pinned** memory is kept in one place by the system, so that the card can fetch it by itself.
# From there `x.to(device, non_blocking=True)` goes on at once; a DataLoader gives such batches with `pin_memory=True`.
# On the CPU the word changes nothing.
# The way back with `non_blocking=True` is a trap, because the host may read numbers that have not arrived.

# %% name="non-blocking"
batch = torch.randn(1000, 1000)
if device.type == "cuda":
    batch = batch.pin_memory()
    print("pinned:", batch.is_pinned())
else:
    print("no CUDA here: a GPU would fetch this batch while the host goes on")
there = batch.to(device, non_blocking=True)
print("arrived whole:", torch.equal(there.cpu(), batch))  # the way back waits

# %% claim=true
assert torch.equal(there.cpu(), batch)

# %% [markdown] name="bug-hunt"
# ### Exercise: `make_agnostic` ({minutes} minutes)
#
# Next comes a hunt. Take a break first.
# These five pieces of a program run on somebody's laptop, and each of them is wrong on another device. The first is of the kind below.
# Four stop: run them on meta and read where. `start` runs, and its new layer does not learn. And `epoch` also waits in each step.

# %% name="hunt-example"
class Shift(nn.Module):
    """Add a vector that was made in forward, and so on the CPU."""

    def forward(self, x):
        return x + torch.ones(x.shape[-1])


with shows_error(RuntimeError, match="not on the expected device"):
    Shift()(torch.ones(2, 4, device="meta"))  # remedy: torch.ones(..., device=x.device)

# %% exercise="make_agnostic"
### BEGIN STARTER
# class AddPlaces(nn.Module):
#     """Add to row i of each sequence i times a learned vector: (batch, length, width)."""
#
#     def __init__(self, width):
#         super().__init__()
#         self.slope = nn.Parameter(torch.ones(width))
#
#     def forward(self, x):
#         places = torch.arange(x.shape[1])
#         return x + places[:, None] * self.slope
#
#
# class KeepColumns(nn.Module):
#     """Keep the given columns of x (..., width), put 0 in the others; nothing is learned."""
#
#     def __init__(self, width, columns):
#         super().__init__()
#         self.mask = torch.zeros(width)
#         self.mask[columns] = 1.0
#
#     def forward(self, x):
#         return x * self.mask
#
#
# class Stack(nn.Module):
#     """Linear layers of the given sizes, one after another."""
#
#     def __init__(self, sizes):
#         super().__init__()
#         self.layers = [nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]
#
#     def forward(self, x):
#         for layer in self.layers:
#             x = layer(x)
#         return x
#
#
# def start(model, classes, device):
#     """Give model a new last layer for `classes` classes, move it, return its optimizer."""
#     optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
#     model.head = nn.Linear(model.head.in_features, classes)
#     model.to(device)
#     return optimizer
#
#
# def epoch(model, optimizer, batches, device):
#     """Train on each batch once; return the mean of the losses."""
#     total = 0.0
#     for x, y in batches:
#         optimizer.zero_grad()
#         loss = F.cross_entropy(model(x.to(device)), y)
#         loss.backward()
#         optimizer.step()
#         total += loss.item()
#     return total / len(batches)
#
#
# def make_agnostic():
#     """Return the five, fixed: a dict of names (leave this function as it is).
#
#     The modules go to any device by .to, alone or in a larger one: all tensors, masks too.
#     forward makes what it needs on the device of x. start returns an SGD optimizer that
#     holds exactly the parameters of the model as it then is. epoch moves its batches, and
#     returns the mean loss as a scalar tensor on device, of the losses' dtype, without a
#     graph; no step waits for a value. On the CPU each computes the numbers that it computes
#     now. Learned are the slope of AddPlaces and the layers of Stack; the mask of
#     KeepColumns is not.
#     """
#     modules = {"places": AddPlaces, "keep": KeepColumns, "stack": Stack}
#     return {**modules, "start": start, "epoch": epoch}
### END STARTER
class AddPlaces(nn.Module):
    """Add to row i of each sequence i times a learned vector: (batch, length, width)."""

    ### BEGIN SOLUTION
    def __init__(self, width):
        super().__init__()
        self.slope = nn.Parameter(torch.ones(width))

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        return x + places[:, None] * self.slope


class KeepColumns(nn.Module):
    """Keep the given columns of x (..., width), put 0 in the others; nothing is learned."""

    def __init__(self, width, columns):
        super().__init__()
        mask = torch.zeros(width)
        mask[columns] = 1.0
        self.register_buffer("mask", mask)

    def forward(self, x):
        return x * self.mask


class Stack(nn.Module):
    """Linear layers of the given sizes, one after another."""

    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def start(model, classes, device):
    """Give model a new last layer for `classes` classes, move it, return its optimizer."""
    model.head = nn.Linear(model.head.in_features, classes)
    model.to(device)
    return torch.optim.SGD(model.parameters(), lr=0.1)


def epoch(model, optimizer, batches, device):
    """Train on each batch once; return the mean of the losses."""
    total = torch.zeros((), device=device)
    for x, y in batches:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x.to(device)), y.to(device))
        loss.backward()
        optimizer.step()
        total += loss.detach()
    return total / len(batches)


def make_agnostic():
    """Return the five, fixed: a dict of names (leave this function as it is).

    The modules go to any device by .to, alone or in a larger one: all tensors, masks too.
    forward makes what it needs on the device of x. start returns an SGD optimizer that
    holds exactly the parameters of the model as it then is. epoch moves its batches, and
    returns the mean loss as a scalar tensor on device, of the losses' dtype, without a
    graph; no step waits for a value. On the CPU each computes the numbers that it computes
    now. Learned are the slope of AddPlaces and the layers of Stack; the mask of
    KeepColumns is not.
    """
    modules = {"places": AddPlaces, "keep": KeepColumns, "stack": Stack}
    return {**modules, "start": start, "epoch": epoch}
    ### END SOLUTION

# %% check="make_agnostic" points=4
check("make_agnostic", make_agnostic)

# %% [markdown] name="sitting-2"
# # Second sitting: half the bits ({minutes} minutes, and {exercises} for the exercises)

# %% [markdown] name="memory"
# ## 4 Where memory and time go ({minutes} minutes)
#
# "CUDA out of memory": whoever trains on a card meets this sentence sooner or later. It says that the card is full, but not what it is full of.
#
# First there are the **parameters**, and their **gradients**, as many numbers again. Then there is the **state of the optimizer**, what it remembers of earlier steps: plain SGD nothing, momentum one number for each weight, Adam two. And last there are the **activations**, which the forward pass saves because backward will need them.
#
# *Predict.* 1000 weights in float32 are trained with Adam. How many bytes is that, without the activations?

# %% predict=true
guess = 16_000  # bytes

# %% name="four-parts"
layer = nn.Linear(1000, 1, bias=False)
adam = torch.optim.Adam(layer.parameters())
layer(torch.ones(1, 1000)).sum().backward()
adam.step()
state = adam.state[layer.weight]  # what Adam remembers of this weight: two averages
parts = [layer.weight, layer.weight.grad, state["exp_avg"], state["exp_avg_sq"]]
print([part.nbytes for part in parts])
reveal(guess, sum(part.nbytes for part in parts))

# %% claim=true
assert state["exp_avg"].shape == state["exp_avg_sq"].shape == layer.weight.shape

# %% [markdown]
# For each weight 4 numbers of 4 bytes, and so it stays, however large the batch is. Only the activations grow with it, since each row leaves its own behind.
# Here is a network with 300,000 weights and four sizes of batch. Look at the left half first.

# %% figure=true
figures.memory((64, 512, 512, 10), batches=(16, 256, 1024, 4096))

# %% claim=true
_small, _large = (figures.step_times((64, 512, 512, 10), _batch) for _batch in (16, 4096))
assert _small[2] / sum(_small) > 2 * _large[2] / sum(_large)  # the update's share

# %% [markdown]
# It is the batch that fills the card. So the first cure is a smaller batch, and the right half shows what that costs: an update is the same work for 16 rows as for 4096, so the fewer rows share it, the longer each row takes. (Accumulation, from chapter 2, spares most updates.)
#
# It would be better to keep the batch, and to need less for each activation. That is what this sitting is about: half the bits.

# %% [markdown] name="formats"
# ## 5 Three things go wrong in sixteen bits ({minutes} minutes)
#
# With 16 bits for a number in place of 32, an activation takes half the bytes, so nearly twice the batch fits.
# And many cards have circuits of their own for products in 16 bits. This is what one step of training took on the H200, with 16 bits wherever they do no harm, and the most memory that it held:
#
# | | float32 | bfloat16 | float16 |
# |---|---|---|---|
# | the reader of section 2, 64 digits | 0.7 ms | 1.0 ms | 1.2 ms |
# | four layers of 4,096 units, 32,768 rows | 197 ms, 3.4 GB | 16 ms, 1.9 GB | 16 ms, 1.9 GB |
# | five convolutions, 256 pictures of 128 by 128 | 36 ms, 5.7 GB | 24 ms, 3.2 GB | 25 ms, 3.2 GB |
#
# The small reader gains nothing, and the second network is 12 times as fast. (With the factors of its float32 products rounded, as section 11 says, it would be twice. In convolutions torch has them rounded unless you forbid it, so the third network is 1.5 times as fast.)
#
# So why not turn all numbers into 16 bits, and be done? It takes one line. Train the reader of section 2 with small, careful steps, once in float32 and once with everything in bfloat16, which is one of the two formats of 16 bits in chapter 1.

# %% name="all-in-sixteen"
def sixteen_step(model, optimizer, criterion, x, y):
    model.bfloat16()  # all its weights to 16 bits, in place
    return my_train_step(model, optimizer, criterion, x.bfloat16(), y)


careful, full = train_digits(device, my_train_step, lr=0.02)
_, rough = train_digits(device, sixteen_step, lr=0.02)
print(f"epoch 10: loss {full[9]:.2f} in float32, {rough[9]:.2f} in bfloat16")
print(f"epoch 20: loss {full[19]:.2f} in float32, {rough[19]:.2f} in bfloat16")

# %% claim=true
assert rough[19] - full[19] > rough[9] - full[9] + 0.05 > 0.1 and rough[19] < rough[9]

# %% [markdown]
# It learns, but it falls further and further behind, and no error says why.

# %% [markdown] name="three-things"
# ### The three faults ({minutes} minutes)
#
# Sixteen bits leave too little room in three ways. Here is one line for each, in float16, the other format.
#
# *Predict.* What does the first one print, for 300 * 300?

# %% predict=true
guess = math.inf  # a number

# %% name="overflow"
large, small, one = torch.tensor([300.0, 1e-8, 1.0]).half()  # .half() turns to float16
print("1  300 * 300:  ", large * large)
print("2  1 + 0.0002: ", one + 0.0002)
print("3  1e-8 alone: ", small)
reveal(guess, (large * large).item())

# %% claim=true
assert large * large == math.inf and small == 0 and one + 0.0002 == 1 == one - 0.0002
assert torch.tensor(300.0, dtype=torch.bfloat16) ** 2 == 90112  # 90000, to the nearest
_f32, _bf16, _f16 = (torch.finfo(_kind) for _kind in (torch.float32, torch.bfloat16, torch.float16))
assert _f16.max == 65504 and _f32.max > 3e38 and _bf16.max > 3e38 and _bf16.tiny == _f32.tiny
assert [f"{2.0**-_n:.0e}" for _n in (149, 133, 24)] == ["1e-45", "9e-41", "6e-08"]
for _kind, _n in ((torch.float32, 149), (torch.bfloat16, 133), (torch.float16, 24)):
    _least = torch.tensor(2.0**-_n, dtype=torch.float64)
    assert _least.to(_kind) == _least and (_least / 4).to(_kind) == 0
assert [round(1 + _kind.eps, 3) for _kind in (_bf16, _f16)] == [1.008, 1.001]
assert round(1 + _f32.eps, 7) == 1.0000001
assert torch.tensor(1e-8).bfloat16() != 0
assert torch.tensor(3.1e-8).half() > 0 and torch.tensor(2.9e-8).half() == 0
assert torch.tensor(1.0).bfloat16() + 0.001 == 1

# %% [markdown]
# 1. **Too large.** The largest number of float16 is 65,504. So 90,000 becomes `inf`, infinity, and a large loss may too.
# 2. **Lost beside the large.** After 1 the next number is 1.001. So a step of 0.0002 leaves a weight of 1 where it was.
# 3. **Too small.** The smallest number above 0 is 6e-8. What is less than half of that becomes 0, and gradients are often so small.
#
# The second is the easiest to overlook, because each of the two numbers is fine by itself. It strikes where a step is added to a weight, and where many numbers are added up.
#
# *Predict.* You count to 3000 in float16, one by one. Where do you end?

# %% predict=true
guess = 2048  # a number

# %% name="count-in-half"
total = torch.tensor(0.0, dtype=torch.float16)
for _ in range(3000):
    total += 1
reveal(guess, total.item())

# %% claim=true
assert total == 2048 and total + 2 == 2050
_total = torch.tensor(256.0, dtype=torch.bfloat16)
assert _total + 1 == 256  # as in chapter 1

# %% [markdown]
# The larger a number, the further away is the next one. After 2048 comes 2050, so 2049 is rounded back to 2048, again and again.
#
# Bfloat16 spends its bits in another way, as in chapter 1: it has the range of float32, and still fewer digits. A ✗ marks where trainings go wrong:
#
# | | largest number | next after 1 | smallest above 0 |
# |---|---|---|---|
# | float32 | 3e38 | 1.0000001 | 1e-45 |
# | bfloat16 | 3e38 | 1.008 ✗ | 9e-41 |
# | float16 | 65,504 ✗ | 1.001 ✗ | 6e-8 ✗ |

# %% [markdown] name="three-remedies"
# ### The three remedies ({minutes} minutes)
#
# A training step meets each of the three in another place, and against each there is a remedy:
#
# 1. In the forward pass numbers get too large, or too coarse to add up. So products are done in 16 bits, but losses in 32: **autocast**, section 6.
# 2. In the update small steps are lost. So the weights themselves stay in float32: section 7. With bfloat16 these two are all.
# 3. In the backward pass gradients get too small. So the loss is made larger before it, and the gradients smaller after it: **loss scaling**, section 8, for float16 alone.
#
# Together they are called **mixed precision**, or AMP, automatic mixed precision, since torch does most of it for you. This is one step of it, with the numbers of the list:

# %% figure=true
figures.scaled_cycle()

# %% [markdown] name="autocast"
# ## 6 Products in 16 bits, losses in 32: autocast (both formats, {minutes} minutes)
#
# Most of the time and memory of a training goes to matrix products, and these bear 16 bits well, because inside a product the long sum is kept in 32.
# A loss does not bear them. So the bits should be chosen for each operation, and not for the model as a whole, as above.
# `torch.autocast` makes a block in which torch does that for you. Here is 300 * 300 again, as a squared error:

# %% name="squared-error"
off, zero = torch.tensor(300.0).half(), torch.tensor(0.0).half()
print("as it stands:  ", F.mse_loss(off, zero))
with torch.autocast("cpu", dtype=torch.float16):
    print("under autocast:", F.mse_loss(off, zero))

# %% claim=true
with torch.autocast("cpu", dtype=torch.float16):
    assert F.mse_loss(off, zero) == 90_000
assert F.mse_loss(off, zero) == math.inf

# %% [markdown]
# Now take the five lines of a step, and put the forward pass, with the loss at its end, into such a block.

# %% name="autocast-step"
def low_step(model, optimizer, criterion, x, y):
    optimizer.zero_grad()
    with torch.autocast(device.type, dtype=torch.bfloat16):  # the new line
        loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


low_reader, _ = train_digits(device, low_step)
print(f"{share_right(low_reader):.0%} of the unseen digits are right")

# %% claim=true
assert share_right(low_reader) > 0.93

# %% [markdown]
# It reads as well as the model of section 2. And what has it saved? Run all 1,400 digits through the reader, and look at what is kept for the backward pass, and at the clock.
# (`without` leaves out the weights, which are there anyway.)

# %% name="autocast-saves"
batch = ink[known].to(device)


def forward(low, net=reader, rows=1400):
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=low):
        return net(batch[:rows])


for low in (False, True):
    kept = saved_bytes(lambda: forward(low), without=reader.parameters()) // 1024
    took = milliseconds(lambda: forward(low).sum().item())  # .item() waits
    print(f"{'mixed  ' if low else 'float32'} {kept:5} KiB {took:6.2f} ms")

# %% claim=true
def _kept(net, rows):
    def run(low):
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=low):
            return net(batch[:rows])

    return [saved_bytes(lambda: run(_low), without=net.parameters()) for _low in (False, True)]


assert _kept(reader, 1400) == [1400 * 320 * 4, 1400 * 320 * 2 + 2560 * 2]  # the copy of a weight

# %% [markdown]
# Half the bytes, as promised. (Weights, gradients and Adam's state stay as large as they were.) The time is that of your machine: where it has no circuits for 16 bits, the copies may cost more than the products save.
#
# And what did the one line do? Look into the block.
#
# *Predict.* Inside it, `layer(x)` comes out as bfloat16. What is the dtype of `layer.weight` there?

# %% predict=true
guess = torch.float32  # a dtype

# %% name="autocast-per-op"
layer, x, target = nn.Linear(4, 4), torch.randn(3, 4), torch.randn(3, 4)
with torch.autocast("cpu"):  # on the CPU that is bfloat16, unless you name another
    h = layer(x)
    loss = F.mse_loss(h, target)
    print("layer(x):", h.dtype, " the loss:", loss.dtype)
    reveal(guess, layer.weight.dtype)

# %% claim=true
loss.backward()
assert h.dtype == torch.bfloat16 and loss.dtype == torch.float32
assert layer.weight.dtype == layer.weight.grad.dtype == torch.float32
_factor = torch.tensor(0.5)
assert (h + x).dtype == (h * _factor[None]).dtype == torch.float32
assert (h * _factor).dtype == torch.bfloat16 and (h.half() * _factor).dtype == torch.float16

# %% [markdown]
# The weight stays as it is, and `Linear` makes a copy of it in 16 bits. So which bits an operation has is settled anew for each:
#
# | operation | for example | what comes out |
# |---|---|---|
# | a product | `Linear`, `@`, a convolution | 16 bits |
# | a loss | `mse_loss`, `cross_entropy` | float32 |
# | most others | `relu`, and on the CPU `softmax` | what came in |
# | 16 bits and float32 together | `h + x` | the wider one, float32 |
#
# On the way back each gradient has the dtype of what it belongs to: 16 bits for that of `h`, float32 for that of the weight.

# %% figure=true
figures.dtype_flow()

# %% [markdown]
# One thing is left to you, and that is the border. What comes out of the block is still 16 bits, and outside of it nobody converts.

# %% name="border-mistakes"
with shows_error(RuntimeError, match="same dtype"):
    layer(h)  # after the block
print("fixed:", layer(h.float()).dtype)

# %% claim=true
assert not runs(lambda: layer(h)) and layer(h.float()).dtype == torch.float32

# %% [markdown]
# The error names the line that stopped, and not the one where the 16 bits came from. You find that one if you can say of each line what comes out of it; the first exercise of "For another day" practices it.

# %% [markdown] side=true
# #### Does it always save half the memory? ({minutes} minutes)
#
# No. The copies of the weights in 16 bits are kept for the backward pass too, whatever the batch is. So take a wider network, and two sizes of batch.

# %% name="copies-are-kept"
wide = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512)).to(device)
for rows in (1400, 256):
    for low in (False, True):
        saved = saved_bytes(lambda: forward(low, wide, rows), without=wide.parameters())
        print(f"{rows:4} digits, {'mixed  ' if low else 'float32'} {saved // 1024:4} KiB")

# %% claim=true
assert _kept(wide, 1400) == [1400 * 576 * 4, 1400 * 576 * 2 + 512 * 512 * 2]
assert _kept(wide, 256)[0] < _kept(wide, 256)[1]  # of a small batch the copy is the larger part

# %% [markdown]
# The copy of the last weight alone is 512 KiB. With few digits that is more than their activations save, so mixed precision pays for large batches.

# %% [markdown] side=true
# #### Does a sum inside a product stand still too? ({minutes} minutes)
#
# *Predict.* A row of 3000 ones times a column of 3000 ones, in float16. What is it?

# %% predict=true
guess = 3000  # a number

# %% name="sum-in-a-product"
row = torch.ones(1, 3000, dtype=torch.float16)
reveal(guess, (row @ row.T).item())

# %% claim=true
assert (row @ row.T).item() == 3000
_row = torch.ones(1, 1000, dtype=torch.bfloat16)
assert (_row @ _row.T).item() == 1000

# %% [markdown]
# It is right, because this sum is kept in 32 bits to its end, whereas the count was rounded after each of its 3000 steps.

# %% [markdown] side=true
# #### Is the list of operations the same on every device? ({minutes} minutes)
#
# No. For CUDA the dtype is float16 unless you name another, and softmax, sums and powers are among the fragile ones; on the CPU it is bfloat16, and softmax takes what comes. Ask your own device.

# %% name="ask-the-device"
tests = {
    "x @ x.T": lambda h, x: x @ x.T,
    "relu(h)": lambda h, x: torch.relu(h),
    "relu(x)": lambda h, x: torch.relu(x),
    "softmax(h)": lambda h, x: torch.softmax(h, dim=1),
    "l1_loss(h, x)": lambda h, x: F.l1_loss(h, x),
}
there_x, there_layer = torch.randn(3, 4, device=device), nn.Linear(4, 4).to(device)
with torch.autocast(device.type):
    there_h = there_layer(there_x)
    dtypes = {words: action(there_h, there_x).dtype for words, action in tests.items()}
for words, dtype in dtypes.items():
    print(words, dtype)

# %% claim=true
assert dtypes["x @ x.T"] == dtypes["relu(h)"] == there_h.dtype != torch.float32
assert dtypes["relu(x)"] == dtypes["l1_loss(h, x)"] == torch.float32

# %% [markdown] name="master"
# ## 7 Lost beside the large: weights in float32 (both formats, {minutes} minutes)
#
# In section 5 the training all in bfloat16 fell behind, although that format has the range of float32. So numbers that are too large or too small are hardly to blame. Suspect the second fault, and look.
# Take the reader that learned carefully in float32, compute one more step for its first layer, and count the weights that it moves.

# %% name="one-more-step"
weight = next(careful.parameters())  # of the first layer
x, y = ink[known[:64]].to(device), labels[known[:64]].to(device)
gradient = torch.autograd.grad(F.cross_entropy(careful(x), y), weight)[0]
weight, gradient = weight[gradient != 0], gradient[gradient != 0]  # those that should move
for dtype in (torch.float32, torch.bfloat16):
    before = weight.to(dtype)
    moved = before - 0.02 * gradient.to(dtype) != before
    print(f"{dtype}: {moved.float().mean():.0%} of the weights move")

# %% claim=true
def _share_moved(dtype):
    _stays = weight.to(dtype) - 0.02 * gradient.to(dtype) == weight.to(dtype)
    return 1 - _stays.float().mean().item()


assert _share_moved(torch.float32) > 0.9 and _share_moved(torch.bfloat16) < 0.15
assert _share_moved(torch.bfloat16) < _share_moved(torch.float16) < _share_moved(torch.float32)
assert (0.02 * gradient).abs().median() < 1e-4
_tenth = torch.tensor(0.1).bfloat16()
_next = (_tenth.view(torch.int16) + 1).view(torch.bfloat16)
assert (_next - _tenth).item() == 2.0**-11 and round(2.0**-11, 4) == 0.0005

# %% [markdown]
# In float32 they all move, or nearly. In bfloat16 nine in ten are rounded back to where they were: near 0.1, two neighboring numbers are 0.0005 apart, and a careful step is much smaller than that.
#
# You have the remedy already, because autocast leaves the weights in float32. They are called the **master copy**, and you lose it the moment you write `model.bfloat16()` or `model.half()`.
#
# So give the careful training of section 5 to the step of section 6, which has the master copy.

# %% name="with-master-copy"
_, mixed = train_digits(device, low_step, lr=0.02)
print(f"loss at the end: {full[-1]:.2f} in float32, {mixed[-1]:.2f} in mixed precision")

# %% claim=true
assert abs(mixed[-1] - full[-1]) < 0.02

# %% [markdown]
# Now it keeps up. With bfloat16 that is the whole of mixed precision: one line in the step, and a line that nobody writes.

# %% [markdown] name="scaling"
# ## 8 Too small: scale the loss (float16 only, {minutes} minutes)
#
# Bfloat16 has the range of float32, so if your card has it (an A100 does), take it, and read this section only once, since section 9 uses its scaler, switched off. A T4 has circuits for float16 alone, and float16 has the third fault.
#
# On the way back through a deep network gradients shrink. Take a reader with eight sigmoids, each of which multiplies them by at most 1/4. How large are the gradients of its last four layers, in float32?

# %% name="deep-reader"
parts = []
for _ in range(8):
    parts += [nn.Linear(64, 64), nn.Sigmoid()]
deep = nn.Sequential(*parts, nn.Linear(64, 10))
weights = [p for p in deep.parameters() if p.dim() == 2]  # nine of them
exact = torch.autograd.grad(F.cross_entropy(deep(ink[:256]), labels[:256]), weights)
print("on average:", [f"{grad.abs().mean().item():.0e}" for grad in exact[-4:]])

# %% claim=true
_sizes = [_grad.abs().mean().item() for _grad in exact]
assert all(4 < _later / _sooner < 30 for _sooner, _later in zip(_sizes, _sizes[1:]))
assert all(5 < _later / _sooner < 14 for _sooner, _later in zip(_sizes[1:-2], _sizes[2:-1]))

# %% [markdown]
# Behind the last one, they shrink about eightfold from layer to layer. Now the same in float16, where everything below 3e-8 is 0. (`zeros` looks which gradients became 0.)

# %% name="zeros"
def zeros(factor):
    """The share of the gradients that are 0 in float16, for each of the nine layers."""
    deep.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.cross_entropy(deep(ink[:256]), labels[:256])
    (factor * loss).backward()
    return [round((w.grad == 0).float().mean().item(), 2) for w in weights]

# %% [markdown]
# *Predict.* Go on from those four, layer by layer. Of the nine, how many have only zero gradients?

# %% predict=true
guess = 3  # a number

# %% name="backward-loses"
shares = zeros(factor=1.0)
print(shares)
reveal(guess, shares.count(1.0))

# %% claim=true
assert 2 <= shares.count(1.0) <= 4 and shares[:2] == [1.0, 1.0] and shares[-1] < 0.1

# %% [markdown]
# The first layers learn nothing, and again no error says so. Here are all these gradients by size, as float32 has them; the gray band is the range of float16, and what lies to its left (orange) becomes 0. (The list has still more zeros, because a 0 on the way back makes zeros of what is computed from it.)

# %% figure=true
figures.gradients(
    F.cross_entropy(deep(ink[:256]), labels[:256]),
    list(deep.parameters()),
    scales=(1.0, 2.0**16, 2.0**26),
)

# %% [markdown]
# The three have one shape, because a loss 65,536 times as large has gradients 65,536 times as large: they move to the right, into the band. (On the right they have moved too far.)
# After backward, divide the gradients by the same factor, in float32, where there is room. This is **loss scaling**.

# %% name="scale-saves"
print(zeros(factor=65536.0))

# %% claim=true
_shares = zeros(factor=65536.0)
assert max(_shares[1:]) < 0.05 and _shares[0] < 0.3
_never_inked = (ink[:256] == 0).all(dim=0).float().mean().item()
assert abs(_shares[0] - _never_inked) < 0.02
_tiny = torch.tensor(1e-8)
assert _tiny.half() == 0 and abs((65536 * _tiny).half().float() / 65536 - _tiny) < 1e-11

# %% [markdown]
# Nearly all are back. (Most zeros of the first layer are true ones: pixels that have no ink in any of these digits.)

# %% [markdown] name="scaler"
# ### A factor that is looked for ({minutes} minutes)
#
# Which factor is right? Gradients change as a model learns, so `torch.amp.GradScaler` looks for it while you train. It begins high.
# When a gradient is inf or nan, it skips the step and halves the factor. After many good steps it tries twice as much.
#
# *Predict.* The factor is 1024, and a gradient overflows. What are the factor and the weight (it was 1.0) after `step` and `update`?

# %% predict=true
guess = (512.0, 1.0)  # (factor, weight)

# %% name="scaler-backs-off"
weight = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([weight], lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
scaler.scale(math.inf * weight).backward()
scaler.step(optimizer)  # divides the gradient first; skips if it is not finite
scaler.update()
reveal(guess, (scaler.get_scale(), weight.item()))

# %% claim=true
for _factor, _end in ((512.0, 0.875), (1024.0, 0.75)):  # two good steps, and it grows again
    optimizer.zero_grad()
    scaler.scale(0.25 * weight).backward()
    scaler.step(optimizer)
    scaler.update()
    assert (scaler.get_scale(), weight.item()) == (_factor, _end)

# %% [markdown]
# One step is lost, and the weight is sound, whereas a step with inf would have destroyed it.
# Here the search goes on for 60 steps; at the dotted line, all gradients become a hundred times as large. It begins much too high and comes down, a skipped step (a cross) at a time; and after ten good steps it tries twice as much, which mostly costs one step. (Torch waits for 2000 good steps, so it loses very few.)

# %% figure=true
figures.scaler_search(steps=60)

# %% [markdown] name="amp-loop-text"
# ## 9 The whole training (both formats, {minutes} minutes)
#
# This is the page to copy: the training of section 2, with the three remedies in their places.
# The first is the line with `autocast`. The second is a line that is not there: nobody turns the model to 16 bits. The third are the four with the scaler. (For bfloat16 it is switched off, and they do what `loss.backward()` and `optimizer.step()` do. In float16 it has to look, in each step, whether a gradient is inf.)

# %% name="whole-step"
def train_mixed(device, dtype, epochs=20, lr=0.5):
    """Learn to read in mixed precision; return the model, and the mean loss of each epoch."""
    torch.manual_seed(seed)
    model = MyMLP([64, 256, 10], nn.ReLU).to(device)  # the weights stay in float32
    optimizer = torch.optim.SGD(model.parameters(), lr)
    scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)  # new
    history = []
    for epoch in range(epochs):
        losses = []
        for x, y in loader:
            x, y = x.to(device), y.to(device)
            optimizer.zero_grad()
            with torch.autocast(device.type, dtype=dtype):  # new: 16 bits where they do no harm
                loss = F.cross_entropy(model(x), y)
            scaler.scale(loss).backward()  # new: against the too small
            scaler.step(optimizer)  # new: divides by the factor first
            scaler.update()  # new: and looks for a better one
            losses.append(loss.detach())
        history.append(torch.stack(losses).mean().item())  # our one look for each epoch
    return model, history

# %% name="what-it-costs"
right = [share_right(reader)]
print(f"float32: loss {history[-1]:.3f}, {right[0]:.1%} right")
for dtype in (torch.bfloat16, torch.float16):
    trained, losses = train_mixed(device, dtype)
    right.append(share_right(trained))
    print(f"{dtype}: loss {losses[-1]:.3f}, {right[-1]:.1%} right")

# %% claim=true
assert min(right) > 0.92 and right[0] - min(right) < 0.021
assert abs(losses[-1] - history[-1]) < 0.02

# %% [markdown]
# Three trainings, and by their results you could not tell which is which.
#
# ### With clipping ({minutes} minutes)
#
# Large models need one thing more. Where all gradients together are longer than a limit, `clip_grad_norm_` shortens them to it: this is **clipping** (chapter 4's excursions).
# It has to see the true gradients, without the factor, so `scaler.unscale_(optimizer)` takes that out earlier.
#
# *Predict.* The true gradient is 0.5, the limit 1.0, the factor 1024. Somebody clips first and unscales afterwards. What is the gradient?

# %% predict=true
guess = 1 / 1024  # a number

# %% name="clip-too-early"
weight = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([weight], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
scaler.scale(0.5 * weight).backward()
nn.utils.clip_grad_norm_([weight], max_norm=1.0)
scaler.unscale_(optimizer)  # one line too late
reveal(guess, weight.grad.item())

# %% claim=true
_weight = nn.Parameter(torch.tensor(1.0))
_optimizer = torch.optim.SGD([_weight], lr=0.1)
_scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
_scaler.scale(0.5 * _weight).backward()
_scaler.unscale_(_optimizer)
nn.utils.clip_grad_norm_([_weight], max_norm=1.0)
assert abs(_weight.grad.item() - 0.5) < 1e-6
assert 500 < _weight.grad.item() / weight.grad.item() < 525
assert round(weight.grad.item(), 5) == 0.00098

# %% [markdown]
# 0.00098 in place of 0.5, and no error. The model learns, with SGD about 500 times too slowly.

# %% [markdown] side=true name="arrange-amp-train-step"
# #### Next comes `amp_train_step`: would you like its lines first, in disorder? ({minutes} minutes)
#
# The next exercise begins with a blank cell.
# Here is what may stand in it, line by line, with gaps and with two lines that are not needed.

# %%
from explorers import arrange

arrange("amp_train_step")

# %% [markdown]
# ### Exercise: `amp_train_step` ({minutes} minutes)
#
# New here: two lines, for the clipping. The loss is the mean squared error, with its factor on it for backward and without it in the result.

# %% name="amp-step-example"
score = torch.tensor([0.5], requires_grad=True)
loss = F.mse_loss(score, torch.tensor([1.0]))
(1024 * loss).backward()  # what scaler.scale(loss).backward() does
print("returned:", loss.item())
print("gradient:", score.grad.item(), " unscaled:", score.grad.item() / 1024)

# %% claim=true
assert loss.item() == 0.25 and score.grad.item() / 1024 == -1

# %% exercise="amp_train_step"
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    """Do one step of training in mixed precision, and return the loss from before the step.

    The model runs once, under autocast for device_type with dtype. The loss, there or after
    it, is the mean squared error of its output against y, in float32. Backward and all
    that follows are outside. Old gradients are cleared; backward gets the scaled loss.
    The true, unscaled gradients are clipped to the total norm max_norm. The scaler given
    does the step (and skips it after an overflow) and is updated once. After a step, each
    .grad holds the clipped gradient. The loss, unscaled, comes back as a float32 scalar
    tensor without a graph.

    With torch.amp.GradScaler("cpu") it runs on the CPU, with torch.bfloat16 or float16.
    """
    ### BEGIN SOLUTION
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()
    ### END SOLUTION

# %% check="amp_train_step" points=4
check("amp_train_step", amp_train_step)

# %% mine=true name="amp-loop"
def plain_amp_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.step(optimizer)  # without clipping, it unscales by itself
    scaler.update()
    return loss.detach()


my_amp_train_step = mine("amp_train_step", plain_amp_step)

# %% [markdown]
# Let it teach a reader for five epochs. Since its loss is the mean squared error, the targets are ten numbers, 1 for the true digit and 0 for the others.

# %% name="amp-step-used"
clipped = MyMLP([64, 256, 10], nn.ReLU).to(device)
optimizer = torch.optim.SGD(clipped.parameters(), lr=2.0)
scaler = torch.amp.GradScaler(device.type)
options = {"device_type": device.type, "dtype": torch.float16, "max_norm": 1.0}
for _ in range(5):
    for x, y in loader:
        x, target = x.to(device), F.one_hot(y, 10).float().to(device)
        my_amp_train_step(clipped, optimizer, scaler, x, target, **options)
print(f"{share_right(clipped):.0%} of the unseen digits are right")

# %% claim=true
assert share_right(clipped) > 0.85

# %% [markdown] side=true
# #### What else is done wrong with a scaler? ({minutes} minutes)
#
# `unscale_` twice before `update` raises. `optimizer.step()` in place of `scaler.step(optimizer)` is silent, and takes a step that is too large by the factor.

# %% name="scaler-mistakes"
weight = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([weight], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
scaler.scale(0.5 * weight).backward()
optimizer.step()  # without the scaler
print("weight after a step with the scaled gradient:", weight.item())
scaler.unscale_(optimizer)
with shows_error(RuntimeError, match="already been called"):
    scaler.unscale_(optimizer)

# %% claim=true
assert abs(weight.item() - (1 - 0.1 * 0.5 * 1024)) < 1e-3

# %% [markdown] side=true
# #### Why do tutorials write `torch.cuda.amp`? ({minutes} minutes)
#
# Those are the old names. They still work, with a warning; write `torch.amp` and name the device.
# An autocast block or a scaler that says `"cuda"` on a machine without it does not stop: it warns, and computes in float32.
# Whoever does not read the warning believes that mixed precision has been tested.

# %% name="old-names"
def warnings_of(action):
    """Call it; return the first line of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message).strip().split("\n")[0] for warning in caught]


told = [warnings_of(old)[0] for old in (torch.cuda.amp.autocast, torch.cuda.amp.GradScaler)]
print(*told, sep="\n")

# %% claim=true
assert all("is deprecated" in _line and "torch.amp." in _line for _line in told)

# %% name="cuda-names-on-cpu"
def product_for_cuda():
    with torch.autocast("cuda"):
        product_dtypes.append((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)


product_dtypes = []
told = warnings_of(product_for_cuda) + warnings_of(lambda: torch.amp.GradScaler("cuda"))
print(*told or ["CUDA is here, so there is nothing to warn of"], sep="\n")
print(product_dtypes)  # these two matrices are on the CPU

# %% claim=true
assert product_dtypes == [torch.float32]
if not torch.cuda.is_available():
    assert len(told) == 2 and all("not available" in _line for _line in told)

# %% [markdown] name="another-day"
# # For another day ({minutes} minutes, and {exercises} for the exercises)
#
# Chapter 6 needs nothing of this: ten lines under autocast, a formula that autocast does not know, time and memory measured, the right factor, and batches of any shape.
# With a card the measurements show more. Colab lends you one (Runtime, Change runtime type, GPU; then run the chapter from the top).

# %% [markdown]
# ## Which bits has which line? ({minutes} minutes)
#
# ### Exercise: `autocast_dtypes` ({minutes} minutes)
#
# When two lines of a block do not fit together, the error names the second. To find the first, say of each line which dtype comes out of it.
# Practice on ten lines, by the table of section 6. Three others, of which two are asked for:

# %% name="three-dtypes"
dtypes = {"conv2d": torch.bfloat16, "l1_loss": torch.float32, "tanh(x)": torch.float32}
ops = ["tanh(x)", "conv2d"]  # what is asked for; x came in as float32
print({name: dtypes[name] for name in ops})

# %% claim=true
_layer, _x, _target = nn.Linear(4, 4), torch.randn(3, 4), torch.randn(3, 4)
with torch.autocast("cpu"):
    assert F.conv2d(torch.ones(1, 1, 3, 3), torch.ones(1, 1, 3, 3)).dtype == dtypes["conv2d"]
    assert F.l1_loss(_layer(_x), _target).dtype == dtypes["l1_loss"]
    assert torch.tanh(_x).dtype == dtypes["tanh(x)"] != torch.tanh(_layer(_x)).dtype
    assert torch.relu(_x).dtype == (_layer(_x) + _x).dtype == torch.float32
    assert torch.relu(_layer(_x)).dtype == torch.softmax(_layer(_x), dim=1).dtype == torch.bfloat16

# %% exercise="autocast_dtypes"
def autocast_dtypes(ops, device):
    """Return the dtype that each of `ops` has under autocast, as a dict from name to dtype.

    autocast_dtypes(["linear"], "cpu") gives {"linear": torch.bfloat16}.

    The block is `with torch.autocast(device):`, and "cpu" is the device that is judged.
    x, target and the layer with its weight come into it as float32. In it:

    "linear"          h = layer(x)            "relu"       torch.relu(h)
    "relu_of_input"   torch.relu(x)           "matmul"     x @ x.T
    "softmax"         torch.softmax(h, 1)     "add"        h + x
    "cross_entropy"   F.cross_entropy(h, labels)
    "mse_loss"        F.mse_loss(h, target)
    "weight"          layer.weight
    "grad"            layer.weight.grad, after the backward pass

    By the rule, from the names alone: `autocast` stands nowhere in the answer.
    """
    ### BEGIN SOLUTION
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu"}  # products, and what follows its input
    if device == "cpu":
        lowered.add("softmax")  # the list of what is kept in float32 is longer for CUDA
    return {name: low if name in lowered else torch.float32 for name in ops}
    ### END SOLUTION

# %% check="autocast_dtypes" points=3
check("autocast_dtypes", autocast_dtypes)

# %% [markdown] name="fragile-text"
# ## 10 What autocast cannot know ({minutes} minutes)
#
# Autocast knows torch's own operations, but not your formula. Take the square of a difference, the distance of chapter 1.
# Many programs multiply `(p - q) ** 2` out, because for whole tables that takes only one matrix product.
#
# For p = 201 and q = 200 that is 40,401 + 40,000 - 80,400, so 1. And in 16 bits?

# %% name="large-squares"
for kind in (torch.float32, torch.bfloat16):
    p, q = torch.tensor(201.0, dtype=kind), torch.tensor(200.0, dtype=kind)
    print(kind, "p * p:", (p * p).item(), " all:", (p * p + q * q - 2 * p * q).item())

# %% claim=true
assert p * p + q * q - 2 * p * q == 0 and (p - q) ** 2 == 1

# %% [markdown]
# Numbers of this size are 256 apart in bfloat16, so each square may be off by 128, and the 1 is lost.
#
# Now do the same with pictures: suppose that the digits come on gray paper, where every pixel is 200 higher.

# %% name="gray-paper"
def square_distances(a, b):
    return (a * a).sum(dim=1)[:, None] + (b * b).sum(dim=1) - 2 * a @ b.T


def nearest_right(distances):
    """The share of the unseen digits whose nearest known digit has their label."""
    says = labels[known][distances.argmin(dim=1)]
    return (says == labels[unseen]).float().mean().item()


gray = 16 * ink + 200
full = square_distances(gray[unseen], gray[known])
print(f"float32 reads {nearest_right(full):.1%}")

# %% [markdown]
# And the same line in an autocast block?

# %% name="forward-loses"
with torch.autocast("cpu"):
    rough = square_distances(gray[unseen], gray[known])
print(f"under autocast {nearest_right(rough):.0%}")

# %% claim=true
assert nearest_right(full) > 0.96 and 0.55 < nearest_right(rough) < 0.9
_low = square_distances(gray[unseen].bfloat16(), gray[known].bfloat16())
assert nearest_right(_low) < 0.3 and _low.min() < 0  # all in bfloat16 it is worse still
_products = (2 * gray[unseen].bfloat16()) @ gray[known].bfloat16().T
assert _products.min() > 5e6 and full.max() < 10_000
_next = (_products.view(torch.int16) + 1).view(torch.bfloat16)
assert _next.sub(_products).unique().tolist() == [32768]
assert not square_distances(gray[unseen].half(), gray[known].half()).isfinite().any()

# %% [markdown]
# It misreads many of them now, because autocast did the matrix product in 16 bits.
# Its numbers are above 5 million, where bfloat16 has a number only every 32,768, and the distances are a few thousand.
#
# `enabled=False` makes an island of float32 in the block:

# %% name="fragile"
with torch.autocast("cpu"):
    with torch.autocast("cpu", enabled=False):
        exact = square_distances(gray[unseen], gray[known])
print(f"on an island of float32 {nearest_right(exact):.0%}")

# %% claim=true
assert nearest_right(exact) > 0.96
_a, _b = torch.tensor([[100.0, 1.0]]), torch.tensor([[100.0, 3.0]])
with torch.autocast("cpu"):
    assert square_distances(_a, _b) != 4
    with torch.autocast("cpu", enabled=False):
        assert square_distances(_a, _b) == 4
        assert not runs(lambda: layer(torch.ones(1, 4).bfloat16()))  # the switch does not convert

# %% [markdown]
# One thing the island does not do: what was 16 bits already when it came in remains so.
#
# ### Exercise: `mixed_region` ({minutes} minutes)
#
# Build the island once, for any fragile part of a model; it has two halves, the switch and `.float()`.
# Wrapped by your function, the product below must give the same inside the block as outside.

# %% name="mixed-region-example"
x = torch.ones(3, 4)
with torch.autocast("cpu"):
    print("x @ x.T in the block:", (x @ x.T).dtype)
print("outside:", (x @ x.T).dtype)

# %% claim=true
with torch.autocast("cpu"):
    assert (x @ x.T).dtype == torch.bfloat16

# %% exercise="mixed_region"
def mixed_region(block):
    """Return a function safe(x) that runs block(x) in float32, also under autocast.

    block: a function or a module with float32 weights; it takes one tensor and returns
    one. safe turns x to float32, calls block once, with autocast switched off for the
    device type of x, and returns the result as it is. Gradients flow through it to x.
    Outside of safe, autocast goes on as before.

    safe = mixed_region(lambda x: x @ x.T) gives a float32 result under autocast.
    """
    ### BEGIN SOLUTION
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x.float())

    return safe
    ### END SOLUTION

# %% check="mixed_region" points=2
check("mixed_region", mixed_region)

# %% mine=true
def plain_region(block):
    def safe(x):
        with torch.autocast("cpu", enabled=False):
            return block(x)  # it is float32 already

    return safe


my_mixed_region = mine("mixed_region", plain_region)

# %% name="mixed-region-used"
island = my_mixed_region(lambda new: square_distances(new, gray[known]))
with torch.autocast("cpu"):
    print(f"within autocast: {nearest_right(island(gray[unseen])):.0%}")

# %% claim=true
with torch.autocast("cpu"):
    assert nearest_right(island(gray[unseen])) > 0.96

# %% [markdown] name="timing"
# ## 11 Time it yourself ({minutes} minutes)
#
# Nobody can tell how fast your model is on your card, so measure, and mind three things:
#
# - **wait**, or you measure how long the handing over takes (on the H200 0.04 ms for a product that took 2.7): `torch.cuda.synchronize()` waits until the queue is empty;
# - **warm up**, because the first call loads code, asks for memory and chooses a method;
# - **take the median**, the value in the middle, because other programs get in the way now and then.
#
# To wait at the end is not enough.
#
# *Predict.* The toy of section 3 has 50 ms of work left over from before. You read the clock, launch 4 ms of work, wait, and read the clock again. What do you measure?

# %% predict=true
guess = 54  # milliseconds

# %% name="left-over-work"
toy = ToyDevice()
toy.launch(50)  # left over from before
begin = toy.host  # with toy.wait() before this line it would be 5 ms
toy.launch(4)
toy.wait()
reveal(guess, toy.host - begin)

# %% claim=true
_toy = ToyDevice()
_toy.launch(50)
_toy.wait()
_begin = _toy.host
_toy.launch(4)
_toy.wait()
assert (_toy.host - _begin, toy.host - begin) == (5, 54)

# %% [markdown]
# ### Exercise: `bench` ({minutes} minutes)
#
# A stopwatch that does all three right. The device's wait is an argument, `sync`: `torch.cuda.synchronize` for a card, and for the CPU a function that does nothing.

# %% name="median"
times = [1, 1, 2, 9, 1]  # the seconds of five calls
print("mean:", statistics.mean(times), " median:", statistics.median(times))

# %% claim=true
assert statistics.mean(times) == 2.8 and statistics.median(times) == 1

# %% exercise="bench"
def bench(fn, warmup, iters, sync):
    """Return the median time of one call of fn, in seconds, as a float.

    fn() gives the device some work and may return before it is done; sync() returns when
    all work given so far is done. First fn is called `warmup` times, untimed. Then it is
    called `iters` times, and each call is timed by itself, with time.perf_counter(): the
    clock is read when no work is left over from before, and again when the work of this
    call is done. With an even number of times, the median is the mean of the two in the
    middle. sync is always given; it may do nothing.

    If the timed calls take 1, 1, 2, 9 and 1 seconds, the result is 1.0.
    """
    ### BEGIN SOLUTION
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)
    ### END SOLUTION

# %% check="bench" points=3
check("bench", bench)

# %% mine=true
def plain_bench(fn, warmup, iters, sync):
    times = timeit.repeat(lambda: (fn(), sync()), number=1, repeat=warmup + iters)
    return statistics.median(times[warmup:])


my_bench = mine("bench", plain_bench)

# %% name="stopwatch"
def stopwatch(action, calls=5 if short else 15):
    """The seconds that one call takes, on this chapter's device."""
    sync = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    return my_bench(action, 2, calls, sync)


machine = torch.cuda.get_device_name() if device.type == "cuda" else "this CPU, one thread"
rows = ink[:64].to(device)
print(f"one call of the reader, on {machine}: {stopwatch(lambda: reader(rows)) * 1e6:.0f} us")

# %% [markdown] side=true
# #### Is my card faster, and is half the bits twice the speed? ({minutes} minutes)
#
# It depends on the circuits (section 5); a processor without them imitates them, slowly.
# And a card as new as an A100 can round only the factors of a float32 product, if you ask for it by `torch.set_float32_matmul_precision("high")`: the 197 ms of section 5 were 36 then, and 16 in bfloat16.
# So believe no "twice as fast" that does not name the machine. Here is yours; look first whether both give the same numbers.

# %% name="race"
side = 2048 if device.type == "cuda" else 256
a, b = torch.randn(side, side), torch.randn(side, side)
there_a, there_b = a.to(device), b.to(device)
print("the same up to", ((there_a @ there_b).cpu() - a @ b).abs().max().item())
low_a, low_b = there_a.bfloat16(), there_b.bfloat16()
print(there_a.nbytes, "bytes in 32 bits,", low_a.nbytes, "in 16")
on_device, in_half = stopwatch(lambda: there_a @ there_b), stopwatch(lambda: low_a @ low_b)
print(f"{machine}: {on_device * 1e3:.3g} ms in 32 bits, {in_half * 1e3:.3g} ms in 16")
if device.type == "cuda":
    on_cpu = plain_bench(lambda: a @ b, 2, 5, lambda: None)
    print(f"{on_cpu / on_device:.0f} times as fast as one thread of the CPU")

# %% claim=true
assert torch.allclose((there_a @ there_b).cpu(), a @ b, atol=0.1)  # numbers of about 20
assert there_a.nbytes == 2 * low_a.nbytes

# %% [markdown] side=true
# #### What does autocast cost, and what does it gain? ({minutes} minutes)
#
# Each cast is an operation of its own: for one Linear the input, the weight and the bias.
# In a small network the casts take longer than the products do.

# %% name="autocast-price"
def speed_under_autocast(model, x):
    """How many times as fast the forward pass is under autocast, on `device`."""

    def low():
        with torch.autocast(device.type):
            model(x)

    with torch.no_grad():
        return stopwatch(lambda: model(x)) / stopwatch(low)


small, row = nn.Linear(4, 4), torch.ones(1, 4)
with torch.autocast("cpu"):
    print(operations(lambda: small(row)))
one_neuron = speed_under_autocast(nn.Linear(1, 1).to(device), torch.randn(20, 1, device=device))
layers = nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)]).to(device)
large = speed_under_autocast(layers, torch.randn(128, 256, device=device))
print(f"on {machine}: one neuron {one_neuron:.2g}, four layers {large:.2g} times as fast")

# %% claim=true
with torch.autocast("cpu"):
    assert operations(lambda: small(row)).count("_to_copy") == 3

# %% [markdown]
# And here is a whole step of a network with 2048 units, in float32 and mixed. (On the CPU it is small, and shows only that the losses agree.)

# %% name="amp-price-on-device"
def wide_step(mixed):
    """Return a function that trains one step on `device` and returns the loss."""
    _ = torch.manual_seed(seed)
    width, rows = (2048, 8192) if device.type == "cuda" else (64, 512)
    layers = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)]
    model = nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(rows, width, device=device), torch.ones(rows, 1, device=device)
    scaler = torch.amp.GradScaler(device.type, enabled=False)
    options = {"device_type": device.type, "dtype": torch.bfloat16, "max_norm": 1e6}
    if mixed:
        return lambda: my_amp_train_step(model, optimizer, scaler, x, y, **options)
    return lambda: my_train_step_on(device, model, optimizer, F.mse_loss, x, y)


print(f"loss {wide_step(False)().item():.4f} in float32, {wide_step(True)().item():.4f} mixed")
for mixed in (False, True) if device.type == "cuda" else ():
    action = wide_step(mixed)
    before = torch.cuda.memory_allocated()  # what is left from above, and the model
    torch.cuda.reset_peak_memory_stats()
    seconds, held = stopwatch(action), torch.cuda.max_memory_allocated() - before
    print(f"{machine}, {mixed=}: {seconds * 1e3:.2f} ms a step, at most {held} bytes besides")

# %% claim=true
_plain, _mixed = wide_step(False)().item(), wide_step(True)().item()
assert abs(_plain - _mixed) < 0.05 * _plain

# %% [markdown] name="fits"
# ## 12 Does it fit? ({minutes} minutes)
#
# About how much a step will hold can be worked out before the card tells you that it does not fit.
# The activations are what the forward pass saves; here for 32 digits, and a reader with 256 units:

# %% name="what-is-saved"
small = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
print(saved_shapes(lambda: small(ink[:32])))

# %% claim=true
assert saved_shapes(lambda: small(ink[:32])) == [(32, 64), (32, 256), (32, 256), (256, 10)]
for _rows in (32, 320):
    _saved = saved_bytes(lambda: small(ink[:_rows]), without=small.parameters())
    assert _saved == 4 * (_rows * 64 + _rows * 256)

# %% [markdown]
# First come the digits, for the first layer.
# The result of the ReLU comes twice, for the ReLU itself and for the last layer, and is one piece of memory.
# The last layer's weight is there anyway.
# So the activations are 32 * 64 + 32 * 256 numbers, and ten times as many for 320 digits.
#
# ### Exercise: `memory_plan` ({minutes} minutes)
#
# Optional: no later chapter needs it. Add up all four parts of section 4 for any model, in any dtype. (That is an estimate: the activations go while the gradients come, and operations need room to work.)
# Two tensors share memory if `t.untyped_storage().data_ptr()`, the address, is the same for both; `t.untyped_storage().nbytes()` is the size of all of it.
# An address may be given out again when its tensor is gone, so keep the model's result until you have counted.

# %% name="memory-plan-example"
plan_layer, plan_batch = nn.Linear(3, 2), torch.ones(4, 3)
print("parameters:", sum(p.nbytes for p in plan_layer.parameters()), "bytes")
print("activations:", plan_batch.nbytes, "bytes")

# %% exercise="memory_plan"
def memory_plan(model, batch, optimizer, dtype):
    """Return the bytes that one training step will hold, as a dict of four ints.

    The plan is for the model and the batch (a tensor) in `dtype`; the ones given stay as
    they are, .grad included, and so does the model's mode, which the plan is made for.
    "parameters": each parameter once, frozen ones too; buffers are left out.
    "gradients": of the parameters that are not frozen.
    "optimizer": its state for those: for optimizer "sgd" nothing, for "momentum" one
    number for each weight, for "adam" two; all in dtype.
    "activations": what model(batch) saves for backward, except parameters and buffers.
    Each piece of memory counts once, whole, however many saved tensors look at it.

    nn.Linear(3, 2), a batch (4, 3), "adam" and torch.float32 give 32, 32, 64 and 48.
    """
    ### BEGIN SOLUTION
    twin = copy.deepcopy(model).to(dtype)
    weights = list(twin.parameters())
    own = {t.untyped_storage().data_ptr() for t in [*weights, *twin.buffers()]}
    saved = {}

    def note(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = twin(batch.to(dtype))  # as long as it lives, so does what was saved
    trained = sum(w.numel() for w in weights if w.requires_grad) * dtype.itemsize
    return {
        "parameters": sum(w.numel() for w in weights) * dtype.itemsize,
        "gradients": trained,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained,
        "activations": sum(saved.values()),
    }
    ### END SOLUTION

# %% check="memory_plan" points=4
check("memory_plan", memory_plan)

# %% [markdown] side=true
# #### What does the card itself say? ({minutes} minutes)
#
# `torch.cuda.memory_allocated()` says how many bytes tensors hold now, and `max_memory_allocated()` the most since the last reset.
# It is more than the plan, because pieces are rounded up, and because operations need room to work, above all backward, for the gradients of the activations.

# %% name="memory-on-device"
wide = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
plan = sum(p.nbytes for p in wide.parameters()) + 2 * 4096 * 512 * 4
print("plan for gradients, batch and hidden layer:", plan, "bytes")
if device.type == "cuda":
    before = torch.cuda.memory_allocated()  # the parameters, and what is left from above
    torch.cuda.reset_peak_memory_stats()
    wide(torch.randn(4096, 512, device=device)).sum().backward()
    print("at most held besides:", torch.cuda.max_memory_allocated() - before, "on", machine)
else:
    print("no CUDA here: a GPU would show the most that was held in the step")

# %% claim=true
assert saved_shapes(lambda: wide(torch.randn(8, 512, device=device)))[:2] == [(8, 512), (8, 512)]

# %% [markdown] side=true name="checkpointing"
# #### Half the bytes is still too much: what else is there? ({minutes} minutes)
#
# Keep less, and compute it again: this is **activation checkpointing**.
# `checkpoint(block, x)` saves the input of a block and nothing from inside it, and when backward comes to the block, it runs once more.
# (Chapter 4's checkpoint, a file with weights, has only the name in common.)
#
# *Predict.* A block runs under `checkpoint`, then comes `backward`. How many times has its forward run?

# %% predict=true
guess = 2  # times

# %% name="checkpoint-once-more"
def block(x):
    calls.append(1)
    return torch.tanh(layer(torch.tanh(layer(x))))


calls, layer, x = [], nn.Linear(64, 64), torch.randn(256, 64, requires_grad=True)
plain_kept = saved_bytes(lambda: block(x))
kept = saved_bytes(lambda: checkpoint(block, x, use_reentrant=False))
print("bytes kept:", plain_kept, " with checkpointing:", kept)
calls.clear()
checkpoint(block, x, use_reentrant=False).sum().backward()
reveal(guess, len(calls))

# %% claim=true
assert kept < plain_kept / 2
_again = torch.autograd.grad(block(x).sum(), layer.weight)[0]
assert torch.allclose(layer.weight.grad, _again, atol=1e-5)  # the same gradient

# %% [markdown]
# The price is a second forward pass.
# It is worth it for blocks that are narrow where they begin, and wide inside. Here are eight of them, one after another.
# (Say `use_reentrant=False`: it is the newer of two ways, and torch asks you to choose.)

# %% name="checkpoint-memory-on-device"
def wide_block():
    return nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 64))


def through(x, save_memory):
    for part in blocks:
        x = checkpoint(part, x, use_reentrant=False) if save_memory else part(x)
    return x


blocks = nn.ModuleList(wide_block() for _ in range(8)).to(device)
x = torch.randn(8192 if device.type == "cuda" else 640, 64, device=device, requires_grad=True)
kept, plain_kept = (saved_bytes(lambda: through(x, save)) for save in (True, False))
print("bytes kept:", plain_kept, " with checkpointing:", kept)
for save_memory in (False, True) if device.type == "cuda" else ():
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    through(x, save_memory).sum().backward()
    held = torch.cuda.max_memory_allocated() - before
    print(f"{machine}, {save_memory=}: at most {held} bytes besides")

# %% claim=true
assert kept < plain_kept / 4
assert torch.allclose(through(x, True), through(x, False), atol=1e-2)

# %% [markdown]
# Dropout drops the same places the second time, because torch draws the same random numbers again.

# %% name="checkpoint-dropout"
x = torch.ones(1000, requires_grad=True)
y = checkpoint(lambda x: F.dropout(x * x, 0.5), x, use_reentrant=False)
y.sum().backward()  # runs the block again
both = (x.grad == 0) & (y == 0)
print("dropped:", (y == 0).sum().item(), " dropped both times:", both.sum().item())

# %% claim=true
assert torch.equal(x.grad != 0, y != 0)  # a gradient where something was left, and only there

# %% [markdown] name="factor-loses"
# ## 13 How much does a factor lose? (float16 only, {minutes} minutes)
#
# In section 8 a factor of 65,536 brought nearly all gradients back. And a smaller one, or a larger one? Count.
#
# ### Exercise: `underflow_report` ({minutes} minutes)
#
# Compute the first percentage above each picture of section 8: the share of the gradients that become 0 when they are turned to float16, for each factor.
# Of the three gradients here, two are not zero. Without a factor one of the two is lost; with 1024 none.

# %% name="underflow-example"
slope = torch.tensor([1e-9, 1e-3, 0.0])
print(slope.half().tolist(), (1024 * slope).half().tolist())

# %% exercise="underflow_report"
def underflow_report(loss_fn, scales):
    """Return for each scale the share of the gradient that float16 loses: a dict of floats.

    With gradient [1e-9, 1e-3, 0.0] and scales [1.0, 1024.0]: {1.0: 0.5, 1024.0: 0.0}.

    loss_fn() computes anew, and returns a float32 loss and the list of the float32
    parameters. For each scale take the gradients of scale * loss, in float32.

    - The share is of the entries that are not 0, over all parameters together; those are
      lost that are 0 in float16. Where there are none to count, it is 0.0.
    - A parameter that the loss does not depend on does not count:
      torch.autograd.grad(..., allow_unused=True) gives None for it.
    - The .grad of the parameters stays as it was.
    """
    ### BEGIN SOLUTION
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        there = [g[g != 0] for g in grads if g is not None]
        lost = sum((g.half() == 0).sum().item() for g in there)
        counted = sum(g.numel() for g in there)
        report[scale] = lost / counted if counted else 0.0
    return report
    ### END SOLUTION

# %% check="underflow_report" points=3
check("underflow_report", underflow_report)

# %% mine=true
def plain_report(loss_fn, scales):
    loss, weights = loss_fn()
    gradients = torch.autograd.grad(loss, weights)
    slopes = torch.cat([g[g != 0] for g in gradients])
    return {scale: ((slopes * scale).half() == 0).float().mean().item() for scale in scales}


my_underflow_report = mine("underflow_report", plain_report)

# %% name="underflow-used"
def deep_loss():
    """The loss of the deep reader of section 8, and its parameters."""
    return F.cross_entropy(deep(ink[:256]), labels[:256]), list(deep.parameters())


report = my_underflow_report(deep_loss, [1.0, 2.0**16, 2.0**26])
for scale, lost in report.items():
    print(f"loss times {scale:7g}: {lost:.1%} become 0")

# %% claim=true
_lost = list(plain_report(deep_loss, [1.0, 2.0**16, 2.0**26]).values())
assert _lost[0] > 0.15 and _lost[0] > _lost[1] >= _lost[2] and _lost[2] < 1e-3
_loss, _weights = deep_loss()
_scaled = torch.autograd.grad(2.0**26 * _loss, _weights[-1])[0]
assert _scaled.half().isinf().any()

# %% [markdown]
# With 2 ** 26 hardly anything is lost on this side. But on the other side of the band some become inf, as the third picture of section 8 says.

# %% [markdown] name="any-batch"
# ## 14 Batches of any shape
#
# ### Exercise: `to_device` ({minutes} minutes)
#
# New here: a function that calls itself. Batches are not always a pair: they may be a dict, or a list of lists, and one function is to move them all.

# %% name="nested-batch"
batch = {"x": torch.ones(2, 64), "pair": (torch.zeros(2), "a name"), "count": 2}
print({key: type(value).__name__ for key, value in batch.items()})

# %% exercise="to_device"
def to_device(obj, device):
    """Return obj with every tensor in it moved to device; obj itself stays as it was.

    obj: a tensor, or a dict, list, tuple or named tuple, nested to any depth. Each
    container comes back as a new one of its type, an OrderedDict as an OrderedDict, with
    the same keys in the same order.
    Anything else (a number, a string, None) comes back as it is. A named tuple has a
    field for each value, type(obj)(*values) makes one, and obj._fields tells it from a
    plain tuple.

    to_device({"x": torch.ones(2), "name": "a"}, "meta") gives a new dict, with "x" on
    the meta device and "name" still "a".
    """
    ### BEGIN SOLUTION
    if isinstance(obj, torch.Tensor):
        return obj.to(device)
    if isinstance(obj, dict):
        return type(obj)((key, to_device(value, device)) for key, value in obj.items())
    if isinstance(obj, (list, tuple)):
        moved = [to_device(value, device) for value in obj]
        return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
    return obj
    ### END SOLUTION

# %% check="to_device" points=3
check("to_device", to_device)

# %% mine=true
def plain_to_device(obj, device):
    return obj | {"x": obj["x"].to(device)}  # enough for this batch


my_to_device = mine("to_device", plain_to_device)

# %% name="to-device-used"
moved = my_to_device(batch, "meta")
print("moved:", moved["x"].device, " as it was:", batch["x"].device)

# %% claim=true
assert moved["x"].device.type == "meta" and batch["x"].device.type == "cpu" and moved["count"] == 2

# %% [markdown] side=true
# #### Can I give dtype and device in one call? ({minutes} minutes)
#
# Yes, when you make a tensor, and when you move it.

# %% name="dtype-and-device"
made = torch.zeros(2, 3, device=device, dtype=torch.bfloat16)
moved = torch.zeros(2, 3).to(device, torch.bfloat16)
print(made.device, made.dtype)

# %% claim=true
assert made.dtype == moved.dtype == torch.bfloat16
assert made.device == moved.device and made.device.type == device.type

# %% [markdown] name="excursions"
# # Excursions, for those who want more
#
# Side paths of {side} minutes, and three stretch exercises.

# %% [markdown] side=true
# #### Which operation takes the time? ({minutes} minutes)
#
# First: which run at all, and how often? A Linear is `addmm`, a product and a sum in one, with its weight transposed.
# For how long each of them ran on a card, the **profiler** says, in microseconds (us), by the names that the card's programs have.

# %% name="profiler"
small = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
rows = ink[:100].to(device)
print(operations(lambda: small(rows)))
if device.type == "cuda":
    with torch.no_grad(), torch.profiler.profile() as profile:
        for _ in range(10):
            small(rows)
    work = [event for event in profile.key_averages() if event.device_type.name == "CUDA"]
    for event in sorted(work, key=lambda event: -event.self_device_time_total):
        print(f"{event.self_device_time_total:8.0f} us, {event.count} times: {event.key[:60]}")
else:
    print("no CUDA here: on a GPU the profiler would list the card's work and its times")

# %% claim=true
assert operations(lambda: small(rows)).count("addmm") == 2

# %% [markdown] side=true name="compile"
# #### What is `torch.compile` for? ({minutes} minutes)
#
# So far torch does one operation after the other, and each has its price: a launch, and a trip of all the numbers to the memory and back.
# `fast = torch.compile(model)` reads ahead: at the first call it makes one program of the operations, in which a sum and a ReLU, for example, share one trip.
# From then on it runs that program, as long as the inputs are of the same kind.
#
# What makes the program is called a backend. Any function may be one; this one notes what it was given, and changes nothing.
#
# *Predict.* A compiled Linear and ReLU is called three times with five digits. How often is the backend asked?

# %% predict=true
guess = 1  # times

# %% name="compile-looks"
def look(graph, inputs):
    """A backend that notes the operations and runs them as they are."""
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    noted.append([node.target.__name__ for node in calls])
    return graph.forward


def three_calls():
    fast = torch.compile(nn.Sequential(nn.Linear(64, 32), nn.ReLU()), backend=look)
    return [fast(ink[:5]) for _ in range(3)]


noted = []
can_compile = runs(three_calls)  # not with every version of Python
print(noted)
reveal(guess, len(noted))

# %% claim=true
assert len(noted) == 1 or not can_compile

# %% [markdown]
# Once, for three calls.
# The real backend, which you get when you name none, writes a program in C++ or for the card, and has it compiled.
# For these two layers that took 13 seconds where this was written, so it is for a model that runs thousands of times.
# Where the code looks at a number, by `print(loss)` or `loss.item()`, it has to go back to Python (a **graph break**).

# %% [markdown] name="stretch"
# ## Three things to build
#
# ### Exercise: `count_syncs` (stretch, extra credit, {minutes} minutes)
#
# A detector for section 3: which operations of a function make a device wait?
# Everything that torch does passes through a **dispatcher**, which chooses the code for the device, and a `TorchDispatchMode` looks over its shoulder.
# Here is one that takes notes.

# %% name="dispatch-mode"
class Tell(TorchDispatchMode):
    """Note the name of each operation in `seen`."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        seen.append(str(func.overloadpacket))
        return func(*args, **(kwargs or {}))  # and then does what was asked


seen = []
with Tell():
    (torch.ones(2) * 2).sum().item()
print(seen)  # the last one fetches the number

# %% claim=true
assert seen == ["aten.ones", "aten.mul", "aten.sum", "aten._local_scalar_dense"]

# %% exercise="count_syncs"
def count_syncs(fn):
    """Call fn() once and return the operations in it that need a value on the host.

    Look for two: _local_scalar_dense (item, float, int, bool, an `if` on a tensor) and
    nonzero. The result lists their names in the order in which they ran, each as
    often as it ran: "aten._local_scalar_dense", "aten.nonzero". The mode sees each
    operation as `func`; str(func.overloadpacket) is its name. Afterwards the mode is off
    again, also where fn raises an error, which goes on to the caller.

    For fn = lambda: torch.ones(2).sum().item() the result is ["aten._local_scalar_dense"].
    """
    ### BEGIN SOLUTION
    waits = ("aten._local_scalar_dense", "aten.nonzero")
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = str(func.overloadpacket)
            if name in waits:
                found.append(name)
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return found
    ### END SOLUTION

# %% check="count_syncs" extra=3
check("count_syncs", count_syncs)

# %% [markdown] side=true
# #### A hundred digits one by one, or all at once? ({minutes} minutes)
#
# *Predict.* Do a hundred calls with one digit take about as long as one call with a hundred, or more than twice as long?

# %% predict=true
guess = "more than twice"  # "about as long", or "more than twice"

# %% name="batch-of-100"
rows = ink[:100].to(device)
with torch.no_grad():
    batch = stopwatch(lambda: reader(rows))
    one_by_one = stopwatch(lambda: [reader(row) for row in rows.split(1)])
print(f"{machine}: {one_by_one / batch:.0f} times")
reveal(guess, "more than twice" if one_by_one > 2 * batch else "about as long")

# %% claim=true
with torch.no_grad():
    _apart = torch.cat([reader(_row) for _row in rows.split(1)])
    assert torch.allclose(reader(rows), _apart, atol=1e-1)  # some cards round the factors first
assert batch < one_by_one

# %% [markdown]
# Each call has a price of its own, on the CPU too, and a batch pays it once.
# On a GPU this goes further: while one row leaves most of the card idle, a hundred take as long as one.

# %% [markdown]
# ### Exercise: `LossScaler` (stretch, extra credit, {minutes} minutes)
#
# Once you have built the search of section 8 yourself, a `GradScaler` holds no secrets.
# Begin with the static one, in which the factor stays; then let it move.

# %% name="scaler-example"
print("a loss of 0.5 with the factor 4:", torch.tensor(0.5) * 4)

# %% exercise="LossScaler"
### BEGIN STARTER
# class LossScaler:
#     """A loss scaler: static first, then dynamic, as torch.amp.GradScaler is.
#
#     factor is what a loss is multiplied by; clean_steps counts the steps with finite
#     gradients since the factor last changed. scale(loss) gives the loss times factor.
#     unscale_(optimizer) divides by factor, in place, each .grad that is there, and notes
#     whether one of them is not finite. step(optimizer) does the same first, unless it was
#     done since the last update; then it calls optimizer.step() if all were finite.
#     update() ends the round, which has one step. If growth_interval is None (static), the
#     factor stays and clean_steps stays 0. Otherwise, after gradients that were not finite
#     the factor is multiplied by backoff and clean_steps is 0 again; after finite ones
#     clean_steps grows by 1, and when it reaches growth_interval, the factor is multiplied
#     by growth and clean_steps is 0 again.
#
#     LossScaler(factor=4.0).scale(torch.tensor(0.5)) gives tensor(2.).
#     """
#
#     def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
#         raise NotImplementedError()
#
#     def scale(self, loss):
#         raise NotImplementedError()
#
#     def unscale_(self, optimizer):
#         raise NotImplementedError()
#
#     def step(self, optimizer):
#         raise NotImplementedError()
#
#     def update(self):
#         raise NotImplementedError()
### END STARTER
class LossScaler:
    """A loss scaler: static first, then dynamic, as torch.amp.GradScaler is.

    factor is what a loss is multiplied by; clean_steps counts the steps with finite
    gradients since the factor last changed. scale(loss) gives the loss times factor.
    unscale_(optimizer) divides by factor, in place, each .grad that is there, and notes
    whether one of them is not finite. step(optimizer) does the same first, unless it was
    done since the last update; then it calls optimizer.step() if all were finite.
    update() ends the round, which has one step. If growth_interval is None (static), the
    factor stays and clean_steps stays 0. Otherwise, after gradients that were not finite
    the factor is multiplied by backoff and clean_steps is 0 again; after finite ones
    clean_steps grows by 1, and when it reaches growth_interval, the factor is multiplied
    by growth and clean_steps is 0 again.

    LossScaler(factor=4.0).scale(torch.tensor(0.5)) gives tensor(2.).
    """

    ### BEGIN SOLUTION
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None  # None: not unscaled since the last update

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        self.clean_steps = self.clean_steps + 1 if finite else 0
        if not finite:
            self.factor *= self.backoff
        elif self.clean_steps == self.growth_interval:
            self.factor, self.clean_steps = self.factor * self.growth, 0
    ### END SOLUTION

# %% check="LossScaler" extra=3
check("LossScaler", LossScaler)

# %% mine=true
def plain_scaler(factor, growth_interval):
    return torch.amp.GradScaler("cpu", factor, growth_interval=growth_interval)


MyLossScaler = mine("LossScaler", plain_scaler)

# %% name="scaler-used"
weight = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([weight], lr=0.5)
scaler = MyLossScaler(1024.0, growth_interval=2)
optimizer.zero_grad()
scaler.scale(math.inf * weight).backward()
scaler.step(optimizer)
scaler.update()
print("after an overflow the weight is", weight.item())

# %% claim=true
assert weight.item() == 1.0

# %% [markdown]
# ### Exercise: `master_weights` (stretch, extra credit, {minutes} minutes)
#
# Section 7 as an experiment: the same steps, once in bfloat16 alone and once on a float32 master copy.

# %% name="master-example"
alone, master = torch.tensor(1.0, dtype=torch.bfloat16), torch.tensor(1.0)
print(alone - 0.001, master - 0.001)  # the first of a hundred steps

# %% exercise="master_weights"
def master_weights(w16, grad, lr, steps):
    """Do the same gradient steps without and with a float32 master copy; return both ends.

    w16: weights in bfloat16; grad: their gradient, of the same shape and dtype, the same
    at each step; both stay as they were. The result is a tuple (alone, master).
    alone, bfloat16: steps times w - lr * grad, rounded to bfloat16 each time.
    master, float32: steps times w - lr * grad, all in float32, starting from w16.

    For w16 = [1.0], grad = [1.0], lr=0.001 and steps=100, alone is [1.0], master [0.9].
    """
    ### BEGIN SOLUTION
    alone, master, slope = w16, w16.float(), grad.float()
    for _ in range(steps):
        alone = alone - lr * grad
        master = master - lr * slope
    return alone, master
    ### END SOLUTION

# %% check="master_weights" extra=2
check("master_weights", master_weights)

# %% [markdown] side=true
# #### Same program, same seed: the same result? ({minutes} minutes)
#
# On this CPU, with one thread, yes, to the last bit.
# Some operations on a GPU add up in whichever order the parts are ready.
# `torch.use_deterministic_algorithms(True)` takes another way where there is one, and raises where there is none.

# %% name="same-again"
print([train_digits("cpu", plain_step, epochs=1)[1] for _ in range(2)])

# %% claim=true
assert train_digits("cpu", plain_step, 1)[1] == train_digits("cpu", plain_step, 1)[1]  # bit for bit

# %% name="deterministic"
torch.use_deterministic_algorithms(True)
try:
    with shows_error(RuntimeError, match="does not have a deterministic implementation"):
        twice = torch.tensor([0, 0])
        torch.zeros(3).put_(twice, torch.tensor([1.0, 2.0]))  # which one wins?
finally:
    torch.use_deterministic_algorithms(False)

# %% claim=true
assert not torch.are_deterministic_algorithms_enabled()

# %% [markdown] side=true name="tolerances"
# #### Two devices differ in the sixth digit: is that an error? ({minutes} minutes)
#
# *Predict.* In float32, `big` is 1e8. Is `(big + 1) - big` equal to `(big - big) + 1`?

# %% predict=true
guess = False  # True or False

# %% name="order-of-sums"
big = torch.tensor(1e8)
print((big + 1) - big, (big - big) + 1)
reveal(guess, torch.equal((big + 1) - big, (big - big) + 1))

# %% claim=true
assert (big + 1) - big == 0 and (big - big) + 1 == 1
_many = torch.randn(10**6, generator=torch.Generator().manual_seed(seed))
for _total in (_many.sum(), _many.flip(0).sum()):
    assert abs(_total - _many.double().sum()) < 1e-2

# %% [markdown]
# Near 1e8 the gap between two float32 numbers is 8, so the 1 is gone.
# A sum depends on its order, and every device, library and number of threads has its own; so no, it is not an error.
# Never compare two devices with `==`: ask for agreement up to a **tolerance**, some multiple of the dtype's eps.
# `torch.testing.assert_close` does that, and says what differs.

# %% name="tolerances-by-dtype"
a, b = torch.rand(64, 64), torch.rand(64, 64)
torch.testing.assert_close((a.half() @ b.half()).float(), a @ b, rtol=8e-3, atol=0)
with shows_error(AssertionError, match="not close"):
    torch.testing.assert_close((a.half() @ b.half()).float(), a @ b)  # float32's tolerance

# %% claim=true
_exact = a.double() @ b.double()
for _kind in (torch.float32, torch.float16, torch.bfloat16):
    _result = (a.to(_kind) @ b.to(_kind)).double()
    assert ((_result - _exact).abs() / _exact).max() < 64 * torch.finfo(_kind).eps

# %% [markdown] name="checklist"
# # Recap ({minutes} minutes)
#
# | you see | look at |
# |---|---|
# | "Expected all tensors to be on the same device" | a tensor made in `forward`, a mask that is not a buffer, layers in a list, a batch left behind |
# | no error, and the weights stay | the optimizer was built before the parameters were replaced |
# | the GPU is hardly busy | `.item()` or `print` in each step; batches that come too slowly |
# | a speed-up that is too good | no `synchronize` before the clock is read |
# | "CUDA out of memory" | the batch; then mixed precision; then activation checkpointing (a side path of section 12) |
# | "must have the same dtype" | the border of autocast: `.float()` |
# | the loss falls more slowly than in float32 | weights in 16 bits: `model.bfloat16()` or `model.half()` somewhere |
# | loss nan or inf in float16 | a loss outside of autocast, or a formula that needs an island (section 10) |
# | the first layers do not learn in float16 | the scaler is missing (section 8) |
# | learning much too slow in float16 | clipped before `unscale_` |

# %% [markdown] name="progress-text"
# What have you passed, and what is open? `progress(5)` shows it for this chapter, and `progress()` for all.

# %% name="progress"
progress(5)

# %% [markdown] name="questions-1-4"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. In which order: model, device, optimizer? Why?
# 2. What makes a device wait?
# 3. Which part of the memory grows with the batch?
# 4. What goes wrong in 16 bits at each part of a step, and what is the remedy?
# 5. What happens to a step that overflows?
#
# <details><summary>Answers</summary>
#
# 1. Build, move, then the optimizer: it holds the parameters that the model has at that moment.
# 2. Whatever needs a number on the host, such as `loss.item()`, `print(loss)` or an `if`.
# 3. The activations.
# 4. Forward: losses and long sums get coarse, and in float16 inf; autocast. Backward: too small becomes 0; scale the loss. Update: steps are lost beside the large; weights in float32.
# 5. It is skipped, and the factor is halved.
#
# </details>

# %% [markdown] name="faq"
# ### Questions people ask
#
# <details><summary>Does a single number have to be on the device, and in its dtype?</summary>
#
# No. A tensor without axes, such as `torch.tensor(0.5)`, counts as a number: it may come from the CPU, and 16 bits times it stays 16 bits.
#
# </details>
#
# <details><summary>Do I need mixed precision at all?</summary>
#
# For a small model, or on a CPU without circuits for it, no. With a large one on a GPU, try it, and measure time, memory and the loss.
#
# </details>

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "CUDA semantics", "Automatic Mixed Precision package", "torch.compile" and "Reproducibility";
# Micikevicius and others, "Mixed Precision Training" (2018);
# Chen and others, "Training Deep Nets with Sublinear Memory Cost" (2016).
#
# Next is chapter 6: a trainer of your own brings a convolutional network to 99 of 100 digits, and then it reads yours.
