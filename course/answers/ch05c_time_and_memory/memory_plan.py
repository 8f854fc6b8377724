"""Answers to `memory_plan`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("memory_plan")


bank.wrong(
    "counts-frozen-gradients",
    "You count a gradient and an optimizer state for frozen parameters. They get neither.",
    also=("state-of-frozen",),
    change={"sum(w.numel() for w in weights if w.requires_grad)": "sum(w.numel() for w in weights)"},
)


bank.wrong(
    "leaves-frozen-out",
    "You leave frozen parameters out altogether. They get no gradient, but they need their own memory.",
    change={"sum(w.numel() for w in weights) * dtype.itemsize": "trained"},
)


bank.wrong(
    "always-four-bytes",
    "You count the bytes of another dtype, such as the four of float32, for each number. How many there are "
    "depends on `dtype`.",
    also=("four-bytes-for-a-parameter", "state-in-float32"),
    slip=True,
    change={
        "sum(w.numel() for w in weights if w.requires_grad) * dtype.itemsize": "sum(w.numel() for w in weights if w.requires_grad) * 4",
        "sum(w.numel() for w in weights) * dtype.itemsize": "sum(w.numel() for w in weights) * 4",
    },
)


bank.wrong(
    "counts-buffers",
    "You count what is in state_dict: buffers too, and a shared weight under each of its names.",
    also=("shared-counted-twice",),
    change={"sum(w.numel() for w in weights)": "sum(t.numel() for t in twin.state_dict().values())"},
)


bank.wrong(
    "shared-counted-twice",
    "A parameter that two modules share counts twice in your plan: there is one of it. `model.parameters()` gives it once.",
    slip=True,
    change={"list(twin.parameters())": "[w for module in twin.modules() for w in module.parameters(recurse=False)]"},
)


bank.wrong(
    "buffers-among-the-parameters",
    "You count buffers among the parameters. They are left out of this plan.",
    change={"sum(w.numel() for w in weights) * dtype.itemsize": "sum(t.nbytes for t in [*weights, *twin.buffers()])"},
)


bank.wrong(
    "four-bytes-for-a-parameter",
    "You count the bytes of another dtype, such as the four of float32, for each number of the parameters. They "
    "are in `dtype`.",
    slip=True,
    change={"sum(w.numel() for w in weights) * dtype.itemsize": "sum(w.numel() for w in weights) * 4"},
)


bank.wrong(
    "adam-once",
    "You count one number for each weight for Adam. It keeps two: the mean of the gradient and that of its square.",
    change={'"adam": 2': '"adam": 1'},
)


bank.wrong(
    "momentum-is-free",
    "You count nothing for momentum. It keeps a running sum of the gradients, one number for each weight.",
    change={'"momentum": 1': '"momentum": 0'},
)


bank.wrong(
    "state-of-frozen",
    "You count optimizer state for frozen parameters too. Without a gradient there is none.",
    change={
        '{"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained': '{"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * sum(w.numel() for w in weights) * dtype.itemsize'
    },
)


bank.wrong(
    "weights-as-activations",
    "You count all that is saved, the weights among it. They are there anyway, and counted already.",
    change={
        "own = {t.untyped_storage().data_ptr() for t in [*weights, *twin.buffers()]}": "",
        "if memory.data_ptr() not in own:\n    saved[memory.data_ptr()] = memory.nbytes()": "saved[memory.data_ptr()] = memory.nbytes()",
    },
)


bank.wrong(
    "buffers-as-activations",
    "A buffer, or a view of one, counts among your activations. It belongs to the model, as parameters do.",
    change={"[*weights, *twin.buffers()]": "weights"},
)


bank.wrong(
    "batch-in-its-own-dtype",
    "You turn the model to `dtype` and leave the batch as it is: in any other dtype than its own the two do not fit.",
    change={"batch.to(dtype)": "batch"},
)


bank.wrong(
    "address-of-the-view",
    "You compare `t.data_ptr()`, where a view begins. Views of one piece of memory begin in different places.",
    also=("buffers-as-activations", "pieces-by-the-view"),
    unless=r"storage\w*(\(\))?\.data_ptr",
    change={
        "t.untyped_storage().data_ptr()": "t.data_ptr()",
        "if memory.data_ptr() not in own:\n    saved[memory.data_ptr()]": "if tensor.data_ptr() not in own:\n    saved[tensor.data_ptr()]",
    },
)


bank.wrong(
    "pieces-by-the-view",
    "You tell pieces of memory apart by where a view begins, as `t.data_ptr()` says. Views of one piece begin in different "
    "places, and then it counts more than once.",
    change={"saved[memory.data_ptr()]": "saved[tensor.data_ptr()]"},
)


bank.wrong(
    "counts-twice",
    "What is saved twice you count twice. Each piece of memory is there once: tell them apart by the address of their storage.",
    change={
        "saved = {}": "saved = []",
        "saved[memory.data_ptr()] = memory.nbytes()": "saved.append(memory.nbytes())",
        "saved.values()": "saved",
    },
)


bank.wrong(
    "size-of-the-view",
    "You count the elements of the saved tensor. A view keeps the whole memory alive that it looks at.",
    change={"memory.nbytes()": "tensor.nbytes"},
)


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


bank.wrong(
    "moves-the-model",
    "You turn the model itself to `dtype`: afterwards it is another one. Plan with a copy.",
    change={"copy.deepcopy(model).to(dtype)": "model.to(dtype)"},
)


bank.wrong(
    "frozen-as-activations",
    "Of what is saved you leave out the parameters that are trained. The weight of a frozen layer may be saved too, and is no "
    "activation either.",
    change={"[*weights, *twin.buffers()]": "[*(w for w in weights if w.requires_grad), *twin.buffers()]"},
)


bank.wrong(
    "there-and-back",
    "You turn the model itself to `dtype`, and back: what was rounded on the way stays so. Plan with a copy.",
    change={
        "twin = copy.deepcopy(model).to(dtype)": "before = next(model.parameters()).dtype\ntwin = model.to(dtype)",
        "result = twin(batch.to(dtype))": "result = twin(batch.to(dtype))\nmodel.to(before)",
    },
)


bank.wrong(
    "in-train-mode",
    "You plan for train mode whatever the mode is. In eval mode a layer may save less.",
    change={"copy.deepcopy(model).to(dtype)": "copy.deepcopy(model).to(dtype).train()"},
)


bank.wrong(
    "clears-the-gradients",
    "You clear the gradients of the model that you were given. They are somebody's, leave them there.",
    change={"twin = copy.deepcopy(model).to(dtype)": "model.zero_grad()\ntwin = copy.deepcopy(model).to(dtype)"},
)


bank.wrong(
    "batch-left-out",
    "You leave the batch out of the activations. The first layer saves it for its backward: it counts like any other.",
    change={
        "own = {t.untyped_storage().data_ptr() for t in [*weights, *twin.buffers()]}": "batch = batch.to(dtype).requires_grad_()\nown = {t.untyped_storage().data_ptr() for t in [*weights, *twin.buffers(), batch]}"
    },
)


bank.wrong(
    "state-in-float32",
    "You count the bytes of another dtype, such as the four of float32, for each number of the optimizer's state."
    " It is in `dtype`, as the weights are.",
    change={
        '{"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained': '{"sgd": 0, "momentum": 1, "adam": 2}[optimizer] * trained // dtype.itemsize * 4'
    },
)


bank.wrong(
    "four-or-two",
    "You know four bytes, and two for all else. float64 has eight: dtype.itemsize says how many.",
    slip=True,
    change={
        "twin = copy.deepcopy(model).to(dtype)": "size = 4 if dtype == torch.float32 else 2\ntwin = copy.deepcopy(model).to(dtype)",
        "sum(w.numel() for w in weights if w.requires_grad) * dtype.itemsize": "sum(w.numel() for w in weights if w.requires_grad) * size",
        "sum(w.numel() for w in weights) * dtype.itemsize": "sum(w.numel() for w in weights) * size",
    },
)


bank.wrong(
    "elements-of-each-view",
    "You count the elements of views, not the memory behind them. Views of one piece of memory have it in common: it "
    "counts once, whole.",
    change={
        "t.untyped_storage().data_ptr()": "t.data_ptr()",
        "memory = tensor.untyped_storage()\nif memory.data_ptr() not in own:\n    saved[memory.data_ptr()] = memory.nbytes()": "if tensor.data_ptr() not in own:\n    saved[tensor.data_ptr()] = tensor.nbytes",
    },
)


bank.wrong(
    "each-saved-tensor",
    "You count every saved tensor, also where several share their memory. Each piece of memory counts once, whole.",
    change={
        "saved = {}": "saved = []",
        "saved[memory.data_ptr()] = memory.nbytes()": "saved.append(tensor.nbytes)",
        "saved.values()": "saved",
    },
)


bank.wrong(
    "activations-in-their-own-dtype",
    "You run the model in the dtype that it comes in: its activations have the bytes of that, not of `dtype`.",
    change={
        "copy.deepcopy(model).to(dtype)": "copy.deepcopy(model)",
        "batch.to(dtype)": "batch",
    },
)


bank.wrong(
    "in-eval-mode",
    "You plan for eval mode whatever the mode is. In train mode a layer may save more.",
    change={"copy.deepcopy(model).to(dtype)": "copy.deepcopy(model).to(dtype).eval()"},
)


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
