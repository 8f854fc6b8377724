"""Answers to `grad_by_hand`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("grad_by_hand")


bank.wrong(
    "forgets-chain",
    "The derivative of x + y by x is 1, but the sum is then multiplied by z. Multiply the derivatives along the way.",
    also=("one-by-y",),
    change={"z, z": "1.0, 1.0"},
    of="in-one-line",
)


bank.wrong(
    "product-of-the-inputs",
    "You treat x + y like a product: by x you give y times z. The derivative of a sum by one of its terms is 1.",
    change={"z, z": "y * z, x * z"},
    of="in-one-line",
)


bank.wrong(
    "z-is-one",
    "By z you give 1, as if z were added. It is a factor: its derivative is what it multiplies.",
    change={"x + y": "1.0"},
    of="in-one-line",
)


bank.wrong(
    "wrong-order",
    "What stands last is the derivative by x or by y. In order: by x first, then by y, then by z.",
    also=("z-for-all",),
    change={"z, z, x + y": "x + y, z, z"},
    of="in-one-line",
)


bank.wrong(
    "times-the-value",
    "You multiply the derivative by the value of the variable. That gives its share of the result, not the slope.",
    change={"z, z": "x * z, y * z"},
    of="in-one-line",
)


@bank.wrong(
    "returns-tensors",
    "Your three results are tensors. Floats go in, and floats are asked for.",
)
def grad_by_hand(x, y, z):
    a, b, c = (torch.tensor(value, requires_grad=True) for value in (x, y, z))
    ((a + b) * c).backward()
    return a.grad, b.grad, c.grad


bank.wrong(
    "factors-kept",
    "You give each factor its own value. The derivative of s * z by s is z, and by z it is s.",
    also=("wrong-order", "sum-of-all"),
    change={"return z, z, x + y": "s = x + y\nreturn (s, s, z)"},
    of="in-one-line",
)


bank.wrong(
    "result-for-z",
    "By z you give the result itself. The derivative of s * z by z is how much it grows for each 1 that z grows.",
    change={"z, z, x + y": "(z, z, (x + y) * z)"},
    of="in-one-line",
)


@bank.wrong(
    "sum-of-all", "By x and by y you give the sum, which is the derivative by z. What x adds, or y, counts z times."
)
def grad_by_hand(x, y, z):
    return (x + y, x + y, x + y)


@bank.right("row-by-row")
def grad_by_hand(x, y, z):
    outer = {"sum": z, "z": x + y}
    inner = {"x": 1.0, "y": 1.0}
    return (outer["sum"] * inner["x"], outer["sum"] * inner["y"], outer["z"])


@bank.right("in-one-line")
def grad_by_hand(x, y, z):
    return z, z, x + y


@bank.right("chain-spelled-out")
def grad_by_hand(x, y, z):
    total = x + y
    by_total, by_z = z, total
    total_by_x = total_by_y = 1.0
    return by_total * total_by_x, by_total * total_by_y, by_z


@bank.right("asks-autograd")
def grad_by_hand(x, y, z):
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in (x, y, z)]
    grads = torch.autograd.grad((leaves[0] + leaves[1]) * leaves[2], leaves)
    return tuple(grad.item() for grad in grads)


bank.wrong(
    "begins-with-the-result",
    "All three have one factor too many, the result itself. How fast the result grows with itself is 1: the chain "
    "begins with that, not with its value.",
    change={"return z, z, x + y": "result = (x + y) * z\nby_sum = result * z\nreturn by_sum, by_sum, result * (x + y)"},
    of="in-one-line",
)


bank.wrong(
    "z-for-all",
    "By z you give z itself. z is a factor: its derivative is what it multiplies.",
    change={"x + y": "z"},
    of="in-one-line",
)


bank.wrong(
    "result-by-variable",
    "By x and by y you divide the result by the variable. That is right for a factor; x and y are terms of a sum.",
    change={"return z, z, x + y": "result = (x + y) * z\nreturn result / x, result / y, result / z"},
    of="in-one-line",
)


@bank.wrong(
    "quotients-of-the-result",
    "You divide the result by one of its factors. Where that is 0 this stops, and the derivative is there all the same.",
)
def grad_by_hand(x, y, z):
    total = x + y
    out = total * z
    return (out / total, out / total, out / z)


@bank.wrong("by-z-the-product", "By z you give the product of x and y. They are added: the sum is what z multiplies.")
def grad_by_hand(x, y, z):
    return (z, z, x * y)


@bank.wrong(
    "named-by-letter", "You return the three by name, in a dict. A tuple is asked for: by x, by y, by z.", slip=True
)
def grad_by_hand(x, y, z):
    return {"x": z, "y": z, "z": x + y}


bank.wrong(
    "one-by-y",
    "By y you give 1, as if the sum were not multiplied. What y adds to it counts z times, as what x adds does.",
    change={"z, z, x + y": "(z, 1.0, x + y)"},
    of="in-one-line",
)


@bank.wrong(
    "without-brackets",
    "By x you give 1, and by z you give y, as if z multiplied y alone. The sum comes first, and z multiplies all of it.",
)
def grad_by_hand(x, y, z):
    return (1.0, z, y)


bank.survives(
    {
        "into_sum * 1.0 -> into_sum / 1.0": "Dividing by 1 changes nothing.",
        "into_sum * 1.0 -> 1.0 * into_sum": "Numbers multiply in any order.",
        "into_sum * 1.0 -> into_sum": "The factor 1 is written down for the reader.",
        "into_sum * 1.0 -> into_sum / 1.0 (2)": "Dividing by 1 changes nothing.",
        "into_sum * 1.0 -> 1.0 * into_sum (2)": "Numbers multiply in any order.",
        "into_sum * 1.0 -> into_sum (2)": "The factor 1 is written down for the reader.",
        "x + y -> y + x": "Addition does not mind the order.",
        "into_sum -> z": "The derivative by the sum is z: another name for the same number.",
        "into_sum -> z (2)": "The derivative by the sum is z: another name for the same number.",
    }
)
