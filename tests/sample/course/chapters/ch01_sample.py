# %% [markdown] name="opening"
# # Chapter 1: A sample ({minutes} minutes)
#
# What tests grade where any chapter would do: seven exercises of all kinds, and little to read.

# %% name="parameters" parameters=true
seed = 0  # decides the random numbers

# %% setup=true
import math
import warnings
import numpy as np
import torch
import torch.nn.functional as F
from autograder import check, hint, mine, progress, reveal, shows_error

_ = torch.manual_seed(seed)

# %% [markdown]
# ## 1 Facts ({minutes} minutes)
#
# How many numbers are in a table of two rows and three columns?

# %% predict=true name="guess-the-count"
guess = 6  # how many numbers?

# %% name="the-count"
table = torch.zeros(2, 3)
reveal(guess, table.numel())

# %% [markdown] side=true name="bytes"
# #### How many bytes is that? ({minutes} minutes)
#
# Four for each number.

# %% name="four-each"
table.nbytes

# %% [markdown]
# ### Exercise: `describe` ({minutes} minutes)
#
# What does a tensor know about itself?

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

# %% [markdown]
# ### Exercise: `first_and_rest` ({minutes} minutes)
#
# One part in memory of its own, the other in that of the tensor.

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

# %% [markdown]
# ## 2 Orders ({minutes} minutes)
#
# `reshape` reads numbers in the order of the dims.
#
# ### Exercise: `flatten_images` ({minutes} minutes)

# %% exercise="flatten_images"
def flatten_images(x):
    """Turn images (N, C, H, W) into rows of pixels (N, H*W, C).

    One row per pixel, in reading order; a row holds the channel values of its pixel.
    The dtype stays.

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

# %% [markdown]
# ### Exercise: `add_bias` ({minutes} minutes)
#
# Which dim does a bias meet?

# %% exercise="add_bias"
def add_bias(x, bias):
    """Add to every channel of x its own bias, without a loop.

    x: (batch, channels, length), bias: (channels,), of one dtype. Returns a new tensor
    of the shape and dtype of x; x itself stays as it is.

    For x = torch.zeros(1, 2, 3) and bias = torch.tensor([10.0, 20.0]) the result
    is [[[10.0, 10.0, 10.0], [20.0, 20.0, 20.0]]].
    """
    ### BEGIN SOLUTION
    return x + bias[:, None]  # (channels, 1) lines up with (channels, length)
    ### END SOLUTION


# %% check="add_bias" points=1
check("add_bias", add_bias)

# %% [markdown]
# ### Exercise: `one_hot` ({minutes} minutes)

# %% exercise="one_hot"
def one_hot(labels, k):
    """Return a float32 table (n, k) with a single 1 per row, at the row's label.

    labels: (n,) int64, each in 0..k-1; n may be 0. The number of columns is k,
    whichever labels occur.

    one_hot(torch.tensor([2, 0]), 3) gives [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]].
    """
    ### BEGIN SOLUTION
    hits = labels[:, None] == torch.arange(k)  # (n, 1) with (k,) gives (n, k)
    return hits.to(torch.float32)
    ### END SOLUTION


# %% check="one_hot" points=2
check("one_hot", one_hot)

# %% [markdown]
# ### Exercise: `standardize` ({minutes} minutes)
#
# $$y = \frac{x - \bar x}{\sqrt{v + \varepsilon}}$$

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

# %% [markdown]
# ### Stretch exercise: `softmax_stable` ({minutes} minutes)

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

# %% [markdown] name="end"
# ## The end
