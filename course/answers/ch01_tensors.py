"""The answer bank of chapter 1: wrong answers learners really give, and right ones that must pass.

Each entry is a whole answer and stands alone: it uses nothing but what the chapter's setup cell imports.
"""

import math

import torch

from autograder.authoring.bank import AnswerBank

bank = AnswerBank("ch01_tensors")


# --- describe -----------------------------------------------------------------------------------------------


@bank.wrong(
    "describe",
    "size-not-tuple",
    "`x.shape` is a `torch.Size`. The dictionary asks for a plain `tuple`: convert it.",
)
def describe(x):
    return {
        "shape": x.shape,
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": x.numel() * x.element_size(),
    }


@bank.wrong(
    "describe",
    "bytes-is-numel",
    "You count elements, not bytes. How many bytes does one element of this dtype take?",
)
def describe(x):
    return {
        "shape": tuple(x.shape),
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": x.numel(),
    }


@bank.wrong(
    "describe",
    "four-bytes-each",
    "You count four bytes for every element. That holds for float32 only: ask the tensor.",
)
def describe(x):
    return {
        "shape": tuple(x.shape),
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": 4 * x.numel(),
    }


@bank.wrong(
    "describe",
    "bytes-of-one-element",
    "You give the bytes of one element. The whole tensor has `numel()` of them.",
)
def describe(x):
    return {
        "shape": tuple(x.shape),
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": x.element_size(),
    }


@bank.wrong(
    "describe",
    "dtype-as-string",
    "Your dtype is a string. Keep the `torch.dtype` object itself, so that it can be compared and reused.",
)
def describe(x):
    return {
        "shape": tuple(x.shape),
        "dtype": str(x.dtype),
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": x.nbytes,
    }


@bank.wrong(
    "describe",
    "device-object",
    "Your device is a `torch.device` object. Its type, a string such as `'cpu'`, is asked for.",
)
def describe(x):
    return {
        "shape": tuple(x.shape),
        "dtype": x.dtype,
        "device": x.device,
        "requires_grad": x.requires_grad,
        "bytes": x.nbytes,
    }


@bank.wrong("describe", "shape-as-list", "Your shape is a list. The dictionary asks for a tuple.")
def describe(x):
    return {
        "shape": list(x.shape),
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.requires_grad,
        "bytes": x.nbytes,
    }


@bank.wrong(
    "describe",
    "grad-is-there",
    "You say False for a tensor that requires grad. Ask `x.requires_grad`.",
)
def describe(x):
    return {
        "shape": tuple(x.shape),
        "dtype": x.dtype,
        "device": x.device.type,
        "requires_grad": x.grad is not None,
        "bytes": x.nbytes,
    }


@bank.wrong(
    "describe",
    "no-return",
    "You make the dictionary and keep it to yourself: without `return` the caller gets None.",
)
def describe(x):
    facts = {"shape": tuple(x.shape), "dtype": x.dtype, "device": x.device.type}
    facts["requires_grad"] = x.requires_grad
    facts["bytes"] = x.nbytes


@bank.right("describe", "nbytes")
def describe(x):
    return dict(
        shape=tuple(x.size()),
        dtype=x.dtype,
        device=str(x.device.type),
        requires_grad=x.requires_grad,
        bytes=x.nbytes,
    )


@bank.right("describe", "itemsize-and-prod")
def describe(x):
    shape = tuple(int(n) for n in x.shape)
    return {
        "bytes": math.prod(shape) * x.dtype.itemsize,
        "requires_grad": bool(x.requires_grad),
        "device": str(x.device),
        "dtype": x.dtype,
        "shape": shape,
    }


# --- make_batch ---------------------------------------------------------------------------------------------


@bank.wrong(
    "make_batch",
    "global-seed",
    "A global generator, torch's or NumPy's, stands elsewhere after your call: you seed it, or draw from "
    "it. Use a `torch.Generator` of your own.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    return torch.randn(n, d, dtype=dtype)


@bank.wrong(
    "make_batch",
    "int-dtype",
    "Your numbers are whole numbers of an integer dtype. Normal numbers of the `dtype` of the call are asked for.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(-3, 4, (n, d), generator=generator)


@bank.wrong(
    "make_batch",
    "list-dtype",
    "Your result is float32 whatever `dtype` says, as any tensor made from Python floats is. Pass `dtype` on.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randn(d, generator=generator).tolist() for _ in range(n)]
    return torch.tensor(rows)


@bank.wrong(
    "make_batch",
    "unseeded",
    "You draw from the global generator and never use `seed`: two calls with one seed give two different batches.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    return torch.randn(n, d, dtype=dtype)


@bank.wrong(
    "make_batch",
    "seed-ignored",
    "You made a generator, but `seed` never reaches it: every seed gives the same batch.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator()
    return torch.randn(n, d, dtype=dtype, generator=generator)


@bank.wrong(
    "make_batch",
    "uniform",
    "Your numbers look uniform, not normal.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(n, d, dtype=dtype, generator=generator)


@bank.wrong(
    "make_batch",
    "swapped-shape",
    "Your batch is (d, n). One row for each of the `n` examples comes first, then its `d` features.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(d, n, dtype=dtype, generator=generator)


@bank.wrong(
    "make_batch",
    "one-row-repeated",
    "Numbers repeat: each is to be drawn on its own.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(d, dtype=dtype, generator=generator).repeat(n, 1)


@bank.wrong(
    "make_batch",
    "seed-plus-global",
    "You add a number from the global generator to the seed: the batch depends on what was drawn "
    "before, and moves the global generator on.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed + int(torch.randint(1000, ())))
    return torch.randn(n, d, dtype=dtype, generator=generator)


@bank.wrong(
    "make_batch",
    "standardized",
    "Whatever the seed, your batch has mean 0 or spread 1 exactly: normal numbers only come near. Leave "
    "them as they are drawn.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    x = torch.randn(n, d, dtype=dtype, generator=torch.Generator().manual_seed(seed))
    return (x - x.mean()) / x.std()


@bank.right("make_batch", "cast-afterwards")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator()
    generator.manual_seed(seed)
    return torch.randn((n, d), generator=generator).to(dtype)


@bank.right("make_batch", "fill-in-place")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    return torch.empty(n, d, dtype=dtype).normal_(generator=torch.Generator().manual_seed(seed))


@bank.right("make_batch", "normal")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator(device="cpu").manual_seed(seed)
    return torch.normal(0.0, 1.0, size=(n, d), dtype=dtype, generator=generator)


@bank.right("make_batch", "transposed-draw")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed + 1)
    return torch.randn(d, n, dtype=torch.float64, generator=generator).T.to(dtype)


# --- first_and_rest -----------------------------------------------------------------------------------------


@bank.wrong(
    "first_and_rest",
    "clone-missing",
    "Your `copy` lives in the memory of `x`: indexing with a number copies nothing, and `contiguous()` "
    "does not copy what is contiguous already.",
)
def first_and_rest(x):
    return x[0], x[1:]


@bank.wrong(
    "first_and_rest",
    "detach-as-copy",
    "`detach` and `.data` cut a tensor off from autograd and copy nothing: "
    "your `copy` still lives in the memory of `x`.",
)
def first_and_rest(x):
    return x[0].detach(), x[1:]


@bank.wrong(
    "first_and_rest",
    "copies-both",
    "You copy the other rows as well. The second result is to be a view, so that writing to it changes `x`.",
)
def first_and_rest(x):
    return x[0].clone(), x[1:].clone()


@bank.wrong(
    "first_and_rest",
    "copies-the-rest",
    "It is the other way round: row 0 is to have memory of its own, the other rows are to share that of `x`.",
)
def first_and_rest(x):
    return x[0], x[1:].clone()


@bank.wrong(
    "first_and_rest",
    "swapped",
    "You return the two in the wrong order: the copy of row 0 comes first, the view second.",
)
def first_and_rest(x):
    return x[1:], x[0].clone()


@bank.wrong(
    "first_and_rest",
    "keeps-the-row-dim",
    "Your copy is a matrix of one row: a slice keeps its dim. Index with a number to drop it.",
)
def first_and_rest(x):
    return x[:1].clone(), x[1:]


@bank.wrong(
    "first_and_rest",
    "columns",
    "You take the first column and the other columns. Rows are counted along the first dim.",
)
def first_and_rest(x):
    return x[:, 0].clone(), x[:, 1:]


@bank.wrong(
    "first_and_rest",
    "rest-from-row-0",
    "Your view begins at row 0. The first row is in the copy already: the view begins at row 1.",
)
def first_and_rest(x):
    return x[0].clone(), x[0:]


@bank.wrong(
    "first_and_rest",
    "last-row-lost",
    "Your view ends one row early: the end of a slice is not part of it, and `-1` stands for the last row.",
)
def first_and_rest(x):
    return x[0].clone(), x[1:-1]


@bank.right("first_and_rest", "fancy-index-copies")
def first_and_rest(x):
    return x[[0]].squeeze(0), x.narrow(0, 1, x.shape[0] - 1)


@bank.right("first_and_rest", "copy-into-new-memory")
def first_and_rest(x):
    first = torch.empty_like(x[0])
    first.copy_(x[0])
    return first, x[1:, :]


@bank.right("first_and_rest", "detach-and-clone-in-a-list")
def first_and_rest(x):
    first, rest = x.split([1, len(x) - 1])
    return [first[0].detach().clone(), rest]


@bank.right("first_and_rest", "through-numpy")
def first_and_rest(x):
    return torch.tensor(x[0].numpy()), x[1:]


# --- flatten_images -----------------------------------------------------------------------------------------


@bank.wrong(
    "flatten_images",
    "view-instead-of-permute",
    "The shape is right, the order is not: `view` and `reshape` never move a number, so the channels of "
    "one pixel do not come together. Move the channel dim first.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.reshape(n, h * w, c)


@bank.wrong(
    "flatten_images",
    "hardcoded-n",
    "The batch size of one example stands in your code. Take it from the shape of `x`.",
)
def flatten_images(x):
    return x.permute(0, 2, 3, 1).reshape(2, -1, x.shape[1])


@bank.wrong(
    "flatten_images",
    "hardcoded-channels",
    "You count on three channels. Images may have one, or more than three: take the number from `x`.",
)
def flatten_images(x):
    return x.permute(0, 2, 3, 1).reshape(x.shape[0], -1, 3)


@bank.wrong(
    "flatten_images",
    "non-contiguous-view",
    "Here `view` asks for one row over dims which no longer lie behind one another in memory. `reshape` "
    "copies where it must; and check the order of the sizes.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    pixels = x.permute(0, 2, 3, 1).view(-1, c)
    return pixels.view(n, h * w, c)


@bank.wrong(
    "flatten_images",
    "channels-not-moved",
    "Your result is (N, C, H*W): one row for each channel. One row for each pixel is asked for.",
)
def flatten_images(x):
    return x.flatten(2)


@bank.wrong(
    "flatten_images",
    "column-by-column",
    "Your pixels run down the columns of the image: height and width are swapped on the way. Keep H before W.",
)
def flatten_images(x):
    return x.transpose(1, 3).flatten(1, 2)


@bank.wrong(
    "flatten_images",
    "batch-merged",
    "All images have run together into one long matrix. Keep the batch dim and flatten only height and width.",
)
def flatten_images(x):
    return x.permute(0, 2, 3, 1).reshape(-1, x.shape[1])


@bank.wrong(
    "flatten_images",
    "squeezed",
    "`squeeze` drops every dim of size 1: a batch of one image, or an image of one channel, loses a dim.",
)
def flatten_images(x):
    return x.flatten(2).transpose(1, 2).squeeze()


@bank.wrong(
    "flatten_images",
    "images-mixed",
    "You moved the batch dim behind the pixels: the rows of one result come from different images.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.permute(2, 3, 0, 1).reshape(n, h * w, c)


@bank.wrong(
    "flatten_images",
    "all-dims-reversed",
    "All four dims came in reverse order, the images as well: for example, `.T` does that. Say with "
    "`permute` where each dim goes.",
)
def flatten_images(x):
    n, c, h, w = x.shape
    return x.T.reshape(n, h * w, c)


@bank.right("flatten_images", "flatten-then-transpose")
def flatten_images(x):
    return x.flatten(start_dim=2).transpose(1, 2)


@bank.right("flatten_images", "permute-then-flatten")
def flatten_images(x):
    return x.permute(0, 2, 3, 1).contiguous().flatten(1, 2)


@bank.right("flatten_images", "permute-then-view")
def flatten_images(x):
    n, c, h, w = x.shape
    return x.permute(0, 2, 3, 1).view(n, h * w, c)


@bank.right("flatten_images", "stack-of-channels")
def flatten_images(x):
    return torch.stack([channel.flatten(1) for channel in x.unbind(1)], dim=-1)


# --- standardize --------------------------------------------------------------------------------------------


@bank.wrong("standardize", "dim-0-always", "You reduce over dim 0 whatever `dim` says: use the argument.")
def standardize(x, dim, eps):
    mean = x.mean(0, keepdim=True)
    var = x.var(0, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "standardize",
    "last-dim-always",
    "You reduce over the last dim whatever `dim` says: use the argument.",
)
def standardize(x, dim, eps):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "standardize",
    "no-keepdim",
    "The mean loses the dim it was taken over, and then lines up with another one. Keep that dim, with size 1.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim)
    var = x.var(dim, correction=0)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "standardize",
    "unbiased-mismatch",
    "Your variance divides by n - 1, torch's default. The population variance divides by n: look at `correction`.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, keepdim=True)
    return (x - mean) / torch.sqrt(var + eps)


@bank.wrong(
    "standardize",
    "mutates-input",
    "You work in place, so the caller's `x` is changed too. Make a new tensor.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    x -= mean
    x /= torch.sqrt(var + eps)
    return x


@bank.wrong(
    "standardize",
    "no-eps",
    "You leave `eps` out: where all numbers are equal the variance is 0, and 0 / 0 is nan.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / std


@bank.wrong(
    "standardize",
    "eps-outside-the-root",
    "You add `eps` to the standard deviation. The formula adds it to the variance, under the root.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / (std + eps)


@bank.wrong(
    "standardize",
    "hardcoded-eps",
    "An `eps` of your own stands in the formula. Use the one of the call.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(var + 1e-5)


@bank.wrong(
    "standardize",
    "no-root",
    "You divide by the variance. Its square root, the standard deviation, has the unit of `x`.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return (x - mean) / (var + eps)


@bank.wrong(
    "standardize",
    "whole-tensor",
    "You take one mean and one variance of the whole tensor. Each slice along `dim` has its own.",
)
def standardize(x, dim, eps):
    return (x - x.mean()) / torch.sqrt(x.var(correction=0) + eps)


@bank.wrong("standardize", "not-centered", "You scale, but do not center: the mean of the result is to be 0.")
def standardize(x, dim, eps):
    return x / torch.sqrt(x.var(dim, correction=0, keepdim=True) + eps)


@bank.wrong("standardize", "not-scaled", "You center, but do not scale: the result is to have variance 1.")
def standardize(x, dim, eps):
    return x - x.mean(dim, keepdim=True)


@bank.wrong(
    "standardize",
    "brackets-missing",
    "You divide only the mean: `/` binds tighter than `-`. Put the difference into brackets.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, correction=0, keepdim=True)
    return x - mean / torch.sqrt(var + eps)


@bank.wrong(
    "standardize",
    "root-of-std",
    "You take a root twice: `std` is the root of the variance already. Under the root stands the variance.",
)
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    std = x.std(dim, correction=0, keepdim=True)
    return (x - mean) / torch.sqrt(std + eps)


@bank.right("standardize", "mean-of-squares")
def standardize(x, dim, eps):
    mean = x.mean(dim, keepdim=True)
    var = (x**2).mean(dim, keepdim=True) - mean**2
    return (x - mean) / torch.sqrt(var + eps)


@bank.right("standardize", "var-mean-and-rsqrt")
def standardize(x, dim, eps):
    var, mean = torch.var_mean(x, dim, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps)


@bank.right("standardize", "by-hand")
def standardize(x, dim, eps):
    centered = x - x.sum(dim, keepdim=True) / x.shape[dim]
    return centered / ((centered**2).mean(dim, keepdim=True) + eps) ** 0.5


@bank.right("standardize", "unsqueeze-afterwards")
def standardize(x, dim, eps):
    mean = x.mean(dim).unsqueeze(dim)
    std = torch.std(x, dim=dim, unbiased=False).unsqueeze(dim)
    return (x - mean).div((std.square() + eps).sqrt())


@bank.right("standardize", "dim-to-the-end")
def standardize(x, dim, eps):
    moved = x.transpose(dim, -1)
    return torch.nn.functional.layer_norm(moved, moved.shape[-1:], eps=eps).transpose(dim, -1)


@bank.right("standardize", "in-place-on-a-clone")
def standardize(x, dim, eps):
    out = x.clone()
    out -= x.mean(dim, keepdim=True)
    out /= torch.sqrt(x.var(dim, correction=0, keepdim=True) + eps)
    return out


# --- add_bias -----------------------------------------------------------------------------------------------


@bank.wrong(
    "add_bias",
    "loop",
    "There is a Python loop in your function. Broadcasting does all channels at once.",
)
def add_bias(x, bias):
    out = x.clone()
    for channel in range(len(bias)):
        out[:, channel] = x[:, channel] + bias[channel]
    return out


@bank.wrong(
    "add_bias",
    "wrong-axis",
    "Broadcasting lines up the last dims: your bias meets the length, not the channels. Where both have "
    "one size nothing warns you.",
)
def add_bias(x, bias):
    return x + bias


@bank.wrong(
    "add_bias",
    "batch-axis",
    "Your bias has one new dim too many behind it and meets the batch. It is the middle dim that holds the channels.",
)
def add_bias(x, bias):
    return x + bias[:, None, None]


@bank.wrong(
    "add_bias",
    "mutates-input",
    "You write into the caller's `x`: `+=` and methods that end in `_` work in place, and `y = x` is only "
    "a second name.",
)
def add_bias(x, bias):
    x += bias[:, None]
    return x


@bank.wrong(
    "add_bias",
    "one-number",
    "You add the sum of the biases to every number. Each channel is to get its own.",
)
def add_bias(x, bias):
    return x + bias.sum()


@bank.wrong(
    "add_bias",
    "hardcoded-channels",
    "Three channels stand in your code. Take their number from `bias`, or let `-1` find it.",
)
def add_bias(x, bias):
    return x + bias.view(1, 3, 1)


@bank.right("add_bias", "view")
def add_bias(x, bias):
    return x + bias.view(1, -1, 1)


@bank.right("add_bias", "move-the-channels")
def add_bias(x, bias):
    return (x.transpose(1, 2) + bias).transpose(1, 2)


@bank.right("add_bias", "expand")
def add_bias(x, bias):
    return torch.add(x, bias.reshape(-1, 1).expand_as(x))


# --- pairwise_sq_dists --------------------------------------------------------------------------------------


@bank.wrong(
    "pairwise_sq_dists",
    "same-n-only",
    "You compare row i of `a` with row i of `b` only. Every row of `a` meets every row of `b`: make "
    "room for that with a new dim.",
)
def pairwise_sq_dists(a, b):
    return ((a - b) ** 2).sum(-1)


@bank.wrong(
    "pairwise_sq_dists",
    "loop",
    "There is a Python loop in your function. Broadcasting does all pairs at once.",
)
def pairwise_sq_dists(a, b):
    return torch.stack([((row - b) ** 2).sum(-1) for row in a])


@bank.wrong(
    "pairwise_sq_dists",
    "negative-from-expansion",
    "The expanded square takes a small difference of huge numbers: far from the origin the digits "
    "cancel, and distances even turn negative. Subtract the points first.",
)
def pairwise_sq_dists(a, b):
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


@bank.wrong(
    "pairwise_sq_dists",
    "clamped-expansion",
    "`clamp` hides the negative distances of the expanded square, but the lost digits stay lost: many "
    "distances are 0 or wrong. Subtract the points first.",
)
def pairwise_sq_dists(a, b):
    return ((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T).clamp(min=0)


@bank.wrong(
    "pairwise_sq_dists",
    "cdist-of-many",
    "With more than 25 points `cdist` switches to the expanded square and loses the digits of far-away "
    "points. See its argument `compute_mode`.",
)
def pairwise_sq_dists(a, b):
    return torch.cdist(a, b) ** 2


@bank.wrong(
    "pairwise_sq_dists",
    "not-squared",
    "You return distances. The squared ones are asked for: there is no root to take.",
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(-1).sqrt()


@bank.wrong(
    "pairwise_sq_dists",
    "absolute-differences",
    "You add up absolute differences. Euclidean distance adds up their squares.",
)
def pairwise_sq_dists(a, b):
    return (a[:, None] - b[None]).abs().sum(-1)


@bank.wrong(
    "pairwise_sq_dists",
    "mean-not-sum",
    "You average over the coordinates. A squared distance is their sum.",
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b[None]) ** 2).mean(-1)


@bank.wrong(
    "pairwise_sq_dists",
    "transposed",
    "Your rows belong to `b`. Row i of the result belongs to row i of `a`: check where each new dim goes.",
)
def pairwise_sq_dists(a, b):
    return ((b[:, None] - a[None]) ** 2).sum(-1)


@bank.wrong(
    "pairwise_sq_dists",
    "sums-over-points",
    "You add up over the points of `b`, and keep the coordinates. Reduce the dim that holds the coordinates.",
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(1)


@bank.wrong(
    "pairwise_sq_dists",
    "square-of-the-sum",
    "You add up the differences, then square. The other way round: differences of different sign must not cancel.",
)
def pairwise_sq_dists(a, b):
    return (a[:, None] - b[None]).sum(-1) ** 2


@bank.wrong(
    "pairwise_sq_dists",
    "centered-expansion",
    "Accurate, but not safe: some distances of equal rows come out below 0, as a small difference of "
    "large numbers does. Subtract the points themselves.",
)
def pairwise_sq_dists(a, b):
    a, b = a - b.mean(0), b - b.mean(0)
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


@bank.right("pairwise_sq_dists", "unsqueeze-and-square")
def pairwise_sq_dists(a, b):
    return (a.unsqueeze(1) - b.unsqueeze(0)).square().sum(dim=2)


@bank.right("pairwise_sq_dists", "einsum-of-differences")
def pairwise_sq_dists(a, b):
    diff = a[:, None, :] - b[None, :, :]
    return torch.einsum("nmd,nmd->nm", diff, diff)


@bank.right("pairwise_sq_dists", "cdist-without-matmul")
def pairwise_sq_dists(a, b):
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").pow(2)


@bank.right("pairwise_sq_dists", "other-way-round")
def pairwise_sq_dists(a, b):
    return torch.linalg.vector_norm(b[:, None] - a, dim=-1).square().T


# --- one_hot ------------------------------------------------------------------------------------------------


@bank.wrong(
    "one_hot",
    "k-from-max",
    "You count the classes by the largest label present. A class nobody has still needs its column: use `k`.",
)
def one_hot(labels, k):
    return torch.eye(int(labels.max()) + 1)[labels]


@bank.wrong(
    "one_hot",
    "scatter-wrong-dim",
    "You scatter along dim 0: each label picks a row. It is the column that a label picks.",
)
def one_hot(labels, k):
    out = torch.zeros(len(labels), k)
    return out.scatter_(0, labels[:, None], 1.0)


@bank.wrong(
    "one_hot",
    "bool-result",
    "Your result holds True and False. Numbers of dtype float32 are asked for.",
)
def one_hot(labels, k):
    return labels[:, None] == torch.arange(k)


@bank.wrong(
    "one_hot",
    "int-result",
    "Your result is int64, like the labels. float32 is asked for, so that it can be multiplied with weights.",
)
def one_hot(labels, k):
    return torch.nn.functional.one_hot(labels, k)


@bank.wrong(
    "one_hot",
    "transposed",
    "Your classes run down the rows. One row for each label, one column for each class.",
)
def one_hot(labels, k):
    return (torch.arange(k)[:, None] == labels).float()


@bank.wrong(
    "one_hot",
    "fills-columns",
    "`out[:, labels]` picks whole columns for every row. Pair each row number with its own label.",
)
def one_hot(labels, k):
    out = torch.zeros(len(labels), k)
    out[:, labels] = 1
    return out


@bank.wrong("one_hot", "counts-from-one", "You count classes from 1. Label 0 belongs to the first column.")
def one_hot(labels, k):
    return (labels[:, None] == torch.arange(1, k + 1)).float()


@bank.wrong(
    "one_hot",
    "label-as-value",
    "You write the label itself into the row. The one column that is not 0 holds a 1.",
)
def one_hot(labels, k):
    return torch.nn.functional.one_hot(labels, k).float() * labels[:, None]


@bank.wrong("one_hot", "double-result", "Your result is float64. float32 is asked for.")
def one_hot(labels, k):
    return torch.eye(k, dtype=torch.float64)[labels]


@bank.right("one_hot", "rows-of-eye")
def one_hot(labels, k):
    return torch.eye(k)[labels]


@bank.right("one_hot", "scatter")
def one_hot(labels, k):
    return torch.zeros(labels.shape[0], k).scatter_(1, labels.unsqueeze(1), 1.0)


@bank.right("one_hot", "functional")
def one_hot(labels, k):
    return torch.nn.functional.one_hot(labels, num_classes=k).to(torch.float32)


@bank.right("one_hot", "one-element-at-a-time")
def one_hot(labels, k):
    out = torch.zeros((len(labels), k))
    for row, label in enumerate(labels):
        out[row, label] = 1.0
    return out


@bank.right("one_hot", "compare")
def one_hot(labels, k):
    return torch.where(labels[:, None] == torch.arange(k), 1.0, 0.0)


# --- masked_mean --------------------------------------------------------------------------------------------


@bank.wrong(
    "masked_mean",
    "mean-of-zeros",
    "You put zeros in for the masked entries, then average over all of them. Divide by the number of "
    "True entries only.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).mean(dim)


@bank.wrong(
    "masked_mean",
    "nan-row",
    "Where no entry is True you divide 0 by 0, and get nan. Such a mean is to be 0.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) / mask.sum(dim)


@bank.wrong(
    "masked_mean",
    "int-division",
    "`//` rounds every mean down to a whole number. You want the other division.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) // mask.sum(dim).clamp(min=1)


@bank.wrong(
    "masked_mean",
    "nan-leaks",
    "You multiply with the mask, and nan times 0 is nan. Replace what is masked out, do not multiply it.",
)
def masked_mean(x, mask, dim):
    return (x * mask).sum(dim) / mask.sum(dim).clamp(min=1)


@bank.wrong(
    "masked_mean",
    "one-count-for-all",
    "You divide every sum by the count of True in the whole mask. Each slice has a count of its own.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) / mask.sum().clamp(min=1)


@bank.wrong(
    "masked_mean",
    "count-plus-one",
    "You add 1 to the count against the division by 0: now every mean is too small.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim) / (mask.sum(dim) + 1)


@bank.wrong(
    "masked_mean",
    "whole-tensor",
    "You return one mean for all entries. Reduce along `dim`.",
)
def masked_mean(x, mask, dim):
    return x[mask].mean()


@bank.wrong(
    "masked_mean",
    "keeps-dim",
    "Your result keeps `dim` with size 1. As with `mean`, the reduced dim is to be gone.",
)
def masked_mean(x, mask, dim):
    count = mask.sum(dim, keepdim=True).clamp(min=1)
    return torch.where(mask, x, 0.0).sum(dim, keepdim=True) / count


@bank.wrong(
    "masked_mean",
    "mask-inverted",
    "You average what the mask leaves out. True marks the entries which count.",
)
def masked_mean(x, mask, dim):
    return x.masked_fill(mask, 0.0).sum(dim) / (~mask).sum(dim).clamp(min=1)


@bank.wrong("masked_mean", "mutates-input", "You write zeros into the caller's `x`. Work on a new tensor.")
def masked_mean(x, mask, dim):
    x[~mask] = 0.0
    return x.sum(dim) / mask.sum(dim).clamp(min=1)


@bank.wrong(
    "masked_mean",
    "sum-not-mean",
    "You return sums. Divide each by the number of entries it added up.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(dim)


@bank.wrong("masked_mean", "mask-ignored", "You average all entries: the mask is never used.")
def masked_mean(x, mask, dim):
    return x.mean(dim)


@bank.wrong(
    "masked_mean",
    "last-dim-always",
    "You reduce over the last dim whatever `dim` says: use the argument.",
)
def masked_mean(x, mask, dim):
    return torch.where(mask, x, 0.0).sum(-1) / mask.sum(-1).clamp(min=1)


@bank.right("masked_mean", "masked-fill")
def masked_mean(x, mask, dim):
    count = mask.float().sum(dim=dim)
    return x.masked_fill(~mask, 0).sum(dim=dim) / torch.maximum(count, torch.ones_like(count))


@bank.right("masked_mean", "nanmean")
def masked_mean(x, mask, dim):
    return torch.where(mask, x, torch.nan).nanmean(dim).nan_to_num(0.0)


@bank.right("masked_mean", "where-afterwards")
def masked_mean(x, mask, dim):
    total = torch.where(mask, x, torch.zeros_like(x)).sum(dim)
    count = mask.sum(dim)
    return torch.where(count > 0, total / count, 0.0)


@bank.right("masked_mean", "tiny-in-the-count")
def masked_mean(x, mask, dim):
    kept = x.clone()
    kept[~mask] = 0
    return kept.sum(dim) / (mask.sum(dim) + 1e-8)


# --- batched_einsum -----------------------------------------------------------------------------------------


@bank.wrong(
    "batched_einsum",
    "transposed-output",
    "Your products are transposed: the letters behind the arrow fix the order of the dims, n before m.",
)
def batched_einsum(a, b, v):
    return {
        "product": torch.einsum("bnk,bkm->bmn", a, b),
        "gram": torch.einsum("bik,bjk->bij", a, a),
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": torch.einsum("bnk,bkm->nm", a, b),
    }


@bank.wrong(
    "batched_einsum",
    "missing-batch-dim",
    "The batch letter is missing behind the arrow of the product: a letter which is not kept is summed over.",
)
def batched_einsum(a, b, v):
    return {
        "product": torch.einsum("bnk,bkm->nm", a, b),
        "gram": torch.einsum("bik,bjk->bij", a, a),
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": torch.einsum("bnk,bkm->nm", a, b),
    }


@bank.wrong(
    "batched_einsum",
    "gram-of-columns",
    "Your gram matrices are (k, k): they compare the columns of `a`. `a` comes first, its transpose second.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a.transpose(1, 2) @ a,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": (a @ b).sum(0),
    }


@bank.wrong(
    "batched_einsum",
    "gram-of-all-dims-reversed",
    "The shapes of the gram product do not fit: `.T` reverses all three dims, the batch too. Swap the last two only.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.T,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": (a @ b).sum(0),
    }


@bank.wrong(
    "batched_einsum",
    "gram-letter-twice",
    "Behind the arrow a letter may stand only once. The two rows that meet in a gram matrix need two letters.",
)
def batched_einsum(a, b, v):
    return {
        "product": torch.einsum("bik,bkm->bim", a, b),
        "gram": torch.einsum("bik,bik->bii", a, a),
        "applied": torch.einsum("bik,bk->bi", a, v),
        "total": torch.einsum("bik,bkm->im", a, b),
    }


@bank.wrong(
    "batched_einsum",
    "gram-summed",
    "You add up the gram matrices of the batch. Each `a` has its own: keep the batch letter.",
)
def batched_einsum(a, b, v):
    return {
        "product": torch.einsum("bnk,bkm->bnm", a, b),
        "gram": torch.einsum("bik,bjk->ij", a, a),
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": torch.einsum("bnk,bkm->nm", a, b),
    }


@bank.wrong(
    "batched_einsum",
    "vector-as-matrix",
    "In `a @ v` the batch of vectors counts as one matrix, so the shapes do not fit. Say with letters, "
    "or with a new last dim, what belongs together.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.mT,
        "applied": a @ v,
        "total": (a @ b).sum(0),
    }


@bank.wrong(
    "batched_einsum",
    "applied-keeps-column",
    "Your `applied` ends in a dim of size 1, left over from turning `v` into columns. Drop it.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.mT,
        "applied": a @ v[:, :, None],
        "total": (a @ b).sum(0),
    }


@bank.wrong(
    "batched_einsum",
    "applied-squeezed",
    "`squeeze()` drops every dim of size 1: with a batch of one, the batch goes as well. Name the dim.",
)
def batched_einsum(a, b, v):
    return {
        "product": torch.bmm(a, b),
        "gram": torch.bmm(a, a.transpose(1, 2)),
        "applied": torch.bmm(a, v.unsqueeze(-1)).squeeze(),
        "total": torch.bmm(a, b).sum(dim=0),
    }


@bank.wrong(
    "batched_einsum",
    "sums-before-multiplying",
    "You add up the batch before you multiply: that mixes every `a` with every `b`. The products come "
    "first, the sum second.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.mT,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": a.sum(0) @ b.sum(0),
    }


@bank.wrong(
    "batched_einsum",
    "total-is-mean",
    "Your `total` is the mean over the batch. The sum is asked for.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.mT,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": (a @ b).mean(0),
    }


@bank.wrong(
    "batched_einsum",
    "total-keeps-batch",
    "Your `total` still has a batch dim of size 1. Summed over, it is to be gone.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.mT,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": (a @ b).sum(0, keepdim=True),
    }


@bank.right("batched_einsum", "matmul")
def batched_einsum(a, b, v):
    product = a @ b
    return {
        "product": product,
        "gram": a @ a.mT,
        "applied": (a @ v.unsqueeze(-1)).squeeze(-1),
        "total": product.sum(dim=0),
    }


@bank.right("batched_einsum", "one-at-a-time")
def batched_einsum(a, b, v):
    product = torch.stack([left @ right for left, right in zip(a, b)])
    gram = torch.stack([left @ left.T for left in a])
    applied = torch.stack([left @ vector for left, vector in zip(a, v)])
    return dict(product=product, gram=gram, applied=applied, total=sum(product))


@bank.right("batched_einsum", "multiply-and-sum")
def batched_einsum(a, b, v):
    out = {}
    out["total"] = torch.tensordot(a, b, dims=([0, 2], [0, 1]))
    out["applied"] = (a * v[:, None, :]).sum(-1)
    out["gram"] = (a[:, :, None, :] * a[:, None, :, :]).sum(-1)
    out["product"] = (a[:, :, :, None] * b[:, None, :, :]).sum(2)
    return out


@bank.right("batched_einsum", "other-letters")
def batched_einsum(a, b, v):
    return {
        "product": torch.einsum("xij,xjl->xil", a, b),
        "gram": torch.einsum("...ij,...lj->...il", a, a),
        "applied": torch.einsum("xij,xj->xi", a, v),
        "total": torch.einsum("xij,xjl->il", a, b),
    }


# --- softmax_stable -----------------------------------------------------------------------------------------


@bank.wrong("softmax_stable", "ignores-dim", "You always work along the last dim. Use the argument `dim`.")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(-1, keepdim=True))
    return e / e.sum(-1, keepdim=True)


@bank.wrong("softmax_stable", "dim-0-always", "You always work along dim 0. Use the argument `dim`.")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(0, keepdim=True))
    return e / e.sum(0, keepdim=True)


@bank.wrong(
    "softmax_stable",
    "global-max",
    "You subtract the largest number of the whole tensor: slices far below it turn into zeros, and 0 / "
    "0 is nan. Each slice along `dim` has its own maximum.",
)
def softmax_stable(x, dim):
    e = torch.exp(x - x.max())
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "softmax_stable",
    "no-max",
    "`exp` of a large number is inf, and inf / inf is nan. Shift the numbers before `exp`: softmax does "
    "not change by that.",
)
def softmax_stable(x, dim):
    e = torch.exp(x)
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "softmax_stable",
    "detached",
    "The values are right, but the result is cut off from autograd: no gradient reaches `x`.",
)
def softmax_stable(x, dim):
    x = x.detach()
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "softmax_stable",
    "no-keepdim",
    "Maximum and sum lose the dim they were taken over, and then line up with another one. Keep it, with size 1.",
)
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(dim))
    return e / e.sum(dim)


@bank.wrong(
    "softmax_stable",
    "max-returns-two",
    "Along a dim `max` returns a pair, values and indices, which cannot be subtracted. Take the values.",
)
def softmax_stable(x, dim):
    e = torch.exp(x - x.max(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "softmax_stable",
    "sum-of-everything",
    "You divide by the sum over the whole tensor: the numbers along `dim` no longer add up to 1.",
)
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(dim, keepdim=True))
    return e / e.sum()


@bank.wrong(
    "softmax_stable",
    "subtracts-min",
    "You subtract the smallest number: the largest is still large, and `exp` overflows.",
)
def softmax_stable(x, dim):
    e = torch.exp(x - x.amin(dim, keepdim=True))
    return e / e.sum(dim, keepdim=True)


@bank.wrong(
    "softmax_stable",
    "clamped",
    "`clamp` stops the overflow by changing the numbers: two large ones of different size come out equal.",
)
def softmax_stable(x, dim):
    e = torch.exp(x.clamp(-80, 80))
    return e / e.sum(dim, keepdim=True)


@bank.wrong("softmax_stable", "not-normalized", "You shift and take `exp`, but never divide by the sum.")
def softmax_stable(x, dim):
    return torch.exp(x - x.amax(dim, keepdim=True))


@bank.wrong(
    "softmax_stable",
    "log-softmax",
    "You return the logarithm of the softmax. The numbers along `dim` are to be positive and add up to 1.",
)
def softmax_stable(x, dim):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


@bank.wrong(
    "softmax_stable",
    "built-in",
    "You call the softmax that torch brings along. Here you build it yourself, from `exp`, a maximum and a sum.",
)
def softmax_stable(x, dim):
    return torch.softmax(x, dim)


@bank.wrong(
    "softmax_stable",
    "mutates-input",
    "You subtract in place: the caller's `x` is changed, and where it requires grad torch refuses.",
)
def softmax_stable(x, dim):
    x -= x.amax(dim, keepdim=True)
    e = torch.exp(x)
    return e / e.sum(dim, keepdim=True)


@bank.right("softmax_stable", "max-values")
def softmax_stable(x, dim):
    e = torch.exp(x - x.max(dim, keepdim=True).values)
    return e / e.sum(dim, keepdim=True)


@bank.right("softmax_stable", "detached-maximum")
def softmax_stable(x, dim):
    top = x.detach().max(dim=dim, keepdim=True)[0]
    weights = (x - top).exp()
    return weights.div(weights.sum(dim=dim, keepdim=True))


@bank.right("softmax_stable", "logsumexp")
def softmax_stable(x, dim):
    return torch.exp(x - torch.logsumexp(x, dim, keepdim=True))


@bank.right("softmax_stable", "unsqueeze-afterwards")
def softmax_stable(x, dim):
    e = torch.exp(x - x.amax(dim).unsqueeze(dim))
    return e * (1 / e.sum(dim).unsqueeze(dim))


# --- predict_layout -----------------------------------------------------------------------------------------


@bank.wrong(
    "predict_layout",
    "reshape-always-view",
    "You say that `reshape` never copies. After a transpose no stride can read the memory in the new "
    "order: it must copy.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), True),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "fancy-is-view",
    "You say that a list of row numbers gives a view. Rows picked by a list need no even spacing, which "
    "strides cannot describe: it is a copy.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), True),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "expand-copies",
    "You say that `expand` makes copies of the row. It repeats nothing in memory: a stride of 0 reads "
    "one row again and again.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (c, 1), False),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "expand-keeps-stride",
    "Your expanded row steps on in memory from row to row. It is one and the same row: by how much does "
    "the address change?",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (c, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "slice-is-contiguous",
    "You give the slice the stride of a fresh tensor. It still lives in the memory of `x`, whose rows "
    "are as long as before.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c - 1, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "slice-copies",
    "You say that a slice copies, as it does for a Python list. A slice of a tensor is a view.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c - 1, 1), False),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "slice-of-rows",
    "You cut off the first row. In `x[:, 1:]` the first place stands for the rows, and all of them stay.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r - 1, c), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "transpose-rearranges",
    "You give the transpose the stride of a fresh tensor. No number moves in memory: only the two "
    "strides change places.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (r, 1), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "transpose-copies",
    "You say that a transpose copies. It is a view with the strides of `x` in the other order.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (r, 1), False),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "fancy-is-one-element",
    "You read `x[[0, 1]]` as row 0, column 1. The inner list picks two whole rows.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((), (), True),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "tuple-without-comma",
    "`(28)` is a number: a tuple of one needs a comma, as in `(28,)`.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c), (1), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "predict_layout",
    "runs-torch",
    "The layouts are right, but `torch` or NumPy is used to find them. Predict instead: work from the numbers alone.",
)
def predict_layout(ops):
    out = []
    for name, rows, cols in ops:
        x = torch.zeros(rows, cols)
        made = {
            "slice": x[:, 1:],
            "transpose": x.T,
            "expand": x[:1].expand(rows, cols),
            "fancy": x[[0, 1]],
            "reshape": x.T.reshape(-1),
        }[name]
        shares = made.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        out.append((tuple(made.shape), made.stride(), shares))
    return out


@bank.right("predict_layout", "table")
def predict_layout(ops):
    out = []
    for name, rows, cols in ops:
        facts = {
            "slice": ((rows, cols - 1), (cols, 1), True),
            "transpose": ((cols, rows), (1, cols), True),
            "expand": ((rows, cols), (0, 1), True),
            "fancy": ((2, cols), (cols, 1), False),
            "reshape": ((rows * cols,), (1,), False),
        }
        out.append(facts[name])
    return out


@bank.right("predict_layout", "lists-and-if")
def predict_layout(ops):
    out = []
    for op in ops:
        rows, cols = op[1], op[2]
        shape, stride = [rows, cols], [cols, 1]
        shares = op[0] not in ("fancy", "reshape")
        if op[0] == "slice":
            shape[1] -= 1
        elif op[0] == "transpose":
            shape, stride = shape[::-1], stride[::-1]
        elif op[0] == "expand":
            stride[0] = 0
        elif op[0] == "fancy":
            shape[0] = 2
        else:
            shape, stride = [rows * cols], [1]
        out.append([shape, stride, shares])
    return out


@bank.right("predict_layout", "match")
def predict_layout(ops):
    def one(name, rows, cols):
        match name:
            case "slice":
                return (rows, cols - 1), (cols, 1), True
            case "transpose":
                return (cols, rows), (1, cols), True
            case "expand":
                return (rows, cols), (0, 1), True
            case "fancy":
                return (2, cols), (cols, 1), False
        return (cols * rows,), (1,), False

    return tuple(one(*op) for op in ops)


# --- precision_lab ------------------------------------------------------------------------------------------


@bank.wrong(
    "precision_lab",
    "float16-for-bfloat16",
    "You tried the step in float16. bfloat16 spends its bits on range: it has fewer left for digits, "
    "and loses larger steps.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.float16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "python-floats",
    "You computed in Python's own floats, which have 64 bits. The question is what is left in 16.",
)
def precision_lab(step, tiny, count, n):
    return {"moves": 1 + step != 1, "survives": tiny != 0, "counted": float(count), "averaged": n * n}


@bank.wrong(
    "precision_lab",
    "eps-is-the-limit",
    "You say that a step below `eps` is lost. The result is rounded to the nearest number: from where "
    "on is the next one nearer than 1?",
)
def precision_lab(step, tiny, count, n):
    return {
        "moves": step >= torch.finfo(torch.bfloat16).eps,
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "no-subnormals",
    "You say that all below the smallest normal number is 0. Below it come the subnormal numbers, with "
    "fewer digits: float16 has them.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": tiny >= torch.finfo(torch.float16).tiny,
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "bfloat16-for-float16",
    "You tried the tiny number in bfloat16, which reaches as far down as float32. In float16 the exponent is shorter.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.bfloat16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "sum-at-once",
    "You round once, at the end. Add 1 to a bfloat16 number again and again.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": torch.ones(count, dtype=torch.bfloat16).sum().item(),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "counts-exactly",
    "You say that counting is exact. In bfloat16 there comes a number from which adding 1 no longer moves.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(count),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "counts-in-float16",
    "You counted in float16, which gets to 2048. bfloat16 has three bits less for its digits, and stops earlier.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    total = torch.zeros((), dtype=torch.float16)
    for _ in range(count):
        total = total + 1
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": total.item(),
        "averaged": n * n,
    }


@bank.wrong(
    "precision_lab",
    "averages-n",
    "You say that the loss averages n numbers. (n,) against (n, 1) broadcasts: each prediction meets each target.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    return {
        "moves": bool(one + step != one),
        "survives": bool(torch.tensor(tiny, dtype=torch.float16) != 0),
        "counted": float(min(count, 256)),
        "averaged": n,
    }


@bank.wrong(
    "precision_lab",
    "tensors-not-numbers",
    "Your entries are tensors. Python's bool, float and int are asked for: `.item()` takes a number out of a tensor.",
)
def precision_lab(step, tiny, count, n):
    one = torch.ones((), dtype=torch.bfloat16)
    total = torch.zeros((), dtype=torch.bfloat16)
    for _ in range(count):
        total = total + 1
    return {
        "moves": one + step != one,
        "survives": torch.tensor(tiny, dtype=torch.float16) != 0,
        "counted": total,
        "averaged": torch.tensor(n * n),
    }


@bank.right("precision_lab", "by-rule")
def precision_lab(step, tiny, count, n):
    return {
        "moves": step > 2**-8,
        "survives": tiny > 2**-25,
        "counted": min(float(count), 256.0),
        "averaged": n**2,
    }


@bank.right("precision_lab", "by-experiment")
def precision_lab(step, tiny, count, n):
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    total = torch.tensor(0.0).bfloat16()
    for _ in range(count):
        total += 1
    return {
        "moves": (one + torch.tensor(step, dtype=torch.bfloat16)).item() != 1,
        "survives": torch.tensor([tiny]).half().item() != 0,
        "counted": total.item(),
        "averaged": (torch.zeros(n) - torch.zeros(n, 1)).numel(),
    }


@bank.right("precision_lab", "stop-when-nothing-moves")
def precision_lab(step, tiny, count, n):
    total = torch.zeros(1, dtype=torch.bfloat16)
    while total < count and total + 1 != total:
        total = total + 1
    return {
        "moves": bool(torch.tensor(1 + step).to(torch.bfloat16) > 1),
        "survives": bool(torch.tensor(tiny).to(torch.float16)),
        "counted": int(total),
        "averaged": math.prod(torch.broadcast_shapes((n,), (n, 1))),
    }


# --- linear_mse ---------------------------------------------------------------------------------------------


@bank.wrong(
    "linear_mse",
    "untouched",
    "This is the program as you found it: all three bugs are still in it. Follow the shapes with a "
    "small example, line by line.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "wrong-dim",
    "One bug is left: you standardize each row. A feature is a column: over which dim do you reduce to "
    "get one mean per column?",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x = (x - mean) / std
    prediction = (x @ w).squeeze(1)
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "mutates-input",
    "One bug is left: the loss is right, but the caller's `x` is not the same afterwards. Which line writes into it?",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=0, keepdim=True)
    std = x.std(dim=0, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = (x @ w).squeeze(1)
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "broadcast-loss",
    "One bug is left: (n, 1) minus (n,) is (n, n), so every prediction is compared with every target. "
    "Print the shape of the difference.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=0, keepdim=True)
    std = x.std(dim=0, correction=0, keepdim=True)
    x = (x - mean) / std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "wrong-dim-and-mutates",
    "The loss compares the right pairs now. Two bugs are left: rows are standardized instead of "
    "columns, and the caller's `x` is overwritten.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = (x @ w).squeeze(1)
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "wrong-dim-and-broadcast",
    "The caller's `x` is safe now. Two bugs are left: rows are standardized instead of columns, and the "
    "shapes of prediction and target do not match.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=1, keepdim=True)
    std = x.std(dim=1, correction=0, keepdim=True)
    x = (x - mean) / std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "mutates-and-broadcast",
    "The columns are standardized now. Two bugs are left: the caller's `x` is overwritten, and the "
    "shapes of prediction and target do not match.",
)
def linear_mse(x, w, y):
    mean = x.mean(dim=0, keepdim=True)
    std = x.std(dim=0, correction=0, keepdim=True)
    x -= mean
    x /= std
    prediction = x @ w
    return ((prediction - y) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "sample-std",
    "The three bugs are gone, but a new one came in: without `correction=0` the standard deviation divides by n - 1.",
)
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0)
    return ((x @ w - y[:, None]) ** 2).mean()


@bank.wrong(
    "linear_mse",
    "sum-not-mean",
    "The three bugs are gone, but you add up the squared errors. The mean of them is asked for.",
)
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    return ((x @ w - y[:, None]) ** 2).sum()


@bank.wrong(
    "linear_mse",
    "returns-a-number",
    "Your loss is a Python number: the way back to `w` is lost, and `backward` is no longer possible. "
    "Return the scalar tensor.",
)
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    return ((x @ w - y[:, None]) ** 2).mean().item()


@bank.wrong(
    "linear_mse",
    "one-loss-per-row",
    "You return one squared error for each row. Take their mean: one scalar.",
)
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    return ((x @ w).squeeze(1) - y) ** 2


@bank.wrong(
    "linear_mse",
    "absolute-errors",
    "The three bugs are gone, but you average absolute errors. The squared ones are asked for.",
)
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    return ((x @ w).squeeze(1) - y).abs().mean()


@bank.right("linear_mse", "target-as-column")
def linear_mse(x, w, y):
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    return ((x @ w - y.unsqueeze(1)) ** 2).mean()


@bank.right("linear_mse", "clone-first")
def linear_mse(x, w, y):
    x = x.clone()
    x -= x.mean(dim=0, keepdim=True)
    x /= x.std(dim=0, correction=0, keepdim=True)
    return torch.nn.functional.mse_loss((x @ w).flatten(), y)


@bank.right("linear_mse", "matrix-times-vector")
def linear_mse(x, w, y):
    var, mean = torch.var_mean(x, 0, correction=0)
    scaled = (x - mean) * var.rsqrt()
    return (scaled @ w[:, 0] - y).square().sum() / len(y)
