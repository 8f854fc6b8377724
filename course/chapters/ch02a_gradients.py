# %% [markdown] name="opening"
# # Chapter 2a: Gradients
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *There are 640 numbers. Which way should each of them move?*
#
# In chapter 1 ten average pictures read nine digits out of ten.
# Now you begin with ten empty pictures, 640 zeros, and ask of each number: if it were a little larger, would the pictures read better or worse?
# You move each number a little in the better direction, and ask again.
# After 200 rounds the ten pictures read 94 digits in 100, and nobody drew them.
#
# The answer to such a question is a derivative.
# **Autograd** is the part of PyTorch that finds it, for 640 numbers or for a billion, and all training rests on it.
# Here you learn to
#
# 1. get a gradient with `backward`, and check it by hand
# 2. walk downhill with it, one number at a time or 640
# 3. ask which pixels decide how a digit is read
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import math
import torch
import torch.nn.functional as F
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch02 as figures
from course.instruments import show_digits, show_graph

_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("2a")

# %% [markdown]
# Here are the ten pictures on their way from nothing. Red counts for a digit, and blue against it; each row has a scale of its own.

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="record"
# ## 1 One number, one slope
#
# *{minutes} minutes*
#
# Ten pictures of 64 pixels make 640 numbers. Begin with a model of two, w and b, small enough to check with a pencil.
# It predicts `w * x + b`.
# With w = 2 and b = 1 it says 7 for x = 3, and the right answer is 10, so it is off by 3.
# Its **loss** says how wrong it is. Here the loss is the squared error, 9.
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
# The model multiplies w by x = 3, so if you add a little to w, three times as much arrives at the prediction.
# Then comes the square. The prediction is 3 too small, so the loss squares -3. Add a little to it, such as 0.001:
#
# ```
# (-3 + 0.001) ** 2   =   9  -  6 * 0.001  +  0.001 ** 2
# ```
#
# The last part is next to nothing, so the square changes by -6 times what you added.
# It is so for every number s, and any little h, since `(s + h) ** 2` is `s ** 2 + 2 * s * h + h ** 2`: **the square of s changes 2 * s times as much as s does.**
#
# On its way the change is multiplied by 3, and then by -6, so together by 3 * (-6) = -18.
# This is the derivative of the loss **with respect to** w.
#
# A change of b arrives at the prediction as it is, so the derivative with respect to b is 1 * (-6) = -6.
# Both derivatives together are called the **gradient**.
#
# To nudge each of 640 numbers would be slow, because each nudge needs a computation of its own.
# To follow the factors is quick, but you would have to do it by hand, again for each new formula.
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
# A gradient gives you a direction.
# Its sign says which way the loss grows, so a small step the other way makes the loss smaller.
# Here w takes a step of a hundredth of its gradient, to either side.

# %% name="downhill"
step = 0.01 * w.grad.item()  # -0.18
print(f"against the gradient, w = {2 - step:.2f}: the loss is {loss_at(2 - step, 1):.2f}")
print(f"where we are,         w = {2:.2f}: the loss is {loss_at(2, 1):.2f}")
print(f"with the gradient,    w = {2 + step:.2f}: the loss is {loss_at(2 + step, 1):.2f}")

# %% claim=true
with torch.no_grad():
    assert loss_at(w - 0.01 * w.grad, b) < loss_at(w, b) < loss_at(w + 0.01 * w.grad, b)

# %% [markdown]
# Training is no more than that: find out which way is down, take a small step, ask again.

# %% [markdown] name="flag-path" side=true
# #### Which tensors can require grad?
#
# *{minutes} minutes*
#
# Those of floats, since a whole number cannot be a little larger.
# The flag is off unless you switch it on; `requires_grad_()` does that later, in place.

# %% name="flag"
x = torch.ones(3)
print("to begin with:", x.requires_grad)
x.requires_grad_()  # the underscore: in place
print("switched on:", x.requires_grad)
with shows_error(RuntimeError, match="floating point"):
    torch.tensor([1, 2], requires_grad=True)

# %% claim=true
assert x.requires_grad is True and x.requires_grad_(False).requires_grad is False

# %% [markdown] name="worked-text"
# ## 2 How a gradient goes back
#
# *{minutes} minutes*
#
# From w to the loss there was only one path. A model uses each number in many places, so the paths branch and meet.
# Follow them with a pencil once, and you will see why gradients add up.
#
# Take `loss = ((x * y) + x) ** 2` at x = 4 and y = 2.
# Forward, in small steps: z = x * y = 8, then s = z + x = 12, then loss = s ** 2 = 144.
#
# *Predict.* You add a little to x, or to y. Which of the two moves the loss more?

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
_first, _second = (torch.tensor(4.0, requires_grad=True) for _ in range(2))  # a leaf for each path
_loss = (_first * 2.0 + _second) ** 2
_loss.retain_grad()
_loss.backward()
assert _loss.grad == 1 and _first.grad == 48 and _second.grad == 24 and 48 + 24 == x.grad
_nudged = ((4 + nudge) * 2 + (4 + nudge)) ** 2 - ((4 - nudge) * 2 + (4 - nudge)) ** 2
assert abs(_nudged / (2 * nudge) - 72) < 1e-3

# %% [markdown]
# It is y, although x is used twice. Where do 72 and 96 come from?
# In the picture, the forward pass is blue, from left to right, and the **backward pass** orange, from right to left.

# %% figure=true
figures.graph(4.0, 2.0)

# %% [markdown]
# Begin with a 1 at the loss, and follow the orange numbers back, step by step. Each step asks: if you add a little to its input, how many times as much comes out?
#
# 1. The square, s ** 2: it has the factor 2 * s = 24, so 24 arrives at s.
# 2. The sum, s = z + x: it has the factor 1 for both, so 24 goes on to z, and 24 to x.
# 3. The product, z = x * y: for x it has the factor y, so 24 * 2 = 48 goes on to x.
# 4. And for y it has the factor x, so 24 * 4 = 96 goes on to y.
#
# The **chain rule** says: multiply the factors along the path.
# Two numbers have arrived at x, 48 by way of the product and 24 directly.
# A change of x takes both paths at once, so they add up: 72.

# %% [markdown] name="graph-text"
# With the pencil you knew the formula. But `loss` is a single number, and does not show how it was made. How does `loss.backward()` find the way back?
# While you compute, torch builds a **graph**: one node for each step, with links to the nodes before it, down to the tensors that you began with, the **leaves**.
# On the way back, `backward` follows these links from node to node, as you did with the orange numbers.

# %% [markdown] side=true
# #### What does the graph look like?
#
# *{minutes} minutes*
#
# `show_graph` prints the graph. From top to bottom it has the steps in the order of the backward pass: the power, the sum, the product.
# A leaf appears as `AccumulateGrad`, which adds what arrives to `.grad`. For x it is printed twice, because two paths lead there.

# %% name="walk-the-graph"
show_graph(loss, x=x, y=y)

# %% claim=true
def _names(node):
    below = [name for each, _ in node.next_functions for name in _names(each)]
    return [node.name().split("::")[-1], *below]


assert _names(loss.grad_fn)[:3] == ["PowBackward0", "AddBackward0", "MulBackward0"]
assert _names(loss.grad_fn)[3:] == ["AccumulateGrad"] * 3  # x, y, and x once more

# %% [markdown]
# ### Exercise: `grad_by_hand`
#
# *{minutes} minutes*
#
# Take the pencil once more, for (x + y) * z, a sum and then a product.
# First another one, x * z + x with z = 4: if x grows by 1, the product grows by 4 and the last x by 1, together by 5.

# %% name="by-hand-example"
print(2 * 4 + 2, "and with one more in x:", 3 * 4 + 3)

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

# %% [markdown] name="stepper-text" side=true
# #### Does autograd agree with you?
#
# *{minutes} minutes*
#
# Press Next in the **autograd stepper**: first the values go forward, then the derivatives go back.
# (As in chapter 1, `my_grad_by_hand` is your function once its check has passed.)

# %% mine=true
def by_one_more(x, y, z):
    """How much more comes out for one more in x, then in y, then in z."""
    here = (x + y) * z
    return (x + 1 + y) * z - here, (x + y + 1) * z - here, (x + y) * (z + 1) - here


my_grad_by_hand = mine("grad_by_hand", by_one_more)

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
# #### May my model contain `if` and loops?
#
# *{minutes} minutes*
#
# Yes, because torch builds the graph anew each time, while your code runs.
# So `if`, loops and recursion shape it, and `print` works in the middle.
# (TensorFlow 1 went the other way: it built the graph first and ran it later.)

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
# #### Do data and labels get a gradient?
#
# *{minutes} minutes*
#
# No, unless you ask for it.
# With the sizes of houses and a weight for them, for example, you want to change the weight, not the houses.
# One operand that requires grad is enough for a graph, since the result changes with it. If no operand does, torch builds no graph at all.

# %% name="one-tracked-is-enough"
sizes, weight = torch.tensor([60.0, 85.0, 120.0]), torch.tensor(2.5, requires_grad=True)
print("sizes + 1:     ", (sizes + 1).grad_fn)
print("sizes * weight:", (sizes * weight).grad_fn.name())

# %% claim=true
assert (sizes + 1).grad_fn is None and not (sizes + 1).requires_grad
assert (sizes * weight).requires_grad

# %% [markdown] name="leaf-text"
# After `backward`, a leaf has a `.grad` if it requires grad and the loss depends on it; one that plays no part keeps None.
# (The layers of chapter 3 ask for gradients of their own weights by themselves.)
# (And `backward` can start from several numbers at once, if `gradient=` says how much each counts.)

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

# %% name="scalar-or-weights"
v = torch.ones(3, requires_grad=True)
(v * 2).backward(gradient=torch.tensor([1.0, 1.0, 10.0]))
print("three outputs, the last counting ten times:", v.grad)

used, unused = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
(used * 2).backward()  # shape (1,): one element will do
print("used:", used.grad, " unused:", unused.grad)

# %% claim=true
assert v.grad.tolist() == [2.0, 2.0, 20.0] and used.grad.item() == 2 and unused.grad is None

# %% [markdown] name="how-wrong"
# ## 3 Ten pictures keep score
#
# *{minutes} minutes*
#
# Now the digits, with ink from 0 to 1.
# You learn from 1,400 of them. The other 397 stay in a drawer, so that you can test how well the pictures read new digits.
# (The folded cell brings two functions of chapter 1 that section 4 needs.)

# %% mine=true
my_softmax_stable = mine("softmax_stable", torch.softmax)
my_one_hot = mine("one_hot", lambda labels, k: F.one_hot(labels, k).float())

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
# The sum is a **score**: where the picture is positive, ink raises the score, and where it is negative, ink lowers it.
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
# ## 4 The price of a mistake
#
# *{minutes} minutes*
#
# But suppose the right answer is the second. How wrong are the two pictures then?
# To count mistakes is too coarse: change one number a little, and the count stays what it was, so no nudge tells which way is better.
# You need a number that moves with every score. You get it in two steps: turn the scores into shares, and put a price on the share of the right answer.
#
# ### From scores to shares
#
# Stay with two pictures, one for each class, and let the first be ahead by some points. **Softmax** turns the two scores into shares:

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
# Softmax gives each class a weight, exp of its score, and each share is a weight divided by the sum of all weights.
# (exp of s is 2.718 to the power of s.) It takes exp because a weight must be positive, whatever the score, and because one more point should always have the same effect: it multiplies the weight by 2.7.
# So only differences count: the scores 102 and 100 give the same shares as 2 and 0.
#
# ### What a share costs
#
# The loss looks at one share alone, that of the right answer. A share of 1 costs nothing, and the nearer the share is to 0, the more it costs, because it should be expensive to be sure and wrong:

# %% name="cost-of-a-share" figure=true
figures.cost_of_a_share()

# %% [markdown]
# *Predict.* Each time the share is halved, the cost rises by the same amount. A half costs 0.69, a quarter 1.39. What does an eighth cost?

# %% predict=true
guess = 2.08  # a number with two decimals

# %% name="an-eighth"
for share in (1, 1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 100):
    print(f"a share of {share:<6} costs {math.log(1 / share):.2f}")
reveal(guess, round(math.log(8), 2))

# %% claim=true
assert [round(math.log(_n), 2) for _n in (2, 4, 8, 16, 100)] == [0.69, 1.39, 2.08, 2.77, 4.61]
_shares = my_softmax_stable(scores, dim=0)
assert [round(_loss, 2) for _loss in (-_shares.log()).tolist()] == [0.13, 2.13]
assert round(_shares[1].item(), 2) == 0.12
assert torch.allclose(-(_shares / 2).log() + _shares.log(), torch.tensor(math.log(2)))

# %% [markdown]
# The logarithm is the function that falls by the same amount at each halving. So the cost is minus the log of the share, which is the same as the log of 1 / share.
#
# Now you can say how wrong the two pictures are. With the scores 2 and 0 the second has a share of 0.12, a little less than an eighth. So they pay 2.13 if the second is right, and only 0.13 if the first is.
#
# For ten pictures and all known digits, one matrix product, (1400, 64) @ (64, 10), gives all scores, and the loss is the mean of the costs:

# %% name="wrongness"
truth = my_one_hot(labels, 10)  # (1797, 10), a 1 for the true class


def wrongness(pictures):
    """How badly ten pictures (64, 10) read the known digits; 0 would be perfect."""
    shares = my_softmax_stable(ink[known] @ pictures, dim=1)
    right = (shares * truth[known]).sum(dim=1)  # the share of the true class
    return -right.log().mean()

# %% [markdown]
# *Predict.* With ten empty pictures every score is 0, so each class gets a tenth. What is the loss?

# %% predict=true
guess = 2.3  # a number with one decimal

# %% name="empty-pictures"
pictures = torch.zeros(64, 10, requires_grad=True)
loss = wrongness(pictures)
reveal(guess, round(loss.item(), 1))

# %% claim=true
assert abs(loss - math.log(10)) < 1e-5

# %% [markdown] name="all-at-once"
# ## 5 All 640 at once
#
# *{minutes} minutes*
#
# Now you ask 640 questions with one call: if the number at this place in this picture were a little larger, how would the loss change?

# %% name="gradient-pictures"
loss.backward()
print(pictures.grad.shape)
show_digits(-pictures.grad.T, says=range(10))

# %% claim=true
assert pictures.grad.shape == (64, 10)

# %% [markdown]
# Nobody drew these. They are the 640 derivatives, with the sign turned so that they point downhill: red where the number should be larger, blue where it should be smaller.
# And yet you see a zero with its hole, a three, a seven, because the loss falls most if a picture's number grows where its own digit has ink and the others have none.
#
# Take one step that way, and test on the drawer. First, how well do the empty pictures read?

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
# About one in ten: all scores are equal, `argmax` takes the first of them, and so calls every digit a zero.
#
# The step is the gradient times a number that you choose, the **learning rate**; here it is 1.
# (The step itself needs no gradient, so it is computed outside the graph: `detach()` gives the same numbers without it.)
#
# *Predict.* Suppose you mix up the sign, and take the step *uphill*. How many digits in a hundred do the pictures read then?

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
# Downhill they read most of the digits, uphill hardly any.
#
# What did the 640 answers cost? One pass forward and one backward. A million numbers would take no more passes, and that is why networks can be as large as they are.

# %% [markdown] side=true
# #### Can I check one of the 640?
#
# *{minutes} minutes*
#
# Nudge it up and down, and compute the loss both times. For all 640 that would be 1,280 computations, and each result is only nearly right.

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

# %% [markdown] name="why-backward" side=true
# #### Do two layers need more than one pass?
#
# *{minutes} minutes*
#
# No. Here are 121 numbers in two layers; `tanh` squeezes a number into -1 to 1 (chapter 3 says what for).
# After one pass forward and one backward all 121 derivatives are there, because each step has its own rule, and the chain rule joins them.

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
# You can also derive a formula by hand. It is the same backward pass.

# %% name="two-layers-by-hand"
w1, b1, w2, b2 = (p.detach() for p in params)
hidden = torch.tanh(inputs @ w1 + b1)  # (8, 10)
at_output = 2 * (hidden @ w2 + b2 - targets) / len(targets)  # (8, 1)
at_tanh = at_output @ w2.T * (1 - hidden**2)  # (8, 10)
formulas = (inputs.T @ at_tanh, at_tanh.sum(0), hidden.T @ at_output, at_output.sum(0))
print([torch.allclose(formula, p.grad) for formula, p in zip(formulas, params, strict=True)])

# %% claim=true
assert all(torch.allclose(formula, p.grad) for formula, p in zip(formulas, params, strict=True))

# %% [markdown] side=true
# #### What if a billion paths lead back?
#
# *{minutes} minutes*
#
# If you double a number 30 times by `y = y + y`, 2 ** 30 paths lead from the end back to x.
#
# Yet `backward` visits each node once, after it has added up all that arrives there.
# So the cost of `backward` is a small multiple of the cost of the forward pass, however many paths there are.

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


print("steps and gradient:", steps_of_backward(30))

# %% claim=true
assert [steps_of_backward(_n)[0] for _n in (30, 60)] == [30, 60]
assert steps_of_backward(30)[1] == 2.0**30

# %% [markdown] name="accumulates"
# ## 6 A step, and another
#
# *{minutes} minutes*
#
# (If it is late, this is a good place to stop for tonight.)
# One step was enough to read most of the digits, and more steps should do better.
# Many steps in a row are **gradient descent**. Each step changes the gradient, so autograd finds it anew, and then two things can go wrong.
#
# *Predict.* The derivative of x ** 2 at x = 2 is 4. You run `(x**2).backward()` twice, as you would for two steps. What is `x.grad`?

# %% predict=true
guess = 8  # a number

# %% name="four-then-eight"
x = torch.tensor([2.0], requires_grad=True)
(x**2).backward()
print("once:", x.grad)
(x**2).backward()
reveal(guess, x.grad.item())

# %% [markdown]
# `backward` **adds** to `.grad`; it never replaces it. In section 2 the 48 and the 24 of two paths added up at x. torch treats a second backward pass in the same way.
# So a loop that does not clear `.grad` follows the sum of all gradients since the beginning, like someone who still obeys every order ever given.

# %% figure=true
figures.accumulation(4)

# %% [markdown]
# So clear it before each pass, with `x.grad = None`.
#
# The second thing is the step. It changes the leaf in place, and torch refuses.

# %% name="update-refused"
w = torch.tensor(1.0, requires_grad=True)
(w**2).backward()
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    w -= 0.1 * w.grad

# %% [markdown] name="update"
# It refuses because whatever you compute with w goes into the graph, whereas a step should stay outside: you want a new value in w, not a longer graph.
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
# It is the same leaf, with a new value.
#
# So each round has three parts: clear, go back, step. Try them first where you can do it in your head, on the parabola x ** 2.
# Its slope at x is 2 * x. Begin at x = 1, with a learning rate of 0.25: the slope is 2, so the step is 0.25 * 2 = 0.5, and it takes you to 0.5.
#
# *Predict.* Where are you after the second step?

# %% predict=true
guess = 0.25  # a number

# %% name="descend-example"
x = torch.tensor([1.0], requires_grad=True)
for _ in range(2):
    x.grad = None
    (x**2).backward()
    with torch.no_grad():
        x -= 0.25 * x.grad
    print(x.item())
reveal(guess, x.item())

# %% claim=true
assert x.item() == 0.5**2

# %% [markdown]
# Each step takes away half of x, so you come as near to the bottom, at 0, as you like.

# %% [markdown] side=true
# #### Does `.grad` exist before the first `backward`?
#
# *{minutes} minutes*
#
# No, it is None. So to set it to zero in place you need a test, and to set it to None you need none.

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
# ## 7 Ten pictures from nothing
#
# *{minutes} minutes*
#
# Now take the same three parts with 640 numbers in place of one, `wrongness` in place of the parabola, and a learning rate of 1.
# Look at the pictures after 1, 5, 20 and 200 steps.

# %% name="two-hundred-steps"
pictures = torch.zeros(64, 10, requires_grad=True)
for step in range(1, 201):
    pictures.grad = None
    wrongness(pictures).backward()
    with torch.no_grad():
        pictures -= 1.0 * pictures.grad
    if step in (1, 5, 20, 200):
        now = pictures.detach()
        print(f"step {step:3}: loss {wrongness(now):.2f}, in the drawer {accuracy(now):.0%}")
        show_digits(now.T, says=range(10))

pictures = pictures.detach()  # they have learned, and need no more gradients

# %% claim=true
assert 0.92 < accuracy(pictures) < 0.98 and wrongness(pictures) < 0.25

# %% [markdown]
# They learned.
# After the first step they are still like averages: red where this digit has more ink than the others, and blue where it has less.
# Then they look less and less like digits, because they only have to *tell digits apart*.
#
# You have just seen the loop. In section 8 it will move a digit and not the pictures, so put it into a function that moves anything.
#
# Call it `descend`. It gets a starting point x0, and x0 must stay as it was, although your steps are made in place.
# So let it begin with `x = x0.detach().clone().requires_grad_()`: this tensor is cut off from x0, has numbers of its own, and asks for its own gradient.

# %% [markdown] side=true name="arrange-descend"
# #### Would you like the lines of `descend`, shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell.
# Here are the lines for it in another order, with gaps, and with two that it does not need.

# %%
from explorers import arrange

arrange("descend")

# %% [markdown]
# ### Exercise: `descend`
#
# *{minutes} minutes*
#
# Write your own function for gradient descent on any f.
# On the parabola, for example, two steps from 1 with rate 0.25 lead to 0.25, as in section 6.

# %% exercise="descend"
def descend(f, x0, lr, steps):
    """Return where gradient descent on f arrives from x0: `steps` times x = x - lr * gradient.

    f takes a tensor and returns a scalar. The result has the shape and dtype of x0, memory of
    its own (also for steps=0), and no graph. x0 stays as it was: values, requires_grad, .grad.
    At each step f is called on a leaf, so that no graph reaches back into an earlier step.

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
def new_leaf_each_step(f, x, lr, steps):
    """The same walk, as the lesson takes it: each step ends in a new leaf."""
    for _ in range(steps):
        x = x.detach().requires_grad_()
        x = x - lr * torch.autograd.grad(f(x), [x])[0]
    return x.detach()


my_descend = mine("descend", new_leaf_each_step)

# %% [markdown] name="turned-around"
# ## 8 Which pixels decide?
#
# *{minutes} minutes*
#
# Now turn the question around. Here is an eight from the drawer, which the pictures read correctly.

# %% name="an-eight"
says = (ink[unseen] @ pictures).argmax(dim=1)
read_as_eights = unseen[(says == 8) & (labels[unseen] == 8)]
eight = read_as_eights[8]  # one of them
show_digits(ink[eight])

# %% claim=true
assert labels[eight] == 8 == (ink[eight] @ pictures).argmax() and eight in unseen

# %% [markdown]
# Which of its pixels would have to change, so that the pictures read a three?
# The gradient with respect to the *digit* tells you.
#
# ### Exercise: `grad_of`
#
# *{minutes} minutes*
#
# You only want to look at this gradient, so nothing should stay in `.grad`. And the digit is not yours, so begin as in `descend`, with a tensor that is cut off from x.
# `torch.autograd.grad(result, [x])` returns the gradients, in a tuple, and writes to no `.grad`. Like `backward`, it begins at a single number; if f gives several, take their sum.
# For (3 * x + 1) ** 2 at x = 2, for example, the square has the factor 2 * 7 and 3 * x + 1 the factor 3. Together they make 42.

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

    For f = torch.sin and x = torch.zeros(2) the result is [1.0, 1.0].

    - f takes a tensor of the shape of x and returns a tensor; if that holds more than one
      number, differentiate their sum.
    - x may require grad or not. It stays as it was: values, requires_grad, .grad.
    - No .grad changes anywhere, also not that of another tensor that f uses.
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
# It is bluest on the left, where the loops of an eight are closed and a three is open: less ink there opens them.
#
# What if you follow it until the pictures read a three? In the next cell `descend` takes one step after the other.
# Before you run it: will the digit look like a three to you?

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
# The ten pictures do not see what we see. They multiply and add up, so it is enough to change the pixels with the largest factors until the sum tips. Whether the whole still looks like an eight plays no part.
# They even accept less ink than none: the blue pixels in the middle picture.

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can get a gradient with `backward`, and check it with a pencil or a nudge.
# You can walk downhill with it: clear, go back, and take the step outside the graph.
# And you can ask for the gradient of an input, which says how much each of its numbers matters.
# `progress(2)` shows what you have passed in chapter 2, and `progress()` in all.

# %% name="progress"
progress(2)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Why does `.grad` add up, and what must a training loop do about it?
# 2. Why does the step stand in `no_grad`?
# 3. What does the gradient with respect to a digit tell you?
#
# <details><summary>Answers</summary>
#
# 1. Each `backward` is one more path into the leaf, and paths add up. A loop must clear `.grad` before each pass.
# 2. What you compute with a leaf goes into the graph; the step should only change its value.
# 3. How the loss changes when a pixel gets a little more ink, for each of the 64.
#
# </details>

# %% [markdown]
# Next comes *Chapter 2b: Graphs*: what torch keeps in memory so that it can go back, and for how long.
