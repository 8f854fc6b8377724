"""Answers to `pick_device`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("pick_device")


@bank.wrong(
    "hardcoded",
    'You return "cuda" in all of these situations, also where it is not there: it stands in your code, or you keep what '
    "torch said the first time. Ask at each call.",
)
def pick_device(prefer=None):
    return torch.device(prefer or "cuda")


bank.wrong(
    "returns-string",
    "You return a name. `torch.device(name)` makes a device of it, which has a `.type` and compares as one.",
    slip=True,
    change={"torch.device(found if prefer is None else prefer)": "found if prefer is None else prefer"},
    of="one-expression",
)

bank.wrong(
    "no-override",
    "You never look at `prefer`. Who names a device has reasons, and gets it.",
    change={"if prefer is not None:\n    return torch.device(prefer)": ""},
)

bank.wrong(
    "override-only-if-there",
    "You take `prefer` only where that device is there. Asked for by name, it is to come or to fail loudly.",
    change={"prefer is not None": 'prefer == "cpu"', "(prefer)": '("cpu")', '"cuda"': 'prefer or "cuda"'},
)

bank.wrong(
    "numbers-on-no-list",
    'You look for `prefer` among the names that you found, and "cuda:1", with its number, is none of them. A name that is '
    "given decides, found or not.",
    change={"if prefer else": "if there.get(prefer) else"},
    of="list-of-candidates",
)

bank.wrong(
    "mps-first",
    "Where both are there you take mps. cuda comes first.",
    change={
        'if torch.cuda.is_available():\n    return torch.device("cuda")': "",
        'return torch.device("cpu")': 'if torch.cuda.is_available():\n    return torch.device("cuda")\nreturn torch.device("cpu")',
    },
)

bank.wrong(
    "no-mps",
    "Where torch.backends.mps.is_available() says yes and there is no cuda, you give the CPU. A Mac may have mps: take it there.",
    change={'if torch.backends.mps.is_available():\n    return torch.device("mps")': ""},
)

bank.wrong(
    "no-cuda",
    "You never take cuda where torch.cuda.is_available() says that it is there. Ask this, and ask it first.",
    change={'if torch.cuda.is_available():\n    return torch.device("cuda")': ""},
)


@bank.wrong(
    "always-the-cpu",
    "Without `prefer` you return the CPU in all of these situations: ask torch by is_available() at each call, and go by what "
    "it says.",
)
def pick_device(prefer=None):
    return torch.device("cpu" if prefer is None else prefer)


bank.wrong(
    "drops-the-number",
    'You keep only the kind of device: of "cuda:1" the 1 gets lost, and with it which of several GPUs was meant.',
    change={"torch.device(prefer)": "torch.device(torch.device(prefer).type)"},
)

bank.wrong(
    "falls-back",
    "You turn a `prefer` that is not there into the CPU. Who names a device gets it, and hears from torch where it is missing.",
    change={"names[0]": 'names[0] if there.get(names[0], True) else "cpu"'},
    of="list-of-candidates",
)

bank.wrong(
    "asks-what-is-built",
    "You ask whether this torch was built for a card, by is_built(). There need not be one: is_available() tells.",
    unless=r"(?s)\A(?!.*is_built)",
    slip=True,
    change={
        'if torch.backends.mps.is_available():\n    return torch.device("mps")': "",
        '"cpu"': '"mps" if torch.backends.mps.is_built() else "cpu"',
    },
)

bank.wrong(
    "cuda-falls-back",
    "Asked for a cuda that is not there, you give the CPU. Who names a device gets it, and hears from torch where it is missing.",
    change={
        "return torch.device(prefer)": 'if torch.device(prefer).type == "cuda" and not torch.cuda.is_available():\n    return torch.device("cpu")\nreturn torch.device(prefer)'
    },
)

bank.told(
    "sets-the-default",
    "default_kept",
    change={"return torch.device(name)": "torch.set_default_device(name)\nreturn torch.device(name)"},
    of="asks-in-a-table",
)

bank.told(
    "sets-the-default-by-turns",
    "default_kept",
    change={
        "prefer=None": "prefer=None, calls=[]",
        "return torch.device(name)": 'calls.append(prefer)\ntorch.set_default_device("meta" if len(calls) % 2 else "cpu")\nreturn torch.device(name)',
    },
    of="asks-in-a-table",
)


@bank.right("asks-in-a-table")
def pick_device(prefer=None):
    asks = {"cuda": torch.cuda.is_available, "mps": torch.backends.mps.is_available, "cpu": lambda: True}
    name = next(name for name, ask in asks.items() if ask()) if prefer is None else prefer
    return torch.device(name)


@bank.right("own-lines")
def pick_device(prefer=None):
    for kind, there in (
        (prefer, prefer),
        ("cuda", torch.cuda.is_available()),
        ("mps", torch.backends.mps.is_available()),
    ):
        if there:
            return torch.device(kind)
    return torch.device("cpu")


@bank.right("one-expression")
def pick_device(prefer=None):
    found = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return torch.device(found if prefer is None else prefer)


@bank.right("list-of-candidates")
def pick_device(prefer=None):
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    names = [prefer] if prefer else [name for name, is_there in there.items() if is_there]
    return torch.device(names[0])


@bank.right("first-gpu")
def pick_device(prefer=None):
    if prefer:
        return torch.device(prefer)
    if torch.cuda.is_available():
        return torch.device("cuda:0")
    return torch.device("mps", 0) if torch.backends.mps.is_available() else torch.device("cpu")
