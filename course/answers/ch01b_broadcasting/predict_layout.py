"""Answers to `predict_layout`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("predict_layout")

bank.wrong(
    "sorted-ops",
    "You sort the ops. The entries are to stand in the order in which the ops come.",
    change={"for op in ops": "for op in sorted(ops)"},
)

bank.wrong(
    "each-op-once",
    "An op that comes twice has one entry in your result. Give each op of the list its entry, in its place.",
    change={"[layout(*op) for op in ops]": "list({op: layout(*op) for op in ops}.values())"},
)

bank.wrong(
    "shares-stays-false",
    "Once an op has not shared memory, none does any more: what you found for one op is still there at the next.",
    change={
        "return [layout(*op) for op in ops]": "shares, out = True, []\nfor op in ops:\n    shape, stride, own = layout(*op)\n    shares = shares and own\n    out.append((shape, stride, shares))\nreturn out"
    },
)

bank.wrong(
    "reshape-always-view",
    "You say that `reshape` never copies. After a transpose no stride can read the memory in the new "
    "order: it must copy.",
    change={"((rows * cols,), (1,), False)": "((rows * cols,), (1,), True)"},
)

bank.wrong(
    "fancy-is-view",
    "You say that a list of row numbers gives a view. Rows picked by a list need no even spacing, which "
    "strides cannot describe: it is a copy.",
    change={"((2, cols), (cols, 1), False)": "((2, cols), (cols, 1), True)"},
)

bank.wrong(
    "expand-copies",
    "You say that `expand` makes copies of the row. It repeats nothing in memory: a stride of 0 reads "
    "one row again and again.",
    change={"((rows, cols), (0, 1), True)": "((rows, cols), (cols, 1), False)"},
)

bank.wrong(
    "expand-keeps-stride",
    "Your expanded row steps on in memory from row to row. It is one and the same row: by how much does "
    "the address change?",
    change={"((rows, cols), (0, 1), True)": "((rows, cols), (cols, 1), True)"},
)

bank.wrong(
    "slice-is-contiguous",
    "You give the slice the stride of a fresh tensor. It still lives in the memory of `x`, whose rows "
    "are as long as before.",
    change={"((rows, cols - 1), (cols, 1), True)": "((rows, cols - 1), (cols - 1, 1), True)"},
)

bank.wrong(
    "slice-copies",
    "You say that a slice copies, as it does for a Python list. A slice of a tensor is a view.",
    change={"((rows, cols - 1), (cols, 1), True)": "((rows, cols - 1), (cols - 1, 1), False)"},
)

bank.wrong(
    "slice-of-rows",
    "You cut off the first row. In `x[:, 1:]` the first place stands for the rows, and all of them stay.",
    change={"((rows, cols - 1), (cols, 1), True)": "((rows - 1, cols), (cols, 1), True)"},
)

bank.wrong(
    "transpose-rearranges",
    "You give the transpose the stride of a fresh tensor. No number moves in memory: only the two "
    "strides change places.",
    change={"((cols, rows), (1, cols), True)": "((cols, rows), (rows, 1), True)"},
)

bank.wrong(
    "transpose-copies",
    "You say that a transpose copies. It is a view with the strides of `x` in the other order.",
    change={"((cols, rows), (1, cols), True)": "((cols, rows), (rows, 1), False)"},
)

bank.wrong(
    "fancy-is-one-element",
    "You read `x[[0, 1]]` as row 0, column 1. The inner list picks two whole rows.",
    change={"((2, cols), (cols, 1), False)": "((), (), True)"},
)

bank.wrong(
    "fancy-keeps-all-rows",
    "You give `x[[0, 1]]` as many rows as `x` has. The inner list picks rows by their numbers: how many does it name?",
    change={"((2, cols), (cols, 1), False)": "((rows, cols), (cols, 1), False)"},
)

bank.wrong(
    "transpose-keeps-the-shape",
    "You give the transpose the shape of `x`. Its rows are the columns of `x`: both pairs change places, shape and stride.",
    change={"((cols, rows), (1, cols), True)": "((rows, cols), (1, cols), True)"},
)

bank.wrong(
    "flat-by-columns",
    "Your flat tensor steps by the number of columns. It has memory of its own, in which each number is next to the one before.",
    change={"((rows * cols,), (1,), False)": "((rows * cols,), (cols,), False)"},
)

bank.wrong(
    "tuple-without-comma",
    "`(n)` is a number: a tuple of one needs a comma, as in `(n,)`.",
    change={"((rows * cols,), (1,), False)": "((rows * cols), (1), False)"},
)


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


bank.wrong(
    "expand-with-no-steps",
    "You give the expanded tensor a stride of 0 along both dims. Only the repeated one has 0; within the row, "
    "numbers still lie side by side.",
    change={"((rows, cols), (0, 1), True)": "((rows, cols), (0, 0), True)"},
)

bank.wrong(
    "transpose-steps-over-rows",
    "Your transpose steps by the number of rows. The memory is that of `x`, where one row further is as many "
    "places as there are columns.",
    change={"((cols, rows), (1, cols), True)": "((cols, rows), (1, rows), True)"},
)


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
