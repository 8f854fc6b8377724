# %% [markdown] name="opening"
# # Chapter 1: Tensors
#
# *Can a program read handwriting if nobody has taught it anything?*
#
# At the end of this course you will draw a digit with the mouse, and a model will say which one it is.
# You will have written all of it: the model, the loop that trains it, and the few lines that turn your drawing into something it can read.
# Today there is no model yet, and no learning. There are only grids of numbers, and arithmetic on them. That alone will read 94 to 99 of 100 handwritten digits, and the end says what it depends on.
#
# On the way you learn to
#
# - make tensors, and ask them what they are
# - tell whether two of them share their memory
# - combine different shapes, sum along the axis you mean, and multiply matrices
# - know what a number format cannot hold, and draw the same random numbers again
#
# There are two sittings: about {minutes} minutes of reading and running in all, and {exercises} for the exercises. Side paths, folded under a question, are optional.

# %% name="parameters" parameters=true
seed = 0  # decides the random numbers (section 7); any whole number will do

# %% setup=true
import math
import warnings
import numpy as np
import torch
import torch.nn.functional as F
from autograder import check, hint, mine, progress, reveal, shows_error
from course.figures import ch01_tensors as figures
from course.instruments import drawn_four, milliseconds, same_memory, show_digits

_ = torch.manual_seed(seed)

# %% [markdown]
# This is where we are going. The bars say how much the drawing looks like each of the ten digits; such a row of ten numbers you will compute today:

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="before-anything"
# ## Before anything is explained ({minutes} minutes)
#
# Here are ten of 1,797 digits that people wrote by hand.
# Each is a grid of 8 by 8 numbers that say how much ink there is: 0 is white paper, 16 is full ink.
# They come with the package scikit-learn, so there is nothing to download.
# Run the cell with Shift and Enter.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)
labels = torch.tensor(digits.target)
show_digits(images[:10], is_=labels[:10])

# %% [markdown]
# You know the first 1,500 of them. Now somebody hands you a new one.
# Here is the simplest idea: find the known digit that looks most like it, and say what that one is.
#
# How alike do two digits look? Lay one grid over the other and subtract, place by place. Where the ink agrees, you get 0.
# Square the differences, so that too much and too little count alike, and add them up.
# The smallest sum wins.

# %% name="first-reading"
known, new = images[:1500], images[1500]

distances = ((known - new) ** 2).sum(dim=(1, 2))
nearest = distances.argmin()

show_digits([new, known[nearest]], says=["new", f"known: {labels[nearest]}"])

# %% [markdown]
# A one, and it looks like one. Was that luck?
# There are 297 digits after the first 1,500; let's try them all.
# Before you run the cell, guess: how many in 100 will it get right?

# %% name="all-new-ones"
right = 0
for new, label in zip(images[1500:], labels[1500:], strict=True):
    nearest = ((known - new) ** 2).sum(dim=(1, 2)).argmin()
    right += (labels[nearest] == label).item()

print(f"{right} of 297 are read correctly, {right / 297:.1%}")

# %% claim=true
assert right == 281
assert labels[distances.argmin()] == labels[1500] == 1

# %% [markdown]
# Nearly 95 in 100, from three lines, and nothing was learned.
# You need not understand them yet. By the end of the chapter you will, and you will do without the loop.

# %% [markdown] name="how-to-work"
# ## How to work with this chapter ({minutes} minutes)
#
# This chapter keeps asking you what will happen.
# In a cell with `guess = ...`, replace the `...` with your answer and run it; the next cell shows what torch says.
# A wrong guess costs nothing, and a surprise is what you will remember.
#
# If you know NumPy, you know views, masks and broadcasting.
# Then go from prediction to prediction in sections 2 and 5, and read around the one that surprises you.

# %% [markdown] name="sitting-1"
# # First sitting: what a grid of numbers can do ({minutes} minutes, and {exercises} for the exercises)

# %% [markdown] name="create"
# ## 1 What a tensor says about itself ({minutes} minutes)
#
# All data in PyTorch is in **tensors**, grids of numbers with any number of axes.
# When something goes wrong, it is mostly a wrong shape, or whole numbers where fractions are needed.
# Every tensor can tell you what it is. Whoever asks first saves an evening.
#
# *Predict.* There are 1,797 digits of 8 by 8 pixels. What is the **shape** of `images`, the lengths of its axes?

# %% predict=true
guess = (1797, 8, 8)  # a tuple

# %% name="shape-of-the-digits"
reveal(guess, images.shape)

# %% [markdown]
# The first axis counts the digits, the second the rows of a picture, the third its columns.
# An axis that counts samples is the **batch axis**, and it mostly comes first.
#
# Each whole number that you give as an index removes one axis. `images[0]` is one digit, with two axes left.
# One pixel of it has none, and `item()` makes that an ordinary Python number.

# %% name="number-of-axes"
digit = images[0]
pixel = digit[3, 2]
print("a digit:", digit.shape)
print("a pixel:", pixel.shape, "as a Python number:", pixel.item())
digit.int()  # without the decimal points; can you see the zero?

# %% claim=true
assert (images.ndim, digit.ndim, pixel.ndim) == (3, 2, 0) and pixel.shape == ()
assert torch.zeros(32, 10).shape == (32, 10)  # 32 samples of 10 features
assert pixel.item() == 12.0

# %% [markdown]
# A tensor also tells its **dtype**, the number type of all its elements: `float32` means numbers with a fraction, in 32 bits each, and `int64` whole numbers in 64.
# And it tells its **device**, the place where the numbers lie. Here that is the memory of the CPU; graphics cards come in chapter 5.

# %% name="dtype-and-device"
print(images.dtype, labels.dtype, images.device)

# %% claim=true
assert images.dtype == torch.float32 and labels.dtype == torch.int64
assert images.device.type == "cpu"

# %% [markdown]
# Which dtype do you get when you make a tensor yourself, with `zeros` or `ones` for example, to try out a line of code?
#
# *Predict.* `torch.arange(0, 10, 2)` counts as Python's `range` does: from 0, in steps of 2, up to but not including 10. What is its dtype?

# %% predict=true
guess = torch.int64  # a dtype, for example torch.float32

# %% name="arange"
evens = torch.arange(0, 10, 2)
print(evens)
reveal(guess, evens.dtype)

# %% claim=true
assert evens.tolist() == [0, 2, 4, 6, 8]

# %% [markdown]
# Whole numbers stay whole: `labels` are int64 for that reason, whereas `zeros` and `ones` are float32.
# You notice the difference when you ask for a mean. It need not be a whole number, so torch refuses until you say that you want fractions.
# (`shows_error` expects an error and prints it, so that the notebook can go on. Messages call int64 Long.)

# %% name="default-dtype"
with shows_error(RuntimeError, match="floating point"):
    evens.mean()
print("the mean:", evens.float().mean())  # float() gives float32

# %% claim=true
_drawn = torch.randn(4, 3)
assert _drawn.shape == (4, 3) and _drawn.dtype == torch.float32 and _drawn.device.type == "cpu"
assert torch.tensor([1.0, 2.0]).dtype == torch.get_default_dtype() == torch.float32
assert torch.tensor([1, 2]).dtype == torch.int64 and torch.tensor([True]).dtype == torch.bool
assert torch.tensor([1, 2], dtype=torch.float32).dtype == torch.float32  # set by hand
_made = (torch.zeros(2, 3), torch.ones(4), torch.linspace(0, 1, 5), torch.randn(4, 3))
assert all(_each.dtype == torch.float32 and _each.device.type == "cpu" for _each in _made)

# %% [markdown] name="how-to-check"
# ### How exercises work
#
# Now you write something yourself. Complete a function, and keep its first line.
# `check`, in the cell below it, tells you what holds and what does not, as often as you like.
# When you are stuck, run `hint("describe")` in a new cell; each call says a little more.
#
# <details><summary>How it is graded</summary>
#
# In the notebook's order, each answer at the place of its check. Of all other cells only that is run which an answer uses.
#
# </details>

# %% [markdown]
# ### Exercise: `describe` ({minutes} minutes)
#
# When something does not fit, you want to know all about a tensor in one call.
# How many bytes the elements take belongs to it: one day that decides whether your data fit on the graphics card.
# (`requires_grad` is the subject of chapter 2; here you only read it off.)
# `labels`, for example, holds 1,797 numbers of 64 bits, which is 8 bytes each.
# (`numel` is short for "number of elements".)

# %% name="describe-example"
print(tuple(labels.shape), labels.dtype, labels.device.type)
print("requires grad:", labels.requires_grad)
print(labels.numel(), "numbers of", labels.element_size(), "bytes:", 1797 * 8)

# %% claim=true
assert labels.shape == (1797,) and not labels.requires_grad and labels.nbytes == 1797 * 8
assert labels.element_size() == 8 and images.nbytes == 4 * images.numel() == 460_032

# %% exercise="describe"
def describe(x):
    """Return what a tensor knows about itself, in a dict.

    "shape": its shape as a plain tuple, "dtype": its torch.dtype,
    "device": the device type as a string, "requires_grad": a bool,
    "bytes": the number of bytes that its elements need.

    describe(torch.zeros(2, 3)) gives {"shape": (2, 3), "dtype": torch.float32,
    "device": "cpu", "requires_grad": False, "bytes": 24}.
    """
    ### BEGIN SOLUTION
    return {
        "shape": tuple(x.shape),
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": x.numel() * x.element_size(),
    }
    ### END SOLUTION


# %% check="describe" points=1
check("describe", describe)

# %% mine=true
my_describe = mine("describe", lambda x: {"dtype": x.dtype, "bytes": x.nbytes})

# %% [markdown]
# The lesson often goes on with what you write. `my_describe` is *your* `describe` once its check has passed; until then a plain version stands in.

# %% name="describe-used"
my_describe(images)

# %% claim=true
assert my_describe(images)["bytes"] == 460_032 and my_describe(images)["dtype"] == torch.float32

# %% [markdown] side=true
# #### What is `requires_grad` good for? ({minutes} minutes)
#
# A network learns by finding out how a change in each of its numbers would change the final result.
# PyTorch can work that out, if it has kept track of the steps; `requires_grad=True` asks for it.
# NumPy's arrays have nothing of the kind, and it is the reason to learn PyTorch.
#
# What is kept belongs to the *result*: `grad_fn` is a link to the step that made it, here a multiplication.
# The tensor you began with remembers nothing.

# %% name="records"
plain = torch.ones(3)
watched = torch.ones(3, requires_grad=True)
print("without:", (plain * 2).grad_fn, " with:", (watched * 2).grad_fn.name())
print("the tensor itself:", plain.grad_fn, watched.grad_fn)

# %% claim=true
assert plain.requires_grad is False and (plain * 2).grad_fn is None
assert watched.requires_grad is True and watched.grad_fn is None
assert "Mul" in (watched * 2).grad_fn.name()

# %% [markdown]
# It is easy to forget the s of `requires_grad`.
# As a keyword the misspelt word is refused; as an attribute it is a new one that torch never reads, and nothing happens.

# %% name="misspelt-flag"
weights = torch.ones(3)
weights.require_grad = True  # no s
print("requires grad:", weights.requires_grad)
with shows_error(TypeError, match="require_grad"):
    torch.ones(3, require_grad=True)

# %% claim=true
assert weights.requires_grad is False

# %% [markdown] side=true
# #### How do I find the graphics card, step through a program, and draw random numbers? ({minutes} minutes)
#
# A program asks for the card, and falls back on the CPU where there is none.
# `to` gives the tensor on another device, or with another dtype.

# %% name="device"
device = "cuda" if torch.cuda.is_available() else "cpu"
two_by_two = torch.tensor([[0.1, 0.9], [0.8, 0.2]]).to(device)
classes = torch.tensor([0, 1])
print(two_by_two.shape, two_by_two.dtype, two_by_two.device, classes.dtype)

# %% claim=true
assert two_by_two.shape == (2, 2) and two_by_two.device.type == device
assert two_by_two.dtype == torch.float32 and classes.dtype == torch.int64

# %% [markdown]
# A program runs line by line, as any Python does.
# A loop, a `print`, a debugger work anywhere, and a tensor is computed at the line that asks for it.
# A loop over a tensor goes along its first axis.

# %% name="line-by-line"
for row in digit[:3]:
    print(row.int().tolist(), "has ink:", row.sum().item())

# %% claim=true
assert [_row.numel() for _row in digit] == [8] * 8

# %% [markdown]
# The random numbers of `randn` come from the standard normal distribution, so a million of them come close to mean 0 and standard deviation 1.

# %% name="randn"
draws = torch.randn(1_000_000)
print(f"mean {draws.mean().item():.3f}, standard deviation {draws.std().item():.3f}")

# %% claim=true
assert abs(draws.mean().item()) < 0.01 and abs(draws.std().item() - 1) < 0.01

# %% [markdown] name="views"
# ## 2 Whose memory is it? ({minutes} minutes)
#
# Around the strokes of these digits there is faint gray. You would like to see one without it, so you write a function that puts 0 wherever there is less ink than 8.
# (`digit < 8` is a **mask**, a tensor of booleans. On the left of an equals sign it says *where to write*.)
#
# You have a page of ten digits, take the one at place 4, and wipe it:

# %% name="wipe"
def wipe(digit):
    digit[digit < 8] = 0
    return digit


page = images[:10].clone()  # clone() gives a copy
wiped = wipe(page[4])
show_digits([images[4], wiped], says=["as it was", "wiped"])

# %% [markdown]
# That worked. You put the result aside, and go on with the page, to which you have assigned nothing.
#
# *Predict.* Is the digit on the page still as it was?

# %% predict=true
guess = False  # True or False

# %% name="inplace-in-function"
show_digits([wiped, page[4]], says=["wiped", "on the page"])
reveal(guess, torch.equal(page[4], images[4]))

# %% claim=true
assert same_memory(page, wiped) and torch.equal(page[4], wiped) and not same_memory(images, page)
_page = images[:10].clone()
assert torch.equal(wipe(_page[4].clone()), wiped) and torch.equal(_page, images[:10])
_x = torch.tensor([1.0, 3.0])
_y = _x
_y = _y - 2
assert _x.tolist() == [1, 3]
_y = _x
_y -= 2
assert _x.tolist() == [-1, 1]

# %% [markdown]
# It is wiped too. `page[4]` has no numbers of its own. It is a **view**, a second tensor on the memory of the first, and the function wrote through it into the page.
# To write into memory that is there already, as the function did, is called working **in place**. (An innocent `x -= 1` does it too, whereas `x = x - 1` computes a new tensor.)
#
# On a page you see it at once. In the data of a training you may see it next week, when your results have changed and you look for the reason everywhere but there.
# So ask of each part that you take out: does it have memory of its own?
#
# That depends on how you take it, and a small table shows the difference.
# `row` is taken by its number, `picked` by a list of numbers: the last row, the first, and the last again. Then one number is written into each.
#
# *Predict.* Which of the two changes reaches the table?

# %% predict=true
guess = "row"  # "row", "picked" or "both"

# %% name="row-or-list"
table = torch.tensor([[0.0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
row = table[1]
picked = table[[2, 0, 2]]

row[0] = 100  # where the table has 4
picked[0, 0] = -1  # where the table has 8
print(table)
reveal(guess, "row" if table[2, 0] == 8 else "both")

# %% claim=true
assert table[1, 0] == 100 and table[2, 0] == 8 and picked[0, 0] == -1

# %% figure=true
figures.view_or_copy(table, row, picked)

# %% [markdown]
# The row is a view, as `page[4]` was. What a list takes is collected into a **copy**, which has memory of its own: the lower strip, where the -1 went.
#
# So there are two kinds of taking. A number or a slice gives a view. A list gives a copy, and so does a mask, because it may choose any places at all.
# `same_memory` tells which it was, here of all the fours, taken by a mask, and of the first 1,500, taken by a slice:

# %% name="same-memory"
fours = images[labels == 4]
show_digits(fours[:10])
print("the fours, in the memory of images:", same_memory(images, fours))
print("a slice, in the memory of images:  ", same_memory(images, images[:1500]))

# %% claim=true
assert len(fours) == 181 and same_memory(images, images[:1500]) and not same_memory(images, fours)
assert same_memory(table, table[:, 1:3]) and same_memory(table, table[0:2])
assert not any(same_memory(table, table[_rows]) for _rows in ([0, 2], [0, 1], [0]))
assert not same_memory(table, table[table > 5]) and not same_memory(table, table[table > -2])

# %% [markdown]
# And the page? It is safe if the function gets a copy to write into:

# %% name="wipe-a-copy"
page = images[:10].clone()
wiped = wipe(page[4].clone())
show_digits([wiped, page[4]], says=["wiped", "on the page"])

# %% claim=true
assert torch.equal(page, images[:10]) and not torch.equal(wiped, page[4])

# %% [markdown]
# Better still, let the function itself begin with `digit = digit.clone()`, so that nobody who calls it has to think of it.
#
# ### Exercise: `first_and_rest` ({minutes} minutes)
#
# Set one digit aside, where a change of the data does not reach it. Leave the others where they are: to copy them all would waste memory.
# Of the table above, the first row is to be a copy, and the other two a view:

# %% name="first-and-rest-example"
print(table[0])
print(table[1:])

# %% exercise="first_and_rest"
def first_and_rest(x):
    """Return (copy, view) for x of shape (n, d).

    copy: row 0, in memory of its own.  view: rows 1 to the end, in the memory of x.
    x itself stays as it is.

    For x = torch.tensor([[1.0, 2.0], [3.0, 4.0]]) the copy holds [1.0, 2.0]
    and the view holds [[3.0, 4.0]].
    """
    ### BEGIN SOLUTION
    return x[0].clone(), x[1:]
    ### END SOLUTION


# %% check="first_and_rest" points=2
check("first_and_rest", first_and_rest)

# %% mine=true
my_first_and_rest = mine("first_and_rest", lambda x: (x[0], x[1:]))

# %% [markdown]
# Put it to the test: invert the digit that was set aside, and look at its page.
# (While the exercise is open, a careless version stands in, and the page changes too.)

# %% name="first-and-rest-used"
page = images[:10].clone()
one, others = my_first_and_rest(page)
one[:] = 16 - one  # ink where there was paper
show_digits([one, page[0]], says=["set aside, inverted", "on the page"])

# %% claim=true
assert same_memory(page, others) and torch.equal(page[0], images[0]) != same_memory(page, one)

# %% [markdown] side=true
# #### How do I know whether a line works in place, and is `detach` a copy? ({minutes} minutes)
#
# By how it is written. Both lines below take 1 from `x`, and `kept` is a second name for the same tensor, an **alias**.

# %% name="two-ways-to-subtract"
x = torch.tensor([5.0, 7.0])
kept = x
x -= 1
print("after x -= 1:     x is", x, " kept is", kept)
x = x - 1
print("after x = x - 1:  x is", x, " kept is", kept)

# %% claim=true
assert kept.tolist() == [4, 6] and x.tolist() == [3, 5]

# %% [markdown]
# `x -= 1` wrote into the memory that both names stand for. (With Python's own numbers it would not.)
# `x = x - 1` computed a new tensor and gave it the name `x`; `kept` stayed as it was.
# Every method whose name ends in an underscore, such as `add_`, works in place too.
#
# *Predict.* `a` holds three ones. After `b = a` and `b += 1`, what is `a[0]`?

# %% predict=true
guess = 2  # a number

# %% name="inplace-alias"
a = torch.ones(3)
b = a
b += 1
reveal(guess, a[0].item())

# %% [markdown]
# `data_ptr()` is the address of the first element, so print it before and after.

# %% name="inplace-or-new"
before = b.data_ptr()
b.mul_(10)
print("after mul_: the same memory:", b.data_ptr() == before, "and a is", a)
b = b + 1
print("after b = b + 1: the same memory:", b.data_ptr() == before, "and a is", a)

# %% claim=true
assert a[0] == 20 and b[0] == 21 and a.data_ptr() == before

# %% [markdown]
# In place also means: the dtype stays, so whole numbers cannot take a half.

# %% name="inplace-keeps-dtype"
steps = torch.tensor([1, 2])
print((steps + 0.5).dtype)
with shows_error(RuntimeError, match="can't be cast"):
    steps += 0.5

# %% [markdown]
# `detach` is sometimes used as a copy, but it isn't one: it gives a second tensor with the same memory, of which PyTorch no longer keeps track (chapter 2).
# For a copy there is `clone()`.

# %% name="clone-or-detach"
for way, result in (("clone", table.clone()), ("detach", table.detach())):
    print(f"{way}: the table's memory: {same_memory(table, result)}")

# %% claim=true
assert not same_memory(table, table.clone()) and same_memory(table, table.detach())

# %% [markdown] side=true
# #### Do arrays of NumPy share memory with tensors, and is everything else as in NumPy? ({minutes} minutes)
#
# `torch.tensor(array)` copies; that is how the digits came in, and so scikit-learn's own are safe from us.
# `torch.from_numpy(array)` wraps the array's memory, and `x.numpy()` goes the other way.
#
# *Predict.* After `wrapped = torch.from_numpy(array)` and `array[0] = 999`, what is `wrapped[0].item()`? The array held floats.

# %% predict=true
guess = 999.0  # a number

# %% name="from-numpy"
array = np.array([1.0, 2.0, 3.0])
wrapped = torch.from_numpy(array)
array[0] = 999
print(wrapped.dtype)  # NumPy's floats are float64
reveal(guess, wrapped[0].item())

# %% claim=true
assert wrapped.dtype == torch.float64

# %% [markdown]
# It goes both ways, and a change of dtype ends it, since other numbers need other memory.
# A tensor that requires grad refuses to become an array, since the array would silently lose the tracking; `detach()` says that you mean it.

# %% name="numpy-sharing"
ones = torch.ones(2)
back = ones.numpy()
back[0] = 5
print("the tensor changed with the array:", ones)
print("after a change of dtype:", same_memory(wrapped, wrapped.to(torch.float32)))

# %% claim=true
assert ones[0] == 5 and not same_memory(wrapped, torch.tensor(array))
assert not same_memory(wrapped, wrapped.to(torch.float32))

# %% name="numpy-and-grad"
followed = torch.ones(3, requires_grad=True)
with shows_error(RuntimeError, match="detach"):
    followed.numpy()
print(followed.detach().numpy())

# %% claim=true
assert not hasattr(array, "requires_grad") and not hasattr(array, "backward")

# %% [markdown] name="numpy-same-rules"
# Otherwise names, indexing and the broadcasting of section 5 follow NumPy closely, and arrays have a dtype too.
# What tensors add is the tracking for derivatives, and devices such as graphics cards; what arrays have of their own, masked arrays for example, torch has not.

# %% name="numpy-same-rules-run"
print((np.zeros((2, 1, 3)) + np.zeros((4, 1))).shape)
print((torch.zeros(2, 1, 3) + torch.zeros(4, 1)).shape)
print(table.numpy()[[0, 2], 1:].tolist() == table[[0, 2], 1:].tolist())

# %% claim=true
_names = ("zeros", "ones", "arange", "linspace", "matmul", "sqrt", "where", "stack")
assert all(hasattr(np, _name) and hasattr(torch, _name) for _name in _names)
assert (np.zeros((3, 1, 5)) + np.zeros((4, 1))).shape == (3, 4, 5)
assert np.array_equal(table.numpy()[[0, 2], 1:], table[[0, 2], 1:].numpy())
assert array.dtype == np.float64 and hasattr(np, "ma") and not hasattr(torch, "ma")

# %% [markdown] name="layout"
# ## 3 Memory is a line ({minutes} minutes)
#
# Much of what you will do with a digit does not care where a pixel lies, and then a row of 64 numbers is handier than a grid of 8 by 8.
# You might think that all 115,008 numbers have to be moved for that. Not one is.
# The memory of a computer is no grid anyway: it is one long line, and a shape is only a way to read it.

# %% name="rows-of-pixels"
rows = images.reshape(1797, 64)
print(rows.shape, " the same memory:", same_memory(images, rows))

# %% claim=true
assert same_memory(images, rows) and torch.equal(rows[0, 8:16], images[0, 1])

# %% [markdown]
# To find a number in that line, torch needs to know how far it is to the neighbors.
# Take the numbers 0 to 11 in three rows of four, `torch.arange(12).reshape(3, 4)`.
# One step to the right is 1 place along the line, and one step down is 4 places, because a whole row lies between.
# These are its **strides**, (4, 1): for each axis, how many places one step takes.
# In the picture each row has a color, in the grid and in memory.

# %% name="figure-strides" figure=true
figures.strides(torch.arange(12).reshape(3, 4))

# %% [markdown]
# Now flip the grid along its diagonal, so that rows become columns.
# That is the **transpose**, `grid.T`.
#
# *Predict.* If no number moves in memory, what must the strides of `grid.T` be?

# %% predict=true
guess = (1, 4)  # a tuple

# %% name="transpose-strides"
grid = torch.arange(12).reshape(3, 4)
print("the same memory:", same_memory(grid, grid.T))
reveal(guess, grid.T.stride())

# %% claim=true
assert grid.stride() == (4, 1) and same_memory(grid, grid.T)
assert torch.equal(grid.T, grid.transpose(0, 1))
_large = torch.zeros(4000, 4000)
assert milliseconds(_large.clone, 3) > 20 * milliseconds(lambda: _large.T)
del _large

# %% figure=true
figures.strides(torch.arange(12).reshape(3, 4).T)

# %% [markdown]
# The colors jump along the line, but the line is the same. Only the two lengths changed places, and the two strides, so a transpose costs nothing, for twelve numbers or for sixteen million.
#
# Now you can also say why a list gave a copy in section 2. A view is memory read in equal steps, whereas a list may name any rows in any order. Whether they happen to lie in equal steps, torch does not look: a list always copies.

# %% [markdown]
# ### When numbers have to move
#
# `reshape` promises more than a transpose does.
# It reads the grid that you see in **reading order**, row by row, and cuts what it has read into new rows.
# If the grid is a transposed one, that order may be nothing like the order in memory.
#
# *Predict.* `small` holds 0 to 5 in two rows of three. What does `small.T.reshape(-1)` hold, its transpose as one long row?

# %% predict=true
guess = [0, 3, 1, 4, 2, 5]  # a list of six numbers

# %% name="reshape-of-transpose"
small = torch.arange(6).reshape(2, 3)
line = small.T.reshape(-1)
print("the same memory:", same_memory(small, line))
reveal(guess, line)

# %% claim=true
assert same_memory(small, small.reshape(-1)) and not same_memory(small, small.T.reshape(-1))

# %% [markdown]
# The memory holds 0 1 2 3 4 5, and no fixed step through it gives 0 3 1 4 2 5, so `reshape` had to move the numbers into a copy.
# That is its rule: a view where strides can do it, a copy where they cannot.
#
# Reading order is also behind a mistake that no error reports.
# A file counts its pictures along the *last* axis, (8, 8, 1797), and you want the number first again.
# Two lines give that shape. `reshape(1797, 8, 8)` cuts anew; `permute(2, 0, 1)` names the old axes in their new order.
#
# *Predict.* Which of the two gives the digits back?

# %% predict=true
guess = "permute"  # "reshape" or "permute"

# %% name="reshape-is-no-transpose"
stored = torch.tensor(np.stack(images, axis=2))  # such a file: rows, columns, number
cut = stored.reshape(1797, 8, 8)
turned = stored.permute(2, 0, 1)
says = ["reshape"] * 5 + ["permute"] * 5
show_digits([*cut[600:605], *turned[600:605]], says=says, per_row=5)
reveal(guess, "permute" if torch.equal(turned, images) else "reshape")

# %% claim=true
assert cut.shape == turned.shape == images.shape and not torch.equal(cut, images)
_numbers = torch.arange(1797).expand(8, 8, 1797).reshape(1797, 8, 8)
assert all(len(_each.unique()) == 64 for _each in _numbers)

# %% [markdown]
# In the file's reading order the number of the picture changes fastest, so `reshape` put pixels of 64 different pictures side by side and called that a digit.
# A model would be fed the upper five.
# **To move axes, `permute`; to join or split neighboring axes, `reshape`.**

# %% [markdown] side=true
# #### When does `view` refuse, and when does even `reshape`? ({minutes} minutes)
#
# `view` is a `reshape` that never copies: where strides cannot do it, it raises an error instead.
# A tensor is **contiguous** when its reading order is the order of its memory; `contiguous()` makes a tidy copy if one is needed, and after it `view` works.

# %% name="view-refuses"
print(small.is_contiguous(), small.T.is_contiguous())
with shows_error(RuntimeError, match="view size is not compatible"):
    small.T.view(-1)
print(small.T.contiguous().view(-1))

# %% claim=true
assert small.is_contiguous() and not small.T.is_contiguous()
assert small.T.contiguous().view(-1).tolist() == [0, 3, 1, 4, 2, 5]

# %% [markdown]
# Must it be contiguous, then?
# Not quite; it is enough that some strides fit.
# Every second column of a table leaves gaps in memory, and yet its elements are evenly spaced, so that a view of all twelve exists.

# %% name="view-needs-fitting-strides"
gaps = torch.arange(24).reshape(4, 6)[:, ::2]  # (4, 3)
print("contiguous:", gaps.is_contiguous(), gaps.stride())
print("as a line:", gaps.view(12).stride())

# %% claim=true
assert not gaps.is_contiguous() and gaps.stride() == (6, 2)
assert gaps.view(12).stride() == (2,) and same_memory(gaps, gaps.view(12))

# %% [markdown] name="prefer-reshape"
# Use `reshape` unless a hidden copy would be a bug, as it would where you mean to write into the original; there take `view`, which fails loudly.

# %% [markdown]
# `reshape` refuses a shape that does not hold as many elements, and one with two unknown lengths.

# %% name="reshape"
cube = torch.arange(24).reshape(2, 3, 4)
print(cube.reshape(2, 12).shape, cube.reshape(6, -1).shape, cube.reshape(-1).shape)

# %% claim=true
assert cube.reshape(2, 12).shape == (2, 12) and cube.reshape(6, -1).shape == (6, 4)
assert cube.reshape(-1).shape == (24,)

# %% name="reshape-errors"
with shows_error(RuntimeError, match="invalid"):
    cube.reshape(5, -1)
with shows_error(RuntimeError, match="only one dimension"):
    cube.reshape(-1, -1)

# %% [markdown]
# ### Exercise: `flatten_images` ({minutes} minutes)
#
# A color photo holds three numbers for each pixel, red, green and blue, in an axis of **channels** that comes before height and width.
# To see which colors there are, you want a row for each pixel, with its three numbers. That takes both tools.
# Here is one picture of 2 by 2 pixels with two channels. Its four pixels are `[[[0, 4], [1, 5], [2, 6], [3, 7]]]`.

# %% name="flatten-example"
tiny = torch.arange(8).reshape(1, 2, 2, 2)  # (pictures, channels, height, width)
print(tiny)

# %% exercise="flatten_images"
def flatten_images(x):
    """Turn images (N, C, H, W) into rows of pixels (N, H*W, C).

    One row per pixel, in reading order; a row holds the channel values of its pixel.
    The dtype stays, and x itself stays as it is. x may be a part of larger images, such
    as images[:, :, 2:, 1:].

    A batch of shape (5, 3, 8, 8) becomes (5, 64, 3), and row 0 of the first image
    is x[0, :, 0, 0].
    """
    ### BEGIN SOLUTION
    n, c, h, w = x.shape
    pixels = x.permute(0, 2, 3, 1)  # (N, H, W, C)
    return pixels.reshape(n, h * w, c)
    ### END SOLUTION


# %% check="flatten_images" points=2
check("flatten_images", flatten_images)

# %% mine=true
my_flatten_images = mine("flatten_images", lambda x: x.flatten(2).transpose(1, 2))

# %% [markdown] side=true
# #### Which colors does yours find in a photo? ({minutes} minutes)
#
# Let fifteen digits be five color photos, one digit in red ink, one in green and one in blue.
# Which color has the pixel in row 3, column 4 of the first photo? It is number 3 * 8 + 4 in reading order.

# %% name="flatten-used"
photos = images[:15].reshape(5, 3, 8, 8)
pixels = my_flatten_images(photos)
print(tuple(photos.shape), "becomes", tuple(pixels.shape))
print("red, green, blue:", pixels[0, 3 * 8 + 4], "as in", photos[0, :, 3, 4])

# %% claim=true
assert torch.equal(pixels[0, 28], photos[0, :, 3, 4])

# %% [markdown] side=true
# #### Where did my batch of one go, and what does `.T` do with three axes? ({minutes} minutes)
#
# `squeeze` drops the axes of length 1, and `unsqueeze(0)` puts one in at the front, for example to make a batch of a single picture.
#
# *Predict.* A batch with one sample that has one feature has the shape (1, 1). What shape is left after `.squeeze()`?

# %% predict=true
guess = ()  # a tuple

# %% name="squeeze"
print(torch.zeros(1, 5, 1).squeeze().shape, torch.zeros(5).unsqueeze(0).shape)
lonely = torch.zeros(1, 1)  # (batch, features)
reveal(guess, lonely.squeeze().shape)

# %% claim=true
assert torch.zeros(1, 5, 1).squeeze().shape == (5,) and torch.zeros(5).unsqueeze(0).shape == (1, 5)
assert lonely.squeeze(1).shape == (1,)

# %% [markdown]
# Everything is gone, the batch axis too.
# A program with a bare `squeeze()` in it runs for weeks, and breaks on the day when the last batch happens to hold one sample.
# So name the axis: `squeeze(1)`.

# %% [markdown]
# With three axes, `.T` turns all of them around, the batch axis too, which is so seldom meant that torch warns about it.
# `.mT` swaps the last two, and `permute` does whatever you say.

# %% name="permute"
photos = torch.randn(2, 3, 4, 5)  # (batch, channels, height, width)
n, c, h, w = photos.shape  # a shape can be taken apart like a tuple
print(tuple(photos.shape), "to", tuple(photos.permute(0, 2, 3, 1).shape))
print(tuple(cube.shape), "by .mT to", tuple(cube.mT.shape))

# %% claim=true
assert photos.permute(0, 2, 3, 1).shape == (n, h, w, c) == (2, 4, 5, 3)
assert torch.equal(photos.permute(0, 2, 3, 1)[1, 2, 3], photos[1, :, 2, 3])

# %% name="three-axis-t"
torch.set_warn_always(True)  # some warnings come once per program; show this one always
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    around = cube.T
torch.set_warn_always(False)
print(tuple(around.shape), "with the warning:", str(caught[0].message).split(". ")[0])

# %% claim=true
assert around.shape == (4, 3, 2) and cube.mT.shape == (2, 4, 3)
assert "deprecated" in str(caught[0].message)


# %% [markdown] name="stretching"
# ## 4 Three rows from one ({minutes} minutes)
#
# On the first page one new digit was subtracted from 1,500 known ones. For that it is needed 1,500 times, and yet nobody copied it.
# Strides make that possible, too. To read the same row again and again, let one step down be no step at all, a stride of 0.
# `expand` makes such a view, here three rows from a single one.
#
# *Predict.* After `wide[0, 0] = 5.0`, how many of its twelve places hold 5?

# %% predict=true
guess = 3  # a number

# %% name="write-to-stretched"
thin = torch.ones(4)
wide = thin.expand(3, 4)
print("strides:", wide.stride())

wide[0, 0] = 5.0
print(wide)
reveal(guess, (wide == 5).sum().item())

# %% claim=true
assert thin[0] == 5 and wide.stride() == (0, 1)  # one number, the thin tensor's as well
wide[0] = 7.0  # a whole row: as silent
assert (wide == 7).all() and (thin == 7).all()

# %% [markdown]
# Three, because the first column is one number in memory, read three times.
# For reading, that is a gift: three rows, or 1,500, take no more memory than one, and the next section lives on that.
# Before you write into something stretched, take a `clone()`.

# %% [markdown] name="layout-summary"
# ### Exercise: `predict_layout` ({minutes} minutes)
#
# Your data fill most of the memory, and one careless line wants a copy of them. Which one? Here is what you know:
#
# | you write | memory | strides |
# |---|---|---|
# | a slice | the original's | the original's (times the step) |
# | a transpose | the original's | swapped |
# | `expand` | the original's | 0 on stretched axes |
# | a list as index | its own | as for a new tensor |
# | `reshape` | the original's if some strides fit, otherwise its own | after a copy, as for a new tensor |
#
# Put it into a function that tells shape, strides and sharing beforehand, from the numbers alone.
# The cell asks torch about a slice; ask about the others in the same way, and then write down the pattern.

# %% name="layout-example"
part = grid[:, 1:]  # of a (3, 4) table
print(tuple(part.shape), part.stride(), same_memory(grid, part))

# %% exercise="predict_layout"
def predict_layout(ops):
    """Return a list of (shape, stride, shares_storage), one for each op.

    Each op is (name, rows, cols); x stands for a contiguous (rows, cols) tensor,
    rows and cols at least 2. Work from the numbers alone, without torch or NumPy.
        "slice": x[:, 1:]   "transpose": x.T   "expand": x[:1].expand(rows, cols)
        "fancy" (a list as index): x[[0, 1]]   "reshape": x.T.reshape(-1)
    shape and stride are tuples or lists, (12,) for one axis.
    shares_storage: does it use the memory of x?

    predict_layout([("slice", 3, 4)]) gives [((3, 3), (4, 1), True)].
    """
    ### BEGIN SOLUTION
    def layout(name, rows, cols):
        return {
            "slice": ((rows, cols - 1), (cols, 1), True),
            "transpose": ((cols, rows), (1, cols), True),
            "expand": ((rows, cols), (0, 1), True),
            "fancy": ((2, cols), (cols, 1), False),
            "reshape": ((rows * cols,), (1,), False),
        }[name]

    return [layout(*op) for op in ops]
    ### END SOLUTION


# %% check="predict_layout" points=5
check("predict_layout", predict_layout)

# %% mine=true
def asked_of_torch(ops):
    told = []
    for name, r, c in ops:
        x = torch.zeros(r, c)
        results = {"slice": x[:, 1:], "transpose": x.T, "expand": x[:1].expand(r, c)}
        results |= {"fancy": x[[0, 1]], "reshape": x.T.reshape(-1)}
        y = results[name]
        told.append((tuple(y.shape), y.stride(), same_memory(x, y)))
    return told


my_predict_layout = mine("predict_layout", asked_of_torch)

# %% [markdown] side=true
# #### Which line would copy all the digits? ({minutes} minutes)
#
# Ask your `predict_layout` about their table, (1797, 64).
# Of five lines that look alike, only one copies all 115,008 numbers.

# %% name="predict-layout-used"
names = ("slice", "transpose", "expand", "fancy", "reshape")
layouts = my_predict_layout([(name, 1797, 64) for name in names])
for name, (shape, stride, shares_memory) in zip(names, layouts, strict=True):
    copies = "nothing" if shares_memory else f"{math.prod(shape):,} numbers"
    print(f"{name:10} {shape}, strides {stride}: copies {copies}")

# %% claim=true
assert layouts == asked_of_torch([(_name, 1797, 64) for _name in names])
assert [_layout[2] for _layout in layouts] == [True, True, True, False, False]

# %% [markdown] name="broadcasting"
# ## 5 Broadcasting ({minutes} minutes)
#
# In `known - new` the shapes (1500, 8, 8) and (8, 8) met, and nobody wrote `expand` or a loop.
# torch stretched the smaller one by itself. It can do that wrongly without a word, so it pays to know how torch decides what to stretch, and along which axis.
#
# Try it where you can see the axis. To let a digit fade away, multiply it by eight factors that go from 1 to 0: `fade = torch.linspace(1, 0, 8)`, of shape (8,).
#
# *Predict.* Does the ink in `digit * fade` fade from left to right or from top to bottom?

# %% predict=true
guess = "left to right"  # "left to right" or "top to bottom"

# %% name="fading-digit"
fade = torch.linspace(1, 0, 8)
faded = digit * fade  # (8, 8) with (8,)
show_digits([digit, faded], says=["digit", "digit * fade"])
reveal(guess, "left to right" if faded[:, 7].sum() == 0 else "top to bottom")

# %% claim=true
assert faded[:, 7].sum() == 0 and torch.equal(faded[2], digit[2] * fade)

# %% [markdown] name="broadcast-rule-text"
# Left to right, because torch lines up shapes **at the right**.
# The 8 of `fade` meets the last axis of the digit, which counts its columns, so each column gets a factor of its own.
#
# This is **broadcasting**, and it is easiest on paper: write the two shapes one below the other, with their right ends together.
#
# ```
# digit       8   8          known    1500   8   8
# fade            8          new             8   8
# ```
#
# Then go from right to left, and compare what stands above and below.
#
# - *The same length*, such as 8 and 8: they fit, number by number.
# - *One of them is 1, or there is a gap*: the tensor with the 1, or with the gap, is stretched along that axis, as by `expand`. So every row of the digit gets the same eight factors, and every known digit meets the same new one.
# - *Anything else* is an error, as with seven factors for eight columns:

# %% name="seven-factors"
with shows_error(RuntimeError, match="must match"):
    digit * torch.linspace(1, 0, 7)  # (8, 8) with (7,)

# %% [markdown]
# And if the digit is to fade from top to bottom? Then the 8 has to stand below the rows, and something must keep the place at its right: a 1, which fits every length.
#
# ```
# digit       8   8
# column      8   1
# ```
#
# `fade[:, None]` makes that shape: "all eight, and then an axis that was not there".

# %% name="fading-down"
column = fade[:, None]
print(tuple(fade.shape), "becomes", tuple(column.shape))
show_digits([digit, digit * fade, digit * column], says=["digit", "(8,)", "(8, 1)"])

# %% claim=true
assert column.shape == (8, 1) and (digit * column)[7].sum() == 0

# %% [markdown]
# So far only one of the two was stretched. The rule does not forbid that both are, each along another axis, and then the result is larger than either.
#
# *Predict.* What is the shape of `torch.zeros(3, 1, 5) + torch.zeros(4, 1)`? Write them one below the other first.

# %% predict=true
guess = (3, 4, 5)  # a tuple

# %% name="broadcast-rule"
total = torch.zeros(3, 1, 5) + torch.zeros(4, 1)
reveal(guess, total.shape)

# %% figure=true
figures.broadcasting((3, 1, 5), (4, 1))

# %% [markdown] name="column-meets-row-text"
# ### A mistake that nobody reports
#
# The rule is applied whether you meant it or not, and that can cost hours.
# Suppose a model gives its four predictions as a column, (4, 1), while the right answers, the targets, come as (4,).
# The predictions below are perfect, so their mean squared error should be 0.
#
# *Predict.* What is the shape of `prediction - target`?

# %% predict=true
guess = (4, 4)  # a tuple

# %% name="column-meets-row"
prediction = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
target = torch.tensor([1.0, 2.0, 3.0, 4.0])
print(prediction - target)
print("mean squared error:", ((prediction - target) ** 2).mean().item())
reveal(guess, (prediction - target).shape)

# %% claim=true
assert ((prediction - target) ** 2).mean() == 2.5
assert ((prediction.squeeze(1) - target) ** 2).mean() == 0

# %% [markdown] name="compare-shapes"
# The column was stretched to the right and the row downwards, so that every prediction met every target, and perfect predictions got an error of 2.5.
# A model trained on that number learns the wrong thing, and nothing here said so. So compare the two shapes before you compute any error; here `prediction.squeeze(1)`, which drops the axis of length 1, makes it 0.

# %% [markdown]
# ### Exercise: `add_bias` ({minutes} minutes)
#
# A scanner reads with a row of sensors, and with age each of them adds some ink of its own.
# Imagine one with eight sensors, one for each row of a digit. Each row of what it scans then has another number added to it, and to repair the picture each row needs the opposite added.
# Networks, too, add one number to each of their rows, and call it a **bias**; what has a bias of its own they call a **channel**.
# Here are two channels of three numbers, both still empty, with the biases 10 and 20:

# %% name="add-bias-example"
channels = torch.zeros(2, 3)
print(channels[0] + 10, channels[1] + 20)

# %% [markdown]
# Do that for a whole **batch** in one line. On paper it is the move that made `column`:
#
# ```
# x                 batch   channels   length
# bias, as it is                     channels
# bias, moved               channels        1
# ```

# %% exercise="add_bias"
def add_bias(x, bias):
    """Add to every channel of x its own bias, without a loop.

    x: (batch, channels, length), bias: (channels,), of one dtype. Returns a new tensor
    of the shape and dtype of x; x and bias stay as they are.

    For x = torch.zeros(1, 2, 3) and bias = torch.tensor([10.0, 20.0]) the result
    is [[[10.0, 10.0, 10.0], [20.0, 20.0, 20.0]]].
    """
    ### BEGIN SOLUTION
    return x + bias[:, None]  # (channels, 1) lines up with (channels, length)
    ### END SOLUTION


# %% check="add_bias" points=1
check("add_bias", add_bias)

# %% mine=true
def by_channel(x, bias):
    return torch.stack([x[:, c] + bias[c] for c in range(len(bias))], dim=1)


my_add_bias = mine("add_bias", by_channel)

# %% [markdown]
# Now the scanner. Its rows are the channels, and once it is known what each sensor adds, one call takes it out of all digits: above as scanned, below repaired.

# %% name="add-bias-used"
excess = torch.tensor([2.0, 9, 0, 6, 1, 8, 3, 5])  # what each sensor adds
scanned = my_add_bias(images[:10], excess)
repaired = my_add_bias(scanned, -excess)
show_digits(scanned)
show_digits(repaired)

# %% claim=true
assert torch.equal(repaired, images[:10]) and not torch.equal(scanned, repaired)

# %% [markdown] side=true
# #### Does nobody warn me when a column meets a row? ({minutes} minutes)
#
# torch's own function for the mean squared error does, and then it computes the wrong number nevertheless.

# %% name="loss-of-perfect-predictions"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    wrong = F.mse_loss(prediction, target)
print(wrong, "with the warning:", str(caught[0].message)[:74])

# %% claim=true
assert wrong == 2.5 and "broadcasting" in str(caught[0].message)

# %% [markdown] side=true
# #### What does stretching save, and may I never write into what is stretched? ({minutes} minutes)
#
# It saves the memory of what is stretched, but none of the arithmetic: the sum below takes twelve additions and gets memory for twelve results.

# %% name="broadcast-cost"
stretched = torch.ones(4).expand(3, 4)
result = torch.zeros(3, 4) + torch.ones(4)
for tensor in (stretched, result):
    print("bytes:", tensor.untyped_storage().nbytes())

# %% claim=true
assert stretched.untyped_storage().nbytes() == 16 and result.untyped_storage().nbytes() == 48

# %% [markdown]
# torch refuses some writes that would reach one number several times, such as this one to a whole column.
# Others go through, as you saw, so do not rely on it.

# %% name="write-to-a-stretched-column"
with shows_error(RuntimeError, match="single memory location"):
    torch.ones(4).expand(3, 4)[:, 0] = 5.0

# %% [markdown] side=true
# #### Can I try other shapes? ({minutes} minutes)
#
# A row of four is added to each row of a (3, 4) table; a column together with a row makes a whole table.

# %% name="bias"
base = torch.zeros(3, 4)
row_of_four = torch.tensor([1.0, 2.0, 3.0, 4.0])
print(base + row_of_four)

# %% claim=true
assert (base + row_of_four).shape == (3, 4) and ((base + row_of_four) == row_of_four).all()

# %% figure=true
figures.stretched(torch.tensor([[0], [10], [20]]), torch.tensor([1, 2, 3, 4]))

# %% [markdown]
# Three numbers, one for each row, do not fit (3, 4): lined up at the right, 3 meets 4, and torch says so.
# As a column they fit.

# %% name="bias-per-row"
per_row = torch.tensor([10.0, 20.0, 30.0])
with shows_error(RuntimeError, match="size of tensor a"):
    base + per_row
print(base + per_row[:, None])

# %% claim=true
assert (base + per_row[:, None])[:, 0].tolist() == [10.0, 20.0, 30.0]

# %% [markdown]
# With equal shapes arithmetic works place by place; where lengths are merely different, torch refuses.

# %% name="elementwise-shapes"
a, b = torch.tensor([1.0, 4.0, 9.0]), torch.tensor([10.0, 20.0, 30.0])
print(a + b, a * b, torch.sqrt(a))
with shows_error(RuntimeError, match="must match"):
    torch.ones(3) + torch.ones(4)

# %% claim=true
_a, _b = torch.randn(3, 4), torch.randn(3, 4)
assert all(_r.shape == (3, 4) for _r in (_a + _b, _a * _b, _a / _b, torch.sqrt(_a.abs())))

# %% [markdown]
# For example, the prices of four houses per square meter; and a single number fits everything, as where their sizes are doubled.

# %% name="house-prices"
sizes = torch.tensor([60.0, 85.0, 120.0, 175.0])  # square meters
prices = torch.tensor([150.0, 205.0, 270.0, 380.0])  # thousands
print(prices / sizes, torch.tensor([2.0]) * sizes)

# %% claim=true
assert sizes.shape == prices.shape == (prices / sizes).shape == (4,)
assert torch.equal(torch.tensor([2.0]) * sizes, sizes + sizes)
assert torch.equal(base + row_of_four, row_of_four.expand(3, 4))
assert sizes.dtype == prices.dtype == torch.float32

# %% [markdown] name="shape-explorer-text"
# The explorer lines shapes up, marks where they do not fit, and knows the shape of the result before any number is computed.
# Choose `column` as the second tensor, and it fits.
# Then switch on "Predict first", choose another pair, and name the shape before torch does.

# %% name="shape-explorer"
from explorers import shape_explorer

numbered = torch.arange(12.0).reshape(3, 4)
explorer = shape_explorer(numbered=numbered, per_row=per_row, column=per_row[:, None])
explorer

# %% claim=true
assert "torch refuses" in explorer.tell()

# %% [markdown] name="reductions"
# ## 6 Which axis disappears? ({minutes} minutes)
#
# At the start you compared a digit with 1,500 known ones.
# Perhaps ten comparisons are enough: with an average zero, an average one, and so on. But what does an average digit look like?
#
# A **reduction** makes fewer numbers out of many: a sum, a mean, a maximum.
# You say along which axis, which torch calls a **dim**.
#
# *Predict.* What is the shape of `images.mean(dim=0)`?

# %% predict=true
guess = (8, 8)  # a tuple

# %% name="mean-digit"
average = images.mean(dim=0)
show_digits([average], says=["all 1,797"])
reveal(guess, average.shape)

# %% [markdown]
# The dim that you name is the one that disappears: of (1797, 8, 8) the digits are gone, and one picture is left.
# It is a gray cloud. Everybody's ink lies on top of everybody else's.
#
# Average each digit separately, and it is a different story.

# %% name="mean-of-each"
each = [images[labels == number].mean(dim=0) for number in range(10)]
averages = torch.stack(each)  # side by side, along a new first axis
show_digits(averages)

# %% claim=true
assert averages.shape == (10, 8, 8)

# %% [markdown]
# Nobody wrote these ten, and you can read them all. In section 12 they will read for you.

# %% [markdown] side=true
# #### What does `dim` do in a small table of numbers? ({minutes} minutes)
#
# Four houses, a row for each, with square meters, bedrooms and bathrooms.

# %% name="house-sizes"
features = torch.tensor([[60.0, 2, 1], [85, 3, 1], [120, 4, 2], [175, 5, 3]])
means = features.mean(dim=0)
print("along dim 0, the sums:", features.sum(dim=0), " the means:", means)

# %% claim=true
assert features.shape == (4, 3) and features.dtype == torch.float32
assert means.shape == (3,) and means.tolist() == [110.0, 3.5, 1.75]
assert features.sum(dim=1).shape == (4,) and features.sum().shape == ()
assert features.sum(dim=-1).shape == (4,)  # negative dims count from the end

# %% figure=true
figures.reductions(features)

# %% [markdown] side=true
# #### What is the largest, and where is it? ({minutes} minutes)
#
# `amax` gives the values and `argmax` the places; `max` with a dim gives both.

# %% name="max-and-argmax"
values, places = features.max(dim=0)
print(values, "are in rows", places)

# %% claim=true
assert torch.equal(values, features.amax(dim=0)) and values.tolist() == [175.0, 5.0, 3.0]
assert torch.equal(places, features.argmax(dim=0)) and places.tolist() == [3, 3, 3]

# %% [markdown] side=true
# #### Can I read the program from the start now? ({minutes} minutes)
#
# You can; these are its two lines:
#
# ```
# distances = ((known - new) ** 2).sum(dim=(1, 2))
# nearest = distances.argmin()
# ```
#
# `known - new` has the shape (1500, 8, 8), a grid of differences for each known digit.
# With `dim=(1, 2)` the sum takes rows and columns away, so 1,500 distances are left, and `argmin` says at which place the smallest is.

# %% name="nearest-again"
distances = ((images[:1500] - images[1500]) ** 2).sum(dim=(1, 2))
print(distances.shape, distances.argmin())

# %% claim=true
assert distances.shape == (1500,) and distances[distances.argmin()] == distances.min()

# %% [markdown] side=true
# #### Where do the numbers from 0 to 16 come from? ({minutes} minutes)
#
# People's strokes were scanned in black and white, 32 by 32 places, and then shrunk: in each block of 4 by 4 the black places were counted, so that 16 is all black.
#
# How do you count in blocks without a loop?
# `reshape` may split an axis, so split the 32 rows into 8 groups of 4, and the 32 columns too.
# The four axes of `reshape(8, 4, 8, 4)` then say: which block from the top, which row inside it, which block from the left, which column inside it.
# Sum what is inside a block away, dims 1 and 3, and 8 by 8 counts are left.
# In chapter 6 your own drawings will go through this line.

# %% name="shrink"
drawing = drawn_four()  # (32, 32), ink is 1
shrunk = drawing.reshape(8, 4, 8, 4).sum(dim=(1, 3))
print(shrunk.shape)

# %% claim=true
assert shrunk[0, 0] == drawing[:4, :4].sum() and 0 <= shrunk.min() <= shrunk.max() <= 16
assert shrunk.sum() == drawing.sum()

# %% figure=true
figures.shrink(drawing)

# %% [markdown] name="holes"
# ## 7 Half of the ink is lost ({minutes} minutes)
#
# A careless scanner loses half of all pixels. Can you still have the average three?
# To find out, let chance do the damage, but the same damage again tomorrow, or you could never compare two attempts.
#
# Chance can be repeated, because random numbers in a computer come from a **generator**, and its **seed** fixes all that it will draw.
# `randn` draws from the standard normal distribution: numbers around 0, mostly between -2 and 2.

# %% name="seed"
for _ in range(2):
    generator = torch.Generator().manual_seed(42)
    print(torch.randn(3, generator=generator))

# %% claim=true
torch.manual_seed(42)
_one, _next = torch.randn(3), torch.randn(3)
torch.manual_seed(42)
assert torch.equal(_one, torch.randn(3)) and not torch.equal(_one, _next)
_state = torch.get_rng_state()
assert torch.equal(_one, torch.randn(3, generator=torch.Generator().manual_seed(42)))
assert torch.equal(_state, torch.get_rng_state())

# %% [markdown]
# ### Exercise: `make_batch` ({minutes} minutes)
#
# To try out code before there is data, you want random numbers that are the same each time.
# But one generator is shared by everybody, seeded by `torch.manual_seed`, and whoever draws from it changes the numbers of all who draw later:

# %% name="make-batch-example"
torch.manual_seed(7)
print("alone:                ", torch.randn(3))

torch.manual_seed(7)
torch.randn(2, 3)  # somebody else draws
print("after somebody's draw:", torch.randn(3))

# %% claim=true
torch.manual_seed(7)
_alone = torch.randn(3)
torch.manual_seed(7)
torch.randn(2, 3)
assert not torch.equal(torch.randn(3), _alone)

# %% [markdown]
# So yours brings a generator of its own, and leaves no trace. `torch.randn` takes `dtype=` and `generator=`.

# %% exercise="make_batch"
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    """Return an (n, d) tensor of standard normal numbers of the given dtype.

    The numbers come from a generator of their own, seeded with seed: the same seed
    gives the same numbers. The global random numbers are neither read nor changed.

    make_batch(2, 3, seed=7) gives a (2, 3) float32 tensor, the same at every call.
    """
    ### BEGIN SOLUTION
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, d, dtype=dtype, generator=generator)
    ### END SOLUTION


# %% check="make_batch" points=2
check("make_batch", make_batch)

# %% mine=true
def plain_noise(n, d, seed):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed))


my_make_batch = mine("make_batch", plain_noise)

# %% [markdown]
# Snow on ten digits. Run the cell again: the same flakes, in the same places.

# %% name="make-batch-used"
snow = my_make_batch(10, 64, seed=7)
show_digits(rows[:10] + 3 * snow, as_ink=True)

# %% claim=true
assert snow.shape == (10, 64) and torch.equal(snow, my_make_batch(10, 64, seed=7))

# %% [markdown]
# ### Holes
#
# Now the scanner. Here are five of the 183 threes, white where nothing was read.
# In the data those places hold **nan**, "not a number", and the mask `real` is True where a pixel was read.

# %% name="damaged-threes"
threes = images[labels == 3]
chance = torch.Generator().manual_seed(seed)
real = torch.rand(threes.shape, generator=chance) < 0.5  # rand: evenly from 0 to 1
damaged = torch.where(real, threes, math.nan)  # nan where nothing was read
show_digits(damaged[:5].nan_to_num(0))
print("places where the plain mean is nan:", damaged.mean(dim=0).isnan().sum().item(), "of 64")

# %% claim=true
assert len(threes) == 183 and damaged.mean(dim=0).isnan().all()

# %% [markdown]
# One hole among 183 is enough to spoil a mean. The holes must go first.
# Multiplying by the mask does not fill them, since 0 times nan is nan again.
# `torch.where(mask, x, other)` does: it takes x where the mask is True, and `other` elsewhere.

# %% name="where-and-clamp"
holes = torch.tensor([1.0, math.nan])
kept = torch.tensor([True, False])
print("times the mask:", holes * kept)
print("with where:    ", torch.where(kept, holes, 0.0))

# %% claim=true
assert (holes * kept).sum().isnan()
assert torch.where(kept, holes, 0.0).tolist() == [1.0, 0.0]
assert torch.tensor([0, 1, 5]).clamp(min=1).tolist() == [1, 1, 5]

# %% [markdown]
# ### Exercise: `masked_mean` ({minutes} minutes)
#
# Average what is there, and leave out what is not: add up, and divide by how many there are.
# Where all was lost the count is 0, and 0 / 0 would be nan once more.
# There `clamp(min=1)` helps: it lifts whatever is below 1 up to 1.
# For 1, 3 and 9, of which the mask lets the first two through, the mean is 2.

# %% name="masked-mean-example"
print(torch.tensor([1.0, 3.0, 9.0])[torch.tensor([True, True, False])].mean())

# %% exercise="masked_mean"
def masked_mean(x, mask, dim):
    """Return the mean along dim of the entries of x where mask is True.

    x: float32 or float64, mask: bool of the same shape. The means have the dtype of x.
    Where no entry is True the mean is 0. The other entries may hold anything, even nan,
    and change nothing. Entries with True are finite. x and mask stay as they are.

    For x = torch.tensor([[1.0, 3.0, 9.0]]) and mask = torch.tensor([[True, True, False]])
    the result along dim 1 is [2.0].
    """
    ### BEGIN SOLUTION
    kept = torch.where(mask, x, 0.0)
    count = mask.sum(dim=dim).clamp(min=1)  # an empty group divides 0 by 1
    return kept.sum(dim=dim) / count
    ### END SOLUTION


# %% check="masked_mean" points=3
check("masked_mean", masked_mean)

# %% mine=true
my_masked_mean = mine("masked_mean", lambda x, mask, dim: x.nanmean(dim))

# %% [markdown]
# Here is your average of the damaged threes, beside the average of the undamaged ones:

# %% name="masked-mean-used"
repaired = my_masked_mean(damaged, real, dim=0)
show_digits([repaired, threes.mean(dim=0)], says=["from half the pixels", "from all"])

# %% claim=true
assert (repaired - threes.mean(dim=0)).abs().max() < 4

# %% [markdown]
# Half of the ink was gone, and the three is still there.
#
# This is a good place for a break.

# %% [markdown] side=true
# #### What is `nan`, and who made it? ({minutes} minutes)
#
# "Not a number" is what a float holds after arithmetic that has no answer, such as the square root of a negative number.
# No error comes with it.
#
# *Predict.* How many entries of `torch.sqrt(torch.tensor([4.0, -1.0, 0.0, -9.0]))` are nan?

# %% predict=true
guess = 2  # a whole number

# %% name="elementwise"
roots = torch.sqrt(torch.tensor([4.0, -1.0, 0.0, -9.0]))
reveal(guess, roots.isnan().sum().item())

# %% [markdown] name="sitting-2"
# # Second sitting: reading handwriting ({minutes} minutes, and {exercises} for the exercises)
#
# If you have closed the notebook in between, run everything above first ("Run All Above Selected Cell"), so that the digits are there again.

# %% [markdown] name="products"
# ## 8 A product that sorts digits ({minutes} minutes)
#
# The ten averages of section 6 took a loop over ten masks. One matrix product gives them all at once, and it is worth a close look, because the layers of a network will be made of such products.
#
# `@` multiplies matrices: each row of the left one meets each column of the right one, and the products of the pairs are added up.

# %% figure=true
figures.matrix_product(
    torch.tensor([[1, 2], [3, 4], [5, 6]]), torch.tensor([[10, 20, 30], [40, 50, 60]])
)

# %% [markdown]
# *Predict.* The picture works out the upper left, 1 * 10 + 2 * 40 = 90. Which number is at the lower right?

# %% predict=true
guess = 510  # a number: row (5, 6) meets column (30, 60)

# %% name="matmul"
left = torch.tensor([[1, 2], [3, 4], [5, 6]])  # (3, 2)
right = torch.tensor([[10, 20, 30], [40, 50, 60]])  # (2, 3)
product = left @ right
print(product)
reveal(guess, product[2, 2].item())

# %% claim=true
assert product.tolist() == [[90, 120, 150], [190, 260, 330], [290, 400, 510]]

# %% [markdown]
# The inner lengths must agree, since a row meets a column, and they disappear in the sum; the outer ones stay: (3, **2**) @ (**2**, 3) is (3, 3).
# When it does not fit, torch names both shapes.

# %% name="matmul-shapes"
with shows_error(RuntimeError, match="cannot be multiplied (2x3 and 2x3)"):
    right @ right

# %% claim=true
assert (torch.randn(3, 4) @ torch.randn(4, 5)).shape == (3, 5)
assert torch.equal(left @ right, torch.matmul(left, right))
assert (torch.ones(4, 3) @ torch.ones(3)).shape == (4,)

# %% [markdown]
# ### Exercise: `one_hot` ({minutes} minutes)
#
# A product can do the sorting, once labels are something to multiply by. The label 7 is not, because a seven would count seven times as much as a one.
# So turn each label into a row with a single 1, in the column of its class.
# For the labels 5, 7 and 5 and eight classes they are

# %% name="one-hot-example"
few_labels = torch.tensor([5, 7, 5])
for label in few_labels:
    print([float(label == number) for number in range(8)])

# %% [markdown]
# Comparisons broadcast too. A column of labels against a row of class numbers asks every label about every class, without a loop.

# %% name="compare-all"
print(few_labels[:, None] == torch.arange(4, 8))  # (3, 1) with (4,)

# %% claim=true
_answers = few_labels[:, None] == torch.arange(4, 8)
assert _answers.shape == (3, 4) and _answers.dtype == torch.bool and _answers.sum() == 3

# %% exercise="one_hot"
def one_hot(labels, k):
    """Return a float32 table (n, k) with a single 1 per row, at the row's label.

    labels: (n,) int64, each in 0..k-1; n may be 0. The number of columns is k,
    whichever labels occur. labels stay as they are.

    one_hot(torch.tensor([2, 0]), 3) gives [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]].
    """
    ### BEGIN SOLUTION
    hits = labels[:, None] == torch.arange(k)  # (n, 1) with (k,) gives (n, k)
    return hits.to(torch.float32)
    ### END SOLUTION


# %% check="one_hot" points=2
check("one_hot", one_hot)

# %% mine=true
my_one_hot = mine("one_hot", lambda labels, k: F.one_hot(labels, k).float())

# %% [markdown]
# Take the labels 5, 7 and 5 once more, and suppose that one pixel of these digits has the ink 10, 20 and 30.
# The column of the fives is 1, 0, 1:

# %% name="fives-added-up"
print(torch.tensor([1.0, 0.0, 1.0]) @ torch.tensor([10.0, 20.0, 30.0]))

# %% claim=true
assert torch.tensor([1.0, 0.0, 1.0]) @ torch.tensor([10.0, 20.0, 30.0]) == 40

# %% [markdown]
# The two fives are added up, 10 + 30, and the seven is multiplied away.
# `hot.T`, in which these columns are rows, does so for every pixel of every class in one product.
#
# *Predict.* `hot` is (1797, 10) and `rows` is (1797, 64). What is the shape of `hot.T @ rows`?

# %% predict=true
guess = (10, 64)  # a tuple

# %% name="ten-averages"
hot = my_one_hot(labels, 10)  # (1797, 10)
sums = hot.T @ rows
counts = hot.sum(dim=0)[:, None]  # how many there are of each
templates = sums / counts
show_digits(templates)
reveal(guess, sums.shape)

# %% claim=true
assert torch.allclose(templates.reshape(10, 8, 8), averages, atol=1e-3)

# %% [markdown]
# The same ten pictures, from one product and one division.

# %% [markdown] side=true
# #### What does `@` do with more than two axes? ({minutes} minutes)
#
# It multiplies the last two and takes the ones before for a batch, which broadcasts as in section 5.

# %% name="batched-matmul"
matrices = torch.randn(2, 3, 4)  # two of (3, 4)
print((matrices @ torch.randn(2, 4, 5)).shape, (matrices @ torch.randn(4, 5)).shape)
print((matrices @ matrices.mT).shape)

# %% claim=true
assert (matrices @ torch.randn(2, 4, 5)).shape == (matrices @ torch.randn(4, 5)).shape == (2, 3, 5)
assert (matrices @ matrices.mT).shape == (2, 3, 3)

# %% [markdown]
# A batch of vectors, (B, k), is not a batch of columns.
# `@` takes it for one matrix; sometimes that fails, and when B happens to equal k it runs, and mixes the samples.
# Make them columns, (B, k, 1).

# %% name="batch-of-vectors"
vectors = torch.randn(2, 4)  # (B, k): one vector for each matrix
with shows_error(RuntimeError):
    matrices @ vectors  # (2, 3, 4) @ (2, 4)
applied = (matrices @ vectors[:, :, None]).squeeze(2)  # (2, 3, 4) @ (2, 4, 1)
print(applied.shape, torch.allclose(applied[1], matrices[1] @ vectors[1], atol=1e-5))

# %% claim=true
assert applied.shape == (2, 3) and torch.allclose(applied[1], matrices[1] @ vectors[1], atol=1e-5)

# %% [markdown]
# ### Letters for axes
#
# For that product the pictures had to be rows, and `hot` had to be transposed.
# `einsum` spares you the puzzle. There you *name* the axes, say n for digits, c for classes, h and w for height and width.
#
# Write the letters of each input, an arrow, and those of the result.
# The same letter in two inputs: these axes go together. A letter that is missing after the arrow is summed over.
#
# *Predict.* What is the shape of `torch.einsum("nc,nhw->chw", hot, images)`?

# %% predict=true
guess = (10, 8, 8)  # a tuple

# %% name="einsum-of-digits"
added = torch.einsum("nc,nhw->chw", hot, images)
show_digits(added / counts[:, None])
reveal(guess, added.shape)

# %% claim=true
assert torch.allclose(added.reshape(10, 64), sums, rtol=1e-3)

# %% [markdown]
# Only n is missing, so the digits were added up. Which letters are summed in these three?

# %% name="einsum"
print(torch.einsum("ij->j", left))  # i is gone: 1 + 3 + 5 and 2 + 4 + 6
print(torch.einsum("ij,jk->ik", left, right))  # a matrix product, that of the picture
print(torch.einsum("ij,kj->ik", left, left))  # every row meets every row

# %% claim=true
_stack = torch.stack([left, 10 * left])  # two (3, 2) matrices
assert torch.equal(torch.einsum("ij,jk->ik", left, right), product)
assert torch.equal(torch.einsum("bij,jk->bik", _stack, right), _stack @ right)
assert torch.equal(torch.einsum("ij->ji", left), left.T)
assert torch.equal(torch.einsum("ij,kj->ik", left, left), left @ left.T)
assert torch.allclose(torch.einsum("nc,np->cp", hot, rows), sums, rtol=1e-3)
assert torch.einsum("ij->j", left).tolist() == [9, 12]

# %% [markdown]
# In the last one rows meet rows, so the two axes need two letters, i and k.
#
# ### Exercise: `batched_einsum` ({minutes} minutes)
#
# A batch of digits is a batch of matrices, and there letters are the surest way.
# You are asked for four products:
#
# - *product*: each `a` times its own `b`
# - *gram*: each `a` times its own transpose
# - *applied*: each `a` times its own vector `v`
# - *total*: the first of these, added up over the batch
#
# For *applied*, `bnk` meets `bk`, and `b` and `n` stay:

# %% name="batched-einsum-example"
pile, arrows = torch.ones(2, 3, 4), torch.arange(8.0).reshape(2, 4)
for matrix, arrow in zip(pile, arrows, strict=True):
    print(matrix @ arrow)

# %% exercise="batched_einsum"
def batched_einsum(a, b, v):
    """Return four products of a (B, n, k), b (B, k, m) and v (B, k), in a dict.

    "product" (B, n, m): each a times its b.   "gram" (B, n, n): each a times its own
    transpose.   "applied" (B, n): each a times its v.   "total" (n, m): the sum of
    the products over the batch.

    With B = 2, n = 3, k = 4, m = 5 the shapes are (2, 3, 5), (2, 3, 3), (2, 3), (3, 5).
    """
    ### BEGIN SOLUTION
    return {
        "product": torch.einsum("bnk,bkm->bnm", a, b),
        "gram": torch.einsum("bik,bjk->bij", a, a),
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": torch.einsum("bnk,bkm->nm", a, b),
    }
    ### END SOLUTION


# %% check="batched_einsum" points=4
check("batched_einsum", batched_einsum)

# %% mine=true
my_batched_einsum = mine("batched_einsum", lambda a, b, v: {"product": a @ b})

# %% [markdown] side=true
# #### Can a product turn a picture around? ({minutes} minutes)
#
# Below, each of four digits meets a matrix of its own: one that changes nothing, one that swaps left and right, one that moves all columns along by one, and one that leaves only every other column.

# %% name="batched-einsum-used"
same = torch.eye(8)  # 1 on the diagonal, 0 elsewhere
turns = torch.stack([same, same.flip(1), same.roll(1, dims=1), same * (torch.arange(8) % 2)])
turned = my_batched_einsum(images[:4], turns, torch.ones(4, 8))["product"]
show_digits([*images[:4], *turned], per_row=4)

# %% claim=true
assert torch.equal(turned[0], images[0]) and torch.equal(turned[1], images[1].flip(1))
assert torch.equal(turned[2], images[2].roll(1, dims=1)) and (turned[3, :, ::2] == 0).all()

# %% [markdown]
# ## 9 A fair hearing for every pixel ({minutes} minutes)
#
# Some people wrote with a thick pen and others with a thin one.
# To give all digits the same ink, divide each by its own sum: what a reduction leaves has to meet its original again.
# In `rows`, from section 3, each digit is one row of 64 numbers:
#
# ```
# rows                             1797    64
# rows.sum(dim=1)                        1797
# rows.sum(dim=1, keepdim=True)    1797     1
# ```
#
# The sums have lost an axis, and their 1797 stands below the 64.
# `keepdim=True` leaves the axis in its place, with length 1. Now they fit.

# %% name="keepdim"
print(rows.sum(dim=1).shape, rows.sum(dim=1, keepdim=True).shape)
shares = rows / rows.sum(dim=1, keepdim=True)
print("ink before:", rows[:3].sum(dim=1), " after:", shares[:3].sum(dim=1))

# %% claim=true
assert rows.sum(dim=1, keepdim=True).shape == (1797, 1)
with shows_error(RuntimeError, match="must match"):
    rows / rows.sum(dim=1)
assert torch.allclose(shares.sum(dim=1), torch.ones(1797))

# %% [markdown]
# Without `keepdim` torch refuses here, because 1797 and 64 differ. On a square table it would run, and divide by the wrong sums.

# %% [markdown] side=true
# #### What goes wrong on a square table without `keepdim`? ({minutes} minutes)
#
# All shapes fit, so nobody is warned:
#
# ```
# square                 1   1    has the sum 2
#                        3   1    has the sum 4
# square.sum(dim=1)      2   4
# ```
#
# *Predict.* What does `square / square.sum(dim=1)` have at the upper right, where `square` has 1?

# %% predict=true
guess = 0.25  # a number

# %% name="no-keepdim"
square = torch.tensor([[1.0, 1.0], [3.0, 1.0]])
wrong = square / square.sum(dim=1)
print(wrong)
reveal(guess, wrong[0, 1].item())

# %% claim=true
assert (square / square.sum(dim=1, keepdim=True)).sum(dim=1).tolist() == [1.0, 1.0]
assert wrong.sum(dim=1).tolist() != [1.0, 1.0]

# %% [markdown]
# One quarter, where one half would be right.
# The sums 2 and 4 belong to the two *rows*. Without their axis they stand below the *columns*, and the whole second column was divided by 4.

# %% [markdown] name="equal-say"
# ### One scale for all
#
# Two digits differ most in the middle of the paper. Its pixels decide your distances, and those of the rim hardly count.
# To **standardize** is to give each the same weight: from each pixel subtract its mean, and divide by its standard deviation, the typical distance from that mean.
#
# *Predict.* How many of the 64 pixels are white in all 1,797 digits? Think of the rim of the paper.

# %% predict=true
guess = 3  # a whole number

# %% name="constant-pixels"
spread = rows.std(dim=0)
standard = (rows - rows.mean(dim=0)) / spread
print(standard.isnan().sum().item(), "places are nan:", standard[0, :4])
reveal(guess, (spread == 0).sum().item())

# %% claim=true
assert (spread == 0).sum() == 3 and standard.isnan().sum() == 3 * 1797
_some = rows[:100]  # the mean squared difference of two digits at a place is twice its variance
_apart = ((_some[:, None] - _some) ** 2).mean(dim=(0, 1))
assert torch.allclose(_apart, 2 * _some.var(dim=0, correction=0), atol=1e-3)

# %% [markdown]
# Three, at the rim, where no one writes.
# Their standard deviation is 0, and 0 / 0 is nan.
# A sum with a nan in it is nan: three pixels without ink would spoil every distance.
#
# The remedy is a small number `eps`. Then 0 / 0 becomes 0 divided by something small.

# %% [markdown] side=true name="arrange-standardize"
# #### Next comes `standardize`: would you like its lines first, in disorder? ({minutes} minutes)
#
# The next exercise begins with a blank cell.
# Here is what may stand in it, line by line, with gaps and with two lines that are not needed.

# %%
from explorers import arrange

arrange("standardize")

# %% [markdown]
# ### Exercise: `standardize` ({minutes} minutes)
#
# On these digits it will hardly help, since all is ink. In a table with the area of a house, 120, and its rooms, 4, the area alone would decide.
# So bring the numbers along any dim to mean 0 and standard deviation 1, with no nan where nothing varies.
# The standard deviation is the root of the **variance**, the mean squared distance from the mean, and `eps` goes under that root.
# A mean divides by n. torch's `var` and `std` divide by n - 1, unless you say `correction=0`.
# 1 and 3, for example, have mean 2 and variance 1, so they become -1 and 1:

# %% name="standardize-example"
pair = torch.tensor([1.0, 3.0])
print("by n:", pair.var(correction=0), " by n - 1:", pair.var())
print((pair - 2) / 1)  # mean 2, variance 1

# %% claim=true
assert pair.var(correction=0) == 1 and pair.var() == 2

# %% exercise="standardize"
def standardize(x, dim, eps):
    """Return (x - mean) / sqrt(var + eps), mean and var taken along dim.

    var is the population variance (correction=0). The result has the shape and dtype
    of x, which holds floats; x itself stays as it is.

    standardize(torch.tensor([[1.0, 3.0]]), dim=1, eps=0.0) gives [[-1.0, 1.0]].
    """
    ### BEGIN SOLUTION
    mean = x.mean(dim=dim, keepdim=True)
    var = x.var(dim=dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
    ### END SOLUTION


# %% check="standardize" points=3
check("standardize", standardize)

# %% mine=true
def plain_standardize(x, dim, eps):
    return (x - x.mean(dim, keepdim=True)) / (x.std(dim, keepdim=True) + eps)


my_standardize = mine("standardize", plain_standardize)

# %% [markdown]
# With yours, the digits look like this: blue is less ink than usual at that place, and red is more.

# %% name="standardize-used"
standard = my_standardize(rows, dim=0, eps=1e-5)
show_digits(standard[:10].clamp(-3, 3))  # what is beyond 3 is cut off

# %% claim=true
assert not standard.isnan().any() and standard.mean(dim=0).abs().max() < 1e-4



# %% [markdown] side=true
# #### Does standardizing help to read? ({minutes} minutes)
#
# Read the last 297 digits once more, as at the start, where 281 were right.
#
# *Predict.* Are there more now, or fewer?

# %% predict=true
guess = "fewer"  # "more" or "fewer"

# %% name="equal-say-reads"
right = 0
for new, label in zip(standard[1500:], labels[1500:], strict=True):
    nearest = ((standard[:1500] - new) ** 2).sum(dim=1).argmin()
    right += (labels[nearest] == label).item()
print(right, "of 297")
reveal(guess, "more" if right > 281 else "fewer")

# %% claim=true
assert 275 < right < 281
_plain = plain_standardize(rows, dim=0, eps=1e-5)
_nearest = (torch.cdist(_plain[1500:], _plain[:1500])).argmin(dim=1)
assert 275 < (labels[_nearest] == labels[1500:]).sum() < 281

# %% [markdown]
# Two fewer may be chance, but it is no gain. Pixels are all ink, on one scale, so there was nothing to put right.
# With square meters and bedrooms there would be: the larger numbers would decide alone.

# %% [markdown] side=true
# #### Why n - 1, and which of the two was used? ({minutes} minutes)
#
# The mean of a sample lies a little too close to its own numbers, so their squared distances from it come out a little too small.
# Dividing by n - 1 makes up for that.
# If the numbers are not a sample but all there are, the whole population, there is nothing to make up for.
#
# When somebody shows you standardized numbers, recompute them: each column must have mean 0, and standard deviation 1 by the deviation that was used.
# The two differ by the factor root of n / (n - 1), which for four houses is a lot, and for 1,797 digits nothing.

# %% name="verify-standardized"
count = len(features)
by_sample = (features - features.mean(dim=0)) / features.std(dim=0)
by_population = (features - features.mean(dim=0)) / features.std(dim=0, correction=0)
print("sample's:    ", by_sample[0])
print("population's:", by_population[0])
print("times", math.sqrt(count / (count - 1)))

# %% claim=true
assert torch.allclose(by_population.mean(dim=0), torch.zeros(3), atol=1e-6)
assert torch.allclose(by_population.std(dim=0, correction=0), torch.ones(3))
assert torch.allclose(by_population, by_sample * math.sqrt(count / (count - 1)))

# %% [markdown] name="bug-hunt"
# ### Bug hunt
#
# The worst mistakes are silent: all shapes fit, a number comes out, and it is wrong.
# To find one, take an example so small that you know the answer, and print shapes on the way.
#
# ### Exercise: `linear_mse` ({minutes} minutes)
#
# A colleague's program standardizes `x`, predicts `x @ w`, and gives the mean squared error.
# It has three bugs, each of a kind that you have met, and yet on most data it returns a plausible number.
# On the docstring's example it gives nan instead of 0: your first clue. Find the three and fix them.

# %% name="linear-mse-example"
scaled = torch.tensor([[-1.0], [1.0]])  # 1 and 3, standardized
print(scaled @ torch.tensor([[2.0]]))  # the targets are -2 and 2: no error

# %% exercise="linear_mse"
### BEGIN STARTER
# def linear_mse(x, w, y):
#     """Return the mean squared error of a linear model on standardized features.
#
#     x: (n, d) features, w: (d, 1) weights, y: (n,) targets; the result is a scalar
#     tensor. Each column of x is standardized (mean 0, population std 1) before use.
#     x, w and y stay as they are.
#
#     For x = torch.tensor([[1.0], [3.0]]), w = torch.tensor([[2.0]]) and
#     y = torch.tensor([-2.0, 2.0]) the result is 0.0.
#     """
#     mean = x.mean(dim=1, keepdim=True)
#     std = x.std(dim=1, correction=0, keepdim=True)
#     x -= mean
#     x /= std
#     prediction = x @ w
#     return ((prediction - y) ** 2).mean()
### END STARTER
def linear_mse(x, w, y):
    """Return the mean squared error of a linear model on standardized features.

    x: (n, d) features, w: (d, 1) weights, y: (n,) targets; the result is a scalar
    tensor. Each column of x is standardized (mean 0, population std 1) before use.
    x, w and y stay as they are.

    For x = torch.tensor([[1.0], [3.0]]), w = torch.tensor([[2.0]]) and
    y = torch.tensor([-2.0, 2.0]) the result is 0.0.
    """
    ### BEGIN SOLUTION
    mean = x.mean(dim=0)
    std = x.std(dim=0, correction=0)
    scaled = (x - mean) / std  # a new tensor
    prediction = (scaled @ w).squeeze(1)  # (n, 1) to (n,)
    return ((prediction - y) ** 2).mean()
    ### END SOLUTION


# %% check="linear_mse" points=3
check("linear_mse", linear_mse)

# %% [markdown] side=true
# #### Which mistakes are loud? ({minutes} minutes)
#
# A wrong dtype, for example, or a wrong device.
# (The device "meta" keeps shapes and no numbers, enough to stand for a second device on any laptop.)

# %% name="loud-mistakes"
with shows_error(RuntimeError, match="dtype"):
    torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.float64)
with shows_error(RuntimeError, match="meta"):
    torch.ones(3) + torch.ones(3, device="meta")

# %% claim=true
_sum = torch.ones(3).sum()
assert not _sum.requires_grad
with shows_error(RuntimeError, match="does not require grad"):
    _sum.backward()  # nothing requires grad: loud as well

# %% [markdown] name="dtypes"
# ## 10 What a number format cannot hold ({minutes} minutes)
#
# Count the ink on all 1,797 digits: `images.sum()` says 561,718.
# A pixel is only a whole number from 0 to 16. float16, with 16 bits in place of 32 and half of the memory, should be plenty for it.
#
# *Predict.* Is `images.to(torch.float16).sum()` within 10,000 of 561,718?

# %% predict=true
guess = False  # True or False

# %% name="ink-in-half"
ink = images.to(torch.float16).sum()
print(images.sum().item(), "in float16:", ink.item())
reveal(guess, abs(ink.item() - 561_718) < 10_000)

# %% claim=true
assert images.sum() == 561_718 and ink == math.inf

# %% [markdown]
# Infinity, and no error tells you so. Each pixel fits, but the sum lies beyond 65,504, where float16 ends.
#
# Why does a format end, and what else can it not hold?
# Suppose you may write down only three digits and a power of ten, and the power has a single digit too.
#
# - The largest number is then 9.99e9, and the smallest above zero 0.01e-9. How far the powers go is the **range**: what lies above it becomes infinite, and what lies below becomes 0.
# - After 3.14 comes 3.15, a gap of 0.01. After 3.14e5, which is 314,000, comes 3.15e5, a gap of 1,000. How many digits there are is the **precision**: what lies in a gap is rounded, and larger numbers have larger gaps.
#
# A number format is just that, with binary digits. Its bits are shared out between the digits and the power, and the two formats of 16 bits do it differently:
#
# | | bits | binary digits | smallest above 0 | largest | all whole numbers up to |
# |---|---|---|---|---|---|
# | float32 | 32 | 24 | 1e-45 | 3e38 | 16,777,216 |
# | float16 | 16 | 11 | 6e-8 | 65,504 | 2,048 |
# | bfloat16 | 16 | 8 | 9e-41 | 3e38 | 256 |
#
# bfloat16 goes nearly as far as float32, with half of the bits, and pays for it with digits.
# Two numbers show what each of them loses, a tiny one, 0.00000002 or 2e-8, and 257:

# %% name="float16-range"
for kind in (torch.float32, torch.float16, torch.bfloat16):
    print(kind, torch.tensor(2e-8).to(kind).item(), torch.tensor(257.0).to(kind).item())

# %% claim=true
_small = torch.tensor(2e-8)
assert _small.to(torch.float16) == 0
assert torch.tensor(6e-8).to(torch.float16) > 0 and _small.to(torch.bfloat16) > 0
assert torch.tensor(70_000.0).to(torch.float16) == math.inf
assert torch.tensor(70_000.0).to(torch.bfloat16) < math.inf
_wide, _full, _short = (torch.finfo(_k) for _k in (torch.bfloat16, torch.float32, torch.float16))
assert _wide.tiny == _full.tiny and 0.99 < _wide.max / _full.max < 1 and _short.max == 65_504
for _kind, _digits in ((torch.float32, 24), (torch.float16, 11), (torch.bfloat16, 8)):
    _limits = torch.finfo(_kind)
    assert _limits.eps == 2.0 ** (1 - _digits)
    _end, _next = torch.tensor([2.0**_digits, 2.0**_digits + 1], dtype=torch.float64)
    assert _end.to(_kind).double() == _end and _next.to(_kind).double() != _next
    _least = {24: "1e-45", 11: "6e-08", 8: "9e-41"}[_digits]
    assert f"{_limits.smallest_normal * _limits.eps:.0e}" == _least
_kept = torch.arange(254.0, 261).to(torch.bfloat16).tolist()
assert _kept == [254, 255, 256, 256, 258, 260, 260]
_odd = torch.arange(257.0, 512, 2).to(torch.bfloat16)
assert (_odd % 4 == 0).all() and not torch.equal(_odd, torch.arange(257.0, 512, 2))

# %% [markdown] name="precision"
# float16 takes the tiny number for 0, and bfloat16 takes 257 for 256.
# In the picture each dot is a number that bfloat16 has. From 256 on its gaps are 2 wide, and what you ask for in between becomes a neighbor.

# %% name="numbers-that-are-there" figure=true
figures.number_line()

# %% [markdown]
# A gap hurts most where you add. float32 has all whole numbers up to `2**24`, which is 16777216, and after that not all of them.
#
# *Predict.* What is `torch.tensor(16777216.0) + 1`?

# %% predict=true
guess = 16777216  # a number

# %% name="lost-addition"
many = torch.tensor(2.0**24)
reveal(guess, (many + 1).item())

# %% claim=true
assert many + 2 != many and many - 1 != many
assert many + 3 == many + 4 != many + 2  # halfway from + 2 to + 4, whose last digit is 0

# %% [markdown]
# The 1 is lost, because the sum lies in a gap and is rounded back to where it was.
# A counter in float32 stands still there for good, and one in bfloat16 as early as 256.
#
# It need not be a large number. From 1 on, bfloat16 has gaps of 0.0078, so that a step of 0.5 counts, and one of 0.001 is lost:

# %% name="lost-step"
one = torch.tensor(1.0, dtype=torch.bfloat16)
print((one + 0.5).item(), (one + 0.001).item())

# %% claim=true
assert (one + 0.5).item() == 1.5 and (one + 0.001).item() == 1
assert round(torch.finfo(torch.bfloat16).eps, 4) == 0.0078

# %% [markdown] name="dtype-choice"
# Learning goes by such small steps, and chapter 5 shows where they have to be kept.
# Until then take float32, the default, unless digits matter more than time: then float64.

# %% [markdown] side=true
# #### How many bytes does each format take, how large are its gaps, and where are the bits? ({minutes} minutes)
#
# `my_describe` counts the bytes of a million numbers.

# %% name="dtype-memory"
million = torch.zeros(1000, 1000)
for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8):
    print(my_describe(million.to(kind))["bytes"], "bytes in", kind)

# %% claim=true
_kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8)
assert [million.to(_kind).nbytes / 1e6 for _kind in _kinds] == [8, 4, 2, 2, 1]

# %% [markdown]
# On the left of the picture are the numbers that each format has near 1; those of float32 are too many to tell apart.
# On the right, choose a size of number at the bottom and go up to the format's line: there is the gap.

# %% figure=true
figures.float_spacing()

# %% [markdown]
# bfloat16 has one bit for the sign, and eight that say which power of two.
# That leaves seven for the digits, and they are enough for eight, because the first digit is always 1 and need not be kept.
# 255 is 11111111, just eight of them. 257 would be 100000001, and for the ninth there is no room, whereas 258 is 100000010, where the ninth is a 0.
# float16 spends its bits differently: eleven digits, so smaller gaps, but it ends sooner, at 65,504 and at about 6e-8.
#
# A sum in the exact middle of a gap goes to the end whose last binary digit is 0.
# Of 16777216 and 16777218 that is the first, so the counter goes back; three more lies between 16777218 and 16777220, and goes up.

# %% name="halfway"
print((many + 1).item(), (many + 3).item())

# %% claim=true
assert (many + 1).item() == 2**24 and (many + 3).item() == 2**24 + 4

# %% [markdown] side=true
# #### Which dtype wins when two of them meet, and does float64 cost time? ({minutes} minutes)
#
# torch has to choose for you.
#
# *Predict.* What is the dtype of `torch.tensor([1, 2]) * 0.5`?

# %% predict=true
guess = torch.float32  # a dtype

# %% name="promotion-first"
whole = torch.tensor([1, 2])
reveal(guess, (whole * 0.5).dtype)

# %% [markdown]
# This is **promotion**, and it goes by kind first: float over integer over bool.
# Within a kind the larger size wins, except that a single number, from Python or from a tensor without axes, does not widen the other.
# What it never does is look at the numbers.

# %% name="promotion"
half = torch.ones(2, dtype=torch.float16)
print("int64 + float16:         ", (whole + half).dtype)
print("float16 + float32:       ", (half + torch.ones(2)).dtype)
print("float16 * Python's 0.5:  ", (half * 0.5).dtype)
print("100,000 + float16 is now:", (torch.tensor([100_000]) + half).tolist())

# %% claim=true
assert (whole / 2).dtype == torch.float32  # a division always gives floats
assert (half + torch.ones(2)).dtype == torch.float32
assert whole.dtype == torch.int64 and (whole + half).dtype == torch.float16
assert (whole + torch.tensor([True, False])).dtype == torch.int64
assert (torch.tensor([100_000]) + half).isinf().all()
assert (half * 0.5).dtype == torch.float16 and (half + torch.tensor(0.5)).dtype == torch.float16

# %% [markdown]
# Matrix products do not promote; they ask for equal dtypes.
# You will see this message sooner or later, because NumPy's floats arrive as float64.

# %% name="matmul-dtypes"
with shows_error(RuntimeError, match="same dtype"):
    rows.double() @ torch.ones(64, 2)  # double() gives float64
print((rows.double().float() @ torch.ones(64, 2)).shape)  # float() gives float32

# %% claim=true
assert (rows.double().float() @ torch.ones(64, 2)).shape == (1797, 2)

# %% [markdown]
# float64 costs time as well; how much depends on the machine, and the cell measures yours.

# %% name="float64-cost"
x = torch.randn(512, 512)
y = x.double()
ratio = milliseconds(lambda: y @ y) / milliseconds(lambda: x @ x)
print(f"float64 takes {ratio:.1f} times as long as float32")

# %% claim=true
assert torch.finfo(torch.float64).eps < 1e-15 < 1e-7 < torch.finfo(torch.float32).eps

# %% [markdown] name="surprises"
# ### Exercise: `precision_lab` ({minutes} minutes)
#
# Some day a number looks odd, and no error says why. Then ask four questions.
# Is a small step lost beside 1? Does a tiny number become 0? Where does a counter stop? And, from section 5: how many numbers does a loss average where a row met a column?
# Here is a step that is not lost:

# %% name="precision-example"
one = torch.tensor(1.0, dtype=torch.bfloat16)
print((one + 0.5 != one).item())

# %% exercise="precision_lab"
def precision_lab(step, tiny, count, n):
    """Return four facts about small numbers and shapes, in a dict.

    step and tiny are positive.
    "moves" (bool): does 1 + step differ from 1 in bfloat16?
    "survives" (bool): is tiny different from 0 in float16?
    "counted" (float): 0 plus 1, count times in a row, in bfloat16.
    "averaged" (int): how many numbers the loss averages when a prediction of shape
    (n,) meets a target of shape (n, 1).

    precision_lab(0.5, 0.5, 3, 1) gives
    {"moves": True, "survives": True, "counted": 3.0, "averaged": 1}.
    """
    ### BEGIN SOLUTION
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    total = torch.tensor(0.0, dtype=torch.bfloat16)
    for _ in range(count):
        total = total + 1
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": total.item(),
        "averaged": (torch.zeros(n) - torch.zeros(n, 1)).numel(),
    }
    ### END SOLUTION


# %% check="precision_lab" points=4
check("precision_lab", precision_lab)

# %% mine=true
def as_seen_above(step, tiny, count, n):
    # What this chapter has shown, for the four that are asked for below.
    return {"moves": False, "survives": False, "counted": 256.0, "averaged": 16}


my_precision_lab = mine("precision_lab", as_seen_above)

# %% [markdown]
# Say the four answers for `step=0.001`, `tiny=1e-8`, `count=1000` and `n=4` aloud, and then ask your function.

# %% name="precision-used"
for name, fact in my_precision_lab(0.001, 1e-8, 1000, 4).items():
    print(f"{name:9} {fact}")

# %% claim=true
_facts = my_precision_lab(0.001, 1e-8, 1000, 4)
assert _facts == {"moves": False, "survives": False, "counted": 256.0, "averaged": 16}

# %% [markdown] side=true
# #### How does a score become a probability? ({minutes} minutes)
#
# By **softmax**, which turns any scores into positive numbers with sum 1: take exp of each, and divide by their sum.
# It is also the largest trap of the range.
#
# *Predict.* e to the power of 100 is about 3e43, and float32 ends at 3e38. Is the softmax of the scores 0 and 100, written so, finite?

# %% predict=true
guess = False  # True or False

# %% name="softmax-overflow"
big_scores = torch.tensor([0.0, 100.0])
naive = big_scores.exp() / big_scores.exp().sum()
print(big_scores.exp(), naive)
reveal(guess, naive.isfinite().all().item())

# %% claim=true
assert big_scores.exp()[1] == math.inf and naive[1].isnan()

# %% [markdown]
# exp(100) is infinite, and infinity divided by itself is nan.
# The way out: a constant that is added to all scores cancels in the division.

# %% name="softmax-shift"
some = torch.tensor([1.0, 2.0, 3.0])
for scores in (some, some - 2.5):
    print(scores.exp() / scores.exp().sum())

# %% claim=true
assert torch.allclose(some.exp() / some.exp().sum(), (some - 2.5).exp() / (some - 2.5).exp().sum())

# %% [markdown]
# ### Exercise: `softmax_stable` (stretch, extra credit, {minutes} minutes)
#
# Chapter 2 turns scores into shares, and will use yours: take exp of each, and divide by their sum.
# For large scores exp is infinite. The way out: a constant that is added to all scores cancels in the division.
# Choose it so that no exp can overflow, and think of several rows, one far below the others.
# For two scores of 1000 it can be -1000:

# %% name="softmax-example"
shifted = torch.tensor([1000.0, 1000.0]) - 1000
print(shifted.exp() / shifted.exp().sum())

# %% exercise="softmax_stable"
def softmax_stable(x, dim):
    """Return the softmax of x along dim, finite however large the entries of x are.

    Write it yourself: torch.softmax and its relatives are not allowed. The result has
    the shape and dtype of x; if x requires grad, so does the result. x stays as it is.

    softmax_stable(torch.tensor([1000.0, 1000.0]), dim=0) gives [0.5, 0.5].
    """
    ### BEGIN SOLUTION
    largest = x.amax(dim=dim, keepdim=True)
    powers = torch.exp(x - largest)  # the largest power is exp(0) = 1
    return powers / powers.sum(dim=dim, keepdim=True)
    ### END SOLUTION


# %% check="softmax_stable" extra=3
check("softmax_stable", softmax_stable)

# %% [markdown] name="below-zero"
# ## 11 Distances below zero ({minutes} minutes)
#
# A squared distance cannot be negative, and yet programs report distances below zero.
# To save time they compute p * p - 2 * p * q + q * q in place of (p - q) ** 2. On paper the two are equal.
#
# *Predict.* For p = 10000 and q = 10001.1 the squared distance is about 1.21. In float32, does the long form come to within 1 of that?

# %% predict=true
guess = False  # True or False

# %% name="cancellation"
p, q = torch.tensor(10_000.0), torch.tensor(10_001.1)
direct = (p - q) ** 2
expanded = p * p - 2 * p * q + q * q
print("direct:", direct.item(), " expanded:", expanded.item())
reveal(guess, abs(expanded.item() - 1.21) < 1)

# %% claim=true
assert abs(direct - 1.21) < 0.01 and expanded == -8
assert (p - 10_000.5) ** 2 == 0.25
assert p * p - 2 * p * 10_000.5 + torch.tensor(10_000.5) ** 2 != 0.25

# %% [markdown]
# A squared distance of -8. It is section 10 again: the squares are near 100 million, where float32 numbers are 8 apart, and the small difference drowns.
#
# So subtract first, then square. Broadcasting gives all differences at once, if one set of points becomes a row and the other a column.

# %% name="all-differences"
start, stop = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0, 30.0])
print(stop[None, :] - start[:, None])  # (1, 3) - (2, 1)

# %% claim=true
assert (stop[None, :] - start[:, None]).tolist() == [[9.0, 19.0, 29.0], [8.0, 18.0, 28.0]]

# %% [markdown]
# ### Exercise: `pairwise_sq_dists` ({minutes} minutes)
#
# This is the heart of the chapter: the squared distance of every new digit to every known one, without a loop.
# The differences above were of single numbers. Points have d coordinates each.
# So give `a` and `b` a third axis, in such places that every row of one meets every row of the other.
# For one pair of points:

# %% name="pairwise-example"
difference = torch.tensor([0.0, 0.0]) - torch.tensor([3.0, 4.0])
print(difference, (difference**2).sum())  # 9 + 16

# %% exercise="pairwise_sq_dists"
def pairwise_sq_dists(a, b):
    """Return the squared distance from every row of a to every row of b.

    a: (n, d), b: (m, d), of one dtype; the result has shape (n, m) and that dtype.
    No loops. The result is never negative, and it is accurate also for points far from
    the origin. a and b stay as they are.

    For a = torch.tensor([[0.0, 0.0]]) and b = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    the result is [[25.0, 1.0]].
    """
    ### BEGIN SOLUTION
    differences = a[:, None, :] - b[None, :, :]  # (n, m, d)
    return (differences**2).sum(dim=-1)
    ### END SOLUTION


# %% check="pairwise_sq_dists" points=3
check("pairwise_sq_dists", pairwise_sq_dists)

# %% mine=true
my_pairwise_sq_dists = mine("pairwise_sq_dists", lambda a, b: torch.cdist(a, b) ** 2)

# %% [markdown] name="moment"
# ## 12 Your program reads handwriting ({minutes} minutes)
#
# You have all the pieces.
# To see honestly how well your program reads, set 397 digits aside as new ones, by a generator of your own, so that they are the same tomorrow.
# `randperm` gives the numbers 0 to 1,796 in a random order.

# %% name="split"
order = torch.randperm(1797, generator=torch.Generator().manual_seed(seed))
known, unseen = order[:1400], order[1400:]  # places in the file
show_digits(images[unseen[:10]])

# %% [markdown]
# Read them with your own function: all distances in one call, the place of the smallest in each row, the label at that place.

# %% name="nearest-neighbor"
distances = my_pairwise_sq_dists(rows[unseen], rows[known])  # (397, 1400)
nearest = known[distances.argmin(dim=1)]
answers = labels[nearest]

right = answers == labels[unseen]
print(f"{right.float().mean().item():.1%} of 397 new digits are read correctly")

# %% claim=true
assert distances.shape == (397, 1400) and right.float().mean() > 0.97

# %% [markdown]
# You wrote a program that reads handwriting.
# It has no rule about loops and strokes. It has 1,400 examples and a distance.
#
# Look at the mistakes; they say more than the percentage.
# Below each digit that it read wrongly is the known one that was nearest.

# %% name="mistakes"
wrong = unseen[~right]
show_digits(images[wrong], says=answers[~right], is_=labels[wrong])
show_digits(images[nearest[~right]], says=labels[nearest[~right]])

# %% [markdown]
# And the ten averages, computed from the known digits alone?

# %% name="nearest-mean"
hot = my_one_hot(labels[known], 10)
templates = hot.T @ rows[known] / hot.sum(dim=0)[:, None]
to_each = my_pairwise_sq_dists(rows[unseen], templates)  # (397, 10)
print("the first new digit, how far from each:", to_each[0].int().tolist())
by_mean = to_each.argmin(dim=1)
share = (by_mean == labels[unseen]).float().mean().item()
print(f"nearest of ten averages: {share:.1%}")

# %% claim=true
assert 0.85 < (by_mean == labels[unseen]).float().mean() < 0.95

# %% [markdown]
# Ten pictures do nine tenths of the work, and for the rest it takes all 1,400.
# Chapter 2 starts here: it will *learn* ten pictures, from zeros, and they will read better than the averages do.
#
# One riddle remains. At the start the same method read 94.6 %, and here about 99. Which is the honest number?
# The file was collected writer by writer. Its last 297 digits probably come from people of whom the program had seen little; after shuffling it has seen every hand before.
# So ask whose handwriting it will read. If that of people it has never met, the honest number is the lower one.

# %% [markdown] side=true
# #### How much noise can your reader bear? ({minutes} minutes)
#
# `my_make_batch` makes it.
#
# *Predict.* Ink goes from 0 to 16. Noise of standard deviation 4 is added to all pixels of the new digits. Are more than 90 % of them still read correctly?

# %% predict=true
guess = True  # True or False

# %% name="noise"
shares = {}
for strength in (4, 16):
    noisy = rows[unseen] + strength * my_make_batch(397, 64, seed=seed)
    nearest = known[my_pairwise_sq_dists(noisy, rows[known]).argmin(dim=1)]
    shares[strength] = (labels[nearest] == labels[unseen]).float().mean().item()
    show_digits(noisy[:10].clamp(0, 16))
    print(f"noise of {strength}: {shares[strength]:.0%}")
reveal(guess, shares[4] > 0.9)

# %% claim=true
assert shares[4] > 0.9 and 0.3 < shares[16] < 0.6

# %% [markdown]
# At 16 it still reads two in five, where guessing gets one in ten; can you keep up?

# %% [markdown] name="checklist"
# ## Recap ({minutes} minutes)
#
# Six questions find most bugs, in this order; the last two are for the chapters to come.
#
# | ask | look at |
# |---|---|
# | shape: is it what I wrote in the comment? | `x.shape` |
# | dtype: floats for numbers, int64 for labels? | `x.dtype` |
# | device: the same for all? | `x.device` |
# | repeatable: does the same seed give the same? | `torch.manual_seed` |
# | requires grad: where it should, and only there? | `x.requires_grad` |
# | loss, the number that says how wrong a model is: does it go down? | `loss.item()` |

# %% [markdown] name="progress-text"
# `progress(1)` shows what you have passed in this chapter, and `progress()` in all.

# %% name="progress"
progress(1)

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. You write into `images[labels == 4]`, after taking it. Do the data change? And into `images[:4]`?
# 2. Which of `reshape` and `permute` moves axes, and how do you notice that you took the wrong one?
# 3. What do (4, 1) and (4,) give, and where does that hurt?
# 4. Which dim of (batch, features) do you name to average over the batch?
# 5. What does `one_hot(labels, 10).T @ rows` add up?
# 6. What does bfloat16 keep of float32, and what does float16 keep?
#
# <details><summary>Answers</summary>
#
# 1. No: a mask gives a copy. Yes: a slice is a view.
# 2. `permute`. You notice it by looking, since the shape is right in both cases.
# 3. (4, 4), a table of every prediction with every target, and no error: in a loss.
# 4. dim 0: the dim that you name disappears.
# 5. For each class, the pixels of its digits.
# 6. bfloat16 the range, float16 more of the digits.
#
# </details>

# %% [markdown] name="faq-numpy" side=true
# #### Questions people ask: NumPy or PyTorch, and how do I practice? ({minutes} minutes)
#
# **NumPy or PyTorch?**
# They share names, indexing and broadcasting.
# PyTorch adds derivatives and graphics cards; NumPy is lighter, and has more of plain statistics.
# A common split is NumPy to load and clean data, and tensors from the model onwards.

# %% [markdown] name="faq-study"
# **How do I practice?**
# Take one tiny example and trace each line: what comes in, which rule acts, what comes out, and where would you look first if it did not?
# Then change one input and predict; then break it, and compare.
# A word such as "view" is learned when you know a case that works, an edge case, and one that fails.
#
# **How do I know that it worked?**
# By something that you can see, a shape, a number, a picture, a check; and not by the absence of an error.

# %% [markdown] name="faq-confusing"
# **Why is it confusing at first?**
# Because new words and new behavior come mixed.
# Keep them apart: for each operation ask for its input, its rule, its result, and the way it fails.

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org) on tensor views and on broadcasting;
# Edward Yang, "PyTorch internals" (2019), on strides and storage;
# Paszke and others, "Automatic differentiation in PyTorch" (2017);
# the book "Dive into Deep Learning" (d2l.ai).
# The digits: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository (1998).
#
# Chapter 2 begins with ten empty pictures, and lets them fill themselves.
