# %% [markdown] name="opening"
# # Chapter 5a: Devices
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *What must change so that the same training runs on another machine?*
#
# In chapter 4 your model learned to read digits in about a second. With a million photographs, each with thousands of times as many pixels, it would take days.
# A graphics card is much quicker, and with two new lines your training runs there. The lines are short. Most of the evening is about mistakes with them, many of which raise no error.
# You need no card to practice, because on every laptop torch has a second device that can stand in for one.
#
# This takes about {minutes} minutes to read and run, and {exercises} for the exercises.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch05 as figures
from course.instruments import ToyDevice, milliseconds, runs

torch.set_num_threads(1)  # for work this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("5a")

# %% name="first-page" figure=true
figures.places()

# %% [markdown] name="devices"
# ## 1 Where are the numbers?
#
# *{minutes} minutes*
#
# A network spends nearly all its time on products of matrices.
# How long does the processor of this machine (its **CPU**) take for one product of two matrices of 1000 by 1000 numbers?

# %% name="one-product"
a, b = torch.randn(1000, 1000), torch.randn(1000, 1000)
here = milliseconds(lambda: a @ b)
print(f"this CPU, one thread: {here:.1f} ms")

# %% claim=true
assert 0 < here < 10_000
assert round(2 * 1000**3 / 8.1e12 * 1000, 2) == 0.25  # a T4: 8.1 trillion operations a second
assert round(4700 / 36, -1) == 130

# %% [markdown]
# The graphics card that Colab lends you, a T4, takes a quarter of a millisecond at best, says its maker's data sheet. (The CPU worked with one thread only, so compare roughly. A side path of chapter 5c measures such a product on your own device.)
# A graphics card, or **GPU**, is so quick because it works on thousands of numbers at the same time.
#
# So is every training faster on a card? Here is how long one epoch took, once through 1,400 digits in 22 batches, on one thread of a processor and on a large card beside it, an H200:
#
# | | the processor | the card |
# |---|---|---|
# | the small reader of this notebook | 12 ms | 23 ms |
# | three layers of 4,096 units | 4,700 ms | 36 ms |
#
# The large network is 130 times as fast on the card. The small one is slower there, because for each batch Python gives the card many tiny pieces of work, and giving the card a piece takes longer than computing it. A card pays off for large products.
#
# But a card can compute only with numbers that lie in its own memory. So your CPU with its memory is one **device**, and a card with its memory is another. In the picture at the top of this notebook arrows connect them.

# %% [markdown] name="moving"
# ### What moves, and what stays
#
# *{minutes} minutes*
#
# You can practice without a card, on the device `"meta"`, which every machine has and which only pretends.
# A tensor on meta has a shape, a dtype and a device, but no numbers at all.

# %% name="on-meta"
print(torch.ones(3))
print(torch.ones(3, device="meta"))

# %% claim=true
assert torch.ones(3, device="meta").shape == (3,) and torch.ones(3).device.type == "cpu"

# %% [markdown]
# That is enough for practice, because the mistakes that people make with a card are about *where* a tensor is.
#
# `.to(device)` brings a tensor to a device.
#
# *Predict.* `x` is on the CPU. After `y = x.to("meta")`, where is `x`?

# %% predict=true
guess = "cpu"  # "cpu" or "meta"

# %% name="moves"
x = torch.ones(3)
y = x.to("meta")
reveal(guess, x.device.type)

# %% claim=true
assert y.device.type == "meta" and y is not x
assert x.to("cpu") is x  # it is there already: nothing to do

# %% [markdown]
# `.to` leaves `x` where it is, and returns a second tensor, `y`, on the other device. (If `x` is there already, nothing is copied: you get `x` itself.)
# So `x.to(device)` alone on a line has no lasting effect. Write `x = x.to(device)`.
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
# A module's `.to` works in place: it moves all that the module keeps, parameters and buffers. A tensor's `.to` does not.
#
# So `layer` is on meta now. What happens if you give it a batch that is still on the CPU?

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
# Read this message as "two tensors are on different devices". On NVIDIA's cards it begins "Expected all tensors to be on the same device".
#
# ### Choose once
#
# *{minutes} minutes*
#
# All tensors of one operation must be on the same device. Its name depends on the machine: torch calls NVIDIA's cards `"cuda"`, and Apple's `"mps"`.
# So choose the device once, at the top of a program, and write `device` everywhere else.
# (In this notebook a folded cell at the top sets `device = "auto"`. The next cell turns that into the name of a device.)

# %% name="choose-device"
if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device(device)
print("this notebook works on:", torch.ones(3, device=device).device)

# %% claim=true
assert torch.ones(3, device=device).device.type == device.type
assert torch.ones(3).device.type == "cpu"  # without device=

# %% [markdown]
# Without an NVIDIA card the cell prints `cpu`, and with one `cuda:0`, the first card.
#
# ### Exercise: `pick_device`
#
# *{minutes} minutes*
#
# The cell above knows only NVIDIA's cards. Write a function that knows Apple's too, and begin each of your own programs with it. Unless you name a device, it takes CUDA before Apple's cards, and Apple's cards before the CPU.

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
# #### What must hold for `torch.cuda.is_available()`?
#
# *{minutes} minutes*
#
# Three things: this torch was built for CUDA, the driver works, and torch sees a card.
# It is not enough that you have installed CUDA.
# Without a card, torch answers `.to("cuda")` with an error, and does not quietly stay on the CPU.
# The same holds for `.cuda()`, which is short for `.to("cuda")`, and for a second card that is not there.

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
# #### What is `torch.accelerator` for?
#
# *{minutes} minutes*
#
# `torch.cuda` knows one maker's cards only, so for years programs for all cards had a chain of ifs.
# Newer versions of torch have `torch.accelerator`, which works for whatever card this torch was built for: CUDA, Apple's MPS, Intel's XPU and others.
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
# ## 2 The same training
#
# *{minutes} minutes*
#
# How much must you change in your loop of chapter 4 for a card?
# The digits and their loader stay on the CPU, as data too large for a card's memory would have to.

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
# And here is the loop of chapter 4, written as a function. The model is wider. A seed makes each call begin with the same weights. And `step` is an argument, because chapter 5b tries other steps.
# Only the two lines marked `new` have to do with the device.

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
# The order matters: **build the model, move it, build the optimizer.**
# An optimizer updates the very parameters that you gave it. If `.to` puts new ones in their place, as it does on meta and not on CUDA, an optimizer built before goes on changing the old ones, without an error.

# %% name="train-on-device"
reader, history = train_digits(device, my_train_step)
print(f"on {device}: loss {history[0]:.2f}, then {history[-1]:.3f}")

# %% claim=true
assert history[-1] < 0.1 and next(reader.parameters()).device.type == device.type

# %% [markdown]
# No line of your `train_step` had to change: it never names a device. (Such a small reader gains nothing on a card, but for a large network the same two lines are enough.)
#
# How well does the model read? Its answers are on its own device, whereas the labels are on the CPU.
# So bring the answers back with `.cpu()`, which is short for `.to("cpu")`. Do the same with every tensor that you want to draw, or to give to NumPy.

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
# ### A rehearsal
#
# *{minutes} minutes*
#
# Suppose that you rent a card by the hour. You want to know beforehand whether your program runs on it. Meta is nearly as strict as a card about where tensors are, so you can rehearse on meta for free.
#
# *Predict.* Does this training run to its end on meta?

# %% predict=true
guess = False  # True or False

# %% name="train-on-meta"
reveal(guess, runs(lambda: train_digits("meta", my_train_step, epochs=1)))

# %% claim=true
assert not runs(lambda: train_digits("meta", my_train_step, epochs=1))

# %% [markdown]
# No. The forward pass, the backward pass and the update need only shapes, so they ran. The training stopped at the last line of the step, `return loss.item()`, which asks the device for a number, and meta has none.
#
# ### Exercise: `train_step_on`
#
# *{minutes} minutes*
#
# Write `train_step` again, with two changes. It asks for no number, so it runs on meta, and on a card nothing waits for the loss (section 3 shows what waiting costs): it returns the loss as a tensor, `loss.detach()`. And it moves its batch itself, so no caller can forget to.

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
    - Old gradients are cleared, and those of this batch are left in .grad.
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
# Now repeat the rehearsal with your step.

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
_conv, _row = nn.Conv2d(1, 2, 3).to("meta"), nn.Linear(3, 2).to("meta")
assert runs(lambda: _conv(torch.ones(1, 1, 5, 5))) and not runs(lambda: _row(torch.ones(1, 3)))
assert runs(lambda: nn.Embedding(3, 2).to("meta")(torch.tensor([1])))

# %% [markdown]
# This loss has no number, and yet it is good news: a whole epoch has run, so all shapes, devices and dtypes fit. Two things meta does not notice: a wrong value, such as a label of 10, and a batch that stayed on the CPU where a convolution or an embedding comes first.

# %% [markdown] side=true
# #### And if the optimizer is built too early?
#
# *{minutes} minutes*
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
# No. The new layer has a gradient, but nothing uses it, because the optimizer still holds the parameters of the old layer.

# %% [markdown] side=true
# #### What does the smallest training on a device look like?
#
# *{minutes} minutes*
#
# A model learns the line y = 2 x + 1. Model and batch go through `.to(device)`, and nothing else is new.

# %% name="same-loop"
def fit_line(device, steps=250):
    """Learn y = 2 * x + 1 on a device; return the loss, the slope and the offset."""
    x = torch.linspace(-1, 1, 64).unsqueeze(1).to(device)
    y = 2 * x + 1
    model = nn.Linear(1, 1).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3)
    for _ in range(steps):
        loss = my_train_step_on(device, model, optimizer, F.mse_loss, x, y)
    return loss.item(), model.weight.item(), model.bias.item()


loss, slope, offset = fit_line(device)
print(device, slope, offset)

# %% claim=true
assert loss < 1e-6 and abs(slope - 2) < 1e-3 and abs(offset - 1) < 1e-3

# %% [markdown] name="waiting"
# ## 3 What makes a device wait
#
# *{minutes} minutes*
#
# A fast card often has nothing to do, because the training loop makes it wait.
# Your program runs on the CPU, which is called the **host**, and the card works *beside* it.
# At `a @ b` the host only puts a piece of work into the card's queue, and goes on at once, before the product exists. So the card works **asynchronously**.
#
# Here is a toy device with an invented clock, so that you can count without a card. The host needs 1 ms to put one piece of work into the queue.
#
# *Predict.* The host puts three pieces of work into the queue, each of 3 ms for the device, and does not wait. What does the host's clock say now?

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
# After 3 ms the host is free again and can prepare the next batch, for example. After 10 ms the device has done all the work.
#
# But some lines need a number on the host: `loss.item()`, `.cpu()`, `print(loss)`, `if loss > 3`.
# At such a line the host waits until the queue is empty. This is called a **synchronization**. And afterwards the device has nothing to do until the host puts the next piece of work into the queue.
#
# *Predict.* A training has four steps, and each step has three pieces of work of 1 ms. With one look at the loss, at the end, all is done after 13 ms. And with a look after each step?

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
# In the gaps of the lower run the card does nothing. (On an H200 a step of three large products, with 8 ms of other work for the host, took 16 ms with a look and 8 ms without.)
# So add up `loss.detach()` on the device, and look at the sum once in a hundred steps.

# %% [markdown] side=true
# #### Which lines make a device wait?
#
# *{minutes} minutes*
#
# The meta device can tell you: it has no numbers, so it refuses every operation that needs one. (Only `print` it lets through, and shows dots.)

# %% name="needs-a-number"
def needs_a_number(look):
    try:
        look(torch.ones(3, device="meta"))
        return False
    except RuntimeError:
        return True

# %% [markdown]
# *Predict.* How many of the six expressions below need a number?

# %% predict=true
guess = 3  # a whole number

# %% name="what-waits"
looks = {
    "x.sum()": lambda x: x.sum(),
    "if x.sum() > 0": lambda x: bool(x.sum() > 0),
    "torch.where(x > 0, x, 0.0)": lambda x: torch.where(x > 0, x, 0.0),
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
assert not needs_a_number(str)  # what print shows

# %% [markdown]
# The host knows shapes and dtypes, so it need not wait for them.
# An `if` needs the number itself, and `x.cpu()` needs all of them. `nonzero` waits because the *shape* of its result depends on the numbers.

# %% [markdown] side=true
# #### Does the host wait when it sends a batch to the card?
#
# *{minutes} minutes*
#
# Yes: at `x.to("cuda")` the host waits until the copy is done.
# It need not wait if the batch lies in **pinned** memory, which the operating system keeps in one place, so that the card can fetch the batch by itself.
# Then `x.to(device, non_blocking=True)` lets the host go on at once. A DataLoader makes such batches if you say `pin_memory=True`.
# On the CPU `non_blocking` changes nothing.
# On the way back from the card it is a trap, because the host may read numbers that have not arrived yet.

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
# ### Exercise: `make_agnostic`
#
# *{minutes} minutes*
#
# These five pieces of a program run on somebody's laptop, and yet each has a fault. Fix them.
# Four of them stop with an error on meta. Run the cell of the exercise as it is. Then write `AddPlaces(4).to("meta")(torch.ones(2, 3, 4, device="meta"))` into a new cell, and see the first one stop. Try the others in the same way; for `epoch`, write `net = nn.Linear(64, 10).to("meta")`, and then `epoch(net, torch.optim.SGD(net.parameters(), 0.1), loader, "meta")`. `start` runs, but its new layer does not learn. And `epoch` also makes the device wait in each step.
# The first piece has the same kind of fault as this module:

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
#     .to moves a module with all its tensors, masks too, to any device, alone or inside a
#     larger module. What forward makes is on the device of x. start returns an SGD optimizer
#     that holds the parameters of the changed model, and no others. epoch moves its batches, and
#     returns the mean loss as a scalar float32 tensor on device, without a
#     graph; no step waits for a value. On the CPU each of the five computes the same numbers
#     as now. The slope of AddPlaces and the layers of Stack learn, the mask of KeepColumns
#     does not.
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

    .to moves a module with all its tensors, masks too, to any device, alone or inside a
    larger module. What forward makes is on the device of x. start returns an SGD optimizer
    that holds the parameters of the changed model, and no others. epoch moves its batches, and
    returns the mean loss as a scalar float32 tensor on device, without a
    graph; no step waits for a value. On the CPU each of the five computes the same numbers
    as now. The slope of AddPlaces and the layers of Stack learn, the mask of KeepColumns
    does not.
    """
    modules = {"places": AddPlaces, "keep": KeepColumns, "stack": Stack}
    return {**modules, "start": start, "epoch": epoch}
    ### END SOLUTION

# %% check="make_agnostic" points=4
check("make_agnostic", make_agnostic)

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can bring a training to any device, rehearse it on meta, and say what makes a card wait.
#
# | you see | look at |
# |---|---|
# | "Expected all tensors to be on the same device" | a tensor made in `forward`, a mask that is not a buffer, layers in a list, a batch left behind |
# | no error, but the weights do not change | the optimizer was built before the parameters were replaced |
# | the GPU is hardly busy | `.item()` or `print` in each step; batches that come too slowly |

# %% name="progress"
progress(5)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. `x.to("cuda")` stands alone on a line. Where is the tensor `x` afterwards? And where would a module be?
# 2. In which order do model, device and optimizer come? Why?
# 3. What makes a device wait?
#
# <details><summary>Answers</summary>
#
# 1. The tensor is where it was, and the line had no effect that lasts. The module has moved.
# 2. Build the model, move it, then build the optimizer, because the optimizer holds the parameters that the model has at that moment.
# 3. Every line that needs a number on the host, such as `loss.item()`, `print(loss)` or an `if`. And a plain `x.to("cuda")`, until the copy is done.
#
# </details>

# %% [markdown]
# Next is chapter 5b, "Mixed precision": the same training, with 16 bits for each number in place of 32.
