"""The probes of chapter 3's classes of layers: what they register, compute, and carry along."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor, nn

from autograder.watching.exercise import Case, Probe
from autograder.watching.observation import Observation
from autograder.watching.probe import changed_inputs, copy_of, see, values

from ._ch03_probes import Answer, grad_of, make, outline, shapes, watched, weighted
from ._ch03_zoo import settle

ACTIVATIONS: dict[str, Callable[[], nn.Module]] = {
    "nn.Tanh": nn.Tanh,
    "nn.Softplus": nn.Softplus,
    "nn.Sigmoid": nn.Sigmoid,
    "nn.PReLU": nn.PReLU,
}


def _parts(case: Case) -> tuple[list[Any], dict[str, Any], Any]:
    """The arguments that make the module, by place and by name, and x, which the module is called on."""
    sizes = [ACTIVATIONS.get(size, size) if isinstance(size, str) else size for size in copy_of(case.args)]
    options = copy_of(case.kwargs)
    x = options.pop("x", None)
    return sizes, options, x


@watched
def shape_of_result(answer: Answer, case: Case) -> Observation:
    """Shape, dtype and tracking of what a new module returns."""
    sizes, options, x = _parts(case)
    module = make(answer, *sizes, **options)
    return {"returned": outline(module(x))}


@watched
def computed(answer: Answer, case: Case) -> Observation:
    """What a module computes where each of its layers holds known numbers."""
    sizes, options, x = _parts(case)
    with known_numbers():
        module = make(answer, *sizes, **options)
        settle(*(p for p in module.parameters() if p.dim()))
        return {"returned": values(module(x))}


@contextmanager
def known_numbers() -> Iterator[None]:
    """Let every new nn.Linear start with known numbers, whether a module registers it or not."""
    with patch.object(nn.Linear, "reset_parameters", lambda layer: settle(*layer.parameters())):
        yield


@watched
def parameter_names(answer: Answer, case: Case) -> Observation:
    """The names and shapes of the parameters, in the order of the names; nothing else is looked at."""
    sizes, options, _ = _parts(case)
    named = make(answer, *sizes, **options).named_parameters()
    return {"parameters": [f"{name} {shape}" for name, shape in sorted(shapes(named).items())]}


# --- Linear


def _with_numbers(answer: Answer, case: Case) -> Any:
    """A module whose attributes `weight` and `bias` hold known numbers, whether they are registered or not."""
    sizes, options, _ = _parts(case)
    module = make(answer, *sizes, **options)
    settle(*(tensor for tensor in (module.weight, module.bias) if isinstance(tensor, Tensor)))
    return module


@watched
def linear_values(answer: Answer, case: Case) -> Observation:
    """What the layer computes from known numbers in its attributes."""
    module = _with_numbers(answer, case)
    return {"returned": values(module(_parts(case)[2]))}


@watched
def linear_unbiased(answer: Answer, case: Case) -> Observation:
    """What a layer without a bias holds, and what it computes."""
    module = _with_numbers(answer, case)
    return {"bias": values(module.bias), "returned": values(module(_parts(case)[2]))}


@watched
def linear_registered(answer: Answer, case: Case) -> Observation:
    """What the layer lists, and whether its numbers go along: to another dtype, through state_dict, into a copy."""
    sizes, options, x = _parts(case)
    module = _with_numbers(answer, case)
    seen: Observation = {
        "parameters": dict(sorted(shapes(module.named_parameters()).items())),
        "state_dict": dict(sorted(shapes(module.state_dict().items()).items())),
        "leaves": all(p.is_leaf and p.requires_grad for p in module.parameters()),
    }
    other = make(answer, *sizes, **options)
    other.load_state_dict(module.state_dict())
    seen["loaded"] = values(other(x))
    seen["copied"] = values(copy.deepcopy(module)(x))
    seen["as_float64"] = values(module.to(torch.float64)(x.double()))
    return seen


@watched
def linear_gradients(answer: Answer, case: Case) -> Observation:
    """The gradients that arrive at the input, at weight and at bias."""
    module, x = _with_numbers(answer, case), _parts(case)[2]
    x.requires_grad_()
    weighted(module(x)).backward()
    grads = {"x": x.grad, "weight": grad_of(module.weight), "bias": grad_of(module.bias)}
    return {"gradients": {name: see(grad) for name, grad in grads.items()}}


# --- Standardizer


def _standardizer(answer: Answer, case: Case) -> tuple[Any, Tensor]:
    (mean, std), _, x = _parts(case)
    return make(answer, mean, std), x


@watched
def standardized(answer: Answer, case: Case) -> Observation:
    """What the module returns."""
    module, x = _standardizer(answer, case)
    return {"returned": values(module(x))}


@watched
def held(answer: Answer, case: Case) -> Observation:
    """What the module holds as buffers and as parameters."""
    module, _ = _standardizer(answer, case)
    return {
        "parameters": {name: p.requires_grad for name, p in sorted(module.named_parameters())},
        "buffers": {name: values(buffer) for name, buffer in sorted(module.named_buffers())},
    }


@watched
def saved(answer: Answer, case: Case) -> Observation:
    """What stands in state_dict, and what a module with other numbers computes once it has loaded it."""
    module, x = _standardizer(answer, case)
    mean, std = copy_of(case.args)
    other = make(answer, mean + 1, std * 3)
    other.load_state_dict(module.state_dict(), strict=False)
    return {"state_dict": shapes(sorted(module.state_dict().items())), "loaded": values(other(x))}


@watched
def moved(answer: Answer, case: Case) -> Observation:
    """The dtype of what the module holds after `.to(torch.float64)`, and its device after `.to("meta")`."""
    module, x = _standardizer(answer, case)
    result = module.to(torch.float64)(x.double())
    seen: Observation = {"dtypes": [str(module.mean.dtype), str(module.std.dtype)], "as_float64": values(result)}
    module.to("meta")
    return seen | {"devices": [module.mean.device.type, module.std.device.type]}


@watched
def kept_apart(answer: Answer, case: Case) -> Observation:
    """What the module returns after the tensors that it was made from have changed."""
    (mean, std), _, x = _parts(case)
    module = make(answer, mean, std)
    mean.add_(5)
    std.mul_(2)
    return {"later": values(module(x))}


@watched
def left_alone(answer: Answer, case: Case) -> Observation:
    """Which arguments have changed, and what a second call returns."""
    args, given = copy_of(case.args), copy_of(case.kwargs)
    module = make(answer, *args)
    module(given["x"])
    return {"inputs": changed_inputs(case, args, given), "again": values(module(copy_of(case.kwargs["x"])))}


# --- MLP


@watched
def layer_order(answer: Answer, case: Case) -> Observation:
    """The shapes of the parameters, as the module lists them."""
    sizes, _, _ = _parts(case)
    return {"parameters": [tuple(p.shape) for p in make(answer, *sizes).parameters()]}


@watched
def activations_made(answer: Answer, case: Case) -> Observation:
    """How many activations of its kind the module holds."""
    sizes, _, _ = _parts(case)
    parts = make(answer, *sizes).modules()
    return {"activations": sum(isinstance(part, sizes[1]) for part in parts)}


# --- HouseNet


@watched
def house_begins(answer: Answer, case: Case) -> Observation:
    """The shape of the prices, and whether there is anything to learn."""
    (features,), _, x = _parts(case)
    module = make(answer, features)
    return {"returned": outline(module(x).detach()), "learns": any(True for _ in module.parameters())}


def house_learns(part: str) -> Probe:
    """For each tensor of a part of the model, whether its shape stands among the parameters that a gradient reaches."""

    def look(answer: Answer, case: Case) -> Observation:
        (features,), _, x = _parts(case)
        module = make(answer, features)
        module(x).sum().backward()
        learned = [tuple(p.shape) for p in module.parameters() if p.grad is not None]
        parts = {"hidden": [(16, features), (16,), (8, 16), (8,)], "out": [(1, 8), (1,)]}
        return {part: all(shape in learned for shape in parts[part])}

    return watched(look)


@watched
def house_scale(answer: Answer, case: Case) -> Observation:
    """What kind of thing the scale is, whether a gradient reaches it, and what else has its shape."""
    (features,), _, x = _parts(case)
    module = make(answer, features)
    module(x).sum().backward()
    scale = module.scale
    kind = "parameter" if isinstance(scale, nn.Parameter) else f"{type(scale).__name__.lower()}"
    kind = "buffer" if "scale" in dict(module.named_buffers()) else kind
    reached = bool(getattr(scale, "requires_grad", False)) and grad_of(scale) is not None
    return {"scale": f"a {kind} {'with' if reached else 'without'} a gradient"}


@watched
def house_again(answer: Answer, case: Case) -> Observation:
    """Whether a second call gives the same prices."""
    (features,), _, x = _parts(case)
    module = make(answer, features)
    return {"same": bool(torch.equal(module(x), module(x)))}
