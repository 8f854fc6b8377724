"""Answers to `load_partial`: wrong ones that learners really give, and right ones that must pass."""

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("load_partial")


@bank.wrong(
    "strict-false-hides-shape",
    "`strict=False` forgives missing and unknown names, but an unequal shape raises an error. Compare shapes yourself.",
    also=("asks-load-state-dict",),
)
def load_partial(module, state):
    odd = module.load_state_dict(state, strict=False)
    return sorted([*odd.missing_keys, *odd.unexpected_keys])


@bank.wrong(
    "copy-broadcasts",
    "You do not compare shapes: `copy_` stretches a tensor of shape (1,) to any length, and fails on others.",
)
def load_partial(module, state):
    own = module.state_dict()
    both = own.keys() & state.keys()
    with torch.no_grad():
        for name in both:
            own[name].copy_(state[name])
    return sorted((own.keys() | state.keys()) - both)


@bank.wrong(
    "counts-numbers-only",
    "You load where the count of numbers fits. (2, 3) and (3, 2) hold as many, but in another order: compare shapes.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {n: v.reshape(own[n].shape) for n, v in state.items() if n in own and own[n].numel() == v.numel()}
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "forgets-the-missing",
    "You tell the names in state that were not loaded, but not those of the module that state does not have.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(state.keys() - fits.keys())


@bank.wrong(
    "forgets-the-unknown",
    "You tell the names of the module that were not loaded, but not those that only state has.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(own.keys() - fits.keys())


@bank.wrong(
    "tells-the-loaded",
    "You return the names that were loaded. Those that were not are asked for.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(fits)


@bank.told("unsorted", "sorted")
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys(), reverse=True)


@bank.wrong(
    "parameters-only",
    "You load parameters and leave buffers out. The running values of a batch norm are part of a state as well.",
    also=("names-of-parameters-and-buffers",),
)
def load_partial(module, state):
    own = dict(module.named_parameters())
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted((module.state_dict().keys() | state.keys()) - fits.keys())


@bank.wrong(
    "takes-over-the-memory",
    "You take over the tensors of state, as `.data =` and assign=True do: the module then lives in their memory, with "
    "their dtype. Copy the numbers.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
        if name in fits:
            tensor.data = fits[name]
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "assigns-new-parameters",
    "The module gets other parameters, as assign=True and a new nn.Parameter make them. Whoever holds the old "
    "ones, to train them, now holds nothing.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {n: v.clone() for n, v in state.items() if n in own and own[n].shape == v.shape}
    module.load_state_dict(fits, strict=False, assign=True)
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "all-or-nothing",
    "When something does not fit, you load nothing at all. Load the rest.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name for name, value in state.items() if name in own and own[name].shape == value.shape}
    if fits == own.keys() == state.keys():
        module.load_state_dict(state)
        return []
    return sorted((own.keys() | state.keys()) - fits)


@bank.wrong(
    "takes-out-of-state",
    "You remove entries from the state that you were given. It belongs to the caller: work on a dict of your own.",
)
def load_partial(module, state):
    own = module.state_dict()
    names = own.keys() | state.keys()
    for name in list(state):
        if name not in own or own[name].shape != state[name].shape:
            del state[name]
    module.load_state_dict(state, strict=False)
    return sorted(names - state.keys())


@bank.wrong(
    "copy-broadcasts-where-it-can",
    "You trust `copy_` to refuse unequal shapes. It broadcasts where it can: compare the shapes yourself.",
)
def load_partial(module, state):
    own = module.state_dict()
    left = sorted(set(own) ^ set(state))
    for name in set(own) & set(state):
        try:
            own[name].copy_(state[name])
        except RuntimeError:
            left.append(name)
    return sorted(left)


@bank.wrong(
    "casts-in-the-state",
    "You put tensors of another dtype into the state that you were given. It belongs to the caller: cast while you "
    "copy.",
)
def load_partial(module, state):
    own = module.state_dict()
    for name in own.keys() & state.keys():
        state[name] = state[name].to(own[name].dtype)
    fits = {name: given for name, given in state.items() if name in own and own[name].shape == given.shape}
    module.load_state_dict(fits, strict=False)
    return sorted((own.keys() | state.keys()) - fits.keys())


@bank.wrong(
    "clears-what-does-not-fit",
    "You set the tensors of the module to 0 for which state has nothing that fits. They keep their numbers.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: given for name, given in state.items() if name in own and own[name].shape == given.shape}
    for name, tensor in own.items():
        if name in fits:
            tensor.copy_(fits[name])
        else:
            tensor.zero_()
    return sorted((own.keys() | state.keys()) - fits.keys())


bank.wrong(
    "asks-load-state-dict",
    "You ask `load_state_dict` what is missing. A batch norm fills in its number of batches by itself, and does not say so.",
    slip=True,
    change={
        "    module.load_state_dict(fits, strict=False)\n": "    missing = module.load_state_dict(fits, strict=False).missing_keys\n",
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


@bank.wrong(
    "names-of-parameters-and-buffers",
    "You go by the names of parameters, or of parameters and buffers. A tensor that stands in two places is listed there "
    "once; the state_dict has both of its names.",
)
def load_partial(module, state):
    own = dict(module.named_parameters()) | dict(module.named_buffers())
    loaded = [name for name in own if name in state and own[name].shape == state[name].shape]
    for name in loaded:
        own[name].data.copy_(state[name])
    return sorted(set(own) ^ set(state) | (set(own) & set(state)) - set(loaded))


@bank.wrong(
    "unequal-shapes-untold",
    "You skip what has another shape, and do not tell it. A name that both have is not loaded either, if it does not fit.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted(set(own) ^ set(state))


@bank.wrong(
    "unequal-names-twice",
    "A name that both have, with unequal shapes, stands twice in your list: once for the module, once for state. It is one.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    module.load_state_dict(fits, strict=False)
    return sorted([name for name in own if name not in fits] + [name for name in state if name not in fits])


@bank.wrong(
    "writes-into-the-dict-alone",
    "Nothing is loaded: the module has the numbers that it had. state_dict() gives a new dict, and what you put into that, "
    "in place of a tensor, does not reach the module.",
)
def load_partial(module, state):
    own = module.state_dict()
    fits = {name: value for name, value in state.items() if name in own and own[name].shape == value.shape}
    own.update(fits)
    return sorted((own.keys() | state.keys()) - fits.keys())


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
