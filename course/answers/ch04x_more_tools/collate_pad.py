"""Answers to `collate_pad`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("collate_pad")


@bank.wrong(
    "wrong-pad-value",
    "You fill up with 0 whatever `pad` says. Where 0 is a real entry, nobody could tell the two apart.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.zeros(len(batch), max(lengths), dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, lengths


bank.wrong(
    "pads-in-front",
    "You put the filling in front of the entries. Each row begins with its entries; the filling comes after.",
    change={"padded[i, : len(row)]": "padded[i, max(lengths) - len(row) :]"},
)

bank.wrong(
    "always-float",
    "Your table is float32 whatever comes in. Labels or words would be floats now: keep the dtype of the rows.",
    change={
        "full((len(batch), max(lengths)), pad, dtype=batch[0].dtype)": "full((len(batch), max(lengths)), float(pad))"
    },
)

bank.wrong(
    "dtype-of-the-pad",
    "The dtype of your table is not that of the tensors: int64, as a whole `pad` makes it, cuts the fractions off.",
    change={
        "pad, dtype=batch[0].dtype": "pad",
        "padded[i, : len(row)] = row": "padded[i, : len(row)] = row.to(padded.dtype)",
    },
)

bank.wrong(
    "lengths-as-tensor",
    "Your lengths are a tensor. A list of ints is asked for.",
    change={
        "[len(row) for row in batch]": "torch.tensor([len(row) for row in batch])",
        "max(lengths)": "int(lengths.max())",
    },
)

bank.wrong(
    "lengths-after",
    "Your lengths are those of the padded rows, all alike. The lengths before are what gets lost otherwise.",
    change={
        "lengths = [len(row) for row in batch]": "longest = max(len(row) for row in batch)",
        "max(lengths)": "longest",
        "padded, lengths": "padded, [longest] * len(batch)",
    },
)


@bank.wrong(
    "as-long-as-the-first",
    "Your table is as wide as the first row. A longer one comes later.",
)
def collate_pad(batch, pad=0):
    padded = torch.full((len(batch), len(batch[0])), pad, dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    return padded, [len(row) for row in batch]


@bank.wrong(
    "cuts-off",
    "You cut every row to the shortest one. Nothing of a row may get lost.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    return torch.stack([row[: min(lengths)] for row in batch]), lengths


bank.wrong(
    "sorts-the-rows",
    "You put the longest row first. The rows should stay in the order in which they come.",
    change={
        "def collate_pad(batch, pad=0):": "def collate_pad(batch, pad=0):\n    batch = sorted(batch, key=len, reverse=True)"
    },
)

bank.wrong(
    "sorts-the-list-it-was-given",
    "You sort the list that you were given, as `sort` does: the rows no longer stand in their order, in the table and "
    "in the caller's list.",
    change={
        "def collate_pad(batch, pad=0):": "def collate_pad(batch, pad=0):\n    batch.sort(key=len, reverse=True)",
        "max(lengths)": "lengths[0]",
    },
)


@bank.wrong(
    "zeros-become-pad",
    "You fill up with 0, and then turn every 0 into `pad`: the zeros that are data are lost.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    padded = torch.zeros(len(batch), max(lengths), dtype=batch[0].dtype)
    for i, row in enumerate(batch):
        padded[i, : len(row)] = row
    padded[padded == 0] = pad
    return padded, lengths


bank.wrong(
    "counts-what-is-not-pad",
    "You count the entries that differ from `pad`. A real entry may be equal to it: ask each row for its length.",
    change={"return padded, [row.shape[0] for row in batch]": "return padded, (padded != pad).sum(dim=1).tolist()"},
    of="pad-sequence",
)


@bank.wrong(
    "another-default-pad",
    "Without `pad` you fill up with another number than 0, the default that was given.",
    slip=True,
)
def collate_pad(batch, pad=-1):
    lengths = [len(t) for t in batch]
    return nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=pad), lengths


@bank.wrong(
    "columns-for-rows",
    "Your table has a column for each tensor. Each is to be a row: look at `batch_first`.",
)
def collate_pad(batch, pad=0):
    return nn.utils.rnn.pad_sequence(batch, padding_value=pad), [len(t) for t in batch]


@bank.wrong(
    "leaves-out-the-empty",
    "You leave out tensors without entries. Each has its row, filled with `pad` alone, and its length, 0.",
)
def collate_pad(batch, pad=0):
    lengths = [len(t) for t in batch if len(t)]
    rows = [torch.cat([t, torch.full((max(lengths) - len(t),), pad, dtype=t.dtype)]) for t in batch if len(t)]
    return torch.stack(rows), lengths


@bank.wrong(
    "fills-the-list-it-was-given",
    "The rows that you were given are filled up afterwards, in the caller's list. Whoever called has no others: make rows of your own.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    for i, row in enumerate(batch):
        batch[i] = F.pad(row, (0, max(lengths) - len(row)), value=pad)
    return torch.stack(batch), lengths


bank.wrong(
    "one-column-at-least",
    "Where all tensors are empty, your table has a column all the same. It is as wide as the longest of them, and that is 0.",
    change={"max(lengths)": "max(1, *lengths)"},
)


@bank.right("pad-sequence")
def collate_pad(batch, pad=0):
    padded = nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=pad)
    return padded, [row.shape[0] for row in batch]


@bank.right("f-pad-and-stack")
def collate_pad(batch, pad=0):
    longest = max(map(len, batch))
    return torch.stack([F.pad(row, (0, longest - len(row)), value=pad) for row in batch]), list(map(len, batch))


@bank.right("cat-with-filling")
def collate_pad(batch, pad=0):
    lengths = [row.numel() for row in batch]
    rows = [torch.cat([row, row.new_full((max(lengths) - n,), pad)]) for row, n in zip(batch, lengths)]
    return torch.stack(rows), lengths


@bank.right("masked-assignment")
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    real = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    padded = batch[0].new_full(real.shape, pad)
    padded[real] = torch.cat(batch)
    return padded, lengths


@bank.wrong("table-alone", "You return the table alone. The pair of the table and the list of lengths is asked for.")
def collate_pad(batch, pad=0):
    return torch.nn.utils.rnn.pad_sequence(batch, batch_first=True, padding_value=pad)


@bank.wrong(
    "fills-in-another-dtype",
    "Your filling has a dtype of its own, and `cat` takes the wider of the two: int32 rows come back as int64. Give it the dtype of the rows.",
)
def collate_pad(batch, pad=0):
    lengths = [len(row) for row in batch]
    longest = max(lengths)
    filled = [torch.cat([row, torch.full((longest - len(row),), pad)]) for row in batch]
    return torch.stack(filled), lengths


bank.survives(
    {
        "batch -> lengths (3)": "There are as many lengths as rows.",
        "0 -> -1": "All rows have one dtype, the last one too.",
    }
)


bank.wrong(
    "as-wide-as-the-first",
    "Your table is as wide as the first tensor, and cuts off longer ones. The longest of all tells the width.",
    change={
        "max(lengths)": "lengths[0]",
        "i, row in enumerate(batch)": "place, row in zip(padded, batch)",
        "padded[i, : len(row)] = row": "place[: len(row)] = row[: lengths[0]]",
    },
)
