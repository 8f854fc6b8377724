"""Answers to `freeze_all_but`: wrong ones that learners really give, and right ones that must pass."""

import fnmatch

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("freeze_all_but")


@bank.wrong(
    "requires-grad-on-module",
    "You set `requires_grad` on the module. That makes a new attribute that nobody reads; the flag is the parameter's.",
)
def freeze_all_but(module, pattern):
    module.requires_grad = False
    names = [name for name, _ in module.named_parameters() if fnmatch.fnmatch(name, pattern)]
    return names


@bank.wrong(
    "bn-statistics-still-move",
    "The parameters are frozen, but in training mode a batch norm goes on moving its statistics: put it "
    "into eval mode.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    return [name for name, p in module.named_parameters() if p.requires_grad]


bank.wrong(
    "optimizer-gets-frozen",
    "You return all names, those of frozen parameters too. Only what is left to be trained is asked for.",
    change={
        "name for name, p in module.named_parameters() if p.requires_grad": "name for name, _ in module.named_parameters()"
    },
)


@bank.wrong(
    "never-thaws",
    "You freeze, but do not switch the flag on where it was off. A parameter that fits is to be trainable.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        if not fnmatch.fnmatch(name, pattern):
            p.requires_grad_(False)
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


bank.wrong(
    "freezes-what-fits",
    "You freeze the parameters that fit, and train the others. It is the other way round.",
    change={"fnmatch.fnmatch": "not fnmatch.fnmatch"},
)

bank.wrong(
    "substring-for-pattern",
    "You take the star of a pattern as a letter like others, as `in` and `==` do. `fnmatch.fnmatch` knows what it "
    "means.",
    unless=r"fnmatch\(|filter\(",
    change={"(fnmatch.fnmatch(name, pattern))": "(pattern in name)"},
)

bank.wrong(
    "beginning-for-pattern",
    "You compare the beginning of the name with the text before the star. A pattern may have its star anywhere.",
    change={"fnmatch.fnmatch(name, pattern)": 'name.startswith(pattern.split("*")[0])'},
)


@bank.wrong(
    "whole-model-to-eval",
    "You put the whole module into eval mode. What is trained stays in the mode that it was in.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    module.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


bank.wrong(
    "all-back-to-train",
    "You put parts into training mode. A part that was in eval mode was so for a reason: leave it.",
    change={"def freeze_all_but(module, pattern):": "def freeze_all_but(module, pattern):\n    module.train(True)"},
)


@bank.told("empty-parts-to-eval", "others")
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        if not any(p.requires_grad for p in part.parameters()):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


bank.wrong(
    "batch-norm-alone-to-eval",
    "You put batch norms alone into eval mode. A frozen part goes there as a whole, its dropout too.",
    change={
        "held = [*part.parameters(), *part.buffers()]": "",
        "held and not any": "isinstance(part, nn.BatchNorm1d) and not any",
        "p in held": "p in part.parameters()",
    },
)

bank.wrong(
    "buffers-alone-forgotten",
    "You look at parameters alone. A batch norm with affine=False has none, and its statistics move all the same.",
    change={"[*part.parameters(), *part.buffers()]": "list(part.parameters())"},
)

bank.wrong(
    "own-tensors-alone",
    "You judge each part by the parameters and buffers that it holds itself. Those further inside count too, both where all "
    "are frozen and where one is trainable.",
    change={"[*part.parameters(), *part.buffers()]": "[*part.parameters(recurse=False), *part.buffers(recurse=False)]"},
)

bank.wrong(
    "returns-parameters",
    "You return the parameters themselves. Their names are asked for.",
    change={"name for name, p in module.named_parameters()": "p for p in module.parameters()"},
)


@bank.wrong(
    "clears-old-gradients",
    "You clear the .grad of the frozen parameters. Nobody asked for that: set the flag, and no more.",
)
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
        if not p.requires_grad:
            p.grad = None
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return [name for name, p in module.named_parameters() if p.requires_grad]


@bank.wrong("sorted-names", "Your names are sorted. Leave them in the order of named_parameters().")
def freeze_all_but(module, pattern):
    for name, p in module.named_parameters():
        p.requires_grad_(fnmatch.fnmatch(name, pattern))
    for part in module.modules():
        held = [*part.parameters(), *part.buffers()]
        if held and not any(p.requires_grad for p in held):
            part.eval()
    return sorted(name for name, p in module.named_parameters() if p.requires_grad)


bank.wrong(
    "returns-the-frozen",
    "You return the names of what is frozen. Those that stay trainable are asked for.",
    change={
        "name for name, p in module.named_parameters() if p": "name for name, p in module.named_parameters() if not p"
    },
)


@bank.right("recursive")
def freeze_all_but(module, pattern):
    left = []
    for name, p in module.named_parameters():
        p.requires_grad = fnmatch.fnmatch(name, pattern)
        left += [name] if p.requires_grad else []

    def rest(part):
        holds = [*part.parameters(), *part.buffers()]
        if holds and not [p for p in part.parameters() if p.requires_grad]:
            part.train(False)
        else:
            for child in part.children():
                rest(child)

    rest(module)
    return left


@bank.right("filter-of-names")
def freeze_all_but(module, pattern):
    named = dict(module.named_parameters())
    trainable = [name for name in named if fnmatch.fnmatch(name, pattern)]
    for name in named:
        named[name].requires_grad_(False)
    for name in trainable:
        named[name].requires_grad_(True)
    for prefix, part in module.named_modules():
        inside = prefix + "." if prefix else ""
        holds = any(True for _ in part.parameters()) or any(True for _ in part.buffers())
        if holds and not any(name.startswith(inside) for name in trainable):
            part.eval()
    return trainable


@bank.right("by-identity")
def freeze_all_but(module, pattern):
    names = fnmatch.filter([name for name, _ in module.named_parameters()], pattern)
    alive = {id(module.get_parameter(name)) for name in names}
    for p in module.parameters():
        p.requires_grad = id(p) in alive
    for part in module.modules():
        held = {id(tensor) for tensor in (*part.parameters(), *part.buffers())}
        if held and not held & alive:
            part.eval()
    return names


bank.wrong(
    "compares-beginnings",
    "You compare how names begin. The `*` of a pattern may stand in front or in the middle: ask `fnmatch.fnmatch`.",
    unless=r"fnmatch\(|filter\(",
    change={
        "def freeze_all_but(module, pattern):": 'def freeze_all_but(module, pattern):\n    beginning = pattern.rstrip("*")',
        "fnmatch.fnmatch(name, pattern)": "name.startswith(beginning)",
    },
)

bank.wrong(
    "pattern-before-the-name",
    "`fnmatch.fnmatch` takes the name first, and the pattern after it.",
    unless=r"(?s)\A(?!.*fnmatch\()",  # of code that never asks it
    change={"name, pattern": "pattern, name"},
)

bank.wrong(
    "regular-expression",
    "You read the pattern as a regular expression, where a star repeats what stands before it. `fnmatch.fnmatch` knows what "
    "this star means.",
    unless=r"fnmatch\.|filter\(",
    change={
        "def freeze_all_but(module, pattern):": "def freeze_all_but(module, pattern):\n    import re",
        "fnmatch.fnmatch(name, pattern)": "re.match(pattern, name) is not None",
    },
)

bank.wrong(
    "fits-at-the-beginning",
    "A name whose beginning fits the pattern counts for you: `fnmatch.fnmatch` compares the whole name.",
    change={"fnmatch.fnmatch(name, pattern)": "fnmatch.fnmatch(name, pattern) or name.startswith(pattern)"},
)

bank.wrong(
    "stars-alone",
    "You know `*` in a pattern, and no other sign: `?` stands for one letter, and `[!1]` for one that is no 1.",
    change={
        "fnmatch.fnmatch(name, pattern)": 'fnmatch.fnmatch(name, pattern.replace("[", "[[]").replace("?", "[?]"))',
    },
)
