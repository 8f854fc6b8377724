"""Answers to `memory_plan`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("memory_plan")


@bank.wrong(
    "counts-frozen-gradients",
    "You count a gradient and an optimizer state for frozen parameters. They get neither.",
    also=("state-of-frozen",),
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
    "always-four-bytes",
    "You count the bytes of another dtype, such as the four of float32, for each number. How many there are "
    "depends on `dtype`.",
    also=("four-bytes-for-a-parameter", "state-in-float32"),
    slip=True,
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
    "counts-buffers",
    "You count what is in state_dict: buffers too, and a shared weight under each of its names.",
    also=("shared-counted-twice",),
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
    "shared-counted-twice",
    "A parameter that two modules share counts twice in your plan: there is one of it. `model.parameters()` gives it once.",
    slip=True,
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    params = [p for module in twin.modules() for p in module.parameters(recurse=False)]
    known = {t.untyped_storage().data_ptr() for t in [*params, *twin.buffers()]}
    kept = {}

    def note(t):
        kept[t.untyped_storage().data_ptr()] = t.untyped_storage()
        return t

    with torch.autograd.graph.saved_tensors_hooks(note, lambda t: t):
        _result = twin(batch.to(dtype))
    learned = sum(p.nbytes for p in params if p.requires_grad)
    return {
        "parameters": sum(p.nbytes for p in params),
        "gradients": learned,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * learned,
        "activations": sum(memory.nbytes() for place, memory in kept.items() if place not in known),
    }


@bank.wrong(
    "buffers-among-the-parameters",
    "You count buffers among the parameters. They are left out of this plan.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    parameters = list(twin.parameters())
    own = {t.untyped_storage().data_ptr() for t in [*parameters, *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    trained = sum(p.nbytes for p in parameters if p.requires_grad)
    return {
        "parameters": sum(t.nbytes for t in [*parameters, *twin.buffers()]),
        "gradients": trained,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "four-bytes-for-a-parameter",
    "You count the bytes of another dtype, such as the four of float32, for each number of the parameters. They "
    "are in `dtype`.",
    slip=True,
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    parameters = list(twin.parameters())
    own = {t.untyped_storage().data_ptr() for t in [*parameters, *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    trained = sum(p.nbytes for p in parameters if p.requires_grad)
    return {
        "parameters": sum(4 * p.numel() for p in parameters),
        "gradients": trained,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained,
        "activations": sum(saved.values()),
    }


@bank.wrong(
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
    "buffers-as-activations",
    "A buffer, or a view of one, counts among your activations. It belongs to the model, as parameters do.",
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
    "address-of-the-view",
    "You compare `t.data_ptr()`, where a view begins. Views of one piece of memory begin in different places.",
    also=("buffers-as-activations", "pieces-by-the-view"),
    unless=r"storage\w*(\(\))?\.data_ptr",
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
    "pieces-by-the-view",
    "You tell pieces of memory apart by where a view begins, as `t.data_ptr()` says. Views of one piece begin in different "
    "places, and then it counts more than once.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    parameters = list(twin.parameters())
    own = {t.untyped_storage().data_ptr() for t in [*parameters, *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[tensor.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch.to(dtype))
    trained = sum(p.nbytes for p in parameters if p.requires_grad)
    return {
        "parameters": sum(p.nbytes for p in parameters),
        "gradients": trained,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained,
        "activations": sum(saved.values()),
    }


@bank.wrong(
    "counts-twice",
    "What is saved twice you count twice. Each piece of memory is there once: tell them apart by the address of their storage.",
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
    "frozen-as-activations",
    "Of what is saved you leave out the parameters that are trained. The weight of a frozen layer may be saved too, and is no "
    "activation either.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    learned = [p for p in twin.parameters() if p.requires_grad]
    own = {t.untyped_storage().data_ptr() for t in [*learned, *twin.buffers()]}
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
    "there-and-back",
    "You turn the model itself to `dtype`, and back: what was rounded on the way stays so. Plan with a copy.",
)
def memory_plan(model, batch, optimizer, dtype):
    before = next(model.parameters()).dtype
    model.to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = model(batch.to(dtype))
    model.to(before)
    total = sum(p.numel() for p in model.parameters())
    trained = sum(p.numel() for p in model.parameters() if p.requires_grad)
    slots = {"sgd": 0, "momentum": 1, "adam": 2}[optimizer]
    return {
        "parameters": total * dtype.itemsize,
        "gradients": trained * dtype.itemsize,
        "optimizer": slots * trained * dtype.itemsize,
        "activations": sum(saved.values()),
    }


@bank.wrong(
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


@bank.wrong(
    "batch-left-out",
    "You leave the batch out of the activations. The first layer saves it for its backward: it counts like any other.",
)
def memory_plan(model, batch, optimizer, dtype):
    model = copy.deepcopy(model).to(dtype)
    batch = batch.to(dtype).requires_grad_()
    own = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers(), batch]}
    seen = {}

    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in own:
            seen[s.data_ptr()] = s.nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        outputs = model(batch)
    del outputs
    p = sum(t.nbytes for t in model.parameters())
    g = sum(t.nbytes for t in model.parameters() if t.requires_grad)
    return {
        "parameters": p,
        "gradients": g,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * g,
        "activations": sum(seen.values()),
    }


@bank.wrong(
    "state-in-float32",
    "You count the bytes of another dtype, such as the four of float32, for each number of the optimizer's state."
    " It is in `dtype`, as the weights are.",
)
def memory_plan(model, batch, optimizer, dtype):
    model = copy.deepcopy(model).to(dtype)
    batch = batch.to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers()]}
    seen = {}

    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in own:
            seen[s.data_ptr()] = s.nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        outputs = model(batch)
    del outputs
    p = sum(t.numel() * t.element_size() for t in model.parameters())
    n = sum(t.numel() for t in model.parameters() if t.requires_grad)
    g = sum(t.numel() * t.element_size() for t in model.parameters() if t.requires_grad)
    return {
        "parameters": p,
        "gradients": g,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * n * 4,
        "activations": sum(seen.values()),
    }


@bank.wrong(
    "four-or-two",
    "You know four bytes, and two for all else. float64 has eight: dtype.itemsize says how many.",
    slip=True,
)
def memory_plan(model, batch, optimizer, dtype):
    size = 4 if dtype == torch.float32 else 2
    model = copy.deepcopy(model).to(dtype)
    batch = batch.to(dtype)
    own = {t.untyped_storage().data_ptr() for t in [*model.parameters(), *model.buffers()]}
    seen = {}

    def pack(t):
        s = t.untyped_storage()
        if s.data_ptr() not in own:
            seen[s.data_ptr()] = s.nbytes()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        outputs = model(batch)
    del outputs
    p = sum(t.numel() for t in model.parameters()) * size
    g = sum(t.numel() for t in model.parameters() if t.requires_grad) * size
    return {
        "parameters": p,
        "gradients": g,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * g,
        "activations": sum(seen.values()),
    }


@bank.wrong(
    "elements-of-each-view",
    "You count the elements of views, not the memory behind them. Views of one piece of memory have it in common: it "
    "counts once, whole.",
)
def memory_plan(model, batch, optimizer, dtype):
    model = copy.deepcopy(model).to(dtype)
    batch = batch.to(dtype)
    own = {t.data_ptr() for t in [*model.parameters(), *model.buffers()]}
    seen = {}

    def pack(t):
        if t.data_ptr() not in own:
            seen[t.data_ptr()] = t.numel() * t.element_size()
        return t

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
        outputs = model(batch)
    del outputs
    p = sum(t.numel() * t.element_size() for t in model.parameters())
    g = sum(t.numel() * t.element_size() for t in model.parameters() if t.requires_grad)
    return {
        "parameters": p,
        "gradients": g,
        "optimizer": {"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * g,
        "activations": sum(seen.values()),
    }


@bank.wrong(
    "each-saved-tensor",
    "You count every saved tensor, also where several share their memory. Each piece of memory counts once, whole.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype)
    own = {t.data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (saved.append(t), t)[1], lambda t: t):
        twin(batch.to(dtype))
    ps = list(twin.parameters())
    w = torch.empty((), dtype=dtype).element_size()
    g = sum(p.numel() for p in ps if p.requires_grad) * w
    return {
        "parameters": sum(p.numel() for p in ps) * w,
        "gradients": g,
        "optimizer": g * {"sgd": 0, "momentum": 1, "adam": 2}[optimizer],
        "activations": sum(t.numel() * t.element_size() for t in saved if t.data_ptr() not in own),
    }


@bank.wrong(
    "activations-in-their-own-dtype",
    "You run the model in the dtype that it comes in: its activations have the bytes of that, not of `dtype`.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model)
    own = {t.untyped_storage().data_ptr() for t in [*twin.parameters(), *twin.buffers()]}
    saved = {}

    def pack(tensor):
        memory = tensor.untyped_storage()
        if memory.data_ptr() not in own:
            saved[memory.data_ptr()] = memory.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        _result = twin(batch)
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
    "in-eval-mode",
    "You plan for eval mode whatever the mode is. In train mode a layer may save more.",
)
def memory_plan(model, batch, optimizer, dtype):
    twin = copy.deepcopy(model).to(dtype).eval()
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


@bank.right("pops-its-own")
def memory_plan(model, batch, optimizer, dtype):
    twin, given = copy.deepcopy(model).to(dtype), batch.detach().to(dtype).clone()
    pieces = {}

    def note(saved):
        memory = saved.untyped_storage()
        pieces[memory.data_ptr()] = len(memory)
        return saved

    with torch.autograd.graph.saved_tensors_hooks(note, lambda kept: kept), torch.enable_grad():
        outputs = twin(given)
    for known in list(twin.parameters()) + list(twin.buffers()):
        pieces.pop(known.untyped_storage().data_ptr(), None)
    del outputs
    learned = [p for p in twin.parameters() if p.requires_grad]
    weights = sum(p.nbytes for p in twin.parameters())
    slopes = sum(p.nbytes for p in learned)
    return dict(
        parameters=weights,
        gradients=slopes,
        optimizer=("sgd", "momentum", "adam").index(optimizer) * slopes,
        activations=sum(pieces.values()),
    )


@bank.right("list-of-storages")
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


@bank.right("a-real-step")
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


@bank.right("functional-call")
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


bank.survives(
    {
        "sum((w.numel() for w in weights if w.requires_grad)) * dtype.itemsize -> dtype.itemsize * sum((w.numel() for w in weights if w.requires_grad))": "Numbers multiply in any order.",
        "sum((w.numel() for w in weights)) * dtype.itemsize -> dtype.itemsize * sum((w.numel() for w in weights))": "Numbers multiply in any order.",
        "{'sgd': 0, 'momentum': 1, 'adam': 2}[optimizer] * trained -> trained * {'sgd': 0, 'momentum': 1, 'adam': 2}[optimizer]": "Numbers multiply in any order.",
        "dtype -> result (2)": "The result has the dtype of the plan, and so its bytes for each number.",
        "dtype -> result (4)": "The result has the dtype of the plan, and so its bytes for each number.",
        "t.untyped_storage() -> t": "A parameter and a buffer begin where their memory begins.",
        "memory.data_ptr() -> memory (2)": "As long as it is held, one piece of memory is one and the same storage object.",
        "return tensor -> return": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "return tensor -> return [tensor]": "Nobody goes backward, so what the hook gives back is not asked for, and this keeps the memory.",
        "return tensor -> return tensor.double()": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> model": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> batch": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> optimizer": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> dtype": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> twin": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> weights": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> own": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> saved": "Sometimes: nobody goes backward, but what is not kept frees its memory, whose address may be given out again.",
        "tensor -> memory": "Nobody goes backward, so what the hook gives back is not asked for, and this keeps the memory.",
        "tensor -> model (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> batch (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> optimizer (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> dtype (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> twin (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> weights (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> own (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> saved (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> trained (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> memory (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> result (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> t (3)": "Nobody goes backward, so the second hook is never called.",
        "tensor -> w (3)": "Nobody goes backward, so the second hook is never called.",
    }
)
