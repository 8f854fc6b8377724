# %% [markdown] name="opening"
# # Chapter 2: Autograd
#
# Training needs derivatives; autograd finds them. After this chapter you can
#
# 1. read `requires_grad`, `grad_fn` and leaf, and get a gradient with `backward`
# 2. say why `.grad` adds up, and use it
# 3. follow the life of a graph, and keep none by mistake
# 4. get the gradient of a tensor in the middle
# 5. choose between `detach`, `no_grad` and `inference_mode`
# 6. predict which in-place change breaks a gradient
# 7. compute a vector-Jacobian product
# 8. avoid nan and dead gradients
# 9. write a `Function` and test it with `gradcheck`
# 10. take second derivatives
# 11. build a small autograd
#
# Plan 80 minutes, without the stretch exercises; sections 3 and 6 are good places for a break.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them

# %% setup=true
import math
import warnings
import torch
from autograder import check, hint, progress, reveal, shows_error
from course.figures import ch02_autograd as figures

_ = torch.manual_seed(seed)

# %% [markdown] name="record"
# ## 1 The record and `backward` (15 minutes)
#
# A tiny model predicts `w * x + b`.
# With w = 2 and b = 1 it gives 7 for x = 3; the target is 10.
# The loss is the squared error, (7 - 10) ** 2 = 9.
#
# *Predict.* You make w a little larger, 2.000001. Does the loss grow or shrink?

# %% predict=true
guess = "shrinks"  # "grows" or "shrinks"

# %% name="nudge"
def loss_at(w, b):
    """The squared error of w * x + b for x = 3 and target 10."""
    return (w * 3.0 + b - 10.0) ** 2


nudge = 1e-6
slope = (loss_at(2 + nudge, 1) - loss_at(2 - nudge, 1)) / (2 * nudge)
assert abs(slope + 18) < 1e-4
reveal(guess, "grows" if slope > 0 else "shrinks")

# %% [markdown]
# The slope is -18: for a small nudge of w, the loss falls 18 times as much.
# That number is the derivative of the loss with respect to w, or *by* w, for short.
# The derivatives by all the numbers together are the **gradient**.
#
# Autograd finds it without nudging.
# Ask for a record with `requires_grad=True`, compute as ever, then call `backward()` on the result.
# A tensor with that flag is called tracked.

# %% name="linear-prediction"
w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)
loss = loss_at(w, b)
assert w.grad is None  # so far, only a record
loss.backward()
print(loss.item(), w.grad, b.grad)
assert loss.item() == 9 and w.grad == -18 and b.grad == -6

# %% [markdown] name="division-of-labor"
# The same -18, exact.
# Computing the loss filled in nothing: gradients are computed when you call `backward`, and only then.
# The results stand in `.grad`, where the training loop of chapter 4 picks them up.
#
# This is the division of labor: you write the forward computation, the model and its loss, and the backward one is derived for you.
#
# *Predict.* `y = (3 * x + 1) ** 2` at x = 2. By the chain rule, the derivative is 2 * (3 * x + 1) * 3. What is it here?

# %% predict=true
guess = 42  # a number

# %% name="forty-two"
x = torch.tensor(2.0, requires_grad=True)
y = (3 * x + 1) ** 2
y.backward()
assert y.item() == 49
reveal(guess, x.grad.item())

# %% [markdown]
# What is the gradient good for?
# It points in the direction in which the function grows fastest.
# So a small step the other way makes it smaller; that is all of gradient descent.

# %% name="downhill"
p = torch.randn(5, dtype=torch.float64, requires_grad=True)
bowl = (p**2).sum() + torch.sin(p).sum()
bowl.backward()


def height(q):
    return ((q**2).sum() + torch.sin(q).sum()).item()


down, up = height(p.detach() - 1e-3 * p.grad), height(p.detach() + 1e-3 * p.grad)
assert down < bowl.item() < up
print(f"downhill {down:.5f}, here {bowl.item():.5f}, uphill {up:.5f}")

# %% [markdown]
# (`detach()` gives the values without the record; section 5 is about it.)
#
# ### Tracked or not
#
# The flag is off unless you switch it on, and only floating point tensors (and complex ones) can have it.

# %% name="flag"
x = torch.ones(3)
assert x.requires_grad is False
x.requires_grad_()  # the underscore: in place
assert x.requires_grad is True
x.requires_grad_(False)
assert x.requires_grad is False
with shows_error(RuntimeError, match="floating point"):
    torch.tensor([1, 2], requires_grad=True)

# %% [markdown] name="leaf-text"
# Track what is to be learned; leave the data alone.
# (In chapter 3, layers do this for their own weights.)
#
# *Predict.* `sizes` is untracked data and `weight` is tracked. Is `sizes * weight` tracked?

# %% predict=true
guess = True  # True or False

# %% name="one-tracked-is-enough"
sizes = torch.tensor([60.0, 85.0, 120.0])
weight = torch.tensor(2.5, requires_grad=True)
assert (sizes + 1).grad_fn is None and not (sizes + 1).requires_grad  # nobody is tracked
reveal(guess, (sizes * weight).requires_grad)

# %% [markdown]
# One tracked operand is enough.
# Without one, nothing is recorded: "every operation is noted in a graph", as you may read, is not so.
#
# A **leaf** is a tensor that is not the result of a recorded step.
# A result has a `grad_fn`, a link to the step that made it.

# %% name="weight-and-data"
bias = torch.tensor(1.0, requires_grad=True)
prices = sizes * weight + bias
assert weight.is_leaf and weight.grad_fn is None and not prices.is_leaf
prices.mean().backward()
assert sizes.requires_grad is False and sizes.grad is None  # data
assert torch.allclose(weight.grad, sizes.mean()) and torch.allclose(bias.grad, torch.ones(()))
with shows_error(RuntimeError, match="leaf"):
    prices.requires_grad_(False)  # a result's flag follows from its operands
print(prices.grad_fn.name(), weight.grad, bias.grad)

# %% [markdown]
# Data may be tracked too, when the input itself is to be changed, for example to find the input that a model likes best.

# %% name="input-gradient"
row = torch.tensor([1.0, -2.0, 0.5])  # fixed weights
pixel_input = torch.zeros(3, requires_grad=True)
(row * pixel_input).sum().backward()
assert torch.equal(pixel_input.grad, row)  # how much each input number counts
print(pixel_input.grad)

# %% [markdown] name="worked-text"
# ### A graph by hand
#
# Follow one example all the way: `loss = ((x * y) + x) ** 2` at x = 2 and y = 3.
# Forward: z = x * y = 6, s = z + x = 8, loss = 64.
#
# *Predict.* What is the derivative of the loss by x? Take care: x is used twice.

# %% predict=true
guess = 64  # a number

# %% name="worked-gradients"
x = torch.tensor([2.0], requires_grad=True)
y = torch.tensor([3.0], requires_grad=True)
loss = (x * y + x) ** 2
loss.backward()
assert loss.item() == 64 and y.grad.item() == 32
reveal(guess, x.grad.item())

# %% [markdown]
# You may meet this example with 80 for x, or with 16 for y.
# Take nobody's word for it, not even ours.
# By hand, with the chain rule: the square gives 2 * s = 16; from there every path back multiplies.

# %% name="worked-by-hand"
by_s = 2 * 8.0  # d loss / d s
by_z = by_s * 1  # s = z + x
by_x = by_z * 3.0 + by_s * 1  # through z = x * y, and through s directly
by_y = by_z * 2.0
assert (by_x, by_y) == (x.grad.item(), y.grad.item()) == (64.0, 32.0)
nudged = ((2 + nudge) * 3 + (2 + nudge)) ** 2 - ((2 - nudge) * 3 + (2 - nudge)) ** 2
assert abs(nudged / (2 * nudge) - 64) < 1e-3  # and by nudging
print(by_x, by_y)

# %% [markdown]
# In the picture, time runs from left to right.
# Blue: the values that the forward pass computes.
# Orange: the derivatives of the loss, filled in from right to left.

# %% figure=true
figures.graph(2.0, 3.0)

# %% [markdown]
# The walk starts at the loss, with derivative 1.
# Two arrows arrive at x, 48 and 16, and they are added.
# To see both, give the two places two tensors.

# %% name="paths-add-up"
first, second = torch.tensor(2.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
result = (first * 3.0 + second) ** 2
result.retain_grad()  # keep the derivative that arrives here
result.backward()
assert result.grad == 1  # the start of the walk
assert first.grad == 48 and second.grad == 16 and first.grad + second.grad == 64
print(first.grad, second.grad)

# %% [markdown] name="graph-text"
# The record is a **graph**: each `grad_fn` is a node and links to the nodes before it.
# Its links all point back and never form a circle; it ends at the leaves, in nodes called `AccumulateGrad`.
# You can walk it.

# %% name="walk-the-graph"
def walk(node, depth=0):
    """Print a node and, indented, all that it leads to; collect the names."""
    found.append(node.name().split("::")[-1])
    print("  " * depth + found[-1])
    for below, _ in node.next_functions:
        walk(below, depth + 1)


found = []
walk(loss.grad_fn)
assert found[:3] == ["PowBackward0", "AddBackward0", "MulBackward0"]
assert found[3:] == ["AccumulateGrad"] * 3  # x, y, and x once more

# %% [markdown]
# A printed result names its step.
#
# It is said that a node holds "the exact derivative".
# It holds what it needs to compute one later: here the operand and the exponent.

# %% name="what-a-node-saves"
s = torch.tensor([8.0], requires_grad=True)
square = s**2
print(square)
assert str(square) == "tensor([64.], grad_fn=<PowBackward0>)"
node = square.grad_fn
assert node._saved_self.item() == 8 and node._saved_exponent == 2  # no 16 anywhere
saved = [name for name in dir(node) if name.startswith("_saved")]
assert saved == ["_saved_exponent", "_saved_self"]

# %% [markdown]
# It is also said that every step makes a new tensor.
# Often; but a view shares memory and `+=` writes into it, and both are recorded.

# %% name="recorded-without-new-memory"
new = s + 1
address, before = new.data_ptr(), new.grad_fn
viewed = new.view(1, 1)
assert address != s.data_ptr() and viewed.data_ptr() == address
assert viewed.grad_fn.name() == "ViewBackward0"
print(before.name(), viewed.grad_fn.name())
new += 1  # no new tensor, but a new node
assert new.data_ptr() == address and new.grad_fn is not before

# %% [markdown]
# The graph is made while your code runs, anew each time.
# So `if`, loops and recursion shape it, and `print` works in the middle.
# The other way, which TensorFlow 1 took, is to build the graph first and run it later.

# %% name="control-flow"
def power(x, n):
    """x to the power of n, by recursion."""
    print("power", n, end="; ")
    return x if n == 1 else x * power(x, n - 1)


for start, expected in ((2.0, 32.0), (-2.0, -3.0)):
    t = torch.tensor(start, requires_grad=True)
    out = power(t, 4) if t > 0 else -3 * t  # this run's graph
    out.backward()
    assert t.grad == expected

# %% [markdown]
# ### Exercise: `grad_by_hand`
#
# Now (x + y) * z.
# Give the sum a name, as above, and go backward from the result.

# %% exercise="grad_by_hand"
def grad_by_hand(x, y, z):
    """Return the three derivatives of (x + y) * z, by the chain rule, as a tuple.

    x, y, z: floats. The result is (by x, by y, by z), three floats. Work from the
    numbers; no record is needed.

    grad_by_hand(2.0, 3.0, 4.0) gives (4.0, 4.0, 5.0).
    """
    ### BEGIN SOLUTION
    into_sum = z  # d(sum * z) / d(sum)
    return (into_sum * 1.0, into_sum * 1.0, x + y)
    ### END SOLUTION


# %% check="grad_by_hand" points=1
check("grad_by_hand", grad_by_hand)

# %% [markdown]
# Autograd should agree.

# %% name="xyz-product"
x, y, z = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
((x + y) * z).backward()
assert (x.grad, y.grad, z.grad) == (4.0, 4.0, 5.0)
print(x.grad, y.grad, z.grad)

# %% [markdown] name="stepper-text"
# The **autograd stepper** shows the graph of a tensor of yours.
# Press Next: first come the values, forward, then the derivatives, back.
# torch computes them; your `.grad` stays as it is, and the graph can still be used.
# Where a value is "not kept", no node holds on to it.
# (Versions are for section 6.)

# %% name="stepper"
from explorers import autograd_stepper

x, y, z = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
product = (x + y) * z
stepper = autograd_stepper(product, x=x, y=y, z=z, product=product)
assert x.grad is None  # looked at, not changed
product.backward()
assert stepper.grads() == {"x": x.grad, "y": y.grad, "z": z.grad} == {"x": 4, "y": 4, "z": 5}
stepper

# %% [markdown]
# Which tensors get a `.grad`?
# The tracked leaves that the loss depends on; a leaf that plays no part in it keeps None.
#
# And `backward` wants one number to start from.
#
# *Predict.* `v` holds three tracked numbers. Does `(v * 2).backward()` run?

# %% predict=true
guess = False  # True or False

# %% name="needs-scalar"
def runs(action):
    """Does calling this work, or does torch refuse?"""
    try:
        action()
    except RuntimeError as error:
        print("RuntimeError:", error)
        return False
    return True


v = torch.ones(3, requires_grad=True)
reveal(guess, runs(lambda: (v * 2).backward()))

# %% [markdown]
# Three numbers have no single direction "down".
# Reduce first, with `sum` or `mean`, or say with `gradient=` how much each of them counts (section 7).
# One element is enough, whatever the shape.

# %% name="scalar-or-weights"
(v * 2).backward(gradient=torch.tensor([1.0, 1.0, 10.0]))
assert v.grad.tolist() == [2.0, 2.0, 20.0]
used, unused = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
(used * 2).backward()  # shape (1,): one element will do
assert used.grad.item() == 2 and unused.grad is None
print(v.grad, used.grad, unused.grad)

# %% [markdown]
# ### Exercise: `mean_square_grad`
#
# Let autograd find the gradient of a mean of squares.
# `x` belongs to the caller: work on a tracked copy, `x.detach().clone().requires_grad_()`.

# %% exercise="mean_square_grad"
def mean_square_grad(x):
    """Return the gradient of the mean of x ** 2 with respect to x, found by autograd.

    x: floats of any shape; the result has the shape and dtype of x and is untracked.
    x itself stays as it was: its values, its requires_grad and its .grad.

    For x = torch.tensor([[1.0, 2.0]]) the result is [[1.0, 2.0]].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    (copy**2).mean().backward()
    return copy.grad
    ### END SOLUTION


# %% check="mean_square_grad" points=1
check("mean_square_grad", mean_square_grad)

# %% [markdown]
# By hand: each of the 12 squares has the derivative 2 * x, and the mean divides by 12.

# %% name="mean-of-squares"
x = torch.randn(4, 3, requires_grad=True)
(x**2).mean().backward()
assert x.grad.shape == (4, 3) and torch.allclose(x.grad, 2 * x.detach() / 12)
print(x.grad)

# %% [markdown]
# ### Why backward?
#
# A network of two layers with 121 numbers to learn, written out.
# `tanh` squeezes a number into -1 to 1; chapter 3 says why it is there.

# %% name="two-layers"
shapes = ((10, 10), (10,), (10, 1), (1,))
params = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
inputs, targets = torch.randn(8, 10, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)
passes = []


def network_loss():
    """The mean squared error of the network; notes each time it is asked."""
    passes.append(1)
    w1, b1, w2, b2 = params
    return ((torch.tanh(inputs @ w1 + b1) @ w2 + b2 - targets) ** 2).mean()


network_loss().backward()
assert len(passes) == 1 and sum(p.grad.numel() for p in params) == 121
print([tuple(p.grad.shape) for p in params])

# %% [markdown]
# One pass forward, one backward, and all 121 derivatives are there.
# Nobody derived anything for this network: each step brings its own backward rule, and the rules compose.
#
# *Predict.* Nudging each number up and down, as at the beginning, how many forward passes are needed?

# %% predict=true
guess = 242  # a number

# %% name="one-pass"
furthest = 0.0
passes.clear()
with torch.no_grad():  # no record wanted here
    for p in params:
        for value, derivative in zip(p.view(-1), p.grad.view(-1)):
            value += nudge
            above = network_loss()
            value -= 2 * nudge
            below = network_loss()
            value += nudge
            furthest = max(furthest, abs((above - below) / (2 * nudge) - derivative))
assert furthest < 1e-5
print(f"largest difference {furthest:.1e}")
reveal(guess, len(passes))

# %% [markdown]
# Nudging agrees, to a few digits fewer, and takes two passes per number.
# A model with a million numbers would take two million.
#
# The third way, a formula: derived by hand, it is the same walk.

# %% name="two-layers-by-hand"
w1, b1, w2, b2 = (p.detach() for p in params)
hidden = torch.tanh(inputs @ w1 + b1)  # (8, 10)
by_output = 2 * (hidden @ w2 + b2 - targets) / len(targets)  # (8, 1)
by_before_tanh = by_output @ w2.T * (1 - hidden**2)  # (8, 10)
by_hand = (inputs.T @ by_before_tanh, by_before_tanh.sum(0), hidden.T @ by_output, by_output.sum(0))
assert all(torch.allclose(mine, p.grad) for mine, p in zip(by_hand, params))
print([tuple(mine.shape) for mine in by_hand])

# %% [markdown]
# How long is the walk?
# Double a number 30 times by `y = y + y`: from the end back to x there are 2 ** 30 paths.
#
# *Predict.* How many steps does `backward` take?

# %% predict=true
guess = 30  # a number

# %% name="each-step-once"
def steps_of_backward(n):
    """Double n times; count the nodes that backward visits. Returns also the gradient."""
    visited = []
    x = y = torch.tensor(1.0, requires_grad=True)
    for _ in range(n):
        y = y + y
        y.grad_fn.register_hook(lambda *_: visited.append(1))  # called when the node has run
    y.backward()
    return len(visited), x.grad.item()


assert steps_of_backward(60)[0] == 60 and steps_of_backward(30)[1] == 2.0**30
reveal(guess, steps_of_backward(30)[0])

# %% [markdown]
# Each recorded step is visited once, after all that arrives there has been added up.
# Twice the steps, twice the work: the cost of `backward` grows with the record, not with the number of paths or parameters.

# %% [markdown] name="accumulates"
# ## 2 `.grad` adds up (7 minutes)
#
# The derivative of x ** 2 at x = 2 is 4.
#
# *Predict.* You run `(x**2).backward()` twice. What is `x.grad`?

# %% predict=true
guess = 8  # a number

# %% name="four-then-eight"
x = torch.tensor([2.0], requires_grad=True)
(x**2).backward()
assert x.grad.tolist() == [4.0]
(x**2).backward()
reveal(guess, x.grad.item())

# %% [markdown]
# `backward` adds to `.grad`; it does not replace it.
# A common mistake: a training loop that never clears it.
# Below, four passes over the same loss, whose gradient is 4 each time.

# %% figure=true
figures.accumulation(4)

# %% [markdown]
# Each step would then follow the sum of all gradients since the start.
# So clear before each pass: set `.grad` to None, or to zero in place.
# Before the first `backward` there is nothing to zero.

# %% name="zero-idiom"
fresh = torch.tensor([2.0], requires_grad=True)
with shows_error(AttributeError, match="zero_"):
    fresh.grad.zero_()  # it is None
for _ in range(3):
    if fresh.grad is not None:
        fresh.grad.zero_()  # `fresh.grad = None` does as well
    (fresh**2).backward()
assert fresh.grad.tolist() == [4.0]
print(fresh.grad)

# %% [markdown]
# `torch.autograd.grad(result, tensors)` returns gradients and writes to no `.grad`.

# %% name="grad-returns"
x = torch.tensor([2.0], requires_grad=True)
x.grad = torch.tensor([100.0])  # from an earlier life
(gradient,) = torch.autograd.grad((x**2).sum(), [x])
assert gradient.tolist() == [4.0] and x.grad.tolist() == [100.0]
print(gradient, x.grad)

# %% [markdown]
# ### Exercise: `grad_of`
#
# A clean tool: a gradient, and no trace left behind.

# %% exercise="grad_of"
def grad_of(f, x):
    """Return the gradient of f at x, in the shape of x and untracked.

    f takes a tensor of the shape of x and returns a tensor; if that holds more than
    one number, differentiate their sum. x may be tracked or not. x stays as it was:
    values, requires_grad, .grad. No .grad changes anywhere, also not that of another
    tracked tensor which f uses.

    For f = torch.sin and x = torch.zeros(2) the result is [1.0, 1.0].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).sum(), copy)[0]
    ### END SOLUTION


# %% check="grad_of" points=2
check("grad_of", grad_of)

# %% [markdown]
# Adding up is a feature.
# When a batch does not fit into memory, run it in parts and let `.grad` collect.
#
# *Predict.* Four parts of 8 rows; each loss is the mean over its part. What must each loss be divided by, to get the gradient of the mean over all 32?

# %% predict=true
guess = 4  # a number

# %% name="micro-batches"
rows = torch.randn(32, 3, dtype=torch.float64)
w = torch.ones(3, dtype=torch.float64, requires_grad=True)
whole = torch.autograd.grad(((rows @ w - 1) ** 2).mean(), w)[0]
for part in rows.split(8):
    ((part @ w - 1) ** 2).mean().backward()
assert not torch.allclose(w.grad, whole)
factor = (w.grad / whole).mean()  # the sum of four means
assert torch.allclose(w.grad / factor, whole)
reveal(guess, round(factor.item(), 6))

# %% [markdown]
# ### Exercise: `accumulate`
#
# If the parts are unequal, a mean of means is wrong: a part with more rows must count for more.

# %% exercise="accumulate"
def accumulate(loss_fn, batches, params):
    """Return the gradients of the mean loss over all rows of all batches, one per parameter.

    loss_fn(batch): the mean loss over the rows of that batch, computed with params.
    batches: a list of tensors (rows, features), not all with equally many rows.
    params: a list of tracked leaves, perhaps with an old .grad, which must not count.
    loss_fn is called once per batch. Afterwards the .grad of each parameter holds its
    gradient too.

    With batches of 1 and 3 rows the first one counts for a quarter.
    """
    ### BEGIN SOLUTION
    total = sum(len(batch) for batch in batches)
    for p in params:
        p.grad = None
    for batch in batches:
        loss = loss_fn(batch) * len(batch) / total
        loss.backward()  # adds to .grad
    return [p.grad for p in params]
    ### END SOLUTION


# %% check="accumulate" points=4
check("accumulate", accumulate)

# %% [markdown] name="life"
# ## 3 The life of a graph (8 minutes)
#
# *Predict.* `y = x ** 2`, then `y.backward()` twice, on the same y. Does the second call run?

# %% predict=true
guess = False  # True or False

# %% name="second-backward"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
y.backward()
reveal(guess, runs(y.backward))
assert x.grad.tolist() == [4.0]  # that of the first call

# %% [markdown]
# The message says why: the first call freed what the nodes had saved.
# Square had saved x; without it, no derivative.
#
# "A second backward always fails", then?
# A sum needs no operands for its rule.
#
# *Predict.* `y = x + x`, x = 2, and again `y.backward()` twice. What is `x.grad`?

# %% predict=true
guess = 4  # a number

# %% name="second-backward-of-a-sum"
x = torch.tensor([2.0], requires_grad=True)
y = x + x
y.backward()
y.backward()  # nothing was saved, nothing is missing
reveal(guess, x.grad.item())

# %% [markdown]
# To look closer, put a counter on all that the graph saves.
# torch lets you wrap each tensor when it is saved and unwrap it when it is used.
# A `WeakSet` counts the wrappers that are still alive, and keeps none alive itself.

# %% name="counter"
import weakref

alive = weakref.WeakSet()


class Kept:
    """A wrapper around one saved tensor."""

    def __init__(self, tensor):
        # The values only: with its record, it would hold the graph that holds it.
        self.tensor = tensor.detach()
        alive.add(self)


def counted():
    """Inside this block, what graphs save goes through the counter."""
    return torch.autograd.graph.saved_tensors_hooks(Kept, lambda kept: kept.tensor)


# %% name="freed-or-gone"
with counted():
    y = (x.exp().sin() + 1).tanh()
assert len(alive) == 3  # exp, sin and tanh each saved one tensor, + saved none
y.backward()
assert len(alive) == 0  # what was saved is freed ...
assert y.grad_fn.next_functions[0][0].name() == "AddBackward0"  # ... the nodes are still there
print("saved tensors after backward:", len(alive))

# %% [markdown]
# So "the graph is gone" is half true: its memory is given back, its nodes live as long as y.
#
# `retain_graph=True` keeps what was saved, for another call.
# The gradients add up, as ever.

# %% name="retain-graph"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
y.backward(retain_graph=True)
assert x.grad.tolist() == [4.0]
y.backward()
assert x.grad.tolist() == [8.0]
with shows_error(RuntimeError, match="backward through the graph a second time"):
    y.backward()  # that call retained nothing

# %% [markdown] name="fresh-pass"
# Think before you write `retain_graph=True` to silence the error.
# Most of the time the graph is an old one by mistake, and you want a fresh forward pass.
#
# It is right where two losses share a trunk and you want their gradients one after the other.
# If you want only the sum, add the losses and go back once: cheaper, same result.

# %% name="two-losses"
def two_losses(w):
    """Two losses from one shared step."""
    trunk = torch.exp(w)
    return trunk.sum(), (trunk**2).sum()


w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
one, two = two_losses(w)
one.backward(retain_graph=True)
two.backward()
sum(two_losses(v)).backward()
assert torch.allclose(w.grad, v.grad)
one, two = two_losses(w)
one.backward()
with shows_error(RuntimeError, match="second time"):
    two.backward()

# %% [markdown]
# What if you never call `backward`?
# You may read that 10000 forward passes without it fill the memory.
#
# *Predict.* After 1000 passes that each saved three tensors, and no `backward`, how many are alive?

# %% predict=true
guess = 3  # a number

# %% name="dropping-frees"
x = torch.ones(1000, requires_grad=True)
with counted():
    for _ in range(1000):
        loss = x.exp().sin().tanh().sum()  # the old loss goes, and its graph with it
reveal(guess, len(alive))

# %% [markdown]
# The last three.
# A graph lives as long as something leads to it; a new loss under the old name lets the old graph go.
# The leak is another: *keep* the losses.

# %% name="keeping-results"
with counted():
    history = [x.exp().sin().tanh().sum() for _ in range(100)]
    assert len(alive) == 3 + 300  # a list of losses is a list of graphs
    history = [loss.item() for loss in history]
    assert len(alive) == 3
    total = 0.0
    for _ in range(100):
        total = total + x.exp().sin().tanh().sum()  # so is a running sum of tensors
    assert len(alive) == 3 + 300
del total
print("alive:", len(alive), "and 100 floats:", history[0])

# %% [markdown]
# `item()` gives the Python number of a tensor with one element: for logs and comparisons.
# It copies the number out.
# It frees nothing: the graph goes when `loss` goes.
# And what is computed from the number has no record.

# %% name="item"
loss = (x**2).mean()
number = loss.item()
assert isinstance(number, float)
assert loss.grad_fn is not None  # the graph is still there
with shows_error(AttributeError, match="backward"):
    (number * 2).backward()  # too early: the float has no record
with shows_error(RuntimeError, match="cannot be converted"):
    x.item()  # 1000 elements
loss.backward()

# %% [markdown]
# ### Exercise: `running_loss`
#
# The mean loss of an epoch is a number to print.
# Compute it without keeping any graph.

# %% exercise="running_loss"
def running_loss(losses):
    """Call backward on each loss, once, and return the mean of their values as a float.

    losses: an iterable of scalar tensors, at least one, each with a graph of its own;
    it may be a generator, which makes each loss when it is asked for. No graph is
    kept: once the next loss has come, nothing here may hold on to the one before.

    For losses of 1.0 and 3.0 the result is 2.0.
    """
    ### BEGIN SOLUTION
    total, count = 0.0, 0
    for loss in losses:
        loss.backward()
        total += loss.item()
        count += 1
    return total / count
    ### END SOLUTION


# %% check="running_loss" points=2
check("running_loss", running_loss)

# %% [markdown] name="middle"
# ## 4 Gradients in the middle (3 minutes)
#
# `h = x * 3`, then `(h**2).backward()`, at x = 2.
#
# *Predict.* The walk passes h with derivative 2 * h = 12. What is `h.grad` afterwards?

# %% predict=true
guess = None  # a number or None

# %% name="middle-grad"
x = torch.tensor(2.0, requires_grad=True)
h = x * 3
(h**2).backward()
with warnings.catch_warnings(record=True) as caught:  # collects warnings in a list
    warnings.simplefilter("always")
    left_in_h = h.grad
assert x.grad == 36 and "not a leaf" in str(caught[0].message)
reveal(guess, left_in_h)

# %% [markdown]
# Only leaves keep their gradient; for a tensor in the middle it passes through and is dropped, and torch warns when you look.
# `retain_grad()`, called before `backward`, keeps it.
# A hook sees it pass.

# %% name="retain-grad"
h, passing = x * 3, []
h.retain_grad()
h.register_hook(passing.append)
(h**2).backward()
assert h.grad == 12 and passing == [12]
other = x * 3
assert torch.autograd.grad(other**2, other)[0] == 12  # or ask for it directly
print(h.grad, passing)

# %% [markdown]
# A common mistake makes a leaf into a middle without notice: `torch.randn(3, requires_grad=True) * 0.1`.
# The name you hold is the result, and its `.grad` stays None.

# %% name="scaled-leaf"
scaled = torch.randn(3, requires_grad=True) * 0.1
assert not scaled.is_leaf
right = (torch.randn(3) * 0.1).requires_grad_()  # first compute, then track
assert right.is_leaf
right.sum().backward()
print(right.grad)

# %% [markdown] name="detach"
# ## 5 `detach`, `no_grad`, `inference_mode` (10 minutes)
#
# Sometimes a gradient must not flow.
# `x.detach()` is x without a record.
#
# *Predict.* You may read that after `y = x.detach()` you can call `(y * 2).sum().backward()`, and x is left alone. Does that call run?

# %% predict=true
guess = False  # True or False

# %% name="detach-then-backward"
x = torch.ones(3, 4, requires_grad=True)
y = x.detach()
assert not y.requires_grad and y.grad_fn is None
reveal(guess, runs((y * 2).sum().backward))
assert x.grad is None

# %% [markdown]
# There is no record at all to go back through, so torch refuses.
# The message "element 0 of tensors does not require grad" always means: the result you called `backward` on hangs on nothing that is tracked.
#
# *Predict.* After `y = x.detach()` and `y[0, 0] = 9`, what is `x[0, 0]`?

# %% predict=true
guess = 9  # a number

# %% name="detach-shares-memory"
y[0, 0] = 9
assert y.data_ptr() == x.data_ptr()
separate = x.detach().clone()
separate[0, 0] = -1  # does not reach x
reveal(guess, x[0, 0].item())

# %% [markdown] name="detach-uses"
# Independent in the graph, one and the same in memory.
# If you mean a copy, write `detach().clone()`.
#
# `detach` belongs where a number is to count as given: a target that the model computes itself, a baseline to compare with, or a picture that one network, the generator, makes while another, the critic, learns to judge it.
# In the wrong place, it silently stops learning.

# %% name="detach-by-accident"
generator, critic = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
picture = generator * 3
(picture.detach() * critic).sum().backward()  # the critic's step, on purpose
assert generator.grad is None and critic.grad.tolist() == [3.0, 3.0]
(picture * critic).sum().backward()  # the generator's step; a detach here would be a bug
assert generator.grad.tolist() == [3.0, 3.0]
print(generator.grad)

# %% [markdown]
# ### Exercise: `stop_gradient_loss`
#
# The prediction is to move toward the target, and never the target toward the prediction.

# %% exercise="stop_gradient_loss"
def stop_gradient_loss(a, b):
    """Return the mean squared difference of a and b, a scalar whose gradient reaches a only.

    a, b: tensors of the same shape, perhaps both tracked. b counts as a constant: after
    backward, the gradient has reached a and nothing behind b. a and b stay as they
    were. `.data` is not allowed.

    For a = [1.0, 2.0] and b = [1.0, 4.0] the loss is 2.0 and the gradient of a [0.0, -2.0].
    """
    ### BEGIN SOLUTION
    return ((a - b.detach()) ** 2).mean()
    ### END SOLUTION


# %% check="stop_gradient_loss" points=2
check("stop_gradient_loss", stop_gradient_loss)

# %% [markdown]
# `detach` is for one tensor; `torch.no_grad()` is for a block of code.
# So there are two switches: the flag of each tensor, and the recording mode.
# (TensorFlow 2 does it the other way round: it records only inside a `GradientTape` block.)

# %% name="no-grad"
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    score = (w * 2).sum()
    assert w.requires_grad  # the flag stays on; recording is off
assert score.grad_fn is None and not score.requires_grad
assert (w * 2).requires_grad  # outside again
with shows_error(RuntimeError, match="does not require grad"):
    score.backward()  # nobody can train on the test set by accident

# %% [markdown] name="no-grad-saving"
# What does it save?
# First memory: count the bytes that a pass of our small network would keep for `backward`.
#
# *Predict.* How many bytes does the same pass keep inside `no_grad`?

# %% predict=true
guess = 0  # a number

# %% name="no-grad-bytes"
def kept_bytes(action):
    """Run it; return how many bytes its graph holds on to (what it saved, each memory once)."""
    held = {}
    pack = lambda t: held.setdefault(t.data_ptr(), t.detach())
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        _result = action()
    return sum(t.nbytes for t in held.values())


with_record = kept_bytes(network_loss)
assert with_record >= 8 * 10 * 8  # at least the hidden values: (8, 10) of 8 bytes
print("with a record:", with_record, "bytes")
with torch.no_grad():
    reveal(guess, kept_bytes(network_loss))

# %% [markdown]
# Nothing is kept.
# Which operations keep how much?
# It depends on what each backward rule needs: a sum nothing, a product both its operands.

# %% figure=true
figures.saved_bytes(256)

# %% [markdown]
# Saving copies nothing; it keeps alive.
# A parameter is alive anyway; what fills the memory are the results in the middle, one for each step.
#
# And time?
# "Twice as fast" is a popular figure for `no_grad`.
# Measure it on your machine, for small tensors and for large ones.

# %% name="no-grad-time"
from torch.utils.benchmark import Timer


def cost_of_recording(n):
    """How many times as long a few steps on an (n, n) tensor take when they are recorded."""
    x = torch.randn(n, n, requires_grad=True)
    timer = Timer("torch.tanh(x @ x).sum()", globals={"torch": torch, "x": x})
    recorded = min(timer.timeit(25).mean for _ in range(5))  # the round that was least disturbed
    with torch.no_grad():
        return recorded / min(timer.timeit(25).mean for _ in range(5))


print(f"small: {cost_of_recording(4):.2f}, large: {cost_of_recording(256):.2f} times as long")
with torch.no_grad():
    silent = network_loss()
assert torch.equal(silent, network_loss().detach())  # the same result, to the last digit

# %% [markdown]
# Recording a step costs about the same whatever its size, so it shows only where the steps are small.
# The sure gain is memory.
# The results are equal: whether an evaluation is *correct* does not depend on `no_grad` (chapter 3: train and eval).
#
# An evaluation loop without `no_grad` does not pile up graphs as long as it keeps no tensors.
# With `no_grad`, it may keep them.

# %% name="evaluation-loop"
with counted():
    outputs = [torch.tanh(w * k).sum() for k in range(20)]  # 20 batches, results kept
    piled = len(alive)
    with torch.no_grad():
        outputs = [torch.tanh(w * k).sum() for k in range(20)]
        for k in range(1000):
            last = torch.tanh(w * k).sum()
    assert piled >= 20 and len(alive) <= piled - 20
print(f"alive with records kept: {piled}, in no_grad: {len(alive)}")

# %% [markdown]
# `inference_mode` goes further: no graph can ever save what is made inside.
# Use it where results only go out.

# %% name="inference-mode"
with torch.inference_mode():
    final = w * 2
assert final.is_inference() and not final.requires_grad
with shows_error(RuntimeError, match="Inference tensors cannot be saved"):
    w * final
assert (w * final.clone()).requires_grad  # a copy may be saved
assert (w + final).requires_grad  # and a sum saves nothing

# %% [markdown] name="update"
# ### Updating by hand
#
# A step of gradient descent changes a leaf: `w -= rate * w.grad`.
# Three ways to write it, and one is right.

# %% name="update-run"
w = torch.tensor(1.0, requires_grad=True)
(w**2).backward()
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    w -= 0.1 * w.grad  # 1: should the step itself be recorded?
rebound = w - 0.1 * w.grad  # 2: runs, but the result is no leaf
assert not rebound.is_leaf and rebound.requires_grad
with torch.no_grad():
    w -= 0.1 * w.grad  # 3: the same leaf, a new value
assert w.is_leaf and w.item() == rebound.item() and w.grad == 2.0  # still the old gradient

# %% [markdown]
# With the second way, `w.grad` is None from then on, and every step's graph hangs on to the one before.
#
# ### Exercise: `descend`
#
# Gradient descent, written by hand.
# Remember section 2.

# %% exercise="descend"
def descend(f, x0, lr, steps):
    """Return where gradient descent on f arrives from x0: `steps` times x = x - lr * gradient.

    f takes a tensor and returns a scalar. The result is untracked, has the shape and
    dtype of x0 and memory of its own, also for steps=0. x0 stays as it was: values,
    requires_grad, .grad. At each step f is called on a leaf, so that no graph reaches
    back into an earlier step.

    For f(x) = (x ** 2).sum(), x0 = [1.0], lr=0.25 and steps=2 the result is [0.25].
    """
    ### BEGIN SOLUTION
    x = x0.detach().clone().requires_grad_()
    for _ in range(steps):
        x.grad = None
        f(x).backward()
        with torch.no_grad():
            x -= lr * x.grad
    return x.detach()
    ### END SOLUTION


# %% check="descend" points=3
check("descend", descend)

# %% [markdown] name="inplace"
# ## 6 In-place changes and versions (8 minutes)
#
# A graph holds on to tensors that its backward rules need.
# What if you change one of them in place?
# You may read that this raises an error: `y = x**2`, then `y += 1`, then `y.backward()`.
#
# *Predict.* Does it run?

# %% predict=true
guess = True  # True or False

# %% name="square-then-add"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
y += 1
reveal(guess, runs(y.backward))
assert x.grad.tolist() == [4.0]

# %% [markdown]
# It runs, and the gradient is right.
# The rule of the square is 2 * x: the node saved x, not y, and nobody touched x.
#
# `exp` is its own derivative, so its node saves its *result*.

# %% name="break-exp"
x = torch.tensor([2.0], requires_grad=True)
y = x.exp()
y += 1
with shows_error(RuntimeError, match="modified by an inplace operation"):
    y.backward()
assert x.grad is None

# %% [markdown]
# Read the message to its end: it names the step, Exp, and two versions.
# Each tensor counts the in-place changes to its memory, in `_version`.
# The node noted the number when it saved the tensor; `backward` compares.

# %% name="version"
y = x.exp()
assert y._version == 0 and y.grad_fn._saved_result is not None
y += 1
y.mul_(2)
assert y._version == 2
with shows_error(RuntimeError, match="is at version 2; expected version 0"):
    y.backward()

# %% figure=true
figures.versions()

# %% [markdown] name="what-was-saved-text"
# So the rule is not "never change in place".
# It is: *do not change what a node saved.*
#
# *Predict.* Of these six, for how many does `y = f(x); y += 1; y.sum().backward()` run?
# exp, sigmoid, relu: the rule uses the result. Square, sin, times 3: it uses the operand or a constant.

# %% predict=true
guess = 3  # a number

# %% name="what-was-saved"
def survives(f):
    """Does the gradient still come through when the result is changed in place?"""
    y = f(torch.rand(3, requires_grad=True))
    y += 1
    try:
        y.sum().backward()
    except RuntimeError:
        return False
    return True


result_saved = (torch.exp, torch.sigmoid, torch.relu, torch.tanh, torch.sqrt)
others = (torch.square, torch.sin, lambda x: x * 3, lambda x: x + 5)
assert not any(survives(f) for f in result_saved) and all(survives(f) for f in others)
reveal(guess, sum(survives(f) for f in result_saved[:3] + others[:3]))

# %% [markdown]
# You need not learn the list by heart.
# `y = y + 1` makes a new tensor and is safe after every operation.
# Take in-place operations where you measured that they help.

# %% name="out-of-place"
x = torch.tensor([2.0], requires_grad=True)
y = x.exp()
y = y + 1  # a new tensor; the node still has its own
y.backward()
assert torch.allclose(x.grad, x.detach().exp())
print(x.grad)

# %% [markdown]
# A tracked leaf is a stricter case: it may not be changed in place at all while recording.
# The error comes at once, at the change itself, and with another message; "the same error, at backward", as you may read, is wrong twice.

# %% name="leaf-in-place"
x = torch.tensor([2.0], requires_grad=True)
z = x * 3
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    x.mul_(2)
z.backward()  # the graph is unharmed
assert x.item() == 2 and x.grad.item() == 3

# %% [markdown]
# A leaf may be changed under `no_grad`, or through `detach()`; the counter still watches.
#
# An old way gets past the counter: `.data`.
#
# *Predict.* `y = x**2` at x = 2, then `x.data.add_(1)`, then `y.backward()`. The right gradient is 4. What do you get?

# %% predict=true
guess = 6  # a number

# %% name="silent-data"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
x.detach().add_(1)  # the same memory, and the same counter
with shows_error(RuntimeError, match="modified by an inplace operation"):
    y.backward()

x = torch.tensor([2.0], requires_grad=True)
y = x**2
x.data.add_(1)  # not counted
y.backward()
reveal(guess, x.grad.item())

# %% [markdown]
# No error, and a wrong gradient: the worst of all.
# Old code is full of `.data`; write `detach()` or `no_grad` instead, which are watched.
#
# ### Exercise: `predict_grad_state`
#
# | what happens | what follows |
# |---|---|
# | a recorded step's result | no leaf; keeps no `.grad` unless asked |
# | a second `backward` on one graph | fails if something was saved; else adds |
# | a change of a result in place | fails at `backward` if that result was saved |
# | a change of a tracked leaf in place | fails at once, except under `no_grad` |
# | an error | what was added to `.grad` before it stays |

# %% exercise="predict_grad_state"
def predict_grad_state(program):
    """Tell what a small program leaves behind.

    The result is a dict {"leaf": bool, "grad": float or None, "raises": bool}.

    program is (name, n); each begins with x = torch.tensor(n, requires_grad=True), n a
    float. "raises": does it stop with an error? "leaf" and "grad": is the tensor asked
    about a leaf, and what is its .grad, at the end or where the program stopped?
        "once"        y = x ** 2; y.backward()                        about x
        "twice"       y = x ** 2; y.backward(); y.backward()          about x
        "fresh"       (x ** 2).backward(); (x ** 2).backward()        about x
        "twice_sum"   y = x + x; y.backward(); y.backward()           about x
        "middle"      h = x * 3; (h ** 2).backward()                  about h
        "kept"        h = x * 3; h.retain_grad(); (h ** 2).backward() about h
        "detached"    y = x.detach() ** 2; y.backward()               about x
        "rebound"     x = x - 1; (x ** 2).backward()                  about the new x
        "under"       with torch.no_grad(): x -= 1
                      (x ** 2).backward()                             about x
        "on_leaf"     x.mul_(2); (x ** 2).backward()                  about x
        "after_exp"   y = x.exp(); y += 1; y.backward()               about x
        "after_twice" y = x * 2; y += 1; y.backward()                 about x
    Work by the rules, without torch.

    predict_grad_state(("once", 3.0)) gives {"leaf": True, "grad": 6.0, "raises": False}.
    """
    ### BEGIN SOLUTION
    name, n = program
    leaf, grad, raises = {
        "once": (True, 2 * n, False),
        "twice": (True, 2 * n, True),  # the first backward did its work
        "fresh": (True, 4 * n, False),
        "twice_sum": (True, 4.0, False),  # a sum saves nothing that could be freed
        "middle": (False, None, False),
        "kept": (False, 6 * n, False),
        "detached": (True, None, True),
        "rebound": (False, None, False),
        "under": (True, 2 * (n - 1), False),
        "on_leaf": (True, None, True),
        "after_exp": (True, None, True),
        "after_twice": (True, 2.0, False),
    }[name]
    return {"leaf": leaf, "grad": grad, "raises": raises}
    ### END SOLUTION


# %% check="predict_grad_state" points=4
check("predict_grad_state", predict_grad_state)

# %% [markdown] name="bug-hunt"
# ## Bug hunt (5 minutes)
#
# Three small programs about gradients.
# The first two stop with errors that you know; the third runs, and one of its results is wrong.
# Change as little as you can.
#
# ### Exercise: `fix_inplace`
#
# Run the cell, call `fix_inplace(torch.tensor([0.0, 1.0]))`, read the message, mend, and run again.
# When there are no more errors, compare with the docstring, by hand.

# %% exercise="fix_inplace"
### BEGIN STARTER
# def fix_inplace(x):
#     """Run three small programs on x, an untracked float tensor, and return their results in a dict.
#
#     "exp_grad": the gradient of sum(exp(x) + 1) at x.
#     "stepped": x after one step of gradient descent on sum(x ** 2) with rate 0.1.
#     "square_grad": the gradient of sum((3 * x) ** 2) at x, and "report": 3 * x, cut off
#     above 1. All four have the shape of x and are untracked; x stays as it was.
#
#     For x = torch.tensor([0.0, 1.0]) the results are about [1.0, 2.72], [0.0, 0.8],
#     [0.0, 18.0] and [0.0, 1.0].
#     """
#     a = x.clone().requires_grad_()
#     y = a.exp()
#     y += 1
#     y.sum().backward()
#
#     b = x.clone().requires_grad_()
#     (b**2).sum().backward()
#     b -= 0.1 * b.grad
#
#     c = x.clone().requires_grad_()
#     scores = 3 * c
#     loss = (scores**2).sum()
#     scores.data.clamp_(max=1)
#     loss.backward()
#     report = scores.detach()
#     return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}
### END STARTER
def fix_inplace(x):
    """Run three small programs on x, an untracked float tensor, and return their results in a dict.

    "exp_grad": the gradient of sum(exp(x) + 1) at x.
    "stepped": x after one step of gradient descent on sum(x ** 2) with rate 0.1.
    "square_grad": the gradient of sum((3 * x) ** 2) at x, and "report": 3 * x, cut off
    above 1. All four have the shape of x and are untracked; x stays as it was.

    For x = torch.tensor([0.0, 1.0]) the results are about [1.0, 2.72], [0.0, 0.8],
    [0.0, 18.0] and [0.0, 1.0].
    """
    ### BEGIN SOLUTION
    a = x.clone().requires_grad_()
    y = a.exp()
    y = y + 1  # a new tensor: exp saved the old one
    y.sum().backward()

    b = x.clone().requires_grad_()
    (b**2).sum().backward()
    with torch.no_grad():
        b -= 0.1 * b.grad

    c = x.clone().requires_grad_()
    scores = 3 * c
    loss = (scores**2).sum()
    report = scores.detach().clamp(max=1)  # a new tensor: the square saved scores
    loss.backward()
    return {"exp_grad": a.grad, "stepped": b.detach(), "square_grad": c.grad, "report": report}
    ### END SOLUTION


# %% check="fix_inplace" points=3
check("fix_inplace", fix_inplace)

# %% [markdown] name="vjp-text"
# ## 7 The vector-Jacobian product (5 minutes)
#
# A function with 3 inputs and 2 outputs has 2 * 3 derivatives, a table called the **Jacobian**: row j holds the derivatives of output j.
# `backward` never builds it.
# It takes one number for each output, v, and returns v times the table: one number for each input.
#
# *Predict.* The function below has the Jacobian [[3, 0, 0], [0, x[2], x[1]]]; at x = (1, 2, 5), that is [[3, 0, 0], [0, 5, 2]].
# What is v times it, for v = (1, 10)?

# %% predict=true
guess = [3, 50, 20]  # a list of three numbers

# %% name="vjp-run"
def two_outputs(x):
    return torch.stack([3 * x[0], x[1] * x[2]])


x = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)
(product,) = torch.autograd.grad(two_outputs(x), x, grad_outputs=torch.tensor([1.0, 10.0]))
table = torch.autograd.functional.jacobian(two_outputs, x)  # row by row, for comparison
assert torch.equal(torch.tensor([1.0, 10.0]) @ table, product)
reveal(guess, product)

# %% [markdown]
# Each node of the graph knows such a product for its own step: from the derivatives that arrive at its result, those for its operands.
# A product passes on what arrives times the other factor; a sum passes it on; a square multiplies by 2 * operand.

# %% name="node-rules"
a, b = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
arrives = torch.tensor(7.0)
assert torch.autograd.grad(a * b, (a, b), arrives) == (35, 21)
assert torch.autograd.grad(a + b, (a, b), arrives) == (7, 7)
assert torch.autograd.grad(a**2, (a,), arrives) == (42,)
print([value.item() for value in (a * b).grad_fn(arrives)])  # a node is a function: call it

# %% [markdown]
# This is why the loss must be one number: its v is 1, and everything else follows.
# It is also why one walk serves all parameters, while each further output needs a walk of its own.
#
# ### Exercise: `vjp`

# %% exercise="vjp"
def vjp(f, x, v):
    """Return v times the Jacobian of f at x, in the shape of x and untracked.

    f takes x and returns a tensor y of any shape; v has the shape of y. Entry i of the
    result is the sum over all j of v_j * dy_j / dx_i. x may be tracked or not; it stays
    as it was, .grad included, and so does v.

    For f(x) = x ** 2, x = [1.0, 2.0] and v = [1.0, 10.0] the result is [2.0, 40.0].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy, grad_outputs=v)[0]
    ### END SOLUTION


# %% check="vjp" points=3
check("vjp", vjp)

# %% [markdown] name="traps"
# ## 8 Dead gradients, kinks and nan (6 minutes)
#
# Autograd differentiates the steps you wrote, at the numbers you gave.
# Some steps have no useful derivative.
#
# *Predict.* What is the gradient of `torch.round(x).sum()`, an error, or numbers? If numbers, which?

# %% predict=true
guess = [0, 0, 0]  # a list of three numbers, or "error"

# %% name="round"
x = torch.tensor([0.3, 1.7, 2.5], requires_grad=True)
rounded = torch.round(x)
assert rounded.grad_fn.name() == "RoundBackward0"
rounded.sum().backward()
reveal(guess, x.grad)

# %% [markdown]
# Rounding is recorded and `backward` runs; a staircase is flat nearly everywhere, so every gradient is 0.
# Nothing learns, and nothing complains.
#
# `argmax` gives whole numbers; these cannot be tracked, and `backward` fails, loudly.

# %% name="argmax"
x = torch.tensor([0.3, 1.7, 2.5], requires_grad=True)
place = x.argmax()
assert place.dtype == torch.int64 and not place.requires_grad
with shows_error(RuntimeError, match="does not require grad"):
    place.backward()
assert torch.autograd.grad(x.amax(), x)[0].tolist() == [0.0, 0.0, 1.0]  # the value can

# %% [markdown]
# `relu`, the most used bend in neural networks, is 0 below 0 and x above.
# At 0 its slope jumps from 0 to 1, and no number from 0 to 1 is wrong there; each is a **subgradient**.
# torch picks one, and which depends on how you spell the function.
#
# *Predict.* `x.clamp(min=0)` at exactly x = 0: which gradient does torch give?

# %% predict=true
guess = 1  # a number from 0 to 1

# %% name="relu-at-zero"
spellings = {
    "relu(x)": torch.relu,
    "where(x > 0, x, 0)": lambda x: torch.where(x > 0, x, 0.0),
    "maximum(x, 0)": lambda x: torch.maximum(x, torch.zeros_like(x)),
    "(x + |x|) / 2": lambda x: (x + x.abs()) / 2,
    "clamp(x, min=0)": lambda x: x.clamp(min=0),
}
x = torch.tensor([-1.0, 0.0, 1.0], requires_grad=True)
gradients = {text: torch.autograd.grad(f(x).sum(), x)[0].tolist() for text, f in spellings.items()}
assert all((slopes[0], slopes[2]) == (0, 1) for slopes in gradients.values())
assert [slopes[1] for slopes in gradients.values()] == [0, 0, 0.5, 0.5, 1]
reveal(guess, gradients["clamp(x, min=0)"][1])

# %% figure=true
figures.relus()

# %% [markdown]
# Below and above 0 all five agree.
# Do not build on the choice at 0; it seldom matters, because an input of exactly 0 is rare, unless you start from zeros.
#
# Worse is a slope that is infinite.
# 0 times infinity is nan, and one nan spoils all weights in one step.
#
# *Predict.* `torch.where(x > 0, torch.log(x), 0)` at x = 0 gives 0. What is its gradient there?

# %% predict=true
guess = "nan"  # a number or "nan"

# %% name="where-outside"
x = torch.tensor([0.0, 1.0], requires_grad=True)
y = torch.where(x > 0, torch.log(x), 0.0)
assert y.tolist() == [0.0, 0.0]  # the values are fine
y.sum().backward()
assert x.grad[1] == 1
reveal(guess, "nan" if x.grad[0].isnan() else x.grad[0].item())

# %% [markdown]
# `where` sends the derivative 0 to the branch it did not take.
# But that branch was computed: `log` multiplies what arrives by 1 / x, and 0 * inf is nan.
# So cleaning the result is too late; no bad number may get *into* the dangerous function.
# The same trap waits in the square root.

# %% name="sqrt-at-zero"
x = torch.tensor([0.0], requires_grad=True)
assert torch.autograd.grad(torch.sqrt(x), x)[0].item() == math.inf
assert torch.autograd.grad(torch.sqrt(x) * 0, x)[0].isnan()
assert torch.autograd.grad(torch.sqrt(x + 1e-8), x)[0].isfinite()  # a small eps inside
anomaly = torch.autograd.set_detect_anomaly(True, check_nan=True)
with anomaly, shows_error(RuntimeError, match="nan"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a long print of where in the forward pass
        (torch.sqrt(x) * 0).backward()  # anomaly mode names the step that made the nan

# %% [markdown]
# ### Exercise: `safe_log_where` (stretch, extra credit)
#
# A logarithm that may meet 0 and negative numbers, with gradients that stay finite.

# %% exercise="safe_log_where"
def safe_log_where(x):
    """Return log(x) where x > 0 and 0 elsewhere, with a gradient that is finite everywhere.

    x: floats of any shape, also 0 and negative ones. The gradient is 1 / x where x > 0
    and 0 elsewhere. x itself stays as it was.

    For x = torch.tensor([1.0, 0.0, -2.0]) the result is [0.0, 0.0, 0.0] and the gradient
    of its sum [1.0, 0.0, 0.0].
    """
    ### BEGIN SOLUTION
    positive = x > 0
    safe = torch.where(positive, x, 1.0)  # no log meets a bad number
    return torch.where(positive, torch.log(safe), 0.0)
    ### END SOLUTION


# %% check="safe_log_where" extra=2
check("safe_log_where", safe_log_where)

# %% [markdown] name="function-text"
# ## 9 A `Function` of your own (4 minutes)
#
# You can give autograd a new step: a class with two static methods.
# `forward` computes, and saves what the rule needs in `ctx`, the node's own bag.
# `backward` gets what arrives at the result and returns one gradient for each input of `forward`, None for those that need none.

# %% name="own-function"
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)  # counted and freed as for torch's own nodes
        return x**3

    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return grad_out * 3 * x**2  # what arrives, times the slope


x = torch.tensor([2.0, -1.0], requires_grad=True)
(Cube.apply(x) * 10).sum().backward()
assert x.grad.tolist() == [120.0, 30.0]  # 10 * 3 * x ** 2

# %% [markdown]
# `torch.autograd.gradcheck` compares the rule with nudging, in float64, since nudges need the digits.
#
# *Predict.* A rule forgets to multiply by `grad_out`. With `Forgetful.apply(x).sum()`, is its gradient right?

# %% predict=true
guess = True  # True or False

# %% name="gradcheck"
class Forgetful(Cube):
    @staticmethod
    def backward(ctx, grad_out):
        (x,) = ctx.saved_tensors
        return 3 * x**2


x = torch.tensor([2.0, -1.0], dtype=torch.float64, requires_grad=True)
assert torch.autograd.gradcheck(Cube.apply, x)
assert not torch.autograd.gradcheck(lambda x: Forgetful.apply(x) * 10, x, raise_exception=False)
(slopes,) = torch.autograd.grad(Forgetful.apply(x).sum(), x)
reveal(guess, torch.equal(slopes, 3 * x.detach() ** 2))

# %% [markdown]
# Right by luck: for a sum, what arrives is 1.
# Test a rule with something else behind it.
#
# ### Exercise: `LeakyClamp` (stretch, extra credit)
#
# Four inputs, so `backward` returns four things.
# `ctx.needs_input_grad` is a tuple of booleans, one for each input; plain numbers may be kept as attributes of `ctx`.

# %% exercise="LeakyClamp"
### BEGIN STARTER
# class LeakyClamp(torch.autograd.Function):
#     """Limit x to low..high, and let `slope` times what sticks out through.
#
#     LeakyClamp.apply(x, low, high, slope) is x inside, low + slope * (x - low) below
#     and high + slope * (x - high) above. x: floats of any shape; low, high: floats;
#     slope: a scalar tensor, which may be tracked, as x may. backward gives the
#     gradients of x and of slope, and None for an input that needs none. It passes
#     torch.autograd.gradcheck, also when it is used several times before backward.
#
#     LeakyClamp.apply(torch.tensor([0.5, 3.0]), 0.0, 1.0, torch.tensor(0.1)) gives [0.5, 1.2].
#     """
#
#     @staticmethod
#     def forward(ctx, x, low, high, slope):
#         raise NotImplementedError()
#
#     @staticmethod
#     def backward(ctx, grad_out):
#         raise NotImplementedError()
### END STARTER
class LeakyClamp(torch.autograd.Function):
    """Limit x to low..high, and let `slope` times what sticks out through.

    LeakyClamp.apply(x, low, high, slope) is x inside, low + slope * (x - low) below
    and high + slope * (x - high) above. x: floats of any shape; low, high: floats;
    slope: a scalar tensor, which may be tracked, as x may. backward gives the
    gradients of x and of slope, and None for an input that needs none. It passes
    torch.autograd.gradcheck, also when it is used several times before backward.

    LeakyClamp.apply(torch.tensor([0.5, 3.0]), 0.0, 1.0, torch.tensor(0.1)) gives [0.5, 1.2].
    """

    ### BEGIN SOLUTION
    @staticmethod
    def forward(ctx, x, low, high, slope):
        ctx.save_for_backward(x, slope)
        ctx.low, ctx.high = low, high
        inside = x.clamp(low, high)
        return inside + slope * (x - inside)

    @staticmethod
    def backward(ctx, grad_out):
        x, slope = ctx.saved_tensors
        excess = x - x.clamp(ctx.low, ctx.high)
        grad_x = grad_slope = None
        if ctx.needs_input_grad[0]:
            grad_x = torch.where(excess == 0, grad_out, slope * grad_out)
        if ctx.needs_input_grad[3]:
            grad_slope = (grad_out * excess).sum()
        return grad_x, None, None, grad_slope
    ### END SOLUTION


# %% check="LeakyClamp" extra=3
check("LeakyClamp", LeakyClamp)

# %% [markdown] name="second-order"
# ## 10 Second derivatives (3 minutes)
#
# With `create_graph=True`, the walk back is recorded too; so you can walk back through it.
#
# *Predict.* x ** 3 has the derivative 3 * x ** 2, which is 27 at x = 3. What is the second derivative there?

# %% predict=true
guess = 18  # a number

# %% name="second-derivative"
x = torch.tensor(3.0, requires_grad=True)
(first,) = torch.autograd.grad(x**3, x, create_graph=True)
assert first == 27 and first.requires_grad
(second,) = torch.autograd.grad(first, x)
(plain_first,) = torch.autograd.grad(x**3, x)
with shows_error(RuntimeError, match="does not require grad"):
    torch.autograd.grad(plain_first, x)  # without create_graph there is no record
reveal(guess, second.item())

# %% [markdown]
# With n inputs there are n * n second derivatives, the **Hessian**.
# For large n nobody builds it; its product with a vector v is one more walk.
# It says how the gradient changes when x moves along v.

# %% name="hessian-along-v"
def bowl_of(x):
    return (x[0] ** 2) * x[1] + x[1] ** 3


x, v = torch.tensor([1.0, 2.0], dtype=torch.float64), torch.tensor([0.5, -1.0], dtype=torch.float64)
table = torch.autograd.functional.hessian(bowl_of, x)  # the whole table, for two inputs
assert table.tolist() == [[4.0, 2.0], [2.0, 12.0]]
gradient = lambda p: torch.autograd.functional.jacobian(bowl_of, p)
moved = (gradient(x + nudge * v) - gradient(x - nudge * v)) / (2 * nudge)
assert torch.allclose(moved, table @ v)
print(table @ v, moved)

# %% [markdown]
# ### Exercise: `hessian_vector_product` (stretch, extra credit)
#
# Two walks: the first with `create_graph=True`, the second with v.

# %% exercise="hessian_vector_product"
def hessian_vector_product(f, x, v):
    """Return the Hessian of f at x times v, in the shape of x and untracked.

    f takes x and returns a scalar; v has the shape of x. The full Hessian is never
    built: two backward passes are enough, however many entries x has. x and v stay as
    they were, .grad included.

    For f(x) = (x ** 3).sum(), x = [1.0, 2.0] and v = [1.0, 10.0] the result is [6.0, 120.0].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad(grad, copy, grad_outputs=v.detach())[0]
    ### END SOLUTION


# %% check="hessian_vector_product" extra=3
check("hessian_vector_product", hessian_vector_product)

# %% [markdown] name="engine"
# ## 11 Your own engine (3 minutes)
#
# You have all the parts: values, a record of each step, local rules, one walk backward that adds up.
# An engine for single numbers fits on a page.
# The one difficulty is the order: a node must wait until all that flows into it has arrived.
#
# *Predict.* `h = a * b`, `out = h + h * h`. From `out`, how many arrows lead to h?

# %% predict=true
guess = 3  # a number

# %% name="order-matters"
a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
h = a * b
out = h + h * h
arrows = [out.grad_fn.next_functions, out.grad_fn.next_functions[1][0].next_functions]
into_h = sum(node is h.grad_fn for step in arrows for node, _ in step)
out.backward()
assert a.grad == 3 * (1 + 2 * 6)  # all three, each once
reveal(guess, into_h)

# %% [markdown]
# An engine that visits h once for each arrow, and passes on all that has gathered so far, counts some of it twice.
# Visit first everything that comes after h: list each node after the nodes it was made from, then go through the list from its end.
#
# ### Exercise: `Value` (stretch, extra credit)
#
# The starter says what a Value keeps; you write the rules and the walk.
# The derivative of t = tanh(x) is 1 - t * t.
# Take care: h may be part of two results, and what the first walk left in its grad is none of the second's business.

# %% exercise="Value"
### BEGIN STARTER
# class Value:
#     """A number that records how it was made, and a backward that walks the record.
#
#     Value(2.0) has data 2.0 and grad 0.0. a + b, a * b and a.tanh() give new Values (a
#     and b are Values, perhaps the same one). result.backward() adds to the grad of every
#     Value that the result was made from the derivative of the result by that Value;
#     result.grad becomes 1.0. A Value may be used several times, on several paths, and in
#     several results one after another; backward is called once for each result.
#
#     After a = Value(3.0) and (a * a).backward(), a.grad is 6.0.
#     """
#
#     def __init__(self, data, parents=()):
#         self.data = data
#         self.grad = 0.0
#         self.parents = parents  # pairs (value, derivative of this value by it)
#
#     def __add__(self, other):
#         raise NotImplementedError()
#
#     def __mul__(self, other):
#         raise NotImplementedError()
#
#     def tanh(self):
#         raise NotImplementedError()
#
#     def backward(self):
#         raise NotImplementedError()
### END STARTER
class Value:
    """A number that records how it was made, and a backward that walks the record.

    Value(2.0) has data 2.0 and grad 0.0. a + b, a * b and a.tanh() give new Values (a
    and b are Values, perhaps the same one). result.backward() adds to the grad of every
    Value that the result was made from the derivative of the result by that Value;
    result.grad becomes 1.0. A Value may be used several times, on several paths, and in
    several results one after another; backward is called once for each result.

    After a = Value(3.0) and (a * a).backward(), a.grad is 6.0.
    """

    ### BEGIN SOLUTION
    def __init__(self, data, parents=()):
        self.data = data
        self.grad = 0.0
        self.parents = parents  # pairs (value, derivative of this value by it)

    def __add__(self, other):
        return Value(self.data + other.data, ((self, 1.0), (other, 1.0)))

    def __mul__(self, other):
        return Value(self.data * other.data, ((self, other.data), (other, self.data)))

    def tanh(self):
        t = math.tanh(self.data)
        return Value(t, ((self, 1.0 - t * t),))

    def backward(self):
        order, seen = [], set()

        def visit(value):
            if value not in seen:
                seen.add(value)
                for parent, _ in value.parents:
                    visit(parent)
                order.append(value)  # after everything it was made from

        visit(self)
        arrived = dict.fromkeys(order, 0.0)  # in this walk, apart from what older walks left
        arrived[self] = 1.0
        for value in reversed(order):
            value.grad += arrived[value]
            for parent, slope in value.parents:
                arrived[parent] += slope * arrived[value]
    ### END SOLUTION


# %% check="Value" extra=3
check("Value", Value)

# %% [markdown] name="checklist"
# ## Recap
#
# When a gradient is missing or wrong, ask in this order.
#
# | you see | look at |
# |---|---|
# | `.grad` is None | `is_leaf`? `requires_grad`? does the loss depend on it? a `detach` on the way? |
# | `.grad` is too large | cleared before this pass? |
# | "does not require grad" | nothing tracked behind the result: `no_grad`, `detach`, `item`, whole numbers |
# | "a second time" | an old graph; do the forward pass again |
# | "modified by an inplace operation" | the message names the step that saved it |
# | "a leaf Variable" | the update stands outside `no_grad` |
# | nan | `log`, `sqrt` or a division at 0, behind a `where` |
# | zeros | `round`, comparisons, a flat place |

# %% [markdown] name="interview"
# ### A question from interviews
#
# Why would you switch `requires_grad` off for a parameter?
# To **freeze** it: when a trained model gets a new last layer, the first layers stay as they are.
# They get no gradient, and torch need not save what only their gradients would use.

# %% name="interview-freeze"
body, head = torch.randn(4, 4, requires_grad=True), torch.randn(4, 1, requires_grad=True)
data = torch.randn(100, 4)
training = kept_bytes(lambda: (data @ body @ head).sum())
body.requires_grad_(False)
frozen = kept_bytes(lambda: (data @ body @ head).sum())
(data @ body @ head).sum().backward()
assert body.grad is None and head.grad is not None and frozen < training
print("saved while training all:", training, "bytes; with a frozen body:", frozen)

# %% [markdown] name="progress-text"
# What have you passed, what is open, and what is it worth? `progress(2)` tells it for this chapter, from your last check of each exercise; `progress()` shows all chapters.

# %% name="progress"
progress(2)

# %% [markdown] name="questions-1-4"
# ### You can now: 1 to 4
#
# Answer aloud, then unfold.
#
# 1. Can you read `requires_grad`, `grad_fn` and leaf, and get a gradient? Is `w * 1` a leaf?
# 2. Can you say why `.grad` adds up, and use it? What if the parts are unequal?
# 3. Can you follow the life of a graph? What does `total = total + loss` keep?
# 4. Can you get a gradient in the middle?
#
# <details><summary>Answers</summary>
#
# 1. No, with a tracked w: it is a recorded result.
# 2. Weight their means by their rows.
# 3. Every graph; add `loss.item()`.
# 4. By `retain_grad()`, a hook, or `torch.autograd.grad(loss, h)`.
#
# </details>

# %% [markdown] name="questions-5-8"
# ### You can now: 5 to 8
#
# 5. Can you choose between `detach`, `no_grad` and `inference_mode`? Which shares memory with x?
# 6. Can you predict which in-place change breaks a gradient? Why `exp` and not the square?
# 7. Can you compute a vector-Jacobian product? Which v does a loss use?
# 8. Can you avoid nan and dead gradients? Why is `where` around `log` too late?
#
# <details><summary>Answers</summary>
#
# 5. `x.detach()`; the others are modes for a block.
# 6. `exp` saved its result, the square its operand.
# 7. The single number 1.
# 8. The other branch is computed too, and 0 * inf is nan.
#
# </details>

# %% [markdown] name="questions-9-11"
# ### You can now: 9 to 11
#
# 9. Can you write a `Function` of your own and test it with `gradcheck`? How many things does `backward` return?
# 10. Can you take second derivatives? What does `create_graph=True` do?
# 11. Can you build a small autograd yourself? In which order does it visit the nodes?
#
# <details><summary>Answers</summary>
#
# 9. As many as `forward` has inputs.
# 10. It records the walk back, so that you can differentiate it.
# 11. From the result backward, each node after everything that was made from it.
#
# </details>

# %% [markdown] name="faq-tracking"
# ### Questions people ask: what to track
#
# <details><summary>Do inputs and labels need gradients?</summary>
#
# No, unless you want to change the input itself. Parameters do.
#
# </details>
#
# <details><summary>Why not track everything, always?</summary>
#
# A record keeps tensors alive that evaluation does not need: you counted the bytes in section 5.
#
# </details>

# %% [markdown] name="faq-no-grad"
# ### Questions people ask: `no_grad` and `item`
#
# <details><summary>When do I use <code>no_grad</code>?</summary>
#
# Whenever you will not call `backward`: evaluation, and updates by hand. The numbers come out the same; it saves memory and a little time.
#
# </details>
#
# <details><summary>What does <code>item</code> do, and where must I not use it?</summary>
#
# It gives a Python number, for logs and comparisons. Not on anything that the loss is still to be computed from: a float has no record.
#
# </details>

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "Autograd mechanics";
# Paszke and others, "Automatic differentiation in PyTorch" (2017);
# Baydin and others, "Automatic differentiation in machine learning: a survey" (2018);
# Griewank and Walther, "Evaluating Derivatives" (2008).
#
# Next is chapter 3: modules, which hold the tensors that learn.
