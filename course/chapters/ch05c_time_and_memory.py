# %% [markdown] name="opening"
# # Chapter 5c: Time and memory
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *How long does a step take, and what fills the card?*
#
# In chapters 5a and 5b your training learned to run on any device, and in half the bits. How many digits should it get at a time? Here you measure how long a step takes, and compute how much memory it will hold. Then you choose a batch: large enough to be fast, and small enough to fit.
# Chapter 6 needs nothing from this notebook, so you can leave it for another day. With a GPU you will see more. (Colab lends you one: choose Runtime, Change runtime type, GPU.)
#
# This takes about {minutes} minutes to read and run, and {exercises} for the exercises. After the end, for another evening, come exercises of {later} more minutes, and three longer ones for extra credit.
# The folded cells below load what this notebook needs.

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
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch05 as figures
from course.instruments import ToyDevice, operations, runs, saved_bytes, saved_shapes

torch.set_num_threads(1)  # for work this small, a second thread costs more than it brings
_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("5c")

# %% [markdown]
# What does one training step hold in memory? Here is a network of 300,000 weights, with 16, 256, 1024 and 4096 rows in a batch. One of the four parts grows. Section 1 says what the four are.

# %% name="first-page" figure=true
figures.memory((64, 512, 512, 10), batches=(16, 256, 1024, 4096))

# %% [markdown] name="memory"
# ## 1 What fills the card?
#
# *{minutes} minutes*
#
# "CUDA out of memory": you will meet this error sooner or later if you train on a GPU. It says that the card's memory is full, but not of what. Four things take memory:
#
# - the **weights**;
# - their **gradients**, one number for each weight;
# - the **state of the optimizer**, what it remembers of earlier steps: plain SGD remembers nothing, SGD with momentum one number for each weight, and Adam two;
# - the **activations**, the tensors that the forward pass saves because the backward pass needs them: the batch, and results of the layers.
#
# *Predict.* You train 1000 weights in float32 with Adam. How many bytes do the first three take together?

# %% predict=true
guess = 16_000  # bytes

# %% name="four-parts"
layer = nn.Linear(1000, 1, bias=False)
adam = torch.optim.Adam(layer.parameters())
layer(torch.ones(1, 1000)).sum().backward()
adam.step()
state = adam.state[layer.weight]  # what Adam remembers of the 1000 weights: two averages each
parts = [layer.weight, layer.weight.grad, state["exp_avg"], state["exp_avg_sq"]]
reveal(guess, sum(part.nbytes for part in parts))

# %% claim=true
assert state["exp_avg"].shape == state["exp_avg_sq"].shape == layer.weight.shape

# %% [markdown]
# Each weight needs four numbers of 4 bytes: itself, its gradient and Adam's two averages. That does not change with the size of the batch. Only the activations grow with the batch, because each row of it has activations of its own. In the picture at the top of this notebook they are a sliver for 16 rows, and most of the memory for 4096.
#
# So two remedies are at hand. Mixed precision, from chapter 5b, takes half the bytes for each activation. And a smaller batch has fewer of them. What does a smaller batch cost? Measure it.

# %% [markdown] name="timing"
# ## 2 Time it yourself
#
# *{minutes} minutes*
#
# No table can tell you how fast your model is on your machine, so measure it yourself. Three things matter:
#
# - **Wait.** Otherwise you measure only how long your program needs to put the work into the GPU's queue. (On a large GPU that took 0.04 ms, and the work itself, a product of matrices, 2.7 ms.) `torch.cuda.synchronize()` waits until the queue is empty.
# - **Warm up.** The first call takes longer, because it loads code and asks for memory.
# - **Take the median**, the value in the middle, because now and then another program interferes.
#
# *Predict.* The toy device of chapter 5a still has 50 ms of earlier work in its queue. You read the clock, add 4 ms of work (adding takes 1 ms), wait, and read the clock again. How many milliseconds do you measure?

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
# The device first does its 50 ms of earlier work, and then yours: 54. (The 1 ms of adding does not count, because the device works meanwhile.) So it is not enough to wait at the end. Wait before you read the clock for the first time too.
#
# ### Exercise: `bench`
#
# *{minutes} minutes*
#
# Write a stopwatch that does all three. Its argument `sync` is the way to wait: `torch.cuda.synchronize` for a GPU, and for the CPU a function that does nothing.

# %% name="median"
times = [1, 1, 2, 9, 1]  # the seconds of five calls
print("mean:", statistics.mean(times), " median:", statistics.median(times))

# %% claim=true
assert statistics.mean(times) == 2.8 and statistics.median(times) == 1

# %% exercise="bench"
def bench(fn, warmup, iters, sync):
    """Return the median time of one call of fn, in seconds, as a float.

    If the timed calls take 1, 1, 2, 9 and 1 seconds, the result is 1.0.

    - fn() gives the device some work and may return before it is done; sync() returns when
      all work given so far is done. sync is always given; it may do nothing.
    - First fn is called `warmup` times, untimed.
    - Then it is called `iters` times, and each call is timed by itself, with
      time.perf_counter(): the clock is read when no work is left over from before, and again
      when the work of this call is done.
    - If iters is even, the median is the mean of the two times in the middle.
    - fn may be a whole training step, so it is never called under no_grad.
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

# %% [markdown]
# Now use it, for a whole training step of the digit reader of chapter 5a. First the digits and the device:

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
if device == "auto":
    device = "cuda" if torch.cuda.is_available() else "cpu"
device = torch.device(device)
machine = torch.cuda.get_device_name() if device.type == "cuda" else "this CPU, one thread"
print(f"{len(ink)} digits, on {machine}")

# %% [markdown]
# And here is the step, with your stopwatch around it:

# %% name="stopwatch"
def stopwatch(action, calls=5 if short else 15):
    """The seconds that one call takes, on the device of this notebook."""
    sync = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    return my_bench(action, 2, calls, sync)


reader = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10)).to(device)
sgd = torch.optim.SGD(reader.parameters(), lr=0.5)
x, y = ink.to(device), labels.to(device)


def step(rows):
    """One training step on the first `rows` digits."""
    sgd.zero_grad()
    F.cross_entropy(reader(x[:rows]), y[:rows]).backward()
    sgd.step()


print(f"a step with one digit takes {stopwatch(lambda: step(1)) * 1e6:.0f} microseconds")

# %% [markdown]
# An epoch goes once through all 1,797 digits. With batches of one digit it has 1,797 steps, and with batches of 64 it has about 28.
#
# *Predict.* How much faster is an epoch with batches of 64: no faster, up to ten times, or more than ten times?

# %% predict=true
guess = "more than ten"  # "no faster", "up to ten", or "more than ten"

# %% name="epochs-by-batch"
batches = [1, 4, 16, 64, 256, 1024]
epochs = [stopwatch(lambda rows=rows: step(rows)) * 1797 / rows for rows in batches]  # seconds
faster = epochs[0] / epochs[3]
print(f"an epoch: {epochs[0]:.3f} s with one digit, {epochs[3]:.3f} s with 64")
reveal(guess, "more than ten" if faster > 10 else "up to ten" if faster > 1.5 else "no faster")

# %% claim=true
assert faster > 8
with torch.no_grad():
    _apart = torch.cat([reader(_row) for _row in x[:100].split(1)])
    assert torch.allclose(reader(x[:100]), _apart, atol=1e-1)  # some cards round the factors first

# %% [markdown]
# A step takes some time that does not depend on the number of rows: Python calls torch, torch makes room for each result, and the optimizer changes all weights. A batch of 64 pays that once, where 64 steps would pay it 64 times. Here are all six batches:

# %% name="epochs-drawn"
figures.time_by_batch(batches, epochs)

# %% [markdown]
# Both axes are logarithmic: each line of the grid is ten times the one below it. At the left the line falls steeply, because there are fewer steps, and each takes about as long as before. Further right each larger batch gains less, and on a CPU the line may rise again, because there the rows themselves take most of the time.
# On a GPU it goes on falling for much longer, because a few rows leave most of the GPU idle.
#
# So take a batch from which on the line hardly falls, if it fits into the memory. (Not the largest that there is: an epoch of two large steps teaches the reader less than one of many small ones.)

# %% [markdown] side=true
# #### Is half the bits twice the speed?
#
# *{minutes} minutes*
#
# That depends on the circuits. A processor without circuits for 16 bits imitates them, slowly.
# Between 32 and 16 bits there is one thing more: since the A100, cards can round the factors of a float32 product and keep the rest in 32 bits, if you ask for it by `torch.set_float32_matmul_precision("high")`. Then a step that took an H200 197 ms in float32 took 36 ms, and 16 ms in bfloat16.
# (In convolutions torch rounds the factors without being asked. That is why the convolutions in the table of chapter 5b gained less from 16 bits.)
# So do not believe a "twice as fast" that does not name the machine. Here is a measurement on yours. First check that your device gives the same numbers as the CPU.

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
# #### What does autocast cost, and what does it gain?
#
# *{minutes} minutes*
#
# Autocast turns tensors to 16 bits, and each time that is an operation of its own. One Linear needs three: for its input, its weight and its bias.
# In a small network these take longer than the products do.

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
# Below 1, autocast was slower. One neuron loses because of the conversions. If the four layers lose as well, your processor may have no circuits for 16 bits, and then it imitates each product. A gain shows with large layers on a device with such circuits, as in the table of chapter 5b.

# %% [markdown] side=true
# #### Which operation takes the time?
#
# *{minutes} minutes*
#
# First see which operations run, and how often. A Linear is one `addmm`, a product and a sum in one, with the weight transposed.
# The **profiler** tells you how long each took on a card. It counts in microseconds (us), and uses the names of the card's own programs.

# %% name="profiler"
hundred = x[:100]
print(operations(lambda: reader(hundred)))
if device.type == "cuda":
    with torch.no_grad(), torch.profiler.profile() as profile:
        for _ in range(10):
            reader(hundred)
    work = [event for event in profile.key_averages() if event.device_type.name == "CUDA"]
    for event in sorted(work, key=lambda event: -event.self_device_time_total):
        print(f"{event.self_device_time_total:8.0f} us, {event.count} times: {event.key[:60]}")
else:
    print("no CUDA here: on a GPU the profiler would list the card's work and its times")

# %% claim=true
assert operations(lambda: reader(hundred)).count("addmm") == 2

# %% [markdown] side=true name="compile"
# #### What is `torch.compile` for?
#
# *{minutes} minutes*
#
# So far torch has done one operation after the other. For each operation the host has to start some work on the device, and the device has to fetch all numbers from its memory and write the results back.
# `fast = torch.compile(model)` returns a model that looks ahead. At its first call it makes one program out of several operations, in which a sum and a ReLU, for example, fetch their numbers only once.
# From then on it runs that program, as long as the inputs are of the same kind.
#
# The part that makes the program is called a backend, and any function may be one. To see when torch calls it, here is one that only notes which operations it gets.
#
# *Predict.* You call a compiled Linear and ReLU three times with five digits. How many times does torch call the backend?

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
# The real backend, which you get if you name none, writes a program in C++ or for the card, and compiles it.
# For these two layers that took 13 seconds on our machine, so it pays off for a model that runs thousands of times.
# Where your code looks at a number, by `print(loss)` or `loss.item()`, the compiled program has to stop and go back to Python. This is called a **graph break**.

# %% [markdown] name="fits"
# ## 3 Does it fit?
#
# *{minutes} minutes*
#
# You can compute roughly how many bytes a step will hold, before the GPU tells you that they do not fit.
# For that you have to know what the forward pass saves. `saved_shapes`, a helper of this course, runs one and lists the shape of each tensor that is saved. Here are those of the digit reader, for 32 digits:

# %% name="what-is-saved"
print(saved_shapes(lambda: reader(x[:32])))

# %% claim=true
assert saved_shapes(lambda: reader(x[:32])) == [(32, 64), (32, 256), (32, 256), (256, 10)]
for _rows in (32, 320):
    _saved = saved_bytes(lambda: reader(x[:_rows]), without=reader.parameters())
    assert _saved == 4 * (_rows * 64 + _rows * 256)

# %% [markdown]
# | shape | what it is | counts |
# |---|---|---|
# | (32, 64) | the digits, saved by the first layer | as activations |
# | (32, 256) | the result of the ReLU, saved by the ReLU | as activations |
# | (32, 256) | the same result, saved by the last layer | not again: it is the same memory |
# | (256, 10) | the weight of the last layer, transposed | no: it is a weight |
#
# The result of the first layer is not saved, because the ReLU can tell from its own result where it has cut off.
# So the activations are 32 * 64 + 32 * 256 numbers, and ten times as many for 320 digits.
#
# ### Exercise: `memory_plan`
#
# *{minutes} minutes*
#
# Compute all four parts of section 1, for any model and any dtype.
#
# Begin with the three parts that are a matter of counting: write them, put 0 for the activations, and run the check. (`model.to(dtype)` works in place, so work on a copy: `copy.deepcopy(model)`.)
# For the activations you need every tensor that torch saves, and you must not count the same memory twice. Inside the block below torch calls your `pack` with each tensor that it saves. The memory of a tensor is its `untyped_storage()`, and `data_ptr()` is the address of that memory: two tensors with the same address share it. (`unpack` is for the backward pass; here it only has to be there.)

# %% name="memory-plan-example"
def pack(tensor):  # torch calls it with each tensor that it saves, and keeps what it returns
    memory = tensor.untyped_storage()
    print(tuple(tensor.shape), "at address", memory.data_ptr(), "has", memory.nbytes(), "bytes")
    return tensor


def unpack(tensor):  # the backward pass calls it with what pack returned
    return tensor


two_layers = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 1))
with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
    result = two_layers(torch.ones(4, 3))

# %% [markdown]
# The second and the third tensor stand at the same address: they share their memory, which counts once. The last one stands at the address of a parameter, `two_layers[2].weight`, and so it is one.
# When a tensor is gone, torch may use its address again, so keep the result of the model until you have counted.

# %% exercise="memory_plan"
def memory_plan(model, batch, optimizer, dtype):
    """Return the bytes that one training step will hold, as a dict of four ints.

    nn.Linear(3, 2), a batch (4, 3), "adam" and torch.float32 give 32 for the parameters, 32 for
    the gradients, 64 for the optimizer and 48 for the activations.

    Plan for a copy of the model and for the batch (a tensor), turned to `dtype`, in the mode,
    train or eval, that the model is in. The model given, with its .grad, and the batch stay as
    they are.

    - "parameters": each parameter once, frozen ones too; buffers are left out.
    - "gradients": of the parameters that are not frozen.
    - "optimizer": its state for those: for optimizer "sgd" nothing, for "momentum" one
      number for each weight, for "adam" two; all in dtype.
    - "activations": what model(batch) saves for backward, except parameters and buffers.
      Each piece of memory counts once, whole, however many saved tensors share it.
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

# %% mine=true
def plain_memory_plan(model, batch, optimizer, dtype):  # only for the reader of this notebook
    weights = sum(p.numel() for p in model.parameters()) * dtype.itemsize
    activations = len(batch) * (64 + 256) * dtype.itemsize
    return {"weights, gradients and Adam": 4 * weights, "activations": activations}


my_memory_plan = mine("memory_plan", plain_memory_plan)

# %% [markdown]
# Now you know roughly, before you start, whether a batch fits. (Only roughly, because in the backward pass torch frees the activations one after another, and operations need some memory to work in.) Suppose that a very small GPU has only 1 MB. With Adam in float32 it has room for the digit reader and a batch of 541.
#
# *Predict.* In bfloat16 each number takes half the bytes. How many digits fit then: fewer than 1082, exactly 1082, or more?

# %% predict=true
guess = "more"  # "fewer", "exactly 1082", or "more"

# %% name="memory-plan-used"
one_digit = x[:1].clone()  # a copy, because x[:1] would bring the memory of all digits along
room = {}
for dtype in (torch.float32, torch.bfloat16):
    plan = my_memory_plan(reader, one_digit, "adam", dtype)
    fixed = sum(plan.values()) - plan["activations"]
    room[dtype] = (1_000_000 - fixed) // plan["activations"]
    print(f"{dtype}: {fixed} bytes, {plan['activations']} more for each digit")
    print("  digits that fit:", room[dtype])
fits = room[torch.bfloat16]
reveal(guess, "exactly 1082" if fits == 1082 else "more" if fits > 1082 else "fewer")

# %% claim=true
assert room == {torch.float32: 541, torch.bfloat16: 1322}

# %% [markdown]
# More, because the fixed part needs half the bytes too, and what it leaves free goes to the batch.
# (Mixed precision, as in chapter 5b, keeps the weights in float32. There only the activations shrink.)
#
# Now choose your batch for the GPU with 1 MB. The cell begins with 16. Try others of the six in section 2, until an epoch hardly gets faster and the batch still fits.

# %% name="choice"
batch = 16  # try others of `batches`
plan = my_memory_plan(reader, x[:batch].clone(), "adam", torch.float32)
took, held = epochs[batches.index(batch)], sum(plan.values())
print(f"{batch} digits: {took * 1e3:.1f} ms for an epoch, {held / 1e6:.2f} MB in a step")

# %% claim=true
assert held == 307_360 + batch * 1280
assert [_rows for _rows in batches if 307_360 + _rows * 1280 > 1_000_000] == [1024]

# %% [markdown] side=true
# #### What does the card itself say?
#
# *{minutes} minutes*
#
# (For a GPU only.) `torch.cuda.memory_allocated()` says how many bytes all tensors on the card hold now, and `max_memory_allocated()` the most that they have held since the last reset.
# This is more than your plan: torch rounds each piece of memory up, and operations need memory to work in, above all the backward pass, for the gradients of the activations.

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
# #### Half the bytes is still too much: what else is there?
#
# *{minutes} minutes*
#
# You can save fewer activations, and compute the others a second time: this is **activation checkpointing**.
# `checkpoint(block, x)` saves the input of a block and nothing from inside it. When the backward pass reaches the block, the block runs once more.
# (What a training goes on from, chapter 6b, is called a checkpoint too, but has nothing else in common with this.)
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
# It pays off for blocks whose input is narrow and whose inside is wide. Here are eight of them, one after another.
# (torch has two ways of doing this and asks you to choose: `use_reentrant=False` is the newer one.)

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
# Dropout sets the same places to 0 in the second run, because torch draws the same random numbers again.

# %% name="checkpoint-dropout"
x = torch.ones(1000, requires_grad=True)
y = checkpoint(lambda x: F.dropout(x * x, 0.5), x, use_reentrant=False)
y.sum().backward()  # runs the block again
both = (x.grad == 0) & (y == 0)
print("dropped:", (y == 0).sum().item(), " dropped both times:", both.sum().item())

# %% claim=true
assert torch.equal(x.grad != 0, y != 0)  # a gradient where something was left, and only there

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# - measure times that you can believe
# - compute how much memory a step will hold, before you start it
# - choose a batch that is large enough to be fast and small enough to fit
#
# | you see | try |
# |---|---|
# | a speed-up that is too good to be true | `synchronize`, each time before you read the clock |
# | "CUDA out of memory" | mixed precision; then a smaller batch; then activation checkpointing (a side path of section 3) |

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
# 1. Which part of the memory grows with the batch?
# 2. Adam trains 1000 weights in float32. How many bytes does that take, without the activations?
# 3. Which three things does an honest stopwatch do?
# 4. Why is an epoch with batches of 64 so much faster than one with batches of a single digit?
#
# <details><summary>Answers</summary>
#
# 1. The activations.
# 2. 16,000: weights, gradients and Adam's two averages, 4 bytes each.
# 3. It waits before it reads the clock, both times. It warms up. And it takes the median.
# 4. Each step takes some time that does not depend on its rows, and with batches of 64 there are far fewer steps.
#
# </details>

# %% [markdown]
# Next is chapter 6a, "Your handwriting". Everything you have built so far comes together there: you draw a digit with the mouse, and a model that your own loop has trained says which one it is. It will misread most of what you draw small in a corner, although your program has no mistake, and you will find out why.
#
# Here the sitting ends. What follows can wait for another evening: nothing later needs it. (Sections 4 and 5 give points too.)

# %% [markdown] name="factor-loses"
# ## 4 A larger loss factor?
#
# *{minutes} minutes*
#
# Three pictures in chapter 5b showed which gradients float16 loses, each with another factor for the loss. Here you write the program that counts those that become 0.
#
# ### Exercise: `underflow_report`
#
# *{minutes} minutes*
#
# For each factor, compute the share of the gradients that become 0 in float16.
# Of the three gradients here, two are not 0. Without a factor float16 loses one of these two; with the factor 1024 it loses none.

# %% name="underflow-example"
slope = torch.tensor([1e-9, 1e-3, 0.0])
print(slope.half().tolist(), (1024 * slope).half().tolist())

# %% exercise="underflow_report"
def underflow_report(loss_fn, scales):
    """Return for each scale the share of the gradient that float16 loses: a dict of floats.

    With gradient [1e-9, 1e-3, 0.0] and scales [1.0, 1024.0]: {1.0: 0.5, 1024.0: 0.0}.

    loss_fn() computes anew, and returns a float32 loss and the list of the float32
    parameters. For each scale take the gradients of scale * loss, in float32.

    - Of all parameters together, count the entries that are not 0: the share is that of those
      which become 0 in float16. Without any to count it is 0.0.
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
parts = [layer for _ in range(8) for layer in (nn.Linear(64, 64), nn.Sigmoid())]
deep = nn.Sequential(*parts, nn.Linear(64, 10))  # the reader of chapter 5b, with eight sigmoids


def deep_loss():
    """The loss of a deep reader, and its parameters."""
    return F.cross_entropy(deep(ink[:256]), labels[:256]), list(deep.parameters())


report = my_underflow_report(deep_loss, [1.0, 2.0**16, 2.0**26])
for scale, lost in report.items():
    print(f"loss times 2 ** {math.log2(scale):.0f}: {lost:.1%} become 0")

# %% claim=true
_lost = list(plain_report(deep_loss, [1.0, 2.0**16, 2.0**26]).values())
assert _lost[0] > 0.15 and _lost[0] > _lost[1] >= _lost[2] and _lost[2] < 1e-3
_loss, _weights = deep_loss()
_scaled = torch.autograd.grad(2.0**26 * _loss, _weights[-1])[0]
assert _scaled.half().isinf().any()

# %% [markdown]
# With 2 ** 26 hardly any gradient becomes 0. Yet this factor is too large: some gradients become inf, as the third picture of gradients in chapter 5b shows.

# %% [markdown] name="any-batch"
# ## 5 Nested batches
#
# *{minutes} minutes*
#
# A batch is not always a pair. A text with its mask and its label, for example, often comes as a dict, and some loaders give lists of dicts.
#
# ### Exercise: `to_device`
#
# *{minutes} minutes*
#
# Write one function that moves every tensor in any such batch. (It will have to call itself.)

# %% name="nested-batch"
batch = {"x": torch.ones(2, 64), "pair": (torch.zeros(2), "a name"), "count": 2}
print({key: type(value).__name__ for key, value in batch.items()})

# %% exercise="to_device"
def to_device(obj, device):
    """Return obj with every tensor in it moved to device; obj itself stays as it was.

    to_device({"x": torch.ones(2), "name": "a"}, "meta") gives a new dict, with "x" on
    the meta device and "name" still "a".

    - obj: a tensor, or a dict, list, tuple or named tuple, nested to any depth.
    - Each container comes back as a new one of its type, an OrderedDict as an OrderedDict,
      with the same keys in the same order.
    - A named tuple has a field for each value, type(obj)(*values) makes one, and obj._fields
      tells it from a plain tuple.
    - Anything else (a number, a string, None) comes back as it is.
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
# #### Can I give dtype and device in one call?
#
# *{minutes} minutes*
#
# Yes, when you make a tensor, and when you move it.

# %% name="dtype-and-device"
made = torch.zeros(2, 3, device=device, dtype=torch.bfloat16)
moved = torch.zeros(2, 3).to(device, torch.bfloat16)
print(made.device, made.dtype)

# %% claim=true
assert made.dtype == moved.dtype == torch.bfloat16
assert made.device == moved.device and made.device.type == device.type

# %% [markdown] name="stretch"
# ## 6 Three things to build
#
# ### Exercise: `count_syncs`
#
# *Stretch, extra credit, {minutes} minutes*
#
# A program waits for the device wherever it needs a value: `item`, `print`, an `if` on a tensor. Build a detector that finds these places in a function.
# Every operation goes through torch's **dispatcher**, which chooses the code for the device. A `TorchDispatchMode` sees each operation before it runs.
# This one notes the names.

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

    For fn = lambda: torch.ones(2).sum().item() the result is ["aten._local_scalar_dense"].

    - Look for two: _local_scalar_dense (item, float, int, bool, an `if` on a tensor) and
      nonzero.
    - The result lists their names in the order in which they ran, each as often as it ran:
      "aten._local_scalar_dense", "aten.nonzero".
    - A TorchDispatchMode sees each operation as `func`; str(func.overloadpacket) is its name.
    - Afterwards the mode is off again, also where fn raises an error, which goes on to the
      caller.
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

# %% [markdown]
# ### Exercise: `LossScaler`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Build the search for a factor yourself, and you will know what a `GradScaler` does.
# Begin with a static scaler, whose factor stays as it is. Then let the factor change.

# %% name="scaler-example"
print("a loss of 0.5 with the factor 4:", torch.tensor(0.5) * 4)

# %% exercise="LossScaler"
### BEGIN STARTER
# class LossScaler:
#     """A loss scaler: static first, then dynamic, as torch.amp.GradScaler is.
#
#     LossScaler(factor=4.0).scale(torch.tensor(0.5)) gives tensor(2.).
#
#     - factor is what a loss is multiplied by; clean_steps counts the steps with finite
#       gradients since the factor last changed.
#     - scale(loss) gives the loss times factor.
#     - unscale_(optimizer) divides by factor, in place, each .grad that is there, and notes
#       whether one of them is not finite.
#     - step(optimizer) unscales first, too, unless that was done since the last update; then it
#       calls optimizer.step() if all were finite.
#     - update() ends the round, which has one step. If growth_interval is None (static), the
#       factor stays and clean_steps stays 0. Otherwise, after gradients that were not finite the
#       factor is multiplied by backoff and clean_steps is 0 again; after finite ones clean_steps
#       grows by 1, and when it reaches growth_interval, the factor is multiplied by growth and
#       clean_steps is 0 again.
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

    LossScaler(factor=4.0).scale(torch.tensor(0.5)) gives tensor(2.).

    - factor is what a loss is multiplied by; clean_steps counts the steps with finite
      gradients since the factor last changed.
    - scale(loss) gives the loss times factor.
    - unscale_(optimizer) divides by factor, in place, each .grad that is there, and notes
      whether one of them is not finite.
    - step(optimizer) unscales first, too, unless that was done since the last update; then it
      calls optimizer.step() if all were finite.
    - update() ends the round, which has one step. If growth_interval is None (static), the
      factor stays and clean_steps stays 0. Otherwise, after gradients that were not finite the
      factor is multiplied by backoff and clean_steps is 0 again; after finite ones clean_steps
      grows by 1, and when it reaches growth_interval, the factor is multiplied by growth and
      clean_steps is 0 again.
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
# ### Exercise: `master_weights`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Why do the weights stay in float32? Take the same steps twice: once with weights in bfloat16, and once with a master copy in float32.

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

# %% [markdown] name="same-numbers"
# ## 7 The same numbers?
#
# You run a program a second time, or on another device. Do you get the same numbers?

# %% [markdown] side=true
# #### Same program, same seed: the same result?
#
# *{minutes} minutes*
#
# On this CPU, with one thread, yes, to the last bit.
# On a GPU some operations add up numbers in the order in which they get ready, and this changes the last digits.
# After `torch.use_deterministic_algorithms(True)` torch uses another method where it has one, and raises an error where it has none.

# %% name="same-again"
def one_product():
    torch.manual_seed(seed)
    return (torch.randn(300, 300) @ torch.randn(300, 300)).sum().item()


print([one_product() for _ in range(2)])

# %% claim=true
assert one_product() == one_product()  # bit for bit

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
# #### Two devices differ in the sixth digit: is that an error?
#
# *{minutes} minutes*
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
# No. Near 1e8 two neighboring float32 numbers are 8 apart, so the 1 is lost.
# A sum depends on the order in which you add, and every device, library and number of threads has an order of its own. So it is not an error if two devices differ a little.
# Never compare the results of two devices with `==`. Compare them up to a **tolerance**, some multiple of the dtype's eps.
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

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "CUDA semantics", "torch.compile" and "Reproducibility";
# Chen and others, "Training Deep Nets with Sublinear Memory Cost" (2016).
