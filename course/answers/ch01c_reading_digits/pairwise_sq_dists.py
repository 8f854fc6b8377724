"""Answers to `pairwise_sq_dists`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("pairwise_sq_dists")


@bank.wrong(
    "same-n-only",
    "You compare row i of `a` with row i of `b` only. Every row of `a` meets every row of `b`: make "
    "room for that with a new dim.",
)
def pairwise_sq_dists(a, b):
    return ((a - b) ** 2).sum(-1)


@bank.wrong(
    "loop",
    "There is a Python loop in your function. Broadcasting does all pairs at once.",
)
def pairwise_sq_dists(a, b):
    result = torch.empty(len(a), len(b), dtype=a.dtype)
    for i, row in enumerate(a):
        result[i] = ((row - b) ** 2).sum(-1)
    return result


@bank.wrong(
    "negative-from-expansion",
    "The expanded square takes a small difference of huge numbers: far from the origin the digits "
    "cancel, and distances even turn negative. Subtract the points first.",
    also=("clamped-expansion",),
)
def pairwise_sq_dists(a, b):
    return (a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T


@bank.wrong(
    "clamped-expansion",
    "Far from the origin an expanded square loses its digits, also where `clamp` hides that some are negative: "
    "many distances come out as 0, or wrong. Subtract the points first.",
)
def pairwise_sq_dists(a, b):
    return ((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T).clamp(min=0)


@bank.told("expansion-in-float64", "digits_kept")
def pairwise_sq_dists(a, b):
    p, q = a.double(), b.double()
    return ((p**2).sum(1)[:, None] + (q**2).sum(1) - 2 * p @ q.T).clamp(min=0).to(a.dtype)


bank.wrong(
    "cdist-of-many",
    "With more than 25 points `cdist` switches to the expanded square and loses the digits of far-away "
    "points. See its argument `compute_mode`.",
    unless=r"(?s)\A(?!.*cdist)",
    change={".linalg.vector_norm(b[:, None] - a, dim=-1).square().T": ".cdist(a, b) ** 2"},
    of="other-way-round",
)


@bank.wrong(
    "not-squared",
    "You return distances. The squared ones are asked for: there is no root to take.",
    slip=True,
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(-1).sqrt()


@bank.wrong(
    "absolute-differences",
    "You add up absolute differences. Euclidean distance adds up their squares.",
)
def pairwise_sq_dists(a, b):
    return (a[:, None] - b[None]).abs().sum(-1)


@bank.wrong(
    "mean-not-sum",
    "You average over the coordinates. A squared distance is their sum.",
    slip=True,
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b[None]) ** 2).mean(-1)


@bank.wrong(
    "transposed",
    "Your rows belong to `b`. Row i of the result belongs to row i of `a`: check where each new dim goes.",
)
def pairwise_sq_dists(a, b):
    return ((b[:, None] - a[None]) ** 2).sum(-1)


@bank.wrong(
    "sums-over-points",
    "You add up over the points of `b`, and keep the coordinates. Reduce the dim that holds the coordinates.",
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b[None]) ** 2).sum(1)


@bank.wrong(
    "square-of-the-sum",
    "You add up the differences, then square. The other way round: differences of different sign must not cancel.",
)
def pairwise_sq_dists(a, b):
    return (a[:, None] - b[None]).sum(-1) ** 2


@bank.told("centered-expansion-made-positive", "returned:values")
def pairwise_sq_dists(a, b):
    middle = torch.cat([a, b]).mean(0)
    a, b = a - middle, b - middle
    return ((a**2).sum(1)[:, None] + (b**2).sum(1) - 2 * a @ b.T).abs()


@bank.wrong("casts-to-float32", "Your result is float32 whatever dtype comes in. Keep the dtype of what you are given.")
def pairwise_sq_dists(a, b):
    return ((a.float()[:, None] - b.float()) ** 2).sum(-1)


@bank.wrong(
    "largest-difference", "Of the squared differences you take the largest. A squared distance adds all of them up."
)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b) ** 2).amax(-1)


bank.wrong(
    "products",
    "You multiply rows with rows: that says how alike their directions are, not how far apart the points.",
    change={"differences = a[:, None, :] - b[None, :, :]\nreturn (differences**2).sum(dim=-1)": "return a @ b.T"},
)


@bank.wrong("first-coordinate", "You compare the first coordinate alone. All of them count.")
def pairwise_sq_dists(a, b):
    return (a[:, None, 0] - b[:, 0]) ** 2


@bank.wrong("halved", "Your distances are half as large. No factor stands before the squares.", slip=True)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b) ** 2).sum(-1) / 2


@bank.wrong("rounded", "You round the distances. They are wanted as they are.", slip=True)
def pairwise_sq_dists(a, b):
    return ((a[:, None] - b) ** 2).sum(-1).round()


@bank.right("unsqueeze-and-square")
def pairwise_sq_dists(a, b):
    return (a.unsqueeze(1) - b.unsqueeze(0)).square().sum(dim=2)


@bank.right("einsum-of-differences")
def pairwise_sq_dists(a, b):
    diff = a[:, None, :] - b[None, :, :]
    return torch.einsum("nmd,nmd->nm", diff, diff)


@bank.right("cdist-without-matmul")
def pairwise_sq_dists(a, b):
    return torch.cdist(a, b, compute_mode="donot_use_mm_for_euclid_dist").pow(2)


@bank.right("other-way-round")
def pairwise_sq_dists(a, b):
    return torch.linalg.vector_norm(b[:, None] - a, dim=-1).square().T


bank.wrong(
    "distances-of-many",
    "You return distances. The squared ones are asked for: put the square after `cdist`, and see its `compute_mode`.",
    change={".linalg.vector_norm(b[:, None] - a, dim=-1).square().T": ".cdist(a, b)"},
    of="other-way-round",
)


bank.survives(
    {
        "a[:, None, :] - b[None, :, :] -> b[None, :, :] - a[:, None, :]": "The square forgets the sign of a difference.",
        "b[None, :, :] -> b": "Broadcasting adds the leading dim on its own.",
        "(:, None, :) -> (:, None)": "Dims that an index does not name stay as they are.",
        "(None, :, :) -> (:, :)": "Broadcasting adds the leading dim on its own.",
        "(None, :, :) -> (None, :)": "Dims that an index does not name stay as they are.",
    }
)


bank.wrong(
    "not-added-up",
    "Your result has a dim too many: for each pair it keeps the square of each coordinate by itself. A squared distance adds "
    "them up.",
    change={"(differences**2).sum(dim=-1)": "differences**2"},
)

bank.wrong(
    "difference-of-squares",
    "You square the coordinates, then subtract. The square of a difference is another number than the difference of squares.",
    change={
        "a[:, None, :] - b[None, :, :]": "a[:, None, :] ** 2 - b[None, :, :] ** 2",
        "(differences**2).sum(dim=-1)": "differences.sum(dim=-1)",
    },
)

bank.wrong(
    "difference-of-squares-without-sign",
    "You square the coordinates, then subtract, and leave the sign out. The square of a difference is another number.",
    change={
        "a[:, None, :] - b[None, :, :]": "a[:, None, :] ** 2 - b[None, :, :] ** 2",
        "(differences**2).sum(dim=-1)": "differences.sum(dim=-1).abs()",
    },
)

bank.wrong(
    "adds-the-points",
    "You add the coordinates of two points before you square. How far apart they are is in their differences.",
    change={"a[:, None, :] - b[None, :, :]": "a[:, None, :] + b[None, :, :]"},
)
