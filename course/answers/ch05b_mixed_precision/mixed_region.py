"""Answers to `mixed_region`: wrong ones that learners really give, and right ones that must pass."""

import torch
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("mixed_region")


bank.wrong(
    "disabled-without-float",
    "You switch autocast off, but an x of 16 or 64 bits goes into the block as it is. Switching autocast off turns "
    "nothing to float32.",
    change={"block(x.float())": "block(x)"},
)


@bank.wrong(
    "only-16-bits",
    "You turn x to float32 only where it has 16 bits. float64 is not float32 either, and does not fit the weights of a block.",
)
def mixed_region(block):
    def safe(x):
        if x.dtype in (torch.float16, torch.bfloat16):
            x = x.float()
        with torch.autocast(x.device.type, enabled=False):
            return block(x)

    return safe


@bank.wrong(
    "only-float16",
    "You turn x to float32 only where it is float16. bfloat16 and float64 are not float32 either.",
    unless=r"(?s)\A(?!.*(dtype|half))",
)
def mixed_region(block):
    def safe(x):
        if x.dtype == torch.float16:
            x = x.float()
        with torch.autocast(x.device.type, enabled=False):
            return block(x)

    return safe


@bank.wrong(
    "only-bfloat16",
    "You turn x to float32 only where it is bfloat16. float16 and float64 are not float32 either.",
    unless=r"(?s)\A(?!.*dtype)",
)
def mixed_region(block):
    def safe(x):
        if x.dtype == torch.bfloat16:
            x = x.float()
        with torch.autocast(x.device.type, enabled=False):
            return block(x)

    return safe


bank.wrong(
    "float-without-disabling",
    "Autocast is still on while the block runs, and lowers its products, also where x is turned to float32 before.",
    change={
        "with torch.autocast(x.device.type, enabled=False):\n    return block(x.float())": "return block(x.float())"
    },
)


bank.wrong(
    "float-afterwards",
    "You turn the result to float32. The block has worked in 16 bits by then, and the digits are lost.",
    change={
        "with torch.autocast(x.device.type, enabled=False):\n    return block(x.float())": "return block(x).float()"
    },
)


bank.wrong(
    "wrong-device-type",
    'You switch autocast off for "cuda", wherever x is. On the CPU it stays on: take the device type of x.',
    change={"x.device.type": '"cuda"'},
)

bank.wrong(
    "back-to-the-input-dtype",
    "You turn the result back to the dtype of x. It is to come back as the block returns it.",
    also=("float-of-the-result",),
    change={"block(x.float())": "block(x.float()).to(x.dtype)"},
)

bank.wrong(
    "float-of-the-result",
    "You change the dtype of the result: indices and float64 numbers too. Return it as the block does.",
    change={"block(x.float())": "block(x.float()).float()"},
)

bank.wrong(
    "cuts-the-record",
    "No gradient arrives at x, as where it is detached on its way in; only the weights of the block get theirs.",
    change={"x.float()": "x.detach().float()"},
)

bank.wrong(
    "block-to-float",
    "You call `.float()` on block. It may be a function, which has no such method; a module's weights are float32 already.",
    change={"def safe(x):": "block = block.float()\n\ndef safe(x):"},
)

bank.wrong(
    "no-grad",
    "What comes out of your region has no graph, as under no_grad or behind detach: no gradient arrives at x or at the weights.",
    change={"torch": "torch.no_grad(), torch"},
)


@bank.wrong(
    "disabled-too-early",
    "You switch autocast off while safe is made, not while it runs. By then the block is over, and autocast on again.",
)
def mixed_region(block):
    with torch.autocast("cpu", enabled=False):

        def safe(x):
            x = x.float()
            return block(x)

        return safe


bank.told(
    "switches-on-afterwards",
    "still_on",
    change={"was = torch.is_autocast_enabled(kind)": "", "x.to(torch.float32)": "x.float()", "kind, was": "kind, True"},
    of="switched-and-put-back",
)

bank.told("returns-a-copy", "itself", change={"block(x.float())": "block(x.float()).clone()"})

bank.told(
    "on-by-turns",
    "still_on",
    change={"x.to(torch.float32)": "x.float()", "kind, was": "kind, not was"},
    of="switched-and-put-back",
)


@bank.right("switched-and-put-back")
def mixed_region(block):
    def safe(x):
        kind = x.device.type
        was = torch.is_autocast_enabled(kind)
        torch.set_autocast_enabled(kind, False)
        try:
            return block(x.to(torch.float32))
        finally:
            torch.set_autocast_enabled(kind, was)

    return safe


@bank.told("off-for-good", "still_on")
def mixed_region(block):
    def safe(x):
        torch.set_autocast_enabled(x.device.type, False)
        return block(x.float())

    return safe


bank.wrong(
    "calls-twice",
    "You call the block twice. Once is enough, and dropout or batch norm notice the difference.",
    change={"return block(x.float())": "block(x.float())\nreturn block(x.float())"},
)

bank.wrong(
    "double",
    "You work in float64. The block has float32 weights, and float32 is what is asked for.",
    slip=True,
    change={"x.float()": "x.double()"},
)


@bank.wrong(
    "calls-at-once",
    "You return the result for some x of your own, or the block itself. Return a function that calls the block later.",
)
def mixed_region(block):
    with torch.autocast("cpu", enabled=False):
        return block(torch.ones(1, 3))


bank.told(
    "autocast-to-float32",  # on a CPU, torch cannot lower to that, and so switches autocast off
    "on_gpu",
    change={"enabled=False": "dtype=torch.float32"},
)

bank.wrong(
    "float-of-the-result-alone",
    "You turn what comes out of the block to float32, and not what goes in: the block meets an x of 16 or 64 bits as it is.",
    also=("float-of-the-result",),
    change={"block(x.float())": "block(x).float()"},
)

bank.told("always-the-cpu", "on", change={"x.device.type": '"cpu"', "x.float()": "x.to(torch.float32)"})


@bank.right("decorates-the-block")
def mixed_region(block):
    def safe(x):
        return torch.autocast(x.device.type, enabled=False)(block)(x.to(torch.float32))

    return safe


@bank.right("decorated")
def mixed_region(block):
    def run(x):
        return block(x.to(torch.float32))

    def safe(x):
        off = torch.amp.autocast(device_type=x.device.type, enabled=False)
        return off(run)(x)

    return safe


@bank.right("lambda-and-context")
def mixed_region(block):
    class Region:
        def __call__(self, x):
            x = x if x.dtype == torch.float32 else x.float()
            with torch.autocast(device_type=x.device.type, enabled=False):
                result = block(x)
            return result

    return Region()


@bank.right("float32-autocast-module")
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


@bank.wrong(
    "float-on-both-sides",
    "You turn the result to float32, but autocast is on while the block runs: it lowers the products in it, "
    "whatever you turn x to.",
)
def mixed_region(block):
    return lambda x: block(x.float()).float()


bank.wrong(
    "state-of-the-making",
    "You note whether autocast is on when the function is made, and put that back after each call. What counts is the moment of the call.",
    change={
        "def safe(x):": 'was = torch.is_autocast_enabled("cpu")\n\ndef safe(x):',
        "with torch.autocast(x.device.type, enabled=False):\n    return block(x.float())": "torch.set_autocast_enabled(x.device.type, False)\ntry:\n    return block(x.float())\nfinally:\n    torch.set_autocast_enabled(x.device.type, was)",
    },
)
