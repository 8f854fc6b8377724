"""Answers to `describe`: wrong ones that learners really give, and right ones that must pass."""

import math

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("describe")


bank.wrong(
    "size-not-tuple",
    "`x.shape` is a `torch.Size`. The dictionary asks for a plain `tuple`: convert it.",
    change={"tuple(x.shape)": "x.shape"},
)

bank.wrong(
    "bytes-is-numel",
    "You count elements, not bytes. How many bytes does one element of this dtype take?",
    change={"x.numel() * x.element_size()": "x.numel()"},
)

bank.wrong(
    "four-bytes-each",
    "You count four bytes for every element. That holds for float32 only: ask the tensor.",
    change={"x.numel() * x.element_size()": "4 * x.numel()"},
)

bank.wrong(
    "bytes-of-one-element",
    "You give the bytes of one element. The whole tensor has `numel()` of them.",
    change={"x.numel() * x.element_size()": "x.element_size()"},
)

bank.wrong(
    "dtype-as-string",
    "Your dtype is a string. Keep the `torch.dtype` object itself, so that it can be compared and reused.",
    change={"x.dtype": "str(x.dtype)", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "device-object",
    "Your device is a `torch.device` object. Its type, a string such as `'cpu'`, is asked for.",
    change={"x.device.type": "x.device", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "device-written-out",
    "You write the whole device out: of a second card that is `'cuda:1'`. Its type is asked for, without a number.",
    change={"x.device.type": "str(x.device)", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "shape-as-list",
    "Your shape is a list. The dictionary asks for a tuple.",
    change={"tuple": "list", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "device-is-cpu",
    "Your device is the CPU for every tensor. `x` may be on another one: ask it.",
    change={"x.device.type": '"cpu"', "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "device-index",
    "Your device is a number, its index. Its type is asked for, a string such as `'cpu'`.",
    change={"x.device.type": "x.get_device()", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "dtype-name-only",
    "Your dtype is a text without `torch.`. Keep the `torch.dtype` object itself.",
    change={"x.dtype": 'str(x.dtype).split(".")[1]', "x.numel() * x.element_size()": "x.nbytes"},
)

bank.told(
    "grad-is-there",
    "returned",
    change={"x.requires_grad": "x.grad is not None", "x.numel() * x.element_size()": "x.nbytes"},
)


@bank.wrong(
    "no-return",
    "Your function gives None back, as one does without `return`. The caller is to get the dictionary.",
)
def describe(x):
    facts = {"shape": tuple(x.shape), "dtype": x.dtype, "device": x.device.type}
    facts["requires_grad"] = x.requires_grad
    facts["bytes"] = x.nbytes


bank.wrong(
    "axes-for-shape",
    "You give the number of axes. The shape has a length for each of them.",
    change={"tuple(x.shape)": "x.dim()", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong("bits", "You count bits. Eight of them are a byte.", change={"x.numel() * x.element_size()": "8 * x.nbytes"})

bank.told(
    "leaves-alone",
    "returned",
    change={"x.requires_grad": "x.is_leaf and x.requires_grad", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "sum-of-the-sizes",
    "You add up the sizes of the dims. The number of elements is their product.",
    change={"x.numel() * x.element_size()": "x.element_size() * sum(x.shape)"},
)


@bank.right("getattr")
def describe(x):
    facts = {name: getattr(x, name) for name in ("shape", "dtype", "requires_grad")}
    return facts | {"shape": (*x.shape,), "device": x.device.type, "bytes": len(x.flatten()) * x.itemsize}


@bank.right("nbytes")
def describe(x):
    return dict(
        shape=tuple(x.size()),
        dtype=x.dtype,
        device=str(x.device.type),
        requires_grad=x.requires_grad,
        bytes=x.nbytes,
    )


@bank.right("itemsize-and-prod")
def describe(x):
    shape = tuple(int(n) for n in x.shape)
    return {
        "bytes": math.prod(shape) * x.dtype.itemsize,
        "requires_grad": bool(x.requires_grad),
        "device": str(x.device.type),
        "dtype": x.dtype,
        "shape": shape,
    }


bank.survives(
    {
        "x.numel() * x.element_size() -> x.element_size() * x.numel()": "Whole numbers multiply in any order.",
    }
)


bank.wrong(
    "bytes-of-the-storage",
    "You count the bytes of the memory that `x` lives in. A view uses a part of it: count what its own elements need.",
    change={"x.numel() * x.element_size()": "x.untyped_storage().nbytes()"},
)


@bank.right("bytes-in-a-loop")
def describe(x):
    count = x.element_size()
    for length in x.size():
        count = count * length
    kind = str(x.device).split(":")[0]
    return dict(shape=(*x.size(),), dtype=x.dtype, device=kind, requires_grad=x.requires_grad, bytes=count)


bank.wrong(
    "bytes-of-the-rows",
    "You count the rows, as `len` does: every element has its bytes. And a tensor without axes has no `len`, so that there "
    "your function raises.",
    change={"x.numel() * x.element_size()": "len(x) * x.element_size()"},
)
