"""Answers to `make_batch`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("make_batch")

bank.told(
    "kept-from-the-first-call",
    "own_memory",
    change={
        "generator = torch.Generator()": "kept = make_batch.__dict__.setdefault((n, d, dtype, seed), [])\nif kept:\n    return kept[0]\ngenerator = torch.Generator()",
        "return torch.randn(n, d, dtype=dtype, generator=generator)": "kept.append(torch.randn(n, d, dtype=dtype, generator=generator))\nreturn kept[0]",
    },
)


@bank.told("global-seed", "global_untouched")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    torch.manual_seed(seed)
    return torch.randn(n, d, dtype=dtype)


@bank.told("puts-the-state-back", "put_back")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    before = torch.get_rng_state()
    torch.manual_seed(seed)
    x = torch.randn(n, d, dtype=dtype)
    torch.set_rng_state(before)
    return x


@bank.told("seeds-in-a-fork", "put_back")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    with torch.random.fork_rng([]):
        torch.manual_seed(seed)
        return torch.randn(n, d, dtype=dtype)


bank.wrong(
    "int-dtype",
    "Your numbers are whole numbers of an integer dtype. Normal numbers of the `dtype` of the call are asked for.",
    slip=True,
    change={".randn(n, d, dtype=dtype, generator=generator)": ".randint(-3, 4, (n, d), generator=generator)"},
)


@bank.wrong(
    "list-dtype",
    "Your result is float32 whatever `dtype` says. So is each draw, and each tensor made from floats, unless the call "
    "that makes it is given a dtype.",
    slip=True,
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randn(d, generator=generator).tolist() for _ in range(n)]
    return torch.tensor(rows)


@bank.wrong(
    "unseeded",
    "You draw from the global generator, whatever `seed` is: two calls with one seed give two different batches. A "
    "generator of your own counts only where the draw is given it.",
)
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    return torch.randn(n, d, dtype=dtype)


bank.told("seed-ignored", "seeds_differ", change={"().manual_seed(seed)": "()"})

bank.wrong(
    "uniform",
    "Your numbers look uniform, not normal.",
    change={"torch.randn": "torch.rand"},
)

bank.wrong(
    "swapped-shape",
    "Your batch is (d, n). One row for each of the `n` examples comes first, then its `d` features.",
    slip=True,
    change={"n, d, dtype": "d, n, dtype"},
)


@bank.told("one-row-repeated", "varied")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(d, dtype=dtype, generator=generator).repeat(n, 1)


bank.wrong(
    "seed-plus-global",
    "You add a number from the global generator to the seed: the batch depends on what was drawn "
    "before, and moves the global generator on.",
    change={"(seed)": "(seed + int(torch.randint(1000, ())))"},
)


@bank.told("standardized", "as_drawn")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    x = torch.randn(n, d, dtype=dtype, generator=torch.Generator().manual_seed(seed))
    return (x - x.mean()) / x.std()


@bank.told("another-default-seed", "default")
def make_batch(n, d, *, dtype=torch.float32, seed=42):
    return torch.randn(n, d, generator=torch.Generator().manual_seed(seed), dtype=dtype)


@bank.right("normal-too")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    own = torch.Generator()
    own.manual_seed(seed)
    return torch.empty(n, d, dtype=dtype).normal_(generator=own)


@bank.right("cast-afterwards")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator()
    generator.manual_seed(seed)
    return torch.randn((n, d), generator=generator).to(dtype)


@bank.right("fill-in-place")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    return torch.empty(n, d, dtype=dtype).normal_(generator=torch.Generator().manual_seed(seed))


@bank.right("normal")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator(device="cpu").manual_seed(seed)
    return torch.normal(0.0, 1.0, size=(n, d), dtype=dtype, generator=generator)


@bank.right("transposed-draw")
def make_batch(n, d, *, dtype=torch.float32, seed=0):
    generator = torch.Generator().manual_seed(seed + 1)
    return torch.randn(d, n, dtype=torch.float64, generator=generator).T.to(dtype)
