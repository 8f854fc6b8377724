"""The hints of chapter 1, from a nudge to nearly there."""

from __future__ import annotations

HINTS: dict[str, tuple[str, ...]] = {
    "describe": (
        "Four of the five facts are attributes of `x`: type `x.` and press Tab.",
        "`tuple(...)` turns a `torch.Size` into a plain tuple; a device has an attribute `type`.",
        "The bytes are the number of elements times the bytes of one: `numel` and `element_size`.",
    ),
    "make_batch": (
        "`torch.manual_seed` moves the one generator that everybody shares. You can make one of your own.",
        "A `torch.Generator` has a method `manual_seed`, which also returns the generator.",
        "`torch.randn` takes the generator and the dtype as keyword arguments.",
    ),
    "first_and_rest": (
        "Which kinds of indexing give a view, which a copy? A number and a slice are of one kind.",
        "Take row 0 and the other rows by plain indexing, then ask which of the two needs something more.",
        "One method of a tensor gives it memory of its own. `detach` is not it.",
    ),
    "flatten_images": (
        "`reshape` reads the numbers in the order of the dims. In which order must the dims stand first?",
        "Bring the channels to the end: (N, H, W, C). Which method reorders dims?",
        "After `permute`, two neighboring dims remain to be merged into one; every size can be read from `x.shape`.",
    ),
    "standardize": (
        "Write the formula down as it stands. Mean and variance are methods of `x` that take `dim`.",
        "Mean and variance must still line up with `x`: look at `keepdim`.",
        "torch's variance divides by n - 1 unless you say `correction=0`; `eps` goes under the root.",
    ),
    "add_bias": (
        "Broadcasting compares shapes from the right. Which dim of `x` does (channels,) meet?",
        "Give `bias` one more dim of size 1 behind the channels, by indexing with `None` or by `unsqueeze`.",
    ),
    "pairwise_sq_dists": (
        "Which shape would hold the difference of every row of `a` and every row of `b`? It has three dims.",
        "Insert a dim of size 1 into `a` and another one into `b`, so that (n, 1, d) meets (1, m, d).",
        "Subtract first, then square, then add up the last dim. Expanding the square loses digits far from the origin.",
    ),
    "one_hot": (
        "Entry (i, j) is 1 where label i is j. That is a comparison of every label with every column number.",
        "`torch.arange(k)` holds the column numbers. Which shape must the labels have to meet all of them?",
        "A comparison gives bools: convert them at the end.",
    ),
    "masked_mean": (
        "A mean is a sum divided by a count. Both should see only what the mask keeps.",
        "nan times 0 is nan: put a 0 in the place of what is left out with `torch.where` or `masked_fill`.",
        "The sum of a bool tensor along `dim` counts its True entries; `clamp` keeps that count from being 0.",
    ),
    "batched_einsum": (
        "Name the dims with letters: a is `bnk`, b is `bkm`, v is `bk`. A letter that is missing behind "
        "the arrow is summed.",
        "For `gram` the two rows that meet need two letters: the same tensor goes in as `bik` and as `bjk`.",
        "`total` differs from `product` by one letter behind the arrow.",
    ),
    "softmax_stable": (
        "Subtracting the same number from all entries of a slice does not change its softmax. Which "
        "number makes `exp` safe?",
        "Each slice along `dim` needs a maximum of its own, in a shape that lines up with `x`: `amax` with `keepdim`.",
        "The largest entry becomes exp(0) = 1, so the sum is at least 1. Do not detach anything from autograd.",
    ),
    "predict_layout": (
        "For each op, ask: does any number move in memory? If not, it is a view, and only shape and stride change.",
        "A contiguous (rows, cols) tensor has stride (cols, 1). A slice keeps it, a transpose swaps it, "
        "an expanded dim gets 0.",
        "A list of row numbers and a reshape that no stride can describe both copy; a copy is contiguous.",
    ),
    "precision_lab": (
        "Try it: `torch.tensor(1.0, dtype=torch.bfloat16)` plus a small number. Results are rounded to "
        "the nearest value.",
        "Count in a loop, with the sum held in bfloat16, and look where it stops moving.",
        "Subtract a (n, 1) tensor from a (n,) tensor and count the elements of what you get.",
    ),
    "linear_mse": (
        "Take the example of the docstring. Print every shape, and print `x` after the call.",
        "A feature is a column. Over which dim do you average to get one mean per column?",
        "Two lines write into the caller's tensor, and (n, 1) minus (n,) is (n, n).",
    ),
}
