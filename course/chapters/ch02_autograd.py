# %% [markdown] name="opening"
# # Chapter 2: Autograd
#
# *There are 640 numbers. Which way should each of them move?*
#
# In chapter 1 ten average pictures read nine digits out of ten.
# Now nobody designs the pictures.
# You begin with ten empty ones, 640 zeros, and ask of each number: if it were a little larger, would the reading get better or worse?
# You move each of them a little in the better direction, and ask again.
# After 200 rounds the ten pictures read 94 digits in 100, and nobody drew them.
#
# "If this were a little larger, what would become of that?" is the question for a derivative.
# **Autograd** is the part of PyTorch that answers it, for 640 numbers or for a billion, and all training rests on it.
#
# On the way you learn to
#
# 1. get a gradient with `backward`, check it by hand, and walk downhill with it
# 2. know what torch keeps in memory for a gradient, and for how long
# 3. stop gradients where they should not flow
# 4. see what breaks a gradient, or makes it nan
#
# There are three sittings: about {minutes} minutes of reading and running, and {exercises} for the exercises. Four excursions are for those who want more.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them

# %% setup=true
import math
import warnings
import torch
import torch.nn.functional as F
from autograder import check, hint, mine, progress, reveal, shows_error
from course.figures import ch02_autograd as figures
from course.instruments import milliseconds, runs, saved_bytes, saved_tensors
from course.instruments import show_digits, show_graph

_ = torch.manual_seed(seed)

# %% [markdown]
# These are the ten, on their way from nothing. Red counts for a digit, and blue against it; each row has a scale of its own:

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="sitting-1"
# # First sitting: downhill ({minutes} minutes, and {exercises} for the exercises)

# %% [markdown] name="record"
# ## 1 One number, one slope ({minutes} minutes)
#
# Ten pictures of 64 pixels make 640 numbers. Begin with a model of two, w and b, small enough to check with a pencil.
# It predicts `w * x + b`.
# With w = 2 and b = 1 it says 7 for x = 3, and the right answer is 10, so it is off by 3.
# Its **loss**, the number that says how wrong it is, is the squared error here: 9.
#
# *Predict.* You make w a little larger, 2.000001. Does the loss grow or shrink?

# %% predict=true
guess = "shrinks"  # "grows" or "shrinks"

# %% name="nudge"
def loss_at(w, b):
    """The squared error of w * x + b for x = 3 and target 10."""
    return (w * 3.0 + b - 10.0) ** 2


nudge = 0.000001
before, after = loss_at(2, 1), loss_at(2 + nudge, 1)
print(f"the loss was {before:.6f} and is {after:.6f}")
reveal(guess, "grows" if after > before else "shrinks")

# %% claim=true
assert before == 9 and abs((after - before) / nudge + 18) < 1e-4
assert [round((-3 + _h) ** 2 - 9, 6) for _h in (0.1, 0.01, 0.001)] == [-0.59, -0.0599, -0.005999]

# %% [markdown]
# It shrinks by 18 millionths, while w grew by one millionth. So near w = 2 the loss changes 18 times as much as w does, and downwards: its **derivative** is -18.
#
# Why 18? Follow the nudge on its way from w to the loss.
# First w is multiplied by x = 3, so that whatever you add to w, three times as much is added to the prediction.
# Then comes the square. The prediction is 3 too small, so what is squared is -3. Add a little, a, and it becomes (-3 + a) ** 2, which is 9 - 6 * a + a ** 2.
# For a tiny a the last part is next to nothing, so the square changes by -6 times what was added.
# (Around any number the factor is twice that number.)
#
# Three times as much, and then -6 times that: along the way the factors are multiplied, 3 * (-6) = -18.
# This is the derivative of the loss **with respect to** w.
# What is added to b is added to the prediction as it is, so there it is 1 * (-6) = -6.
# The two derivatives together are the **gradient**.
#
# Nudging is a fine way to understand a derivative, and a slow way to compute one, because each of 640 numbers needs a computation of its own.
# Following the factors is quick, but you would have to do it by hand, again for each new formula.
# Autograd does it for you. Set `requires_grad=True` when you make the numbers, compute as usual, and call `backward()` on the result:

# %% name="linear-prediction"
w = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)

loss = loss_at(w, b)
print("before backward:", w.grad)

loss.backward()
print("after: ", w.grad, b.grad)

# %% claim=true
assert loss.item() == 9 and w.grad == -18 and b.grad == -6

# %% [markdown] name="division-of-labor"
# The same -18, and the derivative with respect to b as well.
# You write the forward computation; `backward()` finds the way back, and leaves the gradients in `.grad`.
#
# What do you have now that you know them? A direction.
# The sign of a gradient says which way the loss grows, so a small step the other way makes it smaller.
# Here w takes a hundredth of its gradient as a step, to either side.

# %% name="downhill"
step = 0.01 * w.grad.item()  # -0.18
print(f"against the gradient, w = {2 - step:.2f}: the loss is {loss_at(2 - step, 1):.2f}")
print(f"where we are,         w = {2:.2f}: the loss is {loss_at(2, 1):.2f}")
print(f"with the gradient,    w = {2 + step:.2f}: the loss is {loss_at(2 + step, 1):.2f}")

# %% claim=true
with torch.no_grad():
    assert loss_at(w - 0.01 * w.grad, b) < loss_at(w, b) < loss_at(w + 0.01 * w.grad, b)

# %% [markdown]
# That is all of training: find out which way is down, take a small step, ask again. The rest of the chapter does it with 640 numbers in place of two.

# %% [markdown] name="flag-path" side=true
# #### Which tensors can require grad? ({minutes} minutes)
#
# Those of floats (and of complex numbers), since a whole number cannot be a little larger.
# It is off unless you switch it on, and `requires_grad_()` does that in place.

# %% name="flag"
x = torch.ones(3)
print("to begin with:", x.requires_grad)
x.requires_grad_()  # the underscore: in place
print("switched on:", x.requires_grad)
x.requires_grad_(False)
print("and off again:", x.requires_grad)
with shows_error(RuntimeError, match="floating point"):
    torch.tensor([1, 2], requires_grad=True)

# %% claim=true
assert x.requires_grad is False and torch.ones(3).requires_grad_().requires_grad is True

# %% [markdown] name="worked-text"
# ## 2 How a gradient finds its way ({minutes} minutes)
#
# From w to the loss there was one way only. In a model the ways branch and meet again, since one number is used in many places.
# Go through them with a pencil once, and you will see why gradients add up.
#
# Take `loss = ((x * y) + x) ** 2` at x = 4 and y = 2.
# Forward, in small steps: z = x * y = 8, then s = z + x = 12, then loss = s ** 2 = 144.
#
# *Predict.* Add a little to x, or to y: which moves the loss more?

# %% predict=true
guess = "y"  # "x" or "y"

# %% name="worked-gradients"
x = torch.tensor([4.0], requires_grad=True)
y = torch.tensor([2.0], requires_grad=True)
loss = (x * y + x) ** 2
loss.backward()
print("with respect to x:", x.grad.item(), " to y:", y.grad.item())
reveal(guess, "x" if x.grad > y.grad else "y")

# %% claim=true
_at_s = 2 * 12.0
_at_z = _at_s * 1  # s = z + x
_at_x = _at_z * 2.0 + _at_s * 1  # through z = x * y, and through s directly
assert loss.item() == 144
assert (_at_x, _at_z * 4.0) == (x.grad.item(), y.grad.item()) == (72.0, 96.0)
_nudged = ((4 + nudge) * 2 + (4 + nudge)) ** 2 - ((4 - nudge) * 2 + (4 - nudge)) ** 2
assert abs(_nudged / (2 * nudge) - 72) < 1e-3

# %% [markdown]
# It is y, although x is used twice. Where do 72 and 96 come from?
# In the picture, the forward pass is blue, from left to right, and the **backward pass** orange, from right to left.

# %% figure=true
figures.graph(4.0, 2.0)

# %% [markdown]
# Begin at the loss with 1, because the loss changes by exactly what is added to itself, and follow the orange numbers back, step by step.
#
# 1. The square grows by 2 * s times what is added to s. That is 24 times, so 24 arrives at s.
# 2. The sum, s = z + x, grows by what is added to z or to x. So 24 goes on to z, and 24 to x.
# 3. The product, z = x * y, grows by y times what is added to x. So 24 * 2 = 48 goes on to x.
# 4. And it grows by x times what is added to y. So 24 * 4 = 96 goes on to y.
#
# Multiplying the factors along the way like this is the **chain rule**.
# At x two numbers have arrived, 48 by way of the product and 24 directly.
# What is added to x takes both routes at once, so they add up: 72.

# %% [markdown] name="graph-text"
# With the pencil you knew the formula. `backward` knows nothing of it, and is called on a tensor that holds a single number, so how can it go back?
# While you compute, torch builds a **graph**: one node for each step, with links to the nodes before it, down to the tensors that you began with, the **leaves**.
# `show_graph` prints it. From the top you meet the steps as you did on the way back: the power, the sum, the product.

# %% name="walk-the-graph"
show_graph(loss, x=x, y=y)

# %% claim=true
def _names(node):
    below = [name for each, _ in node.next_functions for name in _names(each)]
    return [node.name().split("::")[-1], *below]


assert _names(loss.grad_fn)[:3] == ["PowBackward0", "AddBackward0", "MulBackward0"]
assert _names(loss.grad_fn)[3:] == ["AccumulateGrad"] * 3  # x, y, and x once more

# %% [markdown]
# `AccumulateGrad` adds what arrives to the `.grad` of a leaf. For x it stands there twice, because two routes lead to x.

# %% [markdown] side=true
# #### What does a node hold, and can I see both numbers that arrive at x? ({minutes} minutes)
#
# Not the derivative, but what it needs to compute one when the time comes: here the operand and the exponent, and no 24 anywhere.

# %% name="what-a-node-saves"
s = torch.tensor([12.0], requires_grad=True)
square = s**2
print(square)
node = square.grad_fn
print({name: getattr(node, name) for name in dir(node) if name.startswith("_saved")})

# %% claim=true
assert str(square) == "tensor([144.], grad_fn=<PowBackward0>)"
assert node._saved_self.item() == 12 and node._saved_exponent == 2
_saved = [_name for _name in dir(node) if _name.startswith("_saved")]
assert _saved == ["_saved_exponent", "_saved_self"]

# %% [markdown]
# A view shares memory, and `+=` writes into it, and both are steps in the graph all the same.

# %% name="recorded-without-new-memory"
new = s + 1
before, viewed = new.grad_fn, new.view(1, 1)
print("a sum:", before.name(), " a view of it:", viewed.grad_fn.name())
new += 1  # no new tensor, but a new node
print("the node is another one now:", new.grad_fn is not before)

# %% claim=true
_new = s + 1
_address, _before, _viewed = _new.data_ptr(), _new.grad_fn, _new.view(1, 1)
assert _address != s.data_ptr() and _viewed.data_ptr() == _address
assert _viewed.grad_fn.name() == "ViewBackward0"
_new += 1
assert _new.data_ptr() == _address and _new.grad_fn is not _before

# %% [markdown]
# Two numbers arrive at x. To see both, give the two places two tensors, and each gets its own.

# %% name="paths-add-up"
first, second = torch.tensor(4.0, requires_grad=True), torch.tensor(4.0, requires_grad=True)
result = (first * 2.0 + second) ** 2
result.retain_grad()  # keep the derivative that arrives here
result.backward()
print("at the loss:", result.grad, " by way of the product:", first.grad, " directly:", second.grad)

# %% claim=true
assert result.grad == 1  # the start of the backward pass
assert first.grad == 48 and second.grad == 24 and first.grad + second.grad == 72

# %% [markdown]
# ### Exercise: `grad_by_hand` ({minutes} minutes)
#
# Once more with a pencil, and it sticks: (x + y) * z, a sum and then a product.
# The sum is multiplied by z. With z = 4, one more in x makes four more in the result.

# %% name="by-hand-example"
print((2 + 3) * 4, "and with one more in x:", (3 + 3) * 4)

# %% exercise="grad_by_hand"
def grad_by_hand(x, y, z):
    """Return the three derivatives of (x + y) * z, by the chain rule, as a tuple.

    x, y, z: floats. The result is (by x, by y, by z), three floats. Work from the
    numbers; no graph is needed.

    grad_by_hand(2.0, 3.0, 4.0) gives (4.0, 4.0, 5.0).
    """
    ### BEGIN SOLUTION
    into_sum = z  # d(sum * z) / d(sum)
    return (into_sum * 1.0, into_sum * 1.0, x + y)
    ### END SOLUTION


# %% check="grad_by_hand" points=1
check("grad_by_hand", grad_by_hand)

# %% mine=true
def by_one_more(x, y, z):
    """How much more comes out for one more in x, then in y, then in z."""
    here = (x + y) * z
    return (x + 1 + y) * z - here, (x + y + 1) * z - here, (x + y) * (z + 1) - here


my_grad_by_hand = mine("grad_by_hand", by_one_more)

# %% [markdown] name="stepper-text"
# Does autograd agree with you?
# Press Next in the **autograd stepper**: the values come in, forward, and then the derivatives, back.
# (As in chapter 1, `my_grad_by_hand` is your function once its check has passed.)

# %% name="stepper"
from explorers import autograd_stepper

x, y, z = (torch.tensor(value, requires_grad=True) for value in (2.0, 3.0, 4.0))
product = (x + y) * z
autograd_stepper(product, x=x, y=y, z=z, product=product)

# %% claim=true
_stepper = autograd_stepper(product, x=x, y=y, z=z, product=product)
assert x.grad is None  # looked at, not changed

# %% name="xyz-product"
product.backward()
print("autograd:", (x.grad.item(), y.grad.item(), z.grad.item()))
print("by hand: ", my_grad_by_hand(2.0, 3.0, 4.0))

# %% claim=true
assert (x.grad, y.grad, z.grad) == (4.0, 4.0, 5.0)
assert _stepper.grads() == {"x": x.grad, "y": y.grad, "z": z.grad}

# %% [markdown] side=true
# #### May my model contain `if` and loops? ({minutes} minutes)
#
# Yes, because the graph is built anew each time, while your code runs.
# So `if`, loops and recursion shape it, and `print` works in the middle.
# (The other way, which TensorFlow 1 took, is to build the graph first and run it later.)

# %% name="control-flow"
def power(x, n):
    """x to the power of n, by recursion."""
    print("power", n, end="; ")
    return x if n == 1 else x * power(x, n - 1)


for start in (2.0, -2.0):
    t = torch.tensor(start, requires_grad=True)
    out = power(t, 4) if t > 0 else -3 * t  # this run's graph
    out.backward()
    print("gradient:", t.grad)

# %% claim=true
for _start, _expected in ((2.0, 32.0), (-2.0, -3.0)):
    _t = torch.tensor(_start, requires_grad=True)
    (power(_t, 4) if _t > 0 else -3 * _t).backward()
    assert _t.grad == _expected

# %% [markdown] side=true
# #### Do data and labels get a gradient, and which tensors have a `.grad` in the end? ({minutes} minutes)
#
# No, unless you ask for it.
# With the sizes of houses and a weight for them, for example, you want to change the weight, not the houses.
# One operand that requires grad is enough for a graph, since the result changes with it; where none does, no graph is built at all.

# %% name="one-tracked-is-enough"
sizes, weight = torch.tensor([60.0, 85.0, 120.0]), torch.tensor(2.5, requires_grad=True)
print("sizes + 1:     ", (sizes + 1).grad_fn)
print("sizes * weight:", (sizes * weight).grad_fn.name())

# %% claim=true
assert (sizes + 1).grad_fn is None and not (sizes + 1).requires_grad
assert (sizes * weight).requires_grad

# %% [markdown] name="leaf-text"
# After `backward`, only what requires grad has a `.grad`.
# (The layers of chapter 3 ask for gradients of their own weights by themselves.)

# %% name="weight-and-data"
bias = torch.tensor(1.0, requires_grad=True)
prices = sizes * weight + bias
prices.mean().backward()
print("data:", sizes.grad, " weight:", weight.grad, " bias:", bias.grad)

# %% claim=true
assert weight.is_leaf and weight.grad_fn is None and not prices.is_leaf
assert sizes.requires_grad is False and sizes.grad is None
assert torch.allclose(weight.grad, sizes.mean()) and torch.allclose(bias.grad, torch.ones(()))
with shows_error(RuntimeError, match="leaf"):
    prices.requires_grad_(False)  # a result's flag follows from its operands

# %% [markdown]
# The leaves that require grad and that the loss depends on; a leaf that plays no part keeps None.
# And from several numbers at once `backward` can start if you say with `gradient=` how much each of them counts.

# %% name="scalar-or-weights"
v = torch.ones(3, requires_grad=True)
(v * 2).backward(gradient=torch.tensor([1.0, 1.0, 10.0]))
print("three outputs, the last counting ten times:", v.grad)

used, unused = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
(used * 2).backward()  # shape (1,): one element will do
print("used:", used.grad, " unused:", unused.grad)

# %% claim=true
assert v.grad.tolist() == [2.0, 2.0, 20.0] and used.grad.item() == 2 and unused.grad is None

# %% [markdown] name="middle" side=true
# #### What is the gradient in the middle? ({minutes} minutes)
#
# `h = x * 3`, then `(h**2).backward()`, at x = 2: the backward pass passes h with derivative 2 * h = 12.
#
# *Predict.* What is `h.grad` afterwards?

# %% predict=true
guess = None  # a number or None

# %% name="middle-grad"
x = torch.tensor(2.0, requires_grad=True)
h = x * 3
(h**2).backward()
with warnings.catch_warnings(record=True) as caught:  # collects warnings in a list
    warnings.simplefilter("always")
    left_in_h = h.grad
print("x:", x.grad, " and a warning:", str(caught[0].message)[:70], "...")
reveal(guess, left_in_h)

# %% claim=true
assert x.grad == 36 and "not a leaf" in str(caught[0].message)

# %% [markdown]
# Only leaves keep their gradient; in the middle it passes through and is dropped, because somebody would have to pay for the memory.
# `retain_grad()`, called before `backward`, keeps it.

# %% name="retain-grad"
h = x * 3
h.retain_grad()
(h**2).backward()
print("kept:", h.grad)

# %% claim=true
_other = x * 3
assert h.grad == 12 and torch.autograd.grad(_other**2, _other)[0] == 12

# %% [markdown]
# You can lose a leaf without noticing, as in `torch.randn(3, requires_grad=True) * 0.1`: the name that you hold is the result, and its `.grad` stays None.

# %% name="scaled-leaf"
scaled = torch.randn(3, requires_grad=True) * 0.1
right = (torch.randn(3) * 0.1).requires_grad_()  # first compute, then ask for gradients
print("a leaf:", scaled.is_leaf, right.is_leaf)

# %% claim=true
assert not scaled.is_leaf and right.is_leaf

# %% [markdown] name="how-wrong"
# ## 3 Ten pictures keep score ({minutes} minutes)
#
# Now the digits, with ink from 0 to 1.
# 1,400 are known. The other 397 stay in a drawer, to see in the end how well unknown digits are read.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)

order = torch.randperm(1797, generator=torch.Generator().manual_seed(seed))
known, unseen = order[:1400], order[1400:]
show_digits(ink[unseen[:10]])  # ten from the drawer

# %% [markdown]
# How does a picture read a digit?
# Lay it over the digit, multiply place by place, and add up.
# The sum is a **score**: where the picture is positive, ink speaks for it, and where it is negative, ink speaks against it.
#
# Suppose a digit had three pixels, with ink 1, 0 and 0.5, and there were two pictures.

# %% name="two-scores"
two_pictures = torch.tensor([[1.0, -1.0, 2.0], [-1.0, 3.0, 2.0]])
scores = two_pictures @ torch.tensor([1.0, 0.0, 0.5])
print(scores)

# %% claim=true
assert scores.tolist() == [2, 0]

# %% [markdown]
# The first scores 1 + 0 + 1 = 2 and the second -1 + 0 + 1 = 0. The first wins.

# %% [markdown] name="cost"
# ## 4 What does a wrong answer cost? ({minutes} minutes)
#
# But suppose the right answer is the second. How wrong is that?
# To count mistakes is too coarse: move a picture a little, and the count stays what it was, so that no nudge tells which way is better.
# You need a number that moves with every score. It is made in two steps: the scores become shares, and the share of the right answer has its price.
#
# ### From scores to shares
#
# Let two classes share what is to be had. The first is ahead by some points, and **softmax** gives it its share:

# %% mine=true
my_softmax_stable = mine("softmax_stable", torch.softmax)
my_one_hot = mine("one_hot", lambda labels, k: F.one_hot(labels, k).float())

# %% name="two-shares"
for lead in (0, 1, 2, 5):
    shares = my_softmax_stable(torch.tensor([lead, 0.0]), dim=0)
    print(f"ahead by {lead}: {shares[0]:.3f}, and {shares[1]:.3f} for the other")

# %% claim=true
_told = [my_softmax_stable(torch.tensor([_lead, 0.0]), dim=0)[0].item() for _lead in (0, 1, 2, 5)]
assert [round(_share, 3) for _share in _told] == [0.5, 0.731, 0.881, 0.993]
_far = my_softmax_stable(torch.tensor([102.0, 100.0]), dim=0)
assert round(_far[0].item(), 3) == 0.881

# %% [markdown]
# Equal scores get equal shares, and five points ahead hardly anything is left for the other.
#
# How is it done? Each class gets a weight, exp of its score, and its share is its part of all the weights.
# (exp of s is 2.718 to the power of s.) It is exp because a weight must be positive, whatever the score, and because one point more should always do the same: it multiplies the weight by 2.7.
# So only differences count. The scores 102 and 100 give the same shares as 2 and 0, since a hundred points more for both multiply both weights by the same number.
#
# ### What a share costs
#
# The loss looks at one share alone, that of the right answer. A share of 1 costs nothing, and a share near 0 costs without end, because being sure and wrong should be expensive:

# %% name="cost-of-a-share" figure=true
figures.cost_of_a_share()

# %% [markdown]
# *Predict.* Each halving costs the same again. A half costs 0.69, a quarter 1.39. What does an eighth cost?

# %% predict=true
guess = 2.08  # a number with two decimals

# %% name="an-eighth"
for share in (1, 1 / 2, 1 / 4, 1 / 100):
    print(f"a share of {share:<4} costs {math.log(1 / share):.2f}")
reveal(guess, round(math.log(8), 2))

# %% claim=true
assert [round(math.log(_n), 2) for _n in (2, 4, 8, 100)] == [0.69, 1.39, 2.08, 4.61]
_shares = my_softmax_stable(scores, dim=0)
assert [round(_loss, 2) for _loss in (-_shares.log()).tolist()] == [0.13, 2.13]
assert round(_shares[1].item(), 2) == 0.12
assert torch.allclose(-(_shares / 2).log() + _shares.log(), torch.tensor(math.log(2)))

# %% [markdown]
# A number that grows by the same amount at each halving is a logarithm: the cost is minus the log of the share.
# (log undoes exp, so it counts factors of 2.7, and a halving is 0.69 of one.)
#
# Now you can say how wrong our two pictures were. With the scores 2 and 0 the second had a share of 0.12, a little less than an eighth, so if it is right they pay 2.13, and if the first is right only 0.13.
#
# For ten pictures and all known digits, one matrix product, (1400, 64) @ (64, 10), gives all scores, and the loss is the mean of the costs:

# %% name="wrongness"
truth = my_one_hot(labels, 10)  # (1797, 10), a 1 for the true class


def wrongness(pictures, which=known):
    """How badly ten pictures (64, 10) read these digits; 0 would be perfect."""
    shares = my_softmax_stable(ink[which] @ pictures, dim=1)
    right = (shares * truth[which]).sum(dim=1)  # the share of the true class
    return -right.log().mean()

# %% [markdown]
# *Predict.* With ten empty pictures every score is 0, so each class gets a tenth. What is the loss? (A tenth lies between an eighth and a sixteenth.)

# %% predict=true
guess = 2.3  # a number with one decimal

# %% name="empty-pictures"
pictures = torch.zeros(64, 10, requires_grad=True)
loss = wrongness(pictures)
reveal(guess, round(loss.item(), 1))

# %% claim=true
assert abs(loss - math.log(10)) < 1e-5

# %% [markdown] name="all-at-once"
# ## 5 All 640 at once ({minutes} minutes)
#
# And now 640 questions with one call: if this place in this picture were a little larger, what would become of the loss?

# %% name="gradient-pictures"
loss.backward()
print(pictures.grad.shape)
show_digits(-pictures.grad.T, says=range(10))

# %% claim=true
assert pictures.grad.shape == (64, 10)

# %% [markdown]
# Nobody drew these. They are the 640 derivatives, with the sign turned so that they point downhill: red where the picture should count more, blue where less.
# And yet there is a zero with its hole, a three, a seven, because the loss goes down most where a picture gets ink that its own digit has and the others have not.
#
# Take one step that way, and let the drawer judge. First, how well do the empty ones read?

# %% name="accuracy"
def accuracy(pictures):
    """The share of the digits in the drawer that ten pictures read correctly."""
    says = (ink[unseen] @ pictures).argmax(dim=1)
    return (says == labels[unseen]).float().mean().item()


print(f"ten empty pictures: {accuracy(pictures):.0%}")

# %% claim=true
assert 0.05 < accuracy(pictures) < 0.15
assert ((ink[unseen] @ pictures).argmax(dim=1) == 0).all()

# %% [markdown]
# About one in ten: all scores are equal, `argmax` takes the first of them, and every digit is called a zero.
#
# The step is the gradient times a number that is up to you, the **learning rate**; here it is 1.
# (`detach()` gives the same numbers outside the graph, since the step itself needs no gradient.)
#
# *Predict.* Suppose you mix up the sign, and take the step *uphill*. How many in a hundred do the pictures read then?

# %% predict=true
guess = 0  # a whole number

# %% name="one-step"
downhill = pictures.detach() - 1.0 * pictures.grad
uphill = pictures.detach() + 1.0 * pictures.grad
print(f"one step downhill: {accuracy(downhill):.0%}")
reveal(guess, round(100 * accuracy(uphill)))

# %% claim=true
assert accuracy(downhill) > 0.65 and accuracy(uphill) < 0.005  # at most one of the 397

# %% [markdown]
# One step downhill, and most of the digits are read. Uphill, hardly any are: the gradient knows just as well which way is wrong.
#
# What did the 640 answers cost? Nudging would have computed the loss anew for each of them, whereas autograd needed one pass forward and one backward, and would need no more for a million numbers. That is why networks can be as large as they are.

# %% [markdown] side=true
# #### Can I check one of the 640, and ask for the gradient of an input too? ({minutes} minutes)
#
# Nudge it, up and down, which takes two computations of the loss: 1,280 for all of them, and each result is only nearly right.

# %% name="one-pass"
moved = torch.zeros(64, 10)
moved[20, 3] = 0.01  # one place in the picture for the threes
with torch.no_grad():
    by_nudging = (wrongness(moved) - wrongness(-moved)) / 0.02
print(f"by nudging:  {by_nudging.item():.5f}")
print(f"by backward: {pictures.grad[20, 3].item():.5f}")

# %% claim=true
_exact = pictures.grad.double()
_furthest = 0.0
for _place in range(0, 64, 8):
    for _column in range(10):
        _moved = torch.zeros(64, 10)
        _moved[_place, _column] = 0.01
        with torch.no_grad():
            _slope = (wrongness(_moved) - wrongness(-_moved)) / 0.02
        _furthest = max(_furthest, abs(_slope - _exact[_place, _column]).item())
assert _furthest < 1e-3

# %% [markdown]
# The gradient of an input says how much each of its numbers counts, and section 7 draws it for a digit.

# %% name="input-gradient"
row = torch.tensor([1.0, -2.0, 0.5])  # fixed weights
pixel_input = torch.zeros(3, requires_grad=True)
(row * pixel_input).sum().backward()
print(pixel_input.grad)

# %% claim=true
assert torch.equal(pixel_input.grad, row)

# %% [markdown] name="why-backward" side=true
# #### Is that also true of a network with two layers, and how long does the backward pass take? ({minutes} minutes)
#
# Here are 121 numbers in two layers; `tanh` squeezes a number into -1 to 1 (chapter 3 says what for).
# One pass forward, one backward, and all 121 derivatives are there, because each step brings its own rule and the rules go together.

# %% name="two-layers"
shapes = ((10, 10), (10,), (10, 1), (1,))
params = [torch.randn(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
inputs, targets = torch.randn(8, 10, dtype=torch.float64), torch.randn(8, 1, dtype=torch.float64)


def network_loss():
    """The mean squared error of the network."""
    w1, b1, w2, b2 = params
    return ((torch.tanh(inputs @ w1 + b1) @ w2 + b2 - targets) ** 2).mean()


network_loss().backward()
print([tuple(p.grad.shape) for p in params], "together", sum(p.grad.numel() for p in params))

# %% claim=true
assert sum(p.grad.numel() for p in params) == 121

# %% [markdown]
# The third way, a formula: derived by hand, it is the same backward pass.

# %% name="two-layers-by-hand"
w1, b1, w2, b2 = (p.detach() for p in params)
hidden = torch.tanh(inputs @ w1 + b1)  # (8, 10)
at_output = 2 * (hidden @ w2 + b2 - targets) / len(targets)  # (8, 1)
at_tanh = at_output @ w2.T * (1 - hidden**2)  # (8, 10)
formulas = (inputs.T @ at_tanh, at_tanh.sum(0), hidden.T @ at_output, at_output.sum(0))
print([torch.allclose(formula, p.grad) for formula, p in zip(formulas, params, strict=True)])

# %% claim=true
assert all(torch.allclose(formula, p.grad) for formula, p in zip(formulas, params, strict=True))

# %% [markdown]
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


reveal(guess, steps_of_backward(30)[0])

# %% claim=true
assert steps_of_backward(60)[0] == 60 and steps_of_backward(30)[1] == 2.0**30

# %% [markdown]
# Each node is visited once, after all that arrives there has been added up.
# So the cost of `backward` is a small multiple of the cost of the forward pass, however many paths there are.

# %% [markdown] name="accumulates"
# ## 6 A step, and another ({minutes} minutes)
#
# One step read most of the digits. What would two hundred do?
# Before you write that loop, try it on one number. Two things can go wrong.
#
# *Predict.* The derivative of x ** 2 at x = 2 is 4. You run `(x**2).backward()` twice, as two steps would. What is `x.grad`?

# %% predict=true
guess = 8  # a number

# %% name="four-then-eight"
x = torch.tensor([2.0], requires_grad=True)
(x**2).backward()
print("once:", x.grad)
(x**2).backward()
reveal(guess, x.grad.item())

# %% [markdown]
# `backward` **adds** to `.grad`; it never replaces it. The reason is that of section 2, where 48 and 24 added up at x: each backward is one more route into x.
# So a loop that does not clear it follows the sum of all gradients since the beginning, like someone who still obeys every order ever given.

# %% figure=true
figures.accumulation(4)

# %% [markdown]
# So clear it before each pass, with `x.grad = None`.
#
# The other thing is the step itself. It changes the leaf in place, and torch refuses.

# %% name="update-refused"
w = torch.tensor(1.0, requires_grad=True)
(w**2).backward()
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    w -= 0.1 * w.grad

# %% [markdown] name="update"
# It refuses because whatever you compute with w goes into the graph, whereas a step is meant to stand outside: you want another w, not a longer graph.
# `torch.no_grad()` says so for a block of code.

# %% name="update-run"
with torch.no_grad():
    w -= 0.1 * w.grad
print(w)

# %% claim=true
_old = torch.tensor(1.0, requires_grad=True)
_rebound = _old - 0.1 * 2.0  # runs, but the result is no leaf
assert not _rebound.is_leaf and _rebound.requires_grad
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    _old -= 0.1 * 2.0
assert w.is_leaf and w.item() == _rebound.item() and w.grad == 2.0  # still the old gradient

# %% [markdown]
# The same leaf, with a new value. Clear, go back, step: many times over, that is **gradient descent**, here on the parabola x ** 2.

# %% name="descend-example"
x = torch.tensor([1.0], requires_grad=True)
for _ in range(4):
    x.grad = None
    (x**2).sum().backward()
    with torch.no_grad():
        x -= 0.25 * x.grad
    print(x.item())

# %% claim=true
assert x.item() == 0.5**4

# %% [markdown]
# Each step takes away half of x, because the slope is 2 * x and a quarter of that is x / 2. It comes as near to the bottom, at 0, as you like.
#
# To use the loop again and again, put it into a function. Then it moves a tensor that somebody hands it, and they want theirs back as it was. So let it begin with a copy:

# %% name="detach-first"
x = torch.tensor([1.0, 2.0], requires_grad=True)
copy = x.detach().clone().requires_grad_()
(copy**2).sum().backward()
print("copy.grad:", copy.grad, " x.grad:", x.grad)

# %% claim=true
assert copy.grad.tolist() == [2.0, 4.0] and x.grad is None

# %% [markdown]
# The copy is cut off from x, has its own numbers, and asks for its own gradient. (A name that ends in `_` works in place. Section 10 asks whether all three are needed.)

# %% [markdown] side=true name="arrange-descend"
# #### Next comes `descend`: would you like its lines first, in disorder? ({minutes} minutes)
#
# The next exercise begins with a blank cell.
# Here is what may stand in it, line by line, with gaps and with two lines that are not needed.

# %%
from explorers import arrange

arrange("descend")

# %% [markdown]
# ### Exercise: `descend` ({minutes} minutes)
#
# Make your own function of gradient descent, for any f, and it will fill the ten pictures.
# On the parabola above it gives, after two steps from 1 with rate 0.25, what the loop printed second: 0.25.

# %% exercise="descend"
def descend(f, x0, lr, steps):
    """Return where gradient descent on f arrives from x0: `steps` times x = x - lr * gradient.

    f takes a tensor and returns a scalar. The result has no graph, and the shape and
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

# %% mine=true name="learning"
def plain_descend(f, x, lr, steps):
    """Gradient descent in its plainest form."""
    for _ in range(steps):
        x = x.detach().requires_grad_()
        x = x - lr * torch.autograd.grad(f(x), [x])[0]
    return x.detach()


my_descend = mine("descend", plain_descend)

# %% [markdown] side=true
# #### Does `.grad` exist before the first `backward`? ({minutes} minutes)
#
# No, it is None, so zeroing it in place needs a test, and setting it to None does not.

# %% name="zero-idiom"
fresh = torch.tensor([2.0], requires_grad=True)
with shows_error(AttributeError, match="zero_"):
    fresh.grad.zero_()  # it is None
for _ in range(3):
    if fresh.grad is not None:
        fresh.grad.zero_()  # `fresh.grad = None` does as well
    (fresh**2).backward()
print(fresh.grad)

# %% claim=true
assert fresh.grad.tolist() == [4.0]

# %% [markdown] name="ten-pictures"
# ## 7 Ten pictures out of nothing ({minutes} minutes)
#
# Everything is ready: a loss, and your own `descend`.
# Begin with zeros, and look at the pictures after 1, 5, 20 and 200 steps.

# %% name="two-hundred-steps"
pictures, done = torch.zeros(64, 10), 0
for steps in (1, 5, 20, 200):
    pictures = my_descend(wrongness, pictures, 1.0, steps - done)  # so many more
    done = steps
    loss = wrongness(pictures).item()
    print(f"step {steps:3}: loss {loss:.2f}, in the drawer {accuracy(pictures):.0%}")
    show_digits(pictures.T, says=range(10))

# %% claim=true
assert 0.92 < accuracy(pictures) < 0.98 and wrongness(pictures) < 0.25

# %% [markdown]
# They learned.
# After the first step they are still like averages: red where this digit has more ink than the others, and blue where it has less.
# Then they depart from that. An average must look like its digit; these ten only have to *decide* well.
#
# Now turn the question around. Here is an eight from the drawer, which they read as an eight.

# %% name="an-eight"
says = (ink[unseen] @ pictures).argmax(dim=1)
read_as_eights = unseen[(says == 8) & (labels[unseen] == 8)]
eight = read_as_eights[0]
show_digits(ink[eight])

# %% claim=true
assert labels[eight] == 8 == (ink[eight] @ pictures).argmax() and eight in unseen

# %% [markdown]
# Which of its pixels would have to change, so that it is read as a three?
# That is the gradient with respect to the *digit*.
#
# ### Exercise: `grad_of` ({minutes} minutes)
#
# You only want to look at this gradient, and nothing should be left in a `.grad` for somebody to forget.
# `torch.autograd.grad(result, [x])` gives the gradients, in a tuple, and writes to nobody's `.grad`.
# For (3 * x + 1) ** 2 at x = 2, for example, the square has the factor 2 * 7 and what is in it the factor 3. That makes 42.

# %% name="grad-returns"
x = torch.tensor(2.0, requires_grad=True)
y = (3 * x + 1) ** 2
(gradient,) = torch.autograd.grad(y, [x])
print(gradient, "and nothing in x.grad:", x.grad)

# %% claim=true
assert y.item() == 49 and gradient == 42 and x.grad is None
_x = torch.tensor([2.0], requires_grad=True)
_x.grad = torch.tensor([100.0])
torch.autograd.grad((_x**2).sum(), [_x])
assert _x.grad.tolist() == [100.0]

# %% exercise="grad_of"
def grad_of(f, x):
    """Return the gradient of f at x, in the shape of x and without a graph.

    f takes a tensor of the shape of x and returns a tensor; if that holds more than
    one number, differentiate their sum. x may require grad or not. x stays as it was:
    values, requires_grad, .grad. No .grad changes anywhere, also not that of another
    tensor that f uses.

    For f = torch.sin and x = torch.zeros(2) the result is [1.0, 1.0].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy).sum(), copy)[0]
    ### END SOLUTION


# %% check="grad_of" points=2
check("grad_of", grad_of)

# %% mine=true
my_grad_of = mine("grad_of", torch.autograd.functional.jacobian)

# %% [markdown]
# Now ask the eight.

# %% name="pixels-that-decide"
def not_a_three(digit):
    """How wrong it would be to call this digit a three."""
    return -my_softmax_stable(digit @ pictures, dim=0)[3].log()


more_ink = -my_grad_of(not_a_three, ink[eight])
show_digits([ink[eight], more_ink], says=["an eight", "more like a three"])

# %% claim=true
assert more_ink.shape == (64,) and more_ink.abs().max() > 0

# %% [markdown]
# Blue is bluest on the left of the eight: take away the ink that closes its two loops.
#
# What if you follow it, and let `descend` change the digit until the ten pictures read a three?
# Before you run the cell: will it look like a three to you?

# %% name="turned-into-a-three"
digit = ink[eight]
while (digit @ pictures).argmax() != 3:
    digit = my_descend(not_a_three, digit, 0.02, 1)

change = digit - ink[eight]
says = ["read as an eight", "read as a three", "the change"]
show_digits([ink[eight], digit, change], says=says, as_ink=True)
size = change.abs().mean().item()
print(f"ink goes from 0 to 1, and a pixel changed by {size:.2f} on average")

# %% claim=true
assert (digit @ pictures).argmax() == 3 and size < 0.25
assert digit.min() < 0 and digit.max() > 1

# %% [markdown]
# What do you read?
# The ten pictures see something different from what we see. They add up ink times weight, and small changes to many pixels are enough to tip the sum.
# And they do not mind ink that no pen could make: where the picture is blue, there is less than none.
#
# This is a good place for a break.

# %% [markdown] name="sitting-2"
# # Second sitting: what a graph holds ({minutes} minutes, and {exercises} for the exercises)
#
# If you have closed the notebook in between, run everything above first ("Run All Above Selected Cell"), so that the digits and your pictures are there again.

# %% [markdown] name="life"
# ## 8 The life of a graph ({minutes} minutes)
#
# Your 200 steps built 200 graphs, and each kept something in memory for the way back: the slope of x ** 2 is 2 * x, for example, so the node of a square has to save x.
# Training takes millions of steps. Why is the memory not full after a minute?
#
# There are two reasons, and the first is that a graph is made for one use. Here is its whole life:

# %% name="life-of-a-square" figure=true
figures.life()

# %% [markdown]
# The forward pass saves, and the backward pass uses what was saved and lets go of it, so that each step of training leaves its memory to the next.
# That has a price.
#
# *Predict.* You call `y.backward()` twice, on the same y. Does the second call run?
# (`runs` tries it, and prints the error if there is one.)

# %% predict=true
guess = False  # True or False

# %% name="second-backward"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
y.backward()
reveal(guess, runs(y.backward))

# %% claim=true
assert x.grad.tolist() == [4.0]  # that of the first call

# %% [markdown] name="fresh-pass"
# The first call let go of the x that the second would have needed.
# You will see this message when a loop goes back a second time without having computed the loss anew, and computing it is the cure.
# (The `retain_graph=True` that the message advises keeps what was saved, which is hardly ever what you want.)

# %% [markdown] side=true
# #### Does a second `backward` always fail, and when is `retain_graph=True` right? ({minutes} minutes)
#
# Only where something had been saved.
# A sum needs no operands for its rule.
#
# *Predict.* `y = x + x`, x = 2, and `y.backward()` twice. What is `x.grad`?

# %% predict=true
guess = 4  # a number

# %% name="second-backward-of-a-sum"
x = torch.tensor([2.0], requires_grad=True)
y = x + x
y.backward()
y.backward()
reveal(guess, x.grad.item())

# %% [markdown]
# So the graph is not gone after `backward`; what it had saved is.
# The nodes live as long as the result does.

# %% name="freed-or-gone"
x = torch.ones(3, requires_grad=True)
with saved_tensors() as alive:
    y = (x.exp().sin() + 1).tanh().sum()
    print("exp, sin and tanh each saved one:", len(alive))
    y.backward()
    print("after backward:", len(alive), "and the last node is still", y.grad_fn.name())

# %% claim=true
assert len(alive) == 0 and y.grad_fn.next_functions[0][0].name() == "TanhBackward0"

# %% [markdown]
# `retain_graph=True` keeps what was saved for one more call, and the gradients add up as ever.

# %% name="retain-graph"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
y.backward(retain_graph=True)
print("once:", x.grad)
y.backward()
print("twice:", x.grad)
with shows_error(RuntimeError, match="backward through the graph a second time"):
    y.backward()  # that call retained nothing

# %% claim=true
assert x.grad.tolist() == [8.0]

# %% [markdown]
# You want it where two losses share their first steps and you need their gradients one after the other.
# If you only want the sum, add the losses and go back once, which is cheaper and gives the same.

# %% name="two-losses"
def two_losses(w):
    """Two losses that share their first step."""
    trunk = torch.exp(w)
    return trunk.sum(), (trunk**2).sum()


w, v = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
one, two = two_losses(w)
one.backward(retain_graph=True)
two.backward()
sum(two_losses(v)).backward()
print("one after the other:", w.grad, " the sum:", v.grad)

# %% claim=true
assert torch.allclose(w.grad, v.grad)
_one, _two = two_losses(w)
_one.backward()
with shows_error(RuntimeError, match="second time"):
    _two.backward()

# %% [markdown] name="dropping-text"
# ### What keeps a graph alive
#
# If `backward` is what frees the memory, then a loss that you only measure, without ever going back, might keep its memory for good.
# Try it with exp of a thousand numbers, added up. The slope of exp is exp itself, so its node saves the result, one tensor.
#
# *Predict.* Run that a thousand times, and never call `backward`. How many saved tensors are there in the end?

# %% predict=true
guess = 1  # a number

# %% name="dropping-frees"
x = torch.ones(1000, requires_grad=True)
with saved_tensors() as alive:  # counts them
    for _ in range(1000):
        loss = x.exp().sum()
    reveal(guess, len(alive))

# %% claim=true
with saved_tensors() as _alive:
    _loss = x.exp().sum()
    assert len(_alive) == 1

# %% [markdown]
# One, that of the last pass. Here is the second reason: a graph lives as long as something still refers to its result, like any object of Python. When the name `loss` goes to a new result, nothing refers to the old one, and its graph is gone with all that it had saved.
#
# And yet there are programs that run for an hour and then end with "out of memory". What they do looks harmless: they *keep* each measured loss, to draw it later.

# %% name="keeping-results"
with saved_tensors() as alive:
    history = [x.exp().sum() for _ in range(100)]
print("a list of 100 losses keeps", len(alive))

history = [loss.item() for loss in history]
print("a list of 100 numbers keeps", len(alive))

# %% claim=true
with saved_tensors() as _alive:
    _history = [x.exp().sum() for _ in range(100)]
    assert len(_alive) == 100
    _history = [_loss.item() for _loss in _history]
    assert len(_alive) == 0

# %% [markdown]
# A list of losses is a list of graphs. `item()` takes out the plain Python number, which has none, and so numbers are what belongs in logs and running sums.

# %% [markdown] side=true
# #### What does `total = total + loss` keep? ({minutes} minutes)
#
# There is no list, and in the end there is one tensor, `total`.
#
# *Predict.* After a hundred passes, how many saved tensors does it keep?

# %% predict=true
guess = 100  # a number

# %% name="keeping-a-sum"
total = 0.0
with saved_tensors() as alive:
    for _ in range(100):
        total = total + x.exp().sum()
reveal(guess, len(alive))

# %% [markdown]
# All hundred.
# The last sum leads to the last loss and to the total before it, and that to the loss before, and so on, back to the first.
# Here are four passes, kept in four ways.

# %% figure=true
figures.kept_graphs(4)

# %% [markdown]
# ### Exercise: `running_loss` ({minutes} minutes)
#
# At the end of an hour of training you want one number, the mean loss, and not a thousand losses in memory.
# So call `backward` on each loss, as training does, take its number, and let it go before the next one is computed.

# %% name="running-loss-example"
w = torch.tensor(1.0, requires_grad=True)
numbers = [loss.item() for loss in (1.0 * w, 3.0 * w)]
print("losses of", numbers, "with the mean", sum(numbers) / 2)

# %% exercise="running_loss"
def running_loss(losses):
    """Call backward on each loss, once, and return the mean of their values as a float.

    For losses of 1.0 and 3.0 the result is 2.0.

    losses: an iterable of scalar tensors, at least one, each with a graph of its own;
    perhaps a generator, which makes each loss when it is asked for. Keep no losses: when
    the next one is asked for, at most the graph of the last one is still there.
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

# %% [markdown] side=true
# #### Does your `running_loss` let go of each graph, and can I call `item()` too early? ({minutes} minutes)
#
# Here are ten losses, made one by one; each time the next is asked for, note what is still held of those before.

# %% name="one-by-one"
def losses():
    for _ in range(10):
        yield x.exp().sum()
        held.append(len(alive))


def all_at_once(losses):
    kept = list(losses)  # every graph at the same time
    for loss in kept:
        loss.backward()
    return sum(loss.item() for loss in kept) / len(kept)

# %% mine=true
my_running_loss = mine("running_loss", all_at_once)

# %% name="running-loss-used"
for mean_of in (all_at_once, my_running_loss):
    held = []
    with saved_tensors() as alive:
        mean_of(losses())
    print(f"{mean_of.__name__:12} holds", held)

# %% claim=true
assert max(held) in (0, 10)

# %% [markdown]
# `item()` can come too early, because what is computed from a plain number has no graph.

# %% name="item"
loss = (x**2).mean()
number = loss.item()
print(number, "and the loss still has its graph:", loss.grad_fn.name())
with shows_error(AttributeError, match="backward"):
    (number * 2).backward()

# %% claim=true
assert isinstance(number, float) and loss.grad_fn is not None
with shows_error(RuntimeError, match="cannot be converted"):
    x.item()  # 1000 elements
loss.backward()

# %% [markdown]
# ### A block without a graph
#
# A loss that is only measured needs no graph in the first place: why build one and throw it away?
# Inside `torch.no_grad()`, which you have used for the step, none is built, not even from tensors that require grad.

# %% name="no-grad"
w = torch.ones(3, requires_grad=True)
with torch.no_grad():
    score = (w * 2).sum()
print("w requires grad:", w.requires_grad, "  the score:", score.requires_grad)

# %% claim=true
assert score.grad_fn is None and not score.requires_grad and w.requires_grad
assert (w * 2).requires_grad  # outside again
with shows_error(RuntimeError, match="does not require grad"):
    score.backward()

# %% [markdown]
# The numbers come out the same, and no memory goes into a graph. Use it wherever no `backward` will follow.

# %% [markdown] name="no-grad-saving" side=true
# #### What does `no_grad` save, in memory and in time? ({minutes} minutes)
#
# Here is what the graph of your loss holds, and what is held without one.

# %% name="no-grad-bytes"
learning = pictures.clone().requires_grad_()
print("with a graph:", saved_bytes(lambda: wrongness(learning)), "bytes")
with torch.no_grad():
    print("in no_grad: ", saved_bytes(lambda: wrongness(learning)), "bytes")

# %% claim=true
assert saved_bytes(lambda: wrongness(learning)) >= 1400 * 10 * 4  # at least the shares
with torch.no_grad():
    assert saved_bytes(lambda: wrongness(learning)) == 0

# %% [markdown]
# It is faster, too, and "twice as fast" is a popular figure.
# Measure it on your machine, for small tensors and for large ones.
# Building a node costs about the same whatever its size, so it shows only where the steps are small.

# %% name="no-grad-time"
def cost_of_a_graph(n):
    """How many times as long a few steps on an (n, n) tensor take when a graph is built."""
    x = torch.randn(n, n, requires_grad=True)
    with_graph = milliseconds(lambda: torch.tanh(x @ x).sum())
    with torch.no_grad():
        return with_graph / milliseconds(lambda: torch.tanh(x @ x).sum())


print(f"small: {cost_of_a_graph(4):.2f}, large: {cost_of_a_graph(256):.2f} times as long")

# %% claim=true
with torch.no_grad():
    _silent = wrongness(learning)
assert torch.equal(_silent, wrongness(learning).detach())  # the same result, to the last digit

# %% [markdown]
# An evaluation without `no_grad` does not fill the memory as long as it keeps no tensors; if it does, each of them is a graph.
# With `no_grad`, it may keep them.

# %% name="evaluation-loop"
w = torch.ones(3, requires_grad=True)
with saved_tensors() as alive:
    outputs = [torch.tanh(w * k).sum() for k in range(20)]  # 20 batches, results kept
    print("with graphs:", len(alive))
    with torch.no_grad():
        outputs = [torch.tanh(w * k).sum() for k in range(20)]
    print("in no_grad:", len(alive))

# %% claim=true
with saved_tensors() as _alive:
    _outputs = [torch.tanh(w * k).sum() for k in range(20)]
    assert len(_alive) >= 20
    with torch.no_grad():
        _outputs = [torch.tanh(w * k).sum() for k in range(20)]
    assert len(_alive) == 0

# %% [markdown] side=true
# #### What is `inference_mode`? ({minutes} minutes)
#
# It goes further than `no_grad`: no graph can ever save what is made inside.
# Use it where results only go out.

# %% name="inference-mode"
w = torch.ones(3, requires_grad=True)
with torch.inference_mode():
    final = w * 2
with shows_error(RuntimeError, match="Inference tensors cannot be saved"):
    w * final
print("but a copy may be saved:", (w * final.clone()).requires_grad)

# %% claim=true
assert final.is_inference() and not final.requires_grad
assert (w * final.clone()).requires_grad and (w + final).requires_grad  # a sum saves nothing

# %% [markdown] name="parts"
# ## 9 Too many digits for the memory ({minutes} minutes)
#
# One graph at a time is all that training holds, but even one can be too large.
# `saved_bytes` counts what a graph saves, here that of your loss from section 4, for a hundred digits and for all 1,400 that you learn from.

# %% name="bytes-of-a-graph"
empty = torch.zeros(64, 10, requires_grad=True)
for rows in (known[:100], known):
    print(len(rows), "digits:", saved_bytes(lambda: wrongness(empty, rows)), "bytes")

# %% claim=true
_held = [saved_bytes(lambda: wrongness(empty, _rows)) for _rows in (known[:100], known)]
assert 13 < _held[1] / _held[0] < 15
assert 30 < 100e6 * _held[1] / len(known) / 1e9 < 45

# %% [markdown]
# Fourteen times the digits, fourteen times the memory. For a hundred million digits it would be more than 30 gigabytes.
#
# So take the digits in several **batches**. The graph of each is gone before the next one comes, and as `backward` adds to `.grad`, the gradients add up by themselves.
#
# They must add up to the right thing, though, and that is easy to get wrong.
# Suppose there are four digits, one with a loss of 5 and three with a loss of 1, and the first is a batch of its own.

# %% name="unequal-parts"
losses = torch.tensor([5.0, 1.0, 1.0, 1.0])
print("the mean of all four:     ", losses.mean().item())
print("the mean of the two means:", (5.0 + 1.0) / 2)
print("each batch by its share:  ", 5.0 * 1 / 4 + 1.0 * 3 / 4)

# %% claim=true
assert losses.mean() == 2 and (losses[:1].mean() + losses[1:].mean()) / 2 == 3
assert losses[:1].mean() * 1 / 4 + losses[1:].mean() * 3 / 4 == losses.mean()

# %% [markdown]
# A mean of means lets the one digit count for a half, although it is one of four. Its batch should count for a quarter, and the other for three quarters.
# A quarter of a loss has a quarter of its gradient, so it is enough to give each loss its share before `backward`.

# %% [markdown] side=true name="arrange-accumulate"
# #### Next comes `accumulate`: would you like its lines first, in disorder? ({minutes} minutes)
#
# The next exercise begins with a blank cell.
# Here is what may stand in it, line by line, with gaps and with two lines that are not needed.

# %%
from explorers import arrange

arrange("accumulate")

# %% [markdown]
# ### Exercise: `accumulate` ({minutes} minutes)
#
# Write it for any loss: let each batch count by its share of the rows.
# With 3, 3 and 2 rows, for example, these are the shares.

# %% name="shares-of-rows"
batches = torch.zeros(8, 64).split(3)
print([len(batch) / 8 for batch in batches])

# %% exercise="accumulate"
def accumulate(loss_fn, batches, params):
    """Return the gradients of the mean loss over all rows of all batches, one per parameter.

    With batches of 1 and 3 rows the first one counts for a quarter.

    batches: a list of tensors (rows, features), not all with equally many rows.
    loss_fn(batch): the mean loss over the rows of a batch; call it once per batch.
    params: a list of leaves that require grad, which loss_fn uses. What is in their .grad
    from before must not count; in the end the .grad of each holds its gradient too.
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

# %% mine=true
def not_in_parts(loss_fn, batches, params):
    loss_fn(torch.cat(batches)).backward()
    return [p.grad for p in params]


my_accumulate = mine("accumulate", not_in_parts)

# %% [markdown]
# Now the digits: once in three batches, and once all in one graph. Are the gradients the same, and what does the memory hold?

# %% name="digits-in-parts"
def loss_of(rows):
    return wrongness(empty, rows)


batches = known.split(500)  # 500, 500 and 400 digits
in_batches = my_accumulate(loss_of, batches, [empty])[0]
empty.grad = None
loss_of(known).backward()

print("largest difference:", (in_batches - empty.grad).abs().max().item())
for rows in (known, batches[0]):
    print(len(rows), "digits:", saved_bytes(lambda: loss_of(rows)), "bytes")

# %% claim=true
assert torch.allclose(in_batches, empty.grad, atol=1e-6)
assert [len(_batch) for _batch in batches] == [500, 500, 400]
_held = [saved_bytes(lambda: loss_of(_rows)) for _rows in (batches[0], known)]
assert 0.3 < _held[0] / _held[1] < 0.4  # 500 / 1400 is 0.357

# %% [markdown]
# The gradients differ by a trace of rounding at most, and the memory is about a third, because only one batch's graph is there at a time, however many there are.

# %% [markdown] side=true
# #### Which operations hold how much? ({minutes} minutes)
#
# That depends on what each backward rule needs: a sum nothing, a product both its operands.
# Saving copies nothing, it keeps alive; what fills the memory are the results in the middle, one for each step.

# %% figure=true
figures.saved_bytes(256)

# %% [markdown] side=true
# #### Four equal parts: what must each loss be divided by? ({minutes} minutes)
#
# *Predict.* Each loss is the mean over its 8 rows, and you want the gradient of the mean over all 32.

# %% predict=true
guess = 4  # a number

# %% name="micro-batches"
rows = torch.randn(32, 3, dtype=torch.float64)
w = torch.ones(3, dtype=torch.float64, requires_grad=True)
whole = torch.autograd.grad(((rows @ w - 1) ** 2).mean(), w)[0]
for part in rows.split(8):
    ((part @ w - 1) ** 2).mean().backward()
factor = (w.grad / whole).mean()  # the sum of four means
reveal(guess, round(factor.item(), 6))

# %% claim=true
assert not torch.allclose(w.grad, whole) and torch.allclose(w.grad / factor, whole)

# %% [markdown] name="detach"
# ## 10 Where no gradient should flow ({minutes} minutes)
#
# A gradient flows wherever the graph leads, and sometimes that is too far: into a tensor that somebody only lent you, for example.
# That is why the loop of section 6 began with `x.detach().clone().requires_grad_()`. It is long, and a copy alone might seem to be enough.
#
# *Predict.* Try it without `detach`: `copy = x.clone()`, then `(copy**2).sum().backward()`, at x = (1, 2). What is `x.grad`, None or two numbers?

# %% predict=true
guess = [2, 4]  # None, or a list of two numbers

# %% name="clone-alone"
x = torch.tensor([1.0, 2.0], requires_grad=True)
copy = x.clone()
(copy**2).sum().backward()
reveal(guess, x.grad)

# %% claim=true
assert x.grad.tolist() == [2.0, 4.0]

# %% [markdown] name="copy"
# Copying is a step like any other, and the graph leads through the copy back to x. `detach()` cuts that way.
# It copies nothing, however, so `clone()` is still needed, and what is cut off asks for no gradient until `requires_grad_()` makes it ask. So all three have their part.
#
# ### Exercise: `mean_square_grad` ({minutes} minutes)
#
# A function that others call should leave no trace in what it was given. Here is one to practice on: a mean of squares.
# For 3, 6 and 9 it is 42. Add a little to the 9, and you see what its derivative must be.

# %% name="mean-of-two-squares"
print(f"with 9.01 in place of 9: {(3**2 + 6**2 + 9.01**2) / 3:.2f}")  # 0.06 more, for 0.01

# %% claim=true
assert round((3**2 + 6**2 + 9.01**2) / 3, 2) == 42.06

# %% exercise="mean_square_grad"
def mean_square_grad(x):
    """Return the gradient of the mean of x ** 2 with respect to x, found by autograd.

    For x = torch.tensor([3.0, 6.0, 9.0]) it is [2.0, 4.0, 6.0].

    x: floats of any shape; the result has the shape and dtype of x, and no graph.
    x itself stays as it was: its values, its requires_grad and its .grad.
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    (copy**2).mean().backward()
    return copy.grad
    ### END SOLUTION


# %% check="mean_square_grad" points=1
check("mean_square_grad", mean_square_grad)

# %% [markdown] side=true
# #### Does yours agree with a formula? ({minutes} minutes)
#
# With a pencil the derivative of x ** 2 is 2 * x, and the mean of twelve numbers divides that by 12.
# Here is the first of four rows, by autograd and by the formula.

# %% mine=true
my_mean_square_grad = mine("mean_square_grad", lambda x: 2 * x / x.numel())

# %% name="mean-of-squares"
twelve = torch.randn(4, 3)
print("by autograd:", my_mean_square_grad(twelve)[0])
print("by formula: ", (2 * twelve / 12)[0])

# %% claim=true
assert torch.allclose(my_mean_square_grad(twelve), 2 * twelve / 12)

# %% [markdown]
# ### Two that meet halfway
#
# A blank picture is to become like your eight, as a pupil copies from a sheet. Both stand in one tensor, and `descend` makes them less different.

# %% name="pulling"
both = torch.stack([torch.zeros(64), ink[eight]])


def difference(both):
    blank, drawn = both
    return ((blank - drawn) ** 2).mean()


show_digits(both, says=["the blank", "the eight"])

# %% [markdown]
# *Predict.* After 100 steps, what has become of the eight: did it stay, or did it fade?

# %% predict=true
guess = "faded"  # "stayed" or "faded"

# %% name="pulled-together"
pulled = my_descend(difference, both, 3.0, 100)  # rate 3.0, 100 steps
show_digits(pulled, says=["the blank", "the eight"])
reveal(guess, "stayed" if torch.allclose(pulled[1], ink[eight]) else "faded")

# %% claim=true
assert torch.allclose(pulled[0], ink[eight] / 2, atol=0.03)
assert torch.allclose(pulled[1], ink[eight] / 2, atol=0.03)

# %% [markdown]
# They met halfway, at a ghost, because each was as free to move as the other.
# The eight should count as given, like a label. `detach` says so: no way leads back from its result, as you see when you try.

# %% name="detach-then-backward"
x = torch.ones(3, 4, requires_grad=True)
y = x.detach()
with shows_error(RuntimeError, match="does not require grad"):
    (y * 2).sum().backward()

# %% claim=true
assert not y.requires_grad and y.grad_fn is None and x.grad is None

# %% [markdown]
# ### Exercise: `stop_gradient_loss` ({minutes} minutes)
#
# The blank should move towards the eight, and never the eight towards the blank.
# In the plain loss, the gradient reaches b as well:

# %% name="held-still-example"
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 6.0], requires_grad=True)
((a - b) ** 2).mean().backward()
print("a:", a.grad, "  b, which should have none:", b.grad)

# %% exercise="stop_gradient_loss"
def stop_gradient_loss(a, b):
    """Return the mean squared difference of a and b, a scalar whose gradient reaches a only.

    For a = [1.0, 2.0] and b = [1.0, 4.0] the loss is 2.0 and the gradient of a [0.0, -2.0].

    a, b: tensors of the same shape, perhaps both requiring grad. b counts as a constant:
    after backward, neither b nor what b was computed from has a gradient. a and b stay as
    they were. `.data`, which old programs use for this, is not allowed.
    """
    ### BEGIN SOLUTION
    return ((a - b.detach()) ** 2).mean()
    ### END SOLUTION


# %% check="stop_gradient_loss" points=2
check("stop_gradient_loss", stop_gradient_loss)

# %% mine=true
my_stop_gradient_loss = mine("stop_gradient_loss", lambda a, b: F.mse_loss(a, b.detach()))

# %% [markdown]
# Once more, with yours:

# %% name="stop-gradient-used"
def only_the_blank(both):
    blank, drawn = both
    return my_stop_gradient_loss(blank, drawn)


pulled = my_descend(only_the_blank, both, 3.0, 100)
show_digits(pulled, says=["the blank", "the eight"])

# %% claim=true
assert torch.allclose(pulled[1], ink[eight])
assert torch.allclose(pulled[0], ink[eight], atol=0.03)

# %% [markdown]
# This time the eight stayed, and the blank came all the way.
#
# This is a good place for a break.

# %% [markdown] name="detach-uses" side=true
# #### Does `detach` copy, and where would it be a bug? ({minutes} minutes)
#
# *Predict.* After `y = x.detach()` and `y[0, 0] = 9`, what is `x[0, 0]`? It was 1.

# %% predict=true
guess = 9  # a number

# %% name="detach-shares-memory"
x = torch.ones(3, 4, requires_grad=True)
y = x.detach()
y[0, 0] = 9
reveal(guess, x[0, 0].item())

# %% claim=true
assert y.data_ptr() == x.data_ptr()
_separate = x.detach().clone()
_separate[0, 0] = -1
assert x[0, 0] == 9

# %% [markdown]
# Separate in the graph, shared in memory.
# If you mean a copy, write `detach().clone()`.

# %% [markdown]
# And where would a `detach` be a bug? Suppose one network, the generator, makes a picture, and another, the critic, learns to judge it.
# In the critic's step the picture counts as given; in the generator's step a `detach` would silently stop it from learning.

# %% name="detach-by-accident"
generator, critic = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
picture = generator * 3
(picture.detach() * critic).sum().backward()  # the critic's step, on purpose
print("the critic's step: generator", generator.grad, "critic", critic.grad)
(picture * critic).sum().backward()  # the generator's step; a detach here would be a bug
print("the generator's step: generator", generator.grad)

# %% claim=true
_generator, _critic = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
((_generator * 3).detach() * _critic).sum().backward()
assert _generator.grad is None and _critic.grad.tolist() == [3.0, 3.0]
assert generator.grad.tolist() == [3.0, 3.0]

# %% [markdown] name="sitting-3"
# # Third sitting: what breaks a gradient ({minutes} minutes, and {exercises} for the exercises)
#
# As before: run everything above first.

# %% [markdown] name="inplace"
# ## 11 What an in-place change can break ({minutes} minutes)
#
# In section 8 a square saved its x, and exp its result. What is saved is no copy but the tensor itself, and nothing keeps you from changing it in place before `backward` comes to use it. When does that do harm?
#
# *Predict.* `y = x**2`, then `y += 1`, then `y.backward()`. Does it run?

# %% predict=true
guess = True  # True or False

# %% name="square-then-add"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
y += 1
reveal(guess, runs(y.backward))
print("the gradient:", x.grad)

# %% claim=true
assert x.grad.tolist() == [4.0]

# %% [markdown]
# It runs, and 4 is right: the square saved x, and you changed y.
# With `exp` it is the other way round. Its node saved its *result*, y, and that is what you change here.

# %% name="break-exp"
x = torch.tensor([2.0], requires_grad=True)
y = x.exp()
y += 1
with shows_error(RuntimeError, match="modified by an inplace operation"):
    y.backward()

# %% claim=true
assert x.grad is None

# %% [markdown] name="what-was-saved-text"
# torch noticed, because each tensor counts how often it was changed in place. The message calls the count its version.
#
# So the rule is not "never change in place", but **do not change what a node saved.**
# And if you do not know what was saved, write `y = y + 1`: that makes a new tensor, and is safe after everything.
#
# There is one way past the counter, and you will meet it in old code: `.data` gives the numbers of a tensor, unwatched.
#
# *Predict.* `y = x**2` at x = 2, then `x.data.add_(1)`, then `y.backward()`. The right gradient is 4. What do you get?

# %% predict=true
guess = 6  # a number

# %% name="silent-data"
x = torch.tensor([2.0], requires_grad=True)
y = x**2
x.data.add_(1)  # not counted
y.backward()
reveal(guess, x.grad.item())

# %% claim=true
_x = torch.tensor([2.0], requires_grad=True)
_y = _x**2
_x.detach().add_(1)  # the same memory, and the same counter
assert _x._version == 1
with shows_error(RuntimeError, match="modified by an inplace operation"):
    _y.backward()

# %% [markdown]
# Six, and no error. Write `detach()` or `no_grad` instead, which are watched.

# %% [markdown] side=true
# #### How did torch notice the change, and what of a leaf that is changed in place? ({minutes} minutes)
#
# The node noted the tensor's version when it saved it, and `backward` compares.

# %% figure=true
figures.versions()

# %% [markdown]
# Each tensor has its count in `_version`.

# %% name="version"
y = torch.tensor([2.0], requires_grad=True).exp()
y += 1
y.mul_(2)
print("version:", y._version)
with shows_error(RuntimeError, match="is at version 2; expected version 0"):
    y.backward()

# %% claim=true
assert y._version == 2

# %% [markdown]
# A leaf that requires grad may not be changed at all while a graph is built.
# The error comes at once, at the change itself, and it is another one.

# %% name="leaf-in-place"
x = torch.tensor([2.0], requires_grad=True)
z = x * 3
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    x.mul_(2)
z.backward()  # the graph is unharmed
print(x.grad)

# %% claim=true
assert x.item() == 2 and x.grad.item() == 3

# %% [markdown]
# ### Exercise: `predict_grad_state` ({minutes} minutes)
#
# When a gradient is missing, the rules in your head find the reason faster than a debugger does.
# Here are six small programs; in each, x is 3 and requires grad. Which of them stop with an error, and what is in `.grad` in the end?
#
# ```
# twice       y = x ** 2;  y.backward();  y.backward()
# rebound     x = x - 1;  (x ** 2).backward()
# middle      h = x * 3;  (h ** 2).backward()               # .grad of h
# detached    y = x.detach() ** 2;  y.backward()
# on_leaf     x.mul_(2);  (x ** 2).backward()
# after_exp   y = x.exp();  y += 1;  y.backward()
# ```
#
# The first two, run:

# %% name="left-behind-example"
x = torch.tensor(3.0, requires_grad=True)
y = x**2
y.backward()
print("twice:   raises:", not runs(y.backward), " leaf:", x.is_leaf, " grad:", x.grad)

x = torch.tensor(3.0, requires_grad=True)
x = x - 1
print("rebound: raises:", not runs((x**2).backward), " leaf:", x.is_leaf)

# %% claim=true
assert not x.is_leaf
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    assert x.grad is None

# %% [markdown]
# In "twice", the first `backward` put 2 * 3 = 6 into `x.grad`, and let go of what the square had saved. The second one raised an error, and the 6 stayed.
# In "rebound", the name x went to a result. A result is no leaf, so `backward` ran, but the new x keeps no `.grad`.
#
# These rules decide the others, and the six more that the exercise asks for:
#
# | what happens | what follows |
# |---|---|
# | a step gives a result | it is no leaf, and keeps no `.grad`, unless `retain_grad()` asked it to before `backward` |
# | `backward` again | on the same result it fails if something was saved, as by a square; otherwise it adds |
# | `detach` | nothing behind it gets a gradient; if nothing else requires grad, `backward` fails |
# | a result is changed in place | `backward` fails if that result was saved |
# | a leaf that requires grad is changed in place | that fails at once, except in `no_grad` |

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
# ### Bug hunt
#
# Three small programs about gradients.
# The first two stop with errors that you know. The third runs, and one of its results is wrong.
# Change as little as you can.
#
# ### Exercise: `fix_inplace` ({minutes} minutes)
#
# Run the exercise's cell, call `fix_inplace(torch.tensor([0.0, 1.0]))`, read the message, fix it, and run again.
# When there are no more errors, compare with what you find by hand.

# %% name="bugs-by-hand"
print("exp(x) + 1 at 0 and 1 has the gradient", torch.tensor([0.0, 1.0]).exp())

# %% exercise="fix_inplace"
### BEGIN STARTER
# def fix_inplace(x):
#     """Run three small programs on x, a float tensor, and return their results in a dict.
#
#     "exp_grad": the gradient of sum(exp(x) + 1) at x.
#     "stepped": x after one step of gradient descent on sum(x ** 2) with rate 0.1.
#     "square_grad": the gradient of sum((3 * x) ** 2) at x, and "report": 3 * x, cut off
#     above 1. All four have the shape of x and no graph; x stays as it was.
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
    """Run three small programs on x, a float tensor, and return their results in a dict.

    "exp_grad": the gradient of sum(exp(x) + 1) at x.
    "stepped": x after one step of gradient descent on sum(x ** 2) with rate 0.1.
    "square_grad": the gradient of sum((3 * x) ** 2) at x, and "report": 3 * x, cut off
    above 1. All four have the shape of x and no graph; x stays as it was.

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

# %% [markdown] side=true
# #### After which operations may I change the result in place? ({minutes} minutes)
#
# After those whose rule does not need it.
#
# *Predict.* Of these six, for how many does `y = f(x); y += 1; y.sum().backward()` run?
# exp, sigmoid, relu: the rule uses the result. Square, sin, times 3: it uses the operand, or a constant.

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


six = (torch.exp, torch.sigmoid, torch.relu, torch.square, torch.sin, lambda x: x * 3)
print([survives(f) for f in six])
reveal(guess, sum(survives(f) for f in six))

# %% claim=true
_result_saved = (torch.exp, torch.sigmoid, torch.relu, torch.tanh, torch.sqrt)
_others = (torch.square, torch.sin, lambda x: x * 3, lambda x: x + 5)
assert not any(survives(_f) for _f in _result_saved) and all(survives(_f) for _f in _others)

# %% [markdown]
# With `y = y + 1` the node still has its own.

# %% name="out-of-place"
x = torch.tensor([2.0], requires_grad=True)
y = x.exp()
y = y + 1  # a new tensor
y.backward()
print(x.grad)

# %% claim=true
assert torch.allclose(x.grad, x.detach().exp())

# %% [markdown] name="traps"
# ## 12 A gradient that is nan ({minutes} minutes)
#
# A gradient can also break without an error, and without anybody having changed anything.
# One nan in it is enough: after one step, each weight that it reached is nan, and so is the next loss.
#
# It often comes from where you thought you had been careful.
#
# *Predict.* `torch.where(x > 0, torch.log(x), 0)` at x = 0 gives 0, since the logarithm is not taken there. What is its gradient?

# %% predict=true
guess = "nan"  # a number or "nan"

# %% name="where-outside"
x = torch.tensor([0.0, 1.0], requires_grad=True)
y = torch.where(x > 0, torch.log(x), 0.0)
y.sum().backward()
print("values:", y.detach(), " gradients:", x.grad)
reveal(guess, "nan" if x.grad[0].isnan() else x.grad[0].item())

# %% claim=true
assert y.tolist() == [0.0, 0.0] and x.grad[1] == 1

# %% [markdown]
# The value is fine, and the gradient is nan.
# The logarithm was computed all the same. On the way back `where` sends it a 0, and its rule multiplies that by 1 / x, which is infinite: 0 times infinity is nan.
#
# Cleaning the result comes too late. No bad number may get *into* the dangerous function, so put a harmless 1 in its place first.

# %% name="where-inside"
x = torch.tensor([0.0, 1.0], requires_grad=True)
harmless = torch.where(x > 0, x, 1.0)
torch.log(harmless).sum().backward()
print(x.grad)

# %% claim=true
assert x.grad.tolist() == [0.0, 1.0]

# %% [markdown] side=true
# #### And the square root? ({minutes} minutes)
#
# The same trap waits there, and a small eps under the root keeps it shut.
# Anomaly mode names the step that made the nan.

# %% name="sqrt-at-zero"
x = torch.tensor([0.0], requires_grad=True)
root, with_eps = torch.sqrt(x), torch.sqrt(x + 1e-8)
for text, y in (("sqrt", root), ("times 0", torch.sqrt(x) * 0), ("eps", with_eps)):
    print(f"{text:8}", torch.autograd.grad(y, x)[0].item())

anomaly = torch.autograd.set_detect_anomaly(True, check_nan=True)
with anomaly, warnings.catch_warnings(), shows_error(RuntimeError, match="nan"):
    warnings.simplefilter("ignore")  # a long print of where in the forward pass
    (torch.sqrt(x) * 0).backward()

# %% claim=true
assert torch.autograd.grad(torch.sqrt(x), x)[0].item() == math.inf
assert torch.autograd.grad(torch.sqrt(x) * 0, x)[0].isnan()
assert torch.autograd.grad(torch.sqrt(x + 1e-8), x)[0].isfinite()

# %% [markdown] side=true
# #### And a gradient that is 0 everywhere, or none at all? ({minutes} minutes)
#
# Mistakes could not be counted in place of a loss, because a count goes up in steps.
# `torch.round` goes up in steps too; ask it for a gradient all the same.
#
# *Predict.* What is the gradient of `torch.round(x).sum()` for three numbers x: an error, or three numbers? If numbers, which?

# %% predict=true
guess = [0, 0, 0]  # a list of three numbers, or "error"

# %% name="round"
x = torch.tensor([0.3, 1.7, 2.5], requires_grad=True)
torch.round(x).sum().backward()
reveal(guess, x.grad)

# %% claim=true
assert torch.round(x).grad_fn.name() == "RoundBackward0"

# %% [markdown]
# A staircase is flat nearly everywhere, so every derivative is 0. Nothing learns, and nothing complains.
#
# `argmax` is louder. Its whole numbers cannot require grad, so `backward` refuses; the *value* of the largest can be differentiated.

# %% name="argmax"
x = torch.tensor([0.3, 1.7, 2.5], requires_grad=True)
print("the place requires grad:", x.argmax().requires_grad, x.argmax().dtype)
with shows_error(RuntimeError, match="does not require grad"):
    x.argmax().backward()
print("the value:", torch.autograd.grad(x.amax(), x)[0])

# %% claim=true
assert x.argmax().dtype == torch.int64 and not x.argmax().requires_grad
assert torch.autograd.grad(x.amax(), x)[0].tolist() == [0.0, 0.0, 1.0]

# %% [markdown] side=true
# #### What is the slope of relu at 0? ({minutes} minutes)
#
# `relu` is 0 below 0 and x above; neural networks use it everywhere.
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
slopes = {text: torch.autograd.grad(f(x).sum(), x)[0].tolist() for text, f in spellings.items()}
for text, values in slopes.items():
    print(f"{text:20}", values)
reveal(guess, slopes["clamp(x, min=0)"][1])

# %% claim=true
assert all((_slopes[0], _slopes[2]) == (0, 1) for _slopes in slopes.values())
assert [_slopes[1] for _slopes in slopes.values()] == [0, 0, 0.5, 0.5, 1]

# %% figure=true
figures.relus()

# %% [markdown] name="vjp-text"
# ## 13 Which pixels tell a four from a nine? ({minutes} minutes)
#
# That is a question about two of the ten scores. But from several numbers `backward` refuses to start: one may shrink where another grows.

# %% name="needs-scalar"
x = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)
with shows_error(RuntimeError, match="only for scalar outputs"):
    (x * 2).backward()

# %% [markdown]
# So make one number of them: add them up, and say how much each counts.
#
# A small function has the outputs 3 * x0 and x1 * x2.
# Let the first count once and the second ten times: 3 * x0 + 10 * x1 * x2.
#
# *Predict.* What is the gradient of that sum at x = (1, 2, 5)?

# %% predict=true
guess = [3, 50, 20]  # a list of three numbers

# %% name="vjp-run"
def two_outputs(x):
    return torch.stack([3 * x[0], x[1] * x[2]])


v = torch.tensor([1.0, 10.0])
(product,) = torch.autograd.grad(two_outputs(x), [x], grad_outputs=v)
reveal(guess, product)

# %% claim=true
_table = torch.autograd.functional.jacobian(two_outputs, x)
assert torch.equal(torch.tensor([1.0, 10.0]) @ _table, product)

# %% [markdown]
# You need not write the sum yourself: `grad_outputs=v` says how much each output counts.
#
# Each output has a gradient of its own. Below each other they are a table, the **Jacobian**:
#
# ```
# 3 * x0          3   0   0      counts once
# x1 * x2         0   5   2      counts ten times
#                -----------
# added up        3  50  20
# ```
#
# To add up the rows in this way is the product of v and the table, a **vector-Jacobian product**.
# The table itself is never built; for a million inputs and outputs no memory would hold it.
#
# ### Exercise: `vjp` ({minutes} minutes)
#
# Write it for any function, and then ask about the four and the nine.
# The squares of 1 and 2, for example, have the gradients (2, 0) and (0, 4). Counted once and ten times, that is

# %% name="vjp-example"
table = torch.tensor([[2.0, 0.0], [0.0, 4.0]])  # the gradients of 1 ** 2 and of 2 ** 2
print(torch.tensor([1.0, 10.0]) @ table)

# %% exercise="vjp"
def vjp(f, x, v):
    """Return v times the Jacobian of f at x, in the shape of x and without a graph.

    f takes x and returns a tensor y of any shape; v has the shape of y. Entry i of the
    result is the sum over all j of v_j * dy_j / dx_i. x may require grad or not; it stays
    as it was, .grad included, and so does v.

    For f(x) = x ** 2, x = [1.0, 2.0] and v = [1.0, 10.0] the result is [2.0, 40.0].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(copy), copy, grad_outputs=v)[0]
    ### END SOLUTION


# %% check="vjp" points=3
check("vjp", vjp)

# %% mine=true
my_vjp = mine("vjp", lambda f, x, v: torch.autograd.functional.vjp(f, x, v)[1])

# %% [markdown]
# Now let v be 1 for the score of the four, -1 for that of the nine, and 0 for the rest.

# %% name="vjp-used"
four = unseen[labels[unseen] == 4][0]  # the first in the drawer
nine = unseen[labels[unseen] == 9][0]

v = torch.zeros(10)
v[4], v[9] = 1.0, -1.0
decides = my_vjp(lambda digit: digit @ pictures, ink[four], v)
show_digits([ink[four], ink[nine], decides], says=["a four", "a nine", "tells them apart"])

# %% claim=true
assert torch.allclose(decides, pictures[:, 4] - pictures[:, 9], atol=1e-4)

# %% [markdown]
# Red along the bar in the middle, where the four has most of its ink; blue at the top, where the nine is closed and the four is open.

# %% [markdown] side=true
# #### Why must a loss be one number? ({minutes} minutes)
#
# Because then its v is 1, and everything else follows.
# Each node of the graph knows such a product for its own step: a product passes on what arrives times the other factor, a sum passes it on, a square multiplies by 2 times the operand.
# It is also why one backward pass serves all parameters, while each further output needs another pass.

# %% name="node-rules"
a, b = torch.tensor(3.0, requires_grad=True), torch.tensor(5.0, requires_grad=True)
arrives = torch.tensor(7.0)
for text, result in (("a * b", a * b), ("a + b", a + b)):
    print(text, [number.item() for number in torch.autograd.grad(result, (a, b), arrives)])
print("a ** 2", torch.autograd.grad(a**2, (a,), arrives)[0].item())
print("a node is a function; call it:", [number.item() for number in (a * b).grad_fn(arrives)])

# %% claim=true
assert torch.autograd.grad(a * b, (a, b), arrives) == (35, 21)
assert torch.autograd.grad(a + b, (a, b), arrives) == (7, 7)
assert torch.autograd.grad(a**2, (a,), arrives) == (42,)

# %% [markdown] name="excursions"
# # Excursions, for those who want more ({minutes} minutes)
#
# Nothing later needs these. Each ends in an exercise for extra credit.

# %% [markdown] name="safe-log-text"
# ## A logarithm that survives zero ({minutes} minutes)
#
# ### Exercise: `safe_log_where` (stretch, extra credit, {minutes} minutes)
#
# Data contain zeros, and a logarithm must not be spoiled by them, neither its value nor its gradient.
# At 1, 0 and -2, yours gives 0, 0 and 0, and the gradient of their sum is 1, 0 and 0.

# %% name="log-of-zero"
print("torch's:", torch.log(torch.tensor([1.0, 0.0, -2.0])))

# %% exercise="safe_log_where"
def safe_log_where(x):
    """Return log(x) where x > 0 and 0 elsewhere, with a gradient that is finite everywhere.

    x: floats of any shape, also 0 and negative ones, never nan; the result has its dtype. The
    gradient is 1 / x where x > 0 and 0 elsewhere. x itself stays as it was.

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
# ## A step of your own ({minutes} minutes)
#
# A new step is a class with two static methods.
# `forward` computes, and saves in `ctx`, the node's own bag, what the rule will need.
# `backward` gets what arrives at the result and returns one gradient for each input, or None.

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
print(x.grad)

# %% claim=true
assert x.grad.tolist() == [120.0, 30.0]  # 10 * 3 * x ** 2

# %% [markdown]
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
(slopes_of_sum,) = torch.autograd.grad(Forgetful.apply(x).sum(), x)
reveal(guess, torch.equal(slopes_of_sum, 3 * x.detach() ** 2))

# %% [markdown]
# Right by luck, because for a sum what arrives is 1.
# So test a rule with something else behind it, here a product with 10.
# `torch.autograd.gradcheck` compares the rule with nudging, in float64, because nudges need the digits.

# %% name="gradcheck-times-ten"
def ten_times(x):
    return Forgetful.apply(x) * 10


print("it passes:", torch.autograd.gradcheck(ten_times, x, raise_exception=False))

# %% claim=true
assert torch.autograd.gradcheck(Cube.apply, x)
assert not torch.autograd.gradcheck(ten_times, x, raise_exception=False)

# %% [markdown]
# ### Exercise: `LeakyClamp` (stretch, extra credit, {minutes} minutes)
#
# A clamp kills the gradient of everything outside; this one lets a little through, and the little can itself be learned.
# With 0 and 1 as limits and a slope of 0.1, 0.5 stays, and 3 sticks out by 2.
# Four inputs, so `backward` returns four things.
# `ctx.needs_input_grad` is a tuple of booleans, one for each input; plain numbers may be kept as attributes of `ctx`.

# %% name="leaky-example"
clamped = torch.tensor(3.0).clamp(0.0, 1.0)
print("clamped:", clamped.item(), " with the leak:", clamped.item() + 0.1 * 2)

# %% exercise="LeakyClamp"
### BEGIN STARTER
# class LeakyClamp(torch.autograd.Function):
#     """Limit x to low..high, and let `slope` times what sticks out through.
#
#     LeakyClamp.apply(x, low, high, slope) is x inside, low + slope * (x - low) below
#     and high + slope * (x - high) above. x: floats of any shape; low, high: floats;
#     slope: a scalar tensor, which may require grad, as x may. backward gives the
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
    slope: a scalar tensor, which may require grad, as x may. backward gives the
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
# ## Second derivatives ({minutes} minutes)
#
# With `create_graph=True` the backward pass gets a graph too, so that you can go back through it.
#
# *Predict.* x ** 3 has the derivative 3 * x ** 2, which is 27 at x = 3. What is the second derivative there?

# %% predict=true
guess = 18  # a number

# %% name="second-derivative"
x = torch.tensor(3.0, requires_grad=True)
(first,) = torch.autograd.grad(x**3, x, create_graph=True)
(second,) = torch.autograd.grad(first, x)
reveal(guess, second.item())

# %% claim=true
assert first == 27 and first.requires_grad
_plain = torch.autograd.grad(x**3, x)[0]
with shows_error(RuntimeError, match="does not require grad"):
    torch.autograd.grad(_plain, x)

# %% [markdown]
# With n inputs there are n * n second derivatives, the **Hessian**.
# Its product with a vector v, one more backward pass, says how the gradient changes when x moves along v.

# %% name="hessian-along-v"
def bowl_of(x):
    return (x[0] ** 2) * x[1] + x[1] ** 3


x, v = torch.tensor([[1.0, 2.0], [0.5, -1.0]], dtype=torch.float64)
hessian = torch.autograd.functional.hessian(bowl_of, x)
print(hessian, hessian @ v, sep="\n")

# %% claim=true
_slope_at = lambda _p: torch.autograd.functional.jacobian(bowl_of, _p)
_moved = (_slope_at(x + nudge * v) - _slope_at(x - nudge * v)) / (2 * nudge)
assert hessian.tolist() == [[4.0, 2.0], [2.0, 12.0]] and torch.allclose(_moved, hessian @ v)

# %% [markdown]
# ### Exercise: `hessian_vector_product` (stretch, extra credit, {minutes} minutes)
#
# Optimizers that feel the curvature use this product.
# It takes two backward passes: the first with `create_graph=True`, the second with v.

# %% name="curvature-example"
hessian = torch.tensor([[6.0, 0.0], [0.0, 12.0]])  # of the sum of x ** 3 at 1 and 2
print(hessian @ torch.tensor([1.0, 10.0]))

# %% exercise="hessian_vector_product"
def hessian_vector_product(f, x, v):
    """Return the Hessian of f at x times v, in the shape of x and without a graph.

    f takes x and returns a scalar; v has the shape of x. f is called at x alone, and
    differentiated twice. The full Hessian is never built: two backward passes are
    enough, however many entries x has. x and v stay as they were, .grad included.

    For f(x) = (x ** 3).sum(), x = [1.0, 2.0] and v = [1.0, 10.0] the result is [6.0, 120.0].
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad(grad, copy, grad_outputs=v.detach())[0]
    ### END SOLUTION


# %% check="hessian_vector_product" extra=3
check("hessian_vector_product", hessian_vector_product)

# %% [markdown] name="trace-det-inverse-text" side=true
# #### Where are trace, determinant and inverse? ({minutes} minutes)
#
# In `torch.linalg`, with the rest of what a course of linear algebra asks for.

# %% name="trace-det-inverse"
s = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
print(s.trace().item(), torch.linalg.det(s).item(), torch.linalg.inv(s), sep="\n")
with shows_error(RuntimeError, match="singular"):
    torch.linalg.inv(torch.ones(2, 2))  # has no inverse

# %% claim=true
assert s.trace() == 5 and torch.allclose(torch.linalg.det(s), torch.tensor(5.0))
assert torch.allclose(s @ torch.linalg.inv(s), torch.eye(2), atol=1e-6)

# %% [markdown] name="engine"
# ## Your own engine ({minutes} minutes)
#
# An engine for single numbers fits on a page.
# The one difficulty is the order: a node must wait until all that flows into it has arrived.
#
# *Predict.* `h = a * b`, `out = h + h * h`. How many times does the product a * b stand in the graph that `show_graph` prints?

# %% predict=true
guess = 3  # a number

# %% name="order-matters"
a, b = torch.tensor(2.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
h = a * b
out = h + h * h
show_graph(out, a=a, b=b)
reveal(guess, 3)

out.backward()
print("with respect to a:", a.grad.item())

# %% claim=true
_steps = [out.grad_fn.next_functions, out.grad_fn.next_functions[1][0].next_functions]
assert sum(_node is h.grad_fn for _step in _steps for _node, _ in _step) == 3
assert a.grad == 3 * (1 + 2 * 6)  # all three, each once

# %% [markdown]
# Three routes lead from `out` to h, and h must not pass anything on before all three have arrived.
# So list each node after the nodes it was made from, and go through the list from its end.
#
# ### Exercise: `Value` (stretch, extra credit, {minutes} minutes)
#
# The starter says what a Value keeps; you write the rules and the backward pass.
# The derivative of t = tanh(x) is 1 - t * t.
# Take care: h may be part of two results, and what the first backward pass left in its grad must not leak into the second.

# %% name="engine-example"
a = torch.tensor(3.0, requires_grad=True)
(a * a).backward()
print(a.grad, "one 3 for each factor")

# %% exercise="Value"
### BEGIN STARTER
# class Value:
#     """A number that knows how it was made, and a backward that goes through its graph.
#
#     Value(2.0) has data 2.0 and grad 0.0. a + b, a * b and a.tanh() give new Values (a
#     and b are Values, perhaps the same one). result.backward() adds to the grad of every
#     Value that the result was made from the derivative of the result by that Value;
#     result.grad becomes 1.0. A Value may be used several times, on several paths, and in
#     several results one after another; backward is called once for each result. The rules
#     and the backward pass are your own: torch's autograd has no part in them.
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
    """A number that knows how it was made, and a backward that goes through its graph.

    Value(2.0) has data 2.0 and grad 0.0. a + b, a * b and a.tanh() give new Values (a
    and b are Values, perhaps the same one). result.backward() adds to the grad of every
    Value that the result was made from the derivative of the result by that Value;
    result.grad becomes 1.0. A Value may be used several times, on several paths, and in
    several results one after another; backward is called once for each result. The rules
    and the backward pass are your own: torch's autograd has no part in them.

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
# # Recap ({minutes} minutes)
#
# When a gradient is not what it should be, ask in this order.
#
# | you see | look at |
# |---|---|
# | `.grad` is None | `is_leaf`? `requires_grad`? does the loss depend on it? a `detach` on the way? |
# | `.grad` is too large | cleared before this pass? |
# | "does not require grad" | nothing behind the result requires grad: `no_grad`, `detach`, whole numbers, a forgotten `requires_grad` |
# | "a second time" | an old graph; do the forward pass again |
# | "modified by an inplace operation" | the message names the step that saved it |
# | "a leaf Variable" | the update stands outside `no_grad` |
# | nan | `log`, `sqrt` or a division at 0, behind a `where` |
# | zeros | `round`, comparisons, a flat place |

# %% [markdown] name="progress-text"
# `progress(2)` shows what you have passed in this chapter, and `progress()` in all.

# %% name="progress"
progress(2)

# %% [markdown] name="questions-1-4"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Why does `.grad` add up, and what must a training loop do about it?
# 2. What is `no_grad` for, and what is `detach` for?
# 3. Where does `item` belong, and where not?
# 4. Why may you change a square's result in place, and not that of `exp`?
#
# <details><summary>Answers</summary>
#
# 1. Each `backward` is one more route into the leaf, and routes add up, so that a large batch can be run in parts. A loop must clear it before each pass.
# 2. `no_grad` is for a block of code that no `backward` will follow: an evaluation, or an update by hand. `detach` is for one tensor that should count as given.
# 3. In logs, since a number holds no graph; and for the same reason never on the way to the loss.
# 4. The square saved its operand, `exp` its result.
#
# </details>

# %% [markdown] name="interview-text" side=true
# #### Why would you switch `requires_grad` off for a parameter? ({minutes} minutes)
#
# (A question from interviews.)
# To **freeze** it: when a trained model gets a new last layer, the first layers stay as they are.
# They get no gradient, and torch need not save what only their gradients would use.

# %% name="interview-freeze"
body, head = torch.randn(4, 4, requires_grad=True), torch.randn(4, 1, requires_grad=True)
data = torch.randn(100, 4)
training = saved_bytes(lambda: (data @ body @ head).sum())
body.requires_grad_(False)
frozen = saved_bytes(lambda: (data @ body @ head).sum())
(data @ body @ head).sum().backward()
print("saved while training all:", training, "bytes; with a frozen body:", frozen)

# %% claim=true
assert body.grad is None and head.grad is not None and frozen < training

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "Autograd mechanics";
# Paszke and others, "Automatic differentiation in PyTorch" (2017);
# Baydin and others, "Automatic differentiation in machine learning: a survey" (2018);
# Griewank and Walther, "Evaluating Derivatives" (2008).
#
# You handed the ten pictures from function to function. With ten layers that becomes unbearable, and chapter 3 begins with the remedy.
