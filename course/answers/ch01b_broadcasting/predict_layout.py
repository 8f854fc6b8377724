"""Answers to `predict_layout`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("predict_layout")


@bank.wrong(
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
    "fancy-keeps-all-rows",
    "You give `x[[0, 1]]` as many rows as `x` has. The inner list picks rows by their numbers: how many does it name?",
)
def predict_layout(ops):
    facts = {
        "slice": lambda rows, cols: ((rows, cols - 1), (cols, 1), True),
        "transpose": lambda rows, cols: ((cols, rows), (1, cols), True),
        "expand": lambda rows, cols: ((rows, cols), (0, 1), True),
        "fancy": lambda rows, cols: ((rows, cols), (cols, 1), False),
        "reshape": lambda rows, cols: ((rows * cols,), (1,), False),
    }
    return [facts[name](rows, cols) for name, rows, cols in ops]


@bank.wrong(
    "transpose-keeps-the-shape",
    "You give the transpose the shape of `x`. Its rows are the columns of `x`: both pairs change places, shape and stride.",
)
def predict_layout(ops):
    facts = {
        "slice": lambda rows, cols: ((rows, cols - 1), (cols, 1), True),
        "transpose": lambda rows, cols: ((rows, cols), (1, cols), True),
        "expand": lambda rows, cols: ((rows, cols), (0, 1), True),
        "fancy": lambda rows, cols: ((2, cols), (cols, 1), False),
        "reshape": lambda rows, cols: ((rows * cols,), (1,), False),
    }
    return [facts[name](rows, cols) for name, rows, cols in ops]


@bank.wrong(
    "flat-by-columns",
    "Your flat tensor steps by the number of columns. It has memory of its own, in which each number is next to the one before.",
)
def predict_layout(ops):
    table = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (c,), False),
    }
    return [table[name](r, c) for name, r, c in ops]


@bank.wrong(
    "tuple-without-comma",
    "`(n)` is a number: a tuple of one needs a comma, as in `(n,)`.",
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


@bank.wrong(
    "expand-with-no-steps",
    "You give the expanded tensor a stride of 0 along both dims. Only the repeated one has 0; within the row, "
    "numbers still lie side by side.",
)
def predict_layout(ops):
    t = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, c), True),
        "expand": lambda r, c: ((r, c), (0, 0), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [t[n](r, c) for n, r, c in ops]


@bank.wrong(
    "transpose-steps-over-rows",
    "Your transpose steps by the number of rows. The memory is that of `x`, where one row further is as many "
    "places as there are columns.",
)
def predict_layout(ops):
    t = {
        "slice": lambda r, c: ((r, c - 1), (c, 1), True),
        "transpose": lambda r, c: ((c, r), (1, r), True),
        "expand": lambda r, c: ((r, c), (0, 1), True),
        "fancy": lambda r, c: ((2, c), (c, 1), False),
        "reshape": lambda r, c: ((r * c,), (1,), False),
    }
    return [t[n](r, c) for n, r, c in ops]


@bank.right("table")
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


@bank.right("lists-and-if")
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


@bank.right("match")
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


bank.survives(
    {
        "rows * cols -> cols * rows": "Whole numbers multiply in any order.",
    }
)
