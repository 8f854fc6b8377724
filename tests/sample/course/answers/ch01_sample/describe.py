"""Answers to `describe`: wrong ones that learners really give, and right ones that must pass."""

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("describe")


bank.wrong(
    "bytes-is-numel",
    "You count elements, not bytes. How many bytes does one element of this dtype take?",
    change={"x.numel() * x.element_size()": "x.numel()"},
)

bank.wrong(
    "device-object",
    "Your device is a `torch.device` object. Its type, a string such as `'cpu'`, is asked for.",
    change={"x.device.type": "x.device", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.told(
    "grad-is-there",
    "returned",
    change={"x.requires_grad": "x.grad is not None", "x.numel() * x.element_size()": "x.nbytes"},
)

bank.wrong(
    "dtype-as-string",
    "Your dtype is a string. Keep the `torch.dtype` object itself, so that it can be compared and reused.",
    change={"x.dtype": "str(x.dtype)", "x.numel() * x.element_size()": "x.nbytes"},
)


@bank.right("nbytes")
def describe(x):
    return dict(
        shape=tuple(x.size()),
        dtype=x.dtype,
        device=str(x.device.type),
        requires_grad=x.requires_grad,
        bytes=x.nbytes,
    )


bank.wrong(
    "bytes-of-the-storage",
    "You count the bytes of the memory that `x` lives in. A view uses a part of it: count what its own elements need.",
    change={"x.numel() * x.element_size()": "x.untyped_storage().nbytes()"},
)


@bank.right("getattr")
def describe(x):
    facts = {name: getattr(x, name) for name in ("shape", "dtype", "requires_grad")}
    return facts | {"shape": (*x.shape,), "device": x.device.type, "bytes": len(x.flatten()) * x.itemsize}
