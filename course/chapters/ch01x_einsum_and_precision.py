# %% [markdown] name="opening"
# # Chapter 1x: Bits and einsum
#
# *Press Shift and Enter, from the top: each press runs one cell and goes to the next.*
#
# *Why does the ink of 1,797 digits add up to infinity?*
#
# This is an excursion to numbers that go wrong in silence. You can read it at any time after chapter 1c, or leave it out: chapter 5 explains again what it needs. You learn to
#
# - say which numbers a format of 16 bits cannot hold
# - see why a softmax may break, and how to prevent it
# - write a product of tensors by naming its axes with letters (after the end)
#
# It takes about {minutes} minutes of reading and running, and {exercises} for the exercise; one more is extra. Another, of {later} minutes, comes after the end.
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
from course.instruments import milliseconds, show_digits

_ = torch.manual_seed(seed)

# %% [markdown] name="review-text"
# Before you begin, answer five questions about what you have read so far, from memory: what you recall on your own stays with you longer.

# %% name="review"
review("1x")

# %% [markdown]
# 16 bits can tell only 65,536 numbers apart. Here are the whole numbers from 250 to 266, with a dot on each that one such format, bfloat16, can hold: from 256 to 512 only every second one. The others become a neighbor.

# %% name="numbers-that-are-there" figure=true
figures.number_line()

# %% [markdown]
# The digits are those of chapter 1a.

# %% name="digits"
from sklearn.datasets import load_digits

digits = load_digits()
images = torch.tensor(digits.images, dtype=torch.float32)
rows = images.reshape(1797, 64)
print(tuple(images.shape), tuple(rows.shape))

# %% [markdown] name="dtypes"
# ## 1 What a format cannot hold
#
# *{minutes} minutes*
#
# Count the ink on all 1,797 digits: `images.sum()` says 561,718.
# A pixel is only a whole number from 0 to 16, so float16, with half of the bits of float32, should be plenty.
#
# *Predict.* What is `images.to(torch.float16).sum()`: about 561,718, much less, or infinity?

# %% predict=true
guess = "infinity"  # "about 561,718", "much less", or "infinity"

# %% name="ink-in-half"
ink = images.to(torch.float16).sum()
print(images.sum().item(), "in float16:", ink.item())
reveal(guess, "infinity" if ink.isinf() else "much less" if ink < 500_000 else "about 561,718")

# %% claim=true
assert images.sum() == 561_718 and ink == math.inf

# %% [markdown]
# It is infinity, and no error tells you so. Each pixel fits, but the sum lies beyond 65,504, where float16 ends.
#
# Why does a format end, and what else can it not hold?
# Suppose you may write down only three digits and a power of ten, and the power has a single digit, with a plus or a minus.
#
# - The largest number is then 9.99e9, and close to 0 there is an end too. The powers set the **range**: a number that is too large becomes infinite, and one that is too close to 0 becomes 0.
# - After 3.14 comes 3.15, a gap of 0.01. After 3.14e5, which is 314,000, comes 3.15e5, a gap of 1,000. The digits set the **precision**: a number in a gap is rounded to the nearer end of it, and larger numbers have larger gaps.
#
# A number format is just that, with binary digits. It splits its bits between the sign, the digits and the power, and the two formats of 16 bits split them differently.
#
# | | bits | binary digits | smallest above 0 | largest | all whole numbers up to |
# |---|---|---|---|---|---|
# | float64 | 64 | 53 | 5e-324 | 2e308 | 9,007,199,254,740,992 |
# | float32 | 32 | 24 | 1e-45 | 3e38 | 16,777,216 |
# | float16 | 16 | 11 | 6e-8 | 65,504 | 2,048 |
# | bfloat16 | 16 | 8 | 9e-41 | 3e38 | 256 |
#
# bfloat16 reaches nearly as far as float32 with half of the bits, and pays for that with precision.
# A tiny number, 0.00000002 or 2e-8, and 257 show what each format of 16 bits loses:

# %% name="float16-range"
for kind in (torch.float32, torch.float16, torch.bfloat16):
    small, large = torch.tensor(2e-8).to(kind).item(), torch.tensor(257.0).to(kind).item()
    print(f"{kind}: {small:.1e} and {large:.0f}")

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
# float16 rounds the tiny number to 0, and bfloat16 rounds 257 to 256, because it has no dot at 257 in the picture at the top.
#
# Gaps hurt most where you add, because a small number can vanish in the gap after a large one. A program that learns adds thousands of small steps to its numbers, so it matters when a step is lost.
#
# *Predict.* You count the 1,797 digits in bfloat16, and add 1 for each. What does the counter say at the end?

# %% predict=true
guess = 256  # a number

# %% name="lost-addition"
counter = torch.tensor(0.0, dtype=torch.bfloat16)
for _ in images:
    counter = counter + 1
reveal(guess, counter.item())

# %% claim=true
assert counter == 256

# %% [markdown]
# At 256 it stands still: 257 lies in the exact middle of a gap, and then torch takes the end whose last binary digit is 0, here 256. No error comes, only a wrong number.
# A counter in float32 stops in the same way at `2**24`, which is 16,777,216.
#
# The number need not be large. Just above 1, bfloat16 has gaps of 1 / 128, about 0.0078. So 1 + 0.5 is another number, and 1 + 0.001 is rounded back to 1:

# %% name="lost-step"
one = torch.tensor(1.0, dtype=torch.bfloat16)
for step in (0.5, 0.001):
    print(f"1 + {step} is {(one + step).item()}; differs from 1:", (one + step != one).item())

# %% claim=true
assert (one + 0.5).item() == 1.5 and (one + 0.001).item() == 1
assert round(torch.finfo(torch.bfloat16).eps, 4) == 0.0078

# %% [markdown] name="dtype-choice"
# The programs of chapter 2 learn by such small steps, and chapter 5 shows how not to lose them.
# Until then take float32, the default. Where precision matters most, take float64.

# %% [markdown] name="surprises"
# ### Exercise: `precision_lab`
#
# *{minutes} minutes*
#
# Some day a number looks odd, and no error says why. Then ask four questions.
# Is a small step lost beside 1, as 0.001 was? Does a tiny number become 0? Where does a counter stop?
# The fourth has to do with shapes, not with bits, and you know it from chapter 1b: when a row meets a column, how many errors are averaged?

# %% exercise="precision_lab"
def precision_lab(step, tiny, count, n):
    """Return four facts about small numbers and shapes, in a dict.

    step and tiny are positive.
    "moves" (bool): does 1 + step differ from 1 in bfloat16?
    "survives" (bool): is tiny different from 0 in float16?
    "counted" (float or int): start at 0 and add 1, count times, in bfloat16.
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

# %% [markdown] side=true
# #### What does each format do with its bits?
#
# *{minutes} minutes*
#
# First the bytes that a million numbers take.

# %% name="dtype-memory"
million = torch.zeros(1000, 1000)
for kind in (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8):
    print(f"{million.to(kind).nbytes:,} bytes in {kind}")

# %% claim=true
_kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int8)
assert [million.to(_kind).nbytes / 1e6 for _kind in _kinds] == [8, 4, 2, 2, 1]

# %% [markdown]
# The left of the picture shows the numbers that each format has near 1; float32 has too many to tell apart.
# On the right, choose a size of number at the bottom and go up to the format's line: there is the gap.

# %% figure=true
figures.float_spacing()

# %% [markdown]
# bfloat16 has one bit for the sign, and eight that say which power of two.
# That leaves seven for the digits, and they are enough for eight, because the first digit is 1, except in the very smallest numbers, and need not be kept.
# 255 is 11111111, just eight of them. 257 would be 100000001, and for the ninth there is no room, whereas 258 is 100000010, where the ninth is a 0.
# float16 spends its bits differently: eleven digits, so smaller gaps, but it ends sooner, at 65,504 and at about 6e-8.
#
# Of the 24 digits that float32 keeps, the last is 0 in 16777216 and 1 in 16777218, so a counter in float32 goes back; three more lies between 16777218 and 16777220, and goes up.

# %% name="halfway"
many = torch.tensor(2.0**24)
print((many + 1).item(), (many + 3).item())

# %% claim=true
assert many + 2 != many and many - 1 != many
assert many + 3 == many + 4 != many + 2  # halfway from + 2 to + 4, whose last digit is 0
assert (many + 1).item() == 2**24 and (many + 3).item() == 2**24 + 4

# %% [markdown] side=true
# #### Which dtype wins when two of them meet?
#
# *{minutes} minutes*
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
# Within a kind the larger size wins (float16 and bfloat16, of equal size, give float32), except that a single number, from Python or from a tensor without axes, does not widen a tensor with axes.
# torch never looks at the numbers themselves.

# %% name="promotion"
half = torch.ones(2, dtype=torch.float16)
print("int64 + float16:         ", (whole + half).dtype)
print("float16 + float32:       ", (half + torch.ones(2)).dtype)
print("float16 * Python's 0.5:  ", (half * 0.5).dtype)
print("100,000 + float16 is now:", (torch.tensor([100_000]) + half).tolist())

# %% claim=true
assert (whole / 2).dtype == torch.float32  # a division always gives floats
assert (half + torch.ones(2)).dtype == (half + half.bfloat16()).dtype == torch.float32
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
# float64 may cost time as well; how much depends on the machine, and the cell measures yours.

# %% name="float64-cost"
x = torch.randn(512, 512)
y = x.double()
ratio = milliseconds(lambda: y @ y) / milliseconds(lambda: x @ x)
print(f"float64 takes {ratio:.1f} times as long as float32")

# %% claim=true
assert torch.finfo(torch.float64).eps < 1e-15 < 1e-7 < torch.finfo(torch.float32).eps

# %% [markdown] name="softmax"
# ## 2 Scores become shares
#
# *{minutes} minutes*
#
# float32 reaches to 3e38. Is that enough? Not for a formula that most programs that read digits contain. They give each of the ten classes a score, a number of any size: the higher, the likelier. **Softmax** turns scores into shares, which are positive and add up to 1: take e to the power of each score, and divide by the sum of these powers. Chapter 2 reads digits with it.
#
# *Predict.* e to the power of 100 is about 3e43, and float32 ends at 3e38. For the scores 0 and 100, are both shares finite?

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
# But you may add the same constant c to all scores: `exp(s + c)` is `exp(s) * exp(c)`, and the factor `exp(c)` cancels in the division.

# %% name="softmax-shift"
some = torch.tensor([1.0, 2.0, 3.0])
for scores in (some, some - 2.5):
    print(scores.exp() / scores.exp().sum())

# %% claim=true
assert torch.allclose(some.exp() / some.exp().sum(), (some - 2.5).exp() / (some - 2.5).exp().sum())

# %% [markdown]
# ### Exercise: `softmax_stable`
#
# *Stretch, extra credit, {minutes} minutes*
#
# If you write it, chapter 2 uses your function. Choose the constant so that no share is nan: no power may become infinite, and not all powers of a row may become 0, since 0 / 0 is nan too. Rows may differ much, so each needs a constant of its own.
# (`amax` and `amin` reduce along a dim, as `sum` does. `max` and `min` with a dim give a pair, the values and their places.)
# For the scores 1000 and 1000, for example, -1000 will do:

# %% name="softmax-example"
shifted = torch.tensor([1000.0, 1000.0]) - 1000
print(shifted.exp() / shifted.exp().sum())

# %% exercise="softmax_stable"
def softmax_stable(x, dim):
    """Return the softmax of x along dim, finite however large the entries of x are.

    Write it yourself: torch.softmax, log_softmax, logsumexp and the like are not allowed. The
    result has the shape and dtype of x; if x requires grad (chapter 2), so does the result.
    x stays as it is.

    softmax_stable(torch.tensor([1000.0, 1000.0]), dim=0) gives [0.5, 0.5].
    """
    ### BEGIN SOLUTION
    largest = x.amax(dim=dim, keepdim=True)
    powers = torch.exp(x - largest)  # the largest power is exp(0) = 1
    return powers / powers.sum(dim=dim, keepdim=True)
    ### END SOLUTION


# %% check="softmax_stable" extra=3
check("softmax_stable", softmax_stable)

# %% [markdown] name="recap"
# ## What you can do now
#
# - say where a format ends, and how large its gaps are
# - say where a softmax becomes nan, and which change of the scores leaves its shares alone

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
# 1. What does bfloat16 keep of float32, and what does float16 keep?
# 2. A counter in float32 stands still at 16,777,216. Why?
# 3. Why may you subtract the same number from all scores of a softmax?
#
# <details><summary>Answers</summary>
#
# 1. bfloat16 the range, float16 more of the digits.
# 2. From there on the numbers are 2 apart, and the sum is rounded back.
# 3. It becomes a factor of every power, and cancels in the division.
#
# </details>

# %% [markdown]
# Next comes *Chapter 2a: Gradients*, if you have not been there yet. So far you have told the program every number that it uses. In chapter 2a it finds them by itself: ten pictures that begin as zeros learn to read the digits, and a softmax turns their scores into shares.
#
# Here the sitting ends. What follows can wait for another evening: no later lesson needs it. Its exercise, `batched_einsum`, counts for 4 of this notebook's 8 points.

# %% [markdown] name="letters-text"
# ## 3 Letters for axes
#
# *{minutes} minutes*
#
# In chapter 1c the product `hot.T @ rows` added up the pictures of each class. For that product you had to turn the pictures into rows, and to transpose `hot`. With two axes that is easy, but with three or four a program soon is full of transposes that nobody can read.
# `einsum` (it is named after Einstein's way of writing sums) needs none. You *name* the axes: a letter for each axis of each input, an arrow, and the letters of the result.
# Then einsum lines up axes that have the same letter, multiplies, and sums over each letter that is missing after the arrow.
#
# Here is the matrix product. The rows of the result are i and its columns k, and j is the axis that the two matrices share:

# %% name="letters"
left = torch.tensor([[1, 2], [3, 4], [5, 6]])  # (3, 2)
right = torch.tensor([[10, 20, 30], [40, 50, 60]])  # (2, 3)
figures.matrix_product(left, right, letters="ijk")

# %% [markdown]
# So `"ij,jk->ik"` is `left @ right`. The last line below multiplies `left` with its own transpose, so every row meets every row. The same tensor comes in twice, and its rows need two letters, i and k.

# %% name="einsum"
print(torch.einsum("ij->j", left))  # i is gone: 1 + 3 + 5 and 2 + 4 + 6
print(torch.einsum("ij,jk->ik", left, right))  # the matrix product left @ right
print(torch.einsum("ij,kj->ik", left, left))  # every row meets every row

# %% claim=true
_stack = torch.stack([left, 10 * left])  # two (3, 2) matrices
assert torch.equal(torch.einsum("ij,jk->ik", left, right), left @ right)
assert torch.equal(torch.einsum("bij,jk->bik", _stack, right), _stack @ right)
assert torch.equal(torch.einsum("ij->ji", left), left.T)
assert torch.equal(torch.einsum("ij,kj->ik", left, left), left @ left.T)
assert torch.einsum("ij->j", left).tolist() == [9, 12]

# %% mine=true
my_one_hot = mine("one_hot", lambda labels, k: F.one_hot(labels, k).float())

# %% [markdown]
# Now the digits: n for digits, c for classes, h and w for height and width. The pictures stay pictures. `hot` is the table of chapter 1c, with a single 1 in each row.
#
# *Predict.* What is the shape of `torch.einsum("nc,nhw->chw", hot, images)`?

# %% predict=true
guess = (10, 8, 8)  # a tuple

# %% name="einsum-of-digits"
hot = my_one_hot(torch.tensor(digits.target), 10)  # (1797, 10)
added = torch.einsum("nc,nhw->chw", hot, images)
count = hot.sum(dim=0)  # how many digits each class has
show_digits(added / count[:, None, None], says=range(10))
reveal(guess, added.shape)

# %% claim=true
assert torch.allclose(added.reshape(10, 64), hot.T @ rows, rtol=1e-3)
assert torch.allclose(torch.einsum("nc,np->cp", hot, rows), hot.T @ rows, rtol=1e-3)

# %% [markdown]
# Only n is summed over, and `hot` is 0 for all other classes, so einsum added up the digits of each class. Divided by how many there are, the sums are the ten averages of chapter 1c.

# %% [markdown]
# ### Exercise: `batched_einsum`
#
# *{minutes} minutes*
#
# A batch of digits is a batch of matrices: one axis counts the digits, and two belong to each matrix. With three axes it is easy to transpose or to sum the wrong one, and letters say which one you mean.
# Write four products, each with one line of `einsum`. For each, ask which letters come in, and which stay.
# For example, in *applied* each matrix of the batch meets a vector of its own: `bnk` and `bk` come in, `b` and `n` stay, and `k` is summed over. With a loop it looks like this:

# %% name="batched-einsum-example"
matrices, vectors = torch.ones(2, 3, 4), torch.arange(8.0).reshape(2, 4)
for matrix, vector in zip(matrices, vectors):
    print(matrix @ vector)

# %% exercise="batched_einsum"
def batched_einsum(a, b, v):
    """Return four products of a (B, n, k), b (B, k, m) and v (B, k), in a dict.

    With B = 2, n = 3, k = 4, m = 5 the shapes are, in the order below, (2, 3, 5), (2, 3, 3),
    (2, 3), (3, 5).

    - "product" (B, n, m): each matrix in a times the one in b at the same place.
    - "gram" (B, n, n): each matrix in a times its own transpose.
    - "applied" (B, n): each matrix in a times the vector in v at the same place.
    - "total" (n, m): the sum of the products over the batch.
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
# #### What does `@` do with more than two axes?
#
# *{minutes} minutes*
#
# It multiplies the matrices that lie in the last two axes. The axes before them are the batch, and they broadcast as in chapter 1b.

# %% name="batched-matmul"
matrices = torch.randn(2, 3, 4)  # two of (3, 4)
print((matrices @ torch.randn(2, 4, 5)).shape, (matrices @ torch.randn(4, 5)).shape)
print((matrices @ matrices.mT).shape)

# %% claim=true
assert (matrices @ torch.randn(2, 4, 5)).shape == (matrices @ torch.randn(4, 5)).shape == (2, 3, 5)
assert (matrices @ matrices.mT).shape == (2, 3, 3)

# %% [markdown] side=true
# #### Can a product turn a picture around?
#
# *{minutes} minutes*
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
