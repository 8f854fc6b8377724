"""Answers to `load_partial`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("load_partial")


@bank.wrong(
    "strict-false-hides-shape",
    "`strict=False` raises an error for an unequal shape, and it does not tell every name that is missing: of a batch norm "
    "it leaves out `num_batches_tracked`. Compare names and shapes yourself.",
    also=("asks-load-state-dict",),
)
def load_partial(module, state):
    odd = module.load_state_dict(state, strict=False)
    return sorted([*odd.missing_keys, *odd.unexpected_keys])


bank.wrong(
    "copy-broadcasts",
    "You do not compare shapes: `copy_` stretches a tensor of shape (1,) to any length, and fails on others.",
    change={
        "if own[k].shape == state[k].shape:\n    own[k].copy_(state[k])\nelse:\n    bad.add(k)": "own[k].copy_(state[k])"
    },
    of="copy",
)

bank.wrong(
    "counts-numbers-only",
    "You load where the count of numbers fits. (2, 3) and (3, 2) hold as many, but in another order: compare shapes.",
    change={
        "own[name].shape == value.shape": "own[name].numel() == value.numel()",
        "fits[name] = value": "fits[name] = value.reshape(own[name].shape)",
    },
)

bank.wrong(
    "forgets-the-missing",
    "You tell the names in state that were not loaded, but not those of the module that state does not have.",
    change={"(own.keys() | state.keys())": "state.keys()"},
)

bank.wrong(
    "forgets-the-unknown",
    "You tell the names of the module that were not loaded, but not those that only state has.",
    change={"(own.keys() | state.keys())": "own.keys()"},
)

bank.wrong(
    "tells-the-loaded",
    "You return the names that were loaded. Those that were not are asked for.",
    change={"(own.keys() | state.keys()) - fits.keys()": "fits"},
)

bank.told(
    "unsorted",
    "sorted",
    change={"(own.keys() | state.keys()) - fits.keys()": "(own.keys() | state.keys()) - fits.keys(), reverse=True"},
)

bank.wrong(
    "parameters-only",
    "You load what `named_parameters()` lists. Buffers are not there, such as the running values of a batch norm, and of a "
    "tensor that stands in two places it has one name alone.",
    change={"module.state_dict()": "dict(module.named_parameters())", "own.keys()": "module.state_dict().keys()"},
)

bank.wrong(
    "takes-over-the-memory",
    "You take over the tensors of state, as `.data =` and assign=True do: the module then lives in their memory, with "
    "their dtype. Copy the numbers.",
    change={
        "module.load_state_dict(fits, strict=False)": "for name, tensor in [*module.named_parameters(), *module.named_buffers()]:\n    if name in fits:\n        tensor.data = fits[name]"
    },
)

bank.wrong(
    "assigns-new-parameters",
    "The module gets other parameters, as assign=True and a new nn.Parameter make them. Whoever holds the old "
    "ones, to train them, now holds nothing.",
    change={"fits[name] = value": "fits[name] = value.clone()", "strict=False": "strict=False, assign=True"},
)

bank.wrong(
    "all-or-nothing",
    "When something does not fit, you load nothing at all. Load the rest.",
    change={
        "module.load_state_dict(fits, strict=False)": "if fits.keys() == own.keys() == state.keys():\n    module.load_state_dict(fits)"
    },
)

bank.wrong(
    "takes-out-of-state",
    "You remove entries from the state that you were given. It belongs to the caller: work on a dict of your own.",
    change={
        "for name in state:": "for name in list(state):",
        "skipped.append(name)": "skipped.append(name)\ndel state[name]",
    },
    of="completed-state",
)

bank.wrong(
    "copy-broadcasts-where-it-can",
    "You trust `copy_` to refuse unequal shapes. It broadcasts where it can: compare the shapes yourself.",
    change={"if own[k].shape == state[k].shape:": "try:", "else:": "except RuntimeError:"},
    of="copy",
)

bank.wrong(
    "casts-in-the-state",
    "You put tensors of another dtype into the state that you were given. It belongs to the caller: cast while you "
    "copy.",
    change={"fits[name] = value": "fits[name] = state[name] = value.to(own[name].dtype)"},
)

bank.wrong(
    "clears-what-does-not-fit",
    "You set the tensors of the module to 0 for which state has nothing that fits. They keep their numbers.",
    change={"left.add(name)": "left.add(name)\nvalue.zero_()"},
    of="copy-in-place",
)

bank.wrong(
    "asks-load-state-dict",
    "You ask `load_state_dict` what is missing. A batch norm fills in its number of batches by itself, and does not say so.",
    slip=True,
    change={
        "module.load_state_dict(fits, strict=False)": "missing = module.load_state_dict(fits, strict=False).missing_keys",
        "(own.keys() | state.keys()) - fits.keys()": "{*missing, *(state.keys() - fits.keys())}",
    },
)


@bank.right("copy")
def load_partial(module, state):
    own = module.state_dict()
    bad = set(own) ^ set(state)
    with torch.no_grad():
        for k in set(own) & set(state):
            if own[k].shape == state[k].shape:
                own[k].copy_(state[k])
            else:
                bad.add(k)
    return sorted(bad)


@bank.right("copy-in-place")
def load_partial(module, state):
    left = set(state)
    with torch.no_grad():
        for name, value in module.state_dict().items():
            if name in state and state[name].size() == value.size():
                value.copy_(state[name])
                left.discard(name)
            else:
                left.add(name)
    return sorted(left)


@bank.right("completed-state")
def load_partial(module, state):
    full = {name: value.clone() for name, value in module.state_dict().items()}
    skipped = [name for name in full if name not in state]
    for name in state:
        if name in full and full[name].shape == state[name].shape:
            full[name] = state[name].clone()
        else:
            skipped.append(name)
    module.load_state_dict(full)
    skipped.sort()
    return skipped


bank.wrong(
    "names-of-parameters-and-buffers",
    "You go by the names of parameters, or of parameters and buffers. The state_dict has others: both names of a tensor that "
    "stands in two places, and none of a buffer with persistent=False.",
    change={"module.state_dict()": "dict(module.named_parameters()) | dict(module.named_buffers())"},
)

bank.wrong(
    "parameters-alone",
    "You go by the names of parameters alone. The module's buffers are then not loaded, and where state does not have them, "
    "they are not told either.",
    also=("parameters-only",),
    change={"module.state_dict()": "dict(module.named_parameters())"},
)

bank.wrong(
    "missing-keys-alone",
    "You tell what `load_state_dict` finds missing in what you load. These are names of the module: those that only state has "
    "are not among them.",
    change={
        "module.load_state_dict(fits, strict=False)": "missing = module.load_state_dict(fits, strict=False).missing_keys",
        "(own.keys() | state.keys()) - fits.keys()": "missing",
    },
)

bank.wrong(
    "unequal-shapes-untold",
    "You skip what has another shape, and do not tell it. A name that both have is not loaded either, if it does not fit.",
    change={"(own.keys() | state.keys()) - fits.keys()": "own.keys() ^ state.keys()"},
)

bank.wrong(
    "unequal-names-twice",
    "A name that both have, with unequal shapes, stands twice in your list: once for the module, once for state. It is one.",
    change={
        "(own.keys() | state.keys()) - fits.keys()": "[*(own.keys() - fits.keys()), *(state.keys() - fits.keys())]"
    },
)

bank.wrong(
    "writes-into-the-dict-alone",
    "Nothing is loaded: the module has the numbers that it had. state_dict() gives a new dict, and what you put into that, "
    "in place of a tensor, does not reach the module.",
    change={"module.load_state_dict(fits, strict=False)": "own.update(fits)"},
)


@bank.wrong(
    "ends-of-names",
    "You load an entry where a name of the module ends as its name does. The whole names have to be the same.",
)
def load_partial(module, state):
    own, fits = module.state_dict(), {}
    for name, tensor in own.items():
        for key, value in state.items():
            if name.endswith(key) and tensor.shape == value.shape:
                fits[name] = value
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys())


bank.survives(
    {
        "own.keys() | state.keys() -> state.keys() | own.keys()": "The names are sorted afterwards.",
        "own.keys() -> own": "A dict behaves like the set of its keys here.",
        "state.keys() -> state": "A dict behaves like the set of its keys here.",
    }
)
