# %% [markdown] name="opening"
# # Chapter 2b: Graphs
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *What does a graph keep in memory, and where should it end?*
#
# In chapter 2a you called `backward`, and the gradients were there. For that, torch keeps a graph of all that you computed with tensors that require grad.
# The graph takes memory, and it leads back to wherever your numbers came from. Here you learn to
#
# 1. say what torch keeps for a gradient, and for how long
# 2. get the gradient of more data than fit into memory
# 3. stop a gradient where it should not flow
#
# This takes about {minutes} minutes of reading and running, and {exercises} for the exercises.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the sitting holds for all of them

# %% setup=true
import torch
import torch.nn.functional as F
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch02 as figures
from course.instruments import milliseconds, runs, saved_bytes, saved_tensors, show_digits

_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("2b")

# %% [markdown] name="life"
# ## 1 The life of a graph
#
# *{minutes} minutes*
#
# Some programs run for an hour and then end with "out of memory". Their mistake looks harmless: they *keep* each loss that they measure, to plot it later.
#
# A loss is a single number. But behind it stands its graph, and the graph keeps what the way back will need. The slope of x ** 2, for example, is 2 * x, so the node of a square has to save x. The slope of exp is exp itself, so its node saves the result.
# Here are a hundred losses, each the sum of exp of a thousand numbers.

# %% name="keeping-results"
x = torch.ones(1000, requires_grad=True)
with saved_tensors() as alive:  # alive: the saved tensors that some graph still holds
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
# A list of losses is a list of graphs, as long as nobody calls `backward` on them, which is so wherever you only measure. `item()` takes out the plain Python number, which has no graph, so keep numbers in logs and running sums.

# %% [markdown] name="dropping-text"
# ### What keeps a graph alive?
#
# Your 200 steps in chapter 2a built 200 graphs, and training takes millions of steps. Why is the memory not full after a minute?
#
# *Predict.* You compute the same loss a thousand times, always under the name `loss`, and never call `backward`. How many saved tensors are there in the end?

# %% predict=true
guess = 1  # a number

# %% name="dropping-frees"
with saved_tensors() as alive:
    for _ in range(1000):
        loss = x.exp().sum()
    reveal(guess, len(alive))

# %% claim=true
with saved_tensors() as _alive:
    _loss = x.exp().sum()
    assert len(_alive) == 1

# %% [markdown]
# One, that of the last pass. Like any object of Python, **a graph lives as long as something refers to its result**, or to something computed from it. Once `loss` names a new result, nothing refers to the old one, and its graph is gone with all that it had saved.

# %% [markdown] name="used-up"
# ### A graph is made for one use
#
# In training the memory is free even earlier, because `backward` lets go of each saved tensor when it has used it.
# That has a price.
#
# *Predict.* You call `y.backward()` twice, on the same y. Does the second call run?
# (`runs` tries it, and prints the error, if any.)

# %% predict=true
guess = False  # True or False

# %% name="second-backward"
w = torch.tensor([2.0], requires_grad=True)
y = w**2
y.backward()
reveal(guess, runs(y.backward))

# %% claim=true
assert w.grad.tolist() == [4.0]  # that of the first call

# %% [markdown] name="fresh-pass"
# No: the first call let go of the w that the second would have needed.
# You will see this message when a loop calls `backward` again without computing the loss anew.
# (The `retain_graph=True` that the message advises keeps the saved tensors, which is hardly ever what you want.)
#
# So a graph ends in two ways: `backward` lets go of what it saved, and the rest goes with the last name for its result. Here is its whole life:

# %% name="whole-life" figure=true
figures.life()

# %% [markdown]
# ### Exercise: `running_loss`
#
# *{minutes} minutes*
#
# At the end of an hour of training you want one number, the mean loss, and not a thousand losses in memory.
# So take the losses one at a time: call `backward`, add its number to a sum, and go on to the next. A plain `for` loop does that; you need no `del`.

# %% exercise="running_loss"
def running_loss(losses):
    """Call backward on each loss, once, and return the mean of their values as a float.

    For losses of 1.0 and 3.0 the result is 2.0.

    - losses: an iterable of scalar tensors, at least one, each with a graph of its own;
      perhaps a generator, which makes each loss when it is asked for.
    - Call backward on a loss before you ask for the next, and keep none: at that moment
      only the graph of the loss just used may still be there.
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
# #### Does your `running_loss` free memory in time?
#
# *{minutes} minutes*
#
# The generator `losses` makes ten losses, one by one. Each time somebody asks for the next, it notes how many saved tensors are still held.

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
# `item()` can come too early, because nothing that you compute from a plain number has a graph.

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

# %% [markdown] side=true
# #### What does `total = total + loss` keep?
#
# *{minutes} minutes*
#
# There is no list, and in the end there is one tensor, `total`. And yet, where nobody calls `backward`, it keeps all graphs.
# The last sum leads to the last loss and to the total before it, and that to the loss before, and so on, back to the first.
# Here are four passes, kept in four ways.

# %% figure=true
figures.kept_graphs(4)

# %% [markdown]
# ### A block without a graph
#
# If you only measure a loss, why build a graph and throw it away?
# Inside `torch.no_grad()`, which chapter 2a used for the step, torch builds none, not even from tensors that require grad.

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
# The numbers come out the same, and no memory goes into a graph. Use it wherever you want no gradient.

# %% [markdown] name="no-grad-saving" side=true
# #### What does `no_grad` save, in memory and in time?
#
# *{minutes} minutes*
#
# Here are the bytes that torch holds for a thousand numbers, with a graph and without one. (`exp` saves its result and `sin` its operand, which are the same tensor. Its bytes count once.)

# %% name="no-grad-bytes"
print("with a graph:", saved_bytes(lambda: x.exp().sin().sum()), "bytes")
with torch.no_grad():
    print("in no_grad: ", saved_bytes(lambda: x.exp().sin().sum()), "bytes")

# %% claim=true
assert x.shape == (1000,) and saved_bytes(lambda: x.exp().sin().sum()) >= 1000 * 4  # at least exp's
with torch.no_grad():
    assert saved_bytes(lambda: x.exp().sin().sum()) == 0

# %% [markdown]
# Is it also faster? Each node costs a little time, whatever the size of its tensors. With small tensors you can measure it; with large ones the computing takes nearly all the time.

# %% name="no-grad-time"
small = torch.ones(4, 4, requires_grad=True)
with_graph, without = [], []
for _ in range(10):  # in turn, so that whatever else runs here disturbs both
    with_graph.append(milliseconds(lambda: torch.tanh(small @ small).sum()))
    with torch.no_grad():
        without.append(milliseconds(lambda: torch.tanh(small @ small).sum()))
print(f"with a graph: {min(with_graph) / min(without):.2f} times as long")

# %% claim=true
with torch.no_grad():
    _silent = x.exp().sin().sum()
assert torch.equal(_silent, x.exp().sin().sum().detach())  # the same result, to the last digit

# %% [markdown]
# An evaluation without `no_grad` does not fill the memory as long as it keeps no tensors. If it keeps some, each of them holds a graph.
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
# #### What is `inference_mode`?
#
# *{minutes} minutes*
#
# It is `no_grad` with a promise: no graph will ever need to save what you make inside it. So torch keeps less account of these tensors, which saves a little more time, and if a graph has to save one all the same, you get an error.

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

# %% [markdown] side=true
# #### What does a node hold?
#
# *{minutes} minutes*
#
# It does not hold the derivative, but the numbers from which it can compute one when the time comes.
# At 12 a square has the slope 24. Its node keeps the operand and the exponent, and no 24 anywhere.

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

# %% [markdown] side=true
# #### Are a view and a `+=` steps too?
#
# *{minutes} minutes*
#
# Yes. A view shares memory, and `+=` writes into memory that is there, and both are steps in the graph all the same.

# %% name="recorded-without-new-memory"
s = torch.tensor([12.0], requires_grad=True)
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

# %% [markdown] side=true
# #### When is `retain_graph=True` right?
#
# *{minutes} minutes*
#
# When two losses share their first steps, and you need their gradients one after the other. It keeps the saved tensors for one more call.
#
# Not every graph needs that. A sum saves nothing, because its rule needs no operands, so here `backward` runs twice.

# %% name="second-backward-of-a-sum"
x = torch.tensor([2.0], requires_grad=True)
y = x + x
y.backward()
y.backward()
print(x.grad)

# %% claim=true
assert x.grad.tolist() == [4.0]

# %% [markdown]
# So after `backward` the saved tensors are gone, and the graph is not.
# Its nodes live as long as the result does.

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
# With `retain_graph=True` you can call it once more, and the gradients add up as ever.

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
# Now the two losses.
# If you only want the sum of their gradients, add the losses and go back once. That is cheaper, and gives the same.

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

# %% [markdown] name="parts"
# ## 2 Too many for the memory
#
# *{minutes} minutes*
#
# Training holds only one graph at a time, but even one can be too large.
# The folded cell below brings the digits and the loss of chapter 2a.

# %% name="digits" known=true
# the digits; wrongness(pictures, which): how badly ten pictures read them
from sklearn.datasets import load_digits

digits = load_digits()
ink = torch.tensor(digits.data, dtype=torch.float32) / 16  # (1797, 64)
labels = torch.tensor(digits.target)
order = torch.randperm(1797, generator=torch.Generator().manual_seed(seed))
known, unseen = order[:1400], order[1400:]


def wrongness(pictures, which=known):
    """How badly ten pictures (64, 10) read these digits; 0 would be perfect."""
    shares = torch.softmax(ink[which] @ pictures, dim=1)
    right = shares[range(len(which)), labels[which]]  # from each row the share of the true class
    return -right.log().mean()

# %% [markdown]
# `saved_bytes` counts what a graph saves, here for a hundred digits and for all 1,400 that you learn from.

# %% name="bytes-of-a-graph"
empty = torch.zeros(64, 10, requires_grad=True)
for rows in (known[:100], known):
    print(len(rows), "digits:", saved_bytes(lambda: wrongness(empty, rows)), "bytes")

# %% claim=true
_held = [saved_bytes(lambda: wrongness(empty, _rows)) for _rows in (known[:100], known)]
assert 13 < _held[1] / _held[0] < 15
assert 30 < 100e6 * _held[1] / len(known) / 1e9 < 45

# %% [markdown]
# Fourteen times the digits take fourteen times the memory. A hundred million digits would take more than 30 gigabytes.
#
# So take the digits in several **batches**. The graph of each is gone before the next one comes, and since `backward` adds to `.grad`, the gradients add up by themselves.
#
# They must add up to the right gradient, though, and that is easy to get wrong.
# Take four digits: one, with a loss of 5, is a batch of its own; three, with a loss of 1 each, are the other batch.

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
# A quarter of a loss has a quarter of its gradient, so multiply each loss by its share before `backward`.

# %% [markdown] side=true name="arrange-accumulate"
# #### Would you like the lines of `accumulate`, shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell.
# Here are the lines that may stand in it, with gaps, and with two lines that it does not need.

# %%
from explorers import arrange

arrange("accumulate")

# %% [markdown]
# ### Exercise: `accumulate`
#
# *{minutes} minutes*
#
# Write this for any loss: weight each batch by its share of the rows.
# With 3, 3 and 2 rows, for example, these are the shares.

# %% name="shares-of-rows"
batches = torch.zeros(8, 64).split(3)
print([len(batch) / 8 for batch in batches])

# %% exercise="accumulate"
def accumulate(loss_fn, batches, params):
    """Return the gradients of the mean loss over all rows of all batches, one per parameter.

    With batches of 1 and 3 rows the first one counts for a quarter.

    - batches: a list of tensors (rows, features), not all with equally many rows.
    - loss_fn(batch): the mean loss over the rows of a batch; call it once per batch.
    - params: a list of leaves that require grad, which loss_fn uses. What is in their .grad
      from before must not count; in the end each .grad holds its gradient, too.
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
# Now take the digits once in three batches, and once all in one graph. Are the gradients the same, and how much memory does each way take?

# %% name="digits-in-parts"
def loss_of(rows):
    return wrongness(empty, rows)


batches = known.split(500)  # 500, 500 and 400 digits
in_batches = my_accumulate(loss_of, batches, [empty])[0]
empty.grad = None
loss_of(known).backward()

print(f"largest difference: {(in_batches - empty.grad).abs().max().item():.1e}")
for rows in (known, batches[0]):
    print(len(rows), "digits:", saved_bytes(lambda: loss_of(rows)), "bytes")

# %% claim=true
assert torch.allclose(in_batches, empty.grad, atol=1e-6)
assert [len(_batch) for _batch in batches] == [500, 500, 400]
_held = [saved_bytes(lambda: loss_of(_rows)) for _rows in (batches[0], known)]
assert 0.3 < _held[0] / _held[1] < 0.4  # 500 / 1400 is 0.357

# %% [markdown]
# The gradients differ by rounding at most, and the batches take about a third of the memory, because only one batch's graph is there at a time.

# %% [markdown] side=true
# #### Which operations hold how much?
#
# *{minutes} minutes*
#
# That depends on what each backward rule needs: the rule of a sum needs nothing, and that of a product needs both operands.
# A node that saves a tensor does not copy it, but keeps it alive. So it is mostly the results in the middle that fill the memory.

# %% figure=true
figures.saved_bytes(256)

# %% [markdown] side=true
# #### By what do you divide the losses of four equal parts?
#
# *{minutes} minutes*
#
# *Predict.* Each loss is the mean over its 8 rows, and you want the gradient of the mean over all 32. By what do you divide each loss?

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
# ## 3 Where gradients must stop
#
# *{minutes} minutes*
#
# A gradient flows wherever the graph leads, and sometimes that is too far. When one network learns to imitate another, for example, both are made of numbers that you train, and only one of them should move.
#
# Here it is in small: a blank picture should copy an eight. Both lie in one tensor, so gradient descent may move both. Your `descend` of chapter 2a does the steps.

# %% mine=true name="learning"
def new_leaf_each_step(f, x, lr, steps):
    """Gradient descent, where each step ends in a new leaf."""
    for _ in range(steps):
        x = x.detach().requires_grad_()
        x = x - lr * torch.autograd.grad(f(x), [x])[0]
    return x.detach()


my_descend = mine("descend", new_leaf_each_step)

# %% name="pulling"
eight = unseen[labels[unseen] == 8][0]
both = torch.stack([torch.zeros(64), ink[eight]])


def difference(both):
    blank, drawn = both
    return ((blank - drawn) ** 2).mean()


show_digits(both, says=["the blank", "the eight"])

# %% [markdown]
# *Predict.* After 100 steps, has the eight stayed, or has it faded?

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
# Both became the same ghost, halfway, because each was free to move.
# The eight should count as given. `detach` says so: no path leads back from its result, and what it was made of gets no gradient.
# Where everything is detached, `backward` has nowhere to go:

# %% name="detach-then-backward"
x = torch.ones(3, 4, requires_grad=True)
y = x.detach()
with shows_error(RuntimeError, match="does not require grad"):
    (y * 2).sum().backward()

# %% claim=true
assert not y.requires_grad and y.grad_fn is None and x.grad is None

# %% [markdown]
# ### Exercise: `stop_gradient_loss`
#
# *{minutes} minutes*
#
# The blank should move towards the eight, and never the eight towards the blank.
# With the plain loss, b, the eight, would move too:

# %% name="held-still-example"
a = torch.tensor([1.0, 2.0], requires_grad=True)
b = torch.tensor([3.0, 6.0], requires_grad=True)
((a - b) ** 2).mean().backward()
print("a:", a.grad, "  b, which should have none:", b.grad)

# %% exercise="stop_gradient_loss"
def stop_gradient_loss(a, b):
    """Return the mean squared difference of a and b, a scalar whose gradient reaches a only.

    For a = [1.0, 2.0] and b = [1.0, 4.0] the loss is 2.0 and the gradient of a [0.0, -2.0].

    - a, b: tensors of the same shape, perhaps both requiring grad. Both stay as they were.
    - b counts as a constant: after backward, neither b nor what b was computed from has a
      gradient.
    - `.data`, which old programs use for this, is not allowed.
    """
    ### BEGIN SOLUTION
    return ((a - b.detach()) ** 2).mean()
    ### END SOLUTION


# %% check="stop_gradient_loss" points=2
check("stop_gradient_loss", stop_gradient_loss)

# %% mine=true
my_stop_gradient_loss = mine("stop_gradient_loss", lambda a, b: F.mse_loss(a, b.detach()))

# %% [markdown]
# Repeat the 100 steps with your loss:

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
# This time the eight stayed, and the blank became an eight.

# %% [markdown]
# ### Would a copy be enough?
#
# In chapter 2a you were told to begin `descend` with three calls in a row, `x0.detach().clone().requires_grad_()`. If you compute with a copy, do you still need `detach`?
#
# *Predict.* You leave out `detach`: `copy = x.clone()`, then `(copy**2).sum().backward()`, at x = (1, 2). What is `x.grad`, None or two numbers?

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
# A copy is a step like any other, and the graph leads through it back to x. So each of the three calls has a reason of its own:
#
# - `detach()` cuts the path back to x. It copies nothing: its result lies in the memory of x.
# - `clone()` makes the copy, so that a step in place leaves x alone.
# - `requires_grad_()` switches the flag on again, because `detach` switched it off.
#
# ### Exercise: `mean_square_grad`
#
# *{minutes} minutes*
#
# Your `grad_of` of chapter 2a already left no trace in its x. Now you know why it needs which call.
# Write a small version for the mean of squares, and leave out the one of the three calls that it does not need.

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
# #### Does your gradient agree with a formula?
#
# *{minutes} minutes*
#
# Take a table of twelve numbers. With a pencil the derivative of x ** 2 is 2 * x, and their mean divides that by 12. Here is one row:

# %% mine=true
my_mean_square_grad = mine("mean_square_grad", lambda x: 2 * x / x.numel())

# %% name="mean-of-squares"
twelve = torch.randn(4, 3)
print("by autograd:", my_mean_square_grad(twelve)[0])
print("by formula: ", (2 * twelve / 12)[0])

# %% claim=true
assert torch.allclose(my_mean_square_grad(twelve), 2 * twelve / 12)

# %% [markdown] name="detach-uses" side=true
# #### Does `detach` copy, and where would it be a bug?
#
# *{minutes} minutes*
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
# The two are separate in the graph, and share their memory.
# If you want a copy, write `detach().clone()`.
#
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

# %% [markdown] name="recap"
# ## What you can do now
#
# *{minutes} minutes*
#
# You know what a graph saves, and that it keeps this until `backward` has used it or nothing refers to its result.
# You can run a large batch in parts and weight each part by its share, and you can cut off tensors that should count as given.
# `progress(2)` shows what you have passed in chapter 2.

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
# 1. What is `no_grad` for, and what is `detach` for?
# 2. Where does `item` belong, and where not?
# 3. You run a large batch in parts. By what do you multiply each loss?
#
# <details><summary>Answers</summary>
#
# 1. `no_grad` is for a block of code through which no gradient has to flow: an evaluation, or an update by hand. `detach` is for one tensor that should count as given.
# 2. In logs, since a number holds no graph; and for the same reason never on the way to the loss.
# 3. By its part's share of the rows, so that each row counts the same.
#
# </details>

# %% [markdown]
# Next comes *Chapter 2c: Broken gradients*: what spoils a gradient, with an error or without one.
