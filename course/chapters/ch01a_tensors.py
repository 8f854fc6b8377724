# %% [markdown] name="opening"
# # Chapter 1a: Tensors
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Can a program read handwriting if nobody has taught it anything?*
#
# At the end of this course you will draw a digit with the mouse, and a model will say which one it is.
# You will have written the loop that trains the model, and you will understand the rest: the model itself, and the few lines that turn your drawing into something it can read.
# Today there is no model yet, and no learning. There are only grids of numbers, and arithmetic on them. In a few minutes you will see that this alone reads nearly 95 digits in 100.
#
# You need Python for this, and nothing of PyTorch. In this first sitting you learn to
#
# - make tensors, and ask them what they are
# - tell whether two of them share their memory
# - turn and cut a grid without moving a number
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises. Side paths, folded under a question, are optional.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # decides the random numbers; any whole number will do

# %% setup=true
import math
import warnings
import numpy as np
import torch
import torch.nn.functional as F
from autograder import about, check, hint, hunt, mine, progress, reveal, shows_error
from course.figures import ch01 as figures
from course.instruments import milliseconds, same_memory, show_digits

_ = torch.manual_seed(seed)

# %% [markdown]
# This is where we are going. The bars say how much the drawing looks like each of the ten digits:

# %% name="first-page" figure=true
figures.first_page()

# %% [markdown] name="before-anything"
# ## Reading without learning
#
# *{minutes} minutes*
#
# Here are ten of 1,797 digits that people wrote by hand.
# Each is a grid of 8 by 8 numbers that say how much ink there is: 0 is white paper, 16 is full ink.
# They come with the package scikit-learn, so there is nothing to download.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)
labels = torch.tensor(digits.target)
show_digits(images[:10], is_=labels[:10])

# %% [markdown]
# You know what the first 1,500 are. Now you get a new one.
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
# Guess before you go on: how many in 100 will it get right?

# %% name="all-new-ones"
right = 0
for new, label in zip(images[1500:], labels[1500:], strict=True):
    nearest = ((known - new) ** 2).sum(dim=(1, 2)).argmin()
    right += (labels[nearest] == label).item()

print(f"{right} of 297 are read correctly, {right / 297:.1%}")

# %% claim=true
assert right == 281
assert labels[distances.argmin()] == labels[1500] == 1

# %% [markdown] name="how-to-work"
# Nearly 95 in 100, from three lines, and nothing was learned.
# You need not understand them yet. In chapter 1b you will, and in chapter 1c you will do without the loop.
#
# ### Guess first
#
# This course keeps asking you what will happen.
# In a cell with `guess = ...`, replace the `...` with your answer and run it; the next cell shows what torch says.
# A wrong guess costs nothing, and a surprise is what you will remember.
# (If you know NumPy, you know views and masks. In section 2 just make the guesses, and read the text only where one was wrong.)

# %% [markdown] name="create"
# ## 1 What a tensor says
#
# *{minutes} minutes*
#
# All data in PyTorch is in **tensors**, grids of numbers with any number of axes: a pixel has none, a row of pixels one, a picture two, and all pictures together three.
# Many errors come from a wrong shape, or from whole numbers where torch needs fractions.
# Every tensor can tell you what it is, and asking it first can save you an evening.
#
# *Predict.* There are 1,797 digits of 8 by 8 pixels. What is the **shape** of `images`, the lengths of its axes?

# %% predict=true
guess = (1797, 8, 8)  # a tuple

# %% name="shape-of-the-digits"
reveal(guess, images.shape)

# %% [markdown]
# The first axis counts the digits, the second the rows of a picture, the third its columns.
# An axis that counts examples is the **batch axis**; it mostly comes first.
#
# Each whole number in an index removes one axis, so `images[0]` is one digit, with two axes left.
# One pixel of it has none left, and `item()` turns it into an ordinary Python number.

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
# A tensor also tells you its **dtype**, the type of all its numbers: `float32` means numbers with a fraction, in 32 bits each, and `int64` whole numbers in 64.
# And it tells you its **device**, where the numbers lie. Here that is the memory of the CPU; graphics cards come in chapter 5.

# %% name="dtype-and-device"
print(images.dtype, labels.dtype, images.device)

# %% claim=true
assert images.dtype == torch.float32 and labels.dtype == torch.int64
assert images.device.type == "cpu"

# %% [markdown]
# To try out a line of code you often make a small tensor yourself: with `torch.tensor([0.5, 2.0])` from a list, with `torch.zeros(2, 3)` from a shape. Which dtype does it get?
#
# *Predict.* `torch.arange(0, 10, 2)` counts as Python's `range` does: from 0, in steps of 2, up to but not including 10. What is its dtype?

# %% predict=true
guess = torch.int64  # a dtype, for example torch.float32

# %% name="arange"
evens = torch.arange(0, 10, 2)
print(evens)
print("a list with a fraction:", torch.tensor([0.5, 2.0]).dtype, " zeros:", torch.zeros(2, 3).dtype)
reveal(guess, evens.dtype)

# %% claim=true
assert evens.tolist() == [0, 2, 4, 6, 8]

# %% [markdown]
# Whole numbers stay whole, so `labels` are int64, whereas `zeros` and `ones` are float32.
# You notice the difference when you ask for a mean. A mean need not be a whole number, so torch refuses until you say that you want fractions.
# (`shows_error` expects an error and prints it, so that the notebook can go on. `Long` in the message is torch's other name for int64.)

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
# `check`, in the cell below, tells you what is right and what is not, as often as you like.
# When you are stuck, open Hint there, or run `hint("describe")`; each call says more.
#
# <details><summary>How it is graded</summary>
#
# The grader goes through the notebook from top to bottom, and takes each answer as it stands at its check.
# It runs other cells only if an answer uses something from them.
#
# </details>
#
# ### Exercise: `describe`
#
# *{minutes} minutes*
#
# A warm-up: all that you need is in the next cell. When something does not fit, the first question is always the same: what do I have in my hands? `describe` answers it in one call.
# It also counts the bytes, because one day they decide whether your data fit on a graphics card: the number of elements, `numel()`, times the bytes of each, `element_size()`.
# `labels`, for example, holds 1,797 numbers of 8 bytes. (`requires_grad` you only read off; chapter 2 explains it.)

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
# The lesson often goes on with what you write. `my_describe` is *your* `describe` once its check has passed; until then a plain version takes its place, which here tells you less.

# %% name="describe-used"
my_describe(images)

# %% claim=true
assert my_describe(images)["bytes"] == 460_032 and my_describe(images)["dtype"] == torch.float32

# %% [markdown] side=true
# #### What is `requires_grad` good for?
#
# *{minutes} minutes*
#
# A network learns by finding out how a change in each of its numbers would change the final result.
# PyTorch can work that out, if it has kept track of the steps; `requires_grad=True` asks for it.
# NumPy's arrays cannot do this, and that is the main reason to learn PyTorch.
#
# What is kept belongs to the *result*: `grad_fn` is a link to the step that made it, here a multiplication.
# The tensor you began with remembers nothing.
#
# It is easy to forget the s of `requires_grad`.
# torch refuses the misspelled word as a keyword. As an attribute Python accepts it, but torch never reads it, and nothing happens.

# %% name="records"
plain = torch.ones(3)
watched = torch.ones(3, requires_grad=True)
print("without:", (plain * 2).grad_fn, " with:", (watched * 2).grad_fn.name())
print("the tensor itself:", plain.grad_fn, watched.grad_fn)

# %% claim=true
assert plain.requires_grad is False and (plain * 2).grad_fn is None
assert watched.requires_grad is True and watched.grad_fn is None
assert "Mul" in (watched * 2).grad_fn.name()

# %% name="misspelt-flag"
weights = torch.ones(3)
weights.require_grad = True  # no s
print("requires grad:", weights.requires_grad)
with shows_error(TypeError, match="require_grad"):
    torch.ones(3, require_grad=True)

# %% claim=true
assert weights.requires_grad is False

# %% [markdown] side=true
# #### How do I use a graphics card, a loop, random numbers?
#
# *{minutes} minutes*
#
# A program asks for the card, and falls back on the CPU where there is none. `to` gives the tensor on another device, or with another dtype.
#
# A PyTorch program runs line by line, like any other Python program, so a loop, a `print` or a debugger works anywhere. A loop over a tensor goes along its first axis.
#
# The random numbers of `randn` come from the standard normal distribution, so a million of them come close to mean 0 and standard deviation 1.

# %% name="device"
device = "cuda" if torch.cuda.is_available() else "cpu"
two_by_two = torch.tensor([[0.1, 0.9], [0.8, 0.2]]).to(device)
print(two_by_two.shape, two_by_two.dtype, two_by_two.device)

# %% claim=true
assert two_by_two.shape == (2, 2) and two_by_two.device.type == device
assert two_by_two.dtype == torch.float32

# %% name="line-by-line"
for row in digit[:3]:
    print(row.int().tolist(), "has ink:", row.sum().item())

# %% claim=true
assert [_row.numel() for _row in digit] == [8] * 8

# %% name="randn"
draws = torch.randn(1_000_000)
print(f"mean {draws.mean().item():.3f}, standard deviation {draws.std().item():.3f}")

# %% claim=true
assert abs(draws.mean().item()) < 0.01 and abs(draws.std().item() - 1) < 0.01

# %% [markdown] name="views"
# ## 2 Whose memory is it?
#
# *{minutes} minutes*
#
# Around the strokes of these digits there is faint gray. You would like to see one without it, so you write a function that puts 0 wherever there is less ink than 8.
# (`digit < 8` is a **mask**, a tensor of booleans: True where to write.)
#
# From a page of ten digits, take the one at place 4 and wipe it:

# %% name="wipe"
def wipe(digit):
    digit[digit < 8] = 0
    return digit


page = images[:10].clone()  # clone() gives a copy
wiped = wipe(page[4])
show_digits([images[4], wiped], says=["as it was", "wiped"])

# %% [markdown]
# That worked. Now go on with the page. You have assigned nothing to it.
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
# No, it is wiped too. `page[4]` has no numbers of its own. It is a **view**, a second tensor on the memory of the first, and the function wrote through it into the page.
# To write into memory that is already there, as the function did, is to work **in place**. (An innocent `x -= 1` does so too, whereas `x = x - 1` computes a new tensor.)
#
# On a page you see it at once. In training data you may see it next week, when your results have changed and you look for the reason everywhere but there.
# So ask of each part that you take out: does it have memory of its own?
#
# That depends on how you take it, and a small table shows the difference.
# You take `row` by its number, and `picked` by a list of numbers: the last row, the first, and the last again. Then you write one number into each.
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
# The row is a view, as `page[4]` was. With a list, torch collects the rows into a **copy**, which has memory of its own: the lower strip, where the -1 went.
#
# So there are two ways to take a part. A number or a slice gives a view. A list gives a copy, and so does a mask, because it may choose any places at all.
# That is so where you *take* something. On the left of an equals sign, as in `digit[digit < 8] = 0`, a mask or a list only says where to write, and torch writes into the tensor itself.
#
# This course's `same_memory` tells you which you got. Here you take all the fours by a mask, and the first 1,500 digits by a slice:

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
# And the page? Let `wipe` itself begin with `digit = digit.clone()`. Then it writes into a copy, the page stays as it was, and nobody who calls the function has to think of it.
#
# With arrays of NumPy the function tells you: `torch.tensor(array)` copies, whereas `torch.from_numpy(array)` and, the other way, `x.numpy()` share the memory. (NumPy's floats are float64, and stay so.)
#
# ### Exercise: `first_and_rest`
#
# *{minutes} minutes*
#
# Set one digit aside, so that no change of the data reaches it. Leave the others where they are: to copy them all would waste memory.
# For the table above, the copy should hold the first of these, the view the second:

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
# Put it to the test: invert the digit that was set aside. Its page should stay as it was.

# %% name="first-and-rest-used"
page = images[:10].clone()
one, others = my_first_and_rest(page)
one[:] = 16 - one  # ink where there was paper
show_digits([one, page[0]], says=["set aside, inverted", "on the page"])

# %% claim=true
assert same_memory(page, others) and torch.equal(page[0], images[0]) != same_memory(page, one)

# %% [markdown] side=true
# #### Does a line work in place, and is `detach` a copy?
#
# *{minutes} minutes*
#
# You can see it in the line itself. `b += 1` writes into the memory that is there; so does every method whose name ends in an underscore, such as `add_`.
#
# After `b = a`, `b` is a second name for the same tensor, an **alias**, until a line such as `b = b + 1` gives the name to a new one.
#
# *Predict.* `a` holds three ones. After `b = a` and `b += 1`, what is `a[0]`?

# %% predict=true
guess = 2  # a number

# %% name="inplace-alias"
a = torch.ones(3)
b = a
b += 1
reveal(guess, a[0].item())
b = b + 1
print("after b = b + 1:", a, b)

# %% claim=true
assert a[0] == 2 and b[0] == 3

# %% [markdown]
# `detach` is sometimes used as a copy, but it isn't one: it gives a second tensor with the same memory, of which PyTorch no longer keeps track (chapter 2).
# For a copy there is `clone()`.

# %% name="clone-or-detach"
for way, result in (("clone", table.clone()), ("detach", table.detach())):
    print(f"{way}: the table's memory: {same_memory(table, result)}")

# %% claim=true
assert not same_memory(table, table.clone()) and same_memory(table, table.detach())

# %% [markdown] side=true
# #### Do NumPy's arrays share memory with tensors?
#
# *{minutes} minutes*
#
# The digits came in by `torch.tensor`, which copies, so scikit-learn's own numbers are safe from us. `torch.from_numpy` wraps the array's own memory.
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
# The sharing works both ways, and a change of dtype ends it, since other numbers need other memory.
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
# Otherwise names, indexing and the broadcasting of chapter 1b follow NumPy closely, and arrays have a dtype too.
# Tensors add the tracking for derivatives, and devices such as graphics cards; NumPy is lighter, and has more of plain statistics.
# A common split is NumPy to load and clean data, and tensors from the model onwards.

# %% name="numpy-same-rules-run"
print(table.numpy()[[0, 2], 1:].tolist() == table[[0, 2], 1:].tolist())

# %% claim=true
_names = ("zeros", "ones", "arange", "linspace", "matmul", "sqrt", "where", "stack")
assert all(hasattr(np, _name) and hasattr(torch, _name) for _name in _names)
assert (np.zeros((3, 1, 5)) + np.zeros((4, 1))).shape == (3, 4, 5)
assert np.array_equal(table.numpy()[[0, 2], 1:], table[[0, 2], 1:].numpy())
assert array.dtype == np.float64

# %% [markdown] name="torn"
# ## 3 Turn it or cut it
#
# *{minutes} minutes*
#
# Say a file counts its pictures along the *last* axis, (8, 8, 1797), and you want that axis first.
# Two lines give the shape (1797, 8, 8). `reshape(1797, 8, 8)` cuts the numbers into new rows; `permute(2, 0, 1)` names the old axes in their new order, the last one first.
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
# `reshape` has torn the digits apart. The shape is right, no error comes, and a model would learn from noise.
# What happened? `reshape` reads a grid in **reading order**, row by row, and cuts what it has read into new rows.
#
# *Predict.* `small` holds 0 to 5 in two rows of three. Its **transpose** `small.T` is flipped along the diagonal, so that rows become columns. `small.T.reshape(-1)` makes one long row of it (for -1 torch works out the length). What does that hold?

# %% predict=true
guess = [0, 3, 1, 4, 2, 5]  # a list of six numbers

# %% name="reshape-of-transpose"
small = torch.arange(6).reshape(2, 3)
line = small.T.reshape(-1)
print(small.T)
reveal(guess, line)

# %% claim=true
assert line.tolist() == [0, 3, 1, 4, 2, 5]

# %% [markdown]
# Now you can explain the torn digits. The last axis of the file counts the pictures, so in its reading order neighbors come from different pictures. `reshape` cut off 64 numbers at a time, took one pixel from each of 64 pictures, and called that a digit.
# `permute`, like the transpose, cuts nothing: each number keeps its row, its column and its picture, and only the order of the axes changes.
# **To move axes, `permute`; to join or split neighboring axes, `reshape`.**

# %% [markdown]
# ### Exercise: `flatten_images`
#
# *{minutes} minutes*
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
    The dtype stays, and x itself stays as it is. x may be a slice of larger images, such
    as images[:, :, 2:, 1:]: then its rows do not follow one another in memory.

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
# #### Which colors does yours find in a photo?
#
# *{minutes} minutes*
#
# Let fifteen digits be five color photos, one digit in red ink, one in green and one in blue.
# Which color does the pixel in row 3, column 4 of the first photo have? It is number 3 * 8 + 4 in reading order.

# %% name="flatten-used"
photos = images[:15].reshape(5, 3, 8, 8)
pixels = my_flatten_images(photos)
print(tuple(photos.shape), "becomes", tuple(pixels.shape))
print("red, green, blue:", pixels[0, 3 * 8 + 4], "as in", photos[0, :, 3, 4])

# %% claim=true
assert torch.equal(pixels[0, 28], photos[0, :, 3, 4])

# %% [markdown] name="layout"
# ## 4 Memory is a line
#
# *{minutes} minutes*
#
# Does it cost anything to turn or to cut? Often it does not matter where in a digit a pixel lies, and then a row of 64 numbers is handier than a grid of 8 by 8.
# torch moves none of the 115,008 numbers for that,
# because the memory of a computer is no grid anyway: it is one long line, and a shape is only a way to read it.

# %% name="rows-of-pixels"
rows = images.reshape(1797, 64)
print(rows.shape, " the same memory:", same_memory(images, rows))

# %% claim=true
assert same_memory(images, rows) and torch.equal(rows[0, 8:16], images[0, 1])

# %% [markdown]
# To find a number in that line, torch needs to know how far it is to the neighbors.
# Take the numbers 0 to 11 in three rows of four, `torch.arange(12).reshape(3, 4)`.
# One step down is 4 places along the line, because a whole row lies between, and one step to the right is 1.
# These are its **strides**, (4, 1): for each axis, how many places one step takes.
# In the picture each row has a color, in the grid and in memory.

# %% name="figure-strides" figure=true
figures.strides(torch.arange(12).reshape(3, 4))

# %% [markdown]
# *Predict.* The transpose, `grid.T`, has four rows of three. If no number moves in memory, what must its strides be?

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
# The colors jump along the line, but the line is the same. Only the two lengths and the two strides changed places, so a transpose costs nothing, for twelve numbers or for sixteen million.
#
# Now you can also say why a list gave a copy in section 2. A view reads memory in equal steps, whereas a list may name any rows in any order.
#
# And `line`, which `reshape` made of `small.T`?

# %% name="reshape-copies"
print("the same memory:", same_memory(small, line))

# %% claim=true
assert same_memory(small, small.reshape(-1)) and not same_memory(small, small.T.reshape(-1))

# %% [markdown]
# No fixed step through the memory of `small`, 0 1 2 3 4 5, gives 0 3 1 4 2 5, so `reshape` had to move the numbers into a copy.
# Its rule: it gives a view if some strides fit, else a copy. (Other people's programs often have `view`: the same, except that it raises an error where `reshape` would copy.)

# %% [markdown] side=true
# #### When does `view` refuse, and when `reshape`?
#
# *{minutes} minutes*
#
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
# Does `view` need a contiguous tensor, then?
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
# Use `reshape`, unless a hidden copy would be a bug, as it would be where you mean to write into the original. There take `view`, which fails loudly.
#
# `reshape` itself works out one length, which you write as -1. It refuses a shape that does not hold as many elements, and two unknown lengths.

# %% name="reshape"
cube = torch.arange(24).reshape(2, 3, 4)
print(cube.reshape(2, 12).shape, cube.reshape(6, -1).shape, cube.reshape(-1).shape)
with shows_error(RuntimeError, match="invalid"):
    cube.reshape(5, -1)
with shows_error(RuntimeError, match="only one dimension"):
    cube.reshape(-1, -1)

# %% claim=true
assert cube.reshape(2, 12).shape == (2, 12) and cube.reshape(6, -1).shape == (6, 4)
assert cube.reshape(-1).shape == (24,)

# %% [markdown] side=true
# #### What does `.T` do with three axes?
#
# *{minutes} minutes*
#
# It reverses the order of all of them, the batch axis included. Programmers rarely mean that, so torch warns about it.
# `.mT` swaps the last two, and `permute` puts the axes in the order that you name.

# %% name="three-axis-t"
cube = torch.zeros(2, 3, 4)
torch.set_warn_always(True)  # some warnings come once per program; show this one always
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    around = cube.T
torch.set_warn_always(False)
print(".mT", tuple(cube.mT.shape), " .T", tuple(around.shape))
print("warning:", str(caught[0].message).split(". ")[0])

# %% claim=true
assert around.shape == (4, 3, 2) and cube.mT.shape == (2, 4, 3)
assert "deprecated" in str(caught[0].message)

# %% [markdown] name="recap"
# ## What you can do now
#
# - ask a tensor for its shape, dtype and device, before you look for a mistake elsewhere
# - say whether a write reaches the data: a number or a slice takes out a view, a list or a mask a copy
# - turn a grid with `permute` and cut it with `reshape`, and see when a picture has been torn apart
#
# `progress(1)` shows what you have passed in chapter 1, and `progress()` in all chapters.

# %% name="progress"
progress(1)

# %% [markdown] name="hunt-text"
# The next cell shows somebody's program for an exercise that you have passed. One line is wrong or missing: which, and what happens because of it?

# %% name="hunt"
hunt()

# %% [markdown] name="questions"
# ### Can you answer these?
#
# Say it aloud, then open the answers.
#
# 1. After `part = images[labels == 4]` you write into `part`. Do the data change? And with `images[:4]`?
# 2. Which of `reshape` and `permute` moves axes, and how do you notice that you took the wrong one?
# 3. What are the strides of a table of 5 rows and 7 columns, and of its transpose?
#
# <details><summary>Answers</summary>
#
# 1. No: a mask gives a copy. Yes: a slice is a view.
# 2. `permute`. You notice it by looking, since the shape is right in both cases.
# 3. (7, 1) and (1, 7).
#
# </details>

# %% [markdown]
# Next comes *Chapter 1b: Broadcasting*. There you find out what the three lines at the top do.
