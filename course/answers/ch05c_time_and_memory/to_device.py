"""Answers to `to_device`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("to_device")


bank.wrong(
    "mutates",
    "You put the moved tensors back into obj: the caller's own dict or list changes. Build a new container.",
    change={
        "new = copy.copy(obj)": "new = obj",
        "new = obj[:]": "new = obj",
    },
    of="copy-then-fill",
)


bank.wrong(
    "loses-type",
    "Every sequence comes back as a list, tuples and named tuples too. `type(obj)` says what to build.",
    change={'type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)': "moved"},
)


bank.wrong(
    "lists-only",
    "You look into lists, and nowhere else: what is in tuples and dicts stays where it was.",
    also=("one-level",),
    change={
        "if isinstance(obj, dict):\n    return type(obj)((key, to_device(value, device)) for key, value in obj.items())": "",
        "(list, tuple)": "list",
    },
)


bank.wrong(
    "no-tuples",
    "You go into lists and dicts, and not into tuples: a tuple comes back as it was, with its tensors where they were.",
    change={"(list, tuple)": "list"},
)


bank.wrong(
    "drops-non-tensors",
    "Whatever is no tensor and no container gets lost. Numbers, names and None belong to a batch too; keep them.",
    change={
        "obj.items()": "obj.items() if isinstance(value, (torch.Tensor, dict, list, tuple))",
        "[to_device(value, device) for value in obj]": "[to_device(value, device) for value in obj if isinstance(value, (torch.Tensor, dict, list, tuple))]",
        "return obj\n": "return None\n",
    },
)


bank.wrong(
    "everything-has-to",
    "You call `.to` on whatever is no container. A text or a number has no such method: ask first what it is.",
    change={
        "if isinstance(obj, torch.Tensor):\n    return obj.to(device)": "",
        "return obj\n": "return obj.to(device)\n",
    },
)


bank.wrong(
    "one-level",
    "A container further inside comes back as it is: the caller's own one, with its tensors where they were. Let the function call "
    "itself on what is inside, whatever container that is.",
    change={
        "(key, to_device(value, device))": "(key, value.to(device) if isinstance(value, torch.Tensor) else value)",
        "[to_device(value, device) for value in obj]": "[value.to(device) if isinstance(value, torch.Tensor) else value for value in obj]",
    },
)


bank.wrong(
    "named-tuple-from-one-list",
    "You give a named tuple all its values as one list; it wants them one by one, `type(obj)(*values)`.",
    change={'type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)': "type(obj)(moved)"},
)


bank.wrong(
    "named-tuple-as-tuple",
    "Named tuples come back as plain ones: `batch.label` no longer works. obj._fields tells one from the other.",
    change={
        'type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)': "tuple(moved) if isinstance(obj, tuple) else moved"
    },
)


bank.wrong(
    "sorts-the-keys",
    "You sort the keys of a dict. They are to come back in the order in which they were.",
    change={"obj.items()": "sorted(obj.items())"},
)


bank.wrong(
    "values-of-a-dict",
    "Of a dict you return a list of the values: the keys are lost.",
    change={
        "type(obj)((key, to_device(value, device)) for key, value in obj.items())": "[to_device(value, device) for value in obj.values()]"
    },
)


bank.wrong(
    "numbers-to-tensors",
    "You make tensors of numbers. Only what is a tensor is moved; anything else comes back as it is.",
    change={
        "isinstance(obj, torch.Tensor)": "isinstance(obj, (torch.Tensor, int, float))",
        "obj.to(device)": "torch.as_tensor(obj, device=device)",
    },
)


bank.wrong(
    "forgets-the-result-of-to",
    "You return the tensor that stayed where it was. `.to` moves nothing in place, it returns the moved one.",
    change={"return obj.to(device)": "obj.to(device)\nreturn obj"},
)


bank.wrong(
    "all-one-by-one",
    "You give plain tuples their values one by one, as named tuples want them. A plain tuple is made from one list.",
    change={'hasattr(obj, "_fields")': "isinstance(obj, tuple)"},
)


bank.wrong(
    "only-plain-dicts",
    "You go into plain dicts alone: an OrderedDict is of another type, and comes back as it was. isinstance(obj, dict) is "
    "true of both.",
    change={"isinstance(obj, dict)": "type(obj) is dict"},
)


bank.told(
    "made-anew",
    "tracked",
    change={"obj.to(device)": "torch.asarray(obj.detach(), device=device)"},
)


@bank.right("maps-and-makes")
def to_device(obj, device):
    def again(one):
        if isinstance(one, dict):
            new = type(one)()
            new.update(zip(one, map(again, one.values()), strict=True))
            return new
        if isinstance(one, tuple):
            return one._make(map(again, one)) if hasattr(one, "_make") else tuple(map(again, one))
        if isinstance(one, list):
            return [*map(again, one)]
        return one.to(device=device) if torch.is_tensor(one) else one

    return again(obj)


@bank.right("tree-map-too")
def to_device(batch, device):
    from torch.utils._pytree import tree_map

    return tree_map(lambda t: t.to(device) if isinstance(t, torch.Tensor) else t, batch)


@bank.right("pattern-matching")
def to_device(obj, device):
    def move(obj):
        match obj:
            case torch.Tensor():
                return obj.to(device=device)
            case dict():
                return type(obj)({key: move(value) for key, value in obj.items()})
            case tuple() if hasattr(obj, "_make"):
                return obj._make(move(value) for value in obj)
            case list() | tuple():
                return type(obj)(move(value) for value in obj)
            case _:
                return obj

    return move(obj)


@bank.right("tree-map")
def to_device(obj, device):
    def move(leaf):
        return leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf

    return torch.utils._pytree.tree_map(move, obj)


@bank.right("copy-then-fill")
def to_device(obj, device):
    def move(obj):
        if torch.is_tensor(obj):
            return obj.to(device)
        if isinstance(obj, dict):
            new = copy.copy(obj)
            for key, value in obj.items():
                new[key] = move(value)
            return new
        if isinstance(obj, list):
            new = obj[:]
            for i, value in enumerate(obj):
                new[i] = move(value)
            return new
        if isinstance(obj, tuple):
            values = move(list(obj))
            return obj.__class__(*values) if hasattr(obj, "_fields") else obj.__class__(values)
        return obj

    return move(obj)


bank.wrong(
    "plain-dicts",
    "Every dict comes back as a plain one, an OrderedDict too. `type(obj)` says what to build.",
    change={
        "type(obj)((key, to_device(value, device)) for key, value in obj.items())": "{key: to_device(value, device) for key, value in obj.items()}"
    },
)


bank.survives(
    {
        "(list, tuple) -> (tuple, list)": "isinstance takes the types in any order.",
    }
)

bank.wrong(
    "only-plain-tensors",
    "You ask for the exact type torch.Tensor. An nn.Parameter is a tensor, too, and stays behind: use `isinstance`.",
    change={"if isinstance(obj, torch.Tensor):": "if type(obj) is torch.Tensor:"},
)

bank.wrong(
    "whatever-has-to",
    "You call `.to` of whatever has it. Other things than tensors may have such a method, and are to come back as they are.",
    change={"if isinstance(obj, torch.Tensor):": 'if hasattr(obj, "to"):'},
)

bank.wrong(
    "base-is-tuple",
    "You tell a named tuple by its base class. A class made from a named tuple has another base, and is one all the same: ask for `_fields`.",
    change={'hasattr(obj, "_fields")': "type(obj).__base__ is tuple"},
)

bank.wrong(
    "into-every-sequence",
    "You go into whatever is a sequence. A range, a deque or a set is none of the containers that are named: it comes back as it is.",
    change={"if isinstance(obj, (list, tuple)):": 'if hasattr(obj, "__len__") and not isinstance(obj, str):'},
)
