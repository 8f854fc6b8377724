"""Answers to `safe_log_where`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("safe_log_where")


bank.wrong(
    "where-outside",
    "At 0 the gradient of the log is infinite, and 0 times that is nan, also where the log itself is thrown away."
    " No log may meet a bad number.",
    change={".log(x.masked_fill(x <= 0, 1.0))": ".where(x > 0, torch.log(x), 0.0)"},
    of="masked-fill",
)


bank.wrong(
    "nan-to-num-hides",
    "`nan_to_num` hides nan in the values; log(0) becomes a huge negative number, and the gradient there is nan still.",
    also=("where-outside",),
    change={".log(x.masked_fill(x <= 0, 1.0))": ".nan_to_num(torch.log(x), nan=0.0)"},
    of="masked-fill",
)


bank.wrong(
    "times-the-mask",
    "You multiply by the mask: nan times 0 is nan. What should not count must be replaced, not multiplied.",
    also=("where-outside",),
    change={".log(x.masked_fill(x <= 0, 1.0))": ".log(x) * (x > 0)"},
    of="masked-fill",
)


bank.wrong(
    "clamps-to-eps",
    "You raise small numbers to a fixed eps: the log of eps is far from 0, and really small numbers are lost.",
    also=("clamps-inside-where",),
    change={".masked_fill(x <= 0, 1.0)": ".clamp(min=1e-6)"},
    of="masked-fill",
)


@bank.wrong(
    "clamps-inside-where",
    "No log meets a bad number, but small positive numbers do not get their own log, nor their gradient: your bound, or what you add, changes them.",
)
def safe_log_where(x):
    return torch.where(x > 0, torch.log(x.clamp(min=1e-6)), 0.0)


@bank.wrong(
    "adds-eps",
    "You add a small eps to every number: that changes the log and its gradient where x is small.",
)
def safe_log_where(x):
    safe = torch.where(x > 0, x, 1.0)
    return torch.where(x > 0, torch.log(safe + 1e-6), 0.0)


@bank.wrong(
    "no-gradient",
    "No gradient comes back from your result: it has no graph, as under `no_grad` or from Python numbers, or it is no "
    "tensor.",
)
def safe_log_where(x):
    with torch.no_grad():
        safe = torch.where(x > 0, x, 1.0)
        return torch.log(safe)


bank.wrong(
    "log-of-abs",
    "You take the log of |x|. For negative x that is a number other than 0, with a gradient.",
    change={"x.masked_fill(x <= 0, 1.0)": "torch.where(x == 0, 1.0, x.abs())"},
    of="masked-fill",
)


@bank.wrong(
    "changes-x",
    "You write into the caller's `x`. Make a new tensor with `torch.where`.",
)
def safe_log_where(x):
    if not x.requires_grad:
        x[x <= 0] = 1.0
        return torch.log(x)
    return torch.log(torch.where(x > 0, x, 1.0))


bank.wrong(
    "writes-into-x",
    "You write into the caller's `x`. It is to stay as it was, and where it requires grad, torch refuses that.",
    change={"return x.masked_fill(bad, 1.0).log()": "x[bad] = 1.0\nreturn torch.log(x)"},
    of="masked-fill-too",
)


bank.wrong(
    "writes-into-x-unseen",
    "You write into the caller's `x` where autograd does not see it, as under `no_grad` or through `.data`: it takes your "
    "stand-in for the number that came in, and gives it a gradient.",
    also=("changes-x",),
    change={"return x.masked_fill(bad, 1.0).log()": "with torch.no_grad():\n    x[bad] = 1.0\nreturn torch.log(x)"},
    of="masked-fill-too",
)


bank.wrong(
    "clamps-to-less",
    "You raise all that is smaller to 1e-8: where 0 is asked for you return its log, which is about -18, and a small positive "
    "number does not get its own.",
    change={".masked_fill(x <= 0, 1.0)": ".clamp(min=1e-8)"},
    of="masked-fill",
)


bank.wrong(
    "replaces-0-alone",
    "You replace 0 alone. Negative numbers still reach the log, and it is nan there.",
    change={"x.masked_fill(x <= 0, 1.0)": "torch.where(x == 0, 1.0, x)"},
    of="masked-fill",
)


bank.wrong(
    "log1p",
    "`log1p` is the log of 1 + x. It is friendly at 0, but it is another function.",
    change={".log(x.masked_fill(x <= 0, 1.0))": ".log1p(x.clamp(min=0))"},
    of="masked-fill",
)


bank.wrong(
    "zero-counts-as-positive",
    "You let 0 through: `x >= 0` includes it, and the log of 0 is minus infinity.",
    change={"bad = x <= 0": "safe = torch.where(x >= 0, x, 1.0)", "x.masked_fill(bad, 1.0).log()": "torch.log(safe)"},
    of="masked-fill-too",
)


bank.wrong(
    "clamps-to-one",
    "All that is below 1 gets 0, the log of 1. Numbers between 0 and 1 have a log, and a gradient, of their own.",
    change={".masked_fill(x <= 0, 1.0)": ".clamp(min=1.0)"},
    of="masked-fill",
)


bank.wrong(
    "log-of-a-stand-in",
    "Where x is not positive, you return the log of your stand-in. There the result should be 0.",
    change={"x.masked_fill(x <= 0, 1.0)": "torch.where(x > 0, x, 1e-12)"},
    of="masked-fill",
)


@bank.wrong("base-two", "Your logarithm has the base 2. `torch.log` has the base e.", slip=True)
def safe_log_where(x):
    positive = x > 0
    return torch.where(positive, torch.log2(torch.where(positive, x, 1.0)), 0.0)


@bank.wrong(
    "nan-elsewhere", "Where x is negative your result is nan, and where x is 0 it is -inf. It is to be 0 there."
)
def safe_log_where(x):
    return torch.log(x)


bank.wrong(
    "smallest-number-by-hand",
    "You raise small numbers to one of your own choice before the log. Floats go on far below it.",
    change={".log(x.masked_fill(x <= 0, 1.0))": ".log(x.clamp(min=1e-20)) * (x > 0)"},
    of="masked-fill",
)


@bank.wrong("minus-one-elsewhere", "Where x is not positive your result is -1. It is to be 0 there.")
def safe_log_where(x):
    good = x > 0
    return torch.where(good, torch.log(torch.where(good, x, 1.0)), -1.0)


@bank.right("masked-fill-too")
def safe_log_where(x):
    bad = x <= 0
    return x.masked_fill(bad, 1.0).log()


@bank.right("log-of-one")
def safe_log_where(x):
    return torch.where(x > 0, x, torch.ones_like(x)).log()


@bank.right("masked-fill")
def safe_log_where(x):
    return torch.log(x.masked_fill(x <= 0, 1.0))


@bank.right("index-put")
def safe_log_where(x):
    result, positive = torch.zeros_like(x), x > 0
    result[positive] = x[positive].log()
    return result


@bank.right("double-where-with-zeros")
def safe_log_where(x):
    bad = ~(x > 0)
    logs = torch.log(torch.where(bad, 1, x))
    return torch.where(bad, torch.zeros_like(x), logs)


@bank.wrong(
    "clamped-from-below", "You raise small numbers before the log. A small positive number has a log of its own."
)
def safe_log_where(x):
    return torch.where(x > 0, torch.log(x.clamp(min=1e-3)), 0.0)


@bank.wrong("shifted-a-little", "You add a small number before the log: then the log of a small number is another one.")
def safe_log_where(x):
    return torch.where(x > 0, torch.log(x.abs() + 1e-8), 0.0)


@bank.wrong(
    "log-of-one-plus", "You take the log of 1 + x, so that 0 gives 0. Where x > 0, the log of x itself is asked for."
)
def safe_log_where(x):
    return torch.log1p(torch.relu(x))


@bank.wrong(
    "adds-one-to-what-is-not-positive",
    "You add 1 where x is not positive, and -1 becomes 0: its log is thrown away, but not its gradient, which is nan. No log "
    "may meet a bad number.",
)
def safe_log_where(x):
    shifted = x + (x <= 0)
    return torch.where(x > 0, shifted.log(), torch.zeros_like(x))


bank.survives(
    {
        "torch.where(positive, torch.log(safe), 0.0) -> torch.log(safe)": "The log of the harmless number 1 is 0 already.",
        "1.0 -> 2.0": "Any positive number is harmless: the second where leaves its log out.",
        "1.0 -> 0.0": "The first where gives the gradient 0 to x itself: no nan from the log gets past it.",
    }
)
