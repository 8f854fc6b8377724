"""Simulate other processors and builds of torch: other last bits, and other random numbers from the same seed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

# Operations that sum many numbers, or compute a curve: the order of a sum, and the formula of a curve, differ between
# processors. IEEE 754 determines all others to the last bit: + - * / and the square root.
_SUMS = {"mm", "addmm", "bmm", "baddbmm", "mv", "addmv", "dot", "sum", "mean"}
_ROUNDED = _SUMS | {
    *("convolution", "convolution_backward", "mkldnn_linear", "_cdist_forward", "_euclidean_dist", "trace", "prod"),
    *("var", "std", "var_mean", "std_mean", "cumsum", "norm", "linalg_vector_norm", "logsumexp"),
    *("exp", "exp_", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "rsqrt", "lerp", "lerp_"),
    *("tanh", "tanh_", "tanh_backward", "sigmoid", "sigmoid_", "sigmoid_backward", "erf", "gelu", "silu", "softplus"),
    *("addcmul", "addcmul_", "addcdiv", "addcdiv_", "mse_loss", "mse_loss_backward", "l1_loss", "smooth_l1_loss"),
    *("_softmax", "_log_softmax", "_softmax_backward_data", "_log_softmax_backward_data", "nll_loss_forward"),
    *("native_batch_norm", "_native_batch_norm_legit", "native_batch_norm_backward", "native_layer_norm"),
    *("native_layer_norm_backward", "huber_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits"),
}
# Operations that draw other numbers from the same seed with another build of torch, or without Intel's library; others
# (rand, randn, randint, randperm and all that use them) draw the same in torch 2.6 and in 2.13.
_DRAWN = {"bernoulli", "bernoulli_", "native_dropout", "multinomial", "exponential_", "geometric_", "log_normal_"}
# For each dtype, the integer type of the same size, and a mask of the lowest bits.
_BITS = {torch.float32: (np.int32, 0x3F), torch.float64: (np.int64, 0x3FF)}

# Bound now, because a probe later replaces `Tensor.numpy` to count an answer's calls, and these are no calls of it.
_array = torch.Tensor.numpy


class LastBits(TorchDispatchMode):
    """A dispatch mode that changes the last bit of sums and curves, and the numbers of some random draws.

    The same number always gets the same bit, and the same seed the same draw.

    Exact results stay as they are: a sum that is the same in float64, and a number whose lowest bits are all 0, or all
    1.
    """

    def __torch_dispatch__(
        self, func: Any, _types: object, args: tuple[Any, ...] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        """Run an operation, and change its result if it is rounded."""
        name = func.overloadpacket.__name__
        if name in _DRAWN:
            torch.rand(1, generator=(kwargs or {}).get("generator"))
        result = func(*args, **(kwargs or {}))
        if name in _SUMS and result.dtype == torch.float32 and not result.is_meta:
            wide = func(*map(_widened, args), **(kwargs or {}))
            _flip(result, _array(wide != result))
        elif name in _ROUNDED:
            for part in result if isinstance(result, tuple) else (result,):
                _flip(part)
        return result


def _widened(value: object) -> object:
    return value.double() if isinstance(value, torch.Tensor) and value.dtype == torch.float32 else value


def _flip(tensor: object, where: Any = True) -> None:
    """Change, in place, the last bit of the numbers that were rounded."""
    if not isinstance(tensor, torch.Tensor) or tensor.dtype not in _BITS or tensor.is_meta:
        return
    kind, mask = _BITS[tensor.dtype]
    bits = _array(tensor.detach()).view(kind)
    low = bits & mask
    np.bitwise_xor(bits, (low > 1) & (low < mask) & where, out=bits)
