"""Answers to `count_syncs`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("count_syncs")


bank.wrong(
    "item-every-step",
    "You list each name once. An item() in each round of a loop waits in each round: list it as often as it ran.",
    change={"name in waits": "name in waits and name not in found"},
)


@bank.wrong(
    "prints-tensor",
    "You count a print as well. The mode does not see it, and it is to be left out here.",
)
def count_syncs(fn):
    import builtins

    found, old = [], builtins.print

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = str(func.overloadpacket)
            if name in ("aten._local_scalar_dense", "aten.nonzero"):
                found.append(name)
            return func(*args, **(kwargs or {}))

    def print_and_note(*args, **kwargs):
        found.append("aten._local_scalar_dense")
        old(*args, **kwargs)

    builtins.print = print_and_note
    try:
        with Watch():
            fn()
    finally:
        builtins.print = old
    return found


@bank.wrong(
    "item-alone",
    "You watch the method `item`. float, int, bool and an `if` need a value too, and never call it.",
)
def count_syncs(fn):
    found, old = [], torch.Tensor.item

    def item(self):
        found.append("aten._local_scalar_dense")
        return old(self)

    torch.Tensor.item = item
    try:
        fn()
    finally:
        torch.Tensor.item = old
    return found


bank.wrong(
    "no-nonzero",
    "You leave out nonzero. How long its result is depends on the values, so the host has to wait for them.",
    change={'("aten._local_scalar_dense", "aten.nonzero")': '("aten._local_scalar_dense",)'},
)


bank.wrong(
    "all-operations",
    "You list every operation. Most of them give the device work and go on; only those that need a value wait.",
    change={
        'waits = ("aten._local_scalar_dense", "aten.nonzero")': "",
        "if name in waits:\n    found.append(name)": "found.append(name)",
    },
)


bank.wrong(
    "with-the-overload",
    "Your names end in the overload, `.default`. str(func.overloadpacket) is the name without it.",
    slip=True,
    change={"found.append(name)": "found.append(str(func))"},
)


bank.wrong(
    "returns-a-count",
    "You return how many there were. Asked for is the list of their names, in order.",
    change={"return found": "return len(found)"},
)


bank.wrong(
    "drops-keywords",
    "You run each operation without its kwargs: a dtype, a limit or another option gets lost on the way.",
    change={"func(*args, **(kwargs or {}))": "func(*args)"},
)


bank.wrong(
    "drops-the-result",
    "Your `__torch_dispatch__` returns nothing, so every operation in fn gives None. Hand on what func returns.",
    change={"return func(*args, **(kwargs or {}))": "func(*args, **(kwargs or {}))"},
)


bank.wrong(
    "calls-twice",
    "You call fn a second time. A step of training would be done twice.",
    change={"with Watch():": "fn()\nwith Watch():"},
)


bank.wrong(
    "sorted-names",
    "Your names are sorted, or stand together kind by kind. They are to come in the order in which the operations ran.",
    change={"return found": "return sorted(found)"},
)


bank.wrong(
    "like-nonzero",
    "You look for names that have nonzero in them. count_nonzero has it too, and waits for nothing: compare whole names.",
    change={
        '("aten._local_scalar_dense", "aten.nonzero")': '("_local_scalar_dense", "nonzero")',
        "name in waits": "any(each in name for each in waits)",
    },
)


bank.wrong(
    "for-item",
    "You do not find what `item()` does. Under the dispatcher no operation has that name: it is "
    "aten._local_scalar_dense.",
    change={'"aten._local_scalar_dense"': '"aten.item"'},
)


bank.wrong(
    "never-equal",
    "Your comparison never holds, as where it takes `str(func)`, which ends in the overload: aten.nonzero.default. Take "
    "str(func.overloadpacket).",
    unless=r"overloadpacket|\A(?![\s\S]*str\()",  # a list may stay empty for other reasons
    change={"str(func.overloadpacket)": "str(func)"},
)


bank.wrong(
    "names-without-aten",
    "Your names lack their beginning. str(func.overloadpacket) gives them whole: aten.nonzero.",
    slip=True,
    change={
        '("aten._local_scalar_dense", "aten.nonzero")': '("_local_scalar_dense", "nonzero")',
        "str(func.overloadpacket)": 'str(func.overloadpacket).split(".")[-1]',
    },
)


bank.wrong(
    "never-switched-off",
    "You switch the mode on and never off: it goes on watching after the call. `with Watch():` does both.",
    change={"with Watch():\n    fn()": "Watch().__enter__()\nfn()"},
)


bank.told(
    "left-on-by-an-error",
    "left",
    change={"with Watch():\n    fn()": "watch = Watch()\nwatch.__enter__()\nfn()\nwatch.__exit__(None, None, None)"},
)


bank.told(
    "keeps-the-error",
    "error",
    change={"fn()": "try:\n    fn()\nexcept Exception:\n    pass"},
)


bank.wrong(
    "runs-each-twice",
    "Your mode runs each operation twice, once for itself. What changes a tensor in place then changes it twice.",
    change={
        "return func(*args, **(kwargs or {}))": "func(*args, **(kwargs or {}))\nreturn func(*args, **(kwargs or {}))"
    },
)


bank.told(
    "one-list-for-all",
    "later",
    change={
        "count_syncs(fn)": "count_syncs(fn, found=[])",
        "found = []": "found.clear()",
    },
)


@bank.right("counts-packets")
def count_syncs(fn):
    slow = (torch.ops.aten._local_scalar_dense, torch.ops.aten.nonzero)

    class Watch(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.found = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.found += [str(op) for op in slow if op is func.overloadpacket]
            return func(*args, **kwargs) if kwargs else func(*args)

    with Watch() as watch:
        fn()
    return watch.found


@bank.right("nested")
def count_syncs(fn):
    class Note(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.names.append(str(func.overloadpacket))
            return func(*args, **({} if kwargs is None else kwargs))

    with Note() as note:
        fn()
    return [name for name in note.names if name.rsplit(".", 1)[-1] in ("_local_scalar_dense", "nonzero")]


@bank.right("filter-afterwards")
def count_syncs(fn):
    class Record(TorchDispatchMode):
        def __init__(self):
            super().__init__()
            self.names = []

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            self.names.append(str(func.overloadpacket))
            return out

    record = Record()
    with record:
        fn()
    return [name for name in record.names if name.endswith(("._local_scalar_dense", ".nonzero"))]


@bank.right("by-overload-packet")
def count_syncs(fn):
    waits = {torch.ops.aten._local_scalar_dense, torch.ops.aten.nonzero}
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs={}):
            if func.overloadpacket in waits:
                found.append(func)
            return func(*args, **kwargs)

    with Watch() as _:
        fn()
    return [str(func.overloadpacket) for func in found]


@bank.right("name-from-the-text")
def count_syncs(fn):
    names = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(".".join(str(func).split(".")[:2]))
            return func(*args, **(kwargs or {}))

    mode = Mode()
    mode.__enter__()
    try:
        fn()
    finally:
        mode.__exit__(None, None, None)
    return [name for name in names if name in ("aten._local_scalar_dense", "aten.nonzero")]


bank.wrong(
    "swallows-runtime-errors",
    "You catch a RuntimeError of fn, and say nothing. An error of fn is the caller's to hear of, whatever its type.",
    change={"fn()": "try:\n    fn()\nexcept RuntimeError:\n    pass"},
)


bank.survives(
    {
        "('aten._local_scalar_dense', 'aten.nonzero') -> ('aten.nonzero', 'aten._local_scalar_dense')": "Names are looked up in any order.",
    }
)

bank.wrong(
    "one-overload-each",
    "You compare with one overload of each operation: of `nonzero` there is another one, which runs where `out=` is given. Compare `func.overloadpacket`.",
    change={
        "if name in waits:": "if func in (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default):"
    },
)
