# %% [markdown] name="opening"
# # Chapter 1: Tensors
#
# Everything a neural network reads, computes and learns is held in tensors.
# After this chapter you can
#
# 1. create a tensor and read its shape, dtype and device
# 2. tell a view from a copy
# 3. reshape and transpose, and say when memory is copied
# 4. predict the shape of a broadcast
# 5. reduce along the dim you mean
# 6. multiply matrices and batches of them, and write an einsum
# 7. choose a dtype by its memory and precision
# 8. spot in-place changes and aliases
# 9. exchange data with NumPy, and draw repeatable random numbers
#
# Plan 75 minutes, without the stretch exercise; sections 3 and 6 are good places for a break.

# %% name="parameters" parameters=true
seed = 0  # any whole number will do; the chapter holds for all of them

# %% setup=true
import math
import warnings
import numpy as np
import torch
from autograder import check, hint, progress, reveal, shows_error
from course.figures import ch01_tensors as figures

_ = torch.manual_seed(seed)

# %% [markdown] name="how-to-work"
# ## How to work with this chapter (2 minutes)
#
# You predict, run, and explain the difference.
# A cell with `guess = ...` asks for a prediction: put your answer in place of the `...`, run it, and run the next cell.
# A wrong guess costs nothing and teaches the most.
# Then change one thing in the example and predict again.
#
# *Predict.* How many numbers does the tensor `torch.tensor([[1, 2, 3], [4, 5, 6]])` hold?

# %% predict=true
guess = 6  # a whole number

# %% name="first-tensor"
first = torch.tensor([[1, 2, 3], [4, 5, 6]])
reveal(guess, first.numel())

# %% [markdown] name="how-to-check"
# `numel()` counts the elements.
# A line with `assert` states a fact; were it wrong, the cell would stop.
# `with shows_error(...)` runs lines that must fail, and prints the message.
# Code runs line by line, as in any Python program: print a tensor, or stop in a debugger, anywhere.
#
# In an exercise you complete a function; keep its first line.
# The cell below it calls `check`, which says what holds, as often as you like.
# If you are stuck, run `hint("standardize")`, with your exercise's name, in a new cell; each call adds one.
# Grading goes through your notebook in its order, and looks at each answer where its check stands.
# It runs the setup cell, the exercise cells, and of all other cells what an answer uses: your functions, imports and values, and names from the lesson.

# %% name="line-by-line"
for row in first:  # an ordinary loop over the rows
    print(row, "holds", row.numel(), "numbers")
assert [row.numel() for row in first] == [3, 3]

# %% [markdown] name="create"
# ## 1 Create a tensor and read its label (8 minutes)
#
# A **tensor** is a grid of numbers with any number of axes; in NumPy it would be an array.
# Here are the sizes of four houses in square meters, and their prices in thousands.

# %% name="house-sizes"
sizes = torch.tensor([60.0, 85.0, 120.0, 175.0])
prices = torch.tensor([150.0, 205.0, 270.0, 380.0])
print(sizes.shape, sizes.dtype, sizes.device)
assert sizes.shape == prices.shape == (4,)
assert sizes.dtype == torch.float32 and sizes.device.type == "cpu"

# %% [markdown] name="label"
# These three facts are on the label of every tensor.
# **shape**: the length of each axis. **dtype**: the number type of all elements, here 32-bit floats.
# **device**: where the memory is, here the CPU's.
# When something goes wrong, print them before you look at a single value.
#
# *Predict.* The table below has one row per house, with size, bedrooms and bathrooms. What is its shape?

# %% predict=true
guess = (4, 3)  # a tuple

# %% name="feature-matrix"
features = torch.tensor(
    [[60.0, 2.0, 1.0], [85.0, 3.0, 1.0], [120.0, 4.0, 2.0], [175.0, 5.0, 3.0]]
)  # (houses, features)
reveal(guess, features.shape)

# %% [markdown]
# Four rows, three columns: rows come first.
# The first axis counts the samples, here houses; it is called the batch axis.
# How many axes a tensor has is its `ndim`, from 0 for a single number upwards.

# %% name="number-of-axes"
scalar, vector, matrix = torch.tensor(3.5), sizes, features
batch = torch.zeros(32, 10)  # (batch, features): zeros for 32 samples of 10 features
images = torch.zeros(5, 3, 32, 32)  # (batch, channels, height, width)
# the 3 channels are the colors red, green and blue
assert [t.ndim for t in (scalar, vector, matrix, images)] == [0, 1, 2, 4]
assert batch.shape == (32, 10) and scalar.shape == ()
print(scalar.item(), "is the only number of a tensor of shape", tuple(scalar.shape))

# %% [markdown] name="image-axes-text"
# `item()` turns a tensor with one element into a Python number.
#
# An image has three axes, with the channels first; a batch of images has four.
# Some texts call a tensor with the three axes height, width and color "a batch of images".
# Let a layer for images be the judge.
# Layers are the topic of chapter 3; this one only has to accept a shape or refuse it.

# %% name="image-axes"
# 3 channels in, 8 out; it looks at 3 by 3 pixels, so 32 shrinks to 30
layer = torch.nn.Conv2d(3, 8, 3)
assert layer(images).shape == (5, 8, 30, 30)
assert layer(images[0]).shape == (8, 30, 30)  # three axes: one image
with shows_error(RuntimeError, match="channels"):
    layer(torch.zeros(32, 32, 3))  # (height, width, channels)

# %% [markdown]
# Three axes are one image, not a batch, and the axis order in the last line is refused:
# the layer takes 32, the first axis, for the number of channels.
#
# You seldom type numbers in; functions make tensors of a given shape.
#
# *Predict.* `torch.arange(0, 10, 2)` counts from 0 in steps of 2 and stops before 10. What is its dtype?

# %% predict=true
guess = torch.int64  # a dtype, for example torch.float32

# %% name="arange"
evens = torch.arange(0, 10, 2)
assert evens.tolist() == [0, 2, 4, 6, 8]  # tolist: the numbers as a Python list
reveal(guess, evens.dtype)

# %% [markdown]
# `arange` keeps whole numbers whole.
# float32 is what you get from Python floats, and from functions such as `zeros`, `linspace` or `randn`.
# So a new tensor is on the CPU, but it is not always float32.

# %% name="default-dtype"
assert torch.tensor([1.0, 2.0]).dtype == torch.get_default_dtype() == torch.float32
assert torch.tensor([1, 2]).dtype == torch.int64
assert torch.tensor([True, False]).dtype == torch.bool
assert torch.tensor([1, 2], dtype=torch.float32).dtype == torch.float32  # set by hand
for made in (torch.zeros(2, 3), torch.ones(4), torch.linspace(0, 1, 5), torch.randn(4, 3)):
    print(tuple(made.shape), made.dtype, made.device)
    assert made.dtype == torch.float32 and made.device.type == "cpu"

# %% [markdown]
# `zeros`, `ones` and `linspace` (evenly spaced numbers) are named for what they give.
# `randn` draws random numbers from the standard normal law: mean 0, standard deviation 1.
# A million draws come close.

# %% name="randn"
draws = torch.randn(1_000_000)
print(f"mean {draws.mean().item():.3f}, standard deviation {draws.std().item():.3f}")
assert abs(draws.mean().item()) < 0.01 and abs(draws.std().item() - 1) < 0.01

# %% [markdown] name="requires-grad-text"
# The label has one more entry, `requires_grad`: whether PyTorch keeps a record of what you compute with this tensor.
# From that record it works out how a change in one number would change the final result (chapter 2).
# NumPy keeps no such record; it is the reason to learn PyTorch.
# It is off unless you ask for it.

# %% name="records"
plain = torch.ones(3)
tracked = torch.ones(3, requires_grad=True)
assert plain.requires_grad is False and (plain * 2).grad_fn is None
assert tracked.requires_grad is True and tracked.grad_fn is None
print((tracked * 2).grad_fn.name())  # the step that made the result: a multiplication

# %% [markdown]
# Some texts say that a tensor remembers every operation ever applied to it.
# You see less: `plain` remembers nothing, and neither does `tracked`.
# The *result* `tracked * 2` holds a `grad_fn`, a link to the step that made it.
#
# A common mistake is to lose the s of `requires_grad`.

# %% name="misspelt-flag"
weights = torch.ones(3)
weights.require_grad = True  # no s: a new attribute, which torch never reads
assert weights.requires_grad is False
with shows_error(TypeError, match="require_grad"):
    torch.ones(3, require_grad=True)

# %% [markdown]
# As a keyword it is refused; as an attribute it does nothing, silently.
#
# `to` gives the tensor on another device, or with another dtype.
# The first line below is how programs pick a GPU where there is one; chapter 5 is about it.

# %% name="device"
device = "cuda" if torch.cuda.is_available() else "cpu"
pixels = torch.tensor([[0.1, 0.9], [0.8, 0.2]]).to(device)  # (2, 2)
labels = torch.tensor([0, 1])  # class numbers
print(pixels.shape, pixels.dtype, pixels.device, labels.dtype)
assert pixels.shape == (2, 2) and pixels.device.type == device
assert pixels.dtype == torch.float32 and labels.dtype == torch.int64

# %% [markdown]
# How much memory does a tensor need?
# Its number of elements times the bytes of one element.

# %% name="bytes"
assert features.element_size() == 4  # 32 bits are 4 bytes
assert features.numel() * features.element_size() == features.nbytes == 48
print(features.numel(), "elements,", features.nbytes, "bytes")

# %% [markdown]
# ### Exercise: `describe`
#
# Return the label of a tensor as a dict.
# `x.device.type` is the device as a short string; replace the last two lines and keep the rest.

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

# %% [markdown] name="views"
# ## 2 Index: view or copy (5 minutes)
#
# Indexing looks as in NumPy.
# The question is what happens to the original when you change the part you took.
#
# *Predict.* After `row = table[1]` and `row[0] = 100`, what is `table[1, 0]`?

# %% predict=true
guess = 100  # a number

# %% name="row-is-a-view"
table = torch.tensor([[0.0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]])
row = table[1]
row[0] = 100
reveal(guess, table[1, 0].item())

# %% [markdown]
# The change went through: `row` is a **view**, a second tensor that reads the same memory.
# Whole numbers and slices give views.
#
# *Predict.* Now take rows 0 and 2 with a list, `picked = table[[0, 2]]`, and set `picked[0, 0] = -1`.
# What is `table[0, 0]`, which was 0?

# %% predict=true
guess = 0  # a number

# %% name="list-is-a-copy"
picked = table[[0, 2]]
picked[0, 0] = -1
reveal(guess, table[0, 0].item())

# %% [markdown]
# The table did not change: a list of indices gives a **copy**, with memory of its own.
# So does an index that is a tensor of numbers, or a mask of booleans.
# In the picture the upper strip is the table's memory, the lower one the copy's.

# %% figure=true
figures.view_or_copy(table, table[1], table[[0, 2]])

# %% [markdown]
# You need not guess: ask for the address at which the memory begins.
#
# `table > 5` is a mask: a tensor of booleans, True where the element is larger than 5.

# %% name="same-memory"
def same_memory(a, b):
    """Do two tensors read the same block of memory?"""
    return a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


assert same_memory(table, table[1]) and same_memory(table, table[:, 1:3])
assert not same_memory(table, table[[0, 2]]) and not same_memory(table, table[table > 5])

# %% [markdown]
# Taking with a mask copies, but *assigning* to a mask writes into the table itself.
#
# To get a copy on purpose, call `clone()`.
# Do not call `detach()` for it: that one drops the record of chapter 2 and shares the memory.

# %% name="clone-or-detach"
copy = table.clone()
copy[copy > 5] = 0  # writes into copy, not into table
assert copy[2, 3] == 0 and table[2, 3] == 11
assert not same_memory(table, table.clone())
assert same_memory(table, table.detach())  # not a copy
print(copy)

# %% [markdown]
# ### Exercise: `first_and_rest`
#
# Return one part of `x` as a copy and the other as a view.

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

# %% [markdown] name="layout"
# ## 3 Reshape, view, transpose (9 minutes)
#
# Memory is a line, not a grid.
# A tensor reads that line with its **strides**: how many places to go on in memory for one step along each axis.
#
# `torch.arange(12).reshape(3, 4)` puts the numbers 0 to 11 into three rows of four.
# In the picture, each row has a color: above in the grid, below in memory.

# %% name="figure-strides" figure=true
figures.strides(torch.arange(12).reshape(3, 4))

# %% [markdown]
# One row down is 4 places on, one column to the right is 1: the stride is (4, 1).
#
# *Predict.* `.T` is the transpose: rows become columns. What is the stride of `grid.T`?

# %% predict=true
guess = (1, 4)  # a tuple

# %% name="transpose-strides"
grid = torch.arange(12).reshape(3, 4)
assert grid.stride() == (4, 1)
assert same_memory(grid, grid.T)
assert torch.equal(grid.T, grid.transpose(0, 1))  # equal: the same shape, the same numbers
reveal(guess, grid.T.stride())

# %% [markdown]
# No number moved.
# The transpose is a view that swaps shape and strides; now the colors jump along the line.

# %% figure=true
figures.strides(torch.arange(12).reshape(3, 4).T)

# %% [markdown]
# `reshape` keeps the elements in reading order, row by row, and cuts them into new rows.
# One axis may be -1: torch works it out from the number of elements.

# %% name="reshape"
cube = torch.arange(24).reshape(2, 3, 4)
shapes = [cube.reshape(2, 12).shape, cube.reshape(6, -1).shape, cube.reshape(-1).shape]
print(shapes)
assert shapes == [(2, 12), (6, 4), (24,)]

# %% [markdown]
# Two things cannot work: a shape that does not hold 24 elements, and two unknown axes.

# %% name="reshape-errors"
with shows_error(RuntimeError, match="invalid"):
    cube.reshape(5, -1)
with shows_error(RuntimeError, match="only one dimension"):
    cube.reshape(-1, -1)

# %% [markdown]
# *Predict.* `small` holds 0 to 5 in two rows of three. What does `small.T.reshape(-1)` hold?

# %% predict=true
guess = [0, 3, 1, 4, 2, 5]  # a list of six numbers

# %% name="reshape-of-transpose"
small = torch.arange(6).reshape(2, 3)
line = small.T.reshape(-1)
reveal(guess, line)

# %% [markdown]
# Reading order is that of the grid you see, `small.T`, not of the memory.
# Memory holds 0 1 2 3 4 5, and no fixed step through it gives 0 3 1 4 2 5.
# So `reshape` had to copy.
# It copies only where it must.

# %% name="reshape-copies-if-needed"
assert same_memory(small, small.reshape(-1))  # a view
assert not same_memory(small, small.T.reshape(-1))  # a copy
print("same memory after the transpose:", same_memory(small, line))

# %% [markdown]
# A tensor is **contiguous** when its reading order is the order of its memory.
#
# `view` asks for a reshape that never copies, and fails where that cannot be.
# `contiguous()` gives a tidy copy if one is needed; after it, `view` works.

# %% name="view-refuses"
assert small.is_contiguous() and not small.T.is_contiguous()
with shows_error(RuntimeError, match="view size is not compatible"):
    small.T.view(-1)
assert small.T.contiguous().view(-1).tolist() == [0, 3, 1, 4, 2, 5]

# %% [markdown]
# Many texts say that `view` works on contiguous tensors only.
# The rule is milder: the strides must fit.
# Every second column of a table leaves gaps in memory, and yet its elements stand at even distances.

# %% name="view-needs-fitting-strides"
gaps = torch.arange(24).reshape(4, 6)[:, ::2]  # (4, 3)
assert not gaps.is_contiguous() and gaps.stride() == (6, 2)
assert gaps.view(12).stride() == (2,)  # 3 steps of 2 make one row of 6
assert same_memory(gaps, gaps.view(12))
print(gaps.view(12))

# %% [markdown] name="prefer-reshape"
# So use `reshape` by default, and `view` where a hidden copy would be a bug: there it fails loudly.
#
# A common mistake is to swap axes with `reshape`.
# The shape comes out right and the contents wrong.

# %% name="reshape-is-no-transpose"
assert small.reshape(3, 2).shape == small.T.shape
assert not torch.equal(small.reshape(3, 2), small.T)
print(small.reshape(3, 2), small.T, sep="\n")

# %% [markdown]
# With more than two axes, `permute` names the old axes in their new order.
# `.mT` swaps the last two.
# `.T` on three axes turns all of them around, and torch warns about it.

# %% name="permute"
pictures = torch.randn(2, 3, 4, 5)  # (batch, channels, height, width)
n, c, h, w = pictures.shape  # a shape can be taken apart like a tuple
channels_last = pictures.permute(0, 2, 3, 1)
assert channels_last.shape == (n, h, w, c) == (2, 4, 5, 3) and same_memory(pictures, channels_last)
assert torch.equal(channels_last[1, 2, 3], pictures[1, :, 2, 3])  # one pixel
print(tuple(pictures.shape), "to", tuple(channels_last.shape))

# %% name="three-axis-t"
torch.set_warn_always(True)  # some warnings come once per program; show this one always
with warnings.catch_warnings(record=True) as caught:  # collects warnings in a list
    warnings.simplefilter("always")
    turned = cube.T
torch.set_warn_always(False)
assert turned.shape == (4, 3, 2) and cube.mT.shape == (2, 4, 3)
assert "deprecated" in str(caught[0].message)
print(str(caught[0].message).split(". ")[0])

# %% [markdown]
# `squeeze` drops the axes of length 1; `unsqueeze(0)` puts one in at the front.
#
# *Predict.* A batch with one sample that has one feature has the shape (1, 1). What shape is left after `.squeeze()`?

# %% predict=true
guess = ()  # a tuple

# %% name="squeeze"
assert torch.zeros(1, 5, 1).squeeze().shape == (5,)
assert torch.zeros(5).unsqueeze(0).shape == (1, 5)
one = torch.zeros(1, 1)  # (batch, features)
reveal(guess, one.squeeze().shape)

# %% [markdown]
# Everything is gone, the batch axis too: a bug that waits for the last batch, the one with a single sample.
# Name the axis, `squeeze(1)`.
#
# The other way round, a single sample often has to become a batch of one.
# Some layers insist on it.

# %% name="batch-of-one"
norm = torch.nn.BatchNorm2d(3)  # a layer for batches of images
with shows_error(ValueError, match="expected 4D input"):
    norm(torch.randn(3, 8, 8))
assert norm(torch.randn(3, 8, 8).unsqueeze(0)).shape == (1, 3, 8, 8)
assert one.squeeze(1).shape == (1,)  # only the axis that is named goes

# %% [markdown]
# ### Exercise: `flatten_images`
#
# Turn a batch of images into rows of pixels, each with its channel values.
# Take the lengths with `n, c, h, w = x.shape`.
# Swap the axes first, then join two of them.

# %% exercise="flatten_images"
def flatten_images(x):
    """Turn images (N, C, H, W) into rows of pixels (N, H*W, C).

    One row per pixel, in reading order; a row holds the channel values of its pixel.

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


# %% [markdown] name="broadcasting"
# ## 4 Broadcasting (10 minutes)
#
# Arithmetic works element by element, and the result has a place for every element.
#
# *Predict.* How many entries of `torch.sqrt(torch.tensor([4.0, -1.0, 0.0, -9.0]))` are nan, "not a number"?

# %% predict=true
guess = 2  # a whole number

# %% name="elementwise"
roots = torch.sqrt(torch.tensor([4.0, -1.0, 0.0, -9.0]))
reveal(guess, roots.isnan().sum().item())

# %% [markdown]
# Square roots of negative numbers are nan, without an error and without a warning.
# So the root of `randn` numbers is nan in about half its places.
#
# Equal shapes give the same shape.

# %% name="elementwise-shapes"
a, b = torch.randn(3, 4), torch.randn(3, 4)
assert all(r.shape == (3, 4) for r in (a + b, a * b, a / b, torch.sqrt(a.abs())))
with shows_error(RuntimeError, match="must match"):
    torch.ones(3) + torch.ones(4)

# %% [markdown]
# Different shapes may still fit.
#
# *Predict.* What is the shape of `torch.zeros(3, 1, 5) + torch.zeros(4, 1)`?

# %% predict=true
guess = (3, 4, 5)  # a tuple

# %% name="broadcast-rule"
total = torch.zeros(3, 1, 5) + torch.zeros(4, 1)
reveal(guess, total.shape)

# %% [markdown] name="broadcast-rule-text"
# This is **broadcasting**.
# Write the shapes one below the other, lined up at the right.
# In each column the lengths must be equal, or one of them is 1 or missing: that one is stretched to the other's length.

# %% figure=true
figures.broadcasting((3, 1, 5), (4, 1))

# %% [markdown]
# A row of four numbers fits a (3, 4) table: it is added to each row.
# A column of shape (3, 1) fits too, and a column and a row together make a whole table.

# %% name="bias"
base = torch.zeros(3, 4)
by_column = base + torch.tensor([1.0, 2.0, 3.0, 4.0])  # (3, 4) + (4,)
assert by_column.shape == (3, 4) and (by_column == torch.tensor([1.0, 2.0, 3.0, 4.0])).all()
assert (torch.tensor([2.0]) * sizes).shape == (4,)  # (1,) * (4,)
print(by_column)

# %% figure=true
figures.stretched(torch.tensor([[0], [10], [20]]), torch.tensor([1, 2, 3, 4]))

# %% [markdown]
# Three numbers, one for each row, do not fit (3, 4): lined up at the right, 3 meets 4.
# Make them a column: indexing with `None` puts in an axis of length 1, as `unsqueeze` does.

# %% name="bias-per-row"
per_row = torch.tensor([10.0, 20.0, 30.0])
with shows_error(RuntimeError, match="size of tensor a"):
    base + per_row
by_row = base + per_row[:, None]  # (3, 4) + (3, 1)
assert by_row[:, 0].tolist() == [10.0, 20.0, 30.0]

# %% [markdown] name="shape-explorer-text"
# Try other shapes.
# The shape explorer lines them up, marks where they do not fit, and knows the shape of the result before any number.
# Choose `column` as the second tensor: now it fits.
# Then switch on "Predict first", choose another pair, and name the shape before torch does.
# The operations that are new to you come later in this chapter.

# %% name="shape-explorer"
from explorers import shape_explorer

explorer = shape_explorer(base=base, per_row=per_row, column=per_row[:, None])
assert "torch refuses" in explorer.tell()  # base + per_row
assert by_row.shape == (3, 4)  # base + column
explorer

# %% [markdown]
# ### Exercise: `add_bias`
#
# Each channel gets its own number.
# Note: if `channels` and `length` are equal, `x + bias` runs and is wrong.

# %% exercise="add_bias"
def add_bias(x, bias):
    """Add to every channel of x its own bias, without a loop.

    x: (batch, channels, length), bias: (channels,). Returns a new tensor of the
    shape of x; x itself stays as it is.

    For x = torch.zeros(1, 2, 3) and bias = torch.tensor([10.0, 20.0]) the result
    is [[[10.0, 10.0, 10.0], [20.0, 20.0, 20.0]]].
    """
    ### BEGIN SOLUTION
    return x + bias[:, None]  # (channels, 1) lines up with (channels, length)
    ### END SOLUTION


# %% check="add_bias" points=1
check("add_bias", add_bias)

# %% [markdown]
# Does broadcasting make copies?
# `expand` stretches by hand, so that you can look.
#
# *Predict.* What is the stride of `torch.ones(4).expand(3, 4)`?

# %% predict=true
guess = (0, 1)  # a tuple

# %% name="expand"
thin = torch.ones(4)
wide = thin.expand(3, 4)
reveal(guess, wide.stride())

# %% [markdown]
# One row down is 0 places on: all rows read the same four numbers.
# This saves memory for the operand, but no arithmetic:
# the sum still takes twelve additions and gets memory for twelve results.

# %% name="broadcast-cost"
assert same_memory(thin, wide)
assert wide.untyped_storage().nbytes() == 16  # four floats, not twelve
result = torch.zeros(3, 4) + thin
assert result.numel() == 12 and result.untyped_storage().nbytes() == 48

# %% [markdown]
# Twelve places, four numbers: so what happens when you write into one of the places?
#
# *Predict.* After `wide[0, 0] = 5.0`, how many of the twelve places hold 5?

# %% predict=true
guess = 3  # a number

# %% name="write-to-stretched"
wide[0, 0] = 5.0
print(wide)
reveal(guess, (wide == 5).sum().item())

# %% claim=true
assert thin[0] == 5  # one number, which is the thin tensor's as well
wide[0] = 7.0  # a whole row: as silent
assert (wide == 7).all() and (thin == 7).all()

# %% [markdown]
# Three, because the first column is one number in memory, read three times; and nobody warned you.
# torch refuses only what asks for several values in one place, such as a write to the whole column.
# So take a `clone()` before you write into something stretched.

# %% name="write-to-a-stretched-column"
with shows_error(RuntimeError, match="single memory location"):
    wide[:, 0] = 5.0  # three places to write to, one number in memory

# %% [markdown] name="layout-summary"
# ### Exercise: `predict_layout`
#
# | you write | memory | strides |
# |---|---|---|
# | a slice | the original's | the original's (times the step) |
# | a transpose | the original's | swapped |
# | `expand` | the original's | 0 on stretched axes |
# | a list as index | its own | as for a new tensor |
# | `reshape` | the original's, if some strides fit | as for a new tensor, after a copy |
#
# From these rules, tell shape, stride and sharing from the numbers alone, without torch.
# To find out, experiment in a cell of your own; `x.stride()` returns a plain tuple.

# %% exercise="predict_layout"
def predict_layout(ops):
    """Return a list of (shape, stride, shares_storage), one for each op.

    Each op is (name, rows, cols); x stands for a contiguous (rows, cols) tensor,
    rows and cols at least 2. Work from the numbers alone, without torch or NumPy.
        "slice": x[:, 1:]   "transpose": x.T   "expand": x[:1].expand(rows, cols)
        "fancy" (a list as index): x[[0, 1]]   "reshape": x.T.reshape(-1)
    shape and stride are tuples, (12,) for one axis.
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

# %% [markdown]
# Comparisons broadcast too.
# A column of labels against a row of class numbers asks every label about every class.

# %% name="compare-all"
answers = torch.tensor([5, 7, 5])[:, None] == torch.arange(4, 8)  # (3, 1) with (4,)
assert answers.shape == (3, 4) and answers.dtype == torch.bool
assert answers.sum() == 3  # True counts as 1
print(answers)

# %% [markdown]
# ### Exercise: `one_hot`
#
# A model often wants labels as rows with a single 1.
# Turn booleans into floats with `to`.

# %% exercise="one_hot"
def one_hot(labels, k):
    """Return a float32 table (n, k) with a single 1 per row, at the row's label.

    labels: (n,) int64, each in 0..k-1. The number of columns is k, whichever
    labels occur.

    one_hot(torch.tensor([2, 0]), 3) gives [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]].
    """
    ### BEGIN SOLUTION
    hits = labels[:, None] == torch.arange(k)  # (n, 1) with (k,) gives (n, k)
    return hits.to(torch.float32)
    ### END SOLUTION


# %% check="one_hot" points=2
check("one_hot", one_hot)

# %% [markdown]
# Now the mistake that costs the most hours.
# Four predictions come out of a model as a column, (4, 1); the targets are (4,).
#
# *Predict.* What is the shape of `prediction - target`?

# %% predict=true
guess = (4, 4)  # a tuple

# %% name="column-meets-row"
prediction = torch.tensor([[1.0], [2.0], [3.0], [4.0]])
target = torch.tensor([1.0, 2.0, 3.0, 4.0])
reveal(guess, (prediction - target).shape)

# %% [markdown]
# Every prediction met every target.
# The mean squared error is the mean of all squared differences; these predictions are perfect, so it should be 0.
# torch's own loss function gives the wrong number as well; it warns, but it does not stop.

# %% name="loss-of-perfect-predictions"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    wrong = torch.nn.functional.mse_loss(prediction, target)  # mean squared error
right = torch.nn.functional.mse_loss(prediction.squeeze(1), target)
assert wrong == 2.5 and right == 0
assert "broadcasting" in str(caught[0].message)
print(wrong, right, str(caught[0].message)[:74])

# %% [markdown] name="compare-shapes"
# Compare the shapes of prediction and target before every loss: `assert prediction.shape == target.shape`.
# It is sometimes said that PyTorch turns every shape conflict into an error and never into silent nonsense.
# You have seen otherwise: this conflict is no conflict to the rule.

# %% [markdown] name="reductions"
# ## 5 Reductions and `dim` (8 minutes)
#
# A **reduction** makes many numbers into fewer: a sum, a mean, a maximum.
#
# *Predict.* `features` has shape (4, 3): four houses, three features. What is the shape of `features.mean(dim=0)`?

# %% predict=true
guess = (3,)  # a tuple

# %% name="mean-over-houses"
means = features.mean(dim=0)
assert means[0] == sizes.mean() == 110
reveal(guess, means.shape)

# %% [markdown]
# The dim you name is the one that disappears.
# `dim=0` runs down the rows and leaves one number for each column; `dim=1` leaves one for each row.
# Without `dim` all axes go, and one number is left.

# %% figure=true
figures.reductions(torch.arange(12).reshape(3, 4))

# %% [markdown]
# `keepdim=True` leaves the dim in place, with length 1, so that the result fits the original again.
# Below, every row is divided by its own sum.

# %% name="keepdim"
assert features.sum(dim=1).shape == (4,) and features.sum().shape == ()
assert features.sum(dim=1, keepdim=True).shape == (4, 1)  # the dim stays, with length 1
assert features.sum(dim=-1).shape == (4,)  # negative dims count from the end
shares = features / features.sum(dim=1, keepdim=True)  # (4, 3) / (4, 1)
assert torch.allclose(shares.sum(dim=1), torch.ones(4))  # allclose: equal up to rounding
print(shares)

# %% [markdown]
# Without `keepdim` that division would meet (4, 3) with (4,), and fail.
# On a square table it would not even fail.

# %% name="no-keepdim"
with shows_error(RuntimeError, match="must match"):
    features / features.sum(dim=1)
square = torch.tensor([[1.0, 1.0], [3.0, 1.0]])
assert (square / square.sum(dim=1, keepdim=True)).sum(dim=1).tolist() == [1.0, 1.0]
assert (square / square.sum(dim=1)).sum(dim=1).tolist() != [1.0, 1.0]  # runs, and is wrong

# %% [markdown]
# The **variance** is the mean squared distance from the mean; the standard deviation is its root.
# There are two of each: divide by n (`correction=0`, the population's), or by n - 1, torch's default.
#
# *Predict.* The numbers 1 and 3 have mean 2. What is `torch.tensor([1.0, 3.0]).var()`?

# %% predict=true
guess = 2  # a number

# %% name="two-variances"
pair = torch.tensor([1.0, 3.0])
assert pair.var(correction=0) == 1
reveal(guess, pair.var().item())

# %% [markdown]
# The squared distances are 1 and 1, their sum is 2, and the default divides by 2 - 1.
#
# To standardize a feature you subtract its mean and divide by its standard deviation.
# A column in which all numbers are equal has standard deviation 0, and 0 / 0 is nan.
# A small `eps` under the root prevents that.

# %% name="constant-column"
constant = torch.full((4,), 7.0)  # four times 7
centered = constant - constant.mean()
assert (centered / constant.std()).isnan().all()
assert (centered / torch.sqrt(constant.var(correction=0) + 1e-5) == 0).all()
print(centered / constant.std())

# %% [markdown]
# ### Exercise: `standardize`
#
# Use the population variance, along whichever dim is asked for.

# %% exercise="standardize"
def standardize(x, dim, eps):
    """Return (x - mean) / sqrt(var + eps), mean and var taken along dim.

    var is the population variance (correction=0). The result has the shape of x;
    x itself stays as it is.

    standardize(torch.tensor([[1.0, 3.0]]), dim=1, eps=0.0) gives [[-1.0, 1.0]].
    """
    ### BEGIN SOLUTION
    mean = x.mean(dim=dim, keepdim=True)
    var = x.var(dim=dim, keepdim=True, correction=0)
    return (x - mean) / torch.sqrt(var + eps)
    ### END SOLUTION


# %% check="standardize" points=3
check("standardize", standardize)

# %% [markdown]
# Do not trust a printed table of standardized numbers, not even here; recompute it.
# The test is quick: every column must have mean 0 and standard deviation 1, by the deviation that was used.

# %% name="verify-standardized"
n = len(features)
by_sample = (features - features.mean(dim=0)) / features.std(dim=0)
by_population = (features - features.mean(dim=0)) / features.std(dim=0, correction=0)
assert torch.allclose(by_population.mean(dim=0), torch.zeros(3), atol=1e-6)
assert torch.allclose(by_population.std(dim=0, correction=0), torch.ones(3))
assert torch.allclose(by_population, by_sample * math.sqrt(n / (n - 1)))
print(by_sample[0], by_population[0], sep="\n")

# %% [markdown]
# Some reductions return more than one thing.
# `max` along a dim gives values and the places where they stand; `amax` gives the values, `argmax` the places.

# %% name="max-and-argmax"
values, places = features.max(dim=0)
assert torch.equal(values, features.amax(dim=0)) and values.tolist() == [175.0, 5.0, 3.0]
assert torch.equal(places, features.argmax(dim=0)) and places.tolist() == [3, 3, 3]
print(values, places)

# %% [markdown]
# Data has holes, marked by a mask: True where a number is real.
# It is tempting to multiply by the mask, since False counts as 0.
#
# *Predict.* Does `(torch.tensor([1.0, math.nan]) * torch.tensor([1.0, 0.0])).sum()` give a number (True) or nan (False)?

# %% predict=true
guess = False  # True for a number, False for nan

# %% name="nan-times-zero"
holes = torch.tensor([1.0, math.nan])
real = torch.tensor([True, False])
reveal(guess, not (holes * real).sum().isnan().item())

# %% [markdown]
# 0 times nan is nan, and one nan spoils a sum.
# `torch.where(mask, x, other)` multiplies nothing: it takes x where the mask is True and `other` elsewhere.
#
# `clamp` limits numbers from below or above, which helps where a count may be 0.

# %% name="where-and-clamp"
filled = torch.where(real, holes, 0.0)
assert filled.tolist() == [1.0, 0.0]
counts = torch.tensor([0, 1, 5])
assert counts.clamp(min=1).tolist() == [1, 1, 5]
print(filled, counts.clamp(min=1))

# %% [markdown]
# ### Exercise: `masked_mean`
#
# A mean of what the mask lets through.

# %% exercise="masked_mean"
def masked_mean(x, mask, dim):
    """Return the mean along dim of the entries of x where mask is True.

    x: floats of any shape, mask: bool of the same shape. Where no entry is True the
    mean is 0. The other entries may hold anything, even nan, and change nothing.
    Entries with True are never nan.

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

# %% [markdown] name="products"
# ## 6 Matrix products and einsum (8 minutes)
#
# `@` multiplies matrices: each row of the left one meets each column of the right one.
# Products of the pairs are added up.
#
# *Predict.* Which number stands at the upper left of the product below?

# %% predict=true
guess = 90  # a number: row (1, 2) meets column (10, 40)

# %% name="matmul"
left = torch.tensor([[1, 2], [3, 4], [5, 6]])  # (3, 2)
right = torch.tensor([[10, 20, 30], [40, 50, 60]])  # (2, 3)
product = left @ right  # (3, 3)
reveal(guess, product[0, 0].item())

# %% [markdown]
# 1 * 10 + 2 * 40 = 90.
# The inner lengths must be equal; they disappear, and the outer ones stay.

# %% name="matmul-shapes"
assert product.tolist() == [[90, 120, 150], [190, 260, 330], [290, 400, 510]]
assert (torch.randn(3, 4) @ torch.randn(4, 5)).shape == (3, 5)
assert torch.equal(left @ right, torch.matmul(left, right))
assert (features @ torch.ones(3)).shape == (4,)  # times a vector: one number per row
with shows_error(RuntimeError, match="cannot be multiplied (2x3 and 2x3)"):
    right @ right

# %% [markdown]
# The message names both shapes: follow shapes first, values later.
#
# With more than two axes, `@` multiplies the last two and treats the ones before as a batch.
# Those broadcast.

# %% name="batched-matmul"
stack = torch.randn(2, 3, 4)  # two (3, 4) matrices
products = stack @ torch.randn(2, 4, 5)
assert products.shape == (2, 3, 5)
assert (stack @ torch.randn(4, 5)).shape == (2, 3, 5)  # the same (4, 5) for both
assert (stack @ stack.mT).shape == (2, 3, 3)  # each with its own transpose
print(products.shape)

# %% [markdown]
# A common mistake: a batch of vectors, (B, k), is not a batch of columns.
# `@` takes it for one matrix.
# Sometimes that fails; when B equals k it runs, and mixes the samples.

# %% name="batch-of-vectors"
vectors = torch.randn(2, 4)  # (B, k): one vector for each matrix
with shows_error(RuntimeError):
    stack @ vectors  # (2, 3, 4) @ (2, 4)
applied = (stack @ vectors[:, :, None]).squeeze(2)  # (2, 3, 4) @ (2, 4, 1)
assert torch.allclose(applied[1], stack[1] @ vectors[1], atol=1e-5)

# %% [markdown]
# `einsum` lets you name the axes instead of lining them up.
# Give every axis of every input a letter; after the arrow, write the axes of the result.
# The same letter in two inputs means: step through these two axes together.
# A letter missing after the arrow is summed over.
#
# *Predict.* `m` has shape (3, 4). What is the shape of `torch.einsum("ij->j", m)`?

# %% predict=true
guess = (4,)  # a tuple

# %% name="einsum-sum"
m = torch.randn(3, 4)
reveal(guess, torch.einsum("ij->j", m).shape)

# %% [markdown]
# The letter i is gone, so axis 0 was summed.
# Read the lines below aloud: which letters stay, which are summed?
# For rows against rows use two letters: `ij,kj->ik`.

# %% name="einsum"
k = torch.randn(4, 5)
assert torch.allclose(torch.einsum("ij,jk->ik", m, k), m @ k, atol=1e-5)
assert torch.equal(torch.einsum("ij->ji", m), m.T)
assert torch.allclose(torch.einsum("ij->j", m), m.sum(dim=0), atol=1e-5)
pairs = torch.einsum("ij,kj->ik", m, m)  # rows against rows: every row with every row
assert torch.allclose(pairs, m @ m.T, atol=1e-5)
rows = torch.einsum("ij,ij->i", m, m)  # each row with itself
assert torch.allclose(rows, (m * m).sum(dim=1), atol=1e-5)
batched = torch.einsum("bij,jk->bik", stack, k)  # b is kept: a batch
assert torch.allclose(batched, stack @ k, atol=1e-5)
print(rows.shape, batched.shape)

# %% [markdown]
# ### Exercise: `batched_einsum`
#
# Four products of a batch, by einsum or any other way.
# Write the letters of the inputs first, then ask which of them must stay.

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

# %% [markdown]
# Why so much about products?
# A linear layer, the main part of most networks, is one: its input times its weight, plus a bias.
# The weight is stored as (out, in), so it is transposed.

# %% name="linear-layer"
linear = torch.nn.Linear(3, 2)  # 3 features in, 2 numbers out
output = linear(features)  # (4, 2)
assert linear.weight.shape == (2, 3)
assert torch.allclose(output, features @ linear.weight.T + linear.bias, atol=1e-4)
print(output.shape)

# %% [markdown]
# Inputs, weights, outputs, and the error to be made smaller: all of them are tensors.
# So are the derivatives; `backward`, the subject of chapter 2, puts them into `grad`.

# %% name="all-tensors"
loss = (output**2).mean()
loss.backward()
held = [features, linear.weight, output, loss, linear.weight.grad]
assert all(isinstance(item, torch.Tensor) for item in held)
print([tuple(item.shape) for item in held])

# %% [markdown]
# Can weights start at 0?
# For a bias, or a model of a single layer, yes.
# But where a hidden layer's units all start with the same numbers, they give the same outputs and get the same changes: they stay alike.
# Chapter 3 shows it.
#
# A hidden layer is one whose outputs go into another layer; each column below is the output of one unit.

# %% name="zero-weights"
inputs = torch.randn(6, 3)  # six different inputs
for number in (0.0, 0.5):
    alike = inputs @ torch.full((3, 4), number)  # four units that start with the same numbers
    first = alike[:, :1].expand(6, 4)
    assert torch.allclose(alike, first, atol=1e-6)  # all columns equal the first
    print(alike[:2])
from_random = inputs @ torch.randn(3, 4)
assert not torch.allclose(from_random[:, 0], from_random[:, 1])  # the columns differ
print(from_random[:2])

# %% [markdown]
# Last, three numbers out of a linear algebra course: trace, determinant, inverse.

# %% name="trace-det-inverse"
s = torch.tensor([[2.0, 1.0], [1.0, 3.0]])
assert s.trace() == 5 and torch.allclose(torch.linalg.det(s), torch.tensor(5.0))
assert torch.allclose(s @ torch.linalg.inv(s), torch.eye(2), atol=1e-6)
with shows_error(RuntimeError, match="singular"):
    torch.linalg.inv(torch.ones(2, 2))  # has no inverse

# %% [markdown] name="dtypes"
# ## 7 Dtypes: memory, promotion, precision (11 minutes)
#
# A dtype says how many bytes a number gets and what they mean.
#
# *Predict.* How many bytes do the elements of `torch.zeros(1000, 1000)` take?

# %% predict=true
guess = 4_000_000  # a whole number

# %%
million = torch.zeros(1000, 1000)
reveal(guess, million.nbytes)

# %% [markdown]
# A million elements of 4 bytes are 4 megabytes.
# The name says the size: float64 has 64 bits or 8 bytes, float16 and bfloat16 have 2, int8 has 1.

# %% name="dtype-memory"
kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8)
megabytes = [million.to(kind).nbytes / 1e6 for kind in kinds]
assert megabytes == [8, 4, 2, 2, 1]
print(megabytes)

# %% [markdown] name="dtype-choice"
# Use float32, the default, until you have a reason.
# float64 has more digits and costs time; how much depends on the machine, and the cell measures yours.
# `finfo` describes a float dtype; its `eps` is the gap between 1 and the next number.

# %% name="float64-cost"
from torch.utils.benchmark import Timer


def seconds(kind):
    """Time the product of two (512, 512) matrices of a dtype."""
    x = torch.randn(512, 512, dtype=kind)
    return Timer("x @ x", globals={"x": x}).timeit(10).mean


ratio = seconds(torch.float64) / seconds(torch.float32)
print(f"float64 takes {ratio:.1f} times as long as float32")
assert torch.finfo(torch.float64).eps < 1e-15 < 1e-7 < torch.finfo(torch.float32).eps

# %% [markdown]
# What if two dtypes meet?
#
# *Predict.* What is the dtype of `torch.tensor([1, 2]) * 0.5`?

# %% predict=true
guess = torch.float32  # a dtype

# %%
whole = torch.tensor([1, 2])
reveal(guess, (whole * 0.5).dtype)

# %% [markdown]
# This is **promotion**.
# torch picks one dtype by two rules: the kind counts first (float over integer over bool), then the size.
# A third rule is for single numbers: within a kind, a Python number or a tensor without axes does not widen the other.
# It does not look whether the numbers fit: int64 with float16 gives float16.

# %% name="promotion"
half = torch.ones(2, dtype=torch.float16)
assert (whole / 2).dtype == torch.float32  # a division always gives floats
assert (half + torch.ones(2)).dtype == torch.float32  # the wider float wins
assert whole.dtype == torch.int64 and (whole + half).dtype == torch.float16  # float over integer
assert (whole + torch.tensor([True, False])).dtype == torch.int64  # integer over bool
assert (torch.tensor([100_000]) + half).isinf().all()  # too large for float16, and no error
assert (half * 0.5).dtype == torch.float16  # a Python number does not widen a float tensor
assert (half + torch.tensor(0.5)).dtype == torch.float16  # nor does a float32 without axes
print((whole + half).dtype)

# %% [markdown]
# Matrix products do not promote; they ask for equal dtypes.
# This error is a common one, since NumPy's floats arrive as float64.

# %% name="matmul-dtypes"
with shows_error(RuntimeError, match="same dtype"):
    features.double() @ torch.ones(3, 2)  # double() gives float64
back_again = features.double().float()  # float() gives float32
assert (back_again @ torch.ones(3, 2)).shape == (4, 2)

# %% [markdown]
# Class labels are int64, also called long.
# The loss for classes (chapter 4) takes one row of scores and one label for each sample, and refuses labels that are floats.

# %% name="labels-are-long"
scores = torch.randn(3, 5)  # (batch, classes)
classes = torch.tensor([0, 4, 2])
assert classes.dtype == torch.int64 == torch.long
assert torch.nn.functional.cross_entropy(scores, classes) > 0
with shows_error(RuntimeError, match="Long"):
    torch.nn.functional.cross_entropy(scores, classes.float())

# %% [markdown] name="precision"
# A float has a fixed number of binary digits: 24 in float32, 11 in float16, 8 in bfloat16.
# So there are gaps between the numbers it has, and they grow with the number.
# bfloat16 has the range of float32 and wide gaps; float16 has narrower gaps and a small range.
#
# Left, the numbers that each format has near 1 (float32 has too many to tell apart).
# Right, the gap at every size of number.

# %% figure=true
figures.float_spacing()

# %% name="float-limits"
for kind, digits in ((torch.float32, 24), (torch.float16, 11), (torch.bfloat16, 8)):
    info = torch.finfo(kind)
    assert info.eps == 2.0 ** (1 - digits)
    print(f"{info.dtype:9} gap after 1: {info.eps:.1e}, largest: {info.max:.1e}")

# %% [markdown]
# What becomes of a number that falls between two neighbors?
# It is rounded to the nearest one; exactly halfway, to the one whose last binary digit is 0.
#
# *Predict.* With 24 digits float32 has all whole numbers up to 2 ** 24 = 16777216; from there on, every second one.
# What is `torch.tensor(16777216.0) + 1`?

# %% predict=true
guess = 16777216  # a number

# %% name="lost-addition"
many = torch.tensor(2.0**24)
assert many + 2 != many and many - 1 != many
assert many + 3 == many + 4 != many + 2  # halfway from + 2 to + 4, whose last digit is 0
reveal(guess, (many + 1).item())

# %% [markdown]
# The 1 is lost, in silence: a counter in float32 stops there, in the formats with fewer digits much earlier.
#
# The ends of the range are silent too.
#
# *Predict.* What is `torch.tensor(2e-8, dtype=torch.float16)`? (The smallest positive float16 is about 6e-8.)

# %% predict=true
guess = 0  # a number

# %% name="float16-range"
small_gradient = torch.tensor(2e-8)
assert torch.tensor(6e-8).to(torch.float16) > 0
assert small_gradient.to(torch.bfloat16) > 0  # the range of float32
assert torch.tensor(70_000.0).to(torch.float16) == math.inf
assert torch.tensor(70_000.0).to(torch.bfloat16) < math.inf
reveal(guess, small_gradient.to(torch.float16).item())

# %% [markdown]
# A gradient of that size becomes exactly 0, and its weight stops moving.
# Chapter 5 shows the remedy.
#
# ### Exercise: `precision_lab`
#
# Four questions about what you have seen.
# Predict the answers for `step=0.001`, `tiny=1e-8`, `count=1000` and `n=4` before you write the code.

# %% exercise="precision_lab"
def precision_lab(step, tiny, count, n):
    """Return four facts about small numbers and shapes, in a dict.

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

# %% [markdown]
# Gaps also spoil subtraction.
# On paper (p - q) ** 2 is p * p - 2 * p * q + q * q.
# Take p = 10000 and q = 10000.5: the result should be 0.25.
# For q = 10001.1 it should be about 1.21.

# %% name="cancellation"
p = torch.tensor(10_000.0)
q = torch.tensor([10_000.5, 10_001.1])
direct = (p - q) ** 2
expanded = p * p - 2 * p * q + q * q
assert direct[0] == 0.25 and expanded[0] != 0.25 and expanded[1] < 0
print("direct:", direct, "expanded:", expanded)

# %% [markdown]
# The squares are near 100 million, where float32 numbers are 8 apart; the small difference drowns.
# The second distance even came out negative.
# Subtract first, then square.
#
# Broadcasting gives all differences at once.

# %% name="all-differences"
start, stop = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0, 30.0])
between = stop[None, :] - start[:, None]  # (1, 3) - (2, 1)
assert between.tolist() == [[9.0, 19.0, 29.0], [8.0, 18.0, 28.0]]
print(between)

# %% [markdown]
# ### Exercise: `pairwise_sq_dists`
#
# As above, for points with d coordinates each.
# Give `a` and `b` a third axis so that their rows meet.

# %% exercise="pairwise_sq_dists"
def pairwise_sq_dists(a, b):
    """Return the squared distance from every row of a to every row of b.

    a: (n, d), b: (m, d); the result has shape (n, m). No loops. The result is never
    negative, and it is accurate also for points far from the origin.

    For a = torch.tensor([[0.0, 0.0]]) and b = torch.tensor([[3.0, 4.0], [0.0, 1.0]])
    the result is [[25.0, 1.0]].
    """
    ### BEGIN SOLUTION
    differences = a[:, None, :] - b[None, :, :]  # (n, m, d)
    return (differences**2).sum(dim=-1)
    ### END SOLUTION


# %% check="pairwise_sq_dists" points=3
check("pairwise_sq_dists", pairwise_sq_dists)

# %% [markdown]
# The largest trap of the range is `exp`.
# **Softmax** turns scores into positive numbers with sum 1: take exp of each, divide by their sum.
#
# *Predict.* e to the power of 100 is about 3e43, and float32 ends at 3e38. Is `softmax` of the scores 0 and 100, written so, finite?

# %% predict=true
guess = False  # True or False

# %% name="softmax-overflow"
big_scores = torch.tensor([0.0, 100.0])
naive = big_scores.exp() / big_scores.exp().sum()
reveal(guess, naive.isfinite().all().item())

# %% [markdown]
# exp(100) is inf, and inf / inf is nan.
# The way out: a constant added to all scores cancels in the division.

# %% name="softmax-shift"
assert big_scores.exp()[1] == math.inf and naive[1].isnan()
few = torch.tensor([1.0, 2.0, 3.0])
lower = few - 2.5
assert torch.allclose(few.exp() / few.exp().sum(), lower.exp() / lower.exp().sum())
print(lower.exp() / lower.exp().sum())

# %% [markdown]
# ### Exercise: `softmax_stable` (stretch, extra credit)
#
# Choose the constant so that no exp can overflow.
# Think of several rows, one of them far below the others, each with its own softmax.

# %% exercise="softmax_stable"
def softmax_stable(x, dim):
    """Return the softmax of x along dim, finite however large the entries of x are.

    Write it yourself: torch.softmax and its relatives are not allowed. If x requires
    grad, so does the result.

    softmax_stable(torch.tensor([1000.0, 1000.0]), dim=0) gives [0.5, 0.5].
    """
    ### BEGIN SOLUTION
    largest = x.amax(dim=dim, keepdim=True)
    powers = torch.exp(x - largest)  # the largest power is exp(0) = 1
    return powers / powers.sum(dim=dim, keepdim=True)
    ### END SOLUTION


# %% check="softmax_stable" extra=3
check("softmax_stable", softmax_stable)

# %% [markdown] name="inplace"
# ## 8 In-place changes and aliases (4 minutes)
#
# `b = a` copies nothing: it is a second name for one tensor, an **alias**.
#
# *Predict.* `a` holds ones. After `b = a` and `b += 1`, what is `a[0]`?

# %% predict=true
guess = 2  # a number

# %% name="inplace-alias"
a = torch.ones(3)
b = a
b += 1  # in place: the same as b.add_(1)
reveal(guess, a[0].item())

# %% [markdown]
# `+=` and `*=` work **in place**: they write into the memory that is there.
# So do all methods whose name ends with an underscore.
# `b = b + 1` makes a new tensor, and `a` stays.

# %% name="inplace-or-new"
assert a is b
before = b.data_ptr()  # the address of the first element
b.mul_(10)
assert b.data_ptr() == before and a[0] == 20
b = b + 1  # a new tensor under the old name
assert b.data_ptr() != before and a[0] == 20
print(a, b)

# %% [markdown]
# A common mistake: a function that changes its argument.
# The caller's data is centered now, and nobody said so.

# %% name="inplace-in-function"
def spread(x):
    """Return the largest distance from the mean."""
    x -= x.mean()
    return x.abs().max()


ages = torch.tensor([20.0, 30.0, 40.0])
spread(ages)
assert ages.tolist() == [-10.0, 0.0, 10.0]
print(ages)

# %% [markdown]
# Write `x = x - x.mean()` and it is cured.
#
# In-place changes keep memory *and* dtype, so an integer tensor cannot take a half.

# %% name="inplace-keeps-dtype"
steps = torch.tensor([1, 2])
assert (steps + 0.5).dtype == torch.float32
with shows_error(RuntimeError, match="can't be cast"):
    steps += 0.5

# %% [markdown] name="numpy"
# ## 9 NumPy and random numbers (5 minutes)
#
# `torch.from_numpy` wraps an array as a tensor.
#
# *Predict.* After `wrapped = torch.from_numpy(array)` and `array[0] = 999`, what is `wrapped[0].item()`? The array held floats.

# %% predict=true
guess = 999.0  # a number

# %% name="from-numpy"
array = np.array([1.0, 2.0, 3.0])
wrapped = torch.from_numpy(array)
array[0] = 999
assert wrapped.dtype == torch.float64  # NumPy's floats are float64
reveal(guess, wrapped[0].item())

# %% [markdown]
# They share memory, and that goes both ways: `x.numpy()` shares as well.
# Good for speed, surprising in a debugger.
# A change of dtype needs a copy, and `torch.tensor` always copies.

# %% name="numpy-sharing"
ones = torch.ones(2)
back = ones.numpy()
back[0] = 5
assert ones[0] == 5  # the tensor changed with the array
assert not same_memory(wrapped, torch.tensor(array))
assert not same_memory(wrapped, wrapped.to(torch.float32))
print(ones)

# %% [markdown]
# A tensor that keeps a record cannot become an array, which would lose it unseen.
# `detach()` says that you mean it.

# %% name="numpy-and-grad"
with shows_error(RuntimeError, match="detach"):
    tracked.numpy()
assert tracked.detach().numpy().tolist() == [1.0, 1.0, 1.0]
assert not hasattr(array, "requires_grad") and not hasattr(array, "backward")

# %% [markdown] name="numpy-same-rules"
# Names, indexing and broadcasting follow NumPy.
# So broadcasting is not what sets tensors apart, and neither is the dtype, which arrays have too.
# What tensors add is the record for derivatives, and devices such as GPUs.
# Arrays have things of their own, masked arrays for one.

# %% name="numpy-same-rules-run"
names = ("zeros", "ones", "arange", "linspace", "matmul", "sqrt", "where", "stack")
assert all(hasattr(np, name) and hasattr(torch, name) for name in names)
assert (np.zeros((3, 1, 5)) + np.zeros((4, 1))).shape == (3, 4, 5)
assert np.array_equal(table.numpy()[[0, 2], 1:], table[[0, 2], 1:].numpy())
assert array.dtype == np.float64 and hasattr(np, "ma") and not hasattr(torch, "ma")

# %% [markdown]
# Random numbers come from a **generator**, and its seed fixes all that it will draw.
# `torch.manual_seed` seeds the global one.
#
# *Predict.* Seed with 42, draw three numbers; seed with 42 again, draw three more. Are they equal?

# %% predict=true
guess = True  # True or False

# %% name="seed"
torch.manual_seed(42)
one_draw = torch.randn(3)
next_draw = torch.randn(3)
torch.manual_seed(42)
again = torch.randn(3)
assert not torch.equal(one_draw, next_draw)
reveal(guess, torch.equal(one_draw, again))

# %% [markdown]
# Equal: an experiment with a seed can be repeated.
# But a function that calls `manual_seed` changes the numbers of everybody who draws after it.
# A generator of its own leaves the others alone.

# %% name="own-generator"
state = torch.get_rng_state()  # where the global generator stands
mine = torch.Generator().manual_seed(7)
numbers = torch.rand(2, generator=mine)  # rand: evenly spread from 0 to 1
assert torch.equal(state, torch.get_rng_state())
assert torch.equal(numbers, torch.rand(2, generator=torch.Generator().manual_seed(7)))
with shows_error(RuntimeError):
    torch.randn(2, dtype=torch.int64)  # normal numbers are floats

# %% [markdown]
# ### Exercise: `make_batch`
#
# Two shapes, a dtype, a seed, and no trace left behind.
# `torch.randn` takes `dtype=` and `generator=`.

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

# %% [markdown] name="bug-hunt"
# ## Bug hunt (5 minutes)
#
# About a wrong dtype, a wrong device or a missing record torch is mostly loud: it raises an error.
# Below, the device "meta" keeps shapes and no numbers: enough to stand for a second device.

# %% name="loud-mistakes"
with shows_error(RuntimeError, match="dtype"):
    torch.ones(2, 3) @ torch.ones(3, 2, dtype=torch.float64)
with shows_error(RuntimeError, match="meta"):
    torch.ones(3) + torch.ones(3, device="meta")
with shows_error(RuntimeError, match="does not require grad"):
    torch.ones(3).sum().backward()  # asks for derivatives, but nothing was recorded

# %% [markdown]
# The silent mistakes are of another kind: all shapes fit, and the numbers are wrong.
# You will hunt for some in a linear model on standardized features.
#
# First, why standardize?
# `fit` changes the weights 200 times, each time a little in the direction that lowers the error most.
# How much is set by `rate`; chapter 2 derives the direction.

# %% name="why-standardize"
def fit(x, y, rate):
    """Fit y = x @ w in 200 steps; return the mean squared error at the end."""
    w = torch.zeros(x.shape[1])
    for _ in range(200):
        w = w - rate * 2 / len(y) * (x.T @ (x @ w - y))
    return ((x @ w - y) ** 2).mean()


goal = prices - prices.mean()
scaled, raw = fit(by_population, goal, 0.1), fit(features, goal, 0.1)
slow = fit(features, goal, 1e-5)
assert scaled < slow < (goal**2).mean() and not raw.isfinite()  # (goal**2): the start
print(f"standardized: {scaled:.0f}, raw: {raw:.0f}, raw at a tiny rate: {slow:.0f}")

# %% [markdown]
# At the rate that suits standardized features, the raw ones blow up to nan.
# At a tiny rate they do train, but slowly.
#
# ### Exercise: `linear_mse`
#
# This program has three bugs, each of a kind you have met in this chapter.
# On most data it returns a plausible number; on the docstring's example it gives nan, a first clue.
# Find and mend them.
# Print shapes on the way, compare `x` before and after a call, and work out the docstring's example by hand.

# %% exercise="linear_mse"
### BEGIN STARTER
# def linear_mse(x, w, y):
#     """Return the mean squared error of a linear model on standardized features.
#
#     x: (n, d) features, w: (d, 1) weights, y: (n,) targets; the result is a scalar
#     tensor. Each column of x is standardized (mean 0, population std 1) before use.
#     x itself stays as it is.
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
    x itself stays as it is.

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

# %% [markdown] name="checklist"
# ## Recap
#
# Six questions find most bugs. Ask them in this order.
#
# | ask | look at |
# |---|---|
# | shape: is it what I wrote in the comment? | `x.shape` |
# | dtype: floats for numbers, int64 for labels? | `x.dtype` |
# | device: the same for all? | `x.device` |
# | record: is it kept where it should be? | `x.requires_grad`, `x.grad_fn` |
# | loss: does it go down, from a plausible start? | `loss.item()` |
# | repeatable: does the same seed give the same? | `torch.manual_seed` |

# %% name="checklist-run"
report = torch.randn(4, 3)
print(report.shape, report.dtype, report.device, report.requires_grad)
assert report.shape == (4, 3) and report.dtype == torch.float32
assert report.device.type == "cpu" and report.requires_grad is False

# %% [markdown] name="progress-text"
# What have you passed, what is open, and what is it worth? `progress(1)` tells it for this chapter, from your last check of each exercise; `progress()` shows all chapters.

# %% name="progress"
progress(1)

# %% [markdown] name="questions-1-3"
# ### You can now: 1 to 3
#
# Answer aloud, then unfold.
#
# 1. Can you create a tensor and read its shape, dtype and device? What is the dtype of `torch.tensor([1, 2])`?
# 2. Can you tell a view from a copy? Which is `x[[0]]`?
# 3. Can you reshape and transpose, and say when memory is copied? When does `reshape` copy?
#
# <details><summary>Answers</summary>
#
# 1. int64: whole numbers stay whole.
# 2. A copy: the index is a list. `x[0:1]` is a view.
# 3. When no strides over the same memory give the new reading order, as after a transpose.
#
# </details>

# %% [markdown] name="questions-4-6"
# ### You can now: 4 to 6
#
# 4. Can you predict the shape of a broadcast? What do (4, 1) and (4,) give?
# 5. Can you reduce along the dim you mean? Which dim of (batch, features) averages over the batch?
# 6. Can you multiply matrices and batches of them, and write an einsum? What does `"bij,bj->bi"` do?
#
# <details><summary>Answers</summary>
#
# 4. (4, 4): the column and the row are both stretched.
# 5. dim 0: the dim you name disappears.
# 6. It multiplies each matrix of a batch with its own vector.
#
# </details>

# %% [markdown] name="questions-7-9"
# ### You can now: 7 to 9
#
# 7. Can you choose a dtype by its memory and precision? What does bfloat16 keep of float32, what float16?
# 8. Can you spot in-place changes and aliases? Who sees `x -= 1` in a function?
# 9. Can you exchange data with NumPy, and draw repeatable random numbers? What does `from_numpy` share?
#
# <details><summary>Answers</summary>
#
# 7. Both halve the memory of float32. bfloat16 keeps the range and loses digits; float16 has more digits and a small range.
# 8. The caller sees it, and every view of `x`.
# 9. The memory; and the dtype stays, often float64.
#
# </details>

# %% [markdown] name="faq-numpy"
# ### Questions people ask: PyTorch and NumPy
#
# <details><summary>How do they differ, and when do I take which?</summary>
#
# They share names, indexing and broadcasting.
# PyTorch adds derivatives and GPUs; NumPy is lighter, and has more of plain statistics.
# A common split: NumPy to load and clean data, tensors from the model onwards.
#
# </details>

# %% [markdown] name="faq-study"
# ### Questions people ask: learning
#
# <details><summary>How do I practice?</summary>
#
# Take one tiny example and trace each line: what comes in, which rule acts, what comes out, where would you look first if it did not?
# Then change one input and predict.
# Then break it, and compare. A word such as "view" is learned when you know a case that works, an edge case, and one that fails.
#
# </details>
#
# <details><summary>How do I know that it worked?</summary>
#
# By something you can see: a shape, a number, a check. Not by the absence of an error.
#
# </details>

# %% [markdown] name="faq-confusing"
# ### Questions people ask: confusion
#
# <details><summary>Why is it confusing at first?</summary>
#
# New words and new behavior come mixed.
# Keep them apart: for each operation ask for its input, its rule, its result, and the way it fails.
#
# </details>

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org) on tensor views and on broadcasting;
# Edward Yang, "PyTorch internals" (2019), on strides and storage;
# Paszke and others, "Automatic differentiation in PyTorch" (2017);
# the book "Dive into Deep Learning" (d2l.ai).
#
# Next is chapter 2, autograd: what the record is for.
