"""Answers to `save_best`: wrong ones that learners really give, and right ones that must pass."""

import copy
import io

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("save_best")


bank.wrong(
    "aliases-live-weights",
    "Your snapshot holds the module's own tensors, as `state_dict()` gives them: training changes them.",
    change={"{name: value.clone() for name, value in module.state_dict().items()}": "module.state_dict()"},
)


bank.wrong(
    "detach-as-copy",
    "`detach` gives another tensor, but in the same memory: your snapshot changes with the module. Use `clone`.",
    change={
        "snapshot = {name: value.clone() for name, value in module.state_dict().items()}": "snapshot = {name: value.clone() for name, value in module.named_buffers()}\nsnapshot |= {name: value.detach() for name, value in module.named_parameters()}"
    },
)


bank.wrong(
    "parameters-only",
    "You save the parameters and forget the buffers, such as the running mean of a batch norm.",
    change={
        "value.clone()": "value.detach().clone()",
        "module.state_dict().items()": "module.named_parameters()",
    },
)


bank.wrong(
    "higher-is-better",
    "You keep the higher loss. The lower one is better.",
    change={'loss < best["loss"]': 'loss > best["loss"]'},
)


bank.wrong(
    "takes-a-tie",
    "You take an equal loss for a better one. Only a lower loss replaces `best`.",
    also=("lower-or-equal",),
    change={'not loss < best["loss"]': 'loss > best["loss"]'},
)


bank.wrong(
    "updates-best-in-place",
    "You write the new record into `best`. Whoever holds the old one loses it: return a new dict.",
    change={
        'return {"loss": loss, "state": snapshot}': "best = {} if best is None else best\nbest.update(loss=loss, state=snapshot)\nreturn best"
    },
)


bank.told(
    "returns-a-copy-of-best",
    "best_itself",
    change={"return best": "return dict(best)"},
)


bank.wrong(
    "fails-without-best",
    "At the first call `best` is None, and None has no loss. Ask for that first.",
    change={'best is not None and not loss < best["loss"]': 'not loss < best["loss"]'},
)


bank.wrong(
    "zero-is-nothing",
    "A best loss of 0.0 counts as false in Python, and you take it for none. Compare with None.",
    also=("infinity-before-the-first",),
    change={'best is not None and not loss < best["loss"]': 'not loss < ((best and best["loss"]) or math.inf)'},
)


bank.wrong(
    "always-saves",
    "You save each time, whatever the loss. Only a lower loss replaces `best`.",
    change={'if best is not None and not loss < best["loss"]:\n    return best': ""},
)


bank.wrong(
    "saves-the-module",
    "Your snapshot is a whole module. What load_state_dict takes is a dict of names and tensors.",
    change={"{name: value.clone() for name, value in module.state_dict().items()}": "copy.deepcopy(module)"},
)


bank.wrong(
    "leaves-eval-mode",
    "You put the module into eval mode on the way, and leave it there. Saving needs no mode.",
    change={'return {"loss": loss, "state": snapshot}': 'module.eval()\nreturn {"loss": loss, "state": snapshot}'},
)


bank.wrong(
    "nan-overwrites",
    "A loss of nan takes the place of the best one: every comparison with nan is False. Ask whether the loss is lower.",
    change={'not loss < best["loss"]': 'loss >= best["loss"]'},
)


bank.wrong(
    "empty-snapshot",
    "Your snapshot is empty. A copy of every tensor in the state_dict is asked for.",
    change={"{name: value.clone() for name, value in module.state_dict().items()}": "{}"},
)


bank.wrong(
    "lower-or-equal",
    "An equal loss takes the place of `best`. Only a lower one should: compare with `<`.",
    change={'loss < best["loss"]': 'loss <= best["loss"]'},
)


bank.wrong(
    "clones-with-a-graph",
    "You clone the parameters themselves, and each clone keeps a graph that leads back to the module. The tensors of "
    "state_dict() do not: clone those.",
    change={"module.state_dict().items()": "(dict(module.named_parameters()) | dict(module.named_buffers())).items()"},
)


bank.told(
    "one-store-for-all",
    "best",
    change={
        "save_best(module, best, loss)": "save_best(module, best, loss, store={})",
        "value.clone()": "store.setdefault((name, value.shape), torch.empty_like(value)).copy_(value)",
    },
)


@bank.right("deepcopy")
def save_best(module, best, loss):
    import copy

    if best is None or loss < best["loss"]:
        return dict(loss=loss, state=copy.deepcopy(module.state_dict()))
    return best


@bank.right("deep-copy")
def save_best(module, best, loss):
    if best is None or loss < best["loss"]:
        return {"state": copy.deepcopy(module.state_dict()), "loss": loss}
    return best


@bank.right("state-of-a-copy")
def save_best(module, best, loss):
    better = best is None or loss < best["loss"]
    return dict(loss=loss, state=copy.deepcopy(module).state_dict()) if better else best


@bank.right("filled-one-by-one")
def save_best(module, best, loss):
    if best is not None and not loss < best["loss"]:
        return best
    state = module.state_dict()
    for name in list(state):
        kept = torch.empty_like(state[name])
        kept.copy_(state[name])
        state[name] = kept
    return {"loss": loss, "state": state}


bank.wrong(
    "infinity-before-the-first",
    "You do not save a first loss of inf: it is not lower than what you begin with. At the first call any loss is saved.",
    slip=True,
    change={'best is not None and not loss < best["loss"]': 'not loss < (math.inf if best is None else best["loss"])'},
)


@bank.right("through-a-file-in-memory")
def save_best(module, best, loss):
    if best and not loss < best["loss"]:
        return best
    memory = io.BytesIO()
    torch.save(module.state_dict(), memory)
    memory.seek(0)
    return {"loss": loss, "state": torch.load(memory)}


bank.wrong(
    "begins-at-one",
    "You begin with a loss of 1.0 as if it were the best so far. At the first call any loss is saved, however high.",
    slip=True,
    change={
        'if best is not None and not loss < best["loss"]': 'best = {"loss": 1.0, "state": None} if best is None else best\nif not loss < best["loss"]'
    },
)


bank.wrong(
    "wants-a-margin",
    "A loss that is lower by very little is not taken: you ask for a margin, or round. Any lower loss is better.",
    change={'best["loss"]': 'best["loss"] - 1e-4'},
)


bank.wrong(
    "begins-with-an-empty-record",
    "Without a `best` you begin with a record of your own, whose loss is inf. A first loss of inf is not lower, and what you "
    "return is that record, without a state. At the first call any loss is saved.",
    slip=True,
    change={
        'if best is not None and not loss < best["loss"]': 'best = {"loss": math.inf, "state": None} if best is None else best\nif not loss < best["loss"]'
    },
)
