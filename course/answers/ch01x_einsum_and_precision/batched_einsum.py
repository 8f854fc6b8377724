"""Answers to `batched_einsum`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("batched_einsum")


bank.wrong(
    "transposed-output",
    "Your products are transposed: the letters behind the arrow fix the order of the dims, n before m.",
    change={'"bnk,bkm->bnm"': '"bnk,bkm->bmn"'},
)

bank.wrong(
    "missing-batch-dim",
    "Your `product` is added up over the batch. Each `a` has a product of its own with its `b`: in letters, b stays "
    "behind the arrow.",
    change={'"bnk,bkm->bnm"': '"bnk,bkm->nm"'},
)


bank.wrong(
    "gram-of-columns",
    "Your gram matrices are (k, k): they compare the columns of `a`. `a` comes first, its transpose second.",
    change={
        'torch.einsum("bnk,bkm->bnm", a, b)': "a @ b",
        'torch.einsum("bik,bjk->bij", a, a)': "a.transpose(1, 2) @ a",
        'torch.einsum("bnk,bkm->nm", a, b)': "(a @ b).sum(0)",
    },
)


@bank.wrong(
    "gram-of-all-dims-reversed",
    "The shapes of the gram product do not fit: it is the batch that you move, as `.T` does, which reverses all dims. Swap the last two only.",
)
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.T,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": (a @ b).sum(0),
    }


@bank.wrong(
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


bank.wrong(
    "gram-summed",
    "You add up the gram matrices of the batch. Each `a` has its own: keep the batch letter.",
    change={'"bik,bjk->bij"': '"bik,bjk->ij"'},
)


@bank.wrong(
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
    "applied-squeezed",
    "With a batch of one, your `applied` loses its batch: `squeeze()` without a number drops every dim of size 1. Name the "
    "one that is left over.",
)
def batched_einsum(a, b, v):
    return {
        "product": torch.bmm(a, b),
        "gram": torch.bmm(a, a.transpose(1, 2)),
        "applied": torch.bmm(a, v.unsqueeze(-1)).squeeze(),
        "total": torch.bmm(a, b).sum(dim=0),
    }


bank.wrong(
    "sums-before-multiplying",
    "In your `total` every `a` meets every `b` of the batch, as when you add up the batch first or give it two letters. "
    "Each meets its own, and the sum comes second.",
    change={
        'torch.einsum("bnk,bkm->bnm", a, b)': "a @ b",
        'torch.einsum("bik,bjk->bij", a, a)': "a @ a.mT",
        'torch.einsum("bnk,bkm->nm", a, b)': "a.sum(0) @ b.sum(0)",
    },
)


bank.wrong(
    "total-is-mean",
    "Your `total` is the mean over the batch. The sum is asked for.",
    change={
        'torch.einsum("bnk,bkm->bnm", a, b)': "a @ b",
        'torch.einsum("bik,bjk->bij", a, a)': "a @ a.mT",
        'torch.einsum("bnk,bkm->nm", a, b)': "(a @ b).mean(0)",
    },
)


bank.wrong(
    "total-keeps-batch",
    "Your `total` still has a batch dim of size 1. Summed over, it is to be gone.",
    change={
        'torch.einsum("bnk,bkm->bnm", a, b)': "a @ b",
        'torch.einsum("bik,bjk->bij", a, a)': "a @ a.mT",
        'torch.einsum("bnk,bkm->nm", a, b)': "(a @ b).sum(0, keepdim=True)",
    },
)


@bank.wrong("product-of-the-first", "Your products use the first b for every a. Each a has its own.")
def batched_einsum(a, b, v):
    return {
        "product": a @ b[0],
        "gram": a @ a.mT,
        "applied": torch.einsum("bnk,bk->bn", a, v),
        "total": (a @ b).sum(0),
    }


@bank.wrong("applied-outer", "Your `applied` keeps the dim over which a row and v are multiplied. Add it up.")
def batched_einsum(a, b, v):
    return {
        "product": a @ b,
        "gram": a @ a.mT,
        "applied": a * v[:, None, :],
        "total": (a @ b).sum(0),
    }


bank.wrong(
    "total-of-gram",
    "Your `total` is made of `a` alone, as a sum of gram matrices is. It adds up the products of `a` and `b`.",
    change={
        'torch.einsum("bnk,bkm->bnm", a, b)': "a @ b",
        'torch.einsum("bik,bjk->bij", a, a)': "a @ a.mT",
        'torch.einsum("bnk,bkm->nm", a, b)': "(a @ a.mT).sum(0)",
    },
)


@bank.wrong(
    "total-over-rows",
    "Your `total` adds up the rows of each product. The products of the batch are to be added to each other.",
)
def batched_einsum(a, b, v):
    p = a @ b
    return {"product": p, "gram": a @ a.mT, "applied": (a @ v[..., None]).squeeze(-1), "total": p.sum(1)}


@bank.wrong(
    "applied-to-rows-of-v",
    "You add up along the rows of `a`. Each row of `a` times `v` is one number, a sum over k.",
)
def batched_einsum(a, b, v):
    p = torch.einsum("bnk,bkm->bnm", a, b)
    return {"product": p, "gram": a @ a.mT, "applied": (a * v[:, None]).sum(1), "total": p.sum(0)}


@bank.wrong(
    "first-v-for-all",
    "You multiply every matrix by the first vector. Each a has a v of its own.",
)
def batched_einsum(a, b, v):
    p = torch.einsum("bnk,bkm->bnm", a, b)
    return {"product": p, "gram": a @ a.mT, "applied": a @ v[0], "total": p.sum(0)}


@bank.right("tensordot")
def batched_einsum(a, b, v):
    return {
        "product": torch.matmul(a, b),
        "gram": torch.matmul(a, a.transpose(-1, -2)),
        "applied": (a * v.unsqueeze(1)).sum(dim=2),
        "total": torch.matmul(a, b).sum(dim=0),
    }


@bank.right("matmul")
def batched_einsum(a, b, v):
    product = a @ b
    return {
        "product": product,
        "gram": a @ a.mT,
        "applied": (a @ v.unsqueeze(-1)).squeeze(-1),
        "total": product.sum(dim=0),
    }


@bank.right("one-at-a-time")
def batched_einsum(a, b, v):
    product = torch.stack([left @ right for left, right in zip(a, b)])
    gram = torch.stack([left @ left.T for left in a])
    applied = torch.stack([left @ vector for left, vector in zip(a, v)])
    return dict(product=product, gram=gram, applied=applied, total=sum(product))


@bank.right("multiply-and-sum")
def batched_einsum(a, b, v):
    out = {}
    out["total"] = torch.tensordot(a, b, dims=([0, 2], [0, 1]))
    out["applied"] = (a * v[:, None, :]).sum(-1)
    out["gram"] = (a[:, :, None, :] * a[:, None, :, :]).sum(-1)
    out["product"] = (a[:, :, :, None] * b[:, None, :, :]).sum(2)
    return out


@bank.right("other-letters")
def batched_einsum(a, b, v):
    return {
        "product": torch.einsum("xij,xjl->xil", a, b),
        "gram": torch.einsum("...ij,...lj->...il", a, a),
        "applied": torch.einsum("xij,xj->xi", a, v),
        "total": torch.einsum("xij,xjl->il", a, b),
    }


bank.wrong(
    "gram-entry-by-entry",
    "Your gram squares each entry of `a`. It multiplies each row of a matrix with each row of the same one: (B, n, n).",
    change={'torch.einsum("bik,bjk->bij", a, a)': "a * a"},
)

bank.wrong(
    "applied-across-the-batch",
    "Your `applied` has another letter for the batch of `v`: each a meets the sum of all v. One letter, one dim.",
    change={'"bnk,bk->bn"': '"bnk,ck->bn"'},
)


@bank.wrong(
    "tuple-not-dict", "You return the four products without their names. A dict with the four keys is asked for."
)
def batched_einsum(a, b, v):
    return a @ b, a @ a.mT, (a @ v[..., None])[..., 0], (a @ b).sum(0)


bank.wrong(
    "gram-across-the-batch",
    "In your `gram` each a meets the sum of all transposes, as two letters for the batch make it. Each meets its own.",
    change={
        "a @ b": 'torch.einsum("bnk,bkm->bnm", a, b)',
        "a @ a.mT": 'torch.einsum("bnk,cmk->bnm", a, a)',
        "(a @ v.unsqueeze(-1)).squeeze(-1)": 'torch.einsum("bnk,bk->bn", a, v)',
    },
    of="matmul",
)


bank.wrong(
    "applied-to-every-v",
    "Each of your matrices meets the vectors of the whole batch, and not its own alone: `applied` has an axis too many.",
    change={"(a @ v.unsqueeze(-1)).squeeze(-1)": "a @ v.T"},
    of="matmul",
)


bank.survives(
    {
        "'bik,bjk->bij' -> 'bjk,bik->bij'": "A gram matrix is symmetric.",
    }
)
