"""The answer bank of chapter 5: wrong answers learners really give, and right ones that must pass.

Each entry is a whole answer and stands alone: it uses nothing but what the chapter's setup cell imports.
"""

import copy
import math
import statistics
import time

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode

from autograder.authoring.bank import AnswerBank

bank = AnswerBank("ch05_gpu_amp")


# --- pick_device --------------------------------------------------------------------------------------------


@bank.wrong(
    "pick_device",
    "hardcoded",
    'You return "cuda" whatever is there. On a machine without it, the first tensor that is moved raises an error.',
)
def pick_device(prefer=None):
    return torch.device(prefer or "cuda")


@bank.wrong(
    "pick_device",
    "returns-string",
    "You return a name. `torch.device(name)` makes a device of it, which has a `.type` and compares as one.",
)
def pick_device(prefer=None):
    if prefer is not None:
        return prefer
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


@bank.wrong(
    "pick_device",
    "no-override",
    "You never look at `prefer`. Who names a device has reasons, and gets it.",
)
def pick_device(prefer=None):
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


@bank.wrong(
    "pick_device",
    "override-only-if-there",
    "You take `prefer` only where that device is there. Asked for by name, it is to come or to fail loudly.",
)
def pick_device(prefer=None):
    if prefer == "cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device(prefer or "cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


@bank.wrong(
    "pick_device",
    "mps-first",
    "You ask for mps before cuda. Where both are there, cuda comes first.",
)
def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(prefer)
    if torch.backends.mps.is_available():
        return torch.device("mps")
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")


@bank.wrong(
    "pick_device",
    "no-mps",
    "You know cuda and the CPU. A Mac without cuda may have mps, which comes before the CPU.",
)
def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(prefer)
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


@bank.wrong(
    "pick_device",
    "no-cuda",
    "You never take cuda where torch.cuda.is_available() says that it is there. Ask this, and ask it first.",
)
def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(prefer)
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


@bank.wrong(
    "pick_device",
    "always-the-cpu",
    "Without `prefer` you return the CPU. Ask torch first whether cuda or mps is there.",
)
def pick_device(prefer=None):
    return torch.device("cpu" if prefer is None else prefer)


@bank.wrong(
    "pick_device",
    "drops-the-number",
    'You keep only the kind of device: of "cuda:1" the 1 gets lost, and with it which of several GPUs was meant.',
)
def pick_device(prefer=None):
    if prefer is not None:
        return torch.device(torch.device(prefer).type)
    if torch.cuda.is_available():
        return torch.device("cuda")
    if torch.backends.mps.is_available():
        return torch.device("mps")
    return torch.device("cpu")


@bank.right("pick_device", "one-expression")
def pick_device(prefer=None):
    found = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    return torch.device(found if prefer is None else prefer)


@bank.right("pick_device", "list-of-candidates")
def pick_device(prefer=None):
    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    names = [prefer] if prefer else [name for name, is_there in there.items() if is_there]
    return torch.device(names[0])


@bank.right("pick_device", "first-gpu")
def pick_device(prefer=None):
    if prefer:
        return torch.device(prefer)
    if torch.cuda.is_available():
        return torch.device("cuda:0")
    return torch.device("mps", 0) if torch.backends.mps.is_available() else torch.device("cpu")


# --- to_device ----------------------------------------------------------------------------------------------


@bank.wrong(
    "to_device",
    "mutates",
    "You put the moved tensors back into obj: the caller's own dict or list changes. Build a new container.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, dict):
            for key in obj:
                obj[key] = move(obj[key])
            return obj
        if isinstance(obj, list):
            for i in range(len(obj)):
                obj[i] = move(obj[i])
            return obj
        if isinstance(obj, tuple):
            moved = [move(value) for value in obj]
            return type(obj)(*moved) if hasattr(obj, "_fields") else tuple(moved)
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "loses-type",
    "Every sequence comes back as a list, tuples and named tuples too. `type(obj)` says what to build.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items()}
        if isinstance(obj, (list, tuple)):
            return [move(value) for value in obj]
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "lists-only",
    "You look into lists, and nowhere else: what is in tuples and dicts stays where it was.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, list):
            return [move(value) for value in obj]
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "drops-non-tensors",
    "Whatever is no tensor and no container gets lost. Numbers, names and None belong to a batch too; keep them.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        wanted = (torch.Tensor, dict, list, tuple)
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items() if isinstance(value, wanted)}
        if isinstance(obj, (list, tuple)):
            moved = [move(value) for value in obj if isinstance(value, wanted)]
            return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
        return None

    return move(obj)


@bank.wrong(
    "to_device",
    "everything-has-to",
    "You call `.to` on whatever is no container. A text or a number has no such method: ask first what it is.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items()}
        if isinstance(obj, (list, tuple)):
            moved = [move(value) for value in obj]
            return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
        return obj.to(device)

    return move(obj)


@bank.wrong(
    "to_device",
    "one-level",
    "You move the tensors of the outermost container only. Let the function call itself on what is inside.",
)
def to_device(obj, device):
    def move(value):
        return value.to(device) if isinstance(value, torch.Tensor) else value

    if isinstance(obj, dict):
        return {key: move(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        moved = [move(value) for value in obj]
        return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
    return move(obj)


@bank.wrong(
    "to_device",
    "named-tuple-from-one-list",
    "You give a named tuple all its values as one list; it wants them one by one, `type(obj)(*values)`.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items()}
        if isinstance(obj, (list, tuple)):
            return type(obj)([move(value) for value in obj])
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "named-tuple-as-tuple",
    "Named tuples come back as plain ones: `batch.label` no longer works. obj._fields tells one from the other.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items()}
        if isinstance(obj, tuple):
            return tuple(move(value) for value in obj)
        if isinstance(obj, list):
            return [move(value) for value in obj]
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "sorts-the-keys",
    "You sort the keys of a dict. They are to come back in the order in which they were.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, dict):
            return {key: move(obj[key]) for key in sorted(obj)}
        if isinstance(obj, (list, tuple)):
            moved = [move(value) for value in obj]
            return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "values-of-a-dict",
    "Of a dict you return a list of the values: the keys are lost.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            return obj.to(device)
        if isinstance(obj, dict):
            return [move(value) for value in obj.values()]
        if isinstance(obj, (list, tuple)):
            moved = [move(value) for value in obj]
            return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "numbers-to-tensors",
    "You make tensors of numbers. Only what is a tensor is moved; anything else comes back as it is.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items()}
        if isinstance(obj, (list, tuple)):
            moved = [move(value) for value in obj]
            return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
        if isinstance(obj, (torch.Tensor, int, float)):
            return torch.as_tensor(obj, device=device)
        return obj

    return move(obj)


@bank.wrong(
    "to_device",
    "forgets-the-result-of-to",
    "`.to` moves nothing in place, it returns the moved tensor. You call it, and return the one that stayed.",
)
def to_device(obj, device):
    def move(obj):
        if isinstance(obj, torch.Tensor):
            obj.to(device)
            return obj
        if isinstance(obj, dict):
            return {key: move(value) for key, value in obj.items()}
        if isinstance(obj, (list, tuple)):
            moved = [move(value) for value in obj]
            return type(obj)(*moved) if hasattr(obj, "_fields") else type(obj)(moved)
        return obj

    return move(obj)


@bank.right("to_device", "pattern-matching")
def to_device(obj, device):
    def move(obj):
        match obj:
            case torch.Tensor():
                return obj.to(device=device)
            case dict():
                return {key: move(value) for key, value in obj.items()}
            case tuple() if hasattr(obj, "_make"):
                return obj._make(move(value) for value in obj)
            case list() | tuple():
                return type(obj)(move(value) for value in obj)
            case _:
                return obj

    return move(obj)


@bank.right("to_device", "tree-map")
def to_device(obj, device):
    def move(leaf):
        return leaf.to(device) if isinstance(leaf, torch.Tensor) else leaf

    return torch.utils._pytree.tree_map(move, obj)


@bank.right("to_device", "copy-then-fill")
def to_device(obj, device):
    def move(obj):
        if hasattr(obj, "to"):
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


# --- train_step_on ------------------------------------------------------------------------------------------


@bank.wrong(
    "train_step_on",
    "batch-left-behind",
    "Your batch stays where it was, while the model is on device. Move both parts, and use what `.to` returns.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    loss = criterion(model(x_batch), y_batch)
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "targets-left-behind",
    "You move x_batch and forget y_batch: the criterion meets a prediction on device and targets elsewhere.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch.to(device)), y_batch)
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "prediction-to-the-cpu",
    "You bring the prediction back to the CPU for the loss. That is slow, and the targets may be on device already.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch.to(device)).cpu(), y_batch.cpu())
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "loss-to-the-cpu",
    "You bring the loss back to the CPU: for that the host waits until the value is there. Return it where it is.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach().cpu()


@bank.wrong(
    "train_step_on",
    "waits-for-the-loss",
    "`loss.item()` waits until the device has worked out the value, in every step. Return a tensor without a record.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.item()


@bank.wrong(
    "train_step_on",
    "looks-at-the-loss",
    "You ask for the value of the loss on the way, by an `if`, a print or item(). Python waits for it, in each step.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    if torch.isnan(loss):
        raise ValueError("the loss is nan")
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "returns-a-record",
    "You return the loss with its record: as long as somebody keeps it, so are all saved tensors of the step.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    return loss


@bank.wrong(
    "train_step_on",
    "never-clears",
    "You never clear old gradients, so those of earlier batches are added to this one's.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "clears-after-the-step",
    "You clear the gradients after the step: what was in .grad when you came still counts, and nothing is left there.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "no-step",
    "The gradients are there, but nobody calls `optimizer.step()`: the parameters stay.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "loss-after-the-step",
    "You compute the loss anew after the step. Asked for is the one from before; a second forward pass costs time too.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    x, y = x_batch.to(device), y_batch.to(device)
    optimizer.zero_grad()
    criterion(model(x), y).backward()
    optimizer.step()
    with torch.no_grad():
        return criterion(model(x), y)


@bank.wrong(
    "train_step_on",
    "targets-first",
    "You give the criterion the targets first. It takes the prediction first; most losses are not symmetric.",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(y_batch.to(device), model(x_batch.to(device)))
    loss.backward()
    optimizer.step()
    return loss.detach()


@bank.wrong(
    "train_step_on",
    "loss-in-a-list",
    "The loss comes back with shape (1,). Asked for is a scalar tensor, of shape ().",
)
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    optimizer.zero_grad()
    loss = criterion(model(x_batch.to(device)), y_batch.to(device))
    loss.backward()
    optimizer.step()
    return loss.detach().reshape(1)


@bank.right("train_step_on", "moves-the-model-too")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    model.to(device)
    x_batch, y_batch = (part.to(device, non_blocking=True) for part in (x_batch, y_batch))
    prediction = model(x_batch)
    loss = criterion(prediction, y_batch)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    return loss.detach().clone()


@bank.right("train_step_on", "torch-autograd-grad")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    target = torch.device(device)
    loss = criterion(model(x_batch.to(device=target)), y_batch.to(device=target))
    params = list(model.parameters())
    for weight, grad in zip(params, torch.autograd.grad(loss, params)):
        weight.grad = grad
    optimizer.step()
    with torch.no_grad():
        return loss + 0.0


@bank.right("train_step_on", "closure")
def train_step_on(device, model, optimizer, criterion, x_batch, y_batch):
    def closure():
        optimizer.zero_grad()
        loss = criterion(model(x_batch.to(device)), y_batch.to(device))
        loss.backward()
        return loss

    return optimizer.step(closure).detach()


# --- count_syncs --------------------------------------------------------------------------------------------


@bank.wrong(
    "count_syncs",
    "item-every-step",
    "You list each name once. An item() in each round of a loop waits in each round: list it as often as it ran.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = str(func.overloadpacket)
            if name in ("aten._local_scalar_dense", "aten.nonzero") and name not in found:
                found.append(name)
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "prints-tensor",
    "You count a print as well, by taking its place. The mode does not see it, and it is to be left out here.",
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
    "count_syncs",
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


@bank.wrong(
    "count_syncs",
    "no-nonzero",
    "You leave out nonzero. How long its result is depends on the values, so the host has to wait for them.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is torch.ops.aten._local_scalar_dense.default:
                found.append("aten._local_scalar_dense")
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "all-operations",
    "You list every operation. Most of them give the device work and go on; only those that need a value wait.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found.append(str(func.overloadpacket))
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "with-the-overload",
    "Your names end in the overload, `.default`. str(func.overloadpacket) is the name without it.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if str(func.overloadpacket) in ("aten._local_scalar_dense", "aten.nonzero"):
                found.append(str(func))
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "returns-a-count",
    "You return how many there were. Asked for is the list of their names, in order.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if str(func.overloadpacket) in ("aten._local_scalar_dense", "aten.nonzero"):
                found.append(func)
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return len(found)


@bank.wrong(
    "count_syncs",
    "drops-keywords",
    "You run each operation without its kwargs: a dtype, a limit or another option gets lost on the way.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = str(func.overloadpacket)
            if name in ("aten._local_scalar_dense", "aten.nonzero"):
                found.append(name)
            return func(*args)

    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "drops-the-result",
    "Your `__torch_dispatch__` returns nothing, so every operation in fn gives None. Hand on what func returns.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if str(func.overloadpacket) in ("aten._local_scalar_dense", "aten.nonzero"):
                found.append(str(func.overloadpacket))
            func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "calls-twice",
    "You call fn a second time. A step of training would be done twice.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            name = str(func.overloadpacket)
            if name in ("aten._local_scalar_dense", "aten.nonzero"):
                found.append(name)
            return func(*args, **(kwargs or {}))

    fn()
    with Watch():
        fn()
    return found


@bank.wrong(
    "count_syncs",
    "sorted-names",
    "You sort the names. They are to stand in the order in which the operations ran.",
)
def count_syncs(fn):
    found = []

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            found.append(str(func.overloadpacket))
            return func(*args, **(kwargs or {}))

    with Watch():
        fn()
    return sorted(name for name in found if name in ("aten._local_scalar_dense", "aten.nonzero"))


@bank.right("count_syncs", "filter-afterwards")
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


@bank.right("count_syncs", "by-overload-packet")
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


@bank.right("count_syncs", "name-from-the-text")
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


# --- bench --------------------------------------------------------------------------------------------------


@bank.wrong(
    "bench",
    "no-sync",
    "You never call sync: what you time is how long it takes to hand the work over, not to do it.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        begin = time.perf_counter()
        fn()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


@bank.wrong(
    "bench",
    "no-warmup",
    "You leave the warm-up calls out. The first calls are slower than those that follow, and are not to be timed.",
)
def bench(fn, warmup, iters, sync):
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


@bank.wrong(
    "bench",
    "mean",
    "You return the mean. One call that something else got in the way of pulls it up; the median stays.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return sum(times) / len(times)


@bank.wrong(
    "bench",
    "all-calls-at-once",
    "You time all calls together and divide by their count. That is a mean; for a median, time each call by itself.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    begin = time.perf_counter()
    for _ in range(iters):
        fn()
    sync()
    return (time.perf_counter() - begin) / iters


@bank.wrong(
    "bench",
    "sync-only-before",
    "You wait before a call, but not for the call itself: when you read the clock again, its work has hardly begun.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


@bank.wrong(
    "bench",
    "sync-only-after",
    "Before the first timed call you do not wait: the work of the warm-up is left over, and counts in its time.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


@bank.wrong(
    "bench",
    "minimum",
    "You return the shortest time. It tells what is possible, not what is usual; asked for is the median.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return min(times)


@bank.wrong(
    "bench",
    "no-middle-of-two",
    "With an even number of times you take the upper of the two in the middle. The median is their mean.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return sorted(times)[len(times) // 2]


@bank.wrong(
    "bench",
    "lower-of-two",
    "With an even number of times you take the lower of the two in the middle, as torch.median does. Take their mean.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return statistics.median_low(times)


@bank.wrong(
    "bench",
    "unsorted-middle",
    "You take the time of the call in the middle. The median is the middle of the sorted times.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return (times[len(times) // 2] + times[(len(times) - 1) // 2]) / 2


@bank.wrong(
    "bench",
    "times-the-warm-up",
    "You time the warm-up calls like all others. They come first because they are slow: call them, and forget them.",
)
def bench(fn, warmup, iters, sync):
    times = []
    for _ in range(warmup + iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


@bank.wrong(
    "bench",
    "clock-on-the-wall",
    "`time.time()` is the clock on the wall: it may be set while you measure, and is coarse. Use time.perf_counter().",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.time()
        fn()
        sync()
        times.append(time.time() - begin)
    return statistics.median(times)


@bank.wrong(
    "bench",
    "milliseconds",
    "Your result is in milliseconds. Asked for are seconds.",
)
def bench(fn, warmup, iters, sync):
    for _ in range(warmup):
        fn()
    times = []
    for _ in range(iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        times.append(1000 * (time.perf_counter() - begin))
    return statistics.median(times)


@bank.right("bench", "sorted-by-hand")
def bench(fn, warmup, iters, sync):
    def one_call():
        begin = time.perf_counter()
        fn()
        sync()
        return time.perf_counter() - begin

    [fn() for _ in range(warmup)]
    sync()
    times = sorted(one_call() for _ in range(iters))
    return (times[iters // 2] + times[(iters - 1) // 2]) / 2


@bank.right("bench", "warm-up-one-by-one")
def bench(fn, warmup, iters, sync):
    times = []
    for i in range(warmup + iters):
        sync()
        begin = time.perf_counter()
        fn()
        sync()
        end = time.perf_counter()
        if i >= warmup:
            times.append(end - begin)
    return statistics.median(times)


@bank.right("bench", "quantile-of-a-tensor")
def bench(fn, warmup, iters, sync):
    from time import perf_counter

    for _ in range(warmup):
        fn()
        sync()
    sync()
    marks = [perf_counter()]
    for _ in range(iters):
        fn()
        sync()
        marks.append(perf_counter())
    marks = torch.tensor(marks, dtype=torch.float64)
    return (marks[1:] - marks[:-1]).quantile(0.5).item()


# --- memory_plan --------------------------------------------------------------------------------------------


@bank.wrong(
    "memory_plan",
    "counts-frozen-gradients",
    "You count a gradient and an optimizer state for frozen parameters. They get neither.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters())
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "leaves-frozen-out",
    "You leave frozen parameters out altogether. They get no gradient, but they need their own memory.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": trained * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "always-four-bytes",
    "You count four bytes for each number. How many there are depends on `dtype`.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * 4,
        "gradients": trained * 4,
        "optimizer": slots * trained * 4,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "counts-buffers",
    "You count what is in state_dict: buffers too, and a shared weight under each of its names.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(t.numel() for t in twin.state_dict().values())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "adam-once",
    "You count one number for each weight for Adam. It keeps two: the mean of the gradient and that of its square.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 1}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "momentum-is-free",
    "You count nothing for momentum. It keeps a running sum of the gradients, one number for each weight.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 0, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "state-of-frozen",
    "You count optimizer state for frozen parameters too. Without a gradient there is none.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * total * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "weights-as-activations",
    "You count all that is saved, the weights among it. They are there anyway, and counted already.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "buffers-as-activations",
    "You leave the parameters out of the activations, but not the buffers: they belong to the model too.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in twin.parameters()}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "batch-in-its-own-dtype",
    "You turn the model to `dtype` and leave the batch as it is: in any other dtype than its own the two do not fit.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    weights = list(twin.parameters())
    own = {t.untyped_storage().data_ptr() for t in [*weights, *twin.buffers()]}
    saved = {}

    def note(tensor):
        if tensor.untyped_storage().data_ptr() not in own:
            saved[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage().size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = twin(batch)
    trained = sum(w.numel() for w in weights if w.requires_grad) * dtype.itemsize
    assert result is not None
    return {
        "parameters": sum(w.numel() for w in weights) * dtype.itemsize,
        "gradients": trained,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "address-of-the-view",
    "You compare `t.data_ptr()`, where a view begins. Views of one piece of memory begin in different places.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    weights = list(twin.parameters())
    own = {t.data_ptr() for t in [*weights, *twin.buffers()]}
    saved = {}

    def note(tensor):
        if tensor.data_ptr() not in own:
            saved[tensor.data_ptr()] = tensor.untyped_storage().nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
        result = twin(batch.to(dtype))
    trained = sum(w.numel() for w in weights if w.requires_grad) * dtype.itemsize
    assert result is not None
    return {
        "parameters": sum(w.numel() for w in weights) * dtype.itemsize,
        "gradients": trained,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "counts-twice",
    "What is saved twice you count twice. Each piece of memory is there once: tell them apart by data_ptr().",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = []

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved.append(memory.nbytes())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved),
    }


@bank.wrong(
    "memory_plan",
    "size-of-the-view",
    "You count the elements of the saved tensor. A view keeps the whole memory alive that it looks at.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = tensor.numel() * tensor.element_size()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "sum-of-outputs",
    "You add up what the layers return. What counts is what is saved for backward: that may be less, or more.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    saved = []
    for module in twin.modules():
        if not list(module.children()):
            module.register_forward_hook(lambda module, args, result: saved.append(result.numel()))
    twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved) * dtype.itemsize,
    }


@bank.wrong(
    "memory_plan",
    "moves-the-model",
    "You turn the model itself to `dtype`: afterwards it is another one. Plan with a copy.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = model.to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "in-train-mode",
    "You plan for train mode whatever the mode is. In eval mode a layer may save less.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype).train()
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "memory_plan",
    "clears-the-gradients",
    "You clear the gradients of the model that you were given. They are somebody's, leave them there.",
)
def memory_plan(model, batch, optimizer, dtype):
    model.zero_grad()
    twin = copy.deepcopy(model).to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    total = sum(p.numel() for p in twin.parameters())
    trained = sum(p.numel() for p in twin.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.right("memory_plan", "list-of-storages")
def memory_plan(model, batch, optimizer, dtype):
    width = torch.empty((), dtype=dtype).element_size()
    model = copy.deepcopy(model).to(dtype=dtype)
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: kept.append(t) or t, lambda t: t):
        _result = model(batch.to(dtype))
    sizes = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in kept}
    for t in [*model.parameters(), *model.buffers()]:
        sizes.pop(t.untyped_storage().data_ptr(), None)
    counts = {True: 0, False: 0}
    for weight in model.parameters():
        counts[weight.requires_grad] += weight.numel() * width
    plan = {"parameters": counts[True] + counts[False], "gradients": counts[True]}
    plan["optimizer"] = counts[True] * ["sgd", "momentum", "adam"].index(optimizer)
    plan["activations"] = sum(sizes.values())
    return plan


@bank.right("memory_plan", "a-real-step")
def memory_plan(model, batch, optimizer, dtype):
    model = copy.deepcopy(model).to(dtype)
    weights = list(model.parameters())
    kept = {}
    own = [t.untyped_storage().data_ptr() for t in weights + list(model.buffers())]

    def note(t):
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage()
        return t

    for weight in weights:
        weight.grad = None
    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        out = model(batch.to(dtype))
    out.sum().backward()
    grads = sum(w.grad.nbytes for w in weights if w.grad is not None)
    return {
        "parameters": sum(w.nbytes for w in weights),
        "gradients": grads,
        "optimizer": grads if optimizer == "momentum" else 2 * grads if optimizer == "adam" else 0,
        "activations": sum(memory.nbytes() for place, memory in kept.items() if place not in own),
    }


@bank.right("memory_plan", "functional-call")
def memory_plan(model, batch, optimizer, dtype):
    def turn(t):
        return t.detach().to(dtype, copy=True)

    first = {}  # a shared weight is turned once
    tensors = {}
    for name, t in [*model.named_parameters(remove_duplicate=False), *model.named_buffers()]:
        if id(t) not in first:
            first[id(t)] = turn(t).requires_grad_(t.requires_grad)
        tensors[name] = first[id(t)]
    own = {t.untyped_storage().data_ptr() for t in tensors.values()}
    saved = {}

    def note(t):
        if t.untyped_storage().data_ptr() not in own:
            saved[t.untyped_storage().data_ptr()] = t
        return t

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        _result = torch.func.functional_call(model, tensors, (turn(batch),))
    bytes_of = {id(p): p.numel() * dtype.itemsize for p in model.parameters()}
    trained = sum(bytes_of[id(p)] for p in model.parameters() if p.requires_grad)
    times = 0
    if optimizer != "sgd":
        times = 1 if optimizer == "momentum" else 2
    return {
        "parameters": sum(bytes_of.values()),
        "gradients": trained,
        "optimizer": times * trained,
        "activations": sum(t.untyped_storage().nbytes() for t in saved.values()),
    }


# --- master_weights -----------------------------------------------------------------------------------------


@bank.wrong(
    "master_weights",
    "both-in-bfloat16",
    "Your master is in bfloat16 too: small steps get lost in it as well. Turn it to float32 before the first step.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.clone(), grad
    for _ in range(steps):
        alone = alone - lr * grad
        master = master - lr * slope
    return alone, master


@bank.wrong(
    "master_weights",
    "float32-at-the-end",
    "You turn the master to float32 after the last step. What rounding took in each step does not come back.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.clone(), grad
    for _ in range(steps):
        alone = alone - lr * grad
        master = master - lr * slope
    return alone, master.float()


@bank.wrong(
    "master_weights",
    "alone-rounds-at-the-end",
    "You do all steps of `alone` in float32 and round once at the end. In 16 bits, each step is rounded.",
)
def master_weights(w16, grad, lr, steps):
    master, slope = w16.float(), grad.float()
    for _ in range(steps):
        master = master - lr * slope
    return master.to(w16.dtype), master


@bank.wrong(
    "master_weights",
    "step-in-bfloat16",
    "The master's step, lr times the gradient, is worked out in bfloat16. Turn the gradient to float32 as well.",
)
def master_weights(w16, grad, lr, steps):
    alone, master = w16, w16.float()
    for _ in range(steps):
        alone = alone - lr * grad
        master = master - (lr * grad).float()
    return alone, master


@bank.wrong(
    "master_weights",
    "master-from-alone",
    "In each step you make the master from the 16-bit weights anew: what it had kept of small steps is lost.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.float(), grad.float()
    for _ in range(steps):
        alone = alone - lr * grad
        master = w16 - lr * slope if steps == 1 else alone.float() - lr * slope
    return alone, master


@bank.wrong(
    "master_weights",
    "one-step",
    "You do one step, however many are asked for.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.float(), grad.float()
    return alone - lr * grad, master - lr * slope


@bank.wrong(
    "master_weights",
    "uphill",
    "You add the step. Against the gradient means minus.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.float(), grad.float()
    for _ in range(steps):
        alone = alone + lr * grad
        master = master + lr * slope
    return alone, master


@bank.wrong(
    "master_weights",
    "swapped",
    "You return the master first. The pair is (alone, master).",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.float(), grad.float()
    for _ in range(steps):
        alone = alone - lr * grad
        master = master - lr * slope
    return master, alone


@bank.wrong(
    "master_weights",
    "in-place",
    "You change w16 itself, step by step. It is to stay as it was: `w = w - ...` makes a new tensor.",
)
def master_weights(w16, grad, lr, steps):
    alone, master, slope = w16, w16.float(), grad.float()
    for _ in range(steps):
        alone -= lr * grad
        master = master - lr * slope
    return alone, master


@bank.right("master_weights", "in-place-on-copies")
def master_weights(w16, grad, lr, steps):
    alone, master = w16.clone(), w16.to(torch.float32, copy=True)
    for _ in range(steps):
        alone -= lr * grad
        master -= lr * grad.float()
    return alone, master


@bank.right("master_weights", "two-optimizers")
def master_weights(w16, grad, lr, steps):
    alone = nn.Parameter(w16.clone())
    master = nn.Parameter(w16.detach().float().clone())
    optimizer = torch.optim.SGD([alone, master], lr=lr, foreach=False)
    alone.grad, master.grad = grad.clone(), grad.float()
    for _ in range(steps):
        optimizer.step()
    return alone.detach(), master.detach()


@bank.right("master_weights", "one-loop-for-each")
def master_weights(w16, grad, lr, steps):
    def end(w, g):
        for _ in range(steps):
            w = torch.sub(w, torch.mul(g, lr))
        return w

    return tuple(end(w16.to(dtype), grad.to(dtype)) for dtype in (torch.bfloat16, torch.float32))


# --- autocast_dtypes ----------------------------------------------------------------------------------------


@bank.wrong(
    "autocast_dtypes",
    "everything-half",
    "You lower everything. Autocast lowers products; losses, weights and sums with float32 stay in float32.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    return {name: low for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "params-are-half",
    "You take the weight and its gradient for 16-bit ones. Autocast makes 16-bit copies on the way; both stay float32.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax", "weight", "grad"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "losses-half",
    "You lower the losses. They are on the list of what is kept in float32, because sums lose much in 16 bits.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax", "mse_loss", "cross_entropy"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "relu-always-low",
    "You lower relu wherever it is. It is on no list: it has the dtype of its input, and x is float32.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "relu_of_input", "softmax"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "relu-always-float32",
    "You keep relu in float32. It is on no list: it has the dtype of its input, and h is a product.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "softmax"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "sum-is-low",
    "You lower the sum. h is bfloat16 and x is float32: as in chapter 1, the wider dtype wins.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax", "add"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "softmax-as-on-cuda",
    "You keep softmax in float32, as autocast for CUDA does. On the CPU it is on no list, and follows its input.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "float16-on-the-cpu",
    "You take float16 for the CPU. That is what CUDA takes where no dtype is given; the CPU takes bfloat16.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.float16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "layers-only",
    "You lower the layer, but not `x @ x.T`. Autocast looks at operations, not at modules: a product is a product.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "relu", "softmax"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "grad-is-low",
    "You take the gradient for a 16-bit one. It comes back to the weight in the dtype of the weight.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax", "grad"}
    return {name: low if name in lowered else torch.float32 for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "names-as-text",
    "You return the names of dtypes. Return the dtypes, such as torch.bfloat16.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax"}
    return {name: str(low if name in lowered else torch.float32) for name in ops}


@bank.wrong(
    "autocast_dtypes",
    "list-not-dict",
    "You return a list. Asked for is a dict from name to dtype.",
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax"}
    return [low if name in lowered else torch.float32 for name in ops]


@bank.wrong(
    "autocast_dtypes",
    "asks-torch",
    "You let torch do it and look. That is the way to find out; here, say it beforehand by the rule.",
)
def autocast_dtypes(ops, device):
    layer, labels = nn.Linear(3, 3), torch.tensor([0, 1])
    x, target = torch.ones(2, 3), torch.ones(2, 3)
    with torch.autocast(device):
        h = layer(x)
        made = {
            "linear": h,
            "relu": torch.relu(h),
            "relu_of_input": torch.relu(x),
            "matmul": x @ x.T,
            "add": h + x,
            "softmax": torch.softmax(h, dim=1),
            "mse_loss": F.mse_loss(h, target),
            "cross_entropy": F.cross_entropy(h, labels),
        }
    made["cross_entropy"].backward()
    made |= {"weight": layer.weight, "grad": layer.weight.grad}
    return {name: made[name].dtype for name in ops}


@bank.right("autocast_dtypes", "kept-in-float32")
def autocast_dtypes(ops, device):
    kept = ["relu_of_input", "add", "mse_loss", "cross_entropy", "weight", "grad"]
    kept += ["softmax"] if device == "cuda" else []
    low = torch.float16 if device == "cuda" else torch.bfloat16
    dtypes = {}
    for name in ops:
        dtypes[name] = torch.float32 if name in kept else low
    return dtypes


@bank.right("autocast_dtypes", "table")
def autocast_dtypes(ops, device):
    high, low = torch.float32, torch.bfloat16
    table = {
        "linear": low,
        "matmul": low,
        "relu": low,
        "softmax": low,
        "add": torch.promote_types(low, high),
        "relu_of_input": high,
        "mse_loss": high,
        "cross_entropy": high,
        "weight": high,
        "grad": high,
    }
    return {name: table[name] for name in ops}


@bank.right("autocast_dtypes", "follows-inputs")
def autocast_dtypes(ops, device):
    x = weight = torch.float32
    h = torch.bfloat16 if device == "cpu" else torch.float16

    def rule(name):
        match name:
            case "linear" | "matmul":
                return h
            case "relu" | "softmax":
                return h
            case "relu_of_input":
                return x
            case "add":
                return torch.promote_types(h, x)
            case "weight" | "grad":
                return weight
        return torch.float32

    return dict(zip(ops, map(rule, ops)))


# --- mixed_region -------------------------------------------------------------------------------------------


@bank.wrong(
    "mixed_region",
    "disabled-without-float",
    "You switch autocast off, but what comes in may be 16-bit already: the block then meets it with float32 weights.",
)
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x)

    return safe


@bank.wrong(
    "mixed_region",
    "float-without-disabling",
    "You turn x to float32, but autocast is still on: it lowers the products in the block again.",
)
def mixed_region(block):
    def safe(x):
        return block(x.float())

    return safe


@bank.wrong(
    "mixed_region",
    "float-afterwards",
    "You turn the result to float32. The block has worked in 16 bits by then, and the digits are lost.",
)
def mixed_region(block):
    def safe(x):
        return block(x).float()

    return safe


@bank.wrong(
    "mixed_region",
    "wrong-device-type",
    'You switch autocast off for "cuda", wherever x is. On the CPU it stays on: take the device type of x.',
)
def mixed_region(block):
    def safe(x):
        with torch.autocast("cuda", enabled=False):
            return block(x.float())

    return safe


@bank.wrong(
    "mixed_region",
    "back-to-the-input-dtype",
    "You turn the result back to the dtype of x. It is to come back as the block returns it.",
)
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x.float()).to(x.dtype)

    return safe


@bank.wrong(
    "mixed_region",
    "float-of-the-result",
    "You turn the result to float32, whatever it is: indices and float64 numbers too. Return it as it is.",
)
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x.float()).float()

    return safe


@bank.wrong(
    "mixed_region",
    "cuts-the-record",
    "You detach x on its way in: no gradient arrives behind the region.",
)
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x.detach().float())

    return safe


@bank.wrong(
    "mixed_region",
    "no-grad",
    "Under no_grad nothing is recorded: no gradient comes through your region, neither to x nor to the weights.",
)
def mixed_region(block):
    def safe(x):
        with torch.no_grad(), torch.autocast(x.device.type, enabled=False):
            return block(x.float())

    return safe


@bank.wrong(
    "mixed_region",
    "disabled-too-early",
    "You switch autocast off while safe is made, not while it runs. By then the block is over, and autocast on again.",
)
def mixed_region(block):
    with torch.autocast("cpu", enabled=False):

        def safe(x):
            x = x.float()
            return block(x)

        return safe


@bank.wrong(
    "mixed_region",
    "off-for-good",
    "You switch autocast off and never on again: what follows your region runs in float32 too.",
)
def mixed_region(block):
    def safe(x):
        torch.set_autocast_enabled(x.device.type, False)
        return block(x.float())

    return safe


@bank.wrong(
    "mixed_region",
    "calls-twice",
    "You call the block twice. Once is enough, and dropout or batch norm notice the difference.",
)
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            block(x.float())
            return block(x.float())

    return safe


@bank.wrong(
    "mixed_region",
    "double",
    "You work in float64. The block has float32 weights, and float32 is what is asked for.",
)
def mixed_region(block):
    def safe(x):
        with torch.autocast(x.device.type, enabled=False):
            return block(x.double())

    return safe


@bank.wrong(
    "mixed_region",
    "calls-at-once",
    "You return the result for some x of your own, or the block itself. Return a function that calls the block later.",
)
def mixed_region(block):
    with torch.autocast("cpu", enabled=False):
        return block(torch.ones(1, 3))


@bank.right("mixed_region", "decorated")
def mixed_region(block):
    def run(x):
        return block(x.to(torch.float32))

    def safe(x):
        off = torch.amp.autocast(device_type=x.device.type, enabled=False)
        return off(run)(x)

    return safe


@bank.right("mixed_region", "lambda-and-context")
def mixed_region(block):
    class Region:
        def __call__(self, x):
            x = x if x.dtype == torch.float32 else x.float()
            with torch.autocast(device_type=x.device.type, enabled=False):
                result = block(x)
            return result

    return Region()


@bank.right("mixed_region", "float32-autocast-module")
def mixed_region(block):
    class Region(nn.Module):
        def forward(self, x):
            before = torch.is_autocast_enabled(x.device.type)
            torch.set_autocast_enabled(x.device.type, False)
            try:
                return block(x.type(torch.float32))
            finally:
                torch.set_autocast_enabled(x.device.type, before)

    return Region()


# --- underflow_report ---------------------------------------------------------------------------------------


@bank.wrong(
    "underflow_report",
    "wrong-dtype-grads",
    "You look for zeros in the float32 gradients, where hardly any are. Turn them to float16 first.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat == 0) & there
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "counts-none",
    "You put zeros in for a missing gradient, and count them all as lost. A parameter without a part is left out.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        missing = [torch.full((p.numel(),), 1e-30) for p in params]
        flat = torch.cat([m if g is None else g.flatten() for g, m in zip(grads, missing)])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "fails-on-none",
    "A parameter that the loss does not depend on has no gradient. `allow_unused=True` gives None for it; skip it.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "counts-old-zeros",
    "You count what is 0 in float16, also where it was 0 in float32 already. Those were never lost.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = flat.half() == 0
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "divides-by-all",
    "You divide by all entries. The share is of those that were not 0 in float32.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = lost.sum().item() / flat.numel() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "no-scale",
    "Your shares do not depend on the scale. It must come in before float16: multiply the loss by it.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "mean-of-shares",
    "You take the mean of the shares of the parameters. A small parameter then counts as much as a large one.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        some = [g[g != 0] for g in grads if g is not None and (g != 0).any()]
        shares = [(g.half() == 0).float().mean().item() for g in some]
        report[scale] = sum(shares) / len(shares) if shares else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "counts-instead-of-shares",
    "You return how many entries are lost. Asked for is their share of those that were not 0.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = float(lost.sum().item())
    return report


@bank.wrong(
    "underflow_report",
    "divides-by-zero",
    "Where every gradient is 0 you divide by 0. The share is 0.0 there.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = lost.sum().item() / there.sum().item()
    return report


@bank.wrong(
    "underflow_report",
    "smallest-normal",
    "You count what is below the smallest normal number. Float16 goes on below it, with fewer digits.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.abs() < torch.finfo(torch.float16).tiny) & there
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "counts-inf",
    "You count what becomes inf too. That is an overflow, at the other end; asked for is what becomes 0.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        there = [g[g != 0] for g in grads if g is not None]
        lost = sum(((g.half() == 0) | g.half().isinf()).sum().item() for g in there)
        counted = sum(g.numel() for g in there)
        report[scale] = lost / counted if counted else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "loss-in-float16",
    "You turn the loss to float16 before you take the gradients: with a large scale they become inf. Keep it float32.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss.half(), params, allow_unused=True)
        there = [g[g != 0] for g in grads if g is not None]
        lost = sum((g.half() == 0).sum().item() for g in there)
        counted = sum(g.numel() for g in there)
        report[scale] = lost / counted if counted else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "leaves-grad-behind",
    "You call backward, and what it adds stays in .grad. torch.autograd.grad leaves .grad alone.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        for p in params:
            p.grad = None
        (scale * loss).backward()
        grads = [p.grad for p in params]
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[scale] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.wrong(
    "underflow_report",
    "keys-as-text",
    "Your keys are texts. They are to be the scales as they are given.",
)
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        grads = torch.autograd.grad(scale * loss, params, allow_unused=True)
        flat = torch.cat([g.flatten() for g in grads if g is not None])
        there = flat != 0
        lost = (flat.half() == 0) & there
        report[str(scale)] = lost.sum().item() / there.sum().item() if there.any() else 0.0
    return report


@bank.right("underflow_report", "one-backward")
def underflow_report(loss_fn, scales):
    loss, params = loss_fn()
    grads = [g for g in torch.autograd.grad(loss, params, allow_unused=True) if g is not None]
    alive = torch.cat([g.reshape(-1) for g in grads])
    alive = alive[alive != 0]

    def share(scale):
        return ((scale * alive).half() == 0).double().mean().item() if len(alive) else 0.0

    return {scale: share(scale) for scale in scales}


@bank.right("underflow_report", "counts-in-a-loop")
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        lost = counted = 0
        for g in torch.autograd.grad(loss * scale, params, allow_unused=True):
            if g is None:
                continue
            before = int(g.count_nonzero())
            counted += before
            lost += before - int(g.to(torch.float16).count_nonzero())
        report[scale] = lost / max(counted, 1)
    return report


@bank.right("underflow_report", "backward-and-put-back")
def underflow_report(loss_fn, scales):
    report = {}
    for scale in scales:
        loss, params = loss_fn()
        olds = [p.grad for p in params]
        for p in params:
            p.grad = None
        (loss * scale).backward()
        values = [v for p in params if p.grad is not None for v in p.grad.flatten().tolist() if v != 0]
        for p, old in zip(params, olds):
            p.grad = old
        halves = torch.tensor(values, dtype=torch.float16)
        report[scale] = (halves == 0).sum().item() / len(values) if values else 0.0
    return report


# --- LossScaler ---------------------------------------------------------------------------------------------


@bank.wrong(
    "LossScaler",
    "steps-on-inf",
    "You step whatever the gradients are. One inf or nan among them, and the parameters are lost.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "grows-every-step",
    "Your factor grows after each clean step. It is to grow when there were growth_interval of them in a row.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps >= 1:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "no-tracker-reset",
    "After an overflow your count of clean steps goes on. It is to begin again at 0.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "no-reset-after-growth",
    "When the factor has grown, your count of clean steps goes on. It is to begin again at 0.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth


@bank.wrong(
    "LossScaler",
    "unscale-twice",
    "Your step divides the gradients again when unscale_ has done it already: they are then too short by a factor.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "step-never-unscales",
    "Your step relies on unscale_ having been called. Without it, the gradients are still multiplied by factor.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is not False:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "never-forgets",
    "Your update does not forget that the gradients were divided: from the second round on, nobody divides them.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite = self.finite
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "only-inf",
    "You look for inf alone. nan is not finite either; torch.isfinite knows both.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(not torch.isinf(g).any() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "only-nan",
    "You look for nan alone. inf is what an overflow leaves; torch.isfinite knows both.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(not torch.isnan(g).any() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "first-group-only",
    "You look at the first group of parameters only. The optimizer may hold several: go through param_groups.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = optimizer.param_groups[0]["params"]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "grad-is-none",
    "A parameter that had no part in the loss has None in .grad, and None cannot be divided. Leave it out.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        self.clean_steps = self.clean_steps + 1 if finite else 0
        if not finite:
            self.factor *= self.backoff
        elif self.clean_steps == self.growth_interval:
            self.factor, self.clean_steps = self.factor * self.growth, 0


@bank.wrong(
    "LossScaler",
    "last-gradient-decides",
    "In your loop the last gradient decides whether all are finite. One that is not must be enough.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        for g in grads:
            self.finite = bool(torch.isfinite(g).all())
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "one-step-late",
    "Your factor grows one clean step too late: when the count reaches growth_interval, not when it is beyond.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps > self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "static-backs-off",
    "With growth_interval=None your factor shrinks after an overflow. A static scaler leaves it alone.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "divides-by-backoff",
    "After an overflow you divide by backoff, which is below 1: your factor grows. Multiply by it.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        self.clean_steps = self.clean_steps + 1 if finite else 0
        if not finite:
            self.factor /= self.backoff
        elif self.clean_steps == self.growth_interval:
            self.factor, self.clean_steps = self.factor * self.growth, 0


@bank.wrong(
    "LossScaler",
    "static-counts",
    "With growth_interval=None you count the clean steps all the same. A static scaler leaves clean_steps at 0.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        self.clean_steps = self.clean_steps + 1 if finite else 0
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
        elif self.clean_steps == self.growth_interval:
            self.factor, self.clean_steps = self.factor * self.growth, 0


@bank.wrong(
    "LossScaler",
    "multiplies-again",
    "You multiply the gradients by factor. The loss was multiplied; the gradients must be divided.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.mul_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "not-in-place",
    "You divide, and throw the result away: .grad stays as it was. Divide in place.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.wrong(
    "LossScaler",
    "detached-loss",
    "Your scaled loss has no record: backward cannot go through it.",
)
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor, self.growth, self.backoff = factor, growth, backoff
        self.growth_interval, self.clean_steps = growth_interval, 0
        self.finite = None

    def scale(self, loss):
        return loss.detach() * self.factor

    def unscale_(self, optimizer):
        params = [p for group in optimizer.param_groups for p in group["params"]]
        grads = [p.grad for p in params if p.grad is not None]
        self.finite = all(torch.isfinite(g).all() for g in grads)
        for g in grads:
            g.div_(self.factor)

    def step(self, optimizer):
        if self.finite is None:
            self.unscale_(optimizer)
        if self.finite:
            optimizer.step()

    def update(self):
        finite, self.finite = self.finite, None
        if self.growth_interval is None:
            return
        if not finite:
            self.factor *= self.backoff
            self.clean_steps = 0
            return
        self.clean_steps += 1
        if self.clean_steps == self.growth_interval:
            self.factor *= self.growth
            self.clean_steps = 0


@bank.right("LossScaler", "flags")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor = factor
        self.growth = growth
        self.backoff = backoff
        self.growth_interval = growth_interval
        self.clean_steps = 0
        self.unscaled = False
        self.overflow = False

    def scale(self, loss):
        return self.factor * loss

    def unscale_(self, optimizer):
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.grad /= self.factor
                if not torch.isfinite(p.grad).all():
                    self.overflow = True
        self.unscaled = True

    def step(self, optimizer):
        if not self.unscaled:
            self.unscale_(optimizer)
        if not self.overflow:
            optimizer.step()

    def update(self):
        if self.growth_interval is not None:
            if self.overflow:
                self.factor, self.clean_steps = self.factor * self.backoff, 0
            else:
                self.clean_steps = (self.clean_steps + 1) % self.growth_interval
                self.factor *= self.growth if self.clean_steps == 0 else 1.0
        self.unscaled = self.overflow = False


@bank.right("LossScaler", "on-top-of-torch")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.static = growth_interval is None
        self.scaler = torch.amp.GradScaler(
            "cpu",
            init_scale=factor,
            growth_factor=growth,
            backoff_factor=backoff,
            growth_interval=growth_interval or 1,
        )

    @property
    def factor(self):
        return self.scaler.get_scale()

    @property
    def clean_steps(self):
        return 0 if self.static else self.scaler.state_dict()["_growth_tracker"]

    def scale(self, loss):
        return self.scaler.scale(loss)

    def unscale_(self, optimizer):
        self.scaler.scale(torch.zeros(()))
        self.scaler.unscale_(optimizer)

    def step(self, optimizer):
        self.scaler.step(optimizer)

    def update(self):
        self.scaler.update(self.factor if self.static else None)


@bank.right("LossScaler", "tensors-and-a-norm")
class LossScaler:
    def __init__(self, factor=65536.0, growth=2.0, backoff=0.5, growth_interval=None):
        self.factor = torch.tensor(float(factor))
        self.rates = growth, backoff
        self.growth_interval = growth_interval
        self.clean_steps = 0
        self.norm = None

    def scale(self, loss):
        return loss * self.factor.item()

    def unscale_(self, optimizer):
        grads = [p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None]
        torch._foreach_mul_(grads, 1.0 / self.factor.item())
        self.norm = sum(g.abs().sum() for g in grads)

    def step(self, optimizer):
        if self.norm is None:
            self.unscale_(optimizer)
        if math.isfinite(self.norm):
            optimizer.step()

    def update(self):
        clean, self.norm = math.isfinite(self.norm), None
        if self.growth_interval:
            growth, backoff = self.rates
            self.clean_steps = self.clean_steps + 1 if clean else 0
            rate = 1.0 if clean else backoff
            if self.clean_steps == self.growth_interval:
                rate, self.clean_steps = growth, 0
            self.factor = self.factor * rate


# --- amp_train_step -----------------------------------------------------------------------------------------


@bank.wrong(
    "amp_train_step",
    "clip-before-unscale",
    "You clip while the gradients are still `scale` times too long: what is left is far shorter than max_norm.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "step-without-scaler",
    "You call `optimizer.step()` yourself. The scaler would skip the step after an overflow; nobody does now.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    optimizer.step()
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "no-update",
    "You never call `scaler.update()`: the scale stays as it is after an overflow, and never grows.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "unscale-twice",
    "You call unscale_ twice in one step. The second call would divide again, so torch refuses it.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "backward-under-autocast",
    "Your backward runs under autocast too. It takes the dtypes of the forward pass by itself; keep it outside.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "everything-under-autocast",
    "All of your step stands under autocast. Model and loss belong there; backward and what follows do not.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), max_norm)
        scaler.step(optimizer)
        scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "wrong-device-scaler",
    'You make a scaler for "cuda". Where there is no CUDA it does nothing at all; use the one that is given.',
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    scaler = torch.amp.GradScaler("cuda", enabled=x.is_cuda)
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "scaler-of-its-own",
    "You make a new scaler in each step: what the given one has learned of overflows is never used.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    scaler = torch.amp.GradScaler(device_type)
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "update-twice",
    "You update the scaler twice. Once in each step: the second call finds nothing to go by.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "no-update-after-overflow",
    "After an overflow you leave the update out, and then above all it is needed: it halves the factor.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    if torch.isfinite(norm):
        scaler.step(optimizer)
        scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "update-before-the-step",
    "You update before the step. The scaler forgets that it has unscaled, and step divides the gradients once more.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.update()
    scaler.step(optimizer)
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "no-clipping",
    "You never clip: max_norm is not used.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "clips-after-the-step",
    "You clip after the step: the parameters have been moved by then, with gradients of any length.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "clip-by-value",
    "You limit each entry by itself. Clipping to a norm shortens all gradients together, by one factor.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_value_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "forward-outside",
    "The model runs outside of autocast, so in float32. What is to be lowered must stand in the block.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    prediction = model(x)
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(prediction, y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "model-in-16-bits",
    "You turn the model itself to 16 bits. Its weights are to stay in float32; autocast makes 16-bit copies of them.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    model.to(dtype)
    loss = F.mse_loss(model(x.to(dtype)), y.to(dtype))
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "ignores-dtype",
    "You leave dtype out: autocast takes its usual one, whatever was asked for.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "no-scaling",
    "You call backward on the loss itself. unscale_ then divides gradients that were never multiplied.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(torch.zeros(()))
    loss.backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "never-clears",
    "You never clear old gradients, so those of earlier batches are added to this one's.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "clears-after-backward",
    "You clear the gradients between backward and the step: nothing is left to step with.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    optimizer.zero_grad(set_to_none=False)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "returns-scaled-loss",
    "You return the scaled loss. It is `scale` times too large to be looked at.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    loss = scaler.scale(loss)
    loss.backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "returns-a-record",
    "You return the loss with its record: as long as somebody keeps it, so are the saved tensors of the step.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss


@bank.wrong(
    "amp_train_step",
    "returns-a-float",
    "You return a float. Asked for is a scalar tensor: item() would wait for the device in each step.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.item()


@bank.wrong(
    "amp_train_step",
    "sum-of-squares",
    "Your loss is the sum of the squared errors. Asked for is their mean.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = F.mse_loss(model(x), y, reduction="sum")
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.wrong(
    "amp_train_step",
    "loss-in-16-bits",
    "You turn targets and loss to 16 bits. Losses stay in float32, where small differences are still told apart.",
)
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    with torch.autocast(device_type, dtype=dtype):
        loss = ((model(x) - y.to(dtype)) ** 2).to(dtype).mean().to(dtype)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach()


@bank.right("amp_train_step", "loss-outside-in-float32")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    with torch.amp.autocast(device_type=device_type, dtype=dtype):
        prediction = model(x)
        loss = ((prediction.float() - y.float()) ** 2).mean()
    optimizer.zero_grad(set_to_none=True)
    larger = scaler.scale(loss)
    larger.backward()
    scaler.unscale_(optimizer)
    params = [p for group in optimizer.param_groups for p in group["params"]]
    torch.nn.utils.clip_grad_norm_(params, max_norm=max_norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.detach().clone()


@bank.right("amp_train_step", "clips-by-hand")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    def forward():
        with torch.autocast(device_type, dtype=dtype):
            return nn.MSELoss()(model(x), y)

    for p in model.parameters():
        p.grad = None
    loss = forward()
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    grads = [p.grad for p in model.parameters() if p.grad is not None]
    norm = torch.cat([g.flatten() for g in grads]).norm()
    for g in grads:
        g.mul_((max_norm / (norm + 1e-6)).clamp(max=1.0))
    scaler.step(optimizer)
    scaler.update()
    with torch.no_grad():
        return loss * 1.0


@bank.right("amp_train_step", "scale-into-backward")
def amp_train_step(model, optimizer, scaler, x, y, *, device_type, dtype, max_norm):
    optimizer.zero_grad()
    region = torch.autocast(device_type, dtype)
    with region:
        out = model(x)
        loss = F.mse_loss(out, y, reduction="mean")
    loss.backward(gradient=scaler.scale(torch.ones_like(loss)))
    scaler.unscale_(optimizer)
    norm = nn.utils.get_total_norm([p.grad for p in model.parameters()])
    nn.utils.clip_grads_with_norm_(model.parameters(), max_norm, norm)
    scaler.step(optimizer)
    scaler.update()
    return loss.data


# --- make_agnostic ------------------------------------------------------------------------------------------


@bank.wrong(
    "make_agnostic",
    "untouched",
    "All five are still as they came. Begin with AddPlaces: on which device are the numbers that its forward makes?",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1])
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            self.mask = torch.zeros(width)
            self.mask[columns] = 1.0

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = [nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return optimizer

    def epoch(model, optimizer, batches, device):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "places-on-the-cpu",
    "The numbers that AddPlaces makes in forward are on the CPU, wherever x is. Make them where x is.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1])
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "mask-is-no-buffer",
    "The mask of KeepColumns is a plain attribute: `.to` does not know it, and leaves it behind.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            self.mask = torch.zeros(width)
            self.mask[columns] = 1.0

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "layers-in-a-list",
    "The layers of Stack stand in a plain list. The module does not know them: they neither move nor learn.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = [nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "optimizer-first",
    "`start` makes the optimizer before the head is replaced: it holds the old head, and not the new one.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return optimizer

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "targets-left-behind",
    "`epoch` moves x and forgets y: on another device, the loss meets targets that are still on the CPU.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y)
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "item-in-the-loop",
    "`epoch` looks at each loss, by item() or a print, and so waits for the device in each step. Add up tensors.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "item-at-the-end",
    "`epoch` returns a float: to make one, it waits for the device. Return the tensor; who prints it may wait.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return (total / len(batches)).item()

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "epoch-as-it-came",
    "`epoch` is as it came: it has two faults. One batch part stays behind, and each step waits for a value.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = 0.0
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y)
            loss.backward()
            optimizer.step()
            total += loss.item()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "mask-is-learned",
    "You made the mask a parameter: now it is learned, and after a step it masks no longer. A buffer moves, and stays.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.mask = nn.Parameter(mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "mask-moved-in-forward",
    "You move the mask in each forward pass. The module itself still leaves it behind; a buffer moves once, with it.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            self.mask = torch.zeros(width)
            self.mask[columns] = 1.0

        def forward(self, x):
            return x * self.mask.to(x.device)

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "layers-moved-in-forward",
    "You move the layers of Stack in forward. They move, but the module does not know them: nobody learns them.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = [nn.Linear(n, m) for n, m in zip(sizes, sizes[1:])]

        def forward(self, x):
            for layer in self.layers:
                x = layer.to(x.device)(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "optimizer-before-the-move",
    "`start` makes the optimizer before the model is moved. Where moving makes new parameters, it holds the old ones.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.to(device)
        return optimizer

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "head-alone",
    "Your optimizer holds the new head alone. The rest of the model is to be trained too.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.head.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "adds-the-head",
    "You add the new head to the old optimizer. It still holds the old head, and the parameters from before the move.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        optimizer.add_param_group({"params": model.head.parameters()})
        return optimizer

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "keeps-the-record",
    "`epoch` adds up losses with their records: until it ends, every graph of it stays. Detach each loss first.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total = total + loss
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "sum-of-losses",
    "`epoch` returns the sum of the losses. Asked for is their mean.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "mean-over-rows",
    "`epoch` divides by the number of rows. Each loss is a mean already: divide by the number of batches.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / sum(len(x) for x, _ in batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "losses-to-the-cpu",
    "`epoch` brings each loss to the CPU, and the host waits for that in each step. Add them up where they are.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.tensor(0.0)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach().cpu()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.wrong(
    "make_agnostic",
    "learned-places",
    "You made a parameter of the row numbers: they move, but they are learned now too. Only slope is to be learned.",
)
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))
            self.places = nn.Parameter(torch.arange(100.0))

        def forward(self, x):
            return x + self.places[: x.shape[1], None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.right("make_agnostic", "buffer-and-sequential")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))
            self.register_buffer("places", torch.arange(1000.0), persistent=False)

        def forward(self, x):
            return x + torch.outer(self.places[: x.shape[1]], self.slope)

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.register_buffer("mask", mask)

        def forward(self, x):
            return x * self.mask

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.Sequential(*map(nn.Linear, sizes[:-1], sizes[1:]))

        def forward(self, x):
            return self.layers(x)

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        losses = []
        for batch in batches:
            x, y = (part.to(device) for part in batch)
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return torch.stack(losses).mean()

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.right("make_agnostic", "made-on-the-spot")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            return x + torch.ones_like(x).cumsum(dim=1).sub(1.0) * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.tensor([float(i in columns) for i in range(width)])
            self.mask = nn.Buffer(mask)

        def forward(self, x):
            return torch.where(self.mask > 0, x, 0.0)

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.layers = nn.ModuleList(nn.Linear(n, m) for n, m in zip(sizes, sizes[1:]))

        def forward(self, x):
            for layer in self.layers:
                x = layer(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes, device=device)
        model = model.to(device)
        return torch.optim.SGD(list(model.parameters()), 0.1)

    def epoch(model, optimizer, batches, device):
        total = torch.zeros((), device=device)
        for x, y in batches:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            loss.backward()
            optimizer.step()
            total += loss.detach()
        return total / len(batches)

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}


@bank.right("make_agnostic", "frozen-mask-and-setattr")
def make_agnostic():
    class AddPlaces(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.slope = nn.Parameter(torch.ones(width))

        def forward(self, x):
            places = torch.arange(x.shape[1], device=x.device)
            return x + places[:, None] * self.slope

    class KeepColumns(nn.Module):
        def __init__(self, width, columns):
            super().__init__()
            mask = torch.zeros(width)
            mask[columns] = 1.0
            self.mask = nn.Parameter(mask, requires_grad=False)

        def forward(self, x):
            return self.mask * x

    class Stack(nn.Module):
        def __init__(self, sizes):
            super().__init__()
            self.count = len(sizes) - 1
            for i in range(self.count):
                setattr(self, f"layer{i}", nn.Linear(sizes[i], sizes[i + 1]))

        def forward(self, x):
            for i in range(self.count):
                x = getattr(self, f"layer{i}")(x)
            return x

    def start(model, classes, device):
        model.head = nn.Linear(model.head.in_features, classes)
        model.to(device)
        return torch.optim.SGD(model.parameters(), lr=0.1)

    def epoch(model, optimizer, batches, device):
        total, count = None, 0
        for x, y in batches:
            loss = F.cross_entropy(model(x.to(device)), y.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            with torch.no_grad():
                total = loss.clone() if total is None else total + loss
            count += 1
        return total / count

    return {"places": AddPlaces, "keep": KeepColumns, "stack": Stack, "start": start, "epoch": epoch}
