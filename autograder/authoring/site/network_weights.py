"""Write a small trained network as JSON that a page's script can run: its weights in 8 bits each."""

from __future__ import annotations

import base64
from typing import Any

import torch
from torch import Tensor, nn

from autograder.errors import WorkFailed

_LARGEST = 127  # a weight is a whole number from -127 to 127, times the step of its output
_DIGITS = 6  # decimals of a step and of a bias


def quantize_weights(network: nn.Sequential) -> list[dict[str, Any]]:
    """Round a network's weights to 8 bits in place, and return its layers in order as plain data.

    Weights of each output channel are whole numbers times a step, its largest weight / 127; `weights` is the base64
    text of these numbers, one byte each, in the order of the tensor. `nn.Dropout` and `nn.Flatten` are left out: in
    eval mode they change no number. Raises WorkFailed for a layer that docs/_static/handwriting.js cannot run.
    """
    return [layer for each in network for layer in _layers(each)]


def _layers(layer: nn.Module) -> list[dict[str, Any]]:
    match layer:
        case nn.Dropout() | nn.Flatten():
            return []
        case nn.ReLU():
            return [{"kind": "relu"}]
        case nn.MaxPool2d(kernel_size=int(side), stride=stride, padding=0) if stride == side:
            return [{"kind": "pool", "side": side}]
        case nn.Linear():
            return [{"kind": "linear", **_rounded(layer)}]
        case nn.Conv2d(stride=(1, 1), dilation=(1, 1), groups=1, padding_mode="zeros") if _is_square(layer):
            return [{"kind": "conv", "padding": layer.padding[0], **_rounded(layer)}]
    raise WorkFailed(f"expected layers that docs/_static/handwriting.js can run, found {layer}. Teach it this one.")


def _is_square(layer: nn.Conv2d) -> bool:
    return len({*layer.kernel_size}) == len({*layer.padding}) == 1 and not isinstance(layer.padding, str)


def _rounded(layer: nn.Linear | nn.Conv2d) -> dict[str, Any]:
    """Round the weights and the bias of a layer in place, and return them."""
    weight = layer.weight.detach()
    bias = layer.bias.detach() if layer.bias is not None else torch.zeros(len(weight))
    steps = _decimals(weight.abs().flatten(1).amax(dim=1) / _LARGEST).clamp(min=10**-_DIGITS)
    whole = (weight.flatten(1) / steps[:, None]).round().clamp(-_LARGEST, _LARGEST)
    weight.copy_((whole * steps[:, None]).reshape(weight.shape))
    bias.copy_(_decimals(bias))
    return {
        "shape": list(weight.shape),
        "weights": base64.b64encode(whole.to(torch.int8).numpy().tobytes()).decode(),
        "steps": _numbers(steps),
        "bias": _numbers(bias),
    }


def _decimals(values: Tensor) -> Tensor:
    return values.mul(10**_DIGITS).round().div(10**_DIGITS)


def _numbers(values: Tensor) -> list[float]:
    return [round(value, _DIGITS) for value in values.tolist()]
