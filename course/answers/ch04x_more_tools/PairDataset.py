"""Answers to `PairDataset`: wrong ones that learners really give, and right ones that must pass."""

from torch.utils.data import Dataset, TensorDataset

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("PairDataset")


bank.wrong(
    "off-by-one-len",
    "Your `len` is one too small: the last pair is never used. Places are counted from 0, lengths from 1.",
    change={'"every input needs its target"': '"x and y differ in length"', "len(self.y)": "len(self.x) - 1"},
    of="keeps-both-tensors",
)

bank.wrong(
    "counts-entries",
    "Your `len` is the number of entries of x. One row of x is one sample, however many features it has.",
    change={'"every input needs its target"': '"x and y differ in length"', "len(self.y)": "self.x.numel()"},
    of="keeps-both-tensors",
)

bank.wrong(
    "list-not-tuple",
    "An item is a list in your data set. A pair of input and target is asked for: a tuple.",
    change={
        '"every input needs its target"': '"x and y differ in length"',
        "len(self.y)": "len(self.x)",
        "self.x[i], self.y[i]": "[self.x[i], self.y[i]]",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "swapped",
    "Your pairs hold the target first. The input comes first, then the target.",
    change={
        '"every input needs its target"': '"x and y differ in length"',
        "len(self.y)": "len(self.x)",
        "self.x[i], self.y[i]": "self.y[i], self.x[i]",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "lengths-unchecked",
    "Your data set takes x and y of different lengths, and raises nothing. Some rows would have no partner: raise a ValueError.",
    change={
        'if len(x) != len(y):\n    raise ValueError("every input needs its target")': "",
        "len(self.y)": "len(self.x)",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "assert-for-lengths",
    "You check the lengths by `assert`, which is an AssertionError and can be switched off. Raise a ValueError.",
    change={
        'if len(x) != len(y):\n    raise ValueError("every input needs its target")': "assert len(x) == len(y)",
        "len(self.y)": "len(self.x)",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "wraps-around",
    "You wrap places around with `%`: whoever goes through the data set never meets its end.",
    change={
        '"every input needs its target"': '"x and y differ in length"',
        "len(self.y)": "len(self.x)",
        "self.x[i], self.y[i]": "self.x[i % len(self.x)], self.y[i % len(self.x)]",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "no-negative-places",
    "You refuse negative places. They count from the end here, as in any Python sequence.",
    change={"return self.pairs[i]": "if i < 0:\n    raise IndexError(i)\nreturn self.pairs[i]"},
)

bank.wrong(
    "target-of-the-first-row",
    "Each input comes with the target of row 0. Use the place for both.",
    change={
        '"every input needs its target"': '"x and y differ in length"',
        "len(self.y)": "len(self.x)",
        "self.y[i]": "self.y[0]",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "compares-shapes",
    "You compare whole shapes. A row of x may have many features where y has one number: compare how many rows there are.",
    change={"len(x) != len(y)": "x.shape != y.shape"},
)

bank.wrong(
    "flattens",
    "You flatten the rows of x. Item i is the pair (x[i], y[i]), as they are.",
    change={"zip(x, y)": "zip(x.flatten(1), y)"},
)

bank.wrong(
    "one-side",
    "You refuse too few targets, and take too few inputs. Any other length is a ValueError.",
    change={"len(x) != len(y)": "len(x) > len(y)"},
)

bank.wrong(
    "targets-as-numbers",
    "Your targets are Python numbers. Item i is the pair (x[i], y[i]): two tensors.",
    slip=True,
    change={"self.y[i]": "self.y[i].item()"},
    of="keeps-both-tensors",
)

bank.wrong(
    "to-float",
    "You turn whole numbers to float32. x and y stay as they are: as labels for cross-entropy, whole numbers are needed.",
    change={"zip(x, y)": "zip(x.float(), y.float())"},
)

bank.wrong(
    "python-numbers",
    "Your items are Python numbers or lists. x[i] and y[i] are tensors: keep them so.",
    change={
        '"every input needs its target"': '"lengths"',
        "self.y = x, y": "self.y = x.tolist(), y.tolist()",
        "len(self.y)": "len(self.x)",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "squeezed",
    "You squeeze x and y, and rows of one number lose their dims. Item i is x[i] and y[i] as they came.",
    slip=True,
    change={
        '"every input needs its target"': '"other lengths"',
        "self.y = x, y": "self.y = x.squeeze(), y.squeeze()",
        "len(self.y)": "len(self.x)",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "one-for-all-data-sets",
    "All data sets of your class share one x and one y: a second one overwrites those of the first. Keep them in `self`.",
    change={"self.x, self.y = x, y": "PairDataset.x, PairDataset.y = x, y"},
    of="keeps-both-tensors",
)


@bank.right("zipped-rows")
class PairDataset(Dataset):
    def __init__(self, x, y):
        self.pairs = [*zip(x.unbind(), y.unbind(), strict=True)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


@bank.right("own-lines")
class PairDataset:
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("lengths")
        self.pairs = list(zip(x, y))

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, i):
        return self.pairs[i]


@bank.right("keeps-both-tensors")
class PairDataset(Dataset):
    def __init__(self, x, y):
        if len(x) != len(y):
            raise ValueError("every input needs its target")
        self.x, self.y = x, y

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        return self.x[i], self.y[i]


@bank.right("around-a-tensor-dataset")
class PairDataset(Dataset):
    def __init__(self, x, y):
        if x.shape[0] != y.shape[0]:
            raise ValueError(f"expected as many targets as inputs, found {y.shape[0]} for {x.shape[0]}")
        self.data = TensorDataset(x, y)

    def __len__(self):
        return len(self.data)

    def __getitem__(self, i):
        return self.data[i]


@bank.right("checks-places-itself")
class PairDataset(Dataset):
    def __init__(self, x, y):
        if not len(x) == len(y):
            raise ValueError("every input needs a target")
        self.x, self.y, self.count = x, y, x.size(0)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        place = i + self.count if i < 0 else i
        if place not in range(self.count):
            raise IndexError(f"no item {i} among {self.count}")
        return tuple(t.select(0, place) for t in (self.x, self.y))


bank.wrong(
    "target-as-number",
    "The targets come as Python numbers. Give the pair as it is in x and y: two tensors.",
    slip=True,
    change={
        '"every input needs its target"': '"x and y have different lengths"',
        "len(self.y)": "len(self.x)",
        "self.y[i]": "self.y[i].tolist()",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "counts-from-one",
    "Your pairs are shifted by one place: item 0 is the first pair, (x[0], y[0]).",
    slip=True,
    change={
        '"every input needs its target"': '"x and y have different lengths"',
        "len(self.y)": "len(self.x)",
        "self.x[i], self.y[i]": "self.x[i - 1], self.y[i - 1]",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "slices-of-one-row",
    "Your items keep an axis of length 1, as a slice of one row does. Item i is the row itself, x[i], and its target.",
    change={
        '"every input needs its target"': 'f"{len(x)} and {len(y)} rows"',
        "len(self.y)": "len(self.x)",
        "self.x[i], self.y[i]": "self.x[i : i + 1], self.y[i : i + 1]",
    },
    of="keeps-both-tensors",
)

bank.wrong(
    "one-tensor-of-both",
    "You put x and y into one tensor. It has one dtype, so that labels become floats, and takes no rows of other shapes.",
    change={
        "self.x, self.y = x, y": "self.both = torch.stack([x, y], dim=1)",
        '"every input needs its target"': '"x and y have different lengths"',
        "len(self.y)": "len(self.both)",
        "self.x[i], self.y[i]": "self.both[i][0], self.both[i][1]",
    },
    of="keeps-both-tensors",
)

bank.survives(
    {
        "ValueError(f'{len(x)} inputs and {len(y)} targets') -> ValueError()": "The message is free.",
        "' inputs and ' -> ' inputs and _'": "The message is free.",
        "' targets' -> ' targets_'": "The message is free.",
        "len(x) -> x (2)": "The message is free.",
        "len(y) -> y (2)": "The message is free.",
        "x -> y (3)": "The message is free.",
        "y -> x (3)": "The message is free.",
    }
)

bank.told(
    "compares-whole-shapes",
    "takes",
    change={
        "len(x) != len(y)": "x.shape != y.shape",
        '"every input needs its target"': '"x and y differ in shape"',
        "len(self.y)": "len(self.x)",
    },
    of="keeps-both-tensors",
)
