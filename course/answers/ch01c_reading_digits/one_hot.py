"""Answers to `one_hot`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("one_hot")

bank.wrong(
    "ten-columns",
    "You count on ten classes. There are k of them, which may be more.",
    change={"torch.eye(k)[labels]": "torch.eye(10)[labels][:, :k]"},
    of="rows-of-eye",
)

bank.wrong(
    "labels-in-eight-bits",
    "You squeeze the labels into eight bits, and 256 becomes 0. Leave them as they are.",
    change={"labels[:, None]": "labels.to(torch.uint8)[:, None]"},
)

bank.wrong(
    "numbered-anew",
    "You number the labels anew, by which of them occur. The column is the label itself, whichever others there are.",
    change={"labels[:, None]": "torch.unique(labels, return_inverse=True)[1][:, None]"},
)

bank.wrong(
    "k-from-max",
    "You count the classes by the largest label present. A class nobody has still needs its column: use `k`.",
    change={".eye(k)[labels]": ".eye(int(labels.max()) + 1)[labels]"},
    of="rows-of-eye",
)


@bank.wrong(
    "scatter-wrong-dim",
    "Your labels pick rows, as `scatter_` does along dim 0. It is the column that a label picks.",
)
def one_hot(labels, k):
    out = torch.zeros(len(labels), k)
    return out.scatter_(0, labels[:, None], 1.0)


@bank.wrong(
    "ones-in-the-first-row",
    "All your ones stand in the first row, as labels of shape (1, n) are n labels for one row. Each row has a label of its "
    "own: (n, 1).",
)
def one_hot(labels, k):
    return torch.zeros(len(labels), k).scatter_(1, labels.unsqueeze(0), 1.0)


@bank.wrong("bool-result", "Your result holds True and False. Numbers of dtype float32 are asked for.", slip=True)
def one_hot(labels, k):
    return labels[:, None] == torch.arange(k)


bank.wrong(
    "int-result",
    "Your result is int64, like the labels. float32 is asked for, so that it can be multiplied with weights.",
    change={".eye(k)[labels]": ".nn.functional.one_hot(labels, k)"},
    of="rows-of-eye",
)


bank.wrong(
    "transposed",
    "Your classes run down the rows. One row for each label, one column for each class.",
    change={"return torch.eye(k)[labels]": "return (torch.arange(k)[:, None] == labels).float()"},
    of="rows-of-eye",
)


bank.wrong(
    "fills-columns",
    "Each of your rows has a 1 for every label there is, as `out[:, labels]` picks whole columns. Pair each row "
    "number with its own label.",
    change={"for i, label in enumerate(labels.tolist()):\n    out[i, label] = 1": "out[:, labels] = 1"},
    of="row-by-row",
)


@bank.wrong("counts-from-one", "You count classes from 1. Label 0 belongs to the first column.", slip=True)
def one_hot(labels, k):
    return (labels[:, None] == torch.arange(1, k + 1)).float()


bank.wrong(
    "label-as-value",
    "You write the label itself into the row. The one column that is not 0 holds a 1.",
    change={".eye(k)[labels]": ".nn.functional.one_hot(labels, k).float() * labels[:, None]"},
    of="rows-of-eye",
)


@bank.wrong("double-result", "Your result is float64. float32 is asked for.")
def one_hot(labels, k):
    return torch.eye(k, dtype=torch.float64)[labels]


@bank.wrong("one-column-too-many", "You make k + 1 columns. Labels go from 0 to k - 1, which makes k of them.")
def one_hot(labels, k):
    return torch.eye(k + 1)[labels]


@bank.wrong(
    "least-label-first",
    "You count the classes from the smallest label that occurs. Label 0 has the first column, whether it occurs or not.",
)
def one_hot(labels, k):
    return torch.nn.functional.one_hot(labels - labels.min(), k).float()


@bank.wrong("zero-for-one", "Your zeros and ones have changed places.")
def one_hot(labels, k):
    return (labels[:, None] != torch.arange(k)).float()


@bank.wrong("minus-ones", "Where the label is not, your table holds -1. It is 0 there.")
def one_hot(labels, k):
    return 2 * (labels[:, None] == torch.arange(k)).float() - 1


@bank.wrong("columns-reversed", "Your columns run from the last class to the first. Label 0 has the first column.")
def one_hot(labels, k):
    return (labels[:, None] == torch.arange(k).flip(0)).float()


@bank.right("row-by-row")
def one_hot(labels, k):
    out = torch.zeros(len(labels), k)
    for i, label in enumerate(labels.tolist()):
        out[i, label] = 1
    return out


@bank.right("rows-of-eye")
def one_hot(labels, k):
    return torch.eye(k)[labels]


@bank.right("scatter")
def one_hot(labels, k):
    return torch.zeros(labels.shape[0], k).scatter_(1, labels.unsqueeze(1), 1.0)


@bank.right("functional")
def one_hot(labels, k):
    return torch.nn.functional.one_hot(labels, num_classes=k).to(torch.float32)


@bank.right("one-element-at-a-time")
def one_hot(labels, k):
    out = torch.zeros((len(labels), k))
    for row, label in enumerate(labels):
        out[row, label] = 1.0
    return out


@bank.right("compare")
def one_hot(labels, k):
    return torch.where(labels[:, None] == torch.arange(k), 1.0, 0.0)


bank.wrong(
    "ready-made-without-k",
    "Without `num_classes`, `one_hot` takes the largest label for the last: say how many columns there are.",
    change={".eye(k)[labels]": ".nn.functional.one_hot(labels).float()"},
    of="rows-of-eye",
)


@bank.wrong("counts-the-labels", "You count how often each label occurs. Each label is to have a row of its own.")
def one_hot(labels, k):
    return torch.bincount(labels, minlength=k).float()


@bank.wrong(
    "filled-up-to-the-label", "You put a 1 into every column up to the label's. A row has a single 1, at the label."
)
def one_hot(labels, k):
    return (labels[:, None] >= torch.arange(k)[None, :]).float()


@bank.wrong(
    "stacks-rows",
    "Without labels there is no row to stack, and `stack` raises. The table of no rows has k columns all the same.",
)
def one_hot(labels, k):
    rows = []
    for label in labels:
        row = torch.zeros(k)
        row[label] = 1.0
        rows.append(row)
    return torch.stack(rows)


bank.wrong(
    "fills-rows",
    "You fill whole rows, as `out[labels]` picks them: the labels count as numbers of rows. They are numbers of columns, "
    "one for each row.",
    change={"for i, label in enumerate(labels.tolist()):\n    out[i, label] = 1": "out[labels] = 1"},
    of="row-by-row",
)
