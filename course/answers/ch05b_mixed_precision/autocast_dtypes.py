"""Answers to `autocast_dtypes`: wrong ones that learners really give, and right ones that must pass."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.course.answer_bank import AnswerBank

bank = AnswerBank("autocast_dtypes")


@bank.wrong(
    "everything-half",
    "You lower everything. Autocast lowers products; losses, weights and sums with float32 stay in float32.",
    also=("losses-half", "params-are-half", "relu-always-low", "sum-is-low"),
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    return {name: low for name in ops}


bank.wrong(
    "params-are-half",
    "You take the weight and its gradient for 16-bit ones. Autocast makes 16-bit copies on the way; both stay float32.",
    change={'"relu"': '"relu", "softmax", "weight", "grad"', 'if device == "cpu":\n    lowered.add("softmax")': ""},
)


@bank.wrong(
    "losses-half",
    "You lower the losses. They are on the list of what is kept in float32, because sums lose much in 16 bits.",
    also=("mse-low",),
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax", "mse_loss", "cross_entropy"}
    return {name: low if name in lowered else torch.float32 for name in ops}


bank.wrong(
    "relu-always-low",
    "You lower relu wherever it is. It is on no list: it has the dtype of its input, and x is float32.",
    change={'"relu"': '"relu", "relu_of_input", "softmax"', 'if device == "cpu":\n    lowered.add("softmax")': ""},
)

bank.wrong(
    "relu-always-float32",
    "You keep relu in float32. It is on no list: it has the dtype of its input, and h is a product.",
    change={'"relu"': '"softmax"', 'if device == "cpu":\n    lowered.add("softmax")': ""},
)

bank.wrong(
    "sum-is-low",
    "You lower the sum. h is bfloat16 and x is float32: as in chapter 1, the wider dtype wins.",
    change={'"relu"': '"relu", "softmax", "add"', 'if device == "cpu":\n    lowered.add("softmax")': ""},
)

bank.wrong(
    "softmax-as-on-cuda",
    "You keep softmax in float32, as autocast for CUDA does. On the CPU it is on no list, and follows its input.",
    change={'if device == "cpu":\n    lowered.add("softmax")': ""},
)


@bank.wrong(
    "float16-on-the-cpu",
    "You take float16 for the CPU. That is what CUDA takes where no dtype is given; the CPU takes bfloat16.",
    slip=True,
)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.float16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax"}
    return {name: low if name in lowered else torch.float32 for name in ops}


bank.wrong(
    "layers-only",
    "You lower the layer, but not `x @ x.T`. Autocast looks at operations, not at modules: a product is a product.",
    change={'"matmul", "relu"': '"relu", "softmax"', 'if device == "cpu":\n    lowered.add("softmax")': ""},
)

bank.wrong(
    "grad-is-low",
    "You take the gradient for a 16-bit one. It comes back to the weight in the dtype of the weight.",
    change={'"relu"': '"relu", "softmax", "grad"', 'if device == "cpu":\n    lowered.add("softmax")': ""},
)


@bank.wrong("names-as-text", "You return the names of dtypes. Return the dtypes, such as torch.bfloat16.", slip=True)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax"}
    return {name: str(low if name in lowered else torch.float32) for name in ops}


@bank.wrong("list-not-dict", "You return a list. Asked for is a dict from name to dtype.", slip=True)
def autocast_dtypes(ops, device):
    low = {"cpu": torch.bfloat16, "cuda": torch.float16}[device]
    lowered = {"linear", "matmul", "relu", "softmax"}
    return [low if name in lowered else torch.float32 for name in ops]


@bank.wrong(
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


@bank.wrong("nothing-lowered", "You lower nothing. Autocast lowers products, and what follows them.")
def autocast_dtypes(ops, device):
    return dict.fromkeys(ops, torch.float32)


@bank.wrong("mse-low", "You lower mse_loss. Like cross_entropy it is a loss, and those are kept in float32.")
def autocast_dtypes(ops, device):
    full = ("relu_of_input", "add", "cross_entropy", "weight", "grad")
    return {op: torch.float32 if op in full else torch.bfloat16 for op in ops}


@bank.wrong(
    "whole-table", "You return the dtypes of all names, whichever are asked for. The dict is to hold those in `ops`."
)
def autocast_dtypes(ops, device):
    low = ["linear", "relu", "matmul", "softmax"]
    full = ["relu_of_input", "add", "mse_loss", "cross_entropy", "weight", "grad"]
    return dict.fromkeys(low, torch.bfloat16) | dict.fromkeys(full, torch.float32)


@bank.wrong(
    "cross-entropy-low",
    "You lower cross_entropy. Like mse_loss it is a loss, and those are kept in float32.",
)
def autocast_dtypes(ops, device):
    return {
        op: torch.bfloat16 if op in ("linear", "relu", "matmul", "softmax", "cross_entropy") else torch.float32
        for op in ops
    }


@bank.right("fills-and-updates")
def autocast_dtypes(ops, device):
    answer = dict.fromkeys(ops, torch.float)
    answer.update((op, torch.bfloat16) for op in ops if op in {"linear", "matmul", "relu", "softmax"})
    return answer


@bank.right("sets")
def autocast_dtypes(ops, device):
    kept = {"relu_of_input", "add", "mse_loss", "cross_entropy", "weight", "grad"} | (
        {"softmax"} if device == "cuda" else set()
    )
    low = torch.float16 if device == "cuda" else torch.bfloat16
    return dict(zip(ops, (torch.float32 if op in kept else low for op in ops)))


@bank.right("kept-in-float32")
def autocast_dtypes(ops, device):
    kept = ["relu_of_input", "add", "mse_loss", "cross_entropy", "weight", "grad"]
    kept += ["softmax"] if device == "cuda" else []
    low = torch.float16 if device == "cuda" else torch.bfloat16
    dtypes = {}
    for name in ops:
        dtypes[name] = torch.float32 if name in kept else low
    return dtypes


@bank.right("table")
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


@bank.right("follows-inputs")
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


@bank.wrong(
    "table-of-cuda",
    "You give the table of CUDA: float16, and softmax in float32. The CPU takes bfloat16 where no dtype is given, and there softmax follows its input.",
    also=("softmax-as-on-cuda",),
)
def autocast_dtypes(ops, device):
    low = ("linear", "matmul", "relu")
    return {name: torch.float16 if name in low else torch.float32 for name in ops}


bank.survives(
    {
        "device == 'cpu' -> device <= 'cpu'": "Only the CPU is judged, and a text is as large as itself.",
        "device == 'cpu' -> device >= 'cpu'": "Only the CPU is judged, and a text is as large as itself.",
        "'cuda' -> 'cuda_'": "Only the CPU is judged.",
        "torch.float16 -> torch.bfloat16": "Only the CPU is judged.",
        "torch.float16 -> torch.float32": "Only the CPU is judged.",
        "torch.float16 -> torch.float64": "Only the CPU is judged.",
        "torch.float16 -> torch.int64": "Only the CPU is judged.",
    }
)
