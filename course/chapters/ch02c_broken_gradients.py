# %% [markdown] name="opening"
# # Chapter 2c: Broken gradients
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Why is this gradient wrong, and why did nobody say so?*
#
# In chapters 2a and 2b the gradients came out right. But some mistakes stop `backward` with an error, and others give wrong numbers without a word. Here you learn to
#
# 1. tell which changes in place break a gradient
# 2. say where a nan comes from, and keep it out
# 3. get gradients where the result is several numbers
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises, apart from one for extra credit. After the end, for another evening, come one exercise of {later} minutes and three for extra credit.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import math
import warnings
import torch
import torch.nn.functional as F
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch02 as figures
from course.instruments import runs, saved_bytes, show_digits, show_graph

_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("2c")

# %% [markdown]
# Here is `torch.sqrt(x) * 0`, which is 0 for every x from 0 upward, and beside it the gradient that torch gives. At x = 0 that is nan, "not a number". Section 2 says why.

# %% name="first-page" figure=true
figures.nan_at_zero()

# %% [markdown] name="inplace"
# ## 1 Changes in place
#
# *{minutes} minutes*
#
# In chapter 2b a square saved its x, and exp its result. A node saves the tensor itself, not a copy, and nothing stops you from changing it in place before `backward` uses it. When does that do harm?
#
# *Predict.* You run `y = x**2`, then `y += 1`, then `y.backward()`. Does the last line run without an error?

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
_y = x.exp()
_y = _y + 1  # a new tensor: the node still has the one that it saved
_y.backward()
assert torch.allclose(x.grad, x.detach().exp())

# %% [markdown] name="what-was-saved-text"
# torch noticed, because each tensor counts how often it was changed in place. The message calls the count its version.

# %% figure=true
figures.saved_by()

# %% [markdown]
# So the rule is not "never change in place", but **do not change what a node saved, before `backward` has used it.**
# And if you do not know what was saved, write `y = y + 1`: that makes a new tensor, and is safe after any operation.
#
# There is a way past the counter, and you will meet it in old code: `.data` gives you the numbers of a tensor, and torch does not count what you do with them.
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
# Six, and no error: when `backward` came, the saved x was 3, and 2 * 3 is 6. Take `detach()` in place of `.data`: then torch counts the change, and `backward` stops with the error above.

# %% [markdown] side=true
# #### Can I see the count, and may I change a leaf?
#
# *{minutes} minutes*
#
# You can: for a tensor y it is `y._version`. The node notes it when it saves the tensor, and `backward` compares.

# %% figure=true
figures.versions()

# %% [markdown]
# While torch builds a graph, you may not change a leaf that requires grad at all.
# The error comes at once, at the change itself, and it is a different one.

# %% name="leaf-in-place"
x = torch.tensor([2.0], requires_grad=True)
z = x * 3
with shows_error(RuntimeError, match="a leaf Variable that requires grad"):
    x.mul_(2)
z.backward()  # the graph is unharmed
print(x.grad)

# %% claim=true
assert x.item() == 2 and x.grad.item() == 3

# %% [markdown] name="bug-hunt"
# ### Bug hunt
#
# Here are three small programs. Two stop with errors that you know, one of them from chapter 2a. The third runs, and one of its results is wrong.
# Change as little as you can.
#
# ### Exercise: `fix_inplace`
#
# *{minutes} minutes*
#
# Run the exercise's cell, call `fix_inplace(torch.tensor([0.0, 1.0]))` in a new cell, read the message, fix it, and run both again.
# When there are no more errors, compare the results with those in the docstring.

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
# #### After which operations may I change the result in place?
#
# *{minutes} minutes*
#
# After those whose backward rule does not need the result.
#
# *Predict.* For how many of these six does `y = f(x); y += 1; y.sum().backward()` run?

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
# For three of them. The rules of exp, sigmoid and relu use the result; those of square, sin and times 3 use the operand, or a constant.

# %% [markdown] name="traps"
# ## 2 A gradient that is nan
#
# *{minutes} minutes*
#
# A gradient can also break without an error, although nothing was changed in place.
# See it happen to the ten pictures of chapter 2a. The folded cells bring the digits, the loss, and your `descend`.

# %% name="digits" known=true
# the digits; wrongness(pictures): how badly ten pictures read them
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
order = torch.randperm(1797, generator=torch.Generator().manual_seed(seed))
known, unseen = order[:1400], order[1400:]


def wrongness(pictures):
    """How badly ten pictures (64, 10) read the known digits; 0 would be perfect."""
    shares = torch.softmax(ink[known] @ pictures, dim=1)
    right = shares[range(1400), labels[known]]  # from each row the share of the true class
    return -right.log().mean()

# %% mine=true name="learning"
def new_leaf_each_step(f, x, lr, steps):
    """Gradient descent, where each step ends in a new leaf."""
    for _ in range(steps):
        x = x.detach().requires_grad_()
        x = x - lr * torch.autograd.grad(f(x), [x])[0]
    return x.detach()


my_descend = mine("descend", new_leaf_each_step)

# %% [markdown]
# Suppose somebody wants the numbers in the pictures to stay small, so that no single pixel decides alone. Then the pictures' size must cost something: square all 640 numbers, add up, take the root, and add a hundredth of that to the loss.
#
# *Predict.* The pictures begin as zeros. How many of the 640 gradients are nan?

# %% predict=true
guess = 640  # a whole number

# %% name="pictures-lost"
def with_size(pictures, eps=0.0):
    """The loss of chapter 2a, and a hundredth of the pictures' size."""
    return wrongness(pictures) + 0.01 * ((pictures**2).sum() + eps).sqrt()


empty = torch.zeros(64, 10, requires_grad=True)
loss = with_size(empty)
loss.backward()
after = empty.detach() - 1.0 * empty.grad  # one step
print(f"the loss: {loss.item():.2f}, after one step: {with_size(after).item()}")
reveal(guess, empty.grad.isnan().sum().item())

# %% claim=true
assert loss.isfinite() and with_size(after).isnan() and after.isnan().all()

# %% [markdown]
# All of them. The loss was an ordinary 2.30, and yet a single step has turned all ten pictures into nan.
#
# Why? The pictures are 0, so the root is taken of 0, where its slope is infinite. The squares before it have the slope 2 * 0 = 0. The chain rule multiplies the two, and **0 times infinity is nan.**
# (In the picture at the top, the 0 comes from `* 0`, and meets the infinite slope of the root.)
#
# A tiny eps under the root is enough: at 1e-8 its slope is 5,000. That is large, but finite, and 0 times 5,000 is 0. With it the pictures learn.

# %% name="ten-pictures"
pictures = my_descend(lambda p: with_size(p, eps=1e-8), torch.zeros(64, 10), 1.0, 200)
says = (ink[unseen] @ pictures).argmax(dim=1)
print(f"in the drawer: {(says == labels[unseen]).float().mean().item():.0%}")
show_digits(pictures.T, says=range(10))

# %% claim=true
assert 0.92 < (says == labels[unseen]).float().mean() < 0.98
assert round(1 / (2 * math.sqrt(1e-8))) == 5000

# %% [markdown]
# ### A nan behind `where`
#
# A nan often comes from a line that was meant to keep it out, as from this `where`, which stands there because of log(0).
#
# *Predict.* `torch.where(x > 0, torch.log(x), 0.0)` at x = 0 gives 0, since `where` picks the other value. What is its gradient?

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
# torch computed the logarithm at 0 all the same. On the way back `where` sends it a 0, and the logarithm's rule multiplies that by 1 / x, which is infinite: 0 times infinity once more.
#
# So it is too late to clean the result. Keep bad numbers *out of* the dangerous function: put a harmless 1 in their place first. (The log of 1 is 0, just the value that we want.)

# %% name="where-inside"
x = torch.tensor([0.0, 1.0], requires_grad=True)
harmless = torch.where(x > 0, x, 1.0)
torch.log(harmless).sum().backward()
print(x.grad)

# %% claim=true
assert x.grad.tolist() == [0.0, 1.0]

# %% [markdown] name="safe-log-text"
# ### Exercise: `safe_log_where`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Make the last cell a function. It must hold for negative numbers too, for which torch's log is nan; look whether yours needs a change for that. (It is for extra credit: you may go on to section 3.)
# At 1, 0 and -2 your function gives 0, 0 and 0, and the gradient of their sum is 1, 0 and 0.

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

# %% [markdown] side=true
# #### Which step made the nan?
#
# *{minutes} minutes*
#
# In a long program you may not see the place. Then let torch look for it: in **anomaly mode** `backward` stops at the step that made the nan, and names it.

# %% name="anomaly"
with torch.autograd.set_detect_anomaly(True), warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a long print of where in the forward pass
    with shows_error(RuntimeError, match="PowBackward0"):
        with_size(empty).backward()

# %% claim=true
_zero = torch.tensor([0.0], requires_grad=True)
assert torch.autograd.grad(torch.sqrt(_zero), _zero)[0].item() == math.inf
assert torch.autograd.grad(torch.sqrt(_zero) * 0, _zero)[0].isnan()
assert torch.autograd.grad(torch.sqrt(_zero + 1e-8), _zero)[0].isfinite()

# %% [markdown]
# It is `pictures**2`, where the 0 met the infinity of the root. Anomaly mode is slow, so switch it on only to search.

# %% [markdown] side=true
# #### When is a gradient 0 everywhere?
#
# *{minutes} minutes*
#
# In chapter 2a you could not count mistakes in place of a loss, because a count goes up in steps.
# `torch.round` goes up in steps too. Ask it for a gradient all the same.
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
# `argmax` is louder. Its whole numbers cannot require grad, so `backward` refuses. But the *value* of the largest has a gradient.

# %% name="argmax"
x = torch.tensor([0.3, 1.7, 2.5], requires_grad=True)
print("the place requires grad:", x.argmax().requires_grad, x.argmax().dtype)
with shows_error(RuntimeError, match="does not require grad"):
    x.argmax().backward()
print("the value:", torch.autograd.grad(x.amax(), x)[0])

# %% claim=true
assert not (x > 0).float().sum().requires_grad
assert x.argmax().dtype == torch.int64 and not x.argmax().requires_grad
assert torch.autograd.grad(x.amax(), x)[0].tolist() == [0.0, 0.0, 1.0]

# %% [markdown] side=true
# #### What is the slope of relu at 0?
#
# *{minutes} minutes*
#
# `relu` is 0 below 0 and x above; neural networks use it everywhere.
# At 0 its slope jumps from 0 to 1, and no number from 0 to 1 is wrong there; each is a **subgradient**.
# torch picks one of them. Which one depends on how you write the function. Here are five ways, with three answers:

# %% name="five-relus" figure=true
figures.relus()

# %% [markdown] name="vjp-text"
# ## 3 A four or a nine?
#
# *{minutes} minutes*
#
# Which pixels tell a four from a nine? Take one of each from the drawer, and ask for the gradient of the four's ten scores.

# %% name="needs-scalar"
four = unseen[labels[unseen] == 4][0]  # a four from the drawer
nine = unseen[labels[unseen] == 9][0]

digit = ink[four].clone().requires_grad_()
scores = digit @ pictures
with shows_error(RuntimeError, match="only for scalar outputs"):
    scores.backward()

# %% [markdown]
# `backward` refuses to start from several numbers, unless you say how much each counts. Each score has a gradient of its own, and torch does not know which one you want.
# What speaks for the four and against the nine is one number: the score of the four minus that of the nine.

# %% name="four-or-nine"
(scores[4] - scores[9]).backward()
show_digits([ink[four], ink[nine], digit.grad], says=["a four", "a nine", "tells them apart"])

# %% claim=true
assert torch.allclose(digit.grad, pictures[:, 4] - pictures[:, 9], atol=1e-4)

# %% [markdown]
# Red pixels speak for the four, and blue ones for the nine: red along the bar of the four, below the middle, and blue at the top, where the nine is closed and the four is open.
#
# You have made one number of ten: the score of the four counted 1, that of the nine -1, and the other eight 0.
# autograd takes such a list of weights directly, as `grad_outputs` (in `backward` it is called `gradient`), and that is what it works with inside, at every step.
#
# Take a small function with the outputs 3 * x0 and x1 * x2, and let the first count once and the second ten times.
#
# *Predict.* What is the gradient of `3 * x0 + 10 * x1 * x2` at x = (1, 2, 5)?

# %% predict=true
guess = [3, 50, 20]  # a list of three numbers

# %% name="vjp-run"
def two_outputs(x):
    return torch.stack([3 * x[0], x[1] * x[2]])


x = torch.tensor([1.0, 2.0, 5.0], requires_grad=True)
v = torch.tensor([1.0, 10.0])
(product,) = torch.autograd.grad(two_outputs(x), [x], grad_outputs=v)
reveal(guess, product)

# %% claim=true
_table = torch.autograd.functional.jacobian(two_outputs, x)
assert torch.equal(torch.tensor([1.0, 10.0]) @ _table, product)

# %% [markdown]
# Each output has a gradient of its own. Stacked, they form a table, the **Jacobian**:
#
# ```
#                x0  x1  x2
# 3 * x0          3   0   0      counts once
# x1 * x2         0   5   2      counts ten times
#                -----------
# added up        3  50  20
# ```
#
# If you add up the rows in this way, you get the product of v and the table, a **vector-Jacobian product**.
# `backward` never builds the table. For a million inputs and a million outputs it would take 4 terabytes.
#
# ### Exercise: `vjp`
#
# *{minutes} minutes*
#
# Write a function that gives this product for any f. Then ask it about the four and the nine.

# %% exercise="vjp"
def vjp(f, x, v):
    """Return v times the Jacobian of f at x, in the shape of x and without a graph.

    For f(x) = x ** 2, x = [1.0, 2.0] and v = [1.0, 10.0] the result is [2.0, 40.0].

    - f takes x and returns a tensor y of any shape; v has the shape of y.
    - Entry i of the result adds up, over all outputs, v times the derivative by entry i of x.
    - x may require grad or not; it stays as it was, .grad included, and so does v.
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
# Give it the ten scores, with 1 for the four and -1 for the nine. It must find what `backward` found, and for these ten pictures that is picture 4 minus picture 9.

# %% name="vjp-used"
v = torch.zeros(10)
v[4], v[9] = 1.0, -1.0
decides = my_vjp(lambda digit: digit @ pictures, ink[four], v)
for other in (digit.grad, pictures[:, 4] - pictures[:, 9]):
    print(torch.allclose(decides, other, atol=1e-4))

# %% claim=true
assert torch.allclose(decides, digit.grad, atol=1e-4)
assert torch.allclose(decides, pictures[:, 4] - pictures[:, 9], atol=1e-4)

# %% [markdown] side=true
# #### Why must a loss be one number?
#
# *{minutes} minutes*
#
# Because `backward` begins with a weight for each output. For a single output the weight is 1, so you need not say it; for several, torch cannot guess.
# Each node of the graph knows such a product for its own step: the node of a product multiplies what arrives by the other factor, that of a sum passes it on, that of a square multiplies it by 2 times the operand.
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

# %% [markdown] name="checklist"
# ## What you can do now
#
# *{minutes} minutes*
#
# You can say which changes in place break a gradient, and where a nan comes from, and you can get a gradient where the result is several numbers.
# When a gradient is not what it should be, go through this table from the top.
#
# | you see | look at |
# |---|---|
# | `.grad` is None | `requires_grad`? does the loss depend on it? a `detach` on the way? or a result, no leaf (`x.is_leaf` tells)? |
# | `.grad` is too large | cleared before this pass? |
# | "does not require grad" | nothing behind the result requires grad: `no_grad`, `detach`, whole numbers, comparisons, a forgotten `requires_grad` |
# | "a second time" | an old graph; do the forward pass again |
# | "modified by an inplace operation" | what a node had saved was changed in place; "output 0 of Exp" means: it was the result of `exp` |
# | "a leaf Variable" | the update stands outside `no_grad` |
# | nan | `log`, `sqrt` or a division at 0, even behind a `where` or a `* 0`; `torch.autograd.set_detect_anomaly(True)` names the step |
# | zeros | `round`, a flat place (a side path of section 2) |
#
# `progress(2)` shows what you have passed in chapter 2.

# %% name="progress"
progress(2)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions-1-4"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. Why may you change a square's result in place, and not that of `exp`?
# 2. `where` chose the good value. Why is the gradient nan all the same?
# 3. `backward` refuses to start from ten scores. What do you have to say first?
#
# <details><summary>Answers</summary>
#
# 1. The square saved its operand, `exp` its result.
# 2. On the way back, the other function multiplies the 0 from `where` by an infinite slope.
# 3. How much each of them counts.
#
# </details>

# %% [markdown] name="next"
# Next comes *Chapter 3a: Modules*. You handed the ten pictures from function to function. With more of them that is tedious, and a module keeps them for you.
#
# Here the sitting ends, and chapter 2 with it. What follows can wait for another evening: no later lesson needs it. If you want all 10 points of this notebook, do section 4, which has 4 of them; the rest is extra credit.

# %% [markdown] name="left-behind"
# ## 4 Where is the gradient?
#
# *{minutes} minutes*
#
# You call `backward`, and `.grad` is None, or twice as large as it should be. The folded lesson and the table in the exercise say why; open the lesson first.

# %% [markdown] name="middle" side=true
# #### What is the gradient in the middle?
#
# *{minutes} minutes*
#
# Take `h = x * 3`, then `(h**2).backward()`, at x = 2. The backward pass reaches h with the derivative 2 * h = 12.
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
# Only leaves keep their gradient. In the middle torch drops it, to save the memory.
# If you call `retain_grad()` before `backward`, torch keeps it.
#
# You can lose a leaf without noticing, as in `torch.randn(3, requires_grad=True) * 0.1`: the name that you hold is the result, and its `.grad` stays None.

# %% name="retain-grad"
h = x * 3
h.retain_grad()
(h**2).backward()
print("kept:", h.grad)

scaled = torch.randn(3, requires_grad=True) * 0.1
right = (torch.randn(3) * 0.1).requires_grad_()  # first compute, then ask for gradients
print("a leaf:", scaled.is_leaf, right.is_leaf)

# %% claim=true
_other = x * 3
assert h.grad == 12 and torch.autograd.grad(_other**2, _other)[0] == 12
assert not scaled.is_leaf and right.is_leaf

# %% [markdown]
# ### Exercise: `predict_grad_state`
#
# *{minutes} minutes*
#
# Here are two small programs. In each, x is 3 and requires grad. Which of them stops with an error, and what is in `.grad` in the end?
#
# ```
# twice       y = x ** 2;  y.backward();  y.backward()
# rebound     x = x - 1;  (x ** 2).backward()
# ```

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
# In "twice", the first `backward` put 2 * 3 = 6 into `x.grad`, and let go of the tensor that the square had saved. The second one raised an error, and the 6 stayed.
# In "rebound", `x = x - 1` gives the name x to a new tensor, a result. `backward` ran, but a result is no leaf: the new x keeps no `.grad`.
#
# The exercise asks for ten more. These rules decide them:
#
# | what happens | what follows |
# |---|---|
# | an operation makes a tensor | it is no leaf, and keeps a `.grad` only if you call `retain_grad()` before `backward` |
# | `backward` again | on the same result it fails if something was saved, as by a square; otherwise it adds to `.grad` |
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
    Work by the rules, without torch; a dict with one entry for each name will do.

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

# %% [markdown] name="interview-text" side=true
# #### Why would you switch `requires_grad` off for a parameter?
#
# *{minutes} minutes*
#
# (A question from interviews.)
# To **freeze** it: when a trained model gets a new last layer, the first layers stay as they are.
# They get no gradient, and torch need not save the tensors that only their gradients would need.

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

# %% [markdown] name="function-text"
# ## 5 A step of your own
#
# *{minutes} minutes*
#
# In this section and the next two, open the folded lesson before the exercise; it has what you need.

# %% [markdown] side=true
# #### How do you write an operation that torch does not have?
#
# *{minutes} minutes*
#
# A new operation is a class with two static methods.
# `forward` computes the result, and saves in `ctx`, the node's own bag, the tensors that the rule will need.
# `backward` gets the gradient that arrives at the result, and returns one gradient for each input, or None.

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
# *Predict.* `Forgetful` is a rule that forgets to multiply by `grad_out`. For `Forgetful.apply(x).sum()`, is the gradient right?

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
# It is right by luck, because behind a sum the gradient that arrives is 1.
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
# ### Exercise: `LeakyClamp`
#
# *Stretch, extra credit, {minutes} minutes*
#
# A clamp sets the gradient of everything outside its limits to 0. This one lets a little through, and can learn how much.
# With limits 0 and 1, slope 0.1: 0.5 stays as it is, and 3 sticks out by 2.
# `forward` has four inputs, so `backward` returns four things.
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
# ## 6 Second derivatives
#
# *{minutes} minutes*
#
# The gradient says how the loss changes from place to place. The second derivatives say how the gradient itself changes.

# %% [markdown] side=true
# #### How do you differentiate twice?
#
# *{minutes} minutes*
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
_nudge = 1e-6
_slope_at = lambda _p: torch.autograd.functional.jacobian(bowl_of, _p)
_moved = (_slope_at(x + _nudge * v) - _slope_at(x - _nudge * v)) / (2 * _nudge)
assert hessian.tolist() == [[4.0, 2.0], [2.0, 12.0]] and torch.allclose(_moved, hessian @ v)

# %% [markdown]
# ### Exercise: `hessian_vector_product`
#
# *Stretch, extra credit, {minutes} minutes*
#
# Optimizers that take the curvature into account use this product.
# It takes two backward passes: the first with `create_graph=True`, the second with v.

# %% name="curvature-example"
hessian = torch.tensor([[6.0, 0.0], [0.0, 12.0]])  # of the sum of x ** 3 at 1 and 2
print(hessian @ torch.tensor([1.0, 10.0]))

# %% exercise="hessian_vector_product"
def hessian_vector_product(f, x, v):
    """Return the Hessian of f at x times v, in the shape of x and without a graph.

    For f(x) = (x ** 3).sum(), x = [1.0, 2.0] and v = [1.0, 10.0] the result is [6.0, 120.0].

    - f takes x and returns a scalar; v has the shape of x.
    - f is called only at x, and differentiated twice. The full Hessian is never built: two
      backward passes are enough, however many entries x has.
    - x and v stay as they were, .grad included.
    """
    ### BEGIN SOLUTION
    copy = x.detach().clone().requires_grad_()
    grad = torch.autograd.grad(f(copy), copy, create_graph=True)[0]
    return torch.autograd.grad(grad, copy, grad_outputs=v.detach())[0]
    ### END SOLUTION


# %% check="hessian_vector_product" extra=3
check("hessian_vector_product", hessian_vector_product)

# %% [markdown] name="trace-det-inverse-text" side=true
# #### Where are trace, determinant and inverse?
#
# *{minutes} minutes*
#
# In `torch.linalg`, with nearly all else that a course of linear algebra needs.

# %% name="trace-det-inverse"
s = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
print(s.trace().item(), torch.linalg.det(s).item(), torch.linalg.inv(s), sep="\n")
with shows_error(RuntimeError, match="singular"):
    torch.linalg.inv(torch.ones(2, 2))  # has no inverse

# %% claim=true
assert s.trace() == 5 and torch.allclose(torch.linalg.det(s), torch.tensor(5.0))
assert torch.allclose(s @ torch.linalg.inv(s), torch.eye(2), atol=1e-6)

# %% [markdown] name="engine"
# ## 7 Your own engine
#
# *{minutes} minutes*
#
# An engine for single numbers, which does what `backward` does, fits on a page.
# The one difficulty is the order: a node must wait until all gradients that flow into it have arrived.
# So list each node after the nodes that it was made from, and go through the list from its end.

# %% [markdown] side=true
# #### Why must a node wait?
#
# *{minutes} minutes*
#
# *Predict.* Take `h = a * b` and `out = h + h * h`. How many times does the product a * b appear in the graph that `show_graph` prints?

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
# Three paths lead from `out` to h, and h must not pass anything on before the gradients of all three have arrived.

# %% [markdown]
# ### Exercise: `Value`
#
# *Stretch, extra credit, {minutes} minutes*
#
# The starter says what a Value keeps; you write the rules and the backward pass.
# The derivative of t = tanh(x) is 1 - t * t.
# Take care: a Value may be part of two results, and the second backward pass must not pass on what the first left in the grad of that Value.

# %% name="engine-example"
a = torch.tensor(3.0, requires_grad=True)
(a * a).backward()
print(a.grad, "one 3 for each factor")

# %% exercise="Value"
### BEGIN STARTER
# class Value:
#     """A number that knows how it was made, and a backward that goes through its graph.
#
#     After a = Value(3.0) and (a * a).backward(), a.grad is 6.0.
#
#     - Value(2.0) has data 2.0 and grad 0.0. a + b, a * b and a.tanh() give new Values (a and b
#       are Values, perhaps the same one).
#     - result.backward() adds to the grad of every Value that went into the result: the
#       derivative of the result by it. result.grad becomes 1.0.
#     - A Value may be used several times, on several paths, and in several results one after
#       another; backward is called once for each result.
#     - The rules and the backward pass are your own: torch's autograd has no part in them.
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

    After a = Value(3.0) and (a * a).backward(), a.grad is 6.0.

    - Value(2.0) has data 2.0 and grad 0.0. a + b, a * b and a.tanh() give new Values (a and b
      are Values, perhaps the same one).
    - result.backward() adds to the grad of every Value that went into the result: the
      derivative of the result by it. result.grad becomes 1.0.
    - A Value may be used several times, on several paths, and in several results one after
      another; backward is called once for each result.
    - The rules and the backward pass are your own: torch's autograd has no part in them.
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

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org), "Autograd mechanics";
# Baydin and others, "Automatic differentiation in machine learning: a survey" (2018).
