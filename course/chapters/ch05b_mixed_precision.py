# %% [markdown] name="opening"
# # Chapter 5b: Mixed precision
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Can the same training run in half the bits?*
#
# In chapter 5a your training learned to run on any device. Here it learns to compute with 16 bits in place of 32, wherever they are enough.
# On a card made for that, one step of a large network took a twelfth of the time, and little more than half the memory.
# You need a few new lines for it, and **section 5 is the page to copy**. The sections before it show what goes wrong without them, and why each line is there.
#
# This takes about {minutes} minutes to read and run, and {exercises} for the exercises. One exercise, of {later} minutes, comes after the end, for another evening.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them
device = "auto"  # "cpu", "cuda", or "auto": a GPU that CUDA knows, else the CPU
short = False  # True: fewer repetitions, to run the whole chapter sooner

# %% setup=true
import math
import warnings
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch05 as figures
from course.instruments import milliseconds, runs, saved_bytes

torch.set_num_threads(1)  # for work this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("5b")

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="formats"
# ## 1 All in sixteen bits
#
# *{minutes} minutes*
#
# With large batches most memory goes into the **activations**, the results of layers that the forward pass saves for the backward pass.
# With 16 bits for a number in place of 32, an activation takes half the bytes, so a batch of nearly twice the size fits.
# And many cards have special circuits for products in 16 bits. The table shows how long one step of training took on an H200, and the most memory that it held. There are two formats of 16 bits, bfloat16 and float16. The last two columns are the **mixed precision** that you build in this notebook, with each of the two:
#
# | | float32 | bfloat16 | float16 |
# |---|---|---|---|
# | the reader of chapter 5a, 64 digits | 0.7 ms | 1.0 ms | 1.2 ms |
# | four layers of 4,096 units, 32,768 rows | 197 ms, 3.4 GB | 16 ms, 1.9 GB | 16 ms, 1.9 GB |
# | five convolutions, 256 pictures of 128 by 128 | 36 ms, 5.7 GB | 24 ms, 3.2 GB | 25 ms, 3.2 GB |
#
# The small reader is slower, because turning numbers to 16 bits takes longer than it saves, whereas the second network is 12 times as fast.
#
# Why mixed? Turning *all* numbers into 16 bits would take a single line. Try it with the training of chapter 5a. (`train_digits` and `share_right` are its two functions.)

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
order = torch.randperm(1797)
known, unseen = order[:1400], order[1400:]  # rows to learn from, rows for the drawer
loader = DataLoader(TensorDataset(ink[known], labels[known]), batch_size=64, shuffle=True)
if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device(device)

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


def train_digits(device, step, epochs=20, lr=0.5):
    """Learn to read; return the model, and the mean loss of each epoch."""
    torch.manual_seed(seed)
    model = MyMLP([64, 256, 10], nn.ReLU).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr)
    history = []
    for epoch in range(epochs):
        losses = []
        for x, y in loader:
            losses.append(step(model, optimizer, F.cross_entropy, x.to(device), y.to(device)))
        history.append(sum(losses) / len(losses))
    return model, history


def share_right(model):
    """The share of the unseen digits that a model reads correctly."""
    with torch.no_grad():
        says = model(ink[unseen].to(device)).argmax(dim=1)
    return (says.cpu() == labels[unseen]).float().mean().item()

# %% name="same-training"
reader, history = train_digits(device, my_train_step)
print(f"in float32, on {device}: {share_right(reader):.0%} of the unseen digits are right")

# %% claim=true
assert len(loader) == 22 and share_right(reader) > 0.92 and history[-1] < 0.1

# %% [markdown]
# Now train it with small, careful steps, because small steps are what 16 bits lose first: once in float32, and once with everything in bfloat16.

# %% name="all-in-sixteen"
def sixteen_step(model, optimizer, criterion, x, y):
    model.bfloat16()  # all its weights to 16 bits, in place: the optimizer still holds them
    return my_train_step(model, optimizer, criterion, x.bfloat16(), y)


careful, full = train_digits(device, my_train_step, lr=0.02)
_, rough = train_digits(device, sixteen_step, lr=0.02)
print(f"epoch 10: loss {full[9]:.2f} in float32, {rough[9]:.2f} in bfloat16")
print(f"epoch 20: loss {full[19]:.2f} in float32, {rough[19]:.2f} in bfloat16")

# %% claim=true
assert rough[19] - full[19] > rough[9] - full[9] + 0.05 > 0.1 and rough[19] < rough[9]

# %% [markdown]
# The model in bfloat16 learns, but it falls further and further behind, and no error says why.

# %% [markdown] name="three-things"
# ### The three faults
#
# *{minutes} minutes*
#
# Sixteen bits can be too few in three ways. Here is the first, in float16.
#
# *Predict.* What is 300 * 300?

# %% predict=true
guess = math.inf  # a number

# %% name="overflow"
large, small, one = torch.tensor([300.0, 1e-8, 1.0]).half()  # .half() turns to float16
reveal(guess, (large * large).item())

# %% [markdown]
# Here are all three, one line for each:

# %% name="three-lines"
print("1  300 * 300:  ", large * large)
print("2  1 + 0.0002: ", one + 0.0002)
print("3  1e-8 alone: ", small)

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
_total = torch.tensor(2048.0).half()
assert _total + 1 == 2048 and _total + 2 == 2050

# %% [markdown]
# 1. **Too large.** The largest number of float16 is 65,504. So 90,000 becomes `inf`, infinity, and a large loss may become infinite too.
# 2. **Lost beside a large number.** The next number after 1 is 1.001. So a step of 0.0002 leaves a weight of 1 where it was.
# 3. **Too small.** The smallest number above 0 is 6e-8. A number below half of that becomes 0, and many gradients are that small.
#
# The second fault is the easiest to overlook, because each of the two numbers is fine by itself. It occurs where an optimizer adds a small step to a weight, and where many numbers are added up.
#
# Bfloat16 spends its bits differently: it has the range of float32, but even fewer digits than float16. A ✗ marks where training can go wrong:
#
# | | largest number | next after 1 | smallest above 0 |
# |---|---|---|---|
# | float32 | 3e38 | 1.0000001 | 1e-45 |
# | bfloat16 | 3e38 | 1.008 ✗ | 9e-41 |
# | float16 | 65,504 ✗ | 1.001 ✗ | 6e-8 ✗ |

# %% [markdown] name="three-remedies"
# ### The three remedies
#
# *{minutes} minutes*
#
# Each part of a training step has its own trouble, and its own remedy:
#
# 1. In the forward pass a result may be too large, or a long sum may lose its small parts, above all in the loss, which adds up many numbers. So torch computes products in 16 bits, but losses in 32. This is **autocast**, section 2.
# 2. In the update small steps are lost. So the weights themselves stay in float32: section 3. For bfloat16 you need only these two remedies.
# 3. In the backward pass some gradients are too small. So you multiply the loss by a large factor before the backward pass, and divide the gradients by it afterwards. This is **loss scaling**, section 4, which only float16 needs.
#
# Training with these remedies is mixed precision, or AMP (automatic mixed precision), because torch does most of it for you. The picture shows one step, with the numbers of the list:

# %% figure=true
figures.scaled_cycle()

# %% [markdown] name="autocast"
# ## 2 Autocast
#
# *{minutes} minutes*
#
# (For both formats.) Most of the time of a training goes into matrix products. For these, 16 bits are enough: inside a product torch keeps the long sum in 32 bits.
# For a loss they are not enough. So choose the bits for each operation, not for the whole model as above.
# `torch.autocast` makes a `with` block in which torch chooses them for you.
# Take the five lines of a step, and put the forward pass, with the loss at its end, into such a block.

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
with torch.autocast("cpu", dtype=torch.float16):
    assert F.mse_loss(torch.tensor(300.0).half(), torch.tensor(0.0).half()) == 90_000
assert F.mse_loss(torch.tensor(300.0).half(), torch.tensor(0.0).half()) == math.inf

# %% [markdown]
# This model reads as well as the one in float32, and keeps half the bytes for the backward pass, as the picture at the top shows. (Weights and gradients stay as large as they were.)
# The time depends on your processor. A processor without circuits for 16 bits has to imitate them, and then mixed precision takes several times as long as float32, on some processors a hundred times. On such a processor it is only a rehearsal for a card, where you gain time, as in the table of section 1.
#
# And what did the one line do? Look into the block.
#
# *Predict.* Inside the block, the result of `layer(x)` is bfloat16. What is the dtype of `layer.weight` there?

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
# The weight stays in float32, and `Linear` computes with a copy of it in 16 bits. torch chooses the dtype for each operation:
#
# | operation | for example | dtype of the result |
# |---|---|---|
# | a product | `Linear`, `@`, a convolution | 16 bits |
# | a loss | `mse_loss`, `cross_entropy` | float32 |
# | most others | `relu`, and on the CPU `softmax` | that of the input |
# | an input in 16 bits, another in float32 | `h + x` | the wider of the two, float32 |
#
# In the backward pass each gradient has the dtype of the tensor it belongs to: 16 bits for the gradient of `h`, float32 for the gradient of the weight. The picture shows a network from left to right:

# %% figure=true
figures.dtype_flow()

# %% [markdown]
# One thing is left to you: the end of the block. A tensor that leaves the block still has 16 bits, and outside the block torch no longer converts it.

# %% name="border-mistakes"
with shows_error(RuntimeError, match="same dtype"):
    layer(h)  # after the block
print("fixed:", layer(h.float()).dtype)

# %% claim=true
assert not runs(lambda: layer(h)) and layer(h.float()).dtype == torch.float32

# %% [markdown]
# The error names the line that stopped, and not the line where the 16 bits came from. To find that one you must know which dtype each line gives. You practice that in the next exercise.

# %% [markdown]
# ### Exercise: `autocast_dtypes`
#
# *{minutes} minutes*
#
# The next time "must have the same dtype" stops you, you will have to say for each line which dtype it gives. Practice that on ten lines. The rules are in the table above and in the text around it. Here is such an answer for three other lines; `ops` asks for two of them:

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

    The block is `with torch.autocast(device):`, and the check asks for "cpu" only.
    x, target and the layer with its weight come into it as float32. In it:

    "linear"          h = layer(x)            "relu"       torch.relu(h)
    "relu_of_input"   torch.relu(x)           "matmul"     x @ x.T
    "softmax"         torch.softmax(h, 1)     "add"        h + x
    "cross_entropy"   F.cross_entropy(h, labels)
    "mse_loss"        F.mse_loss(h, target)
    "weight"          layer.weight
    "grad"            layer.weight.grad, after the backward pass

    Answer by the rule, from the names alone: do not use `autocast`.
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

# %% [markdown] side=true
# #### Is the list of operations the same on every device?
#
# *{minutes} minutes*
#
# No. On CUDA the 16 bits are float16 unless you name another dtype, and softmax, sums and powers give float32. On the CPU the 16 bits are bfloat16, and softmax keeps the dtype of its input. Ask your own device:

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

# %% [markdown] side=true
# #### How many bytes does autocast save here, and how much time?
#
# *{minutes} minutes*
#
# Run all 1,400 digits through the reader, and measure how many bytes it keeps for the backward pass, and how long it takes. (For such a small reader that may well be longer.)
# (`without` leaves out the weights, which take their memory in any case, but not the 16-bit copy of the last one, 5 KiB.)

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

# %% [markdown] name="master"
# ## 3 Weights in float32
#
# *{minutes} minutes*
#
# (For both formats.) In section 1 the training in bfloat16 fell behind, although this format has the range of float32. So numbers that are too large or too small can hardly be the reason. Suspect the second fault: small steps are lost.
# To see whether that is so, take the reader that learned carefully in float32, compute one more step for its first layer, and count the weights that the step changes.

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
# In float32 all of them move, or nearly all. In bfloat16 nine in ten are rounded back to where they were: near 0.1, two neighboring numbers of bfloat16 are 0.0005 apart, and a careful step is much smaller than that.
#
# You already have the remedy, because autocast leaves the weights in float32. These float32 weights, from which each step makes its 16-bit ones, are called the **master copy**, and you lose it the moment you write `model.bfloat16()` or `model.half()`.
#
# So repeat the careful training of section 1, with the step of section 2, which keeps the master copy.

# %% name="with-master-copy"
_, mixed = train_digits(device, low_step, lr=0.02)
print(f"loss at the end: {full[-1]:.2f} in float32, {mixed[-1]:.2f} in mixed precision")

# %% claim=true
assert abs(mixed[-1] - full[-1]) < 0.02

# %% [markdown]
# Now the training keeps up. For bfloat16 that is the whole of mixed precision: one new line in the step, and no `model.bfloat16()` anywhere.

# %% [markdown] name="scaling"
# ## 4 Scale the loss
#
# *{minutes} minutes*
#
# (For float16 only. If it is late, stop here for tonight.) Cards from the A100 on compute in bfloat16, and need no more than sections 2 and 3. The T4 that Colab lends you has circuits only for float16, which cannot hold small gradients: the third fault. For such a card, and for section 5, read on.
#
# Here are three gradients. Turn them into float16, once as they are and once multiplied by 65,536; then divide the second ones by 65,536, in float32.

# %% name="scale-saves"
gradients = torch.tensor([1e-8, 3e-6, 0.001])
print("as they are:  ", gradients.half())
print("with a factor:", (65536 * gradients).half().float() / 65536)

# %% claim=true
assert gradients.half()[0] == 0 and gradients.half()[1:].all()
assert torch.allclose((65536 * gradients).half().float() / 65536, gradients, rtol=1e-3, atol=0)

# %% [markdown]
# As it is, the smallest one becomes 0. With the factor all three come back.
#
# You need not multiply each gradient yourself. If the loss is 65,536 times as large, so are all its gradients. So multiply the loss before the backward pass, and divide the gradients after it, in float32. This is **loss scaling**.
#
# ### Which layers learn nothing?
#
# *{minutes} minutes*
#
# How much does a network need this? Here is a deep reader with eight sigmoids. In the backward pass each of them multiplies the gradients by at most 1/4. How large are the gradients of its last four layers, in float32?

# %% name="deep-reader"
parts = [layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.Sigmoid())]
deep = nn.Sequential(*parts, nn.Linear(64, 10))
weights = [p for p in deep.parameters() if p.dim() == 2]  # nine of them
exact = torch.autograd.grad(F.cross_entropy(deep(ink[:256]), labels[:256]), weights)
print("on average:", [f"{grad.abs().mean().item():.0e}" for grad in exact[-4:]])

# %% claim=true
_sizes = [_grad.abs().mean().item() for _grad in exact]
assert all(4 < _later / _sooner < 30 for _sooner, _later in zip(_sizes, _sizes[1:]))
assert all(5 < _later / _sooner < 14 for _sooner, _later in zip(_sizes[1:-2], _sizes[2:-1]))

# %% [markdown]
# Read the list from right to left, as the backward pass goes. From the second-last layer on, the gradients shrink about eightfold with each layer. Now compute them in float16, where every number below 3e-8 becomes 0. (`zeros` gives the share of zeros in each layer.)

# %% name="zeros"
def zeros(factor):
    """The share of the gradients that are 0 in float16, for each of the nine layers."""
    deep.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = F.cross_entropy(deep(ink[:256]), labels[:256])
    (factor * loss).backward()
    return [round((w.grad == 0).float().mean().item(), 2) for w in weights]

# %% [markdown]
# *Predict.* Continue the list in your head, five more layers to the left. How many of the nine averages come out below 3e-8? Take that as your guess for the number of layers whose gradients are all 0 in float16.

# %% predict=true
guess = 3  # a number

# %% name="backward-loses"
shares = zeros(factor=1.0)
print(shares)
reveal(guess, shares.count(1.0))

# %% claim=true
assert 2 <= shares.count(1.0) <= 4 and shares[:2] == [1.0, 1.0] and shares[-1] < 0.1

# %% [markdown]
# The first layers learn nothing, and no error says so. And with the factor?

# %% name="scale-saves-layers"
print(zeros(factor=65536.0))

# %% claim=true
_shares = zeros(factor=65536.0)
assert max(_shares[1:]) < 0.05 and _shares[0] < 0.3
_never_inked = (ink[:256] == 0).all(dim=0).float().mean().item()
assert abs(_shares[0] - _never_inked) < 0.02
_tiny = torch.tensor(1e-8)
assert _tiny.half() == 0 and abs((65536 * _tiny).half().float() / 65536 - _tiny) < 1e-11

# %% [markdown]
# Nearly all gradients are back. (Most zeros of the first layer are true zeros: they belong to pixels that have no ink in any of these digits.)
#
# The three pictures show all gradients of this reader by size, computed in float32. In the first the loss is as it is, in the second it is 65,536 times as large, and in the third a thousand times larger still. Float16 can hold what is in the gray band; the rest (orange) becomes 0 or inf.

# %% figure=true
figures.gradients(
    F.cross_entropy(deep(ink[:256]), labels[:256]),
    list(deep.parameters()),
    scales=(1.0, 2.0**16, 2.0**26),
)

# %% [markdown]
# The factor moves the whole heap of gradients to the right, into the band. In the third picture it has moved the heap too far. (The list above had more zeros than the first picture shows, because in float16 a gradient that became 0 makes the gradients computed from it 0 as well.)

# %% [markdown] name="scaler"
# ### The search for a factor
#
# *{minutes} minutes*
#
# Which factor is right? Gradients change while a model learns, so `torch.amp.GradScaler` searches for the factor during the training. It begins with a large one.
# When a gradient is inf or nan, the scaler skips the step and halves the factor. After many good steps it doubles the factor again.
#
# *Predict.* The factor is 1024, the weight is 1.0, and a gradient overflows. What are the factor and the weight after `step` and `update`?

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
# You lose one step, but the weight stays as it was, whereas a step with inf would have destroyed it.
# The picture shows such a search over 60 steps. The factor begins much too high and comes down with each skipped step (a cross). After ten good steps the scaler doubles the factor, and mostly loses the next step. (torch waits for 2000 good steps, so it loses very few.) At the dotted line all gradients become a hundred times as large, and the search adapts.

# %% figure=true
figures.scaler_search(steps=60)

# %% [markdown] name="amp-loop-text"
# ## 5 The whole training
#
# *{minutes} minutes*
#
# This is the page to copy, for both formats: the training of chapter 5a, with the three remedies in their places.
#
# 1. Autocast is one line, with the loss inside its block.
# 2. The master copy needs no line: the model is never turned to 16 bits.
# 3. Loss scaling is the four lines with `scaler`. For bfloat16 the scaler is switched off, and then `scaler.scale(loss).backward()` and `scaler.step(optimizer)` do what `loss.backward()` and `optimizer.step()` do.

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
            scaler.scale(loss).backward()  # new: keeps small gradients from becoming 0
            scaler.step(optimizer)  # new: divides by the factor first
            scaler.update()  # new: and looks for a better one
            losses.append(loss.detach())
        history.append(torch.stack(losses).mean().item())  # the only .item() of an epoch
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
# From the results of these three trainings you could not tell which is which.
#
# ### With clipping
#
# *{minutes} minutes*
#
# One thing is still missing in the training of most large models, because now and then a batch gives them huge gradients: **clipping**. Take all gradients together as one long vector: if it is longer than a limit, `clip_grad_norm_` shortens it to that limit. (Chapter 4x has more on it.)
# Clipping must see the true gradients, without the factor. So first call `scaler.unscale_(optimizer)`: it divides the gradients by the factor, and `scaler.step` then knows that this is done.
#
# *Predict.* The true gradient is 0.5, the limit is 1.0, and the factor is 1024. Somebody clips first and unscales afterwards. What is the gradient then? (A fraction will do.)

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
# 0.00098 in place of 0.5, and no error: 512 was cut down to 1, and then divided by 1024. With SGD, such a step is about 500 times too small.

# %% [markdown] side=true name="arrange-amp-train-step"
# #### Would you like the lines of `amp_train_step` shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell.
# Here are the lines that may stand in it, with gaps, and with two lines that it does not need.

# %%
from explorers import arrange

arrange("amp_train_step")

# %% [markdown]
# ### Exercise: `amp_train_step`
#
# *{minutes} minutes*
#
# Take the step of the page to copy, and add two lines for the clipping. The loss is the mean squared error. The backward pass gets the loss with the factor; your function returns it without.

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

    With torch.amp.GradScaler("cpu") it runs on the CPU, with torch.bfloat16 or float16.

    - The model runs once, under autocast for device_type with dtype. The loss, inside autocast
      or after it, is the mean squared error of its output against y, in float32. Backward and
      all that follows are outside.
    - Old gradients are cleared; backward gets the scaled loss.
    - The true, unscaled gradients are clipped to the total norm max_norm.
    - The scaler given does the step (and skips it after an overflow) and is updated once.
      After a step, each .grad holds the clipped gradient.
    - The loss, unscaled, comes back as a float32 scalar tensor without a graph.
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
# Train a reader with it for five epochs. Since the loss is the mean squared error, the target of each digit is ten numbers: 1 at the true digit and 0 at the others.

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
# #### What else is done wrong with a scaler?
#
# *{minutes} minutes*
#
# If you call `unscale_` twice before `update`, torch stops. If you write `optimizer.step()` in place of `scaler.step(optimizer)`, it does not: the step is too large by the factor.

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
# #### Why do tutorials write `torch.cuda.amp`?
#
# *{minutes} minutes*
#
# Those are the old names. They still work, with a warning. Write `torch.amp`, and name the device.
# If an autocast block or a scaler says `"cuda"` on a machine without CUDA, torch does not stop: it warns, and computes in float32.
# If you overlook the warning, you believe that you have tested mixed precision.

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

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can write a whole training step in mixed precision, you know which dtype each of its lines gives, and you can find the three faults by what you see:
#
# | you see | look at |
# |---|---|
# | "must have the same dtype" | a tensor that left the autocast block: `.float()` |
# | the loss falls more slowly than in float32 | weights in 16 bits: `model.bfloat16()` or `model.half()` somewhere |
# | the loss is nan or inf in float16 | a loss outside of autocast, or a formula that must stay in float32 (section 6, after the end) |
# | the first layers do not learn in float16 | the scaler is missing (section 4) |
# | the model learns much too slowly in float16 | gradients that were clipped before `unscale_` |

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
# 1. What goes wrong in 16 bits in each part of a step, and what is the remedy?
# 2. What does the scaler do when a gradient overflows?
# 3. Do you need mixed precision at all?
#
# <details><summary>Answers</summary>
#
# 1. Forward pass: losses and long sums have too few digits, and in float16 they may become inf. The remedy is autocast. Backward pass: small gradients become 0. The remedy is to scale the loss. Update: a small step is lost beside a large weight. The remedy is weights in float32.
# 2. It skips the step, and halves the factor.
# 3. For a small model, or on a CPU without circuits for it, no. For a large model on a GPU, try it, and measure time, memory and the loss.
#
# </details>

# %% [markdown]
# Next is chapter 5c, "Time and memory", in which you measure both yourself. Chapter 6 does not need it, so you may also go on to 6a, "Your handwriting".
#
# Here the sitting ends. What follows can wait for another evening: nothing later needs it. (Its exercise gives points too.)

# %% [markdown] name="fragile-text"
# ## 6 What autocast cannot know
#
# *{minutes} minutes*
#
# Autocast knows torch's own operations, but it does not know your formula. Take the distance of chapter 1, a sum of squared differences.
# Many programs compute (p - q)² as p² + q² - 2pq, because for whole tables of numbers that takes only one matrix product.
#
# For p = 201 and q = 200 that is 40,401 + 40,000 - 80,400, which is 1. But autocast computes the matrix product in bfloat16, where numbers near 40,200 are 256 apart. So 2pq may be wrong by 256, and the 1 is lost.
#
# Now do the same with pictures. Suppose that the digits are written on gray paper, so that every pixel is larger by 200. Read them twice, without and with an autocast block.

# %% name="forward-loses"
def square_distances(a, b):
    return (a * a).sum(dim=1)[:, None] + (b * b).sum(dim=1) - 2 * a @ b.T


def nearest_right(distances):
    """The share of the unseen digits whose nearest known digit has their label."""
    says = labels[known][distances.argmin(dim=1)]
    return (says == labels[unseen]).float().mean().item()


gray = 16 * ink + 200
full = square_distances(gray[unseen], gray[known])
with torch.autocast("cpu"):
    rough = square_distances(gray[unseen], gray[known])
print(f"float32 reads {nearest_right(full):.1%}, under autocast {nearest_right(rough):.0%}")

# %% claim=true
_p, _q = torch.tensor(201.0).bfloat16(), torch.tensor(200.0).bfloat16()
assert _p * _p + _q * _q - 2 * _p * _q == 0 and (_p - _q) ** 2 == 1
assert nearest_right(full) > 0.96 and 0.55 < nearest_right(rough) < 0.9
_low = square_distances(gray[unseen].bfloat16(), gray[known].bfloat16())
assert nearest_right(_low) < 0.3 and _low.min() < 0  # all in bfloat16 it is worse still
_products = (2 * gray[unseen].bfloat16()) @ gray[known].bfloat16().T
assert _products.min() > 5e6 and full.max() < 10_000
_next = (_products.view(torch.int16) + 1).view(torch.bfloat16)
assert _next.sub(_products).unique().tolist() == [32768]
assert not square_distances(gray[unseen].half(), gray[known].half()).isfinite().any()

# %% [markdown]
# Under autocast the nearest neighbor misreads many, as the matrix product is in 16 bits.
# The numbers in this product are above 5 million. There two neighboring numbers of bfloat16 are 32,768 apart, whereas the distances are only a few thousand.
#
# An inner block with `enabled=False` is an island of float32:

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
# But the island converts nothing: a tensor that enters it with 16 bits keeps its 16 bits.
#
# ### Exercise: `mixed_region`
#
# *{minutes} minutes*
#
# Write a function that builds such an island around any part of a model. It has to do two things: switch autocast off, and turn the input to float32 by `.float()`.
# With your function around it, the product below must be float32 inside the block too.

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

    safe = mixed_region(lambda x: x @ x.T) gives a float32 result under autocast.

    - block: a function or a module with float32 weights; it takes one tensor and returns one.
    - safe turns x to float32, calls block once, with autocast switched off for the device type
      of x, and returns the result as it is. Gradients flow through it to x.
    - Outside of safe, autocast goes on as before.
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

# %% [markdown]
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "Automatic Mixed Precision package"; Micikevicius and others, "Mixed Precision Training" (2018).
