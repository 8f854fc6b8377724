"""Answers to `shape_trace`: wrong ones that learners really give, and right ones that must pass."""

import copy

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("shape_trace")


bank.wrong(
    "runs-real-data",
    "You run the layers on real numbers. For a large model that takes memory and time: the meta device needs neither.",
    change={
        'copy.deepcopy(module).to("meta")': "copy.deepcopy(module)",
        'torch.empty(input_shape, device="meta")': "torch.zeros(input_shape)",
    },
)


bank.wrong(
    "hook-not-removed",
    "You hang hooks on the module itself, copy it with them, and leave them there. Hang them on the copy.",
    change={
        'ghost = copy.deepcopy(module).to("meta")': "",
        "ghost.named_modules()": "module.named_modules()",
        'ghost(torch.empty(input_shape, device="meta"))': 'ghost = copy.deepcopy(module).to("meta")\nghost(torch.empty(input_shape, device="meta"))',
    },
)


bank.wrong(
    "moves-the-module",
    "You move the module itself to the meta device. Its numbers are gone then, for good: move a copy.",
    change={
        "tensors = [*module.named_parameters(), *module.named_buffers()]": "",
        'ghosts = {name: torch.empty_like(tensor, device="meta") for name, tensor in tensors}': "",
        'torch.func.functional_call(module, ghosts, (torch.empty(input_shape, device="meta"),))': 'module.to("meta")(torch.empty(input_shape, device="meta"))',
    },
    of="functional-call",
)


bank.wrong(
    "lists-containers",
    "You list every submodule, containers too. Only those without submodules of their own are asked for.",
    change={"if not list(part.children()):": "if name or not list(part.children()):"},
)


bank.wrong(
    "order-of-writing",
    "You list each leaf once, in the order in which the module is written down. The order of running is asked for.",
    change={
        "return shapes": "found = dict(shapes)\nreturn [(name, found[name]) for name, _ in ghost.named_modules() if name in found]"
    },
)


bank.wrong(
    "once-each",
    "You note each leaf once. One that runs twice stands there twice.",
    change={"return shapes": "return list(dict(shapes).items())"},
)


bank.wrong(
    "input-shapes",
    "You note the shape that goes into each leaf. The shape that comes out is asked for.",
    change={"out.shape": "args[0].shape"},
)


bank.wrong(
    "drops-the-batch",
    "You leave the first axis of each shape out. The whole shape is asked for.",
    slip=True,
    change={"out.shape": "out.shape[1:]"},
)


bank.wrong(
    "adds-a-batch",
    "You put a batch axis in front of input_shape. It is the whole shape already.",
    slip=True,
    change={'torch.empty(input_shape, device="meta")': 'torch.empty(1, *input_shape, device="meta")'},
)


bank.wrong(
    "names-of-classes",
    "You note the name of each leaf's class. Its name in named_modules() is asked for: two layers may have one class.",
    change={"(name, tuple(out.shape))": "(type(part).__name__, tuple(out.shape))"},
)


bank.wrong(
    "children-only",
    "You look at the direct children alone. Leaves may stand deeper, and the module may be a leaf itself.",
    also=("leaves-itself-out",),
    change={"ghost.named_modules()": "ghost.named_children()"},
)


bank.wrong(
    "eval-mode-stays",
    "You put the module itself into eval mode, and leave it there. It is to stay as it was.",
    change={"copy.deepcopy(module)": "copy.deepcopy(module.eval())"},
)


bank.wrong(
    "a-dict",
    "You return a dict: a leaf that runs twice has one place in it. A list of pairs is asked for.",
    change={"return shapes": "return dict(shapes)"},
)


bank.wrong(
    "numbers-of-elements",
    "You give the number of elements of each output. Its shape is asked for.",
    change={"tuple(out.shape)": "out.numel()"},
)


bank.wrong(
    "lists-all-modules",
    "You list all of named_modules(): the containers too, and the whole module under the name ''. Only those without "
    "submodules of their own are asked for.",
    change={"ghost.named_modules() if not list(part.modules())[1:]": "ghost.named_modules()"},
    of="one-global-hook",
)


bank.wrong(
    "dtype-of-the-parameters",
    "You ask the first parameter for its dtype. A module may have none, and the input is to be float32 anyway.",
    change={
        'torch.empty(input_shape, device="meta")': 'torch.empty(input_shape, dtype=next(ghost.parameters()).dtype, device="meta")'
    },
)


@bank.right("pre-copied")
def shape_trace(module, input_shape):
    with torch.device("meta"):
        ghost = copy.deepcopy(module).to("meta")
        found = []
        for name, part in ghost.named_modules():
            if next(part.children(), None) is None:
                part.register_forward_hook(lambda m, a, out, name=name: found.append((name, tuple(out.size()))))
        ghost(torch.zeros(*input_shape))
    return found


@bank.right("to-empty-with-names")
def shape_trace(module, input_shape):
    ghost = copy.deepcopy(module).to_empty(device="meta")
    names = {part: name for name, part in ghost.named_modules()}
    result = []

    def note(part, inputs, output):
        if not part._modules:
            result.append((names[part], tuple(output.size())))

    for part in names:
        part.register_forward_hook(note)
    with torch.no_grad(), torch.device("meta"):
        ghost(torch.ones(*input_shape))
    return result


@bank.right("functional-call")
def shape_trace(module, input_shape):
    tensors = [*module.named_parameters(), *module.named_buffers()]
    ghosts = {name: torch.empty_like(tensor, device="meta") for name, tensor in tensors}
    shapes, handles = [], []
    for name, part in module.named_modules():
        if len(list(part.children())) == 0:
            handles.append(
                part.register_forward_hook(lambda part, args, out, name=name: shapes.append((name, tuple(out.shape))))
            )
    try:
        torch.func.functional_call(module, ghosts, (torch.empty(input_shape, device="meta"),))
    finally:
        for handle in handles:
            handle.remove()
    return shapes


@bank.right("one-global-hook")
def shape_trace(module, input_shape):
    ghost = copy.deepcopy(module).to(torch.device("meta"))
    names = {id(part): name for name, part in ghost.named_modules() if not list(part.modules())[1:]}
    shapes = []

    def note(part, args, out):
        if id(part) in names:
            shapes.append((names[id(part)], tuple(out.shape)))

    handle = nn.modules.module.register_module_forward_hook(note)
    try:
        ghost(torch.zeros(input_shape, device="meta"))
    finally:
        handle.remove()
    return shapes


bank.wrong(
    "leaves-itself-out",
    'Where the module itself is a leaf, your list is empty. Its name is "", and it stands there too.',
    change={"if not list(part.children()):": "if name and not list(part.children()):"},
)


@bank.wrong(
    "calls-the-leaves-in-turn",
    "You call the leaves one after another, as they are written down. Which of them run, and in what order, is decided "
    "by the module's own forward: call the module, and let hooks take notes.",
)
def shape_trace(module, input_shape):
    ghost = copy.deepcopy(module).to("meta")
    x = torch.empty(input_shape, device="meta")
    shapes = []
    for name, part in ghost.named_modules():
        if not list(part.children()):
            x = part(x)
            shapes.append((name, tuple(x.shape)))
    return shapes


bank.wrong(
    "late-name",
    "All your hooks see the last name: a function made in a loop reads the loop's variable when it runs. Pass it as a "
    "default.",
    change={"lambda part, args, out, name=name:": "lambda part, args, out:"},
)


bank.wrong(
    "last-part-of-the-name",
    "You note the last part of each name alone. Two leaves may end alike: the whole path is asked for, as named_modules() "
    "gives it.",
    change={"(name, tuple(out.shape))": '(name.split(".")[-1], tuple(out.shape))'},
)


bank.survives(
    {
        "tuple(out.shape) -> out.shape": "torch.Size is a tuple, and counts as one.",
    }
)
