"""Answers to `call_counts`: wrong ones that learners really give, and right ones that must pass."""

from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("call_counts")


@bank.wrong(
    "hook-not-removed",
    "Your hooks stay on the module: the next call counts on, in a dict that nobody looks at. Remove them by "
    "their handles.",
    also=("not-removed-after-an-error",),
)
def call_counts(module, x):
    counts = {}
    for name, part in module.named_modules():
        if name:
            part.register_forward_hook(lambda *_, name=name: counts.update({name: counts.get(name, 0) + 1}))
    module(x)
    return counts


bank.wrong(
    "calls-forward-directly",
    "You do not call the module itself. `module.forward(x)`, or its parts one by one, skips the module's own hooks, "
    "which others may rely on: call the module.",
    change={"module(x)": "module.forward(x)"},
)

bank.wrong(
    "not-removed-after-an-error",
    "When the module raises, your hooks stay on it. A `finally` runs in any case.",
    change={
        "try:\n    module(x)\nfinally:\n    for handle in handles:\n        handle.remove()": "module(x)\nfor handle in handles:\n    handle.remove()"
    },
)

bank.wrong(
    "swallows-the-error",
    "The error that the module raises gets lost on the way, as in an `except`, or by a `return` in `finally`. Let it go on "
    "to the caller.",
    change={"finally:": "except Exception:\n    pass\nfinally:"},
)

bank.wrong(
    "counts-the-root",
    "You count the module itself too, under the name ''. Only its submodules are asked for.",
    slip=True,
    change={"for n, m in module.named_modules() if n": "for n, m in module.named_modules()"},
    of="counter",
)

bank.wrong(
    "children-only",
    "You watch the direct children alone. Submodules inside them count as well.",
    change={"module.named_modules()": "module.named_children()"},
)

bank.wrong(
    "leaves-only",
    "You watch only submodules without submodules of their own. A container that runs counts as well.",
    change={"if name:": "if name and not list(part.children()):"},
)

bank.wrong(
    "zeros-for-the-idle",
    "You begin with 0 for every submodule. One that does not run should not be in the dict.",
    change={"collections.Counter()": "collections.Counter({n: 0 for n, _ in module.named_modules() if n})"},
    of="counter",
)

bank.wrong(
    "notes-once",
    "You note that a submodule has run, not how often: each count is 1.",
    change={"counts[name] = counts.get(name, 0) + 1": "counts[name] = 1"},
    of="one-global-hook",
)

bank.wrong(
    "late-name",
    "All your hooks see the last name: a function made in a loop reads the loop's variable when it runs. "
    "Pass it as a default.",
    change={"lambda part, args, out, name=name: ran.append(name)": "lambda part, args, out: ran.append(name)"},
)

bank.wrong(
    "runs-twice",
    "You call the module twice, so every count is twice as large.",
    slip=True,
    change={"module(x)": "module(x)\nmodule(x)"},
)

bank.wrong(
    "clears-all-hooks",
    "You throw away every hook on the submodules, those of others too. Each handle removes its own hook.",
    change={
        "for handle in handles:\n    handle.remove()": "for name, part in module.named_modules():\n    if name:\n        part._forward_hooks.clear()"
    },
)

bank.wrong(
    "names-of-classes",
    "You count by class, such as 'Linear'. Each submodule has a name of its own, that of named_modules().",
    change={
        "lambda part, args, out, name=name: ran.append(name)": "lambda part, args, out: ran.append(type(part).__name__)"
    },
)

bank.wrong(
    "a-list-of-names",
    "You return a list of names. A dict from name to count is asked for.",
    change={"{name: ran.count(name) for name in ran}": "ran"},
)

bank.told(
    "one-dict-for-all",
    "afterwards",
    change={"def call_counts(module, x):": "def call_counts(module, x, counts={}):", "counts = {}": "counts.clear()"},
    of="one-global-hook",
)


@bank.right("counter")
def call_counts(module, x):
    import collections

    c = collections.Counter()
    handles = [m.register_forward_pre_hook(lambda *_, n=n: c.update([n])) for n, m in module.named_modules() if n]
    try:
        module(x)
    finally:
        [h.remove() for h in handles]
    return dict(c)


@bank.right("pre-hooks")
def call_counts(module, x):
    names = {part: name for name, part in module.named_modules() if part is not module}
    ran = []
    handles = [part.register_forward_pre_hook(lambda part, args: ran.append(names[part])) for part in names]
    try:
        module(x)
    finally:
        [handle.remove() for handle in handles]
    return {name: ran.count(name) for name in set(ran)}


@bank.right("recursive")
def call_counts(module, x):
    counts = {}

    def watch(parts):
        if not parts:
            module(x)
            return
        (name, part), *rest = parts

        def count(*_):
            counts[name] = counts.get(name, 0) + 1

        handle = part.register_forward_hook(count)
        try:
            watch(rest)
        finally:
            handle.remove()

    watch([(name, part) for name, part in module.named_modules() if name])
    return counts


@bank.right("one-global-hook")
def call_counts(module, x):
    names = {id(part): name for name, part in module.named_modules()}
    counts = {}

    def count(part, args, out):
        name = names.get(id(part))
        if name:
            counts[name] = counts.get(name, 0) + 1

    handle = nn.modules.module.register_module_forward_hook(count)
    try:
        module(x)
    finally:
        handle.remove()
    return counts


bank.wrong(
    "hook-returns-a-number",
    "Your hook returns a number, and what a forward hook returns takes the place of what the layer gave. Let it return "
    "nothing.",
    change={"counts[name] = counts.get(name, 0) + 1": "counts[name] = counts.get(name, 0) + 1\nreturn counts[name]"},
    of="recursive",
)


@bank.wrong(
    "runs-the-parts-in-turn",
    "You run the submodules one after another yourself. Which of them run, and how often, is decided by the module's own "
    "forward: call the module, and let hooks count.",
    also=("runs-the-children-itself",),
)
def call_counts(module, x):
    counts = {}
    for name, part in module.named_modules():
        if name:
            x = part(x)
            counts[name] = counts.get(name, 0) + 1
    return counts


bank.wrong(
    "runs-the-children-itself",
    "You run the module's parts one after another yourself. That is not what every module does with them, and it skips the "
    "module's own forward and hooks: call the module.",
    also=("calls-forward-directly",),
    change={"module(x)": "for part in module.children():\n    x = part(x)"},
)


bank.wrong(
    "removes-one-hook",
    "You remove one of your hooks, and the others stay on the module. Each handle removes its own hook alone.",
    change={"for handle in handles:\n    handle.remove()": "handles[-1].remove()"},
)


bank.wrong(
    "runs-a-copy",
    "You call a copy of the module, and not the module itself. What a call changes, such as the running values of a batch "
    "norm, does not change in the module then.",
    change={"ran, handles = [], []": "ran, handles = [], []\nmodule = copy.deepcopy(module)"},
)


@bank.wrong(
    "never-calls",
    "You count the names that the module lists, and never call it: what runs several times, or not at all, only a call "
    "shows.",
)
def call_counts(module, x):
    return {name: 1 for name, part in module.named_modules() if name}
