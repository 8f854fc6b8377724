# %% [markdown] name="opening"
# # Chapter 1b: Broadcasting
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *How can one line subtract a digit from 1,500 others?*
#
# In chapter 1a three lines read handwriting, and nobody explained them. In this sitting you learn to
#
# - see which shapes fit together, and what is stretched
# - find the mistake that stretching hides
# - sum and average along the axis you mean, also where numbers are missing
# - draw the same random numbers again
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises. One exercise, of {later} minutes, comes after the end, for another evening.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # decides the random numbers; any whole number will do

# %% setup=true
import math
import warnings
import numpy as np
import torch
import torch.nn.functional as F
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch01 as figures
from course.instruments import drawn_four, same_memory, show_digits

_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("1b")

# %% [markdown]
# The digits are those of chapter 1a.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)
labels = torch.tensor(digits.target)
digit = images[0]
show_digits(images[:10], is_=labels[:10])

# %% [markdown] name="stretching"
# ## 1 Three rows from one
#
# *{minutes} minutes*
#
# You subtract one new digit from 1,500 known ones. For that torch needs the digit 1,500 times, and yet it makes no copy: it reads the same 64 numbers again and again.
# `expand` lets you look at this. Here it makes three rows from a single one.
#
# *Predict.* After `wide[0, 0] = 5.0`, how many of its twelve places hold 5?

# %% predict=true
guess = 3  # a number

# %% name="write-to-stretched"
thin = torch.ones(4)
wide = thin.expand(3, 4)
wide[0, 0] = 5.0
print(wide)
reveal(guess, (wide == 5).sum().item())

print("strides:", wide.stride())

# %% claim=true
assert thin[0] == 5 and wide.stride() == (0, 1)  # one number, the thin tensor's as well
wide[0] = 7.0  # a whole row: as silent
assert (wide == 7).all() and (thin == 7).all()

# %% [markdown]
# Three, because the first column is one number in memory, and torch reads it three times. The strides say how: one step down moves by 0 places, so torch reads the same row again.
# As long as you only read, that is a gift: three rows, or 1,500, take no more memory than one.
# Before you write into something stretched, take a `clone()`.

# %% [markdown] name="broadcasting"
# ## 2 What is stretched
#
# *{minutes} minutes*
#
# In `known - new` the shapes (1500, 8, 8) and (8, 8) meet, and nobody writes `expand` or a loop.
# torch stretches the smaller one by itself, and sometimes along an axis that you did not mean. So it pays to know how it decides.
#
# To let a digit fade away, for example, multiply it by eight factors that go from 1 to 0: `fade = torch.linspace(1, 0, 8)`, of shape (8,).
#
# *Predict.* Does the ink in `digit * fade` fade from left to right or from top to bottom?

# %% predict=true
guess = "left to right"  # "left to right" or "top to bottom"

# %% name="fading-digit"
fade = torch.linspace(1, 0, 8)
faded = digit * fade  # (8, 8) with (8,)
show_digits([digit, faded], says=["digit", "digit * fade"])
reveal(guess, "left to right" if faded[7].sum() > 0 else "top to bottom")

# %% claim=true
assert faded[7].sum() > 0 == (digit * fade[:, None])[7].sum()
assert torch.equal(faded[2], digit[2] * fade)

# %% [markdown] name="broadcast-rule-text"
# Left to right, because torch lines up shapes **at the right**.
# The 8 of `fade` meets the last axis of the digit, which counts its columns, so each column gets a factor of its own.
#
# This is **broadcasting**, and it is easiest on paper: write the two shapes one below the other, with their right ends together.
#
# ```
# digit       8   8
# fade            8
# ```
#
# Then go from right to left, and compare what stands above and below.
#
# - *The same length*, such as 8 and 8: they fit, number by number.
# - *One of them is 1, or there is a gap*: the tensor with the 1, or with the gap, is stretched along that axis, as by `expand`. So each row of the digit gets the same eight factors.
# - *Anything else* is an error, as with seven factors for eight columns:

# %% name="seven-factors"
with shows_error(RuntimeError, match="must match"):
    digit * torch.linspace(1, 0, 7)  # (8, 8) with (7,)

# %% [markdown]
# And if you want the digit to fade from top to bottom? Then the 8 has to stand below the rows, with a 1 at its right, because a 1 fits every length.
#
# ```
# digit       8   8
# column      8   1
# ```
#
# `fade[:, None]` makes that shape: all eight, and then a new axis of length 1.

# %% name="fading-down"
column = fade[:, None]
print(tuple(fade.shape), "becomes", tuple(column.shape))
show_digits([digit, digit * fade, digit * column], says=["digit", "(8,)", "(8, 1)"])

# %% claim=true
assert column.shape == (8, 1) and (digit * column)[7].sum() == 0

# %% [markdown]
# The new digit of chapter 1a needs no such axis. There is a gap before its 8 by 8, so torch stretches it, and it meets each of the 1,500 known digits:

# %% name="known-meets-new" figure=true
figures.broadcasting((1500, 8, 8), (8, 8))

# %% [markdown]
# So far torch stretched only one of the two. The rule allows it to stretch both, each along another axis, and then the result is larger than either.
#
# *Predict.* What is the shape of `torch.zeros(3, 1, 5) + torch.zeros(4, 1)`? Write them one below the other first.

# %% predict=true
guess = (3, 4, 5)  # a tuple

# %% name="broadcast-rule"
total = torch.zeros(3, 1, 5) + torch.zeros(4, 1)
reveal(guess, total.shape)

# %% figure=true
figures.broadcasting((3, 1, 5), (4, 1))

# %% [markdown]
# From the right: 5 meets 1, so the second tensor is stretched to 5; 1 meets 4, so the first one is stretched to 4; and 3 meets a gap, so the second is stretched to 3.

# %% [markdown] name="column-meets-row-text"
# ### A silent mistake
#
# torch applies the rule whether you meant it or not, and that can cost hours.
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
print("with squeeze(1):", ((prediction.squeeze(1) - target) ** 2).mean().item())
reveal(guess, (prediction - target).shape)

# %% claim=true
assert ((prediction - target) ** 2).mean() == 2.5
assert ((prediction.squeeze(1) - target) ** 2).mean() == 0

# %% [markdown] name="compare-shapes"
# torch stretched the column to the right and the row downwards, so every prediction met every target, and perfect predictions got an error of 2.5.
# A model trained on that number learns the wrong thing, without an error. So compare the two shapes before you compute an error.
# Here `prediction.squeeze(1)`, which drops the axis of length 1, puts it right: both are (4,) then, and the error is 0.

# %% [markdown]
# ### Exercise: `add_bias`
#
# *{minutes} minutes*
#
# An old scanner adds some ink to each row of a picture, to each row another amount. If you know the amounts, you can take them away again.
# So write a function that adds a number of its own to each row, in many pictures at once.
# Networks do the same, and the exercise uses their words: the pictures together are a **batch**, a row is a **channel**, and the number added to it is its **bias**.
# Make the biases a column first, like `fade`:
#
# ```
# x                 batch   channels   length
# bias, as it is                     channels
# bias, moved               channels        1
# ```
#
# Here are two channels of three zeros, with the biases 10 and 20. As they are, the 2 of `biases` meets the 3:

# %% name="add-bias-example"
channels, biases = torch.zeros(2, 3), torch.tensor([10.0, 20.0])
with shows_error(RuntimeError, match="size of tensor a"):
    channels + biases
print("wanted:", [(channels[0] + 10).tolist(), (channels[1] + 20).tolist()])

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
# Now the scanner. One call with the negative amounts repairs all digits: above as scanned, below repaired.

# %% name="add-bias-used"
excess = torch.tensor([2.0, 9, 0, 6, 1, 8, 3, 5])  # what the scanner adds to each row
scanned = my_add_bias(images[:10], excess)
repaired = my_add_bias(scanned, -excess)
show_digits(scanned)
show_digits(repaired)

# %% claim=true
assert torch.equal(repaired, images[:10]) and not torch.equal(scanned, repaired)

# %% [markdown] side=true
# #### Does nobody warn me when a column meets a row?
#
# *{minutes} minutes*
#
# torch's own function for the mean squared error warns you, and then it computes the wrong number all the same.

# %% name="loss-of-perfect-predictions"
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    wrong = F.mse_loss(prediction, target)
print(wrong, "with the warning:", str(caught[0].message)[:74])

# %% claim=true
assert wrong == 2.5 and "broadcasting" in str(caught[0].message)

# %% [markdown] side=true
# #### Where did my batch of one go?
#
# *{minutes} minutes*
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

# %% [markdown] side=true
# #### What does stretching save?
#
# *{minutes} minutes*
#
# It saves the memory for the stretched tensor, but none of the arithmetic: the sum below takes twelve additions, and memory for twelve results.

# %% name="broadcast-cost"
stretched = torch.ones(4).expand(3, 4)
result = torch.zeros(3, 4) + torch.ones(4)
for tensor in (stretched, result):
    print("bytes:", tensor.untyped_storage().nbytes())

# %% claim=true
assert stretched.untyped_storage().nbytes() == 16 and result.untyped_storage().nbytes() == 48

# %% [markdown] side=true
# #### Can I try other shapes?
#
# *{minutes} minutes*
#
# Three numbers, one for each row of a (3, 4) table, do not fit: lined up at the right, 3 meets 4. As a column they fit.
# And a column together with a row makes a whole table, as in the picture below.

# %% name="bias"
base = torch.zeros(3, 4)
row_of_four = torch.tensor([1.0, 2.0, 3.0, 4.0])
per_row = torch.tensor([10.0, 20.0, 30.0])
print(base + row_of_four)
with shows_error(RuntimeError, match="size of tensor a"):
    base + per_row
print(base + per_row[:, None])

# %% claim=true
assert (base + row_of_four).shape == (3, 4) and ((base + row_of_four) == row_of_four).all()
assert (base + per_row[:, None])[:, 0].tolist() == [10.0, 20.0, 30.0]

# %% figure=true
figures.stretched(torch.tensor([[0], [10], [20]]), torch.tensor([1, 2, 3, 4]))

# %% [markdown]
# With equal shapes arithmetic works place by place. A single number fits everything.

# %% name="elementwise-shapes"
a, b = torch.tensor([1.0, 4.0, 9.0]), torch.tensor([10.0, 20.0, 30.0])
print(a + b, a * b, torch.sqrt(a))
with shows_error(RuntimeError, match="must match"):
    torch.ones(3) + torch.ones(4)

# %% claim=true
_a, _b = torch.randn(3, 4), torch.randn(3, 4)
assert all(_r.shape == (3, 4) for _r in (_a + _b, _a * _b, _a / _b, torch.sqrt(_a.abs())))

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
# The explorer lines shapes up, and marks where they do not fit. Choose `per_row_column` as the second tensor, and it fits.
# Then switch on "Predict first", choose another pair, and name the shape before torch does.

# %% name="shape-explorer"
from explorers import shape_explorer

numbered = torch.arange(12.0).reshape(3, 4)
explorer = shape_explorer(numbered=numbered, per_row=per_row, per_row_column=per_row[:, None])
explorer

# %% claim=true
assert "torch refuses" in explorer.tell()

# %% [markdown] name="reductions"
# ## 3 Which axis disappears?
#
# *{minutes} minutes*
#
# You know now what `known - new` does. What `.sum(dim=(1, 2))` does is next, and on the way comes an idea.
# Perhaps ten comparisons are enough in place of 1,500: with an average zero, an average one, and so on. First, what is the average of all digits?
#
# A **reduction** makes fewer numbers out of many: a sum, a mean, a maximum.
# You name the axis, which torch calls a **dim**.
#
# *Predict.* What is the shape of `images.mean(dim=0)`?

# %% predict=true
guess = (8, 8)  # a tuple

# %% name="mean-digit"
average = images.mean(dim=0)
show_digits([average], says=["all 1,797"])
reveal(guess, average.shape)

# %% [markdown]
# The dim that you name is the one that disappears: the 1797 of (1797, 8, 8) is gone, and one picture is left.
# It is a gray cloud, because everybody's ink lies on top of everybody else's.
#
# Average each digit by itself, and you see something.

# %% name="mean-of-each"
each = [images[labels == number].mean(dim=0) for number in range(10)]
averages = torch.stack(each)  # side by side, along a new first axis
show_digits(averages)

# %% claim=true
assert averages.shape == (10, 8, 8)

# %% [markdown]
# Nobody wrote these ten, and you can read them all. In chapter 1c they will read for you.
#
# ### The three lines, explained
#
# Now you can read the program from the first page of chapter 1a.
# `known - new` has the shape (1500, 8, 8), a grid of differences for each known digit.
# With `dim=(1, 2)` the sum takes rows and columns away, so that 1,500 distances are left, and `argmin` says at which place the smallest is.

# %% name="nearest-again"
known, new = images[:1500], images[1500]
distances = ((known - new) ** 2).sum(dim=(1, 2))
nearest = distances.argmin()
print(distances.shape, "the smallest is at", nearest.item())

# %% claim=true
assert distances.shape == (1500,) and distances[distances.argmin()] == distances.min()

# %% [markdown] side=true
# #### What does `dim` do in a small table of numbers?
#
# *{minutes} minutes*
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
# #### Where do the numbers from 0 to 16 come from?
#
# *{minutes} minutes*
#
# People's strokes were scanned in black and white, 32 by 32 places, and then shrunk: in each block of 4 by 4 the black places were counted, so that 16 is all black.
#
# How can you count in blocks without a loop?
# `reshape` may split an axis, so split the 32 rows into 8 groups of 4, and the 32 columns too.
# The four axes of `reshape(8, 4, 8, 4)` then say: which block from the top, which row inside it, which block from the left, which column inside it.
# Sum over the two axes inside a block, dims 1 and 3, and 8 by 8 counts are left.
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

# %% [markdown] name="chance"
# ## 4 Half of the pixels are lost
#
# *{minutes} minutes*
#
# A careless scanner loses half of all pixels. Can you still tell what an average three looks like?
#
# To try it, damage the 183 threes yourself: lose each pixel for which a random number is not above 0.
# (`randn` draws from the standard normal distribution: numbers around 0, mostly between -2 and 2.)
# Here are five threes, damaged twice, with lost pixels in white:

# %% name="two-damages"
threes = images[labels == 3]
for _ in range(2):
    read = torch.randn(threes.shape) > 0  # True for about half of the pixels
    show_digits((threes * read)[:5])

# %% claim=true
assert len(threes) == 183 and 0.45 < read.float().mean() < 0.55

# %% [markdown]
# Each time other pixels are lost, so you could never compare two repairs.
#
# You can repeat random numbers, because a computer draws them from a **generator**, and its **seed** fixes them all.

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
# ### Exercise: `make_batch`
#
# *{minutes} minutes*
#
# Your function draws a number for each of d pixels in n pictures, and the same ones each time, so that the same pixels are lost.
# But all parts of a program share one generator, seeded by `torch.manual_seed`, and every draw changes the numbers that the next part gets.
# So give your function its own generator, and leave the shared one alone. `torch.randn` takes `dtype=` and `generator=`.
# Here is what happens with the shared one:

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

# %% [markdown] name="holes"
# ### The average of what is left
#
# Now your `make_batch` decides which pixels are lost. In the data their places hold **nan**, "not a number".
# The mask `real` is True in all others, and `torch.where(real, threes, math.nan)` takes the ink where it is True, and nan elsewhere.

# %% name="damaged-threes"
noise = my_make_batch(len(threes), 64, seed=seed)
real = noise.reshape(threes.shape) > 0  # True for about half of the numbers
damaged = torch.where(real, threes, math.nan)  # nan where nothing was read
show_digits(damaged[:5].nan_to_num(0))  # nan as white
print("places where the plain mean is nan:", damaged.mean(dim=0).isnan().sum().item(), "of 64")

# %% claim=true
assert damaged.mean(dim=0).isnan().all()
_again = my_make_batch(len(threes), 64, seed=seed)
assert torch.equal(noise, _again)

# %% [markdown]
# One hole among 183 numbers is enough to spoil their mean, so the holes must go first.
# Multiplying by the mask does not fill them, since 0 times nan is nan again.
# `torch.where` does: here it puts 0 where the mask is False.

# %% name="where-and-clamp"
holes = torch.tensor([1.0, math.nan])
kept = torch.tensor([True, False])
print("times the mask:", holes * kept)
print("with where:    ", torch.where(kept, holes, 0.0))

# %% claim=true
assert (holes * kept).sum().isnan()
assert torch.where(kept, holes, 0.0).tolist() == [1.0, 0.0]
assert torch.tensor([0, 1, 5]).clamp(min=1).tolist() == [1, 1, 5]

# %% [markdown] side=true
# #### What is `nan`, and who made it?
#
# *{minutes} minutes*
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

# %% [markdown]
# ### Exercise: `masked_mean`
#
# *{minutes} minutes*
#
# Average the numbers that are there, and leave out the holes: add up, and divide by how many there are.
# Where every number is lost, the count is 0, and 0 / 0 is nan again.
# There `clamp(min=1)` helps: it lifts whatever is below 1 up to 1.
# Here the mask keeps 1 and 3 and drops 9, so the mean is 2. (Such an index works for a single row. From a table it would take one long row, in which no `dim` is left; there use `where`.)

# %% name="masked-mean-example"
print(torch.tensor([1.0, 3.0, 9.0])[torch.tensor([True, True, False])].mean())

# %% exercise="masked_mean"
def masked_mean(x, mask, dim):
    """Return the mean along dim of the entries of x where mask is True.

    For x = torch.tensor([[1.0, 3.0, 9.0]]) and mask = torch.tensor([[True, True, False]])
    the result along dim 1 is [2.0].

    - x: float32 or float64, mask: bool of the same shape; both stay as they are. The means
      have the dtype of x.
    - Entries with True are finite. The others may hold anything, even nan, and change nothing.
    - Where no entry is True the mean is 0.
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
# Here is your average of the damaged threes, beside that of the whole ones:

# %% name="masked-mean-used"
repaired = my_masked_mean(damaged, real, dim=0)
show_digits([repaired, threes.mean(dim=0)], says=["from half the pixels", "from all"])

# %% claim=true
assert (repaired - threes.mean(dim=0)).abs().max() < 4

# %% [markdown]
# Half of the pixels were gone, and the three is still there.

# %% [markdown] name="recap"
# ## What you can do now
#
# - write two shapes one below the other, and say what comes out before you run it
# - add a row, a column or a whole picture to many others, without a loop
# - name the axis that should disappear, and leave out numbers that are missing
# - draw the same random numbers again, and disturb nobody

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
# 1. What do (4, 1) and (4,) give, and where does that hurt?
# 2. Which dim of (batch, features) do you name to average over the batch?
# 3. `expand` made three rows of one, and you write one number into the first. How many places change?
# 4. Why does a mean become nan when one number is nan, and why does multiplying by a mask not help?
#
# <details><summary>Answers</summary>
#
# 1. They give (4, 4), a table of every prediction with every target. It hurts in a squared error, silently if you write the formula yourself.
# 2. dim 0: the dim that you name disappears.
# 3. Three: they are one number in memory.
# 4. A sum with a nan in it is nan, and 0 times nan is nan too. `torch.where` puts another number in its place.
#
# </details>

# %% [markdown]
# Next comes *Chapter 1c: Reading digits*. There your own functions read 99 digits in 100.
#
# Here the sitting ends. What follows can wait for another evening: no later lesson needs it. Its exercise, `predict_layout`, counts for 5 of this notebook's 11 points.

# %% [markdown] name="layout-summary"
# ## 5 Which line copies?
#
# ### Exercise: `predict_layout`
#
# *{minutes} minutes*
#
# Your data fill most of the memory, and one careless line makes a copy of them. Which one? Here is what you know from chapter 1a and section 1:
#
# | you write | memory | strides |
# |---|---|---|
# | a slice | the original's | the original's (times the step) |
# | a transpose | the original's | swapped |
# | `expand` | the original's | 0 on stretched axes |
# | a list as index | its own | as for a new tensor |
# | `reshape` | the original's if some strides fit, otherwise its own | after a copy, as for a new tensor |
#
# Write a function that predicts shape, strides and sharing from the numbers alone, without torch. If you can do that, you see the copy before you run the line.
# The cell asks torch about a slice. Ask about the others in the same way, and then write down the pattern.

# %% name="layout-example"
grid = torch.arange(12).reshape(3, 4)
part = grid[:, 1:]
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

# %% [markdown]
# Ask it about the table of all digits, (1797, 64). Of the five lines, only one copies all 115,008 numbers.

# %% name="predict-layout-used"
names = ("slice", "transpose", "expand", "fancy", "reshape")
layouts = my_predict_layout([(name, 1797, 64) for name in names])
for name, (shape, stride, shares_memory) in zip(names, layouts, strict=True):
    copies = "nothing" if shares_memory else f"{math.prod(shape):,} numbers"
    print(f"{name:10} {shape}, strides {stride}: copies {copies}")

# %% claim=true
assert layouts == asked_of_torch([(_name, 1797, 64) for _name in names])
assert [_layout[2] for _layout in layouts] == [True, True, True, False, False]
