# %% [markdown] name="opening"
# # Chapter 5: GPU and mixed precision
#
# The same training, on another device and in smaller numbers.
# After this chapter you can
#
# 1. choose a device
# 2. write code that runs on any device
# 3. say what waits for a transfer or a value, and what does not
# 4. measure time correctly
# 5. say where the memory goes, before it is gone
# 6. choose among the float formats
# 7. predict the dtype of each operation under autocast
# 8. keep small gradients alive by loss scaling
# 9. write the whole loop in mixed precision
# 10. trade time for memory, by activation checkpointing
# 11. choose a tolerance, and ask for determinism
#
# You need no GPU: every exercise is checked on the CPU.
# With one, set `device = "cuda"` below; the cells that can show more then do, and elsewhere they say so in a line.
#
# Plan 75 minutes, without the stretch exercises; the bug hunt in the middle is a good place for a break.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import copy
import math
import statistics
import time
import warnings
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from autograder import check, hint, progress, reveal, shows_error
from course.figures import ch05_gpu_amp as figures

torch.set_num_threads(1)  # for work this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="devices"
# ## 1 Devices (4 minutes)
#
# A **device** is memory with something beside it that computes.
# The CPU is one; a graphics card, or **GPU**, is another.
# A GPU computes thousands of numbers at the same time, which suits matrices.
#
# torch calls NVIDIA's cards `"cuda"` (and AMD's too), Apple's `"mps"`.
# Choose once, at the top, and write `device` from there on.

# %% name="choose-device"
if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device(device)
x = torch.ones(3, device=device)
assert x.device.type == device.type
assert torch.ones(3).device.type == "cpu"  # without device=
print("this notebook works on:", x.device)

# %% [markdown]
# On a laptop without a GPU that prints `cpu`; with one, `cuda:0`, the first card.
#
# It is said that `torch.cuda.is_available()` tells whether CUDA is installed.
# That is not enough; three things must hold: this torch is built for CUDA, the driver works, and a card can be seen.
# Without them, asking for `"cuda"` is an error, not a quiet return to the CPU.

# %% name="is-available"
print("built for CUDA:", torch.backends.cuda.is_built())
print("cards seen:", torch.cuda.device_count(), "available:", torch.cuda.is_available())
assert torch.cuda.device_count() > 0 or not torch.cuda.is_available()
if torch.cuda.is_available():
    print(torch.cuda.get_device_name(0), torch.ones(1).cuda().device)
else:
    for ask in (torch.ones(1).cuda, lambda: torch.cuda.get_device_name(0)):
        with shows_error(Exception):  # which one depends on the build of torch
            ask()
    with shows_error(Exception):
        torch.ones(1, device="cuda:1")  # the second card

# %% [markdown]
# `.cuda()` is the short form of `.to("cuda")`.
# It stops on every machine without a card, so write `.to(device)`.
#
# Device and dtype may be given in one call, when you make a tensor and when you move it.

# %% name="dtype-and-device"
made = torch.zeros(2, 3, device=device, dtype=torch.bfloat16)
moved = torch.zeros(2, 3).to(device, torch.bfloat16)
assert made.dtype == moved.dtype == torch.bfloat16
assert made.device == moved.device and made.device.type == device.type
print(made.device, made.dtype)

# %% [markdown]
# ### Exercise: `pick_device`
#
# As above, with Apple's cards, and with a choice of the caller's own.

# %% exercise="pick_device"
def pick_device(prefer=None):
    """Return the torch.device to work on.

    prefer: a name such as "cpu" or "cuda:1", which then decides; or None, which asks for
    the first that is available of "cuda", "mps" and "cpu", in this order. torch is asked
    anew at each call: torch.cuda.is_available() and torch.backends.mps.is_available().

    pick_device("cpu") gives torch.device("cpu").
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

# %% [markdown] name="agnostic"
# ## 2 Code for any device (8 minutes)
#
# Device-agnostic code never names a device: it takes one as an argument, or asks its input for `x.device`.
#
# How do you test such code without a GPU?
# You know the device `"meta"` from chapter 3: it has shapes and no numbers.
# It cannot be mixed with the CPU either, so it is a fine stand-in.
#
# *Predict.* `x` is on the CPU, and then comes `y = x.to("meta")`. Where is x now?

# %% predict=true
guess = "cpu"  # "cpu" or "meta"

# %% name="moves"
x = torch.ones(3)
y = x.to("meta")
assert y.device.type == "meta" and y is not x
assert x.to("cpu") is x  # it is there already: nothing to do
reveal(guess, x.device.type)

# %% [markdown]
# `.to` returns another tensor and leaves the old one where it was.
# So `x.to(device)` alone on a line does nothing useful: write `x = x.to(device)`.
#
# The place of a tensor is set when it is made, and nothing moves unless you say so.
# What happens when two places meet?

# %% name="mismatch"
x, away = torch.ones(1, 3), torch.ones(1, 3, device="meta")
with shows_error(RuntimeError, match="not on the expected device"):
    x + away
with shows_error(RuntimeError, match="not on the expected device"):
    nn.Linear(3, 2).to("meta")(x)  # the model has been moved, and the batch has not
print((away * torch.tensor(2.0)).device)  # one exception: a scalar tensor from the CPU
assert (away * torch.tensor(2.0)).device.type == "meta"

# %% [markdown]
# That is why a script that works on the CPU may stop on the GPU: on the CPU, everything is in one place without your doing.
# (On CUDA the message begins "Expected all tensors to be on the same device".)
# torch does not quietly carry data over for you; it refuses.
#
# A module is moved by `.to` too.
#
# *Predict.* `layer = nn.Linear(3, 2)`, then `layer.to("meta")` alone on a line. Where is `layer.weight`?

# %% predict=true
guess = "meta"  # "cpu" or "meta"

# %% name="module-moves-in-place"
layer = nn.Linear(3, 2)
before = layer.weight
same = layer.to("meta")
assert same is layer  # the module itself
assert before.device.type == "cpu" and layer.weight is not before  # a new Parameter
reveal(guess, layer.weight.device.type)

# %% [markdown]
# A module moves in place: all its parameters and buffers, and those of its submodules.
#
# Between CPU and CUDA the Parameter objects stay, and only their memory is changed.
# Not always, as you see here: on the way to `"meta"` they are replaced.
# An optimizer that was built before holds the old ones.

# %% name="optimizer-too-early"
layer = nn.Linear(3, 2)
early = torch.optim.SGD(layer.parameters(), lr=0.1)
layer.to("meta")
late = torch.optim.SGD(layer.parameters(), lr=0.1)
assert early.param_groups[0]["params"][0] is not layer.weight
assert late.param_groups[0]["params"][0] is layer.weight
layer = nn.Linear(3, 2)
weight = layer.weight
assert layer.double().weight is weight  # a change of dtype keeps the object
print("built before: holds what the model had; built after: holds what it has")

# %% [markdown]
# The same happens when you put a new layer into the model: its parameters are new, and an older optimizer does not know them.
# Nothing raises; they are never updated.
#
# So keep to one order: **build the model, move it, build the optimizer**.
#
# The model is moved once, and each batch just before it is used: all the data together might not fit.
# Here is a training as in chapter 4; new is `.to(device)`, for the model and for each batch.

# %% name="same-loop"
def fit_line(device, steps=250):
    """Learn y = 2 * x + 1 on a device; return the loss, the slope and the offset."""
    x = torch.linspace(-1, 1, 64).unsqueeze(1)
    y = 2 * x + 1
    model = nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(steps):
        x_batch, y_batch = x.to(device), y.to(device)
        optimizer.zero_grad()
        loss = F.mse_loss(model(x_batch), y_batch)
        loss.backward()
        optimizer.step()
    return loss.item(), model.weight.item(), model.bias.item()


loss, slope, offset = fit_line(device)
assert loss < 1e-6 and abs(slope - 2) < 1e-3 and abs(offset - 1) < 1e-3
print(device, slope, offset)

# %% [markdown]
# The loop is the same everywhere.
#
# Batches come in many forms: a tensor, a pair, a dict of tensors and names.
#
# ### Exercise: `to_device`
#
# One function for all of them; it calls itself for the parts.

# %% exercise="to_device"
def to_device(obj, device):
    """Return obj with every tensor in it moved to device; obj itself stays as it was.

    obj: a tensor, or a dict, list, tuple or named tuple, nested to any depth. Each
    container comes back as a new one of its type, with the same keys in the same order.
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

# %% [markdown]
# ### Exercise: `train_step_on`
#
# The step of chapter 4, for any device.
# One thing is new: it returns a tensor, `loss.detach()`, and no float.
# Section 3 says why.

# %% exercise="train_step_on"
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    """Do one step of training on device, and return the loss from before the step.

    The model is on device already; the batch may be anywhere. The batch is moved, old
    gradients are cleared, and model, criterion(prediction, y), backward and the
    optimizer each run once. The loss comes back as a scalar tensor on device, without a
    record: nothing waits for its value, so the step runs on the meta device too.

    For nn.Linear(1, 1) with weight 2 and bias 0, SGD with lr=0.1, nn.MSELoss(),
    x_batch = [[1.0]] and y_batch = [[5.0]] the result is tensor(9.), the new weight 2.6.
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

# %% [markdown] name="waiting"
# ## 3 What waits (7 minutes)
#
# A GPU works beside the program, not inside it.
# The program runs on the CPU, called the **host**.
# `a @ b` puts a piece of work into the device's queue, and the host goes on at once, before the product is there.
# That is **asynchronous**: both work at the same time.
#
# Here is a toy with a clock, so that you can count without a GPU.

# %% name="toy-device"
class ToyDevice:
    """A device with a queue, in invented time; handing over work takes the host 1 ms."""

    def __init__(self):
        self.host = self.done = 0  # the host's clock; when the device's last work ends
        self.blocks = []  # (who, what, begin, end), for the figure

    def launch(self, cost):
        self.blocks.append(("host", "launch", self.host, self.host + 1))
        self.host += 1
        begin = max(self.host, self.done)  # when it is handed over and the device is free
        self.done = begin + cost
        self.blocks.append(("device", "work", begin, self.done))

    def wait(self):  # until the queue is empty
        self.blocks.append(("host", "wait", self.host, max(self.host, self.done)))
        self.host = max(self.host, self.done)

# %% [markdown]
# *Predict.* The host launches three pieces of work of 4 ms each, and does not wait. What does its clock say then?

# %% predict=true
guess = 3  # milliseconds

# %% name="no-wait"
toy = ToyDevice()
for _ in range(3):
    toy.launch(4)
handed_over = toy.host
toy.wait()
assert toy.host == 13  # 1 for the first launch, then 3 * 4
reveal(guess, handed_over)

# %% [markdown]
# 3 ms to hand over, 13 ms to have it done.
# Meanwhile the host was free, for example to prepare the next batch.
#
# Some things need a value on the host: `loss.item()`, `float(loss)`, `if loss > 3`, `print(loss)`, `x.cpu()`, `x.nonzero()`.
# There the host must wait until the queue is empty: a **synchronization**, sync for short.
# Then the device has nothing to do until the host has launched again.

# %% name="item-each-step"
def toy_run(steps, looks):
    """Three launches of 1 ms a step; with `looks`, a step ends with a look at a value."""
    toy = ToyDevice()
    for _ in range(steps):
        for _ in range(3):
            toy.launch(1)
        if looks:
            toy.wait()
    toy.wait()
    return toy


free, looking = toy_run(4, looks=False), toy_run(4, looks=True)
assert (free.host, looking.host) == (13, 16)
print("a look at the end:", free.host, "ms; a look in each step:", looking.host, "ms")

# %% figure=true
figures.timelines({"a look at the end": free.blocks, "a look in each step": looking.blocks})

# %% [markdown]
# The gaps in the lower row of the second picture are time in which the device stands still.
# How long they are on a real card depends on the card and on the work; that they are there does not.
#
# So add up `loss.detach()` on the device, and look once in a hundred steps.
#
# The meta device finds such places for you: it has no values, so it raises.

# %% name="what-waits"
def needs_value(action):
    """Does this need a number from the device?"""
    try:
        action(torch.ones(3, device="meta"))
        return False
    except RuntimeError:
        return True


looks = {
    "x.sum().item()": lambda x: x.sum().item(),
    "if x.sum() > 0": lambda x: bool(x.sum() > 0),
    "x.tolist()": lambda x: x.tolist(),
    "x.cpu()": lambda x: x.cpu(),
    "x.nonzero()": lambda x: x.nonzero(),
    "x.sum()": lambda x: x.sum(),
    "torch.where(x > 0, x, 0)": lambda x: torch.where(x > 0, x, 0.0),
    "x.shape[0] > 2": lambda x: x.shape[0] > 2,
}
waits = {words: needs_value(action) for words, action in looks.items()}
assert list(waits.values()) == [True] * 5 + [False] * 3
for words, waiting in waits.items():
    print("waits:  " if waiting else "goes on:", words)

# %% [markdown]
# Shapes and dtypes are known on the host, so asking for them waits for nothing.
# `nonzero` waits because the *shape* of its result depends on values.
#
# What about the way there?
# `x.to("cuda")` waits until the copy is done.
# From **pinned** memory, which the system keeps in one place so that the card can fetch it by itself, `x.to(device, non_blocking=True)` goes on at once.
# A DataLoader gives such batches with `pin_memory=True`.
# On the CPU the word changes nothing.

# %% name="non-blocking"
batch = torch.randn(1000, 1000)
if device.type == "cuda":
    batch = batch.pin_memory()
    print("pinned:", batch.is_pinned())
else:
    print("no CUDA here: a GPU would fetch this batch while the host goes on")
there = batch.to(device, non_blocking=True)
assert torch.equal(there.cpu(), batch)  # the way back waits, so the numbers are complete

# %% [markdown]
# (The way back with `non_blocking=True` is a trap: the host may read numbers that have not arrived.)
#
# ### Exercise: `count_syncs` (stretch, extra credit)
#
# Everything torch does passes through a **dispatcher**, which chooses the code for the device.
# A `TorchDispatchMode` looks over its shoulder.
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
assert seen == ["aten.ones", "aten.mul", "aten.sum", "aten._local_scalar_dense"]
print(seen)  # the last one fetches the number

# %% exercise="count_syncs"
def count_syncs(fn):
    """Call fn() once and return the operations in it that need a value on the host.

    Look for two: _local_scalar_dense (item, float, int, bool, an `if` on a tensor) and
    nonzero. The result lists their names in the order in which they ran, each as
    often as it ran: "aten._local_scalar_dense", "aten.nonzero". The mode sees each
    operation as `func`; str(func.overloadpacket) is its name.

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

# %% [markdown] name="bug-hunt"
# ## Bug hunt (8 minutes)
#
# Five pieces of a program that somebody wrote on a laptop.
# All run on the CPU; on another device each of them fails, most loudly, one in silence.
# There are six faults: each piece has one about places, and the last piece has a second one, a look at a value in the hot path, the part that runs in each step.
#
# Run them on the meta device: `AddPlaces(4).to("meta")(torch.ones(2, 3, 4, device="meta"))`, and so on.
#
# ### Exercise: `make_agnostic`
#
# Mend the five, with as few changes as you can.

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
#     """Return the five, mended: a dict of names (leave this function as it is).
#
#     The modules go to any device with .to(device), whole: all their tensors, masks too.
#     forward makes what it needs on the device of x. start returns an SGD optimizer that
#     holds exactly the parameters of the model as it then is. epoch moves its batches,
#     and returns the mean loss as a scalar tensor on device, without a record; no step
#     waits for a value. On the CPU each computes the numbers that it computes now. Learned
#     are the slope of AddPlaces and the layers of Stack; the mask of KeepColumns is not.
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
    """Return the five, mended: a dict of names (leave this function as it is).

    The modules go to any device with .to(device), whole: all their tensors, masks too.
    forward makes what it needs on the device of x. start returns an SGD optimizer that
    holds exactly the parameters of the model as it then is. epoch moves its batches,
    and returns the mean loss as a scalar tensor on device, without a record; no step
    waits for a value. On the CPU each computes the numbers that it computes now. Learned
    are the slope of AddPlaces and the layers of Stack; the mask of KeepColumns is not.
    """
    modules = {"places": AddPlaces, "keep": KeepColumns, "stack": Stack}
    return {**modules, "start": start, "epoch": epoch}
    ### END SOLUTION


# %% check="make_agnostic" points=4
check("make_agnostic", make_agnostic)

# %% [markdown] name="timing"
# ## 4 Measuring time (6 minutes)
#
# Is it faster on the GPU?
# Nobody can tell you for your model and your card, so measure.
# Three things go wrong.
#
# **No sync.** Without waiting you measure the handing over: 3 ms in place of 13, above.
# `torch.cuda.synchronize()` waits until the queue is empty; before reading the clock the first time, too, or you pay for what was in the queue already.

# %% name="left-over-work"
toy = ToyDevice()
toy.launch(50)  # left over from before
begin = toy.host
toy.launch(4)
toy.wait()
too_long = toy.host - begin

toy.wait()  # now nothing is left over
begin = toy.host
toy.launch(4)
toy.wait()
assert (too_long, toy.host - begin) == (54, 5)
print("with work left over:", too_long, "ms; after a wait:", toy.host - begin, "ms")

# %% [markdown]
# **No warm-up.** The first call does more: it loads code, asks for memory, chooses a method.
#
# **The mean.** Other programs get in the way now and then, and one slow call pulls the mean.
# The median, the value in the middle, stays.

# %% name="median"
times = [1, 1, 2, 1, 95]
print("mean:", statistics.mean(times), " median:", statistics.median(times))
assert statistics.mean(times) == 20 and statistics.median(times) == 1

# %% [markdown]
# ### Exercise: `bench`
#
# The device's wait is an argument, `sync`: `torch.cuda.synchronize` on a GPU, on the CPU a function that does nothing.

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

# %% [markdown]
# Three questions for a stopwatch.
# What it prints holds for your machine; run it there.
#
# A batch of a hundred rows, or a hundred times one row?

# %% name="batch-of-100"
def stopwatch(action, calls=5 if short else 15):
    """Return the median seconds of a call on `device`, after two calls to warm up."""
    sync = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    seconds = []
    for _ in range(calls + 2):
        sync()
        begin = time.perf_counter()
        action()
        sync()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[2:])


machine = torch.cuda.get_device_name(device) if device.type == "cuda" else "this CPU, one thread"
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1)).to(device)
rows = torch.randn(100, 64, device=device)
with torch.no_grad():
    apart = torch.cat([model(row) for row in rows.split(1)])
    assert torch.allclose(model(rows), apart, atol=1e-2)  # some cards round the factors first
    one, batch = stopwatch(lambda: model(rows[:1])), stopwatch(lambda: model(rows))
    loop = stopwatch(lambda: [model(row) for row in rows.split(1)])
assert batch < loop  # the same numbers, in one go
print(f"{machine}: 100 rows / 1 row = {batch / one:.1f}, loop / batch = {loop / batch:.1f}")

# %% [markdown]
# A batch of 100 costs less than 100 calls, on the CPU too: each call has a price of its own.
# "On a GPU, 100 rows take as long as one" is so while one row leaves most of the card idle, and no longer than that.
#
# Where does the time go?
# First: which operations run at all, and how often?
# `Tell` from section 3 counts them anywhere.
# For how long each of them ran on a card, the **profiler** says, in microseconds (us) and by the names that the card's programs have.

# %% name="profiler"
seen = []
with torch.no_grad(), Tell():
    model(rows)
assert seen == ["aten.t", "aten.addmm", "aten.relu", "aten.t", "aten.addmm"]
print(seen)  # a Linear is addmm, a product and a sum in one, with its transposed weight
if device.type == "cuda":
    with torch.no_grad(), torch.profiler.profile() as profile:
        for _ in range(10):
            model(rows)
    work = [event for event in profile.key_averages() if event.device_type.name == "CUDA"]
    for event in sorted(work, key=lambda event: -event.self_device_time_total):
        print(f"{event.self_device_time_total:8.0f} us, {event.count} times: {event.key[:60]}")
else:
    print("no CUDA here: on a GPU the profiler would list the card's work and its times")

# %% [markdown]
# Is the GPU faster, then?
# The same product on both, checked and timed.
# (This chapter lets the CPU use one thread; with all of them it is quicker.)

# %% name="race"
a, b = torch.randn(512, 512), torch.randn(512, 512)
there_a, there_b = a.to(device), b.to(device)
assert torch.allclose((there_a @ there_b).cpu(), a @ b, atol=0.1)  # numbers of about 20
on_device = stopwatch(lambda: there_a @ there_b)
print(f"512 x 512 matrices on {machine}: {on_device * 1e3:.3g} ms")
if device.type == "cuda":
    host = stopwatch(lambda: a @ b)
    print(f"That is {on_device / host:.2g} of the time of one thread of this CPU.")
else:
    print("no CUDA here: a GPU would show its share of the CPU's time")

# %% [markdown] name="memory"
# ## 5 Where the memory goes (7 minutes)
#
# "CUDA out of memory": whoever trains on a GPU meets this error sooner or later.
# A training step holds four things:
#
# - the **parameters**;
# - their **gradients**, as many numbers again;
# - the **optimizer's state**: nothing for plain SGD, one number for each weight with momentum, two for Adam;
# - the **activations**: what the forward pass saves for backward.
#
# *Predict.* 1000 weights in float32, trained with Adam. How many bytes are that, without the activations?

# %% predict=true
guess = 16_000  # bytes

# %% name="four-parts"
layer = nn.Linear(1000, 1, bias=False)
adam = torch.optim.Adam(layer.parameters())
layer(torch.ones(1, 1000)).sum().backward()
adam.step()
state = adam.state[layer.weight]
assert state["exp_avg"].shape == state["exp_avg_sq"].shape == layer.weight.shape
parts = [layer.weight, layer.weight.grad, state["exp_avg"], state["exp_avg_sq"]]
reveal(guess, sum(part.nbytes for part in parts))

# %% [markdown]
# 4 numbers of 4 bytes for each weight.
# (Adam also counts its steps: one number for each tensor, which we leave out.)
#
# None of it depends on the batch.
# The activations do.
# In chapter 2 you met the hooks that see what is saved.

# %% name="what-is-saved"
def saved_shapes(model, batch):
    """Return the shapes that the forward pass saves, in order."""
    shapes = []

    def note(tensor):
        shapes.append(tuple(tensor.shape))
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        model(batch)
    return shapes


model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 1))
print(saved_shapes(model, torch.randn(32, 10)))
assert saved_shapes(model, torch.randn(32, 10)) == [(32, 10), (32, 20), (32, 20), (20, 1)]

# %% [markdown]
# The batch for the first layer; the result of the ReLU, for itself and for the last layer, which is one piece of memory saved twice; and the last layer's weight, which is a parameter.
# So there are 32 * 10 + 32 * 20 = 960 numbers of activations.
#
# Which part is the large one?
# It depends on the batch.

# %% figure=true
figures.memory((64, 512, 512, 10), batches=(16, 256, 1024, 4096))

# %% [markdown]
# With a large batch, the activations outgrow the rest.
# That is why the first cure for "out of memory" is a smaller batch (with accumulation, from chapter 2), and the next are smaller numbers and checkpointing, below.
#
# ### Exercise: `memory_plan`
#
# Two tensors share memory if `t.untyped_storage().data_ptr()` is the same for both; `t.untyped_storage().nbytes()` is the size of all of it.
# An address may be given out again when its tensor is gone, so keep the model's result until you have counted.

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

# %% [markdown]
# On a GPU, `torch.cuda.memory_allocated()` says how many bytes tensors hold now, `max_memory_allocated()` the most since the last reset.
# That is more than the plan: pieces are rounded up, and operations need room to work, above all backward, for the gradients of the activations.

# %% name="memory-on-device"
wide = nn.Sequential(nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)).to(device)
plan = sum(p.nbytes for p in wide.parameters()) + 2 * 4096 * 512 * 4
assert saved_shapes(wide, torch.randn(8, 512, device=device))[:2] == [(8, 512), (8, 512)]
print("plan for gradients, batch and hidden layer:", plan, "bytes")
if device.type == "cuda":
    before = torch.cuda.memory_allocated()  # the parameters, and what is left from above
    torch.cuda.reset_peak_memory_stats()
    wide(torch.randn(4096, 512, device=device)).sum().backward()
    print("at most held besides:", torch.cuda.max_memory_allocated() - before, "on", machine)
else:
    print("no CUDA here: a GPU would show the most that was held in the step")

# %% [markdown] name="formats"
# ## 6 Smaller numbers (4 minutes)
#
# Half the bytes for each number is half the memory, everywhere.
# Whether it is faster depends on the hardware: some processors have circuits for 16-bit products, others imitate them slowly.

# %% name="half-memory"
full = torch.randn(256, 256, device=device)
low = full.to(torch.bfloat16)
assert full.nbytes == 2 * low.nbytes
ratio = stopwatch(lambda: full @ full) / stopwatch(lambda: low @ low)
print(f"memory: half. On {machine}, a product in bfloat16 has {ratio:.2g} times the speed")

# %% [markdown]
# A number below 1 means slower.
# Believe no "twice as fast" that does not name the machine.
#
# There are two formats of 16 bits, and they spend them differently.
# You met both in chapter 1.

# %% name="formats-table"
for kind in (torch.float32, torch.bfloat16, torch.float16):
    info = torch.finfo(kind)
    print(f"{info.dtype:9} {info.tiny:.1e} to {info.max:.1e}, eps {info.eps:.0e}")
f32, bf16, f16 = (torch.finfo(k) for k in (torch.float32, torch.bfloat16, torch.float16))
assert f16.max == 65504 and bf16.max > 3e38 and bf16.tiny == f32.tiny
assert f32.eps < f16.eps and bf16.eps == 8 * f16.eps

# %% [markdown]
# Each line: the smallest normal number (below it, digits get lost), the largest, and `eps`, the gap after 1.
#
# bfloat16 has the range of float32 and wide gaps; float16 has eight times finer gaps and a small range, at both ends.
#
# *Predict.* What is `torch.tensor(300.0, dtype=torch.float16) ** 2`?

# %% predict=true
guess = math.inf  # a number

# %% name="overflow"
assert torch.tensor(300.0, dtype=torch.bfloat16) ** 2 == 90112  # 90000, to the nearest
reveal(guess, (torch.tensor(300.0, dtype=torch.float16) ** 2).item())

# %% [markdown]
# So with float16 something overflows or vanishes now and then; section 8 is about that.
# With bfloat16, small steps get lost.
#
# ### Exercise: `master_weights` (stretch, extra credit)
#
# The cure is a **master copy**: the weights stay in float32, and only the computation is done in 16 bits.
# Here you see what it is good for.

# %% exercise="master_weights"
def master_weights(w16, grad, lr, steps):
    """Do the same gradient steps without and with a float32 master copy; return both ends.

    w16: weights in bfloat16; grad: their gradient, of the same shape and dtype, the same
    at each step; both stay as they were. The result is a tuple (alone, master).
    alone, bfloat16: steps times w - lr * grad, all in bfloat16.
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

# %% [markdown] name="autocast"
# ## 7 Autocast (9 minutes)
#
# **Mixed precision** is: weights in float32, most of the computation in 16 bits, and what is delicate in float32.
# `torch.autocast` chooses, operation by operation; the name for all of this together is AMP, automatic mixed precision.
#
# *Predict.* Inside the block, `layer(x)` comes out as bfloat16. What is the dtype of `layer.weight` there?

# %% predict=true
guess = torch.float32  # a dtype

# %% name="autocast-per-op"
layer, x, target = nn.Linear(4, 4), torch.randn(3, 4), torch.randn(3, 4)
with torch.autocast("cpu"):
    h = layer(x)
    loss = F.mse_loss(h, target)
    inside = layer.weight.dtype
loss.backward()
print("layer(x):", h.dtype, " loss:", loss.dtype, " weight.grad:", layer.weight.grad.dtype)
assert h.dtype == torch.bfloat16 and loss.dtype == torch.float32
assert layer.weight.grad.dtype == torch.float32
reveal(guess, inside)

# %% [markdown]
# You may read that everything in the block runs in 16 bits.
# It goes by the operation:
#
# - **products** (`Linear`, `@`, convolutions): operands are turned to 16 bits, and so is the result;
# - **delicate ones** (most losses): operands are turned to float32;
# - **two dtypes together** (`h + x`): the wider one wins, unless it is a single number without axes;
# - **all others** (`relu`): whatever dtype comes in goes out.
#
# The weight stays float32; what `Linear` uses is a copy in 16 bits.

# %% figure=true
figures.dtype_flow()

# %% [markdown]
# The lists are not the same on every device.
# On the CPU the dtype is bfloat16, and softmax takes what comes; for CUDA, the documentation says float16, and lists softmax and sums among the delicate ones.
# Ask your own device.

# %% name="ask-the-device"
tests = {
    "x @ x.T": lambda h, x: x @ x.T,
    "relu(h)": lambda h, x: torch.relu(h),
    "relu(x)": lambda h, x: torch.relu(x),
    "h + x": lambda h, x: h + x,
    "softmax(h)": lambda h, x: torch.softmax(h, dim=1),
    "l1_loss(h, x)": lambda h, x: F.l1_loss(h, x),
}
x = torch.randn(3, 4, device=device)
layer = nn.Linear(4, 4).to(device)
with torch.autocast(device.type):
    h = layer(x)
    told = {words: action(h, x).dtype for words, action in tests.items()}
assert told["x @ x.T"] == told["relu(h)"] == h.dtype != torch.float32
assert told["relu(x)"] == told["h + x"] == told["l1_loss(h, x)"] == torch.float32
for words, dtype in told.items():
    print(words, dtype)

# %% [markdown]
# ### Exercise: `autocast_dtypes`
#
# Predict, operation by operation; what the operations do on this device is the key.

# %% exercise="autocast_dtypes"
def autocast_dtypes(ops, device):
    """Return the dtype that each of `ops` has under autocast, as a dict from name to dtype.

    Everything in the block starts as float32: x, target and the layer with its weight.
    The block is `with torch.autocast(device):`, with no dtype given. In it:
    "linear" is h = layer(x); "relu" is torch.relu(h); "relu_of_input" is torch.relu(x);
    "matmul" is x @ x.T; "add" is h + x; "softmax" is torch.softmax(h, dim=1);
    "mse_loss" is F.mse_loss(h, target); "cross_entropy" is F.cross_entropy(h, labels);
    "weight" is layer.weight; "grad" is layer.weight.grad after the backward pass.

    device: the type of the device; "cpu" is what is judged. By the rule, from the names
    alone: `autocast` stands nowhere in the answer.

    autocast_dtypes(["linear"], "cpu") gives {"linear": torch.bfloat16}.
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

# %% [markdown]
# ### Mistakes at the border
#
# What comes out of the block is 16 bits, and outside nobody converts it.

# %% name="border-mistakes"
layer, x = nn.Linear(4, 4), torch.randn(3, 4)
with torch.autocast("cpu"):
    h = layer(x)
with shows_error(RuntimeError, match="same dtype"):
    layer(h)  # outside again
assert layer(h.float()).dtype == torch.float32  # the remedy: convert where you leave

# %% [markdown]
# The other mistake is to turn the model itself to 16 bits, by `model.half()` or `model.bfloat16()`: then the weights, the gradients and the optimizer's state have lost their digits.

# %% name="no-master-copy"
low = nn.Linear(1, 1).bfloat16()
before = nn.init.ones_(low.weight).clone()
low.weight.grad = torch.ones_like(low.weight)
torch.optim.SGD(low.parameters(), lr=0.001).step()
assert torch.equal(low.weight, before)  # a step of 0.001 from 1.0, and nothing has changed
print("weight after the step:", low.weight.item())

# %% [markdown]
# ### A fragile part
#
# Autocast does not know your formula.
# The distance of two points by |a|^2 + |b|^2 - 2ab is a small difference of large numbers, and its product would be done in 16 bits.
#
# `autocast(enabled=False)` makes an island without autocast.
# But what comes in from outside may be 16 bits already, and the switch alone does not change that.

# %% name="fragile"
def square_distance(a, b):
    return (a * a).sum() + (b * b).sum() - 2 * (a @ b)


a, b = torch.tensor([100.0, 1.0]), torch.tensor([100.0, 3.0])  # 4 apart, squared
layer = nn.Linear(2, 2)
with torch.autocast("cpu"):
    rough = square_distance(a, b)
    with torch.autocast("cpu", enabled=False):
        exact = square_distance(a, b)
        with shows_error(RuntimeError, match="same dtype"):
            layer(a.bfloat16())  # the switch alone does not convert what comes in
print("under autocast:", rough.item(), " in float32:", exact.item())
assert exact == 4 and rough != 4

# %% [markdown]
# ### Exercise: `mixed_region`
#
# The whole recipe has two parts: the switch, and `.float()`.

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

# %% [markdown]
# ### What does it bring?
#
# Less memory for activations: in a network of products and ReLU half of it, and a little for the 16-bit copies of the weights, which are saved too.

# %% name="autocast-memory"
def kept_bytes(forward, model):
    """Return the bytes that forward() saves for backward, parameters left out."""
    own = {p.untyped_storage().data_ptr() for p in model.parameters()}
    kept = {}

    def note(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            kept[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = forward()  # as long as it lives, so do the saved tensors
    assert result.requires_grad
    return sum(kept.values())


model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
batch = torch.randn(4096, 64)
full = kept_bytes(lambda: model(batch), model)
with torch.autocast("cpu"):
    mixed = kept_bytes(lambda: model(batch), model)
assert 0.5 < mixed / full < 0.52
print("float32:", full, "bytes; under autocast:", mixed)

# %% [markdown]
# Speed only where the hardware is quick with 16 bits, and where the products are large.
# "Free" it is not: each cast is an operation of its own.
# You can see them with the mode from section 3.

# %% name="autocast-price"
def speed_under_autocast(model, x):
    """How many times as fast the forward pass is under autocast, on `device`."""

    def low():
        with torch.autocast(device.type):
            model(x)

    with torch.no_grad():
        return stopwatch(lambda: model(x)) / stopwatch(low)


seen = []
with Tell(), torch.autocast("cpu"):
    nn.Linear(4, 4)(torch.ones(1, 4))
assert seen.count("aten._to_copy") == 3  # the input, the weight, the bias

tiny = speed_under_autocast(nn.Linear(1, 1).to(device), torch.randn(20, 1, device=device))
deep = nn.Sequential(*[nn.Linear(256, 256) for _ in range(4)]).to(device)
large = speed_under_autocast(deep, torch.randn(128, 256, device=device))
print(f"on {machine}: one neuron {tiny:.2g}, four layers {large:.2g} times as fast")

# %% [markdown]
# On some CPUs both numbers are below 1: mixed precision is slower there.
# Measure before you switch it on.
#
# ### Old names
#
# Tutorials from some years ago write `torch.cuda.amp.autocast()` and `torch.cuda.amp.GradScaler()`.
# These names still work, with a warning; write `torch.amp` and name the device.

# %% name="old-names"
def warnings_of(action):
    """Call it; return the first line of each warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        action()
    return [str(warning.message).strip().split("\n")[0] for warning in caught]


for old in (torch.cuda.amp.autocast, torch.cuda.amp.GradScaler):
    told = warnings_of(old)
    assert "is deprecated" in told[0] and "torch.amp." in told[0]
    print(told[0])

# %% [markdown]
# A script that says `"cuda"` on a machine without it does not stop: it warns, and computes in float32.
# Whoever does not read the warning thinks that mixed precision has been tested.

# %% name="cuda-names-on-cpu"
def product_for_cuda():
    with torch.autocast("cuda"):
        dtypes.append((torch.ones(2, 2) @ torch.ones(2, 2)).dtype)


dtypes = []
told = warnings_of(product_for_cuda) + warnings_of(lambda: torch.amp.GradScaler("cuda"))
if torch.cuda.is_available():
    print("CUDA is here, so there is nothing to warn of")
else:
    print(*told, sep="\n")
    assert len(told) == 2 and all("not available" in line for line in told)
assert dtypes == [torch.float32]  # these two matrices are on the CPU

# %% [markdown] name="scaling"
# ## 8 Loss scaling (6 minutes)
#
# Gradients are often tiny: a mean over many numbers, a product of many factors.
# The smallest positive float16 is about 6e-8; below half of it there is only 0.
# A weight with gradient 0 does not learn.
#
# The trick: multiply the loss by a large factor.
# By the chain rule, every gradient is multiplied too.
# Then divide, in float32.

# %% name="scale-saves"
weight = torch.ones(1, dtype=torch.float16, requires_grad=True)


def gradient(scale):
    """The float16 gradient of scale * 1e-8 * weight."""
    tiny = torch.tensor(1e-8 * scale)  # float32, as the loss is
    (grad,) = torch.autograd.grad(tiny * weight.float().sum(), weight)
    return grad


plain, rescued = gradient(1.0), gradient(65536.0).float() / 65536
print("unscaled:", plain.item(), " scaled and unscaled:", rescued.item())
assert plain == 0 and abs(rescued - 1e-8) < 1e-11

# %% [markdown]
# Here is a whole network: six layers with sigmoids.
# The bars say how large its gradients are; the light band is what float16 can hold.
# Left of it they are lost.

# %% figure=true
figures.gradients(scales=(1.0, 2.0**12, 2.0**26))

# %% [markdown]
# Scaling moves the picture to the right.
# Too far, and the largest gradients fall off the other end: they become inf.
#
# ### Exercise: `underflow_report`
#
# Count what is lost.
# The gradients of all parameters, without touching `.grad`: `torch.autograd.grad(loss, params, allow_unused=True)`; for a parameter that the loss does not depend on it gives None.

# %% exercise="underflow_report"
def underflow_report(loss_fn, scales):
    """Return for each scale the share of the gradient that float16 loses: a dict of floats.

    loss_fn() computes anew, and returns a float32 loss and the list of the float32
    parameters. For each scale: take the gradients of scale * loss, turn them to float16,
    and count the entries that are then 0 although they were not 0 in float32. The share
    is this count divided by the count of the entries that were not 0 in float32, over all
    parameters together. A parameter that the loss does not depend on has no gradient, and
    no part in either count. If nothing is to be counted, the share is 0.0. The .grad of
    the parameters stays as it was.

    With gradient [1e-9, 1e-3, 0.0] and scales [1.0, 1024.0]: {1.0: 0.5, 1024.0: 0.0}.
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

# %% [markdown]
# ### Which factor?
#
# As large as possible without overflow, and that changes during training.
# `torch.amp.GradScaler` searches: it begins high, and when a gradient is inf or nan, it **skips the step** and halves the factor.
# After many good steps (2000, unless you say otherwise) it tries twice as much.
#
# *Predict.* The factor is 1024, and a gradient overflows. What are the factor and the weight (it was 1.0) after `step` and `update`?

# %% predict=true
guess = (512.0, 1.0)  # (factor, weight)

# %% name="scaler-backs-off"
def one_round(weight, optimizer, scaler, slope):
    """One step on slope * weight; return the factor and the weight after it."""
    optimizer.zero_grad()
    scaler.scale(slope * weight).backward()
    scaler.step(optimizer)  # divides the gradient first; skips if it is not finite
    scaler.update()
    return scaler.get_scale(), weight.item()


weight = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([weight], lr=0.5)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0, growth_interval=2)
after_overflow = one_round(weight, optimizer, scaler, slope=math.inf)
after_good_steps = [one_round(weight, optimizer, scaler, slope=0.25) for _ in range(2)]
assert after_good_steps == [(512.0, 0.875), (1024.0, 0.75)]  # grown again
print(after_good_steps)
reveal(guess, after_overflow)

# %% [markdown]
# The step is lost, and the weight is sound: an update with inf would have destroyed it.
# (So the first few steps of a run may be skipped; that is no fault.)
#
# Here is the search over 60 steps, with gradients that grow in the middle.

# %% figure=true
figures.scaler_search(steps=60)

# %% [markdown]
# bfloat16 has the range of float32, so it needs no scaling.
# That is its advantage over float16; the price is digits.
#
# ### Exercise: `LossScaler` (stretch, extra credit)
#
# Your own scaler: begin with the static one, in which the factor stays; then add the search.

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
#     update() ends the round. If growth_interval is None (static), the factor stays and
#     clean_steps stays 0. Otherwise, after gradients that were not finite the factor is
#     multiplied by backoff and clean_steps is 0 again; after finite ones clean_steps grows
#     by 1, and when it reaches growth_interval, the factor is multiplied by growth and
#     clean_steps is 0 again.
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
    update() ends the round. If growth_interval is None (static), the factor stays and
    clean_steps stays 0. Otherwise, after gradients that were not finite the factor is
    multiplied by backoff and clean_steps is 0 again; after finite ones clean_steps grows
    by 1, and when it reaches growth_interval, the factor is multiplied by growth and
    clean_steps is 0 again.

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

# %% [markdown] name="amp-loop-text"
# ## 9 The whole loop (7 minutes)
#
# The five lines of chapter 4, in mixed precision:
#
# | the step | what to watch |
# |---|---|
# | `optimizer.zero_grad()` | |
# | `with torch.autocast(...):` model and loss | the forward pass alone |
# | `scaler.scale(loss).backward()` | outside of the block: backward takes each operation's own dtype |
# | `scaler.unscale_(optimizer)` | once; needed only if you look at gradients before the step |
# | `clip_grad_norm_(...)` | on true gradients, so after `unscale_` |
# | `scaler.step(optimizer)` | not `optimizer.step()` |
# | `scaler.update()` | once |

# %% name="amp-loop"
def fit_mixed(dtype, use_scaler, steps=250):
    """Learn y = 2 * x + 1 under CPU autocast; return the last loss and the slope."""
    x = torch.linspace(-1, 1, 64).unsqueeze(1)
    y = 2 * x + 1
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    scaler = torch.amp.GradScaler("cpu", enabled=use_scaler)  # disabled, it changes nothing
    for _ in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=dtype):
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
    return loss.item(), model.weight.item()


for dtype, use_scaler in ((torch.bfloat16, False), (torch.float16, True)):
    loss, slope = fit_mixed(dtype, use_scaler)
    assert loss < 1e-3 and abs(slope - 2) < 0.02
    print(dtype, f"loss {loss:.1e}, slope {slope:.4f}")

# %% [markdown]
# Close to float32's result, and not the same.
#
# Two mistakes, live.
# The first: clip before unscaling.
# The gradient is 65536 times too large, so clipping strikes nearly always, and after unscaling almost nothing is left.
#
# *Predict.* The true gradient is 0.5, the limit 1.0, the factor 1024. If you clip first, and unscale then, what is the gradient?

# %% predict=true
guess = 1 / 1024  # a number

# %% name="clip-too-early"
def clipped(unscale_first):
    """The gradient after both, in one order or the other."""
    weight = nn.Parameter(torch.tensor(1.0))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
    scaler.scale(0.5 * weight).backward()
    if unscale_first:
        scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_([weight], max_norm=1.0)
    if not unscale_first:
        scaler.unscale_(optimizer)
    return weight.grad.item()


assert abs(clipped(unscale_first=True) - 0.5) < 1e-6
reveal(guess, clipped(unscale_first=False))

# %% [markdown]
# The gradients shrink to a thousandth, in silence.
#
# The second mistake is loud: `unscale_` twice before `update`.
# And `optimizer.step()` in place of `scaler.step(optimizer)` takes the step with gradients that are too large by the factor.

# %% name="scaler-mistakes"
weight = nn.Parameter(torch.tensor(1.0))
optimizer = torch.optim.SGD([weight], lr=0.1)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
scaler.scale(0.5 * weight).backward()
optimizer.step()  # without the scaler
assert abs(weight.item() - (1 - 0.1 * 0.5 * 1024)) < 1e-3
print("weight after a step with the scaled gradient:", weight.item())
scaler.unscale_(optimizer)
with shows_error(RuntimeError, match="already been called"):
    scaler.unscale_(optimizer)

# %% [markdown]
# ### Exercise: `amp_train_step`
#
# All the lines of the table, in order.

# %% exercise="amp_train_step"
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    """Do one step of training in mixed precision, and return the loss from before the step.

    The model runs once, under autocast for device_type with dtype. The loss, in the same
    block, is the mean squared error of its output against y, in float32. Backward and all
    that follows are outside. Old gradients are cleared; backward gets the scaled loss.
    The true, unscaled gradients are clipped to the total norm max_norm. The scaler given
    does the step (and skips it after an overflow) and is updated once. After a step, each
    .grad holds the clipped gradient. The loss, unscaled, comes back as a float32 scalar
    tensor without a record.

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

# %% [markdown]
# And on your device?
# One step of a wide network, once in float32 and once mixed: the losses agree to a few percent.

# %% name="amp-on-device"
def wide_training(mixed):
    """Return a function that trains one step on `device` and returns the loss."""
    _ = torch.manual_seed(seed)
    low, width, rows = torch.bfloat16, 64, 512
    if device.type == "cuda":  # large enough that activations count for more than weights
        low, width, rows = torch.float16, 2048, 8192
    layers = [nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)]
    model = nn.Sequential(*layers).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device.type, enabled=mixed)
    x, y = torch.randn(rows, width, device=device), torch.ones(rows, 1, device=device)

    def step():
        optimizer.zero_grad()
        with torch.autocast(device.type, dtype=low, enabled=mixed):
            loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        return loss.detach()

    return step


plain, mixed = wide_training(False)().item(), wide_training(True)().item()
assert abs(plain - mixed) < 0.05 * plain
print(f"on {machine}: loss {plain:.4f} in float32, {mixed:.4f} mixed")

# %% name="amp-price-on-device"
def price(mixed):
    """The seconds of a step on the card, and the most bytes that were held."""
    step = wide_training(mixed)
    torch.cuda.reset_peak_memory_stats()
    return stopwatch(step), torch.cuda.max_memory_allocated()


if device.type == "cuda":
    for mixed in (False, True):
        seconds, held = price(mixed)
        print(f"{machine}, mixed {mixed}: {seconds * 1e3:.2f} ms a step, {held} bytes at most")
else:
    print("no CUDA here: a GPU would show the time and the memory of both")

# %% [markdown] name="checkpointing"
# ## 10 Activation checkpointing (3 minutes)
#
# Keep less, and compute it again.
# `checkpoint(block, x)` saves the input of a block and nothing from inside; when backward comes to it, it runs the block once more.
#
# (Chapter 4's checkpoint, a file with weights, has only the name in common.)
#
# *Predict.* A block is run under `checkpoint`, then comes `backward`. How many times has its forward run?

# %% predict=true
guess = 2  # times

# %% name="checkpoint-once-more"
def block(x):
    runs.append(1)
    return torch.tanh(layer(torch.tanh(layer(x))))


runs, layer, x = [], nn.Linear(64, 64), torch.randn(256, 64, requires_grad=True)
plain_grad = torch.autograd.grad(block(x).sum(), layer.weight)[0]
plain_kept = kept_bytes(lambda: block(x), layer)
kept = kept_bytes(lambda: checkpoint(block, x, use_reentrant=False), layer)
assert kept < plain_kept / 2
runs.clear()
loss = checkpoint(block, x, use_reentrant=False).sum()
grad = torch.autograd.grad(loss, layer.weight)[0]
assert torch.allclose(grad, plain_grad)  # the same gradient
print("kept:", plain_kept, "bytes; with checkpointing:", kept)
reveal(guess, len(runs))

# %% [markdown]
# The price is a second forward pass.
# Say `use_reentrant=False`: it is the newer of two ways, and torch asks you to choose.
#
# And dropout, does it drop others the second time?
# No: torch sees to it that the same random numbers are drawn again.

# %% name="checkpoint-dropout"
x = torch.ones(1000, requires_grad=True)
y = checkpoint(lambda x: F.dropout(x * x, 0.5), x, use_reentrant=False)
y.sum().backward()  # runs the block again
assert torch.equal(x.grad != 0, y != 0)  # a gradient where something was left, and only there
print((y == 0).sum().item(), "of 1000 dropped, both times the same ones")

# %% [markdown]
# A block should be worth it: narrow where it begins, wide inside.
# Here are eight of them, one after another.

# %% name="checkpoint-memory-on-device"
def wide_block():
    return nn.Sequential(nn.Linear(64, 512), nn.Tanh(), nn.Linear(512, 64))


def through(x, save_memory):
    for part in blocks:
        x = checkpoint(part, x, use_reentrant=False) if save_memory else part(x)
    return x


blocks = nn.ModuleList(wide_block() for _ in range(8)).to(device)
x = torch.randn(8192 if device.type == "cuda" else 64, 64, device=device, requires_grad=True)
assert torch.allclose(through(x, True), through(x, False), atol=1e-2)
kept, plain_kept = (kept_bytes(lambda: through(x, save), blocks) for save in (True, False))
assert kept < plain_kept / 4
print("kept:", plain_kept, "bytes; with checkpointing:", kept)
if device.type == "cuda":
    for save_memory in (False, True):
        torch.cuda.reset_peak_memory_stats()
        through(x, save_memory).sum().backward()
        most = torch.cuda.max_memory_allocated()
        print(f"{machine}, checkpointing {save_memory}: at most {most} bytes held")
else:
    print("no CUDA here: a GPU would show the most that was held, without and with it")

# %% [markdown] name="tolerances"
# ## 11 How equal is equal? (3 minutes)
#
# Floating-point sums depend on their order, and every device, library and number of threads has its own.
#
# *Predict.* In float32, `big` is 1e8. Is `(big + 1) - big` equal to `(big - big) + 1`?

# %% predict=true
guess = False  # True or False

# %% name="order-of-sums"
a = torch.randn(10**6, generator=torch.Generator().manual_seed(seed))
exact = a.double().sum()
print(a.sum().item(), a.flip(0).sum().item(), exact.item())
for total in (a.sum(), a.flip(0).sum()):
    assert abs(total - exact) < 1e-2
big = torch.tensor(1e8)
assert (big + 1) - big == 0 and (big - big) + 1 == 1
reveal(guess, torch.equal((big + 1) - big, (big - big) + 1))

# %% [markdown]
# Near 1e8 the gap between two float32 numbers is 8, so the 1 is gone.
# The million random numbers above end in other digits from the front than from the back, as a rule.
#
# So never compare two devices with `==`.
# Ask for agreement up to a **tolerance**, and take it from the dtype: some multiple of its eps.
# `torch.testing.assert_close` does so; and it says what differs.

# %% name="tolerances-by-dtype"
a, b = torch.rand(64, 64), torch.rand(64, 64)
exact = a.double() @ b.double()
errors = {}
for kind in (torch.float32, torch.float16, torch.bfloat16):
    result = (a.to(kind) @ b.to(kind)).double()
    errors[kind] = ((result - exact).abs() / exact).max().item() / torch.finfo(kind).eps
    assert errors[kind] < 64  # 64 products, added up
torch.testing.assert_close((a.half() @ b.half()).float(), a @ b, rtol=8e-3, atol=0)
with shows_error(AssertionError, match="not close"):
    torch.testing.assert_close((a.half() @ b.half()).float(), a @ b)  # float32's tolerance
print({str(kind): f"{error:.1f} eps" for kind, error in errors.items()})

# %% [markdown]
# The same program, the same machine, the same seed: is it the same result?

# %% name="same-again"
ends = []
for _ in range(2):
    _ = torch.manual_seed(seed)
    ends.append(fit_line("cpu"))
assert ends[0] == ends[1]  # bit for bit
print(ends)

# %% [markdown]
# On this CPU, yes, to the last bit.
# Some operations on a GPU add up in whichever order the parts are ready.
# `torch.use_deterministic_algorithms(True)` takes another way where there is one, and raises where there is none.

# %% name="deterministic"
torch.use_deterministic_algorithms(True)
try:
    with shows_error(RuntimeError, match="does not have a deterministic implementation"):
        twice = torch.tensor([0, 0])
        torch.zeros(3).put_(twice, torch.tensor([1.0, 2.0]))  # which one wins?
finally:
    torch.use_deterministic_algorithms(False)
assert not torch.are_deterministic_algorithms_enabled()

# %% [markdown] name="checklist"
# ## Recap
#
# | you see | look at |
# |---|---|
# | "Expected all tensors to be on the same device" | a tensor made in `forward`, a mask that is no buffer, layers in a list, a batch left behind |
# | no error, and the weights stay | the optimizer was built before the parameters were replaced |
# | the GPU is hardly busy | `.item()` or `print` in each step; batches that come too slowly |
# | a speed-up that is too good | no `synchronize` before the clock is read |
# | "CUDA out of memory" | the batch; then mixed precision; then checkpointing |
# | "must have the same dtype" | the border of autocast: `.float()` |
# | loss nan or inf in float16 | the scaler missing, or a fragile part |
# | learning much too slow in float16 | clipped before `unscale_` |

# %% [markdown] name="interview"
# ### Questions from interviews
#
# <details><summary>What is the difference between <code>model.half()</code> and autocast?</summary>
#
# `half()` turns the weights themselves to 16 bits, and small updates are lost. Autocast leaves them in float32 and uses copies for the products.
#
# </details>
#
# <details><summary>Why does bfloat16 need no loss scaling?</summary>
#
# It has the range of float32, so tiny gradients stay above 0. It pays with digits.
#
# </details>

# %% [markdown] name="interview-order"
# <details><summary>In which order: model, device, optimizer?</summary>
#
# Build, move, then the optimizer: it holds the parameters that the model has at that moment.
#
# </details>
#
# <details><summary>How do you time a GPU?</summary>
#
# Warm up, synchronize, read the clock, work, synchronize, read it again; take the median.
#
# </details>

# %% [markdown] name="progress-text"
# What have you passed, what is open, and what is it worth? `progress(5)` tells it for this chapter, from your last check of each exercise; `progress()` shows all chapters.

# %% name="progress"
progress(5)

# %% [markdown] name="questions-1-4"
# ### You can now: 1 to 4
#
# Answer aloud, then unfold.
#
# 1. Can you choose a device? What must hold for `torch.cuda.is_available()`?
# 2. Can you write code for any device? Why not keep a mask as a plain attribute?
# 3. Can you say what waits? Why does `nonzero`?
# 4. Can you measure time correctly? What does a clock without sync measure?
#
# <details><summary>Answers</summary>
#
# 1. A build for CUDA, a driver, and a card that can be seen.
# 2. `.to` moves parameters and buffers, and nothing else.
# 3. The shape of its result depends on values.
# 4. How long it took to hand the work over.
#
# </details>

# %% [markdown] name="questions-5-8"
# ### You can now: 5 to 8
#
# 5. Can you say where the memory goes? Which part grows with the batch?
# 6. Can you choose a float format? What does each of the two with 16 bits give up?
# 7. Can you predict dtypes under autocast? What does `h + x` have?
# 8. Can you keep small gradients alive? What happens to a step that overflows?
#
# <details><summary>Answers</summary>
#
# 5. The activations.
# 6. bfloat16 digits, float16 range.
# 7. That of the wider one: float32.
# 8. It is skipped, and the factor is halved.
#
# </details>

# %% [markdown] name="questions-9-11"
# ### You can now: 9 to 11
#
# 9. Can you write the loop? Where does clipping stand?
# 10. Can you trade time for memory? What is run twice?
# 11. Can you choose a tolerance? Where does it come from?
#
# <details><summary>Answers</summary>
#
# 9. After `unscale_`, before `step`.
# 10. The forward pass of each checkpointed block.
# 11. From the eps of the dtype that was computed in.
#
# </details>

# %% [markdown] name="faq"
# ### Questions people ask
#
# <details><summary>Why does training work on the CPU and crash on the GPU?</summary>
#
# Because on the CPU everything is in one place anyway. Look for the tensor that nobody moved: the batch, the labels, a mask, something made in `forward`.
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
# The PyTorch documentation (docs.pytorch.org), "CUDA semantics", "Automatic Mixed Precision package" and "Reproducibility";
# Micikevicius and others, "Mixed Precision Training" (2018);
# Chen and others, "Training Deep Nets with Sublinear Memory Cost" (2016);
# Goldberg, "What Every Computer Scientist Should Know About Floating-Point Arithmetic" (1991).
#
# Next is chapter 6: one trainer, from the first batch to a resumed run in mixed precision.
