# %% [markdown] name="opening"
# # Chapter 1c: Reading digits
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *How well can a program read if it has nothing but examples and a distance?*
#
# In chapter 1b you summed, averaged and stretched digits. Now your functions read them, about 99 in 100. In this sitting you learn to
#
# - add up each class with one matrix product
# - compute all distances between two sets of points without a loop
# - bring all columns of a table to one scale
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercises. One exercise, of {later} minutes, comes after the end: a hunt for silent mistakes.
# The folded cells below load what this notebook needs.

# %% name="parameters" parameters=true
seed = 0  # decides the random numbers; any whole number will do

# %% setup=true
import math
import numpy as np
import torch
import torch.nn.functional as F
from autograder import about, check, hint, hunt, mine, progress, reveal, review, shows_error
from course.figures import ch01 as figures
from course.instruments import show_digits

_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("1c")

# %% [markdown]
# Here is how your program will read. First comes a new digit, then the five known ones that are nearest to it, each with its label and its squared distance. The nearest one gives the answer.

# %% name="first-page" figure=true
figures.nearest()

# %% [markdown]
# The digits are those of chapters 1a and 1b. `rows` holds the same numbers, with a row of 64 for each digit.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)
labels = torch.tensor(digits.target)
rows = images.reshape(1797, 64)
show_digits(images[:10], is_=labels[:10])

# %% [markdown] name="products"
# ## 1 A product that sorts
#
# *{minutes} minutes*
#
# In chapter 1b it took a loop over ten masks to average each digit. One matrix product does nearly all of that at once. It is worth a close look, because the layers of a network are made of such products.
#
# `@` multiplies matrices: each row of the left one meets each column of the right one. You multiply the numbers that meet, and add up the products.

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
# A row meets a column, so the inner lengths must agree. They disappear in the sum, and the outer ones stay: (3, **2**) @ (**2**, 4) is (3, 4).
# When it does not fit, torch names both shapes.

# %% name="matmul-shapes"
with shows_error(RuntimeError, match="cannot be multiplied (2x3 and 2x3)"):
    right @ right

# %% claim=true
assert (torch.randn(3, 4) @ torch.randn(4, 5)).shape == (3, 5)
assert torch.equal(left @ right, torch.matmul(left, right))
assert (torch.ones(4, 3) @ torch.ones(3)).shape == (4,)

# %% [markdown]
# How can a product add up the fives alone? Take three digits with the labels 5, 7 and 5, and suppose one pixel has the ink 10, 20 and 30 in them. Multiply by 1, 0 and 1: of two rows of numbers, `@` multiplies place by place, and adds up.

# %% name="fives-added-up"
print(torch.tensor([1.0, 0.0, 1.0]) @ torch.tensor([10.0, 20.0, 30.0]))

# %% claim=true
assert torch.tensor([1.0, 0.0, 1.0]) @ torch.tensor([10.0, 20.0, 30.0]) == 40

# %% [markdown]
# ### Exercise: `one_hot`
#
# *{minutes} minutes*
#
# The product added up the two fives, 10 + 30, and left out the seven, since 0 times 20 is 0. You need such factors for each class.
# So turn each label into a row with a single 1, in the column of its class; then the column of the fives is 1, 0, 1.
# Comparisons broadcast too: if you compare a column of labels with a row of class numbers, every label meets every class, without a loop.
# Here the labels 5, 7 and 5 meet the classes 4 to 7:

# %% name="compare-all"
few_labels = torch.tensor([5, 7, 5])
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
# Let `hot` be this table of all labels. In `hot.T` each class is a row, and the product does for all classes and all pixels what it did for the fives and one pixel.
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
_averages = torch.stack([images[labels == _number].mean(dim=0) for _number in range(10)])
assert torch.allclose(templates.reshape(10, 8, 8), _averages, atol=1e-3)

# %% [markdown]
# The ten pictures of chapter 1b, from one product and one division.

# %% [markdown] name="all-pairs"
# ## 2 All distances at once
#
# *{minutes} minutes*
#
# In chapter 1a a loop took one new digit after the other. Now all new digits should meet all known ones in one call.
# As there, subtract first and square afterwards.
#
# Begin with points that are single numbers. If `a` becomes a column and `b` a row, broadcasting gives all differences at once.

# %% name="all-differences"
a, b = torch.tensor([1.0, 2.0]), torch.tensor([10.0, 20.0, 30.0])
print(a[:, None] - b[None, :])  # (2, 1) - (1, 3)

# %% claim=true
assert (a[:, None] - b[None, :]).tolist() == [[-9.0, -19.0, -29.0], [-8.0, -18.0, -28.0]]

# %% [markdown]
# ### Exercise: `pairwise_sq_dists`
#
# *{minutes} minutes*
#
# This is the heart of chapter 1: the squared distance of every new digit to every known one, without a loop.
# Above, a point was a single number. Now it has d coordinates; a digit has 64, its pixels.
# So give both a third axis. Write the shapes one below the other: before the sum you want (n, m, d). Where does `a`, (n, d), need an axis of length 1, and where does `b`, (m, d)?
# For one pair of points:

# %% name="pairwise-example"
difference = torch.tensor([0.0, 0.0]) - torch.tensor([3.0, 4.0])
print(difference, (difference**2).sum())  # 9 + 16

# %% exercise="pairwise_sq_dists"
def pairwise_sq_dists(a, b):
    """Return the squared distance from every row of a to every row of b.

    a: (n, d), b: (m, d), of one dtype; the result has shape (n, m) and that dtype. n and m
    may be 0.
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

# %% [markdown] side=true
# #### May I multiply out (p - q) ** 2?
#
# *{minutes} minutes*
#
# A squared distance cannot be negative, and yet programs report distances below zero.
# To save time they compute p * p - 2 * p * q + q * q in place of (p - q) ** 2. On paper the two are equal.
#
# *Predict.* For p = 10000 and q = 10001.1 the squared distance is about 1.21. In float32, is the long form within 1 of that?

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
# That is a squared distance of -8. The squares are near 100 million, where float32 has only every eighth number, so the small difference is lost. (Chapter 1x says why.)
# So subtract first, then square.

# %% [markdown] name="moment"
# ## 3 Your program reads
#
# *{minutes} minutes*
#
# To see how well your program reads, set 397 digits aside as new ones. A generator of your own chooses them, so they are the same tomorrow.
# `randperm` gives the numbers 0 to 1,796 in a random order.

# %% name="split"
order = torch.randperm(1797, generator=torch.Generator().manual_seed(seed))
known, unseen = order[:1400], order[1400:]  # places in the file
show_digits(images[unseen[:10]])

# %% [markdown]
# Read them with your own function: compute all distances in one call. For each new digit, `argmin(dim=1)` says which of the 1,400 is nearest, and `known[...]` at which place of the file that one lies.
# A tensor of places works as an index, just as a list does, so `labels[nearest]` takes all 397 labels at once.

# %% name="nearest-neighbor"
distances = my_pairwise_sq_dists(rows[unseen], rows[known])  # (397, 1400)
nearest = known[distances.argmin(dim=1)]
answers = labels[nearest]

correct = answers == labels[unseen]
print(f"{correct.float().mean().item():.1%} of 397 new digits are read correctly")

# %% claim=true
assert distances.shape == (397, 1400) and correct.float().mean() > 0.97

# %% [markdown]
# You wrote a program that reads handwriting.
# It has no rule about loops and strokes. It has 1,400 examples and a distance.
#
# Look at the mistakes; they say more than the percentage.
# `~correct` is True where `correct` is False. Below each digit that was read wrongly is the known one that was nearest.

# %% name="mistakes"
wrong = unseen[~correct]
show_digits(images[wrong], says=answers[~correct], is_=labels[wrong])
show_digits(images[nearest[~correct]], says=labels[nearest[~correct]])

# %% [markdown]
# And how well do ten averages read, if you compute them from the known digits alone?

# %% name="nearest-mean"
hot = my_one_hot(labels[known], 10)
templates = hot.T @ rows[known] / hot.sum(dim=0)[:, None]
to_each = my_pairwise_sq_dists(rows[unseen], templates)  # (397, 10)
by_mean = to_each.argmin(dim=1)
share = (by_mean == labels[unseen]).float().mean().item()
print(f"nearest of ten averages: {share:.1%}")

# %% claim=true
assert 0.85 < (by_mean == labels[unseen]).float().mean() < 0.95

# %% [markdown]
# Ten pictures read nine digits in ten; for most of the rest you need all 1,400.
# Chapter 2 starts here: it will *learn* ten pictures, from zeros, and they will read better than the averages do.
#
# In chapter 1a the same method read 94.6 %, and here it reads about 99. Which is the honest number?
# The file seems to go writer by writer, so its last 297 digits probably come from people of whom the program had seen little. After shuffling, it probably knows some digits of nearly every writer.
# So ask whose handwriting your program will read. For people it has never met, trust the lower number, and even that may be too high.

# %% [markdown] name="better"
# ## 4 Can it read better?
#
# *{minutes} minutes*
#
# Here are two ideas. Give all digits the same amount of ink, since some people wrote with a thick pen and others with a thin one.
# And give all pixels the same weight: those in the middle differ most and decide your distances, while those at the left and right rim hardly count, though a stroke there might say much.
#
# ### The same ink
#
# Divide each digit by its own sum. So each sum must meet its own digit:
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
# #### What goes wrong on a square table without `keepdim`?
#
# *{minutes} minutes*
#
# All shapes fit, so torch warns nobody:
#
# ```
# square                 1   1    has the sum 2
#                        3   1    has the sum 4
# square.sum(dim=1)      2   4
# ```
#
# *Predict.* `square` has a 1 at the upper right. What does `square / square.sum(dim=1)` have there?

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
# The sums 2 and 4 belong to the two *rows*. Without their axis they stand below the *columns*, so torch divided the whole second column by 4.

# %% [markdown] name="equal-say"
# ### The same weight
#
# To **standardize** is to bring all pixels to one scale: subtract from each its mean, and divide by its standard deviation, the typical distance from that mean.
#
# *Predict.* How many of the 64 pixels are white in all 1,797 digits?

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
# Only three, all at the left and right rim. The digits fill their 8 by 8 places, so nearly everywhere at least one person has put some ink.
# These three never vary, so their standard deviation is 0, and 0 / 0 is nan.
# A sum with a nan in it is nan: three pixels without ink would spoil every distance.
#
# The remedy is a small number, `eps`, that keeps the divisor away from 0: 0 divided by a small number is 0.

# %% [markdown] side=true name="arrange-standardize"
# #### Would you like the lines of `standardize`, shuffled?
#
# *{minutes} minutes*
#
# The next exercise begins with a blank cell. Here are its lines in a random order, with gaps, and with two lines that are not needed.

# %%
from explorers import arrange

arrange("standardize")

# %% [markdown]
# ### Exercise: `standardize`
#
# *{minutes} minutes*
#
# You will try it on the digits. In a table of houses you need it even more: with an area of 120 and 4 rooms, the area alone would decide a distance.
# So bring the numbers along any dim to mean 0 and standard deviation 1, with no nan where nothing varies.
# The standard deviation is the root of the **variance**, the mean squared distance from the mean, and `eps` is added to the variance, before the root is taken.
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
# ### Did they help?
#
# Your function turns the digits into this. Blue is less ink than usual at that place, and red is more.

# %% name="standardize-used"
standard = my_standardize(rows, dim=0, eps=1e-5)
show_digits(standard[:10].clamp(-3, 3))  # what is beyond 3 is cut off

# %% claim=true
assert not standard.isnan().any() and standard.mean(dim=0).abs().max() < 1e-4

# %% [markdown]
# Take the harder test, the last 297 digits, of which 281 were right in chapter 1a.
#
# *Predict.* Are more right with `standard`, or fewer?

# %% predict=true
guess = "fewer"  # "more" or "fewer"

# %% name="equal-say-reads"
def count_right(data):
    nearest = my_pairwise_sq_dists(data[1500:], data[:1500]).argmin(dim=1)
    return (labels[nearest] == labels[1500:]).sum().item()


print(count_right(rows), "as they are,", count_right(shares), "with the same ink")
weighted = count_right(standard)
print(weighted, "with the same weight")
reveal(guess, "more" if weighted > 281 else "fewer")

# %% claim=true
assert count_right(rows) == 281
assert 275 < weighted < 281 and 275 < count_right(shares) < 281
_plain = plain_standardize(rows, dim=0, eps=1e-5)
_nearest = (torch.cdist(_plain[1500:], _plain[:1500])).argmin(dim=1)
assert 275 < (labels[_nearest] == labels[1500:]).sum() < 281

# %% [markdown]
# Two fewer may be chance, but neither idea is a gain. Pixels are all ink, on one scale, so standardizing had nothing to put right, and now the rim, which says little, counts as much as the middle.
# Both ideas sounded good, and only the test could tell. Standardizing pays where columns have different units, as you will see with the houses of chapter 4.

# %% [markdown] side=true
# #### Why n - 1, and who used which?
#
# *{minutes} minutes*
#
# The mean of a sample lies a little too close to its own numbers, so their squared distances from it come out a little too small.
# Dividing by n - 1 makes up for that.
# If the numbers are not a sample but all there are, the whole population, there is nothing to make up for.
#
# When somebody shows you standardized numbers, recompute them: each column must have mean 0, and standard deviation 1 by the same formula.
# The two differ by the factor root of n / (n - 1), which for four houses is a lot, and for 1,797 digits nothing.

# %% name="verify-standardized"
features = torch.tensor([[60.0, 2, 1], [85, 3, 1], [120, 4, 2], [175, 5, 3]])  # four houses
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

# %% [markdown] name="recap"
# ## What you can do now
#
# - average each class with one product and one division
# - compute all distances at once, and read handwritten digits with them
# - give every column of a table the same weight, and test whether that helps

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
# 1. What does `one_hot(labels, 10).T @ rows` add up?
# 2. How do a row and a column of points give all differences?
# 3. Why did the same method read 94.6 % in chapter 1a and 99 % here?
# 4. What does `keepdim=True` keep, and what may happen without it?
#
# <details><summary>Answers</summary>
#
# 1. For each class, the pixels of its digits.
# 2. Give each set an axis of length 1 where the other counts its points; both are stretched.
# 3. Here it had probably seen nearly all writers; of the last ones there, little.
# 4. The axis that was summed, with length 1. Without it the sums may meet the wrong axis, on a square table without an error.
#
# </details>

# %% [markdown] name="further-reading"
# ### Further reading
#
# The PyTorch documentation (docs.pytorch.org) on tensor views and on broadcasting;
# Edward Yang, "PyTorch internals" (2019), on strides and storage;
# Paszke and others, "Automatic differentiation in PyTorch" (2017);
# the book "Dive into Deep Learning" (d2l.ai).
# The digits: E. Alpaydin and C. Kaynak, "Optical Recognition of Handwritten Digits", UCI Machine Learning Repository (1998).
#
# Next comes *Chapter 2a: Gradients*. There a program finds out by itself which way a number should move.
# If you want more of tensors first, take the excursion, *Chapter 1x: Bits and einsum*.
#
# Here the sitting ends. What follows can wait for another evening: no later lesson needs it. Its exercise, `linear_mse`, counts for 3 of this notebook's 11 points.

# %% [markdown] name="bug-hunt"
# ## 5 Bug hunt
#
# The worst mistakes are silent: all shapes fit, a number comes out, and it is wrong.
# To find one, take an example so small that you know the answer, and print shapes on the way.

# %% [markdown] name="checklist" side=true
# #### Where do I look first when a result is wrong?
#
# *{minutes} minutes*
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

# %% [markdown]
# ### Exercise: `linear_mse`
#
# *{minutes} minutes*
#
# A colleague's program standardizes `x`, predicts `x @ w`, and returns the mean squared error.
# It has three bugs, each of a kind that you have met in chapters 1a to 1c, and yet on most data it returns a plausible number.
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

# %% [markdown]
# When it passes, name the three bugs aloud: one is about an axis, one about memory, and one about two shapes.

# %% [markdown] side=true
# #### Which mistakes are loud?
#
# *{minutes} minutes*
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

# %% [markdown] name="faq-study" side=true
# #### How do I practice?
#
# *{minutes} minutes*
#
# Take one tiny example and trace each line: what comes in, which rule acts, what comes out, and where would you look first if it did not?
# Then change one input and predict; then break it, and compare.
# You have learned a word such as "view" when you know a case that works, an edge case, and one that fails.
#
# **How do I know that it worked?**
# By something that you can see, a shape, a number, a picture, a check; and not by the absence of an error.
#
# **Why is it confusing at first?**
# Because new words and new behavior come mixed.
# Keep them apart: for each operation ask for its input, its rule, its result, and the way it fails.
